// SPDX-License-Identifier: GPL-2.0
/*
 * LIRS, against one without lists: it knows when each page was touched, came to Q and
 * left memory, and derives the rest from that by searching through all pages.
 */
#include "test.h"

#define MOST		3000
#define NONE		(~0ULL)

struct one {
	u64 page;
	bool lir, in;
	u64 touched, queued, left;
};

struct naive_lirs {
	struct one one[MOST];
	int nr;
	u64 now, size, hirs;
	bool fixed;
	unsigned int shift;
};

enum what { A_LIR, A_HIR, A_GHOST };

static bool is(const struct one *p, enum what what)
{
	return what == A_LIR ? p->lir : what == A_HIR ? p->in && !p->lir : !p->in;
}

static u64 when(const struct one *p, enum what what)
{
	return what == A_LIR ? p->touched : what == A_HIR ? p->queued : p->left;
}

static u64 how_many(const struct naive_lirs *n, enum what what)
{
	u64 sum = 0;
	int i;

	for (i = 0; i < n->nr; i++)
		sum += is(&n->one[i], what);
	return sum;
}

static struct one *oldest(struct naive_lirs *n, enum what what)
{
	struct one *p, *found = NULL;

	for (p = n->one; p < n->one + n->nr; p++)
		if (is(p, what) && (!found || when(p, what) < when(found, what)))
			found = p;
	return found;
}

static struct one *find(struct naive_lirs *n, u64 page)
{
	struct one *p;

	for (p = n->one; p < n->one + n->nr; p++)
		if (p->page == page)
			return p;
	return NULL;
}

static struct one *find_or_add(struct naive_lirs *n, u64 page)
{
	struct one *p = find(n, page);

	if (p)
		return p;
	assert_true(n->nr < MOST);
	n->one[n->nr] = (struct one){ .page = page };
	return &n->one[n->nr++];
}

static void drop(struct naive_lirs *n, struct one *p)
{
	*p = n->one[--n->nr];
}

/* Touched after the LIR page that was touched before all other LIR pages? */
static bool in_s(struct naive_lirs *n, const struct one *p)
{
	struct one *old = oldest(n, A_LIR);

	return old && p->touched >= old->touched;
}

static u64 lirs_allowed(const struct naive_lirs *n)
{
	u64 all = n->size >> n->shift;

	if (n->size == NONE)
		return NONE;
	if (n->hirs == 0)
		return all;
	if (n->hirs >= n->size || all == 0)
		return 0;
	return (n->size - n->hirs) >> n->shift == all ? all - 1 : (n->size - n->hirs) >> n->shift;
}

/* What follows from any change: LIR pages too many, ghosts not in S, ghosts too many. */
static void naive_settle(struct naive_lirs *n)
{
	u64 ghosts = n->size == NONE ?
		2 * (how_many(n, A_LIR) + how_many(n, A_HIR) + 1) : 2 * (n->size >> n->shift);
	struct one *p;
	int i;

	while (how_many(n, A_LIR) > lirs_allowed(n)) {
		p = oldest(n, A_LIR);
		p->lir = false;
		p->queued = ++n->now;
	}
	for (i = n->nr - 1; i >= 0; i--)
		if (!n->one[i].in && !in_s(n, &n->one[i]))
			drop(n, &n->one[i]);
	while (how_many(n, A_GHOST) > ghosts)
		drop(n, oldest(n, A_GHOST));
}

static int naive_lirs_touch(struct naive_lirs *n, u64 page)
{
	struct one *p;
	bool hit;

	if (!mmpath_sampled(page, n->shift))
		return MMPATH_UNSAMPLED;
	p = find_or_add(n, page);
	hit = p->in;
	if (how_many(n, A_LIR) < lirs_allowed(n) ||
	    (!n->fixed && p->touched && in_s(n, p)))
		p->lir = true;
	p->in = true;
	p->queued = ++n->now;
	p->touched = n->now;
	naive_settle(n);
	return hit;
}

static void naive_leave(struct naive_lirs *n, struct one *p)
{
	bool remembered = in_s(n, p);

	p->in = false;
	p->lir = false;
	p->left = ++n->now;
	if (!remembered)
		drop(n, p);
	naive_settle(n);
}

static u64 naive_victim(struct naive_lirs *n)
{
	struct one *p = oldest(n, A_HIR);
	u64 page;

	if (!p && oldest(n, A_LIR)) {
		p = oldest(n, A_LIR);
		p->lir = false;
		p->queued = ++n->now;
	}
	if (!p)
		return NONE;
	page = p->page;
	naive_leave(n, p);
	return page;
}

