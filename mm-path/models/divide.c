// SPDX-License-Identifier: GPL-2.0
/*
 * How memory is divided between those that share it (thesis 4.4).
 *
 * Memory is divided into equal steps. Each share has a curve: its recent misses with no
 * step, with one, with two, and so on:
 *
 *	divide_benefit(k) = lambda(has) - lambda(has + k)
 *	divide_penalty(k) = lambda(has - k) - lambda(has)
 *
 * A plan tells how many steps each share gets. There are three modes:
 *
 * - throughput: the fewest misses of all shares together. As in the thesis, steps go from
 *   the share with the least penalty to the one with the highest benefit, as long as there
 *   is a gain. A curve may be flat and then have a cliff (a loop under LRU that does not
 *   fit): one step more gains nothing there, and fifty gain all. So the best exchange is
 *   looked for among those of any size. For two shares that finds the best plan. For more
 *   it finds a plan that no exchange of two shares improves.
 * - fair: the same miss rate for all (figure 4.6), as low as possible. The higher the rate,
 *   the fewer steps each share needs. The lowest rate at which the steps suffice is found
 *   by bisection. A share with twice the weight gets half the rate.
 * - sla: no share has a rate above its sla. Steps that are left go where they gain most. If
 *   not all slas can be kept, shares of less weight fail, and of the same weight those
 *   that need most, so that the fewest fail. These share what is left.
 *
 * A miss rate is misses per second of the program's CPU time. In wall-clock time a program
 * that waits for the disk all day would have a low one.
 *
 * Steps move towards the plan, a bounded number in each call. They move only if the shares that
 * get more gain more than the usual change from epoch to epoch, or if rates that are to be
 * the same come closer by twice that. Free steps are given at once.
 */
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "model.h"

#define DIVIDE_GAIN_SHIFT	4	/* a plan must save 1/16 of the misses */
#define DIVIDE_LEAST_GAIN	16	/* and this many misses, at weight 100 */
#define DIVIDE_EXCHANGES	2	/* most exchanges for a plan, for each share */
#define US_PER_SEC		1000000ULL

static u64 divide_weighted(const struct mmpath_share *s, u32 steps)
{
	return s->lambda[steps] * s->weight;
}

/* Misses per second of CPU time. Counts are capped, so that the product does not overflow. */
static u64 divide_per_second(const struct mmpath_share *s, u64 misses)
{
	return div64_u64(min(misses, U64_MAX / US_PER_SEC) * US_PER_SEC, max(s->cpu_us, 1ULL));
}

static u64 divide_rate_of(const struct mmpath_share *s, u32 steps)
{
	return divide_per_second(s, s->lambda[steps]);
}

/* With twice the weight, half the rate counts as much. */
static u64 divide_fair_rate(const struct mmpath_share *s, u32 steps)
{
	return divide_per_second(s, divide_weighted(s, steps));
}

/**
 * mmpath_share_rate() - return the miss rate that the curve of a share predicts
 * @s: the share
 * @steps: amount of memory
 *
 * Return: misses per second of the program's CPU time.
 */
u64 mmpath_share_rate(const struct mmpath_share *s, u32 steps)
{
	return divide_rate_of(s, min(steps, MMPATH_STEPS));
}

/**
 * mmpath_share_hull() - turn the curve of LRU into that of a better policy
 * @s: the share
 *
 * LIRS keeps a part of a loop in memory, and of two loops the one that fits. So its curve has
 * no cliff: misses go down in proportion to memory, along the convex hull of the curve of
 * LRU (Beckmann and Sanchez, HPCA'15).
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
 * mmpath_is_far_above() - tell whether to reclaim from a cgroup that is above its target
 * @mine: pages of the cgroup above its target
 * @most: the most that any of its siblings, or itself, is above its target
 * @takes: pages that reclaim may take from the cgroup at once
 *
 * Half of @most is enough. But at its last priorities reclaim takes a quarter of a cgroup, or
 * all of it, and MGLRU does not stop when it has what it needs. A cgroup that is only a few
 * pages above its target would be far below it then. So it must also be above by @takes.
 *
 * Return: whether to reclaim from it; always true for the one with @most.
 */
bool mmpath_is_far_above(long mine, long most, long takes)
{
	return mine == most || (mine * 2 >= most && mine >= takes);
}

