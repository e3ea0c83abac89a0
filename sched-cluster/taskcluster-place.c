// SPDX-License-Identifier: GPL-2.0
/*
 * Places: each cluster has a chip, and each of its threads a home, a CPU of that chip.
 *
 *	worker	taskcluster_place() -> homes -> threads that run elsewhere are moved, by swaps
 *		with threads that want to go the other way, or have no home, where there are such
 *	wakeup	an idle CPU of the chip, or the one with the least to do
 *	load balancing leaves the thread on its chip
 *
 * A home is a wish. Affinity, cpusets, hotplug and other scheduling classes come first. So does
 * work: a chip with more runnable tasks than CPUs may be fuller than another one by
 * imbalance_pct, counted in tasks for each CPU, and beyond that the scheduler does as it always
 * does; load balancing once that has lasted for some milliseconds.
 *
 * A chip is named by one of its CPUs and found through sd_llc, under RCU. When that CPU goes
 * offline the home leads nowhere, until the next round.
 */
#include <linux/mmu_context.h>
#include <linux/slab.h>
#include <trace/events/taskcluster.h>
#include "../sched.h"
#include "taskcluster.h"

#define PLACE_MOVES	64U	/* in a round, at most */
#define ROOM_LOOKS	32U	/* tasks of a CPU that are asked to make room, at most */
#define MOVE_REST_SHIFT	6U	/* a thread that does not stay rests 2^6 rounds at most */

DEFINE_STATIC_KEY_FALSE(taskcluster_placing);

/* Chips */

/**
 * struct chip_load - how full a chip is
 * @running: runnable tasks
 * @cpus: CPUs
 */
struct chip_load {
	unsigned int running, cpus;
};

/* A number that CPUs of one chip have in common */
int taskcluster_chip_of(int cpu)
{
	return per_cpu(sd_llc_id, cpu);
}

/* The CPUs of a chip, or NULL if @cpu is offline or isolated. Under RCU. */
static const struct cpumask *chip_span(int cpu)
{
	struct sched_domain *sd = rcu_dereference(per_cpu(sd_llc, cpu));

	return sd ? sched_domain_span(sd) : NULL;
}

/*
 * Without the stop class: it moves tasks when load balancing asks it to, and is no load. Nor is a
 * worker that looks for a place or wakes somebody: it is about to sleep. Nor are tasks that sleep,
 * and stay queued until they have paid for what they ran too long.
 */
static unsigned int cpu_running(struct rq *rq)
{
	bool worker = rcu_access_pointer(rq->curr) == current && current->flags & PF_WQ_WORKER;
	int asleep = READ_ONCE(rq->cfs.h_nr_queued) - READ_ONCE(rq->cfs.h_nr_runnable);
	int nr = READ_ONCE(rq->nr_running) - asleep - sched_stop_runnable(rq) - worker;

	return max(nr, 0);
}

static bool cpu_is_free(int cpu)
{
	return available_idle_cpu(cpu) || !cpu_running(cpu_rq(cpu));
}

/* Siblings share what a core has: two tasks are slower on one core than on two. */
static bool core_is_free(int cpu)
{
	int sibling;

	for_each_cpu(sibling, topology_sibling_cpumask(cpu))
		if (!cpu_is_free(sibling))
			return false;
	return true;
}

/* Of the CPUs that @p may use: the others are no room for it. */
static struct chip_load chip_load_of(const struct task_struct *p, const struct cpumask *span)
{
	struct chip_load load = { };
	int cpu;

	for_each_cpu_and(cpu, span, p->cpus_ptr) {
		load.running += cpu_running(cpu_rq(cpu));
		load.cpus++;
	}
	return load;
}

/*
 * With one task more @there, and @here as it is, is @here fuller than the bound allows? Then the
 * task should be there. Not while there is a CPU for each task @here: no work is left undone.
 */
static bool chip_is_fuller(struct chip_load here, struct chip_load there)
{
	u64 percent = 100 + READ_ONCE(taskcluster_config.imbalance_pct);

	return here.running > here.cpus &&
	       here.running * 100ULL * there.cpus > (there.running + 1) * percent * here.cpus;
}

/*
 * Have tasks waited there for some milliseconds already, a quarter of a CPU in all? A worker, or
 * somebody who looks at the clock, is no reason to part threads that share: they come back late.
 * What real-time tasks run, others wait.
 */
