/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Does what was done pay? See benefit.c.
 */
#ifndef _MM_PATH_BENEFIT_H
#define _MM_PATH_BENEFIT_H

#include "model.h"

#define MMPATH_PRICE_SHIFT	16	/* the price of a page is in 1/65536 of a miss */
#define MMPATH_MISS_SHIFT	8	/* gains and costs are in 1/256 of a miss */
#define MMPATH_MISS		(1 << MMPATH_MISS_SHIFT)

/**
 * struct mmpath_benefit - what something has gained, and cost
 * @gain: since the window began, in 1/256 misses
 * @learning: what it has cost to learn in that time
 * @price: of a page of memory, at the last event
 * @events: of the window
 * @asleep: events for which it rests on
 * @naps: how often in a row it has been put to rest
 */
struct mmpath_benefit {
	s64 gain;
	u64 learning, price;
	u32 events, asleep;
	u8 naps;
};

bool mmpath_benefit_rests(struct mmpath_benefit *b);
void mmpath_benefit_note(struct mmpath_benefit *b, s64 gain, u32 learning, u64 price, u64 bytes);
void mmpath_benefit_restart(struct mmpath_benefit *b);
bool mmpath_benefit_fails(struct mmpath_benefit *b, u32 window);

#endif /* _MM_PATH_BENEFIT_H */
