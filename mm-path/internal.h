/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the floors of page access tracking know of each other: drivers hand
 * records to the core, the core keeps contexts and feeds the models, the user
 * interface reads both.
 */
#ifndef _MM_PATH_INTERNAL_H
#define _MM_PATH_INTERNAL_H

#include <linux/kfifo.h>
#include <linux/kref.h>
#include <linux/maple_tree.h>
#include <linux/mm.h>
#include <linux/mmpath.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/srcu.h>
#include <linux/wait.h>
#include <linux/xarray.h>
#include <uapi/linux/mmpath.h>
#include "model.h"

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
#define MMPATH_GFP_NOWAIT	(GFP_NOWAIT | __GFP_ACCOUNT | __GFP_NOWARN)
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

extern atomic_long_t mmpath_stats[NR_MMPATH_STATS];
extern const char * const mmpath_stat_names[NR_MMPATH_STATS];

#define MMPATH_MAX_DOMAINS	4

/* The first is a part of one, and in the next the driver finds out what it may cost. */
#define MMPATH_SETTLING_EPOCHS	2U

#define MMPATH_RECORDER_EVENTS	65536U

/**
 * struct mmpath_recorder - accesses on their way to a reader
 * @fifo: written under the domain's lock, read under @lock
 * @events: its buffer
 * @lost: did not fit since the last that did
 * @trusted: the reader may see addresses of privileged programs too
 * @pid_ns: of the reader
 * @wait: readers
 * @lock: of readers
 */
struct mmpath_recorder {
	DECLARE_KFIFO_PTR(fifo, struct mmpath_event);
	struct mmpath_event *events;
	u64 lost;
	bool trusted;
	struct pid_namespace *pid_ns;
	wait_queue_head_t wait;
	struct mutex lock;	/* of readers only */
};

/**
 * struct mmpath_domain - who asked for tracking, and gets a merged curve
 * @ref: members hold one, and the owner
 * @dead: takes no members any more; under mmpath_mutex
 * @node: in the list of domains, under mmpath_mutex
 * @lock: protects all below; nests inside a context's lock
 * @mem: what the stack and the curve were allocated from
 * @gfp: how: MMPATH_GFP_NOWAIT once there are members
 * @memcg: what it is charged to; has a reference
 * @lru: the merged stack of the members; pages are mmpath_name_of() and page number
 * @names: of parents, and how many children have them
 * @mrc: its curve
 * @resumed: a burst of a member has ended since the reset
 * @lirs: which of them are in memory; NULL if nobody wants to know
 * @contest: which policy would miss least; NULL likewise, and without @lirs
 * @pools: memory of each region; NULL likewise
 * @replacer: who wants to, see replace.c
 * @nr_members: contexts in it
 * @left: its last member has left it
 * @session: of /dev/mmpath
 * @restricted: for somebody who may only know of programs that can be dumped
 * @seen: how much of this epoch was counted
 * @unseen: epochs of which nothing was
 * @recorder: of accesses, NULL until asked for
 * @footprint: the most the stack held, pages
 * @reach: what drivers filtered out, pages
 * @stat: statistics of contexts that have gone
 * @cost_ns: theirs too
 * @own_ns: likewise
 */
struct mmpath_domain {
	struct kref ref;
	bool dead;
	struct list_head node;
	struct mutex lock;	/* see core.c */
	struct mmpath_mem mem;
	gfp_t gfp;
	struct mem_cgroup *memcg;
	struct mmpath_stack lru;
	struct xarray names;
	struct mmpath_mrc mrc;
	bool resumed;
	struct mmpath_lirs *lirs;
	struct mmpath_contest *contest;
	struct mmpath_pools *pools;
	struct mmpath_replacer *replacer;
	int nr_members;
	bool left, session, restricted;
	struct mmpath_seen seen;
	struct mmpath_unseen unseen;
	struct mmpath_recorder *recorder;
	u64 footprint;
	unsigned long reach;
	unsigned long stat[NR_MMPATH_STATS];
	u64 cost_ns, own_ns;
};

/**
 * struct mmpath_name - of pages in merged stacks, see name.c
 * @ref: its context holds one, and those of its children
 * @id: of the context, which may have gone
 * @depth: generations above
 * @lent: a child has had it
 * @parent: the name of the parent's, or NULL
 */
