/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tests of the emulated driver's buffers and of its sample. What the driver does to
 * page tables is tested from user space. Included at the end of emul.c.
 */
#ifndef _MM_PATH_DRV_EMUL_KUNIT_H
#define _MM_PATH_DRV_EMUL_KUNIT_H

#include <kunit/test.h>

static struct emul *kt_emul(struct kunit *test, unsigned int entries, unsigned int ways,
			    unsigned int shift)
{
	struct emul *e = kunit_kzalloc(test, sizeof(*e), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, e);
	spin_lock_init(&e->lock);
	e->pab_entries = entries;
	e->pab_ways = ways;
	KUNIT_ASSERT_EQ(test, emul_pabs_alloc(e), 0);
	emul_reshape(e, shift);
	return e;
}

static void kt_emul_free(struct emul *e)
{
	emul_pab_free(&e->pab);
	emul_pab_free(&e->huge);
}

/* The PAB is first in, first out. A hit changes nothing, because software cannot see it. */
static void kt_pab_fifo(struct kunit *test)
{
	struct emul *e = kt_emul(test, 16, 16, 0);
	u64 page;

	for (page = 100; page < 116; page++)
		KUNIT_EXPECT_EQ(test, emul_pab_insert(&e->pab, page, page), 0);
	for (page = 100; page < 116; page++)
		KUNIT_EXPECT_TRUE(test, emul_pab_has(&e->pab, page, page));
	for (page = 116; page < 200; page++) {
		KUNIT_EXPECT_EQ(test, emul_pab_insert(&e->pab, page, page), page - 16 + 1);
		KUNIT_EXPECT_FALSE(test, emul_pab_has(&e->pab, page - 16, page - 16));
		KUNIT_EXPECT_TRUE(test, emul_pab_has(&e->pab, page - 15, page - 15));
	}
	kt_emul_free(e);
}

static bool kt_filter_has(const struct emul *e, u64 page)
{
	unsigned int i;

	for (i = 0; i < EMUL_MAX_FILTER; i++)
		if (e->filter[i] == page + 1)
			return true;
	return false;
}

/* Pages that are forgotten leave the buffers and the filter. All others stay. */
static void kt_forget(struct kunit *test, u64 first, u64 nr, unsigned int shift)
{
	struct emul *e = kt_emul(test, 4096, 4, shift);
	struct mmpath_drv_ctx *ctx = kunit_kzalloc(test, sizeof(*ctx), GFP_KERNEL);
	u64 page, huge;
	bool gone;

	KUNIT_ASSERT_NOT_NULL(test, ctx);
	ctx->drv_data = e;
	e->filter_entries = EMUL_MAX_FILTER;
	for (page = 0; page < 2048; page++) {
		if (!mmpath_sampled(page, shift))
			continue;
		emul_pab_insert(&e->pab, page, emul_block(e, page, false));
		if (page >= 2048 - EMUL_MAX_FILTER)
			emul_filter(e, page);
	}
	for (page = 0; page < 2048; page += 512)
		emul_pab_insert(&e->huge, page, emul_block(e, page, true));
	emul_forget(ctx, first, nr);
	for (page = 0; page < 2048; page++) {
		if (!mmpath_sampled(page, shift))
			continue;
		gone = page >= first && page < first + nr;
		KUNIT_EXPECT_EQ_MSG(test, gone,
				    !emul_pab_has(&e->pab, page, emul_block(e, page, false)),
				    "page %llu of %llu + %llu", page, first, nr);
		huge = page & ~511ULL;
		if (gone)
			KUNIT_EXPECT_FALSE(test, emul_pab_has(&e->huge, huge,
							      emul_block(e, huge, true)));
		if (page >= 2048 - EMUL_MAX_FILTER)
			KUNIT_EXPECT_EQ(test, gone, !kt_filter_has(e, page));
	}
	for (page = 0; page < 2048; page += 512)
		KUNIT_EXPECT_EQ(test, page + 512 > first && page < first + nr,
				!emul_pab_has(&e->huge, page, emul_block(e, page, true)));
	kt_emul_free(e);
}

