// SPDX-License-Identifier: GPL-2.0
/* Region-specific replacement: pools of memory, their policies and their sizes. */
#include <linux/limits.h>
#include "test.h"

#define MEMORY	1000U		/* pages */
#define LOOP	1500U		/* pages of the region of this name, 1 */
#define OTHER	300U		/* of region 2, whose pages are touched at random */
#define FIRST	(1ULL << 20)	/* page of region 1 */
#define SECOND	(1ULL << 21)

struct fixture {
	struct test_mem tm;
	struct mmpath_pools ps;
	struct mmpath_mrc loop, near;	/* all misses but for more than LOOP pages, none */
	struct mmpath_regions rs;
	struct rng r;
	u64 at, misses;
	bool *in_memory;		/* of 2 * SECOND pages */
};

static void fixture_init(struct fixture *f, unsigned int shift)
{
	const struct mmpath_region_params params = {
		.min_pages = 256, .group_pages = 16, .mru_pages = 10000, .shift = shift,
	};

	memset(f, 0, sizeof(*f));
	test_mem_init(&f->tm);
	f->r.state = 5;
	f->in_memory = calloc(2 * SECOND, 1);
	assert_int_equal(mmpath_pools_init(&f->ps, &f->tm.mem, 10000, shift), 0);
	assert_int_equal(mmpath_mrc_init(&f->loop, &f->tm.mem, 16), 0);
	assert_int_equal(mmpath_mrc_init(&f->near, &f->tm.mem, 16), 0);
	assert_int_equal(mmpath_regions_init(&f->rs, &f->tm.mem, &params), 0);
	mmpath_regions_map(&f->rs, FIRST, LOOP, MMPATH_REGION_MMAP);
	mmpath_regions_map(&f->rs, SECOND, OTHER, MMPATH_REGION_MMAP);
	mmpath_pools_set_size(&f->ps, MEMORY, 16);
}

static void fixture_destroy(struct fixture *f)
{
	mmpath_pools_destroy(&f->ps);
	mmpath_regions_destroy(&f->rs);
	mmpath_mrc_destroy(&f->loop);
	mmpath_mrc_destroy(&f->near);
	assert_int_equal(f->tm.mem.bytes, 0);
	free(f->in_memory);
}

static void close_epoch(struct mmpath_mrc *m, s64 distance, u32 weight)
{
	if (weight)
		mmpath_mrc_add(m, distance, weight);
	mmpath_mrc_close_epoch(m);
}

/* Each page more is worth as much as the one before. */
static void close_slope(struct mmpath_mrc *m, s64 end)
{
	s64 distance;

	for (distance = 0; distance < end; distance += 16)
		mmpath_mrc_add(m, distance, 500);
	mmpath_mrc_close_epoch(m);
}

/* An epoch of region 1 with so many misses that one of both policies has not */
static void close_region(struct fixture *f, u32 misses, bool mru_is_better)
{
	close_epoch(&f->loop, 2 * LOOP, misses);
	close_epoch(&f->near, 0, misses);
	mmpath_pools_close_region(&f->ps, 1, mru_is_better ? &f->loop : &f->near,
				  mru_is_better ? &f->near : &f->loop);
}

static void fill(struct fixture *f, u64 key, u64 first, u64 nr)
{
	u64 i;

	for (i = 0; i < nr; i++)
		assert_int_not_equal(mmpath_pools_touch(&f->ps, key, first + i), MMPATH_NOMEM);
}

static bool is_mru(struct fixture *f)
{
	return mmpath_pools_find(&f->ps, 1)->mru;
}

