// SPDX-License-Identifier: GPL-2.0
/*
 * Would LIRS miss less than the kernel's policy, for which LRU stands?
 *
 * Policies with a curve can be compared by it (thesis 4.3.1). LIRS has no curve: what it
 * does with M pages of memory says nothing about M + 1. So both policies are simulated
 * with the sample, in a memory that is smaller by the same factor (Waldspurger et al.,
 * ATC'17):
 *
 *	touches --sample, 1 in 2^shift--> +-- LRU,  size >> shift pages -- misses
 *					  +-- LIRS, size >> shift pages -- misses
 *					  +-- used, size >> shift pages -- misses
 *
 * All simulations see the same pages. So chance in the choice of the sample affects all of
 * them in much the same way, and the difference of two counts is known better than either
 * count. A memory of some hundred sampled pages is enough for that. So the sample is no
 * finer than the policy's own, and no finer than needed.
 *
 * The simulation "used" stands for the real memory: it changes its policy with the winner. A
 * policy that takes over finds in memory what the other one left there. A policy that keeps the
 * pages that came first (MRU) never recovers from that: it may keep pages that are of no use any
 * more, while its own simulation keeps pages that it got at a good time. LIRS recovers, and is as
 * good in a loop. So MRU takes no part.
 *
 * First touches miss with any policy, and are not counted. An index without a stack knows
 * which pages were touched, also those that the simulations have forgotten, at 4.3 bytes a
 * page.
 *
 * Switching
 * ---------
 *
 * While the kernel's policy is in use, the misses that LIRS would save add up, epoch by epoch:
 *
 *	lead = max(0, lead + misses(LRU) - misses(LIRS) - margin)
 *						margin: 1/16 of the misses of LRU
 *
 * With a lead of half of memory LIRS takes over. A switch may cost as many misses, until the pages
 * that are worth keeping are back. (This is Page's test, Biometrika 1954: the margin keeps
 * differences by chance from adding up. With a small sample chance does more, so the lead must be
 * 32 sampled pages at least.) After a switch the lead begins at 0.
 *
 * The kernel's policy takes over sooner. While LIRS is in use, doubts are counted. An epoch adds
 * one if memory ("used") misses more than LRU by half of the margin; or if, in a round of the
 * program, it has not missed less than LRU by half of the margin. A round is as many misses of
 * LRU as the program has pages. A policy without a gain is not worth its cost. An epoch adds two
 * if memory misses half as much again as LRU, and any other epoch subtracts one. At four the
 * kernel's policy takes over (CONTEST_DOUBTS_MOST). So a wrong guess costs its additional misses
 * for that many epochs.
 *
 * LIRS must not suffer for what LRU left in memory. So in its first round an epoch adds doubts
 * only if memory misses more. In a loop LIRS misses as often as LRU until the loop has passed
 * once.
 *
 * After the kernel's policy took over, LIRS needs twice the lead the next time. Each epoch after
 * the first round in which LIRS is worth its cost lowers that by an eighth of memory. So if LIRS
 * does not do what its simulation promises, it is tried again with leads of 1, 2, 4, 8 memories.
 *
 * Policies are compared once memory has missed a quarter of its pages. Otherwise parts of a
 * program that are too short to tell would decide in turn. There must also be enough sampled
 * misses to rule out chance. Until then, misses are carried over to the next epoch. While they
 * are less than a quarter of memory, they decay by 1/16 an epoch: a program that misses little
 * has the right policy.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/string.h>

#include "model.h"

#define CONTEST_NEEDED_LEAST	4	/* eighths of memory */
#define CONTEST_NEEDED_MOST	64
#define CONTEST_DOUBTS_MOST	4	/* epochs */
#define CONTEST_MARGIN_SHIFT	4	/* 1/16 of the misses of LRU */
#define CONTEST_ENOUGH_SHIFT	2	/* a quarter of memory */
#define CONTEST_ENOUGH_SAMPLES	32
#define CONTEST_ENOUGH_PAGES	256	/* sampled, of memory */
#define CONTEST_REFINE_EPOCHS	8
#define CONTEST_ROUND_MOST	4	/* memories */
#define CONTEST_DECAY_SHIFT	4	/* 1/16 an epoch */
#define CONTEST_BYTES_PER_PAGE	40	/* of `seen', as of a simulation */
#define CONTEST_BYTES_AT_LEAST	4096

/* A page leaves c->seen. Its place is always 1, the number of pages to subtract. */
static void contest_seen_moved(struct mmpath_index *ix, u32 place, u32 id)
{
	container_of(ix, struct mmpath_contest, seen)->nr_seen -= id ? 0 : place;
}

