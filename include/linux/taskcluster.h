/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hooks of the scheduler that keep threads which share data on one chip, see
 * Documentation/mm/path/taskcluster.rst.
 *
 * A task that was placed has a home: a CPU of the chip it should run on. The hooks read no more
 * than this number. Nothing is placed until it is switched on; then each hook is a patched-out
 * jump.
 */
#ifndef _LINUX_TASKCLUSTER_H
#define _LINUX_TASKCLUSTER_H

#include <linux/jump_label.h>
#include <linux/sched.h>

#ifdef CONFIG_TASK_CLUSTER
DECLARE_STATIC_KEY_FALSE(taskcluster_placing);
int __taskcluster_select_cpu(struct task_struct *p, int prev_cpu);
bool __taskcluster_keeps(struct task_struct *p, int src_cpu, int dst_cpu);
int taskcluster_prctl(unsigned int cmd, pid_t pid, unsigned int scope, unsigned long uaddr);

/* Has @p a home? */
static inline bool taskcluster_has_home(const struct task_struct *p)
{
	return static_branch_unlikely(&taskcluster_placing) && READ_ONCE(p->taskcluster_home);
}

/*
 * Return a CPU of its chip for a task that wakes up, @prev_cpu if that is one, or -1 to let the
 * scheduler choose. Called with p->pi_lock held.
 */
static inline int taskcluster_select_cpu(struct task_struct *p, int prev_cpu)
{
	return taskcluster_has_home(p) ? __taskcluster_select_cpu(p, prev_cpu) : -1;
}

/* Should load balancing leave @p on its chip? Called with the lock of @src_cpu's rq held. */
static inline bool taskcluster_keeps(struct task_struct *p, int src_cpu, int dst_cpu)
{
	return taskcluster_has_home(p) && __taskcluster_keeps(p, src_cpu, dst_cpu);
}

/* A child begins without a home. */
static inline void taskcluster_fork(struct task_struct *p)
{
	p->taskcluster_home = 0;
}
#else
static inline int taskcluster_select_cpu(struct task_struct *p, int prev_cpu)
{
	return -1;
}

static inline bool taskcluster_keeps(struct task_struct *p, int src_cpu, int dst_cpu)
{
	return false;
}

static inline void taskcluster_fork(struct task_struct *p)
{
}
#endif

#endif /* _LINUX_TASKCLUSTER_H */
