// SPDX-License-Identifier: GPL-2.0
/*
 * Contexts: which programs are tracked, and for which domains. The table of contexts, how they
 * are attached, inherited over fork and exec, and detached.
 *
 * Locks and lifetimes: see core.h.
 */
#define pr_fmt(fmt) "mmpath: " fmt

#include <linux/delay.h>
#include <linux/memcontrol.h>
#include <linux/mmu_notifier.h>
#include <linux/pid.h>
#include <linux/random.h>
#include <linux/sched/coredump.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include "core.h"

#define CREATE_TRACE_POINTS
#include <trace/events/mmpath.h>

DEFINE_MUTEX(mmpath_track_mutex);	/* see core.h */
DEFINE_MUTEX(mmpath_mutex);	/* see core.h */
DEFINE_SRCU(mmpath_srcu);
LIST_HEAD(mmpath_domains);
DEFINE_XARRAY_ALLOC1(mmpath_ctxs);

#define MMPATH_MRU_PAGES	4096
#define MMPATH_LOCK_TRIES	10

struct mmpath_config mmpath_config = {
	.epoch_ms = 1000,
	.region_min_kb = 1024,
	.group_pages = 16,
	.sample_pages = 65536,
};

DEFINE_PER_CPU(unsigned long [NR_MMPATH_STATS], mmpath_stats);

const char * const mmpath_stat_names[NR_MMPATH_STATS] = {
	[MMPATH_RECORDS]		= "records",
	[MMPATH_FAULTS]			= "faults",
	[MMPATH_DROPPED_LOG_FULL]	= "dropped_log_full",
	[MMPATH_DROPPED_NOMEM]		= "dropped_nomem",
	[MMPATH_REGIONS_FULL]		= "regions_full",
	[MMPATH_ATTACH_FAILED]		= "attach_failed",
	[MMPATH_DRIVER_SWITCHES]	= "driver_switches",
	[MMPATH_SCANNED]		= "scanned",
	[MMPATH_ESCAPED]		= "escaped",
	[MMPATH_DRIVER_LOST]		= "driver_lost",
};

/* Memory of the models. A drain runs in faults: it must not enter reclaim. */

/**
 * mmpath_charged() - have reclaimed what was charged beyond memory.high
 * @memcg: the cgroup that was charged, or NULL
 *
 * Tasks do that when they return to user mode. A worker never does. As interrupts do, it leaves
 * that to the work of the cgroup; what is still noted with it, others would have to give.
 *
 * Context: any task.
 */
void mmpath_charged(struct mem_cgroup *memcg)
{
	if (!memcg || !(current->flags & PF_KTHREAD) || !current->memcg_nr_pages_over_high)
		return;
	current->memcg_nr_pages_over_high = 0;
	schedule_work(&memcg->high_work);
}

/**
 * mmpath_model_alloc() - allocate zeroed memory that a cgroup is charged for
 * @memcg: the cgroup
 * @bytes: how many
 * @gfp: MMPATH_GFP, or another one of these
 *
 * Context: as @gfp says. Return: the memory, or NULL.
 */
void *mmpath_model_alloc(struct mem_cgroup *memcg, size_t bytes, gfp_t gfp)
{
	struct mem_cgroup *old = set_active_memcg(memcg);
	void *p = kzalloc(bytes, gfp);

	set_active_memcg(old);
	mmpath_charged(memcg);
	return p;
}

/**
 * mmpath_model_free() - free what mmpath_model_alloc() has allocated
 * @mem: not used
 * @p: the memory
 * @bytes: not used
 */
void mmpath_model_free(struct mmpath_mem *mem, void *p, size_t bytes)
{
	kfree(p);
}

/* Charges the cgroup of the program; when that is attached, what mmpath_attach() has set. */
static void *mmpath_ctx_alloc_mem(struct mmpath_mem *mem, size_t bytes)
{
	struct mmpath_ctx *ctx = container_of(mem, struct mmpath_ctx, mem);
	struct mem_cgroup *memcg;
	void *p;

	if (current->active_memcg)
		return kzalloc(bytes, ctx->gfp);
	memcg = get_mem_cgroup_from_mm(ctx->d.mm);
	p = mmpath_model_alloc(memcg, bytes, ctx->gfp);
	mem_cgroup_put(memcg);
	return p;
}

