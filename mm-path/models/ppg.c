// SPDX-License-Identifier: GPL-2.0
/*
 * The page proximity graph (thesis 4.5): which pages are missed soon after a page?
 *
 *	stack of a mapping:	newest  f  e  d  c  b  a  oldest
 *	a is missed again:	what followed a the last time is b, c, d, ...
 *
 * A node is a page, and an edge from p to q says that q was missed soon after p. When p is
 * missed, and before it moves to the top of the stack, the pages above its old place are looked
 * at. An edge to one of them gains a weight of one, up to MMPATH_PPG_MOST. An edge to any other
 * page loses one, and an edge without weight is removed. The nearest pages get the free places.
 *
 * The thesis keeps one LRU stack of all accesses for that. Here the stack has the misses only,
 * including those that prefetching has hidden, because these are what is to be foretold, and
 * because they are all seen. Sampled records teach such a graph next to nothing. Each mapping
 * has a stack of its own: only pages of the mapping that faults can be fetched.
 *
 * Stacks are rings of nodes, each with a node of its own as its end. No node is ever freed
 * alone. The caller bounds their number, and starts anew when there are too many.
 */
#include <linux/kernel.h>
#include <linux/string.h>

#include "foresee.h"

#define PAGE_ORDER	2	/* a node takes 4 + 8 + 16 bytes */
#define LINK_ORDER	3
#define EDGES_ORDER	4
#define WEIGHT_SHIFT	29	/* an edge is a place, and above it a weight */
#define SET_SIZE	(2 * MMPATH_PPG_WINDOW)

/* A set of places, with linear probing. It is at most half full. */
struct ppg_set {
	u32 place[SET_SIZE];
};

static u32 *ppg_set_slot(struct ppg_set *set, u32 place)
{
	u32 i = place * 0x9e3779b1U >> 25;

	while (set->place[i] && set->place[i] != place)
		i = (i + 1) % SET_SIZE;
	return &set->place[i];
}

/* Returns false if the set had it already. */
static bool ppg_set_add(struct ppg_set *set, u32 place)
{
	u32 *slot = ppg_set_slot(set, place);

	if (*slot)
		return false;
	*slot = place;
	return true;
}

static bool ppg_set_has(struct ppg_set *set, u32 place)
{
	return *ppg_set_slot(set, place);
}

static u32 ppg_place(u32 edge)
{
	return edge & MMPATH_PPG_NODES;
}

static u32 ppg_weight(u32 edge)
{
	return edge >> WEIGHT_SHIFT;
}

static u32 ppg_edge(u32 place, u32 weight)
{
	return place | weight << WEIGHT_SHIFT;
}

/**
 * mmpath_ppg_init() - initialize an empty graph
 * @g: the graph
 * @mem: allocator
 */
void mmpath_ppg_init(struct mmpath_ppg *g, struct mmpath_mem *mem)
{
	BUILD_BUG_ON(sizeof(struct mmpath_ppg_link) != 1 << LINK_ORDER);
	BUILD_BUG_ON(MMPATH_PPG_DEGREE * sizeof(u32) != 1 << EDGES_ORDER);
	BUILD_BUG_ON(SET_SIZE != 128);
	memset(g, 0, sizeof(*g));
	g->mem = mem;
	g->pages.order = PAGE_ORDER;
	g->links.order = LINK_ORDER;
	g->edges.order = EDGES_ORDER;
	mmpath_index_init(&g->index, mem, 0, NULL);
}

/**
 * mmpath_ppg_destroy() - free all memory of a graph
 * @g: the graph; empty afterwards
 */
void mmpath_ppg_destroy(struct mmpath_ppg *g)
{
	mmpath_index_destroy(&g->index);
	mmpath_vec_free(&g->pages, g->mem);
	mmpath_vec_free(&g->links, g->mem);
	mmpath_vec_free(&g->edges, g->mem);
	g->nr_nodes = 0;
}

static u32 *ppg_page(const struct mmpath_ppg *g, u32 place)
{
	return mmpath_vec_at(&g->pages, place, PAGE_ORDER);
}

