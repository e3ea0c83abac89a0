// SPDX-License-Identifier: GPL-2.0
/*
 * Where is a page of a program? For policies, which know no page tables.
 */
#include <linux/mm.h>
#include <linux/shmem_fs.h>
#include <linux/swapops.h>
#include <linux/xarray.h>
#include "core.h"

/**
 * mmpath_pte_lockless() - return the PTE of a page
 * @vma: the VMA of the page, which is locked against changes
 * @address: of the page
 *
 * The PTE may change at any time. Context: any but interrupts.
 * Return: the PTE, or one that is none if there is no page table, or a huge page.
 */
pte_t mmpath_pte_lockless(struct vm_area_struct *vma, unsigned long address)
{
	pmd_t *pmd = mmpath_find_pmd(vma->vm_mm, address);
	pte_t *ptep = pmd ? pte_offset_map(pmd, address) : NULL, pte;

	if (!ptep)
		return __pte(0);
	__acquire(RCU);	/* for sparse */
	pte = ptep_get_lockless(ptep);
	pte_unmap(ptep);
	return pte;
}

/**
 * mmpath_is_shmem() - tell whether a VMA maps shmem
 * @vma: the VMA, which is locked against changes
 *
 * That is asked of the file: memory of System V has operations of its own, which vma_is_shmem()
 * does not know, and they call those of shmem.
 *
 * Context: any.
 */
bool mmpath_is_shmem(const struct vm_area_struct *vma)
{
	return vma->vm_file && shmem_mapping(vma->vm_file->f_mapping);
}

/* Look for a swap entry in a file of shmem. Those of large folios are left to the kernel. */
static bool mmpath_shmem_entry(struct address_space *mapping, pgoff_t index, swp_entry_t *entry)
{
	XA_STATE(xas, &mapping->i_pages, index);
	bool small = false;
	void *found;

	rcu_read_lock();
	do {
		found = xas_load(&xas);
		if (xa_is_value(found))
			small = !xas_get_order(&xas);
	} while (xas_retry(&xas, found));
	rcu_read_unlock();
	if (!xa_is_value(found) || !small)
		return false;
	*entry = radix_to_swp_entry(found);
	return !non_swap_entry(*entry);
}

/**
 * mmpath_swap_entry() - look for a page in swap
 * @vma: the VMA of the page, which is locked against changes
 * @address: of the page
 * @entry: returns its swap entry, from the page table, or from the file if that is shmem
 *
 * The page may come back at any time. Context: any but interrupts.
 * Return: false if it is not in swap.
 */
bool mmpath_swap_entry(struct vm_area_struct *vma, unsigned long address, swp_entry_t *entry)
{
	pte_t pte = mmpath_pte_lockless(vma, address);

	if (pte_none(pte) && mmpath_is_shmem(vma))
		return mmpath_shmem_entry(vma->vm_file->f_mapping,
					  linear_page_index(vma, address), entry);
	if (!is_swap_pte(pte))
		return false;
	*entry = pte_to_swp_entry(pte);
	return !non_swap_entry(*entry);
}
