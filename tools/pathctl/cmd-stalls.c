// SPDX-License-Identifier: GPL-2.0
/*
 * What a cgroup or a thread waits for: cpu.stalls as bars, and the switch of /sys/kernel/hpc.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stalls.h"

#define BAR 40		/* characters for all cycles */

/* What was counted in all, and between this frame and the one before */
struct frame {
	const struct stalls_of *of;
	struct stalls all, now;
	bool has_now;
};

struct stalls_options {
	bool on, off, once, json, tasks;
	const char *svg;
	pid_t task;
	unsigned int delay, seconds;
};

/* ---- the file -------------------------------------------------------------- */

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
			.name = line, .cycles = nested_u64(rest, "cycles="),
			.error = nested_u64(rest, "error="),
			.counted = nested_u64(rest, "counted="),
			.known = !!strstr(rest, "cycles="),
		};
	}
}

/* The text will be freed with it. */
void stalls_parse(struct stalls *s, char *text)
{
	char *line;

	*s = (struct stalls){ .text = text };
	while ((line = strsep(&text, "\n")))
		take_line(s, line);
}

/* A thread's are told in the same words. */
static char *thread_text(struct hpc *thread)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		die(EX_OSERR, "out of memory");
	hpc_update(thread);
	hpc_print(thread, HPC_THREAD, out);
	fclose(out);
	return text;
}

void stalls_read(struct stalls *s, const struct stalls_of *of)
{
	stalls_parse(s, of->thread ? thread_text(of->thread) :
			cgroup_read_cpu(of->cgroup, "cpu.stalls", "CONFIG_HPC"));
}

void stalls_free(struct stalls *s)
{
	free(s->list);
	free(s->text);
}

bool stalls_same_list(const struct stalls *a, const struct stalls *b)
{
	size_t i;

	for (i = 0; i < a->count && i < b->count; i++)
		if (strcmp(a->list[i].name, b->list[i].name))
			return false;
	return a->count == b->count;
}

/* ---- frames ------------------------------------------------------------------ */

/* Numbers and the squares of their errors add up over time. */
static void stall_subtract(struct stall *stall, const struct stall *before)
{
	double error = stall->error, part = before->error;

	stall->known &= stall->cycles >= before->cycles;
	stall->cycles -= before->cycles;
	stall->error = error > part ? sqrt(error * error - part * part) : 0;
}

/* False if counting began anew meanwhile, or nothing was counted. */
static bool frame_subtract(struct frame *frame, const struct stalls *before)
{
	struct stalls *now = &frame->now, *all = &frame->all;
	size_t i;

	if (!stalls_same_list(all, before) || all->cycles <= before->cycles ||
	    all->unknown < before->unknown)
		return false;
	*now = *all;
	now->text = NULL;
	now->list = xalloc(all->count * sizeof(*now->list));
	now->cycles -= before->cycles;
	now->unknown -= before->unknown;
	for (i = 0; i < all->count; i++) {
		now->list[i] = all->list[i];
		stall_subtract(&now->list[i], &before->list[i]);
	}
	return true;
}

static void frame_clear(struct frame *frame)
{
	stalls_free(&frame->all);
	stalls_free(&frame->now);
}

/* @frame holds the frame before, or nothing. */
static void frame_next(struct frame *frame)
{
	struct frame next = { .of = frame->of };

	stalls_read(&next.all, frame->of);
	next.has_now = frame->all.text && frame_subtract(&next, &frame->all);
	frame_clear(frame);
	*frame = next;
}

/* ---- what is shown ----------------------------------------------------------- */

static double percent(const struct stalls *s, uint64_t cycles)
{
	return s->cycles ? 100.0 * cycles / s->cycles : 0;
}

static void print_bar(FILE *out, double part)
{
	const char *block = terminal_is_utf8() ? "\u2588" : "#";
	int n = part * BAR / 100 + 0.5;

	for (n = n > BAR ? BAR : n; n > 0; n--)
		fputs(block, out);
}

