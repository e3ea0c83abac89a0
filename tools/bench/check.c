// SPDX-License-Identifier: GPL-2.0
/*
 * Do all structures give the same curve? Each has to agree with a list searched
 * from the top (tools/unit/lib.c), which is too simple to be wrong.
 */
#include <stdio.h>
#include <stdlib.h>

#include "lib.h"
#include "models.h"

#define PAGES		1000
#define TOUCHES		20000

static void naive_curve(const u64 *trace, struct mmpath_mrc *mrc)
{
	struct naive_stack s;
	size_t i;

	naive_init(&s, 0);
	for (i = 0; i < TOUCHES; i++)
		mmpath_mrc_add(mrc, naive_touch(&s, trace[i]), 1);
	naive_free(&s);
}

static bool same_curve(const struct mmpath_mrc *a, const struct mmpath_mrc *b)
{
	u64 pages;

	for (pages = 0; pages <= PAGES; pages += GROUP_PAGES)
		if (mmpath_mrc_misses(a, MMPATH_MRC_TOTAL, pages) !=
		    mmpath_mrc_misses(b, MMPATH_MRC_TOTAL, pages))
			return false;
	return mmpath_mrc_cold(a, MMPATH_MRC_TOTAL) == mmpath_mrc_cold(b, MMPATH_MRC_TOTAL);
}

static bool check_one(const struct stack_ops *ops, const u64 *trace,
		      const struct mmpath_mrc *want)
{
	struct counted_mem cm;
	struct stack *s;
	bool same;

	counted_mem_init(&cm);
	s = stack_create(ops, &cm.mem, PAGES);
	stack_touch_all(s, trace, TOUCHES);
	same = same_curve(&s->mrc, want);
	stack_destroy(s);
	return same && !cm.mem.bytes;
}

static int check_trace(enum trace_kind kind, int n)
{
	u64 *trace = trace_make(kind, PAGES, TOUCHES, kind + 1);
	const struct stack_ops *const *ops;
	struct counted_mem cm;
	struct mmpath_mrc want;
	int failed = 0;
	bool ok;

	counted_mem_init(&cm);
	mmpath_mrc_init(&want, &cm.mem, GROUP_PAGES);
	naive_curve(trace, &want);
	for (ops = all_stacks; *ops; ops++) {
		ok = check_one(*ops, trace, &want);
		failed += !ok;
		printf("%sok %d - %s: %s\n", ok ? "" : "not ", ++n, trace_names[kind],
		       (*ops)->name);
	}
	mmpath_mrc_destroy(&want);
	free(trace);
	return failed;
}

int check_models(void)
{
	int kind, failed = 0, nr = 0;

	while (all_stacks[nr])
		nr++;
	printf("1..%d\n", nr * NR_TRACES);
	for (kind = 0; kind < NR_TRACES; kind++)
		failed += check_trace(kind, kind * nr);
	return failed != 0;
}
