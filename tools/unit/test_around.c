// SPDX-License-Identifier: GPL-2.0
/* Read-around of mapped files: the kernel's, or pages alone? */
#include <around.h>
#include "test.h"

#define FIRST	0x1000ULL	/* page of the mapping */
#define FAR	1000U		/* pages between two that are no neighbours */
#define SIZE	3168U		/* of its pages may be in memory */
#define SKIP	(1 + SIZE / 32)
#define WORK	1000U		/* ns of a program between two misses, when the kernel reads */
#define TAKES	10000U		/* ns of such a miss */
#define BOUND	16U		/* misses that a trial may lose */
#define PAUSE	64U
#define ROOT	8U	/* of it */
#define AGAIN	(4 * (PAUSE + SKIP))	/* misses until the kernel is measured again */

struct fixture {
	struct mmpath_around a;
	u64 first, page, size, work, takes;	/* of an event */
	u64 worked;
	s64 step;	/* pages to the next one */
};

static void start(struct fixture *f)
{
	*f = (struct fixture){
		.first = FIRST, .page = FIRST, .size = SIZE,
		.work = WORK, .takes = TAKES, .step = FAR,
	};
}

/* Returns whether the mapping is the kernel's. */
static bool event(struct fixture *f, bool miss)
{
	const struct mmpath_around_event e = {
		.first = f->first, .page = f->page += f->step, .size = f->size,
		.worked = f->worked += f->work, .miss = miss,
	};
	bool kernel = mmpath_around(&f->a, &e);

	mmpath_around_took(&f->a, f->first, f->takes / 4);
	mmpath_around_took(&f->a, f->first, f->takes - f->takes / 4);
	return kernel;
}

/* Events until the mapping is the kernel's, or is not. 0: never within @most */
static unsigned int until(struct fixture *f, bool kernel, unsigned int most, bool miss)
{
	unsigned int i;

	for (i = 1; i <= most; i++)
		if (event(f, miss) == kernel)
			return i;
	return 0;
}

/* Misses far apart until pages are read alone. Returns how many the kernel reads. */
static unsigned int until_alone(struct fixture *f)
{
	f->step = FAR;
	f->work = WORK;
	f->takes = TAKES;
	return until(f, false, 10000000, true) - 1;
}

/* After how many events @step apart was the mapping given back to the kernel? 0: never */
static unsigned int given_back(struct fixture *f, s64 step, unsigned int nr, bool miss)
{
	f->step = step;
	return until(f, true, nr, miss);
}

/* Misses until it was, when reading alone takes as long for @work */
static unsigned int lost(struct fixture *f, u64 work)
{
	f->work = work;
	return until(f, true, 1000000, true);
}

/*
 * What must come out if that is half of the work, and @most is lost: each miss loses half of one,
 * and what the kernel's misses may have told wrong, one in @root.
 */
static unsigned int by_half(unsigned int most, unsigned int root)
{
	return most * 2 * root / (root + 1) + 1;
}

static void test_begins(void **state)
{
	struct fixture f;
	unsigned int i;

	start(&f);
	/* what the kernel has read ahead tells nothing */
	for (i = 0; i < 100; i++)
		assert_true(event(&f, false));
	assert_same(until(&f, false, SKIP + 2, true), 0);
	for (i = 0; i < 100; i++)
		assert_true(event(&f, false));
	assert_same(until_alone(&f), PAUSE - 3);
	(void)state;
}

static void test_random(void **state)
{
	struct rng r = { .state = 3 };
	struct fixture f;
	unsigned int i;

	start(&f);
	until_alone(&f);
	f.step = 0;
	f.work = 2 * WORK;
	for (i = 0; i < AGAIN - 1; i++) {
		f.page = FIRST + rng_below(&r, 8192);
		assert_false(event(&f, true));
	}
	(void)state;
}