static void print_share(FILE *out, const struct stalls *s, const struct stall *stall)
{
	if (stall->known)
		fprintf(out, " %5.1f %% +- %4.1f", percent(s, stall->cycles),
			percent(s, stall->error));
	else
		fputs(" too little data", out);
}

/* The bar is of what is new, where there is something. */
static void print_stall(FILE *out, const struct frame *frame, size_t i)
{
	const struct stalls *bar = frame->has_now ? &frame->now : &frame->all;
	const struct stall *stall = &frame->all.list[i];
	const char *dot = strchr(stall->name, '.');
	char *name = printable(stall->name);

	if (dot)
		fprintf(out, "  %-10s", name + (dot - stall->name) + 1);
	else
		fprintf(out, "%-12s", name);
	if (frame->has_now) {
		print_share(out, &frame->now, &frame->now.list[i]);
		fputc(' ', out);
	}
	print_share(out, &frame->all, stall);
	if (bar->list[i].known) {
		fputs("  ", out);
		print_bar(out, percent(bar, bar->list[i].cycles));
	}
	fputc('\n', out);
	free(name);
}

static void print_cycles(FILE *out, const struct frame *frame)
{
	char now[32], all[32], pending[32], *name = printable(frame->of->name);

	fprintf(out, "%s: %s cycles, ", name,
		human_count(frame->all.cycles, all, sizeof(all)));
	if (frame->has_now)
		fprintf(out, "%s of them new, ",
			human_count(frame->now.cycles, now, sizeof(now)));
	fprintf(out, "%s more to come\n",
		human_count(frame->all.pending, pending, sizeof(pending)));
	free(name);
}

