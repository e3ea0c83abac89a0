/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which pages of a program are missed next? See foresee.c and ppg.c.
 */
#ifndef _MM_PATH_FORESEE_H
#define _MM_PATH_FORESEE_H

#include "benefit.h"

/* ppg.c: the page proximity graph of thesis 4.5, learnt from misses */
#define MMPATH_PPG_DEGREE	4U	/* edges of a node: the proximity set of a page */
#define MMPATH_PPG_WINDOW	64U	/* pages of the stack that are looked at */
#define MMPATH_PPG_DEPTH	3U	/* of the walk, breadth first */
#define MMPATH_PPG_MOST		7U	/* weight of an edge */
#define MMPATH_PPG_NODES	((1U << 29) - 1)

#define MMPATH_FORESEE_MOST	64U	/* pages to fetch at once */

/* Neighbours of a node in the ring of its stack. A page that was never missed has none. */
struct mmpath_ppg_link {
	u32 newer, older;
};

/**
 * struct mmpath_ppg - a page proximity graph
 * @mem: allocator
 * @index: map from pages to nodes
 * @nr_nodes: nodes in use, without node 0
 * @pages: of each node, the id of its page in @index; 0: it is the end of a stack
 * @links: of each node, a struct mmpath_ppg_link
 * @edges: of each node, MMPATH_PPG_DEGREE edges by falling weight; 0: none
 */
struct mmpath_ppg {
	struct mmpath_mem *mem;
	/* the rest is ppg.c's */
	struct mmpath_index index;
	u32 nr_nodes;
	struct mmpath_vec pages, links, edges;
};

void mmpath_ppg_init(struct mmpath_ppg *g, struct mmpath_mem *mem);
void mmpath_ppg_destroy(struct mmpath_ppg *g);
const u32 *mmpath_ppg_edges(const struct mmpath_ppg *g, u32 place);
struct mmpath_ppg_link *mmpath_ppg_link(const struct mmpath_ppg *g, u32 place);
bool mmpath_ppg_is_end(const struct mmpath_ppg *g, u32 place);
u32 mmpath_ppg_find(struct mmpath_ppg *g, u64 page);
u32 mmpath_ppg_get(struct mmpath_ppg *g, u64 page);
u32 mmpath_ppg_stack(struct mmpath_ppg *g);
u64 mmpath_ppg_page(const struct mmpath_ppg *g, u32 place);
void mmpath_ppg_miss(struct mmpath_ppg *g, u32 stack, u32 place);
unsigned int mmpath_ppg_walk(const struct mmpath_ppg *g, u32 place, u32 *found,
			     unsigned int most);
size_t mmpath_ppg_bytes(const struct mmpath_ppg *g);

/* foresee.c */
enum mmpath_predictor {
	MMPATH_FORESEE_SPACE,
	MMPATH_FORESEE_PPG,
	NR_MMPATH_PREDICTORS,	/* none, or not known */
};

enum mmpath_foresee_mode {
	MMPATH_PREFETCH_NONE,
	MMPATH_PREFETCH_SPACE,
	MMPATH_PREFETCH_PPG,
	MMPATH_PREFETCH_AUTO,
	NR_MMPATH_PREFETCHES,
};

#define MMPATH_FORESEE_REGION_ORDER	7	/* a struct mmpath_foresee_region takes 128 bytes */
#define MMPATH_FORESEE_REGIONS		256U
#define MMPATH_FORESEE_TRIGGERS		4U

/* What tests of a predictor have shown, for the next pages and for those further on */
struct mmpath_foresee_tests {
	u16 tried[2], right[2];
};

/**
 * struct mmpath_foresee_region - what is known of a mapping
 * @first: its first page
 * @last: page of the last miss
 * @step: distance of the last two misses
 * @step_before: distance of the two before
 * @trigger: pages in the middle of the last batches; their use begins the next batch
 * @tests: of each predictor
 * @stack: stack of its misses in the graph; 0: none yet
 * @nodes: nodes of its pages in the graph
 * @random: chooses which misses are tests
 * @next_trigger: entry of @trigger that is replaced next
 * @depth: pages that were foreseen last
 * @by: predictor that foresaw them
 * @naps: how often in a row the graph has been put to sleep
 * @awake: events since the graph was awake
 * @asleep: events for which it sleeps on
 * @missed: misses that waited for the device
 * @fetched: pages that were fetched
 * @used: of these, pages that were used
 */
struct mmpath_foresee_region {
	u64 first, last;
	s64 step, step_before;
	u64 trigger[MMPATH_FORESEE_TRIGGERS];
	struct mmpath_foresee_tests tests[NR_MMPATH_PREDICTORS];
	u32 stack, nodes;
	u32 random;
	u8 next_trigger, depth, by, naps;
	u32 awake, asleep;
	u32 missed, fetched, used;
};

