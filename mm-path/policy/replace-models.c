// SPDX-License-Identifier: GPL-2.0
/*
 * The domain tells a replacer of pages: LIRS in each mode, and with it a contest (auto) or pools of
 * regions (region).
 */
#include <linux/memcontrol.h>
#include "../../internal.h"
#include "replace.h"
#include "reserve.h"

#define MMPATH_CONTEST_PAGES	1536U	/* sampled pages of each simulation, at most */
#define MMPATH_REPLACE_PAGES	(1U << 20)	/* sampled pages of a policy, at most */

static struct mmpath_replacer *mmpath_lirs_of(const struct mmpath_policy *p)
{
	return container_of(p, struct mmpath_replacer, as_lirs);
}

static int mmpath_replace_lirs_touch(struct mmpath_policy *p, u64 page, u64 region)
{
	struct mmpath_lirs *lirs = &mmpath_lirs_of(p)->lirs;
	int ret = __mmpath_lirs_touch(lirs, page);

	p->shift = lirs->shift;
	return ret;
}

static void mmpath_replace_lirs_forget(struct mmpath_policy *p, u64 first, u64 nr)
{
	mmpath_lirs_forget(&mmpath_lirs_of(p)->lirs, first, nr);
}

static int mmpath_replace_lirs_move(struct mmpath_policy *p, u64 from, u64 to, u64 nr)
{
	struct mmpath_lirs *lirs = &mmpath_lirs_of(p)->lirs;
	int ret = mmpath_lirs_move(lirs, from, to, nr);

	p->shift = lirs->shift;
	return ret;
}

static void mmpath_replace_lirs_set_shift(struct mmpath_policy *p, unsigned int shift)
{
	struct mmpath_lirs *lirs = &mmpath_lirs_of(p)->lirs;

	if (shift > lirs->shift)
		mmpath_lirs_set_shift(lirs, shift);
	p->shift = lirs->shift;
}

static void mmpath_replace_lirs_refine(struct mmpath_policy *p, unsigned int shift)
{
	struct mmpath_lirs *lirs = &mmpath_lirs_of(p)->lirs;

	mmpath_lirs_refine(lirs, shift);
	p->shift = lirs->shift;
}

static bool mmpath_replace_acts(const struct mmpath_policy *p)
{
	const struct mmpath_replacer *r = mmpath_lirs_of(p);

	return !r->as_contest.dom || mmpath_contest_winner(&r->contest) != MMPATH_POLICY_KERNEL;
}

static const struct mmpath_policy_ops mmpath_replace_lirs_ops = {
	.touch		= mmpath_replace_lirs_touch,
	.forget		= mmpath_replace_lirs_forget,
	.move		= mmpath_replace_lirs_move,
	.set_shift	= mmpath_replace_lirs_set_shift,
	.refine		= mmpath_replace_lirs_refine,
	.acts		= mmpath_replace_acts,
};

static struct mmpath_replacer *mmpath_contest_of(const struct mmpath_policy *p)
{
	return container_of(p, struct mmpath_replacer, as_contest);
}

static int mmpath_replace_contest_touch(struct mmpath_policy *p, u64 page, u64 region)
{
	struct mmpath_contest *contest = &mmpath_contest_of(p)->contest;
	int ret = __mmpath_contest_touch(contest, page);

	p->shift = contest->seen.shift;
	return ret;
}

static void mmpath_replace_contest_forget(struct mmpath_policy *p, u64 first, u64 nr)
{
	mmpath_contest_forget(&mmpath_contest_of(p)->contest, first, nr);
}

static int mmpath_replace_contest_move(struct mmpath_policy *p, u64 from, u64 to, u64 nr)
{
	struct mmpath_contest *contest = &mmpath_contest_of(p)->contest;
	int ret = mmpath_contest_move(contest, from, to, nr);

	p->shift = contest->seen.shift;
	return ret;
}

/* The sample of LIRS, which is told first, may be coarser than that of the members. */
static void mmpath_replace_contest_set_shift(struct mmpath_policy *p, unsigned int shift)
{
	struct mmpath_replacer *r = mmpath_contest_of(p);

	mmpath_contest_set_shift(&r->contest, r->lirs.shift);
	p->shift = r->contest.seen.shift;
}

