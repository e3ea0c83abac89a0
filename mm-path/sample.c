// SPDX-License-Identifier: GPL-2.0
/*
 * The sample of a context. One page in 2^d.shift is tracked. The curves have one page in
 * 2^regions.params.shift, which are as many or fewer.
 *
 * Locks: see core.h.
 */
#include <linux/log2.h>
#include <linux/mm.h>
#include "core.h"

#define MMPATH_CURVE_COARSER	5U	/* curves have at least one tracked page in 2^5 */

/*
 * A replacement policy needs the order of all pages that are tracked. The curves do not: at all
 * these pages they would cost several times as much as the policy. So with a policy the sample of
 * the curves is coarser, as long as it has MMPATH_CURVE_PAGES.
 */
static unsigned int mmpath_curve_shift(const struct mmpath_ctx *ctx, unsigned int shift)
{
	unsigned long enough = get_mm_rss(ctx->d.mm) / MMPATH_CURVE_PAGES >> shift;

	if (!mmpath_has_policy(&ctx->d) || enough < 2)
		return shift;
	return shift + min_t(unsigned int, ilog2(enough), MMPATH_CURVE_COARSER);
}

/**
 * mmpath_has_policy() - tell whether a policy is told of a context's pages
 * @d: the context
 *
 * Context: a hint unless ctx->lock is held.
 */
bool mmpath_has_policy(const struct mmpath_drv_ctx *d)
{
	const struct mmpath_ctx *ctx = to_mmpath_ctx(d);
	int i;

	for (i = 0; i < READ_ONCE(ctx->nr_domains); i++)
		if (!list_empty(&READ_ONCE(ctx->domains[i])->policies))
			return true;
	return false;
}

/**
 * mmpath_policy_acts() - tell whether a policy chooses now, or leaves that to the kernel
 * @d: the context
 *
 * Context: takes the locks of its domains. Called with mmpath_mutex.
 */
bool mmpath_policy_acts(const struct mmpath_drv_ctx *d)
{
	const struct mmpath_ctx *ctx = to_mmpath_ctx(d);
	bool acts = false;
	int i;

	lockdep_assert_held(&mmpath_mutex);
	for (i = 0; i < ctx->nr_domains; i++)
		acts |= mmpath_domain_policy_acts(ctx->domains[i]);
	return acts;
}

/**
 * __mmpath_set_shift() - mmpath_set_shift(), with ctx->lock held
 * @ctx: the context
 * @shift: one page in 2^@shift; not finer than before
 */
void __mmpath_set_shift(struct mmpath_ctx *ctx, unsigned int shift)
{
	unsigned int curve = mmpath_curve_shift(ctx, shift);
	int i;

	lockdep_assert_held(&ctx->lock);
	__mmpath_drain(ctx, true);
	if (curve > ctx->regions.params.shift)
		mmpath_regions_set_shift(&ctx->regions, curve);
	else if (curve < ctx->regions.params.shift)
		mmpath_regions_reset(&ctx->regions, curve);
	WRITE_ONCE(ctx->d.shift, shift);
	for (i = 0; i < ctx->nr_domains; i++)
		mmpath_domain_set_shift(ctx->domains[i], shift, curve);
}

/**
 * mmpath_coarsen() - track fewer pages of a context, from the next record on
 * @d: the context
 * @shift: one page in 2^@shift, if that is less than now
 *
 * For drivers that deliver more than may be had. Context: may sleep; takes ctx->lock.
 */
void mmpath_coarsen(struct mmpath_drv_ctx *d, unsigned int shift)
{
	struct mmpath_ctx *ctx = to_mmpath_ctx(d);

	mutex_lock(&ctx->lock);
	if (shift > d->shift)
		__mmpath_set_shift(ctx, shift);
	mutex_unlock(&ctx->lock);
}

/**
 * mmpath_coarsen_curves() - sample curves more coarsely if a program has grown
 * @ctx: the context, whose lock is held
 */
void mmpath_coarsen_curves(struct mmpath_ctx *ctx)
{
	if (mmpath_curve_shift(ctx, ctx->d.shift) > ctx->regions.params.shift)
		__mmpath_set_shift(ctx, ctx->d.shift);
}

/* The shifts of the coarsest member; mmpath_mutex keeps members in @dom. */
static unsigned int mmpath_coarsest(struct mmpath_domain *dom, unsigned int *curve)
{
	unsigned int shift = 0;
	struct mmpath_ctx *ctx;
	unsigned long id;

	lockdep_assert_held(&mmpath_mutex);
	*curve = 0;
	mmpath_for_each_member(ctx, id, dom) {
		/* may become coarser meanwhile, and the stacks with it */
		shift = max(shift, READ_ONCE(ctx->d.shift));
		*curve = max(*curve, READ_ONCE(ctx->regions.params.shift));
	}
	return shift;
}

/**
 * mmpath_set_shift() - change how many pages of a context are tracked
 * @d: the context
 * @shift: one page in 2^@shift
 *
 * The stacks keep the pages that are in the new sample. To a finer sample
 * nothing is known of the other pages: the region stacks start again, and the
 * merged stack stays as coarse as it is until it is reset. Context: may sleep;
 * takes ctx->lock. Called with mmpath_mutex, which keeps members in their domains.
 */
void mmpath_set_shift(struct mmpath_drv_ctx *d, unsigned int shift)
{
	struct mmpath_ctx *ctx = to_mmpath_ctx(d);
	unsigned int curve;
	bool finer;
	int i;

	lockdep_assert_held(&mmpath_mutex);
	mutex_lock(&ctx->lock);
	finer = shift < d->shift;
	__mmpath_set_shift(ctx, shift);
	mutex_unlock(&ctx->lock);
	for (i = 0; finer && i < ctx->nr_domains; i++)
		mmpath_domain_refine(ctx->domains[i], mmpath_coarsest(ctx->domains[i], &curve));
}

/**
 * mmpath_policy_began() - fit the samples of a domain's members to a policy that has begun
 * @dom: the domain
 *
 * Its members' curves are of fewer pages from now on, and stay that when the policy ends
 * until the sample changes for another reason. The policy began with the merged stack,
 * which may sample more coarsely than the members do. Context: may sleep; takes
 * mmpath_mutex.
 */
void mmpath_policy_began(struct mmpath_domain *dom)
{
	struct mmpath_ctx *ctx;
	unsigned int curve;
	unsigned long id;

	mutex_lock(&mmpath_mutex);
	mmpath_for_each_member(ctx, id, dom) {
		mutex_lock(&ctx->lock);
		__mmpath_set_shift(ctx, ctx->d.shift);
		mutex_unlock(&ctx->lock);
	}
	mmpath_domain_refine(dom, mmpath_coarsest(dom, &curve));
	mutex_unlock(&mmpath_mutex);
}

/**
 * mmpath_reset_domain() - empty the stack and the curve of a domain
 * @dom: the domain
 *
 * The stack is as fine again as its coarsest member. Context: may sleep; takes
 * mmpath_mutex.
 */
void mmpath_reset_domain(struct mmpath_domain *dom)
{
	unsigned int curve;

	mutex_lock(&mmpath_mutex);
	mmpath_coarsest(dom, &curve);
	mmpath_domain_reset(dom, curve);
	mutex_unlock(&mmpath_mutex);
}
