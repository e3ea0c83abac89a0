// SPDX-License-Identifier: GPL-2.0
/*
 * The way of a record.
 *
 * The driver in use logs page accesses into the context's log; a drain feeds
 * them, in order, to the models: the region's LRU stack and curve, and the merged
 * stack and curve of every domain.
 *
 *	touch -> driver -> mmpath_log() -> drain -> region -> stack -> curve
 *	                                         -> domain -> stack -> curve
 *	   hardware's log -> mmpath_feed_batch() -> the same
 *
 * The log is one per context and not per CPU: a stack wants the order of
 * accesses, and threads of one program move between CPUs. Hardware has a log in
 * each CPU; its driver merges them.
 *
 * Locks and lifetimes are in core.h.
 */
#include <linux/mm.h>
#include <linux/sched.h>
#include "core.h"

#include <trace/events/mmpath.h>

#define MMPATH_DRAIN_MOST	128U	/* pages that a fault feeds to the models */

/* The log */

/**
 * mmpath_log() - log a page access
 * @d: of this context
 * @record: see mmpath_record()
 *
 * Called by drivers in the order of the accesses. When the log is full the
 * record is dropped and counted.
 * Context: any but interrupts; takes ctx->log_lock.
 */
void mmpath_log(struct mmpath_drv_ctx *d, unsigned long record)
{
	unsigned int pages = max(1U << mmpath_record_order(record) >> READ_ONCE(d->shift), 1U);
	struct mmpath_ctx *ctx = to_mmpath_ctx(d);
	bool full;

	spin_lock(&ctx->log_lock);
	/* pairs with the drain: the slot has been read */
	full = ctx->log_head - smp_load_acquire(&ctx->log_tail) >= ctx->log_size;
	if (!full) {
		ctx->log[ctx->log_head & (ctx->log_size - 1)] = record;
		WRITE_ONCE(ctx->log_pages, ctx->log_pages + pages);
		WRITE_ONCE(ctx->log_head, ctx->log_head + 1);
	} else {
		WRITE_ONCE(ctx->log_full, ctx->log_full + 1);
	}
	spin_unlock(&ctx->log_lock);
	if (full) {
		this_cpu_inc(mmpath_stats[MMPATH_DROPPED_LOG_FULL]);
		trace_mmpath_drop(ctx->id, ctx->pid, "log full");
	}
}

/**
 * mmpath_dropped() - count a record that a model has found no memory for
 * @ctx: the context
 * @why: names the model, for the tracepoint
 *
 * The record is dropped, and the model goes on. The curves of the epoch are scaled, so that they
 * stand for this record as for all others that were not seen.
 */
void mmpath_dropped(struct mmpath_ctx *ctx, const char *why)
{
	mmpath_count(&ctx->d, MMPATH_DROPPED_NOMEM, 1);
	trace_mmpath_drop(ctx->id, ctx->pid, why);
}

/*
 * Add the records that did not fit to the statistics. Faults count them in the log, whose lock
 * they have: threads that fault at once share no other cache line for that.
 */
static void mmpath_tell_log_full(struct mmpath_ctx *ctx)
{
	unsigned int full = READ_ONCE(ctx->log_full);

	lockdep_assert_held(&ctx->lock);
	if (full == ctx->log_full_told)
		return;
	atomic_long_add(full - ctx->log_full_told, &ctx->d.stat[MMPATH_DROPPED_LOG_FULL]);
	ctx->log_full_told = full;
}

/* In pages: the work must not pile up either, behind a few huge ones. */
static bool mmpath_log_half_full(const struct mmpath_ctx *ctx)
{
	return READ_ONCE(ctx->log_pages) >= ctx->log_size / 2;
}

/* One page of a record: its region, then every merged stack. */
static void mmpath_feed_page(struct mmpath_ctx *ctx, struct mmpath_region *region, u64 page,
			     u64 rank, bool again)
{
	int i;

	WRITE_ONCE(ctx->d.fed, ctx->d.fed + 1);
	if (unlikely(mmpath_region_touch(&ctx->regions, region, page, rank, again)))
		mmpath_dropped(ctx, "region out of memory");
	for (i = 0; i < ctx->nr_domains; i++)
		mmpath_domain_touch(ctx->domains[i], ctx, page, rank, region, again);
}

