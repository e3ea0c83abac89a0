// SPDX-License-Identifier: GPL-2.0
/* How clusters are found: lines that tell something, and nodes that merge */
#include <cluster.h>
#include "rand.h"
#include "test.h"

#define MOST	300U

struct fixture {
	struct taskcluster_filter filter;
	struct taskcluster_thread thread[MOST], *t[MOST];
	struct taskcluster_node nodes[TASKCLUSTER_LINES];
	u64 ties[TASKCLUSTER_LINES * TASKCLUSTER_LINES];
	u32 nr;
};

static struct fixture *start(u32 nr)
{
	static struct fixture f;
	u32 i;

	memset(&f, 0, sizeof(f));
	f.nr = nr;
	for (i = 0; i < nr; i++)
		f.t[i] = &f.thread[i];
	return &f;
}

static void take(struct fixture *f, u32 thread, u64 line, u32 times)
{
	const struct taskcluster_access a = { .line = line };

	while (times--)
		taskcluster_shmap_note(&f->filter, &f->thread[thread], &a);
}

static u32 merge(struct fixture *f, u32 total)
{
	return taskcluster_find(f->t, f->nr, total, TASKCLUSTER_THRESHOLD, f->nodes, f->ties);
}

static bool together(const struct fixture *f, u32 a, u32 b)
{
	return f->thread[a].found && f->thread[a].found == f->thread[b].found;
}

static void test_nothing(void **state)
{
	struct fixture *f = start(0);

	assert_same(merge(f, 0), 0);
	f = start(3);
	assert_same(merge(f, 3), 0);
	assert_same(f->thread[0].found, 0);
	/* one that is alone, though another one has looked at its line */
	f = start(8);
	take(f, 0, 1, 50);
	take(f, 1, 1, 1);
	take(f, 1, 2, 50);
	take(f, 2, 2, 50);
	merge(f, 8);
	assert_same(f->thread[0].found, 0);
	assert_true(together(f, 1, 2));
	(void)state;
}

/* Two that are all threads share what both take; but not what they took once or twice. */
static void test_pair(void **state)
{
	struct fixture *f = start(2);
	u64 line;

	take(f, 0, 1, 10);
	take(f, 1, 1, 10);
	merge(f, 2);
	assert_true(together(f, 0, 1));
	f = start(2);
	for (line = 0; line < 100; line++) {
		take(f, 0, line, 2);
		take(f, 1, line, 2);
	}
	merge(f, 2);
	assert_same(f->thread[0].found, 0);
	(void)state;
}

/* Where all take a line as often it tells nothing, unless many threads do not take it. */
static void test_everybody(void **state)
{
	struct fixture *f = start(4);
	u32 i;

	for (i = 0; i < 4; i++)
		take(f, i, 9, 50);
	merge(f, 4);
	assert_same(f->thread[0].found, 0);
	f = start(4);
	for (i = 0; i < 4; i++)
		take(f, i, 9, 50);
	merge(f, 8);
	assert_true(together(f, 0, 3));
	(void)state;
}

/* Random maps with groups that overlap */
static void fill(struct fixture *f, u32 groups)
{
	u32 i, k, g;

	for (i = 0; i < f->nr; i++)
		for (k = 0; k < 100; k++) {
			g = random() % 4 ? i % groups : random() % groups;
			take(f, i, g * 10 + random() % 10, 1);
		}
}

static double product(const struct fixture *f, u32 a, u32 b)
{
	double sum = 0;
	u32 i;

	for (i = 0; i < TASKCLUSTER_LINES; i++)
		sum += (double)f->nodes[a].count[i] * f->nodes[b].count[i];
	return sum;
}

/* No sample is in two nodes. */
static void check_sums(const struct fixture *f, u32 nodes)
{
	u32 line, i, sum, all;

	for (line = 0; line < TASKCLUSTER_LINES; line++) {
		for (i = 0, all = 0; i < f->nr; i++)
			all += f->thread[i].map.count[line];
		for (i = 0, sum = 0; i < nodes; i++)
			sum += f->nodes[i].into == i ? f->nodes[i].count[line] : 0;
		assert_true(sum <= all);
	}
}

/* What is left at the end is not alike, by numbers that were not kept up to date on the way. */
static void test_ends(void **state)
{
	struct fixture *f;
	u32 round, i, k, nodes;
	double tie;

	srandom(1);
	for (round = 0; round < 60; round++) {
		f = start(2 + random() % 60);
		fill(f, 1 + random() % 12);
		nodes = merge(f, f->nr);
		check_sums(f, nodes);
		for (i = 0; i < nodes; i++)
			for (k = 0; k < i; k++) {
				tie = product(f, i, k);
				if (f->nodes[i].into == i && f->nodes[k].into == k)
					assert_true(tie <= TASKCLUSTER_THRESHOLD ||
						    tie * tie < product(f, i, i) *
						    product(f, k, k) * 1.01 / 256);
			}
	}
	(void)state;
}

