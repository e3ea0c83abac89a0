// SPDX-License-Identifier: GPL-2.0
/*
 * Each policy against a naive one, written from its description and not from the
 * other: arrays, searched from the start. They have to agree touch by touch.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "../pathctl/log.h"
#include "../vpath/truth.h"
#include "prefetch.h"
#include "trace.h"

#define MOST	4096U

static uint64_t seed = 1;

static uint32_t random_below(uint32_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (seed >> 32) * n >> 32;
}

/* A sequence of pages, the first one first */
struct seq {
	uint32_t page[MOST];
	unsigned int nr;
};

static int at(const struct seq *s, uint32_t page)
{
	unsigned int i;

	for (i = 0; i < s->nr; i++)
		if (s->page[i] == page)
			return i;
	return -1;
}

static bool take(struct seq *s, uint32_t page)
{
	int i = at(s, page);

	if (i < 0)
		return false;
	s->nr--;
	memmove(s->page + i, s->page + i + 1, (s->nr - i) * sizeof(*s->page));
	return true;
}

static void put_first(struct seq *s, uint32_t page)
{
	memmove(s->page + 1, s->page, s->nr++ * sizeof(*s->page));
	s->page[0] = page;
}

static uint32_t drop_last(struct seq *s)
{
	return s->page[--s->nr];
}

/* All of them together; a test uses what it needs. */
struct naive {
	const struct trace *t;
	uint32_t size;
	struct seq a, b, c;
	bool bit[MOST], second[MOST];
	size_t left[MOST], age;
};

static struct naive naive;

static bool naive_lru(struct naive *n, uint32_t page, size_t i)
{
	bool hit = take(&n->a, page);

	(void)i;
	if (!hit && n->a.nr == n->size)
		drop_last(&n->a);
	put_first(&n->a, page);
	return hit;
}

static bool naive_mru(struct naive *n, uint32_t page, size_t i)
{
	bool hit = take(&n->a, page);

	(void)i;
	if (!hit && n->a.nr == n->size)
		take(&n->a, n->a.page[0]);
	put_first(&n->a, page);
	return hit;
}

/* A queue instead of a clock: who gets another chance goes to its end. */
static bool naive_clock(struct naive *n, uint32_t page, size_t i)
{
	uint32_t old;

	(void)i;
	if (at(&n->a, page) >= 0)
		return n->bit[page] = true;
	while (n->a.nr == n->size) {
		old = drop_last(&n->a);
		if (n->bit[old])
			put_first(&n->a, old);
		n->bit[old] = false;
	}
	put_first(&n->a, page);
	n->bit[page] = true;
	return false;
}

/* a: inactive, b: active */
static bool naive_twolist(struct naive *n, uint32_t page, size_t i)
{
	bool active;
	uint32_t old;

	(void)i;
	if (at(&n->a, page) >= 0 || at(&n->b, page) >= 0)
		return n->bit[page] = true;
	active = n->left[page] && n->age - (n->left[page] - 1) <= n->b.nr;
	while (n->a.nr + n->b.nr == n->size) {
		while (n->a.nr < n->b.nr) {
			old = drop_last(&n->b);
			n->bit[old] = n->second[old] = false;
			put_first(&n->a, old);
		}
		old = drop_last(&n->a);
		if (!n->bit[old]) {
			n->left[old] = ++n->age;
		} else if (n->second[old]) {
			n->bit[old] = false;
			n->age++;
			put_first(&n->b, old);
		} else {
			n->bit[old] = false;
			n->second[old] = true;
			put_first(&n->a, old);
		}
	}
	n->bit[page] = true;
	n->second[page] = false;
	n->age += active;
	put_first(active ? &n->b : &n->a, page);
	return false;
}

static size_t next_use(const struct trace *t, uint32_t page, size_t i)
{
	while (++i < t->n)
		if (t->page[i] == page)
			return i;
	return NEVER;
}

static bool naive_opt(struct naive *n, uint32_t page, size_t i)
{
	bool hit = take(&n->a, page);
	unsigned int k, worst = 0;

	if (!hit && n->a.nr == n->size) {
		for (k = 1; k < n->a.nr; k++)
			if (next_use(n->t, n->a.page[k], i) > next_use(n->t, n->a.page[worst], i))
				worst = k;
		take(&n->a, n->a.page[worst]);
	}
	put_first(&n->a, page);
	return hit;
}

/* a: stack S, b: queue Q, c: in S and not in memory, who left last first; bit: LIR */
static bool naive_lirs(struct naive *n, uint32_t page, size_t i)
{
	unsigned int hirs = n->size < 200 ? 1 : n->size / 100, lirs = 0, k;
	bool in_s = at(&n->a, page) >= 0, in_q, ghost, hit;
	uint32_t old;

	(void)i;
	for (k = 0; k < n->t->pages; k++)
		lirs += n->bit[k];
	in_q = at(&n->b, page) >= 0;
	hit = n->bit[page] || in_q;
	if (!hit && lirs + n->b.nr == n->size) {
		old = drop_last(&n->b);
		if (at(&n->a, old) >= 0)
			put_first(&n->c, old);
		if (n->c.nr > 2 * n->size)
			take(&n->a, drop_last(&n->c));
	}
	ghost = at(&n->c, page) >= 0;
	take(&n->c, page);
	if (!n->bit[page]) {
		take(&n->b, page);
		if (((hit ? in_s : ghost) && n->size > hirs) || (!hit && lirs < n->size - hirs)) {
			n->bit[page] = true;
			lirs++;
		} else {
			put_first(&n->b, page);
		}
	}
	take(&n->a, page);
	put_first(&n->a, page);
	if (lirs > n->size - hirs) {
		old = drop_last(&n->a);
		n->bit[old] = false;
		put_first(&n->b, old);
	}
	while (n->a.nr && !n->bit[n->a.page[n->a.nr - 1]])
		take(&n->c, drop_last(&n->a));
	return hit;
}

