// SPDX-License-Identifier: GPL-2.0
/*
 * Which share of its time does a CPU lose to accesses to other chips' caches? (Azimi 2007, 3.3.1)
 *
 *	share = accesses * latency / time that the CPU was not idle
 *
 * To bring threads together saves no more than this share of their time. Where there is less to
 * save than samples cost, none are taken.
 *
 * A CPU that hardly runs has a large share soon: a daemon that wakes up elsewhere finds its data on
 * the chip that it comes from. So a CPU counts as busy for a quarter of the time at least.
 */
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>

#include "cluster.h"

#define BUSY_LEAST	4U	/* parts of the time, one of which counts as busy */

/**
 * taskcluster_time_lost() - share of a CPU's time that accesses take
 * @count: accesses in this time
 * @latency_ns: that each takes, TASKCLUSTER_LATENCY_MOST at most
 * @ns: the time
 * @idle_ns: of it, as far as known
 *
 * A PMU that lies may count anything, and idle time may come late: no product overflows.
 *
 * Return: the share, of TASKCLUSTER_WHOLE, which it is at most
 */
u32 taskcluster_time_lost(u64 count, u32 latency_ns, u64 ns, u64 idle_ns)
{
	u64 least = max(ns / BUSY_LEAST, (u64)1);
	u64 busy = ns - min(ns, idle_ns);
	/* below 2^32 * 10^5 * 10^4 */
	u64 lost = min_t(u64, count, U32_MAX) * latency_ns * TASKCLUSTER_WHOLE;

	lost = div64_u64(lost, max(busy, least));
	return min_t(u64, lost, TASKCLUSTER_WHOLE);
}
