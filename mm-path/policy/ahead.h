/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What prefetching from swap and from files have in common, see prefetch.c.
 */
#ifndef _MM_PATH_AHEAD_H
#define _MM_PATH_AHEAD_H

#include "../models/pollution.h"
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

/**
 * struct mmpath_prefetcher - a cgroup whose programs have pages prefetched
 * @ref: one is that of the table
 * @dead: it has left the table; read and written under RCU
 * @memcg: the cgroup; the table holds a reference
 * @mode: which predictors are used
 * @unsettled: pages that were prefetched and may still be used in time
 * @stat: what is counted, see mmpath_prefetch_stat_names
 * @miss_ns: what a miss waits for its page, in swap and in a file
 * @page_ns: CPU that it takes to fetch a page, from swap and from a file
 * @event_ns: CPU that the model takes for an event
 * @rcu: for foresights that end; kfree_rcu() wants it in the first page
 * @lock: protects @pollution
 * @pollution: which misses all of that causes, in swap
 */
struct mmpath_prefetcher {
	refcount_t ref;
	bool dead;
	struct mem_cgroup *memcg;
	enum mmpath_foresee_mode mode;
	atomic_long_t unsettled;
	atomic_long_t stat[NR_MMPATH_PF_STATS];
	u32 miss_ns[2], page_ns[2], event_ns;
	struct rcu_head rcu;
	spinlock_t lock;	/* @pollution */
	struct mmpath_pollution pollution;
};

/**
 * struct mmpath_batch - what to do after an event
 * @page: pages to read, that a predictor has named
 * @nr: number of them
 * @depth: how far the predictor looked ahead
 * @by: the predictor
 * @file: they are read from a file, and not from swap
 * @known: the page of the event was named before, as far as is known
 * @around: the mapping is the kernel's, for now; before an event: it has to be
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

struct mmpath_prefetcher *mmpath_prefetcher_near(struct mem_cgroup *memcg);
struct mmpath_prefetcher *mmpath_prefetcher_get(struct mem_cgroup *memcg);
void mmpath_prefetcher_put(struct mmpath_prefetcher *p);
void mmpath_pf_count(struct mmpath_prefetcher *p, enum mmpath_prefetch_stat what, long n);
void mmpath_prefetch_event(struct mmpath_prefetcher *p, struct mem_cgroup *memcg,
			   struct vm_area_struct *vma, unsigned long address, bool file,
			   bool miss, bool wait, struct mmpath_batch *batch);

/**
 * struct mmpath_room - memory of a cgroup, by its limits and those above it
 * @all: pages that it can have
 * @left: pages that it can still be charged for, without reclaim
 */
struct mmpath_room {
	unsigned long all, left;
};

struct mmpath_room mmpath_room_of(struct mem_cgroup *memcg);
void mmpath_reads_begin(struct mmpath_reads *reads, struct mmpath_prefetcher *p,
			struct mem_cgroup *memcg, const struct mmpath_batch *batch);
void mmpath_sleep_begin(struct mmpath_reads *reads);
bool mmpath_sleep_end(struct mmpath_reads *reads);
void mmpath_reads_end(const struct mmpath_reads *reads, struct mmpath_prefetcher *p,
		      struct mem_cgroup *memcg, u64 first, const struct mmpath_batch *batch,
		      bool miss, bool waits);
void mmpath_file_asked(unsigned long address);
void mmpath_stall_over(unsigned long address, bool waited);
void mmpath_file_took(bool user);
void mmpath_average(u32 *average, u64 ns);

/* prefetch-swap.c */
bool mmpath_swapped(void *vma, u64 page);
unsigned long mmpath_shmem_in_swap(struct vm_area_struct *vma);
const char *mmpath_devices_wait(void);

/* prefetch-file.c */
bool mmpath_file_out(void *vma, u64 page);
unsigned long mmpath_file_pages_out(struct vm_area_struct *vma);

#endif /* _MM_PATH_AHEAD_H */