static void naive_keep(struct naive_lirs *n, u64 page)
{
	struct one *p;

	if (!mmpath_sampled(page, n->shift))
		return;
	p = find_or_add(n, page);
	if (p->in)
		return;
	p->in = true;
	p->queued = ++n->now;
}

/* Pages from @first on are now called @to, or are gone if that is @first. */
static void naive_rename(struct naive_lirs *n, u64 first, u64 nr, u64 to)
{
	struct one *p;
	int i;

	for (i = n->nr - 1; i >= 0; i--) {
		p = &n->one[i];
		if (p->page - first >= nr)
			continue;
		p->page += to - first;
		if (to == first || !mmpath_sampled(p->page, n->shift))
			drop(n, p);
	}
}

static void naive_coarsen(struct naive_lirs *n)
{
	int i;

	n->shift++;
	for (i = n->nr - 1; i >= 0; i--)
		if (!mmpath_sampled(n->one[i].page, n->shift))
			drop(n, &n->one[i]);
	naive_settle(n);
}

/* Both, and the memory of one */
struct twins {
	struct test_mem tm;
	struct mmpath_lirs l;
	struct naive_lirs n;
};

static struct twins *twins_new(u32 max_pages, unsigned int shift)
{
	struct twins *t = calloc(1, sizeof(*t));

	test_mem_init(&t->tm);
	assert_int_equal(mmpath_lirs_init(&t->l, &t->tm.mem, max_pages, shift), 0);
	t->n.shift = shift;
	t->n.size = NONE;
	return t;
}

static void twins_follow(struct twins *t)
{
	while (t->n.shift < t->l.shift)
		naive_coarsen(&t->n);
	assert_same(t->l.nr_lirs, how_many(&t->n, A_LIR));
	assert_same(t->l.nr_hirs, how_many(&t->n, A_HIR));
	assert_same(t->l.nr_ghosts, how_many(&t->n, A_GHOST));
}

static void twins_resize(struct twins *t, u64 size, u64 hirs, bool fixed)
{
	mmpath_lirs_set_size(&t->l, size, hirs, fixed);
	t->n.size = size;
	t->n.hirs = hirs;
	t->n.fixed = fixed;
	naive_settle(&t->n);
	twins_follow(t);
}

static int twins_touch(struct twins *t, u64 page)
{
	int result = naive_lirs_touch(&t->n, page);

	assert_same(mmpath_lirs_touch(&t->l, page), result);
	twins_follow(t);
	return result;
}

static u64 twins_victim(struct twins *t)
{
	u64 want = naive_victim(&t->n), got = NONE;

	assert_int_equal(mmpath_lirs_victim(&t->l, &got), want != NONE);
	assert_same(got, want);
	twins_follow(t);
	return got;
}

static void twins_evicted(struct twins *t, u64 page)
{
	struct one *p = find(&t->n, page);

	mmpath_lirs_evicted(&t->l, page);
	if (p && p->in)
		naive_leave(&t->n, p);
	twins_follow(t);
}

static void twins_keep(struct twins *t, u64 page)
{
	mmpath_lirs_keep(&t->l, page);
	naive_keep(&t->n, page);
	twins_follow(t);
}

static void twins_forget(struct twins *t, u64 first, u64 nr)
{
	mmpath_lirs_forget(&t->l, first, nr);
	naive_rename(&t->n, first, nr, first);
	naive_settle(&t->n);
	twins_follow(t);
}

static void twins_move(struct twins *t, u64 from, u64 to, u64 nr)
{
	assert_int_equal(mmpath_lirs_move(&t->l, from, to, nr), 0);
	naive_rename(&t->n, to, nr, to);
	naive_rename(&t->n, from, nr, to);
	naive_settle(&t->n);
	twins_follow(t);
}

/* All that is left, in the order in which it would leave. */
static void twins_end(struct twins *t)
{
	while (twins_victim(t) != NONE)
		;
	mmpath_lirs_destroy(&t->l);
	assert_int_equal(t->tm.mem.bytes, 0);
	free(t);
}

/* A memory that is kept to its size: returns misses. */
static u64 twins_run(struct twins *t, const u64 *trace, size_t nr)
{
	u64 misses = 0;
	size_t i;

	for (i = 0; i < nr; i++) {
		if (!mmpath_lirs_resident(&t->l, trace[i]) &&
		    t->l.nr_lirs + t->l.nr_hirs >= t->n.size >> t->l.shift)
			twins_victim(t);
		misses += twins_touch(t, trace[i]) == MMPATH_LIRS_MISS;
	}
	return misses;
}

