// SPDX-License-Identifier: GPL-2.0
/*
 * Pollution: misses that prefetching causes
 *
 *	most recent                                           least recent
 *	+--------------------------------------+-------------+
 *	| used pages              M - R        | taken,    R |   memory of M pages
 *	+--------------------------------------+-------------+
 *	                                       | left last, R |  would be there without
 *
 * Pages that were fetched and are not used yet take the place of others, and so does the memory
 * in which prefetching remembers what it has seen. Without both, the pages that left memory last,
 * as many as both take, would still be there. So a miss of a page is caused by prefetching if
 * fewer pages have left since, and are not back, than prefetching takes:
 *
 *	rank among the pages that are out, the last one first  <  R
 *
 * That is the refault distance of mm/workingset.c, but held against R and not against the size of
 * a list, and a page that left and came back is none of those between. It has pushed out another
 * one by then: until one has left, memory is not full, and ranks stay as they are. Departures of
 * pages that nobody had used do not count, for without prefetching there would have been none.
 *
 * The ranks of misses also tell what memory is worth here: with k misses of rank below n, a page
 * more of memory would have saved k / n misses. That is the price of a page.
 *
 * While prefetching takes nothing, memory is what it would be without, and what leaves then would
 * have left. So these departures are not told apart, and a program for which nothing is fetched
 * costs nothing.
 *
 * The last departures are kept in a table of fixed size. When more pages are taken than half of
 * it has room for, one page in 2^shift is watched, and stands for that many.
 */
#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "pollution.h"

#define POLLUTION_KEPT		(MMPATH_POLLUTION_SETS * MMPATH_POLLUTION_WAYS)
#define POLLUTION_MAX_SHIFT	20
#define POLLUTION_PRICED	64U	/* ranks below it, or below R if more, tell the price */
#define POLLUTION_PAGE_SHIFT	12

/**
 * mmpath_pollution_init() - initialize
 * @p: what prefetching does
 */
void mmpath_pollution_init(struct mmpath_pollution *p)
{
	memset(p, 0, sizeof(*p));
}

/* The first bits of a hash choose the set, and the next ones whether the page is watched. */
static u64 pollution_hash(u64 page)
{
	return mmpath_mix(page & MMPATH_VPN_MASK);
}

static bool pollution_watches(const struct mmpath_pollution *p, u64 hash)
{
	return !((hash << MMPATH_POLLUTION_ORDER & MMPATH_VPN_MASK) >>
		 (MMPATH_VPN_BITS - p->shift));
}

static struct mmpath_departure *pollution_set(struct mmpath_pollution *p, u64 hash)
{
	return p->left[hash >> (MMPATH_VPN_BITS - MMPATH_POLLUTION_ORDER)];
}

/* What an entry keeps of a hash: not the first bits, and never 0. */
static u32 pollution_name(u64 hash)
{
	return (u32)(hash >> (MMPATH_VPN_BITS - MMPATH_POLLUTION_ORDER - 32)) ?: 1;
}

static struct mmpath_departure *pollution_find(struct mmpath_pollution *p, u64 hash)
{
	struct mmpath_departure *set = pollution_set(p, hash);
	unsigned int i;

	for (i = 0; i < MMPATH_POLLUTION_WAYS; i++)
		if (set[i].name == pollution_name(hash))
			return &set[i];
	return NULL;
}

/* The entry of a page, or the one to take for it: of a set, an empty one or the oldest */
static struct mmpath_departure *pollution_get(struct mmpath_pollution *p, u64 hash)
{
	struct mmpath_departure *set = pollution_set(p, hash), *found = pollution_find(p, hash);
	unsigned int i;

	for (i = 0; !found && i < MMPATH_POLLUTION_WAYS; i++)
		if (!set[i].name)
			found = &set[i];
	if (found)
		return found;
	for (found = set, i = 1; i < MMPATH_POLLUTION_WAYS; i++)
		if (p->clock - set[i].at > p->clock - found->at)
			found = &set[i];
	return found;
}

static u64 *pollution_word(struct mmpath_pollution *p, u32 at)
{
	return &p->out[at % MMPATH_POLLUTION_TIMES / 64];
}

static bool pollution_remembers(const struct mmpath_pollution *p, u32 at)
{
	return p->clock - at < min(MMPATH_POLLUTION_TIMES, p->clock - p->since);
}

static void pollution_clear(struct mmpath_pollution *p, u32 at)
{
	if (pollution_remembers(p, at))
		*pollution_word(p, at) &= ~BIT_ULL(at % 64);
}

