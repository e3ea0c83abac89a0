/* SPDX-License-Identifier: GPL-2.0 */
/*
 * LRU stacks that are compared with each other: the one that mm-path keeps, and
 * three others. All count memory through struct mmpath_mem and fill the same
 * kind of curve.
 */
#ifndef _TOOLS_BENCH_STACKS_H
#define _TOOLS_BENCH_STACKS_H

#include "tests/touch.h"

/**
 * struct stack - what all of them have in common
 * @ops: which one it is
 * @mem: where its memory comes from
 * @mrc: its curve
 */
struct stack {
	const struct stack_ops *ops;
	struct mmpath_mem *mem;
	struct mmpath_mrc mrc;
};

/**
 * struct stack_ops - one structure
 * @name: a word
 * @what: a line
 * @cycle: it works ahead or cleans up once in @cycle / 7 touches of each page,
 *	   and only a whole number of rounds is a fair measurement; 0: it does not
 * @create: an empty stack for the pages [0, @pages), distances exact in
 *	    groups of @group pages; NULL: out of memory. The ones compared with
 *	    allocate all they will ever need here, the kept one does not
 * @touch: a page was touched; returns the distance or MMPATH_COLD
 * @prefetch: pages that will be touched next; may be NULL
 * @destroy: gives all memory back
 */
struct stack_ops {
	const char *name;
	const char *what;
	unsigned int cycle;
	struct stack *(*create)(struct mmpath_mem *mem, u32 pages, u32 group);
	s64 (*touch)(struct stack *s, u64 page);
	void (*prefetch)(struct stack *s, const u64 *page, unsigned int nr);
	void (*destroy)(struct stack *s);
};

extern const struct stack_ops stack_kept, stack_ahead, stack_list, stack_time, stack_tree;

#endif /* _TOOLS_BENCH_STACKS_H */
