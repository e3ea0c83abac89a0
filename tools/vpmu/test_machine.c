// SPDX-License-Identifier: GPL-2.0
/*
 * A microbenchmark for each event, with the count that it must give (ICS'05 6.1).
 *
 * Machine "2chip": CPUs 0 and 1 on chip 0, CPUs 2 and 3 on chip 1, lines of 64 bytes, L1s of
 * 512 lines in 64 sets, L2s of 16384, L3s of 131072 lines. Virtual addresses are physical
 * ones here unless said otherwise.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "machine.h"

#include <cmocka.h>

#define LINE	64ULL
#define PAGE	4096ULL
#define L1	512
#define L2	16384
#define L3	131072
#define TLB	20		/* what the first access to a page costs */
#define NODE1	(64ULL << 20)	/* memory of 128 MiB in equal parts */

static struct vpmu_machine *m;

static void machine(const char *text)
{
	struct vpmu_geometry g;
	char *error;

	if (vpmu_geometry_parse(text, &g, &error))
		fail_msg("%s: %s", text, error);
	m = vpmu_machine_new(&g);
	assert_non_null(m);
}

static int new_machine(void **state)
{
	(void)state;
	machine("2chip,memory=128M");
	return 0;
}

static int free_machine(void **state)
{
	(void)state;
	vpmu_machine_free(m);
	m = NULL;
	return 0;
}

static unsigned int mapped(unsigned int cpu, uint64_t vaddr, uint64_t paddr, unsigned int size,
			   bool store, struct vpmu_miss *miss)
{
	*miss = (struct vpmu_miss){ .source = VPMU_NO_SOURCE };
	if (vpmu_hit_l1(m, cpu, vaddr, size, store))
		return 0;
	return vpmu_access(m, cpu, vaddr, paddr, size, store, miss);
}

static unsigned int load(unsigned int cpu, uint64_t addr)
{
	struct vpmu_miss miss;

	return mapped(cpu, addr, addr, 8, false, &miss);
}

static unsigned int store(unsigned int cpu, uint64_t addr)
{
	struct vpmu_miss miss;

	return mapped(cpu, addr, addr, 8, true, &miss);
}

static void load_all(unsigned int cpu, uint64_t addr, unsigned int lines)
{
	unsigned int i;

	for (i = 0; i < lines; i++)
		load(cpu, addr + i * LINE);
}

static void store_all(unsigned int cpu, uint64_t addr, unsigned int lines)
{
	unsigned int i;

	for (i = 0; i < lines; i++)
		store(cpu, addr + i * LINE);
}

static uint64_t seen(unsigned int cpu, unsigned int event)
{
	return vpmu_total(m, cpu, event);
}

#define assert_seen(cpu, event, n) assert_int_equal(seen(cpu, event), n)

/* Each cycle has one cause, and each miss one source, in each mode of each CPU. */
static void assert_sums(void)
{
	unsigned int i, k, e;

	for (i = 0; i < m->g.cpus; i++)
		for (k = 0; k < 2; k++) {
			const uint64_t *n = m->cpu[i].count[k];
			uint64_t stalls = 0, d = 0, c = 0, stall_d = 0;

			for (e = VPMU_STALL_D; e <= VPMU_STALL_OTHER; e++)
				stalls += n[e];
			for (e = 0; e < VPMU_SOURCES; e++) {
				d += n[VPMU_D_SRC + e];
				c += n[VPMU_I_SRC + e];
				stall_d += n[VPMU_STALL_D_SRC + e];
			}
			assert_int_equal(n[VPMU_CYCLES], n[VPMU_INSNS] + stalls);
			assert_int_equal(n[VPMU_L1D_MISS], d);
			assert_int_equal(n[VPMU_L1I_MISS], c);
			assert_int_equal(n[VPMU_STALL_D], stall_d);
		}
}

/* ---- caches ------------------------------------------------------------------ */

static void test_hits(void **state)
{
	unsigned int i;

	(void)state;
	/* 8 ways, and the set's lines lie one page apart: all stay */
	for (i = 0; i < 80; i++)
		load(0, i % 8 * PAGE);
	for (i = 0; i < 20; i++)
		store(0, i % 8 * PAGE + 8);
	assert_seen(0, VPMU_LOADS, 80);
	assert_seen(0, VPMU_STORES, 20);
	assert_seen(0, VPMU_L1D_MISS, 8);
	assert_seen(0, VPMU_UPGRADE_LOCAL, 0);
	/* a ninth does not: in a circle LRU misses them all */
	for (i = 0; i < 90; i++)
		load(0, i % 9 * PAGE);
	assert_seen(0, VPMU_L1D_MISS, 8 + 82);
	assert_sums();
}

