// SPDX-License-Identifier: GPL-2.0
/* Tests of foresee.c and ppg.c. */
#include <stdlib.h>
#include <string.h>

#include "foresee.h"
#include "lib.h"
#include "test.h"

/* A program in a memory of LRU pages, with a device that is never late. */
struct swap_sim {
	struct mmpath_foresee f;
	struct test_mem tm;
	u64 base, pages, memory;
	u64 mapping;		/* pages of a mapping */
	u64 *newer, *older;	/* ring of the pages in memory; place @pages is its end */
	bool *resident, *fetched, *touched;
	u64 in_memory, misses, hits, fetches;
	unsigned int room;	/* of the device, pages of a batch; 0: for all */
	u64 price, price_step;	/* of a page of memory, and what each event adds to it */
	u32 late, page_cost;	/* cost of each event, and of a page that is fetched */
	struct mmpath_foresee_dropped *dropped;	/* NULL: what is forgotten is freed at once */
	bool pays_memory;	/* all of the model's, and not only that of the graph */
	unsigned int most_frees;	/* in an event */
	size_t bytes;		/* that the model had after each event, on average */
	u64 events;
	u64 asked;		/* whether a page is in swap */
};

static unsigned int nr_frees;

static bool sim_swapped(void *arg, u64 page)
{
	struct swap_sim *s = arg;

	s->asked++;
	page -= s->base;
	assert_true(page < s->pages);
	return s->touched[page] && (!s->resident[page] || s->fetched[page]);
}

static void sim_init(struct swap_sim *s, u64 pages, u64 memory, enum mmpath_foresee_mode mode)
{
	memset(s, 0, sizeof(*s));
	test_mem_init(&s->tm);
	mmpath_foresee_init(&s->f, &s->tm.mem, mode, 2 * pages);
	s->base = 0x7f0000000ULL;
	s->pages = pages;
	s->memory = memory;
	s->mapping = pages;
	s->newer = calloc(pages + 1, sizeof(*s->newer));
	s->older = calloc(pages + 1, sizeof(*s->older));
	s->resident = calloc(pages, sizeof(*s->resident));
	s->fetched = calloc(pages, sizeof(*s->fetched));
	s->touched = calloc(pages, sizeof(*s->touched));
	s->newer[pages] = pages;
	s->older[pages] = pages;
}

static void sim_end(struct swap_sim *s)
{
	mmpath_foresee_destroy(&s->f);
	assert_int_equal(s->tm.mem.bytes, 0);
	free(s->newer);
	free(s->older);
	free(s->resident);
	free(s->fetched);
	free(s->touched);
}

static void sim_out(struct swap_sim *s, u64 page)
{
	s->older[s->newer[page]] = s->older[page];
	s->newer[s->older[page]] = s->newer[page];
	s->resident[page] = false;
	s->in_memory--;
}

/* Bring a page to memory, or to the top, as if it were used. */
static void sim_in(struct swap_sim *s, u64 page)
{
	if (s->resident[page])
		sim_out(s, page);
	if (s->in_memory == s->memory) {
		s->fetched[s->newer[s->pages]] = false;
		sim_out(s, s->newer[s->pages]);
	}
	s->newer[page] = s->pages;
	s->older[page] = s->older[s->pages];
	s->newer[s->older[page]] = page;
	s->older[s->pages] = page;
	s->resident[page] = true;
	s->in_memory++;
}

