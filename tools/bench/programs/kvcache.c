// SPDX-License-Identifier: GPL-2.0
/*
 * kvcache - a cache of values with a key each, under a Zipf load.
 *
 * There are four times as many keys as the cache has items. A get that misses takes
 * the least recently used item for its key and makes the value anew; one of ten
 * requests is a set, which makes a new generation of the value. Keys of rank r are
 * asked for with a probability of about 1 / r: a power of two is chosen at random,
 * then a rank between it and the next.
 *
 * Pages: items of 256 bytes, which hold their value, their place in a list in order
 * of use and in the chain of a hash bucket. A get touches a bucket, the items of the
 * chain, and the neighbours in the list: few pages very often, most hardly ever, all
 * of it scattered. The generations of the keys, in an array, are what the values are
 * made from.
 *
 * A round has as many requests as there are items. Checked: 1. each get's value is
 * that of its key's generation; 2. so is every value that is in the cache at the end.
 */
#include "programs.h"

#define KEYS	4	/* to an item */
#define WORDS	29

struct item {
	uint32_t key, generation;
	uint32_t newer, older;		/* a ring with item 0, which holds nothing, in it */
	uint32_t next, unused;		/* in the chain of its bucket; 0: none */
	uint64_t value[WORDS];
};

struct cache {
	struct item *items;		/* n + 1 */
	uint32_t *heads;		/* n */
	uint32_t *generations;		/* KEYS * n */
	uint32_t n, used;
	struct rng rng;
};

static uint32_t *head(const struct cache *c, uint32_t key)
{
	return &c->heads[(mix64(key) >> 32) * c->n >> 32];
}

static uint64_t word(uint32_t key, uint32_t generation, unsigned int i)
{
	return mix64((uint64_t)key << 32 | generation) + i;
}

static void make_value(const struct cache *c, struct item *item)
{
	item->generation = c->generations[item->key];
	for (unsigned int i = 0; i < WORDS; i++)
		item->value[i] = word(item->key, item->generation, i);
}

static bool value_right(const struct cache *c, const struct item *item)
{
	for (unsigned int i = 0; i < WORDS; i++)
		if (item->value[i] != word(item->key, c->generations[item->key], i))
			return false;
	return true;
}

static uint32_t find(const struct cache *c, uint32_t key)
{
	uint32_t at = *head(c, key);

	while (at && c->items[at].key != key)
		at = c->items[at].next;
	return at;
}

static void unlink_item(struct cache *c, const struct item *item)
{
	c->items[item->newer].older = item->older;
	c->items[item->older].newer = item->newer;
}

static void link_newest(struct cache *c, uint32_t at)
{
	struct item *ring = &c->items[0], *item = &c->items[at];

	item->newer = 0;
	item->older = ring->older;
	c->items[ring->older].newer = at;
	ring->older = at;
}

static void unhash(struct cache *c, uint32_t at)
{
	uint32_t *link = head(c, c->items[at].key);

	while (*link != at)
		link = &c->items[*link].next;
	*link = c->items[at].next;
}

/* An item for @key: one never used, or the least recently used. */
static uint32_t take(struct cache *c, uint32_t key)
{
	uint32_t at = c->items[0].newer, *first = head(c, key);

	if (c->used < c->n) {
		at = ++c->used;
	} else {
		unlink_item(c, &c->items[at]);
		unhash(c, at);
	}
	c->items[at].key = key;
	c->items[at].next = *first;
	*first = at;
	link_newest(c, at);
	return at;
}

/* The item with the value of @key. */
static uint32_t get(struct cache *c, uint32_t key)
{
	uint32_t at = find(c, key);

	if (!at) {
		at = take(c, key);
		make_value(c, &c->items[at]);
	} else if (c->items[0].older != at) {
		unlink_item(c, &c->items[at]);
		link_newest(c, at);
	}
	return at;
}

/* Ranks map to keys one to one, scattered: a prime above all numbers of keys. */
static uint32_t random_key(struct cache *c)
{
	uint64_t keys = (uint64_t)KEYS * c->n, power, rank;

	do {
		power = UINT64_C(1) << rng_below(&c->rng, 64 - __builtin_clzll(keys));
		rank = power + rng_below(&c->rng, power);
	} while (rank > keys);
	return rank * 4294967291 % keys;
}

static bool request(struct cache *c)
{
	bool set = rng_below(&c->rng, 10) == 0;
	uint32_t key = random_key(c), at = get(c, key);

	if (!set)
		return value_right(c, &c->items[at]);
	c->generations[key]++;
	make_value(c, &c->items[at]);
	return true;
}

static bool cache_right(const struct cache *c)
{
	for (uint32_t at = 1; at <= c->used; at++)
		if (find(c, c->items[at].key) != at || !value_right(c, &c->items[at]))
			return false;
	return true;
}

/* Until each item is in use: the ranks from the last to the first. */
static void fill(struct cache *c)
{
	uint64_t keys = (uint64_t)KEYS * c->n, i;

	for (i = 0; i < keys; i++)
		c->generations[i] = 1;
	for (i = c->n; i; i--)
		get(c, i * 4294967291 % keys);
}

static void kvcache_main(struct run *run)
{
	size_t each = sizeof(struct item) + (1 + KEYS) * sizeof(uint32_t);
	struct cache c = { .n = run->bytes / each, .rng = { run->seed } };
	uint64_t bad = 0, n;

	c.items = map_array(run, "items", (c.n + 1) * sizeof(*c.items));
	c.heads = map_array(run, "heads", c.n * sizeof(*c.heads));
	c.generations = map_array(run, "generations", KEYS * c.n * sizeof(*c.generations));
	fill(&c);
	/* all of them: a set may come before the first get of any single one */
	for (n = 1; breaks(run, 1) && n <= c.n; n++)
		c.items[n].value[0] ^= 1;
	main_begin(run);
	for (n = 0; n < run->rounds * c.n; n++)
		bad += !request(&c);
	main_end(run);

	verify(run, 1, !bad);
	if (breaks(run, 2))
		c.items[c.n / 2].value[WORDS - 1] ^= 1;
	verify(run, 2, cache_right(&c));
}

const struct program kvcache_program = {
	.name = "kvcache",
	.what = "key-value cache with LRU eviction under a Zipf load",
	.rounds = 8,
	.checks = 2,
	.main = kvcache_main,
};
