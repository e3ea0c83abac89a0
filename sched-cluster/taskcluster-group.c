// SPDX-License-Identifier: GPL-2.0
/*
 * Who is watched: cgroups that ask for it, the groups of their threads, and what was seen of
 * each thread.
 *
 * A mode that is written to a cgroup's cpu.cluster holds for the cgroups below, too, except those
 * that have a mode themselves. A thread is known from its first sample on. It is forgotten in the
 * first round after it has ended, or has left the cgroup.
 *
 * A round of a group ends when there are enough samples. Then clusters are looked for, and the
 * filter begins anew.
 */
#include <linux/hashtable.h>
#include <linux/memcontrol.h>
#include <linux/pid.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/swap.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <trace/events/taskcluster.h>
#include "taskcluster.h"

/* A shMap of 20 lines then has 5 samples of each: few are taken for chance. */
#define GROUP_SAMPLES	100U	/* for each thread that takes lines, to end a round */
#define GROUP_LOOKS	2U	/* the first one may have seen a part of the threads */
#define GROUP_TICKS	64U	/* looks after which too few samples are dropped */
#define GROUP_REST	4U	/* rounds after the first trial in vain; then twice as many */
#define GROUP_REST_SHIFT	6U
#define GROUP_TRIES	3U	/* more rounds of a trial that says nothing */
#define GROUP_EXPECTED	128U	/* samples as before: a trial that would have fewer says nothing */

static DEFINE_XARRAY(taskcluster_askers);	/* by id of the cgroup */
static LIST_HEAD(taskcluster_asker_list);	/* the same, to go over */
static DEFINE_HASHTABLE(taskcluster_tasks, 10);
static unsigned int taskcluster_known;
static u32 taskcluster_last_name;

/* The number of threads that are known. */
unsigned int taskcluster_nr_tasks(void)
{
	return taskcluster_known;
}

/* A name that no cluster has. Under taskcluster_mutex. */
u32 taskcluster_new_name(void)
{
	lockdep_assert_held(&taskcluster_mutex);
	taskcluster_last_name = max(taskcluster_last_name + 1, 1U);
	return taskcluster_last_name;
}

/* The name of the group that a program has put it in, or of its cluster; 0: it is in none */
u32 taskcluster_name_of(const struct taskcluster_task *t)
{
	return READ_ONCE(t->task->taskcluster_hint) ?: t->model.name;
}

/* Tasks */

static void task_forget(struct taskcluster_task *t)
{
	taskcluster_leave_home(t);
	hash_del(&t->hash);
	list_del(&t->node);
	t->group->nr--;
	t->group->asker->nr--;
	taskcluster_known--;
	put_task_struct(t->task);
	kfree(t);
}

static void group_free(struct taskcluster_group *g)
{
	struct taskcluster_task *t, *next;

	list_for_each_entry_safe(t, next, &g->threads, node)
		task_forget(t);
	list_del(&g->node);
	kfree(g->last);
	kfree(g);
}

/* The cgroup that asks for @task: the nearest one above it with a mode. Under taskcluster_mutex. */
struct taskcluster_asker *taskcluster_asker_of(struct task_struct *task)
{
	struct taskcluster_asker *asker = NULL;
	struct cgroup *cgrp;

	/* cgroups of another hierarchy have the same ids */
	if (!cgroup_subsys_on_dfl(cpu_cgrp_subsys))
		return NULL;
	rcu_read_lock();
	for (cgrp = task_css(task, cpu_cgrp_id)->cgroup; cgrp && !asker; cgrp = cgroup_parent(cgrp))
		asker = xa_load(&taskcluster_askers, cgroup_id(cgrp));
	rcu_read_unlock();
	return asker;
}

/* Memory */

static struct mem_cgroup *room_memcg;	/* a cgroup that room is made in, with a reference */
static const struct mem_cgroup *room_last;	/* the last one; it may have gone */