static void mmpath_record_in_domains(struct mmpath_ctx *ctx, unsigned long record)
{
	int i;

	for (i = 0; i < ctx->nr_domains; i++)
		if (READ_ONCE(ctx->domains[i]->recorder))
			mmpath_domain_log(ctx->domains[i], ctx, record);
}

/*
 * A record of a huge page stands for all its pages, of which we sample. Feed up to @most of them,
 * from ctx->log_part on, and set that to where to go on. Return how many were fed.
 */
static unsigned int mmpath_feed_huge(struct mmpath_ctx *ctx, unsigned long record,
				     unsigned int most)
{
	u64 first = record >> PAGE_SHIFT, from = first + ctx->log_part, page, block;
	u64 last = first + (1UL << mmpath_record_order(record)) - 1;
	unsigned int shift = ctx->d.shift, fed = 0;

	for (block = from >> shift; block <= last >> shift && fed < most; block++) {
		page = mmpath_sample_of_block(block, shift);
		if (page < from || page > last)
			continue;
		mmpath_feed_page(ctx, mmpath_regions_find(&ctx->regions, page), page,
				 mmpath_rank(page), record & MMPATH_RECORD_AGAIN);
		fed++;
	}
	ctx->log_part = block << shift > last ? 0 : (block << shift) - first;
	return fed;
}

/* Feed up to @most pages of a record. If ctx->log_part is set then, there are more. */
static unsigned int mmpath_feed(struct mmpath_ctx *ctx, unsigned long record, unsigned int most)
{
	u64 page = record >> PAGE_SHIFT, rank = mmpath_rank(page);

	if (!ctx->log_part)
		mmpath_record_in_domains(ctx, record);
	if (mmpath_record_order(record))
		return mmpath_feed_huge(ctx, record, most);
	if (mmpath_rank_sampled(rank, ctx->d.shift))
		mmpath_feed_page(ctx, mmpath_regions_find(&ctx->regions, page), page, rank,
				 record & MMPATH_RECORD_AGAIN);
	return 1;
}

/* The next records' places in the stacks are loaded side by side. */
static void mmpath_look_ahead(struct mmpath_ctx *ctx, unsigned int tail, unsigned int head)
{
	u64 page[MMPATH_PREFETCH];
	unsigned int nr;
	int i;

	for (nr = 0; nr < MMPATH_PREFETCH && tail != head; tail++)
		page[nr++] = ctx->log[tail & (ctx->log_size - 1)] >> PAGE_SHIFT;
	mmpath_regions_prefetch(&ctx->regions, page, nr);
	for (i = 0; i < ctx->nr_domains; i++)
		mmpath_domain_prefetch(ctx->domains[i], ctx, page, nr);
}

static bool mmpath_lock_domains(struct mmpath_ctx *ctx, bool wait)
{
	int i;

	for (i = 0; i < ctx->nr_domains; i++) {
		if (wait)
			mutex_lock_nested(&ctx->domains[i]->lock, i);
		else if (!mutex_trylock(&ctx->domains[i]->lock))
			break;
	}
	if (i == ctx->nr_domains)
		return true;
	while (i--)
		mutex_unlock(&ctx->domains[i]->lock);
	return false;
}

static void mmpath_unlock_domains(struct mmpath_ctx *ctx)
{
	int i;

	for (i = ctx->nr_domains; i--; ) {
		mutex_unlock(&ctx->domains[i]->lock);
		mmpath_domain_wake(ctx->domains[i]);
	}
}

/* A fault does not wait until the sample of a large stack is halved: that is the worker's. */
static void mmpath_set_hurry(struct mmpath_ctx *ctx, bool hurry)
{
	int i;

	ctx->mem.hurry = hurry;
	ctx->mem.put_off = false;
	for (i = 0; i < ctx->nr_domains; i++) {
		ctx->domains[i]->mem.hurry = hurry;
		ctx->domains[i]->mem.put_off = false;
	}
}

static bool mmpath_has_put_off(const struct mmpath_ctx *ctx)
{
	bool put_off = ctx->mem.put_off;
	int i;

	for (i = 0; i < ctx->nr_domains; i++)
		put_off |= ctx->domains[i]->mem.put_off;
	return put_off;
}

/**
 * __mmpath_drain() - bring the models up to date, with ctx->lock held
 * @ctx: of this context
 * @wait: may take long. If not, records stay in the log when the lock of a domain is taken, after
 *	MMPATH_DRAIN_MOST pages, and when a large stack has reached its limit; the worker drains
 *	them then.
 */
