// SPDX-License-Identifier: GPL-2.0
/*
 * What the virtual hardware costs its programs, and keeping that below overhead_target.
 *
 * A program's cost is the time of drains that feed its records to models, wherever they
 * run; its own time is that of its CPUs without them, and what it waits for swap. Above
 * the target the device is told to log fewer of its pages, by a power of two; where that
 * would say too little it rests, and logs in bursts (design.rst, "Hardware"):
 *
 *	a drain     cost of an epoch used up: the rest of the log is thinned, or skipped;
 *	            the epoch's control is kicked early
 *	early, end  too much: a coarser sample, or a rest; at the end: cheap for three
 *	            epochs, a finer one
 *	begin       has it paid its debt, it logs again
 *
 * Locks: a drain judges under drain_lock; the rest runs under ctx->alive, or in attach(),
 * and takes that where it writes what drains read.
 */
#include <linux/bitops.h>
#include <linux/math64.h>
#include <linux/sched/clock.h>
#include "vpath.h"

#define VPATH_MAJOR_NS	(100 * NSEC_PER_USEC)
#define VPATH_LEAST_SAMPLE	64	/* pages; fewer say little */
#define VPATH_GOOD_SAMPLE	128	/* and more not much more */
#define VPATH_LOOK_EPOCHS	3	/* at a sample that keeps the target */
#define VPATH_MANY_RECORDS	1024	/* in them, to tell what one takes */
#define VPATH_CURVE_PART	2	/* one in so many of the target, without a policy */

static struct vpath_time vpath_now(struct mm_struct *mm)
{
	return (struct vpath_time){
		.cpu_ns = mmpath_cpu_ns(mm),
		.wall_ns = local_clock(),
		.major = mmpath_major_faults(mm),
	};
}

/*
 * Of the time in which the program did not run, what it waited for swap: for as many
 * faults as there were, on a fast disk.
 */
static u64 vpath_wait_ns(const struct vpath_time *seen, const struct vpath_time *now)
{
	u64 cpu_ns = now->cpu_ns - seen->cpu_ns, wall_ns = now->wall_ns - seen->wall_ns;

	if (now->major <= seen->major || wall_ns <= cpu_ns)
		return 0;
	return min(wall_ns - cpu_ns, (now->major - seen->major) * VPATH_MAJOR_NS);
}

/*
 * What the program has taken by itself since @v->seen, as far as is known; not 0. It
 * may have gone, and its time with it.
 */
static u64 vpath_own_ns(const struct vpath_ctx *v, const struct vpath_time *now)
{
	u64 cpu_ns = v->seen.cpu_ns + READ_ONCE(v->inside_ns) - v->inside_seen;

	if (now->cpu_ns <= cpu_ns)
		return 1;
	return now->cpu_ns - cpu_ns + vpath_wait_ns(&v->seen, now);
}

/* And what drains took for it */
static u64 vpath_hook_ns(const struct mmpath_ctx *ctx)
{
	const struct vpath_ctx *v = ctx->drv_data;

	return atomic64_read(&ctx->hook_ns) - v->hook_seen;
}

static unsigned int vpath_cost_permille(const struct mmpath_ctx *ctx,
					const struct vpath_time *now)
{
	return mmpath_permille(vpath_hook_ns(ctx), vpath_own_ns(ctx->drv_data, now));
}

/* What an epoch may cost of a program that runs all the time */
static u64 vpath_allowed_ns(void)
{
	return vpath_param(VPATH_PARAM_OVERHEAD_TARGET) * READ_ONCE(mmpath_config.epoch_ms) *
	       (NSEC_PER_MSEC / 100);
}

/* What it has cost beyond so much, with what is not accounted for yet */
static s64 vpath_beyond_ns(const struct mmpath_ctx *ctx, const struct vpath_time *now,
			   s64 before_ns, unsigned long permille)
{
	u64 own_ns = vpath_own_ns(ctx->drv_data, now);

	if (!permille)
		return 0;
	before_ns += vpath_hook_ns(ctx) - div_u64(own_ns * permille, 1000);
	return max(before_ns, 0LL);
}

static s64 vpath_debt_ns(const struct mmpath_ctx *ctx, const struct vpath_time *now)
{
	const struct vpath_ctx *v = ctx->drv_data;

	return vpath_beyond_ns(ctx, now, v->debt_ns,
			       vpath_param(VPATH_PARAM_OVERHEAD_TARGET) * 10);
}

/*
 * In the long run a curve alone is not worth all of the target. What it has cost beyond
 * its share is not held against it for ever, as what is beyond the target is: the set-up
 * of a program would be paid for by a long blindness.
 */
