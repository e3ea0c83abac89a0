// SPDX-License-Identifier: GPL-2.0
/*
 * pathsim - what other replacement policies would have made of a reference string
 *
 *   pathsim [--policy NAME,...] [--size PAGES,...] [--points N] [--format F] TRACE
 *   pathsim --prefetch NAME,... [--size PAGES,...] [--points N] [--format F] TRACE
 *   pathsim --write FORMAT --output FILE [--format F] TRACE
 *
 * Prints a table: sizes of memory in pages, and the misses of each policy, first
 * touches among them; or what prefetching from swap would have made of it. See
 * Documentation/mm/path/pathsim.rst.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "../pathctl/pathctl.h"
#include "prefetch.h"
#include "trace.h"

#define MAX_SIZES	1024
#define MAX_POLICIES	16

struct job {
	const struct policy *policy[MAX_POLICIES];
	const struct prefetcher *prefetcher[MAX_POLICIES];
	uint32_t size[MAX_SIZES];
	int nr_policies, nr_prefetchers, nr_sizes, points, format, write;
	bool only_written, only_timed, only_policies, only_prefetch;
	const char *output;
};

static void usage(FILE *f)
{
	int i;

	fputs("usage: pathsim [--policy NAME,...] [--size PAGES,...] [--points N] [--format F] TRACE\n"
	      "       pathsim --prefetch NAME,... [--size PAGES,...] [--points N] [--format F] TRACE\n"
	      "       pathsim --write FORMAT --output FILE [--format F] TRACE\n\n"
	      "  --policy  which ones (all)\n"
	      "  --size    sizes of memory, pages\n"
	      "  --points  or so many, equally far apart up to the footprint (20)\n"
	      "  --filter  leave out touches of so many pages touched last (0)\n"
	      "  --written leave out pages that are never written\n"
	      "  --timed   count misses of the part only that is marked, in ground truth or CSV\n"
	      "  --pab     entries of a page access buffer before lirs, fixed, region, auto,\n"
	      "            and --records (0)\n"
	      "  --kernel  what auto leaves alone if nothing is better: twolist or lru (twolist)\n"
	      "  --sample  pages that auto may simulate with (3072)\n"
	      "  --epoch   after which auto and region look, ms: a touch takes 1 us, a miss 1 ms (1000)\n"
	      "  --prefetch who reads pages from swap ahead, in an LRU memory; all: each of them\n"
	      "  --latency of the swap device for a page, us (100)\n"
	      "  --depth   pages that it reads and writes at the same time (32)\n"
	      "  --cpu     of a miss, of the first touch of a page that was read ahead, and of\n"
	      "            reading a page ahead, us (4,1,2)\n"
	      "  --touch   a touch takes so long, ns (1000)\n"
	      "  --records ppg and auto learn from all touches that --pab lets through, too;\n"
	      "            each takes so long, ns\n"
	      "  --format  of TRACE: csv, oracle (libCacheSim's oracleGeneral), truth, log;\n"
	      "            what it looks like if not given. - is standard input\n"
	      "  --write   write the trace as csv, oracle or log\n\n"
	      "policies:\n", f);
	for (i = 0; policies[i]; i++)
		fprintf(f, "  %-9s %s\n", policies[i]->name, policies[i]->about);
	fputs("\nprefetchers:\n", f);
	for (i = 0; prefetchers[i]; i++)
		fprintf(f, "  %-9s %s\n", prefetchers[i]->name, prefetchers[i]->about);
}

static void parse_policies(struct job *job, char *list)
{
	char *name;

	job->only_policies = true;
	job->nr_policies = 0;
	while ((name = strsep(&list, ","))) {
		if (!*name)
			die(EX_USAGE, "--policy: the name of one is missing");
		if (job->nr_policies == MAX_POLICIES)
			die(EX_USAGE, "too many policies");
		job->policy[job->nr_policies] = policy_by_name(name);
		if (!job->policy[job->nr_policies++])
			die(EX_USAGE, "no policy is called %s", name);
	}
}

static void parse_prefetchers(struct job *job, char *list)
{
	char *name;
	int i;

	job->only_prefetch = true;
	job->nr_prefetchers = 0;
	while ((name = strsep(&list, ","))) {
		if (!*name)
			die(EX_USAGE, "--prefetch: the name of one is missing");
		for (i = 0; prefetchers[i]; i++) {
			if (strcmp(name, "all") && strcmp(name, prefetchers[i]->name))
				continue;
			if (job->nr_prefetchers == MAX_POLICIES)
				die(EX_USAGE, "too many prefetchers");
			job->prefetcher[job->nr_prefetchers++] = prefetchers[i];
		}
		if (strcmp(name, "all") && !prefetcher_by_name(name))
			die(EX_USAGE, "no prefetcher is called %s", name);
	}
}

/* More than an hour is a mistake. */
static uint64_t parse_time(const char *text, uint64_t ns)
{
	uint64_t value;

	if (!parse_u64(text, &value) || value > 3600 * 1000000000ULL / ns)
		die(EX_USAGE, "%s: not a time", text);
	return value * ns;
}

