// SPDX-License-Identifier: GPL-2.0
/*
 * Memory.path.mrc: misses as a function of memory.
 *
 * Between two points the curve is taken as a straight line, beyond the last
 * one as flat: a program that has all its pages misses none of them again.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pathctl.h"

static const char file[] = "memory.path.mrc";

const char *const window_names[WINDOWS] = { "total", "recent", "epoch" };
const char *const window_texts[WINDOWS] = {
	"since the start", "of late, older epochs counting less", "in the last epoch",
};

enum window parse_window(const char *text)
{
	enum window window;

	for (window = 0; window < WINDOWS; window++)
		if (!strcmp(text, window_names[window]))
			return window;
	die(EX_USAGE, "--window %s: must be total, recent or epoch", text);
}

/* ---- reading --------------------------------------------------------- */

/* Up to the line that starts the table; returns the rest and its line number. */
static char *parse_keys(struct keyed *keys, char *text, size_t *line_number)
{
	char *line;

	*line_number = 1;
	while (text && strncmp(text, "pages ", 6)) {
		line = strsep(&text, "\n");
		if (*line && !keyed_add_line(keys, line))
			die(EX_DATAERR, "%s: line %zu is neither \"key value\" nor the table",
			    file, *line_number);
		(*line_number)++;
	}
	if (!text)
		die(EX_DATAERR, "%s: no line \"pages total recent epoch\" in it", file);
	return text;
}

static uint64_t need(const struct keyed *keys, const char *key)
{
	const char *text = keyed_get(keys, key);
	uint64_t value;

	if (!text || !parse_u64(text, &value))
		die(EX_DATAERR, "%s: %s \"%s\" is no number", file, key, text ? text : "");
	return value;
}

static void take_keys(struct curve *curve, const struct keyed *keys)
{
	if (need(keys, "version") != 1)
		die(EX_DATAERR, "%s: version %s is newer than this pathctl: use the kernel's own",
		    file, keyed_get(keys, "version"));
	curve->page_bytes = need(keys, "page_bytes");
	if (!curve->page_bytes)
		die(EX_DATAERR, "%s: pages of 0 bytes", file);
	curve->group_pages = keyed_u64(keys, "group_pages", 1);
	curve->sample_shift = keyed_u64(keys, "sample_shift", 0);
	curve->records = need(keys, "records");
	curve->cold = need(keys, "cold");
	curve->footprint = need(keys, "footprint");
	curve->resolved_from = keyed_u64(keys, "resolved_from", 0);
}

static uint64_t *take_column(const struct table *table, const char *name)
{
	size_t row, column = table_column(table, file, name);
	uint64_t *values = xgrow(NULL, table->rows, sizeof(*values));

	for (row = 0; row < table->rows; row++)
		values[row] = table_u64(table, file, row, column);
	return values;
}

static void take_points(struct curve *curve, const struct table *table)
{
	enum window window;
	size_t i;

	curve->points = table->rows;
	curve->pages = take_column(table, "pages");
	for (window = 0; window < WINDOWS; window++)
		curve->misses[window] = take_column(table, window_names[window]);
	for (i = 1; i < curve->points; i++)
		if (curve->pages[i] <= curve->pages[i - 1])
			die(EX_DATAERR, "%s: the sizes do not grow at %llu pages", file,
			    (unsigned long long)curve->pages[i]);
}

/* Text is cut up, and freed by the caller. */
void curve_parse(struct curve *curve, char *text)
{
	struct keyed keys = { 0 };
	struct table table;
	size_t line_number;

	memset(curve, 0, sizeof(*curve));
	text = parse_keys(&keys, text, &line_number);
	take_keys(curve, &keys);
	table_parse(&table, text, file, line_number, false);
	take_points(curve, &table);
	table_free(&table);
	keyed_free(&keys);
}

void curve_read(struct curve *curve, const struct cgroup *cgroup)
{
	char *text = cgroup_read_or_die(cgroup, file);

	curve_parse(curve, text);
	free(text);
}

/* False when there is none, or it cannot be read. */
bool curve_try_read(struct curve *curve, const struct cgroup *cgroup)
{
	char *text = cgroup_read(cgroup, file);

	memset(curve, 0, sizeof(*curve));
	if (!text)
		return false;
	curve_parse(curve, text);
	free(text);
	return true;
}

void curve_free(struct curve *curve)
{
	enum window window;

	free(curve->pages);
	for (window = 0; window < WINDOWS; window++)
		free(curve->misses[window]);
	memset(curve, 0, sizeof(*curve));
}