/* The cgroup above @memcg, or itself, whose limit leaves no room; if it is none any more, @memcg */
static struct mem_cgroup *room_full(struct mem_cgroup *memcg)
{
	struct mem_cgroup *m, *full = memcg;

	for (m = memcg; m && !mem_cgroup_is_root(m); m = parent_mem_cgroup(m))
		if (page_counter_read(&m->memory) + SWAP_CLUSTER_MAX > READ_ONCE(m->memory.max))
			full = m;
	return full;
}

static void room_make(struct work_struct *work)
{
	try_to_free_mem_cgroup_pages(room_memcg, SWAP_CLUSTER_MAX, GFP_KERNEL,
				     MEMCG_RECLAIM_MAY_SWAP, NULL);
	mem_cgroup_put(room_memcg);
	/* pairs with room_ask(), which then sets another one */
	smp_store_release(&room_memcg, NULL);
}

static DECLARE_WORK(room_work, room_make);

/*
 * A cgroup that is full, as most are of page cache, has room for its threads after some reclaim.
 * That takes long where a cgroup is made so, and all would wait for taskcluster_mutex. One that was
 * helped lets others go first.
 */
static void room_ask(struct mem_cgroup *memcg)
{
	/* pairs with room_make() */
	if (!memcg || mem_cgroup_is_root(memcg) || smp_load_acquire(&room_memcg))
		return;
	memcg = room_full(memcg);
	if (memcg == room_last) {
		room_last = NULL;
		return;
	}
	room_last = memcg;
	css_get(&memcg->css);
	room_memcg = memcg;
	queue_work(system_unbound_wq, &room_work);
}

/* What is beyond memory.high, tasks reclaim on their way to user mode. A worker has none. */
static void room_leave_excess(struct mem_cgroup *memcg)
{
	if (!memcg || !current->memcg_nr_pages_over_high)
		return;
	current->memcg_nr_pages_over_high = 0;
	schedule_work(&memcg->high_work);
}

/*
 * What is known of a thread is charged to the cgroup that its memory is charged to, in the worker,
 * without reclaim. NULL also if the thread ends.
 */
static void *task_alloc(struct task_struct *task, size_t bytes)
{
	struct mm_struct *mm = get_task_mm(task);
	struct mem_cgroup *memcg, *old;
	void *p;

	if (!mm)
		return NULL;
	memcg = get_mem_cgroup_from_mm(mm);
	mmput_async(mm);
	old = set_active_memcg(memcg);
	p = kzalloc(bytes, GFP_NOWAIT | __GFP_ACCOUNT | __GFP_NOWARN);
	set_active_memcg(old);
	room_leave_excess(memcg);
	if (!p) {
		room_ask(memcg);
		this_cpu_inc(taskcluster_stats[TASKCLUSTER_NOMEM]);
	}
	mem_cgroup_put(memcg);
	return p;
}

static struct taskcluster_group *group_add(struct taskcluster_asker *asker, pid_t tgid,
					   struct task_struct *task)
{
	struct taskcluster_group *g = task_alloc(task, sizeof(*g));

	if (!g)
		return NULL;
	g->asker = asker;
	g->tgid = tgid;
	INIT_LIST_HEAD(&g->threads);
	list_add_tail(&g->node, &asker->groups);
	return g;
}

static struct taskcluster_group *group_of(struct taskcluster_asker *asker,
					  struct task_struct *task)
{
	struct taskcluster_group *g;
	pid_t tgid;

	tgid = asker->mode == TASKCLUSTER_PROCESS ? task->tgid : 0;
	list_for_each_entry(g, &asker->groups, node)
		if (g->tgid == tgid)
			return g;
	return group_add(asker, tgid, task);
}

static u64 task_ran_ns(const struct task_struct *task)
{
	return READ_ONCE(task->se.sum_exec_runtime);
}

