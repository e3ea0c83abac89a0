// SPDX-License-Identifier: GPL-2.0
/* The LRU stack, against a list. See also fuzz_stack.c. */
#include "test.h"

/* A stack, the list it must be like, and the memory of the stack. */
struct pair {
	struct test_mem tm;
	struct mmpath_stack s;
	struct naive_stack n;
};

static void pair_init(struct pair *p, unsigned long max_pages, unsigned int shift)
{
	test_mem_init(&p->tm);
	assert_int_equal(mmpath_stack_init(&p->s, &p->tm.mem, max_pages, shift), 0);
	naive_init(&p->n, shift);
}

static void pair_destroy(struct pair *p)
{
	mmpath_stack_destroy(&p->s);
	naive_free(&p->n);
	assert_int_equal(p->tm.mem.bytes, 0);
}

static void pair_touch(struct pair *p, u64 page)
{
	assert_same(mmpath_stack_touch(&p->s, page), naive_touch(&p->n, page));
}

static void assert_order(const struct pair *p)
{
	size_t i = p->n.nr;
	u64 page;
	bool more;

	assert_int_equal(p->s.nr_pages, p->n.nr);
	assert_int_equal(mmpath_stack_footprint(&p->s), (u64)p->n.nr << p->n.shift);
	for (more = mmpath_stack_bottom(&p->s, &page); more;
	     more = mmpath_stack_above(&p->s, &page)) {
		assert_true(i);
		assert_int_equal(page, p->n.page[--i]);
	}
	assert_int_equal(i, 0);
}

static void test_empty(void **state)
{
	struct pair p;
	u64 page = 5;

	(void)state;
	pair_init(&p, 0, 0);
	assert_false(mmpath_stack_bottom(&p.s, &page));
	assert_false(mmpath_stack_above(&p.s, &page));
	assert_int_equal(page, 5);
	mmpath_stack_prefetch(&p.s, &page, 1);
	mmpath_stack_forget(&p.s, 0, ~0ULL);
	assert_int_equal(mmpath_stack_move(&p.s, 0, 100, 50), 0);
	assert_int_equal(mmpath_stack_set_shift(&p.s, 3), 0);
	assert_int_equal(mmpath_stack_footprint(&p.s), 0);
	assert_int_equal(p.tm.nr_allocs, 0);
	pair_destroy(&p);
}

static void test_first_touches(void **state)
{
	struct pair p;

	(void)state;
	pair_init(&p, 0, 0);
	assert_same(mmpath_stack_touch(&p.s, 7), MMPATH_COLD);
	assert_same(mmpath_stack_touch(&p.s, 7), 0);
	assert_same(mmpath_stack_touch(&p.s, 8), MMPATH_COLD);
	assert_same(mmpath_stack_touch(&p.s, 8), 0);
	assert_same(mmpath_stack_touch(&p.s, 7), 1);
	assert_same(mmpath_stack_touch(&p.s, 8), 1);
	assert_same(mmpath_stack_touch(&p.s, 8), 0);
	assert_int_equal(mmpath_stack_footprint(&p.s), 2);
	pair_destroy(&p);
}

/* Numbers at the ends of what a page number can be. */
static void test_wide_numbers(void **state)
{
	static const u64 pages[] = {
		0, 1, MMPATH_VPN_MASK, 1ULL << MMPATH_VPN_BITS, ~0ULL, ~0ULL - 1, 1ULL << 63,
	};
	struct pair p;
	size_t i, round;

	(void)state;
	pair_init(&p, 0, 0);
	for (round = 0; round < 3; round++)
		for (i = 0; i < ARRAY_SIZE(pages); i++)
			pair_touch(&p, pages[i]);
	assert_order(&p);
	mmpath_stack_forget(&p.s, ~0ULL, 10);
	naive_forget(&p.n, ~0ULL, 10);
	assert_order(&p);
	pair_destroy(&p);
}

/* Same distances for every kind of trace, through many sweeps of the log. */
static void test_traces(void **state)
{
	enum trace_kind kind;

	(void)state;
	for (kind = 0; kind < NR_TRACES; kind++) {
		size_t i, nr = 30000;
		u64 *trace = trace_make(kind, 700, nr, 42);
		struct pair p;

		pair_init(&p, 0, 0);
		for (i = 0; i < nr; i++)
			pair_touch(&p, trace[i]);
		assert_order(&p);
		pair_destroy(&p);
		free(trace);
	}
}

