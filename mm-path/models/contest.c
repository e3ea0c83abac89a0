// SPDX-License-Identifier: GPL-2.0
/*
 * Which replacement policy would miss least?
 *
 * A curve tells it for policies that have one (thesis 4.3.1). LIRS has none: what it
 * does with M pages of memory says nothing about M + 1. So each candidate is simulated,
 * in a memory that is smaller by as much as the sample is (Waldspurger et al., ATC'17):
 *
 *	touches --sample, 1 in 2^shift--> +-- LRU,   size >> shift pages -- misses
 *					  +-- fixed, size >> shift pages -- misses (c->mru)
 *					  +-- LIRS,  size >> shift pages -- misses
 *					  +-- used,  size >> shift pages -- misses
 *
 * All see the same pages, so that most of what chance does to the sample it does to all
 * of them, and the difference of two counts is known better than either of them. Memory of
 * some hundred sampled pages is enough for that: the sample is not finer than the
 * policy's own and not finer than that.
 *
 * The last one does what is really done: it changes its policy with the winner. A policy
 * that is switched to finds what others left in memory, and some never get over it: fixed
 * may keep what is of no use any more, while its own simulation goes on with pages that
 * it came by when it was a good time to. What it does is not what it promised. LIRS
 * gets over it, and does as well in a loop; so fixed takes part only if c->mru is set,
 * which is best done before the first touch.
 *
 * First touches miss with any policy, and are none of its doing. Which pages have been
 * touched, whether a simulation remembers them or not, is known from an index without a
 * stack, at 4.3 bytes a page.
 *
 * To switch
 * ---------
 *
 * At the end of an epoch, each policy p is compared with what is used, u. What p misses less
 * adds up:
 *
 *	lead(p) = max(0, lead(p) + misses(u) - misses(p) - margin)
 *						margin: 1/16 of the misses of LRU
 *
 * and the first policy that leads by half of memory is used from then on. So much a switch may
 * cost, until what is worth keeping has come back. (Page's test, Biometrika 1954: the
 * margin keeps what chance does from adding up. Of a small sample it does more: half of
 * memory, or 32 sampled pages.) After a switch all begin again.
 *
 * The kernel's own, which LRU stands for, takes over sooner: if u misses more than it by half of
 * the margin, or does not miss less by as much in a round of the program, as many misses of LRU
 * as the program has pages: for nothing no policy is worth its while. It has a counter,
 * one up if that is so and one down if not, two up if u misses half as much again. At four
 * (DOUBTS_MOST) it takes over, so a wrong guess costs what it misses more in as many epochs.
 *
 * What others left in memory is no fault of who takes over: for a round it is only judged
 * whether u misses more. In a loop LIRS misses as LRU does until all of it has passed.
 *
 * A policy that the kernel's took over from needs twice the lead the next time, and an eighth of
 * memory less for each epoch, after the first round, in which it is worth it. So a policy that
 * promises what it does not keep is tried again when it leads by 1, 2, 4, 8 memories.
 *
 * That is done when u has missed a quarter of memory, or parts of a program that are
 * shorter than it takes to tell would decide in turn; and so many sampled pages that it is
 * not chance. Until then misses count for the next epoch too; but while they are less than
 * a quarter of memory, for 1/16 of them: a program that misses little has the right policy.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/string.h>

#include "model.h"

#define NEEDED_LEAST	4		/* eighths of memory */
#define NEEDED_MOST	64
#define DOUBTS_MOST	4		/* epochs */
#define MARGIN_SHIFT	4		/* 1/16 of the misses of LRU */
#define ENOUGH_SHIFT	2		/* a quarter of memory */
#define ENOUGH_SAMPLES	32
#define ENOUGH_PAGES	256		/* sampled, of memory */
#define REFINE_EPOCHS	8
#define ROUND_MOST	4		/* memories */
#define DECAY_SHIFT	4		/* 1/16 an epoch */
#define BYTES_PER_PAGE	40		/* of `seen', as of a simulation */
#define BYTES_AT_LEAST	4096

