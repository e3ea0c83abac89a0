// SPDX-License-Identifier: GPL-2.0
/* Regions: which one a page is in while mappings come, go and move. */
#include "test.h"

#define MIN_PAGES	256

static const struct mmpath_region_params params = {
	.min_pages = MIN_PAGES,
	.group_pages = 16,
	.mru_pages = 1000,
};

struct fixture {
	struct test_mem tm;
	struct mmpath_regions rs;
};

static void fixture_init(struct fixture *f)
{
	test_mem_init(&f->tm);
	assert_int_equal(mmpath_regions_init(&f->rs, &f->tm.mem, &params), 0);
}

struct walk {
	struct mmpath_regions *rs;
	u64 end, nr, sum;
	unsigned int depth;
};

/* The extents of a subtree, in order */
static void walk_extents(struct walk *w, u32 i, unsigned int depth)
{
	struct mmpath_extent *e = mmpath_vec_at(&w->rs->extents, i, MMPATH_EXTENT_ORDER);
	struct mmpath_region *region;

	if (!i)
		return;
	region = mmpath_vec_at(&w->rs->regions, e->region, MMPATH_REGION_ORDER);
	walk_extents(w, e->left, depth + 1);
	assert_true(e->nr && e->first >= w->end);
	w->end = e->first + e->nr;
	w->nr++;
	w->sum += e->nr;
	if (depth > w->depth)
		w->depth = depth;
	assert_true(region->first <= e->first && region->last >= w->end - 1);
	assert_ptr_equal(mmpath_regions_find(w->rs, e->first), region);
	assert_ptr_equal(mmpath_regions_find(w->rs, w->end - 1), region);
	walk_extents(w, e->right, depth + 1);
}

/* What must hold at any time: extents in order, regions that fit them. Returns the depth. */
static unsigned int assert_valid(struct mmpath_regions *rs)
{
	struct mmpath_region *region;
	struct walk w = { .rs = rs };
	u64 mapped = 0, nr = 0;
	u32 i;

	mmpath_regions_measure(rs);
	if (rs->root)
		walk_extents(&w, rs->root, 1);
	assert_int_equal(w.nr, rs->nr_extents);
	assert_true(rs->nr_extents <= MMPATH_MAX_EXTENTS);
	mmpath_for_each_region(rs, i, region) {
		nr++;
		mapped += region->nr_mapped;
		assert_int_equal(!region->nr_mapped, region == rs->rest);
		assert_true(!region->models ||
			    region->models->mru.shift >= region->models->lru.shift);
	}
	assert_int_equal(nr, rs->nr_regions);
	assert_int_equal(mapped, w.sum);
	return w.depth;
}

static void fixture_destroy(struct fixture *f)
{
	assert_valid(&f->rs);
	mmpath_regions_destroy(&f->rs);
	assert_int_equal(f->tm.mem.bytes, 0);
}

static u32 id_of(struct fixture *f, u64 page)
{
	return mmpath_regions_find(&f->rs, page)->id;
}

static void map(struct fixture *f, u64 first, u64 nr)
{
	assert_int_equal(mmpath_regions_map(&f->rs, first, nr, MMPATH_REGION_MMAP), 0);
	assert_valid(&f->rs);
}

static void brk_map(struct fixture *f, u64 first, u64 nr)
{
	assert_int_equal(mmpath_regions_map(&f->rs, first, nr, MMPATH_REGION_BRK), 0);
	assert_valid(&f->rs);
}

static void unmap(struct fixture *f, u64 first, u64 nr)
{
	assert_int_equal(mmpath_regions_unmap(&f->rs, first, nr), 0);
	assert_valid(&f->rs);
}

static void move(struct fixture *f, u64 from, u64 nr_from, u64 to, u64 nr_to)
{
	assert_int_equal(mmpath_regions_move(&f->rs, from, nr_from, to, nr_to), 0);
	assert_valid(&f->rs);
}

static void touch(struct fixture *f, u64 first, u64 nr)
{
	for (; nr; nr--)
		mmpath_regions_touch(&f->rs, first++);
}

static void test_bad_parameters(void **state)
{
	struct mmpath_region_params bad = params;
	struct test_mem tm;
	struct mmpath_regions rs;

	(void)state;
	test_mem_init(&tm);
	bad.group_pages = 3;
	assert_int_equal(mmpath_regions_init(&rs, &tm.mem, &bad), -EINVAL);
	bad = params;
	bad.mru_pages = 0;
	assert_int_equal(mmpath_regions_init(&rs, &tm.mem, &bad), -EINVAL);
	bad = params;
	bad.shift = MMPATH_MAX_SHIFT + 1;
	assert_int_equal(mmpath_regions_init(&rs, &tm.mem, &bad), -EINVAL);
	assert_int_equal(tm.mem.bytes, 0);
}

static void test_rest(void **state)
{
	struct fixture f;

	(void)state;
	fixture_init(&f);
	assert_int_equal(id_of(&f, 0), 0);
	assert_int_equal(id_of(&f, ~0ULL), 0);
	assert_ptr_equal(mmpath_regions_touch(&f.rs, 77), f.rs.rest);
	assert_int_equal(mmpath_mrc_records(&f.rs.rest->models->lru_mrc, MMPATH_MRC_TOTAL), 1);
	assert_int_equal(f.rs.rest->kind, MMPATH_REGION_REST);
	fixture_destroy(&f);
}

static void test_map(void **state)
{
	struct fixture f;

	(void)state;
	fixture_init(&f);
	map(&f, 1000, MIN_PAGES);
	map(&f, 5000, MIN_PAGES - 1);
	map(&f, 100, 500);
	map(&f, 9000, 0);
	assert_int_equal(f.rs.nr_regions, 3);
	assert_int_equal(id_of(&f, 999), 0);
	assert_int_equal(id_of(&f, 1000), 1);
	assert_int_equal(id_of(&f, 1255), 1);
	assert_int_equal(id_of(&f, 1256), 0);
	assert_int_equal(id_of(&f, 5000), 0);
	assert_int_equal(id_of(&f, 100), 2);
	fixture_destroy(&f);
}

