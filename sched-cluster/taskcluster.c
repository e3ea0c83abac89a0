// SPDX-License-Identifier: GPL-2.0
/*
 * Threads that share data go to one chip (Azimi 2007, chapter 3; Tam, Azimi and Stumm,
 * EuroSys'07). Data that threads on several chips write moves between the chips' caches all the
 * time, and each move takes as long as many instructions.
 *
 *	samples of lines from other chips
 *	   -> shMap of each thread -> clusters of a group -> homes of their threads
 *	   -> moves, wakeups and load balancing keep to them
 *	   -> fewer such lines in the next round, or it is undone
 *
 * A worker does a round each round_ms while it is enabled. It samples while a cgroup asks for it
 * and there is more than one chip. Where it is not enabled it only drops cgroups that were
 * removed.
 */
#define pr_fmt(fmt) "taskcluster: " fmt

#include <linux/workqueue.h>
#include "taskcluster.h"

#define TASKCLUSTER_REAP_MS	10000U

/* Protects all but rings and homes, see taskcluster.h */
DEFINE_MUTEX(taskcluster_mutex);
DEFINE_PER_CPU(unsigned long [NR_TASKCLUSTER_STATS], taskcluster_stats);

struct taskcluster_config taskcluster_config = {
	.period = 500,
	.round_ms = 250,
	.imbalance_pct = 25,
};

static bool taskcluster_enabled;
static const char *taskcluster_now = "off";	/* the state */
static int taskcluster_error;	/* of the PMU in the last round */

static void taskcluster_round(struct work_struct *work);
static DECLARE_DELAYED_WORK(taskcluster_work, taskcluster_round);

bool taskcluster_on(void)
{
	return READ_ONCE(taskcluster_enabled);
}

/* off, idle, one chip, sampling, or no samples */
const char *taskcluster_state(void)
{
	return READ_ONCE(taskcluster_now);
}

static void taskcluster_be(const char *state)
{
	lockdep_assert_held(&taskcluster_mutex);
	WRITE_ONCE(taskcluster_now, state);
}

static bool taskcluster_may_sample(bool asked)
{
	if (!taskcluster_enabled)
		taskcluster_be("off");
	else if (!asked)
		taskcluster_be("idle");
	else if (taskcluster_nr_chips() < 2)
		taskcluster_be("one chip");
	else
		return true;
	return false;
}

static void taskcluster_sample(bool asked)
{
	bool may = taskcluster_may_sample(asked);
	int ret = taskcluster_sampling(may);

	if (ret && ret != taskcluster_error)
		pr_warn("no samples from %s: %d\n", taskcluster_config.pmu, ret);
	taskcluster_error = ret;
	if (may)
		taskcluster_be(ret ? "no samples" : "sampling");
	if (!may || ret)
		taskcluster_forget_all();
}

/* Off, a round is for removed cgroups only, and there is none when there is no cgroup. */
static void taskcluster_round(struct work_struct *work)
{
	bool asked;

	mutex_lock(&taskcluster_mutex);
	asked = taskcluster_reap_askers();
	taskcluster_drain(taskcluster_note);
	taskcluster_update_groups();
	taskcluster_place_all();
	taskcluster_sample(asked);
	if (taskcluster_enabled || asked)
		queue_delayed_work(system_unbound_wq, &taskcluster_work,
				   msecs_to_jiffies(taskcluster_enabled ?
						    taskcluster_config.round_ms :
						    TASKCLUSTER_REAP_MS));
	mutex_unlock(&taskcluster_mutex);
}

/* Let the next round begin at once. */
void taskcluster_restart(void)
{
	mod_delayed_work(system_unbound_wq, &taskcluster_work, 0);
}

static void taskcluster_stop(void)
{
	taskcluster_sampling(false);
	taskcluster_forget_all();
	static_branch_disable(&taskcluster_placing);
	taskcluster_be("off");
}

/* Without an event that was set, that of the virtual PMU: lines from another chip's L2. */
static int taskcluster_find_event(void)
{
	if (*taskcluster_config.pmu)
		return 0;
	return taskcluster_set_event("vpmu", 0x12, taskcluster_config.period);
}

/**
 * taskcluster_set_enabled() - switch it on or off
 * @on: whether to sample and to place
 *
 * Off undoes all: no event of perf is left, and no task has a home. Context: process,
 * taskcluster_mutex held. Return: 0, or -ENODEV if there is no event to sample.
 */
int taskcluster_set_enabled(bool on)
{
	int ret;

	lockdep_assert_held(&taskcluster_mutex);
	if (on == taskcluster_enabled)
		return 0;
	if (on) {
		ret = taskcluster_find_event();
		if (ret)
			return ret;
		static_branch_enable(&taskcluster_placing);
	}
	WRITE_ONCE(taskcluster_enabled, on);
	if (on)
		taskcluster_be("idle");
	else
		taskcluster_stop();
	taskcluster_restart();
	return 0;
}

/**
 * taskcluster_set_event() - say what to sample
 * @pmu: name of a PMU, shorter than TASKCLUSTER_NAME
 * @event: attr.config of the event
 * @period: one sample in this many
 *
 * Context: process, taskcluster_mutex held. Return: 0, or -ENODEV if there is no such PMU.
 */
int taskcluster_set_event(const char *pmu, u64 event, unsigned int period)
{
	int type = taskcluster_pmu_type(pmu);

	if (type < 0)
		return type;
	strscpy(taskcluster_config.pmu, pmu);
	taskcluster_config.type = type;
	taskcluster_config.event = event;
	taskcluster_config.period = period;
	taskcluster_resample();
	return 0;
}

/**
 * taskcluster_set_mode() - say what clusters of a cgroup are
 * @id: of the cgroup
 * @mode: what threads are compared; TASKCLUSTER_NONE: as the cgroup above says
 *
 * Context: process, taskcluster_mutex held. Return: 0 or -ENOMEM.
 */
int taskcluster_set_mode(u64 id, enum taskcluster_mode mode)
{
	struct taskcluster_asker *asker = taskcluster_find_asker(id);
	int ret = 0;

	if ((asker ? asker->mode : TASKCLUSTER_NONE) == mode)
		return 0;
	if (asker)
		taskcluster_del_asker(asker);
	if (mode != TASKCLUSTER_NONE)
		ret = taskcluster_add_asker(id, mode);
	taskcluster_restart();
	return ret;
}
