// SPDX-License-Identifier: GPL-2.0
/* What does not pay rests. */
#include <benefit.h>
#include "test.h"

#define WINDOW	1000U
#define PAGE	4096U
#define PRICE	(1ULL << MMPATH_PRICE_SHIFT)	/* of a page that would save a miss */

/* Events that gain so much each. Returns after how many it fails, or 0. */
static unsigned int gain(struct mmpath_benefit *b, unsigned int events, s64 each)
{
	unsigned int i;

	for (i = 1; i <= events; i++) {
		mmpath_benefit_note(b, each, 0, 0, 0);
		if (mmpath_benefit_fails(b, WINDOW))
			return i;
	}
	return 0;
}

/* For how many events does it rest? */
static unsigned int rest(struct mmpath_benefit *b)
{
	unsigned int n = 0;

	while (mmpath_benefit_rests(b))
		n++;
	return n;
}

static void test_pays(void **state)
{
	struct mmpath_benefit b = { };

	assert_same(gain(&b, 10 * WINDOW, 1), 0);
	assert_same(gain(&b, 10 * WINDOW, 0), 0);
	assert_same(rest(&b), 0);
	(void)state;
}

/* It has a window of time to pay, and rests longer each time. */
static void test_fails(void **state)
{
	struct mmpath_benefit b = { };
	unsigned int i;

	for (i = 0; i < 10; i++) {
		assert_same(gain(&b, 2 * WINDOW, -1), WINDOW);
		assert_same(rest(&b), 4 * WINDOW << (i < 4 ? i : 4));
	}
	/* what has paid since has the first rest again */
	assert_same(gain(&b, WINDOW, 1), 0);
	assert_same(gain(&b, WINDOW, -1), WINDOW);
	assert_same(rest(&b), 4 * WINDOW);
	/* a window is judged alone */
	assert_same(gain(&b, WINDOW, 100), 0);
	assert_same(gain(&b, WINDOW, -1), WINDOW);
	(void)state;
}

/* A loss of a miss in 32 of the window is the most. */
static void test_loss(void **state)
{
	struct mmpath_benefit b = { };

	assert_same(gain(&b, WINDOW, -MMPATH_MISS), WINDOW / 32 + 1);
	assert_same(rest(&b), 4 * WINDOW);
	(void)state;
}

/* To learn costs, and is no loss until there was time to make use of it. */
static void test_learning(void **state)
{
	struct mmpath_benefit b = { };
	unsigned int i;

	for (i = 1; i < WINDOW; i++) {
		mmpath_benefit_note(&b, 0, MMPATH_MISS, 0, 0);
		assert_false(mmpath_benefit_fails(&b, WINDOW));
	}
	mmpath_benefit_note(&b, 0, MMPATH_MISS, 0, 0);
	assert_true(mmpath_benefit_fails(&b, WINDOW));
	assert_same(rest(&b), 4 * WINDOW);
	for (i = 0; i < 4 * WINDOW; i++) {
		mmpath_benefit_note(&b, MMPATH_MISS, MMPATH_MISS, 0, 0);
		assert_false(mmpath_benefit_fails(&b, WINDOW));
	}
	(void)state;
}

/* Three pages of memory, each of which would have saved a miss in this time, cost three misses. */
static void test_memory(void **state)
{
	struct mmpath_benefit b = { };

	/* not what a page would have saved before */
	mmpath_benefit_note(&b, 0, 0, 77 * PRICE, 3 * PAGE);
	assert_same(b.gain, 0);
	mmpath_benefit_note(&b, 0, 0, 77 * PRICE, 3 * PAGE);
	assert_same(b.gain, 0);
	mmpath_benefit_note(&b, 0, 0, 78 * PRICE, 3 * PAGE);
	assert_same(-b.gain, 3 * MMPATH_MISS);
	mmpath_benefit_note(&b, 3 * MMPATH_MISS, 0, 78 * PRICE + PRICE / 2, PAGE / 2);
	assert_same(-b.gain, MMPATH_MISS / 4);
	mmpath_benefit_restart(&b);
	mmpath_benefit_note(&b, 0, 0, 1000 * PRICE, 3 * PAGE);
	assert_same(b.gain, 0);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pays),
		cmocka_unit_test(test_fails),
		cmocka_unit_test(test_loss),
		cmocka_unit_test(test_learning),
		cmocka_unit_test(test_memory),
	};

	cmocka_set_test_filter(getenv("UNIT_FILTER"));
	return cmocka_run_group_tests_name("benefit", tests, NULL, NULL);
}
