// SPDX-License-Identifier: GPL-2.0
/* Counters on a small machine of four CPUs on two chips. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "counters.h"

#include <cmocka.h>

#define RING	16
#define BOTH	(VPMU_USER | VPMU_KERNEL)
#define LINE	64ULL

static struct vpmu_machine *m;
static struct vpmu_counters *k;

static int new_machine_of(const char *text)
{
	struct vpmu_geometry g;
	char *error;

	if (vpmu_geometry_parse(text, &g, &error))
		fail_msg("%s", error);
	m = vpmu_machine_new(&g);
	k = vpmu_counters_new(m, RING, 7);
	assert_non_null(m);
	assert_non_null(k);
	return 0;
}

static int new_machine(void **state)
{
	(void)state;
	return new_machine_of("2chip,memory=64M,l3=1M,l2=256K");
}

static int new_dar(void **state)
{
	(void)state;
	return new_machine_of("2chip,memory=64M,l3=1M,l2=256K,sampling=dar,skid=10");
}

static int free_machine(void **state)
{
	(void)state;
	vpmu_counters_free(k);
	vpmu_machine_free(m);
	return 0;
}

/* As a plugin does: an access, then a look at the counters */
static void access_with(unsigned int cpu, uint64_t addr, bool store, unsigned int left)
{
	struct vpmu_where where = { .ip = addr + 1, .addr = addr, .store = store };

	where.miss.source = VPMU_NO_SOURCE;
	if (!vpmu_hit_l1(m, cpu, addr, 8, store))
		vpmu_access(m, cpu, addr, addr, 8, store, &where.miss);
	if (m->g.sampling == VPMU_DAR && where.miss.source != VPMU_NO_SOURCE)
		vpmu_counters_missed(k, cpu, &where, left);
	if (vpmu_pending(m, cpu))
		vpmu_counters_overflow(k, cpu, &where);
}

static void access_at(unsigned int cpu, uint64_t addr, bool store)
{
	access_with(cpu, addr, store, 0);
}

static void execute(unsigned int cpu, unsigned int insns)
{
	struct vpmu_block block = { .vaddr = 0x100, .insns = insns };
	struct vpmu_where where = { .ip = block.vaddr, .miss.source = VPMU_NO_SOURCE };

	vpmu_execute(m, cpu, &block);
	if (vpmu_pending(m, cpu))
		vpmu_counters_overflow(k, cpu, &where);
}

static struct vpmu_selection every(unsigned int event, unsigned int flags, uint64_t period)
{
	return (struct vpmu_selection){ .event = event, .flags = flags, .period = period,
					.start = period };
}

/* @s for one counter, nothing for the others */
static int program(unsigned int cpu, unsigned int nr, struct vpmu_selection s)
{
	struct vpmu_selection all[VPMU_COUNTERS] = { 0 };

	all[nr] = s;
	return vpmu_counters_program(k, cpu, all);
}

static unsigned int take_all(unsigned int cpu)
{
	struct vpmu_sample sample;
	unsigned int n = 0;

	while (vpmu_sample_take(k, cpu, &sample))
		n++;
	return n;
}

static void test_values(void **state)
{
	struct vpmu_selection all[VPMU_COUNTERS] = {
		every(VPMU_LOADS, BOTH, 0), every(VPMU_STORES, BOTH, 0),
		every(VPMU_LOADS, VPMU_USER, 0), every(VPMU_LOADS, VPMU_KERNEL, 0),
		every(VPMU_CYCLES, BOTH, 0), every(VPMU_STALL_D, BOTH, 0),
	};
	unsigned int i;

	(void)state;
	access_at(0, 0, false);
	assert_int_equal(vpmu_counters_program(k, 0, all), 0);
	for (i = 0; i < 10; i++) {
		vpmu_mode(m, 0, i > 6);
		access_at(0, i * LINE, i % 5 == 4);
	}
	execute(0, 30);
	assert_int_equal(vpmu_counter_value(k, 0, 0), 8);
	assert_int_equal(vpmu_counter_value(k, 0, 1), 2);
	assert_int_equal(vpmu_counter_value(k, 0, 2), 6);
	assert_int_equal(vpmu_counter_value(k, 0, 3), 2);
	assert_int_equal(vpmu_counter_value(k, 0, 4), 30 + 9 * 280);
	assert_int_equal(vpmu_counter_value(k, 0, 5), 9 * 280);
	assert_int_equal(vpmu_counter_left(k, 0, 0), 0);
	/* stopped, they keep it; programmed again, they begin at 0 */
	vpmu_counters_stop(k, 0);
	access_at(0, 0, false);
	vpmu_counters_overflow(k, 0, &(struct vpmu_where){ 0 });
	assert_int_equal(vpmu_counter_value(k, 0, 0), 8);
	assert_int_equal(vpmu_counters_program(k, 0, all), 0);
	assert_int_equal(vpmu_counter_value(k, 0, 0), 0);
	assert_int_equal(take_all(0), 0);
}