static void sim_touch(struct swap_sim *s, u64 page)
{
	struct mmpath_foresee_event e = {
		.page = s->base + page, .first = s->base + page / s->mapping * s->mapping,
		.nr = s->mapping,
		.swapped = sim_swapped, .arg = s,
	};
	u64 fetch[MMPATH_FORESEE_MOST], pool = s->memory * s->f.pool_percent / 100;
	unsigned int i, nr;

	if (s->resident[page] && !s->fetched[page]) {
		sim_in(s, page);
		return;
	}
	e.miss = !s->resident[page];
	sim_in(s, page);
	s->fetched[page] = false;
	if (!s->touched[page]) {
		s->touched[page] = true;
		return;
	}
	s->misses += e.miss;
	s->hits += !e.miss;
	e.in_swap = s->pages - s->in_memory;
	e.room = pool > s->f.nr_unsettled ? pool - s->f.nr_unsettled : 0;
	e.late = s->late;
	e.page_cost = s->page_cost;
	e.price = s->price += s->price_step;
	e.taken = s->pays_memory ? s->tm.mem.bytes : 0;
	e.dropped = s->dropped;
	nr_frees = 0;
	nr = mmpath_foresee(&s->f, &e, fetch);
	s->most_frees = nr_frees > s->most_frees ? nr_frees : s->most_frees;
	if (s->dropped)
		mmpath_foresee_free(s->dropped);
	if (s->room && nr > s->room) {
		mmpath_foresee_cut(&s->f, e.first, fetch, nr, s->room);
		nr = s->room;
	}
	s->bytes += mmpath_foresee_bytes(&s->f);
	s->events++;
	assert_true(nr <= e.room && nr <= MMPATH_FORESEE_MOST);
	for (i = 0; i < nr; i++) {
		assert_true(fetch[i] - e.first < e.nr);
		page = fetch[i] - s->base;
		if (s->resident[page])
			continue;
		sim_in(s, page);
		s->fetched[page] = true;
		s->fetches++;
	}
}

/* Pages of misses that are hidden, per cent */
static unsigned int sim_hidden(const struct swap_sim *s)
{
	return s->hits * 100 / (s->hits + s->misses);
}

static void report(const struct swap_sim *s, const char *what)
{
	print_message("# %s: %u %% hidden, misses %llu hits %llu fetched %llu wrong %lu pool %u\n",
		      what, sim_hidden(s), (unsigned long long)s->misses, (unsigned long long)s->hits,
		      (unsigned long long)s->fetches, s->f.wrong, s->f.pool_percent);
}

#define PAGES	8000
#define MEMORY	4800

enum program { LOOP, BACK, STRIDE, IN_TURN, HALVES, CHASE, RANDOM };

/* The page of place @i in a program that goes through its pages in the same order again. */
static u64 page_at(const struct swap_sim *s, enum program program, u64 i)
{
	u64 mappings = PAGES / s->mapping;

	switch (program) {
	case BACK:
		return PAGES - 1 - i;
	case STRIDE:
		return i * 16 % PAGES + i * 16 / PAGES;
	case IN_TURN:
		/* each mapping has a stream */
		return i % mappings * s->mapping + i / mappings;
	case HALVES:
		return i % 2 * (PAGES / 2) + i / 2;
	default:
		return i;
	}
}

static void shuffle(u64 *order, u64 nr, struct rng *rng)
{
	u64 i, j, t;

	for (i = nr - 1; i; i--) {
		j = rng_below(rng, i + 1);
		t = order[i];
		order[i] = order[j];
		order[j] = t;
	}
}

static void run(struct swap_sim *s, enum program program, int rounds)
{
	u64 order[PAGES], i;
	struct rng rng = { 42 };
	int n;

	for (i = 0; i < PAGES; i++)
		order[i] = page_at(s, program, i);
	if (program == CHASE)
		shuffle(order, PAGES, &rng);
	for (n = 0; n < rounds; n++)
		for (i = 0; i < PAGES; i++)
			sim_touch(s, program == RANDOM ? rng_below(&rng, PAGES) : order[i]);
}

static void mappings_are_hidden(enum program program, enum mmpath_foresee_mode mode,
				const char *name, u64 mapping, unsigned int least,
				unsigned int most)
{
	struct swap_sim s;

	sim_init(&s, PAGES, MEMORY, mode);
	s.mapping = mapping;
	run(&s, program, 10);
	report(&s, name);
	assert_in_range(sim_hidden(&s), least, most);
	sim_end(&s);
}

