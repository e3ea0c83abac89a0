// SPDX-License-Identifier: GPL-2.0
/* Would LIRS miss less than the kernel's policy, and when is it worth to switch? */
#include "test.h"

#define PAGES	800		/* of the program */
#define MEMORY	480		/* no reason to sample */
#define ROUNDS	8
#define EPOCH	(ROUNDS * PAGES)	/* touches */
#define PART	(PAGES / 4)	/* touches of a short one */
#define HIRS	4		/* 1 % of memory */

struct fixture {
	struct test_mem tm;
	struct mmpath_contest c;
	struct rng r;
	u64 *zipf;
	size_t at;
};

static void fixture_init(struct fixture *f, u32 max_pages, unsigned int shift)
{
	memset(f, 0, sizeof(*f));
	test_mem_init(&f->tm);
	f->r.state = 9;
	f->zipf = trace_make(TRACE_ZIPF, PAGES, 8 * EPOCH, 3);
	assert_int_equal(mmpath_contest_init(&f->c, &f->tm.mem, max_pages, shift), 0);
	mmpath_contest_set_size(&f->c, MEMORY, 0);
}

/* All that a contest has allocated */
static size_t contest_bytes(const struct mmpath_contest *c)
{
	size_t bytes = mmpath_index_bytes(&c->seen);
	int p;

	for (p = 0; p < NR_MMPATH_SIMS; p++)
		bytes += mmpath_lirs_bytes(&c->sim[p]) - sizeof(c->sim[p]);
	return bytes;
}

static void fixture_destroy(struct fixture *f)
{
	assert_same(contest_bytes(&f->c), f->tm.mem.bytes);
	mmpath_contest_destroy(&f->c);
	assert_int_equal(f->tm.mem.bytes, 0);
	free(f->zipf);
}

enum pattern { LOOP, UNIFORM, ZIPF, SLIDING, FEW };

static u64 page_of(struct fixture *f, enum pattern pattern)
{
	u64 i = f->at++;

	switch (pattern) {
	case LOOP:
		return i % PAGES;
	case ZIPF:
		return f->zipf[i % (8 * EPOCH)];
	case SLIDING:	/* what is used now will not be used later */
		return (i / 8 + rng_below(&f->r, MEMORY * 11 / 10)) % (10 * PAGES);
	case FEW:	/* a loop that nearly fits into 100 pages, among touches that hit */
		return i % EPOCH ? i % 16 : 100 + i / EPOCH % 110;
	default:
		return rng_below(&f->r, PAGES);
	}
}

static void epoch(struct fixture *f, enum pattern pattern, int touches)
{
	while (touches--)
		assert_int_not_equal(mmpath_contest_touch(&f->c, page_of(f, pattern)),
				     MMPATH_NOMEM);
	mmpath_contest_close_epoch(&f->c);
}

/* Returns after how many of the epochs the winner was not @p. */
static int run(struct fixture *f, enum pattern pattern, int epochs, enum mmpath_contestant p)
{
	int others = 0;

	while (epochs--) {
		epoch(f, pattern, EPOCH);
		others += mmpath_contest_winner(&f->c) != p;
	}
	return others;
}

static void test_loop(void **state)
{
	struct fixture f;

	(void)state;
	fixture_init(&f, 10000, 0);
	run(&f, LOOP, 10, MMPATH_POLICY_KERNEL);
	assert_int_equal(mmpath_contest_winner(&f.c), MMPATH_POLICY_LIRS);
	assert_same(f.c.switches, 1);
	/* all but HIRS pages of memory keep what is in them */
	assert_same(f.c.last[MMPATH_POLICY_KERNEL], ROUNDS * PAGES);
	assert_same(f.c.last[MMPATH_POLICY_LIRS], ROUNDS * (PAGES - MEMORY + HIRS));
	assert_same(f.c.nr_seen, PAGES);
	assert_same(f.c.last[MMPATH_POLICY_USED], f.c.last[MMPATH_POLICY_LIRS]);
	fixture_destroy(&f);
}

/* Short ones */
static void epochs(struct fixture *f, enum pattern pattern, int n)
{
	while (n--)
		epoch(f, pattern, PART);
}

