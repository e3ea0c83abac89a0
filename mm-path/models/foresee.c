// SPDX-License-Identifier: GPL-2.0
/*
 * Foresight: which pages of a mapping are missed next, and how far ahead is that known?
 *
 *	miss, or first use of a page that was fetched
 *	    +-- space:	the pages in the direction, or at the stride, of the last misses
 *	    +-- graph:	the pages that were missed soon after this one before (ppg.c)
 *	    +-- tests:	which of the two is right here, and how far ahead?
 *
 * One event in four is a test, or one in 16 where no predictor is of any use. What each predictor
 * would fetch as its first to fourth page is noted, and what it would fetch from the 32nd page on.
 * A test is right if that page is missed, or used after it was fetched, soon: within 256 events,
 * or fewer if there are less than 2048 pages in swap. Where less than 40 % of the near tests are
 * right, nothing is fetched. Where 70 % of the far ones are right, 64 pages are. A mapping with
 * few tests is judged by all of the program, and the first ones of a program by none: nothing is
 * fetched on trust.
 *
 * "Was it used before it was evicted?" would be the wrong test. About half of all random pages
 * are, because they stay for long. They are hardly ever used soon.
 *
 * A program that finds its pages in memory has no misses to learn from, so the first use of a
 * page that was fetched counts as a miss. If it is a page in the middle of the last batch, it
 * also begins the next batch. So a stream never waits.
 *
 * The graph is the dear one: it needs memory for each page that is missed, and that memory is
 * taken from the program. So it begins with some of the misses in a mapping, as many as one in 16
 * of its pages. If what it learns from these is right when they are missed again, and more often
 * than space is, it may grow. If not, it sleeps, longer each time. A graph that sleeps in all
 * mappings is forgotten.
 *
 * Tests tell what to do, and what was done must have helped (benefit.c). What does not pay for its
 * CPU and its memory is forgotten and rests: the graph, or all of it. While the graph grows, what
 * it learns is still to come, so the time that it is given begins anew when it has doubled.
 *
 * Pages that were fetched and not used yet are limited to a part of memory, between 2 and 10 %,
 * by what became of the last 64 of them. A page that was not used soon counts as wrong.
 */
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "foresee.h"

#define FORESEE_TICK		8	/* events */
#define FORESEE_SOON_MOST	(256U / FORESEE_TICK)
#define FORESEE_SOON_LEAST	(32U / FORESEE_TICK)
#define FORESEE_SOON_SHARE	8	/* a random page is used so soon in one case of these */
#define FORESEE_NEAR		40	/* per cent of near tests, for any fetch */
#define FORESEE_FAR		70	/* per cent of far tests, for the most pages */
#define FORESEE_TESTS		4U	/* pages of each predictor to note, near and far */
#define FORESEE_FAR_FROM	31U
#define FORESEE_TRIED_LEAST	12	/* tests; fewer say nothing */
#define FORESEE_TRIED_ENOUGH	64U	/* tests; they tell that the graph is of no use ... */
#define FORESEE_HOPELESS	30	/* ... if fewer of the near ones are right, per cent */
#define FORESEE_TRIED_MOST	128	/* then older ones count half */
#define FORESEE_SPACE_BONUS	5	/* it costs less than the graph */
#define FORESEE_GRAPH_LEAD	25	/* over space, for nodes of all pages; tests differ by 10 */
#define FORESEE_BACK		(-3)	/* steps from here to -1 mean the direction down */

#define FORESEE_NODES_LEAST	2048U
#define FORESEE_EVENT_NODES	2U	/* that an event may add: that of the page, and a stack */
#define FORESEE_IDLE		512U	/* events without the graph, until it may be forgotten */
#define FORESEE_ROUNDS		3	/* through all pages, for which the graph is awake */
#define FORESEE_WINDOW		2048U	/* at least so many events must have paid */
#define FORESEE_TRIAL		16	/* not proven, a graph has a page in so many */
#define FORESEE_NAPS		4	/* the longest nap is 2^4 times as long */

#define FORESEE_MARKS_BYTES	(MMPATH_FORESEE_MARKS * sizeof(struct mmpath_foresee_mark))
#define FORESEE_PROBES		16U	/* places of a page in the table of marks */
#define FORESEE_SWEEP		16U	/* marks of each table that are looked at in an event */
#define FORESEE_TESTED		0x0f	/* of a test: those that name the page */
#define FORESEE_UNSETTLED	0x20	/* of a fetch, above 1 + its predictor */

#define POOL_LEAST		2U
#define POOL_MOST		10U
#define POOL_FIRST		4
#define POOL_OUTCOMES		64
#define POOL_GOOD		57	/* of these */
#define POOL_BAD		48

