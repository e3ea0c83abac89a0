// SPDX-License-Identifier: GPL-2.0
/*
 * Epochs. At the end of each the worker closes the curves, has the driver control its cost, and
 * now and then looks for programs to track. Other code may ask for parts of that in between.
 *
 * Locks and lifetimes: see core.h.
 */
#include <linux/mmu_notifier.h>
#include <linux/sched/cputime.h>
#include <linux/sched/mm.h>
#include <linux/sched/task.h>
#include <linux/workqueue.h>
#include "core.h"

#include <trace/events/mmpath.h>

#define MMPATH_SYNC_EPOCHS	16	/* no hook tells of an owner that changed */

static void mmpath_epoch_fn(struct work_struct *work);
static void mmpath_kick_fn(struct work_struct *work);
static void mmpath_sync_fn(struct work_struct *work);
static DECLARE_DELAYED_WORK(mmpath_epoch_work, mmpath_epoch_fn);
static DECLARE_WORK(mmpath_kick_work, mmpath_kick_fn);
static DECLARE_WORK(mmpath_sync_work, mmpath_sync_fn);
static void (*mmpath_sync)(void);
static bool mmpath_sync_failed;
static void (*mmpath_epoch)(void);

/**
 * mmpath_saw() - tell how much of a part of the epoch was seen
 * @d: of this context
 * @all_ns: time in which the program ran
 * @part_ns: the part of it in which the driver saw all accesses
 *
 * Context: may sleep; takes ctx->lock.
 */
void mmpath_saw(struct mmpath_drv_ctx *d, u64 all_ns, u64 part_ns)
{
	const struct mmpath_seen seen = { .all = all_ns, .part = part_ns };
	struct mmpath_ctx *ctx = to_mmpath_ctx(d);

	mutex_lock(&ctx->lock);
	mmpath_seen_add(&ctx->seen, &seen);
	mutex_unlock(&ctx->lock);
}

/**
 * mmpath_take_accesses() - add what the driver has counted to what was seen of the epoch
 * @ctx: the context; the records of these accesses are still to be drained
 *
 * Context: ctx->lock is held.
 */
void mmpath_take_accesses(struct mmpath_ctx *ctx)
{
	struct mmpath_seen seen = { .all = atomic64_xchg(&ctx->d.accesses, 0) };

	lockdep_assert_held(&ctx->lock);
	if (xchg(&ctx->d.unseen, 0))
		seen.as = MMPATH_SEEN_ACCESSES;
	mmpath_seen_add(&ctx->seen, &seen);
}

/**
 * mmpath_end_burst() - close a burst, for the driver stops logging for a while
 * @d: of this context; what it logs after the pause is a new burst
 *
 * Context: may sleep; takes ctx->lock.
 */
void mmpath_end_burst(struct mmpath_drv_ctx *d)
{
	struct mmpath_ctx *ctx = to_mmpath_ctx(d);
	int i;

	mutex_lock(&ctx->lock);
	__mmpath_drain(ctx, true);
	mmpath_regions_end_burst(&ctx->regions);
	for (i = 0; i < ctx->nr_domains; i++)
		mmpath_domain_end_burst(ctx->domains[i], ctx);
	mutex_unlock(&ctx->lock);
}

/* Add what the worker's CPU time was less than @since to what it has spent on a program. */
static void mmpath_worked(struct mmpath_ctx *ctx, u64 since)
{
	atomic64_add(task_sched_runtime(current) - since, &ctx->d.worker_ns);
}

/*
 * Return the driver of @ctx, with mmpath_mutex and ctx->alive held, or NULL. Until ctx->alive is
 * dropped the driver is not detached, and the page tables stay.
 */
VISIBLE_IF_KUNIT const struct mmpath_driver *mmpath_get_driver(struct mmpath_ctx *ctx)
{
	mmpath_lock_alive(ctx);
	/* without users it is about to go */
	if (ctx->drv && !mmpath_ctx_gone(ctx) && atomic_read(&ctx->d.mm->mm_users))
		return ctx->drv;
	mutex_unlock(&ctx->alive);
	mutex_unlock(&mmpath_mutex);
	return NULL;
}

/* May take long, because programs are large. */
static void mmpath_scan(const struct mmpath_driver *drv, struct mmpath_ctx *ctx)
{
	lockdep_assert_held(&ctx->alive);
	lockdep_assert_not_held(&mmpath_mutex);
	if (drv->scan)
		drv->scan(&ctx->d, ctx->d.mm);
}

