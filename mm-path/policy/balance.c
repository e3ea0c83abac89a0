// SPDX-License-Identifier: GPL-2.0
/*
 * Balance: how the memory of a cgroup is divided between its children (thesis 4.4).
 *
 *	curves of the children --each epoch, divide.c--> a target for each
 *	reclaim in the parent: skip children that are not far above their targets
 *
 * A target is no limit. As long as the parent has free memory no child is held back, and
 * no program is ever throttled or killed because of a target. When the parent is full,
 * reclaim takes from the children furthest above their targets, and skips the others. So
 * memory moves page by page, from the child that loses least to the one that needs it. If
 * reclaim finds nothing there (no swap, locked pages), it looks at all children before it
 * gives up, as it does when all are below memory.low. The target of a child from which
 * nothing could be reclaimed is as much as it has, for some time. When balancing is
 * switched off, the targets are forgotten.
 *
 * Only curves can tell the worth of memory. A child that is not tracked has no target.
 * Reclaim skips it while some child is above its target, and otherwise treats it as without
 * balance. A child has no target in mode throughput either if its curve is new, or does
 * not explain its refaults. Reclaim treats it as without balance. In modes fair and sla,
 * which promise something to the others, its target is what it has.
 *
 * Kernel memory of a child is unknown to its curve. It counts for the child, which has that
 * much less for its pages.
 *
 * The predictions of the curves are added up, and so are the refaults that followed: see
 * mmpath_show_predictions().
 *
 * Locks: see core.h. Changes of the lists hold mmpath_memcg_mutex. Reclaim holds SRCU.
 */
#include <linux/cgroup.h>
#include <linux/memcontrol.h>
#include <linux/rculist.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/swap.h>
#include <linux/xarray.h>
#include "balance.h"
#include "replace.h"

#define MMPATH_MOVES		8U	/* steps an epoch, of MMPATH_STEPS */
#define MMPATH_LEAST_PAGES	64U	/* pages that each child can always have */
#define MMPATH_REFUSALS		64	/* failures in an epoch, of all priorities and nodes */
#define MMPATH_STUCK_EPOCHS	16	/* for which a child keeps its memory after as many */
#define MMPATH_CAME_LEAST	128ULL	/* recent refaults; fewer say nothing about a curve */

/**
 * struct mmpath_balancer - a cgroup that has its memory divided among its children
 * @memcg: the cgroup; holds a reference
 * @mode: what the targets are to achieve
 * @sharers: children with curves
 * @nr: number of @sharers
 * @step: size of a step in pages; 0 while the cgroup has no limit
 * @total: number of steps in the last epoch
 * @ended: when the last epoch ended, jiffies
 * @epoch_ms: length of the epoch that began then
 * @epochs: number of epochs in which targets were set
 * @moved: number of steps that have moved
 * @relaxed_noswap: how often a target was raised to what is not reclaimable without swap
 * @relaxed_stuck: how often a target was raised because nothing could be reclaimed
 * @ns: time spent on all epochs
 * @ns_most: time spent on the longest epoch
 */
struct mmpath_balancer {
	struct mem_cgroup *memcg;
	enum mmpath_balance mode;
	struct list_head sharers;
	unsigned int nr;
	unsigned long step;
	u32 total;
	unsigned long ended;
	unsigned int epoch_ms;
	unsigned long epochs, moved, relaxed_noswap, relaxed_stuck;
	u64 ns, ns_most;
};

DEFINE_STATIC_KEY_FALSE(mmpath_balance_key);
static DEFINE_XARRAY(mmpath_balancers);	/* by the id of the cgroup's css */
DEFINE_STATIC_SRCU(mmpath_balance_srcu);

const char * const mmpath_balance_names[NR_MMPATH_BALANCES] = {
	[MMPATH_BALANCE_NONE]		= "none",
	[MMPATH_BALANCE_THROUGHPUT]	= "throughput",
	[MMPATH_BALANCE_FAIR]		= "fair",
	[MMPATH_BALANCE_SLA]		= "sla",
};

/* Reclaim */