static int epochs_until(struct fixture *f, enum pattern pattern, bool kernel)
{
	int n;

	for (n = 0; n < 200; n++) {
		if ((mmpath_contest_winner(&f->c) == MMPATH_POLICY_KERNEL) == kernel)
			break;
		epoch(f, pattern, PART);
	}
	return n;
}

/* Who had to be given up needs longer the next time, but not for ever. */
static void test_backoff(void **state)
{
	static const int least[] = { 5, 5, 16, 24, 40, 40 };
	struct fixture f;
	size_t i;

	(void)state;
	fixture_init(&f, 10000, 0);
	for (i = 0; i < ARRAY_SIZE(least); i++) {
		assert_in_range(epochs_until(&f, LOOP, false), least[i], least[i] + 4);
		assert_in_range(epochs_until(&f, SLIDING, true), 12, 18);
	}
	epochs_until(&f, LOOP, false);
	run(&f, LOOP, 70, MMPATH_POLICY_LIRS);
	assert_int_equal(f.c.needed, 4);
	fixture_destroy(&f);
}

/* What has no order, nothing gets right; of what moves on, LRU gets most right. */
static void test_kernel_stays(void **state)
{
	static const enum pattern patterns[] = { UNIFORM, SLIDING };
	struct fixture f;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(patterns); i++) {
		fixture_init(&f, 10000, 0);
		assert_int_equal(run(&f, patterns[i], 20, MMPATH_POLICY_KERNEL), 0);
		assert_same(f.c.switches, 0);
		assert_true(f.c.last[MMPATH_POLICY_KERNEL] > 120);
		fixture_destroy(&f);
	}
}

/* Of what is used by chance, but some of it more often, LIRS gets a little more right. */
static void test_zipf(void **state)
{
	struct fixture f;
	u64 pages;

	(void)state;
	for (pages = 320; pages <= 500; pages += 20) {
		fixture_init(&f, 10000, 0);
		mmpath_contest_set_size(&f.c, pages, 0);
		run(&f, ZIPF, 40, MMPATH_POLICY_KERNEL);
		assert_true(f.c.last[f.c.winner] <= f.c.last[MMPATH_POLICY_KERNEL]);
		assert_true(f.c.switches <= 5);
		fixture_destroy(&f);
	}
}

/* One that is told what was missed, and touches nothing: 4096 pages, LIRS beside LRU */
static void fixture_told(struct fixture *f, unsigned int shift)
{
	fixture_init(f, 4096, shift);
	mmpath_contest_set_size(&f->c, 4096, 0);
}

/* An epoch in which LRU, and LIRS, and what was used missed so often */
static void tell(struct fixture *f, u64 lru, u64 lirs, u64 used)
{
	f->c.misses[MMPATH_POLICY_KERNEL] = lru;
	f->c.misses[MMPATH_POLICY_LIRS] = lirs;
	f->c.misses[MMPATH_POLICY_USED] = used;
	mmpath_contest_close_epoch(&f->c);
}

/* Returns after how many such epochs LIRS is used. */
static int epochs_told(struct fixture *f, u64 lru, u64 lirs)
{
	int n;

	for (n = 0; n < 100 && mmpath_contest_winner(&f->c) != MMPATH_POLICY_LIRS; n++)
		tell(f, lru, lirs, lru);
	return n;
}

/* Half of memory, and 1/16 of the misses of LRU: 500 more each time, of 2048. */
static void test_threshold(void **state)
{
	struct fixture f;
	int i;

	(void)state;
	fixture_told(&f, 0);
	assert_int_equal(f.c.seen.shift, 4);
	/* what it is better by now and then, and worse in between, is worth nothing */
	for (i = 0; i < 20; i++) {
		tell(&f, 1600, 1000, 1600);
		assert_same(f.c.lead, 500);
		tell(&f, 1600, 2100, 1600);
		assert_same(f.c.lead, 0);
	}
	/* that what is used misses more than LRU, for what it found in memory, is over soon */
	tell(&f, 1600, 1000, 2600);
	assert_same(f.c.lead, 500);
	assert_int_equal(epochs_told(&f, 1600, 1000), 4);
	assert_same(f.c.switches, 1);
	/* and for the next switch it takes as much */
	assert_same(f.c.lead, 0);
	fixture_destroy(&f);
}