/* Four epochs to change, and four to change back. */
static void test_switch(void **state)
{
	struct fixture f;
	int i;

	(void)state;
	fixture_init(&f, 0);
	fill(&f, 1, FIRST, 500);
	for (i = 0; i < 4; i++) {
		assert_false(is_mru(&f));
		close_region(&f, 100, true);
	}
	assert_true(is_mru(&f));
	for (i = 0; i < 4; i++) {
		assert_true(is_mru(&f));
		close_region(&f, 100, false);
	}
	assert_false(is_mru(&f));
	assert_same(f.ps.switches, 2);
	/* nothing left memory for that */
	assert_same(mmpath_pools_known(&f.ps), 500);
	fixture_destroy(&f);
}

static void test_no_flapping(void **state)
{
	struct fixture f;
	int i;

	(void)state;
	fixture_init(&f, 0);
	fill(&f, 1, FIRST, 500);
	for (i = 0; i < 50; i++)
		close_region(&f, 100, i % 2);
	assert_same(f.ps.switches, 0);
	/* nor for what is as good */
	for (i = 0; i < 10; i++) {
		close_epoch(&f.loop, 2 * LOOP, 100);
		mmpath_pools_close_region(&f.ps, 1, &f.loop, &f.loop);
	}
	assert_false(is_mru(&f));
	/* of a region that is not known */
	mmpath_pools_close_region(&f.ps, 99, &f.loop, &f.near);
	fixture_destroy(&f);
}

/* Epochs with few misses say nothing: few for the region, or for the sample. */
static void test_few_misses(void **state)
{
	struct fixture f;
	int i;

	(void)state;
	fixture_init(&f, 0);
	fill(&f, 1, FIRST, 500);
	for (i = 0; i < 10; i++)
		close_region(&f, 30, true);
	assert_false(is_mru(&f));
	fixture_destroy(&f);
	fixture_init(&f, 5);
	fill(&f, 1, FIRST, 500);
	for (i = 0; i < 10; i++)
		close_region(&f, 7 * 32, true);
	assert_false(is_mru(&f));
	for (i = 0; i < 10; i++)
		close_region(&f, 9 * 32, true);
	assert_true(is_mru(&f));
	fixture_destroy(&f);
}

/* LRU by default, page by page */
static void test_lru(void **state)
{
	u64 order[64], page, key, i, n, nr = 0;
	struct fixture f;

	(void)state;
	fixture_init(&f, 0);
	for (n = 0; n < 5000; n++) {
		page = FIRST + rng_below(&f.r, 64);
		if (nr > 40) {
			assert_true(mmpath_pools_victim(&f.ps, &key, &i));
			assert_same(key, order[0]);
			assert_same(i, 1);
			memmove(order, order + 1, --nr * sizeof(*order));
		}
		mmpath_pools_touch(&f.ps, 1, page);
		for (i = 0; i < nr && order[i] != page; i++)
			;
		if (i < nr)
			memmove(order + i, order + i + 1, (--nr - i) * sizeof(*order));
		order[nr++] = page;
		assert_same(mmpath_pools_known(&f.ps), nr);
	}
	fixture_destroy(&f);
}

/* Who is furthest above its target has to give, though its pages are the newest. */
static void test_excess(void **state)
{
	struct fixture f;
	u64 page, key;
	int i;

	(void)state;
	fixture_init(&f, 0);
	fill(&f, 2, SECOND, 300);
	fill(&f, 1, FIRST, 600);
	mmpath_pools_find(&f.ps, 1)->target = 500;
	mmpath_pools_find(&f.ps, 2)->target = 290;
	for (i = 0; i < 90; i++) {
		assert_true(mmpath_pools_victim(&f.ps, &page, &key));
		assert_same(key, 1);
		assert_same(page, FIRST + i);
	}
	for (i = 0; i < 20; i++)
		assert_true(mmpath_pools_victim(&f.ps, &page, &key));
	assert_in_range(mmpath_pool_has(mmpath_pools_find(&f.ps, 1)), 499, 501);
	assert_in_range(mmpath_pool_has(mmpath_pools_find(&f.ps, 2)), 289, 291);
	mmpath_pools_keep(&f.ps, key, page);
	assert_same(mmpath_pools_known(&f.ps), 791);
	for (i = 0; i < 791; i++)
		assert_true(mmpath_pools_victim(&f.ps, &page, &key));
	assert_false(mmpath_pools_victim(&f.ps, &page, &key));
	fixture_destroy(&f);
}

