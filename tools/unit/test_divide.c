// SPDX-License-Identifier: GPL-2.0
/* Who gets how much memory? Plans are compared with the best of all there are. */
#include <linux/limits.h>
#include "test.h"

#define MOST	4		/* who share, in these tests */
#define SHARES(f)	(f)->pointers, (f)->nr

struct fixture {
	struct mmpath_share s[MOST];
	struct mmpath_share *pointers[MOST];
	unsigned int nr;
	u32 total;
	enum mmpath_balance mode;
	struct rng r;
};

static void fixture_init(struct fixture *f, unsigned int nr, u32 total,
			 enum mmpath_balance mode)
{
	unsigned int i;

	memset(f, 0, sizeof(*f));
	f->nr = nr;
	f->total = total;
	f->mode = mode;
	f->r.state = 17;
	for (i = 0; i < nr; i++) {
		f->pointers[i] = &f->s[i];
		f->s[i].cpu_us = 1000000;
		f->s[i].sla = U64_MAX;
		f->s[i].weight = 100;
		f->s[i].most = total;
		f->s[i].steps = total / nr;
	}
}

static u32 divide(struct fixture *f, u32 moves)
{
	return mmpath_divide(SHARES(f), f->mode, f->total, moves);
}

/* @high misses up to @knee steps, then falling with the same slope to @end */
static void curve(struct mmpath_share *s, u64 high, u32 knee, u32 end)
{
	u32 k;

	for (k = 0; k <= MMPATH_STEPS; k++)
		s->lambda[k] = k < knee ? high : k >= end ? 0 : high * (end - k) / (end - knee);
}

static void random_curve(struct fixture *f, struct mmpath_share *s)
{
	u64 misses = 100000;
	u32 k;

	for (k = 0; k <= MMPATH_STEPS; k++) {
		s->lambda[k] = misses;
		/* flat for some time, then a cliff, or a slope */
		if (rng_below(&f->r, 4) == 0)
			misses -= rng_below(&f->r, misses / 3 + 1);
	}
}

static u32 sum(const struct fixture *f)
{
	u32 steps = 0;
	unsigned int i;

	for (i = 0; i < f->nr; i++)
		steps += f->s[i].steps;
	return steps;
}

static u64 cost(const struct fixture *f, const u32 *steps)
{
	u64 misses = 0, highest = 0, rate;
	unsigned int i;

	for (i = 0; i < f->nr; i++) {
		rate = f->s[i].lambda[steps[i]] * f->s[i].weight * 1000000 / f->s[i].cpu_us;
		misses += f->s[i].lambda[steps[i]] * f->s[i].weight;
		highest = rate > highest ? rate : highest;
	}
	return f->mode == MMPATH_BALANCE_FAIR ? highest : misses;
}

/* All ways to divide what is left among those from the @i-th on */
static u64 best_from(const struct fixture *f, u32 *steps, unsigned int i, u32 left)
{
	u64 best = U64_MAX, c;
	u32 k;

	if (i == f->nr - 1) {
		steps[i] = left;
		if (left < f->s[i].least || left > f->s[i].most)
			return U64_MAX;
		return cost(f, steps);
	}
	for (k = f->s[i].least; k <= left && k <= f->s[i].most; k++) {
		steps[i] = k;
		c = best_from(f, steps, i + 1, left - k);
		best = c < best ? c : best;
	}
	return best;
}

static u64 best_cost(const struct fixture *f)
{
	u32 steps[MOST];

	return best_from(f, steps, 0, f->total);
}

static u64 cost_now(const struct fixture *f)
{
	u32 steps[MOST];
	unsigned int i;

	for (i = 0; i < f->nr; i++)
		steps[i] = f->s[i].steps;
	return cost(f, steps);
}

/* A plan that is better by less than a sixteenth is not worth its while. */
static void assert_best(const struct fixture *f)
{
	u64 best = best_cost(f), now = cost_now(f);

	assert_same(sum(f), f->total);
	if (now - now / 16 > best && now > best + 16 * 100)
		fail_msg("costs %llu, best %llu", now, best);
}

