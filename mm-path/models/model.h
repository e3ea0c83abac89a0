/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Models of PATH for Linux: LRU stack, MRU stack, miss rate curve, regions.
 *
 * Plain C: arrays, lists, arithmetic. The models know no page table, no lock
 * and no task; they allocate through struct mmpath_mem and are compiled in
 * the kernel and, from the same files, in user space. The caller serializes
 * all calls on one object.
 *
 * Pages are numbers, see linux/mmpath_sample.h. Distances, sizes and footprints are in 4 KiB
 * pages unless a name says otherwise.
 */
#ifndef _MM_PATH_MODEL_H
#define _MM_PATH_MODEL_H

#include <linux/types.h>
#include <linux/limits.h>
#include <linux/list.h>
#include <linux/math64.h>
#include <linux/mmpath_sample.h>

#include "index.h"

/**
 * struct mmpath_mem - allocator of the models
 * @alloc: return zeroed memory of @bytes bytes, or NULL; must not sleep
 *	   longer than the caller of the model may
 * @free: free memory that was allocated with @bytes; never called with NULL
 * @bytes: bytes allocated now, kept by mmpath_mem_alloc() and mmpath_mem_free()
 * @hurry: the caller is in a page fault: large stacks put off what takes long
 * @put_off: a large stack has put off halving its sample, and is above its limit until it is
 *	touched without @hurry
 */
struct mmpath_mem {
	void *(*alloc)(struct mmpath_mem *mem, size_t bytes);
	void (*free)(struct mmpath_mem *mem, void *p, size_t bytes);
	size_t bytes;
	bool hurry, put_off;
};

#define MMPATH_HURRY	8192U	/* pages; a smaller stack is halved in a hurry, too */

/* Must a stack of @nr pages put off halving its sample? */
static inline bool mmpath_puts_off(struct mmpath_mem *mem, u32 nr)
{
	if (!mem->hurry || nr <= MMPATH_HURRY)
		return false;
	mem->put_off = true;
	return true;
}

static inline void *mmpath_mem_alloc(struct mmpath_mem *mem, size_t bytes)
{
	void *p = mem->alloc(mem, bytes);

	if (p)
		mem->bytes += bytes;
	return p;
}

static inline void mmpath_mem_free(struct mmpath_mem *mem, void *p, size_t bytes)
{
	if (!p)
		return;
	mem->bytes -= bytes;
	mem->free(mem, p, bytes);
}

/*
 * Return @a * @b / @c, or U64_MAX if that does not fit. On x86 mul_u64_u64_div_u64() traps then.
 * It may happen: counts add up and wrap, and a measured time may be 0.
 */
static inline u64 mmpath_mul_div(u64 a, u64 b, u64 c)
{
	return mul_u64_u64_shr(a, b, 64) < c ? mul_u64_u64_div_u64(a, b, c) : U64_MAX;
}

/* Returned by __mmpath_stack_touch() and __mmpath_mru_touch() instead of a distance */
#define MMPATH_COLD	(-1)	/* first touch: misses with any memory */
#define MMPATH_NOMEM	(-3)	/* allocation failed: the stack is as before */

#define MMPATH_LEVELS	8	/* of the tree: 2^30 entries */
#define MMPATH_PREFETCH	16	/* records to prefetch for at once */

/*
 * lru_stack.c: the LRU stack of thesis 4.2.2. Every page ever touched is on it,
 * resident or not, until it is forgotten.
 */
struct mmpath_stack {
	struct mmpath_mem *mem;
	unsigned int shift;		/* one page in 2^shift is on the stack */
	unsigned long max_pages;	/* 0: unbounded (exact) */
	unsigned long nr_pages;		/* on the stack now, sampled pages */
	/* the rest is lru_stack.c's: the log, and the sweep that is under way */
	struct mmpath_index index;
	struct mmpath_vec ids, live, tree[MMPATH_LEVELS];
	u32 levels;
	u32 head, room;
	bool sweeping;
	u32 src, dst;
};