/* No cgroup gets more threads than there is room left. So none can use up all. */
static bool asker_has_room(const struct taskcluster_asker *asker)
{
	if (asker->nr < TASKCLUSTER_MOST - taskcluster_known)
		return true;
	this_cpu_inc(taskcluster_stats[TASKCLUSTER_CROWDED]);
	return false;
}

/* @ran_ns: CPU time from which on it counts */
static struct taskcluster_task *task_add(struct task_struct *task, u64 ran_ns)
{
	struct taskcluster_asker *asker = taskcluster_asker_of(task);
	struct taskcluster_group *g;
	struct taskcluster_task *t;

	if (!asker || !asker_has_room(asker))
		return NULL;
	g = group_of(asker, task);
	t = g ? task_alloc(task, sizeof(*t)) : NULL;
	if (!t)
		return NULL;
	t->group = g;
	t->task = get_task_struct(task);
	t->pid = task->pid;
	t->exec_id = READ_ONCE(task->self_exec_id);
	t->ran_ns = ran_ns;
	t->home = -1;
	t->wanted = -1;
	hash_add(taskcluster_tasks, &t->hash, t->pid);
	list_add_tail(&t->node, &g->threads);
	g->nr++;
	asker->nr++;
	taskcluster_known++;
	return t;
}

static struct taskcluster_task *task_find(pid_t pid, u64 start)
{
	struct taskcluster_task *t;

	hash_for_each_possible(taskcluster_tasks, t, hash, pid)
		if (t->pid == pid && t->task->start_time == start)
			return t;
	return NULL;
}

/* Has @task been met? Under taskcluster_mutex. */
bool taskcluster_is_known(const struct task_struct *task)
{
	return task_find(task->pid, task->start_time);
}

/* Get to know a task that is not known. Under taskcluster_mutex. Return whether it is, now. */
bool taskcluster_meet(struct task_struct *task)
{
	return task_add(task, task_ran_ns(task));
}

/* The thread that a sample is of. It may have ended, and its pid may be another one's by now. */
static struct taskcluster_task *task_meet(const struct taskcluster_sample *s)
{
	struct taskcluster_task *t = NULL;
	struct task_struct *task;

	rcu_read_lock();
	task = find_task_by_pid_ns(s->pid, &init_pid_ns);
	if (task && task->start_time == s->start)
		get_task_struct(task);
	else
		task = NULL;
	rcu_read_unlock();
	if (!task)
		return NULL;
	t = task_add(task, s->ran_ns);
	put_task_struct(task);
	return t;
}

/*
 * Processes are looked at alone. If they share with each other nothing is found, and the user is to
 * know why: physical lines tell, where the PMU or the page table does.
 */
static void group_note_others(struct taskcluster_group *g, u64 phys)
{
	if (g->tgid && phys)
		g->asker->across += taskcluster_is_others(&g->asker->taken, phys / L1_CACHE_BYTES,
							  g->tgid);
}

/**
 * taskcluster_note() - count a sample
 * @s: the sample
 *
 * A sample of a thread of no cgroup that asks is dropped, and so is one of another program than
 * the thread was met in. Context: process, taskcluster_mutex held.
 */
void taskcluster_note(const struct taskcluster_sample *s)
{
	struct taskcluster_task *t = task_find(s->pid, s->start) ?: task_meet(s);
	struct taskcluster_access access = {
		.addr = s->addr, .code = s->code, .by = s->pid, .locked = s->locked,
		.word = s->addr % L1_CACHE_BYTES / (L1_CACHE_BYTES / TASKCLUSTER_WORDS),
	};
	struct taskcluster_group *g;
	u64 addr;

	if (!t || t->exec_id != s->exec_id)
		return;
	g = t->group;
	t->samples++;
	t->events += s->period;
	if (t->home >= 0 && !cpus_share_cache(s->cpu, t->home))
		t->astray += s->period;
	g->samples++;
	group_note_others(g, s->phys);
	addr = g->tgid ? s->addr : s->phys;
	access.line = addr / L1_CACHE_BYTES;
	if (!addr || !taskcluster_shmap_note(&g->filter, &t->model, &access))
		g->asker->missed++;
}

