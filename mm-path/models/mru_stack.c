// SPDX-License-Identifier: GPL-2.0
/*
 * The MRU stack: at which depth is a page when the victim is always the page
 * used last?
 *
 * Mattson's general stack (Mattson et al. 1970) has the pages that a memory
 * of C pages holds on its top C places, for every C. A touch of the page at
 * depth d brings it to the top. The page that was there is pushed down. At each
 * place on the way to d, the better one of the pushed page and the page there
 * stays, and the other one is pushed further:
 *
 *	touch x:	[ a  b  c  x  d ]  ->  [ x ? ? ? d ]
 *
 * With MRU, "better" is the one used longer ago. The page that was on top was
 * used last of all, so it loses every time and ends where x was:
 *
 *	touch x:	[ a  b  c  x  d ]  ->  [ x  b  c  a  d ]
 *
 * So a touch exchanges two pages, whatever the depth. (The thesis, 4.3.1, ranks
 * the LRU stack from its other end instead. That is not MRU: for a loop over 200
 * pages and 40 pages of memory it counts 200 misses a round where MRU has 161.)
 * A new page pushes the top one below the bottom.
 *
 * When a page is forgotten, the lowest one takes its place. That is one of
 * several states that touches of the remaining pages could have led to.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "model.h"

#define MRU_ID_ORDER		2
#define MRU_BYTES_PER_PAGE	16
#define MRU_BYTES_AT_LEAST	4096

static u32 *mru_id_at(const struct mmpath_mru *s, u32 depth)
{
	return mmpath_vec_at(&s->ids, depth, MRU_ID_ORDER);
}

/* Put a page at @depth. The index has depth + 1, because 0 means none. */
static void mru_put_at(struct mmpath_mru *s, u32 depth, u32 id)
{
	*mru_id_at(s, depth) = id;
	*mmpath_index_at(&s->index, id) = depth + 1;
}

/* Called by the index when the block at a place gets another id. An @id of 0 leaves a hole. */
static void mru_moved(struct mmpath_index *ix, u32 place, u32 id)
{
	struct mmpath_mru *s = container_of(ix, struct mmpath_mru, index);

	*mru_id_at(s, place - 1) = id;
	s->nr_holes += !id;
}

/* Fill holes from the bottom. */
static void mru_fill_holes(struct mmpath_mru *s)
{
	u32 depth;

	for (depth = 0; s->nr_holes && depth < s->nr_pages; depth++) {
		while (s->nr_pages > depth && !*mru_id_at(s, s->nr_pages - 1))
			s->nr_pages--;
		if (depth < s->nr_pages && !*mru_id_at(s, depth))
			mru_put_at(s, depth, *mru_id_at(s, --s->nr_pages));
	}
	s->nr_holes = 0;
}

/* Close holes and keep the order, so that the result is the stack of the new sample. */
static void mru_close_holes(struct mmpath_mru *s)
{
	u32 from, to = 0;

	for (from = 0; from < s->nr_pages; from++)
		if (*mru_id_at(s, from))
			mru_put_at(s, to++, *mru_id_at(s, from));
	s->nr_pages = to;
	s->nr_holes = 0;
}

static void mru_coarsen(struct mmpath_mru *s)
{
	mmpath_index_coarsen(&s->index);
	s->shift++;
	mru_close_holes(s);
}

/**
 * mmpath_mru_init() - initialize an empty MRU stack
 * @s: the stack
 * @mem: allocator
 * @max_pages: sampled pages that the stack may hold, at least 1; with more it halves
 *	its sample
 * @shift: sample one page in 2^@shift
 *
 * Return: 0, or -EINVAL.
 */
int mmpath_mru_init(struct mmpath_mru *s, struct mmpath_mem *mem,
		    unsigned int max_pages, unsigned int shift)
{
	memset(s, 0, sizeof(*s));
	if (!max_pages || shift > MMPATH_MAX_SHIFT)
		return -EINVAL;
	s->mem = mem;
	s->max_pages = max_pages;
	s->shift = shift;
	s->ids.order = MRU_ID_ORDER;
	mmpath_index_init(&s->index, mem, shift, mru_moved);
	return 0;
}

/**
 * mmpath_mru_destroy() - free all memory of a stack
 * @s: the stack; empty afterwards
 */
void mmpath_mru_destroy(struct mmpath_mru *s)
{
	mmpath_index_destroy(&s->index);
	mmpath_vec_free(&s->ids, s->mem);
	s->nr_pages = 0;
}

/**
 * mmpath_mru_reset() - forget all pages of a stack
 * @s: the stack
 * @shift: sample one page in 2^@shift from now on, at most MMPATH_MAX_SHIFT
 */
