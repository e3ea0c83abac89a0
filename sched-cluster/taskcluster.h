/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Threads that share data, from samples to places. See Documentation/mm/path/taskcluster.rst.
 *
 *	taskcluster-ui.c	files; they parse, call one function, and print
 *	taskcluster-lines.c	the file of what is shared
 *	taskcluster-hint.c	groups that programs name
 *	taskcluster.c		on and off, and the worker that runs each round
 *	taskcluster-group.c	cgroups, groups of threads, and what was seen of them
 *	taskcluster-place.c	homes, moves, and the scheduler's hooks
 *	taskcluster-sample.c	events of perf, and a ring of samples for each CPU
 *	models/			shMaps, clusters, lines, places: plain C
 *
 * taskcluster_mutex protects everything but the rings and the homes. A ring has one writer, the
 * handler of its CPU's event, and one reader, the worker. The handler takes no lock and may run
 * in an NMI. A home is one number in the task that the hooks read without a lock.
 */
#ifndef _SCHED_CLUSTER_TASKCLUSTER_H
#define _SCHED_CLUSTER_TASKCLUSTER_H

#include <linux/cgroup.h>
#include <linux/ktime.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/taskcluster.h>
#include "models/cluster.h"

#define TASKCLUSTER_MOST	16384U	/* threads that are known at a time */
#define TASKCLUSTER_PERIOD_LEAST	16U
#define TASKCLUSTER_PARTS	8U	/* that round_ms has */
#define TASKCLUSTER_NAME	32	/* bytes of a PMU's name */

#define TASKCLUSTER_EVENTS	2U	/* of a PMU: loads, and stores */
#define TASKCLUSTER_LATENCY	100U	/* ns that an event takes, where nobody says */

enum taskcluster_mode {
	TASKCLUSTER_NONE,
	TASKCLUSTER_PROCESS,	/* threads of one process, by virtual address */
	TASKCLUSTER_CGROUP,	/* all threads of the cgroup, by physical address */
	NR_TASKCLUSTER_MODES,
};

/**
 * struct taskcluster_config - what the user has set
 * @pmu: name of the PMU, empty: the virtual PMU, if there is one
 * @type: of this PMU
 * @event: attr.config of the events: data from another chip, and stores for which another chip
 *	is asked
 * @nr_events: number of them, 1 or 2
 * @period: one sample in this many events, or in fewer
 * @latency_ns: that an event takes
 * @arm_percent: of the time of any CPU that events take, from which on they are worth samples
 * @round_ms: time of a round
 * @imbalance_pct: how much fuller than the emptiest chip one may be, percent
 */
struct taskcluster_config {
	char pmu[TASKCLUSTER_NAME];
	int type;
	u64 event[TASKCLUSTER_EVENTS];
	unsigned int nr_events;
	unsigned int period;
	unsigned int latency_ns;
	unsigned int arm_percent;
	unsigned int round_ms;
	unsigned int imbalance_pct;
};

/* Why, how often; since boot */
enum taskcluster_stat {
	TASKCLUSTER_WOKEN,	/* wakeups on the home chip */
	TASKCLUSTER_WOKEN_FULL,	/* elsewhere: the chip was full */
	TASKCLUSTER_WOKEN_AWAY,	/* elsewhere: the task may not run there, or the chip is gone */
	TASKCLUSTER_KEPT,	/* that load balancing did not get */
	TASKCLUSTER_RELEASED,	/* that it got: the chip was full */
	TASKCLUSTER_SAMPLES,
	TASKCLUSTER_LOST,	/* samples for which there was no room */
	TASKCLUSTER_LOCAL,	/* samples that came from no other chip */
	TASKCLUSTER_NOMEM,	/* rounds or threads without memory */
	TASKCLUSTER_CROWDED,	/* samples of threads for which their cgroup had no room */
	NR_TASKCLUSTER_STATS,
};

DECLARE_PER_CPU(unsigned long [NR_TASKCLUSTER_STATS], taskcluster_stats);

/**
 * struct taskcluster_sample - an access to a line of another chip
 * @start: start time of the task, tells tasks with one pid apart
 * @addr: address
 * @phys: physical address, or 0
 * @code: address of the instruction
 * @ran_ns: CPU time that the task had used
 * @exec_id: changes when the task executes another program
 * @pid: of the task
 * @cpu: that it ran on
 * @period: events that the sample stands for
 * @locked: the instruction locks the line
 */
struct taskcluster_sample {
	u64 start;
	u64 addr;
	u64 phys;
	u64 code;
	u64 ran_ns;
	u64 exec_id;
	pid_t pid;
	int cpu;
	u32 period;
	bool locked;
};

/**
 * struct taskcluster_look - what was counted since the last look
 * @rate: events in a second, of the CPU that has most
 * @share: of its time that they take, of the CPU that loses most; TASKCLUSTER_WHOLE is all
 */
struct taskcluster_look {
	u32 rate, share;
};

/**
 * struct taskcluster_asker - a cgroup in whose cpu.cluster a mode was written
 * @node: in a list of all
 * @id: of the cgroup. Nothing holds the cgroup: an id is never used again
 * @mode: what was written
 * @groups: of its threads
 * @nr: threads in all of them
 * @rounds: in which clusters were looked for
 * @moves: of running threads to another chip, to their home or away from one of others
 * @undone: places that did not help
 * @pinned: places that the affinity of a thread forbade
 * @missed: samples that the filter dropped
 * @across: samples of lines that another process took before, where processes are looked at alone
 * @taken: these lines
 */
struct taskcluster_asker {
	struct list_head node;
	u64 id;
	enum taskcluster_mode mode;
	struct list_head groups;
	unsigned int nr;
	unsigned long rounds, moves, undone, pinned, missed, across;
	struct taskcluster_taken taken;
};

