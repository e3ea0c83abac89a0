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
 * A worker does a round each round_ms, or in a part of it, while it is enabled. While a cgroup
 * asks for it and there is more than one chip, it counts such lines, and samples them when there
 * are many. Where it is not enabled it only drops cgroups that were removed.
 */
#define pr_fmt(fmt) "taskcluster: " fmt

#include <linux/math64.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include "taskcluster.h"

#define CREATE_TRACE_POINTS
#include <trace/events/taskcluster.h>

#define TASKCLUSTER_REAP_MS	10000U

/* Protects all but rings and homes, see taskcluster.h */
DEFINE_MUTEX(taskcluster_mutex);
DEFINE_PER_CPU(unsigned long [NR_TASKCLUSTER_STATS], taskcluster_stats);

struct taskcluster_config taskcluster_config = {
	.period = 500,
	.latency_ns = TASKCLUSTER_LATENCY,
	.arm_percent = 5,
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

/* off, idle, one chip, armed, sampling, or no samples */
const char *taskcluster_state(void)
{
	return READ_ONCE(taskcluster_now);
}

static void taskcluster_be(const char *state)
{
	lockdep_assert_held(&taskcluster_mutex);
	WRITE_ONCE(taskcluster_now, state);
}

/* May anything be watched? If not, the state says why. */
static bool taskcluster_may_watch(bool asked)
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

/*
 * When to sample. Counting costs nothing, samples do. So they are taken when a CPU loses more than
 * arm_percent of its time to lines that come from other chips, and until clusters are found and
 * judged. If that changes nothing, each time is followed by a longer pause. It ends early when a
 * CPU loses another share than before, for a program may have begun to share: the first pause after
 * a round, later ones after PAUSE_LEAST rounds, since there are programs whose counts are never the
 * same.
 *
 * Threads that share lose time until they are found, and samples cost those that do not. So counts
 * and samples are looked at several times in a round. To judge takes a whole one, and in a pause
 * counts are looked at once.
 */
#define PAUSE_LEAST	4U	/* rounds */
#define PAUSE_MOST	64U
#define ROUND_SAMPLES	512U	/* of the CPU that counts most: 128 in the two looks of a group */
#define TRIAL_SAMPLES	256U	/* the same, to see whether there are an eighth fewer lines */

static unsigned int taskcluster_period;	/* of the samples of this round; 0: none are taken */
static unsigned int taskcluster_parts = TASKCLUSTER_PARTS;	/* that this round lasts */
static unsigned int taskcluster_pause;	/* parts without samples that are still to come */
static unsigned int taskcluster_paused;	/* those that have passed */
static unsigned int taskcluster_vain;	/* times in a row that samples changed nothing */
static bool taskcluster_trying;	/* the period is that of a trial */

/* A period that gives enough samples in a round, and not many more */
static unsigned int taskcluster_choose_period(u32 rate, unsigned int samples)
{
	u64 events = div_u64((u64)rate * READ_ONCE(taskcluster_config.round_ms), MSEC_PER_SEC);

	return clamp_t(u64, div_u64(events, samples), TASKCLUSTER_PERIOD_LEAST,
		       READ_ONCE(taskcluster_config.period));
}

static void taskcluster_begin_pause(void)
{
	taskcluster_pause = TASKCLUSTER_PARTS *
			    min(PAUSE_LEAST << min(taskcluster_vain++, 8U), PAUSE_MOST);
	taskcluster_paused = 0;
	taskcluster_remember_shares();
}

static void taskcluster_go_on_pausing(void)
{
	unsigned int least = taskcluster_vain > 1 ? PAUSE_LEAST : 1;

	taskcluster_pause -= min(taskcluster_pause, taskcluster_parts);
	taskcluster_paused += taskcluster_parts;
	if (taskcluster_paused < TASKCLUSTER_PARTS * least || !taskcluster_shares_differ())
		return;
	taskcluster_pause = 0;
	taskcluster_vain = 1;
}

static bool taskcluster_is_worth_it(u32 share)
{
	return share > READ_ONCE(taskcluster_config.arm_percent) * (TASKCLUSTER_WHOLE / 100);
}

/* The period of the next round. @more: samples of this one are not enough */
static unsigned int taskcluster_next_period(const struct taskcluster_look *look, bool more)
{
	bool tried = taskcluster_trying;

	taskcluster_trying = taskcluster_on_trial();
	if (taskcluster_trying) {
		taskcluster_vain = 0;
		return tried ? taskcluster_period :
			       taskcluster_choose_period(look->rate, TRIAL_SAMPLES);
	}
	if (!taskcluster_is_worth_it(look->share)) {
		taskcluster_pause = 0;
		taskcluster_vain = 0;
		return 0;
	}
	/* the period was that of the trial */
	if (tried)
		return taskcluster_choose_period(look->rate, ROUND_SAMPLES);
	if (taskcluster_period && more)
		return taskcluster_period;
	if (taskcluster_period)
		taskcluster_begin_pause();
	else
		taskcluster_go_on_pausing();
	return taskcluster_pause ? 0 : taskcluster_choose_period(look->rate, ROUND_SAMPLES);
}

static void taskcluster_end(void)
{
	taskcluster_unwatch();
	taskcluster_forget_all();
	taskcluster_hints_changed();
	taskcluster_period = 0;
}

static void taskcluster_watch_next(bool may, bool more)
{
	struct taskcluster_look look;
	int ret;

	if (!may) {
		taskcluster_end();
		return;
	}
	taskcluster_look(&look);
	taskcluster_period = taskcluster_next_period(&look, more);
	ret = taskcluster_watch(taskcluster_period);
	if (ret && ret != taskcluster_error)
		pr_warn("no samples from %s: %d\n", taskcluster_config.pmu, ret);
	taskcluster_error = ret;
	taskcluster_be(ret ? "no samples" : taskcluster_period ? "sampling" : "armed");
	if (ret) {
		taskcluster_forget_found();
		taskcluster_period = 0;
	}
}

/* The time of the next round */
static unsigned int taskcluster_ms(void)
{
	if (!taskcluster_enabled)
		return TASKCLUSTER_REAP_MS;
	/* in a pause there is no hurry */
	taskcluster_parts = taskcluster_on_trial() ? TASKCLUSTER_PARTS :
			    clamp(taskcluster_pause, 1U, TASKCLUSTER_PARTS);
	return READ_ONCE(taskcluster_config.round_ms) * taskcluster_parts / TASKCLUSTER_PARTS;
}

/* Off, a round is for removed cgroups only. Who asks lets a round begin at once. */
static void taskcluster_round(struct work_struct *work)
{
	bool asked, may, more;

	mutex_lock(&taskcluster_mutex);
	asked = taskcluster_reap_askers();
	may = taskcluster_may_watch(asked);
	taskcluster_drain(taskcluster_note);
	more = taskcluster_update_groups(taskcluster_period, taskcluster_parts);
	taskcluster_place_all(may && taskcluster_meet_hinted());
	taskcluster_watch_next(may, more);
	if (asked)
		queue_delayed_work(system_unbound_wq, &taskcluster_work,
				   msecs_to_jiffies(taskcluster_ms()));
	mutex_unlock(&taskcluster_mutex);
}

/* Let the next round begin at once. Only for those who rule the machine: all are in it. */
static void taskcluster_restart(void)
{
	mod_delayed_work(system_unbound_wq, &taskcluster_work, 0);
}

static void taskcluster_stop(void)
{
	taskcluster_end();
	static_branch_disable(&taskcluster_placing);
	taskcluster_be("off");
}

/*
 * Without one that was set, those of the virtual PMU: lines from another chip's L2, and stores.
 * Each takes 120 cycles, and each of N CPUs has 1/N GHz.
 */
static int taskcluster_find_event(void)
{
	static const u64 event[] = { 0x12, 0x8 };
	unsigned int latency_ns = min(120 * num_present_cpus(), TASKCLUSTER_LATENCY_MOST);

	if (*taskcluster_config.pmu)
		return 0;
	return taskcluster_set_event("vpmu", event, ARRAY_SIZE(event),
				     READ_ONCE(taskcluster_config.period), latency_ns);
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
 * @event: attr.config of the events, see struct taskcluster_config
 * @nr: number of them, 1 or 2
 * @period: one sample in this many
 * @latency_ns: that an event takes, TASKCLUSTER_LATENCY_MOST at most
 *
 * Context: process, taskcluster_mutex held. Return: 0, or -ENODEV if there is no such PMU.
 */
int taskcluster_set_event(const char *pmu, const u64 *event, unsigned int nr, unsigned int period,
			  unsigned int latency_ns)
{
	int type = taskcluster_pmu_type(pmu);

	if (type < 0)
		return type;
	strscpy(taskcluster_config.pmu, pmu);
	taskcluster_config.type = type;
	memcpy(taskcluster_config.event, event, nr * sizeof(*event));
	taskcluster_config.nr_events = nr;
	WRITE_ONCE(taskcluster_config.period, period);
	taskcluster_config.latency_ns = latency_ns;
	taskcluster_unwatch();
	return 0;
}

/**
 * taskcluster_set_mode() - say what clusters of a cgroup are
 * @id: of the cgroup
 * @mode: what threads are compared; TASKCLUSTER_NONE: as the cgroup above says
 *
 * The first one lets rounds begin; they are no shorter for those who write all the time. Context:
 * process, takes taskcluster_mutex. Return: 0, or -ENOMEM; then nothing has changed.
 */
int taskcluster_set_mode(u64 id, enum taskcluster_mode mode)
{
	struct taskcluster_asker *asker, *new = NULL;
	int ret = 0;

	if (mode != TASKCLUSTER_NONE) {
		new = taskcluster_new_asker(id, mode);
		if (!new)
			return -ENOMEM;
	}
	mutex_lock(&taskcluster_mutex);
	asker = taskcluster_find_asker(id);
	if ((asker ? asker->mode : TASKCLUSTER_NONE) == mode)
		goto unlock;
	if (new)
		ret = taskcluster_add_asker(new);
	if (ret)
		goto unlock;
	new = NULL;
	if (asker)
		taskcluster_del_asker(asker);
	taskcluster_hints_changed();
	queue_delayed_work(system_unbound_wq, &taskcluster_work,
			   msecs_to_jiffies(READ_ONCE(taskcluster_config.round_ms) /
					    TASKCLUSTER_PARTS));
unlock:
	mutex_unlock(&taskcluster_mutex);
	kfree(new);
	return ret;
}
