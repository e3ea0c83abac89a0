// SPDX-License-Identifier: GPL-2.0
/*
 * Replacement: which page of a cgroup leaves memory (thesis 4.3).
 *
 * The kernel's own reclaim does not know in which order pages were touched. In a cgroup
 * that has memory.path.replace, reclaim first asks the policy here for victims. If they
 * are not enough, it goes on as usual:
 *
 *	record -> domain -> policy (lirs.c, or pools.c of regions): chooses victims
 *
 *	worker:  victim -> unmapped, written to swap -> reserve
 *	reclaim: frees the reserve; if that is not enough, pushes out victims like the worker
 *
 * A dirty page cannot be freed at once, and a task that needs a page cannot wait for the
 * disk. So a worker has victims written ahead. They stay in the swap cache. They are
 * still charged, and a program that touches one gets it by a minor fault. The reserve has
 * their swap entries, and holds no references. Reclaim frees those that are still clean
 * and unmapped. If all CPUs are busy, the worker may run too late. Reclaim does not wait
 * for it. It pushes out the missing victims itself, as it would without a policy, and with
 * trylocks only; kswapd tries for a moment.
 *
 * The kernel reclaims a node at a time, and the policy does not know where a page is. So victims
 * on other nodes are passed over, and each node has a reserve. LIRS has few victims at a time. If
 * all are on other nodes, its oldest LIR pages on the node leave. For the limit of a cgroup all
 * nodes are as good.
 *
 * A page that was written ahead in vain costs a write and a minor fault. So does a wrong
 * choice of the kernel's own reclaim. The reserve is only a few percent of the pages.
 *
 * The kernel's own reclaim is still needed for pages that no policy knows: pages of files,
 * of programs that are not tracked, and those read ahead and not touched yet. Its share of
 * the calls (turns) is the share that these pages have in the cgroup. In reclaim of an
 * ancestor its share is greater. The other turns are divided between the policies below
 * the ancestor, in proportion to the pages that each knows.
 *
 * Locks: those of core.h, and innermost a spinlock for the reserves. Reclaim holds an SRCU
 * of its own, which keeps a replacer alive.
 */
#include <linux/delay.h>
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
#define MMPATH_RESERVE_SHARE	32	/* one page in 32 is in the reserve */
#define MMPATH_TURNS		65536UL
#define MMPATH_KSWAPD_TRIES	20		/* for the domain's lock, 0.1 ms each at most */
#define MMPATH_FLUSH		(HZ / 50)
#define MMPATH_RECOUNT		(HZ / 4)	/* what a policy knows is counted as often */
#define MMPATH_PAUSE		(HZ / 10)	/* when no victim could be taken */
#define MMPATH_WEIGH		256	/* victims after which auto decides again */
#define MMPATH_LEAVE_LEAST	(HZ / 2)
#define MMPATH_LEAVE_MOST	(16 * HZ)
#define MMPATH_CONTEST_PAGES	1536U	/* sampled pages of each simulation, at most */
#define MMPATH_REPLACE_PAGES	(1U << 20)	/* sampled pages of a policy, at most */

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
	[MMPATH_REFUSED_NODE]		= "refused_node",
	[MMPATH_REFUSED_HOT]		= "refused_hot",
	[MMPATH_REFUSED_BUSY]		= "refused_busy",
};

DEFINE_STATIC_KEY_FALSE(mmpath_replace_key);
static DEFINE_MUTEX(mmpath_replace_mutex);	/* held to change both tables */
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

const char * const mmpath_mode_names[NR_MMPATH_MODES] = {
	[MMPATH_MODE_NONE]	= "none",
	[MMPATH_MODE_LRU]	= "lru",
	[MMPATH_MODE_MRU]	= "mru",
	[MMPATH_MODE_REGION]	= "region",
	[MMPATH_MODE_LIRS]	= "lirs",
	[MMPATH_MODE_AUTO]	= "auto",
};

/*
 * Is the policy in use LRU, which is LIRS without LIR pages? Where no policy is better than the
 * kernel's, auto uses LRU, and gains by writing victims ahead: tasks that need memory need not
 * wait for that.
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

/* Has auto left replacement to the kernel for now? */
static bool mmpath_is_kernels(const struct mmpath_replacer *r)
{
	return READ_ONCE(r->mode) == MMPATH_MODE_AUTO && mmpath_is_lru(r) &&
	       time_before(jiffies, READ_ONCE(r->left_until));
}

