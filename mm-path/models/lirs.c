// SPDX-License-Identifier: GPL-2.0
/*
 * LIRS (Jiang and Zhang, SIGMETRICS 2002; thesis 4.3.2): which page leaves memory?
 *
 * LRU expects a page to stay unused for as long as it has been unused so far. In a loop
 * larger than memory that is wrong for each page, and each touch misses. LIRS looks at
 * distances instead: the number of distinct other pages between the last two touches of
 * a page. Pages with small distances (LIR, low inter-reference recency) fill all of
 * memory except `hirs' pages. The others (HIR) pass through these.
 *
 *	     stack S, by last touch			   queue Q: HIR in memory
 *
 *	top  +-----+-----+-----+-----+-----+ bottom	   +-----+-----+
 *	     | HIR | LIR |ghost| LIR | LIR |		   | HIR | HIR | -> leaves
 *	     +-----+-----+-----+-----+-----+		   +-----+-----+
 *
 * S holds the LIR pages, and the HIR pages that were touched since the LIR page at the
 * bottom of S was. Some of these are in memory, and some are not (ghosts). HIR pages
 * that come to the bottom leave S (lirs_prune()). So, when a HIR page x is touched and b
 * is the LIR page at the bottom,
 *
 *	x is in S  <=>	x was touched after b
 *		   <=>	distance of x < number of pages touched since b
 *				     <= distance of b at its next touch
 *
 * Then x becomes LIR in the place of b, and b goes to Q. When x is not in S, its
 * distance is no smaller than that of the worst LIR page, and x passes through Q. No
 * distance is ever computed. The victim is the last page of Q.
 *
 * What if the guess is wrong, as when a program goes on to other pages? Then old LIR
 * pages take up memory. But the age of b grows with each page touched, so the first
 * new page that is touched twice takes the place of b, the second that of the next
 * LIR page, and so forth. LIRS does not recognize pages with distances greater than
 * memory, its ghosts and the age of the LIR pages allow. Then it keeps the pages it has.
 *
 * Other policies
 * --------------
 *
 * With hirs == size there are no LIR pages. S is empty, and Q is an LRU list of all
 * pages. This is exactly LRU. With `fixed' no page changes between LIR and HIR: the
 * pages that filled memory first stay, and later pages pass through the HIR part. For
 * a loop that is like MRU, which also keeps the same number of pages from one round to
 * the next, and evicts a page shortly after its touch. The difference is that `hirs'
 * pages are not evicted at once, because a page that was touched last is in use.
 *
 * The owner asks for a victim when memory is full. The model takes every page that is
 * touched to be in memory. The owner may tell it of pages that left memory otherwise
 * (mmpath_lirs_evicted()), or did not leave (mmpath_lirs_keep()). If it needs pages that are none
 * of Q, it is told of LIR pages in order of age (mmpath_lirs_next_lir()).
 *
 * Fixed memory
 * ------------
 *
 * A page is a node of 32 bytes, with links for S and for Q or the ghosts. As on the stacks
 * it is known by its id in index.c. There are at most twice as many ghosts as pages of
 * memory, and the oldest ghost is forgotten first. If there are more than max_pages nodes,
 * or they take more than 40 bytes for each of max_pages (because pages are far apart), the
 * sample is halved as in lru_stack.c. The remaining pages keep their order, and about half
 * of the LIR and half of the HIR pages remain: this is LIRS in a memory of half the size
 * that sees half the pages (Waldspurger et al., ATC'17, simulate caches in this way).
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/string.h>

#include "model.h"

#define LIRS_NODE_ORDER		5
#define LIRS_PER_LEAF		(1U << (MMPATH_LEAF_SHIFT - LIRS_NODE_ORDER))
#define LIRS_BYTES_PER_PAGE	40
#define LIRS_BYTES_AT_LEAST	4096

/* no ghost is in Q: they share a link */
enum { LIRS_LINK_STACK, LIRS_LINK_QUEUE, LIRS_NR_LINKS };

