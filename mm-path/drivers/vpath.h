/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Of the virtual hardware's driver: the device and its logs are vpath.c's, what it
 * costs its programs is vpath-cost.c's.
 */
#ifndef _MM_PATH_VPATH_H
#define _MM_PATH_VPATH_H

#include "../driver.h"

enum vpath_param {
	VPATH_PARAM_PAB_ENTRIES,
	VPATH_PARAM_PAB_WAYS,
	VPATH_PARAM_TLB_ENTRIES,
	VPATH_PARAM_TLB_WAYS,
	VPATH_PARAM_TLB_TAGGED,
	VPATH_PARAM_FILTER_ENTRIES,
	VPATH_PARAM_RELOG,
	VPATH_PARAM_SAMPLE_SHIFT,
	VPATH_PARAM_DUTY_PERCENT,
	VPATH_PARAM_DUTY_PERIOD,
	VPATH_PARAM_INTERRUPT,
	VPATH_PARAM_THRESHOLD,
	VPATH_PARAM_OVERHEAD_TARGET,
	NR_VPATH_PARAMS,
};

/* How far a program has come */
struct vpath_time {
	u64 cpu_ns, wall_ns;
	unsigned long major;
};

/**
 * struct vpath_ctx - what the driver knows of a context; what drains read is written under
 *	drain_lock, all but @inside_ns and @choked under ctx->alive
 * @inside_ns: what drains took in the program itself
 * @thinned: cost when it was so much that a drain has made the sample coarser; 0 since
 *	that is dealt with
 * @choked: it cost so much again that its records are not delivered, until then
 * @hook_seen: cost when the while that is judged began, an epoch or less
 * @inside_seen: @inside_ns then
 * @seen: how far it had come
 * @debt_ns: cost so far beyond the target, as of then; not less than 0
 * @excess_ns: and beyond what is aimed at, but not of more than two epochs
 * @epochs: since its sample changed or it rested
 * @own_then: @ctx->own_ns then
 * @cost_then: @ctx->cost_ns then
 * @records_then: its records then
 * @record_ns: what one took lately, when there were many; 0 if there never were
 * @rested: it rested in this epoch
 * @awake: and shall not in the next
 */
struct vpath_ctx {
	u64 inside_ns;
	u64 thinned;
	bool choked;
	u64 hook_seen, inside_seen;
	struct vpath_time seen;
	s64 debt_ns, excess_ns;
	unsigned int epochs;
	u64 own_then, cost_then;
	unsigned long records_then;
	u64 record_ns;
	bool rested, awake;
};

/* vpath.c */
extern struct mmpath_param mmpath_vpath_params[];
extern struct mutex mmpath_vpath_drain_lock;

static inline unsigned long vpath_param(enum vpath_param which)
{
	return READ_ONCE(mmpath_vpath_params[which].val);
}

void mmpath_vpath_drain(void);
void mmpath_vpath_tell_cpus(void);

/* vpath-cost.c */
void mmpath_vpath_begin_cost(struct mmpath_ctx *ctx);
void mmpath_vpath_end_cost(struct mmpath_ctx *ctx);
void mmpath_vpath_judge(struct mmpath_ctx *ctx);
void mmpath_vpath_epoch(struct mmpath_ctx *ctx, struct mm_struct *mm, bool early);
void mmpath_vpath_begin(struct mmpath_ctx *ctx, struct mm_struct *mm);

#endif /* _MM_PATH_VPATH_H */
