// SPDX-License-Identifier: GPL-2.0
/*
 * Random traffic of many CPUs: the protocol's invariants hold, and each event is counted as
 * by a naive machine. That one keeps lists ordered by time, knows for each line and CPU what
 * it may do, and finds who has a line by looking everywhere.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine.h"

#include <cmocka.h>

#define CPUS	32
#define CHIPS	8
#define SETS	128
#define LINES	16384
#define PAGE	4096

/* ---- the naive machine ---------------------------------------------------------- */

/* Numbers in a set, the most recent one first */
struct list {
	unsigned int nr;
	uint64_t n[16];
};

struct table {
	unsigned int sets, ways;
	struct list set[SETS];
};

static struct naive {
	struct vpmu_geometry g;
	unsigned int nr_l2;
	struct table l1d[CPUS], l1i[CPUS], tlb[CPUS], l2[CPUS], l3[CHIPS];
	char right[LINES][CPUS];		/* of an L1D: 0, S, E or M */
	bool dirty2[LINES][CPUS], dirty3[LINES][CHIPS];
	uint8_t predictor[CPUS][64];
	unsigned int kernel[CPUS];
	uint64_t count[CPUS][2][VPMU_EVENTS];
	bool modified;				/* what missed last, by somebody else */
} N;

static int at(struct table *t, uint64_t n)
{
	struct list *l = &t->set[n % t->sets];
	unsigned int i;

	for (i = 0; i < l->nr; i++)
		if (l->n[i] == n)
			return i;
	return -1;
}

static bool has(struct table *t, uint64_t n)
{
	return at(t, n) >= 0;
}

static void take_out(struct table *t, uint64_t n)
{
	struct list *l = &t->set[n % t->sets];
	int i = at(t, n);

	if (i < 0)
		return;
	memmove(&l->n[i], &l->n[i + 1], (l->nr - i - 1) * sizeof(l->n[0]));
	l->nr--;
}

/* To the front. Return: was there no room, and what had to go? */
static bool put(struct table *t, uint64_t n, uint64_t *gone)
{
	struct list *l = &t->set[n % t->sets];
	bool full;

	take_out(t, n);
	full = l->nr == t->ways;
	if (full)
		*gone = l->n[--l->nr];
	memmove(&l->n[1], &l->n[0], l->nr * sizeof(l->n[0]));
	l->n[0] = n;
	l->nr++;
	return full;
}

static void naive_count(unsigned int cpu, unsigned int event, uint64_t n)
{
	N.count[cpu][N.kernel[cpu]][event] += n;
}

static void naive_stall(unsigned int cpu, unsigned int event, uint64_t n)
{
	naive_count(cpu, event, n);
	naive_count(cpu, VPMU_CYCLES, n);
}

static unsigned int chip_of(unsigned int cpu)
{
	return cpu / (N.g.cpus / N.g.chips);
}

static unsigned int l2_of(unsigned int cpu)
{
	return N.g.l2_of_core ? cpu : chip_of(cpu);
}

static unsigned int chip_of_l2(unsigned int l2)
{
	return N.g.l2_of_core ? chip_of(l2) : l2;
}

/* On @chip or elsewhere */
static bool in_l2s(uint64_t n, unsigned int chip, bool elsewhere)
{
	unsigned int i;

	for (i = 0; i < N.nr_l2; i++)
		if ((chip_of_l2(i) == chip) != elsewhere && has(&N.l2[i], n))
			return true;
	return false;
}

static bool in_l3s(uint64_t n, unsigned int chip, bool elsewhere)
{
	unsigned int i;

	for (i = 0; i < N.g.chips; i++)
		if ((i == chip) != elsewhere && has(&N.l3[i], n))
			return true;
	return false;
}

static enum vpmu_source naive_source(unsigned int cpu, uint64_t n)
{
	unsigned int chip = chip_of(cpu);

	if (has(&N.l2[l2_of(cpu)], n))
		return VPMU_LOCAL_L2;
	if (in_l3s(n, chip, false) || in_l2s(n, chip, false))
		return VPMU_LOCAL_L3;
	if (in_l2s(n, chip, true))
		return VPMU_REMOTE_L2;
	if (in_l3s(n, chip, true))
		return VPMU_REMOTE_L3;
	return n * N.g.line / (N.g.memory / N.g.chips) == chip ? VPMU_LOCAL_MEMORY :
								  VPMU_REMOTE_MEMORY;
}