/* Neighbours stay two regions even if the kernel makes one VMA of them. */
static void test_neighbours(void **state)
{
	struct fixture f;

	(void)state;
	fixture_init(&f);
	map(&f, 1000, 500);
	map(&f, 1500, 500);
	assert_int_equal(id_of(&f, 1499), 1);
	assert_int_equal(id_of(&f, 1500), 2);
	fixture_destroy(&f);
}

static void test_map_over(void **state)
{
	struct fixture f;

	(void)state;
	fixture_init(&f);
	map(&f, 1000, 2000);
	touch(&f, 1000, 2000);
	map(&f, 1500, 500);
	assert_int_equal(id_of(&f, 1499), 1);
	assert_int_equal(id_of(&f, 1500), 2);
	assert_int_equal(id_of(&f, 2000), 1);
	assert_int_equal(mmpath_regions_find(&f.rs, 1000)->nr_mapped, 1500);
	assert_int_equal(mmpath_stack_footprint(&mmpath_regions_find(&f.rs, 1000)->models->lru), 1500);
	map(&f, 0, 5000);
	assert_int_equal(f.rs.nr_regions, 2);
	assert_int_equal(id_of(&f, 1700), 3);
	fixture_destroy(&f);
}

static void test_unmap(void **state)
{
	struct fixture f;

	(void)state;
	fixture_init(&f);
	map(&f, 1000, 1000);
	unmap(&f, 0, 1000);
	unmap(&f, 2000, 1000);
	assert_int_equal(mmpath_regions_find(&f.rs, 1000)->nr_mapped, 1000);
	unmap(&f, 900, 200);
	unmap(&f, 1900, 200);
	unmap(&f, 1400, 100);
	unmap(&f, 1200, 0);
	assert_int_equal(f.rs.nr_extents, 2);
	mmpath_regions_measure(&f.rs);
	assert_int_equal(mmpath_regions_find(&f.rs, 1899)->first, 1100);
	assert_int_equal(mmpath_regions_find(&f.rs, 1100)->last, 1899);
	assert_int_equal(id_of(&f, 1450), 0);
	unmap(&f, 1100, 300);
	unmap(&f, 1300, 5000);
	assert_int_equal(f.rs.nr_regions, 1);
	map(&f, 1000, 1000);
	assert_int_equal(id_of(&f, 1000), 2);
	fixture_destroy(&f);
}

/* What was unmapped is forgotten, in the rest region as well. */
static void test_unmap_forgets(void **state)
{
	struct fixture f;

	(void)state;
	fixture_init(&f);
	map(&f, 1000, 300);
	touch(&f, 900, 500);
	assert_int_equal(mmpath_stack_footprint(&f.rs.rest->models->lru), 200);
	unmap(&f, 950, 100);
	assert_int_equal(mmpath_stack_footprint(&f.rs.rest->models->lru), 150);
	assert_int_equal(mmpath_stack_footprint(&mmpath_regions_find(&f.rs, 1100)->models->lru), 250);
	assert_int_equal(mmpath_regions_find(&f.rs, 1100)->models->mru.nr_pages, 250);
	fixture_destroy(&f);
}

/* What was thrown away is forgotten in every region, and the regions stay as they are. */
static void test_forget(void **state)
{
	struct fixture f;

	(void)state;
	fixture_init(&f);
	mmpath_regions_forget(&f.rs, 0, 1000);
	map(&f, 1000, 300);
	map(&f, 1400, 300);
	map(&f, 1700, 300);
	touch(&f, 900, 1100);
	mmpath_regions_forget(&f.rs, 950, 800);
	assert_int_equal(f.rs.nr_regions, 4);
	assert_int_equal(mmpath_regions_find(&f.rs, 1100)->nr_mapped, 300);
	assert_int_equal(mmpath_stack_footprint(&f.rs.rest->models->lru), 50);
	assert_int_equal(mmpath_stack_footprint(&mmpath_regions_find(&f.rs, 1100)->models->lru), 0);
	assert_int_equal(mmpath_stack_footprint(&mmpath_regions_find(&f.rs, 1400)->models->lru), 0);
	assert_int_equal(mmpath_stack_footprint(&mmpath_regions_find(&f.rs, 1700)->models->lru), 250);
	assert_int_equal(mmpath_regions_find(&f.rs, 1700)->models->mru.nr_pages, 250);
	mmpath_regions_forget(&f.rs, 1800, 10);
	assert_int_equal(mmpath_stack_footprint(&mmpath_regions_find(&f.rs, 1700)->models->lru), 240);
	fixture_destroy(&f);
}

static void test_heap(void **state)
{
	struct fixture f;

	(void)state;
	fixture_init(&f);
	brk_map(&f, 1000, 33);
	brk_map(&f, 1033, 33);
	brk_map(&f, 1066, 1);
	assert_int_equal(f.rs.nr_regions, 2);
	assert_int_equal(mmpath_regions_find(&f.rs, 1000)->nr_mapped, 67);
	assert_int_equal(mmpath_regions_find(&f.rs, 1066)->kind, MMPATH_REGION_BRK);
	unmap(&f, 1040, 27);
	brk_map(&f, 1040, 100);
	assert_int_equal(id_of(&f, 1139), 1);
	/* not where it ends, and not a heap: regions of their own */
	brk_map(&f, 500, 10);
	brk_map(&f, 1141, 10);
	map(&f, 1151, 300);
	map(&f, 1451, 300);
	assert_int_equal(f.rs.nr_regions, 6);
	fixture_destroy(&f);
}

