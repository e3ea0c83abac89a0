// SPDX-License-Identifier: GPL-2.0
/*
 * clusters [SECONDS] - threads that share, step by step: who was found, where they went, and how
 * many lines came from other chips before and after. Shows how these tracepoints are used from
 * BPF; needs root, and a kernel with BTF.
 */
#include <bpf/bpf.h>

#include "clusters.h"
#include "clusters.skel.h"
#include "live.h"

static const char *const names[WHATS] = { "found", "home", "moved", "kept", "undone" };

static void print_cpu(const char *before, int cpu)
{
	if (cpu < 0)
		printf("%s-", before);
	else
		printf("%s%d", before, cpu);
}

static int print_step(void *unused, void *data, size_t size)
{
	const struct step *step = data;

	(void)unused;
	(void)size;
	printf("%8llu %8d %-6s ", step->cgroup, step->pid, names[step->what % WHATS]);
	switch (step->what) {
	case FOUND:
		printf("%u of %u threads share, %llu lines/s", step->clustered, step->threads,
		       step->now);
		break;
	case HOME:
		printf("cluster %u, ", step->cluster);
		/* fall through */
	case MOVED:
		print_cpu("CPU ", step->from);
		print_cpu(" -> ", step->to);
		break;
	default:
		printf("%llu -> %llu lines/s", step->before, step->now);
	}
	printf("\n");
	fflush(stdout);
	return 0;
}

static void print_counts(int map)
{
	unsigned long long count;
	unsigned int what;

	printf("\n");
	for (what = 0; what < WHATS; what++)
		if (!bpf_map_lookup_elem(map, &what, &count))
			printf("%s %llu\n", names[what], count);
}

static int watch(struct clusters_bpf *bpf, time_t end)
{
	int ret;

	printf("  cgroup      pid what\n");
	fflush(stdout);
	ret = live_poll(bpf_map__fd(bpf->maps.steps), print_step, end);
	print_counts(bpf_map__fd(bpf->maps.counts));
	return ret;
}

int main(int argc, char **argv)
{
	struct clusters_bpf *bpf;
	time_t end;
	int ret;

	if (!live_begin(argc, argv, "clusters", &end))
		return EX_USAGE;
	bpf = clusters_bpf__open_and_load();
	ret = bpf && !clusters_bpf__attach(bpf) ? watch(bpf, end) : live_unavailable("clusters");
	clusters_bpf__destroy(bpf);
	return ret;
}