static const struct mmpath_mem mmpath_ctx_mem = {
	.alloc = mmpath_ctx_alloc_mem,
	.free = mmpath_model_free,
};

/* Contexts */

static void mmpath_ctx_free(struct kref *ref)
{
	struct mmpath_ctx *ctx = container_of(ref, struct mmpath_ctx, ref);
	int i;

	for (i = 0; i < ctx->nr_domains; i++)
		mmpath_domain_put(ctx->domains[i]);
	mmpath_name_destroy(ctx);
	mmpath_regions_destroy(&ctx->regions);
	kvfree(ctx->log);
	put_pid(ctx->tgid);
	mmdrop(ctx->d.mm);
	kfree_rcu(ctx, rcu);
}

/**
 * mmpath_ctx_put() - drop a reference
 * @ctx: to this context
 *
 * Context: process context, not in a hook; takes nothing that sleeps long.
 */
void mmpath_ctx_put(struct mmpath_ctx *ctx)
{
	kref_put(&ctx->ref, mmpath_ctx_free);
}

/**
 * mmpath_ctx_next() - walk contexts
 * @in: the table of all, or the members of a domain
 * @id: cursor; 0 to start with, then what the last call left there
 * @mark: only those that have it
 *
 * Contexts may come and go meanwhile. Use mmpath_for_each_ctx() or mmpath_for_each_member().
 * Return: a context with a reference, or NULL at the end.
 */
struct mmpath_ctx *mmpath_ctx_next(struct xarray *in, unsigned long *id, xa_mark_t mark)
{
	struct mmpath_ctx *ctx;

	rcu_read_lock();
	do {
		ctx = xa_find_after(in, id, ULONG_MAX, mark);
	} while (ctx && !kref_get_unless_zero(&ctx->ref));
	rcu_read_unlock();
	return ctx;
}

/**
 * mmpath_ctx_get() - take the context of a program
 * @mm: of the program
 *
 * Return: with a reference, or NULL when it is not tracked.
 */
struct mmpath_ctx *mmpath_ctx_get(struct mm_struct *mm)
{
	struct mmpath_ctx *ctx;

	rcu_read_lock();
	ctx = rcu_dereference(mm->mmpath);
	if (ctx && !kref_get_unless_zero(&ctx->ref))
		ctx = NULL;
	rcu_read_unlock();
	return ctx;
}

/**
 * mmpath_ctx_by_id() - find a context by its id
 * @id: its key in the table
 *
 * Return: with a reference, or NULL.
 */
struct mmpath_ctx *mmpath_ctx_by_id(u32 id)
{
	struct mmpath_ctx *ctx;

	rcu_read_lock();
	ctx = xa_load(&mmpath_ctxs, id);
	if (ctx && !kref_get_unless_zero(&ctx->ref))
		ctx = NULL;
	rcu_read_unlock();
	return ctx;
}

/**
 * mmpath_ctx_id_free() - let an id be given out again
 * @id: the id of a context that is freed, and of whose name nothing is left
 *
 * Context: process context.
 */
void mmpath_ctx_id_free(u32 id)
{
	xa_erase(&mmpath_ctxs, id);
}

/* Is @ctx in @dom? A hint unless ctx->lock is held. */
VISIBLE_IF_KUNIT bool mmpath_ctx_in(const struct mmpath_ctx *ctx, const struct mmpath_domain *dom)
{
	int i;

	for (i = 0; i < READ_ONCE(ctx->nr_domains); i++)
		if (READ_ONCE(ctx->domains[i]) == dom)
			return true;
	return false;
}

/**
 * mmpath_ctx_id_in() - tell whether a context is in a domain that it does not leave
 * @id: of the context, which may have gone or be about to
 * @dom: the domain
 *
 * Context: as mmpath_ctx_in().
 */
bool mmpath_ctx_id_in(u32 id, const struct mmpath_domain *dom)
{
	struct mmpath_ctx *ctx;
	bool in;

	rcu_read_lock();
	ctx = xa_load(&mmpath_ctxs, id);
	/* pages that a leaving context leaves behind in @dom do not count as its own */
	in = ctx && mmpath_ctx_in(ctx, dom) && !READ_ONCE(ctx->leaving);
	rcu_read_unlock();
	return in;
}

