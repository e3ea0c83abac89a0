// SPDX-License-Identifier: GPL-2.0
/*
 * Emulated page access tracking hardware (thesis 4.1, "active set").
 *
 * A page access buffer (PAB) of some thousand entries holds the pages touched
 * last, first in first out in each set, because software cannot see hits. A
 * page that is in the PAB is accessible. One that is not is made inaccessible
 * with the encoding of NUMA hints (pte_protnone()), and the fault on its next
 * touch is the record:
 *
 *	touch of a page outside  ->  fault: give access back, enter the PAB,
 *				     log it unless the filter knows it
 *	page falls out of its set ->  make it inaccessible
 *
 * The one invariant: an accessible page of the sample is in the PAB. The
 * kernel breaks it behind our back (fault-around, migration, collapse), hence
 * a scan each epoch, which repairs it and counts the pages that escaped.
 *
 * An entry is made inaccessible under its page table lock, and its TLB entry is
 * flushed before that lock is dropped. To reclaim, an inaccessible entry looks
 * like one that no CPU can have cached. With the flush still to come, reclaim
 * would free the page while another CPU still writes to it.
 *
 * The cost is bounded in two steps, once a program has lived for an epoch. The
 * first is to track fewer pages: only those that pass the sampling mask
 * (mmpath_sampled()) are ever made inaccessible. The PAB shrinks with the sample,
 * so that its reach in memory stays the same.
 * The second is to track for a part of the time (a burst): when an epoch has used
 * up its budget, all pages are made accessible until the next one. A burst should
 * see each page of the sample several times, and the program's own time in it must
 * be long enough to be told from the cost. The sample is made coarser until both
 * hold.
 *
 * The worker that scans page tables is beside the program, but takes a CPU, too. A burst
 * needs two whole scans. The next one waits until the worker has taken no more than the
 * target's part of the program's own time. What it takes depends on the sample as well: a record
 * of a huge page is one of all its pages that are in the sample. So if the worker takes too much,
 * the sample is made coarser, too.
 *
 * A huge page has one PAB entry, in a PAB of its own, of the same reach.
 *
 * An instruction completes when all its pages are accessible at once. It has six
 * at most: code, source and destination may each cross a page boundary. (Gathers
 * and scatters remember which elements are done.) All six may be of one set, where
 * the page that enters pushes out the one that entered first. So each set of both
 * PABs has at least EMUL_MIN_WAYS entries, even when a coarse sample leaves fewer to
 * the whole PAB. Such a PAB has a greater reach than one for the finest sample.
 *
 * Locks: the PAB's is taken inside page table locks; two page table locks are
 * never nested. Everything else: see core.h.
 */
#include <linux/hash.h>
#include <linux/hugetlb.h>
#include <linux/log2.h>
#include <linux/memcontrol.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/mm_inline.h>
#include <linux/pagewalk.h>
#include <linux/sched/cputime.h>
#include <linux/sched/mm.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/userfaultfd_k.h>
#include <asm/tlbflush.h>
#include "../../internal.h"
#include "../driver.h"

enum emul_param {
	EMUL_PAB_ENTRIES,
	EMUL_PAB_WAYS,
	EMUL_FILTER_ENTRIES,
	EMUL_LOG_ENTRIES,
	EMUL_SAMPLE_SHIFT,
	EMUL_OVERHEAD_TARGET,
	NR_EMUL_PARAMS,
};

#define EMUL_MAX_FILTER		256
#define EMUL_HUGE_WAYS		16U
#define EMUL_MIN_WAYS		8U	/* more than the pages of one instruction */
#define EMUL_NEAR_SHIFT		6
#define EMUL_SCAN_SHARE		128	/* the worker may always take 1/128 of the time */
#define EMUL_MAX_DEBT		64	/* epochs; without a burst for longer, curves are empty */
#define EMUL_BITE		128U	/* page tables, without letting mmap_lock go */
#define EMUL_MIN_SAMPLE		256	/* pages; a smaller sample says little */
#define EMUL_ROUNDS		8	/* touches per sampled page in a burst */
#define EMUL_MIN_SHARE		4	/* own time in a burst, 1/4 of the cost */
#define EMUL_MIN_BUDGET		1000	/* 1/1000 of an epoch */
#define EMUL_BURST_PERCENT	80	/* of the budget; the rest is for pausing and scans */
#define EMUL_CHEAP_EPOCHS	3	/* below a third of the target, in a row */

static struct mmpath_param emul_params[NR_EMUL_PARAMS + 1] = {
	[EMUL_PAB_ENTRIES]	= { "pab_entries", 2048, 16, 1 << 20, true },
	[EMUL_PAB_WAYS]		= { "pab_ways", 16, EMUL_MIN_WAYS, 64, true },
	[EMUL_FILTER_ENTRIES]	= { "filter_entries", 64, 0, EMUL_MAX_FILTER, false },
	[EMUL_LOG_ENTRIES]	= { "log_entries", 1024, 64, 1 << 16, true },
	[EMUL_SAMPLE_SHIFT]	= { "sample_shift", 0, 0, MMPATH_MAX_SHIFT, false },
	[EMUL_OVERHEAD_TARGET]	= { "overhead_target", 5, 0, 100, false },
};

/*
 * @page: entries: page number + 1, or 0 when empty
 * @hand: place of the oldest entry of each set
 * @node: links of the entries in the lists of @near
 * @near: lists of entries, to forget a range of pages quickly. The entries of a range of
 *	2^EMUL_NEAR_SHIFT blocks are on one list. Ranges with the same hash share a list.
 * @ways: entries of a set, a power of two
 * @nr_sets: number of sets, a power of two
 */
struct emul_pab {
	u64 *page;
	u8 *hand;
	struct hlist_node *node;
	struct hlist_head *near;
	unsigned int ways;
	unsigned int nr_sets;
};