static void test_grow_in_place(void **state)
{
	struct fixture f;

	(void)state;
	fixture_init(&f);
	map(&f, 1000, 300);
	map(&f, 2000, 300);
	move(&f, 1000, 300, 1000, 800);
	assert_int_equal(mmpath_regions_find(&f.rs, 1799)->nr_mapped, 800);
	move(&f, 1000, 800, 1000, 400);
	assert_int_equal(mmpath_regions_find(&f.rs, 1399)->nr_mapped, 400);
	assert_int_equal(id_of(&f, 1400), 0);
	/* the end of a region that another mapping of it does not reach */
	move(&f, 1100, 300, 1100, 301);
	assert_int_equal(mmpath_regions_find(&f.rs, 1400)->nr_mapped, 401);
	move(&f, 1000, 401, 1000, 401);
	/* a small mapping that stays small, then becomes a region */
	touch(&f, 5000, 10);
	move(&f, 5000, 10, 5000, 20);
	assert_int_equal(mmpath_stack_footprint(&f.rs.rest->models->lru), 10);
	move(&f, 5000, 20, 5000, 300);
	assert_int_equal(id_of(&f, 5000), 3);
	assert_int_equal(mmpath_stack_footprint(&f.rs.rest->models->lru), 0);
	fixture_destroy(&f);
}

static void test_move(void **state)
{
	struct mmpath_region *region;
	struct fixture f;

	(void)state;
	fixture_init(&f);
	map(&f, 1000, 500);
	touch(&f, 1000, 500);
	region = mmpath_regions_find(&f.rs, 1000);
	move(&f, 1000, 500, 8000, 500);
	assert_ptr_equal(mmpath_regions_find(&f.rs, 8000), region);
	assert_int_equal(id_of(&f, 1000), 0);
	assert_int_equal(mmpath_stack_footprint(&region->models->lru), 500);
	assert_int_equal(region->models->mru.nr_pages, 500);
	/* its pages are where they were on the stack */
	assert_same(mmpath_stack_touch(&region->models->lru, 8000), 499);
	fixture_destroy(&f);
}

static void test_move_and_resize(void **state)
{
	struct fixture f;

	(void)state;
	fixture_init(&f);
	map(&f, 1000, 500);
	touch(&f, 1000, 500);
	move(&f, 1000, 500, 8000, 900);
	assert_int_equal(mmpath_regions_find(&f.rs, 8899)->nr_mapped, 900);
	move(&f, 8000, 900, 100, 300);
	assert_int_equal(mmpath_regions_find(&f.rs, 399)->nr_mapped, 300);
	assert_int_equal(mmpath_stack_footprint(&mmpath_regions_find(&f.rs, 100)->models->lru), 300);
	assert_int_equal(f.rs.nr_extents, 1);
	assert_int_equal(f.rs.nr_regions, 2);
	fixture_destroy(&f);
}

static void test_move_part(void **state)
{
	struct fixture f;

	(void)state;
	fixture_init(&f);
	map(&f, 1000, 1000);
	touch(&f, 1000, 1000);
	move(&f, 1400, 200, 5000, 200);
	assert_int_equal(f.rs.nr_extents, 3);
	assert_int_equal(mmpath_regions_find(&f.rs, 5000)->nr_mapped, 1000);
	assert_int_equal(id_of(&f, 1400), 0);
	assert_int_equal(id_of(&f, 5199), 1);
	assert_int_equal(mmpath_stack_footprint(&mmpath_regions_find(&f.rs, 1000)->models->lru), 1000);
	assert_same(mmpath_stack_touch(&mmpath_regions_find(&f.rs, 1000)->models->lru, 5000), 599);
	fixture_destroy(&f);
}

/* Two regions and a gap that the kernel sees as one mapping. */
static void test_move_several(void **state)
{
	struct fixture f;

	(void)state;
	fixture_init(&f);
	map(&f, 1000, 300);
	map(&f, 1400, 300);
	touch(&f, 1000, 700);
	move(&f, 1100, 500, 100, 500);
	assert_int_equal(id_of(&f, 1000), 1);
	assert_int_equal(id_of(&f, 100), 1);
	assert_int_equal(id_of(&f, 299), 1);
	assert_int_equal(id_of(&f, 300), 0);
	assert_int_equal(id_of(&f, 400), 2);
	assert_int_equal(id_of(&f, 1600), 2);
	assert_int_equal(mmpath_stack_footprint(&f.rs.rest->models->lru), 100);
	assert_same(mmpath_stack_touch(&f.rs.rest->models->lru, 300), 99);
	fixture_destroy(&f);
}

/* A small one keeps its pages on the rest region's stack. */
static void test_move_small(void **state)
{
	struct fixture f;

	(void)state;
	fixture_init(&f);
	touch(&f, 1000, 20);
	move(&f, 1000, 20, 3000, 30);
	assert_int_equal(mmpath_stack_footprint(&f.rs.rest->models->lru), 20);
	assert_same(mmpath_stack_touch(&f.rs.rest->models->lru, 3000), 19);
	fixture_destroy(&f);
}

static void test_move_over(void **state)
{
	struct fixture f;

	(void)state;
	fixture_init(&f);
	map(&f, 1000, 300);
	map(&f, 5000, 300);
	move(&f, 1000, 300, 5000, 300);
	assert_int_equal(f.rs.nr_regions, 2);
	assert_int_equal(id_of(&f, 5000), 1);
	assert_int_equal(mmpath_regions_move(&f.rs, 5000, 300, 5100, 300), -EINVAL);
	assert_int_equal(mmpath_regions_move(&f.rs, 5000, 300, 4701, 300), -EINVAL);
	move(&f, 5000, 300, 4700, 300);
	/* old size 0 doubles a shared mapping */
	move(&f, 4700, 0, 9000, 300);
	assert_int_equal(id_of(&f, 4700), 1);
	assert_int_equal(id_of(&f, 9000), 3);
	fixture_destroy(&f);
}