/* An L1D has no right to write any more; its L2 gets what it wrote. */
static void naive_clean(unsigned int cpu, uint64_t n)
{
	if (N.right[n][cpu] == 'M')
		N.dirty2[n][l2_of(cpu)] = true;
	if (N.right[n][cpu])
		N.right[n][cpu] = 'S';
}

static void naive_lose_data(unsigned int cpu, uint64_t n)
{
	naive_clean(cpu, n);
	N.right[n][cpu] = 0;
	take_out(&N.l1d[cpu], n);
}

/* All caches but the L2 of @cpu, and the L1s above that, hear of an access of @cpu. */
static void naive_others(unsigned int cpu, uint64_t n, bool store)
{
	unsigned int i;

	for (i = 0; i < N.g.cpus; i++) {
		bool data = N.right[n][i] && i != cpu, code = has(&N.l1i[i], n);

		if (!store && i != cpu) {
			naive_clean(i, n);
		} else if (store) {
			naive_count(i, VPMU_INVALIDATED, data + code);
			if (data)
				naive_lose_data(i, n);
			take_out(&N.l1i[i], n);
		}
	}
	for (i = 0; i < N.nr_l2; i++) {
		if (i == l2_of(cpu))
			continue;
		if (store)
			take_out(&N.l2[i], n);
		else
			naive_count(cpu, VPMU_WRITEBACK, N.dirty2[n][i]);
		N.dirty2[n][i] = false;
	}
	for (i = 0; i < N.g.chips; i++) {
		if (i == chip_of(cpu) && has(&N.l3[i], n) && !has(&N.l2[l2_of(cpu)], n)) {
			/* goes up */
			N.dirty2[n][l2_of(cpu)] = N.dirty3[n][i];
			take_out(&N.l3[i], n);
		} else if (store) {
			take_out(&N.l3[i], n);
		} else {
			naive_count(cpu, VPMU_WRITEBACK, N.dirty3[n][i]);
		}
		N.dirty3[n][i] = false;
	}
}

static void naive_fill_l2(unsigned int cpu, uint64_t n)
{
	unsigned int i, l2 = l2_of(cpu), chip = chip_of(cpu);
	uint64_t gone, gone3;

	if (!put(&N.l2[l2], n, &gone))
		return;
	for (i = 0; i < N.g.cpus; i++)
		if (l2_of(i) == l2) {
			naive_lose_data(i, gone);
			take_out(&N.l1i[i], gone);
		}
	if (put(&N.l3[chip], gone, &gone3)) {
		naive_count(cpu, VPMU_WRITEBACK, N.dirty3[gone3][chip]);
		N.dirty3[gone3][chip] = false;
	}
	N.dirty3[gone][chip] |= N.dirty2[gone][l2];
	N.dirty2[gone][l2] = false;
}

static bool naive_alone(unsigned int cpu, uint64_t n)
{
	unsigned int i;

	for (i = 0; i < N.g.cpus; i++)
		if ((i != cpu && has(&N.l1d[i], n)) || has(&N.l1i[i], n))
			return false;
	for (i = 0; i < N.nr_l2; i++)
		if (i != l2_of(cpu) && has(&N.l2[i], n))
			return false;
	return !in_l3s(n, CHIPS, true);
}

static void naive_permission(unsigned int cpu, bool away)
{
	naive_count(cpu, away ? VPMU_UPGRADE_REMOTE : VPMU_UPGRADE_LOCAL, 1);
	naive_stall(cpu, VPMU_STALL_LSU, away ? N.g.upgrade_remote : N.g.upgrade_local);
}

static bool naive_modified(unsigned int cpu, uint64_t n)
{
	unsigned int i;
	bool found = false;

	for (i = 0; i < N.g.cpus; i++)
		found |= i != cpu && N.right[n][i] == 'M';
	for (i = 0; i < N.nr_l2; i++)
		found |= i != l2_of(cpu) && N.dirty2[n][i];
	for (i = 0; i < N.g.chips; i++)
		found |= i != chip_of(cpu) && N.dirty3[n][i];
	return found;
}