/* Groups, each round */

static void group_begin(struct taskcluster_group *g)
{
	struct taskcluster_task *t;

	taskcluster_filter_reset(&g->filter);
	list_for_each_entry(t, &g->threads, node)
		taskcluster_shmap_reset(&t->model);
	g->samples = 0;
	g->events = 0;
	g->astray = 0;
	g->ran_ns = 0;
	g->ticks = 0;
}

/* Does the thread execute another program than when it was met? */
bool taskcluster_has_executed(const struct taskcluster_task *t)
{
	return t->task->pid != t->pid || READ_ONCE(t->task->self_exec_id) != t->exec_id;
}

static bool task_has_left(const struct taskcluster_task *t)
{
	return READ_ONCE(t->task->flags) & PF_EXITING || taskcluster_has_executed(t) ||
	       taskcluster_asker_of(t->task) != t->group->asker ||
	       (t->group->tgid && t->task->tgid != t->group->tgid);
}

/* Threads that are still there have run. Those that ended before their sample came are gone. */
static void group_update_tasks(struct taskcluster_group *g)
{
	struct taskcluster_task *t, *next;
	u64 ran_ns;

	list_for_each_entry_safe(t, next, &g->threads, node) {
		if (task_has_left(t)) {
			/* who was named is met again where it is now */
			if (READ_ONCE(t->task->taskcluster_hint) &&
			    !(READ_ONCE(t->task->flags) & PF_EXITING))
				taskcluster_hints_changed();
			task_forget(t);
			continue;
		}
		if (READ_ONCE(t->task->taskcluster_hint))
			t->model.name = 0;
		ran_ns = task_ran_ns(t->task);
		g->ran_ns += ran_ns - t->ran_ns;
		t->ran_ns = ran_ns;
		g->events += t->events;
		g->astray += t->astray;
		t->events = 0;
		t->astray = 0;
		t->seen = t->samples;
		t->samples = 0;
	}
}

/* Threads of the process of @task that run, or want to */
static u32 process_running(struct task_struct *task)
{
	struct task_struct *t;
	u32 nr = 0;

	rcu_read_lock();
	for_each_thread(task, t)
		nr += READ_ONCE(t->on_rq) != 0;
	rcu_read_unlock();
	return nr;
}

/*
 * How many threads could share with @nr of the group, which are in no group that was named? Those
 * of which nothing was seen count, too, unless they sleep: a server has threads that do nothing.
 */
static u32 group_total(const struct taskcluster_group *g, u32 nr)
{
	const struct taskcluster_task *t = list_first_entry(&g->threads, typeof(*t), node);
	u32 all = g->tgid ? max(g->nr, process_running(t->task)) : g->nr;

	return all - (g->nr - nr);
}

/* A process with one thread has nobody to share with. Of a cgroup others may come. */
static bool group_is_alone(const struct taskcluster_group *g)
{
	const struct taskcluster_task *t = list_first_entry(&g->threads, typeof(*t), node);

	if (g->tgid)
		return get_nr_threads(t->task) < 2;
	return g->nr < 2 && g->ticks >= GROUP_LOOKS;
}

/* Names of clusters with one thread are of no use. Returns the number of threads in others. */
static u32 names_drop_single(struct taskcluster_thread **t, u32 nr)
{
	u32 i, k, same, clustered = 0;

	for (i = 0; i < nr; i++) {
		for (k = 0, same = 0; k < nr && same < 2; k++)
			same += t[k]->name == t[i]->name;
		if (same < 2)
			t[i]->name = 0;
		clustered += t[i]->name > 0;
	}
	return clustered;
}