static unsigned int vpath_share(const struct mmpath_ctx *ctx)
{
	unsigned int target = vpath_param(VPATH_PARAM_OVERHEAD_TARGET) * 10;

	return mmpath_ctx_has_policy(ctx) ? target : target / VPATH_CURVE_PART;
}

static s64 vpath_excess_ns(const struct mmpath_ctx *ctx, const struct vpath_time *now)
{
	const struct vpath_ctx *v = ctx->drv_data;

	return min(vpath_beyond_ns(ctx, now, v->excess_ns, vpath_share(ctx)),
		   (s64)vpath_allowed_ns() * 2);
}

/* The coarsest sample that says something of so many pages, or @shift */
static unsigned int vpath_coarsest(unsigned long pages, unsigned int shift)
{
	unsigned int most = max(fls_long(pages / VPATH_LEAST_SAMPLE), shift + 1U) - 1;

	return min(most, MMPATH_MAX_SHIFT);
}

/*
 * What an epoch may cost is all it gets, however much there still is in the log: who is
 * kicked to make that less waits for this drain. So the rest of the log is sampled here, for
 * of pages that are skipped nobody knows the order, and in a set-up those may be nearly all.
 */
static void vpath_thin(struct mmpath_ctx *ctx, unsigned int times)
{
	unsigned int shift = READ_ONCE(ctx->shift), most;
	struct vpath_ctx *v = ctx->drv_data;

	lockdep_assert_held(&mmpath_vpath_drain_lock);
	most = vpath_coarsest(get_mm_rss(ctx->mm), shift);
	if (shift == most) {
		WRITE_ONCE(v->choked, true);
		return;
	}
	mmpath_coarsen(ctx, min(shift + fls(times), most));
	v->thinned = atomic64_read(&ctx->hook_ns);
}

/**
 * mmpath_vpath_judge() - too expensive for the epoch to end like this?
 * @ctx: the context that a drain has just been charged to
 *
 * It is not by what a few ms of it cost: a program is not the same all the time.
 * Context: under drain_lock.
 */
void mmpath_vpath_judge(struct mmpath_ctx *ctx)
{
	unsigned int target = vpath_param(VPATH_PARAM_OVERHEAD_TARGET) * 10, permille;
	struct vpath_ctx *v = ctx->drv_data;
	u64 enough_ns = vpath_allowed_ns() / 2;
	struct vpath_time now;

	/* to look at what is not sampled takes longer than to skip it, but not much */
	if (v->thinned)
		enough_ns = v->thinned - v->hook_seen + 2 * vpath_allowed_ns();
	if (!target || READ_ONCE(v->choked) || vpath_hook_ns(ctx) < enough_ns)
		return;
	now = vpath_now(ctx->mm);
	permille = vpath_cost_permille(ctx, &now);
	if (permille <= target)
		return;
	if (vpath_debt_ns(ctx, &now) >= (s64)vpath_allowed_ns())
		vpath_thin(ctx, permille / target);
	mmpath_kick(ctx);
}

/*
 * The time of drains is a cost, and the program's own where it drained itself. None adds to
 * it or judges by it meanwhile. Returns whether one has made the sample coarser since.
 */
static bool vpath_account(struct mmpath_ctx *ctx, const struct vpath_time *now)
{
	struct vpath_ctx *v = ctx->drv_data;
	bool thinned;
	u64 hook_ns;

	mutex_lock(&mmpath_vpath_drain_lock);
	hook_ns = atomic64_read(&ctx->hook_ns);
	v->excess_ns = vpath_excess_ns(ctx, now);
	v->debt_ns = vpath_debt_ns(ctx, now);
	WRITE_ONCE(ctx->own_ns, ctx->own_ns + vpath_own_ns(v, now));
	WRITE_ONCE(ctx->cost_ns, ctx->cost_ns + hook_ns - v->hook_seen);
	if (now->cpu_ns > v->seen.cpu_ns)
		v->seen = *now;
	v->hook_seen = hook_ns;
	v->inside_seen = v->inside_ns;
	thinned = v->thinned;
	v->thinned = 0;
	mutex_unlock(&mmpath_vpath_drain_lock);
	return thinned;
}

/* A sample is judged by the epochs from here on. */
static void vpath_look_anew(const struct mmpath_ctx *ctx)
{
	struct vpath_ctx *v = ctx->drv_data;

	v->epochs = 0;
	v->own_then = ctx->own_ns;
	v->cost_then = ctx->cost_ns;
	v->records_then = atomic_long_read(&ctx->stat[MMPATH_RECORDS]);
}

