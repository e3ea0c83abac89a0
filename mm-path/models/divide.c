// SPDX-License-Identifier: GPL-2.0
/*
 * Who gets how much memory? (thesis 4.4)
 *
 * Memory is divided in equal steps. Each of those who share it has a curve: misses of
 * late with no step, one, two...
 *
 *	divide_benefit(k) = lambda(has) - lambda(has + k)
 *	divide_penalty(k) = lambda(has - k) - lambda(has)
 *
 * A plan says how many steps each is to have:
 *
 * - throughput: the least misses of all together. As in the thesis, steps go from the one
 *   with the least penalty to the one with the highest benefit, as long as that is a gain.
 *   A curve may have a cliff, and be flat before it (a loop that does not fit under LRU):
 *   with one step more nothing is gained there, and all with fifty. So the exchange that
 *   gains most is looked for among those of any size. With two that is the best plan
 *   there is; with more it is one from which no exchange of two is a gain.
 * - fair: the same miss rate for all (figure 4.6), as low as it can be. The need of each
 *   falls as the rate rises; the lowest rate whose needs fit is found by bisection. With
 *   weights, one of twice the weight has half the rate.
 * - sla: no rate above what was agreed. What is left goes where it helps most. If not
 *   all can be kept, those of less weight are failed, and of the same weight those that
 *   need most, for then the fewest are; they share what is left.
 *
 * A miss rate is misses per second of the program's own running time: of the wall's, one
 * that waits for the disk all day would have a low one.
 *
 * From where things stand to the plan it goes in bounded moves, and only if those who get
 * more gain more than what changes from epoch to epoch anyway. What nobody has is had at once.
 */
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "model.h"

#define GAIN_SHIFT	4	/* 1/16 less misses is worth it, */
#define LEAST_GAIN	16	/* if it is so many of weight 100 */
#define EXCHANGES	2	/* for a plan, times how many share */
#define US_PER_SEC	1000000ULL

static u64 divide_weighted(const struct mmpath_share *s, u32 steps)
{
	return s->lambda[steps] * s->weight;
}

/* Per second of running time; so many that it cannot be told are as bad as any. */
static u64 divide_per_second(const struct mmpath_share *s, u64 misses)
{
	return div64_u64(min(misses, U64_MAX / US_PER_SEC) * US_PER_SEC, max(s->cpu_us, 1ULL));
}

static u64 divide_rate_of(const struct mmpath_share *s, u32 steps)
{
	return divide_per_second(s, s->lambda[steps]);
}

/* Who weighs twice as much is as badly off with half of them. */
static u64 divide_fair_rate(const struct mmpath_share *s, u32 steps)
{
	return divide_per_second(s, divide_weighted(s, steps));
}

/**
 * mmpath_share_rate() - return the miss rate that a share's curve promises
 * @s: the share
 * @steps: with so much memory
 *
 * Return: misses per second of the program's running time.
 */
u64 mmpath_share_rate(const struct mmpath_share *s, u32 steps)
{
	return divide_rate_of(s, min(steps, MMPATH_STEPS));
}

/**
 * mmpath_share_hull() - turn the curve of LRU into that of a better policy
 * @s: the share
 *
 * LIRS keeps a part of a loop in memory, and of two loops the one that fits: instead of
 * falling off a cliff its misses go down in proportion to memory, along the convex hull
 * of LRU's (Beckmann and Sanchez, HPCA'15).
 */
void mmpath_share_hull(struct mmpath_share *s)
{
	u32 from, to, best, k;
	u64 drop, most;

	for (from = 0; from < MMPATH_STEPS; from = best) {
		best = from + 1;
		most = s->lambda[from] - s->lambda[best];
		for (to = from + 2; to <= MMPATH_STEPS; to++) {
			drop = s->lambda[from] - s->lambda[to];
			if (drop * (best - from) >= most * (to - from)) {
				best = to;
				most = drop;
			}
		}
		for (k = from + 1; k < best; k++)
			s->lambda[k] = s->lambda[from] -
				       mul_u64_u32_div(most, k - from, best - from);
	}
}

