// SPDX-License-Identifier: GPL-2.0
/*
 * How a victim leaves memory. It is a page number at first. The page is found, unmapped,
 * written to swap, and put into the reserve. From there it is freed. replace.c chooses the
 * victims, and when this happens.
 *
 *	mmpath_push_out():	page -> unmapped, written to swap -> reserve
 *	mmpath_reserve_free():	reserve -> freed
 *
 * Each node has a reserve, because reclaim of the machine needs pages of a certain node. The
 * reserve holds swap entries, and no references to the pages. Meanwhile an entry may have
 * been freed, or used for another page. So a page that is found by an entry is checked like
 * any other page of the swap cache.
 *
 * Locks: see core.h; that of the reserve is innermost.
 */
#include <linux/hugetlb_inline.h>
#include <linux/khugepaged.h>
#include <linux/memcontrol.h>
#include <linux/page_idle.h>
#include <linux/pagemap.h>
#include <linux/sched/mm.h>
#include <linux/swap.h>
#include <linux/swapops.h>
#include <linux/vmpressure.h>
#include "../../internal.h"
#include "../../swap.h"
#include "balance.h"
#include "reserve.h"

/*
 * For each page wanted, look at this many entries of the reserve. Reclaim in a descendant cgroup
 * can use few of them.
 */
#define MMPATH_LOOKS	4

static void mmpath_reserve_put(struct mmpath_replacer *r, int nid, swp_entry_t entry)
{
	struct mmpath_reserve *res = &r->reserve[nid];

	spin_lock(&r->lock);
	if (res->head - res->tail < MMPATH_RESERVE)
		res->entry[res->head++ % MMPATH_RESERVE] = entry;
	spin_unlock(&r->lock);
}

static bool mmpath_reserve_get(struct mmpath_replacer *r, int nid, swp_entry_t *entry)
{
	struct mmpath_reserve *res = &r->reserve[nid];
	bool any;

	spin_lock(&r->lock);
	any = res->head != res->tail;
	if (any)
		*entry = res->entry[res->tail++ % MMPATH_RESERVE];
	spin_unlock(&r->lock);
	return any;
}

static unsigned int mmpath_reserved_on(const struct mmpath_replacer *r, int nid)
{
	const struct mmpath_reserve *res = &r->reserve[nid];
	/* the tail first: one that is read later may be beyond the head */
	unsigned int tail = smp_load_acquire(&res->tail);

	return min(READ_ONCE(res->head) - tail, MMPATH_RESERVE);
}

/**
 * mmpath_reserved() - count the pages that are ready, or being written
 * @r: the replacer
 * @nid: node, or NUMA_NO_NODE for all
 *
 * Return: the number, which may be old.
 */
unsigned int mmpath_reserved(const struct mmpath_replacer *r, int nid)
{
	unsigned int all = 0;

	if (nid != NUMA_NO_NODE)
		return mmpath_reserved_on(r, nid);
	for_each_node_state(nid, N_MEMORY)
		all += mmpath_reserved_on(r, nid);
	return all;
}

/* Return the folio in the swap cache at @entry with a reference, or NULL. */
static struct folio *mmpath_swap_cached(swp_entry_t entry)
{
	struct swap_info_struct *si = get_swap_device(entry);
	struct folio *folio;

	if (!si)
		return NULL;
	folio = filemap_get_folio(swap_address_space(entry), swap_cache_index(entry));
	put_swap_device(si);
	return IS_ERR(folio) ? NULL : folio;
}

static bool mmpath_is_below(struct folio *folio, struct mem_cgroup *memcg)
{
	bool below;

	rcu_read_lock();
	below = folio_memcg(folio) && mem_cgroup_is_descendant(folio_memcg(folio), memcg);
	rcu_read_unlock();
	return below;
}

/* May reclaim in @target take @folio? */
static bool mmpath_may_take(struct folio *folio, struct mem_cgroup *target)
{
	struct mem_cgroup *memcg;
	bool may;

	rcu_read_lock();
	memcg = folio_memcg(folio);
	may = memcg && mem_cgroup_is_descendant(memcg, target) && !mmpath_protected(memcg, target);
	rcu_read_unlock();
	return may;
}