/**
 * mmpath_contest_init() - initialize a contest, with the kernel's policy as the winner
 * @c: the contest
 * @mem: allocator
 * @max_pages: sampled pages that each simulation may hold, see mmpath_lirs_init(); three
 *	times the sampled pages of memory are enough
 * @shift: sample one page in 2^@shift
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
	c->needed = CONTEST_NEEDED_LEAST;
	mmpath_contest_set_size(c, U64_MAX, 0);
	return 0;
}

/**
 * mmpath_contest_destroy() - free all memory of a contest
 * @c: the contest; has no pages afterwards
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
 * mmpath_contest_reset() - forget all pages and misses of a contest
 * @c: the contest
 * @shift: sample one page in 2^@shift from now on, which may be finer or coarser; at most
 *	MMPATH_MAX_SHIFT
 *
 * The size, the winner and the lead stay. A round begins.
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
	mmpath_lirs_set_size(l, c->size, p == MMPATH_POLICY_KERNEL ? c->size : c->hirs, false);
}

/* Give all simulations the same sample, the coarsest. */
static void contest_align(struct mmpath_contest *c)
{
	size_t most = (size_t)c->sim[0].max_pages * CONTEST_BYTES_PER_PAGE + CONTEST_BYTES_AT_LEAST;
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

/* Make the sample coarser if it is finer than needed to compare policies. */
static void contest_thin(struct mmpath_contest *c)
{
	unsigned int shift = c->seen.shift;

	if (c->size == U64_MAX)
		return;
	while (shift < MMPATH_MAX_SHIFT && c->size >> shift >= 2 * CONTEST_ENOUGH_PAGES)
		shift++;
	contest_coarsen(c, shift);
}

/**
 * mmpath_contest_set_size() - set the size of memory
 * @c: the contest
 * @pages: size of memory; U64_MAX: not known, nothing is evicted
 * @pab_pages: pages of memory that no policy may evict, because they are in use
 */
void mmpath_contest_set_size(struct mmpath_contest *c, u64 pages, u64 pab_pages)
{
	c->size = pages;
	c->hirs = max(pages / 100, pab_pages);
	if (!c->hirs)
		c->hirs = 1;
	contest_sim_become(c, &c->sim[MMPATH_POLICY_KERNEL], MMPATH_POLICY_KERNEL);
	contest_sim_become(c, &c->sim[MMPATH_POLICY_LIRS], MMPATH_POLICY_LIRS);
	contest_sim_become(c, &c->sim[MMPATH_POLICY_USED], c->winner);
	contest_thin(c);
}

/* Mark a page as touched. Returns 1 if it was touched before, 0 if not, or MMPATH_NOMEM. */
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

/* Touch a page in a simulation. More than one victim must leave if memory has become smaller. */
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
 * @page: number of the page
 *
 * Return: 0, or MMPATH_NOMEM if some simulation could not note it.
 */
int __mmpath_contest_touch(struct mmpath_contest *c, u64 page)
{
	unsigned int shift = c->seen.shift;
	int p, seen, result, ret;
	bool grown = false;

	seen = contest_see(c, page);
	ret = min(seen, 0);
	for (p = 0; p < NR_MMPATH_SIMS; p++) {
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
 * @nr: number of pages
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
 * @to: new number of the first page
 * @nr: number of pages; the two ranges must not overlap
 *
 * Return: 0, -EINVAL, or -ENOMEM if some pages were forgotten.
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
 * mmpath_contest_set_shift() - set the sample of a contest
 * @c: the contest
 * @shift: one page in 2^@shift is sampled from now on, finer or coarser than before
 *
 * With a finer sample a contest begins again. So that is done only if the present sample is too
 * small, and @shift has been the same for some epochs.
 *
 * Return: 0, or -EINVAL if @shift is too coarse.
 */
int mmpath_contest_set_shift(struct mmpath_contest *c, unsigned int shift)
{
	if (shift > MMPATH_MAX_SHIFT)
		return -EINVAL;
	contest_coarsen(c, shift);
	c->finest = shift;
	c->refine_in = CONTEST_REFINE_EPOCHS;
	return 0;
}

static void contest_refine(struct mmpath_contest *c)
{
	if (!c->refine_in || --c->refine_in)
		return;
	if (c->finest >= c->seen.shift || c->size >> c->seen.shift >= CONTEST_ENOUGH_PAGES / 2)
		return;
	mmpath_contest_reset(c, c->finest);
	contest_thin(c);
}

/* Does the policy in use miss often enough to matter? */
static bool contest_enough_misses(const struct mmpath_contest *c)
{
	return c->misses[MMPATH_POLICY_USED] >= c->size >> CONTEST_ENOUGH_SHIFT;
}

/* Does it miss in enough sampled pages to rule out chance? */
static bool contest_enough_samples(const struct mmpath_contest *c)
{
	return c->misses[MMPATH_POLICY_USED] >> c->seen.shift >= CONTEST_ENOUGH_SAMPLES;
}

/* The length of a round: as many misses of LRU as the program has pages, one pass of a loop. */
static u64 contest_round_misses(const struct mmpath_contest *c)
{
	return clamp((u64)c->nr_seen << c->seen.shift, c->size, CONTEST_ROUND_MOST * c->size);
}

/* Has LIRS had a round to recover from what LRU left in memory? */
static bool contest_is_settled(const struct mmpath_contest *c)
{
	return c->since >= contest_round_misses(c);
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

static void contest_switch(struct mmpath_contest *c, enum mmpath_contestant p)
{
	c->winner = p;
	contest_begin_round(c);
	c->switches++;
	c->lead = 0;
	c->doubts = 0;
	contest_sim_become(c, &c->sim[MMPATH_POLICY_USED], p);
}

static u64 contest_lead_needed(const struct mmpath_contest *c)
{
	u64 chance = (u64)CONTEST_ENOUGH_SAMPLES << c->seen.shift;

	return max(c->size / 8, chance / CONTEST_NEEDED_LEAST) * c->needed;
}

/*
 * The kernel's policy is in use: does LIRS take over? The kernel's policy soon recovers from what
 * LIRS left in memory, so the lower of its two counts is taken. The lead may be old: a smaller
 * memory, or a finer sample, needs less now. So LIRS must be better in this epoch, too.
 */
static void contest_challenge(struct mmpath_contest *c)
{
	u64 lru = c->last[MMPATH_POLICY_KERNEL], lirs = c->last[MMPATH_POLICY_LIRS];
	u64 misses = min(lru, c->last[MMPATH_POLICY_USED]);
	u64 ahead = c->lead + misses, behind = lirs + (lru >> CONTEST_MARGIN_SHIFT);

	c->lead = ahead > behind ? ahead - behind : 0;
	if (c->lead > contest_lead_needed(c) && lirs < misses)
		contest_switch(c, MMPATH_POLICY_LIRS);
}

/*
 * Is the kernel's policy as good as LIRS, which is in use? Look at a whole round, because the gain
 * of LIRS in a loop is in one part of each round.
 */
static bool contest_kernel_does(const struct mmpath_contest *c)
{
	u64 lru = c->last[MMPATH_POLICY_KERNEL], used = c->last[MMPATH_POLICY_USED];

	if (used > lru + (lru >> CONTEST_MARGIN_SHIFT) / 2)
		return true;
	return contest_is_settled(c) &&
	       c->round_used + (c->round_lru >> CONTEST_MARGIN_SHIFT) / 2 > c->round_lru;
}

/* How many doubts does this epoch add? */
static unsigned int contest_doubt(const struct mmpath_contest *c)
{
	u64 lru = c->last[MMPATH_POLICY_KERNEL], used = c->last[MMPATH_POLICY_USED];

	return used > lru + lru / 2 ? 2 : contest_kernel_does(c);
}

/* LIRS is in use: does the kernel's policy take over? */
static void contest_review(struct mmpath_contest *c)
{
	unsigned int more = contest_doubt(c);

	if (more)
		c->doubts += more;
	else if (c->doubts)
		c->doubts--;
	if (!more && contest_is_settled(c) && c->needed > CONTEST_NEEDED_LEAST)
		c->needed--;
	if (c->doubts >= CONTEST_DOUBTS_MOST) {
		c->needed = min(2 * c->needed, (unsigned int)CONTEST_NEEDED_MOST);
		contest_switch(c, MMPATH_POLICY_KERNEL);
	}
}

static void contest_compare(struct mmpath_contest *c)
{
	contest_count_round(c);
	if (c->winner == MMPATH_POLICY_KERNEL)
		contest_challenge(c);
	else
		contest_review(c);
}

/**
 * mmpath_contest_close_epoch() - compare the two policies at the end of an epoch
 * @c: the contest
 */
void mmpath_contest_close_epoch(struct mmpath_contest *c)
{
	int p;

	contest_refine(c);
	if (!contest_enough_misses(c)) {
		for (p = 0; p < NR_MMPATH_SIMS; p++)
			c->misses[p] -= c->misses[p] >> CONTEST_DECAY_SHIFT;
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
 * Return: MMPATH_POLICY_KERNEL unless MMPATH_POLICY_LIRS misses less.
 */
enum mmpath_contestant mmpath_contest_winner(const struct mmpath_contest *c)
{
	return c->winner;
}