static unsigned long mmpath_usage(struct mem_cgroup *memcg)
{
	return page_counter_read(&memcg->memory);
}

/*
 * Pages of a child above its target. The child that needs memory gets a batch of charges on top.
 * So when all children are at their targets, reclaim takes from that one, and not from one that
 * has a few more pages of kernel memory than before.
 */
static long mmpath_excess(const struct mmpath_sharer *s, struct mem_cgroup *asks)
{
	long excess = mmpath_usage(s->memcg) - READ_ONCE(s->target);

	if (asks && mem_cgroup_is_descendant(asks, s->memcg))
		excess += MEMCG_CHARGE_BATCH;
	return excess;
}

/*
 * RCU keeps the cgroup of the task. Ignore the excess of a child that memory.min or memory.low
 * protects, so that the next child is considered.
 */
static enum mmpath_balance_hint mmpath_balancer_hint(struct mmpath_balancer *b,
						     struct mem_cgroup *target,
						     struct mem_cgroup *memcg, long takes,
						     bool urgent)
{
	struct mem_cgroup *asks = mem_cgroup_from_task(current);
	long excess, most = 0, mine = 0;
	struct mmpath_sharer *s, *of = NULL;

	list_for_each_entry_srcu(s, &b->sharers, node, srcu_read_lock_held(&mmpath_balance_srcu)) {
		excess = mmpath_excess(s, asks);
		if (excess > 0 && mmpath_protected(s->memcg, target))
			excess = 0;
		most = max(most, excess);
		if (!mem_cgroup_is_descendant(memcg, s->memcg))
			continue;
		of = s;
		mine = excess;
	}
	/* pages of a removed child belong to no child */
	if (!most || !mem_cgroup_online(memcg))
		return MMPATH_HINT_NONE;
	/* a child without a curve keeps what it has, but reclaim for itself does not skip it */
	if (!of)
		return asks && mem_cgroup_is_descendant(asks, memcg) ? MMPATH_HINT_NONE :
								       MMPATH_HINT_SKIP;
	if (READ_ONCE(of->target) == PAGE_COUNTER_MAX)
		return MMPATH_HINT_NONE;
	if (urgent && memcg == of->memcg && mine == most)
		atomic_inc(&of->refused);
	return mmpath_is_far_above(mine, most, takes) ? MMPATH_HINT_RECLAIM : MMPATH_HINT_SKIP;
}

/**
 * __mmpath_balance_hint() - decide whether reclaim skips a cgroup
 * @target: cgroup that is reclaimed
 * @memcg: @target or a descendant of it
 * @takes: pages that reclaim may take from @memcg at once
 * @urgent: reclaim has found nothing in the cgroups furthest above their targets; counts as a
 *	failure of the one that is furthest above
 *
 * Context: reclaim. Waits for nothing.
 * Return: MMPATH_HINT_SKIP: skip it; MMPATH_HINT_RECLAIM: reclaim from it before others; or
 *	MMPATH_HINT_NONE.
 */
enum mmpath_balance_hint __mmpath_balance_hint(struct mem_cgroup *target, struct mem_cgroup *memcg,
					       unsigned long takes, bool urgent)
{
	enum mmpath_balance_hint hint = MMPATH_HINT_NONE, one;
	struct mem_cgroup *above;
	struct mmpath_balancer *b;
	int idx;

	/* reclaim of the whole machine, or of a node, is not about the limit of a cgroup */
	if (mem_cgroup_is_root(target))
		return hint;
	idx = srcu_read_lock(&mmpath_balance_srcu);
	for (above = memcg; above && above != target; ) {
		above = parent_mem_cgroup(above);
		b = above ? xa_load(&mmpath_balancers, above->css.id) : NULL;
		if (!b)
			continue;
		rcu_read_lock();
		one = mmpath_balancer_hint(b, target, memcg, takes, urgent);
		hint = max(hint, one);
		rcu_read_unlock();
	}
	srcu_read_unlock(&mmpath_balance_srcu, idx);
	return hint;
}