/* Traces */

enum pattern { UNIFORM, LOOP, SKEWED, PHASES, NR_PATTERNS };

static void make(struct trace *t, enum pattern pattern, uint32_t pages, size_t touches)
{
	size_t i;

	memset(t, 0, sizeof(*t));
	for (i = 0; i < touches; i++) {
		uint32_t page = random_below(pages);

		if (pattern == LOOP)
			page = random_below(8) ? i % pages : page;
		else if (pattern == SKEWED)
			page = (uint64_t)page * random_below(pages) / pages;
		else if (pattern == PHASES)
			page = page / 4 + i * 4 / touches * (pages / 4);
		trace_add(t, 1000 + page, page & 1);
	}
	policy_next_uses(t);
}

static void agree(const struct policy *p, bool (*access)(struct naive *n, uint32_t page, size_t i))
{
	static const uint32_t sizes[] = { 1, 2, 3, 7, 50, 99, 250, 400 };
	enum pattern pattern;
	struct trace t;
	size_t i, k;
	void *sim;

	for (pattern = 0; pattern < NR_PATTERNS; pattern++) {
		make(&t, pattern, 300, 3000);
		for (k = 0; k < sizeof(sizes) / sizeof(*sizes); k++) {
			memset(&naive, 0, sizeof(naive));
			naive.t = &t;
			naive.size = sizes[k];
			sim = p->create(sizes[k], &t);
			for (i = 0; i < t.n; i++)
				if (p->access(sim, t.page[i], i) != access(&naive, t.page[i], i))
					fail_msg("%s, pattern %d, %u pages, touch %zu", p->name,
						 pattern, sizes[k], i);
			p->destroy(sim);
		}
		trace_free(&t);
	}
}

#define TEST(_name)						\
static void test_##_name(void **state)				\
{								\
	(void)state;						\
	agree(&_name##_policy, naive_##_name);			\
}

TEST(lru)
TEST(mru)
TEST(clock)
TEST(twolist)
TEST(lirs)

/* Which of several that are never touched again leaves does not matter: misses do. */
static void test_opt(void **state)
{
	(void)state;
	agree(&opt_policy, naive_opt);
}

static void test_opt_is_least(void **state)
{
	enum pattern pattern;
	uint32_t size;
	struct trace t;
	size_t best;
	int i;

	(void)state;
	for (pattern = 0; pattern < NR_PATTERNS; pattern++) {
		make(&t, pattern, 1000, 10000);
		for (size = 1; size < 1100; size += 111) {
			best = policy_misses(&opt_policy, size, &t);
			assert_true(best >= t.pages);
			for (i = 0; policies[i]; i++)
				assert_true(policy_misses(policies[i], size, &t) >= best);
		}
		/* nor is any better in a part */
		t.begin = 5000;
		policy_next_uses(&t);
		for (size = 1; size < 1100; size += 111) {
			best = policy_misses(&opt_policy, size, &t);
			for (i = 0; policies[i]; i++)
				assert_true(policy_misses(policies[i], size, &t) >= best);
		}
		t.begin = 0;
		policy_next_uses(&t);
		/* with room for all, only first touches miss */
		for (i = 0; policies[i]; i++)
			assert_int_equal(policy_misses(policies[i], t.pages, &t), t.pages);
		assert_int_equal(policy_misses(&lru_policy, 0, &t), t.n);
		trace_free(&t);
	}
}

/* A loop larger than memory: none of it hits under LRU, nearly all that fits under OPT. */
static void test_loop(void **state)
{
	struct trace t = { };
	size_t i;

	(void)state;
	for (i = 0; i < 100 * 1000; i++)
		trace_add(&t, i % 1000, false);
	policy_next_uses(&t);
	assert_int_equal(policy_misses(&lru_policy, 900, &t), t.n);
	assert_true(policy_misses(&opt_policy, 900, &t) < 1000 + 99 * 102);
	assert_true(policy_misses(&mru_policy, 900, &t) < 1000 + 99 * 102);
	assert_true(policy_misses(&lirs_policy, 900, &t) < 1000 + 99 * 112);
	trace_free(&t);
}

/* Auto is the kernel where nothing is better, and not much worse than the best elsewhere. */
static void test_auto(void **state)
{
	struct trace t = { };
	size_t i, misses;

	(void)state;
	make(&t, UNIFORM, 1000, 50000);
	misses = policy_misses(&twolist_policy, 600, &t);
	assert_in_range(policy_misses(&auto_policy, 600, &t), misses * 99 / 100, misses * 101 / 100);
	sim_options.kernel = &lru_policy;
	assert_int_equal(policy_misses(&auto_policy, 600, &t), policy_misses(&lru_policy, 600, &t));
	sim_options.kernel = &twolist_policy;
	trace_free(&t);
	for (i = 0; i < 100 * 1000; i++)
		trace_add(&t, i % 1000, false);
	assert_true(policy_misses(&auto_policy, 600, &t) < 1000 * (8 + 92 * 42 / 100));
	assert_true(policy_misses(&auto_policy, 600, &t) > policy_misses(&lirs_policy, 600, &t));
	trace_free(&t);
}

/* A loop, and apart from it pages that are touched at random and kept. Alone, LRU is LRU. */
static void test_region(void **state)
{
	struct trace t = { };
	size_t i, lru;

	(void)state;
	make(&t, SKEWED, 300, 30000);
	assert_int_equal(policy_misses(&region_policy, 99, &t), policy_misses(&lru_policy, 99, &t));
	trace_free(&t);
	for (i = 0; i < 100 * 1000; i++) {
		trace_add(&t, i % 1000, false);
		trace_add(&t, 100000 + random_below(300), false);
	}
	lru = policy_misses(&lru_policy, 700, &t);
	assert_true(lru > 100 * 1000);
	/* 400 pages for the loop, once that is known */
	assert_in_range(policy_misses(&region_policy, 700, &t), 60 * 1000, 75 * 1000);
	trace_free(&t);
}

/* Pages of the buffer never leave, unless the kernel takes them: LRU does not. */
static void test_pab(void **state)
{
	static const struct policy *const tried[] = { &lirs_policy, &fixed_policy, &auto_policy,
						    &region_policy };
	struct seq *pab = &naive.a;
	enum pattern pattern;
	size_t i, k, misses;
	struct trace t;
	uint32_t size;
	void *sim;

	(void)state;
	sim_options.pab = 20;
	sim_options.kernel = &lru_policy;
	for (k = 0; k < 4 * NR_PATTERNS; k++) {
		pattern = k % NR_PATTERNS;
		make(&t, pattern, 300, 5000);
		memset(&naive, 0, sizeof(naive));
		size = 20 + 15 * pattern;
		misses = 0;
		sim = tried[k / NR_PATTERNS]->create(size, &t);
		for (i = 0; i < t.n; i++) {
			bool hit = tried[k / NR_PATTERNS]->access(sim, t.page[i], i);

			if (take(pab, t.page[i]))
				assert_true(hit);
			put_first(pab, t.page[i]);
			pab->nr -= pab->nr > 20;
			misses += !hit;
		}
		/* or they would be in memory beside all others */
		assert_true(misses >= policy_misses(&opt_policy, size, &t));
		tried[k / NR_PATTERNS]->destroy(sim);
		trace_free(&t);
	}
	sim_options.pab = 0;
	sim_options.kernel = &twolist_policy;
}

/* What is left out hits in an LRU memory of so many pages. */
static void test_filter(void **state)
{
	struct trace all, some;
	size_t i, misses;

	(void)state;
	seed = 5;
	make(&all, SKEWED, 300, 5000);
	misses = policy_misses(&lru_policy, 30, &all);
	trace_free(&all);
	seed = 5;
	trace_filter(30);
	make(&some, SKEWED, 300, 5000);
	assert_int_equal(some.n, misses);
	for (i = 1; i < some.n; i++)
		assert_int_not_equal(some.page[i], some.page[i - 1]);
	trace_free(&some);
}

/* Touches of what is written at some time stay, in their order. */
static void test_keep_written(void **state)
{
	static const struct touch { uint64_t name; bool write; } touches[] = {
		{ 7, false }, { 9, false }, { 8, true }, { 7, true }, { 9, false }, { 8, false },
	};
	static const uint64_t names[] = { 7, 8, 7, 8 };
	struct trace t = { };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(touches) / sizeof(*touches); i++)
		trace_add(&t, touches[i].name, touches[i].write);
	trace_keep_written(&t);
	assert_int_equal(t.pages, 2);
	assert_int_equal(t.n, 4);
	for (i = 0; i < t.n; i++) {
		assert_int_equal(t.name[t.page[i]], names[i]);
		assert_int_equal(t.write[i], i == 1 || i == 2);
	}
	assert_int_equal(t.page[0], 0);
	trace_free(&t);
}