static void test_stride_over_l1d(void **state)
{
	unsigned int round;

	(void)state;
	for (round = 0; round < 4; round++)
		load_all(0, 0, 2 * L1);
	assert_seen(0, VPMU_L1D_MISS, 4 * 2 * L1);
	assert_seen(0, VPMU_D_SRC + VPMU_LOCAL_MEMORY, 2 * L1);
	assert_seen(0, VPMU_D_SRC + VPMU_LOCAL_L2, 3 * 2 * L1);
	assert_seen(0, VPMU_STALL_D_SRC + VPMU_LOCAL_L2, 3 * 2 * L1 * 14);
	assert_seen(0, VPMU_STALL_D, 2 * L1 * (280 + 3 * 14));
	assert_sums();
}

static void test_stride_over_l2(void **state)
{
	unsigned int round;

	(void)state;
	for (round = 0; round < 3; round++)
		load_all(0, 0, 2 * L2);
	assert_seen(0, VPMU_D_SRC + VPMU_LOCAL_MEMORY, 2 * L2);
	assert_seen(0, VPMU_D_SRC + VPMU_LOCAL_L3, 2 * 2 * L2);
	assert_seen(0, VPMU_D_SRC + VPMU_LOCAL_L2, 0);
	assert_seen(0, VPMU_WRITEBACK, 0);
	assert_sums();
}

static void test_nodes(void **state)
{
	(void)state;
	load_all(0, 0, 10);
	load_all(0, NODE1, 7);
	load_all(0, NODE1 - 2 * LINE, 2);
	load_all(3, NODE1 + PAGE, 5);
	load_all(3, PAGE, 3);
	assert_seen(0, VPMU_D_SRC + VPMU_LOCAL_MEMORY, 12);
	assert_seen(0, VPMU_D_SRC + VPMU_REMOTE_MEMORY, 7);
	assert_seen(0, VPMU_STALL_D_SRC + VPMU_REMOTE_MEMORY, 7 * 307);
	assert_seen(3, VPMU_D_SRC + VPMU_LOCAL_MEMORY, 5);
	assert_seen(3, VPMU_D_SRC + VPMU_REMOTE_MEMORY, 3);
	assert_sums();
}

static void test_node_ends(void **state)
{
	(void)state;
	free_machine(NULL);
	machine("2chip,memory=3M,nodes=1M/3M");
	load(0, (1 << 20) - LINE);
	load(0, 1 << 20);
	load(2, (3 << 20) - LINE);
	assert_seen(0, VPMU_D_SRC + VPMU_LOCAL_MEMORY, 1);
	assert_seen(0, VPMU_D_SRC + VPMU_REMOTE_MEMORY, 1);
	assert_seen(2, VPMU_D_SRC + VPMU_LOCAL_MEMORY, 1);
}

static void test_remote_l3(void **state)
{
	(void)state;
	load_all(2, NODE1, 2 * L2);		/* the first half is in chip 1's L3 now */
	load_all(0, NODE1, 100);
	load_all(0, NODE1 + L2 * LINE, 10);
	assert_seen(0, VPMU_D_SRC + VPMU_REMOTE_L3, 100);
	assert_seen(0, VPMU_D_SRC + VPMU_REMOTE_L2, 10);
	assert_seen(0, VPMU_STALL_D, 100 * 205 + 10 * 120);
	assert_sums();
}

static void test_writeback(void **state)
{
	unsigned int extra = 1000;

	(void)state;
	store_all(0, 0, L2 + L3);
	assert_seen(0, VPMU_WRITEBACK, 0);
	store_all(0, (L2 + L3) * LINE, extra);
	assert_seen(0, VPMU_WRITEBACK, extra);
	/* what was only read is not written */
	load_all(0, NODE1, L2 + L3);
	assert_seen(0, VPMU_WRITEBACK, L2 + L3 + extra);
	load_all(0, 0, extra);
	assert_seen(0, VPMU_WRITEBACK, L2 + L3 + extra);
	assert_sums();
}

