// SPDX-License-Identifier: GPL-2.0
/* Which misses does prefetching cause? */
#include <pollution.h>
#include "test.h"

/* the price when one of 64 would be saved, and a few are lost in full sets */
#define ALMOST	((1 << MMPATH_PRICE_SHIFT) * 60 / 64)

struct fixture {
	struct mmpath_pollution p;
	u64 page;		/* the next one that nothing has been told of */
};

static void start(struct fixture *f)
{
	mmpath_pollution_init(&f->p);
	f->page = 1;
}

static void fetch(struct fixture *f, unsigned int nr)
{
	while (nr--)
		mmpath_pollution_fetched(&f->p, f->page++);
}

/* Returns the first of the pages that leave. */
static u64 leave(struct fixture *f, unsigned int nr)
{
	u64 first = f->page;

	while (nr--)
		mmpath_pollution_left(&f->p, f->page++);
	return first;
}

static unsigned int miss(struct fixture *f, u64 page)
{
	return mmpath_pollution_missed(&f->p, page);
}

static void test_distance(void **state)
{
	struct fixture f;
	u64 first, i;

	start(&f);
	first = leave(&f, 20);
	for (i = 0; i < 20; i++)
		assert_same(miss(&f, first + i), 0);
	fetch(&f, 5);
	first = leave(&f, 20);
	/* the last five would be there */
	for (i = 0; i < 20; i++)
		assert_same(miss(&f, first + i), i >= 15);
	/* they are back now */
	assert_same(miss(&f, first + 19), 0);
	assert_same(miss(&f, f.page), 0);
	(void)state;
}

/* A page that is used, or leaves, takes the place of none any more. */
static void test_unused(void **state)
{
	struct fixture f;
	u64 first;

	start(&f);
	fetch(&f, 3);
	first = leave(&f, 3);
	mmpath_pollution_settled(&f.p);
	assert_same(miss(&f, first), 0);
	assert_same(miss(&f, first + 1), 1);
	mmpath_pollution_settled(&f.p);
	mmpath_pollution_settled(&f.p);
	assert_same(miss(&f, first + 2), 0);
	/* others than those that were told of are none of it */
	mmpath_pollution_settled(&f.p);
	mmpath_pollution_settled(&f.p);
	assert_same(f.p.unused, 0);
	(void)state;
}

/* Departures of pages that were not used do not count. */
static void test_wasted_is_no_departure(void **state)
{
	struct fixture f;
	u64 first;
	int i;

	start(&f);
	fetch(&f, 12);
	first = leave(&f, 1);
	for (i = 0; i < 10; i++)
		mmpath_pollution_settled(&f.p);
	leave(&f, 1);
	assert_same(miss(&f, first), 1);
	(void)state;
}

/* Without prefetching a page that left too early had not to be fetched. */
static void test_fetched_early(void **state)
{
	struct fixture f;
	u64 first;

	start(&f);
	fetch(&f, 2);
	first = leave(&f, 1);
	mmpath_pollution_fetched(&f.p, first);
	assert_same(miss(&f, first), 0);
	(void)state;
}

/* What left when no page was unused would have left in any case, however few have left since. */
static void test_since(void **state)
{
	struct fixture f;
	u64 first, second;

	start(&f);
	first = leave(&f, 3);
	fetch(&f, 9);
	assert_same(miss(&f, first + 2), 0);
	second = leave(&f, 3);
	while (f.p.unused)
		mmpath_pollution_settled(&f.p);
	leave(&f, 1000);
	fetch(&f, 9);
	first = leave(&f, 1);
	assert_same(miss(&f, second + 2), 0);
	assert_same(miss(&f, first), 1);
	(void)state;
}

/* A page that left, came back and left again is out once. */
static void test_back(void **state)
{
	struct fixture f;
	u64 first, other, i;

	start(&f);
	fetch(&f, 3);
	first = leave(&f, 1);
	other = leave(&f, 1);
	for (i = 0; i < 2000; i++) {
		assert_same(miss(&f, other), 1);
		mmpath_pollution_left(&f.p, other);
	}
	/* of which nobody has seen that it came back */
	mmpath_pollution_left(&f.p, other);
	/* too long ago to know */
	assert_same(miss(&f, first), 0);
	first = leave(&f, 1);
	for (i = 0; i < 500; i++) {
		assert_same(miss(&f, other), 1);
		mmpath_pollution_left(&f.p, other);
		mmpath_pollution_left(&f.p, other);
	}
	assert_same(miss(&f, first), 1);
	(void)state;
}