/* Memory goes where the curve falls; but what the driver may be filtering stays. */
static void test_divide_regions(void **state)
{
	struct mmpath_pool *a, *b;
	struct mmpath_mrc flat;
	struct fixture f;
	u64 step;
	int i;

	(void)state;
	fixture_init(&f, 0);
	mmpath_pools_set_size(&f.ps, MEMORY, 64);
	fill(&f, 1, FIRST, 500);
	fill(&f, 2, SECOND, 500);
	a = mmpath_pools_find(&f.ps, 1);
	b = mmpath_pools_find(&f.ps, 2);
	assert_true(a->target == U64_MAX);
	mmpath_mrc_init(&flat, &f.tm.mem, 16);
	for (i = 0; i < 40; i++) {
		close_slope(&f.loop, MEMORY);
		mmpath_mrc_close_epoch(&flat);
		mmpath_pools_close_region(&f.ps, 1, &f.loop, &f.loop);
		mmpath_pools_close_region(&f.ps, 2, &flat, &flat);
		mmpath_pools_close_epoch(&f.ps);
		assert_true(a->target + b->target <= MEMORY + 16);
	}
	assert_in_range(a->target, 900, MEMORY - 64);
	assert_in_range(b->target, 64, 80);
	/* a few pages more or less change no step, and no target; nor does a quarter */
	step = f.ps.step;
	mmpath_pools_set_size(&f.ps, MEMORY * 3 / 4, 64);
	assert_same(f.ps.step, step);
	mmpath_pools_set_size(&f.ps, MEMORY * 9 / 20, 64);
	assert_true(f.ps.step < step);
	/* much less memory: nobody is to have more than there is */
	mmpath_mrc_close_epoch(&flat);
	mmpath_pools_close_region(&f.ps, 2, &flat, &flat);
	close_slope(&f.loop, MEMORY);
	mmpath_pools_close_region(&f.ps, 1, &f.loop, &f.loop);
	mmpath_pools_close_epoch(&f.ps);
	assert_in_range(a->target, 300, MEMORY * 9 / 20 - 64);
	assert_true(a->target + b->target <= MEMORY * 9 / 20);
	mmpath_mrc_destroy(&flat);
	/* whose curve is not known keeps what it has */
	mmpath_pools_set_size(&f.ps, MEMORY, 64);
	for (i = 0; i < 40; i++) {
		close_epoch(&f.loop, 800, 5000);
		mmpath_pools_close_region(&f.ps, 1, &f.loop, &f.loop);
		mmpath_pools_close_epoch(&f.ps);
	}
	assert_in_range(b->target, 490, 510);
	fixture_destroy(&f);
}

/* One page touched: by the regions' stacks and the pools; a miss evicts. */
static void touch(struct fixture *f, u64 page)
{
	u64 victim, key = mmpath_regions_touch(&f->rs, page)->id;

	if (!f->in_memory[page]) {
		f->misses++;
		if (mmpath_pools_known(&f->ps) >= MEMORY) {
			assert_true(mmpath_pools_victim(&f->ps, &victim, &key));
			assert_true(f->in_memory[victim]);
			f->in_memory[victim] = false;
		}
	}
	f->in_memory[page] = true;
	key = mmpath_regions_find(&f->rs, page)->id;
	mmpath_pools_touch(&f->ps, key, page);
}