static void program_is_hidden(enum program program, enum mmpath_foresee_mode mode, const char *name,
			      unsigned int least, unsigned int most)
{
	mappings_are_hidden(program, mode, name, PAGES, least, most);
}

static void test_space(void **state)
{
	(void)state;
	program_is_hidden(LOOP, MMPATH_PREFETCH_SPACE, "loop, space", 95, 100);
	program_is_hidden(BACK, MMPATH_PREFETCH_SPACE, "back, space", 95, 100);
	program_is_hidden(STRIDE, MMPATH_PREFETCH_SPACE, "stride, space", 90, 100);
	program_is_hidden(CHASE, MMPATH_PREFETCH_SPACE, "chase, space", 0, 5);
}

static void test_graph(void **state)
{
	(void)state;
	program_is_hidden(LOOP, MMPATH_PREFETCH_PPG, "loop, ppg", 75, 100);
	program_is_hidden(CHASE, MMPATH_PREFETCH_PPG, "chase, ppg", 75, 100);
	program_is_hidden(RANDOM, MMPATH_PREFETCH_PPG, "random, ppg", 0, 5);
}

static void test_auto(void **state)
{
	(void)state;
	program_is_hidden(LOOP, MMPATH_PREFETCH_AUTO, "loop, auto", 95, 100);
	program_is_hidden(STRIDE, MMPATH_PREFETCH_AUTO, "stride, auto", 90, 100);
	program_is_hidden(CHASE, MMPATH_PREFETCH_AUTO, "chase, auto", 75, 100);
}

/* Where there is no order, nothing is fetched, and hardly any memory is taken to find that out. */
static void test_random(void **state)
{
	struct swap_sim s;

	(void)state;
	sim_init(&s, PAGES, MEMORY, MMPATH_PREFETCH_AUTO);
	run(&s, RANDOM, 10);
	report(&s, "random, auto");
	print_message("# random, auto: %zu bytes\n", s.bytes / (size_t)s.events);
	assert_in_range(sim_hidden(&s), 0, 1);
	assert_in_range(s.fetches, 0, s.events / 1000);
	/* of the program's 32 MB */
	assert_in_range(s.bytes / s.events, 8192, 6 * PAGES);
	sim_end(&s);
}

/* Where nothing is of any use, few events are tests. */
static void test_hopeless(void **state)
{
	struct swap_sim s;

	sim_init(&s, PAGES, MEMORY, MMPATH_PREFETCH_AUTO);
	run(&s, RANDOM, 5);
	s.asked = 0;
	s.events = 0;
	run(&s, RANDOM, 5);
	print_message("# pages looked up for 100 misses: %llu\n",
		      (unsigned long long)(100 * s.asked / s.events));
	assert_in_range(100 * s.asked / s.events, 130, 400);
	sim_end(&s);
	(void)state;
}

/* Where space is right as often as the graph, the program does not pay for one of all pages. */
static void test_either(void **state)
{
	enum { RUN = 6 };
	u64 order[PAGES / RUN], i, k;
	struct rng rng = { 45 };
	struct swap_sim s;
	int n;

	(void)state;
	sim_init(&s, PAGES, MEMORY, MMPATH_PREFETCH_AUTO);
	for (i = 0; i < PAGES / RUN; i++)
		order[i] = i * RUN;
	for (n = 0; n < 10; n++) {
		shuffle(order, PAGES / RUN, &rng);
		for (i = 0; i < PAGES / RUN; i++)
			for (k = 0; k < RUN; k++)
				sim_touch(&s, order[i] + k);
	}
	report(&s, "short scans in any order, auto");
	print_message("# short scans in any order, auto: %u nodes\n", s.f.graph.nr_nodes);
	assert_in_range(sim_hidden(&s), 50, 100);
	assert_in_range(s.f.graph.nr_nodes, 1, PAGES / 16 + 1);
	sim_end(&s);
}

