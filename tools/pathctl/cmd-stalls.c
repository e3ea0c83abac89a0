// SPDX-License-Identifier: GPL-2.0
/*
 * What a cgroup waits for: cpu.stalls as bars, and the switch of /sys/kernel/hpc.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pathctl.h"

#define BAR 40		/* characters for all cycles */

/* A line of cpu.stalls: a cause, or a source of one, which has a dot in its name */
struct stall {
	const char *name;
	uint64_t cycles, error, counted;
	bool known;
};

struct stalls {
	char *text;
	uint64_t cycles, pending, unknown;
	struct stall *list;
	size_t count;
};

struct stalls_options {
	bool on, off, json;
};

/* ---- the file -------------------------------------------------------------- */

static uint64_t value_of(const char *line, const char *key)
{
	const char *at = strstr(line, key);

	return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

static void take_line(struct stalls *s, char *line)
{
	char *rest = line + strcspn(line, " ");
	struct stall *stall;

	if (*rest)
		*rest++ = '\0';
	if (!strcmp(line, "cycles"))
		s->cycles = strtoull(rest, NULL, 10);
	else if (!strcmp(line, "pending"))
		s->pending = strtoull(rest, NULL, 10);
	else if (!strcmp(line, "unknown"))
		s->unknown = strtoull(rest, NULL, 10);
	else if (*line) {
		s->list = xgrow(s->list, s->count + 1, sizeof(*s->list));
		stall = &s->list[s->count++];
		*stall = (struct stall){
			.name = line, .cycles = value_of(rest, "cycles="),
			.error = value_of(rest, "error="), .counted = value_of(rest, "counted="),
			.known = !!strstr(rest, "cycles="),
		};
	}
}

static void stalls_die(const struct cgroup *cgroup, int err)
{
	if (err == EACCES || err == EPERM)
		die(EX_NOPERM, "cpu.stalls of cgroup %s: permission denied; run pathctl as root, or see kernel.perf_event_paranoid",
		    cgroup->name);
	if (err == ENOENT && !is_directory(cgroup->dir))
		die(EX_NOINPUT, "cgroup %s is gone", cgroup->name);
	if (err == ENOENT)
		die(EX_UNAVAILABLE, "no cpu.stalls in %s: switch the cpu controller on (+cpu in cgroup.subtree_control above it) in a kernel with CONFIG_HPC",
		    cgroup->name);
	die(exit_status_of(err), "cpu.stalls of cgroup %s: %s", cgroup->name, strerror(err));
}

static void stalls_read(struct stalls *s, const struct cgroup *cgroup)
{
	char *line, *rest;

	memset(s, 0, sizeof(*s));
	s->text = rest = cgroup_read(cgroup, "cpu.stalls");
	if (!s->text)
		stalls_die(cgroup, errno);
	while ((line = strsep(&rest, "\n")))
		take_line(s, line);
}

static void stalls_free(struct stalls *s)
{
	free(s->list);
	free(s->text);
}

/* ---- what is shown ----------------------------------------------------------- */

static double percent(const struct stalls *s, uint64_t cycles)
{
	return s->cycles ? 100.0 * cycles / s->cycles : 0;
}

static void print_bar(double part)
{
	const char *block = terminal_is_utf8() ? "\u2588" : "#";
	int n = part * BAR / 100 + 0.5;

	for (n = n > BAR ? BAR : n; n > 0; n--)
		fputs(block, stdout);
	putchar('\n');
}

static void print_stall(const struct stalls *s, const struct stall *stall)
{
	const char *dot = strchr(stall->name, '.');
	char *name = printable(stall->name);
	char *shown = dot ? xasprintf("  %s", name + (dot - stall->name) + 1) : xdup(name);

	if (stall->known) {
		printf("%-12s %5.1f %% +- %4.1f  ", shown, percent(s, stall->cycles),
		       percent(s, stall->error));
		print_bar(percent(s, stall->cycles));
	} else {
		printf("%-12s too little data\n", shown);
	}
	free(shown);
	free(name);
}

static void print_stalls(const struct stalls *s)
{
	char cycles[32], pending[32];
	size_t i;

	printf("%s cycles, %s more to come\n", human_count(s->cycles, cycles, sizeof(cycles)),
	       human_count(s->pending, pending, sizeof(pending)));
	for (i = 0; i < s->count && s->cycles; i++)
		print_stall(s, &s->list[i]);
	if (s->unknown)
		printf("%-12s %5.1f %%: others had the counters\n", "unknown",
		       percent(s, s->unknown));
	if (!s->cycles && !s->pending)
		printf("It has not run, or nothing is counted: pathctl stalls --on\n");
}

static json_t *stall_json(const struct stall *stall)
{
	json_t *object = json_object();

	json_object_set_new(object, "name", json_text(stall->name));
	if (stall->known) {
		json_object_set_new(object, "cycles", json_u64(stall->cycles));
		json_object_set_new(object, "error", json_u64(stall->error));
		json_object_set_new(object, "counted", json_u64(stall->counted));
	}
	return object;
}

static json_t *stalls_json(const struct stalls *s, const struct cgroup *cgroup)
{
	json_t *object = json_object(), *list = json_array();
	size_t i;

	json_object_set_new(object, "cgroup", json_text(cgroup->name));
	json_object_set_new(object, "cycles", json_u64(s->cycles));
	json_object_set_new(object, "pending", json_u64(s->pending));
	json_object_set_new(object, "unknown", json_u64(s->unknown));
	for (i = 0; i < s->count; i++)
		json_array_append_new(list, stall_json(&s->list[i]));
	json_object_set_new(object, "causes", list);
	return object;
}

/* ---- on and off ---------------------------------------------------------------- */

static const char *hpc_root(void)
{
	const char *root = getenv("PATHCTL_HPC");

	return root && *root ? root : "/sys/kernel/hpc";
}

static const char *pmu_root(void)
{
	const char *root = getenv("PATHCTL_PMU");

	return root && *root ? root : "/sys/bus/event_source/devices/vpmu";
}

static void hpc_write(const char *file, const char *text)
{
	char *path = xasprintf("%s/%s", hpc_root(), file);
	int err = write_file(path, text);

	if (err == ENOENT && access(hpc_root(), F_OK))
		die(EX_UNAVAILABLE, "no %s: boot a kernel with CONFIG_HPC", hpc_root());
	if (err == EACCES || err == EPERM)
		die(EX_NOPERM, "%s: permission denied; run pathctl as root", path);
	if (err == EBUSY)
		die(EX_TEMPFAIL, "%s: busy; pathctl stalls --off, or end other users of perf", path);
	if (err)
		die(exit_status_of(err), "%s: %s", path, strerror(err));
	free(path);
}

/* What the PMU's sysfs says behind a sign, or all of it */
static char *pmu_read(const char *name, char sign)
{
	char *path = xasprintf("%s/%s", pmu_root(), name), *text = read_file(path), *at, *value;

	if (!text)
		die(EX_UNAVAILABLE, "no %s: there is no virtual PMU; write its events to %s/events",
		    path, hpc_root());
	text[strcspn(text, "\n")] = '\0';
	at = sign ? strchr(text, sign) : NULL;
	value = xdup(at ? at + 1 : text);
	free(text);
	free(path);
	return value;
}

static char *add_event(char *list, const char *as, const char *event, const char *latency)
{
	char *file = xasprintf("events/%s", event), *number = pmu_read(file, '=');
	char *type = pmu_read("type", '\0');
	char *longer = xasprintf("%s%s%s=%s:%s%s%s", list ? list : "", list ? " " : "", as, type,
				 number, *latency ? "@" : "", latency);

	free(type);
	free(number);
	free(file);
	free(list);
	return longer;
}

/* The breakdown of the virtual PMU, with the latencies of table 2.4 of the thesis */
static char *all_events(void)
{
	static const char *const event[][3] = {
		{ "cycles", "cycles", "" }, { "insns", "insns", "" },
		{ "stall.d", "stall_d", "" }, { "stall.i", "stall_i", "" },
		{ "stall.br", "stall_br", "" }, { "stall.tlb", "stall_tlb", "" },
		{ "stall.lsu", "stall_lsu", "" }, { "stall.fpu", "stall_fpu", "" },
		{ "stall.iu", "stall_iu", "" }, { "stall.other", "stall_other", "" },
		{ "source.d.l2", "d_src_l2", "14" }, { "source.d.l3", "d_src_l3", "91" },
		{ "source.d.rl2", "d_src_rl2", "120" }, { "source.d.rl3", "d_src_rl3", "205" },
		{ "source.d.mem", "d_src_mem", "280" }, { "source.d.rmem", "d_src_rmem", "307" },
	};
	char *list = NULL;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(event); i++)
		list = add_event(list, event[i][0], event[i][1], event[i][2]);
	return list;
}