/* What leaves L2 leaves the L1s above it, used or not. */
static void test_inclusion(void **state)
{
	unsigned int i;

	(void)state;
	load(0, 0);
	for (i = 1; i <= 16; i++) {		/* one set of L2, 16 ways */
		load(0, 0);
		load(1, i * (L2 / 16) * LINE);
	}
	assert_seen(0, VPMU_L1D_MISS, 1);
	assert_int_equal(load(0, 0), 91);
	assert_seen(0, VPMU_INVALIDATED, 0);
}

static void test_l2_of_core(void **state)
{
	(void)state;
	free_machine(NULL);
	machine("2chip,memory=128M,l2-of=core");
	load(0, 0);
	assert_int_equal(load(1, 0), TLB + 91);	/* a neighbour's L2 is as far as L3 */
	assert_int_equal(store(1, 0), 14);	/* no other chip has it */
	assert_seen(1, VPMU_UPGRADE_LOCAL, 1);
	assert_seen(0, VPMU_INVALIDATED, 1);
	assert_int_equal(load(2, 0), TLB + 120);
	assert_int_equal(store(1, 0), 120);
	assert_seen(1, VPMU_UPGRADE_REMOTE, 1);
	assert_sums();
}

static void test_above_memory(void **state)
{
	struct vpmu_miss miss;
	unsigned int i;

	(void)state;
	for (i = 0; i < 10; i++)
		mapped(0, 0x1000, 2 * NODE1 + 0x1000, 4, i & 1, &miss);
	assert_int_equal(miss.source, VPMU_NO_SOURCE);
	assert_seen(0, VPMU_LOADS, 5);
	assert_seen(0, VPMU_STORES, 5);
	assert_seen(0, VPMU_L1D_MISS, 0);
	assert_seen(0, VPMU_STALL_D, 0);
}

/* ---- sharing ----------------------------------------------------------------- */

static void test_false_sharing_two_chips(void **state)
{
	unsigned int i, n = 100;

	(void)state;
	for (i = 0; i < n; i++) {
		store(0, 0);
		store(2, 8);
	}
	/* but for the first access of all, each takes the line from the other chip's L2 */
	assert_seen(0, VPMU_D_SRC + VPMU_LOCAL_MEMORY, 1);
	assert_seen(0, VPMU_D_SRC + VPMU_REMOTE_L2, n - 1);
	assert_seen(2, VPMU_D_SRC + VPMU_REMOTE_L2, n);
	assert_seen(2, VPMU_STALL_D_SRC + VPMU_REMOTE_L2, n * 120);
	assert_seen(0, VPMU_INVALIDATED, n);
	assert_seen(2, VPMU_INVALIDATED, n - 1);
	assert_seen(0, VPMU_UPGRADE_REMOTE, 0);
	assert_seen(2, VPMU_STALL_LSU, 0);
	assert_seen(0, VPMU_WRITEBACK, 0);
	assert_sums();
}

static void test_false_sharing_one_chip(void **state)
{
	unsigned int i, n = 100;

	(void)state;
	for (i = 0; i < n; i++) {
		store(0, 0);
		store(1, 8);
	}
	assert_seen(0, VPMU_D_SRC + VPMU_LOCAL_L2, n - 1);
	assert_seen(1, VPMU_D_SRC + VPMU_LOCAL_L2, n);
	assert_seen(1, VPMU_STALL_D, n * 14);
	assert_seen(0, VPMU_INVALIDATED, n);
	assert_seen(1, VPMU_INVALIDATED, n - 1);
	assert_sums();
}

/* Load then store, in turns: the load brings a copy, the store has to ask the other chip. */
static void test_upgrade_remote(void **state)
{
	unsigned int i, n = 50;

	(void)state;
	for (i = 0; i < n; i++) {
		load(0, 0);
		store(0, 0);
		load(2, 0);
		store(2, 0);
	}
	/* the very first store finds its line exclusive */
	assert_seen(0, VPMU_UPGRADE_REMOTE, n - 1);
	assert_seen(2, VPMU_UPGRADE_REMOTE, n);
	assert_seen(2, VPMU_STALL_LSU, n * 120);
	assert_seen(2, VPMU_D_SRC + VPMU_REMOTE_L2, n);
	/* each load makes the other chip write the line back */
	assert_seen(2, VPMU_WRITEBACK, n);
	assert_seen(0, VPMU_WRITEBACK, n - 1);
	assert_seen(0, VPMU_UPGRADE_LOCAL, 0);
	assert_sums();
}