/**
 * mmpath_foresee_init() - initialize
 * @f: what is to be foreseen
 * @mem: allocator
 * @mode: the predictors to use
 * @max_nodes: most pages to remember; with more, the graph is forgotten. Not less than 2048.
 */
void mmpath_foresee_init(struct mmpath_foresee *f, struct mmpath_mem *mem,
			 enum mmpath_foresee_mode mode, u32 max_nodes)
{
	BUILD_BUG_ON(sizeof(struct mmpath_foresee_region) > 1 << MMPATH_FORESEE_REGION_ORDER);
	BUILD_BUG_ON(sizeof(struct mmpath_foresee_mark) != sizeof(u64));
	memset(f, 0, sizeof(*f));
	f->mem = mem;
	mmpath_foresee_set(f, mode, max_nodes);
	f->pool_percent = POOL_FIRST;
	f->regions.order = MMPATH_FORESEE_REGION_ORDER;
	mmpath_ppg_init(&f->graph, mem);
	mmpath_index_init(&f->mappings, mem, 0, NULL);
}

/**
 * mmpath_foresee_set() - set the predictors, and the memory
 * @f: what is foreseen
 * @mode: the predictors to use; if they are others than before, what rests is woken
 * @max_nodes: see mmpath_foresee_init()
 */
void mmpath_foresee_set(struct mmpath_foresee *f, enum mmpath_foresee_mode mode, u32 max_nodes)
{
	if (f->mode != mode) {
		f->all = (struct mmpath_benefit){ };
		f->of_graph = (struct mmpath_benefit){ };
	}
	f->mode = mode;
	f->max_nodes = max(max_nodes, FORESEE_NODES_LEAST);
}

/* Move a graph to where it is to be freed. @f has an empty one then. */
static void foresee_drop_graph(struct mmpath_foresee *f, struct mmpath_foresee_dropped *dropped)
{
	size_t bytes = mmpath_ppg_bytes(&f->graph);

	*dropped = (struct mmpath_foresee_dropped){ .mem = dropped->mem, .graph = f->graph };
	dropped->graph.mem = &dropped->mem;
	dropped->graph.index.mem = &dropped->mem;
	dropped->mem.bytes += bytes;
	f->mem->bytes -= bytes;
	mmpath_ppg_init(&f->graph, f->mem);
}

/**
 * mmpath_foresee_drop() - forget all, and free it later
 * @f: what was foreseen; empty afterwards
 * @dropped: where to leave it; of .mem, .free is set
 *
 * Takes a short time, whatever there is.
 */
void mmpath_foresee_drop(struct mmpath_foresee *f, struct mmpath_foresee_dropped *dropped)
{
	size_t bytes;

	foresee_drop_graph(f, dropped);
	bytes = mmpath_foresee_bytes(f);
	dropped->mappings = f->mappings;
	dropped->mappings.mem = &dropped->mem;
	dropped->regions = f->regions;
	dropped->tests = f->tests;
	dropped->fetches = f->fetches;
	dropped->mem.bytes += bytes;
	f->mem->bytes -= bytes;
	mmpath_index_init(&f->mappings, f->mem, 0, NULL);
	f->regions = (struct mmpath_vec){ .order = MMPATH_FORESEE_REGION_ORDER };
	f->tests = NULL;
	f->fetches = NULL;
	f->nr_unsettled = 0;
	f->nr_regions = 0;
}

/**
 * mmpath_foresee_free() - free what was dropped
 * @dropped: what was dropped, if anything
 */
void mmpath_foresee_free(struct mmpath_foresee_dropped *dropped)
{
	struct mmpath_mem *mem = &dropped->mem;

	if (!mem->bytes)
		return;
	mmpath_ppg_destroy(&dropped->graph);
	mmpath_index_destroy(&dropped->mappings);
	mmpath_vec_free(&dropped->regions, mem);
	mmpath_mem_free(mem, dropped->tests, FORESEE_MARKS_BYTES);
	mmpath_mem_free(mem, dropped->fetches, FORESEE_MARKS_BYTES);
}

/**
 * mmpath_foresee_destroy() - free all memory
 * @f: what was foreseen; empty afterwards
 */
void mmpath_foresee_destroy(struct mmpath_foresee *f)
{
	struct mmpath_foresee_dropped dropped = { .mem.free = f->mem->free };

	mmpath_foresee_drop(f, &dropped);
	mmpath_foresee_free(&dropped);
}

/* Forget all, and begin anew after a rest. */
static void foresee_rest(struct mmpath_foresee *f, struct mmpath_foresee_dropped *dropped)
{
	f->wrong += f->nr_unsettled;
	f->rested++;
	if (dropped)
		mmpath_foresee_drop(f, dropped);
	else
		mmpath_foresee_destroy(f);
	mmpath_benefit_restart(&f->of_graph);
	memset(f->program, 0, sizeof(f->program));
	f->pool_percent = POOL_FIRST;
	f->next_region = 0;
	f->proven_nodes = 0;
}

