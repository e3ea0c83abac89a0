/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Does prefetching hide more misses than it causes? See pollution.c.
 */
#ifndef _MM_PATH_POLLUTION_H
#define _MM_PATH_POLLUTION_H

#include "model.h"

#define MMPATH_POLLUTION_ORDER	6
#define MMPATH_POLLUTION_SETS	(1U << MMPATH_POLLUTION_ORDER)
#define MMPATH_POLLUTION_WAYS	4U

/* A page that has left memory, and at which departure; @name is 0 if there is none */
struct mmpath_departure {
	u32 name, at;
};

/**
 * struct mmpath_pollution - what prefetching does to a memory
 * @clock: departures of pages that were used
 * @unused: pages in memory that were fetched and not used yet
 * @shift: one page in 2^shift is watched when it leaves
 * @percent: of memory, the most for pages that are not used yet; 0: nothing is fetched
 * @naps: how often in a row that was of no use
 * @asleep: misses until it is tried again
 * @hits: fetched pages that were used, since the last verdict
 * @caused: pages that had left too early, and were missed or fetched, since then
 * @wasted: fetched pages that left unused, since then
 * @left: the last departures
 */
struct mmpath_pollution {
	u32 clock, unused;
	u8 shift, percent, naps;
	u32 asleep;
	u32 hits, caused, wasted;
	struct mmpath_departure left[MMPATH_POLLUTION_SETS][MMPATH_POLLUTION_WAYS];
};

void mmpath_pollution_init(struct mmpath_pollution *p);
void mmpath_pollution_left(struct mmpath_pollution *p, u64 page);
void mmpath_pollution_wasted(struct mmpath_pollution *p);
void mmpath_pollution_fetched(struct mmpath_pollution *p, u64 page);
void mmpath_pollution_hit(struct mmpath_pollution *p, unsigned long memory);
unsigned int mmpath_pollution_missed(struct mmpath_pollution *p, u64 page, unsigned long memory);

#endif /* _MM_PATH_POLLUTION_H */
