// SPDX-License-Identifier: GPL-2.0
/*
 * /sys/kernel/mm/path. Each file parses, calls one function, and prints. See
 * Documentation/ABI/testing/sysfs-kernel-mm-path.
 */
#define pr_fmt(fmt) "mmpath: " fmt

#include <linux/kobject.h>
#include <linux/log2.h>
#include <linux/slab.h>
#include <linux/sysfs.h>
#include "ui.h"

static struct kobject *mmpath_kobj;

static ssize_t enabled_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%d\n", mmpath_on());
}

static ssize_t enabled_store(struct kobject *kobj, struct kobj_attribute *attr,
			     const char *buf, size_t count)
{
	unsigned int val;
	int ret = kstrtouint(buf, 10, &val);

	if (!ret && val > 1)
		ret = -ERANGE;
	if (!ret)
		ret = mmpath_set_enabled(val);
	return ret ?: count;
}

static struct kobj_attribute enabled_attr = __ATTR_RW(enabled);

static ssize_t driver_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	struct mmpath_driver *drv;
	int len = 0;

	mutex_lock(&mmpath_mutex);
	list_for_each_entry(drv, &mmpath_drivers, node)
		len += sysfs_emit_at(buf, len, drv == mmpath_driver() ? "%s[%s]" : "%s%s",
				     len ? " " : "", drv->name);
	mutex_unlock(&mmpath_mutex);
	return len + sysfs_emit_at(buf, len, "\n");
}

static ssize_t driver_store(struct kobject *kobj, struct kobj_attribute *attr,
			    const char *buf, size_t count)
{
	return mmpath_set_driver(buf) ?: count;
}

static struct kobj_attribute driver_attr = __ATTR_RW(driver);

/* Plain numbers */

static int mmpath_parse(const char *buf, unsigned long min, unsigned long max,
			unsigned long *val)
{
	unsigned long parsed;
	int ret = kstrtoul(buf, 10, &parsed);

	if (ret)
		return ret;
	if (parsed < min || parsed > max)
		return -ERANGE;
	*val = parsed;
	return 0;
}

static ssize_t epoch_ms_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", READ_ONCE(mmpath_config.epoch_ms));
}

static ssize_t epoch_ms_store(struct kobject *kobj, struct kobj_attribute *attr,
			      const char *buf, size_t count)
{
	unsigned long val;
	int ret = mmpath_parse(buf, 100, 60000, &val);

	if (!ret)
		mmpath_set_epoch_ms(val);
	return ret ?: count;
}

static struct kobj_attribute epoch_ms_attr = __ATTR_RW(epoch_ms);

static ssize_t region_min_kb_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%lu\n", READ_ONCE(mmpath_config.region_min_kb));
}

static ssize_t region_min_kb_store(struct kobject *kobj, struct kobj_attribute *attr,
				   const char *buf, size_t count)
{
	unsigned long val;
	int ret = mmpath_parse(buf, 4, 1UL << 30, &val);

	if (!ret)
		WRITE_ONCE(mmpath_config.region_min_kb, val);
	return ret ?: count;
}

static struct kobj_attribute region_min_kb_attr = __ATTR_RW(region_min_kb);

static ssize_t group_pages_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", READ_ONCE(mmpath_config.group_pages));
}

static ssize_t group_pages_store(struct kobject *kobj, struct kobj_attribute *attr,
				 const char *buf, size_t count)
{
	unsigned long val;
	int ret = mmpath_parse(buf, 1, 65536, &val);

	if (!ret && !is_power_of_2(val))
		ret = -EINVAL;
	if (!ret)
		WRITE_ONCE(mmpath_config.group_pages, val);
	return ret ?: count;
}

static struct kobj_attribute group_pages_attr = __ATTR_RW(group_pages);

static ssize_t sample_pages_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%lu\n", READ_ONCE(mmpath_config.sample_pages));
}

static ssize_t sample_pages_store(struct kobject *kobj, struct kobj_attribute *attr,
				  const char *buf, size_t count)
{
	unsigned long val;
	int ret = mmpath_parse(buf, 0, 1UL << 28, &val);

	if (!ret && val && val < 1024)
		ret = -ERANGE;
	if (!ret)
		WRITE_ONCE(mmpath_config.sample_pages, val);
	return ret ?: count;
}

static struct kobj_attribute sample_pages_attr = __ATTR_RW(sample_pages);

static struct attribute *mmpath_attrs[] = {
	&enabled_attr.attr,
	&driver_attr.attr,
	&epoch_ms_attr.attr,
	&region_min_kb_attr.attr,
	&group_pages_attr.attr,
	&sample_pages_attr.attr,
	NULL,
};

static const struct attribute_group mmpath_group = {
	.attrs = mmpath_attrs,
};

/* stats/ */

struct mmpath_stat_attr {
	struct kobj_attribute attr;
	enum mmpath_stat which;
};

static ssize_t mmpath_stat_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	struct mmpath_stat_attr *a = container_of(attr, struct mmpath_stat_attr, attr);

	unsigned long sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu(mmpath_stats, cpu)[a->which]);
	return sysfs_emit(buf, "%lu\n", sum);
}

static ssize_t contexts_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	struct mmpath_ctx *ctx;
	unsigned long id, nr = 0;

	mmpath_for_each_ctx(ctx, id)
		nr++;
	return sysfs_emit(buf, "%lu\n", nr);
}

static struct kobj_attribute contexts_attr = __ATTR_RO(contexts);

