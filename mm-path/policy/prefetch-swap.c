// SPDX-License-Identifier: GPL-2.0
/*
 * Prefetch from swap, for anonymous memory and for shmem, into the swap cache.
 *
 * It is a third kind of swap readahead, beside that of neighbouring slots and that of neighbouring
 * pages. A swap device that needs no wait (zram) leaves nothing to hide: there the kernel's own
 * readahead is used. A page that no device has, because it is in zswap or full of zeros, is not
 * read ahead.
 *
 * Which pages leave, and which come back, tells how many misses are due to prefetching
 * (pollution.c). Pages leave the swap cache under the lock of its tree, which interrupts take, so
 * the lock of a prefetcher is taken with interrupts off.
 */
#include <linux/blkdev.h>
#include <linux/memcontrol.h>
#include <linux/mempolicy.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/shmem_fs.h>
#include <linux/swap.h>
#include <linux/swapops.h>
#include <linux/xarray.h>
#include <linux/zswap.h>
#include "../../internal.h"
#include "../../swap.h"
#include "ahead.h"

static struct xarray *mmpath_zswap_trees[MAX_SWAPFILES];	/* zswap's own; NULL: none */

/* Pollution */

/* A page is named by its slot. */
static u64 mmpath_slot(swp_entry_t entry)
{
	return swp_offset(entry) ^ (u64)swp_type(entry) << (MMPATH_VPN_BITS - MAX_SWAPFILES_SHIFT);
}

/* Does prefetching take memory? As of now, without the lock. */
static bool mmpath_pollution_may(const struct mmpath_prefetcher *p)
{
	return READ_ONCE(p->pollution.unused) || READ_ONCE(p->pollution.held);
}

/**
 * __mmpath_swap_left() - note that a page leaves the swap cache
 * @folio: the page
 * @entry: its entry
 * @evicted: it leaves memory, too, and may be missed
 *
 * Context: any. The page is locked, and so is the tree of the swap cache.
 */
void __mmpath_swap_left(struct folio *folio, swp_entry_t entry, bool evicted)
{
	bool unused = folio_test_readahead(folio);
	struct mmpath_prefetcher *p;
	unsigned long flags;
	long i;

	if (!evicted && !unused)
		return;
	rcu_read_lock();
	p = mmpath_prefetcher_near(folio_memcg(folio));
	if (p && mmpath_pollution_may(p)) {
		spin_lock_irqsave(&p->lock, flags);
		if (unused)
			mmpath_pollution_settled(&p->pollution);
		for (i = 0; !unused && i < folio_nr_pages(folio); i++)
			mmpath_pollution_left(&p->pollution, mmpath_slot(entry) + i);
		spin_unlock_irqrestore(&p->lock, flags);
	}
	rcu_read_unlock();
}

/* A page is fetched. It takes memory of its own cgroup, which need not be that of the program. */
static void mmpath_pollution_note_fetch(struct folio *folio, swp_entry_t entry)
{
	struct mmpath_prefetcher *p;
	unsigned long flags;

	rcu_read_lock();
	p = mmpath_prefetcher_near(folio_memcg(folio));
	if (p) {
		spin_lock_irqsave(&p->lock, flags);
		mmpath_pollution_fetched(&p->pollution, mmpath_slot(entry));
		spin_unlock_irqrestore(&p->lock, flags);
	}
	rcu_read_unlock();
}

/*
 * The kernel marks what it reads ahead as well, for read() and for others. That was not counted, so
 * too few are left where a program is read by both.
 */
static void mmpath_pollution_note_use(struct folio *folio)
{
	struct mmpath_prefetcher *p;
	unsigned long flags;

	rcu_read_lock();
	p = mmpath_prefetcher_near(folio_memcg(folio));
	if (p && mmpath_pollution_may(p)) {
		spin_lock_irqsave(&p->lock, flags);
		mmpath_pollution_settled(&p->pollution);
		spin_unlock_irqrestore(&p->lock, flags);
	}
	rcu_read_unlock();
}

static void mmpath_pollution_note_miss(struct folio *folio, swp_entry_t entry)
{
	struct mmpath_prefetcher *p;
	unsigned long flags;
	unsigned int caused;

	rcu_read_lock();
	p = mmpath_prefetcher_near(folio_memcg(folio));
	if (p && mmpath_pollution_may(p)) {
		spin_lock_irqsave(&p->lock, flags);
		caused = mmpath_pollution_missed(&p->pollution, mmpath_slot(entry));
		spin_unlock_irqrestore(&p->lock, flags);
		mmpath_pf_count(p, MMPATH_PF_POLLUTION, caused);
	}
	rcu_read_unlock();
}

/* Which pages are there */

/**
 * mmpath_zswap() - note where zswap has the pages of a swap device
 * @type: the device, which is not in use now
 * @trees: one for each %SWAP_ADDRESS_SPACE_PAGES slots; NULL: the device goes
 *
 * Context: swapon and swapoff.
 */
