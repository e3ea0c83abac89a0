// SPDX-License-Identifier: GPL-2.0
/*
 * ocean, ocean-parts - currents in a square basin under a steady wind, on large 2D grids; of
 * the kind of OCEAN in SPLASH-2, with one layer and one equation to solve.
 *
 * The vorticity is carried by the currents, rubbed away, and driven by the wind:
 * zeta += -J(psi, zeta) + friction * laplacian(zeta) + wind. Then the stream function
 * follows from laplacian(psi) = zeta, by multigrid with red-black Gauss-Seidel until
 * the residual is small. J is Arakawa's (1966). Distances and times are those of the
 * grid, so that no factors appear; psi and zeta are 0 on the coast.
 *
 * Pages: each sweep walks one to four of six grids in order, a few rows at a time. A
 * round has three sweeps, and some four cycles of multigrid: each walks psi and zeta
 * nine times, the residual three times, and less of each coarser grid, by three
 * quarters. ocean-parts does so by 8 * 8 square parts of the basin, one after the other, as
 * OCEAN's processors do with partitions that are not contiguous: a row of a part is a piece of
 * a page or a few pages of a grid, and the next is a row of the grid further on.
 *
 * A round is a step in time. Checked: 1. psi solves its equation; 2. J neither makes
 * nor loses energy or enstrophy: the sums of psi * J and zeta * J are 0.
 */
#include <math.h>
#include <string.h>

#include "programs.h"

#define LEVELS		16
#define COARSE_SWEEPS	40
#define MAX_CYCLES	20
#define TOLERANCE	1e-6
#define FRICTION	0.1
#define PARTS		8	/* of a side of ocean-parts */

struct level {
	double *u, *f, *residual;
	size_t n;		/* intervals: rows and columns are 0 to n */
	size_t side;		/* of a part, in points */
};

struct ocean {
	struct level level[LEVELS];	/* 0: u is psi, f is zeta */
	unsigned int levels;
	double *jacobian, *rubbed, *wind;
};

/* Columns @from to @to of row @i, in the parts that begin with row @part. */
struct row {
	size_t part, i, from, to;
};

static size_t end_of(const struct level *l, size_t begin)
{
	return l->n - begin < l->side ? l->n : begin + l->side;
}

static struct row first_row(const struct level *l)
{
	return (struct row){ .part = 1, .i = 1, .from = 1, .to = end_of(l, 1) };
}

static void next_row(const struct level *l, struct row *r)
{
	if (++r->i < end_of(l, r->part))
		return;
	r->from = r->to;
	if (r->from == l->n) {
		r->from = 1;
		r->part = end_of(l, r->part);
	}
	r->to = end_of(l, r->from);
	r->i = r->part;
}

/* Those inside of the coast, a part after the other */
#define for_each_row(l, r) \
	for (struct row r = first_row(l); r.part < (l)->n; next_row(l, &r))

static double sum4(const double *p, ptrdiff_t row)
{
	return p[-1] + p[1] + p[-row] + p[row];
}

/* Every second point, as on a chess board; over-relaxed by @omega. */
static void relax(const struct level *l, size_t color, double omega)
{
	size_t row = l->n + 1, j, at;

	for_each_row(l, r)
		for (j = r.from + (r.from + 1 + r.i + color) % 2; j < r.to; j += 2) {
			at = r.i * row + j;
			l->u[at] += omega * ((sum4(l->u + at, row) - l->f[at]) / 4 - l->u[at]);
		}
}

static void smooth(const struct level *l)
{
	relax(l, 0, 1);
	relax(l, 1, 1);
}

/* Gives its norm. */
static double compute_residual(const struct level *l)
{
	size_t row = l->n + 1, j, at;
	double sum = 0;

	for_each_row(l, r)
		for (j = r.from; j < r.to; j++) {
			at = r.i * row + j;
			l->residual[at] = l->f[at] + 4 * l->u[at] - sum4(l->u + at, row);
			sum += l->residual[at] * l->residual[at];
		}
	return sqrt(sum);
}