static void epoch(struct fixture *f)
{
	struct mmpath_region *region;
	struct mmpath_models *m;
	u32 i;

	f->misses = 0;
	for (i = 0; i < 3000; i++) {
		touch(f, FIRST + f->at++ % LOOP);
		touch(f, SECOND + rng_below(&f->r, OTHER));
	}
	mmpath_regions_close_epoch(&f->rs);
	mmpath_for_each_region(&f->rs, i, region) {
		m = region->models;
		if (m)
			mmpath_pools_close_region(&f->ps, region->id, &m->lru_mrc, &m->mru_mrc);
	}
	mmpath_pools_close_epoch(&f->ps);
}

/* A loop and its neighbour: the loop misses on half of its pages, the neighbour on none. */
static void test_two_regions(void **state)
{
	struct fixture f;
	u64 first;
	int i;

	(void)state;
	fixture_init(&f, 0);
	epoch(&f);
	epoch(&f);
	first = f.misses;
	assert_true(first >= 3000);
	for (i = 0; i < 40; i++)
		epoch(&f);
	assert_true(is_mru(&f));
	assert_false(mmpath_pools_find(&f.ps, 2)->mru);
	assert_in_range(mmpath_pool_has(mmpath_pools_find(&f.ps, 2)), OTHER - 5, OTHER);
	assert_in_range(f.misses, 3000 * (LOOP - MEMORY + OTHER) / LOOP, 1750);
	fixture_destroy(&f);
}

/* What was there before goes to its region when it is touched, or leaves first. */
static void test_old(void **state)
{
	struct fixture f;
	u64 page, key;
	int i;

	(void)state;
	fixture_init(&f, 0);
	fill(&f, MMPATH_POOL_OLD, FIRST, 400);
	assert_same(mmpath_pools_touch(&f.ps, 1, FIRST + 7), MMPATH_LIRS_HIT);
	assert_same(mmpath_pools_touch(&f.ps, 1, FIRST + 7), MMPATH_LIRS_HIT);
	assert_same(mmpath_pools_known(&f.ps), 400);
	fill(&f, 1, FIRST, 100);
	assert_same(mmpath_pool_has(mmpath_pools_find(&f.ps, 1)), 100);
	for (i = 0; i < 80; i++) {
		close_epoch(&f.near, 900, 5000);
		mmpath_pools_close_region(&f.ps, 1, &f.near, &f.near);
		mmpath_pools_close_epoch(&f.ps);
	}
	assert_true(mmpath_pools_find(&f.ps, MMPATH_POOL_OLD)->target < 100);
	assert_true(mmpath_pools_victim(&f.ps, &page, &key));
	assert_same(key, MMPATH_POOL_OLD);
	assert_same(page, FIRST + 100);
	fixture_destroy(&f);
}

/* One region too many is among the old ones, and keeps what it has. Empty ones go. */
static void test_crowd(void **state)
{
	struct fixture f;
	u64 key;
	int i;

	(void)state;
	fixture_init(&f, 0);
	mmpath_pools_set_size(&f.ps, 4 * MEMORY, 16);
	for (key = 1; key < 100; key++)
		fill(&f, key, FIRST + key * 10, 10);
	assert_same(f.ps.nr, MMPATH_MAX_POOLS);
	assert_null(mmpath_pools_find(&f.ps, 90));
	assert_same(mmpath_pools_known(&f.ps), 990);
	for (i = 0; i < 40; i++) {
		close_slope(&f.near, 4 * MEMORY);
		mmpath_pools_close_region(&f.ps, 1, &f.near, &f.near);
		mmpath_pools_close_epoch(&f.ps);
	}
	assert_true(mmpath_pools_find(&f.ps, 1)->target > 1000);
	assert_in_range(mmpath_pools_find(&f.ps, MMPATH_POOL_OLD)->target, 360, 400);
	assert_true(f.ps.crowded);
	mmpath_pools_forget(&f.ps, FIRST + MMPATH_MAX_POOLS * 10, 500);
	mmpath_pools_close_epoch(&f.ps);
	assert_false(f.ps.crowded);
	mmpath_pools_forget(&f.ps, FIRST, 500);
	mmpath_pools_close_epoch(&f.ps);
	assert_same(f.ps.nr, MMPATH_MAX_POOLS - 49);
	assert_null(mmpath_pools_find(&f.ps, 7));
	fixture_destroy(&f);
}