static void kt_pab_forget(struct kunit *test)
{
	kt_forget(test, 0, 1, 0);
	kt_forget(test, 1, 1, 0);
	kt_forget(test, 511, 2, 0);
	kt_forget(test, 1900, 100, 0);
	kt_forget(test, 0, 2048, 0);
	/* more pages than there are sets */
	kt_forget(test, 100, 1ULL << 40, 0);
	kt_forget(test, 100, 1000, 1);
}

/* Each page in the PAB is on the list of its range, and the lists hold nothing else. */
static void kt_expect_listed(struct kunit *test, const struct emul_pab *pab)
{
	unsigned int i, entries = emul_pab_entries(pab), listed = 0, there = 0;
	struct hlist_node *node;
	u64 page;

	for (i = 0; i < entries; i++) {
		there += pab->page[i] != 0;
		hlist_for_each(node, pab->near + i) {
			page = pab->page[node - pab->node];
			KUNIT_ASSERT_NE(test, page, 0);
			KUNIT_ASSERT_PTR_EQ(test, pab->near + i,
					    emul_pab_near(pab, (page - 1) >> EMUL_NEAR_SHIFT));
			KUNIT_ASSERT_LE(test, ++listed, entries);
		}
	}
	KUNIT_EXPECT_EQ(test, listed, there);
}

/* Forget ranges of all sizes while pages enter the PAB and fall out of it. */
static void kt_pab_forget_any(struct kunit *test)
{
	struct emul *e = kt_emul(test, 128, 8, 0);
	u64 *before = kunit_kcalloc(test, 128, sizeof(*before), GFP_KERNEL);
	u64 seed = 1, page, last;
	unsigned int i, round;

	KUNIT_ASSERT_NOT_NULL(test, before);
	for (round = 0; round < 500; round++) {
		for (i = 0; i < 50; i++) {
			seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
			page = seed >> 48;
			if (!emul_pab_has(&e->pab, page, page))
				emul_pab_insert(&e->pab, page, page);
		}
		memcpy(before, e->pab.page, 128 * sizeof(*before));
		last = page + (seed >> 32) % (1ULL << round % 17);
		emul_pab_forget(&e->pab, page, last, page, last);
		for (i = 0; i < 128; i++)
			KUNIT_ASSERT_EQ(test, e->pab.page[i],
					before[i] > page && before[i] <= last + 1 ? 0 : before[i]);
		kt_expect_listed(test, &e->pab);
	}
	emul_reshape(e, 1);
	kt_expect_listed(test, &e->pab);
	kt_emul_free(e);
}

/* Page 0 is a page like any other. */
static void kt_pab_page_0(struct kunit *test)
{
	struct emul *e = kt_emul(test, 16, 8, 0);

	KUNIT_EXPECT_FALSE(test, emul_pab_has(&e->pab, 0, 0));
	emul_pab_insert(&e->pab, 0, 0);
	KUNIT_EXPECT_TRUE(test, emul_pab_has(&e->pab, 0, 0));
	kt_emul_free(e);
}

/* A page pushes out only pages of its set: 128 entries, 8 ways, 16 sets. */
static void kt_pab_associativity(struct kunit *test)
{
	struct emul *e = kt_emul(test, 128, 8, 0);
	u64 page;

	KUNIT_EXPECT_EQ(test, e->pab.nr_sets, 16);
	for (page = 0; page < 128; page++)
		KUNIT_EXPECT_EQ(test, emul_pab_insert(&e->pab, page, page), 0);
	/* eight pages of its set, then the same eight again */
	for (page = 128; page < 128 + 16 * 16; page += 16)
		KUNIT_EXPECT_EQ(test, emul_pab_insert(&e->pab, page, page), page - 128 + 1);
	for (page = 0; page < 128; page++)
		KUNIT_EXPECT_EQ(test, emul_pab_has(&e->pab, page, page), page % 16 != 0);
	kt_emul_free(e);
}