static void test_copy(void **state)
{
	struct mmpath_regions child;
	struct fixture f;
	u64 page;

	(void)state;
	fixture_init(&f);
	map(&f, 1000, 1000);
	map(&f, 5000, 300);
	brk_map(&f, 9000, 10);
	unmap(&f, 1400, 100);
	unmap(&f, 5000, 300);
	touch(&f, 0, 10000);
	mmpath_regions_find(&f.rs, 1000)->nomem = 1;
	mmpath_regions_end_burst(&f.rs);
	assert_int_equal(mmpath_regions_init(&child, &f.tm.mem, &params), 0);
	assert_int_equal(mmpath_regions_copy(&child, &f.rs), 0);
	assert_valid(&child);
	for (page = 0; page < 10000; page += 50) {
		struct mmpath_region *region = mmpath_regions_find(&child, page);

		assert_int_equal(region->id, id_of(&f, page));
		assert_int_equal(region->kind, mmpath_regions_find(&f.rs, page)->kind);
		assert_null(region->models);
		assert_int_equal(region->footprint + region->resumed + region->nomem, 0);
	}
	/* each has its own */
	assert_true(mmpath_regions_find(&f.rs, 1000)->models);
	assert_true(mmpath_regions_find(&f.rs, 1000)->footprint);
	assert_int_equal(mmpath_regions_map(&child, 20000, 300, MMPATH_REGION_MMAP), 0);
	assert_int_equal(mmpath_regions_find(&child, 20000)->id, 4);
	mmpath_regions_destroy(&child);
	fixture_destroy(&f);
}

static u64 place(u64 i)
{
	return i * 2 * MIN_PAGES;
}

static void map_many(struct fixture *f, bool down)
{
	u64 i;

	for (i = 0; i < MMPATH_MAX_EXTENTS; i++)
		assert_int_equal(mmpath_regions_map(&f->rs,
						    place(down ? MMPATH_MAX_EXTENTS - 1 - i : i),
						    MIN_PAGES, MMPATH_REGION_MMAP), 0);
	assert_valid(&f->rs);
}

/*
 * As many regions as there may be: paths are short, memory comes in pages, the copy for a child
 * takes an allocation for each page of extents and of regions, and untouched ones are small.
 */
static void test_many(void **state)
{
	const u64 most = MMPATH_MAX_EXTENTS;
	const u64 pages = (most >> (12 - MMPATH_EXTENT_ORDER)) + (most >> (12 - MMPATH_REGION_ORDER));
	struct mmpath_regions child;
	struct fixture f;
	u64 i, allocs;
	int down;

	(void)state;
	for (down = 0; down < 2; down++) {
		fixture_init(&f);
		map_many(&f, down);
		assert_int_equal(f.rs.nr_regions, most + 1);
		/* 2 ln(n) is 19.4 of the mean one */
		assert_in_range(assert_valid(&f.rs), 14, 48);
		/* but for the array of pointers to the pages */
		assert_in_range(f.tm.largest, 4096, 4096);
		assert_in_range(f.tm.mem.bytes, 1, most * 100);
		assert_int_equal(mmpath_regions_init(&child, &f.tm.mem, &params), 0);
		allocs = f.tm.nr_allocs;
		assert_int_equal(mmpath_regions_copy(&child, &f.rs), 0);
		assert_in_range(f.tm.nr_allocs - allocs, pages, pages + 64);
		assert_in_range(assert_valid(&child), 14, 48);
		for (i = 0; i < most; i += 99)
			assert_int_equal(mmpath_regions_find(&child, place(i))->id,
					 id_of(&f, place(i)));
		mmpath_regions_destroy(&child);
		/* what is beyond them is in the rest region; what is there can be replaced */
		assert_int_equal(mmpath_regions_map(&f.rs, place(most), MIN_PAGES,
						    MMPATH_REGION_MMAP), -ENOSPC);
		assert_int_equal(id_of(&f, place(most)), 0);
		assert_int_equal(mmpath_regions_unmap(&f.rs, place(5) + 1, 1), -ENOSPC);
		assert_int_equal(mmpath_regions_move(&f.rs, place(5) + 1, 1, place(most), 1),
				 -ENOSPC);
		map(&f, place(7), MIN_PAGES);
		assert_int_equal(id_of(&f, place(7)), most + 1);
		/* paths are as short of those that others have left */
		for (i = 0; i < most; i++) {
			if (i % 8)
				assert_int_equal(mmpath_regions_unmap(&f.rs, place(i), MIN_PAGES),
						 0);
			assert_int_equal(id_of(&f, place(i / 8 * 8)), down ? most - i / 8 * 8 :
					 i / 8 * 8 + 1);
			/* looks at all of them, which takes a ms */
			if (i % 128 == 0)
				assert_valid(&f.rs);
		}
		assert_in_range(assert_valid(&f.rs), 11, 36);
		/* and their memory is given back, but for the extents' */
		assert_in_range(f.tm.mem.bytes, 1, most * 50);
		for (i = 0; i < most; i++)
			assert_int_equal(id_of(&f, place(i)), i % 8 ? 0 : down ? most - i : i + 1);
		map(&f, place(1), MIN_PAGES);
		assert_valid(&f.rs);
		unmap(&f, place(1), MIN_PAGES);
		/* all but the first and the last one go at once, and those are cut */
		unmap(&f, 1, place(most - 8));
		assert_int_equal(f.rs.nr_regions, 3);
		assert_int_equal(f.rs.nr_extents, 2);
		map(&f, place(most), MIN_PAGES);
		unmap(&f, 0, place(most + 1));
		assert_int_equal(f.rs.nr_extents, 0);
		assert_int_equal(f.rs.extents.nr, 0);
		assert_int_equal(f.rs.regions.nr, 0);
		fixture_destroy(&f);
	}
}

/*
 * A program that knows the ranks of the places could have all extents on one path: it would
 * map them in that order. With another seed it has not.
 */
