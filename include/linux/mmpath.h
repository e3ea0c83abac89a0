/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hooks of page access tracking, see Documentation/mm/path/design.rst.
 *
 * Each hook is one call from code of the kernel. Configured out it is an empty
 * inline function. Compiled in and not enabled it is a patched-out jump.
 */
#ifndef _LINUX_MMPATH_H
#define _LINUX_MMPATH_H

#include <linux/jump_label.h>
#include <linux/mm_types.h>

struct file;
struct folio;
struct mem_cgroup;
struct mempolicy;
struct task_struct;
struct vm_fault;
struct xarray;
struct zap_details;
struct zone;

#ifdef CONFIG_MMPATH_PREFETCH
DECLARE_STATIC_KEY_FALSE(mmpath_prefetch_key);
struct folio *__mmpath_swapin(swp_entry_t entry, gfp_t gfp, struct mempolicy *mpol, pgoff_t ilx,
			      struct vm_fault *vmf);
void __mmpath_swap_hit(struct vm_area_struct *vma, unsigned long address, struct folio *folio);
void __mmpath_swap_again(struct vm_area_struct *vma, unsigned long address);
void __mmpath_swap_left(struct folio *folio, swp_entry_t entry, bool evicted);
struct folio *__mmpath_shmem_swapin(swp_entry_t entry, gfp_t gfp, struct vm_area_struct *vma,
				    pgoff_t index);
void __mmpath_shmem_hit(swp_entry_t entry, struct vm_area_struct *vma, pgoff_t index);
void __mmpath_shmem_wait(struct folio *folio, struct vm_area_struct *vma, pgoff_t index);
bool __mmpath_file_miss(struct vm_fault *vmf, struct file **fpin);
bool __mmpath_file_hit(struct vm_fault *vmf, struct folio *folio, struct file **fpin);
void __mmpath_file_again(unsigned long address, struct folio *folio);
void __mmpath_prefetch_exit(struct mm_struct *mm);
void mmpath_zswap(int type, struct xarray *trees);

static inline bool mmpath_prefetching(void)
{
	return static_branch_unlikely(&mmpath_prefetch_key);
}

/*
 * Read the page of a fault from swap, and others that will be missed soon. Returns the page, or
 * NULL if nothing is prefetched for the program, or the page cannot be read. May sleep.
 */
static inline struct folio *mmpath_swapin(swp_entry_t entry, gfp_t gfp, struct mempolicy *mpol,
					  pgoff_t ilx, struct vm_fault *vmf)
{
	return mmpath_prefetching() ? __mmpath_swapin(entry, gfp, mpol, ilx, vmf) : NULL;
}

/*
 * Note the use of a page that is in the swap cache: the first one if it was @ahead, that is read
 * ahead; else perhaps that of a fault that has waited for the page. @vma is NULL for shmem, and may
 * be of any mm. The page may not have been read yet. May sleep.
 */
static inline void mmpath_swap_hit(struct vm_area_struct *vma, unsigned long address,
				   struct folio *folio, bool ahead)
{
	if (!mmpath_prefetching())
		return;
	if (ahead)
		__mmpath_swap_hit(vma, address, folio);
	else if (vma)
		__mmpath_swap_again(vma, address);
}

/*
 * Note that a page leaves the swap cache, and with @shadow memory, too. The page and the tree of
 * the swap cache are locked.
 */
static inline void mmpath_swap_left(struct folio *folio, swp_entry_t entry, const void *shadow)
{
	if (mmpath_prefetching())
		__mmpath_swap_left(folio, entry, shadow);
}

/*
 * Read a page of shmem from swap for a fault, and others that will be missed soon. @vma is NULL
 * for read() and write(). Returns the page, or NULL as mmpath_swapin() does. May sleep.
 */
static inline struct folio *mmpath_shmem_swapin(swp_entry_t entry, gfp_t gfp,
						struct vm_area_struct *vma, pgoff_t index)
{
	return mmpath_prefetching() && vma ? __mmpath_shmem_swapin(entry, gfp, vma, index) : NULL;
}

/*
 * Note that a page of shmem is about to be used, if it is in the swap cache and was read ahead.
 * The caller holds the swap device. May sleep.
 */
static inline void mmpath_shmem_hit(swp_entry_t entry, struct vm_area_struct *vma, pgoff_t index)
{
	if (mmpath_prefetching() && vma)
		__mmpath_shmem_hit(entry, vma, index);
}

/* Note that a fault on shmem is about to wait for its page, if that is still read. May sleep. */
static inline void mmpath_shmem_wait(struct folio *folio, struct vm_area_struct *vma,
				     pgoff_t index)
{
	if (mmpath_prefetching() && vma)
		__mmpath_shmem_wait(folio, vma, index);
}

