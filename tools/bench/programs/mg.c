// SPDX-License-Identifier: GPL-2.0
/*
 * mg - Poisson's equation in a 3D box by multigrid, in the way of MG of the NAS
 * Parallel Benchmarks, with a fixed boundary in place of a periodic one.
 *
 * A cycle takes the residual down, averaged from grid to grid, to the coarsest; there
 * Gauss-Seidel solves well enough. On the way up each grid's correction begins with
 * the coarser grid's, interpolated, and is smoothed once. The smoother adds a stencil
 * of the residual: the polynomial of degree 2 in the operator that is smallest over
 * what the coarser grid cannot show (Chebyshev's on [2, 12]).
 *
 * Pages: the solution, the right side and the residual, each 8 bytes a point, and on
 * each coarser grid an eighth of two of them. All is walked in order, with a stencil
 * that reads three planes at a time. A cycle walks the solution and the residual four
 * times, the right side twice.
 *
 * A round is a cycle. Checked: the residual has fallen by the factor a cycle promises,
 * with each, or is down to rounding.
 */
#include <math.h>
#include <string.h>

#include "programs.h"

#define LEVELS		16
#define COARSE_SWEEPS	40
#define COARSE_MIN	6	/* intervals of a side of the coarsest grid */
#define COARSE_MAX	12
#define FACTOR		0.35	/* of the residual in a cycle; seen: up to 0.33 */

struct level {
	double *u, *r;
	ptrdiff_t nx, ny, nz;		/* intervals: points are 0 to n */
	ptrdiff_t row, plane;		/* from a point to that of the next one */
};

struct multigrid {
	struct level level[LEVELS];
	unsigned int levels;
	double *f;
};

static size_t points(const struct level *l)
{
	return l->plane * (l->nz + 1);
}

static void set_size(struct level *l, ptrdiff_t nx, ptrdiff_t ny, ptrdiff_t nz)
{
	l->nx = nx;
	l->ny = ny;
	l->nz = nz;
	l->row = nx + 1;
	l->plane = l->row * (ny + 1);
}

static double sum6(const struct level *l, const double *p)
{
	return p[-1] + p[1] + p[-l->row] + p[l->row] + p[-l->plane] + p[l->plane];
}

/* r = @f - A u; @f may be r. Gives its norm. */
static double compute_residual(const struct level *l, const double *f)
{
	ptrdiff_t x, y, z, at;
	double sum = 0;

	for (z = 1; z < l->nz; z++)
		for (y = 1; y < l->ny; y++)
			for (x = 1; x < l->nx; x++) {
				at = z * l->plane + y * l->row + x;
				l->r[at] = f[at] - 6 * l->u[at] + sum6(l, l->u + at);
				sum += l->r[at] * l->r[at];
			}
	return sqrt(sum);
}

/* u += (a - b A) r, where 1 - A (a - b A) is T2((14 - 2 A) / 10) / T2(14 / 10) */
static void smooth(const struct level *l)
{
	const double b = 0.08 / 2.92, a = 1.12 / 2.92;
	ptrdiff_t x, y, z, at;

	for (z = 1; z < l->nz; z++)
		for (y = 1; y < l->ny; y++)
			for (x = 1; x < l->nx; x++) {
				at = z * l->plane + y * l->row + x;
				l->u[at] += (a - 6 * b) * l->r[at] + b * sum6(l, l->r + at);
			}
}

/* The mean of the 27 points around; times four, as the interval doubles. */
static double mean27(const struct level *l, const double *p)
{
	static const double weight[] = { 1, 2, 1 };
	double sum = 0;
	int x, y, z;

	for (z = -1; z <= 1; z++)
		for (y = -1; y <= 1; y++)
			for (x = -1; x <= 1; x++)
				sum += weight[x + 1] * weight[y + 1] * weight[z + 1] *
				       p[z * l->plane + y * l->row + x];
	return sum / 16;
}

static void restrict_residual(const struct level *fine, const struct level *coarse)
{
	ptrdiff_t x, y, z;

	for (z = 1; z < coarse->nz; z++)
		for (y = 1; y < coarse->ny; y++)
			for (x = 1; x < coarse->nx; x++)
				coarse->r[z * coarse->plane + y * coarse->row + x] =
					mean27(fine, fine->r + 2 * (z * fine->plane +
								    y * fine->row + x));
}

/* Between up to eight coarse points, some of them the same: four in each plane. */
static double mean4(const struct level *coarse, ptrdiff_t x, ptrdiff_t y, ptrdiff_t z)
{
	const double *above = coarse->u + z * coarse->plane + y / 2 * coarse->row;
	const double *below = above + y % 2 * coarse->row;

	return (above[x / 2] + above[(x + 1) / 2] + below[x / 2] + below[(x + 1) / 2]) / 4;
}

