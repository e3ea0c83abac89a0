// SPDX-License-Identifier: GPL-2.0
/*
 * /sys/kernel/hpc. Each file parses, calls one function, and prints. See
 * Documentation/ABI/testing/sysfs-kernel-hpc.
 */
#include <linux/ctype.h>
#include <linux/err.h>
#include <linux/kobject.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include "hpc.h"

#define HPC_SLICE_LEAST	1000	/* events */
#define HPC_SLICE_MOST	1000000000000

static void hpc_unlock_config(void)
{
	mutex_unlock(&hpc_mutex);
	mutex_unlock(&hpc_enable_mutex);
}

/* Only what is not in use may change. Returns with the locks held, or an error. */
static int hpc_lock_config(void)
{
	mutex_lock(&hpc_enable_mutex);
	mutex_lock(&hpc_mutex);
	if (!hpc_config.enabled)
		return 0;
	hpc_unlock_config();
	return -EBUSY;
}

/* A copy to be cut into words, or an error. A longer text has been cut already, maybe in a word. */
static char *hpc_copy_text(const char *buf, size_t count)
{
	char *text = count < PAGE_SIZE ? kstrdup(buf, GFP_KERNEL) : ERR_PTR(-E2BIG);

	return text ?: ERR_PTR(-ENOMEM);
}

static ssize_t enabled_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%d\n", READ_ONCE(hpc_config.enabled));
}

static ssize_t enabled_store(struct kobject *kobj, struct kobj_attribute *attr,
			     const char *buf, size_t count)
{
	bool on;
	int ret = kstrtobool(buf, &on);

	if (ret)
		return ret;
	if (on)
		ret = hpc_enable();
	else
		hpc_disable();
	return ret ?: count;
}

static struct kobj_attribute enabled_attr = __ATTR_RW(enabled);

static ssize_t slice_us_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", READ_ONCE(hpc_config.slice_us));
}

static ssize_t slice_us_store(struct kobject *kobj, struct kobj_attribute *attr,
			      const char *buf, size_t count)
{
	unsigned int us;
	int ret = kstrtouint(buf, 10, &us);

	if (!ret && (us < 20 || us > 100000))
		ret = -ERANGE;
	if (!ret)
		WRITE_ONCE(hpc_config.slice_us, us);
	return ret ?: count;
}

static struct kobj_attribute slice_us_attr = __ATTR_RW(slice_us);

static ssize_t polling_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%d\n", READ_ONCE(hpc_config.polling));
}

static ssize_t polling_store(struct kobject *kobj, struct kobj_attribute *attr,
			     const char *buf, size_t count)
{
	bool on;
	int ret = kstrtobool(buf, &on);

	/* elsewhere nothing is called on the way to user mode */
	if (!ret && on && !IS_ENABLED(CONFIG_GENERIC_ENTRY))
		ret = -EOPNOTSUPP;
	ret = ret ?: hpc_lock_config();
	if (ret)
		return ret;
	hpc_config.polling = on;
	hpc_unlock_config();
	return count;
}

static struct kobj_attribute polling_attr = __ATTR_RW(polling);

static const char * const hpc_modes[] = {
	[HPC_ALL] = "all", [HPC_USER] = "user", [HPC_KERNEL] = "kernel",
};

static ssize_t mode_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", hpc_modes[READ_ONCE(hpc_config.mode)]);
}

static ssize_t mode_store(struct kobject *kobj, struct kobj_attribute *attr,
			  const char *buf, size_t count)
{
	int mode = sysfs_match_string(hpc_modes, buf), ret;

	if (mode < 0)
		return mode;
	ret = hpc_lock_config();
	if (ret)
		return ret;
	hpc_config.mode = mode;
	hpc_unlock_config();
	return count;
}

static struct kobj_attribute mode_attr = __ATTR_RW(mode);