static void parse_cpu(char *list)
{
	uint64_t *const times[] = {
		&prefetch_options.fault, &prefetch_options.hit, &prefetch_options.page,
	};
	unsigned int i;

	for (i = 0; i < 3 && list; i++)
		*times[i] = parse_time(strsep(&list, ","), 1000);
	if (i < 3 || list)
		die(EX_USAGE, "--cpu: three times, as 4,1,2");
}

static void parse_depth(const char *text)
{
	uint64_t depth;

	if (!parse_u64(text, &depth) || !depth || depth > PREFETCH_DEPTHS)
		die(EX_USAGE, "%s: not a depth from 1 to %u", text, PREFETCH_DEPTHS);
	prefetch_options.depth = depth;
}

static void parse_kernel(const char *name)
{
	sim_options.kernel = policy_by_name(name);
	if (!sim_options.kernel || !sim_options.kernel->reclaim)
		die(EX_USAGE, "the kernel is twolist or lru, not %s", name);
}

static uint32_t parse_pages(const char *text)
{
	uint64_t value;

	if (!*text)
		die(EX_USAGE, "a number of pages is missing");
	if (!parse_u64(text, &value) || !value || value > UINT32_MAX)
		die(EX_USAGE, "%s: not a number of pages", text);
	return value;
}

static void parse_sizes(struct job *job, char *list)
{
	char *text;

	while ((text = strsep(&list, ","))) {
		if (job->nr_sizes == MAX_SIZES)
			die(EX_USAGE, "at most %d sizes", MAX_SIZES);
		job->size[job->nr_sizes++] = parse_pages(text);
	}
}

static int parse_format(const char *name)
{
	int format = trace_format(name);

	if (format < 0)
		die(EX_USAGE, "%s: not a format; csv, oracle, truth or log", name);
	return format;
}

static const char *parse(struct job *job, int argc, char **argv)
{
	static const struct option options[] = {
		{ "policy", required_argument, NULL, 'p' },
		{ "size", required_argument, NULL, 's' },
		{ "points", required_argument, NULL, 'n' },
		{ "filter", required_argument, NULL, 'F' },
		{ "written", no_argument, NULL, 'W' },
		{ "timed", no_argument, NULL, 't' },
		{ "pab", required_argument, NULL, 'a' },
		{ "kernel", required_argument, NULL, 'k' },
		{ "sample", required_argument, NULL, 'm' },
		{ "epoch", required_argument, NULL, 'e' },
		{ "prefetch", required_argument, NULL, 'r' },
		{ "latency", required_argument, NULL, 'l' },
		{ "depth", required_argument, NULL, 'd' },
		{ "cpu", required_argument, NULL, 'c' },
		{ "touch", required_argument, NULL, 'T' },
		{ "records", required_argument, NULL, 'R' },
		{ "format", required_argument, NULL, 'f' },
		{ "write", required_argument, NULL, 'w' },
		{ "output", required_argument, NULL, 'o' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "h", options, NULL)) >= 0) {
		switch (c) {
		case 'p': parse_policies(job, optarg); break;
		case 'r': parse_prefetchers(job, optarg); break;
		case 'l': prefetch_options.latency = parse_time(optarg, 1000); break;
		case 'd': parse_depth(optarg); break;
		case 'c': parse_cpu(optarg); break;
		case 'T': prefetch_options.touch = parse_time(optarg, 1); break;
		case 'R':
			prefetch_options.record = parse_time(optarg, 1);
			prefetch_options.records = true;
			break;
		case 's': parse_sizes(job, optarg); break;
		case 'n': job->points = parse_pages(optarg); break;
		case 'F': trace_filter(parse_pages(optarg)); break;
		case 'W': job->only_written = true; break;
		case 't': job->only_timed = true; break;
		case 'a': sim_options.pab = parse_pages(optarg); break;
		case 'k': parse_kernel(optarg); break;
		case 'm': sim_options.sample = parse_pages(optarg); break;
		case 'e': sim_options.epoch = parse_pages(optarg); break;
		case 'f': job->format = parse_format(optarg); break;
		case 'w': job->write = parse_format(optarg); break;
		case 'o': job->output = optarg; break;
		case 'h': usage(stdout); close_stdout(); exit(0);
		default: usage(stderr); exit(EX_USAGE);
		}
	}
	if (optind != argc - 1 || (job->write >= 0) != !!job->output ||
	    (job->write >= 0 && (job->only_timed || job->only_prefetch)) ||
	    (job->only_policies && job->only_prefetch) || job->points > MAX_SIZES) {
		usage(stderr);
		exit(EX_USAGE);
	}
	return argv[optind];
}

