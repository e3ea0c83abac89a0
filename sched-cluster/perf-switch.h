/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Let other events count on this CPU, from an interrupt. Included by kernel/events/core.c, whose
 * functions it needs: perf_event_enable() sleeps, and schedules all events for each.
 *
 * This is done thousands of times a second. An event that has a counter, and one that gets the
 * counter of such an event, go the short way: what event_sched_out() and event_sched_in() do
 * for events of tasks, of cgroups, and with samples or siblings is left out, as ours are none of
 * these, and time is not brought up to date, as the time without a counter is the same. All
 * others go perf's own way.
 */
#include "hpc.h"

/* Take its counter from it. Return: it had one */
static bool hpc_switch_out(struct perf_event *event, struct perf_event_context *ctx,
			   struct perf_cpu_pmu_context *cpc)
{
	u64 ran = ctx->time - event->tstamp;

	if (event->state != PERF_EVENT_STATE_ACTIVE) {
		perf_event_set_state(event, min(event->state, PERF_EVENT_STATE_OFF));
		return false;
	}
	list_del_init(&event->active_list);
	event->pmu->del(event, 0);
	event->oncpu = -1;
	event->total_time_enabled += ran;
	event->total_time_running += ran;
	WRITE_ONCE(event->state, PERF_EVENT_STATE_OFF);
	cpc->active_oncpu--;
	return true;
}

/* Give it a counter that is free. */
static bool hpc_switch_in(struct perf_event *event, struct perf_event_context *ctx,
			  struct perf_cpu_pmu_context *cpc)
{
	if (!(ctx->is_active & EVENT_FLEXIBLE) || cpc->exclusive ||
	    event->pmu->add(event, PERF_EF_START))
		return false;
	WRITE_ONCE(event->oncpu, smp_processor_id());
	/* as in event_sched_in(): who sees ACTIVE must see oncpu */
	smp_wmb();
	event->tstamp = ctx->time;
	WRITE_ONCE(event->state, PERF_EVENT_STATE_ACTIVE);
	list_add_tail(&event->active_list, &event->pmu_ctx->flexible_active);
	cpc->active_oncpu++;
	return true;
}

/* Perf's own way: the event waits for its turn, as any other. */
static void hpc_wait_in(struct perf_event *event, struct perf_event_context *ctx)
{
	int can_add_hw = 1;

	perf_event_set_state(event, PERF_EVENT_STATE_INACTIVE);
	/* else the context goes on as a whole, below */
	if (ctx->is_active & EVENT_FLEXIBLE)
		merge_sched_in(event, &can_add_hw);
}

static void hpc_wait(struct perf_event *const *event, u64 in, struct perf_cpu_context *cpuctx)
{
	struct perf_event_context *ctx = &cpuctx->ctx;

	ctx_time_freeze(cpuctx, ctx);
	for (; in; in &= in - 1)
		hpc_wait_in(event[__ffs64(in)], ctx);
	if (!(ctx->is_active & EVENT_FLEXIBLE))
		ctx_sched_in(ctx, NULL, EVENT_PINNED | EVENT_FLEXIBLE);
}

/* Bring the counts of those that have a counter up to date. Return: which these are */
static u64 hpc_read_local(struct perf_event *const *event, u64 set)
{
	u64 counts = 0;
	unsigned int i;

	for (; set; set &= set - 1) {
		i = __ffs64(set);
		if (event[i]->state != PERF_EVENT_STATE_ACTIVE)
			continue;
		event[i]->pmu->read(event[i]);
		counts |= BIT_ULL(i);
	}
	return counts;
}

/**
 * perf_event_read_set_local - read events of this CPU
 * @event: events of this CPU, all of one PMU
 * @set: those to read, a bit for each
 *
 * What each has counted is in its .count then.
 *
 * Context: interrupts are off.
 * Return: those that have a counter now
 */
u64 perf_event_read_set_local(struct perf_event *const *event, u64 set)
{
	struct pmu *pmu = event[0]->pmu;
	u64 counts;

	lockdep_assert_irqs_disabled();
	pmu->start_txn(pmu, PERF_PMU_TXN_READ);
	counts = hpc_read_local(event, set);
	pmu->commit_txn(pmu);
	return counts;
}

/**
 * perf_event_switch_local - disable some events of this CPU, and enable others
 * @event: flexible events of this CPU that count and do not sample, without a group or cgroup,
 *	all of one PMU
 * @from: those that are enabled, a bit for each
 * @to: those that shall be
 *
 * What each of @from has counted is in its .count then, all until the same time. Events of others
 * stay where they are. An event for which there is no counter is left to perf, which rotates it as
 * any other.
 *
 * Context: interrupts are off. Takes the locks of this CPU's contexts.
 * Return: those of @from that had a counter until now
 */
u64 perf_event_switch_local(struct perf_event *const *event, u64 from, u64 to)
{
	struct perf_cpu_context *cpuctx = this_cpu_ptr(&perf_cpu_context);
	struct perf_event_context *ctx = &cpuctx->ctx;
	struct pmu *pmu = event[0]->pmu;
	struct perf_cpu_pmu_context *cpc = this_cpu_ptr(pmu->cpu_pmu_context);
	u64 counted, set, wait = 0;

	lockdep_assert_irqs_disabled();
	perf_ctx_lock(cpuctx, cpuctx->task_ctx);
	perf_pmu_disable(pmu);
	counted = hpc_read_local(event, from & to);
	for (set = from & ~to; set; set &= set - 1)
		if (hpc_switch_out(event[__ffs64(set)], ctx, cpc))
			counted |= BIT_ULL(__ffs64(set));
	for (set = to & ~from; set; set &= set - 1)
		if (!hpc_switch_in(event[__ffs64(set)], ctx, cpc))
			wait |= BIT_ULL(__ffs64(set));
	if (wait)
		hpc_wait(event, wait, cpuctx);
	perf_pmu_enable(pmu);
	perf_ctx_unlock(cpuctx, cpuctx->task_ctx);
	return counted;
}