static void test_neighbours(void **state)
{
	static const unsigned int pause[] = { 64, 256, 1024, 4096, 16384, 16384 };
	struct fixture f;
	unsigned int i;

	start(&f);
	for (i = 0; i < sizeof(pause) / sizeof(*pause); i++) {
		/* memory is full of other pages at first, and after a trial */
		assert_same(until_alone(&f), pause[i] - 1 + SKIP);
		/* the miss that ends the pause is the first event after it */
		assert_same(given_back(&f, 3, 1000, true), 32);
	}
	/* whoever gains by it may leave them out */
	until_alone(&f);
	f.work = 2 * WORK;
	assert_same(given_back(&f, 3, 1000, true), 0);
	(void)state;
}

static void test_foresight_hides(void **state)
{
	struct fixture f;

	start(&f);
	until_alone(&f);
	assert_same(given_back(&f, -1, 12, true), 0);
	assert_same(given_back(&f, -1, 100, false), 0);
	start(&f);
	until_alone(&f);
	assert_same(given_back(&f, 3, 12, true), 0);
	assert_same(given_back(&f, 3, 100, false), 0);
	/* not enough: less than half */
	start(&f);
	until_alone(&f);
	assert_same(given_back(&f, 3, 20, true), 0);
	assert_same(given_back(&f, 3, 5, false), 0);
	assert_same(given_back(&f, 3, 1000, true), 64 - 25);
	(void)state;
}

static void test_upwards(void **state)
{
	struct fixture f;

	start(&f);
	until_alone(&f);
	assert_same(given_back(&f, 1, 1000, false), 64);
	start(&f);
	until_alone(&f);
	assert_same(given_back(&f, 2, 1000, false), 64);
	start(&f);
	until_alone(&f);
	assert_same(given_back(&f, 3, 100, false), 0);
	(void)state;
}

/* In steps of @distance, is each page a neighbour of the one before? */
static bool are_neighbours(s64 distance)
{
	struct fixture f;

	start(&f);
	until_alone(&f);
	f.page += 1000 * FAR;
	return given_back(&f, distance, 100, true);
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
		until_alone(&f);
		f.step = 0;
		page = FIRST;
		for (i = 0; i < 14 * (wait + 1); i++) {
			page = i % (wait + 1) ? page + FAR : FIRST + i / (wait + 1) % 2;
			f.page = page;
			if (event(&f, true))
				break;
		}
		/* 7 others between: the page is the 8th event */
		assert_same(i < 14 * (wait + 1), wait == 7);
	}
	(void)state;
}

static void test_kernel_is_better(void **state)
{
	static const unsigned int pause[] = { 64, 256, 1024, 4096, 16384, 16384 };
	static const unsigned int root[] = { 8, 16, 32, 64, 128, 128 };
	struct fixture f;
	unsigned int i;

	start(&f);
	for (i = 0; i < sizeof(pause) / sizeof(*pause); i++) {
		assert_same(until_alone(&f), pause[i] - 1 + SKIP);
		/* a miss as long, for half of the work */
		assert_same(lost(&f, WORK / 2), by_half(BOUND, root[i]));
	}
	(void)state;
}

/* What could be told by chance is no gain, and ends as a loss. */
static void test_doubt(void **state)
{
	struct fixture f;

	start(&f);
	until_alone(&f);
	assert_same(lost(&f, WORK), BOUND * TAKES / (TAKES / ROOT) + 1);
	assert_same(until_alone(&f), 4 * PAUSE - 1 + SKIP);
	assert_same(lost(&f, WORK), BOUND * TAKES / (TAKES / ROOT / 2) + 1);
	(void)state;
}

static void test_alone_is_better(void **state)
{
	static const unsigned int times[] = { 1, 16, 64, 64 };
	struct fixture f;
	unsigned int i;

	start(&f);
	/* what is gained is measured again, ever more rarely, as it takes what it took before */
	for (i = 0; i < sizeof(times) / sizeof(*times); i++) {
		assert_same(until_alone(&f), PAUSE - 1 + SKIP);
		assert_same(lost(&f, 2 * WORK), times[i] * AGAIN);
	}
	/* nothing is lost where it ends because the program reads upwards */
	until_alone(&f);
	f.work = 2 * WORK;
	assert_same(given_back(&f, 1, 1000, true), 64);
	assert_same(until_alone(&f), PAUSE - 1 + SKIP);
	assert_same(lost(&f, 2 * WORK), 64 * AGAIN);
	until_alone(&f);
	lost(&f, WORK / 2);
	assert_same(until_alone(&f), 4 * PAUSE - 1 + SKIP);
	assert_same(lost(&f, 2 * WORK), 4 * (4 * PAUSE + SKIP));
	assert_same(until_alone(&f), PAUSE - 1 + SKIP);
	(void)state;
}

