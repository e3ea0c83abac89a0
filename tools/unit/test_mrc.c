// SPDX-License-Identifier: GPL-2.0
/* The miss rate curve: sums, windows, resolution, and curves of whole traces. */
#include <linux/limits.h>
#include "test.h"

struct fixture {
	struct test_mem tm;
	struct mmpath_mrc m;
	struct mmpath_unseen unseen;
};

static void fixture_init(struct fixture *f, u32 group_pages)
{
	test_mem_init(&f->tm);
	f->unseen = (struct mmpath_unseen){ };
	assert_int_equal(mmpath_mrc_init(&f->m, &f->tm.mem, group_pages), 0);
}

static void fixture_destroy(struct fixture *f)
{
	mmpath_mrc_destroy(&f->m);
	assert_int_equal(f->tm.mem.bytes, 0);
}

static u64 total(const struct fixture *f, u64 pages)
{
	return mmpath_mrc_misses(&f->m, MMPATH_MRC_TOTAL, pages);
}

static void test_bad_parameters(void **state)
{
	struct test_mem tm;
	struct mmpath_mrc m;

	(void)state;
	test_mem_init(&tm);
	assert_int_equal(mmpath_mrc_init(&m, &tm.mem, 0), -EINVAL);
	assert_int_equal(mmpath_mrc_init(&m, &tm.mem, 3), -EINVAL);
	tm.fail_at = 1;
	assert_int_equal(mmpath_mrc_init(&m, &tm.mem, 4), -ENOMEM);
	mmpath_mrc_destroy(&m);
}

/* Epochs in which nothing is counted take the windows to 0, and cost no more then. */
static void test_quiet(void **state)
{
	struct fixture f;
	u64 recent, all;
	int i;

	(void)state;
	fixture_init(&f, 4);
	mmpath_mrc_make_room(&f.m, 8);
	for (i = 0; i < 1 << 20; i++)
		mmpath_mrc_add(&f.m, 6, 1U << 31);
	mmpath_mrc_close_epoch(&f.m);
	for (i = 0; i < 4; i++) {
		recent = mmpath_mrc_misses(&f.m, MMPATH_MRC_RECENT, 4);
		mmpath_mrc_close_epoch(&f.m);
		assert_same(mmpath_mrc_misses(&f.m, MMPATH_MRC_RECENT, 4), recent / 2);
		assert_int_equal(mmpath_mrc_misses(&f.m, MMPATH_MRC_EPOCH, 4), 0);
	}
	for (i = 0; i < 100; i++)
		mmpath_mrc_close_epoch(&f.m);
	assert_int_equal(mmpath_mrc_misses(&f.m, MMPATH_MRC_RECENT, 4), 0);
	assert_same(total(&f, 4), 1ULL << 51);
	/* what was under way at the end of a burst is in the windows at once */
	mmpath_mrc_censor(&f.m, 8);
	assert_int_not_equal(mmpath_mrc_misses(&f.m, MMPATH_MRC_RECENT, 0), 0);
	mmpath_mrc_close_epoch(&f.m);
	mmpath_mrc_close_epoch(&f.m);
	for (i = 0; i < 100; i++)
		mmpath_mrc_close_epoch(&f.m);
	assert_int_equal(mmpath_mrc_misses(&f.m, MMPATH_MRC_RECENT, 0), 0);
	all = total(&f, 4);
	mmpath_mrc_add(&f.m, 6, 10);
	mmpath_mrc_close_epoch(&f.m);
	assert_int_equal(mmpath_mrc_misses(&f.m, MMPATH_MRC_EPOCH, 4), 10);
	assert_same(total(&f, 4), all + 10);
	mmpath_mrc_close_epoch(&f.m);
	assert_int_equal(mmpath_mrc_misses(&f.m, MMPATH_MRC_EPOCH, 4), 0);
	fixture_destroy(&f);
}

static void test_empty(void **state)
{
	struct fixture f;
	int w;

	(void)state;
	fixture_init(&f, 16);
	mmpath_mrc_close_epoch(&f.m);
	for (w = 0; w < NR_MMPATH_MRC_WINDOWS; w++) {
		assert_int_equal(mmpath_mrc_misses(&f.m, w, 0), 0);
		assert_int_equal(mmpath_mrc_misses(&f.m, w, ~0ULL), 0);
		assert_int_equal(mmpath_mrc_cold(&f.m, w), 0);
		assert_int_equal(mmpath_mrc_records(&f.m, w), 0);
	}
	assert_int_equal(mmpath_mrc_end(&f.m), 0);
	fixture_destroy(&f);
}

/* Step by step it is the same curve. */
static void assert_walk(const struct mmpath_mrc *m)
{
	struct mmpath_mrc_walk walk;
	unsigned int i = 0;
	u64 pages;
	int w;

	for (w = 0; w < NR_MMPATH_MRC_WINDOWS; w++) {
		mmpath_mrc_walk(&walk, m, w);
		for (pages = 0; pages <= mmpath_mrc_end(m) + 99; pages += m->group_pages)
			assert_int_equal(mmpath_mrc_step(&walk), mmpath_mrc_misses(m, w, pages));
		mmpath_mrc_walk(&walk, m, w);
		/* also within a group, twice at one place, and beyond the end */
		for (pages = 0; pages <= mmpath_mrc_end(m) + 99; pages += ++i % 50)
			assert_int_equal(mmpath_mrc_walk_to(&walk, pages),
					 mmpath_mrc_misses(m, w, pages));
	}
}