/* Sizes around those at which words, nodes and leaves end. */
static void test_sizes(void **state)
{
	static const u64 sizes[] = { 1, 2, 31, 63, 64, 65, 127, 128, 129, 511, 512, 513, 4097 };
	size_t k;
	u64 i;

	(void)state;
	for (k = 0; k < ARRAY_SIZE(sizes); k++) {
		struct pair p;

		pair_init(&p, 0, 0);
		for (i = 0; i < 4 * sizes[k] + 64; i++)
			pair_touch(&p, i % sizes[k]);
		assert_order(&p);
		pair_destroy(&p);
	}
}

/* Too many pages for a list: a loop has one distance. */
static void test_many_pages(void **state)
{
	const u64 pages = 300000;
	struct pair p;
	u64 i;

	(void)state;
	pair_init(&p, 0, 0);
	for (i = 0; i < pages; i++)
		assert_same(mmpath_stack_touch(&p.s, i), MMPATH_COLD);
	for (i = 0; i < 3 * pages; i++)
		assert_same(mmpath_stack_touch(&p.s, i % pages), pages - 1);
	pair_destroy(&p);
}

/* Large stacks only are looked up ahead, too large for the list. */
static void test_prefetch_changes_nothing(void **state)
{
	const size_t pages = 200000, nr = 600000;
	u64 *trace = trace_make(TRACE_UNIFORM, pages, nr, 3);
	struct mmpath_stack told, other;
	struct test_mem tm;
	size_t i;

	(void)state;
	test_mem_init(&tm);
	assert_int_equal(mmpath_stack_init(&told, &tm.mem, 0, 0), 0);
	assert_int_equal(mmpath_stack_init(&other, &tm.mem, 0, 0), 0);
	for (i = 0; i < nr; i++) {
		if (i % 16 == 0)
			mmpath_stack_prefetch(&told, trace + i, 16);
		assert_int_equal(mmpath_stack_touch(&told, trace[i]),
				 mmpath_stack_touch(&other, trace[i]));
	}
	mmpath_stack_prefetch(&told, trace, nr);
	assert_int_equal(told.nr_pages, other.nr_pages);
	mmpath_stack_destroy(&told);
	mmpath_stack_destroy(&other);
	assert_int_equal(tm.mem.bytes, 0);
	free(trace);
}

static void touch_range(struct pair *p, u64 first, u64 nr)
{
	for (; nr; nr--)
		pair_touch(p, first++);
}

static void test_forget(void **state)
{
	static const u64 ranges[][2] = {
		{ 100, 0 }, { 100, 1 }, { 127, 2 }, { 0, 1 }, { 999, 1 }, { 999, 500 },
		{ 200, 300 }, { 200, 300 }, { 5000, 10 }, { 1, 900 },
	};
	struct pair p;
	size_t i;

	(void)state;
	pair_init(&p, 0, 0);
	touch_range(&p, 0, 1000);
	for (i = 0; i < ARRAY_SIZE(ranges); i++) {
		mmpath_stack_forget(&p.s, ranges[i][0], ranges[i][1]);
		naive_forget(&p.n, ranges[i][0], ranges[i][1]);
		assert_order(&p);
	}
	touch_range(&p, 0, 1000);
	assert_order(&p);
	pair_destroy(&p);
}

/* What nothing is left of gives its memory back. */
static void test_forget_frees(void **state)
{
	struct pair p;
	size_t before;

	(void)state;
	pair_init(&p, 0, 0);
	touch_range(&p, 0, 100);
	before = p.tm.mem.bytes;
	for (u64 i = 0; i < 1000; i++)
		mmpath_stack_touch(&p.s, 1000000 + i * 1000);
	assert_true(p.tm.mem.bytes > before + 500000);
	mmpath_stack_forget(&p.s, 1000000, 1000000);
	assert_true(p.tm.mem.bytes < before + 80000);
	assert_order(&p);
	mmpath_stack_forget(&p.s, 0, 100);
	assert_int_equal(p.tm.mem.bytes, 0);
	pair_destroy(&p);
}

