// SPDX-License-Identifier: GPL-2.0
/*
 * The LRU stack (thesis 4.2.2): at which depth is the page just touched?
 *
 * Mattson's observation: LRU with M pages of memory holds the top M pages of
 * the stack. The reuse distance of a touch is the number of distinct other
 * pages touched since the last touch of the page. That is the number of pages
 * above it on the stack, so
 *
 *	the touch hits with M pages of memory	<=>	distance < M
 *
 * for all M at once. The thesis keeps a linked list with markers at group
 * boundaries. Each touch moves every marker that it passes, so a touch at the far
 * end of a big stack costs hundreds of cache misses. Here the order in time is kept
 * instead. A touch appends the page to a log, and its last entry there dies. The
 * order of the log is the order of the stack, and
 *
 *	distance = live entries after the last one of the page
 *	         = pages - live entries up to and including it
 *
 *	        word 0        word 1        word 2 (top)
 *	      +-------------+-------------+-------------+
 *	 ids  |a . c . . f g|. i j . . . n|b d k        |
 *	      +-------------+-------------+-------------+
 *	 live  1 0 1 0 0 1 1 0 1 1 0 0 0 1 1 1 1 ^ head
 *
 *	 touch i: 10 pages, 4 in the words before, 1 up to it in its own word:
 *	 distance 10 - 5 = 5. Its entry dies, and i is appended to word 2.
 *
 * Live bits are counted in words of 64. Above the words is a tree with eight
 * children to a node. A node has the number of live entries before each of its
 * children. These are eight prefix sums of 32 bits, two in each u64:
 *
 *	before child:	   0      1      2  ...   7
 *	node:		[  0    n(0)  n(0)+n(1)  ... ]
 *
 * One entry less in child k is 1 less in all sums after k: four subtractions of
 * a u64, whatever k is. So one climb adds up the live entries before a word, and
 * takes one entry out. The number of steps is the same for all words, 6 for 1 M
 * pages, and no branch is hard to predict. The top word is not in the tree until
 * it is full, so appending an entry sets just a bit. Bits and tree are small (1 M
 * pages: 450 KB) and stay in the cache.
 *
 * Sweeping the log
 * ----------------
 *
 * With N pages on the stack and 2 N entries in the log, half of the entries are
 * dead. Then a sweep starts at the bottom. It reads entries at `src' and writes the
 * live ones back at `dst', dense and in the same order:
 *
 *	| live, dense | dead ... | not swept yet |
 *	             dst        src             head
 *
 * It sweeps 64 entries for each 8 touches, so no touch is slow. Meanwhile the
 * head advances by one entry a touch, and src reaches it at 2 N * 8/7. Then dst
 * becomes the head, with N entries behind it. The sweep moves N entries for
 * each 9/7 N touches, less than one a touch.
 *
 * The memory for a page is 8/7 * 2 entries of 4.2 bytes (the id, its bit, the
 * tree), and 4.3 bytes of index.c:
 *
 *	2.29 * 4.2 + 4.3  =  13.9 bytes
 *
 * at most. For a small stack another page of memory is much. So while the ids fit
 * into 8 pages, the sweep starts as soon as these are full, if 3/11 of the entries
 * are dead.
 *
 * Fixed memory
 * ------------
 *
 * If max_pages is set, and there are more pages, or they take more than 16 bytes
 * each (because they are far apart), the sample is halved: SHARDS with fixed size
 * (Waldspurger et al., FAST'15). The entry of a page that is dropped dies. The other
 * pages keep their order. Depths are then in units of 2^shift pages.
 */
#include <linux/bitops.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/prefetch.h>
#include <linux/string.h>

#include "model.h"

#define STACK_ID_ORDER		2		/* u32 */
#define STACK_LIVE_ORDER	3		/* u64 */
#define STACK_NODE_ORDER	5		/* struct stack_node */
#define STACK_FANOUT_SHIFT	3
#define STACK_FANOUT		8U
#define STACK_MAX_ENTRIES	(64U << STACK_FANOUT_SHIFT * MMPATH_LEVELS)
#define STACK_SWEEP_EVERY	8		/* touches for each 64 entries swept */
#define STACK_TRIM_EVERY	512
#define STACK_SMALL_LOG		64
#define STACK_LEAF_IDS		(1U << (MMPATH_LEAF_SHIFT - STACK_ID_ORDER))
#define STACK_BYTES_PER_PAGE	16
#define STACK_BYTES_AT_LEAST	4096
#define STACK_PREFETCH_FROM	(1U << 17)	/* pages; smaller stacks are in the cache */

