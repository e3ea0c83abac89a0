// SPDX-License-Identifier: GPL-2.0
/*
 * How a victim leaves memory: from the number of a page to the page, to the swap cache,
 * to the reserve, and to be free. replace.c tells which, and when.
 *
 *	mmpath_push_out():  page -> unmapped, written to swap -> reserve
 *	mmpath_supply():    reserve -> freed
 *
 * The reserve remembers swap entries, and takes no reference to the pages: an entry may
 * have become another page's, or nobody's, until it is looked at. So whatever is found
 * there is looked at like any other page of the swap cache.
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

/* Entries of the reserve that are looked at for each page: of a cgroup further below few fit. */
#define MMPATH_LOOKS	4

static void mmpath_reserve_put(struct mmpath_replacer *r, swp_entry_t entry)
{
	spin_lock(&r->lock);
	if (r->head - r->tail < MMPATH_RESERVE)
		r->reserve[r->head++ % MMPATH_RESERVE] = entry;
	spin_unlock(&r->lock);
}

static bool mmpath_reserve_get(struct mmpath_replacer *r, swp_entry_t *entry)
{
	bool any;

	spin_lock(&r->lock);
	any = r->head != r->tail;
	if (any)
		*entry = r->reserve[r->tail++ % MMPATH_RESERVE];
	spin_unlock(&r->lock);
	return any;
}

/* The page in the swap cache at @entry, with a reference; NULL if there is none. */
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

/* May reclaim in @target have it? */
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

/* What reclaim in @memcg may free now to find pages in @zone, or one below it */
static bool mmpath_can_free(struct folio *folio, struct mem_cgroup *memcg, struct zone *zone)
{
	return folio_pgdat(folio) == zone->zone_pgdat && folio_zonenum(folio) <= zone_idx(zone) &&
	       !folio_test_writeback(folio) && mmpath_may_take(folio, memcg);
}

/*
 * Take up to @nr pages of the reserve to @folios. Those that have been touched since
 * are in use again, and if it was for writing their entry may be somebody else's by now;
 * those that are being written, or not wanted here, stay.
 */
static void mmpath_take(struct mmpath_replacer *r, struct mem_cgroup *memcg, struct zone *zone,
			unsigned long nr, struct list_head *folios)
{
	unsigned long looked = min_t(unsigned long, mmpath_reserved(r), MMPATH_LOOKS * nr);
	struct folio *folio;
	swp_entry_t entry;

	for (; nr && looked-- && mmpath_reserve_get(r, &entry); cond_resched()) {
		folio = mmpath_swap_cached(entry);
		if (!folio)
			continue;
		if (folio_mapped(folio) || folio_test_dirty(folio) ||
		    !mmpath_is_below(folio, r->memcg)) {
			mmpath_replace_add(r, MMPATH_REUSED, 1);
		} else if (mmpath_can_free(folio, memcg, zone) && folio_isolate_lru(folio)) {
			list_add(&folio->lru, folios);
			nr--;
		} else {
			mmpath_reserve_put(r, entry);
		}
		folio_put(folio);
	}
}

/* As reclaimer_offset() of vmscan.c: the counters of kswapd come first. */
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
 * mmpath_supply() - free pages of the reserve
 * @r: whose
 * @w: the reclaim that wants them
 * @nr: how many
 *
 * Context: reclaim that may do I/O, for a page that is touched just now is written
 * again. Waits for no lock but the reserve's.
 * Return: pages freed.
 */
unsigned long mmpath_supply(struct mmpath_replacer *r, struct mmpath_want *w, unsigned long nr)
{
	struct mem_cgroup *of = r->memcg;
	unsigned long taken, freed;
	LIST_HEAD(folios);

	if (w->memcg && mem_cgroup_is_descendant(w->memcg, of))
		of = w->memcg;
	lru_add_drain();
	mmpath_take(r, w->memcg ?: root_mem_cgroup, w->zone, nr, &folios);
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

/* The member of the domain that victims are being taken from; @why they cannot be, as below */
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
 * Whose page is @page? Returns why it cannot be taken: its program has gone, or is changing its
 * mappings. Who holds mmap_lock may wait for anything, and others wait for us.
 */
static enum mmpath_replace_count mmpath_visit(struct mmpath_visit *v, u64 page)
{
	u32 id = page >> MMPATH_VPN_BITS;

	if (v->ctx && v->ctx->id == id)
		return v->why;
	mmpath_visit_end(v);
	v->why = MMPATH_GONE;
	v->ctx = mmpath_ctx_by_id(id);
	if (!v->ctx || !mmget_not_zero(v->ctx->mm))
		return v->why;
	if (mmap_read_trylock(v->ctx->mm)) {
		v->mm = v->ctx->mm;
		v->why = NR_MMPATH_REPLACE_COUNTS;
	} else {
		mmput_async(v->ctx->mm);
		v->why = MMPATH_REFUSED_BUSY;
	}
	return v->why;
}

static unsigned long mmpath_addr(u64 page)
{
	return (page & MMPATH_VPN_MASK) << PAGE_SHIFT;
}

/* Why a page cannot be a victim; NR_MMPATH_REPLACE_COUNTS if it can. */
static enum mmpath_replace_count mmpath_refuse(const struct mmpath_replacer *r,
					       struct folio *folio)
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
	if (folio_test_writeback(folio) || !folio_isolate_lru(folio))
		return MMPATH_REFUSED_BUSY;
	return NR_MMPATH_REPLACE_COUNTS;
}