static void test_pairs(void **state)
{
	struct fixture f;
	int i;

	(void)state;
	for (i = 0; i < 300; i++) {
		fixture_init(&f, 2, 100, i % 2 ? MMPATH_BALANCE_FAIR : MMPATH_BALANCE_THROUGHPUT);
		f.r.state += i;
		random_curve(&f, &f.s[0]);
		random_curve(&f, &f.s[1]);
		f.s[0].weight = 1 + rng_below(&f.r, 300);
		f.s[0].cpu_us = 1000 + rng_below(&f.r, 2000000);
		f.s[0].least = rng_below(&f.r, 30);
		f.s[1].most = 80 + rng_below(&f.r, 20);
		divide(&f, 100);
		assert_best(&f);
	}
}

/* Fair is exact for any number; throughput if no curve has a cliff. */
static void test_several(void **state)
{
	struct fixture f;
	int i, j;

	(void)state;
	for (i = 0; i < 40; i++) {
		fixture_init(&f, MOST, 32, i % 2 ? MMPATH_BALANCE_FAIR : MMPATH_BALANCE_THROUGHPUT);
		f.r.state += i;
		for (j = 0; j < MOST; j++) {
			random_curve(&f, &f.s[j]);
			if (f.mode == MMPATH_BALANCE_THROUGHPUT)
				mmpath_share_hull(&f.s[j]);
		}
		divide(&f, 100);
		assert_best(&f);
	}
}

/* Two loops of which one fits: half of memory each is the worst there is. */
static void test_cliff(void **state)
{
	struct fixture f;

	(void)state;
	fixture_init(&f, 2, 100, MMPATH_BALANCE_THROUGHPUT);
	curve(&f.s[0], 10000, 79, 80);
	curve(&f.s[1], 10000, 89, 90);
	divide(&f, 100);
	assert_true(f.s[0].steps >= 80 || f.s[1].steps >= 90);
	assert_same(cost_now(&f), 10000 * 100);
	assert_same(sum(&f), 100);
	/* one that loses least by giving, and gains most by taking */
	fixture_init(&f, 3, 99, MMPATH_BALANCE_THROUGHPUT);
	curve(&f.s[0], 10000, 37, 38);
	curve(&f.s[1], 1000, 0, 100);
	curve(&f.s[2], 1000, 0, 100);
	divide(&f, 100);
	assert_same(f.s[0].steps, 38);
}

static void test_moves(void **state)
{
	struct fixture f;
	u32 moved, calls = 0, before;

	(void)state;
	fixture_init(&f, 2, 100, MMPATH_BALANCE_THROUGHPUT);
	curve(&f.s[0], 10000, 0, 100);
	curve(&f.s[1], 10, 0, 100);
	do {
		before = f.s[0].steps;
		moved = divide(&f, 8);
		assert_same(f.s[0].steps - before, moved);
		assert_true(moved <= 8);
		assert_same(sum(&f), 100);
	} while (moved && ++calls < 100);
	/* the last sixteenth is not worth it */
	assert_in_range(f.s[0].steps, 90, 100);
	assert_in_range(calls, 6, 8);
	assert_same(divide(&f, 8), 0);
}

/* One that misses all the time, whatever it gets, hides nothing. */
static void test_hopeless(void **state)
{
	struct fixture f;

	(void)state;
	fixture_init(&f, 2, 100, MMPATH_BALANCE_THROUGHPUT);
	curve(&f.s[0], 1000, 0, 60);
	curve(&f.s[1], 1000000, MMPATH_STEPS + 1, MMPATH_STEPS + 2);
	divide(&f, 100);
	assert_in_range(f.s[0].steps, 57, 60);
}