/*
 * Marks of one program, of one that is not tracked, and of a child: what the first touches between
 * its marks counts, and what comes then is left out.
 */
static void write_marked(const char *file)
{
	static const struct truth_event events[] = {
		{ TRUTH_WRITE, 7, 10 }, { TRUTH_READ, 7, 11 },
		{ TRUTH_MARK, 0, 0 }, { TRUTH_MARK, 0, 1 },
		{ TRUTH_WRITE, 7, 12 },
		{ TRUTH_MARK, 7, 0 },
		{ TRUTH_WRITE, 7, 10 }, { TRUTH_WRITE, 7, 13 },
		{ TRUTH_MARK, 8, 1 },
		{ TRUTH_WRITE, 7, 12 },
		{ TRUTH_MARK, 7, 1 },
		{ TRUTH_WRITE, 7, 14 },
		{ TRUTH_MARK, 7, 0 }, { TRUTH_WRITE, 7, 15 }, { TRUTH_MARK, 7, 1 },
	};
	struct truth_writer *w = truth_create(file);
	const struct truth_event *ev;

	assert_non_null(w);
	for (ev = events; ev < events + sizeof(events) / sizeof(*events); ev++)
		if (ev->type == TRUTH_MARK)
			truth_mark(w, ev->context, ev->value);
		else
			truth_page(w, ev->context, ev->value, ev->type == TRUTH_WRITE);
	assert_false(truth_finish(w));
}

static void test_keep_timed(void **state)
{
	char file[] = "/tmp/pathsim-XXXXXX";
	struct trace t = { };

	(void)state;
	close(mkstemp(file));
	write_marked(file);
	trace_read(&t, file, TRACE_TRUTH);
	unlink(file);
	trace_keep_timed(&t);
	assert_int_equal(t.n, 6);
	assert_int_equal(t.pages, 4);
	assert_int_equal(t.begin, 3);
	assert_int_equal(trace_known(&t), 3);
	policy_next_uses(&t);
	/* when it begins LRU has 11 and 12, and the best 10 and 12 */
	assert_int_equal(policy_misses(&lru_policy, 2, &t), 3);
	assert_int_equal(policy_misses(&lru_policy, 3, &t), 1);
	assert_int_equal(policy_misses(&opt_policy, 2, &t), 1);
	assert_int_equal(policy_misses(&lru_policy, 0, &t), 3);
	trace_keep_written(&t);
	assert_int_equal(t.n, 5);
	assert_int_equal(t.begin, 2);
	assert_int_equal(trace_known(&t), 2);
	trace_free(&t);
}