/* Events: NAME=TYPE:CONFIG[:CONFIG1[:CONFIG2]][@LATENCY] ... */

static int hpc_find(const struct hpc_events *events, const char *name)
{
	unsigned int i;

	for (i = 0; i < events->set.nr; i++)
		if (!strcmp(events->event[i].name, name))
			return i;
	return -ENOENT;
}

/* A source is source.CAUSE.SOURCE, and stall.CAUSE is there already. */
static int hpc_parse_source(struct hpc_events *events, unsigned int nr)
{
	char stall[HPC_NAME] = "stall.", *dot;
	int of;

	strscpy(stall + 6, events->event[nr].name + 7, sizeof(stall) - 6);
	dot = strchr(stall + 6, '.');
	if (!dot || !dot[1])
		return -EINVAL;
	*dot = 0;
	of = hpc_find(events, stall);
	if (of < 0)
		return -EINVAL;
	events->set.role[nr] = HPC_SOURCE;
	events->set.of[nr] = of;
	return events->set.latency[nr] ? 0 : -EINVAL;
}

static int hpc_parse_role(struct hpc_events *events, unsigned int nr)
{
	const char *name = events->event[nr].name;

	if (str_has_prefix(name, "source."))
		return hpc_parse_source(events, nr);
	if (events->set.latency[nr])
		return -EINVAL;
	if (!nr)
		return strcmp(name, "cycles") ? -EINVAL : 0;
	if (!str_has_prefix(name, "stall."))
		return 0;
	events->set.role[nr] = HPC_STALL;
	return name[6] && !strchr(name + 6, '.') ? 0 : -EINVAL;
}

static int hpc_parse_name(struct hpc_events *events, unsigned int nr, const char *name)
{
	const char *c;

	for (c = name; *c; c++)
		if (!isalnum(*c) && *c != '.' && *c != '_' && *c != '-')
			return -EINVAL;
	if (c == name || c - name >= HPC_NAME)
		return -EINVAL;
	if (hpc_find(events, name) >= 0)
		return -EEXIST;
	strscpy(events->event[nr].name, name, HPC_NAME);
	return 0;
}

static int hpc_parse_config(struct hpc_event *e, char *text)
{
	char *type = strsep(&text, ":"), *word;
	unsigned int i = 0;
	int ret = kstrtou32(type, 0, &e->type);

	if (!ret && !text)
		ret = -EINVAL;
	while (!ret && (word = strsep(&text, ":")))
		ret = i < ARRAY_SIZE(e->config) ? kstrtou64(word, 0, &e->config[i++]) : -EINVAL;
	return ret;
}

static int hpc_parse_event(struct hpc_events *events, char *text)
{
	unsigned int nr = events->set.nr;
	char *name = strsep(&text, "="), *latency = text;
	int ret;

	if (nr >= HPC_EVENTS)
		return -E2BIG;
	if (!text)
		return -EINVAL;
	strsep(&latency, "@");
	ret = latency ? kstrtou32(latency, 10, &events->set.latency[nr]) : 0;
	ret = ret ?: hpc_parse_name(events, nr, name);
	ret = ret ?: hpc_parse_config(&events->event[nr], text);
	ret = ret ?: hpc_parse_role(events, nr);
	events->set.nr += !ret;
	return ret;
}

static int hpc_parse_events(struct hpc_events *events, char *text)
{
	char *word;
	int ret = 0;

	while (!ret && (word = strsep(&text, " \t\n")))
		if (*word)
			ret = hpc_parse_event(events, word);
	return ret;
}

/* What was counted of other events is nothing to be shown under these names. */
static int hpc_set_events(const struct hpc_events *events)
{
	int ret = hpc_lock_config();

	if (ret)
		return ret;
	mutex_lock(&hpc_account_mutex);
	hpc_account_reset();
	hpc_config.events = *events;
	hpc_config.slice_period = 0;
	memset(&hpc_config.groups, 0, sizeof(hpc_config.groups));
	hpc_log_new_epoch();
	mutex_unlock(&hpc_account_mutex);
	hpc_unlock_config();
	return 0;
}

