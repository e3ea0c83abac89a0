// SPDX-License-Identifier: GPL-2.0
/*
 * What the virtual PMU shows in /sys/bus/event_source/devices/vpmu. See
 * Documentation/ABI/testing/sysfs-bus-event_source-devices-vpmu.
 */
#include <linux/device.h>
#include <linux/perf_event.h>
#include <linux/sysfs.h>
#include "vpmu.h"

static ssize_t vpmu_event_show(struct device *dev, struct device_attribute *attr, char *page)
{
	struct perf_pmu_events_attr *event = container_of(attr, struct perf_pmu_events_attr, attr);

	return sysfs_emit(page, "event=0x%02llx\n", event->id);
}

/* No event that the device does not model is offered. */
static umode_t vpmu_event_visible(struct kobject *kobj, struct attribute *a, int unused)
{
	struct perf_pmu_events_attr *event = container_of(a, struct perf_pmu_events_attr,
							  attr.attr);

	return vpmu.header.placement[event->id] ? a->mode : 0;
}

#define VPMU_EVENT(_name, _id)	PMU_EVENT_ATTR_ID(_name, vpmu_event_show, _id)

static struct attribute *vpmu_events[] = {
	VPMU_EVENT(cycles, VPMU_CYCLES),
	VPMU_EVENT(insns, VPMU_INSNS),
	VPMU_EVENT(loads, VPMU_LOADS),
	VPMU_EVENT(stores, VPMU_STORES),
	VPMU_EVENT(l1d_miss, VPMU_L1D_MISS),
	VPMU_EVENT(l1i_miss, VPMU_L1I_MISS),
	VPMU_EVENT(upgrade_local, VPMU_UPGRADE_LOCAL),
	VPMU_EVENT(upgrade_remote, VPMU_UPGRADE_REMOTE),
	VPMU_EVENT(invalidated, VPMU_INVALIDATED),
	VPMU_EVENT(branch, VPMU_BRANCH),
	VPMU_EVENT(br_miss, VPMU_BR_MISS),
	VPMU_EVENT(dtlb_miss, VPMU_DTLB_MISS),
	VPMU_EVENT(writeback, VPMU_WRITEBACK),
	VPMU_EVENT(prefetched, VPMU_PREFETCHED),
	VPMU_EVENT(prefetch_used, VPMU_PREFETCH_USED),
	VPMU_EVENT(d_src_l2, VPMU_D_SRC + VPMU_LOCAL_L2),
	VPMU_EVENT(d_src_l3, VPMU_D_SRC + VPMU_LOCAL_L3),
	VPMU_EVENT(d_src_rl2, VPMU_D_SRC + VPMU_REMOTE_L2),
	VPMU_EVENT(d_src_rl3, VPMU_D_SRC + VPMU_REMOTE_L3),
	VPMU_EVENT(d_src_mem, VPMU_D_SRC + VPMU_LOCAL_MEMORY),
	VPMU_EVENT(d_src_rmem, VPMU_D_SRC + VPMU_REMOTE_MEMORY),
	VPMU_EVENT(i_src_l2, VPMU_I_SRC + VPMU_LOCAL_L2),
	VPMU_EVENT(i_src_l3, VPMU_I_SRC + VPMU_LOCAL_L3),
	VPMU_EVENT(i_src_rl2, VPMU_I_SRC + VPMU_REMOTE_L2),
	VPMU_EVENT(i_src_rl3, VPMU_I_SRC + VPMU_REMOTE_L3),
	VPMU_EVENT(i_src_mem, VPMU_I_SRC + VPMU_LOCAL_MEMORY),
	VPMU_EVENT(i_src_rmem, VPMU_I_SRC + VPMU_REMOTE_MEMORY),
	VPMU_EVENT(stall_d, VPMU_STALL_D),
	VPMU_EVENT(stall_i, VPMU_STALL_I),
	VPMU_EVENT(stall_br, VPMU_STALL_BR),
	VPMU_EVENT(stall_tlb, VPMU_STALL_TLB),
	VPMU_EVENT(stall_lsu, VPMU_STALL_LSU),
	VPMU_EVENT(stall_fpu, VPMU_STALL_FPU),
	VPMU_EVENT(stall_iu, VPMU_STALL_IU),
	VPMU_EVENT(stall_other, VPMU_STALL_OTHER),
	VPMU_EVENT(stall_d_src_l2, VPMU_STALL_D_SRC + VPMU_LOCAL_L2),
	VPMU_EVENT(stall_d_src_l3, VPMU_STALL_D_SRC + VPMU_LOCAL_L3),
	VPMU_EVENT(stall_d_src_rl2, VPMU_STALL_D_SRC + VPMU_REMOTE_L2),
	VPMU_EVENT(stall_d_src_rl3, VPMU_STALL_D_SRC + VPMU_REMOTE_L3),
	VPMU_EVENT(stall_d_src_mem, VPMU_STALL_D_SRC + VPMU_LOCAL_MEMORY),
	VPMU_EVENT(stall_d_src_rmem, VPMU_STALL_D_SRC + VPMU_REMOTE_MEMORY),
	NULL
};

static const struct attribute_group vpmu_events_group = {
	.name = "events", .attrs = vpmu_events, .is_visible = vpmu_event_visible,
};