/* A copy for the user: once threads are on one chip, they take no lines that could be shown. */
static void group_keep(struct taskcluster_group *g)
{
	struct taskcluster_task *t = list_first_entry(&g->threads, typeof(*t), node);

	if (!g->last)
		g->last = task_alloc(t->task, sizeof(*g->last));
	if (!g->last)
		return;
	*g->last = g->filter;
	list_for_each_entry(t, &g->threads, node)
		t->last = t->model.map;
}

/* What finding clusters needs */
struct tables {
	struct taskcluster_thread **t;
	struct taskcluster_node *nodes;
	struct taskcluster_link *links;
	u64 *ties;
	u32 *names;
};

/*
 * Where nothing is found, there may be too many lines to be watched alone. Return whether they are
 * in other blocks from now on.
 */
static bool group_find(struct taskcluster_group *g, const struct tables *tables)
{
	struct taskcluster_thread **t = tables->t;
	struct taskcluster_task *task;
	u32 nr = 0, clusters, clustered;

	list_for_each_entry(task, &g->threads, node)
		if (!READ_ONCE(task->task->taskcluster_hint))
			t[nr++] = &task->model;
	group_keep(g);
	clusters = taskcluster_find(t, nr, group_total(g, nr), TASKCLUSTER_THRESHOLD,
				    tables->nodes, tables->ties);
	taskcluster_last_name = taskcluster_name(t, nr, clusters, taskcluster_last_name,
						 tables->links, tables->names);
	clustered = names_drop_single(t, nr);
	g->asker->rounds++;
	g->found = true;
	trace_taskcluster_round(g->asker->id, g->tgid, nr, clustered, g->samples, g->now);
	/* pages that follow each other need not do so in memory */
	return !clustered && taskcluster_filter_fit(&g->filter, g->tgid ? TASKCLUSTER_SHIFT_MOST :
								TASKCLUSTER_SHIFT_PAGE);
}

static bool group_cluster(struct taskcluster_group *g)
{
	u32 most = taskcluster_most_nodes(g->nr);
	struct tables tables = {
		.t = kvcalloc(g->nr, sizeof(*tables.t), GFP_KERNEL),
		.nodes = kvcalloc(most, sizeof(*tables.nodes), GFP_KERNEL),
		.links = kvcalloc(g->nr, sizeof(*tables.links), GFP_KERNEL),
		.ties = kvcalloc(most * most, sizeof(*tables.ties), GFP_KERNEL),
		.names = kvcalloc(most, sizeof(*tables.names), GFP_KERNEL),
	};
	bool again = false;

	if (tables.t && tables.nodes && tables.links && tables.ties && tables.names)
		again = group_find(g, &tables);
	else
		this_cpu_inc(taskcluster_stats[TASKCLUSTER_NOMEM]);
	kvfree(tables.names);
	kvfree(tables.ties);
	kvfree(tables.links);
	kvfree(tables.nodes);
	kvfree(tables.t);
	return again;
}

/* Is a thread of @g away from home, or was one when many of the samples were taken? */
static bool group_is_astray(const struct taskcluster_group *g)
{
	const struct taskcluster_task *t;

	if (g->astray > g->events / 8)
		return true;
	list_for_each_entry(t, &g->threads, node)
		if (taskcluster_is_astray(t))
			return true;
	return false;
}

/* Threads that sleep take no lines, wherever they are. */
static bool group_has_run(const struct taskcluster_group *g, unsigned int period)
{
	u64 ms = div_u64(g->ran_ns, NSEC_PER_MSEC);

	return min(g->before, U32_MAX) * min(ms, U32_MAX) >=
	       (u64)GROUP_EXPECTED * period * MSEC_PER_SEC;
}

/*
 * Was it of use to place the threads? An eighth less is the least that counts. A trial that says
 * nothing, or in which their chip was full for a moment, goes on.
 */
