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
 * So a program has as many extents as it likes, and mmap() and fork() of it
 * must not pay for them. Extents are a treap: a search tree by address, and a
 * heap by a rank that each place in the array of extents has:
 *
 *	address:  a < b < c < d < e < f		    d
 *						  /   \
 *	rank:	  parents before children	 b     f
 *						/ \   /
 *					       a   c e
 *
 * Ranks are as good as random, so a path has about 1.4 log2(n) extents, at
 * whatever addresses the program maps: it cannot know the ranks, which depend
 * on a seed. Two operations do it all, and each goes down one path of the
 * subtree that it is about, which is a small one as a rule:
 *
 *	split(tree, page)  ->  extents that begin before page, and the others
 *	join(a, b)	   ->  one tree, where all of a is before b
 *
 * To unmap is to split off what goes and to free that: O(log n + what goes).
 * Regions are in an array, too. Extents know each other and their region by
 * their places, so the copy for a child is a copy of pages.
 *
 * A region costs its models only when it is touched, and there are at most
 * MMPATH_MAX_EXTENTS: what is mapped beyond them is in the rest region. A
 * record in a region is in the same extent as the last record more often than
 * not.
 *
 * Memory may be short at any time. Then the record that wanted some is
 * dropped, and all models are as they were; the next one tries again.
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

/* Its place in the heap: a mix of all bits (the last steps of MurmurHash3). */
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

/* Take the first extent out of @tree, which becomes a vine on its left: O(1) for each. */
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

/* The first extent that ends above @page, or 0. */
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

/* Make room for @more extents more. */
static int region_extents_reserve(struct mmpath_regions *rs, unsigned int more)
{
	if (rs->nr_extents + more > MMPATH_MAX_EXTENTS)
		return -ENOSPC;
	while (rs->extents.nr <= rs->nr_extents + more)
		if (mmpath_vec_grow(&rs->extents, rs->mem))
			return -ENOMEM;
	return 0;
}

/* Of the region at that place; place 0 is no region of an extent's. */
static struct mmpath_region *region_at(const struct mmpath_regions *rs, u32 i)
{
	return mmpath_vec_at(&rs->regions, i, MMPATH_REGION_ORDER);
}

static struct mmpath_region *region_of(const struct mmpath_regions *rs,
				       const struct mmpath_extent *e)
{
	return region_at(rs, e->region);
}

/* There is room: region_extents_reserve() was called. */
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

/* Down to where it is the root of what is there. */
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

/* The extent that @page lies in, but does not begin, or NULL. */
static struct mmpath_extent *region_extent_across(const struct mmpath_regions *rs, u64 page)
{
	u32 i = region_extents_at(rs, page);
	struct mmpath_extent *e = i ? region_extent_of(rs, i) : NULL;

	return e && e->first < page ? e : NULL;
}

/* From here on addresses may mean other regions. */
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

/* The parameters are good: mmpath_regions_init() has looked. */
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

/* Returns its place, or 0 if there is no memory. */
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
	/* what it has counted in this epoch is of accesses that are told for all */
	mmpath_mrc_counted(&m->lru_mrc, &rs->lru_gone);
	mmpath_mrc_counted(&m->mru_mrc, &rs->mru_gone);
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

/* What is moved leaves its new place behind in the old one. */
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

/* Give memory back when most regions have gone. Takes a short time for each that has. */
static void regions_settle(struct mmpath_regions *rs)
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

/* @nr pages from @first are not mapped any more; without any the region goes. */
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
 * mmpath_regions_init() - make an address space with nothing but the rest region
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
 * mmpath_regions_destroy() - give back all memory
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
 * mmpath_regions_copy() - copy the regions for a child process
 * @dst: of the child, just initialized
 * @src: of its parent
 *
 * The same regions at the same places under the same ids; they have no models
 * before they are touched. Takes the time of copying a page for each 128 extents and each
 * 64 regions of the parent.
 *
 * Return: 0, or -ENOMEM and there is nothing but the rest region.
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

/* Does [@first, ...) go on where an extent of the heap ends? */
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
 * mmpath_regions_map() - note a mapping
 * @rs: the regions
 * @first: its first page
 * @nr: its pages
 * @kind: MMPATH_REGION_MMAP or MMPATH_REGION_BRK
 *
 * What was there before is unmapped. A mapping smaller than min_pages stays in
 * the rest region, but the heap and bss have one of their own whatever their
 * size, because they grow.
 *
 * Return: 0; -ENOSPC if there are MMPATH_MAX_EXTENTS already, or -ENOMEM, and the
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

