// SPDX-License-Identifier: GPL-2.0
/*
 * The cost of the virtual hardware to its programs, which is kept below overhead_target.
 *
 * The cost of a program is the time of the drains that feed its records to models, in
 * whatever task they run. Its own time is its CPU time without drains, and its waits for
 * swap. Above the target, the device is told to log fewer of its pages, by a power of two.
 * Where such a sample would say too little, the context rests, and logs in bursts
 * (design.rst, "Hardware"):
 *
 *	drain           the budget of an epoch is used up: sample the rest of the log more
 *	                coarsely, or skip it; kick epoch() early
 *	epoch(), early  too expensive: make the sample coarser, or rest
 *	epoch()         the same; after three cheap epochs, make the sample finer
 *	begin()         log again, if the rest has paid for the cost
 *
 * Locks: a drain checks the cost under drain_lock. All else runs under ctx->alive, or in
 * attach(), and takes drain_lock to write what drains read.
 */
#include <linux/bitops.h>
#include <linux/math64.h>
#include <linux/sched/clock.h>
#include "vpath.h"

#define VPATH_MAJOR_NS	(100 * NSEC_PER_USEC)
#define VPATH_LEAST_SAMPLE	64	/* pages; a smaller sample says little */
#define VPATH_GOOD_SAMPLE	128	/* pages; a larger sample says hardly more */
#define VPATH_LOOK_EPOCHS	3	/* within the target, before the sample becomes finer */
#define VPATH_MANY_RECORDS	1024	/* in these epochs, to measure the cost of one */
#define VPATH_CURVE_PART	2	/* without a policy, use 1/2 of the target */

static struct vpath_time vpath_now(struct mm_struct *mm)
{
	return (struct vpath_time){
		.cpu_ns = mmpath_cpu_ns(mm),
		.wall_ns = local_clock(),
		.major = mmpath_major_faults(mm),
	};
}

/*
 * Time that the program waited for swap: VPATH_MAJOR_NS for each major fault, which is the time
 * of a fast disk, but at most the time in which the program did not run.
 */
static u64 vpath_wait_ns(const struct vpath_time *seen, const struct vpath_time *now)
{
	u64 cpu_ns = now->cpu_ns - seen->cpu_ns, wall_ns = now->wall_ns - seen->wall_ns;

	if (now->major <= seen->major || wall_ns <= cpu_ns)
		return 0;
	return min(wall_ns - cpu_ns, (now->major - seen->major) * VPATH_MAJOR_NS);
}

/*
 * The program's own time since the last account; at least 1. A program that has gone reads as
 * CPU time 0.
 */
static u64 vpath_own_ns(const struct vpath_ctx *v, const struct vpath_time *now)
{
	u64 cpu_ns = v->seen.cpu_ns + READ_ONCE(v->inside_ns) - v->inside_seen;

	if (now->cpu_ns <= cpu_ns)
		return 1;
	return now->cpu_ns - cpu_ns + vpath_wait_ns(&v->seen, now);
}

/* Time that drains have taken for the context since the last account. */
static u64 vpath_hook_ns(const struct mmpath_drv_ctx *ctx)
{
	const struct vpath_ctx *v = ctx->drv_data;

	return atomic64_read(&ctx->hook_ns) - v->hook_seen;
}

static unsigned int vpath_cost_permille(const struct mmpath_drv_ctx *ctx,
					const struct vpath_time *now)
{
	return mmpath_permille(vpath_hook_ns(ctx), vpath_own_ns(ctx->drv_data, now));
}

/* What an epoch may cost a program that runs all the time. */
static u64 vpath_allowed_ns(void)
{
	return vpath_param(VPATH_PARAM_OVERHEAD_TARGET) * READ_ONCE(mmpath_config.epoch_ms) *
	       (NSEC_PER_MSEC / 100);
}

/*
 * Cost of the context beyond @permille of its own time: @before_ns up to the last account, and
 * what has come since. At least 0.
 */
static s64 vpath_beyond_ns(const struct mmpath_drv_ctx *ctx, const struct vpath_time *now,
			   s64 before_ns, unsigned long permille)
{
	u64 own_ns = vpath_own_ns(ctx->drv_data, now);

	if (!permille)
		return 0;
	before_ns += vpath_hook_ns(ctx) - div_u64(own_ns * permille, 1000);
	return max(before_ns, 0LL);
}

static s64 vpath_debt_ns(const struct mmpath_drv_ctx *ctx, const struct vpath_time *now)
{
	const struct vpath_ctx *v = ctx->drv_data;

	return vpath_beyond_ns(ctx, now, v->debt_ns,
			       vpath_param(VPATH_PARAM_OVERHEAD_TARGET) * 10);
}

