// SPDX-License-Identifier: GPL-2.0
/*
 * Which threads took which lines, as a picture: figure 3.5 of Azimi's thesis (2007). A row is the
 * shMap of a thread, a column is an entry. Threads of a cluster are beside each other, so what
 * they share is a block of dark columns.
 */
#include <stdlib.h>
#include <string.h>

#include "clusters.h"

/* A thread took a line. */
struct cell {
	uint64_t group, cluster, tid;
	size_t column;		/* in frame->lines, which are in order of entries */
	unsigned int samples;
};

#define SHADES 4
#define LEAST_MAX (1 << (SHADES - 1))	/* so that each shade has numbers */

struct shmap {
	const struct clusters_frame *frame;
	struct cell *cells;	/* row by row */
	size_t count, rows;
	unsigned int max;	/* samples of a cell */
	bool groups;		/* more than one */
};

/* ---- from the files ------------------------------------------------------------ */

static int by_tid(const void *a, const void *b)
{
	const struct thread *x = a, *y = b;

	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

/* Clusters have names of their own in each group. Threads without one are behind them. */
static int by_row(const void *a, const void *b)
{
	const struct cell *x = a, *y = b;

	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	if (x->cluster != y->cluster)
		return x->cluster - 1 < y->cluster - 1 ? -1 : 1;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->column < y->column ? -1 : x->column > y->column;
}

static bool same_cluster(const struct cell *a, const struct cell *b)
{
	return a->group == b->group && a->cluster == b->cluster;
}

static bool same_row(const struct cell *a, const struct cell *b)
{
	return same_cluster(a, b) && a->tid == b->tid;
}

static void add_line(struct shmap *map, const struct thread *threads, size_t column)
{
	const struct clusters_frame *frame = map->frame;
	const struct shared_line *line = &frame->lines.list[column];
	const struct thread *thread;
	size_t i;

	map->groups |= line->group != frame->lines.list[0].group;
	map->cells = xgrow(map->cells, map->count + line->count, sizeof(*map->cells));
	for (i = 0; i < line->count; i++) {
		const struct thread key = { .tid = line->takers[i].tid };

		thread = frame->count ? bsearch(&key, threads, frame->count, sizeof(key), by_tid) :
					NULL;
		map->cells[map->count++] = (struct cell){
			.group = line->group, .cluster = thread ? thread->cluster : 0,
			.tid = key.tid, .column = column, .samples = line->takers[i].samples,
		};
		if (line->takers[i].samples > map->max)
			map->max = line->takers[i].samples;
	}
}

static struct thread *threads_by_tid(const struct clusters_frame *frame)
{
	struct thread *threads = xgrow(NULL, frame->count, sizeof(*threads));

	if (frame->count) {
		memcpy(threads, frame->threads, frame->count * sizeof(*threads));
		qsort(threads, frame->count, sizeof(*threads), by_tid);
	}
	return threads;
}

/* There must be lines. */
static void shmap_build(struct shmap *map, const struct clusters_frame *frame)
{
	struct thread *threads = threads_by_tid(frame);
	size_t i;

	*map = (struct shmap){ .frame = frame, .max = LEAST_MAX };
	for (i = 0; i < frame->lines.count; i++)
		add_line(map, threads, i);
	qsort(map->cells, map->count, sizeof(*map->cells), by_row);
	for (i = 0; i < map->count; i++)
		map->rows += !i || !same_row(&map->cells[i - 1], &map->cells[i]);
	free(threads);
}

/* ---- on a terminal -------------------------------------------------------------- */

#define NOT_SHOWN SIZE_MAX

/* Each shade is of twice as many samples, as few threads take a line as often as the hottest. */
static unsigned int shade_max(const struct shmap *map, int level)
{
	return map->max >> (SHADES - 1 - level);
}

static const char *shade(int level)
{
	static const char *const blocks[SHADES] = { "\u2591", "\u2592", "\u2593", "\u2588" };
	static const char *const letters[SHADES] = { ".", "+", "#", "@" };

	return terminal_is_utf8() ? blocks[level] : letters[level];
}

static const char *shade_of(const struct shmap *map, unsigned int samples)
{
	int level = 0;

	while (level < SHADES - 1 && samples > shade_max(map, level))
		level++;
	return shade(level);
}

struct heat_of_column {
	uint64_t samples;
	size_t column;
};

static int by_samples(const void *a, const void *b)
{
	const struct heat_of_column *x = a, *y = b;

	if (x->samples != y->samples)
		return x->samples > y->samples ? -1 : 1;
	return x->column < y->column ? -1 : x->column > y->column;
}

/* Where each column is shown: the hottest ones that fit are, in their order. To be freed. */
static size_t *choose_columns(const struct lines *lines, size_t fit)
{
	struct heat_of_column *heat = xalloc(lines->count * sizeof(*heat));
	size_t i, shown = 0, *at = xalloc(lines->count * sizeof(*at));

	for (i = 0; i < lines->count; i++) {
		heat[i] = (struct heat_of_column){ lines->list[i].samples, i };
		at[i] = NOT_SHOWN;
	}
	qsort(heat, lines->count, sizeof(*heat), by_samples);
	for (i = 0; i < lines->count && i < fit; i++)
		at[heat[i].column] = 0;
	for (i = 0; i < lines->count; i++)
		if (at[i] != NOT_SHOWN)
			at[i] = shown++;
	free(heat);
	return at;
}

static void print_scale(FILE *out, const struct shmap *map, size_t shown)
{
	size_t lines = map->frame->lines.count;
	int i;

	fprintf(out, "%zu thread%s, ", map->rows, map->rows == 1 ? "" : "s");
	if (shown < lines)
		fprintf(out, "the %zu hottest of ", shown);
	fprintf(out, "%zu line%s; samples up to", lines, lines == 1 ? "" : "s");
	for (i = 0; i < SHADES; i++)
		fprintf(out, "%s %s %u", i ? "," : "", shade(i), shade_max(map, i));
	fputc('\n', out);
}

/* Returns the first cell of the next row. */
static size_t print_row(FILE *out, const struct shmap *map, size_t first, const size_t *at)
{
	const struct cell *cell = &map->cells[first];
	size_t i, x = 0;

	if (map->groups)
		fprintf(out, "%8llu ", (unsigned long long)cell->group);
	if (cell->cluster)
		fprintf(out, "%7llu ", (unsigned long long)cell->cluster);
	else
		fprintf(out, "%7s ", "-");
	fprintf(out, "%8llu  ", (unsigned long long)cell->tid);
	for (i = first; i < map->count && same_row(cell, &map->cells[i]); i++) {
		const struct cell *c = &map->cells[i];

		/* a malformed file may name a thread twice */
		if (at[c->column] == NOT_SHOWN || !c->samples || at[c->column] < x)
			continue;
		fprintf(out, "%*s%s", (int)(at[c->column] - x), "",
			shade_of(map, c->samples));
		x = at[c->column] + 1;
	}
	fputc('\n', out);
	return i;
}

void shmap_print(FILE *out, const char *head, const void *what)
{
	const struct clusters_frame *frame = what;
	struct shmap map;
	size_t i = 0, row, fit, *at;
	int room;

	if (!clusters_print_head(out, frame))
		return;
	shmap_build(&map, frame);
	room = frame->columns - (map.groups ? 27 : 18);
	fit = room < 8 ? 8 : room;
	at = choose_columns(&frame->lines, fit);
	print_scale(out, &map, fit < frame->lines.count ? fit : frame->lines.count);
	fprintf(out, "%s%s%7s %8s  %s\n", head, map.groups ? " PROCESS " : "", "CLUSTER", "THREAD",
		"LINES");
	for (row = 0; i < map.count && row < frame->most; row++)
		i = print_row(out, &map, i, at);
	if (row < map.rows)
		fprintf(out, "... and %zu more threads\n", map.rows - row);
	free(at);
	free(map.cells);
}

/* ---- as a file ------------------------------------------------------------------- */

/* Names of columns, and lines between groups */
static void name_columns(const struct shmap *map, char **names, bool *edges)
{
	const struct shared_line *list = map->frame->lines.list;
	size_t i;

	for (i = 0; i < map->frame->lines.count; i++) {
		names[i] = xasprintf("%llu", (unsigned long long)list[i].entry);
		edges[i] = i && list[i].group != list[i - 1].group;
	}
}

static char *row_name(const struct shmap *map, const struct cell *cell)
{
	char group[32] = "", cluster[32] = "-";

	if (map->groups)
		snprintf(group, sizeof(group), "%llu/", (unsigned long long)cell->group);
	if (cell->cluster)
		snprintf(cluster, sizeof(cluster), "%llu", (unsigned long long)cell->cluster);
	return xasprintf("%s%s: %llu", group, cluster, (unsigned long long)cell->tid);
}

/* Squares, names of rows, and lines between clusters */
static void place_cells(const struct shmap *map, struct heat_cell *cells, char **names,
			bool *edges)
{
	const struct cell *cell = map->cells;
	size_t i, row = 0;

	for (i = 0; i < map->count; i++, cell++) {
		row += i && !same_row(cell - 1, cell);
		if (!names[row]) {
			names[row] = row_name(map, cell);
			edges[row] = i && !same_cluster(cell - 1, cell);
		}
		cells[i] = (struct heat_cell){ cell->column, row, cell->samples };
	}
}

static void free_names(char **names, size_t count)
{
	while (count--)
		free(names[count]);
	free(names);
}

static void shmap_draw(const char *path, const struct shmap *map)
{
	size_t columns = map->frame->lines.count;
	char *title = xasprintf("%s: lines from other chips", map->frame->cgroup->name);
	char **column_names = xalloc(columns * sizeof(char *));
	char **row_names = xalloc(map->rows * sizeof(char *));
	bool *column_edges = xalloc(columns * sizeof(bool)), *row_edges = xalloc(map->rows);
	struct heat_cell *cells = xalloc(map->count * sizeof(*cells));
	const struct heat heat = {
		.title = title, .x_label = "entry of the shMap",
		.y_label = map->groups ? "process/cluster: thread" : "cluster: thread",
		.unit = "samples", .columns = columns, .rows = map->rows, .count = map->count,
		.column_names = column_names, .row_names = row_names,
		.column_edges = column_edges, .row_edges = row_edges,
		.cells = cells, .max = map->max,
	};

	name_columns(map, column_names, column_edges);
	place_cells(map, cells, row_names, row_edges);
	svg_write_heat(path, &heat);
	free_names(column_names, columns);
	free_names(row_names, map->rows);
	free(column_edges);
	free(row_edges);
	free(cells);
	free(title);
}

void shmap_write_svg(const char *path, const struct clusters_frame *frame)
{
	struct shmap map;

	if (!frame->lines.count)
		die(EX_NOINPUT, "no lines from other chips in cgroup %s, so nothing to draw",
		    frame->cgroup->name);
	shmap_build(&map, frame);
	shmap_draw(path, &map);
	free(map.cells);
}
