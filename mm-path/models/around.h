/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Are a file's pages best read with their neighbours? See around.c.
 */
#ifndef _MM_PATH_AROUND_H
#define _MM_PATH_AROUND_H

#include "model.h"

#define MMPATH_AROUND_ORDER	5
#define MMPATH_AROUND_REGIONS	(1U << MMPATH_AROUND_ORDER)
#define MMPATH_AROUND_PAGES	32U	/* that the kernel reads, half of them before a miss */

/**
 * struct mmpath_around_event - a miss, or the first use of a page that was read ahead
 * @first: first page of the mapping, not 0
 * @page: the page
 * @size: pages of the mapping that may be in memory
 * @worked: CPU time that the program has worked until now, ns
 * @miss: the page has to be read
 */
struct mmpath_around_event {
	u64 first, page, size, worked;
	bool miss;
};

/**
 * struct mmpath_around_region - what is known of a mapping
 * @first: its first page; 0: no mapping
 * @last: page of the last event; 0: none yet
 * @tested: page whose neighbours are waited for
 * @alone: pages are read without their neighbours
 * @gained: the last trial has, what it has left to the kernel aside
 * @pauses: one more after a trial that has lost, one less after one that has gained
 * @sure: times that the kernel was measured again while reading alone gained, since it last lost;
 *	and once more for each time that told nothing new
 * @left: events that the test still waits for; 0: none is under way
 * @events: that were seen since the last decision
 * @hits: of these, first uses of pages that were fetched
 * @upwards: of these, events one or two pages above the one before
 * @tried: tests
 * @right: tests after which a neighbour was used
 * @skip: misses until the kernel is measured
 * @skipped: what @skip was last
 * @misses: those since then, or since pages are read alone
 * @pause: misses of the kernel's by which it is measured, until the next trial; 0: none was yet
 * @worked: CPU time that the program had worked at the last event, ns
 * @between: such time between two events of the kernel's, in the mean, ns
 * @took: what the fault of this event has taken, as far as it counts, ns
 * @work: CPU time that the program has worked in that pause, ns
 * @cost: what misses have taken in it, ns
 * @price: what they have taken for 65536 ns of such time, in the last pause that is over, ns
 * @bound: more than this must not be lost in a row, ns
 * @stake: more that may be lost until reading alone gains again, ns
 * @regret: what reading alone has taken more than the kernel would have, ns; at least -@bound
 * @lost: the same of the whole trial, and of what it has left to the kernel
 */
struct mmpath_around_region {
	u64 first, last, tested;
	bool alone, gained;
	u8 pauses, sure, left, events, hits, upwards, tried, right;
	u32 skip, skipped, misses, pause;
	u64 worked, between, took, work, cost, price;
	s64 bound, stake, regret, lost;
};

struct mmpath_around {
	struct mmpath_around_region region[MMPATH_AROUND_REGIONS];
};

bool mmpath_around(struct mmpath_around *a, const struct mmpath_around_event *e);
void mmpath_around_took(struct mmpath_around *a, u64 first, u64 ns);

#endif /* _MM_PATH_AROUND_H */
