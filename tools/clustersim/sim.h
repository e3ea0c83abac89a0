/* SPDX-License-Identifier: GPL-2.0 */
/* Rounds of the models over samples, as the kernel has them */
#ifndef _CLUSTERSIM_SIM_H
#define _CLUSTERSIM_SIM_H

#include <cluster.h>

#include "samples.h"

/**
 * struct algorithm - a way to find clusters
 * @name: of it
 * @about: what it is, for --help
 * @threshold: similarity above which threads share, if nothing else is said
 * @find: as taskcluster_find(), without room for what it needs
 */
struct algorithm {
	const char *name, *about;
	u32 threshold;
	u32 (*find)(struct taskcluster_thread **t, u32 nr, u32 total, u32 threshold);
};

/* two-pass.c */
u32 find_two_pass(struct taskcluster_thread **t, u32 nr, u32 total, u32 threshold,
		  struct taskcluster_thread **rep);

/* algorithms.c */
extern const struct algorithm algorithms[];
const struct algorithm *algorithm_by_name(const char *name);

/**
 * struct sim_options - what to do
 * @algorithm: that finds clusters
 * @threshold: similarity above which threads share
 * @samples: of each thread that is heard of, to end a round
 * @block: bytes of a line
 * @physical: lines are told apart by their physical address
 * @chips: number of them to place threads on; 0: do not
 * @cpus: of each chip
 */
struct sim_options {
	const struct algorithm *algorithm;
	u32 threshold, samples, block, chips, cpus;
	bool physical;
};

/**
 * struct sim_thread - a thread of the recording
 * @tid: of it
 * @samples: in this round
 * @seen: in the last one that has ended
 * @chip: that it is on, or -1
 * @last: its shMap when the last round ended
 * @model: what the models know
 */
struct sim_thread {
	u32 tid, samples, seen;
	s32 chip;
	struct taskcluster_shmap last;
	struct taskcluster_thread model;
};

/**
 * struct sim_round - a round that has ended
 * @number: from 1
 * @threads: that are known
 * @samples: in this round
 * @missed: samples that were not counted: their line had no entry of the filter, or no address
 * @clusters: number of them
 * @clustered: threads that are in one
 * @judged: threads whose groups are known; 0: @rand says nothing
 * @end_ns: time of its last sample
 * @rand: adjusted Rand index of clusters and groups
 */
struct sim_round {
	u32 number, threads, samples, missed, clusters, clustered, judged;
	u64 end_ns;
	double rand;
};

/**
 * struct sim - a run
 * @o: what to do
 * @truths: groups that are known, sorted
 * @thread: those that are known, by number
 * @nr: how many they are
 * @heard: threads with enough samples to be heard of
 * @first: samples of this round until the last thread came
 * @last_name: of a cluster
 * @filter: of the only group
 * @round: the round so far
 */
struct sim {
	const struct sim_options *o;
	const struct truths *truths;
	struct sim_thread **thread;
	u32 nr, heard, first, last_name;
	struct taskcluster_filter filter;
	struct sim_round round;
};

typedef void sim_round_fn(struct sim *sim, void *arg);

void sim_run(struct sim *sim, const struct samples *s, sim_round_fn *ended, void *arg);
void sim_free(struct sim *sim);

#endif /* _CLUSTERSIM_SIM_H */
