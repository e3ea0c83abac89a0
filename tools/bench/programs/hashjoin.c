// SPDX-License-Identifier: GPL-2.0
/*
 * hashjoin - two tables joined on a key, by a hash table of the smaller one.
 *
 * A round empties the hash table, enters each tuple of the build table at the head of
 * its bucket's chain, then looks up each tuple of the probe table, four times as many,
 * and adds up the products of the values of those that match.
 *
 * Pages: the tables are read in order. Each tuple touches a random bucket, and a
 * probe a random tuple of the build table and its link in the chain.
 *
 * Three of four probes are for a key that exists. Checked: 1. the number of matches;
 * 2. the sum; both are known from how the tables were made.
 */
#include <string.h>

#include "programs.h"

#define PROBES	4	/* to a tuple of the build table */

struct tuple {
	uint64_t key, value;
};

struct join {
	struct tuple *build, *probe;
	uint32_t *heads, *links;	/* a tuple's number and 1; 0: none */
	size_t n;
	uint64_t matches, sum;
};

static uint64_t key_of(uint64_t i)
{
	return mix64(i + 1);
}

static uint32_t *head(const struct join *j, uint64_t key)
{
	return &j->heads[(mix64(key) >> 32) * j->n >> 32];
}

static void build(struct join *j)
{
	memset(j->heads, 0, j->n * sizeof(*j->heads));
	for (size_t i = 0; i < j->n; i++) {
		uint32_t *first = head(j, j->build[i].key);

		j->links[i] = *first;
		*first = i + 1;
	}
}

static void probe(struct join *j)
{
	j->matches = 0;
	j->sum = 0;
	for (size_t i = 0; i < PROBES * j->n; i++) {
		const struct tuple *t = &j->probe[i];

		for (uint32_t at = *head(j, t->key); at; at = j->links[at - 1]) {
			if (j->build[at - 1].key != t->key)
				continue;
			j->matches++;
			j->sum += j->build[at - 1].value * t->value;
		}
	}
}

/* Gives what the join has to come to. */
static struct join fill(struct join *j, uint64_t seed)
{
	struct rng rng = { seed };
	struct join want = { };
	size_t i, of;

	for (i = 0; i < j->n; i++)
		j->build[i] = (struct tuple){ key_of(i), rng_next(&rng) };
	for (i = 0; i < PROBES * j->n; i++) {
		of = rng_below(&rng, j->n) + (i % 4 == 3 ? j->n : 0);
		j->probe[i] = (struct tuple){ key_of(of), rng_next(&rng) };
		if (of >= j->n)
			continue;
		want.matches++;
		want.sum += j->build[of].value * j->probe[i].value;
	}
	return want;
}

static void hashjoin_main(struct run *run)
{
	size_t each = (1 + PROBES) * sizeof(struct tuple) + 2 * sizeof(uint32_t);
	struct join j = { .n = run->bytes / each }, want;

	j.build = map_array(run, "build", j.n * sizeof(*j.build));
	j.probe = map_array(run, "probe", PROBES * j.n * sizeof(*j.probe));
	j.heads = map_array(run, "heads", j.n * sizeof(*j.heads));
	j.links = map_array(run, "links", j.n * sizeof(*j.links));
	want = fill(&j, run->seed);
	if (breaks(run, 1))
		j.probe[0].key = key_of(j.n);
	if (breaks(run, 2))
		j.probe[0].value ^= 1;
	main_begin(run);
	for (uint64_t round = 0; round < run->rounds; round++) {
		build(&j);
		probe(&j);
	}
	main_end(run);

	verify(run, 1, j.matches == want.matches);
	verify(run, 2, j.sum == want.sum);
}

const struct program hashjoin_program = {
	.name = "hashjoin",
	.what = "hash join: two tables in order, buckets and matches at random",
	.rounds = 4,
	.checks = 2,
	.main = hashjoin_main,
};
