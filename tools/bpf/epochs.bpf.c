// SPDX-License-Identifier: GPL-2.0
/*
 * A CO-RE program on the tracepoints of page access tracking: compiled once, it
 * runs on any kernel that has them, wherever their fields are there.
 */
#include "vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "epochs.h"

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 16);
} epochs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SLOTS);
	__type(key, u32);
	__type(value, u64);
} drains SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, PREDICTORS);
	__type(key, u32);
	__type(value, struct batches);
} prefetches SEC(".maps");

/* By the event's record, whose fields are found through BTF */
SEC("tp/mmpath/mmpath_epoch")
int on_epoch(struct trace_event_raw_mmpath_epoch *event)
{
	struct epoch *epoch = bpf_ringbuf_reserve(&epochs, sizeof(*epoch), 0);

	if (!epoch)
		return 0;
	epoch->pid = BPF_CORE_READ(event, pid);
	epoch->shift = BPF_CORE_READ(event, shift);
	epoch->overhead_permille = BPF_CORE_READ(event, overhead_permille);
	epoch->reserved = 0;
	epoch->records_per_sec = BPF_CORE_READ(event, records_per_sec);
	bpf_ringbuf_submit(epoch, 0);
	return 0;
}

/* By the arguments of the tracepoint itself */
SEC("tp_btf/mmpath_drain")
int BPF_PROG(on_drain, u32 id, pid_t pid, unsigned int records)
{
	u32 slot = 0;
	u64 *count;

	while (slot < SLOTS - 1 && records >> (slot + 1))
		slot++;
	count = bpf_map_lookup_elem(&drains, &slot);
	if (count)
		__sync_fetch_and_add(count, 1);
	return 0;
}

SEC("tp_btf/mmpath_prefetch")
int BPF_PROG(on_prefetch, u64 cgroup, pid_t pid, u32 by, u32 depth, u32 chosen, u32 read, bool miss)
{
	struct batches *batches = bpf_map_lookup_elem(&prefetches, &by);

	if (!batches)
		return 0;
	__sync_fetch_and_add(miss ? &batches->misses : &batches->hits, 1);
	__sync_fetch_and_add(&batches->chosen, chosen);
	__sync_fetch_and_add(&batches->read, read);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
