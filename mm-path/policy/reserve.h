/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Between replace.c, which decides, and reserve.c, which knows pages.
 */
#ifndef _MM_PATH_RESERVE_H
#define _MM_PATH_RESERVE_H

#include <linux/swap.h>
#include <linux/workqueue.h>
#include "replace.h"

#define MMPATH_RESERVE		512U	/* a power of two */
#define MMPATH_BATCH		32U
#define MMPATH_BATCHES		4U	/* the worker, two of kswapd, and another */

enum mmpath_replace_count {
	MMPATH_SUPPLIED,
	MMPATH_MISSED,
	MMPATH_LEFT,
	MMPATH_WRITTEN,
	MMPATH_FREED,
	MMPATH_REUSED,
	MMPATH_GONE,
	MMPATH_REFUSED_FILE,
	MMPATH_REFUSED_SHARED,
	MMPATH_REFUSED_HUGE,
	MMPATH_REFUSED_PINNED,
	MMPATH_REFUSED_LOCKED,
	MMPATH_REFUSED_LOW,
	MMPATH_REFUSED_HOT,
	MMPATH_REFUSED_BUSY,
	NR_MMPATH_REPLACE_COUNTS,
};

/*
 * Some victims: first all are isolated, then pushed out, then looked at again. One that
 * cannot leave is not known any more until it is touched, and the kernel's: if it were
 * kept, the few that may leave next would soon be such pages, and nothing else.
 */
struct mmpath_batch {
	u64 page[MMPATH_BATCH];
	u64 key[MMPATH_BATCH];		/* of its pool */
	bool hot[MMPATH_BATCH];
	bool kept[MMPATH_BATCH];	/* is to stay */
	bool tried[MMPATH_BATCH];
	unsigned int nr;
};

/**
 * struct mmpath_replacer - replacement in one cgroup
 * @dom: domain of the cgroup, whose accesses the policies are told of
 * @memcg: the cgroup; the creator of the domain keeps both longer than this
 * @mode: set by the user
 * @lirs: which pages are in memory; under the domain's lock
 * @contest: of policies, for MMPATH_MODE_AUTO; under the domain's lock
 * @pools: of regions, for MMPATH_MODE_REGION; under the domain's lock
 * @as_lirs: tells @lirs of pages
 * @as_contest: tells @contest of pages, in MMPATH_MODE_AUTO
 * @as_pools: tells @pools of pages, in MMPATH_MODE_REGION
 * @block: next page of the block of the last victim, see mmpath_pick()
 * @block_end: end of that block
 * @key: pool of that block, if there are pools
 * @batch: victims on their way into the reserve, or back to the policy
 * @batches_used: a bit for each batch that a task works on
 * @work: fills the reserve ahead of time
 * @not_before: jiffies; no victims are pushed out until then, for none could be
 * @left_until: jiffies; auto leaves the choice to the kernel until then, unless LIRS is better
 * @leave: for how many jiffies the next time
 * @flushed: jiffies; when reclaim had the statistics summed up last
 * @written_seen: MMPATH_WRITTEN when mmpath_weigh() looked last
 * @freed_seen: MMPATH_FREED when mmpath_weigh() looked last
 * @known: pages in memory that the policy knows, at the last refill
 * @turn: position in the kernel's turns, in 1/MMPATH_TURNS
 * @left_to: tasks whose reclaim is the kernel's own now; a bit for each hash of a pid
 * @lock: protects the reserve
 * @reserve: ring of swap entries of pages that were written ahead
 * @head: place of the next entry in @reserve
 * @tail: place of the oldest entry in @reserve
 * @target: number of entries that the reserve is to have, at most
 * @fill: number of entries that the last reclaim asked for
 * @count: see mmpath_replace_names
 */
struct mmpath_replacer {
	struct mmpath_domain *dom;
	struct mem_cgroup *memcg;
	enum mmpath_mode mode;
	struct mmpath_lirs lirs;
	struct mmpath_contest contest;
	struct mmpath_pools pools;
	struct mmpath_policy as_lirs, as_contest, as_pools;
	u64 block, block_end, key;
	struct mmpath_batch batch[MMPATH_BATCHES];
	unsigned long batches_used;
	struct work_struct work;
	unsigned long not_before, left_until, leave, flushed;
	long written_seen, freed_seen;
	unsigned long known;
	unsigned int turn;
	unsigned long left_to;
	spinlock_t lock;	/* innermost */
	swp_entry_t reserve[MMPATH_RESERVE];
	unsigned int head, tail, target, fill;
	atomic_long_t count[NR_MMPATH_REPLACE_COUNTS];
};

static inline void mmpath_replace_add(struct mmpath_replacer *r,
				      enum mmpath_replace_count what, unsigned long nr)
{
	atomic_long_add(nr, &r->count[what]);
}

static inline unsigned int mmpath_reserved(const struct mmpath_replacer *r)
{
	/* in this order: the tail must not come by a head that was read before */
	unsigned int tail = smp_load_acquire(&r->tail);

	return min(READ_ONCE(r->head) - tail, MMPATH_RESERVE);
}

/**
 * struct mmpath_want - what reclaim wants, see mmpath_shrink_node()
 * @memcg: it is in this cgroup; NULL: in all
 * @zone: it wants pages of this zone, or a lower one of its node
 * @gfp: what it may do
 * @priority: it takes about one page in 2^priority of what it finds
 * @proactive: nobody waits for the pages
 * @scanned: pages that were tried for it
 * @all: pages below @memcg that reclaim could find; only at DEF_PRIORITY
 * @known: of these, all that policies know
 * @asked: the first replacer that was asked
 * @turns: of MMPATH_TURNS calls like this, those that no replacer asked before has taken
 */
struct mmpath_want {
	struct mem_cgroup *memcg;
	struct zone *zone;
	gfp_t gfp;
	int priority;
	bool proactive;
	unsigned long scanned;
	unsigned long all, known;
	struct mmpath_replacer *asked;
	unsigned int turns;
};

unsigned long mmpath_supply(struct mmpath_replacer *r, struct mmpath_want *w, unsigned long nr);
unsigned long mmpath_push_out(struct mmpath_replacer *r, struct mmpath_batch *b);

#endif /* _MM_PATH_RESERVE_H */
