// SPDX-License-Identifier: GPL-2.0
/*
 * Regions (thesis 4.3.1, "Selecting Regions"): big mappings, each with models
 * of its own, because a big data structure tends to be used in one way.
 *
 * A region is what one mmap() made, or the heap, or a bss. Its extents are the
 * ranges of addresses where it is now:
 *
 *	      region 1        region 2           region 1
 *	    |----------|  |---------------|    |----------|
 *	first         nr
 *
 * When a program changes its mappings, extents are trimmed, cut in two or moved.
 * A region ends with its last extent. Pages in no extent, those of small mappings
 * and stacks, belong to the rest region, which always exists. The kernel merges
 * mappings that are neighbours, but regions are not merged.
 *
 * So a program can make very many extents, and they must not make its mmap() and
 * fork() slow. Extents are a treap: a search tree by address, and at the same time
 * a heap by a rank, which depends on the place in the array of extents:
 *
 *	address:  a < b < c < d < e < f		    d
 *						  /   \
 *	rank:	  parents before children	 b     f
 *						/ \   /
 *					       a   c e
 *
 * Ranks are as good as random, so a path has about 1.4 log2(n) extents, whatever
 * the addresses are. A program cannot provoke longer paths: ranks depend on a
 * seed that it does not know. All changes are made by two operations. Each goes
 * down one path of a subtree, which is usually small:
 *
 *	split(tree, page)  ->  extents that begin before page, and the others
 *	join(a, b)	   ->  one tree, where all of a is before b
 *
 * Unmapping splits off the extents of a range, and frees them: O(log n + number
 * of extents freed). Regions are in an array, too. Extents refer to each other and
 * to their regions by place, so the copy for a child is a copy of memory pages.
 *
 * A region has models only once it is touched. There are at most
 * MMPATH_MAX_EXTENTS extents, and mappings beyond them are in the rest region. The
 * extent of the last record is remembered, because the next record is mostly in
 * the same one.
 *
 * An allocation may fail at any time. Then the record is dropped, the models stay
 * as they were, and the next record tries again.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/string.h>

#include "model.h"

/* The tree of extents; place 0 is no extent. */

static struct mmpath_extent *region_extent_of(const struct mmpath_regions *rs, u32 i)
{
	return mmpath_vec_at(&rs->extents, i, MMPATH_EXTENT_ORDER);
}

static u64 region_extent_end(const struct mmpath_extent *e)
{
	return e->first + e->nr;
}

/* The rank of the extent at place @i: a mix of all bits (the last steps of MurmurHash3). */
static u32 region_extent_rank(const struct mmpath_regions *rs, u32 i)
{
	i ^= rs->params.seed;
	i ^= i >> 16;
	i *= 0x85ebca6b;
	i ^= i >> 13;
	i *= 0xc2b2ae35;
	return i ^ i >> 16;
}

static void region_extents_split(struct mmpath_regions *rs, u32 tree, u64 page, u32 *before,
				 u32 *others)
{
	struct mmpath_extent *e;

	while (tree) {
		e = region_extent_of(rs, tree);
		if (e->first < page) {
			*before = tree;
			before = &e->right;
			tree = e->right;
		} else {
			*others = tree;
			others = &e->left;
			tree = e->left;
		}
	}
	*before = 0;
	*others = 0;
}

static u32 region_extents_join(struct mmpath_regions *rs, u32 a, u32 b)
{
	u32 root, *link = &root;

	while (a && b) {
		if (region_extent_rank(rs, a) < region_extent_rank(rs, b)) {
			*link = a;
			link = &region_extent_of(rs, a)->right;
			a = *link;
		} else {
			*link = b;
			link = &region_extent_of(rs, b)->left;
			b = *link;
		}
	}
	*link = a ? a : b;
	return root;
}

/*
 * Take the first extent out of @tree. Rotates the left path into a vine on the right, so that
 * popping all extents takes O(1) for each.
 */
static u32 region_extents_pop(struct mmpath_regions *rs, u32 *tree)
{
	struct mmpath_extent *e;
	u32 i = *tree, left;

	if (!i)
		return 0;
	for (e = region_extent_of(rs, i); (left = e->left); i = left) {
		e->left = region_extent_of(rs, left)->right;
		e = region_extent_of(rs, left);
		e->right = i;
	}
	*tree = e->right;
	e->right = 0;
	return i;
}

