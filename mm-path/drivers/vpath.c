// SPDX-License-Identifier: GPL-2.0
/*
 * Virtual page access tracking hardware (thesis 4.2.1, as a device of QEMU).
 *
 * Each CPU has a unit that sees the CPU's accesses, filters out those to hot pages
 * and logs the others in memory that the device shares with the kernel. See
 * Documentation/mm/path/vpath-device.rst.
 *
 *	switch of mm  ->  the unit is told the number of the context
 *	access        ->  unit: TLB -> PAB -> filter -> log of this CPU
 *	tick          ->  if the log fills: task_work   (or: interrupt, its thread)
 *	drain         ->  logs of all CPUs, merged in order -> models
 *
 * The number of a context is given out once in 2^32, and a record finds its context
 * by the number in a table. So a record that comes after its context has gone finds
 * nothing, and cannot reach another context.
 *
 * The device is not trusted. What it writes into its memory is read once and checked,
 * and a device that wrote an impossible value is not used any more. Curves are scaled
 * by the device's counters. Wrong counters make wrong curves, and do no other harm.
 *
 * Locks: drain_lock (mmpath_vpath_drain_lock) is outside ctx->lock and inside ctx->alive
 * and mmap_lock, because the hooks of mappings drain before they change regions. The
 * registers of a unit are written on its own CPU with interrupts off, except the tail,
 * which belongs to the drain. vpath.bar and the units come and go on their own CPUs (CPU
 * hotplug callbacks) and under drain_lock. So never wait for cpus_read_lock() under
 * drain_lock. vpath-cost.c bounds what all this costs.
 */
#define pr_fmt(fmt) "mmpath: vpath: " fmt

#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/interrupt.h>
#include <linux/io.h>
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/sched/clock.h>
#include <linux/slab.h>
#include <linux/task_work.h>
#include <asm/irq_regs.h>
#include <asm/ptrace.h>
#include <uapi/linux/mmpath_vpath.h>
#include "vpath.h"

struct mmpath_param mmpath_vpath_params[NR_VPATH_PARAMS + 1] = {
	[VPATH_PARAM_PAB_ENTRIES]	= { "pab_entries", 2048, 128, 32768, true },
	[VPATH_PARAM_PAB_WAYS]		= { "pab_ways", 16, 1, 32768, true },
	[VPATH_PARAM_TLB_ENTRIES]	= { "tlb_entries", 128, 1, 4096, true },
	[VPATH_PARAM_TLB_WAYS]		= { "tlb_ways", 16, 1, 4096, true },
	[VPATH_PARAM_TLB_TAGGED]	= { "tlb_tagged", 0, 0, 1, false },
	[VPATH_PARAM_FILTER_ENTRIES]	= { "filter_entries", 64, 0, 1024, false },
	[VPATH_PARAM_RELOG]		= { "relog", 0, 0, 1 << 20, false },
	[VPATH_PARAM_SAMPLE_SHIFT]	= { "sample_shift", 0, 0, MMPATH_MAX_SHIFT, false },
	[VPATH_PARAM_DUTY_PERCENT]	= { "duty_percent", 100, 1, 100, false },
	[VPATH_PARAM_DUTY_PERIOD]	= { "duty_period", 1 << 24, 1000, 1U << 31, false },
	[VPATH_PARAM_INTERRUPT]		= { "interrupt", 0, 0, 1, false },
	[VPATH_PARAM_THRESHOLD]		= { "threshold", 128, 1, 1 << 20, false },
	[VPATH_PARAM_OVERHEAD_TARGET]	= { "overhead_target", 3, 0, 100, false },
};

/*
 * The log of one unit
 * @reg: registers of the unit
 * @records: ring of vpath.header.log_entries records
 * @tail: first record that was not drained
 * @head: end of what this drain delivers
 */
struct vpath_log {
	struct vpath_unit *reg;
	const struct vpath_record *records;
	u32 tail, head;
};

/**
 * struct vpath - the device
 * @bar: memory of the device, NULL without a device
 * @header: copy of the beginning of @bar, made when the device was found; the tick reads it, too
 * @nr_logs: number of the device's units
 * @logs: logs of the units
 * @broken: the device wrote an impossible value, or is being removed
 * @times_broken: how often @broken was set because of an impossible value, since boot
 * @late: records of contexts that had gone, since boot
 * @skipped: records that were not delivered because of their cost, since boot
 * @started: the driver is in use; written under mmpath_mutex
 * @ctxs: contexts by number; under xa_lock, read under RCU
 * @next_number: number for the next context; written under mmpath_mutex
 * @most: largest number that was given out
 *
 * All under drain_lock, unless another lock is named.
 */
struct vpath {
	char *bar;
	struct vpath_device header;
	unsigned int nr_logs;
	struct vpath_log logs[VPATH_MAX_UNITS];
	bool broken;
	u64 times_broken;
	u64 late, skipped;
	bool started;
	struct xarray ctxs;
	u32 next_number, most;
};

DEFINE_MUTEX(mmpath_vpath_drain_lock);	/* see above */

static struct vpath vpath = {
	.ctxs = XARRAY_INIT(vpath.ctxs, XA_FLAGS_ALLOC1),
};

