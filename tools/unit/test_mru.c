// SPDX-License-Identifier: GPL-2.0
/* The MRU stack, against a cache that evicts the page used last. */
#include "test.h"

struct fixture {
	struct test_mem tm;
	struct mmpath_mru s;
};

static void fixture_init(struct fixture *f, unsigned int max_pages, unsigned int shift)
{
	test_mem_init(&f->tm);
	assert_int_equal(mmpath_mru_init(&f->s, &f->tm.mem, max_pages, shift), 0);
}

static void fixture_destroy(struct fixture *f)
{
	mmpath_mru_destroy(&f->s);
	assert_int_equal(f->tm.mem.bytes, 0);
}

static void test_first_touches(void **state)
{
	struct fixture f;

	(void)state;
	fixture_init(&f, 100, 0);
	assert_same(mmpath_mru_touch(&f.s, 1), MMPATH_COLD);
	assert_same(mmpath_mru_touch(&f.s, 1), 0);
	assert_same(mmpath_mru_touch(&f.s, 2), MMPATH_COLD);
	assert_same(mmpath_mru_touch(&f.s, 3), MMPATH_COLD);
	/* two pages: 2 drove out 1, 3 drove out 2; three pages: all are in */
	assert_same(mmpath_mru_touch(&f.s, 1), 1);
	assert_same(mmpath_mru_touch(&f.s, 3), 1);
	assert_same(mmpath_mru_touch(&f.s, 2), 2);
	assert_same(mmpath_mru_touch(&f.s, 2), 0);
	fixture_destroy(&f);
}

/* Misses of each size as Mattson's stack has them, and as a cache has them. */
static void same_as_cache(enum trace_kind kind)
{
	const u64 pages = 90;
	const size_t nr = 2000;
	u64 *trace = trace_make(kind, pages, nr, 7), *at, size, misses, d;
	struct fixture f;
	size_t i;

	at = calloc(pages, sizeof(*at));
	fixture_init(&f, 1000, 0);
	for (i = 0; i < nr; i++) {
		s64 distance = mmpath_mru_touch(&f.s, trace[i]);

		if (distance != MMPATH_COLD)
			at[distance]++;
	}
	for (size = 1; size <= pages; size++) {
		for (misses = 0, d = size; d < pages; d++)
			misses += at[d];
		assert_int_equal(misses, simulate_mru(trace, nr, size));
	}
	fixture_destroy(&f);
	free(trace);
	free(at);
}

static void test_traces(void **state)
{
	enum trace_kind kind;

	(void)state;
	for (kind = 0; kind < NR_TRACES; kind++)
		same_as_cache(kind);
}

/* The example of the thesis's mistake: 200 pages, 40 pages of memory. */
static void test_loop(void **state)
{
	struct fixture f;
	u64 i, misses = 0;

	(void)state;
	fixture_init(&f, 1000, 0);
	for (i = 0; i < 200; i++)
		mmpath_mru_touch(&f.s, i);
	for (i = 0; i < 100 * 200; i++)
		misses += mmpath_mru_touch(&f.s, i % 200) >= 40;
	/* 39 of 199 hit: one page of memory is always the newcomer's */
	assert_in_range(misses, 16000, 16200);
	fixture_destroy(&f);
}

static void test_bad_parameters(void **state)
{
	struct test_mem tm;
	struct mmpath_mru s;

	(void)state;
	test_mem_init(&tm);
	assert_int_equal(mmpath_mru_init(&s, &tm.mem, 0, 0), -EINVAL);
	assert_int_equal(mmpath_mru_init(&s, &tm.mem, 1, MMPATH_MAX_SHIFT + 1), -EINVAL);
	assert_int_equal(mmpath_mru_init(&s, &tm.mem, 1, 3), 0);
	assert_int_equal(mmpath_mru_set_shift(&s, 2), -EINVAL);
	assert_int_equal(mmpath_mru_set_shift(&s, MMPATH_MAX_SHIFT + 1), -EINVAL);
	assert_int_equal(mmpath_mru_set_shift(&s, 3), 0);
}

/* Each depth is that of one sampled page, and the page knows it. */
static void assert_valid(struct fixture *f)
{
	u32 depth, id;

	for (depth = 0; depth < f->s.nr_pages; depth++) {
		id = *(u32 *)mmpath_vec_at(&f->s.ids, depth, 2);
		assert_int_not_equal(id, 0);
		assert_int_equal(*mmpath_index_at(&f->s.index, id), depth + 1);
		assert_true(mmpath_sampled(mmpath_index_page(&f->s.index, id), f->s.shift));
	}
}

