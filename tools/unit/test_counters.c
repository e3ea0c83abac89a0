// SPDX-License-Identifier: GPL-2.0
/* Counters that are shared out: groups, their order, estimates, and where the cycles went. */
#include <linux/limits.h>
#include <math.h>
#include "counters.h"
#include "test.h"

/* Groups: a PMU whose event i may be on the counters of may[i] */

struct pmu {
	u32 may[HPC_EVENTS];
	unsigned int asked;
};

/* All ways to place the events of @set on the counters that are not @taken */
static bool place_all(const struct pmu *p, u64 set, u32 taken)
{
	unsigned int i, k;

	if (!set)
		return true;
	i = __builtin_ctzll(set);
	for (k = 0; k < 32; k++)
		if (p->may[i] & ~taken & 1U << k && place_all(p, set & (set - 1), taken | 1U << k))
			return true;
	return false;
}

static bool fits(void *arg, u64 set)
{
	struct pmu *p = arg;

	p->asked++;
	return place_all(p, set, 0);
}

/* Cycles and instructions anywhere, 8 stalls on the last four, 6 sources on the first four */
static void vpmu(struct pmu *p)
{
	unsigned int i;

	memset(p, 0, sizeof(*p));
	p->may[0] = p->may[1] = 0x3f;
	for (i = 2; i < 10; i++)
		p->may[i] = 0x3c;
	for (; i < 16; i++)
		p->may[i] = 0x0f;
}

/* Each event is in one group, cycles in each, and each group can count. */
static void assert_groups(struct pmu *p, const struct hpc_groups *g, unsigned int events)
{
	u64 seen = g->left;
	unsigned int k;

	for (k = 0; k < g->nr; k++) {
		assert_true(g->set[k] & 1);
		assert_true(fits(p, g->set[k]));
		assert_false(seen & g->set[k] & ~1ULL);
		seen |= g->set[k];
	}
	assert_same(seen | 1, ~0ULL >> (64 - events));
}

static void test_pack_vpmu(void **state)
{
	struct hpc_groups g;
	struct pmu p;

	vpmu(&p);
	assert_same(hpc_pack(&g, 16, fits, &p, 1), 0);
	assert_groups(&p, &g, 16);
	/* 15 events besides cycles, 5 counters besides that of cycles */
	assert_same(g.nr, 3);
	assert_same(g.left, 0);
	(void)state;
}

/* The fewest groups there are for the events from @i on: each in one of the groups or a new one */
static unsigned int fewest(struct pmu *p, u64 *set, unsigned int nr, unsigned int i,
			   unsigned int events)
{
	unsigned int k, best = HPC_GROUPS, now;

	if (i == events)
		return nr;
	for (k = 0; k <= nr; k++) {
		if (k == nr)
			set[k] = 1;
		if (!fits(p, set[k] | 1ULL << i))
			continue;
		set[k] |= 1ULL << i;
		now = fewest(p, set, k == nr ? nr + 1 : nr, i + 1, events);
		best = now < best ? now : best;
		set[k] &= ~(1ULL << i);
	}
	return best;
}

/* As few groups as there can be, nearly always */
static void test_pack_is_tight(void **state)
{
	struct rng r = { .state = 5 };
	unsigned int i, round, more = 0;
	u64 set[HPC_EVENTS];
	struct hpc_groups g;
	struct pmu p;

	for (round = 0; round < 100; round++) {
		memset(&p, 0, sizeof(p));
		p.may[0] = 15;
		for (i = 1; i < 9; i++)
			p.may[i] = 1 + rng_below(&r, 15);
		assert_same(hpc_pack(&g, 9, fits, &p, round), 0);
		assert_groups(&p, &g, 9);
		if (!g.left)
			more += g.nr - fewest(&p, set, 0, 1, 9);
	}
	assert_true(more <= 1);
	(void)state;
}

static void test_pack_left(void **state)
{
	struct hpc_groups g;
	struct pmu p;

	vpmu(&p);
	p.may[3] = 0;
	assert_same(hpc_pack(&g, 16, fits, &p, 1), 0);
	assert_groups(&p, &g, 16);
	assert_same(g.left, 8);
	/* others have all counters */
	memset(p.may, 0, sizeof(p.may));
	assert_same(hpc_pack(&g, 16, fits, &p, 1), 0);
	assert_same(g.nr, 0);
	(void)state;
}

static void test_pack_cycles_only(void **state)
{
	struct hpc_groups g;
	struct pmu p;

	vpmu(&p);
	assert_same(hpc_pack(&g, 1, fits, &p, 1), 0);
	assert_same(g.nr, 1);
	assert_same(g.set[0], 1);
	(void)state;
}

