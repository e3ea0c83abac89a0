// SPDX-License-Identifier: GPL-2.0
/*
 * Region-specific replacement (thesis 4.3.1): each region has a pool of memory, with LRU
 * or MRU, whichever misses less there.
 *
 *	touch --key of the region--> pool --+-- LRU or MRU (lirs.c with either size)
 *					    +-- pages that it has, and its target
 *
 *	victim: from the pool that is furthest above its target
 *
 * So a victim is not the oldest page of all, and a scan of one region does not drive out
 * the pages of another.
 *
 * MRU or LRU
 * ----------
 *
 * At the end of an epoch in which a region missed often enough, or would have missed often
 * enough with the other policy, both its curves are read at its target. A counter goes up
 * by one if MRU misses less than LRU by 1/16 of LRU's misses, and down by one if not. At its
 * upper end MRU is used, at its lower end LRU. In between the policy stays, so a region that
 * is used in two ways by turns does not change each time. A change takes no page out of
 * memory. The new policy applies to pages that are touched from then on.
 *
 * The sizes of pools
 * ------------------
 *
 * divide.c does the same as for cgroups: memory goes from the region that loses least to the
 * one that gains most, a few steps an epoch, if the gain is worth it. (The thesis has
 * benefit and penalty exchanged in 4.3.1; 4.4 has them right.)
 *
 * A curve says nothing about pages that the driver filters out because they are hot. A
 * region would lose these first, although it uses them most. So each region keeps as many
 * pages as the driver may be filtering out, or all it has. A region without a known curve
 * keeps what it has.
 *
 * Pages that were touched before the policy began are in a pool of their own, the first,
 * which loses nothing by giving pages. A page goes to the pool of its region at its next
 * touch.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/list.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "model.h"

#define POOLS_SCORE_MOST	4
#define POOLS_MARGIN_SHIFT	4	/* 1/16 of the misses of LRU */
#define POOLS_ENOUGH_SHIFT	4	/* 1/16 of the pages that a region has */
#define POOLS_ENOUGH_SAMPLES	8
#define POOLS_MOVES		8U	/* steps to move in an epoch, of MMPATH_STEPS */

/**
 * mmpath_pool_has() - return how many pages of a pool are known to be in memory
 * @pool: the pool
 *
 * Return: pages, scaled up from the sample.
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
 * mmpath_pools_init() - initialize pools, with the first one only
 * @ps: the pools
 * @mem: allocator
 * @max_pages: sampled pages that each may hold, see mmpath_lirs_init()
 * @shift: sample one page in 2^@shift
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
 * mmpath_pools_destroy() - free all memory of pools
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
 * @key: key of the region
 *
 * Return: the pool, or NULL if the region has none of its own.
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

/*
 * Find or create the pool of a region. If there are too many, or there is no memory, the region
 * shares the first pool. The pages of that count as worth keeping then.
 */
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

/* Give all pools the same sample, the coarsest. */
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
 * __mmpath_pools_touch() - note the touch of a page that is in the sample
 * @ps: the pools
 * @key: key of the page's region
 * @page: number of the page, which is in memory from now on
 *
 * Return: the same as __mmpath_lirs_touch().
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

/* How far is a pool above its target? One without a target is at it. */
static s64 pool_excess(const struct mmpath_pool *pool)
{
	return pool->target == U64_MAX ? 0 : (s64)(mmpath_pool_has(pool) - pool->target);
}

static bool pools_victim_before(const struct mmpath_pool *a, const struct mmpath_pool *b)
{
	if (pool_excess(a) != pool_excess(b))
		return pool_excess(a) > pool_excess(b);
	return mmpath_pool_has(a) > mmpath_pool_has(b);
}

/**
 * mmpath_pools_victim() - choose the next victim
 * @ps: the pools
 * @page: returns the number of the page
 * @key: returns the key of its region
 *
 * Return: false if no page is in memory.
 */
bool mmpath_pools_victim(struct mmpath_pools *ps, u64 *page, u64 *key)
{
	struct mmpath_pool *pool, *best = NULL;

	list_for_each_entry(pool, &ps->list, node)
		if (mmpath_pool_has(pool) && (!best || pools_victim_before(pool, best)))
			best = pool;
	if (!best)
		return false;
	*key = best->key;
	return mmpath_lirs_victim(&best->pages, page);
}