/**
 * struct vpath_cpu - a CPU and its unit
 * @reg: registers of the unit, NULL when the CPU has none
 * @context: number of the context that the unit was told last
 * @shift: the unit logs one page in 2^shift of that context
 * @resting: the unit logs nothing for now
 * @passed: accesses that had got past all stages of the unit when they were counted last
 * @unlogged: number of the accesses in @passed that were not logged
 * @poll_at: number of records in the log at which the tick starts a drain, 0: never
 * @work: drains when the current task returns to user space; .next is @work itself when idle
 */
struct vpath_cpu {
	struct vpath_unit *reg;
	u32 context;
	unsigned int shift;
	bool resting;
	u64 passed, unlogged;
	u32 poll_at;
	struct callback_head work;
};

static DEFINE_PER_CPU(struct vpath_cpu, vpath_cpus);

/*
 * Commands are instructions, which do nothing on a CPU without the device. The registers
 * tell whether the unit has carried one out. Interrupts are off.
 */
static __always_inline void vpath_do(const unsigned int nr)
{
	asm volatile("nopl %c0(%%rax)" : : "i" (VPATH_COMMAND(nr)) : "memory");
}

/* A broken device */

static void vpath_lost_fn(struct work_struct *work);
static DECLARE_WORK(vpath_lost_work, vpath_lost_fn);

static void vpath_break(const char *why)
{
	lockdep_assert_held(&mmpath_vpath_drain_lock);
	if (vpath.broken)
		return;
	WRITE_ONCE(vpath.broken, true);
	vpath.times_broken++;
	pr_err("the device is broken and not used any more: %s\n", why);
	queue_work(system_unbound_wq, &vpath_lost_work);
}

/* Draining */

#define VPATH_BATCH	64
#define VPATH_FREE_EVERY	1024U	/* records */

/* No record has this number: it takes more than 32 bits. */
#define VPATH_NO_CONTEXT	BIT_ULL(32)

struct vpath_drain {
	struct mmpath_drv_ctx *ctx;		/* of the last record */
	u64 number;			/* of @ctx, VPATH_NO_CONTEXT without one */
	u64 since;			/* local_clock() up to which contexts were charged */
	unsigned int fed;		/* records that were not charged yet */
	unsigned int nr;		/* records in @batch */
	unsigned long batch[VPATH_BATCH];
};

static void vpath_skip(struct mmpath_drv_ctx *ctx, unsigned int nr)
{
	vpath.skipped += nr;
	WRITE_ONCE(ctx->unseen, true);
}

static void vpath_feed(struct vpath_drain *d)
{
	const struct vpath_ctx *v = d->ctx->drv_data;

	if (READ_ONCE(v->choked))
		vpath_skip(d->ctx, d->nr);
	else if (d->nr)
		mmpath_feed_batch(d->ctx, d->batch, d->nr);
	d->fed += d->nr;
	d->nr = 0;
	cond_resched();
}

static void vpath_charge(struct vpath_drain *d)
{
	u64 now = local_clock();
	struct vpath_ctx *v;

	if (d->ctx) {
		vpath_feed(d);
		now = local_clock();
		v = d->ctx->drv_data;
		atomic64_add(now - d->since, &d->ctx->hook_ns);
		if (current->mm == d->ctx->mm)
			WRITE_ONCE(v->inside_ns, v->inside_ns + now - d->since);
		mmpath_vpath_check_cost(d->ctx);
	}
	d->fed = 0;
	d->since = now;
}

static void vpath_find(struct vpath_drain *d, u32 number)
{
	vpath_charge(d);
	d->ctx = xa_load(&vpath.ctxs, number);
	d->number = d->ctx ? number : VPATH_NO_CONTEXT;
	if (!number || number > vpath.most)
		vpath_break("a record has a number that no context ever had");
}

/* Records are missing before this one. They may have been of any context: end all bursts. */
static void vpath_resumed(void)
{
	struct mmpath_drv_ctx *ctx;
	unsigned long number;

	xa_for_each(&vpath.ctxs, number, ctx)
		mmpath_end_burst(ctx);
}

/* Bits that no common record has: vpath_deliver_odd() handles the others. */
#define VPATH_ODD	(~(u64)(TASK_SIZE_MAX + PAGE_SIZE - 1) | VPATH_RECORD_RESUMED | \
			 31U << VPATH_RECORD_ORDER)

static void vpath_add(struct vpath_drain *d, unsigned long record)
{
	d->batch[d->nr++] = record;
	if (d->nr < VPATH_BATCH)
		return;
	vpath_feed(d);
	if (d->fed >= VPATH_FREE_EVERY)
		vpath_charge(d);
}

static void vpath_deliver_odd(struct vpath_drain *d, u64 addr, u32 context)
{
	unsigned int order = addr >> VPATH_RECORD_ORDER & 31;

	if (context != d->number)
		vpath_find(d, context);
	if (!d->ctx) {
		vpath.late++;
	} else if (addr & VPATH_RECORD_RESUMED) {
		vpath_feed(d);
		vpath_resumed();
	} else if (addr >= TASK_SIZE_MAX || order > PMD_ORDER) {
		vpath_break("a record has an impossible address");
	} else {
		vpath_add(d, mmpath_record(addr, order, addr & VPATH_RECORD_WRITE) |
			     (addr & MMPATH_RECORD_AGAIN));
	}
}