/* May an anonymous folio be written to swap? Its cgroup may have less of that than the policy's. */
static bool mmpath_may_swap(struct folio *folio)
{
	bool may;

	/* it has a place there, or is dropped without */
	if (folio_test_swapcache(folio) || !folio_test_swapbacked(folio))
		return true;
	rcu_read_lock();
	may = mem_cgroup_get_nr_swap_pages(folio_memcg(folio)) > 0;
	rcu_read_unlock();
	return may;
}

/* Is @folio where @w wants pages? */
static bool mmpath_is_there(struct folio *folio, const struct mmpath_want *w)
{
	return w->memcg || (folio_pgdat(folio) == w->zone->zone_pgdat &&
			    folio_zonenum(folio) <= zone_idx(w->zone));
}

static bool mmpath_can_free(struct folio *folio, const struct mmpath_want *w)
{
	return mmpath_is_there(folio, w) && !folio_test_writeback(folio) &&
	       mmpath_may_take(folio, w->memcg ?: root_mem_cgroup);
}

/*
 * Move up to @nr pages from the reserve of @nid to @folios. Drop entries of pages that have been
 * touched since: these are in use again, and after a write the entry may be of another page. Put
 * back entries of pages that are under writeback, or that this reclaim cannot use. Return the
 * number of pages that are still to be found.
 */
static unsigned long mmpath_take_from(struct mmpath_replacer *r, int nid,
				      const struct mmpath_want *w, unsigned long nr,
				      struct list_head *folios)
{
	unsigned long looked = min_t(unsigned long, mmpath_reserved(r, nid), MMPATH_LOOKS * nr);
	struct folio *folio;
	swp_entry_t entry;

	for (; nr && looked-- && mmpath_reserve_get(r, nid, &entry); cond_resched()) {
		folio = mmpath_swap_cached(entry);
		if (!folio)
			continue;
		if (folio_mapped(folio) || folio_test_dirty(folio) ||
		    !mmpath_is_below(folio, r->memcg)) {
			mmpath_replace_add(r, MMPATH_REUSED, 1);
		} else if (mmpath_can_free(folio, w) && folio_isolate_lru(folio)) {
			list_add(&folio->lru, folios);
			nr--;
		} else {
			mmpath_reserve_put(r, folio_nid(folio), entry);
		}
		folio_put(folio);
	}
	return nr;
}

static void mmpath_take(struct mmpath_replacer *r, const struct mmpath_want *w, unsigned long nr,
			struct list_head *folios)
{
	int nid;

	if (w->nid != NUMA_NO_NODE) {
		mmpath_take_from(r, w->nid, w, nr, folios);
		return;
	}
	for_each_node_state(nid, N_MEMORY)
		nr = mmpath_take_from(r, nid, w, nr, folios);
}

/* Like reclaimer_offset() in vmscan.c: the counters of kswapd come first. */
static int mmpath_reclaimer(void)
{
	if (current_is_kswapd())
		return 0;
	return (current_is_khugepaged() ? PGSTEAL_KHUGEPAGED : PGSTEAL_DIRECT) - PGSTEAL_KSWAPD;
}

static void mmpath_count_steal(struct mem_cgroup *memcg, bool global, unsigned long scanned,
			       unsigned long freed)
{
	int by = mmpath_reclaimer();

	if (global) {
		count_vm_events(PGSCAN_KSWAPD + by, scanned);
		count_vm_events(PGSTEAL_KSWAPD + by, freed);
	}
	count_memcg_events(memcg, PGSCAN_KSWAPD + by, scanned);
	count_memcg_events(memcg, PGSTEAL_KSWAPD + by, freed);
	count_vm_events(PGSCAN_ANON, scanned);
	count_vm_events(PGSTEAL_ANON, freed);
}

/**
 * mmpath_reserve_free() - free pages of the reserve
 * @r: replacer that has the reserve
 * @w: request of reclaim
 * @nr: number of pages to free
 *
 * Context: reclaim that may do I/O, because a page that is touched meanwhile is written
 * again. Waits for no lock except the reserve's.
 * Return: number of pages freed.
 */