static void test_seed(void **state)
{
	struct mmpath_region_params other = params;
	struct mmpath_extent *e, *r;
	struct mmpath_regions rs;
	struct fixture f;
	u64 i, left;

	(void)state;
	fixture_init(&f);
	map_many(&f, false);
	other.seed = 12345;
	assert_int_equal(mmpath_regions_init(&rs, &f.tm.mem, &other), 0);
	assert_int_equal(mmpath_regions_map(&rs, place(0), MIN_PAGES, MMPATH_REGION_MMAP), 0);
	/* the shape of one tree is not that of the other */
	for (i = 1; i < MMPATH_MAX_EXTENTS; i++)
		mmpath_regions_map(&rs, place(i), MIN_PAGES, MMPATH_REGION_MMAP);
	for (i = 1, left = 0; i <= MMPATH_MAX_EXTENTS; i++) {
		e = mmpath_vec_at(&f.rs.extents, i, MMPATH_EXTENT_ORDER);
		r = mmpath_vec_at(&rs.extents, i, MMPATH_EXTENT_ORDER);
		left += e->left == r->left;
	}
	assert_in_range(left, 0, MMPATH_MAX_EXTENTS * 3 / 4);
	assert_in_range(assert_valid(&rs), 14, 48);
	mmpath_regions_destroy(&rs);
	fixture_destroy(&f);
}

/* A region that nobody has touched has no models, and what it costs does not grow. */
static void test_untouched(void **state)
{
	struct fixture f;
	size_t before;

	(void)state;
	fixture_init(&f);
	map(&f, 1000, 300);
	before = f.tm.mem.bytes;
	map(&f, 2000, 300);
	/* both arrays double */
	assert_in_range(f.tm.mem.bytes - before, 1, 192);
	mmpath_regions_set_shift(&f.rs, 3);
	mmpath_regions_end_burst(&f.rs);
	mmpath_regions_close_epoch(&f.rs);
	move(&f, 1000, 300, 5000, 400);
	assert_null(mmpath_regions_find(&f.rs, 5000)->models);
	assert_int_equal(mmpath_region_shift(&f.rs, mmpath_regions_find(&f.rs, 5000)), 3);
	touch(&f, 5000, 400);
	assert_int_equal(mmpath_regions_find(&f.rs, 5000)->models->lru.shift, 3);
	assert_null(mmpath_regions_find(&f.rs, 2000)->models);
	fixture_destroy(&f);
}

/* Records go to the curves of their region and of no other. */
static void test_curves(void **state)
{
	struct mmpath_region *region;
	struct fixture f;
	int round;

	(void)state;
	fixture_init(&f);
	map(&f, 1024, 512);
	for (round = 0; round < 4; round++) {
		touch(&f, 1024, 512);
		touch(&f, 64, 32);
	}
	mmpath_regions_close_epoch(&f.rs);
	region = mmpath_regions_find(&f.rs, 1024);
	assert_int_equal(mmpath_mrc_records(&region->models->lru_mrc, MMPATH_MRC_EPOCH), 2048);
	assert_int_equal(mmpath_mrc_cold(&region->models->lru_mrc, MMPATH_MRC_EPOCH), 512);
	assert_int_equal(mmpath_mrc_misses(&region->models->lru_mrc, MMPATH_MRC_EPOCH, 496), 1536);
	assert_int_equal(mmpath_mrc_misses(&region->models->lru_mrc, MMPATH_MRC_EPOCH, 512), 0);
	assert_in_range(mmpath_mrc_misses(&region->models->mru_mrc, MMPATH_MRC_EPOCH, 256), 700, 850);
	assert_int_equal(mmpath_mrc_misses(&f.rs.rest->models->lru_mrc, MMPATH_MRC_TOTAL, 16), 96);
	assert_int_equal(mmpath_mrc_misses(&f.rs.rest->models->lru_mrc, MMPATH_MRC_TOTAL, 32), 0);
	fixture_destroy(&f);
}

/* A sampled curve counts each record for all that it stands for. */
static void test_sampled_curves(void **state)
{
	struct mmpath_region *region;
	struct fixture f;
	int round;

	(void)state;
	fixture_init(&f);
	mmpath_regions_set_shift(&f.rs, 3);
	map(&f, 8192, 4096);
	region = mmpath_regions_find(&f.rs, 8192);
	/* one that brings the models, and is counted nowhere */
	mmpath_region_touch(&f.rs, region, mmpath_sample_of_block(1024, 3), 0, true);
	mmpath_stack_forget(&region->models->lru, 0, 1 << 20);
	assert_int_equal(mmpath_mru_set_shift(&region->models->mru, 4), 0);
	mmpath_mru_forget(&region->models->mru, 0, 1 << 20);
	for (round = 0; round < 3; round++)
		touch(&f, 8192, 4096);
	assert_int_equal(region->models->lru.shift, 3);
	assert_int_equal(mmpath_mrc_records(&region->models->lru_mrc, MMPATH_MRC_TOTAL), 3 * 4096);
	assert_int_equal(mmpath_mrc_records(&region->models->mru_mrc, MMPATH_MRC_TOTAL), 3 * 4096);
	assert_int_equal(mmpath_mrc_cold(&region->models->lru_mrc, MMPATH_MRC_TOTAL), 4096);
	assert_int_equal(mmpath_mrc_misses(&region->models->lru_mrc, MMPATH_MRC_TOTAL, 4080), 8192);
	assert_int_equal(mmpath_mrc_misses(&region->models->lru_mrc, MMPATH_MRC_TOTAL, 4096), 0);
	mmpath_regions_set_shift(&f.rs, 5);
	assert_int_equal(region->models->lru.shift, 5);
	assert_int_equal(mmpath_stack_footprint(&region->models->lru), 4096);
	mmpath_regions_reset(&f.rs, 2);
	assert_int_equal(region->models->lru.shift, 2);
	assert_int_equal(mmpath_stack_footprint(&region->models->lru), 0);
	assert_valid(&f.rs);
	fixture_destroy(&f);
}