/* The first pages of an order are not missed in the round in which the graph could prove itself. */
static void test_kept(void **state)
{
	struct rng rng = { 46 };
	u64 order[PAGES], i;
	struct swap_sim s;
	int n;

	(void)state;
	sim_init(&s, PAGES, MEMORY, MMPATH_PREFETCH_AUTO);
	for (i = 0; i < PAGES; i++)
		order[i] = i;
	shuffle(order, PAGES, &rng);
	for (n = 0; n < 5; n++) {
		if (n == 3) {
			s.hits = 0;
			s.misses = 0;
		}
		for (i = n == 2 ? PAGES / 4 : 0; i < PAGES; i++)
			sim_touch(&s, order[i]);
	}
	report(&s, "chase whose first pages stay, auto");
	assert_in_range(sim_hidden(&s), 75, 100);
	sim_end(&s);
}

/* A scan is noticed after a long time without order, and the other way round. */
static void test_change(void **state)
{
	struct swap_sim s;

	(void)state;
	sim_init(&s, PAGES, MEMORY, MMPATH_PREFETCH_AUTO);
	run(&s, RANDOM, 5);
	s.hits = 0;
	s.misses = 0;
	run(&s, LOOP, 3);
	report(&s, "loop after random, auto");
	assert_in_range(sim_hidden(&s), 90, 100);
	s.fetches = 0;
	run(&s, RANDOM, 3);
	report(&s, "random after loop, auto");
	assert_in_range(s.fetches, 0, 3 * PAGES / 40);
	s.hits = 0;
	s.misses = 0;
	run(&s, CHASE, 8);
	report(&s, "chase after random, auto");
	/* what is on trial is of the time without order, so it takes a nap and a round longer */
	assert_in_range(sim_hidden(&s), 40, 100);
	sim_end(&s);
}

/* Two mappings in memory for half of one, and an order for the pages of one */
static void sim_init_two(struct swap_sim *s, u64 *order, struct rng *rng)
{
	u64 i;

	sim_init(s, PAGES, PAGES / 4, MMPATH_PREFETCH_AUTO);
	s->mapping = PAGES / 2;
	for (i = 0; i < PAGES / 2; i++)
		order[i] = i;
	shuffle(order, PAGES / 2, rng);
}

/* One mapping has no order. In another, which is used later, the order is the same again. */
static void test_mixed(void **state)
{
	u64 order[PAGES / 2], i;
	struct rng rng = { 43 };
	struct swap_sim s;
	int n;

	(void)state;
	sim_init_two(&s, order, &rng);
	for (i = 0; i < PAGES; i++)
		sim_touch(&s, rng_below(&rng, PAGES / 2));
	s.hits = 0;
	s.misses = 0;
	for (n = 0; n < 5; n++)
		for (i = 0; i < PAGES / 2; i++) {
			sim_touch(&s, rng_below(&rng, PAGES / 2));
			sim_touch(&s, PAGES / 2 + order[i]);
		}
	report(&s, "random and chase, auto");
	/* half of the misses are random, and two rounds of five are for learning */
	assert_in_range(sim_hidden(&s), 25, 30);
	sim_end(&s);
}

/* While a mapping is scanned, for which no graph is needed, that of another is kept. */
static void test_turns(void **state)
{
	u64 order[PAGES / 2], i;
	struct rng rng = { 44 };
	struct swap_sim s;
	int n;

	(void)state;
	sim_init_two(&s, order, &rng);
	for (n = 0; n < 8; n++) {
		for (i = 0; i < PAGES / 2; i++)
			sim_touch(&s, i);
		for (i = 0; i < PAGES / 2; i++)
			sim_touch(&s, PAGES / 2 + order[i]);
	}
	report(&s, "scan and chase in turn, auto");
	/* two rounds of seven are learnt from, in one of two mappings */
	assert_in_range(sim_hidden(&s), 80, 87);
	sim_end(&s);
}

