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
 * Files:
 *
 *	replace.c		chooses victims and has them pushed out; begins and ends policies
 *	replace-models.c	hands what the domain is told of pages to the models
 *	replace-reclaim.c	asks policies for pages in the kernel's reclaim
 *	reserve.c		reclaims victims, and keeps those that were written
 *
 * Locks: those of core.h, and innermost a spinlock for the reserves. Reclaim holds an SRCU
 * of its own, which keeps a replacer alive.
 */
#include <linux/delay.h>
#include <linux/memcontrol.h>
#include <linux/sched/mm.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/swap.h>
#include "../../internal.h"
#include "balance.h"
#include "replace.h"
#include "reserve.h"

#define MMPATH_RESERVE_LEAST	64U
#define MMPATH_RESERVE_SHARE	32	/* one page in 32 is in the reserve */
#define MMPATH_KSWAPD_TRIES	20		/* for the domain's lock, 0.1 ms each at most */
#define MMPATH_PAUSE		(HZ / 10)	/* when no victim could be taken */
#define MMPATH_WEIGH		256	/* victims after which auto decides again */
#define MMPATH_LEAVE_LEAST	(HZ / 2)
#define MMPATH_LEAVE_MOST	(16 * HZ)

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
	[MMPATH_REFUSED_SWAP]		= "refused_swap",
	[MMPATH_REFUSED_NODE]		= "refused_node",
	[MMPATH_REFUSED_HOT]		= "refused_hot",
	[MMPATH_REFUSED_BUSY]		= "refused_busy",
};

/* which domain has a replacer, and in which mode */
DEFINE_MUTEX(mmpath_replace_mutex);
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

/**
 * mmpath_is_kernels() - tell whether auto has left replacement to the kernel for now
 * @r: the replacer
 */
bool mmpath_is_kernels(const struct mmpath_replacer *r)
{
	return READ_ONCE(r->mode) == MMPATH_MODE_AUTO && mmpath_is_lru(r) &&
	       time_before(jiffies, READ_ONCE(r->left_until));
}

/* Does the replacer have pools of regions? Without the domain's lock this is a hint. */
static bool mmpath_has_pools(const struct mmpath_replacer *r)
{
	return READ_ONCE(r->as_pools.dom);
}

/**
 * mmpath_evictable() - return the number of reclaimable pages of a cgroup
 * @memcg: the cgroup; its descendants are counted, too
 */
unsigned long mmpath_evictable(struct mem_cgroup *memcg)
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
	struct mmpath_block *block = lir ? &r->lir_block : &r->block;

	b->lirs = lir;
	for (b->nr = 0; b->nr < MMPATH_BATCH; b->nr++) {
		if (block->next == block->end) {
			if (!mmpath_victim(r, lir, &block->next))
				break;
			block->next = block->next >> shift << shift;
			block->end = block->next + (1ULL << shift);
		}
		b->key[b->nr] = r->key;
		b->page[b->nr] = block->next++;
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

/**
 * mmpath_push() - push out victims until a reserve is filled
 * @r: the replacer
 * @nid: node of the reserve, or NUMA_NO_NODE for all
 * @fill: number of entries that it is to have
 * @wait: wait for the domain's lock; else kswapd tries for a moment, and others try once
 *
 * Victims that are clean, or that a disk like zram takes at once, are freed and count like entries
 * of the reserve, because as many pages can be charged without reclaim. The number of rounds is
 * bounded. If none of the victims can be reclaimed, the policy is not asked again for
 * MMPATH_PAUSE, unless only a lock was taken.
 *
 * Context: may write pages. Return: the number of pages freed.
 */
unsigned long mmpath_push(struct mmpath_replacer *r, int nid, unsigned int fill, bool wait)
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

/* The worker */

/**
 * mmpath_must_count() - tell whether the worker must count again what the policy knows
 * @r: the replacer
 * @age: jiffies after which it must
 *
 * Turns follow what the policy knew when it was last counted. The reserve of one that has few turns
 * stays full, so filling it is no occasion to count again when programs have grown.
 */
bool mmpath_must_count(const struct mmpath_replacer *r, unsigned long age)
{
	return time_after_eq(jiffies, READ_ONCE(r->counted) + age);
}

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
	if (mmpath_all_filled(r) && !mmpath_must_count(r, MMPATH_RECOUNT))
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

/* Cancel the work only after it is hidden: until then reclaim may queue it. */
static void mmpath_replacer_destroy(struct mmpath_replacer *r)
{
	mmpath_replacer_hide(r);
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
	r->counted = jiffies - MMPATH_RECOUNT_ABOVE;
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
	struct mmpath_replacer *r;

	lockdep_assert_held(&mmpath_replace_mutex);
	mutex_lock(&dom->lock);
	r = mmpath_find_replacer(dom);
	mutex_unlock(&dom->lock);
	return r;
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
