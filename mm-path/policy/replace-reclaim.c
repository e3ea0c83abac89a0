// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel's reclaim asks replacers for pages: which of them, whose turn it is, and how many.
 */
#include <linux/hash.h>
#include <linux/memcontrol.h>
#include <linux/slab.h>
#include <linux/swap.h>
#include <linux/xarray.h>
#include "../../internal.h"
#include "balance.h"
#include "replace.h"
#include "reserve.h"

#define MMPATH_TURNS		65536UL
#define MMPATH_FLUSH		(HZ / 50)

DEFINE_STATIC_KEY_FALSE(mmpath_replace_key);
/* mmpath_replace_mutex is held to change the tables */
static DEFINE_XARRAY(mmpath_replacers);		/* by the id of the cgroup's css */
static DEFINE_XARRAY(mmpath_subtrees);		/* by the id of an ancestor's css */
/* Not mmpath_srcu: reclaim may write pages, and a wait for faults must not take that long. */
DEFINE_STATIC_SRCU(mmpath_replace_srcu);

/**
 * struct mmpath_subtree - the replacers below a cgroup
 * @replacers: replacers by the id of their cgroup's css
 * @rcu: to free the subtree after all reclaim that reads it
 *
 * Reclaim in a cgroup finds the replacers that it concerns without looking at all others. The css
 * of a replacer's cgroup keeps the css of each ancestor, and so their ids.
 */
struct mmpath_subtree {
	struct xarray replacers;
	struct rcu_head rcu;
};

/* Which replacers reclaim finds */

static int mmpath_subtree_add(struct mem_cgroup *memcg, struct mmpath_replacer *r)
{
	struct mmpath_subtree *tree = xa_load(&mmpath_subtrees, memcg->css.id);
	int ret;

	if (!tree) {
		tree = mmpath_model_alloc(r->memcg, sizeof(*tree), MMPATH_GFP);
		if (!tree)
			return -ENOMEM;
		xa_init(&tree->replacers);
		ret = xa_err(xa_store(&mmpath_subtrees, memcg->css.id, tree, GFP_KERNEL));
		if (ret) {
			kfree(tree);
			return ret;
		}
	}
	return xa_err(xa_store(&tree->replacers, r->memcg->css.id, r, GFP_KERNEL));
}

static void mmpath_subtree_free(struct rcu_head *rcu)
{
	kfree(container_of(rcu, struct mmpath_subtree, rcu));
}

static void mmpath_subtree_del(struct mem_cgroup *memcg, struct mmpath_replacer *r)
{
	struct mmpath_subtree *tree = xa_load(&mmpath_subtrees, memcg->css.id);

	if (!tree)
		return;
	xa_erase(&tree->replacers, r->memcg->css.id);
	if (!xa_empty(&tree->replacers))
		return;
	xa_erase(&mmpath_subtrees, memcg->css.id);
	call_srcu(&mmpath_replace_srcu, &tree->rcu, mmpath_subtree_free);
}

/**
 * mmpath_replacer_publish() - let reclaim find a replacer
 * @r: the replacer
 *
 * Context: may sleep. Return: 0 or -ENOMEM; then reclaim in some cgroups may find it all the same.
 */
int mmpath_replacer_publish(struct mmpath_replacer *r)
{
	struct mem_cgroup *memcg;
	int ret;

	lockdep_assert_held(&mmpath_replace_mutex);
	r->flushed = jiffies - MMPATH_FLUSH;
	static_branch_inc(&mmpath_replace_key);
	ret = xa_err(xa_store(&mmpath_replacers, r->memcg->css.id, r, GFP_KERNEL));
	for (memcg = parent_mem_cgroup(r->memcg); memcg && !ret; memcg = parent_mem_cgroup(memcg))
		ret = mmpath_subtree_add(memcg, r);
	return ret;
}

/**
 * mmpath_replacer_hide() - reclaim finds a replacer no more, and none uses it any more
 * @r: the replacer
 *
 * Context: may sleep, until reclaim that has found it is over.
 */