/* Where the kernel takes less or more than before, it is measured again sooner. */
static void test_price(void **state)
{
	static const struct {
		unsigned int takes, times;
	} of[] = { { TAKES / 4 * 3 - 100, 4 }, { TAKES / 4 * 3 + 100, 16 }, { TAKES / 4 * 5 - 100, 16 },
		   { TAKES / 4 * 5 + 100, 4 } };
	struct fixture f;
	unsigned int i;

	for (i = 0; i < sizeof(of) / sizeof(*of); i++) {
		start(&f);
		until_alone(&f);
		assert_same(lost(&f, 2 * WORK), AGAIN);
		f.takes = of[i].takes;
		f.work = WORK;
		assert_same(until(&f, false, 10000, true), PAUSE + SKIP);
		assert_same(lost(&f, 2 * WORK), of[i].times * AGAIN);
	}
	/* one of before a loss counts for nothing */
	start(&f);
	until_alone(&f);
	lost(&f, WORK / 2);
	until_alone(&f);
	assert_same(lost(&f, 2 * WORK), 4 * (4 * PAUSE + SKIP));
	(void)state;
}

/* What was gained is no reason to lose it all again. */
static void test_change(void **state)
{
	struct fixture f;

	start(&f);
	until_alone(&f);
	f.work = 4 * WORK;
	assert_same(until(&f, true, AGAIN / 2, true), 0);
	assert_same(lost(&f, WORK / 2), by_half(2 * BOUND, ROOT));
	(void)state;
}

/* Reading alone has gained, and may lose half of that until its pages are in memory again. */
static void test_stake(void **state)
{
	unsigned int stake = 3 * AGAIN / 8;
	struct fixture f;

	start(&f);
	until_alone(&f);
	assert_same(lost(&f, 2 * WORK), AGAIN);
	until_alone(&f);
	assert_in_range(lost(&f, WORK / 2), by_half(BOUND + stake - 2, ROOT),
			by_half(BOUND + stake, ROOT));
	/* once only */
	until_alone(&f);
	assert_same(lost(&f, WORK / 2), by_half(BOUND, 2 * ROOT));
	/* and no more when they are */
	start(&f);
	until_alone(&f);
	assert_same(lost(&f, 2 * WORK), AGAIN);
	until_alone(&f);
	f.work = WORK / 2;
	assert_same(until(&f, true, stake, true), 0);
	f.work = 2 * WORK;
	assert_same(until(&f, true, stake + 4 * BOUND, true), 0);
	assert_same(lost(&f, WORK / 2), by_half(2 * BOUND, ROOT));
	/* neighbours do not end it meanwhile */
	start(&f);
	until_alone(&f);
	assert_same(lost(&f, 2 * WORK), AGAIN);
	until_alone(&f);
	f.work = WORK / 2;
	assert_same(given_back(&f, 3, stake, true), 0);
	/* what was gained before a loss, and what is left to the kernel, is not there to lose */
	start(&f);
	until_alone(&f);
	f.work = 2 * WORK;
	assert_same(until(&f, true, AGAIN / 2, true), 0);
	lost(&f, WORK / 2);
	until_alone(&f);
	assert_same(lost(&f, WORK / 2), by_half(BOUND, ROOT));
	start(&f);
	until_alone(&f);
	assert_same(lost(&f, 2 * WORK), AGAIN);
	f.work = 0;
	f.takes = 8 * TAKES;
	assert_same(until(&f, false, SKIP, true), 0);
	until_alone(&f);
	assert_same(lost(&f, WORK / 2), by_half(BOUND, 2 * ROOT));
	(void)state;
}

