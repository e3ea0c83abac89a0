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

#endif /* _TRACE_MMPATH_H */

/* This part must be outside protection */
#include <trace/define_trace.h>
