// SPDX-License-Identifier: GPL-2.0
/*
 * Replacement: which page of a cgroup leaves memory (thesis 4.3).
 *
 * The kernel's own reclaim does not know in which order pages were touched. When it
 * looks for memory in a cgroup that has memory.path.replace, it asks here first, and
 * looks by itself for what it does not get:
 *
 *	record -> domain -> policy (lirs.c, or pools.c of regions): a victim when asked
 *
 *	worker:  victim -> unmapped, written to swap -> reserve
 *	reclaim: reserve -> freed; and victims, as the worker, if that is not enough
 *
 * A dirty page cannot be freed at once, and a task that needs a page cannot wait for the
 * disk. So a worker has victims written ahead. They stay in the swap cache, still
 * charged and still found by the program if it touches them after all; the reserve
 * remembers their swap entries, and takes no reference. Reclaim frees those which are
 * still clean and unmapped. The worker runs when the scheduler lets it, and where all CPUs
 * are busy that may be too late. Reclaim does not wait for it: what it lacks it pushes out
 * itself, as it would without us, and with trylocks only.
 *
 * What a worker wrote ahead in vain costs a write and a minor fault. So does the kernel's
 * own guess; the reserve is a few pages in a hundred.
 *
 * The kernel's reclaim must go on for the pages that no policy knows: of files, of
 * programs that are not tracked, read ahead and not touched yet. It gets as large a
 * share of the calls as they have of the cgroup's pages, and more if it is above it. Of
 * several policies below a cgroup each gets as large a part of the others as what it knows.
 *
 * Locks: those of core.h, and inside of all a spinlock for the reserve. Reclaim holds
 * SRCU of its own, which keeps a replacer alive.
 */
#include <linux/hash.h>
#include <linux/memcontrol.h>
#include <linux/sched/mm.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/swap.h>
#include <linux/string.h>
#include <linux/xarray.h>
#include "../../internal.h"
#include "balance.h"
#include "replace.h"
#include "reserve.h"

#define MMPATH_RESERVE_LEAST	64U
#define MMPATH_RESERVE_SHARE	32	/* one page in so many is in the reserve */
#define MMPATH_TURNS		65536UL
#define MMPATH_FLUSH		(HZ / 50)
#define MMPATH_PAUSE		(HZ / 10)	/* when no victim could be taken */
#define MMPATH_WEIGH		256	/* victims */
#define MMPATH_LEAVE_LEAST	(HZ / 2)
#define MMPATH_LEAVE_MOST	(16 * HZ)
#define MMPATH_CONTEST_PAGES	1536U	/* sampled, that each simulation may know */
#define MMPATH_REPLACE_PAGES	(1U << 20)	/* sampled, that a policy knows */

static const char * const mmpath_replace_names[NR_MMPATH_REPLACE_COUNTS] = {
	[MMPATH_SUPPLIED]		= "supplied",
	[MMPATH_MISSED]			= "missed",
	[MMPATH_LEFT]			= "left",
	[MMPATH_WRITTEN]		= "written",
	[MMPATH_FREED]			= "freed",
	[MMPATH_REUSED]			= "reused",
	[MMPATH_GONE]			= "gone",
	[MMPATH_REFUSED_FILE]		= "refused_file",
	[MMPATH_REFUSED_SHARED]		= "refused_shared",
	[MMPATH_REFUSED_HUGE]		= "refused_huge",
	[MMPATH_REFUSED_PINNED]		= "refused_pinned",
	[MMPATH_REFUSED_LOCKED]		= "refused_locked",
	[MMPATH_REFUSED_LOW]		= "refused_low",
	[MMPATH_REFUSED_HOT]		= "refused_hot",
	[MMPATH_REFUSED_BUSY]		= "refused_busy",
};

DEFINE_STATIC_KEY_FALSE(mmpath_replace_key);
static DEFINE_MUTEX(mmpath_replace_mutex);	/* held to change both tables */
static DEFINE_XARRAY(mmpath_replacers);		/* by the id of the cgroup's css */
static DEFINE_XARRAY(mmpath_subtrees);		/* by that of a cgroup above a replacer */
/* Reclaim may write pages: who waits for the hooks of faults need not wait for that. */
DEFINE_STATIC_SRCU(mmpath_replace_srcu);