static void test_walk(void **state)
{
	struct rng r = { 7 };
	struct fixture f;
	int i;

	(void)state;
	fixture_init(&f, 16);
	assert_walk(&f.m);
	for (i = 0; i < 5000; i++) {
		mmpath_mrc_add(&f.m, rng_next(&r) >> 32 & 4095, 1 + i % 3);
		if (i % 1000 == 0)
			mmpath_mrc_close_epoch(&f.m);
	}
	assert_walk(&f.m);
	mmpath_mrc_censor(&f.m, 3000);
	mmpath_mrc_close_epoch(&f.m);
	for (i = 0; i < 500; i++)
		mmpath_mrc_add(&f.m, rng_next(&r) >> 32 & 1023, 1);
	mmpath_mrc_censor(&f.m, 800);
	assert_walk(&f.m);
	mmpath_mrc_close_epoch(&f.m);
	assert_walk(&f.m);
	fixture_destroy(&f);
}

/* A touch hits with M pages if its distance is less than M. */
static void test_steps(void **state)
{
	struct fixture f;

	(void)state;
	fixture_init(&f, 1);
	mmpath_mrc_add(&f.m, 0, 1);
	mmpath_mrc_add(&f.m, 5, 2);
	mmpath_mrc_add(&f.m, 9, 4);
	mmpath_mrc_add(&f.m, MMPATH_COLD, 8);
	assert_int_equal(mmpath_mrc_end(&f.m), 10);
	assert_int_equal(total(&f, 0), 7);
	assert_int_equal(total(&f, 1), 6);
	assert_int_equal(total(&f, 5), 6);
	assert_int_equal(total(&f, 6), 4);
	assert_int_equal(total(&f, 9), 4);
	assert_int_equal(total(&f, 10), 0);
	assert_int_equal(mmpath_mrc_cold(&f.m, MMPATH_MRC_TOTAL), 8);
	assert_int_equal(mmpath_mrc_records(&f.m, MMPATH_MRC_TOTAL), 15);
	fixture_destroy(&f);
}

static void test_between_groups(void **state)
{
	struct fixture f;

	(void)state;
	fixture_init(&f, 64);
	mmpath_mrc_add(&f.m, 64, 100);
	mmpath_mrc_add(&f.m, 127, 28);
	mmpath_mrc_add(&f.m, 200, 3);
	assert_int_equal(total(&f, 0), 131);
	assert_int_equal(total(&f, 64), 131);
	assert_int_equal(total(&f, 96), 3 + 64);
	assert_int_equal(total(&f, 127), 3 + 2);
	assert_int_equal(total(&f, 128), 3);
	assert_int_equal(total(&f, 192), 3);
	assert_int_equal(total(&f, 256), 0);
	fixture_destroy(&f);
}

static void test_windows(void **state)
{
	struct fixture f;
	int epoch;

	(void)state;
	fixture_init(&f, 1);
	for (epoch = 0; epoch < 4; epoch++) {
		mmpath_mrc_add(&f.m, 3, 64);
		mmpath_mrc_add(&f.m, MMPATH_COLD, 16 << epoch);
		mmpath_mrc_close_epoch(&f.m);
	}
	mmpath_mrc_add(&f.m, 3, 1000);
	assert_int_equal(total(&f, 2), 4 * 64 + 1000);
	assert_int_equal(mmpath_mrc_misses(&f.m, MMPATH_MRC_RECENT, 2), 64 + 32 + 16 + 8);
	assert_int_equal(mmpath_mrc_misses(&f.m, MMPATH_MRC_EPOCH, 2), 64);
	assert_int_equal(mmpath_mrc_cold(&f.m, MMPATH_MRC_RECENT), 128 + 32 + 8 + 2);
	assert_int_equal(mmpath_mrc_cold(&f.m, MMPATH_MRC_EPOCH), 128);
	assert_int_equal(mmpath_mrc_records(&f.m, MMPATH_MRC_EPOCH), 64 + 128);
	fixture_destroy(&f);
}

/* Bins of few counts decay too, and do not vanish at once. */
static void test_small_counts_decay(void **state)
{
	struct fixture f;
	u64 pages;

	(void)state;
	fixture_init(&f, 1);
	for (pages = 0; pages < 1000; pages++)
		mmpath_mrc_add(&f.m, pages, 2);
	mmpath_mrc_close_epoch(&f.m);
	mmpath_mrc_close_epoch(&f.m);
	assert_int_equal(mmpath_mrc_misses(&f.m, MMPATH_MRC_RECENT, 0), 1000);
	assert_int_equal(mmpath_mrc_misses(&f.m, MMPATH_MRC_EPOCH, 0), 0);
	fixture_destroy(&f);
}

static void test_groups_double(void **state)
{
	struct fixture f;
	u64 d, pages;

	(void)state;
	fixture_init(&f, 4);
	for (d = 0; d < 20000; d++)
		mmpath_mrc_add(&f.m, d, 1);
	mmpath_mrc_close_epoch(&f.m);
	assert_int_equal(f.m.group_pages, 32);
	assert_int_equal(f.m.nr_bins, MMPATH_MRC_BINS);
	for (pages = 0; pages < 20000; pages += 32)
		assert_int_equal(mmpath_mrc_misses(&f.m, MMPATH_MRC_EPOCH, pages), 20000 - pages);
	mmpath_mrc_reset(&f.m);
	assert_int_equal(f.m.group_pages, 4);
	assert_int_equal(total(&f, 0), 0);
	fixture_destroy(&f);
}

/* Out of memory the curve gets coarser, not wrong. */
static void test_no_memory(void **state)
{
	struct fixture f;
	u64 d;

	(void)state;
	fixture_init(&f, 1);
	f.tm.fail_at = 3;
	f.tm.fail_after = true;
	for (d = 0; d < 1000; d++)
		mmpath_mrc_add(&f.m, d, 1);
	assert_int_equal(f.m.nr_bins, 32);
	assert_int_equal(f.m.group_pages, 32);
	for (d = 0; d < 1000; d += 32)
		assert_int_equal(total(&f, d), 1000 - d);
	fixture_destroy(&f);
}

