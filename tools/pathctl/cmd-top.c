// SPDX-License-Identifier: GPL-2.0
/*
 * A live view over all tracked cgroups.
 */
#include <stdlib.h>
#include <string.h>

#include "pathctl.h"

enum order { BY_RECORDS, BY_MISSES, BY_FOOTPRINT, BY_NAME, ORDERS };

static const char *const order_names[ORDERS] = { "records/s", "misses/s", "footprint", "name" };

struct row {
	char *name;
	uint64_t contexts, records_per_sec, overhead, coverage, footprint, memory;
	double misses_per_sec;
};

struct frame {
	struct row *rows;
	size_t count;
	bool enabled;
};

/* ---- collecting ----------------------------------------------------------- */

/* False when the cgroup has gone or may not be looked at. */
static bool collect_row(struct row *row, const struct cgroup *cgroup, double epoch)
{
	struct curve curve;
	struct keyed stat;

	if (!cgroup_keyed(cgroup, "memory.path.stat", &stat) || !curve_try_read(&curve, cgroup)) {
		keyed_free(&stat);
		return false;
	}
	memset(row, 0, sizeof(*row));
	row->name = xdup(cgroup->name);
	row->contexts = keyed_u64(&stat, "contexts", 0);
	row->records_per_sec = keyed_u64(&stat, "records_per_sec", 0);
	row->overhead = keyed_u64(&stat, "overhead_now_permille", 0);
	row->coverage = keyed_u64(&stat, "coverage_permille", 0);
	row->footprint = curve.footprint * curve.page_bytes;
	cgroup_u64(cgroup, "memory.current", &row->memory);
	row->misses_per_sec = curve_at_bytes(&curve, WINDOW_EPOCH, row->memory) / epoch;
	curve_free(&curve);
	keyed_free(&stat);
	return true;
}

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a < b) - (a > b);
}

static int compare(const struct row *a, const struct row *b, enum order order)
{
	switch (order) {
	case BY_RECORDS:
		return compare_u64(a->records_per_sec, b->records_per_sec);
	case BY_MISSES:
		return (a->misses_per_sec < b->misses_per_sec) -
		       (a->misses_per_sec > b->misses_per_sec);
	case BY_FOOTPRINT:
		return compare_u64(a->footprint, b->footprint);
	default:
		return 0;
	}
}

static int by_order(const void *a, const void *b, void *order)
{
	const struct row *x = a, *y = b;
	int result = compare(x, y, *(enum order *)order);

	return result ? result : strcmp(x->name, y->name);
}

static void collect(struct frame *frame, enum order order)
{
	double epoch = sysfs_u64("epoch_ms") / 1000.0;
	struct cgroup *cgroups;
	size_t i, count;

	frame->enabled = sysfs_u64("enabled");
	cgroups = cgroups_tracked(&count);
	frame->rows = xalloc(count * sizeof(*frame->rows));
	frame->count = 0;
	for (i = 0; i < count; i++)
		if (collect_row(&frame->rows[frame->count], &cgroups[i], epoch > 0 ? epoch : 1))
			frame->count++;
	cgroups_free(cgroups, count);
	qsort_r(frame->rows, frame->count, sizeof(*frame->rows), by_order, &order);
}

static void clear_frame(struct frame *frame)
{
	size_t i;

	for (i = 0; i < frame->count; i++)
		free(frame->rows[i].name);
	free(frame->rows);
}

/* ---- text -------------------------------------------------------------- */

static void print_row(FILE *out, const struct row *row)
{
	char records[32], footprint[32], memory[32], misses[32];
	char *name = printable(row->name);

	fprintf(out, "%6llu %9s %8.1f%% %7.4g%% %10s %10s %9s  %s\n",
		(unsigned long long)row->contexts,
		human_count(row->records_per_sec, records, sizeof(records)),
		row->overhead / 10.0, row->coverage / 10.0,
		human_bytes(row->footprint, footprint, sizeof(footprint)),
		human_bytes(row->memory, memory, sizeof(memory)),
		human_count(row->misses_per_sec, misses, sizeof(misses)), name);
	free(name);
}

