// SPDX-License-Identifier: GPL-2.0
/*
 * Region-specific replacement (thesis 4.3.1): each region has a pool of memory, and LRU
 * or MRU in it, whatever misses less there.
 *
 *	touch --key of the region--> pool --+-- LRU or MRU (lirs.c with either size)
 *					    +-- how much it has, and is to have
 *
 *	victim: of the pool that is furthest above its target
 *
 * A page is taken from the region that is to give one, not from where it is oldest: so a
 * scan of one region does not drive out another.
 *
 * MRU or LRU
 * ----------
 *
 * At the end of an epoch in which a region missed often enough, or would have with the
 * other policy, both its curves are read where its target is, and a counter goes one up if
 * MRU misses less by 1/16 of what LRU does, or else one down. At its upper end MRU is used,
 * at its lower end LRU. In between all stays as it is, so a region that is used in two ways
 * by turns does not change each time. No page leaves memory for a change: what is touched
 * from then on is kept by the new policy.
 *
 * Who has how much
 * ----------------
 *
 * divide.c does it as it does for cgroups: steps go to the region that gains most by them
 * from the one that loses least, a few an epoch, if that is worth it. The thesis prints
 * benefit and penalty the other way round in 4.3.1; 4.4 has them right.
 *
 * A curve says nothing of pages that the driver filters out since they are hot. So a
 * region keeps as many pages as the driver may be filtering, or all it has: what it
 * would lose first otherwise is what it uses most. A region whose curve is not known keeps
 * what it has.
 *
 * Pages that were there before the regions were told apart are in a pool of their own, the
 * first, which has nothing to lose. They go to their region when they are touched.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/list.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "model.h"

#define SCORE_MOST	4
#define MARGIN_SHIFT	4		/* 1/16 of the misses of LRU */
#define ENOUGH_SHIFT	4		/* 1/16 of what a region has */
#define ENOUGH_SAMPLES	8
#define MOVES		8U		/* steps an epoch, of MMPATH_STEPS */

/**
 * mmpath_pool_has() - return the memory of a region
 * @pool: its pool
 *
 * Return: pages, not sampled ones, that are in memory as far as is known.
 */
u64 mmpath_pool_has(const struct mmpath_pool *pool)
{
	return ((u64)pool->pages.nr_lirs + pool->pages.nr_hirs) << pool->pages.shift;
}

/* LRU has nothing but HIR pages. */
static void pool_resize(const struct mmpath_pools *ps, struct mmpath_pool *pool)
{
	u64 hirs = pool->mru ? min(ps->hirs, pool->target) : pool->target;

	mmpath_lirs_set_size(&pool->pages, pool->target, hirs, pool->mru);
}

static struct mmpath_pool *pool_new(struct mmpath_pools *ps, u64 key)
{
	struct mmpath_pool *pool = mmpath_mem_alloc(ps->mem, sizeof(*pool));

	if (!pool)
		return NULL;
	pool->key = key;
	pool->target = U64_MAX;
	pool->share.weight = 100;
	pool->share.sla = U64_MAX;
	mmpath_lirs_init(&pool->pages, ps->mem, ps->max_pages, ps->shift);
	pool_resize(ps, pool);
	list_add_tail(&pool->node, &ps->list);
	ps->nr++;
	return pool;
}

static void pool_free(struct mmpath_pools *ps, struct mmpath_pool *pool)
{
	if (ps->last == pool)
		ps->last = ps->old;
	list_del(&pool->node);
	ps->nr--;
	mmpath_lirs_destroy(&pool->pages);
	mmpath_mem_free(ps->mem, pool, sizeof(*pool));
}

/**
 * mmpath_pools_init() - make a memory that no region has anything of yet
 * @ps: the pools
 * @mem: where memory comes from
 * @max_pages: sampled pages in each, see mmpath_lirs_init()
 * @shift: one page in 2^@shift is sampled
 *
 * Return: 0, -EINVAL, or -ENOMEM. After an error there is nothing to destroy.
 */
int mmpath_pools_init(struct mmpath_pools *ps, struct mmpath_mem *mem, u32 max_pages,
		      unsigned int shift)
{
	memset(ps, 0, sizeof(*ps));
	if (!max_pages || shift > MMPATH_MAX_SHIFT)
		return -EINVAL;
	INIT_LIST_HEAD(&ps->list);
	ps->mem = mem;
	ps->max_pages = max_pages;
	ps->shift = shift;
	ps->size = U64_MAX;
	ps->old = pool_new(ps, MMPATH_POOL_OLD);
	ps->last = ps->old;
	return ps->old ? 0 : -ENOMEM;
}