unsigned long mmpath_reserve_free(struct mmpath_replacer *r, struct mmpath_want *w,
				  unsigned long nr)
{
	struct mem_cgroup *of = r->memcg;
	unsigned long taken, freed;
	LIST_HEAD(folios);

	if (w->memcg && mem_cgroup_is_descendant(w->memcg, of))
		of = w->memcg;
	lru_add_drain();
	mmpath_take(r, w, nr, &folios);
	taken = list_count_nodes(&folios);
	freed = reclaim_pages(&folios);
	mmpath_count_steal(of, !w->memcg, taken, freed);
	if (!w->proactive) {
		vmpressure(w->gfp, of, false, taken, freed);
		vmpressure(w->gfp, w->memcg, true, taken, freed);
	}
	w->scanned += taken;
	mmpath_replace_add(r, MMPATH_SUPPLIED, freed);
	return freed;
}

/*
 * A program, while its pages are isolated or checked
 * @ctx: its context, with a reference, or NULL
 * @mm: its mm with a user and mmap_lock, or NULL if @why tells why not
 * @why: why pages of the program cannot be isolated; NR_MMPATH_REPLACE_COUNTS: they can
 */
struct mmpath_visit {
	struct mmpath_ctx *ctx;
	struct mm_struct *mm;
	enum mmpath_replace_count why;
};

static void mmpath_visit_end(struct mmpath_visit *v)
{
	if (v->mm) {
		mmap_read_unlock(v->mm);
		mmput_async(v->mm);
	}
	if (v->ctx)
		mmpath_ctx_put(v->ctx);
	v->ctx = NULL;
	v->mm = NULL;
}

/*
 * Find and lock the mm of @page. Returns why that failed: the program has gone, or mmap_lock is
 * taken. Do not wait for mmap_lock: its holder may wait for anything, and reclaim waits for us.
 */
static enum mmpath_replace_count mmpath_visit(struct mmpath_visit *v, u64 page)
{
	u32 id = page >> MMPATH_VPN_BITS;

	if (v->ctx && v->ctx->id == id)
		return v->why;
	mmpath_visit_end(v);
	v->why = MMPATH_GONE;
	v->ctx = mmpath_ctx_by_id(id);
	if (!v->ctx || !mmget_not_zero(v->ctx->d.mm))
		return v->why;
	if (mmap_read_trylock(v->ctx->d.mm)) {
		v->mm = v->ctx->d.mm;
		v->why = NR_MMPATH_REPLACE_COUNTS;
	} else {
		mmput_async(v->ctx->d.mm);
		v->why = MMPATH_REFUSED_BUSY;
	}
	return v->why;
}

static unsigned long mmpath_addr(u64 page)
{
	return (page & MMPATH_VPN_MASK) << PAGE_SHIFT;
}

/*
 * If pages of @wanted are needed, have enough pages of @nid been written ahead? Those that a disk
 * like zram has taken at once are in no reserve.
 */
static bool mmpath_is_enough(const struct mmpath_replacer *r, int nid, int wanted)
{
	return wanted != NUMA_NO_NODE && nid != wanted &&
	       mmpath_reserved(r, nid) + READ_ONCE(r->reserve[nid].spare) >= READ_ONCE(r->target);
}

/* Isolate @folio. Returns why not, or NR_MMPATH_REPLACE_COUNTS if it was isolated. */
static enum mmpath_replace_count mmpath_isolate_folio(const struct mmpath_replacer *r,
						      struct folio *folio, int nid)
{
	if (!folio_test_anon(folio))
		return MMPATH_REFUSED_FILE;
	if (folio_test_large(folio))
		return MMPATH_REFUSED_HUGE;
	if (folio_test_ksm(folio) || folio_mapcount(folio) != 1 ||
	    !mmpath_is_below(folio, r->memcg))
		return MMPATH_REFUSED_SHARED;
	if (folio_test_mlocked(folio) || folio_test_unevictable(folio))
		return MMPATH_REFUSED_LOCKED;
	if (folio_maybe_dma_pinned(folio))
		return MMPATH_REFUSED_PINNED;
	if (!mmpath_may_take(folio, r->memcg))
		return MMPATH_REFUSED_LOW;
	if (!mmpath_may_swap(folio))
		return MMPATH_REFUSED_SWAP;
	if (mmpath_is_enough(r, folio_nid(folio), nid))
		return MMPATH_REFUSED_NODE;
	if (folio_test_writeback(folio) || !folio_isolate_lru(folio))
		return MMPATH_REFUSED_BUSY;
	return NR_MMPATH_REPLACE_COUNTS;
}