static void group_judge(struct taskcluster_group *g, unsigned int period)
{
	bool helps = g->now <= g->before - g->before / 8;

	if (!group_has_run(g, period) ||
	    (!helps && g->tries < GROUP_TRIES && group_is_astray(g))) {
		g->tries++;
		return;
	}
	trace_taskcluster_judge(g->asker->id, g->tgid, g->before, g->now, !helps);
	g->trial = false;
	if (helps) {
		g->failures = 0;
		return;
	}
	taskcluster_undo(g);
	g->asker->undone++;
	g->rest = TASKCLUSTER_PARTS * GROUP_REST << min(g->failures++, GROUP_REST_SHIFT);
}

/* Silent threads need no samples. */
static bool group_is_ready(const struct taskcluster_group *g)
{
	const struct taskcluster_task *t;
	u64 nr = 0;

	list_for_each_entry(t, &g->threads, node)
		nr += t->model.noted >= TASKCLUSTER_NOISE;
	return nr && g->samples >= nr * GROUP_SAMPLES;
}

/* In a second of CPU time. A PMU that lies may count anything, and no product may overflow. */
static u64 group_rate(const struct taskcluster_group *g)
{
	return div64_u64(min(g->events, U64_MAX / NSEC_PER_SEC) * NSEC_PER_SEC, g->ran_ns);
}

/* A look at @g, which was sampled. Return whether it needs more samples. */
static bool group_sampled(struct taskcluster_group *g, unsigned int period)
{
	bool tried = g->trial, again = false;

	g->ticks++;
	if (g->ticks >= GROUP_TICKS && !g->ran_ns)
		g->trial = false;
	if (!g->ran_ns || list_empty(&g->threads))
		return false;
	g->now = group_rate(g);
	if (tried)
		group_judge(g, period);
	tried &= !g->trial;
	if (!g->rest && g->ticks >= GROUP_LOOKS && group_is_ready(g))
		again = group_cluster(g);
	/* a trial's samples are of a time that is over */
	else if (!tried && !g->rest && g->ticks < GROUP_TICKS && !group_is_alone(g))
		return true;
	group_begin(g);
	return again;
}

static bool group_update(struct taskcluster_group *g, unsigned int period, unsigned int parts)
{
	group_update_tasks(g);
	g->rest -= min(g->rest, parts);
	if (period)
		return group_sampled(g, period);
	group_begin(g);
	return false;
}

/**
 * taskcluster_update_groups() - end the round of all groups
 * @period: with which it was sampled, or 0 if it was not
 * @parts: of round_ms that it lasted
 *
 * Forgets threads that have gone, judges places, and looks for clusters. Context: process,
 * taskcluster_mutex held. Return: whether a group has begun to be sampled, and needs more.
 */
bool taskcluster_update_groups(unsigned int period, unsigned int parts)
{
	struct taskcluster_group *g, *next;
	struct taskcluster_asker *asker;
	bool more = false;

	lockdep_assert_held(&taskcluster_mutex);
	list_for_each_entry(asker, &taskcluster_asker_list, node) {
		list_for_each_entry_safe(g, next, &asker->groups, node) {
			more |= group_update(g, period, parts);
			if (list_empty(&g->threads))
				group_free(g);
			cond_resched();
		}
	}
	return more;
}

/*
 * Must samples tell whether places help? Threads that hardly run are judged when they are sampled
 * next. Under taskcluster_mutex.
 */
bool taskcluster_on_trial(void)
{
	struct taskcluster_asker *asker;
	struct taskcluster_group *g;

	lockdep_assert_held(&taskcluster_mutex);
	list_for_each_entry(asker, &taskcluster_asker_list, node)
		list_for_each_entry(g, &asker->groups, node)
			if (g->trial && g->tries <= GROUP_TRIES)
				return true;
	return false;
}

