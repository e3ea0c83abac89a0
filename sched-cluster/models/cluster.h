/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Models of task clusters: which lines a thread takes from other chips, which threads share
 * them, and the chip that each cluster of threads goes to.
 *
 * Plain C: arrays and arithmetic. The models know no task, lock or CPU, allocate nothing, and
 * are compiled in the kernel and, from the same files, in user space. The caller serializes all
 * calls on one object.
 */
#ifndef _SCHED_CLUSTER_MODELS_CLUSTER_H
#define _SCHED_CLUSTER_MODELS_CLUSTER_H

#include <linux/types.h>

#define TASKCLUSTER_LINES	256U	/* counters of a shMap */
#define TASKCLUSTER_WORDS	16U	/* pieces of a line, that are told apart */
#define TASKCLUSTER_SHIFT_MOST	10U	/* a block has 2^10 lines at most */
#define TASKCLUSTER_SHIFT_PAGE	6U	/* and a page, 2^6 */
#define TASKCLUSTER_NOISE	3U	/* a smaller count is no sharing */
#define TASKCLUSTER_THRESHOLD	30U	/* similarity of threads that share */

/**
 * struct taskcluster_access - a thread takes a line from another chip
 * @line: number of the line, not U64_MAX
 * @addr: address of the access
 * @code: address of the instruction
 * @by: number of the thread, the caller's
 * @word: the word of the line, less than TASKCLUSTER_WORDS
 * @locked: the instruction locks the line
 */
struct taskcluster_access {
	u64 line, addr, code;
	u32 by;
	u8 word;
	bool locked;
};

/**
 * struct taskcluster_filter - the lines, or blocks of lines, that a group of threads is watched on
 * @line: number of a block and 1, or 0 where the entry is free
 * @code: instruction that takes the line most, if one takes it more than all others together, or
 *	else one of those that do
 * @addr: address that @code has used
 * @by: thread that has run @code
 * @votes: by how much @code leads
 * @locked: by how much accesses that lock the line lead; below 0: others lead
 * @shift: a block has 2^shift lines
 * @tried: samples that did not find their entry free
 * @missed: those of them that found it another block's
 */
struct taskcluster_filter {
	u64 line[TASKCLUSTER_LINES];
	u64 code[TASKCLUSTER_LINES];
	u64 addr[TASKCLUSTER_LINES];
	u32 by[TASKCLUSTER_LINES];
	u8 votes[TASKCLUSTER_LINES];
	s8 locked[TASKCLUSTER_LINES];
	u32 shift, tried, missed;
};

/**
 * struct taskcluster_shmap - lines of the filter that a thread takes from other chips
 * @count: how often it took each of them
 * @words: words that it used, a bit for each
 */
struct taskcluster_shmap {
	u8 count[TASKCLUSTER_LINES];
	u16 words[TASKCLUSTER_LINES];
};

/**
 * struct taskcluster_thread - a thread of a group
 * @map: its shMap
 * @noted: sum of all counts, without saturation
 * @name: of the cluster that it is in, lasts over rounds; 0: none
 * @found: number of the cluster that this round found it in, from 1; 0: none
 */
struct taskcluster_thread {
	struct taskcluster_shmap map;
	u32 noted;
	u32 name;
	u32 found;
};

/* shmap.c */
void taskcluster_filter_reset(struct taskcluster_filter *f);
bool taskcluster_filter_fit(struct taskcluster_filter *f, u32 most);
void taskcluster_shmap_reset(struct taskcluster_thread *t);
bool taskcluster_shmap_note(struct taskcluster_filter *f, struct taskcluster_thread *t,
			    const struct taskcluster_access *a);

/**
 * struct taskcluster_taken - physical lines that processes took last
 * @line: a line and 1, or 0 where the entry is free
 * @by: the process that took it last
 */
struct taskcluster_taken {
	u64 line[TASKCLUSTER_LINES];
	u32 by[TASKCLUSTER_LINES];
};

bool taskcluster_is_others(struct taskcluster_taken *taken, u64 line, u32 by);

