// SPDX-License-Identifier: GPL-2.0
/*
 * Prefetching: an LRU memory with a swap device that takes its time, and what guesses which
 * pages to read ahead. The kernel's own models are in foresight.c.
 *
 *	touch -- in memory:			goes to the top
 *	      -- read ahead, not touched yet:	a hit, which waits if it is late
 *	      -- in swap:			a miss; the page is read first, then what is guessed
 *	      -- new:				a page of zeros, dirty
 *
 * The device has places, and a page takes one of them for its latency. Pages that leave memory
 * dirty are written and take a place, too, and nobody waits for them. Pages on their way do not
 * leave. CPU of reading ahead is spent before the program goes on, as in a fault.
 */
#include <string.h>

#include "list.h"
#include "prefetch.h"

struct prefetch_options prefetch_options = {
	.latency = 100 * 1000, .depth = 32,
	.touch = 1000, .fault = 4000, .hit = 1000, .page = 2000,
};

/* The layout */

#define PMD_PAGES	512	/* VMA readahead does not go beyond them */
#define PROGRAM_SHIFT	45	/* of the name of a page: see trace.c */

static int by_name(const void *a, const void *b, void *names)
{
	const uint64_t *name = names, x = name[*(uint32_t *)a], y = name[*(uint32_t *)b];

	return (x > y) - (x < y);
}

static void layout_sort(struct layout *l, const struct trace *t)
{
	uint32_t i;

	for (i = 0; i < t->pages; i++)
		l->page[i] = i;
	qsort_r(l->page, t->pages, sizeof(*l->page), by_name, t->name);
	for (i = 0; i < t->pages; i++)
		l->rank[l->page[i]] = i;
}

static void layout_begin_mapping(struct layout *l, uint32_t rank, uint64_t end, bool program)
{
	uint64_t name = l->t->name[l->page[rank]];

	l->programs += program;
	/* apart from the one before, with the same place among the pages of a page table */
	l->mapping[l->mappings++] = (struct mapping){
		.first = (end / PMD_PAGES + 1) * PMD_PAGES + name % PMD_PAGES,
		.rank = rank, .program = l->programs - 1,
	};
}

/**
 * layout_create() - find the mappings of a trace
 * @t: the trace
 *
 * A mapping is what lies together without a gap of SIM_REGION_GAP pages that are never touched.
 * Addresses are not those of the trace: gaps between mappings are left out.
 *
 * Return: the layout.
 */
struct layout *layout_create(const struct trace *t)
{
	struct layout *l = sim_alloc(1, sizeof(*l));
	uint64_t name, last = 0, end = 0;
	struct mapping *m = NULL;
	bool program;
	uint32_t i;

	l->t = t;
	l->address = sim_alloc(t->pages, sizeof(*l->address));
	l->page = sim_alloc(t->pages, sizeof(*l->page));
	l->rank = sim_alloc(t->pages, sizeof(*l->rank));
	l->map = sim_alloc(t->pages, sizeof(*l->map));
	l->mapping = sim_alloc(t->pages, sizeof(*l->mapping));
	layout_sort(l, t);
	for (i = 0; i < t->pages; i++, last = name) {
		name = t->name[l->page[i]];
		program = !i || name >> PROGRAM_SHIFT != last >> PROGRAM_SHIFT;
		if (program || name - last >= SIM_REGION_GAP) {
			layout_begin_mapping(l, i, end, program);
			m = &l->mapping[l->mappings - 1];
			end = m->first;
		} else {
			end += name - last;
		}
		l->address[i] = end;
		l->map[l->page[i]] = l->mappings - 1;
		m->nr = end - m->first + 1;
		m->touched++;
	}
	return l;
}

void layout_destroy(struct layout *l)
{
	free(l->address);
	free(l->page);
	free(l->rank);
	free(l->map);
	free(l->mapping);
	free(l);
}

uint64_t layout_address(const struct layout *l, uint32_t page)
{
	return l->address[l->rank[page]];
}

