// SPDX-License-Identifier: GPL-2.0
/*
 * Prefetch from mapped files.
 *
 * The kernel reads a file around a page that is missed. Where around.c finds that this is of no
 * use, or hides an order that foresight knows, the page is read alone, and then what foresight
 * names. All of that is marked with PG_readahead. Fault-around does not map marked pages, so their
 * first use is a fault, which is seen.
 *
 * Files without readahead are left to the kernel, and so are MADV_RANDOM, MADV_SEQUENTIAL, huge
 * pages and DAX. Truncation waits for the lock of the mapping under which pages are added.
 *
 * Locks: the fault may give up the lock of the VMA before it reads. From there on only the file
 * is used, which is pinned then. Otherwise the VMA keeps it.
 */
#include <linux/blkdev.h>
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/psi.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/xarray.h>
#include "../../internal.h"
#include "ahead.h"

static pgoff_t mmpath_file_end(struct address_space *mapping)
{
	return DIV_ROUND_UP(i_size_read(mapping->host), PAGE_SIZE);
}

/* Pages of a file that a mapping has */
static unsigned long mmpath_file_pages(struct vm_area_struct *vma)
{
	pgoff_t end = mmpath_file_end(vma->vm_file->f_mapping);

	return min(vma_pages(vma), end - min(end, vma->vm_pgoff));
}

/**
 * mmpath_file_pages_out() - return how many pages of a mapping may be out of memory
 * @vma: the mapping of a file
 *
 * Return: pages, at most those of the file that are mapped.
 */
unsigned long mmpath_file_pages_out(struct vm_area_struct *vma)
{
	unsigned long pages = mmpath_file_pages(vma);

	return pages - min(pages, READ_ONCE(vma->vm_file->f_mapping->nrpages));
}

/**
 * mmpath_file_out() - tell whether a page has to be read from its file
 * @vma: the mapping, which is locked against changes
 * @page: the page
 *
 * Context: under RCU. Return: whether it is out, or was read ahead and is not used yet.
 */
bool mmpath_file_out(void *vma, u64 page)
{
	unsigned long address = page << PAGE_SHIFT;
	struct vm_area_struct *v = vma;
	struct address_space *mapping = v->vm_file->f_mapping;
	pgoff_t index = linear_page_index(v, address);
	struct folio *folio;

	if (index >= mmpath_file_end(mapping))
		return false;
	/* a private page hides that of the file */
	if (!(v->vm_flags & VM_SHARED) && !pte_none(mmpath_pte_lockless(v, address)))
		return false;
	folio = xa_load(&mapping->i_pages, index);
	/* it may be another page by now, which does no harm */
	return !folio || xa_is_value(folio) || test_bit(PG_readahead, &folio->flags);
}

/* Is the mapping one that we may read for? */
static bool mmpath_file_takes(struct vm_area_struct *vma)
{
	struct address_space *mapping = vma->vm_file->f_mapping;

	return vma->vm_mm == current->mm && mapping->a_ops->readahead &&
	       !mapping_min_folio_order(mapping) && !IS_DAX(mapping->host) &&
	       !(vma->vm_flags & (VM_RAND_READ | VM_SEQ_READ | VM_HUGEPAGE));
}

/* Is so much memory not in use that it is more than what reclaim leaves? */
static bool mmpath_has_room(const struct mmpath_room *room)
{
	unsigned long free = global_zone_page_state(NR_FREE_PAGES);

	return room->left >= 256 + room->all / 64 &&
	       free >= totalreserve_pages + totalram_pages() / 64;
}

/* Pages of files that the program maps; it may have reserved some for nothing as well. */
static unsigned long mmpath_file_mapped(struct vm_area_struct *vma)
{
	struct mm_struct *mm = vma->vm_mm;
	unsigned long others = READ_ONCE(mm->data_vm) + READ_ONCE(mm->stack_vm);
	unsigned long all = READ_ONCE(mm->total_vm);

	return max(mmpath_file_pages(vma), all > others ? all - others : 0);
}

/*
 * Could what the program maps fit into memory, and was the page not evicted lately? Then the pages
 * around it are best read with it: a program that begins would miss each page of its file
 * otherwise.
 */
static bool mmpath_file_fits(struct vm_area_struct *vma, pgoff_t index, unsigned long memory)
{
	bool workingset;
	void *shadow;

	if (mmpath_file_mapped(vma) > memory)
		return false;
	shadow = xa_load(&vma->vm_file->f_mapping->i_pages, index);
	return !xa_is_value(shadow) || !workingset_test_recent(shadow, true, &workingset, false);
}