/* The chunks of the ring of @page's context, each of which is in use. */
static u32 ring_length(const struct mmpath_index *ix, u64 page)
{
	unsigned int id_shift = MMPATH_VPN_BITS - MMPATH_CHUNK_SHIFT - ix->shift;
	const struct mmpath_chunk *c;
	u32 anchor, chunk, nr = 0;

	for (anchor = 1; anchor <= ix->top_chunk; anchor++) {
		c = mmpath_index_chunk(ix, anchor);
		if (!c->value && c->used && c->number == (1ULL << 63 | page >> MMPATH_VPN_BITS))
			break;
	}
	if (anchor > ix->top_chunk)
		return 0;
	for (chunk = mmpath_index_chunk(ix, anchor)->after; chunk != anchor; chunk = c->after) {
		c = mmpath_index_chunk(ix, chunk);
		assert_true(c->value && c->used);
		assert_int_equal(c->number >> id_shift, page >> MMPATH_VPN_BITS);
		assert_int_equal(mmpath_index_chunk(ix, c->after)->before, chunk);
		nr++;
	}
	assert_int_equal(mmpath_index_chunk(ix, anchor)->used, nr);
	return nr;
}

/* What a context forgets is looked for among its own chunks, also after they were coarsened. */
static void test_contexts(void **state)
{
	const u64 contexts = 20, pages = 2000;
	struct pair p;
	u64 id, first;
	u32 nr;

	(void)state;
	pair_init(&p, 0, 0);
	for (id = 0; id < contexts; id++)
		touch_range(&p, id << MMPATH_VPN_BITS, pages);
	for (id = 0; id < contexts; id++) {
		first = id << MMPATH_VPN_BITS;
		mmpath_stack_forget(&p.s, first + 5, pages / 2);
		naive_forget(&p.n, first + 5, pages / 2);
		if (id % 8 == 7) {
			assert_int_equal(mmpath_stack_set_shift(&p.s, p.s.shift + 2), 0);
			naive_set_shift(&p.n, p.n.shift + 2);
		}
		nr = ring_length(&p.s.index, first);
		assert_true(nr && nr <= 1 + (pages / MMPATH_CHUNK >> p.s.shift));
		mmpath_stack_forget(&p.s, first, MMPATH_VPN_MASK + 1);
		naive_forget(&p.n, first, MMPATH_VPN_MASK + 1);
		assert_int_equal(ring_length(&p.s.index, first), 0);
		assert_order(&p);
	}
	assert_int_equal(p.tm.mem.bytes, 0);
	pair_destroy(&p);
}

/* A range ends where the pages of its context end. */
static void test_end_of_context(void **state)
{
	const u64 end = MMPATH_VPN_MASK + 1;
	struct pair p;

	(void)state;
	pair_init(&p, 0, 0);
	touch_range(&p, end - 500, 1000);
	mmpath_stack_forget(&p.s, end - 10, 20);
	naive_forget(&p.n, end - 10, 20);
	assert_order(&p);
	pair_destroy(&p);
}

static void test_move(void **state)
{
	static const u64 moves[][3] = {
		{ 0, 1000, 100 }, { 1000, 0, 100 }, { 50, 5000, 1 }, { 10, 70, 60 },
		{ 60, 300, 200 }, { 300, 299, 1 }, { 7, 7, 5 }, { 0, 1ULL << 40, 600 },
		{ 1ULL << 40, 3, 600 }, { 0, 5, 0 },
	};
	struct pair p;
	size_t i;

	(void)state;
	pair_init(&p, 0, 0);
	touch_range(&p, 0, 600);
	for (i = 0; i < ARRAY_SIZE(moves); i++) {
		assert_int_equal(mmpath_stack_move(&p.s, moves[i][0], moves[i][1], moves[i][2]), 0);
		if (moves[i][0] != moves[i][1])
			naive_move(&p.n, moves[i][0], moves[i][1], moves[i][2]);
		assert_order(&p);
	}
	assert_int_equal(mmpath_stack_move(&p.s, 0, 1, 2), -EINVAL);
	assert_int_equal(mmpath_stack_move(&p.s, 100, 0, 101), -EINVAL);
	assert_int_equal(mmpath_stack_move(&p.s, ~0ULL, 0, 2), -EINVAL);
	assert_order(&p);
	pair_destroy(&p);
}

static void test_move_sampled(void **state)
{
	struct pair p;

	(void)state;
	pair_init(&p, 0, 3);
	touch_range(&p, 0, 8000);
	assert_int_equal(mmpath_stack_move(&p.s, 1000, 100003, 2000), 0);
	naive_move(&p.n, 1000, 100003, 2000);
	assert_order(&p);
	touch_range(&p, 100003, 2000);
	assert_order(&p);
	pair_destroy(&p);
}