/* All pages of an instruction are accessible at once, whatever the settings. */
static void kt_pab_one_instruction(struct kunit *test)
{
	const struct mmpath_param *entries = &emul_params[EMUL_PAB_ENTRIES];
	const struct mmpath_param *ways = &emul_params[EMUL_PAB_WAYS];
	unsigned int shift, w, n;
	struct emul *e;

	for (n = entries->min; n <= 8192; n *= 2) {
		for (w = ways->min; w <= min_t(unsigned int, ways->max, n); w *= 2) {
			e = kt_emul(test, n, w, 0);
			for (shift = 0; shift <= MMPATH_MAX_SHIFT; shift++) {
				emul_reshape(e, shift);
				KUNIT_EXPECT_GE(test, e->pab.ways, 8);
				KUNIT_EXPECT_GE(test, e->huge.ways, 8);
				KUNIT_EXPECT_GE(test, e->pab.nr_sets, 1);
				KUNIT_EXPECT_GE(test, e->huge.nr_sets, 1);
			}
			kt_emul_free(e);
		}
	}
}

/* Pages in the buffer are hot. With a sample, so are all pages of their blocks. */
static void kt_find_hot(struct kunit *test)
{
	struct mmpath_drv_ctx *ctx = kunit_kzalloc(test, sizeof(*ctx), GFP_KERNEL);
	struct emul *e = kt_emul(test, 64, 8, 3);
	u64 page[24], sampled = mmpath_sample_of_block(5, 3);
	bool hot[24] = { };
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, ctx);
	ctx->drv_data = e;
	for (i = 0; i < 24; i++)
		page[i] = (7ULL << MMPATH_VPN_BITS) | (32 + i);
	emul_find_hot(ctx, page, 24, hot);
	for (i = 0; i < 24; i++)
		KUNIT_EXPECT_FALSE(test, hot[i]);
	emul_pab_insert(&e->pab, sampled, emul_block(e, sampled, false));
	emul_find_hot(ctx, page, 24, hot);
	for (i = 0; i < 24; i++)
		KUNIT_EXPECT_EQ(test, hot[i], i / 8 == 1);
	/* while paused, no page is known to be hot */
	memset(hot, 0, sizeof(hot));
	e->paused = true;
	emul_find_hot(ctx, page, 24, hot);
	KUNIT_EXPECT_FALSE(test, hot[8]);
	kt_emul_free(e);
}

/* The buffer shrinks with the sample and keeps its reach, down to EMUL_MIN_WAYS entries. */
static void kt_pab_sampled(struct kunit *test)
{
	struct emul *e = kt_emul(test, 8192, 16, 4);

	KUNIT_EXPECT_EQ(test, e->pab.nr_sets * e->pab.ways, 8192 >> 4);
	KUNIT_EXPECT_EQ(test, emul_pab_reach(&e->pab, 4), 8192);
	KUNIT_EXPECT_EQ(test, e->huge.nr_sets * e->huge.ways, 16);
	KUNIT_EXPECT_EQ(test, emul_pab_reach(&e->huge, emul_huge_shift(4)), 8192);
	emul_reshape(e, 11);
	KUNIT_EXPECT_EQ(test, emul_pab_reach(&e->pab, 11), 8 << 11);
	KUNIT_EXPECT_EQ(test, emul_pab_reach(&e->huge, emul_huge_shift(11)), 8 << 11);
	kt_emul_free(e);
}

/* The reach of a context is the greatest that its buffers have had. */
static void kt_reach(struct kunit *test)
{
	struct mmpath_drv_ctx *ctx = kunit_kzalloc(test, sizeof(*ctx), GFP_KERNEL);
	struct emul *e = kt_emul(test, 1024, 16, 0);

	KUNIT_ASSERT_NOT_NULL(test, ctx);
	ctx->drv_data = e;
	emul_raise_reach(ctx, false);
	KUNIT_EXPECT_EQ(test, ctx->pab_reach, 1024);
	emul_reshape(e, 10);
	emul_raise_reach(ctx, false);
	KUNIT_EXPECT_EQ(test, ctx->pab_reach, 8 << 10);
	emul_reshape(e, 0);
	emul_raise_reach(ctx, true);
	KUNIT_EXPECT_EQ(test, ctx->pab_reach, 8 << 10);
	kt_emul_free(e);
}

