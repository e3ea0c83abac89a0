// SPDX-License-Identifier: GPL-2.0
/*
 * Drivers: which there are, which is in use, and tracking switched on and off.
 *
 * Locks and lifetimes: see core.h.
 */
#include <linux/memcontrol.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include "core.h"

#include <trace/events/mmpath.h>

DEFINE_STATIC_KEY_FALSE(mmpath_key);
LIST_HEAD(mmpath_drivers);
struct mmpath_driver *mmpath_drv;

/**
 * mmpath_register_driver() - make a driver known
 * @drv: the driver; the first one is used until another is chosen
 *
 * Context: at boot; takes mmpath_mutex.
 */
void mmpath_register_driver(struct mmpath_driver *drv)
{
	mutex_lock(&mmpath_mutex);
	list_add_tail(&drv->node, &mmpath_drivers);
	if (!mmpath_drv)
		mmpath_drv = drv;
	mutex_unlock(&mmpath_mutex);
}

/**
 * mmpath_driver() - return the driver in use
 *
 * Return: NULL when there is none. Drivers never go away.
 */
const struct mmpath_driver *mmpath_driver(void)
{
	return READ_ONCE(mmpath_drv);
}

static struct mmpath_driver *mmpath_find_driver(const char *name)
{
	struct mmpath_driver *drv;

	lockdep_assert_held(&mmpath_mutex);
	list_for_each_entry(drv, &mmpath_drivers, node)
		if (sysfs_streq(name, drv->name))
			return drv;
	return NULL;
}

/**
 * mmpath_start_driver() - have a driver track a context
 * @ctx: the context, without a driver
 * @drv: the driver
 *
 * The first scan is left to a worker: it may take long. Context: may sleep; mmpath_mutex is
 * held. Return: 0 or what the driver's attach() says.
 */
int mmpath_start_driver(struct mmpath_ctx *ctx, struct mmpath_driver *drv)
{
	int ret = drv->attach(&ctx->d);

	if (ret)
		return ret;
	mmpath_wake(ctx);
	/* pairs with mmpath_drv_of(): drv_data is ready */
	smp_store_release(&ctx->drv, drv);
	return 0;
}

/**
 * mmpath_stop_driver() - undo mmpath_start_driver()
 * @ctx: the context; no hook finds @drv there any more
 * @drv: the driver, or NULL
 * @mm: of the context, with a user; or NULL when it is exiting
 *
 * Context: may sleep; ctx->alive is held.
 */
void mmpath_stop_driver(struct mmpath_ctx *ctx, const struct mmpath_driver *drv,
			struct mm_struct *mm)
{
	lockdep_assert_held(&ctx->alive);
	if (!drv)
		return;
	drv->detach(&ctx->d, mm);
	ctx->d.drv_data = NULL;
}

/* Hide the driver from the hooks. mmpath_stop_drivers() stops it then. */
VISIBLE_IF_KUNIT void mmpath_unplug(struct mmpath_ctx *ctx, struct list_head *list)
{
	if (!mmpath_collect(ctx, list))
		return;
	ctx->old_drv = ctx->drv;
	WRITE_ONCE(ctx->drv, NULL);
}

static void mmpath_stop_drivers(struct list_head *list)
{
	struct mmpath_ctx *ctx;

	lockdep_assert_held(&mmpath_track_mutex);
	lockdep_assert_not_held(&mmpath_mutex);
	if (list_empty(list))
		return;
	synchronize_srcu(&mmpath_srcu);
	list_for_each_entry(ctx, list, node) {
		mutex_lock(&ctx->alive);
		mmpath_stop_driver(ctx, ctx->old_drv, ctx->d.mm);
		ctx->old_drv = NULL;
		mutex_unlock(&ctx->alive);
	}
}

/**
 * mmpath_lock_alive() - take mmpath_mutex and ctx->alive
 * @ctx: the context
 *
 * Neither is held while the other is waited for. Context: may sleep.
 */