/* In a hurry the sample of a large one is halved later, by the first touch without. */
static void test_hurry(void **state)
{
	const u32 most = MMPATH_HURRY + 10;
	struct test_mem tm;
	struct mmpath_lirs l;
	u64 page;

	(void)state;
	test_mem_init(&tm);
	assert_int_equal(mmpath_lirs_init(&l, &tm.mem, most, 0), 0);
	mmpath_lirs_set_size(&l, most, most / 100, false);
	tm.mem.hurry = true;
	for (page = 0; page < most; page++)
		mmpath_lirs_touch(&l, page);
	assert_false(tm.mem.put_off);
	mmpath_lirs_touch(&l, page++);
	assert_true(tm.mem.put_off);
	assert_int_equal(l.shift, 0);
	tm.mem.hurry = false;
	mmpath_lirs_touch(&l, page++);
	assert_int_equal(l.shift, 1);
	/* a small one does it at once */
	mmpath_lirs_destroy(&l);
	assert_int_equal(mmpath_lirs_init(&l, &tm.mem, 100, 0), 0);
	tm.mem.hurry = true;
	tm.mem.put_off = false;
	for (page = 0; page < 1000; page++)
		mmpath_lirs_touch(&l, page);
	assert_false(tm.mem.put_off);
	assert_true(l.shift > 0);
	mmpath_lirs_destroy(&l);
	assert_int_equal(tm.mem.bytes, 0);
}

static void test_traces(void **state)
{
	static const u64 sizes[] = { 1, 2, 3, 10, 60, 99, 200 };
	enum trace_kind kind;
	struct twins *t;
	u64 *trace;
	size_t i;

	(void)state;
	for (kind = 0; kind < NR_TRACES; kind++) {
		trace = trace_make(kind, 150, 1500, 5);
		for (i = 0; i < ARRAY_SIZE(sizes); i++) {
			t = twins_new(10000, 0);
			twins_resize(t, sizes[i], max_t(u64, sizes[i] / 20, 1), i & 1);
			twins_run(t, trace, 1500);
			twins_end(t);
		}
		free(trace);
	}
}

static void test_lru(void **state)
{
	enum trace_kind kind;
	struct naive_stack s;
	struct twins *t;
	u64 *trace, page;
	size_t i;

	(void)state;
	for (kind = 0; kind < NR_TRACES; kind++) {
		trace = trace_make(kind, 150, 2000, 6);
		t = twins_new(10000, 0);
		twins_resize(t, 70, kind & 1 ? 70 : NONE, false);
		naive_init(&s, 0);
		for (i = 0; i < 2000; i++) {
			bool hit = mmpath_lirs_resident(&t->l, trace[i]);

			if (!hit && s.nr == 70) {
				page = twins_victim(t);
				assert_same(page, s.page[69]);
				naive_forget(&s, page, 1);
			}
			assert_same(naive_touch(&s, trace[i]) != MMPATH_COLD, hit);
			twins_touch(t, trace[i]);
			assert_same(t->l.nr_hirs, s.nr);
		}
		assert_same(t->l.nr_ghosts, 0);
		naive_free(&s);
		twins_end(t);
		free(trace);
	}
}

static u64 run_loop(u64 hirs, bool fixed)
{
	u64 *trace = trace_make(TRACE_LOOP, 200, 20 * 200, 1), misses;
	struct twins *t = twins_new(10000, 0);

	twins_resize(t, 120, hirs, fixed);
	misses = twins_run(t, trace, 20 * 200);
	twins_end(t);
	free(trace);
	return misses;
}

/* 119 of 200 pages stay: 81 misses a round. */
static void test_loop(void **state)
{
	(void)state;
	assert_same(run_loop(120, false), 20 * 200);
	assert_same(run_loop(1, false), 200 + 19 * 81);
	assert_same(run_loop(1, true), 200 + 19 * 81);
}

/* Other pages: LIRS gives them the memory once they come back, fixed does not. */
static void test_fixed(void **state)
{
	u64 before[300], after[380], misses[2];
	struct twins *t;
	int i, fixed;

	(void)state;
	for (i = 0; i < 300; i++)
		before[i] = i % 50;
	for (i = 0; i < 380; i++)
		after[i] = 1000 + i % 95;
	for (fixed = 0; fixed < 2; fixed++) {
		t = twins_new(10000, 0);
		twins_resize(t, 100, 5, fixed);
		twins_run(t, before, 300);
		twins_run(t, after, 190);
		misses[fixed] = twins_run(t, after, 190);
		twins_end(t);
	}
	assert_same(misses[0], 0);
	assert_same(misses[1], 2 * 50);
}

