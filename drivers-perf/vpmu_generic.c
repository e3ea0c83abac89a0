// SPDX-License-Identifier: GPL-2.0
/*
 * Perf's generic events on the virtual PMU, so that perf can be run without the names of
 * this machine's events. Only what has the same meaning is there.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/nospec.h>
#include <linux/perf_event.h>
#include "vpmu.h"

#define FROM(source)	BIT_ULL(VPMU_##source)

/* The last cache is the L3 of the chip. Data are asked of it that L2 has not, */
#define ELSEWHERE	(FROM(REMOTE_L2) | FROM(REMOTE_L3) | FROM(LOCAL_MEMORY) | \
			 FROM(REMOTE_MEMORY))
/* and that come from outside the chip if it has them neither. */
#define ASKED		(FROM(LOCAL_L3) | ELSEWHERE)

static const struct vpmu_choice vpmu_hardware[PERF_COUNT_HW_MAX] = {
	[PERF_COUNT_HW_CPU_CYCLES]		= { VPMU_CYCLES },
	[PERF_COUNT_HW_INSTRUCTIONS]		= { VPMU_INSNS },
	[PERF_COUNT_HW_CACHE_REFERENCES]	= { VPMU_L1D_MISS, ASKED },
	[PERF_COUNT_HW_CACHE_MISSES]		= { VPMU_L1D_MISS, ELSEWHERE },
	[PERF_COUNT_HW_BRANCH_INSTRUCTIONS]	= { VPMU_BRANCH },
	[PERF_COUNT_HW_BRANCH_MISSES]		= { VPMU_BR_MISS },
};

/* Misses of L1D, L3 and TLB are not known by loads and stores: those are not offered. */
static const struct {
	u64 config;
	enum vpmu_event event;
} vpmu_caches[] = {
#define CACHE(cache, op, result, event)				\
	{ PERF_COUNT_HW_CACHE_##cache | PERF_COUNT_HW_CACHE_OP_##op << 8 | \
	  PERF_COUNT_HW_CACHE_RESULT_##result << 16, VPMU_##event }
	CACHE(L1D, READ, ACCESS, LOADS),
	CACHE(L1D, WRITE, ACCESS, STORES),
	CACHE(L1I, READ, MISS, L1I_MISS),
	CACHE(DTLB, READ, ACCESS, LOADS),
	CACHE(DTLB, WRITE, ACCESS, STORES),
	CACHE(BPU, READ, ACCESS, BRANCH),
	CACHE(BPU, READ, MISS, BR_MISS),
};

static int vpmu_cache_event(u64 config, struct vpmu_choice *choice)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(vpmu_caches); i++) {
		if (vpmu_caches[i].config != config)
			continue;
		*choice = (struct vpmu_choice){ .event = vpmu_caches[i].event };
		return 0;
	}
	return -ENOENT;
}

/**
 * vpmu_generic() - a generic event
 * @attr: of it, of any type
 * @choice: result: what the PMU is to count
 *
 * Return: 0, or -ENOENT: the machine has no such event.
 */
int vpmu_generic(const struct perf_event_attr *attr, struct vpmu_choice *choice)
{
	u64 nr = attr->config;

	if (attr->type == PERF_TYPE_HW_CACHE)
		return vpmu_cache_event(nr, choice);
	if (attr->type != PERF_TYPE_HARDWARE || nr >= PERF_COUNT_HW_MAX)
		return -ENOENT;
	*choice = vpmu_hardware[array_index_nospec(nr, PERF_COUNT_HW_MAX)];
	return choice->event ? 0 : -ENOENT;
}