void mmpath_replacer_hide(struct mmpath_replacer *r)
{
	struct mem_cgroup *memcg;

	lockdep_assert_held(&mmpath_replace_mutex);
	xa_erase(&mmpath_replacers, r->memcg->css.id);
	for (memcg = parent_mem_cgroup(r->memcg); memcg; memcg = parent_mem_cgroup(memcg))
		mmpath_subtree_del(memcg, r);
	static_branch_dec(&mmpath_replace_key);
	synchronize_srcu(&mmpath_replace_srcu);
}

/* Turns */

static unsigned long mmpath_knows(const struct mmpath_replacer *r)
{
	return READ_ONCE(r->known) + mmpath_reserved(r, NUMA_NO_NODE);
}

static unsigned long mmpath_anon_here(const struct mmpath_replacer *r, const struct mmpath_want *w)
{
	struct lruvec *lruvec = mem_cgroup_lruvec(r->memcg, w->zone->zone_pgdat);

	return lruvec_page_state(lruvec, NR_ACTIVE_ANON) +
	       lruvec_page_state(lruvec, NR_INACTIVE_ANON);
}

static unsigned long mmpath_anon(const struct mmpath_replacer *r)
{
	return memcg_page_state(r->memcg, NR_ACTIVE_ANON) +
	       memcg_page_state(r->memcg, NR_INACTIVE_ANON);
}

/*
 * How many of the pages that may be taken does the policy know? It is taken to know the same share
 * of the anonymous pages of each node.
 */
static unsigned long mmpath_knows_here(const struct mmpath_replacer *r,
				       const struct mmpath_want *w)
{
	unsigned long all = mmpath_anon(r), here;

	if (w->nid == NUMA_NO_NODE)
		return mmpath_knows(r);
	here = min(mmpath_anon_here(r, w), all);
	return all ? mmpath_knows(r) * here / all : 0;
}

/* Reclaimable pages where @w wants them */
static unsigned long mmpath_evictable_here(const struct mmpath_want *w)
{
	struct pglist_data *pgdat = w->zone->zone_pgdat;
	unsigned long pages;
	enum lru_list lru;

	if (w->nid == NUMA_NO_NODE)
		return mmpath_evictable(w->memcg ?: root_mem_cgroup);
	pages = node_page_state_pages(pgdat, NR_SLAB_RECLAIMABLE_B);
	for (lru = 0; lru <= LRU_ACTIVE_FILE; lru++)
		pages += node_page_state(pgdat, NR_LRU_BASE + lru);
	return pages;
}

/*
 * Turns of the policy in reclaim in its own cgroup: the share of the pages that it knows. The other
 * turns are the kernel's.
 */
static unsigned int mmpath_own_turns(const struct mmpath_replacer *r)
{
	unsigned long all = mmpath_evictable(r->memcg), known = min(mmpath_knows(r), all);

	return all ? MMPATH_TURNS * known / all : 0;
}

/*
 * Turns of a replacer in reclaim in an ancestor. In its own turns the kernel also takes pages that
 * policies know. So that a cgroup with a policy does not pay for its neighbours, the kernel has
 * more turns here: if policies know half of the pages, three in four, which is 1 - 1/2 * 1/2. The
 * other turns are divided between the replacers by the pages that they know. A replacer is asked
 * only if those before it have not taken the call. So its part of these calls is scaled up to its
 * part of all calls.
 */
static unsigned int mmpath_turns_above(const struct mmpath_replacer *r, struct mmpath_want *w)
{
	unsigned long share, of = w->turns;

	if (!w->all || !of)
		return 0;
	share = MMPATH_TURNS * w->known / w->all;
	share = min(share * min(mmpath_knows_here(r, w), w->all) / w->all, of);
	w->turns -= share;
	return MMPATH_TURNS * share / of;
}

