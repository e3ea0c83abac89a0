/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tests of how the cost of a context of the virtual hardware is measured, and of what the
 * driver does to keep it below the target. Included at the end of vpath-cost.c.
 */
#ifndef _MM_PATH_VPATH_COST_KUNIT_H
#define _MM_PATH_VPATH_COST_KUNIT_H

#include <kunit/test.h>
#include "../../core.h"

/* A context that is in no table, of an mm without a task */
struct kt_cost {
	struct mmpath_ctx ctx;
	struct vpath_ctx v;
};

static struct kt_cost *kt_cost_init(struct kunit *test)
{
	struct kt_cost *kt = kunit_kzalloc(test, sizeof(*kt), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, kt);
	kt->ctx.d.drv_data = &kt->v;
	kt->ctx.d.mm = &init_mm;
	return kt;
}

/* Waits for swap count as the program's own time, up to the time it did not run. */
static void kt_cost_own_time(struct kunit *test)
{
	struct vpath_time now = { .cpu_ns = 7000, .wall_ns = 7000 };
	struct kt_cost *kt = kt_cost_init(test);

	kt->v.seen.cpu_ns = 5000;
	kt->v.inside_ns = 100;
	KUNIT_EXPECT_EQ(test, vpath_own_ns(&kt->v, &now), 1900);
	now.major = 3;
	KUNIT_EXPECT_EQ(test, vpath_own_ns(&kt->v, &now), 1900 + 5000);
	now.wall_ns = NSEC_PER_SEC;
	KUNIT_EXPECT_EQ(test, vpath_own_ns(&kt->v, &now), 1900 + 3 * VPATH_MAJOR_NS);
	now.major = 0;
	vpath_account(&kt->ctx.d, &now);
	KUNIT_EXPECT_EQ(test, kt->ctx.d.own_ns, 1900);
	/* the program has gone: its CPU time reads 0 */
	now = (struct vpath_time){ .wall_ns = 2 * NSEC_PER_SEC };
	vpath_account(&kt->ctx.d, &now);
	KUNIT_EXPECT_EQ(test, kt->ctx.d.own_ns, 1901);
	KUNIT_EXPECT_EQ(test, kt->v.seen.cpu_ns, 7000);
}

static void kt_cost_next_epoch(struct kt_cost *kt, u64 cpu_ns)
{
	struct vpath_time now = { .cpu_ns = cpu_ns, .wall_ns = cpu_ns };

	vpath_account(&kt->ctx.d, &now);
	vpath_end_epoch(&kt->ctx.d);
}

/* The share is 1.5 percent, so an excess of 2850 ns takes a rest of 190000 ns of own time. */
static void kt_cost_rest(struct kunit *test)
{
	struct kt_cost *kt = kt_cost_init(test);
	struct mmpath_drv_ctx *ctx = &kt->ctx.d;

	atomic64_set(&ctx->hook_ns, 3000);
	ctx->resting = true;
	kt_cost_next_epoch(kt, 10000);
	KUNIT_EXPECT_EQ(test, kt->v.debt_ns, 2700);
	KUNIT_EXPECT_EQ(test, kt->v.excess_ns, 2850);
	mmpath_vpath_begin(ctx, ctx->mm);
	KUNIT_EXPECT_TRUE(test, ctx->resting);
	kt_cost_next_epoch(kt, 199900);
	mmpath_vpath_begin(ctx, ctx->mm);
	KUNIT_EXPECT_TRUE(test, ctx->resting);
	kt_cost_next_epoch(kt, 200100);
	/* not before begin(), when the epoch is over for all contexts */
	KUNIT_EXPECT_TRUE(test, ctx->resting);
	mmpath_vpath_begin(ctx, ctx->mm);
	KUNIT_EXPECT_FALSE(test, ctx->resting);
	/* a cheap time gives no credit for later */
	kt_cost_next_epoch(kt, 900000);
	KUNIT_EXPECT_EQ(test, kt->v.debt_ns, 0);
	KUNIT_EXPECT_EQ(test, kt->v.excess_ns, 0);
}