/* The place of each page is 1: it counts one page. */
static void contest_seen_moved(struct mmpath_index *ix, u32 place, u32 id)
{
	container_of(ix, struct mmpath_contest, seen)->nr_seen -= id ? 0 : place;
}

/**
 * mmpath_contest_init() - begin a contest in which no policy has been better than the kernel's yet
 * @c: the contest
 * @mem: where memory comes from
 * @max_pages: sampled pages each simulation may hold, see mmpath_lirs_init(); three
 *	times the sampled pages of memory are enough
 * @shift: one page in 2^@shift is sampled
 *
 * Return: 0, or -EINVAL.
 */
int mmpath_contest_init(struct mmpath_contest *c, struct mmpath_mem *mem, u32 max_pages,
			unsigned int shift)
{
	int p, err = 0;

	memset(c, 0, sizeof(*c));
	for (p = 0; p < NR_MMPATH_SIMS && !err; p++)
		err = mmpath_lirs_init(&c->sim[p], mem, max_pages, shift);
	if (err)
		return err;
	mmpath_index_init(&c->seen, mem, shift, contest_seen_moved);
	for (p = 0; p < NR_MMPATH_POLICIES; p++)
		c->needed[p] = NEEDED_LEAST;
	mmpath_contest_set_size(c, U64_MAX, 0);
	return 0;
}

/**
 * mmpath_contest_destroy() - give back all memory of a contest
 * @c: the contest; without pages afterwards
 */
void mmpath_contest_destroy(struct mmpath_contest *c)
{
	mmpath_contest_reset(c, c->seen.shift);
}

static void contest_begin_round(struct mmpath_contest *c)
{
	c->since = 0;
	c->round_lru = 0;
	c->round_used = 0;
}

/**
 * mmpath_contest_reset() - forget all pages and all misses
 * @c: the contest, whose size stays, its winner, and who leads; a round begins
 * @shift: of the sample from now on, finer or coarser; at most MMPATH_MAX_SHIFT
 */
void mmpath_contest_reset(struct mmpath_contest *c, unsigned int shift)
{
	int p;

	for (p = 0; p < NR_MMPATH_SIMS; p++)
		mmpath_lirs_reset(&c->sim[p], shift);
	mmpath_index_destroy(&c->seen);
	mmpath_index_init(&c->seen, c->seen.mem, c->sim[0].shift, contest_seen_moved);
	c->nr_seen = 0;
	memset(c->misses, 0, sizeof(c->misses));
	contest_begin_round(c);
}

static void contest_sim_become(struct mmpath_contest *c, struct mmpath_lirs *l,
			       enum mmpath_contestant p)
{
	u64 hirs = p == MMPATH_POLICY_KERNEL ? c->size : c->hirs;

	mmpath_lirs_set_size(l, c->size, hirs, p == MMPATH_POLICY_MRU);
}

/* One sample for all, the coarsest. */
static void contest_align(struct mmpath_contest *c)
{
	size_t most = (size_t)c->sim[0].max_pages * BYTES_PER_PAGE + BYTES_AT_LEAST;
	unsigned int shift;
	int p;

	while (c->seen.shift < MMPATH_MAX_SHIFT && mmpath_index_bytes(&c->seen) > most)
		mmpath_index_coarsen(&c->seen);
	shift = c->seen.shift;
	for (p = 0; p < NR_MMPATH_SIMS; p++)
		shift = max(shift, c->sim[p].shift);
	for (p = 0; p < NR_MMPATH_SIMS; p++)
		mmpath_lirs_set_shift(&c->sim[p], shift);
	while (c->seen.shift < shift)
		mmpath_index_coarsen(&c->seen);
}

static void contest_coarsen(struct mmpath_contest *c, unsigned int shift)
{
	if (shift <= c->seen.shift)
		return;
	mmpath_lirs_set_shift(&c->sim[0], shift);
	contest_align(c);
}

