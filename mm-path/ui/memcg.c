// SPDX-License-Identifier: GPL-2.0
/*
 * memory.path.*: which cgroups are tracked, and their curves.
 *
 * A cgroup with 1 in memory.path.track has a domain, found by the cgroup's id. The
 * domain has the processes of the cgroup and of all cgroups below it. A sync adds
 * the processes of the subtree to the domain, and removes those that have left the
 * subtree. It runs when the file is written, after processes were moved or were
 * forked into another cgroup, and each epoch. Other children, and programs that are
 * executed, inherit the domain without a sync.
 *
 * An entry holds a reference to its cgroup. The end of a cgroup requests a sync, which
 * drops the entry, also when tracking is not enabled.
 *
 * mmpath_memcg_mutex protects the table; it is outside of mmpath_mutex. A sync may
 * hold it for long. So a file that prints a domain does not take the mutex, but a
 * reference to the domain, under the lock of the xarray: see
 * mmpath_memcg_get_domain().
 */
#include <linux/cgroup.h>
#include <linux/memcontrol.h>
#include <linux/oom.h>
#include <linux/sched/mm.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include "ui.h"

struct mmpath_memcg {
	struct cgroup_subsys_state *css;
	struct mmpath_domain *dom;
	struct mmpath_sharer sharer;
};

static DEFINE_MUTEX(mmpath_memcg_mutex);
static DEFINE_XARRAY(mmpath_memcgs);
static bool mmpath_memcg_used;	/* a cgroup was tracked or balanced since boot */
static bool mmpath_memcg_passed;	/* a sync has skipped an unborn child */

static struct mmpath_memcg *mmpath_memcg_find(struct cgroup_subsys_state *css)
{
	lockdep_assert_held(&mmpath_memcg_mutex);
	return xa_load(&mmpath_memcgs, css->id);
}

/* The domain of @css, with a reference, or NULL. An entry in the table has its domain. */
static struct mmpath_domain *mmpath_memcg_get_domain(const struct cgroup_subsys_state *css)
{
	struct mmpath_domain *dom = NULL;
	struct mmpath_memcg *pm;

	xa_lock(&mmpath_memcgs);
	pm = xa_load(&mmpath_memcgs, css->id);
	if (pm) {
		dom = pm->dom;
		kref_get(&dom->ref);
	}
	xa_unlock(&mmpath_memcgs);
	return dom;
}

static struct mmpath_memcg *mmpath_memcg_add(struct cgroup_subsys_state *css)
{
	struct mem_cgroup *memcg = mem_cgroup_from_css(css);
	struct mmpath_memcg *pm = mmpath_model_alloc(memcg, sizeof(*pm), MMPATH_GFP);

	if (!pm)
		return NULL;
	pm->dom = mmpath_domain_create(memcg);
	if (!pm->dom)
		goto err_free;
	if (xa_err(xa_store(&mmpath_memcgs, css->id, pm, GFP_KERNEL)))
		goto err_dom;
	css_get(css);
	pm->css = css;
	WRITE_ONCE(mmpath_memcg_used, true);
	mmpath_sharer_init(&pm->sharer, memcg, pm->dom);
	mmpath_sharer_join(&pm->sharer);
	return pm;

err_dom:
	mmpath_domain_destroy(pm->dom);
err_free:
	kfree(pm);
	return NULL;
}

static void mmpath_memcg_del(struct mmpath_memcg *pm)
{
	lockdep_assert_held(&mmpath_memcg_mutex);
	mmpath_sharer_leave(&pm->sharer);
	mmpath_set_replace(pm->dom, mem_cgroup_from_css(pm->css), MMPATH_MODE_NONE);
	xa_erase(&mmpath_memcgs, pm->css->id);
	mmpath_untrack_all(pm->dom);
	mmpath_domain_destroy(pm->dom);
	css_put(pm->css);
	kfree(pm);
}