/* A trial of @gains misses with @times the work, and one that loses. Returns the pause after it. */
static unsigned int pause_after(struct fixture *f, unsigned int gains, unsigned int times)
{
	f->work = times * WORK;
	assert_same(until(f, true, gains, true), 0);
	lost(f, WORK / 2);
	return until_alone(f) + 1 - SKIP;
}

/* The kernel has its time first: the events it is not measured by. */
static void left_to_kernel(struct fixture *f, u64 work, u64 takes)
{
	lost(f, WORK / 2);
	f->work = work;
	f->takes = takes;
	assert_same(until(f, false, SKIP, true), 0);
}

/* Pauses are longer after trials that lost, and shorter after those that gained. */
static void test_pauses(void **state)
{
	struct fixture f;

	start(&f);
	until_alone(&f);
	assert_same(pause_after(&f, 0, 1), 256);
	assert_same(pause_after(&f, 0, 1), 1024);
	/* a loss in the end, and a gain in all */
	assert_same(pause_after(&f, 30, 4), 256);
	/* less gained than is told from nothing */
	assert_same(pause_after(&f, 40, 2), 1024);
	/* no more, though it leaves to the kernel what it uses */
	f.work = 2 * WORK;
	assert_same(until(&f, true, 40, true), 0);
	left_to_kernel(&f, WORK, 0);
	assert_same(until_alone(&f) + 1, 4096);
	/* a gain that is less by what is left to the kernel */
	f.work = 4 * WORK;
	assert_same(until(&f, true, 100, true), 0);
	left_to_kernel(&f, 0, TAKES);
	assert_same(until_alone(&f) + 1, 1024);
	/* and a loss for it */
	f.work = 4 * WORK;
	assert_same(until(&f, true, 45, true), 0);
	left_to_kernel(&f, 0, TAKES);
	assert_same(until_alone(&f) + 1, 4096);
	(void)state;
}

/* After a trial, the kernel's misses tell nothing until its pages are in memory. */
static void test_skips(void **state)
{
	struct fixture f;
	unsigned int i;

	start(&f);
	until_alone(&f);
	lost(&f, WORK / 2);
	f.work = 0;
	f.takes = 100 * TAKES;
	for (i = 0; i < SKIP; i++) {
		assert_true(event(&f, false));
		assert_true(event(&f, true));
	}
	assert_same(until_alone(&f), 4 * PAUSE - 1);
	assert_same(lost(&f, WORK / 2), by_half(BOUND, 2 * ROOT));
	(void)state;
}

/* What is fetched is used without a miss, and costs CPU time. */
static void test_uses(void **state)
{
	struct fixture f;

	start(&f);
	until_alone(&f);
	f.takes = TAKES / 2;
	assert_same(until(&f, true, 10000, false), 0);
	f.takes = 2 * TAKES;
	assert_same(until(&f, true, 10000, false), 2 * BOUND * ROOT / (ROOT + 1) + 2);
	(void)state;
}

/* A time without misses is not what misses are compared by. */
static void test_long_work(void **state)
{
	struct fixture f;

	start(&f);
	until(&f, false, SKIP + 2, true);
	f.work = 1ULL << 40;
	assert_true(event(&f, true));
	assert_same(until_alone(&f), PAUSE - 3 - 1);
	/* 63 * TAKES for (8 + 61) * WORK */
	f.work = 2 * WORK;
	assert_same(until(&f, true, AGAIN / 2, true), 0);
	f.work = 1ULL << 40;
	assert_false(event(&f, true));
	assert_in_range(lost(&f, WORK / 2), 3 * BOUND, 4 * BOUND);
	/* it is no great gain either */
	until_alone(&f);
	f.work = 1ULL << 40;
	assert_false(event(&f, true));
	lost(&f, WORK / 2);
	assert_same(until_alone(&f), 256 - 1 + SKIP);
	(void)state;
}

