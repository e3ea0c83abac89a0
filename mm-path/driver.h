/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What drivers and the core know of each other: a driver hands records to the core, and the
 * core keeps the contexts they belong to. A driver includes no other header of the core.
 */
#ifndef _MM_PATH_DRIVER_H
#define _MM_PATH_DRIVER_H

#include <linux/mm.h>
#include <linux/mmpath.h>
#include <linux/mmpath_sample.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/slab.h>

/*
 * A record is the address of the page, and in the bits below it the order of
 * the mapping, whether the access was a write, and whether the page has been in the
 * page access buffer since it was recorded last.
 */
#define MMPATH_RECORD_WRITE	1UL
#define MMPATH_RECORD_ORDER	1	/* shift; 5 bits */
#define MMPATH_RECORD_AGAIN	(1UL << 8)

static inline unsigned long mmpath_record(unsigned long addr, unsigned int order,
					  bool write)
{
	BUILD_BUG_ON(MMPATH_RECORD_ORDER + 5 > PAGE_SHIFT);
	return (addr & (PAGE_MASK << order)) | order << MMPATH_RECORD_ORDER | write;
}

static inline unsigned int mmpath_record_order(unsigned long record)
{
	return record >> MMPATH_RECORD_ORDER & 31;
}

/*
 * As mm_find_pmd(); but of what a device has mapped by 1 GiB at once there is none, where that
 * takes the first page for a table.
 */
static inline pmd_t *mmpath_find_pmd(struct mm_struct *mm, unsigned long addr)
{
	pgd_t *pgd = pgd_offset(mm, addr);
	p4d_t *p4d;
	pud_t *pud;

	if (!pgd_present(*pgd))
		return NULL;
	p4d = p4d_offset(pgd, addr);
	if (!p4d_present(*p4d))
		return NULL;
	pud = pud_offset(p4d, addr);
	return pud_present(*pud) && !pud_leaf(*pud) ? pmd_offset(pud, addr) : NULL;
}

/*
 * All memory of ours is charged: that of a context to the cgroup of its program, that of a
 * domain to the cgroup that is tracked, or to whoever opened the session. What may wait for
 * reclaim fails rather than to have a program killed.
 */
#define MMPATH_GFP		(GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)
/* also in reclaim, which leaves the last pages to those that free others by them */
#define MMPATH_GFP_NOWAIT	(GFP_NOWAIT | __GFP_ACCOUNT | __GFP_NOWARN | __GFP_NOMEMALLOC)
/*
 * With mmpath_mutex held: all forks of tracked programs want that. Reclaim of one cgroup, and
 * being throttled for memory.high, must not take place there. The charge is made, if need be
 * beyond the limit, and the next one pays for it.
 */
#define MMPATH_GFP_ATTACH	(MMPATH_GFP_NOWAIT | __GFP_HIGH)

/* Zeroed, for a program that is being attached. What is large may have to wait. */
static inline void *mmpath_attach_alloc(size_t n, size_t size)
{
	return kcalloc(n, size, MMPATH_GFP_ATTACH) ?: kvcalloc(n, size, MMPATH_GFP);
}

/* Totals since boot; names are files in stats/, see sysfs.c */
enum mmpath_stat {
	MMPATH_RECORDS,
	MMPATH_FAULTS,
	MMPATH_DROPPED_LOG_FULL,
	MMPATH_DROPPED_NOMEM,
	MMPATH_REGIONS_FULL,
	MMPATH_ATTACH_FAILED,
	MMPATH_DRIVER_SWITCHES,
	MMPATH_SCANNED,
	MMPATH_ESCAPED,
	MMPATH_DRIVER_LOST,
	NR_MMPATH_STATS,
};

DECLARE_PER_CPU(unsigned long [NR_MMPATH_STATS], mmpath_stats);

/**
 * struct mmpath_drv_ctx - what a driver knows of a context
 * @mm: pinned by mmgrab(); for its page tables take a user, or ctx->alive
 * @drv_data: private data of the driver
 * @shift: one page in 2^shift is tracked, see mmpath_sampled() and mmpath_set_shift()
 * @pab_reach: pages that the driver filters out
 * @number: number of the context in hardware, 0 if it has none
 * @resting: the driver logs nothing for now, to save cost
 * @blind: the context rests so often that nobody can tell which of its pages are in use
 * @hook_ns: CPU time spent in the touched hook
 * @fed: sampled pages of all records that were drained
 * @accesses: accesses that hardware has counted since that was taken last
 * @unseen: accesses were counted that are in no record, so @accesses tell more
 * @stat: as mmpath_stats, of this context
 * @cost_ns: CPU time that tracking has cost the program
 * @own_ns: CPU time of the program without that cost
 * @worker_ns: CPU time that the worker has spent on the program, beside it
 *
 * It is a part of struct mmpath_ctx (core.h), and lives as long.
 */