/* The MRU stack is never sampled less coarsely than the LRU stack. */
static void test_shifts(void **state)
{
	struct mmpath_region_params small = params;
	struct mmpath_regions rs;
	struct test_mem tm;
	u64 page;

	(void)state;
	test_mem_init(&tm);
	small.max_pages = 100;
	small.mru_pages = 100000;
	assert_int_equal(mmpath_regions_init(&rs, &tm.mem, &small), 0);
	for (page = 0; page < 5000; page++)
		mmpath_regions_touch(&rs, page);
	assert_true(rs.rest->models->lru.shift >= 5);
	assert_valid(&rs);
	mmpath_regions_destroy(&rs);
}

static void test_prefetch(void **state)
{
	/* smaller stacks are not prefetched */
	u64 pages[MMPATH_PREFETCH], nr = 1 << 17, i;
	struct fixture f;

	(void)state;
	fixture_init(&f);
	map(&f, nr, nr);
	map(&f, 2 * nr, nr);
	touch(&f, nr, 2 * nr);
	for (i = 0; i < MMPATH_PREFETCH; i++)
		pages[i] = nr + i * 7919 % 5 * nr / 2;
	mmpath_regions_prefetch(&f.rs, pages, MMPATH_PREFETCH);
	mmpath_regions_prefetch(&f.rs, pages, 0);
	fixture_destroy(&f);
}

static void raise(struct mmpath_regions *rs, u64 page)
{
	mmpath_region_touch(rs, mmpath_regions_find(rs, page), page, mmpath_rank(page), true);
}

/* What is raised comes to the top of the stack, and is no miss and no first touch. */
static void test_raise(void **state)
{
	struct mmpath_region *region;
	struct fixture f;

	(void)state;
	fixture_init(&f);
	map(&f, 1024, 512);
	touch(&f, 1024, 300);
	raise(&f.rs, 1024);
	region = mmpath_regions_find(&f.rs, 1024);
	assert_int_equal(mmpath_mrc_records(&region->models->lru_mrc, MMPATH_MRC_TOTAL), 300);
	assert_int_equal(mmpath_mrc_records(&region->models->mru_mrc, MMPATH_MRC_TOTAL), 300);
	/* one page is above it now, 299 were */
	touch(&f, 1323, 1);
	touch(&f, 1024, 1);
	assert_int_equal(mmpath_mrc_misses(&region->models->lru_mrc, MMPATH_MRC_TOTAL, 16), 0);
	/* not seen before: on the stack, and still not counted */
	raise(&f.rs, 1400);
	assert_int_equal(mmpath_stack_footprint(&region->models->lru), 301);
	assert_int_equal(mmpath_mrc_cold(&region->models->lru_mrc, MMPATH_MRC_TOTAL), 300);
	fixture_destroy(&f);
}

/* A stack that starts again with a finer sample: its pages were touched before. */
static void test_reset_is_no_first_touch(void **state)
{
	struct mmpath_region *region;
	struct fixture f;

	(void)state;
	fixture_init(&f);
	map(&f, 1024, 512);
	map(&f, 4096, 512);
	map(&f, 8192, 512);
	touch(&f, 1024, 300);
	touch(&f, 8192, 10);
	mmpath_regions_forget(&f.rs, 8192, 512);
	mmpath_regions_reset(&f.rs, 0);
	region = mmpath_regions_find(&f.rs, 1024);
	assert_int_equal(region->footprint, 300);
	touch(&f, 1024, 300);
	assert_int_equal(mmpath_mrc_cold(&region->models->lru_mrc, MMPATH_MRC_TOTAL), 300);
	assert_int_equal(mmpath_mrc_cold(&region->models->mru_mrc, MMPATH_MRC_TOTAL), 300);
	/* but not those of a region that was not touched yet, or of which nothing was left */
	region = mmpath_regions_find(&f.rs, 4096);
	touch(&f, 4096, 300);
	assert_int_equal(mmpath_mrc_cold(&region->models->lru_mrc, MMPATH_MRC_TOTAL), 300);
	region = mmpath_regions_find(&f.rs, 8192);
	touch(&f, 8192, 300);
	assert_int_equal(mmpath_mrc_cold(&region->models->lru_mrc, MMPATH_MRC_TOTAL), 310);
	fixture_destroy(&f);
}

/* The stack of a burst starts again, its footprint is remembered. */
static void test_bursts(void **state)
{
	struct mmpath_region *region;
	struct fixture f;

	(void)state;
	fixture_init(&f);
	map(&f, 1024, 512);
	map(&f, 2048, 512);
	touch(&f, 1024, 300);
	mmpath_regions_end_burst(&f.rs);
	touch(&f, 1024, 100);
	mmpath_regions_end_burst(&f.rs);
	region = mmpath_regions_find(&f.rs, 1024);
	assert_int_equal(region->footprint, 300);
	assert_int_equal(mmpath_stack_footprint(&region->models->lru), 0);
	/* the second time they may have been there before */
	assert_int_equal(mmpath_mrc_cold(&region->models->lru_mrc, MMPATH_MRC_TOTAL), 300);
	assert_int_equal(mmpath_mrc_cold(&region->models->mru_mrc, MMPATH_MRC_TOTAL), 300);
	assert_int_equal(mmpath_mrc_records(&region->models->lru_mrc, MMPATH_MRC_TOTAL), 300 + 100);
	f.rs.seen.all = 600;
	f.rs.seen.as = MMPATH_SEEN_ACCESSES;
	mmpath_regions_close_epoch(&f.rs);
	assert_int_equal(mmpath_mrc_records(&region->models->lru_mrc, MMPATH_MRC_EPOCH), 600);
	assert_int_equal(mmpath_mrc_records(&region->models->mru_mrc, MMPATH_MRC_EPOCH), 600);
	assert_int_equal(f.rs.seen.all, 0);
	/* nor does anybody know of a region that was only touched in the pause */
	touch(&f, 2048, 300);
	region = mmpath_regions_find(&f.rs, 2048);
	assert_int_equal(mmpath_mrc_cold(&region->models->lru_mrc, MMPATH_MRC_TOTAL), 0);
	/* what is mapped now was not there before */
	map(&f, 8192, 512);
	touch(&f, 8192, 100);
	region = mmpath_regions_find(&f.rs, 8192);
	assert_int_equal(mmpath_mrc_cold(&region->models->lru_mrc, MMPATH_MRC_TOTAL), 100);
	assert_int_equal(mmpath_mrc_cold(&region->models->mru_mrc, MMPATH_MRC_TOTAL), 100);
	fixture_destroy(&f);
}

