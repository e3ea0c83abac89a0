// SPDX-License-Identifier: GPL-2.0
/*
 * Threads of a cgroup that share data: cpu.cluster.stat and cpu.cluster.tasks as a table, and the
 * mode of cpu.cluster.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pathctl.h"

static const char mode_file[] = "cpu.cluster";

/* A line of cpu.cluster.tasks */
struct thread {
	uint64_t tid, cluster, samples;
	long long chip;		/* -1: not placed */
};

struct frame {
	const struct cgroup *cgroup;
	char *mode, *state;
	struct keyed stat;
	struct thread *threads;
	size_t count;
	bool has_stat;
};

struct clusters_options {
	bool once, json;
	unsigned int delay;
};

/* ---- files ------------------------------------------------------------------- */

static const char *root(void)
{
	const char *root = getenv("PATHCTL_TASKCLUSTER");

	return root && *root ? root : "/sys/kernel/taskcluster";
}

static char *first_line(char *text)
{
	text[strcspn(text, "\n")] = '\0';
	return text;
}

static char *read_mode(const struct cgroup *cgroup)
{
	return first_line(cgroup_read_cpu(cgroup, mode_file, "CONFIG_TASK_CLUSTER"));
}

static char *read_state(void)
{
	char *path = xasprintf("%s/state", root()), *text = read_file(path);

	free(path);
	return first_line(text ? text : xdup("off"));
}

