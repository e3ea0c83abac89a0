/* SPDX-License-Identifier: GPL-2.0 */
/*
 * For tests, and for tools that model all pages of a trace. They touch pages without asking
 * first whether a model has them in its sample. The core of the kernel has asked before.
 */
#ifndef _MM_PATH_TOUCH_H
#define _MM_PATH_TOUCH_H

#include "../model.h"

#define MMPATH_UNSAMPLED (-2)	/* not in the sample: nothing was done */

/**
 * mmpath_stack_touch() - note the touch of a page
 * @s: the stack
 * @page: its number
 *
 * Return: as __mmpath_stack_touch(), or MMPATH_UNSAMPLED.
 */
static inline s64 mmpath_stack_touch(struct mmpath_stack *s, u64 page)
{
	if (!mmpath_sampled(page, s->shift))
		return MMPATH_UNSAMPLED;
	return __mmpath_stack_touch(s, page);
}

/**
 * mmpath_mru_touch() - note the touch of a page
 * @s: the stack
 * @page: its number
 *
 * Return: as __mmpath_mru_touch(), or MMPATH_UNSAMPLED.
 */
static inline s64 mmpath_mru_touch(struct mmpath_mru *s, u64 page)
{
	if (!mmpath_sampled(page, s->shift))
		return MMPATH_UNSAMPLED;
	return __mmpath_mru_touch(s, page);
}

/**
 * mmpath_regions_touch() - note the touch of a page
 * @rs: the regions
 * @page: its number
 *
 * Return: the region of the page.
 */
static inline struct mmpath_region *mmpath_regions_touch(struct mmpath_regions *rs, u64 page)
{
	struct mmpath_region *region = mmpath_regions_find(rs, page);

	mmpath_region_touch(rs, region, page, mmpath_rank(page), false);
	return region;
}

/**
 * mmpath_lirs_touch() - note the touch of a page, which is in memory from now on
 * @l: the model
 * @page: its number
 *
 * Return: as __mmpath_lirs_touch(), or MMPATH_UNSAMPLED.
 */
static inline int mmpath_lirs_touch(struct mmpath_lirs *l, u64 page)
{
	return mmpath_sampled(page, l->shift) ? __mmpath_lirs_touch(l, page) : MMPATH_UNSAMPLED;
}

/**
 * mmpath_lirs_resident() - tell whether a page is in memory
 * @l: the model
 * @page: its number
 *
 * Return: whether it is; false if it is not sampled.
 */
static inline bool mmpath_lirs_resident(struct mmpath_lirs *l, u64 page)
{
	return mmpath_sampled(page, l->shift) && __mmpath_lirs_resident(l, page);
}

/**
 * mmpath_contest_touch() - note the touch of a page
 * @c: the contest
 * @page: its number
 *
 * Return: as __mmpath_contest_touch(), or MMPATH_UNSAMPLED.
 */
static inline int mmpath_contest_touch(struct mmpath_contest *c, u64 page)
{
	return mmpath_sampled(page, c->seen.shift) ? __mmpath_contest_touch(c, page) :
						     MMPATH_UNSAMPLED;
}

/**
 * mmpath_pools_touch() - note the touch of a page, which is in memory from now on
 * @ps: the pools
 * @key: of its region
 * @page: its number
 *
 * Return: as __mmpath_pools_touch(), or MMPATH_UNSAMPLED.
 */
static inline int mmpath_pools_touch(struct mmpath_pools *ps, u64 key, u64 page)
{
	return mmpath_sampled(page, ps->shift) ? __mmpath_pools_touch(ps, key, page) :
						 MMPATH_UNSAMPLED;
}

#endif /* _MM_PATH_TOUCH_H */
