// SPDX-License-Identifier: GPL-2.0
/*
 * Counters that are shared out over events (thesis 2.4): groups, their order, estimates.
 *
 * A program whose loop takes as long as a round would always show a group the same part of
 * itself. So each round has a random order of its own.
 *
 * An event is estimated from the pieces in which it was counted, as count / cycles of them
 * times the cycles of all. How far that may be off is seen from how far single pieces differ
 * from the average (a ratio estimate, Cochran 1977, 6.4). Groups that count all the time
 * have no error, so the variance falls with the share that was not counted.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/math.h>
#include <linux/string.h>
#include "counters.h"

#define HPC_TRIES	16	/* orders in which packing is tried */
#define HPC_FAR		((1ULL << 31) - 1)

/* xorshift64*, the upper half of which is random enough */
static u32 hpc_random(u64 *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return (*state * 0x2545f4914f6cdd1dULL) >> 32;
}

static void hpc_shuffle(u8 *v, unsigned int nr, u64 *random)
{
	unsigned int i, j;

	for (i = nr; i > 1; i--) {
		j = (u64)hpc_random(random) * i >> 32;
		swap(v[i - 1], v[j]);
	}
}

/* Groups */

/* Put an event into the first group that has room. */
static int hpc_put(struct hpc_groups *g, u64 bit, bool (*fits)(void *arg, u64 set), void *arg)
{
	unsigned int k;

	for (k = 0; k < g->nr; k++) {
		if (fits(arg, g->set[k] | bit)) {
			g->set[k] |= bit;
			return 0;
		}
	}
	if (!fits(arg, bit | 1)) {
		g->left |= bit;
		return 0;
	}
	if (k == HPC_GROUPS)
		return -E2BIG;
	g->set[k] = bit | 1;
	g->nr++;
	return 0;
}

static int hpc_first_fit(struct hpc_groups *g, const u8 *order, unsigned int nr,
			 bool (*fits)(void *arg, u64 set), void *arg)
{
	unsigned int i;
	int ret = 0;

	memset(g, 0, sizeof(*g));
	for (i = 0; i < nr && !ret; i++)
		ret = hpc_put(g, 1ULL << order[i], fits, arg);
	return ret;
}

/**
 * hpc_pack - pack events into as few groups as the counters allow (thesis 2.4)
 * @g: the groups
 * @events: number of events, 1 to HPC_EVENTS
 * @fits: can these events count at the same time?
 * @arg: for @fits
 * @seed: of random numbers
 *
 * What counters can count together, only the PMU knows. So it is asked, and several orders
 * are tried: events that fit few counters need to be placed before others, and which ones
 * those are is not known either.
 *
 * Return: 0, also when events are left over; -E2BIG: more than HPC_GROUPS groups
 */
int hpc_pack(struct hpc_groups *g, unsigned int events,
	     bool (*fits)(void *arg, u64 set), void *arg, u64 seed)
{
	u64 random = seed | 1;
	struct hpc_groups one;
	u8 order[HPC_EVENTS];
	int ret = -E2BIG;
	unsigned int i;

	for (i = 0; i < events; i++)
		order[i] = i + 1;
	for (i = 0; i < HPC_TRIES; i++) {
		if (!hpc_first_fit(&one, order, events - 1, fits, arg) &&
		    (ret || one.nr < g->nr)) {
			*g = one;
			ret = 0;
		}
		hpc_shuffle(order, events - 1, &random);
	}
	if (!ret && !g->nr && fits(arg, 1))
		g->set[g->nr++] = 1;
	return ret;
}

/* Order */

/**
 * hpc_order_init - begin with a round
 * @o: the order
 * @weight: slices of each group in a round
 * @groups: number of groups
 * @seed: of random numbers
 *
 * Return: 0, or -EINVAL: no slices, or more than HPC_SLOTS
 */
int hpc_order_init(struct hpc_order *o, const u8 *weight, unsigned int groups, u64 seed)
{
	unsigned int g, nr = 0, i;

	for (g = 0; g < groups; g++)
		nr += weight[g];
	if (!nr || nr > HPC_SLOTS)
		return -EINVAL;
	memset(o, 0, sizeof(*o));
	for (g = 0; g < groups; g++)
		for (i = 0; i < weight[g]; i++)
			o->slot[o->nr++] = g;
	o->random = seed | 1;
	return 0;
}

/**
 * hpc_order_next - the group that has the next slice (thesis 2.4)
 * @o: the order
 *
 * In each round a group has as many slices as it weighs, in an order that is random anew.
 *
 * Return: number of the group
 */
unsigned int hpc_order_next(struct hpc_order *o)
{
	unsigned int at = o->at;

	if (!at)
		hpc_shuffle(o->slot, o->nr, &o->random);
	o->at = at + 1 < o->nr ? at + 1 : 0;
	return o->slot[at];
}

/* Estimates */

/* By how far a slice differs from what the slices before it let expect, squared (Welford) */
static u64 hpc_spread(const struct hpc_count *c, u64 count, u64 cycles)
{
	u64 expected = hpc_mul_div(c->count, cycles, c->cycles);
	u64 far = count > expected ? count - expected : expected - count;

	far = min(far, HPC_FAR);
	return hpc_mul_div(far * far, c->slices, c->slices + 1);
}

/**
 * hpc_count_add - add a slice
 * @c: the event
 * @count: number of events in it
 * @cycles: cycles in which they were counted, not 0
 */
void hpc_count_add(struct hpc_count *c, u64 count, u64 cycles)
{
	if (c->slices)
		c->spread = hpc_add(c->spread, hpc_spread(c, count, cycles));
	c->count += count;
	c->cycles += cycles;
	c->slices++;
}

/**
 * hpc_estimate - number of events in all cycles, from those that were counted
 * @c: what was counted
 * @cycles: all cycles, those of @c among them
 * @e: the estimate
 *
 * Return: true, or false: there is too little data
 */
bool hpc_estimate(const struct hpc_count *c, u64 cycles, struct hpc_estimate *e)
{
	u64 var, unseen = cycles - min(cycles, c->cycles);

	if (c->slices < HPC_LEAST || !c->cycles)
		return false;
	e->value = hpc_mul_div(c->count, cycles, c->cycles);
	/* of the sum of the slices, then of what it is scaled to */
	var = hpc_mul_div(c->spread, c->slices, c->slices - 1);
	var = hpc_mul_div(var, cycles, c->cycles);
	e->var = hpc_mul_div(var, unseen, c->cycles);
	return true;
}

/**
 * hpc_var_add - add a variance
 * @v: the sum
 * @var: what to add
 */
void hpc_var_add(struct hpc_var *v, u64 var)
{
	u32 low = v->low + var % HPC_VAR;

	v->high = hpc_add(v->high, var / HPC_VAR + low / HPC_VAR);
	v->low = low % HPC_VAR;
}

/**
 * hpc_error - how far an estimate may be off: two standard errors
 * @v: its variance
 *
 * Return: number of events
 */
u64 hpc_error(const struct hpc_var *v)
{
	if (v->high < U64_MAX / HPC_VAR / 4 - 1)
		return int_sqrt64((v->high * HPC_VAR + v->low) * 4);
	return (u64)int_sqrt64(v->high) * 64;
}
