/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tests of the models, each against the simplest implementation that is surely
 * right. Included at the end of lru_stack.c. The tests in user space (tools/unit)
 * go further. These test the models as they are compiled into the kernel.
 */
#ifndef _MM_PATH_MODELS_KUNIT_H
#define _MM_PATH_MODELS_KUNIT_H

#include <kunit/test.h>
#include <linux/prandom.h>
#include <linux/slab.h>
#include "touch.h"

#define KT_PAGES	300
#define KT_TOUCHES	5000

static void *kt_alloc(struct mmpath_mem *mem, size_t bytes)
{
	return kzalloc(bytes, GFP_KERNEL);
}

static void kt_free(struct mmpath_mem *mem, void *p, size_t bytes)
{
	kfree(p);
}

static struct mmpath_mem *kt_mem(struct kunit *test)
{
	struct mmpath_mem *mem = kunit_kzalloc(test, sizeof(*mem), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, mem);
	mem->alloc = kt_alloc;
	mem->free = kt_free;
	return mem;
}

/* A stack as a list in an array, the top first */
struct kt_naive {
	u64 page[KT_PAGES];
	int nr;
};

static s64 kt_naive_touch(struct kt_naive *n, u64 page)
{
	int i, depth;

	for (i = 0; i < n->nr && n->page[i] != page; i++)
		;
	depth = i < n->nr ? i : MMPATH_COLD;
	if (i == n->nr)
		n->nr++;
	memmove(n->page + 1, n->page, i * sizeof(*n->page));
	n->page[0] = page;
	return depth;
}

static void kt_naive_forget(struct kt_naive *n, u64 first, u64 nr)
{
	int i, to = 0;

	for (i = 0; i < n->nr; i++)
		if (n->page[i] - first >= nr)
			n->page[to++] = n->page[i];
	n->nr = to;
}

/* A mix of a loop, a hot spot and chance */
static u64 kt_next(struct rnd_state *rnd, int i)
{
	if (i % 512 < 200)
		return i % (KT_PAGES / 2);
	if (i % 512 < 300)
		return prandom_u32_state(rnd) % 10;
	return prandom_u32_state(rnd) % KT_PAGES;
}

static void kt_stack_exact(struct kunit *test)
{
	struct kt_naive *naive = kunit_kzalloc(test, sizeof(*naive), GFP_KERNEL);
	struct mmpath_mem *mem = kt_mem(test);
	struct mmpath_stack s;
	struct rnd_state rnd;
	int i;

	KUNIT_ASSERT_NOT_NULL(test, naive);
	prandom_seed_state(&rnd, 1);
	KUNIT_ASSERT_EQ(test, mmpath_stack_init(&s, mem, 0, 0), 0);
	for (i = 0; i < KT_TOUCHES; i++) {
		u64 page = kt_next(&rnd, i);

		KUNIT_ASSERT_EQ(test, mmpath_stack_touch(&s, page), kt_naive_touch(naive, page));
		if (i % 700 == 699) {
			mmpath_stack_forget(&s, page, 20);
			kt_naive_forget(naive, page, 20);
		}
		KUNIT_ASSERT_EQ(test, mmpath_stack_footprint(&s), (u64)naive->nr);
	}
	mmpath_stack_destroy(&s);
	KUNIT_EXPECT_EQ(test, mem->bytes, 0);
}

/* Walked from the bottom up, the stack has the pages of the list from its end. */
static void kt_stack_order(struct kunit *test)
{
	struct kt_naive *naive = kunit_kzalloc(test, sizeof(*naive), GFP_KERNEL);
	struct mmpath_stack s;
	struct rnd_state rnd;
	u64 page;
	int i;

	KUNIT_ASSERT_NOT_NULL(test, naive);
	prandom_seed_state(&rnd, 2);
	mmpath_stack_init(&s, kt_mem(test), 0, 0);
	for (i = 0; i < KT_TOUCHES; i++) {
		page = kt_next(&rnd, i);
		mmpath_stack_touch(&s, page);
		kt_naive_touch(naive, page);
	}
	KUNIT_ASSERT_TRUE(test, mmpath_stack_bottom(&s, &page));
	for (i = naive->nr - 1; i > 0; i--) {
		KUNIT_ASSERT_EQ(test, page, naive->page[i]);
		KUNIT_ASSERT_TRUE(test, mmpath_stack_above(&s, &page));
	}
	KUNIT_EXPECT_EQ(test, page, naive->page[0]);
	KUNIT_EXPECT_FALSE(test, mmpath_stack_above(&s, &page));
	mmpath_stack_destroy(&s);
}