static void kt_filter_lru(struct kunit *test)
{
	struct emul *e = kt_emul(test, 16, 16, 0);
	u64 page;

	KUNIT_EXPECT_FALSE(test, emul_filter(e, 1));
	KUNIT_EXPECT_FALSE(test, emul_filter(e, 1));	/* no filter */
	e->filter_entries = 4;
	for (page = 0; page < 4; page++)
		KUNIT_EXPECT_FALSE(test, emul_filter(e, page));
	/* 0 becomes the most recent, so 1 goes first */
	KUNIT_EXPECT_TRUE(test, emul_filter(e, 0));
	KUNIT_EXPECT_FALSE(test, emul_filter(e, 10));
	KUNIT_EXPECT_TRUE(test, emul_filter(e, 0));
	KUNIT_EXPECT_TRUE(test, emul_filter(e, 2));
	KUNIT_EXPECT_TRUE(test, emul_filter(e, 3));
	KUNIT_EXPECT_FALSE(test, emul_filter(e, 1));
	/* smaller with the sample, and none in the end */
	e->shift = 2;
	KUNIT_EXPECT_FALSE(test, emul_filter(e, 50));
	KUNIT_EXPECT_TRUE(test, emul_filter(e, 50));
	KUNIT_EXPECT_FALSE(test, emul_filter(e, 51));
	KUNIT_EXPECT_FALSE(test, emul_filter(e, 50));
	e->shift = 3;
	KUNIT_EXPECT_FALSE(test, emul_filter(e, 50));
	KUNIT_EXPECT_FALSE(test, emul_filter(e, 50));
	kt_emul_free(e);
}

/* A huge page is in the sample when one of its pages is. */
static void kt_huge_sampled(struct kunit *test)
{
	unsigned int shift;
	u64 huge, page;
	bool any;

	for (shift = 0; shift < 13; shift++) {
		for (huge = 512 * 1000; huge < 512 * 1040; huge += 512) {
			any = false;
			for (page = huge; page < huge + 512; page++)
				any |= emul_sampled(shift, page, false);
			KUNIT_ASSERT_EQ(test, emul_sampled(shift, huge, true), any);
		}
	}
}

/* Walks visit all pages of the sample and no others. */
static void kt_walk_sampled(struct kunit *test)
{
	struct emul_walk w = { };
	unsigned long addr, start = 1000 * PAGE_SIZE, end = 5003 * PAGE_SIZE;
	u64 page;

	for (; w.shift < 11; w.shift++) {
		page = start >> PAGE_SHIFT;
		for (addr = emul_walk_first(&w, start); addr < end;
		     addr = emul_walk_next(&w, addr)) {
			for (; page < addr >> PAGE_SHIFT; page++)
				KUNIT_ASSERT_FALSE(test, mmpath_sampled(page, w.shift));
			KUNIT_ASSERT_TRUE(test, mmpath_sampled(page, w.shift));
			page++;
		}
	}
}

/* A page in the buffer, or outside of the sample, stays accessible. */
static void kt_wanted(struct kunit *test)
{
	struct emul *e = kt_emul(test, 16, 16, 3);
	u64 page, n = 0;

	for (page = 800; page < 880; page++)
		n += emul_wanted(e, page, false);
	KUNIT_EXPECT_EQ(test, n, 10);
	page = mmpath_sample_of_block(100, 3);
	KUNIT_EXPECT_TRUE(test, emul_wanted(e, page, false));
	emul_pab_insert(&e->pab, page, emul_block(e, page, false));
	KUNIT_EXPECT_FALSE(test, emul_wanted(e, page, false));
	kt_emul_free(e);
}