static bool chip_is_short(const struct task_struct *p, const struct cpumask *span)
{
	unsigned long runnable = 0, most = SCHED_CAPACITY_SCALE / 4;
	struct rq *rq;
	int cpu;

	for_each_cpu_and(cpu, span, p->cpus_ptr) {
		rq = cpu_rq(cpu);
		runnable += READ_ONCE(rq->cfs.avg.runnable_avg) + READ_ONCE(rq->avg_rt.util_avg) +
			    READ_ONCE(rq->avg_dl.util_avg);
		most += SCHED_CAPACITY_SCALE;
	}
	return runnable > most;
}

/* The same without @p, if it runs or waits there */
static struct chip_load chip_load_without(const struct task_struct *p, const struct cpumask *span)
{
	struct chip_load load = chip_load_of(p, span);

	if (load.running && READ_ONCE(p->on_rq) && cpumask_test_cpu(task_cpu(p), span))
		load.running--;
	return load;
}

/* Is the chip @home, on which @p is not, full for one task more? Under RCU. */
static bool chip_is_full(const struct task_struct *p, int home, const struct cpumask *span)
{
	struct chip_load here = chip_load_of(p, span);
	const struct cpumask *other;
	int cpu;

	here.running++;
	for_each_online_cpu(cpu) {
		if (taskcluster_chip_of(cpu) != cpu || cpus_share_cache(cpu, home))
			continue;
		other = chip_span(cpu);
		if (other && chip_is_fuller(here, chip_load_without(p, other)))
			return true;
	}
	return false;
}

/**
 * struct chip_verdict - was a chip full in this tick?
 * @tick: when that was found out, jiffies
 * @chip: taskcluster_chip_of() it
 * @allowed: how many CPUs the task may use: others have other chips
 * @full: was it?
 */
struct chip_verdict {
	unsigned long tick;
	int chip, allowed;
	bool full;
};

static DEFINE_PER_CPU(struct chip_verdict, chip_verdicts) = { .chip = -1 };

/*
 * For a task that wakes up. To look at the other chips takes lines from them, which costs more than
 * the rest of a wakeup, so each CPU does so once a tick. Under RCU, interrupts are off.
 */
static bool chip_was_full(const struct task_struct *p, int home, const struct cpumask *span)
{
	struct chip_verdict *v = this_cpu_ptr(&chip_verdicts);
	unsigned long now = jiffies;

	if (v->tick != now || v->chip != taskcluster_chip_of(home) ||
	    v->allowed != p->nr_cpus_allowed) {
		v->full = chip_is_full(p, home, span);
		v->allowed = p->nr_cpus_allowed;
		v->chip = taskcluster_chip_of(home);
		v->tick = now;
	}
	return v->full;
}

/*
 * How much speaks against @cpu: least an idle one of an idle core, then any idle one. Where none is
 * idle a task stays where it was, for queues change all the time; unless it would wait for two more
 * there, for then another CPU is idle before it has run.
 */
static unsigned int cpu_pick_cost(int cpu, int prev)
{
	if (!cpu_is_free(cpu))
		return 2 + cpu_running(cpu_rq(cpu)) - (cpu == prev);
	return core_is_free(cpu) ? 0 : 1;
}

/* An idle CPU that @p may use, or else @prev or the one with the least to do, or -1 */
static int chip_pick(struct task_struct *p, const struct cpumask *span, int prev, bool *idle)
{
	unsigned int least = UINT_MAX, cost;
	int cpu, best = -1;

	if (!cpumask_test_cpu(prev, p->cpus_ptr))
		prev = -1;
	for_each_cpu_wrap(cpu, span, max(prev, 0)) {
		if (!cpumask_test_cpu(cpu, p->cpus_ptr))
			continue;
		cost = cpu_pick_cost(cpu, prev);
		if (cost < least) {
			least = cost;
			best = cpu;
		}
		if (!cost)
			break;
	}
	*idle = least <= 1;
	return best;
}

/*
 * A CPU of the chip @home for @p, or -1 and the reason. @is_full: is the chip full, if none of its
 * CPUs is idle? Under RCU.
 */