/**
 * mmpath_pools_keep() - put back a victim that did not leave memory
 * @ps: the pools
 * @key: key of the page's region
 * @page: number of the page
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
 * @nr: number of pages
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
 * @to: new number of the first page
 * @nr: number of pages; the two ranges must not overlap
 *
 * Return: 0, -EINVAL, or -ENOMEM if some pages were forgotten.
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
 * mmpath_pools_set_shift() - make the sample of all pools coarser
 * @ps: the pools
 * @shift: sample one page in 2^@shift from now on
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
 * mmpath_pools_refine() - make the sample of all pools finer
 * @ps: the pools
 * @shift: sample one page in 2^@shift from now on, or fewer if those would be too many
 *
 * See mmpath_lirs_refine(). Without memory for one of the pools all stay as they are.
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
 * Set the size of a step. How much is known to be in memory changes all the time. So the size
 * changes only when there would be more than MMPATH_STEPS steps, or less than half as many.
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
 * mmpath_pools_set_size() - set the size of memory
 * @ps: the pools
 * @pages: size of memory
 * @pab_pages: pages of memory that no policy may evict, because they are in use
 *
 * Targets change at the end of the epoch. Until then victims still come from the pool that is
 * furthest above its target.
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

/* Are there enough misses to matter, and to rule out chance? */
static bool pools_enough_misses(const struct mmpath_pools *ps, u64 misses, u64 has)
{
	return misses >= has >> POOLS_ENOUGH_SHIFT && misses >> ps->shift >= POOLS_ENOUGH_SAMPLES;
}

/* Choose LRU or MRU for a pool, at its target, or at what it has if that is less. */
static void pool_choose(struct mmpath_pools *ps, struct mmpath_pool *pool,
			const struct mmpath_mrc *lru, const struct mmpath_mrc *mru)
{
	u64 has = min(pool->target, mmpath_pool_has(pool));
	u64 by_lru = mmpath_mrc_misses(lru, MMPATH_MRC_EPOCH, has);
	u64 by_mru = mmpath_mrc_misses(mru, MMPATH_MRC_EPOCH, has);
	bool was = pool->mru;

	if (!pools_enough_misses(ps, max(by_lru, by_mru), has))
		return;
	if (by_mru + (by_lru >> POOLS_MARGIN_SHIFT) < by_lru)
		pool->score = min(pool->score + 1, POOLS_SCORE_MOST);
	else
		pool->score = max(pool->score - 1, 0);
	if (pool->score == POOLS_SCORE_MOST)
		pool->mru = true;
	else if (!pool->score)
		pool->mru = false;
	ps->switches += pool->mru != was;
}

/**
 * mmpath_pools_close_region() - choose the policy of a region at the end of its epoch
 * @ps: the pools
 * @key: key of the region; nothing is done if the region has no pool
 * @lru: curve of the region under LRU
 * @mru: curve of the region under MRU
 *
 * Chooses the policy of the region (thesis 4.3.1, "Switching Replacement Policy").
 */
void mmpath_pools_close_region(struct mmpath_pools *ps, u64 key, const struct mmpath_mrc *lru,
			       const struct mmpath_mrc *mru)
{
	struct mmpath_pool *pool = mmpath_pools_find(ps, key);

	if (!pool || pool == ps->old || ps->size == U64_MAX)
		return;
	pool_choose(ps, pool, lru, mru);
	/* update both windows; the policy in use comes last, and sets the curve of the share */
	mmpath_share_window(&pool->share, pool->window[!pool->mru], pool->mru ? lru : mru,
			    ps->step, 0);
	mmpath_share_window(&pool->share, pool->window[pool->mru], pool->mru ? mru : lru,
			    ps->step, 0);
	pool->closed = true;
}

static bool pool_gone(const struct mmpath_pools *ps, const struct mmpath_pool *pool)
{
	return pool != ps->old && !pool->closed && !mmpath_pool_has(pool);
}

/* Set the bounds of a pool, see above. */
static void pool_set_bounds(const struct mmpath_pools *ps, struct mmpath_pool *pool)
{
	u64 has = mmpath_pool_has(pool);

	if (pool == ps->old) {
		memset(pool->share.lambda, 0, sizeof(pool->share.lambda));
		pool->share.least = ps->crowded ? pools_to_steps(ps, has) : 0;
	} else {
		pool->share.least = pools_to_steps(ps, pool->closed ? min(has, ps->hirs) : has);
	}
	pool->share.most = MMPATH_STEPS;
	if (pool->target == U64_MAX)
		pool->share.steps = pools_to_steps(ps, has);
}

/**
 * mmpath_pools_close_epoch() - divide memory between the pools at the end of an epoch
 * @ps: the pools; mmpath_pools_close_region() was called for all regions
 *
 * Thesis 4.3.1, "Allocating Memory to Regions".
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
		      div64_u64(ps->size, ps->step), POOLS_MOVES);
	list_for_each_entry(pool, &ps->list, node) {
		pool->target = pool->share.steps * ps->step;
		pool->closed = false;
		pool_resize(ps, pool);
	}
}

/**
 * mmpath_pools_known() - return how many pages are known to be in memory
 * @ps: the pools
 *
 * Return: pages, scaled up from the sample.
 */
u64 mmpath_pools_known(const struct mmpath_pools *ps)
{
	const struct mmpath_pool *pool;
	u64 sum = 0;

	list_for_each_entry(pool, &ps->list, node)
		sum += mmpath_pool_has(pool);
	return sum;
}
