// SPDX-License-Identifier: GPL-2.0
/*
 * epochs [SECONDS] - what page access tracking does, epoch by epoch, and in the
 * end how many records each drain had, and what was prefetched. Shows how its
 * tracepoints are used from BPF; needs root, and a kernel with BTF.
 */
#include <bpf/bpf.h>

#include "epochs.h"
#include "epochs.skel.h"
#include "live.h"

static int print_epoch(void *unused, void *data, size_t size)
{
	const struct epoch *epoch = data;

	(void)unused;
	(void)size;
	printf("%8d %12llu %8.1f %%  1/%u\n", epoch->pid, epoch->records_per_sec,
	       epoch->overhead_permille / 10.0, 1U << epoch->shift);
	fflush(stdout);
	return 0;
}

static void print_drains(int map)
{
	unsigned long long count;
	unsigned int slot;

	printf("\n records/drain        drains\n");
	for (slot = 0; slot < SLOTS; slot++)
		if (!bpf_map_lookup_elem(map, &slot, &count) && count)
			printf("%7u and more %12llu\n", 1U << slot, count);
}

static void print_prefetches(int map)
{
	static const char *const names[PREDICTORS] = { "space", "ppg" };
	struct batches batches;
	unsigned int by;

	printf("\nprefetch  after misses  after hits  pages chosen        read\n");
	for (by = 0; by < PREDICTORS; by++)
		if (!bpf_map_lookup_elem(map, &by, &batches))
			printf("%-8s %13llu %11llu %13llu %11llu\n", names[by], batches.misses,
			       batches.hits, batches.chosen, batches.read);
}

static int watch(struct epochs_bpf *bpf, time_t end)
{
	int ret;

	printf("     pid    records/s overhead  pages\n");
	ret = live_poll(bpf_map__fd(bpf->maps.epochs), print_epoch, end);
	print_drains(bpf_map__fd(bpf->maps.drains));
	print_prefetches(bpf_map__fd(bpf->maps.prefetches));
	return ret;
}

int main(int argc, char **argv)
{
	struct epochs_bpf *bpf;
	time_t end;
	int ret;

	if (!live_begin(argc, argv, "epochs", &end))
		return EX_USAGE;
	bpf = epochs_bpf__open_and_load();
	ret = bpf && !epochs_bpf__attach(bpf) ? watch(bpf, end) : live_unavailable("epochs");
	epochs_bpf__destroy(bpf);
	return ret;
}