enum lirs_kind { FREE, LIR, HIR, GHOST };

struct lirs_node {
	u32 id;
	u8 kind;
	bool stacked;			/* on S */
	struct {
		u32 next, prev;		/* 0: the head of the list */
	} link[LIRS_NR_LINKS];
};

static struct lirs_node *lirs_node_at(const struct mmpath_lirs *l, u32 place)
{
	return mmpath_vec_at(&l->nodes, place, LIRS_NODE_ORDER);
}

static u32 *lirs_next_of(struct mmpath_lirs *l, struct mmpath_lirs_list *list, u32 place)
{
	return place ? &lirs_node_at(l, place)->link[list->link].next : &list->first;
}

static u32 *lirs_prev_of(struct mmpath_lirs *l, struct mmpath_lirs_list *list, u32 place)
{
	return place ? &lirs_node_at(l, place)->link[list->link].prev : &list->last;
}

/* Link @place between its neighbours. */
static void lirs_list_join(struct mmpath_lirs *l, struct mmpath_lirs_list *list,
			   u32 prev, u32 place, u32 next)
{
	*lirs_next_of(l, list, prev) = place;
	*lirs_prev_of(l, list, next) = place;
}

static void lirs_list_add(struct mmpath_lirs *l, struct mmpath_lirs_list *list, u32 place)
{
	*lirs_next_of(l, list, place) = list->first;
	*lirs_prev_of(l, list, place) = 0;
	lirs_list_join(l, list, 0, place, list->first);
}

static void lirs_list_del(struct mmpath_lirs *l, struct mmpath_lirs_list *list, u32 place)
{
	u32 next = *lirs_next_of(l, list, place), prev = *lirs_prev_of(l, list, place);

	*lirs_next_of(l, list, prev) = next;
	*lirs_prev_of(l, list, next) = prev;
}

static struct mmpath_lirs_list *lirs_list_of(struct mmpath_lirs *l, enum lirs_kind kind)
{
	if (kind == HIR)
		return &l->queue;
	return kind == GHOST ? &l->ghosts : NULL;
}

static void lirs_count(struct mmpath_lirs *l, enum lirs_kind kind, int nr)
{
	l->nr_lirs += kind == LIR ? nr : 0;
	l->nr_hirs += kind == HIR ? nr : 0;
	l->nr_ghosts += kind == GHOST ? nr : 0;
}

/* Change the kind of a page, and make it the first of the list of that kind. */
static void lirs_set_kind(struct mmpath_lirs *l, u32 place, enum lirs_kind kind)
{
	struct lirs_node *node = lirs_node_at(l, place);

	if (lirs_list_of(l, node->kind))
		lirs_list_del(l, lirs_list_of(l, node->kind), place);
	lirs_count(l, node->kind, -1);
	node->kind = kind;
	lirs_count(l, kind, 1);
	if (lirs_list_of(l, kind))
		lirs_list_add(l, lirs_list_of(l, kind), place);
}

static u32 lirs_nr_nodes(const struct mmpath_lirs *l)
{
	return l->nr_lirs + l->nr_hirs + l->nr_ghosts;
}

static bool lirs_in_memory(const struct lirs_node *node)
{
	return node->kind == LIR || node->kind == HIR;
}

/* How many sampled pages may be LIR. There must be room for a new page beside them. */
static u64 lirs_most_lirs(const struct mmpath_lirs *l)
{
	u64 room = l->size >> l->shift, lirs;

	if (l->size == U64_MAX)
		return U64_MAX;
	if (l->hirs >= l->size || !room)
		return 0;
	lirs = (l->size - l->hirs) >> l->shift;
	return l->hirs ? min(lirs, room - 1) : lirs;
}

static u64 lirs_most_ghosts(const struct mmpath_lirs *l)
{
	if (l->size == U64_MAX)
		return 2 * ((u64)l->nr_lirs + l->nr_hirs + 1);
	return min(l->size, U64_MAX / 2) >> l->shift << 1;
}

