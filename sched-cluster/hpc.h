/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Logical counters: what the files of this room share.
 *
 *	hpc.c		gives the counters of each CPU to one group of events after the other,
 *			and cuts what they count into pieces, each of one task
 *	stall.c		adds the pieces up by cgroup: cpu.stalls, cpu.counters
 *	hpc-log.c	writes those of a thread to a log that a program maps: /dev/hpc
 *	hpc-sysfs.c	/sys/kernel/hpc
 */
#ifndef _KERNEL_SCHED_CLUSTER_HPC_H
#define _KERNEL_SCHED_CLUSTER_HPC_H

#include <linux/jump_label.h>
#include <linux/mutex.h>
#include <linux/types.h>
#include "models/counters.h"

struct cgroup_subsys_state;
struct perf_event;
struct task_struct;

#define HPC_NAME	32	/* of an event, with its end */

/**
 * struct hpc_event - an event of the set
 * @name: as it was given: stall.CAUSE, source.CAUSE.SOURCE or any other
 * @type: of struct perf_event_attr
 * @config: of struct perf_event_attr
 */
struct hpc_event {
	char name[HPC_NAME];
	u32 type;
	u64 config[3];
};

/**
 * struct hpc_events - the events to count
 * @set: what they are to the models
 * @event: by number; the first one counts cycles
 */
struct hpc_events {
	struct hpc_set set;
	struct hpc_event event[HPC_EVENTS];
};

enum hpc_mode { HPC_ALL, HPC_USER, HPC_KERNEL };

/**
 * struct hpc_config - set through sysfs, under hpc_enable_mutex and hpc_mutex
 * @enabled: it counts. Nothing but @slice_us changes then
 * @slice_us: how long a group has the counters, where @slice_period is 0
 * @slice_event: number of the event that ends slices
 * @slice_period: how many of that a slice has
 * @polling: returns to user mode end slices
 * @mode: enum hpc_mode
 * @events: what to count
 * @weight: slices of each group in a round
 * @groups: what counts together
 */
struct hpc_config {
	bool enabled, polling;
	unsigned int slice_us;
	unsigned int slice_event;
	u64 slice_period;
	unsigned int mode;
	struct hpc_events events;
	u8 weight[HPC_GROUPS];
	struct hpc_groups groups;
};

extern struct hpc_config hpc_config;
extern struct mutex hpc_enable_mutex;
extern struct mutex hpc_mutex;

/**
 * struct hpc_piece - what was counted between two changes of the cgroup or of the group
 * @css: cgroup of the tasks, with a reference
 * @group: number of the group
 * @slice: a number that no other slice has for a long time
 * @seen: events that counted all the time, a bit for each of @count
 * @count: events of the group, in the order of their numbers
 */
struct hpc_piece {
	struct cgroup_subsys_state *css;
	u16 group;
	u16 seen;
	u32 slice;
	u64 count[HPC_AT_ONCE];
};

/**
 * struct hpc_stats - since boot
 * @slices: slices that have ended
 * @polled: that a return to user mode has ended
 * @stretched: that were made longer, as their end takes so long
 * @switches: in which the group changed
 * @pieces: pieces
 * @lost: pieces that found the ring full
 * @nomem: pieces for whose cgroup there was no memory
 * @missed: events that did not count through a piece, as their counter belonged to others
 * @offline: CPUs on which counting failed
 */
struct hpc_stats {
	u64 slices, polled, stretched, switches, pieces, lost, nomem, missed, offline;
};

int hpc_enable(void);
void hpc_disable(void);
void hpc_drain(void);
void hpc_sum_stats(struct hpc_stats *sum);
void hpc_new_piece(u64 *word, u64 value);

/* hpc-log.c */
DECLARE_STATIC_KEY_FALSE(hpc_logging);
bool hpc_is_logged(const struct task_struct *task);
bool hpc_log_begin(const struct task_struct *task);
void hpc_log_end(const struct task_struct *task, const struct hpc_piece *piece);
void hpc_log_new_epoch(void);

/* stall.c; all under hpc_account_mutex, which is inside of hpc_mutex */
extern struct mutex hpc_account_mutex;
bool hpc_account(const struct hpc_piece *piece);
void hpc_account_sweep(void);
void hpc_account_reset(void);

/* perf-switch.h, in kernel/events/core.c */
u64 perf_event_read_set_local(struct perf_event *const *event, u64 set);
u64 perf_event_switch_local(struct perf_event *const *event, u64 from, u64 to);

#endif