struct mmpath_drv_ctx {
	struct mm_struct *mm;
	void *drv_data;
	unsigned int shift;
	unsigned long pab_reach;
	u32 number;
	bool resting, blind;
	atomic64_t hook_ns;
	u64 fed;
	atomic64_t accesses;
	unsigned int unseen;
	atomic_long_t stat[NR_MMPATH_STATS];
	u64 cost_ns, own_ns;
	atomic64_t worker_ns;
};

static inline void mmpath_count(struct mmpath_drv_ctx *ctx, enum mmpath_stat what, long n)
{
	atomic_long_add(n, &ctx->stat[what]);
	this_cpu_add(mmpath_stats[what], n);
}

/* What a driver delivers */
#define MMPATH_CAP_COMPLETE	BIT(0)	/* every access that passes the filter */
#define MMPATH_CAP_SAMPLED	BIT(1)	/* can track a part of the pages */
#define MMPATH_CAP_BURST	BIT(2)	/* tracks for a while, then pauses */
#define MMPATH_CAP_HARDWARE	BIT(3)
#define MMPATH_CAP_SOFTWARE	BIT(4)

/**
 * struct mmpath_param - a parameter of a driver, a file in drivers/<name>/
 * @name: of the file
 * @val: its value
 * @min: smallest value that is taken
 * @max: largest
 * @pow2: powers of two only
 */
struct mmpath_param {
	const char *name;
	unsigned long val, min, max;
	bool pow2;
};

/**
 * struct mmpath_counter - a counter of a driver, a file in drivers/<name>/
 * @name: of the file
 * @offset: the driver's
 */
struct mmpath_counter {
	const char *name;
	unsigned int offset;
};

/**
 * struct mmpath_driver - a source of page accesses
 * @name: for people
 * @caps: MMPATH_CAP_*
 * @params: its parameters, ends with a nameless one; may be NULL
 * @check: are the parameters good together? Called with a new value in place,
 *	which is taken back if not. May be absent.
 * @counters: what it counts, ends with a nameless one; may be NULL
 * @read_counter: value of one of them; may sleep
 * @log_entries: size of a context's log, a power of two
 * @start: it is to be the driver in use: switch hardware on and take over the
 *	parameters, also when it was in use before. Called with mmpath_mutex;
 *	may sleep. May be absent. On error all is as before.
 * @stop: it is not the driver in use any more, and has no contexts. May be absent.
 * @attach: get ready for @ctx: allocate drv_data, set shift, pab_reach. Called
 *	with mmpath_mutex; may sleep. The hooks may be called from then on.
 *	On error nothing is left behind.
 * @detach: undo attach(). @mm is the mm with a user held, to give pages back
 *	in, or NULL when it is exiting. No hook is running or will be. May
 *	sleep. Runs under ctx->alive.
 * @scan: bring the page tables into line with what is tracked: soon after attach(),
 *	after every begin() and every early epoch(). But a child that was just forked is
 *	not scanned before the epoch ends. Under ctx->alive; takes mmap_lock with
 *	mmpath_mmap_trylock(), lets it go now and then, and goes on the next time where
 *	it could not have it. May be absent.
 * @clean: @mm was copied from a tracked mm and is not tracked itself: undo
 *	what was inherited. Nobody else knows @mm. May be absent.
 * @epoch: called at the end of each epoch, to control the cost. May change
 *	shift through mmpath_set_shift() and call mmpath_end_burst() and
 *	mmpath_saw(). @early: not at the end, but because of mmpath_kick().
 *	May be absent.
 * @begin: the epoch is over for all contexts and domains: what is logged from now on is
 *	counted in the next. Under ctx->alive; may not change shift. May be absent.
 * @hint_fault: a fault on an inaccessible PTE; true when dealt with and the
 *	PTE unlocked and unmapped. Under SRCU, as all that follow; a VMA lock or
 *	mmap_lock is held. May be preempted, but must not wait for a mutex or for memory.
 * @hint_fault_pmd: the same for a huge page
 * @touched: a page was touched: log it, unless it is hot. @hint: after a
 *	hint_fault(), which gave access to that page alone; if not, the kernel
 *	may have mapped others with it.
 * @inject: a recorded access; may sleep. May be absent.
 * @drain: hardware that holds records back: log them now, of all contexts. May
 *	sleep; any lock outside ctx->lock may be held. May be absent.
 * @use_context: this CPU runs this context from now on (see number, shift, resting), or
 *	none (NULL). Interrupts are off, the scheduler's locks may be held. May be absent.
 * @tick: of the scheduler, in its interrupt; the task is running. May be absent.
 * @find_hot: which of @nr pages (numbers in the low MMPATH_VPN_BITS) are in the buffer of
 *	those used last; sets .hot of those, the others are false. May sleep. May be absent.
 * @mprotect: entries in this range have become accessible, or are of pages that were forgotten.
 *	mmap_lock or the lock of the VMA is held. May be absent.
 * @forget: @nr pages from number @first on were unmapped or thrown away: they are in no buffer
 *	any more. From a hook of the mm, which has a user; must not sleep. May be absent.
 */