static void test_far_distances(void **state)
{
	struct fixture f;

	(void)state;
	fixture_init(&f, 1);
	mmpath_mrc_add(&f.m, 1, 1);
	mmpath_mrc_add(&f.m, 1LL << 40, 1);
	assert_int_equal(total(&f, 0), 2);
	assert_int_equal(total(&f, 1ULL << 40), 1);
	mmpath_mrc_add(&f.m, 1LL << 62, 1);
	assert_int_equal(total(&f, 0), 3);
	assert_int_equal(total(&f, 1ULL << 40), 2);
	fixture_destroy(&f);
}

/* However far they reach: few, from 0 to the end, and what mmpath_mrc_misses() says. */
static void points_are_right(const struct fixture *f, u64 groups, u32 want)
{
	static struct mmpath_mrc_point points[MMPATH_MRC_POINTS + 1];
	u64 end = groups * f->m.group_pages;
	u32 i, nr = mmpath_mrc_points(&f->m, end, points);
	int w;

	assert_in_range(nr, 1, MMPATH_MRC_POINTS);
	if (want)
		assert_int_equal(nr, want);
	assert_int_equal(points[0].pages, 0);
	assert_int_equal(points[nr - 1].pages, end);
	for (i = 0; i < nr; i++) {
		assert_int_equal(points[i].pages % f->m.group_pages, 0);
		if (i)
			assert_true(points[i].pages > points[i - 1].pages);
		for (w = 0; w < NR_MMPATH_MRC_WINDOWS; w++)
			assert_int_equal(points[i].misses[w],
					 mmpath_mrc_misses(&f->m, w, points[i].pages));
	}
	/* no gap of more than a 32nd part, as far as there are pages */
	for (i = 1; groups <= 1U << 20 && i < nr; i++)
		assert_true(points[i].pages - points[i - 1].pages <=
			    max(points[i].pages / 32, (u64)f->m.group_pages));
}

static void test_points(void **state)
{
	struct fixture f;
	u64 d;

	(void)state;
	fixture_init(&f, 4);
	points_are_right(&f, 0, 1);
	points_are_right(&f, 1ULL << 40, 0);
	for (d = 0; d < 4096; d += 3)
		mmpath_mrc_add(&f.m, d, 1 + d % 7);
	mmpath_mrc_close_epoch(&f.m);
	mmpath_mrc_add(&f.m, 4095, 9);
	for (d = 0; d < 2; d++) {
		points_are_right(&f, 1, 2);
		points_are_right(&f, MMPATH_MRC_POINTS - 1, MMPATH_MRC_POINTS);
		points_are_right(&f, MMPATH_MRC_POINTS, 0);
		points_are_right(&f, 5000, 0);
		points_are_right(&f, 1U << 20, 0);
		points_are_right(&f, (1ULL << 41) + 1, 0);
		mmpath_mrc_censor(&f.m, 4000);
	}
	fixture_destroy(&f);
}

/* Pages that were touched once only have no distance, but are in the footprint. */
static void test_make_room(void **state)
{
	struct fixture f;

	(void)state;
	fixture_init(&f, 16);
	mmpath_mrc_add(&f.m, 5, 3);
	mmpath_mrc_make_room(&f.m, 0);
	mmpath_mrc_make_room(&f.m, 16 * 16);
	assert_int_equal(f.m.nr_bins, 16);
	mmpath_mrc_make_room(&f.m, 16 * MMPATH_MRC_BINS);
	assert_int_equal(f.m.nr_bins, MMPATH_MRC_BINS);
	assert_int_equal(f.m.group_pages, 16);
	mmpath_mrc_make_room(&f.m, 16 * MMPATH_MRC_BINS + 1);
	assert_int_equal(f.m.group_pages, 32);
	mmpath_mrc_make_room(&f.m, 1ULL << 28);
	assert_int_equal(f.m.group_pages, (1ULL << 28) / MMPATH_MRC_BINS);
	assert_int_equal(total(&f, 0), 3);
	assert_int_equal(total(&f, 1ULL << 28), 0);
	fixture_destroy(&f);
	mmpath_mrc_make_room(&f.m, 100);
}

static void test_big_counts(void **state)
{
	struct fixture f;
	int i;

	(void)state;
	fixture_init(&f, 1U << 20);
	for (i = 0; i < 1000; i++)
		mmpath_mrc_add(&f.m, 5, ~0U);
	assert_int_equal(total(&f, 0), 1000ULL * ~0U);
	assert_int_equal(total(&f, 1 << 19), 500ULL * ~0U);
	fixture_destroy(&f);
}

static void close_with(struct fixture *f, const struct mmpath_seen *seen)
{
	struct mmpath_counted c = { };

	mmpath_mrc_counted(&f->m, &c);
	mmpath_unseen_close(&f->unseen, seen, &c);
	mmpath_mrc_make_up(&f->m, seen, &c);
}

/* There were @all accesses. */
static void make_up(struct fixture *f, u64 all)
{
	struct mmpath_seen seen = { .all = all, .part = 1, .as = MMPATH_SEEN_ACCESSES };

	close_with(f, &seen);
}

/* They were seen in @part of @all of the time. */
static void make_up_time(struct fixture *f, u64 all, u64 part)
{
	struct mmpath_seen seen = { .all = all, .part = part };

	close_with(f, &seen);
}