/**
 * mmpath_find_pid() - look up the process of a context
 * @ctx: the context
 *
 * A child that is being forked has no pid yet. So this is called again before records are handed
 * on. Context: ctx->lock is held, or @ctx is not public yet.
 */
void mmpath_find_pid(struct mmpath_ctx *ctx)
{
	struct pid *old = ctx->tgid, *tgid;
	struct task_struct *owner;

	rcu_read_lock();
	owner = mmpath_owner(ctx->d.mm);
	tgid = owner ? task_tgid(owner) : NULL;
	if (tgid && tgid != old) {
		ctx->tgid = get_pid(tgid);
		WRITE_ONCE(ctx->pid, pid_nr(tgid));
		put_pid(old);
	}
	rcu_read_unlock();
}

/* Attach and detach */

/* Have lockdep know from the beginning that reclaim may wait for @lock, see above. */
static void mmpath_lock_in_reclaim(struct mutex *lock)
{
	if (!IS_ENABLED(CONFIG_LOCKDEP))
		return;
	fs_reclaim_acquire(GFP_KERNEL);
	might_lock(lock);
	fs_reclaim_release(GFP_KERNEL);
}

VISIBLE_IF_KUNIT struct mmpath_ctx *mmpath_ctx_alloc(struct mm_struct *mm, unsigned int log_size)
{
	struct mmpath_region_params params = {
		.min_pages = READ_ONCE(mmpath_config.region_min_kb) >> (PAGE_SHIFT - 10),
		.group_pages = READ_ONCE(mmpath_config.group_pages),
		.max_pages = READ_ONCE(mmpath_config.sample_pages),
		.mru_pages = MMPATH_MRU_PAGES,
		.seed = get_random_u32(),
	};
	struct mmpath_ctx *ctx = kzalloc(sizeof(*ctx), MMPATH_GFP_ATTACH);

	if (!ctx)
		return NULL;
	/* nothing is read that was not written, so it need not be zeroed */
	ctx->log = kmalloc_array(log_size, sizeof(*ctx->log), MMPATH_GFP_ATTACH) ?:
		   kvmalloc_array(log_size, sizeof(*ctx->log), MMPATH_GFP);
	if (!ctx->log)
		goto err_ctx;
	ctx->mem = mmpath_ctx_mem;
	ctx->gfp = MMPATH_GFP_ATTACH;
	if (mmpath_regions_init(&ctx->regions, &ctx->mem, &params))
		goto err_log;
	ctx->log_size = log_size;
	ctx->epoch_began = ktime_get_ns();
	kref_init(&ctx->ref);
	spin_lock_init(&ctx->log_lock);
	spin_lock_init(&ctx->name_lock);
	mutex_init(&ctx->lock);
	mmpath_lock_in_reclaim(&ctx->lock);
	mutex_init(&ctx->alive);
	mt_init(&ctx->named);
	mmgrab(mm);
	ctx->d.mm = mm;
	return ctx;

err_log:
	kvfree(ctx->log);
err_ctx:
	kfree(ctx);
	return NULL;
}

/* Context: mmpath_mutex is held, unless @ctx is not public yet. */
VISIBLE_IF_KUNIT int mmpath_add_domain(struct mmpath_ctx *ctx, struct mmpath_domain *dom)
{
	int i, ret = -ENOSPC;

	mmpath_drain_driver(ctx);
	mutex_lock(&ctx->lock);
	if (mmpath_ctx_in(ctx, dom)) {
		ret = 0;
	} else if (ctx->nr_domains < MMPATH_MAX_DOMAINS) {
		__mmpath_drain(ctx, true);
		ret = mmpath_domain_join(dom, ctx);
		if (ret)
			goto unlock;
		kref_get(&dom->ref);
		for (i = ctx->nr_domains; i && ctx->domains[i - 1] > dom; i--)
			ctx->domains[i] = ctx->domains[i - 1];
		ctx->domains[i] = dom;
		WRITE_ONCE(ctx->nr_domains, ctx->nr_domains + 1);
		__mmpath_set_shift(ctx, ctx->d.shift);
	}
unlock:
	mutex_unlock(&ctx->lock);
	return ret;
}

