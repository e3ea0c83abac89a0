// SPDX-License-Identifier: GPL-2.0
/* See stages.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "stages.h"

static bool power_of_two(uint32_t n)
{
	return n && !(n & (n - 1));
}

/**
 * vpath_sets_init() - an empty table
 * @s: to be set up
 * @entries: in all; 0 makes a table that never hits
 * @ways: in each set; divides @entries, and their quotient is a power of two
 *
 * Return: 0 or -ENOMEM, and then nothing is left behind.
 */
int vpath_sets_init(struct vpath_sets *s, uint32_t entries, uint32_t ways)
{
	*s = (struct vpath_sets){ .sets = entries ? entries / ways : 0, .ways = ways };
	if (!entries)
		return 0;
	s->entries = malloc(entries * sizeof(*s->entries));
	s->inserted = malloc(s->sets * sizeof(*s->inserted));
	if (!s->entries || !s->inserted) {
		vpath_sets_destroy(s);
		return -ENOMEM;
	}
	vpath_sets_flush(s);
	return 0;
}

void vpath_sets_destroy(struct vpath_sets *s)
{
	free(s->entries);
	free(s->inserted);
	*s = (struct vpath_sets){ 0 };
}

void vpath_sets_flush(struct vpath_sets *s)
{
	uint32_t i;

	for (i = 0; i < s->sets * s->ways; i++)
		s->entries[i] = (struct vpath_entry){ .page = VPATH_NO_PAGE };
	if (s->sets)
		memset(s->inserted, 0, s->sets * sizeof(*s->inserted));
}

static struct vpath_entry *set_of(const struct vpath_sets *s, uint64_t page)
{
	return s->entries + (page & (s->sets - 1)) * s->ways;
}

static uint32_t find(const struct vpath_sets *s, const struct vpath_entry *set, uint32_t context,
		     uint64_t page)
{
	uint32_t i;

	for (i = 0; i < s->ways; i++)
		if (set[i].page == page && set[i].context == context)
			break;
	return i;
}

bool vpath_sets_holds(const struct vpath_sets *s, uint32_t context, uint64_t page)
{
	return s->sets && find(s, set_of(s, page), context, page) < s->ways;
}

/**
 * vpath_sets_touch() - look a page up, and insert it when it is not there
 * @s: table that is not empty
 * @context: whose page
 * @page: its number
 * @hit: set to whether it was there
 *
 * The least recent entry of the set makes room.
 * Return: the page's entry, the most recent of its set now.
 */
struct vpath_entry *vpath_sets_touch(struct vpath_sets *s, uint32_t context, uint64_t page,
				     bool *hit)
{
	struct vpath_entry *set = set_of(s, page), entry;
	uint32_t i = find(s, set, context, page), nr;

	*hit = i < s->ways;
	if (*hit) {
		entry = set[i];
	} else {
		i = s->ways - 1;
		nr = ++s->inserted[page & (s->sets - 1)];
		entry = (struct vpath_entry){ page, context, nr };
	}
	memmove(set + 1, set, i * sizeof(*set));
	set[0] = entry;
	return set;
}

/**
 * vpath_geometry_good() - are these sizes possible?
 * @g: sizes from the registers, which may hold anything
 * @max_tlb: most entries of the TLB
 * @max_pab: of the PAB
 * @max_filter: of the filter
 */
bool vpath_geometry_good(const struct vpath_geometry *g, uint32_t max_tlb, uint32_t max_pab,
			 uint32_t max_filter)
{
	return power_of_two(g->tlb_entries) && power_of_two(g->tlb_ways) &&
	       g->tlb_ways <= g->tlb_entries && g->tlb_entries <= max_tlb &&
	       power_of_two(g->pab_entries) && power_of_two(g->pab_ways) &&
	       g->pab_ways <= g->pab_entries && g->pab_entries >= 128 &&
	       g->pab_entries <= max_pab && g->filter_entries <= max_filter;
}

/**
 * vpath_stages_init() - the stages of a unit, all empty
 * @st: to be set up
 * @g: good sizes
 *
 * Return: 0 or -ENOMEM, and then nothing is left behind.
 */
int vpath_stages_init(struct vpath_stages *st, const struct vpath_geometry *g)
{
	*st = (struct vpath_stages){ .g = *g };
	if (vpath_sets_init(&st->tlb, g->tlb_entries, g->tlb_ways) ||
	    vpath_sets_init(&st->pab, g->pab_entries, g->pab_ways) ||
	    vpath_sets_init(&st->filter, g->filter_entries, g->filter_entries)) {
		vpath_stages_destroy(st);
		return -ENOMEM;
	}
	return 0;
}

void vpath_stages_destroy(struct vpath_stages *st)
{
	vpath_sets_destroy(&st->tlb);
	vpath_sets_destroy(&st->pab);
	vpath_sets_destroy(&st->filter);
}

void vpath_stages_flush(struct vpath_stages *st)
{
	vpath_sets_flush(&st->tlb);
	vpath_sets_flush(&st->pab);
	vpath_sets_flush(&st->filter);
}

/*
 * Hit in the PAB. A page that stays there would sink to the bottom of the
 * software's LRU stack, so it is logged again now and then.
 */
static enum vpath_stage stays(struct vpath_stages *st, struct vpath_entry *e)
{
	uint32_t nr = st->pab.inserted[e->page & (st->pab.sets - 1)];

	if (!st->g.relog || nr - e->logged_at < st->g.relog)
		return VPATH_IN_PAB;
	e->logged_at = nr;
	return VPATH_AGAIN;
}

/**
 * vpath_stages_touch() - an access
 * @st: stages of the CPU that made it
 * @context: whose page
 * @page: its number
 *
 * The PAB and the filter are only reached by what missed the stage before, and
 * the filter is updated by each of them (thesis 4.2.1).
 * Return: the stage that held it back, VPATH_PASSED when none did, VPATH_AGAIN
 * when the PAB did but it is to be logged again.
 */
enum vpath_stage vpath_stages_touch(struct vpath_stages *st, uint32_t context, uint64_t page)
{
	struct vpath_entry *e = set_of(&st->tlb, page);
	bool hit;

	/* most are, and then nothing moves */
	if (e->page == page && e->context == context)
		return VPATH_IN_TLB;
	vpath_sets_touch(&st->tlb, context, page, &hit);
	if (hit)
		return VPATH_IN_TLB;
	e = vpath_sets_touch(&st->pab, context, page, &hit);
	if (hit)
		return stays(st, e);
	if (!st->filter.sets)
		return VPATH_PASSED;
	vpath_sets_touch(&st->filter, context, page, &hit);
	return hit ? VPATH_IN_FILTER : VPATH_PASSED;
}