static void test_period(void **state)
{
	struct vpmu_sample sample;
	unsigned int i;

	(void)state;
	assert_int_equal(program(1, 2, every(VPMU_L1D_MISS, VPMU_USER | VPMU_SAMPLE, 10)), 0);
	vpmu_context(m, 1, 77);
	for (i = 1; i <= 57; i++) {
		access_at(1, i * LINE, i & 1);
		access_at(1, i * LINE, false);
		assert_int_equal(vpmu_counter_left(k, 1, 2), 10 - i % 10);
	}
	for (i = 1; i <= 5; i++) {
		assert_true(vpmu_sample_take(k, 1, &sample));
		assert_int_equal(sample.where.addr, i * 10 * LINE);
		assert_int_equal(sample.where.ip, i * 10 * LINE + 1);
		assert_int_equal(sample.where.miss.paddr, i * 10 * LINE);
		assert_int_equal(sample.where.miss.source, VPMU_LOCAL_MEMORY);
		assert_int_equal(sample.where.miss.latency, 280);
		assert_false(sample.where.store);
		assert_int_equal(sample.context, 77);
		assert_int_equal(sample.cpu, 1);
		assert_int_equal(sample.counter, 2);
		assert_int_equal(sample.stamp, i - 1);
		assert_int_equal(sample.cycles, 20 + i * 10 * 280);	/* a page: one TLB miss */
		assert_false(sample.kernel);
	}
	assert_false(vpmu_sample_take(k, 1, &sample));
}

static void test_start(void **state)
{
	struct vpmu_selection s = every(VPMU_LOADS, BOTH | VPMU_SAMPLE, 100);
	unsigned int i;

	(void)state;
	s.start = 3;
	assert_int_equal(program(0, 0, s), 0);
	/* two modes, so each may count the half before anybody has to look */
	assert_int_equal(m->cpu[0].limit[0][VPMU_LOADS], 2);
	assert_int_equal(m->cpu[0].limit[1][VPMU_LOADS], 2);
	for (i = 1; i <= 250; i++) {
		access_at(0, 0, false);
		if (i == 2 || i == 102 || i == 202)
			assert_int_equal(take_all(0), i > 2);
	}
	assert_int_equal(take_all(0), 1);
	/* what has no period never overflows, and what has no VPMU_SAMPLE writes nothing */
	s.period = 0;
	assert_int_equal(program(0, 0, s), 0);
	for (i = 0; i < 250; i++)
		access_at(0, 0, false);
	assert_int_equal(program(0, 0, every(VPMU_LOADS, BOTH, 10)), 0);
	for (i = 0; i < 25; i++)
		access_at(0, 0, false);
	assert_int_equal(take_all(0), 0);
	assert_int_equal(vpmu_counter_left(k, 0, 0), 5);
}

/* Cycles come in lumps: an overflow is late, the next one is not. */
static void test_lumps(void **state)
{
	unsigned int i, n = 0;

	(void)state;
	assert_int_equal(program(0, 5, every(VPMU_CYCLES, BOTH | VPMU_SAMPLE, 100)), 0);
	for (i = 0; i < 1000; i++) {
		execute(0, 7);
		n += take_all(0);
		assert_int_equal(n, (i + 1) * 7 / 100);
	}
	/* several periods at once are one overflow */
	execute(0, 1000);
	assert_int_equal(take_all(0), 1);
	assert_int_equal(vpmu_counter_value(k, 0, 5), 8000);
	assert_int_equal(vpmu_counter_left(k, 0, 5), 100);
}

