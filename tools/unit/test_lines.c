// SPDX-License-Identifier: GPL-2.0
/* What lines are shared for, and by which code */
#include <cluster.h>
#include "test.h"

#define THREADS	3U
#define LINE	77U

struct fixture {
	struct taskcluster_filter filter;
	struct taskcluster_thread thread[THREADS];
	u32 entry;
};

static int setup(void **state)
{
	static struct fixture f;

	memset(&f, 0, sizeof(f));
	*state = &f;
	return 0;
}

/* @thread uses @word @times, by an instruction of its own, and of the thread. */
static void use(struct fixture *f, u32 thread, u32 word, bool locked, u32 times)
{
	struct taskcluster_access a = {
		.line = LINE, .addr = LINE * 64 + word * 4, .code = 1000 + thread, .by = thread,
		.word = word, .locked = locked,
	};

	while (times--)
		assert_true(taskcluster_shmap_note(&f->filter, &f->thread[thread], &a));
	for (f->entry = 0; f->filter.line[f->entry] != LINE + 1; f->entry++)
		;
}

static struct taskcluster_sharing sharing(const struct fixture *f)
{
	struct taskcluster_sharing s = { };
	u32 i;

	for (i = 0; i < THREADS; i++)
		taskcluster_share(&s, &f->thread[i].map, f->entry);
	return s;
}

static enum taskcluster_kind kind(const struct fixture *f)
{
	struct taskcluster_sharing s = sharing(f);

	return taskcluster_kind(&s, f->filter.locked[f->entry] > 0);
}

static void test_single(void **state)
{
	struct fixture *f = *state;

	use(f, 0, 3, false, 100);
	assert_same(kind(f), TASKCLUSTER_SINGLE);
	assert_same(sharing(f).takers, 1);
	/* of the other one there are as many as there are by chance */
	use(f, 1, 3, false, TASKCLUSTER_NOISE - 1);
	assert_same(kind(f), TASKCLUSTER_SINGLE);
	use(f, 1, 3, false, 1);
	assert_same(kind(f), TASKCLUSTER_DATA);
	assert_same(sharing(f).takers, 2);
}

static void test_false(void **state)
{
	struct fixture *f = *state;

	use(f, 0, 0, false, 10);
	use(f, 1, 1, true, 10);
	use(f, 2, 15, false, 10);
	assert_same(kind(f), TASKCLUSTER_FALSE);
	assert_same(sharing(f).used, 0x8003);
	/* one word that two of three use is enough */
	use(f, 2, 1, false, 1);
	assert_same(sharing(f).shared, 0x2);
	assert_same(kind(f), TASKCLUSTER_DATA);
}

/* Threads that use many words must be seen often, before it is said that they use others. */
static void test_unsure(void **state)
{
	struct fixture *f = *state;
	u32 i;

	use(f, 0, 0, false, 50);
	for (i = 1; i < 8; i++)
		use(f, 1, i, false, 3);
	assert_same(kind(f), TASKCLUSTER_UNKNOWN);
	for (i = 1; i < 8; i++)
		use(f, 1, i, false, 1);
	assert_same(kind(f), TASKCLUSTER_FALSE);
	/* who uses the same is seen at once */
	use(f, 1, 9, false, 1);
	assert_same(kind(f), TASKCLUSTER_UNKNOWN);
	use(f, 1, 0, false, 1);
	assert_same(kind(f), TASKCLUSTER_DATA);
}

/* Two that use one of two words each: the chance that it is chance halves with each sample. */
static void test_chance(void **state)
{
	struct fixture *f = *state;

	use(f, 0, 0, false, 11);
	use(f, 1, 1, false, 12);
	assert_same(kind(f), TASKCLUSTER_UNKNOWN);
	use(f, 0, 0, false, 1);
	assert_same(kind(f), TASKCLUSTER_FALSE);
	/* one that uses a third word tells the more */
	setup(state);
	use(f, 0, 0, false, 5);
	use(f, 1, 1, false, 5);
	use(f, 2, 2, false, 5);
	assert_same(kind(f), TASKCLUSTER_UNKNOWN);
	use(f, 2, 2, false, 1);
	assert_same(kind(f), TASKCLUSTER_FALSE);
}

/* As it was seen of two threads that use four words at random */
static void test_few(void **state)
{
	struct fixture *f = *state;

	use(f, 0, 0, true, 5);
	use(f, 0, 4, true, 5);
	use(f, 1, 8, true, 6);
	assert_same(kind(f), TASKCLUSTER_UNKNOWN);
}

static void test_atomic(void **state)
{
	struct fixture *f = *state;

	use(f, 0, 2, true, 300);
	use(f, 1, 2, false, 100);
	assert_same(kind(f), TASKCLUSTER_ATOMIC);
	use(f, 1, 2, false, 100);
	assert_same(kind(f), TASKCLUSTER_DATA);
	/* it does not take as long to turn as it has lasted */
	use(f, 0, 2, true, 400);
	use(f, 0, 2, false, 200);
	assert_same(kind(f), TASKCLUSTER_DATA);
}

static void test_code(void **state)
{
	struct fixture *f = *state;

	use(f, 0, 1, false, 5);
	use(f, 1, 2, false, 4);
	assert_same(f->filter.code[f->entry], 1000);
	assert_same(f->filter.by[f->entry], 0);
	assert_same(f->filter.addr[f->entry], LINE * 64 + 4);
	use(f, 2, 9, false, 20);
	assert_same(f->filter.code[f->entry], 1002);
	assert_same(f->filter.by[f->entry], 2);
	assert_same(f->filter.addr[f->entry], LINE * 64 + 36);
	/* votes do not wrap, and 255 are not forgotten at once */
	use(f, 2, 9, false, 300);
	use(f, 0, 1, false, 200);
	assert_same(f->filter.code[f->entry], 1002);
}

static void test_reset(void **state)
{
	struct fixture *f = *state;
	u32 i;

	use(f, 0, 0, true, 50);
	use(f, 1, 0, true, 50);
	taskcluster_filter_reset(&f->filter);
	for (i = 0; i < THREADS; i++)
		taskcluster_shmap_reset(&f->thread[i]);
	use(f, 0, 1, false, 12);
	use(f, 2, 2, false, 12);
	assert_same(kind(f), TASKCLUSTER_FALSE);
	assert_same(sharing(f).used, 0x6);
}

static void test_others(void **state)
{
	struct taskcluster_taken taken = { };
	u64 line;

	(void)state;
	assert_false(taskcluster_is_others(&taken, 0, 7));
	assert_false(taskcluster_is_others(&taken, 0, 7));
	assert_true(taskcluster_is_others(&taken, 0, 8));
	assert_false(taskcluster_is_others(&taken, 0, 8));
	assert_true(taskcluster_is_others(&taken, 0, 7));
	/* lines that have the same entry are told apart */
	for (line = 1; line < 10 * TASKCLUSTER_LINES; line++)
		assert_false(taskcluster_is_others(&taken, line, line % 2));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_single, setup),
		cmocka_unit_test_setup(test_false, setup),
		cmocka_unit_test_setup(test_unsure, setup),
		cmocka_unit_test_setup(test_chance, setup),
		cmocka_unit_test_setup(test_few, setup),
		cmocka_unit_test_setup(test_atomic, setup),
		cmocka_unit_test_setup(test_code, setup),
		cmocka_unit_test_setup(test_reset, setup),
		cmocka_unit_test(test_others),
	};

	cmocka_set_test_filter(getenv("UNIT_FILTER"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