/**
 * layout_page() - which page is at an address?
 * @l: the layout
 * @m: a mapping
 * @address: the address
 *
 * Return: the page, or NO_PAGE: none in that mapping is ever touched there.
 */
uint32_t layout_page(const struct layout *l, const struct mapping *m, uint64_t address)
{
	uint32_t low = m->rank, high, middle;
	uint64_t most = address - m->first;

	if (most >= m->nr)
		return NO_PAGE;
	/* no further than if all pages before it are touched, and mostly there */
	high = low + (most < m->touched ? most : m->touched - 1);
	for (middle = high; l->address[middle] != address; middle = low + (high - low) / 2) {
		if (low == high)
			return NO_PAGE;
		if (l->address[middle] < address)
			low = middle + 1;
		else
			high = middle;
		if (low > high)
			return NO_PAGE;
	}
	return l->page[middle];
}

/*
 * The swap area, as mm/swapfile.c of Linux 6.12 fills it: slots are given in order in a cluster
 * that was free, and then in the next. When no cluster is free, one that is partly used comes.
 * The first slot is the header.
 */
#define CLUSTER		512U
#define NO_CLUSTER	UINT32_MAX
#define AREA_LEAST	(128 * CLUSTER)

struct area {
	uint32_t *page;			/* by slot: page + 1; 0: free */
	uint32_t *used;			/* by cluster */
	struct links links;		/* of clusters */
	uint32_t clusters, cluster, next;
	uint32_t free, partly;		/* heads; what was put first is the last */
};

static void area_init(struct area *a, uint32_t pages)
{
	uint32_t i;

	a->clusters = (2 * (uint64_t)pages + AREA_LEAST + CLUSTER - 1) / CLUSTER;
	a->page = sim_alloc((size_t)a->clusters * CLUSTER, sizeof(*a->page));
	a->used = sim_alloc(a->clusters, sizeof(*a->used));
	links_init(&a->links, a->clusters, 2);
	a->free = a->clusters;
	a->partly = a->clusters + 1;
	for (i = 1; i < a->clusters; i++)
		list_add(&a->links, a->free, i);
	a->cluster = 0;
	a->used[0] = 1;
	a->next = 1;
}

static void area_destroy(struct area *a)
{
	free(a->page);
	free(a->used);
	links_destroy(&a->links);
}

/* Put a cluster that is not in use where it is found. */
static void area_put(struct area *a, uint32_t cluster)
{
	list_del(&a->links, cluster);
	if (!a->used[cluster])
		list_add(&a->links, a->free, cluster);
	else if (a->used[cluster] < CLUSTER)
		list_add(&a->links, a->partly, cluster);
}

static void area_next_cluster(struct area *a)
{
	area_put(a, a->cluster);
	a->cluster = list_last(&a->links, list_empty(&a->links, a->free) ? a->partly : a->free);
	list_del(&a->links, a->cluster);
	a->next = !a->cluster;
}

static uint32_t area_get(struct area *a, uint32_t page)
{
	uint32_t slot;

	do {
		while (a->next < CLUSTER && a->page[a->cluster * CLUSTER + a->next])
			a->next++;
		if (a->next == CLUSTER)
			area_next_cluster(a);
		slot = a->cluster * CLUSTER + a->next;
	} while (a->page[slot]);
	a->page[slot] = page + 1;
	a->used[a->cluster]++;
	return slot;
}

static void area_free(struct area *a, uint32_t slot)
{
	uint32_t cluster = slot / CLUSTER;
	bool full = a->used[cluster]-- == CLUSTER;

	a->page[slot] = 0;
	/* one that is partly used keeps its turn */
	if (cluster != a->cluster && (full || !a->used[cluster]))
		area_put(a, cluster);
}

/* The machine */

enum where { NEW, RESIDENT, AHEAD, SWAPPED };