/*
 * A scan is due when @scan_now is set, or when @next_scan has come and the program has run
 * since the last scan began.
 *
 * @lock: protects the PABs, the filter, @shift and @faults
 * @shift: one page in 2^shift is tracked
 * @pab_entries: entries of @pab for the finest sample
 * @pab_ways: entries of a set of @pab
 * @pab: of small pages
 * @huge: PAB of huge pages
 * @filter_entries: entries of @filter for the finest sample
 * @filter: page numbers + 1, the one used last first
 * @paused: nothing is tracked
 * @resuming: the pause began in an earlier epoch, so the next burst is due
 * @fresh: nothing was tracked yet: the first epoch of the program has not ended
 * @budget_ns: the program is paused when faults have taken more than this in an epoch
 * @faults: hint faults since the context was attached. They are counted under @lock, which a
 *	fault takes anyway: threads that fault at once share no other cache line for that.
 *
 * All that follow are under ctx->alive.
 * @faults_told: @faults that the context's statistics have
 * @faults_seen: @faults when the epoch began
 * @hook_seen: ctx->hook_ns when the epoch began
 * @fed_seen: ctx->fed when the epoch began
 * @worker_seen: ctx->worker_ns when the epoch began
 * @debt_ns: what the worker has taken so far beyond what it may take
 * @worker_much: it has taken more than a third of that in the last epoch
 * @coarser: the sample became coarser in this epoch, so the worker still works on a finer one
 * @cpu_ns: CPU time of the program when the epoch began
 * @burst_ns: own time of the program in this epoch up to the pause, 0 without one
 * @next_scan: time of the next scan
 * @scan_took: CPU time of this scan so far
 * @scan_cpu_ns: CPU time of the program when the last scan began
 * @scan_now: scan as soon as possible
 * @scan_at: address at which to continue a scan that could not get mmap_lock; 0 at the start
 * @scan_shift: pages of this sample may still be inaccessible
 * @cheap_epochs: epochs in a row that were far below the target
 */
struct emul {
	spinlock_t lock;	/* see above */
	unsigned int shift;
	unsigned int pab_entries, pab_ways;
	struct emul_pab pab, huge;
	unsigned int filter_entries;
	u64 filter[EMUL_MAX_FILTER];
	bool paused, resuming, fresh;
	u64 budget_ns;
	unsigned long faults;

	unsigned long faults_told, faults_seen;
	u64 hook_seen;
	u64 fed_seen;
	u64 worker_seen;
	u64 debt_ns;
	bool worker_much, coarser;
	u64 cpu_ns;
	u64 burst_ns;
	u64 next_scan;
	u64 scan_took;
	u64 scan_cpu_ns;
	bool scan_now;
	unsigned long scan_at;
	unsigned int scan_shift;
	unsigned int cheap_epochs;
};

static unsigned long emul_param(enum emul_param which)
{
	return READ_ONCE(emul_params[which].val);
}

/* The page access buffer and the filter */

/* Number of entries of a PAB that reaches @entries pages, with one entry for 2^@shift pages. */
static unsigned int emul_pab_size(unsigned int entries, unsigned int shift)
{
	return max(entries >> shift, EMUL_MIN_WAYS);
}

static unsigned int emul_huge_shift(unsigned int shift)
{
	return max_t(unsigned int, shift, PMD_ORDER);
}

static unsigned int emul_pab_entries(const struct emul_pab *pab)
{
	return pab->nr_sets * pab->ways;
}

/* The list of @range. There are as many lists as entries. */
static struct hlist_head *emul_pab_near(const struct emul_pab *pab, u64 range)
{
	return pab->near + hash_64(range, ilog2(emul_pab_entries(pab)));
}

static void emul_pab_shape(struct emul_pab *pab, unsigned int entries, unsigned int ways)
{
	pab->ways = clamp(ways, EMUL_MIN_WAYS, entries);
	pab->nr_sets = entries / pab->ways;
	/* allocated when tracking begins */
	if (!pab->page)
		return;
	memset(pab->page, 0, entries * sizeof(*pab->page));
	memset(pab->hand, 0, pab->nr_sets * sizeof(*pab->hand));
	memset(pab->near, 0, entries * sizeof(*pab->near));
}

/* Empty both PABs, for one page in 2^@shift. */
static void emul_reshape(struct emul *e, unsigned int shift)
{
	unsigned int huge_shift = emul_huge_shift(shift);

	spin_lock(&e->lock);
	WRITE_ONCE(e->shift, shift);
	emul_pab_shape(&e->pab, emul_pab_size(e->pab_entries, shift), e->pab_ways);
	emul_pab_shape(&e->huge, emul_pab_size(e->pab_entries, huge_shift), EMUL_HUGE_WAYS);
	memset(e->filter, 0, sizeof(e->filter));
	spin_unlock(&e->lock);
}

/* Allocate for the finest sample: coarser ones need no more. */
static int emul_pab_alloc(struct emul_pab *pab, unsigned int entries)
{
	pab->page = mmpath_attach_alloc(entries, sizeof(*pab->page));
	pab->hand = mmpath_attach_alloc(entries, sizeof(*pab->hand));
	pab->node = mmpath_attach_alloc(entries, sizeof(*pab->node));
	pab->near = mmpath_attach_alloc(entries, sizeof(*pab->near));
	return pab->page && pab->hand && pab->node && pab->near ? 0 : -ENOMEM;
}

static void emul_pab_free(struct emul_pab *pab)
{
	kvfree(pab->page);
	kvfree(pab->hand);
	kvfree(pab->node);
	kvfree(pab->near);
	pab->page = NULL;
	pab->hand = NULL;
	pab->node = NULL;
	pab->near = NULL;
}

static int emul_pabs_alloc(struct emul *e)
{
	if (!emul_pab_alloc(&e->pab, emul_pab_size(e->pab_entries, 0)) &&
	    !emul_pab_alloc(&e->huge, emul_pab_size(e->pab_entries, emul_huge_shift(0))))
		return 0;
	emul_pab_free(&e->pab);
	emul_pab_free(&e->huge);
	return -ENOMEM;
}

/* The worker that calls this is not in the program's cgroup, which is charged. */
static int emul_pabs_charged(struct emul *e, struct mm_struct *mm)
{
	struct mem_cgroup *memcg = get_mem_cgroup_from_mm(mm);
	struct mem_cgroup *old = set_active_memcg(memcg);
	int ret = emul_pabs_alloc(e);

	set_active_memcg(old);
	mmpath_charged(memcg);
	mem_cgroup_put(memcg);
	return ret;
}

/* Pages that a PAB reaches, including those outside of the sample. */
static unsigned long emul_pab_reach(const struct emul_pab *pab, unsigned int shift)
{
	return (unsigned long)pab->ways * pab->nr_sets << shift;
}

static u64 *emul_pab_set(const struct emul_pab *pab, u64 block, unsigned int *set)
{
	*set = block & (pab->nr_sets - 1);
	return pab->page + *set * pab->ways;
}

static bool emul_pab_has(const struct emul_pab *pab, u64 page, u64 block)
{
	unsigned int i, set;
	u64 *way = emul_pab_set(pab, block, &set);

	for (i = 0; i < pab->ways; i++)
		if (way[i] == page + 1)
			return true;
	return false;
}

/* Insert @page into its set. Returns the page that falls out plus 1, or 0. */
static u64 emul_pab_insert(struct emul_pab *pab, u64 page, u64 block)
{
	unsigned int set, place;
	u64 *way = emul_pab_set(pab, block, &set);
	u64 victim = way[pab->hand[set]];

	place = way - pab->page + pab->hand[set];
	if (victim)
		hlist_del(&pab->node[place]);
	pab->page[place] = page + 1;
	hlist_add_head(&pab->node[place], emul_pab_near(pab, block >> EMUL_NEAR_SHIFT));
	pab->hand[set] = (pab->hand[set] + 1) & (pab->ways - 1);
	return victim;
}