/* Is the sample finer than it takes to tell? */
static void contest_thin(struct mmpath_contest *c)
{
	unsigned int shift = c->seen.shift;

	if (c->size == U64_MAX)
		return;
	while (shift < MMPATH_MAX_SHIFT && c->size >> shift >= 2 * ENOUGH_PAGES)
		shift++;
	contest_coarsen(c, shift);
}

/**
 * mmpath_contest_set_size() - set how much memory there is
 * @c: the contest
 * @pages: of memory; U64_MAX: not known, nothing is evicted
 * @pab_pages: of them those that no policy may evict, since they are in use
 */
void mmpath_contest_set_size(struct mmpath_contest *c, u64 pages, u64 pab_pages)
{
	int p;

	c->size = pages;
	c->hirs = max(pages / 100, pab_pages);
	if (!c->hirs)
		c->hirs = 1;
	for (p = 0; p < NR_MMPATH_POLICIES; p++)
		contest_sim_become(c, &c->sim[p], p);
	contest_sim_become(c, &c->sim[MMPATH_POLICY_USED], c->winner);
	contest_thin(c);
}

/* Was the page touched before? It is now. Less than 0: no memory. */
static int contest_see(struct mmpath_contest *c, u64 page)
{
	u32 id = mmpath_index_get(&c->seen, page);

	if (!id)
		return MMPATH_NOMEM;
	if (*mmpath_index_at(&c->seen, id))
		return 1;
	mmpath_index_set(&c->seen, id, 1);
	c->nr_seen++;
	return 0;
}

/* Memory may have become smaller, so that more than one page has to leave. */
static int contest_sim_touch(struct mmpath_lirs *l, u64 page)
{
	u64 room = max(l->size >> l->shift, 1ULL), victim;

	if (!__mmpath_lirs_resident(l, page))
		room--;
	while (l->nr_lirs + l->nr_hirs > room)
		mmpath_lirs_victim(l, &victim);
	return __mmpath_lirs_touch(l, page);
}

/**
 * __mmpath_contest_touch() - note the touch of a page that is in the sample
 * @c: the contest
 * @page: its number
 *
 * Return: 0, or MMPATH_NOMEM: some simulation did not see it.
 */
int __mmpath_contest_touch(struct mmpath_contest *c, u64 page)
{
	unsigned int shift = c->seen.shift;
	int p, seen, result, ret;
	bool grown = false;

	seen = contest_see(c, page);
	ret = min(seen, 0);
	for (p = 0; p < NR_MMPATH_SIMS; p++) {
		if (p == MMPATH_POLICY_MRU && !c->mru)
			continue;
		result = contest_sim_touch(&c->sim[p], page);
		if (result == MMPATH_LIRS_MISS && seen > 0)
			c->misses[p] += 1ULL << shift;
		else if (result == MMPATH_NOMEM)
			ret = MMPATH_NOMEM;
		grown |= result != MMPATH_LIRS_HIT;
	}
	if (grown)
		contest_align(c);
	return ret;
}

/**
 * mmpath_contest_forget() - forget pages that were unmapped
 * @c: the contest
 * @first: first page
 * @nr: pages
 */
void mmpath_contest_forget(struct mmpath_contest *c, u64 first, u64 nr)
{
	int p;

	mmpath_index_forget(&c->seen, first, nr);
	for (p = 0; p < NR_MMPATH_SIMS; p++)
		mmpath_lirs_forget(&c->sim[p], first, nr);
}

/**
 * mmpath_contest_move() - give pages other numbers (mremap)
 * @c: the contest
 * @from: first page
 * @to: its new number
 * @nr: pages; the two ranges must not overlap
 *
 * Return: 0, -EINVAL, or -ENOMEM and some pages are forgotten.
 */
int mmpath_contest_move(struct mmpath_contest *c, u64 from, u64 to, u64 nr)
{
	int p, result, err = mmpath_index_move(&c->seen, from, to, nr);

	for (p = 0; p < NR_MMPATH_SIMS; p++) {
		result = mmpath_lirs_move(&c->sim[p], from, to, nr);
		if (result)
			err = result;
	}
	contest_align(c);
	return err;
}