static void test_pack_many(void **state)
{
	struct hpc_groups g;
	struct pmu p = { };
	unsigned int i;

	/* two counters, one of which cycles take */
	for (i = 0; i < HPC_EVENTS; i++)
		p.may[i] = 3;
	assert_same(hpc_pack(&g, HPC_GROUPS + 1, fits, &p, 1), 0);
	assert_same(g.nr, HPC_GROUPS);
	assert_groups(&p, &g, HPC_GROUPS + 1);
	assert_same(hpc_pack(&g, HPC_GROUPS + 2, fits, &p, 1), -E2BIG);
	(void)state;
}

/* Order */

static void test_order_weights(void **state)
{
	static const u8 weight[] = { 1, 2, 4, 0 };
	unsigned int i, round, had[4];
	struct hpc_order o;

	assert_same(hpc_order_init(&o, weight, 4, 7), 0);
	for (round = 0; round < 1000; round++) {
		memset(had, 0, sizeof(had));
		for (i = 0; i < 7; i++)
			had[hpc_order_next(&o)]++;
		for (i = 0; i < 4; i++)
			assert_same(had[i], weight[i]);
	}
	(void)state;
}

/* Each group is in each place as often as in others. */
static void test_order_is_random(void **state)
{
	static const u8 weight[] = { 1, 1, 1, 1, 1 };
	unsigned int i, round, had[5][5] = { };
	struct hpc_order o;

	assert_same(hpc_order_init(&o, weight, 5, 3), 0);
	for (round = 0; round < 10000; round++)
		for (i = 0; i < 5; i++)
			had[i][hpc_order_next(&o)]++;
	/* 2000 +- 40; six standard deviations */
	for (i = 0; i < 25; i++)
		assert_in_range(had[i / 5][i % 5], 1760, 2240);
	(void)state;
}

static void test_order_bad(void **state)
{
	static const u8 none[2] = { }, many[2] = { HPC_SLOTS, 1 }, most[2] = { HPC_SLOTS - 1, 1 };
	struct hpc_order o;

	assert_same(hpc_order_init(&o, none, 2, 1), -EINVAL);
	assert_same(hpc_order_init(&o, many, 2, 1), -EINVAL);
	assert_same(hpc_order_init(&o, most, 2, 1), 0);
	(void)state;
}

/* Estimates */

static void test_little(void **state)
{
	struct hpc_estimate e;
	struct hpc_count c = { };
	unsigned int i;

	for (i = 0; i < HPC_LEAST; i++) {
		assert_false(hpc_estimate(&c, 100000, &e));
		hpc_count_add(&c, 10, 100);
	}
	assert_true(hpc_estimate(&c, 100000, &e));
	(void)state;
}

static void test_steady(void **state)
{
	struct hpc_estimate e;
	struct hpc_count c = { };
	unsigned int i;

	for (i = 0; i < 50; i++)
		hpc_count_add(&c, 10 * (i + 1), 100 * (i + 1));
	assert_true(hpc_estimate(&c, 10 * c.cycles, &e));
	assert_same(e.value, c.cycles);
	assert_same(e.var, 0);
	(void)state;
}

/* A program in phases is counted for a tenth of the time. Returns the error, in bounds. */
static double one_bound(struct rng *r, unsigned int slices)
{
	u64 truth = 0, cycles = 0, x, y;
	struct hpc_count c = { };
	struct hpc_estimate e;
	unsigned int i, turn = 0;
	struct hpc_var v = { };
	double bound;

	for (i = 0; i < slices; i++) {
		if (i % 10 == 0)
			turn = rng_below(r, 10);
		y = 50000 + rng_below(r, 100000);
		x = y / (i / 100 % 2 ? 4 : 9) + rng_below(r, 10000);
		truth += x;
		cycles += y;
		if (i % 10 == turn)
			hpc_count_add(&c, x, y);
	}
	assert_true(hpc_estimate(&c, cycles, &e));
	hpc_var_add(&v, e.var);
	bound = hpc_error(&v);
	/* the bound is of use: less than a quarter of it all */
	assert_true(bound > 0 && bound < truth / 4.0);
	return fabs((double)e.value - truth) / bound;
}

/* Two standard errors: 95 of 100, and more here, as a round has a slice of each phase */
static void test_bound(void **state)
{
	struct rng r = { .state = 11 };
	unsigned int i, outside = 0;
	double sum = 0, error;

	for (i = 0; i < 1000; i++) {
		error = one_bound(&r, 1000);
		outside += error > 1;
		sum += error;
	}
	assert_true(outside <= 60);
	/* and it is not ten times too wide */
	assert_true(sum / 1000 > 0.05);
	(void)state;
}