int mmpath_stack_init(struct mmpath_stack *s, struct mmpath_mem *mem,
		      unsigned long max_pages, unsigned int shift);
void mmpath_stack_destroy(struct mmpath_stack *s);
/* of a page that is in its sample */
s64 __mmpath_stack_touch(struct mmpath_stack *s, u64 page);
void mmpath_stack_prefetch(const struct mmpath_stack *s, const u64 *page, unsigned int nr);
void mmpath_stack_forget(struct mmpath_stack *s, u64 first, u64 nr);
int mmpath_stack_move(struct mmpath_stack *s, u64 from, u64 to, u64 nr);
int mmpath_stack_set_shift(struct mmpath_stack *s, unsigned int shift);
void mmpath_stack_reset(struct mmpath_stack *s, unsigned int shift);
u64 mmpath_stack_footprint(const struct mmpath_stack *s);
size_t mmpath_stack_bytes(const struct mmpath_stack *s);
/* pages in order: up from the bottom (least recent), or up from @page */
bool mmpath_stack_bottom(const struct mmpath_stack *s, u64 *page);
bool mmpath_stack_above(const struct mmpath_stack *s, u64 *page);

/*
 * mru_stack.c: Mattson's general stack with MRU priority. Always bounded:
 * max_pages > 0.
 */
struct mmpath_mru {
	struct mmpath_mem *mem;
	unsigned int shift;
	unsigned int max_pages;
	unsigned int nr_pages;
	/* the rest is mru_stack.c's: ids by depth, depths by page */
	struct mmpath_index index;
	struct mmpath_vec ids;
	u32 nr_holes;
};

int mmpath_mru_init(struct mmpath_mru *s, struct mmpath_mem *mem,
		    unsigned int max_pages, unsigned int shift);
void mmpath_mru_destroy(struct mmpath_mru *s);
/* of a page that is in its sample */
s64 __mmpath_mru_touch(struct mmpath_mru *s, u64 page);
void mmpath_mru_forget(struct mmpath_mru *s, u64 first, u64 nr);
int mmpath_mru_move(struct mmpath_mru *s, u64 from, u64 to, u64 nr);
size_t mmpath_mru_bytes(const struct mmpath_mru *s);
int mmpath_mru_set_shift(struct mmpath_mru *s, unsigned int shift);
void mmpath_mru_reset(struct mmpath_mru *s, unsigned int shift);

/*
 * mrc.c: lambda, the number of misses as a function of memory (thesis 4.2.2),
 * kept as a histogram of distances in groups of group_pages pages. When a
 * distance lies beyond the last bin, bins are added; with MMPATH_MRC_BINS of
 * them, or out of memory, the group size doubles. It never fails after init.
 */
enum mmpath_mrc_window {
	MMPATH_MRC_TOTAL,	/* since the start or the last reset */
	MMPATH_MRC_RECENT,	/* epochs, each worth half of the one after it */
	MMPATH_MRC_EPOCH,	/* the last epoch that was closed */
	NR_MMPATH_MRC_WINDOWS,
};

/* What struct mmpath_seen tells of an epoch */
enum mmpath_seen_as {
	MMPATH_SEEN_TIME,
	MMPATH_SEEN_ACCESSES,
	MMPATH_SEEN_OTHERS,	/* accesses, but not those counted: do not scale the counts */
};

/**
 * struct mmpath_seen - how much of an epoch the models have seen
 * @all: all accesses of the epoch; or all the time in which the program ran
 * @part: the part of that time in which accesses were seen; 0: all of it
 * @ahead: accesses in @all that earlier epochs have counted already
 * @as: what @all is; of several kinds, the greatest
 */
struct mmpath_seen {
	u64 all, part, ahead;
	enum mmpath_seen_as as;
};