/* Is the next turn the kernel's? The turns of both are spread evenly. */
static bool mmpath_next_turn(struct mmpath_replacer *r, struct mmpath_want *w, bool own)
{
	unsigned int turns = own ? mmpath_own_turns(r) : mmpath_turns_above(r, w);
	unsigned int turn;

	if (mmpath_is_kernels(r))
		return true;
	turn = READ_ONCE(r->turn) + MMPATH_TURNS - turns;
	WRITE_ONCE(r->turn, turn % MMPATH_TURNS);
	return turn >= MMPATH_TURNS;
}

static unsigned int mmpath_turn_bit(void)
{
	return hash_32(current->pid, ilog2(BITS_PER_LONG));
}

/*
 * Is this turn the kernel's? Reclaim calls again with lower priorities until it has enough, and at
 * first scans nothing of a small cgroup. All these calls are one turn, which is remembered by a
 * hash of the task. Two tasks with the same hash share their turns, which does no harm.
 */
static bool mmpath_kernels_turn(struct mmpath_replacer *r, struct mmpath_want *w, bool own)
{
	if (w->priority == DEF_PRIORITY)
		assign_bit(mmpath_turn_bit(), &r->left_to, mmpath_next_turn(r, w, own));
	return test_bit(mmpath_turn_bit(), &r->left_to);
}

/*
 * For the limit of a cgroup, reclaim calls for each node, even once it has enough. The policy gives
 * pages of any node in the first call. In its turn the kernel takes none from the other nodes.
 */
static bool mmpath_has_given(struct mem_cgroup *memcg)
{
	struct mmpath_replacer *r = memcg ? xa_load(&mmpath_replacers, memcg->css.id) : NULL;

	return r && READ_ONCE(r->known) && !mmpath_is_kernels(r) &&
	       !test_bit(mmpath_turn_bit(), &r->left_to);
}

/* Which part of the pages that reclaim looks at does a replacer know? */
enum mmpath_relation {
	MMPATH_RELATION_NONE,	/* none, or reclaim must skip them */
	MMPATH_RELATION_BELOW,	/* some, in a descendant of the cgroup that is reclaimed */
	MMPATH_RELATION_OWN,	/* all of them, or those that reclaim takes before others */
};

static enum mmpath_relation mmpath_relation(const struct mmpath_replacer *r,
					    struct mem_cgroup *memcg)
{
	if (mem_cgroup_is_descendant(memcg, r->memcg))
		return MMPATH_RELATION_OWN;
	if (!mem_cgroup_is_descendant(r->memcg, memcg) || mmpath_protected(r->memcg, memcg))
		return MMPATH_RELATION_NONE;
	switch (mmpath_balance_hint(memcg, r->memcg)) {
	case MMPATH_HINT_SKIP:
		return MMPATH_RELATION_NONE;
	case MMPATH_HINT_RECLAIM:
		return MMPATH_RELATION_OWN;
	default:
		return MMPATH_RELATION_BELOW;
	}
}

/* Are nearly all pages that a policy knows on other nodes than the one that is reclaimed? */
static bool mmpath_is_elsewhere(const struct mmpath_replacer *r, const struct mmpath_want *w)
{
	unsigned long here;

	if (num_online_nodes() == 1)
		return false;
	here = mmpath_anon_here(r, w);
	return here < mmpath_anon(r) && here < READ_ONCE(r->target);
}

/* Count the pages below the cgroup at the beginning of a reclaim, to divide its turns. */
static void mmpath_count_below(struct mmpath_want *w, struct mmpath_subtree *below)
{
	struct mmpath_replacer *r;
	unsigned long id;

	w->all = mmpath_evictable_here(w);
	xa_for_each(&below->replacers, id, r)
		w->known += mmpath_knows_here(r, w);
	w->known = min(w->known, w->all);
}

/*
 * Free @nr pages: those of the reserve, and then victims. The worker may not run while other tasks
 * use the CPUs, and reclaim does not wait for it. It pushes out victims itself, as long as that
 * yields pages. Like the kernel's own reclaim it has dirty pages written without waiting for them.
 * A disk may have written the first ones by the time the last is queued. Victims that are freed
 * at once count.
 */