/* Return the first extent that ends above @page, or 0. */
static u32 region_extents_at(const struct mmpath_regions *rs, u64 page)
{
	struct mmpath_extent *e;
	u32 i = rs->root, found = 0;

	while (i) {
		e = region_extent_of(rs, i);
		if (region_extent_end(e) > page) {
			found = i;
			i = e->left;
		} else {
			i = e->right;
		}
	}
	return found;
}

/* Make room for @more further extents. */
static int region_extents_reserve(struct mmpath_regions *rs, unsigned int more)
{
	if (rs->nr_extents + more > MMPATH_MAX_EXTENTS)
		return -ENOSPC;
	while (rs->extents.nr <= rs->nr_extents + more)
		if (mmpath_vec_grow(&rs->extents, rs->mem))
			return -ENOMEM;
	return 0;
}

/* Return the region at place @i. Place 0 is not used: the rest region has no extents. */
static struct mmpath_region *region_at(const struct mmpath_regions *rs, u32 i)
{
	return mmpath_vec_at(&rs->regions, i, MMPATH_REGION_ORDER);
}

static struct mmpath_region *region_of(const struct mmpath_regions *rs,
				       const struct mmpath_extent *e)
{
	return region_at(rs, e->region);
}

/* Allocate an extent. The caller has called region_extents_reserve(). */
static u32 region_extent_get(struct mmpath_regions *rs)
{
	u32 i = rs->free_extent;

	rs->nr_extents++;
	if (!i)
		return ++rs->top_extent;
	rs->free_extent = region_extent_of(rs, i)->right;
	return i;
}

static void region_extent_put(struct mmpath_regions *rs, u32 i)
{
	*region_extent_of(rs, i) = (struct mmpath_extent){ .right = rs->free_extent };
	rs->free_extent = i;
	if (--rs->nr_extents)
		return;
	mmpath_vec_free(&rs->extents, rs->mem);
	rs->free_extent = 0;
	rs->top_extent = 0;
}

/* Link extent @i into the tree: below all extents on its path that have lower ranks. */
static void region_extent_link(struct mmpath_regions *rs, u32 i)
{
	struct mmpath_extent *e = region_extent_of(rs, i), *at;
	u32 *link = &rs->root, rank = region_extent_rank(rs, i);

	while (*link && region_extent_rank(rs, *link) < rank) {
		at = region_extent_of(rs, *link);
		link = at->first < e->first ? &at->right : &at->left;
	}
	region_extents_split(rs, *link, e->first, &e->left, &e->right);
	*link = i;
}

static void region_extent_insert(struct mmpath_regions *rs, u64 first, u64 nr, u32 region)
{
	u32 i = region_extent_get(rs);

	*region_extent_of(rs, i) = (struct mmpath_extent){
		.first = first, .nr = nr, .region = region,
	};
	region_at(rs, region)->nr_mapped += nr;
	rs->measured = false;
	region_extent_link(rs, i);
}

/* Return the extent that has @page, but does not begin with it, or NULL. */
static struct mmpath_extent *region_extent_across(const struct mmpath_regions *rs, u64 page)
{
	u32 i = region_extents_at(rs, page);
	struct mmpath_extent *e = i ? region_extent_of(rs, i) : NULL;

	return e && e->first < page ? e : NULL;
}

/* Forget what is cached of the extents: they change. */
static void region_extents_change(struct mmpath_regions *rs)
{
	rs->last.nr = 0;
	rs->measured = false;
}

/* Models of a region */

static void region_models_destroy(struct mmpath_models *m)
{
	mmpath_stack_destroy(&m->lru);
	mmpath_mru_destroy(&m->mru);
	mmpath_mrc_destroy(&m->lru_mrc);
	mmpath_mrc_destroy(&m->mru_mrc);
}

/* mmpath_regions_init() has checked the parameters. */
static struct mmpath_models *region_models_create(struct mmpath_regions *rs)
{
	const struct mmpath_region_params *p = &rs->params;
	struct mmpath_models *m = mmpath_mem_alloc(rs->mem, sizeof(*m));
	int err;

	if (!m)
		return NULL;
	mmpath_stack_init(&m->lru, rs->mem, p->max_pages, p->shift);
	mmpath_mru_init(&m->mru, rs->mem, p->mru_pages, p->shift);
	err = mmpath_mrc_init(&m->lru_mrc, rs->mem, p->group_pages);
	err |= mmpath_mrc_init(&m->mru_mrc, rs->mem, p->group_pages);
	if (!err)
		return m;
	region_models_destroy(m);
	mmpath_mem_free(rs->mem, m, sizeof(*m));
	return NULL;
}

