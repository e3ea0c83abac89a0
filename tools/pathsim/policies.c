// SPDX-License-Identifier: GPL-2.0
/* LRU, MRU, CLOCK, the two lists of Linux, and Belady's OPT; others are in models.c. */
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "list.h"

void *sim_alloc(size_t nr, size_t bytes)
{
	void *p = calloc(nr ? nr : 1, bytes);

	if (!p) {
		fputs("pathsim: no memory\n", stderr);
		exit(EX_OSERR);
	}
	return p;
}

/* LRU and MRU: one list, the page touched last first. */

struct recency {
	struct links links;
	uint32_t head, size, used;
	bool *resident;
};

static void *recency_create(uint32_t size, const struct trace *t)
{
	struct recency *s = sim_alloc(1, sizeof(*s));

	links_init(&s->links, t->pages, 1);
	s->head = t->pages;
	s->size = size;
	s->resident = sim_alloc(t->pages, sizeof(*s->resident));
	return s;
}

static void recency_destroy(void *sim)
{
	struct recency *s = sim;

	links_destroy(&s->links);
	free(s->resident);
	free(s);
}

static void recency_evict(void *sim, uint32_t page)
{
	struct recency *s = sim;

	list_del(&s->links, page);
	s->resident[page] = false;
	s->used--;
}

static uint32_t lru_reclaim(void *sim)
{
	struct recency *s = sim;
	uint32_t page = list_last(&s->links, s->head);

	recency_evict(s, page);
	return page;
}

static bool recency_access(struct recency *s, uint32_t page, bool evict_first)
{
	if (s->resident[page]) {
		list_move(&s->links, s->head, page);
		return true;
	}
	if (s->used == s->size && evict_first)
		recency_evict(s, list_first(&s->links, s->head));
	else if (s->used == s->size)
		lru_reclaim(s);
	list_add(&s->links, s->head, page);
	s->resident[page] = true;
	s->used++;
	return false;
}

static bool lru_access(void *sim, uint32_t page, size_t i)
{
	(void)i;
	return recency_access(sim, page, false);
}

static bool mru_access(void *sim, uint32_t page, size_t i)
{
	(void)i;
	return recency_access(sim, page, true);
}

const struct policy lru_policy = {
	.name = "lru", .about = "least recently used", .create = recency_create,
	.access = lru_access, .destroy = recency_destroy, .evict = recency_evict,
	.reclaim = lru_reclaim,
};

const struct policy mru_policy = {
	.name = "mru", .about = "most recently used", .create = recency_create,
	.access = mru_access, .destroy = recency_destroy,
};

/* CLOCK: a hand goes round the frames and gives who was touched another chance. */

struct clock_sim {
	uint32_t *frame, *where;	/* page in a frame; frame of a page, from 1 */
	bool *touched;			/* by frame */
	uint32_t size, used, hand;
};

static void *clock_create(uint32_t size, const struct trace *t)
{
	struct clock_sim *s = sim_alloc(1, sizeof(*s));

	s->frame = sim_alloc(size, sizeof(*s->frame));
	s->touched = sim_alloc(size, sizeof(*s->touched));
	s->where = sim_alloc(t->pages, sizeof(*s->where));
	s->size = size;
	return s;
}

static void clock_destroy(void *sim)
{
	struct clock_sim *s = sim;

	free(s->frame);
	free(s->touched);
	free(s->where);
	free(s);
}

static uint32_t clock_victim(struct clock_sim *s)
{
	uint32_t frame;

	while (s->touched[s->hand]) {
		s->touched[s->hand] = false;
		s->hand = (s->hand + 1) % s->size;
	}
	frame = s->hand;
	s->hand = (s->hand + 1) % s->size;
	s->where[s->frame[frame]] = 0;
	return frame;
}

static bool clock_access(void *sim, uint32_t page, size_t i)
{
	struct clock_sim *s = sim;
	uint32_t frame;

	(void)i;
	if (s->where[page]) {
		s->touched[s->where[page] - 1] = true;
		return true;
	}
	frame = s->used < s->size ? s->used++ : clock_victim(s);
	s->frame[frame] = page;
	s->where[page] = frame + 1;
	s->touched[frame] = true;
	return false;
}

const struct policy clock_policy = {
	.name = "clock", .about = "second chance, one hand", .create = clock_create,
	.access = clock_access, .destroy = clock_destroy,
};