/**
 * mmpath_pools_destroy() - give back all memory
 * @ps: the pools
 */
void mmpath_pools_destroy(struct mmpath_pools *ps)
{
	struct mmpath_pool *pool, *next;

	list_for_each_entry_safe(pool, next, &ps->list, node)
		pool_free(ps, pool);
}

/**
 * mmpath_pools_find() - find the pool of a region
 * @ps: the pools
 * @key: of the region
 *
 * Return: the pool, or NULL if it has none of its own.
 */
struct mmpath_pool *mmpath_pools_find(struct mmpath_pools *ps, u64 key)
{
	struct mmpath_pool *pool;

	if (ps->last->key == key)
		return ps->last;
	list_for_each_entry(pool, &ps->list, node) {
		if (pool->key == key) {
			ps->last = pool;
			return pool;
		}
	}
	return NULL;
}

/* One too many, or without memory, it is among the old pages: they are worth something then. */
static struct mmpath_pool *pool_get(struct mmpath_pools *ps, u64 key)
{
	struct mmpath_pool *pool = mmpath_pools_find(ps, key);

	if (!pool && ps->nr < MMPATH_MAX_POOLS)
		pool = pool_new(ps, key);
	if (pool)
		return pool;
	ps->crowded = true;
	return ps->old;
}

/* One sample for all, the coarsest. */
static void pools_align(struct mmpath_pools *ps)
{
	struct mmpath_pool *pool;

	list_for_each_entry(pool, &ps->list, node)
		ps->shift = max(ps->shift, pool->pages.shift);
	list_for_each_entry(pool, &ps->list, node)
		if (pool->pages.shift < ps->shift)
			mmpath_lirs_set_shift(&pool->pages, ps->shift);
}

/**
 * __mmpath_pools_touch() - note the touch of a page of the sample, which is in memory from now on
 * @ps: the pools
 * @key: of its region
 * @page: its number
 *
 * Return: as __mmpath_lirs_touch().
 */
int __mmpath_pools_touch(struct mmpath_pools *ps, u64 key, u64 page)
{
	struct mmpath_pool *pool;
	int result;

	pool = pool_get(ps, key);
	result = __mmpath_lirs_touch(&pool->pages, page);
	if (result == MMPATH_LIRS_MISS && pool != ps->old &&
	    __mmpath_lirs_resident(&ps->old->pages, page)) {
		mmpath_lirs_forget(&ps->old->pages, page, 1);
		result = MMPATH_LIRS_HIT;
	}
	if (pool->pages.shift > ps->shift)
		pools_align(ps);
	return result;
}

/* How far a pool is above its target; one without a target is where it should be. */
static s64 pool_excess(const struct mmpath_pool *pool)
{
	return pool->target == U64_MAX ? 0 : (s64)(mmpath_pool_has(pool) - pool->target);
}

static bool pools_gives_before(const struct mmpath_pool *a, const struct mmpath_pool *b)
{
	if (pool_excess(a) != pool_excess(b))
		return pool_excess(a) > pool_excess(b);
	return mmpath_pool_has(a) > mmpath_pool_has(b);
}

/**
 * mmpath_pools_victim() - choose a page to leave memory
 * @ps: the pools
 * @page: returns which one
 * @key: and of which region
 *
 * Return: false if no page is in memory.
 */
bool mmpath_pools_victim(struct mmpath_pools *ps, u64 *page, u64 *key)
{
	struct mmpath_pool *pool, *best = NULL;

	list_for_each_entry(pool, &ps->list, node)
		if (mmpath_pool_has(pool) && (!best || pools_gives_before(pool, best)))
			best = pool;
	if (!best)
		return false;
	*key = best->key;
	return mmpath_lirs_victim(&best->pages, page);
}

/**
 * mmpath_pools_keep() - take back a victim that did not leave memory
 * @ps: the pools
 * @key: of its region
 * @page: its number
 *
 * See mmpath_lirs_keep().
 */
void mmpath_pools_keep(struct mmpath_pools *ps, u64 key, u64 page)
{
	struct mmpath_pool *pool = mmpath_pools_find(ps, key);

	if (!pool)
		return;
	mmpath_lirs_keep(&pool->pages, page);
	if (pool->pages.shift > ps->shift)
		pools_align(ps);
}