/* Prefix sums: the one of child k is in half k % 2 of pair[k / 2]. */
struct stack_node {
	u64 pair[STACK_FANOUT / 2];
};

#define STACK_HIGH	BIT_ULL(32)
#define STACK_BOTH	(STACK_HIGH | 1)

/* Row k has a 1 in the prefix sums of all children after k. */
static const struct stack_node after[STACK_FANOUT] = {
	{ { STACK_HIGH,	STACK_BOTH, STACK_BOTH,	STACK_BOTH } },
	{ { 0,		STACK_BOTH, STACK_BOTH,	STACK_BOTH } },
	{ { 0,		STACK_HIGH, STACK_BOTH,	STACK_BOTH } },
	{ { 0,		0,	    STACK_BOTH,	STACK_BOTH } },
	{ { 0,		0,	    STACK_HIGH,	STACK_BOTH } },
	{ { 0,		0,	    0,		STACK_BOTH } },
	{ { 0,		0,	    0,		STACK_HIGH } },
	{ { 0,		0,	    0,		0	   } },
};

static u32 *stack_id_at(const struct mmpath_stack *s, u32 pos)
{
	return mmpath_vec_at(&s->ids, pos, STACK_ID_ORDER);
}

static u64 *stack_live_at(const struct mmpath_stack *s, u32 word)
{
	return mmpath_vec_at(&s->live, word, STACK_LIVE_ORDER);
}

static struct stack_node *stack_node_at(const struct mmpath_stack *s, u32 level, u32 i)
{
	return mmpath_vec_at(&s->tree[level], i, STACK_NODE_ORDER);
}

/* Add @nr entries to child @child. A negative @nr is given as its two's complement. */
static void stack_node_add(struct stack_node *node, u32 child, u64 nr)
{
	const struct stack_node *a = &after[child];

	node->pair[0] += a->pair[0] * nr;
	node->pair[1] += a->pair[1] * nr;
	node->pair[2] += a->pair[2] * nr;
	node->pair[3] += a->pair[3] * nr;
}

static void stack_tree_add(struct mmpath_stack *s, u32 word, s32 nr)
{
	u32 level;

	for (level = 0; level < s->levels; level++) {
		stack_node_add(stack_node_at(s, level, word / STACK_FANOUT),
			       word % STACK_FANOUT, (s64)nr);
		word /= STACK_FANOUT;
	}
}

/* Subtract an entry from child @child if @mask is ~0; do nothing if it is 0. */
static void stack_node_kill(struct stack_node *node, u32 child, u64 mask)
{
	const struct stack_node *a = &after[child];

	node->pair[0] -= a->pair[0] & mask;
	node->pair[1] -= a->pair[1] & mask;
	node->pair[2] -= a->pair[2] & mask;
	node->pair[3] -= a->pair[3] & mask;
}

/* Return the number of live entries before @word. If @mask is ~0, one entry in @word dies. */
static u32 stack_tree_climb(struct mmpath_stack *s, u32 word, u64 mask)
{
	u32 level, child, sum = 0;
	struct stack_node *node;

	for (level = 0; level < s->levels; level++) {
		child = word % STACK_FANOUT;
		word /= STACK_FANOUT;
		node = stack_node_at(s, level, word);
		sum += node->pair[child / 2] >> child % 2 * 32;
		stack_node_kill(node, child, mask);
	}
	return sum;
}

static void stack_log_measure(struct mmpath_stack *s)
{
	u64 room = min_t(u64, s->ids.nr, 64ULL * s->live.nr);
	u32 level, shift = 6;

	for (level = 0; level < s->levels; level++) {
		shift += STACK_FANOUT_SHIFT;
		room = min(room, (u64)s->tree[level].nr << shift);
	}
	s->room = min(room, 1ULL << shift);
}

/* Make room for another word. A new root has the old one as its first child. */
static int stack_tree_grow(struct mmpath_stack *s, u32 word)
{
	bool new_root = word >> STACK_FANOUT_SHIFT * s->levels;
	u32 level;
	int err = 0;

	for (level = 0; level < s->levels + new_root; level++) {
		word /= STACK_FANOUT;
		while (!err && s->tree[level].nr <= word)
			err = mmpath_vec_grow(&s->tree[level], s->mem);
	}
	if (err || !new_root)
		return err;
	stack_node_add(stack_node_at(s, s->levels, 0), 0, s->nr_pages);
	s->levels++;
	return 0;
}

