// SPDX-License-Identifier: GPL-2.0
/*
 * What is a line shared for? Threads that use the same words of it share data. Threads that use
 * different ones do not, and still take the line from each other: that is false sharing, and a
 * program can be mended.
 *
 * A word is where an access begins. So two that overlap and begin in different words are taken
 * for different ones.
 */
#include <linux/bitops.h>

#include "cluster.h"

/* With as many samples of each word, on average, all words of a thread were seen. */
#define SAMPLES_OF_WORD	4U

/**
 * taskcluster_takes() - does a thread take a line more often than by chance?
 * @map: its shMap
 * @entry: of the filter
 *
 * Azimi 2007, 3.3.3. Return: whether it does
 */
bool taskcluster_takes(const struct taskcluster_shmap *map, u32 entry)
{
	return map->count[entry] >= TASKCLUSTER_NOISE;
}

/**
 * taskcluster_share() - add a thread to those that share a line
 * @s: what is known of the line, all 0 before the first thread
 * @map: shMap of the thread
 * @entry: of the line
 */
void taskcluster_share(struct taskcluster_sharing *s, const struct taskcluster_shmap *map,
		       u32 entry)
{
	u16 words = map->words[entry];

	if (!taskcluster_takes(map, entry))
		return;
	s->takers++;
	s->shared |= s->used & words;
	s->used |= words;
	s->unsure |= map->count[entry] < SAMPLES_OF_WORD * hweight64(words);
}

/**
 * taskcluster_kind() - what is a line shared for?
 * @s: all threads of the group
 * @locked: most accesses lock it
 *
 * Return: the kind
 */
enum taskcluster_kind taskcluster_kind(const struct taskcluster_sharing *s, bool locked)
{
	if (s->takers < 2)
		return TASKCLUSTER_SINGLE;
	if (s->shared)
		return locked ? TASKCLUSTER_ATOMIC : TASKCLUSTER_DATA;
	return s->unsure ? TASKCLUSTER_UNKNOWN : TASKCLUSTER_FALSE;
}
