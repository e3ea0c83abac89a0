// SPDX-License-Identifier: GPL-2.0
/* The one that is kept: mm-path/models/lru_stack.c. */
#include <linux/kernel.h>

#include "stacks.h"

struct kept {
	struct stack stack;
	struct mmpath_stack lru;
};

static struct kept *kept_of(struct stack *s)
{
	return container_of(s, struct kept, stack);
}

static struct stack *kept_create(struct mmpath_mem *mem, u32 pages, u32 group)
{
	struct kept *k = mmpath_mem_alloc(mem, sizeof(*k));

	(void)pages;
	(void)group;
	if (!k)
		return NULL;
	mmpath_stack_init(&k->lru, mem, 0, 0);
	return &k->stack;
}

static s64 kept_touch(struct stack *s, u64 page)
{
	return mmpath_stack_touch(&kept_of(s)->lru, page);
}

static void kept_prefetch(struct stack *s, const u64 *page, unsigned int nr)
{
	mmpath_stack_prefetch(&kept_of(s)->lru, page, nr);
}

static void kept_destroy(struct stack *s)
{
	struct mmpath_mem *mem = s->mem;

	mmpath_stack_destroy(&kept_of(s)->lru);
	mmpath_mem_free(mem, kept_of(s), sizeof(struct kept));
}

const struct stack_ops stack_kept = {
	.name = "kept",
	.what = "mm-path/models/lru_stack.c, one record at a time",
	.cycle = 9,
	.create = kept_create,
	.touch = kept_touch,
	.destroy = kept_destroy,
};

const struct stack_ops stack_ahead = {
	.name = "kept+ahead",
	.what = "the same, told of 16 records ahead, as the kernel does",
	.cycle = 9,
	.create = kept_create,
	.touch = kept_touch,
	.prefetch = kept_prefetch,
	.destroy = kept_destroy,
};