struct mmpath_name {
	struct kref ref;
	u32 id;
	unsigned int depth;
	bool lent;
	struct mmpath_name *parent;
};

/**
 * struct mmpath_ctx - the context of one tracked mm
 * @ref: readers and workers hold one; the mm another until it is detached
 * @id: key in the table of contexts; never 0
 * @mm: pinned by mmgrab(); page tables only with mmget_not_zero(), or @alive
 * @alive: held, and the context not gone: nor does the mm go (core.c)
 * @pid: of the owner when it was attached, for tracepoints
 * @tgid: the same in all namespaces; under @lock
 * @node: in a list of contexts that end or change their driver, under mmpath_track_mutex
 * @drv: the driver, NULL between two
 * @old_drv: the one that it loses
 * @drv_data: the driver's
 * @shift: one page in 2^shift is tracked (see mmpath_sampled()); curves may be of
 *	fewer (regions.params.shift)
 * @pab_reach: pages the driver filters out, for people to read
 * @number: what the hardware knows the context by, 0 if it does not
 * @resting: and logs nothing for now, to cost less
 * @blind: it rests so often that nobody can tell which of its pages are in use
 * @log_lock: protects @log_head and the log's contents at it; innermost
 * @log: ring of @log_size records
 * @log_size: a power of two
 * @log_head: where the next record goes
 * @log_tail: the oldest record that was not drained
 * @log_pages: sampled pages that records stand for which were not drained
 * @name: of its own pages
 * @name_lock: protects what follows up to @spot; innermost
 * @heir: id that all pages have which are not in @named; 0: that of its own
 * @named: ids of ranges of pages
 * @islands: ranges of its own that were put there, apart from others
 * @spot: the range that was found last there
 * @lock: protects what follows, and @log_tail
 * @mem: what the models were allocated from
 * @gfp: how: MMPATH_GFP_NOWAIT once it is attached
 * @regions: regions and their models
 * @domains: whose merged curve this context is in, in order of address; also
 *	changed under mmpath_mutex only
 * @nr_domains: how many
 * @leaving: all of them, for good
 * @kicked: mmpath_kick() was called
 * @attached: the driver has not scanned it yet
 * @hook_ns: spent in the touched hook
 * @fed: pages that records stood for, as many as were in the sample
 * @accesses: that a driver has counted which knows of those that it does not deliver
 * @unseen: there were such, so @accesses say more than the records
 * @stat: like mmpath_stats, of this context
 * @seen: of this epoch, see mmpath_saw()
 * @cost_ns: what tracking has cost so far
 * @own_ns: CPU time of the program in that time, without the cost
 * @epochs: that have ended since it was attached, as long as they are few
 * @epoch_cost_ns: @cost_ns of the last epoch
 * @epoch_own_ns: likewise
 * @records_per_sec: in the last epoch
 * @epoch_records: records when the epoch began
 * @epoch_began: when that was
 * @rcu: for readers of the table of contexts
 */
struct mmpath_ctx {
	struct kref ref;
	u32 id;
	struct mm_struct *mm;
	struct mutex alive;	/* see core.c */
	pid_t pid;
	struct pid *tgid;
	struct list_head node;
	const struct mmpath_driver *drv, *old_drv;
	void *drv_data;
	unsigned int shift;
	unsigned long pab_reach;
	u32 number;
	bool resting, blind;
	bool kicked, attached;
	atomic64_t hook_ns;
	u64 fed;
	atomic64_t accesses;
	unsigned int unseen;

	spinlock_t log_lock;	/* see core.c */
	unsigned long *log;
	unsigned int log_size;
	unsigned int log_head;
	unsigned int log_tail;
	unsigned int log_pages;

	struct mmpath_name *name;
	spinlock_t name_lock;	/* see core.c */
	u32 heir;
	struct maple_tree named;
	unsigned int islands;
	struct {
		u64 first, nr;
		u32 id;
	} spot;

	struct mutex lock;	/* see core.c */
	struct mmpath_mem mem;
	gfp_t gfp;
	struct mmpath_regions regions;
	struct mmpath_domain *domains[MMPATH_MAX_DOMAINS];
	int nr_domains;
	bool leaving;
	atomic_long_t stat[NR_MMPATH_STATS];
	struct mmpath_seen seen;
	u64 cost_ns, own_ns;
	unsigned int epochs;
	u64 epoch_cost_ns, epoch_own_ns;
	unsigned long records_per_sec;
	unsigned long epoch_records;
	u64 epoch_began;
	struct rcu_head rcu;
};

