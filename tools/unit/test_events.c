// SPDX-License-Identifier: GPL-2.0
/* Tests of foresee.c, an event at a time, in mappings whose pages are all in swap. */
#include <stdlib.h>
#include <string.h>

#include "foresee.h"
#include "lib.h"
#include "test.h"

#define MAPPING	1024U
#define SWEEP	64		/* events in which all marks are looked at */

struct events {
	struct mmpath_foresee f;
	struct test_mem tm;
	unsigned int room, nr;		/* nr: pages that the last event fetches */
	u64 in_swap;
	u64 fetch[MMPATH_FORESEE_MOST];
};

static bool all_swapped(void *arg, u64 page)
{
	(void)arg;
	(void)page;
	return true;
}

static void events_init(struct events *s, enum mmpath_foresee_mode mode)
{
	memset(s, 0, sizeof(*s));
	test_mem_init(&s->tm);
	mmpath_foresee_init(&s->f, &s->tm.mem, mode, 1000000);
	s->room = MMPATH_FORESEE_MOST;
	s->in_swap = 1000000;
}

static void events_end(struct events *s)
{
	mmpath_foresee_destroy(&s->f);
	assert_int_equal(s->tm.mem.bytes, 0);
}

/* Page @page of a mapping is missed, or used. */
static unsigned int event(struct events *s, u64 mapping, u64 page, bool miss)
{
	const struct mmpath_foresee_event e = {
		.page = (1 + mapping) * MAPPING + page, .first = (1 + mapping) * MAPPING,
		.nr = MAPPING, .miss = miss, .room = s->room,
		.in_swap = s->in_swap, .swapped = all_swapped,
	};
	unsigned int i;

	s->nr = mmpath_foresee(&s->f, &e, s->fetch);
	for (i = 0; i < s->nr; i++)
		s->fetch[i] -= e.first;
	return s->nr;
}

/* Of several misses in a mapping of which nothing is known */
static void miss_in_row(struct events *s, u64 mapping, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		event(s, mapping, i, true);
}

/* A program whose mappings are read in a row, so far */
static void events_init_in_row(struct events *s)
{
	events_init(s, MMPATH_PREFETCH_SPACE);
	s->room = 0;
	miss_in_row(s, 1000, 200);
	s->room = MMPATH_FORESEE_MOST;
}

/* Nothing is fetched on trust: first a few tests must have been right, in any mapping. */
static void test_no_trust(void **state)
{
	struct events s;
	unsigned int i, mapping;

	(void)state;
	events_init(&s, MMPATH_PREFETCH_AUTO);
	for (i = 0; i < 5; i++)
		assert_same(event(&s, 0, i, true), 0);
	for (; i < 100; i++)
		event(&s, 0, i, true);
	assert_in_range(s.f.nr_unsettled, 1, MAPPING);
	/* one that is new is like those that are known, be they in order ... */
	assert_in_range(event(&s, 1, 0, true), 1, MMPATH_FORESEE_MOST);
	s.room = 1;
	for (mapping = 2; mapping < 250; mapping++)
		event(&s, mapping, 0, true);
	s.room = MMPATH_FORESEE_MOST;
	/* ... or not, and that does not change what was found of the first */
	assert_same(event(&s, mapping, 0, true), 0);
	assert_in_range(event(&s, 0, MAPPING / 2, true), 1, MMPATH_FORESEE_MOST);
	events_end(&s);
}

/* The use of the page in the middle of a batch begins the next, the use of others does not. */
static void test_trigger(void **state)
{
	unsigned int i, nr, middle, more;
	u64 fetch[MMPATH_FORESEE_MOST];
	struct events s;

	(void)state;
	events_init_in_row(&s);
	s.room = 8;
	nr = event(&s, 0, 0, true);
	assert_same(nr, 8);
	s.room = MMPATH_FORESEE_MOST;
	memcpy(fetch, s.fetch, sizeof(fetch));
	middle = (nr - 1) / 2;
	for (i = 0; i < nr; i++) {
		more = event(&s, 0, fetch[i], false);
		if (i != middle)
			assert_same(more, 0);
		else
			assert_in_range(more, 1, MMPATH_FORESEE_MOST);
	}
	/* once only */
	assert_same(event(&s, 0, fetch[middle], false), 0);
	events_end(&s);
}

/* No more is fetched than there is room for, and the nearest pages first. */
static void test_room(void **state)
{
	struct events s;

	(void)state;
	events_init_in_row(&s);
	s.room = 3;
	assert_same(event(&s, 0, 10, true), 3);
	assert_same(s.fetch[0], 11);
	assert_same(s.fetch[2], 13);
	s.room = 0;
	assert_same(event(&s, 0, 500, true), 0);
	assert_same(s.f.nr_unsettled, 3);
	s.room = MMPATH_FORESEE_MOST;
	/* none beyond the end of the mapping */
	assert_same(event(&s, 0, MAPPING - 3, true), 2);
	events_end(&s);
}

