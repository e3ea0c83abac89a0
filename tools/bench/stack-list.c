// SPDX-License-Identifier: GPL-2.0
/*
 * The thesis's structure (4.2.2, figure 4.4, Algorithm 2): a doubly linked list
 * in the order of use, each page with the number of the group it is in, and an
 * array of references to the first page of each group.
 *
 *	header[0]          header[1]          header[2]
 *	   v                  v                  v
 *	   a <-> b <-> c <->  d <-> e <-> f <->  g <-> h
 *
 * A touch of a page in group r puts it on top, which pushes one page over each
 * boundary above: r headers move by one page. Where a page is in memory follows
 * from its number, as in a page table.
 */
#include <linux/kernel.h>
#include <linux/string.h>

#include "stacks.h"

#define NONE	(~0U)

struct element {
	u32 prev, next;
	u32 group;		/* NONE: not on the stack */
};

struct list {
	struct stack stack;
	struct element *page;
	u32 *header;
	u32 nr_pages, max_pages, max_groups, group_pages, tail;
};

static struct list *list_of(struct stack *s)
{
	return container_of(s, struct list, stack);
}

static void list_destroy(struct stack *s)
{
	struct list *l = list_of(s);
	struct mmpath_mem *mem = s->mem;

	mmpath_mem_free(mem, l->page, l->max_pages * sizeof(*l->page));
	mmpath_mem_free(mem, l->header, l->max_groups * sizeof(*l->header));
	mmpath_mem_free(mem, l, sizeof(*l));
}

static struct stack *list_create(struct mmpath_mem *mem, u32 pages, u32 group)
{
	struct list *l = mmpath_mem_alloc(mem, sizeof(*l));
	u32 i;

	if (!l)
		return NULL;
	l->stack.mem = mem;
	l->max_pages = pages;
	l->group_pages = group;
	l->max_groups = pages / group + 1;
	l->page = mmpath_mem_alloc(mem, pages * sizeof(*l->page));
	l->header = mmpath_mem_alloc(mem, l->max_groups * sizeof(*l->header));
	if (!l->page || !l->header) {
		list_destroy(&l->stack);
		return NULL;
	}
	for (i = 0; i < pages; i++)
		l->page[i].group = NONE;
	return &l->stack;
}

/* One page more above the groups 1 to @last: their headers move up by one. */
static void headers_move(struct list *l, u32 last)
{
	u32 i, first;

	for (i = 1; i <= last; i++) {
		first = l->page[l->header[i]].prev;
		l->header[i] = first;
		l->page[first].group = i;
	}
}

static void unlink_page(struct list *l, u32 page)
{
	struct element *e = l->page + page;

	l->page[e->prev].next = e->next;
	if (page == l->tail)
		l->tail = e->prev;
	else
		l->page[e->next].prev = e->prev;
}

static void push_top(struct list *l, u32 page)
{
	struct element *e = l->page + page;

	e->group = 0;
	e->next = l->header[0];
	l->page[l->header[0]].prev = page;
	l->header[0] = page;
}

/* The last page may now be the first of a new group. */
static void tail_measure(struct list *l)
{
	u32 last = (l->nr_pages - 1) / l->group_pages;

	if (last && (l->nr_pages - 1) % l->group_pages == 0) {
		l->header[last] = l->tail;
		l->page[l->tail].group = last;
	}
}

static s64 list_add(struct list *l, u32 page)
{
	if (!l->nr_pages) {
		l->header[0] = page;
		l->tail = page;
		l->page[page].group = 0;
	} else {
		headers_move(l, (l->nr_pages - 1) / l->group_pages);
		push_top(l, page);
	}
	l->nr_pages++;
	tail_measure(l);
	return MMPATH_COLD;
}

static s64 list_touch(struct stack *s, u64 page)
{
	struct list *l = list_of(s);
	u32 group = l->page[page].group;

	if (group == NONE)
		return list_add(l, page);
	if (l->header[0] == page)
		return 0;
	headers_move(l, group);
	unlink_page(l, page);
	push_top(l, page);
	return (s64)group * l->group_pages;
}

const struct stack_ops stack_list = {
	.name = "list",
	.what = "list with group headers (thesis 4.2.2, Algorithm 2)",
	.create = list_create,
	.touch = list_touch,
	.destroy = list_destroy,
};