static void vpath_set_resting(struct mmpath_ctx *ctx, bool resting)
{
	vpath_look_anew(ctx);
	WRITE_ONCE(ctx->resting, resting);
	mmpath_vpath_tell_cpus();
}

/*
 * There is no coarser sample to go to. If it has cost what an epoch may, or nearly, the
 * burst is over, and the context rests until it owes nothing any more.
 */
static void vpath_rest(struct mmpath_ctx *ctx)
{
	struct vpath_ctx *v = ctx->drv_data;

	if (v->excess_ns < (s64)(vpath_allowed_ns() * 3 / 4))
		return;
	WRITE_ONCE(ctx->blind, true);
	v->rested = true;
	vpath_set_resting(ctx, true);
	mmpath_vpath_drain();
	mmpath_end_burst(ctx);
}

/**
 * mmpath_vpath_begin() - the driver's begin(): who has paid for its rest logs again
 * @ctx: the context
 * @mm: its mm
 *
 * Context: under ctx->alive; may sleep.
 */
void mmpath_vpath_begin(struct mmpath_ctx *ctx, struct mm_struct *mm)
{
	struct vpath_ctx *v = ctx->drv_data;

	if (!v->awake)
		return;
	v->awake = false;
	vpath_set_resting(ctx, false);
}

/* What was logged before costs what it costs, and says nothing of what comes. */
static void vpath_tell_shift(struct mmpath_ctx *ctx, struct mm_struct *mm)
{
	struct vpath_time now;

	mmpath_vpath_tell_cpus();
	mmpath_vpath_drain();
	now = vpath_now(mm);
	vpath_account(ctx, &now);
	vpath_look_anew(ctx);
}

static void vpath_set_shift(struct mmpath_ctx *ctx, struct mm_struct *mm, unsigned int shift)
{
	mmpath_set_shift(ctx, shift);
	vpath_tell_shift(ctx, mm);
}

/*
 * What is aimed at with a sample of so many pages is the target >> slack. A policy makes use
 * of what it can get, a contest that leaves all to the kernel of half of it; a curve is
 * hardly better for more, but for a small sample.
 */
static unsigned int vpath_slack(const struct mmpath_ctx *ctx, unsigned long pages)
{
	if (!mmpath_ctx_has_policy(ctx))
		return pages >= VPATH_GOOD_SAMPLE ? 2 : 1;
	return mmpath_ctx_policy_acts(ctx) ? 0 : 1;
}

/* How coarse must the sample of @pages be, if at @shift it costs @times the target? */
static unsigned int vpath_coarser(const struct mmpath_ctx *ctx, unsigned long pages,
				  unsigned int shift, unsigned int times)
{
	unsigned int more = shift + fls(times);

	more += vpath_slack(ctx, pages >> more >> 2);
	return min(more, vpath_coarsest(pages, shift));
}

/*
 * By how many powers of two can the sample be finer, if so much may be had? What a record
 * takes is known from when there were many; what epochs take without any, is the rest.
 */
static unsigned int vpath_finer(struct vpath_ctx *v, u64 cost_ns, u64 records, u64 may_ns,
				unsigned int most)
{
	unsigned int finer = 0;
	u64 of_records;

	if (!records)
		return most;
	if (records >= VPATH_MANY_RECORDS || !v->record_ns)
		v->record_ns = div64_u64(cost_ns, records);
	of_records = min(records * v->record_ns, cost_ns);
	cost_ns -= of_records;
	while (finer < most && cost_ns + (of_records << (finer + 1)) <= may_ns)
		finer++;
	return finer;
}

/*
 * What epochs within the target ask for instead of a sample of @shift: as fine a one as likely
 * stays below what is aimed at; for a curve alone a coarser one if more is used, and the coarser
 * is still good. What a sample costs decides between two, not how the program came to it, but for
 * a tenth, for it shall not go back and forth.
 */
static unsigned int vpath_better_shift(struct mmpath_ctx *ctx, unsigned long pages,
				       unsigned int shift)
{
	unsigned int finest = vpath_param(VPATH_PARAM_SAMPLE_SHIFT);
	unsigned long target = vpath_param(VPATH_PARAM_OVERHEAD_TARGET);
	unsigned int slack = vpath_slack(ctx, pages >> shift), finer;
	struct vpath_ctx *v = ctx->drv_data;
	u64 cost_ns, records, target_ns;

	if (++v->epochs < VPATH_LOOK_EPOCHS)
		return shift;
	cost_ns = ctx->cost_ns - v->cost_then;
	records = atomic_long_read(&ctx->stat[MMPATH_RECORDS]) - v->records_then;
	target_ns = div_u64((ctx->own_ns - v->own_then) * target, 100);
	vpath_look_anew(ctx);
	finer = vpath_finer(v, cost_ns, records, div_u64((target_ns >> slack) * 9, 10),
			    shift - min(shift, finest));
	if (finer)
		return shift - finer;
	pages >>= shift + 1;
	if (!mmpath_ctx_has_policy(ctx) && shift < MMPATH_MAX_SHIFT &&
	    pages >= VPATH_LEAST_SAMPLE && cost_ns > target_ns >> vpath_slack(ctx, pages))
		return shift + 1;
	return shift;
}