bool __mmpath_skips(struct mem_cgroup *target, struct mem_cgroup *memcg, int priority,
		    bool urgent)
{
	unsigned long takes = mmpath_usage(memcg) >> priority;

	enum mmpath_balance_hint hint = __mmpath_balance_hint(target ?: root_mem_cgroup, memcg,
							      takes, urgent);

	return hint == MMPATH_HINT_SKIP && !urgent;
}

/* Epochs */

static unsigned long mmpath_limit(struct mem_cgroup *memcg)
{
	return min(READ_ONCE(memcg->memory.max), READ_ONCE(memcg->memory.high));
}

/* CPU time of all programs of a cgroup so far */
static u64 mmpath_cgroup_us(struct mem_cgroup *memcg)
{
	struct cgroup *cgrp = memcg->css.cgroup;

	cgroup_rstat_flush(cgrp);
	return div_u64(cgrp->bstat.cputime.sum_exec_runtime, NSEC_PER_USEC);
}

static unsigned long mmpath_refaults(struct mem_cgroup *memcg)
{
	return memcg_page_state(memcg, WORKINGSET_REFAULT_ANON) +
	       memcg_page_state(memcg, WORKINGSET_REFAULT_FILE);
}

/* Pages that no curve knows and that are not reclaimable: kernel memory */
static unsigned long mmpath_other_pages(struct mem_cgroup *memcg)
{
	return memcg_page_state(memcg, MEMCG_KMEM);
}

static u32 mmpath_sharer_has(const struct mmpath_sharer *s, unsigned long step)
{
	return min_t(unsigned long, mmpath_usage(s->memcg) / step, MMPATH_STEPS);
}

static void mmpath_sharer_take_time(struct mmpath_sharer *s)
{
	u64 us = mmpath_cgroup_us(s->memcg);

	s->cpu_window = mmpath_decay(s->cpu_window, us - s->cpu_us);
	s->cpu_us = us;
	s->share.cpu_us = s->cpu_window >> MMPATH_WINDOW_FRACTION;
}

/* Compare the prediction for this epoch with the refaults. Returns the refaults. */
static unsigned long mmpath_sharer_compare(struct mmpath_sharer *s)
{
	unsigned long refaults = mmpath_refaults(s->memcg), came = refaults - s->refaults;

	if (READ_ONCE(s->target) != PAGE_COUNTER_MAX) {
		s->predicted += s->promise;
		s->measured += came;
	}
	s->came = mmpath_decay(s->came, came);
	s->refaults = refaults;
	return came;
}

/*
 * Add the curve of the last epoch, and the refaults that it explains: as many as it has misses at
 * the memory that the child had, but no more than there were. Misses beyond that do not explain
 * refaults of other epochs: a program that still fills its memory has little, and no refaults.
 */
static void mmpath_sharer_take_curve(struct mmpath_sharer *s, unsigned long step,
				     unsigned long other, u64 came)
{
	u32 has = mmpath_sharer_has(s, step), had = min(s->had, has);
	u64 before = s->window[had], missed, lru;

	mutex_lock(&s->dom->lock);
	mmpath_share_window(&s->share, s->window, &s->dom->mrc, step, other);
	mutex_unlock(&s->dom->lock);
	missed = s->window[had] - mmpath_decay(before, 0);
	lru = s->share.lambda[had];
	if (mmpath_replaces_well(s->dom)) {
		mmpath_share_hull(&s->share);
		missed = mmpath_mul_div(missed, s->share.lambda[had], max(lru, 1ULL));
	}
	s->explained = mmpath_decay(s->explained, 0) +
		       min(missed, came << MMPATH_WINDOW_FRACTION);
	s->had = has;
}

/* Pages that are not reclaimable */
static unsigned long mmpath_fixed_pages(struct mem_cgroup *memcg)
{
	unsigned long pages = memcg_page_state(memcg, NR_UNEVICTABLE);

	if (mem_cgroup_get_nr_swap_pages(memcg) <= 0)
		pages += memcg_page_state(memcg, NR_INACTIVE_ANON) +
			 memcg_page_state(memcg, NR_ACTIVE_ANON);
	return pages;
}