static void test_bad_parameters(void **state)
{
	struct test_mem tm;
	struct mmpath_pools ps;

	(void)state;
	test_mem_init(&tm);
	assert_int_equal(mmpath_pools_init(&ps, &tm.mem, 0, 0), -EINVAL);
	assert_int_equal(mmpath_pools_init(&ps, &tm.mem, 1, MMPATH_MAX_SHIFT + 1), -EINVAL);
	tm.fail_at = 1;
	assert_int_equal(mmpath_pools_init(&ps, &tm.mem, 1, 0), -ENOMEM);
	assert_int_equal(tm.mem.bytes, 0);
}

/* All that may happen, with and without memory: no page is in two pools, none is lost. */
static void random_changes(bool fail)
{
	unsigned int shift = 0;
	struct fixture f;
	u64 page, key, victims, i;
	int n;

	fixture_init(&f, 0);
	for (n = 0; n < 60000; n++) {
		if (fail && rng_below(&f.r, 50) == 0)
			f.tm.fail_at = f.tm.nr_allocs + 1 + rng_below(&f.r, 3);
		key = 1 + rng_below(&f.r, 5);
		page = FIRST + key * 1024 + rng_below(&f.r, 700);
		switch (rng_below(&f.r, 400)) {
		case 0:
			mmpath_pools_forget(&f.ps, page, rng_below(&f.r, 100));
			break;
		case 1:
			mmpath_pools_move(&f.ps, page, page + 100000, 64);
			break;
		case 2:
			page = rng_below(&f.r, 5) ? 200 + rng_below(&f.r, MEMORY) : 0;
			mmpath_pools_set_size(&f.ps, page, 16);
			break;
		case 3:
			shift = rng_below(&f.r, 4);
			if (mmpath_pools_set_shift(&f.ps, shift))
				mmpath_pools_refine(&f.ps, shift);
			break;
		case 4:
			close_region(&f, 1000, rng_below(&f.r, 2));
			mmpath_pools_close_epoch(&f.ps);
			break;
		default:
			if (mmpath_pools_known(&f.ps) >= f.ps.size &&
			    mmpath_pools_victim(&f.ps, &page, &key) && rng_below(&f.r, 3) == 0)
				mmpath_pools_keep(&f.ps, key, page);
			else
				mmpath_pools_touch(&f.ps, key, page);
		}
	}
	f.tm.fail_at = 0;
	memset(f.in_memory, 0, 2 * SECOND);
	victims = mmpath_pools_known(&f.ps) >> f.ps.shift;
	for (i = 0; mmpath_pools_victim(&f.ps, &page, &key); i++) {
		assert_false(f.in_memory[page]);
		f.in_memory[page] = true;
	}
	assert_same(i, victims);
	fixture_destroy(&f);
}

static void test_random_changes(void **state)
{
	(void)state;
	random_changes(false);
}

static void test_no_memory(void **state)
{
	(void)state;
	random_changes(true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_switch),
		cmocka_unit_test(test_no_flapping),
		cmocka_unit_test(test_few_misses),
		cmocka_unit_test(test_lru),
		cmocka_unit_test(test_excess),
		cmocka_unit_test(test_divide_regions),
		cmocka_unit_test(test_two_regions),
		cmocka_unit_test(test_old),
		cmocka_unit_test(test_crowd),
		cmocka_unit_test(test_bad_parameters),
		cmocka_unit_test(test_random_changes),
		cmocka_unit_test(test_no_memory),
	};

	cmocka_set_test_filter(getenv("UNIT_FILTER"));
	return cmocka_run_group_tests_name("pools", tests, NULL, NULL);
}
