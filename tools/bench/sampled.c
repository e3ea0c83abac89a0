// SPDX-License-Identifier: GPL-2.0
/*
 * How exact curves are: the exact one, as workload --truth prints it, and that
 * of a whole region in a fixed amount of memory.
 */
#include <stdio.h>
#include <stdlib.h>

#include "models.h"

#define BLOCK	4096

/* Gives all pages of standard input to @touch; returns how many. */
static u64 feed_pages(void (*touch)(void *arg, u64 page), void *arg)
{
	u64 page[BLOCK], sum = 0;
	size_t i, nr;

	while ((nr = fread(page, sizeof(*page), BLOCK, stdin)) > 0) {
		for (i = 0; i < nr; i++)
			touch(arg, page[i]);
		sum += nr;
	}
	return sum;
}

static void touch_stack(void *arg, u64 page)
{
	stack_touch(arg, page);
}

int print_curve(int argc, char **argv)
{
	u64 pages = strtoull(argv[argc - 1], NULL, 10), m;
	struct counted_mem cm;
	struct stack *s;

	counted_mem_init(&cm);
	s = stack_create(&stack_kept, &cm.mem, pages);
	if (!feed_pages(touch_stack, s))
		return 65;
	for (m = 0; m <= pages; m += s->mrc.group_pages)
		printf("%llu %llu\n", m, mmpath_mrc_misses(&s->mrc, MMPATH_MRC_TOTAL, m));
	stack_destroy(s);
	return 0;
}

struct both {
	struct stack *exact;
	struct mmpath_regions regions;
};

static void touch_both(void *arg, u64 page)
{
	struct both *b = arg;

	stack_touch(b->exact, page);
	mmpath_regions_touch(&b->regions, page);
}

/* Mean over M of |sampled - exact|, over the exact one at @from. */
static double error_of(const struct mmpath_mrc *sampled, const struct mmpath_mrc *exact,
		       u64 from, u64 pages)
{
	u64 m, nr = 0, base = mmpath_mrc_misses(exact, MMPATH_MRC_TOTAL, from);
	double sum = 0;
	s64 d;

	for (m = from; m <= pages; m += exact->group_pages, nr++) {
		d = mmpath_mrc_misses(sampled, MMPATH_MRC_TOTAL, m) -
		    mmpath_mrc_misses(exact, MMPATH_MRC_TOTAL, m);
		sum += llabs(d);
	}
	return base ? sum / nr / base : -1;
}

int print_sampled(int argc, char **argv)
{
	struct mmpath_region_params params = { .min_pages = 256, .group_pages = GROUP_PAGES };
	u64 pages = strtoull(argv[0], NULL, 10), from = strtoull(argv[1], NULL, 10), nr;
	struct counted_mem all, fixed;
	const struct mmpath_region *r;
	struct both b;

	(void)argc;
	params.max_pages = strtoul(argv[2], NULL, 10);
	params.mru_pages = strtoul(argv[3], NULL, 10);
	counted_mem_init(&all);
	counted_mem_init(&fixed);
	b.exact = stack_create(&stack_kept, &all.mem, pages);
	if (mmpath_regions_init(&b.regions, &fixed.mem, &params))
		return 71;
	if (mmpath_regions_map(&b.regions, 0, pages, MMPATH_REGION_MMAP))
		return 71;
	nr = feed_pages(touch_both, &b);
	if (!nr)
		return 65;
	r = mmpath_regions_find(&b.regions, 0);
	printf("error %.4f\nrecords %llu\nshift %u\nbytes %zu\n",
	       error_of(&r->models->lru_mrc, &b.exact->mrc, from, pages), nr, r->models->lru.shift,
	       fixed.peak + sizeof(b.regions));
	mmpath_regions_destroy(&b.regions);
	stack_destroy(b.exact);
	return 0;
}