/* Does the curve say nothing, because no program is tracked, or no page was touched twice? */
static bool mmpath_curve_unknown(struct mmpath_domain *dom)
{
	u64 records, cold;
	bool unknown;

	mutex_lock(&dom->lock);
	records = mmpath_mrc_records(&dom->mrc, MMPATH_MRC_EPOCH);
	cold = mmpath_mrc_cold(&dom->mrc, MMPATH_MRC_EPOCH);
	unknown = !dom->nr_members || (records && records == cold);
	mutex_unlock(&dom->lock);
	return unknown;
}

/*
 * Does the curve explain less than half of the refaults? If a program is logged in bursts, the
 * curve may not know pages that it touches less often than there are bursts. Then it cannot tell
 * what would happen with less memory.
 */
static bool mmpath_curve_wrong(const struct mmpath_sharer *s)
{
	return s->came > 2 * s->explained + (MMPATH_CAME_LEAST << MMPATH_WINDOW_FRACTION);
}

static void mmpath_sharer_set_bounds(struct mmpath_balancer *b, struct mmpath_sharer *s,
				     unsigned long other)
{
	unsigned long fixed = other + mmpath_fixed_pages(s->memcg);
	unsigned long least = fixed + MMPATH_LEAST_PAGES;
	bool known;

	least = max(least, READ_ONCE(s->memcg->memory.min));
	least = max(least, READ_ONCE(s->memcg->memory.low));
	if (atomic_xchg(&s->refused, 0) >= MMPATH_REFUSALS) {
		s->stuck = MMPATH_STUCK_EPOCHS;
		b->relaxed_stuck++;
	}
	if (s->stuck)
		s->stuck--;
	known = s->epochs >= MMPATH_WINDOW && !mmpath_curve_unknown(s->dom);
	s->believed = known && !mmpath_curve_wrong(s);
	if (s->stuck || !s->believed)
		least = max(least, mmpath_usage(s->memcg));
	/* it may have lost memory because of the wrong curve: give it an equal share */
	if (known && !s->believed)
		least = max(least, b->total / b->nr * b->step);
	s->share.least = min_t(unsigned long, DIV_ROUND_UP(least, b->step), MMPATH_STEPS);
	s->share.fixed = min_t(unsigned long, DIV_ROUND_UP(fixed, b->step), s->share.least);
	/* with kernel memory only, swap would not help */
	if (mem_cgroup_get_nr_swap_pages(s->memcg) <= 0 && fixed > other &&
	    s->share.fixed >= s->share.steps)
		b->relaxed_noswap++;
	s->share.most = min_t(unsigned long, DIV_ROUND_UP(mmpath_limit(s->memcg), b->step),
			      MMPATH_STEPS);
}

/* Begin to measure a child, so that misses and CPU time are of the same epochs from here on. */
static void mmpath_sharer_begin(struct mmpath_balancer *b, struct mmpath_sharer *s)
{
	s->cpu_us = mmpath_cgroup_us(s->memcg);
	s->refaults = mmpath_refaults(s->memcg);
	memset(s->share.lambda, 0, sizeof(s->share.lambda));
	s->had = mmpath_sharer_has(s, b->step);
	s->share.steps = s->had;
	mmpath_sharer_set_bounds(b, s, mmpath_other_pages(s->memcg));
}

static void mmpath_sharer_look(struct mmpath_balancer *b, struct mmpath_sharer *s)
{
	unsigned long other;

	mem_cgroup_flush_stats(s->memcg);
	if (!s->epochs++) {
		mmpath_sharer_begin(b, s);
		return;
	}
	other = mmpath_other_pages(s->memcg);
	mmpath_sharer_take_time(s);
	mmpath_sharer_take_curve(s, b->step, other, mmpath_sharer_compare(s));
	mmpath_sharer_set_bounds(b, s, other);
}