/* Does the replacer have pools of regions? Without the domain's lock this is a hint. */
static bool mmpath_has_pools(const struct mmpath_replacer *r)
{
	return READ_ONCE(r->as_pools.dom);
}

/* Reclaimable pages of @memcg and its descendants */
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
 * The greatest reach of a member's page access buffer. A page that was logged longer ago than
 * that is not hot. In a context that is logged in bursts, any page may be hot.
 */
static unsigned long mmpath_reach(struct mmpath_domain *dom)
{
	struct mmpath_ctx *ctx;
	unsigned long id, pages, reach = 0;

	mmpath_for_each_member(ctx, id, dom) {
		pages = READ_ONCE(ctx->d.pab_reach);
		reach = max(reach, READ_ONCE(ctx->d.blind) ? ULONG_MAX : pages);
	}
	return reach;
}

/* How many pages of memory the policy knows. It is not told of pages that the kernel reclaims. */
static unsigned long mmpath_count_known(const struct mmpath_replacer *r)
{
	u64 known = (u64)(r->lirs.nr_lirs + r->lirs.nr_hirs) << r->lirs.shift;

	if (mmpath_has_pools(r))
		known = mmpath_pools_known(&r->pools);
	return min_t(u64, known, mmpath_evictable(r->memcg));
}

/*
 * Set the size of memory in all models. Memory is full when this is called, so the size is the
 * number of pages that the policy knows. The HIR part includes pages that the driver may be
 * filtering out, and the reserve.
 */
static void mmpath_resize(struct mmpath_replacer *r, unsigned long reach)
{
	unsigned long known = mmpath_count_known(r), hirs;

	lockdep_assert_held(&r->dom->lock);
	WRITE_ONCE(r->known, known);
	WRITE_ONCE(r->counted, jiffies);
	WRITE_ONCE(r->target, clamp(known / MMPATH_RESERVE_SHARE, MMPATH_RESERVE_LEAST + 0UL,
				    MMPATH_RESERVE + 0UL));
	hirs = min(max(known / 100, reach + r->target), known);
	if (r->as_contest.dom)
		mmpath_contest_set_size(&r->contest, known, hirs);
	if (r->as_pools.dom)
		mmpath_pools_set_size(&r->pools, known, hirs);
	if (mmpath_is_lru(r))
		hirs = known;
	mmpath_lirs_set_size(&r->lirs, known, hirs, READ_ONCE(r->mode) == MMPATH_MODE_MRU);
}

/* The next victim, or with @lir the next LIR page from there on */
static bool mmpath_victim(struct mmpath_replacer *r, u64 *lir, u64 *page)
{
	if (lir)
		return mmpath_lirs_next_lir(&r->lirs, lir, page);
	if (r->as_pools.dom)
		return mmpath_pools_victim(&r->pools, page, &r->key);
	return mmpath_lirs_victim(&r->lirs, page);
}

static unsigned int mmpath_policy_shift(const struct mmpath_replacer *r)
{
	return mmpath_has_pools(r) ? READ_ONCE(r->pools.shift) : READ_ONCE(r->lirs.shift);
}

/*
 * Fill a batch with victims. When a sampled page is chosen, its whole block goes, because no more
 * is known of the other pages. A large block takes several batches.
 */