/**
 * mmpath_gives() - tell whether one that has more than its target is among those to take from
 * @mine: pages that it has above its target
 * @most: the same of who has most
 * @takes: pages that may be taken from it at once
 *
 * With half of the most it is close enough. But reclaim that is at its last priorities
 * takes a quarter of a cgroup, or all of it (MGLRU does not stop when it has what it
 * needs), and who is at its target but for a few pages would be far below it then.
 */
bool mmpath_gives(long mine, long most, long takes)
{
	return mine == most || (mine * 2 >= most && mine >= takes);
}

/**
 * mmpath_share_window() - update the curve of a share with the misses of an epoch
 * @s: the share
 * @window: MMPATH_STEPS + 1 figures to remember that by; 0 in the beginning
 * @m: the curve, of which the last epoch is added to the window
 * @step: pages of a step
 * @other: pages that it needs beside those of the curve
 */
void mmpath_share_window(struct mmpath_share *s, u64 *window, const struct mmpath_mrc *m,
			 u64 step, u64 other)
{
	struct mmpath_mrc_walk walk;
	u64 pages = 0, misses, least;
	u32 k;

	mmpath_mrc_walk(&walk, m, MMPATH_MRC_EPOCH);
	misses = mmpath_mrc_step(&walk);
	least = misses;
	for (k = 0; k <= MMPATH_STEPS; k++) {
		while (misses && pages + m->group_pages + other <= k * step) {
			misses = mmpath_mrc_step(&walk);
			pages += m->group_pages;
		}
		/* an estimate (see mrc.c) may go up by a few */
		least = min(least, misses);
		window[k] = mmpath_decay(window[k], least);
		s->lambda[k] = window[k] >> MMPATH_WINDOW_FRACTION;
	}
}

/* All have what they must, nobody more than it may, and together they have @total. */

static u32 divide_sum_of(struct mmpath_share *const *shares, unsigned int nr,
			 u32 (*of)(const struct mmpath_share *s))
{
	unsigned int i;
	u32 sum = 0;

	for (i = 0; i < nr; i++)
		sum += of(shares[i]);
	return sum;
}

static u32 divide_least_of(const struct mmpath_share *s)
{
	return s->least;
}

static u32 divide_fixed_of(const struct mmpath_share *s)
{
	return s->fixed;
}

static u32 divide_floor_of(const struct mmpath_share *s)
{
	return s->floor;
}

static u32 divide_ceiling_of(const struct mmpath_share *s)
{
	return s->ceiling;
}

static u32 divide_plan_of(const struct mmpath_share *s)
{
	return s->plan;
}

static u64 divide_benefit(const struct mmpath_share *s, u32 k)
{
	return divide_weighted(s, s->plan) - divide_weighted(s, s->plan + k);
}

static u64 divide_penalty(const struct mmpath_share *s, u32 k)
{
	return divide_weighted(s, s->plan - k) - divide_weighted(s, s->plan);
}

/* Who gains most from a step more; on the flat, who has least. NULL: nobody takes one. */
static struct mmpath_share *divide_neediest(struct mmpath_share *const *shares, unsigned int nr)
{
	struct mmpath_share *best = NULL, *s;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		s = shares[i];
		if (s->plan >= s->ceiling)
			continue;
		if (!best || divide_benefit(s, 1) > divide_benefit(best, 1) ||
		    (divide_benefit(s, 1) == divide_benefit(best, 1) && s->plan < best->plan))
			best = s;
	}
	return best;
}

/* Who loses least by a step less; on the flat, who has most. NULL: nobody gives one. */
static struct mmpath_share *divide_richest(struct mmpath_share *const *shares, unsigned int nr)
{
	struct mmpath_share *best = NULL, *s;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		s = shares[i];
		if (s->plan <= s->floor)
			continue;
		if (!best || divide_penalty(s, 1) < divide_penalty(best, 1) ||
		    (divide_penalty(s, 1) == divide_penalty(best, 1) && s->plan > best->plan))
			best = s;
	}
	return best;
}

