// SPDX-License-Identifier: GPL-2.0
/*
 * Regions (thesis 4.3.1, "Selecting Regions"): big mappings, each with models
 * of its own, because a big data structure tends to be used in one way.
 *
 * A region is what one mmap() made, or the heap, or a bss. Extents say where
 * it is now:
 *
 *	      region 1        region 2           region 1
 *	    |----------|  |---------------|    |----------|
 *	first         nr
 *
 * An extent is trimmed, cut in two or moved by what the program does to its
 * mappings; a region whose last extent goes is gone. What lies in no extent,
 * small mappings and stacks, belongs to the rest region, which is always
 * there. The kernel may merge mappings that are neighbours, we do not.
 *
 * Extents are a sorted array without overlaps. Programs have few, and a
 * record is in the same one as the last record more often than not.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/log2.h>
#include <linux/string.h>

#include "model.h"

#define FIRST_EXTENTS	4U

static u64 extent_end(const struct mmpath_extent *e)
{
	return e->first + e->nr;
}

/* The first extent that ends above @page. */
static unsigned int extent_at(const struct mmpath_regions *rs, u64 page)
{
	unsigned int low = 0, high = rs->nr_extents, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (extent_end(&rs->extents[mid]) > page)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

/* Makes room for @more extents more. */
static int extents_reserve(struct mmpath_regions *rs, unsigned int more)
{
	unsigned int nr = max(rs->max_extents, FIRST_EXTENTS);
	struct mmpath_extent *e;

	if (rs->nr_extents + more <= rs->max_extents)
		return 0;
	while (nr < rs->nr_extents + more)
		nr *= 2;
	e = mmpath_mem_alloc(rs->mem, nr * sizeof(*e));
	if (!e)
		return -ENOMEM;
	if (rs->nr_extents)
		memcpy(e, rs->extents, rs->nr_extents * sizeof(*e));
	mmpath_mem_free(rs->mem, rs->extents, rs->max_extents * sizeof(*e));
	rs->extents = e;
	rs->max_extents = nr;
	return 0;
}

/* There is room: extents_reserve() was called. */
static void extent_insert(struct mmpath_regions *rs, u64 first, u64 nr,
			  struct mmpath_region *region)
{
	unsigned int i = extent_at(rs, first);
	struct mmpath_extent *e = rs->extents + i;

	memmove(e + 1, e, (rs->nr_extents - i) * sizeof(*e));
	rs->nr_extents++;
	e->first = first;
	e->nr = nr;
	e->region = region;
}

static void extent_remove(struct mmpath_regions *rs, unsigned int i)
{
	rs->nr_extents--;
	memmove(rs->extents + i, rs->extents + i + 1,
		(rs->nr_extents - i) * sizeof(*rs->extents));
}

/* Models of a region */

/* What it has counted in this epoch is of accesses that are told for all. */
static void region_release(struct mmpath_regions *rs, struct mmpath_region *region)
{
	if (!region->stopped) {
		mmpath_mrc_counted(&region->lru_mrc, &rs->lru_gone);
		mmpath_mrc_counted(&region->mru_mrc, &rs->mru_gone);
	}
	mmpath_stack_destroy(&region->lru);
	mmpath_mru_destroy(&region->mru);
	mmpath_mrc_destroy(&region->lru_mrc);
	mmpath_mrc_destroy(&region->mru_mrc);
}

static void region_stop(struct mmpath_regions *rs, struct mmpath_region *region)
{
	region->records = mmpath_mrc_records(&region->lru_mrc, MMPATH_MRC_TOTAL);
	region_release(rs, region);
	region->stopped = true;
	rs->nr_stopped++;
}

/* The parameters are good: mmpath_regions_init() has looked. */
static void region_start(struct mmpath_regions *rs, struct mmpath_region *region)
{
	const struct mmpath_region_params *p = &rs->params;
	int err;

	mmpath_stack_init(&region->lru, rs->mem, p->max_pages, p->shift);
	mmpath_mru_init(&region->mru, rs->mem, p->mru_pages, p->shift);
	err = mmpath_mrc_init(&region->lru_mrc, rs->mem, p->group_pages);
	err |= mmpath_mrc_init(&region->mru_mrc, rs->mem, p->group_pages);
	if (err)
		region_stop(rs, region);
}

static struct mmpath_region *region_new(struct mmpath_regions *rs,
					enum mmpath_region_kind kind, u32 id)
{
	struct mmpath_region *region = mmpath_mem_alloc(rs->mem, sizeof(*region));

	if (!region)
		return NULL;
	region->id = id;
	region->kind = kind;
	list_add_tail(&region->node, &rs->list);
	rs->nr_regions++;
	region_start(rs, region);
	return region;
}

static void region_free(struct mmpath_regions *rs, struct mmpath_region *region)
{
	list_del(&region->node);
	rs->nr_regions--;
	region_release(rs, region);
	mmpath_mem_free(rs->mem, region, sizeof(*region));
}

static void region_forget(struct mmpath_region *region, u64 first, u64 nr)
{
	if (region->stopped)
		return;
	mmpath_stack_forget(&region->lru, first, nr);
	mmpath_mru_forget(&region->mru, first, nr);
}

/* Bounds and size after extents changed; without any the region goes. */
static void region_measure(struct mmpath_regions *rs, struct mmpath_region *region)
{
	unsigned int i;

	region->nr_mapped = 0;
	for (i = 0; i < rs->nr_extents; i++) {
		struct mmpath_extent *e = &rs->extents[i];

		if (e->region != region)
			continue;
		if (!region->nr_mapped)
			region->first = e->first;
		region->last = extent_end(e) - 1;
		region->nr_mapped += e->nr;
	}
	if (!region->nr_mapped)
		region_free(rs, region);
}

/**
 * mmpath_regions_init() - an address space with nothing but the rest region
 * @rs: the regions
 * @mem: where memory comes from
 * @params: for all regions; copied
 *
 * Return: 0; -EINVAL if group_pages is no power of two, mru_pages is 0 or shift is
 * above MMPATH_MAX_SHIFT; or -ENOMEM. After an error there is nothing to destroy.
 */
int mmpath_regions_init(struct mmpath_regions *rs, struct mmpath_mem *mem,
			const struct mmpath_region_params *params)
{
	memset(rs, 0, sizeof(*rs));
	INIT_LIST_HEAD(&rs->list);
	if (!is_power_of_2(params->group_pages) || !params->mru_pages ||
	    params->shift > MMPATH_MAX_SHIFT)
		return -EINVAL;
	rs->mem = mem;
	rs->params = *params;
	rs->next_id = 1;
	rs->rest = region_new(rs, MMPATH_REGION_REST, 0);
	if (rs->rest && !rs->rest->stopped)
		return 0;
	mmpath_regions_destroy(rs);
	return -ENOMEM;
}

/**
 * mmpath_regions_destroy() - give back all memory
 * @rs: the regions
 */
void mmpath_regions_destroy(struct mmpath_regions *rs)
{
	struct mmpath_region *region, *next;

	list_for_each_entry_safe(region, next, &rs->list, node)
		region_free(rs, region);
	mmpath_mem_free(rs->mem, rs->extents, rs->max_extents * sizeof(*rs->extents));
	rs->rest = NULL;
	rs->extents = NULL;
	rs->nr_extents = 0;
	rs->max_extents = 0;
}

static struct mmpath_region *region_by_id(struct mmpath_regions *rs, u32 id)
{
	struct mmpath_region *region;

	list_for_each_entry(region, &rs->list, node)
		if (region->id == id)
			return region;
	return NULL;
}

/**
 * mmpath_regions_copy() - the regions of a child process
 * @dst: of the child, just initialized
 * @src: of its parent
 *
 * The same regions at the same places under the same ids; their stacks and
 * curves start empty. Return: 0, or -ENOMEM and some are missing.
 */
int mmpath_regions_copy(struct mmpath_regions *dst, const struct mmpath_regions *src)
{
	const struct mmpath_extent *e;
	struct mmpath_region *region;

	dst->next_id = src->next_id;
	if (extents_reserve(dst, src->nr_extents))
		return -ENOMEM;
	for (e = src->extents; e < src->extents + src->nr_extents; e++) {
		region = region_by_id(dst, e->region->id);
		if (!region)
			region = region_new(dst, e->region->kind, e->region->id);
		if (!region)
			return -ENOMEM;
		extent_insert(dst, e->first, e->nr, region);
		region_measure(dst, region);
	}
	return 0;
}

/* Does [@first, ...) go on where an extent of the heap ends? */
static bool extend_brk(struct mmpath_regions *rs, u64 first, u64 nr)
{
	unsigned int i = extent_at(rs, first);
	struct mmpath_extent *e;

	if (!i)
		return false;
	e = rs->extents + i - 1;
	if (extent_end(e) != first || e->region->kind != MMPATH_REGION_BRK)
		return false;
	e->nr += nr;
	region_measure(rs, e->region);
	return true;
}

/**
 * mmpath_regions_map() - a mapping was made
 * @rs: the regions
 * @first: its first page
 * @nr: its pages
 * @kind: MMPATH_REGION_MMAP or MMPATH_REGION_BRK
 *
 * What was there before is unmapped. A mapping smaller than min_pages stays in
 * the rest region, but the heap and bss have one of their own whatever their
 * size, because they grow.
 *
 * A region without memory for its models is there, but stopped.
 *
 * Return: 0, or -ENOMEM and the mapping is in the rest region.
 */
int mmpath_regions_map(struct mmpath_regions *rs, u64 first, u64 nr,
		       enum mmpath_region_kind kind)
{
	struct mmpath_region *region;
	int err = mmpath_regions_unmap(rs, first, nr);

	if (err || !nr || (kind == MMPATH_REGION_MMAP && nr < rs->params.min_pages))
		return err;
	if (kind == MMPATH_REGION_BRK && extend_brk(rs, first, nr))
		return 0;
	if (extents_reserve(rs, 1))
		return -ENOMEM;
	region = region_new(rs, kind, rs->next_id);
	if (!region)
		return -ENOMEM;
	rs->next_id++;
	extent_insert(rs, first, nr, region);
	region_measure(rs, region);
	return 0;
}

/* Cuts [@first, @end) out of extent @i, of which it is a part. */
static void extent_cut(struct mmpath_regions *rs, unsigned int i, u64 first, u64 end)
{
	struct mmpath_extent *e = rs->extents + i;
	u64 old_end = extent_end(e);

	if (first == e->first && end == old_end) {
		extent_remove(rs, i);
	} else if (first == e->first) {
		e->first = end;
		e->nr = old_end - end;
	} else {
		e->nr = first - e->first;
		if (end < old_end)
			extent_insert(rs, end, old_end - end, e->region);
	}
}

/* Is [@first, @end) a hole in the middle of an extent, to be cut in two? */
static bool splits_extent(const struct mmpath_regions *rs, u64 first, u64 end)
{
	unsigned int i = extent_at(rs, first);

	return i < rs->nr_extents && rs->extents[i].first < first &&
	       extent_end(&rs->extents[i]) > end;
}

/**
 * mmpath_regions_unmap() - a range was unmapped
 * @rs: the regions
 * @first: its first page
 * @nr: its pages
 *
 * Its pages are forgotten.
 *
 * Return: 0; -ENOMEM if an extent could not be cut in two, and the hole still
 * belongs to the region.
 */
int mmpath_regions_unmap(struct mmpath_regions *rs, u64 first, u64 nr)
{
	u64 end = first + nr, from, to;
	struct mmpath_region *region;
	struct mmpath_extent *e;
	unsigned int i;

	if (!nr)
		return 0;
	region_forget(rs->rest, first, nr);
	if (splits_extent(rs, first, end) && extents_reserve(rs, 1)) {
		region_forget(mmpath_regions_find(rs, first), first, nr);
		return -ENOMEM;
	}
	while ((i = extent_at(rs, first)) < rs->nr_extents && rs->extents[i].first < end) {
		e = rs->extents + i;
		region = e->region;
		from = max(first, e->first);
		to = min(end, extent_end(e));
		region_forget(region, from, to - from);
		extent_cut(rs, i, from, to);
		region_measure(rs, region);
	}
	return 0;
}

/* A mapping that grows or shrinks where it is. */
static int regions_resize(struct mmpath_regions *rs, u64 first, u64 nr_from, u64 nr_to)
{
	struct mmpath_extent *e;
	unsigned int i;
	int err;

	if (nr_to <= nr_from)
		return mmpath_regions_unmap(rs, first + nr_to, nr_from - nr_to);
	err = mmpath_regions_unmap(rs, first + nr_from, nr_to - nr_from);
	if (err)
		return err;
	i = extent_at(rs, first + nr_from - 1);
	e = rs->extents + i;
	if (i < rs->nr_extents && extent_end(e) == first + nr_from) {
		e->nr += nr_to - nr_from;
		region_measure(rs, e->region);
		return 0;
	}
	if (nr_to < rs->params.min_pages)
		return 0;
	return mmpath_regions_map(rs, first, nr_to, MMPATH_REGION_MMAP);
}

/* Pages [@from, + @nr) of one region go to @to. */
static void region_move(struct mmpath_regions *rs, struct mmpath_region *region,
			u64 from, u64 to, u64 nr)
{
	if (region->stopped)
		return;
	if (mmpath_stack_move(&region->lru, from, to, nr) ||
	    mmpath_mru_move(&region->mru, from, to, nr))
		region_stop(rs, region);
}

/* What of extent @i lies in [@from, + @nr) goes where @from goes. */
static void extent_move(struct mmpath_regions *rs, unsigned int i, u64 from, u64 to, u64 nr)
{
	struct mmpath_extent *e = rs->extents + i;
	u64 first = max(from, e->first), end = min(from + nr, extent_end(e));
	struct mmpath_region *region = e->region;

	region_move(rs, region, first, first - from + to, end - first);
	extent_cut(rs, i, first, end);
	extent_insert(rs, first - from + to, end - first, region);
	region_measure(rs, region);
}

static bool ranges_overlap(u64 a, u64 nr_a, u64 b, u64 nr_b)
{
	return a < b + nr_b && b < a + nr_a;
}

/**
 * mmpath_regions_move() - mremap()
 * @rs: the regions
 * @from: old first page
 * @nr_from: old size; 0 if the mapping was doubled
 * @to: new first page; @from if it grew or shrank where it is
 * @nr_to: new size
 *
 * The region goes with its mapping, and its pages keep their places on the
 * stacks if their new numbers are in the sample. What was at the new place is
 * unmapped. To be called before the old range is unmapped.
 *
 * Return: 0; -EINVAL if the ranges overlap, and nothing was done; -ENOMEM if
 * an extent could not be cut in two, and the mapping is where it was.
 */
int mmpath_regions_move(struct mmpath_regions *rs, u64 from, u64 nr_from, u64 to, u64 nr_to)
{
	u64 nr = min(nr_from, nr_to);
	unsigned int i;
	int err;

	if (!nr_from)
		return mmpath_regions_map(rs, to, nr_to, MMPATH_REGION_MMAP);
	if (from == to)
		return regions_resize(rs, from, nr_from, nr_to);
	if (ranges_overlap(from, nr_from, to, nr_to))
		return -EINVAL;
	err = mmpath_regions_unmap(rs, to, nr_to);
	if (!err)
		err = mmpath_regions_unmap(rs, from + nr, nr_from - nr);
	if (!err)
		err = extents_reserve(rs, 2);	/* a cut in two, and the new one */
	if (err)
		return err;
	region_move(rs, rs->rest, from, to, nr);
	while ((i = extent_at(rs, from)) < rs->nr_extents && rs->extents[i].first < from + nr)
		extent_move(rs, i, from, to, nr);
	return regions_resize(rs, to, nr, nr_to);
}

/* What mmpath_regions_find() does when the page is not near the last one. */
struct mmpath_region *__mmpath_regions_find(struct mmpath_regions *rs, u64 page)
{
	unsigned int i = extent_at(rs, page);

	if (i == rs->nr_extents || rs->extents[i].first > page)
		return rs->rest;
	rs->last = i;
	return rs->extents[i].region;
}

/*
 * The first touch in a later burst is not counted: when the page was touched before that
 * nobody knows, but in a region that was mapped since.
 */
static void count_touch(const struct mmpath_region *region, struct mmpath_mrc *m, s64 distance,
			u32 weight)
{
	if (distance == MMPATH_COLD && region->resumed)
		mmpath_mrc_begin(m, weight);
	else
		mmpath_mrc_add(m, distance, weight);
}

static int region_mru_touch(struct mmpath_region *region, u64 page, u64 rank, bool again)
{
	u32 weight;
	s64 distance;

	if (region->mru.shift < region->lru.shift)
		mmpath_mru_set_shift(&region->mru, region->lru.shift);
	if (!mmpath_rank_sampled(rank, region->mru.shift))
		return 0;
	weight = 1U << region->mru.shift;
	distance = __mmpath_mru_touch(&region->mru, page);
	if (distance == MMPATH_NOMEM)
		return -ENOMEM;
	if (!again)
		count_touch(region, &region->mru_mrc, distance, weight);
	return 0;
}

static int region_touch(struct mmpath_region *region, u64 page, u64 rank, bool again)
{
	u32 weight = 1U << region->lru.shift;
	s64 distance;

	if (!mmpath_rank_sampled(rank, region->lru.shift))
		return 0;
	distance = __mmpath_stack_touch(&region->lru, page);
	if (distance == MMPATH_NOMEM)
		return -ENOMEM;
	if (!again)
		count_touch(region, &region->lru_mrc, distance, weight);
	return region_mru_touch(region, page, rank, again);
}

/**
 * mmpath_region_touch() - a page was touched
 * @rs: the regions
 * @region: its region, see mmpath_regions_find()
 * @page: its number
 * @rank: its mmpath_rank()
 * @again: it has not left the page access buffer: the touch hits with any memory there
 *	is a curve for, and is not counted; but the page belongs to the top of the stacks
 *
 * Feeds the stacks and the curves of its region. A region whose model finds
 * no memory stops: it is still found, but has no model any more.
 */
void mmpath_region_touch(struct mmpath_regions *rs, struct mmpath_region *region, u64 page,
			 u64 rank, bool again)
{
	if (!region->stopped && region_touch(region, page, rank, again))
		region_stop(rs, region);
}

/**
 * mmpath_regions_prefetch() - records that mmpath_regions_touch() will get
 * @rs: the regions
 * @page: their numbers
 * @nr: how many; best in batches of MMPATH_PREFETCH
 *
 * See mmpath_stack_prefetch(). May be left out.
 */
void mmpath_regions_prefetch(struct mmpath_regions *rs, const u64 *page, unsigned int nr)
{
	struct mmpath_region *region;
	unsigned int i, end;

	for (i = 0; i < nr; i = end) {
		region = mmpath_regions_find(rs, page[i]);
		for (end = i + 1; end < nr; end++)
			if (mmpath_regions_find(rs, page[end]) != region)
				break;
		if (!region->stopped)
			mmpath_stack_prefetch(&region->lru, page + i, end - i);
	}
}

/**
 * mmpath_regions_set_shift() - the driver samples more coarsely
 * @rs: the regions
 * @shift: one page in 2^@shift from now on
 *
 * Stacks that are coarser already stay as they are.
 */
void mmpath_regions_set_shift(struct mmpath_regions *rs, unsigned int shift)
{
	struct mmpath_region *region;

	rs->params.shift = shift;
	list_for_each_entry(region, &rs->list, node) {
		if (region->stopped)
			continue;
		if (shift > region->lru.shift)
			mmpath_stack_set_shift(&region->lru, shift);
		if (shift > region->mru.shift)
			mmpath_mru_set_shift(&region->mru, shift);
	}
}

/* Before its stack is emptied */
static void region_note(struct mmpath_region *region)
{
	region->footprint = max(region->footprint, mmpath_stack_footprint(&region->lru));
	region->resumed |= region->lru.nr_pages > 0;
}

/**
 * mmpath_regions_reset() - empty all stacks
 * @rs: the regions
 * @shift: one page in 2^@shift from now on, finer or coarser
 *
 * Curves stay. What is touched next may not be touched first, as after a burst.
 */
void mmpath_regions_reset(struct mmpath_regions *rs, unsigned int shift)
{
	struct mmpath_region *region;

	rs->params.shift = shift;
	list_for_each_entry(region, &rs->list, node) {
		if (region->stopped)
			continue;
		region_note(region);
		mmpath_stack_reset(&region->lru, shift);
		mmpath_mru_reset(&region->mru, shift);
	}
}

static void region_end_burst(struct mmpath_region *region)
{
	region_note(region);
	mmpath_mrc_censor(&region->lru_mrc, mmpath_stack_footprint(&region->lru));
	mmpath_mrc_censor(&region->mru_mrc, (u64)region->mru.nr_pages << region->mru.shift);
	mmpath_stack_reset(&region->lru, region->lru.shift);
	mmpath_mru_reset(&region->mru, region->mru.shift);
}

/**
 * mmpath_regions_end_burst() - the driver pauses
 * @rs: the regions
 *
 * What is on the stacks says nothing about the next burst: it is taken into
 * account as it is, and the stacks start again.
 */
void mmpath_regions_end_burst(struct mmpath_regions *rs)
{
	struct mmpath_region *region;

	list_for_each_entry(region, &rs->list, node) {
		region->resumed = true;
		if (!region->stopped)
			region_end_burst(region);
	}
}

/**
 * mmpath_regions_close_epoch() - an epoch is over, for all curves
 * @rs: the regions; @rs->seen tells how much of it was seen
 *
 * Accesses of a region that has stopped fall to the others.
 */
void mmpath_regions_close_epoch(struct mmpath_regions *rs)
{
	struct mmpath_counted lru = rs->lru_gone, mru = rs->mru_gone;
	struct mmpath_region *region;

	list_for_each_entry(region, &rs->list, node) {
		if (region->stopped)
			continue;
		mmpath_mrc_counted(&region->lru_mrc, &lru);
		mmpath_mrc_counted(&region->mru_mrc, &mru);
	}
	mmpath_unseen_close(&rs->unseen, &rs->seen, &lru);
	mru.moved = lru.moved;
	list_for_each_entry(region, &rs->list, node) {
		if (region->stopped)
			continue;
		mmpath_mrc_make_up(&region->lru_mrc, &rs->seen, &lru);
		mmpath_mrc_make_up(&region->mru_mrc, &rs->seen, &mru);
		mmpath_mrc_close_epoch(&region->lru_mrc);
		mmpath_mrc_close_epoch(&region->mru_mrc);
	}
	mmpath_seen_close(&rs->seen, &lru);
	rs->lru_gone = (struct mmpath_counted){ };
	rs->mru_gone = (struct mmpath_counted){ };
}
