// SPDX-License-Identifier: GPL-2.0
/*
 * The out-of-order core beside a loop over cycles, and what must hold whatever the program is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "machine.h"
#include "ooo.h"

#include <cmocka.h>

static const struct ooo_sizes usual = {
	.bundle = 5, .reorder = 20, .rename = 80, .loads = 32, .stores = 32, .queue = 18,
	.br_miss = 12, .line = 64,
};

/* ---- programs ------------------------------------------------------------------ */

#define MOST	400

static struct ooo_insn program[MOST];
static unsigned int length;

static void begin(void)
{
	memset(program, 0, sizeof(program));
	length = 0;
}

static struct ooo_insn *compute(uint64_t reads, uint64_t writes, unsigned int cycles)
{
	struct ooo_insn *insn = &program[length++];

	insn->op[insn->nr++] = (struct ooo_op){
		.reads = reads, .writes = writes, .cycles = cycles, .part = cycles,
		.cause = VPMU_STALL_IU, .source = VPMU_NO_SOURCE, .unit = OOO_IU };
	return insn;
}

static struct ooo_insn *branch(uint64_t reads, bool wrong)
{
	struct ooo_insn *insn = compute(reads, 0, 1);

	insn->op[0].unit = OOO_BU;
	insn->op[0].cause = VPMU_STALL_OTHER;
	insn->branch = true;
	insn->wrong = wrong;
	return insn;
}

/* An access that hits when @miss is 0 */
static struct ooo_insn *memory(uint64_t reads, uint64_t writes, uint64_t addr, unsigned int miss,
			       bool store)
{
	struct ooo_insn *insn = compute(reads, writes, 1);
	struct ooo_op *op = insn->op;

	op->unit = OOO_LSU;
	op->store = store;
	op->addr = addr;
	op->cycles = store ? 1 : 3;
	op->part = op->cycles;
	op->cause = VPMU_STALL_LSU;
	if (miss) {
		op->cycles += miss;
		op->part = miss;
		op->cause = VPMU_STALL_D;
		op->source = VPMU_LOCAL_MEMORY;
	}
	return insn;
}

static void load(uint64_t reads, uint64_t writes, uint64_t addr, unsigned int miss)
{
	memory(reads, writes, addr, miss, false);
}

static struct vpmu_cpu counts;

static uint64_t seen(unsigned int event)
{
	return counts.count[0][event];
}

static uint64_t stalls(void)
{
	uint64_t sum = 0;
	unsigned int e;

	for (e = VPMU_STALL_D; e <= VPMU_STALL_OTHER; e++)
		sum += seen(e);
	return sum;
}

static uint64_t run(const struct ooo_sizes *sizes, enum ooo_mode mode)
{
	struct ooo *o;
	unsigned int i;

	memset(&counts, 0, sizeof(counts));
	memset(counts.limit, 0xff, sizeof(counts.limit));
	o = ooo_new(&counts, sizes, mode);
	assert_non_null(o);
	for (i = 0; i < length; i++)
		ooo_execute(o, &program[i]);
	ooo_drain(o);
	ooo_free(o);
	return seen(VPMU_CYCLES);
}

/* ---- a loop over cycles -------------------------------------------------------- */

#define NEVER	UINT64_MAX

/* An operation on its way; its number is that in the order of the program */
struct step {
	struct ooo_op op;
	unsigned int insn, bundle;
	unsigned int unit;		/* of its class */
	uint64_t issued;
};

struct naive {
	struct step step[MOST * OOO_OPS];
	unsigned int nr_steps;
	unsigned int first[MOST];	/* instruction of each bundle */
	unsigned int nr_bundles;
	const struct ooo_sizes *sizes;
	enum ooo_mode mode;
	unsigned int oldest, dispatched;	/* bundles */
	uint64_t completing, stall[VPMU_EVENTS];
	unsigned int front;		/* what the front end did in the cycle before */
	unsigned int fetch_left;
};

static unsigned int most_of(unsigned int class)
{
	return class == OOO_BU ? 1 : OOO_UNITS;
}