static void test_unknown_size(void **state)
{
	struct twins *t = twins_new(10000, 0);
	u64 page;

	(void)state;
	for (page = 0; page < 100; page++)
		twins_touch(t, page);
	twins_touch(t, 3);
	assert_same(t->l.nr_lirs, 100);
	assert_same(twins_victim(t), 0);
	assert_same(twins_victim(t), 1);
	/* the other ones touched long ago become HIR, and leave in that order */
	twins_resize(t, 60, 10, false);
	assert_same(t->l.nr_lirs, 50);
	assert_same(t->l.nr_hirs, 48);
	assert_same(twins_victim(t), 2);
	assert_same(twins_victim(t), 4);
	twins_resize(t, 10, 10, false);
	assert_same(t->l.nr_lirs, 0);
	assert_same(t->l.nr_hirs, 96);
	twins_end(t);
}

/* A hundred pages in memory, of which the first 90 are LIR */
static struct twins *twins_full(void)
{
	struct twins *t = twins_new(10000, 0);
	u64 page;

	twins_resize(t, 100, 10, false);
	for (page = 0; page < 100; page++)
		twins_touch(t, page);
	assert_same(t->l.nr_lirs, 90);
	return t;
}

static void test_evicted(void **state)
{
	struct twins *t = twins_full();

	(void)state;
	twins_evicted(t, 50);
	twins_evicted(t, 50);
	twins_evicted(t, 95);
	twins_evicted(t, 1000);
	assert_false(mmpath_lirs_resident(&t->l, 50));
	assert_same(t->l.nr_lirs, 89);
	assert_same(t->l.nr_hirs, 9);
	assert_same(t->l.nr_ghosts, 2);
	/* there is room for a LIR page: even for one never seen before */
	twins_touch(t, 1000);
	assert_same(t->l.nr_lirs, 90);
	/* the one at the bottom of S is not remembered */
	twins_evicted(t, 0);
	assert_same(t->l.nr_ghosts, 2);
	twins_end(t);
}

static void test_keep(void **state)
{
	struct twins *t = twins_full();

	(void)state;
	assert_same(twins_victim(t), 90);
	assert_same(t->l.nr_ghosts, 1);
	twins_keep(t, 90);
	assert_same(t->l.nr_ghosts, 0);
	assert_true(mmpath_lirs_resident(&t->l, 90));
	assert_same(twins_victim(t), 91);
	/* touched before it could be kept: as if it had come back */
	twins_touch(t, 91);
	twins_keep(t, 91);
	assert_same(t->l.nr_lirs, 90);
	/* 90 has kept its place in S: it becomes LIR when it is touched */
	twins_touch(t, 90);
	assert_same(t->l.nr_hirs, 10);
	assert_same(twins_victim(t), 92);
	twins_end(t);
	/* without S, a victim is forgotten and has to be learnt again */
	t = twins_full();
	twins_resize(t, 100, 100, false);
	assert_same(twins_victim(t), 90);
	twins_keep(t, 90);
	assert_true(mmpath_lirs_resident(&t->l, 90));
	twins_end(t);
}

/* LIR pages are named from the oldest to the youngest, and stay as they are. */
static void test_next_lir(void **state)
{
	static const u64 order[] = { 0, 1, 3, 4, 5, 2 };
	struct test_mem tm;
	struct mmpath_lirs l;
	u64 page, at = U64_MAX;
	unsigned int i;

	(void)state;
	test_mem_init(&tm);
	assert_int_equal(mmpath_lirs_init(&l, &tm.mem, 1000, 0), 0);
	assert_false(mmpath_lirs_next_lir(&l, &at, &page));
	mmpath_lirs_set_size(&l, 10, 4, false);
	for (i = 0; i < 10; i++)
		mmpath_lirs_touch(&l, i);
	mmpath_lirs_touch(&l, 2);
	/* 6 to 9 are HIR; two rounds */
	for (i = 0; i < 12; i++) {
		assert_true(mmpath_lirs_next_lir(&l, &at, &page));
		assert_same(page, order[i % 6]);
		assert_same(at == U64_MAX, i % 6 == 5);
	}
	assert_same(l.nr_lirs, 6);
	assert_same(l.nr_hirs, 4);
	/* what has gone is not named, and with the next one gone it begins again */
	assert_true(mmpath_lirs_next_lir(&l, &at, &page));
	mmpath_lirs_forget(&l, page, 1);
	assert_same(at, 1);
	assert_true(mmpath_lirs_next_lir(&l, &at, &page));
	assert_same(page, 1);
	mmpath_lirs_forget(&l, at, 1);
	assert_true(mmpath_lirs_next_lir(&l, &at, &page));
	assert_same(page, 1);
	assert_same(at, 4);
	/* or if it is HIR */
	mmpath_lirs_set_size(&l, 10, 8, false);
	assert_true(mmpath_lirs_next_lir(&l, &at, &page));
	assert_same(page, 5);
	mmpath_lirs_destroy(&l);
	assert_int_equal(tm.mem.bytes, 0);
}

