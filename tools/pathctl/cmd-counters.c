// SPDX-License-Identifier: GPL-2.0
/*
 * All events of a cgroup that share the counters: cpu.counters as a table.
 */
#include <stdlib.h>
#include <string.h>

#include "pathctl.h"

static const char file[] = "cpu.counters";

/* A line of the file */
struct counter {
	const char *name;
	uint64_t count, error, counted;
	bool known;
};

/* False at the end. Changes @rest, and points into it. */
static bool take_counter(struct counter *counter, char **rest)
{
	char *line;

	while ((line = strsep(rest, "\n"))) {
		if (!*line)
			continue;
		counter->name = strsep(&line, " ");
		counter->known = line && strstr(line, "count=");
		counter->count = line ? nested_u64(line, "count=") : 0;
		counter->error = line ? nested_u64(line, "error=") : 0;
		counter->counted = line ? nested_u64(line, "counted=") : 0;
		return true;
	}
	return false;
}

static void print_counter(const struct counter *counter)
{
	char count[32], *name = printable(counter->name);

	printf("%-20s", name);
	if (counter->known && counter->count)
		printf(" %10s %7.1f%% %7llu%%\n",
		       human_count(counter->count, count, sizeof(count)),
		       100.0 * counter->error / counter->count,
		       (unsigned long long)counter->counted);
	else if (counter->known)
		printf(" %10d %8s %7llu%%\n", 0, "-", (unsigned long long)counter->counted);
	else
		puts(" too little data");
	free(name);
}

static void print_counters(char *text)
{
	struct counter counter;
	char *rest = text;

	if (!*text) {
		puts("It has not run, or nothing is counted: pathctl stalls --on");
		return;
	}
	printf("%-20s %10s %8s %8s\n", "EVENT", "COUNT", "+-", "COUNTED");
	while (take_counter(&counter, &rest))
		print_counter(&counter);
}

static json_t *counters_json(char *text, const struct cgroup *cgroup)
{
	json_t *list = json_array(), *object;
	struct counter counter;
	char *rest = text;

	while (take_counter(&counter, &rest)) {
		object = json_pack("{s:o}", "name", json_text(counter.name));
		if (counter.known) {
			json_object_set_new(object, "count", json_u64(counter.count));
			json_object_set_new(object, "error", json_u64(counter.error));
			json_object_set_new(object, "counted", json_u64(counter.counted));
		}
		json_array_append_new(list, object);
	}
	return json_pack("{s:o, s:o}", "cgroup", json_text(cgroup->name), "events", list);
}

static const struct option long_options[] = {
	{ "json", no_argument, NULL, 'j' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

static int run(const struct command *cmd, int argc, char **argv)
{
	struct cgroup cgroup;
	bool json = false;
	char *text;

	while (next_option(cmd, argc, argv, "h", long_options) != -1)
		json = true;
	if (argc - optind != 1)
		die(EX_USAGE, "of which cgroup? pathctl counters CGROUP");
	cgroup_find(&cgroup, argv[optind]);
	text = cgroup_read_cpu(&cgroup, file, "CONFIG_HPC");
	if (json)
		print_json(stdout, counters_json(text, &cgroup));
	else
		print_counters(text);
	free(text);
	cgroup_free(&cgroup);
	return EX_OK;
}

const struct command cmd_counters = {
	.name = "counters",
	.summary = "events of a cgroup, more than there are counters",
	.help = "usage: pathctl counters [--json] CGROUP\n\n"
		"All events of /sys/kernel/hpc/events, which share the counters of each CPU: how\n"
		"often they happened in the cgroup since counting began, two standard errors of\n"
		"that in percent of it, and in how much of the time the event had a counter.\n"
		"pathctl stalls begins and ends counting.\n",
	.run = run,
};
