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
 * struct mmpath_around_region - what is known of a mapping
 * @first: its first page; 0: no mapping
 * @last: page of the last event; 0: none yet
 * @tested: page whose neighbours are waited for
 * @pause: misses until the next trial
 * @alone: pages are read without their neighbours
 * @pauses: how often in a row a trial was in vain
 * @left: events that the test still waits for; 0: none is under way
 * @events: that were seen since the last decision
 * @hits: of these, first uses of pages that were fetched
 * @upwards: of these, events one or two pages above the one before
 * @tried: tests
 * @right: tests after which a neighbour was used
 */
struct mmpath_around_region {
	u64 first, last, tested;
	u16 pause;
	bool alone;
	u8 pauses, left, events, hits, upwards, tried, right;
};

struct mmpath_around {
	struct mmpath_around_region region[MMPATH_AROUND_REGIONS];
};

bool mmpath_around(struct mmpath_around *a, u64 first, u64 page, bool miss);

#endif /* _MM_PATH_AROUND_H */