/**
 * struct mmpath_subtree - the replacers below a cgroup
 * @replacers: by the id of their cgroup's css
 * @rcu: to free it after reclaim that reads it
 *
 * Reclaim in a cgroup must find the replacers that it concerns without a look at all there
 * are. The css of a replacer's cgroup keeps those above it, and so their ids.
 */
struct mmpath_subtree {
	struct xarray replacers;
	struct rcu_head rcu;
};

const char * const mmpath_mode_names[NR_MMPATH_MODES] = {
	[MMPATH_MODE_NONE]	= "none",
	[MMPATH_MODE_LRU]	= "lru",
	[MMPATH_MODE_MRU]	= "mru",
	[MMPATH_MODE_REGION]	= "region",
	[MMPATH_MODE_LIRS]	= "lirs",
	[MMPATH_MODE_AUTO]	= "auto",
};

/*
 * Does it come to LRU? Where nothing is better, auto does what the kernel's own does, but
 * writes ahead, so that nobody who needs memory has to wait for it.
 */
static bool mmpath_is_lru(const struct mmpath_replacer *r)
{
	switch (READ_ONCE(r->mode)) {
	case MMPATH_MODE_LRU:
		return true;
	case MMPATH_MODE_AUTO:
		return READ_ONCE(r->contest.winner) == MMPATH_POLICY_KERNEL;
	default:
		return false;
	}
}

/* Whose choice it is now; LRU is LIRS without a LIR set. */
static enum mmpath_contestant mmpath_policy(const struct mmpath_replacer *r)
{
	switch (READ_ONCE(r->mode)) {
	case MMPATH_MODE_AUTO:
		if (mmpath_is_lru(r) && time_before(jiffies, READ_ONCE(r->left_until)))
			return MMPATH_POLICY_KERNEL;
		return MMPATH_POLICY_LIRS;
	case MMPATH_MODE_MRU:
		return MMPATH_POLICY_MRU;
	default:
		return MMPATH_POLICY_LIRS;
	}
}

/* Whether its pages are told apart by region: a hint without the domain's lock. */
static bool mmpath_has_pools(const struct mmpath_replacer *r)
{
	return READ_ONCE(r->as_pools.dom);
}

/* Pages of @memcg and those below it that reclaim could find */
static unsigned long mmpath_evictable(struct mem_cgroup *memcg)
{
	unsigned long pages = memcg_page_state(memcg, NR_SLAB_RECLAIMABLE_B) >> PAGE_SHIFT;
	enum lru_list lru;

	for (lru = 0; lru <= LRU_ACTIVE_FILE; lru++)
		pages += memcg_page_state(memcg, NR_LRU_BASE + lru);
	return pages;
}

/* Victims */

/*
 * The furthest that a driver filters; a page that was logged so long ago is not hot. Of
 * a context that is logged in bursts no page is known not to be.
 */
static unsigned long mmpath_reach(struct mmpath_domain *dom)
{
	struct mmpath_ctx *ctx;
	unsigned long id, reach = 0;

	mmpath_for_each_member(ctx, id, dom)
		reach = max(reach, READ_ONCE(ctx->blind) ? ULONG_MAX : READ_ONCE(ctx->pab_reach));
	return reach;
}

/* How many pages of memory the policy knows. The kernel does not say what it takes. */
static unsigned long mmpath_count_known(const struct mmpath_replacer *r)
{
	u64 known = (u64)(r->lirs.nr_lirs + r->lirs.nr_hirs) << r->lirs.shift;

	if (mmpath_has_pools(r))
		known = mmpath_pools_known(&r->pools);
	return min_t(u64, known, mmpath_evictable(r->memcg));
}

/*
 * Memory is full when this is called: it holds what the policy has in it. Pages that
 * the driver may be filtering, and the reserve, lie within the HIR part.
 */
