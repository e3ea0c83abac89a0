// SPDX-License-Identifier: GPL-2.0
/*
 * models - what the models of mm-path cost and how exact they are, natively,
 * built from the very files that the kernel builds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models.h"

const struct stack_ops *const all_stacks[] = {
	&stack_kept, &stack_ahead, &stack_time, &stack_list, &stack_tree, NULL,
};

static void *counted_alloc(struct mmpath_mem *mem, size_t bytes)
{
	struct counted_mem *cm = (struct counted_mem *)mem;

	if (mem->bytes + bytes > cm->peak)
		cm->peak = mem->bytes + bytes;
	return calloc(1, bytes);
}

static void counted_free(struct mmpath_mem *mem, void *p, size_t bytes)
{
	(void)mem;
	(void)bytes;
	free(p);
}

void counted_mem_init(struct counted_mem *cm)
{
	memset(cm, 0, sizeof(*cm));
	cm->mem.alloc = counted_alloc;
	cm->mem.free = counted_free;
}

u32 group_of(u32 pages)
{
	u32 group = GROUP_PAGES;

	while (pages > group * MMPATH_MRC_BINS)
		group *= 2;
	return group;
}

struct stack *stack_create(const struct stack_ops *ops, struct mmpath_mem *mem, u32 pages)
{
	u32 group = group_of(pages);
	struct stack *s = ops->create(mem, pages, group);

	if (!s || mmpath_mrc_init(&s->mrc, mem, group)) {
		fprintf(stderr, "models: out of memory\n");
		exit(71);
	}
	s->ops = ops;
	s->mem = mem;
	return s;
}

void stack_destroy(struct stack *s)
{
	mmpath_mrc_destroy(&s->mrc);
	s->ops->destroy(s);
}

void stack_touch_all(struct stack *s, const u64 *page, u32 nr)
{
	u32 i;

	for (i = 0; i < nr; i++) {
		if (s->ops->prefetch && i % MMPATH_PREFETCH == 0)
			s->ops->prefetch(s, page + i, nr - i);
		stack_touch(s, page[i]);
	}
}

static int usage(void)
{
	fprintf(stderr,
		"usage: models check                  do all structures give the same curve? (TAP)\n"
		"       models cost PAGES...          ns per record and bytes per page of each\n"
		"       models curve PAGES <STRING    the curve of a reference string\n"
		"       models sampled PAGES FROM LRU MRU <STRING\n"
		"                                     error of a region with LRU and MRU sampled\n"
		"                                     pages at most, from a size of FROM pages on\n"
		"STRING is what workload --string prints.\n");
	return 64;
}

int main(int argc, char **argv)
{
	const char *command = argc > 1 ? argv[1] : "";

	if (!strcmp(command, "check") && argc == 2)
		return check_models();
	if (!strcmp(command, "cost") && argc > 2)
		return cost_models(argc - 2, argv + 2);
	if (!strcmp(command, "curve") && argc == 3)
		return print_curve(argc - 2, argv + 2);
	if (!strcmp(command, "sampled") && argc == 6)
		return print_sampled(argc - 2, argv + 2);
	return usage();
}
