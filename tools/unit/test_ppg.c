// SPDX-License-Identifier: GPL-2.0
/*
 * ppg.c against a naive graph: stacks are arrays, a node is found by its page, and a set of pages
 * is a loop. Both must have the same edges, weights and walks.
 */
#include <stdlib.h>
#include <string.h>

#include "foresee.h"
#include "lib.h"
#include "test.h"

#define PAGES	400
#define STACKS	5

struct naive_node {
	int stack;			/* on this one, if it was missed */
	unsigned int nr;		/* of edges */
	u32 to[MMPATH_PPG_DEGREE], weight[MMPATH_PPG_DEGREE];
};

struct naive_pages {
	u32 page[PAGES];
	unsigned int nr;
};

struct naive_graph {
	struct naive_node node[PAGES];
	struct naive_pages stack[STACKS];	/* the newest page is last */
};

static bool naive_has(const u32 *page, unsigned int nr, u32 p)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (page[i] == p)
			return true;
	return false;
}

static void naive_edge(struct naive_node *node, u32 to, u32 weight)
{
	unsigned int i;

	for (i = node->nr++; i && node->weight[i - 1] < weight; i--) {
		node->to[i] = node->to[i - 1];
		node->weight[i] = node->weight[i - 1];
	}
	node->to[i] = to;
	node->weight[i] = weight;
}

static void naive_learn(struct naive_node *node, const u32 *window, unsigned int nr)
{
	struct naive_node was = *node;
	unsigned int i;
	u32 weight;

	node->nr = 0;
	for (i = 0; i < was.nr; i++) {
		weight = was.weight[i] - 1;
		if (naive_has(window, nr, was.to[i]))
			weight = min(was.weight[i] + 1, MMPATH_PPG_MOST);
		if (weight)
			naive_edge(node, was.to[i], weight);
	}
	for (i = 0; i < nr && node->nr < MMPATH_PPG_DEGREE; i++)
		if (!naive_has(node->to, node->nr, window[i]))
			naive_edge(node, window[i], 1);
}

static void naive_miss(struct naive_graph *g, int stack, u32 page)
{
	struct naive_node *node = &g->node[page];
	struct naive_pages *s;
	unsigned int at;

	if (node->stack >= 0) {
		s = &g->stack[node->stack];
		for (at = 0; s->page[at] != page; at++)
			;
		s->nr--;
		memmove(s->page + at, s->page + at + 1, (s->nr - at) * sizeof(*s->page));
		naive_learn(node, s->page + at, min(s->nr - at, MMPATH_PPG_WINDOW));
	}
	node->stack = stack;
	s = &g->stack[stack];
	s->page[s->nr++] = page;
}

static unsigned int naive_walk(const struct naive_graph *g, u32 start, u32 *found,
			       unsigned int most)
{
	unsigned int depth[PAGES], i, nr = 0, next = 0, from = 0;
	const struct naive_node *node = &g->node[start];

	for (;;) {
		for (i = 0; from < MMPATH_PPG_DEPTH && i < node->nr && nr < most; i++) {
			if (node->to[i] == start || naive_has(found, nr, node->to[i]))
				continue;
			depth[nr] = from + 1;
			found[nr++] = node->to[i];
		}
		if (next == nr)
			return nr;
		from = depth[next];
		node = &g->node[found[next++]];
	}
}

/* Both of them */
struct pair {
	struct test_mem tm;
	struct mmpath_ppg g;
	u32 stack[STACKS];
	struct naive_graph n;
};

/* Pages of several mappings, far apart */
static u64 name_of(u32 page)
{
	return 0x7f0000000ULL + (page / 64) * 12345678ULL + page % 64;
}

static u32 page_of(const struct pair *p, u32 place)
{
	u64 name = mmpath_ppg_page(&p->g, place);
	u32 page;

	for (page = 0; page < PAGES && name_of(page) != name; page++)
		;
	assert_true(page < PAGES);
	return page;
}

static void pair_init(struct pair *p)
{
	int i;

	memset(p, 0, sizeof(*p));
	test_mem_init(&p->tm);
	mmpath_ppg_init(&p->g, &p->tm.mem);
	for (i = 0; i < PAGES; i++)
		p->n.node[i].stack = -1;
	for (i = 0; i < STACKS; i++) {
		p->stack[i] = mmpath_ppg_stack(&p->g);
		assert_int_not_equal(p->stack[i], 0);
	}
}