static void print_frame(FILE *out, const char *head, const void *what)
{
	const struct frame *frame = what;
	const struct stalls *all = &frame->all;
	size_t i;

	print_cycles(out, frame);
	if (frame->has_now)
		fprintf(out, "%s%-12s %15s  %15s\n", head, "", "new", "all");
	for (i = 0; i < all->count && all->cycles; i++)
		print_stall(out, frame, i);
	if (all->unknown)
		fprintf(out, "%-12s %5.1f %%: others had the counters\n", "unknown",
			percent(all, all->unknown));
	if (!all->cycles && !all->pending)
		fputs("It has not run, or nothing is counted: pathctl stalls --on\n", out);
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

static json_t *stalls_json(const struct stalls *s, const struct stalls_of *of)
{
	json_t *object = json_object(), *list = json_array();
	size_t i;

	if (of->thread)
		json_object_set_new(object, "task", json_integer(of->tid));
	else
		json_object_set_new(object, "cgroup", json_text(of->name));
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
	{ "once", no_argument, NULL, 'o' },
	{ "json", no_argument, NULL, 'j' },
	{ "task", required_argument, NULL, 'p' },
	{ "tasks", no_argument, NULL, 'T' },
	{ "svg", required_argument, NULL, 's' },
	{ "duration", required_argument, NULL, 't' },
	{ "delay", required_argument, NULL, 'd' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

static void take_option(struct stalls_options *options, int option)
{
	options->on |= option == '1';
	options->off |= option == '0';
	options->once |= option == 'o';
	options->json |= option == 'j';
	options->tasks |= option == 'T';
	if (option == 'p')
		options->task = option_number("--task", optarg, 1, 4194304);
	if (option == 's')
		options->svg = optarg;
	if (option == 't')
		options->seconds = option_number("--duration", optarg, 1, 1000000);
	if (option == 'd')
		options->delay = option_number("--delay", optarg, 1, 3600);
}

static void check_options(const struct stalls_options *options, int words)
{
	if (options->on && options->off)
		die(EX_USAGE, "--on or --off?");
	if (words > 1 || (!words && !options->task &&
			  (options->svg || options->tasks || (!options->on && !options->off))))
		die(EX_USAGE, "of which cgroup? pathctl stalls CGROUP");
	if (options->task && (words || options->tasks || options->svg))
		die(EX_USAGE, "--task is of one thread: no CGROUP, --tasks or --svg");
	if (options->tasks && (options->svg || options->json))
		die(EX_USAGE, "--tasks is a table: not --svg or --json");
	if (options->svg && (options->off || options->once || options->json))
		die(EX_USAGE, "--svg draws what comes from now on: not --off, --once or --json");
	if (options->seconds && !options->svg)
		die(EX_USAGE, "--duration is how long to record for a picture: --svg FILE");
}

static void once(struct frame *frame, bool json)
{
	frame_next(frame);
	if (json)
		print_json(stdout, stalls_json(&frame->all, frame->of));
	else
		print_frame(stdout, "", frame);
}

/* Between frames the log of a thread is emptied, before it is full. */
static void live(struct frame *frame, unsigned int delay)
{
	unsigned int ms = frame->of->thread ? STALLS_MS : delay * 1000, waited = 0;
	int key = 0;

	live_enter("pathctl stalls --once", ms);
	while (key != 'q') {
		if (waited % (delay * 1000) == 0)
			frame_next(frame);
		hpc_update(frame->of->thread);
		key = live_frame(print_frame, frame, "q: quit");
		waited += ms;
	}
	live_leave();
}

/* Of a thread nothing is known before it is watched. */
static void show(const struct stalls_of *of, const struct stalls_options *options)
{
	struct frame frame = { .of = of };

	if (options->once || options->json) {
		if (of->thread)
			stalls_wait(of, options->delay);
		once(&frame, options->json);
	} else {
		live(&frame, options->delay);
	}
	frame_clear(&frame);
}

static void show_cgroup(const char *name, const struct stalls_options *options)
{
	struct cgroup cgroup;
	struct stalls_of of = { .cgroup = &cgroup };

	cgroup_find(&cgroup, name);
	of.name = cgroup.name;
	if (options->svg)
		stalls_write_svg(options->svg, &cgroup, options->delay, options->seconds);
	else if (options->tasks)
		stalls_tasks(&cgroup, options->delay, options->once);
	else
		show(&of, options);
	cgroup_free(&cgroup);
}

static void show_task(const struct stalls_options *options)
{
	struct stalls_of of = { };

	stalls_watch(&of, options->task);
	show(&of, options);
	stalls_unwatch(&of);
}

static int run(const struct command *cmd, int argc, char **argv)
{
	struct stalls_options options = { .delay = 2 };
	int option;

	while ((option = next_option(cmd, argc, argv, "hd:", long_options)) != -1)
		take_option(&options, option);
	check_options(&options, argc - optind);
	if (options.on)
		switch_on();
	if (options.off)
		hpc_write("enabled", "0");
	if (options.task)
		show_task(&options);
	else if (argc > optind)
		show_cgroup(argv[optind], &options);
	return EX_OK;
}

const struct command cmd_stalls = {
	.name = "stalls",
	.summary = "what a cgroup or a task waits for while it has a CPU",
	.help = "usage: pathctl stalls [option...] [CGROUP]\n"
		"       pathctl stalls [option...] --task TID\n\n"
		"A live view. q quits.\n\n"
		"  --on          begin to count the events of the virtual PMU. For other PMUs write\n"
		"                to /sys/kernel/hpc/events\n"
		"  --off         end it\n"
		"  --once        print one frame and end\n"
		"  --json        one frame as JSON\n"
		"  --tasks       a table of the tasks of the cgroup, from now on\n"
		"  --task TID    of one task, from now on: --once and --json wait as long as --delay\n"
		"  --svg FILE    record until ^C, or until the cgroup is gone, and draw where the\n"
		"                cycles went over time, with gnuplot\n"
		"  --duration S  record for no longer than this many seconds\n"
		"  -d, --delay S seconds between frames (2)\n\n"
		"Cycles of the cgroup since --on: those in which instructions completed, and those\n"
		"lost to each cause, in percent, with two standard errors. Below a cause are the\n"
		"sources of what it waited for. New are those since the frame before.\n",
	.run = run,
};