static void test_upgrade_local(void **state)
{
	(void)state;
	load(0, 0);
	load(1, 0);
	assert_int_equal(store(0, 0), 14);
	assert_seen(0, VPMU_UPGRADE_LOCAL, 1);
	assert_seen(0, VPMU_STALL_LSU, 14);
	assert_seen(1, VPMU_INVALIDATED, 1);
	assert_int_equal(store(0, 0), 0);
	assert_int_equal(load(1, 0), 14);
	assert_seen(1, VPMU_WRITEBACK, 0);	/* the chip's L2 has it now, memory not yet */
	/* nobody else has it any more, but the L1D does not know */
	assert_int_equal(store(1, 0), 14);
	assert_seen(1, VPMU_UPGRADE_LOCAL, 1);
	assert_sums();
}

/* A store that misses L1D and finds on its chip what other chips have as well */
static void test_store_to_shared(void **state)
{
	(void)state;
	load(0, 0);
	load(2, 0);
	assert_int_equal(store(1, 0), TLB + 14 + 120);
	assert_seen(1, VPMU_D_SRC + VPMU_LOCAL_L2, 1);
	assert_seen(1, VPMU_UPGRADE_REMOTE, 1);
	assert_seen(1, VPMU_STALL_D, 14);
	assert_seen(1, VPMU_STALL_LSU, 120);
	assert_seen(0, VPMU_INVALIDATED, 1);
	assert_seen(2, VPMU_INVALIDATED, 1);
	assert_int_equal(load(0, 0), 14);
	assert_int_equal(load(2, 0), 120);
	assert_sums();
}

static void test_exclusive(void **state)
{
	(void)state;
	load(0, 0);
	assert_int_equal(store(0, 0), 0);
	load(0, PAGE);
	load(1, PAGE);
	load(0, 2 * PAGE);
	load(3, 2 * PAGE);
	assert_int_equal(store(0, PAGE), 14);
	assert_int_equal(store(3, 2 * PAGE), 120);
}

static void test_producer_consumers(void **state)
{
	unsigned int i, n = 40;

	(void)state;
	for (i = 0; i < n; i++) {
		store(0, 0);
		load(1, 0);
		load(2, 0);
		load(3, 0);
	}
	assert_seen(0, VPMU_UPGRADE_REMOTE, n - 1);
	assert_seen(1, VPMU_D_SRC + VPMU_LOCAL_L2, n);
	assert_seen(2, VPMU_D_SRC + VPMU_REMOTE_L2, n);
	assert_seen(3, VPMU_D_SRC + VPMU_LOCAL_L2, n);
	assert_seen(3, VPMU_INVALIDATED, n - 1);
	assert_sums();
}

/* ---- accesses to two lines and pages ------------------------------------------ */

static void test_split(void **state)
{
	struct vpmu_miss miss;

	(void)state;
	load(0, 0);
	assert_int_equal(mapped(0, LINE - 4, LINE - 4, 8, false, &miss), 280 + 4);
	assert_int_equal(miss.source, VPMU_LOCAL_MEMORY);
	assert_int_equal(miss.latency, 284);
	assert_int_equal(mapped(0, LINE - 4, LINE - 4, 8, true, &miss), 4);
	assert_int_equal(miss.source, VPMU_NO_SOURCE);
	assert_int_equal(mapped(0, LINE - 4, LINE - 4, 4, true, &miss), 0);
	assert_seen(0, VPMU_LOADS, 2);
	assert_seen(0, VPMU_STORES, 2);
	assert_seen(0, VPMU_L1D_MISS, 2);
	assert_seen(0, VPMU_STALL_LSU, 8);
	/* the slower half is named */
	store(2, 2 * PAGE);
	assert_int_equal(mapped(0, 2 * PAGE - 64 * LINE - 4, 2 * PAGE - 64 * LINE - 4, 4, false,
				&miss), 280);
	mapped(0, 2 * PAGE + LINE - 4, 2 * PAGE + LINE - 4, 8, false, &miss);
	assert_int_equal(miss.source, VPMU_LOCAL_MEMORY);
	assert_int_equal(miss.latency, TLB + 120 + 280 + 4);
	store(2, 2 * PAGE + 10 * LINE);
	mapped(0, 2 * PAGE + 10 * LINE - 4, 2 * PAGE + 10 * LINE - 4, 8, false, &miss);
	assert_int_equal(miss.source, VPMU_LOCAL_MEMORY);
	assert_int_equal(miss.latency, 280 + 120 + 4);
	assert_sums();
}

