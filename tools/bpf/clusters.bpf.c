// SPDX-License-Identifier: GPL-2.0
/*
 * A CO-RE program on the tracepoints of threads that share: a record for each step, and how many
 * there were of each kind. These are counted here, so that they are right if records are lost.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "clusters.h"

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 16);
} steps SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, WHATS);
	__type(key, u32);
	__type(value, u64);
} counts SEC(".maps");

/* Counts it. Returns room for its record, or NULL. */
static __always_inline struct step *begin_step(u32 what, u64 cgroup, pid_t pid)
{
	u64 *count = bpf_map_lookup_elem(&counts, &what);
	struct step *step;

	if (count)
		__sync_fetch_and_add(count, 1);
	step = bpf_ringbuf_reserve(&steps, sizeof(*step), 0);
	if (!step)
		return NULL;
	__builtin_memset(step, 0, sizeof(*step));
	step->what = what;
	step->cgroup = cgroup;
	step->pid = pid;
	return step;
}

SEC("tp_btf/taskcluster_round")
int BPF_PROG(on_round, u64 cgroup, pid_t tgid, u32 threads, u32 clustered, u64 samples, u64 rate)
{
	struct step *step = begin_step(FOUND, cgroup, tgid);

	if (!step)
		return 0;
	step->threads = threads;
	step->clustered = clustered;
	step->now = rate;
	bpf_ringbuf_submit(step, 0);
	return 0;
}

SEC("tp_btf/taskcluster_home")
int BPF_PROG(on_home, u64 cgroup, pid_t pid, u32 cluster, int from, int to)
{
	struct step *step = begin_step(HOME, cgroup, pid);

	if (!step)
		return 0;
	step->cluster = cluster;
	step->from = from;
	step->to = to;
	bpf_ringbuf_submit(step, 0);
	return 0;
}

SEC("tp_btf/taskcluster_move")
int BPF_PROG(on_move, u64 cgroup, pid_t pid, int from, int to)
{
	struct step *step = begin_step(MOVED, cgroup, pid);

	if (!step)
		return 0;
	step->from = from;
	step->to = to;
	bpf_ringbuf_submit(step, 0);
	return 0;
}

SEC("tp_btf/taskcluster_judge")
int BPF_PROG(on_judge, u64 cgroup, pid_t tgid, u64 before, u64 now, bool undone)
{
	struct step *step = begin_step(undone ? UNDONE : KEPT, cgroup, tgid);

	if (!step)
		return 0;
	step->before = before;
	step->now = now;
	bpf_ringbuf_submit(step, 0);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
