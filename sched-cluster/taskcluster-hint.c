// SPDX-License-Identifier: GPL-2.0
/*
 * Programs that know their groups: prctl(PR_SCHED_CLUSTER, ...), in the shape of PR_SCHED_CORE.
 *
 * A group has a number that no cluster has, and each of its tasks carries it. It takes part as
 * if it had been found, without a sample. It is not judged: there is no time before it.
 *
 * A call only writes numbers into tasks. The worker meets those that it does not know in its next
 * round, so that a program which calls all the time costs no more than one that does once.
 */
#include <linux/prctl.h>
#include <linux/ptrace.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include "taskcluster.h"

static bool taskcluster_hints;	/* a group was named since boot */
static bool taskcluster_hints_new;	/* and tasks may carry numbers that were not looked at */
static unsigned int taskcluster_hints_wait;	/* rounds until those that were refused are tried */
static unsigned int taskcluster_hints_waits;	/* how often they were, in a row */

#define HINT_WAIT_SHIFT	6U	/* 2^6 rounds at most */

/* The task with this number in the caller's pid namespace, with a reference; 0: the caller */
static struct task_struct *hint_task(pid_t pid)
{
	struct task_struct *task;

	rcu_read_lock();
	task = pid ? find_task_by_vpid(pid) : current;
	if (task)
		get_task_struct(task);
	rcu_read_unlock();
	return task;
}

static void hint_set(struct task_struct *task, u32 hint)
{
	WRITE_ONCE(task->taskcluster_hint, hint);
	WRITE_ONCE(taskcluster_hints_new, true);
}

/* All or none */
static int hint_set_all(struct task_struct *task, enum pid_type scope, u32 hint)
{
	struct task_struct *p;
	struct pid *pid;
	int ret = 0;

	read_lock(&tasklist_lock);
	pid = task_pid_type(task, scope);
	do_each_pid_thread(pid, scope, p) {
		if (!ptrace_may_access(p, PTRACE_MODE_READ_REALCREDS))
			ret = -EPERM;
	} while_each_pid_thread(pid, scope, p);
	if (ret)
		goto unlock;
	do_each_pid_thread(pid, scope, p) {
		hint_set(p, hint);
	} while_each_pid_thread(pid, scope, p);
unlock:
	read_unlock(&tasklist_lock);
	return ret;
}

static int hint_share(struct task_struct *task, enum pid_type scope, u32 hint)
{
	if (scope != PIDTYPE_PID)
		return hint_set_all(task, scope, hint);
	hint_set(task, hint);
	return 0;
}

static u32 hint_create(void)
{
	u32 name;

	mutex_lock(&taskcluster_mutex);
	taskcluster_hints = true;
	name = taskcluster_new_name();
	mutex_unlock(&taskcluster_mutex);
	return name;
}

static int hint_do(unsigned int cmd, struct task_struct *task, enum pid_type scope,
		   u64 __user *value)
{
	if (!ptrace_may_access(task, PTRACE_MODE_READ_REALCREDS))
		return -EPERM;
	switch (cmd) {
	case PR_SCHED_CLUSTER_GET:
		return put_user((u64)READ_ONCE(task->taskcluster_hint), value);
	case PR_SCHED_CLUSTER_CREATE:
		return hint_share(task, scope, hint_create());
	case PR_SCHED_CLUSTER_SHARE_TO:
		return hint_share(task, scope, READ_ONCE(current->taskcluster_hint));
	default:
		hint_set(current, READ_ONCE(task->taskcluster_hint));
		return 0;
	}
}

/**
 * taskcluster_prctl() - say who shares
 * @cmd: PR_SCHED_CLUSTER_GET, CREATE, SHARE_TO or SHARE_FROM
 * @pid: of the task, in the caller's pid namespace; 0: the caller
 * @scope: the task, its process or its process group, as PR_SCHED_CORE_SCOPE_* number them; the
 *	task alone for GET and SHARE_FROM
 * @uaddr: where GET writes the number of the group, 64 bits, 0 for none; else 0
 *
 * CREATE puts the tasks into a new group, SHARE_TO into the caller's, and SHARE_FROM the caller
 * into the task's. Who is in no group shares that: so a group is left. A child is in the group of
 * its parent. Context: process.
 *
 * Return: 0, -EINVAL, -ESRCH, -EFAULT, or -EPERM if the caller may not trace all tasks; then
 * nothing has changed
 */
