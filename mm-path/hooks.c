// SPDX-License-Identifier: GPL-2.0
/*
 * What the hooks in the kernel's own code call, see include/linux/mmpath.h.
 *
 * All run under SRCU; core.h says what that protects.
 */
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/cputime.h>
#include <linux/sched/mm.h>
#include "core.h"

/**
 * mmpath_owner() - return the task that runs an mm
 * @mm: the mm
 *
 * A child whose fork is not over is not returned. If its fork fails, its signal_struct is freed at
 * once, without a grace period of RCU, and its credentials are taken from it. Callers lose nothing
 * by that: the child has not run yet, and has no pid.
 *
 * Context: the RCU lock is held. Return: a task whose ->signal and ->cred may be read, or NULL.
 */
struct task_struct *mmpath_owner(const struct mm_struct *mm)
{
	struct task_struct *owner = rcu_dereference(mm->owner);

	return owner && READ_ONCE(owner->__state) != TASK_NEW ? owner : NULL;
}

static u64 mmpath_group_ns(struct task_struct *leader)
{
	u64 ns = READ_ONCE(leader->signal->sum_sched_runtime);
	struct task_struct *t;

	for_each_thread(leader, t)
		ns += task_sched_runtime(t);
	return ns;
}

/**
 * mmpath_cpu_ns() - return the CPU time of a program
 * @mm: of the program
 *
 * To the nanosecond, because bursts are short. Context: any but interrupts.
 * Return: nanoseconds so far; 0 when it has gone and somebody else has kept its mm.
 */
u64 mmpath_cpu_ns(struct mm_struct *mm)
{
	struct task_struct *owner;
	u64 ns = 0;

	rcu_read_lock();
	owner = mmpath_owner(mm);
	if (!owner && (current->flags & PF_EXITING || current->in_execve))
		owner = current;	/* the last one takes its mm along */
	if (owner)
		ns = mmpath_group_ns(owner);
	rcu_read_unlock();
	return ns;
}

/**
 * mmpath_is_idle() - tell whether an mm was not used for some time
 * @mm: of a program
 * @cpu_ns: mmpath_cpu_ns() at the beginning of that time
 *
 * A user that is no thread of the program, for example a kernel thread that borrows the mm,
 * may use it at any time.
 *
 * Context: any but interrupts. Return: false also when that is not known.
 */
bool mmpath_is_idle(struct mm_struct *mm, u64 cpu_ns)
{
	struct task_struct *owner;
	bool idle;

	rcu_read_lock();
	owner = mmpath_owner(mm);
	idle = owner && atomic_read(&mm->mm_users) <= get_nr_threads(owner) &&
	       mmpath_group_ns(owner) == cpu_ns;
	rcu_read_unlock();
	return idle;
}

/**
 * mmpath_major_faults() - return how often a program has waited for a page
 * @mm: of the program
 *
 * Context: any but interrupts. Return: faults so far; 0 when it has gone.
 */
unsigned long mmpath_major_faults(struct mm_struct *mm)
{
	struct task_struct *owner, *t;
	unsigned long faults = 0;

	rcu_read_lock();
	owner = mmpath_owner(mm);
	if (owner) {
		faults = READ_ONCE(owner->signal->maj_flt);
		for_each_thread(owner, t)
			faults += READ_ONCE(t->maj_flt);
	}
	rcu_read_unlock();
	return faults;
}

static struct mmpath_ctx *mmpath_ctx_of(struct mm_struct *mm)
{
	return srcu_dereference(mm->mmpath, &mmpath_srcu);
}

static const struct mmpath_driver *mmpath_drv_of(const struct mmpath_ctx *ctx)
{
	/* pairs with mmpath_start_driver() */
	return ctx ? smp_load_acquire(&ctx->drv) : NULL;
}

/**
 * mmpath_find_hot() - ask the driver which pages are hot
 * @ctx: the context
 * @page: page numbers
 * @nr: how many
 * @hot: returns for each whether its next touches would be filtered out
 *
 * Unlike a hook it does not run in the program. So it takes a user of the mm: when the last user
 * goes, the driver's data are freed without waiting for SRCU. Context: may sleep.
 */