/* What threads take a line for */
enum taskcluster_kind {
	TASKCLUSTER_SINGLE,	/* no other thread was seen to take it */
	TASKCLUSTER_UNKNOWN,	/* different words so far, but there are few samples */
	TASKCLUSTER_FALSE,	/* different words: false sharing */
	TASKCLUSTER_ATOMIC,	/* the same words, mostly locked: a lock or a counter */
	TASKCLUSTER_DATA,	/* the same words */
	NR_TASKCLUSTER_KINDS,
};

/**
 * struct taskcluster_sharing - how a line is shared
 * @takers: threads that took it often enough
 * @used: words that a thread used
 * @shared: words that more than one used
 * @unsure: of a thread there are too few samples to know all words
 * @samples: of threads that took it
 * @tosses: what their samples would tell if there were no words but the thread's own
 */
struct taskcluster_sharing {
	u32 takers;
	u16 used, shared;
	bool unsure;
	u32 samples, tosses;
};

/* lines.c */
bool taskcluster_takes(const struct taskcluster_shmap *map, u32 entry);
void taskcluster_share(struct taskcluster_sharing *s, const struct taskcluster_shmap *map,
		       u32 entry);
enum taskcluster_kind taskcluster_kind(const struct taskcluster_sharing *s, bool locked);

/**
 * struct taskcluster_node - threads that belong together so far
 * @count: their shMaps, added up
 * @threads: number of them; 0: the node is part of another one
 * @best: the node that it resembles most
 * @score: how much
 * @into: the node that it is part of, or itself
 */
struct taskcluster_node {
	u32 count[TASKCLUSTER_LINES];
	u32 threads, best, score, into;
};

/* There are at most as many nodes as this, for each has a line. */
static inline u32 taskcluster_most_nodes(u32 nr)
{
	return nr < TASKCLUSTER_LINES ? nr : TASKCLUSTER_LINES;
}

/* cluster.c */
u32 taskcluster_find(struct taskcluster_thread **t, u32 nr, u32 total, u32 threshold,
		     struct taskcluster_node *nodes, u64 *ties);

/**
 * struct taskcluster_link - threads that a cluster of this round has in common with one name
 * @found: number of the cluster
 * @name: name that the threads had
 * @nr: number of threads
 */
struct taskcluster_link {
	u32 found, name, nr;
};

/* names.c */
u32 taskcluster_name(struct taskcluster_thread **t, u32 nr, u32 clusters, u32 last,
		     struct taskcluster_link *links, u32 *names);

/**
 * struct taskcluster_chip - CPUs that share their last cache
 * @capacity: of its CPUs together, 1024 for each full one
 * @load: what was put there
 */
struct taskcluster_chip {
	u64 capacity;
	u64 load;
};

/**
 * struct taskcluster_member - a thread to be put on a chip
 * @id: the caller's
 * @cluster: name of its cluster; 0: none
 * @load: share of a CPU that it uses, 1024 is a whole one
 * @chip: chip that it is on, or -1 if that is unknown; taskcluster_place() writes the chip that
 *	it is to be on, or -1 if any chip is right
 */
struct taskcluster_member {
	u32 id;
	u32 cluster;
	u32 load;
	s32 chip;
};

/**
 * struct taskcluster_part - members that stay together
 * @first: the first one of them
 * @nr: number of members
 * @load: of all of them
 * @chip: chip that most of this load is on, or -1
 */
struct taskcluster_part {
	u32 first, nr;
	u64 load;
	s32 chip;
};

/* share.c */
#define TASKCLUSTER_WHOLE		10000U	/* all of a CPU's time */
#define TASKCLUSTER_LATENCY_MOST	100000U	/* ns */

u32 taskcluster_time_lost(u64 count, u32 latency_ns, u64 ns, u64 idle_ns);

/* place.c */
void taskcluster_place(struct taskcluster_chip *chips, u32 nr_chips,
		       struct taskcluster_member *m, u32 nr, u32 imbalance_pct,
		       struct taskcluster_part *parts);

#endif /* _SCHED_CLUSTER_MODELS_CLUSTER_H */