static void lirs_leave_stack(struct mmpath_lirs *l, u32 place)
{
	if (lirs_node_at(l, place)->stacked)
		lirs_list_del(l, &l->stack, place);
	lirs_node_at(l, place)->stacked = false;
}

static void lirs_to_top(struct mmpath_lirs *l, u32 place)
{
	lirs_leave_stack(l, place);
	lirs_list_add(l, &l->stack, place);
	lirs_node_at(l, place)->stacked = true;
}

static u32 lirs_node_get(struct mmpath_lirs *l)
{
	u32 place = l->free_node;

	if (place) {
		l->free_node = lirs_node_at(l, place)->link[0].next;
	} else {
		place = l->top_node + 1;
		if (place >= l->nodes.nr && mmpath_vec_grow(&l->nodes, l->mem))
			return 0;
		l->top_node = place;
	}
	memset(lirs_node_at(l, place), 0, sizeof(struct lirs_node));
	return place;
}

/* Free the node of a page that is not in the index any more. */
static void lirs_node_put(struct mmpath_lirs *l, u32 place)
{
	lirs_leave_stack(l, place);
	lirs_set_kind(l, place, FREE);
	lirs_node_at(l, place)->link[0].next = l->free_node;
	l->free_node = place;
}

static void lirs_page_forget(struct mmpath_lirs *l, u32 place)
{
	mmpath_index_set(&l->index, lirs_node_at(l, place)->id, 0);
	lirs_node_put(l, place);
}

/* Add a page that has no kind yet. Returns its place, or 0 without memory. */
static u32 lirs_page_add(struct mmpath_lirs *l, u64 page)
{
	u32 place, id;

	if (lirs_nr_nodes(l) >= l->max_pages && l->shift == MMPATH_MAX_SHIFT)
		return 0;
	place = lirs_node_get(l);
	if (!place)
		return 0;
	id = mmpath_index_get(&l->index, page);
	if (!id) {
		lirs_node_put(l, place);
		return 0;
	}
	mmpath_index_set(&l->index, id, place);
	lirs_node_at(l, place)->id = id;
	return place;
}

static u32 lirs_page_find(struct mmpath_lirs *l, u64 page)
{
	u32 id = mmpath_index_find(&l->index, page);

	return id ? *mmpath_index_at(&l->index, id) : 0;
}

/* Remove HIR pages and ghosts below the last LIR page from S: their distances are not smaller. */
static void lirs_prune(struct mmpath_lirs *l)
{
	u32 place;

	while ((place = l->stack.last) && lirs_node_at(l, place)->kind != LIR) {
		lirs_leave_stack(l, place);
		if (lirs_node_at(l, place)->kind == GHOST)
			lirs_page_forget(l, place);
	}
}

/* Turn the LIR page at the bottom of S into a HIR page. There must be one. */
static void lirs_demote(struct mmpath_lirs *l)
{
	u32 place = l->stack.last;

	lirs_leave_stack(l, place);
	lirs_set_kind(l, place, HIR);
	lirs_prune(l);
}

static void lirs_demote_excess(struct mmpath_lirs *l)
{
	u64 most = lirs_most_lirs(l);

	while (l->nr_lirs > most)
		lirs_demote(l);
}

static void lirs_drop_ghosts(struct mmpath_lirs *l)
{
	u64 most = lirs_most_ghosts(l);

	while (l->nr_ghosts > most)
		lirs_page_forget(l, l->ghosts.last);
}

static void lirs_node_move(struct mmpath_lirs *l, u32 from, u32 to)
{
	struct lirs_node *node = lirs_node_at(l, to);
	struct mmpath_lirs_list *list;

	*node = *lirs_node_at(l, from);
	lirs_node_at(l, from)->kind = FREE;
	*mmpath_index_at(&l->index, node->id) = to;
	if (node->stacked)
		lirs_list_join(l, &l->stack, node->link[LIRS_LINK_STACK].prev, to,
			       node->link[LIRS_LINK_STACK].next);
	list = lirs_list_of(l, node->kind);
	if (list)
		lirs_list_join(l, list, node->link[LIRS_LINK_QUEUE].prev, to,
			       node->link[LIRS_LINK_QUEUE].next);
}