static int mmpath_file_add(struct readahead_control *rac, pgoff_t index, gfp_t gfp, bool ahead)
{
	struct address_space *mapping = rac->mapping;
	struct folio *folio;
	int err;

	if (index >= mmpath_file_end(mapping))
		return -EEXIST;
	folio = filemap_alloc_folio(gfp, 0);
	if (!folio)
		return -ENOMEM;
	err = filemap_add_folio(mapping, folio, index, gfp);
	if (err) {
		folio_put(folio);
		return err;
	}
	if (ahead)
		folio_set_readahead(folio);
	rac->_workingset |= folio_test_workingset(folio);
	rac->_nr_pages++;
	return 0;
}

/* Let the file system read the pages that were added. Returns whether to go on. */
static bool mmpath_file_submit(struct readahead_control *rac, struct mmpath_reads *reads)
{
	unsigned int added = readahead_count(rac), left = 0;
	struct folio *folio;

	if (!added)
		return true;
	if (rac->_workingset)
		psi_memstall_enter(&rac->_pflags);
	mmpath_sleep_begin(reads);
	rac->mapping->a_ops->readahead(rac);
	/* what it did not take must not stay; it may have added pages of its own */
	while ((folio = readahead_folio(rac))) {
		folio_get(folio);
		filemap_remove_folio(folio);
		folio_unlock(folio);
		folio_put(folio);
		left++;
	}
	/* it may also have entered what it leaves to us to leave */
	if (rac->_workingset)
		psi_memstall_leave(&rac->_pflags);
	rac->_workingset = false;
	reads->read -= min(left, added);
	return mmpath_sleep_end(reads);
}

/* @ahead: the pages are not waited for. The lock keeps truncation waiting. */
static void mmpath_file_read(struct file *file, const pgoff_t *index, struct mmpath_reads *reads,
			     bool ahead)
{
	struct address_space *mapping = file->f_mapping;
	struct file_ra_state ra = { .ra_pages = file->f_ra.ra_pages };
	DEFINE_READAHEAD(rac, file, &ra, mapping, 0);
	gfp_t gfp = readahead_gfp_mask(mapping);
	unsigned int i, nofs;
	bool more = true;
	int err;

	if (ahead)
		gfp &= ~__GFP_DIRECT_RECLAIM;
	nofs = memalloc_nofs_save();
	filemap_invalidate_lock_shared(mapping);
	for (i = 0; i < reads->nr; i++) {
		if (index[i] != rac._index + rac._nr_pages)
			more &= mmpath_file_submit(&rac, reads);
		/* not within a run: it may have been turned */
		if (!more && index[i] != index[i - 1] + 1) {
			reads->nr = i;
			break;
		}
		if (!rac._nr_pages)
			rac._index = index[i];
		err = mmpath_file_add(&rac, index[i], gfp, ahead);
		if (!err)
			reads->read++;
		else if (err != -EEXIST)
			break;
	}
	mmpath_file_submit(&rac, reads);
	filemap_invalidate_unlock_shared(mapping);
	memalloc_nofs_restore(nofs);
}

/*
 * Turn runs that go down, so that the file system is called for a run, and not for each page.
 * A batch is cut between runs only.
 */
static void mmpath_file_turn(pgoff_t *index, unsigned int nr)
{
	unsigned int i, j, first;

	for (first = 0; first < nr; first = i) {
		for (i = first + 1; i < nr && index[i] == index[i - 1] - 1; i++)
			;
		for (j = 0; j < (i - first) / 2; j++)
			swap(index[first + j], index[i - 1 - j]);
	}
}

/*
 * Read the page of a miss. A device or a file system may have it at once: then that is what a miss
 * takes. Returns the page, with a reference, if it has to be waited for.
 */
static struct folio *mmpath_file_read_missed(struct mmpath_prefetcher *p, struct vm_fault *vmf,
					     struct file *file)
{
	struct mmpath_reads reads = { .nr = 1, .sleep_most = U64_MAX };
	u64 began = ktime_get_ns();
	struct folio *folio;

	mmpath_file_read(file, &vmf->pgoff, &reads, false);
	folio = filemap_get_folio(file->f_mapping, vmf->pgoff);
	if (IS_ERR(folio))
		return NULL;
	if (!folio_test_uptodate(folio)) {
		mmpath_file_asked(vmf->address);
		return folio;
	}
	/* unless another task has read it meanwhile */
	if (reads.read)
		mmpath_average(&p->miss_ns[true], ktime_get_ns() - began);
	folio_put(folio);
	return NULL;
}

/*
 * Read what was named. May give up the lock of the VMA: then the fault waits for its page, and is
 * begun again. @late: the page of the fault, if it was fetched and has to be waited for.
 */