struct machine {
	const struct prefetcher *prefetcher;
	void *guess;			/* the prefetcher's */
	const struct layout *layout;
	const struct trace *t;
	struct prefetch_result *result;
	uint32_t size, used, page;	/* @page: that is touched */
	uint32_t *in_swap;		/* by program: not touched since they left memory */
	uint8_t *where;
	bool *dirty;
	uint32_t *slot;			/* 0: has none */
	uint64_t *ready;		/* when it is read */
	uint32_t *ahead_at;		/* miss or hit at which it was read ahead */
	size_t *next_use;
	struct links pab;
	bool *in_pab;
	uint32_t nr_pab;
	struct links lru, ahead;	/* ahead: not touched yet, and not known to be of no use */
	struct area area;
	uint64_t now, *place;		/* of the device: free again then */
	uint32_t events;		/* misses and hits */
	size_t left_until;		/* first use of a page that left memory, see the oracle */
};

const struct layout *machine_layout(const struct machine *m)
{
	return m->layout;
}

/* Not in memory, or read ahead and not touched yet: the page table has a swap entry. */
bool machine_in_swap(const struct machine *m, uint32_t page)
{
	return m->where[page] == SWAPPED || m->where[page] == AHEAD;
}

uint32_t machine_nr_in_swap(const struct machine *m, uint32_t program)
{
	return m->in_swap[program];
}

uint32_t machine_used(const struct machine *m)
{
	return m->used;
}

/* Returns when it is done. */
static uint64_t device_take(struct machine *m)
{
	uint32_t i, first = 0;

	for (i = 1; i < prefetch_options.depth; i++)
		if (m->place[i] < m->place[first])
			first = i;
	if (m->place[first] < m->now)
		m->place[first] = m->now;
	return m->place[first] += prefetch_options.latency;
}

static bool device_busy(const struct machine *m)
{
	uint32_t i;

	for (i = 0; i < prefetch_options.depth; i++)
		if (m->place[i] <= m->now)
			return false;
	return true;
}

static uint32_t *machine_nr_of(struct machine *m, uint32_t page)
{
	return &m->in_swap[m->layout->mapping[m->layout->map[page]].program];
}

static void machine_write(struct machine *m, uint32_t page)
{
	m->slot[page] = area_get(&m->area, page);
	m->dirty[page] = false;
	device_take(m);
}

static void machine_drop(struct machine *m, uint32_t page)
{
	if (m->where[page] == AHEAD) {
		m->result->unused++;
		list_del(&m->ahead, page);
	} else {
		(*machine_nr_of(m, page))++;
	}
	if (m->dirty[page])
		machine_write(m, page);
	list_del(&m->lru, page);
	m->where[page] = SWAPPED;
	m->used--;
	if (m->next_use[page] < m->left_until)
		m->left_until = m->next_use[page];
}

/* The page that would leave next, or NO_PAGE */
static uint32_t machine_victim(const struct machine *m)
{
	uint32_t head = m->t->pages, page = list_last(&m->lru, head);

	while (page != head && (m->ready[page] > m->now || page == m->page))
		page = m->lru.prev[page];
	return page == head ? NO_PAGE : page;
}

static void machine_make_room(struct machine *m)
{
	uint32_t page;

	while (m->used == m->size) {
		page = machine_victim(m);
		if (page != NO_PAGE)
			machine_drop(m, page);
		else
			m->now = m->ready[list_last(&m->lru, m->t->pages)];
	}
}

static void machine_add(struct machine *m, uint32_t page, enum where where)
{
	m->where[page] = where;
	m->used++;
	list_add(&m->lru, m->t->pages, page);
}

/**
 * machine_fetch() - read a page ahead
 * @m: the machine
 * @page: the page; nothing is done if it is in memory
 *
 * Return: false if memory has no room for it.
 */
bool machine_fetch(struct machine *m, uint32_t page)
{
	uint32_t victim;

	if (m->where[page] != SWAPPED)
		return true;
	if (m->used == m->size) {
		victim = machine_victim(m);
		if (victim == NO_PAGE)
			return false;
		machine_drop(m, victim);
	}
	if (!m->prefetcher->free)
		m->now += prefetch_options.page;
	m->ready[page] = device_take(m);
	machine_add(m, page, AHEAD);
	list_add(&m->ahead, m->t->pages, page);
	m->ahead_at[page] = m->events;
	m->result->fetched++;
	return true;
}