static void divide_fill_up(struct mmpath_share *const *shares, unsigned int nr, u32 total)
{
	u32 sum = divide_sum_of(shares, nr, divide_plan_of);
	struct mmpath_share *s;

	for (; sum < total; sum++) {
		s = divide_neediest(shares, nr);
		if (!s)
			return;
		s->plan++;
	}
	for (; sum > total; sum--) {
		s = divide_richest(shares, nr);
		if (!s)
			return;
		s->plan--;
	}
}

/* What one has of @all when there is @room for it: less in proportion, if it is not enough */
static u32 divide_part(u32 of, u32 all, u32 room)
{
	return all > room ? mul_u64_u32_div(of, room, all) : of;
}

/* Bounds that cannot all be kept are lowered, those that somebody wishes for at first. */
static void divide_fit_bounds(struct mmpath_share *const *shares, unsigned int nr, u32 total)
{
	u32 least = divide_sum_of(shares, nr, divide_least_of);
	u32 fixed = divide_sum_of(shares, nr, divide_fixed_of);
	struct mmpath_share *s;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		s = shares[i];
		s->floor = divide_part(s->fixed, fixed, total) +
			   divide_part(s->least - s->fixed, least - fixed,
				       total - min(fixed, total));
		s->ceiling = min(s->most, total);
		s->floor = min(s->floor, s->ceiling);
	}
}

static void divide_stay(struct mmpath_share *const *shares, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		shares[i]->plan = clamp(shares[i]->steps, shares[i]->floor, shares[i]->ceiling);
}

/* Throughput */

struct divide_exchange {
	struct mmpath_share *from, *to;
	u32 steps;
	u64 gain;
};

static struct mmpath_share *divide_giver(struct mmpath_share *const *shares, unsigned int nr, u32 k,
					 const struct mmpath_share *except)
{
	struct mmpath_share *best = NULL, *s;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		s = shares[i];
		if (s != except && s->plan >= s->floor + k &&
		    (!best || divide_penalty(s, k) < divide_penalty(best, k)))
			best = s;
	}
	return best;
}

static struct mmpath_share *divide_taker(struct mmpath_share *const *shares, unsigned int nr, u32 k,
					 const struct mmpath_share *except)
{
	struct mmpath_share *best = NULL, *s;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		s = shares[i];
		if (s != except && s->plan + k <= s->ceiling &&
		    (!best || divide_benefit(s, k) > divide_benefit(best, k)))
			best = s;
	}
	return best;
}

static void divide_consider(struct divide_exchange *best, struct mmpath_share *from,
			    struct mmpath_share *to, u32 k)
{
	if (!from || !to || divide_benefit(to, k) <= divide_penalty(from, k) + best->gain)
		return;
	best->from = from;
	best->to = to;
	best->steps = k;
	best->gain = divide_benefit(to, k) - divide_penalty(from, k);
}

/* The best giver and the best taker of @k steps; if they are one, the second best of either. */
static void divide_try_exchange(struct mmpath_share *const *shares, unsigned int nr, u32 k,
				struct divide_exchange *best)
{
	struct mmpath_share *from = divide_giver(shares, nr, k, NULL);
	struct mmpath_share *to = divide_taker(shares, nr, k, NULL);

	divide_consider(best, from, divide_taker(shares, nr, k, from), k);
	divide_consider(best, divide_giver(shares, nr, k, to), to, k);
}

static void divide_plan_throughput(struct mmpath_share *const *shares, unsigned int nr, u32 total)
{
	unsigned int times = EXCHANGES * nr;
	struct divide_exchange best;
	u32 k;

	divide_fill_up(shares, nr, total);
	while (times--) {
		best = (struct divide_exchange){ };
		for (k = 1; k <= total; k++)
			divide_try_exchange(shares, nr, k, &best);
		if (!best.gain)
			return;
		best.from->plan -= best.steps;
		best.to->plan += best.steps;
	}
}

