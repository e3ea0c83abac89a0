// SPDX-License-Identifier: GPL-2.0
/*
 * What prefetching from swap hides, and the choice of its mode.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pathctl.h"

static const char mode_file[] = "memory.path.prefetch";
static const char regions_file[] = "memory.path.prefetch_regions";

/* A cgroup that has a mode of its own */
struct row {
	char *name, *mode;
	struct keyed stat;
};

struct mapping {
	uint64_t pid, depth, missed, fetched, used;
	char *start, *end, *predictor, *near[2], *far[2], *name;
};

struct frame {
	struct cgroup *cgroup;
	char *mode;
	char *above;		/* the cgroup whose mode counts if this one has none; or NULL */
	char *swap;		/* see prefetch_swap in memory.path.stat */
	struct row *rows;
	size_t row_count;
	struct mapping *mappings;
	size_t mapping_count;
	unsigned int most;	/* mappings to show; 0: all */
};

static const char *const predictors[] = { "space", "ppg" };

/* ---- collecting ----------------------------------------------------------- */

/* Why a cgroup has no mode. */
static void __noreturn die_without(const struct cgroup *cgroup, int err)
{
	uint64_t track;

	if (err == ENOENT && cgroup_u64(cgroup, "memory.path.track", &track))
		die(EX_UNAVAILABLE, "this kernel has no %s: it needs CONFIG_MMPATH_PREFETCH",
		    mode_file);
	cgroup_die(cgroup, mode_file, err);
}

/* The nearest cgroup above that has a mode, or NULL. */
static char *find_above(const struct cgroup *cgroup)
{
	char *name = xdup(cgroup->name), *slash;
	struct cgroup above;
	bool found = false;

	while (!found && (slash = strrchr(name, '/'))) {
		*slash = '\0';
		cgroup_set(&above, name);
		found = cgroup_prefetches(&above);
		cgroup_free(&above);
	}
	if (found)
		return name;
	free(name);
	return NULL;
}

/* False when the cgroup has gone, or has no mode any more. */
static bool collect_row(struct row *row, const struct cgroup *cgroup)
{
	row->mode = cgroup_choice(cgroup, mode_file);
	if (!row->mode || !cgroup_keyed(cgroup, "memory.path.stat", &row->stat)) {
		free(row->mode);
		return false;
	}
	row->name = xdup(cgroup->name);
	return true;
}

static void collect_rows(struct frame *frame)
{
	struct cgroup *cgroups;
	size_t i, count;

	cgroups = cgroups_below(frame->cgroup->dir, cgroup_prefetches, &count);
	frame->rows = xalloc(count * sizeof(*frame->rows));
	for (i = 0; i < count; i++)
		if (collect_row(&frame->rows[frame->row_count], &cgroups[i]))
			frame->row_count++;
	cgroups_free(cgroups, count);
	if (frame->row_count)
		frame->swap = xdup(keyed_get(&frame->rows[0].stat, "prefetch_swap") ?: "wait");
}

static char *take_cell(const struct table *table, size_t row, const char *name)
{
	return xdup(table_cell(table, row, table_column(table, regions_file, name)));
}

static uint64_t take_u64(const struct table *table, size_t row, const char *name)
{
	return table_u64(table, regions_file, row, table_column(table, regions_file, name));
}

static void take_mapping(struct mapping *mapping, const struct table *table, size_t row)
{
	mapping->pid = take_u64(table, row, "pid");
	mapping->start = take_cell(table, row, "start");
	mapping->end = take_cell(table, row, "end");
	mapping->predictor = take_cell(table, row, "predictor");
	mapping->depth = take_u64(table, row, "depth");
	mapping->near[0] = take_cell(table, row, "space_near");
	mapping->far[0] = take_cell(table, row, "space_far");
	mapping->near[1] = take_cell(table, row, "ppg_near");
	mapping->far[1] = take_cell(table, row, "ppg_far");
	mapping->missed = take_u64(table, row, "missed");
	mapping->fetched = take_u64(table, row, "fetched");
	mapping->used = take_u64(table, row, "used");
	mapping->name = take_cell(table, row, "name");
}

static int by_events(const void *a, const void *b)
{
	const struct mapping *x = a, *y = b;
	uint64_t m = x->missed + x->used, n = y->missed + y->used;

	if (m != n)
		return m < n ? 1 : -1;
	return x->pid != y->pid ? (x->pid > y->pid) - (x->pid < y->pid) :
				  strcmp(x->start, y->start);
}