static ssize_t events_store(struct kobject *kobj, struct kobj_attribute *attr,
			    const char *buf, size_t count)
{
	struct hpc_events *events;
	char *text = hpc_copy_text(buf, count);
	int ret = -ENOMEM;

	if (IS_ERR(text))
		return PTR_ERR(text);
	events = kzalloc(sizeof(*events), GFP_KERNEL);
	if (events)
		ret = hpc_parse_events(events, text);
	ret = ret ?: hpc_set_events(events);
	kfree(events);
	kfree(text);
	return ret ?: count;
}

static ssize_t events_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	const struct hpc_event *e = hpc_config.events.event;
	const struct hpc_set *set = &hpc_config.events.set;
	unsigned int i, k;
	int len = 0;

	mutex_lock(&hpc_mutex);
	for (i = 0; i < set->nr; i++, e++) {
		len += sysfs_emit_at(buf, len, "%s=%u", e->name, e->type);
		for (k = 0; k < 3 && (!k || e->config[k] || e->config[2]); k++)
			len += sysfs_emit_at(buf, len, ":0x%llx", e->config[k]);
		if (set->latency[i])
			len += sysfs_emit_at(buf, len, "@%u", set->latency[i]);
		len += sysfs_emit_at(buf, len, "\n");
	}
	mutex_unlock(&hpc_mutex);
	return len;
}

static struct kobj_attribute events_attr = __ATTR_RW(events);

static ssize_t slice_event_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	int len = 0;

	mutex_lock(&hpc_mutex);
	if (hpc_config.slice_period)
		len = sysfs_emit(buf, "%s %llu",
				 hpc_config.events.event[hpc_config.slice_event].name,
				 hpc_config.slice_period);
	mutex_unlock(&hpc_mutex);
	return len + sysfs_emit_at(buf, len, "\n");
}

/* NAME PERIOD, or nothing. Called with hpc_mutex. */
static int hpc_set_slice_event(char *text)
{
	char *name = strsep(&text, " \t");
	u64 period = 0;
	int nr = 0, ret = 0;

	if (*name) {
		nr = hpc_find(&hpc_config.events, name);
		ret = text ? kstrtou64(text, 0, &period) : -EINVAL;
		if (!ret && (period < HPC_SLICE_LEAST || period > HPC_SLICE_MOST))
			ret = -ERANGE;
	}
	if (nr < 0 || ret)
		return ret ?: nr;
	hpc_config.slice_event = nr;
	hpc_config.slice_period = period;
	return 0;
}

static ssize_t slice_event_store(struct kobject *kobj, struct kobj_attribute *attr,
				 const char *buf, size_t count)
{
	char *text = hpc_copy_text(buf, count);
	int ret;

	if (IS_ERR(text))
		return PTR_ERR(text);
	ret = hpc_lock_config();
	if (!ret) {
		ret = hpc_set_slice_event(strim(text));
		hpc_unlock_config();
	}
	kfree(text);
	return ret ?: count;
}

static struct kobj_attribute slice_event_attr = __ATTR_RW(slice_event);

static int hpc_emit_group(char *buf, int len, u64 set)
{
	int from = len;

	for (; set; set &= set - 1)
		len += sysfs_emit_at(buf, len, len > from ? " %s" : "%s",
				     hpc_config.events.event[__ffs64(set)].name);
	return len + sysfs_emit_at(buf, len, "\n");
}

static ssize_t groups_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	unsigned int g;
	int len = 0;

	mutex_lock(&hpc_mutex);
	for (g = 0; g < hpc_config.groups.nr; g++)
		len = hpc_emit_group(buf, len, hpc_config.groups.set[g]);
	mutex_unlock(&hpc_mutex);
	return len;
}