void mmpath_lock_alive(struct mmpath_ctx *ctx)
{
	mutex_lock(&mmpath_mutex);
	while (!mutex_trylock(&ctx->alive)) {
		mutex_unlock(&mmpath_mutex);
		mutex_lock(&ctx->alive);
		mutex_unlock(&ctx->alive);
		mutex_lock(&mmpath_mutex);
	}
}

/* Have the driver in use track @ctx. If it cannot, the context has no driver. */
static void mmpath_restart(struct mmpath_ctx *ctx)
{
	/* what two drivers have counted does not add up */
	const struct mmpath_seen others = { .as = MMPATH_SEEN_OTHERS };
	struct mem_cgroup *memcg = get_mem_cgroup_from_mm(ctx->d.mm), *old;
	int ret;

	mutex_lock(&ctx->lock);
	mmpath_seen_add(&ctx->seen, &others);
	mutex_unlock(&ctx->lock);
	old = set_active_memcg(memcg);
	mmpath_lock_alive(ctx);
	ret = mmpath_start_driver(ctx, mmpath_drv);
	mutex_unlock(&ctx->alive);
	mutex_unlock(&mmpath_mutex);
	if (ret)
		mmpath_count(&ctx->d, MMPATH_ATTACH_FAILED, 1);
	else
		mmpath_scan_soon(ctx);
	set_active_memcg(old);
	mem_cgroup_put(memcg);
}

VISIBLE_IF_KUNIT void mmpath_restart_list(struct list_head *list)
{
	struct mmpath_ctx *ctx, *next;

	mmpath_stop_drivers(list);
	list_for_each_entry_safe(ctx, next, list, node) {
		mmpath_restart(ctx);
		mmpath_release(ctx);
	}
}

static int mmpath_start(const struct mmpath_driver *drv)
{
	return drv->start ? drv->start() : 0;
}

static void mmpath_stop(const struct mmpath_driver *drv)
{
	if (drv->stop)
		drv->stop();
}

#ifdef CONFIG_MMPATH_DRV_VPATH
DEFINE_STATIC_KEY_FALSE(mmpath_hw_key);

/* Only hardware wants to know of context switches and ticks. */
VISIBLE_IF_KUNIT void mmpath_set_hw_key(bool on)
{
	if (on && mmpath_drv->use_context)
		static_branch_enable(&mmpath_hw_key);
	else
		static_branch_disable(&mmpath_hw_key);
}
#else
VISIBLE_IF_KUNIT void mmpath_set_hw_key(bool on) { }
#endif

/**
 * mmpath_set_driver() - change the driver
 * @name: of the new one; the one in use is attached anew
 *
 * Models stay as they are. Context: may sleep; takes mmpath_track_mutex and mmpath_mutex.
 * Return: 0, or -ENODEV if there is no such driver, or no hardware for it, or what
 * else keeps it from starting. On error all is as before.
 */
int mmpath_set_driver(const char *name)
{
	struct mmpath_driver *old, *drv;
	struct mmpath_ctx *ctx;
	int ret = -ENODEV;
	unsigned long id;
	LIST_HEAD(list);

	mutex_lock(&mmpath_track_mutex);
	mutex_lock(&mmpath_mutex);
	old = mmpath_drv;
	drv = mmpath_find_driver(name);
	/* also when tracking is off, to say at once that it cannot be */
	if (drv)
		ret = mmpath_start(drv);
	if (ret)
		goto out;
	trace_mmpath_driver(old->name, drv->name);
	WRITE_ONCE(mmpath_drv, drv);
	this_cpu_inc(mmpath_stats[MMPATH_DRIVER_SWITCHES]);
	mmpath_set_hw_key(mmpath_on());
	mmpath_for_each_ctx(ctx, id)
		mmpath_unplug(ctx, &list);
	/* children that are forked now have the new one */
	mutex_unlock(&mmpath_mutex);
	mmpath_restart_list(&list);
	mutex_lock(&mmpath_mutex);
	if (!mmpath_on())
		mmpath_stop(drv);
	else if (old != drv)
		mmpath_stop(old);
out:
	mutex_unlock(&mmpath_mutex);
	mutex_unlock(&mmpath_track_mutex);
	if (!ret)
		mmpath_finish_scans();
	return ret;
}

