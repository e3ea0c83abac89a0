// SPDX-License-Identifier: GPL-2.0
/* See lib.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib.h"

static void *test_alloc(struct mmpath_mem *mem, size_t bytes)
{
	struct test_mem *tm = (struct test_mem *)mem;

	tm->nr_allocs++;
	if (bytes > tm->largest)
		tm->largest = bytes;
	if ((tm->fail_at && (tm->nr_allocs == tm->fail_at ||
			     (tm->fail_after && tm->nr_allocs > tm->fail_at))) ||
	    (tm->fail_one_in && !rng_below(&tm->rng, tm->fail_one_in))) {
		tm->nr_failed++;
		return NULL;
	}
	return calloc(1, bytes);
}

static void test_free(struct mmpath_mem *mem, void *p, size_t bytes)
{
	(void)mem;
	memset(p, 0xa5, bytes);
	free(p);
}

void test_mem_init(struct test_mem *tm)
{
	memset(tm, 0, sizeof(*tm));
	tm->mem.alloc = test_alloc;
	tm->mem.free = test_free;
	tm->rng.state = 1;
}

u64 rng_next(struct rng *r)
{
	r->state ^= r->state >> 12;
	r->state ^= r->state << 25;
	r->state ^= r->state >> 27;
	return r->state * 0x2545f4914f6cdd1dULL;
}

u64 rng_below(struct rng *r, u64 limit)
{
	return rng_next(r) % limit;
}

const char *const trace_names[NR_TRACES] = {
	"loop", "uniform", "zipf", "phases", "two loops",
};

/* Inverse of the distribution function, pages in a scrambled order. */
static void fill_zipf(u64 *trace, u64 pages, size_t nr, struct rng *r)
{
	double *cdf = calloc(pages, sizeof(*cdf)), sum = 0, x;
	u64 *name = calloc(pages, sizeof(*name));
	u64 i, j, tmp, low, high;
	size_t k;

	for (i = 0; i < pages; i++) {
		sum += 1 / (double)(i + 1);
		cdf[i] = sum;
		name[i] = i;
	}
	for (i = pages - 1; i; i--) {
		j = rng_below(r, i + 1);
		tmp = name[i];
		name[i] = name[j];
		name[j] = tmp;
	}
	for (k = 0; k < nr; k++) {
		x = (double)(rng_next(r) >> 11) / (double)(1ULL << 53) * sum;
		for (low = 0, high = pages - 1; low < high;) {
			if (cdf[(low + high) / 2] > x)
				high = (low + high) / 2;
			else
				low = (low + high) / 2 + 1;
		}
		trace[k] = name[low];
	}
	free(cdf);
	free(name);
}

static u64 page_of(enum trace_kind kind, u64 pages, size_t i, size_t nr, struct rng *r)
{
	switch (kind) {
	case TRACE_LOOP:
		return i % pages;
	case TRACE_PHASES:
		/* three working sets, one after the other */
		return i * 3 / nr * (pages / 3) + rng_below(r, pages / 3);
	case TRACE_TWO_LOOPS:
		/* a fifth of the pages as often as the rest */
		if (i % 2)
			return i / 2 % (pages / 5);
		return pages / 5 + i / 2 % (pages - pages / 5);
	default:
		return rng_below(r, pages);
	}
}

u64 *trace_make(enum trace_kind kind, u64 pages, size_t nr, u64 seed)
{
	u64 *trace = calloc(nr, sizeof(*trace));
	struct rng r = { seed | 1 };
	size_t i;

	if (kind == TRACE_ZIPF) {
		fill_zipf(trace, pages, nr, &r);
		return trace;
	}
	for (i = 0; i < nr; i++)
		trace[i] = page_of(kind, pages, i, nr, &r);
	return trace;
}

void naive_init(struct naive_stack *s, unsigned int shift)
{
	memset(s, 0, sizeof(*s));
	s->shift = shift;
}

void naive_free(struct naive_stack *s)
{
	free(s->page);
	naive_init(s, s->shift);
}

static size_t naive_find(const struct naive_stack *s, u64 page)
{
	size_t i;

	for (i = 0; i < s->nr && s->page[i] != page; i++)
		;
	return i;
}

s64 naive_touch(struct naive_stack *s, u64 page)
{
	size_t i, nr = s->nr;

	if (!mmpath_sampled(page, s->shift))
		return MMPATH_UNSAMPLED;
	i = naive_find(s, page);
	if (i == nr && s->nr++ == s->room) {
		s->room = s->room ? 2 * s->room : 64;
		s->page = realloc(s->page, s->room * sizeof(*s->page));
	}
	memmove(s->page + 1, s->page, i * sizeof(*s->page));
	s->page[0] = page;
	return i == nr ? MMPATH_COLD : (s64)i << s->shift;
}

void naive_forget(struct naive_stack *s, u64 first, u64 nr)
{
	size_t i, to = 0;

	/* no further than the pages of that context */
	nr = min(nr, (first | MMPATH_VPN_MASK) - first + 1);
	for (i = 0; i < s->nr; i++)
		if (s->page[i] < first || s->page[i] - first >= nr)
			s->page[to++] = s->page[i];
	s->nr = to;
}

void naive_move(struct naive_stack *s, u64 from, u64 to, u64 nr)
{
	size_t i, kept = 0;
	u64 page;

	naive_forget(s, to, nr);
	for (i = 0; i < s->nr; i++) {
		page = s->page[i];
		if (page >= from && page - from < nr) {
			page = page - from + to;
			if (!mmpath_sampled(page, s->shift))
				continue;
		}
		s->page[kept++] = page;
	}
	s->nr = kept;
}

void naive_set_shift(struct naive_stack *s, unsigned int shift)
{
	size_t i, to = 0;

	s->shift = shift;
	for (i = 0; i < s->nr; i++)
		if (mmpath_sampled(s->page[i], shift))
			s->page[to++] = s->page[i];
	s->nr = to;
}

/*
 * A cache of @pages pages as an array, in order of use. The victim is the last
 * of it, or the first.
 */
static u64 simulate(const u64 *trace, size_t nr, u64 pages, bool mru)
{
	struct naive_stack cache, seen;
	u64 misses = 0;
	size_t i, at;

	naive_init(&cache, 0);
	naive_init(&seen, 0);
	for (i = 0; i < nr; i++) {
		at = naive_find(&cache, trace[i]);
		if (at == cache.nr) {
			misses += naive_find(&seen, trace[i]) < seen.nr;
			naive_touch(&seen, trace[i]);
			if (cache.nr == pages)
				naive_forget(&cache, cache.page[mru ? 0 : pages - 1], 1);
		}
		naive_touch(&cache, trace[i]);
	}
	naive_free(&cache);
	naive_free(&seen);
	return misses;
}

u64 simulate_lru(const u64 *trace, size_t nr, u64 pages)
{
	return simulate(trace, nr, pages, false);
}

u64 simulate_mru(const u64 *trace, size_t nr, u64 pages)
{
	return simulate(trace, nr, pages, true);
}