/* Is the owner of @mm in the subtree of @css? An mm without an owner is in no subtree. */
static bool mmpath_memcg_has(struct cgroup_subsys_state *css, struct mm_struct *mm)
{
	struct task_struct *owner;
	bool has = false;

	rcu_read_lock();
	owner = rcu_dereference(mm->owner);
	if (owner)
		has = cgroup_is_descendant(task_css(owner, memory_cgrp_id)->cgroup,
					   css->cgroup);
	rcu_read_unlock();
	return has;
}

/* Is the owner of @mm a child in the middle of its fork, which is still in the root cgroup? */
static bool mmpath_memcg_unborn(struct mm_struct *mm)
{
	struct task_struct *owner;
	bool unborn;

	rcu_read_lock();
	owner = rcu_dereference(mm->owner);
	unborn = owner && READ_ONCE(owner->__state) == TASK_NEW &&
		 task_css_is_root(owner, memory_cgrp_id);
	rcu_read_unlock();
	return unborn;
}

/* Does @mm stay in the domain of @css? An unborn child stays in the domains of its parent. */
static bool mmpath_memcg_keeps(struct cgroup_subsys_state *css, struct mm_struct *mm)
{
	if (mmpath_memcg_unborn(mm)) {
		/*
		 * Pairs with __mmpath_memcg_fork(): either the fork sees this, or the sync
		 * sees the child's cgroup.
		 */
		smp_store_mb(mmpath_memcg_passed, true);
		if (mmpath_memcg_unborn(mm))
			return true;
	}
	return mmpath_memcg_has(css, mm);
}

/**
 * mmpath_get_mm() - return the mm of a process
 * @leader: its first thread, which may have ended while others run on
 *
 * Return: the mm with a user, or NULL if there is none, or it is that of a kernel thread.
 */
struct mm_struct *mmpath_get_mm(struct task_struct *leader)
{
	struct task_struct *task = find_lock_task_mm(leader);
	struct mm_struct *mm;

	if (!task)
		return NULL;
	__acquire(&task->alloc_lock);	/* for sparse */
	mm = task->flags & PF_KTHREAD ? NULL : task->mm;
	if (mm)
		mmget(mm);
	task_unlock(task);
	return mm;
}

/* For an mm that several processes share, the cgroup of the owner counts. */
static void mmpath_memcg_track_task(struct mmpath_memcg *pm, struct task_struct *task)
{
	struct mm_struct *mm = mmpath_get_mm(task);

	if (!mm)
		return;
	if (mmpath_memcg_has(pm->css, mm))
		mmpath_track(mm, pm->dom);
	mmput_async(mm);
}

static void mmpath_memcg_track_css(struct mmpath_memcg *pm, struct cgroup_subsys_state *css)
{
	struct task_struct *task;
	struct css_task_iter it;

	css_task_iter_start(css, CSS_TASK_ITER_PROCS, &it);
	while ((task = css_task_iter_next(&it)))
		mmpath_memcg_track_task(pm, task);
	css_task_iter_end(&it);
}

static void mmpath_memcg_sync_in(struct mmpath_memcg *pm)
{
	struct cgroup_subsys_state *css;

	rcu_read_lock();
	css_for_each_descendant_pre(css, pm->css) {
		if (!css_tryget_online(css))
			continue;
		rcu_read_unlock();
		mmpath_memcg_track_css(pm, css);
		rcu_read_lock();
		css_put(css);
	}
	rcu_read_unlock();
}

#define MMPATH_LEAVE	64U	/* programs that wait for one grace period together */

static void mmpath_memcg_sync_out(struct mmpath_memcg *pm)
{
	struct mmpath_ctx *ctx, *leaves[MMPATH_LEAVE];
	unsigned int nr = 0;
	unsigned long id;

	mmpath_for_each_member(ctx, id, pm->dom) {
		if (mmpath_memcg_keeps(pm->css, ctx->d.mm))
			continue;
		kref_get(&ctx->ref);
		leaves[nr++] = ctx;
		if (nr == MMPATH_LEAVE) {
			mmpath_untrack(pm->dom, leaves, nr);
			nr = 0;
		}
	}
	mmpath_untrack(pm->dom, leaves, nr);
}