static void switch_on(void)
{
	char *events = all_events();

	hpc_write("events", events);
	hpc_write("enabled", "1");
	free(events);
}

/* ---- options ------------------------------------------------------------------- */

static const struct option long_options[] = {
	{ "on", no_argument, NULL, '1' },
	{ "off", no_argument, NULL, '0' },
	{ "json", no_argument, NULL, 'j' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

static void take_options(struct stalls_options *options, const struct command *cmd, int argc,
			 char **argv)
{
	int option;

	while ((option = next_option(cmd, argc, argv, "h", long_options)) != -1) {
		options->on |= option == '1';
		options->off |= option == '0';
		options->json |= option == 'j';
	}
	if (options->on && options->off)
		die(EX_USAGE, "--on or --off?");
	if (argc - optind > 1 || (argc == optind && !options->on && !options->off))
		die(EX_USAGE, "of which cgroup? pathctl stalls CGROUP");
}

static void show(const char *name, bool json)
{
	struct cgroup cgroup;
	struct stalls s;

	cgroup_find(&cgroup, name);
	stalls_read(&s, &cgroup);
	if (json)
		print_json(stdout, stalls_json(&s, &cgroup));
	else
		print_stalls(&s);
	stalls_free(&s);
	cgroup_free(&cgroup);
}

static int run(const struct command *cmd, int argc, char **argv)
{
	struct stalls_options options = { 0 };

	take_options(&options, cmd, argc, argv);
	if (options.on)
		switch_on();
	if (options.off)
		hpc_write("enabled", "0");
	if (argc > optind)
		show(argv[optind], options.json);
	return EX_OK;
}

const struct command cmd_stalls = {
	.name = "stalls",
	.summary = "what a cgroup waits for while it has a CPU",
	.help = "usage: pathctl stalls [--on | --off] [--json] [CGROUP]\n\n"
		"  --on    begin to count the events of the virtual PMU. For other PMUs write to\n"
		"          /sys/kernel/hpc/events\n"
		"  --off   end it\n"
		"  --json\n\n"
		"Cycles of the cgroup since --on: those in which instructions completed, and those\n"
		"lost to each cause, in percent, with two standard errors. Below a cause are the\n"
		"sources of what it waited for.\n",
	.run = run,
};