/**
 * machine_logs() - put a page that was touched into the page access buffer
 * @m: the machine
 * @page: the page
 *
 * Return: true if it was not there, so that the touch is logged, which takes its time.
 */
bool machine_logs(struct machine *m, uint32_t page)
{
	uint32_t head = m->t->pages;
	bool hot = m->in_pab[page];

	list_move(&m->pab, head, page);
	if (hot)
		return false;
	m->in_pab[page] = true;
	if (m->nr_pab == sim_options.pab) {
		m->in_pab[list_last(&m->pab, head)] = false;
		list_del(&m->pab, list_last(&m->pab, head));
	} else {
		m->nr_pab++;
	}
	m->now += prefetch_options.record;
	m->result->records++;
	return true;
}

/* What was read ahead and is not used soon goes to the end that leaves first. */
static void machine_age(struct machine *m)
{
	uint32_t head = m->t->pages, page;

	m->events++;
	for (;;) {
		page = list_last(&m->ahead, head);
		if (page == head || m->events - m->ahead_at[page] <= PREFETCH_SOON)
			return;
		list_del(&m->ahead, page);
		if (!m->prefetcher->unused_first)
			continue;
		list_del(&m->lru, page);
		list_add(&m->lru, list_last(&m->lru, head), page);
	}
}

static void machine_event(struct machine *m, uint32_t page, bool miss)
{
	(*machine_nr_of(m, page))--;
	machine_age(m);
	if (m->prefetcher->event)
		m->prefetcher->event(m->guess, page, miss);
}

static void machine_hit(struct machine *m, uint32_t page)
{
	m->result->hits++;
	m->result->soon += m->events + 1 - m->ahead_at[page] <= PREFETCH_SOON;
	m->result->late += m->ready[page] > m->now;
	m->now += prefetch_options.hit;
	if (m->now < m->ready[page])
		m->now = m->ready[page];
	list_del(&m->ahead, page);
	list_move(&m->lru, m->t->pages, page);
	m->where[page] = RESIDENT;
	machine_event(m, page, false);
}

static void machine_miss(struct machine *m, uint32_t page)
{
	m->result->misses++;
	machine_make_room(m);
	m->now += prefetch_options.fault;
	m->ready[page] = device_take(m);
	machine_add(m, page, RESIDENT);
	machine_event(m, page, true);
	if (m->now < m->ready[page])
		m->now = m->ready[page];
}

/* Returns true for a miss. */
static bool machine_touch(struct machine *m, uint32_t page, bool write)
{
	uint8_t was = m->where[page];

	m->now += prefetch_options.touch;
	m->page = page;
	if (was == NEW) {
		machine_make_room(m);
		machine_add(m, page, RESIDENT);
	} else if (was == AHEAD) {
		machine_hit(m, page);
	} else if (was == SWAPPED) {
		machine_miss(m, page);
	} else {
		list_move(&m->lru, m->t->pages, page);
	}
	if ((write || was == NEW) && !m->dirty[page]) {
		m->dirty[page] = true;
		if (m->slot[page])
			area_free(&m->area, m->slot[page]);
		m->slot[page] = 0;
	}
	return was == SWAPPED;
}

static void machine_init(struct machine *m, const struct layout *l, uint32_t size)
{
	const struct trace *t = l->t;

	memset(m, 0, sizeof(*m));
	m->layout = l;
	m->t = t;
	/* a larger memory than that is never full either */
	m->size = size < t->pages ? size : t->pages;
	m->in_swap = sim_alloc(l->programs, sizeof(*m->in_swap));
	m->where = sim_alloc(t->pages, sizeof(*m->where));
	m->dirty = sim_alloc(t->pages, sizeof(*m->dirty));
	m->slot = sim_alloc(t->pages, sizeof(*m->slot));
	m->ready = sim_alloc(t->pages, sizeof(*m->ready));
	m->ahead_at = sim_alloc(t->pages, sizeof(*m->ahead_at));
	m->next_use = sim_alloc(t->pages, sizeof(*m->next_use));
	m->place = sim_alloc(prefetch_options.depth, sizeof(*m->place));
	links_init(&m->lru, t->pages, 1);
	links_init(&m->ahead, t->pages, 1);
	links_init(&m->pab, t->pages, 1);
	m->in_pab = sim_alloc(t->pages, sizeof(*m->in_pab));
	area_init(&m->area, t->pages);
	m->left_until = NEVER;
}