/* Exactly one page in each block, the one that mmpath_sample_of_block() names. */
static void test_sample_one_per_block(void **state)
{
	unsigned int shift;
	u64 block, page, found, base = 0x123456789abULL << 10;

	(void)state;
	for (shift = 0; shift <= 10; shift++) {
		for (block = base >> shift; block < (base >> shift) + 50; block++) {
			found = 0;
			for (page = block << shift; page < (block + 1) << shift; page++) {
				if (!mmpath_sampled(page, shift))
					continue;
				found++;
				assert_int_equal(page, mmpath_sample_of_block(block, shift));
			}
			assert_int_equal(found, 1);
		}
	}
}

static void test_sample_nested(void **state)
{
	struct rng r = { 99 };
	unsigned int shift;
	u64 page;
	int i;

	(void)state;
	for (i = 0; i < 10000; i++) {
		page = mmpath_sample_of_block(rng_next(&r) >> 24, MMPATH_MAX_SHIFT);
		assert_int_equal(page >> MMPATH_MAX_SHIFT << MMPATH_MAX_SHIFT,
				 page & ~((1ULL << MMPATH_MAX_SHIFT) - 1));
		for (shift = 0; shift <= MMPATH_MAX_SHIFT; shift++)
			assert_true(mmpath_sampled(page, shift));
	}
}

/* As likely at each place of its block, and alike in all address spaces. */
static void test_sample_is_spread(void **state)
{
	unsigned int count[8] = { 0 }, i;
	u64 block, tag = 5ULL << MMPATH_VPN_BITS;

	(void)state;
	for (block = 0; block < 80000; block++)
		count[mmpath_sample_of_block(block, 3) % 8]++;
	for (i = 0; i < 8; i++)
		assert_in_range(count[i], 9600, 10400);
	for (block = 0; block < 1000; block++)
		assert_int_equal(mmpath_sample_of_block(block | tag >> 3, 3),
				 mmpath_sample_of_block(block, 3) | tag);
}

/* What is touched at a stride is sampled at the rate too: 5 standard deviations. */
static void test_sample_of_strides(void **state)
{
	static const u64 strides[] = { 1, 2, 3, 7, 8, 10, 64, 65, 127, 128, 512, 513, 1024, 65536 };
	unsigned int shift, want, seen, i;
	u64 page, n = 65536;

	(void)state;
	for (i = 0; i < sizeof(strides) / sizeof(*strides); i++) {
		for (shift = 2; shift <= 8; shift += 2) {
			seen = 0;
			want = n >> shift;
			for (page = 0; page < n; page++)
				seen += mmpath_sampled(0x7ffff7a00ULL + page * strides[i], shift);
			assert_true((seen - (double)want) * (seen - (double)want) < 25.0 * want);
		}
	}
}

static void test_unsampled(void **state)
{
	struct pair p;

	(void)state;
	pair_init(&p, 0, 4);
	for (u64 page = 0; page < 3000; page++) {
		s64 got = mmpath_stack_touch(&p.s, page);

		assert_same(got, mmpath_sampled(page, 4) ? MMPATH_COLD : MMPATH_UNSAMPLED);
	}
	assert_in_range(p.s.nr_pages, 3000 / 16, 3000 / 16 + 1);
	pair_destroy(&p);
}

static void test_set_shift(void **state)
{
	u64 *trace = trace_make(TRACE_ZIPF, 3000, 9000, 1);
	struct pair p;
	unsigned int shift;
	size_t i;

	(void)state;
	pair_init(&p, 0, 0);
	for (shift = 0; shift < 9; shift += shift / 2 + 1) {
		assert_int_equal(mmpath_stack_set_shift(&p.s, shift), 0);
		naive_set_shift(&p.n, shift);
		assert_order(&p);
		for (i = 0; i < 9000; i++)
			pair_touch(&p, trace[i]);
		assert_order(&p);
	}
	assert_int_equal(mmpath_stack_set_shift(&p.s, p.s.shift - 1), -EINVAL);
	assert_int_equal(mmpath_stack_set_shift(&p.s, MMPATH_MAX_SHIFT + 1), -EINVAL);
	assert_int_equal(mmpath_stack_set_shift(&p.s, MMPATH_MAX_SHIFT), 0);
	naive_set_shift(&p.n, MMPATH_MAX_SHIFT);
	assert_order(&p);
	pair_destroy(&p);
	free(trace);
}

