// SPDX-License-Identifier: GPL-2.0
/*
 * shMap: a signature of the lines that a thread takes from other chips (Azimi 2007, 3.3.2).
 *
 *	line ── hash ──> entry of the filter    free: the line gets it, until the next round
 *	                                        another line's: the sample is dropped
 *	             └─> counter of the thread  counts up to 255
 *
 * All threads of a group have one filter. So a counter is about the same line in each of them,
 * and two shMaps can be compared entry by entry, without collisions. Lines that are hot come
 * first, and get the entries.
 *
 * Threads that take thousands of lines alike have few samples on those that got an entry. Then
 * lines are watched in blocks, so large that the entries are enough for all of them.
 *
 * To tell a user what is shared, the words of a line are told apart, and the instruction that
 * takes the line most is found by a vote (Boyer and Moore 1981): it needs no table of all.
 */
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "cluster.h"

#define FILTER_FEW	8U	/* blocks that could be smaller */
#define SHMAP_HASH	0x9e3779b97f4a7c15ULL	/* 2^64 by the golden ratio */

/**
 * taskcluster_filter_reset() - begin a round: all entries are free
 * @f: filter of the group, keeps the size of its blocks
 */
void taskcluster_filter_reset(struct taskcluster_filter *f)
{
	u32 shift = f->shift;

	memset(f, 0, sizeof(*f));
	f->shift = shift;
}

static u32 filter_used(const struct taskcluster_filter *f)
{
	u32 i, used = 0;

	for (i = 0; i < TASKCLUSTER_LINES; i++)
		used += f->line[i] > 0;
	return used;
}

/**
 * taskcluster_filter_fit() - choose the size of blocks for the next round
 * @f: filter of the group
 * @most: the largest @shift
 *
 * If most samples find their entry taken by another block, of N blocks some 256 have one, and a
 * sample finds its own one 256 times in N. So blocks should be as much larger, and 8 times more,
 * for each is to have several samples of a thread. If there are few blocks, a quarter of their size
 * is not too small.
 *
 * Return: whether it is another size, so that another round may find more
 */
bool taskcluster_filter_fit(struct taskcluster_filter *f, u32 most)
{
	u32 shift = f->shift, found = (f->tried - f->missed) / 8;

	if (f->missed > f->tried / 2)
		for (; f->shift < most && found < f->tried; f->shift++)
			found = found * 2 ?: 1;
	else if (filter_used(f) <= FILTER_FEW)
		f->shift -= min(f->shift, 2U);
	return f->shift != shift;
}

/**
 * taskcluster_shmap_reset() - begin a round: nothing was seen of the thread
 * @t: thread, keeps its name
 */
void taskcluster_shmap_reset(struct taskcluster_thread *t)
{
	memset(&t->map, 0, sizeof(t->map));
	t->noted = 0;
	t->found = 0;
}

static u32 shmap_entry(u64 line)
{
	return line * SHMAP_HASH >> 56;
}

static void shmap_vote(struct taskcluster_filter *f, u32 i, const struct taskcluster_access *a)
{
	if (!f->votes[i]) {
		f->code[i] = a->code;
		f->addr[i] = a->addr;
		f->by[i] = a->by;
	}
	if (f->code[i] != a->code)
		f->votes[i]--;
	else if (f->votes[i] < U8_MAX)
		f->votes[i]++;
	if (a->locked && f->locked[i] < S8_MAX)
		f->locked[i]++;
	else if (!a->locked && f->locked[i] > S8_MIN)
		f->locked[i]--;
}

/**
 * taskcluster_shmap_note() - a thread has taken a line from another chip
 * @f: filter of the group
 * @t: thread
 * @a: the access
 *
 * Azimi 2007, figure 3.3.
 *
 * Return: false if another block has the entry, and nothing was counted
 */
bool taskcluster_shmap_note(struct taskcluster_filter *f, struct taskcluster_thread *t,
			    const struct taskcluster_access *a)
{
	u64 block = a->line >> f->shift;
	u32 i = shmap_entry(block);

	if (!f->line[i])
		f->line[i] = block + 1;
	else
		f->tried++;
	if (f->line[i] != block + 1) {
		f->missed++;
		return false;
	}
	if (t->map.count[i] < U8_MAX)
		t->map.count[i]++;
	t->map.words[i] |= 1U << a->word;
	t->noted++;
	shmap_vote(f, i, a);
	return true;
}

/**
 * taskcluster_is_others() - note who takes a line, and tell whether another process did before
 * @taken: lines that were taken
 * @line: number of the physical line, not U64_MAX
 * @by: number of the process, the caller's
 *
 * A line has one entry, which it loses to the next one that has the same. So what is said of a few
 * hot lines is true, and of many there are more than is said.
 *
 * Return: whether the process that took the line last was another one
 */
bool taskcluster_is_others(struct taskcluster_taken *taken, u64 line, u32 by)
{
	u32 i = shmap_entry(line);
	bool others = taken->line[i] == line + 1 && taken->by[i] != by;

	taken->line[i] = line + 1;
	taken->by[i] = by;
	return others;
}