/* The mappings of those programs to which the mode of this cgroup applies */
static void collect_mappings(struct frame *frame)
{
	char *text = cgroup_read(frame->cgroup, regions_file);
	struct table table;
	size_t i;

	if (!text && errno == ENODATA)
		return;
	if (!text)
		cgroup_die(frame->cgroup, regions_file, errno);
	table_parse(&table, text, regions_file, 1, true);
	table.text = text;
	frame->mapping_count = table.rows;
	frame->mappings = xalloc(table.rows * sizeof(*frame->mappings));
	for (i = 0; i < table.rows; i++)
		take_mapping(&frame->mappings[i], &table, i);
	table_free(&table);
	if (frame->mapping_count)
		qsort(frame->mappings, frame->mapping_count, sizeof(*frame->mappings), by_events);
}

static void collect(struct frame *frame, struct cgroup *cgroup, unsigned int most)
{
	memset(frame, 0, sizeof(*frame));
	frame->cgroup = cgroup;
	frame->most = most;
	frame->mode = cgroup_choice(cgroup, mode_file);
	if (!frame->mode)
		die_without(cgroup, errno);
	if (strcmp(frame->mode, "none"))
		collect_mappings(frame);
	else
		frame->above = find_above(cgroup);
	collect_rows(frame);
}

static void clear_mapping(struct mapping *mapping)
{
	int i;

	free(mapping->start);
	free(mapping->end);
	free(mapping->predictor);
	for (i = 0; i < 2; i++) {
		free(mapping->near[i]);
		free(mapping->far[i]);
	}
	free(mapping->name);
}

static void clear(struct frame *frame)
{
	size_t i;

	for (i = 0; i < frame->row_count; i++) {
		free(frame->rows[i].name);
		free(frame->rows[i].mode);
		keyed_free(&frame->rows[i].stat);
	}
	for (i = 0; i < frame->mapping_count; i++)
		clear_mapping(&frame->mappings[i]);
	free(frame->rows);
	free(frame->mappings);
	free(frame->mode);
	free(frame->above);
	free(frame->swap);
}

static uint64_t counter(const struct row *row, const char *name)
{
	char *key = xasprintf("prefetch_%s", name);
	uint64_t value = keyed_u64(&row->stat, key, 0);

	free(key);
	return value;
}

/* ---- text -------------------------------------------------------------- */

/* A part of a whole; of nothing there are no parts. */
static const char *percent(uint64_t part, uint64_t whole, char *buf, size_t size)
{
	if (whole)
		snprintf(buf, size, "%.1f%%", 100.0 * part / whole);
	else
		snprintf(buf, size, "-");
	return buf;
}

static void print_row(FILE *out, const struct row *row)
{
	uint64_t ondemand = counter(row, "ondemand"), hit = counter(row, "hit");
	uint64_t prefetched = counter(row, "prefetched");
	char hidden[32], precision[32], late[32], unused[32], counts[4][32];
	char *name = printable(row->name);

	fprintf(out, "%-6s %7s %9s %7s %7s %8s %10s %8s %8s  %s\n", row->mode,
		percent(hit, hit + ondemand, hidden, sizeof(hidden)),
		percent(hit, prefetched, precision, sizeof(precision)),
		percent(counter(row, "late"), hit, late, sizeof(late)),
		percent(counter(row, "unused"), prefetched, unused, sizeof(unused)),
		human_count(ondemand, counts[0], sizeof(counts[0])),
		human_count(counter(row, "space_prefetched"), counts[1], sizeof(counts[1])),
		human_count(counter(row, "ppg_prefetched"), counts[2], sizeof(counts[2])),
		human_count(hit, counts[3], sizeof(counts[3])), name);
	free(name);
}

static void print_mapping(FILE *out, const struct mapping *m)
{
	char hidden[32], precision[32], missed[32], fetched[32], *name = printable(m->name);

	fprintf(out, "%7llu %16s %-9s %5llu %7s %9s %4s %4s %4s %4s %8s %8s  %s\n",
		(unsigned long long)m->pid, m->start, m->predictor, (unsigned long long)m->depth,
		percent(m->used, m->used + m->missed, hidden, sizeof(hidden)),
		percent(m->used, m->fetched, precision, sizeof(precision)),
		m->near[0], m->far[0], m->near[1], m->far[1],
		human_count(m->missed, missed, sizeof(missed)),
		human_count(m->fetched, fetched, sizeof(fetched)), name);
	free(name);
}

static void print_mappings(FILE *out, const char *head, const struct frame *frame)
{
	size_t i, shown = frame->mapping_count;

	if (frame->most && shown > frame->most)
		shown = frame->most;
	fprintf(out, "\n%s%7s %16s %-9s %5s %7s %9s %4s %4s %4s %4s %8s %8s  %s\n", head, "PID",
		"START", "PREDICTOR", "DEPTH", "HIDDEN", "PRECISION", "S1", "S32", "G1", "G32",
		"ONDEMAND", "FETCHED", "NAME");
	for (i = 0; i < shown; i++)
		print_mapping(out, &frame->mappings[i]);
	if (shown < frame->mapping_count)
		fprintf(out, "%7s and %zu more with fewer misses\n", "...",
			frame->mapping_count - shown);
}