static void machine_destroy(struct machine *m)
{
	free(m->in_swap);
	free(m->where);
	free(m->dirty);
	free(m->slot);
	free(m->ready);
	free(m->ahead_at);
	free(m->next_use);
	free(m->place);
	links_destroy(&m->lru);
	links_destroy(&m->ahead);
	links_destroy(&m->pab);
	free(m->in_pab);
	area_destroy(&m->area);
}

/**
 * prefetch_run() - run a program
 * @p: the prefetcher
 * @size: of memory, pages; at least 1
 * @l: the layout of its trace
 * @missed: by touch: it misses without prefetching. The first of all prefetchers fills it in.
 * @r: result
 */
void prefetch_run(const struct prefetcher *p, uint32_t size, const struct layout *l,
		  bool *missed, struct prefetch_result *r)
{
	const struct trace *t = l->t;
	struct machine m;
	uint64_t begin = 0;
	size_t i;
	bool miss;

	machine_init(&m, l, size);
	m.prefetcher = p;
	m.result = r;
	m.guess = p->create ? p->create(&m) : NULL;
	memset(r, 0, sizeof(*r));
	for (i = 0; i < t->n; i++) {
		if (i == t->begin) {
			memset(r, 0, sizeof(*r));
			begin = m.now;
		}
		m.next_use[t->page[i]] = t->next[i];
		miss = machine_touch(&m, t->page[i], t->write[i]);
		if (p == prefetchers[0])
			missed[i] = miss;
		r->pollution += miss && !missed[i];
		if (p->touch)
			p->touch(m.guess, i);
	}
	r->ns = m.now - begin;
	if (p->destroy)
		p->destroy(m.guess);
	machine_destroy(&m);
}

/* Linux 6.12 (mm/swap_state.c) */

#define RA_PAGES	8U	/* page-cluster 3 */
#define RA_HITS_FIRST	4U
#define RA_HITS_MOST	63U

/* How many pages to read, the missed one among them, after @hits since the last time? */
static uint32_t ra_pages(uint64_t last, uint64_t at, uint32_t hits, uint32_t pages_before)
{
	uint32_t pages;

	if (hits)
		for (pages = 4; pages < hits + 2; pages *= 2)
			;
	else
		pages = at == last + 1 || at == last - 1 ? 2 : 1;
	if (pages > RA_PAGES)
		pages = RA_PAGES;
	return pages < pages_before / 2 ? pages_before / 2 : pages;
}

/* Readahead in a VMA */
struct vma_ra {
	struct machine *m;
	struct {
		uint64_t last;
		uint32_t pages, hits;
	} *mapping;
};

static void *vma_create(struct machine *m)
{
	struct vma_ra *ra = sim_alloc(1, sizeof(*ra));
	uint32_t i;

	ra->m = m;
	ra->mapping = sim_alloc(m->layout->mappings, sizeof(*ra->mapping));
	for (i = 0; i < m->layout->mappings; i++)
		ra->mapping[i].hits = RA_HITS_FIRST;
	return ra;
}

