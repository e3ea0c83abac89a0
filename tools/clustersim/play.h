/* SPDX-License-Identifier: GPL-2.0 */
/* Samples that are made up: threads that share as those of known programs do */
#ifndef _CLUSTERSIM_PLAY_H
#define _CLUSTERSIM_PLAY_H

#include "samples.h"

#define PLAY_THREADS	4096U	/* at most */

struct play;

/**
 * struct play_options - how much of it
 * @seed: the same number makes the same samples
 * @threads: number of threads
 * @groups: that they share in; 0: what the workload has with so many threads
 * @rounds: number of rounds
 * @samples: of each thread in a round, on average
 * @noise: percent of the samples that are on lines which threads share by chance
 */
struct play_options {
	u64 seed;
	u32 threads, groups, rounds, samples, noise;
};

/**
 * struct play - a workload
 * @name: of it
 * @about: what it is, for --help
 * @processes: each thread is a process: what it shares has the same address in all of them
 * @groups: how many there are of so many threads; NULL: as many as there are pairs
 * @group: the group of a thread, from 1; 0: none
 * @touch: make up the next sample of a thread
 */
struct play_run;
struct play {
	const char *name, *about;
	bool processes;
	u32 (*groups)(u32 threads);
	u32 (*group)(const struct play_run *run, u32 thread);
	void (*touch)(struct play_run *run, u32 thread, struct sample *s);
};

extern const struct play plays[];

const struct play *play_parse(char *text, struct play_options *o);
void play_samples(const struct play *play, const struct play_options *o, struct samples *s,
		  struct truths *t);

#endif /* _CLUSTERSIM_PLAY_H */