/* Slices of a second: the error is as large as it can be told, and nothing wraps. */
static void test_long(void **state)
{
	struct hpc_count c = { };
	struct hpc_estimate e;
	unsigned int i;

	for (i = 0; i < 100; i++) {
		hpc_count_add(&c, i % 2 ? 1ULL << 34 : 0, 1ULL << 34);
		assert_true(!i || c.spread);
	}
	assert_true(hpc_estimate(&c, 2 * c.cycles, &e));
	assert_same(e.value, 100ULL << 34);
	assert_true(c.spread == U64_MAX);
	assert_true(e.var > U64_MAX / 2);
	(void)state;
}

static void test_error(void **state)
{
	struct hpc_var v = { };
	unsigned int i;

	assert_same(hpc_error(&v), 0);
	hpc_var_add(&v, 100);
	assert_same(hpc_error(&v), 20);
	/* a little of it often is not lost */
	for (i = 0; i < 99; i++)
		hpc_var_add(&v, 100);
	assert_same(hpc_error(&v), 200);
	/* and much of it neither */
	for (i = 0; i < 100; i++)
		hpc_var_add(&v, 1ULL << 63);
	assert_true(fabs(hpc_error(&v) / (2 * sqrt(100 * 0x1p63)) - 1) < 0.001);
	(void)state;
}

/* Where the cycles went: two stalls, the first of which has two sources, and a third one */

static const struct hpc_set set = {
	.nr = 6, .longest = 200,
	.role = { HPC_PLAIN, HPC_STALL, HPC_STALL, HPC_SOURCE, HPC_SOURCE, HPC_SOURCE },
	.of = { 0, 0, 0, 1, 1, 2 },
	.latency = { 0, 0, 0, 10, 100, 7 },
};

/* In each of @slices of 1000 cycles so many events. An event is counted in a half of them. */
static void fill(struct hpc_window *w, const u64 *count, unsigned int slices)
{
	u64 some[HPC_AT_ONCE], events;
	unsigned int i, k, n;
	static u32 slice;

	for (k = 0; k < slices; k++) {
		events = 0;
		for (i = n = 0; i < set.nr; i++) {
			if (i && k % 2 != i % 2)
				continue;
			events |= 1ULL << i;
			some[n++] = count[i];
		}
		hpc_window_add(w, slice++, events, (1 << n) - 1, some);
	}
}

static void test_break_down(void **state)
{
	static const u64 count[] = { 1000, 300, 200, 10, 2, 5 };
	struct hpc_window w = { };
	struct hpc_totals t = { };
	unsigned int i;

	for (i = 1; i <= 2; i++) {
		fill(&w, count, 40);
		hpc_window_close(&w, &set, &t);
		assert_same(w.slices, 0);
		assert_same(t.cycles, 40000 * i);
		assert_same(t.event[1].stall, 12000 * i);
		assert_same(t.event[2].stall, 8000 * i);
		assert_same(t.completion, 20000 * i);
		assert_same(t.unknown, 0);
		assert_same(t.event[3].count, 400 * i);
		assert_same(t.event[3].counted, 20000 * i);
		assert_same(t.event[3].cycles, 40000 * i);
	}
	(void)state;
}

/* The sources have the stall that was counted, in proportion to latency * frequency. */
static void test_sources(void **state)
{
	static const u64 count[] = { 1000, 300, 200, 10, 2, 5 };
	static const u64 other[] = { 1000, 300, 200, 12, 2, 5 };
	struct hpc_window w = { };
	struct hpc_totals t = { };

	fill(&w, count, 40);
	hpc_window_close(&w, &set, &t);
	assert_same(t.event[3].stall, 4000);
	assert_same(t.event[4].stall, 8000);
	assert_same(t.event[5].stall, 8000);
	assert_same(hpc_error(&t.event[3].stall_var), 0);
	fill(&w, count, 40);
	fill(&w, other, 40);
	hpc_window_close(&w, &set, &t);
	assert_true(hpc_error(&t.event[3].stall_var) > 0);
	(void)state;
}

/* Estimates of stalls that are as large as can be, of a PMU that lies, add up to the cycles, too. */
static void test_too_much(void **state)
{
	static const u64 count[] = { 1000, 1ULL << 59, 1ULL << 59, 10, 2, 5 };
	struct hpc_window w = { };
	struct hpc_totals t = { };

	fill(&w, count, 40);
	hpc_window_close(&w, &set, &t);
	assert_same(t.event[1].count, U64_MAX);
	assert_same(t.event[2].count, U64_MAX);
	assert_same(t.event[1].stall + t.event[2].stall, 40000);
	assert_same(t.completion, 0);
	(void)state;
}

