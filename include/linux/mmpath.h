/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hooks of page access tracking, see Documentation/mm/path/design.rst.
 *
 * Each is one call from the kernel's own code. Configured out it is an empty
 * inline function; compiled in and not enabled it is a patched-out jump.
 */
#ifndef _LINUX_MMPATH_H
#define _LINUX_MMPATH_H

#include <linux/jump_label.h>
#include <linux/mm_types.h>

struct mem_cgroup;
struct task_struct;
struct vm_fault;
struct zap_details;
struct zone;

#ifdef CONFIG_MMPATH

DECLARE_STATIC_KEY_FALSE(mmpath_key);

bool __mmpath_hint_fault(struct vm_fault *vmf);
bool __mmpath_hint_fault_pmd(struct vm_fault *vmf);
void __mmpath_touched(struct mm_struct *mm, struct vm_area_struct *vma,
		      unsigned long address, unsigned int flags);
void __mmpath_zap(struct vm_area_struct *vma, unsigned long start, unsigned long len,
		  const struct zap_details *details);
void __mmpath_discard(struct vm_area_struct *vma, unsigned long start, unsigned long len);
void __mmpath_mprotect(struct vm_area_struct *vma, unsigned long start,
		       unsigned long end);
void __mmpath_mmap(struct mm_struct *mm, unsigned long start, unsigned long len);
void __mmpath_brk(struct mm_struct *mm, unsigned long start, unsigned long len);
void __mmpath_munmap(struct mm_struct *mm, unsigned long start, unsigned long len);
void __mmpath_mremap(struct mm_struct *mm, unsigned long from, unsigned long from_len,
		     unsigned long to, unsigned long to_len);
void __mmpath_inherit(struct mm_struct *mm, struct mm_struct *parent);
void __mmpath_exec(struct mm_struct *mm, struct mm_struct *old);
void __mmpath_exec_creds(struct mm_struct *mm);
void __mmpath_exit(struct mm_struct *mm);
bool __mmpath_skips_numa(struct mm_struct *mm);

static inline bool mmpath_on(void)
{
	return static_branch_unlikely(&mmpath_key);
}

/* mm_init(): the struct may be a copy of the parent's */
static inline void mmpath_mm_init(struct mm_struct *mm)
{
	RCU_INIT_POINTER(mm->mmpath, NULL);
}

/* Has @mm a context? A hint; it may change at once. */
static inline bool mmpath_tracked(struct mm_struct *mm)
{
	return mmpath_on() && rcu_access_pointer(mm->mmpath);
}

/* A fault on an inaccessible PTE: true if it was ours and is dealt with. */
static inline bool mmpath_hint_fault(struct vm_fault *vmf)
{
	return mmpath_on() && __mmpath_hint_fault(vmf);
}

static inline bool mmpath_hint_fault_pmd(struct vm_fault *vmf)
{
	return mmpath_on() && __mmpath_hint_fault_pmd(vmf);
}

/* The tail of handle_mm_fault(); @vma is only good if @ret says so, @mm always. */
static inline void mmpath_touched(struct mm_struct *mm, struct vm_area_struct *vma,
				  unsigned long address, unsigned int flags, vm_fault_t ret)
{
	if (mmpath_on() && !(ret & (VM_FAULT_ERROR | VM_FAULT_RETRY)))
		__mmpath_touched(mm, ret & VM_FAULT_COMPLETED ? NULL : vma, address, flags);
}

/*
 * A range of @vma is about to be unmapped, which stays. @vma is kept by mmap_lock, or by
 * i_mmap_rwsem and the mm may be anybody's. No spinlock is held.
 */
static inline void mmpath_zap(struct vm_area_struct *vma, unsigned long start,
			      unsigned long len, const struct zap_details *details)
{
	if (mmpath_on())
		__mmpath_zap(vma, start, len, details);
}

/*
 * What was in this range is not wanted any more; what is mapped there now counts as new.
 * mmap_lock or the lock of @vma is held.
 */
static inline void mmpath_discard(struct vm_area_struct *vma, unsigned long start,
				  unsigned long len)
{
	if (mmpath_on())
		__mmpath_discard(vma, start, len);
}