static void mmpath_resize(struct mmpath_replacer *r, unsigned long reach)
{
	unsigned long known = mmpath_count_known(r), hirs;

	lockdep_assert_held(&r->dom->lock);
	WRITE_ONCE(r->known, known);
	WRITE_ONCE(r->target, clamp(known / MMPATH_RESERVE_SHARE, MMPATH_RESERVE_LEAST + 0UL,
				    MMPATH_RESERVE + 0UL));
	hirs = min(max(known / 100, reach + r->target), known);
	if (r->as_contest.dom)
		mmpath_contest_set_size(&r->contest, known, hirs);
	if (r->as_pools.dom)
		mmpath_pools_set_size(&r->pools, known, hirs);
	if (mmpath_is_lru(r))
		hirs = known;
	mmpath_lirs_set_size(&r->lirs, known, hirs, mmpath_policy(r) == MMPATH_POLICY_MRU);
}

static bool mmpath_victim(struct mmpath_replacer *r, u64 *page)
{
	if (r->as_pools.dom)
		return mmpath_pools_victim(&r->pools, page, &r->key);
	return mmpath_lirs_victim(&r->lirs, page);
}

static unsigned int mmpath_policy_shift(const struct mmpath_replacer *r)
{
	return mmpath_has_pools(r) ? READ_ONCE(r->pools.shift) : READ_ONCE(r->lirs.shift);
}

/*
 * Of a sampled page the whole block goes, in several batches if it is large: its
 * neighbours are not known better.
 */
static void mmpath_pick(struct mmpath_replacer *r, struct mmpath_batch *b)
{
	unsigned int shift = mmpath_policy_shift(r);

	for (b->nr = 0; b->nr < MMPATH_BATCH; b->nr++) {
		if (r->block == r->block_end) {
			if (!mmpath_victim(r, &r->block))
				break;
			r->block = r->block >> shift << shift;
			r->block_end = r->block + (1ULL << shift);
		}
		b->key[b->nr] = r->key;
		b->page[b->nr] = r->block++;
	}
}

static void mmpath_keep(struct mmpath_replacer *r, const struct mmpath_batch *b)
{
	unsigned int i;

	for (i = 0; i < b->nr; i++) {
		if (!b->kept[i] || !mmpath_sampled(b->page[i], mmpath_policy_shift(r)))
			continue;
		if (r->as_pools.dom)
			mmpath_pools_keep(&r->pools, b->key[i], b->page[i]);
		else
			mmpath_lirs_keep(&r->lirs, b->page[i]);
	}
}

/*
 * To write ahead is what LRU gains here. Of pages that are clean, or that a disk takes at
 * once, the kernel's own reclaim gets rid with less ado: where seven in eight are, auto
 * leaves it to that for a while, and for twice as long if they still are then. That may be
 * a phase of the program only.
 */
static void mmpath_weigh(struct mmpath_replacer *r)
{
	long written = atomic_long_read(&r->count[MMPATH_WRITTEN]) - r->written_seen;
	long freed = atomic_long_read(&r->count[MMPATH_FREED]) - r->freed_seen;

	if (written + freed < MMPATH_WEIGH)
		return;
	if (r->mode == MMPATH_MODE_AUTO && mmpath_is_lru(r) && freed > 7 * written) {
		WRITE_ONCE(r->left_until, jiffies + r->leave);
		r->leave = min(2 * r->leave, MMPATH_LEAVE_MOST);
	} else {
		r->leave = MMPATH_LEAVE_LEAST;
	}
	r->written_seen += written;
	r->freed_seen += freed;
}

static struct mmpath_batch *mmpath_get_batch(struct mmpath_replacer *r)
{
	unsigned int i;

	for (i = 0; i < MMPATH_BATCHES; i++)
		if (!test_and_set_bit_lock(i, &r->batches_used))
			return &r->batch[i];
	return NULL;
}

static void mmpath_put_batch(struct mmpath_replacer *r, struct mmpath_batch *b)
{
	clear_bit_unlock(b - r->batch, &r->batches_used);
}

static bool mmpath_lock_policy(struct mmpath_replacer *r, bool wait)
{
	if (!wait)
		return mutex_trylock(&r->dom->lock);
	mutex_lock(&r->dom->lock);
	return true;
}

/*
 * Back to the policy with those that could not leave, and if @next, on to its next victims.
 * Reclaim does not wait for the domain's lock: whoever has this batch next does it then.
 */