void mmpath_find_hot(struct mmpath_ctx *ctx, const u64 *page, unsigned int nr, bool *hot)
{
	const struct mmpath_driver *drv;
	int idx;

	memset(hot, 0, nr * sizeof(*hot));
	if (!mmget_not_zero(ctx->d.mm))
		return;
	idx = srcu_read_lock(&mmpath_srcu);
	drv = mmpath_ctx_of(ctx->d.mm) == ctx ? mmpath_drv_of(ctx) : NULL;
	if (drv && drv->find_hot)
		drv->find_hot(&ctx->d, page, nr, hot);
	srcu_read_unlock(&mmpath_srcu, idx);
	mmput_async(ctx->d.mm);
}

static bool mmpath_hinted(struct vm_fault *vmf, bool huge)
{
	bool (*hint_fault)(struct mmpath_drv_ctx *ctx, struct vm_fault *vmf) = NULL;
	const struct mmpath_driver *drv;
	struct mmpath_ctx *ctx;
	bool handled;
	int idx;

	idx = srcu_read_lock(&mmpath_srcu);
	ctx = mmpath_ctx_of(vmf->vma->vm_mm);
	drv = mmpath_drv_of(ctx);
	if (drv)
		hint_fault = huge ? drv->hint_fault_pmd : drv->hint_fault;
	handled = hint_fault && hint_fault(&ctx->d, vmf);
	if (handled)
		mmpath_trap_hinted();
	srcu_read_unlock(&mmpath_srcu, idx);
	return handled;
}

bool __mmpath_hint_fault(struct vm_fault *vmf)
{
	return mmpath_hinted(vmf, false);
}

bool __mmpath_hint_fault_pmd(struct vm_fault *vmf)
{
	return mmpath_hinted(vmf, true);
}

/*
 * The first write to a shared page of a file may make the file's owner wait for the disk, and the
 * fault drops its lock for that: VM_FAULT_COMPLETED. The caller of handle_mm_fault() still keeps
 * the mm. If the vma is changing just now, the next scan finds the page.
 */
static struct vm_area_struct *mmpath_relock_vma(struct mm_struct *mm, unsigned long address,
						unsigned int *flags)
{
	struct vm_area_struct *vma = lock_vma_under_rcu(mm, address);

	*flags |= FAULT_FLAG_VMA_LOCK;
	if (vma || !mmap_read_trylock(mm))
		return vma;
	*flags &= ~FAULT_FLAG_VMA_LOCK;
	vma = vma_lookup(mm, address);
	if (!vma)
		mmap_read_unlock(mm);
	return vma;
}

static void mmpath_unlock_vma(struct vm_area_struct *vma, unsigned int flags)
{
	if (flags & FAULT_FLAG_VMA_LOCK)
		vma_end_read(vma);
	else
		mmap_read_unlock(vma->vm_mm);
}

static void mmpath_tell_touched(const struct mmpath_driver *drv, struct mmpath_ctx *ctx,
				struct vm_area_struct *vma, unsigned long address,
				unsigned int flags, bool hint)
{
	bool relock = !vma;

	if (relock)
		vma = mmpath_relock_vma(ctx->d.mm, address, &flags);
	if (vma)
		drv->touched(&ctx->d, vma, address, flags, hint);
	if (relock && vma)
		mmpath_unlock_vma(vma, flags);
}

/*
 * The first write to a private page that was inherited is a fault, and makes a copy. Note that the
 * page is the program's own now. (@vma is NULL for shared memory.) To be called before the driver
 * logs the access. It does not go through the log, which may be full.
 */
static void mmpath_tell_own(struct mmpath_ctx *ctx, const struct vm_area_struct *vma,
			    unsigned long address, unsigned int flags)
{
	if (READ_ONCE(ctx->heir) && flags & (FAULT_FLAG_WRITE | FAULT_FLAG_UNSHARE) &&
	    vma && !(vma->vm_flags & VM_SHARED))
		mmpath_name_own(ctx, address >> PAGE_SHIFT, 1);
}

