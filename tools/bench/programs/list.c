// SPDX-License-Identifier: GPL-2.0
/*
 * list - a linked list that is walked from its head to its end, over and over.
 *
 * Nodes of 64 bytes hold a number, and a sum that each walk adds to. In list-ordered they are
 * linked in the order in which they lie in memory; in list at random.
 *
 * Pages: list-ordered walks all pages in order. In list each node is on another page than the
 * one before it, and each page is the place of 64 nodes, which are far apart in the walk.
 *
 * A round is a walk. Checked: 1. the numbers, in the order of the walk; 2. the sums.
 */
#include "programs.h"

struct node {
	struct node *next;
	uint64_t number, sum, unused[5];
};

_Static_assert(sizeof(struct node) == 64, "as described");

struct list {
	struct node *nodes, *head;
	uint32_t *order;
	uint64_t n;
};

/* Of the walk; Fisher and Yates. */
static void set_order(struct list *l, bool shuffled, uint64_t seed)
{
	struct rng rng = { seed };
	uint64_t i, j;
	uint32_t other;

	for (i = 0; i < l->n; i++)
		l->order[i] = i;
	for (i = l->n - 1; shuffled && i; i--) {
		j = rng_below(&rng, i + 1);
		other = l->order[i];
		l->order[i] = l->order[j];
		l->order[j] = other;
	}
}

static void link_nodes(struct list *l)
{
	struct node **link = &l->head;
	uint64_t i;

	for (i = 0; i < l->n; i++) {
		*link = &l->nodes[l->order[i]];
		(*link)->number = i + 1;
		link = &(*link)->next;
	}
	*link = NULL;
}

static void walk(struct list *l)
{
	struct node *node;

	for (node = l->head; node; node = node->next)
		node->sum += mix64(node->number);
}

static bool is_in_order(const struct list *l)
{
	const struct node *node = l->head;
	uint64_t i;

	for (i = 0; i < l->n && node; i++, node = node->next)
		if (node->number != i + 1)
			return false;
	return i == l->n && !node;
}

static bool is_summed(const struct list *l, uint64_t rounds)
{
	for (uint64_t i = 0; i < l->n; i++)
		if (l->nodes[i].sum != rounds * mix64(l->nodes[i].number))
			return false;
	return true;
}

static void walk_list(struct run *run, bool shuffled)
{
	struct list l = { .n = run->bytes / (sizeof(*l.nodes) + sizeof(*l.order)) };

	l.nodes = map_array(run, "nodes", l.n * sizeof(*l.nodes));
	l.order = map_array(run, "order", l.n * sizeof(*l.order));
	set_order(&l, shuffled, run->seed);
	link_nodes(&l);
	main_begin(run);
	for (uint64_t round = 0; round < run->rounds; round++)
		walk(&l);
	main_end(run);

	if (breaks(run, 1))
		l.nodes[l.n / 3].number++;
	verify(run, 1, is_in_order(&l));
	if (breaks(run, 2))
		l.nodes[l.n / 2].sum++;
	verify(run, 2, is_summed(&l, run->rounds));
}

static void list_main(struct run *run)
{
	walk_list(run, true);
}

static void list_ordered_main(struct run *run)
{
	walk_list(run, false);
}

const struct program list_program = {
	.name = "list",
	.what = "a linked list, walked; its nodes at random places",
	.rounds = 4,
	.checks = 2,
	.main = list_main,
};

const struct program list_ordered_program = {
	.name = "list-ordered",
	.what = "a linked list, walked; its nodes in the order of the list",
	.rounds = 16,
	.checks = 2,
	.main = list_ordered_main,
};