/* A graph that is of use in one mapping leaves room for that of another. */
static void test_two_chases(void **state)
{
	u64 order[PAGES / 2], i;
	struct rng rng = { 45 };
	struct swap_sim s;
	int n;

	(void)state;
	sim_init_two(&s, order, &rng);
	for (n = 0; n < 5; n++)
		for (i = 0; i < PAGES / 2; i++)
			sim_touch(&s, order[i]);
	s.hits = 0;
	s.misses = 0;
	for (n = 0; n < 5; n++)
		for (i = 0; i < PAGES / 2; i++)
			sim_touch(&s, PAGES / 2 + order[i]);
	report(&s, "a chase after another, auto");
	assert_in_range(sim_hidden(&s), 40, 80);
	sim_end(&s);
}

/* A stream in each of two, twenty or four hundred mappings, a page of each in turn */
static void test_mappings(void **state)
{
	(void)state;
	mappings_are_hidden(IN_TURN, MMPATH_PREFETCH_AUTO, "two streams, auto", PAGES / 2, 95, 100);
	mappings_are_hidden(IN_TURN, MMPATH_PREFETCH_AUTO, "20 streams, auto", PAGES / 20, 80, 100);
	/* in one mapping the next pages of both are still those above */
	program_is_hidden(HALVES, MMPATH_PREFETCH_AUTO, "halves, auto", 95, 100);
	/* more than there are regions: nothing is known of any for long, and nothing is wrong */
	mappings_are_hidden(IN_TURN, MMPATH_PREFETCH_AUTO, "400 streams, auto", PAGES / 400,
			    0, 100);
}

/*
 * Nodes for a quarter of the pages: what the graph has learnt is lost, and learnt again. It is
 * of no use then, and sleeps longer each time. Where none is needed, there is nothing to lose.
 */
static void full(enum program program, enum mmpath_foresee_mode mode, const char *name,
		 unsigned int forgotten, unsigned int least, unsigned int most)
{
	struct swap_sim s;

	sim_init(&s, PAGES, MEMORY, mode);
	mmpath_foresee_set(&s.f, mode, PAGES / 4);
	run(&s, program, 10);
	report(&s, name);
	assert_in_range(s.f.forgotten, forgotten, 2 * forgotten);
	assert_true(s.f.graph.nr_nodes <= s.f.max_nodes);
	assert_true(mmpath_foresee_bytes(&s.f) < 50 * PAGES / 4);
	assert_in_range(sim_hidden(&s), least, most);
	sim_end(&s);
}

static void test_full(void **state)
{
	(void)state;
	full(LOOP, MMPATH_PREFETCH_AUTO, "loop, auto, full", 0, 90, 100);
	full(LOOP, MMPATH_PREFETCH_SPACE, "loop, space, full", 0, 90, 100);
	full(CHASE, MMPATH_PREFETCH_PPG, "chase, ppg, full", 4, 0, 5);
}

/* What does not pay is given up, with all its memory, and tried again later. */
static void test_rests(void **state)
{
	struct mmpath_foresee copy;
	struct swap_sim s;
	u64 misses;

	sim_init(&s, PAGES, MEMORY, MMPATH_PREFETCH_AUTO);
	s.pays_memory = true;
	/* in 256 events, a page more would save one of them */
	s.price_step = (1 << MMPATH_PRICE_SHIFT) / 256;
	run(&s, RANDOM, 20);
	report(&s, "random, dear memory");
	assert_same(s.f.rested, 1);
	assert_same(s.f.nr_regions, 0);
	assert_same(mmpath_foresee_bytes(&s.f), 0);
	/* another mode is a wish to try */
	assert_true(s.f.all.asleep > 0);
	mmpath_foresee_set(&s.f, MMPATH_PREFETCH_AUTO, s.f.max_nodes);
	assert_true(s.f.all.asleep > 0);
	copy = s.f;
	mmpath_foresee_set(&copy, MMPATH_PREFETCH_SPACE, copy.max_nodes);
	assert_same(copy.all.asleep, 0);
	misses = s.misses;
	s.hits = 0;
	run(&s, LOOP, 40);
	report(&s, "then a loop");
	assert_same(s.f.rested, 1);
	/* of 320,000 in 40 rounds; the rest is four times as long as three rounds */
	assert_in_range(s.misses - misses, 40000, 110000);
	sim_end(&s);

	/* a loop that is hidden, but waits as long */
	sim_init(&s, PAGES, MEMORY, MMPATH_PREFETCH_AUTO);
	s.late = 2 * MMPATH_MISS;
	run(&s, LOOP, 10);
	assert_true(s.f.rested >= 1);
	assert_in_range(sim_hidden(&s), 0, 50);
	assert_same(s.f.nr_unsettled, 0);
	sim_end(&s);
	(void)state;
}