static bool mmpath_turn_over(struct mmpath_replacer *r, struct mmpath_batch *b, bool next,
			     bool wait)
{
	if (!mmpath_lock_policy(r, wait))
		return false;
	mmpath_keep(r, b);
	b->nr = 0;
	if (next)
		mmpath_pick(r, b);
	mutex_unlock(&r->dom->lock);
	return b->nr;
}

/*
 * Victims that are clean, or that a disk like zram takes at once, are freed: as good as
 * in the reserve, for so much can be charged without reclaim. Bounded: a policy that
 * names pages nobody can take is not asked for ever, nor at once again.
 */
static unsigned long mmpath_push(struct mmpath_replacer *r, unsigned int fill, bool wait)
{
	unsigned int rounds = 4 * MMPATH_RESERVE / MMPATH_BATCH;
	long written = atomic_long_read(&r->count[MMPATH_WRITTEN]);
	struct mmpath_batch *b = mmpath_get_batch(r);
	bool tried = wait;
	unsigned long freed = 0;

	if (!b)
		return 0;
	while (mmpath_reserved(r) + freed < fill && rounds--) {
		if (mem_cgroup_get_nr_swap_pages(r->memcg) <= 0 ||
		    !mmpath_turn_over(r, b, true, wait))
			break;
		freed += mmpath_push_out(r, b);
		tried = true;
	}
	mmpath_turn_over(r, b, false, wait);
	mmpath_put_batch(r, b);
	/* a lock that was taken, or a reserve full of pages of another node, is no reason */
	if (tried && !freed && written == atomic_long_read(&r->count[MMPATH_WRITTEN]))
		WRITE_ONCE(r->not_before, jiffies + MMPATH_PAUSE);
	return freed;
}

/* Reclaim */

static unsigned long mmpath_knows(const struct mmpath_replacer *r)
{
	return READ_ONCE(r->known) + mmpath_reserved(r);
}

/* Of reclaim in a replacer's own cgroup: the kernel's part is what the policy does not know. */
static unsigned int mmpath_own_turns(const struct mmpath_replacer *r)
{
	unsigned long all = mmpath_evictable(r->memcg), known = min(mmpath_knows(r), all);

	return all ? MMPATH_TURNS * known / all : 0;
}

/*
 * Of reclaim above it. In its own turns the kernel takes some of what policies know, too. So that
 * a cgroup does not pay for its neighbours the kernel has more turns if there are any: of pages
 * of which policies know half, three in four, which is 1 - 1/2 * 1/2. The replacers divide the
 * others among them by what they know. Each is asked if those before it have not taken the call,
 * and of these calls it takes what makes up its part of all.
 */
static unsigned int mmpath_turns_above(const struct mmpath_replacer *r, struct mmpath_want *w)
{
	unsigned long share, of = w->turns;

	if (!w->all || !of)
		return 0;
	share = MMPATH_TURNS * w->known / w->all;
	share = min(share * min(mmpath_knows(r), w->all) / w->all, of);
	w->turns -= share;
	return MMPATH_TURNS * share / of;
}

/* Is it the kernel's own turn? Each has its turns at even distances. */
static bool mmpath_next_turn(struct mmpath_replacer *r, struct mmpath_want *w, bool own)
{
	unsigned int turns = own ? mmpath_own_turns(r) : mmpath_turns_above(r, w);
	unsigned int turn;

	if (mmpath_policy(r) == MMPATH_POLICY_KERNEL)
		return true;
	turn = READ_ONCE(r->turn) + MMPATH_TURNS - turns;
	WRITE_ONCE(r->turn, turn % MMPATH_TURNS);
	return turn >= MMPATH_TURNS;
}

/*
 * Reclaim comes again with a lower priority until it has enough, and looks at nothing
 * of a small cgroup at first. So a turn is for all that: it is remembered, by a hash of
 * the task. Two with the same one share their turns, which does no harm.
 */
static bool mmpath_kernels_turn(struct mmpath_replacer *r, struct mmpath_want *w, bool own)
{
	unsigned int bit = hash_32(current->pid, ilog2(BITS_PER_LONG));

	if (w->priority == DEF_PRIORITY)
		assign_bit(bit, &r->left_to, mmpath_next_turn(r, w, own));
	return test_bit(bit, &r->left_to);
}

