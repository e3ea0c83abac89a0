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

/*
 * And it must be no chance that threads were seen to use different words, though all use all of
 * them: each sample of one that uses 2 of 4 words is as a toss of a coin.
 */
#define LINE_TOSSES	24U
#define LINE_TOSS	16U

/* Binary logarithm of a number of words, in parts of LINE_TOSS */
static const u8 line_log[TASKCLUSTER_WORDS + 1] = {
	0, 0, 16, 25, 32, 37, 41, 45, 48, 51, 53, 55, 57, 59, 61, 63, 64,
};

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
	s->samples += map->count[entry];
	s->tosses += map->count[entry] * line_log[hweight64(words)];
}

static bool line_is_sure(const struct taskcluster_sharing *s)
{
	u32 all = s->samples * line_log[hweight64(s->used)];

	return !s->unsure && all - s->tosses >= LINE_TOSSES * LINE_TOSS;
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
	return line_is_sure(s) ? TASKCLUSTER_FALSE : TASKCLUSTER_UNKNOWN;
}