/* Make room for another entry. */
static int stack_log_grow(struct mmpath_stack *s)
{
	u32 word = s->head / 64;
	int err = 0;

	if (s->head >= STACK_MAX_ENTRIES)
		return -ENOMEM;
	if (s->live.nr <= word)
		err = mmpath_vec_grow(&s->live, s->mem);
	if (!err)
		err = stack_tree_grow(s, word);
	if (!err && s->ids.nr <= s->head)
		err = mmpath_vec_grow(&s->ids, s->mem);
	stack_log_measure(s);
	return err;
}

/* Free memory of a log that was longer once, faster than the log grows. */
static void stack_log_trim(struct mmpath_stack *s)
{
	u32 need = max_t(u64, s->head, 2 * (u64)s->nr_pages);
	int i;

	for (i = 0; i < 2 && s->ids.nr / 5 * 4 > need + 2 * STACK_LEAF_IDS; i++)
		mmpath_vec_shrink(&s->ids, s->mem);
	stack_log_measure(s);
}

static void stack_log_append(struct mmpath_stack *s, u32 id)
{
	u64 *live = stack_live_at(s, s->head / 64);

	*live |= 1ULL << s->head % 64;
	*stack_id_at(s, s->head) = id;
	s->nr_pages++;
	if (++s->head % 64)
		return;
	stack_tree_add(s, s->head / 64 - 1, hweight64(*live));
	if (!(s->head % STACK_TRIM_EVERY))
		stack_log_trim(s);
}

/* Let the entry at @pos die. Returns how many were live up to and including it. */
static u32 stack_log_kill(struct mmpath_stack *s, u32 pos)
{
	u64 *live = stack_live_at(s, pos / 64);
	u32 rank = hweight64(*live & ~0ULL >> (63 - pos % 64));

	*live &= ~(1ULL << pos % 64);
	s->nr_pages--;
	return rank + stack_tree_climb(s, pos / 64, pos / 64 == s->head / 64 ? 0 : ~0ULL);
}

static void stack_sweep_begin(struct mmpath_stack *s)
{
	s->src = 0;
	s->dst = 0;
	s->sweeping = true;
}

static void stack_sweep_end(struct mmpath_stack *s)
{
	u32 word = s->dst / 64;

	if (word != s->head / 64)
		stack_tree_add(s, word, -(s32)hweight64(*stack_live_at(s, word)));
	s->head = s->dst;
	s->sweeping = false;
}

/* Account @nr entries that have moved from the word of @s->src to @word. */
static void stack_sweep_account(struct mmpath_stack *s, u32 word, s32 nr)
{
	u32 from = s->src / 64;

	if (!nr || from == word)
		return;
	stack_tree_add(s, word, nr);
	if (from != s->head / 64)
		stack_tree_add(s, from, -nr);
}

static void stack_sweep_entry(struct mmpath_stack *s, u32 pos)
{
	u32 id = *stack_id_at(s, pos), dst = s->dst++;

	*stack_live_at(s, dst / 64) |= 1ULL << dst % 64;
	*stack_id_at(s, dst) = id;
	*mmpath_index_at(&s->index, id) = dst + 1;
}

/* Sweep 64 entries. */
static void stack_sweep_word(struct mmpath_stack *s)
{
	u64 *src = stack_live_at(s, s->src / 64), live = *src;
	u32 word = s->dst / 64, nr = 0;

	if (s->dst == s->src && live == ~0ULL) {
		s->dst += 64;
		return;
	}
	for (*src = 0; live; live &= live - 1, nr++) {
		if (s->dst / 64 != word) {
			stack_sweep_account(s, word, nr);
			word = s->dst / 64;
			nr = 0;
		}
		stack_sweep_entry(s, s->src + __ffs64(live));
	}
	stack_sweep_account(s, word, nr);
}

static void stack_sweep_step(struct mmpath_stack *s)
{
	stack_sweep_word(s);
	s->src += 64;
	if (s->src >= s->head)
		stack_sweep_end(s);
}