/* Create a region. Returns its place, or 0 without memory. */
static u32 region_new(struct mmpath_regions *rs, enum mmpath_region_kind kind)
{
	u32 i = rs->free_region ?: rs->top_region + 1;
	struct mmpath_region *region;

	while (i >= rs->regions.nr) {
		/* regions may move */
		rs->last.nr = 0;
		if (mmpath_vec_grow(&rs->regions, rs->mem))
			return 0;
	}
	region = region_at(rs, i);
	if (rs->free_region)
		rs->free_region = region->next_free;
	else
		rs->top_region = i;
	*region = (struct mmpath_region){ .id = rs->next_id++, .kind = kind };
	rs->nr_regions++;
	return i;
}

static void region_drop_models(struct mmpath_regions *rs, struct mmpath_region *region)
{
	struct mmpath_models *m = region->models;

	if (!m)
		return;
	/* rs->seen has the accesses of all regions, so keep what this one has counted */
	mmpath_mrc_counted(&m->lru_mrc, &rs->lru_gone);
	mmpath_mrc_counted(&m->mru_mrc, &rs->mru_gone);
	/* its curve goes, and with it what was counted early */
	rs->lru_gone.early = 0;
	rs->mru_gone.early = 0;
	region_models_destroy(m);
	mmpath_mem_free(rs->mem, m, sizeof(*m));
	region->models = NULL;
}

static void region_free(struct mmpath_regions *rs, u32 i)
{
	struct mmpath_region *region = region_at(rs, i);

	region_drop_models(rs, region);
	*region = (struct mmpath_region){ .next_free = rs->free_region };
	rs->free_region = i;
	if (--rs->nr_regions > 1)
		return;
	/* only the rest region is left */
	mmpath_vec_free(&rs->regions, rs->mem);
	rs->free_region = 0;
	rs->top_region = 0;
}

/* Move all regions to the first @nr places. The old place of a region keeps its new place. */
static void regions_pack(struct mmpath_regions *rs, u32 nr)
{
	u32 to, from = rs->top_region;

	for (to = 1; to <= nr; to++) {
		if (region_at(rs, to)->kind != MMPATH_REGION_NONE)
			continue;
		while (region_at(rs, from)->kind == MMPATH_REGION_NONE)
			from--;
		*region_at(rs, to) = *region_at(rs, from);
		*region_at(rs, from) = (struct mmpath_region){ .next_free = to };
	}
}

/* Free memory when most regions have gone. The time is bounded by the number of those. */
static void regions_compact(struct mmpath_regions *rs)
{
	u32 per_leaf = 1U << (MMPATH_LEAF_SHIFT - MMPATH_REGION_ORDER);
	u32 i, nr = rs->nr_regions - 1;
	struct mmpath_extent *e;

	if (rs->top_region <= 2 * nr + per_leaf)
		return;
	regions_pack(rs, nr);
	for (i = 1; i <= rs->top_extent; i++) {
		e = region_extent_of(rs, i);
		if (e->region > nr)
			e->region = region_of(rs, e)->next_free;
	}
	rs->top_region = nr;
	rs->free_region = 0;
	while (rs->regions.nr > nr + 2 * per_leaf)
		mmpath_vec_shrink(&rs->regions, rs->mem);
	region_extents_change(rs);
}

static void region_forget(struct mmpath_region *region, u64 first, u64 nr)
{
	if (!region->models)
		return;
	mmpath_stack_forget(&region->models->lru, first, nr);
	mmpath_mru_forget(&region->models->mru, first, nr);
}

/* Unmap @nr pages from @first. Frees the region if it has no other pages. */
static void region_shrink(struct mmpath_regions *rs, u32 i, u64 first, u64 nr)
{
	struct mmpath_region *region = region_at(rs, i);

	region->nr_mapped -= nr;
	if (region->nr_mapped)
		region_forget(region, first, nr);
	else
		region_free(rs, i);
}

/**
 * mmpath_regions_init() - initialize regions, with the rest region only
 * @rs: the regions
 * @mem: allocator
 * @params: parameters of all regions; copied
 *
 * Return: 0; -EINVAL if group_pages is no power of two, mru_pages is 0 or shift is
 * above MMPATH_MAX_SHIFT; or -ENOMEM. After an error there is nothing to destroy.
 */