/* If most nodes are free, close the gaps, and free memory. */
static void lirs_trim(struct mmpath_lirs *l)
{
	u32 to, from = l->top_node, nr = lirs_nr_nodes(l);

	if (l->top_node <= 2 * (u64)nr + LIRS_PER_LEAF)
		return;
	for (to = 1; to <= nr; to++) {
		if (lirs_node_at(l, to)->kind != FREE)
			continue;
		while (lirs_node_at(l, from)->kind == FREE)
			from--;
		lirs_node_move(l, from, to);
	}
	l->top_node = nr;
	l->free_node = 0;
	while (l->nodes.nr > nr + 2 * LIRS_PER_LEAF)
		mmpath_vec_shrink(&l->nodes, l->mem);
}

/* Restore all invariants after pages were removed in any order. */
static void lirs_settle(struct mmpath_lirs *l)
{
	lirs_prune(l);
	lirs_demote_excess(l);
	lirs_drop_ghosts(l);
	lirs_trim(l);
}

static void lirs_coarsen(struct mmpath_lirs *l)
{
	mmpath_index_coarsen(&l->index);
	l->shift++;
	lirs_settle(l);
}

static bool lirs_over_limit(const struct mmpath_lirs *l)
{
	size_t most = (size_t)l->max_pages * LIRS_BYTES_PER_PAGE + LIRS_BYTES_AT_LEAST;

	if (l->shift == MMPATH_MAX_SHIFT)
		return false;
	return lirs_nr_nodes(l) > l->max_pages || mmpath_lirs_bytes(l) > most;
}

static void lirs_limit(struct mmpath_lirs *l)
{
	while (lirs_over_limit(l) && !mmpath_puts_off(l->mem, lirs_nr_nodes(l)))
		lirs_coarsen(l);
}

/* Called by the index when the page at a place gets another id, or none. */
static void lirs_moved(struct mmpath_index *ix, u32 place, u32 id)
{
	struct mmpath_lirs *l = container_of(ix, struct mmpath_lirs, index);

	if (id)
		lirs_node_at(l, place)->id = id;
	else
		lirs_node_put(l, place);
}

/**
 * mmpath_lirs_init() - initialize an empty memory of unknown size
 * @l: the model
 * @mem: allocator
 * @max_pages: sampled pages that the model may hold, including ghosts, at least 1. It
 *	uses at most 40 bytes for each, and 4 KiB, and halves its sample when it needs more.
 * @shift: sample one page in 2^@shift
 *
 * Allocates nothing.
 *
 * Return: 0, or -EINVAL.
 */
int mmpath_lirs_init(struct mmpath_lirs *l, struct mmpath_mem *mem, u32 max_pages,
		     unsigned int shift)
{
	BUILD_BUG_ON(sizeof(struct lirs_node) > 1 << LIRS_NODE_ORDER);
	memset(l, 0, sizeof(*l));
	if (!max_pages || shift > MMPATH_MAX_SHIFT)
		return -EINVAL;
	l->mem = mem;
	l->max_pages = max_pages;
	l->shift = shift;
	l->size = U64_MAX;
	l->nodes.order = LIRS_NODE_ORDER;
	l->stack.link = LIRS_LINK_STACK;
	l->queue.link = LIRS_LINK_QUEUE;
	l->ghosts.link = LIRS_LINK_QUEUE;
	mmpath_index_init(&l->index, mem, shift, lirs_moved);
	return 0;
}

/**
 * mmpath_lirs_destroy() - free all memory of a model
 * @l: the model; empty afterwards
 */
void mmpath_lirs_destroy(struct mmpath_lirs *l)
{
	mmpath_lirs_reset(l, l->shift);
}

