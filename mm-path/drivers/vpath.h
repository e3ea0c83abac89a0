/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the two files of the virtual hardware's driver share. vpath.c has the device and
 * its logs, vpath-cost.c the control of what tracking costs the programs.
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

/*
 * Clocks of a program
 * @cpu_ns: CPU time of all its threads
 * @wall_ns: local_clock()
 * @major: major faults
 */
struct vpath_time {
	u64 cpu_ns, wall_ns;
	unsigned long major;
};

/**
 * struct vpath_ctx - the driver's data of a context
 * @inside_ns: CPU time that drains have taken in threads of the program
 * @thinned: ctx->hook_ns when a drain made the sample coarser because of the cost; 0 once
 *	epoch() has handled that
 * @choked: records are skipped until epoch() has handled the cost
 * @hook_seen: ctx->hook_ns at the last account, which is an epoch ago or less
 * @inside_seen: @inside_ns at the last account
 * @seen: clocks of the program at the last account
 * @debt_ns: cost beyond the target up to the last account, at least 0
 * @excess_ns: cost beyond the share of the target (vpath_share()) up to the last account; at
 *	least 0, and at most what two epochs may cost
 * @epochs: number of epochs since the sample changed or the context rested
 * @own_then: ctx->own_ns when @epochs was 0
 * @cost_then: ctx->cost_ns when @epochs was 0
 * @records_then: records of the context when @epochs was 0
 * @record_ns: cost of a record, measured when there were many recently; 0 if unknown
 * @rested: the context rested in this epoch
 * @awake: the context logs again in the next epoch
 *
 * All but @inside_ns and @choked are written under ctx->alive. What drains read is written
 * under drain_lock.
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
void mmpath_vpath_begin_cost(struct mmpath_drv_ctx *ctx);
void mmpath_vpath_end_cost(struct mmpath_drv_ctx *ctx);
void mmpath_vpath_check_cost(struct mmpath_drv_ctx *ctx);
void mmpath_vpath_epoch(struct mmpath_drv_ctx *ctx, struct mm_struct *mm, bool early);
void mmpath_vpath_begin(struct mmpath_drv_ctx *ctx, struct mm_struct *mm);

#endif /* _MM_PATH_VPATH_H */
