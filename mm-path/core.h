/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The core of page access tracking: contexts, domains, epochs, and the way of a record.
 *
 * A tracked mm has a context, and is in every domain (for example a cgroup) that
 * asked for it to be tracked.
 *
 * Locks, outermost first:
 *
 *	mmpath_memcg_mutex	which cgroups are tracked, balanced, or prefetched for (ui/memcg.c)
 *	 mmpath_replace_mutex	which cgroups have a replacement policy (policy/replace.c)
 *	mmpath_track_mutex	what users change: which programs are tracked, by which driver
 *	mmpath_mutex		the table of contexts, the domains of each, the list of drivers
 *	 ctx->alive		keeps the mm from being taken down, and the driver of the context
 *	  mmap_lock		taken by us for reading, to walk page tables
 *	   i_mmap_rwsem		of a file that loses pages, and a folio's lock: taken by others
 *	    a driver's		for example of the log of hardware
 *	     ctx->lock		regions and models of one context
 *	      domain->lock	merged stack, policies, members; several in order of address
 *	        ctx->log_lock	head of the log
 *	        ctx->name_lock	names of the pages of one context
 *	a replacer's lock	its reserve; a spinlock, taken in reclaim
 *	a foresight's lock	what is foreseen for an mm; a spinlock (policy/prefetch.c)
 *
 * Hooks run under SRCU, which keeps a context and its driver data alive. From a fault all
 * mutexes are taken with trylock: a fault that does not get them leaves its records in the log
 * for the next one. Never take mmap_lock below ctx->lock. Never take mmpath_mutex below an mm
 * lock: fork and exec take it without one. A truncation waits for ctx->lock of the programs that
 * have the file mapped, and reclaim waits for the truncation: so never enter reclaim, and never
 * wait for a folio, below ctx->lock or a driver's lock.
 *
 * Never wait for mmap_lock of a live mm: its program may hold it for as long as it likes.
 * mmpath_mmap_trylock() tries for a moment. Never do under mmpath_mutex what may take long, for
 * each fork and exec of a tracked program takes it: no scan, no wait for SRCU, no wait for
 * ctx->alive, whose holder may scan. Contexts that end or change their driver are collected
 * under mmpath_mutex, hidden from the hooks there, and worked on after one grace period of
 * SRCU. mmpath_track_mutex keeps others from attaching the same mm meanwhile.
 *
 * The owner of an mm is read with a reference to the context, and under RCU. So an mm has a
 * context only while mm->owner is kept up to date: from the fork that makes the mm (it clears
 * the owner if it fails), or the exec that has succeeded, until the owner exits.
 *
 * Lifetime: the table of contexts and mm->mmpath share one reference; mmpath_ctx_next() takes
 * others. A context pins its mm_struct with mmgrab(). When the last user of the mm goes,
 * __mmput() detaches the context. No hook can run then, except one that a truncation calls from
 * another task, and that takes a user. The epoch worker keeps the page tables by
 * ctx->alive, for which the detach waits. It takes no user: with one it would put off the end of
 * the program, and a reader that waits for that end would find the curve incomplete. All others
 * take a user (mmget_not_zero()).
 */
#ifndef _MM_PATH_CORE_H
#define _MM_PATH_CORE_H

#include <kunit/visibility.h>
#include <linux/kfifo.h>
#include <linux/kref.h>
#include <linux/maple_tree.h>
#include <linux/seqlock.h>
#include <linux/spinlock.h>
#include <linux/srcu.h>
#include <linux/wait.h>
#include <linux/xarray.h>
#include <uapi/linux/mmpath.h>
#include "driver.h"
#include "models/model.h"
#include "policy.h"

#define MMPATH_MAX_DOMAINS	4