/* A program that waited in the last epoch may use what was saved, up to one epoch's worth. */
static void kt_budget(struct kunit *test)
{
	struct mmpath_drv_ctx *ctx = kunit_kzalloc(test, sizeof(*ctx), GFP_KERNEL);
	u64 epoch_ns = mmpath_config.epoch_ms * (u64)NSEC_PER_MSEC;
	unsigned int target = emul_param(EMUL_OVERHEAD_TARGET);
	u64 whole_ns = div_u64(epoch_ns * target * EMUL_BURST_PERCENT, 10000);
	u64 least_ns = div_u64(epoch_ns, EMUL_MIN_BUDGET);

	KUNIT_ASSERT_NOT_NULL(test, ctx);
	if (!target)
		kunit_skip(test, "there is no target");
	KUNIT_EXPECT_EQ(test, emul_budget_ns(ctx, epoch_ns), whole_ns);
	KUNIT_EXPECT_EQ(test, emul_budget_ns(ctx, 4 * epoch_ns), 4 * whole_ns);
	KUNIT_EXPECT_EQ(test, emul_budget_ns(ctx, 1), least_ns);
	ctx->own_ns = 10 * epoch_ns;
	KUNIT_EXPECT_EQ(test, emul_budget_ns(ctx, 1), whole_ns);
	ctx->cost_ns = div_u64(ctx->own_ns * target, 100) - div_u64(epoch_ns * target, 200);
	KUNIT_EXPECT_EQ(test, emul_budget_ns(ctx, 1), whole_ns / 2);
	ctx->cost_ns = U64_MAX;
	KUNIT_EXPECT_EQ(test, emul_budget_ns(ctx, 1), least_ns);
	KUNIT_EXPECT_EQ(test, emul_budget_ns(ctx, epoch_ns), whole_ns);
}

/* An mm with one untouched mapping at 1 GiB */
static struct mm_struct *kt_emul_mm(struct kunit *test, unsigned long size)
{
	struct mm_struct *mm = mm_alloc();
	struct vm_area_struct *vma;

	KUNIT_ASSERT_NOT_NULL(test, mm);
	vma = vm_area_alloc(mm);
	KUNIT_ASSERT_NOT_NULL(test, vma);
	vma_set_anonymous(vma);
	vma->vm_start = SZ_1G;
	vma->vm_end = SZ_1G + size;
	vm_flags_init(vma, VM_READ | VM_WRITE | mm->def_flags);
	mmap_write_lock(mm);
	KUNIT_ASSERT_EQ(test, insert_vm_struct(mm, vma), 0);
	mmap_write_unlock(mm);
	mm->task_size = TASK_SIZE;
	return mm;
}

/* An empty page table, which the end of the mm frees */
static bool kt_table(struct mm_struct *mm, unsigned long addr)
{
	p4d_t *p4d = p4d_alloc(mm, pgd_offset(mm, addr), addr);
	pud_t *pud = p4d ? pud_alloc(mm, p4d, addr) : NULL;
	pmd_t *pmd = pud ? pmd_alloc(mm, pud, addr) : NULL;

	return pmd && !pte_alloc(mm, pmd);
}

/*
 * A walk drops mmap_lock now and then, and covers the whole mm. Address space without page tables
 * does not count.
 */
static void kt_bites(struct kunit *test)
{
	unsigned long gap = 2 * PMD_SIZE, size = 5 * EMUL_BITE / 2 * gap, addr;
	struct mm_struct *mm = kt_emul_mm(test, size);
	struct emul_walk w = { };
	unsigned int i;

	for (addr = SZ_1G; addr < SZ_1G + size; addr += gap)
		KUNIT_ASSERT_TRUE(test, kt_table(mm, addr));
	mmap_read_lock(mm);
	for (i = 1; i < 3; i++) {
		emul_bite(mm, &w);
		KUNIT_EXPECT_EQ(test, w.at, SZ_1G + i * EMUL_BITE * gap - PMD_SIZE);
	}
	emul_bite(mm, &w);
	KUNIT_EXPECT_EQ(test, w.at, mm->task_size);
	KUNIT_EXPECT_EQ(test, w.tables, EMUL_BITE / 2);
	mmap_read_unlock(mm);
	mmput(mm);
}