/* mmap_lock is held for writing in the next five. */
static inline void mmpath_mprotect(struct vm_area_struct *vma, unsigned long start,
				   unsigned long end)
{
	if (mmpath_on())
		__mmpath_mprotect(vma, start, end);
}

static inline void mmpath_mmap(struct mm_struct *mm, unsigned long start,
			       unsigned long len)
{
	if (mmpath_on())
		__mmpath_mmap(mm, start, len);
}

static inline void mmpath_brk(struct mm_struct *mm, unsigned long start,
			      unsigned long len)
{
	if (mmpath_on())
		__mmpath_brk(mm, start, len);
}

static inline void mmpath_munmap(struct mm_struct *mm, unsigned long start,
				 unsigned long len)
{
	if (mmpath_on())
		__mmpath_munmap(mm, start, len);
}

static inline void mmpath_mremap(struct mm_struct *mm, unsigned long from,
				 unsigned long from_len, unsigned long to,
				 unsigned long to_len)
{
	if (mmpath_on())
		__mmpath_mremap(mm, from, from_len, to, to_len);
}

/* fork: @mm is a copy, and nobody else knows it; may sleep */
static inline void mmpath_inherit(struct mm_struct *mm, struct mm_struct *parent)
{
	if (mmpath_on())
		__mmpath_inherit(mm, parent);
}

/* exec: the current task uses @mm from now on, and @old has a user still; may sleep */
static inline void mmpath_exec(struct mm_struct *mm, struct mm_struct *old)
{
	if (mmpath_on())
		__mmpath_exec(mm, old);
}

/* The credentials of an executed program are known; @mm is the current one. May sleep. */
static inline void mmpath_exec_creds(struct mm_struct *mm)
{
	if (mmpath_tracked(mm))
		__mmpath_exec_creds(mm);
}

/*
 * __mmput(): nobody can fault in @mm any more. Not behind the key: tracking may
 * have been switched off since the last user went.
 */
static inline void mmpath_exit(struct mm_struct *mm)
{
	if (unlikely(rcu_access_pointer(mm->mmpath)))
		__mmpath_exit(mm);
}

/* Would NUMA balancing of @mm and its driver take each other's PTEs for their own? */
static inline bool mmpath_skips_numa(struct mm_struct *mm)
{
	return mmpath_tracked(mm) && __mmpath_skips_numa(mm);
}

#else /* !CONFIG_MMPATH */

static inline void mmpath_mm_init(struct mm_struct *mm) { }

static inline bool mmpath_tracked(struct mm_struct *mm)
{
	return false;
}

static inline bool mmpath_hint_fault(struct vm_fault *vmf)
{
	return false;
}

static inline bool mmpath_hint_fault_pmd(struct vm_fault *vmf)
{
	return false;
}

static inline void mmpath_touched(struct mm_struct *mm, struct vm_area_struct *vma,
				  unsigned long address, unsigned int flags, vm_fault_t ret)
{
}

static inline void mmpath_zap(struct vm_area_struct *vma, unsigned long start,
			      unsigned long len, const struct zap_details *details)
{
}

/* A macro: an inline function would change the code of move_pages(). */
#define mmpath_discard(vma, start, len) \
	do { (void)(vma); (void)(start); (void)(len); } while (0)

static inline void mmpath_mprotect(struct vm_area_struct *vma, unsigned long start,
				   unsigned long end)
{
}

static inline void mmpath_mmap(struct mm_struct *mm, unsigned long start,
			       unsigned long len)
{
}

static inline void mmpath_brk(struct mm_struct *mm, unsigned long start,
			      unsigned long len)
{
}

static inline void mmpath_munmap(struct mm_struct *mm, unsigned long start,
				 unsigned long len)
{
}

static inline void mmpath_mremap(struct mm_struct *mm, unsigned long from,
				 unsigned long from_len, unsigned long to,
				 unsigned long to_len)
{
}

static inline void mmpath_inherit(struct mm_struct *mm, struct mm_struct *parent) { }
static inline void mmpath_exec(struct mm_struct *mm, struct mm_struct *old) { }
static inline void mmpath_exec_creds(struct mm_struct *mm) { }
static inline void mmpath_exit(struct mm_struct *mm) { }
static inline bool mmpath_skips_numa(struct mm_struct *mm)
{
	return false;
}