/*
 * The share of the target that a context may use in the long run, in permille of its own time. A
 * curve alone is not worth all of the target. Of the cost beyond the share no more is remembered
 * than what two epochs may cost. Otherwise a context would rest for long after an expensive
 * set-up of its program. Cost beyond the target has no such limit.
 */
static unsigned int vpath_share(const struct mmpath_drv_ctx *ctx)
{
	unsigned int target = vpath_param(VPATH_PARAM_OVERHEAD_TARGET) * 10;

	return mmpath_has_policy(ctx) ? target : target / VPATH_CURVE_PART;
}

static s64 vpath_excess_ns(const struct mmpath_drv_ctx *ctx, const struct vpath_time *now)
{
	const struct vpath_ctx *v = ctx->drv_data;

	return min(vpath_beyond_ns(ctx, now, v->excess_ns, vpath_share(ctx)),
		   (s64)vpath_allowed_ns() * 2);
}

/* The greatest shift at which a sample of @pages says enough; @shift if that is greater. */
static unsigned int vpath_coarsest(unsigned long pages, unsigned int shift)
{
	unsigned int most = max(fls_long(pages / VPATH_LEAST_SAMPLE), shift + 1U) - 1;

	return min(most, MMPATH_MAX_SHIFT);
}

/*
 * Make the sample coarser in the middle of a drain. The log may hold much more, and the worker
 * that was kicked to lower the cost waits for this drain. Sampling the rest is better than
 * skipping it: the order of skipped pages is lost, and in a set-up these may be nearly all
 * pages. Skip the rest only if the sample can become no coarser.
 */
static void vpath_thin(struct mmpath_drv_ctx *ctx, unsigned int times)
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
 * mmpath_vpath_check_cost() - lower the cost of a context early if the epoch is too expensive
 * @ctx: context that has just been charged for a drain
 *
 * Does nothing before half of what an epoch may cost is used up: the behaviour of a program over
 * a few milliseconds says little about the epoch.
 * Context: under drain_lock.
 */