/* What was gained beyond the hits, in costs of a page that is fetched */
static s64 beyond_hits(const struct swap_sim *s)
{
	return (s->f.all.gain - (s64)s->hits * MMPATH_MISS) / (s64)s->page_cost;
}

static void count_free(struct mmpath_mem *mem, void *p, size_t bytes)
{
	(void)mem;
	(void)bytes;
	nr_frees++;
	free(p);
}

/* What is forgotten is freed after the event, however much it is: callers hold a lock in it. */
static void test_dropped(void **state)
{
	struct mmpath_foresee_dropped dropped = { .mem.free = count_free };
	struct swap_sim s;

	sim_init(&s, PAGES, MEMORY, MMPATH_PREFETCH_PPG);
	s.tm.mem.free = count_free;
	s.dropped = &dropped;
	mmpath_foresee_set(&s.f, MMPATH_PREFETCH_PPG, PAGES / 4);
	run(&s, CHASE, 5);
	assert_true(s.f.forgotten > 1);
	s.late = 2 * MMPATH_MISS;
	run(&s, CHASE, 5);
	assert_true(s.f.rested > 0);
	assert_same(mmpath_foresee_bytes(&s.f), s.tm.mem.bytes);
	/* arrays that grow free what they were */
	assert_in_range(s.most_frees, 1, 8);
	sim_end(&s);
	assert_same(dropped.mem.bytes, 0);
	(void)state;
}

/* Pages that the kernel has read ahead are no gain, however many are used. */
static void test_not_named(void **state)
{
	struct swap_sim s;
	int i;

	sim_init(&s, PAGES, MEMORY, MMPATH_PREFETCH_PPG);
	for (i = 0; i < 4096; i++) {
		struct mmpath_foresee_event e = {
			.page = s.base + i, .first = s.base, .nr = PAGES, .learning_cost = 1,
			.swapped = sim_swapped, .arg = &s,
		};
		u64 fetch[MMPATH_FORESEE_MOST];

		mmpath_foresee(&s.f, &e, fetch);
	}
	assert_same(s.f.all.gain, 0);
	assert_same(mmpath_foresee_region(&s.f, 0)->used, 0);
	sim_end(&s);
	(void)state;
}

/* A device that takes a part of each batch only: the stream goes on from there. */
static void test_cut(void **state)
{
	u64 fetch[MMPATH_FORESEE_MOST] = { 1, 2, 3 };
	struct swap_sim s;

	sim_init(&s, PAGES, MEMORY, MMPATH_PREFETCH_SPACE);
	s.room = 8;
	run(&s, LOOP, 10);
	report(&s, "a loop, 8 pages of each batch");
	assert_in_range(sim_hidden(&s), 95, 100);
	/* those until it is known that space is right, and no batch ends the stream: else 61 */
	assert_in_range(s.misses, 1, 45);
	assert_same(s.f.wrong, 0);
	assert_true(s.f.nr_unsettled <= 16);
	assert_same(mmpath_foresee_region(&s.f, 0)->fetched, s.fetches);
	/* pages and a mapping that it does not know */
	mmpath_foresee_cut(&s.f, 1, fetch, 3, 0);
	assert_same(mmpath_foresee_region(&s.f, 0)->fetched, s.fetches);
	sim_end(&s);
	(void)state;
}

/*
 * However dear it is to fetch a page, one that is used in time costs nothing more than a miss. One
 * that is not used in time does, until it is used after all.
 */