/**
 * struct taskcluster_group - threads among which clusters are looked for
 * @node: in ->groups of @asker
 * @asker: the cgroup
 * @tgid: the process; 0: all of the cgroup
 * @threads: that took lines from other chips
 * @nr: number of them
 * @filter: lines that they are watched on
 * @last: the same when clusters were last looked for, for the user; NULL: they never were
 * @samples: since the filter was reset
 * @events: that they stand for
 * @astray: those of them by threads that were not on their home's chip
 * @ran_ns: CPU time of @threads in this time
 * @ticks: looks in this time
 * @before: remote accesses in a second of CPU time when the threads were placed
 * @now: and in the last round
 * @found: clusters were looked for in this round
 * @housed: a thread had a home before homes were given now, other than those that were named
 * @trial: placed; the next round tells whether it helps
 * @tries: rounds of the trial that said nothing
 * @rest: parts of a round to leave the group alone
 * @failures: trials in a row that did not help
 */
struct taskcluster_group {
	struct list_head node;
	struct taskcluster_asker *asker;
	pid_t tgid;
	struct list_head threads;
	unsigned int nr;
	struct taskcluster_filter filter, *last;
	u64 samples, events, astray, ran_ns;
	unsigned int ticks;
	u64 before, now;
	bool found, housed, trial;
	unsigned int tries, rest, failures;
};

/**
 * struct taskcluster_task - a thread of a group
 * @hash: by pid
 * @node: in ->threads of @group
 * @group: its group
 * @task: the task, with a reference until the first round after its end
 * @pid: its pid when it was met; an exec may change it
 * @exec_id: its self_exec_id then
 * @model: its shMap and cluster
 * @last: its shMap when clusters were last looked for
 * @visible: to the reader of a file
 * @ran_ns: its CPU time at the last round
 * @samples: in this round
 * @events: that they stand for
 * @astray: those of them that were not on its home's chip
 * @seen: samples in the last round
 * @home: CPU of the chip it should run on, or -1
 * @wanted: CPU of the chip that its affinity forbade, or -1
 * @moves: to @home so far
 * @next_move: not before
 */
struct taskcluster_task {
	struct hlist_node hash;
	struct list_head node;
	struct taskcluster_group *group;
	struct task_struct *task;
	pid_t pid;
	u64 exec_id;
	struct taskcluster_thread model;
	struct taskcluster_shmap last;
	bool visible;
	u64 ran_ns, events, astray;
	u32 samples, seen;
	int home, wanted;
	unsigned int moves;
	ktime_t next_move;
};

extern struct mutex taskcluster_mutex;
extern struct taskcluster_config taskcluster_config;
extern const char *const taskcluster_mode_names[NR_TASKCLUSTER_MODES];

/* taskcluster.c */
bool taskcluster_on(void);
int taskcluster_set_enabled(bool on);
int taskcluster_set_event(const char *pmu, const u64 *event, unsigned int nr, unsigned int period,
			  unsigned int latency_ns);
int taskcluster_set_mode(u64 id, enum taskcluster_mode mode);
const char *taskcluster_state(void);

/* taskcluster-sample.c */
int taskcluster_pmu_type(const char *name);
int taskcluster_watch(unsigned int period);
void taskcluster_unwatch(void);
void taskcluster_look(struct taskcluster_look *look);
void taskcluster_remember_shares(void);
bool taskcluster_shares_differ(void);
void taskcluster_drain(void (*note)(const struct taskcluster_sample *s));

/* taskcluster-group.c */
struct taskcluster_asker *taskcluster_asker_of(struct task_struct *task);
struct taskcluster_asker *taskcluster_find_asker(u64 id);
struct taskcluster_asker *taskcluster_new_asker(u64 id, enum taskcluster_mode mode);
int taskcluster_add_asker(struct taskcluster_asker *asker);
void taskcluster_del_asker(struct taskcluster_asker *asker);
bool taskcluster_reap_askers(void);
void taskcluster_note(const struct taskcluster_sample *s);
bool taskcluster_update_groups(unsigned int period, unsigned int parts);
bool taskcluster_on_trial(void);
void taskcluster_forget_all(void);
void taskcluster_forget_found(void);
void taskcluster_visit_groups(void (*fn)(struct taskcluster_group *g));
unsigned int taskcluster_nr_tasks(void);
u32 taskcluster_new_name(void);
u32 taskcluster_name_of(const struct taskcluster_task *t);
bool taskcluster_has_executed(const struct taskcluster_task *t);
bool taskcluster_is_known(const struct task_struct *task);
bool taskcluster_meet(struct task_struct *task);

/* taskcluster-hint.c */
void taskcluster_hints_changed(void);
bool taskcluster_meet_hinted(void);

/* taskcluster-ui.c */
bool taskcluster_may_look(const struct seq_file *m, struct task_struct *task);

/* taskcluster-lines.c */
void *taskcluster_lines_start(struct seq_file *m, loff_t *pos);
void *taskcluster_lines_next(struct seq_file *m, void *v, loff_t *pos);
void taskcluster_lines_stop(struct seq_file *m, void *v);
int taskcluster_lines_show(struct seq_file *m, void *v);

/* taskcluster-place.c */
unsigned int taskcluster_nr_chips(void);
void taskcluster_place_all(bool named);
void taskcluster_leave_home(struct taskcluster_task *t);
bool taskcluster_is_astray(const struct taskcluster_task *t);
int taskcluster_chip_of(int cpu);
void taskcluster_undo(struct taskcluster_group *g);

#endif /* _SCHED_CLUSTER_TASKCLUSTER_H */
