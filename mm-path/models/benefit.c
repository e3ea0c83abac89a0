// SPDX-License-Identifier: GPL-2.0
/*
 * Benefit: what is done for a program must save it more than it costs, or stop.
 *
 *	gain	misses that it has saved, less what its CPU and its waits have cost
 *	memory	what it takes, at the price of a page: misses that a page more would have saved
 *		(pollution.c)
 *	learning	CPU of what it needs to know before it can do anything
 *
 * All are measured, and in misses. They are added up over a window, which must be as long as it
 * takes to learn. At its end the sum must not be negative, and in between the loss without learning
 * must not exceed one miss in 32 of the window. What fails rests: for BENEFIT_REST windows, then
 * for twice as long, and so on. So a program that it does not help pays for a part of the windows
 * that gets less and less.
 */
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>

#include "benefit.h"

#define BENEFIT_LOSS	32	/* at most one miss in so many of a window is lost */
#define BENEFIT_REST	4	/* windows of the first rest */
#define BENEFIT_NAPS	4	/* the longest rest is 2^4 times as long */
#define BENEFIT_PAGE_SHIFT	12

/**
 * mmpath_benefit_rests() - tell whether nothing is to be done at an event
 * @b: what was gained
 *
 * Return: true while it rests.
 */
bool mmpath_benefit_rests(struct mmpath_benefit *b)
{
	if (!b->asleep)
		return false;
	b->asleep--;
	return true;
}

/**
 * mmpath_benefit_note() - note an event, and what was gained since the last one
 * @b: what was gained
 * @gain: in 1/256 misses; negative: it has cost more
 * @learning: what it has cost to learn, in 1/256 misses
 * @price: of a page of memory, see struct mmpath_pollution; never falls in a window
 * @bytes: memory that was taken
 */
void mmpath_benefit_note(struct mmpath_benefit *b, s64 gain, u32 learning, u64 price, u64 bytes)
{
	/* the price of the time before is not its */
	if (b->events++)
		gain -= mul_u64_u64_shr(price - b->price, bytes, MMPATH_PRICE_SHIFT +
					BENEFIT_PAGE_SHIFT - MMPATH_MISS_SHIFT);
	b->price = price;
	b->gain += gain;
	b->learning += learning;
}

/**
 * mmpath_benefit_restart() - begin a new window
 * @b: what was gained; forgotten, except for how often it has rested
 *
 * For what has just found that it can do more.
 */
void mmpath_benefit_restart(struct mmpath_benefit *b)
{
	b->gain = 0;
	b->learning = 0;
	b->events = 0;
}

/**
 * mmpath_benefit_fails() - judge what was gained
 * @b: what was gained
 * @window: events of a window
 *
 * Return: true if it rests from now on, because it did not pay.
 */
bool mmpath_benefit_fails(struct mmpath_benefit *b, u32 window)
{
	bool over = b->events >= window, fails;

	fails = b->gain < -(s64)window * MMPATH_MISS / BENEFIT_LOSS ||
		(over && b->gain < (s64)b->learning);
	if (fails) {
		b->asleep = min_t(u64, (u64)window * BENEFIT_REST << b->naps, U32_MAX);
		b->naps = min_t(u8, b->naps + 1, BENEFIT_NAPS);
	} else if (over) {
		b->naps = 0;
	}
	if (fails || over)
		mmpath_benefit_restart(b);
	return fails;
}
