// SPDX-License-Identifier: GPL-2.0
/*
 * Names of clusters, which last from round to round.
 *
 * Threads that share on one chip take nothing from other chips. So a thread that was found in no
 * cluster keeps the name that it had: silence is what a good placement sounds like.
 */
#include <linux/sort.h>
#include <linux/string.h>

#include "cluster.h"

/* By cluster, then by name */
static int link_order(const void *a, const void *b)
{
	const struct taskcluster_link *x = a, *y = b;

	if (x->found != y->found)
		return x->found < y->found ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

/* The most threads first */
static int link_order_size(const void *a, const void *b)
{
	const struct taskcluster_link *x = a, *y = b;

	if (x->nr != y->nr)
		return x->nr < y->nr ? 1 : -1;
	return link_order(a, b);
}

/* Count the threads of each pair of cluster and name. Return the number of pairs. */
static u32 cluster_links(struct taskcluster_thread **t, u32 nr, struct taskcluster_link *links)
{
	u32 i, n = 0, pairs = 0;

	for (i = 0; i < nr; i++)
		if (t[i]->found && t[i]->name)
			links[n++] = (struct taskcluster_link){ t[i]->found, t[i]->name, 1 };
	sort(links, n, sizeof(*links), link_order, NULL);
	for (i = 0; i < n; i++) {
		if (pairs && !link_order(&links[pairs - 1], &links[i]))
			links[pairs - 1].nr++;
		else
			links[pairs++] = links[i];
	}
	sort(links, pairs, sizeof(*links), link_order_size, NULL);
	return pairs;
}

static bool cluster_has_name(const u32 *names, u32 clusters, u32 name)
{
	u32 c;

	for (c = 0; c < clusters; c++)
		if (names[c] == name)
			return true;
	return false;
}

/**
 * taskcluster_name() - give clusters names that last
 * @t: threads, after taskcluster_find()
 * @nr: number of them
 * @clusters: what taskcluster_find() returned
 * @last: the last name that was given in this group
 * @links: room for @nr
 * @names: room for @clusters
 *
 * A cluster gets the name that most of its threads had, unless a cluster that has more of its
 * threads gets it; and else a new one. Threads that were found in no cluster keep their name.
 *
 * Return: the last name given
 */
u32 taskcluster_name(struct taskcluster_thread **t, u32 nr, u32 clusters, u32 last,
		     struct taskcluster_link *links, u32 *names)
{
	u32 i, pairs = cluster_links(t, nr, links);

	memset(names, 0, clusters * sizeof(*names));
	for (i = 0; i < pairs; i++)
		if (!names[links[i].found - 1] &&
		    !cluster_has_name(names, clusters, links[i].name))
			names[links[i].found - 1] = links[i].name;
	for (i = 0; i < nr; i++) {
		if (!t[i]->found)
			continue;
		if (!names[t[i]->found - 1])
			names[t[i]->found - 1] = ++last;
		t[i]->name = names[t[i]->found - 1];
	}
	return last;
}