/**
 * mmpath_foresee_moved() - note that the program has moved to another memory
 * @f: what is foreseen
 *
 * What was gained and what a page was worth there says nothing of the memory that it has now.
 */
void mmpath_foresee_moved(struct mmpath_foresee *f)
{
	mmpath_benefit_restart(&f->all);
	mmpath_benefit_restart(&f->of_graph);
}

/* Marks have room for ticks of 13 bits. */
static u32 foresee_tick(const struct mmpath_foresee *f)
{
	return f->clock / FORESEE_TICK % (1 << 13);
}

/* Was it at @tick so that it is too late now? */
static bool foresee_late(const struct mmpath_foresee *f, u32 tick)
{
	return (foresee_tick(f) - tick) % (1 << 13) > f->soon;
}

/* Marks */

/*
 * The first place of a page. By their upper bits, the ranks of as many pages in a row as there are
 * marks are all different.
 */
static u32 foresee_mark_place(u64 page)
{
	return mmpath_rank(page) * MMPATH_FORESEE_MARKS >> MMPATH_VPN_BITS;
}

static struct mmpath_foresee_mark *foresee_mark_find(struct mmpath_foresee_mark *marks, u64 page)
{
	struct mmpath_foresee_mark *mark;
	u32 i, place = foresee_mark_place(page);

	for (i = place; marks && i < place + FORESEE_PROBES; i++) {
		mark = &marks[i % MMPATH_FORESEE_MARKS];
		if (mark->what && mark->page == page)
			return mark;
	}
	return NULL;
}

/*
 * Find the mark of a page, or add one, or return NULL if there is no room. A new mark takes the
 * place of one that has no more bits of @busy, if it must.
 */
static struct mmpath_foresee_mark *foresee_mark_get(struct mmpath_foresee *f,
						    struct mmpath_foresee_mark **marks, u64 page,
						    unsigned int busy)
{
	struct mmpath_foresee_mark *mark, *free = NULL;
	u32 i, place = foresee_mark_place(page);

	if (!*marks)
		*marks = mmpath_mem_alloc(f->mem, FORESEE_MARKS_BYTES);
	for (i = place; *marks && i < place + FORESEE_PROBES; i++) {
		mark = &(*marks)[i % MMPATH_FORESEE_MARKS];
		if (mark->what && mark->page == page)
			return mark;
		if (!(mark->what & busy) && (!free || (free->what && !mark->what)))
			free = mark;
	}
	if (free)
		*free = (struct mmpath_foresee_mark){ .page = page };
	return free;
}

/* Regions */

/**
 * mmpath_foresee_region() - return a region
 * @f: what is foreseen
 * @i: number of the region, less than @f->nr_regions
 *
 * Return: the region.
 */
struct mmpath_foresee_region *mmpath_foresee_region(const struct mmpath_foresee *f, u32 i)
{
	return mmpath_vec_at(&f->regions, i, MMPATH_FORESEE_REGION_ORDER);
}

/* Begin anew with a region, which keeps its stack. */
static void foresee_region_start(struct mmpath_foresee_region *r, u64 first)
{
	u32 stack = r->stack;

	memset(r, 0, sizeof(*r));
	r->stack = stack;
	r->first = first;
	/* of mappings that are aligned, only the upper bits differ */
	r->random = mmpath_rank(first) >> (MMPATH_VPN_BITS - 32);
}

static struct mmpath_foresee_region *foresee_region_add(struct mmpath_foresee *f)
{
	if (f->nr_regions == f->regions.nr && mmpath_vec_grow(&f->regions, f->mem))
		return NULL;
	return mmpath_foresee_region(f, f->nr_regions++);
}

/* Take the place of a region that was added long ago. */
static struct mmpath_foresee_region *foresee_region_replace(struct mmpath_foresee *f)
{
	u32 i = f->next_region++ % MMPATH_FORESEE_REGIONS;
	struct mmpath_foresee_region *r = mmpath_foresee_region(f, i);
	struct mmpath_index *ix = &f->mappings;
	u32 id = mmpath_index_find(ix, r->first);

	if (id && *mmpath_index_at(ix, id) == i + 1)
		mmpath_index_set(ix, id, 0);
	return r;
}

/* The region of the mapping that begins at @first, or NULL */
static struct mmpath_foresee_region *foresee_region_find(struct mmpath_foresee *f, u64 first)
{
	u32 id = mmpath_index_find(&f->mappings, first);
	u32 number = id ? *mmpath_index_at(&f->mappings, id) : 0;

	return number ? mmpath_foresee_region(f, number - 1) : NULL;
}