/**
 * mmpath_lirs_reset() - forget all pages of a model
 * @l: the model; keeps its sizes
 * @shift: sample one page in 2^@shift from now on, which may be finer or coarser; at most
 *	MMPATH_MAX_SHIFT
 *
 * Frees all memory. Cannot fail.
 */
void mmpath_lirs_reset(struct mmpath_lirs *l, unsigned int shift)
{
	u64 size = l->size, hirs = l->hirs;
	bool fixed = l->fixed;

	mmpath_index_destroy(&l->index);
	mmpath_vec_free(&l->nodes, l->mem);
	mmpath_lirs_init(l, l->mem, l->max_pages, min_t(unsigned int, shift, MMPATH_MAX_SHIFT));
	mmpath_lirs_set_size(l, size, hirs, fixed);
}

/**
 * mmpath_lirs_set_size() - set the size of memory, and the policy
 * @l: the model
 * @size: size of memory in pages, not sampled ones; U64_MAX: not known, all pages become LIR
 * @hirs: part of @size for HIR pages; @size for LRU
 * @fixed: pages stay LIR or HIR, as long as there is room
 *
 * If there are too many LIR pages, those at the bottom of S become HIR, and may be the next
 * victims.
 */
void mmpath_lirs_set_size(struct mmpath_lirs *l, u64 size, u64 hirs, bool fixed)
{
	l->size = size;
	l->hirs = hirs;
	l->fixed = fixed;
	lirs_demote_excess(l);
	lirs_drop_ghosts(l);
}

/* Does a HIR page, a ghost or a new page become LIR when it is touched? */
static bool lirs_becomes_lir(const struct mmpath_lirs *l, const struct lirs_node *node)
{
	return l->nr_lirs < lirs_most_lirs(l) || (node->stacked && !l->fixed);
}

/**
 * __mmpath_lirs_touch() - note the touch of a page that is in the sample
 * @l: the model
 * @page: number of the page, which is in memory from now on
 *
 * Evicts nothing. To keep memory to a size, take a victim before the touch of a page that is
 * not in memory. Takes amortized constant time, unless the touch halves the sample: each HIR
 * page that leaves S has entered it in a touch of its own.
 *
 * Return: MMPATH_LIRS_HIT if the page was in memory, MMPATH_LIRS_MISS, or MMPATH_NOMEM.
 */
int __mmpath_lirs_touch(struct mmpath_lirs *l, u64 page)
{
	u32 place, bottom = l->stack.last;
	struct lirs_node *node;
	bool hit, known, was_lir;

	place = lirs_page_find(l, page);
	known = place;
	if (!place)
		place = lirs_page_add(l, page);
	if (!place)
		return MMPATH_NOMEM;
	node = lirs_node_at(l, place);
	hit = lirs_in_memory(node);
	was_lir = node->kind == LIR;
	if (!was_lir)
		lirs_set_kind(l, place, lirs_becomes_lir(l, node) ? LIR : HIR);
	lirs_to_top(l, place);
	/* most touches change neither the bottom of S nor the number of pages */
	if (bottom == place || !bottom)
		lirs_prune(l);
	if (!was_lir)
		lirs_demote_excess(l);
	if (!known)
		lirs_limit(l);
	return hit ? MMPATH_LIRS_HIT : MMPATH_LIRS_MISS;
}

/* Let a page leave memory. It becomes a ghost if it is in S, or else is forgotten. */
static void lirs_leave_memory(struct mmpath_lirs *l, u32 place)
{
	if (lirs_node_at(l, place)->stacked)
		lirs_set_kind(l, place, GHOST);
	else
		lirs_page_forget(l, place);
	lirs_prune(l);
	lirs_drop_ghosts(l);
}

/**
 * mmpath_lirs_victim() - choose the next victim, which leaves memory
 * @l: the model
 * @page: returns the number of the page: the last of Q, or if Q is empty the LIR page that
 *	was not touched for longest
 *
 * Return: false if no page is in memory.
 */
