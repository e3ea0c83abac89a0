/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the tests of the models share: memory that counts and fails on request,
 * random numbers, reference strings, and models so simple that they are right.
 */
#ifndef _TOOLS_UNIT_LIB_H
#define _TOOLS_UNIT_LIB_H

#include "tests/touch.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* xorshift64*: the same numbers everywhere. */
struct rng {
	u64 state;
};

u64 rng_next(struct rng *r);
u64 rng_below(struct rng *r, u64 limit);

/* Memory of which the @fail_at-th allocation fails, or one in @fail_one_in. */
struct test_mem {
	struct mmpath_mem mem;
	unsigned long fail_at, fail_one_in;
	struct rng rng;
	bool fail_after;	/* and all after it */
	unsigned long nr_allocs;
	unsigned long nr_failed;
	size_t largest;
};

void test_mem_init(struct test_mem *tm);

/* Reference strings over the pages [0, pages). */
enum trace_kind {
	TRACE_LOOP,
	TRACE_UNIFORM,
	TRACE_ZIPF,
	TRACE_PHASES,
	TRACE_TWO_LOOPS,
	NR_TRACES,
};

extern const char *const trace_names[NR_TRACES];

/* nr pages, to be freed */
u64 *trace_make(enum trace_kind kind, u64 pages, size_t nr, u64 seed);

/*
 * The LRU stack as a list: page[0] is on top. Samples as mmpath_stack does.
 */
struct naive_stack {
	u64 *page;
	size_t nr, room;
	unsigned int shift;
};

void naive_init(struct naive_stack *s, unsigned int shift);
void naive_free(struct naive_stack *s);
s64 naive_touch(struct naive_stack *s, u64 page);
void naive_forget(struct naive_stack *s, u64 first, u64 nr);
void naive_move(struct naive_stack *s, u64 from, u64 to, u64 nr);
void naive_set_shift(struct naive_stack *s, unsigned int shift);

/* Misses of a cache of @pages pages, first touches not counted. */
u64 simulate_lru(const u64 *trace, size_t nr, u64 pages);
u64 simulate_mru(const u64 *trace, size_t nr, u64 pages);

#endif /* _TOOLS_UNIT_LIB_H */