/* Prefetch the places that the next step will write. */
static void stack_sweep_prefetch(const struct mmpath_stack *s)
{
	u64 live = *stack_live_at(s, s->src / 64);

	for (; live; live &= live - 1)
		prefetchw(mmpath_index_at(&s->index, *stack_id_at(s, s->src + __ffs64(live))));
}

/* Are enough entries dead for a sweep to be worth it? */
static bool stack_sweep_due(const struct mmpath_stack *s)
{
	if (s->head >= 2 * (u64)s->nr_pages + STACK_SMALL_LOG)
		return true;
	return s->ids.nr <= 8 * STACK_LEAF_IDS && s->head >= s->ids.nr / 8 * 7 &&
	       s->head / 11 * 8 >= s->nr_pages;
}

static void stack_sweep_some(struct mmpath_stack *s)
{
	if (s->head % STACK_SWEEP_EVERY)
		return;
	if (!s->sweeping) {
		if (stack_sweep_due(s))
			stack_sweep_begin(s);
		return;
	}
	stack_sweep_step(s);
	if (s->sweeping)
		stack_sweep_prefetch(s);
}

/*
 * Make room in the log when there is no memory for a longer one, by a whole sweep at once. A sweep
 * in steps needs touches, and these would fail. Do nothing if only a few entries are dead, or each
 * touch would sweep.
 */
static bool stack_log_squeeze(struct mmpath_stack *s)
{
	if (s->head - s->nr_pages <= s->head / 8)
		return false;
	if (!s->sweeping)
		stack_sweep_begin(s);
	while (s->sweeping)
		stack_sweep_step(s);
	return s->head < s->room;
}

/* Called by the index when the page at a place gets another id, or none. */
static void stack_moved(struct mmpath_index *ix, u32 place, u32 id)
{
	struct mmpath_stack *s = container_of(ix, struct mmpath_stack, index);

	if (id)
		*stack_id_at(s, place - 1) = id;
	else
		stack_log_kill(s, place - 1);
}

/**
 * mmpath_stack_init() - initialize an empty LRU stack
 * @s: the stack
 * @mem: allocator
 * @max_pages: sampled pages it may hold, 0 for no limit; with a limit it
 *	       takes at most 16 bytes for each, and 4 KiB, and some 600 bytes
 *	       for each context but the first, and halves its
 *	       sample when they are used up
 * @shift: sample one page in 2^@shift; 0 and no limit: exact
 *
 * Allocates nothing before pages are touched.
 *
 * Return: 0, or -EINVAL if @shift is above MMPATH_MAX_SHIFT.
 */
int mmpath_stack_init(struct mmpath_stack *s, struct mmpath_mem *mem,
		      unsigned long max_pages, unsigned int shift)
{
	u32 level;

	BUILD_BUG_ON(sizeof(struct stack_node) != 1 << STACK_NODE_ORDER);
	memset(s, 0, sizeof(*s));
	if (shift > MMPATH_MAX_SHIFT)
		return -EINVAL;
	s->mem = mem;
	s->shift = shift;
	s->max_pages = max_pages;
	s->ids.order = STACK_ID_ORDER;
	s->live.order = STACK_LIVE_ORDER;
	for (level = 0; level < MMPATH_LEVELS; level++)
		s->tree[level].order = STACK_NODE_ORDER;
	mmpath_index_init(&s->index, mem, shift, stack_moved);
	return 0;
}

/**
 * mmpath_stack_destroy() - free all memory of a stack
 * @s: the stack; afterwards as after mmpath_stack_init()
 */
void mmpath_stack_destroy(struct mmpath_stack *s)
{
	mmpath_stack_reset(s, s->shift);
}

/**
 * mmpath_stack_reset() - forget all pages of a stack
 * @s: the stack
 * @shift: sample one page in 2^@shift from now on, which may be finer or coarser;
 *	   at most MMPATH_MAX_SHIFT
 *
 * Frees all memory. Cannot fail.
 */
void mmpath_stack_reset(struct mmpath_stack *s, unsigned int shift)
{
	u32 level;

	mmpath_index_destroy(&s->index);
	mmpath_vec_free(&s->ids, s->mem);
	mmpath_vec_free(&s->live, s->mem);
	for (level = 0; level < MMPATH_LEVELS; level++)
		mmpath_vec_free(&s->tree[level], s->mem);
	mmpath_stack_init(s, s->mem, s->max_pages,
			  min_t(unsigned int, shift, MMPATH_MAX_SHIFT));
}