/* Take @ctx out of @dom, which is not its last domain. The others get what it did this epoch. */
VISIBLE_IF_KUNIT void mmpath_del_domain(struct mmpath_ctx *ctx, struct mmpath_domain *dom)
{
	int i;

	mmpath_drain_driver(ctx);
	mutex_lock(&ctx->lock);
	__mmpath_drain(ctx, true);
	for (i = 0; i < ctx->nr_domains && ctx->domains[i] != dom; i++)
		;
	if (i < ctx->nr_domains) {
		mmpath_domain_saw_others(dom);
		mmpath_domain_leave(dom, ctx);
		for (; i < ctx->nr_domains - 1; i++)
			ctx->domains[i] = ctx->domains[i + 1];
		WRITE_ONCE(ctx->nr_domains, ctx->nr_domains - 1);
		mmpath_domain_put(dom);
	}
	mutex_unlock(&ctx->lock);
}

static enum mmpath_region_kind mmpath_vma_kind(const struct vm_area_struct *vma)
{
	return vma_is_initial_heap(vma) ? MMPATH_REGION_BRK : MMPATH_REGION_MMAP;
}

/* Map the regions of a program that runs already. Which areas one mmap() made is not known. */
static void mmpath_regions_of_mm(struct mmpath_ctx *ctx, struct mm_struct *mm)
{
	VMA_ITERATOR(vmi, mm, 0);
	struct vm_area_struct *vma;
	int err;

	mmap_assert_locked(mm);
	for_each_vma(vmi, vma) {
		/* exec will move it */
		if (vma_is_temporary_stack(vma))
			continue;
		err = mmpath_regions_map(&ctx->regions, vma->vm_start >> PAGE_SHIFT,
					 vma_pages(vma), mmpath_vma_kind(vma));
		mmpath_count_map_error(ctx, err);
	}
}

static int mmpath_copy_regions(struct mmpath_ctx *ctx, struct mmpath_ctx *parent)
{
	int ret;

	/* reclaim may wait for that lock: ctx->gfp does not wait */
	mutex_lock(&parent->lock);
	ret = mmpath_regions_copy(&ctx->regions, &parent->regions);
	mmpath_name_inherit(ctx, parent);
	mutex_unlock(&parent->lock);
	return ret;
}

static int mmpath_publish(struct mmpath_ctx *ctx, struct mm_struct *mm,
			  struct mmpath_ctx *parent)
{
	int ret;

	mmap_assert_locked(mm);
	if (!parent || mmpath_copy_regions(ctx, parent))
		mmpath_regions_of_mm(ctx, mm);
	ret = mmpath_start_driver(ctx, mmpath_drv);
	/* from now on it is drained */
	ctx->gfp = MMPATH_GFP_NOWAIT;
	if (!ret)
		rcu_assign_pointer(mm->mmpath, ctx);
	return ret;
}

static struct mmpath_ctx *__mmpath_attach(struct mm_struct *mm, struct mmpath_ctx *parent)
{
	struct mmpath_ctx *ctx;
	int ret;

	ctx = mmpath_ctx_alloc(mm, mmpath_drv->log_entries());
	if (!ctx)
		return ERR_PTR(-ENOMEM);
	mmpath_find_pid(ctx);
	ret = xa_alloc(&mmpath_ctxs, &ctx->id, NULL, XA_LIMIT(1, MMPATH_MAX_CTX), GFP_KERNEL);
	if (ret) {
		/* not -EBUSY, which mmpath_track() returns for another reason */
		ret = ret == -EBUSY ? -ENOSPC : ret;
		goto err_put;
	}
	ret = mmpath_name_create(ctx);
	if (ret) {
		mmpath_ctx_id_free(ctx->id);
		goto err_put;
	}
	ret = mmpath_publish(ctx, mm, parent);
	if (ret)
		goto err_put;
	xa_store(&mmpath_ctxs, ctx->id, ctx, GFP_KERNEL);
	xa_set_mark(&mmpath_ctxs, ctx->id, MMPATH_AWAKE);
	return ctx;

err_put:
	mmpath_ctx_put(ctx);
	return ERR_PTR(ret);
}

/* Give @mm, which has a user, a context. mmap_lock is held for reading. */
static struct mmpath_ctx *mmpath_attach(struct mm_struct *mm, struct mmpath_ctx *parent)
{
	struct mem_cgroup *memcg, *old;
	struct mmpath_ctx *ctx;

