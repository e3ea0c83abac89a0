// SPDX-License-Identifier: GPL-2.0
/*
 * Balance: which of the cgroups below one gets how much of its memory (thesis 4.4).
 *
 *	curves of the children --each epoch, divide.c--> a target for each
 *	reclaim in the parent: a child that is well below its target is spared
 *
 * A target is no limit. As long as the parent has memory nobody is held back, and no
 * program is ever throttled or killed for its target. When the parent is full and reclaim
 * looks for memory in it, it looks among those furthest above their targets, and leaves
 * the others alone; so memory moves to where it is asked for, page by page, from where it
 * helps least. If it finds nothing there (no swap, locked pages) it looks everywhere
 * before it gives up, as it does when all are below memory.low, and the target of who
 * could not give is as much as it has for some time. To switch off is to forget the
 * targets.
 *
 * Only curves can tell what memory is worth. A child that is not tracked has no target:
 * it is spared while somebody is above his, and competes as ever when nobody is. One whose
 * curve is new, or does not account for the pages that came back, has none either, and
 * competes as ever; but where something is promised to others (fair, sla) it is held to
 * what it has.
 *
 * Memory that the curve knows nothing of, the kernel's, is a child's too: it has that
 * much less for its pages.
 *
 * What the curves promise is added up, and so is what then happened: see
 * mmpath_show_predictions().
 *
 * Locks: see core.h. Who changes the lists holds mmpath_memcg_mutex; reclaim holds SRCU.
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
#define MMPATH_LEAST_PAGES	64U	/* that a child always has for its pages */
#define MMPATH_REFUSALS		64	/* an epoch, of all priorities and nodes: no chance */
#define MMPATH_STUCK_EPOCHS	16	/* in which who refused so often keeps what it has */
#define MMPATH_CAME_LEAST	128ULL	/* pages of late; fewer say nothing of a curve */

/**
 * struct mmpath_balancer - a cgroup whose memory is divided among its children
 * @memcg: the cgroup; holds a reference
 * @mode: what for
 * @sharers: children with curves
 * @nr: how many
 * @step: pages; 0 while the cgroup has no limit
 * @total: steps there were last time
 * @next: jiffies; the next epoch has ended before that
 * @epochs: it has looked at
 * @moved: steps that changed hands
 * @relaxed_noswap: times that a target was all that could not leave, for there is no swap
 * @relaxed_stuck: targets given up because nothing could be reclaimed
 * @ns: time it took
 * @ns_most: the longest epoch
 */
struct mmpath_balancer {
	struct mem_cgroup *memcg;
	enum mmpath_balance mode;
	struct list_head sharers;
	unsigned int nr;
	unsigned long step;
	u32 total;
	unsigned long next;
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
 * Pages above the target. At their targets, who asks is to pay, and not who has a few
 * pages of kernel memory more than last time: the kernel charges and reclaims in batches.
 */
static long mmpath_excess(const struct mmpath_sharer *s, struct mem_cgroup *asks)
{
	long excess = mmpath_usage(s->memcg) - READ_ONCE(s->target);

	if (asks && mem_cgroup_is_descendant(asks, s->memcg))
		excess += MEMCG_CHARGE_BATCH;
	return excess;
}

/*
 * RCU protects the cgroup of the task. The excess of a child that memory.min or memory.low
 * protects does not count, so that the next one is considered.
 */
static enum mmpath_verdict mmpath_balancer_judge(struct mmpath_balancer *b,
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
	/* what a removed child left behind is nobody's */
	if (!most || !mem_cgroup_online(memcg))
		return MMPATH_NO_VERDICT;
	/* without a curve it keeps what it has, but to get more it competes as ever */
	if (!of)
		return asks && mem_cgroup_is_descendant(asks, memcg) ? MMPATH_NO_VERDICT :
								       MMPATH_SPARED;
	if (READ_ONCE(of->target) == PAGE_COUNTER_MAX)
		return MMPATH_NO_VERDICT;
	if (urgent && memcg == of->memcg && mine == most)
		atomic_inc(&of->refused);
	return mmpath_gives(mine, most, takes) ? MMPATH_CHOSEN : MMPATH_SPARED;
}

/**
 * mmpath_judge() - decide whether reclaim may take from a cgroup
 * @target: of reclaim
 * @memcg: a cgroup below it, or @target itself
 * @takes: pages that it may take from it at once
 * @urgent: it has found nothing where it should: that is held against whoever has most
 *	to give
 *
 * Context: reclaim. Waits for nothing.
 * Return: MMPATH_SPARED: others are to give; MMPATH_CHOSEN: it is; or MMPATH_NO_VERDICT.
 */
enum mmpath_verdict mmpath_judge(struct mem_cgroup *target, struct mem_cgroup *memcg,
				 unsigned long takes, bool urgent)
{
	enum mmpath_verdict verdict = MMPATH_NO_VERDICT, one;
	struct mem_cgroup *above;
	struct mmpath_balancer *b;
	int idx;

	/* of all memory: not what a target is of, nor on one node only */
	if (mem_cgroup_is_root(target))
		return verdict;
	idx = srcu_read_lock(&mmpath_balance_srcu);
	for (above = memcg; above && above != target; ) {
		above = parent_mem_cgroup(above);
		b = above ? xa_load(&mmpath_balancers, above->css.id) : NULL;
		if (!b)
			continue;
		rcu_read_lock();
		one = mmpath_balancer_judge(b, target, memcg, takes, urgent);
		verdict = max(verdict, one);
		rcu_read_unlock();
	}
	srcu_read_unlock(&mmpath_balance_srcu, idx);
	return verdict;
}

bool __mmpath_skips(struct mem_cgroup *target, struct mem_cgroup *memcg, int priority,
		    bool urgent)
{
	unsigned long takes = mmpath_usage(memcg) >> priority;

	return mmpath_judge(target ?: root_mem_cgroup, memcg, takes, urgent) == MMPATH_SPARED &&
	       !urgent;
}

/* Epochs */

static unsigned long mmpath_limit(struct mem_cgroup *memcg)
{
	return min(READ_ONCE(memcg->memory.max), READ_ONCE(memcg->memory.high));
}

/* Running time of all its programs so far */
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

/* Of which no curve knows, and which no reclaim takes */
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

/* What was promised for this epoch, and what came: returns that, in pages */
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
 * Adds the last epoch, and so many of the pages that came back in it as the curve has misses for
 * the memory there was. More than came back it explains of no other epoch: a program that is
 * filling its memory has little of it, and misses nothing.
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

/* What reclaim could not take if it wanted to */
static unsigned long mmpath_fixed_pages(struct mem_cgroup *memcg)
{
	unsigned long pages = memcg_page_state(memcg, NR_UNEVICTABLE);

	if (mem_cgroup_get_nr_swap_pages(memcg) <= 0)
		pages += memcg_page_state(memcg, NR_INACTIVE_ANON) +
			 memcg_page_state(memcg, NR_ACTIVE_ANON);
	return pages;
}

/* Nobody is tracked there, or nothing was touched twice yet: the curve says nothing. */
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
 * Of a program that is logged in bursts, the curve may know nothing of the pages that it comes
 * back to less often than that. If it accounts for less than half of those that came back with the
 * memory that there was, nobody knows what would come of less.
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
	/* nor is it left with what it was brought to by a curve like that */
	if (known && !s->believed)
		least = max(least, b->total / b->nr * b->step);
	s->share.least = min_t(unsigned long, DIV_ROUND_UP(least, b->step), MMPATH_STEPS);
	s->share.fixed = min_t(unsigned long, DIV_ROUND_UP(fixed, b->step), s->share.least);
	/* swap would not help where all of it is the kernel's */
	if (mem_cgroup_get_nr_swap_pages(s->memcg) <= 0 && fixed > other &&
	    s->share.fixed >= s->share.steps)
		b->relaxed_noswap++;
	s->share.most = min_t(unsigned long, DIV_ROUND_UP(mmpath_limit(s->memcg), b->step),
			      MMPATH_STEPS);
}