/* Have the driver control its cost, at the end of an epoch or @early. */
VISIBLE_IF_KUNIT void mmpath_control(struct mmpath_ctx *ctx, bool early)
{
	const struct mmpath_driver *drv;

	/* also without a driver: the next one wants its kicks */
	WRITE_ONCE(ctx->kicked, false);
	drv = mmpath_get_driver(ctx);
	if (!drv)
		return;
	if (drv->epoch)
		drv->epoch(&ctx->d, ctx->d.mm, early);
	mutex_unlock(&mmpath_mutex);
	if (early)
		mmpath_scan(drv, ctx);
	mutex_unlock(&ctx->alive);
}

VISIBLE_IF_KUNIT void mmpath_begin_epoch(struct mmpath_ctx *ctx)
{
	const struct mmpath_driver *drv = mmpath_get_driver(ctx);
	u64 since = task_sched_runtime(current);

	if (!drv)
		return;
	mutex_unlock(&mmpath_mutex);
	if (drv->begin)
		drv->begin(&ctx->d, ctx->d.mm);
	mmpath_scan(drv, ctx);
	mutex_unlock(&ctx->alive);
	mmpath_worked(ctx, since);
}

/* Records by the time that the epoch really took, which is longer if the worker is late. */
VISIBLE_IF_KUNIT void mmpath_measure_rate(struct mmpath_ctx *ctx)
{
	unsigned long records = atomic_long_read(&ctx->d.stat[MMPATH_RECORDS]);
	u64 now = ktime_get_ns();

	ctx->records_per_sec = div64_u64((records - ctx->epoch_records) * (u64)NSEC_PER_SEC,
					 max(now - ctx->epoch_began, 1ULL));
	ctx->epoch_records = records;
	ctx->epoch_began = now;
}

/**
 * mmpath_wake() - have the epochs of a context closed from now on
 * @ctx: the context, which is in the table
 *
 * Context: ctx->alive is held, or it is the worker's.
 */
void mmpath_wake(struct mmpath_ctx *ctx)
{
	if (!ctx->idle_epochs)
		return;
	ctx->idle_epochs = 0;
	xa_set_mark(&mmpath_ctxs, ctx->id, MMPATH_AWAKE);
}

/*
 * Most programs sleep. What one has done before is in its windows for MMPATH_WINDOW_EPOCHS;
 * then there is nothing left to be done at the end of an epoch, until something comes.
 */
static bool mmpath_sleeps(struct mmpath_ctx *ctx)
{
	if (!mmpath_is_idle(ctx->d.mm, ctx->epoch_cpu_ns) || READ_ONCE(ctx->kicked) ||
	    READ_ONCE(ctx->log_head) != READ_ONCE(ctx->log_tail) ||
	    atomic_long_read(&ctx->d.stat[MMPATH_RECORDS]) != ctx->epoch_records) {
		ctx->epoch_cpu_ns = mmpath_cpu_ns(ctx->d.mm);
		mmpath_wake(ctx);
	}
	if (ctx->idle_epochs > MMPATH_WINDOW_EPOCHS)
		return true;
	if (++ctx->idle_epochs > MMPATH_WINDOW_EPOCHS)
		xa_clear_mark(&mmpath_ctxs, ctx->id, MMPATH_AWAKE);
	return ctx->idle_epochs > MMPATH_WINDOW_EPOCHS;
}