static void mmpath_sharer_set_target(struct mmpath_balancer *b, struct mmpath_sharer *s)
{
	unsigned long target = min(s->share.steps * b->step, mmpath_limit(s->memcg));

	if (b->mode == MMPATH_BALANCE_THROUGHPUT && !s->believed)
		target = PAGE_COUNTER_MAX;
	WRITE_ONCE(s->target, target);
	s->promise = s->share.lambda[s->share.steps] >> MMPATH_WINDOW_SHIFT;
}

/* Forget all measurements, because the step changed, or none were made for some time. */
static void mmpath_sharer_restart(struct mmpath_sharer *s)
{
	WRITE_ONCE(s->target, PAGE_COUNTER_MAX);
	memset(s->window, 0, sizeof(s->window));
	s->came = 0;
	s->explained = 0;
	s->cpu_window = 0;
	s->promise = 0;
	s->epochs = 0;
}

/* Is the last epoch too long ago? The length of the one after it may have been set anew since. */
static bool mmpath_balancer_is_late(const struct mmpath_balancer *b)
{
	unsigned int ms = max(b->epoch_ms, READ_ONCE(mmpath_config.epoch_ms));

	return time_after_eq(jiffies, b->ended + 2 * msecs_to_jiffies(ms) + HZ);
}

static void mmpath_balancer_set_step(struct mmpath_balancer *b)
{
	unsigned long limit = mmpath_limit(b->memcg);
	unsigned long step = limit < PAGE_COUNTER_MAX ? DIV_ROUND_UP(limit, MMPATH_STEPS) : 0;
	struct mmpath_sharer *s;

	if (step == b->step && !mmpath_balancer_is_late(b))
		return;
	b->step = step;
	list_for_each_entry(s, &b->sharers, node)
		mmpath_sharer_restart(s);
}

/* Pages to divide: those that the children with curves have together, or could have */
static unsigned long mmpath_balancer_available(const struct mmpath_balancer *b)
{
	unsigned long limit = mmpath_limit(b->memcg), others = mmpath_usage(b->memcg), theirs = 0;
	struct mmpath_sharer *s;

	list_for_each_entry(s, &b->sharers, node)
		theirs += mmpath_usage(s->memcg);
	others -= min(others, theirs);
	return limit - min(limit, others);
}

static void mmpath_balancer_divide(struct mmpath_balancer *b)
{
	struct mmpath_share *shares[MMPATH_MAX_SHARERS];
	struct mmpath_sharer *s;
	unsigned int nr = 0;

	list_for_each_entry(s, &b->sharers, node) {
		mmpath_sharer_look(b, s);
		shares[nr++] = &s->share;
		cond_resched();
	}
	b->total = min_t(unsigned long, mmpath_balancer_available(b) / b->step, MMPATH_STEPS);
	b->moved += mmpath_divide(shares, nr, b->mode, b->total, MMPATH_MOVES);
	list_for_each_entry(s, &b->sharers, node)
		mmpath_sharer_set_target(b, s);
	b->epochs++;
}

static void mmpath_balancer_epoch(struct mmpath_balancer *b)
{
	u64 start = ktime_get_ns(), ns;

	mmpath_balancer_set_step(b);
	if (b->step && b->nr)
		mmpath_balancer_divide(b);
	ns = ktime_get_ns() - start;
	b->ended = jiffies;
	b->epoch_ms = READ_ONCE(mmpath_config.epoch_ms);
	b->ns += ns;
	b->ns_most = max(b->ns_most, ns);
}

/**
 * mmpath_balance_epoch() - set all targets by the curves of the last epoch
 *
 * Context: process; mmpath_memcg_mutex is held. Takes the locks of domains.
 */
void mmpath_balance_epoch(void)
{
	struct mmpath_balancer *b;
	unsigned long id;

	xa_for_each(&mmpath_balancers, id, b)
		mmpath_balancer_epoch(b);
}

/* Children that take part */

static struct mmpath_balancer *mmpath_balancer_of(const struct mem_cgroup *memcg)
{
	return memcg ? xa_load(&mmpath_balancers, memcg->css.id) : NULL;
}