/*
 * Return the PMD that maps @addr, and its VMA, or NULL. Without a VMA never look at page tables:
 * munmap() may be freeing them, and holds mmap_lock for reading, too.
 */
static pmd_t *mmpath_pmd(struct mm_struct *mm, unsigned long addr, struct vm_area_struct **vma)
{
	mmap_assert_locked(mm);
	*vma = vma_lookup(mm, addr);
	return *vma && !is_vm_hugetlb_page(*vma) ? mmpath_find_pmd(mm, addr) : NULL;
}

/* Isolate the page that @pte maps, and add it to @folios. Returns as mmpath_isolate_folio(). */
static enum mmpath_replace_count mmpath_isolate_pte(struct mmpath_replacer *r,
						    struct vm_area_struct *vma,
						    unsigned long addr, pte_t pte, int nid,
						    struct list_head *folios)
{
	struct folio *folio = pte_present(pte) ? vm_normal_folio(vma, addr, pte) : NULL;
	enum mmpath_replace_count why = folio ? mmpath_isolate_folio(r, folio, nid) : MMPATH_GONE;

	if (why != NR_MMPATH_REPLACE_COUNTS)
		return why;
	folio_clear_referenced(folio);
	folio_test_clear_young(folio);
	/* a refault counts as pressure, as if reclaim had deactivated the page first */
	if (folio_test_active(folio))
		folio_set_workingset(folio);
	list_add(&folio->lru, folios);
	return why;
}

static enum mmpath_replace_count mmpath_isolate(struct mmpath_replacer *r, struct mm_struct *mm,
						unsigned long addr, int nid,
						struct list_head *folios)
{
	enum mmpath_replace_count why;
	struct vm_area_struct *vma;
	pmd_t *pmd = mmpath_pmd(mm, addr, &vma);
	spinlock_t *ptl;	/* of the page table */
	pte_t *ptep;

	if (!pmd)
		return MMPATH_GONE;
	if (pmd_trans_huge(pmdp_get_lockless(pmd)))
		return MMPATH_REFUSED_HUGE;
	ptep = pte_offset_map_lock(mm, pmd, addr, &ptl);
	if (!ptep)
		return MMPATH_GONE;
	__acquire(RCU);	/* for sparse */
	why = mmpath_isolate_pte(r, vma, addr, ptep_get(ptep), nid, folios);
	pte_unmap_unlock(ptep, ptl);
	return why;
}

static pte_t mmpath_pte(struct mm_struct *mm, unsigned long addr)
{
	struct vm_area_struct *vma;
	pmd_t *pmd = mmpath_pmd(mm, addr, &vma);
	pte_t *ptep, pte = __pte(0);
	spinlock_t *ptl;	/* of the page table */

	if (!pmd)
		return pte;
	ptep = pte_offset_map_lock(mm, pmd, addr, &ptl);
	if (!ptep)
		return pte;
	__acquire(RCU);	/* for sparse */
	pte = ptep_get(ptep);
	pte_unmap_unlock(ptep, ptl);
	return pte;
}

/* Put a victim that was written into the reserve. Returns false if the page is still mapped. */
static bool mmpath_check_victim(struct mmpath_replacer *r, struct mmpath_batch *b, pte_t pte,
				int nid)
{
	struct folio *folio;
	swp_entry_t entry;

	if (pte_present(pte)) {
		mmpath_replace_add(r, MMPATH_REFUSED_BUSY, 1);
		return false;
	}
	if (!is_swap_pte(pte))
		return true;
	entry = pte_to_swp_entry(pte);
	if (non_swap_entry(entry))
		return true;
	folio = mmpath_swap_cached(entry);
	if (folio) {
		mmpath_reserve_put(r, folio_nid(folio), entry);
		mmpath_replace_add(r, MMPATH_WRITTEN, 1);
		b->left += nid == NUMA_NO_NODE || nid == folio_nid(folio);
		folio_put(folio);
	} else {
		mmpath_replace_add(r, MMPATH_FREED, 1);
	}
	return true;
}

/*
 * Mark pages in the page access buffer as hot. They are in use, even if their last record is old.
 * Ask for all pages of a program at once, because the driver of hardware must ask each CPU.
 */