/* Rates */

/* The least memory with which the rate is @most; all it may have, if there is none. */
static u32 divide_need(const struct mmpath_share *s, u64 most,
		       u64 (*rate)(const struct mmpath_share *s, u32 steps))
{
	u32 low = s->floor, high = s->ceiling, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (rate(s, mid) > most)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static bool divide_plan_rate(struct mmpath_share *const *shares, unsigned int nr, u32 total,
			     u64 rate)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		shares[i]->plan = divide_need(shares[i], rate, divide_fair_rate);
	return divide_sum_of(shares, nr, divide_plan_of) <= total;
}

static u64 divide_highest_rate(struct mmpath_share *const *shares, unsigned int nr,
			       u32 (*of)(const struct mmpath_share *s))
{
	u64 highest = 0;
	unsigned int i;

	for (i = 0; i < nr; i++)
		highest = max(highest, divide_fair_rate(shares[i], of(shares[i])));
	return highest;
}

/* What the rate leaves over goes to who has the highest, even if one step is no help. */
static void divide_fill_up_fairly(struct mmpath_share *const *shares, unsigned int nr, u32 total)
{
	u32 sum = divide_sum_of(shares, nr, divide_plan_of);
	struct mmpath_share *best, *s;
	u64 rate, most;
	unsigned int i;

	for (; sum < total; sum++) {
		best = NULL;
		for (i = 0; i < nr; i++) {
			s = shares[i];
			rate = divide_fair_rate(s, s->plan);
			most = best ? divide_fair_rate(best, best->plan) : 0;
			if (s->plan < s->ceiling &&
			    (!best || rate > most || (rate == most && s->plan < best->plan)))
				best = s;
		}
		if (!best)
			return;
		best->plan++;
	}
}

static void divide_plan_fair(struct mmpath_share *const *shares, unsigned int nr, u32 total)
{
	u64 low = 0, high = divide_highest_rate(shares, nr, divide_floor_of), mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (divide_plan_rate(shares, nr, total, mid))
			high = mid;
		else
			low = mid + 1;
	}
	divide_plan_rate(shares, nr, total, low);
	divide_fill_up_fairly(shares, nr, total);
}

/* Agreements */

static bool divide_keeps(const struct mmpath_share *s, u32 steps)
{
	return divide_rate_of(s, steps) <= s->sla;
}

/* Is @a to be served before @b? */
static bool divide_before(const struct mmpath_share *a, const struct mmpath_share *b)
{
	if (a->weight != b->weight)
		return a->weight > b->weight;
	return divide_need(a, a->sla, divide_rate_of) < divide_need(b, b->sla, divide_rate_of);
}

static struct mmpath_share *divide_next_unserved(struct mmpath_share *const *shares,
						 unsigned int nr)
{
	struct mmpath_share *best = NULL;
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (!shares[i]->served && (!best || divide_before(shares[i], best)))
			best = shares[i];
	return best;
}

static void divide_plan_sla(struct mmpath_share *const *shares, unsigned int nr, u32 total)
{
	u32 left = total - divide_sum_of(shares, nr, divide_floor_of), wants;
	struct mmpath_share *s;

	for (s = divide_next_unserved(shares, nr); s; s = divide_next_unserved(shares, nr)) {
		s->served = true;
		wants = divide_need(s, s->sla, divide_rate_of);
		s->failed = wants - s->floor > left || !divide_keeps(s, wants);
		if (s->failed)
			continue;
		left -= wants - s->floor;
		s->floor = wants;
	}
	divide_stay(shares, nr);
	divide_plan_throughput(shares, nr, total);
}

/* From what is to what was planned */

static u64 divide_misses(struct mmpath_share *const *shares, unsigned int nr, bool planned)
{
	u64 sum = 0;
	unsigned int i;

	for (i = 0; i < nr; i++)
		sum += divide_weighted(shares[i], planned ? shares[i]->plan : shares[i]->steps);
	return sum;
}