int mmpath_regions_init(struct mmpath_regions *rs, struct mmpath_mem *mem,
			const struct mmpath_region_params *params)
{
	BUILD_BUG_ON(sizeof(struct mmpath_extent) != 1 << MMPATH_EXTENT_ORDER);
	BUILD_BUG_ON(sizeof(struct mmpath_region) > 1 << MMPATH_REGION_ORDER);
	memset(rs, 0, sizeof(*rs));
	if (!is_power_of_2(params->group_pages) || !params->mru_pages ||
	    params->shift > MMPATH_MAX_SHIFT)
		return -EINVAL;
	rs->mem = mem;
	rs->params = *params;
	rs->next_id = 1;
	rs->extents.order = MMPATH_EXTENT_ORDER;
	rs->regions.order = MMPATH_REGION_ORDER;
	rs->rest = mmpath_mem_alloc(mem, sizeof(*rs->rest));
	if (!rs->rest)
		return -ENOMEM;
	rs->rest->kind = MMPATH_REGION_REST;
	rs->nr_regions = 1;
	return 0;
}

/**
 * mmpath_regions_destroy() - free all memory of regions
 * @rs: the regions
 */
void mmpath_regions_destroy(struct mmpath_regions *rs)
{
	struct mmpath_region *region;
	u32 i;

	mmpath_for_each_region(rs, i, region)
		region_drop_models(rs, region);
	mmpath_mem_free(rs->mem, rs->rest, sizeof(*rs->rest));
	mmpath_vec_free(&rs->regions, rs->mem);
	mmpath_vec_free(&rs->extents, rs->mem);
	rs->rest = NULL;
	rs->nr_regions = 0;
	rs->nr_extents = 0;
	rs->root = 0;
	region_extents_change(rs);
}

/**
 * mmpath_regions_copy() - copy regions for a child process
 * @dst: regions of the child, just initialized
 * @src: regions of the parent
 *
 * The child gets the same regions, with the same places and ids, but no models: regions have
 * none before they are touched. The time is that of copying a page for each 128 extents and each
 * 64 regions of the parent.
 *
 * Return: 0, or -ENOMEM; then the child has the rest region only.
 */
int mmpath_regions_copy(struct mmpath_regions *dst, const struct mmpath_regions *src)
{
	struct mmpath_region *region;
	u32 i;

	if (mmpath_vec_copy(&dst->extents, &src->extents, dst->mem))
		return -ENOMEM;
	if (mmpath_vec_copy(&dst->regions, &src->regions, dst->mem)) {
		mmpath_vec_free(&dst->extents, dst->mem);
		return -ENOMEM;
	}
	for (i = 1; i <= src->top_region; i++) {
		region = region_at(dst, i);
		region->models = NULL;
		region->footprint = 0;
		region->resumed = false;
		region->nomem = 0;
	}
	dst->params.seed = src->params.seed;
	dst->next_id = src->next_id;
	dst->nr_regions = src->nr_regions;
	dst->top_region = src->top_region;
	dst->free_region = src->free_region;
	dst->nr_extents = src->nr_extents;
	dst->root = src->root;
	dst->top_extent = src->top_extent;
	dst->free_extent = src->free_extent;
	return 0;
}

/* Extend the extent of the heap that ends at @first, if there is one. */
static bool region_extend_brk(struct mmpath_regions *rs, u64 first, u64 nr)
{
	u32 i = first ? region_extents_at(rs, first - 1) : 0;
	struct mmpath_extent *e;

	if (!i)
		return false;
	e = region_extent_of(rs, i);
	if (region_extent_end(e) != first || region_of(rs, e)->kind != MMPATH_REGION_BRK)
		return false;
	e->nr += nr;
	region_of(rs, e)->nr_mapped += nr;
	rs->measured = false;
	return true;
}

/**
 * mmpath_regions_map() - note a new mapping
 * @rs: the regions
 * @first: first page of the mapping
 * @nr: number of pages
 * @kind: MMPATH_REGION_MMAP or MMPATH_REGION_BRK
 *
 * Unmaps what was there before. A mapping smaller than min_pages stays in the rest
 * region. The heap and a bss have a region of their own whatever their size,
 * because they grow.
 *
 * Return: 0; -ENOSPC if there are MMPATH_MAX_EXTENTS already, or -ENOMEM. After an error the
 * mapping is in the rest region.
 */
int mmpath_regions_map(struct mmpath_regions *rs, u64 first, u64 nr,
		       enum mmpath_region_kind kind)
{
	int err = mmpath_regions_unmap(rs, first, nr);
	u32 region;

