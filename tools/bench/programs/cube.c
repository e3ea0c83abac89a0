// SPDX-License-Identifier: GPL-2.0
/*
 * cube - all the frequent cells of a data cube, from the bottom up (Beyer and Ramakrishnan,
 * 1999); what MMCubing computes, too.
 *
 * A cell is a choice of values in some of the dimensions, and its size the number of tuples that
 * have these. Tuples are divided by their value in one dimension, and each part that is large
 * enough is a cell, and is divided by each of the later dimensions.
 *
 * Pages: tuples of 32 bytes stay where they are; their numbers are sorted, by counting. A division
 * reads the tuples of a part in the order of their numbers, of which there are ever fewer to a
 * page; then it moves the numbers there and back. Within a part the order is the same in each
 * division, from one part to the next it is another.
 *
 * A round is a cube. Checked: 1. some cells against all tuples; 2. no tuple's number is lost.
 */
#include <string.h>

#include "programs.h"

#define DIMENSIONS	8
#define VALUES		24
#define FREQUENT	200	/* cells have at least one of so many of the tuples */
#define SAMPLES		32
#define SAMPLED		61	/* a cell of so many; none of them has too many */
#define ANY		VALUES

struct tuple {
	uint8_t values[DIMENSIONS];
	uint64_t weight, unused[2];
};

_Static_assert(sizeof(struct tuple) == 32, "as described");

struct cell {
	uint8_t values[DIMENSIONS];
	uint64_t size, weight;
};

struct cube {
	struct tuple *tuples;
	uint32_t *numbers, *sorted;
	uint32_t n, frequent;
	uint64_t cells;
	struct cell samples[SAMPLES];
};

/* Sorts numbers @from to @to by @dimension; @begin: where each value's begin, and the end. */
static void divide(struct cube *c, uint32_t from, uint32_t to, unsigned int dimension,
		   uint32_t *begin)
{
	uint32_t next[VALUES] = { }, i;

	for (i = from; i < to; i++)
		next[c->tuples[c->numbers[i]].values[dimension]]++;
	begin[0] = from;
	for (i = 0; i < VALUES; i++) {
		begin[i + 1] = begin[i] + next[i];
		next[i] = begin[i];
	}
	for (i = from; i < to; i++)
		c->sorted[next[c->tuples[c->numbers[i]].values[dimension]]++] = c->numbers[i];
	memcpy(c->numbers + from, c->sorted + from, (to - from) * sizeof(*c->numbers));
}

/* The cell of these tuples, and those that are part of it. */
static void add_cell(struct cube *c, uint32_t from, uint32_t to, struct cell *cell,
		     unsigned int dimension)
{
	uint32_t begin[VALUES + 1], i;

	cell->size = to - from;
	cell->weight = 0;
	for (i = from; i < to; i++)
		cell->weight += c->tuples[c->numbers[i]].weight;
	if (c->cells++ % SAMPLED == 0)
		c->samples[c->cells / SAMPLED % SAMPLES] = *cell;
	for (; dimension < DIMENSIONS; dimension++) {
		divide(c, from, to, dimension, begin);
		for (i = 0; i < VALUES; i++) {
			if (begin[i + 1] - begin[i] < c->frequent)
				continue;
			cell->values[dimension] = i;
			add_cell(c, begin[i], begin[i + 1], cell, dimension + 1);
		}
		cell->values[dimension] = ANY;
	}
}

static void add_all(struct cube *c)
{
	struct cell cell;

	memset(cell.values, ANY, sizeof(cell.values));
	add_cell(c, 0, c->n, &cell, 0);
}

/* Low values are more frequent, in each dimension more so. */
static void set_up(struct cube *c, struct run *run)
{
	struct rng rng = { run->seed };
	uint32_t i;

	c->n = run->bytes / (sizeof(*c->tuples) + 2 * sizeof(*c->numbers));
	c->frequent = c->n / FREQUENT;
	c->tuples = map_array(run, "tuples", c->n * sizeof(*c->tuples));
	c->numbers = map_array(run, "numbers", c->n * sizeof(*c->numbers));
	c->sorted = map_array(run, "sorted", c->n * sizeof(*c->sorted));
	for (i = 0; i < c->n; i++) {
		for (unsigned int d = 0; d < DIMENSIONS; d++)
			c->tuples[i].values[d] = rng_unit(&rng) * rng_unit(&rng) * VALUES;
		c->tuples[i].weight = rng_below(&rng, 1000);
		c->numbers[i] = i;
		c->sorted[i] = i + 1;
	}
}

static bool is_in(const struct tuple *tuple, const struct cell *cell)
{
	for (unsigned int d = 0; d < DIMENSIONS; d++)
		if (cell->values[d] != ANY && cell->values[d] != tuple->values[d])
			return false;
	return true;
}

static bool is_cell(const struct cube *c, const struct cell *cell)
{
	uint64_t size = 0, weight = 0;

	for (uint32_t i = 0; i < c->n; i++)
		if (is_in(&c->tuples[i], cell)) {
			size++;
			weight += c->tuples[i].weight;
		}
	return size == cell->size && weight == cell->weight;
}

static bool samples_right(const struct cube *c)
{
	for (unsigned int i = 0; i < SAMPLES; i++)
		if (c->samples[i].size && !is_cell(c, &c->samples[i]))
			return false;
	return true;
}

static bool has_all(const struct cube *c)
{
	memset(c->sorted, 0, c->n * sizeof(*c->sorted));
	for (uint32_t i = 0; i < c->n; i++)
		if (c->numbers[i] >= c->n || c->sorted[c->numbers[i]]++)
			return false;
	return true;
}

static void cube_main(struct run *run)
{
	struct cube c = { };

	set_up(&c, run);
	main_begin(run);
	for (uint64_t round = 0; round < run->rounds; round++)
		add_all(&c);
	main_end(run);

	if (breaks(run, 1))
		c.samples[1].weight++;
	verify(run, 1, samples_right(&c));
	if (breaks(run, 2))
		c.numbers[c.n / 2] = c.numbers[0];
	verify(run, 2, has_all(&c));
}

const struct program cube_program = {
	.name = "cube",
	.what = "a data cube from the bottom up: tuples divided by value again and again",
	.rounds = 1,
	.checks = 2,
	.main = cube_main,
};