/*
 * Where the page at @addr is mapped, in which VMA; NULL if nowhere. Where there is no
 * VMA, munmap() may be freeing the tables, with mmap_lock like us.
 */
static pmd_t *mmpath_pmd(struct mm_struct *mm, unsigned long addr, struct vm_area_struct **vma)
{
	mmap_assert_locked(mm);
	*vma = vma_lookup(mm, addr);
	return *vma && !is_vm_hugetlb_page(*vma) ? mmpath_find_pmd(mm, addr) : NULL;
}

/* Isolate the page that @pte maps, on @folios. Returns why not, or as above. */
static enum mmpath_replace_count mmpath_isolate_pte(struct mmpath_replacer *r,
						    struct vm_area_struct *vma,
						    unsigned long addr, pte_t pte,
						    struct list_head *folios)
{
	struct folio *folio = pte_present(pte) ? vm_normal_folio(vma, addr, pte) : NULL;
	enum mmpath_replace_count why = folio ? mmpath_refuse(r, folio) : MMPATH_GONE;

	if (why != NR_MMPATH_REPLACE_COUNTS)
		return why;
	folio_clear_referenced(folio);
	folio_test_clear_young(folio);
	/* when it comes back that is pressure, as if reclaim had found it inactive first */
	if (folio_test_active(folio))
		folio_set_workingset(folio);
	list_add(&folio->lru, folios);
	return why;
}

static enum mmpath_replace_count mmpath_isolate(struct mmpath_replacer *r, struct mm_struct *mm,
						unsigned long addr, struct list_head *folios)
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
	why = mmpath_isolate_pte(r, vma, addr, ptep_get(ptep), folios);
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

/* What has become of a victim? False if it is still there. */
static bool mmpath_settle(struct mmpath_replacer *r, pte_t pte)
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
		mmpath_reserve_put(r, entry);
		mmpath_replace_add(r, MMPATH_WRITTEN, 1);
		folio_put(folio);
	} else {
		mmpath_replace_add(r, MMPATH_FREED, 1);
	}
	return true;
}

/*
 * What is in the page access buffer is in use, however long ago it was logged. Asked for
 * all pages of a program in one go, for hardware has to ask each CPU.
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

static void mmpath_isolate_batch(struct mmpath_replacer *r, struct mmpath_batch *b,
				 struct list_head *folios)
{
	enum mmpath_replace_count why;
	struct mmpath_visit v = { };
	unsigned int i;

	for (i = 0; i < b->nr; i++) {
		why = b->hot[i] ? MMPATH_REFUSED_HOT : mmpath_visit(&v, b->page[i]);
		if (why == NR_MMPATH_REPLACE_COUNTS)
			why = mmpath_isolate(r, v.mm, mmpath_addr(b->page[i]), folios);
		b->tried[i] = why == NR_MMPATH_REPLACE_COUNTS;
		b->kept[i] = why == MMPATH_REFUSED_BUSY || why == MMPATH_REFUSED_HOT;
		if (!b->tried[i])
			mmpath_replace_add(r, why, 1);
	}
	mmpath_visit_end(&v);
}

static void mmpath_settle_batch(struct mmpath_replacer *r, struct mmpath_batch *b)
{
	struct mmpath_visit v = { };
	unsigned int i;

	for (i = 0; i < b->nr; i++)
		if (b->tried[i] && mmpath_visit(&v, b->page[i]) == NR_MMPATH_REPLACE_COUNTS)
			b->kept[i] = !mmpath_settle(r, mmpath_pte(v.mm, mmpath_addr(b->page[i])));
	mmpath_visit_end(&v);
}

/**
 * mmpath_push_out() - have victims leave memory
 * @r: whose
 * @b: the victims; returns in .kept which could not leave now, and may later
 *
 * Those that have to be written go to the reserve. Context: may sleep; takes mmap_lock
 * of the programs.
 * Return: pages that were freed at once.
 */
unsigned long mmpath_push_out(struct mmpath_replacer *r, struct mmpath_batch *b)
{
	unsigned long tried, freed;
	LIST_HEAD(folios);

	mmpath_mark_hot(b);
	mmpath_isolate_batch(r, b, &folios);
	tried = list_count_nodes(&folios);
	freed = reclaim_pages(&folios);
	mmpath_count_steal(r->memcg, false, tried, freed);
	mmpath_settle_batch(r, b);
	return freed;
}
