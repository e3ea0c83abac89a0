// SPDX-License-Identifier: GPL-2.0
/*
 * Times and a Fenwick tree (Bennett and Kruskal 1975, Almasi et al. 2002): each
 * page has the time of its last touch, the tree counts the times that are the
 * last of some page. Time ends at twice the number of pages; then all times are
 * renumbered at once.
 */
#include <linux/kernel.h>
#include <linux/string.h>

#include "stacks.h"

struct time {
	struct stack stack;
	struct mmpath_index last;	/* page -> time, from 1 on */
	u32 *tree;
	u32 *id;			/* time -> page, as the index names it */
	u32 now, end, nr_pages;
};

static struct time *time_of(struct stack *s)
{
	return container_of(s, struct time, stack);
}

static size_t time_bytes(const struct time *t)
{
	return (t->end + 1) * sizeof(u32);
}

static void time_destroy(struct stack *s)
{
	struct time *t = time_of(s);
	struct mmpath_mem *mem = s->mem;

	mmpath_index_destroy(&t->last);
	mmpath_mem_free(mem, t->tree, time_bytes(t));
	mmpath_mem_free(mem, t->id, time_bytes(t));
	mmpath_mem_free(mem, t, sizeof(*t));
}

static struct stack *time_create(struct mmpath_mem *mem, u32 pages, u32 group)
{
	struct time *t = mmpath_mem_alloc(mem, sizeof(*t));

	(void)group;
	if (!t)
		return NULL;
	t->stack.mem = mem;
	t->end = 2 * pages;
	mmpath_index_init(&t->last, mem, 0, NULL);
	t->tree = mmpath_mem_alloc(mem, time_bytes(t));
	t->id = mmpath_mem_alloc(mem, time_bytes(t));
	if (!t->tree || !t->id) {
		time_destroy(&t->stack);
		return NULL;
	}
	return &t->stack;
}

static void tree_add(struct time *t, u32 i, s32 nr)
{
	for (; i <= t->end; i += i & -i)
		t->tree[i] += nr;
}

static u32 tree_sum(const struct time *t, u32 i)
{
	u32 sum = 0;

	for (; i; i &= i - 1)
		sum += t->tree[i];
	return sum;
}

/* All counts at once: a node is the sum of its children and itself. */
static void tree_rebuild(struct time *t)
{
	u32 i, up;

	for (i = 1; i <= t->end; i++)
		t->tree[i] = !!t->id[i];
	for (i = 1; i <= t->end; i++) {
		up = i + (i & -i);
		if (up <= t->end)
			t->tree[up] += t->tree[i];
	}
}

static void compact(struct time *t)
{
	u32 from, to = 0;

	for (from = 1; from <= t->now; from++) {
		if (!t->id[from])
			continue;
		t->id[++to] = t->id[from];
		*mmpath_index_at(&t->last, t->id[to]) = to;
	}
	memset(t->id + to + 1, 0, (t->end - to) * sizeof(*t->id));
	t->now = to;
	tree_rebuild(t);
}

static s64 time_touch(struct stack *s, u64 page)
{
	struct time *t = time_of(s);
	s64 distance = MMPATH_COLD;
	u32 id, last;

	if (t->now == t->end)
		compact(t);
	id = mmpath_index_get(&t->last, page);
	if (!id)
		return MMPATH_NOMEM;
	last = *mmpath_index_at(&t->last, id);
	if (last) {
		distance = t->nr_pages - tree_sum(t, last);
		tree_add(t, last, -1);
		t->id[last] = 0;
	} else {
		t->nr_pages++;
	}
	t->id[++t->now] = id;
	tree_add(t, t->now, 1);
	mmpath_index_set(&t->last, id, t->now);
	return distance;
}

const struct stack_ops stack_time = {
	.name = "fenwick",
	.what = "times of last touch, Fenwick tree, compaction",
	.cycle = 7,
	.create = time_create,
	.touch = time_touch,
	.destroy = time_destroy,
};