static void test_forget(void **state)
{
	struct fixture f;
	u64 i;

	(void)state;
	fixture_init(&f, 1000, 0);
	for (i = 0; i < 500; i++)
		mmpath_mru_touch(&f.s, i * 7 % 500);
	mmpath_mru_forget(&f.s, 100, 50);
	assert_int_equal(f.s.nr_pages, 450);
	assert_valid(&f);
	for (i = 0; i < 500; i++)
		assert_int_equal(mmpath_mru_touch(&f.s, i) == MMPATH_COLD, i >= 100 && i < 150);
	assert_valid(&f);
	mmpath_mru_forget(&f.s, 0, ~0ULL);
	assert_int_equal(f.s.nr_pages, 0);
	assert_same(mmpath_mru_touch(&f.s, 3), MMPATH_COLD);
	fixture_destroy(&f);
}

static void test_move(void **state)
{
	struct fixture f;
	u64 i;

	(void)state;
	fixture_init(&f, 1000, 0);
	for (i = 0; i < 300; i++)
		mmpath_mru_touch(&f.s, i);
	assert_int_equal(mmpath_mru_move(&f.s, 0, 1000, 100), 0);
	assert_int_equal(mmpath_mru_move(&f.s, 150, 200, 50), 0);
	assert_int_equal(mmpath_mru_move(&f.s, 100, 101, 5), -EINVAL);
	assert_int_equal(f.s.nr_pages, 250);
	assert_valid(&f);
	/* page 5 was next in line to be pushed below the bottom: at its depth */
	assert_same(mmpath_mru_touch(&f.s, 1005), 6);
	assert_same(mmpath_mru_touch(&f.s, 5), MMPATH_COLD);
	fixture_destroy(&f);
}

static void test_limit(void **state)
{
	struct fixture f;
	u64 i;

	(void)state;
	fixture_init(&f, 200, 0);
	for (i = 0; i < 10000; i++) {
		mmpath_mru_touch(&f.s, i);
		assert_true(f.s.nr_pages <= 200);
	}
	assert_in_range(f.s.nr_pages, 100, 200);
	assert_true(f.s.shift >= 6);
	assert_valid(&f);
	mmpath_mru_reset(&f.s, 2);
	assert_int_equal(f.s.shift, 2);
	assert_int_equal(f.tm.mem.bytes, 0);
	fixture_destroy(&f);
}

/* Pages that lie far apart do not take more than 16 bytes for each allowed. */
static void test_limit_of_bytes(void **state)
{
	struct fixture f;
	u64 i;

	(void)state;
	fixture_init(&f, 1000, 0);
	for (i = 0; i < 20000; i++) {
		mmpath_mru_touch(&f.s, i * 1000);
		assert_true(mmpath_mru_bytes(&f.s) <= 16 * 1000 + 4096);
	}
	assert_valid(&f);
	fixture_destroy(&f);
}

static void test_unsampled(void **state)
{
	struct fixture f;
	u64 i;

	(void)state;
	fixture_init(&f, 100, 3);
	for (i = 0; i < 80; i++)
		assert_same(mmpath_mru_touch(&f.s, i),
			    mmpath_sampled(i, 3) ? MMPATH_COLD : MMPATH_UNSAMPLED);
	assert_int_equal(f.s.nr_pages, 10);
	/* depths are in units of 8 pages */
	assert_same(mmpath_mru_touch(&f.s, mmpath_sample_of_block(0, 3)), 8);
	fixture_destroy(&f);
}

static unsigned long scenario(unsigned long fail_at)
{
	struct fixture f;
	struct rng r = { 3 };
	int i;

	fixture_init(&f, 400, 0);
	f.tm.fail_at = fail_at;
	for (i = 0; i < 2000; i++) {
		unsigned int before = f.s.nr_pages;

		if (mmpath_mru_touch(&f.s, rng_below(&r, 5000)) == MMPATH_NOMEM)
			assert_int_equal(f.s.nr_pages, before);
		if (i % 300 == 299)
			mmpath_mru_move(&f.s, 0, 100000 + 1000 * i, 1000);
	}
	assert_valid(&f);
	fixture_destroy(&f);
	return f.tm.nr_failed;
}

static void test_no_memory(void **state)
{
	unsigned long n;

	(void)state;
	for (n = 1; scenario(n); n++)
		;
	assert_true(n > 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_touches),
		cmocka_unit_test(test_traces),
		cmocka_unit_test(test_loop),
		cmocka_unit_test(test_bad_parameters),
		cmocka_unit_test(test_forget),
		cmocka_unit_test(test_move),
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_limit_of_bytes),
		cmocka_unit_test(test_unsampled),
		cmocka_unit_test(test_no_memory),
	};

	cmocka_set_test_filter(getenv("UNIT_FILTER"));
	return cmocka_run_group_tests_name("mru", tests, NULL, NULL);
}