/* Clusters in order, and threads without one behind them. */
static int compare(const void *a, const void *b)
{
	const struct thread *x = a, *y = b;

	if (x->cluster != y->cluster)
		return x->cluster - 1 < y->cluster - 1 ? -1 : 1;
	if (x->chip != y->chip)
		return x->chip < y->chip ? -1 : 1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static void read_threads(struct frame *frame)
{
	char *text = cgroup_read(frame->cgroup, "cpu.cluster.tasks"), *rest = text, *line;
	unsigned long long tid, cluster, samples;
	long long chip;

	while ((line = strsep(&rest, "\n"))) {
		if (sscanf(line, "%llu %llu %lld %llu", &tid, &cluster, &chip, &samples) != 4)
			continue;
		frame->threads = xgrow(frame->threads, frame->count + 1, sizeof(*frame->threads));
		frame->threads[frame->count++] = (struct thread){
			.tid = tid, .cluster = cluster, .samples = samples, .chip = chip,
		};
	}
	if (frame->count)
		qsort(frame->threads, frame->count, sizeof(*frame->threads), compare);
	free(text);
}

static void frame_read(struct frame *frame, const struct cgroup *cgroup)
{
	memset(frame, 0, sizeof(*frame));
	frame->cgroup = cgroup;
	frame->mode = read_mode(cgroup);
	frame->state = read_state();
	frame->has_stat = cgroup_keyed(cgroup, "cpu.cluster.stat", &frame->stat);
	read_threads(frame);
}

static void frame_free(struct frame *frame)
{
	if (frame->has_stat)
		keyed_free(&frame->stat);
	free(frame->threads);
	free(frame->state);
	free(frame->mode);
}

/* ---- what is shown ------------------------------------------------------------- */

static uint64_t stat_of(const struct frame *frame, const char *key)
{
	return keyed_u64(&frame->stat, key, 0);
}

static void print_stat(FILE *out, const struct frame *frame)
{
	char before[32], now[32];

	fprintf(out, "%llu threads, %llu of them in %llu clusters; moves %llu, pinned %llu, undone %llu\n",
		(unsigned long long)stat_of(frame, "threads"),
		(unsigned long long)stat_of(frame, "clustered"),
		(unsigned long long)stat_of(frame, "clusters"),
		(unsigned long long)stat_of(frame, "moves"),
		(unsigned long long)stat_of(frame, "pinned"),
		(unsigned long long)stat_of(frame, "undone"));
	fprintf(out, "lines from other chips in a second of CPU time: %s before, %s now\n",
		human_count(stat_of(frame, "remote_before"), before, sizeof(before)),
		human_count(stat_of(frame, "remote_now"), now, sizeof(now)));
}

/* Returns the first thread that is in another cluster, or on another chip. */
static size_t print_cluster(FILE *out, const struct frame *frame, size_t first)
{
	const struct thread *t = &frame->threads[first];
	uint64_t samples = 0;
	size_t i, end;

	for (end = first; end < frame->count; end++) {
		if (frame->threads[end].cluster != t->cluster || frame->threads[end].chip != t->chip)
			break;
		samples += frame->threads[end].samples;
	}
	if (t->cluster)
		fprintf(out, "%7llu", (unsigned long long)t->cluster);
	else
		fprintf(out, "%7s", "-");
	if (t->chip >= 0)
		fprintf(out, " %5lld", t->chip);
	else
		fprintf(out, " %5s", "-");
	fprintf(out, " %8llu ", (unsigned long long)samples);
	for (i = first; i < end; i++)
		fprintf(out, " %llu", (unsigned long long)frame->threads[i].tid);
	fputc('\n', out);
	return end;
}

static void print_frame(FILE *out, const char *head, const void *what)
{
	const struct frame *frame = what;
	char *name = printable(frame->cgroup->name);
	size_t i = 0;

	fprintf(out, "%s: %s, %s\n", name, frame->mode, frame->state);
	if (frame->has_stat)
		print_stat(out, frame);
	else
		fprintf(out, "No clusters are looked for here: pathctl clusters %s process\n", name);
	if (frame->count)
		fprintf(out, "%s%7s %5s %8s  %s\n", head, "CLUSTER", "CHIP", "SAMPLES", "THREADS");
	while (i < frame->count)
		i = print_cluster(out, frame, i);
	free(name);
}

static json_t *thread_json(const struct thread *t)
{
	json_t *object = json_object();

	json_object_set_new(object, "tid", json_u64(t->tid));
	json_object_set_new(object, "cluster", t->cluster ? json_u64(t->cluster) : json_null());
	json_object_set_new(object, "chip", t->chip >= 0 ? json_integer(t->chip) : json_null());
	json_object_set_new(object, "samples", json_u64(t->samples));
	return object;
}

static json_t *frame_json(const struct frame *frame)
{
	json_t *object = json_object(), *list = json_array();
	size_t i;

	json_object_set_new(object, "cgroup", json_text(frame->cgroup->name));
	json_object_set_new(object, "mode", json_text(frame->mode));
	json_object_set_new(object, "state", json_text(frame->state));
	json_object_set_new(object, "stat",
			    frame->has_stat ? keyed_json(&frame->stat) : json_null());
	for (i = 0; i < frame->count; i++)
		json_array_append_new(list, thread_json(&frame->threads[i]));
	json_object_set_new(object, "threads", list);
	return object;
}

static void once(const struct cgroup *cgroup, bool json)
{
	struct frame frame;

	frame_read(&frame, cgroup);
	if (json)
		print_json(stdout, frame_json(&frame));
	else
		print_frame(stdout, "", &frame);
	frame_free(&frame);
}

static void live(const struct cgroup *cgroup, unsigned int delay)
{
	struct frame frame;
	int key = 0;

	live_enter("pathctl clusters --once", delay);
	while (key != 'q') {
		frame_read(&frame, cgroup);
		key = live_frame(print_frame, &frame, "q: quit");
		frame_free(&frame);
	}
	live_leave();
}

/* ---- the mode ------------------------------------------------------------------ */

static int switch_on(void)
{
	char *path = xasprintf("%s/enabled", root());
	int err = write_file(path, "1");

	free(path);
	return err;
}

static void __noreturn die_of_switch(int err)
{
	if (err == ENOENT)
		die(EX_UNAVAILABLE, "no %s: boot a kernel with CONFIG_TASK_CLUSTER", root());
	if (err == EACCES || err == EPERM)
		die(EX_NOPERM, "%s/enabled: permission denied; run pathctl as root", root());
	if (err == ENODEV)
		die(EX_UNAVAILABLE, "there is no virtual PMU: write an event to %s/event", root());
	die(exit_status_of(err), "%s/enabled: %s", root(), strerror(err));
}

static bool is_mode(const char *mode)
{
	return !strcmp(mode, "none") || !strcmp(mode, "process") || !strcmp(mode, "cgroup");
}

/* If it cannot be switched on, the mode is as it was. */
static void set(const struct cgroup *cgroup, const char *mode)
{
	char *before, *name;
	int err;

	if (!is_mode(mode))
		die(EX_USAGE, "no mode %s: must be none, process or cgroup", mode);
	before = read_mode(cgroup);
	err = cgroup_write(cgroup, mode_file, mode);
	if (err)
		cgroup_die(cgroup, mode_file, err);
	err = strcmp(mode, "none") ? switch_on() : 0;
	if (err) {
		cgroup_write(cgroup, mode_file, before);
		free(before);
		die_of_switch(err);
	}
	name = printable(cgroup->name);
	if (strcmp(before, mode))
		printf("%s: clusters %s, was %s; to undo: pathctl clusters %s %s\n", name, mode,
		       before, name, before);
	else
		printf("%s: clusters %s, as before\n", name, mode);
	free(name);
	free(before);
}

static const struct option long_options[] = {
	{ "once", no_argument, NULL, 'o' },
	{ "json", no_argument, NULL, 'j' },
	{ "delay", required_argument, NULL, 'd' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

static void take_option(struct clusters_options *options, int option)
{
	options->once |= option == 'o';
	options->json |= option == 'j';
	if (option == 'd')
		options->delay = option_number("--delay", optarg, 1, 3600);
}

static int run(const struct command *cmd, int argc, char **argv)
{
	struct clusters_options options = { .delay = 2 };
	struct cgroup cgroup;
	int option, words;

	while ((option = next_option(cmd, argc, argv, "hd:", long_options)) != -1)
		take_option(&options, option);
	words = argc - optind;
	if (words < 1 || words > 2)
		die(EX_USAGE, "of which cgroup? pathctl clusters CGROUP [MODE]");
	cgroup_find(&cgroup, argv[optind]);
	if (words == 2)
		set(&cgroup, argv[optind + 1]);
	else if (options.once || options.json)
		once(&cgroup, options.json);
	else
		live(&cgroup, options.delay);
	cgroup_free(&cgroup);
	return EX_OK;
}

const struct command cmd_clusters = {
	.name = "clusters",
	.summary = "threads of a cgroup that share data, and their chips",
	.help = "usage: pathctl clusters [option...] CGROUP [MODE]\n\n"
		"A live view. q quits. With a MODE, set cpu.cluster and switch it on:\n\n"
		"  none          no clusters, or those of the cgroup above\n"
		"  process       of the threads of each process\n"
		"  cgroup        of all threads of the cgroup\n\n"
		"  --once        print one frame and end\n"
		"  --json        one frame as JSON\n"
		"  -d, --delay S seconds between frames (2)\n\n"
		"Each row is a cluster and the chip that its threads are kept on, by one of its\n"
		"CPUs. Threads in no cluster are in the last row. Samples are those of the last\n"
		"round, of cache lines that came from another chip.\n",
	.run = run,
};