static void test_filters(void **state)
{
	struct vpmu_sample sample;
	unsigned int i;

	(void)state;
	assert_int_equal(program(0, 0, every(VPMU_STORES, VPMU_KERNEL | VPMU_SAMPLE, 3)), 0);
	for (i = 0; i < 30; i++)
		access_at(0, 0, true);
	assert_int_equal(take_all(0), 0);
	vpmu_mode(m, 0, true);
	for (i = 0; i < 10; i++)
		access_at(0, 0, true);
	assert_true(vpmu_sample_take(k, 0, &sample));
	assert_true(sample.kernel);
	assert_true(sample.where.store);
	assert_int_equal(take_all(0), 2);
	vpmu_mode(m, 0, false);
	access_at(0, 0, true);
	assert_int_equal(vpmu_counter_value(k, 0, 0), 10);
	assert_int_equal(vpmu_counter_left(k, 0, 0), 2);
}

/* Only what came from certain sources */
static void test_sources(void **state)
{
	struct vpmu_selection s = every(VPMU_L1D_MISS, BOTH | VPMU_SAMPLE, 5);
	struct vpmu_sample sample;
	unsigned int i, n = 0;

	(void)state;
	s.sources = 1 << VPMU_REMOTE_L2 | 1 << VPMU_LOCAL_L2;
	assert_int_equal(program(0, 1, s), 0);
	for (i = 0; i < 40; i++)
		access_at(2, i * LINE, false);
	access_at(1, 100 * LINE, false);
	for (i = 0; i < 80; i++)
		access_at(0, i * LINE, false);
	access_at(0, 100 * LINE, false);
	assert_int_equal(vpmu_counter_value(k, 0, 1), 41);
	while (vpmu_sample_take(k, 0, &sample)) {
		assert_int_equal(sample.where.miss.source, VPMU_REMOTE_L2);
		assert_int_equal(sample.where.addr, (5 * ++n - 1) * LINE);
	}
	assert_int_equal(n, 8);
	s.event = VPMU_STALL_D;
	s.sources = 1 << VPMU_LOCAL_MEMORY;
	s.period = 0;
	assert_int_equal(program(0, 2, s), 0);
	access_at(0, 200 * LINE, false);
	access_at(0, 1 * LINE, true);
	assert_int_equal(vpmu_counter_value(k, 0, 2), 280);
}

/* What a sample tells with a data address register, and when */
static void look_for(uint64_t addr, bool right)
{
	struct vpmu_sample sample;

	vpmu_counters_look(k, 0, 0x300, false);
	assert_true(vpmu_sample_take(k, 0, &sample));
	assert_int_equal(sample.where.ip, 0x300);
	assert_int_equal(sample.where.addr, addr);
	assert_int_equal(sample.where.miss.source, VPMU_NO_SOURCE);
	assert_int_equal(sample.right, right);
	assert_false(vpmu_sample_take(k, 0, &sample));
}

static void test_dar(void **state)
{
	struct vpmu_selection s = every(VPMU_D_SRC + VPMU_REMOTE_L2, BOTH | VPMU_SAMPLE, 1);
	struct vpmu_sample sample;

	(void)state;
	assert_int_equal(program(0, 1, s), 0);
	access_at(2, 0, false);
	access_at(2, LINE, false);
	/* the last miss when the interrupt comes, ten instructions later */
	access_at(0, 0, false);
	execute(0, 9);
	vpmu_counters_look(k, 0, 0x200, false);
	assert_false(vpmu_sample_take(k, 0, &sample));
	execute(0, 1);
	look_for(0, true);
	/* a hit is no miss, and another miss is */
	access_at(0, LINE, false);
	access_at(0, 0, false);
	execute(0, 5);
	access_at(0, 5 * LINE, false);
	execute(0, 5);
	look_for(5 * LINE, false);
	/* of a block of 30 instructions the 10th and the 20th: the interrupt comes before that one */
	access_at(2, 7 * LINE, false);
	execute(0, 30);
	access_with(0, 7 * LINE, false, 20);
	access_with(0, 8 * LINE, false, 10);
	assert_true(vpmu_sample_take(k, 0, &sample));
	assert_int_equal(sample.where.addr, 7 * LINE);
	assert_true(sample.right);
	/* memory does not count */
	access_at(0, 6 * LINE, false);
	execute(0, 50);
	vpmu_counters_look(k, 0, 0x200, true);
	assert_false(vpmu_sample_take(k, 0, &sample));
}

