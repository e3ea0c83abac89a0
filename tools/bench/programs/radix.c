// SPDX-License-Identifier: GPL-2.0
/*
 * radix - keys of 32 bits sorted by eleven bits at a time, from the lowest on.
 *
 * A pass counts how often each digit occurs, adds the counts up to where each digit's
 * keys begin, and moves the keys there, from one array to the other. It keeps the
 * order of keys that have the same digit, so that three passes sort.
 *
 * Pages: two arrays of keys. Each pass reads one twice in order and writes the other
 * at 2048 places that advance: more pages at once than a TLB has entries.
 *
 * A round fills in new keys and sorts them. Checked: 1. the keys are in order;
 * 2. they are those that were filled in, by a sum that any order gives.
 */
#include "programs.h"

#define DIGIT_BITS	11
#define DIGITS		(1U << DIGIT_BITS)
#define KEY_BITS	32

struct keys {
	uint32_t *now, *other;
	size_t n;
	uint64_t sum;
};

static uint64_t sum_of(const struct keys *k)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < k->n; i++)
		sum += mix64(k->now[i]);
	return sum;
}

static void fill(struct keys *k, struct rng *rng)
{
	for (size_t i = 0; i < k->n; i++)
		k->now[i] = rng_next(rng);
	k->sum = sum_of(k);
}

static void pass(struct keys *k, unsigned int shift)
{
	size_t place[DIGITS] = { }, i, begin = 0, count;
	uint32_t *from = k->now, *to = k->other;

	for (i = 0; i < k->n; i++)
		place[from[i] >> shift & (DIGITS - 1)]++;
	for (i = 0; i < DIGITS; i++) {
		count = place[i];
		place[i] = begin;
		begin += count;
	}
	for (i = 0; i < k->n; i++)
		to[place[from[i] >> shift & (DIGITS - 1)]++] = from[i];
	k->now = to;
	k->other = from;
}

static bool in_order(const struct keys *k)
{
	for (size_t i = 1; i < k->n; i++)
		if (k->now[i - 1] > k->now[i])
			return false;
	return true;
}

static void radix_main(struct run *run)
{
	struct keys k = { .n = run->bytes / (2 * sizeof(*k.now)) };
	struct rng rng = { run->seed };
	uint64_t round;

	k.now = map_array(run, "keys", k.n * sizeof(*k.now));
	k.other = map_array(run, "moved", k.n * sizeof(*k.other));
	fill(&k, &rng);
	main_begin(run);
	for (round = 0; round < run->rounds; round++) {
		if (round)
			fill(&k, &rng);
		for (unsigned int shift = 0; shift < KEY_BITS; shift += DIGIT_BITS)
			pass(&k, shift);
	}
	main_end(run);

	if (breaks(run, 1))
		pass(&k, 0);
	verify(run, 1, in_order(&k));
	if (breaks(run, 2))
		k.now[0]--;
	verify(run, 2, sum_of(&k) == k.sum);
}

const struct program radix_program = {
	.name = "radix",
	.what = "radix sort: read in order, written at 2048 places",
	.rounds = 4,
	.checks = 2,
	.main = radix_main,
};