static void divide(struct naive *n)
{
	unsigned int units[OOO_CLASSES] = { 0 }, turn[OOO_CLASSES] = { 0 }, ops = 0, i, k;
	bool full = true;

	for (i = 0; i < length; i++) {
		const struct ooo_insn *insn = &program[i];
		unsigned int more[OOO_CLASSES] = { 0 };

		for (k = 0; k < insn->nr; k++)
			more[insn->op[k].unit]++;
		for (k = 0; k < OOO_CLASSES; k++)
			full |= units[k] + more[k] > most_of(k);
		full |= insn->fetch || ops + insn->nr > n->sizes->bundle || n->mode != OOO_REAL;
		if (full) {
			n->first[n->nr_bundles++] = i;
			memset(units, 0, sizeof(units));
			ops = 0;
		}
		full = insn->branch;
		ops += insn->nr;
		for (k = 0; k < OOO_CLASSES; k++)
			units[k] += more[k];
		for (k = 0; k < insn->nr; k++)
			n->step[n->nr_steps++] = (struct step){
				.op = insn->op[k], .insn = i, .bundle = n->nr_bundles - 1,
				.unit = turn[insn->op[k].unit]++ % most_of(insn->op[k].unit),
				.issued = NEVER };
	}
}

static bool lsu(const struct step *s)
{
	return s->op.unit == OOO_LSU;
}

/* When an operation ends, as far as that is known */
static uint64_t end_of(const struct naive *n, unsigned int i)
{
	const struct step *s = &n->step[i];
	uint64_t end, line;
	unsigned int k;

	if (s->issued == NEVER)
		return NEVER;
	end = s->issued + s->op.cycles;
	if (!lsu(s) || s->op.source != VPMU_NO_SOURCE)
		return end;
	for (k = i; k--; )
		if (lsu(&n->step[k]) && n->step[k].op.source != VPMU_NO_SOURCE &&
		    n->step[k].op.addr / n->sizes->line == s->op.addr / n->sizes->line) {
			line = end_of(n, k);
			return line > end ? line : end;
		}
	return end;
}

static uint64_t end_of_insn(const struct naive *n, unsigned int insn)
{
	uint64_t end = 0;
	unsigned int i;

	for (i = 0; i < n->nr_steps; i++)
		if (n->step[i].insn == insn && end_of(n, i) > end)
			end = end_of(n, i);
	return end;
}

static unsigned int end_of_bundle(const struct naive *n, unsigned int b)
{
	return b + 1 < n->nr_bundles ? n->first[b + 1] : length;
}

/* The longest part of what an instruction took, and what for */
static uint64_t longest_of(const struct naive *n, unsigned int insn, unsigned int *why)
{
	unsigned int i, cause = 0;
	uint64_t longest = 0, end;

	for (i = 0; i < n->nr_steps; i++) {
		const struct step *s = &n->step[i];

		if (s->insn != insn)
			continue;
		end = end_of(n, i) - s->issued - s->op.cycles;	/* for a line on its way */
		if (s->op.part > longest) {
			longest = s->op.part;
			cause = s->op.cause;
		}
		if (end > longest) {
			longest = end;
			cause = VPMU_STALL_D;
		}
	}
	*why = cause;
	return longest;
}

/* What the bundle that has just finished has waited for since @began, if it waited */
static unsigned int cause_of(const struct naive *n, unsigned int bundle, uint64_t began)
{
	unsigned int i, why, cause = VPMU_STALL_OTHER;
	uint64_t end = began;

	for (i = n->first[bundle]; i < end_of_bundle(n, bundle); i++)
		if (longest_of(n, i, &why) > 1 && end_of_insn(n, i) > end) {
			end = end_of_insn(n, i);
			cause = why;
		}
	return cause;
}

static bool finished(const struct naive *n, unsigned int bundle, uint64_t now)
{
	unsigned int i;

	for (i = n->first[bundle]; i < end_of_bundle(n, bundle); i++)
		if (end_of_insn(n, i) > now)
			return false;
	return true;
}