void mmpath_mru_reset(struct mmpath_mru *s, unsigned int shift)
{
	mmpath_mru_destroy(s);
	mmpath_mru_init(s, s->mem, s->max_pages,
			min_t(unsigned int, shift, MMPATH_MAX_SHIFT));
}

/* Is it time to halve the sample? */
static bool mru_over_limit(const struct mmpath_mru *s)
{
	if (s->shift == MMPATH_MAX_SHIFT)
		return false;
	return s->nr_pages > s->max_pages ||
	       mmpath_mru_bytes(s) > (size_t)s->max_pages * MRU_BYTES_PER_PAGE + MRU_BYTES_AT_LEAST;
}

/* Add a new page at the top. The page that was there goes to the bottom. */
static s64 mru_add(struct mmpath_mru *s, u64 page)
{
	u32 id, room = s->ids.nr, chunks = s->index.nr_chunks;

	if (s->nr_pages >= s->max_pages && s->shift == MMPATH_MAX_SHIFT)
		return MMPATH_NOMEM;
	if (s->nr_pages >= s->ids.nr && mmpath_vec_grow(&s->ids, s->mem))
		return MMPATH_NOMEM;
	id = mmpath_index_get(&s->index, page);
	if (!id)
		return MMPATH_NOMEM;
	if (s->nr_pages)
		mru_put_at(s, s->nr_pages, *mru_id_at(s, 0));
	s->nr_pages++;
	mmpath_index_set(&s->index, id, 1);
	*mru_id_at(s, 0) = id;
	/* the stack can be over its limit only if one of these has changed */
	if (s->nr_pages <= s->max_pages && s->ids.nr == room && s->index.nr_chunks == chunks)
		return MMPATH_COLD;
	while (mru_over_limit(s) && !mmpath_puts_off(s->mem, s->nr_pages))
		mru_coarsen(s);
	return MMPATH_COLD;
}

/**
 * __mmpath_mru_touch() - note the touch of a page that is in the sample
 * @s: the stack
 * @page: number of the page
 *
 * Mattson's general stack algorithm with MRU priority. Takes constant time, unless
 * the touch halves the sample.
 *
 * Return: distance: with MRU the touch hits with M pages of memory if the distance is
 * less than M. Or MMPATH_COLD, or MMPATH_NOMEM.
 */
s64 __mmpath_mru_touch(struct mmpath_mru *s, u64 page)
{
	u32 id, depth;

	id = mmpath_index_find(&s->index, page);
	if (!id || !*mmpath_index_at(&s->index, id))
		return mru_add(s, page);
	depth = *mmpath_index_at(&s->index, id) - 1;
	mru_put_at(s, depth, *mru_id_at(s, 0));
	mru_put_at(s, 0, id);
	return (s64)depth << s->shift;
}

/**
 * mmpath_mru_forget() - forget pages that were unmapped
 * @s: the stack
 * @first: first page
 * @nr: number of pages
 */
void mmpath_mru_forget(struct mmpath_mru *s, u64 first, u64 nr)
{
	mmpath_index_forget(&s->index, first, nr);
	mru_fill_holes(s);
}

/**
 * mmpath_mru_move() - give pages other numbers (mremap)
 * @s: the stack
 * @from: first page
 * @to: new number of the first page
 * @nr: number of pages; the two ranges must not overlap
 *
 * Works like mmpath_stack_move().
 *
 * Return: 0, -EINVAL, or -ENOMEM if some pages were forgotten.
 */
int mmpath_mru_move(struct mmpath_mru *s, u64 from, u64 to, u64 nr)
{
	int err = mmpath_index_move(&s->index, from, to, nr);

	mru_fill_holes(s);
	while (mru_over_limit(s))
		mru_coarsen(s);
	return err;
}

/**
 * mmpath_mru_bytes() - return the memory that a stack uses
 * @s: the stack
 *
 * Return: bytes, including all it has allocated.
 */
size_t mmpath_mru_bytes(const struct mmpath_mru *s)
{
	return sizeof(*s) + mmpath_index_bytes(&s->index) + mmpath_vec_bytes(&s->ids);
}

/**
 * mmpath_mru_set_shift() - make the sample of a stack coarser
 * @s: the stack
 * @shift: sample one page in 2^@shift from now on
 *
 * Return: 0, or -EINVAL if @shift is finer than now or too coarse.
 */
int mmpath_mru_set_shift(struct mmpath_mru *s, unsigned int shift)
{
	if (shift < s->shift || shift > MMPATH_MAX_SHIFT)
		return -EINVAL;
	while (s->shift < shift)
		mru_coarsen(s);
	return 0;
}