/* Drop cgroups that were removed, or that have lost the memory controller and its files. */
static void mmpath_memcg_reap(void)
{
	struct mmpath_memcg *pm;
	unsigned long id;

	xa_for_each(&mmpath_memcgs, id, pm)
		if (css_is_dying(pm->css) || !(pm->css->flags & CSS_VISIBLE))
			mmpath_memcg_del(pm);
	mmpath_balance_reap();
	mmpath_prefetch_reap();
}

static void mmpath_memcg_sync(void)
{
	struct mmpath_memcg *pm;
	unsigned long id;

	mutex_lock(&mmpath_memcg_mutex);
	mmpath_memcg_reap();
	xa_for_each(&mmpath_memcgs, id, pm) {
		if (!mmpath_on())
			break;
		mmpath_memcg_sync_out(pm);
		mmpath_memcg_sync_in(pm);
	}
	mutex_unlock(&mmpath_memcg_mutex);
}

/* Each epoch, retry to join balancers that had no free place before, and balance. */
static void mmpath_memcg_epoch(void)
{
	struct mmpath_memcg *pm;
	unsigned long id;

	mutex_lock(&mmpath_memcg_mutex);
	if (mmpath_balancing())
		xa_for_each(&mmpath_memcgs, id, pm)
			mmpath_sharer_join(&pm->sharer);
	mmpath_balance_epoch();
	mutex_unlock(&mmpath_memcg_mutex);
}

void __mmpath_memcg_attach(void)
{
	mmpath_request_sync();
}

/*
 * A child has the domains that its parent had when the memory was copied. A sync must correct
 * them if the child begins in another cgroup than its parent (CLONE_INTO_CGROUP), or if a sync
 * for a move of the parent has skipped the child.
 */
void __mmpath_memcg_fork(struct task_struct *child)
{
	bool elsewhere;

	rcu_read_lock();
	elsewhere = task_css(child, memory_cgrp_id) != task_css(current, memory_cgrp_id);
	rcu_read_unlock();
	smp_mb();	/* pairs with mmpath_memcg_keeps() */
	if (READ_ONCE(mmpath_memcg_passed))
		elsewhere |= xchg(&mmpath_memcg_passed, false);
	if (elsewhere)
		mmpath_request_sync();
}

void mmpath_memcg_offline(void)
{
	if (READ_ONCE(mmpath_memcg_used))
		mmpath_request_sync();
}

/* The files */

static u64 mmpath_track_read(struct cgroup_subsys_state *css, struct cftype *cft)
{
	return !!xa_load(&mmpath_memcgs, css->id);
}

static int mmpath_track_write(struct cgroup_subsys_state *css, struct cftype *cft, u64 val)
{
	struct mmpath_memcg *pm;
	int ret = 0;

	if (val > 1)
		return -EINVAL;
	mutex_lock(&mmpath_memcg_mutex);
	mmpath_memcg_reap();
	pm = mmpath_memcg_find(css);
	if (val && !pm) {
		pm = mmpath_memcg_add(css);
		if (pm)
			mmpath_memcg_sync_in(pm);
		else
			ret = -ENOMEM;
	} else if (!val && pm) {
		mmpath_memcg_del(pm);
	}
	mutex_unlock(&mmpath_memcg_mutex);
	if (val && !ret)
		mmpath_finish_scans();
	return ret;
}

/* Print the domain of a cgroup. */
static int mmpath_memcg_print(struct seq_file *m, struct cgroup_subsys_state *css,
			      int (*show)(struct seq_file *m, struct mmpath_domain *dom))
{
	struct mmpath_domain *dom = mmpath_memcg_get_domain(css);
	int ret;

	if (!dom)
		return -ENODATA;
	ret = show(m, dom);
	mmpath_domain_put(dom);
	return ret;
}

/*
 * A reader may wait for the mmap_lock of a program, for any time, and for mmpath_memcg_mutex while
 * many programs leave a cgroup. A removal of the file holds cgroup_mutex. Without active protection
 * it does not wait for the reader. What the reader uses of the cgroup it must hold.
 */
static struct cgroup_subsys_state *mmpath_memcg_begin_show(struct seq_file *m)
{
	struct kernfs_open_file *of = m->private;
	struct cgroup_subsys_state *css = seq_css(m);