	lockdep_assert_held(&mmpath_mutex);
	if (mm_has_notifiers(mm))
		return ERR_PTR(-EOPNOTSUPP);
	/* a child is not in its cgroup yet */
	memcg = get_mem_cgroup_from_mm(parent ? parent->d.mm : mm);
	old = set_active_memcg(memcg);
	ctx = __mmpath_attach(mm, parent);
	set_active_memcg(old);
	mem_cgroup_put(memcg);
	return ctx;
}

/**
 * mmpath_mmap_trylock() - lock mmap_lock for reading, unless somebody keeps it
 * @mm: of this mm
 *
 * A program may keep its mmap_lock for as long as it likes, for example while a file
 * system does not answer, and others wait for their epoch to end.
 *
 * Context: may sleep, for a millisecond or so. Return: false if it could not be had.
 */
bool mmpath_mmap_trylock(struct mm_struct *mm)
{
	unsigned int tries;

	for (tries = 0; tries < MMPATH_LOCK_TRIES; tries++) {
		if (mmap_read_trylock(mm))
			return true;
		usleep_range(50, 100);
	}
	return false;
}

/*
 * End a context. @mm is its mm, with a user, or NULL if the mm is exiting. No hook can be
 * running.
 */
static void mmpath_detach(struct mmpath_ctx *ctx, struct mm_struct *mm)
{
	const struct mmpath_driver *drv;
	int i;

	lockdep_assert_not_held(&mmpath_mutex);
	mutex_lock(&ctx->alive);
	/* if this one was hidden before, the mm may have another context by now */
	if (!mmpath_ctx_gone(ctx))
		RCU_INIT_POINTER(ctx->d.mm->mmpath, NULL);
	drv = ctx->drv;
	WRITE_ONCE(ctx->drv, NULL);
	mmpath_stop_driver(ctx, drv, mm);
	mutex_lock(&ctx->lock);
	__mmpath_drain(ctx, true);
	mmpath_take_accesses(ctx);
	WRITE_ONCE(ctx->leaving, true);
	for (i = 0; i < ctx->nr_domains; i++)
		mmpath_domain_leave(ctx->domains[i], ctx);
	mutex_unlock(&ctx->lock);
	/* not before: tasks that wait for it read the curves */
	mutex_unlock(&ctx->alive);
	/* not xa_erase(): the id stays taken, see name.c */
	xa_store(&mmpath_ctxs, ctx->id, NULL, GFP_KERNEL);
	mmpath_ctx_put(ctx);
}

/**
 * mmpath_collect() - put a context on a list, to be worked on without mmpath_mutex
 * @ctx: the context
 * @list: takes a reference to it, and a user of its mm: the program does not end before
 *	mmpath_release() drops both
 *
 * Context: mmpath_track_mutex and mmpath_mutex are held. Return: false if the program has
 * ended.
 */
bool mmpath_collect(struct mmpath_ctx *ctx, struct list_head *list)
{
	lockdep_assert_held(&mmpath_track_mutex);
	lockdep_assert_held(&mmpath_mutex);
	if (!mmget_not_zero(ctx->d.mm))
		return false;
	if (mmpath_ctx_gone(ctx)) {
		mmput_async(ctx->d.mm);
		return false;
	}
	kref_get(&ctx->ref);
	list_add_tail(&ctx->node, list);
	return true;
}

/**
 * mmpath_release() - take a context from its list, see mmpath_collect()
 * @ctx: the context
 *
 * Context: process context; mmpath_track_mutex is held.
 */
void mmpath_release(struct mmpath_ctx *ctx)
{
	struct mm_struct *mm = ctx->d.mm;

	list_del(&ctx->node);
	mmpath_ctx_put(ctx);
	mmput_async(mm);
}

/**
 * mmpath_unpublish() - hide a context from the hooks
 * @ctx: the context
 * @list: where it waits for mmpath_detach_list()
 *
 * Context: mmpath_track_mutex and mmpath_mutex are held.
 */
void mmpath_unpublish(struct mmpath_ctx *ctx, struct list_head *list)
{
	if (mmpath_collect(ctx, list))
		RCU_INIT_POINTER(ctx->d.mm->mmpath, NULL);
}

