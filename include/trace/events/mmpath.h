/* SPDX-License-Identifier: GPL-2.0 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM mmpath

#if !defined(_TRACE_MMPATH_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_MMPATH_H

#include <linux/tracepoint.h>

/* Counts only: no address leaves through a tracepoint. */
TRACE_EVENT(mmpath_drain,

	TP_PROTO(u32 ctx, pid_t pid, unsigned int records),

	TP_ARGS(ctx, pid, records),

	TP_STRUCT__entry(
		__field(u32, ctx)
		__field(pid_t, pid)
		__field(unsigned int, records)
	),

	TP_fast_assign(
		__entry->ctx = ctx;
		__entry->pid = pid;
		__entry->records = records;
	),

	TP_printk("ctx=%u pid=%d records=%u",
		  __entry->ctx, __entry->pid, __entry->records)
);

TRACE_EVENT(mmpath_epoch,

	TP_PROTO(u32 ctx, pid_t pid, unsigned long records_per_sec,
		 unsigned int overhead_permille, unsigned int shift),

	TP_ARGS(ctx, pid, records_per_sec, overhead_permille, shift),

	TP_STRUCT__entry(
		__field(u32, ctx)
		__field(pid_t, pid)
		__field(unsigned long, records_per_sec)
		__field(unsigned int, overhead_permille)
		__field(unsigned int, shift)
	),

	TP_fast_assign(
		__entry->ctx = ctx;
		__entry->pid = pid;
		__entry->records_per_sec = records_per_sec;
		__entry->overhead_permille = overhead_permille;
		__entry->shift = shift;
	),

	TP_printk("ctx=%u pid=%d records_per_sec=%lu overhead_permille=%u shift=%u",
		  __entry->ctx, __entry->pid, __entry->records_per_sec,
		  __entry->overhead_permille, __entry->shift)
);

TRACE_EVENT(mmpath_driver,

	TP_PROTO(const char *from, const char *to),

	TP_ARGS(from, to),

	TP_STRUCT__entry(
		__string(from, from)
		__string(to, to)
	),

	TP_fast_assign(
		__assign_str(from);
		__assign_str(to);
	),

	TP_printk("from=%s to=%s", __get_str(from), __get_str(to))
);

TRACE_EVENT(mmpath_drop,

	TP_PROTO(u32 ctx, pid_t pid, const char *reason),

	TP_ARGS(ctx, pid, reason),

	TP_STRUCT__entry(
		__field(u32, ctx)
		__field(pid_t, pid)
		__string(reason, reason)
	),

	TP_fast_assign(
		__entry->ctx = ctx;
		__entry->pid = pid;
		__assign_str(reason);
	),

	TP_printk("ctx=%u pid=%d reason=%s",
		  __entry->ctx, __entry->pid, __get_str(reason))
);

/* Pages that were read from swap ahead at once; @by is an enum mmpath_predictor. */
TRACE_EVENT(mmpath_prefetch,

	TP_PROTO(u64 cgroup, pid_t pid, unsigned int by, unsigned int depth,
		 unsigned int chosen, unsigned int read, bool miss),

	TP_ARGS(cgroup, pid, by, depth, chosen, read, miss),

	TP_STRUCT__entry(
		__field(u64, cgroup)
		__field(pid_t, pid)
		__field(unsigned int, by)
		__field(unsigned int, depth)
		__field(unsigned int, chosen)
		__field(unsigned int, read)
		__field(bool, miss)
	),

	TP_fast_assign(
		__entry->cgroup = cgroup;
		__entry->pid = pid;
		__entry->by = by;
		__entry->depth = depth;
		__entry->chosen = chosen;
		__entry->read = read;
		__entry->miss = miss;
	),

	TP_printk("cgroup=%llu pid=%d by=%s depth=%u chosen=%u read=%u from=%s",
		  __entry->cgroup, __entry->pid,
		  __print_symbolic(__entry->by, { 0, "space" }, { 1, "ppg" }),
		  __entry->depth, __entry->chosen, __entry->read,
		  __entry->miss ? "miss" : "hit")
);

#endif /* _TRACE_MMPATH_H */

/* This part must be outside protection */
#include <trace/define_trace.h>
