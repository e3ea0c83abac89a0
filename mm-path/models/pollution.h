/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Misses that prefetching causes. See pollution.c.
 */
#ifndef _MM_PATH_POLLUTION_H
#define _MM_PATH_POLLUTION_H

#include "benefit.h"

#define MMPATH_POLLUTION_ORDER	6
#define MMPATH_POLLUTION_SETS	(1U << MMPATH_POLLUTION_ORDER)
#define MMPATH_POLLUTION_WAYS	4U
#define MMPATH_POLLUTION_TIMES	1024U	/* departures of which is known whether the page is back */
#define MMPATH_POLLUTION_BACK	64U

/* A page that has left memory, and at which departure; @name is 0 if there is none */
struct mmpath_departure {
	u32 name, at;
};

/**
 * struct mmpath_pollution - what prefetching does to a memory
 * @clock: departures of watched pages that were used, while prefetching took memory
 * @since: @clock when prefetching took none
 * @unused: pages in memory that were fetched and not used yet
 * @held: bytes that prefetching has to remember what it must
 * @price: misses until now that one page more of memory would have saved, in
 *	1 / 2^MMPATH_PRICE_SHIFT
 * @shift: one page in 2^shift is watched when it leaves
 * @nr_back: number of departures in @back
 * @back: departures of pages that are back, and have pushed out no other page yet
 * @out: bit for each of the last departures: the page is not back, or is in @back
 * @left: the last departures
 */
struct mmpath_pollution {
	u32 clock, since, unused;
	u64 held, price;
	u8 shift, nr_back;
	u32 back[MMPATH_POLLUTION_BACK];
	u64 out[MMPATH_POLLUTION_TIMES / 64];
	struct mmpath_departure left[MMPATH_POLLUTION_SETS][MMPATH_POLLUTION_WAYS];
};

void mmpath_pollution_init(struct mmpath_pollution *p);
void mmpath_pollution_hold(struct mmpath_pollution *p, s64 bytes);
u32 mmpath_pollution_room(const struct mmpath_pollution *p);
void mmpath_pollution_left(struct mmpath_pollution *p, u64 page);
void mmpath_pollution_settled(struct mmpath_pollution *p);
void mmpath_pollution_fetched(struct mmpath_pollution *p, u64 page);
unsigned int mmpath_pollution_missed(struct mmpath_pollution *p, u64 page);

#endif /* _MM_PATH_POLLUTION_H */