static void print_state(FILE *out, const struct frame *frame)
{
	char *name = printable(frame->cgroup->name);
	char *above = printable(frame->above ? frame->above : "");

	fprintf(out, "%s: prefetch %s", name, frame->mode);
	if (frame->above)
		fprintf(out, "; its programs do as those of %s", above);
	if (frame->swap && !strcmp(frame->swap, "nowait"))
		fputs("; off: swap on zram needs no wait", out);
	else if (frame->swap && !strcmp(frame->swap, "both"))
		fputs("; not from zram, which needs no wait", out);
	else if (frame->swap && !strcmp(frame->swap, "none"))
		fputs("; there is no swap", out);
	fputc('\n', out);
	free(above);
	free(name);
}

/* A program whose prefetching rests has no mappings here. */
static void print_rests(FILE *out, const struct row *row)
{
	uint64_t rested = counter(row, "rested");

	if (rested)
		fprintf(out, "given up for a time, since it did not pay: %llu time%s\n",
			(unsigned long long)rested, rested == 1 ? "" : "s");
}

static void print_frame(FILE *out, const char *head, const void *what)
{
	const struct frame *frame = what;
	size_t i;

	print_state(out, frame);
	if (!frame->row_count)
		return;
	print_rests(out, &frame->rows[0]);
	fprintf(out, "%s%-6s %7s %9s %7s %7s %8s %10s %8s %8s  %s\n", head, "MODE", "HIDDEN",
		"PRECISION", "LATE", "UNUSED", "ONDEMAND", "BY SPACE", "BY PPG", "HIT", "CGROUP");
	for (i = 0; i < frame->row_count; i++)
		print_row(out, &frame->rows[i]);
	if (frame->mapping_count)
		print_mappings(out, head, frame);
}

/* ---- JSON -------------------------------------------------------------- */

static json_t *percent_json(uint64_t part, uint64_t whole)
{
	return whole ? json_real(100.0 * part / whole) : json_null();
}

static json_t *row_json(const struct row *row)
{
	static const char prefix[] = "prefetch_";
	json_t *object = json_pack("{s:o, s:o}", "cgroup", json_text(row->name),
				   "mode", json_text(row->mode));
	uint64_t hit = counter(row, "hit"), prefetched = counter(row, "prefetched");
	size_t i;

	for (i = 0; i < row->stat.count; i++)
		if (!strncmp(row->stat.keys[i], prefix, strlen(prefix)))
			json_object_set_new(object, row->stat.keys[i] + strlen(prefix),
					    json_number_or_text(row->stat.values[i]));
	json_object_set_new(object, "hidden_percent",
			    percent_json(hit, hit + counter(row, "ondemand")));
	json_object_set_new(object, "precision_percent", percent_json(hit, prefetched));
	json_object_set_new(object, "late_percent", percent_json(counter(row, "late"), hit));
	json_object_set_new(object, "unused_percent",
			    percent_json(counter(row, "unused"), prefetched));
	return object;
}

static json_t *share_json(const char *text)
{
	uint64_t value;

	return parse_u64(text, &value) ? json_u64(value) : json_null();
}

static json_t *mapping_json(const struct mapping *m)
{
	json_t *tests = json_object();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(predictors); i++)
		json_object_set_new(tests, predictors[i],
				    json_pack("{s:o, s:o}",
					      "near_percent", share_json(m->near[i]),
					      "far_percent", share_json(m->far[i])));
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
			 "pid", json_u64(m->pid), "start", json_text(m->start),
			 "end", json_text(m->end), "predictor", json_text(m->predictor),
			 "depth", json_u64(m->depth), "tests", tests,
			 "missed", json_u64(m->missed), "fetched", json_u64(m->fetched),
			 "used", json_u64(m->used),
			 "hidden_percent", percent_json(m->used, m->used + m->missed),
			 "precision_percent", percent_json(m->used, m->fetched),
			 "name", json_text(m->name));
}

static json_t *frame_json(const struct frame *frame)
{
	json_t *rows = json_array(), *mappings = json_array();
	size_t i;

	for (i = 0; i < frame->row_count; i++)
		json_array_append_new(rows, row_json(&frame->rows[i]));
	for (i = 0; i < frame->mapping_count && (!frame->most || i < frame->most); i++)
		json_array_append_new(mappings, mapping_json(&frame->mappings[i]));
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "cgroup",
			 json_text(frame->cgroup->name), "mode", json_text(frame->mode),
			 "as", frame->above ? json_text(frame->above) : json_null(),
			 "swap", frame->swap ? json_text(frame->swap) : json_null(),
			 "cgroups", rows, "regions", mappings);
}

