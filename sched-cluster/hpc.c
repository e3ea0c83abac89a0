// SPDX-License-Identifier: GPL-2.0
/*
 * Logical hardware counters (thesis 2.3, 2.4): more events than a CPU has counters.
 *
 * Each CPU has events of perf of its own, all disabled but those of one group. A timer ends the
 * slice of the group, and enables the next one. There a piece ends, and where a task of another
 * cgroup begins to run. Perf owns the counters: other users of perf have theirs as ever, and an
 * event of ours for which nothing is left is missed, and said so.
 *
 *	interrupt, sched_switch		pieces --> ring of the CPU
 *	work, reader of a file		ring --> accounts (stall.c)
 *
 * A thread that has a log (hpc-log.c) gets its pieces there, too.
 *
 * On an idle CPU the timer ends its slice, and stops. It starts with the next task. A slice is
 * HPC_REST times as long as its end takes, or longer, so that a CPU gets its work done however
 * dear that is.
 *
 * With polling (thesis 2.2.2) a slice that is over also ends when the CPU returns to user mode.
 * Then the timer is set far ahead, for a CPU that stays in user mode or in the kernel.
 *
 * Slices may also be of a number of events, such as cycles or instructions (thesis 2.4). Then an
 * event with a counter of its own ends them when it overflows. That may be in an NMI, so an
 * irq_work does what is to be done.
 *
 * Locks: hpc_enable_mutex, cpus_read_lock(), hpc_mutex, hpc_account_mutex, in this order. The first
 * event of perf's that wants to know of changes of the task takes cpus_read_lock() itself, so
 * hpc_keeper is there before one that samples. Tracepoints and other events of software take it,
 * too, when they come and when they go, so there are none. What is of a CPU changes on that CPU
 * only, with interrupts off. A ring has one writer, its CPU, and one reader, who holds
 * hpc_account_mutex.
 */
#define pr_fmt(fmt) "hpc: " fmt

#include <linux/cgroup.h>
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/hpc-entry.h>
#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/perf_event.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/tracepoint.h>
#include <linux/workqueue.h>
#include <trace/events/sched.h>
#include "hpc.h"

#define HPC_RING	512	/* pieces */
#define HPC_SWEEP	(5 * HZ)
#define HPC_REST	4
#define HPC_PATIENCE	4	/* slices; while returns to user mode end them */
#define HPC_LONGEST	(100 * NSEC_PER_MSEC)	/* a slice that events are to end */
#define HPC_DEAR	(25 * NSEC_PER_MSEC)	/* no end of a slice is taken to take longer */

/**
 * struct hpc_cpu - a CPU
 * @event: its events, or NULL
 * @base: what they had counted when the piece began
 * @idle: how long they had been without a counter then
 * @order: of the groups
 * @group: who has the counters
 * @on: it counts
 * @ticking: @timer runs
 * @logged: the task that runs has a log
 * @ended: something else has ended a slice since @timer was set
 * @due: local_clock() at which the slice is over, with polling; before which no event ends it
 * @timer: ends slices
 * @slicer: its overflows end slices, or NULL
 * @overflow: does what @slicer cannot
 * @cost: what the end of a slice takes, ns, from when it is due; the average of some
 * @open: what tasks of a cgroup, one after the other, had in this slice; nothing without .css
 * @ring: pieces
 * @head: pieces that were written
 * @tail: pieces that were read
 * @stats: of this CPU
 */
struct hpc_cpu {
	struct perf_event *event[HPC_EVENTS];
	u64 base[HPC_EVENTS];
	u64 idle[HPC_EVENTS];
	struct hpc_order order;
	unsigned int group;
	bool on, ticking, logged, ended;
	u64 due;
	struct hrtimer timer;
	struct perf_event *slicer;
	struct irq_work overflow;
	s64 cost;
	struct hpc_piece open;
	struct hpc_piece *ring;
	u32 head, tail;
	struct hpc_stats stats;
};

