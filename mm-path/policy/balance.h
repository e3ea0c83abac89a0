/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Balancing of memory between the children of a cgroup: the interface for the user interface,
 * and for replacement.
 */
#ifndef _MM_PATH_BALANCE_H
#define _MM_PATH_BALANCE_H

#include "../core.h"

struct seq_file;

#define MMPATH_MAX_SHARERS	64U	/* children of a cgroup */
#define MMPATH_WEIGHT_DEFAULT	100U
#define MMPATH_WEIGHT_MOST	10000U

struct mmpath_balancer;

/**
 * struct mmpath_sharer - a cgroup that may share in the memory of its parent
 * @node: in the list of its balancer, under mmpath_memcg_mutex and SRCU
 * @balancer: of the parent, NULL if the parent is not balanced
 * @memcg: the cgroup; the creator of the sharer keeps it and @dom longer than this
 * @dom: domain of the cgroup, with its curve
 * @share: steps of memory that the cgroup has, and its curve in steps
 * @target: @share in pages, PAGE_COUNTER_MAX: none; read by reclaim
 * @refused: how often in this epoch reclaim got no page from the cgroup
 * @stuck: number of epochs for which the cgroup still counts as one without reclaimable pages
 * @epochs: number of epochs in which the cgroup was measured since the step changed
 * @believed: the curve is known, and agrees with the refaults
 * @window: recent misses at each number of steps; fixed point
 * @came: recent refaults; fixed point
 * @explained: recent refaults that the curve predicts as misses; fixed point
 * @had: steps at the end of the epoch before
 * @cpu_window: recent CPU time, us; fixed point
 * @cpu_us: CPU time so far, us
 * @refaults: refaults so far
 * @promise: misses that the curve predicts for the next epoch
 * @predicted: sum of all predictions
 * @measured: refaults in the epochs of these predictions
 */
struct mmpath_sharer {
	struct list_head node;
	struct mmpath_balancer *balancer;
	struct mem_cgroup *memcg;
	struct mmpath_domain *dom;
	struct mmpath_share share;
	unsigned long target;
	atomic_t refused;
	unsigned int stuck;
	unsigned int epochs;
	bool believed;
	u64 window[MMPATH_STEPS + 1];
	u64 came, explained, cpu_window, cpu_us;
	u32 had;
	unsigned long refaults;
	u64 promise, predicted, measured;
};

/* protected.c */
bool mmpath_protected(struct mem_cgroup *memcg, struct mem_cgroup *target);

/* What reclaim does with a cgroup. Of two hints the greater one counts. */
enum mmpath_balance_hint {
	MMPATH_HINT_NONE,
	MMPATH_HINT_RECLAIM,
	MMPATH_HINT_SKIP,
};

#ifdef CONFIG_MMPATH_BALANCE
void mmpath_sharer_init(struct mmpath_sharer *s, struct mem_cgroup *memcg,
			struct mmpath_domain *dom);
void mmpath_sharer_join(struct mmpath_sharer *s);
void mmpath_sharer_leave(struct mmpath_sharer *s);
void mmpath_balance_epoch(void);
void mmpath_balance_reap(void);
int mmpath_set_balance(struct mem_cgroup *memcg, enum mmpath_balance mode);
extern const char * const mmpath_balance_names[NR_MMPATH_BALANCES];
enum mmpath_balance mmpath_balance_mode(const struct mem_cgroup *memcg);
int mmpath_show_balance_stat(struct seq_file *m, const struct mem_cgroup *memcg);
void mmpath_show_target(struct seq_file *m, const struct mmpath_sharer *s);
void mmpath_show_predictions(struct seq_file *m, const struct mmpath_sharer *s);
enum mmpath_balance_hint __mmpath_balance_hint(struct mem_cgroup *target, struct mem_cgroup *memcg,
					       unsigned long takes, bool urgent);

static inline enum mmpath_balance_hint mmpath_balance_hint(struct mem_cgroup *target,
							   struct mem_cgroup *memcg)
{
	if (!mmpath_balancing())
		return MMPATH_HINT_NONE;
	return __mmpath_balance_hint(target, memcg, 0, false);
}
#else
static inline void mmpath_sharer_init(struct mmpath_sharer *s, struct mem_cgroup *memcg,
				      struct mmpath_domain *dom) { }
static inline void mmpath_sharer_join(struct mmpath_sharer *s) { }
static inline void mmpath_sharer_leave(struct mmpath_sharer *s) { }
static inline void mmpath_balance_epoch(void) { }
static inline void mmpath_balance_reap(void) { }
static inline void mmpath_show_predictions(struct seq_file *m,
					   const struct mmpath_sharer *s) { }

static inline enum mmpath_balance_hint mmpath_balance_hint(struct mem_cgroup *target,
							   struct mem_cgroup *memcg)
{
	return MMPATH_HINT_NONE;
}
#endif

#endif /* _MM_PATH_BALANCE_H */