static void test_split_page(void **state)
{
	struct vpmu_miss miss;
	uint64_t first = 0x10000, second = 0x77000;

	(void)state;
	vpmu_access(m, 0, PAGE - 4, first + PAGE - 4, 4, VPMU_STORE, &miss);
	vpmu_access(m, 0, PAGE, second, 4, VPMU_STORE | VPMU_REST, &miss);
	assert_int_equal(miss.latency, TLB + 280 + 4);
	assert_seen(0, VPMU_STORES, 1);
	assert_seen(0, VPMU_DTLB_MISS, 2);
	assert_seen(0, VPMU_L1D_MISS, 2);
	assert_true(vpmu_hit_l1(m, 0, PAGE, 4, true));
	assert_false(vpmu_hit_l1(m, 0, PAGE - 4, 8, true));
	assert_sums();
}

/* ---- TLB ---------------------------------------------------------------------- */

static void test_tlb(void **state)
{
	unsigned int i, round;

	(void)state;
	for (round = 0; round < 3; round++)	/* 1024 entries: all fit */
		for (i = 0; i < 1024; i++)
			load(0, i * PAGE);
	assert_seen(0, VPMU_DTLB_MISS, 1024);
	for (round = 0; round < 3; round++)	/* twice as many: in a circle LRU misses all */
		for (i = 0; i < 2048; i++)
			load(1, i * PAGE);
	assert_seen(1, VPMU_DTLB_MISS, 3 * 2048);
	assert_seen(1, VPMU_STALL_TLB, 3 * 2048 * TLB);
	assert_sums();
}

static void test_flush(void **state)
{
	struct vpmu_miss miss;

	(void)state;
	mapped(0, 0x1000, 0x40000, 8, false, &miss);
	mapped(0, 0x2000, 0x50000, 8, false, &miss);
	assert_true(vpmu_hit_l1(m, 0, 0x1000, 8, false));
	assert_true(vpmu_hit_l1(m, 0, 0x2000, 8, false));
	/* one page, and it means another frame now */
	vpmu_flush_virtual(m, 0, 0x1fff);
	assert_false(vpmu_hit_l1(m, 0, 0x1000, 8, false));
	assert_true(vpmu_hit_l1(m, 0, 0x2000, 8, false));
	assert_int_equal(mapped(0, 0x1000, 0x60000, 8, false, &miss), TLB + 280);
	/* the lines stay: only translations go */
	vpmu_flush_virtual(m, 0, VPMU_ALL_PAGES);
	assert_false(vpmu_hit_l1(m, 0, 0x1000, 8, false));
	assert_false(vpmu_hit_l1(m, 0, 0x2000, 8, false));
	assert_int_equal(mapped(0, 0x2000, 0x50000, 8, false, &miss), TLB);
	assert_int_equal(mapped(0, 0x1000, 0x40000, 8, false, &miss), TLB);
	assert_seen(0, VPMU_STALL_OTHER, 2 * 20);
	assert_seen(0, VPMU_L1D_MISS, 3);
	assert_sums();
}

/* Two names of a line, and a line of which another CPU takes the physical one */
static void test_aliases(void **state)
{
	struct vpmu_miss miss;

	(void)state;
	mapped(0, 0x1000, 0x40000, 8, true, &miss);
	assert_int_equal(mapped(0, 0x9000, 0x40000, 8, true, &miss), TLB);
	assert_seen(0, VPMU_L1D_MISS, 1);
	mapped(2, 0x5000, 0x40000, 8, true, &miss);
	assert_false(vpmu_hit_l1(m, 0, 0x1000, 8, false));
	assert_false(vpmu_hit_l1(m, 0, 0x9000, 8, false));
	assert_int_equal(mapped(0, 0x9000, 0x40000, 8, false, &miss), 120);
	assert_true(vpmu_hit_l1(m, 0, 0x1000, 8, false));
	assert_false(vpmu_hit_l1(m, 0, 0x1000, 8, true));
}

/* ---- instructions --------------------------------------------------------------- */

static struct vpmu_block block_at(uint64_t addr, unsigned int insns)
{
	return (struct vpmu_block){ .vaddr = addr, .end = addr + insns, .code = { addr },
				    .lines = 1, .insns = insns };
}

