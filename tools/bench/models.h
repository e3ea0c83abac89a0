/* SPDX-License-Identifier: GPL-2.0 */
/* What the parts of the models program share. */
#ifndef _TOOLS_BENCH_MODELS_H
#define _TOOLS_BENCH_MODELS_H

#include "stacks.h"

#define GROUP_PAGES	16	/* the kernel's default */

/* Memory that knows how much of it there was at most. */
struct counted_mem {
	struct mmpath_mem mem;
	size_t peak;
};

void counted_mem_init(struct counted_mem *cm);

/* The groups in which a curve of @pages pages is kept. */
u32 group_of(u32 pages);

/* Ends the program if there is no memory. */
struct stack *stack_create(const struct stack_ops *ops, struct mmpath_mem *mem, u32 pages);
void stack_destroy(struct stack *s);

static inline void stack_touch(struct stack *s, u64 page)
{
	mmpath_mrc_add(&s->mrc, s->ops->touch(s, page), 1);
}

/* The same in batches, as a log is drained. */
void stack_touch_all(struct stack *s, const u64 *page, u32 nr);

/* All structures, NULL at the end. */
extern const struct stack_ops *const all_stacks[];

int check_models(void);
int cost_models(int argc, char **argv);
int print_curve(int argc, char **argv);
int print_sampled(int argc, char **argv);

#endif /* _TOOLS_BENCH_MODELS_H */
