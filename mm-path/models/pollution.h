/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Misses that prefetching causes. See pollution.c.
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
 * @clock: departures of pages that were used, while others were unused
 * @since: @clock when no page was unused
 * @unused: pages in memory that were fetched and not used yet
 * @shift: one page in 2^shift is watched when it leaves
 * @left: the last departures
 */
struct mmpath_pollution {
	u32 clock, since, unused;
	u8 shift;
	struct mmpath_departure left[MMPATH_POLLUTION_SETS][MMPATH_POLLUTION_WAYS];
};

void mmpath_pollution_init(struct mmpath_pollution *p);
void mmpath_pollution_left(struct mmpath_pollution *p, u64 page);
void mmpath_pollution_settled(struct mmpath_pollution *p);
void mmpath_pollution_fetched(struct mmpath_pollution *p, u64 page);
unsigned int mmpath_pollution_missed(struct mmpath_pollution *p, u64 page);

#endif /* _MM_PATH_POLLUTION_H */
