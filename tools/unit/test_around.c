// SPDX-License-Identifier: GPL-2.0
/* Read-around of mapped files: the kernel's, or pages alone? */
#include <around.h>
#include "test.h"

#define FIRST	0x1000ULL	/* page of the mapping */
#define FAR	1000U		/* pages between two that are no neighbours */

struct fixture {
	struct mmpath_around a;
	u64 page;
};

/* Misses far apart until pages are read alone. Returns how many the kernel reads. */
static unsigned int until_alone(struct fixture *f)
{
	unsigned int nr = 0;

	while (mmpath_around(&f->a, FIRST, f->page += FAR, true))
		nr++;
	return nr;
}

static void start(struct fixture *f)
{
	memset(f, 0, sizeof(*f));
	f->page = FIRST;
	until_alone(f);
}

/* Of @nr events of pages @step apart, when was it given back to the kernel? 0: never */
static unsigned int given_back(struct fixture *f, s64 step, unsigned int nr, bool miss)
{
	unsigned int i;

	for (i = 1; i <= nr; i++) {
		f->page += step;
		if (mmpath_around(&f->a, FIRST, f->page, miss))
			return i;
	}
	return 0;
}

static void test_begins(void **state)
{
	struct fixture f = { .page = FIRST };
	unsigned int i;

	/* what the kernel has read ahead tells nothing */
	for (i = 0; i < 100; i++)
		assert_true(mmpath_around(&f.a, FIRST, FIRST + i, false));
	assert_same(until_alone(&f), 31);
	(void)state;
}

static void test_random(void **state)
{
	struct rng r = { .state = 3 };
	struct fixture f;
	unsigned int i;

	start(&f);
	for (i = 0; i < 10000; i++)
		assert_false(mmpath_around(&f.a, FIRST, FIRST + rng_below(&r, 8192), true));
	(void)state;
}

static void test_neighbours(void **state)
{
	static const unsigned int pause[] = { 31, 127, 511, 2047, 8191, 8191 };
	struct fixture f = { .page = FIRST };
	unsigned int i;

	for (i = 0; i < sizeof(pause) / sizeof(*pause); i++) {
		assert_same(until_alone(&f), pause[i]);
		/* the miss that ends the pause is the first event */
		assert_same(given_back(&f, 3, 1000, true), 31);
	}
	/* once it was worth while, the pauses are short again */
	until_alone(&f);
	assert_same(given_back(&f, FAR, 63, true), 0);
	assert_same(given_back(&f, 3, 1000, true), 32);
	assert_same(until_alone(&f), 127);
	(void)state;
}

static void test_foresight_hides(void **state)
{
	struct fixture f;

	start(&f);
	assert_same(given_back(&f, -1, 12, true), 0);
	assert_same(given_back(&f, -1, 1000, false), 0);
	start(&f);
	assert_same(given_back(&f, 3, 12, true), 0);
	assert_same(given_back(&f, 3, 1000, false), 0);
	/* not enough: less than half */
	start(&f);
	assert_same(given_back(&f, 3, 20, true), 0);
	assert_same(given_back(&f, 3, 5, false), 0);
	assert_same(given_back(&f, 3, 1000, true), 63 - 25);
	(void)state;
}

static void test_upwards(void **state)
{
	struct fixture f;

	start(&f);
	assert_same(given_back(&f, 1, 1000, false), 63);
	start(&f);
	assert_same(given_back(&f, 2, 1000, false), 63);
	start(&f);
	assert_same(given_back(&f, 3, 1000, false), 0);
	(void)state;
}

/* In steps of @distance, is each page a neighbour of the one before? */
static bool are_neighbours(s64 distance)
{
	struct fixture f;

	start(&f);
	f.page += 1000 * FAR;
	return given_back(&f, distance, 1000, true);
}

static void test_how_far(void **state)
{
	assert_true(are_neighbours(15));
	assert_true(are_neighbours(-16));
	assert_false(are_neighbours(16));
	assert_false(are_neighbours(-17));
	assert_false(are_neighbours(0));
	(void)state;
}

static void test_how_soon(void **state)
{
	struct fixture f;
	unsigned int i, wait;
	u64 page;

	/* after 8 events that are all far away, and one that is not, half of the tests are right */
	for (wait = 7; wait <= 8; wait++) {
		start(&f);
		page = FIRST;
		for (i = 0; i < 100 * (wait + 1); i++) {
			page = i % (wait + 1) ? page + FAR : FIRST + i / (wait + 1) % 2;
			if (mmpath_around(&f.a, FIRST, page, true))
				break;
		}
		/* 7 others between: the page is the 8th event */
		assert_same(i < 100 * (wait + 1), wait == 7);
	}
	(void)state;
}

static bool same_entry(u64 a, u64 b)
{
	return (mmpath_rank(a) ^ mmpath_rank(b)) >> (MMPATH_VPN_BITS - MMPATH_AROUND_ORDER) == 0;
}

static void test_mappings(void **state)
{
	struct fixture f;
	u64 other;
	unsigned int i;

	start(&f);
	/* others begin with the kernel, and one that takes the entry leaves none */
	for (other = FIRST + 1; other < FIRST + 2000; other++)
		assert_true(mmpath_around(&f.a, other, other, true));
	f.page = FIRST;
	assert_same(until_alone(&f), 31);
	other = FIRST + 1;
	while (same_entry(other, FIRST))
		other++;
	for (i = 0; i < 31; i++) {
		assert_true(mmpath_around(&f.a, other, other + i * FAR, true));
		assert_false(mmpath_around(&f.a, FIRST, f.page += FAR, true));
	}
	assert_false(mmpath_around(&f.a, other, other + i * FAR, true));
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_begins),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_neighbours),
		cmocka_unit_test(test_foresight_hides),
		cmocka_unit_test(test_upwards),
		cmocka_unit_test(test_how_far),
		cmocka_unit_test(test_how_soon),
		cmocka_unit_test(test_mappings),
	};

	cmocka_set_test_filter(getenv("UNIT_FILTER"));
	return cmocka_run_group_tests_name("around", tests, NULL, NULL);
}