static bool can_dispatch(const struct naive *n, uint64_t now)
{
	unsigned int rename = 0, loads = 0, stores = 0, i;
	unsigned int queue[OOO_CLASSES][OOO_UNITS] = { 0 };

	if (n->mode == OOO_INORDER)
		return n->oldest == n->dispatched;
	for (i = 0; i < n->nr_steps; i++) {
		const struct step *s = &n->step[i];

		if (s->bundle < n->oldest || s->bundle > n->dispatched)
			continue;
		rename += !!s->op.writes;
		loads += lsu(s) && !s->op.store;
		stores += lsu(s) && s->op.store;
		queue[s->op.unit][s->unit] += s->issued >= now;
		if (s->bundle == n->dispatched && queue[s->op.unit][s->unit] > n->sizes->queue)
			return false;
	}
	return n->dispatched - n->oldest < n->sizes->reorder && rename <= n->sizes->rename &&
	       loads <= n->sizes->loads && stores <= n->sizes->stores;
}

/* Is the value of each register that it reads there? */
static bool can_issue(const struct naive *n, unsigned int i, uint64_t now)
{
	uint64_t reads = n->step[i].op.reads;
	unsigned int k;

	for (k = i; k--; ) {
		if (reads & n->step[k].op.writes && end_of(n, k) > now)
			return false;
		reads &= ~n->step[k].op.writes;
	}
	if (!lsu(&n->step[i]) || n->step[i].op.store)
		return true;
	for (k = i; k--; )
		if (lsu(&n->step[k]) && n->step[k].op.store &&
		    n->step[k].op.addr >> 3 == n->step[i].op.addr >> 3)
			return n->step[k].issued < now;
	return true;
}

/* Each unit takes the oldest operation that is ready. */
static void issue_all(struct naive *n, uint64_t now)
{
	bool busy[OOO_CLASSES][OOO_UNITS] = { 0 };
	unsigned int i;

	for (i = 0; i < n->nr_steps && n->step[i].bundle < n->dispatched; i++) {
		struct step *s = &n->step[i];

		if (s->issued != NEVER || busy[s->op.unit][s->unit] || !can_issue(n, i, now))
			continue;
		s->issued = now;
		busy[s->op.unit][s->unit] = true;
	}
}

/* Fetch, and when that is done dispatch. */
static void front_end(struct naive *n, uint64_t now)
{
	const struct ooo_insn *first = &program[n->first[n->dispatched]];
	const struct ooo_insn *before = n->dispatched ? first - 1 : NULL;

	n->front = VPMU_STALL_BR;
	if (before && before->wrong && now < end_of_insn(n, before - program))
		return;
	if (before && before->wrong &&
	    now < end_of_insn(n, before - program) + n->sizes->br_miss)
		return;
	if (n->fetch_left) {
		n->front = first->fetch_cause;
		n->fetch_left--;
		return;
	}
	if (!can_dispatch(n, now))
		return;
	n->dispatched++;
	if (n->dispatched < n->nr_bundles)
		n->fetch_left = program[n->first[n->dispatched]].fetch;
}

static struct naive naive;

static uint64_t run_naive(const struct ooo_sizes *sizes, enum ooo_mode mode)
{
	struct naive *n = &naive;
	unsigned int oldest;
	uint64_t now;

	memset(n, 0, sizeof(*n));
	n->sizes = sizes;
	n->mode = mode;
	divide(n);
	n->fetch_left = program[0].fetch;
	for (now = 1; ; now++) {
		oldest = n->oldest;
		if (oldest < n->dispatched && finished(n, oldest, now)) {
			n->oldest++;
			n->completing++;
			n->stall[cause_of(n, oldest, now - n->stall[0])] += n->stall[0];
			n->stall[0] = 0;
			if (n->oldest == n->nr_bundles)
				return now - 1;
		} else if (now > 1 && oldest < n->dispatched) {
			/* charged when it is known what for */
			n->stall[0]++;
		} else if (now > 1) {
			n->stall[n->front]++;
		}
		if (n->dispatched < n->nr_bundles)
			front_end(n, now);
		issue_all(n, now);
	}
}

static void compare(const struct ooo_sizes *sizes, enum ooo_mode mode)
{
	uint64_t cycles = run(sizes, mode);
	unsigned int e;

	assert_int_equal(cycles, run_naive(sizes, mode));
	for (e = VPMU_STALL_D; e <= VPMU_STALL_OTHER; e++)
		assert_int_equal(seen(e), naive.stall[e]);
	assert_int_equal(cycles, naive.completing + stalls());
	assert_int_equal(seen(VPMU_STALL_D), seen(VPMU_STALL_D_SRC + VPMU_LOCAL_MEMORY));
}

