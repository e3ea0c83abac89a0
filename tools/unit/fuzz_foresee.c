// SPDX-License-Identifier: GPL-2.0
/*
 * Random programs in a random memory, and what is foreseen of them: all that foresee.c and ppg.c
 * promise holds after each event. See fuzz.h.
 */
#include <string.h>

#include "foresee.h"
#include "fuzz.h"

static const char *const fuzz_name = "fuzz_foresee", *const fuzz_claim = "foresight is sound";

#define MOST_PAGES	16384U
#define SOON_MOST	(256 + 16 + 64)	/* events, a tick more at both ends, and a sweep */
#define UNSETTLED	0x20		/* of a mark */

enum where { RESIDENT, SWAPPED, FETCHED };

struct world {
	struct mmpath_foresee f;
	struct test_mem tm;
	u64 mappings, pages;		/* of a mapping */
	u64 apart;			/* from the first page of a mapping to that of the next */
	u8 where[MOST_PAGES];
	u32 fetched_at[MOST_PAGES];	/* event in which it was fetched, 0: used since */
	u32 events;
	unsigned long fetched;
	/* the last event */
	u64 at, mapping;
	/* what prefetching costs; 0: nothing */
	u64 price, dear;
};

static u64 first_of(const struct world *w, u64 mapping)
{
	return 0x7f0000000ULL + mapping * w->apart;
}

/* Returns the number of a page of the mapping of the last event. */
static u64 number_of(const struct world *w, u64 page)
{
	page -= first_of(w, w->mapping);
	CHECK(page < w->pages);
	return w->mapping * w->pages + page;
}

static bool world_swapped(void *arg, u64 page)
{
	struct world *w = arg;

	return w->where[number_of(w, page)] != RESIDENT;
}

static void check_node(const struct world *w, u32 place)
{
	const struct mmpath_ppg_link *link = mmpath_ppg_link(&w->f.graph, place);
	const u32 *edge = mmpath_ppg_edges(&w->f.graph, place);
	u32 i, j, to, weight, last = MMPATH_PPG_MOST;

	CHECK(mmpath_ppg_find((struct mmpath_ppg *)&w->f.graph,
			      mmpath_ppg_page(&w->f.graph, place)) == place);
	CHECK(!link->newer == !link->older);
	for (i = 0; i < MMPATH_PPG_DEGREE && edge[i]; i++) {
		to = edge[i] & MMPATH_PPG_NODES;
		weight = edge[i] >> 29;
		CHECK(to && to <= w->f.graph.nr_nodes && to != place);
		CHECK(!mmpath_ppg_is_end(&w->f.graph, to));
		CHECK(weight && weight <= last);
		last = weight;
		for (j = 0; j < i; j++)
			CHECK((edge[j] & MMPATH_PPG_NODES) != to);
	}
	for (; i < MMPATH_PPG_DEGREE; i++)
		CHECK(!edge[i]);
}

/* All stacks are rings, and each page that was missed is on one of them. */
static void check_stacks(const struct world *w)
{
	const struct mmpath_ppg *g = &w->f.graph;
	u32 i, place, next, missed = 0;

	for (i = 1; i <= g->nr_nodes; i++)
		missed += !mmpath_ppg_is_end(g, i) && mmpath_ppg_link(g, i)->newer;
	for (i = 0; i < w->f.nr_regions; i++) {
		place = mmpath_foresee_region(&w->f, i)->stack;
		if (!place)
			continue;
		CHECK(place <= g->nr_nodes && mmpath_ppg_is_end(g, place));
		do {
			next = mmpath_ppg_link(g, place)->newer;
			CHECK(next && next <= g->nr_nodes);
			CHECK(mmpath_ppg_link(g, next)->older == place);
			place = next;
			CHECK(mmpath_ppg_is_end(g, place) || missed--);
		} while (!mmpath_ppg_is_end(g, place));
		CHECK(place == mmpath_foresee_region(&w->f, i)->stack);
	}
	CHECK(!missed);
}

static void check_all(const struct world *w)
{
	const struct mmpath_foresee *f = &w->f;
	u32 i, unsettled = 0, young = 0, ends = 0;

	for (i = 1; i <= f->graph.nr_nodes; i++)
		if (mmpath_ppg_is_end(&f->graph, i))
			ends++;
		else
			check_node(w, i);
	for (i = 0; f->fetches && i < MMPATH_FORESEE_MARKS; i++)
		unsettled += !!(f->fetches[i].what & UNSETTLED);
	/* out of memory, a stack may be there before its region */
	CHECK(ends <= f->nr_regions + 1);
	check_stacks(w);
	for (i = 0; i < w->mappings * w->pages; i++)
		young += w->fetched_at[i] && w->events - w->fetched_at[i] <= SOON_MOST;
	CHECK(f->nr_unsettled == unsettled);
	CHECK(f->nr_unsettled <= young);
	CHECK(f->nr_regions <= MMPATH_FORESEE_REGIONS);
}