static int chip_select(struct task_struct *p, int home, int prev, enum taskcluster_stat *why,
		       bool (*is_full)(const struct task_struct *p, int home,
				       const struct cpumask *span))
{
	const struct cpumask *span = chip_span(home);
	bool idle;
	int cpu;

	*why = TASKCLUSTER_WOKEN_AWAY;
	if (!span)
		return -1;
	cpu = chip_pick(p, span, prev, &idle);
	if (cpu < 0)
		return -1;
	*why = TASKCLUSTER_WOKEN_FULL;
	if (!idle && is_full(p, home, span))
		return -1;
	*why = TASKCLUSTER_WOKEN;
	return cpu;
}

/* Hooks */

/**
 * __taskcluster_select_cpu() - choose a CPU of its chip for a task that wakes up
 * @p: the task, which has had a home
 * @prev_cpu: the CPU that it ran on
 *
 * Context: p->pi_lock held. Looks at each CPU of the chip; and at all CPUs once if none of the
 * chip is idle.
 *
 * Return: a CPU, or -1 if the scheduler should choose
 */
int __taskcluster_select_cpu(struct task_struct *p, int prev_cpu)
{
	int home = READ_ONCE(p->taskcluster_home) - 1, cpu;
	enum taskcluster_stat why;

	if (home < 0)
		return -1;
	rcu_read_lock();
	cpu = chip_select(p, home, prev_cpu, &why, chip_was_full);
	rcu_read_unlock();
	this_cpu_inc(taskcluster_stats[why]);
	return cpu;
}

/**
 * __taskcluster_keeps() - should load balancing leave a task on its chip?
 * @p: the task, which has had a home
 * @src_cpu: the CPU that it is queued on
 * @dst_cpu: the CPU that would take it
 *
 * Context: lock of @src_cpu's rq held. Looks at each CPU of both chips.
 *
 * Return: true if the task should stay
 */
bool __taskcluster_keeps(struct task_struct *p, int src_cpu, int dst_cpu)
{
	int home = READ_ONCE(p->taskcluster_home) - 1;
	const struct cpumask *here, *there;
	bool keeps = false;

	if (home < 0 || !cpus_share_cache(src_cpu, home) || cpus_share_cache(src_cpu, dst_cpu))
		return false;
	rcu_read_lock();
	here = chip_span(src_cpu);
	there = chip_span(dst_cpu);
	if (here && there)
		keeps = cpumask_intersects(here, p->cpus_ptr) &&
			!(chip_is_fuller(chip_load_of(p, here), chip_load_of(p, there)) &&
			  chip_is_short(p, here));
	rcu_read_unlock();
	this_cpu_inc(taskcluster_stats[keeps ? TASKCLUSTER_KEPT : TASKCLUSTER_RELEASED]);
	return keeps;
}

/* Homes */

/**
 * struct places - what a placement needs
 * @chips: chips of the model
 * @cpu: a CPU of each chip
 * @chip: number of the chip with this taskcluster_chip_of(), or -1
 * @tasks: all threads
 * @members: the same for the model
 * @parts: room for the model
 * @nr_chips: number of chips
 * @nr: number of threads
 */
struct places {
	struct taskcluster_chip *chips;
	int *cpu;
	s32 *chip;
	struct taskcluster_task **tasks;
	struct taskcluster_member *members;
	struct taskcluster_part *parts;
	u32 nr_chips, nr;
};

static struct places places;
static u64 places_seen;	/* what the chips were like at the last placement */

static void places_free(void)
{
	kvfree(places.parts);
	kvfree(places.members);
	kvfree(places.tasks);
	kvfree(places.chip);
	kvfree(places.cpu);
	kvfree(places.chips);
	memset(&places, 0, sizeof(places));
}

static bool places_alloc(u32 nr)
{
	places.chips = kvcalloc(nr_cpu_ids, sizeof(*places.chips), GFP_KERNEL);
	places.cpu = kvcalloc(nr_cpu_ids, sizeof(*places.cpu), GFP_KERNEL);
	places.chip = kvcalloc(nr_cpu_ids, sizeof(*places.chip), GFP_KERNEL);
	places.tasks = kvcalloc(nr, sizeof(*places.tasks), GFP_KERNEL);
	places.members = kvcalloc(nr, sizeof(*places.members), GFP_KERNEL);
	places.parts = kvcalloc(nr, sizeof(*places.parts), GFP_KERNEL);
	return places.chips && places.cpu && places.chip && places.tasks && places.members &&
	       places.parts;
}