static void mmpath_replace_contest_close_epoch(struct mmpath_policy *p)
{
	struct mmpath_contest *contest = &mmpath_contest_of(p)->contest;

	mmpath_contest_close_epoch(contest);
	p->shift = contest->seen.shift;
}

static const struct mmpath_policy_ops mmpath_replace_contest_ops = {
	.touch		= mmpath_replace_contest_touch,
	.forget		= mmpath_replace_contest_forget,
	.move		= mmpath_replace_contest_move,
	.set_shift	= mmpath_replace_contest_set_shift,
	.refine		= mmpath_replace_contest_set_shift,
	.close_epoch	= mmpath_replace_contest_close_epoch,
};

static struct mmpath_pools *mmpath_pools_of(const struct mmpath_policy *p)
{
	return &container_of(p, struct mmpath_replacer, as_pools)->pools;
}

static int mmpath_replace_pools_touch(struct mmpath_policy *p, u64 page, u64 region)
{
	struct mmpath_pools *pools = mmpath_pools_of(p);
	int ret = __mmpath_pools_touch(pools, region, page);

	p->shift = pools->shift;
	return ret;
}

static void mmpath_replace_pools_forget(struct mmpath_policy *p, u64 first, u64 nr)
{
	mmpath_pools_forget(mmpath_pools_of(p), first, nr);
}

static int mmpath_replace_pools_move(struct mmpath_policy *p, u64 from, u64 to, u64 nr)
{
	struct mmpath_pools *pools = mmpath_pools_of(p);
	int ret = mmpath_pools_move(pools, from, to, nr);

	p->shift = pools->shift;
	return ret;
}

static void mmpath_replace_pools_set_shift(struct mmpath_policy *p, unsigned int shift)
{
	struct mmpath_pools *pools = mmpath_pools_of(p);

	if (shift > pools->shift)
		mmpath_pools_set_shift(pools, shift);
	p->shift = pools->shift;
}

static void mmpath_replace_pools_refine(struct mmpath_policy *p, unsigned int shift)
{
	struct mmpath_pools *pools = mmpath_pools_of(p);

	mmpath_pools_refine(pools, shift);
	p->shift = pools->shift;
}

static void mmpath_replace_pools_close_region(struct mmpath_policy *p, u64 region,
					      const struct mmpath_models *models)
{
	mmpath_pools_close_region(mmpath_pools_of(p), region, &models->lru_mrc, &models->mru_mrc);
}

static void mmpath_replace_pools_close_epoch(struct mmpath_policy *p)
{
	struct mmpath_pools *pools = mmpath_pools_of(p);

	mmpath_pools_close_epoch(pools);
	p->shift = pools->shift;
}

static const struct mmpath_policy_ops mmpath_replace_pools_ops = {
	.touch		= mmpath_replace_pools_touch,
	.forget		= mmpath_replace_pools_forget,
	.move		= mmpath_replace_pools_move,
	.set_shift	= mmpath_replace_pools_set_shift,
	.refine		= mmpath_replace_pools_refine,
	.close_region	= mmpath_replace_pools_close_region,
	.close_epoch	= mmpath_replace_pools_close_epoch,
};

/**
 * mmpath_start_lirs() - begin with the pages that were touched so far
 * @r: the replacer
 *
 * Context: may sleep; takes the domain's lock.
 */
void mmpath_start_lirs(struct mmpath_replacer *r)
{
	struct mmpath_domain *dom = r->dom;

	mutex_lock(&dom->lock);
	mmpath_lirs_init(&r->lirs, &dom->mem, MMPATH_REPLACE_PAGES, dom->lru.shift);
	r->as_lirs.ops = &mmpath_replace_lirs_ops;
	r->as_lirs.shift = r->lirs.shift;
	mmpath_domain_tell_policy(dom, &r->as_lirs);
	mmpath_domain_add_policy(dom, &r->as_lirs);
	mutex_unlock(&dom->lock);
}

static void mmpath_start_contest(struct mmpath_replacer *r)
{
	mmpath_contest_init(&r->contest, &r->dom->mem, MMPATH_CONTEST_PAGES, r->lirs.shift);
	r->as_contest.ops = &mmpath_replace_contest_ops;
	r->as_contest.shift = r->contest.seen.shift;
	mmpath_domain_add_policy(r->dom, &r->as_contest);
}