	if (err || !nr || (kind == MMPATH_REGION_MMAP && nr < rs->params.min_pages))
		return err;
	if (kind == MMPATH_REGION_BRK && region_extend_brk(rs, first, nr))
		return 0;
	err = region_extents_reserve(rs, 1);
	if (err)
		return err;
	region = region_new(rs, kind);
	if (!region)
		return -ENOMEM;
	region_extent_insert(rs, first, nr, region);
	return 0;
}

/* Make the hole [@first, @end) in the middle of @e. */
static void region_extent_cut_out(struct mmpath_regions *rs, struct mmpath_extent *e, u64 first,
				  u64 end)
{
	u64 old_end = region_extent_end(e);
	u32 region = e->region;

	e->nr = first - e->first;
	region_at(rs, region)->nr_mapped -= old_end - end;
	region_extent_insert(rs, end, old_end - end, region);
	region_shrink(rs, region, first, end - first);
}

/* Trim extents at the edges of [@first, @end), so that none crosses an edge. */
static void region_extents_trim(struct mmpath_regions *rs, u64 first, u64 end)
{
	struct mmpath_extent *e = region_extent_across(rs, first);
	u64 nr;

	if (e) {
		nr = region_extent_end(e) - first;
		e->nr -= nr;
		region_shrink(rs, e->region, first, nr);
	}
	e = region_extent_across(rs, end);
	if (e) {
		nr = end - e->first;
		region_shrink(rs, e->region, e->first, nr);
		e->first = end;
		e->nr -= nr;
	}
}

/* Take the extents that begin in [@first, @end) out of the tree. Returns them as a tree. */
static u32 region_extents_take(struct mmpath_regions *rs, u64 first, u64 end)
{
	u32 *link = &rs->root, before, others, after, taken;
	struct mmpath_extent *e;

	/* the first such extent on the path is the root of a subtree that has them all */
	while (*link) {
		e = region_extent_of(rs, *link);
		if (e->first < first)
			link = &e->right;
		else if (e->first >= end)
			link = &e->left;
		else
			break;
	}
	region_extents_split(rs, *link, first, &before, &others);
	region_extents_split(rs, others, end, &taken, &after);
	*link = region_extents_join(rs, before, after);
	return taken;
}

/**
 * mmpath_regions_unmap() - note that a range was unmapped, and forget its pages
 * @rs: the regions
 * @first: first page of the range
 * @nr: number of pages
 *
 * Return: 0; -ENOSPC or -ENOMEM if an extent could not be cut in two. Then the hole still
 * belongs to the region.
 */
int mmpath_regions_unmap(struct mmpath_regions *rs, u64 first, u64 nr)
{
	struct mmpath_extent *e;
	u64 end = first + nr;
	u32 i, gone;
	int err;

	if (!nr)
		return 0;
	i = region_extents_at(rs, first);
	e = i ? region_extent_of(rs, i) : NULL;
	/* no page of an extent is in the rest region */
	if (!e || e->first > first || region_extent_end(e) < end)
		region_forget(rs->rest, first, nr);
	if (!e || e->first >= end)
		return 0;
	region_extents_change(rs);
	if (e->first < first && region_extent_end(e) > end) {
		err = region_extents_reserve(rs, 1);
		e = region_extent_of(rs, i);	/* extents may have moved */
		if (err)
			region_forget(region_of(rs, e), first, nr);
		else
			region_extent_cut_out(rs, e, first, end);
		return err;
	}
	/* mostly the range is one whole extent */
	if (e->first != first || region_extent_end(e) != end)
		region_extents_trim(rs, first, end);
	gone = region_extents_take(rs, first, end);
	while ((i = region_extents_pop(rs, &gone))) {
		e = region_extent_of(rs, i);
		region_shrink(rs, e->region, e->first, e->nr);
		region_extent_put(rs, i);
	}
	regions_compact(rs);
	return 0;
}

/**
 * mmpath_regions_forget() - forget the pages of a range that stays mapped
 * @rs: the regions
 * @first: first page of the range
 * @nr: number of pages
 *
 * Cannot fail.
 */
void mmpath_regions_forget(struct mmpath_regions *rs, u64 first, u64 nr)
{
	u64 end = first + nr, from = first, to;
	const struct mmpath_extent *e;
	u32 i;

	region_forget(rs->rest, first, nr);
	while (from < end && (i = region_extents_at(rs, from))) {
		e = region_extent_of(rs, i);
		if (e->first >= end)
			break;
		to = min(end, region_extent_end(e));
		region_forget(region_of(rs, e), from, to - from);
		from = to;
	}
}