/*
 * The classic LRU of Linux 6.12 for anonymous memory that is all mapped (mm/vmscan.c,
 * mm/workingset.c), a page at a time: pages start on the inactive list with their
 * accessed bit set by the fault. Reclaim looks at its tail; who was accessed stays,
 * and becomes active the second time. The active list is kept no longer than the
 * inactive one (inactive_is_low() below 1 GiB), its tail goes over without a look at
 * the accessed bit. A page that comes back within the size of the active list, in
 * evictions and activations, becomes active at once.
 */
enum { INACTIVE, ACTIVE, OUT };

struct twolist {
	struct links links;
	uint32_t head[2], nr[2], size, pages;
	uint8_t *list;			/* of a page */
	bool *accessed, *referenced, *known;
	size_t age, *left_at;		/* nonresident_age, and what it was */
};

static void *twolist_create(uint32_t size, const struct trace *t)
{
	struct twolist *s = sim_alloc(1, sizeof(*s));

	links_init(&s->links, t->pages, 2);
	s->head[INACTIVE] = t->pages;
	s->head[ACTIVE] = t->pages + 1;
	s->size = size;
	s->pages = t->pages;
	s->list = sim_alloc(t->pages, sizeof(*s->list));
	memset(s->list, OUT, t->pages);
	s->accessed = sim_alloc(t->pages, sizeof(bool));
	s->referenced = sim_alloc(t->pages, sizeof(bool));
	s->known = sim_alloc(t->pages, sizeof(bool));
	s->left_at = sim_alloc(t->pages, sizeof(*s->left_at));
	return s;
}

static void twolist_destroy(void *sim)
{
	struct twolist *s = sim;

	links_destroy(&s->links);
	free(s->list);
	free(s->accessed);
	free(s->referenced);
	free(s->known);
	free(s->left_at);
	free(s);
}

static void twolist_put(struct twolist *s, uint32_t page, uint8_t list)
{
	if (s->list[page] != OUT) {
		list_del(&s->links, page);
		s->nr[s->list[page]]--;
	}
	s->list[page] = list;
	if (list == OUT)
		return;
	list_add(&s->links, s->head[list], page);
	s->nr[list]++;
}

static void twolist_balance(struct twolist *s)
{
	uint32_t page;

	while (s->nr[INACTIVE] < s->nr[ACTIVE]) {
		page = list_last(&s->links, s->head[ACTIVE]);
		s->accessed[page] = false;
		s->referenced[page] = false;
		twolist_put(s, page, INACTIVE);
	}
}

static void twolist_evict(void *sim, uint32_t page)
{
	struct twolist *s = sim;

	twolist_put(s, page, OUT);
	s->known[page] = true;
	s->left_at[page] = s->age++;
}

static uint32_t twolist_reclaim(void *sim)
{
	struct twolist *s = sim;
	uint32_t page;

	for (;;) {
		twolist_balance(s);
		page = list_last(&s->links, s->head[INACTIVE]);
		if (!s->accessed[page])
			break;
		s->accessed[page] = false;
		if (s->referenced[page]) {
			s->age++;
			twolist_put(s, page, ACTIVE);
		} else {
			s->referenced[page] = true;
			twolist_put(s, page, INACTIVE);
		}
	}
	twolist_evict(s, page);
	return page;
}

static bool twolist_access(void *sim, uint32_t page, size_t i)
{
	struct twolist *s = sim;
	bool back;

	(void)i;
	if (s->list[page] != OUT) {
		s->accessed[page] = true;
		return true;
	}
	back = s->known[page] && s->age - s->left_at[page] <= s->nr[ACTIVE];
	if (s->nr[INACTIVE] + s->nr[ACTIVE] == s->size)
		twolist_reclaim(s);
	s->accessed[page] = true;
	s->referenced[page] = false;
	s->age += back;
	twolist_put(s, page, back ? ACTIVE : INACTIVE);
	return false;
}

const struct policy twolist_policy = {
	.name = "twolist", .about = "active and inactive list, as Linux 6.12",
	.create = twolist_create, .access = twolist_access, .destroy = twolist_destroy,
	.evict = twolist_evict, .reclaim = twolist_reclaim,
};

/*
 * OPT (Belady 1966): who is touched again last leaves. A heap of next uses, in which
 * an entry is out of date when its page has been touched since.
 */
struct opt {
	const size_t *next;
	struct use {
		size_t when;
		uint32_t page;
	} *heap;
	size_t nr, room;
	size_t *when;			/* of a page that is in memory, next use + 1 */
	uint32_t size, used;
};