static void pair_end(struct pair *p)
{
	mmpath_ppg_destroy(&p->g);
	assert_int_equal(p->tm.mem.bytes, 0);
}

static void check_node(struct pair *p, u32 page)
{
	u32 place = mmpath_ppg_find(&p->g, name_of(page)), found[MMPATH_FORESEE_MOST], edge;
	u32 want[MMPATH_FORESEE_MOST];
	const struct naive_node *n = &p->n.node[page];
	unsigned int i, nr, most;

	if (!place) {
		assert_int_equal(n->stack, -1);
		return;
	}
	assert_int_equal(page_of(p, place), page);
	for (i = 0; i < MMPATH_PPG_DEGREE; i++) {
		edge = mmpath_ppg_edges(&p->g, place)[i];
		if (i >= n->nr) {
			assert_same(edge, 0);
			continue;
		}
		assert_same(page_of(p, edge & MMPATH_PPG_NODES), n->to[i]);
		assert_same(edge >> 29, n->weight[i]);
	}
	for (most = 1; most <= MMPATH_FORESEE_MOST; most = 8 * most) {
		nr = mmpath_ppg_walk(&p->g, place, found, most);
		assert_same(nr, naive_walk(&p->n, page, want, most));
		for (i = 0; i < nr; i++)
			assert_same(page_of(p, found[i]), want[i]);
	}
}

static void pair_miss(struct pair *p, int stack, u32 page)
{
	u32 place = mmpath_ppg_get(&p->g, name_of(page));

	if (!place) {
		assert_int_equal(mmpath_ppg_find(&p->g, name_of(page)), 0);
		return;
	}
	mmpath_ppg_miss(&p->g, p->stack[stack], place);
	naive_miss(&p->n, stack, page);
}

/* A loop through some pages, with more or less of others, on one stack or on any of them */
static void random_misses(struct pair *p, struct rng *rng)
{
	unsigned int first = rng_below(rng, PAGES), length = 1 + rng_below(rng, 150), i;
	u64 noise = rng_below(rng, 5), stacks = rng_below(rng, 3);
	int stack = rng_below(rng, STACKS);
	u32 page;

	for (i = 0; i < 3 * length; i++) {
		page = (first + i % length * 7) % PAGES;
		if (rng_below(rng, 5) < noise)
			page = rng_below(rng, PAGES);
		if (!stacks)
			stack = rng_below(rng, STACKS);
		pair_miss(p, stack, page);
		check_node(p, page);
	}
}

static void test_naive(void **state)
{
	struct rng rng = { 7 };
	struct pair p;
	u32 page;
	int i, k;

	(void)state;
	for (k = 0; k < 10; k++) {
		pair_init(&p);
		for (i = 0; i < 10; i++) {
			/* out of memory now and then; what was there stays */
			p.tm.fail_one_in = k % 2 ? 3 : 0;
			random_misses(&p, &rng);
			for (page = 0; page < PAGES; page++)
				check_node(&p, page);
			assert_int_equal(mmpath_ppg_bytes(&p.g), p.tm.mem.bytes);
		}
		pair_end(&p);
	}
}

static u32 weight_of(struct pair *p, u32 from, u32 to)
{
	const u32 *edge = mmpath_ppg_edges(&p->g, mmpath_ppg_find(&p->g, name_of(from)));
	int i;

	for (i = 0; i < (int)MMPATH_PPG_DEGREE; i++)
		if (edge[i] && page_of(p, edge[i] & MMPATH_PPG_NODES) == to)
			return edge[i] >> 29;
	return 0;
}

/* Weights grow to 7. What does not follow any more is forgotten after as many misses. */
static void test_weights(void **state)
{
	struct pair p;
	u32 i;

	(void)state;
	pair_init(&p);
	for (i = 0; i < 12; i++) {
		pair_miss(&p, 0, 1);
		assert_same(weight_of(&p, 1, 2), min(i, 7U));
		pair_miss(&p, 0, 2);
	}
	pair_miss(&p, 0, 1);
	for (i = 6; i < 7; i--) {
		pair_miss(&p, 0, 3);
		pair_miss(&p, 0, 1);
		assert_same(weight_of(&p, 1, 2), i);
	}
	assert_same(weight_of(&p, 1, 3), 7);
	pair_end(&p);
}