/* Chips of CPUs that are online and not isolated. Returns what changes when they do. */
static u64 places_find_chips(void)
{
	u64 seen = 1;
	int cpu, id;

	memset(places.chip, 0xff, nr_cpu_ids * sizeof(*places.chip));
	rcu_read_lock();
	for_each_online_cpu(cpu) {
		if (!chip_span(cpu))
			continue;
		id = taskcluster_chip_of(cpu);
		if (places.chip[id] < 0) {
			places.chip[id] = places.nr_chips;
			places.cpu[places.nr_chips++] = cpu;
		}
		places.chips[places.chip[id]].capacity += arch_scale_cpu_capacity(cpu);
		seen = seen * 31 + id * nr_cpu_ids + cpu;
	}
	rcu_read_unlock();
	return seen;
}

static s32 places_chip(int cpu)
{
	return places.chip[taskcluster_chip_of(cpu)];
}

/* A group that a program has named is believed. What was found and did not help is not. */
static u32 task_cluster(const struct taskcluster_task *t)
{
	return READ_ONCE(t->task->taskcluster_hint) ?: (t->group->rest ? 0 : t->model.name);
}

/* Steps of an eighth, so that a thread weighs the same in each round. */
static u32 task_load(const struct task_struct *p)
{
	return clamp(round_up(READ_ONCE(p->se.avg.util_avg), 128), 128UL, 1024UL);
}

static void places_add_group(struct taskcluster_group *g)
{
	struct taskcluster_task *t;
	struct taskcluster_member *m;

	g->housed = false;
	list_for_each_entry(t, &g->threads, node) {
		g->housed |= t->home >= 0 && !READ_ONCE(t->task->taskcluster_hint);
		m = &places.members[places.nr];
		m->id = places.nr;
		m->cluster = task_cluster(t);
		m->load = task_load(t->task);
		m->chip = places_chip(t->home >= 0 ? t->home : task_cpu(t->task));
		places.tasks[places.nr++] = t;
	}
}

static void task_set_home(struct taskcluster_task *t, int home)
{
	if (t->home != home) {
		trace_taskcluster_home(t->group->asker->id, t->pid, taskcluster_name_of(t),
				       t->home, home);
		t->moves = 0;
		t->next_move = 0;
	}
	t->home = home;
	WRITE_ONCE(t->task->taskcluster_home, home + 1);
}

/**
 * taskcluster_leave_home() - let the scheduler choose again
 * @t: a thread
 *
 * Context: taskcluster_mutex held.
 */
void taskcluster_leave_home(struct taskcluster_task *t)
{
	task_set_home(t, -1);
}

/**
 * taskcluster_undo() - leave the homes of clusters that were found, and forget the clusters
 * @g: a group
 *
 * Context: taskcluster_mutex held.
 */
void taskcluster_undo(struct taskcluster_group *g)
{
	struct taskcluster_task *t;

	list_for_each_entry(t, &g->threads, node) {
		if (READ_ONCE(t->task->taskcluster_hint))
			continue;
		taskcluster_leave_home(t);
		t->model.name = 0;
	}
}

static bool task_may_use(struct task_struct *p, int cpu)
{
	const struct cpumask *span;
	bool may;

	rcu_read_lock();
	span = chip_span(cpu);
	may = span && cpumask_intersects(span, p->cpus_ptr);
	rcu_read_unlock();
	return may;
}

/* May @p run on another chip than that of @cpu? Else a home there does not hold it. */
static bool task_may_leave(struct task_struct *p, int cpu)
{
	const struct cpumask *span;
	bool may;

	rcu_read_lock();
	span = chip_span(cpu);
	may = span && !cpumask_subset(p->cpus_ptr, span);
	rcu_read_unlock();
	return may;
}

/*
 * Give @t the home that the model has found. A group whose threads must move is on trial. So is one
 * that had no home, though all are where they shall be: they are held there from now on, and may
 * share with somebody who is elsewhere. Who joins others at home and need not move is no reason.
 */
