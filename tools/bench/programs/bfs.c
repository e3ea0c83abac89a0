// SPDX-License-Identifier: GPL-2.0
/*
 * bfs - a graph's vertices in the order of their distance from one of them.
 *
 * The graph is undirected and made at random: one end of an edge is any vertex, the
 * other with a probability that falls with the square root of its rank, so that few
 * vertices have very many edges. It is kept as one array of neighbours and, for each
 * vertex, where in it its own begin.
 *
 * Pages: of a vertex that is taken from the queue the neighbours are read in one
 * piece, at a random place; the distance of each of them is at a random place too.
 * The queue is written and read in order.
 *
 * A round is a traversal from a random vertex. Checked, of the last one: a vertex and
 * its neighbour are at most 1 apart, or neither was reached; each vertex that was
 * reached, but for the first, has a neighbour that is nearer by 1.
 */
#include <string.h>

#include "programs.h"

#define EDGES	8		/* to a vertex */
#define FAR	UINT32_MAX	/* not reached */

struct graph {
	uint64_t *begin;	/* n + 1; of a vertex's neighbours */
	uint32_t *neighbours;	/* 2 * EDGES * n */
	uint32_t *distance, *queue;
	size_t n, reached;
	uint32_t first;
};

/* Times a prime above all n: ranks map to vertices one to one, scattered. */
static uint32_t random_hub(const struct graph *g, struct rng *rng)
{
	uint64_t u = rng_next(rng) >> 32, rank = (u * u >> 32) * g->n >> 32;

	return rank * 4294967291 % g->n;
}

/* Calls @f with both ends of each edge; the same edges each time. */
static void each_edge(struct graph *g, uint64_t seed,
		      void (*f)(struct graph *g, uint32_t from, uint32_t to))
{
	struct rng rng = { seed };

	for (size_t i = 0; i < EDGES * g->n; i++) {
		uint32_t a = rng_below(&rng, g->n), b = random_hub(g, &rng);

		f(g, a, b);
		f(g, b, a);
	}
}

static void count(struct graph *g, uint32_t from, uint32_t to)
{
	(void)to;
	g->begin[from]++;
}

/* From the end of its neighbours' place to the beginning. */
static void place(struct graph *g, uint32_t from, uint32_t to)
{
	g->neighbours[--g->begin[from]] = to;
}

static void make(struct graph *g, uint64_t seed)
{
	each_edge(g, seed, count);
	for (size_t v = 1; v <= g->n; v++)
		g->begin[v] += g->begin[v - 1];
	each_edge(g, seed, place);
}

static void reach(struct graph *g, uint32_t v, uint32_t distance)
{
	g->distance[v] = distance;
	g->queue[g->reached++] = v;
}

static void traverse(struct graph *g, uint32_t first)
{
	memset(g->distance, 0xff, g->n * sizeof(*g->distance));
	g->first = first;
	g->reached = 0;
	reach(g, first, 0);
	for (size_t i = 0; i < g->reached; i++) {
		uint32_t v = g->queue[i];

		for (uint64_t e = g->begin[v]; e < g->begin[v + 1]; e++)
			if (g->distance[g->neighbours[e]] == FAR)
				reach(g, g->neighbours[e], g->distance[v] + 1);
	}
}

static bool vertex_right(const struct graph *g, uint32_t v)
{
	uint32_t own = g->distance[v], other;
	bool nearer = v == g->first ? own == 0 : own == FAR;

	for (uint64_t e = g->begin[v]; e < g->begin[v + 1]; e++) {
		other = g->distance[g->neighbours[e]];
		if ((own == FAR) != (other == FAR))
			return false;
		if (own != FAR && (own > other + 1 || other > own + 1))
			return false;
		nearer |= own != FAR && other + 1 == own;
	}
	return nearer;
}

static bool all_right(const struct graph *g)
{
	for (size_t v = 0; v < g->n; v++)
		if (!vertex_right(g, v))
			return false;
	return true;
}

static void bfs_main(struct run *run)
{
	size_t each = sizeof(uint64_t) + (2 * EDGES + 2) * sizeof(uint32_t);
	struct graph g = { .n = run->bytes / each };
	struct rng rng = { run->seed + 1 };

	g.begin = map_array(run, "begin", (g.n + 1) * sizeof(*g.begin));
	g.neighbours = map_array(run, "neighbours", 2 * EDGES * g.n * sizeof(*g.neighbours));
	g.distance = map_array(run, "distance", g.n * sizeof(*g.distance));
	g.queue = map_array(run, "queue", g.n * sizeof(*g.queue));
	make(&g, run->seed);
	main_begin(run);
	for (uint64_t round = 0; round < run->rounds; round++)
		traverse(&g, rng_below(&rng, g.n));
	main_end(run);

	if (breaks(run, 1))
		g.distance[g.queue[g.reached / 2]] += 2;
	verify(run, 1, all_right(&g));
}

const struct program bfs_program = {
	.name = "bfs",
	.what = "breadth-first traversal of a graph with hubs",
	.rounds = 8,
	.checks = 1,
	.main = bfs_main,
};