/**
 * struct mmpath_ctx - the context of one tracked mm
 * @d: what its driver knows of it
 * @ref: readers and workers hold references, and the mm one until the context is detached
 * @id: key in the table of contexts; never 0
 * @alive: while it is held and the context is not gone, the mm is not taken down
 * @pid: of the owner when it was looked up last, for tracepoints
 * @tgid: of the owner, for readers in any pid namespace; under @lock
 * @node: in a list of contexts that end or change their driver, under mmpath_track_mutex
 * @drv: the driver, NULL between two drivers
 * @old_drv: the driver that the context loses, while it changes
 * @log_lock: protects @log_head, the log's contents at it, and @log_full; innermost
 * @log: ring of @log_size records
 * @log_size: a power of two
 * @log_head: place of the next record
 * @log_tail: place of the oldest record that was not drained
 * @log_pages: sampled pages of all records that were not drained
 * @log_part: pages of the record at @log_tail that are done; under @lock
 * @log_full: records that did not fit since the context was attached
 * @log_full_told: @log_full that the statistics have; under @lock
 * @name: name of the context's own pages, see name.c
 * @name_lock: protects what follows up to @spot; innermost
 * @heir: id of all pages that are not in @named; 0: the context's own
 * @named: ids of ranges of pages
 * @islands: number of ranges in @named that are the context's own and have no such neighbour
 * @spot: the range that was looked up last
 * @lock: protects what follows, and @log_tail
 * @mem: allocator of the models
 * @gfp: how @mem allocates: MMPATH_GFP_NOWAIT once the context is attached
 * @regions: regions and their models. Their curves may be of fewer pages than are tracked
 *	(regions.params.shift).
 * @domains: domains whose merged curves the context is in, in order of address; changed under
 *	mmpath_mutex as well
 * @nr_domains: number of @domains
 * @leaving: the context leaves all domains, for good
 * @kicked: mmpath_kick() was called
 * @attached: the driver has not scanned the program yet
 * @behind: mmpath_drain_soon() was called
 * @seen: how much of this epoch was seen, see mmpath_saw()
 * @epochs: ended since the context was attached, up to MMPATH_SETTLING_EPOCHS
 * @epoch_cost_ns: @d.cost_ns of the last epoch
 * @epoch_own_ns: @d.own_ns of the last epoch
 * @records_per_sec: in the last epoch
 * @epoch_records: records when the epoch began
 * @epoch_began: when the epoch began
 * @epoch_cpu_ns: CPU time of the program when the epoch began
 * @idle_epochs: ended since the program has run
 * @rcu: for readers of the table of contexts
 */
struct mmpath_ctx {
	struct mmpath_drv_ctx d;
	struct kref ref;
	u32 id;
	struct mutex alive;	/* see above */
	pid_t pid;
	struct pid *tgid;
	struct list_head node;
	const struct mmpath_driver *drv, *old_drv;
	bool kicked, attached, behind;

	spinlock_t log_lock;	/* see above */
	unsigned long *log;
	unsigned int log_size;
	unsigned int log_head;
	unsigned int log_tail;
	unsigned int log_pages;
	unsigned int log_part;
	unsigned int log_full, log_full_told;

	struct mmpath_name *name;
	spinlock_t name_lock;	/* see above */
	u32 heir;
	struct maple_tree named;
	unsigned int islands;
	struct {
		u64 first, nr;
		u32 id;
	} spot;

	struct mutex lock;	/* see above */
	struct mmpath_mem mem;
	gfp_t gfp;
	struct mmpath_regions regions;
	struct mmpath_domain *domains[MMPATH_MAX_DOMAINS];
	int nr_domains;
	bool leaving;
	struct mmpath_seen seen;
	unsigned int epochs;
	u64 epoch_cost_ns, epoch_own_ns;
	unsigned long records_per_sec;
	unsigned long epoch_records;
	u64 epoch_began, epoch_cpu_ns;
	unsigned int idle_epochs;
	struct rcu_head rcu;
};

#define to_mmpath_ctx(ptr)	container_of_const(ptr, struct mmpath_ctx, d)

/* The first is a part of one, and in the next the driver finds out what it may cost. */
#define MMPATH_SETTLING_EPOCHS	2U

#define MMPATH_RECORDER_EVENTS	65536U

/**
 * struct mmpath_recorder - accesses of a domain on their way to a reader
 * @fifo: of events; written under the domain's lock, read under @lock
 * @events: buffer of @fifo
 * @lost: events that did not fit since the last one that did
 * @trusted: the reader may see the addresses of programs that cannot be dumped
 * @pid_ns: pid namespace of the reader
 * @wait: readers wait here for events
 * @lock: serializes readers
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
 * struct mmpath_domain - a cgroup or a session that has programs tracked, and their merged curve
 * @ref: each member holds a reference, and the owner one
 * @dead: the domain takes no members any more; under mmpath_mutex
 * @node: in mmpath_domains, under mmpath_mutex
 * @lock: protects all that follows; nests inside a context's lock
 * @mem: allocator of the stack and the curve
 * @gfp: how @mem allocates: MMPATH_GFP_NOWAIT once the domain can have members
 * @memcg: cgroup that is charged; the domain holds a reference
 * @lru: merged stack of the members; a page is mmpath_name_of() and its number
 * @names: of parents whose pages children share: how many children have each
 * @mrc: curve of @lru
 * @resumed: a burst of a member has ended since the last reset
 * @policies: that are told of the members' pages, see policy.h
 * @members: contexts in the domain, by id; also read under RCU
 * @nr_members: number of members
 * @left: the last member has left the domain
 * @session: the domain is a session of /dev/mmpath
 * @restricted: the owner may only know of programs that can be dumped
 * @seen: how much of this epoch was counted
 * @unseen: epochs in which nothing was counted
 * @recorder: recording of accesses, NULL until it is asked for
 * @footprint: the most that @lru has held, pages
 * @reach: the most that a member's driver has filtered out, pages
 * @moved: of @members, @stat, @cost_ns, @own_ns and @worker_ns: readers see a context here or
 *	there
 * @stat: statistics of contexts that have left, without what those that are in had when they
 *	joined: less than 0 until they leave
 * @cost_ns: what tracking has cost these contexts
 * @own_ns: CPU time of their programs without that cost
 * @worker_ns: CPU time that the worker has spent on them
 */