static void print_frame(FILE *out, const char *head, const void *what)
{
	const struct frame *frame = what;
	size_t i;

	fprintf(out, "tracking is %s, %zu cgroup%s tracked\n",
		frame->enabled ? "on" : "off (sudo pathctl on)", frame->count,
		frame->count == 1 ? "" : "s");
	fprintf(out, "%s%6s %9s %9s %8s %10s %10s %9s  %s\n", head, "PROCS", "RECORDS/S", "OVERHEAD",
		"COVERAGE", "FOOTPRINT", "MEMORY", "MISSES/S", "CGROUP");
	for (i = 0; i < frame->count; i++)
		print_row(out, &frame->rows[i]);
}

static json_t *frame_json(const struct frame *frame)
{
	json_t *rows = json_array();
	size_t i;

	for (i = 0; i < frame->count; i++) {
		const struct row *row = &frame->rows[i];

		json_array_append_new(rows,
			json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:f}",
				  "cgroup", json_text(row->name),
				  "contexts", json_u64(row->contexts),
				  "records_per_sec", json_u64(row->records_per_sec),
				  "overhead_permille", json_u64(row->overhead),
				  "coverage_permille", json_u64(row->coverage),
				  "footprint_bytes", json_u64(row->footprint),
				  "memory_bytes", json_u64(row->memory),
				  "misses_per_sec", row->misses_per_sec));
	}
	return json_pack("{s:b, s:o}", "enabled", frame->enabled, "cgroups", rows);
}

static void once(bool json, enum order order)
{
	struct frame frame;

	collect(&frame, order);
	if (json)
		print_json(stdout, frame_json(&frame));
	else
		print_frame(stdout, "", &frame);
	clear_frame(&frame);
}

/* ---- the terminal --------------------------------------------------------- */

static void live(unsigned int delay, enum order order)
{
	struct frame frame;
	char *keys;
	int key = 0;

	live_enter("pathctl top --once", delay * 1000);
	while (key != 'q') {
		collect(&frame, order);
		keys = xasprintf("q: quit   s: sorted by %s", order_names[order]);
		key = live_frame(print_frame, &frame, keys);
		free(keys);
		clear_frame(&frame);
		if (key == 's')
			order = (order + 1) % ORDERS;
	}
	live_leave();
}

/* ---- options --------------------------------------------------------------- */

static int run(const struct command *cmd, int argc, char **argv)
{
	static const struct option options[] = {
		{ "once", no_argument, NULL, '1' },
		{ "json", no_argument, NULL, 'j' },
		{ "delay", required_argument, NULL, 'd' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	bool one = false, json = false;
	unsigned int delay = 2;
	int option;

	while ((option = next_option(cmd, argc, argv, "hd:", options)) != -1) {
		if (option == 'd')
			delay = option_number("--delay", optarg, 1, 3600);
		one |= option == '1';
		json |= option == 'j';
	}
	if (optind < argc)
		die(EX_USAGE, "top takes no argument \"%s\"", argv[optind]);
	sysfs_require();
	if (one || json)
		once(json, BY_RECORDS);
	else
		live(delay, BY_RECORDS);
	return EX_OK;
}

const struct command cmd_top = {
	.name = "top",
	.summary = "a live view of tracked cgroups",
	.help = "usage: pathctl top [option...]\n\n"
		"  --once        print one frame and end\n"
		"  --json        one frame as JSON\n"
		"  -d, --delay S seconds between frames (2)\n\n"
		"Keys: q quits, s changes the order. OVERHEAD is the cost of tracking, as a share\n"
		"of the programs' CPU time. COVERAGE is the share of pages that is tracked.\n"
		"MISSES/S is what the curve of the last epoch says for the memory that the cgroup\n"
		"has now.\n",
	.run = run,
};