/* A product that does not fit is the most there is, and nothing traps. */
static void test_overflow(void **state)
{
	struct fixture f;

	(void)state;
	assert_true(mmpath_mul_div(1ULL << 40, 3ULL << 40, 1ULL << 20) == 3ULL << 60);
	assert_true(mmpath_mul_div(1ULL << 40, 1ULL << 44, 1ULL << 20) == U64_MAX);
	assert_true(mmpath_mul_div(1, 1, 0) == U64_MAX);
	/* all of a long epoch of many CPUs was seen in a burst of no time */
	fixture_init(&f, 1);
	mmpath_mrc_begin(&f.m, 1U << 31);
	mmpath_mrc_add(&f.m, 2, 1U << 30);
	make_up_time(&f, 1ULL << 40, 1);
	mmpath_mrc_close_epoch(&f.m);
	assert_true(mmpath_mrc_misses(&f.m, MMPATH_MRC_EPOCH, 0) == MMPATH_MRC_MOST);
	fixture_destroy(&f);
	/* the sum of two groups is more than a count can be */
	fixture_init(&f, 1);
	mmpath_mrc_add(&f.m, 2, 1);
	mmpath_mrc_add(&f.m, 5, 1);
	mmpath_mrc_censor(&f.m, 1);
	f.m.bins[2].epoch = 3ULL << 62;
	f.m.bins[5].epoch = 3ULL << 62;
	mmpath_mrc_misses(&f.m, MMPATH_MRC_EPOCH, 4);
	fixture_destroy(&f);
}

/* Counts go nowhere and nothing is read after all memory was given back. */
static void test_after_destroy(void **state)
{
	struct fixture f;

	(void)state;
	fixture_init(&f, 8);
	mmpath_mrc_add(&f.m, 5, 5);
	mmpath_mrc_destroy(&f.m);
	mmpath_mrc_add(&f.m, 5, 5);
	mmpath_mrc_censor(&f.m, 100);
	make_up(&f, 3);
	mmpath_mrc_close_epoch(&f.m);
	make_up(&f, 1);
	mmpath_mrc_reset(&f.m);
	assert_int_equal(total(&f, 0), 0);
	fixture_destroy(&f);
}

static void test_scale(void **state)
{
	struct fixture f;

	(void)state;
	fixture_init(&f, 1);
	make_up(&f, 5);	/* nothing tells what it was like */
	mmpath_mrc_add(&f.m, 2, 10);
	make_up_time(&f, 0, 0);
	make_up_time(&f, 3, 3);
	mmpath_mrc_close_epoch(&f.m);
	assert_int_equal(total(&f, 0), 10);
	mmpath_mrc_add(&f.m, 2, 10);
	mmpath_mrc_add(&f.m, MMPATH_COLD, 4);
	make_up_time(&f, 7, 2);
	mmpath_mrc_close_epoch(&f.m);
	assert_int_equal(total(&f, 0), 45);
	/* a page is touched first once, however short the burst */
	assert_int_equal(mmpath_mrc_cold(&f.m, MMPATH_MRC_EPOCH), 4);
	assert_int_equal(mmpath_mrc_records(&f.m, MMPATH_MRC_EPOCH), 39);
	/* pages of the sample were used more than others */
	mmpath_mrc_add(&f.m, 2, 30);
	make_up(&f, 20);
	mmpath_mrc_close_epoch(&f.m);
	assert_int_equal(mmpath_mrc_misses(&f.m, MMPATH_MRC_EPOCH, 0), 20);
	/* a touch whose distance is not known has one like the others', though there was no pause */
	mmpath_mrc_add(&f.m, 2, 20);
	mmpath_mrc_begin(&f.m, 60);
	make_up_time(&f, 0, 0);
	mmpath_mrc_close_epoch(&f.m);
	assert_int_equal(mmpath_mrc_misses(&f.m, MMPATH_MRC_EPOCH, 0), 80);
	/* for ever, in no time */
	mmpath_mrc_add(&f.m, 2, 10);
	make_up(&f, U64_MAX);
	mmpath_mrc_close_epoch(&f.m);
	assert_true(mmpath_mrc_misses(&f.m, MMPATH_MRC_EPOCH, 0) == 10 * MMPATH_MRC_MOST_SCALE);
	mmpath_mrc_add(&f.m, 2, 10);
	make_up_time(&f, U64_MAX, 1);
	mmpath_mrc_close_epoch(&f.m);
	assert_true(mmpath_mrc_misses(&f.m, MMPATH_MRC_EPOCH, 0) == 10 * MMPATH_MRC_MOST_SCALE);
	/* more than can be */
	mmpath_mrc_add(&f.m, 2, 1U << 31);
	make_up(&f, U64_MAX);
	mmpath_mrc_close_epoch(&f.m);
	assert_true(mmpath_mrc_misses(&f.m, MMPATH_MRC_EPOCH, 0) == MMPATH_MRC_MOST);
	fixture_destroy(&f);
}