/*
 * The worker may take the target's part of own time, or 1/EMUL_SCAN_SHARE of all. What it takes
 * beyond that puts bursts off, but not for ever.
 */
static void kt_debt(struct kunit *test)
{
	struct mmpath_drv_ctx *ctx = kunit_kzalloc(test, sizeof(*ctx), GFP_KERNEL);
	u64 epoch_ns = mmpath_config.epoch_ms * (u64)NSEC_PER_MSEC;
	unsigned int target = emul_param(EMUL_OVERHEAD_TARGET);
	u64 may_ns = div_u64(epoch_ns * target, 100);
	u64 least_ns = div_u64(epoch_ns, EMUL_SCAN_SHARE);
	struct emul *e = kt_emul(test, 16, 16, 3);

	KUNIT_ASSERT_NOT_NULL(test, ctx);
	if (!target)
		kunit_skip(test, "there is no target");
	ctx->drv_data = e;
	atomic64_set(&ctx->worker_ns, may_ns);
	KUNIT_EXPECT_EQ(test, emul_repay(ctx, epoch_ns), 0);
	KUNIT_EXPECT_TRUE(test, e->worker_much);
	KUNIT_EXPECT_EQ(test, e->debt_ns, 0);
	atomic64_add(5 * may_ns / 2, &ctx->worker_ns);
	KUNIT_EXPECT_EQ(test, emul_repay(ctx, epoch_ns), 2);
	KUNIT_EXPECT_EQ(test, e->debt_ns, 3 * may_ns / 2);
	KUNIT_EXPECT_EQ(test, emul_repay(ctx, 0), 0);
	KUNIT_EXPECT_FALSE(test, e->worker_much);
	KUNIT_EXPECT_EQ(test, e->debt_ns, 3 * may_ns / 2 - least_ns);
	emul_repay(ctx, 2 * epoch_ns);
	KUNIT_EXPECT_EQ(test, e->debt_ns, 0);
	atomic64_add(1000 * may_ns, &ctx->worker_ns);
	emul_repay(ctx, epoch_ns);
	KUNIT_EXPECT_EQ(test, e->debt_ns, (EMUL_MAX_DEBT - 1) * may_ns);
	e->debt_ns = 0;
	e->coarser = true;
	atomic64_add(1000 * may_ns, &ctx->worker_ns);
	KUNIT_EXPECT_EQ(test, emul_repay(ctx, epoch_ns), 0);
	KUNIT_EXPECT_EQ(test, e->debt_ns, 0);
	KUNIT_EXPECT_EQ(test, emul_repay(ctx, epoch_ns), 0);
	KUNIT_EXPECT_FALSE(test, e->coarser);
	kt_emul_free(e);
}

/*
 * A scan that cannot get mmap_lock stays due and continues where it was. No burst begins, nor when
 * the worker has taken too much.
 */