/* A lead of before, when it took more of it, is not enough. */
static void test_old_lead(void **state)
{
	struct fixture f;

	(void)state;
	fixture_told(&f, 0);
	f.c.lead = 3000;
	tell(&f, 1600, 1700, 1600);
	assert_int_equal(mmpath_contest_winner(&f.c), MMPATH_POLICY_KERNEL);
	tell(&f, 1600, 1599, 1600);
	assert_int_equal(mmpath_contest_winner(&f.c), MMPATH_POLICY_LIRS);
	fixture_destroy(&f);
}

/* In a small sample it may be chance: 32 pages of it are more than half of memory. */
static void test_chance(void **state)
{
	struct fixture f;

	(void)state;
	fixture_told(&f, 7);
	assert_int_equal(epochs_told(&f, 16000, 14000), 5);
	fixture_destroy(&f);
	/* and twice as many for who had to be given up */
	fixture_told(&f, 7);
	f.c.needed *= 2;
	assert_int_equal(epochs_told(&f, 16000, 14000), 9);
	fixture_destroy(&f);
	fixture_told(&f, 0);
	assert_int_equal(epochs_told(&f, 16000, 14000), 3);
	fixture_destroy(&f);
}

/* There when the program changes, once, and back when it changes back. */
static void test_phases(void **state)
{
	struct fixture f;
	int i;

	(void)state;
	fixture_init(&f, 10000, 0);
	for (i = 0; i < 3; i++) {
		epochs(&f, LOOP, 80);
		assert_int_not_equal(mmpath_contest_winner(&f.c), MMPATH_POLICY_KERNEL);
		assert_same(f.c.switches, 2 * i + 1);
		epochs(&f, SLIDING, 80);
		assert_int_equal(mmpath_contest_winner(&f.c), MMPATH_POLICY_KERNEL);
		assert_same(f.c.switches, 2 * i + 2);
	}
	fixture_destroy(&f);
}

/* A program that hardly misses has nothing to gain. */
static void test_few_misses(void **state)
{
	struct fixture f;

	(void)state;
	fixture_init(&f, 10000, 0);
	mmpath_contest_set_size(&f.c, PAGES + 20, 0);
	assert_int_equal(run(&f, LOOP, 20, MMPATH_POLICY_KERNEL), 0);
	assert_int_equal(run(&f, UNIFORM, 20, MMPATH_POLICY_KERNEL), 0);
	assert_same(f.c.misses[MMPATH_POLICY_KERNEL], 0);
	fixture_destroy(&f);
	/* and memory that becomes smaller holds less at once */
	fixture_init(&f, 10000, 0);
	while (f.at < MEMORY)
		mmpath_contest_touch(&f.c, page_of(&f, LOOP));
	mmpath_contest_set_size(&f.c, 100, 0);
	f.at = 0;
	assert_int_equal(run(&f, FEW, 300, MMPATH_POLICY_KERNEL), 0);
	assert_same(f.c.sim[MMPATH_POLICY_KERNEL].nr_hirs, 100);
	assert_in_range(f.c.misses[MMPATH_POLICY_KERNEL], 10, 16);
	fixture_destroy(&f);
}

/* Many misses, but few of them sampled in an epoch: they add up, too. */
static void test_few_samples(void **state)
{
	struct fixture f;
	int i, n, shift;

	(void)state;
	for (shift = 0; shift <= 6; shift++) {
		fixture_init(&f, 10000, shift);
			for (n = 0; n < 1000; n++) {
			for (i = 0; i < 100; i++)
				mmpath_contest_touch(&f.c, page_of(&f, LOOP));
			mmpath_contest_close_epoch(&f.c);
		}
		assert_true(f.c.switches > 0);
		fixture_destroy(&f);
	}
}

static void short_epochs(struct fixture *f, int epochs, bool until_switch)
{
	int i, n;

	for (n = 0; n < epochs && !(until_switch && f->c.switches); n++) {
		for (i = 0; i < 40; i++)
			mmpath_contest_touch(&f->c, page_of(f, LOOP));
		mmpath_contest_close_epoch(&f->c);
	}
	if (until_switch)
		assert_in_range(n, 3, 50);
}

/*
 * Epochs with few misses each: they add up, and no epoch is counted twice. What LRU left is
 * no reason to give up what takes over, in a loop that is much longer than memory either.
 */