/* ---- random programs ----------------------------------------------------------- */

static uint64_t seed;

static unsigned int below(unsigned int n)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (seed >> 33) % n;
}

static uint64_t registers(void)
{
	return 1ULL << below(6) | 1ULL << below(12);
}

static uint64_t address(void)
{
	return below(4) * 64 + below(3) * 8;
}

/* Takes the last instruction away again */
static struct ooo_op op_of_last(void)
{
	struct ooo_op op = program[--length].op[0];

	memset(&program[length], 0, sizeof(program[length]));
	return op;
}

/* An instruction of three operations: load, compute, store */
static struct ooo_insn *add_to_memory(uint64_t pointer, uint64_t addr, unsigned int miss)
{
	struct ooo_insn *insn = memory(pointer, 1ULL << 40, addr, miss, false);

	compute(1ULL << 40 | registers(), 1ULL << 41, 1 + below(20));
	insn->op[1] = op_of_last();
	memory(pointer | 1ULL << 41, 0, addr, below(4) ? 0 : miss, true);
	insn->op[2] = op_of_last();
	insn->nr = 3;
	return insn;
}

static void any_insn(void)
{
	struct ooo_insn *insn;
	unsigned int miss = below(4) ? 0 : 1 + below(60);

	switch (below(8)) {
	case 0: case 1:
		insn = compute(registers(), registers(), below(4) ? 1 : 1 + below(20));
		break;
	case 2:
		insn = compute(registers(), 1ULL << below(6), 4);
		insn->op[0].unit = OOO_FPU;
		insn->op[0].cause = VPMU_STALL_FPU;
		break;
	case 3: case 4:
		insn = memory(1ULL << below(6), registers(), address(), miss, false);
		break;
	case 5:
		insn = memory(registers(), 0, address(), miss, true);
		break;
	case 6:
		insn = add_to_memory(1ULL << below(6), address(), miss);
		break;
	default:
		insn = branch(registers(), !below(4));
	}
	if (!below(10)) {
		insn->fetch = 1 + below(30);
		insn->fetch_cause = VPMU_STALL_I;
	}
}

static void any_program(unsigned int nr)
{
	begin();
	while (length < nr)
		any_insn();
}

static struct ooo_sizes any_sizes(void)
{
	return (struct ooo_sizes){
		.bundle = OOO_OPS + below(OOO_MOST_BUNDLE - OOO_OPS + 1), .reorder = 1 + below(20),
		.rename = OOO_MOST_BUNDLE + below(20), .loads = OOO_UNITS + below(8),
		.stores = OOO_UNITS + below(8), .queue = 1 + below(6), .br_miss = below(15),
		.line = 64 << below(2),
	};
}

static void test_naive(void **state)
{
	struct ooo_sizes sizes;
	unsigned int i;

	(void)state;
	for (i = 0; i < 600; i++) {
		seed = i;
		sizes = below(2) ? any_sizes() : usual;
		any_program(1 + below(100));
		compare(&sizes, OOO_REAL);
		compare(&sizes, OOO_SINGLE);
		compare(&sizes, OOO_INORDER);
	}
}

static void test_never_slower(void **state)
{
	uint64_t real, single, inorder;
	struct ooo_sizes sizes;
	unsigned int i;

	(void)state;
	for (i = 0; i < 20000; i++) {
		seed = 1000 + i;
		sizes = below(2) ? any_sizes() : usual;
		any_program(1 + below(MOST - 4));
		real = run(&sizes, OOO_REAL);
		single = run(&sizes, OOO_SINGLE);
		inorder = run(&sizes, OOO_INORDER);
		assert_true(real <= inorder);
		assert_true(single <= inorder);
		assert_true(inorder == length + stalls());
	}
}

/* ---- what a core is for -------------------------------------------------------- */

#define R(n)	(1ULL << (n))