static void vpath_deliver(struct vpath_drain *d, u64 addr, u32 context)
{
	BUILD_BUG_ON(VPATH_RECORD_WRITE != MMPATH_RECORD_WRITE);
	BUILD_BUG_ON(VPATH_RECORD_AGAIN != MMPATH_RECORD_AGAIN);
	if (unlikely(context != d->number || addr & VPATH_ODD))
		vpath_deliver_odd(d, addr, context);
	else
		vpath_add(d, addr & (PAGE_MASK | MMPATH_RECORD_WRITE | MMPATH_RECORD_AGAIN));
}

static const struct vpath_record *vpath_oldest(const struct vpath_log *log)
{
	return &log->records[log->tail & (vpath.header.log_entries - 1)];
}

/*
 * Return the log that has the oldest next record. Up to the stamp @limit its records are older
 * than those of all other logs.
 */
static struct vpath_log *vpath_first(u32 *limit)
{
	struct vpath_log *first = NULL, *log;
	u32 stamp, best = 0;

	*limit = 0;
	for (log = vpath.logs; log < vpath.logs + vpath.nr_logs; log++) {
		if (log->tail == log->head)
			continue;
		stamp = READ_ONCE(vpath_oldest(log)->stamp);
		if (!first) {
			*limit = stamp + S32_MAX;
		} else if ((s32)(stamp - best) > 0) {
			if ((s32)(stamp - *limit) < 0)
				*limit = stamp;
			continue;
		} else {
			*limit = best;
		}
		first = log;
		best = stamp;
	}
	return first;
}

/* Note what has been logged so far. What comes meanwhile is left to the next drain. */
static void vpath_look(void)
{
	struct vpath_log *log;

	for (log = vpath.logs; log < vpath.logs + vpath.nr_logs; log++) {
		/* pairs with the device: it writes head after the records */
		log->head = smp_load_acquire(&log->reg->head);
		if (log->head - log->tail <= vpath.header.log_entries)
			continue;
		log->head = log->tail;
		vpath_break("a log has more records than fit into it");
	}
}

/* Deliver the records of @log up to the stamp @limit, or up to its head. */
static void vpath_drain_one(struct vpath_drain *d, struct vpath_log *log, u32 limit)
{
	const struct vpath_record *records = log->records, *r;
	u32 mask = vpath.header.log_entries - 1, tail = log->tail, end;

	end = tail + min(log->head - tail, VPATH_FREE_EVERY);
	r = &records[tail & mask];
	do {
		/* read once, so that the value used is the one checked */
		vpath_deliver(d, READ_ONCE(r->addr), READ_ONCE(r->context));
		r = &records[++tail & mask];
	} while (tail != end && !vpath.broken && (s32)(READ_ONCE(r->stamp) - limit) < 0);
	log->tail = tail;
	/* pairs with the device: the slots may be written again */
	smp_store_release(&log->reg->tail, tail);
}

static void __vpath_drain(void)
{
	struct vpath_drain d = { .since = local_clock(), .number = VPATH_NO_CONTEXT };
	struct vpath_log *log;
	u32 limit;

	lockdep_assert_held(&mmpath_vpath_drain_lock);
	if (vpath.broken)
		return;
	vpath_look();
	while (!vpath.broken && (log = vpath_first(&limit)))
		vpath_drain_one(&d, log, limit);
	vpath_charge(&d);
}

/**
 * mmpath_vpath_drain() - feed all that was logged so far to the models
 *
 * Context: may sleep; takes drain_lock and the locks of contexts and domains.
 */
void mmpath_vpath_drain(void)
{
	mutex_lock(&mmpath_vpath_drain_lock);
	__vpath_drain();
	mutex_unlock(&mmpath_vpath_drain_lock);
}

static void vpath_work_fn(struct callback_head *work)
{
	/* from here on the tick may queue it again */
	WRITE_ONCE(work->next, work);
	/*
	 * No trylock, although the holder of the lock drains: the program logs
	 * ten times as fast as a drain, and must not run meanwhile.
	 */
	mmpath_vpath_drain();
}

static void vpath_drain_fn(struct work_struct *work)
{
	mmpath_vpath_drain();
}

static DECLARE_WORK(vpath_drain_work, vpath_drain_fn);

/*
 * The tick cannot drain. It leaves that to a task_work, which runs on the way back to user
 * space. A task that is in the kernel may sleep there for ever, and the work would wait with
 * it. So the tick queues the task_work only if it has interrupted user space. For a program
 * that is mostly in the kernel a worker drains when the log is half full.
 */