static void test_short_epochs(void **state)
{
	static const u64 sizes[] = { MEMORY, PAGES / 3 };
	struct fixture f;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		fixture_init(&f, 10000, 0);
			mmpath_contest_set_size(&f.c, sizes[i], 0);
		epoch(&f, LOOP, PAGES);
		short_epochs(&f, 200, true);
		short_epochs(&f, 1000, false);
		assert_same(f.c.switches, 1);
		fixture_destroy(&f);
	}
}

/* With a sample of a few hundred pages it comes to the same. */
static void test_sampled(void **state)
{
	struct fixture f;

	(void)state;
	fixture_init(&f, 160, 0);
	run(&f, LOOP, 20, MMPATH_POLICY_KERNEL);
	assert_int_not_equal(mmpath_contest_winner(&f.c), MMPATH_POLICY_KERNEL);
	assert_in_range(f.c.sim[0].shift, 2, 3);
	assert_int_equal(f.c.sim[1].shift, f.c.sim[0].shift);
	assert_int_equal(f.c.sim[2].shift, f.c.sim[0].shift);
	assert_int_equal(f.c.seen.shift, f.c.sim[0].shift);
	assert_in_range(f.c.last[MMPATH_POLICY_LIRS], EPOCH * 3 / 10, EPOCH / 2);
	assert_true(f.tm.mem.bytes <= 4 * (40 * 160 + 4096));
	run(&f, SLIDING, 20, MMPATH_POLICY_KERNEL);
	assert_int_equal(mmpath_contest_winner(&f.c), MMPATH_POLICY_KERNEL);
	fixture_destroy(&f);
}

static void close_epochs(struct fixture *f, int n)
{
	while (n--)
		mmpath_contest_close_epoch(&f->c);
}

/* A few hundred pages of memory are enough, and to have them it begins again, but seldom. */
static void test_sample_size(void **state)
{
	struct fixture f;
	u64 lead;
	int i;

	(void)state;
	fixture_init(&f, 10000, 0);
	mmpath_contest_set_size(&f.c, 4 * MEMORY, 0);
	assert_int_equal(f.c.seen.shift, 2);
	mmpath_contest_set_size(&f.c, MEMORY, 0);
	epoch(&f, LOOP, PAGES + PART);
	lead = f.c.lead;
	assert_true(lead > 0);
	/* 120 pages are not many, and it has been the policy's own sample all the time */
	close_epochs(&f, 20);
	assert_int_equal(f.c.seen.shift, 2);
	mmpath_contest_set_shift(&f.c, 1);
	close_epochs(&f, 7);
	assert_int_equal(f.c.seen.shift, 2);
	assert_true(f.c.nr_seen > 0);
	mmpath_contest_close_epoch(&f.c);
	assert_int_equal(f.c.seen.shift, 1);
	assert_same(f.c.nr_seen, 0);
	assert_same(f.c.lead, lead);
	/* 240 are enough */
	mmpath_contest_set_shift(&f.c, 0);
	close_epochs(&f, 20);
	assert_int_equal(f.c.seen.shift, 1);
	/* and it is not tried with a sample that does not last */
	for (i = 0; i < 10; i++) {
		mmpath_contest_set_shift(&f.c, 4);
		close_epochs(&f, 5);
		assert_int_equal(f.c.seen.shift, 4);
		mmpath_contest_set_shift(&f.c, 0);
		close_epochs(&f, 5);
		assert_int_equal(f.c.seen.shift, 4);
	}
	fixture_destroy(&f);
}

/* Pages that lie far apart are not remembered at any price. */
static void test_limit(void **state)
{
	struct fixture f;
	u64 i;

	(void)state;
	fixture_init(&f, 400, 0);
	for (i = 0; i < 20000; i++) {
		mmpath_contest_touch(&f.c, i * 1000);
		assert_true(f.tm.mem.bytes <= 4 * (40 * 400 + 4096));
	}
	assert_true(mmpath_contest_set_shift(&f.c, 12) == 0);
	assert_int_equal(f.c.seen.shift, 12);
	assert_int_equal(f.c.sim[2].shift, 12);
	assert_int_equal(mmpath_contest_set_shift(&f.c, MMPATH_MAX_SHIFT + 1), -EINVAL);
	fixture_destroy(&f);
}