void mmpath_zswap(int type, struct xarray *trees)
{
	mmpath_zswap_trees[type] = trees;
}

/* Is the page in zswap? The device is held, and so are the trees. */
static bool mmpath_in_zswap(swp_entry_t entry)
{
	struct xarray *trees = mmpath_zswap_trees[swp_type(entry)];
	pgoff_t slot = swp_offset(entry);

	return !zswap_never_enabled() && trees &&
	       xa_load(&trees[slot >> SWAP_ADDRESS_SPACE_SHIFT], slot);
}

/* Has a page to be waited for? As of now: it may be written to the device, or come back. */
static bool mmpath_swap_waits(swp_entry_t entry)
{
	struct swap_info_struct *device = get_swap_device(entry);
	bool waits;

	if (!device)
		return false;
	/* other flags may change */
	waits = !data_race(device->flags & SWP_SYNCHRONOUS_IO) &&
		!test_bit(swp_offset(entry), device->zeromap) && !mmpath_in_zswap(entry);
	put_swap_device(device);
	return waits;
}

bool mmpath_swapped(void *vma, u64 page)
{
	swp_entry_t entry;

	return mmpath_swap_entry(vma, page << PAGE_SHIFT, &entry) && mmpath_swap_waits(entry);
}

/* Pages of the program's in swap that MM_SWAPENTS does not count, because a file has them */
unsigned long mmpath_shmem_in_swap(struct vm_area_struct *vma)
{
	if (!mmpath_is_shmem(vma))
		return 0;
	return min(READ_ONCE(SHMEM_I(vma->vm_file->f_mapping->host)->swapped), vma_pages(vma));
}

/* Do the swap devices need a wait? Where they need none, nothing is prefetched. */
const char *mmpath_devices_wait(void)
{
	static const char * const words[] = { "none", "wait", "nowait", "both" };
	const struct swap_info_struct *device;
	unsigned int type, kinds = 0;
	unsigned long flags;

	for (type = 0; type < MAX_SWAPFILES; type++) {
		device = swp_swap_info(swp_entry(type, 0));
		/* as of some moment */
		flags = device ? data_race(device->flags) : 0;
		if (flags & SWP_WRITEOK)
			kinds |= flags & SWP_SYNCHRONOUS_IO ? 2 : 1;
	}
	return words[kinds];
}

/* Reads */

static void mmpath_prefetch_read(struct vm_area_struct *vma, const u64 *page,
				 struct mmpath_reads *reads)
{
	gfp_t gfp = mmpath_is_shmem(vma) ? mapping_gfp_mask(vma->vm_file->f_mapping) :
					   GFP_HIGHUSER_MOVABLE;
	unsigned long address = page[0] << PAGE_SHIFT;
	struct swap_iocb *splug = NULL;
	struct mempolicy *mpol;
	bool new, more = true;
	struct blk_plug plug;
	struct folio *folio;
	swp_entry_t entry;
	unsigned int i;
	pgoff_t ilx;

	gfp = (gfp & ~__GFP_DIRECT_RECLAIM) | __GFP_NOWARN;
	mpol = get_vma_policy(vma, address, 0, &ilx);
	blk_start_plug(&plug);
	for (i = 0; i < reads->nr && more; i++) {
		if (!mmpath_swap_entry(vma, page[i] << PAGE_SHIFT, &entry))
			continue;
		/* no harm if the page has been brought meanwhile, or the device has gone */
		folio = __read_swap_cache_async(entry, gfp, mpol, ilx + page[i] - page[0], &new,
						false);
		if (!folio)
			break;
		if (new) {
			mmpath_pollution_note_fetch(folio, entry);
			folio_set_readahead(folio);
			mmpath_sleep_begin(reads);
			swap_read_folio(folio, &splug);
			more = mmpath_sleep_end(reads);
			count_vm_event(SWAP_RA);
			reads->read++;
		}
		folio_put(folio);
	}
	if (!more)
		reads->nr = i;
	mmpath_sleep_begin(reads);
	blk_finish_plug(&plug);
	swap_read_unplug(splug);
	mmpath_sleep_end(reads);
	lru_add_drain();
	mpol_cond_put(mpol);
}

/* Events */

static void mmpath_prefetch(struct mmpath_prefetcher *p, struct mem_cgroup *memcg,
			    struct vm_area_struct *vma, unsigned long address, bool miss, bool wait)
{
	struct mmpath_batch batch;
	struct mmpath_reads reads;

	mmpath_prefetch_event(p, memcg, vma, address, false, miss, wait, &batch);
	/* the kernel reads ahead, too: for read(), and for faults of others */
	if (!miss && batch.known) {
		mmpath_pf_count(p, MMPATH_PF_HIT, 1);
		mmpath_pf_count(p, MMPATH_PF_LATE, wait);
	}
	if (!batch.nr || fatal_signal_pending(current))
		return;
	mmpath_reads_begin(&reads, p, memcg, &batch);
	mmpath_prefetch_read(vma, batch.page, &reads);
	mmpath_reads_end(&reads, p, memcg, vma->vm_start >> PAGE_SHIFT, &batch, miss, wait);
}