static void kt_stack_move(struct kunit *test)
{
	struct mmpath_stack s;
	u64 page;

	mmpath_stack_init(&s, kt_mem(test), 0, 0);
	for (page = 0; page < 100; page++)
		mmpath_stack_touch(&s, page);
	KUNIT_EXPECT_EQ(test, mmpath_stack_move(&s, 10, 5000, 20), 0);
	KUNIT_EXPECT_EQ(test, mmpath_stack_footprint(&s), 100);
	/* page 10, 89 above it; page 11 is now at the same depth */
	KUNIT_EXPECT_EQ(test, mmpath_stack_touch(&s, 5000), 89);
	KUNIT_EXPECT_EQ(test, mmpath_stack_touch(&s, 5001), 89);
	KUNIT_EXPECT_EQ(test, mmpath_stack_touch(&s, 10), MMPATH_COLD);
	KUNIT_EXPECT_EQ(test, mmpath_stack_move(&s, 0, 5, 10), -EINVAL);
	mmpath_stack_destroy(&s);
}

/* With a limit, memory is bounded, and the sample is one page in 2^shift. */
static void kt_stack_limit(struct kunit *test)
{
	struct mmpath_mem *mem = kt_mem(test);
	struct mmpath_stack s;
	u64 page, sampled = 0;
	int round;

	mmpath_stack_init(&s, mem, 1024, 0);
	for (round = 0; round < 3; round++)
		for (page = 0; page < 20000; page++)
			KUNIT_ASSERT_NE(test, mmpath_stack_touch(&s, page), MMPATH_NOMEM);
	KUNIT_EXPECT_GT(test, s.shift, 3);
	KUNIT_EXPECT_LE(test, s.nr_pages, 1024);
	KUNIT_EXPECT_LE(test, mem->bytes, 1024 * 16 + 4096);
	for (page = 0; page < 20000; page++)
		sampled += mmpath_sampled(page, s.shift);
	KUNIT_EXPECT_EQ(test, sampled, s.nr_pages);
	for (page = 0; !mmpath_sampled(page, s.shift); page++)
		;
	/* the distance of the loop, as exact as the sample is */
	KUNIT_EXPECT_EQ(test, mmpath_stack_touch(&s, page),
			(s64)(s.nr_pages - 1) << s.shift);
	mmpath_stack_destroy(&s);
}

static void kt_sample(struct kunit *test)
{
	unsigned int shift;
	u64 block, page, n;

	for (shift = 0; shift < 8; shift++) {
		for (block = 1000; block < 1020; block++) {
			n = 0;
			for (page = block << shift; page < (block + 1) << shift; page++) {
				n += mmpath_sampled(page, shift);
				if (mmpath_sampled(page, shift + 1))
					KUNIT_EXPECT_TRUE(test, mmpath_sampled(page, shift));
			}
			KUNIT_EXPECT_EQ(test, n, 1);
			page = mmpath_sample_of_block(block, shift);
			KUNIT_EXPECT_TRUE(test, mmpath_sampled(page, shift));
			KUNIT_EXPECT_EQ(test, page >> shift, block);
		}
	}
}

/* A simulation of MRU in a memory of this size: does the touch hit? */
struct kt_mru {
	bool in[KT_PAGES];
	u64 last;
	int used, memory;
};

static bool kt_mru_hit(struct kt_mru *m, u64 page)
{
	bool hit = m->in[page];

	if (!hit && m->used == m->memory)
		m->in[m->last] = false;
	else if (!hit)
		m->used++;
	m->in[page] = true;
	m->last = page;
	return hit;
}