static void vpath_tick(struct task_struct *curr)
{
	struct vpath_cpu *c = this_cpu_ptr(&vpath_cpus);
	struct pt_regs *regs = get_irq_regs();
	u32 fill;

	if (!c->reg || !c->poll_at)
		return;
	fill = READ_ONCE(c->reg->head) - READ_ONCE(c->reg->tail);
	if (fill < c->poll_at)
		return;
	if (!regs || !user_mode(regs)) {
		if (fill >= vpath.header.log_entries / 2)
			queue_work(system_unbound_wq, &vpath_drain_work);
	} else if (READ_ONCE(c->work.next) == &c->work &&
		   task_work_add(curr, &c->work, TWA_RESUME)) {
		WRITE_ONCE(c->work.next, &c->work);
	}
}

static irqreturn_t vpath_interrupt(int irq, void *data)
{
	return READ_ONCE(vpath.started) ? IRQ_WAKE_THREAD : IRQ_NONE;
}

static irqreturn_t vpath_interrupt_thread(int irq, void *data)
{
	mmpath_vpath_drain();
	return IRQ_HANDLED;
}

/* Units */

static void vpath_set_duty(struct vpath_unit *reg, bool resting)
{
	u64 period = resting ? U32_MAX : vpath_param(VPATH_PARAM_DUTY_PERIOD);
	unsigned long percent = resting ? 0 : vpath_param(VPATH_PARAM_DUTY_PERCENT);

	reg->duty_period = percent < 100 ? period : 0;
	reg->duty_on = percent < 100 ? div_u64(period * percent, 100) : 0;
}

/* Number of accesses that got past all stages and were not logged. */
static u64 vpath_unlogged(const struct vpath_unit *reg)
{
	return READ_ONCE(reg->counters.unsampled) + READ_ONCE(reg->counters.paused) +
	       READ_ONCE(reg->counters.overflowed);
}

/*
 * Count the accesses since the last call for the context that the unit was told last, unless
 * that context has gone. Interrupts are off.
 */
static void vpath_count_passed(struct vpath_cpu *c)
{
	u64 passed = READ_ONCE(c->reg->counters.filter_misses);
	u64 unlogged = vpath_unlogged(c->reg);
	struct mmpath_drv_ctx *ctx;

	if (passed == c->passed && unlogged == c->unlogged)
		return;
	rcu_read_lock();
	ctx = xa_load(&vpath.ctxs, c->context);
	if (ctx) {
		atomic64_add(passed - c->passed, &ctx->accesses);
		if (unlogged != c->unlogged)
			WRITE_ONCE(ctx->unseen, true);
	}
	rcu_read_unlock();
	c->passed = passed;
	c->unlogged = unlogged;
}

/* Tell the unit that @ctx, or no context (NULL), runs on this CPU. Interrupts are off. */
static void vpath_use_context(const struct mmpath_drv_ctx *ctx)
{
	struct vpath_cpu *c = this_cpu_ptr(&vpath_cpus);
	u32 number = ctx ? READ_ONCE(ctx->number) : 0;
	unsigned int shift = number ? READ_ONCE(ctx->shift) : c->shift;
	bool resting = number ? READ_ONCE(ctx->resting) : c->resting;
	bool same = c->shift == shift && c->resting == resting;

	if (!c->reg)
		return;
	vpath_count_passed(c);
	if (c->context == number && same)
		return;
	c->context = number;
	WRITE_ONCE(c->reg->context, number);
	if (same) {
		vpath_do(VPATH_CONTEXT);
		return;
	}
	c->shift = shift;
	c->resting = resting;
	WRITE_ONCE(c->reg->sample_shift, shift);
	vpath_set_duty(c->reg, resting);
	vpath_do(VPATH_SYNC);
}

static void vpath_use_current(void *unused)
{
	mmpath_use_mm(current->mm);
}

/**
 * mmpath_vpath_tell_cpus() - tell all units again which contexts run on their CPUs
 *
 * Called when a context's sample, or its rest, has changed. Context: may sleep.
 */
void mmpath_vpath_tell_cpus(void)
{
	on_each_cpu(vpath_use_current, NULL, 1);
}

/* Does not use the hook, which may serve the next driver by now. */
static void vpath_leave(void *number)
{
	struct vpath_cpu *c = this_cpu_ptr(&vpath_cpus);

	if (c->context == (uintptr_t)number)
		vpath_use_context(NULL);
}

static u32 vpath_control(void)
{
	u32 control = VPATH_ENABLE;

	if (vpath_param(VPATH_PARAM_INTERRUPT))
		control |= VPATH_INTERRUPT;
	if (vpath_param(VPATH_PARAM_TLB_TAGGED))
		control |= VPATH_TAGGED_TLB;
	return control;
}

/* Number of records at which a log is drained; half a log at most. */
static u32 vpath_threshold(void)
{
	return min(vpath_param(VPATH_PARAM_THRESHOLD), vpath.header.log_entries / 2UL);
}