/* What was unmapped is touched for the first time again; what was moved is not. */
static void test_forget_and_move(void **state)
{
	struct fixture f;
	u64 page;

	(void)state;
	fixture_init(&f, 10000, 0);
	mmpath_contest_set_size(&f.c, 100, 0);
	for (page = 0; page < 300; page++)
		mmpath_contest_touch(&f.c, page);
	assert_same(f.c.misses[MMPATH_POLICY_KERNEL], 0);
	mmpath_contest_forget(&f.c, 0, 50);
	assert_same(f.c.nr_seen, 250);
	assert_int_equal(mmpath_contest_move(&f.c, 50, 1000, 50), 0);
	assert_int_equal(mmpath_contest_move(&f.c, 50, 51, 50), -EINVAL);
	for (page = 0; page < 100; page++)
		mmpath_contest_touch(&f.c, page);
	assert_same(f.c.misses[MMPATH_POLICY_KERNEL], 0);
	for (page = 1000; page < 1050; page++)
		mmpath_contest_touch(&f.c, page);
	assert_same(f.c.misses[MMPATH_POLICY_KERNEL], 50);
	assert_in_range(f.c.misses[MMPATH_POLICY_LIRS], 0, 1);
	fixture_destroy(&f);
}

/* Pages in use cannot leave: when they are all of memory, all policies are one. */
static void test_pab(void **state)
{
	struct fixture f;

	(void)state;
	fixture_init(&f, 10000, 0);
	mmpath_contest_set_size(&f.c, MEMORY, 100);
	assert_same(f.c.hirs, 100);
	run(&f, LOOP, 5, MMPATH_POLICY_KERNEL);
	assert_same(f.c.last[MMPATH_POLICY_LIRS], ROUNDS * (PAGES - MEMORY + 100));
	mmpath_contest_set_size(&f.c, MEMORY, 5000);
	run(&f, LOOP, 5, MMPATH_POLICY_KERNEL);
	assert_same(f.c.last[MMPATH_POLICY_LIRS], EPOCH);
	assert_int_equal(mmpath_contest_winner(&f.c), MMPATH_POLICY_KERNEL);
	mmpath_contest_set_size(&f.c, 1, 0);
	assert_same(f.c.hirs, 1);
	mmpath_contest_set_size(&f.c, 0, 0);
	run(&f, LOOP, 1, MMPATH_POLICY_KERNEL);
	assert_same(f.c.sim[MMPATH_POLICY_KERNEL].nr_hirs, 1);
	fixture_destroy(&f);
}

static void test_reset(void **state)
{
	struct fixture f;

	(void)state;
	fixture_init(&f, 10000, 0);
	run(&f, LOOP, 5, MMPATH_POLICY_KERNEL);
	mmpath_contest_touch(&f.c, 0);
	assert_true(f.c.since > 0 && f.c.round_lru > 0 && f.c.round_used > 0);
	mmpath_contest_reset(&f.c, 2);
	assert_int_equal(f.tm.mem.bytes, 0);
	assert_same(f.c.nr_seen, 0);
	assert_same(f.c.misses[MMPATH_POLICY_KERNEL], 0);
	/* what is given up, is given up for a round of the new sample */
	assert_same(f.c.since + f.c.round_lru + f.c.round_used, 0);
	assert_same(f.c.size, MEMORY);
	assert_int_equal(f.c.seen.shift, 2);
	assert_int_not_equal(mmpath_contest_winner(&f.c), MMPATH_POLICY_KERNEL);
	assert_same(mmpath_contest_touch(&f.c, mmpath_sample_of_block(5, 2)), 0);
	assert_same(mmpath_contest_touch(&f.c, mmpath_sample_of_block(5, 2) ^ 1), MMPATH_UNSAMPLED);
	fixture_destroy(&f);
}

static void test_bad_parameters(void **state)
{
	struct mmpath_contest c;
	struct test_mem tm;

	(void)state;
	test_mem_init(&tm);
	assert_int_equal(mmpath_contest_init(&c, &tm.mem, 0, 0), -EINVAL);
	assert_int_equal(mmpath_contest_init(&c, &tm.mem, 1, MMPATH_MAX_SHIFT + 1), -EINVAL);
	assert_int_equal(mmpath_contest_init(&c, &tm.mem, 1, 0), 0);
	assert_int_equal(mmpath_contest_winner(&c), MMPATH_POLICY_KERNEL);
	mmpath_contest_close_epoch(&c);
	assert_int_equal(tm.nr_allocs, 0);
}