static void check_event(struct world *w, const struct mmpath_foresee_event *e, const u64 *fetch,
			unsigned int nr)
{
	unsigned int i, j;
	u64 page;

	CHECK(nr <= e->room && nr <= MMPATH_FORESEE_MOST);
	for (i = 0; i < nr; i++) {
		page = number_of(w, fetch[i]);
		CHECK(page != w->at);
		CHECK(w->where[page] != RESIDENT);
		for (j = 0; j < i; j++)
			CHECK(fetch[j] != fetch[i]);
		w->fetched_at[page] = w->events;
	}
	w->fetched += nr;
	CHECK(w->f.right + w->f.wrong + w->f.nr_unsettled == w->fetched);
	CHECK(w->f.pool_percent >= 2 && w->f.pool_percent <= 10);
	CHECK(w->f.mode == MMPATH_PREFETCH_NONE || w->f.graph.nr_nodes <= w->f.max_nodes);
	CHECK(mmpath_foresee_bytes(&w->f) == w->tm.mem.bytes);
}

static bool is_unsettled(const struct world *w, u64 page)
{
	u32 i;

	for (i = 0; w->f.fetches && i < MMPATH_FORESEE_MARKS; i++)
		if (w->f.fetches[i].page == page && w->f.fetches[i].what & UNSETTLED)
			return true;
	return false;
}

static void event(struct world *w, struct source *src)
{
	struct mmpath_foresee_event e = {
		.page = first_of(w, w->mapping) + w->at % w->pages,
		.first = first_of(w, w->mapping), .nr = w->pages,
		.miss = w->where[w->at] == SWAPPED,
		.room = draw(src, 4) ? 64 : draw(src, 64),
		.late = draw(src, 8) ? 0 : draw(src, 1000), .page_cost = draw(src, 16) * w->dear,
		.learning_cost = draw(src, 16) * w->dear,
		.price = w->price += draw(src, 1000) * w->dear, .taken = w->tm.mem.bytes,
		.swapped = world_swapped, .arg = w,
	};
	u64 fetch[MMPATH_FORESEE_MOST];
	unsigned int i, nr;

	if (w->f.mode != MMPATH_PREFETCH_NONE)
		w->events++;
	nr = mmpath_foresee(&w->f, &e, fetch);
	/* out of memory, its use is not seen */
	if (!is_unsettled(w, e.page))
		w->fetched_at[w->at] = 0;
	w->where[w->at] = RESIDENT;
	check_event(w, &e, fetch, nr);
	/* some are not there after all */
	for (i = 0; i < nr; i++)
		if (draw(src, 32))
			w->where[number_of(w, fetch[i])] = FETCHED;
}

/* Some pages in a row, or here and there */
static void run(struct world *w, struct source *src)
{
	s64 step = draw(src, 3) ? (s64)draw(src, 9) - 4 : 0;
	u64 nr = draw(src, 300), random = draw(src, 8);

	w->at = draw(src, w->mappings * w->pages);
	for (; nr && !source_ends(src); nr--) {
		w->mapping = w->at / w->pages;
		if (w->where[w->at] == RESIDENT)
			w->where[w->at] = draw(src, 16) ? SWAPPED : RESIDENT;
		if (w->where[w->at] != RESIDENT)
			event(w, src);
		w->at = (w->at + w->mappings * w->pages + step) % (w->mappings * w->pages);
		if (draw(src, 8) < random)
			w->at = draw(src, w->mappings * w->pages);
	}
}

static void evict(struct world *w, struct source *src)
{
	u64 nr = w->mappings * w->pages, i = draw(src, nr), one_in = 1 + draw(src, 4);

	for (; i < nr; i++)
		if (!draw(src, one_in))
			w->where[i] = SWAPPED;
}

static void set(struct world *w, struct source *src)
{
	mmpath_foresee_set(&w->f, draw(src, NR_MMPATH_PREFETCHES),
			   draw(src, 2) ? draw(src, 4096) : MMPATH_PPG_NODES);
}

static void one_round(struct source *src)
{
	static struct world w;
	u64 steps = 1 + draw(src, 40);

	memset(&w, 0, sizeof(w));
	w.mappings = draw(src, 2) ? 1 + draw(src, 8) : 1 + draw(src, 600);
	w.pages = 1 + draw(src, MOST_PAGES / w.mappings);
	w.apart = w.pages + draw(src, 2) * draw(src, 100000);
	memset(w.where, SWAPPED, sizeof(w.where));
	test_mem_init(&w.tm);
	w.dear = draw(src, 2) * draw(src, 100);
	w.tm.fail_one_in = draw(src, 2) ? 0 : 1 + draw(src, 30);
	mmpath_foresee_init(&w.f, &w.tm.mem, draw(src, NR_MMPATH_PREFETCHES), draw(src, 20000));
	for (; steps && !source_ends(src); steps--) {
		switch (draw(src, 8)) {
		case 0:
			set(&w, src);
			break;
		case 1:
			evict(&w, src);
			break;
		default:
			run(&w, src);
			break;
		}
		check_all(&w);
	}
	mmpath_foresee_destroy(&w.f);
	CHECK(!w.tm.mem.bytes);
}