static struct folio *mmpath_swapin_at(swp_entry_t entry, gfp_t gfp, struct mempolicy *mpol,
				      pgoff_t ilx, struct vm_area_struct *vma,
				      unsigned long address)
{
	struct mm_struct *mm = vma->vm_mm;
	struct mmpath_prefetcher *p;
	struct folio *folio = NULL;
	struct mem_cgroup *memcg;
	bool new, waits;

	if (mm != current->mm)
		return NULL;
	/* the device may be on its way out, but the fault holds it */
	if (data_race(swp_swap_info(entry)->flags & SWP_SYNCHRONOUS_IO))
		return NULL;
	memcg = get_mem_cgroup_from_mm(mm);
	p = mmpath_prefetcher_get(memcg);
	if (p) {
		waits = mmpath_swap_waits(entry);
		folio = __read_swap_cache_async(entry, gfp, mpol, ilx, &new, false);
		if (folio && new) {
			swap_read_folio(folio, NULL);
			mmpath_pf_count(p, MMPATH_PF_ONDEMAND, waits);
			if (waits)
				mmpath_pollution_note_miss(folio, entry);
			mmpath_prefetch(p, memcg, vma, address, true, waits);
		}
		mmpath_prefetcher_put(p);
	}
	mem_cgroup_put(memcg);
	return folio;
}

struct folio *__mmpath_swapin(swp_entry_t entry, gfp_t gfp, struct mempolicy *mpol, pgoff_t ilx,
			      struct vm_fault *vmf)
{
	return mmpath_swapin_at(entry, gfp, mpol, ilx, vmf->vma, vmf->address);
}

void __mmpath_swap_again(struct vm_area_struct *vma, unsigned long address)
{
	if (vma->vm_mm == current->mm)
		mmpath_stall_over(address, true);
}

static unsigned long mmpath_address(struct vm_area_struct *vma, pgoff_t index)
{
	return vma->vm_start + ((index - vma->vm_pgoff) << PAGE_SHIFT);
}

struct folio *__mmpath_shmem_swapin(swp_entry_t entry, gfp_t gfp, struct vm_area_struct *vma,
				    pgoff_t index)
{
	unsigned long address = mmpath_address(vma, index);
	struct mempolicy *mpol;
	struct folio *folio;
	pgoff_t ilx;

	mpol = get_vma_policy(vma, address, 0, &ilx);
	folio = mmpath_swapin_at(entry, gfp, mpol, ilx, vma, address);
	mpol_cond_put(mpol);
	return folio;
}

/* The first use of a page that was read ahead, by a program that has it mapped */
static void mmpath_swap_event(struct vm_area_struct *vma, unsigned long address,
			      struct folio *folio)
{
	struct mm_struct *mm = vma->vm_mm;
	struct mmpath_prefetcher *p;
	struct mem_cgroup *memcg;
	bool late;

	if (mm != current->mm)
		return;
	memcg = get_mem_cgroup_from_mm(mm);
	p = mmpath_prefetcher_get(memcg);
	if (p) {
		late = !folio_test_uptodate(folio);
		mmpath_prefetch(p, memcg, vma, address, false, late);
		mmpath_prefetcher_put(p);
	}
	mem_cgroup_put(memcg);
}

/* For shmem, __mmpath_shmem_hit() has told the program's part. */
void __mmpath_swap_hit(struct vm_area_struct *vma, unsigned long address, struct folio *folio)
{
	/* PG_readahead of a page that is being written means something else */
	if (folio_test_writeback(folio))
		return;
	mmpath_pollution_note_use(folio);
	if (vma)
		mmpath_swap_event(vma, address, folio);
}

void __mmpath_shmem_hit(swp_entry_t entry, struct vm_area_struct *vma, pgoff_t index)
{
	struct folio *folio = filemap_get_folio(swap_address_space(entry),
						swap_cache_index(entry));

	if (IS_ERR(folio))
		return;
	/* the caller clears the flag; two that are here at once both see it, which does no harm */
	if (!folio_test_large(folio) && folio_test_readahead(folio) &&
	    !folio_test_writeback(folio))
		mmpath_swap_event(vma, mmpath_address(vma, index), folio);
	folio_put(folio);
}

void __mmpath_shmem_wait(struct folio *folio, struct vm_area_struct *vma, pgoff_t index)
{
	bool waits = !folio_test_uptodate(folio);

	if (waits)
		folio_wait_locked(folio);
	if (vma->vm_mm == current->mm)
		mmpath_stall_over(mmpath_address(vma, index), waits);
}