/**
 * mmpath_pools_forget() - forget pages that were unmapped
 * @ps: the pools
 * @first: first page
 * @nr: pages
 */
void mmpath_pools_forget(struct mmpath_pools *ps, u64 first, u64 nr)
{
	struct mmpath_pool *pool;

	list_for_each_entry(pool, &ps->list, node)
		mmpath_lirs_forget(&pool->pages, first, nr);
}

/**
 * mmpath_pools_move() - give pages other numbers (mremap)
 * @ps: the pools
 * @from: first page
 * @to: its new number
 * @nr: pages; the two ranges must not overlap
 *
 * Return: 0, -EINVAL, or -ENOMEM and some pages are forgotten.
 */
int mmpath_pools_move(struct mmpath_pools *ps, u64 from, u64 to, u64 nr)
{
	struct mmpath_pool *pool;
	int result, err = 0;

	list_for_each_entry(pool, &ps->list, node) {
		result = mmpath_lirs_move(&pool->pages, from, to, nr);
		if (result)
			err = result;
	}
	pools_align(ps);
	return err;
}

/**
 * mmpath_pools_set_shift() - make the sample coarser
 * @ps: the pools
 * @shift: one page in 2^@shift from now on
 *
 * Return: 0, or -EINVAL if @shift is finer than now or too coarse.
 */
int mmpath_pools_set_shift(struct mmpath_pools *ps, unsigned int shift)
{
	if (shift < ps->shift || shift > MMPATH_MAX_SHIFT)
		return -EINVAL;
	ps->shift = shift;
	pools_align(ps);
	return 0;
}

/**
 * mmpath_pools_refine() - make the sample finer
 * @ps: the pools
 * @shift: one page in 2^@shift from now on, or more coarsely if those would be too many
 *
 * See mmpath_lirs_refine(). Without memory for one of them all stay as they are.
 */
void mmpath_pools_refine(struct mmpath_pools *ps, unsigned int shift)
{
	struct mmpath_pool *pool;

	list_for_each_entry(pool, &ps->list, node)
		mmpath_lirs_refine(&pool->pages, shift);
	ps->shift = min(ps->shift, shift);
	pools_align(ps);
}

static u32 pools_to_steps(const struct mmpath_pools *ps, u64 pages)
{
	return min_t(u64, div64_u64(pages + ps->step - 1, ps->step), MMPATH_STEPS);
}

/*
 * Memory is divided in equal steps. How much is known to be in memory changes all the
 * time, so their size does not before there would be too many of them, or half as many.
 */
static void pools_set_step(struct mmpath_pools *ps)
{
	u64 nr = ps->step ? div64_u64(ps->size, ps->step) : 0;
	struct mmpath_pool *pool;

	if (ps->step && nr <= MMPATH_STEPS && (nr > MMPATH_STEPS / 2 || ps->step == 1))
		return;
	ps->step = ps->size / MMPATH_STEPS + 1;
	list_for_each_entry(pool, &ps->list, node) {
		memset(pool->window, 0, sizeof(pool->window));
		if (pool->target != U64_MAX)
			pool->share.steps = pools_to_steps(ps, pool->target);
	}
}

/**
 * mmpath_pools_set_size() - set how much memory there is
 * @ps: the pools
 * @pages: of memory
 * @pab_pages: of them those that no policy may evict, since they are in use
 *
 * Targets are for the next epoch: until then, who gives is told by who is further above.
 */
void mmpath_pools_set_size(struct mmpath_pools *ps, u64 pages, u64 pab_pages)
{
	struct mmpath_pool *pool;

	ps->hirs = max(pab_pages, 1ULL);
	ps->size = pages;
	pools_set_step(ps);
	list_for_each_entry(pool, &ps->list, node)
		pool_resize(ps, pool);
}

/* Are there so many misses that it matters, and is no accident? */
static bool pools_enough_misses(const struct mmpath_pools *ps, u64 misses, u64 has)
{
	return misses >= has >> ENOUGH_SHIFT && misses >> ps->shift >= ENOUGH_SAMPLES;
}