static void mmpath_pick(struct mmpath_replacer *r, struct mmpath_batch *b, u64 *lir)
{
	unsigned int shift = mmpath_policy_shift(r);

	b->lirs = lir;
	for (b->nr = 0; b->nr < MMPATH_BATCH; b->nr++) {
		if (r->block == r->block_end) {
			if (!mmpath_victim(r, lir, &r->block))
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
		if (!mmpath_sampled(b->page[i], mmpath_policy_shift(r)))
			continue;
		if (b->lirs && !b->kept[i])
			mmpath_lirs_forget(&r->lirs, b->page[i], 1);
		if (b->lirs || !b->kept[i])
			continue;
		if (r->as_pools.dom)
			mmpath_pools_keep(&r->pools, b->key[i], b->page[i]);
		else
			mmpath_lirs_keep(&r->lirs, b->page[i]);
	}
}

/*
 * LRU gains only by writing victims ahead. Clean pages, and pages that a disk takes at once, are
 * reclaimed with less effort by the kernel. If seven in eight victims are like that, auto leaves
 * the choice to the kernel for some time, and for twice as long the next time if they still are.
 * It tries again then, because the phase of a program may have changed.
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

/*
 * The holder of the lock may wait for a CPU. kswapd tries for a moment, because no program waits
 * for it while there is memory above the lowest watermark. Other reclaim tries once: what it is
 * called from may hold any lock, and a program waits.
 */
static bool mmpath_lock_policy(struct mmpath_replacer *r, bool wait)
{
	unsigned int tries = current_is_kswapd() ? MMPATH_KSWAPD_TRIES : 0;

	if (wait) {
		mutex_lock(&r->dom->lock);
		return true;
	}
	while (!mutex_trylock(&r->dom->lock)) {
		if (!tries--)
			return false;
		usleep_range(50, 100);
	}
	return true;
}

/*
 * Put back victims that could not leave. Reclaim does not wait for the domain's lock. If it does
 * not get it, the next user of the batch puts them back.
 */
static void mmpath_end_batch(struct mmpath_replacer *r, struct mmpath_batch *b, bool wait)
{
	if (!mmpath_lock_policy(r, wait))
		return;
	mmpath_keep(r, b);
	b->nr = 0;
	mutex_unlock(&r->dom->lock);
}

/* Put them back, and take the next ones: LIR pages if there is @lir. */
static bool mmpath_next_batch(struct mmpath_replacer *r, struct mmpath_batch *b, u64 *lir,
			      bool wait)
{
	if (!mmpath_lock_policy(r, wait))
		return false;
	mmpath_keep(r, b);
	mmpath_pick(r, b, lir);
	mutex_unlock(&r->dom->lock);
	return b->nr;
}

/*
 * Where to go on with LIR pages, or NULL if victims of the policy are to be taken. LIRS has few
 * victims at a time, and all may be on other nodes than @nid. Once it has named all of them in
 * vain, LIR pages of the node have to leave.
 */
static u64 *mmpath_lir(struct mmpath_replacer *r, int nid, unsigned long passed)
{
	struct mmpath_aim *aim = mmpath_aim(r, nid);
	u64 hirs = (u64)READ_ONCE(r->lirs.nr_hirs) << READ_ONCE(r->lirs.shift);

	if (nid == NUMA_NO_NODE || mmpath_has_pools(r))
		return NULL;
	return READ_ONCE(aim->passed) + passed > hirs ? &aim->lir : NULL;
}

/*
 * Note that @left victims left in a push, and the last @nr did not. Pause if none can leave. Those
 * of the node that is wanted may be behind those of others. So a push is in vain only if none was
 * found among as many victims as the policy knows pages.
 */
static void mmpath_passed(struct mmpath_replacer *r, int nid, unsigned long nr,
			  unsigned long left)
{
	struct mmpath_aim *aim = mmpath_aim(r, nid);
	unsigned long passed = left ? 0 : READ_ONCE(aim->passed) + nr;
	bool vain = !left && (nid == NUMA_NO_NODE || !nr || passed >= READ_ONCE(r->known));

	WRITE_ONCE(aim->passed, vain ? 0 : passed);
	if (vain)
		WRITE_ONCE(aim->not_before, jiffies + MMPATH_PAUSE);
}

/*
 * Push out victims until the reserve of @nid, or of all nodes, has @fill entries. Victims that are
 * clean, or that a disk like zram takes at once, are freed and count like entries of the reserve,
 * because as many pages can be charged without reclaim. The number of rounds is bounded. If none
 * of the victims can be reclaimed, the policy is not asked again for MMPATH_PAUSE, unless only a
 * lock was taken.
 */
static unsigned long mmpath_push(struct mmpath_replacer *r, int nid, unsigned int fill, bool wait)
{
	unsigned int rounds = 4 * MMPATH_RESERVE / MMPATH_BATCH;
	unsigned long freed = 0, passed = 0, left;
	struct mmpath_batch *b;
	u64 *lir = NULL;

	if (mmpath_reserved(r, nid) >= fill)
		return 0;
	b = mmpath_get_batch(r);
	if (!b)
		return 0;
	b->left = 0;
	while (mmpath_reserved(r, nid) + freed < fill && rounds--) {
		lir = lir ?: mmpath_lir(r, nid, passed);
		if (mem_cgroup_get_nr_swap_pages(r->memcg) <= 0 ||
		    !mmpath_next_batch(r, b, lir, wait))
			break;
		left = b->left;
		freed += mmpath_push_out(r, b, nid);
		passed = b->left == left ? passed + b->nr : 0;
	}
	mmpath_end_batch(r, b, wait);
	if (passed || b->left || wait)
		mmpath_passed(r, nid, passed, b->left);
	mmpath_put_batch(r, b);
	return freed;
}

/* Reclaim */

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

/*
 * Is this turn the kernel's? Reclaim calls again with lower priorities until it has enough, and at
 * first scans nothing of a small cgroup. All these calls are one turn, which is remembered by a
 * hash of the task. Two tasks with the same hash share their turns, which does no harm.
 */
static bool mmpath_kernels_turn(struct mmpath_replacer *r, struct mmpath_want *w, bool own)
{
	unsigned int bit = hash_32(current->pid, ilog2(BITS_PER_LONG));

	if (w->priority == DEF_PRIORITY)
		assign_bit(bit, &r->left_to, mmpath_next_turn(r, w, own));
	return test_bit(bit, &r->left_to);
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

static bool mmpath_is_pausing(struct mmpath_replacer *r, int nid)
{
	return time_before(jiffies, READ_ONCE(r->aim.not_before)) ||
	       time_before(jiffies, READ_ONCE(mmpath_aim(r, nid)->not_before));
}

/*
 * Turns follow what the policy knew when it was last counted. The reserve of one that has few turns
 * stays full, so filling it is no occasion to count again when programs have grown.
 */
static bool mmpath_must_count(const struct mmpath_replacer *r)
{
	return time_after_eq(jiffies, READ_ONCE(r->counted) + MMPATH_RECOUNT);
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
	may_fill = !further_below && !mmpath_is_pausing(r, w->nid);
	/* kswapd wants as much as its watermarks are apart, or more than there is */
	nr = min_t(unsigned long, nr, want);
	if (mmpath_kernels_turn(r, w, own)) {
		mmpath_replace_add(r, MMPATH_LEFT, nr);
		/* until the worker has counted what the policy knows, all turns are the kernel's */
		if (!own && READ_ONCE(r->known))
			return 0;
	} else {
		freed = mmpath_get(r, w, may_fill ? min(2 * want, MMPATH_RESERVE) : 0, nr);
		if (freed < nr)
			mmpath_replace_add(r, MMPATH_MISSED, nr - freed);
	}
	if (!own)
		want = min_t(unsigned long, want, nr);
	if (may_fill && (mmpath_reserved(r, w->nid) < want * 3 / 4 || mmpath_must_count(r))) {
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
 * freed, let a kswapd that had given up run again, as shrink_node() does.
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
	/* if this is false, shrink_node() looks for all that reclaim wants, on each node */
	return freed && freed >= enough;
}

/* The worker */

static bool mmpath_is_filled(struct mmpath_replacer *r, int nid)
{
	return mmpath_reserved(r, nid) >= READ_ONCE(mmpath_aim(r, nid)->fill);
}

static bool mmpath_all_filled(struct mmpath_replacer *r)
{
	int nid;

	for_each_node_state(nid, N_MEMORY)
		if (!mmpath_is_filled(r, nid))
			return false;
	return mmpath_is_filled(r, NUMA_NO_NODE);
}

static void mmpath_fill(struct mmpath_replacer *r, int nid)
{
	mmpath_push(r, nid, xchg(&mmpath_aim(r, nid)->fill, 0), true);
}

static void mmpath_refill(struct mmpath_replacer *r)
{
	unsigned long reach = mmpath_reach(r->dom);
	int nid;

	/* the work was queued again while it ran */
	if (mmpath_all_filled(r) && !mmpath_must_count(r))
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
	if (mmpath_is_kernels(r))
		goto pause;
	mmpath_fill(r, NUMA_NO_NODE);
	for_each_node_state(nid, N_MEMORY)
		mmpath_fill(r, nid);
	mmpath_weigh(r);
	return;
pause:
	WRITE_ONCE(r->aim.not_before, jiffies + MMPATH_PAUSE);
}

static void mmpath_refill_fn(struct work_struct *work)
{
	mmpath_refill(container_of(work, struct mmpath_replacer, work));
}

/* The domain tells LIRS of pages, and with it a contest or pools */

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

static void mmpath_stop_models(struct mmpath_replacer *r)
{
	mutex_lock(&r->dom->lock);
	mmpath_stop_pools(r);
	mmpath_stop_contest(r);
	mmpath_domain_del_policy(&r->as_lirs);
	mmpath_lirs_destroy(&r->lirs);
	mutex_unlock(&r->dom->lock);
}

/* A contest and pools cost time and memory, so they exist only in the modes that use them. */
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

/* Let reclaim find @r. On failure reclaim in some cgroups may find it all the same. */
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

/* Cancel the work only after SRCU: until then reclaim may queue it. */
static void mmpath_replacer_destroy(struct mmpath_replacer *r)
{
	mmpath_replacer_hide(r);
	synchronize_srcu(&mmpath_replace_srcu);
	cancel_work_sync(&r->work);
	mmpath_stop_models(r);
	kvfree(r);
}

/* Some KiB for each node */
static struct mmpath_replacer *mmpath_replacer_alloc(struct mem_cgroup *memcg)
{
	struct mem_cgroup *old = set_active_memcg(memcg);
	struct mmpath_replacer *r = kvzalloc(struct_size(r, reserve, nr_node_ids), MMPATH_GFP);

	set_active_memcg(old);
	return r;
}

static struct mmpath_replacer *mmpath_replacer_create(struct mmpath_domain *dom,
						      struct mem_cgroup *memcg,
						      enum mmpath_mode mode)
{
	struct mmpath_replacer *r;
	int nid;

	r = mmpath_replacer_alloc(memcg);
	if (!r)
		return NULL;
	r->dom = dom;
	r->memcg = memcg;
	r->target = MMPATH_RESERVE_LEAST;
	r->aim = (struct mmpath_aim){ .not_before = jiffies, .lir = U64_MAX };
	for (nid = 0; nid < nr_node_ids; nid++)
		r->reserve[nid].aim = r->aim;
	r->left_until = jiffies;
	r->flushed = jiffies - MMPATH_FLUSH;
	r->counted = jiffies - MMPATH_RECOUNT;
	r->leave = MMPATH_LEAVE_LEAST;
	spin_lock_init(&r->lock);
	INIT_WORK(&r->work, mmpath_refill_fn);
	mmpath_start_lirs(r);
	mmpath_policy_began(dom);
	if (mmpath_set_mode(r, mode)) {
		mmpath_stop_models(r);
		kvfree(r);
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
 * mmpath_set_replace() - set the replacement policy of a cgroup
 * @dom: domain of the cgroup
 * @memcg: the cgroup; must stay until the mode is MMPATH_MODE_NONE again
 * @mode: the mode from now on
 *
 * Pages stay where they are. Context: may sleep; takes the domain's lock, and waits
 * for a refill.
 * Return: 0, or -ENOMEM; then the mode is the one before.
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
 * mmpath_replace_mode() - return the mode that mmpath_set_replace() has set
 * @dom: the domain
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

/**
 * mmpath_replaces_well() - tell whether a domain has a policy that is better than LRU
 * @dom: the domain
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
	       !mmpath_is_kernels(r) &&
	       (r->mode != MMPATH_MODE_REGION || READ_ONCE(r->pools.switches));
	mutex_unlock(&mmpath_replace_mutex);
	return well;
}

static const char *mmpath_policy_name(const struct mmpath_replacer *r)
{
	if (!r || mmpath_is_kernels(r))
		return mmpath_mode_names[MMPATH_MODE_NONE];
	if (mmpath_is_lru(r))
		return mmpath_mode_names[MMPATH_MODE_LRU];
	return mmpath_mode_names[r->mode == MMPATH_MODE_AUTO ? MMPATH_MODE_LIRS : r->mode];
}

/**
 * mmpath_show_replace() - print the statistics of replacement in a domain
 * @m: file to print to
 * @dom: the domain
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
	seq_printf(m, "replace_reserve %u\n", r ? mmpath_reserved(r, NUMA_NO_NODE) : 0);
	mutex_unlock(&mmpath_replace_mutex);
}