static void kt_mru(struct kunit *test)
{
	static const int memories[] = { 1, 2, 7, 40, 100, 299 };
	struct kt_mru *sim = kunit_kcalloc(test, ARRAY_SIZE(memories), sizeof(*sim), GFP_KERNEL);
	struct mmpath_mem *mem = kt_mem(test);
	struct mmpath_mru s;
	struct rnd_state rnd;
	int i, k;

	KUNIT_ASSERT_NOT_NULL(test, sim);
	for (k = 0; k < ARRAY_SIZE(memories); k++)
		sim[k].memory = memories[k];
	prandom_seed_state(&rnd, 3);
	KUNIT_ASSERT_EQ(test, mmpath_mru_init(&s, mem, 4096, 0), 0);
	for (i = 0; i < KT_TOUCHES; i++) {
		u64 page = kt_next(&rnd, i);
		s64 d = mmpath_mru_touch(&s, page);

		for (k = 0; k < ARRAY_SIZE(memories); k++)
			KUNIT_ASSERT_EQ(test, d >= 0 && d < memories[k], kt_mru_hit(&sim[k], page));
	}
	mmpath_mru_destroy(&s);
	KUNIT_EXPECT_EQ(test, mem->bytes, 0);
}

/* A loop over 200 pages with 40 of memory: 161 misses a round, not 200. */
static void kt_mru_loop(struct kunit *test)
{
	struct mmpath_mru s;
	int i, misses = 0;

	mmpath_mru_init(&s, kt_mem(test), 4096, 0);
	for (i = 0; i < 200 * 200; i++) {
		s64 d = mmpath_mru_touch(&s, i % 200);

		misses += i >= 200 && d >= 40;
	}
	KUNIT_EXPECT_GE(test, misses, 199 * 160);
	KUNIT_EXPECT_LE(test, misses, 199 * 162);
	mmpath_mru_destroy(&s);
}

static void kt_mrc_misses(struct kunit *test)
{
	struct mmpath_mrc m;
	int i;

	KUNIT_EXPECT_EQ(test, mmpath_mrc_init(&m, kt_mem(test), 12), -EINVAL);
	KUNIT_ASSERT_EQ(test, mmpath_mrc_init(&m, kt_mem(test), 4), 0);
	for (i = 0; i < 40; i++)
		mmpath_mrc_add(&m, i, 1);
	mmpath_mrc_add(&m, MMPATH_COLD, 5);
	KUNIT_EXPECT_EQ(test, mmpath_mrc_records(&m, MMPATH_MRC_TOTAL), 45);
	KUNIT_EXPECT_EQ(test, mmpath_mrc_cold(&m, MMPATH_MRC_TOTAL), 5);
	for (i = 0; i <= 40; i++)
		KUNIT_EXPECT_EQ(test, mmpath_mrc_misses(&m, MMPATH_MRC_TOTAL, i), 40 - i);
	KUNIT_EXPECT_EQ(test, mmpath_mrc_misses(&m, MMPATH_MRC_TOTAL, 1 << 20), 0);
	mmpath_mrc_destroy(&m);
}

/* More groups than there are bins: the groups double, and nothing is lost. */
static void kt_mrc_doubling(struct kunit *test)
{
	u64 pages, last = 4 * MMPATH_MRC_BINS;
	struct mmpath_mem *mem = kt_mem(test);
	struct mmpath_mrc m;

	mmpath_mrc_init(&m, mem, 1);
	for (pages = 0; pages < last; pages++)
		mmpath_mrc_add(&m, pages, 3);
	KUNIT_EXPECT_EQ(test, m.group_pages, 4);
	for (pages = 0; pages <= last; pages += 4)
		KUNIT_ASSERT_EQ(test, mmpath_mrc_misses(&m, MMPATH_MRC_TOTAL, pages),
				3 * (last - pages));
	mmpath_mrc_reset(&m);
	KUNIT_EXPECT_EQ(test, m.group_pages, 1);
	KUNIT_EXPECT_EQ(test, mmpath_mrc_misses(&m, MMPATH_MRC_TOTAL, 0), 0);
	mmpath_mrc_destroy(&m);
	KUNIT_EXPECT_EQ(test, mem->bytes, 0);
}