/* The same, added if there is none. NULL when out of memory */
static struct mmpath_foresee_region *foresee_region_get(struct mmpath_foresee *f, u64 first)
{
	struct mmpath_index *ix = &f->mappings;
	struct mmpath_foresee_region *r = foresee_region_find(f, first);
	bool more = f->nr_regions < MMPATH_FORESEE_REGIONS;
	u32 id;

	if (r)
		return r;
	r = more ? foresee_region_add(f) : foresee_region_replace(f);
	if (!r)
		return NULL;
	id = mmpath_index_get(ix, first);
	if (!id) {
		f->nr_regions -= more;
		return NULL;
	}
	mmpath_index_set(ix, id, more ? f->nr_regions :
			 (f->next_region - 1) % MMPATH_FORESEE_REGIONS + 1);
	foresee_region_start(r, first);
	return r;
}

static void foresee_forget_graph(struct mmpath_foresee *f, struct mmpath_foresee_dropped *dropped)
{
	u32 i;

	if (dropped)
		foresee_drop_graph(f, dropped);
	else
		mmpath_ppg_destroy(&f->graph);
	f->forgotten++;
	f->proven_nodes = 0;
	mmpath_benefit_restart(&f->of_graph);
	for (i = 0; i < f->nr_regions; i++) {
		mmpath_foresee_region(f, i)->stack = 0;
		mmpath_foresee_region(f, i)->nodes = 0;
	}
}

static u64 foresee_random(struct mmpath_foresee_region *r)
{
	r->random = r->random * 1664525 + 1013904223;
	return r->random >> 16;
}

/* Tests */

static u8 foresee_test_bit(enum mmpath_predictor by, bool far)
{
	return 1 << (2 * by + far);
}

static void foresee_tried(struct mmpath_foresee_tests *t, bool far)
{
	if (++t->tried[far] > FORESEE_TRIED_MOST) {
		t->tried[far] /= 2;
		t->right[far] /= 2;
	}
}

static void foresee_right(struct mmpath_foresee_tests *t, bool far)
{
	if (t->right[far] < t->tried[far])
		t->right[far]++;
}

/* Settle the tests that named the page of an event. */
static void foresee_settle_tests(struct mmpath_foresee *f, struct mmpath_foresee_region *r,
				 u64 page)
{
	struct mmpath_foresee_mark *mark = foresee_mark_find(f->tests, page);
	int by, far;

	if (!mark)
		return;
	for (by = 0; by < NR_MMPATH_PREDICTORS; by++)
		for (far = 0; far < 2; far++)
			if (mark->what & foresee_test_bit(by, far) &&
			    !foresee_late(f, mark->at)) {
				foresee_right(&r->tests[by], far);
				foresee_right(&f->program[by], far);
			}
	mark->what = 0;
}

static void foresee_note_test(struct mmpath_foresee *f, struct mmpath_foresee_region *r,
			      enum mmpath_predictor by, bool far, u64 page)
{
	struct mmpath_foresee_mark *mark = foresee_mark_get(f, &f->tests, page, FORESEE_TESTED);

	if (!mark)
		return;
	if (foresee_late(f, mark->at))
		mark->what = 0;
	if (mark->what & foresee_test_bit(by, far))
		return;
	if (!mark->what)
		mark->at = foresee_tick(f);
	mark->what |= foresee_test_bit(by, far);
	foresee_tried(&r->tests[by], far);
	foresee_tried(&f->program[by], far);
}

static unsigned int foresee_share(const struct mmpath_foresee_tests *t, bool far)
{
	if (t->tried[far] < FORESEE_TRIED_LEAST)
		return 0;
	return t->right[far] * 100 / t->tried[far];
}

/* How many pages is it worth to fetch? */
static unsigned int foresee_depth(const struct mmpath_foresee_tests *t)
{
	unsigned int near = foresee_share(t, false);

	if (near < FORESEE_NEAR)
		return 0;
	if (foresee_share(t, true) >= FORESEE_FAR)
		return MMPATH_FORESEE_MOST;
	return near >= 85 ? 32 : near >= 70 ? 16 : near >= 55 ? 8 : 4;
}

/* The tests by which to judge: a new mapping is taken to be like the rest of the program. */
static const struct mmpath_foresee_tests *foresee_judge(const struct mmpath_foresee *f,
							const struct mmpath_foresee_region *r,
							int by)
{
	return r->tests[by].tried[false] < FORESEE_TRIED_LEAST ? &f->program[by] : &r->tests[by];
}

/* What is a predictor worth? */
static unsigned int foresee_worth(const struct mmpath_foresee_tests *t, int by)
{
	unsigned int near = foresee_share(t, false), far = foresee_share(t, true);

	return near + min(near, far) / 2 + (by == MMPATH_FORESEE_SPACE) * FORESEE_SPACE_BONUS;
}