static DEFINE_PER_CPU(struct hpc_cpu, hpc_cpus);

DEFINE_STATIC_KEY_FALSE(hpc_polling);

/* On and off. The probe, and events of some kinds, take cpus_read_lock(). */
DEFINE_MUTEX(hpc_enable_mutex);
/* CPUs that come and go */
DEFINE_MUTEX(hpc_mutex);

struct hpc_config hpc_config = {
	.slice_us = 100,
	.weight = { [0 ... HPC_GROUPS - 1] = 1 },
};

static void hpc_work_fn(struct work_struct *work);
static void hpc_sweep_fn(struct work_struct *work);
static DECLARE_WORK(hpc_work, hpc_work_fn);
static DECLARE_DELAYED_WORK(hpc_sweep, hpc_sweep_fn);

/* Starts hpc_work, as nothing can be queued below a runqueue's lock. */
static void hpc_half_full_fn(struct irq_work *work);
static DEFINE_PER_CPU(struct irq_work, hpc_half_full) = IRQ_WORK_INIT_HARD(hpc_half_full_fn);

/* Pieces */

static u64 hpc_idle_time(const struct perf_event *event)
{
	return event->total_time_enabled - event->total_time_running;
}

static bool hpc_has_counter(const struct perf_event *event)
{
	return READ_ONCE(event->state) == PERF_EVENT_STATE_ACTIVE;
}

/*
 * A piece of @task begins. An event that has no counter now is marked, so that it is missed at the
 * end of the piece.
 */
static void hpc_begin(struct hpc_cpu *c, const struct task_struct *task)
{
	u64 set = hpc_config.groups.set[c->group];
	const struct perf_event *event;
	unsigned int i;

	for (; set; set &= set - 1) {
		i = __ffs64(set);
		event = c->event[i];
		c->base[i] = local64_read(&event->count);
		c->idle[i] = hpc_has_counter(event) ? hpc_idle_time(event) : U64_MAX;
	}
	c->logged = static_branch_unlikely(&hpc_logging) && hpc_log_begin(task);
}

/* Those of @counted that had a counter since the piece began have been seen. */
static void hpc_piece_fill(struct hpc_cpu *c, struct hpc_piece *piece, u64 counted)
{
	u64 set = hpc_config.groups.set[c->group];
	const struct perf_event *event;
	unsigned int i, n;
	s64 count;

	memset(piece, 0, sizeof(*piece));
	piece->group = c->group;
	piece->slice = c->stats.slices * nr_cpu_ids + smp_processor_id();
	for (n = 0; set; set &= set - 1, n++) {
		i = __ffs64(set);
		event = c->event[i];
		count = local64_read(&event->count) - c->base[i];
		piece->count[n] = count;
		/* a count that goes back is a PMU that lies */
		if (counted & BIT_ULL(i) && hpc_idle_time(event) == c->idle[i] && count >= 0)
			piece->seen |= BIT(n);
		else
			c->stats.missed++;
	}
}

static bool hpc_ring_has_room(const struct hpc_cpu *c)
{
	/* pairs with hpc_drain_cpu() */
	return c->head - smp_load_acquire(&c->tail) < HPC_RING;
}

/*
 * What is open goes into the ring, which had room when it was opened. So its css is put in
 * hpc_drain_cpu() only: under a runqueue's lock nobody may put the last one.
 */
static void hpc_piece_close(struct hpc_cpu *c)
{
	if (!c->open.css)
		return;
	c->ring[c->head % HPC_RING] = c->open;
	c->stats.pieces++;
	/* pairs with hpc_drain_cpu() */
	smp_store_release(&c->head, c->head + 1);
	c->open.css = NULL;
	/* pieces come one by one, so none passes it by */
	if (c->head - READ_ONCE(c->tail) == HPC_RING / 2)
		irq_work_queue(this_cpu_ptr(&hpc_half_full));
}