static void emul_pab_forget_place(struct emul_pab *pab, unsigned int place, u64 first, u64 last)
{
	if (pab->page[place] <= first || pab->page[place] > last + 1)
		return;
	pab->page[place] = 0;
	hlist_del(&pab->node[place]);
}

/*
 * Remove pages @first to @last from the PAB. @block is the block of the first page, @end that
 * of the last.
 */
static void emul_pab_forget(struct emul_pab *pab, u64 first, u64 last, u64 block, u64 end)
{
	unsigned int place, entries = emul_pab_entries(pab);
	struct hlist_node *node, *next;
	u64 range = block >> EMUL_NEAR_SHIFT;

	end >>= EMUL_NEAR_SHIFT;
	if (end - range >= entries) {
		for (place = 0; place < entries; place++)
			emul_pab_forget_place(pab, place, first, last);
		return;
	}
	for (; range <= end; range++)
		for (node = emul_pab_near(pab, range)->first; node; node = next) {
			next = node->next;
			emul_pab_forget_place(pab, node - pab->node, first, last);
		}
}

/*
 * Is @page in the filter? It is fully associative, with LRU replacement (thesis 4.2.1). @page
 * becomes its most recent entry.
 */
static bool emul_filter(struct emul *e, u64 page)
{
	unsigned int i, n = e->filter_entries >> min(e->shift, 31U);

	if (!n)
		return false;
	for (i = 0; i < n - 1 && e->filter[i] != page + 1; i++)
		;
	n = i;
	i = e->filter[n] == page + 1;
	memmove(e->filter + 1, e->filter, n * sizeof(*e->filter));
	e->filter[0] = page + 1;
	return i;
}

/* Which pages are in the sample */

static u64 emul_block(const struct emul *e, u64 page, bool huge)
{
	return page >> (huge ? max_t(unsigned int, e->shift, PMD_ORDER) : e->shift);
}

/* A huge page is in the sample when one of its pages is. */
static bool emul_sampled(unsigned int shift, u64 page, bool huge)
{
	if (!huge)
		return mmpath_sampled(page, shift);
	if (shift <= PMD_ORDER)
		return true;
	return mmpath_sample_of_block(page >> shift, shift) >> PMD_ORDER ==
		page >> PMD_ORDER;
}

/* Must @page be inaccessible: in the sample, and not in the PAB? */
static bool emul_wanted(struct emul *e, u64 page, bool huge)
{
	bool wanted;

	spin_lock(&e->lock);
	wanted = !e->paused && emul_sampled(e->shift, page, huge) &&
		 !emul_pab_has(huge ? &e->huge : &e->pab, page, emul_block(e, page, huge));
	spin_unlock(&e->lock);
	return wanted;
}

static void emul_forget_in(struct emul *e, u64 first, u64 last, bool huge)
{
	u64 block = emul_block(e, first, huge);

	emul_pab_forget(huge ? &e->huge : &e->pab, first, last, block,
			emul_block(e, last, huge));
}

static void emul_forget(struct mmpath_drv_ctx *ctx, u64 first, u64 nr)
{
	struct emul *e = ctx->drv_data;
	u64 last = first + nr - 1;
	unsigned int i;

	spin_lock(&e->lock);
	/* emul_begin() empties or allocates both PABs */
	if (e->paused)
		goto out;
	emul_forget_in(e, first, last, false);
	/* a huge page that is cut is mapped by small pages from now on */
	emul_forget_in(e, first >> PMD_ORDER << PMD_ORDER, last, true);
	for (i = 0; i < e->filter_entries; i++)
		if (e->filter[i] - 1 - first <= last - first)
			e->filter[i] = 0;
out:
	spin_unlock(&e->lock);
}

/* Of each block, only the page in the sample is known. */
static void emul_find_hot(struct mmpath_drv_ctx *ctx, const u64 *page, unsigned int nr, bool *hot)
{
	struct emul *e = ctx->drv_data;
	unsigned int i;
	u64 sampled;

	spin_lock(&e->lock);
	for (i = 0; i < nr && !e->paused; i++) {
		sampled = mmpath_sample_of_block((page[i] & MMPATH_VPN_MASK) >> e->shift, e->shift);
		hot[i] = emul_pab_has(&e->pab, sampled, emul_block(e, sampled, false));
	}
	spin_unlock(&e->lock);
}

static bool emul_trackable(struct vm_area_struct *vma)
{
	return vma_is_accessible(vma) && !is_vm_hugetlb_page(vma) && !vma_is_dax(vma) &&
	       !(vma->vm_flags & (VM_SPECIAL | VM_HUGETLB));
}

/* Page table entries; all with the page table lock held */

static bool emul_pte_ours(struct vm_area_struct *vma, unsigned long addr, pte_t pte)
{
	struct folio *folio = vm_normal_folio(vma, addr, pte);

	return folio && !folio_is_zone_device(folio);
}

/* Returns whether the caller must flush before it drops the lock. */
static bool emul_protect_pte(struct vm_area_struct *vma, unsigned long addr, pte_t *ptep)
{
	pte_t old = ptep_get(ptep);

	if (!pte_present(old) || pte_protnone(old) || !emul_pte_ours(vma, addr, old))
		return false;
	old = ptep_modify_prot_start(vma, addr, ptep);
	ptep_modify_prot_commit(vma, addr, ptep, old, pte_modify(old, PAGE_NONE));
	return true;
}

/* The entry as it would be without tracking. */
static pte_t emul_accessible_pte(struct vm_area_struct *vma, unsigned long addr, pte_t old)
{
	pte_t pte = pte_modify(old, vma->vm_page_prot);

	if (pte_write(pte) || (vma_wants_manual_pte_write_upgrade(vma) &&
			       can_change_pte_writable(vma, addr, pte)))
		pte = pte_mkwrite(pte, vma);
	return pte;
}

static void emul_unprotect_pte(struct vm_area_struct *vma, unsigned long addr, pte_t *ptep)
{
	pte_t old = ptep_get(ptep);

	if (!pte_present(old) || !pte_protnone(old))
		return;
	old = ptep_modify_prot_start(vma, addr, ptep);
	ptep_modify_prot_commit(vma, addr, ptep, old, emul_accessible_pte(vma, addr, old));
}

#ifdef CONFIG_TRANSPARENT_HUGEPAGE
static bool emul_pmd_huge(pmd_t pmd)
{
	return pmd_trans_huge(pmd);
}