static void vma_event(void *p, uint32_t page, bool miss)
{
	struct vma_ra *ra = p;
	const struct layout *l = ra->m->layout;
	const struct mapping *mapping = &l->mapping[l->map[page]];
	uint64_t at = layout_address(l, page), last = ra->mapping[l->map[page]].last, q, from, end;
	uint32_t *hits = &ra->mapping[l->map[page]].hits;
	uint32_t *pages = &ra->mapping[l->map[page]].pages;

	ra->mapping[l->map[page]].last = at;
	if (!miss) {
		*hits = *hits < RA_HITS_MOST ? *hits + 1 : RA_HITS_MOST;
		return;
	}
	*pages = ra_pages(last, at, *hits, *pages);
	*hits = 0;
	if (at == last + 1)
		from = at;
	else if (last == at + 1)
		from = at + 1 - *pages;
	else
		from = at - (*pages - 1) / 2;
	end = from + *pages;
	if (from < at / PMD_PAGES * PMD_PAGES)
		from = at / PMD_PAGES * PMD_PAGES;
	if (end > (at / PMD_PAGES + 1) * PMD_PAGES)
		end = (at / PMD_PAGES + 1) * PMD_PAGES;
	for (q = from; q < end; q++) {
		page = layout_page(l, mapping, q);
		if (page != NO_PAGE)
			machine_fetch(ra->m, page);
	}
}

static void vma_destroy(void *p)
{
	struct vma_ra *ra = p;

	free(ra->mapping);
	free(ra);
}

/* Readahead of slots */
struct cluster_ra {
	struct machine *m;
	uint32_t last, pages, hits;
};

static void *cluster_create(struct machine *m)
{
	struct cluster_ra *ra = sim_alloc(1, sizeof(*ra));

	ra->m = m;
	ra->hits = RA_HITS_FIRST;
	return ra;
}

static void cluster_event(void *p, uint32_t page, bool miss)
{
	struct cluster_ra *ra = p;
	uint32_t slot = ra->m->slot[page], hits = ra->hits, q;

	if (!miss) {
		ra->hits++;
		return;
	}
	ra->hits = 0;
	ra->pages = ra_pages(ra->last, slot, hits, ra->pages);
	if (!hits)
		ra->last = slot;
	slot -= slot % ra->pages;
	for (q = slot; q < slot + ra->pages; q++)
		if (ra->m->area.page[q])
			machine_fetch(ra->m, ra->m->area.page[q] - 1);
}

/*
 * Leap (Al Maruf and Chowdhury, ATC'20): the distance that most of the last misses and hits of
 * the program have in common (algorithm 1, Boyer and Moore's majority vote in windows that
 * double), and as many pages as were hits, or about (algorithm 2).
 */
#define LEAP_HISTORY	32
#define LEAP_SPLIT	4
#define LEAP_PAGES	8U

struct leap_program {
	int64_t delta[LEAP_HISTORY];
	uint32_t nr, hits, pages;
	uint64_t last;
	int64_t trend;			/* the last one that was found */
};

struct leap {
	struct machine *m;
	struct leap_program *program;
};

static void *leap_create(struct machine *m)
{
	struct leap *leap = sim_alloc(1, sizeof(*leap));

	leap->m = m;
	leap->program = sim_alloc(m->layout->programs, sizeof(*leap->program));
	return leap;
}

/* The delta number @i before the last one */
static int64_t leap_delta(const struct leap_program *p, uint32_t i)
{
	return p->delta[(p->nr - 1 - i) % LEAP_HISTORY];
}

static bool leap_majority(const struct leap_program *p, uint32_t window, int64_t *delta)
{
	uint32_t i, votes = 0;

	for (i = 0; i < window; i++) {
		if (!votes)
			*delta = leap_delta(p, i);
		votes += *delta == leap_delta(p, i) ? 1 : -1;
	}
	for (i = votes = 0; i < window; i++)
		votes += *delta == leap_delta(p, i);
	return votes > window / 2;
}

static bool leap_find_trend(const struct leap_program *p, int64_t *delta)
{
	uint32_t window;

	for (window = LEAP_HISTORY / LEAP_SPLIT; window <= LEAP_HISTORY; window *= 2)
		if (p->nr >= window && leap_majority(p, window, delta))
			return true;
	return false;
}

static uint32_t leap_window(struct leap_program *p, bool follows)
{
	uint32_t pages = follows;

	if (p->hits)
		for (pages = 1; pages < p->hits + 1 && pages < LEAP_PAGES; pages *= 2)
			;
	if (pages < p->pages / 2)
		pages = p->pages / 2;
	p->hits = 0;
	p->pages = pages;
	return pages;
}

