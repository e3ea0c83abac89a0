// SPDX-License-Identifier: GPL-2.0
/* Lists of samples, and of threads whose groups are known */
#include <stdlib.h>

#include "../pathctl/pathctl.h"
#include "samples.h"

void samples_add(struct samples *s, const struct sample *sample)
{
	if (s->nr == s->room) {
		s->room = s->room ? 2 * s->room : 1024;
		s->list = xgrow(s->list, s->room, sizeof(*s->list));
	}
	s->list[s->nr++] = *sample;
}

void samples_free(struct samples *s)
{
	free(s->list);
	*s = (struct samples){ };
}

void truths_add(struct truths *t, u32 tid, u32 group)
{
	if (t->nr == t->room) {
		t->room = t->room ? 2 * t->room : 64;
		t->list = xgrow(t->list, t->room, sizeof(*t->list));
	}
	t->list[t->nr++] = (struct truth){ tid, group };
}

static int by_tid(const void *a, const void *b)
{
	const struct truth *x = a, *y = b;

	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

/* To be called before truths_find(). A thread in two groups is a mistake in the file @from. */
void truths_sort(struct truths *t, const char *from)
{
	size_t i;

	if (t->nr)
		qsort(t->list, t->nr, sizeof(*t->list), by_tid);
	for (i = 1; i < t->nr; i++)
		if (t->list[i].tid == t->list[i - 1].tid)
			die(EX_DATAERR, "%s: thread %u is there twice", from, t->list[i].tid);
}

/* Is the group of a thread known? @group: it; 0: none */
bool truths_find(const struct truths *t, u32 tid, u32 *group)
{
	const struct truth key = { .tid = tid }, *found;

	found = t->nr ? bsearch(&key, t->list, t->nr, sizeof(key), by_tid) : NULL;
	if (found)
		*group = found->group;
	return found;
}

void truths_free(struct truths *t)
{
	free(t->list);
	*t = (struct truths){ };
}