void __mmpath_drain(struct mmpath_ctx *ctx, bool wait)
{
	unsigned int most = wait ? UINT_MAX : MMPATH_DRAIN_MOST, pages, fed = 0;
	unsigned int head, tail = ctx->log_tail, first = tail;
	bool put_off;

	lockdep_assert_held(&ctx->lock);
	mmpath_find_pid(ctx);
	mmpath_tell_log_full(ctx);
	if (READ_ONCE(ctx->log_head) == tail || !mmpath_lock_domains(ctx, wait))
		return;
	spin_lock(&ctx->log_lock);
	head = ctx->log_head;
	pages = ctx->log_pages;
	WRITE_ONCE(ctx->log_pages, 0);
	spin_unlock(&ctx->log_lock);
	mmpath_set_hurry(ctx, !wait);
	while (tail != head && fed < most && !mmpath_has_put_off(ctx)) {
		if ((head - tail) % MMPATH_PREFETCH == 0)
			mmpath_look_ahead(ctx, tail, head);
		fed += mmpath_feed(ctx, ctx->log[tail & (ctx->log_size - 1)], most - fed);
		if (ctx->log_part)
			break;
		/* pairs with mmpath_log(): the slot may be written again */
		smp_store_release(&ctx->log_tail, ++tail);
		cond_resched();
	}
	put_off = mmpath_has_put_off(ctx);
	mmpath_set_hurry(ctx, false);
	mmpath_unlock_domains(ctx);
	mmpath_count(&ctx->d, MMPATH_RECORDS, tail - first);
	trace_mmpath_drain(ctx->id, ctx->pid, tail - first);
	if (tail == head)
		return;
	spin_lock(&ctx->log_lock);
	WRITE_ONCE(ctx->log_pages, ctx->log_pages + pages - min(pages, fed));
	spin_unlock(&ctx->log_lock);
	/* faults on huge pages log more than they drain */
	if (put_off || mmpath_log_half_full(ctx))
		mmpath_drain_soon(ctx);
}

/* One page in 2^shift, at least, is wanted of whatever region. */
static unsigned int mmpath_least_shift(const struct mmpath_ctx *ctx)
{
	unsigned int shift = MMPATH_MAX_SHIFT;
	int i;

	for (i = 0; i < ctx->nr_domains; i++)
		shift = min(shift, mmpath_domain_shift(ctx->domains[i]));
	return shift;
}

/*
 * Where the last page of a batch was, and which pages were wanted there when it was found:
 * fewer later, if the sample has become coarser.
 */
struct mmpath_spot {
	u64 first, nr;
	unsigned int shift;
	struct mmpath_region *region;
};

static void mmpath_find_spot(struct mmpath_ctx *ctx, struct mmpath_spot *spot, u64 page,
			     unsigned int shift)
{
	struct mmpath_regions *rs = &ctx->regions;

	spot->region = mmpath_regions_find(rs, page);
	spot->shift = min(shift, mmpath_region_shift(rs, spot->region));
	spot->nr = 0;
	if (spot->region == rs->rest)
		return;
	spot->first = rs->last.first;
	spot->nr = rs->last.nr;
}

/**
 * mmpath_feed_batch() - feed many records to the models, past the log
 * @d: of this context
 * @records: see mmpath_record(); in the order of the accesses
 * @nr: how many
 *
 * For drivers that drain hardware. What they have logged before comes first.
 * Context: may sleep; takes ctx->lock and the locks of its domains.
 */
void mmpath_feed_batch(struct mmpath_drv_ctx *d, const unsigned long *records, unsigned int nr)
{
	struct mmpath_ctx *ctx = to_mmpath_ctx(d);
	struct mmpath_spot spot = { };
	unsigned int i;
	u64 page, rank;

	mutex_lock(&ctx->lock);
	__mmpath_drain(ctx, true);
	mmpath_lock_domains(ctx, true);
	for (i = 0; i < nr; i++) {
		page = records[i] >> PAGE_SHIFT;
		if (unlikely(mmpath_record_order(records[i]))) {
			mmpath_feed(ctx, records[i], UINT_MAX);
			continue;
		}
		if (page - spot.first >= spot.nr)
			mmpath_find_spot(ctx, &spot, page, mmpath_least_shift(ctx));
		rank = mmpath_rank(page);
		/* in no stack's sample */
		if (!mmpath_rank_sampled(rank, spot.shift))
			continue;
		mmpath_record_in_domains(ctx, records[i]);
		if (mmpath_rank_sampled(rank, ctx->d.shift))
			mmpath_feed_page(ctx, spot.region, page, rank,
					 records[i] & MMPATH_RECORD_AGAIN);
	}
	mmpath_unlock_domains(ctx);
	mutex_unlock(&ctx->lock);
	mmpath_count(&ctx->d, MMPATH_RECORDS, nr);
	trace_mmpath_drain(ctx->id, ctx->pid, nr);
}