/* What changes by chance moves nothing. */
static void test_noise(void **state)
{
	struct fixture f;
	u32 moved = 0, k;
	int i, j;

	(void)state;
	for (j = MMPATH_BALANCE_THROUGHPUT; j < NR_MMPATH_BALANCES; j++) {
		fixture_init(&f, 2, 100, j);
		for (i = 0; i < 50; i++) {
			curve(&f.s[0], 10000, 0, 110);
			curve(&f.s[1], 10000, 0, 110);
			for (k = 0; k < MMPATH_STEPS; k++)
				f.s[i % 2].lambda[k] += f.s[i % 2].lambda[k] / 32;
			moved += divide(&f, 8);
		}
	}
	assert_same(moved, 0);
	/* nor what is very little */
	fixture_init(&f, 2, 100, MMPATH_BALANCE_THROUGHPUT);
	curve(&f.s[0], 15, 0, 100);
	curve(&f.s[1], 0, 0, 100);
	assert_same(divide(&f, 8), 0);
}

/* The highest rate hardly falls, but the others are brought to it. */
static void test_gap(void **state)
{
	struct fixture f;
	u32 k;

	(void)state;
	fixture_init(&f, 2, 100, MMPATH_BALANCE_FAIR);
	for (k = 0; k <= MMPATH_STEPS; k++) {
		f.s[0].lambda[k] = 16000 - 20 * k;
		f.s[1].lambda[k] = 16000 - 160 * min(k, 100U);
	}
	assert_same(divide(&f, 100), 38);
	assert_same(f.s[0].steps, 88);
	/* not for less than twice the usual change of a rate */
	f.s[0].steps = 79;
	f.s[1].steps = 21;
	assert_same(divide(&f, 100), 0);
}

static void test_weights(void **state)
{
	struct fixture f;
	u64 a, b;

	(void)state;
	fixture_init(&f, 2, 100, MMPATH_BALANCE_FAIR);
	curve(&f.s[0], 100000, 0, 128);
	curve(&f.s[1], 100000, 0, 128);
	f.s[0].weight = 200;
	divide(&f, 100);
	a = mmpath_share_rate(&f.s[0], f.s[0].steps);
	b = mmpath_share_rate(&f.s[1], f.s[1].steps);
	assert_true(a * 2 > b * 9 / 10 && a * 2 < b * 11 / 10);
	/* of running time, not of the wall's */
	f.s[0].weight = 100;
	f.s[0].cpu_us /= 2;
	divide(&f, 100);
	assert_true(f.s[0].lambda[f.s[0].steps] * 2 < f.s[1].lambda[f.s[1].steps] * 11 / 10);
	assert_true(f.s[0].lambda[f.s[0].steps] * 2 > f.s[1].lambda[f.s[1].steps] * 9 / 10);
	/* and in throughput: what counts twice gets all there is to have */
	fixture_init(&f, 2, 100, MMPATH_BALANCE_THROUGHPUT);
	curve(&f.s[0], 10000, 0, 100);
	curve(&f.s[1], 10000, 0, 100);
	f.s[1].weight = 200;
	divide(&f, 100);
	assert_same(f.s[1].steps, 100);
}

static void test_sla(void **state)
{
	struct fixture f;

	(void)state;
	fixture_init(&f, 3, 100, MMPATH_BALANCE_SLA);
	curve(&f.s[0], 1000, 0, 100);
	curve(&f.s[1], 1000, 0, 100);
	curve(&f.s[2], 100000, 0, 100);
	f.s[0].sla = 600;		/* needs 40 */
	f.s[1].sla = 800;		/* needs 20 */
	divide(&f, 100);
	/* the third takes all that they can do without */
	assert_same(f.s[0].steps, 40);
	assert_same(f.s[1].steps, 20);
	assert_same(f.s[2].steps, 40);
	assert_false(f.s[0].failed || f.s[1].failed || f.s[2].failed);
	/* more than there is: who needs most is failed */
	f.s[0].sla = 100;		/* needs 90 */
	divide(&f, 100);
	assert_true(f.s[0].failed && !f.s[1].failed);
	assert_true(f.s[1].steps >= 20);
	/* unless it weighs more */
	f.s[0].weight = 101;
	divide(&f, 100);
	assert_true(!f.s[0].failed && f.s[1].failed);
	assert_true(f.s[0].steps >= 90);
	/* what no memory can keep */
	f.s[0].lambda[MMPATH_STEPS] = 1000;
	curve(&f.s[0], 1000, MMPATH_STEPS + 1, MMPATH_STEPS + 2);
	divide(&f, 100);
	assert_true(f.s[0].failed && !f.s[1].failed);
	assert_same(sum(&f), 100);
}