/* The first of this cgroup in this slice */
static void hpc_piece_open(struct hpc_cpu *c, struct cgroup_subsys_state *css,
			   const struct hpc_piece *piece)
{
	hpc_piece_close(c);
	if (!hpc_ring_has_room(c) || !css_tryget(css)) {
		c->stats.lost++;
		return;
	}
	c->open = *piece;
	c->open.css = css;
}

static void hpc_add_to_open(struct hpc_cpu *c, const struct hpc_piece *piece)
{
	unsigned int n;

	for (n = 0; n < HPC_AT_ONCE; n++)
		c->open.count[n] += piece->count[n];
}

static void hpc_piece_end(struct hpc_cpu *c, const struct hpc_piece *piece,
			  struct task_struct *task)
{
	struct cgroup_subsys_state *css;

	rcu_read_lock();
	css = task_css(task, cpu_cgrp_id);
	if (c->open.css == css && c->open.slice == piece->slice && c->open.seen == piece->seen)
		hpc_add_to_open(c, piece);
	else
		hpc_piece_open(c, css, piece);
	rcu_read_unlock();
}

/*
 * What was counted since the piece began was @task's. @counted have a counter, and were read. Tasks
 * with a log may have many pieces, and these are one to the cgroup: the ring is for all. What an
 * idle CPU counts is nobody's.
 */
static void hpc_cut(struct hpc_cpu *c, struct task_struct *task, u64 counted)
{
	struct hpc_piece piece;

	if (is_idle_task(task))
		return;
	hpc_piece_fill(c, &piece, counted);
	/* without cycles nothing can be said */
	if (!(piece.seen & 1) || !piece.count[0])
		return;
	if (c->logged)
		hpc_log_end(task, &piece);
	hpc_piece_end(c, &piece, task);
}

/* Slices */

static s64 hpc_slice(struct hpc_cpu *c)
{
	s64 slice = READ_ONCE(hpc_config.slice_us) * NSEC_PER_USEC;

	if (slice >= HPC_REST * c->cost)
		return slice;
	c->stats.stretched++;
	return HPC_REST * c->cost;
}

/* A pinned event that has lost its counter once gets none again. */
static bool hpc_has_slicer(const struct hpc_cpu *c)
{
	return c->slicer && hpc_has_counter(c->slicer);
}

/* A slice begins that an event ends. Returns when the timer is to look whether it does. */
static ktime_t hpc_next_slice_of_events(struct hpc_cpu *c)
{
	c->due = local_clock() + HPC_REST * c->cost;
	c->ended = false;
	return HPC_LONGEST;
}

/* A slice begins. Returns when the timer is to look after it. */
static ktime_t hpc_next_slice(struct hpc_cpu *c)
{
	s64 slice, timer;

	if (hpc_has_slicer(c))
		return hpc_next_slice_of_events(c);
	slice = hpc_slice(c);
	timer = slice;
	if (static_branch_unlikely(&hpc_polling)) {
		c->due = local_clock() + slice;
		timer = c->ended ? HPC_PATIENCE * slice : slice;
		c->ended = false;
	}
	return timer;
}

static void hpc_start_timer(struct hpc_cpu *c)
{
	c->ticking = true;
	hrtimer_start(&c->timer, hpc_next_slice(c), HRTIMER_MODE_REL_PINNED_HARD);
}

/* The PMU does not count meanwhile, so all counts end at the same time. */
static void hpc_give(struct hpc_cpu *c, unsigned int group)
{
	const struct hpc_groups *g = &hpc_config.groups;

	hpc_cut(c, current, perf_event_switch_local(c->event, g->set[c->group], g->set[group]));
	c->group = group;
	hpc_begin(c, current);
	c->stats.switches++;
}

static void hpc_read_and_cut(struct hpc_cpu *c, struct task_struct *task)
{
	hpc_cut(c, task, perf_event_read_set_local(c->event, hpc_config.groups.set[c->group]));
}

