// SPDX-License-Identifier: GPL-2.0
/*
 * pathsim - what other replacement policies would have made of a reference string
 *
 *   pathsim [--policy NAME,...] [--size PAGES,...] [--points N] [--format F] TRACE
 *   pathsim --write FORMAT --output FILE [--format F] TRACE
 *
 * Prints a table: sizes of memory in pages, and the misses of each policy, first
 * touches among them. See Documentation/mm/path/pathsim.rst.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "../pathctl/pathctl.h"
#include "trace.h"

#define MAX_SIZES	1024
#define MAX_POLICIES	16

struct job {
	const struct policy *policy[MAX_POLICIES];
	uint32_t size[MAX_SIZES];
	int nr_policies, nr_sizes, points, format, write;
	bool only_written, only_timed;
	const char *output;
};

static void usage(FILE *f)
{
	int i;

	fputs("usage: pathsim [--policy NAME,...] [--size PAGES,...] [--points N] [--format F] TRACE\n"
	      "       pathsim --write FORMAT --output FILE [--format F] TRACE\n\n"
	      "  --policy  which ones (all)\n"
	      "  --size    sizes of memory, pages\n"
	      "  --points  or so many, equally far apart up to the footprint (20)\n"
	      "  --filter  leave out touches of so many pages touched last (0)\n"
	      "  --written leave out pages that are never written\n"
	      "  --timed   count misses of the part only that is marked, in ground truth or CSV\n"
	      "  --pab     entries of a page access buffer before lirs, fixed, region, auto (0)\n"
	      "  --kernel  what auto leaves alone if nothing is better: twolist or lru (twolist)\n"
	      "  --sample  pages that auto may simulate with (3072)\n"
	      "  --epoch   after which auto and region look, ms: a touch takes 1 us, a miss 1 ms (1000)\n"
	      "  --format  of TRACE: csv, oracle (libCacheSim's oracleGeneral), truth, log;\n"
	      "            what it looks like if not given. - is standard input\n"
	      "  --write   write the trace as csv, oracle or log\n\n"
	      "policies:\n", f);
	for (i = 0; policies[i]; i++)
		fprintf(f, "  %-9s %s\n", policies[i]->name, policies[i]->about);
}

static void parse_policies(struct job *job, char *list)
{
	char *name;

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
	    (job->write >= 0 && job->only_timed) || job->points > MAX_SIZES) {
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

static void print_table(const struct job *job, const struct trace *t)
{
	int i, j;

	printf("# %zu touches, %u pages", t->n, t->pages);
	if (job->only_timed)
		printf("; timed: %zu touches, %u new pages", t->n - t->begin,
		       t->pages - trace_known(t));
	printf("\npages");
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
		print_table(&job, &t);
	}
	trace_free(&t);
	close_stdout();
	return 0;
}
