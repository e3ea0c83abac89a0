// SPDX-License-Identifier: GPL-2.0
/*
 * sp - five quantities that spread in a 3D box, solved along lines in the three directions in
 * turn (alternating directions), as SP and BT of the NAS Parallel Benchmarks do.
 *
 * A step is (1 - Dx)(1 - Dy)(1 - Dz) change = (Dx + Dy + Dz) u, D being RATE times the second
 * difference: the right side, then a tridiagonal system for each line along x, then y, then z.
 * Those of SP have two diagonals more, and those of BT blocks of 5 * 5; their pages are the same.
 *
 * Pages: u and change, five numbers of 8 bytes a point, x fastest. The right side and the lines
 * along x walk them in order. Lines along y go through a plane at the stride of a row, forth and
 * back, and those along z through the box at that of a plane: all planes, again and again.
 *
 * u begins as a wave in each quantity, which a step makes smaller by a factor that is known. A
 * round is a step. Checked: u is that wave, smaller by the factor of all steps.
 */
#include <math.h>

#include "programs.h"

#define QUANTITIES	5
#define RATE		0.5

struct box {
	double *u, *change, *pivots;
	size_t n;		/* points in each direction; beyond them all is 0 */
	double height[QUANTITIES];
	uint64_t steps;
};

static size_t at(const struct box *b, size_t x, size_t y, size_t z)
{
	return ((z * b->n + y) * b->n + x) * QUANTITIES;
}

/* Of quantity @q there are so many half waves in each direction. */
static double wave(const struct box *b, unsigned int q, size_t x, size_t y, size_t z)
{
	double k = M_PI * (q + 1) / (b->n + 1);

	return b->height[q] * sin(k * (x + 1)) * sin(k * (y + 1)) * sin(k * (z + 1));
}

/* What a step makes of it. */
static double factor(const struct box *b, unsigned int q)
{
	double d = RATE * (2 * cos(M_PI * (q + 1) / (b->n + 1)) - 2);

	return 1 + 3 * d / ((1 - d) * (1 - d) * (1 - d));
}

static double neighbour(const struct box *b, size_t i, size_t place, ptrdiff_t step)
{
	if (place + 1 == (step < 0 ? 1 : b->n))
		return 0;
	return b->u[i + step];
}

static void set_right_side(const struct box *b)
{
	ptrdiff_t row = b->n * QUANTITIES, plane = b->n * row;
	size_t x, y, z, i;

	for (z = 0; z < b->n; z++)
		for (y = 0; y < b->n; y++)
			for (x = 0; x < b->n; x++)
				for (i = at(b, x, y, z); i < at(b, x, y, z) + QUANTITIES; i++)
					b->change[i] = RATE *
						(neighbour(b, i, x, -QUANTITIES) +
						 neighbour(b, i, x, QUANTITIES) +
						 neighbour(b, i, y, -row) +
						 neighbour(b, i, y, row) +
						 neighbour(b, i, z, -plane) +
						 neighbour(b, i, z, plane) - 6 * b->u[i]);
}

/* Thomas's algorithm: 1 + 2 * RATE on the diagonal, -RATE beside it. */
static void set_pivots(const struct box *b)
{
	double before = 0;

	for (size_t i = 0; i < b->n; i++) {
		b->pivots[i] = 1 / (1 + 2 * RATE - RATE * RATE * before);
		before = b->pivots[i];
	}
}

/* The line that begins at @line, from point to point @step numbers on. */
static void solve_line(const struct box *b, double *line, size_t step)
{
	size_t i, q;

	for (i = 0; i < b->n; i++)
		for (q = 0; q < QUANTITIES; q++) {
			if (i)
				line[i * step + q] += RATE * line[(i - 1) * step + q];
			line[i * step + q] *= b->pivots[i];
		}
	for (i = b->n - 1; i-- > 0;)
		for (q = 0; q < QUANTITIES; q++)
			line[i * step + q] += RATE * b->pivots[i] * line[(i + 1) * step + q];
}

static void step(struct box *b)
{
	size_t row = b->n * QUANTITIES, plane = b->n * row, i, j;

	set_right_side(b);
	for (i = 0; i < b->n; i++)
		for (j = 0; j < b->n; j++)
			solve_line(b, b->change + at(b, 0, j, i), QUANTITIES);
	for (i = 0; i < b->n; i++)
		for (j = 0; j < b->n; j++)
			solve_line(b, b->change + at(b, j, 0, i), row);
	for (i = 0; i < b->n; i++)
		for (j = 0; j < b->n; j++)
			solve_line(b, b->change + at(b, j, i, 0), plane);
	for (i = 0; i < at(b, 0, 0, b->n); i++)
		b->u[i] += b->change[i];
	b->steps++;
}

static void set_up(struct box *b, struct run *run)
{
	struct rng rng = { run->seed };
	size_t x, y, z, q;

	b->n = lround(cbrt(run->bytes / (2.0 * QUANTITIES * sizeof(*b->u))));
	b->u = map_array(run, "u", at(b, 0, 0, b->n) * sizeof(*b->u));
	b->change = map_array(run, "change", at(b, 0, 0, b->n) * sizeof(*b->change));
	b->pivots = map_array(run, "pivots", b->n * sizeof(*b->pivots));
	for (q = 0; q < QUANTITIES; q++)
		b->height[q] = 1 + rng_unit(&rng);
	set_pivots(b);
	for (z = 0; z < b->n; z++)
		for (y = 0; y < b->n; y++)
			for (x = 0; x < b->n; x++)
				for (q = 0; q < QUANTITIES; q++) {
					b->u[at(b, x, y, z) + q] = wave(b, q, x, y, z);
					b->change[at(b, x, y, z) + q] = 1;
				}
}

static bool is_wave(const struct box *b)
{
	size_t x, y, z, q;

	for (z = 0; z < b->n; z++)
		for (y = 0; y < b->n; y++)
			for (x = 0; x < b->n; x++)
				for (q = 0; q < QUANTITIES; q++) {
					double want = wave(b, q, x, y, z) *
						      pow(factor(b, q), b->steps);

					if (!(fabs(b->u[at(b, x, y, z) + q] - want) < 1e-9))
						return false;
				}
	return true;
}

static void sp_main(struct run *run)
{
	struct box b = { };

	set_up(&b, run);
	main_begin(run);
	for (uint64_t round = 0; round < run->rounds; round++)
		step(&b);
	main_end(run);

	if (breaks(run, 1))
		spoil(&b.u[at(&b, b.n / 2, b.n / 3, b.n / 4)]);
	verify(run, 1, is_wave(&b));
}

const struct program sp_program = {
	.name = "sp",
	.what = "alternating directions on a 3D grid: lines along x, y, and z",
	.rounds = 4,
	.checks = 1,
	.main = sp_main,
};
