// SPDX-License-Identifier: GPL-2.0
/*
 * memory.path.*: which cgroups are tracked, and their curves.
 *
 * A cgroup whose memory.path.track is 1 has a domain, found by the cgroup's
 * id. It tracks the processes of the cgroup and of all below it. Who belongs
 * to it is settled by a sync: every process in the subtree is tracked, every
 * context in the domain whose process has left the subtree is let go. A sync
 * runs when the file is written, after processes were moved, and each epoch.
 * Children and executed programs inherit without one.
 *
 * An entry holds a reference to its cgroup. A removed cgroup stays until the
 * next sync, or the next write to a memory.path.track, drops the entry.
 *
 * mmpath_memcg_mutex protects the table; it is outside of mmpath_mutex.
 */
#include <linux/cgroup.h>
#include <linux/memcontrol.h>
#include <linux/sched/mm.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include "internal.h"

struct mmpath_memcg {
	struct cgroup_subsys_state *css;
	struct mmpath_domain *dom;
	struct mmpath_sharer sharer;
};

static DEFINE_MUTEX(mmpath_memcg_mutex);
static DEFINE_XARRAY(mmpath_memcgs);

static struct mmpath_memcg *mmpath_memcg_find(struct cgroup_subsys_state *css)
{
	lockdep_assert_held(&mmpath_memcg_mutex);
	return xa_load(&mmpath_memcgs, css->id);
}

static struct mmpath_memcg *mmpath_memcg_add(struct cgroup_subsys_state *css)
{
	struct mmpath_memcg *pm = kzalloc(sizeof(*pm), GFP_KERNEL);