static void test_page_cost(void **state)
{
	struct swap_sim s;
	s64 before;
	u64 i;

	sim_init(&s, PAGES, MEMORY, MMPATH_PREFETCH_SPACE);
	s.page_cost = 100 * MMPATH_MISS;
	run(&s, LOOP, 2);
	for (i = 0; i < 1000; i++)
		sim_touch(&s, i);
	assert_same(s.f.rested, 0);
	assert_in_range(s.hits, 8000, 9000);
	assert_same(s.f.wrong, 0);
	assert_same(beyond_hits(&s), 0);
	assert_in_range(s.f.nr_unsettled, 30, 300);

	s.page_cost = MMPATH_MISS / 2;
	for (i = 0; i < 400; i++)
		sim_touch(&s, 1500 + i * 1237 % 2500);
	assert_in_range(s.f.wrong, 30, 1000);
	before = beyond_hits(&s);
	/* a few of them were used here, too late */
	assert_in_range(-before, s.f.wrong * 9 / 10, s.f.wrong);
	for (i = 1000; i < 1030; i++)
		sim_touch(&s, i);
	print_message("# wrong %lu: %lld, with those used later %lld\n", s.f.wrong,
		      (long long)before, (long long)beyond_hits(&s));
	assert_in_range(beyond_hits(&s) - before, 10, 30);
	sim_end(&s);
	(void)state;
}

/* Another memory has another price of a page: that is no cost. */
static void test_moved(void **state)
{
	struct swap_sim s;
	int n;

	sim_init(&s, PAGES, MEMORY, MMPATH_PREFETCH_AUTO);
	s.pays_memory = true;
	for (n = 0; n < 6; n++) {
		run(&s, CHASE, 2);
		s.price = n % 2 ? 0 : 1000ULL << MMPATH_PRICE_SHIFT;
		mmpath_foresee_moved(&s.f);
	}
	report(&s, "a chase that moves");
	assert_same(s.f.rested, 0);
	assert_same(s.f.of_graph.asleep, 0);
	assert_in_range(sim_hidden(&s), 60, 100);
	sim_end(&s);
	(void)state;
}

/* A graph whose memory is worth more than what it finds is given up, and nothing else is. */
static void test_graph_rests(void **state)
{
	struct swap_sim s;

	sim_init(&s, PAGES, MEMORY, MMPATH_PREFETCH_AUTO);
	s.price_step = (1 << MMPATH_PRICE_SHIFT) / 16;
	run(&s, CHASE, 10);
	report(&s, "a chase, dear memory");
	assert_same(s.f.graph.nr_nodes, 0);
	assert_true(s.f.of_graph.asleep > 0);
	assert_same(s.f.rested, 0);
	assert_in_range(sim_hidden(&s), 0, 30);
	run(&s, LOOP, 5);
	assert_true(s.hits > 4 * PAGES);
	sim_end(&s);

	/* while it grows it has time */
	sim_init(&s, PAGES, MEMORY, MMPATH_PREFETCH_AUTO);
	s.price_step = (1 << MMPATH_PRICE_SHIFT) / 256;
	s.pays_memory = true;
	run(&s, CHASE, 10);
	report(&s, "a chase, memory not as dear");
	assert_same(s.f.of_graph.asleep, 0);
	assert_in_range(sim_hidden(&s), 55, 100);
	sim_end(&s);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_space),
		cmocka_unit_test(test_graph),
		cmocka_unit_test(test_auto),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_hopeless),
		cmocka_unit_test(test_either),
		cmocka_unit_test(test_kept),
		cmocka_unit_test(test_change),
		cmocka_unit_test(test_mixed),
		cmocka_unit_test(test_turns),
		cmocka_unit_test(test_two_chases),
		cmocka_unit_test(test_mappings),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_rests),
		cmocka_unit_test(test_graph_rests),
		cmocka_unit_test(test_dropped),
		cmocka_unit_test(test_not_named),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_page_cost),
		cmocka_unit_test(test_moved),
	};

	cmocka_set_test_filter(getenv("UNIT_FILTER"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
