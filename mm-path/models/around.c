// SPDX-License-Identifier: GPL-2.0
/*
 * Read-around: are the pages of a mapped file best read with their neighbours?
 *
 *	around:	the kernel reads 32 pages around each miss
 *	   |  ^		a trial after 32 misses, then after 128, 512, 2048, 8192
 *	   v  |		neighbours are used soon, and foresight hides less than half
 *	alone:	the page is read, and what foresee.c names
 *
 * The kernel's way costs least where neighbours are used: one fault for 16 pages, and where a
 * program reads upwards, readahead goes on by itself. But it hides which pages are used, so
 * nothing can be learnt from its misses: a program that reads downwards misses each 17th page,
 * and seems to have this stride. So a mapping is in the hands of either.
 *
 * While pages are read alone, all events are seen, misses and first uses of pages that were
 * fetched. A test waits for eight events after one: is there a neighbour among them, a page that
 * would have been read around it? After 64 events it is decided how to go on, and after 32 if
 * it is clear that foresight knows nothing. Upwards the kernel reads on, even if foresight hides
 * all: it takes fewer faults.
 *
 * A mapping begins with the kernel. Most are small, and all of them is used. Misses that cost no
 * other page its place are not told here, see prefetch-file.c.
 */
#include <linux/kernel.h>
#include <linux/minmax.h>

#include "around.h"

#define AROUND_PAUSE	32U	/* misses; the first pause */
#define AROUND_PAUSES	4U	/* the longest pause is 4^4 times as long */
#define AROUND_WAIT	8U	/* events, for a neighbour */
#define AROUND_WINDOW	64U	/* events to decide by */
#define AROUND_UPWARDS	56U	/* of these, in a program that reads upwards */
#define AROUND_FEW	4U	/* hits after half of these, if foresight knows nothing */

static struct mmpath_around_region *around_region(struct mmpath_around *a, u64 first)
{
	u64 i = mmpath_rank(first) >> (MMPATH_VPN_BITS - MMPATH_AROUND_ORDER);
	struct mmpath_around_region *r = &a->region[i];

	if (r->first != first)
		*r = (struct mmpath_around_region){ .first = first, .pause = AROUND_PAUSE };
	return r;
}

static void around_window(struct mmpath_around_region *r)
{
	r->events = 0;
	r->hits = 0;
	r->upwards = 0;
	r->tried = 0;
	r->right = 0;
	r->left = 0;
}

static void around_test(struct mmpath_around_region *r, u64 page)
{
	if (r->left && page != r->tested) {
		r->left--;
		if (page - (r->tested - MMPATH_AROUND_PAGES / 2) < MMPATH_AROUND_PAGES) {
			r->right++;
			r->left = 0;
		}
	}
	if (r->left)
		return;
	r->tested = page;
	r->left = AROUND_WAIT;
	r->tried++;
}

static void around_decide(struct mmpath_around_region *r)
{
	bool near = 2 * r->right >= r->tried, hidden = 2 * r->hits >= r->events;

	if (r->events < AROUND_WINDOW && (!near || r->hits >= AROUND_FEW))
		return;
	if (r->upwards >= AROUND_UPWARDS || (near && !hidden)) {
		r->pauses = min(r->pauses + 1U, AROUND_PAUSES);
		r->pause = AROUND_PAUSE << 2 * r->pauses;
		r->alone = false;
	} else {
		r->pauses = 0;
	}
	around_window(r);
}

/**
 * mmpath_around() - note a miss, or the first use of a page that was fetched
 * @a: what is known of the program's mappings of files
 * @first: first page of the mapping, not 0
 * @page: the page
 * @miss: it has to be read
 *
 * Return: whether the mapping is the kernel's, which reads around a miss.
 */
bool mmpath_around(struct mmpath_around *a, u64 first, u64 page, bool miss)
{
	struct mmpath_around_region *r = around_region(a, first);

	if (!r->alone) {
		if (!miss || --r->pause)
			return true;
		r->alone = true;
		r->last = 0;
		around_window(r);
	}
	around_test(r, page);
	r->events++;
	r->hits += !miss;
	r->upwards += r->last && page - r->last - 1 < 2;
	r->last = page;
	if (r->events == AROUND_WINDOW / 2 || r->events == AROUND_WINDOW)
		around_decide(r);
	return !r->alone;
}