static void test_bad_shift(void **state)
{
	struct test_mem tm;
	struct mmpath_stack s;

	(void)state;
	test_mem_init(&tm);
	assert_int_equal(mmpath_stack_init(&s, &tm.mem, 0, MMPATH_MAX_SHIFT), 0);
	assert_int_equal(mmpath_stack_init(&s, &tm.mem, 0, MMPATH_MAX_SHIFT + 1), -EINVAL);
}

static void test_reset(void **state)
{
	struct pair p;

	(void)state;
	pair_init(&p, 0, 5);
	touch_range(&p, 0, 5000);
	mmpath_stack_reset(&p.s, 2);
	naive_free(&p.n);
	naive_set_shift(&p.n, 2);
	assert_int_equal(p.tm.mem.bytes, 0);
	assert_order(&p);
	touch_range(&p, 0, 5000);
	assert_order(&p);
	pair_destroy(&p);
}

/* A stack with a limit keeps to it, whatever the pages. */
static void fixed_memory(u64 stride, unsigned long max_pages)
{
	struct pair p;
	u64 i;

	pair_init(&p, max_pages, 0);
	for (i = 0; i < 40 * max_pages; i++) {
		mmpath_stack_touch(&p.s, i * stride);
		assert_true(p.s.nr_pages <= max_pages);
		assert_true(mmpath_stack_bytes(&p.s) <= 16 * max_pages + 4096);
		assert_int_equal(mmpath_stack_bytes(&p.s), p.tm.mem.bytes + sizeof(p.s));
	}
	assert_true(p.s.shift > 0);
	assert_true(p.tm.largest <= 8192);
	pair_destroy(&p);
}

static void test_fixed_memory(void **state)
{
	(void)state;
	fixed_memory(1, 10000);
	fixed_memory(7, 5000);
	fixed_memory(1000, 3000);
	fixed_memory(1ULL << 20, 300);
	fixed_memory(1, 100);
	fixed_memory(1, 1);
}

/* The sample is a good half of what fits, not far less. */
static void test_fixed_memory_is_used(void **state)
{
	struct pair p;
	u64 i;

	(void)state;
	pair_init(&p, 10000, 0);
	for (i = 0; i < 1000000; i++)
		mmpath_stack_touch(&p.s, i);
	assert_in_range(p.s.nr_pages, 5000, 10000);
	pair_destroy(&p);
}

/* At the coarsest sample there is a limit that coarser cannot help. */
static void test_no_coarser(void **state)
{
	struct pair p;
	u64 block;

	(void)state;
	pair_init(&p, 10, MMPATH_MAX_SHIFT);
	for (block = 0; block < 10; block++)
		assert_same(mmpath_stack_touch(&p.s, mmpath_sample_of_block(block, MMPATH_MAX_SHIFT)),
			    MMPATH_COLD);
	assert_same(mmpath_stack_touch(&p.s, mmpath_sample_of_block(block, MMPATH_MAX_SHIFT)),
		    MMPATH_NOMEM);
	assert_same(mmpath_stack_touch(&p.s, mmpath_sample_of_block(0, MMPATH_MAX_SHIFT)),
		    9LL << MMPATH_MAX_SHIFT);
	pair_destroy(&p);
}

/* Peak of the bytes per page while @nr touches of each kind go by. */
static void bytes_per_page(enum trace_kind kind, u64 pages, size_t nr)
{
	u64 *trace = trace_make(kind, pages, nr, 17);
	struct pair p;
	size_t i;

	pair_init(&p, 0, 0);
	for (i = 0; i < pages; i++)
		mmpath_stack_touch(&p.s, i);
	for (i = 0; i < nr; i++) {
		mmpath_stack_touch(&p.s, trace[i]);
		assert_true(mmpath_stack_bytes(&p.s) <= 16 * pages);
	}
	assert_true(p.tm.largest <= 8192);
	pair_destroy(&p);
	free(trace);
}

static void test_bytes_per_page(void **state)
{
	enum trace_kind kind;

	(void)state;
	for (kind = 0; kind < NR_TRACES; kind++) {
		bytes_per_page(kind, 10000, 60000);
		bytes_per_page(kind, 123456, 600000);
	}
}