/**
 * mmpath_sharer_init() - prepare a cgroup to share in the memory of its parent
 * @s: the sharer
 * @memcg: the cgroup; must stay until mmpath_sharer_leave()
 * @dom: domain with the curve of the cgroup; must stay until mmpath_sharer_leave()
 */
void mmpath_sharer_init(struct mmpath_sharer *s, struct mem_cgroup *memcg,
			struct mmpath_domain *dom)
{
	s->memcg = memcg;
	s->dom = dom;
	s->target = PAGE_COUNTER_MAX;
	s->share.weight = MMPATH_WEIGHT_DEFAULT;
	s->share.sla = U64_MAX;
}

/**
 * mmpath_sharer_join() - let a cgroup take part in balancing, if its parent is balanced
 * @s: a cgroup with a curve
 *
 * A parent has MMPATH_MAX_SHARERS at most. Others take part when some have left, because this is
 * called again each epoch. Context: mmpath_memcg_mutex is held.
 */
void mmpath_sharer_join(struct mmpath_sharer *s)
{
	struct mmpath_balancer *b = mmpath_balancer_of(parent_mem_cgroup(s->memcg));

	if (!b || s->balancer || b->nr == MMPATH_MAX_SHARERS)
		return;
	mmpath_sharer_restart(s);
	s->balancer = b;
	b->nr++;
	list_add_tail_rcu(&s->node, &b->sharers);
}

static void mmpath_sharer_unlink(struct mmpath_sharer *s)
{
	WRITE_ONCE(s->target, PAGE_COUNTER_MAX);
	list_del_rcu(&s->node);
	s->balancer->nr--;
	s->balancer = NULL;
}

/**
 * mmpath_sharer_leave() - let a cgroup take part in balancing no more
 * @s: the sharer; may be freed afterwards
 *
 * Context: may sleep, to wait for reclaim that looks at @s; mmpath_memcg_mutex is held.
 */
void mmpath_sharer_leave(struct mmpath_sharer *s)
{
	if (!s->balancer)
		return;
	mmpath_sharer_unlink(s);
	synchronize_srcu(&mmpath_balance_srcu);
}

static struct mmpath_balancer *mmpath_balancer_create(struct mem_cgroup *memcg)
{
	struct mmpath_balancer *b = mmpath_model_alloc(memcg, sizeof(*b), MMPATH_GFP);

	if (!b)
		return NULL;
	INIT_LIST_HEAD(&b->sharers);
	b->memcg = memcg;
	if (xa_err(xa_store(&mmpath_balancers, memcg->css.id, b, GFP_KERNEL))) {
		kfree(b);
		return NULL;
	}
	css_get(&memcg->css);
	static_branch_inc(&mmpath_balance_key);
	return b;
}

static void mmpath_balancer_destroy(struct mmpath_balancer *b)
{
	struct mmpath_sharer *s, *next;

	static_branch_dec(&mmpath_balance_key);
	list_for_each_entry_safe(s, next, &b->sharers, node)
		mmpath_sharer_unlink(s);
	xa_erase(&mmpath_balancers, b->memcg->css.id);
	synchronize_srcu(&mmpath_balance_srcu);
	css_put(&b->memcg->css);
	kfree(b);
}

/**
 * mmpath_set_balance() - set how the memory of a cgroup is divided among its children
 * @memcg: the cgroup
 * @mode: the mode from now on
 *
 * Children with curves join when mmpath_sharer_join() is called for them. Context: may
 * sleep; mmpath_memcg_mutex is held. Return: 0 or -ENOMEM.
 */
int mmpath_set_balance(struct mem_cgroup *memcg, enum mmpath_balance mode)
{
	struct mmpath_balancer *b = mmpath_balancer_of(memcg);

	if (mode == MMPATH_BALANCE_NONE) {
		if (b)
			mmpath_balancer_destroy(b);
		return 0;
	}
	if (!b)
		b = mmpath_balancer_create(memcg);
	if (!b)
		return -ENOMEM;
	b->mode = mode;
	return 0;
}

/**
 * mmpath_balance_reap() - drop cgroups that were removed, or have lost their files
 *
 * Context: may sleep; mmpath_memcg_mutex is held.
 */