/**
 * mmpath_drain_driver() - have the driver log what it holds back
 * @ctx: of this context
 *
 * Context: may sleep; without ctx->lock.
 */
void mmpath_drain_driver(struct mmpath_ctx *ctx)
{
	const struct mmpath_driver *drv = READ_ONCE(ctx->drv);

	lockdep_assert_not_held(&ctx->lock);
	if (drv && drv->drain)
		drv->drain();
}

/**
 * mmpath_drain() - bring the models up to date
 * @ctx: of this context
 *
 * Context: may sleep; takes the driver's locks, ctx->lock and the locks of its
 * domains.
 */
void mmpath_drain(struct mmpath_ctx *ctx)
{
	mmpath_drain_driver(ctx);
	mutex_lock(&ctx->lock);
	__mmpath_drain(ctx, true);
	mutex_unlock(&ctx->lock);
}

/**
 * mmpath_drain_domain() - bring a domain up to date
 * @dom: what was logged but not drained yet belongs into what is shown
 *
 * Context: may sleep; takes the locks of contexts and of the domain.
 * Return: 0, or -EINTR if the caller was killed while it waited.
 */
int mmpath_drain_domain(struct mmpath_domain *dom)
{
	struct mmpath_ctx *ctx;
	unsigned long id;

	mmpath_for_each_member(ctx, id, dom) {
		/* not while it is detached: its driver is gone first, and its records later */
		if (mutex_lock_killable(&ctx->alive)) {
			mmpath_ctx_put(ctx);
			return -EINTR;
		}
		mmpath_drain(ctx);
		mutex_unlock(&ctx->alive);
		mutex_lock(&dom->lock);
		mmpath_domain_note(dom, ctx);
		mutex_unlock(&dom->lock);
	}
	return 0;
}

/**
 * mmpath_try_drain() - bring the models up to date if the log is getting full, without waiting
 * @ctx: of this context
 *
 * Context: from a fault; trylocks only.
 */
void mmpath_try_drain(struct mmpath_ctx *ctx)
{
	if (!mmpath_log_half_full(ctx) || !mutex_trylock(&ctx->lock))
		return;
	__mmpath_drain(ctx, false);
	mutex_unlock(&ctx->lock);
}

static unsigned long mmpath_record_of_event(const struct mmpath_event *ev)
{
	return mmpath_record(ev->addr, ev->order, ev->flags & MMPATH_ACCESS_WRITE) |
	       (ev->flags & MMPATH_ACCESS_AGAIN ? MMPATH_RECORD_AGAIN : 0);
}

/**
 * mmpath_replay() - log an access from a recording
 * @mm: the mm that counts as having made the access
 * @ev: the access
 *
 * Context: may sleep; takes ctx->lock.
 * Return: 0, -ESRCH if @mm is not tracked, -EOPNOTSUPP if the driver takes no
 * recordings, -EINVAL for a bad event.
 */
int mmpath_replay(struct mm_struct *mm, const struct mmpath_event *ev)
{
	struct mmpath_ctx *ctx = mmpath_ctx_get(mm);
	const struct mmpath_driver *drv;
	int ret = -EOPNOTSUPP;

	if (!ctx)
		return -ESRCH;
	drv = READ_ONCE(ctx->drv);
	if (ev->type > MMPATH_EVENT_LOST || ev->order > PMD_SHIFT - PAGE_SHIFT ||
	    ev->flags & ~(MMPATH_ACCESS_WRITE | MMPATH_ACCESS_AGAIN) || ev->addr >= mm->task_size) {
		ret = -EINVAL;
	} else if (drv && drv->inject) {
		ret = 0;
		if (ev->type == MMPATH_EVENT_ACCESS)
			drv->inject(&ctx->d, mmpath_record_of_event(ev));
		if (mmpath_log_half_full(ctx))
			mmpath_drain(ctx);
	}
	mmpath_ctx_put(ctx);
	return ret;
}