static inline void mmpath_count(struct mmpath_ctx *ctx, enum mmpath_stat what, long n)
{
	atomic_long_add(n, &ctx->stat[what]);
	atomic_long_add(n, &mmpath_stats[what]);
}

/* What mmpath_regions_map() and the like could not do: the mapping has no region of its own. */
static inline void mmpath_count_map_error(struct mmpath_ctx *ctx, int err)
{
	if (err)
		mmpath_count(ctx, err == -ENOSPC ? MMPATH_REGIONS_FULL : MMPATH_DROPPED_NOMEM, 1);
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
	int (*attach)(struct mmpath_ctx *ctx);
	void (*detach)(struct mmpath_ctx *ctx, struct mm_struct *mm);
	void (*scan)(struct mmpath_ctx *ctx, struct mm_struct *mm);
	void (*clean)(struct mm_struct *mm);
	void (*epoch)(struct mmpath_ctx *ctx, struct mm_struct *mm, bool early);
	void (*begin)(struct mmpath_ctx *ctx, struct mm_struct *mm);
	bool (*hint_fault)(struct mmpath_ctx *ctx, struct vm_fault *vmf);
	bool (*hint_fault_pmd)(struct mmpath_ctx *ctx, struct vm_fault *vmf);
	void (*touched)(struct mmpath_ctx *ctx, struct vm_area_struct *vma,
			unsigned long address, unsigned int flags, bool hint);
	void (*find_hot)(struct mmpath_ctx *ctx, const u64 *page, unsigned int nr, bool *hot);
	void (*mprotect)(struct mmpath_ctx *ctx, struct vm_area_struct *vma,
			 unsigned long start, unsigned long end);
	void (*forget)(struct mmpath_ctx *ctx, u64 first, u64 nr);
	void (*inject)(struct mmpath_ctx *ctx, unsigned long record);
	void (*drain)(void);
	void (*use_context)(const struct mmpath_ctx *ctx);
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
extern struct list_head mmpath_drivers;
extern struct list_head mmpath_domains;
extern struct srcu_struct mmpath_srcu;
void mmpath_find_hot(struct mmpath_ctx *ctx, const u64 *page, unsigned int nr, bool *hot);
void *mmpath_model_alloc(struct mem_cgroup *memcg, size_t bytes, gfp_t gfp);
void mmpath_model_free(struct mmpath_mem *mem, void *p, size_t bytes);

/* core.c, for drivers */
void mmpath_register_driver(struct mmpath_driver *drv);
void mmpath_end_burst(struct mmpath_ctx *ctx);
void mmpath_saw(struct mmpath_ctx *ctx, const struct mmpath_seen *seen);
bool mmpath_mmap_trylock(struct mm_struct *mm);
void mmpath_kick(struct mmpath_ctx *ctx);
void mmpath_finish_scans(void);
void mmpath_driver_lost(const struct mmpath_driver *drv);

/* core.c, for the user interface */
int mmpath_set_enabled(bool on);
void mmpath_set_epoch_ms(unsigned int ms);
int mmpath_set_driver(const char *name);
const struct mmpath_driver *mmpath_driver(void);
int mmpath_set_param(struct mmpath_driver *drv, struct mmpath_param *param,
		     unsigned long val);
void mmpath_on_sync(void (*fn)(void));
void mmpath_on_epoch(void (*fn)(void));
void mmpath_request_sync(void);

#ifdef CONFIG_MMPATH_MEMCG
void mmpath_memcg_exec(struct mm_struct *old);
#else
static inline void mmpath_memcg_exec(struct mm_struct *old) { }
#endif

int mmpath_track(struct mm_struct *mm, struct mmpath_domain *dom);
void mmpath_untrack(struct mmpath_ctx *ctx, struct mmpath_domain *dom);
bool mmpath_ctx_in(const struct mmpath_ctx *ctx, const struct mmpath_domain *dom);
struct mmpath_ctx *mmpath_ctx_get(struct mm_struct *mm);
struct mmpath_ctx *mmpath_ctx_next(unsigned long *id);
struct mmpath_ctx *mmpath_ctx_by_id(u32 id);
bool mmpath_ctx_id_in(u32 id, const struct mmpath_domain *dom);
void mmpath_ctx_id_free(u32 id);
void mmpath_ctx_put(struct mmpath_ctx *ctx);
void mmpath_untrack_all(struct mmpath_domain *dom);
void mmpath_find_pid(struct mmpath_ctx *ctx);

/* sample.c */
#define MMPATH_CURVE_PAGES	256U	/* enough for a curve, beside a policy */

void mmpath_set_shift(struct mmpath_ctx *ctx, unsigned int shift);
void __mmpath_set_shift(struct mmpath_ctx *ctx, unsigned int shift);
void mmpath_coarsen(struct mmpath_ctx *ctx, unsigned int shift);
void mmpath_coarsen_curves(struct mmpath_ctx *ctx);
bool mmpath_ctx_has_policy(const struct mmpath_ctx *ctx);
bool mmpath_ctx_policy_acts(const struct mmpath_ctx *ctx);
void mmpath_policy_began(struct mmpath_domain *dom);
void mmpath_reset_domain(struct mmpath_domain *dom);

/* trap.c */
u64 mmpath_trap_ns(void);
bool mmpath_trap_probes(unsigned int flags);
void mmpath_trap_hinted(void);
/* When a task entered the touched hook: its CPU time, and the clock */
struct mmpath_entered {
	u64 ran, clock;
};

bool mmpath_trap_was_hint(void);
void mmpath_trap_enter(bool hint, unsigned int flags, struct mmpath_entered *entered);
u64 mmpath_trap_leave(const struct mmpath_entered *entered);

/* hooks.c */
struct task_struct *mmpath_owner(const struct mm_struct *mm);
u64 mmpath_cpu_ns(struct mm_struct *mm);
unsigned long mmpath_major_faults(struct mm_struct *mm);

/* name.c */
#define MMPATH_GENERATIONS	8U
#define MMPATH_MAX_ISLANDS	16384U	/* ranges of its own that a child has; about 1 MB */

int mmpath_name_create(struct mmpath_ctx *ctx);
void mmpath_name_destroy(struct mmpath_ctx *ctx);
void mmpath_name_inherit(struct mmpath_ctx *ctx, struct mmpath_ctx *parent);
void mmpath_name_own(struct mmpath_ctx *ctx, u64 first, u64 nr);
u32 mmpath_name_of(struct mmpath_ctx *ctx, u64 page);
void mmpath_names_join(struct mmpath_domain *dom, const struct mmpath_ctx *ctx);
void mmpath_names_forget(struct mmpath_domain *dom, const struct mmpath_ctx *ctx);
void mmpath_names_leave(struct mmpath_domain *dom, const struct mmpath_ctx *ctx);

/* drain.c */
void mmpath_log(struct mmpath_ctx *ctx, unsigned long record);
void mmpath_dropped(struct mmpath_ctx *ctx, const char *why);
void mmpath_feed_batch(struct mmpath_ctx *ctx, const unsigned long *records, unsigned int nr);
void mmpath_drain(struct mmpath_ctx *ctx);
void __mmpath_drain(struct mmpath_ctx *ctx, bool wait);
void mmpath_drain_driver(struct mmpath_ctx *ctx);
void mmpath_try_drain(struct mmpath_ctx *ctx);
int mmpath_replay(struct mm_struct *mm, const struct mmpath_event *ev);

/* domain.c */
struct mmpath_domain *mmpath_domain_create(struct mem_cgroup *memcg);
void mmpath_domain_destroy(struct mmpath_domain *dom);
void mmpath_domain_put(struct mmpath_domain *dom);
void mmpath_domain_reset(struct mmpath_domain *dom, unsigned int shift);
void mmpath_domain_set_shift(struct mmpath_domain *dom, unsigned int shift,
			     unsigned int curve);
bool mmpath_domain_policy_acts(struct mmpath_domain *dom);
void mmpath_domain_refine(struct mmpath_domain *dom, unsigned int shift);
void mmpath_domain_start_lirs(struct mmpath_domain *dom, struct mmpath_lirs *lirs,
			      u32 max_pages);
void mmpath_domain_stop_policy(struct mmpath_domain *dom);
unsigned int mmpath_domain_shift(const struct mmpath_domain *dom);
void mmpath_domain_touch(struct mmpath_domain *dom, struct mmpath_ctx *ctx, u64 page, u64 rank,
			 const struct mmpath_region *region, bool again);
void mmpath_domain_prefetch(struct mmpath_domain *dom, struct mmpath_ctx *ctx,
			    const u64 *page, unsigned int nr);
void mmpath_domain_forget(struct mmpath_domain *dom, const struct mmpath_ctx *ctx,
			  u64 first, u64 nr);
void mmpath_domain_move(struct mmpath_domain *dom, struct mmpath_ctx *ctx,
			u64 from, u64 to, u64 nr);
void mmpath_domain_note(struct mmpath_domain *dom, const struct mmpath_ctx *ctx);
void mmpath_domain_join(struct mmpath_domain *dom, const struct mmpath_ctx *ctx);
void mmpath_domain_end_burst(struct mmpath_domain *dom, struct mmpath_ctx *ctx);
void mmpath_domain_saw_others(struct mmpath_domain *dom);
void mmpath_domain_saw(struct mmpath_domain *dom, const struct mmpath_ctx *ctx);
void mmpath_domain_judge(struct mmpath_domain *dom, struct mmpath_ctx *ctx);
const struct mmpath_pool *mmpath_domain_pool(struct mmpath_domain *dom,
					     const struct mmpath_ctx *ctx, u32 region);
int mmpath_domain_start_pools(struct mmpath_domain *dom, struct mmpath_pools *pools,
			      u32 max_pages);
void mmpath_domain_stop_pools(struct mmpath_domain *dom);
void mmpath_domain_close_epoch(struct mmpath_domain *dom);
void mmpath_domain_leave(struct mmpath_domain *dom, struct mmpath_ctx *ctx);
int mmpath_domain_record(struct mmpath_domain *dom);
void mmpath_domain_log(struct mmpath_domain *dom, const struct mmpath_ctx *ctx,
		       unsigned long record);
unsigned int mmpath_permille(u64 cost_ns, u64 own_ns);
void mmpath_domain_wake(struct mmpath_domain *dom);
bool mmpath_domain_is_left(const struct mmpath_domain *dom);

#define mmpath_for_each_ctx(ctx, id) \
	for ((id) = 0; ((ctx) = mmpath_ctx_next(&(id))); mmpath_ctx_put(ctx))

/* show.c */
struct seq_file;
int mmpath_drain_domain(struct mmpath_domain *dom);
int mmpath_show_mrc(struct seq_file *m, struct mmpath_domain *dom);
int mmpath_show_regions(struct seq_file *m, struct mmpath_domain *dom);
int mmpath_show_region_mrc(struct seq_file *m, struct mmpath_domain *dom);
int mmpath_show_stat(struct seq_file *m, struct mmpath_domain *dom);
void mmpath_show_words(struct seq_file *m, const char * const *words, unsigned int nr,
		       unsigned int used);

/* replace.c */
enum mmpath_mode {
	MMPATH_MODE_NONE,
	MMPATH_MODE_LRU,
	MMPATH_MODE_MRU,
	MMPATH_MODE_REGION,
	MMPATH_MODE_LIRS,
	MMPATH_MODE_AUTO,
	NR_MMPATH_MODES,
};

#ifdef CONFIG_MMPATH_REPLACE
int mmpath_mode_by_name(const char *name);
int mmpath_set_replace(struct mmpath_domain *dom, struct mem_cgroup *memcg,
		       enum mmpath_mode mode);
void mmpath_show_modes(struct seq_file *m, const struct mmpath_domain *dom);
void mmpath_show_replace(struct seq_file *m, const struct mmpath_domain *dom);
bool mmpath_replaces_well(const struct mmpath_domain *dom);
#else
static inline int mmpath_set_replace(struct mmpath_domain *dom, struct mem_cgroup *memcg,
				     enum mmpath_mode mode)
{
	return 0;
}

static inline void mmpath_show_replace(struct seq_file *m, const struct mmpath_domain *dom) { }

static inline bool mmpath_replaces_well(const struct mmpath_domain *dom)
{
	return false;
}
#endif

/* balance.c */
#define MMPATH_MAX_SHARERS	64U	/* children of a cgroup */
#define MMPATH_WEIGHT_DEFAULT	100U
#define MMPATH_WEIGHT_MOST	10000U

struct mmpath_balancer;

/**
 * struct mmpath_sharer - a cgroup that may share in the memory of its parent
 * @node: in the list of its balancer, under mmpath_memcg_mutex and SRCU
 * @balancer: of its parent, NULL if there is none
 * @memcg: the cgroup; who made it keeps it and the domain longer than this
 * @dom: has its curve
 * @share: what it has, in steps, and its curve
 * @target: the same in pages, PAGE_COUNTER_MAX: none; read by reclaim
 * @refused: times in this epoch that reclaim could not take from it
 * @stuck: it refused often; counts down each epoch
 * @epochs: in which it was looked at since the step changed
 * @believed: its curve is known, and does not contradict what came
 * @window: misses at each number of steps, of late; fixed point
 * @came: likewise pages that came back
 * @explained: of them those that its curve has as misses, with what it @had
 * @had: steps at the end of the epoch before
 * @cpu_window: and its running time, us
 * @cpu_us: and all of it
 * @refaults: pages that came back, so far
 * @promise: misses that the curve promises for the next epoch
 * @predicted: all promises
 * @measured: and what came
 */
struct mmpath_sharer {
	struct list_head node;
	struct mmpath_balancer *balancer;
	struct mem_cgroup *memcg;
	struct mmpath_domain *dom;
	struct mmpath_share share;
	unsigned long target;
	atomic_t refused;
	unsigned int stuck;
	unsigned int epochs;
	bool believed;
	u64 window[MMPATH_STEPS + 1];
	u64 came, explained, cpu_window, cpu_us;
	u32 had;
	unsigned long refaults;
	u64 promise, predicted, measured;
};

/* memcg.c, for whatever takes memory from a cgroup */
bool mmpath_protected(struct mem_cgroup *memcg, struct mem_cgroup *target);

/* In this order: of two verdicts the later one counts. */
enum mmpath_verdict {
	MMPATH_NO_VERDICT,
	MMPATH_CHOSEN,
	MMPATH_SPARED,
};

#ifdef CONFIG_MMPATH_BALANCE
void mmpath_sharer_init(struct mmpath_sharer *s, struct mem_cgroup *memcg,
			struct mmpath_domain *dom);
void mmpath_sharer_join(struct mmpath_sharer *s);
void mmpath_sharer_leave(struct mmpath_sharer *s);
void mmpath_balance_epoch(void);
void mmpath_balance_reap(void);
int mmpath_set_balance(struct mem_cgroup *memcg, enum mmpath_balance mode);
int mmpath_balance_by_name(const char *name);
void mmpath_show_balance(struct seq_file *m, const struct mem_cgroup *memcg);
int mmpath_show_balance_stat(struct seq_file *m, const struct mem_cgroup *memcg);
void mmpath_show_target(struct seq_file *m, const struct mmpath_sharer *s);
void mmpath_show_predictions(struct seq_file *m, const struct mmpath_sharer *s);
enum mmpath_verdict mmpath_judge(struct mem_cgroup *target, struct mem_cgroup *memcg,
				 unsigned long takes, bool urgent);

static inline enum mmpath_verdict mmpath_verdict(struct mem_cgroup *target,
						 struct mem_cgroup *memcg)
{
	return mmpath_balancing() ? mmpath_judge(target, memcg, 0, false) : MMPATH_NO_VERDICT;
}
#else
static inline void mmpath_sharer_init(struct mmpath_sharer *s, struct mem_cgroup *memcg,
				      struct mmpath_domain *dom) { }
static inline void mmpath_sharer_join(struct mmpath_sharer *s) { }
static inline void mmpath_sharer_leave(struct mmpath_sharer *s) { }
static inline void mmpath_balance_epoch(void) { }
static inline void mmpath_balance_reap(void) { }
static inline void mmpath_show_predictions(struct seq_file *m,
					   const struct mmpath_sharer *s) { }

static inline enum mmpath_verdict mmpath_verdict(struct mem_cgroup *target,
						 struct mem_cgroup *memcg)
{
	return MMPATH_NO_VERDICT;
}
#endif

#endif /* _MM_PATH_INTERNAL_H */