static void test_bounds(void **state)
{
	struct fixture f;

	(void)state;
	fixture_init(&f, 2, 100, MMPATH_BALANCE_THROUGHPUT);
	curve(&f.s[0], 10000, 0, 100);
	curve(&f.s[1], 0, 0, 100);
	f.s[1].least = 30;
	divide(&f, 100);
	assert_same(f.s[1].steps, 30);
	f.s[0].most = 60;
	divide(&f, 100);
	assert_same(f.s[0].steps, 60);
	assert_same(f.s[1].steps, 40);
	/* more than there is */
	f.s[0].least = 150;
	f.s[0].most = 200;
	f.s[1].least = 50;
	divide(&f, 100);
	assert_same(sum(&f), 100);
	assert_same(f.s[0].steps, 75);
	/* what cannot be taken is not lowered for what somebody wishes for */
	f.s[1].fixed = 40;
	divide(&f, 100);
	assert_same(sum(&f), 100);
	assert_same(f.s[0].steps, 57);
	assert_same(f.s[1].steps, 43);
	f.s[0].fixed = 120;
	divide(&f, 100);
	assert_same(f.s[0].steps, 75);
	assert_same(f.s[1].steps, 25);
	/* nobody may have it all */
	fixture_init(&f, 2, 100, MMPATH_BALANCE_FAIR);
	f.s[0].most = 30;
	f.s[1].most = 30;
	divide(&f, 100);
	assert_same(sum(&f), 60);
}

/* What there is changes: a limit, or who shares it. */
static void test_total(void **state)
{
	struct fixture f;

	(void)state;
	fixture_init(&f, 3, 90, MMPATH_BALANCE_THROUGHPUT);
	curve(&f.s[0], 10000, 0, 30);
	curve(&f.s[1], 10000, 0, 30);
	curve(&f.s[2], 100, 0, 30);
	f.total = 60;
	divide(&f, 1);
	/* at once, and from who loses least */
	assert_same(sum(&f), 60);
	assert_true(f.s[2].steps <= 1);
	/* nor does anybody wait for what nobody has yet */
	f.total = 64;
	divide(&f, 2);
	assert_same(sum(&f), 64);
	assert_same(divide(&f, 2), 0);
	fixture_init(&f, 0, 90, MMPATH_BALANCE_FAIR);
	assert_same(divide(&f, 8), 0);
	fixture_init(&f, 1, 90, MMPATH_BALANCE_SLA);
	f.s[0].steps = 0;
	divide(&f, 100);
	assert_same(f.s[0].steps, 90);
}

static void test_flat(void **state)
{
	struct fixture f;

	(void)state;
	/* nothing is known, or all is well: to each the same */
	fixture_init(&f, MOST, 100, MMPATH_BALANCE_THROUGHPUT);
	f.s[0].steps = 0;
	f.s[1].steps = 0;
	f.s[2].steps = 0;
	f.s[3].steps = 0;
	divide(&f, 100);
	assert_same(f.s[0].steps, 25);
	assert_same(f.s[3].steps, 25);
	f.mode = MMPATH_BALANCE_FAIR;
	f.s[3].steps = 0;
	divide(&f, 100);
	assert_same(f.s[3].steps, 25);
	/* more than a rate can say is no small one */
	f.s[3].lambda[0] = 1ULL << 50;
	f.s[3].cpu_us = 0;
	assert_true(mmpath_share_rate(&f.s[3], 0) > 1ULL << 63);
}

