/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What prefetching from swap and from files have in common, see prefetch.c.
 */
#ifndef _MM_PATH_AHEAD_H
#define _MM_PATH_AHEAD_H

#include "prefetch.h"

enum mmpath_prefetch_stat {
	MMPATH_PF_ONDEMAND,
	MMPATH_PF_PREFETCHED,
	MMPATH_PF_HIT,
	MMPATH_PF_LATE,
	MMPATH_PF_UNUSED,
	MMPATH_PF_POLLUTION,
	MMPATH_PF_RESTED,
	MMPATH_PF_STALLS,
	MMPATH_PF_STALL_NS,
	MMPATH_PF_PREFETCHED_BY,	/* and others, one for each predictor */
	MMPATH_PF_HIT_BY = MMPATH_PF_PREFETCHED_BY + NR_MMPATH_PREDICTORS,
	NR_MMPATH_PF_STATS = MMPATH_PF_HIT_BY + NR_MMPATH_PREDICTORS,
};

struct mmpath_prefetcher;

/**
 * struct mmpath_batch - what to do after an event
 * @page: pages to read, that a predictor has named
 * @nr: number of them
 * @depth: how far the predictor looked ahead
 * @by: the predictor
 * @file: they are read from a file, and not from swap
 * @known: the page of the event was named before, as far as is known
 * @around: the mapping is the kernel's, for now
 */
struct mmpath_batch {
	u64 page[MMPATH_FORESEE_MOST];
	unsigned int nr, depth;
	enum mmpath_predictor by;
	bool file, known, around;
};

/**
 * struct mmpath_reads - a batch on its way to the device
 * @nr: pages of the batch to look at, from the first on; less than the batch has if it was cut
 * @read: pages that are read now
 * @slept: how long the task has slept, mostly because the queue of the device was full, ns
 * @sleep_most: with more, the batch is cut
 * @began: CPU time of the task before
 * @switches: voluntary switches of the task before it last may have slept
 * @sleep_began: the clock then
 */
struct mmpath_reads {
	unsigned int nr, read;
	u64 slept, sleep_most;
	u64 began;
	unsigned long switches;
	u64 sleep_began;
};

struct mmpath_prefetcher *mmpath_prefetcher_get(struct mem_cgroup *memcg);
void mmpath_prefetcher_put(struct mmpath_prefetcher *p);
void mmpath_pf_count(struct mmpath_prefetcher *p, enum mmpath_prefetch_stat what, long n);
void mmpath_prefetch_event(struct mmpath_prefetcher *p, struct mem_cgroup *memcg,
			   struct vm_area_struct *vma, unsigned long address, bool file,
			   bool miss, bool wait, struct mmpath_batch *batch);
void mmpath_reads_begin(struct mmpath_reads *reads, struct mmpath_prefetcher *p,
			struct mem_cgroup *memcg, const struct mmpath_batch *batch);
void mmpath_sleep_begin(struct mmpath_reads *reads);
bool mmpath_sleep_end(struct mmpath_reads *reads);
void mmpath_reads_end(const struct mmpath_reads *reads, struct mmpath_prefetcher *p,
		      struct mem_cgroup *memcg, u64 first, const struct mmpath_batch *batch,
		      bool miss, bool waits);
void mmpath_file_asked(unsigned long address);
void mmpath_file_came(unsigned long address);
void mmpath_file_took(struct mmpath_prefetcher *p, u64 ns);

/* prefetch-file.c */
bool mmpath_file_out(void *vma, u64 page);
unsigned long mmpath_file_pages_out(struct vm_area_struct *vma);

#endif /* _MM_PATH_AHEAD_H */
