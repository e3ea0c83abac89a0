// SPDX-License-Identifier: GPL-2.0
/*
 * What the hooks in the kernel's own code call, see include/linux/mmpath.h.
 *
 * All run under SRCU; core.c says what that protects.
 */
#include <linux/mm.h>
#include "internal.h"

static struct mmpath_ctx *mmpath_ctx_of(struct mm_struct *mm)
{
	return srcu_dereference(mm->mmpath, &mmpath_srcu);
}

static const struct mmpath_driver *mmpath_drv_of(const struct mmpath_ctx *ctx)
{
	/* pairs with mmpath_start_driver() */
	return ctx ? smp_load_acquire(&ctx->drv) : NULL;
}

bool __mmpath_hint_fault(struct vm_fault *vmf)
{
	const struct mmpath_driver *drv;
	struct mmpath_ctx *ctx;
	bool handled = false;
	int idx;

	idx = srcu_read_lock(&mmpath_srcu);
	ctx = mmpath_ctx_of(vmf->vma->vm_mm);
	drv = mmpath_drv_of(ctx);
	if (drv && drv->hint_fault)
		handled = drv->hint_fault(ctx, vmf);
	srcu_read_unlock(&mmpath_srcu, idx);
	return handled;
}

bool __mmpath_hint_fault_pmd(struct vm_fault *vmf)
{
	const struct mmpath_driver *drv;
	struct mmpath_ctx *ctx;
	bool handled = false;
	int idx;

	idx = srcu_read_lock(&mmpath_srcu);
	ctx = mmpath_ctx_of(vmf->vma->vm_mm);
	drv = mmpath_drv_of(ctx);
	if (drv && drv->hint_fault_pmd)
		handled = drv->hint_fault_pmd(ctx, vmf);
	srcu_read_unlock(&mmpath_srcu, idx);
	return handled;
}

void __mmpath_touched(struct vm_area_struct *vma, unsigned long address,
		      unsigned int flags)
{
	const struct mmpath_driver *drv;
	struct mmpath_ctx *ctx;
	int idx;

	if (!rcu_access_pointer(vma->vm_mm->mmpath))
		return;
	idx = srcu_read_lock(&mmpath_srcu);
	ctx = mmpath_ctx_of(vma->vm_mm);
	drv = mmpath_drv_of(ctx);
	if (drv && drv->touched) {
		drv->touched(ctx, vma, address, flags);
		mmpath_try_drain(ctx);
	}
	srcu_read_unlock(&mmpath_srcu, idx);
}

void __mmpath_mprotect(struct vm_area_struct *vma, unsigned long start,
		       unsigned long end)
{
	const struct mmpath_driver *drv;
	struct mmpath_ctx *ctx;
	int idx;

	idx = srcu_read_lock(&mmpath_srcu);
	ctx = mmpath_ctx_of(vma->vm_mm);
	drv = mmpath_drv_of(ctx);
	if (drv && drv->mprotect)
		drv->mprotect(ctx, vma, start, end);
	srcu_read_unlock(&mmpath_srcu, idx);
}

/*
 * A mapping comes, goes or moves. What was logged before belongs to what was
 * there before, hence the drain. The merged stacks know pages, not regions.
 */
enum mmpath_map_op { MMPATH_MAP, MMPATH_BRK, MMPATH_UNMAP, MMPATH_MOVE };

static int mmpath_change_regions(struct mmpath_ctx *ctx, enum mmpath_map_op op,
				 u64 from, u64 nr, u64 to, u64 to_nr)
{
	switch (op) {
	case MMPATH_MAP:
		return mmpath_regions_map(&ctx->regions, from, nr, MMPATH_REGION_MMAP);
	case MMPATH_BRK:
		return mmpath_regions_map(&ctx->regions, from, nr, MMPATH_REGION_BRK);
	case MMPATH_UNMAP:
		return mmpath_regions_unmap(&ctx->regions, from, nr);
	case MMPATH_MOVE:
		return mmpath_regions_move(&ctx->regions, from, nr, to, to_nr);
	}
	return 0;
}

static void mmpath_change(struct mm_struct *mm, enum mmpath_map_op op,
			  unsigned long from, unsigned long from_len,
			  unsigned long to, unsigned long to_len)
{
	u64 page = from >> PAGE_SHIFT, nr = from_len >> PAGE_SHIFT;
	u64 to_page = to >> PAGE_SHIFT, to_nr = to_len >> PAGE_SHIFT;
	struct mmpath_ctx *ctx;
	int i, idx;

	mmap_assert_write_locked(mm);
	idx = srcu_read_lock(&mmpath_srcu);
	ctx = mmpath_ctx_of(mm);
	if (!ctx)
		goto out;
	mutex_lock(&ctx->lock);
	__mmpath_drain(ctx, true);
	if (mmpath_change_regions(ctx, op, page, nr, to_page, to_nr))
		mmpath_count(ctx, MMPATH_STOPPED_NOMEM, 1);
	for (i = 0; i < ctx->nr_domains; i++)
		if (op != MMPATH_MOVE)
			mmpath_domain_forget(ctx->domains[i], ctx, page, nr);
		else if (page != to_page)
			mmpath_domain_move(ctx->domains[i], ctx, page, to_page, min(nr, to_nr));
	mutex_unlock(&ctx->lock);
out:
	srcu_read_unlock(&mmpath_srcu, idx);
}

void __mmpath_mmap(struct mm_struct *mm, unsigned long start, unsigned long len)
{
	mmpath_change(mm, MMPATH_MAP, start, len, 0, 0);
}

void __mmpath_brk(struct mm_struct *mm, unsigned long start, unsigned long len)
{
	mmpath_change(mm, MMPATH_BRK, start, len, 0, 0);
}

void __mmpath_munmap(struct mm_struct *mm, unsigned long start, unsigned long len)
{
	mmpath_change(mm, MMPATH_UNMAP, start, len, 0, 0);
}

void __mmpath_mremap(struct mm_struct *mm, unsigned long from, unsigned long from_len,
		     unsigned long to, unsigned long to_len)
{
	mmpath_change(mm, MMPATH_MOVE, from, from_len, to, to_len);
}