/* Like change_huge_pmd(), never clear the entry in between. Flushes the TLB. */
static bool emul_protect_pmd(struct vm_area_struct *vma, unsigned long addr, pmd_t *pmdp)
{
	pmd_t old = pmdp_get(pmdp);

	if (!pmd_trans_huge(old) || pmd_protnone(old) || is_huge_zero_pmd(old))
		return false;
	old = pmdp_invalidate_ad(vma, addr, pmdp);
	set_pmd_at(vma->vm_mm, addr, pmdp, pmd_modify(old, PAGE_NONE));
	flush_pmd_tlb_range(vma, addr, addr + PMD_SIZE);
	return true;
}

/* A copy of can_change_pmd_writable(), which is static in huge_memory.c. */
static bool emul_pmd_may_write(struct vm_area_struct *vma, unsigned long addr, pmd_t pmd)
{
	struct page *page;

	if (!(vma->vm_flags & VM_WRITE) || userfaultfd_huge_pmd_wp(vma, pmd) ||
	    (vma_soft_dirty_enabled(vma) && !pmd_soft_dirty(pmd)))
		return false;
	if (vma->vm_flags & VM_SHARED)
		return pmd_dirty(pmd);
	page = vm_normal_page_pmd(vma, addr, pmd);
	return page && PageAnon(page) && PageAnonExclusive(page);
}

static pmd_t emul_accessible_pmd(struct vm_area_struct *vma, unsigned long addr, pmd_t old)
{
	pmd_t pmd = pmd_modify(old, vma->vm_page_prot);

	if (pmd_write(pmd) || (vma_wants_manual_pte_write_upgrade(vma) &&
			       emul_pmd_may_write(vma, addr, pmd)))
		pmd = pmd_mkwrite(pmd, vma);
	return pmd;
}

static void emul_unprotect_pmd(struct vm_area_struct *vma, unsigned long addr, pmd_t *pmdp)
{
	pmd_t old = pmdp_get(pmdp);

	if (!pmd_trans_huge(old) || !pmd_protnone(old))
		return;
	old = pmdp_invalidate_ad(vma, addr, pmdp);
	set_pmd_at(vma->vm_mm, addr, pmdp, emul_accessible_pmd(vma, addr, old));
}
#else
static bool emul_pmd_huge(pmd_t pmd)
{
	return false;
}

static bool emul_protect_pmd(struct vm_area_struct *vma, unsigned long addr, pmd_t *pmdp)
{
	return false;
}

static void emul_unprotect_pmd(struct vm_area_struct *vma, unsigned long addr, pmd_t *pmdp) { }
#endif

/* Make the page at @addr inaccessible, unless it has entered the PAB again. */
static void emul_protect(struct emul *e, struct vm_area_struct *vma, unsigned long addr,
			 bool huge)
{
	spinlock_t *ptl;	/* of the page table */
	pmd_t *pmd;
	pte_t *pte;

	pmd = mmpath_find_pmd(vma->vm_mm, addr);
	if (!pmd || !emul_trackable(vma))
		return;
	if (huge) {
		ptl = pmd_trans_huge_lock(pmd, vma);
		if (!ptl)
			return;
		__acquire(ptl);	/* for sparse, which does not know conditional locks */
		if (emul_wanted(e, addr >> PAGE_SHIFT, true))
			emul_protect_pmd(vma, addr, pmd);
		spin_unlock(ptl);
		return;
	}
	pte = pte_offset_map_lock(vma->vm_mm, pmd, addr, &ptl);
	if (!pte)
		return;
	__acquire(RCU);	/* for sparse */
	if (emul_wanted(e, addr >> PAGE_SHIFT, false) && emul_protect_pte(vma, addr, pte))
		flush_tlb_page(vma, addr);
	pte_unmap_unlock(pte, ptl);
}

static void emul_protect_victim(struct emul *e, struct vm_area_struct *vma,
				unsigned long addr, bool huge, unsigned int flags)
{
	struct vm_area_struct *other;

	if (addr >= vma->vm_start && addr < vma->vm_end) {
		emul_protect(e, vma, addr, huge);
	} else if (flags & FAULT_FLAG_VMA_LOCK) {
		other = lock_vma_under_rcu(vma->vm_mm, addr);
		if (other) {
			emul_protect(e, other, addr, huge);
			vma_end_read(other);
		}
	} else {
		other = vma_lookup(vma->vm_mm, addr);
		if (other)
			emul_protect(e, other, addr, huge);
	}
}

/* Faults */

static bool emul_mapped_huge(struct vm_area_struct *vma, unsigned long addr)
{
	pmd_t *pmd;

	if (!IS_ENABLED(CONFIG_TRANSPARENT_HUGEPAGE) ||
	    vma->vm_end - vma->vm_start < PMD_SIZE)
		return false;
	pmd = mmpath_find_pmd(vma->vm_mm, addr);
	return pmd && emul_pmd_huge(pmdp_get_lockless(pmd));
}

/*
 * CPU time that tracking has taken from the program since the epoch began. These are the
 * faults. Scans run in a worker.
 */
static u64 emul_cost_ns(const struct mmpath_drv_ctx *ctx)
{
	const struct emul *e = ctx->drv_data;

	s64 hook_ns = atomic64_read(&ctx->hook_ns) - READ_ONCE(e->hook_seen);
	s64 faults = READ_ONCE(e->faults) - READ_ONCE(e->faults_seen);

	/* an epoch may begin between the reads, which makes a difference negative */
	return max(hook_ns, 0LL) + max(faults, 0LL) * mmpath_trap_ns();
}

/* Pause when the budget of the epoch is used up, without waiting for its end. */
static void emul_check_budget(struct mmpath_drv_ctx *ctx)
{
	struct emul *e = ctx->drv_data;

	if (!emul_param(EMUL_OVERHEAD_TARGET) ||
	    emul_cost_ns(ctx) <= READ_ONCE(e->budget_ns))
		return;
	WRITE_ONCE(e->paused, true);
	mmpath_kick(ctx);
}

/* The touched hook, which comes next, counts the fault for the context. */
static void emul_count_fault(void)
{
	this_cpu_inc(mmpath_stats[MMPATH_FAULTS]);
}

static void __emul_count_hint(struct emul *e, bool hint)
{
	lockdep_assert_held(&e->lock);
	WRITE_ONCE(e->faults, e->faults + hint);
}

/* Count a fault on a page that is not tracked any more. */
static void emul_count_hint(struct emul *e)
{
	spin_lock(&e->lock);
	__emul_count_hint(e, true);
	spin_unlock(&e->lock);
}

static void emul_tell_faults(struct mmpath_drv_ctx *ctx)
{
	struct emul *e = ctx->drv_data;
	unsigned long faults = READ_ONCE(e->faults);

	atomic_long_add(faults - e->faults_told, &ctx->stat[MMPATH_FAULTS]);
	e->faults_told = faults;
}

