// SPDX-License-Identifier: GPL-2.0
/* Ways to find clusters: the kernel's, and those of the thesis. */
#include <stdlib.h>
#include <string.h>

#include "../pathctl/pathctl.h"
#include "sim.h"

/* Lines that more than half take, and small counts, are dropped here, too. See models/cluster.c. */
static void clean(struct taskcluster_thread **t, u32 nr, u32 total)
{
	u32 i, line, takers, few = total / 2 > 2 ? total / 2 : 2;

	for (line = 0; line < TASKCLUSTER_LINES; line++) {
		for (i = takers = 0; i < nr; i++)
			takers += taskcluster_takes(&t[i]->map, line);
		for (i = 0; i < nr; i++)
			if (takers > few || !taskcluster_takes(&t[i]->map, line))
				t[i]->map.count[line] = 0;
	}
}

static u64 similarity(const struct taskcluster_thread *a, const struct taskcluster_thread *b)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < TASKCLUSTER_LINES; i++)
		sum += a->map.count[i] * b->map.count[i];
	return sum;
}

static u32 first_that_resembles(const struct taskcluster_thread *t, u32 clusters, u32 threshold,
				struct taskcluster_thread *const *rep)
{
	u32 c;

	for (c = 0; c < clusters; c++)
		if (similarity(t, rep[c]) > threshold)
			break;
	return c;
}

/*
 * Algorithm 1 (Azimi 2007, 3.3.3) by the letter: threads in the order of their numbers,
 * and each goes to the first cluster that it resembles. There, a thread alone is a cluster.
 */
static u32 find_one_pass(struct taskcluster_thread **t, u32 nr, u32 total, u32 threshold)
{
	struct taskcluster_thread **rep = xalloc(nr * sizeof(struct taskcluster_thread *));
	u32 i, c, clusters = 0;

	clean(t, nr, total);
	for (i = 0; i < nr; i++) {
		c = first_that_resembles(t[i], clusters, threshold, rep);
		if (c == clusters)
			rep[clusters++] = t[i];
		t[i]->found = c + 1;
	}
	free(rep);
	return clusters;
}

static u32 find_kernel(struct taskcluster_thread **t, u32 nr, u32 total, u32 threshold)
{
	size_t most = taskcluster_most_nodes(nr);
	struct taskcluster_node *nodes = xalloc(most * sizeof(*nodes));
	u64 *ties = xalloc(most * most * sizeof(*ties));
	u32 clusters = taskcluster_find(t, nr, total, threshold, nodes, ties);

	free(ties);
	free(nodes);
	return clusters;
}

static u32 find_with_two_passes(struct taskcluster_thread **t, u32 nr, u32 total, u32 threshold)
{
	struct taskcluster_thread **rep = xalloc(nr * sizeof(struct taskcluster_thread *));
	u32 clusters = find_two_pass(t, nr, total, threshold, rep);

	free(rep);
	return clusters;
}

#define THRESHOLD	100	/* of algorithm 1, see two-pass.c */

const struct algorithm algorithms[] = {
	{ "merge", "the kernel's (sched-cluster/models/cluster.c)", TASKCLUSTER_THRESHOLD,
	  find_kernel },
	{ "one-pass", "algorithm 1 of the thesis, by the letter", THRESHOLD, find_one_pass },
	{ "two-pass", "the same, the busiest threads first, and then again", THRESHOLD,
	  find_with_two_passes },
	{ }
};

/* NULL: there is none. */
const struct algorithm *algorithm_by_name(const char *name)
{
	const struct algorithm *a;

	for (a = algorithms; a->name; a++)
		if (!strcmp(a->name, name))
			return a;
	return NULL;
}