/* The mean of the nine points around; times four, as the interval doubles. */
static void restrict_residual(const struct level *fine, const struct level *coarse)
{
	ptrdiff_t row = fine->n + 1;
	const double *p;
	size_t j;

	for_each_row(coarse, r)
		for (j = r.from; j < r.to; j++) {
			p = fine->residual + 2 * r.i * row + 2 * j;
			coarse->f[r.i * (coarse->n + 1) + j] =
				p[0] + sum4(p, row) / 2 +
				(p[-row - 1] + p[-row + 1] + p[row - 1] + p[row + 1]) / 4;
		}
}

/* Each point is right between up to four coarse ones, some of them the same. */
static void add_correction(const struct level *fine, const struct level *coarse)
{
	size_t row = coarse->n + 1, j;

	for_each_row(fine, r) {
		const double *above = coarse->u + r.i / 2 * row, *below = above + r.i % 2 * row;

		for (j = r.from; j < r.to; j++)
			fine->u[r.i * (fine->n + 1) + j] +=
				(above[j / 2] + above[(j + 1) / 2] +
				 below[j / 2] + below[(j + 1) / 2]) / 4;
	}
}

static void solve_coarsest(const struct level *l)
{
	double omega = 2 / (1 + sin(M_PI / l->n));

	for (int i = 0; i < COARSE_SWEEPS; i++) {
		relax(l, 0, omega);
		relax(l, 1, omega);
	}
}

static void cycle(const struct ocean *o, unsigned int at)
{
	const struct level *l = &o->level[at], *coarse = l + 1;

	if (at == o->levels - 1) {
		solve_coarsest(l);
		return;
	}
	smooth(l);
	smooth(l);
	compute_residual(l);
	restrict_residual(l, coarse);
	memset(coarse->u, 0, (coarse->n + 1) * (coarse->n + 1) * sizeof(*coarse->u));
	cycle(o, at + 1);
	add_correction(l, coarse);
	smooth(l);
}

static double norm(const struct level *l, const double *grid)
{
	double sum = 0;

	for (size_t i = 0; i < (l->n + 1) * (l->n + 1); i++)
		sum += grid[i] * grid[i];
	return sqrt(sum);
}

static bool is_solved(const struct ocean *o)
{
	return compute_residual(&o->level[0]) <= TOLERANCE * norm(&o->level[0], o->level[0].f);
}

static void solve(const struct ocean *o)
{
	for (int i = 0; i < MAX_CYCLES && !is_solved(o); i++)
		cycle(o, 0);
}

/* Arakawa: the mean of three ways to write it, in none of which all is preserved. */
static double jacobian_at(const double *p, const double *z, ptrdiff_t row)
{
	const double *pn = p - row, *ps = p + row, *zn = z - row, *zs = z + row;
	double sum;

	sum = (p[1] - p[-1]) * (*zs - *zn) - (*ps - *pn) * (z[1] - z[-1]);
	sum += p[1] * (zs[1] - zn[1]) - p[-1] * (zs[-1] - zn[-1]) -
	       *ps * (zs[1] - zs[-1]) + *pn * (zn[1] - zn[-1]);
	sum += *zs * (ps[1] - ps[-1]) - *zn * (pn[1] - pn[-1]) -
	       z[1] * (ps[1] - pn[1]) + z[-1] * (ps[-1] - pn[-1]);
	return sum / 12;
}

static void compute_jacobian(const struct ocean *o)
{
	const struct level *l = &o->level[0];
	size_t row = l->n + 1, j;

	for_each_row(l, r)
		for (j = r.from; j < r.to; j++)
			o->jacobian[r.i * row + j] =
				jacobian_at(l->u + r.i * row + j, l->f + r.i * row + j, row);
}

static void compute_friction(const struct ocean *o)
{
	const struct level *l = &o->level[0];
	size_t row = l->n + 1, j, at;

	for_each_row(l, r)
		for (j = r.from; j < r.to; j++) {
			at = r.i * row + j;
			o->rubbed[at] = FRICTION * (sum4(l->f + at, row) - 4 * l->f[at]);
		}
}