struct mmpath_driver {
	const char *name;
	unsigned int caps;
	struct mmpath_param *params;
	bool (*check)(void);
	const struct mmpath_counter *counters;
	u64 (*read_counter)(const struct mmpath_counter *counter);
	unsigned int (*log_entries)(void);
	int (*start)(void);
	void (*stop)(void);
	int (*attach)(struct mmpath_drv_ctx *ctx);
	void (*detach)(struct mmpath_drv_ctx *ctx, struct mm_struct *mm);
	void (*scan)(struct mmpath_drv_ctx *ctx, struct mm_struct *mm);
	void (*clean)(struct mm_struct *mm);
	void (*epoch)(struct mmpath_drv_ctx *ctx, struct mm_struct *mm, bool early);
	void (*begin)(struct mmpath_drv_ctx *ctx, struct mm_struct *mm);
	bool (*hint_fault)(struct mmpath_drv_ctx *ctx, struct vm_fault *vmf);
	bool (*hint_fault_pmd)(struct mmpath_drv_ctx *ctx, struct vm_fault *vmf);
	void (*touched)(struct mmpath_drv_ctx *ctx, struct vm_area_struct *vma,
			unsigned long address, unsigned int flags, bool hint);
	void (*find_hot)(struct mmpath_drv_ctx *ctx, const u64 *page, unsigned int nr, bool *hot);
	void (*mprotect)(struct mmpath_drv_ctx *ctx, struct vm_area_struct *vma,
			 unsigned long start, unsigned long end);
	void (*forget)(struct mmpath_drv_ctx *ctx, u64 first, u64 nr);
	void (*inject)(struct mmpath_drv_ctx *ctx, unsigned long record);
	void (*drain)(void);
	void (*use_context)(const struct mmpath_drv_ctx *ctx);
	void (*tick)(struct task_struct *curr);
	/* private: in mmpath_drivers, under mmpath_mutex */
	struct list_head node;
};

/* Set through the user interface; plain values, read with READ_ONCE() */
struct mmpath_config {
	unsigned int epoch_ms;
	unsigned long region_min_kb;
	unsigned int group_pages;
	unsigned long sample_pages;
};

extern struct mmpath_config mmpath_config;
extern struct mutex mmpath_mutex;

/* driver.c */
void mmpath_register_driver(struct mmpath_driver *drv);
void mmpath_driver_lost(const struct mmpath_driver *drv);

/* context.c */
bool mmpath_mmap_trylock(struct mm_struct *mm);
void mmpath_charged(struct mem_cgroup *memcg);

/* epoch.c */
void mmpath_end_burst(struct mmpath_drv_ctx *ctx);
void mmpath_saw(struct mmpath_drv_ctx *ctx, u64 all_ns, u64 part_ns);
void mmpath_kick(struct mmpath_drv_ctx *ctx);

/* drain.c */
void mmpath_log(struct mmpath_drv_ctx *ctx, unsigned long record);
void mmpath_feed_batch(struct mmpath_drv_ctx *ctx, const unsigned long *records, unsigned int nr);

/* sample.c */
void mmpath_set_shift(struct mmpath_drv_ctx *ctx, unsigned int shift);
void mmpath_coarsen(struct mmpath_drv_ctx *ctx, unsigned int shift);
bool mmpath_has_policy(const struct mmpath_drv_ctx *ctx);
bool mmpath_policy_acts(const struct mmpath_drv_ctx *ctx);

/* trap.c */
u64 mmpath_trap_ns(void);
bool mmpath_trap_probes(unsigned int flags);

/* hooks.c */
u64 mmpath_cpu_ns(struct mm_struct *mm);
bool mmpath_is_idle(struct mm_struct *mm, u64 cpu_ns);
unsigned long mmpath_major_faults(struct mm_struct *mm);

/* domain.c */
unsigned int mmpath_permille(u64 cost_ns, u64 own_ns);

#endif /* _MM_PATH_DRIVER_H */