static void test_lacking_stall(void **state)
{
	static const u64 count[] = { 1000, 300, 200, 10, 2, 5 };
	struct hpc_window w = { };
	struct hpc_totals t = { };

	fill(&w, count, 40);
	w.event[2].slices = HPC_LEAST - 1;
	hpc_window_close(&w, &set, &t);
	assert_same(t.unknown, 40000);
	assert_same(t.cycles, 40000);
	assert_same(t.completion + t.event[1].stall + t.event[2].stall, 0);
	assert_same(t.event[2].cycles, 0);
	assert_same(t.event[1].cycles, 40000);
	(void)state;
}

static void test_lacking_source(void **state)
{
	static const u64 count[] = { 1000, 300, 200, 10, 2, 5 };
	struct hpc_window w = { };
	struct hpc_totals t = { };

	fill(&w, count, 40);
	w.event[4].slices = 0;
	hpc_window_close(&w, &set, &t);
	assert_same(t.unknown, 0);
	assert_same(t.event[1].stall, 12000);
	assert_same(t.event[3].stall, 0);
	assert_same(t.event[3].count, 400);
	(void)state;
}

/* The last slice is not over. */
static void test_due(void **state)
{
	static const u64 count[] = { 1000, 300, 200, 10, 2, 5 };
	struct hpc_window w = { };

	fill(&w, count, 2 * HPC_LEAST);
	assert_false(hpc_window_due(&w, &set));
	fill(&w, count, 1);
	assert_true(hpc_window_due(&w, &set));
	w.event[4].slices = 0;
	assert_false(hpc_window_due(&w, &set));
	w.slices = 200;
	assert_true(hpc_window_due(&w, &set));
	(void)state;
}

/*
 * A thread that is on and off the CPU all the time has hundreds of pieces in a slice. They are as
 * one: no window ends before all groups had their turns, and the error is that of the slices.
 */
static void test_many_pieces(void **state)
{
	struct hpc_window w = { }, whole = { };
	struct hpc_totals t = { }, other = { };
	u64 count[3] = { }, sum[3];
	unsigned int i, k, n;

	for (i = 0; i < 2 * HPC_LEAST; i++) {
		memset(sum, 0, sizeof(sum));
		for (k = 0; k < 300; k++) {
			count[0] = 10;
			count[1] = count[2] = (i / 2 + k) % 3;
			hpc_window_add(&w, i, i % 2 ? 0xb : 0x15, 7, count);
			assert_false(hpc_window_due(&w, &set));
			for (n = 0; n < 3; n++)
				sum[n] += count[n];
		}
		hpc_window_add(&whole, i, i % 2 ? 0xb : 0x15, 7, sum);
	}
	hpc_window_close(&w, &set, &t);
	hpc_window_close(&whole, &set, &other);
	assert_same(t.cycles, 2 * HPC_LEAST * 3000);
	assert_same(t.unknown, 0);
	assert_memory_equal(&t, &other, sizeof(t));
	(void)state;
}

/* What had no counter for a part of the slice is known of the rest. */
static void test_partly_seen(void **state)
{
	static const u64 count[] = { 100, 30, 20 };
	struct hpc_window w = { };
	unsigned int i;

	for (i = 0; i < 40; i++)
		hpc_window_add(&w, i / 2, 0x7, i % 2 ? 5 : 7, count);
	hpc_window_add(&w, i, 1, 1, count);
	assert_same(w.cycles, 4100);
	assert_same(w.slices, 20);
	assert_same(w.event[0].cycles, 4000);
	assert_same(w.event[1].cycles, 2000);
	assert_same(w.event[1].count, 600);
	assert_same(w.event[2].count, 800);
	assert_same(w.event[2].slices, 20);
	/* by chance another slice has the number */
	hpc_window_add(&w, i, 3, 3, count);
	assert_same(w.slices, 21);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pack_vpmu),
		cmocka_unit_test(test_pack_is_tight),
		cmocka_unit_test(test_pack_left),
		cmocka_unit_test(test_pack_cycles_only),
		cmocka_unit_test(test_pack_many),
		cmocka_unit_test(test_order_weights),
		cmocka_unit_test(test_order_is_random),
		cmocka_unit_test(test_order_bad),
		cmocka_unit_test(test_little),
		cmocka_unit_test(test_steady),
		cmocka_unit_test(test_bound),
		cmocka_unit_test(test_long),
		cmocka_unit_test(test_error),
		cmocka_unit_test(test_break_down),
		cmocka_unit_test(test_sources),
		cmocka_unit_test(test_too_much),
		cmocka_unit_test(test_lacking_stall),
		cmocka_unit_test(test_lacking_source),
		cmocka_unit_test(test_due),
		cmocka_unit_test(test_many_pieces),
		cmocka_unit_test(test_partly_seen),
	};

	cmocka_set_test_filter(getenv("UNIT_FILTER"));
	return cmocka_run_group_tests_name("counters", tests, NULL, NULL);
}
