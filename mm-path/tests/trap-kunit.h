/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tests of the estimate of what a hint fault costs. Included at the end of trap.c.
 */
#ifndef _MM_PATH_TRAP_KUNIT_H
#define _MM_PATH_TRAP_KUNIT_H

#include <kunit/test.h>

#define KT_FLOOR	200

struct kt_trap {
	struct mmpath_ways ways;
	struct mmpath_trap_cost cost;
};

static struct kt_trap *kt_trap(struct kunit *test)
{
	struct kt_trap *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, t);
	t->cost.floor = KT_FLOOR;
	t->cost.ns = MMPATH_TRAP_NS;
	return t;
}

static void kt_way(struct kt_trap *t, s64 ns)
{
	u64 report = mmpath_ways_add(&t->ways, ns);

	if (report)
		mmpath_trap_report(&t->cost, report);
}

/* As many reports, each of ways from @ns to @ns + 255 in no order */
static void kt_reports(struct kt_trap *t, unsigned int nr, s64 ns)
{
	unsigned int i;

	for (i = 0; i < nr * MMPATH_TRAP_WAYS; i++)
		kt_way(t, ns + i * 167 % 256);
}

static void kt_trap_shortest(struct kunit *test)
{
	struct kt_trap *t = kt_trap(test);
	unsigned int i;

	for (i = 0; i < MMPATH_TRAP_WAYS - 1; i++)
		kt_way(t, 1000 + i * 167 % 256);
	KUNIT_EXPECT_EQ(test, t->cost.ns, MMPATH_TRAP_NS);
	kt_way(t, 1000 + i * 167 % 256);
	KUNIT_EXPECT_EQ(test, t->cost.ns, 1003);
	/* a program that does more in between changes nothing for a while */
	kt_reports(t, MMPATH_TRAP_REPORTS - 1, 5000);
	KUNIT_EXPECT_EQ(test, t->cost.ns, 1003);
	kt_reports(t, 1, 5000);
	KUNIT_EXPECT_EQ(test, t->cost.ns, 5003);
	kt_reports(t, 1, 700);
	KUNIT_EXPECT_EQ(test, t->cost.ns, 703);
}

/* The clock is set back while a thread is on its way, by more or less than that takes. */
static void kt_trap_stepping_clock(struct kunit *test)
{
	struct kt_trap *t = kt_trap(test);
	unsigned int i;

	for (i = 0; i < 100 * MMPATH_TRAP_WAYS; i++)
		kt_way(t, i % 100 ? 1000 : 1000 - 37 * (s64)(i % 300));
	KUNIT_EXPECT_EQ(test, t->cost.ns, 1000);
}

/* A clock that is wrong all the time costs no more than the floor, and is forgotten. */
static void kt_trap_forgets(struct kunit *test)
{
	struct kt_trap *t = kt_trap(test);

	kt_reports(t, 1, 1000);
	kt_reports(t, 1, 1);
	KUNIT_EXPECT_EQ(test, t->cost.ns, KT_FLOOR);
	kt_reports(t, MMPATH_TRAP_REPORTS - 1, 1000);
	KUNIT_EXPECT_EQ(test, t->cost.ns, KT_FLOOR);
	kt_reports(t, 1, 1000);
	KUNIT_EXPECT_EQ(test, t->cost.ns, 1003);
	kt_reports(t, 10 * MMPATH_TRAP_REPORTS, 2000);
	KUNIT_EXPECT_EQ(test, t->cost.ns, 2003);
	kt_reports(t, MMPATH_TRAP_REPORTS, 2 * MMPATH_TRAP_NS);
	KUNIT_EXPECT_EQ(test, t->cost.ns, MMPATH_TRAP_NS);
}

/* An exception takes time. */
static void kt_trap_floor(struct kunit *test)
{
	KUNIT_EXPECT_GT(test, mmpath_trap_cost.floor, 0);
	KUNIT_EXPECT_LE(test, mmpath_trap_cost.floor, MMPATH_TRAP_NS);
	KUNIT_EXPECT_GE(test, mmpath_trap_ns(), mmpath_trap_cost.floor);
}

static struct kunit_case kt_trap_cases[] = {
	KUNIT_CASE(kt_trap_shortest),
	KUNIT_CASE(kt_trap_stepping_clock),
	KUNIT_CASE(kt_trap_forgets),
	KUNIT_CASE(kt_trap_floor),
	{}
};

static struct kunit_suite kt_trap_suite = {
	.name = "mmpath-trap",
	.test_cases = kt_trap_cases,
};

kunit_test_suite(kt_trap_suite);

#endif /* _MM_PATH_TRAP_KUNIT_H */