void mmpath_vpath_check_cost(struct mmpath_drv_ctx *ctx)
{
	unsigned int target = vpath_param(VPATH_PARAM_OVERHEAD_TARGET) * 10, permille;
	struct vpath_ctx *v = ctx->drv_data;
	u64 enough_ns = vpath_allowed_ns() / 2;
	struct vpath_time now;

	/* dropping records outside of the sample costs a little, too: allow two epochs' worth */
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
 * Account cost and own time since the last account. drain_lock keeps drains from adding to them
 * or reading them meanwhile. Returns whether a drain has made the sample coarser since.
 */
static bool vpath_account(struct mmpath_drv_ctx *ctx, const struct vpath_time *now)
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

/* Measure the cost of the sample from here on. */
static void vpath_look_anew(const struct mmpath_drv_ctx *ctx)
{
	struct vpath_ctx *v = ctx->drv_data;

	v->epochs = 0;
	v->own_then = ctx->own_ns;
	v->cost_then = ctx->cost_ns;
	v->records_then = atomic_long_read(&ctx->stat[MMPATH_RECORDS]);
}

static void vpath_set_resting(struct mmpath_drv_ctx *ctx, bool resting)
{
	vpath_look_anew(ctx);
	WRITE_ONCE(ctx->resting, resting);
	mmpath_vpath_tell_cpus();
}

/*
 * The sample can become no coarser. If the excess is near what an epoch may cost, end the burst,
 * and let the context rest until its own time has made up for the cost.
 */
static void vpath_rest(struct mmpath_drv_ctx *ctx)
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
 * mmpath_vpath_begin() - let a context log again when its rest is over
 * @ctx: the context
 * @mm: its mm
 *
 * The driver's begin(). Context: under ctx->alive; may sleep.
 */
void mmpath_vpath_begin(struct mmpath_drv_ctx *ctx, struct mm_struct *mm)
{
	struct vpath_ctx *v = ctx->drv_data;

	if (!v->awake)
		return;
	v->awake = false;
	vpath_set_resting(ctx, false);
}

/* Tell the CPUs a new shift. Account what was logged before to the old one. */
static void vpath_tell_shift(struct mmpath_drv_ctx *ctx, struct mm_struct *mm)
{
	struct vpath_time now;

	mmpath_vpath_tell_cpus();
	mmpath_vpath_drain();
	now = vpath_now(mm);
	vpath_account(ctx, &now);
	vpath_look_anew(ctx);
}

static void vpath_set_shift(struct mmpath_drv_ctx *ctx, struct mm_struct *mm, unsigned int shift)
{
	mmpath_set_shift(ctx, shift);
	vpath_tell_shift(ctx, mm);
}

/*
 * The slack for a sample of @pages: the cost to aim at is the target >> slack. A policy that
 * chooses pages uses the whole target; one that leaves the choice to the kernel, half of it. A
 * curve uses half of it for a small sample, and a quarter for a good one, because more pages
 * hardly make it better.
 */
static unsigned int vpath_slack(const struct mmpath_drv_ctx *ctx, unsigned long pages)
{
	if (!mmpath_has_policy(ctx))
		return pages >= VPATH_GOOD_SAMPLE ? 2 : 1;
	return mmpath_policy_acts(ctx) ? 0 : 1;
}

/* The shift that brings a sample of @pages, which costs @times the target at @shift, below it. */
static unsigned int vpath_coarser(const struct mmpath_drv_ctx *ctx, unsigned long pages,
				  unsigned int shift, unsigned int times)
{
	unsigned int more = shift + fls(times);

	more += vpath_slack(ctx, pages >> more >> 2);
	return min(more, vpath_coarsest(pages, shift));
}

/*
 * By how many powers of two, up to @most, the sample may become finer and still cost at most
 * @may_ns. Now @records have cost @cost_ns. Only the part of the cost that is due to records
 * grows. The cost of one record is measured when there are many; what remains is the fixed cost
 * of the epochs.
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
 * The shift to use after some epochs within the target. Choose the finest sample that is expected
 * to cost less than what is aimed at. For a curve alone choose a coarser one, if the cost is above
 * that and the coarser sample still says enough. The choice depends on the cost alone, and
 * not on the samples before, except for a hysteresis of a tenth that keeps it from going back and
 * forth.
 */
static unsigned int vpath_better_shift(struct mmpath_drv_ctx *ctx, unsigned long pages,
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
	if (!mmpath_has_policy(ctx) && shift < MMPATH_MAX_SHIFT &&
	    pages >= VPATH_LEAST_SAMPLE && cost_ns > target_ns >> vpath_slack(ctx, pages))
		return shift + 1;
	return shift;
}

/*
 * Keep the cost below the target. Make the sample coarser at once, by as much as it takes. Make
 * it finer only after some cheap epochs, because that forgets the order of the pages. Log in
 * bursts where a coarser sample would say too little.
 */
static void vpath_hold_target(struct mmpath_drv_ctx *ctx, struct mm_struct *mm,
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

/* The rest of the log has been skipped: let the next burst begin. */
static void vpath_unchoke(struct mmpath_drv_ctx *ctx)
{
	struct vpath_ctx *v = ctx->drv_data;

	if (!ctx->resting)
		mmpath_end_burst(ctx);
	WRITE_ONCE(v->choked, false);
}

static void vpath_control_cost(struct mmpath_drv_ctx *ctx, struct mm_struct *mm, bool early)
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

static void vpath_end_epoch(struct mmpath_drv_ctx *ctx)
{
	struct vpath_ctx *v = ctx->drv_data;

	if (!v->rested)
		WRITE_ONCE(ctx->blind, false);
	v->rested = ctx->resting;
	v->awake = ctx->resting && !v->excess_ns && !v->debt_ns;
}

/**
 * mmpath_vpath_epoch() - account the cost of a context, and keep it below the target
 * @ctx: the context
 * @mm: its mm
 * @early: the epoch has not ended: a drain found it too expensive
 *
 * The driver's epoch(). Context: under mmpath_mutex and ctx->alive; may sleep; drains.
 */
void mmpath_vpath_epoch(struct mmpath_drv_ctx *ctx, struct mm_struct *mm, bool early)
{
	vpath_control_cost(ctx, mm, early);
	if (early)
		return;
	mmpath_vpath_tell_cpus();
	vpath_end_epoch(ctx);
}

/**
 * mmpath_vpath_begin_cost() - count the cost of a new context from here on
 * @ctx: the context, with its drv_data
 *
 * Context: no record has its number yet.
 */
void mmpath_vpath_begin_cost(struct mmpath_drv_ctx *ctx)
{
	struct vpath_ctx *v = ctx->drv_data;

	v->seen = vpath_now(ctx->mm);
	v->hook_seen = atomic64_read(&ctx->hook_ns);
}

/**
 * mmpath_vpath_end_cost() - account the cost of a context for the last time
 * @ctx: the context; its program may have gone
 *
 * Context: may sleep; no record has its number any more.
 */
void mmpath_vpath_end_cost(struct mmpath_drv_ctx *ctx)
{
	struct vpath_time now = vpath_now(ctx->mm);

	vpath_account(ctx, &now);
}

#ifdef CONFIG_MMPATH_KUNIT_TEST
#include "tests/vpath-cost-kunit.h"
#endif