static unsigned long mmpath_get(struct mmpath_replacer *r, struct mmpath_want *w,
				unsigned int fill, unsigned long nr)
{
	unsigned long freed = mmpath_reserve_free(r, w, nr), before;
	unsigned int wanted;

	if (!fill || freed >= nr || !READ_ONCE(r->known))
		return freed;
	do {
		before = freed;
		wanted = mmpath_reserved(r, w->nid) + nr - freed;
		freed += mmpath_push(r, w->nid, min(fill, wanted), false);
		if (freed < nr)
			freed += mmpath_reserve_free(r, w, nr - freed);
	} while (freed < nr && freed > before);
	return freed;
}

/*
 * May victims be pushed out for @zone? Most of them are in the highest zone of their node, and
 * would not help a lower one.
 */
static bool mmpath_is_highest(struct zone *zone)
{
	const struct zone *end = zone->zone_pgdat->node_zones + MAX_NR_ZONES;

	while (++zone < end)
		if (managed_zone(zone))
			return false;
	return true;
}

static bool mmpath_is_pausing(struct mmpath_replacer *r, int nid)
{
	return time_before(jiffies, READ_ONCE(r->aim.not_before)) ||
	       time_before(jiffies, READ_ONCE(mmpath_aim(r, nid)->not_before));
}

/*
 * In the kernel's turns have the worker count what the policy knows, and fill nothing. A policy
 * that knows little has hardly ever a turn in an ancestor, and would have none when it knows more.
 */
static void mmpath_count_anew(struct mmpath_replacer *r, bool may_fill)
{
	if (may_fill && mmpath_must_count(r, MMPATH_RECOUNT_ABOVE))
		queue_work(system_unbound_wq, &r->work);
}

/*
 * Ask a replacer for @nr pages, if it is its turn. In its own turns, too, the kernel finds the
 * clean pages of the reserve before all others. So for reclaim in an ancestor no more pages are
 * written ahead than are wanted, or the cgroup would pay for its neighbours.
 */
static unsigned long mmpath_ask(struct mmpath_replacer *r, struct mmpath_want *w,
				unsigned long nr)
{
	struct mem_cgroup *target = w->memcg ?: root_mem_cgroup;
	enum mmpath_relation relation = mmpath_relation(r, target);
	bool own = relation == MMPATH_RELATION_OWN, further_below, may_fill;
	unsigned int want = READ_ONCE(r->target);
	unsigned long freed = 0;

	if (relation == MMPATH_RELATION_NONE || mmpath_is_elsewhere(r, w))
		return 0;
	/* the limit of a descendant: the policy's oldest pages are most likely in other cgroups */
	further_below = target != r->memcg && mem_cgroup_is_descendant(target, r->memcg);
	may_fill = !further_below && !mmpath_is_pausing(r, w->nid) &&
		   (w->memcg || mmpath_is_highest(w->zone));
	if (w->nid != NUMA_NO_NODE)
		WRITE_ONCE(r->reserve[w->nid].spare, 0);
	/* kswapd wants as much as its watermarks are apart, or more than there is */
	nr = min_t(unsigned long, nr, want);
	if (mmpath_kernels_turn(r, w, own)) {
		mmpath_replace_add(r, MMPATH_LEFT, nr);
		/* until the worker has counted what the policy knows, all turns are the kernel's */
		if (!own && READ_ONCE(r->known)) {
			mmpath_count_anew(r, may_fill);
			return 0;
		}
	} else {
		freed = mmpath_get(r, w, may_fill ? min(2 * want, MMPATH_RESERVE) : 0, nr);
		if (freed < nr)
			mmpath_replace_add(r, MMPATH_MISSED, nr - freed);
	}
	if (!own)
		want = min_t(unsigned long, want, nr);
	if (may_fill && (mmpath_reserved(r, w->nid) < want * 3 / 4 ||
			 mmpath_must_count(r, MMPATH_RECOUNT))) {
		WRITE_ONCE(mmpath_aim(r, w->nid)->fill, want);
		queue_work(system_unbound_wq, &r->work);
	}
	return freed;
}