static void close_epoch(struct fixture *f, u64 accesses)
{
	f->rs.seen.all = accesses;
	f->rs.seen.as = MMPATH_SEEN_ACCESSES;
	mmpath_regions_close_epoch(&f->rs);
}

/* Accesses that a region has counted are not made up for by others, though it goes. */
static void test_gone(void **state)
{
	struct mmpath_region *region;
	struct fixture f;

	(void)state;
	fixture_init(&f);
	map(&f, 1000, 300);
	map(&f, 2000, 300);
	touch(&f, 1000, 10);
	touch(&f, 1000, 10);
	touch(&f, 2000, 300);
	touch(&f, 2000, 300);
	unmap(&f, 1000, 300);
	region = mmpath_regions_find(&f.rs, 2000);
	close_epoch(&f, 310 + 3 * 310);
	assert_int_equal(mmpath_mrc_records(&region->models->lru_mrc, MMPATH_MRC_EPOCH), 1200);
	assert_int_equal(mmpath_mrc_records(&region->models->mru_mrc, MMPATH_MRC_EPOCH), 1200);
	touch(&f, 2000, 300);
	close_epoch(&f, 300);
	assert_int_equal(mmpath_mrc_records(&region->models->lru_mrc, MMPATH_MRC_EPOCH), 300);
	assert_int_equal(mmpath_mrc_records(&region->models->mru_mrc, MMPATH_MRC_EPOCH), 300);
	fixture_destroy(&f);
}

/* What a region of 1 MiB costs, all of it touched: models and bookkeeping. */
static void test_small_region_bytes(void **state)
{
	struct fixture f;
	size_t before;
	int round;

	(void)state;
	fixture_init(&f);
	before = f.tm.mem.bytes;
	map(&f, 1024, 256);
	for (round = 0; round < 10; round++)
		touch(&f, 1024, 256);
	assert_in_range(f.tm.mem.bytes - before, 1, 256 * 32);
	fixture_destroy(&f);
}

/* Random changes; the answer for each page is kept in an array beside. */
static void random_changes(u64 seed, unsigned long fail_at)
{
	const u64 span = 4000;
	struct rng r = { seed * 2 + 1 };
	struct fixture f;
	u32 *want = calloc(span, sizeof(*want)), next = 1;
	u64 from, to, nr, i;
	int step, err;

	fixture_init(&f);
	if (fail_at)
		f.tm.fail_at = f.tm.nr_allocs + fail_at;
	for (step = 0; step < 300; step++) {
		nr = 1 + rng_below(&r, 600);
		from = rng_below(&r, span - 600);
		to = rng_below(&r, span - 600);
		touch(&f, from, nr);
		switch (rng_below(&r, 4)) {
		case 0:
			err = mmpath_regions_map(&f.rs, from, nr, MMPATH_REGION_MMAP);
			for (i = 0; !err && i < nr; i++)
				want[from + i] = nr >= MIN_PAGES ? next : 0;
			next += !err && nr >= MIN_PAGES;
			break;
		case 1:
			err = mmpath_regions_unmap(&f.rs, from, nr);
			for (i = 0; !err && i < nr; i++)
				want[from + i] = 0;
			break;
		default:
			err = mmpath_regions_move(&f.rs, from, nr, to, nr);
			for (i = 0; !err && from != to && i < nr; i++) {
				want[to + i] = want[from + i];
				want[from + i] = 0;
			}
			break;
		}
		assert_valid(&f.rs);
		if (err == -ENOMEM)
			break;
	}
	for (i = 0; step == 300 && i < span; i++)
		assert_int_equal(id_of(&f, i), want[i]);
	fixture_destroy(&f);
	free(want);
}

static void test_random_changes(void **state)
{
	u64 seed;

	(void)state;
	for (seed = 0; seed < 40; seed++)
		random_changes(seed, 0);
}

/* Whatever allocation fails, what is there stays valid. */
static void test_no_memory(void **state)
{
	struct test_mem tm;
	struct mmpath_regions rs;
	unsigned long n;

	(void)state;
	test_mem_init(&tm);
	tm.fail_at = 1;
	assert_int_equal(mmpath_regions_init(&rs, &tm.mem, &params), -ENOMEM);
	assert_int_equal(tm.mem.bytes, 0);
	for (n = 1; n < 400; n += 1 + n / 40)
		random_changes(3, n);
}

/* What is unmapped along with extents is forgotten on both sides of them. */
static void test_rest_and_extents(void **state)
{
	struct fixture f;

	(void)state;
	fixture_init(&f);
	map(&f, 1000, 300);
	touch(&f, 990, 320);
	assert_int_equal(mmpath_stack_footprint(&f.rs.rest->models->lru), 20);
	unmap(&f, 995, 305);
	assert_int_equal(mmpath_stack_footprint(&f.rs.rest->models->lru), 15);
	map(&f, 1000, 300);
	unmap(&f, 1000, 305);
	assert_int_equal(mmpath_stack_footprint(&f.rs.rest->models->lru), 10);
	/* nothing of an extent is there, whatever it was before */
	touch(&f, 1000, 300);
	assert_int_equal(mmpath_stack_footprint(&f.rs.rest->models->lru), 310);
	map(&f, 1000, 300);
	assert_int_equal(mmpath_stack_footprint(&f.rs.rest->models->lru), 10);
	/* the beginning of an extent */
	unmap(&f, 1000, 100);
	assert_int_equal(id_of(&f, 1099), 0);
	assert_int_equal(id_of(&f, 1100), 3);
	fixture_destroy(&f);
}

