// SPDX-License-Identifier: GPL-2.0
/*
 * Rounds: samples go through the filter into shMaps. When there are enough, clusters are looked
 * for, named and placed, and the filter begins anew. See sched-cluster/taskcluster-group.c.
 *
 * All threads are one group. The kernel looks at a group now and then, and looks twice at least,
 * for the first time it may have seen a part of the threads. There is no such clock here, so a
 * round does not end before as many samples have come after its last new thread as before it.
 * A recording with ever new threads would have no round, so after twice the samples it ends.
 */
#include <stdlib.h>
#include <string.h>

#include "../pathctl/pathctl.h"
#include "../unit/rand.h"
#include "sim.h"

#define CPU		1024U	/* load of a whole one */
#define IMBALANCE_PCT	25U	/* the kernel's default */
#define ALONE		0x80000000U	/* a group of one thread, for the Rand index */

/* Threads */

/* Where @tid is, or belongs */
static u32 position(const struct sim *sim, u32 tid)
{
	u32 low = 0, high = sim->nr, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (sim->thread[middle]->tid < tid)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct sim_thread *add_thread(struct sim *sim, u32 at, u32 tid)
{
	struct sim_thread *t = xalloc(sizeof(*t));

	t->tid = tid;
	t->chip = -1;
	sim->thread = xgrow(sim->thread, sim->nr + 1, sizeof(*sim->thread));
	memmove(sim->thread + at + 1, sim->thread + at, (sim->nr - at) * sizeof(*sim->thread));
	sim->thread[at] = t;
	sim->nr++;
	return t;
}

static struct sim_thread *find_thread(struct sim *sim, u32 tid)
{
	u32 at = position(sim, tid);

	if (at < sim->nr && sim->thread[at]->tid == tid)
		return sim->thread[at];
	return add_thread(sim, at, tid);
}

/* Clusters */

/* As the kernel does: names of clusters with one thread are of no use. */
static void drop_single(struct sim *sim)
{
	u32 i, *size = xalloc((sim->last_name + 1) * sizeof(*size));

	for (i = 0; i < sim->nr; i++)
		size[sim->thread[i]->model.name]++;
	for (i = 0; i < sim->nr; i++)
		if (size[sim->thread[i]->model.name] < 2)
			sim->thread[i]->model.name = 0;
	for (i = 1; i <= sim->last_name; i++)
		sim->round.clusters += size[i] > 1;
	for (i = 0; i < sim->nr; i++)
		sim->round.clustered += sim->thread[i]->model.name > 0;
	free(size);
}

static void find_clusters(struct sim *sim)
{
	struct taskcluster_thread **t = xalloc(sim->nr * sizeof(struct taskcluster_thread *));
	struct taskcluster_link *links = xalloc(sim->nr * sizeof(*links));
	u32 i, clusters, *names;

	for (i = 0; i < sim->nr; i++)
		t[i] = &sim->thread[i]->model;
	clusters = sim->o->algorithm->find(t, sim->nr, sim->nr, sim->o->threshold);
	names = xalloc(clusters * sizeof(*names));
	sim->last_name = taskcluster_name(t, sim->nr, clusters, sim->last_name, links, names);
	free(names);
	free(links);
	free(t);
	drop_single(sim);
}

/* Threads use all CPUs, and one each at most. */
static u32 load_of_thread(const struct sim *sim)
{
	u32 cpus = sim->o->chips * sim->o->cpus;

	return cpus < sim->nr ? (u64)CPU * cpus / sim->nr : CPU;
}

static void place(struct sim *sim)
{
	struct taskcluster_chip *chips = xalloc(sim->o->chips * sizeof(*chips));
	struct taskcluster_member *m = xalloc(sim->nr * sizeof(*m));
	struct taskcluster_part *parts = xalloc(sim->nr * sizeof(*parts));
	u32 i;

	for (i = 0; i < sim->o->chips; i++)
		chips[i].capacity = (u64)CPU * sim->o->cpus;
	for (i = 0; i < sim->nr; i++)
		m[i] = (struct taskcluster_member){ i, sim->thread[i]->model.name,
						    load_of_thread(sim), sim->thread[i]->chip };
	taskcluster_place(chips, sim->o->chips, m, sim->nr, IMBALANCE_PCT, parts);
	for (i = 0; i < sim->nr; i++)
		sim->thread[m[i].id]->chip = m[i].chip;
	free(parts);
	free(m);
	free(chips);
}

/* Compare with the groups that are known. A thread that is in none is alone, here and there. */
static void judge(struct sim *sim)
{
	u32 *found = xalloc(sim->nr * sizeof(*found)), *known = xalloc(sim->nr * sizeof(*known));
	u32 i, nr = 0, group;

	for (i = 0; i < sim->nr; i++) {
		if (!truths_find(sim->truths, sim->thread[i]->tid, &group))
			continue;
		found[nr] = sim->thread[i]->model.name ?: ALONE + i;
		known[nr++] = group ?: ALONE + i;
	}
	sim->round.judged = nr;
	sim->round.rand = adjusted_rand(found, known, nr);
	free(known);
	free(found);
}

/* Rounds */

static void begin_round(struct sim *sim)
{
	u32 i;

	taskcluster_filter_reset(&sim->filter);
	for (i = 0; i < sim->nr; i++) {
		taskcluster_shmap_reset(&sim->thread[i]->model);
		sim->thread[i]->samples = 0;
	}
	sim->heard = 0;
	sim->first = 0;
	sim->round = (struct sim_round){ .number = sim->round.number + 1 };
}

static bool round_ends(const struct sim *sim)
{
	u64 enough = (u64)sim->heard * sim->o->samples;

	if (!enough || sim->round.samples < enough)
		return false;
	return sim->round.samples >= 2 * (u64)sim->first || sim->round.samples >= 2 * enough;
}

static void end_round(struct sim *sim)
{
	u32 i;

	for (i = 0; i < sim->nr; i++) {
		sim->thread[i]->last = sim->thread[i]->model.map;
		sim->thread[i]->seen = sim->thread[i]->samples;
	}
	sim->round.threads = sim->nr;
	find_clusters(sim);
	if (sim->o->chips)
		place(sim);
	judge(sim);
}

static void note_sample(struct sim *sim, const struct sample *s)
{
	struct sim_thread *t = find_thread(sim, s->tid);
	u64 addr = sim->o->physical ? s->phys : s->addr;
	const struct taskcluster_access access = {
		.line = addr / sim->o->block, .addr = s->addr, .code = s->ip, .by = s->tid,
		.word = addr % sim->o->block * TASKCLUSTER_WORDS / sim->o->block,
		.locked = s->locked,
	};

	sim->round.samples++;
	sim->round.end_ns = s->time_ns;
	if (!t->samples++)
		sim->first = sim->round.samples;
	if (!addr || !taskcluster_shmap_note(&sim->filter, &t->model, &access))
		sim->round.missed++;
	else if (t->model.noted == TASKCLUSTER_NOISE)
		sim->heard++;
}

/**
 * sim_run() - all rounds of a recording
 * @sim: ->o and ->truths are set, and all else is 0
 * @s: the samples
 * @ended: called after each round
 * @arg: for it
 *
 * Afterwards ->round is what was left: too few samples for a round.
 */
void sim_run(struct sim *sim, const struct samples *s, sim_round_fn *ended, void *arg)
{
	size_t i;

	begin_round(sim);
	for (i = 0; i < s->nr; i++) {
		note_sample(sim, &s->list[i]);
		if (!round_ends(sim))
			continue;
		end_round(sim);
		ended(sim, arg);
		begin_round(sim);
	}
}

void sim_free(struct sim *sim)
{
	u32 i;

	for (i = 0; i < sim->nr; i++)
		free(sim->thread[i]);
	free(sim->thread);
}