/* Grow or shrink a mapping in place. */
static int regions_resize(struct mmpath_regions *rs, u64 first, u64 nr_from, u64 nr_to)
{
	struct mmpath_extent *e;
	int err;
	u32 i;

	if (nr_to <= nr_from)
		return mmpath_regions_unmap(rs, first + nr_to, nr_from - nr_to);
	err = mmpath_regions_unmap(rs, first + nr_from, nr_to - nr_from);
	if (err)
		return err;
	i = region_extents_at(rs, first + nr_from - 1);
	e = i ? region_extent_of(rs, i) : NULL;
	if (e && region_extent_end(e) == first + nr_from) {
		e->nr += nr_to - nr_from;
		region_of(rs, e)->nr_mapped += nr_to - nr_from;
		rs->measured = false;
		return 0;
	}
	if (nr_to < rs->params.min_pages)
		return 0;
	return mmpath_regions_map(rs, first, nr_to, MMPATH_REGION_MMAP);
}

/* Move @nr pages of a region in its models. Without memory some are forgotten. */
static void region_move(struct mmpath_region *region, u64 from, u64 to, u64 nr)
{
	struct mmpath_models *m = region->models;

	if (m && (mmpath_stack_move(&m->lru, from, to, nr) |
		  mmpath_mru_move(&m->mru, from, to, nr)))
		region->nomem |= 1;
}

/* Cut the extent across @page in two. The caller has called region_extents_reserve(). */
static void region_extents_cut(struct mmpath_regions *rs, u64 page)
{
	struct mmpath_extent *e = region_extent_across(rs, page);
	u64 nr;

	if (!e)
		return;
	nr = region_extent_end(e) - page;
	e->nr -= nr;
	region_of(rs, e)->nr_mapped -= nr;
	region_extent_insert(rs, page, nr, e->region);
}

static void region_extents_move(struct mmpath_regions *rs, u64 from, u64 to, u64 nr)
{
	struct mmpath_extent *e;
	u32 i, moved;

	region_extents_cut(rs, from);
	region_extents_cut(rs, from + nr);
	moved = region_extents_take(rs, from, from + nr);
	while ((i = region_extents_pop(rs, &moved))) {
		e = region_extent_of(rs, i);
		region_move(region_of(rs, e), e->first, e->first - from + to, e->nr);
		e->first = e->first - from + to;
		region_extent_link(rs, i);
	}
}

static bool region_ranges_overlap(u64 a, u64 nr_a, u64 b, u64 nr_b)
{
	return a < b + nr_b && b < a + nr_a;
}

/**
 * mmpath_regions_move() - note an mremap()
 * @rs: the regions
 * @from: first page of the old range
 * @nr_from: old size in pages; 0 if the mapping was duplicated
 * @to: first page of the new range; @from if the mapping grew or shrank in place
 * @nr_to: new size in pages
 *
 * The region moves with its mapping, and its pages keep their places on the
 * stacks if their new numbers are in the sample. Unmaps what was in the new range.
 * Call this before the old range is unmapped.
 *
 * Return: 0; -EINVAL if the ranges overlap, and nothing was done; -ENOSPC or -ENOMEM
 * if an extent could not be cut in two, and the region stays where it was.
 */
int mmpath_regions_move(struct mmpath_regions *rs, u64 from, u64 nr_from, u64 to, u64 nr_to)
{
	u64 nr = min(nr_from, nr_to);
	int err;

	if (!nr_from)
		return mmpath_regions_map(rs, to, nr_to, MMPATH_REGION_MMAP);
	if (from == to)
		return regions_resize(rs, from, nr_from, nr_to);
	if (region_ranges_overlap(from, nr_from, to, nr_to))
		return -EINVAL;
	err = mmpath_regions_unmap(rs, to, nr_to);
	if (!err)
		err = mmpath_regions_unmap(rs, from + nr, nr_from - nr);
	if (!err)
		err = region_extents_reserve(rs, 2);	/* an extent cut twice */
	if (err)
		return err;
	region_extents_change(rs);
	region_move(rs->rest, from, to, nr);
	region_extents_move(rs, from, to, nr);
	return regions_resize(rs, to, nr, nr_to);
}

/**
 * mmpath_regions_measure() - set .first and .last of all regions that have extents
 * @rs: the regions
 */