/* Edges of a chain: each page is missed with the next one only. */
static void test_depth(void **state)
{
	struct pair p;
	u32 found[MMPATH_FORESEE_MOST], i;

	(void)state;
	pair_init(&p);
	for (i = 0; i < 6; i++) {
		pair_miss(&p, i % 2, i);
		pair_miss(&p, i % 2, i + 1);
		/* off the stack on which the next page is */
		pair_miss(&p, 2 + i % 2, i);
		pair_miss(&p, 4, i + 1);
	}
	for (i = 0; i < 6; i++)
		assert_same(weight_of(&p, i, i + 1), 1);
	assert_same(mmpath_ppg_walk(&p.g, mmpath_ppg_find(&p.g, name_of(0)), found, 64), 3);
	for (i = 0; i < 3; i++)
		assert_same(page_of(&p, found[i]), i + 1);
	pair_end(&p);
}

/* What is 64 pages away is near, and what is further away is not. */
static void test_window(void **state)
{
	struct pair p;
	u32 i;

	(void)state;
	pair_init(&p);
	for (i = 0; i < 2; i++) {
		pair_miss(&p, 0, 0);
		pair_miss(&p, 0, 1);
	}
	pair_miss(&p, 0, 0);
	assert_same(weight_of(&p, 0, 1), 2);
	for (i = 2; i < 65; i++)
		pair_miss(&p, 0, i);
	pair_miss(&p, 0, 1);
	pair_miss(&p, 0, 0);
	assert_same(weight_of(&p, 0, 1), 3);
	for (i = 2; i < 66; i++)
		pair_miss(&p, 0, i);
	pair_miss(&p, 0, 1);
	pair_miss(&p, 0, 0);
	assert_same(weight_of(&p, 0, 1), 2);
	pair_end(&p);
}

static unsigned int nr_large;

static void *no_large_alloc(struct mmpath_mem *mem, size_t bytes)
{
	(void)mem;
	nr_large += bytes > 4096;
	return bytes > 4096 ? NULL : calloc(1, bytes);
}

/* Memory that is not to be had is not asked for at each page. */
static void test_no_large(void **state)
{
	struct mmpath_ppg g;
	struct test_mem tm;
	u32 most = 0, i;

	test_mem_init(&tm);
	tm.mem.alloc = no_large_alloc;
	mmpath_ppg_init(&g, &tm.mem);
	for (i = 1; i <= 200000; i++)
		most += !!mmpath_ppg_get(&g, i);
	/* the pointers to 512 leaves fit into a page, and so do the edges of 256 nodes */
	assert_same(most, 512 * 256 - 1);
	assert_in_range(nr_large, 1, (200000 - most) / 1000);
	/* a graph that is begun anew asks again */
	mmpath_ppg_destroy(&g);
	assert_same(tm.mem.bytes, 0);
	nr_large = 0;
	for (i = 1; i <= most + 1; i++)
		mmpath_ppg_get(&g, i);
	assert_same(nr_large, 1);
	mmpath_ppg_destroy(&g);
	(void)state;
}

static u64 bytes_of_a_page(u64 apart)
{
	u32 nr = 100000, i;
	struct mmpath_ppg g;
	struct test_mem tm;
	u64 bytes;

	test_mem_init(&tm);
	mmpath_ppg_init(&g, &tm.mem);
	for (i = 0; i < nr; i++)
		assert_true(mmpath_ppg_get(&g, i * apart));
	bytes = mmpath_ppg_bytes(&g) / nr;
	print_message("# one page in %llu: %llu bytes each\n", (unsigned long long)apart,
		      (unsigned long long)bytes);
	mmpath_ppg_destroy(&g);
	return bytes;
}

/* As Documentation/admin-guide/mm/path/prefetch.rst tells it. A page alone needs a chunk. */
static void test_bytes(void **state)
{
	assert_in_range(bytes_of_a_page(1), 28, 36);
	assert_in_range(bytes_of_a_page(8), 60, 80);
	assert_in_range(bytes_of_a_page(128), 500, 580);
	assert_in_range(bytes_of_a_page(5000), 500, 580);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_naive),
		cmocka_unit_test(test_weights),
		cmocka_unit_test(test_depth),
		cmocka_unit_test(test_window),
		cmocka_unit_test(test_no_large),
		cmocka_unit_test(test_bytes),
	};

	cmocka_set_test_filter(getenv("UNIT_FILTER"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
