// SPDX-License-Identifier: GPL-2.0
/* The share of its time that a CPU loses to other chips */
#include <cluster.h>
#include "test.h"

#define SECOND	1000000000ULL

static void test_time(void **state)
{
	(void)state;
	assert_same(taskcluster_time_lost(0, 100, SECOND, 0), 0);
	/* 20,000 of 100 ns are a five-hundredth of a second */
	assert_same(taskcluster_time_lost(20000, 100, SECOND, 0), 20);
	assert_same(taskcluster_time_lost(20000, 480, SECOND, 0), 96);
	assert_same(taskcluster_time_lost(20000, 100, SECOND / 10, 0), 200);
	assert_same(taskcluster_time_lost(20000000, 100, SECOND, 0), TASKCLUSTER_WHOLE);
}

static void test_idle(void **state)
{
	(void)state;
	assert_same(taskcluster_time_lost(20000, 100, SECOND, SECOND / 2), 40);
	assert_same(taskcluster_time_lost(20000, 100, SECOND, SECOND / 4 * 3), 80);
}

/* Who hardly runs has little to gain. */
static void test_hardly_runs(void **state)
{
	(void)state;
	assert_same(taskcluster_time_lost(20000, 100, SECOND, SECOND / 100 * 99), 80);
	assert_same(taskcluster_time_lost(20000, 100, SECOND, SECOND), 80);
}

/* Idle time that came late, a PMU that lies, and no time at all */
static void test_nonsense(void **state)
{
	(void)state;
	assert_same(taskcluster_time_lost(20000, 100, SECOND, SECOND + 1), 80);
	assert_same(taskcluster_time_lost(20000, 100, SECOND, U64_MAX), 80);
	assert_same(taskcluster_time_lost(1ULL << 55, TASKCLUSTER_LATENCY_MOST, SECOND, 0),
		    TASKCLUSTER_WHOLE);
	assert_same(taskcluster_time_lost(U64_MAX, TASKCLUSTER_LATENCY_MOST, U64_MAX, 0), 0);
	assert_same(taskcluster_time_lost(1, 1, 0, 0), TASKCLUSTER_WHOLE);
	assert_same(taskcluster_time_lost(0, 1, 0, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_time),
		cmocka_unit_test(test_idle),
		cmocka_unit_test(test_hardly_runs),
		cmocka_unit_test(test_nonsense),
	};

	cmocka_set_test_filter(getenv("UNIT_FILTER"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