/* A region that takes the place of one that has gone has nothing of it. */
static void test_place_again(void **state)
{
	struct mmpath_region *region;
	struct fixture f;
	u32 top;

	(void)state;
	fixture_init(&f);
	map(&f, 1000, 300);
	map(&f, 2000, 300);
	touch(&f, 1000, 1300);
	mmpath_regions_end_burst(&f.rs);
	top = f.rs.top_region;
	unmap(&f, 1000, 300);
	assert_valid(&f.rs);
	map(&f, 3000, 300);
	assert_valid(&f.rs);
	region = mmpath_regions_find(&f.rs, 3000);
	assert_int_equal(f.rs.top_region, top);
	assert_int_equal(region->id, 3);
	assert_int_equal(region->nr_mapped, 300);
	assert_int_equal(region->footprint + region->resumed, 0);
	assert_null(region->models);
	fixture_destroy(&f);
}

/* The copy for a child is there, or nothing of it. */
static void test_copy_no_memory(void **state)
{
	struct mmpath_regions child;
	struct fixture f;
	unsigned long n;
	u64 i;
	int err;

	(void)state;
	fixture_init(&f);
	for (i = 0; i < 200; i++)
		map(&f, place(i), MIN_PAGES);
	for (n = 1, err = -ENOMEM; err; n++) {
		assert_int_equal(mmpath_regions_init(&child, &f.tm.mem, &params), 0);
		f.tm.fail_at = f.tm.nr_allocs + n;
		err = mmpath_regions_copy(&child, &f.rs);
		assert_int_equal(child.nr_regions, err ? 1 : 201);
		assert_int_equal(!child.extents.nr, !!err);
		assert_valid(&child);
		mmpath_regions_destroy(&child);
	}
	assert_in_range(n, 15, 40);
	fixture_destroy(&f);
}

/*
 * Records that find no memory are dropped, and nothing else is lost: with what comes
 * later the curves are what they are of those records alone.
 */
static void test_dropped(void **state)
{
	struct mmpath_region *region;
	unsigned long dropped = 0;
	struct fixture f;
	u64 page;

	(void)state;
	fixture_init(&f);
	map(&f, 1000, 3000);
	map(&f, 5000, 300);
	region = mmpath_regions_find(&f.rs, 1000);
	f.tm.fail_one_in = 3;
	for (page = 1000; page < 4000; page++)
		dropped += !!mmpath_region_touch(&f.rs, region, page, mmpath_rank(page), false);
	f.tm.fail_one_in = 0;
	assert_in_range(dropped, 10, 1000);
	assert_true(region->nomem);
	assert_false(mmpath_regions_find(&f.rs, 5000)->nomem);
	mmpath_regions_close_epoch(&f.rs);
	assert_true(region->nomem);
	mmpath_regions_close_epoch(&f.rs);
	assert_false(region->nomem);
	touch(&f, 1000, 3000);
	assert_int_equal(mmpath_stack_footprint(&region->models->lru), 3000);
	mmpath_regions_close_epoch(&f.rs);
	touch(&f, 1000, 3000);
	mmpath_regions_close_epoch(&f.rs);
	assert_int_equal(mmpath_mrc_records(&region->models->lru_mrc, MMPATH_MRC_EPOCH), 3000);
	assert_int_equal(mmpath_mrc_cold(&region->models->lru_mrc, MMPATH_MRC_EPOCH), 0);
	assert_int_equal(mmpath_mrc_misses(&region->models->lru_mrc, MMPATH_MRC_EPOCH, 2992), 3000);
	assert_int_equal(mmpath_mrc_misses(&region->models->lru_mrc, MMPATH_MRC_EPOCH, 3008), 0);
	fixture_destroy(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bad_parameters),
		cmocka_unit_test(test_rest),
		cmocka_unit_test(test_map),
		cmocka_unit_test(test_neighbours),
		cmocka_unit_test(test_map_over),
		cmocka_unit_test(test_unmap),
		cmocka_unit_test(test_unmap_forgets),
		cmocka_unit_test(test_forget),
		cmocka_unit_test(test_heap),
		cmocka_unit_test(test_grow_in_place),
		cmocka_unit_test(test_move),
		cmocka_unit_test(test_move_and_resize),
		cmocka_unit_test(test_move_part),
		cmocka_unit_test(test_move_several),
		cmocka_unit_test(test_move_small),
		cmocka_unit_test(test_move_over),
		cmocka_unit_test(test_copy),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_seed),
		cmocka_unit_test(test_untouched),
		cmocka_unit_test(test_curves),
		cmocka_unit_test(test_sampled_curves),
		cmocka_unit_test(test_shifts),
		cmocka_unit_test(test_prefetch),
		cmocka_unit_test(test_raise),
		cmocka_unit_test(test_reset_is_no_first_touch),
		cmocka_unit_test(test_bursts),
		cmocka_unit_test(test_gone),
		cmocka_unit_test(test_small_region_bytes),
		cmocka_unit_test(test_random_changes),
		cmocka_unit_test(test_rest_and_extents),
		cmocka_unit_test(test_place_again),
		cmocka_unit_test(test_no_memory),
		cmocka_unit_test(test_copy_no_memory),
		cmocka_unit_test(test_dropped),
	};

	cmocka_set_test_filter(getenv("UNIT_FILTER"));
	return cmocka_run_group_tests_name("region", tests, NULL, NULL);
}