/* Add what was seen of another member, or of another part of the epoch. */
static inline void mmpath_seen_add(struct mmpath_seen *s, const struct mmpath_seen *more)
{
	s->all += more->all;
	s->part += more->part;
	s->as = max(s->as, more->as);
}

#define MMPATH_MRC_BINS		1024
#define MMPATH_MRC_MOST_SCALE	(1U << 16)
#define MMPATH_MRC_MOST		(1ULL << 44)	/* most accesses that an epoch can have */

/*
 * Touches with distances of one group
 * @total: in all closed epochs
 * @recent: in all closed epochs, older ones decayed; fixed point
 * @epoch: in the epoch that was closed last
 * @now: in the epoch that runs
 */
struct mmpath_mrc_bin {
	u64 total, recent, epoch, now;
};

struct mmpath_mrc {
	struct mmpath_mem *mem;
	u32 group_pages;		/* @init_group_pages, doubled as often as needed */
	/* the rest is mrc.c's */
	u32 init_group_pages;
	u32 nr_bins;
	struct mmpath_mrc_bin *bins;
	struct mmpath_mrc_bin *open;	/* NULL until something is censored */
	struct mmpath_mrc_bin cold, records;
	u64 begun;			/* intervals that began in this epoch */
	u64 uncounted;			/* of these, with a touch that is not counted */
	u64 early;			/* touches in @total that no epoch has had yet */
	u64 came;			/* those of them that this epoch has had */
	unsigned int quiet;		/* epochs since something was counted */
};

#define MMPATH_WINDOW_EPOCHS	64	/* epochs without a count, until all windows are 0 */

int mmpath_mrc_init(struct mmpath_mrc *m, struct mmpath_mem *mem, u32 group_pages);
void mmpath_mrc_destroy(struct mmpath_mrc *m);
void mmpath_mrc_reset(struct mmpath_mrc *m);
void mmpath_mrc_add(struct mmpath_mrc *m, s64 distance, u32 weight);

/**
 * mmpath_mrc_begin() - note that an interval begins
 * @m: the curve
 * @weight: number of touches that the touch stands for
 *
 * For a touch that is not counted, because it ends no interval that was seen.
 */
static inline void mmpath_mrc_begin(struct mmpath_mrc *m, u32 weight)
{
	m->begun += weight;
	m->uncounted += weight;
}

void mmpath_mrc_censor(struct mmpath_mrc *m, u64 pages);

/*
 * Sums over all curves of the same accesses
 * @begun: intervals that began in this epoch
 * @uncounted: of these, with a touch that is not counted
 * @now: touches that were counted in this epoch
 * @cold: first touches in @now
 * @epoch: touches in the epoch before, without first touches
 * @early: touches that were counted when a burst ended, and in no epoch yet
 * @moved: accesses of earlier epochs that were taken to be like those before, but turn out to
 *	be like those of this epoch
 */
struct mmpath_counted {
	u64 begun, uncounted, now, cold, epoch, early, moved;
};

static inline void mmpath_mrc_counted(const struct mmpath_mrc *m, struct mmpath_counted *c)
{
	c->begun += m->begun;
	c->uncounted += m->uncounted;
	c->now += m->records.now;
	c->cold += m->cold.now;
	c->epoch += m->records.epoch - m->cold.epoch;
	c->early += m->early;
}

void mmpath_mrc_make_up(struct mmpath_mrc *m, const struct mmpath_seen *seen,
			const struct mmpath_counted *c);

#define MMPATH_UNSEEN_EPOCHS	16

/**
 * struct mmpath_unseen - epochs in which nothing was counted
 * @before: accesses of the last epoch in which something was counted
 * @all: accesses of each epoch since then
 * @nr: number of epochs in @all; older ones than the last MMPATH_UNSEEN_EPOCHS are dropped
 */
struct mmpath_unseen {
	u64 before, all[MMPATH_UNSEEN_EPOCHS];
	unsigned int nr;
};