static void naive_data(unsigned int cpu, uint64_t n, bool store)
{
	bool away = in_l2s(n, chip_of(cpu), true) || in_l3s(n, chip_of(cpu), true);
	enum vpmu_source source = naive_source(cpu, n);
	char *right = &N.right[n][cpu];
	uint64_t gone;

	if (*right && !(store && *right == 'S')) {
		put(&N.l1d[cpu], n, &gone);
		*right = store ? 'M' : *right;
		return;
	}
	N.modified = naive_modified(cpu, n);
	naive_others(cpu, n, store);
	naive_fill_l2(cpu, n);
	if (*right) {
		naive_permission(cpu, away);
	} else {
		naive_count(cpu, VPMU_L1D_MISS, 1);
		naive_count(cpu, VPMU_D_SRC + source, 1);
		naive_count(cpu, VPMU_STALL_D_SRC + source, N.g.latency[source]);
		naive_stall(cpu, VPMU_STALL_D, N.g.latency[source]);
		if (store && away && (source == VPMU_LOCAL_L2 || source == VPMU_LOCAL_L3))
			naive_permission(cpu, away);
	}
	*right = store ? 'M' : naive_alone(cpu, n) ? 'E' : 'S';
	if (put(&N.l1d[cpu], n, &gone)) {
		naive_clean(cpu, gone);
		N.right[gone][cpu] = 0;
	}
}

static void naive_code(unsigned int cpu, uint64_t n)
{
	enum vpmu_source source = naive_source(cpu, n);
	uint64_t gone;

	if (!has(&N.l1i[cpu], n)) {
		naive_others(cpu, n, false);
		naive_clean(cpu, n);
		naive_fill_l2(cpu, n);
		naive_count(cpu, VPMU_L1I_MISS, 1);
		naive_count(cpu, VPMU_I_SRC + source, 1);
		naive_stall(cpu, VPMU_STALL_I, N.g.latency[source]);
	}
	put(&N.l1i[cpu], n, &gone);
}

static void naive_access(unsigned int cpu, uint64_t vaddr, uint64_t paddr, unsigned int size,
			 bool store, bool rest)
{
	uint64_t first = paddr / N.g.line, last = (paddr + size - 1) / N.g.line, gone;

	if (!rest)
		naive_count(cpu, store ? VPMU_STORES : VPMU_LOADS, 1);
	if (!has(&N.tlb[cpu], vaddr / PAGE)) {
		naive_count(cpu, VPMU_DTLB_MISS, 1);
		naive_stall(cpu, VPMU_STALL_TLB, N.g.tlb_miss);
	}
	put(&N.tlb[cpu], vaddr / PAGE, &gone);
	naive_data(cpu, first, store);
	if (last != first)
		naive_data(cpu, last, store);
	if (last != first || rest)
		naive_stall(cpu, VPMU_STALL_LSU, N.g.split);
}

static void naive_branch(unsigned int cpu, uint64_t pc, bool taken)
{
	static const uint8_t next[4][2] = { { 0, 1 }, { 0, 2 }, { 1, 3 }, { 2, 3 } };
	uint8_t *state = &N.predictor[cpu][pc % N.g.predictor];

	naive_count(cpu, VPMU_BRANCH, 1);
	if (taken != (*state > 1)) {
		naive_count(cpu, VPMU_BR_MISS, 1);
		naive_stall(cpu, VPMU_STALL_BR, N.g.br_miss);
	}
	*state = next[*state][taken];
}

static void table_init(struct table *t, uint64_t entries, unsigned int ways)
{
	t->ways = ways;
	t->sets = entries / ways;
	assert_true(t->sets && t->sets <= SETS && ways <= 16);
}

static void naive_init(const struct vpmu_geometry *g)
{
	unsigned int i;

	memset(&N, 0, sizeof(N));
	N.g = *g;
	N.nr_l2 = g->l2_of_core ? g->cpus : g->chips;
	assert_true(g->cpus <= CPUS && g->chips <= CHIPS && g->memory / g->line <= LINES);
	for (i = 0; i < CPUS; i++) {
		table_init(&N.l1d[i], g->l1d.bytes / g->line, g->l1d.ways);
		table_init(&N.l1i[i], g->l1i.bytes / g->line, g->l1i.ways);
		table_init(&N.l2[i], g->l2.bytes / g->line, g->l2.ways);
		table_init(&N.tlb[i], g->tlb_entries, g->tlb_ways);
	}
	for (i = 0; i < CHIPS; i++)
		table_init(&N.l3[i], g->l3.bytes / g->line, g->l3.ways);
}

/* ---- invariants -------------------------------------------------------------------- */

/* Fails unless a set holds a line once at most. */
static void check_table(const struct vpmu_cache *t)
{
	uint32_t i, j;

	for (i = 0; i < t->sets * t->ways; i++)
		for (j = i + 1; t->lines[i].key && j < (i / t->ways + 1) * t->ways; j++)
			assert_int_not_equal(t->lines[i].key, t->lines[j].key);
}

