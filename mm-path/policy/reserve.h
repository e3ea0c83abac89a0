/* SPDX-License-Identifier: GPL-2.0 */
/* What replace.c, replace-models.c, replace-reclaim.c and reserve.c share */
#ifndef _MM_PATH_RESERVE_H
#define _MM_PATH_RESERVE_H

#include <linux/swap.h>
#include <linux/workqueue.h>
#include "replace.h"

#define MMPATH_RESERVE		512U	/* a power of two */
#define MMPATH_BATCH		32U
#define MMPATH_BATCHES		4U	/* the worker, two of kswapd, and another */
/* What a policy knows is counted as often. In turns of the kernel there may be a thousand. */
#define MMPATH_RECOUNT		(HZ / 4)
#define MMPATH_RECOUNT_ABOVE	(2 * HZ)

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
	MMPATH_REFUSED_SWAP,
	MMPATH_REFUSED_NODE,
	MMPATH_REFUSED_HOT,
	MMPATH_REFUSED_BUSY,
	NR_MMPATH_REPLACE_COUNTS,
};

/*
 * A batch of victims: all are isolated, reclaimed, and then looked at again. A victim that
 * cannot be reclaimed is forgotten by the policy until its next touch, and left to the kernel.
 * If the policy kept such pages, it would soon have no other victims.
 */
struct mmpath_batch {
	u64 page[MMPATH_BATCH];
	u64 key[MMPATH_BATCH];		/* of the page's pool */
	bool hot[MMPATH_BATCH];		/* in the page access buffer */
	bool kept[MMPATH_BATCH];	/* the policy keeps it: it may be a victim later */
	bool tried[MMPATH_BATCH];	/* was isolated */
	unsigned int nr;		/* number of victims */
	bool lirs;			/* LIR pages, which the policy still has */
	unsigned long left;		/* of the wanted node: freed, or put into the reserve */
};

/*
 * What reclaim wants of one node, or of all (NUMA_NO_NODE)
 * @fill: number of entries that the last reclaim asked the worker for; 0 once it has begun
 * @not_before: jiffies; no victims are pushed out until then, because none could leave
 * @passed: victims since the last one that could leave
 * @lir: the next LIR page that is looked at, if no victim is on this node; under the domain's lock
 */
struct mmpath_aim {
	unsigned int fill;
	unsigned long not_before;
	unsigned long passed;
	u64 lir;
};

/**
 * struct mmpath_reserve - pages of one node that were written ahead
 * @entry: ring of their swap entries
 * @head: place of the next entry in @entry
 * @tail: place of the oldest entry in @entry
 * @spare: pages of this node that were freed at once while those of another node were wanted,
 *	since reclaim of this node has asked last
 * @aim: what reclaim of this node wants
 *
 * Reclaim of the machine needs pages of a certain node. In one reserve for all nodes those of the
 * others would be in its way: it would look at them, and the reserve would be full.
 */
struct mmpath_reserve {
	swp_entry_t entry[MMPATH_RESERVE];
	unsigned int head, tail;
	unsigned int spare;
	struct mmpath_aim aim;
};

/* What is left of a block of pages, of which the policy knows one: see mmpath_pick() */
struct mmpath_block {
	u64 next, end;
};

/**
 * struct mmpath_replacer - replacement in one cgroup
 * @dom: domain of the cgroup; it tells the policies of accesses
 * @memcg: the cgroup; the creator of the domain keeps both longer than this
 * @mode: written to memory.path.replace
 * @lirs: LIRS policy, which also knows which pages are in memory; under the domain's lock
 * @contest: of policies, for MMPATH_MODE_AUTO; under the domain's lock
 * @pools: of regions, for MMPATH_MODE_REGION; under the domain's lock
 * @as_lirs: tells @lirs of pages
 * @as_contest: tells @contest of pages, in MMPATH_MODE_AUTO
 * @as_pools: tells @pools of pages, in MMPATH_MODE_REGION
 * @block: of the last victim
 * @lir_block: of the last LIR page that was taken, which the policy still has
 * @key: pool of @block, if there are pools
 * @batch: victims on their way into the reserve, or back to the policy
 * @batches_used: a bit for each batch that a task works on
 * @work: fills the reserve ahead of time
 * @aim: what reclaim wants that can use pages of any node. Its pause is one of all nodes.
 * @left_until: jiffies; auto leaves the choice to the kernel until then, unless LIRS is better
 * @leave: jiffies by which @left_until is set the next time
 * @flushed: jiffies; last time that reclaim had the memcg statistics flushed
 * @written_seen: MMPATH_WRITTEN when mmpath_weigh() looked last
 * @freed_seen: MMPATH_FREED when mmpath_weigh() looked last
 * @known: pages in memory that the policy knows, when the worker counted last
 * @counted: jiffies; when that was
 * @turn: position in the kernel's turns, in 1/MMPATH_TURNS
 * @left_to: tasks in a turn of the kernel's own reclaim; a bit for each hash of a pid
 * @lock: protects the reserves
 * @target: number of entries that a reserve is to have, at most
 * @count: see mmpath_replace_names
 * @reserve: of each node
 */
