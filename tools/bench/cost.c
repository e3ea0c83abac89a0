// SPDX-License-Identifier: GPL-2.0
/*
 * What a record costs: stack and curve, CPU time of this thread.
 *
 * All structures get the same reference string, uniformly random. First every
 * page is touched in order, then every page in a random order, so that the order
 * of use has nothing to do with the order in memory. Then they take turns; a turn
 * is at least TURN_NS long and a whole number of cycles of a structure that has
 * any; the median of the turns counts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "lib.h"
#include "models.h"

#define TURNS		5
#define TURN_NS		200000000ULL
#define BLOCK		4096U
#define MAX_STACKS	8

struct contender {
	struct stack *stack;
	struct counted_mem cm;
	struct rng rng;
	double ns[TURNS];
};

static u64 cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static void fill(struct contender *c, const u64 *shuffled, u32 pages)
{
	u32 i;

	for (i = 0; i < pages; i++)
		stack_touch(c->stack, i);
	for (i = 0; i < pages; i++)
		stack_touch(c->stack, shuffled[i]);
}

static void turn(struct contender *c, u32 pages, double *ns)
{
	u64 cycle = (u64)c->stack->ops->cycle * pages / 7, left, start, spent = 0, done = 0;
	u64 page[BLOCK];
	unsigned int nr, i;

	do {
		for (left = cycle ? cycle : BLOCK; left; left -= nr) {
			nr = min_t(u64, left, BLOCK);
			for (i = 0; i < nr; i++)
				page[i] = rng_below(&c->rng, pages);
			start = cpu_ns();
			stack_touch_all(c->stack, page, nr);
			spent += cpu_ns() - start;
			done += nr;
		}
	} while (spent < TURN_NS);
	*ns = (double)spent / done;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *value, int nr)
{
	qsort(value, nr, sizeof(*value), by_value);
	return value[nr / 2];
}

static u64 *shuffled_pages(u32 pages)
{
	u64 *page = malloc(pages * sizeof(*page)), tmp;
	struct rng r = { 7 };
	u32 i, j;

	if (!page)
		exit(71);
	for (i = 0; i < pages; i++)
		page[i] = i;
	for (i = pages - 1; i; i--) {
		j = rng_below(&r, i + 1);
		tmp = page[i];
		page[i] = page[j];
		page[j] = tmp;
	}
	return page;
}

static void print_row(struct contender *c, u32 pages, double tree_ns)
{
	double ns = median(c->ns, TURNS);

	printf("%9u %-11s %10.1f %10.1f %10.2f %10.1f\n", pages, c->stack->ops->name, ns,
	       c->ns[TURNS - 1] - c->ns[0], tree_ns / ns, (double)c->cm.peak / pages);
}

static void cost_at(u32 pages)
{
	struct contender contender[MAX_STACKS];
	u64 *shuffled = shuffled_pages(pages);
	int i, t, nr;

	for (nr = 0; all_stacks[nr]; nr++) {
		struct contender *c = &contender[nr];

		counted_mem_init(&c->cm);
		c->rng.state = 1;
		c->stack = stack_create(all_stacks[nr], &c->cm.mem, pages);
		fill(c, shuffled, pages);
	}
	for (t = 0; t < TURNS; t++)
		for (i = 0; i < nr; i++)
			turn(&contender[i], pages, &contender[i].ns[t]);
	for (i = 0; i < nr; i++)
		print_row(&contender[i], pages, median(contender[nr - 1].ns, TURNS));
	for (i = 0; i < nr; i++)
		stack_destroy(contender[i].stack);
	free(shuffled);
	fflush(stdout);
}

int cost_models(int argc, char **argv)
{
	int i;

	for (i = 0; all_stacks[i]; i++)
		printf("# %-11s %s\n", all_stacks[i]->name, all_stacks[i]->what);
	printf("#   pages structure    ns/record  max - min  tree/this bytes/page\n");
	for (i = 0; i < argc; i++)
		cost_at(strtoul(argv[i], NULL, 10));
	return 0;
}
