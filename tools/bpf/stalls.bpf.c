// SPDX-License-Identifier: GPL-2.0
/*
 * A CO-RE program on the tracepoints of cpu.stalls: adds the windows up, by cgroup and cause.
 * The kernel fires them under a mutex, so nothing here is atomic.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "stalls.h"

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, CAUSES);
	__type(key, struct where);
	__type(value, struct lost);
} stalls SEC(".maps");

static __always_inline void add(u64 cgroup, u32 event, const char *name, u64 cycles, u64 error)
{
	struct where where = { .cgroup = cgroup, .event = event };
	struct lost *lost = bpf_map_lookup_elem(&stalls, &where), first = { };

	if (!lost) {
		bpf_probe_read_kernel_str(first.name, sizeof(first.name), name);
		bpf_map_update_elem(&stalls, &where, &first, BPF_NOEXIST);
		lost = bpf_map_lookup_elem(&stalls, &where);
	}
	if (!lost)
		return;
	lost->cycles += cycles;
	lost->squares += error * error;
}

SEC("tp_btf/hpc_window")
int BPF_PROG(on_window, u64 cgroup, u64 cycles, u64 unknown, u64 completion, u64 error)
{
	add(cgroup, COMPLETION, "completion", completion, error);
	if (unknown)
		add(cgroup, UNKNOWN, "unknown", unknown, 0);
	return 0;
}

SEC("tp_btf/hpc_stall")
int BPF_PROG(on_stall, u64 cgroup, u32 event, const char *cause, u64 cycles, u64 error)
{
	add(cgroup, event, cause, cycles, error);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
