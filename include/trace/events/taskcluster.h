/* SPDX-License-Identifier: GPL-2.0 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM taskcluster

#if !defined(_TRACE_TASKCLUSTER_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_TASKCLUSTER_H

#include <linux/tracepoint.h>

/* Pids and counts only: no address leaves through a tracepoint. */
TRACE_EVENT(taskcluster_round,

	TP_PROTO(u64 cgroup, pid_t tgid, u32 threads, u32 clustered, u64 samples, u64 rate),

	TP_ARGS(cgroup, tgid, threads, clustered, samples, rate),

	TP_STRUCT__entry(
		__field(u64, cgroup)
		__field(pid_t, tgid)
		__field(u32, threads)
		__field(u32, clustered)
		__field(u64, samples)
		__field(u64, rate)
	),

	TP_fast_assign(
		__entry->cgroup = cgroup;
		__entry->tgid = tgid;
		__entry->threads = threads;
		__entry->clustered = clustered;
		__entry->samples = samples;
		__entry->rate = rate;
	),

	TP_printk("cgroup=%llu tgid=%d threads=%u clustered=%u samples=%llu remote_per_sec=%llu",
		  __entry->cgroup, __entry->tgid, __entry->threads, __entry->clustered,
		  __entry->samples, __entry->rate)
);

TRACE_EVENT(taskcluster_home,

	TP_PROTO(u64 cgroup, pid_t pid, u32 cluster, int from, int to),

	TP_ARGS(cgroup, pid, cluster, from, to),

	TP_STRUCT__entry(
		__field(u64, cgroup)
		__field(pid_t, pid)
		__field(u32, cluster)
		__field(int, from)
		__field(int, to)
	),

	TP_fast_assign(
		__entry->cgroup = cgroup;
		__entry->pid = pid;
		__entry->cluster = cluster;
		__entry->from = from;
		__entry->to = to;
	),

	TP_printk("cgroup=%llu pid=%d cluster=%u from=%d to=%d",
		  __entry->cgroup, __entry->pid, __entry->cluster, __entry->from, __entry->to)
);

TRACE_EVENT(taskcluster_move,

	TP_PROTO(u64 cgroup, pid_t pid, int from, int to),

	TP_ARGS(cgroup, pid, from, to),

	TP_STRUCT__entry(
		__field(u64, cgroup)
		__field(pid_t, pid)
		__field(int, from)
		__field(int, to)
	),

	TP_fast_assign(
		__entry->cgroup = cgroup;
		__entry->pid = pid;
		__entry->from = from;
		__entry->to = to;
	),

	TP_printk("cgroup=%llu pid=%d from=%d to=%d",
		  __entry->cgroup, __entry->pid, __entry->from, __entry->to)
);

TRACE_EVENT(taskcluster_judge,

	TP_PROTO(u64 cgroup, pid_t tgid, u64 before, u64 now, bool undone),

	TP_ARGS(cgroup, tgid, before, now, undone),

	TP_STRUCT__entry(
		__field(u64, cgroup)
		__field(pid_t, tgid)
		__field(u64, before)
		__field(u64, now)
		__field(bool, undone)
	),

	TP_fast_assign(
		__entry->cgroup = cgroup;
		__entry->tgid = tgid;
		__entry->before = before;
		__entry->now = now;
		__entry->undone = undone;
	),

	TP_printk("cgroup=%llu tgid=%d before=%llu now=%llu undone=%d",
		  __entry->cgroup, __entry->tgid, __entry->before, __entry->now,
		  __entry->undone)
);

#endif /* _TRACE_TASKCLUSTER_H */

/* This part must be outside of protection. */
#include <trace/define_trace.h>