/* An epoch counts fully in MMPATH_MRC_EPOCH and _TOTAL, and decays in _RECENT. */
static void kt_mrc_epochs(struct kunit *test)
{
	struct mmpath_mrc m;

	mmpath_mrc_init(&m, kt_mem(test), 1);
	mmpath_mrc_add(&m, 5, 64);
	KUNIT_EXPECT_EQ(test, mmpath_mrc_misses(&m, MMPATH_MRC_TOTAL, 5), 64);
	KUNIT_EXPECT_EQ(test, mmpath_mrc_misses(&m, MMPATH_MRC_EPOCH, 5), 0);
	mmpath_mrc_close_epoch(&m);
	KUNIT_EXPECT_EQ(test, mmpath_mrc_misses(&m, MMPATH_MRC_EPOCH, 5), 64);
	KUNIT_EXPECT_EQ(test, mmpath_mrc_misses(&m, MMPATH_MRC_RECENT, 5), 64);
	mmpath_mrc_add(&m, 5, 8);
	mmpath_mrc_close_epoch(&m);
	KUNIT_EXPECT_EQ(test, mmpath_mrc_misses(&m, MMPATH_MRC_EPOCH, 5), 8);
	KUNIT_EXPECT_EQ(test, mmpath_mrc_misses(&m, MMPATH_MRC_RECENT, 5), 64 / 2 + 8);
	KUNIT_EXPECT_EQ(test, mmpath_mrc_misses(&m, MMPATH_MRC_TOTAL, 5), 72);
	mmpath_mrc_close_epoch(&m);
	KUNIT_EXPECT_EQ(test, mmpath_mrc_misses(&m, MMPATH_MRC_RECENT, 5), 20);
	mmpath_mrc_destroy(&m);
}

/* Touch pages in a memory of a fixed size. Returns the number of misses. */
static int kt_lirs_run(struct kunit *test, struct mmpath_lirs *l, int pages, int touches)
{
	int i, misses = 0;
	u64 victim;

	for (i = 0; i < touches; i++) {
		if (!mmpath_lirs_resident(l, i % pages) && l->nr_lirs + l->nr_hirs == l->size)
			KUNIT_ASSERT_TRUE(test, mmpath_lirs_victim(l, &victim));
		misses += mmpath_lirs_touch(l, i % pages) == MMPATH_LIRS_MISS;
		KUNIT_ASSERT_LE(test, l->nr_lirs + l->nr_hirs, l->size);
		KUNIT_ASSERT_LE(test, l->nr_ghosts, 2 * l->size);
	}
	return misses;
}

/* A loop over 200 pages in 120: LRU misses always, LIRS keeps 119 of them. */
static void kt_lirs_loop(struct kunit *test)
{
	static const struct { u64 hirs; bool fixed; int misses; } cases[] = {
		{ 120, false, 20 * 200 }, { 1, false, 200 + 19 * 81 }, { 1, true, 200 + 19 * 81 },
	};
	struct mmpath_mem *mem = kt_mem(test);
	struct mmpath_lirs l;
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		KUNIT_ASSERT_EQ(test, mmpath_lirs_init(&l, mem, 1000, 0), 0);
		mmpath_lirs_set_size(&l, 120, cases[i].hirs, cases[i].fixed);
		KUNIT_EXPECT_EQ(test, kt_lirs_run(test, &l, 200, 20 * 200), cases[i].misses);
		mmpath_lirs_destroy(&l);
	}
	KUNIT_EXPECT_EQ(test, mem->bytes, 0);
}

/* With all of memory for HIR pages, the victim is the last page of the list, as in LRU. */
static void kt_lirs_lru(struct kunit *test)
{
	struct kt_naive *naive = kunit_kzalloc(test, sizeof(*naive), GFP_KERNEL);
	struct mmpath_lirs l;
	struct rnd_state rnd;
	u64 page, victim;
	int i;

	KUNIT_ASSERT_NOT_NULL(test, naive);
	prandom_seed_state(&rnd, 4);
	mmpath_lirs_init(&l, kt_mem(test), 1000, 0);
	mmpath_lirs_set_size(&l, 100, 100, false);
	for (i = 0; i < KT_TOUCHES; i++) {
		page = kt_next(&rnd, i);
		if (!mmpath_lirs_resident(&l, page) && l.nr_hirs == 100) {
			KUNIT_ASSERT_TRUE(test, mmpath_lirs_victim(&l, &victim));
			KUNIT_ASSERT_EQ(test, victim, naive->page[99]);
			kt_naive_forget(naive, victim, 1);
		}
		KUNIT_ASSERT_EQ(test, mmpath_lirs_touch(&l, page) == MMPATH_LIRS_MISS,
				kt_naive_touch(naive, page) == MMPATH_COLD);
	}
	mmpath_lirs_destroy(&l);
}