	if (!pm)
		return NULL;
	pm->dom = mmpath_domain_create();
	if (!pm->dom)
		goto err_free;
	if (xa_err(xa_store(&mmpath_memcgs, css->id, pm, GFP_KERNEL)))
		goto err_dom;
	css_get(css);
	pm->css = css;
	mmpath_sharer_init(&pm->sharer, mem_cgroup_from_css(css), pm->dom);
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

/* Is the owner of @mm below @css? Who has no owner any more is as well gone. */
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

/* Of an mm that several processes share, it is the owner who counts. */
static void mmpath_memcg_track_task(struct mmpath_memcg *pm, struct task_struct *task)
{
	struct mm_struct *mm = get_task_mm(task);

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

static void mmpath_memcg_sync_out(struct mmpath_memcg *pm)
{
	struct mmpath_ctx *ctx;
	unsigned long id;

	mmpath_for_each_ctx(ctx, id)
		if (mmpath_ctx_in(ctx, pm->dom) && !mmpath_memcg_has(pm->css, ctx->mm))
			mmpath_untrack(ctx, pm->dom);
}

/* Let removed cgroups go, and those that have lost the memory controller, and our files with it. */
static void mmpath_memcg_reap(void)
{
	struct mmpath_memcg *pm;
	unsigned long id;

	xa_for_each(&mmpath_memcgs, id, pm)
		if (css_is_dying(pm->css) || !(pm->css->flags & CSS_VISIBLE))
			mmpath_memcg_del(pm);
	mmpath_balance_reap();
}

static void mmpath_memcg_sync(void)
{
	struct mmpath_memcg *pm;
	unsigned long id;

	mutex_lock(&mmpath_memcg_mutex);
	mmpath_memcg_reap();
	xa_for_each(&mmpath_memcgs, id, pm) {
		mmpath_sharer_join(&pm->sharer);
		mmpath_memcg_sync_out(pm);
		mmpath_memcg_sync_in(pm);
	}
	mutex_unlock(&mmpath_memcg_mutex);
}

static void mmpath_memcg_epoch(void)
{
	mutex_lock(&mmpath_memcg_mutex);
	mmpath_balance_epoch();
	mutex_unlock(&mmpath_memcg_mutex);
}

void __mmpath_memcg_attach(void)
{
	mmpath_request_sync();
}

/* The files */

static u64 mmpath_track_read(struct cgroup_subsys_state *css, struct cftype *cft)
{
	u64 on;

	mutex_lock(&mmpath_memcg_mutex);
	on = !!mmpath_memcg_find(css);
	mutex_unlock(&mmpath_memcg_mutex);
	return on;
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
	return ret;
}

static int mmpath_memcg_show(struct seq_file *m,
			     void (*show)(struct seq_file *m, struct mmpath_domain *dom))
{
	struct mmpath_memcg *pm;

	mutex_lock(&mmpath_memcg_mutex);
	pm = mmpath_memcg_find(seq_css(m));
	if (pm)
		show(m, pm->dom);
	mutex_unlock(&mmpath_memcg_mutex);
	return pm ? 0 : -ENODATA;
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

static int mmpath_stat_show(struct seq_file *m, void *v)
{
	struct mmpath_memcg *pm;

	mutex_lock(&mmpath_memcg_mutex);
	pm = mmpath_memcg_find(seq_css(m));
	if (pm) {
		mmpath_show_stat(m, pm->dom);
		mmpath_show_predictions(m, &pm->sharer);
	}
	mutex_unlock(&mmpath_memcg_mutex);
	return pm ? 0 : -ENODATA;
}

static ssize_t mmpath_mrc_write(struct kernfs_open_file *of, char *buf, size_t nbytes,
				loff_t off)
{
	struct mmpath_memcg *pm;

	if (strcmp(strstrip(buf), "reset"))
		return -EINVAL;
	mutex_lock(&mmpath_memcg_mutex);
	pm = mmpath_memcg_find(of_css(of));
	if (pm)
		mmpath_reset_domain(pm->dom);
	mutex_unlock(&mmpath_memcg_mutex);
	return pm ? nbytes : -ENODATA;
}

#ifdef CONFIG_MMPATH_REPLACE
static int mmpath_replace_show(struct seq_file *m, void *v)
{
	struct mmpath_memcg *pm;

	mutex_lock(&mmpath_memcg_mutex);
	pm = mmpath_memcg_find(seq_css(m));
	mmpath_show_modes(m, pm ? pm->dom : NULL);
	mutex_unlock(&mmpath_memcg_mutex);
	return 0;
}

static ssize_t mmpath_replace_write(struct kernfs_open_file *of, char *buf, size_t nbytes,
				    loff_t off)
{
	int mode = mmpath_mode_by_name(strstrip(buf));
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
	mmpath_show_balance(m, mem_cgroup_from_seq(m));
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
	int mode = mmpath_balance_by_name(strstrip(buf)), ret;
	struct mmpath_memcg *pm;
	unsigned long id;

	if (mode < 0)
		return mode;
	mutex_lock(&mmpath_memcg_mutex);
	mmpath_memcg_reap();
	ret = mmpath_set_balance(mem_cgroup_from_css(of_css(of)), mode);
	xa_for_each(&mmpath_memcgs, id, pm)
		mmpath_sharer_join(&pm->sharer);
	mutex_unlock(&mmpath_memcg_mutex);
	return ret ?: nbytes;
}

static int mmpath_weight_show(struct seq_file *m, void *v)
{
	struct mmpath_memcg *pm;

	mutex_lock(&mmpath_memcg_mutex);
	pm = mmpath_memcg_find(seq_css(m));
	if (pm)
		seq_printf(m, "%u\n", pm->sharer.share.weight);
	mutex_unlock(&mmpath_memcg_mutex);
	return pm ? 0 : -ENODATA;
}

static ssize_t mmpath_weight_write(struct kernfs_open_file *of, char *buf, size_t nbytes,
				   loff_t off)
{
	struct mmpath_memcg *pm;
	unsigned int weight;
	int ret = kstrtouint(strstrip(buf), 10, &weight);

	if (ret)
		return ret;
	if (!weight || weight > MMPATH_WEIGHT_MOST)
		return -ERANGE;
	mutex_lock(&mmpath_memcg_mutex);
	pm = mmpath_memcg_find(of_css(of));
	if (pm)
		pm->sharer.share.weight = weight;
	mutex_unlock(&mmpath_memcg_mutex);
	return pm ? nbytes : -ENODATA;
}

static int mmpath_sla_show(struct seq_file *m, void *v)
{
	struct mmpath_memcg *pm;

	mutex_lock(&mmpath_memcg_mutex);
	pm = mmpath_memcg_find(seq_css(m));
	if (pm && pm->sharer.share.sla == U64_MAX)
		seq_puts(m, "max\n");
	else if (pm)
		seq_printf(m, "%llu\n", pm->sharer.share.sla);
	mutex_unlock(&mmpath_memcg_mutex);
	return pm ? 0 : -ENODATA;
}

static ssize_t mmpath_sla_write(struct kernfs_open_file *of, char *buf, size_t nbytes,
				loff_t off)
{
	struct mmpath_memcg *pm;
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
	mutex_lock(&mmpath_memcg_mutex);
	pm = mmpath_memcg_find(of_css(of));
	if (pm)
		pm->sharer.share.sla = sla;
	mutex_unlock(&mmpath_memcg_mutex);
	return pm ? nbytes : -ENODATA;
}

static int mmpath_target_show(struct seq_file *m, void *v)
{
	struct mmpath_memcg *pm;

	mutex_lock(&mmpath_memcg_mutex);
	pm = mmpath_memcg_find(seq_css(m));
	if (pm)
		mmpath_show_target(m, &pm->sharer);
	mutex_unlock(&mmpath_memcg_mutex);
	return pm ? 0 : -ENODATA;
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
	{ }	/* terminate */
};

static int __init mmpath_memcg_init(void)
{
	mmpath_on_sync(mmpath_memcg_sync);
	mmpath_on_epoch(mmpath_memcg_epoch);
	return cgroup_add_dfl_cftypes(&memory_cgrp_subsys, mmpath_files);
}
subsys_initcall(mmpath_memcg_init);