static void there_and_back(enum trace_format format, bool writes)
{
	char file[] = "/tmp/pathsim-XXXXXX";
	struct trace t, back;
	uint64_t *name;
	uint32_t *page;
	bool *write;
	size_t i, n;

	close(mkstemp(file));
	make(&t, SKEWED, 500, 5000);
	trace_write(&t, file, format);
	n = t.n;
	name = malloc(n * sizeof(*name));
	write = malloc(n * sizeof(*write));
	page = t.page;
	for (i = 0; i < n; i++) {
		name[i] = t.name[page[i]];
		write[i] = t.write[i];
	}
	trace_free(&t);
	memset(&back, 0, sizeof(back));
	trace_read(&back, file, format);
	unlink(file);
	assert_int_equal(back.n, n);
	for (i = 0; i < n; i++) {
		assert_int_equal(back.name[back.page[i]], name[i]);
		assert_int_equal(back.write[i], writes && write[i]);
	}
	trace_free(&back);
	free(name);
	free(write);
}

static void test_formats(void **state)
{
	(void)state;
	there_and_back(TRACE_CSV, true);
	there_and_back(TRACE_ORACLE, false);
	there_and_back(TRACE_LOG, true);
}

/* Of a recording; what differs in the process, or in the highest bits, is another page. */
static void test_processes(void **state)
{
	static const struct mmpath_event events[] = {
		{ .addr = 4096, .pid = 1 }, { .addr = 4096, .pid = 1 + (1 << 20) },
		{ .addr = 4096, .pid = 1 }, { .addr = 4096 + (1ULL << 56), .pid = 1 },
		{ .addr = 4096, .pid = 1 + (1 << 20) }, { .addr = (1ULL << 57) - 4096, .pid = 0 },
		{ .addr = 4096 + (1ULL << 56), .pid = 1 }, { .addr = 4096, .pid = (1 << 22) - 1 },
	};
	static const uint32_t pages[] = { 0, 1, 0, 2, 1, 3, 2, 4 };
	const size_t n = sizeof(events) / sizeof(*events);
	const struct log_header header = { .page_bytes = 4096 };
	const struct log_end end = { .resolved_from = 1 };
	char file[] = "/tmp/pathsim-XXXXXX";
	struct mmpath_event ev;
	struct log_writer w;
	struct log_reader r;
	struct trace t = { };
	size_t i;

	(void)state;
	close(mkstemp(file));
	log_create(&w, file, &header);
	for (i = 0; i < n; i++) {
		ev = events[i];
		log_write(&w, &ev, 1);
	}
	log_finish(&w, &end);
	log_sum_free(&w.sum);
	trace_read(&t, file, TRACE_LOG);
	assert_int_equal(t.n, n);
	assert_int_equal(t.pages, 5);
	for (i = 0; i < n; i++)
		assert_int_equal(t.page[i], pages[i]);
	/* and they are called what they were when it is written again */
	trace_write(&t, file, TRACE_LOG);
	log_open(&r, file);
	for (i = 0; i < n; i++) {
		assert_true(log_next(&r, &ev));
		assert_memory_equal(&ev, &events[i], sizeof(ev));
	}
	assert_false(log_next(&r, &ev));
	log_close(&r);
	unlink(file);
	trace_free(&t);
}

/* The same of contexts, whose numbers have 32 bits. */
static void test_contexts(void **state)
{
	static const uint32_t contexts[] = { 1, 1U << 20, 1, 1U << 31, UINT32_MAX, 1U << 20 };
	static const uint32_t pages[] = { 0, 1, 0, 2, 3, 1 };
	const size_t n = sizeof(contexts) / sizeof(*contexts);
	char file[] = "/tmp/pathsim-XXXXXX";
	struct truth_writer *w;
	struct trace t = { };
	size_t i;

	(void)state;
	close(mkstemp(file));
	w = truth_create(file);
	assert_non_null(w);
	for (i = 0; i < n; i++)
		truth_page(w, contexts[i], (1ULL << 45) - 1, false);
	assert_false(truth_finish(w));
	trace_read(&t, file, TRACE_TRUTH);
	unlink(file);
	assert_int_equal(t.n, n);
	assert_int_equal(t.pages, 4);
	for (i = 0; i < n; i++)
		assert_int_equal(t.page[i], pages[i]);
	trace_free(&t);
}

/* Neither more memory nor a larger buffer than there are pages costs or changes a thing. */
static void test_huge(void **state)
{
	struct trace t;
	int i;

	(void)state;
	make(&t, UNIFORM, 50, 500);
	for (i = 0; policies[i]; i++)
		assert_int_equal(policy_misses(policies[i], UINT32_MAX, &t), t.pages);
	sim_options.pab = UINT32_MAX;
	for (i = 0; policies[i]; i++)
		policy_misses(policies[i], 20, &t);
	sim_options.pab = 0;
	trace_free(&t);
}

/* Prefetching */

/* Pages @apart from each other, in a fixed order again and again: 0 for a scattered one. */
static void make_rounds(struct trace *t, uint32_t pages, uint32_t apart, int rounds, bool write)
{
	uint32_t *order = malloc(pages * sizeof(*order)), i, j, other;

	memset(t, 0, sizeof(*t));
	for (i = 0; i < pages; i++)
		order[i] = apart ? (uint64_t)i * apart % pages : i;
	for (i = pages - 1; i && !apart; i--) {
		j = random_below(i + 1);
		other = order[i];
		order[i] = order[j];
		order[j] = other;
	}
	/* all pages are there before the part that counts */
	for (i = 0; i < pages; i++)
		trace_add(t, 5000 + i, true);
	t->begin = t->n;
	for (; rounds--; )
		for (i = 0; i < pages; i++)
			trace_add(t, 5000 + order[i], write);
	policy_next_uses(t);
	free(order);
}