static void check_tables(const struct vpmu_machine *m)
{
	unsigned int i;

	for (i = 0; i < m->g.cpus; i++) {
		check_table(&m->cpu[i].l1d);
		check_table(&m->cpu[i].l1i);
		check_table(&m->cpu[i].tlb);
	}
	for (i = 0; i < m->nr_l2; i++)
		check_table(&m->l2[i]);
	for (i = 0; i < m->g.chips; i++)
		check_table(&m->l3[i]);
}

/* One writer and nobody beside it, or readers; inclusion; the directory says so. */
static void check_line(const struct vpmu_machine *m, uint64_t n)
{
	unsigned int i, writers = 0, copies = 0, shared = 0, dirty = 0;
	uint64_t directory = 0;

	for (i = 0; i < m->g.cpus; i++) {
		const struct vpmu_cpu *c = &m->cpu[i];
		struct vpmu_line *data = vpmu_cache_find(&c->l1d, n);
		struct vpmu_line *code = vpmu_cache_find(&c->l1i, n);
		struct vpmu_line *l2 = vpmu_cache_find(&m->l2[c->l2], n);

		copies += !!data + !!code;
		writers += data && data->state != VPMU_SHARED;
		assert_true(!!data == !!(l2 && l2->data & 1U << i));
		assert_true(!!code == !!(l2 && l2->code & 1U << i));
		if (data)
			assert_true(l2->owned == (data->state != VPMU_SHARED));
	}
	for (i = 0; i < m->nr_l2; i++) {
		struct vpmu_line *l2 = vpmu_cache_find(&m->l2[i], n);

		if (!l2)
			continue;
		shared++;
		dirty += l2->dirty;
		directory |= 1ULL << i;
		assert_true(!l2->owned || writers == 1);
		assert_true(m->g.l2_of_core || !vpmu_cache_find(&m->l3[i], n));
	}
	for (i = 0; i < m->g.chips; i++) {
		struct vpmu_line *l3 = vpmu_cache_find(&m->l3[i], n);

		shared += !!l3;
		dirty += l3 && l3->dirty;
		directory |= (uint64_t)!!l3 << (32 + i);
	}
	assert_true(!writers || (writers == 1 && copies == 1 && shared == 1));
	assert_true(!dirty || shared == 1);
	assert_int_equal(directory, m->directory[n]);
}

static void check_machine(const struct vpmu_machine *m)
{
	uint64_t n;

	check_tables(m);
	for (n = 0; n < m->g.memory / m->g.line; n++)
		check_line(m, n);
}

/* ---- traffic ----------------------------------------------------------------------- */

static struct vpmu_machine *m;
static uint64_t frame[CPUS][32];	/* the page table of each CPU */
static unsigned long modified[VPMU_SOURCES];	/* misses of lines that others had modified */
static unsigned int seed;

static unsigned int below(unsigned int n)
{
	return rand_r(&seed) % n;
}

static void compare(unsigned int cpu, unsigned long step)
{
	unsigned int k, e;

	if (!memcmp(m->cpu[cpu].count, N.count[cpu], sizeof(N.count[cpu])))
		return;
	for (k = 0; k < 2; k++)
		for (e = 0; e < VPMU_EVENTS; e++)
			if (m->cpu[cpu].count[k][e] != N.count[cpu][k][e])
				print_message("# step %lu cpu %u event %u: %lu, not %lu\n", step,
					      cpu, e, m->cpu[cpu].count[k][e], N.count[cpu][k][e]);
	fail();
}

static void both_access(unsigned int cpu, unsigned int page, unsigned int offset,
			unsigned int size, bool store)
{
	uint64_t vaddr = (uint64_t)page * PAGE + offset, paddr = frame[cpu][page] * PAGE + offset;
	unsigned int rest = offset + size > PAGE ? offset + size - PAGE : 0;
	uint64_t cycles = vpmu_cycles(m, cpu);
	unsigned int stall = 0;
	struct vpmu_miss miss;

	naive_access(cpu, vaddr, paddr, size - rest, store, false);
	if (rest)
		naive_access(cpu, vaddr + size - rest, frame[cpu][page + 1] * PAGE, rest, store,
			     true);
	if (!vpmu_hit_l1(m, cpu, vaddr, size, store)) {
		stall = vpmu_access(m, cpu, vaddr, paddr, size - rest, store, &miss);
		assert_int_equal(stall, miss.latency);
		if (!rest && miss.source != VPMU_NO_SOURCE &&
		    paddr / N.g.line == (paddr + size - 1) / N.g.line) {
			assert_int_equal(miss.modified, N.modified);
			modified[miss.source] += miss.modified;
		}
		if (rest)
			stall += vpmu_access(m, cpu, vaddr + size - rest,
					     frame[cpu][page + 1] * PAGE, rest,
					     store | VPMU_REST, &miss);
	}
	assert_int_equal(vpmu_cycles(m, cpu), cycles + stall);
}

