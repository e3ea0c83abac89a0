/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Let other events count on this CPU, from an interrupt. Included by kernel/events/core.c, whose
 * functions it needs: perf_event_enable() sleeps, and schedules all events for each.
 */
#include "hpc.h"

static void hpc_switch_out(struct perf_event *event, struct perf_event_context *ctx)
{
	event_sched_out(event, ctx);
	if (event->state == PERF_EVENT_STATE_INACTIVE)
		perf_event_set_state(event, PERF_EVENT_STATE_OFF);
}

static void hpc_switch_in(struct perf_event *event, struct perf_event_context *ctx)
{
	int can_add_hw = 1;

	if (event->state != PERF_EVENT_STATE_OFF)
		return;
	perf_event_set_state(event, PERF_EVENT_STATE_INACTIVE);
	/* else the context goes on as a whole, below */
	if (ctx->is_active & EVENT_FLEXIBLE)
		merge_sched_in(event, &can_add_hw);
}

/**
 * perf_event_switch_local - disable some events of this CPU, and enable others
 * @event: flexible events of this CPU without a group, all of one PMU
 * @out: those to disable, a bit for each
 * @in: those to enable
 *
 * Events of others stay where they are. An event for which there is no counter is left to perf,
 * which rotates it as any other.
 *
 * Context: interrupts are off. Takes the locks of this CPU's contexts.
 */
void perf_event_switch_local(struct perf_event *const *event, u64 out, u64 in)
{
	struct perf_cpu_context *cpuctx = this_cpu_ptr(&perf_cpu_context);
	struct perf_event_context *ctx = &cpuctx->ctx;
	struct pmu *pmu = event[0]->pmu;

	lockdep_assert_irqs_disabled();
	perf_ctx_lock(cpuctx, cpuctx->task_ctx);
	perf_pmu_disable(pmu);
	ctx_time_freeze(cpuctx, ctx);
	for (; out; out &= out - 1)
		hpc_switch_out(event[__ffs64(out)], ctx);
	for (; in; in &= in - 1)
		hpc_switch_in(event[__ffs64(in)], ctx);
	if (!(ctx->is_active & EVENT_FLEXIBLE))
		ctx_sched_in(ctx, NULL, EVENT_PINNED | EVENT_FLEXIBLE);
	perf_pmu_enable(pmu);
	perf_ctx_unlock(cpuctx, cpuctx->task_ctx);
}