static void test_latencies(void **state)
{
	struct vpmu_block block = block_at(0, 10);
	unsigned int i;

	(void)state;
	block.iu = 3;
	block.fpu = 18;
	block.lsu = 2;
	for (i = 0; i < 5; i++)
		vpmu_execute(m, 0, &block);
	vpmu_stall(m, 0, VPMU_STALL_OTHER, 7);
	assert_seen(0, VPMU_INSNS, 50);
	assert_seen(0, VPMU_STALL_IU, 15);
	assert_seen(0, VPMU_STALL_FPU, 90);
	assert_seen(0, VPMU_STALL_LSU, 10);
	assert_seen(0, VPMU_STALL_OTHER, 7);
	assert_seen(0, VPMU_STALL_I, 280);
	assert_int_equal(vpmu_cycles(m, 0), 50 + 15 + 90 + 10 + 7 + 280);
	assert_sums();
}

static void test_code_over_l1i(void **state)
{
	unsigned int i, round;

	(void)state;
	for (round = 0; round < 3; round++)
		for (i = 0; i < 2 * L1; i++) {
			struct vpmu_block block = block_at(i * LINE, 8);

			vpmu_execute(m, 0, &block);
			vpmu_execute(m, 0, &block);
		}
	assert_seen(0, VPMU_L1I_MISS, 3 * 2 * L1);
	assert_seen(0, VPMU_I_SRC + VPMU_LOCAL_MEMORY, 2 * L1);
	assert_seen(0, VPMU_I_SRC + VPMU_LOCAL_L2, 2 * 2 * L1);
	assert_seen(0, VPMU_STALL_I, 2 * L1 * (280 + 2 * 14));
	assert_seen(0, VPMU_L1D_MISS, 0);
	assert_sums();
}

static void test_block_of_three_lines(void **state)
{
	struct vpmu_block block = block_at(0, 40);

	(void)state;
	block.lines = 3;
	block.code[1] = LINE;
	block.code[2] = 5 * PAGE;
	vpmu_execute(m, 0, &block);
	vpmu_execute(m, 0, &block);
	vpmu_execute(m, 3, &block);
	assert_seen(0, VPMU_L1I_MISS, 3);
	assert_seen(3, VPMU_I_SRC + VPMU_REMOTE_L2, 3);
	assert_sums();
}

/* Code that is written where it runs */
static void test_written_code(void **state)
{
	struct vpmu_block block = block_at(0, 4);

	(void)state;
	vpmu_execute(m, 0, &block);
	assert_int_equal(load(0, 0), TLB + 14);
	assert_int_equal(store(0, 0), 14);	/* L1I has a copy */
	assert_seen(0, VPMU_INVALIDATED, 1);
	vpmu_execute(m, 0, &block);
	assert_seen(0, VPMU_I_SRC + VPMU_LOCAL_L2, 1);
	assert_int_equal(store(0, 0), 14);
	vpmu_execute(m, 2, &block);
	vpmu_execute(m, 2, &block);
	assert_seen(2, VPMU_I_SRC + VPMU_REMOTE_L2, 1);
	assert_seen(2, VPMU_WRITEBACK, 1);
	assert_int_equal(store(0, 0), 120);
	assert_seen(2, VPMU_INVALIDATED, 1);
	vpmu_execute(m, 2, &block);
	assert_seen(2, VPMU_I_SRC + VPMU_REMOTE_L2, 2);
	assert_sums();
}

static void test_branches(void **state)
{
	unsigned int i;

	(void)state;
	/* never taken: predicted from the start. Always: two misses to learn it */
	for (i = 0; i < 100; i++)
		vpmu_branch(m, 0, 16, false);
	assert_seen(0, VPMU_BR_MISS, 0);
	for (i = 0; i < 100; i++)
		vpmu_branch(m, 0, 17, true);
	assert_seen(0, VPMU_BR_MISS, 2);
	/* in turns, taken first: each one that is taken is a miss, for the counter never gets to 2 */
	for (i = 0; i < 100; i++)
		vpmu_branch(m, 1, 16, !(i & 1));
	assert_seen(1, VPMU_BR_MISS, 50);
	assert_seen(1, VPMU_BRANCH, 100);
	assert_seen(1, VPMU_STALL_BR, 50 * 12);
	/* a loop of ten: two misses to learn it, and one at the end of each round */
	for (i = 0; i < 100; i++)
		vpmu_branch(m, 2, 16, i % 10 != 9);
	assert_seen(2, VPMU_BR_MISS, 2 + 10);
	assert_sums();
}

