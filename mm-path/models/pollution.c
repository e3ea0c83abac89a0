// SPDX-License-Identifier: GPL-2.0
/*
 * Pollution: misses that prefetching causes
 *
 *	most recent                                           least recent
 *	+--------------------------------------+-------------+
 *	| used pages              M - U        | fetched,  U |   memory of M pages
 *	+--------------------------------------+-------------+
 *	                                       | left last, U |  would be there without them
 *
 * Pages that were fetched and are not used yet take the place of others. Without them, the pages
 * that left memory last, as many as they are, would still be there. So a miss of a page is caused
 * by prefetching if fewer used pages have left since than there are fetched pages unused:
 *
 *	departures since it left  <  U
 *
 * That is the refault distance of mm/workingset.c, held against U and not against the size of a
 * list. Departures of pages that nobody had used do not count, for without prefetching there
 * would have been none. A page that left, came back and left again counts twice, as it does there,
 * so what is told is rather too little.
 *
 * While no fetched page is unused, memory is what it would be without prefetching, and what leaves
 * then would have left. So these departures are not told apart, and a program for which nothing is
 * fetched costs nothing.
 *
 * The last departures are kept in a table of fixed size. With more pages unused than half of it,
 * one page in 2^shift is watched, and stands for that many.
 */
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "pollution.h"

#define POLLUTION_KEPT		(MMPATH_POLLUTION_SETS * MMPATH_POLLUTION_WAYS)
#define POLLUTION_MAX_SHIFT	20

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

/* Did the page leave too early? It is back now. Returns how many pages it stands for. */
static unsigned int pollution_back(struct mmpath_pollution *p, u64 page)
{
	u64 hash = pollution_hash(page);
	struct mmpath_departure *left;
	bool early;

	if (!p->unused || !pollution_watches(p, hash))
		return 0;
	left = pollution_find(p, hash);
	if (!left)
		return 0;
	left->name = 0;
	early = p->clock - left->at < min(p->unused, p->clock - p->since);
	return early << p->shift;
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

	if (!p->unused)
		return;
	p->clock++;
	if (!pollution_watches(p, hash))
		return;
	left = pollution_get(p, hash);
	left->name = pollution_name(hash);
	left->at = p->clock;
}

/**
 * mmpath_pollution_settled() - note that a fetched page is used, or leaves memory unused
 * @p: what prefetching does
 */
void mmpath_pollution_settled(struct mmpath_pollution *p)
{
	if (p->unused && !--p->unused)
		p->since = p->clock;
}

/**
 * mmpath_pollution_fetched() - note that a page is fetched
 * @p: what prefetching does
 * @page: the page
 */
void mmpath_pollution_fetched(struct mmpath_pollution *p, u64 page)
{
	pollution_back(p, page);
	p->unused++;
	while (p->shift < POLLUTION_MAX_SHIFT && p->unused >> p->shift > POLLUTION_KEPT / 2)
		p->shift++;
	while (p->shift && p->unused >> p->shift < POLLUTION_KEPT / 8)
		p->shift--;
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
	return pollution_back(p, page);
}