/* The one that left first is forgotten, and would not become LIR. */
static void test_ghosts(void **state)
{
	struct twins *t = twins_new(10000, 0);
	u64 page;

	(void)state;
	twins_resize(t, 10, 5, false);
	for (page = 0; page < 25; page++)
		twins_touch(t, page);
	for (page = 0; page < 20; page++)
		twins_victim(t);
	assert_same(t->l.nr_ghosts, 20);
	twins_evicted(t, 5);
	for (page = 100; page < 103; page++) {
		twins_touch(t, page);
		twins_victim(t);
	}
	assert_same(t->l.nr_ghosts, 20);
	twins_touch(t, 8);
	twins_touch(t, 7);
	assert_same(twins_victim(t), 0);
	assert_same(twins_victim(t), 7);
	twins_end(t);
	/* of a memory of unknown size: twice what is in it */
	t = twins_new(10000, 0);
	for (page = 0; page < 50; page++)
		twins_touch(t, page);
	for (page = 49; page > 9; page--)
		twins_evicted(t, page);
	assert_same(t->l.nr_ghosts, 22);
	twins_end(t);
}

static void test_forget(void **state)
{
	struct twins *t = twins_full();

	(void)state;
	twins_victim(t);
	twins_forget(t, 0, 30);
	twins_forget(t, 85, 10);
	assert_same(t->l.nr_lirs, 55);
	assert_same(t->l.nr_hirs, 5);
	assert_same(t->l.nr_ghosts, 0);
	twins_touch(t, 10);
	assert_same(t->l.nr_lirs, 56);
	/* the LIR page at the bottom of S is now 10: 97 has not been touched since */
	twins_forget(t, 0, 10);
	twins_forget(t, 11, 79);
	twins_resize(t, 5, 4, false);
	twins_touch(t, 97);
	assert_same(t->l.nr_lirs, 1);
	/* without LIR pages there is no S, and nothing that could remember a page */
	twins_forget(t, 10, 1);
	twins_evicted(t, 97);
	assert_same(t->l.nr_ghosts, 0);
	twins_forget(t, 0, NONE);
	assert_false(mmpath_lirs_resident(&t->l, 98));
	twins_end(t);
}

/* What has been forgotten is given back. */
static void test_forget_frees(void **state)
{
	struct test_mem tm;
	struct mmpath_lirs l;
	size_t small;
	u64 page;

	(void)state;
	test_mem_init(&tm);
	mmpath_lirs_init(&l, &tm.mem, 100000, 0);
	mmpath_lirs_set_size(&l, 100, 10, false);
	for (page = 0; page < 1000; page++)
		mmpath_lirs_touch(&l, page);
	small = mmpath_lirs_bytes(&l);
	assert_same(small, sizeof(l) + tm.mem.bytes);
	for (; page < 50000; page++)
		mmpath_lirs_touch(&l, page);
	assert_true(mmpath_lirs_bytes(&l) > 20 * small);
	mmpath_lirs_forget(&l, 500, 49000);
	assert_true(mmpath_lirs_bytes(&l) < 2 * small);
	for (page = 0; page < 1000; page++)
		assert_int_equal(mmpath_lirs_resident(&l, page), page < 500);
	for (page = 49500; page < 50000; page++)
		assert_true(mmpath_lirs_resident(&l, page));
	mmpath_lirs_destroy(&l);
	assert_int_equal(tm.mem.bytes, 0);
}

static void test_move(void **state)
{
	struct twins *t = twins_full();

	(void)state;
	twins_move(t, 90, 500, 5);
	twins_move(t, 20, 10, 10);
	assert_int_equal(mmpath_lirs_move(&t->l, 0, 5, 10), -EINVAL);
	assert_true(mmpath_lirs_resident(&t->l, 500));
	assert_false(mmpath_lirs_resident(&t->l, 90));
	assert_same(t->l.nr_lirs, 80);
	assert_same(twins_victim(t), 500);
	twins_end(t);
}