static u32 *ppg_edges(const struct mmpath_ppg *g, u32 place)
{
	return mmpath_vec_at(&g->edges, place, EDGES_ORDER);
}

/**
 * mmpath_ppg_edges() - return the edges of a node
 * @g: the graph
 * @place: place of the node, not 0
 *
 * Return: MMPATH_PPG_DEGREE edges, those that are not used last. An edge is the place of a node
 * in the bits of MMPATH_PPG_NODES, and above them its weight. A call that adds a node may move
 * them.
 */
const u32 *mmpath_ppg_edges(const struct mmpath_ppg *g, u32 place)
{
	return ppg_edges(g, place);
}

/**
 * mmpath_ppg_link() - return the neighbours of a node on its stack
 * @g: the graph
 * @place: place of the node, not 0
 *
 * Return: the link. A call that adds a node may move it.
 */
struct mmpath_ppg_link *mmpath_ppg_link(const struct mmpath_ppg *g, u32 place)
{
	return mmpath_vec_at(&g->links, place, LINK_ORDER);
}

/**
 * mmpath_ppg_is_end() - tell whether a node is the end of a stack
 * @g: the graph
 * @place: place of the node, not 0
 *
 * Return: false if the node has a page.
 */
bool mmpath_ppg_is_end(const struct mmpath_ppg *g, u32 place)
{
	return !*ppg_page(g, place);
}

static int ppg_grow(struct mmpath_ppg *g, struct mmpath_vec *v)
{
	return g->nr_nodes + 1 < v->nr ? 0 : mmpath_vec_grow(v, g->mem);
}

/* Returns the place of a zeroed node, or 0. Place 0 is never used. */
static u32 ppg_add(struct mmpath_ppg *g)
{
	if (g->nr_nodes >= MMPATH_PPG_NODES || ppg_grow(g, &g->pages) ||
	    ppg_grow(g, &g->links) || ppg_grow(g, &g->edges))
		return 0;
	return ++g->nr_nodes;
}

/**
 * mmpath_ppg_find() - find the node of a page
 * @g: the graph
 * @page: the page
 *
 * Return: the place of its node, or 0 if it has none.
 */
u32 mmpath_ppg_find(struct mmpath_ppg *g, u64 page)
{
	u32 id = mmpath_index_find(&g->index, page);

	return id ? *mmpath_index_at(&g->index, id) : 0;
}

/**
 * mmpath_ppg_get() - find the node of a page, or add one
 * @g: the graph
 * @page: the page
 *
 * Return: the place of the node, or 0 when out of memory.
 */
u32 mmpath_ppg_get(struct mmpath_ppg *g, u64 page)
{
	u32 place = mmpath_ppg_find(g, page), id;

	if (place)
		return place;
	place = ppg_add(g);
	if (!place)
		return 0;
	id = mmpath_index_get(&g->index, page);
	if (!id) {
		g->nr_nodes--;
		return 0;
	}
	mmpath_index_set(&g->index, id, place);
	*ppg_page(g, place) = id;
	return place;
}

/**
 * mmpath_ppg_stack() - add an empty stack
 * @g: the graph
 *
 * Return: the stack, or 0 when out of memory.
 */
u32 mmpath_ppg_stack(struct mmpath_ppg *g)
{
	u32 place = ppg_add(g);

	if (place)
		*mmpath_ppg_link(g, place) = (struct mmpath_ppg_link){ place, place };
	return place;
}

/**
 * mmpath_ppg_page() - return the page of a node
 * @g: the graph
 * @place: place of the node
 *
 * Return: the page.
 */
u64 mmpath_ppg_page(const struct mmpath_ppg *g, u32 place)
{
	return mmpath_index_page(&g->index, *ppg_page(g, place));
}