/* After an expensive set-up the context rests until its cost is the target, and no longer. */
static void kt_cost_setup(struct kunit *test)
{
	struct kt_cost *kt = kt_cost_init(test);
	u64 allowed_ns = vpath_allowed_ns();

	atomic64_set(&kt->ctx.d.hook_ns, 10 * allowed_ns);
	kt->ctx.d.resting = true;
	kt_cost_next_epoch(kt, 100);
	KUNIT_EXPECT_EQ(test, kt->v.debt_ns, 10 * allowed_ns - 3);
	KUNIT_EXPECT_EQ(test, kt->v.excess_ns, 2 * allowed_ns);
	kt_cost_next_epoch(kt, 300 * allowed_ns);
	KUNIT_EXPECT_FALSE(test, kt->v.awake);
	KUNIT_EXPECT_EQ(test, kt->v.excess_ns, 0);
	kt_cost_next_epoch(kt, 334 * allowed_ns);
	KUNIT_EXPECT_TRUE(test, kt->v.awake);
}

/*
 * Run three epochs that cost @percent of the target, of which @fixed is not due to records.
 * Returns the shift that is chosen then.
 */
static unsigned int kt_cost_epochs(struct kt_cost *kt, unsigned int shift,
				   unsigned long pages, unsigned int percent,
				   unsigned int fixed)
{
	int i;

	vpath_look_anew(&kt->ctx.d);
	atomic_long_add((percent - fixed) * 900 / 25, &kt->ctx.d.stat[MMPATH_RECORDS]);
	for (i = 0; i < VPATH_LOOK_EPOCHS; i++) {
		if (i && vpath_better_shift(&kt->ctx.d, pages, shift) != shift)
			return UINT_MAX;
		kt->ctx.d.own_ns += 1000 * NSEC_PER_USEC;
		/* the epochs differ */
		kt->ctx.d.cost_ns += (u64)percent * (i * 300);
	}
	return vpath_better_shift(&kt->ctx.d, pages, shift);
}

static unsigned int kt_cost_three_epochs(struct kt_cost *kt, unsigned int shift,
					 unsigned long pages, unsigned int percent)
{
	return kt_cost_epochs(kt, shift, pages, percent, 0);
}

/* The cost of a sample decides which one is next, and not the samples before. */
static void kt_cost_better(struct kunit *test)
{
	struct kt_cost *kt = kt_cost_init(test);

	KUNIT_EXPECT_EQ(test, kt_cost_three_epochs(kt, 5, 65536, 28), 6);
	KUNIT_EXPECT_EQ(test, kt_cost_three_epochs(kt, 6, 65536, 14), 6);
	KUNIT_EXPECT_EQ(test, kt_cost_three_epochs(kt, 5, 65536, 24), 5);
	KUNIT_EXPECT_EQ(test, kt_cost_three_epochs(kt, 6, 65536, 10), 5);
	KUNIT_EXPECT_EQ(test, kt_cost_three_epochs(kt, 7, 65536, 5), 5);
	KUNIT_EXPECT_EQ(test, kt_cost_three_epochs(kt, 3, 65536, 0), 0);
	/* a sample of less than 128 pages aims at half; none has less than 64 pages */
	KUNIT_EXPECT_EQ(test, kt_cost_three_epochs(kt, 5, 8191, 45), 5);
	KUNIT_EXPECT_EQ(test, kt_cost_three_epochs(kt, 5, 8191, 55), 6);
	KUNIT_EXPECT_EQ(test, kt_cost_three_epochs(kt, 6, 8191, 99), 6);
	KUNIT_EXPECT_EQ(test, kt_cost_three_epochs(kt, 6, 8191, 21), 5);
	/* the fixed cost of an epoch does not double */
	KUNIT_EXPECT_EQ(test, kt_cost_epochs(kt, 6, 65536, 20, 18), 5);
	KUNIT_EXPECT_EQ(test, kt_cost_epochs(kt, 6, 65536, 20, 13), 6);
	/* the cost of a record is measured from many, and from few if it is not known yet */
	KUNIT_EXPECT_EQ(test, kt->v.record_ns, 25);
	KUNIT_EXPECT_EQ(test, vpath_finer(&kt->v, 51200, 2 * VPATH_MANY_RECORDS, 0, 9), 0);
	KUNIT_EXPECT_EQ(test, kt->v.record_ns, 51200 / (2 * VPATH_MANY_RECORDS));
	KUNIT_EXPECT_EQ(test, vpath_finer(&kt->v, 1000, 10, 1000 + 250 * 3, 9), 2);
	kt->v.record_ns = 0;
	KUNIT_EXPECT_EQ(test, vpath_finer(&kt->v, 1000, 10, 1000 + 250 * 3, 9), 0);
	KUNIT_EXPECT_EQ(test, kt->v.record_ns, 100);
}