/**
 * mmpath_contest_set_shift() - set which sample of the pages is touched from now on
 * @c: the contest
 * @shift: one page in 2^@shift, finer or coarser than before
 *
 * With a finer one a contest would begin again. So that is not done as long as what it has
 * says enough, and only when the sample has been the same for some epochs.
 *
 * Return: 0, or -EINVAL if @shift is too coarse.
 */
int mmpath_contest_set_shift(struct mmpath_contest *c, unsigned int shift)
{
	if (shift > MMPATH_MAX_SHIFT)
		return -EINVAL;
	contest_coarsen(c, shift);
	c->finest = shift;
	c->refine_in = REFINE_EPOCHS;
	return 0;
}

static void contest_refine(struct mmpath_contest *c)
{
	if (!c->refine_in || --c->refine_in)
		return;
	if (c->finest >= c->seen.shift || c->size >> c->seen.shift >= ENOUGH_PAGES / 2)
		return;
	mmpath_contest_reset(c, c->finest);
	contest_thin(c);
}

/* Does what is used miss often enough that it matters? */
static bool contest_enough_misses(const struct mmpath_contest *c)
{
	return c->misses[MMPATH_POLICY_USED] >= c->size >> ENOUGH_SHIFT;
}

/* And in so many sampled pages that it is no accident? */
static bool contest_enough_samples(const struct mmpath_contest *c)
{
	return c->misses[MMPATH_POLICY_USED] >> c->seen.shift >= ENOUGH_SAMPLES;
}

/* The kernel's is what it is: that others used memory before is over soon. */
static u64 contest_misses_used(const struct mmpath_contest *c)
{
	u64 lru = c->last[MMPATH_POLICY_KERNEL], used = c->last[MMPATH_POLICY_USED];

	return c->winner == MMPATH_POLICY_KERNEL ? min(lru, used) : used;
}

/* As many misses of LRU as the program has pages: in a loop, until all of it has passed. */
static u64 contest_round_misses(const struct mmpath_contest *c)
{
	return clamp((u64)c->nr_seen << c->seen.shift, c->size, ROUND_MOST * c->size);
}

/* Has the one in use got over what others left in memory? */
static bool contest_is_settled(const struct mmpath_contest *c)
{
	return c->winner == MMPATH_POLICY_KERNEL || c->since >= contest_round_misses(c);
}

static void contest_count_round(struct mmpath_contest *c)
{
	c->since += c->last[MMPATH_POLICY_KERNEL];
	c->round_lru += c->last[MMPATH_POLICY_KERNEL];
	c->round_used += c->last[MMPATH_POLICY_USED];
	while (c->round_lru > max(contest_round_misses(c), 1ULL)) {
		c->round_lru /= 2;
		c->round_used /= 2;
	}
}

/* Is the kernel's as good? What LIRS gains in a loop it does in one part of each round. */
static bool contest_kernel_does(const struct mmpath_contest *c)
{
	u64 lru = c->last[MMPATH_POLICY_KERNEL], used = c->last[MMPATH_POLICY_USED];

	if (used > lru + (lru >> MARGIN_SHIFT) / 2)
		return true;
	return contest_is_settled(c) &&
	       c->round_used + (c->round_lru >> MARGIN_SHIFT) / 2 > c->round_lru;
}

/* For how many epochs does this one speak against what is used? */
static unsigned int contest_doubt(const struct mmpath_contest *c)
{
	u64 lru = c->last[MMPATH_POLICY_KERNEL], used = c->last[MMPATH_POLICY_USED];

	if (c->winner == MMPATH_POLICY_KERNEL)
		return 0;
	return used > lru + lru / 2 ? 2 : contest_kernel_does(c);
}

static void contest_count_doubts(struct mmpath_contest *c)
{
	unsigned int more = contest_doubt(c);

	if (more)
		c->doubts += more;
	else if (c->doubts)
		c->doubts--;
}

static bool contest_is_candidate(const struct mmpath_contest *c, enum mmpath_contestant p)
{
	return p != c->winner && p != MMPATH_POLICY_KERNEL && (p != MMPATH_POLICY_MRU || c->mru);
}