/* Loads that all miss, each from a line of its own: as many at a time as there are buffers */
static void test_independent_loads(void **state)
{
	struct ooo_sizes sizes = usual;
	unsigned int i;

	(void)state;
	begin();
	for (i = 0; i < 64; i++)
		load(R(1), R(2), i * 64, 297);
	assert_int_equal(run(&sizes, OOO_INORDER), 64 * 300);
	/* 2 a cycle, and 32 at a time: two times 300 */
	assert_in_range(run(&sizes, OOO_REAL), 2 * 300, 2 * 300 + 32);
	sizes.loads = 16;
	assert_in_range(run(&sizes, OOO_REAL), 4 * 300, 4 * 300 + 32);
	sizes.loads = 2;
	assert_in_range(run(&sizes, OOO_REAL), 32 * 300, 32 * 300 + 32);
	assert_int_equal(seen(VPMU_STALL_D), seen(VPMU_CYCLES) - 32);
}

/* A list: each load waits for the one before, whatever the buffers are. */
static void test_chain(void **state)
{
	unsigned int i;

	(void)state;
	begin();
	for (i = 0; i < 64; i++)
		load(R(1), R(1), i * 64, 297);
	assert_int_equal(run(&usual, OOO_INORDER), 64 * 300);
	assert_int_equal(run(&usual, OOO_SINGLE), 64 * 300);
	/* two in a bundle: they complete together, and one cycle less does something */
	assert_int_equal(run(&usual, OOO_REAL), 64 * 300);
	assert_int_equal(seen(VPMU_STALL_D), 64 * 300 - 32);
}

/* Eight loads of one line: the first one brings it, and the others come with it. */
static void test_line_on_its_way(void **state)
{
	unsigned int i;

	(void)state;
	begin();
	for (i = 0; i < 8; i++)
		load(R(1), R(2 + i), 640 + 8 * i, i ? 0 : 297);
	compute(R(9), R(10), 1);
	/* two in a bundle */
	assert_int_equal(run(&usual, OOO_REAL), 303);
	assert_int_equal(seen(VPMU_STALL_D), 299);
	/* what needs an other line does not wait */
	begin();
	load(R(1), R(2), 640, 297);
	load(R(1), R(3), 704, 0);
	branch(R(3), true);
	load(R(1), R(4), 768, 297);
	assert_in_range(run(&usual, OOO_REAL), 3 + 1 + 12 + 300, 3 + 1 + 12 + 300 + 1);
}

/* What is read was just written: it is there when the store is issued, not when it ends. */
static void test_forwarding(void **state)
{
	(void)state;
	begin();
	compute(0, R(1), 20);
	memory(R(1), 0, 640, 0, true);
	load(R(2), R(3), 640, 0);
	compute(R(3), R(4), 1);
	assert_int_equal(run(&usual, OOO_SINGLE), 20 + 1 + 3 + 1);
	program[2].op[0].addr = 648;
	assert_int_equal(run(&usual, OOO_SINGLE), 20 + 1 + 1 + 1);
}

static void test_causes(void **state)
{
	(void)state;
	begin();
	compute(0, R(1), 1);
	branch(R(1), true);
	compute(0, R(1), 1)->fetch = 30;
	program[2].fetch_cause = VPMU_STALL_I;
	compute(0, R(1), 20);
	/* two in a bundle, the branch waits for the other */
	run(&usual, OOO_REAL);
	assert_int_equal(seen(VPMU_STALL_BR), 12);
	assert_int_equal(seen(VPMU_STALL_I), 30);
	assert_int_equal(seen(VPMU_STALL_IU), 19);
	assert_int_equal(seen(VPMU_STALL_OTHER), 1);
	/* a branch that waits for data in its bundle is no event */
	program[0].op[0].cycles = 7;
	program[0].op[0].part = 7;
	run(&usual, OOO_REAL);
	assert_int_equal(seen(VPMU_STALL_IU), 19 + 7);
	assert_int_equal(seen(VPMU_STALL_OTHER), 0);
	program[0].op[0].cycles = 1;
	program[0].op[0].part = 1;
	run(&usual, OOO_INORDER);
	assert_int_equal(seen(VPMU_STALL_BR), 12);
	assert_int_equal(seen(VPMU_STALL_I), 30);
	assert_int_equal(seen(VPMU_STALL_IU), 19);
	assert_int_equal(seen(VPMU_STALL_OTHER), 0);
}