int taskcluster_prctl(unsigned int cmd, pid_t pid, unsigned int scope, unsigned long uaddr)
{
	bool one = cmd == PR_SCHED_CLUSTER_GET || cmd == PR_SCHED_CLUSTER_SHARE_FROM;
	struct task_struct *task;
	int ret;

	if (cmd > PR_SCHED_CLUSTER_SHARE_FROM || pid < 0 ||
	    scope > (one ? PIDTYPE_PID : PIDTYPE_PGID) ||
	    (cmd != PR_SCHED_CLUSTER_GET && uaddr) || uaddr % sizeof(u64))
		return -EINVAL;
	task = hint_task(pid);
	if (!task)
		return -ESRCH;
	ret = hint_do(cmd, task, scope, (u64 __user *)uaddr);
	put_task_struct(task);
	return ret;
}

/*
 * Tasks that carry a number and are not known. Those for which there is room in @tasks are put
 * there, with references. Return how many there are.
 */
static unsigned int hint_collect(struct task_struct **tasks, unsigned int room)
{
	struct task_struct *process, *p;
	unsigned int nr = 0;

	rcu_read_lock();
	for_each_process_thread(process, p) {
		if (!READ_ONCE(p->taskcluster_hint) || p->flags & PF_EXITING ||
		    taskcluster_is_known(p) || !taskcluster_asker_of(p))
			continue;
		if (nr < room)
			tasks[nr] = get_task_struct(p);
		nr++;
	}
	rcu_read_unlock();
	return nr;
}

/* Some may be refused, for their cgroup has no room or memory. Others are met nevertheless. */
static unsigned int hint_meet(struct task_struct **tasks, unsigned int nr)
{
	unsigned int i, met = 0;

	for (i = 0; i < nr; i++) {
		met += taskcluster_meet(tasks[i]);
		put_task_struct(tasks[i]);
		cond_resched();
	}
	return met;
}

/* A group was named, or a cgroup that asks now may have tasks in groups. */
void taskcluster_hints_changed(void)
{
	WRITE_ONCE(taskcluster_hints_new, true);
}

/* Were tasks refused, and is it time to try them again? */
static bool hint_is_due(void)
{
	if (!taskcluster_hints_wait)
		return false;
	taskcluster_hints_wait--;
	return !taskcluster_hints_wait;
}

/* A cgroup may have no memory for its tasks for a moment, or for ever. */
static void hint_refused(bool some)
{
	taskcluster_hints_wait = some ? 1U << min(taskcluster_hints_waits, HINT_WAIT_SHIFT) : 0;
	taskcluster_hints_waits = some ? taskcluster_hints_waits + 1 : 0;
}

/**
 * taskcluster_meet_hinted() - get to know the tasks of groups that programs have named
 *
 * Context: process, taskcluster_mutex held. Looks at all tasks, if there was a call since the
 * last time; and if tasks were refused then, ever more rarely. Return: whether there was a call, or
 * a task was met.
 */
bool taskcluster_meet_hinted(void)
{
	bool changed = taskcluster_hints && xchg(&taskcluster_hints_new, false);
	unsigned int nr, found, met;
	struct task_struct **tasks;

	lockdep_assert_held(&taskcluster_mutex);
	if (!hint_is_due() && !changed)
		return false;
	nr = hint_collect(NULL, 0);
	tasks = kvmalloc_array(nr, sizeof(*tasks), GFP_KERNEL);
	found = tasks ? hint_collect(tasks, nr) : 0;
	met = hint_meet(tasks, min(found, nr));
	kvfree(tasks);
	hint_refused(!tasks || met < found);
	return changed || met;
}