/* A sample has 64 pages at least. From 128 pages on it aims at a quarter of the target. */
static void kt_cost_coarser(struct kunit *test)
{
	struct kt_cost *kt = kt_cost_init(test);

	KUNIT_EXPECT_EQ(test, vpath_coarser(&kt->ctx.d, 8192, 0, 1), 3);
	KUNIT_EXPECT_EQ(test, vpath_coarser(&kt->ctx.d, 8192, 2, 4), 6);
	KUNIT_EXPECT_EQ(test, vpath_coarser(&kt->ctx.d, 8191, 5, 1), 6);
	KUNIT_EXPECT_EQ(test, vpath_coarser(&kt->ctx.d, 8192, 0, 1000), 7);
	KUNIT_EXPECT_EQ(test, vpath_coarser(&kt->ctx.d, 8192, 7, 1), 7);
	/* the program has become smaller since */
	KUNIT_EXPECT_EQ(test, vpath_coarser(&kt->ctx.d, 32, 3, 1), 3);
	KUNIT_EXPECT_EQ(test, vpath_coarser(&kt->ctx.d, 0, 0, 1), 0);
	KUNIT_EXPECT_EQ(test, vpath_coarser(&kt->ctx.d, ULONG_MAX, 0, UINT_MAX), MMPATH_MAX_SHIFT);
}

static void kt_cost_check(struct kt_cost *kt)
{
	mutex_lock(&mmpath_vpath_drain_lock);
	mmpath_vpath_check_cost(&kt->ctx.d);
	mutex_unlock(&mmpath_vpath_drain_lock);
}

/* Records are skipped when they have cost as much as an epoch may. */
static void kt_cost_choked(struct kunit *test)
{
	struct kt_cost *kt = kt_cost_init(test);
	u64 allowed_ns = vpath_allowed_ns();

	kt->ctx.kicked = true;	/* keeps the worker away */
	kt->v.seen = vpath_now(kt->ctx.d.mm);
	atomic64_set(&kt->ctx.d.hook_ns, allowed_ns / 2);
	kt_cost_check(kt);
	KUNIT_EXPECT_FALSE(test, kt->v.choked);
	atomic64_set(&kt->ctx.d.hook_ns, 2 * allowed_ns);
	kt_cost_check(kt);
	KUNIT_EXPECT_TRUE(test, kt->v.choked);
	/* a drain that has made the sample coarser may cost twice as much again */
	kt->v.choked = false;
	kt->v.thinned = 2 * allowed_ns;
	atomic64_set(&kt->ctx.d.hook_ns, 4 * allowed_ns - 1);
	kt_cost_check(kt);
	KUNIT_EXPECT_FALSE(test, kt->v.choked);
	atomic64_set(&kt->ctx.d.hook_ns, 4 * allowed_ns);
	kt_cost_check(kt);
	KUNIT_EXPECT_TRUE(test, kt->v.choked);
}

static struct kunit_case kt_cost_cases[] = {
	KUNIT_CASE(kt_cost_own_time),
	KUNIT_CASE(kt_cost_rest),
	KUNIT_CASE(kt_cost_setup),
	KUNIT_CASE(kt_cost_better),
	KUNIT_CASE(kt_cost_coarser),
	KUNIT_CASE(kt_cost_choked),
	{}
};

static struct kunit_suite kt_cost_suite = {
	.name = "mmpath-vpath-cost",
	.test_cases = kt_cost_cases,
};

kunit_test_suite(kt_cost_suite);

#endif /* _MM_PATH_VPATH_COST_KUNIT_H */