bool mmpath_lirs_victim(struct mmpath_lirs *l, u64 *page)
{
	u32 place;

	if (!l->nr_hirs && l->nr_lirs)
		lirs_demote(l);
	place = l->queue.last;
	if (!place)
		return false;
	*page = mmpath_index_page(&l->index, lirs_node_at(l, place)->id);
	lirs_leave_memory(l, place);
	return true;
}

/**
 * mmpath_lirs_next_lir() - name LIR pages, one after the other, from the bottom of S
 * @l: the model
 * @at: page to go on with, or U64_MAX for the bottom; also begins there if the page is not LIR any
 *	more. Returns the next one, or U64_MAX after the top.
 * @page: returns the number of the page
 *
 * For an owner that needs pages of a kind that none in Q is of. Changes nothing. The owner forgets
 * (mmpath_lirs_forget()) those that it lets leave memory.
 *
 * Return: false if there is no LIR page.
 */
bool mmpath_lirs_next_lir(struct mmpath_lirs *l, u64 *at, u64 *page)
{
	u32 place = *at == U64_MAX ? 0 : lirs_page_find(l, *at);

	/* the bottom of S is a LIR page, if there is one: see lirs_prune() */
	if (!place || lirs_node_at(l, place)->kind != LIR)
		place = l->nr_lirs ? l->stack.last : 0;
	if (!place)
		return false;
	*page = mmpath_index_page(&l->index, lirs_node_at(l, place)->id);
	do
		place = lirs_node_at(l, place)->link[LIRS_LINK_STACK].prev;
	while (place && lirs_node_at(l, place)->kind != LIR);
	*at = place ? mmpath_index_page(&l->index, lirs_node_at(l, place)->id) : U64_MAX;
	return true;
}

/**
 * mmpath_lirs_evicted() - note that a page left memory without being a victim
 * @l: the model
 * @page: number of the page; nothing is done if @l does not have it in memory
 */
void mmpath_lirs_evicted(struct mmpath_lirs *l, u64 page)
{
	u32 place = mmpath_sampled(page, l->shift) ? lirs_page_find(l, page) : 0;

	if (place && lirs_in_memory(lirs_node_at(l, place)))
		lirs_leave_memory(l, place);
}

/**
 * mmpath_lirs_keep() - put back a victim that did not leave memory
 * @l: the model
 * @page: number of the page; nothing is done if it has been touched meanwhile
 *
 * It becomes the first page of Q, and keeps its place in S if it has one. If @l has forgotten
 * the page and there is no memory, it stays forgotten until its next touch.
 */
void mmpath_lirs_keep(struct mmpath_lirs *l, u64 page)
{
	u32 place;

	if (!mmpath_sampled(page, l->shift))
		return;
	place = lirs_page_find(l, page);
	if (!place)
		place = lirs_page_add(l, page);
	if (!place || lirs_in_memory(lirs_node_at(l, place)))
		return;
	lirs_set_kind(l, place, HIR);
	lirs_limit(l);
}

/**
 * __mmpath_lirs_resident() - tell whether a page that is in the sample is in memory
 * @l: the model
 * @page: number of the page
 *
 * Return: whether it is.
 */
bool __mmpath_lirs_resident(struct mmpath_lirs *l, u64 page)
{
	u32 place = lirs_page_find(l, page);

	return place && lirs_in_memory(lirs_node_at(l, place));
}

/**
 * mmpath_lirs_forget() - forget pages that were unmapped
 * @l: the model
 * @first: first page
 * @nr: number of pages
 */
void mmpath_lirs_forget(struct mmpath_lirs *l, u64 first, u64 nr)
{
	mmpath_index_forget(&l->index, first, nr);
	lirs_settle(l);
}