/* ---- options --------------------------------------------------------------- */

struct prefetch_options {
	bool once, json;
	unsigned int delay, most;
};

static const struct option long_options[] = {
	{ "once", no_argument, NULL, '1' },
	{ "json", no_argument, NULL, 'j' },
	{ "top", required_argument, NULL, 't' },
	{ "delay", required_argument, NULL, 'd' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

static void take_option(struct prefetch_options *options, int option)
{
	switch (option) {
	case '1':
		options->once = true;
		break;
	case 'j':
		options->json = true;
		break;
	case 't':
		options->most = option_number("--top", optarg, 1, 1000000);
		break;
	case 'd':
		options->delay = option_number("--delay", optarg, 1, 3600);
		break;
	}
}

static void once(struct cgroup *cgroup, const struct prefetch_options *options)
{
	struct frame frame;

	collect(&frame, cgroup, options->most);
	if (options->json)
		print_json(stdout, frame_json(&frame));
	else
		print_frame(stdout, "", &frame);
	clear(&frame);
}

static void live(struct cgroup *cgroup, const struct prefetch_options *options)
{
	struct frame frame;
	int key = 0;

	live_enter("pathctl prefetch --once", options->delay * 1000);
	while (key != 'q') {
		collect(&frame, cgroup, options->most);
		key = live_frame(print_frame, &frame, "q: quit");
		clear(&frame);
	}
	live_leave();
}

/* Is it one of the words in a file, in brackets or not? */
static bool has_word(const char *text, const char *word)
{
	size_t length = strlen(word);

	for (; *text; text += strspn(text, "[] \n")) {
		if (!strncmp(text, word, length) && strchr("[] \n", text[length]))
			return length;
		text += strcspn(text, "[] \n");
	}
	return false;
}

static void set(struct cgroup *cgroup, const char *mode)
{
	char *before = cgroup_choice(cgroup, mode_file), *modes, *name, *word;
	int err;

	if (!before)
		die_without(cgroup, errno);
	modes = cgroup_read_or_die(cgroup, mode_file);
	if (!has_word(modes, mode))
		die(EX_USAGE, "no mode %s: must be none, space, ppg or auto", mode);
	err = cgroup_write(cgroup, mode_file, mode);
	if (err)
		cgroup_die(cgroup, mode_file, err);
	name = printable(cgroup->name);
	word = shell_word(cgroup->name);
	if (strcmp(before, mode))
		printf("%s: prefetch %s, was %s; to undo: pathctl prefetch %s %s\n", name, mode,
		       before, word, before);
	else
		printf("%s: prefetch %s, as before\n", name, mode);
	free(word);
	free(name);
	free(modes);
	free(before);
}

static int run(const struct command *cmd, int argc, char **argv)
{
	struct prefetch_options options = { .delay = 2 };
	struct cgroup cgroup;
	int option, words;

	while ((option = next_option(cmd, argc, argv, "hd:", long_options)) != -1)
		take_option(&options, option);
	words = argc - optind;
	if (words < 1 || words > 2)
		die(EX_USAGE, "of which cgroup? pathctl prefetch CGROUP [MODE]");
	cgroup_find(&cgroup, argv[optind]);
	if (words == 2)
		set(&cgroup, argv[optind + 1]);
	else if (options.once || options.json)
		once(&cgroup, &options);
	else
		live(&cgroup, &options);
	cgroup_free(&cgroup);
	return EX_OK;
}

const struct command cmd_prefetch = {
	.name = "prefetch",
	.summary = "what reading ahead from swap hides, and its mode",
	.help = "usage: pathctl prefetch [option...] CGROUP [MODE]\n\n"
		"With MODE (none, space, ppg, auto): set it. Without: a live view of the cgroup,\n"
		"of those below it that have a mode of their own, and of the mappings of its\n"
		"programs. Programs need not be tracked. q quits.\n\n"
		"  --once        print one frame and end\n"
		"  --json        one frame as JSON\n"
		"  --top N       only the N mappings with most misses, hidden ones included\n"
		"  -d, --delay S seconds between frames (2)\n\n"
		"All since the mode was set. HIDDEN: misses that did not wait, or not for all of\n"
		"the time. PRECISION: pages that were read ahead and used. LATE: of the hidden\n"
		"ones, those that waited for a part of the time. UNUSED: pages that were not used\n"
		"soon. ONDEMAND: pages that were waited for. S1 and S32, G1 and G32: of 100 pages\n"
		"that space and the graph (ppg) have named as the next, or as the 32nd and on, how\n"
		"many were missed or used soon. Mappings are those that the reader may ptrace.\n",
	.run = run,
};