/**
 * mmpath_detach_list() - end the contexts that mmpath_unpublish() has hidden
 * @list: has them; empty afterwards
 *
 * Context: may sleep; mmpath_track_mutex is held, mmpath_mutex is not.
 */
void mmpath_detach_list(struct list_head *list)
{
	struct mmpath_ctx *ctx, *next;

	lockdep_assert_held(&mmpath_track_mutex);
	if (list_empty(list))
		return;
	synchronize_srcu(&mmpath_srcu);
	list_for_each_entry_safe(ctx, next, list, node) {
		mmpath_detach(ctx, ctx->d.mm);
		mmpath_release(ctx);
	}
}

static bool mmpath_to_attach(struct mm_struct *mm)
{
	return mmpath_on() && !rcu_access_pointer(mm->mmpath);
}

/*
 * Take mmpath_mutex. If @mm is to be attached, take its mmap_lock for reading, too, and return 1;
 * if not, return 0. Return -EBUSY, without locks, if the mmap_lock cannot be had.
 */
static int mmpath_lock_to_attach(struct mm_struct *mm)
{
	unsigned int tries;

	for (tries = 0; tries < MMPATH_LOCK_TRIES; tries++) {
		mutex_lock(&mmpath_mutex);
		if (!mmpath_to_attach(mm))
			return 0;
		if (mmap_read_trylock(mm))
			return 1;
		mutex_unlock(&mmpath_mutex);
		usleep_range(50, 100);
	}
	return -EBUSY;
}

VISIBLE_IF_KUNIT bool mmpath_mm_in(struct mm_struct *mm, const struct mmpath_domain *dom)
{
	struct mmpath_ctx *ctx = mmpath_ctx_get(mm);
	bool in = ctx && mmpath_ctx_in(ctx, dom);

	if (ctx)
		mmpath_ctx_put(ctx);
	return in;
}

/* Note that a program could not join @dom, and have a sync try again. */
static void mmpath_attach_failed(struct mmpath_domain *dom)
{
	mmpath_sync_again();
	this_cpu_inc(mmpath_stats[MMPATH_ATTACH_FAILED]);
	mutex_lock(&dom->lock);
	dom->stat[MMPATH_ATTACH_FAILED]++;
	mutex_unlock(&dom->lock);
}

/* mmpath_track(), which puts a context that could not join its first domain on @list */
static int __mmpath_track(struct mm_struct *mm, struct mmpath_domain *dom,
			  struct list_head *list)
{
	int ret, new = mmpath_lock_to_attach(mm);
	struct mmpath_ctx *ctx;
	bool joins = false;

	if (new < 0) {
		mmpath_sync_again();
		return new;
	}
	ret = -ENODEV;
	if (!mmpath_on())
		goto out;
	ret = -ENOENT;
	if (WARN_ON_ONCE(dom->dead))
		goto out_mm;
	if (new) {
		ctx = mmpath_attach(mm, NULL);
	} else {
		ctx = rcu_dereference_protected(mm->mmpath, lockdep_is_held(&mmpath_mutex));
		joins = !mmpath_ctx_in(ctx, dom);
	}
	ret = PTR_ERR_OR_ZERO(ctx);
	if (!ret)
		ret = mmpath_add_domain(ctx, dom);
	/* @dom has not counted what it did before in this epoch */
	if (!ret && joins)
		mmpath_domain_saw_others(dom);
	if (ret)
		mmpath_attach_failed(dom);
	else if (new)
		mmpath_scan_soon(ctx);
	if (ret && new && !IS_ERR(ctx))
		mmpath_unpublish(ctx, list);
out_mm:
	if (new)
		mmap_read_unlock(mm);
out:
	mutex_unlock(&mmpath_mutex);
	return ret;
}

/**
 * mmpath_track() - track a program for a domain
 * @mm: of the program, with a user
 * @dom: the domain that gets its curve
 *
 * A program that runs already is scanned soon; mmpath_finish_scans() waits for that.
 *
 * Context: may sleep; takes mmpath_track_mutex, mmpath_mutex and mmap_lock.
 * Return: 0, also when @dom tracks @mm already; -ENODEV when tracking is not
 * enabled, -EBUSY when the program keeps its mmap_lock, -EOPNOTSUPP for an mm with MMU
 * notifiers, -ENOSPC when too many domains want it, -ENOMEM. On error all is as before.
 */