static bool emul_hint_fault(struct mmpath_drv_ctx *ctx, struct vm_fault *vmf)
	__releases(RCU)
{
	struct vm_area_struct *vma = vmf->vma;
	pte_t old, pte;

	spin_lock(vmf->ptl);
	if (!pte_same(ptep_get(vmf->pte), vmf->orig_pte))
		goto out;
	emul_count_fault();
	if (mmpath_trap_probes(vmf->flags))
		goto out;
	old = ptep_modify_prot_start(vma, vmf->address, vmf->pte);
	pte = pte_mkyoung(emul_accessible_pte(vma, vmf->address, old));
	if (pte_write(pte) && (vmf->flags & FAULT_FLAG_WRITE))
		pte = pte_mkdirty(pte);
	ptep_modify_prot_commit(vma, vmf->address, vmf->pte, old, pte);
	update_mmu_cache_range(vmf, vma, vmf->address, vmf->pte, 1);
out:
	pte_unmap_unlock(vmf->pte, vmf->ptl);
	return true;
}

#ifdef CONFIG_TRANSPARENT_HUGEPAGE
static bool emul_hint_fault_pmd(struct mmpath_drv_ctx *ctx, struct vm_fault *vmf)
{
	unsigned long haddr = vmf->address & PMD_MASK;
	struct vm_area_struct *vma = vmf->vma;
	pmd_t pmd;

	vmf->ptl = pmd_lock(vma->vm_mm, vmf->pmd);
	if (!pmd_same(pmdp_get(vmf->pmd), vmf->orig_pmd))
		goto out;
	emul_count_fault();
	/* else a program all in huge pages has no ways but those with its own work in between */
	if (mmpath_trap_probes(vmf->flags))
		goto out;
	pmd = pmd_mkyoung(emul_accessible_pmd(vma, haddr, pmdp_get(vmf->pmd)));
	if (pmd_write(pmd) && (vmf->flags & FAULT_FLAG_WRITE))
		pmd = pmd_mkdirty(pmd);
	set_pmd_at(vma->vm_mm, haddr, vmf->pmd, pmd);
	update_mmu_cache_pmd(vma, vmf->address, vmf->pmd);
out:
	spin_unlock(vmf->ptl);
	return true;
}
#endif

/* Walks: bring the page tables into line with the sample and the PAB */

/*
 * @e: tells what is tracked; NULL: make every page accessible
 * @shift: visit the pages of this sample. If it is finer than the one tracked, the others
 *	become accessible.
 * @at: address at which the walk goes on
 * @tables: page tables visited in this bite
 * @scanned: pages visited
 * @escaped: pages that were accessible and should not have been
 */
struct emul_walk {
	struct emul *e;
	unsigned int shift;
	unsigned long at;
	unsigned int tables;
	unsigned long scanned, escaped;
};

static void emul_walk_huge(struct emul_walk *w, struct vm_area_struct *vma,
			   unsigned long addr, pmd_t *pmd)
{
	u64 page = addr >> PAGE_SHIFT;

	w->scanned++;
	if (!w->e || w->e->paused || !emul_sampled(w->e->shift, page, true)) {
		emul_unprotect_pmd(vma, addr, pmd);
	} else if (emul_wanted(w->e, page, true)) {
		/* fails for a page that migrates */
		w->escaped += emul_protect_pmd(vma, addr, pmd);
	}
}

/* Returns whether the entry needs a TLB flush now. */
static bool emul_walk_pte(struct emul_walk *w, struct vm_area_struct *vma,
			  unsigned long addr, pte_t *pte)
{
	u64 page = addr >> PAGE_SHIFT;
	pte_t old = ptep_get(pte);

	if (!pte_present(old))
		return false;
	w->scanned++;
	if (!w->e || w->e->paused || !mmpath_sampled(page, w->e->shift)) {
		emul_unprotect_pte(vma, addr, pte);
		return false;
	}
	if (pte_protnone(old) || !emul_wanted(w->e, page, false) ||
	    !emul_protect_pte(vma, addr, pte))
		return false;
	w->escaped++;
	return true;
}

static unsigned long emul_walk_next(const struct emul_walk *w, unsigned long addr)
{
	u64 block = addr >> PAGE_SHIFT >> w->shift;

	/* the finest sample is every page, and its walks are the longest */
	if (!w->shift)
		return addr + PAGE_SIZE;
	return mmpath_sample_of_block(block + 1, w->shift) << PAGE_SHIFT;
}

static unsigned long emul_walk_first(const struct emul_walk *w, unsigned long addr)
{
	u64 block = addr >> PAGE_SHIFT >> w->shift;
	unsigned long first = mmpath_sample_of_block(block, w->shift) << PAGE_SHIFT;

	return first >= addr ? first : emul_walk_next(w, addr);
}

/* Returns whether the bite ends here. */
static int emul_walk_pmd(pmd_t *pmd, unsigned long start, unsigned long end,
			 struct mm_walk *walk)
{
	unsigned long addr, from = 0, to = 0;
	struct vm_area_struct *vma = walk->vma;
	struct emul_walk *w = walk->private;
	pte_t *pte;
	spinlock_t *ptl;	/* of the page table */

	w->at = end;
	/* a coarse sample leaves most page tables out */
	if (!emul_sampled(w->shift, start >> PAGE_SHIFT, true))
		goto out;
	ptl = pmd_trans_huge_lock(pmd, vma);
	if (ptl) {
		__acquire(ptl);	/* for sparse */
		emul_walk_huge(w, vma, start & PMD_MASK, pmd);
		spin_unlock(ptl);
		goto out;
	}
	pte = pte_offset_map_lock(walk->mm, pmd, start, &ptl);
	if (!pte)
		goto out;
	__acquire(RCU);	/* for sparse */
	for (addr = emul_walk_first(w, start); addr < end; addr = emul_walk_next(w, addr)) {
		if (!emul_walk_pte(w, vma, addr, pte + ((addr - start) >> PAGE_SHIFT)))
			continue;
		from = to ? from : addr;
		to = addr + PAGE_SIZE;
	}
	if (to)
		flush_tlb_range(vma, from, to);
	pte_unmap_unlock(pte, ptl);
	cond_resched();
out:
	return ++w->tables == EMUL_BITE;
}

/* By default a fault in a file maps what the page cache has in this range around it. */
#define EMUL_FAULT_AROUND	SZ_64K

/*
 * A fault maps the whole of a large folio, and in a file the pages around the one touched. These
 * others are not in the PAB: make them inaccessible now, not only at the next scan.
 */