/**
 * mmpath_lirs_move() - give pages other numbers (mremap)
 * @l: the model
 * @from: first page
 * @to: new number of the first page
 * @nr: number of pages; the two ranges must not overlap
 *
 * Works like mmpath_stack_move().
 *
 * Return: 0, -EINVAL, or -ENOMEM if some pages were forgotten.
 */
int mmpath_lirs_move(struct mmpath_lirs *l, u64 from, u64 to, u64 nr)
{
	int err = mmpath_index_move(&l->index, from, to, nr);

	lirs_settle(l);
	lirs_limit(l);
	return err;
}

/**
 * mmpath_lirs_set_shift() - make the sample of a model coarser
 * @l: the model
 * @shift: sample one page in 2^@shift from now on
 *
 * Return: 0, or -EINVAL if @shift is finer than now or too coarse.
 */
int mmpath_lirs_set_shift(struct mmpath_lirs *l, unsigned int shift)
{
	if (shift < l->shift || shift > MMPATH_MAX_SHIFT)
		return -EINVAL;
	while (l->shift < shift)
		lirs_coarsen(l);
	return 0;
}

/* Give all pages of @fine in a block the kind of the block's page in the coarser sample. */
static int lirs_expand(struct mmpath_lirs *fine, struct mmpath_lirs *l, u32 from, bool stack)
{
	unsigned int more = l->shift - fine->shift;
	struct lirs_node *node = lirs_node_at(l, from);
	u64 page, block = mmpath_index_page(&l->index, node->id) >> l->shift << more;
	u64 end = block + (1ULL << more);
	u32 place;

	for (; block < end; block++) {
		page = mmpath_sample_of_block(block, fine->shift);
		place = lirs_page_find(fine, page);
		if (!place)
			place = lirs_page_add(fine, page);
		if (!place)
			return -ENOMEM;
		if (lirs_node_at(fine, place)->kind == FREE)
			lirs_set_kind(fine, place, node->kind);
		if (stack)
			lirs_to_top(fine, place);
	}
	return 0;
}

static int lirs_expand_list(struct mmpath_lirs *fine, struct mmpath_lirs *l,
			    struct mmpath_lirs_list *list)
{
	u32 place;
	int err = 0;

	for (place = list->last; place && !err; place = *lirs_prev_of(l, list, place))
		err = lirs_expand(fine, l, place, list == &l->stack);
	return err;
}

/**
 * mmpath_lirs_refine() - make the sample of a model finer
 * @l: the model
 * @shift: sample one page in 2^@shift from now on, or fewer if those would be too many
 *
 * So far a page stood for its block. Now the other pages of the block get the same kind and
 * place, until they are touched. Takes time for all pages, and meanwhile memory for two
 * models.
 *
 * Return: 0, or -ENOMEM; then nothing has changed.
 */
int mmpath_lirs_refine(struct mmpath_lirs *l, unsigned int shift)
{
	struct mmpath_lirs fine;
	int err;

	while (shift < l->shift && (u64)lirs_nr_nodes(l) << (l->shift - shift) > l->max_pages)
		shift++;
	if (shift >= l->shift)
		return 0;
	mmpath_lirs_init(&fine, l->mem, l->max_pages, shift);
	err = lirs_expand_list(&fine, l, &l->queue);
	if (!err)
		err = lirs_expand_list(&fine, l, &l->ghosts);
	if (!err)
		err = lirs_expand_list(&fine, l, &l->stack);
	if (err) {
		mmpath_lirs_destroy(&fine);
		return err;
	}
	mmpath_lirs_set_size(&fine, l->size, l->hirs, l->fixed);
	mmpath_lirs_destroy(l);
	*l = fine;
	lirs_limit(l);
	return 0;
}

/**
 * mmpath_lirs_bytes() - return the memory that a model uses
 * @l: the model
 *
 * Return: bytes, including all it has allocated.
 */
size_t mmpath_lirs_bytes(const struct mmpath_lirs *l)
{
	return sizeof(*l) + mmpath_index_bytes(&l->index) + mmpath_vec_bytes(&l->nodes);
}