int mmpath_track(struct mm_struct *mm, struct mmpath_domain *dom)
{
	LIST_HEAD(list);
	int ret;

	/* a sync calls this for all programs, and most are in already */
	if (mmpath_mm_in(mm, dom))
		return 0;
	mutex_lock(&mmpath_track_mutex);
	ret = __mmpath_track(mm, dom, &list);
	mmpath_detach_list(&list);
	mutex_unlock(&mmpath_track_mutex);
	return ret;
}

/* Take @ctx out of @dom. If it is its last domain, put it on @list to be detached. */
static void mmpath_leave(struct mmpath_ctx *ctx, struct mmpath_domain *dom,
			 struct list_head *list)
{
	struct mm_struct *mm = ctx->d.mm;

	lockdep_assert_held(&mmpath_mutex);
	if (!mmpath_ctx_in(ctx, dom))
		return;
	if (ctx->nr_domains == 1) {
		mmpath_unpublish(ctx, list);
		return;
	}
	/* an mm without users is ending, and that end takes it out of @dom */
	if (!mmget_not_zero(mm))
		return;
	if (!mmpath_ctx_gone(ctx))
		mmpath_del_domain(ctx, dom);
	mmput_async(mm);
}

/**
 * mmpath_untrack() - take programs out of a domain
 * @dom: the domain
 * @ctx: the contexts of the programs, each with a reference, which is dropped
 * @nr: how many
 *
 * With its last domain a context goes; all of them wait for one grace period. Context: may sleep;
 * takes mmpath_track_mutex and mmpath_mutex.
 */
void mmpath_untrack(struct mmpath_domain *dom, struct mmpath_ctx **ctx, unsigned int nr)
{
	LIST_HEAD(list);

	if (!nr)
		return;
	mutex_lock(&mmpath_track_mutex);
	mutex_lock(&mmpath_mutex);
	while (nr--) {
		mmpath_leave(ctx[nr], dom, &list);
		mmpath_ctx_put(ctx[nr]);
	}
	mutex_unlock(&mmpath_mutex);
	mmpath_detach_list(&list);
	mutex_unlock(&mmpath_track_mutex);
}

/**
 * mmpath_untrack_all() - empty a domain for good
 * @dom: the domain; before mmpath_domain_destroy()
 *
 * Children that are forked meanwhile do not join it. Context: may sleep; takes
 * mmpath_track_mutex and mmpath_mutex.
 */
void mmpath_untrack_all(struct mmpath_domain *dom)
{
	struct mmpath_ctx *ctx;
	unsigned long id;
	LIST_HEAD(list);

	mutex_lock(&mmpath_track_mutex);
	mutex_lock(&mmpath_mutex);
	dom->dead = true;
	mmpath_for_each_member(ctx, id, dom)
		mmpath_leave(ctx, dom, &list);
	mutex_unlock(&mmpath_mutex);
	mmpath_detach_list(&list);
	mutex_unlock(&mmpath_track_mutex);
}

/* fork, exec, exit: the hooks that may sleep and need the locks above */

static bool mmpath_any_alive(const struct mmpath_ctx *ctx)
{
	int i;

	for (i = 0; i < ctx->nr_domains; i++)
		if (!ctx->domains[i]->dead)
			return true;
	return false;
}

/*
 * @mm joins the domains of @parent, but not those that end. A context that could not join its
 * first one is hidden from the hooks, and @failed.
 */
static int mmpath_join(struct mm_struct *mm, struct mmpath_ctx *parent, bool forked,
		       struct mmpath_ctx **failed)
{
	struct mmpath_ctx *ctx;
	int i, ret;

