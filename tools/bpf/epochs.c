// SPDX-License-Identifier: GPL-2.0
/*
 * epochs [SECONDS] - what page access tracking does, epoch by epoch, and in the
 * end how many records each drain had, and what was prefetched. Shows how its
 * tracepoints are used from BPF; needs root, and a kernel with BTF.
 */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sysexits.h>
#include <time.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "epochs.h"
#include "epochs.skel.h"

static volatile sig_atomic_t stopped;

static void stop(int number)
{
	(void)number;
	stopped = 1;
}

/* Why a program does not load is many lines; we say one. */
static int say_nothing(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level;
	(void)format;
	(void)args;
	return 0;
}

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
	struct ring_buffer *ring = ring_buffer__new(bpf_map__fd(bpf->maps.epochs),
						    print_epoch, NULL, NULL);
	int got = 0;

	if (!ring)
		return EX_OSERR;
	printf("     pid    records/s overhead  pages\n");
	while (!stopped && (got >= 0 || got == -EINTR) && (!end || time(NULL) < end))
		got = ring_buffer__poll(ring, 100);
	ring_buffer__free(ring);
	print_drains(bpf_map__fd(bpf->maps.drains));
	print_prefetches(bpf_map__fd(bpf->maps.prefetches));
	return got < 0 && got != -EINTR ? EX_OSERR : EX_OK;
}

int main(int argc, char **argv)
{
	unsigned long seconds = 0;
	struct epochs_bpf *bpf;
	char *rest = "";
	int ret;

	if (argc > 1)
		seconds = strtoul(argv[1], &rest, 10);
	if (argc > 2 || *rest || (argc > 1 && (*argv[1] < '0' || *argv[1] > '9'))) {
		fprintf(stderr, "usage: epochs [SECONDS]\n");
		return EX_USAGE;
	}
	libbpf_set_print(say_nothing);
	signal(SIGINT, stop);
	signal(SIGTERM, stop);
	bpf = epochs_bpf__open_and_load();
	if (!bpf || epochs_bpf__attach(bpf)) {
		fprintf(stderr, "epochs: needs root, and a PATH kernel with BTF (configs/bpf.config)\n");
		epochs_bpf__destroy(bpf);
		return EX_UNAVAILABLE;
	}
	ret = watch(bpf, seconds ? time(NULL) + (time_t)seconds : 0);
	epochs_bpf__destroy(bpf);
	return ret;
}