static void hpc_end_slice(struct hpc_cpu *c)
{
	unsigned int group = hpc_order_next(&c->order);

	if (group != c->group) {
		hpc_give(c, group);
	} else {
		hpc_read_and_cut(c, current);
		hpc_begin(c, current);
	}
	hpc_piece_close(c);
	/* the last piece was of the slice that is over */
	c->stats.slices++;
}

/* The end of a slice took so long. */
static void hpc_took(struct hpc_cpu *c, s64 ns)
{
	c->cost += (min(ns, HPC_DEAR) - c->cost) / 8;
}

/* The slice in which the timer fires may have begun after it was set. */
static bool hpc_goes_on(const struct hpc_cpu *c)
{
	return c->ended && (hpc_has_slicer(c) || local_clock() < c->due);
}

static ktime_t hpc_patience(struct hpc_cpu *c)
{
	return hpc_has_slicer(c) ? HPC_LONGEST : HPC_PATIENCE * hpc_slice(c);
}

/* Not by the timer. Returns local_clock() after it. */
static u64 hpc_end_early(struct hpc_cpu *c, u64 now)
{
	u64 after;

	hpc_end_slice(c);
	after = local_clock();
	hpc_took(c, after - now);
	c->ended = true;
	return after;
}

/*
 * Nobody runs, and the timer rests. The slice ends all the same: the next task starts the timer
 * anew, and where all tasks sleep before a slice is over none would ever end.
 */
static enum hrtimer_restart hpc_rest(struct hpc_cpu *c)
{
	if (c->on && !hpc_goes_on(c))
		hpc_end_early(c, local_clock());
	c->ticking = false;
	return HRTIMER_NORESTART;
}

static enum hrtimer_restart hpc_timer_fn(struct hrtimer *timer)
{
	struct hpc_cpu *c = container_of(timer, struct hpc_cpu, timer);
	ktime_t now;

	if (!c->on || is_idle_task(current))
		return hpc_rest(c);
	if (hpc_goes_on(c)) {
		c->ended = false;
		hrtimer_forward_now(timer, hpc_patience(c));
		return HRTIMER_RESTART;
	}
	hpc_end_slice(c);
	now = hrtimer_cb_get_time(timer);
	hpc_took(c, now - hrtimer_get_expires(timer));
	hrtimer_set_expires(timer, now + hpc_next_slice(c));
	return HRTIMER_RESTART;
}

/* This CPU is about to return to user mode, with interrupts off. */
void __hpc_to_user(void)
{
	struct hpc_cpu *c = this_cpu_ptr(&hpc_cpus);
	u64 now = local_clock();

	if (!c->on || !c->ticking || now < c->due)
		return;
	c->due = hpc_end_early(c, now) + hpc_slice(c);
	c->stats.polled++;
}

static void hpc_overflow_fn(struct irq_work *work)
{
	struct hpc_cpu *c = container_of(work, struct hpc_cpu, overflow);
	u64 now = local_clock();

	if (!c->on || is_idle_task(current))
		return;
	/* HPC_REST: the CPU has work of its own to do */
	if (now < c->due)
		c->stats.stretched++;
	else
		c->due = hpc_end_early(c, now) + HPC_REST * c->cost;
}

static void hpc_overflowed(struct perf_event *event, struct perf_sample_data *data,
			   struct pt_regs *regs)
{
	struct hpc_cpu *c = event->overflow_handler_context;

	irq_work_queue(&c->overflow);
}

/* Pieces are of cgroups, so one goes on while tasks of one take turns. */
static bool hpc_same_owner(struct task_struct *a, struct task_struct *b)
{
	bool same;

	rcu_read_lock();
	same = task_css(a, cpu_cgrp_id) == task_css(b, cpu_cgrp_id);
	rcu_read_unlock();
	return same && is_idle_task(a) == is_idle_task(b);
}

static void hpc_probe_sched_switch(void *data, bool preempt, struct task_struct *prev,
				   struct task_struct *next, unsigned int prev_state)
{
	struct hpc_cpu *c = this_cpu_ptr(&hpc_cpus);
	bool same;