void mmpath_balance_reap(void)
{
	struct mmpath_balancer *b;
	unsigned long id;

	xa_for_each(&mmpath_balancers, id, b)
		if (css_is_dying(&b->memcg->css) || !(b->memcg->css.flags & CSS_VISIBLE))
			mmpath_balancer_destroy(b);
}

/* Files */

/**
 * mmpath_balance_mode() - return the mode that mmpath_set_balance() has set
 * @memcg: the cgroup
 *
 * Context: mmpath_memcg_mutex is held. Return: the mode.
 */
enum mmpath_balance mmpath_balance_mode(const struct mem_cgroup *memcg)
{
	const struct mmpath_balancer *b = mmpath_balancer_of(memcg);

	return b ? b->mode : MMPATH_BALANCE_NONE;
}

/**
 * mmpath_show_balance_stat() - print the statistics of a balanced cgroup
 * @m: file to print to
 * @memcg: the cgroup
 *
 * Context: mmpath_memcg_mutex is held. Return: 0, or -ENODATA if it is not balanced.
 */
int mmpath_show_balance_stat(struct seq_file *m, const struct mem_cgroup *memcg)
{
	const struct mmpath_balancer *b = mmpath_balancer_of(memcg);
	const struct mmpath_sharer *s;
	unsigned int failed = 0;

	if (!b)
		return -ENODATA;
	list_for_each_entry(s, &b->sharers, node)
		failed += s->share.failed;
	seq_printf(m, "children %u\n", b->nr);
	seq_printf(m, "step %lu\n", b->step * PAGE_SIZE);
	seq_printf(m, "total %lu\n", b->total * b->step * PAGE_SIZE);
	seq_printf(m, "epochs %lu\n", b->epochs);
	seq_printf(m, "moved %lu\n", b->moved);
	seq_printf(m, "failed %u\n", failed);
	seq_printf(m, "relaxed_noswap %lu\n", b->relaxed_noswap);
	seq_printf(m, "relaxed_stuck %lu\n", b->relaxed_stuck);
	seq_printf(m, "time_us %llu\n", div_u64(b->ns, NSEC_PER_USEC));
	seq_printf(m, "time_us_most %llu\n", div_u64(b->ns_most, NSEC_PER_USEC));
	return 0;
}

/**
 * mmpath_show_target() - print the target of a cgroup, and the figures behind it
 * @m: file to print to
 * @s: the cgroup
 *
 * Context: mmpath_memcg_mutex is held.
 */
void mmpath_show_target(struct seq_file *m, const struct mmpath_sharer *s)
{
	const struct mmpath_share *share = &s->share;
	u32 k = share->steps;

	if (s->target == PAGE_COUNTER_MAX) {
		seq_puts(m, "target max\n");
		return;
	}
	seq_printf(m, "target %lu\n", s->target * PAGE_SIZE);
	seq_printf(m, "usage %lu\n", mmpath_usage(s->memcg) * PAGE_SIZE);
	seq_printf(m, "misses %llu\n", share->lambda[k]);
	seq_printf(m, "benefit %llu\n",
		   k < MMPATH_STEPS ? share->lambda[k] - share->lambda[k + 1] : 0);
	seq_printf(m, "penalty %llu\n", k ? share->lambda[k - 1] - share->lambda[k] : 0);
	seq_printf(m, "cpu_us %llu\n", share->cpu_us);
	seq_printf(m, "rate %llu\n", mmpath_share_rate(share, k));
	seq_printf(m, "failed %d\n", share->failed);
}

/**
 * mmpath_show_predictions() - print predicted misses and measured refaults of a cgroup
 * @m: file to print to
 * @s: the cgroup
 *
 * Both are pages, over all epochs in which the cgroup had a target. Context:
 * mmpath_memcg_mutex is held.
 */
void mmpath_show_predictions(struct seq_file *m, const struct mmpath_sharer *s)
{
	seq_printf(m, "balance_predicted %llu\n", s->predicted);
	seq_printf(m, "balance_measured %llu\n", s->measured);
}