/* ---- asking ---------------------------------------------------------- */

/* The first point whose size is at least so many pages. */
static size_t point_from(const struct curve *curve, double pages)
{
	size_t low = 0, high = curve->points;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (curve->pages[middle] < pages)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The smallest size of which the curve knows anything, in pages. */
uint64_t curve_first(const struct curve *curve)
{
	size_t i = point_from(curve, curve->resolved_from);

	return i < curve->points ? curve->pages[i] : curve->resolved_from;
}

static double between(double x0, double y0, double x1, double y1, double x)
{
	return y0 + (y1 - y0) * (x - x0) / (x1 - x0);
}

double curve_at(const struct curve *curve, enum window window, double pages)
{
	const uint64_t *misses = curve->misses[window];
	size_t i = point_from(curve, pages);

	if (!curve->points)
		return 0;
	if (i == curve->points)
		return misses[i - 1];
	if (!i)
		return misses[0];
	return between(curve->pages[i - 1], misses[i - 1], curve->pages[i], misses[i], pages);
}

double curve_at_bytes(const struct curve *curve, enum window window, uint64_t bytes)
{
	if (bytes == NO_LIMIT)
		bytes = UINT64_MAX / 2;
	return curve_at(curve, window, (double)bytes / curve->page_bytes);
}

/* The smallest resolved size with at most so many misses; false: there is none. */
bool curve_pages_for(const struct curve *curve, enum window window, double misses,
		     double *pages)
{
	const uint64_t *y = curve->misses[window];
	size_t i = point_from(curve, curve->resolved_from);
	size_t first = i;

	while (i < curve->points && y[i] > misses)
		i++;
	if (i == curve->points)
		return false;
	*pages = i == first ? (double)curve->pages[i] :
		 between(y[i - 1], curve->pages[i - 1], y[i], curve->pages[i], misses);
	return true;
}

double curve_mib(const struct curve *curve, double pages)
{
	return pages * curve->page_bytes / MIB;
}

/* ---- showing --------------------------------------------------------- */

void curve_write_csv(FILE *out, const struct curve *curve)
{
	size_t i;

	fputs("pages,mib,total,recent,epoch\n", out);
	for (i = 0; i < curve->points; i++)
		fprintf(out, "%llu,%.6g,%llu,%llu,%llu\n", (unsigned long long)curve->pages[i],
			curve_mib(curve, curve->pages[i]),
			(unsigned long long)curve->misses[WINDOW_TOTAL][i],
			(unsigned long long)curve->misses[WINDOW_RECENT][i],
			(unsigned long long)curve->misses[WINDOW_EPOCH][i]);
}

void curve_write_csv_file(const char *path, const struct curve *curve)
{
	FILE *out = open_output(path);

	curve_write_csv(out, curve);
	close_output(out, path);
}

static double *in_mib(const struct curve *curve)
{
	double *x = xgrow(NULL, curve->points, sizeof(*x));
	size_t i;

	for (i = 0; i < curve->points; i++)
		x[i] = curve_mib(curve, curve->pages[i]);
	return x;
}

static double *as_doubles(const uint64_t *values, size_t count)
{
	double *y = xgrow(NULL, count, sizeof(*y));

	while (count--)
		y[count] = values[count];
	return y;
}

static void to_series(struct series *series, const struct curve *curve, enum window window)
{
	memset(series, 0, sizeof(*series));
	series->label = window_names[window];
	series->points = curve->points;
	series->x = in_mib(curve);
	series->y = as_doubles(curve->misses[window], curve->points);
	series->dotted_below = curve_mib(curve, curve->resolved_from);
}

static void free_series(struct series *series)
{
	free((void *)series->x);
	free((void *)series->y);
}

static void print_legend(FILE *out, const struct curve *curve)
{
	char a[32], b[32], c[32];

	fprintf(out, "footprint %s, %s records, %s first touches (not in the curve)\n",
		human_bytes(curve->footprint * curve->page_bytes, a, sizeof(a)),
		human_count(curve->records, b, sizeof(b)),
		human_count(curve->cold, c, sizeof(c)));
	if (curve->resolved_from)
		fprintf(out,
			"dotted: sizes below %s are not resolved (reach of the page access buffer)\n",
			human_bytes(curve->resolved_from * curve->page_bytes, a, sizeof(a)));
	if (curve->sample_shift)
		fprintf(out, "sampled: one page in %llu stands for all\n",
			1ULL << (curve->sample_shift & 63));
}

static void draw_points(FILE *out, const struct curve *curve, const struct cgroup *cgroup,
			enum window window, int columns, int lines)
{
	char *title = xasprintf("%s: misses %s", cgroup->name, window_texts[window]);
	uint64_t current;
	struct series series;
	struct plot plot = {
		.title = title, .x_unit = "MiB", .series = &series, .count = 1, .mark = -1,
	};

	to_series(&series, curve, window);
	plot.x_max = series.x[series.points - 1];
	plot.y_max = series.y[0];
	if (cgroup_memory_now(cgroup, &plot.mark_text, &current) && current)
		plot.mark = current / MIB;
	plot_draw(out, &plot, columns, lines, terminal_is_utf8());
	free_series(&series);
	free(title);
}

void curve_draw(FILE *out, const struct curve *curve, const struct cgroup *cgroup,
		enum window window, int columns, int lines)
{
	char *name = printable(cgroup->name);

	if (curve->points < 2 || !curve->misses[window][0])
		fprintf(out, "%s: no misses %s, so nothing to draw\n", name, window_texts[window]);
	else
		draw_points(out, curve, cgroup, window, columns, lines);
	print_legend(out, curve);
	coverage_note(out, cgroup);
	free(name);
}

void curve_write_svg(const char *path, const struct curve *curve, const char *name,
		     enum window window)
{
	char *title = xasprintf("%s: misses %s", name, window_texts[window]);
	struct series series;
	struct plot plot = { .title = title, .x_unit = "MiB", .series = &series, .count = 1 };

	if (!curve->points)
		die(EX_NOINPUT, "%s: no curve yet, so no picture", name);
	to_series(&series, curve, window);
	svg_write(path, &plot, "misses");
	free_series(&series);
	free(title);
}

static json_t *points_json(const struct curve *curve)
{
	json_t *array = json_array(), *point;
	enum window window;
	size_t i;

	for (i = 0; i < curve->points; i++) {
		point = json_object();
		json_object_set_new(point, "pages", json_u64(curve->pages[i]));
		for (window = 0; window < WINDOWS; window++)
			json_object_set_new(point, window_names[window],
					    json_u64(curve->misses[window][i]));
		json_array_append_new(array, point);
	}
	return array;
}

json_t *curve_json(const struct curve *curve)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
			 "page_bytes", json_u64(curve->page_bytes),
			 "group_pages", json_u64(curve->group_pages),
			 "sample_shift", json_u64(curve->sample_shift),
			 "records", json_u64(curve->records),
			 "cold", json_u64(curve->cold),
			 "footprint_pages", json_u64(curve->footprint),
			 "resolved_from_pages", json_u64(curve->resolved_from),
			 "points", points_json(curve));
}

