// SPDX-License-Identifier: GPL-2.0
/*
 * Tables, figure 3.5 of Azimi's thesis (2007) as text, and JSON.
 */
#include <stdlib.h>
#include <string.h>

#include "../pathctl/pathctl.h"
#include "print.h"

#define SHADES	4U

/* Rounds */

void print_round(struct sim *sim, void *arg)
{
	const struct sim_round *r = &sim->round;

	(void)arg;
	if (r->number == 1)
		printf("%5s %8s %8s %7s %8s %9s%s\n", "ROUND", "THREADS", "SAMPLES", "MISSED",
		       "CLUSTERS", "CLUSTERED", sim->truths->nr ? "   RAND" : "");
	printf("%5u %8u %8u %6.1f%% %8u %9u", r->number, r->threads, r->samples,
	       100.0 * r->missed / r->samples, r->clusters, r->clustered);
	if (r->judged)
		printf(" %6.3f", r->rand);
	putchar('\n');
}

/* Threads by cluster; those without one are last. */

static int by_cluster(const void *a, const void *b)
{
	const struct sim_thread *x = *(struct sim_thread *const *)a;
	const struct sim_thread *y = *(struct sim_thread *const *)b;

	if (x->model.name != y->model.name)
		return x->model.name - 1 < y->model.name - 1 ? -1 : 1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

/* To be freed */
static struct sim_thread **in_order(const struct sim *sim)
{
	struct sim_thread **t = xgrow(NULL, sim->nr, sizeof(*t));

	if (sim->nr) {
		memcpy(t, sim->thread, sim->nr * sizeof(*t));
		qsort(t, sim->nr, sizeof(*t), by_cluster);
	}
	return t;
}

static void print_number_or_none(const char *format, const char *none, s64 value, s64 least)
{
	if (value >= least)
		printf(format, value);
	else
		fputs(none, stdout);
}

/* The chip that most threads are on; a large cluster may be on several. */
static s32 common_chip(struct sim_thread *const *t, u32 nr)
{
	u32 i, k, most = 0, count;
	s32 chip = -1;

	for (i = 0; i < nr; i++) {
		for (k = 0, count = 0; k < nr; k++)
			count += t[k]->chip == t[i]->chip;
		if (t[i]->chip >= 0 && count > most) {
			most = count;
			chip = t[i]->chip;
		}
	}
	return chip;
}

static u32 print_cluster(const struct sim *sim, struct sim_thread *const *t, u32 left)
{
	u32 i, nr;
	u64 samples = 0;
	s32 chip;

	for (nr = 0; nr < left && t[nr]->model.name == t[0]->model.name; nr++)
		samples += t[nr]->seen;
	print_number_or_none("%7lld", "      -", t[0]->model.name, 1);
	chip = common_chip(t, nr);
	if (sim->o->chips)
		print_number_or_none(" %5lld", "     -", chip, 0);
	printf(" %8u %8llu ", nr, samples);
	for (i = 0; i < nr; i++) {
		printf(" %u", t[i]->tid);
		if (t[i]->chip != chip)
			printf("@%d", t[i]->chip);
	}
	putchar('\n');
	return nr;
}

/* The clusters after the last round */
void print_clusters(const struct sim *sim)
{
	struct sim_thread **t = in_order(sim);
	u32 i;

	printf("\n%7s%s %8s %8s  %s\n", "CLUSTER", sim->o->chips ? "  CHIP" : "", "THREADS",
	       "SAMPLES", "TIDS");
	for (i = 0; i < sim->nr; )
		i += print_cluster(sim, t + i, sim->nr - i);
	free(t);
}

/* The picture: a row for each thread, a column for each entry of the filter */

struct column {
	u32 entry, samples;
};

static int hottest_first(const void *a, const void *b)
{
	const struct column *x = a, *y = b;

	if (x->samples != y->samples)
		return x->samples > y->samples ? -1 : 1;
	return x->entry < y->entry ? -1 : x->entry > y->entry;
}

static int by_entry(const void *a, const void *b)
{
	const struct column *x = a, *y = b;

	return x->entry < y->entry ? -1 : x->entry > y->entry;
}

/* The hottest columns that fit, in the order of entries. Returns how many. */
static u32 choose_columns(const struct sim *sim, struct column *columns, u32 fit)
{
	u32 i, entry, nr = 0;

	for (entry = 0; entry < TASKCLUSTER_LINES; entry++) {
		columns[nr] = (struct column){ .entry = entry };
		for (i = 0; i < sim->nr; i++)
			columns[nr].samples += sim->thread[i]->last.count[entry];
		nr += columns[nr].samples > 0;
	}
	qsort(columns, nr, sizeof(*columns), hottest_first);
	nr = nr < fit ? nr : fit;
	qsort(columns, nr, sizeof(*columns), by_entry);
	return nr;
}

static u32 hottest(const struct sim *sim)
{
	u32 i, entry, most = 1;

	for (i = 0; i < sim->nr; i++)
		for (entry = 0; entry < TASKCLUSTER_LINES; entry++)
			if (sim->thread[i]->last.count[entry] > most)
				most = sim->thread[i]->last.count[entry];
	return most;
}

static const char *shade(u32 level)
{
	static const char *const blocks[SHADES] = { "\u2591", "\u2592", "\u2593", "\u2588" };
	static const char *const letters[SHADES] = { ".", "+", "#", "@" };

	return terminal_is_utf8() ? blocks[level] : letters[level];
}

static void print_row(const struct sim_thread *t, const struct column *columns, u32 nr, u32 most)
{
	u32 i, count, blanks = 0;

	print_number_or_none("%7lld", "      -", t->model.name, 1);
	printf(" %8u  ", t->tid);
	for (i = 0; i < nr; i++) {
		count = t->last.count[columns[i].entry];
		blanks += !count;
		if (!count)
			continue;
		printf("%*s%s", blanks, "", shade((count * SHADES + most - 1) / most - 1));
		blanks = 0;
	}
	putchar('\n');
}

static void print_scale(u32 shown, u32 most)
{
	u32 i;

	printf("\n%u lines are shown; samples up to", shown);
	for (i = 0; i < SHADES; i++)
		printf("%s %s %u", i ? "," : "", shade(i), most * (i + 1) / SHADES);
	printf("\n%7s %8s  %s\n", "CLUSTER", "THREAD", "LINES");
}

/* The shMaps of the last round */
void print_shmap(const struct sim *sim)
{
	struct sim_thread **t = in_order(sim);
	struct column columns[TASKCLUSTER_LINES + 1];
	u32 i, shown, most = hottest(sim);
	int width, height;

	terminal_size(&width, &height);
	shown = choose_columns(sim, columns, width > 26 ? width - 18 : 8);
	print_scale(shown, most);
	for (i = 0; i < sim->nr; i++)
		print_row(t[i], columns, shown, most);
	free(t);
}

/* JSON */

static void set(json_t *object, const char *key, json_t *value)
{
	if (json_object_set_new(object, key, value))
		die(EX_OSERR, "out of memory");
}

static json_t *number_or_null(s64 value, s64 least)
{
	return value >= least ? json_integer(value) : json_null();
}

static json_t *json_thread(const struct sim *sim, const struct sim_thread *t)
{
	json_t *object = json_object();
	u32 group;

	set(object, "tid", json_integer(t->tid));
	set(object, "samples", json_integer(t->seen));
	set(object, "cluster", number_or_null(t->model.name, 1));
	if (sim->o->chips)
		set(object, "chip", number_or_null(t->chip, 0));
	if (truths_find(sim->truths, t->tid, &group))
		set(object, "group", number_or_null(group, 1));
	return object;
}

/* Add a round that has ended to an array. */
void json_round(struct sim *sim, void *list)
{
	const struct sim_round *r = &sim->round;
	json_t *object = json_object(), *threads = json_array();
	u32 i;

	set(object, "samples", json_integer(r->samples));
	set(object, "missed", json_integer(r->missed));
	set(object, "end_ns", json_integer(r->end_ns));
	set(object, "clusters", json_integer(r->clusters));
	if (r->judged)
		set(object, "rand", json_real(r->rand));
	for (i = 0; i < sim->nr; i++)
		json_array_append_new(threads, json_thread(sim, sim->thread[i]));
	set(object, "threads", threads);
	json_array_append_new(list, object);
}

json_t *json_result(const struct sim *sim, json_t *rounds)
{
	json_t *object = json_object();

	set(object, "algorithm", json_string(sim->o->algorithm->name));
	set(object, "threshold", json_integer(sim->o->threshold));
	set(object, "by", json_string(sim->o->physical ? "physical" : "virtual"));
	set(object, "block", json_integer(sim->o->block));
	set(object, "rounds", rounds);
	set(object, "samples_left", json_integer(sim->round.samples));
	return object;
}
