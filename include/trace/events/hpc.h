/* SPDX-License-Identifier: GPL-2.0 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM hpc

#if !defined(_TRACE_HPC_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_HPC_H

#include <linux/tracepoint.h>

/*
 * A window of a cgroup is closed: what it adds to the cgroup's cpu.stalls.
 *
 * A cgroup's windows have the cycles of its own tasks and of all below it. Each level closes
 * windows of its own, the root cgroup's too, so those of several levels must not be added up.
 *
 * Cycles are the sum of unknown, completion and the causes, for which hpc_stall follows. Error
 * is two standard errors of the number before it. Those of several windows add up by squares.
 *
 * One mutex is held while any of these is fired, so no two CPUs have one at a time.
 */
TRACE_EVENT(hpc_window,

	TP_PROTO(u64 cgroup, u64 cycles, u64 unknown, u64 completion, u64 error),

	TP_ARGS(cgroup, cycles, unknown, completion, error),

	TP_STRUCT__entry(
		__field(u64, cgroup)
		__field(u64, cycles)
		__field(u64, unknown)
		__field(u64, completion)
		__field(u64, error)
	),

	TP_fast_assign(
		__entry->cgroup = cgroup;
		__entry->cycles = cycles;
		__entry->unknown = unknown;
		__entry->completion = completion;
		__entry->error = error;
	),

	TP_printk("cgroup=%llu cycles=%llu unknown=%llu completion=%llu error=%llu",
		  __entry->cgroup, __entry->cycles, __entry->unknown, __entry->completion,
		  __entry->error)
);

/*
 * A cause in that window, or with a dot in its name a source: a part of the cause before the
 * dot. Event is its place in /sys/kernel/hpc/events. What has lost no cycle is left out.
 */
TRACE_EVENT(hpc_stall,

	TP_PROTO(u64 cgroup, u32 event, const char *cause, u64 cycles, u64 error),

	TP_ARGS(cgroup, event, cause, cycles, error),

	TP_STRUCT__entry(
		__field(u64, cgroup)
		__field(u32, event)
		__string(cause, cause)
		__field(u64, cycles)
		__field(u64, error)
	),

	TP_fast_assign(
		__entry->cgroup = cgroup;
		__entry->event = event;
		__assign_str(cause);
		__entry->cycles = cycles;
		__entry->error = error;
	),

	TP_printk("cgroup=%llu event=%u cause=%s cycles=%llu error=%llu",
		  __entry->cgroup, __entry->event, __get_str(cause), __entry->cycles,
		  __entry->error)
);

#endif /* _TRACE_HPC_H */

/* This part must be outside of protection. */
#include <trace/define_trace.h>