static void test_hull(void **state)
{
	struct mmpath_share s, was;
	struct fixture f;
	u32 a, b, c;
	int i;

	(void)state;
	fixture_init(&f, 1, 100, MMPATH_BALANCE_THROUGHPUT);
	/* a loop: misses go down with memory */
	curve(&s, 10000, 99, 100);
	mmpath_share_hull(&s);
	assert_same(s.lambda[0], 10000);
	assert_same(s.lambda[50], 5000);
	assert_same(s.lambda[100], 0);
	for (i = 0; i < 50; i++) {
		random_curve(&f, &s);
		was = s;
		mmpath_share_hull(&s);
		for (b = 0; b <= MMPATH_STEPS; b++)
			assert_true(s.lambda[b] <= was.lambda[b]);
		for (b = 1; b < MMPATH_STEPS; b++)
			/* rounded down, each for itself */
			assert_true(s.lambda[b] * 2 <= s.lambda[b - 1] + s.lambda[b + 1] + 2);
		/* no higher than any chord, and a point below none */
		for (a = 0; a < MMPATH_STEPS; a += 7)
			for (c = a + 2; c <= MMPATH_STEPS; c += 7)
				for (b = a; b <= c; b++)
					assert_true(s.lambda[b] * (c - a) <=
						    was.lambda[a] * (c - b) +
						    was.lambda[c] * (b - a) + (c - a));
	}
	assert_same(s.lambda[0], was.lambda[0]);
	assert_same(s.lambda[MMPATH_STEPS], was.lambda[MMPATH_STEPS]);
}

/* Eight epochs of misses, once there have been many; pages beside the curve count. */
static void test_window(void **state)
{
	struct mmpath_share s, beside;
	u64 window[MMPATH_STEPS + 1] = { 0 }, other[MMPATH_STEPS + 1] = { 0 };
	struct test_mem tm;
	struct mmpath_mrc m;
	int epoch;

	(void)state;
	test_mem_init(&tm);
	assert_int_equal(mmpath_mrc_init(&m, &tm.mem, 16), 0);
	for (epoch = 0; epoch < 100; epoch++) {
		mmpath_mrc_add(&m, 50, 1000);
		mmpath_mrc_add(&m, 250, 10);
		mmpath_mrc_close_epoch(&m);
		mmpath_share_window(&s, window, &m, 100, 0);
		mmpath_share_window(&beside, other, &m, 100, 200);
		if (!epoch)
			assert_int_equal(s.lambda[0], 1010);
	}
	assert_in_range(s.lambda[0], 8 * 1010 - 8, 8 * 1010);
	assert_in_range(s.lambda[1], 8 * 10 - 8, 8 * 10);
	assert_in_range(s.lambda[2], 8 * 10 - 8, 8 * 10);
	assert_int_equal(s.lambda[3], 0);
	assert_int_equal(beside.lambda[0], s.lambda[0]);
	assert_int_equal(beside.lambda[2], s.lambda[0]);
	assert_int_equal(beside.lambda[3], s.lambda[1]);
	assert_int_equal(beside.lambda[5], 0);
	mmpath_mrc_destroy(&m);
	assert_int_equal(tm.mem.bytes, 0);
}

/* Who has most does in any case; others if it is near to that, and leaves them their targets. */
static void test_far_above(void **state)
{
	(void)state;
	assert_true(mmpath_is_far_above(100, 100, 0));
	assert_true(mmpath_is_far_above(1, 1, 4096));
	assert_true(mmpath_is_far_above(50, 100, 0));
	assert_false(mmpath_is_far_above(49, 100, 0));
	assert_true(mmpath_is_far_above(81, 100, 81));
	assert_false(mmpath_is_far_above(81, 100, 82));
	assert_false(mmpath_is_far_above(0, 100, 0));
	assert_false(mmpath_is_far_above(-4096, 1, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pairs),
		cmocka_unit_test(test_several),
		cmocka_unit_test(test_cliff),
		cmocka_unit_test(test_moves),
		cmocka_unit_test(test_hopeless),
		cmocka_unit_test(test_noise),
		cmocka_unit_test(test_gap),
		cmocka_unit_test(test_weights),
		cmocka_unit_test(test_sla),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_total),
		cmocka_unit_test(test_flat),
		cmocka_unit_test(test_hull),
		cmocka_unit_test(test_window),
		cmocka_unit_test(test_far_above),
	};

	cmocka_set_test_filter(getenv("UNIT_FILTER"));
	return cmocka_run_group_tests_name("divide", tests, NULL, NULL);
}