/* A small step back means the direction down, two equal steps mean that stride. */
static void test_direction(void **state)
{
	static const struct {
		u64 page[3];
		s64 step;
	} cases[] = {
		{ { 500, 501, 503 }, 1 }, { { 500, 498, 497 }, -1 }, { { 500, 499, 496 }, -1 },
		{ { 500, 499, 495 }, 1 }, { { 500, 507, 514 }, 7 }, { { 500, 493, 486 }, -7 },
		{ { 500, 500, 500 }, 1 },
	};
	struct events s;
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		events_init_in_row(&s);
		s.room = 0;
		event(&s, 0, cases[i].page[0], true);
		event(&s, 0, cases[i].page[1], true);
		s.room = 2;
		assert_same(event(&s, 0, cases[i].page[2], true), 2);
		assert_same(s.fetch[0], cases[i].page[2] + cases[i].step);
		assert_same(s.fetch[1], cases[i].page[2] + 2 * cases[i].step);
		events_end(&s);
	}
}

/* What is not used within 256 events is wrong, and so is what is missed although it was fetched. */
static void test_outcomes(void **state)
{
	struct events s;
	unsigned int nr;
	u64 i;

	(void)state;
	events_init_in_row(&s);
	nr = event(&s, 0, 0, true);
	assert_same(s.f.nr_unsettled, nr);
	s.room = 0;
	event(&s, 0, s.fetch[0], false);
	assert_same(s.f.right, 1);
	event(&s, 0, 2, true);
	assert_same(s.f.wrong, 1);
	assert_same(s.f.nr_unsettled, nr - 2);
	for (i = 0; i < 240; i++)
		event(&s, 1, 0, true);
	assert_same(s.f.wrong, 1);
	for (i = 0; i < 30 + SWEEP; i++)
		event(&s, 1, 0, true);
	assert_same(s.f.right, 1);
	assert_same(s.f.wrong, nr - 1);
	assert_same(s.f.nr_unsettled, 0);
	/* too late */
	event(&s, 0, 3, false);
	assert_same(s.f.right, 1);
	assert_same(s.f.wrong, nr - 1);
	events_end(&s);
}

/* What is used too late is wrong, also when that was not noticed before. */
static void test_late(void **state)
{
	unsigned int i, nr;
	struct events s;

	(void)state;
	events_init_in_row(&s);
	nr = event(&s, 0, 0, true);
	s.room = 0;
	for (i = 0; i < 272; i++)
		event(&s, 1, 0, true);
	assert_in_range(s.f.nr_unsettled, 1, nr);
	for (i = 1; i <= nr; i++)
		event(&s, 0, i, false);
	assert_same(s.f.right, 0);
	assert_same(s.f.wrong, nr);
	assert_same(s.f.nr_unsettled, 0);
	events_end(&s);
}

/* Tests that were not right leave room for others. */
static void test_many_tests(void **state)
{
	struct rng rng = { 5 };
	struct events s;
	unsigned int i;

	(void)state;
	events_init(&s, MMPATH_PREFETCH_SPACE);
	s.room = 0;
	for (i = 0; i < 10000; i++)
		event(&s, rng_below(&rng, 1000), rng_below(&rng, MAPPING), true);
	miss_in_row(&s, 1001, 500);
	s.room = MMPATH_FORESEE_MOST;
	assert_same(event(&s, 1001, 500, true), MMPATH_FORESEE_MOST);
	events_end(&s);
}

/* It is told which predictor has named a page, also when its use comes late. */
static void test_predictor(void **state)
{
	unsigned int k, used[NR_MMPATH_PREDICTORS + 1] = { };
	bool fetched[MAPPING] = { };
	struct events s;
	u64 i, round;

	(void)state;
	events_init_in_row(&s);
	event(&s, 0, 0, true);
	assert_same(s.f.fetch_by, MMPATH_FORESEE_SPACE);
	assert_same(s.f.used_by, NR_MMPATH_PREDICTORS);
	s.room = 0;
	event(&s, 0, 1, false);
	assert_same(s.f.used_by, MMPATH_FORESEE_SPACE);
	event(&s, 0, 3, true);
	assert_same(s.f.used_by, NR_MMPATH_PREDICTORS);
	for (i = 0; i < 300 + SWEEP; i++)
		event(&s, 1, 0, true);
	event(&s, 0, 2, false);
	assert_same(s.f.used_by, MMPATH_FORESEE_SPACE);
	event(&s, 0, 900, false);
	assert_same(s.f.used_by, NR_MMPATH_PREDICTORS);
	events_end(&s);

	events_init(&s, MMPATH_PREFETCH_PPG);
	event(&s, 1, 0, true);
	event(&s, 1, 0, false);
	assert_same(s.f.used_by, NR_MMPATH_PREDICTORS);
	for (round = 0; round < 4; round++)
		for (i = 0; i < MAPPING; i++) {
			event(&s, 0, i, !fetched[i]);
			used[s.f.used_by]++;
			assert_same(s.f.used_by == NR_MMPATH_PREDICTORS, !fetched[i]);
			fetched[i] = false;
			for (k = 0; k < s.nr; k++)
				fetched[s.fetch[k]] = true;
		}
	assert_in_range(used[MMPATH_FORESEE_PPG], MAPPING, 4 * MAPPING);
	assert_same(used[MMPATH_FORESEE_SPACE], 0);
	events_end(&s);
}

