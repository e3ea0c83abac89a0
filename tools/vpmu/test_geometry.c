// SPDX-License-Identifier: GPL-2.0
/* Geometries from text: names, options, and what is wrong with a wrong one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "machine.h"

#include <cmocka.h>

static struct vpmu_geometry good(const char *text)
{
	struct vpmu_geometry g;
	char *error;

	if (vpmu_geometry_parse(text, &g, &error))
		fail_msg("%s: %s", text, error);
	assert_null(error);
	return g;
}

static void test_thesis(void **state)
{
	struct vpmu_geometry g = good("");

	(void)state;
	assert_int_equal(g.cpus, 8);
	assert_int_equal(g.chips, 2);
	assert_int_equal(g.l1d.bytes, 64 << 10);
	assert_int_equal(g.l1d.ways, 4);
	assert_int_equal(g.l1i.bytes, 64 << 10);
	assert_int_equal(g.l1i.ways, 4);
	assert_int_equal(g.l2.bytes, 2 << 20);
	assert_int_equal(g.l2.ways, 10);
	assert_int_equal(g.l3.bytes, 36 << 20);
	assert_int_equal(g.l3.ways, 12);
	assert_int_equal(g.memory, 8ULL << 30);
	assert_int_equal(g.tlb_entries, 1024);
	assert_int_equal(g.counters, 6);
	assert_int_equal(g.latency[VPMU_LOCAL_L2], 14);
	assert_int_equal(g.latency[VPMU_LOCAL_L3], 91);
	assert_int_equal(g.latency[VPMU_LOCAL_MEMORY], 280);
	assert_int_equal(g.latency[VPMU_REMOTE_L2], 120);
	assert_int_equal(g.latency[VPMU_REMOTE_L3], 205);
	assert_int_equal(g.latency[VPMU_REMOTE_MEMORY], 307);
}

static void test_names(void **state)
{
	struct vpmu_geometry none = good(""), named = good("openpower720");

	(void)state;
	assert_memory_equal(&none, &named, sizeof(none));
	assert_int_equal(good("2chip").chips, 2);
	assert_int_equal(good("8chip").chips, 8);
	assert_int_equal(good("8chip").cpus, 16);
}

static void test_options(void **state)
{
	struct vpmu_geometry g = good("2chip,l2=512K,cpus=6,remote-l2=77,prefetch=context,"
				      "l2-of=core,memory=3G,nodes=1024M/3G,counters=4");

	(void)state;
	assert_int_equal(g.chips, 2);
	assert_int_equal(g.l2.bytes, 512 << 10);
	assert_int_equal(g.cpus, 6);
	assert_int_equal(g.latency[VPMU_REMOTE_L2], 77);
	assert_int_equal(g.latency[VPMU_LOCAL_L2], 14);
	assert_int_equal(g.prefetch, VPMU_PREFETCH_CONTEXT);
	assert_int_equal(g.l2_of_core, 1);
	assert_int_equal(g.memory, 3ULL << 30);
	assert_int_equal(g.node_end[0], 1ULL << 30);
	assert_int_equal(g.node_end[1], 3ULL << 30);
	assert_int_equal(g.counters, 4);
	assert_int_equal(good("line=256").line, 256);
	assert_int_equal(good("").model, OOO_OFF);
	assert_int_equal(good("model=ooo").model, OOO_REAL);
	assert_int_equal(good("model=ooo-single").model, OOO_SINGLE);
	g = good("model=ooo-in-order,queue=3,store-buffer=4,br-miss=5,line=256");
	assert_int_equal(g.model, OOO_INORDER);
	assert_int_equal(g.core.queue, 3);
	assert_int_equal(g.core.stores, 4);
	assert_int_equal(g.core.br_miss, 5);
	assert_int_equal(g.core.line, 256);
}

/* A text, and a part of what is said about it */
static const struct {
	const char *text, *error;
} wrong[] = {
	{ "3chip", "3chip: openpower720, 2chip or 8chip" },
	{ "cpus=4,2chip", "2chip: openpower720" },
	{ "2chip,", ": openpower720" },
	{ "2chip,size=3", "size: no such option" },
	{ "l2=", "l2=: not a number" },
	{ "l2=x", "l2=x: not a number" },
	{ "l2=1Mi", "l2=1Mi: not a number" },
	{ "l2=-1", "l2=-1: not a number" },
	{ "l2=99999999999999999999", "not a number" },
	{ "l2=99999999999G", "not a number" },
	{ "l2=2G", "l2=2G: not in 32 .. 1073741824" },
	{ "cpus=0", "cpus=0: not in 1 .. 32" },
	{ "cpus=33", "not in" },
	{ "chips=9", "not in" },
	{ "cpus=7", "7 CPUs cannot be divided among 2 chips" },
	{ "line=96", "line=96: not a power of two" },
	{ "l1d=48K", "the sets of an L1" },
	{ "l1i-ways=3", "the sets of an L1" },
	{ "l1d=128,l1d-ways=4", "the sets of an L1" },
	{ "l2=1K", "larger than the cache" },
	{ "l3=128,l3-ways=2", "larger than the cache" },
	{ "tlb=24", "the sets of the TLB" },
	{ "tlb=64,tlb-ways=3", "the sets of the TLB" },
	{ "predictor=100", "predictor=100: not a power of two" },
	{ "prefetch=on", "prefetch=on: no such choice" },
	{ "l2-of=0", "l2-of=0: no such choice" },
	{ "remote-memory=200", "remote memory is nearer" },
	{ "local-l2=0", "not in" },
	{ "counters=3", "counters=3: not in 4 .. 6" },
	{ "model=out", "model=out: no such choice" },
	{ "bundle=2", "bundle=2: not in 3 .. 7" },
	{ "rename=6", "not in" },
	{ "load-buffer=1", "not in" },
	{ "store-buffer=1", "not in" },
	{ "reorder=0", "not in" },
	{ "queue=0", "not in" },
	{ "nodes=1G", "nodes: 2 ends" },
	{ "nodes=1G/2G", "nodes: 2 ends" },
	{ "nodes=8G/8G", "nodes: 2 ends" },
	{ "nodes=8G/1G", "nodes: 2 ends" },
	{ "nodes=4G/8G/9G", "nodes: 2 ends" },
	{ "nodes=1000/8G", "nodes: 2 ends" },
	{ "nodes=1G//8G", "nodes=1G//8G: up to 8 ends" },
	{ "nodes=1/2/3/4/5/6/7/8/9", "up to 8 ends" },
};

static void test_wrong(void **state)
{
	struct vpmu_geometry g;
	char *error;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		if (!vpmu_geometry_parse(wrong[i].text, &g, &error))
			fail_msg("%s is taken", wrong[i].text);
		if (!error || !strstr(error, wrong[i].error))
			fail_msg("%s: %s", wrong[i].text, error);
		free(error);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_thesis),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_options),
		cmocka_unit_test(test_wrong),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