/*
 * Flush the statistics before reclaim gives up. The kernel's own reclaim skips active anonymous
 * pages while there are as many inactive ones, by statistics that may be four seconds old. With a
 * policy it seldom runs, and meanwhile all pages of a cgroup may have become active. Then it would
 * find no inactive page, deactivate none, and have a program killed. It is enough for all if one
 * reclaimer in MMPATH_FLUSH does this.
 */
static void mmpath_flush_stats(struct mmpath_replacer *r, struct mem_cgroup *memcg)
{
	unsigned long last = READ_ONCE(r->flushed);

	if (time_before(jiffies, last + MMPATH_FLUSH) ||
	    cmpxchg(&r->flushed, last, jiffies) != last)
		return;
	mem_cgroup_flush_stats(memcg);
}

/*
 * Ask the replacers of @w's cgroup, of its ancestors and of its descendants, until @enough of @nr
 * pages were freed. Return the number of pages freed.
 */
static unsigned long mmpath_ask_all(struct mmpath_want *w, unsigned long nr, unsigned long enough)
{
	struct mem_cgroup *target = w->memcg ?: root_mem_cgroup, *memcg;
	struct mmpath_subtree *below = xa_load(&mmpath_subtrees, target->css.id);
	unsigned long id, freed = 0;
	struct mmpath_replacer *r;

	if (below && w->priority == DEF_PRIORITY)
		mmpath_count_below(w, below);
	for (memcg = target; memcg && freed < enough; memcg = parent_mem_cgroup(memcg)) {
		r = xa_load(&mmpath_replacers, memcg->css.id);
		if (!r)
			continue;
		freed += mmpath_ask(r, w, nr - freed);
		w->asked = w->asked ?: r;
	}
	if (!below)
		return freed;
	xa_for_each(&below->replacers, id, r) {
		if (freed >= enough)
			break;
		freed += mmpath_ask(r, w, nr - freed);
		w->asked = w->asked ?: r;
	}
	return freed;
}

/*
 * Return true if enough pages for now were freed: reclaim that wants more calls again. If any were
 * freed of this node, let its kswapd that had given up run again, as shrink_node() does. For the
 * limit of a cgroup they may be of any node.
 */
bool mmpath_shrink_node(struct zone *zone, struct mem_cgroup *memcg, gfp_t gfp, int priority,
			bool proactive, unsigned long nr, unsigned long *reclaimed,
			unsigned long *scanned)
{
	struct mmpath_want w = {
		.memcg = memcg, .zone = zone, .gfp = gfp, .priority = priority,
		.proactive = proactive, .turns = MMPATH_TURNS,
		.nid = memcg || num_online_nodes() == 1 ? NUMA_NO_NODE : zone_to_nid(zone),
	};
	unsigned long wanted = nr - min(nr, *reclaimed), enough, freed = 0;
	bool given;
	int idx;

	if ((gfp & (__GFP_IO | __GFP_FS)) != (__GFP_IO | __GFP_FS))
		return false;
	enough = min(wanted, SWAP_CLUSTER_MAX);
	idx = srcu_read_lock(&mmpath_replace_srcu);
	given = !wanted && mmpath_has_given(memcg);
	if (wanted)
		freed = mmpath_ask_all(&w, wanted, enough);
	if (memcg && !priority && w.asked && !freed && !*reclaimed)
		mmpath_flush_stats(w.asked, memcg);
	srcu_read_unlock(&mmpath_replace_srcu, idx);
	if (freed && (!memcg || num_online_nodes() == 1))
		zone->zone_pgdat->kswapd_failures = 0;
	*reclaimed += freed;
	*scanned += w.scanned;
	/* if this is false, shrink_node() looks for all that reclaim wants, on each node */
	return given || (freed && freed >= enough);
}
