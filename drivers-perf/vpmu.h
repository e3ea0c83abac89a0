/* SPDX-License-Identifier: GPL-2.0 */
/* The virtual PMU's driver; see vpmu.c. */
#ifndef _DRIVERS_PERF_VPMU_H
#define _DRIVERS_PERF_VPMU_H

#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <uapi/linux/vpmu.h>

struct attribute_group;

/**
 * struct vpmu - the device
 * @bar: its memory, NULL without one. Stays mapped when the device goes: events may use it
 * @header: copy of the beginning of @bar, made when the device was found
 * @gone: the driver has let go of the device
 * @events: number of events that exist; under vpmu_lock
 * @cpus: CPUs that have a unit
 * @lies: values of the device that cannot be, since boot
 * @late: samples that came when their task did not run any more, since boot
 */
struct vpmu {
	char *bar;
	struct vpmu_device header;
	bool gone;
	unsigned int events;
	struct cpumask cpus;
	atomic64_t lies, late;
};

extern struct vpmu vpmu;

extern const struct attribute_group *vpmu_groups[];

u64 vpmu_lost(void);

#endif