static void mmpath_mark_hot(struct mmpath_batch *b)
{
	struct mmpath_ctx *ctx;
	unsigned int i, end;
	u32 id;

	memset(b->hot, 0, sizeof(b->hot));
	for (i = 0; i < b->nr; i = end) {
		id = b->page[i] >> MMPATH_VPN_BITS;
		for (end = i + 1; end < b->nr && b->page[end] >> MMPATH_VPN_BITS == id; end++)
			;
		ctx = mmpath_ctx_by_id(id);
		if (!ctx)
			continue;
		mmpath_find_hot(ctx, &b->page[i], end - i, &b->hot[i]);
		mmpath_ctx_put(ctx);
	}
}

static void mmpath_isolate_batch(struct mmpath_replacer *r, struct mmpath_batch *b, int nid,
				 struct list_head *folios)
{
	enum mmpath_replace_count why;
	struct mmpath_visit v = { };
	unsigned int i;

	for (i = 0; i < b->nr; i++) {
		why = b->hot[i] ? MMPATH_REFUSED_HOT : mmpath_visit(&v, b->page[i]);
		if (why == NR_MMPATH_REPLACE_COUNTS)
			why = mmpath_isolate(r, v.mm, mmpath_addr(b->page[i]), nid, folios);
		b->tried[i] = why == NR_MMPATH_REPLACE_COUNTS;
		b->kept[i] = why == MMPATH_REFUSED_BUSY || why == MMPATH_REFUSED_HOT ||
			     why == MMPATH_REFUSED_NODE;
		if (!b->tried[i])
			mmpath_replace_add(r, why, 1);
	}
	mmpath_visit_end(&v);
}

static void mmpath_check_batch(struct mmpath_replacer *r, struct mmpath_batch *b, int nid)
{
	struct mmpath_visit v = { };
	unsigned int i;
	pte_t pte;

	for (i = 0; i < b->nr; i++) {
		if (!b->tried[i] || mmpath_visit(&v, b->page[i]) != NR_MMPATH_REPLACE_COUNTS)
			continue;
		pte = mmpath_pte(v.mm, mmpath_addr(b->page[i]));
		b->kept[i] = !mmpath_check_victim(r, b, pte, nid);
	}
	mmpath_visit_end(&v);
}

/* Reclaim the folios of @nid in @folios. Return the number of pages freed. */
static unsigned long mmpath_reclaim_node(struct list_head *folios, int nid)
{
	struct folio *folio, *next;
	LIST_HEAD(here);

	list_for_each_entry_safe(folio, next, folios, lru)
		if (folio_nid(folio) == nid)
			list_move(&folio->lru, &here);
	return reclaim_pages(&here);
}

/* Reclaim folios of nodes that are not wanted now. */
static unsigned long mmpath_reclaim_others(struct mmpath_replacer *r, struct list_head *folios)
{
	unsigned long freed, all = 0;
	int nid;

	for (; !list_empty(folios); all += freed) {
		nid = folio_nid(list_first_entry(folios, struct folio, lru));
		freed = mmpath_reclaim_node(folios, nid);
		WRITE_ONCE(r->reserve[nid].spare, READ_ONCE(r->reserve[nid].spare) + freed);
	}
	return all;
}

/**
 * mmpath_push_out() - reclaim victims, or put them into the reserve
 * @r: replacer that has chosen them
 * @b: the victims; sets .kept of those that could not be reclaimed now, but may be later. Adds to
 *	.left those that were reclaimed, or put into the reserve.
 * @nid: pages of this node are needed; NUMA_NO_NODE: of any. Victims of another node are put into
 *	its reserve, or kept if that has enough.
 *
 * Victims that must be written first go into the reserve. Context: may sleep; takes mmap_lock
 * of the programs with trylock.
 * Return: number of pages of @nid that were freed at once.
 */
unsigned long mmpath_push_out(struct mmpath_replacer *r, struct mmpath_batch *b, int nid)
{
	unsigned long tried, freed, others_freed;
	LIST_HEAD(folios);

	mmpath_mark_hot(b);
	mmpath_isolate_batch(r, b, nid, &folios);
	tried = list_count_nodes(&folios);
	freed = nid == NUMA_NO_NODE ? reclaim_pages(&folios) : mmpath_reclaim_node(&folios, nid);
	others_freed = mmpath_reclaim_others(r, &folios);
	mmpath_count_steal(r->memcg, false, tried, freed + others_freed);
	b->left += freed;
	mmpath_check_batch(r, b, nid);
	return freed;
}