/* More threads than a filter has lines */
static void test_many(void **state)
{
	u32 want[MOST], got[MOST], i;
	struct fixture *f = start(MOST);

	srandom(1);
	for (i = 0; i < MOST; i++)
		want[i] = i % 12;
	for (i = 0; i < MOST * 100; i++)
		take(f, i / 100, want[i / 100] * 10 + random() % 10, 1);
	assert_true(merge(f, MOST) <= TASKCLUSTER_LINES);
	for (i = 0; i < MOST; i++)
		got[i] = f->thread[i].found;
	assert_true(adjusted_rand(got, want, MOST) == 1);
	(void)state;
}

/* Each of two pairs takes thousands of lines alike, which are next to each other. */
static void take_tables(struct fixture *f)
{
	u32 i, thread;

	taskcluster_filter_reset(&f->filter);
	for (thread = 0; thread < 4; thread++)
		taskcluster_shmap_reset(&f->thread[thread]);
	for (i = 0; i < 4 * 120; i++)
		take(f, i % 4, (i % 2) * 5000 + random() % 5000, 1);
}

/* Of so many lines hardly one is seen twice. In blocks they are few enough. */
static void test_blocks(void **state)
{
	struct fixture *f;
	u32 seed;

	for (seed = 1; seed <= 20; seed++) {
		f = start(4);
		srandom(seed);
		take_tables(f);
		merge(f, 4);
		assert_false(together(f, 0, 2));
		assert_true(taskcluster_filter_fit(&f->filter, TASKCLUSTER_SHIFT_MOST));
		take_tables(f);
		merge(f, 4);
		assert_true(together(f, 0, 2) && together(f, 1, 3));
		assert_false(together(f, 0, 1));
		/* that is the right size */
		assert_false(taskcluster_filter_fit(&f->filter, TASKCLUSTER_SHIFT_MOST));
	}
	(void)state;
}

/* Blocks become as small again as the lines are few, and never larger than is said. */
static void test_blocks_fit(void **state)
{
	struct fixture *f = start(1);
	u32 i;

	for (i = 0; i < 100000; i++)
		take(f, 0, i * 1000, 1);
	assert_true(taskcluster_filter_fit(&f->filter, TASKCLUSTER_SHIFT_PAGE));
	assert_same(f->filter.shift, TASKCLUSTER_SHIFT_PAGE);
	assert_false(taskcluster_filter_fit(&f->filter, TASKCLUSTER_SHIFT_PAGE));
	for (i = 6; i; i -= 2) {
		taskcluster_filter_reset(&f->filter);
		take(f, 0, 1, 100);
		assert_true(taskcluster_filter_fit(&f->filter, TASKCLUSTER_SHIFT_PAGE));
		assert_same(f->filter.shift, i - 2);
	}
	assert_false(taskcluster_filter_fit(&f->filter, TASKCLUSTER_SHIFT_PAGE));
	(void)state;
}

/* The largest numbers that there can be: UBSan and a trap in mul_u64_u64_div_u64() look on. */
static void test_saturated(void **state)
{
	static struct taskcluster_thread thread[8192], *t[8192];
	struct fixture *f = start(0);
	u32 i;

	for (i = 0; i < 8192; i++) {
		t[i] = &thread[i];
		memset(thread[i].map.count + 128 * (i & 1), 255, 128);
	}
	taskcluster_find(t, 8192, 8192, TASKCLUSTER_THRESHOLD, f->nodes, f->ties);
	assert_true(thread[0].found && thread[1].found);
	assert_true(thread[0].found != thread[1].found);
	assert_same(thread[8190].found, thread[0].found);
	/* one has all samples, and the rest is silent */
	memset(thread, 0, sizeof(thread));
	memset(thread[5].map.count, 255, sizeof(thread[5].map.count));
	taskcluster_find(t, 8192, ~0U, 0, f->nodes, f->ties);
	assert_same(thread[5].found, 0);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_pair),
		cmocka_unit_test(test_everybody),
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_blocks),
		cmocka_unit_test(test_blocks_fit),
		cmocka_unit_test(test_saturated),
	};

	cmocka_set_test_filter(getenv("UNIT_FILTER"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