static void test_branch_of_blocks(void **state)
{
	struct vpmu_block loop = block_at(0, 4), after = block_at(4, 4);
	unsigned int i;

	(void)state;
	loop.conditional = true;
	for (i = 0; i < 30; i++)
		vpmu_execute(m, 0, &loop);
	vpmu_execute(m, 0, &after);
	vpmu_execute(m, 0, &after);
	/* 29 taken, of which two are misses; the last one falls through, a miss */
	assert_seen(0, VPMU_BRANCH, 30);
	assert_seen(0, VPMU_BR_MISS, 3);
	/* an interrupt behind a branch hides its way */
	vpmu_execute(m, 0, &loop);
	vpmu_mode(m, 0, true);
	vpmu_execute(m, 0, &after);
	vpmu_mode(m, 0, false);
	vpmu_execute(m, 0, &after);
	assert_seen(0, VPMU_BRANCH, 30);
	assert_sums();
}

static void test_modes(void **state)
{
	struct vpmu_block block = block_at(0, 4);

	(void)state;
	vpmu_execute(m, 0, &block);
	load(0, PAGE);
	vpmu_mode(m, 0, true);
	vpmu_execute(m, 0, &block);
	vpmu_execute(m, 0, &block);
	store(0, PAGE);
	store(2, PAGE);
	assert_int_equal(m->cpu[0].count[0][VPMU_INSNS], 4);
	assert_int_equal(m->cpu[0].count[1][VPMU_INSNS], 8);
	assert_int_equal(m->cpu[0].count[0][VPMU_LOADS], 1);
	assert_int_equal(m->cpu[0].count[1][VPMU_STORES], 1);
	assert_int_equal(m->cpu[0].count[1][VPMU_INVALIDATED], 1);
	assert_int_equal(m->cpu[0].count[0][VPMU_CYCLES], 4 + 280 + TLB + 280);
	assert_int_equal(m->cpu[0].count[1][VPMU_CYCLES], 8);
	assert_sums();
}

/* ---- memory controller ------------------------------------------------------------ */

static void test_prefetch(void **state)
{
	unsigned int i, n = 1000;

	(void)state;
	load_all(0, 0, n);
	assert_seen(0, VPMU_PREFETCHED, 0);
	free_machine(NULL);

	machine("2chip,memory=128M,prefetch=plain");
	load_all(0, 0, n);
	/* begins at the third request, and is one ahead at the end */
	assert_seen(0, VPMU_PREFETCHED, n - 2);
	assert_seen(0, VPMU_PREFETCH_USED, n - 3);
	assert_seen(0, VPMU_D_SRC + VPMU_LOCAL_MEMORY, n);
	assert_seen(0, VPMU_STALL_D, 3 * 280 + (n - 3) * 91);
	/* from the other chip: begins anew there, and the way is as much longer as without */
	load_all(0, NODE1, 10);
	assert_seen(0, VPMU_PREFETCHED, n - 2 + 8);
	assert_seen(0, VPMU_STALL_D_SRC + VPMU_REMOTE_MEMORY, 3 * 307 + 7 * (91 + 27));
	/* two in a row are too few */
	for (i = 0; i < 30; i++)
		if (i % 3 != 2)
			load(2, (10000 + i) * LINE);
	assert_seen(2, VPMU_PREFETCHED, 0);
	assert_sums();
}

/* Requests of two CPUs in turns: what HMTT 6.2 saw, and the cure it asks for */
static void test_prefetch_contexts(void **state)
{
	unsigned int i, n = 1000;

	(void)state;
	free_machine(NULL);
	machine("2chip,memory=128M,prefetch=plain");
	for (i = 0; i < 2 * n; i++)
		load(i & 1, (i & 1) * 64 * PAGE + i / 2 * LINE);
	assert_seen(0, VPMU_PREFETCHED, 0);
	assert_seen(1, VPMU_PREFETCHED, 0);
	free_machine(NULL);

	machine("2chip,memory=128M,prefetch=context");
	vpmu_context(m, 0, 100);
	vpmu_context(m, 1, 101);
	for (i = 0; i < 2 * n; i++)
		load(i & 1, (i & 1) * 1024 * PAGE + i / 2 * LINE);
	assert_seen(0, VPMU_PREFETCHED, n - 2);
	assert_seen(1, VPMU_PREFETCHED, n - 2);
	assert_seen(1, VPMU_PREFETCH_USED, n - 3);
	/* one context does not go on with what another began */
	vpmu_context(m, 2, 100);
	load_all(2, NODE1, 2);
	vpmu_context(m, 2, 116);
	load_all(2, NODE1 + 2 * LINE, 1);
	assert_seen(2, VPMU_PREFETCHED, 0);
	assert_sums();
}

