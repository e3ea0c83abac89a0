// SPDX-License-Identifier: GPL-2.0
/*
 * lu-contiguous, lu-noncontiguous, lu-columns - a dense matrix into lower and upper triangle, by
 * blocks of 16 * 16, the method and the two layouts of LU in SPLASH-2.
 *
 * A step takes one block of the diagonal: factor it, divide the blocks below and to
 * the right of it by it, then subtract the product of these two from all blocks that
 * are both below and to the right. There is no pivoting; the diagonal dominates.
 *
 * Pages: one array of n * n. Contiguous: a block is 2 KiB in one piece, two to a
 * page. Non-contiguous: rows of the matrix are in one piece, so that the rows of a
 * block are 8 * n bytes apart, on 16 pages from n = 512 on. Either way a step walks
 * what is left of the matrix once, a row of blocks after the other, each time with the
 * uppermost one; what is left gets smaller from step to step.
 *
 * lu-columns has the pages of lu-noncontiguous and walks what is left a column of blocks after
 * the other: a page of each row, at the stride of a row, and the same for the next columns.
 *
 * A round is a step; after the last one the matrix is filled anew and it begins
 * again. Checked: the product of the triangles (and of what is not yet factored)
 * with a random vector against that of the matrix.
 */
#include <math.h>

#include "programs.h"

#define B	16UL

struct lu {
	double *a;
	double *x, *y;		/* for the check */
	size_t n, blocks;
	size_t stride;		/* from a row of a block to the next */
	size_t done;		/* steps */
	uint64_t seed;
	bool down;		/* a column of blocks after the other */
};

static double *block(const struct lu *m, size_t i, size_t j)
{
	if (m->stride == B)
		return m->a + (i * m->blocks + j) * B * B;
	return m->a + (i * m->n + j) * B;
}

static double *element(const struct lu *m, size_t i, size_t j)
{
	return block(m, i / B, j / B) + i % B * m->stride + j % B;
}

static double original(const struct lu *m, size_t i, size_t j)
{
	double v = unit(mix64(m->seed ^ mix64(i << 32 | j)));

	return i == j ? v + m->n : v;
}

static void fill(struct lu *m)
{
	size_t i, j;

	for (i = 0; i < m->n; i++)
		for (j = 0; j < m->n; j++)
			*element(m, i, j) = original(m, i, j);
	m->done = 0;
}

/* @d = L * U, both in its place; the diagonal of L is 1. */
static void factor(double *d, size_t stride)
{
	size_t p, i, j;

	for (p = 0; p < B; p++)
		for (i = p + 1; i < B; i++) {
			d[i * stride + p] /= d[p * stride + p];
			for (j = p + 1; j < B; j++)
				d[i * stride + j] -= d[i * stride + p] * d[p * stride + j];
		}
}

/* @c becomes what times U is @c */
static void divide_by_upper(double *c, const double *d, size_t stride)
{
	size_t p, i, j;

	for (i = 0; i < B; i++)
		for (p = 0; p < B; p++) {
			c[i * stride + p] /= d[p * stride + p];
			for (j = p + 1; j < B; j++)
				c[i * stride + j] -= c[i * stride + p] * d[p * stride + j];
		}
}

/* @r becomes what L times is @r */
static void divide_by_lower(double *r, const double *d, size_t stride)
{
	size_t p, i, j;

	for (p = 0; p < B; p++)
		for (i = p + 1; i < B; i++)
			for (j = 0; j < B; j++)
				r[i * stride + j] -= d[i * stride + p] * r[p * stride + j];
}

static void subtract_product(double *restrict to, const double *restrict left,
			     const double *restrict above, size_t stride)
{
	size_t i, p, j;

	for (i = 0; i < B; i++)
		for (p = 0; p < B; p++)
			for (j = 0; j < B; j++)
				to[i * stride + j] -= left[i * stride + p] * above[p * stride + j];
}