	css_get(css);
	kernfs_break_active_protection(of->kn);
	return css;
}

static void mmpath_memcg_end_show(struct seq_file *m, struct cgroup_subsys_state *css)
{
	struct kernfs_open_file *of = m->private;

	kernfs_unbreak_active_protection(of->kn);
	css_put(css);
}

static int mmpath_memcg_show(struct seq_file *m,
			     int (*show)(struct seq_file *m, struct mmpath_domain *dom))
{
	struct cgroup_subsys_state *css = mmpath_memcg_begin_show(m);
	int ret = mmpath_memcg_print(m, css, show);

	mmpath_memcg_end_show(m, css);
	return ret;
}

static int mmpath_mrc_show(struct seq_file *m, void *v)
{
	return mmpath_memcg_show(m, mmpath_show_mrc);
}

static int mmpath_regions_show(struct seq_file *m, void *v)
{
	return mmpath_memcg_show(m, mmpath_show_regions);
}

static int mmpath_region_mrc_show(struct seq_file *m, void *v)
{
	return mmpath_memcg_show(m, mmpath_show_region_mrc);
}

/* Call @fn for the entry of @css, if it has one, under the mutex. */
static int mmpath_memcg_call(struct cgroup_subsys_state *css,
			     void (*fn)(struct mmpath_memcg *pm, void *arg), void *arg)
{
	struct mmpath_memcg *pm;

	mutex_lock(&mmpath_memcg_mutex);
	pm = mmpath_memcg_find(css);
	if (pm)
		fn(pm, arg);
	mutex_unlock(&mmpath_memcg_mutex);
	return pm ? 0 : -ENODATA;
}

static void mmpath_stat_of(struct mmpath_memcg *pm, void *m)
{
	mmpath_show_predictions(m, &pm->sharer);
}

static int mmpath_stat_show(struct seq_file *m, void *v)
{
	struct cgroup_subsys_state *css = mmpath_memcg_begin_show(m);
	int ret, prefetch;

	ret = mmpath_memcg_print(m, css, mmpath_show_stat) ?:
		mmpath_memcg_call(css, mmpath_stat_of, m);
	mutex_lock(&mmpath_memcg_mutex);
	prefetch = mmpath_show_prefetch(m, mem_cgroup_from_css(css));
	mutex_unlock(&mmpath_memcg_mutex);
	mmpath_memcg_end_show(m, css);
	return ret == -ENODATA ? prefetch : ret;
}

static void mmpath_mrc_reset_of(struct mmpath_memcg *pm, void *arg)
{
	mmpath_reset_domain(pm->dom);
}

static ssize_t mmpath_mrc_write(struct kernfs_open_file *of, char *buf, size_t nbytes,
				loff_t off)
{
	if (strcmp(strstrip(buf), "reset"))
		return -EINVAL;
	return mmpath_memcg_call(of_css(of), mmpath_mrc_reset_of, NULL) ?: nbytes;
}

#ifdef CONFIG_MMPATH_REPLACE
static int mmpath_replace_show(struct seq_file *m, void *v)
{
	struct mmpath_domain *dom = mmpath_memcg_get_domain(seq_css(m));

	mmpath_show_words(m, mmpath_mode_names, NR_MMPATH_MODES,
			  dom ? mmpath_replace_mode(dom) : MMPATH_MODE_NONE);
	if (dom)
		mmpath_domain_put(dom);
	return 0;
}

static ssize_t mmpath_replace_write(struct kernfs_open_file *of, char *buf, size_t nbytes,
				    loff_t off)
{
	int mode = sysfs_match_string(mmpath_mode_names, strstrip(buf));
	struct mmpath_memcg *pm;
	int ret = 0;

	if (mode < 0)
		return mode;
	mutex_lock(&mmpath_memcg_mutex);
	pm = mmpath_memcg_find(of_css(of));
	if (pm)
		ret = mmpath_set_replace(pm->dom, mem_cgroup_from_css(pm->css), mode);
	else if (mode != MMPATH_MODE_NONE)
		ret = -ENODATA;
	mutex_unlock(&mmpath_memcg_mutex);
	return ret ?: nbytes;
}
#endif

