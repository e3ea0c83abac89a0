// SPDX-License-Identifier: GPL-2.0
/*
 * clusters [SECONDS] - threads that share, step by step: who was found, where they went, and how
 * many lines came from other chips before and after. Shows how these tracepoints are used from
 * BPF; needs root, and a kernel with BTF.
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

#include "clusters.h"
#include "clusters.skel.h"

static const char *const names[WHATS] = { "found", "home", "moved", "kept", "undone" };

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
	struct ring_buffer *ring = ring_buffer__new(bpf_map__fd(bpf->maps.steps), print_step, NULL,
						    NULL);
	int got = 0;

	if (!ring)
		return EX_OSERR;
	printf("  cgroup      pid what\n");
	fflush(stdout);
	while (!stopped && (got >= 0 || got == -EINTR) && (!end || time(NULL) < end))
		got = ring_buffer__poll(ring, 100);
	ring_buffer__free(ring);
	print_counts(bpf_map__fd(bpf->maps.counts));
	return got < 0 && got != -EINTR ? EX_OSERR : EX_OK;
}

int main(int argc, char **argv)
{
	unsigned long seconds = 0;
	struct clusters_bpf *bpf;
	char *rest = "";
	int ret;

	if (argc > 1)
		seconds = strtoul(argv[1], &rest, 10);
	if (argc > 2 || *rest || (argc > 1 && (*argv[1] < '0' || *argv[1] > '9'))) {
		fprintf(stderr, "usage: clusters [SECONDS]\n");
		return EX_USAGE;
	}
	libbpf_set_print(say_nothing);
	signal(SIGINT, stop);
	signal(SIGTERM, stop);
	bpf = clusters_bpf__open_and_load();
	if (!bpf || clusters_bpf__attach(bpf)) {
		fprintf(stderr,
			"clusters: needs root, and a PATH kernel with BTF (configs/bpf.config)\n");
		clusters_bpf__destroy(bpf);
		return EX_UNAVAILABLE;
	}
	ret = watch(bpf, seconds ? time(NULL) + (time_t)seconds : 0);
	clusters_bpf__destroy(bpf);
	return ret;
}