/* What has reclaim in @memcg to do with what @r knows? */
enum mmpath_relation {
	MMPATH_STRANGER,	/* nothing, or it may not be taken */
	MMPATH_BELOW,		/* it is some of the pages below */
	MMPATH_OWN,		/* it is all there is, or all that is to be looked at */
};

static enum mmpath_relation mmpath_relation(const struct mmpath_replacer *r,
					    struct mem_cgroup *memcg)
{
	if (mem_cgroup_is_descendant(memcg, r->memcg))
		return MMPATH_OWN;
	if (!mem_cgroup_is_descendant(r->memcg, memcg) || mmpath_protected(r->memcg, memcg))
		return MMPATH_STRANGER;
	switch (mmpath_verdict(memcg, r->memcg)) {
	case MMPATH_SPARED:
		return MMPATH_STRANGER;
	case MMPATH_CHOSEN:
		return MMPATH_OWN;
	default:
		return MMPATH_BELOW;
	}
}

static unsigned long mmpath_anon(struct lruvec *lruvec)
{
	return lruvec_page_state(lruvec, NR_ACTIVE_ANON) +
	       lruvec_page_state(lruvec, NR_INACTIVE_ANON);
}

/* Nearly all that a policy knows may be on other nodes than the one that reclaim is for. */
static bool mmpath_is_elsewhere(const struct mmpath_replacer *r, const struct mmpath_want *w)
{
	unsigned long here, all = memcg_page_state(r->memcg, NR_ACTIVE_ANON) +
				  memcg_page_state(r->memcg, NR_INACTIVE_ANON);

	if (num_online_nodes() == 1)
		return false;
	here = mmpath_anon(mem_cgroup_lruvec(r->memcg, w->zone->zone_pgdat));
	return here < all && here < READ_ONCE(r->target);
}

/* A new reclaim: what is there to be divided? */
static void mmpath_count_below(struct mmpath_want *w, struct mmpath_subtree *below)
{
	struct mmpath_replacer *r;
	unsigned long id;

	w->all = mmpath_evictable(w->memcg ?: root_mem_cgroup);
	xa_for_each(&below->replacers, id, r)
		w->known += mmpath_knows(r);
	w->known = min(w->known, w->all);
}

/*
 * From the reserve. The worker may not get to run for as long as others use the CPUs, and reclaim
 * does not wait for it: what is missing it pushes out itself, and as long as that gives any, goes
 * on. Like the kernel's own it has dirty pages written without waiting for them; a disk may have
 * taken them by the time the last of them is on its way. Victims that are freed at once count
 * as found, unless they may be on another node than the one that reclaim has to find pages on.
 */
static unsigned long mmpath_get(struct mmpath_replacer *r, struct mmpath_want *w,
				unsigned int fill, unsigned long nr)
{
	unsigned long freed = mmpath_supply(r, w, nr), before, now;

	if (!fill || freed >= nr || !READ_ONCE(r->known))
		return freed;
	do {
		before = freed;
		now = mmpath_push(r, min(fill, mmpath_reserved(r) + nr - freed), false);
		if (w->memcg || num_online_nodes() == 1)
			freed += now;
		if (freed < nr)
			freed += mmpath_supply(r, w, nr - freed);
	} while (freed < nr && freed > before);
	return freed;
}

/*
 * In its own turns, too, the kernel finds the clean pages of the reserve before all
 * others. So that a cgroup does not pay for its neighbours, no more is written ahead
 * for reclaim above it than it was asked for.
 */
