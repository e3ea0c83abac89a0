// SPDX-License-Identifier: GPL-2.0
/*
 * Memory.path.regions: which mappings the records belong to.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pathctl.h"

static const char file[] = "memory.path.regions";

/* A tracked program that forks without end must not fill our memory. */
#define MOST_GONE 4096

struct columns {
	size_t pid, region, kind, start, end, mapped_kb, footprint, records, cold, shift,
		state, policy, in_memory, target, name;
};

static void find_columns(struct columns *c, const struct table *table)
{
	c->pid = table_column(table, file, "pid");
	c->region = table_column(table, file, "region");
	c->kind = table_column(table, file, "kind");
	c->start = table_column(table, file, "start");
	c->end = table_column(table, file, "end");
	c->mapped_kb = table_column(table, file, "mapped_kb");
	c->footprint = table_column(table, file, "footprint");
	c->records = table_column(table, file, "records");
	c->cold = table_column(table, file, "cold");
	c->shift = table_column(table, file, "shift");
	c->state = table_column(table, file, "state");
	c->policy = table_column(table, file, "policy");
	c->in_memory = table_column(table, file, "in_memory");
	c->target = table_column(table, file, "target");
	c->name = table_column(table, file, "name");
}

static void take_row(struct region *region, const struct table *table,
		     const struct columns *c, size_t row)
{
	region->pid = table_u64(table, file, row, c->pid);
	region->id = table_u64(table, file, row, c->region);
	region->mapped_kb = table_u64(table, file, row, c->mapped_kb);
	region->footprint = table_u64(table, file, row, c->footprint);
	region->records = table_u64(table, file, row, c->records);
	region->cold = table_u64(table, file, row, c->cold);
	region->shift = table_u64(table, file, row, c->shift);
	region->kind = xdup(table_cell(table, row, c->kind));
	region->start = xdup(table_cell(table, row, c->start));
	region->end = xdup(table_cell(table, row, c->end));
	region->state = xdup(table_cell(table, row, c->state));
	region->policy = xdup(table_cell(table, row, c->policy));
	region->in_memory = table_u64(table, file, row, c->in_memory);
	region->target = xdup(table_cell(table, row, c->target));
	region->name = xdup(table_cell(table, row, c->name));
}

/* Text is cut up, and freed by the caller. */
void regions_parse(struct regions *regions, char *text)
{
	struct columns columns;
	struct table table;
	size_t row;

	memset(regions, 0, sizeof(*regions));
	table_parse(&table, text, file, 1, true);
	find_columns(&columns, &table);
	regions->count = table.rows;
	regions->list = xalloc(table.rows * sizeof(*regions->list));
	for (row = 0; row < table.rows; row++)
		take_row(&regions->list[row], &table, &columns, row);
	table_free(&table);
}

void regions_read(struct regions *regions, const struct cgroup *cgroup)
{
	char *text = cgroup_read_or_die(cgroup, file);

	regions_parse(regions, text);
	free(text);
}

bool regions_try_read(struct regions *regions, const struct cgroup *cgroup)
{
	char *text = cgroup_read(cgroup, file);

	memset(regions, 0, sizeof(*regions));
	if (!text)
		return false;
	regions_parse(regions, text);
	free(text);
	return true;
}

static void region_clear(struct region *region)
{
	free(region->kind);
	free(region->start);
	free(region->end);
	free(region->state);
	free(region->policy);
	free(region->target);
	free(region->name);
}

void regions_free(struct regions *regions)
{
	size_t i;

	for (i = 0; i < regions->count; i++)
		region_clear(&regions->list[i]);
	free(regions->list);
	memset(regions, 0, sizeof(*regions));
}

static int by_process(const void *a, const void *b)
{
	const struct region *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid > y->pid ? 1 : -1;
	return (x->id > y->id) - (x->id < y->id);
}

static void sort_by_process(struct regions *regions)
{
	if (regions->count)
		qsort(regions->list, regions->count, sizeof(*regions->list), by_process);
}

/*
 * How many programs these are of. Those of other PID namespaces have no number, that is 0, but
 * a rest each.
 */