	if (!c->on)
		return;
	same = hpc_same_owner(prev, next);
	/* a task with a log has pieces of its own */
	if (same && !c->logged && !(static_branch_unlikely(&hpc_logging) && hpc_is_logged(next)))
		return;
	hpc_read_and_cut(c, prev);
	if (!same)
		hpc_piece_close(c);
	hpc_begin(c, next);
	if (!c->ticking && !is_idle_task(next))
		hpc_start_timer(c);
}

/**
 * hpc_new_piece - end the piece of the current task, and begin another one
 * @word: is written between the two
 * @value: to be written
 *
 * Context: any but with the locks of perf's contexts.
 */
void hpc_new_piece(u64 *word, u64 value)
{
	struct hpc_cpu *c;
	unsigned long flags;

	local_irq_save(flags);
	c = this_cpu_ptr(&hpc_cpus);
	if (c->on)
		hpc_read_and_cut(c, current);
	WRITE_ONCE(*word, value);
	if (c->on)
		hpc_begin(c, current);
	local_irq_restore(flags);
}

/* Draining */

static void hpc_drain_cpu(struct hpc_cpu *c)
{
	struct hpc_piece *piece;
	u32 head;

	lockdep_assert_held(&hpc_account_mutex);
	/* pairs with hpc_piece_close(): what is in the ring was written */
	head = smp_load_acquire(&c->head);
	while (c->tail != head) {
		piece = &c->ring[c->tail % HPC_RING];
		c->stats.nomem += !hpc_account(piece);
		css_put(piece->css);
		/* pairs with hpc_piece_close(): the place may be written again */
		smp_store_release(&c->tail, c->tail + 1);
	}
}

/**
 * hpc_drain - add up what the CPUs have counted
 *
 * Context: may sleep. Called with hpc_account_mutex.
 */
void hpc_drain(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		hpc_drain_cpu(per_cpu_ptr(&hpc_cpus, cpu));
}

static void hpc_work_fn(struct work_struct *work)
{
	mutex_lock(&hpc_account_mutex);
	hpc_drain();
	mutex_unlock(&hpc_account_mutex);
}

static void hpc_half_full_fn(struct irq_work *work)
{
	queue_work(system_unbound_wq, &hpc_work);
}

/* Rings hold references to cgroups, and accounts memory. */
static void hpc_sweep_fn(struct work_struct *work)
{
	mutex_lock(&hpc_account_mutex);
	hpc_drain();
	hpc_account_sweep();
	mutex_unlock(&hpc_account_mutex);
	schedule_delayed_work(&hpc_sweep, HPC_SWEEP);
}

/* Events of a CPU */

/* With a @period it counts from now on, and its overflows are told to @c. */
static struct perf_event *hpc_create(const struct hpc_event *e, int cpu, u64 period,
				     struct hpc_cpu *c)
{
	struct perf_event_attr attr = {
		.type = e->type,
		.size = sizeof(attr),
		.config = e->config[0],
		.config1 = e->config[1],
		.config2 = e->config[2],
		.sample_period = period,
		.pinned = !!period,
		.disabled = !period,
		.exclude_user = hpc_config.mode == HPC_KERNEL,
		.exclude_kernel = hpc_config.mode == HPC_USER,
	};

	return perf_event_create_kernel_counter(&attr, cpu, NULL, period ? hpc_overflowed : NULL,
						c);
}

static void hpc_release_slicer(struct hpc_cpu *c)
{
	if (!c->slicer)
		return;
	perf_event_release_kernel(c->slicer);
	irq_work_sync(&c->overflow);
	c->slicer = NULL;
}

static int hpc_create_slicer(struct hpc_cpu *c, int cpu)
{
	const struct hpc_event *e = &hpc_config.events.event[hpc_config.slice_event];
	struct perf_event *slicer;

	c->overflow = IRQ_WORK_INIT_HARD(hpc_overflow_fn);
	slicer = hpc_create(e, cpu, hpc_config.slice_period, c);
	if (IS_ERR(slicer))
		return PTR_ERR(slicer);
	c->slicer = slicer;
	return hpc_has_counter(slicer) ? 0 : -EBUSY;
}