/* Changes made by the kernel: it evicts other pages, fails to evict, unmaps, remaps. */
static void kt_lirs_changes(struct kunit *test)
{
	struct mmpath_mem *mem = kt_mem(test);
	struct mmpath_lirs l;
	u64 page;

	mmpath_lirs_init(&l, mem, 256, 0);
	mmpath_lirs_set_size(&l, 100, 10, false);
	for (page = 0; page < 100; page++)
		mmpath_lirs_touch(&l, page);
	mmpath_lirs_evicted(&l, 50);
	KUNIT_EXPECT_FALSE(test, mmpath_lirs_resident(&l, 50));
	KUNIT_EXPECT_EQ(test, l.nr_lirs, 89);
	KUNIT_ASSERT_TRUE(test, mmpath_lirs_victim(&l, &page));
	KUNIT_EXPECT_EQ(test, page, 90);
	mmpath_lirs_keep(&l, page);
	KUNIT_EXPECT_TRUE(test, mmpath_lirs_resident(&l, 90));
	mmpath_lirs_forget(&l, 0, 20);
	KUNIT_EXPECT_EQ(test, l.nr_lirs, 69);
	KUNIT_EXPECT_EQ(test, mmpath_lirs_move(&l, 91, 1000, 1), 0);
	KUNIT_ASSERT_TRUE(test, mmpath_lirs_victim(&l, &page));
	KUNIT_EXPECT_EQ(test, page, 1000);
	mmpath_lirs_set_size(&l, U64_MAX, 0, false);
	for (page = 0; page < 10000; page++)
		KUNIT_ASSERT_NE(test, mmpath_lirs_touch(&l, page), MMPATH_NOMEM);
	KUNIT_EXPECT_LE(test, l.nr_lirs + l.nr_hirs + l.nr_ghosts, 256);
	KUNIT_EXPECT_GE(test, l.shift, 5);
	mmpath_lirs_destroy(&l);
	KUNIT_EXPECT_EQ(test, mem->bytes, 0);
}

/* A loop that is larger than memory, and then pages that are used for a while. */
static void kt_contest(struct kunit *test)
{
	struct mmpath_contest *c = kunit_kzalloc(test, sizeof(*c), GFP_KERNEL);
	struct mmpath_mem *mem = kt_mem(test);
	u64 page;

	KUNIT_ASSERT_NOT_NULL(test, c);
	KUNIT_ASSERT_EQ(test, mmpath_contest_init(c, mem, 200, 0), 0);
	mmpath_contest_set_size(c, 1000, 0);
	for (page = 0; page < 40000; page++) {
		KUNIT_ASSERT_NE(test, mmpath_contest_touch(c, page % 2000), MMPATH_NOMEM);
		if (page % 4000 == 3999)
			mmpath_contest_close_epoch(c);
	}
	KUNIT_EXPECT_EQ(test, mmpath_contest_winner(c), MMPATH_POLICY_LIRS);
	KUNIT_EXPECT_LE(test, mem->bytes, 4 * (200 * 40 + 4096));
	mmpath_contest_reset(c, 0);
	/* each page twice, the second time after 500 others: only LRU still has it */
	for (page = 0; page < 40000; page++) {
		mmpath_contest_touch(c, 10000 + page);
		mmpath_contest_touch(c, 10000 + page - min(page, 500ULL));
		if (page % 4000 == 3999)
			mmpath_contest_close_epoch(c);
	}
	KUNIT_EXPECT_EQ(test, mmpath_contest_winner(c), MMPATH_POLICY_KERNEL);
	KUNIT_EXPECT_EQ(test, c->switches, 2);
	mmpath_contest_destroy(c);
	KUNIT_EXPECT_EQ(test, mem->bytes, 0);
}

/* Regions */

static void kt_regions_start(struct kunit *test, struct mmpath_regions *rs)
{
	struct mmpath_region_params params = {
		.min_pages = 16, .group_pages = 1, .mru_pages = 1024,
	};

	KUNIT_ASSERT_EQ(test, mmpath_regions_init(rs, kt_mem(test), &params), 0);
}

static void kt_regions_end(struct kunit *test, struct mmpath_regions *rs)
{
	struct mmpath_mem *mem = rs->mem;

	mmpath_regions_destroy(rs);
	KUNIT_EXPECT_EQ(test, mem->bytes, 0);
}