static void kt_busy_scan(struct kunit *test)
{
	struct mmpath_drv_ctx *ctx = kunit_kzalloc(test, sizeof(*ctx), GFP_KERNEL);
	struct mm_struct *mm = kt_emul_mm(test, 3 * PMD_SIZE);
	struct emul *e = kt_emul(test, 16, 16, 3);

	KUNIT_ASSERT_NOT_NULL(test, ctx);
	ctx->drv_data = e;
	emul_scan_anew(e);
	e->scan_at = SZ_1G + PMD_SIZE;
	e->scan_shift = 5;
	e->paused = true;
	e->resuming = true;
	mmap_write_lock(mm);
	emul_scan(ctx, mm);
	emul_begin(ctx, mm);
	mmap_write_unlock(mm);
	KUNIT_EXPECT_TRUE(test, e->scan_now);
	KUNIT_EXPECT_EQ(test, e->scan_at, SZ_1G + PMD_SIZE);
	KUNIT_EXPECT_TRUE(test, e->paused);
	KUNIT_EXPECT_FALSE(test, emul_looked(e));
	/* the scan may have begun with this sample */
	KUNIT_EXPECT_EQ(test, e->scan_shift, 3);
	e->debt_ns = 1;
	emul_begin(ctx, mm);
	KUNIT_EXPECT_TRUE(test, e->paused);
	e->debt_ns = 0;
	emul_begin(ctx, mm);
	KUNIT_EXPECT_FALSE(test, e->paused);
	KUNIT_EXPECT_TRUE(test, emul_looked(e));
	KUNIT_EXPECT_EQ(test, e->scan_at, 0);
	emul_scan(ctx, mm);
	KUNIT_EXPECT_FALSE(test, e->scan_now);
	KUNIT_EXPECT_EQ(test, e->scan_at, 0);
	mmput(mm);
	kt_emul_free(e);
}

/* Hint faults are counted in the PAB, tracked pages or not, and told to the context later. */
static void kt_faults(struct kunit *test)
{
	struct mmpath_drv_ctx *ctx = kunit_kzalloc(test, sizeof(*ctx), GFP_KERNEL);
	struct emul *e = kt_emul(test, 64, 8, 3);
	u64 page = mmpath_sample_of_block(5, 3) ^ 1;

	KUNIT_ASSERT_NOT_NULL(test, ctx);
	ctx->drv_data = e;
	emul_enter(ctx, NULL, page << PAGE_SHIFT, 0, false, false);
	KUNIT_EXPECT_EQ(test, e->faults, 0);
	emul_enter(ctx, NULL, page << PAGE_SHIFT, 0, true, false);
	KUNIT_EXPECT_EQ(test, e->faults, 1);
	KUNIT_EXPECT_FALSE(test, emul_pab_has(&e->pab, page, emul_block(e, page, false)));
	e->paused = true;
	emul_touched(ctx, NULL, page << PAGE_SHIFT, 0, false);
	KUNIT_EXPECT_EQ(test, e->faults, 1);
	emul_touched(ctx, NULL, page << PAGE_SHIFT, 0, true);
	KUNIT_EXPECT_EQ(test, e->faults, 2);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&ctx->stat[MMPATH_FAULTS]), 0);
	emul_tell_faults(ctx);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&ctx->stat[MMPATH_FAULTS]), 2);
	e->faults++;
	emul_tell_faults(ctx);
	emul_tell_faults(ctx);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&ctx->stat[MMPATH_FAULTS]), 3);
	kt_emul_free(e);
}

static struct kunit_case kt_emul_cases[] = {
	KUNIT_CASE(kt_pab_fifo),
	KUNIT_CASE(kt_pab_forget),
	KUNIT_CASE(kt_pab_forget_any),
	KUNIT_CASE(kt_pab_page_0),
	KUNIT_CASE(kt_pab_associativity),
	KUNIT_CASE(kt_pab_one_instruction),
	KUNIT_CASE(kt_pab_sampled),
	KUNIT_CASE(kt_reach),
	KUNIT_CASE(kt_find_hot),
	KUNIT_CASE(kt_faults),
	KUNIT_CASE(kt_filter_lru),
	KUNIT_CASE(kt_huge_sampled),
	KUNIT_CASE(kt_walk_sampled),
	KUNIT_CASE(kt_wanted),
	KUNIT_CASE(kt_budget),
	KUNIT_CASE(kt_bites),
	KUNIT_CASE(kt_debt),
	KUNIT_CASE(kt_busy_scan),
	{}
};

static struct kunit_suite kt_emul_suite = {
	.name = "mmpath-emul",
	.test_cases = kt_emul_cases,
};

kunit_test_suite(kt_emul_suite);

#endif /* _MM_PATH_DRV_EMUL_KUNIT_H */