static void step(const struct ocean *o)
{
	const struct level *l = &o->level[0];
	size_t row = l->n + 1, j, at;

	compute_jacobian(o);
	compute_friction(o);
	for_each_row(l, r)
		for (j = r.from; j < r.to; j++) {
			at = r.i * row + j;
			l->f[at] += -o->jacobian[at] + o->rubbed[at] + o->wind[at];
		}
	solve(o);
}

/* The sum of @a * J, over that of its terms' sizes. */
static double imbalance(const struct ocean *o, const double *a)
{
	double sum = 0, sizes = 0;
	size_t i;

	for (i = 0; i < (o->level[0].n + 1) * (o->level[0].n + 1); i++) {
		sum += a[i] * o->jacobian[i];
		sizes += fabs(a[i] * o->jacobian[i]);
	}
	return fabs(sum) / sizes;
}

static double *map_grid(struct run *run, const char *name, size_t n)
{
	return map_array(run, name, (n + 1) * (n + 1) * sizeof(double));
}

/* 16 to 31 intervals on the coarsest grid, such that it fits the footprint best. */
static void set_levels(struct ocean *o, uint64_t bytes, unsigned int parts)
{
	double n = sqrt(bytes / (7.0 * sizeof(double))) - 1;
	unsigned int at;

	while (n >= 31.5) {
		n /= 2;
		o->levels++;
	}
	o->level[o->levels++].n = lround(n);
	for (at = o->levels - 1; at; at--)
		o->level[at - 1].n = 2 * o->level[at].n;
	for (at = 0; at < o->levels; at++)
		o->level[at].side = (o->level[at].n + parts - 1) / parts;
}

static void map_grids(struct ocean *o, struct run *run)
{
	struct level *l;

	for (l = o->level; l < o->level + o->levels; l++) {
		l->u = map_grid(run, l == o->level ? "psi" : "correction", l->n);
		l->f = map_grid(run, l == o->level ? "zeta" : "right side", l->n);
		l->residual = map_grid(run, "residual", l->n);
	}
	o->jacobian = map_grid(run, "jacobian", o->level[0].n);
	o->rubbed = map_grid(run, "friction", o->level[0].n);
	o->wind = map_grid(run, "wind", o->level[0].n);
}

/* One large gyre and small whirls all over; currents of a fifth of a cell in a step. */
static void set_up(struct ocean *o, struct run *run, unsigned int parts)
{
	const struct level *l = &o->level[0];
	struct rng rng = { run->seed };
	double wave, gyre;
	size_t j;

	set_levels(o, run->bytes, parts);
	map_grids(o, run);
	wave = M_PI / l->n;
	for_each_row(l, r)
		for (j = r.from; j < r.to; j++) {
			gyre = -0.4 * wave * sin(r.i * wave) * sin(j * wave);
			l->f[r.i * (l->n + 1) + j] = gyre * (0.5 + rng_unit(&rng));
			o->wind[r.i * (l->n + 1) + j] = 1e-3 * gyre;
		}
	solve(o);
}

static void sail(struct run *run, unsigned int parts)
{
	struct ocean o = { };

	set_up(&o, run, parts);
	main_begin(run);
	for (uint64_t round = 0; round < run->rounds; round++)
		step(&o);
	main_end(run);

	if (breaks(run, 1))
		spoil(&o.level[0].u[o.level[0].n * o.level[0].n / 2]);
	verify(run, 1, is_solved(&o));
	compute_jacobian(&o);
	if (breaks(run, 2))
		spoil(&o.jacobian[o.level[0].n * o.level[0].n / 2]);
	verify(run, 2, imbalance(&o, o.level[0].u) < 1e-9 && imbalance(&o, o.level[0].f) < 1e-9);
}

static void ocean_main(struct run *run)
{
	sail(run, 1);
}

static void ocean_parts_main(struct run *run)
{
	sail(run, PARTS);
}

const struct program ocean_program = {
	.name = "ocean",
	.what = "red-black multigrid on large 2D grids, all swept in order",
	.rounds = 4,
	.checks = 2,
	.main = ocean_main,
};

const struct program ocean_parts_program = {
	.name = "ocean-parts",
	.what = "the same, swept by square parts: each row is a piece of a grid's row",
	.rounds = 4,
	.checks = 2,
	.main = ocean_parts_main,
};