static void test_unsampled(void **state)
{
	struct twins *t = twins_new(10000, 3);
	u64 page, other = 0;

	(void)state;
	twins_resize(t, 400, 80, false);
	for (page = 0; page < 800; page++)
		twins_touch(t, page);
	assert_same(t->l.nr_lirs, 40);
	assert_same(t->l.nr_hirs, 60);
	while (mmpath_sampled(other, 3))
		other++;
	assert_false(mmpath_lirs_resident(&t->l, other));
	twins_evicted(t, other);
	twins_keep(t, other);
	assert_same(t->l.nr_lirs + t->l.nr_hirs, 100);
	assert_same(mmpath_lirs_set_shift(&t->l, 5), 0);
	twins_follow(t);
	assert_same(t->l.shift, 5);
	assert_same(t->l.nr_lirs, 10);
	twins_end(t);
}

/* However coarse the sample: what comes does not become LIR, and passes through. */
static void test_small_hirs(void **state)
{
	struct twins *t = twins_new(10000, 4);
	u64 *trace = trace_make(TRACE_LOOP, 3200, 10 * 3200, 1);

	(void)state;
	twins_resize(t, 1615, 1, false);
	assert_in_range(twins_run(t, trace, 10 * 3200), 200 + 9 * 100, 200 + 9 * 102);
	assert_same(t->l.nr_lirs, 99);
	twins_resize(t, 3, 1, false);
	assert_same(t->l.nr_lirs, 0);
	twins_end(t);
	free(trace);
}

static void test_bad_parameters(void **state)
{
	struct test_mem tm;
	struct mmpath_lirs l;
	u64 page;

	(void)state;
	test_mem_init(&tm);
	assert_int_equal(mmpath_lirs_init(&l, &tm.mem, 0, 0), -EINVAL);
	assert_int_equal(mmpath_lirs_init(&l, &tm.mem, 1, MMPATH_MAX_SHIFT + 1), -EINVAL);
	assert_int_equal(mmpath_lirs_init(&l, &tm.mem, 1, 3), 0);
	assert_int_equal(mmpath_lirs_set_shift(&l, 2), -EINVAL);
	assert_int_equal(mmpath_lirs_set_shift(&l, MMPATH_MAX_SHIFT + 1), -EINVAL);
	assert_int_equal(mmpath_lirs_set_shift(&l, 3), 0);
	mmpath_lirs_set_size(&l, 10, 1000, false);
	mmpath_lirs_set_size(&l, 0, 0, false);
	mmpath_lirs_set_size(&l, NONE, NONE, false);
	assert_false(mmpath_lirs_victim(&l, &page));
	assert_false(mmpath_lirs_resident(&l, 0));
	mmpath_lirs_evicted(&l, 0);
	mmpath_lirs_forget(&l, 0, NONE);
	assert_int_equal(mmpath_lirs_move(&l, 0, 100, 100), 0);
	mmpath_lirs_reset(&l, 99);
	assert_int_equal(l.shift, MMPATH_MAX_SHIFT);
	assert_int_equal(tm.nr_allocs, 0);
}

static void test_reset(void **state)
{
	struct twins *t = twins_full();
	u64 i;

	(void)state;
	mmpath_lirs_reset(&t->l, 1);
	assert_int_equal(t->tm.mem.bytes, 0);
	assert_false(mmpath_lirs_resident(&t->l, 5));
	t->n.nr = 0;
	t->n.shift = 1;
	twins_follow(t);
	for (i = 0; i < 60; i++)
		twins_touch(t, mmpath_sample_of_block(i, 1));
	assert_same(t->l.nr_lirs, 45);
	twins_end(t);
}

/* As many pages as it likes, near each other or not: no more memory than allowed. */
static void test_limit(void **state)
{
	static const u64 strides[] = { 1, 1000 };
	struct test_mem tm;
	struct mmpath_lirs l;
	u64 i, victim;
	size_t k;

	(void)state;
	test_mem_init(&tm);
	mmpath_lirs_init(&l, &tm.mem, 500, 0);
	for (k = 0; k < ARRAY_SIZE(strides); k++) {
		mmpath_lirs_set_size(&l, 10000, 100, false);
		for (i = 0; i < 30000; i++) {
			if (l.nr_lirs + l.nr_hirs >= l.size >> l.shift)
				mmpath_lirs_victim(&l, &victim);
			mmpath_lirs_touch(&l, i * strides[k]);
			assert_true(l.nr_lirs + l.nr_hirs + l.nr_ghosts <= 500);
			assert_true(mmpath_lirs_bytes(&l) <= 40 * 500 + 4096);
		}
		assert_true(k || l.shift == 6);
	}
	mmpath_lirs_destroy(&l);
	assert_int_equal(tm.mem.bytes, 0);
}

