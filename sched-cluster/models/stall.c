// SPDX-License-Identifier: GPL-2.0
/*
 * Where the cycles went (thesis 2.5): each cycle is one in which instructions completed, or
 * is charged to the cause that kept the oldest instruction waiting.
 *
 *	cycles = completion + stall 1 + stall 2 + ...
 *
 * The PMU counts the stalls of a cause. Those for data it mostly cannot tell by where the
 * data came from, only how often each source was used. A source m (2.5.2) has
 *
 *	latency(m) * frequency(m)
 *
 * cycles if no two misses overlap. They do on most CPUs, so only the proportions are taken
 * from there, and the sum is the stall that was counted.
 *
 * Estimates differ from the truth, so stalls may add up to more than all cycles. Then all
 * are made smaller in proportion. The parts add up to the cycles, always.
 */
#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/math.h>
#include <linux/string.h>
#include "counters.h"

/* The slice of the last pieces is over. */
static void hpc_window_end_slice(struct hpc_window *w)
{
	u64 events = w->events;
	unsigned int n;

	if (!events)
		return;
	for (n = 0; events; events &= events - 1, n++)
		if (w->part[n].cycles)
			hpc_count_add(&w->event[__ffs64(events)], w->part[n].count,
				      w->part[n].cycles);
	memset(w->part, 0, sizeof(w->part));
	w->events = 0;
	w->slices++;
}

/**
 * hpc_window_add - add a piece
 * @w: the window
 * @slice: in which it is: any number that the next slice does not have
 * @events: of the group that had the counters, at most HPC_AT_ONCE of them, cycles among them
 * @seen: which of these counted all the time, a bit for each of @count; cycles did
 * @count: events, in the order of their numbers; cycles first, and not 0
 *
 * A program may be in a slice many times for a moment. What was counted then is alike, and of one
 * group. So it is one observation.
 */
void hpc_window_add(struct hpc_window *w, u32 slice, u64 events, u32 seen, const u64 *count)
{
	unsigned int n;

	if (slice != w->slice || events != w->events)
		hpc_window_end_slice(w);
	w->slice = slice;
	w->events = events;
	w->cycles += count[0];
	for (n = 0; n < HPC_AT_ONCE && seen >> n; n++) {
		if (!(seen >> n & 1))
			continue;
		w->part[n].count += count[n];
		w->part[n].cycles += count[0];
	}
}

static bool hpc_window_lacks(const struct hpc_window *w, const struct hpc_set *set)
{
	unsigned int i;

	for (i = 0; i < set->nr; i++)
		if (w->event[i].slices < HPC_LEAST)
			return true;
	return false;
}

/**
 * hpc_window_due - is there enough data to close a window?
 * @w: the window
 * @set: the events
 *
 * Return: true if there is, or if there will not be: counters may belong to others.
 */
bool hpc_window_due(const struct hpc_window *w, const struct hpc_set *set)
{
	return w->slices >= HPC_LEAST &&
	       (w->slices >= set->longest || !hpc_window_lacks(w, set));
}

/* Estimate all events. Return: those with too little data, a bit for each */
static u64 hpc_window_estimate(struct hpc_window *w, const struct hpc_set *set,
			       struct hpc_totals *t)
{
	struct hpc_estimate *e = w->estimate;
	struct hpc_total *total;
	unsigned int i;
	u64 lacks = 0;

	for (i = 0; i < set->nr; i++) {
		total = &t->event[i];
		if (!hpc_estimate(&w->event[i], w->cycles, &e[i])) {
			lacks |= 1ULL << i;
			continue;
		}
		total->count = hpc_add(total->count, e[i].value);
		hpc_var_add(&total->count_var, e[i].var);
		total->cycles += w->cycles;
		total->counted += w->event[i].cycles;
	}
	return lacks;
}

static u64 hpc_bits_of(const struct hpc_set *set, enum hpc_role role)
{
	unsigned int i;
	u64 bits = 0;

	for (i = 0; i < set->nr; i++)
		if (set->role[i] == role)
			bits |= 1ULL << i;
	return bits;
}

static bool hpc_is_source(const struct hpc_set *set, unsigned int i, unsigned int of)
{
	return set->role[i] == HPC_SOURCE && set->of[i] == of;
}

/* What its accesses would take if they did not overlap */
static u64 hpc_naive(const struct hpc_set *set, const struct hpc_estimate *e, unsigned int i)
{
	return hpc_mul_div(e[i].value, set->latency[i], 1);
}

/* The sources of stall @of have @cycles, in proportion to latency * frequency. */
static void hpc_refine(const struct hpc_set *set, const struct hpc_estimate *e, unsigned int of,
		       u64 cycles, struct hpc_totals *t)
{
	u64 part, each, left = cycles, sum = 0;
	unsigned int i;

	for (i = 0; i < set->nr; i++)
		if (hpc_is_source(set, i, of))
			sum = hpc_add(sum, hpc_naive(set, e, i));
	for (i = 0; i < set->nr && sum; i++) {
		if (!hpc_is_source(set, i, of))
			continue;
		/* a PMU that lies may make the sum saturate */
		part = min(left, hpc_mul_div(hpc_naive(set, e, i), cycles, sum));
		left -= part;
		t->event[i].stall += part;
		/* the standard error is scaled as the number is: by cycles for an access */
		each = hpc_mul_div(set->latency[i], cycles, sum);
		hpc_var_add(&t->event[i].stall_var, hpc_mul_div(e[i].var, each * each, 1));
	}
}

/* Divide the cycles of a window. No stall lacks data. */
static void hpc_break_down(const struct hpc_set *set, const struct hpc_estimate *e, u64 cycles,
			   bool refine, struct hpc_totals *t)
{
	u64 sum = 0, part, left = cycles;
	struct hpc_total *total;
	unsigned int i;

	for (i = 0; i < set->nr; i++)
		if (set->role[i] == HPC_STALL)
			sum = hpc_add(sum, e[i].value);
	for (i = 0; i < set->nr; i++) {
		if (set->role[i] != HPC_STALL)
			continue;
		total = &t->event[i];
		part = sum > cycles ? hpc_mul_div(e[i].value, cycles, sum) : e[i].value;
		/* as above */
		part = min(left, part);
		left -= part;
		total->stall += part;
		hpc_var_add(&total->stall_var, e[i].var);
		hpc_var_add(&t->completion_var, e[i].var);
		if (refine)
			hpc_refine(set, e, i, part, t);
	}
	t->completion += left;
}

/**
 * hpc_window_close - add a window to the totals, and begin another one (thesis 2.5)
 * @w: the window
 * @set: the events
 * @t: the totals
 *
 * Where a source has too little data no stall of the window is refined, and the sources of a
 * stall then add up to less than the stall.
 */
void hpc_window_close(struct hpc_window *w, const struct hpc_set *set, struct hpc_totals *t)
{
	bool refine;
	u64 lacks;

	hpc_window_end_slice(w);
	lacks = hpc_window_estimate(w, set, t);
	refine = !(lacks & hpc_bits_of(set, HPC_SOURCE));
	t->cycles += w->cycles;
	if (lacks & hpc_bits_of(set, HPC_STALL))
		t->unknown += w->cycles;
	else
		hpc_break_down(set, w->estimate, w->cycles, refine, t);
	memset(w, 0, sizeof(*w));
}
