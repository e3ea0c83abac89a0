// SPDX-License-Identifier: GPL-2.0
/*
 * The regions of the programs of a cgroup.
 */
#include <stdlib.h>
#include <string.h>

#include "pathctl.h"

struct regions_options {
	bool json, has_pid;
	uint64_t pid;
	unsigned int most;
};

static const struct option long_options[] = {
	{ "pid", required_argument, NULL, 'p' },
	{ "top", required_argument, NULL, 't' },
	{ "json", no_argument, NULL, 'j' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

static void take_option(struct regions_options *options, int option)
{
	switch (option) {
	case 'p':
		if (!parse_u64(optarg, &options->pid))
			die(EX_USAGE, "--pid %s: must be a process number", optarg);
		options->has_pid = true;
		break;
	case 't':
		options->most = option_number("--top", optarg, 1, 1000000);
		break;
	case 'j':
		options->json = true;
		break;
	}
}

static void keep_pid(struct regions *regions, uint64_t pid)
{
	struct regions only = { .list = xalloc(regions->count * sizeof(*regions->list)) };
	struct regions others = { .list = xalloc(regions->count * sizeof(*regions->list)) };
	size_t i;

	for (i = 0; i < regions->count; i++) {
		struct regions *to = regions->list[i].pid == pid ? &only : &others;

		to->list[to->count++] = regions->list[i];
	}
	free(regions->list);
	regions_free(&others);
	*regions = only;
}

/*
 * Reads the regions, and returns how many programs have some that the kernel does not show:
 * those that were there before and are after it.
 */
static uint64_t read_regions(struct regions *regions, const struct cgroup *cgroup)
{
	uint64_t before = cgroup_programs(cgroup), after, shown;

	regions_read(regions, cgroup);
	after = cgroup_programs(cgroup);
	shown = regions_programs(regions);
	if (after < before)
		before = after;
	return before > shown ? before - shown : 0;
}

static const char rights[] = "that takes CAP_PERFMON or a debugger's rights: run pathctl as root";

static void print(const struct regions *regions, const struct cgroup *cgroup,
		  const struct regions_options *options, uint64_t hidden)
{
	char *name;

	if (regions->count) {
		regions_print(stdout, regions, options->most);
		return;
	}
	if (hidden && options->has_pid)
		die(EX_NOPERM, "cgroup %s does not track process %llu, or may not show it: %s",
		    cgroup->name, (unsigned long long)options->pid, rights);
	if (hidden)
		die(EX_NOPERM, "cgroup %s may show none of its %llu tracked programs: %s",
		    cgroup->name, (unsigned long long)hidden, rights);
	if (options->has_pid)
		die(EX_NOINPUT, "cgroup %s has no tracked process %llu", cgroup->name,
		    (unsigned long long)options->pid);
	name = printable(cgroup->name);
	printf("%s: no tracked process is alive\n", name);
	free(name);
}

static int run(const struct command *cmd, int argc, char **argv)
{
	struct regions_options options = { 0 };
	struct regions regions;
	struct cgroup cgroup;
	uint64_t hidden;
	int option;

	while ((option = next_option(cmd, argc, argv, "h", long_options)) != -1)
		take_option(&options, option);
	if (argc - optind != 1)
		die(EX_USAGE, "of which cgroup? pathctl regions CGROUP");
	cgroup_find(&cgroup, argv[optind]);
	hidden = read_regions(&regions, &cgroup);
	if (regions.count && hidden)
		note("%llu more tracked programs are not shown: %s",
		     (unsigned long long)hidden, rights);
	if (options.has_pid)
		keep_pid(&regions, options.pid);
	regions_sort(&regions);
	if (options.json)
		print_json(stdout, json_pack("{s:o, s:o}", "cgroup", json_text(cgroup.name),
					     "regions", regions_json(&regions)));
	else
		print(&regions, &cgroup, &options, hidden);
	regions_free(&regions);
	cgroup_free(&cgroup);
	return EX_OK;
}

const struct command cmd_regions = {
	.name = "regions",
	.summary = "the mappings of tracked programs, the busiest first",
	.help = "usage: pathctl regions [option...] CGROUP\n\n"
		"  --pid PID   only of this process\n"
		"  --top N     only the N with most records\n"
		"  --json\n\n"
		"FOOTPRINT is in pages. COLD are first touches. SHIFT is n when one page in 2^n\n"
		"is in the region's model. STATE nomem: records were dropped for want of memory.\n"
		"With memory.path.replace region: POLICY, and the region's pages IN MEMORY.\n",
	.run = run,
};