/* The first time: from here on misses and running time are of the same epochs. */
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

/* Another step, or nobody has looked for some time: what was known is of no use. */
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

static void mmpath_balancer_set_step(struct mmpath_balancer *b)
{
	unsigned long limit = mmpath_limit(b->memcg);
	unsigned long step = limit < PAGE_COUNTER_MAX ? DIV_ROUND_UP(limit, MMPATH_STEPS) : 0;
	struct mmpath_sharer *s;

	if (step == b->step && time_before(jiffies, b->next + HZ))
		return;
	b->step = step;
	list_for_each_entry(s, &b->sharers, node)
		mmpath_sharer_restart(s);
}

/* Pages that the children with curves have among them, or could have */
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
	b->next = jiffies + 2 * msecs_to_jiffies(READ_ONCE(mmpath_config.epoch_ms));
	b->ns += ns;
	b->ns_most = max(b->ns_most, ns);
}

/**
 * mmpath_balance_epoch() - set all targets anew, for curves have changed
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

/* Who takes part */

static struct mmpath_balancer *mmpath_balancer_of(const struct mem_cgroup *memcg)
{
	return memcg ? xa_load(&mmpath_balancers, memcg->css.id) : NULL;
}

/**
 * mmpath_sharer_init() - prepare a cgroup to share in the memory of its parent
 * @s: what is to be known of it
 * @memcg: the cgroup; like @dom it stays until mmpath_sharer_leave()
 * @dom: has its curve
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
 * mmpath_sharer_join() - take part in balancing, if the parent is balanced
 * @s: a cgroup with a curve
 *
 * Of more than MMPATH_MAX_SHARERS the last do not, until others have left: called again with
 * each sync. Context: mmpath_memcg_mutex is held.
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
 * mmpath_sharer_leave() - stop taking part in balancing
 * @s: who may be freed then
 *
 * Context: may sleep, for reclaim that is looking at it; mmpath_memcg_mutex is held.
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
 * mmpath_set_balance() - set for what a cgroup's memory is divided among its children
 * @memcg: the cgroup
 * @mode: from now on
 *
 * Those with curves join when mmpath_sharer_join() is called for them. Context: may
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
 * mmpath_balance_reap() - drop cgroups that are removed, or have lost their files
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

/* What people read */

/**
 * mmpath_balance_mode() - read what mmpath_set_balance() has set
 * @memcg: of this cgroup
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
 * @m: where to
 * @memcg: whose memory is divided
 *
 * Context: mmpath_memcg_mutex is held. Return: 0, or -ENODATA if it is not.
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
 * mmpath_show_target() - print the target of a cgroup, and what it rests on
 * @m: where to
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
 * mmpath_show_predictions() - print what curves have promised, and what came
 * @m: where to
 * @s: of this cgroup
 *
 * Both in pages, over all epochs in which it had a target. Context: mmpath_memcg_mutex
 * is held.
 */
void mmpath_show_predictions(struct seq_file *m, const struct mmpath_sharer *s)
{
	seq_printf(m, "balance_predicted %llu\n", s->predicted);
	seq_printf(m, "balance_measured %llu\n", s->measured);
}