/* Runs on each CPU with interrupts off. @failed counts units that reject their settings. */
static void vpath_switch_on(void *failed)
{
	struct vpath_cpu *c = this_cpu_ptr(&vpath_cpus);
	struct vpath_unit *reg = c->reg;

	if (!reg)
		return;
	c->poll_at = vpath_param(VPATH_PARAM_INTERRUPT) ? 0 : vpath_threshold();
	reg->tlb_entries = vpath_param(VPATH_PARAM_TLB_ENTRIES);
	reg->tlb_ways = vpath_param(VPATH_PARAM_TLB_WAYS);
	reg->pab_entries = vpath_param(VPATH_PARAM_PAB_ENTRIES);
	reg->pab_ways = vpath_param(VPATH_PARAM_PAB_WAYS);
	reg->filter_entries = vpath_param(VPATH_PARAM_FILTER_ENTRIES);
	reg->relog = vpath_param(VPATH_PARAM_RELOG);
	vpath_set_duty(reg, false);
	reg->only_context = 0;
	reg->threshold = vpath_threshold();
	/* no context is attached to the driver yet */
	c->context = 0;
	c->shift = 0;
	c->resting = false;
	c->passed = READ_ONCE(reg->counters.filter_misses);
	c->unlogged = vpath_unlogged(reg);
	reg->context = 0;
	reg->sample_shift = 0;
	reg->control = vpath_control();
	WRITE_ONCE(reg->status, U32_MAX);
	vpath_do(VPATH_SYNC);
	if (READ_ONCE(reg->status) != VPATH_OK)
		atomic_inc(failed);
}

static void vpath_switch_off(void *unused)
{
	struct vpath_cpu *c = this_cpu_ptr(&vpath_cpus);

	if (!c->reg)
		return;
	c->context = 0;
	c->reg->context = 0;
	c->reg->control = 0;
	vpath_do(VPATH_SYNC);
}

static void vpath_switch_all_off(void)
{
	cpus_read_lock();
	on_each_cpu(vpath_switch_off, NULL, 1);
	cpus_read_unlock();
}

static void vpath_stop(void)
{
	WRITE_ONCE(vpath.started, false);
	vpath_switch_all_off();
}

/* Does the device support the parameters? Their bounds may be larger than the device's. */
static bool vpath_fits(const struct vpath_device *d)
{
	return vpath_param(VPATH_PARAM_TLB_ENTRIES) <= d->max_tlb_entries &&
	       vpath_param(VPATH_PARAM_PAB_ENTRIES) <= d->max_pab_entries &&
	       vpath_param(VPATH_PARAM_FILTER_ENTRIES) <= d->max_filter_entries;
}

/* Returns 0 if there is a working device that supports the parameters, or an error. */
static int vpath_usable(void)
{
	int ret = 0;

	mutex_lock(&mmpath_vpath_drain_lock);
	if (!vpath.bar || vpath.broken)
		ret = -ENODEV;
	else if (!vpath_fits(&vpath.header))
		ret = -ERANGE;
	mutex_unlock(&mmpath_vpath_drain_lock);
	return ret;
}

static int vpath_found_broken(const char *why)
{
	mutex_lock(&mmpath_vpath_drain_lock);
	vpath_break(why);
	mutex_unlock(&mmpath_vpath_drain_lock);
	return -EIO;
}

/* The device said that it supports these settings. If a unit rejects them, it is broken. */
static int vpath_obeyed(atomic_t *failed)
{
	return atomic_read(failed) ? vpath_found_broken("a unit rejects its settings") : 0;
}

static int vpath_start(void)
{
	bool was_started = vpath.started;
	atomic_t failed = ATOMIC_INIT(0);
	int ret = vpath_usable();

	if (ret)
		return ret;
	cpus_read_lock();
	WRITE_ONCE(vpath.started, true);
	on_each_cpu(vpath_switch_on, &failed, 1);
	cpus_read_unlock();
	ret = vpath_obeyed(&failed);
	if (ret)
		WRITE_ONCE(vpath.started, was_started);
	return ret;
}

/* Contexts */

/* Give @ctx a number. No unit has been told it yet, so no record can have it. */
static int vpath_enter(struct mmpath_drv_ctx *ctx, u32 *number)
{
	int ret = xa_alloc_cyclic(&vpath.ctxs, number, ctx, XA_LIMIT(1, U32_MAX),
				  &vpath.next_number, GFP_KERNEL);

	if (ret < 0)
		return ret;
	mutex_lock(&mmpath_vpath_drain_lock);
	if (vpath.bar && !vpath.broken) {
		vpath.most = max(vpath.most, *number);
		ret = 0;
	} else {
		xa_erase(&vpath.ctxs, *number);
		ret = -ENODEV;
	}
	mutex_unlock(&mmpath_vpath_drain_lock);
	return ret;
}

/*
 * With a target nothing is logged until an epoch has told how much the program runs. Most
 * programs that a shell starts end before that. To drain their records would cost more than
 * their curves are worth.
 */
static int vpath_attach(struct mmpath_drv_ctx *ctx)
{
	struct vpath_ctx *v = kzalloc(sizeof(*v), MMPATH_GFP_ATTACH);
	u32 number;
	int ret;

	if (!v)
		return -ENOMEM;
	ctx->drv_data = v;
	mmpath_vpath_begin_cost(ctx);
	ret = vpath_enter(ctx, &number);
	if (ret) {
		ctx->drv_data = NULL;
		kfree(v);
		return ret;
	}
	ctx->pab_reach = vpath_param(VPATH_PARAM_PAB_ENTRIES);
	mmpath_set_shift(ctx, vpath_param(VPATH_PARAM_SAMPLE_SHIFT));
	WRITE_ONCE(ctx->resting, vpath_param(VPATH_PARAM_OVERHEAD_TARGET) > 0);
	WRITE_ONCE(ctx->number, number);
	return 0;
}

