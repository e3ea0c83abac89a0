// SPDX-License-Identifier: GPL-2.0
/*
 * Which cgroups memory.min and memory.low protect from reclaim.
 */
#include <linux/memcontrol.h>
#include <linux/page_counter.h>
#include "balance.h"

/* Copy the fields of @of from which its protection is calculated, for a child of @parent. */
static void mmpath_copy_counter(struct page_counter *to, struct page_counter *of,
				struct page_counter *parent)
{
	page_counter_init(to, parent, true);
	atomic_long_set(&to->usage, page_counter_read(of));
	atomic_long_set(&to->children_min_usage, atomic_long_read(&of->children_min_usage));
	atomic_long_set(&to->children_low_usage, atomic_long_read(&of->children_low_usage));
	to->min = READ_ONCE(of->min);
	to->low = READ_ONCE(of->low);
	to->emin = 0;
	to->elow = 0;
}

/**
 * mmpath_protected() - tell whether memory.min or memory.low protect all of a cgroup
 * @memcg: the cgroup
 * @target: cgroup that is reclaimed: @memcg or an ancestor
 *
 * mem_cgroup_calculate_protection() stores its results in the cgroups, from the top down, for
 * the reclaim that calls it. Another reclaim may use them at the same time, with another target.
 * So this function works on copies of the counters, of a cgroup and its parent at a time.
 *
 * Context: RCU or a reference keeps both; does not sleep.
 */
noinline bool mmpath_protected(struct mem_cgroup *memcg, struct mem_cgroup *target)
{
	bool recursive = cgrp_dfl_root.flags & CGRP_ROOT_MEMORY_RECURSIVE_PROT;
	struct page_counter counter[2], *above = &target->memory, *now = NULL;
	struct mem_cgroup *last = target, *at;

	for (; last != memcg; last = at) {
		for (at = memcg; at && parent_mem_cgroup(at) != last; )
			at = parent_mem_cgroup(at);
		/* the cgroup has lost the memory controller and got a new css */
		if (!at)
			return false;
		now = &counter[now == &counter[0]];
		mmpath_copy_counter(now, &at->memory, above);
		page_counter_calculate_protection(&target->memory, now, recursive);
		above = now;
	}
	return now && (page_counter_read(now) <= now->emin || page_counter_read(now) <= now->elow);
}
