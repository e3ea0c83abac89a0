/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Prefetching from swap: the interface for the user interface.
 */
#ifndef _MM_PATH_PREFETCH_H
#define _MM_PATH_PREFETCH_H

#include "../core.h"
#include "../models/foresee.h"

struct seq_file;

#ifdef CONFIG_MMPATH_PREFETCH
extern const char * const mmpath_prefetch_names[NR_MMPATH_PREFETCHES];
int mmpath_set_prefetch(struct mem_cgroup *memcg, enum mmpath_foresee_mode mode);
enum mmpath_foresee_mode mmpath_prefetch_mode(const struct mem_cgroup *memcg);
int mmpath_show_prefetch(struct seq_file *m, const struct mem_cgroup *memcg);
bool mmpath_prefetches(const struct mem_cgroup *memcg);
unsigned int mmpath_prefetch_regions(const struct mem_cgroup *memcg, struct mm_struct *mm,
				     struct mmpath_foresee_region *to);
void mmpath_prefetch_reap(void);
#else
static inline int mmpath_show_prefetch(struct seq_file *m, const struct mem_cgroup *memcg)
{
	return -ENODATA;
}

static inline void mmpath_prefetch_reap(void) { }
#endif

#endif /* _MM_PATH_PREFETCH_H */