static void __mmpath_close_epoch(struct mmpath_ctx *ctx)
{
	u64 cost_ns = ctx->d.cost_ns, own_ns = ctx->d.own_ns;
	int i;

	mmpath_control(ctx, false);
	WRITE_ONCE(ctx->epoch_cost_ns, ctx->d.cost_ns - cost_ns);
	WRITE_ONCE(ctx->epoch_own_ns, ctx->d.own_ns - own_ns);
	WRITE_ONCE(ctx->epochs, min(ctx->epochs + 1, MMPATH_SETTLING_EPOCHS));
	mutex_lock(&ctx->lock);
	/* first: what is counted later is logged later, and belongs to the next epoch */
	mmpath_take_accesses(ctx);
	mutex_unlock(&ctx->lock);
	mmpath_drain_driver(ctx);
	mutex_lock(&ctx->lock);
	/* what its last burst stands for is counted as it leaves */
	if (mmpath_ctx_gone(ctx)) {
		mutex_unlock(&ctx->lock);
		return;
	}
	__mmpath_drain(ctx, true);
	mmpath_coarsen_curves(ctx);
	mmpath_seen_add(&ctx->regions.seen, &ctx->seen);
	mmpath_regions_close_epoch(&ctx->regions);
	for (i = 0; i < ctx->nr_domains; i++) {
		mmpath_domain_saw(ctx->domains[i], ctx);
		mmpath_domain_close_regions(ctx->domains[i], ctx);
	}
	ctx->seen = (struct mmpath_seen){ };
	mutex_unlock(&ctx->lock);
	mmpath_measure_rate(ctx);
	trace_mmpath_epoch(ctx->id, ctx->pid, ctx->records_per_sec,
			   mmpath_permille(ctx->epoch_cost_ns, ctx->epoch_own_ns), ctx->d.shift);
}

VISIBLE_IF_KUNIT void mmpath_close_epoch(struct mmpath_ctx *ctx)
{
	u64 since;

	if (mmpath_sleeps(ctx)) {
		ctx->epoch_began = ktime_get_ns();
		return;
	}
	since = task_sched_runtime(current);
	__mmpath_close_epoch(ctx);
	mmpath_worked(ctx, since);
}

static void mmpath_close_domains(void)
{
	struct mmpath_domain *dom;

	mutex_lock(&mmpath_mutex);
	list_for_each_entry(dom, &mmpath_domains, node)
		mmpath_domain_close_epoch(dom);
	mutex_unlock(&mmpath_mutex);
}

VISIBLE_IF_KUNIT void mmpath_refuse_ctx(struct mmpath_ctx *ctx)
{
	LIST_HEAD(list);

	mutex_lock(&mmpath_track_mutex);
	mutex_lock(&mmpath_mutex);
	mmpath_unpublish(ctx, &list);
	mutex_unlock(&mmpath_mutex);
	if (!list_empty(&list))
		mmpath_count(&ctx->d, MMPATH_ATTACH_FAILED, 1);
	mmpath_detach_list(&list);
	mutex_unlock(&mmpath_track_mutex);
}

static void mmpath_epoch_fn(struct work_struct *work)
{
	static unsigned int epochs;
	unsigned int ms = READ_ONCE(mmpath_config.epoch_ms);
	struct mmpath_ctx *ctx;
	unsigned long id;

	if (!mmpath_on())
		return;
	if (xchg(&mmpath_sync_failed, false) || ++epochs % MMPATH_SYNC_EPOCHS == 0)
		mmpath_sync_fn(NULL);
	mmpath_for_each_ctx(ctx, id) {
		/* secondary MMUs use its pages now, and we do not see their accesses */
		if (mm_has_notifiers(ctx->d.mm))
			mmpath_refuse_ctx(ctx);
		else
			mmpath_close_epoch(ctx);
	}
	mmpath_close_domains();
	mmpath_for_each_marked(ctx, id, &mmpath_ctxs, MMPATH_AWAKE)
		mmpath_begin_epoch(ctx);
	if (mmpath_epoch)
		mmpath_epoch();
	queue_delayed_work(system_unbound_wq, &mmpath_epoch_work, msecs_to_jiffies(ms));
}

static void mmpath_first_scan(struct mmpath_ctx *ctx)
{
	const struct mmpath_driver *drv = mmpath_get_driver(ctx);

	if (!drv)
		return;
	mutex_unlock(&mmpath_mutex);
	mmpath_scan(drv, ctx);
	mutex_unlock(&ctx->alive);
}

static void mmpath_kick_fn(struct work_struct *work)
{
	struct mmpath_ctx *ctx;
	unsigned long id;
	u64 since;

	mmpath_for_each_marked(ctx, id, &mmpath_ctxs, MMPATH_ASKED) {
		/* first: it may be asked for more meanwhile */
		xa_clear_mark(&mmpath_ctxs, ctx->id, MMPATH_ASKED);
		since = task_sched_runtime(current);
		if (xchg(&ctx->attached, false))
			mmpath_first_scan(ctx);
		if (READ_ONCE(ctx->kicked))
			mmpath_control(ctx, true);
		if (xchg(&ctx->behind, false)) {
			mutex_lock(&ctx->lock);
			__mmpath_drain(ctx, true);
			mutex_unlock(&ctx->lock);
		}
		mmpath_worked(ctx, since);
	}
}