void mmpath_unseen_close(struct mmpath_unseen *u, const struct mmpath_seen *seen,
			 struct mmpath_counted *c);

/* Accesses of @s that no earlier epoch has counted. */
static inline u64 mmpath_seen_new(const struct mmpath_seen *s)
{
	return s->all - min(s->all, s->ahead);
}

/*
 * Return how many accesses this epoch has counted that only the next epoch's @all will have. There
 * are some because a program goes on while its log is drained. There are none where the counts
 * were scaled to @all.
 */
static inline u64 mmpath_seen_ahead(const struct mmpath_seen *s, const struct mmpath_counted *c)
{
	u64 told = mmpath_seen_new(s), owed = s->ahead - min(s->ahead, s->all);
	u64 ahead = owed + c->now - min(c->now, told);

	ahead = min(ahead, c->now);
	if (s->as == MMPATH_SEEN_ACCESSES)
		return told <= c->cold ? max(owed, ahead) : owed;
	return s->as == MMPATH_SEEN_TIME && !s->part ? ahead : 0;
}

/*
 * Close the epoch. Its accesses, except first touches, are carried over to the next one if the
 * curves could tell nothing about them.
 */
static inline void mmpath_seen_close(struct mmpath_seen *s, const struct mmpath_counted *c)
{
	u64 ahead = mmpath_seen_ahead(s, c);

	if (s->as != MMPATH_SEEN_ACCESSES || c->now > c->cold || c->epoch)
		*s = (struct mmpath_seen){ };
	s->all = mmpath_seen_new(s);
	s->all -= min(s->all, c->cold);
	s->ahead = ahead;
}

void mmpath_mrc_close_epoch(struct mmpath_mrc *m);
/* misses with @pages of memory, cold ones (first touches) not included */
u64 mmpath_mrc_misses(const struct mmpath_mrc *m, enum mmpath_mrc_window w, u64 pages);

#define MMPATH_MRC_POINTS	1024U

/* A point of a curve: the misses with @pages of memory, in each window */
struct mmpath_mrc_point {
	u64 pages, misses[NR_MMPATH_MRC_WINDOWS];
};

/*
 * A walk along a curve
 * @m: the curve
 * @w: the window
 * @i: the next bin
 * @left: intervals that reached bin @i
 * @misses: value of the curve at bin @i
 */
struct mmpath_mrc_walk {
	const struct mmpath_mrc *m;
	enum mmpath_mrc_window w;
	u32 i;
	u64 left, misses;
};

void mmpath_mrc_walk(struct mmpath_mrc_walk *walk, const struct mmpath_mrc *m,
		     enum mmpath_mrc_window w);
u64 mmpath_mrc_step(struct mmpath_mrc_walk *walk);
u64 mmpath_mrc_walk_to(struct mmpath_mrc_walk *walk, u64 pages);
u32 mmpath_mrc_points(const struct mmpath_mrc *m, u64 end, struct mmpath_mrc_point *points);
void mmpath_mrc_make_room(struct mmpath_mrc *m, u64 pages);
u64 mmpath_mrc_end(const struct mmpath_mrc *m);
u64 mmpath_mrc_cold(const struct mmpath_mrc *m, enum mmpath_mrc_window w);
u64 mmpath_mrc_records(const struct mmpath_mrc *m, enum mmpath_mrc_window w);

/*
 * region.c: which region a page belongs to (thesis 4.3.1, "Selecting
 * Regions"). Extents map addresses to regions as VMAs map them to files. A
 * region may have several, because a hole was unmapped or a part moved. A
 * page in no extent belongs to the rest region.
 */
enum mmpath_region_kind {
	MMPATH_REGION_NONE,
	MMPATH_REGION_REST,
	MMPATH_REGION_MMAP,
	MMPATH_REGION_BRK,	/* heap, bss */
};