static void test_dar_at_once(void **state)
{
	struct vpmu_sample sample;

	(void)state;
	assert_int_equal(program(0, 1, every(VPMU_L1D_MISS, BOTH | VPMU_SAMPLE, 1)), 0);
	access_at(0, LINE, false);
	/* while the first waits there is no second one */
	access_at(0, 2 * LINE, false);
	vpmu_counters_look(k, 0, 0x200, true);
	assert_true(vpmu_sample_take(k, 0, &sample));
	assert_int_equal(sample.where.addr, 2 * LINE);
	assert_false(sample.right);
	assert_false(vpmu_sample_take(k, 0, &sample));
	/* another event has the counter before the interrupt */
	access_at(0, 3 * LINE, false);
	assert_int_equal(program(0, 1, every(VPMU_LOADS, BOTH | VPMU_SAMPLE, 100)), 0);
	vpmu_counters_look(k, 0, 0x200, true);
	assert_false(vpmu_sample_take(k, 0, &sample));
}

/* A path ends before the block that comes behind it: it takes no place of that block's misses. */
static void test_dar_path_before_block(void **state)
{
	const uint64_t page = 1ULL << VPMU_PAGE_SHIFT;
	struct vpmu_sample sample;
	unsigned int i;

	(void)state;
	assert_int_equal(program(0, 1, every(VPMU_L1D_MISS, BOTH | VPMU_SAMPLE, 1)), 0);
	for (i = 0; i < 1000; i++) {
		execute(0, 10);
		vpmu_branch(m, 0, i, true);
		access_at(0, i * page, false);
		vpmu_counters_look(k, 0, 0x200, true);
		assert_true(vpmu_sample_take(k, 0, &sample));
		assert_int_equal(sample.where.addr, i * page);
		assert_true(sample.right);
	}
}

/* Of 1,000 paths of 12 instructions, of which one in 60 misses, 200 leave an address. */
static void test_dar_wrong_paths(void **state)
{
	const uint64_t page = 1ULL << VPMU_PAGE_SHIFT;
	unsigned int i, left = 0;
	struct vpmu_sample sample;

	(void)state;
	assert_int_equal(program(0, 1, every(VPMU_L1D_MISS, BOTH | VPMU_SAMPLE, 1)), 0);
	for (i = 0; i < 1000; i++) {
		execute(0, 60);
		access_at(0, i * page, false);
		/* each is new, and is taken to fall through */
		vpmu_branch(m, 0, i, true);
		vpmu_counters_look(k, 0, 0x200, true);
		assert_true(vpmu_sample_take(k, 0, &sample));
		assert_int_equal(sample.where.addr / page, i);
		assert_true(sample.right == !(sample.where.addr % page) || !sample.right);
		left += !sample.right;
	}
	assert_in_range(left, 150, 250);
}