static unsigned long mmpath_ask(struct mmpath_replacer *r, struct mmpath_want *w,
				unsigned long nr)
{
	struct mem_cgroup *target = w->memcg ?: root_mem_cgroup;
	enum mmpath_relation relation = mmpath_relation(r, target);
	bool own = relation == MMPATH_OWN, further_below, may_fill;
	unsigned int want = READ_ONCE(r->target);
	unsigned long freed = 0;

	if (relation == MMPATH_STRANGER || mmpath_is_elsewhere(r, w))
		return 0;
	/* a limit further below: the oldest pages are most likely others' */
	further_below = target != r->memcg && mem_cgroup_is_descendant(target, r->memcg);
	may_fill = !further_below && time_after_eq(jiffies, READ_ONCE(r->not_before));
	/* the kernel's kswapd wants as much as its watermarks are apart, or more than there is */
	nr = min_t(unsigned long, nr, want);
	if (mmpath_kernels_turn(r, w, own)) {
		mmpath_replace_add(r, MMPATH_LEFT, nr);
		/* the worker counts what the policy knows: all is the kernel's before that */
		if (!own && READ_ONCE(r->known))
			return 0;
	} else {
		freed = mmpath_get(r, w, may_fill ? 2 * want : 0, nr);
		if (freed < nr)
			mmpath_replace_add(r, MMPATH_MISSED, nr - freed);
	}
	if (!own)
		want = min_t(unsigned long, want, nr);
	if (may_fill && mmpath_reserved(r) < want * 3 / 4) {
		WRITE_ONCE(r->fill, want);
		queue_work(system_unbound_wq, &r->work);
	}
	return freed;
}

/*
 * The kernel's own reclaim leaves active anonymous pages alone while there are as many
 * inactive ones, by statistics that may be four seconds old. With a policy it seldom runs,
 * and in that time all pages of a cgroup may have become active: it would find no inactive
 * one, make none, and kill. So before it gives up it gets true statistics. One reclaimer
 * in MMPATH_FLUSH is enough for all.
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
 * Ask the replacers of @w's cgroup, of those above it and of those below it, until there are
 * @enough of @nr pages. Return how many there are.
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
 * Some pages are enough for now: reclaim that wants more comes again. Where it finds something it
 * wakes a kswapd that had given up, as shrink_node() does.
 */
bool mmpath_shrink_node(struct zone *zone, struct mem_cgroup *memcg, gfp_t gfp, int priority,
			bool proactive, unsigned long nr, unsigned long *reclaimed,
			unsigned long *scanned)
{
	struct mmpath_want w = {
		.memcg = memcg, .zone = zone, .gfp = gfp, .priority = priority,
		.proactive = proactive, .turns = MMPATH_TURNS,
	};
	unsigned long wanted = nr - min(nr, *reclaimed), enough, freed = 0;
	int idx;

	if ((gfp & (__GFP_IO | __GFP_FS)) != (__GFP_IO | __GFP_FS))
		return false;
	enough = min(wanted, SWAP_CLUSTER_MAX);
	idx = srcu_read_lock(&mmpath_replace_srcu);
	freed = mmpath_ask_all(&w, wanted, enough);
	if (memcg && !priority && w.asked && !freed && !*reclaimed)
		mmpath_flush_stats(w.asked, memcg);
	srcu_read_unlock(&mmpath_replace_srcu, idx);
	if (freed)
		zone->zone_pgdat->kswapd_failures = 0;
	*reclaimed += freed;
	*scanned += w.scanned;
	/* of several nodes, each gives what reclaim wants, unless we did */
	return freed && freed >= enough;
}

/* The worker */

static void mmpath_refill(struct mmpath_replacer *r)
{
	unsigned long reach = mmpath_reach(r->dom);

	/* asked again while it was filled */
	if (mmpath_reserved(r) >= READ_ONCE(r->fill))
		return;
	if (reach == ULONG_MAX) {
		WRITE_ONCE(r->known, 0);
		goto pause;
	}
	mem_cgroup_flush_stats(r->memcg);
	lru_add_drain();
	mmpath_drain_domain(r->dom);
	mutex_lock(&r->dom->lock);
	mmpath_resize(r, reach);
	mutex_unlock(&r->dom->lock);
	if (mmpath_policy(r) == MMPATH_POLICY_KERNEL)
		goto pause;
	mmpath_push(r, READ_ONCE(r->fill), true);
	mmpath_weigh(r);
	return;
pause:
	WRITE_ONCE(r->not_before, jiffies + MMPATH_PAUSE);
}

static void mmpath_refill_fn(struct work_struct *work)
{
	mmpath_refill(container_of(work, struct mmpath_replacer, work));
}

/* What the domain tells of pages: LIRS, and beside it a contest or pools */

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

/* LIRS, which is told before, may sample more coarsely than members do. */
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
	mmpath_pools_judge(mmpath_pools_of(p), region, &models->lru_mrc, &models->mru_mrc);
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