/* Have the worker look at @ctx, in which the caller has noted what is asked for. */
static void mmpath_ask(struct mmpath_ctx *ctx)
{
	xa_set_mark(&mmpath_ctxs, ctx->id, MMPATH_ASKED);
	queue_work(system_unbound_wq, &mmpath_kick_work);
}

/**
 * mmpath_drain_soon() - have the log drained by the worker
 * @ctx: of this context
 *
 * Context: any but interrupts.
 */
void mmpath_drain_soon(struct mmpath_ctx *ctx)
{
	WRITE_ONCE(ctx->behind, true);
	mmpath_ask(ctx);
}

/**
 * mmpath_scan_soon() - have a program scanned that was running when it got its driver
 * @ctx: its context
 *
 * Context: any but interrupts.
 */
void mmpath_scan_soon(struct mmpath_ctx *ctx)
{
	WRITE_ONCE(ctx->attached, true);
	mmpath_ask(ctx);
}

/**
 * mmpath_kick() - have the driver's epoch() and scan() called soon
 * @d: for this context
 *
 * Context: any but interrupts.
 */
void mmpath_kick(struct mmpath_drv_ctx *d)
{
	struct mmpath_ctx *ctx = to_mmpath_ctx(d);

	if (READ_ONCE(ctx->kicked))
		return;
	WRITE_ONCE(ctx->kicked, true);
	mmpath_ask(ctx);
}

/**
 * mmpath_finish_scans() - wait for the first scans of programs that were running
 *
 * For callers that tell a user that a program is tracked from now on. Context: may sleep;
 * without locks.
 */
void mmpath_finish_scans(void)
{
	lockdep_assert_not_held(&mmpath_mutex);
	flush_work(&mmpath_kick_work);
}

static void mmpath_sync_fn(struct work_struct *work)
{
	if (mmpath_sync)
		mmpath_sync();
}

/**
 * mmpath_sync_again() - have what is tracked looked at when the epoch ends
 *
 * For what could not be done now: a program kept its mmap_lock, or there was no memory.
 * Context: any.
 */
void mmpath_sync_again(void)
{
	WRITE_ONCE(mmpath_sync_failed, true);
}

/**
 * mmpath_on_sync() - set what decides which programs are tracked
 * @fn: called in process context when tracking is enabled, on mmpath_request_sync(), at the
 *	end of an epoch on mmpath_sync_again(), and now and then, to call mmpath_track() and
 *	mmpath_untrack()
 *
 * Context: at boot, before anything can be tracked.
 */
void mmpath_on_sync(void (*fn)(void))
{
	mmpath_sync = fn;
}

/**
 * mmpath_on_epoch() - set what is called when curves have changed
 * @fn: called in process context at the end of each epoch, without locks
 *
 * Context: at boot, before anything can be tracked.
 */
void mmpath_on_epoch(void (*fn)(void))
{
	mmpath_epoch = fn;
}

/**
 * mmpath_request_sync() - have what is tracked looked at soon
 *
 * Context: any.
 */
void mmpath_request_sync(void)
{
	queue_work(system_unbound_wq, &mmpath_sync_work);
}

/**
 * mmpath_finish_sync() - wait for the sync that was requested last
 *
 * Context: may sleep; without locks.
 */
void mmpath_finish_sync(void)
{
	flush_work(&mmpath_sync_work);
}

/**
 * mmpath_queue_epoch() - begin a new epoch now
 *
 * Context: any.
 */
void mmpath_queue_epoch(void)
{
	mod_delayed_work(system_unbound_wq, &mmpath_epoch_work,
			 msecs_to_jiffies(READ_ONCE(mmpath_config.epoch_ms)));
}

/**
 * mmpath_set_epoch_ms() - set the length of an epoch
 * @ms: milliseconds; the epoch that runs now ends that long from now
 *
 * Context: may sleep; takes mmpath_mutex.
 */
void mmpath_set_epoch_ms(unsigned int ms)
{
	mutex_lock(&mmpath_mutex);
	WRITE_ONCE(mmpath_config.epoch_ms, ms);
	if (mmpath_on())
		mmpath_queue_epoch();
	mutex_unlock(&mmpath_mutex);
}
