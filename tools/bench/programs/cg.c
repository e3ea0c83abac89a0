// SPDX-License-Identifier: GPL-2.0
/*
 * cg - conjugate gradients on a sparse matrix with entries at random places, of the
 * kind of CG of the NAS Parallel Benchmarks.
 *
 * The matrix is symmetric: 32 times all rows are paired at random, and the rows i and
 * j of a pair get an entry at (i, j) and (j, i). The first time entries are a hundred
 * times as large, so that the eigenvalues are spread and a solution takes some steps.
 * The diagonal is more than all others in its row, which makes the matrix positive
 * definite. Rows of one length need no pointers to their beginnings.
 *
 * Pages: a step reads columns and entries, nine tenths of all memory, once in order,
 * and for each entry a random element of the direction; then four vectors, in order.
 *
 * A round is a step; after 25 a new right side begins. Checked, of the last right
 * side: 1. the residual, computed from the solution, is what the steps made of it;
 * 2. it has fallen as conjugate gradients make it fall, which going down the
 * gradient alone does not.
 */
#include <math.h>

#include "programs.h"

#define ENTRIES		32	/* of a row, beside the diagonal */
#define STEPS		25
#define LARGE		100	/* entries of the first pairing; others are 0 to 1 */
#define SURPLUS		20	/* of the diagonal over the sum of its row's other entries */
#define FACTOR		0.57	/* of the residual in a step; seen: 0.5, by gradient 0.7 */

struct cg {
	uint32_t *columns;	/* n * ENTRIES */
	double *entries;	/* n * ENTRIES */
	double *diagonal, *solution, *right, *residual, *direction, *product;
	size_t n;
	double size;		/* of the residual, squared */
	unsigned int steps;	/* with this right side */
	struct rng rng;
};

static double dot(const struct cg *c, const double *a, const double *b)
{
	double sum = 0;

	for (size_t i = 0; i < c->n; i++)
		sum += a[i] * b[i];
	return sum;
}

static void multiply(const struct cg *c, const double *by, double *product)
{
	for (size_t i = 0; i < c->n; i++) {
		const uint32_t *column = c->columns + i * ENTRIES;
		const double *entry = c->entries + i * ENTRIES;
		double sum = c->diagonal[i] * by[i];

		for (size_t k = 0; k < ENTRIES; k++)
			sum += entry[k] * by[column[k]];
		product[i] = sum;
	}
}

static void begin(struct cg *c)
{
	for (size_t i = 0; i < c->n; i++) {
		c->right[i] = rng_unit(&c->rng) - 0.5;
		c->solution[i] = 0;
		c->residual[i] = c->right[i];
		c->direction[i] = c->right[i];
	}
	c->size = dot(c, c->right, c->right);
	c->steps = 0;
}

static void step(struct cg *c)
{
	double alpha, beta, size;
	size_t i;

	multiply(c, c->direction, c->product);
	alpha = c->size / dot(c, c->direction, c->product);
	for (i = 0; i < c->n; i++) {
		c->solution[i] += alpha * c->direction[i];
		c->residual[i] -= alpha * c->product[i];
	}
	size = dot(c, c->residual, c->residual);
	beta = size / c->size;
	for (i = 0; i < c->n; i++)
		c->direction[i] = c->residual[i] + beta * c->direction[i];
	c->size = size;
	c->steps++;
}

static void shuffle(struct cg *c, uint32_t *rows)
{
	for (size_t i = c->n - 1; i; i--) {
		size_t j = rng_below(&c->rng, i + 1);
		uint32_t row = rows[i];

		rows[i] = rows[j];
		rows[j] = row;
	}
}

static void enter(struct cg *c, size_t i, size_t j, size_t k, double entry)
{
	c->columns[i * ENTRIES + k] = j;
	c->entries[i * ENTRIES + k] = -entry;
	c->diagonal[i] += entry;
}

/* The product's memory is free until there is one. */
static void make_matrix(struct cg *c)
{
	uint32_t *rows = (uint32_t *)c->product;
	size_t i, k;

	for (i = 0; i < c->n; i++) {
		rows[i] = i;
		c->diagonal[i] = SURPLUS;
	}
	for (k = 0; k < ENTRIES; k++) {
		shuffle(c, rows);
		for (i = 0; i < c->n; i += 2) {
			double entry = rng_unit(&c->rng) * (k ? 1 : LARGE);

			enter(c, rows[i], rows[i + 1], k, entry);
			enter(c, rows[i + 1], rows[i], k, entry);
		}
	}
}

/* The product becomes the true residual; gives how far the other one is off. */
static double residual_error(struct cg *c)
{
	double most = 0;

	multiply(c, c->solution, c->product);
	for (size_t i = 0; i < c->n; i++) {
		c->product[i] = c->right[i] - c->product[i];
		most = fmax(most, fabs(c->product[i] - c->residual[i]));
	}
	return most;
}

static void set_up(struct cg *c, struct run *run)
{
	size_t row = ENTRIES * (sizeof(*c->columns) + sizeof(*c->entries)) + 6 * sizeof(double);

	c->n = run->bytes / row / 2 * 2;
	c->rng.state = run->seed;
	c->columns = map_array(run, "columns", c->n * ENTRIES * sizeof(*c->columns));
	c->entries = map_array(run, "entries", c->n * ENTRIES * sizeof(*c->entries));
	c->diagonal = map_array(run, "diagonal", c->n * sizeof(double));
	c->solution = map_array(run, "solution", c->n * sizeof(double));
	c->right = map_array(run, "right side", c->n * sizeof(double));
	c->residual = map_array(run, "residual", c->n * sizeof(double));
	c->direction = map_array(run, "direction", c->n * sizeof(double));
	c->product = map_array(run, "product", c->n * sizeof(double));
	make_matrix(c);
	begin(c);
}

static void cg_main(struct run *run)
{
	struct cg c;
	double fallen;

	set_up(&c, run);
	main_begin(run);
	for (uint64_t round = 0; round < run->rounds; round++) {
		if (c.steps == STEPS)
			begin(&c);
		step(&c);
	}
	main_end(run);

	if (breaks(run, 1))
		spoil(&c.residual[c.n / 2]);
	verify(run, 1, residual_error(&c) < 1e-12);
	if (breaks(run, 2))
		spoil(&c.product[c.n / 2]);
	fallen = sqrt(dot(&c, c.product, c.product) / dot(&c, c.right, c.right));
	verify(run, 2, fallen < 2 * pow(FACTOR, c.steps));
}

const struct program cg_program = {
	.name = "cg",
	.what = "conjugate gradients: a matrix in order, a vector at random",
	.rounds = 4 * STEPS,
	.checks = 2,
	.main = cg_main,
};