/* Runs the prefetcher and "none". */
static void run_both(const struct trace *t, const char *name, uint32_t size,
		     struct prefetch_result *none, struct prefetch_result *r)
{
	struct layout *l = layout_create(t);
	bool *missed = calloc(t->n, sizeof(*missed));

	prefetch_run(prefetchers[0], size, l, missed, none);
	prefetch_run(prefetcher_by_name(name), size, l, missed, r);
	layout_destroy(l);
	free(missed);
}

/* The same; returns misses that are hidden, in per mille. */
static int hidden(const struct trace *t, const char *name, uint32_t size,
		  struct prefetch_result *r)
{
	struct prefetch_result none;

	run_both(t, name, size, &none, r);
	assert_true(none.misses);
	return ((long)none.misses - (long)r->misses) * 1000 / (long)none.misses;
}

/* Without prefetching there are the misses of LRU, and each waits for the device. */
static void test_prefetch_none(void **state)
{
	const struct prefetch_options was = prefetch_options, *o = &prefetch_options;
	enum pattern pattern;
	struct prefetch_result r;
	uint32_t size;
	struct layout *l;
	struct trace t;
	bool *missed;

	(void)state;
	prefetch_options.depth = PREFETCH_DEPTHS;
	for (pattern = 0; pattern < NR_PATTERNS; pattern++) {
		make(&t, pattern, 300, 5000);
		missed = calloc(t.n, sizeof(*missed));
		l = layout_create(&t);
		for (size = 1; size < 350; size += 58) {
			prefetch_run(prefetchers[0], size, l, missed, &r);
			assert_int_equal(r.misses, policy_misses(&lru_policy, size, &t) - t.pages);
			assert_int_equal(r.ns, t.n * o->touch + r.misses * (o->fault + o->latency));
			assert_int_equal(r.fetched + r.hits + r.pollution, 0);
		}
		layout_destroy(l);
		free(missed);
		trace_free(&t);
	}
	prefetch_options = was;
}

/* A device with one place writes a dirty page before it reads another. */
static void test_prefetch_device(void **state)
{
	const struct prefetch_options was = prefetch_options, *o = &prefetch_options;
	struct prefetch_result r;
	struct trace t;

	(void)state;
	prefetch_options.depth = 1;
	make_rounds(&t, 1000, 1, 4, true);
	assert_int_equal(hidden(&t, "none", 600, &r), 0);
	assert_int_equal(r.misses, 4000);
	/* and those that left memory in the first round, 400, which took no time */
	assert_in_range(r.ns, 4000 * 2 * o->latency, 4000 * (2 * o->latency + o->fault + o->touch) +
			400 * o->latency);
	trace_free(&t);
	make_rounds(&t, 1000, 1, 4, false);
	hidden(&t, "none", 600, &r);
	/* what was written in the first round only is written once */
	assert_in_range(r.ns, 4000 * o->latency, 4000 * (o->latency + o->fault + o->touch) +
			1000 * o->latency);
	trace_free(&t);
	prefetch_options = was;
}

static void check_hidden(const struct trace *t, const char *name, int least, int most)
{
	struct prefetch_result r;
	int got = hidden(t, name, 1200, &r);

	if (got < least || got > most)
		fail_msg("%s: %d per mille are hidden, not %d to %d", name, got, least, most);
	assert_true(r.soon <= r.hits && r.late <= r.hits);
	/* some of them may have been fetched in the first round */
	assert_true(r.hits + r.unused <= r.fetched + 600);
	if (least > 500)
		assert_true(r.hits * 10 > (r.hits + r.unused) * 9);
}

/* What each is good at, and what it cannot know */
static void test_prefetchers(void **state)
{
	struct trace t;

	(void)state;
	make_rounds(&t, 2048, 1, 10, false);
	/* one in 8 and one in 9, exactly but for the beginning */
	check_hidden(&t, "vma", 873, 876);
	check_hidden(&t, "cluster", 870, 876);
	check_hidden(&t, "leap", 887, 890);
	check_hidden(&t, "space", 990, 1000);
	/* the graph learns one in 16 of the pages in the first round, and the others in the second */
	check_hidden(&t, "ppg", 800, 820);
	check_hidden(&t, "auto", 990, 1000);
	check_hidden(&t, "oracle", 999, 1000);
	trace_free(&t);
	make_rounds(&t, 2048, 7, 10, false);
	check_hidden(&t, "leap", 860, 890);
	check_hidden(&t, "space", 970, 1000);
	check_hidden(&t, "auto", 970, 1000);
	trace_free(&t);
	make_rounds(&t, 2047, 2046, 10, false);
	check_hidden(&t, "vma", 868, 876);
	check_hidden(&t, "leap", 880, 890);
	check_hidden(&t, "space", 980, 1000);
	trace_free(&t);
	/* written pages get slots in the order in which they leave, others keep theirs */
	make_rounds(&t, 2048, 0, 10, true);
	check_hidden(&t, "leap", -5, 5);
	check_hidden(&t, "space", -5, 20);
	check_hidden(&t, "cluster", 700, 876);
	check_hidden(&t, "ppg", 800, 900);
	check_hidden(&t, "auto", 750, 900);
	check_hidden(&t, "oracle", 999, 1000);
	trace_free(&t);
}