static bool vpath_runs(int cpu, void *number)
{
	return READ_ONCE(per_cpu(vpath_cpus, cpu).context) == (u32)(uintptr_t)number;
}

/* Deliver what was logged. Records that come later find no context. */
static void vpath_detach(struct mmpath_drv_ctx *ctx, struct mm_struct *mm)
{
	u32 number = ctx->number;

	WRITE_ONCE(ctx->number, 0);
	WRITE_ONCE(ctx->resting, false);
	WRITE_ONCE(ctx->blind, false);
	/* no CPU begins to run a program that is exiting (!mm) */
	if (mm)
		on_each_cpu(vpath_leave, (void *)(uintptr_t)number, 1);
	else
		on_each_cpu_cond(vpath_runs, vpath_leave, (void *)(uintptr_t)number, 1);
	mutex_lock(&mmpath_vpath_drain_lock);
	__vpath_drain();
	xa_erase(&vpath.ctxs, number);
	mutex_unlock(&mmpath_vpath_drain_lock);
	mmpath_vpath_end_cost(ctx);
	kfree(ctx->drv_data);
}

/* Tell the CPUs that run the program now. Drain, because idle CPUs have no tick that does. */
static void vpath_scan(struct mmpath_drv_ctx *ctx, struct mm_struct *mm)
{
	mmpath_vpath_tell_cpus();
	mmpath_vpath_drain();
}

struct vpath_query {
	u32 number;
	const u64 *page;
	unsigned int nr;
	bool *hot;
};

static void vpath_look_up(void *arg)
{
	struct vpath_unit *reg = this_cpu_ptr(&vpath_cpus)->reg;
	struct vpath_query *q = arg;
	unsigned int i;

	if (!reg || READ_ONCE(vpath.broken))
		return;
	WRITE_ONCE(reg->lookup_context, q->number);
	for (i = 0; i < q->nr; i++) {
		WRITE_ONCE(reg->lookup_page, q->page[i] & MMPATH_VPN_MASK);
		vpath_do(VPATH_LOOKUP);
		/* other CPUs write here, too; none writes false */
		if (READ_ONCE(reg->lookup_result))
			WRITE_ONCE(q->hot[i], true);
	}
}

/* Ask all CPUs: the program may have run on any of them. */
static void vpath_find_hot(struct mmpath_drv_ctx *ctx, const u64 *page, unsigned int nr, bool *hot)
{
	struct vpath_query q = {
		.number = READ_ONCE(ctx->number), .page = page, .nr = nr, .hot = hot,
	};

	on_each_cpu(vpath_look_up, &q, 1);
}

static bool vpath_check(void)
{
	return vpath_param(VPATH_PARAM_PAB_WAYS) <= vpath_param(VPATH_PARAM_PAB_ENTRIES) &&
	       vpath_param(VPATH_PARAM_TLB_WAYS) <= vpath_param(VPATH_PARAM_TLB_ENTRIES);
}

/* The context's own log is hardly used: batches bypass it. */
static unsigned int vpath_log_entries(void)
{
	return VPATH_BATCH;
}

/*
 * Counters: those of the device are sums over its units, and not checked. Those of the driver
 * have small numbers as offsets.
 */
#define VPATH_COUNTER(_name)	{ #_name, offsetof(struct vpath_unit, counters._name) }
#define VPATH_OUR_LATE		0
#define VPATH_OUR_BROKEN	1
#define VPATH_OUR_SKIPPED	2

static const struct mmpath_counter vpath_counters[] = {
	VPATH_COUNTER(accesses),
	VPATH_COUNTER(tlb_misses),
	VPATH_COUNTER(pab_misses),
	VPATH_COUNTER(filter_misses),
	VPATH_COUNTER(relogged),
	VPATH_COUNTER(unsampled),
	VPATH_COUNTER(paused),
	VPATH_COUNTER(logged),
	VPATH_COUNTER(overflowed),
	VPATH_COUNTER(interrupts),
	{ "late", VPATH_OUR_LATE },
	{ "broken", VPATH_OUR_BROKEN },
	{ "skipped", VPATH_OUR_SKIPPED },
	{ }
};

static u64 vpath_sum(unsigned int offset)
{
	struct vpath_log *log;
	u64 sum = 0;

	for (log = vpath.logs; log < vpath.logs + vpath.nr_logs; log++)
		sum += READ_ONCE(*(u64 *)((char *)log->reg + offset));
	return sum;
}

static u64 vpath_read_counter(const struct mmpath_counter *counter)
{
	u64 value;

	mutex_lock(&mmpath_vpath_drain_lock);
	switch (counter->offset) {
	case VPATH_OUR_LATE:
		value = vpath.late;
		break;
	case VPATH_OUR_BROKEN:
		value = vpath.times_broken;
		break;
	case VPATH_OUR_SKIPPED:
		value = vpath.skipped;
		break;
	default:
		value = vpath_sum(counter->offset);
		break;
	}
	mutex_unlock(&mmpath_vpath_drain_lock);
	return value;
}