static void task_settle(struct taskcluster_task *t, s32 chip)
{
	struct taskcluster_group *g = t->group;
	int was = t->home >= 0 ? t->home : task_cpu(t->task);

	if (chip < 0) {
		taskcluster_leave_home(t);
		t->wanted = -1;
		return;
	}
	if (!task_may_use(t->task, places.cpu[chip])) {
		taskcluster_leave_home(t);
		g->asker->pinned += t->wanted < 0;
		t->wanted = places.cpu[chip];
		return;
	}
	t->wanted = -1;
	if ((places_chip(was) != chip || (!g->housed && task_may_leave(t->task, was))) &&
	    g->found && !READ_ONCE(t->task->taskcluster_hint)) {
		g->before = g->now;
		g->trial = true;
		g->tries = 0;
	}
	task_set_home(t, places.cpu[chip]);
}

static void places_settle(void)
{
	const struct taskcluster_member *m;

	taskcluster_place(places.chips, places.nr_chips, places.members, places.nr,
			  taskcluster_config.imbalance_pct, places.parts);
	for (m = places.members; m < places.members + places.nr; m++)
		task_settle(places.tasks[m->id], m->chip);
}

/* Moves */

/* Does a thread wait for a CPU, or use one, on a chip that is not its home? */
bool taskcluster_is_astray(const struct taskcluster_task *t)
{
	const struct task_struct *p = t->task;

	return t->home >= 0 && READ_ONCE(p->on_rq) && p->sched_class == &fair_sched_class &&
	       !cpus_share_cache(task_cpu(p), t->home);
}

static void asker_moved(struct taskcluster_asker *asker, pid_t pid, int from, int to)
{
	asker->moves++;
	trace_taskcluster_move(asker->id, pid, from, to);
}

/* Load balancing has its reasons to take a thread away. So each time it is left there longer. */
static void task_moved(struct taskcluster_task *t, int from, int to)
{
	u64 ms = READ_ONCE(taskcluster_config.round_ms);

	t->moves++;
	t->next_move = ktime_add_ms(ktime_get(), ms << min(t->moves, MOVE_REST_SHIFT));
	asker_moved(t->group->asker, t->pid, from, to);
}

/*
 * Let @a change places with @b, which is on its home. @b is at home then, or if @any may also be
 * somewhere else where it does not belong, and has not had its turn.
 */
static bool task_swap(struct taskcluster_task *a, struct taskcluster_task *b, bool any)
{
	int cpu_a = task_cpu(a->task), cpu_b = task_cpu(b->task);
	bool both = cpus_share_cache(cpu_a, b->home);

	if (!cpus_share_cache(cpu_b, a->home) || (!both && !any))
		return false;
	if (migrate_swap(a->task, b->task, cpu_b, cpu_a))
		return false;
	task_moved(a, cpu_a, cpu_b);
	if (both)
		task_moved(b, cpu_b, cpu_a);
	else
		asker_moved(b->group->asker, b->pid, cpu_b, cpu_a);
	return true;
}

/* Let @t[0] change places with one of the threads behind it that are not at home, either. */
static bool task_swap_one(struct taskcluster_task **t, u32 nr, bool any)
{
	u32 k;

	for (k = 1; k < nr; k++)
		if (taskcluster_is_astray(t[0]) && taskcluster_is_astray(t[k]) &&
		    task_swap(t[0], t[k], any))
			return true;
	return false;
}

/* May @p, which is on the home of @t, go to @cpu instead? Its cgroup must be that of @t. */
static bool task_makes_room(struct task_struct *p, const struct taskcluster_task *t, int cpu)
{
	return p->mm && !(p->flags & (PF_EXITING | PF_KTHREAD)) && !p->se.sched_delayed &&
	       !READ_ONCE(p->taskcluster_home) && cpumask_test_cpu(cpu, p->cpus_ptr) &&
	       taskcluster_asker_of(p) == t->group->asker;
}

/* A task on @cpu that makes room for @t and may go to @to, with a reference, or NULL */
static struct task_struct *cpu_find_room(int cpu, const struct taskcluster_task *t, int to)
{
	struct task_struct *p, *found = NULL;
	struct rq *rq = cpu_rq(cpu);
	unsigned int left = ROOM_LOOKS;
	struct rq_flags rf;

	rq_lock_irqsave(rq, &rf);
	list_for_each_entry(p, &rq->cfs_tasks, se.group_node) {
		if (!left--)
			break;
		if (task_makes_room(p, t, to)) {
			found = get_task_struct(p);
			break;
		}
	}
	rq_unlock_irqrestore(rq, &rf);
	return found;
}

