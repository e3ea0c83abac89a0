// SPDX-License-Identifier: GPL-2.0
/*
 * Algorithm 1 of the thesis with two passes, to compare with.
 *
 * The similarity of two threads is the dot product of their shMaps: large if both often take
 * the same lines from other chips. Counts below 3 are chance. A line that more than half of all
 * threads take is shared by everybody and tells nothing, but two threads are not everybody.
 *
 * Algorithm 1 goes over the threads once and puts each into the first cluster whose
 * representative it resembles. It depends on the order, so threads with the most samples come
 * first and become the representatives. A second pass puts each thread into the cluster whose
 * representative it resembles most.
 */
#include <linux/minmax.h>
#include <linux/sort.h>

#include "sim.h"

/* Drop counts that are chance, and lines that everybody takes. */
static void cluster_clean(struct taskcluster_thread **t, u32 nr, u32 total)
{
	u32 i, j, takers, few = max(total / 2, 2U);

	for (i = 0; i < TASKCLUSTER_LINES; i++) {
		takers = 0;
		for (j = 0; j < nr; j++)
			takers += taskcluster_takes(&t[j]->map, i);
		for (j = 0; j < nr; j++)
			if (takers > few || !taskcluster_takes(&t[j]->map, i))
				t[j]->map.count[i] = 0;
	}
}

static u64 cluster_similarity(const struct taskcluster_thread *a,
			      const struct taskcluster_thread *b)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < TASKCLUSTER_LINES; i++)
		sum += a->map.count[i] * b->map.count[i];
	return sum;
}

/* Threads with most samples first; then in the order given. */
static int cluster_order(const void *a, const void *b)
{
	const struct taskcluster_thread *x = *(struct taskcluster_thread **)a;
	const struct taskcluster_thread *y = *(struct taskcluster_thread **)b;

	if (x->noted != y->noted)
		return x->noted < y->noted ? 1 : -1;
	return x->found < y->found ? -1 : x->found > y->found;
}

/* The first pass. Return the number of clusters. */
static u32 cluster_begin(struct taskcluster_thread **t, u32 nr, u32 threshold,
			 struct taskcluster_thread **rep)
{
	u32 i, c, clusters = 0;

	for (i = 0; i < nr; i++) {
		for (c = 0; c < clusters; c++)
			if (cluster_similarity(t[i], rep[c]) > threshold)
				break;
		if (c == clusters && cluster_similarity(t[i], t[i]) > threshold)
			rep[clusters++] = t[i];
	}
	return clusters;
}

/* The cluster that @t belongs to, from 1, or 0 */
static u32 cluster_best(const struct taskcluster_thread *t, u32 clusters, u32 threshold,
			struct taskcluster_thread **rep)
{
	u64 most = threshold, now;
	u32 c, best = 0;

	for (c = 0; c < clusters; c++) {
		if (t == rep[c])
			return c + 1;
		now = cluster_similarity(t, rep[c]);
		if (now > most) {
			most = now;
			best = c + 1;
		}
	}
	return best;
}

/* A thread alone is no cluster. */
static void cluster_drop_single(struct taskcluster_thread **t, u32 nr, u32 c,
				struct taskcluster_thread *rep)
{
	u32 i;

	for (i = 0; i < nr; i++)
		if (t[i]->found == c && t[i] != rep)
			return;
	rep->found = 0;
}

/**
 * find_two_pass() - find the clusters of a group
 * @t: threads; their order changes, and counts that tell nothing become 0
 * @nr: number of them
 * @total: threads of the group, also those of which nothing was seen
 * @threshold: similarity above which threads share
 * @rep: room for @nr pointers
 *
 * Writes the number of each thread's cluster to ->found. Azimi 2007, 3.3.3, algorithm 1. Takes
 * time in proportion to threads by clusters.
 *
 * Return: the largest number of a cluster; some numbers below may have no threads
 */
u32 find_two_pass(struct taskcluster_thread **t, u32 nr, u32 total, u32 threshold,
		     struct taskcluster_thread **rep)
{
	u32 i, clusters;

	cluster_clean(t, nr, total);
	for (i = 0; i < nr; i++)
		t[i]->found = i;
	sort(t, nr, sizeof(*t), cluster_order, NULL);
	clusters = cluster_begin(t, nr, threshold, rep);
	for (i = 0; i < nr; i++)
		t[i]->found = cluster_best(t[i], clusters, threshold, rep);
	for (i = 0; i < clusters; i++)
		cluster_drop_single(t, nr, i + 1, rep[i]);
	return clusters;
}