static void kt_regions_map(struct kunit *test)
{
	struct mmpath_region *a, *b, *heap;
	struct mmpath_regions rs;

	kt_regions_start(test, &rs);
	mmpath_regions_map(&rs, 100, 50, MMPATH_REGION_MMAP);
	mmpath_regions_map(&rs, 150, 50, MMPATH_REGION_MMAP);
	mmpath_regions_map(&rs, 300, 15, MMPATH_REGION_MMAP);
	mmpath_regions_map(&rs, 320, 16, MMPATH_REGION_MMAP);
	mmpath_regions_map(&rs, 400, 1, MMPATH_REGION_BRK);
	mmpath_regions_map(&rs, 401, 9, MMPATH_REGION_BRK);
	a = mmpath_regions_find(&rs, 149);
	b = mmpath_regions_find(&rs, 150);
	heap = mmpath_regions_find(&rs, 409);
	KUNIT_EXPECT_PTR_NE(test, a, b);
	KUNIT_EXPECT_EQ(test, a->nr_mapped, 50);
	KUNIT_EXPECT_PTR_EQ(test, mmpath_regions_find(&rs, 99), rs.rest);
	KUNIT_EXPECT_PTR_EQ(test, mmpath_regions_find(&rs, 200), rs.rest);
	KUNIT_EXPECT_PTR_EQ(test, mmpath_regions_find(&rs, 300), rs.rest);
	KUNIT_EXPECT_PTR_NE(test, mmpath_regions_find(&rs, 320), rs.rest);
	KUNIT_EXPECT_PTR_EQ(test, mmpath_regions_find(&rs, 400), heap);
	KUNIT_EXPECT_EQ(test, heap->nr_mapped, 10);
	KUNIT_EXPECT_EQ(test, rs.nr_regions, 5);
	kt_regions_end(test, &rs);
}

static void kt_regions_unmap(struct kunit *test)
{
	struct mmpath_region *a;
	struct mmpath_regions rs;
	u64 page;

	kt_regions_start(test, &rs);
	mmpath_regions_map(&rs, 100, 60, MMPATH_REGION_MMAP);
	for (page = 100; page < 160; page++)
		mmpath_regions_touch(&rs, page);
	a = mmpath_regions_find(&rs, 100);
	KUNIT_EXPECT_EQ(test, mmpath_regions_unmap(&rs, 120, 20), 0);
	KUNIT_EXPECT_PTR_EQ(test, mmpath_regions_find(&rs, 119), a);
	KUNIT_EXPECT_PTR_EQ(test, mmpath_regions_find(&rs, 120), rs.rest);
	KUNIT_EXPECT_PTR_EQ(test, mmpath_regions_find(&rs, 140), a);
	KUNIT_EXPECT_EQ(test, a->nr_mapped, 40);
	KUNIT_EXPECT_EQ(test, mmpath_stack_footprint(&a->models->lru), 40);
	mmpath_regions_unmap(&rs, 0, 130);
	mmpath_regions_measure(&rs);
	KUNIT_EXPECT_EQ(test, a->first, 140);
	mmpath_regions_unmap(&rs, 0, 1000);
	KUNIT_EXPECT_EQ(test, rs.nr_regions, 1);
	kt_regions_end(test, &rs);
}

static void kt_regions_move(struct kunit *test)
{
	struct mmpath_region *a;
	struct mmpath_regions rs;
	u64 page;

	kt_regions_start(test, &rs);
	mmpath_regions_map(&rs, 100, 50, MMPATH_REGION_MMAP);
	for (page = 100; page < 150; page++)
		mmpath_regions_touch(&rs, page);
	a = mmpath_regions_find(&rs, 100);
	KUNIT_EXPECT_EQ(test, mmpath_regions_move(&rs, 100, 50, 1000, 80), 0);
	mmpath_regions_unmap(&rs, 100, 50);
	KUNIT_EXPECT_PTR_EQ(test, mmpath_regions_find(&rs, 1079), a);
	KUNIT_EXPECT_PTR_EQ(test, mmpath_regions_find(&rs, 100), rs.rest);
	KUNIT_EXPECT_EQ(test, mmpath_stack_footprint(&a->models->lru), 50);
	mmpath_regions_touch(&rs, 1000);
	KUNIT_EXPECT_EQ(test, mmpath_mrc_cold(&a->models->lru_mrc, MMPATH_MRC_TOTAL), 50);
	/* grow in place */
	KUNIT_EXPECT_EQ(test, mmpath_regions_move(&rs, 1000, 80, 1000, 200), 0);
	KUNIT_EXPECT_EQ(test, a->nr_mapped, 200);
	kt_regions_end(test, &rs);
}

