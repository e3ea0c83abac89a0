// SPDX-License-Identifier: GPL-2.0
/*
 * Threads of a cgroup that share data: cpu.cluster.stat and cpu.cluster.tasks as a table, the mode
 * of cpu.cluster, and which view is shown of cpu.cluster.lines.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clusters.h"

static const char mode_file[] = "cpu.cluster";
static const char lines_file[] = "cpu.cluster.lines";

enum view { VIEW_CLUSTERS, VIEW_LINES, VIEW_SHMAP };

struct clusters_options {
	bool once, json, lines, shmap;
	const char *svg;
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

static void read_threads(struct clusters_frame *frame)
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

/* Without a mode there are none, and that is no error. */
static void read_lines(struct clusters_frame *frame)
{
	char *text = cgroup_read(frame->cgroup, lines_file);

	if (text)
		lines_parse(&frame->lines, text);
	else if (errno != ENODATA)
		frame->lines_err = errno;
	free(text);
	lines_sort_by_heat(&frame->lines);
}

static void __noreturn die_of_lines(const struct clusters_frame *frame)
{
	if (frame->lines_err == ENOENT && is_directory(frame->cgroup->dir))
		die(EX_UNAVAILABLE,
		    "no %s in %s: boot a kernel with CONFIG_TASK_CLUSTER that is as new as pathctl",
		    lines_file, frame->cgroup->name);
	cgroup_die(frame->cgroup, lines_file, frame->lines_err);
}

static void frame_read(struct clusters_frame *frame, const struct cgroup *cgroup)
{
	memset(frame, 0, sizeof(*frame));
	frame->cgroup = cgroup;
	frame->mode = read_mode(cgroup);
	frame->state = read_state();
	frame->has_stat = cgroup_keyed(cgroup, "cpu.cluster.stat", &frame->stat);
	read_threads(frame);
}

static void frame_free(struct clusters_frame *frame)
{
	if (frame->has_stat)
		keyed_free(&frame->stat);
	lines_free(&frame->lines);
	free(frame->threads);
	free(frame->state);
	free(frame->mode);
}

/* ---- what is shown ------------------------------------------------------------- */

static uint64_t stat_of(const struct clusters_frame *frame, const char *key)
{
	return keyed_u64(&frame->stat, key, 0);
}

/* Fewer may be chance: a page was another process's before. */
#define ACROSS_LEAST	100

static void print_stat(FILE *out, const struct clusters_frame *frame)
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
	if (stat_of(frame, "across") >= ACROSS_LEAST)
		fprintf(out, "%llu samples are of lines that another process takes, too: "
			"mode cgroup finds threads that share across processes\n",
			(unsigned long long)stat_of(frame, "across"));
}

/* Returns the first thread that is in another cluster, or on another chip. */
static size_t print_cluster(FILE *out, const struct clusters_frame *frame, size_t first)
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

/* What all views begin with */
static void print_state(FILE *out, const struct clusters_frame *frame)
{
	char *name = printable(frame->cgroup->name), *word = shell_word(frame->cgroup->name);

	fprintf(out, "%s: %s, %s\n", name, frame->mode, frame->state);
	if (!frame->has_stat)
		fprintf(out, "No clusters are looked for here: pathctl clusters %s process\n",
			word);
	free(word);
	free(name);
}

static void print_frame(FILE *out, const char *head, const void *what)
{
	const struct clusters_frame *frame = what;
	size_t i = 0;

	print_state(out, frame);
	if (frame->has_stat)
		print_stat(out, frame);
	if (frame->count)
		fprintf(out, "%s%7s %5s %8s  %s\n", head, "CLUSTER", "CHIP", "SAMPLES", "THREADS");
	while (i < frame->count)
		i = print_cluster(out, frame, i);
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

static json_t *frame_json(const struct clusters_frame *frame)
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
	json_object_set_new(object, "lines", frame->lines_err ? json_null() :
					     lines_json(&frame->lines, frame->code));
	return object;
}

/* ---- views --------------------------------------------------------------------- */

static const char no_lines[] =
	"No thread took a line from another chip often enough yet, or you may not trace them.\n";

/* What views of lines begin with. Are there any? */
bool clusters_print_head(FILE *out, const struct clusters_frame *frame)
{
	print_state(out, frame);
	if (frame->has_stat && !frame->lines.count)
		fputs(no_lines, out);
	return frame->lines.count;
}

static void (*const print[])(FILE *out, const char *head, const void *frame) = {
	[VIEW_CLUSTERS] = print_frame, [VIEW_LINES] = lines_print, [VIEW_SHMAP] = shmap_print,
};

static enum view view_of(const struct clusters_options *options)
{
	return options->lines ? VIEW_LINES : options->shmap ? VIEW_SHMAP : VIEW_CLUSTERS;
}

static bool is_live(const struct clusters_options *options)
{
	return !options->once && !options->json && !options->svg;
}

/* Lines of text around a table: what is above it, its head, how many more, and the keys */
#define AROUND 7

static void frame_read_all(struct clusters_frame *frame, const struct cgroup *cgroup,
			   const struct clusters_options *options, struct code *code)
{
	enum view view = view_of(options);
	int lines;

	frame_read(frame, cgroup);
	frame->code = code;
	code_frame(code);
	terminal_size(&frame->columns, &lines);
	frame->most = lines > AROUND ? lines - AROUND : 1;
	if (!is_live(options))
		frame->most = SIZE_MAX;
	if (view != VIEW_CLUSTERS || options->json)
		read_lines(frame);
	if (view != VIEW_CLUSTERS && frame->lines_err)
		die_of_lines(frame);
	if (view == VIEW_SHMAP)
		lines_sort_by_entry(&frame->lines);
}