static void test_placement(void **state)
{
	static const struct { unsigned int event, counters; } expected[] = {
		{ VPMU_NONE, 0 }, { VPMU_CYCLES, 0x3f }, { VPMU_INSNS, 0x3f },
		{ VPMU_LOADS, 0xf }, { VPMU_L1I_MISS, 0xf }, { VPMU_PREFETCH_USED, 0xf },
		{ VPMU_D_SRC, 0xf }, { VPMU_D_SRC + 5, 0xf }, { VPMU_D_SRC + 6, 0 },
		{ VPMU_I_SRC + 5, 0xf }, { VPMU_I_SRC + 6, 0 }, { VPMU_STALL_D, 0x3c },
		{ VPMU_STALL_OTHER, 0x3c }, { VPMU_STALL_D_SRC + 5, 0x3c },
		{ VPMU_STALL_D_SRC + 6, 0 }, { VPMU_EVENTS - 1, 0 }, { 1000000, 0 },
	};
	unsigned int i, nr;

	(void)state;
	for (i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
		unsigned int event = expected[i].event, counters = expected[i].counters;

		assert_int_equal(vpmu_event_placement(k, event), counters);
		for (nr = 0; nr < VPMU_COUNTERS && event; nr++)
			assert_int_equal(program(0, nr, every(event, BOTH, 0)),
					 counters & 1 << nr ? 0 : -EINVAL);
	}
}

static void test_bad_selections(void **state)
{
	static const struct vpmu_selection bad[] = {
		{ .event = VPMU_LOADS, .flags = 0 },
		{ .event = VPMU_LOADS, .flags = VPMU_SAMPLE },
		{ .event = VPMU_LOADS, .flags = BOTH | 8 },
		{ .event = VPMU_LOADS, .flags = BOTH, .sources = 1 },
		{ .event = VPMU_L1D_MISS, .flags = BOTH, .sources = 64 },
		{ .event = VPMU_LOADS, .flags = BOTH, .period = 5 },
		{ .event = VPMU_LOADS, .flags = BOTH, .period = UINT64_MAX, .start = 1 },
		{ .event = VPMU_LOADS, .flags = BOTH, .period = 1, .start = UINT64_MAX },
		{ .event = VPMU_LOADS, .flags = BOTH, .period = 1, .start = 1,
		  .random_mask = UINT64_MAX },
	};
	unsigned int i;

	(void)state;
	assert_int_equal(program(0, 0, every(VPMU_LOADS, BOTH, 0)), 0);
	access_at(0, 0, false);
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		if (program(0, 0, bad[i]) != -EINVAL)
			fail_msg("selection %u is taken", i);
	/* and nothing changed */
	access_at(0, 0, false);
	assert_int_equal(vpmu_counter_value(k, 0, 0), 2);
}

static void test_ring(void **state)
{
	struct vpmu_sample sample;
	unsigned int i, next = 0;

	(void)state;
	assert_int_equal(program(0, 0, every(VPMU_LOADS, BOTH | VPMU_SAMPLE, 1)), 0);
	/* round and round, with room */
	for (i = 0; i < 5 * RING; i++) {
		access_at(0, i * 8, false);
		if (i % 3 != 2)
			continue;
		while (vpmu_sample_take(k, 0, &sample))
			assert_int_equal(sample.where.addr, 8 * next++);
	}
	take_all(0);
	assert_int_equal(vpmu_samples_lost(k, 0), 0);
	/* too many: the oldest stay, the rest is counted */
	for (i = 0; i < RING + 9; i++)
		access_at(0, i * 8, false);
	assert_int_equal(vpmu_samples_lost(k, 0), 9);
	for (i = 0; i < RING; i++) {
		assert_true(vpmu_sample_take(k, 0, &sample));
		assert_int_equal(sample.where.addr, 8 * i);
		assert_int_equal(sample.stamp, 5 * RING + i);
	}
	assert_false(vpmu_sample_take(k, 0, &sample));
	/* a gap in the stamps shows where */
	access_at(0, 0, false);
	assert_true(vpmu_sample_take(k, 0, &sample));
	assert_int_equal(sample.stamp, 6 * RING + 9);
	assert_int_equal(vpmu_samples_lost(k, 1), 0);
}

static void test_stamps_of_all(void **state)
{
	struct vpmu_sample sample;
	unsigned int i;

	(void)state;
	for (i = 0; i < 4; i++)
		assert_int_equal(program(i, 0, every(VPMU_LOADS, BOTH | VPMU_SAMPLE, 1)), 0);
	for (i = 0; i < 12; i++)
		access_at(i % 4, 0, false);
	for (i = 0; i < 12; i++) {
		assert_true(vpmu_sample_take(k, i % 4, &sample));
		assert_int_equal(sample.stamp, i);
		assert_int_equal(sample.cpu, i % 4);
	}
}