/* An epoch of which nothing was seen is like the one before, but for first touches. */
static void test_repeat(void **state)
{
	struct fixture f;
	int i;

	(void)state;
	fixture_init(&f, 16);
	mmpath_mrc_add(&f.m, 2, 10);
	mmpath_mrc_add(&f.m, 40, 6);
	mmpath_mrc_add(&f.m, MMPATH_COLD, 4);
	make_up(&f, 64 + 4);
	mmpath_mrc_close_epoch(&f.m);
	for (i = 0; i < 2; i++) {
		make_up(&f, 32);
		mmpath_mrc_close_epoch(&f.m);
		assert_int_equal(mmpath_mrc_records(&f.m, MMPATH_MRC_EPOCH), 32);
		assert_int_equal(mmpath_mrc_misses(&f.m, MMPATH_MRC_EPOCH, 0), 32);
		assert_int_equal(mmpath_mrc_misses(&f.m, MMPATH_MRC_EPOCH, 16), 12);
		assert_int_equal(mmpath_mrc_cold(&f.m, MMPATH_MRC_EPOCH), 0);
	}
	assert_int_equal(mmpath_mrc_cold(&f.m, MMPATH_MRC_TOTAL), 4);
	assert_int_equal(mmpath_mrc_records(&f.m, MMPATH_MRC_TOTAL), 68 + 2 * 32);
	assert_int_equal(mmpath_mrc_misses(&f.m, MMPATH_MRC_TOTAL, 16), 24 + 2 * 12);
	/* first touches tell nothing of them; then it turns out that they were like this one */
	mmpath_mrc_add(&f.m, MMPATH_COLD, 5);
	make_up(&f, 5);
	assert_int_equal(mmpath_mrc_records(&f.m, MMPATH_MRC_TOTAL), 68 + 2 * 32 + 5);
	mmpath_mrc_add(&f.m, 40, 25);
	make_up(&f, 30);
	mmpath_mrc_close_epoch(&f.m);
	assert_int_equal(mmpath_mrc_records(&f.m, MMPATH_MRC_TOTAL), 68 + 2 * 32 + 30);
	assert_int_equal(mmpath_mrc_cold(&f.m, MMPATH_MRC_TOTAL), 4 + 5);
	assert_int_equal(mmpath_mrc_misses(&f.m, MMPATH_MRC_TOTAL, 16), 24 + 64 + 25);
	/* once */
	mmpath_mrc_add(&f.m, 2, 10);
	make_up(&f, 10);
	mmpath_mrc_close_epoch(&f.m);
	assert_int_equal(mmpath_mrc_misses(&f.m, MMPATH_MRC_TOTAL, 16), 24 + 64 + 25);
	fixture_destroy(&f);
}

/* First touches only: the others, of which some were seen and some were not, are as before. */
static void test_first_touches_only(void **state)
{
	struct fixture f;

	(void)state;
	fixture_init(&f, 1);
	/* nothing was before: they wait */
	mmpath_mrc_add(&f.m, MMPATH_COLD, 100);
	make_up(&f, 400);
	mmpath_mrc_close_epoch(&f.m);
	assert_int_equal(mmpath_mrc_records(&f.m, MMPATH_MRC_TOTAL), 100);
	assert_int_equal(mmpath_mrc_cold(&f.m, MMPATH_MRC_TOTAL), 100);
	mmpath_mrc_add(&f.m, 2, 10);
	mmpath_mrc_add(&f.m, 5, 30);
	make_up(&f, 40);
	mmpath_mrc_close_epoch(&f.m);
	mmpath_mrc_add(&f.m, MMPATH_COLD, 50);
	make_up(&f, 130);
	mmpath_mrc_close_epoch(&f.m);
	assert_int_equal(mmpath_mrc_cold(&f.m, MMPATH_MRC_EPOCH), 50);
	assert_int_equal(mmpath_mrc_records(&f.m, MMPATH_MRC_EPOCH), 130);
	assert_int_equal(mmpath_mrc_misses(&f.m, MMPATH_MRC_EPOCH, 0), 80);
	assert_int_equal(mmpath_mrc_misses(&f.m, MMPATH_MRC_EPOCH, 3), 60);
	/* in a quarter of the time */
	mmpath_mrc_add(&f.m, MMPATH_COLD, 1000);
	mmpath_mrc_begin(&f.m, 10);
	make_up_time(&f, 8, 2);
	mmpath_mrc_close_epoch(&f.m);
	assert_int_equal(mmpath_mrc_cold(&f.m, MMPATH_MRC_EPOCH), 1000);
	assert_int_equal(mmpath_mrc_records(&f.m, MMPATH_MRC_EPOCH), 1040);
	fixture_destroy(&f);
}

static u64 moved(struct mmpath_unseen *u, u64 all, struct mmpath_counted c)
{
	struct mmpath_seen seen = { .all = all, .as = MMPATH_SEEN_ACCESSES };

	c.moved = 12345;
	mmpath_unseen_close(u, &seen, &c);
	return c.moved;
}

/* Epochs belong to the burst before or after them, whichever had about as many accesses. */
static void test_unseen(void **state)
{
	const struct mmpath_counted now = { .now = 7, .epoch = 7 }, none = { .epoch = 7 };
	const struct mmpath_counted cold = { .now = 7, .cold = 7, .epoch = 7 }, nothing = { };
	struct mmpath_unseen u = { };
	int i;

	(void)state;
	assert_int_equal(moved(&u, 100, now), 0);
	assert_int_equal(moved(&u, 90, none), 0);
	assert_int_equal(moved(&u, 11, none), 0);
	assert_int_equal(moved(&u, 35, none), 0);
	/* three of these are no first touches, and nothing tells about them */
	assert_int_equal(moved(&u, 10, cold), 0);
	assert_int_equal(moved(&u, 10, now), 11 + 3);
	assert_int_equal(moved(&u, 10, now), 0);
	assert_int_equal(moved(&u, 90, none), 0);
	assert_int_equal(moved(&u, 11, none), 0);
	assert_int_equal(moved(&u, 30, none), 0);
	assert_int_equal(moved(&u, 35, none), 0);
	assert_int_equal(moved(&u, 100, now), 90 + 35);
	/* nothing was like what was not counted; and no more than some are remembered */
	assert_int_equal(moved(&u, 10, nothing), 0);
	assert_int_equal(moved(&u, 0, none), 0);
	assert_int_equal(moved(&u, 10, now), 0);
	assert_int_equal(moved(&u, U64_MAX, none), 0);
	for (i = 0; i < MMPATH_UNSEEN_EPOCHS; i++)
		assert_int_equal(moved(&u, 200, none), 0);
	assert_int_equal(u.nr, MMPATH_UNSEEN_EPOCHS);
	assert_int_equal(moved(&u, 300, now), MMPATH_UNSEEN_EPOCHS * 200);
	assert_int_equal(moved(&u, U64_MAX, none), 0);
	assert_true(moved(&u, U64_MAX, now) == MMPATH_MRC_MOST);
}