/* Of few pages in swap, a random one is used soon: it must be sooner to be right. */
static void test_few_pages(void **state)
{
	struct events s;
	unsigned int nr;
	int i;

	(void)state;
	events_init_in_row(&s);
	s.in_swap = 100;
	nr = event(&s, 0, 0, true);
	s.room = 0;
	for (i = 0; i < 20; i++)
		event(&s, 1, 0, true);
	assert_same(s.f.wrong, 0);
	for (i = 0; i < 30 + SWEEP; i++)
		event(&s, 1, 0, true);
	assert_same(s.f.wrong, nr);
	events_end(&s);
}

/* The pool is halved where pages are wrong, and grows where they are right. */
static void test_pool(void **state)
{
	bool fetched[MAPPING] = { };
	unsigned int was, k;
	struct events s;
	u64 i;

	(void)state;
	events_init_in_row(&s);
	assert_same(s.f.pool_percent, 4);
	s.room = 7;
	for (i = 0; i < 200; i++) {
		was = s.f.pool_percent;
		event(&s, i, 100, true);
		if (s.f.pool_percent != was)
			assert_same(s.f.pool_percent, max(was / 2, 2U));
	}
	for (i = 0; i < 300 + SWEEP; i++)
		event(&s, 200, 0, true);
	assert_same(s.f.pool_percent, 2);
	s.room = MMPATH_FORESEE_MOST;
	for (i = 0; i < MAPPING; i++) {
		was = s.f.pool_percent;
		event(&s, 201, i, !fetched[i]);
		for (k = 0; k < s.nr; k++)
			fetched[s.fetch[k]] = true;
		if (s.f.pool_percent != was)
			assert_same(s.f.pool_percent, min(was + 2, 10U));
	}
	assert_same(s.f.pool_percent, 10);
	events_end(&s);
}

/* Space needs no graph: not one edge is learnt, nor are pages of one. */
static void test_space_learns_no_edges(void **state)
{
	enum mmpath_foresee_mode mode;
	struct events s;
	u32 i, edges;

	(void)state;
	for (mode = MMPATH_PREFETCH_SPACE; mode <= MMPATH_PREFETCH_PPG; mode++) {
		events_init(&s, mode);
		s.room = 0;
		for (i = 0; i < 5; i++)
			miss_in_row(&s, 0, 100);
		for (i = 1, edges = 0; i <= s.f.graph.nr_nodes; i++)
			edges += !!mmpath_ppg_edges(&s.f.graph, i)[0];
		assert_same(!edges, mode == MMPATH_PREFETCH_SPACE);
		events_end(&s);
	}
}

/* Where nothing comes in any order, hardly anything is fetched. */
static void test_random_is_left_alone(void **state)
{
	struct rng rng = { 3 };
	struct events s;
	int i;

	(void)state;
	events_init(&s, MMPATH_PREFETCH_AUTO);
	for (i = 0; i < 10000; i++)
		event(&s, 0, rng_below(&rng, MAPPING), true);
	assert_in_range(s.f.right + s.f.wrong + s.f.nr_unsettled, 0, 300);
	events_end(&s);
}

/* Nothing is fetched, learnt or allocated. */
static void test_none(void **state)
{
	struct events s;

	(void)state;
	events_init(&s, MMPATH_PREFETCH_NONE);
	miss_in_row(&s, 0, 100);
	assert_same(s.nr, 0);
	assert_same(mmpath_foresee_bytes(&s.f), 0);
	assert_same(s.tm.nr_allocs, 0);
	events_end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_trust),
		cmocka_unit_test(test_trigger),
		cmocka_unit_test(test_room),
		cmocka_unit_test(test_direction),
		cmocka_unit_test(test_outcomes),
		cmocka_unit_test(test_late),
		cmocka_unit_test(test_many_tests),
		cmocka_unit_test(test_predictor),
		cmocka_unit_test(test_few_pages),
		cmocka_unit_test(test_pool),
		cmocka_unit_test(test_space_learns_no_edges),
		cmocka_unit_test(test_random_is_left_alone),
		cmocka_unit_test(test_none),
	};

	cmocka_set_test_filter(getenv("UNIT_FILTER"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