static void ppg_learn(struct mmpath_ppg *g, u32 place)
{
	u32 window[MMPATH_PPG_WINDOW], edge[MMPATH_PPG_DEGREE] = { };
	u32 *was = ppg_edges(g, place), q, weight;
	unsigned int i, j, nr = 0, nr_edges = 0;
	struct ppg_set near = { };

	q = mmpath_ppg_link(g, place)->newer;
	for (; nr < MMPATH_PPG_WINDOW && *ppg_page(g, q); q = mmpath_ppg_link(g, q)->newer) {
		ppg_set_add(&near, q);
		window[nr++] = q;
	}
	for (i = 0; i < MMPATH_PPG_DEGREE && was[i]; i++) {
		q = ppg_place(was[i]);
		weight = ppg_weight(was[i]);
		weight = ppg_set_has(&near, q) ? min(weight + 1, MMPATH_PPG_MOST) : weight - 1;
		if (!weight)
			continue;
		/* by falling weight, and of equal ones the older edge first */
		for (j = nr_edges++; j && ppg_weight(edge[j - 1]) < weight; j--)
			edge[j] = edge[j - 1];
		edge[j] = ppg_edge(q, weight);
	}
	for (i = 0; i < nr && nr_edges < MMPATH_PPG_DEGREE; i++) {
		for (j = 0; j < nr_edges && ppg_place(edge[j]) != window[i]; j++)
			;
		if (j == nr_edges)
			edge[nr_edges++] = ppg_edge(window[i], 1);
	}
	memcpy(was, edge, sizeof(edge));
}

static void ppg_unlink(struct mmpath_ppg *g, const struct mmpath_ppg_link *link)
{
	mmpath_ppg_link(g, link->newer)->older = link->older;
	mmpath_ppg_link(g, link->older)->newer = link->newer;
}

/**
 * mmpath_ppg_miss() - note that a page was missed
 * @g: the graph
 * @stack: stack of the mapping
 * @place: node of the page
 *
 * Thesis 4.5. Takes constant time.
 */
void mmpath_ppg_miss(struct mmpath_ppg *g, u32 stack, u32 place)
{
	struct mmpath_ppg_link *link = mmpath_ppg_link(g, place);
	struct mmpath_ppg_link *end = mmpath_ppg_link(g, stack);

	if (link->newer) {
		ppg_learn(g, place);
		ppg_unlink(g, link);
	}
	link->newer = stack;
	link->older = end->older;
	mmpath_ppg_link(g, end->older)->newer = place;
	end->older = place;
}

/**
 * mmpath_ppg_walk() - find the pages that are near a page
 * @g: the graph
 * @place: node of the page
 * @found: result: places of nodes, the nearest first
 * @most: number of places that fit, at most MMPATH_FORESEE_MOST
 *
 * Breadth first, to a depth of MMPATH_PPG_DEPTH edges (thesis 4.5).
 *
 * Return: the number of nodes in @found. @place is not among them.
 */
unsigned int mmpath_ppg_walk(const struct mmpath_ppg *g, u32 place, u32 *found,
			     unsigned int most)
{
	unsigned int depth, i, end, from = 0, nr = 0;
	const u32 *edge = ppg_edges(g, place);
	struct ppg_set seen = { };

	ppg_set_add(&seen, place);
	for (depth = 0; depth < MMPATH_PPG_DEPTH; depth++) {
		end = nr;
		do {
			if (depth)
				edge = ppg_edges(g, found[from++]);
			for (i = 0; i < MMPATH_PPG_DEGREE && edge[i]; i++) {
				if (nr == most)
					return nr;
				if (ppg_set_add(&seen, ppg_place(edge[i])))
					found[nr++] = ppg_place(edge[i]);
			}
		} while (from < end);
		if (nr == end)
			break;
	}
	return nr;
}

/**
 * mmpath_ppg_bytes() - return the memory that a graph uses
 * @g: the graph
 *
 * Return: bytes, including all it has allocated.
 */
size_t mmpath_ppg_bytes(const struct mmpath_ppg *g)
{
	return mmpath_index_bytes(&g->index) + mmpath_vec_bytes(&g->pages) +
	       mmpath_vec_bytes(&g->links) + mmpath_vec_bytes(&g->edges);
}