/* What nothing tells about waits; but time that has gone is no access. */
static void test_seen(void **state)
{
	const struct mmpath_seen more = { .all = 40, .as = MMPATH_SEEN_ACCESSES };
	const struct mmpath_counted none = { .begun = 7 }, now = { .now = 1 }, before = { .epoch = 1 };
	const struct mmpath_counted cold = { .begun = 9, .now = 9, .cold = 9 };
	struct mmpath_seen seen = { .all = 2, .part = 1 };

	(void)state;
	mmpath_seen_close(&seen, &none);
	assert_int_equal(seen.all, 0);
	assert_int_equal(seen.part, 0);
	mmpath_seen_add(&seen, &more);
	mmpath_seen_close(&seen, &none);
	mmpath_seen_add(&seen, &more);
	assert_int_equal(seen.all, 80);
	assert_int_equal(seen.as, MMPATH_SEEN_ACCESSES);
	mmpath_seen_close(&seen, &before);
	assert_int_equal(seen.all, 0);
	assert_int_equal(seen.as, MMPATH_SEEN_TIME);
	mmpath_seen_add(&seen, &more);
	mmpath_seen_close(&seen, &now);
	assert_int_equal(seen.all, 0);
	/* first touches are told; of what else there was nothing is */
	mmpath_seen_add(&seen, &more);
	mmpath_seen_close(&seen, &cold);
	assert_int_equal(seen.all, 40 - 9);
	mmpath_seen_close(&seen, &cold);
	mmpath_seen_close(&seen, &cold);
	mmpath_seen_close(&seen, &cold);
	mmpath_seen_close(&seen, &cold);
	assert_int_equal(seen.all, 0);
}

/* An epoch of @all accesses, as told, of which @cold and @counted were drained */
static void told(struct fixture *f, struct mmpath_seen *seen, struct mmpath_seen more, u32 cold,
		 u32 counted)
{
	struct mmpath_counted c = { };

	if (cold)
		mmpath_mrc_add(&f->m, MMPATH_COLD, cold);
	if (counted)
		mmpath_mrc_add(&f->m, 3, counted);
	mmpath_seen_add(seen, &more);
	mmpath_mrc_counted(&f->m, &c);
	mmpath_unseen_close(&f->unseen, seen, &c);
	mmpath_mrc_make_up(&f->m, seen, &c);
	mmpath_seen_close(seen, &c);
	mmpath_mrc_close_epoch(&f->m);
}

/* A program goes on while its log is drained: what is told an epoch later counts once. */
static void test_told_late(void **state)
{
	const enum mmpath_seen_as first[] = { MMPATH_SEEN_ACCESSES, MMPATH_SEEN_TIME };
	const struct mmpath_seen none = { .as = MMPATH_SEEN_ACCESSES };
	struct mmpath_seen seen, more;
	struct fixture f;
	size_t i;

	(void)state;
	for (i = 0; i < 2; i++) {
		fixture_init(&f, 1);
		seen = (struct mmpath_seen){ };
		/* first touches are told, and six more counted; or nothing is told at all */
		more = (struct mmpath_seen){ .all = i ? 0 : 10, .as = first[i] };
		told(&f, &seen, more, i ? 0 : 10, 6);
		assert_int_equal(total(&f, 2), 6);
		assert_int_equal(seen.ahead, 6);
		/* the six, and twenty more of which ten are in the sample */
		more = (struct mmpath_seen){ .all = 26, .as = MMPATH_SEEN_ACCESSES };
		told(&f, &seen, more, 0, 10);
		assert_int_equal(total(&f, 2), 26);
		assert_int_equal(seen.ahead, 0);
		/* more late than the next epoch tells */
		more = (struct mmpath_seen){ .all = 5, .as = MMPATH_SEEN_ACCESSES };
		told(&f, &seen, more, 5, 8);
		assert_int_equal(seen.ahead, 8);
		more.all = 3;
		told(&f, &seen, more, 0, 0);
		assert_int_equal(seen.ahead, 5);
		more.all = 15;
		told(&f, &seen, more, 0, 5);
		assert_int_equal(total(&f, 2), 26 + 8 + 10);
		told(&f, &seen, none, 0, 0);
		assert_int_equal(seen.ahead, 0);
		fixture_destroy(&f);
	}
}

/* Of first touches, too, more may be counted than were told yet. */
static void test_first_touches_told_late(void **state)
{
	struct mmpath_seen seen = { }, more = { .all = 5, .as = MMPATH_SEEN_ACCESSES };
	struct fixture f;

	(void)state;
	fixture_init(&f, 1);
	told(&f, &seen, more, 8, 0);
	assert_int_equal(seen.ahead, 3);
	/* these three, and twenty more of which ten are in the sample */
	more.all = 23;
	told(&f, &seen, more, 0, 10);
	assert_int_equal(total(&f, 2), 20);
	assert_int_equal(seen.ahead, 0);
	fixture_destroy(&f);
}

/* What was seen are others than were counted: those stand for themselves, in this epoch. */
static void test_seen_others(void **state)
{
	const struct mmpath_seen others = { .as = MMPATH_SEEN_OTHERS }, time = { .all = 9, .part = 1 };
	struct mmpath_seen seen = { .all = 40, .as = MMPATH_SEEN_ACCESSES };
	struct mmpath_counted c = { };
	struct fixture f;

	(void)state;
	fixture_init(&f, 1);
	mmpath_mrc_add(&f.m, 2, 10);
	mmpath_mrc_begin(&f.m, 5);
	mmpath_mrc_counted(&f.m, &c);
	mmpath_seen_add(&seen, &others);
	mmpath_seen_add(&seen, &time);
	assert_int_equal(seen.as, MMPATH_SEEN_OTHERS);
	mmpath_mrc_make_up(&f.m, &seen, &c);
	assert_int_equal(total(&f, 0), 15);
	c = (struct mmpath_counted){ };
	mmpath_seen_close(&seen, &c);
	assert_int_equal(seen.all, 0);
	assert_int_equal(seen.as, MMPATH_SEEN_TIME);
	fixture_destroy(&f);
}

