// SPDX-License-Identifier: GPL-2.0
/*
 * The machine with out-of-order cores: what goes to them, and what comes out as counts.
 * Machine "2chip", as in test_machine.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "decode.h"
#include "machine.h"
#include "stream.h"

#include <cmocka.h>

#define CODE	(32ULL << 20)
#define LINE	64ULL
#define TLB	20
#define MEMORY	280

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

static int free_machine(void **state)
{
	(void)state;
	vpmu_machine_free(m);
	m = NULL;
	return 0;
}

static uint64_t seen(unsigned int event)
{
	return vpmu_total(m, 0, event);
}

/* ---- blocks -------------------------------------------------------------------- */

#define MOST	16

struct test_block {
	struct vpmu_block b;
	struct vpmu_insn insn[MOST];
};

/* A block of @n instructions without registers at @line of the code */
static void block(struct test_block *t, unsigned int n, unsigned int line)
{
	unsigned int i;

	memset(t, 0, sizeof(*t));
	t->b.vaddr = CODE + line * LINE;
	t->b.end = t->b.vaddr + 4 * n;
	t->b.code[0] = t->b.vaddr;
	t->b.lines = 1;
	t->b.insns = n;
	t->b.insn = t->insn;
	for (i = 0; i < n; i++)
		t->insn[i] = (struct vpmu_insn){ .tag = t->b.vaddr + 4 * i, .cycles = 1 };
}

static void execute(const struct test_block *t)
{
	vpmu_execute(m, 0, &t->b);
}

static void access_by(const struct test_block *t, unsigned int insn, uint64_t addr, bool store)
{
	struct vpmu_miss miss;

	if (!vpmu_hit_l1(m, 0, addr, 8, store))
		vpmu_access(m, 0, addr, addr, 8, store, &miss);
	vpmu_stream_access(m->cpu[0].stream, &t->insn[insn], addr, store);
}

/* All complete: into the kernel and back. */
static void settle(void)
{
	vpmu_mode(m, 0, true);
	vpmu_mode(m, 0, false);
}

static void assert_sums(void)
{
	uint64_t stalls = 0, d = 0;
	unsigned int e;

	for (e = VPMU_STALL_D; e <= VPMU_STALL_OTHER; e++)
		stalls += seen(e);
	for (e = 0; e < VPMU_SOURCES; e++)
		d += seen(VPMU_STALL_D_SRC + e);
	assert_int_equal(seen(VPMU_STALL_D), d);
	assert_true(seen(VPMU_CYCLES) >= stalls);
	assert_true(seen(VPMU_CYCLES) <= stalls + seen(VPMU_INSNS));
}

/* A block whose code is there already. Return: its cycles */
static uint64_t warm;

static void warm_up(const struct test_block *t)
{
	execute(t);
	settle();
	warm = seen(VPMU_CYCLES);
}

static uint64_t cycles_since(void)
{
	settle();
	assert_sums();
	return seen(VPMU_CYCLES) - warm;
}

/* ---- tests --------------------------------------------------------------------- */

/* Two loads that miss: at the same time, or the second with what the first one brings */
static void two_loads(uint64_t address_of_second, uint64_t expected)
{
	struct test_block t;

	block(&t, 2, 0);
	t.insn[0] = (struct vpmu_insn){ .writes = REG(1), .move = true, .cycles = 1 };
	t.insn[1] = (struct vpmu_insn){ .writes = REG(2), .move = true, .cycles = 1,
					.addr = address_of_second };
	warm_up(&t);
	execute(&t);
	access_by(&t, 0, 0, false);
	access_by(&t, 1, LINE, false);
	assert_int_equal(cycles_since(), expected);
	assert_int_equal(seen(VPMU_D_SRC + VPMU_LOCAL_MEMORY), 2);
	free_machine(NULL);
}

static void test_loads(void **state)
{
	const uint64_t first = 3 + TLB + MEMORY, second = 3 + MEMORY;

	(void)state;
	machine("2chip,memory=128M,model=ooo");
	two_loads(0, first);
	machine("2chip,memory=128M,model=ooo");
	two_loads(REG(1), first + second);
	machine("2chip,memory=128M,model=ooo-single");
	two_loads(0, first + 1);
	machine("2chip,memory=128M,model=ooo-in-order");
	two_loads(0, first + second);
}