/* Models of a region: stacks and their curves */
struct mmpath_models {
	struct mmpath_stack lru;
	struct mmpath_mru mru;
	struct mmpath_mrc lru_mrc;
	struct mmpath_mrc mru_mrc;
};

#define MMPATH_REGION_ORDER	6	/* a struct mmpath_region takes 64 bytes */

struct mmpath_region {
	u32 id;				/* unique in its address space, never reused; rest is 0 */
	enum mmpath_region_kind kind;	/* NONE: not in use */
	u64 nr_mapped;			/* pages in its extents; 0 for rest */
	u64 first, last;		/* lowest and highest page, by mmpath_regions_measure() */
	u64 footprint;			/* most pages on the LRU stack before a burst ended */
	struct mmpath_models *models;	/* NULL until the region is touched */
	u32 next_free;			/* region.c's */
	bool resumed;			/* a burst has ended: no cold touch is sure */
	u8 nomem;			/* dropped records: 1 in this epoch, 2 in the last */
};

struct mmpath_region_params {
	u64 min_pages;			/* smaller mappings share the rest region */
	u32 group_pages;		/* resolution of the curves */
	u32 seed;			/* random, so that no program can know the ranks */
	unsigned long max_pages;	/* per LRU stack, 0: exact */
	unsigned int mru_pages;		/* per MRU stack */
	unsigned int shift;		/* the driver's sample */
};

/*
 * Each mapping of a program may be a region, and most programs have some hundred. A program that
 * maps without end is charged 96 bytes for each mapping, and no more than 1.5 MiB. The bound also
 * limits the time of an epoch, which looks at all regions. The kernel's own limit of 65,530
 * mappings is no bound, because the kernel merges neighbours.
 */
#define MMPATH_MAX_EXTENTS	16384U
#define MMPATH_EXTENT_ORDER	5	/* a struct mmpath_extent takes 32 bytes */

struct mmpath_extent {
	u64 first, nr;
	u32 region;			/* place of its region; 0: not in use */
	u32 left, right;		/* region.c's */
};

struct mmpath_regions {
	struct mmpath_mem *mem;
	struct mmpath_region_params params;
	struct mmpath_region *rest;
	unsigned int nr_regions;
	struct mmpath_seen seen;	/* how much of this epoch was seen */
	struct mmpath_unseen unseen;
	/* counted in this epoch by regions that have lost their models since */
	struct mmpath_counted lru_gone, mru_gone;
	struct mmpath_extent last;	/* copy of the extent that was found last */
	struct mmpath_region *last_region;
	/* the rest is region.c's: the other regions, and the tree of extents */
	struct mmpath_vec regions;
	u32 top_region, free_region;
	struct mmpath_vec extents;
	u32 nr_extents, root, top_extent, free_extent;
	u32 next_id;
	bool measured;
};

int mmpath_regions_init(struct mmpath_regions *rs, struct mmpath_mem *mem,
			const struct mmpath_region_params *params);
void mmpath_regions_destroy(struct mmpath_regions *rs);
int mmpath_regions_copy(struct mmpath_regions *dst, const struct mmpath_regions *src);
int mmpath_regions_map(struct mmpath_regions *rs, u64 first, u64 nr,
		       enum mmpath_region_kind kind);
int mmpath_regions_unmap(struct mmpath_regions *rs, u64 first, u64 nr);
void mmpath_regions_forget(struct mmpath_regions *rs, u64 first, u64 nr);
int mmpath_regions_move(struct mmpath_regions *rs, u64 from, u64 nr_from, u64 to, u64 nr_to);
struct mmpath_region *__mmpath_regions_find(struct mmpath_regions *rs, u64 page);
void mmpath_regions_measure(struct mmpath_regions *rs);
struct mmpath_region *mmpath_regions_next(const struct mmpath_regions *rs, u32 *i);
int mmpath_region_touch(struct mmpath_regions *rs, struct mmpath_region *region, u64 page,
			u64 rank, bool again);