#endif /* CONFIG_MMPATH */

/* Only hardware wants to know what a CPU does. */
#ifdef CONFIG_MMPATH_DRV_VPATH
DECLARE_STATIC_KEY_FALSE(mmpath_hw_key);
void __mmpath_use_mm(struct mm_struct *mm);
void __mmpath_tick(struct task_struct *curr);

/*
 * This CPU uses @mm from now on, or no memory of a user (NULL). It is that of the
 * task that is running, or is about to.
 */
static inline void mmpath_use_mm(struct mm_struct *mm)
{
	if (static_branch_unlikely(&mmpath_hw_key))
		__mmpath_use_mm(mm);
}

/* The scheduler's tick, interrupts off; @curr is running */
static inline void mmpath_tick(struct task_struct *curr)
{
	if (static_branch_unlikely(&mmpath_hw_key))
		__mmpath_tick(curr);
}
#else
static inline void mmpath_use_mm(struct mm_struct *mm) { }
static inline void mmpath_tick(struct task_struct *curr) { }
#endif

#ifdef CONFIG_MMPATH_MEMCG
void __mmpath_memcg_attach(void);
void __mmpath_memcg_fork(struct task_struct *child);

/* The end of a cgroup. Not behind the key: what keeps it need not be tracked. */
void mmpath_memcg_offline(void);

static inline void mmpath_memcg_attach(void)
{
	if (mmpath_on())
		__mmpath_memcg_attach();
}

/* fork: @child is in its cgroup, and does not run yet */
static inline void mmpath_memcg_fork(struct task_struct *child)
{
	if (mmpath_on())
		__mmpath_memcg_fork(child);
}
#else
static inline void mmpath_memcg_attach(void) { }
static inline void mmpath_memcg_fork(struct task_struct *child) { }
static inline void mmpath_memcg_offline(void) { }
#endif

#ifdef CONFIG_MMPATH_BALANCE
DECLARE_STATIC_KEY_FALSE(mmpath_balance_key);
bool __mmpath_spares(struct mem_cgroup *target, struct mem_cgroup *memcg, int priority,
		     bool urgent);

static inline bool mmpath_balancing(void)
{
	return static_branch_unlikely(&mmpath_balance_key) && mmpath_on();
}

/*
 * Is reclaim in @target to leave @memcg alone, for others have more than they should, or
 * it would take too much at this @priority? Not if it is @urgent: they gave nothing. What
 * memory.low protects is not taken for that: reclaim itself passes it over before.
 */
static inline bool mmpath_spares(struct mem_cgroup *target, struct mem_cgroup *memcg,
				 int priority, bool urgent)
{
	return mmpath_balancing() && __mmpath_spares(target, memcg, priority, urgent);
}
#else
static inline bool mmpath_balancing(void)
{
	return false;
}

static inline bool mmpath_spares(struct mem_cgroup *target, struct mem_cgroup *memcg,
				 int priority, bool urgent)
{
	return false;
}
#endif

#ifdef CONFIG_MMPATH_REPLACE
DECLARE_STATIC_KEY_FALSE(mmpath_replace_key);

/* Is anybody asked for victims? */
static inline bool mmpath_replacing(void)
{
	return static_branch_unlikely(&mmpath_replace_key);
}

/*
 * Reclaim of @nr pages below @memcg (NULL: of all), in @zone or a lower one of its node:
 * adds to @reclaimed what was freed here. True if that is enough for now. @proactive: by
 * memory.reclaim, which is no pressure.
 */
bool mmpath_shrink_node(struct zone *zone, struct mem_cgroup *memcg, gfp_t gfp, int priority,
			bool proactive, unsigned long nr, unsigned long *reclaimed,
			unsigned long *scanned);
#else
static inline bool mmpath_replacing(void)
{
	return false;
}

static inline bool mmpath_shrink_node(struct zone *zone, struct mem_cgroup *memcg, gfp_t gfp,
				      int priority, bool proactive, unsigned long nr,
				      unsigned long *reclaimed, unsigned long *scanned)
{
	return false;
}
#endif

#endif /* _LINUX_MMPATH_H */