/* After most pages went the log follows. */
static void test_log_shrinks(void **state)
{
	struct pair p;
	u64 i;

	(void)state;
	pair_init(&p, 0, 0);
	for (i = 0; i < 100000; i++)
		mmpath_stack_touch(&p.s, i);
	mmpath_stack_forget(&p.s, 1000, 99000);
	for (i = 0; i < 300000; i++)
		mmpath_stack_touch(&p.s, i % 1000);
	assert_true(mmpath_stack_bytes(&p.s) < 110000);
	pair_destroy(&p);
}

/* A little of everything; allocation @fail_at fails. Returns how many did. */
static unsigned long scenario(unsigned long fail_at, bool fail_after)
{
	struct pair p;
	struct rng r = { 5 };
	u64 i, page;
	s64 got;

	pair_init(&p, 0, 0);
	p.tm.fail_at = fail_at;
	p.tm.fail_after = fail_after;
	for (i = 0; i < 3000; i++) {
		page = rng_below(&r, i % 100 ? 600 : 100000);
		got = mmpath_stack_touch(&p.s, page);
		if (got != MMPATH_NOMEM)
			assert_same(got, naive_touch(&p.n, page));
		if (i % 500 != 499)
			continue;
		if (mmpath_stack_move(&p.s, 100, 3000 * i, 200)) {
			naive_free(&p.n);
			mmpath_stack_reset(&p.s, 0);
		} else {
			naive_move(&p.n, 100, 3000 * i, 200);
		}
		mmpath_stack_forget(&p.s, 300, 50);
		naive_forget(&p.n, 300, 50);
	}
	assert_order(&p);
	assert_int_equal(mmpath_stack_set_shift(&p.s, 1), 0);
	naive_set_shift(&p.n, 1);
	assert_order(&p);
	pair_destroy(&p);
	return p.tm.nr_failed;
}

static void test_no_memory(void **state)
{
	unsigned long n;

	(void)state;
	assert_int_equal(scenario(0, false), 0);
	for (n = 1; scenario(n, false); n++)
		;
	assert_true(n > 50);
	for (n = 1; scenario(n, true); n += 7)
		;
}

/* A log that cannot grow any more takes all touches of known pages, if some of it is dead. */
static void test_log_of_no_memory(void **state)
{
	const u64 pages = 20000;
	struct pair p;
	u64 i;

	(void)state;
	pair_init(&p, 0, 0);
	for (i = 0; i < pages; i++)
		pair_touch(&p, i);
	for (i = 0; i < 10 * pages; i++) {
		if (i == pages / 4) {
			p.tm.fail_at = p.tm.nr_allocs + 1;
			p.tm.fail_after = true;
		}
		pair_touch(&p, i * 7 % (pages / 2));
	}
	assert_true(p.tm.nr_failed);
	assert_order(&p);
	pair_destroy(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_first_touches),
		cmocka_unit_test(test_wide_numbers),
		cmocka_unit_test(test_traces),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_many_pages),
		cmocka_unit_test(test_prefetch_changes_nothing),
		cmocka_unit_test(test_forget),
		cmocka_unit_test(test_forget_frees),
		cmocka_unit_test(test_contexts),
		cmocka_unit_test(test_end_of_context),
		cmocka_unit_test(test_move),
		cmocka_unit_test(test_move_sampled),
		cmocka_unit_test(test_sample_one_per_block),
		cmocka_unit_test(test_sample_nested),
		cmocka_unit_test(test_sample_is_spread),
		cmocka_unit_test(test_sample_of_strides),
		cmocka_unit_test(test_unsampled),
		cmocka_unit_test(test_set_shift),
		cmocka_unit_test(test_bad_shift),
		cmocka_unit_test(test_reset),
		cmocka_unit_test(test_fixed_memory),
		cmocka_unit_test(test_fixed_memory_is_used),
		cmocka_unit_test(test_no_coarser),
		cmocka_unit_test(test_bytes_per_page),
		cmocka_unit_test(test_log_shrinks),
		cmocka_unit_test(test_no_memory),
		cmocka_unit_test(test_log_of_no_memory),
	};

	cmocka_set_test_filter(getenv("UNIT_FILTER"));
	return cmocka_run_group_tests_name("stack", tests, NULL, NULL);
}
