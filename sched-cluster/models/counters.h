/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Logical counters: more events than a CPU has counters, and what the cycles went for.
 *
 * Events are packed into groups that can count at the same time (mux.c). One group after
 * the other has the counters, for a slice each. Within a slice, what ran without a change
 * of the task is a piece. The pieces of a cgroup are collected in a window, those of one
 * slice as one. When there is enough of each event, the window is closed: its estimates, and
 * the breakdown of its cycles (stall.c), are added to the totals.
 *
 *	      slice
 *	|<------------->|
 *	| A     | B     | B         | C | A      |	tasks
 *	| group 2       | group 0       | group 1|	who has the counters
 *	|<----->|
 *	 piece
 *
 * Plain C, see mm/path/models/model.h: no lock, no task. The caller serializes.
 */
#ifndef _KERNEL_SCHED_CLUSTER_COUNTERS_H
#define _KERNEL_SCHED_CLUSTER_COUNTERS_H

#include <linux/types.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>

#define HPC_EVENTS	64	/* most events of a set; event 0 counts cycles */
#define HPC_GROUPS	32	/* most groups of a set */
#define HPC_SLOTS	128	/* most slices of a round */
#define HPC_AT_ONCE	12	/* most events of a group */
#define HPC_LEAST	16	/* slices; fewer are too little data */

/* Return @a * @b / @c, or U64_MAX if that does not fit: there mul_u64_u64_div_u64() traps. */
static inline u64 hpc_mul_div(u64 a, u64 b, u64 c)
{
	return mul_u64_u64_shr(a, b, 64) < c ? mul_u64_u64_div_u64(a, b, c) : U64_MAX;
}

static inline u64 hpc_add(u64 a, u64 b)
{
	return a + min(b, U64_MAX - a);
}

/* mux.c */

/**
 * struct hpc_groups - events by groups
 * @nr: number of groups
 * @set: events of a group, a bit for each; event 0 is in all
 * @left: events that fit nowhere
 */
struct hpc_groups {
	unsigned int nr;
	u64 set[HPC_GROUPS];
	u64 left;
};

/**
 * struct hpc_order - who has the counters next
 * @slot: groups of the slices of this round
 * @nr: number of slices
 * @at: slices of this round that were given away
 * @random: state of the random numbers, not 0
 */
struct hpc_order {
	u8 slot[HPC_SLOTS];
	unsigned int nr, at;
	u64 random;
};

/**
 * struct hpc_count - what was counted of an event
 * @count: events
 * @cycles: cycles in which they were counted
 * @spread: sum of the squares by which slices differ from what was expected of them
 * @slices: number of slices, all of which but the first are in @spread
 */
struct hpc_count {
	u64 count;
	u64 cycles;
	u64 spread;
	u32 slices;
};

/**
 * struct hpc_estimate - of the number of events
 * @value: the number
 * @var: its variance
 */
struct hpc_estimate {
	u64 value;
	u64 var;
};

/**
 * struct hpc_var - a sum of variances, which u64 would not hold
 * @high: in units of HPC_VAR
 * @low: the rest
 */
struct hpc_var {
	u64 high;
	u32 low;
};

#define HPC_VAR		1024

int hpc_pack(struct hpc_groups *g, unsigned int events,
	     bool (*fits)(void *arg, u64 set), void *arg, u64 seed);
int hpc_order_init(struct hpc_order *o, const u8 *weight, unsigned int groups, u64 seed);
unsigned int hpc_order_next(struct hpc_order *o);
void hpc_count_add(struct hpc_count *c, u64 count, u64 cycles);
bool hpc_estimate(const struct hpc_count *c, u64 cycles, struct hpc_estimate *e);
void hpc_var_add(struct hpc_var *v, u64 var);
u64 hpc_error(const struct hpc_var *v);

/* stall.c */

enum hpc_role {
	HPC_PLAIN,	/* is only counted */
	HPC_STALL,	/* counts cycles that were lost to a cause */
	HPC_SOURCE,	/* counts accesses to a source, each of which stalls for a latency */
};

/**
 * struct hpc_set - what the events of a set are
 * @nr: number of events
 * @longest: slices after which a window is closed whatever it lacks
 * @role: enum hpc_role of each event
 * @of: of a source: the stall that it is a part of
 * @latency: of a source, cycles
 */
struct hpc_set {
	unsigned int nr;
	u32 longest;
	u8 role[HPC_EVENTS];
	u8 of[HPC_EVENTS];
	u32 latency[HPC_EVENTS];
};

/**
 * struct hpc_part - of an event, from a slice that is not over
 * @count: events
 * @cycles: cycles in which they were counted
 */
struct hpc_part {
	u64 count, cycles;
};

/**
 * struct hpc_window - what was counted since the last window was closed
 * @cycles: cycles of all its pieces
 * @slices: number of slices that are in @event
 * @slice: of which the pieces are in @part
 * @events: that can count in @slice, 0 if there is none
 * @part: they, in the order of their numbers
 * @event: the events
 * @estimate: of them, made when the window is closed
 */
struct hpc_window {
	u64 cycles;
	u32 slices;
	u32 slice;
	u64 events;
	struct hpc_part part[HPC_AT_ONCE];
	struct hpc_count event[HPC_EVENTS];
	struct hpc_estimate estimate[HPC_EVENTS];
};

/**
 * struct hpc_total - of an event, all windows
 * @count: estimated number of events
 * @count_var: variance of @count
 * @cycles: cycles of the windows that had enough data to estimate it
 * @counted: cycles in which it was counted, in those windows
 * @stall: of stalls and sources: cycles lost
 * @stall_var: variance of @stall
 */
struct hpc_total {
	u64 count, cycles, counted, stall;
	struct hpc_var count_var, stall_var;
};

/**
 * struct hpc_totals - where the cycles went
 * @cycles: of all windows. The sum of the next two and of the stalls
 * @completion: cycles in which instructions completed
 * @completion_var: variance of @completion
 * @unknown: of windows in which a stall had too little data
 * @event: by event
 */
struct hpc_totals {
	u64 cycles, completion, unknown;
	struct hpc_var completion_var;
	struct hpc_total event[HPC_EVENTS];
};

void hpc_window_add(struct hpc_window *w, u32 slice, u64 events, u32 seen, const u64 *count);
bool hpc_window_due(const struct hpc_window *w, const struct hpc_set *set);
void hpc_window_close(struct hpc_window *w, const struct hpc_set *set, struct hpc_totals *t);

#endif