/* When no sample is coarser, pages beyond the limit are refused. */
static void test_no_coarser(void **state)
{
	struct test_mem tm;
	struct mmpath_lirs l;
	u64 i;

	(void)state;
	test_mem_init(&tm);
	mmpath_lirs_init(&l, &tm.mem, 8, MMPATH_MAX_SHIFT);
	for (i = 0; i < 20; i++)
		assert_same(mmpath_lirs_touch(&l, mmpath_sample_of_block(i, MMPATH_MAX_SHIFT)),
			    i < 8 ? MMPATH_LIRS_MISS : MMPATH_NOMEM);
	mmpath_lirs_destroy(&l);
}

static u64 any_page(struct rng *r)
{
	switch (rng_below(r, 4)) {
	case 0:
		return rng_below(r, 300);
	case 1:
		return 100 * rng_below(r, 5);
	default:
		return rng_below(r, 20) * rng_below(r, 20);
	}
}

static void any_size(struct twins *t, struct rng *r)
{
	u64 size = rng_below(r, 200);

	if (!rng_below(r, 5))
		size = NONE;
	twins_resize(t, size, rng_below(r, 3) ? rng_below(r, 9) : size, rng_below(r, 2));
}

static void any_change(struct twins *t, struct rng *r)
{
	u64 page = any_page(r);

	switch (rng_below(r, 40)) {
	case 0 ... 4:
		twins_victim(t);
		break;
	case 5 ... 6:
		page = twins_victim(t);
		if (page != NONE)
			twins_keep(t, page);
		break;
	case 7:
		twins_keep(t, page);
		break;
	case 8 ... 9:
		twins_evicted(t, page);
		break;
	case 10:
		twins_forget(t, page, rng_below(r, 30));
		break;
	case 11:
		twins_move(t, page, page + 40, rng_below(r, 40));
		break;
	case 12:
		any_size(t, r);
		break;
	default:
		twins_touch(t, page);
	}
}

static void test_random_changes(void **state)
{
	struct twins *t;
	u64 seed;
	int i;

	(void)state;
	for (seed = 1; seed <= 60; seed++) {
		struct rng r = { seed * 77 };

		t = twins_new(seed % 3 ? 200 : 60, 0);
		for (i = 0; i < 800; i++)
			any_change(t, &r);
		if (!(seed % 5) && t->l.shift < 3)
			assert_same(mmpath_lirs_set_shift(&t->l, 3), 0);
		twins_follow(t);
		for (i = 0; i < 300; i++)
			any_change(t, &r);
		twins_end(t);
	}
}

/* Without memory it is as before; what is in it comes out of it, once. */
static unsigned long starve(unsigned long fail_at)
{
	struct rng r = { 3 };
	struct test_mem tm;
	struct mmpath_lirs l;
	u64 page, left;
	int i;

	test_mem_init(&tm);
	tm.fail_at = fail_at;
	mmpath_lirs_init(&l, &tm.mem, 800, 0);
	mmpath_lirs_set_size(&l, 300, 30, false);
	for (i = 0; i < 3000; i++) {
		left = l.nr_lirs + l.nr_hirs;
		page = rng_below(&r, 1000) * rng_below(&r, 20);
		if (mmpath_lirs_touch(&l, page) == MMPATH_NOMEM)
			assert_same(l.nr_lirs + l.nr_hirs, left);
		if (left >= 300 && mmpath_lirs_victim(&l, &page) && i % 3 == 0)
			mmpath_lirs_keep(&l, page);
		if (i % 300 == 299)
			mmpath_lirs_move(&l, 0, 100000 + 1000 * i, 1000);
	}
	for (left = l.nr_lirs + l.nr_hirs; mmpath_lirs_victim(&l, &page); left--)
		assert_false(mmpath_lirs_resident(&l, page));
	assert_same(left, 0);
	mmpath_lirs_destroy(&l);
	assert_int_equal(tm.mem.bytes, 0);
	return tm.nr_failed;
}

static void test_no_memory(void **state)
{
	unsigned long n;

	(void)state;
	for (n = 1; starve(n); n++)
		;
	assert_true(n > 20);
}

/* What the queue and the stack give when all leave: kinds and order of all pages. */
static u64 leave_all(struct mmpath_lirs *l, u64 *pages)
{
	u64 n = 0;

	while (mmpath_lirs_victim(l, &pages[n]))
		n++;
	return n;
}