void mmpath_regions_measure(struct mmpath_regions *rs)
{
	struct mmpath_region *region;
	struct mmpath_extent *e;
	u32 i;

	if (rs->measured)
		return;
	mmpath_for_each_region(rs, i, region) {
		region->first = region == rs->rest ? 0 : U64_MAX;
		region->last = 0;
	}
	for (i = 1; i <= rs->top_extent; i++) {
		e = region_extent_of(rs, i);
		if (!e->region)
			continue;
		region = region_of(rs, e);
		region->first = min(region->first, e->first);
		region->last = max(region->last, region_extent_end(e) - 1);
	}
	rs->measured = true;
}

/*
 * Return the first region in use from place *@i on, and set *@i to its place. Place 0 is the rest
 * region. NULL: there is no other.
 */
struct mmpath_region *mmpath_regions_next(const struct mmpath_regions *rs, u32 *i)
{
	struct mmpath_region *region;

	if (!*i)
		return rs->rest;
	for (; *i <= rs->top_region; ++*i) {
		region = region_at(rs, *i);
		if (region->kind != MMPATH_REGION_NONE)
			return region;
	}
	return NULL;
}

/* Look a page up in the tree, for mmpath_regions_find(). */
struct mmpath_region *__mmpath_regions_find(struct mmpath_regions *rs, u64 page)
{
	u32 i = region_extents_at(rs, page);
	struct mmpath_extent *e = i ? region_extent_of(rs, i) : NULL;

	if (!e || e->first > page)
		return rs->rest;
	rs->last = *e;
	rs->last_region = region_of(rs, e);
	return rs->last_region;
}

/*
 * Count a touch. A page that is touched for the first time in a burst may have been touched in an
 * earlier one. So its touch is not counted as cold, unless its region was mapped since.
 */
static void region_count_touch(const struct mmpath_region *region, struct mmpath_mrc *m,
			       s64 distance, u32 weight)
{
	if (distance == MMPATH_COLD && region->resumed)
		mmpath_mrc_begin(m, weight);
	else
		mmpath_mrc_add(m, distance, weight);
}

static int region_mru_touch(struct mmpath_region *region, u64 page, u64 rank, bool again)
{
	struct mmpath_models *m = region->models;
	u32 weight;
	s64 distance;

	if (m->mru.shift < m->lru.shift)
		mmpath_mru_set_shift(&m->mru, m->lru.shift);
	if (!mmpath_rank_sampled(rank, m->mru.shift))
		return 0;
	weight = 1U << m->mru.shift;
	distance = __mmpath_mru_touch(&m->mru, page);
	if (distance == MMPATH_NOMEM)
		return -ENOMEM;
	if (!again)
		region_count_touch(region, &m->mru_mrc, distance, weight);
	return 0;
}

static int region_touch(struct mmpath_regions *rs, struct mmpath_region *region, u64 page,
			u64 rank, bool again)
{
	struct mmpath_models *m = region->models;
	u32 weight;
	s64 distance;

	if (!mmpath_rank_sampled(rank, mmpath_region_shift(rs, region)))
		return 0;
	if (!m) {
		m = region_models_create(rs);
		region->models = m;
	}
	if (!m)
		return -ENOMEM;
	weight = 1U << m->lru.shift;
	distance = __mmpath_stack_touch(&m->lru, page);
	if (distance == MMPATH_NOMEM)
		return -ENOMEM;
	if (!again)
		region_count_touch(region, &m->lru_mrc, distance, weight);
	return region_mru_touch(region, page, rank, again);
}

/**
 * mmpath_region_touch() - feed the touch of a page to the stacks and curves of its region
 * @rs: the regions
 * @region: region of the page, see mmpath_regions_find()
 * @page: number of the page
 * @rank: mmpath_rank() of the page
 * @again: the page has not left the page access buffer. Its touch hits with any memory that the
 *	curve knows, and is not counted, but the page moves to the top of the stacks.
 *
 * Without memory for a model the record is dropped, and the model stays as it was.
 *
 * Return: 0, or -ENOMEM.
 */
int mmpath_region_touch(struct mmpath_regions *rs, struct mmpath_region *region, u64 page,
			u64 rank, bool again)
{
	int err = region_touch(rs, region, page, rank, again);

	if (err)
		region->nomem |= 1;
	return err;
}