struct mmpath_domain {
	struct kref ref;
	bool dead;
	struct list_head node;
	struct mutex lock;	/* see core.h */
	struct mmpath_mem mem;
	gfp_t gfp;
	struct mem_cgroup *memcg;
	struct mmpath_stack lru;
	struct xarray names;
	struct mmpath_mrc mrc;
	bool resumed;
	struct list_head policies;
	struct xarray members;
	int nr_members;
	bool left, session, restricted;
	struct mmpath_seen seen;
	struct mmpath_unseen unseen;
	struct mmpath_recorder *recorder;
	u64 footprint;
	unsigned long reach;
	seqcount_mutex_t moved;
	unsigned long stat[NR_MMPATH_STATS];
	u64 cost_ns, own_ns, worker_ns;
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

/* What mmpath_regions_map() and the like could not do: the mapping has no region of its own. */
static inline void mmpath_count_map_error(struct mmpath_ctx *ctx, int err)
{
	enum mmpath_stat why = err == -ENOSPC ? MMPATH_REGIONS_FULL : MMPATH_DROPPED_NOMEM;

	if (err)
		mmpath_count(&ctx->d, why, 1);
}

/* Has @ctx been detached, or is it about to be? */
static inline bool mmpath_ctx_gone(const struct mmpath_ctx *ctx)
{
	return rcu_access_pointer(ctx->d.mm->mmpath) != ctx;
}

extern const char * const mmpath_stat_names[NR_MMPATH_STATS];
extern struct srcu_struct mmpath_srcu;
extern struct xarray mmpath_ctxs;
extern struct list_head mmpath_drivers;
extern struct list_head mmpath_domains;

/* Between context.c, driver.c and epoch.c */
extern struct mutex mmpath_track_mutex;
extern struct mmpath_driver *mmpath_drv;
bool mmpath_collect(struct mmpath_ctx *ctx, struct list_head *list);
void mmpath_release(struct mmpath_ctx *ctx);
void mmpath_unpublish(struct mmpath_ctx *ctx, struct list_head *list);
void mmpath_detach_list(struct list_head *list);
int mmpath_start_driver(struct mmpath_ctx *ctx, struct mmpath_driver *drv);
void mmpath_stop_driver(struct mmpath_ctx *ctx, const struct mmpath_driver *drv,
			struct mm_struct *mm);
void mmpath_lock_alive(struct mmpath_ctx *ctx);
void mmpath_take_accesses(struct mmpath_ctx *ctx);
void mmpath_scan_soon(struct mmpath_ctx *ctx);
void mmpath_drain_soon(struct mmpath_ctx *ctx);
void mmpath_wake(struct mmpath_ctx *ctx);
void mmpath_queue_epoch(void);
void mmpath_finish_sync(void);

#define MMPATH_MAX_CTX	((1U << (64 - MMPATH_VPN_BITS)) - 1)

/* For tests/core-kunit.c alone */
#if IS_ENABLED(CONFIG_KUNIT)
struct mmpath_ctx *mmpath_ctx_alloc(struct mm_struct *mm, unsigned int log_size);
int mmpath_add_domain(struct mmpath_ctx *ctx, struct mmpath_domain *dom);
void mmpath_del_domain(struct mmpath_ctx *ctx, struct mmpath_domain *dom);
bool mmpath_ctx_in(const struct mmpath_ctx *ctx, const struct mmpath_domain *dom);
bool mmpath_mm_in(struct mm_struct *mm, const struct mmpath_domain *dom);
void mmpath_unplug(struct mmpath_ctx *ctx, struct list_head *list);
void mmpath_restart_list(struct list_head *list);
void mmpath_set_hw_key(bool on);
const struct mmpath_driver *mmpath_get_driver(struct mmpath_ctx *ctx);
void mmpath_begin_epoch(struct mmpath_ctx *ctx);
void mmpath_measure_rate(struct mmpath_ctx *ctx);
void mmpath_control(struct mmpath_ctx *ctx, bool early);
void mmpath_close_epoch(struct mmpath_ctx *ctx);
void mmpath_refuse_ctx(struct mmpath_ctx *ctx);
#endif

/* context.c */
void *mmpath_model_alloc(struct mem_cgroup *memcg, size_t bytes, gfp_t gfp);
void mmpath_model_free(struct mmpath_mem *mem, void *p, size_t bytes);
int mmpath_track(struct mm_struct *mm, struct mmpath_domain *dom);
void mmpath_untrack(struct mmpath_domain *dom, struct mmpath_ctx **ctx, unsigned int nr);
void mmpath_untrack_all(struct mmpath_domain *dom);
struct mmpath_ctx *mmpath_ctx_get(struct mm_struct *mm);
struct mmpath_ctx *mmpath_ctx_next(struct xarray *in, unsigned long *id, xa_mark_t mark);
struct mmpath_ctx *mmpath_ctx_by_id(u32 id);
bool mmpath_ctx_id_in(u32 id, const struct mmpath_domain *dom);
void mmpath_ctx_id_free(u32 id);
void mmpath_ctx_put(struct mmpath_ctx *ctx);
void mmpath_find_pid(struct mmpath_ctx *ctx);

/* In the table of contexts: see mmpath_sleeps(), mmpath_ask() */
#define MMPATH_AWAKE		XA_MARK_1
#define MMPATH_ASKED		XA_MARK_2

#define mmpath_for_each_marked(ctx, id, in, mark) \
	for ((id) = 0; ((ctx) = mmpath_ctx_next(in, &(id), mark)); mmpath_ctx_put(ctx))
#define mmpath_for_each_ctx(ctx, id) \
	mmpath_for_each_marked(ctx, id, &mmpath_ctxs, XA_PRESENT)
#define mmpath_for_each_member(ctx, id, dom) \
	mmpath_for_each_marked(ctx, id, &(dom)->members, XA_PRESENT)

/* driver.c */
int mmpath_set_enabled(bool on);
int mmpath_set_driver(const char *name);
const struct mmpath_driver *mmpath_driver(void);
int mmpath_set_param(struct mmpath_driver *drv, struct mmpath_param *param,
		     unsigned long val);

/* epoch.c */
void mmpath_set_epoch_ms(unsigned int ms);
void mmpath_finish_scans(void);
void mmpath_on_sync(void (*fn)(void));
void mmpath_on_epoch(void (*fn)(void));
void mmpath_request_sync(void);
void mmpath_sync_again(void);

/* sample.c */
#define MMPATH_CURVE_PAGES	256U	/* enough for a curve, beside a policy */

void __mmpath_set_shift(struct mmpath_ctx *ctx, unsigned int shift);
void mmpath_coarsen_curves(struct mmpath_ctx *ctx);
void mmpath_reset_domain(struct mmpath_domain *dom);

/* trap.c */
/* When a task entered the touched hook: its CPU time, and the clock */
struct mmpath_entered {
	u64 ran, clock;
};

void mmpath_trap_hinted(void);
bool mmpath_trap_was_hint(void);
void mmpath_trap_enter(bool hint, unsigned int flags, struct mmpath_entered *entered);
u64 mmpath_trap_leave(const struct mmpath_entered *entered);

/* hooks.c */
struct task_struct *mmpath_owner(const struct mm_struct *mm);

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
void mmpath_dropped(struct mmpath_ctx *ctx, const char *why);
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
int mmpath_domain_join(struct mmpath_domain *dom, struct mmpath_ctx *ctx);
void mmpath_domain_end_burst(struct mmpath_domain *dom, struct mmpath_ctx *ctx);
void mmpath_domain_saw_others(struct mmpath_domain *dom);
void mmpath_domain_saw(struct mmpath_domain *dom, const struct mmpath_ctx *ctx);
void mmpath_domain_close_regions(struct mmpath_domain *dom, struct mmpath_ctx *ctx);
void mmpath_domain_close_epoch(struct mmpath_domain *dom);
void mmpath_domain_leave(struct mmpath_domain *dom, struct mmpath_ctx *ctx);
int mmpath_domain_record(struct mmpath_domain *dom);
void mmpath_domain_log(struct mmpath_domain *dom, const struct mmpath_ctx *ctx,
		       unsigned long record);
void mmpath_domain_wake(struct mmpath_domain *dom);
bool mmpath_domain_is_left(const struct mmpath_domain *dom);

#endif /* _MM_PATH_CORE_H */