size_t regions_programs(struct regions *regions)
{
	const struct region *region, *before = NULL;
	size_t i, programs = 0;

	sort_by_process(regions);
	for (i = 0; i < regions->count; i++, before = region) {
		region = &regions->list[i];
		if (region->pid)
			programs += !before || before->pid != region->pid;
		else
			programs += !strcmp(region->kind, "rest");
	}
	return programs;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* A program that ends frees its memory first: its largest size tells more. */
static void keep_largest(struct region *now, struct region *before)
{
	now->mapped_kb = larger(now->mapped_kb, before->mapped_kb);
	now->footprint = larger(now->footprint, before->footprint);
	region_clear(before);
}

/*
 * Keep what was known of regions that are gone, and the largest sizes that were
 * seen of those that are there. Before is emptied.
 */
void regions_take_over(struct regions *now, struct regions *before)
{
	size_t i, at = 0, live = now->count;

	sort_by_process(now);
	sort_by_process(before);
	now->list = xgrow(now->list, live + before->count, sizeof(*now->list));
	for (i = 0; i < before->count; i++) {
		struct region *old = &before->list[i];

		while (at < live && by_process(&now->list[at], old) < 0)
			at++;
		if (at < live && !by_process(&now->list[at], old))
			keep_largest(&now->list[at], old);
		else if (now->count < MOST_GONE)
			now->list[now->count++] = *old;
		else
			region_clear(old);
	}
	free(before->list);
	memset(before, 0, sizeof(*before));
}

static int by_records(const void *a, const void *b)
{
	const struct region *x = a, *y = b;

	if (x->records != y->records)
		return x->records < y->records ? 1 : -1;
	return by_process(a, b);
}

/* The busiest first. */
void regions_sort(struct regions *regions)
{
	if (regions->count)
		qsort(regions->list, regions->count, sizeof(*regions->list), by_records);
}

/* Is memory divided among them? Else those columns say nothing. */
static bool any_policy(const struct regions *regions)
{
	size_t i;

	for (i = 0; i < regions->count; i++)
		if (strcmp(regions->list[i].policy, "-"))
			return true;
	return false;
}

static void print_region(FILE *out, const struct region *region, bool policy)
{
	char mapped[32], records[32], cold[32], *name = printable(region->name);

	fprintf(out, "%7llu %6llu %-5s %10s %9llu %8s %8s %5llu %-5s ",
		(unsigned long long)region->pid, (unsigned long long)region->id, region->kind,
		human_bytes(region->mapped_kb * 1024, mapped, sizeof(mapped)),
		(unsigned long long)region->footprint,
		human_count(region->records, records, sizeof(records)),
		human_count(region->cold, cold, sizeof(cold)),
		(unsigned long long)region->shift, region->state);
	if (policy)
		fprintf(out, "%-6s %9llu %9s ", region->policy,
			(unsigned long long)region->in_memory, region->target);
	fprintf(out, "%s\n", name);
	free(name);
}

/* At most so many lines (0: all). Footprints are in pages. */
void regions_print(FILE *out, const struct regions *regions, size_t most)
{
	size_t i, shown = regions->count;
	bool policy = any_policy(regions);

	if (most && shown > most)
		shown = most;
	fprintf(out, "%7s %6s %-5s %10s %9s %8s %8s %5s %-5s ", "PID", "REGION", "KIND",
		"MAPPED", "FOOTPRINT", "RECORDS", "COLD", "SHIFT", "STATE");
	if (policy)
		fprintf(out, "%-6s %9s %9s ", "POLICY", "IN MEMORY", "TARGET");
	fprintf(out, "NAME\n");
	for (i = 0; i < shown; i++)
		print_region(out, &regions->list[i], policy);
	if (shown < regions->count)
		fprintf(out, "%7s and %zu more with fewer records\n", "...",
			regions->count - shown);
}

static json_t *region_json(const struct region *region)
{
	bool aims = strcmp(region->target, "-");

	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
			 "pid", json_u64(region->pid),
			 "region", json_u64(region->id),
			 "kind", json_text(region->kind),
			 "start", json_text(region->start),
			 "end", json_text(region->end),
			 "mapped_kb", json_u64(region->mapped_kb),
			 "footprint_pages", json_u64(region->footprint),
			 "records", json_u64(region->records),
			 "cold", json_u64(region->cold),
			 "shift", json_u64(region->shift),
			 "state", json_text(region->state),
			 "policy", json_text(region->policy),
			 "in_memory_pages", json_u64(region->in_memory),
			 "target_pages",
			 aims ? json_u64(strtoull(region->target, NULL, 10)) : json_null(),
			 "name", json_text(region->name));
}

json_t *regions_json(const struct regions *regions)
{
	json_t *array = json_array();
	size_t i;

	for (i = 0; i < regions->count; i++)
		json_array_append_new(array, region_json(&regions->list[i]));
	return array;
}