/* Follow each touch in the part that counts by that of one of the @last pages before. */
static void touch_between(struct trace *t, uint32_t last)
{
	size_t i, n = t->n, begin = t->begin;
	uint64_t *name = calloc(n, sizeof(*name));
	struct trace more = { };

	for (i = 0; i < n; i++)
		name[i] = t->name[t->page[i]];
	trace_free(t);
	for (i = 0; i < n; i++) {
		if (i == begin)
			more.begin = more.n;
		trace_add(&more, name[i], true);
		if (i >= begin)
			trace_add(&more, name[i - random_below(last)], true);
	}
	free(name);
	*t = more;
	policy_next_uses(t);
}

/*
 * Touches that a PAB lets through are those that an LRU memory of its size misses, and each takes
 * its time. Where all touches are misses they add nothing to what the graph learns.
 */
static void test_prefetch_records(void **state)
{
	const struct prefetch_options was = prefetch_options;
	static const uint32_t pabs[] = { 0, 1, 16, 100, 600, 5000 };
	struct prefetch_result none, r, without;
	enum pattern pattern;
	struct trace t;
	unsigned int i;
	int share;

	(void)state;
	prefetch_options = (struct prefetch_options){ .depth = 1, .records = true };
	for (pattern = 0; pattern < NR_PATTERNS; pattern++) {
		make(&t, pattern, 300, 5000);
		for (i = 0; i < sizeof(pabs) / sizeof(*pabs); i++) {
			sim_options.pab = pabs[i];
			prefetch_options.record = 0;
			run_both(&t, "ppg", 200, &none, &without);
			prefetch_options.record = 120;
			run_both(&t, "ppg", 200, &none, &r);
			assert_int_equal(r.records, pabs[i] ? policy_misses(&lru_policy, pabs[i], &t) : t.n);
			assert_int_equal(r.ns - without.ns, 120 * r.records);
			run_both(&t, "space", 200, &none, &r);
			assert_int_equal(r.records, 0);
		}
		trace_free(&t);
	}
	sim_options.pab = 64;
	make_rounds(&t, 2048, 0, 10, true);
	prefetch_options.records = false;
	share = hidden(&t, "ppg", 1200, &without);
	assert_true(share > 750);
	prefetch_options.records = true;
	assert_int_equal(hidden(&t, "ppg", 1200, &r), share);
	assert_int_equal(r.records, policy_misses(&lru_policy, 64, &t));
	trace_free(&t);
	/* and where each miss is followed by a touch of some page in memory, they hide the order */
	sim_options.pab = 0;
	make_rounds(&t, 2048, 0, 10, true);
	touch_between(&t, 200);
	prefetch_options.records = false;
	share = hidden(&t, "ppg", 1200, &without);
	assert_true(share > 700);
	prefetch_options.records = true;
	assert_true(hidden(&t, "ppg", 1200, &r) < share - 100);
	trace_free(&t);
	prefetch_options = was;
}

/* Whoever knows nothing does no harm, and nobody is better than who knows all. */
static void test_prefetch_bounds(void **state)
{
	enum pattern pattern;
	struct prefetch_result r, best;
	struct layout *l;
	struct trace t;
	uint64_t none;
	bool *missed;
	int i;

	(void)state;
	for (pattern = 0; pattern < NR_PATTERNS; pattern++) {
		make(&t, pattern, 3000, 60000);
		missed = calloc(t.n, sizeof(*missed));
		l = layout_create(&t);
		prefetch_run(prefetchers[0], 1800, l, missed, &r);
		none = r.ns;
		prefetch_run(prefetcher_by_name("oracle"), 1800, l, missed, &best);
		assert_true(best.ns <= none);
		for (i = 1; prefetchers[i]; i++) {
			prefetch_run(prefetchers[i], 1800, l, missed, &r);
			assert_true(best.ns <= r.ns);
			assert_true(r.hits + r.unused <= r.fetched);
			assert_true(r.soon <= r.hits && r.late <= r.hits);
			assert_true(r.pollution <= r.misses);
			if (!strcmp(prefetchers[i]->name, "auto"))
				assert_true(r.ns < none + none / 100);
		}
		layout_destroy(l);
		free(missed);
		trace_free(&t);
	}
}

/*
 * Readahead against a naive one, in a memory whose device takes no time: written from
 * mm/swap_state.c, mm/swapfile.c and the paper.
 */
#define AREA	100000U		/* names of the second mapping begin there */
#define SLOTS	(1U << 17)

struct naive_swap {
	const struct layout *l;
	uint32_t size, touched;
	struct seq lru, empty, partly;	/* the latter two are clusters; what comes next is last */
	bool known[MOST], ahead[MOST], dirty[MOST];
	uint32_t slot[MOST], cluster, next;
	uint32_t at[SLOTS];		/* page + 1 */
	struct prefetch_result r;
	/* of readahead */
	uint64_t last[2];
	uint32_t hits[2], window[2];
	int64_t history[1 << 16], trend;
	uint32_t events;
};

static uint32_t slots_used(const struct naive_swap *s, uint32_t cluster)
{
	uint32_t i, used = 0;

	for (i = 0; i < 512; i++)
		used += !!s->at[cluster * 512 + i];
	return used;
}

static void naive_slot_put(struct naive_swap *s, uint32_t page)
{
	uint32_t cluster = s->slot[page] / 512;

	if (!s->slot[page])
		return;
	s->at[s->slot[page]] = 0;
	s->slot[page] = 0;
	if (cluster == s->cluster)
		return;
	if (!slots_used(s, cluster)) {
		take(&s->partly, cluster);
		put_first(&s->empty, cluster);
	} else if (at(&s->partly, cluster) < 0) {
		put_first(&s->partly, cluster);
	}
}