PMU_FORMAT_ATTR(event, "config:0-7");
PMU_FORMAT_ATTR(random, "config1:0-31");
PMU_FORMAT_ATTR(sources, "config2:0-5");

static struct attribute *vpmu_formats[] = {
	&format_attr_event.attr, &format_attr_random.attr, &format_attr_sources.attr, NULL
};

static const struct attribute_group vpmu_formats_group = {
	.name = "format", .attrs = vpmu_formats,
};

/*
 * Perf opens an event of all CPUs on these. Not "cpumask": perf takes a PMU with that for one that
 * counts for whole chips, and does not let it count for a task.
 */
static ssize_t cpus_show(struct device *dev, struct device_attribute *attr, char *page)
{
	cpumask_var_t cpus;
	ssize_t n;

	if (!alloc_cpumask_var(&cpus, GFP_KERNEL))
		return -ENOMEM;
	cpumask_and(cpus, &vpmu.cpus, cpu_online_mask);
	n = cpumap_print_to_pagebuf(true, page, cpus);
	free_cpumask_var(cpus);
	return n;
}
static DEVICE_ATTR_RO(cpus);

/* Do modelled cycles take time? The device finds out some time after it has started. */
static ssize_t clock_show(struct device *dev, struct device_attribute *attr, char *page)
{
	const struct vpmu_device *device = (const struct vpmu_device *)vpmu.bar;
	bool parallel = READ_ONCE(device->clock) == VPMU_PARALLEL_CLOCK;

	return sysfs_emit(page, "%s\n", parallel ? "parallel" : "none");
}
static DEVICE_ATTR_RO(clock);

static struct attribute *vpmu_device_attrs[] = {
	&dev_attr_cpus.attr, &dev_attr_clock.attr, NULL
};

static const struct attribute_group vpmu_device_group = { .attrs = vpmu_device_attrs };

static ssize_t lies_show(struct device *dev, struct device_attribute *attr, char *page)
{
	return sysfs_emit(page, "%lld\n", atomic64_read(&vpmu.lies));
}
static DEVICE_ATTR_RO(lies);

static ssize_t late_show(struct device *dev, struct device_attribute *attr, char *page)
{
	return sysfs_emit(page, "%lld\n", atomic64_read(&vpmu.late));
}
static DEVICE_ATTR_RO(late);

static ssize_t lost_show(struct device *dev, struct device_attribute *attr, char *page)
{
	return sysfs_emit(page, "%llu\n", vpmu_lost());
}
static DEVICE_ATTR_RO(lost);

static ssize_t right_show(struct device *dev, struct device_attribute *attr, char *page)
{
	return sysfs_emit(page, "%lld\n", atomic64_read(&vpmu.right));
}
static DEVICE_ATTR_RO(right);

static ssize_t wrong_show(struct device *dev, struct device_attribute *attr, char *page)
{
	return sysfs_emit(page, "%lld\n", atomic64_read(&vpmu.wrong));
}
static DEVICE_ATTR_RO(wrong);

static struct attribute *vpmu_stats[] = {
	&dev_attr_lies.attr, &dev_attr_late.attr, &dev_attr_lost.attr, &dev_attr_right.attr,
	&dev_attr_wrong.attr, NULL
};

static const struct attribute_group vpmu_stats_group = { .name = "stats", .attrs = vpmu_stats };

/* What the machine is like: words of the header */
static ssize_t vpmu_word_show(struct device *dev, struct device_attribute *attr, char *page)
{
	const u32 *word = container_of(attr, struct dev_ext_attribute, attr)->var;

	return sysfs_emit(page, "%u\n", *word);
}

#define VPMU_WORD(_name, _word)							\
	(&((struct dev_ext_attribute[]) {{					\
		.attr = __ATTR(_name, 0444, vpmu_word_show, NULL),		\
		.var = &vpmu.header._word,					\
	}})[0].attr.attr)

static struct attribute *vpmu_caches[] = {
	VPMU_WORD(line_bytes, line_bytes),
	VPMU_WORD(l1d_kb, l1d_kb),
	VPMU_WORD(l1i_kb, l1i_kb),
	VPMU_WORD(l2_kb, l2_kb),
	VPMU_WORD(l3_kb, l3_kb),
	NULL
};

static const struct attribute_group vpmu_caches_group = {
	.name = "caches", .attrs = vpmu_caches,
};

static struct attribute *vpmu_latencies[] = {
	VPMU_WORD(l2, latency[VPMU_LOCAL_L2]),
	VPMU_WORD(l3, latency[VPMU_LOCAL_L3]),
	VPMU_WORD(rl2, latency[VPMU_REMOTE_L2]),
	VPMU_WORD(rl3, latency[VPMU_REMOTE_L3]),
	VPMU_WORD(mem, latency[VPMU_LOCAL_MEMORY]),
	VPMU_WORD(rmem, latency[VPMU_REMOTE_MEMORY]),
	NULL
};

static const struct attribute_group vpmu_latencies_group = {
	.name = "latency", .attrs = vpmu_latencies,
};

const struct attribute_group *vpmu_groups[] = {
	&vpmu_events_group, &vpmu_formats_group, &vpmu_device_group, &vpmu_caches_group,
	&vpmu_latencies_group, &vpmu_stats_group, NULL
};