static void mmpath_start_lirs(struct mmpath_replacer *r)
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

/* All that has been touched so far is in a pool of its own, as far as there is memory for it. */
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

static void mmpath_stop_models(struct mmpath_replacer *r)
{
	mutex_lock(&r->dom->lock);
	mmpath_stop_pools(r);
	mmpath_stop_contest(r);
	mmpath_domain_del_policy(&r->as_lirs);
	mmpath_lirs_destroy(&r->lirs);
	mutex_unlock(&r->dom->lock);
}

/* A contest costs as much as its simulations, and so do pools: only where they are used. */
static int mmpath_set_mode(struct mmpath_replacer *r, enum mmpath_mode mode)
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

/* Let reclaim find @r. On failure it may find it in some cgroups. */
static int mmpath_replacer_publish(struct mmpath_replacer *r)
{
	struct mem_cgroup *memcg;
	int ret;

	lockdep_assert_held(&mmpath_replace_mutex);
	static_branch_inc(&mmpath_replace_key);
	ret = xa_err(xa_store(&mmpath_replacers, r->memcg->css.id, r, GFP_KERNEL));
	for (memcg = parent_mem_cgroup(r->memcg); memcg && !ret; memcg = parent_mem_cgroup(memcg))
		ret = mmpath_subtree_add(memcg, r);
	return ret;
}

static void mmpath_replacer_hide(struct mmpath_replacer *r)
{
	struct mem_cgroup *memcg;

	lockdep_assert_held(&mmpath_replace_mutex);
	xa_erase(&mmpath_replacers, r->memcg->css.id);
	for (memcg = parent_mem_cgroup(r->memcg); memcg; memcg = parent_mem_cgroup(memcg))
		mmpath_subtree_del(memcg, r);
	static_branch_dec(&mmpath_replace_key);
}

/* Reclaim that is under way may still queue the worker. */
static void mmpath_replacer_destroy(struct mmpath_replacer *r)
{
	mmpath_replacer_hide(r);
	synchronize_srcu(&mmpath_replace_srcu);
	cancel_work_sync(&r->work);
	mmpath_stop_models(r);
	kfree(r);
}

static struct mmpath_replacer *mmpath_replacer_create(struct mmpath_domain *dom,
						      struct mem_cgroup *memcg,
						      enum mmpath_mode mode)
{
	struct mmpath_replacer *r = mmpath_model_alloc(memcg, sizeof(*r), MMPATH_GFP);

	if (!r)
		return NULL;
	r->dom = dom;
	r->memcg = memcg;
	r->target = MMPATH_RESERVE_LEAST;
	r->not_before = jiffies;
	r->left_until = jiffies;
	r->flushed = jiffies - MMPATH_FLUSH;
	r->leave = MMPATH_LEAVE_LEAST;
	spin_lock_init(&r->lock);
	INIT_WORK(&r->work, mmpath_refill_fn);
	mmpath_start_lirs(r);
	mmpath_policy_began(dom);
	if (mmpath_set_mode(r, mode)) {
		mmpath_stop_models(r);
		kfree(r);
		return NULL;
	}
	if (mmpath_replacer_publish(r)) {
		mmpath_replacer_destroy(r);
		return NULL;
	}
	return r;
}

/* The replacer of a domain, or NULL; mmpath_replace_mutex keeps it. */
static struct mmpath_replacer *mmpath_replacer_of(struct mmpath_domain *dom)
{
	struct mmpath_policy *p;

	lockdep_assert_held(&mmpath_replace_mutex);
	mutex_lock(&dom->lock);
	p = mmpath_domain_find_policy(dom, &mmpath_replace_lirs_ops);
	mutex_unlock(&dom->lock);
	return p ? mmpath_lirs_of(p) : NULL;
}

/**
 * mmpath_set_replace() - set which policy decides what leaves memory
 * @dom: the cgroup's domain
 * @memcg: the cgroup; stays until the mode is MMPATH_MODE_NONE again
 * @mode: from now on
 *
 * Pages stay where they are. Context: may sleep; takes the domain's lock, and waits
 * for a refill.
 * Return: 0, or -ENOMEM, and then the kernel decides, or who did before.
 */