static struct mmpath_driver vpath_driver = {
	.name = "vpath",
	.caps = MMPATH_CAP_COMPLETE | MMPATH_CAP_SAMPLED | MMPATH_CAP_BURST | MMPATH_CAP_HARDWARE,
	.params = mmpath_vpath_params,
	.check = vpath_check,
	.counters = vpath_counters,
	.read_counter = vpath_read_counter,
	.log_entries = vpath_log_entries,
	.start = vpath_start,
	.stop = vpath_stop,
	.attach = vpath_attach,
	.detach = vpath_detach,
	.scan = vpath_scan,
	.epoch = mmpath_vpath_epoch,
	.begin = mmpath_vpath_begin,
	.find_hot = vpath_find_hot,
	.drain = mmpath_vpath_drain,
	.use_context = vpath_use_context,
	.tick = vpath_tick,
};

static void vpath_lost_fn(struct work_struct *work)
{
	mmpath_driver_lost(&vpath_driver);
	vpath_switch_all_off();
}

/* CPUs */

static struct vpath_unit *vpath_unit(char *bar, unsigned int nr)
{
	return (struct vpath_unit *)(bar + VPATH_UNIT_OFFSET + nr * VPATH_UNIT_STRIDE);
}

/* Return unit @nr for this CPU, or NULL if there is no such unit or another CPU has it. */
static struct vpath_unit *vpath_claim(u32 nr)
{
	struct vpath_unit *reg;
	int cpu;

	if (nr >= vpath.nr_logs)
		return NULL;
	reg = vpath_unit(vpath.bar, nr);
	for_each_possible_cpu(cpu)
		if (per_cpu_ptr(&vpath_cpus, cpu)->reg == reg)
			return NULL;
	return reg;
}

/*
 * Find the unit of this CPU. Only a command to the device can tell, so CPUs are asked one at a
 * time. The accesses of a CPU without a unit would be lost without being counted. So the device
 * is broken then.
 */
static int vpath_cpu_online(unsigned int cpu)
{
	struct vpath_device *device = (struct vpath_device *)vpath.bar;
	struct vpath_cpu *c = this_cpu_ptr(&vpath_cpus);
	atomic_t failed = ATOMIC_INIT(0);
	unsigned long flags;

	local_irq_save(flags);
	WRITE_ONCE(device->unit, U32_MAX);
	vpath_do(VPATH_IDENTIFY);
	c->reg = vpath_claim(READ_ONCE(device->unit));
	if (c->reg && READ_ONCE(vpath.started) && !READ_ONCE(vpath.broken))
		vpath_switch_on(&failed);
	local_irq_restore(flags);
	/* do not keep the CPU from going online */
	if (!c->reg)
		vpath_found_broken("a CPU has no unit of its own");
	else
		vpath_obeyed(&failed);
	return 0;
}

static int vpath_cpu_offline(unsigned int cpu)
{
	unsigned long flags;

	local_irq_save(flags);
	vpath_switch_off(NULL);
	this_cpu_ptr(&vpath_cpus)->reg = NULL;
	local_irq_restore(flags);
	return 0;
}

/* The device */

static_assert(offsetof(struct vpath_device, log_offset) == 16);
static_assert(sizeof(struct vpath_device) == 48);
static_assert(sizeof(struct vpath_record) == 16);
static_assert(offsetof(struct vpath_unit, lookup_page) == 56);
static_assert(offsetof(struct vpath_unit, tail) == 64);
static_assert(offsetof(struct vpath_unit, status) == 128);
static_assert(offsetof(struct vpath_unit, head) == 136);
static_assert(offsetof(struct vpath_unit, counters) == 144);
static_assert(sizeof(struct vpath_unit) == 232);
static_assert(sizeof(struct vpath_unit) <= VPATH_UNIT_STRIDE);

static enum cpuhp_state vpath_hotplug;

/* Read each field once, so that the value checked is the one used. */
static void vpath_read_header(struct vpath_device *d, const char *bar)
{
	const struct vpath_device *device = (const struct vpath_device *)bar;

	d->magic = READ_ONCE(device->magic);
	d->version = READ_ONCE(device->version);
	d->units = READ_ONCE(device->units);
	d->log_entries = READ_ONCE(device->log_entries);
	d->log_offset = READ_ONCE(device->log_offset);
	d->log_stride = READ_ONCE(device->log_stride);
	d->max_tlb_entries = READ_ONCE(device->max_tlb_entries);
	d->max_pab_entries = READ_ONCE(device->max_pab_entries);
	d->max_filter_entries = READ_ONCE(device->max_filter_entries);
}

static bool vpath_header_good(const struct vpath_device *d, u64 bytes)
{
	return d->magic == VPATH_MAGIC && d->version == VPATH_VERSION &&
	       d->units && d->units <= VPATH_MAX_UNITS && is_power_of_2(d->log_entries) &&
	       d->log_entries >= 2 && d->log_entries <= 1U << 24 &&
	       d->log_stride >= d->log_entries * sizeof(struct vpath_record) &&
	       d->log_stride <= bytes && d->log_offset <= bytes &&
	       d->log_offset >= VPATH_UNIT_OFFSET + d->units * VPATH_UNIT_STRIDE &&
	       d->log_offset + d->units * d->log_stride <= bytes;
}