#ifdef CONFIG_MMPATH_BALANCE
static int mmpath_balance_show(struct seq_file *m, void *v)
{
	mutex_lock(&mmpath_memcg_mutex);
	mmpath_show_words(m, mmpath_balance_names, NR_MMPATH_BALANCES,
			  mmpath_balance_mode(mem_cgroup_from_seq(m)));
	mutex_unlock(&mmpath_memcg_mutex);
	return 0;
}

static int mmpath_balance_stat_show(struct seq_file *m, void *v)
{
	int ret;

	mutex_lock(&mmpath_memcg_mutex);
	ret = mmpath_show_balance_stat(m, mem_cgroup_from_seq(m));
	mutex_unlock(&mmpath_memcg_mutex);
	return ret;
}

static ssize_t mmpath_balance_write(struct kernfs_open_file *of, char *buf, size_t nbytes,
				    loff_t off)
{
	int mode = sysfs_match_string(mmpath_balance_names, strstrip(buf)), ret;
	struct mmpath_memcg *pm;
	unsigned long id;

	if (mode < 0)
		return mode;
	mutex_lock(&mmpath_memcg_mutex);
	mmpath_memcg_reap();
	WRITE_ONCE(mmpath_memcg_used, true);
	ret = mmpath_set_balance(mem_cgroup_from_css(of_css(of)), mode);
	xa_for_each(&mmpath_memcgs, id, pm)
		mmpath_sharer_join(&pm->sharer);
	mutex_unlock(&mmpath_memcg_mutex);
	return ret ?: nbytes;
}

static void mmpath_weight_of(struct mmpath_memcg *pm, void *m)
{
	seq_printf(m, "%u\n", pm->sharer.share.weight);
}

static int mmpath_weight_show(struct seq_file *m, void *v)
{
	return mmpath_memcg_call(seq_css(m), mmpath_weight_of, m);
}

static void mmpath_weight_set(struct mmpath_memcg *pm, void *weight)
{
	pm->sharer.share.weight = *(unsigned int *)weight;
}

static ssize_t mmpath_weight_write(struct kernfs_open_file *of, char *buf, size_t nbytes,
				   loff_t off)
{
	unsigned int weight;
	int ret = kstrtouint(strstrip(buf), 10, &weight);

	if (ret)
		return ret;
	if (!weight || weight > MMPATH_WEIGHT_MOST)
		return -ERANGE;
	return mmpath_memcg_call(of_css(of), mmpath_weight_set, &weight) ?: nbytes;
}

static void mmpath_sla_of(struct mmpath_memcg *pm, void *m)
{
	if (pm->sharer.share.sla == U64_MAX)
		seq_puts(m, "max\n");
	else
		seq_printf(m, "%llu\n", pm->sharer.share.sla);
}

static int mmpath_sla_show(struct seq_file *m, void *v)
{
	return mmpath_memcg_call(seq_css(m), mmpath_sla_of, m);
}

static void mmpath_sla_set(struct mmpath_memcg *pm, void *sla)
{
	pm->sharer.share.sla = *(u64 *)sla;
}

static ssize_t mmpath_sla_write(struct kernfs_open_file *of, char *buf, size_t nbytes,
				loff_t off)
{
	unsigned int rate;
	u64 sla = U64_MAX;
	int ret;

	buf = strstrip(buf);
	if (strcmp(buf, "max")) {
		ret = kstrtouint(buf, 10, &rate);
		if (ret)
			return ret;
		sla = rate;
	}
	return mmpath_memcg_call(of_css(of), mmpath_sla_set, &sla) ?: nbytes;
}

static void mmpath_target_of(struct mmpath_memcg *pm, void *m)
{
	mmpath_show_target(m, &pm->sharer);
}

static int mmpath_target_show(struct seq_file *m, void *v)
{
	return mmpath_memcg_call(seq_css(m), mmpath_target_of, m);
}
#endif