static void emul_protect_rest(struct emul *e, struct vm_area_struct *vma,
			      unsigned long address)
{
	struct emul_walk w = { .e = e, .shift = READ_ONCE(e->shift) };
	struct mm_walk walk = { .mm = vma->vm_mm, .vma = vma, .private = &w };
	unsigned long start, end, before, around = PAGE_SIZE;
	struct folio *folio;
	struct page *page;
	spinlock_t *ptl;	/* of the page table */
	pmd_t *pmd;
	pte_t *pte;

	pmd = mmpath_find_pmd(vma->vm_mm, address);
	pte = pmd ? pte_offset_map_lock(vma->vm_mm, pmd, address, &ptl) : NULL;
	if (!pte)
		return;
	__acquire(RCU);	/* for sparse */
	address &= PAGE_MASK;
	page = pte_present(ptep_get(pte)) ? vm_normal_page(vma, address, ptep_get(pte)) : NULL;
	if (vma->vm_ops && vma->vm_ops->map_pages)
		around = EMUL_FAULT_AROUND;
	start = max(ALIGN_DOWN(address, around), vma->vm_start);
	end = ALIGN(address + 1, around);
	if (page) {
		/* the folio need not be aligned in the address space: files, mremap() */
		folio = page_folio(page);
		before = folio_page_idx(folio, page) << PAGE_SHIFT;
		end = max(end, address - before + folio_size(folio));
		start = min(start, address - min(before, address - vma->vm_start));
	}
	pte_unmap_unlock(pte, ptl);
	if (end - start == PAGE_SIZE)
		return;
	start = max(start, address & PMD_MASK);
	end = min3(end, vma->vm_end, (address & PMD_MASK) + PMD_SIZE);
	emul_walk_pmd(pmd, start, end, &walk);
}

/* Keep the greatest reach so far. The curve knows only distances beyond it. */
static void emul_raise_reach(struct mmpath_drv_ctx *ctx, bool huge)
{
	const struct emul *e = ctx->drv_data;
	unsigned long reach = huge ? emul_pab_reach(&e->huge, emul_huge_shift(e->shift)) :
				     emul_pab_reach(&e->pab, e->shift);

	if (reach > READ_ONCE(ctx->pab_reach))
		WRITE_ONCE(ctx->pab_reach, reach);
}

static void emul_enter(struct mmpath_drv_ctx *ctx, struct vm_area_struct *vma,
		       unsigned long address, unsigned int flags, bool hint, bool huge)
{
	unsigned int order = huge ? PMD_ORDER : 0;
	u64 page = address >> PAGE_SHIFT >> order << order, block, victim = 0;
	struct emul *e = ctx->drv_data;
	struct emul_pab *pab = huge ? &e->huge : &e->pab;

	if (!hint && !emul_sampled(READ_ONCE(e->shift), page, huge))
		return;
	spin_lock(&e->lock);
	__emul_count_hint(e, hint);
	block = emul_block(e, page, huge);
	if (emul_sampled(e->shift, page, huge) && !emul_pab_has(pab, page, block)) {
		victim = emul_pab_insert(pab, page, block);
		emul_raise_reach(ctx, huge);
		if (huge || !emul_filter(e, page))
			mmpath_log(ctx, mmpath_record(address, order, flags & FAULT_FLAG_WRITE));
	}
	spin_unlock(&e->lock);
	if (victim)
		emul_protect_victim(e, vma, (victim - 1) << PAGE_SHIFT, huge, flags);
}

static void emul_touched(struct mmpath_drv_ctx *ctx, struct vm_area_struct *vma,
			 unsigned long address, unsigned int flags, bool hint)
{
	struct emul *e = ctx->drv_data;
	bool huge;

	if (READ_ONCE(e->paused) || !emul_trackable(vma)) {
		if (hint)
			emul_count_hint(e);
		return;
	}
	huge = emul_mapped_huge(vma, address);
	emul_enter(ctx, vma, address, flags, hint, huge);
	if (!hint && !huge)
		emul_protect_rest(e, vma, address);
	emul_check_budget(ctx);
}

static int emul_walk_test(unsigned long start, unsigned long end, struct mm_walk *walk)
{
	return !emul_trackable(walk->vma);
}

static const struct mm_walk_ops emul_walk_ops = {
	.pmd_entry = emul_walk_pmd,
	.test_walk = emul_walk_test,
	.walk_lock = PGWALK_RDLOCK,
};

static void emul_bite(struct mm_struct *mm, struct emul_walk *w)
{
	w->tables = 0;
	if (!walk_page_range(mm, w->at, mm->task_size, &emul_walk_ops, w))
		w->at = mm->task_size;
}

/*
 * Walk on from @w->at. The walk ends before the end of the mm if mmap_lock could not be taken,
 * or if the mm has no user any more.
 */
static void emul_walk(struct mm_struct *mm, struct emul_walk *w)
{
	while (w->at < mm->task_size && atomic_read(&mm->mm_users) && mmpath_mmap_trylock(mm)) {
		emul_bite(mm, w);
		mmap_read_unlock(mm);
		cond_resched();
	}
}

/* What is tracked has changed: scan all pages soon. */
static void emul_scan_anew(struct emul *e)
{
	e->scan_now = true;
	e->scan_at = 0;
}

static void emul_scan(struct mmpath_drv_ctx *ctx, struct mm_struct *mm)
{
	struct emul *e = ctx->drv_data;
	struct emul_walk w = { .e = e, .at = e->scan_at };
	u64 ran = task_sched_runtime(current);

	/* an idle program has touched nothing, not even pages that the kernel made accessible */
	if (!e->scan_now && (ktime_get_ns() < e->next_scan ||
			     (!e->scan_at && mmpath_is_idle(mm, e->scan_cpu_ns))))
		return;
	if (!e->scan_at)
		e->scan_cpu_ns = mmpath_cpu_ns(mm);
	/* an unfinished scan may have left pages of a finer sample inaccessible */
	e->scan_shift = min(e->shift, e->scan_shift);
	w.shift = e->scan_shift;
	emul_walk(mm, &w);
	e->scan_at = w.at;
	mmpath_count(ctx, MMPATH_SCANNED, w.scanned);
	if (!e->scan_now)
		mmpath_count(ctx, MMPATH_ESCAPED, w.escaped);
	e->scan_took += task_sched_runtime(current) - ran;
	if (e->scan_at < mm->task_size)
		return;
	e->scan_at = 0;
	e->scan_now = false;
	e->scan_shift = e->shift;
	e->next_scan = ktime_get_ns() + e->scan_took * EMUL_SCAN_SHARE;
	e->scan_took = 0;
}

/* Where mmap_lock cannot be had, faults give access back page by page, as for NUMA hints. */
static void emul_clean(struct mm_struct *mm)
{
	struct emul_walk w = { };

	emul_walk(mm, &w);
}