/* Is it time to halve the sample? */
static bool stack_over_limit(const struct mmpath_stack *s)
{
	if (!s->max_pages || s->shift == MMPATH_MAX_SHIFT)
		return false;
	return s->nr_pages > s->max_pages ||
	       mmpath_stack_bytes(s) > s->max_pages * STACK_BYTES_PER_PAGE + STACK_BYTES_AT_LEAST;
}

static void stack_coarsen(struct mmpath_stack *s)
{
	mmpath_index_coarsen(&s->index);
	s->shift++;
}

static void stack_keep_limit(struct mmpath_stack *s)
{
	while (stack_over_limit(s) && !mmpath_puts_off(s->mem, s->nr_pages))
		stack_coarsen(s);
}

static s64 stack_add(struct mmpath_stack *s, u64 page)
{
	u32 id;

	if (s->max_pages && s->nr_pages >= s->max_pages && s->shift == MMPATH_MAX_SHIFT)
		return MMPATH_NOMEM;
	id = mmpath_index_get(&s->index, page);
	if (!id)
		return MMPATH_NOMEM;
	mmpath_index_set(&s->index, id, s->head + 1);
	stack_log_append(s, id);
	return MMPATH_COLD;
}

static s64 stack_raise(struct mmpath_stack *s, u32 id, u32 *place)
{
	u64 above = s->nr_pages;

	above -= stack_log_kill(s, *place - 1);
	*place = s->head + 1;
	stack_log_append(s, id);
	return above << s->shift;
}

/**
 * __mmpath_stack_touch() - note the touch of a page that is in the sample
 * @s: the stack
 * @page: number of the page
 *
 * Puts the page on top. Thesis 4.2.2, Algorithm 2, lines 1 to 7. Takes amortized
 * constant time, except for the tree, O(log(pages / 64) / 3). No single touch
 * does more than 64 steps, except the one that halves the sample of a stack with a
 * limit. That one walks the whole stack: see &mmpath_mem.hurry.
 *
 * Return: the reuse distance in pages: the number of distinct other sampled
 * pages touched since the last touch of this one, times 2^shift, with the
 * shift before the call; or MMPATH_COLD, MMPATH_NOMEM.
 */
s64 __mmpath_stack_touch(struct mmpath_stack *s, u64 page)
{
	u32 id, *place, room = s->room, chunks = s->index.nr_chunks;
	s64 distance;

	if (s->head == room && stack_log_grow(s) && !stack_log_squeeze(s))
		return MMPATH_NOMEM;
	id = mmpath_index_find(&s->index, page);
	place = id ? mmpath_index_at(&s->index, id) : NULL;
	if (place && *place == s->head)
		return 0;
	distance = place && *place ? stack_raise(s, id, place) : stack_add(s, page);
	stack_sweep_some(s);
	/* the stack can be over its limit only if one of these has changed */
	if (s->nr_pages > s->max_pages || s->room != room || s->index.nr_chunks != chunks)
		stack_keep_limit(s);
	return distance;
}

/**
 * mmpath_stack_prefetch() - prefetch what the next touches will need
 * @s: the stack
 * @page: numbers of the pages to be touched
 * @nr: number of pages; those after the first MMPATH_PREFETCH are ignored
 *
 * If the stack is too large for the cache, this loads the data of all touches at the
 * same time instead of one after the other. Changes nothing. The call is optional.
 */
void mmpath_stack_prefetch(const struct mmpath_stack *s, const u64 *page, unsigned int nr)
{
	u32 *place[MMPATH_PREFETCH], id, i, found = 0;

	if (s->nr_pages < STACK_PREFETCH_FROM)
		return;
	for (i = 0; i < nr && i < MMPATH_PREFETCH; i++) {
		if (!mmpath_sampled(page[i], s->shift))
			continue;
		id = mmpath_index_peek(&s->index, page[i]);
		if (!id)
			continue;
		place[found] = mmpath_index_at(&s->index, id);
		prefetchw(place[found++]);
	}
	for (i = 0; i < found; i++) {
		if (!*place[i])
			continue;
		prefetchw(stack_live_at(s, (*place[i] - 1) / 64));
		if (s->levels)
			prefetchw(stack_node_at(s, 0, (*place[i] - 1) / 64 / STACK_FANOUT));
	}
}

/**
 * mmpath_stack_forget() - forget pages that were unmapped
 * @s: the stack
 * @first: first page
 * @nr: number of pages
 *
 * The time is proportional to the sampled pages of the range, or to those of the
 * context that are on the stack, whichever are fewer. Cannot fail.
 */