static void subtract_at(const struct lu *m, size_t i, size_t j, size_t k)
{
	subtract_product(block(m, i, j), block(m, i, k), block(m, k, j), m->stride);
}

static void step(struct lu *m)
{
	size_t k = m->done++, i, j;

	factor(block(m, k, k), m->stride);
	for (i = k + 1; i < m->blocks; i++)
		divide_by_upper(block(m, i, k), block(m, k, k), m->stride);
	for (j = k + 1; j < m->blocks; j++)
		divide_by_lower(block(m, k, j), block(m, k, k), m->stride);
	for (i = k + 1; i < m->blocks; i++)
		for (j = k + 1; j < m->blocks; j++)
			subtract_at(m, m->down ? j : i, m->down ? i : j, k);
}

/*
 * With k columns done, A = (L11 0; L21 1) * (U11 U12; 0 S), S being what is left. So
 * y = (U11 U12; 0 S) * x, and then row i of the left factor times y is row i of A * x.
 */
static double row_error(const struct lu *m, size_t i)
{
	size_t known = m->done * B < i ? m->done * B : i, j;
	double product = m->y[i], want = 0;

	for (j = 0; j < known; j++)
		product += *element(m, i, j) * m->y[j];
	for (j = 0; j < m->n; j++)
		want += original(m, i, j) * m->x[j];
	return fabs(product - want);
}

static bool is_product(const struct lu *m)
{
	size_t i, j;

	for (i = 0; i < m->n; i++) {
		m->y[i] = 0;
		for (j = m->done * B < i ? m->done * B : i; j < m->n; j++)
			m->y[i] += *element(m, i, j) * m->x[j];
	}
	for (i = 0; i < m->n; i++)
		if (!(row_error(m, i) < 1e-10 * m->n))
			return false;
	return true;
}

static void set_up(struct lu *m, struct run *run, bool contiguous)
{
	struct rng rng = { run->seed };
	size_t i;

	m->blocks = lround(sqrt(run->bytes / (double)sizeof(*m->a)) / B);
	m->n = m->blocks * B;
	m->stride = contiguous ? B : m->n;
	m->seed = run->seed;
	m->a = map_array(run, "matrix", m->n * m->n * sizeof(*m->a));
	m->x = map_array(run, "x", m->n * sizeof(*m->x));
	m->y = map_array(run, "y", m->n * sizeof(*m->y));
	fill(m);
	for (i = 0; i < m->n; i++)
		m->x[i] = rng_unit(&rng);
}

static void lu_main(struct run *run, bool contiguous, bool down)
{
	struct lu m = { .down = down };

	set_up(&m, run, contiguous);
	if (!run->rounds)
		run->rounds = m.blocks;
	main_begin(run);
	for (uint64_t round = 0; round < run->rounds; round++) {
		if (m.done == m.blocks)
			fill(&m);
		step(&m);
	}
	main_end(run);

	if (breaks(run, 1))
		spoil(element(&m, m.n / 2, m.n / 3));
	verify(run, 1, is_product(&m));
}

static void lu_contiguous_main(struct run *run)
{
	lu_main(run, true, false);
}

static void lu_noncontiguous_main(struct run *run)
{
	lu_main(run, false, false);
}

static void lu_columns_main(struct run *run)
{
	lu_main(run, false, true);
}

const struct program lu_contiguous_program = {
	.name = "lu-contiguous",
	.what = "blocked LU, each block in one piece",
	.checks = 1,
	.main = lu_contiguous_main,
};

const struct program lu_noncontiguous_program = {
	.name = "lu-noncontiguous",
	.what = "blocked LU, rows of the matrix in one piece: a block is on 16 pages",
	.checks = 1,
	.main = lu_noncontiguous_main,
};

const struct program lu_columns_program = {
	.name = "lu-columns",
	.what = "the same, walked down its columns: from row to row of the matrix",
	.checks = 1,
	.main = lu_columns_main,
};