/* A task without a home that is on the home of @t, or NULL; its CPU in @cpu */
static struct task_struct *task_find_room(const struct taskcluster_task *t, int from, int *cpu)
{
	struct task_struct *found = NULL;
	const struct cpumask *span;

	rcu_read_lock();
	span = chip_span(t->home);
	if (span)
		for_each_cpu_and(*cpu, span, t->task->cpus_ptr) {
			found = cpu_find_room(*cpu, t, from);
			if (found)
				break;
		}
	rcu_read_unlock();
	return found;
}

/* Let @t change places with a task that has no home. */
static bool task_take_place(struct taskcluster_task *t, int from)
{
	struct task_struct *p;
	bool moved;
	int cpu;

	p = task_find_room(t, from, &cpu);
	if (!p)
		return false;
	moved = !migrate_swap(t->task, p, cpu, from);
	if (moved) {
		task_moved(t, from, cpu);
		asker_moved(t->group->asker, p->pid, cpu, from);
	}
	put_task_struct(p);
	return moved;
}

/* To an idle CPU, or to one that another task leaves, or to the one with the least to do */
static void task_move(struct taskcluster_task *t)
{
	int from = task_cpu(t->task), cpu;
	enum taskcluster_stat why;

	rcu_read_lock();
	cpu = chip_select(t->task, t->home, from, &why, chip_is_full);
	rcu_read_unlock();
	if ((cpu < 0 || !cpu_is_free(cpu)) && task_take_place(t, from))
		return;
	if (cpu >= 0 && !migrate_task_to(t->task, cpu))
		task_moved(t, from, cpu);
}

/*
 * Swap those that want to go where the other one is. On more than two chips they may want to go
 * round in a circle; then each swap brings one home. Move the others alone.
 */
static void places_move(void)
{
	struct taskcluster_task **t = places.tasks;
	ktime_t now = ktime_get();
	u32 i, nr = 0;

	for (i = 0; i < places.nr && nr < PLACE_MOVES; i++)
		if (taskcluster_is_astray(t[i]) && t[i]->next_move <= now) {
			swap(t[nr], t[i]);
			nr++;
		}
	for (i = 0; i < nr; i++)
		if (!task_swap_one(t + i, nr - i, false) &&
		    !task_swap_one(t + i, nr - i, true) && taskcluster_is_astray(t[i]))
			task_move(t[i]);
}

/* The number of chips, of CPUs that are online and not isolated. */
unsigned int taskcluster_nr_chips(void)
{
	unsigned int nr = 0;
	int cpu;

	rcu_read_lock();
	for_each_online_cpu(cpu)
		nr += taskcluster_chip_of(cpu) == cpu && chip_span(cpu);
	rcu_read_unlock();
	return nr;
}

static bool places_anew;

static void places_ask_group(struct taskcluster_group *g)
{
	const struct taskcluster_task *t;

	places_anew |= g->found;
	/* what was found is found again, but nobody names a group twice because it was pinned */
	list_for_each_entry(t, &g->threads, node)
		places_anew |= t->wanted >= 0 && READ_ONCE(t->task->taskcluster_hint) &&
			       task_may_use(t->task, t->wanted);
}

static void places_end_group(struct taskcluster_group *g)
{
	g->found = false;
}

/**
 * taskcluster_place_all() - find homes for all threads, and move them there
 * @named: programs have named groups
 *
 * Homes change only when they have, when clusters were looked for, or when the chips have changed;
 * and when a thread of a named group was pinned elsewhere, and is not any more. Context: process,
 * taskcluster_mutex held.
 */
void taskcluster_place_all(bool named)
{
	u64 seen;

	lockdep_assert_held(&taskcluster_mutex);
	if (!taskcluster_nr_tasks())
		return;
	if (!places_alloc(taskcluster_nr_tasks())) {
		this_cpu_inc(taskcluster_stats[TASKCLUSTER_NOMEM]);
		places_free();
		/* what was found is tried again, and so is what was named */
		if (named)
			taskcluster_hints_changed();
		return;
	}
	seen = places_find_chips();
	places_anew = named || seen != places_seen;
	taskcluster_visit_groups(places_ask_group);
	taskcluster_visit_groups(places_add_group);
	if (places_anew && places.nr_chips)
		places_settle();
	places_seen = seen;
	places_move();
	taskcluster_visit_groups(places_end_group);
	places_free();
}