static void naive_slot_get(struct naive_swap *s, uint32_t page)
{
	uint32_t used;

	for (;; s->next++) {
		if (s->next == 512) {
			used = slots_used(s, s->cluster);
			if (used < 512)
				put_first(used ? &s->partly : &s->empty, s->cluster);
			s->cluster = drop_last(s->empty.nr ? &s->empty : &s->partly);
			s->next = 0;
		}
		if (!s->at[s->cluster * 512 + s->next])
			break;
	}
	s->slot[page] = s->cluster * 512 + s->next;
	s->at[s->slot[page]] = page + 1;
}

static void naive_room(struct naive_swap *s)
{
	uint32_t page;

	if (s->lru.nr < s->size)
		return;
	page = s->lru.page[s->lru.nr - 1];
	if (page == s->touched)
		page = s->lru.page[s->lru.nr - 2];
	take(&s->lru, page);
	s->r.unused += s->ahead[page];
	s->ahead[page] = false;
	if (s->dirty[page])
		naive_slot_get(s, page);
	s->dirty[page] = false;
}

static void naive_fetch(struct naive_swap *s, uint32_t page)
{
	if (!s->known[page] || at(&s->lru, page) >= 0 || s->size < 2)
		return;
	naive_room(s);
	put_first(&s->lru, page);
	s->ahead[page] = true;
	s->r.fetched++;
}

static void naive_fetch_name(struct naive_swap *s, uint64_t name)
{
	const struct trace *t = s->l->t;
	uint32_t page;

	for (page = 0; page < t->pages; page++)
		if (t->name[page] == name)
			naive_fetch(s, page);
}

static uint32_t naive_window(struct naive_swap *s, int k, uint64_t where)
{
	uint32_t window = s->hits[k] > 2 ? 8 : 4;

	if (!s->hits[k])
		window = where - s->last[k] == 1 || s->last[k] - where == 1 ? 2 : 1;
	if (window < s->window[k] / 2)
		window = s->window[k] / 2;
	s->window[k] = window;
	return window;
}

static void naive_vma(struct naive_swap *s, uint32_t page, bool miss)
{
	uint64_t name = s->l->t->name[page], from = name, q;
	int k = name >= AREA;
	uint32_t window;

	if (!miss) {
		s->hits[k]++;
		s->last[k] = name;
		return;
	}
	window = naive_window(s, k, name);
	if (s->last[k] == name + 1)
		from = name - window + 1;
	else if (s->last[k] != name - 1)
		from = name - (window - 1) / 2;
	s->last[k] = name;
	s->hits[k] = 0;
	for (q = from; q < from + window; q++)
		if (q / 512 == name / 512 && (q >= AREA) == (name >= AREA))
			naive_fetch_name(s, q);
}

static void naive_cluster(struct naive_swap *s, uint32_t page, bool miss)
{
	uint32_t slot = s->slot[page], window, i;

	if (!miss) {
		s->hits[0]++;
		return;
	}
	window = naive_window(s, 0, slot);
	if (!s->hits[0])
		s->last[0] = slot;
	s->hits[0] = 0;
	for (i = slot / window * window; i < slot / window * window + window; i++)
		if (i && s->at[i])
			naive_fetch(s, s->at[i] - 1);
}

/* The delta that most of the last @window have in common? */
static bool naive_majority(struct naive_swap *s, uint32_t window)
{
	const int64_t *h = s->history + s->events - window;
	uint32_t i, j, same;

	for (i = 0; i < window; i++) {
		for (j = same = 0; j < window; j++)
			same += h[j] == h[i];
		if (same <= window / 2)
			continue;
		s->trend = h[i];
		return true;
	}
	return false;
}

static void naive_leap(struct naive_swap *s, uint32_t page, bool miss)
{
	uint64_t address = layout_address(s->l, page);
	uint32_t window = 0, w, other;
	bool found = false;

	s->history[s->events++] = address - s->last[0];
	s->last[0] = address;
	if (!miss) {
		s->hits[0]++;
		return;
	}
	for (w = 8; w <= 32 && w <= s->events && !found; w *= 2)
		found = naive_majority(s, w);
	if (s->hits[0])
		window = s->hits[0] > 3 ? 8 : s->hits[0] > 1 ? 4 : 2;
	else if (found && s->history[s->events - 1] == s->trend)
		window = 1;
	if (window < s->window[0] / 2)
		window = s->window[0] / 2;
	s->window[0] = window;
	s->hits[0] = 0;
	for (w = 1; w <= window && s->trend; w++) {
		other = layout_page(s->l, &s->l->mapping[s->l->map[page]], address + w * s->trend);
		if (other != NO_PAGE)
			naive_fetch(s, other);
	}
}

typedef void naive_readahead(struct naive_swap *s, uint32_t page, bool miss);

static void naive_swap_touch(struct naive_swap *s, uint32_t page, bool write,
			     naive_readahead *event)
{
	bool miss = s->known[page] && at(&s->lru, page) < 0, hit = s->ahead[page];

	s->touched = page;
	if (!take(&s->lru, page))
		naive_room(s);
	put_first(&s->lru, page);
	s->ahead[page] = false;
	s->r.misses += miss;
	s->r.hits += hit;
	if (miss || hit)
		event(s, page, miss);
	if ((write || !s->known[page]) && !s->dirty[page]) {
		naive_slot_put(s, page);
		s->dirty[page] = true;
	}
	s->known[page] = true;
}