void mmpath_stack_forget(struct mmpath_stack *s, u64 first, u64 nr)
{
	mmpath_index_forget(&s->index, first, nr);
	if (!s->nr_pages)
		mmpath_stack_reset(s, s->shift);
}

/**
 * mmpath_stack_move() - give pages other numbers (mremap)
 * @s: the stack
 * @from: first page
 * @to: new number of the first page
 * @nr: number of pages; the two ranges must not overlap
 *
 * A page keeps its place on the stack if its old and its new number are in the
 * sample. Otherwise it is forgotten. Pages that had the new numbers are forgotten.
 *
 * Return: 0; -EINVAL if the ranges overlap, and nothing was done; -ENOMEM if some
 * pages were forgotten for want of memory.
 */
int mmpath_stack_move(struct mmpath_stack *s, u64 from, u64 to, u64 nr)
{
	int err = mmpath_index_move(&s->index, from, to, nr);

	if (!s->nr_pages)
		mmpath_stack_reset(s, s->shift);
	stack_keep_limit(s);
	return err;
}

/**
 * mmpath_stack_set_shift() - make the sample of a stack coarser
 * @s: the stack
 * @shift: sample one page in 2^@shift from now on
 *
 * Drops pages that are no longer in the sample. The others keep their order.
 * Allocates nothing.
 *
 * Return: 0, or -EINVAL if @shift is finer than now or above
 * MMPATH_MAX_SHIFT.
 */
int mmpath_stack_set_shift(struct mmpath_stack *s, unsigned int shift)
{
	if (shift < s->shift || shift > MMPATH_MAX_SHIFT)
		return -EINVAL;
	while (s->shift < shift)
		stack_coarsen(s);
	return 0;
}

/**
 * mmpath_stack_footprint() - return the number of pages touched and not forgotten
 * @s: the stack
 *
 * Return: pages; an estimate if the stack is sampled.
 */
u64 mmpath_stack_footprint(const struct mmpath_stack *s)
{
	return (u64)s->nr_pages << s->shift;
}

/**
 * mmpath_stack_bytes() - return the memory that a stack uses
 * @s: the stack
 *
 * Return: bytes, including all it has allocated.
 */
size_t mmpath_stack_bytes(const struct mmpath_stack *s)
{
	size_t bytes = sizeof(*s) + mmpath_index_bytes(&s->index);
	u32 level;

	for (level = 0; level < s->levels; level++)
		bytes += mmpath_vec_bytes(&s->tree[level]);
	return bytes + mmpath_vec_bytes(&s->ids) + mmpath_vec_bytes(&s->live);
}

/* Find the page of the first live entry at or after @pos. */
static bool stack_log_next(const struct mmpath_stack *s, u32 pos, u64 *page)
{
	u64 live;

	for (; pos < s->head; pos = (pos / 64 + 1) * 64) {
		live = *stack_live_at(s, pos / 64) >> pos % 64;
		if (!live)
			continue;
		*page = mmpath_index_page(&s->index, *stack_id_at(s, pos + __ffs64(live)));
		return true;
	}
	return false;
}

/**
 * mmpath_stack_bottom() - find the least recently touched page
 * @s: the stack
 * @page: returns the number of the page
 *
 * Return: false if the stack is empty.
 */
bool mmpath_stack_bottom(const struct mmpath_stack *s, u64 *page)
{
	return stack_log_next(s, 0, page);
}

/**
 * mmpath_stack_above() - find the next more recently touched page
 * @s: the stack
 * @page: number of a page; replaced by that of the page above it
 *
 * To walk the stack, call mmpath_stack_bottom(), and then this until it returns
 * false. A page that is touched during the walk is met again further up.
 *
 * Return: false if @page is on top, or not on the stack; it does not change then.
 */
bool mmpath_stack_above(const struct mmpath_stack *s, u64 *page)
{
	u32 id, place;

	if (!mmpath_sampled(*page, s->shift))
		return false;
	id = mmpath_index_peek(&s->index, *page);
	place = id ? *mmpath_index_at(&s->index, id) : 0;
	if (!place)
		return false;
	return stack_log_next(s, place, page);
}

#ifdef CONFIG_MMPATH_KUNIT_TEST
#include "tests/models-kunit.h"
#endif