static unsigned long starve(unsigned long fail_at)
{
	struct mmpath_contest c;
	struct rng r = { 5 };
	struct test_mem tm;
	int i;

	test_mem_init(&tm);
	tm.fail_at = fail_at;
	mmpath_contest_init(&c, &tm.mem, 300, 0);
	mmpath_contest_set_size(&c, 150, 0);
	for (i = 0; i < 1500; i++) {
		mmpath_contest_touch(&c, rng_below(&r, 50) * rng_below(&r, 2000));
		if (i % 300 == 299)
			mmpath_contest_move(&c, 0, 100000 + 1000 * i, 1000);
	}
	mmpath_contest_destroy(&c);
	assert_int_equal(tm.mem.bytes, 0);
	return tm.nr_failed;
}

static void test_no_memory(void **state)
{
	struct mmpath_contest c;
	struct test_mem tm;
	unsigned long n;

	(void)state;
	for (n = 1; starve(n); n++)
		;
	assert_true(n > 20);
	test_mem_init(&tm);
	mmpath_contest_init(&c, &tm.mem, 300, 0);
	for (n = 1; n < 5; n++) {
		tm.nr_allocs = 0;
		tm.fail_at = n;
		assert_same(mmpath_contest_touch(&c, n * 1000), MMPATH_NOMEM);
	}
	mmpath_contest_destroy(&c);
}

/* Long before a round is over: for missing more, by 1/32 of the misses of LRU */
static void test_misses_more(void **state)
{
	struct fixture f;
	int used, i;

	(void)state;
	for (used = 1020; used <= 1040; used += 20) {
		fixture_told(&f, 0);
		f.c.winner = MMPATH_POLICY_LIRS;
		for (i = 0; i < 4; i++)
			tell(&f, 1000, used, used + 10);
		assert_int_equal(mmpath_contest_winner(&f.c),
				 used > 1031 ? MMPATH_POLICY_KERNEL : MMPATH_POLICY_LIRS);
		fixture_destroy(&f);
	}
}

/* One more for each epoch that speaks against it, two if it is that bad, one less for others. */
static void test_doubts(void **state)
{
	struct fixture f;
	int i;

	(void)state;
	fixture_told(&f, 0);
	f.c.winner = MMPATH_POLICY_LIRS;
	for (i = 0; i < 20; i++) {
		tell(&f, 1600, 1700, 1700);
		tell(&f, 1600, 1100, 1100);
	}
	assert_int_equal(mmpath_contest_winner(&f.c), MMPATH_POLICY_LIRS);
	tell(&f, 1600, 2500, 2500);
	assert_int_equal(mmpath_contest_winner(&f.c), MMPATH_POLICY_LIRS);
	tell(&f, 1600, 2500, 2500);
	assert_int_equal(mmpath_contest_winner(&f.c), MMPATH_POLICY_KERNEL);
	assert_int_equal(f.c.doubts, 0);
	fixture_destroy(&f);
	/* half as much again is more than this */
	fixture_told(&f, 0);
	f.c.winner = MMPATH_POLICY_LIRS;
	for (i = 0; i < 3; i++)
		tell(&f, 1600, 2300, 2300);
	assert_int_equal(mmpath_contest_winner(&f.c), MMPATH_POLICY_LIRS);
	fixture_destroy(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_loop),
		cmocka_unit_test(test_backoff),
		cmocka_unit_test(test_kernel_stays),
		cmocka_unit_test(test_zipf),
		cmocka_unit_test(test_threshold),
		cmocka_unit_test(test_chance),
		cmocka_unit_test(test_old_lead),
		cmocka_unit_test(test_phases),
		cmocka_unit_test(test_few_misses),
		cmocka_unit_test(test_few_samples),
		cmocka_unit_test(test_short_epochs),
		cmocka_unit_test(test_sampled),
		cmocka_unit_test(test_sample_size),
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_forget_and_move),
		cmocka_unit_test(test_pab),
		cmocka_unit_test(test_misses_more),
		cmocka_unit_test(test_doubts),
		cmocka_unit_test(test_reset),
		cmocka_unit_test(test_bad_parameters),
		cmocka_unit_test(test_no_memory),
	};

	cmocka_set_test_filter(getenv("UNIT_FILTER"));
	return cmocka_run_group_tests_name("contest", tests, NULL, NULL);
}