static void *opt_create(uint32_t size, const struct trace *t)
{
	struct opt *s = sim_alloc(1, sizeof(*s));

	s->next = t->next;
	s->room = 2 * (size_t)size + 16;
	s->heap = sim_alloc(s->room, sizeof(*s->heap));
	s->when = sim_alloc(t->pages, sizeof(*s->when));
	s->size = size;
	return s;
}

static void opt_destroy(void *sim)
{
	struct opt *s = sim;

	free(s->heap);
	free(s->when);
	free(s);
}

static bool opt_current(const struct opt *s, const struct use *u)
{
	return s->when[u->page] == u->when;
}

static void opt_down(struct opt *s, size_t i)
{
	struct use u = s->heap[i];
	size_t child;

	for (; (child = 2 * i + 1) < s->nr; i = child) {
		if (child + 1 < s->nr && s->heap[child + 1].when > s->heap[child].when)
			child++;
		if (s->heap[child].when <= u.when)
			break;
		s->heap[i] = s->heap[child];
	}
	s->heap[i] = u;
}

/* Those out of date go, when they are half of the heap. */
static void opt_clean(struct opt *s)
{
	size_t i, nr = 0;

	for (i = 0; i < s->nr; i++)
		if (opt_current(s, &s->heap[i]))
			s->heap[nr++] = s->heap[i];
	s->nr = nr;
	for (i = nr / 2; i--; )
		opt_down(s, i);
}

static void opt_push(struct opt *s, size_t when, uint32_t page)
{
	size_t i, up;

	if (s->nr == s->room)
		opt_clean(s);
	for (i = s->nr++; i; i = up) {
		up = (i - 1) / 2;
		if (s->heap[up].when >= when)
			break;
		s->heap[i] = s->heap[up];
	}
	s->heap[i] = (struct use){ when, page };
}

static void opt_evict(struct opt *s)
{
	struct use u;

	do {
		u = s->heap[0];
		s->heap[0] = s->heap[--s->nr];
		if (s->nr)
			opt_down(s, 0);
	} while (!opt_current(s, &u));
	s->when[u.page] = 0;
	s->used--;
}

static bool opt_access(void *sim, uint32_t page, size_t i)
{
	struct opt *s = sim;
	/* those that are never touched again are the last of all, one like the other */
	size_t when = s->next[i] == NEVER ? NEVER : s->next[i] + 1;
	bool hit = s->when[page];

	if (hit && s->when[page] == when)
		return true;
	if (!hit && s->used == s->size)
		opt_evict(s);
	s->used += !hit;
	s->when[page] = when;
	opt_push(s, when, page);
	return hit;
}

const struct policy opt_policy = {
	.name = "opt", .about = "Belady's optimum, which knows the future", .wants_next = true,
	.create = opt_create, .access = opt_access, .destroy = opt_destroy,
};

const struct policy *const policies[] = {
	&lru_policy, &mru_policy, &clock_policy, &twolist_policy, &lirs_policy,
	&fixed_policy, &region_policy, &auto_policy, &opt_policy, NULL,
};

const struct policy *policy_by_name(const char *name)
{
	int i;

	for (i = 0; policies[i]; i++)
		if (!strcmp(policies[i]->name, name))
			return policies[i];
	return NULL;
}

/**
 * policy_next_uses() - fill in when each page is touched again
 * @t: the trace
 *
 * Before the part that counts: when in that, for Belady's optimum of the whole is not that of a
 * part. What memory holds when it begins is the best that can be had by then.
 */
void policy_next_uses(struct trace *t)
{
	size_t *at = sim_alloc(t->pages, sizeof(*at)), i;

	free(t->next);
	t->next = sim_alloc(t->n, sizeof(*t->next));
	for (i = 0; i < t->pages; i++)
		at[i] = NEVER;
	for (i = t->n; i--; ) {
		t->next[i] = at[t->page[i]];
		if (i >= t->begin)
			at[t->page[i]] = i;
	}
	free(at);
}

/**
 * policy_misses() - of a trace with so much memory
 * @p: the policy
 * @size: of memory, pages; 0: all miss
 * @t: the trace
 *
 * Return: misses from .begin on, first touches among them.
 */
size_t policy_misses(const struct policy *p, uint32_t size, const struct trace *t)
{
	size_t i, misses = 0;
	void *sim;

	if (!size)
		return t->n - t->begin;
	/* a larger memory than that is never full either */
	sim = p->create(size < t->pages ? size : t->pages, t);
	for (i = 0; i < t->n; i++)
		misses += !p->access(sim, t->page[i], i) && i >= t->begin;
	p->destroy(sim);
	return misses;
}
