// SPDX-License-Identifier: GPL-2.0
/*
 * programs - what real programs do to memory, in small.
 *
 * Runs one of the programs beside this file with a footprint and a number of rounds
 * that are arguments, and prints its name, the pages it mapped, the rounds it did,
 * the time they took and how many of its checks failed: the status is 1 if one did.
 * All is the same from run to run but the time. Documentation/mm/path/workloads.rst
 * lists them.
 *
 * --break N spoils what check N must notice; it is for programs/test. With --hold it stops
 * before it begins, until it gets SIGCONT.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sysexits.h>
#include <unistd.h>

#include "hold.h"
#include "programs.h"

#ifndef PR_SET_VMA
#define PR_SET_VMA		0x53564d41
#define PR_SET_VMA_ANON_NAME	0
#endif

#define DEFAULT_MB	64
#define MAX_MB		16384	/* what indices of 32 bits reach in all programs */

static const char usage_line[] =
	"usage: programs NAME [--mb MIB] [--rounds N] [--seed N] [--hold] | programs --list";

static const struct program *const all_programs[] = {
	&fft_program, &lu_contiguous_program, &lu_noncontiguous_program, &lu_columns_program,
	&ocean_program, &ocean_parts_program, &cg_program, &mg_program, &sp_program,
	&nbody_program, &fmm_program, &radix_program, &hashjoin_program, &btree_program,
	&bfs_program, &kvcache_program, &cube_program, &warehouse_program, &list_program,
	&list_ordered_program, &heap_program, NULL
};

/* ---- for the programs ---- */

void die(const char *why)
{
	fprintf(stderr, "programs: %s\n", why);
	exit(1);
}

/* A page without access behind it: otherwise mappings that touch become one. */
void *map_array(struct run *run, const char *name, size_t bytes)
{
	size_t page = sysconf(_SC_PAGESIZE);
	char *map;

	bytes = (bytes + page - 1) / page * page;
	map = mmap(NULL, bytes + page, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (map == MAP_FAILED || mprotect(map + bytes, page, PROT_NONE))
		die(strerror(errno));
	/* shown in /proc/PID/maps by kernels that can; of no consequence otherwise */
	prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, map, bytes, name);
	run->pages += bytes / page;
	return map;
}

void main_begin(struct run *run)
{
	timed_begin(&run->timed);
}

void main_end(struct run *run)
{
	timed_end(&run->timed);
}

void verify(struct run *run, unsigned int check, bool ok)
{
	if (ok)
		return;
	fprintf(stderr, "programs: %s: check %u failed\n", run->program->name, check);
	run->bad++;
}

/* ---- the command ---- */

static const struct program *find_program(const char *name)
{
	for (size_t i = 0; all_programs[i]; i++)
		if (!strcmp(name, all_programs[i]->name))
			return all_programs[i];
	fprintf(stderr, "programs: no program '%s', see programs --list\n", name);
	exit(EX_USAGE);
}

static int list(void)
{
	for (size_t i = 0; all_programs[i]; i++)
		printf("%-18s %s\n", all_programs[i]->name, all_programs[i]->what);
	return 0;
}

static int usage(void)
{
	fprintf(stderr, "%s\n", usage_line);
	return EX_USAGE;
}

static uint64_t number(const char *option, const char *text, uint64_t max)
{
	char *end;
	uint64_t n;

	errno = 0;
	n = strtoull(text, &end, 10);
	if (*text >= '0' && *text <= '9' && !*end && !errno && n && n <= max)
		return n;
	fprintf(stderr, "programs: --%s: a number from 1 to %" PRIu64 ", not '%s'\n", option,
		max, text);
	exit(EX_USAGE);
}

static int run_program(struct run *run)
{
	run->program->main(run);
	printf("name %s\nfootprint_pages %" PRIu64 "\nrounds %" PRIu64 "\nns %" PRIu64
	       "\nmajor %" PRIu64 "\nbad %u\n", run->program->name, run->pages, run->rounds,
	       run->timed.ns, run->timed.major, run->bad);
	return run->bad != 0;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "mb", required_argument, NULL, 'm' },
		{ "rounds", required_argument, NULL, 'r' },
		{ "seed", required_argument, NULL, 's' },
		{ "break", required_argument, NULL, 'b' },
		{ "hold", no_argument, NULL, 'd' },
		{ "list", no_argument, NULL, 'l' },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	struct run run = { .bytes = DEFAULT_MB << 20, .seed = 1 };
	bool held = false;
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 'm': run.bytes = number("mb", optarg, MAX_MB) << 20; break;
		case 'r': run.rounds = number("rounds", optarg, UINT32_MAX); break;
		case 's': run.seed = number("seed", optarg, UINT32_MAX); break;
		case 'b': run.broken = number("break", optarg, UINT8_MAX); break;
		case 'd': held = true; break;
		case 'l': return list();
		case 'h': return puts(usage_line) < 0;
		default: return EX_USAGE;	/* getopt has said what is wrong */
		}
	}
	if (argc - optind != 1)
		return usage();
	run.program = find_program(argv[optind]);
	if (run.broken > run.program->checks) {
		fprintf(stderr, "programs: %s has %u checks\n", run.program->name,
			run.program->checks);
		return EX_USAGE;
	}
	if (!run.rounds)
		run.rounds = run.program->rounds;
	if (held)
		hold();
	return run_program(&run);
}