/* Nor is a fault that takes long by chance. */
static void test_long_fault(void **state)
{
	struct fixture f;

	start(&f);
	until(&f, false, SKIP + 2, true);
	f.takes = 1ULL << 40;
	assert_true(event(&f, true));
	assert_same(until_alone(&f), PAUSE - 3 - 1);
	/* (8 + 62) * TAKES for 62 * WORK */
	assert_in_range(lost(&f, WORK / 2), 3 * BOUND / 2, 5 * BOUND / 2);
	until_alone(&f);
	f.takes = 1ULL << 40;
	assert_false(event(&f, true));
	f.takes = TAKES;
	assert_same(lost(&f, WORK / 2), by_half(BOUND - 8, 2 * ROOT) + 1);
	/* what is left to the kernel is lost, but not all of that */
	until_alone(&f);
	f.work = 4 * WORK;
	assert_same(until(&f, true, 100, true), 0);
	lost(&f, WORK / 2);
	f.work = WORK;
	f.takes = 1ULL << 40;
	assert_true(event(&f, true));
	assert_same(until_alone(&f), 256 - 1 + SKIP - 1);
	(void)state;
}

/* Where the kernel waits for nothing, where the program does nothing, and where both take long */
static void test_nothing(void **state)
{
	struct fixture f;

	start(&f);
	f.takes = 0;
	assert_same(until(&f, false, 1000, true), PAUSE + SKIP);
	/* then nothing is compared */
	f.takes = TAKES;
	assert_same(until(&f, true, AGAIN - 10, true), 0);
	start(&f);
	f.work = 0;
	assert_same(until(&f, false, 1000, true), PAUSE + SKIP);
	assert_same(lost(&f, 0), BOUND + 1);
	/* some work for which the kernel has taken endless time */
	until_alone(&f);
	lost(&f, WORK / 2);
	f.work = 0;
	assert_same(until(&f, false, 2000, true), 1024 + SKIP);
	assert_same(lost(&f, 1), 4 * (1024 + SKIP));
	/* but a gain has bounds */
	until_alone(&f);
	lost(&f, WORK / 2);
	f.work = 0;
	assert_same(until(&f, false, 2000, true), 1024 + SKIP);
	assert_same(lost(&f, 0), BOUND + 1);
	assert_same(until(&f, false, 5000, true), 4096 + SKIP);
	f.work = 1;
	assert_false(event(&f, true));
	assert_same(lost(&f, 0), BOUND + 7);
	assert_same(until(&f, false, 20000, true), 16384 + SKIP);
	start(&f);
	f.size = U64_MAX;
	f.takes = 1ULL << 50;
	f.work = 1ULL << 60;
	assert_same(until(&f, false, 10000, true), PAUSE + 4096);
	assert_true(lost(&f, 1));
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

	start(&f);
	until_alone(&f);
	/* others begin with the kernel, and one that takes the entry leaves none */
	for (other = FIRST + 1; other < FIRST + 2000; other++) {
		f.first = other;
		assert_true(event(&f, true));
	}
	f.first = FIRST;
	assert_same(until_alone(&f), PAUSE - 1 + SKIP);
	other = FIRST + 1;
	while (same_entry(other, FIRST))
		other++;
	f.first = other;
	assert_same(until_alone(&f), PAUSE - 1 + SKIP);
	f.first = FIRST;
	assert_false(event(&f, true));
	/* what is told of one that has left is not another's */
	other++;
	while (!same_entry(other, FIRST))
		other++;
	f.first = other;
	until_alone(&f);
	mmpath_around_took(&f.a, FIRST, 10 * TAKES);
	assert_same(lost(&f, WORK / 2), by_half(BOUND, ROOT));
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
		cmocka_unit_test(test_kernel_is_better),
		cmocka_unit_test(test_doubt),
		cmocka_unit_test(test_alone_is_better),
		cmocka_unit_test(test_price),
		cmocka_unit_test(test_change),
		cmocka_unit_test(test_stake),
		cmocka_unit_test(test_pauses),
		cmocka_unit_test(test_skips),
		cmocka_unit_test(test_uses),
		cmocka_unit_test(test_long_work),
		cmocka_unit_test(test_long_fault),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_mappings),
	};

	cmocka_set_test_filter(getenv("UNIT_FILTER"));
	return cmocka_run_group_tests_name("around", tests, NULL, NULL);
}