/*
 * Is the graph what would be chosen here? Where space is right as often, nodes for all pages are of
 * no use, and their memory is missed by the program.
 */
static bool foresee_graph_pays(const struct mmpath_foresee *f,
			       const struct mmpath_foresee_region *r)
{
	const struct mmpath_foresee_tests *graph = &r->tests[MMPATH_FORESEE_PPG];
	const struct mmpath_foresee_tests *space = foresee_judge(f, r, MMPATH_FORESEE_SPACE);

	if (f->mode != MMPATH_PREFETCH_AUTO || !foresee_depth(space))
		return foresee_depth(graph);
	return foresee_depth(graph) && foresee_worth(graph, MMPATH_FORESEE_PPG) >=
	       foresee_worth(space, MMPATH_FORESEE_SPACE) + FORESEE_GRAPH_LEAD;
}

/* Pages of the program, by half the nodes that it may have */
static u32 foresee_pages(const struct mmpath_foresee *f)
{
	return f->max_nodes / 2;
}

/* Has a predictor been tested enough to say that it is of no use here? */
static bool foresee_is_hopeless(const struct mmpath_foresee_tests *t)
{
	return t->tried[false] >= FORESEE_TRIED_ENOUGH &&
	       foresee_share(t, false) < FORESEE_HOPELESS;
}

/* Let tests weigh less than those of which there must be enough when the graph is awake again. */
static void foresee_fade(struct mmpath_foresee_tests *t)
{
	unsigned int far, most = FORESEE_TRIED_ENOUGH / 2;

	for (far = 0; far < 2; far++)
		if (t->tried[far] > most) {
			t->right[far] = t->right[far] * most / t->tried[far];
			t->tried[far] = most;
		}
}

/*
 * Must the graph be taught, and asked? Not where space is right as far ahead as can be. And less
 * and less often where the graph was of no use, by its tests or because the program could go
 * through its pages a few times: a program without order must not pay for it. Space is always
 * tried, so that a scan is noticed.
 */
static bool foresee_graph_awake(struct mmpath_foresee *f, struct mmpath_foresee_region *r)
{
	struct mmpath_foresee_tests *t = &r->tests[MMPATH_FORESEE_PPG];

	if (f->mode == MMPATH_PREFETCH_SPACE ||
	    (f->mode == MMPATH_PREFETCH_AUTO &&
	     foresee_depth(&r->tests[MMPATH_FORESEE_SPACE]) == MMPATH_FORESEE_MOST))
		return false;
	if (f->of_graph.asleep)
		return false;
	if (r->asleep) {
		r->asleep--;
		return false;
	}
	if (++r->awake < FORESEE_ROUNDS * foresee_pages(f) && !foresee_is_hopeless(t))
		return true;
	if (foresee_graph_pays(f, r)) {
		r->naps = 0;
	} else {
		r->asleep = r->awake << r->naps;
		r->naps = min_t(u8, r->naps + 1, FORESEE_NAPS);
		foresee_fade(t);
	}
	r->awake = 0;
	return true;
}

/*
 * The most nodes of a mapping while the graph is on trial there. A quarter are of the first misses
 * and the others of later ones: reclaim may keep the first pages of a program for a round, and
 * pages that are not missed tell nothing.
 */
static u32 foresee_trial(const struct mmpath_foresee *f, const struct mmpath_foresee_region *r,
			 const struct mmpath_foresee_event *e)
{
	u32 pages = min_t(u64, e->nr, foresee_pages(f));

	return pages / FORESEE_TRIAL / (r->awake < pages / 4 ? 4 : 1);
}

/* Return the node of the page of an event. Some new ones are enough for tests of the graph. */
static u32 foresee_node(struct mmpath_foresee *f, struct mmpath_foresee_region *r,
			const struct mmpath_foresee_event *e)
{
	u32 place = mmpath_ppg_find(&f->graph, e->page);

	if (place || (r->nodes >= foresee_trial(f, r, e) && !foresee_graph_pays(f, r)))
		return place;
	place = mmpath_ppg_get(&f->graph, e->page);
	r->nodes += !!place;
	return place;
}

/* Pages that were fetched */

static void foresee_settle_fetch(struct mmpath_foresee *f, struct mmpath_foresee_mark *mark,
				 bool right)
{
	mark->what &= ~FORESEE_UNSETTLED;
	f->nr_unsettled--;
	f->right += right;
	f->wrong += !right;
	/* without prefetching the others would have been read as well, when they were missed */
	if (!right)
		f->all.gain -= f->page_cost;
	f->pool_right += right;
	f->pool_wrong += !right;
	if (f->pool_right + f->pool_wrong < POOL_OUTCOMES)
		return;
	if (f->pool_right >= POOL_GOOD)
		f->pool_percent = min(f->pool_percent + 2, POOL_MOST);
	else if (f->pool_right < POOL_BAD)
		f->pool_percent = max(f->pool_percent / 2, POOL_LEAST);
	f->pool_right = 0;
	f->pool_wrong = 0;
}