void mmpath_regions_prefetch(struct mmpath_regions *rs, const u64 *page, unsigned int nr);
void mmpath_regions_set_shift(struct mmpath_regions *rs, unsigned int shift);
void mmpath_regions_reset(struct mmpath_regions *rs, unsigned int shift);
void mmpath_regions_end_burst(struct mmpath_regions *rs);
void mmpath_regions_close_epoch(struct mmpath_regions *rs);

/* Iterate over all regions, the rest region first. @i is a u32, the place of the region. */
#define mmpath_for_each_region(rs, i, region) \
	for ((i) = 0; ((region) = mmpath_regions_next((rs), &(i))); (i)++)

/**
 * mmpath_regions_find() - find the region of a page
 * @rs: the regions
 * @page: its number
 *
 * Return: the region; the rest region if @page is in no other.
 */
static inline struct mmpath_region *mmpath_regions_find(struct mmpath_regions *rs, u64 page)
{
	if (page - rs->last.first < rs->last.nr)
		return rs->last_region;
	return __mmpath_regions_find(rs, page);
}

/**
 * mmpath_region_shift() - return the sample of a region
 * @rs: the regions
 * @region: one of them
 *
 * Return: the shift: one page in 2^shift is on the region's LRU stack.
 */
static inline unsigned int mmpath_region_shift(const struct mmpath_regions *rs,
					       const struct mmpath_region *region)
{
	return region->models ? region->models->lru.shift : rs->params.shift;
}

/*
 * lirs.c: which pages to keep in a memory of a given size. It is LIRS (Jiang and Zhang
 * 2002; thesis 4.3.2), or with other sizes of its sets LRU or MRU.
 */
#define MMPATH_LIRS_MISS	0	/* what __mmpath_lirs_touch() returns, if it */
#define MMPATH_LIRS_HIT		1	/* does not return MMPATH_NOMEM */

struct mmpath_lirs_list {
	u32 first, last;
	u32 link;			/* which of a node's links */
};

struct mmpath_lirs {
	struct mmpath_mem *mem;
	unsigned int shift;		/* one page in 2^shift is in it */
	u32 max_pages;			/* most sampled pages in it, including ghosts */
	u64 size, hirs;			/* memory, and the part of it for HIR; pages */
	bool fixed;			/* LIR pages stay LIR, and HIR pages stay HIR */
	/* sampled pages: LIR; HIR in memory; HIR not in memory but remembered */
	u32 nr_lirs, nr_hirs, nr_ghosts;
	/* the rest is lirs.c's */
	struct mmpath_index index;
	struct mmpath_vec nodes;
	struct mmpath_lirs_list stack, queue, ghosts;
	u32 top_node, free_node;
};

int mmpath_lirs_init(struct mmpath_lirs *l, struct mmpath_mem *mem, u32 max_pages,
		     unsigned int shift);
void mmpath_lirs_destroy(struct mmpath_lirs *l);
void mmpath_lirs_reset(struct mmpath_lirs *l, unsigned int shift);
void mmpath_lirs_set_size(struct mmpath_lirs *l, u64 size, u64 hirs, bool fixed);
/* of a page that is in its sample */
int __mmpath_lirs_touch(struct mmpath_lirs *l, u64 page);
bool mmpath_lirs_victim(struct mmpath_lirs *l, u64 *page);
bool mmpath_lirs_next_lir(struct mmpath_lirs *l, u64 *at, u64 *page);
void mmpath_lirs_evicted(struct mmpath_lirs *l, u64 page);
void mmpath_lirs_keep(struct mmpath_lirs *l, u64 page);
bool __mmpath_lirs_resident(struct mmpath_lirs *l, u64 page);
void mmpath_lirs_forget(struct mmpath_lirs *l, u64 first, u64 nr);
int mmpath_lirs_move(struct mmpath_lirs *l, u64 from, u64 to, u64 nr);
int mmpath_lirs_set_shift(struct mmpath_lirs *l, unsigned int shift);
int mmpath_lirs_refine(struct mmpath_lirs *l, unsigned int shift);
size_t mmpath_lirs_bytes(const struct mmpath_lirs *l);