/**
 * mmpath_share_window() - update the curve of a share with the misses of an epoch
 * @s: the share
 * @window: MMPATH_STEPS + 1 decayed sums of misses; 0 in the beginning
 * @m: curve with the last epoch, which is added to @window
 * @step: size of a step in pages
 * @other: pages that the share needs beside those of the curve
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
		/* with bursts the curve is an estimate (see mrc.c), and may rise a little */
		least = min(least, misses);
		window[k] = mmpath_decay(window[k], least);
		s->lambda[k] = window[k] >> MMPATH_WINDOW_FRACTION;
	}
}

/* Bounds, and plans that keep them: each within its bounds, and together @total steps. */

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

/* The share that gains most from one step more; of equals the smallest. NULL: all are full. */
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

/* The share that loses least by one step less; of equals the largest. NULL: all are at a floor. */
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

/* Scale @of, a part of @all, down in proportion if @all does not fit into @room. */
static u32 divide_part(u32 of, u32 all, u32 room)
{
	return all > room ? mul_u64_u32_div(of, room, all) : of;
}

/* Lower the bounds if they do not fit: first what is above .fixed, and only then .fixed. */
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

/*
 * Try the best giver and the best taker of @k steps. If they are the same share, try the best of
 * either with the second best of the other.
 */
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
	unsigned int times = DIVIDE_EXCHANGES * nr;
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

/* The fewest steps at which the rate is at most @most, or the ceiling if it never is. */
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

/* Give steps that are left to the share with the highest rate, even if one step is no help. */
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

/* SLAs */

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

/* Moving towards the plan */

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

/* Is a share outside its bounds (an sla that can be kept is one), or is the sum not @total? */
static bool divide_must_move(struct mmpath_share *const *shares, unsigned int nr, u32 total)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (shares[i]->steps < shares[i]->floor || shares[i]->steps > shares[i]->ceiling)
			return true;
	return divide_sum_of(shares, nr, divide_steps_of) != total;
}

/* Misses now of the shares that get more. Others may have many more, and do not count. */
static u64 divide_takers_misses(struct mmpath_share *const *shares, unsigned int nr)
{
	u64 sum = 0;
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (shares[i]->plan > shares[i]->steps)
			sum += divide_weighted(shares[i], shares[i]->steps);
	return sum;
}

/*
 * Does the plan bring rates closer by enough? A large share may have nearly the same rate with any
 * number of steps, while a small one pays for them.
 */
static bool divide_is_fairer(struct mmpath_share *const *shares, unsigned int nr, u64 highest)
{
	u64 most_is = 0, most_then = 0, least_is = U64_MAX, least_then = U64_MAX, is, then;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		is = divide_fair_rate(shares[i], shares[i]->steps);
		then = divide_fair_rate(shares[i], shares[i]->plan);
		if (shares[i]->plan > shares[i]->steps) {
			most_is = max(most_is, is);
			most_then = max(most_then, then);
		} else if (shares[i]->plan < shares[i]->steps) {
			least_is = min(least_is, is);
			least_then = min(least_then, then);
		}
	}
	/* two rates change, so twice the usual change is asked */
	return (most_is - most_then) + (least_then - least_is) >
	       highest >> (DIVIDE_GAIN_SHIFT - 1);
}

static bool divide_is_worth(struct mmpath_share *const *shares, unsigned int nr,
			    enum mmpath_balance mode)
{
	u64 is = divide_misses(shares, nr, false), then = divide_misses(shares, nr, true);

	if (mode == MMPATH_BALANCE_FAIR) {
		is = divide_highest_rate(shares, nr, divide_steps_of);
		then = divide_highest_rate(shares, nr, divide_plan_of);
		return is > then + (is >> DIVIDE_GAIN_SHIFT) || divide_is_fairer(shares, nr, is);
	}
	return is > then + DIVIDE_LEAST_GAIN * 100 &&
	       is > then + (divide_takers_misses(shares, nr) >> DIVIDE_GAIN_SHIFT);
}

/* The share that is furthest above its plan, or below it. */
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

/* Correct the sum of all steps at once. Move others by at most @moves. */
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
 * @shares: shares with their curves and bounds; changes .steps of each
 * @nr: number of shares
 * @mode: what the plan is to achieve
 * @total: number of steps, at most MMPATH_STEPS
 * @moves: number of steps that may move in one call
 *
 * Lower bounds that do not fit into @total are lowered in proportion: first the parts above
 * .fixed, and .fixed itself only if that does not fit either. Steps are left over if all shares
 * have as much as they may. Thesis 4.4.
 *
 * Return: number of steps that moved; 0 if none had to.
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