/* Call @fn for each group, under taskcluster_mutex. */
void taskcluster_visit_groups(void (*fn)(struct taskcluster_group *g))
{
	struct taskcluster_asker *asker;
	struct taskcluster_group *g;

	lockdep_assert_held(&taskcluster_mutex);
	list_for_each_entry(asker, &taskcluster_asker_list, node)
		list_for_each_entry(g, &asker->groups, node)
			fn(g);
}

/* Cgroups */

static void asker_forget(struct taskcluster_asker *asker)
{
	struct taskcluster_group *g, *next;

	list_for_each_entry_safe(g, next, &asker->groups, node)
		group_free(g);
}

/* Without samples nobody knows whether places help. Those that programs have named stay. */
void taskcluster_forget_found(void)
{
	struct taskcluster_asker *asker;
	struct taskcluster_group *g;

	lockdep_assert_held(&taskcluster_mutex);
	list_for_each_entry(asker, &taskcluster_asker_list, node)
		list_for_each_entry(g, &asker->groups, node) {
			taskcluster_undo(g);
			g->trial = false;
		}
}

/* Forget all threads; cgroups keep their modes. Under taskcluster_mutex. */
void taskcluster_forget_all(void)
{
	struct taskcluster_asker *asker;

	lockdep_assert_held(&taskcluster_mutex);
	list_for_each_entry(asker, &taskcluster_asker_list, node)
		asker_forget(asker);
}

/* The entry of a cgroup, or NULL. Under taskcluster_mutex. */
struct taskcluster_asker *taskcluster_find_asker(u64 id)
{
	lockdep_assert_held(&taskcluster_mutex);
	return xa_load(&taskcluster_askers, id);
}

/* An entry for a cgroup, or NULL. It may wait for reclaim, so taskcluster_mutex is not held. */
struct taskcluster_asker *taskcluster_new_asker(u64 id, enum taskcluster_mode mode)
{
	struct taskcluster_asker *asker = kzalloc(sizeof(*asker), GFP_KERNEL_ACCOUNT);

	if (!asker)
		return NULL;
	asker->id = id;
	asker->mode = mode;
	INIT_LIST_HEAD(&asker->groups);
	return asker;
}

/* Add an entry, in place of the one that its cgroup has. Return 0 or -ENOMEM. */
int taskcluster_add_asker(struct taskcluster_asker *asker)
{
	int ret;

	lockdep_assert_held(&taskcluster_mutex);
	ret = xa_err(xa_store(&taskcluster_askers, asker->id, asker, GFP_KERNEL));
	if (!ret)
		list_add_tail(&asker->node, &taskcluster_asker_list);
	return ret;
}

/* Nobody else looks at an entry: the table is read under taskcluster_mutex only. */
void taskcluster_del_asker(struct taskcluster_asker *asker)
{
	lockdep_assert_held(&taskcluster_mutex);
	asker_forget(asker);
	/* unless another one has its place */
	xa_cmpxchg(&taskcluster_askers, asker->id, asker, NULL, 0);
	list_del(&asker->node);
	kfree(asker);
}

/* Has the cgroup files of the cpu controller? It may have been removed, or have lost it. */
static bool asker_is_there(const struct taskcluster_asker *asker)
{
	struct cgroup *cgrp = __cgroup_get_from_id(asker->id);
	bool is;

	if (IS_ERR(cgrp))
		return false;
	is = rcu_access_pointer(cgrp->subsys[cpu_cgrp_id]);
	cgroup_put(cgrp);
	return is;
}

/**
 * taskcluster_reap_askers() - drop cgroups that were removed, or have no file for a mode any more
 *
 * Context: process, taskcluster_mutex held. Return: whether a cgroup is left that asks.
 */
bool taskcluster_reap_askers(void)
{
	struct taskcluster_asker *asker, *next;

	lockdep_assert_held(&taskcluster_mutex);
	list_for_each_entry_safe(asker, next, &taskcluster_asker_list, node)
		if (!asker_is_there(asker))
			taskcluster_del_asker(asker);
	return !list_empty(&taskcluster_asker_list);
}