/* @vma is NULL if the fault has dropped its lock. */
void __mmpath_touched(struct mm_struct *mm, struct vm_area_struct *vma,
		      unsigned long address, unsigned int flags)
{
	const struct mmpath_driver *drv;
	struct mmpath_ctx *ctx;
	struct mmpath_entered entered;
	bool hint;
	int idx;

	if (!rcu_access_pointer(mm->mmpath))
		return;
	hint = mmpath_trap_was_hint();
	idx = srcu_read_lock(&mmpath_srcu);
	ctx = mmpath_ctx_of(mm);
	drv = mmpath_drv_of(ctx);
	if (ctx && !hint)
		mmpath_tell_own(ctx, vma, address, flags);
	/* many short programs end before anything is logged: do not time their faults */
	if (drv && drv->touched && !READ_ONCE(ctx->d.resting)) {
		mmpath_trap_enter(hint, flags, &entered);
		mmpath_tell_touched(drv, ctx, vma, address, flags, hint);
		mmpath_try_drain(ctx);
		atomic64_add(mmpath_trap_leave(&entered), &ctx->d.hook_ns);
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
		drv->mprotect(&ctx->d, vma, start, end);
	srcu_read_unlock(&mmpath_srcu, idx);
}

/*
 * A mapping comes, goes or moves, or its contents are discarded. Records from before belong to
 * what was mapped before, so they are drained first. The merged stacks know pages, not regions.
 */
enum mmpath_map_op { MMPATH_MAP, MMPATH_BRK, MMPATH_UNMAP, MMPATH_MOVE, MMPATH_DISCARD };

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
	case MMPATH_DISCARD:
		mmpath_regions_forget(&ctx->regions, from, nr);
		break;
	}
	return 0;
}

/*
 * A new mapping has nothing to forget: what was there before was unmapped, and mmap() over a
 * mapping calls the hook of munmap(), too.
 */
static bool mmpath_op_forgets(enum mmpath_map_op op)
{
	return op == MMPATH_UNMAP || op == MMPATH_DISCARD;
}

/* The next touch of a page in this range is its first. */
static void mmpath_driver_forget(struct mmpath_ctx *ctx, u64 first, u64 nr)
{
	const struct mmpath_driver *drv = mmpath_drv_of(ctx);

	if (drv && drv->forget && nr)
		drv->forget(&ctx->d, first, nr);
}

static void mmpath_change(struct mm_struct *mm, enum mmpath_map_op op,
			  unsigned long from, unsigned long from_len,
			  unsigned long to, unsigned long to_len)
{
	u64 page = from >> PAGE_SHIFT, nr = from_len >> PAGE_SHIFT;
	u64 to_page = to >> PAGE_SHIFT, to_nr = to_len >> PAGE_SHIFT;
	struct mmpath_ctx *ctx;
	int i, idx;

	idx = srcu_read_lock(&mmpath_srcu);
	ctx = mmpath_ctx_of(mm);
	if (!ctx)
		goto out;
	mmpath_drain_driver(ctx);
	mutex_lock(&ctx->lock);
	__mmpath_drain(ctx, true);
	mmpath_count_map_error(ctx, mmpath_change_regions(ctx, op, page, nr, to_page, to_nr));
	/*
	 * The parent has something else at this address, if it was moved or is new. Of what grows
	 * where it is only the end is new.
	 */
	if (op == MMPATH_MOVE && page == to_page)
		mmpath_name_own(ctx, page + nr, to_nr - min(nr, to_nr));
	else if (op == MMPATH_MOVE)
		mmpath_name_own(ctx, to_page, to_nr);
	else if (op == MMPATH_MAP || op == MMPATH_BRK)
		mmpath_name_own(ctx, page, nr);
	for (i = 0; i < ctx->nr_domains; i++)
		if (mmpath_op_forgets(op))
			mmpath_domain_forget(ctx->domains[i], ctx, page, nr);
		else if (op == MMPATH_MOVE && page != to_page)
			mmpath_domain_move(ctx->domains[i], ctx, page, to_page, min(nr, to_nr));
	mutex_unlock(&ctx->lock);
	if (mmpath_op_forgets(op)) {
		mmpath_driver_forget(ctx, page, nr);
	} else if (op == MMPATH_MOVE && page != to_page) {
		mmpath_driver_forget(ctx, page, nr);
		mmpath_driver_forget(ctx, to_page, to_nr);
	}
out:
	srcu_read_unlock(&mmpath_srcu, idx);
}