/* A prefetched line is used once, and not prefetched twice. */
static void test_prefetch_once(void **state)
{
	int i;

	(void)state;
	free_machine(NULL);
	/* 16 lines in each cache, one way */
	machine("2chip,memory=128M,prefetch=plain,l1d=1K,l1d-ways=1,l2=1K,l2-ways=1,"
		"l3=1K,l3-ways=1");
	load_all(0, 0, 3);
	assert_seen(0, VPMU_PREFETCHED, 1);
	for (i = 47; i >= 16; i--)		/* backwards is no sequence */
		load(0, i * LINE);
	load_all(0, 0, 3);
	assert_seen(0, VPMU_PREFETCHED, 1);
	assert_seen(0, VPMU_PREFETCH_USED, 0);
	assert_int_equal(load(0, 3 * LINE), 91);
	assert_seen(0, VPMU_PREFETCHED, 2);
	for (i = 47; i >= 16; i--)
		load(0, i * LINE);
	assert_int_equal(load(0, 3 * LINE), 280);
	assert_seen(0, VPMU_PREFETCH_USED, 1);
}

/* Nothing is prefetched that a cache has or that lies behind the node's end. */
static void test_prefetch_not(void **state)
{
	(void)state;
	free_machine(NULL);
	machine("2chip,memory=128M,prefetch=plain");
	store(0, 3 * LINE);
	load_all(2, 0, 3);
	assert_seen(2, VPMU_PREFETCHED, 0);
	load_all(0, NODE1 - 3 * LINE, 3);
	assert_seen(0, VPMU_PREFETCHED, 0);
}

static void test_reset(void **state)
{
	struct vpmu_block block = block_at(0, 4);
	uint64_t cycles;

	(void)state;
	block.conditional = true;
	cycles = load(0, PAGE) + store(3, PAGE) + load(0, NODE1);
	vpmu_execute(m, 0, &block);
	vpmu_branch(m, 0, 9, true);
	vpmu_branch(m, 0, 9, true);
	vpmu_machine_reset(m);
	assert_int_equal(vpmu_cycles(m, 0), 0);
	assert_int_equal(load(0, PAGE) + store(3, PAGE) + load(0, NODE1), cycles);
	vpmu_execute(m, 0, &block);
	assert_seen(0, VPMU_BRANCH, 0);
	assert_seen(0, VPMU_I_SRC + VPMU_LOCAL_MEMORY, 1);
	vpmu_branch(m, 0, 9, true);
	assert_seen(0, VPMU_BR_MISS, 1);
	assert_sums();
	free_machine(NULL);
	machine("2chip,memory=128M,prefetch=plain");
	load_all(0, 0, 3);
	vpmu_machine_reset(m);
	assert_int_equal(load(0, 3 * LINE), TLB + 280);
	assert_seen(0, VPMU_PREFETCHED, 0);
}

#define T(f)	cmocka_unit_test_setup_teardown(f, new_machine, free_machine)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_hits), T(test_stride_over_l1d), T(test_stride_over_l2), T(test_nodes),
		T(test_node_ends), T(test_remote_l3), T(test_writeback), T(test_inclusion),
		T(test_l2_of_core), T(test_above_memory), T(test_false_sharing_two_chips),
		T(test_false_sharing_one_chip), T(test_upgrade_remote), T(test_upgrade_local),
		T(test_store_to_shared), T(test_exclusive), T(test_producer_consumers),
		T(test_split), T(test_split_page), T(test_tlb), T(test_flush), T(test_aliases),
		T(test_latencies), T(test_code_over_l1i), T(test_block_of_three_lines),
		T(test_written_code), T(test_branches), T(test_branch_of_blocks), T(test_modes),
		T(test_prefetch), T(test_prefetch_contexts), T(test_prefetch_once),
		T(test_prefetch_not), T(test_reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