static void leap_event(void *arg, uint32_t page, bool miss)
{
	struct leap *leap = arg;
	const struct layout *l = leap->m->layout;
	const struct mapping *mapping = &l->mapping[l->map[page]];
	struct leap_program *p = &leap->program[mapping->program];
	uint64_t at = layout_address(l, page);
	int64_t delta = at - p->last, trend;
	uint32_t pages;
	bool found;

	p->last = at;
	p->delta[p->nr++ % LEAP_HISTORY] = delta;
	if (!miss) {
		p->hits++;
		return;
	}
	found = leap_find_trend(p, &trend);
	if (found)
		p->trend = trend;
	for (pages = leap_window(p, found && delta == trend); pages && p->trend; pages--) {
		at += p->trend;
		page = layout_page(l, mapping, at);
		if (page != NO_PAGE)
			machine_fetch(leap->m, page);
	}
}

static void leap_destroy(void *p)
{
	struct leap *leap = p;

	free(leap->program);
	free(leap);
}

/*
 * The oracle knows which pages are touched next, and reads them ahead in that order as far as
 * the device has places, and no page leaves for one that is wanted later. In the part of the
 * trace that counts, in which the next uses are known.
 */
#define ORACLE_FAR	100000	/* touches */

struct oracle {
	struct machine *m;
	size_t ahead;
};

static void *oracle_create(struct machine *m)
{
	struct oracle *o = sim_alloc(1, sizeof(*o));

	o->m = m;
	return o;
}

/* Is the page in memory when it is touched next, as far as can be done now? */
static bool oracle_sees_to(struct oracle *o, uint32_t page)
{
	uint32_t victim;

	if (o->m->where[page] != SWAPPED)
		return true;
	if (device_busy(o->m))
		return false;
	if (o->m->used == o->m->size) {
		victim = machine_victim(o->m);
		if (victim == NO_PAGE || o->m->next_use[victim] <= o->ahead)
			return false;
	}
	return machine_fetch(o->m, page);
}

static void oracle_touch(void *p, size_t i)
{
	struct oracle *o = p;
	const struct trace *t = o->m->t;

	if (i < t->begin)
		return;
	if (o->m->left_until < o->ahead)
		o->ahead = o->m->left_until;
	o->m->left_until = NEVER;
	if (o->ahead <= i)
		o->ahead = i + 1;
	while (o->ahead < t->n && o->ahead - i <= ORACLE_FAR &&
	       oracle_sees_to(o, t->page[o->ahead]))
		o->ahead++;
}

static const struct prefetcher none_prefetcher = {
	.name = "none", .about = "no page is read ahead",
};

static const struct prefetcher vma_prefetcher = {
	.name = "vma", .about = "neighbours in the mapping, as Linux 6.12 (page-cluster 3)",
	.create = vma_create, .event = vma_event, .destroy = vma_destroy,
};

static const struct prefetcher cluster_prefetcher = {
	.name = "cluster", .about = "neighbours in the swap area, as Linux 6.12 (page-cluster 3)",
	.create = cluster_create, .event = cluster_event, .destroy = free,
};

static const struct prefetcher leap_prefetcher = {
	.name = "leap", .about = "the stride of most of the last misses (ATC'20)",
	.create = leap_create, .event = leap_event, .destroy = leap_destroy,
};

static const struct prefetcher oracle_prefetcher = {
	.name = "oracle", .about = "the pages that are touched next; takes no CPU", .free = true,
	.create = oracle_create, .touch = oracle_touch, .destroy = free,
};

const struct prefetcher *const prefetchers[] = {
	&none_prefetcher, &vma_prefetcher, &cluster_prefetcher, &leap_prefetcher,
	&space_prefetcher, &ppg_prefetcher, &auto_prefetcher, &oracle_prefetcher, NULL,
};

const struct prefetcher *prefetcher_by_name(const char *name)
{
	int i;

	for (i = 0; prefetchers[i]; i++)
		if (!strcmp(prefetchers[i]->name, name))
			return prefetchers[i];
	return NULL;
}