/* A page leaves, and makes room for one that is back. If that was not seen, for itself. */
static void pollution_make_room(struct mmpath_pollution *p, struct mmpath_departure *left,
				bool again)
{
	if (again)
		pollution_clear(p, left->at);
	else if (p->nr_back)
		pollution_clear(p, p->back[--p->nr_back]);
}

/* How many pages have left after the one at @at, and are not back? */
static u32 pollution_rank(struct mmpath_pollution *p, u32 at)
{
	u32 rank = 0;

	for (at++; (s32)(p->clock - at) >= 0; at = (at | 63) + 1)
		rank += hweight64(*pollution_word(p, at) >> at % 64 &
				  ~0ULL >> (63 - min(63U - at % 64, p->clock - at)));
	return rank << p->shift;
}

/**
 * mmpath_pollution_room() - return the memory that prefetching takes
 * @p: what prefetching does
 *
 * Return: pages.
 */
u32 mmpath_pollution_room(const struct mmpath_pollution *p)
{
	return p->unused + (p->held >> POLLUTION_PAGE_SHIFT);
}

/* Did the page leave too early? It is back now. Returns how many pages it stands for. */
static unsigned int pollution_back(struct mmpath_pollution *p, u64 page, bool miss)
{
	u32 rank, room = mmpath_pollution_room(p), priced = max(room, POLLUTION_PRICED);
	u64 hash = pollution_hash(page);
	struct mmpath_departure *left;

	if (!room || !pollution_watches(p, hash))
		return 0;
	left = pollution_find(p, hash);
	if (!left)
		return 0;
	rank = pollution_remembers(p, left->at) ? pollution_rank(p, left->at) : U32_MAX;
	left->name = 0;
	if (p->nr_back < MMPATH_POLLUTION_BACK)
		p->back[p->nr_back++] = left->at;
	if (miss && rank < priced)
		p->price += (1ULL << (MMPATH_PRICE_SHIFT + p->shift)) / priced;
	return (rank < room) << p->shift;
}

/**
 * mmpath_pollution_left() - note that a page leaves memory, which was used
 * @p: what prefetching does
 * @page: the page
 */
void mmpath_pollution_left(struct mmpath_pollution *p, u64 page)
{
	u64 hash = pollution_hash(page);
	struct mmpath_departure *left;

	if (!mmpath_pollution_room(p) || !pollution_watches(p, hash))
		return;
	left = pollution_get(p, hash);
	pollution_make_room(p, left, left->name == pollution_name(hash));
	p->clock++;
	left->name = pollution_name(hash);
	left->at = p->clock;
	*pollution_word(p, p->clock) |= BIT_ULL(p->clock % 64);
}

/* Watch as many pages as the table can hold, and forget the others. */
static void pollution_adjust(struct mmpath_pollution *p)
{
	u32 room = mmpath_pollution_room(p), shift = p->shift;

	while (p->shift < POLLUTION_MAX_SHIFT && room >> p->shift > POLLUTION_KEPT / 2)
		p->shift++;
	while (p->shift && room >> p->shift < POLLUTION_KEPT / 8)
		p->shift--;
	/* times are of watched departures: older ones are of another kind */
	if (!room || p->shift != shift)
		p->since = p->clock;
}

/**
 * mmpath_pollution_hold() - note that prefetching takes memory to remember, or gives it back
 * @p: what prefetching does
 * @bytes: how much more; negative: less
 */
void mmpath_pollution_hold(struct mmpath_pollution *p, s64 bytes)
{
	p->held += bytes;
	pollution_adjust(p);
}

/**
 * mmpath_pollution_settled() - note that a fetched page is used, or leaves memory unused
 * @p: what prefetching does
 */
void mmpath_pollution_settled(struct mmpath_pollution *p)
{
	if (p->unused)
		p->unused--;
	if (!mmpath_pollution_room(p))
		p->since = p->clock;
}

/**
 * mmpath_pollution_fetched() - note that a page is fetched
 * @p: what prefetching does
 * @page: the page
 */
void mmpath_pollution_fetched(struct mmpath_pollution *p, u64 page)
{
	pollution_back(p, page, false);
	p->unused++;
	pollution_adjust(p);
}

/**
 * mmpath_pollution_missed() - note a miss
 * @p: what prefetching does
 * @page: the page
 *
 * Return: the number of misses that prefetching has caused, by this one: mostly 0.
 */
unsigned int mmpath_pollution_missed(struct mmpath_pollution *p, u64 page)
{
	return pollution_back(p, page, true);
}