/*
 * contest.c: would LIRS miss less than the kernel's policy? Both are simulated in a small memory
 * (Waldspurger et al., ATC'17). The contest switches to the other one when that has missed
 * less by enough.
 */
enum mmpath_contestant {
	MMPATH_POLICY_KERNEL,		/* LRU stands for it */
	MMPATH_POLICY_LIRS,
	MMPATH_POLICY_USED,		/* the policy that was the winner then */
	NR_MMPATH_SIMS,
};

struct mmpath_contest {
	u64 size, hirs;			/* memory, and its part for HIR pages; pages */
	/* misses are scaled up to all pages, without first touches */
	u64 misses[NR_MMPATH_SIMS];	/* since the policies were compared; older ones decay */
	u64 last[NR_MMPATH_SIMS];	/* @misses when the policies were compared last */
	u64 switches;			/* number of changes of the winner */
	u32 nr_seen;			/* sampled pages that were touched */
	/* the rest is contest.c's */
	struct mmpath_lirs sim[NR_MMPATH_SIMS];
	struct mmpath_index seen;	/* has a value for each page that was touched */
	enum mmpath_contestant winner;
	u64 lead;			/* misses that LIRS would have saved */
	unsigned int needed;		/* lead that LIRS needs, see contest_lead_needed() */
	unsigned int doubts;		/* epochs that speak against LIRS */
	u64 since;			/* misses of LRU since the winner took over */
	u64 round_lru, round_used;	/* misses in about the last round since then */
	unsigned int finest;		/* shift that the sample may get */
	unsigned int refine_in;		/* epochs until it may get it */
};

int mmpath_contest_init(struct mmpath_contest *c, struct mmpath_mem *mem, u32 max_pages,
			unsigned int shift);
void mmpath_contest_destroy(struct mmpath_contest *c);
void mmpath_contest_reset(struct mmpath_contest *c, unsigned int shift);
void mmpath_contest_set_size(struct mmpath_contest *c, u64 pages, u64 pab_pages);
/* of a page that is in its sample */
int __mmpath_contest_touch(struct mmpath_contest *c, u64 page);
void mmpath_contest_forget(struct mmpath_contest *c, u64 first, u64 nr);
int mmpath_contest_move(struct mmpath_contest *c, u64 from, u64 to, u64 nr);
int mmpath_contest_set_shift(struct mmpath_contest *c, unsigned int shift);
void mmpath_contest_close_epoch(struct mmpath_contest *c);
enum mmpath_contestant mmpath_contest_winner(const struct mmpath_contest *c);

/* divide.c: how much memory each cgroup, or each pool, gets (thesis 4.4) */
#define MMPATH_STEPS		128U	/* most steps that memory is divided into */

enum mmpath_balance {
	MMPATH_BALANCE_NONE,
	MMPATH_BALANCE_THROUGHPUT,
	MMPATH_BALANCE_FAIR,
	MMPATH_BALANCE_SLA,
	NR_MMPATH_BALANCES,
};

struct mmpath_share {
	u64 lambda[MMPATH_STEPS + 1];	/* misses at each number of steps; never rises */
	u64 cpu_us;			/* CPU time in which there were these misses */
	u64 sla;			/* most misses per second of CPU time; U64_MAX: any */
	u32 weight;			/* not 0 */
	u32 least, most;		/* bounds of @steps */
	u32 fixed;			/* steps of @least that are not reclaimable */
	u32 steps;			/* steps that the share has */
	bool failed;			/* @sla cannot be kept */
	/* the rest is divide.c's */
	u32 plan;
	u32 floor, ceiling;		/* bounds that can be kept */
	bool served;
};