static ssize_t trap_ns_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%llu\n", mmpath_trap_ns());
}

static struct kobj_attribute trap_ns_attr = __ATTR_RO(trap_ns);

static void __init mmpath_init_attr(struct kobj_attribute *attr, const char *name,
				    ssize_t (*show)(struct kobject *kobj,
						    struct kobj_attribute *attr, char *buf),
				    ssize_t (*store)(struct kobject *kobj,
						     struct kobj_attribute *attr,
						     const char *buf, size_t count))
{
	sysfs_attr_init(&attr->attr);
	attr->attr.name = name;
	attr->attr.mode = store ? 0644 : 0444;
	attr->show = show;
	attr->store = store;
}

static int __init mmpath_init_stats(void)
{
	struct kobject *dir = kobject_create_and_add("stats", mmpath_kobj);
	static struct mmpath_stat_attr attrs[NR_MMPATH_STATS];
	int i, ret;

	if (!dir)
		return -ENOMEM;
	ret = sysfs_create_file(dir, &contexts_attr.attr);
	if (!ret)
		ret = sysfs_create_file(dir, &trap_ns_attr.attr);
	for (i = 0; !ret && i < NR_MMPATH_STATS; i++) {
		attrs[i].which = i;
		mmpath_init_attr(&attrs[i].attr, mmpath_stat_names[i], mmpath_stat_show, NULL);
		ret = sysfs_create_file(dir, &attrs[i].attr.attr);
	}
	return ret;
}

/* drivers/<name>/ */

struct mmpath_driver_attr {
	struct kobj_attribute attr;
	struct mmpath_driver *drv;
	struct mmpath_param *param;
	const struct mmpath_counter *counter;
};

static ssize_t mmpath_param_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	struct mmpath_driver_attr *a = container_of(attr, struct mmpath_driver_attr, attr);

	return sysfs_emit(buf, "%lu\n", READ_ONCE(a->param->val));
}

static ssize_t mmpath_param_store(struct kobject *kobj, struct kobj_attribute *attr,
				  const char *buf, size_t count)
{
	struct mmpath_driver_attr *a = container_of(attr, struct mmpath_driver_attr, attr);
	unsigned long val;
	int ret = kstrtoul(buf, 10, &val);

	if (!ret)
		ret = mmpath_set_param(a->drv, a->param, val);
	return ret ?: count;
}

static ssize_t mmpath_counter_show(struct kobject *kobj, struct kobj_attribute *attr,
				   char *buf)
{
	struct mmpath_driver_attr *a = container_of(attr, struct mmpath_driver_attr, attr);

	return sysfs_emit(buf, "%llu\n", a->drv->read_counter(a->counter));
}

static ssize_t mmpath_caps_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	static const char * const names[] = {
		"complete", "sampled", "burst", "hardware", "software",
	};
	struct mmpath_driver_attr *a = container_of(attr, struct mmpath_driver_attr, attr);
	int i, len = 0;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (a->drv->caps & BIT(i))
			len += sysfs_emit_at(buf, len, "%s%s", len ? " " : "", names[i]);
	return len + sysfs_emit_at(buf, len, "\n");
}

static int __init mmpath_add_attr(struct kobject *dir, const struct mmpath_driver_attr *like)
{
	struct mmpath_driver_attr *a = kmemdup(like, sizeof(*like), GFP_KERNEL);

	return a ? sysfs_create_file(dir, &a->attr.attr) : -ENOMEM;
}

static int __init mmpath_init_driver(struct kobject *parent, struct mmpath_driver *drv)
{
	struct kobject *dir = kobject_create_and_add(drv->name, parent);
	struct mmpath_driver_attr a = { .drv = drv };
	int ret;

	if (!dir)
		return -ENOMEM;
	mmpath_init_attr(&a.attr, "caps", mmpath_caps_show, NULL);
	ret = mmpath_add_attr(dir, &a);
	for (a.param = drv->params; !ret && a.param && a.param->name; a.param++) {
		mmpath_init_attr(&a.attr, a.param->name, mmpath_param_show, mmpath_param_store);
		ret = mmpath_add_attr(dir, &a);
	}
	for (a.counter = drv->counters; !ret && a.counter && a.counter->name; a.counter++) {
		mmpath_init_attr(&a.attr, a.counter->name, mmpath_counter_show, NULL);
		ret = mmpath_add_attr(dir, &a);
	}
	return ret;
}

static int __init mmpath_init_drivers(void)
{
	struct kobject *dir = kobject_create_and_add("drivers", mmpath_kobj);
	struct mmpath_driver *drv;
	int ret = dir ? 0 : -ENOMEM;

	mutex_lock(&mmpath_mutex);
	list_for_each_entry(drv, &mmpath_drivers, node)
		if (!ret)
			ret = mmpath_init_driver(dir, drv);
	mutex_unlock(&mmpath_mutex);
	return ret;
}

/* Called once at boot. If a file cannot be created, the others stay, and a message tells. */
static int __init mmpath_sysfs_init(void)
{
	int ret;

	mmpath_kobj = kobject_create_and_add("path", mm_kobj);
	if (!mmpath_kobj)
		return -ENOMEM;
	ret = sysfs_create_group(mmpath_kobj, &mmpath_group);
	if (!ret)
		ret = mmpath_init_stats();
	if (!ret)
		ret = mmpath_init_drivers();
	if (ret)
		pr_err("cannot create all sysfs files: %d\n", ret);
	return ret;
}
subsys_initcall(mmpath_sysfs_init);