static void random_run(uint64_t mask, uint64_t *at, unsigned int n)
{
	struct vpmu_selection s = every(VPMU_LOADS, BOTH | VPMU_SAMPLE, 64);
	struct vpmu_sample sample;
	unsigned int i = 0;
	uint64_t loads = 0;

	s.random_mask = mask;
	vpmu_machine_reset(m);
	vpmu_counters_reset(k);
	assert_int_equal(program(0, 0, s), 0);
	while (i < n) {
		access_at(0, 0, false);
		loads++;
		if (vpmu_sample_take(k, 0, &sample))
			at[i++] = loads;
	}
}

static void test_random_periods(void **state)
{
	uint64_t a[400], b[400], shortest = UINT64_MAX, longest = 0;
	unsigned int i;

	(void)state;
	random_run(31, a, 400);
	random_run(31, b, 400);
	assert_memory_equal(a, b, sizeof(a));	/* the same seed, the same periods */
	for (i = 1; i < 400; i++) {
		uint64_t period = a[i] - a[i - 1];

		shortest = period < shortest ? period : shortest;
		longest = period > longest ? period : longest;
	}
	assert_int_equal(shortest, 64);
	assert_int_equal(longest, 64 + 31);
	/* 79.5 on average, standard error 0.46 */
	assert_in_range((a[399] - a[0]) * 10 / 399, 775, 815);

	vpmu_counters_free(k);
	k = vpmu_counters_new(m, RING, 8);
	random_run(31, b, 400);
	assert_memory_not_equal(a, b, sizeof(a));
}

/* A lost line is its former holder's event, seen when that CPU looks next. */
static void test_others_event(void **state)
{
	struct vpmu_sample sample;

	(void)state;
	assert_int_equal(program(0, 0, every(VPMU_INVALIDATED, BOTH | VPMU_SAMPLE, 1)), 0);
	access_at(0, 0, false);
	access_at(2, 0, true);
	assert_false(vpmu_sample_take(k, 0, &sample));
	vpmu_access(m, 0, 0, 0, 8, false, &(struct vpmu_miss){ 0 });
	access_at(2, 0, true);
	assert_int_equal(vpmu_counter_value(k, 0, 0), 2);
	assert_int_equal(vpmu_counter_left(k, 0, 0), 1);
	execute(0, 1);
	assert_true(vpmu_sample_take(k, 0, &sample));
	assert_int_equal(sample.where.ip, 0x100);
	/* or not, when it has been stopped by then */
	access_at(0, 0, false);
	access_at(2, 0, true);
	vpmu_counters_stop(k, 0);
	vpmu_counters_overflow(k, 0, &(struct vpmu_where){ 0 });
	assert_false(vpmu_sample_take(k, 0, &sample));
	assert_int_equal(m->cpu[0].limit[0][VPMU_INVALIDATED], UINT64_MAX);
}

static void test_reset(void **state)
{
	struct vpmu_sample sample;

	(void)state;
	assert_int_equal(program(0, 0, every(VPMU_LOADS, BOTH | VPMU_SAMPLE, 1)), 0);
	access_at(0, 0, false);
	vpmu_machine_reset(m);
	vpmu_counters_reset(k);
	access_at(0, 0, false);
	/* a look that nobody asked for does no harm */
	vpmu_counters_overflow(k, 0, &(struct vpmu_where){ 0 });
	assert_int_equal(take_all(0), 0);
	assert_int_equal(vpmu_counter_value(k, 0, 0), 0);
	assert_int_equal(program(0, 0, every(VPMU_LOADS, BOTH | VPMU_SAMPLE, 1)), 0);
	access_at(0, 0, false);
	assert_true(vpmu_sample_take(k, 0, &sample));
	assert_int_equal(sample.stamp, 0);
}

/* ---- random selections and traffic, against a sum after each step --------------------- */

struct naive {
	struct vpmu_selection s;
	uint64_t base, overflows;
};