/* Where the pool stands: at its target, or at what it has, if that is less. */
static void pool_choose(struct mmpath_pools *ps, struct mmpath_pool *pool,
			const struct mmpath_mrc *lru, const struct mmpath_mrc *mru)
{
	u64 has = min(pool->target, mmpath_pool_has(pool));
	u64 by_lru = mmpath_mrc_misses(lru, MMPATH_MRC_EPOCH, has);
	u64 by_mru = mmpath_mrc_misses(mru, MMPATH_MRC_EPOCH, has);
	bool was = pool->mru;

	if (!pools_enough_misses(ps, max(by_lru, by_mru), has))
		return;
	if (by_mru + (by_lru >> MARGIN_SHIFT) < by_lru)
		pool->score = min(pool->score + 1, SCORE_MOST);
	else
		pool->score = max(pool->score - 1, 0);
	if (pool->score == SCORE_MOST)
		pool->mru = true;
	else if (!pool->score)
		pool->mru = false;
	ps->switches += pool->mru != was;
}

/**
 * mmpath_pools_judge() - choose the policy of a region, whose epoch is over
 * @ps: the pools
 * @key: of the region; nothing is done if it has no pool
 * @lru: its curve under LRU
 * @mru: and under MRU
 *
 * Chooses the policy of the region (thesis 4.3.1, "Switching Replacement Policy").
 */
void mmpath_pools_judge(struct mmpath_pools *ps, u64 key, const struct mmpath_mrc *lru,
			const struct mmpath_mrc *mru)
{
	struct mmpath_pool *pool = mmpath_pools_find(ps, key);

	if (!pool || pool == ps->old || ps->size == U64_MAX)
		return;
	pool_choose(ps, pool, lru, mru);
	/* of both; the one in use is what counts */
	mmpath_share_window(&pool->share, pool->window[!pool->mru], pool->mru ? lru : mru,
			    ps->step, 0);
	mmpath_share_window(&pool->share, pool->window[pool->mru], pool->mru ? mru : lru,
			    ps->step, 0);
	pool->judged = true;
}

static bool pool_gone(const struct mmpath_pools *ps, const struct mmpath_pool *pool)
{
	return pool != ps->old && !pool->judged && !mmpath_pool_has(pool);
}

/* What a pool must have, and may: see above. */
static void pool_set_bounds(const struct mmpath_pools *ps, struct mmpath_pool *pool)
{
	u64 has = mmpath_pool_has(pool);

	if (pool == ps->old) {
		memset(pool->share.lambda, 0, sizeof(pool->share.lambda));
		pool->share.least = ps->crowded ? pools_to_steps(ps, has) : 0;
	} else {
		pool->share.least = pools_to_steps(ps, pool->judged ? min(has, ps->hirs) : has);
	}
	pool->share.most = MMPATH_STEPS;
	if (pool->target == U64_MAX)
		pool->share.steps = pools_to_steps(ps, has);
}

/**
 * mmpath_pools_close_epoch() - close the epoch of all regions
 * @ps: the pools; those of all regions have been judged
 *
 * Divides memory among them (thesis 4.3.1, "Allocating Memory to Regions").
 */
void mmpath_pools_close_epoch(struct mmpath_pools *ps)
{
	struct mmpath_share *shares[MMPATH_MAX_POOLS];
	struct mmpath_pool *pool, *next;
	unsigned int nr = 0;

	if (ps->size == U64_MAX)
		return;
	if (!mmpath_pool_has(ps->old))
		ps->crowded = false;
	list_for_each_entry_safe(pool, next, &ps->list, node) {
		if (pool_gone(ps, pool)) {
			pool_free(ps, pool);
			continue;
		}
		pool_set_bounds(ps, pool);
		shares[nr++] = &pool->share;
	}
	mmpath_divide(shares, nr, MMPATH_BALANCE_THROUGHPUT,
		      div64_u64(ps->size, ps->step), MOVES);
	list_for_each_entry(pool, &ps->list, node) {
		pool->target = pool->share.steps * ps->step;
		pool->judged = false;
		pool_resize(ps, pool);
	}
}

/**
 * mmpath_pools_known() - return how many pages are known to be in memory
 * @ps: the pools
 *
 * Return: pages, not sampled ones.
 */
u64 mmpath_pools_known(const struct mmpath_pools *ps)
{
	const struct mmpath_pool *pool;
	u64 sum = 0;

	list_for_each_entry(pool, &ps->list, node)
		sum += mmpath_pool_has(pool);
	return sum;
}