static void both_execute(unsigned int cpu)
{
	struct vpmu_block block = {
		.vaddr = below(100), .insns = 1 + below(30), .iu = below(3), .fpu = below(4),
		.lsu = below(2), .lines = below(4),
	};
	unsigned int i;

	for (i = 0; i < block.lines; i++) {
		block.code[i] = frame[cpu][below(4)] * PAGE + below(PAGE);
		naive_code(cpu, block.code[i] / N.g.line);
	}
	vpmu_execute(m, cpu, &block);
	naive_count(cpu, VPMU_INSNS, block.insns);
	naive_count(cpu, VPMU_CYCLES, block.insns);
	naive_stall(cpu, VPMU_STALL_IU, block.iu);
	naive_stall(cpu, VPMU_STALL_FPU, block.fpu);
	naive_stall(cpu, VPMU_STALL_LSU, block.lsu);
}

/* A page gets another frame, and the TLB hears of it. */
static void both_remap(unsigned int cpu, unsigned int page)
{
	bool all = !below(4);

	frame[cpu][page] = below(N.g.memory / PAGE);
	vpmu_flush_virtual(m, cpu, all ? VPMU_ALL_PAGES : (uint64_t)page * PAGE + below(PAGE));
	if (all)
		memset(N.tlb[cpu].set, 0, sizeof(N.tlb[cpu].set));
	else
		take_out(&N.tlb[cpu], page);
	naive_stall(cpu, VPMU_STALL_OTHER, N.g.flush);
}

/* Walks, hot lines that all share, own pages, and everything else in between */
static void data_traffic(unsigned int cpu, unsigned long step)
{
	unsigned int size = 1 << below(5);

	switch (step / 2000 % 4) {
	case 0:
		both_access(cpu, below(30), below(PAGE), size, !below(3));
		break;
	case 1:
		both_access(cpu, 0, below(16) * N.g.line, 8, !below(4));
		break;
	case 2:
		both_access(cpu, step / 64 % 30, step % 64 * 64, 8, step & 1);
		break;
	default:
		both_access(cpu, below(3) ? 20 + cpu % 8 : below(2), below(PAGE), size, below(2));
	}
}

static void one_step(unsigned int cpu, unsigned long step)
{
	unsigned int what = below(200);
	bool taken;

	if (what < 160) {
		data_traffic(cpu, step);
	} else if (what < 190) {
		both_execute(cpu);
	} else if (what < 195) {
		taken = below(3);
		what = below(40);
		vpmu_branch(m, cpu, what, taken);
		naive_branch(cpu, what, taken);
	} else if (what < 198) {
		N.kernel[cpu] = !N.kernel[cpu];
		vpmu_mode(m, cpu, N.kernel[cpu]);
	} else if (!below(20)) {
		both_remap(cpu, below(32));
	}
}

#define SMALL	"line=64,l1d=2K,l1d-ways=2,l1i=1K,l1i-ways=1,l2=10240,l2-ways=5,l3=24K,l3-ways=3," \
		"memory=1M,tlb=8,tlb-ways=2,predictor=16"

static const char * const geometries[] = {
	"2chip,cpus=4," SMALL,
	"2chip,cpus=4," SMALL ",l2-of=core",
	"8chip,cpus=16," SMALL ",l1d=1K,l1d-ways=16,tlb-ways=8",
	"8chip,cpus=16," SMALL ",l2-of=core,l2=4K,l2-ways=4,l3=6K",
	"2chip,cpus=6,chips=3," SMALL ",memory=3M,line=256,l2=20K,l1i-ways=4,l3=40K,l3-ways=16",
	"2chip,cpus=32,chips=1," SMALL ",l2-of=core,l2=5K,l3=12K",
	"2chip,cpus=2,chips=1," SMALL ",local-l2=7,tlb-miss=0,split=0,upgrade-local=0",
};