static void add_correction(const struct level *fine, const struct level *coarse)
{
	ptrdiff_t x, y, z;

	for (z = 1; z < fine->nz; z++)
		for (y = 1; y < fine->ny; y++)
			for (x = 1; x < fine->nx; x++)
				fine->u[z * fine->plane + y * fine->row + x] +=
					(mean4(coarse, x, y, z / 2) +
					 mean4(coarse, x, y, (z + 1) / 2)) / 2;
}

/* Gauss-Seidel, which needs no residual: r is the right side and stays. */
static void solve_coarsest(const struct level *l)
{
	ptrdiff_t x, y, z, at;
	int i;

	memset(l->u, 0, points(l) * sizeof(*l->u));
	for (i = 0; i < COARSE_SWEEPS; i++)
		for (z = 1; z < l->nz; z++)
			for (y = 1; y < l->ny; y++)
				for (x = 1; x < l->nx; x++) {
					at = z * l->plane + y * l->row + x;
					l->u[at] = (l->r[at] + sum6(l, l->u + at)) / 6;
				}
}

static void cycle(const struct multigrid *m)
{
	unsigned int last = m->levels - 1, at;

	for (at = 0; at < last; at++)
		restrict_residual(&m->level[at], &m->level[at + 1]);
	solve_coarsest(&m->level[last]);
	for (at = last; at-- > 0;) {
		const struct level *l = &m->level[at];

		if (at)
			memset(l->u, 0, points(l) * sizeof(*l->u));
		add_correction(l, l + 1);
		compute_residual(l, at ? l->r : m->f);
		smooth(l);
	}
	compute_residual(&m->level[0], m->f);
}

/* The sides of the coarsest grid such that the finest has as near as can be @want points. */
static void set_sizes(struct multigrid *m, double want)
{
	ptrdiff_t x, y, z;
	struct level l;
	unsigned int at;
	double off, least = want;

	for (m->levels = 1; pow(COARSE_MIN << m->levels, 3) <= want; m->levels++)
		;
	for (x = COARSE_MIN; x <= COARSE_MAX; x++)
		for (y = COARSE_MIN; y <= x; y++)
			for (z = COARSE_MIN; z <= y; z++) {
				at = m->levels - 1;
				set_size(&l, x << at, y << at, z << at);
				off = fabs(points(&l) - want);
				if (off >= least)
					continue;
				least = off;
				for (at = 0; at < m->levels; at++)
					set_size(&m->level[at], l.nx >> at, l.ny >> at, l.nz >> at);
			}
}

/*
 * An uneven cloud of charge: mostly smooth, so that smoothing alone gets nowhere. The
 * first guess is not 0, no page of it.
 */
static void fill(struct multigrid *m, uint64_t seed)
{
	const struct level *l = &m->level[0];
	struct rng rng = { seed };
	ptrdiff_t x, y, z, at;

	for (z = 1; z < l->nz; z++)
		for (y = 1; y < l->ny; y++)
			for (x = 1; x < l->nx; x++) {
				at = z * l->plane + y * l->row + x;
				l->u[at] = 1e-3 * rng_unit(&rng);
				m->f[at] = 1 + 0.1 * rng_unit(&rng);
			}
}

static void set_up(struct multigrid *m, struct run *run)
{
	struct level *l;

	set_sizes(m, run->bytes / (sizeof(double) * (3 + 2 / 7.0)));
	for (l = m->level; l < m->level + m->levels; l++) {
		l->u = map_array(run, l == m->level ? "solution" : "correction",
				 points(l) * sizeof(*l->u));
		l->r = map_array(run, "residual", points(l) * sizeof(*l->r));
	}
	m->f = map_array(run, "right side", points(m->level) * sizeof(*m->f));
	fill(m, run->seed);
}

static void mg_main(struct run *run)
{
	struct multigrid m = { };
	double first, last;

	set_up(&m, run);
	first = compute_residual(&m.level[0], m.f);
	main_begin(run);
	for (uint64_t round = 0; round < run->rounds; round++)
		cycle(&m);
	main_end(run);

	if (breaks(run, 1))
		spoil(&m.level[0].u[points(m.level) / 2]);
	last = compute_residual(&m.level[0], m.f);
	verify(run, 1, last <= first * fmax(pow(FACTOR, run->rounds), 1e-10));
}

const struct program mg_program = {
	.name = "mg",
	.what = "3D multigrid: stencils over planes, all swept in order",
	.rounds = 8,
	.checks = 1,
	.main = mg_main,
};