/*
 * Must the kernel not read around the page of a fault, because this would be of no use? Pages that
 * will be missed soon are being read then. May give up the lock of the VMA: then *@fpin is its
 * file. May sleep.
 */
static inline bool mmpath_file_miss(struct vm_fault *vmf, struct file **fpin)
{
	return mmpath_prefetching() && __mmpath_file_miss(vmf, fpin);
}

/*
 * Note the use of a page of a file that has PG_readahead. Returns whether it was read ahead for us,
 * and the kernel must not read on. The flag is clear then. *@fpin as above. May sleep.
 */
static inline bool mmpath_file_hit(struct vm_fault *vmf, struct folio *folio, struct file **fpin)
{
	return mmpath_prefetching() && __mmpath_file_hit(vmf, folio, fpin);
}

/*
 * Note that a fault on a page of a file is begun again. With @fpin it had given up the lock of the
 * VMA, and has waited for the page, which is @folio or could not be had.
 */
static inline void mmpath_file_again(unsigned long address, const struct file *fpin,
				     struct folio *folio)
{
	if (mmpath_prefetching() && fpin)
		__mmpath_file_again(address, folio);
}

/* Forget what was foreseen for @mm, in __mmput(). */
static inline void mmpath_prefetch_exit(struct mm_struct *mm)
{
	if (mmpath_prefetching())
		__mmpath_prefetch_exit(mm);
}
#else
/* Macros: inline functions would change the code of their callers. */
#define mmpath_swapin(...)		((struct folio *)NULL)
#define mmpath_shmem_swapin(...)	((struct folio *)NULL)
#define mmpath_file_miss(...)		false
#define mmpath_file_hit(...)		false
#define mmpath_file_again(...)		do { } while (0)
#define mmpath_shmem_wait(...)		do { } while (0)

static inline void mmpath_swap_hit(struct vm_area_struct *vma, unsigned long address,
				   struct folio *folio, bool ahead)
{
}

static inline void mmpath_swap_left(struct folio *folio, swp_entry_t entry, const void *shadow)
{
}

static inline void mmpath_shmem_hit(swp_entry_t entry, struct vm_area_struct *vma, pgoff_t index)
{
}

static inline void mmpath_prefetch_exit(struct mm_struct *mm) { }
static inline void mmpath_zswap(int type, struct xarray *trees) { }
#endif

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

/* Clear the context of a new mm, which may be a copy of the parent's mm. For mm_init(). */
static inline void mmpath_mm_init(struct mm_struct *mm)
{
	RCU_INIT_POINTER(mm->mmpath, NULL);
}

/* Has @mm a context? This is a hint: it may change at any time. */
static inline bool mmpath_tracked(struct mm_struct *mm)
{
	return mmpath_on() && rcu_access_pointer(mm->mmpath);
}

/* Handle a fault on an inaccessible PTE. Returns whether the entry was the driver's. */
static inline bool mmpath_hint_fault(struct vm_fault *vmf)
{
	return mmpath_on() && __mmpath_hint_fault(vmf);
}

/* Handle a fault on an inaccessible PMD in the same way. */
static inline bool mmpath_hint_fault_pmd(struct vm_fault *vmf)
{
	return mmpath_on() && __mmpath_hint_fault_pmd(vmf);
}

/*
 * Note that a page was touched, at the end of handle_mm_fault(). @vma is not used if @ret tells
 * that it may have gone. The caller keeps @mm.
 */
static inline void mmpath_touched(struct mm_struct *mm, struct vm_area_struct *vma,
				  unsigned long address, unsigned int flags, vm_fault_t ret)
{
	if (mmpath_on() && !(ret & (VM_FAULT_ERROR | VM_FAULT_RETRY)))
		__mmpath_touched(mm, ret & VM_FAULT_COMPLETED ? NULL : vma, address, flags);
}

/*
 * Note that pages of @vma are about to be zapped, and @vma stays. mmap_lock keeps @vma; or
 * i_mmap_rwsem does, and it may be of any mm. No spinlock is held.
 */
static inline void mmpath_zap(struct vm_area_struct *vma, unsigned long start,
			      unsigned long len, const struct zap_details *details)
{
	if (mmpath_on())
		__mmpath_zap(vma, start, len, details);
}

/*
 * Note that the contents of a range were discarded. Pages that are mapped there now count as
 * new. mmap_lock or the lock of @vma is held.
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

/* Let a child inherit tracking, in fork. No other task knows @mm, the copy, yet. May sleep. */
static inline void mmpath_inherit(struct mm_struct *mm, struct mm_struct *parent)
{
	if (mmpath_on())
		__mmpath_inherit(mm, parent);
}

