// SPDX-License-Identifier: GPL-2.0
/*
 * btree - look-ups in a B+ tree whose nodes are pages.
 *
 * Keys are entered in random order until the pages are used up, full nodes being
 * split in the middle on the way down. Then they are looked up.
 *
 * Pages: one array, of nodes. A look-up touches one page of each level: the root and
 * the few inner nodes are hot, leaves are random, none more than another.
 *
 * A round has as many look-ups as there are nodes. One of sixteen is for a key that
 * does not exist. Checked: 1. each look-up's value; 2. all leaves: keys in order,
 * each with its value, as many as were entered.
 */
#include <string.h>

#include "programs.h"

#define PAGE	4096
#define KEYS	255
#define SPARE	8	/* nodes a split of each level may need */

struct node {
	uint32_t count;			/* of keys */
	uint32_t leaf;
	uint64_t keys[KEYS];
	uint64_t links[KEYS + 1];	/* leaf: values; else nodes, one more than keys */
};

_Static_assert(sizeof(struct node) == PAGE, "a node is a page");

struct btree {
	struct node *nodes;
	uint64_t root, used, pages, keys;
};

/* Keys up to and with @key. */
static unsigned int rank(const struct node *node, uint64_t key)
{
	unsigned int from = 0, to = node->count, middle;

	while (from < to) {
		middle = (from + to) / 2;
		if (node->keys[middle] <= key)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

static uint64_t key_of(uint64_t i)
{
	return mix64(i + 1);
}

static uint64_t value_of(uint64_t key)
{
	return mix64(key ^ 0x76616c7565);
}

/* The value's place; NULL when there is no such key. */
static uint64_t *find(const struct btree *t, uint64_t key)
{
	struct node *node = &t->nodes[t->root];
	unsigned int at;

	while (!node->leaf)
		node = &t->nodes[node->links[rank(node, key)]];
	at = rank(node, key);
	return at && node->keys[at - 1] == key ? &node->links[at - 1] : NULL;
}

static struct node *new_node(struct btree *t, bool leaf)
{
	struct node *node = &t->nodes[t->used++];

	node->leaf = leaf;
	return node;
}

/* Makes room for a key at @at and for the link @after places behind it. */
static void enter(struct node *node, unsigned int at, unsigned int after, uint64_t key,
		  uint64_t link)
{
	uint64_t *keys = node->keys + at, *links = node->links + at + after;

	memmove(keys + 1, keys, (node->count - at) * sizeof(*keys));
	memmove(links + 1, links, (node->count - at) * sizeof(*links));
	*keys = key;
	*links = link;
	node->count++;
}

/* The upper half of a full node goes to a new one, right of it below @parent. */
static void split(struct btree *t, struct node *parent, unsigned int at)
{
	struct node *node = &t->nodes[parent->links[at]], *right = new_node(t, node->leaf);
	unsigned int half = KEYS / 2, from = node->leaf ? half : half + 1;
	unsigned int keys = KEYS - from, links = node->leaf ? keys : keys + 1;

	right->count = keys;
	memcpy(right->keys, node->keys + from, keys * sizeof(*right->keys));
	memcpy(right->links, node->links + from, links * sizeof(*right->links));
	node->count = half;
	enter(parent, at, 1, node->keys[half], right - t->nodes);
}

static void insert(struct btree *t, uint64_t key)
{
	struct node *node = &t->nodes[t->root];
	unsigned int at;

	if (node->count == KEYS) {
		node = new_node(t, false);
		node->links[0] = t->root;
		t->root = node - t->nodes;
		split(t, node, 0);
	}
	while (!node->leaf) {
		at = rank(node, key);
		if (t->nodes[node->links[at]].count == KEYS) {
			split(t, node, at);
			at = rank(node, key);
		}
		node = &t->nodes[node->links[at]];
	}
	enter(node, rank(node, key), 0, key, value_of(key));
	t->keys++;
}

static uint64_t random_key(const struct btree *t, struct rng *rng, bool exists)
{
	return key_of(rng_below(rng, t->keys) + (exists ? 0 : t->keys));
}

static bool look_up(const struct btree *t, struct rng *rng)
{
	bool exists = rng_below(rng, 16);
	uint64_t key = random_key(t, rng, exists), *value = find(t, key);

	return exists ? value && *value == value_of(key) : !value;
}

/* Counts the keys below @node; @last is the one before them. */
static bool is_ordered(const struct btree *t, const struct node *node, uint64_t *last,
		       uint64_t *keys)
{
	unsigned int i;

	for (i = 0; !node->leaf && i <= node->count; i++)
		if (!is_ordered(t, &t->nodes[node->links[i]], last, keys))
			return false;
	for (i = 0; node->leaf && i < node->count; i++, ++*keys) {
		if (node->keys[i] <= *last || node->links[i] != value_of(node->keys[i]))
			return false;
		*last = node->keys[i];
	}
	return true;
}

static bool is_whole(const struct btree *t)
{
	uint64_t last = 0, keys = 0;

	return is_ordered(t, &t->nodes[t->root], &last, &keys) && keys == t->keys;
}

/* Of the first key of @rng's that exists. */
static uint64_t *first_value(const struct btree *t, struct rng rng)
{
	while (!rng_below(&rng, 16))
		random_key(t, &rng, false);
	return find(t, random_key(t, &rng, true));
}

static void btree_main(struct run *run)
{
	struct btree t = { .pages = run->bytes / PAGE };
	struct rng rng = { run->seed };
	uint64_t bad = 0, n;

	t.nodes = map_array(run, "nodes", t.pages * PAGE);
	new_node(&t, true);
	for (n = 0; t.used + SPARE <= t.pages; n++)
		insert(&t, key_of(n));
	if (breaks(run, 1))
		*first_value(&t, rng) ^= 1;
	main_begin(run);
	for (n = 0; n < run->rounds * t.pages; n++)
		bad += !look_up(&t, &rng);
	main_end(run);

	verify(run, 1, !bad);
	if (breaks(run, 2))
		++*find(&t, key_of(0));
	verify(run, 2, is_whole(&t));
}

const struct program btree_program = {
	.name = "btree",
	.what = "look-ups in a B+ tree: few hot inner nodes, leaves at random",
	.rounds = 64,
	.checks = 2,
	.main = btree_main,
};