struct mmpath_replacer {
	struct mmpath_domain *dom;
	struct mem_cgroup *memcg;
	enum mmpath_mode mode;
	struct mmpath_lirs lirs;
	struct mmpath_contest contest;
	struct mmpath_pools pools;
	struct mmpath_policy as_lirs, as_contest, as_pools;
	struct mmpath_block block, lir_block;
	u64 key;
	struct mmpath_batch batch[MMPATH_BATCHES];
	unsigned long batches_used;
	struct work_struct work;
	struct mmpath_aim aim;
	unsigned long left_until, leave, flushed;
	long written_seen, freed_seen;
	unsigned long known, counted;
	unsigned int turn;
	unsigned long left_to;
	spinlock_t lock;	/* innermost */
	unsigned int target;
	atomic_long_t count[NR_MMPATH_REPLACE_COUNTS];
	struct mmpath_reserve reserve[];
};

static inline void mmpath_replace_add(struct mmpath_replacer *r,
				      enum mmpath_replace_count what, unsigned long nr)
{
	atomic_long_add(nr, &r->count[what]);
}

static inline struct mmpath_aim *mmpath_aim(struct mmpath_replacer *r, int nid)
{
	return nid == NUMA_NO_NODE ? &r->aim : &r->reserve[nid].aim;
}

/**
 * struct mmpath_want - a request of reclaim, see mmpath_shrink_node()
 * @memcg: cgroup that is reclaimed; NULL: all
 * @zone: pages of this zone, or of a lower one of its node, are wanted, unless there is @memcg: any
 *	page counts for its limit
 * @nid: node of @zone, or NUMA_NO_NODE if pages of any node are wanted, or if there is one node
 * @gfp: flags of the allocation
 * @priority: reclaim takes about one page in 2^priority of those that it scans
 * @proactive: reclaim is by memory.reclaim, which is no pressure
 * @scanned: pages that were tried so far
 * @all: reclaimable pages below @memcg; only at DEF_PRIORITY
 * @known: number of the pages in @all that policies know
 * @asked: the first replacer that was asked
 * @turns: of MMPATH_TURNS calls, how many are left for the replacers that were not asked yet
 */
struct mmpath_want {
	struct mem_cgroup *memcg;
	struct zone *zone;
	int nid;
	gfp_t gfp;
	int priority;
	bool proactive;
	unsigned long scanned;
	unsigned long all, known;
	struct mmpath_replacer *asked;
	unsigned int turns;
};

/* replace.c */
extern struct mutex mmpath_replace_mutex;
bool mmpath_is_kernels(const struct mmpath_replacer *r);
unsigned long mmpath_evictable(struct mem_cgroup *memcg);
unsigned long mmpath_push(struct mmpath_replacer *r, int nid, unsigned int fill, bool wait);
bool mmpath_must_count(const struct mmpath_replacer *r, unsigned long age);

/* replace-models.c */
void mmpath_start_lirs(struct mmpath_replacer *r);
void mmpath_stop_models(struct mmpath_replacer *r);
int mmpath_set_mode(struct mmpath_replacer *r, enum mmpath_mode mode);
struct mmpath_replacer *mmpath_find_replacer(struct mmpath_domain *dom);

/* replace-reclaim.c */
int mmpath_replacer_publish(struct mmpath_replacer *r);
void mmpath_replacer_hide(struct mmpath_replacer *r);

/* reserve.c */
unsigned int mmpath_reserved(const struct mmpath_replacer *r, int nid);
unsigned long mmpath_reserve_free(struct mmpath_replacer *r, struct mmpath_want *w,
				  unsigned long nr);
unsigned long mmpath_push_out(struct mmpath_replacer *r, struct mmpath_batch *b, int nid);

#endif /* _MM_PATH_RESERVE_H */