static void contest_count_lead(struct mmpath_contest *c, enum mmpath_contestant p)
{
	u64 margin = c->last[MMPATH_POLICY_KERNEL] >> MARGIN_SHIFT;
	u64 ahead = c->lead[p] + contest_misses_used(c), behind = c->last[p] + margin;

	c->lead[p] = contest_is_candidate(c, p) && contest_is_settled(c) && ahead > behind ?
		     ahead - behind : 0;
}

static u64 contest_lead_needed(const struct mmpath_contest *c, enum mmpath_contestant p)
{
	u64 chance = (u64)ENOUGH_SAMPLES << c->seen.shift;

	return max(c->size / 8, chance / NEEDED_LEAST) * c->needed[p];
}

static bool contest_takes_over(const struct mmpath_contest *c, enum mmpath_contestant p)
{
	if (p == MMPATH_POLICY_KERNEL)
		return c->doubts >= DOUBTS_MOST;
	/* a lead may be older than a smaller memory, or a finer sample, that needs less of it */
	return c->lead[p] > contest_lead_needed(c, p) && c->last[p] < contest_misses_used(c);
}

static enum mmpath_contestant contest_best(const struct mmpath_contest *c)
{
	enum mmpath_contestant best = c->winner;
	int p;

	for (p = 0; p < NR_MMPATH_POLICIES; p++)
		if (contest_takes_over(c, p) && (best == c->winner || c->last[p] < c->last[best]))
			best = p;
	return best;
}

static void contest_switch(struct mmpath_contest *c, enum mmpath_contestant p)
{
	unsigned int *needed = &c->needed[c->winner];

	if (p == MMPATH_POLICY_KERNEL)
		*needed = min(2 * *needed, (unsigned int)NEEDED_MOST);
	c->winner = p;
	contest_begin_round(c);
	c->switches++;
	memset(c->lead, 0, sizeof(c->lead));
	c->doubts = 0;
	contest_sim_become(c, &c->sim[MMPATH_POLICY_USED], p);
}

static void contest_compare(struct mmpath_contest *c)
{
	enum mmpath_contestant best, used = c->winner;
	int p;

	contest_count_round(c);
	if (contest_is_settled(c) && !contest_doubt(c) && c->needed[used] > NEEDED_LEAST)
		c->needed[used]--;
	contest_count_doubts(c);
	for (p = 0; p < NR_MMPATH_POLICIES; p++)
		contest_count_lead(c, p);
	best = contest_best(c);
	if (best != used)
		contest_switch(c, best);
}

/**
 * mmpath_contest_close_epoch() - compare the policies
 * @c: the contest
 */
void mmpath_contest_close_epoch(struct mmpath_contest *c)
{
	int p;

	contest_refine(c);
	if (!contest_enough_misses(c)) {
		for (p = 0; p < NR_MMPATH_SIMS; p++)
			c->misses[p] -= c->misses[p] >> DECAY_SHIFT;
		return;
	}
	if (!contest_enough_samples(c))
		return;
	memcpy(c->last, c->misses, sizeof(c->last));
	memset(c->misses, 0, sizeof(c->misses));
	contest_compare(c);
}

/**
 * mmpath_contest_winner() - return the policy to use
 * @c: the contest
 *
 * Return: MMPATH_POLICY_KERNEL unless another one misses less.
 */
enum mmpath_contestant mmpath_contest_winner(const struct mmpath_contest *c)
{
	return c->winner;
}

/**
 * mmpath_contest_bytes() - return the memory that a contest takes
 * @c: the contest
 *
 * Return: bytes, everything included.
 */
size_t mmpath_contest_bytes(const struct mmpath_contest *c)
{
	size_t bytes = sizeof(*c) + mmpath_index_bytes(&c->seen);
	int p;

	for (p = 0; p < NR_MMPATH_SIMS; p++)
		bytes += mmpath_lirs_bytes(&c->sim[p]) - sizeof(c->sim[p]);
	return bytes;
}