/*
 * Let an executed program inherit tracking. The current task uses @mm from now on, and @old still
 * has a user. May sleep.
 */
static inline void mmpath_exec(struct mm_struct *mm, struct mm_struct *old)
{
	if (mmpath_on())
		__mmpath_exec(mm, old);
}

/* Note that the credentials of an executed program are known. @mm is current->mm. May sleep. */
static inline void mmpath_exec_creds(struct mm_struct *mm)
{
	if (mmpath_tracked(mm))
		__mmpath_exec_creds(mm);
}

/*
 * Drop the context of @mm, in __mmput(): no task can fault in @mm any more. This is not behind
 * the key, because tracking may have been switched off since the last user went.
 */
static inline void mmpath_exit(struct mm_struct *mm)
{
	if (unlikely(rcu_access_pointer(mm->mmpath)))
		__mmpath_exit(mm);
	mmpath_prefetch_exit(mm);
}

/* Must NUMA balancing skip @mm, because the driver makes PTEs inaccessible in the same way? */
static inline bool mmpath_skips_numa(struct mm_struct *mm)
{
	return mmpath_tracked(mm) && __mmpath_skips_numa(mm);
}

void __mmpath_memcg_attach(void);
void __mmpath_memcg_fork(struct task_struct *child);

/* Note the end of a cgroup. Not behind the key: references may be held without tracking. */
void mmpath_memcg_offline(void);

static inline void mmpath_memcg_attach(void)
{
	if (mmpath_on())
		__mmpath_memcg_attach();
}

/* Note that @child, which does not run yet, is in its cgroup, at the end of fork. */
static inline void mmpath_memcg_fork(struct task_struct *child)
{
	if (mmpath_on())
		__mmpath_memcg_fork(child);
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

static inline void mmpath_memcg_attach(void) { }
static inline void mmpath_memcg_fork(struct task_struct *child) { }
static inline void mmpath_memcg_offline(void) { }

#endif /* CONFIG_MMPATH */

/* Only hardware has to know which mm a CPU uses. */
#ifdef CONFIG_MMPATH_DRV_VPATH
DECLARE_STATIC_KEY_FALSE(mmpath_hw_key);
void __mmpath_use_mm(struct mm_struct *mm);
void __mmpath_tick(struct task_struct *curr);

/*
 * Note that this CPU uses @mm from now on, or no user memory (NULL). @mm is that of the task that
 * runs, or is about to run.
 */
static inline void mmpath_use_mm(struct mm_struct *mm)
{
	if (static_branch_unlikely(&mmpath_hw_key))
		__mmpath_use_mm(mm);
}

/* Look at the log of this CPU, in the scheduler's tick. @curr runs. Interrupts are off. */
static inline void mmpath_tick(struct task_struct *curr)
{
	if (static_branch_unlikely(&mmpath_hw_key))
		__mmpath_tick(curr);
}
#else
static inline void mmpath_use_mm(struct mm_struct *mm) { }
static inline void mmpath_tick(struct task_struct *curr) { }
#endif

#ifdef CONFIG_MMPATH_BALANCE
DECLARE_STATIC_KEY_FALSE(mmpath_balance_key);
bool __mmpath_skips(struct mem_cgroup *target, struct mem_cgroup *memcg, int priority,
		    bool urgent);

static inline bool mmpath_balancing(void)
{
	return static_branch_unlikely(&mmpath_balance_key) && mmpath_on();
}

/*
 * Must reclaim in @target skip @memcg? It must if other cgroups are further above their targets,
 * or if it would take too much from @memcg at this @priority. It need not if it is @urgent: the
 * others gave nothing. Cgroups that memory.low protects were skipped before by reclaim itself.
 */
static inline bool mmpath_skips(struct mem_cgroup *target, struct mem_cgroup *memcg,
				int priority, bool urgent)
{
	return mmpath_balancing() && __mmpath_skips(target, memcg, priority, urgent);
}
#else
static inline bool mmpath_balancing(void)
{
	return false;
}

static inline bool mmpath_skips(struct mem_cgroup *target, struct mem_cgroup *memcg,
				int priority, bool urgent)
{
	return false;
}
#endif

#ifdef CONFIG_MMPATH_REPLACE
DECLARE_STATIC_KEY_FALSE(mmpath_replace_key);

/* Has any cgroup a replacement policy? */
static inline bool mmpath_replacing(void)
{
	return static_branch_unlikely(&mmpath_replace_key);
}

/*
 * Reclaim victims that policies have chosen. Reclaim wants @nr pages of @memcg and its
 * descendants (NULL: of all cgroups), in @zone or a lower one of its node. @proactive: it is by
 * memory.reclaim, which is no pressure. Adds to @reclaimed and @scanned. Returns whether enough
 * pages were freed for now.
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