static void hpc_release_events(struct hpc_cpu *c)
{
	unsigned int i;

	hpc_release_slicer(c);
	for (i = 0; i < HPC_EVENTS; i++) {
		if (c->event[i])
			perf_event_release_kernel(c->event[i]);
		c->event[i] = NULL;
	}
}

static int hpc_create_event(struct hpc_cpu *c, int cpu, unsigned int i)
{
	struct perf_event *event = hpc_create(&hpc_config.events.event[i], cpu, 0, NULL);

	if (IS_ERR(event))
		return PTR_ERR(event);
	c->event[i] = event;
	/* uncore PMUs count on a CPU of their choice */
	return event->cpu == cpu && event->pmu == c->event[0]->pmu ? 0 : -EXDEV;
}

static int hpc_create_events(struct hpc_cpu *c, int cpu)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < hpc_config.events.set.nr; i++)
		ret = hpc_create_event(c, cpu, i);
	if (!ret && hpc_config.slice_period)
		ret = hpc_create_slicer(c, cpu);
	if (ret)
		hpc_release_events(c);
	return ret;
}

/* Groups */

/**
 * struct hpc_question - can these events count at the same time?
 * @c: on this CPU
 * @set: the events
 * @answer: they can
 */
struct hpc_question {
	struct hpc_cpu *c;
	u64 set;
	bool answer;
};

static void hpc_ask(void *question)
{
	struct hpc_question *q = question;
	u64 set;

	perf_event_switch_local(q->c->event, 0, q->set);
	q->answer = true;
	for (set = q->set; set; set &= set - 1)
		q->answer &= hpc_has_counter(q->c->event[__ffs64(set)]);
	perf_event_switch_local(q->c->event, q->set, 0);
}

static bool hpc_fits(void *cpu, u64 set)
{
	struct hpc_question q = { .c = per_cpu_ptr(&hpc_cpus, *(int *)cpu), .set = set };

	if (hweight64(set) > HPC_AT_ONCE)
		return false;
	smp_call_function_single(*(int *)cpu, hpc_ask, &q, 1);
	return q.answer;
}

/*
 * Groups, as the first CPU has the counters for them. Its events are made for that only. Those of
 * the last time stay where these cannot be made: what was counted of them can still be read.
 */
static int hpc_make_groups(void)
{
	int cpu = cpumask_first(cpu_online_mask), ret;
	struct hpc_cpu *c = per_cpu_ptr(&hpc_cpus, cpu);
	struct hpc_set *set = &hpc_config.events.set;
	struct hpc_groups groups = { };
	struct hpc_order order;

	ret = hpc_create_events(c, cpu);
	if (ret)
		return ret;
	ret = hpc_pack(&groups, set->nr, hpc_fits, &cpu, get_random_u64());
	hpc_release_events(c);
	if (!ret && !groups.nr)
		ret = -EBUSY;
	ret = ret ?: hpc_order_init(&order, hpc_config.weight, groups.nr, 1);
	if (ret)
		return ret;
	hpc_config.groups = groups;
	set->longest = 4 * HPC_LEAST * order.nr;
	return 0;
}

/* CPUs */

static void hpc_start_this(void *unused)
{
	struct hpc_cpu *c = this_cpu_ptr(&hpc_cpus);

	c->group = hpc_order_next(&c->order);
	perf_event_switch_local(c->event, 0, hpc_config.groups.set[c->group]);
	hpc_begin(c, current);
	c->cost = 0;
	c->on = true;
	hpc_start_timer(c);
}

static void hpc_stop_this(void *unused)
{
	struct hpc_cpu *c = this_cpu_ptr(&hpc_cpus);

	/* what the current task had since the last cut, which may be all it had */
	hpc_read_and_cut(c, current);
	hpc_piece_close(c);
	c->on = false;
	c->logged = false;
	perf_event_switch_local(c->event, hpc_config.groups.set[c->group], 0);
}