/**
 * struct mmpath_foresee_event - a miss, or the first use of a page that was fetched
 * @page: the page
 * @first: first page of its mapping
 * @nr: number of pages of the mapping
 * @miss: the page has to be read; false: it was fetched, or the kernel has read it ahead
 * @late: cost of pages that were fetched and had to be waited for, since the last event
 * @page_cost: CPU that it takes to fetch a page
 * @learning_cost: CPU that an event takes
 * @price: of a page of memory, see struct mmpath_pollution; 0: not known
 * @taken: bytes of memory that fetched pages and the foresight take
 * @room: pages that may be fetched
 * @in_swap: pages of the program that are in swap
 * @swapped: tell whether a page of the mapping is in swap; also true if it was fetched
 *	and is not used yet
 * @arg: for @swapped
 * @dropped: where to leave what is forgotten, which takes long to free; NULL: free it at once
 *
 * Costs are in 1/MMPATH_MISS of what a miss costs. 0: not known.
 */
struct mmpath_foresee_event {
	u64 page, first, nr;
	bool miss;
	u32 late, page_cost, learning_cost;
	u64 price, taken;
	unsigned int room;
	u64 in_swap;
	bool (*swapped)(void *arg, u64 page);
	void *arg;
	struct mmpath_foresee_dropped *dropped;
};

/*
 * A page that a predictor has named: in which tick, and for what, see foresee.c. Marks are in
 * tables of fixed size, because only those of the last events are needed.
 */
struct mmpath_foresee_mark {
	u64 page:MMPATH_VPN_BITS, at:13, what:6;
};

#define MMPATH_FORESEE_MARKS	1024U

/**
 * struct mmpath_foresee_dropped - what was forgotten, and is still to be freed
 * @mem: frees it; without .bytes there is nothing, and nothing else needs to be set
 * @graph: see struct mmpath_foresee
 * @mappings: see there; if only the graph was forgotten, these and the others are empty
 * @regions: see there
 * @tests: see there
 * @fetches: see there
 */
struct mmpath_foresee_dropped {
	struct mmpath_mem mem;
	struct mmpath_ppg graph;
	struct mmpath_index mappings;
	struct mmpath_vec regions;
	struct mmpath_foresee_mark *tests, *fetches;
};

struct mmpath_foresee {
	struct mmpath_mem *mem;
	enum mmpath_foresee_mode mode;
	u32 max_nodes;			/* with more, the graph is forgotten */
	unsigned int pool_percent;	/* of memory for pages that are not used yet */
	u32 nr_unsettled;		/* pages that were fetched and may still be right */
	unsigned long right, wrong;	/* pages that were used in time, and that were not */
	unsigned long forgotten;	/* how often the graph was forgotten */
	unsigned long rested;		/* how often all was put to rest, because it did not pay */
	/* of the last event */
	enum mmpath_predictor fetch_by;	/* predictor that named the pages to fetch */
	unsigned int fetch_depth;	/* pages that it was worth to look ahead */
	enum mmpath_predictor used_by;	/* predictor that had named the page, as far as is known */
	/* the rest is foresee.c's */
	u32 clock;			/* events */
	u32 graph_used;			/* clock when the graph was taught last */
	u32 soon;			/* ticks in which a page that was named must be used */
	struct mmpath_ppg graph;
	struct mmpath_index mappings;	/* number of the region of a mapping, by its first page */
	struct mmpath_vec regions;
	u32 nr_regions, next_region;
	struct mmpath_foresee_tests program[NR_MMPATH_PREDICTORS];	/* of all its mappings */
	struct mmpath_foresee_mark *tests, *fetches;	/* NULL: none yet */
	u8 pool_right, pool_wrong;
	struct mmpath_benefit all, of_graph;
	u32 proven_nodes;		/* of the graph, when @of_graph began to be judged */
	u32 page_cost;			/* of the last event */
};

void mmpath_foresee_init(struct mmpath_foresee *f, struct mmpath_mem *mem,
			 enum mmpath_foresee_mode mode, u32 max_nodes);
void mmpath_foresee_set(struct mmpath_foresee *f, enum mmpath_foresee_mode mode, u32 max_nodes);
void mmpath_foresee_destroy(struct mmpath_foresee *f);
void mmpath_foresee_drop(struct mmpath_foresee *f, struct mmpath_foresee_dropped *dropped);
void mmpath_foresee_free(struct mmpath_foresee_dropped *dropped);
void mmpath_foresee_moved(struct mmpath_foresee *f);
unsigned int mmpath_foresee(struct mmpath_foresee *f, const struct mmpath_foresee_event *e,
			    u64 *fetch);
void mmpath_foresee_cut(struct mmpath_foresee *f, u64 first, const u64 *fetch, unsigned int nr,
			unsigned int fetched);
struct mmpath_foresee_region *mmpath_foresee_region(const struct mmpath_foresee *f, u32 i);
size_t mmpath_foresee_bytes(const struct mmpath_foresee *f);

#endif /* _MM_PATH_FORESEE_H */