static u32 divide_steps_of(const struct mmpath_share *s)
{
	return s->steps;
}

/* Somebody has more or less than it may, or an agreement that can be kept is not. */
static bool divide_must_move(struct mmpath_share *const *shares, unsigned int nr, u32 total)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (shares[i]->steps < shares[i]->floor || shares[i]->steps > shares[i]->ceiling)
			return true;
	return divide_sum_of(shares, nr, divide_steps_of) != total;
}

/* What those miss now who are to get more: others may miss any number of times as many. */
static u64 divide_takers_misses(struct mmpath_share *const *shares, unsigned int nr)
{
	u64 sum = 0;
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (shares[i]->plan > shares[i]->steps)
			sum += divide_weighted(shares[i], shares[i]->steps);
	return sum;
}

static bool divide_is_worth(struct mmpath_share *const *shares, unsigned int nr,
			    enum mmpath_balance mode)
{
	u64 is = divide_misses(shares, nr, false), then = divide_misses(shares, nr, true);

	if (mode == MMPATH_BALANCE_FAIR) {
		is = divide_highest_rate(shares, nr, divide_steps_of);
		then = divide_highest_rate(shares, nr, divide_plan_of);
		return is > then + (is >> GAIN_SHIFT);
	}
	return is > then + LEAST_GAIN * 100 &&
	       is > then + (divide_takers_misses(shares, nr) >> GAIN_SHIFT);
}

/* The one furthest above its plan, or below it */
static struct mmpath_share *divide_furthest(struct mmpath_share *const *shares, unsigned int nr,
					    bool above)
{
	struct mmpath_share *best = NULL;
	s64 far = 0, d;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		d = (s64)shares[i]->steps - shares[i]->plan;
		if (!above)
			d = -d;
		if (d > far) {
			best = shares[i];
			far = d;
		}
	}
	return best;
}

/* What there is not is given at once, and what nobody has is had; the rest takes its time. */
static u32 divide_move(struct mmpath_share *const *shares, unsigned int nr, u32 total, u32 moves)
{
	u32 sum = divide_sum_of(shares, nr, divide_steps_of), moved = 0;
	struct mmpath_share *from, *to;

	while (sum != total || moved < moves) {
		from = sum >= total ? divide_furthest(shares, nr, true) : NULL;
		to = sum <= total ? divide_furthest(shares, nr, false) : NULL;
		if (!from && !to)
			break;
		if (from) {
			from->steps--;
			sum--;
		}
		if (to) {
			to->steps++;
			sum++;
		}
		moved++;
	}
	return moved;
}

/**
 * mmpath_divide() - divide memory among cgroups that share it
 * @shares: with their curves and bounds; .steps is what each has, and gets
 * @nr: how many
 * @mode: what for
 * @total: steps that there are, at most MMPATH_STEPS
 * @moves: steps that may go from one to another in one call
 *
 * Lower bounds that do not fit into @total are lowered in proportion: what is wished for above
 * what cannot leave, and that only if it does not fit by itself. If all have as much as they
 * may, some is left over. Thesis 4.4.
 *
 * Return: steps that were moved; 0 when all is as it should be.
 */
u32 mmpath_divide(struct mmpath_share *const *shares, unsigned int nr,
		  enum mmpath_balance mode, u32 total, u32 moves)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		shares[i]->served = false;
		shares[i]->failed = false;
	}
	divide_fit_bounds(shares, nr, total);
	total = min(total, divide_sum_of(shares, nr, divide_ceiling_of));
	divide_stay(shares, nr);
	if (mode == MMPATH_BALANCE_FAIR)
		divide_plan_fair(shares, nr, total);
	else if (mode == MMPATH_BALANCE_SLA)
		divide_plan_sla(shares, nr, total);
	else
		divide_plan_throughput(shares, nr, total);
	if (!divide_must_move(shares, nr, total) && !divide_is_worth(shares, nr, mode))
		return 0;
	return divide_move(shares, nr, total, moves);
}