int mmpath_set_replace(struct mmpath_domain *dom, struct mem_cgroup *memcg,
		       enum mmpath_mode mode)
{
	struct mmpath_replacer *r;
	int ret = 0;

	mutex_lock(&mmpath_replace_mutex);
	r = mmpath_replacer_of(dom);
	if (r && mode == MMPATH_MODE_NONE)
		mmpath_replacer_destroy(r);
	else if (r)
		ret = mmpath_set_mode(r, mode);
	else if (mode != MMPATH_MODE_NONE)
		ret = mmpath_replacer_create(dom, memcg, mode) ? 0 : -ENOMEM;
	mutex_unlock(&mmpath_replace_mutex);
	return ret;
}

/**
 * mmpath_replace_mode() - read what mmpath_set_replace() has set
 * @dom: of this domain
 *
 * Context: may sleep; takes the domain's lock. Return: the mode.
 */
enum mmpath_mode mmpath_replace_mode(struct mmpath_domain *dom)
{
	const struct mmpath_replacer *r;
	enum mmpath_mode mode;

	mutex_lock(&mmpath_replace_mutex);
	r = mmpath_replacer_of(dom);
	mode = r ? r->mode : MMPATH_MODE_NONE;
	mutex_unlock(&mmpath_replace_mutex);
	return mode;
}

/**
 * mmpath_replace_pool() - find the pool of a region
 * @dom: the domain, whose lock is held
 * @ctx: a member
 * @region: the number of one of its regions
 *
 * Return: the pool, or NULL if it has none.
 */
const struct mmpath_pool *mmpath_replace_pool(struct mmpath_domain *dom,
					      const struct mmpath_ctx *ctx, u32 region)
{
	struct mmpath_policy *p = mmpath_domain_find_policy(dom, &mmpath_replace_pools_ops);

	return p ? mmpath_pools_find(mmpath_pools_of(p), mmpath_domain_key(ctx, region)) : NULL;
}

/**
 * mmpath_replaces_well() - tell whether a policy chooses better than LRU what leaves memory
 * @dom: of this domain's
 *
 * Context: may sleep.
 */
bool mmpath_replaces_well(struct mmpath_domain *dom)
{
	const struct mmpath_replacer *r;
	bool well;

	mutex_lock(&mmpath_replace_mutex);
	r = mmpath_replacer_of(dom);
	well = r && READ_ONCE(r->known) && !mmpath_is_lru(r) &&
	       mmpath_policy(r) != MMPATH_POLICY_KERNEL &&
	       (r->mode != MMPATH_MODE_REGION || READ_ONCE(r->pools.switches));
	mutex_unlock(&mmpath_replace_mutex);
	return well;
}

static const char *mmpath_policy_name(const struct mmpath_replacer *r)
{
	if (!r || mmpath_policy(r) == MMPATH_POLICY_KERNEL)
		return mmpath_mode_names[MMPATH_MODE_NONE];
	if (mmpath_is_lru(r))
		return mmpath_mode_names[MMPATH_MODE_LRU];
	return mmpath_mode_names[r->mode == MMPATH_MODE_AUTO ? MMPATH_MODE_LIRS : r->mode];
}

/**
 * mmpath_show_replace() - print the statistics of replacement
 * @m: where to
 * @dom: of this domain
 */
void mmpath_show_replace(struct seq_file *m, struct mmpath_domain *dom)
{
	const struct mmpath_replacer *r;
	unsigned int i;

	mutex_lock(&mmpath_replace_mutex);
	r = mmpath_replacer_of(dom);
	for (i = 0; i < NR_MMPATH_REPLACE_COUNTS; i++)
		seq_printf(m, "replace_%s %lu\n", mmpath_replace_names[i],
			   r ? atomic_long_read(&r->count[i]) : 0);
	seq_printf(m, "replace_policy %s\n", mmpath_policy_name(r));
	seq_printf(m, "replace_known %lu\n", r ? READ_ONCE(r->known) : 0);
	seq_printf(m, "replace_shift %u\n", r ? mmpath_policy_shift(r) : 0);
	seq_printf(m, "replace_reserve %u\n", r ? mmpath_reserved(r) : 0);
	mutex_unlock(&mmpath_replace_mutex);
}