	/* mmpath_mutex keeps the parent's domains as they are */
	lockdep_assert_held(&mmpath_mutex);
	if (!mmpath_on() || mmpath_ctx_gone(parent) || !mmpath_any_alive(parent))
		return -ENOENT;
	/* a sync may have found a program that was just executed */
	ctx = rcu_dereference_protected(mm->mmpath, lockdep_is_held(&mmpath_mutex));
	if (!ctx) {
		/* no other task holds the mmap_lock of a new mm for long */
		mmap_read_lock(mm);
		ctx = mmpath_attach(mm, forked ? parent : NULL);
		mmap_read_unlock(mm);
	}
	ret = PTR_ERR_OR_ZERO(ctx);
	for (i = 0; i < parent->nr_domains && !ret; i++)
		if (!parent->domains[i]->dead)
			ret = mmpath_add_domain(ctx, parent->domains[i]);
	if (ret) {
		mmpath_count(&parent->d, MMPATH_ATTACH_FAILED, 1);
		mmpath_sync_again();
	}
	if (ret && !IS_ERR(ctx) && !ctx->nr_domains) {
		RCU_INIT_POINTER(mm->mmpath, NULL);
		*failed = ctx;
	}
	return ret;
}

static void mmpath_inherit_from(struct mm_struct *mm, struct mm_struct *parent_mm, bool forked)
{
	struct mmpath_ctx *parent = parent_mm ? mmpath_ctx_get(parent_mm) : NULL;
	const struct mmpath_driver *drv;
	struct mmpath_ctx *failed = NULL;
	int ret;

	if (!parent)
		return;
	mutex_lock(&mmpath_mutex);
	drv = mmpath_drv;
	ret = mmpath_join(mm, parent, forked, &failed);
	mutex_unlock(&mmpath_mutex);
	if (failed) {
		synchronize_srcu(&mmpath_srcu);
		mmpath_detach(failed, mm);
	}
	if (ret && forked && drv->clean)
		drv->clean(mm);
	mmpath_ctx_put(parent);
}

void __mmpath_inherit(struct mm_struct *mm, struct mm_struct *parent_mm)
{
	mmpath_inherit_from(mm, parent_mm, true);
}

/*
 * The current task may have used the memory of a process in another cgroup (vfork()), whose
 * domains its own memory has inherited. @old has the owner that it had then.
 */
static void mmpath_exec_elsewhere(struct mm_struct *old)
{
	struct task_struct *owner;
	bool elsewhere;

	rcu_read_lock();
	owner = rcu_dereference(old->owner);
	elsewhere = owner && task_css(owner, memory_cgrp_id) != task_css(current, memory_cgrp_id);
	rcu_read_unlock();
	if (elsewhere)
		mmpath_request_sync();
}

void __mmpath_exec(struct mm_struct *mm, struct mm_struct *old)
{
	mmpath_inherit_from(mm, old, false);
	mmpath_exec_elsewhere(old);
	/* the hardware was told of the new mm before it had a context */
	if (rcu_access_pointer(mm->mmpath))
		mmpath_use_mm(mm);
}

/* Find a domain of @ctx that must not see programs that cannot be dumped. Take a reference. */
static struct mmpath_domain *mmpath_get_restricted(struct mmpath_ctx *ctx)
{
	struct mmpath_domain *dom = NULL;
	int i;

	mutex_lock(&ctx->lock);
	for (i = 0; i < ctx->nr_domains && !dom; i++)
		if (READ_ONCE(ctx->domains[i]->restricted))
			dom = ctx->domains[i];
	if (dom)
		kref_get(&dom->ref);
	mutex_unlock(&ctx->lock);
	return dom;
}

/*
 * A program that was executed has its credentials. What it inherited from one with fewer must
 * not tell of it; perf events end in the same place.
 */
void __mmpath_exec_creds(struct mm_struct *mm)
{
	struct mmpath_ctx *ctx;
	struct mmpath_domain *dom;

	if (get_dumpable(mm) == SUID_DUMP_USER)
		return;
	ctx = mmpath_ctx_get(mm);
	if (!ctx)
		return;
	while (!mmpath_ctx_gone(ctx) && (dom = mmpath_get_restricted(ctx))) {
		kref_get(&ctx->ref);
		mmpath_untrack(dom, &ctx, 1);
		mmpath_domain_put(dom);
	}
	mmpath_ctx_put(ctx);
}

void __mmpath_exit(struct mm_struct *mm)
{
	struct mmpath_ctx *ctx = rcu_dereference_protected(mm->mmpath,
							   !atomic_read(&mm->mm_users));

	if (!ctx)
		return;
	mmpath_detach(ctx, NULL);
	/* an exec whose program came to be tracked when the new mm was there already */
	if (current->mm && !rcu_access_pointer(current->mm->mmpath))
		mmpath_request_sync();
}