static struct kobj_attribute groups_attr = __ATTR_RO(groups);

static ssize_t uncounted_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	int len;

	mutex_lock(&hpc_mutex);
	len = hpc_emit_group(buf, 0, hpc_config.groups.left);
	mutex_unlock(&hpc_mutex);
	return len;
}

static struct kobj_attribute uncounted_attr = __ATTR_RO(uncounted);

static ssize_t weights_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	unsigned int g;
	int len = 0;

	for (g = 0; g < HPC_GROUPS; g++)
		len += sysfs_emit_at(buf, len, g ? " %u" : "%u",
				     READ_ONCE(hpc_config.weight[g]));
	return len + sysfs_emit_at(buf, len, "\n");
}

/* Of the first groups; those that are not named weigh 1. */
static int hpc_parse_weights(u8 *weight, char *text)
{
	unsigned int g = 0;
	char *word;
	int ret = 0;

	memset(weight, 1, HPC_GROUPS);
	while (!ret && (word = strsep(&text, " \t\n"))) {
		if (!*word)
			continue;
		if (g == HPC_GROUPS)
			return -E2BIG;
		ret = kstrtou8(word, 10, &weight[g]);
		if (!ret && (!weight[g] || weight[g] > HPC_SLOTS / 2))
			ret = -ERANGE;
		g++;
	}
	return ret;
}

static ssize_t weights_store(struct kobject *kobj, struct kobj_attribute *attr,
			     const char *buf, size_t count)
{
	char *text = hpc_copy_text(buf, count);
	u8 weight[HPC_GROUPS];
	int ret;

	if (IS_ERR(text))
		return PTR_ERR(text);
	ret = hpc_parse_weights(weight, text);
	kfree(text);
	ret = ret ?: hpc_lock_config();
	if (ret)
		return ret;
	memcpy(hpc_config.weight, weight, sizeof(weight));
	hpc_unlock_config();
	return count;
}

static struct kobj_attribute weights_attr = __ATTR_RW(weights);

static struct attribute *hpc_attrs[] = {
	&enabled_attr.attr, &slice_us_attr.attr, &slice_event_attr.attr, &polling_attr.attr,
	&mode_attr.attr, &events_attr.attr, &groups_attr.attr, &uncounted_attr.attr,
	&weights_attr.attr, NULL
};

static const struct attribute_group hpc_group = { .attrs = hpc_attrs };

#define HPC_STAT(name)									\
static ssize_t name##_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)	\
{											\
	struct hpc_stats sum;								\
											\
	hpc_sum_stats(&sum);								\
	return sysfs_emit(buf, "%llu\n", sum.name);					\
}											\
static struct kobj_attribute name##_attr = __ATTR_RO(name)

HPC_STAT(slices);
HPC_STAT(polled);
HPC_STAT(stretched);
HPC_STAT(switches);
HPC_STAT(pieces);
HPC_STAT(lost);
HPC_STAT(nomem);
HPC_STAT(missed);
HPC_STAT(offline);

static struct attribute *hpc_stat_attrs[] = {
	&slices_attr.attr, &polled_attr.attr, &stretched_attr.attr, &switches_attr.attr,
	&pieces_attr.attr, &lost_attr.attr, &nomem_attr.attr, &missed_attr.attr,
	&offline_attr.attr, NULL
};

static const struct attribute_group hpc_stats_group = {
	.name = "stats", .attrs = hpc_stat_attrs,
};

static const struct attribute_group *hpc_groups[] = { &hpc_group, &hpc_stats_group, NULL };

static int __init hpc_sysfs_init(void)
{
	struct kobject *kobj = kobject_create_and_add("hpc", kernel_kobj);
	int ret = kobj ? sysfs_create_groups(kobj, hpc_groups) : -ENOMEM;

	if (ret)
		kobject_put(kobj);
	return ret;
}
subsys_initcall(hpc_sysfs_init);