static void hpc_stop_cpu(int cpu)
{
	struct hpc_cpu *c = per_cpu_ptr(&hpc_cpus, cpu);

	if (!c->on)
		return;
	smp_call_function_single(cpu, hpc_stop_this, NULL, 1);
	hrtimer_cancel(&c->timer);
	hpc_release_events(c);
}

/* A CPU that cannot count is left out. */
static int hpc_start_cpu(int cpu)
{
	struct hpc_cpu *c = per_cpu_ptr(&hpc_cpus, cpu);
	int ret;

	if (!c->ring)
		c->ring = kvcalloc_node(HPC_RING, sizeof(*c->ring), GFP_KERNEL, cpu_to_node(cpu));
	ret = c->ring ? hpc_create_events(c, cpu) : -ENOMEM;
	if (ret) {
		c->stats.offline++;
		return ret;
	}
	hpc_order_init(&c->order, hpc_config.weight, hpc_config.groups.nr, get_random_u64());
	hrtimer_init(&c->timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	c->timer.function = hpc_timer_fn;
	smp_call_function_single(cpu, hpc_start_this, NULL, 1);
	return 0;
}

static int hpc_cpu_online(unsigned int cpu)
{
	mutex_lock(&hpc_mutex);
	if (hpc_config.enabled)
		hpc_start_cpu(cpu);
	mutex_unlock(&hpc_mutex);
	return 0;
}

static int hpc_cpu_offline(unsigned int cpu)
{
	mutex_lock(&hpc_mutex);
	hpc_stop_cpu(cpu);
	mutex_unlock(&hpc_mutex);
	return 0;
}

/* On and off */

/* Nothing but an event of a task, so that perf follows changes of the task. See above. */
static struct perf_event *hpc_keeper;

static int hpc_keep(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY,
		.size = sizeof(attr), .disabled = 1,
	};
	struct perf_event *event;

	if (!hpc_config.slice_period)
		return 0;
	event = perf_event_create_kernel_counter(&attr, -1, current, NULL, NULL);
	if (IS_ERR(event))
		return PTR_ERR(event);
	hpc_keeper = event;
	return 0;
}

static void hpc_keep_no_more(void)
{
	if (hpc_keeper)
		perf_event_release_kernel(hpc_keeper);
	hpc_keeper = NULL;
}

/* Is it an event of @pmu, or is @pmu NULL? It becomes that of the event. */
static int hpc_check_event(const struct hpc_event *e, const struct pmu **pmu)
{
	struct perf_event *event = hpc_create(e, cpumask_first(cpu_online_mask), 0, NULL);
	int ret = 0;

	if (IS_ERR(event))
		return PTR_ERR(event);
	if (*pmu && event->pmu != *pmu)
		ret = -EXDEV;
	else if (event->pmu->task_ctx_nr == perf_sw_context)
		ret = -EOPNOTSUPP;
	*pmu = event->pmu;
	perf_event_release_kernel(event);
	return ret;
}

/* Before cpus_read_lock(), see above */
static int hpc_check_events(void)
{
	const struct hpc_events *events = &hpc_config.events;
	const struct pmu *pmu = NULL;
	unsigned int i;
	int ret = 0;

	lockdep_assert_held(&hpc_enable_mutex);
	for (i = 0; !ret && i < events->set.nr; i++)
		ret = hpc_check_event(&events->event[i], &pmu);
	return ret;
}