/*
 * Keep the cost below the target by logging fewer pages. A coarser sample at once, by as
 * much as it takes to come down to what is aimed at; a finer one, which forgets the order
 * of the pages, only after some epochs that were cheap. Where a coarser one would say
 * nothing, by logging in bursts.
 */
static void vpath_hold_target(struct mmpath_ctx *ctx, struct mm_struct *mm,
			      unsigned int permille, bool early)
{
	unsigned int target = vpath_param(VPATH_PARAM_OVERHEAD_TARGET) * 10;
	unsigned int was = READ_ONCE(ctx->shift), shift = was;
	unsigned long pages = get_mm_rss(mm);

	if (!target || ctx->resting)
		return;
	if (permille > target)
		shift = max(shift, vpath_coarser(ctx, pages, shift, permille / target));
	else if (!early)
		shift = vpath_better_shift(ctx, pages, was);
	if (shift != was)
		vpath_set_shift(ctx, mm, shift);
	else if (permille > vpath_share(ctx))
		vpath_rest(ctx);
}

/* The rest of the log has been skipped, the next burst may begin. */
static void vpath_unchoke(struct mmpath_ctx *ctx)
{
	struct vpath_ctx *v = ctx->drv_data;

	if (!ctx->resting)
		mmpath_end_burst(ctx);
	WRITE_ONCE(v->choked, false);
}

static void vpath_control_cost(struct mmpath_ctx *ctx, struct mm_struct *mm, bool early)
{
	struct vpath_ctx *v = ctx->drv_data;
	bool choked = READ_ONCE(v->choked);
	unsigned int permille;
	struct vpath_time now;

	if (choked)
		mmpath_vpath_drain();
	now = vpath_now(mm);
	permille = vpath_cost_permille(ctx, &now);
	if (now.cpu_ns > v->seen.cpu_ns) {
		if (vpath_account(ctx, &now))
			vpath_tell_shift(ctx, mm);
		else
			vpath_hold_target(ctx, mm, permille, early);
	}
	if (choked)
		vpath_unchoke(ctx);
}

static void vpath_end_epoch(struct mmpath_ctx *ctx)
{
	struct vpath_ctx *v = ctx->drv_data;

	if (!v->rested)
		WRITE_ONCE(ctx->blind, false);
	v->rested = ctx->resting;
	v->awake = ctx->resting && !v->excess_ns && !v->debt_ns;
}

/**
 * mmpath_vpath_epoch() - the driver's epoch(): account, and hold the target
 * @ctx: the context
 * @mm: its mm
 * @early: not at the end, but because a drain found it too expensive
 *
 * Context: under mmpath_mutex and ctx->alive; may sleep; drains.
 */
void mmpath_vpath_epoch(struct mmpath_ctx *ctx, struct mm_struct *mm, bool early)
{
	vpath_control_cost(ctx, mm, early);
	if (early)
		return;
	mmpath_vpath_tell_cpus();
	vpath_end_epoch(ctx);
}

/**
 * mmpath_vpath_begin_cost() - a context comes: what it costs is counted from here on
 * @ctx: the context, with its drv_data
 *
 * Context: no record has its number yet.
 */
void mmpath_vpath_begin_cost(struct mmpath_ctx *ctx)
{
	struct vpath_ctx *v = ctx->drv_data;

	v->seen = vpath_now(ctx->mm);
	v->hook_seen = atomic64_read(&ctx->hook_ns);
}

/**
 * mmpath_vpath_end_cost() - a context goes: the last of what it has cost
 * @ctx: the context, whose program may have gone
 *
 * Context: may sleep; no record has its number any more.
 */
void mmpath_vpath_end_cost(struct mmpath_ctx *ctx)
{
	struct vpath_time now = vpath_now(ctx->mm);

	vpath_account(ctx, &now);
}

#ifdef CONFIG_MMPATH_KUNIT_TEST
#include "tests/vpath-cost-kunit.h"
#endif