static void readahead_agrees(const char *name, naive_readahead *event, const struct trace *t,
			     uint32_t size, uint32_t hits)
{
	static struct naive_swap s;
	bool *missed = calloc(t->n, sizeof(*missed));
	struct layout *l = layout_create(t);
	struct prefetch_result r;
	size_t i;

	prefetch_run(prefetcher_by_name(name), size, l, missed, &r);
	memset(&s, 0, sizeof(s));
	s.l = l;
	s.size = size;
	s.hits[0] = s.hits[1] = hits;
	s.at[0] = s.next = 1;
	/* twice the footprint and 256 MiB, the header in the first cluster */
	for (i = 1; i < (2 * t->pages + 65536 + 511) / 512; i++)
		put_first(&s.empty, i);
	for (i = 0; i < t->n; i++)
		naive_swap_touch(&s, t->page[i], t->write[i], event);
	if (r.misses != s.r.misses || r.fetched != s.r.fetched || r.hits != s.r.hits ||
	    r.unused != s.r.unused)
		fail_msg("%s, %u pages: %zu misses, %zu fetched, %zu hits, %zu unused; not %zu, %zu, %zu, %zu",
			 name, size, r.misses, r.fetched, r.hits, r.unused, s.r.misses,
			 s.r.fetched, s.r.hits, s.r.unused);
	layout_destroy(l);
	free(missed);
}

/* Runs up, down and by strides in two mappings, and pages here and there */
static void make_runs(struct trace *t, uint32_t pages, size_t touches)
{
	uint32_t nr = 0, page = 0, step = 0, random = 0;

	memset(t, 0, sizeof(*t));
	for (; touches--; nr--) {
		if (!nr) {
			nr = 1 + random_below(300);
			page = random_below(pages);
			step = random_below(3) ? 1 + random_below(3) : pages - 1 - random_below(3);
			random = random_below(3) * random_below(5);
		}
		page = random_below(10) < random ? random_below(pages) : (page + step) % pages;
		trace_add(t, page < pages / 3 ? 1000 + page : AREA + page, !random_below(3));
	}
	policy_next_uses(t);
}

static void test_readahead(void **state)
{
	const struct prefetch_options was = prefetch_options;
	static const uint32_t sizes[] = { 1, 2, 5, 50, 700, 1000 };
	struct trace t;
	size_t i;

	(void)state;
	prefetch_options = (struct prefetch_options){ .depth = 1 };
	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		make_runs(&t, 1200, 20000);
		readahead_agrees("vma", naive_vma, &t, sizes[i], 4);
		readahead_agrees("cluster", naive_cluster, &t, sizes[i], 4);
		readahead_agrees("leap", naive_leap, &t, sizes[i], 0);
		trace_free(&t);
	}
	/* so long that slots are given again */
	make_runs(&t, 1200, 150000);
	memset(t.write, true, t.n);
	readahead_agrees("cluster", naive_cluster, &t, 50, 4);
	trace_free(&t);
	prefetch_options = was;
}

/* Pages here and there, of three programs: each is found where it lies, and nothing between. */
static void test_layout(void **state)
{
	const struct mapping *m, *other;
	struct trace t = { };
	uint64_t base, address;
	uint32_t i, page;
	struct layout *l;
	int k;

	(void)state;
	for (k = 0; k < 40; k++) {
		base = (uint64_t)random_below(3) << 45 | random_below(1 << 20);
		for (i = random_below(200); i--; )
			trace_add(&t, base + i * (1 + random_below(k)), false);
	}
	l = layout_create(&t);
	assert_int_equal(l->programs, 3);
	for (i = 0; i < t.pages; i++) {
		m = &l->mapping[l->map[i]];
		address = layout_address(l, i);
		assert_true(address && address - m->first < m->nr);
		assert_int_equal(layout_page(l, m, address), i);
		assert_int_equal(m->program, t.name[i] >> 45);
		page = layout_page(l, m, address + 1);
		if (page != NO_PAGE)
			assert_int_equal(t.name[page], t.name[i] + 1);
	}
	for (i = 0; i < l->mappings; i++) {
		m = &l->mapping[i];
		other = m + 1;
		if (i + 1 < l->mappings)
			assert_true(m->first + m->nr <= other->first);
		for (page = 0, address = m->first; address - m->first < m->nr; address++)
			page += layout_page(l, m, address) != NO_PAGE;
		assert_int_equal(page, m->touched);
		assert_int_equal(layout_page(l, m, m->first - 1), NO_PAGE);
		assert_int_equal(layout_page(l, m, m->first + m->nr), NO_PAGE);
		page = l->page[m->rank];
		assert_int_equal(m->first % 512, t.name[page] % 512);
	}
	layout_destroy(l);
	trace_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lru),
		cmocka_unit_test(test_mru),
		cmocka_unit_test(test_clock),
		cmocka_unit_test(test_twolist),
		cmocka_unit_test(test_lirs),
		cmocka_unit_test(test_opt),
		cmocka_unit_test(test_opt_is_least),
		cmocka_unit_test(test_loop),
		cmocka_unit_test(test_auto),
		cmocka_unit_test(test_region),
		cmocka_unit_test(test_pab),
		cmocka_unit_test(test_filter),
		cmocka_unit_test(test_keep_written),
		cmocka_unit_test(test_keep_timed),
		cmocka_unit_test(test_formats),
		cmocka_unit_test(test_processes),
		cmocka_unit_test(test_contexts),
		cmocka_unit_test(test_huge),
		cmocka_unit_test(test_prefetch_none),
		cmocka_unit_test(test_prefetch_device),
		cmocka_unit_test(test_prefetchers),
		cmocka_unit_test(test_prefetch_records),
		cmocka_unit_test(test_prefetch_bounds),
		cmocka_unit_test(test_readahead),
		cmocka_unit_test(test_layout),
	};

	return cmocka_run_group_tests_name("pathsim", tests, NULL, NULL);
}