static uint64_t naive_sum(unsigned int cpu, const struct vpmu_selection *s)
{
	uint64_t n = 0;
	unsigned int e, mode;

	for (mode = 0; mode < 2; mode++)
		for (e = 0; e < VPMU_EVENTS; e++) {
			bool counts = e == s->event;

			if (s->sources)
				counts = s->event == VPMU_L1D_MISS && e >= VPMU_D_SRC &&
					 e < VPMU_D_SRC + VPMU_SOURCES &&
					 s->sources & 1 << (e - VPMU_D_SRC);
			if (counts && s->flags & (mode ? VPMU_KERNEL : VPMU_USER))
				n += m->cpu[cpu].count[mode][e];
		}
	return n;
}

static unsigned int seed;

static unsigned int below(unsigned int n)
{
	return rand_r(&seed) % n;
}

static void random_program(unsigned int cpu, struct naive *naive)
{
	static const unsigned int events[] = {
		VPMU_NONE, VPMU_CYCLES, VPMU_INSNS, VPMU_LOADS, VPMU_STORES, VPMU_L1D_MISS,
		VPMU_L1D_MISS, VPMU_INVALIDATED, VPMU_STALL_D, VPMU_STALL_TLB,
	};
	struct vpmu_selection all[VPMU_COUNTERS] = { 0 };
	unsigned int i;

	for (i = 0; i < VPMU_COUNTERS; i++) {
		do {
			all[i] = every(events[below(10)], (1 + below(3)) | VPMU_SAMPLE,
				       1 + below(50));
		} while (all[i].event && !(vpmu_event_placement(k, all[i].event) & 1 << i));
		if (all[i].event == VPMU_L1D_MISS)
			all[i].sources = below(VPMU_ALL_SOURCES + 1);
		naive[i] = (struct naive){ all[i], naive_sum(cpu, &all[i]), 0 };
	}
	assert_int_equal(vpmu_counters_program(k, cpu, all), 0);
}

static void step(unsigned int cpu)
{
	unsigned int what = below(20);

	if (what == 0)
		vpmu_mode(m, cpu, below(2));
	else if (what < 5)
		execute(cpu, 1 + below(9));
	else
		access_at(cpu, below(3000) * (LINE / 2), !below(3));
}

static void test_against_naive(void **state)
{
	struct naive naive[4][VPMU_COUNTERS];
	unsigned int i, cpu, nr, samples = 0;
	struct vpmu_sample sample;

	(void)state;
	seed = 5;
	for (i = 0; i < 60000; i++) {
		if (i % 5000 == 0)
			for (cpu = 0; cpu < 4; cpu++)
				random_program(cpu, naive[cpu]);
		cpu = below(4);
		step(cpu);
		if (vpmu_pending(m, cpu))	/* what others did, or a change of mode */
			execute(cpu, 1);
		for (nr = 0; nr < VPMU_COUNTERS; nr++) {
			struct naive *n = &naive[cpu][nr];
			uint64_t value = naive_sum(cpu, &n->s) - n->base;
			bool over = n->s.event && value / n->s.period > n->overflows;

			assert_int_equal(vpmu_counter_value(k, cpu, nr), n->s.event ? value : 0);
			if (over)
				n->overflows = value / n->s.period;
			if (!over)
				continue;
			assert_true(vpmu_sample_take(k, cpu, &sample));
			assert_int_equal(sample.counter, nr);
			samples++;
		}
		assert_false(vpmu_sample_take(k, cpu, &sample));
	}
	assert_true(samples > 10000);
}

#define T(f)	cmocka_unit_test_setup_teardown(f, new_machine, free_machine)
#define D(f)	cmocka_unit_test_setup_teardown(f, new_dar, free_machine)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_values), T(test_period), T(test_start), T(test_lumps), T(test_filters),
		T(test_sources), T(test_placement), T(test_bad_selections), T(test_ring),
		T(test_stamps_of_all), T(test_random_periods), T(test_others_event), T(test_reset),
		T(test_against_naive), D(test_dar), D(test_dar_at_once), D(test_dar_path_before_block),
		D(test_dar_wrong_paths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
