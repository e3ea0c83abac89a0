/* SPDX-License-Identifier: GPL-2.0 */
/* The virtual PMU's driver; see vpmu.c. */
#ifndef _DRIVERS_PERF_VPMU_H
#define _DRIVERS_PERF_VPMU_H

#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/types.h>
#include <uapi/linux/vpmu.h>

struct attribute_group;
struct perf_event;
struct perf_event_attr;

/**
 * struct vpmu - the device
 * @bar: its memory, NULL without one. Stays mapped when the device goes: events may use it
 * @header: copy of the beginning of @bar, made when the device was found
 * @start: physical address of @bar
 * @gone: the driver has let go of the device
 * @events: number of events that exist; under vpmu_lock
 * @cpus: CPUs that have a unit
 * @lies: values of the device that cannot be, since boot
 * @late: samples that came when their task did not run any more, since boot
 * @right: samples of VPMU_DAR whose address is that of the access that made the counter overflow,
 *	since boot; the device knows
 * @wrong: those with another one
 */
struct vpmu {
	char *bar;
	struct vpmu_device header;
	resource_size_t start;
	bool gone;
	unsigned int events;
	struct cpumask cpus;
	atomic64_t lies, late, right, wrong;
};

extern struct vpmu vpmu;

/* The device said what cannot be. */
static inline void vpmu_lie(void)
{
	atomic64_inc(&vpmu.lies);
}

/* A sample has an address, and perhaps not that of the access (VPMU_DAR). */
static inline bool vpmu_is_vague(void)
{
	return vpmu.header.sampling != VPMU_TAGGED;
}

static inline bool vpmu_in_kernel(u64 address)
{
	return address >> 63;
}

/**
 * struct vpmu_choice - what an event counts
 * @event: enum vpmu_event
 * @sources: lines from which sources count, a bit for each enum vpmu_source; 0: from all
 */
struct vpmu_choice {
	u64 event;
	u64 sources;
};

extern const struct attribute_group *vpmu_groups[];

void vpmu_deliver(struct perf_event *event, const struct vpmu_record *r, const u64 *callers,
		  u32 burst);
u64 vpmu_lost(void);
int vpmu_generic(const struct perf_event_attr *attr, struct vpmu_choice *choice);

#endif
