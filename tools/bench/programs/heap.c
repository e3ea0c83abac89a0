// SPDX-License-Identifier: GPL-2.0
/*
 * heap - a tree of objects of a heap, walked depth first over and over, while a few of them
 * are freed and allocated anew; as compilers, documents and interpreters have them.
 *
 * Objects of 128 bytes come from a free list, the last one freed first. A tree is built in the
 * order of a walk. After each walk one of fifty objects, by random, is copied to a free one and
 * freed itself.
 *
 * Pages: all, each up to 32 times in a walk. The order of the walk is that of memory for up to 64
 * objects, then goes on elsewhere; it is the same in the next walk but for those that moved.
 *
 * A round is a walk, then moves. Checked: 1. each walk finds every object, in the order they
 * have in the tree; 2. how often each object was walked to.
 */
#include <stdlib.h>

#include "programs.h"

#define CHILDREN	4
#define MOVED		50	/* one of so many, in a round */
#define RUN		64	/* objects beside each other when the tree is built, at most */

struct object {
	struct object *children[CHILDREN], *parent;
	uint64_t number, walks, unused[9];
};

_Static_assert(sizeof(struct object) == 128, "as described");

struct heap {
	struct object *objects, *root, *free;
	uint64_t n, next, bad;
	struct rng rng;
};

static struct object *allocate(struct heap *h)
{
	struct object *object = h->free;

	h->free = object->parent;
	return object;
}

static void release(struct heap *h, struct object *object)
{
	object->number = 0;
	object->parent = h->free;
	h->free = object;
}

/* A tree of @n objects; those of a child are made before those of the next one. */
static struct object *build(struct heap *h, struct object *parent, uint64_t n)
{
	struct object *object = allocate(h);
	unsigned int child;

	*object = (struct object){ .parent = parent, .number = ++h->next };
	for (n--, child = 0; child < CHILDREN && n; child++) {
		uint64_t part = child == CHILDREN - 1 ? n : 1 + rng_below(&h->rng, n);

		object->children[child] = build(h, object, part);
		n -= part;
	}
	return object;
}

static void walk(struct heap *h, struct object *object)
{
	h->bad += object->number != ++h->next;
	object->walks++;
	for (unsigned int child = 0; child < CHILDREN; child++)
		if (object->children[child])
			walk(h, object->children[child]);
}

/* The copy is what its parent and its children know from now on. */
static void move(struct heap *h, struct object *from)
{
	struct object *to = allocate(h);

	*to = *from;
	for (unsigned int child = 0; child < CHILDREN; child++) {
		if (to->children[child])
			to->children[child]->parent = to;
		if (to->parent && to->parent->children[child] == from)
			to->parent->children[child] = to;
	}
	if (h->root == from)
		h->root = to;
	release(h, from);
}

static void move_some(struct heap *h, uint64_t nr)
{
	while (nr--) {
		struct object *object = &h->objects[rng_below(&h->rng, h->n + 1)];

		if (object->number)
			move(h, object);
	}
}

/* The free list goes through runs of neighbours, at random from run to run. */
static void set_free(struct heap *h)
{
	uint64_t begin, end, i, runs = h->n / RUN + 1;
	uint32_t *order = calloc(runs, sizeof(*order));

	if (!order)
		die("heap: no memory");
	for (i = 0; i < runs; i++) {
		begin = rng_below(&h->rng, i + 1);
		order[i] = order[begin];
		order[begin] = i;
	}
	for (i = 0; i < runs; i++) {
		begin = (uint64_t)order[i] * RUN;
		end = begin + RUN < h->n + 1 ? begin + RUN : h->n + 1;
		while (end > begin)
			release(h, &h->objects[--end]);
	}
	free(order);
}

static void walk_all(struct heap *h)
{
	h->next = 0;
	walk(h, h->root);
	h->bad += h->next != h->n;
}

static bool is_walked(const struct heap *h, uint64_t walks)
{
	for (uint64_t i = 0; i <= h->n; i++)
		if (h->objects[i].number && h->objects[i].walks != walks)
			return false;
	return true;
}

static void heap_main(struct run *run)
{
	struct heap h = { .rng = { run->seed } };

	h.n = run->bytes / sizeof(*h.objects) - 1;
	h.objects = map_array(run, "objects", (h.n + 1) * sizeof(*h.objects));
	set_free(&h);
	h.root = build(&h, NULL, h.n);
	main_begin(run);
	for (uint64_t round = 0; round < run->rounds; round++) {
		walk_all(&h);
		move_some(&h, h.n / MOVED);
	}
	main_end(run);

	if (breaks(run, 1))
		h.root->children[0]->number = 1;
	walk_all(&h);
	verify(run, 1, !h.bad);
	if (breaks(run, 2))
		h.root->walks++;
	verify(run, 2, is_walked(&h, run->rounds + 1));
}

const struct program heap_program = {
	.name = "heap",
	.what = "a tree of objects of a heap, walked; a few of them move between walks",
	.rounds = 8,
	.checks = 2,
	.main = heap_main,
};