static int hpc_start(void)
{
	int cpu, ret;

	lockdep_assert_held(&hpc_mutex);
	if (!hpc_config.events.set.nr)
		return -ENODATA;
	if (hpc_config.slice_period && hpc_config.polling)
		return -EINVAL;
	ret = hpc_make_groups();
	if (ret)
		return ret;
	mutex_lock(&hpc_account_mutex);
	hpc_account_reset();
	mutex_unlock(&hpc_account_mutex);
	hpc_log_new_epoch();
	hpc_config.enabled = true;
	if (hpc_config.polling)
		static_branch_enable_cpuslocked(&hpc_polling);
	for_each_online_cpu(cpu)
		hpc_start_cpu(cpu);
	return 0;
}

/**
 * hpc_enable - begin to count
 *
 * Context: may sleep.
 * Return: 0; -ENODATA: there are no events; -EBUSY: others have all counters; -E2BIG: more
 * groups than HPC_GROUPS; -EINVAL: more slices than HPC_SLOTS, or slices of events and polling;
 * -EXDEV: events of several PMUs, or not of each CPU; -EOPNOTSUPP: events of software; or what perf
 * says of an event that it does not take
 */
int hpc_enable(void)
{
	int ret = 0;

	mutex_lock(&hpc_enable_mutex);
	if (hpc_config.enabled)
		goto out;
	ret = hpc_check_events();
	if (ret)
		goto out;
	/* the probe does nothing on CPUs that do not count */
	ret = register_trace_sched_switch(hpc_probe_sched_switch, NULL);
	if (ret)
		goto out;
	ret = hpc_keep();
	if (ret)
		goto out_unregister;
	cpus_read_lock();
	mutex_lock(&hpc_mutex);
	ret = hpc_start();
	mutex_unlock(&hpc_mutex);
	cpus_read_unlock();
	if (!ret) {
		schedule_delayed_work(&hpc_sweep, HPC_SWEEP);
		goto out;
	}
	hpc_keep_no_more();
out_unregister:
	unregister_trace_sched_switch(hpc_probe_sched_switch, NULL);
out:
	mutex_unlock(&hpc_enable_mutex);
	return ret;
}

/**
 * hpc_disable - end counting. What was counted can still be read
 *
 * Context: may sleep.
 */
void hpc_disable(void)
{
	int cpu;

	mutex_lock(&hpc_enable_mutex);
	if (!hpc_config.enabled)
		goto out;
	cpus_read_lock();
	mutex_lock(&hpc_mutex);
	hpc_config.enabled = false;
	for_each_online_cpu(cpu)
		hpc_stop_cpu(cpu);
	static_branch_disable_cpuslocked(&hpc_polling);
	/* before the events may change */
	hpc_work_fn(NULL);
	mutex_unlock(&hpc_mutex);
	cpus_read_unlock();
	hpc_keep_no_more();
	unregister_trace_sched_switch(hpc_probe_sched_switch, NULL);
	tracepoint_synchronize_unregister();
	cancel_delayed_work_sync(&hpc_sweep);
out:
	mutex_unlock(&hpc_enable_mutex);
}

/**
 * hpc_sum_stats - add up what the CPUs have
 * @sum: the sum. Counters are read while they count
 */
void hpc_sum_stats(struct hpc_stats *sum)
{
	const struct hpc_stats *s;
	int cpu;

	memset(sum, 0, sizeof(*sum));
	for_each_possible_cpu(cpu) {
		s = &per_cpu_ptr(&hpc_cpus, cpu)->stats;
		sum->slices += READ_ONCE(s->slices);
		sum->polled += READ_ONCE(s->polled);
		sum->stretched += READ_ONCE(s->stretched);
		sum->switches += READ_ONCE(s->switches);
		sum->pieces += READ_ONCE(s->pieces);
		sum->lost += READ_ONCE(s->lost);
		sum->nomem += READ_ONCE(s->nomem);
		sum->missed += READ_ONCE(s->missed);
		sum->offline += READ_ONCE(s->offline);
	}
}

/* Behind the initcalls of drivers: their PMUs see a CPU that comes before we do. */
static int __init hpc_init(void)
{
	int state = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "sched/hpc:online",
					      hpc_cpu_online, hpc_cpu_offline);

	return min(state, 0);
}
late_initcall(hpc_init);
