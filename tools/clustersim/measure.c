// SPDX-License-Identifier: GPL-2.0
/*
 * measure - how well does each algorithm find the groups of each play?
 *
 *   measure [SEEDS]
 *
 * Prints the mean and the worst adjusted Rand index over SEEDS seeds, in percent: a row for each
 * play and algorithm, over 8, 16, 32 and 64 threads, and then one for each number of threads and
 * algorithm, over all plays. And last, how long a thousand threads take.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../pathctl/pathctl.h"
#include "play.h"
#include "sim.h"

#define MANY	1000U

static const u32 sizes[] = { 8, 16, 32, 64 };
static const u32 amounts[] = { 100, 300 };
static const u32 noises[] = { 0, 20, 40 };

#define SIZES	ARRAY_SIZE(sizes)
#define COLUMNS	(ARRAY_SIZE(amounts) * ARRAY_SIZE(noises))

struct result {
	double sum, worst;
	u32 nr;
};

static void add(struct result *r, double rand)
{
	r->worst = !r->nr || rand < r->worst ? rand : r->worst;
	r->sum += rand;
	r->nr++;
}

/* The first round counts: there is no memory of the ones before it. */
static void keep_first(struct sim *sim, void *rand)
{
	if (sim->round.number == 1)
		*(double *)rand = sim->round.rand;
}

static double once(const struct play *play, const struct algorithm *a,
		   const struct play_options *o)
{
	const struct sim_options so = {
		.algorithm = a, .threshold = a->threshold, .samples = o->samples, .block = 64,
		.physical = play->processes,
	};
	struct samples s = { };
	struct truths t = { };
	struct sim sim = { .o = &so, .truths = &t };
	double rand = 0;

	play_samples(play, o, &s, &t);
	sim_run(&sim, &s, keep_first, &rand);
	sim_free(&sim);
	samples_free(&s);
	truths_free(&t);
	return rand;
}

/* One play, one algorithm, one number of threads: a result for each column */
static void measure(const struct play *play, const struct algorithm *a, u32 threads, u32 seeds,
		    struct result *play_row, struct result *threads_row)
{
	struct play_options o = { .threads = threads, .rounds = 1 };
	u32 column;
	double rand;

	for (column = 0; column < COLUMNS; column++) {
		o.samples = amounts[column / ARRAY_SIZE(noises)];
		o.noise = noises[column % ARRAY_SIZE(noises)];
		for (o.seed = 1; o.seed <= seeds; o.seed++) {
			rand = once(play, a, &o);
			add(&play_row[column], rand);
			add(&threads_row[column], rand);
		}
	}
}

static void print_head(const char *what)
{
	u32 i;

	printf("\n%-10s %-9s", what, "algorithm");
	for (i = 0; i < COLUMNS; i++)
		printf(" %4u/%2u%%", amounts[i / ARRAY_SIZE(noises)],
		       noises[i % ARRAY_SIZE(noises)]);
	puts("    mean");
}

static void print_row(const char *what, const struct algorithm *a, const struct result *row)
{
	double sum = 0;
	u32 i;

	printf("%-10s %-9s", what, a->name);
	for (i = 0; i < COLUMNS; i++) {
		printf(" %3.0f/%-4.0f", 100 * row[i].sum / row[i].nr, 100 * row[i].worst);
		sum += row[i].sum / row[i].nr;
	}
	printf(" %6.1f\n", 100 * sum / COLUMNS);
	fflush(stdout);
}

static void measure_play(const struct play *play, const struct algorithm *a, u32 seeds,
			 struct result (*by_size)[COLUMNS])
{
	struct result row[COLUMNS] = { };
	u32 i;

	for (i = 0; i < SIZES; i++)
		measure(play, a, sizes[i], seeds, row, by_size[i]);
	print_row(play->name, a, row);
}

static void print_sizes(struct result (*all)[SIZES][COLUMNS])
{
	char name[16];
	u32 i, k;

	print_head("threads");
	for (i = 0; i < SIZES; i++)
		for (k = 0; algorithms[k].name; k++) {
			snprintf(name, sizeof(name), "%u", sizes[i]);
			print_row(name, &algorithms[k], all[k][i]);
		}
}

/* Time */

static double find_ms(const struct algorithm *a, const struct taskcluster_thread *kept)
{
	struct taskcluster_thread *threads = xalloc(MANY * sizeof(*threads));
	struct taskcluster_thread **t = xalloc(MANY * sizeof(struct taskcluster_thread *));
	double begin;
	u32 i;

	memcpy(threads, kept, MANY * sizeof(*threads));
	for (i = 0; i < MANY; i++)
		t[i] = &threads[i];
	begin = seconds_now();
	a->find(t, MANY, MANY, a->threshold);
	begin = seconds_now() - begin;
	free(t);
	free(threads);
	return 1000 * begin;
}

/* shMaps of a play, to be freed */
static struct taskcluster_thread *play_maps(const struct play *play)
{
	const struct play_options o = { .seed = 1, .threads = MANY, .rounds = 1, .samples = 300,
					.noise = 20 };
	struct taskcluster_thread *threads = xalloc(MANY * sizeof(*threads));
	struct taskcluster_filter *filter = xalloc(sizeof(*filter));
	struct samples s = { };
	struct truths t = { };
	size_t i;

	play_samples(play, &o, &s, &t);
	for (i = 0; i < s.nr; i++) {
		const struct taskcluster_access access = {
			.line = (play->processes ? s.list[i].phys : s.list[i].addr) / 64,
		};

		taskcluster_shmap_note(filter, &threads[s.list[i].tid - t.list[0].tid], &access);
	}
	samples_free(&s);
	truths_free(&t);
	free(filter);
	return threads;
}

static void print_times(void)
{
	struct taskcluster_thread *threads;
	const struct algorithm *a;
	const struct play *play;
	double ms, least;
	int i;

	printf("\nms for %u threads\n", MANY);
	for (play = plays; play->name; play++) {
		threads = play_maps(play);
		printf("%-10s", play->name);
		for (a = algorithms; a->name; a++) {
			for (i = 0, least = 1e9; i < 5; i++) {
				ms = find_ms(a, threads);
				least = ms < least ? ms : least;
			}
			printf("  %s %6.2f", a->name, least);
		}
		putchar('\n');
		free(threads);
	}
}

int main(int argc, char **argv)
{
	static struct result by_size[8][SIZES][COLUMNS];
	u32 seeds = argc > 1 ? option_number("measure", argv[1], 1, 10000) : 20, k;
	const struct play *play;

	print_head("play");
	for (play = plays; play->name; play++)
		for (k = 0; algorithms[k].name; k++)
			measure_play(play, &algorithms[k], seeds, by_size[k]);
	print_sizes(by_size);
	print_times();
	close_stdout();
	return 0;
}