/* [@first, @end) is a hole in the middle of @e. */
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

/* What begins before @first ends there, and what ends after @end begins there. */
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

/* The extents that begin in [@first, @end), a tree of their own. */
static u32 region_extents_take(struct mmpath_regions *rs, u64 first, u64 end)
{
	u32 *link = &rs->root, before, others, after, taken;
	struct mmpath_extent *e;

	/* all of them are below the first that is one */
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
 * mmpath_regions_unmap() - note that a range was unmapped
 * @rs: the regions
 * @first: its first page
 * @nr: its pages
 *
 * Its pages are forgotten.
 *
 * Return: 0; -ENOSPC or -ENOMEM if an extent could not be cut in two, and the hole
 * still belongs to the region.
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
		e = region_extent_of(rs, i);	/* it may have moved */
		if (err)
			region_forget(region_of(rs, e), first, nr);
		else
			region_extent_cut_out(rs, e, first, end);
		return err;
	}
	/* as a rule it is what one mmap() made */
	if (e->first != first || region_extent_end(e) != end)
		region_extents_trim(rs, first, end);
	gone = region_extents_take(rs, first, end);
	while ((i = region_extents_pop(rs, &gone))) {
		e = region_extent_of(rs, i);
		region_shrink(rs, e->region, e->first, e->nr);
		region_extent_put(rs, i);
	}
	regions_settle(rs);
	return 0;
}

/**
 * mmpath_regions_forget() - forget what was in a range that stays mapped
 * @rs: the regions
 * @first: its first page
 * @nr: its pages
 *
 * Its pages are forgotten. Cannot fail.
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

/* A mapping that grows or shrinks where it is. */
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

/* Pages [@from, + @nr) of one region go to @to. Those without memory are forgotten. */
static void region_move(struct mmpath_region *region, u64 from, u64 to, u64 nr)
{
	struct mmpath_models *m = region->models;

	if (m && (mmpath_stack_move(&m->lru, from, to, nr) |
		  mmpath_mru_move(&m->mru, from, to, nr)))
		region->nomem |= 1;
}

/* Cut the extent across @page in two there. There is room: region_extents_reserve() was called. */
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
 * @from: old first page
 * @nr_from: old size; 0 if the mapping was doubled
 * @to: new first page; @from if it grew or shrank where it is
 * @nr_to: new size
 *
 * The region goes with its mapping, and its pages keep their places on the
 * stacks if their new numbers are in the sample. What was at the new place is
 * unmapped. To be called before the old range is unmapped.
 *
 * Return: 0; -EINVAL if the ranges overlap, and nothing was done; -ENOSPC or -ENOMEM
 * if an extent could not be cut in two, and the mapping is where it was.
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
 * mmpath_regions_measure() - find the bounds of all regions
 * @rs: the regions; sets .first and .last of those that have extents
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

/* The first region in use from place *@i on, where it is; place 0 is the rest region's. */
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

/* What mmpath_regions_find() does when the page is not near the last one. */
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
 * The first touch in a later burst is not counted: when the page was touched before that
 * nobody knows, but in a region that was mapped since.
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
 * mmpath_region_touch() - note the touch of a page
 * @rs: the regions
 * @region: its region, see mmpath_regions_find()
 * @page: its number
 * @rank: its mmpath_rank()
 * @again: it has not left the page access buffer: the touch hits with any memory there
 *	is a curve for, and is not counted; but the page belongs to the top of the stacks
 *
 * Feeds the stacks and the curves of its region. A record that a model finds no
 * memory for is dropped, and the model is as before.
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
 * mmpath_regions_prefetch() - load the places of pages that mmpath_regions_touch() will get
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
		if (region->models)
			mmpath_stack_prefetch(&region->models->lru, page + i, end - i);
	}
}

/**
 * mmpath_regions_set_shift() - sample more coarsely in all regions
 * @rs: the regions
 * @shift: one page in 2^@shift from now on
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

/* Before its stack is emptied */
static void region_note(struct mmpath_region *region)
{
	const struct mmpath_stack *lru = &region->models->lru;

	region->footprint = max(region->footprint, mmpath_stack_footprint(lru));
	region->resumed |= lru->nr_pages > 0;
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
 * mmpath_regions_end_burst() - close a burst in all regions, for the driver pauses
 * @rs: the regions
 *
 * What is on the stacks says nothing about the next burst: it is taken into
 * account as it is, and the stacks start again.
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
 * @rs: the regions; @rs->seen tells how much of it was seen
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