/* A miss behind a long division hides it, and the other way round: the one that ends later pays. */
static void test_who_ends_last_pays(void **state)
{
	(void)state;
	begin();
	compute(0, R(1), 21);
	load(R(3), R(2), 640, 97);
	run(&usual, OOO_REAL);
	assert_int_equal(seen(VPMU_CYCLES), 100);
	assert_int_equal(seen(VPMU_STALL_D), 99);
	run(&usual, OOO_SINGLE);
	assert_int_equal(seen(VPMU_STALL_IU), 20);
	assert_int_equal(seen(VPMU_STALL_D), 101 - 22);
	/* the program's order counts when bundles differ */
	run(&usual, OOO_INORDER);
	assert_int_equal(seen(VPMU_STALL_IU), 20);
	assert_int_equal(seen(VPMU_STALL_D), 99);
}

/* A chain of short operations in one bundle is nobody's latency, nor that of what is long over. */
static void test_short_chain(void **state)
{
	(void)state;
	begin();
	load(R(5), R(1), 640, 97);	/* in a bundle of its own */
	branch(R(6), false);
	load(R(5), R(2), 704, 0);
	compute(R(1), R(3), 1);
	compute(R(3), R(4), 1);
	branch(R(4), false);
	run(&usual, OOO_REAL);
	assert_int_equal(seen(VPMU_CYCLES), 100 + 3);
	assert_int_equal(seen(VPMU_STALL_D), 99);
	assert_int_equal(seen(VPMU_STALL_OTHER), 2);
	/* a latency among them is what it was */
	program[4].op[0].cycles = 4;
	program[4].op[0].part = 4;
	run(&usual, OOO_REAL);
	assert_int_equal(seen(VPMU_CYCLES), 100 + 6);
	assert_int_equal(seen(VPMU_STALL_IU), 5);
	run(&usual, OOO_INORDER);
	assert_int_equal(seen(VPMU_STALL_LSU), 2);
	assert_int_equal(seen(VPMU_STALL_IU), 3);
	assert_int_equal(seen(VPMU_STALL_OTHER), 0);
}

static void test_five_a_cycle(void **state)
{
	unsigned int i;

	(void)state;
	begin();
	for (i = 0; i < 100; i++) {
		load(R(1), R(2), 640, 0);
		memory(R(1), 0, 704, 0, true);
		compute(R(1), R(3), 1);
		branch(R(1), false);
	}
	assert_in_range(run(&usual, OOO_REAL), 100, 103);
	assert_in_range(run(&usual, OOO_SINGLE), 400, 402);
}

static void test_drain(void **state)
{
	struct ooo *o;

	(void)state;
	begin();
	load(R(1), R(2), 640, 97);
	load(R(1), R(3), 704, 97);
	memset(&counts, 0, sizeof(counts));
	memset(counts.limit, 0xff, sizeof(counts.limit));
	o = ooo_new(&counts, &usual, OOO_REAL);
	ooo_execute(o, &program[0]);
	assert_int_equal(seen(VPMU_CYCLES), 0);
	ooo_drain(o);
	assert_int_equal(seen(VPMU_CYCLES), 100);
	ooo_drain(o);
	assert_int_equal(seen(VPMU_CYCLES), 100);
	ooo_execute(o, &program[1]);
	ooo_drain(o);
	assert_int_equal(seen(VPMU_CYCLES), 200);
	assert_int_equal(seen(VPMU_STALL_D), 198);
	ooo_reset(o);
	ooo_execute(o, &program[1]);
	ooo_drain(o);
	assert_int_equal(seen(VPMU_CYCLES), 300);
	ooo_free(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_naive),
		cmocka_unit_test(test_never_slower),
		cmocka_unit_test(test_independent_loads),
		cmocka_unit_test(test_chain),
		cmocka_unit_test(test_line_on_its_way),
		cmocka_unit_test(test_forwarding),
		cmocka_unit_test(test_causes),
		cmocka_unit_test(test_who_ends_last_pays),
		cmocka_unit_test(test_short_chain),
		cmocka_unit_test(test_five_a_cycle),
		cmocka_unit_test(test_drain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