static void mmpath_file_read_ahead(struct mmpath_prefetcher *p, struct mem_cgroup *memcg,
				   struct vm_fault *vmf, const struct mmpath_batch *batch,
				   bool miss, struct folio *late, struct file **fpin)
{
	struct vm_area_struct *vma = vmf->vma;
	u64 first = vma->vm_start >> PAGE_SHIFT;
	struct file *file = vma->vm_file;
	pgoff_t index[MMPATH_FORESEE_MOST];
	struct folio *missed = NULL, *folio;
	struct mmpath_reads reads;
	struct blk_plug plug;
	unsigned int i;

	for (i = 0; i < batch->nr; i++)
		index[i] = linear_page_index(vma, batch->page[i] << PAGE_SHIFT);
	mmpath_file_turn(index, batch->nr);
	*fpin = maybe_unlock_mmap_for_io(vmf, NULL);
	if (miss)
		missed = mmpath_file_read_missed(p, vmf, file);
	if (!fatal_signal_pending(current)) {
		/* not under the plug, where what reclaim writes would wait */
		mmpath_reads_begin(&reads, p, memcg, batch);
		blk_start_plug(&plug);
		mmpath_file_read(file, index, &reads, true);
		mmpath_sleep_begin(&reads);
		blk_finish_plug(&plug);
		mmpath_sleep_end(&reads);
		mmpath_reads_end(&reads, p, memcg, first, batch, miss, !!missed);
	}
	folio = missed ?: late;
	/* the fault is begun again nevertheless, and that takes more than a miss would */
	if (folio && folio_test_uptodate(folio))
		mmpath_stall_over(vmf->address, false);
	if (missed)
		folio_put(missed);
}

void __mmpath_file_again(unsigned long address, struct folio *folio)
{
	mmpath_stall_over(address, !IS_ERR(folio) && folio_test_uptodate(folio));
	mmpath_file_took(false);
}

bool __mmpath_file_miss(struct vm_fault *vmf, struct file **fpin)
{
	struct mmpath_prefetcher *p;
	struct mmpath_batch batch;
	struct mem_cgroup *memcg;
	struct mmpath_room room;
	bool ours = false;

	if (!mmpath_file_takes(vmf->vma))
		return false;
	memcg = get_mem_cgroup_from_mm(vmf->vma->vm_mm);
	p = mmpath_prefetcher_get(memcg);
	if (p) {
		mmpath_pf_count(p, MMPATH_PF_ONDEMAND, 1);
		room = mmpath_room_of(memcg);
		/* pages around a miss take memory from nothing that is in use */
		if (mmpath_has_room(&room))
			goto out;
		batch.around = mmpath_file_fits(vmf->vma, vmf->pgoff, room.all);
		mmpath_prefetch_event(p, memcg, vmf->vma, vmf->address, true, true, false,
				      &batch);
		ours = !batch.around;
		/* with nothing to read ahead, the fault reads its page itself */
		if (batch.nr)
			mmpath_file_read_ahead(p, memcg, vmf, &batch, true, NULL, fpin);
		else if (ours)
			mmpath_file_asked(vmf->address);
		mmpath_file_took(vmf->flags & FAULT_FLAG_USER);
out:
		mmpath_prefetcher_put(p);
	}
	mem_cgroup_put(memcg);
	return ours;
}

bool __mmpath_file_hit(struct vm_fault *vmf, struct folio *folio, struct file **fpin)
{
	struct mmpath_prefetcher *p;
	struct mmpath_batch batch;
	struct mem_cgroup *memcg;
	bool ours = false, late;

	/* PG_readahead of a page that is being written means something else */
	if (!mmpath_file_takes(vmf->vma) || folio_test_large(folio) ||
	    folio_test_writeback(folio))
		return false;
	memcg = get_mem_cgroup_from_mm(vmf->vma->vm_mm);
	p = mmpath_prefetcher_get(memcg);
	if (p) {
		late = !folio_test_uptodate(folio);
		batch.around = false;
		mmpath_prefetch_event(p, memcg, vmf->vma, vmf->address, true, false, late, &batch);
		ours = !batch.around;
		if (ours)
			folio_clear_readahead(folio);
		/* the kernel has marked others */
		if (batch.known) {
			mmpath_pf_count(p, MMPATH_PF_HIT, 1);
			mmpath_pf_count(p, MMPATH_PF_LATE, late);
		}
		if (batch.nr)
			mmpath_file_read_ahead(p, memcg, vmf, &batch, false, late ? folio : NULL,
					       fpin);
		mmpath_file_took(vmf->flags & FAULT_FLAG_USER);
		mmpath_prefetcher_put(p);
	}
	mem_cgroup_put(memcg);
	return ours;
}
