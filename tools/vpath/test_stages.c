// SPDX-License-Identifier: GPL-2.0
/* The stages of a unit, against naive ones that search lists ordered by time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "stages.h"

#include <cmocka.h>

#define MAX	1024

/* A table as a list of all its entries, each with the time of its last use. */
struct naive {
	uint32_t sets, ways, nr;
	uint64_t now;
	struct { uint64_t page, used, set; uint32_t context, logged_at; } e[MAX];
	uint32_t inserted[MAX];
};

static void naive_init(struct naive *n, uint32_t entries, uint32_t ways)
{
	memset(n, 0, sizeof(*n));
	n->sets = entries ? entries / ways : 0;
	n->ways = ways;
}

static int naive_find(const struct naive *n, uint32_t context, uint64_t page)
{
	uint32_t i;

	for (i = 0; i < n->nr; i++)
		if (n->e[i].page == page && n->e[i].context == context)
			return i;
	return -1;
}

/* Index of the entry; *hit as in vpath_sets_touch() */
static int naive_touch(struct naive *n, uint32_t context, uint64_t page, bool *hit)
{
	uint64_t set = page % n->sets;
	int at = naive_find(n, context, page), oldest = -1;
	uint32_t i, nr = 0;

	*hit = at >= 0;
	if (at < 0) {
		for (i = 0; i < n->nr; i++)
			if (n->e[i].set == set) {
				nr++;
				if (oldest < 0 || n->e[i].used < n->e[oldest].used)
					oldest = i;
			}
		at = nr == n->ways ? oldest : (int)n->nr++;
		n->e[at].page = page;
		n->e[at].context = context;
		n->e[at].set = set;
		n->e[at].logged_at = ++n->inserted[set];
	}
	n->e[at].used = ++n->now;
	return at;
}

static enum vpath_stage naive_stages(struct naive tables[3], uint32_t relog, uint32_t context,
				     uint64_t page)
{
	bool hit;
	int at;

	naive_touch(&tables[0], context, page, &hit);
	if (hit)
		return VPATH_IN_TLB;
	at = naive_touch(&tables[1], context, page, &hit);
	if (hit) {
		uint32_t nr = tables[1].inserted[page % tables[1].sets];

		if (!relog || nr - tables[1].e[at].logged_at < relog)
			return VPATH_IN_PAB;
		tables[1].e[at].logged_at = nr;
		return VPATH_AGAIN;
	}
	if (!tables[2].sets)
		return VPATH_PASSED;
	naive_touch(&tables[2], context, page, &hit);
	return hit ? VPATH_IN_FILTER : VPATH_PASSED;
}

static const struct vpath_geometry geometries[] = {
	{ 16, 4, 128, 4, 8, 0 }, { 16, 16, 128, 128, 8, 3 }, { 1, 1, 128, 1, 0, 1 },
	{ 32, 1, 512, 16, 64, 5 }, { 64, 2, 256, 8, 3, 7 },
};

/* Skewed, so that every stage holds something back; some pages share one set */
static uint64_t next_page(unsigned int *seed)
{
	uint64_t r = rand_r(seed);

	if (r % 5 == 0)
		return 0x10000 + r / 5 % 40 * MAX;
	return r % 3 ? r / 3 % 24 : r / 3 % 2 ? r / 6 % 300 : 0x7ffff0000ULL + r / 6 % 2000;
}

static void test_against_naive(void **state)
{
	static struct naive tables[3];
	struct vpath_stages st;
	unsigned int seed = 7, seen[5] = { 0 }, stage;
	size_t g, i;

	(void)state;
	for (g = 0; g < sizeof(geometries) / sizeof(*geometries); g++) {
		const struct vpath_geometry *geo = &geometries[g];

		assert_int_equal(vpath_stages_init(&st, geo), 0);
		naive_init(&tables[0], geo->tlb_entries, geo->tlb_ways);
		naive_init(&tables[1], geo->pab_entries, geo->pab_ways);
		naive_init(&tables[2], geo->filter_entries, geo->filter_entries);
		for (i = 0; i < 30000; i++) {
			uint32_t context = 1 + i / 700 % 3;
			uint64_t page = next_page(&seed);

			stage = vpath_stages_touch(&st, context, page);
			assert_int_equal(stage, naive_stages(tables, geo->relog, context, page));
			assert_true(vpath_sets_holds(&st.pab, context, page) ==
				    (naive_find(&tables[1], context, page) >= 0));
			seen[stage]++;
		}
		vpath_stages_destroy(&st);
	}
	/* or the comparison was of nothing */
	for (stage = 0; stage < 5; stage++)
		assert_true(seen[stage] > 100);
}

static void test_flush(void **state)
{
	struct vpath_stages st;

	(void)state;
	assert_int_equal(vpath_stages_init(&st, &geometries[0]), 0);
	assert_int_equal(vpath_stages_touch(&st, 1, 5), VPATH_PASSED);
	assert_int_equal(vpath_stages_touch(&st, 1, 5), VPATH_IN_TLB);
	assert_int_equal(vpath_stages_touch(&st, 2, 5), VPATH_PASSED);
	vpath_sets_flush(&st.tlb);
	assert_int_equal(vpath_stages_touch(&st, 1, 5), VPATH_IN_PAB);
	vpath_sets_flush(&st.tlb);
	vpath_sets_flush(&st.pab);
	assert_int_equal(vpath_stages_touch(&st, 1, 5), VPATH_IN_FILTER);
	vpath_stages_flush(&st);
	assert_int_equal(vpath_stages_touch(&st, 1, 5), VPATH_PASSED);
	vpath_stages_destroy(&st);
}

static void test_geometry(void **state)
{
	static const struct vpath_geometry bad[] = {
		{ 0, 1, 128, 1, 0, 0 }, { 16, 0, 128, 1, 0, 0 }, { 16, 32, 128, 1, 0, 0 },
		{ 24, 4, 128, 1, 0, 0 }, { 8192, 4, 128, 1, 0, 0 }, { 16, 3, 128, 1, 0, 0 },
		{ 16, 4, 64, 1, 0, 0 }, { 16, 4, 128, 0, 0, 0 }, { 16, 4, 128, 256, 0, 0 },
		{ 16, 4, 65536, 4, 0, 0 }, { 16, 4, 192, 4, 0, 0 }, { 16, 4, 128, 6, 0, 0 },
		{ 16, 4, 128, 4, 1025, 0 },
		{ UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, 0 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(geometries) / sizeof(*geometries); i++)
		assert_true(vpath_geometry_good(&geometries[i], 4096, 32768, 1024));
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		if (vpath_geometry_good(&bad[i], 4096, 32768, 1024))
			fail_msg("bad geometry %zu is taken", i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_against_naive),
		cmocka_unit_test(test_flush),
		cmocka_unit_test(test_geometry),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
