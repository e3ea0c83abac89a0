/* SPDX-License-Identifier: GPL-2.0 */
/* Doubly linked lists of pages, in two arrays for all lists of a simulation. */
#ifndef _PATHSIM_LIST_H
#define _PATHSIM_LIST_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "policy.h"

/**
 * struct links - of as many pages, and behind them the heads of lists
 * @next: towards the tail, ends at the head of the list
 * @prev: towards the head
 */
struct links {
	uint32_t *next, *prev;
};

static inline void links_init(struct links *l, uint32_t pages, unsigned int lists)
{
	uint32_t i;

	l->next = sim_alloc((size_t)pages + lists, sizeof(*l->next));
	l->prev = sim_alloc((size_t)pages + lists, sizeof(*l->prev));
	for (i = 0; i < pages + lists; i++)
		l->next[i] = l->prev[i] = i;
}

static inline void links_destroy(struct links *l)
{
	free(l->next);
	free(l->prev);
}

static inline bool list_empty(const struct links *l, uint32_t head)
{
	return l->next[head] == head;
}

static inline uint32_t list_first(const struct links *l, uint32_t head)
{
	return l->next[head];
}

static inline uint32_t list_last(const struct links *l, uint32_t head)
{
	return l->prev[head];
}

static inline void list_del(struct links *l, uint32_t page)
{
	l->next[l->prev[page]] = l->next[page];
	l->prev[l->next[page]] = l->prev[page];
	l->next[page] = l->prev[page] = page;
}

static inline void list_add(struct links *l, uint32_t head, uint32_t page)
{
	l->next[page] = l->next[head];
	l->prev[page] = head;
	l->prev[l->next[head]] = page;
	l->next[head] = page;
}

static inline void list_move(struct links *l, uint32_t head, uint32_t page)
{
	list_del(l, page);
	list_add(l, head, page);
}

#endif