static uint64_t all(unsigned int event)
{
	uint64_t n = 0;
	unsigned int i;

	for (i = 0; i < m->g.cpus; i++)
		n += vpmu_total(m, i, event);
	return n;
}

static void run(const char *text, unsigned long steps)
{
	struct vpmu_geometry g;
	unsigned long step;
	unsigned int i, cpu;
	char *error;

	if (vpmu_geometry_parse(text, &g, &error))
		fail_msg("%s: %s", text, error);
	m = vpmu_machine_new(&g);
	assert_non_null(m);
	naive_init(&g);
	seed = 1;
	for (cpu = 0; cpu < CPUS; cpu++)
		for (i = 0; i < 32; i++)	/* the same for all, but for a few of their own */
			frame[cpu][i] = i < 20 ? i * 7 % 64 : 64 + (cpu % 8) * 12 + i - 20;
	for (step = 0; step < steps; step++) {
		cpu = below(g.cpus);
		one_step(cpu, step);
		compare(cpu, step);
		if (step % 3000 == 0)
			check_machine(m);
	}
	for (cpu = 0; cpu < g.cpus; cpu++)
		compare(cpu, step);
	check_machine(m);
}

static void test_against_naive(void **state)
{
	uint64_t seen[VPMU_EVENTS] = { 0 };
	unsigned int e, i;

	(void)state;
	for (i = 0; i < sizeof(geometries) / sizeof(*geometries); i++) {
		run(geometries[i], 60000);
		for (e = 0; e < VPMU_EVENTS; e++)
			seen[e] += all(e);
		vpmu_machine_free(m);
	}
	/* or the comparison was of nothing */
	for (e = VPMU_CYCLES; e <= VPMU_WRITEBACK; e++)
		assert_true(seen[e] > 1000);
	for (e = 0; e < VPMU_SOURCES; e++) {
		assert_true(seen[VPMU_D_SRC + e] > 1000);
		assert_true(seen[VPMU_I_SRC + e] > 100);
		assert_true(e >= VPMU_LOCAL_MEMORY ? !modified[e] : modified[e] > 100);
	}
}

/* With a prefetcher the naive machine's latencies are not right, the rest is. */
static void test_prefetch_changes_time_only(void **state)
{
	static const unsigned int same[] = {
		VPMU_INSNS, VPMU_LOADS, VPMU_STORES, VPMU_L1D_MISS, VPMU_L1I_MISS,
		VPMU_UPGRADE_LOCAL, VPMU_UPGRADE_REMOTE, VPMU_INVALIDATED, VPMU_WRITEBACK,
		VPMU_D_SRC + VPMU_LOCAL_MEMORY, VPMU_D_SRC + VPMU_REMOTE_L2,
	};
	struct vpmu_geometry g;
	unsigned int i, step, cpu;
	char *error;

	(void)state;
	assert_int_equal(vpmu_geometry_parse("2chip," SMALL ",prefetch=plain", &g, &error), 0);
	m = vpmu_machine_new(&g);
	naive_init(&g);
	seed = 3;
	for (step = 0; step < 20000; step++) {
		struct vpmu_miss miss;
		unsigned int walk = step / 50;
		uint64_t addr = walk % 2 ? walk * 7919 % 300 * 2048 + step % 50 * 64 :
					   below(1 << 20);

		cpu = walk % 4;
		naive_access(cpu, addr, addr, 1, step & 1, false);
		vpmu_access(m, cpu, addr, addr, 1, step & 1, &miss);
	}
	check_machine(m);
	for (cpu = 0; cpu < 4; cpu++)
		for (i = 0; i < sizeof(same) / sizeof(*same); i++)
			assert_int_equal(vpmu_total(m, cpu, same[i]),
					 N.count[cpu][0][same[i]] + N.count[cpu][1][same[i]]);
	assert_true(all(VPMU_PREFETCHED) > 100);
	assert_true(all(VPMU_PREFETCH_USED) > 10);
	assert_true(all(VPMU_PREFETCH_USED) <= all(VPMU_PREFETCHED));
	vpmu_machine_free(m);
}

static void test_reset(void **state)
{
	uint64_t n;

	(void)state;
	run(geometries[0], 5000);
	vpmu_machine_reset(m);
	check_machine(m);
	for (n = 0; n < m->g.memory / m->g.line; n++)
		assert_int_equal(m->directory[n], 0);
	assert_int_equal(all(VPMU_CYCLES), 0);
	vpmu_machine_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_against_naive),
		cmocka_unit_test(test_prefetch_changes_time_only),
		cmocka_unit_test(test_reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