/* A page is missed, or is used after it was fetched. */
static void foresee_settle_page(struct mmpath_foresee *f, u64 page, bool miss)
{
	struct mmpath_foresee_mark *mark = foresee_mark_find(f->fetches, page);

	if (!mark)
		return;
	if (!miss)
		f->used_by = (mark->what & ~FORESEE_UNSETTLED) - 1;
	if (mark->what & FORESEE_UNSETTLED)
		foresee_settle_fetch(f, mark, !miss && !foresee_late(f, mark->at));
	else if (!miss)
		f->all.gain += f->page_cost;	/* it was taken to be of no use */
	mark->what = 0;
}

/*
 * Settle what was not used in time. That is noticed after MMPATH_FORESEE_MARKS / FORESEE_SWEEP
 * events at the latest. The mark stays as long as there is room for it, because it tells which
 * predictor had the page fetched.
 */
static void foresee_sweep(struct mmpath_foresee *f)
{
	u32 first = f->clock * FORESEE_SWEEP % MMPATH_FORESEE_MARKS, i;
	struct mmpath_foresee_mark *mark;

	for (i = first; f->tests && i < first + FORESEE_SWEEP; i++)
		if (f->tests[i].what && foresee_late(f, f->tests[i].at))
			f->tests[i].what = 0;
	for (i = first; f->nr_unsettled && i < first + FORESEE_SWEEP; i++) {
		mark = &f->fetches[i];
		if (mark->what & FORESEE_UNSETTLED && foresee_late(f, mark->at))
			foresee_settle_fetch(f, mark, false);
	}
}

/* Note that a page is fetched. Returns false if it was fetched before, or cannot be noted. */
static bool foresee_note_fetch(struct mmpath_foresee *f, enum mmpath_predictor by, u64 page)
{
	struct mmpath_foresee_mark *mark = foresee_mark_get(f, &f->fetches, page,
							    FORESEE_UNSETTLED);

	if (!mark || mark->what & FORESEE_UNSETTLED)
		return false;
	mark->what = FORESEE_UNSETTLED | (1 + by);
	mark->at = foresee_tick(f);
	f->nr_unsettled++;
	return true;
}

/* Predictors */

static s64 foresee_step(const struct mmpath_foresee_region *r)
{
	if (r->step && r->step == r->step_before)
		return r->step;
	return r->step < 0 && r->step >= FORESEE_BACK ? -1 : 1;
}

/* Returns the number of pages of the mapping that @by names, in @page. */
static unsigned int foresee_gather(struct mmpath_foresee *f, const struct mmpath_foresee_region *r,
				   const struct mmpath_foresee_event *e, int by, u32 place,
				   u64 *page)
{
	u32 found[MMPATH_FORESEE_MOST];
	unsigned int i, walked, nr = 0;
	s64 step = foresee_step(r);
	u64 q = e->page;

	if (by == MMPATH_FORESEE_SPACE) {
		for (nr = 0; nr < MMPATH_FORESEE_MOST; nr++) {
			q += step;
			if (q - e->first >= e->nr)
				break;
			page[nr] = q;
		}
		return nr;
	}
	walked = mmpath_ppg_walk(&f->graph, place, found, MMPATH_FORESEE_MOST);
	for (i = 0; i < walked; i++) {
		q = mmpath_ppg_page(&f->graph, found[i]);
		if (q - e->first < e->nr)
			page[nr++] = q;
	}
	return nr;
}

static void foresee_test(struct mmpath_foresee *f, struct mmpath_foresee_region *r,
			 const struct mmpath_foresee_event *e, int by, const u64 *page,
			 unsigned int nr)
{
	unsigned int i, noted = 0;

	for (i = 0; i < nr && noted < FORESEE_TESTS; i++) {
		if (!e->swapped(e->arg, page[i]))
			continue;
		foresee_note_test(f, r, by, false, page[i]);
		noted++;
	}
	noted = 0;
	for (i = FORESEE_FAR_FROM; i < nr && noted < FORESEE_TESTS; i++) {
		if (!e->swapped(e->arg, page[i]))
			continue;
		foresee_note_test(f, r, by, true, page[i]);
		noted++;
	}
}