/* What comes back while memory is not full changes no rank. */
static void test_room(void **state)
{
	struct fixture f;
	u64 first, i;

	start(&f);
	fetch(&f, 5);
	first = leave(&f, 20);
	/* the last one first */
	for (i = 0; i < 20; i++)
		assert_same(miss(&f, first + 19 - i), i < 5);
	first = leave(&f, 20);
	assert_same(miss(&f, first + 14), 0);
	/* that pushes out the one after it */
	mmpath_pollution_left(&f.p, first + 14);
	assert_same(miss(&f, first + 15), 0);
	assert_same(miss(&f, first + 14), 1);
	(void)state;
}

/* What prefetching remembers takes the place of pages, too. */
static void test_held(void **state)
{
	struct fixture f;
	u64 first, i;

	start(&f);
	mmpath_pollution_hold(&f.p, 4096 + 4095);
	assert_same(mmpath_pollution_room(&f.p), 1);
	fetch(&f, 2);
	mmpath_pollution_hold(&f.p, 1);
	first = leave(&f, 10);
	for (i = 0; i < 10; i++)
		assert_same(miss(&f, first + i), i >= 6);
	mmpath_pollution_settled(&f.p);
	mmpath_pollution_settled(&f.p);
	assert_same(mmpath_pollution_room(&f.p), 2);
	first = leave(&f, 1);
	assert_same(miss(&f, first), 1);
	first = leave(&f, 1);
	mmpath_pollution_hold(&f.p, -8192);
	mmpath_pollution_hold(&f.p, 8192);
	/* in between nothing was taken */
	assert_same(miss(&f, first), 0);
	(void)state;
}

/* The price of a page: misses that were saved by one more. */
static void test_price(void **state)
{
	struct fixture f;
	u64 first, price, i;

	start(&f);
	mmpath_pollution_hold(&f.p, 4096);
	first = leave(&f, 1000);
	/* a page more saves one of these, and none of those that were missed before */
	for (i = 0; i < 800; i++)
		miss(&f, first + i);
	assert_same(f.p.price, 0);
	for (; i < 1000; i++)
		miss(&f, first + i);
	assert_in_range(f.p.price, ALMOST, 1 << MMPATH_PRICE_SHIFT);
	/* a page that is fetched is not missed */
	price = f.p.price;
	first = leave(&f, 1);
	mmpath_pollution_fetched(&f.p, first);
	assert_same(f.p.price, price);
	/* the last 100,000 are missed with that many fetched: one more would save one of them */
	start(&f);
	fetch(&f, 100000);
	first = leave(&f, 200000);
	for (i = 0; i < 200000; i++)
		miss(&f, first + i);
	print_message("# price %llu\n", (unsigned long long)f.p.price);
	assert_in_range(f.p.price, (1 << MMPATH_PRICE_SHIFT) * 6 / 10,
			(1 << MMPATH_PRICE_SHIFT) * 12 / 10);
	(void)state;
}

/* With many pages unused a part of the departures is watched, and stands for all. */
static void test_sample(void **state)
{
	struct fixture f;
	u64 first, caused = 0, i;

	start(&f);
	fetch(&f, 100000);
	assert_true(f.p.shift >= 8);
	first = leave(&f, 300000);
	for (i = 0; i < 300000; i++)
		caused += miss(&f, first + i);
	print_message("# %llu of 100000 with a shift of %u\n", (unsigned long long)caused,
		      f.p.shift);
	/* a few hundred are watched, and some are lost in full sets */
	assert_in_range(caused, 60000, 110000);
	while (f.p.unused)
		mmpath_pollution_settled(&f.p);
	fetch(&f, 1);
	assert_same(f.p.shift, 0);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_distance),
		cmocka_unit_test(test_unused),
		cmocka_unit_test(test_wasted_is_no_departure),
		cmocka_unit_test(test_fetched_early),
		cmocka_unit_test(test_since),
		cmocka_unit_test(test_back),
		cmocka_unit_test(test_room),
		cmocka_unit_test(test_held),
		cmocka_unit_test(test_price),
		cmocka_unit_test(test_sample),
	};

	cmocka_set_test_filter(getenv("UNIT_FILTER"));
	return cmocka_run_group_tests_name("pollution", tests, NULL, NULL);
}