u32 mmpath_divide(struct mmpath_share *const *shares, unsigned int nr,
		  enum mmpath_balance mode, u32 total, u32 moves);
u64 mmpath_share_rate(const struct mmpath_share *s, u32 steps);
void mmpath_share_hull(struct mmpath_share *s);
bool mmpath_is_far_above(long mine, long most, long takes);

/* "Recent" is about the last MMPATH_WINDOW epochs. Newer epochs count for more. */
#define MMPATH_WINDOW_SHIFT	3
#define MMPATH_WINDOW		(1U << MMPATH_WINDOW_SHIFT)
#define MMPATH_WINDOW_FRACTION	8	/* bits */

static inline u64 mmpath_decay(u64 window, u64 now)
{
	return window - (window >> MMPATH_WINDOW_SHIFT) + (now << MMPATH_WINDOW_FRACTION);
}

void mmpath_share_window(struct mmpath_share *s, u64 *window, const struct mmpath_mrc *m,
			 u64 step, u64 other);

/*
 * pools.c: a pool of memory for each region, and LRU or MRU in it (thesis 4.3.1)
 */
#define MMPATH_MAX_POOLS	64U	/* further regions share the first */
#define MMPATH_POOL_OLD		0ULL	/* key of the first pool, and of no region */

struct mmpath_pool {
	struct list_head node;
	u64 key;
	u64 target;			/* pages to have; U64_MAX: not known yet */
	bool mru;			/* the policy in use; LRU if not */
	/* the rest is pools.c's */
	struct mmpath_lirs pages;
	struct mmpath_share share;
	u64 window[2][MMPATH_STEPS + 1];	/* LRU and MRU, see mmpath_share_window() */
	int score;
	bool closed;
};

struct mmpath_pools {
	struct mmpath_mem *mem;
	unsigned int shift;		/* one page in 2^shift is in the pools */
	u64 size, hirs;			/* memory, and its part that is in use; pages */
	u64 switches;			/* number of changes between LRU and MRU */
	unsigned int nr;		/* number of pools */
	struct list_head list;		/* of pools */
	/* the rest is pools.c's */
	u32 max_pages;
	u64 step;			/* size of a step of memory, pages */
	struct mmpath_pool *old, *last;
	bool crowded;			/* the first pool has pages of regions */
};

int mmpath_pools_init(struct mmpath_pools *ps, struct mmpath_mem *mem, u32 max_pages,
		      unsigned int shift);
void mmpath_pools_destroy(struct mmpath_pools *ps);
struct mmpath_pool *mmpath_pools_find(struct mmpath_pools *ps, u64 key);
/* of a page that is in their sample */
int __mmpath_pools_touch(struct mmpath_pools *ps, u64 key, u64 page);
bool mmpath_pools_victim(struct mmpath_pools *ps, u64 *page, u64 *key);
void mmpath_pools_keep(struct mmpath_pools *ps, u64 key, u64 page);
void mmpath_pools_forget(struct mmpath_pools *ps, u64 first, u64 nr);
int mmpath_pools_move(struct mmpath_pools *ps, u64 from, u64 to, u64 nr);
int mmpath_pools_set_shift(struct mmpath_pools *ps, unsigned int shift);
void mmpath_pools_refine(struct mmpath_pools *ps, unsigned int shift);
void mmpath_pools_set_size(struct mmpath_pools *ps, u64 pages, u64 pab_pages);
void mmpath_pools_close_region(struct mmpath_pools *ps, u64 key, const struct mmpath_mrc *lru,
			       const struct mmpath_mrc *mru);
void mmpath_pools_close_epoch(struct mmpath_pools *ps);
u64 mmpath_pool_has(const struct mmpath_pool *pool);
u64 mmpath_pools_known(const struct mmpath_pools *ps);

#endif /* _MM_PATH_MODEL_H */