static void mmpath_stop_contest(struct mmpath_replacer *r)
{
	if (!r->as_contest.dom)
		return;
	mmpath_domain_del_policy(&r->as_contest);
	mmpath_contest_destroy(&r->contest);
}

/* Pages that were touched so far go into a pool of their own, as far as there is memory. */
static int mmpath_start_pools(struct mmpath_replacer *r)
{
	struct mmpath_domain *dom = r->dom;
	int ret = mmpath_pools_init(&r->pools, &dom->mem, MMPATH_REPLACE_PAGES, dom->lru.shift);

	BUILD_BUG_ON(MMPATH_REGION_UNKNOWN != MMPATH_POOL_OLD);
	if (ret)
		return ret;
	r->as_pools.ops = &mmpath_replace_pools_ops;
	r->as_pools.shift = r->pools.shift;
	mmpath_domain_tell_policy(dom, &r->as_pools);
	/* curves have fewer pages than a policy */
	mmpath_replace_pools_refine(&r->as_pools, r->lirs.shift);
	mmpath_domain_add_policy(dom, &r->as_pools);
	return 0;
}

static void mmpath_stop_pools(struct mmpath_replacer *r)
{
	if (!r->as_pools.dom)
		return;
	mmpath_domain_del_policy(&r->as_pools);
	mmpath_pools_destroy(&r->pools);
}

/**
 * mmpath_stop_models() - the domain tells nothing any more, and all that the models know is freed
 * @r: the replacer
 *
 * Context: may sleep; takes the domain's lock.
 */
void mmpath_stop_models(struct mmpath_replacer *r)
{
	mutex_lock(&r->dom->lock);
	mmpath_stop_pools(r);
	mmpath_stop_contest(r);
	mmpath_domain_del_policy(&r->as_lirs);
	mmpath_lirs_destroy(&r->lirs);
	mutex_unlock(&r->dom->lock);
}

/**
 * mmpath_set_mode() - set the mode of a replacer
 * @r: the replacer
 * @mode: the mode
 *
 * A contest and pools cost time and memory, so they exist only in the modes that use them.
 * Context: may sleep; takes the domain's lock. Return: 0, or -ENOMEM, and nothing has changed.
 */
int mmpath_set_mode(struct mmpath_replacer *r, enum mmpath_mode mode)
{
	struct mmpath_domain *dom = r->dom;
	int ret = 0;

	mutex_lock(&dom->lock);
	if (mode == MMPATH_MODE_REGION && !r->as_pools.dom)
		ret = mmpath_start_pools(r);
	if (ret)
		goto unlock;
	WRITE_ONCE(r->mode, mode);
	if (mode != MMPATH_MODE_REGION)
		mmpath_stop_pools(r);
	if (mode != MMPATH_MODE_AUTO)
		mmpath_stop_contest(r);
	else if (!r->as_contest.dom)
		mmpath_start_contest(r);
unlock:
	mutex_unlock(&dom->lock);
	return ret;
}

/**
 * mmpath_find_replacer() - find the replacer of a domain
 * @dom: the domain; its lock is held
 *
 * Return: the replacer, or NULL.
 */
struct mmpath_replacer *mmpath_find_replacer(struct mmpath_domain *dom)
{
	struct mmpath_policy *p = mmpath_domain_find_policy(dom, &mmpath_replace_lirs_ops);

	return p ? mmpath_lirs_of(p) : NULL;
}

/**
 * mmpath_replace_pool() - find the pool of a region
 * @dom: the domain; its lock is held
 * @ctx: a member of the domain
 * @region: id of a region of @ctx
 *
 * Return: the pool, or NULL if the region has none.
 */
const struct mmpath_pool *mmpath_replace_pool(struct mmpath_domain *dom,
					      const struct mmpath_ctx *ctx, u32 region)
{
	struct mmpath_policy *p = mmpath_domain_find_policy(dom, &mmpath_replace_pools_ops);

	return p ? mmpath_pools_find(mmpath_pools_of(p), mmpath_domain_key(ctx, region)) : NULL;
}