static void choose_sizes(struct job *job, uint32_t pages)
{
	uint32_t size;
	int i;

	for (i = 1; i <= job->points; i++) {
		size = (uint64_t)pages * i / job->points;
		if (size && (!job->nr_sizes || size != job->size[job->nr_sizes - 1]))
			job->size[job->nr_sizes++] = size;
	}
}

static void print_trace(const struct job *job, const struct trace *t)
{
	printf("# %zu touches, %u pages", t->n, t->pages);
	if (job->only_timed)
		printf("; timed: %zu touches, %u new pages", t->n - t->begin,
		       t->pages - trace_known(t));
	putchar('\n');
}

static void print_table(const struct job *job, const struct trace *t)
{
	int i, j;

	print_trace(job, t);
	printf("pages");
	for (j = 0; j < job->nr_policies; j++)
		printf(",%s", job->policy[j]->name);
	putchar('\n');
	for (i = 0; i < job->nr_sizes; i++) {
		printf("%u", job->size[i]);
		for (j = 0; j < job->nr_policies; j++)
			printf(",%zu", policy_misses(job->policy[j], job->size[i], t));
		putchar('\n');
		close_stdout();
	}
}

/* What of what, per cent; "-" of nothing */
static void print_share(double part, double all)
{
	double share = all ? part * 100 / all : 0;

	if (!all)
		printf(",-");
	else
		/* no "-0.0" */
		printf(",%.1f", share > -0.05 && share < 0.05 ? 0 : share);
}

static void print_prefetch(uint32_t size, const struct prefetcher *p,
			   const struct prefetch_result *r, const struct prefetch_result *none)
{
	printf("%u,%s,%zu", size, p->name, none->misses);
	print_share((double)none->misses - r->misses, none->misses);
	print_share(r->hits, r->hits + r->unused);
	print_share(r->soon, r->hits + r->unused);
	print_share(r->late, r->hits);
	print_share(r->pollution, none->misses);
	printf(",%.3f", none->ns ? (double)r->ns / none->ns : 1);
	if (prefetch_options.records)
		printf(",%zu", r->records);
	putchar('\n');
}

static void print_prefetchers(const struct job *job, const struct trace *t)
{
	struct layout *l = layout_create(t);
	bool *missed = sim_alloc(t->n, sizeof(*missed));
	struct prefetch_result none, r;
	int i, j;

	print_trace(job, t);
	printf("pages,prefetch,misses,hidden,precision,soon,late,pollution,time%s\n",
	       prefetch_options.records ? ",records" : "");
	for (i = 0; i < job->nr_sizes; i++) {
		prefetch_run(prefetchers[0], job->size[i], l, missed, &none);
		for (j = 0; j < job->nr_prefetchers; j++) {
			r = none;
			if (job->prefetcher[j] != prefetchers[0])
				prefetch_run(job->prefetcher[j], job->size[i], l, missed, &r);
			print_prefetch(job->size[i], job->prefetcher[j], &r, &none);
			close_stdout();
		}
	}
	free(missed);
	layout_destroy(l);
}

int main(int argc, char **argv)
{
	struct job job = { .points = 20, .format = -1, .write = -1 };
	struct trace t = { };
	const char *file;

	while (policies[job.nr_policies]) {
		job.policy[job.nr_policies] = policies[job.nr_policies];
		job.nr_policies++;
	}
	file = parse(&job, argc, argv);
	trace_read(&t, file, job.format < 0 ? trace_guess(file) : (enum trace_format)job.format);
	if (!job.only_timed)
		t.begin = 0;
	else if (t.end)
		trace_keep_timed(&t);
	else
		die(EX_DATAERR, "%s: no marks around what is timed", file);
	if (job.only_written)
		trace_keep_written(&t);
	if (!t.n)
		die(EX_DATAERR, "%s: no touches", file);
	policy_next_uses(&t);
	if (job.write >= 0) {
		trace_write(&t, job.output, job.write);
	} else {
		if (!job.nr_sizes)
			choose_sizes(&job, t.pages);
		if (job.only_prefetch)
			print_prefetchers(&job, &t);
		else
			print_table(&job, &t);
	}
	trace_free(&t);
	close_stdout();
	return 0;
}