/**
 * mmpath_regions_prefetch() - prefetch what mmpath_region_touch() will need
 * @rs: the regions
 * @page: numbers of the pages to be touched
 * @nr: number of pages; best in batches of MMPATH_PREFETCH
 *
 * See mmpath_stack_prefetch(). The call is optional.
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
		if (region->models)
			mmpath_stack_prefetch(&region->models->lru, page + i, end - i);
	}
}

/**
 * mmpath_regions_set_shift() - make the sample of all regions coarser
 * @rs: the regions
 * @shift: sample one page in 2^@shift from now on
 *
 * Stacks that are coarser already stay as they are.
 */
void mmpath_regions_set_shift(struct mmpath_regions *rs, unsigned int shift)
{
	struct mmpath_region *region;
	struct mmpath_models *m;
	u32 i;

	rs->params.shift = shift;
	mmpath_for_each_region(rs, i, region) {
		m = region->models;
		if (!m)
			continue;
		if (shift > m->lru.shift)
			mmpath_stack_set_shift(&m->lru, shift);
		if (shift > m->mru.shift)
			mmpath_mru_set_shift(&m->mru, shift);
	}
}

/* Called before the stack of a region is emptied. */
static void region_note(struct mmpath_region *region)
{
	const struct mmpath_stack *lru = &region->models->lru;

	region->footprint = max(region->footprint, mmpath_stack_footprint(lru));
	region->resumed |= lru->nr_pages > 0;
}

/**
 * mmpath_regions_reset() - empty the stacks of all regions
 * @rs: the regions
 * @shift: sample one page in 2^@shift from now on, which may be finer or coarser
 *
 * Curves stay. As after a burst, a page that is new on a stack may have been touched before.
 */
void mmpath_regions_reset(struct mmpath_regions *rs, unsigned int shift)
{
	struct mmpath_region *region;
	struct mmpath_models *m;
	u32 i;

	rs->params.shift = shift;
	mmpath_for_each_region(rs, i, region) {
		m = region->models;
		if (!m)
			continue;
		region_note(region);
		mmpath_stack_reset(&m->lru, shift);
		mmpath_mru_reset(&m->mru, shift);
	}
}

static void region_end_burst(struct mmpath_region *region)
{
	struct mmpath_models *m = region->models;

	region_note(region);
	mmpath_mrc_censor(&m->lru_mrc, mmpath_stack_footprint(&m->lru));
	mmpath_mrc_censor(&m->mru_mrc, (u64)m->mru.nr_pages << m->mru.shift);
	mmpath_stack_reset(&m->lru, m->lru.shift);
	mmpath_mru_reset(&m->mru, m->mru.shift);
}

/**
 * mmpath_regions_end_burst() - end a burst in all regions, because the driver pauses
 * @rs: the regions
 *
 * The order on the stacks says nothing about the next burst. So the open intervals are
 * counted (mmpath_mrc_censor()), and the stacks emptied.
 */
void mmpath_regions_end_burst(struct mmpath_regions *rs)
{
	struct mmpath_region *region;
	u32 i;

	mmpath_for_each_region(rs, i, region) {
		region->resumed = true;
		if (region->models)
			region_end_burst(region);
	}
}

/**
 * mmpath_regions_close_epoch() - close an epoch of all curves
 * @rs: the regions; @rs->seen tells how much of the epoch was seen
 */
void mmpath_regions_close_epoch(struct mmpath_regions *rs)
{
	struct mmpath_counted lru = rs->lru_gone, mru = rs->mru_gone;
	struct mmpath_region *region;
	struct mmpath_models *m;
	u32 i;

	mmpath_for_each_region(rs, i, region) {
		m = region->models;
		if (!m)
			continue;
		mmpath_mrc_counted(&m->lru_mrc, &lru);
		mmpath_mrc_counted(&m->mru_mrc, &mru);
	}
	mmpath_unseen_close(&rs->unseen, &rs->seen, &lru);
	mru.moved = lru.moved;
	mmpath_for_each_region(rs, i, region) {
		m = region->models;
		if (!m)
			continue;
		mmpath_mrc_make_up(&m->lru_mrc, &rs->seen, &lru);
		mmpath_mrc_make_up(&m->mru_mrc, &rs->seen, &mru);
		mmpath_mrc_close_epoch(&m->lru_mrc);
		mmpath_mrc_close_epoch(&m->mru_mrc);
	}
	mmpath_for_each_region(rs, i, region)
		region->nomem = region->nomem << 1 & 3;
	mmpath_seen_close(&rs->seen, &lru);
	rs->lru_gone = (struct mmpath_counted){ };
	rs->mru_gone = (struct mmpath_counted){ };
}