#ifdef CONFIG_MMPATH_PREFETCH
static int mmpath_prefetch_show(struct seq_file *m, void *v)
{
	mutex_lock(&mmpath_memcg_mutex);
	mmpath_show_words(m, mmpath_prefetch_names, NR_MMPATH_PREFETCHES,
			  mmpath_prefetch_mode(mem_cgroup_from_seq(m)));
	mutex_unlock(&mmpath_memcg_mutex);
	return 0;
}

static ssize_t mmpath_prefetch_write(struct kernfs_open_file *of, char *buf, size_t nbytes,
				     loff_t off)
{
	int mode = sysfs_match_string(mmpath_prefetch_names, strstrip(buf)), ret;

	if (mode < 0)
		return mode;
	mutex_lock(&mmpath_memcg_mutex);
	mmpath_memcg_reap();
	WRITE_ONCE(mmpath_memcg_used, true);
	ret = mmpath_set_prefetch(mem_cgroup_from_css(of_css(of)), mode);
	mutex_unlock(&mmpath_memcg_mutex);
	return ret ?: nbytes;
}
#endif

static struct cftype mmpath_files[] = {
	{
		.name = "path.track",
		.flags = CFTYPE_NOT_ON_ROOT,
		.read_u64 = mmpath_track_read,
		.write_u64 = mmpath_track_write,
	},
	{
		.name = "path.mrc",
		.flags = CFTYPE_NOT_ON_ROOT,
		.seq_show = mmpath_mrc_show,
		.write = mmpath_mrc_write,
	},
	{
		.name = "path.regions",
		.flags = CFTYPE_NOT_ON_ROOT,
		.seq_show = mmpath_regions_show,
	},
	{
		.name = "path.region_mrc",
		.flags = CFTYPE_NOT_ON_ROOT,
		.seq_show = mmpath_region_mrc_show,
	},
	{
		.name = "path.stat",
		.flags = CFTYPE_NOT_ON_ROOT,
		.seq_show = mmpath_stat_show,
	},
#ifdef CONFIG_MMPATH_REPLACE
	{
		.name = "path.replace",
		.flags = CFTYPE_NOT_ON_ROOT,
		.seq_show = mmpath_replace_show,
		.write = mmpath_replace_write,
	},
#endif
#ifdef CONFIG_MMPATH_BALANCE
	{
		.name = "path.balance",
		.flags = CFTYPE_NOT_ON_ROOT,
		.seq_show = mmpath_balance_show,
		.write = mmpath_balance_write,
	},
	{
		.name = "path.balance_stat",
		.flags = CFTYPE_NOT_ON_ROOT,
		.seq_show = mmpath_balance_stat_show,
	},
	{
		.name = "path.weight",
		.flags = CFTYPE_NOT_ON_ROOT,
		.seq_show = mmpath_weight_show,
		.write = mmpath_weight_write,
	},
	{
		.name = "path.sla",
		.flags = CFTYPE_NOT_ON_ROOT,
		.seq_show = mmpath_sla_show,
		.write = mmpath_sla_write,
	},
	{
		.name = "path.target",
		.flags = CFTYPE_NOT_ON_ROOT,
		.seq_show = mmpath_target_show,
	},
#endif
#ifdef CONFIG_MMPATH_PREFETCH
	{
		.name = "path.prefetch",
		.flags = CFTYPE_NOT_ON_ROOT,
		.seq_show = mmpath_prefetch_show,
		.write = mmpath_prefetch_write,
	},
	{
		.name = "path.prefetch_regions",
		.flags = CFTYPE_NOT_ON_ROOT,
		.seq_start = mmpath_prefetch_regions_start,
		.seq_next = mmpath_prefetch_regions_next,
		.seq_stop = mmpath_prefetch_regions_stop,
		.seq_show = mmpath_prefetch_regions_show,
	},
#endif
	{ }	/* terminate */
};

static int __init mmpath_memcg_init(void)
{
	mmpath_on_sync(mmpath_memcg_sync);
	mmpath_on_epoch(mmpath_memcg_epoch);
	return cgroup_add_dfl_cftypes(&memory_cgrp_subsys, mmpath_files);
}
subsys_initcall(mmpath_memcg_init);

#ifdef CONFIG_MMPATH_KUNIT_TEST
#include "tests/memcg-kunit.h"
#endif