/* walk_page_range_vma() asserts mmap_lock, and only the lock of @vma may be held. */
static void emul_mprotect(struct mmpath_drv_ctx *ctx, struct vm_area_struct *vma,
			  unsigned long start, unsigned long end)
{
	struct emul *e = ctx->drv_data;
	struct emul_walk w = { .e = e, .shift = READ_ONCE(e->shift) };
	struct mm_walk walk = { .mm = vma->vm_mm, .vma = vma, .private = &w };
	unsigned long next;
	pmd_t *pmd;

	if (!emul_trackable(vma))
		return;
	for (; start < end; start = next) {
		pmd = mmpath_find_pmd(vma->vm_mm, start);
		next = pmd ? pmd_addr_end(start, end) : pud_addr_end(start, end);
		if (pmd)
			emul_walk_pmd(pmd, start, next, &walk);
	}
}

/* The cost, and keeping it below the target */

static void emul_set_shift(struct mmpath_drv_ctx *ctx, unsigned int shift)
{
	struct emul *e = ctx->drv_data;

	/* what a finer sample takes says nothing of this one */
	e->coarser = shift > e->shift;
	if (e->coarser)
		e->debt_ns = 0;
	mmpath_set_shift(ctx, shift);
	emul_reshape(e, shift);
	e->cheap_epochs = 0;
	if (e->burst_ns && !e->scan_now)
		e->scan_shift = shift;	/* the burst is over, and every page accessible */
	else
		emul_scan_anew(e);
}

static unsigned int emul_doublings(u64 have, u64 want)
{
	return have >= want ? 0 : order_base_2(div64_u64(want - 1, max(have, 1ULL)) + 1);
}

/*
 * The program's own time since the epoch began: its CPU time less the cost of faults. That cost
 * is an estimate. Where it is nearly all of the time, own time is taken to be 1/32.
 */
static u64 emul_own_ns(const struct mmpath_drv_ctx *ctx, struct mm_struct *mm)
{
	const struct emul *e = ctx->drv_data;
	u64 ns = mmpath_cpu_ns(mm), cost_ns = emul_cost_ns(ctx);

	ns = ns > e->cpu_ns ? ns - e->cpu_ns : 1;
	return max3(ns > cost_ns ? ns - cost_ns : 0, ns / 32, 1ULL);
}

/* Raise shift by @more, or as far as that leaves enough of the sample. */
static void emul_coarsen(struct mmpath_drv_ctx *ctx, struct mm_struct *mm, unsigned int more)
{
	const struct emul *e = ctx->drv_data;
	u64 pages = get_mm_rss(mm) >> e->shift;
	unsigned int most = pages > EMUL_MIN_SAMPLE ? ilog2(pages / EMUL_MIN_SAMPLE) : 0;

	more = min3(more, most, MMPATH_MAX_SHIFT - e->shift);
	if (more)
		emul_set_shift(ctx, e->shift + more);
}

/*
 * By how much to raise shift so that in a burst each page of the sample is touched
 * EMUL_ROUNDS times, and own time is 1/EMUL_MIN_SHARE of the cost.
 */
static unsigned int emul_coarser(const struct mmpath_drv_ctx *ctx, struct mm_struct *mm)
{
	const struct emul *e = ctx->drv_data;
	u64 pages = get_mm_rss(mm) >> e->shift;

	return max(emul_doublings(READ_ONCE(ctx->fed) - e->fed_seen, pages * EMUL_ROUNDS),
		   emul_doublings(e->burst_ns * EMUL_MIN_SHARE, emul_cost_ns(ctx)));
}

/* A fault has used up the budget and paused: end the burst, and let the next be coarser. */
static void emul_exhausted(struct mmpath_drv_ctx *ctx, struct mm_struct *mm)
{
	struct emul *e = ctx->drv_data;

	if (!e->paused || e->resuming || e->burst_ns || e->fresh)
		return;
	e->burst_ns = emul_own_ns(ctx, mm);
	mmpath_end_burst(ctx);
	emul_scan_anew(e);
	emul_coarsen(ctx, mm, emul_coarser(ctx, mm));
}

/*
 * What tracking may cost in the epoch that begins: the target's part of the own time in the
 * last one. A program that waited then may use more, up to the target's part of a whole epoch, if
 * its cost so far is below the target by as much.
 */
static u64 emul_budget_ns(const struct mmpath_drv_ctx *ctx, u64 own_ns)
{
	u64 epoch_ns = READ_ONCE(mmpath_config.epoch_ms) * (u64)NSEC_PER_MSEC;
	unsigned int target = emul_param(EMUL_OVERHEAD_TARGET);
	u64 due_ns = mul_u64_u32_div(ctx->own_ns, target, 100);
	u64 saved_ns = due_ns > ctx->cost_ns ? due_ns - ctx->cost_ns : 0;
	u64 ns = max(div_u64(own_ns * target, 100),
		     min(div_u64(epoch_ns * target, 100), saved_ns));

	return max(div_u64(ns * EMUL_BURST_PERCENT, 100), div_u64(epoch_ns, EMUL_MIN_BUDGET));
}

/*
 * Account what the worker has taken, and what it may take. Returns by how much to raise shift so
 * that it may take what it takes.
 */
static unsigned int emul_repay(struct mmpath_drv_ctx *ctx, u64 own_ns)
{
	u64 epoch_ns = READ_ONCE(mmpath_config.epoch_ms) * (u64)NSEC_PER_MSEC;
	u64 may_ns = max(div_u64(own_ns * emul_param(EMUL_OVERHEAD_TARGET), 100),
			 div_u64(epoch_ns, EMUL_SCAN_SHARE));
	u64 worker_ns = atomic64_read(&ctx->worker_ns);
	struct emul *e = ctx->drv_data;
	u64 took_ns = e->coarser ? 0 : worker_ns - e->worker_seen;

	e->coarser = false;
	e->worker_seen = worker_ns;
	e->worker_much = took_ns * 3 > may_ns;
	e->debt_ns = min(e->debt_ns + took_ns, may_ns * EMUL_MAX_DEBT);
	e->debt_ns -= min(e->debt_ns, may_ns);
	return emul_doublings(may_ns, took_ns);
}

static void emul_begin_epoch(struct mmpath_drv_ctx *ctx, struct mm_struct *mm, u64 own_ns)
{
	struct emul *e = ctx->drv_data;

	WRITE_ONCE(e->faults_seen, READ_ONCE(e->faults));
	WRITE_ONCE(e->hook_seen, atomic64_read(&ctx->hook_ns));
	WRITE_ONCE(e->budget_ns, emul_budget_ns(ctx, own_ns));
	e->fed_seen = READ_ONCE(ctx->fed);
	e->cpu_ns = mmpath_cpu_ns(mm);
	e->burst_ns = 0;
}

