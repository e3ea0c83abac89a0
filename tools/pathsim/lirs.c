// SPDX-License-Identifier: GPL-2.0
/*
 * LIRS (Jiang and Zhang, SIGMETRICS 2002): pages are ranked by how far apart their
 * last two touches were. Those with the smallest distances (LIR) fill all of memory
 * but for a hundredth; others (HIR) pass through that.
 *
 * Stack S holds, by the time of their last touch, LIR pages, and HIR pages touched
 * since the oldest LIR page was, also such as have left memory. A page of the latter
 * two kinds that is touched has a smaller distance than the LIR page at the bottom,
 * and takes its place. Queue Q holds the HIR pages that are in memory.
 *
 * What has left memory and is still in S is bounded, to twice the size of memory: the
 * one that left first is forgotten.
 */
#include "list.h"

enum { NONE, LIR, HIR, GHOST };		/* GHOST: HIR, in S, not in memory */

struct lirs {
	struct links s, q;		/* q: also the ghosts, which are not in Q */
	uint32_t stack, queue, ghosts;	/* heads */
	uint8_t *kind;
	bool *in_stack;
	uint32_t size, lirs, most_lirs, nr_ghosts, used;
};

static void *lirs_create(uint32_t size, const struct trace *t)
{
	struct lirs *l = sim_alloc(1, sizeof(*l));
	uint32_t hirs = size / 100 ? size / 100 : 1;

	links_init(&l->s, t->pages, 1);
	links_init(&l->q, t->pages, 2);
	l->stack = t->pages;
	l->queue = t->pages;
	l->ghosts = t->pages + 1;
	l->kind = sim_alloc(t->pages, sizeof(*l->kind));
	l->in_stack = sim_alloc(t->pages, sizeof(*l->in_stack));
	l->size = size;
	l->most_lirs = size - hirs;
	return l;
}

static void lirs_destroy(void *sim)
{
	struct lirs *l = sim;

	links_destroy(&l->s);
	links_destroy(&l->q);
	free(l->kind);
	free(l->in_stack);
	free(l);
}

static void leave_stack(struct lirs *l, uint32_t page)
{
	list_del(&l->s, page);
	l->in_stack[page] = false;
}

static void to_top(struct lirs *l, uint32_t page)
{
	list_move(&l->s, l->stack, page);
	l->in_stack[page] = true;
}

static void forget_ghost(struct lirs *l, uint32_t page)
{
	list_del(&l->q, page);
	l->nr_ghosts--;
	l->kind[page] = NONE;
}

/* At the bottom there is a LIR page: what is below has no smaller distance. */
static void prune(struct lirs *l)
{
	uint32_t page;

	while (!list_empty(&l->s, l->stack)) {
		page = list_last(&l->s, l->stack);
		if (l->kind[page] == LIR)
			break;
		leave_stack(l, page);
		if (l->kind[page] == GHOST)
			forget_ghost(l, page);
	}
}

static void evict(struct lirs *l)
{
	uint32_t page = list_last(&l->q, l->queue), old;

	list_del(&l->q, page);
	l->used--;
	l->kind[page] = NONE;
	if (!l->in_stack[page])
		return;
	l->kind[page] = GHOST;
	list_add(&l->q, l->ghosts, page);
	if (++l->nr_ghosts <= 2 * (uint64_t)l->size)
		return;
	old = list_last(&l->q, l->ghosts);
	forget_ghost(l, old);
	leave_stack(l, old);
}

/* The LIR page at the bottom becomes HIR, for another has taken its place. */
static void demote_bottom(struct lirs *l)
{
	uint32_t page = list_last(&l->s, l->stack);

	leave_stack(l, page);
	l->kind[page] = HIR;
	l->lirs--;
	list_add(&l->q, l->queue, page);
	prune(l);
}

static void promote(struct lirs *l, uint32_t page)
{
	l->kind[page] = LIR;
	l->lirs++;
	to_top(l, page);
	if (l->lirs > l->most_lirs)
		demote_bottom(l);
}

static void hit(struct lirs *l, uint32_t page)
{
	if (l->kind[page] == LIR) {
		to_top(l, page);
		prune(l);
	} else if (l->in_stack[page] && l->most_lirs) {
		list_del(&l->q, page);
		promote(l, page);
	} else {
		to_top(l, page);
		list_move(&l->q, l->queue, page);
		prune(l);
	}
}

static bool lirs_access(void *sim, uint32_t page, size_t i)
{
	struct lirs *l = sim;
	bool ghost;

	(void)i;
	if (l->kind[page] == LIR || l->kind[page] == HIR) {
		hit(l, page);
		return true;
	}
	if (l->used == l->size)
		evict(l);
	l->used++;
	ghost = l->kind[page] == GHOST;
	if (ghost)
		forget_ghost(l, page);
	if ((ghost && l->most_lirs) || l->lirs < l->most_lirs) {
		promote(l, page);
	} else {
		l->kind[page] = HIR;
		to_top(l, page);
		list_add(&l->q, l->queue, page);
		prune(l);
	}
	return false;
}

const struct policy lirs_policy = {
	.name = "lirs", .about = "low inter-reference recency set, 1 % HIR",
	.create = lirs_create, .access = lirs_access, .destroy = lirs_destroy,
};