static void test_causes(void **state)
{
	struct test_block t;

	(void)state;
	machine("2chip,memory=128M,model=ooo-in-order");
	block(&t, 3, 0);
	t.insn[0].move = true;
	t.insn[1].move = true;
	t.insn[2].unit = OOO_FPU;
	t.insn[2].cycles = 5;
	execute(&t);
	settle();
	assert_int_equal(seen(VPMU_STALL_I), MEMORY);
	assert_int_equal(seen(VPMU_STALL_FPU), 4);
	execute(&t);
	access_by(&t, 0, 0, false);	/* it waits for data longer than for the page */
	access_by(&t, 1, 8, true);
	settle();
	assert_int_equal(seen(VPMU_STALL_D), MEMORY + TLB + 2);
	assert_int_equal(seen(VPMU_STALL_D_SRC + VPMU_LOCAL_MEMORY), MEMORY + TLB + 2);
	assert_int_equal(seen(VPMU_STALL_TLB), 0);
	vpmu_flush_virtual(m, 0, VPMU_ALL_PAGES);
	execute(&t);
	access_by(&t, 0, 0, false);
	settle();
	assert_int_equal(seen(VPMU_STALL_OTHER), m->g.flush);
	assert_int_equal(seen(VPMU_STALL_TLB), TLB + 2);
	assert_int_equal(seen(VPMU_CYCLES), seen(VPMU_INSNS) + MEMORY + 12 + MEMORY + TLB + 2 +
			 TLB + 2 + m->g.flush);
	assert_sums();
}

/* Where a conditional branch led is known with the next block; to guess wrong costs the same. */
static void test_branch(void **state)
{
	struct test_block a, b;

	(void)state;
	machine("2chip,memory=128M,model=ooo");
	block(&a, 2, 0);
	block(&b, 2, 9);
	a.b.conditional = true;
	a.insn[1].unit = OOO_BU;
	execute(&b);
	warm_up(&a);
	execute(&a);
	execute(&b);
	settle();
	assert_int_equal(seen(VPMU_BR_MISS), 1);
	assert_int_equal(seen(VPMU_STALL_BR), m->g.br_miss);
	execute(&b);
	execute(&b);
	settle();
	assert_int_equal(seen(VPMU_STALL_BR), m->g.br_miss);
	assert_sums();
}

/* The second line of a block is fetched for the instruction that begins there. */
static void test_second_line(void **state)
{
	struct test_block t;

	(void)state;
	machine("2chip,memory=128M,model=ooo-in-order");
	block(&t, 2, 0);
	t.insn[0].cycles = 100;
	warm_up(&t);
	t.b.lines = 2;
	t.b.code[1] = CODE + LINE;
	t.b.first[1] = 1;
	execute(&t);
	/* in the shadow of the first instruction */
	assert_int_equal(cycles_since(), MEMORY + 2);
	assert_int_equal(seen(VPMU_STALL_I), MEMORY + MEMORY - 99);
}

/* An access of several parts is one; one of a block that is over is nobody's. */
static void test_odd_accesses(void **state)
{
	struct test_block blocks[3], *t = &blocks[1];
	unsigned int i;

	(void)state;
	machine("2chip,memory=128M,model=ooo");
	for (i = 0; i < 3; i++)
		block(&blocks[i], 1, i);
	t->insn[0].move = true;
	warm_up(t);
	execute(t);
	access_by(&blocks[0], 0, 0, false);
	access_by(&blocks[2], 0, 0, false);
	for (i = 0; i < 5000; i++)
		access_by(t, 0, i % 4 * 8, i % 2);
	/* the load gives what is stored */
	assert_int_equal(cycles_since(), 3 + TLB + MEMORY + 1);
}

/* More accesses than a block can have: the first ones count. */
static void test_too_many(void **state)
{
	struct test_block t;
	unsigned int i;

	(void)state;
	machine("2chip,memory=128M,model=ooo");
	block(&t, 2, 0);
	warm_up(&t);
	execute(&t);
	for (i = 0; i < 5000; i++)
		access_by(&t, i % 2, i * 8, false);
	assert_in_range(cycles_since(), MEMORY, 10 * MEMORY);
}

/* Nothing of before stays. */
static void test_reset(void **state)
{
	struct test_block t;

	(void)state;
	machine("2chip,memory=128M,model=ooo");
	block(&t, 1, 0);
	execute(&t);
	execute(&t);
	access_by(&t, 0, 0, false);
	vpmu_machine_reset(m);
	settle();
	assert_int_equal(seen(VPMU_CYCLES), 0);
	execute(&t);
	settle();
	assert_int_equal(seen(VPMU_CYCLES), MEMORY + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_loads),
		cmocka_unit_test_teardown(test_causes, free_machine),
		cmocka_unit_test_teardown(test_branch, free_machine),
		cmocka_unit_test_teardown(test_second_line, free_machine),
		cmocka_unit_test_teardown(test_odd_accesses, free_machine),
		cmocka_unit_test_teardown(test_too_many, free_machine),
		cmocka_unit_test_teardown(test_reset, free_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