/* Resume here and not earlier, or the burst might be counted in the epoch before. */
static void emul_begin(struct mmpath_drv_ctx *ctx, struct mm_struct *mm)
{
	struct emul *e = ctx->drv_data;

	if (!e->resuming || e->debt_ns)
		return;
	/* without a scan the burst would see nothing: put it off for an epoch */
	if (!mmpath_mmap_trylock(mm))
		return;
	mmap_read_unlock(mm);
	if (!e->pab.page && emul_pabs_charged(e, mm))
		return;
	e->resuming = false;
	e->fresh = false;
	emul_reshape(e, e->shift);
	WRITE_ONCE(e->paused, false);
	WRITE_ONCE(ctx->resting, false);
	emul_scan_anew(e);
}

/* Track more pages after some epochs far below the target, the worker as well. */
static void emul_refine(struct mmpath_drv_ctx *ctx, u64 permille)
{
	struct emul *e = ctx->drv_data;

	if (permille * 3 >= emul_param(EMUL_OVERHEAD_TARGET) * 10 || e->worker_much)
		e->cheap_epochs = 0;
	else if (e->shift > emul_param(EMUL_SAMPLE_SHIFT) &&
		 ++e->cheap_epochs >= EMUL_CHEAP_EPOCHS)
		emul_set_shift(ctx, e->shift - 1);
}

/* Was anything tracked in this epoch? A burst may have been put off. */
static bool emul_looked(const struct emul *e)
{
	return !e->fresh && !e->resuming;
}

/*
 * Account the epoch at its end, or at the end of the context: its cost, and which part of it
 * the burst has seen. Returns the own time.
 */
static u64 emul_account(struct mmpath_drv_ctx *ctx, struct mm_struct *mm)
{
	struct emul *e = ctx->drv_data;
	u64 own_ns = emul_own_ns(ctx, mm);

	if (mmpath_cpu_ns(mm) <= e->cpu_ns)
		return own_ns;
	WRITE_ONCE(ctx->cost_ns, ctx->cost_ns + emul_cost_ns(ctx));
	WRITE_ONCE(ctx->own_ns, ctx->own_ns + own_ns);
	/* an epoch without a burst is counted nowhere */
	if (emul_looked(e))
		mmpath_saw(ctx, max(own_ns, e->burst_ns), e->burst_ns ?: own_ns);
	return own_ns;
}

static void emul_epoch(struct mmpath_drv_ctx *ctx, struct mm_struct *mm, bool early)
{
	struct emul *e = ctx->drv_data;
	unsigned int more;
	u64 own_ns;

	emul_tell_faults(ctx);
	/* the owner has gone: detach() accounts the rest */
	if (!mmpath_cpu_ns(mm))
		return;
	emul_exhausted(ctx, mm);	/* also at the end: the kick may not have been handled */
	if (early)
		return;
	own_ns = emul_account(ctx, mm);
	more = emul_repay(ctx, own_ns);
	e->resuming = READ_ONCE(e->paused);
	if (emul_param(EMUL_OVERHEAD_TARGET)) {
		emul_coarsen(ctx, mm, more);
		if (!e->resuming)
			emul_refine(ctx, div64_u64(emul_cost_ns(ctx) * 1000, own_ns));
	} else {
		/* with no bound nothing is owed, should there be one later */
		e->debt_ns = 0;
	}
	emul_begin_epoch(ctx, mm, own_ns);
}

/* The life of a context */

static void emul_free(struct emul *e)
{
	emul_pab_free(&e->pab);
	emul_pab_free(&e->huge);
	kvfree(e);
}

/*
 * With a target nothing is tracked until an epoch has told how much the program runs, because
 * its budget is a part of that. So a program that ends before costs nothing. Many programs
 * that others start are that short.
 */
static int emul_attach(struct mmpath_drv_ctx *ctx)
{
	struct emul *e = mmpath_attach_alloc(1, sizeof(*e));

	if (!e)
		return -ENOMEM;
	spin_lock_init(&e->lock);
	e->pab_entries = emul_param(EMUL_PAB_ENTRIES);
	e->pab_ways = emul_param(EMUL_PAB_WAYS);
	e->filter_entries = emul_param(EMUL_FILTER_ENTRIES);
	e->fresh = emul_param(EMUL_OVERHEAD_TARGET);
	e->paused = e->fresh;
	if (!e->fresh && emul_pabs_alloc(e)) {
		emul_free(e);
		return -ENOMEM;
	}
	ctx->drv_data = e;
	/* what it has done for another driver was that one's */
	e->worker_seen = atomic64_read(&ctx->worker_ns);
	emul_begin_epoch(ctx, ctx->mm,
			 READ_ONCE(mmpath_config.epoch_ms) * (u64)NSEC_PER_MSEC);
	emul_scan_anew(e);
	emul_reshape(e, emul_param(EMUL_SAMPLE_SHIFT));
	ctx->pab_reach = e->pab_entries;
	mmpath_set_shift(ctx, e->shift);
	WRITE_ONCE(ctx->resting, e->fresh);
	return 0;
}

static void emul_detach(struct mmpath_drv_ctx *ctx, struct mm_struct *mm)
{
	emul_account(ctx, ctx->mm);
	emul_tell_faults(ctx);
	WRITE_ONCE(ctx->resting, false);
	if (mm)
		emul_clean(mm);
	emul_free(ctx->drv_data);
}

static bool emul_check(void)
{
	return emul_param(EMUL_PAB_WAYS) <= emul_param(EMUL_PAB_ENTRIES);
}

static unsigned int emul_log_entries(void)
{
	return emul_param(EMUL_LOG_ENTRIES);
}

static struct mmpath_driver emul_driver = {
	.name = "emul",
	.caps = MMPATH_CAP_COMPLETE | MMPATH_CAP_SAMPLED | MMPATH_CAP_BURST | MMPATH_CAP_SOFTWARE,
	.params = emul_params,
	.check = emul_check,
	.log_entries = emul_log_entries,
	.attach = emul_attach,
	.detach = emul_detach,
	.scan = emul_scan,
	.clean = emul_clean,
	.epoch = emul_epoch,
	.begin = emul_begin,
	.hint_fault = emul_hint_fault,
#ifdef CONFIG_TRANSPARENT_HUGEPAGE
	.hint_fault_pmd = emul_hint_fault_pmd,
#endif
	.touched = emul_touched,
	.find_hot = emul_find_hot,
	.mprotect = emul_mprotect,
	.forget = emul_forget,
};

static int __init emul_init(void)
{
	mmpath_register_driver(&emul_driver);
	return 0;
}
core_initcall(emul_init);

#ifdef CONFIG_MMPATH_KUNIT_TEST
#include "tests/emul-kunit.h"
#endif