/* Leave those of the @nr pages in @fetch that are to be fetched. */
static unsigned int foresee_choose(struct mmpath_foresee *f, struct mmpath_foresee_region *r,
				   const struct mmpath_foresee_event *e, u64 *fetch,
				   unsigned int nr)
{
	unsigned int i, chosen = 0;

	for (i = 0; i < nr && i < r->depth && chosen < e->room; i++)
		if (e->swapped(e->arg, fetch[i]) && foresee_note_fetch(f, r->by, fetch[i]))
			fetch[chosen++] = fetch[i];
	if (chosen) {
		f->fetch_by = r->by;
		f->fetch_depth = r->depth;
		r->trigger[r->next_trigger++ % MMPATH_FORESEE_TRIGGERS] = fetch[(chosen - 1) / 2];
		r->fetched += chosen;
	}
	return chosen;
}

/**
 * mmpath_foresee_cut() - note that the last pages of a batch are not fetched
 * @f: what is foreseen
 * @first: first page of the mapping
 * @fetch: pages that mmpath_foresee() has named
 * @nr: number of them, at least 1
 * @fetched: number of those, from the first on, that are fetched; less than @nr
 *
 * The device has no room for the others. They do not count as pages that were not used, and the
 * next batch begins in the middle of what is left of this one.
 */
void mmpath_foresee_cut(struct mmpath_foresee *f, u64 first, const u64 *fetch, unsigned int nr,
			unsigned int fetched)
{
	struct mmpath_foresee_region *r = foresee_region_find(f, first);
	u64 middle = fetch[(nr - 1) / 2];
	struct mmpath_foresee_mark *mark;
	unsigned int i;

	for (i = fetched; i < nr; i++) {
		mark = foresee_mark_find(f->fetches, fetch[i]);
		if (!mark || !(mark->what & FORESEE_UNSETTLED))
			continue;
		mark->what = 0;
		f->nr_unsettled--;
	}
	if (!r)
		return;
	r->fetched -= min(r->fetched, nr - fetched);
	for (i = 0; i < MMPATH_FORESEE_TRIGGERS; i++)
		if (r->trigger[i] == middle)
			r->trigger[i] = fetched ? fetch[(fetched - 1) / 2] : 0;
}

/* Is this the page in the middle of a batch? */
static bool foresee_triggers(struct mmpath_foresee_region *r, u64 page)
{
	unsigned int i;

	for (i = 0; i < MMPATH_FORESEE_TRIGGERS; i++)
		if (r->trigger[i] == page) {
			r->trigger[i] = 0;
			return true;
		}
	return false;
}

/*
 * Is this event a test? One in 4 is. Where no predictor is of any use, one in 16 is enough to
 * notice when one of them is, and most of what a program without order pays is for tests.
 */
static bool foresee_tests(struct mmpath_foresee_region *r, bool graph)
{
	bool hopeless = foresee_is_hopeless(&r->tests[MMPATH_FORESEE_SPACE]) &&
			(!graph || foresee_is_hopeless(&r->tests[MMPATH_FORESEE_PPG]));

	return !(foresee_random(r) % (hopeless ? 16 : 4));
}

static unsigned int foresee_predict(struct mmpath_foresee *f, struct mmpath_foresee_region *r,
				    const struct mmpath_foresee_event *e, u32 place, bool test,
				    bool go, u64 *fetch)
{
	unsigned int nr, best_nr = 0, worth, best_worth = 0;
	const struct mmpath_foresee_tests *judge;
	u64 page[MMPATH_FORESEE_MOST];
	int by;

	r->depth = 0;
	for (by = 0; by < NR_MMPATH_PREDICTORS; by++) {
		if (by == MMPATH_FORESEE_PPG ? !place : f->mode == MMPATH_PREFETCH_PPG)
			continue;
		/* most events of a program without order end here */
		if (!test && !foresee_depth(foresee_judge(f, r, by)))
			continue;
		nr = foresee_gather(f, r, e, by, place, page);
		if (test)
			foresee_test(f, r, e, by, page, nr);
		judge = foresee_judge(f, r, by);
		worth = foresee_worth(judge, by);
		if (!nr || !foresee_depth(judge) || worth <= best_worth)
			continue;
		memcpy(fetch, page, nr * sizeof(*page));
		best_nr = nr;
		best_worth = worth;
		r->depth = foresee_depth(judge);
		r->by = by;
	}
	return go && best_nr ? foresee_choose(f, r, e, fetch, best_nr) : 0;
}

/*
 * Does it pay to foresee anything for the program? The first use of the page is a gain, unless the
 * kernel has read it ahead.
 */
static bool foresee_fails(struct mmpath_foresee *f, const struct mmpath_foresee_event *e)
{
	u32 window = max(FORESEE_ROUNDS * foresee_pages(f), FORESEE_WINDOW);
	s64 gain = !e->miss && foresee_mark_find(f->fetches, e->page) ? MMPATH_MISS : 0;

	mmpath_benefit_note(&f->all, gain - e->late, e->learning_cost, e->price, e->taken);
	return mmpath_benefit_fails(&f->all, window);
}