/* Pages that were touched in blocks are after a refinement what they were before. */
static void test_refine(void **state)
{
	static u64 pages[MOST], fine[MOST];
	struct test_mem coarse_mem, fine_mem;
	struct mmpath_lirs coarse, l;
	u64 n, i, block;

	(void)state;
	test_mem_init(&coarse_mem);
	test_mem_init(&fine_mem);
	assert_int_equal(mmpath_lirs_init(&coarse, &coarse_mem.mem, MOST, 3), 0);
	assert_int_equal(mmpath_lirs_init(&l, &fine_mem.mem, MOST, 3), 0);
	for (i = 0; i < 2000; i++) {
		block = i * i % 97;
		if (i == 300) {
			mmpath_lirs_set_size(&coarse, 40 * 8, 8 * 8, false);
			mmpath_lirs_set_size(&l, 40 * 8, 8 * 8, false);
		}
		mmpath_lirs_touch(&coarse, mmpath_sample_of_block(block, 3));
		mmpath_lirs_touch(&l, mmpath_sample_of_block(block, 3));
		while (i >= 300 && coarse.nr_lirs + coarse.nr_hirs > 40) {
			assert_true(mmpath_lirs_victim(&coarse, pages));
			assert_true(mmpath_lirs_victim(&l, fine));
		}
	}
	assert_int_equal(mmpath_lirs_refine(&l, 3), 0);
	assert_int_equal(l.shift, 3);
	assert_int_equal(mmpath_lirs_refine(&l, 1), 0);
	assert_int_equal(l.shift, 1);
	assert_int_equal(l.nr_lirs, 4 * coarse.nr_lirs);
	assert_int_equal(l.nr_hirs, 4 * coarse.nr_hirs);
	assert_int_equal(l.nr_ghosts, 4 * coarse.nr_ghosts);
	n = leave_all(&coarse, pages);
	assert_int_equal(n, 40);
	assert_int_equal(leave_all(&l, fine), 4 * n);
	for (i = 0; i < 4 * n; i++)
		assert_int_equal(fine[i] >> 3, pages[i / 4] >> 3);
	mmpath_lirs_destroy(&coarse);
	mmpath_lirs_destroy(&l);
	assert_int_equal(coarse_mem.mem.bytes, 0);
	assert_int_equal(fine_mem.mem.bytes, 0);
}

/* Too many pages for a finer sample: as fine as they fit. Out of memory: as before. */
static void test_refine_limits(void **state)
{
	struct test_mem tm;
	struct mmpath_lirs l;
	u64 block;

	(void)state;
	test_mem_init(&tm);
	assert_int_equal(mmpath_lirs_init(&l, &tm.mem, 1000, 4), 0);
	for (block = 0; block < 200; block++)
		mmpath_lirs_touch(&l, mmpath_sample_of_block(block, 4));
	tm.fail_at = tm.nr_allocs + 1;
	assert_int_equal(mmpath_lirs_refine(&l, 0), -ENOMEM);
	assert_int_equal(l.shift, 4);
	assert_int_equal(l.nr_lirs, 200);
	assert_int_equal(mmpath_lirs_refine(&l, 0), 0);
	assert_int_equal(l.shift, 2);
	assert_int_equal(l.nr_lirs, 800);
	mmpath_lirs_destroy(&l);
	assert_int_equal(tm.mem.bytes, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_traces),
		cmocka_unit_test(test_hurry),
		cmocka_unit_test(test_lru),
		cmocka_unit_test(test_loop),
		cmocka_unit_test(test_fixed),
		cmocka_unit_test(test_unknown_size),
		cmocka_unit_test(test_evicted),
		cmocka_unit_test(test_keep),
		cmocka_unit_test(test_next_lir),
		cmocka_unit_test(test_ghosts),
		cmocka_unit_test(test_forget),
		cmocka_unit_test(test_forget_frees),
		cmocka_unit_test(test_move),
		cmocka_unit_test(test_unsampled),
		cmocka_unit_test(test_small_hirs),
		cmocka_unit_test(test_bad_parameters),
		cmocka_unit_test(test_reset),
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_no_coarser),
		cmocka_unit_test(test_random_changes),
		cmocka_unit_test(test_no_memory),
		cmocka_unit_test(test_refine),
		cmocka_unit_test(test_refine_limits),
	};

	cmocka_set_test_filter(getenv("UNIT_FILTER"));
	return cmocka_run_group_tests_name("lirs", tests, NULL, NULL);
}