/* ---- what a curve covers ---------------------------------------------- */

void coverage_note(FILE *out, const struct cgroup *cgroup)
{
	struct keyed stat;
	const char *refaults;

	fputs("covers anonymous, shared and mapped-file pages; ", out);
	fputs("read() and write() are not seen", out);
	cgroup_keyed(cgroup, "memory.stat", &stat);
	refaults = keyed_get(&stat, "workingset_refault_file");
	if (refaults)
		fprintf(out, "\nby page tables: their misses are in %s, %s so far",
			"workingset_refault_file", refaults);
	fputc('\n', out);
	keyed_free(&stat);
}

json_t *coverage_json(const struct cgroup *cgroup)
{
	static const char *const keys[] = {
		"anon", "shmem", "file", "file_mapped", "kernel", "pgmajfault",
		"workingset_refault_anon", "workingset_refault_file",
	};
	static const char *const files[] = { "memory.current", "memory.max", "memory.peak" };
	json_t *memory = json_object();
	struct keyed stat;
	uint64_t value;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(files); i++)
		if (cgroup_u64(cgroup, files[i], &value))
			json_object_set_new(memory, files[i] + strlen("memory."),
					    value == NO_LIMIT ? json_null() : json_u64(value));
	cgroup_keyed(cgroup, "memory.stat", &stat);
	for (i = 0; i < ARRAY_SIZE(keys); i++)
		if (keyed_get(&stat, keys[i]))
			json_object_set_new(memory, keys[i],
					    json_number_or_text(keyed_get(&stat, keys[i])));
	keyed_free(&stat);
	return json_pack("{s:[s,s,s], s:[s,s], s:o}", "covers", "anonymous", "shmem", "mapped file",
			 "does_not_cover", "read()", "write()", "memory", memory);
}