/* What is open is open for as many. */
static void test_repeat_censored(void **state)
{
	struct fixture f;

	(void)state;
	fixture_init(&f, 1);
	mmpath_mrc_add(&f.m, 0, 100);
	mmpath_mrc_add(&f.m, 99, 100);
	mmpath_mrc_begin(&f.m, 100);
	mmpath_mrc_censor(&f.m, 100);
	mmpath_mrc_close_epoch(&f.m);
	make_up(&f, 600);
	mmpath_mrc_close_epoch(&f.m);
	assert_int_equal(mmpath_mrc_misses(&f.m, MMPATH_MRC_EPOCH, 0), 600);
	assert_in_range(mmpath_mrc_misses(&f.m, MMPATH_MRC_EPOCH, 99), 390, 400);
	fixture_destroy(&f);
}

/* 100 intervals ended at distance 0, 10 at 99, and 100 pages are on the stack. */
static void test_censored(void **state)
{
	struct fixture f;

	(void)state;
	fixture_init(&f, 1);
	mmpath_mrc_add(&f.m, 0, 100);
	mmpath_mrc_add(&f.m, 99, 10);
	mmpath_mrc_add(&f.m, MMPATH_COLD, 100);
	mmpath_mrc_censor(&f.m, 100);
	assert_int_equal(mmpath_mrc_cold(&f.m, MMPATH_MRC_TOTAL), 100);
	assert_int_equal(total(&f, 0), 210);
	assert_int_equal(total(&f, 1), 110);
	/* open intervals are no hits: what reached depth 1 may all go on */
	assert_in_range(total(&f, 99), 109, 110);
	/* but not beyond the deepest page */
	assert_int_equal(total(&f, 100), 0);
	assert_int_equal(mmpath_mrc_records(&f.m, MMPATH_MRC_TOTAL), 310);
	/* as many again in a later burst, but for the touches that were no first ones */
	mmpath_mrc_add(&f.m, 0, 100);
	mmpath_mrc_add(&f.m, 99, 10);
	mmpath_mrc_begin(&f.m, 100);
	mmpath_mrc_censor(&f.m, 100);
	assert_int_equal(mmpath_mrc_cold(&f.m, MMPATH_MRC_TOTAL), 100);
	assert_int_equal(total(&f, 0), 420);
	assert_int_equal(mmpath_mrc_records(&f.m, MMPATH_MRC_TOTAL), 520);
	fixture_destroy(&f);
}

/* 100 pages in an epoch without a pause, and 1 more in one that is paused soon after. */
static void test_long_burst(void **state)
{
	struct fixture f;

	(void)state;
	fixture_init(&f, 16);
	mmpath_mrc_add(&f.m, MMPATH_COLD, 100);
	mmpath_mrc_close_epoch(&f.m);
	mmpath_mrc_begin(&f.m, 1);
	mmpath_mrc_censor(&f.m, 101);
	make_up(&f, 1000);
	mmpath_mrc_close_epoch(&f.m);
	assert_int_equal(mmpath_mrc_records(&f.m, MMPATH_MRC_TOTAL), 1100);
	/* the touches that would have ended the hundred are among the thousand */
	assert_int_equal(total(&f, 0), 1000);
	/* what the epoch before has left counts half by now */
	assert_in_range(mmpath_mrc_misses(&f.m, MMPATH_MRC_RECENT, 0), 945, 950);
	/* nothing has ended at any depth */
	assert_int_equal(total(&f, 95), 1000);
	assert_int_equal(total(&f, 112), 0);
	/* whoever reads the curve reads it down to 0 */
	assert_int_equal(mmpath_mrc_end(&f.m), 112);
	fixture_destroy(&f);
}

/* A loop over 1600 pages. Its burst ends after a round and a half, of @told touches in all. */
static void loop_in_part(struct fixture *f, u64 told)
{
	fixture_init(f, 16);
	mmpath_mrc_add(&f->m, MMPATH_COLD, 1600);
	mmpath_mrc_add(&f->m, 1599, 800);
	mmpath_mrc_censor(&f->m, 1600);
	make_up(f, told);
}

/* What is open when a burst ends is counted at once, and not again when it comes. */
static void test_early(void **state)
{
	struct fixture f;

	(void)state;
	/* all of it comes in this epoch, which may be read before it is closed */
	loop_in_part(&f, 3200);
	assert_int_equal(total(&f, 0), 1600);
	make_up(&f, 3200);
	assert_int_equal(total(&f, 1584), 1600);
	assert_int_equal(total(&f, 1600), 0);
	mmpath_mrc_close_epoch(&f.m);
	assert_int_equal(total(&f, 1584), 1600);
	assert_int_equal(mmpath_mrc_misses(&f.m, MMPATH_MRC_EPOCH, 1584), 1600);
	assert_int_equal(f.m.early, 0);
	make_up(&f, 800);
	assert_int_equal(total(&f, 1584), 2400);
	fixture_destroy(&f);
	/* it comes in this epoch and in later ones; the touches that were seen are others */
	loop_in_part(&f, 2560);
	assert_int_equal(total(&f, 1584), 960 + 640);
	mmpath_mrc_close_epoch(&f.m);
	assert_int_equal(f.m.early, 640);
	make_up(&f, 480);
	assert_int_equal(total(&f, 1584), 960 + 640);
	mmpath_mrc_close_epoch(&f.m);
	/* a bin loses less than one */
	assert_in_range(mmpath_mrc_misses(&f.m, MMPATH_MRC_EPOCH, 1584), 380, 480);
	assert_in_range(f.m.early, 160, 260);
	mmpath_mrc_add(&f.m, 1584, 320);
	make_up(&f, 1000);
	assert_in_range(total(&f, 1584), 960 + 380 + 1000, 960 + 480 + 1000);
	mmpath_mrc_close_epoch(&f.m);
	assert_int_equal(f.m.early, 0);
	mmpath_mrc_reset(&f.m);
	fixture_destroy(&f);
	/* it never comes: nothing tells that the loop is over */
	loop_in_part(&f, 2400);
	mmpath_mrc_close_epoch(&f.m);
	assert_int_equal(total(&f, 1584), 1600);
	assert_int_equal(f.m.early, 800);
	mmpath_mrc_reset(&f.m);
	assert_int_equal(f.m.early, 0);
	fixture_destroy(&f);
}