/* The same of the graph, which has its memory, and the uses of pages that it had named. */
static bool foresee_graph_fails(struct mmpath_foresee *f, const struct mmpath_foresee_event *e)
{
	u32 window = max(FORESEE_ROUNDS * foresee_pages(f), FORESEE_WINDOW);
	s64 gain = f->used_by == MMPATH_FORESEE_PPG ? MMPATH_MISS : 0;

	if (mmpath_benefit_rests(&f->of_graph) || !f->graph.nr_nodes)
		return false;
	if (f->graph.nr_nodes > 2 * f->proven_nodes) {
		f->proven_nodes = f->graph.nr_nodes;
		mmpath_benefit_restart(&f->of_graph);
		mmpath_benefit_restart(&f->all);
	}
	mmpath_benefit_note(&f->of_graph, gain, 0, e->price, mmpath_ppg_bytes(&f->graph));
	return mmpath_benefit_fails(&f->of_graph, window);
}

/* Is there a mapping for which the graph does not sleep? It may be in use there, or on trial. */
static bool foresee_graph_is_wanted(const struct mmpath_foresee *f)
{
	const struct mmpath_foresee_region *r;
	u32 i;

	for (i = 0; i < f->nr_regions; i++) {
		r = mmpath_foresee_region(f, i);
		if (r->nodes && !r->asleep)
			return true;
	}
	return false;
}

/* Is there no room for the nodes that an event may add, or no need of any? */
static bool foresee_graph_must_go(const struct mmpath_foresee *f)
{
	u32 idle = f->clock - f->graph_used;

	if (f->graph.nr_nodes + FORESEE_EVENT_NODES > f->max_nodes)
		return true;
	return f->graph.nr_nodes && idle && idle % FORESEE_IDLE == 0 &&
	       !foresee_graph_is_wanted(f);
}

/**
 * mmpath_foresee() - note a miss, or the first use of a page that was fetched
 * @f: what is foreseen
 * @e: the event
 * @fetch: result: pages to fetch now, in this order; room for MMPATH_FORESEE_MOST
 *
 * The pages in @fetch are taken to be fetched. A page that then cannot be fetched counts as one
 * that was not used.
 *
 * Return: the number of pages in @fetch.
 */
unsigned int mmpath_foresee(struct mmpath_foresee *f, const struct mmpath_foresee_event *e,
			    u64 *fetch)
{
	struct mmpath_foresee_region *r;
	bool graph, test, go;
	u32 place = 0;

	if (f->mode == MMPATH_PREFETCH_NONE)
		return 0;
	f->used_by = NR_MMPATH_PREDICTORS;
	if (mmpath_benefit_rests(&f->all))
		return 0;
	if (foresee_fails(f, e)) {
		foresee_rest(f, e->dropped);
		return 0;
	}
	if (foresee_graph_must_go(f))
		foresee_forget_graph(f, e->dropped);
	f->clock++;
	f->page_cost = e->page_cost;
	f->soon = clamp_t(u64, e->in_swap / (FORESEE_SOON_SHARE * FORESEE_TICK),
			  FORESEE_SOON_LEAST, FORESEE_SOON_MOST);
	foresee_sweep(f);
	r = foresee_region_get(f, e->first);
	if (!r)
		return 0;
	foresee_settle_tests(f, r, e->page);
	foresee_settle_page(f, e->page, e->miss);
	if (foresee_graph_fails(f, e))
		foresee_forget_graph(f, e->dropped);
	r->missed += e->miss;
	r->used += f->used_by < NR_MMPATH_PREDICTORS;

	r->step_before = r->step;
	r->step = r->last ? (s64)(e->page - r->last) : 0;
	r->last = e->page;
	graph = foresee_graph_awake(f, r);
	if (graph) {
		f->graph_used = f->clock;
		place = foresee_node(f, r, e);
		if (place && !r->stack)
			r->stack = mmpath_ppg_stack(&f->graph);
		if (place && r->stack)
			mmpath_ppg_miss(&f->graph, r->stack, place);
	}

	go = e->miss || foresee_triggers(r, e->page);
	test = foresee_tests(r, graph);
	if (!test && !go)
		return 0;
	return foresee_predict(f, r, e, place, test, go, fetch);
}

/**
 * mmpath_foresee_bytes() - return the memory that is used
 * @f: what is foreseen
 *
 * Return: bytes, including all that was allocated.
 */
size_t mmpath_foresee_bytes(const struct mmpath_foresee *f)
{
	return mmpath_ppg_bytes(&f->graph) + mmpath_index_bytes(&f->mappings) +
	       mmpath_vec_bytes(&f->regions) +
	       (!!f->tests + !!f->fetches) * FORESEE_MARKS_BYTES;
}