/**
 * mmpath_driver_lost() - take all contexts from a driver that cannot go on
 * @drv: the driver
 *
 * Its contexts stay, with what is known of them, and get no more records until
 * another driver is chosen. Context: may sleep; takes mmpath_track_mutex and mmpath_mutex.
 */
void mmpath_driver_lost(const struct mmpath_driver *drv)
{
	struct mmpath_ctx *ctx, *next;
	unsigned long id;
	LIST_HEAD(list);

	mutex_lock(&mmpath_track_mutex);
	mutex_lock(&mmpath_mutex);
	mmpath_for_each_ctx(ctx, id)
		if (ctx->drv == drv)
			mmpath_unplug(ctx, &list);
	mutex_unlock(&mmpath_mutex);
	mmpath_stop_drivers(&list);
	list_for_each_entry_safe(ctx, next, &list, node) {
		mmpath_count(&ctx->d, MMPATH_DRIVER_LOST, 1);
		mmpath_release(ctx);
	}
	mutex_unlock(&mmpath_track_mutex);
}

/**
 * mmpath_set_param() - set a parameter of a driver
 * @drv: the driver
 * @param: one of its parameters
 * @val: the new value
 *
 * Context: may sleep; takes mmpath_mutex.
 * Return: 0; -ERANGE if @val is out of range or does not go with the others,
 * -EINVAL if it is no power of two where it has to be.
 */
int mmpath_set_param(struct mmpath_driver *drv, struct mmpath_param *param,
		     unsigned long val)
{
	unsigned long old;
	int ret = 0;

	if (val < param->min || val > param->max)
		return -ERANGE;
	if (param->pow2 && !is_power_of_2(val))
		return -EINVAL;
	mutex_lock(&mmpath_mutex);
	old = param->val;
	WRITE_ONCE(param->val, val);
	if (drv->check && !drv->check()) {
		WRITE_ONCE(param->val, old);
		ret = -ERANGE;
	}
	mutex_unlock(&mmpath_mutex);
	return ret;
}

static int mmpath_enable(void)
{
	int ret = -ENODEV;

	mutex_lock(&mmpath_mutex);
	if (mmpath_drv)
		ret = mmpath_start(mmpath_drv);
	if (!ret) {
		mmpath_set_hw_key(true);
		static_branch_enable(&mmpath_key);
		mmpath_queue_epoch();
		mmpath_request_sync();
	}
	mutex_unlock(&mmpath_mutex);
	return ret;
}

static void mmpath_disable(void)
{
	struct mmpath_ctx *ctx;
	unsigned long id;
	LIST_HEAD(list);

	mutex_lock(&mmpath_mutex);
	/* from here on no child inherits tracking */
	static_branch_disable(&mmpath_key);
	mmpath_for_each_ctx(ctx, id)
		mmpath_unpublish(ctx, &list);
	mutex_unlock(&mmpath_mutex);
	mmpath_detach_list(&list);
	mutex_lock(&mmpath_mutex);
	mmpath_set_hw_key(false);
	mmpath_stop(mmpath_drv);
	mutex_unlock(&mmpath_mutex);
}

/**
 * mmpath_set_enabled() - switch tracking on or off
 * @on: on
 *
 * Context: may sleep; takes mmpath_track_mutex and mmpath_mutex.
 * Return: 0, or -ENODEV if there is no driver or no hardware for it.
 */
int mmpath_set_enabled(bool on)
{
	int ret = 0;

	mutex_lock(&mmpath_track_mutex);
	if (on && !mmpath_on())
		ret = mmpath_enable();
	else if (!on && mmpath_on())
		mmpath_disable();
	mutex_unlock(&mmpath_track_mutex);
	/* the write ends when the programs that run are tracked */
	if (on && !ret) {
		mmpath_finish_sync();
		mmpath_finish_scans();
	}
	return ret;
}