/* One short burst after the other of a uniform trace, against all of it. */
static void test_bursts(void **state)
{
	const u64 pages = 256;
	const size_t nr = 400000;
	u64 *trace = trace_make(TRACE_UNIFORM, pages, nr, 8), size;
	struct mmpath_stack s;
	struct fixture f;
	s64 whole, got;
	size_t i;

	(void)state;
	fixture_init(&f, 8);
	mmpath_stack_init(&s, &f.tm.mem, 0, 0);
	for (i = 0; i < nr; i++) {
		mmpath_mrc_add(&f.m, mmpath_stack_touch(&s, trace[i]), 1);
		if (i % 400 != 399)
			continue;
		mmpath_mrc_censor(&f.m, mmpath_stack_footprint(&s));
		mmpath_stack_reset(&s, 0);
	}
	whole = total(&f, 0);
	/* a burst reaches 200 pages: at its end little is known */
	for (size = 0; size <= 160; size += 8) {
		got = total(&f, size) * 1000 / whole;
		assert_in_range(got + 20, 1000 - size * 1000 / pages, 1040 - size * 1000 / pages);
	}
	fixture_destroy(&f);
	free(trace);
}

/* The curve of a trace is that of caches of each size, at group boundaries. */
static void curve_is_right(enum trace_kind kind, u32 group)
{
	const u64 pages = 90;
	const size_t nr = 2000;
	u64 *trace = trace_make(kind, pages, nr, 23), size;
	struct mmpath_stack lru;
	struct mmpath_mru mru;
	struct fixture fl, fm;
	size_t i;

	fixture_init(&fl, group);
	fixture_init(&fm, group);
	mmpath_stack_init(&lru, &fl.tm.mem, 0, 0);
	mmpath_mru_init(&mru, &fm.tm.mem, pages, 0);
	for (i = 0; i < nr; i++) {
		mmpath_mrc_add(&fl.m, mmpath_stack_touch(&lru, trace[i]), 1);
		mmpath_mrc_add(&fm.m, mmpath_mru_touch(&mru, trace[i]), 1);
	}
	for (size = group; size <= pages + group; size += group) {
		assert_int_equal(total(&fl, size), simulate_lru(trace, nr, size));
		assert_int_equal(total(&fm, size), simulate_mru(trace, nr, size));
	}
	mmpath_stack_destroy(&lru);
	mmpath_mru_destroy(&mru);
	fixture_destroy(&fl);
	fixture_destroy(&fm);
	free(trace);
}

static void test_curve_loop(void **state)
{
	(void)state;
	curve_is_right(TRACE_LOOP, 1);
	curve_is_right(TRACE_LOOP, 16);
}

static void test_curve_uniform(void **state)
{
	(void)state;
	curve_is_right(TRACE_UNIFORM, 1);
	curve_is_right(TRACE_UNIFORM, 16);
}

static void test_curve_zipf(void **state)
{
	(void)state;
	curve_is_right(TRACE_ZIPF, 1);
	curve_is_right(TRACE_ZIPF, 16);
}

static void test_curve_phases(void **state)
{
	(void)state;
	curve_is_right(TRACE_PHASES, 1);
	curve_is_right(TRACE_PHASES, 16);
}

static void test_curve_two_loops(void **state)
{
	(void)state;
	curve_is_right(TRACE_TWO_LOOPS, 1);
	curve_is_right(TRACE_TWO_LOOPS, 16);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bad_parameters),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_quiet),
		cmocka_unit_test(test_walk),
		cmocka_unit_test(test_steps),
		cmocka_unit_test(test_between_groups),
		cmocka_unit_test(test_windows),
		cmocka_unit_test(test_small_counts_decay),
		cmocka_unit_test(test_groups_double),
		cmocka_unit_test(test_no_memory),
		cmocka_unit_test(test_far_distances),
		cmocka_unit_test(test_points),
		cmocka_unit_test(test_make_room),
		cmocka_unit_test(test_big_counts),
		cmocka_unit_test(test_after_destroy),
		cmocka_unit_test(test_overflow),
		cmocka_unit_test(test_scale),
		cmocka_unit_test(test_repeat),
		cmocka_unit_test(test_first_touches_only),
		cmocka_unit_test(test_unseen),
		cmocka_unit_test(test_seen),
		cmocka_unit_test(test_told_late),
		cmocka_unit_test(test_first_touches_told_late),
		cmocka_unit_test(test_seen_others),
		cmocka_unit_test(test_repeat_censored),
		cmocka_unit_test(test_censored),
		cmocka_unit_test(test_long_burst),
		cmocka_unit_test(test_early),
		cmocka_unit_test(test_bursts),
		cmocka_unit_test(test_curve_loop),
		cmocka_unit_test(test_curve_uniform),
		cmocka_unit_test(test_curve_zipf),
		cmocka_unit_test(test_curve_phases),
		cmocka_unit_test(test_curve_two_loops),
	};

	cmocka_set_test_filter(getenv("UNIT_FILTER"));
	return cmocka_run_group_tests_name("mrc", tests, NULL, NULL);
}