static void kt_regions_copy(struct kunit *test)
{
	struct mmpath_regions rs, child;
	struct mmpath_region *a, *b;

	kt_regions_start(test, &rs);
	kt_regions_start(test, &child);
	mmpath_regions_map(&rs, 100, 60, MMPATH_REGION_MMAP);
	mmpath_regions_unmap(&rs, 120, 20);
	mmpath_regions_touch(&rs, 100);
	KUNIT_EXPECT_EQ(test, mmpath_regions_copy(&child, &rs), 0);
	a = mmpath_regions_find(&rs, 150);
	b = mmpath_regions_find(&child, 150);
	KUNIT_EXPECT_EQ(test, a->id, b->id);
	KUNIT_EXPECT_EQ(test, b->nr_mapped, 40);
	KUNIT_EXPECT_NULL(test, b->models);
	KUNIT_EXPECT_PTR_EQ(test, mmpath_regions_find(&child, 130), child.rest);
	kt_regions_end(test, &child);
	kt_regions_end(test, &rs);
}

/* One share's misses fall by 10 a step, up to 60. Memory does not help the other one. */
static void kt_divide(struct kunit *test)
{
	struct mmpath_share *s[2];
	u32 k, i;

	if (!IS_ENABLED(CONFIG_MMPATH_BALANCE))
		kunit_skip(test, "no CONFIG_MMPATH_BALANCE");
	for (i = 0; i < 2; i++) {
		s[i] = kunit_kzalloc(test, sizeof(*s[i]), GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, s[i]);
		s[i]->cpu_us = USEC_PER_SEC;
		s[i]->sla = U64_MAX;
		s[i]->weight = 100;
		s[i]->most = 100;
		s[i]->steps = 50;
		for (k = 0; k <= MMPATH_STEPS; k++)
			s[i]->lambda[k] = i ? 5000 : k < 60 ? 10 * (60 - k) : 0;
	}
	KUNIT_EXPECT_EQ(test, mmpath_divide(s, 2, MMPATH_BALANCE_THROUGHPUT, 100, 8), 8);
	KUNIT_EXPECT_EQ(test, s[0]->steps, 58);
	KUNIT_EXPECT_EQ(test, s[1]->steps, 42);
	KUNIT_EXPECT_EQ(test, mmpath_divide(s, 2, MMPATH_BALANCE_THROUGHPUT, 60, 0), 40);
	KUNIT_EXPECT_EQ(test, s[0]->steps + s[1]->steps, 60);
	KUNIT_EXPECT_EQ(test, mmpath_share_rate(s[1], 0), 5000);
}

static struct kunit_case kt_model_cases[] = {
	KUNIT_CASE(kt_stack_exact),
	KUNIT_CASE(kt_stack_order),
	KUNIT_CASE(kt_stack_move),
	KUNIT_CASE(kt_stack_limit),
	KUNIT_CASE(kt_sample),
	KUNIT_CASE(kt_mru),
	KUNIT_CASE(kt_mru_loop),
	KUNIT_CASE(kt_lirs_loop),
	KUNIT_CASE(kt_lirs_lru),
	KUNIT_CASE(kt_lirs_changes),
	KUNIT_CASE(kt_contest),
	KUNIT_CASE(kt_divide),
	KUNIT_CASE(kt_mrc_misses),
	KUNIT_CASE(kt_mrc_doubling),
	KUNIT_CASE(kt_mrc_epochs),
	KUNIT_CASE(kt_regions_map),
	KUNIT_CASE(kt_regions_unmap),
	KUNIT_CASE(kt_regions_move),
	KUNIT_CASE(kt_regions_copy),
	{}
};

static struct kunit_suite kt_model_suite = {
	.name = "mmpath-models",
	.test_cases = kt_model_cases,
};

kunit_test_suite(kt_model_suite);

#endif /* _MM_PATH_MODELS_KUNIT_H */