static int vpath_request_irqs(struct pci_dev *pdev, unsigned int units)
{
	int i, ret, nr = pci_alloc_irq_vectors(pdev, 1, units, PCI_IRQ_MSIX);

	for (i = 0; i < nr; i++) {
		ret = devm_request_threaded_irq(&pdev->dev, pci_irq_vector(pdev, i),
						vpath_interrupt, vpath_interrupt_thread, 0,
						"mmpath-vpath", pdev);
		if (ret)
			return ret;
	}
	return nr < 0 ? nr : 0;
}

/* Start to use the device at @bar, unless there is one already. */
static int vpath_adopt(char *bar, const struct vpath_device *header)
{
	struct vpath_log *log;
	unsigned int i;
	int ret = -EBUSY;

	mutex_lock(&mmpath_vpath_drain_lock);
	if (vpath.bar)
		goto out;
	vpath.bar = bar;
	vpath.header = *header;
	vpath.nr_logs = header->units;
	WRITE_ONCE(vpath.broken, false);
	for (i = 0; i < vpath.nr_logs; i++) {
		log = &vpath.logs[i];
		log->reg = vpath_unit(bar, i);
		log->records = (void *)(bar + header->log_offset + i * header->log_stride);
		log->head = READ_ONCE(log->reg->head);
		log->tail = log->head;
		WRITE_ONCE(log->reg->tail, log->tail);
	}
	ret = 0;
out:
	mutex_unlock(&mmpath_vpath_drain_lock);
	return ret;
}

/* Drain the device for the last time. */
static void vpath_retire(void)
{
	mutex_lock(&mmpath_vpath_drain_lock);
	__vpath_drain();
	WRITE_ONCE(vpath.broken, true);
	mutex_unlock(&mmpath_vpath_drain_lock);
}

static void vpath_disown(void)
{
	mutex_lock(&mmpath_vpath_drain_lock);
	vpath.bar = NULL;
	vpath.nr_logs = 0;
	mutex_unlock(&mmpath_vpath_drain_lock);
}

/*
 * Stop using the device. Programs go on untracked. CPUs use the memory of the device until
 * their hotplug callback has run, and works until they have finished.
 */
static void vpath_let_go(void)
{
	vpath_retire();
	mmpath_driver_lost(&vpath_driver);
	if (vpath_hotplug > 0)
		cpuhp_remove_state(vpath_hotplug);
	vpath_disown();
	flush_work(&vpath_lost_work);
	flush_work(&vpath_drain_work);
}

static int vpath_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	resource_size_t bytes = pci_resource_len(pdev, 2);
	struct vpath_device header = { };
	char *bar;
	int ret;

	ret = pcim_enable_device(pdev);
	if (ret)
		return ret;
	if (bytes < VPATH_UNIT_OFFSET + VPATH_UNIT_STRIDE)
		return -ENODEV;
	bar = devm_memremap(&pdev->dev, pci_resource_start(pdev, 2), bytes, MEMREMAP_WB);
	if (IS_ERR(bar))
		return PTR_ERR(bar);
	vpath_read_header(&header, bar);
	/* other software uses ivshmem devices, too */
	if (!vpath_header_good(&header, bytes))
		return -ENODEV;
	ret = vpath_adopt(bar, &header);
	if (ret)
		return ret;
	pci_set_master(pdev);
	vpath_hotplug = 0;
	ret = vpath_request_irqs(pdev, header.units);
	if (ret)
		goto err;
	ret = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "mm/path:vpath", vpath_cpu_online,
				vpath_cpu_offline);
	if (ret < 0)
		goto err;
	vpath_hotplug = ret;
	pci_info(pdev, "page access tracking, %u units, logs of %u records\n", header.units,
		 header.log_entries);
	return 0;

err:
	vpath_let_go();
	return ret;
}

static void vpath_remove(struct pci_dev *pdev)
{
	vpath_let_go();
}

static const struct pci_device_id vpath_ids[] = {
	{ PCI_DEVICE(0x1af4, 0x1110) },	/* ivshmem */
	{ }
};

static struct pci_driver vpath_pci_driver = {
	.name = "mmpath-vpath",
	.id_table = vpath_ids,
	.probe = vpath_probe,
	.remove = vpath_remove,
};

static int __init vpath_init(void)
{
	struct vpath_cpu *c;
	int cpu;

	for_each_possible_cpu(cpu) {
		c = per_cpu_ptr(&vpath_cpus, cpu);
		init_task_work(&c->work, vpath_work_fn);
		c->work.next = &c->work;
	}
	mmpath_register_driver(&vpath_driver);
	return 0;
}
core_initcall(vpath_init);

builtin_pci_driver(vpath_pci_driver);

#ifdef CONFIG_MMPATH_KUNIT_TEST
#include "tests/vpath-kunit.h"
#endif
