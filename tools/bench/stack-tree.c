// SPDX-License-Identifier: GPL-2.0
/*
 * The textbook's structure (Olken 1981): a balanced search tree of the pages by
 * the time of their last touch, each node with the size of its subtree, and a
 * hash table from pages to nodes. A touch removes the page's node, which adds up
 * what is to the right of its path, and inserts it as the last one.
 *
 * Sizes are kept anyway, so the balance is by weight (Nievergelt and Reingold
 * 1973, Adams 1993, with the parameters <3, 2> of Hirai and Yamamoto 2011): no
 * subtree is heavier than three times its sibling.
 */
#include <linux/kernel.h>

#include "stacks.h"

#define DELTA	3
#define GAMMA	2

struct node {
	u64 page, time;
	u32 left, right, size;
	u32 next;		/* in the hash chain */
};

struct tree {
	struct stack stack;
	struct node *node;	/* node 0 is none, its size 0 */
	u32 *head;
	u64 now;
	u32 root, nr_nodes, max_nodes, hash_bits;
};

static struct tree *tree_of(struct stack *s)
{
	return container_of(s, struct tree, stack);
}

static size_t heads_bytes(const struct tree *t)
{
	return sizeof(u32) << t->hash_bits;
}

static void tree_destroy(struct stack *s)
{
	struct tree *t = tree_of(s);
	struct mmpath_mem *mem = s->mem;

	mmpath_mem_free(mem, t->node, t->max_nodes * sizeof(*t->node));
	mmpath_mem_free(mem, t->head, heads_bytes(t));
	mmpath_mem_free(mem, t, sizeof(*t));
}

static struct stack *tree_create(struct mmpath_mem *mem, u32 pages, u32 group)
{
	struct tree *t = mmpath_mem_alloc(mem, sizeof(*t));

	(void)group;
	if (!t)
		return NULL;
	t->stack.mem = mem;
	t->max_nodes = pages + 1;
	while (1U << t->hash_bits < pages)
		t->hash_bits++;
	t->node = mmpath_mem_alloc(mem, t->max_nodes * sizeof(*t->node));
	t->head = mmpath_mem_alloc(mem, heads_bytes(t));
	if (!t->node || !t->head) {
		tree_destroy(&t->stack);
		return NULL;
	}
	return &t->stack;
}

static u32 weight(const struct tree *t, u32 x)
{
	return t->node[x].size + 1;
}

static void measure(struct tree *t, u32 x)
{
	struct node *n = t->node + x;

	n->size = t->node[n->left].size + t->node[n->right].size + 1;
}

static u32 rotate_left(struct tree *t, u32 x)
{
	u32 up = t->node[x].right;

	t->node[x].right = t->node[up].left;
	t->node[up].left = x;
	measure(t, x);
	measure(t, up);
	return up;
}

static u32 rotate_right(struct tree *t, u32 x)
{
	u32 up = t->node[x].left;

	t->node[x].left = t->node[up].right;
	t->node[up].right = x;
	measure(t, x);
	measure(t, up);
	return up;
}

/* One of the subtrees of @x has changed by one node; returns what is on top. */
static u32 balance(struct tree *t, u32 x)
{
	struct node *n = t->node + x;
	u32 left = weight(t, n->left), right = weight(t, n->right);

	if (right > DELTA * left) {
		struct node *r = t->node + n->right;

		if (weight(t, r->left) >= GAMMA * weight(t, r->right))
			n->right = rotate_right(t, n->right);
		return rotate_left(t, x);
	}
	if (left > DELTA * right) {
		struct node *l = t->node + n->left;

		if (weight(t, l->right) >= GAMMA * weight(t, l->left))
			n->left = rotate_left(t, n->left);
		return rotate_right(t, x);
	}
	n->size = left + right - 1;
	return x;
}

static u32 insert_last(struct tree *t, u32 x, u32 new)
{
	if (!x)
		return new;
	t->node[x].right = insert_last(t, t->node[x].right, new);
	return balance(t, x);
}

static u32 take_first(struct tree *t, u32 x, u32 *first)
{
	if (!t->node[x].left) {
		*first = x;
		return t->node[x].right;
	}
	t->node[x].left = take_first(t, t->node[x].left, first);
	return balance(t, x);
}

static u32 join(struct tree *t, u32 left, u32 right)
{
	u32 x;

	if (!left || !right)
		return left | right;
	right = take_first(t, right, &x);
	t->node[x].left = left;
	t->node[x].right = right;
	return balance(t, x);
}

/* Adds to @later the nodes that are later than @which. */
static u32 remove_node(struct tree *t, u32 x, u32 which, u32 *later)
{
	struct node *n = t->node + x;

	if (x == which) {
		*later += t->node[n->right].size;
		return join(t, n->left, n->right);
	}
	if (t->node[which].time < n->time) {
		*later += t->node[n->right].size + 1;
		n->left = remove_node(t, n->left, which, later);
	} else {
		n->right = remove_node(t, n->right, which, later);
	}
	return balance(t, x);
}

static u32 *bucket(struct tree *t, u64 page)
{
	return t->head + (page * 0x9e3779b97f4a7c15ULL >> 32 >> (32 - t->hash_bits));
}

static u32 find(struct tree *t, u64 page)
{
	u32 x;

	for (x = *bucket(t, page); x && t->node[x].page != page; x = t->node[x].next)
		;
	return x;
}

static u32 add(struct tree *t, u64 page)
{
	u32 x = ++t->nr_nodes, *head = bucket(t, page);

	t->node[x].page = page;
	t->node[x].next = *head;
	*head = x;
	return x;
}

static s64 tree_touch(struct stack *s, u64 page)
{
	struct tree *t = tree_of(s);
	u32 x = find(t, page), later = 0;
	bool cold = !x;

	if (cold)
		x = add(t, page);
	else
		t->root = remove_node(t, t->root, x, &later);
	t->node[x].time = ++t->now;
	t->node[x].left = 0;
	t->node[x].right = 0;
	t->node[x].size = 1;
	t->root = insert_last(t, t->root, x);
	return cold ? MMPATH_COLD : (s64)later;
}

const struct stack_ops stack_tree = {
	.name = "tree",
	.what = "balanced order-statistic tree and hash table (Olken)",
	.create = tree_create,
	.touch = tree_touch,
	.destroy = tree_destroy,
};