static void once(const struct cgroup *cgroup, const struct clusters_options *options)
{
	struct code *code = code_open();
	struct clusters_frame frame;

	frame_read_all(&frame, cgroup, options, code);
	if (options->json)
		print_json(stdout, frame_json(&frame));
	if (options->svg)
		shmap_write_svg(options->svg, &frame);
	if (!options->json && !options->svg)
		print[view_of(options)](stdout, "", &frame);
	frame_free(&frame);
	code_close(code);
}

static void live(const struct cgroup *cgroup, const struct clusters_options *options)
{
	static const char *const hints[] = {
		[VIEW_CLUSTERS] = "pathctl clusters --once",
		[VIEW_LINES] = "pathctl clusters --lines --once",
		[VIEW_SHMAP] = "pathctl clusters --shmap --once",
	};
	enum view view = view_of(options);
	struct code *code = code_open();
	struct clusters_frame frame;
	int key = 0;

	live_enter(hints[view], options->delay * 1000);
	while (key != 'q') {
		frame_read_all(&frame, cgroup, options, code);
		key = live_frame(print[view], &frame, "q: quit");
		frame_free(&frame);
	}
	live_leave();
	code_close(code);
}

/* ---- the mode ------------------------------------------------------------------ */

static int switch_on(bool *was_off)
{
	char *path = xasprintf("%s/enabled", root()), *before = read_file(path);
	int err = write_file(path, "1");

	*was_off = before && *before == '0';
	free(before);
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

static void tell_of_mode(const struct cgroup *cgroup, const char *mode, const char *before,
			 bool switched_on)
{
	char *name = printable(cgroup->name), *word = shell_word(cgroup->name);
	bool other = strcmp(before, mode);

	printf("%s: clusters %s, ", name, mode);
	if (other)
		printf("was %s", before);
	else
		printf("as before");
	if (switched_on)
		printf(", and switched on");
	if (other || switched_on)
		printf("; to undo: ");
	if (other)
		printf("pathctl clusters %s %s", word, before);
	if (switched_on)
		printf("%secho 0 >%s/enabled", other ? "; " : "", root());
	putchar('\n');
	free(word);
	free(name);
}

/* If it cannot be switched on, the mode is as it was. */
static void set(const struct cgroup *cgroup, const char *mode)
{
	bool switched_on = false;
	char *before;
	int err;

	if (!is_mode(mode))
		die(EX_USAGE, "no mode %s: must be none, process or cgroup", mode);
	before = read_mode(cgroup);
	err = cgroup_write(cgroup, mode_file, mode);
	if (err)
		cgroup_die(cgroup, mode_file, err);
	err = strcmp(mode, "none") ? switch_on(&switched_on) : 0;
	if (err) {
		cgroup_write(cgroup, mode_file, before);
		free(before);
		die_of_switch(err);
	}
	tell_of_mode(cgroup, mode, before, switched_on);
	free(before);
}

static const struct option long_options[] = {
	{ "lines", no_argument, NULL, 'l' },
	{ "shmap", no_argument, NULL, 'm' },
	{ "svg", required_argument, NULL, 's' },
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
	options->lines |= option == 'l';
	options->shmap |= option == 'm';
	if (option == 's')
		options->svg = optarg;
	if (option == 'd')
		options->delay = option_number("--delay", optarg, 1, 3600);
}

static void check_options(const struct clusters_options *options, int words)
{
	if (words < 1 || words > 2)
		die(EX_USAGE, "of which cgroup? pathctl clusters CGROUP [MODE]");
	if (options->lines && options->shmap)
		die(EX_USAGE, "--lines and --shmap are two views: which one?");
	if (words == 2 && (options->lines || options->shmap))
		die(EX_USAGE, "a MODE is set without a view: pathctl clusters CGROUP MODE");
	if (options->svg && !options->shmap)
		die(EX_USAGE, "--svg: a picture there is only of --shmap");
}

static int run(const struct command *cmd, int argc, char **argv)
{
	struct clusters_options options = { .delay = 2 };
	struct cgroup cgroup;
	int option, words;

	while ((option = next_option(cmd, argc, argv, "hd:", long_options)) != -1)
		take_option(&options, option);
	words = argc - optind;
	check_options(&options, words);
	cgroup_find(&cgroup, argv[optind]);
	if (words == 2)
		set(&cgroup, argv[optind + 1]);
	else if (is_live(&options))
		live(&cgroup, &options);
	else
		once(&cgroup, &options);
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
		"  --lines       the cache lines that come from other chips, hottest first\n"
		"  --shmap       a picture of which threads took which lines\n"
		"  --svg FILE    write it there, drawn by gnuplot\n"
		"  --once        print one frame and end\n"
		"  --json        one frame as JSON, with all lines\n"
		"  -d, --delay S seconds between frames (2)\n\n"
		"Each row is a cluster and the chip that its threads are kept on, by one of its\n"
		"CPUs. Threads in no cluster are in the last row. Samples are those of the last\n"
		"round, of cache lines that came from another chip.\n\n"
		"KIND is false (threads use different words of the line: false sharing), atomic\n"
		"(a lock or a counter), data (threads use the same words), single (one thread\n"
		"only took it) or unknown (different words so far, but too few samples). CODE is\n"
		"the instruction that took it most often. BYTES are those that each thread used.\n",
	.run = run,
};