void __mmpath_mmap(struct mm_struct *mm, unsigned long start, unsigned long len)
{
	mmap_assert_write_locked(mm);
	mmpath_change(mm, MMPATH_MAP, start, len, 0, 0);
}

void __mmpath_brk(struct mm_struct *mm, unsigned long start, unsigned long len)
{
	mmap_assert_write_locked(mm);
	mmpath_change(mm, MMPATH_BRK, start, len, 0, 0);
}

void __mmpath_munmap(struct mm_struct *mm, unsigned long start, unsigned long len)
{
	mmap_assert_write_locked(mm);
	mmpath_change(mm, MMPATH_UNMAP, start, len, 0, 0);
}

void __mmpath_mremap(struct mm_struct *mm, unsigned long from, unsigned long from_len,
		     unsigned long to, unsigned long to_len)
{
	struct vm_area_struct *vma;

	mmap_assert_write_locked(mm);
	mmpath_change(mm, MMPATH_MOVE, from, from_len, to, to_len);
	/* entries have moved as they were, and no driver knows them by their new numbers */
	vma = from != to ? vma_lookup(mm, to) : NULL;
	if (vma)
		__mmpath_mprotect(vma, to, to + min(from_len, to_len));
}

/*
 * Are the contents of the range discarded? madvise() (@details is NULL) cannot discard pages of a
 * file, only the program's copies of them; which pages are copies is not checked. If the file
 * is truncated, copies may stay.
 */
static bool mmpath_zap_discards(struct vm_area_struct *vma,
				const struct zap_details *details)
{
	if (!details)
		return !(vma->vm_flags & VM_SHARED) && (vma_is_anonymous(vma) || vma->anon_vma);
	return details->even_cows || !vma->anon_vma;
}

/*
 * Like mmpath_find_hot() it may run in any task. It sleeps for ctx->lock with
 * i_mmap_rwsem and a folio's lock held: see core.h.
 */
void __mmpath_zap(struct vm_area_struct *vma, unsigned long start, unsigned long len,
		  const struct zap_details *details)
{
	struct mm_struct *mm = vma->vm_mm;

	if (!rcu_access_pointer(mm->mmpath) || !mmpath_zap_discards(vma, details) ||
	    !mmget_not_zero(mm))
		return;
	mmpath_change(mm, MMPATH_DISCARD, start, len, 0, 0);
	mmput_async(mm);
}

void __mmpath_discard(struct vm_area_struct *vma, unsigned long start, unsigned long len)
{
	if (!len || !rcu_access_pointer(vma->vm_mm->mmpath))
		return;
	mmpath_change(vma->vm_mm, MMPATH_DISCARD, start, len, 0, 0);
	/* the next touch of pages that are still mapped there, or again, must be seen */
	__mmpath_mprotect(vma, start, start + len);
}

bool __mmpath_skips_numa(struct mm_struct *mm)
{
	const struct mmpath_driver *drv;
	bool skips;
	int idx;

	idx = srcu_read_lock(&mmpath_srcu);
	drv = mmpath_drv_of(mmpath_ctx_of(mm));
	skips = drv && drv->hint_fault;
	srcu_read_unlock(&mmpath_srcu, idx);
	return skips;
}

#ifdef CONFIG_MMPATH_DRV_VPATH
void __mmpath_use_mm(struct mm_struct *mm)
{
	const struct mmpath_driver *drv = mmpath_driver();
	struct mmpath_ctx *ctx;
	unsigned long flags;

	/* exec is not under the scheduler's lock */
	local_irq_save(flags);
	ctx = mm ? rcu_dereference_sched(mm->mmpath) : NULL;
	if (drv->use_context)
		drv->use_context(ctx ? &ctx->d : NULL);
	local_irq_restore(flags);
}

void __mmpath_tick(struct task_struct *curr)
{
	const struct mmpath_driver *drv = mmpath_driver();

	if (drv->tick)
		drv->tick(curr);
}
#endif
