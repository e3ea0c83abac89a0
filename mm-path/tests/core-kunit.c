// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the way of a record: packed, logged, drained in order into regions,
 * domains and recordings.
 */
#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/memcontrol.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include "../models/tests/touch.h"
#include "../ui/ui.h"

#define KT_LOG	64U

static void kt_record_packing(struct kunit *test)
{
	unsigned long addr = 0x7f1234567000UL;
	unsigned int order;

	for (order = 0; order <= PMD_SHIFT - PAGE_SHIFT; order++) {
		unsigned long size = PAGE_SIZE << order;
		unsigned long r = mmpath_record(addr + 123, order, order & 1);

		KUNIT_EXPECT_EQ(test, mmpath_record_order(r), order);
		KUNIT_EXPECT_EQ(test, r & MMPATH_RECORD_WRITE, order & 1);
		KUNIT_EXPECT_EQ(test, r & PAGE_MASK, addr & ~(size - 1));
	}
}

static unsigned int kt_reclaimed;

static void kt_reclaim(struct work_struct *work)
{
	kt_reclaimed++;
}

/* A worker leaves to the cgroup's work what it has charged beyond memory.high, and no more. */
static void kt_charged(struct kunit *test)
{
	struct mem_cgroup *memcg = kunit_kzalloc(test, sizeof(*memcg), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, memcg);
	INIT_WORK(&memcg->high_work, kt_reclaim);
	kt_reclaimed = 0;
	mmpath_charged(memcg);
	flush_work(&memcg->high_work);
	KUNIT_EXPECT_EQ(test, kt_reclaimed, 0);
	current->memcg_nr_pages_over_high = 64;
	/* a domain of no cgroup; what is noted is of another */
	mmpath_charged(NULL);
	KUNIT_EXPECT_EQ(test, current->memcg_nr_pages_over_high, 64);
	mmpath_charged(memcg);
	flush_work(&memcg->high_work);
	KUNIT_EXPECT_EQ(test, kt_reclaimed, 1);
	KUNIT_EXPECT_EQ(test, current->memcg_nr_pages_over_high, 0);
	/* a task has it reclaimed when it returns */
	current->flags &= ~PF_KTHREAD;
	current->memcg_nr_pages_over_high = 64;
	mmpath_charged(memcg);
	current->flags |= PF_KTHREAD;
	flush_work(&memcg->high_work);
	KUNIT_EXPECT_EQ(test, kt_reclaimed, 1);
	KUNIT_EXPECT_EQ(test, current->memcg_nr_pages_over_high, 64);
	current->memcg_nr_pages_over_high = 0;
}

/* A context of an mm that nobody runs in, in no table */
static struct mmpath_ctx *kt_ctx(struct kunit *test, struct mmpath_domain **dom)
{
	struct mm_struct *mm = mm_alloc();
	struct mmpath_ctx *ctx;

	KUNIT_ASSERT_NOT_NULL(test, mm);
	ctx = mmpath_ctx_alloc(mm, KT_LOG);
	mmput(mm);	/* the context has pinned it */
	KUNIT_ASSERT_NOT_NULL(test, ctx);
	ctx->gfp = MMPATH_GFP_NOWAIT;
	ctx->id = 1;
	*dom = mmpath_domain_create(NULL);
	KUNIT_ASSERT_NOT_NULL(test, *dom);
	KUNIT_ASSERT_EQ(test, mmpath_add_domain(ctx, *dom), 0);
	KUNIT_ASSERT_EQ(test, mmpath_add_domain(ctx, *dom), 0);
	KUNIT_ASSERT_EQ(test, ctx->nr_domains, 1);
	KUNIT_ASSERT_EQ(test, mmpath_domain_record(*dom), 0);
	KUNIT_ASSERT_EQ(test, mmpath_domain_record(*dom), -EBUSY);
	return ctx;
}

static void kt_ctx_end(struct kunit *test, struct mmpath_ctx *ctx, struct mmpath_domain *dom)
{
	mmpath_del_domain(ctx, dom);
	KUNIT_EXPECT_EQ(test, ctx->nr_domains, 0);
	mmpath_domain_destroy(dom);
	mmpath_ctx_put(ctx);
}

static unsigned long kt_page(unsigned long i)
{
	return mmpath_record((1000 + i) << PAGE_SHIFT, 0, i & 1);
}

static void kt_log_full(struct kunit *test)
{
	struct mmpath_domain *dom;
	struct mmpath_ctx *ctx = kt_ctx(test, &dom);
	unsigned long i;

	for (i = 0; i < KT_LOG + 7; i++)
		mmpath_log(&ctx->d, kt_page(i));
	KUNIT_EXPECT_EQ(test, atomic_long_read(&ctx->d.stat[MMPATH_DROPPED_LOG_FULL]), 0);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&ctx->d.stat[MMPATH_RECORDS]), 0);
	mmpath_drain(ctx);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&ctx->d.stat[MMPATH_DROPPED_LOG_FULL]), 7);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&ctx->d.stat[MMPATH_RECORDS]), KT_LOG);
	KUNIT_EXPECT_EQ(test, mmpath_stack_footprint(&dom->lru), KT_LOG);
	/* there is room again */
	mmpath_log(&ctx->d, kt_page(i));
	mmpath_drain(ctx);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&ctx->d.stat[MMPATH_DROPPED_LOG_FULL]), 7);
	kt_ctx_end(test, ctx, dom);
}

static void kt_set_shift(struct mmpath_ctx *ctx, unsigned int shift)
{
	mutex_lock(&mmpath_mutex);
	mmpath_set_shift(&ctx->d, shift);
	mutex_unlock(&mmpath_mutex);
}

/* A driver that tracks a part of the pages from the start: the curve knows. */
static void kt_join_sampled(struct kunit *test)
{
	struct mmpath_domain *first, *dom = mmpath_domain_create(NULL);
	struct mmpath_ctx *ctx = kt_ctx(test, &first);

	KUNIT_ASSERT_NOT_NULL(test, dom);
	kt_set_shift(ctx, 3);
	KUNIT_EXPECT_EQ(test, first->lru.shift, 3);
	KUNIT_ASSERT_EQ(test, mmpath_add_domain(ctx, dom), 0);
	KUNIT_EXPECT_EQ(test, dom->lru.shift, 3);
	mmpath_del_domain(ctx, dom);
	KUNIT_EXPECT_EQ(test, ctx->nr_domains, 1);
	mmpath_domain_destroy(dom);
	kt_ctx_end(test, ctx, first);
}

/* A merged stack gets coarser with a member at once, finer when it is reset or empty. */
static void kt_reset_shift(struct kunit *test)
{
	struct mmpath_domain *dom;
	struct mmpath_ctx *ctx = kt_ctx(test, &dom);

	kt_set_shift(ctx, 5);
	kt_set_shift(ctx, 2);
	KUNIT_EXPECT_EQ(test, dom->lru.shift, 5);
	mmpath_reset_domain(dom);
	KUNIT_EXPECT_EQ(test, dom->lru.shift, 2);
	mmpath_domain_leave(dom, ctx);
	mmpath_reset_domain(dom);
	KUNIT_EXPECT_EQ(test, dom->lru.shift, 0);
	KUNIT_EXPECT_EQ(test, mmpath_domain_join(dom, ctx), 0);
	kt_set_shift(ctx, 6);
	mmpath_domain_leave(dom, ctx);
	mmpath_domain_join(dom, ctx);
	KUNIT_EXPECT_EQ(test, dom->lru.shift, 0);
	kt_ctx_end(test, ctx, dom);
}

/*
 * A policy: what it is told of goes into a model. No file of the core names it.
 */
struct kt_policy {
	struct mmpath_policy policy;
	struct mmpath_lirs lirs;
	unsigned int regions, epochs;
};

static struct kt_policy *kt_policy_of(const struct mmpath_policy *p)
{
	return container_of(p, struct kt_policy, policy);
}

static int kt_policy_touch(struct mmpath_policy *p, u64 page, u64 region)
{
	return __mmpath_lirs_touch(&kt_policy_of(p)->lirs, page);
}

static void kt_policy_forget(struct mmpath_policy *p, u64 first, u64 nr)
{
	mmpath_lirs_forget(&kt_policy_of(p)->lirs, first, nr);
}

static int kt_policy_move(struct mmpath_policy *p, u64 from, u64 to, u64 nr)
{
	return mmpath_lirs_move(&kt_policy_of(p)->lirs, from, to, nr);
}

static void kt_policy_set_shift(struct mmpath_policy *p, unsigned int shift)
{
	mmpath_lirs_set_shift(&kt_policy_of(p)->lirs, shift);
	p->shift = kt_policy_of(p)->lirs.shift;
}

static void kt_policy_refine(struct mmpath_policy *p, unsigned int shift)
{
	mmpath_lirs_refine(&kt_policy_of(p)->lirs, shift);
	p->shift = kt_policy_of(p)->lirs.shift;
}

static void kt_policy_close_region(struct mmpath_policy *p, u64 region,
				   const struct mmpath_models *models)
{
	kt_policy_of(p)->regions++;
}

static void kt_policy_close_epoch(struct mmpath_policy *p)
{
	kt_policy_of(p)->epochs++;
}

static bool kt_policy_acts(const struct mmpath_policy *p)
{
	return kt_policy_of(p)->epochs;
}

static const struct mmpath_policy_ops kt_policy_ops = {
	.touch		= kt_policy_touch,
	.forget		= kt_policy_forget,
	.move		= kt_policy_move,
	.set_shift	= kt_policy_set_shift,
	.refine		= kt_policy_refine,
	.close_region	= kt_policy_close_region,
	.close_epoch	= kt_policy_close_epoch,
	.acts		= kt_policy_acts,
};

static void kt_start_policy(struct mmpath_domain *dom, struct kt_policy *k, u32 max_pages)
{
	mutex_lock(&dom->lock);
	*k = (struct kt_policy){ .policy.ops = &kt_policy_ops };
	mmpath_lirs_init(&k->lirs, &dom->mem, max_pages, dom->lru.shift);
	k->policy.shift = k->lirs.shift;
	mmpath_domain_tell_policy(dom, &k->policy);
	mmpath_domain_add_policy(dom, &k->policy);
	mutex_unlock(&dom->lock);
}

static void kt_stop_policy(struct mmpath_domain *dom, struct kt_policy *k)
{
	mutex_lock(&dom->lock);
	mmpath_domain_del_policy(&k->policy);
	mmpath_lirs_destroy(&k->lirs);
	mutex_unlock(&dom->lock);
}

static u64 kt_policy_knows(const struct kt_policy *k)
{
	return k->lirs.nr_lirs + k->lirs.nr_hirs;
}

static u64 kt_number(const struct mmpath_ctx *ctx, u64 page)
{
	return (u64)ctx->id << MMPATH_VPN_BITS | page;
}

/* Two policies in a domain are told of each touch, unmapping, move and epoch. */
static void kt_policies(struct kunit *test)
{
	struct mmpath_domain *dom;
	struct mmpath_ctx *ctx = kt_ctx(test, &dom);
	struct kt_policy *k = kunit_kcalloc(test, 2, sizeof(*k), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, k);
	KUNIT_EXPECT_FALSE(test, mmpath_has_policy(&ctx->d));
	kt_start_policy(dom, &k[0], 1000);
	for (i = 0; i < KT_LOG / 2; i++)
		mmpath_log(&ctx->d, mmpath_record((KT_LOG + i) << PAGE_SHIFT, 0, false));
	mmpath_drain(ctx);
	/* begins with what has been touched */
	kt_start_policy(dom, &k[1], 1000);
	KUNIT_EXPECT_TRUE(test, mmpath_has_policy(&ctx->d));
	for (; i < KT_LOG; i++)
		mmpath_log(&ctx->d, mmpath_record((KT_LOG + i) << PAGE_SHIFT, 0, false));
	mmpath_drain(ctx);
	KUNIT_EXPECT_EQ(test, kt_policy_knows(&k[0]), KT_LOG);
	KUNIT_EXPECT_EQ(test, kt_policy_knows(&k[1]), KT_LOG);
	mmpath_domain_forget(dom, ctx, KT_LOG, 8);
	mmpath_domain_move(dom, ctx, KT_LOG + 8, 16 * KT_LOG, 8);
	mutex_lock(&ctx->lock);
	mmpath_domain_close_regions(dom, ctx);
	mutex_unlock(&ctx->lock);
	KUNIT_EXPECT_FALSE(test, mmpath_domain_policy_acts(dom));
	mmpath_domain_close_epoch(dom);
	KUNIT_EXPECT_TRUE(test, mmpath_domain_policy_acts(dom));
	for (i = 0; i < 2; i++) {
		KUNIT_EXPECT_EQ(test, kt_policy_knows(&k[i]), KT_LOG - 8);
		KUNIT_EXPECT_FALSE(test, mmpath_lirs_resident(&k[i].lirs,
							      kt_number(ctx, KT_LOG + 8)));
		KUNIT_EXPECT_TRUE(test, mmpath_lirs_resident(&k[i].lirs,
							     kt_number(ctx, 16 * KT_LOG)));
		KUNIT_EXPECT_EQ(test, k[i].regions, 1);
		KUNIT_EXPECT_EQ(test, k[i].epochs, 1);
	}
	kt_stop_policy(dom, &k[0]);
	KUNIT_EXPECT_PTR_EQ(test, k[0].policy.dom, NULL);
	kt_set_shift(ctx, 3);
	KUNIT_EXPECT_EQ(test, k[0].policy.shift, 0);
	KUNIT_EXPECT_EQ(test, k[1].policy.shift, 3);
	mmpath_domain_refine(dom, 1);
	KUNIT_EXPECT_EQ(test, k[1].policy.shift, 1);
	mutex_lock(&dom->lock);
	KUNIT_EXPECT_PTR_EQ(test, mmpath_domain_find_policy(dom, &kt_policy_ops), &k[1].policy);
	mutex_unlock(&dom->lock);
	kt_stop_policy(dom, &k[1]);
	KUNIT_EXPECT_FALSE(test, mmpath_has_policy(&ctx->d));
	kt_ctx_end(test, ctx, dom);
}

/* With a policy the curves are of fewer pages, and the policy sees all. */
static void kt_curve_shift(struct kunit *test)
{
	struct mmpath_domain *dom;
	struct mmpath_ctx *ctx = kt_ctx(test, &dom);
	struct kt_policy *k = kunit_kzalloc(test, sizeof(*k), GFP_KERNEL);
	unsigned long i;

	KUNIT_ASSERT_NOT_NULL(test, k);
	add_mm_counter(ctx->d.mm, MM_ANONPAGES, 16 * MMPATH_CURVE_PAGES);
	kt_set_shift(ctx, 0);
	KUNIT_EXPECT_EQ(test, ctx->regions.params.shift, 0);
	kt_start_policy(dom, k, 1000);
	kt_set_shift(ctx, 0);
	KUNIT_EXPECT_EQ(test, ctx->d.shift, 0);
	KUNIT_EXPECT_EQ(test, ctx->regions.params.shift, 4);
	KUNIT_EXPECT_EQ(test, dom->lru.shift, 4);
	for (i = 0; i < KT_LOG; i++)
		mmpath_log(&ctx->d, mmpath_record((KT_LOG + i) << PAGE_SHIFT, 0, false));
	mmpath_drain(ctx);
	KUNIT_EXPECT_EQ(test, k->lirs.nr_lirs, KT_LOG);
	KUNIT_EXPECT_EQ(test, dom->lru.nr_pages, KT_LOG / 16);
	KUNIT_EXPECT_EQ(test, ctx->regions.rest->models->lru.nr_pages, KT_LOG / 16);
	/* coarser than the policy wants, and back */
	kt_set_shift(ctx, 3);
	KUNIT_EXPECT_EQ(test, ctx->regions.params.shift, 4);
	KUNIT_EXPECT_EQ(test, k->lirs.nr_lirs, KT_LOG / 8);
	mmpath_domain_refine(dom, 1);
	KUNIT_EXPECT_EQ(test, k->lirs.nr_lirs, KT_LOG / 2);
	kt_stop_policy(dom, k);
	add_mm_counter(ctx->d.mm, MM_ANONPAGES, -16 * (long)MMPATH_CURVE_PAGES);
	kt_ctx_end(test, ctx, dom);
}

/* A second policy begins with curves that the first one has made coarse. */
static void kt_policy_again(struct kunit *test)
{
	struct mmpath_domain *dom;
	struct mmpath_ctx *ctx = kt_ctx(test, &dom);
	struct kt_policy *k = kunit_kzalloc(test, sizeof(*k), GFP_KERNEL);
	unsigned long i;
	int round;

	KUNIT_ASSERT_NOT_NULL(test, k);
	add_mm_counter(ctx->d.mm, MM_ANONPAGES, 16 * MMPATH_CURVE_PAGES);
	for (round = 0; round < 2; round++) {
		kt_start_policy(dom, k, 1000);
		mmpath_policy_began(dom);
		KUNIT_EXPECT_EQ(test, dom->lru.shift, 4);
		KUNIT_EXPECT_EQ(test, k->lirs.shift, 0);
		for (i = 0; i < KT_LOG; i++)
			mmpath_log(&ctx->d, mmpath_record((KT_LOG + i) << PAGE_SHIFT, 0, false));
		mmpath_drain(ctx);
		KUNIT_EXPECT_EQ(test, k->lirs.nr_lirs, KT_LOG);
		kt_stop_policy(dom, k);
	}
	add_mm_counter(ctx->d.mm, MM_ANONPAGES, -16 * (long)MMPATH_CURVE_PAGES);
	kt_ctx_end(test, ctx, dom);
}

static void *kt_no_memory(struct mmpath_mem *mem, size_t bytes)
{
	return NULL;
}

/* One allocation in ten fails. Below ctx->lock, as those of contexts. */
static void *kt_little_memory(struct mmpath_mem *mem, size_t bytes)
{
	return get_random_u32_below(10) ? kzalloc(bytes, MMPATH_GFP_NOWAIT) : NULL;
}

static void kt_touch_huge(struct mmpath_ctx *ctx, unsigned long nr)
{
	mmpath_log(&ctx->d, mmpath_record(nr << (9 + PAGE_SHIFT), 9, false));
	mmpath_drain(ctx);
}

/*
 * Without memory records are dropped. Curves and a policy go on with those that
 * come later, and with memory they know again all that is touched.
 */
static void kt_short_of_memory(struct kunit *test)
{
	struct mmpath_domain *dom;
	struct mmpath_ctx *ctx = kt_ctx(test, &dom);
	struct kt_policy *k = kunit_kzalloc(test, sizeof(*k), GFP_KERNEL);
	void *(*ctx_alloc)(struct mmpath_mem *mem, size_t bytes) = ctx->mem.alloc;
	void *(*dom_alloc)(struct mmpath_mem *mem, size_t bytes) = dom->mem.alloc;
	unsigned long i;

	KUNIT_ASSERT_NOT_NULL(test, k);
	kt_start_policy(dom, k, 100000);
	ctx->mem.alloc = kt_no_memory;
	dom->mem.alloc = kt_no_memory;
	kt_touch_huge(ctx, 1);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&ctx->d.stat[MMPATH_DROPPED_NOMEM]), 3 * 512);
	KUNIT_EXPECT_EQ(test, kt_policy_knows(k), 0);
	KUNIT_EXPECT_TRUE(test, ctx->regions.rest->nomem);
	ctx->mem.alloc = kt_little_memory;
	dom->mem.alloc = kt_little_memory;
	for (i = 1; i <= 20; i++)
		kt_touch_huge(ctx, i);
	ctx->mem.alloc = ctx_alloc;
	dom->mem.alloc = dom_alloc;
	for (i = 1; i <= 20; i++)
		kt_touch_huge(ctx, i);
	KUNIT_EXPECT_TRUE(test, mmpath_has_policy(&ctx->d));
	KUNIT_EXPECT_EQ(test, kt_policy_knows(k), 20 * 512);
	KUNIT_EXPECT_EQ(test, mmpath_stack_footprint(&dom->lru), 20 * 512);
	KUNIT_EXPECT_EQ(test, mmpath_stack_footprint(&ctx->regions.rest->models->lru), 20 * 512);
	kt_stop_policy(dom, k);
	kt_ctx_end(test, ctx, dom);
}

/* Round and round the ring, what comes out is what went in. */
static void kt_drain_order(struct kunit *test)
{
	struct mmpath_domain *dom;
	struct mmpath_ctx *ctx = kt_ctx(test, &dom);
	struct mmpath_event ev;
	unsigned long in, out = 0;

	for (in = 0; in < 10 * KT_LOG + 5; in++) {
		mmpath_log(&ctx->d, kt_page(in * 7));
		if (in % 37 == 0)
			mmpath_drain(ctx);
	}
	mmpath_drain(ctx);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&ctx->d.stat[MMPATH_DROPPED_LOG_FULL]), 0);
	while (kfifo_get(&dom->recorder->fifo, &ev)) {
		KUNIT_ASSERT_EQ(test, ev.addr, kt_page(out * 7) & PAGE_MASK);
		KUNIT_ASSERT_EQ(test, ev.flags, out * 7 & 1 ? MMPATH_ACCESS_WRITE : 0);
		KUNIT_ASSERT_EQ(test, ev.order, 0);
		out++;
	}
	KUNIT_EXPECT_EQ(test, out, in);
	kt_ctx_end(test, ctx, dom);
}

static void kt_half_full(struct kunit *test)
{
	struct mmpath_domain *dom;
	struct mmpath_ctx *ctx = kt_ctx(test, &dom);
	unsigned int i;

	for (i = 0; i < KT_LOG / 2 - 1; i++)
		mmpath_log(&ctx->d, kt_page(i));
	mmpath_try_drain(ctx);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&ctx->d.stat[MMPATH_RECORDS]), 0);
	mmpath_log(&ctx->d, kt_page(i));
	mmpath_try_drain(ctx);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&ctx->d.stat[MMPATH_RECORDS]), KT_LOG / 2);
	/* not while another has the models: the records wait */
	for (i = 0; i < KT_LOG / 2; i++)
		mmpath_log(&ctx->d, kt_page(i));
	mutex_lock(&dom->lock);
	mmpath_try_drain(ctx);
	mutex_unlock(&dom->lock);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&ctx->d.stat[MMPATH_RECORDS]), KT_LOG / 2);
	mmpath_try_drain(ctx);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&ctx->d.stat[MMPATH_RECORDS]), KT_LOG);
	kt_ctx_end(test, ctx, dom);
}

/* A fault feeds the models no more than 128 pages. One huge page is work for four of them. */
static void kt_drain_bites(struct kunit *test)
{
	struct mmpath_domain *dom;
	struct mmpath_ctx *ctx = kt_ctx(test, &dom);
	unsigned int i;

	mmpath_log(&ctx->d, mmpath_record(512 << PAGE_SHIFT, 9, false));
	for (i = 1; i <= 3; i++) {
		mmpath_try_drain(ctx);
		KUNIT_EXPECT_EQ(test, dom->lru.nr_pages, 128 * i);
		/* the worker drains meanwhile what is more than half a log */
		KUNIT_EXPECT_TRUE(test, ctx->behind);
		KUNIT_EXPECT_EQ(test, atomic_long_read(&ctx->d.stat[MMPATH_RECORDS]), 0);
	}
	/* what is behind it waits for the next fault, unless the log is no longer half full */
	mmpath_log(&ctx->d, kt_page(4096));
	mmpath_try_drain(ctx);
	KUNIT_EXPECT_EQ(test, dom->lru.nr_pages, 512);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&ctx->d.stat[MMPATH_RECORDS]), 1);
	mmpath_try_drain(ctx);
	KUNIT_EXPECT_EQ(test, dom->lru.nr_pages, 512);
	mmpath_log(&ctx->d, mmpath_record(1024 << PAGE_SHIFT, 9, false));
	mmpath_try_drain(ctx);
	KUNIT_EXPECT_EQ(test, dom->lru.nr_pages, 512 + 128);
	/* a reader drains the rest, and each record was recorded once */
	mmpath_drain(ctx);
	KUNIT_EXPECT_EQ(test, dom->lru.nr_pages, 512 + 1 + 512);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&ctx->d.stat[MMPATH_RECORDS]), 3);
	KUNIT_EXPECT_EQ(test, kfifo_len(&dom->recorder->fifo), 3);
	kt_ctx_end(test, ctx, dom);
}

/* A record of a huge page stands for 512, of which the sample is kept. */
/* A fault leaves it to the worker to halve the sample of a large stack. */
static void kt_put_off(struct kunit *test)
{
	struct mmpath_domain *dom;
	struct mmpath_ctx *ctx = kt_ctx(test, &dom);
	unsigned int i, most = MMPATH_HURRY + 10;

	dom->lru.max_pages = most;
	for (i = 0; i < most; i++) {
		mmpath_log(&ctx->d, kt_page(i));
		if (i % (KT_LOG / 2) == 0)
			mmpath_drain(ctx);
	}
	mmpath_drain(ctx);
	KUNIT_EXPECT_EQ(test, dom->lru.shift, 0);
	for (; i < most + KT_LOG / 2 + 2; i++)
		mmpath_log(&ctx->d, kt_page(i));
	mmpath_try_drain(ctx);
	KUNIT_EXPECT_EQ(test, dom->lru.shift, 0);
	KUNIT_EXPECT_TRUE(test, ctx->behind);
	/* it goes on as far as it can */
	KUNIT_EXPECT_EQ(test, atomic_long_read(&ctx->d.stat[MMPATH_RECORDS]), most + 1);
	mmpath_try_drain(ctx);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&ctx->d.stat[MMPATH_RECORDS]), most + 2);
	mmpath_drain(ctx);
	KUNIT_EXPECT_EQ(test, dom->lru.shift, 1);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&ctx->d.stat[MMPATH_RECORDS]), i);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&ctx->d.stat[MMPATH_DROPPED_LOG_FULL]), 0);
	kt_ctx_end(test, ctx, dom);
}

static void kt_feed_huge(struct kunit *test)
{
	struct mmpath_domain *dom;
	struct mmpath_ctx *ctx = kt_ctx(test, &dom);

	mmpath_log(&ctx->d, mmpath_record(512 << PAGE_SHIFT, 9, false));
	mmpath_drain(ctx);
	KUNIT_EXPECT_EQ(test, dom->lru.nr_pages, 512);
	kt_set_shift(ctx, 4);
	KUNIT_EXPECT_EQ(test, dom->lru.nr_pages, 32);
	KUNIT_EXPECT_EQ(test, mmpath_stack_footprint(&dom->lru), 512);
	mmpath_log(&ctx->d, mmpath_record(1024 << PAGE_SHIFT, 9, false));
	mmpath_drain(ctx);
	KUNIT_EXPECT_EQ(test, dom->lru.nr_pages, 64);
	KUNIT_EXPECT_EQ(test, mmpath_stack_footprint(&ctx->regions.rest->models->lru), 1024);
	kt_ctx_end(test, ctx, dom);
}

/* In several domains at once; one more than there is room for is refused. */
static void kt_domains(struct kunit *test)
{
	struct mmpath_domain *dom[MMPATH_MAX_DOMAINS + 1];
	struct mmpath_ctx *ctx = kt_ctx(test, &dom[0]);
	int i;

	for (i = 1; i <= MMPATH_MAX_DOMAINS; i++) {
		dom[i] = mmpath_domain_create(NULL);
		KUNIT_ASSERT_NOT_NULL(test, dom[i]);
		KUNIT_EXPECT_EQ(test, mmpath_add_domain(ctx, dom[i]),
				i < MMPATH_MAX_DOMAINS ? 0 : -ENOSPC);
	}
	for (i = 1; i < ctx->nr_domains; i++)
		KUNIT_EXPECT_LT(test, (unsigned long)ctx->domains[i - 1],
				(unsigned long)ctx->domains[i]);
	mmpath_log(&ctx->d, kt_page(0));
	mmpath_log(&ctx->d, kt_page(1));
	mmpath_drain(ctx);
	for (i = 0; i < MMPATH_MAX_DOMAINS; i++)
		KUNIT_EXPECT_EQ(test, mmpath_stack_footprint(&dom[i]->lru), 2);
	for (i = 1; i < MMPATH_MAX_DOMAINS; i++) {
		mmpath_del_domain(ctx, dom[i]);
		KUNIT_EXPECT_EQ(test, ctx->nr_domains, MMPATH_MAX_DOMAINS - i);
		KUNIT_EXPECT_FALSE(test, mmpath_ctx_in(ctx, dom[i]));
		KUNIT_EXPECT_EQ(test, mmpath_stack_footprint(&dom[i]->lru), 0);
		KUNIT_EXPECT_EQ(test, dom[i]->footprint, 2);
		mmpath_domain_destroy(dom[i]);
	}
	mmpath_domain_destroy(dom[MMPATH_MAX_DOMAINS]);
	kt_ctx_end(test, ctx, dom[0]);
}

/* Two pages, twice each: two first touches, and two that are not. */
static void kt_four_touches(struct mmpath_ctx *ctx)
{
	int i;

	for (i = 0; i < 4; i++)
		mmpath_log(&ctx->d, kt_page(i & 1));
	mmpath_drain(ctx);
}

/* The device knows of so many accesses. */
static void kt_saw(struct mmpath_ctx *ctx, struct mmpath_domain *dom, u64 accesses)
{
	mutex_lock(&ctx->lock);
	atomic64_set(&ctx->d.accesses, accesses);
	ctx->d.unseen = true;
	mmpath_take_accesses(ctx);
	mmpath_take_accesses(ctx);
	mmpath_domain_saw(dom, ctx);
	mutex_unlock(&ctx->lock);
}

#define kt_records(_dom)	mmpath_mrc_records(&(_dom)->mrc, MMPATH_MRC_TOTAL)

/* It leaves, and the device knows of so many accesses. */
static void kt_leave(struct mmpath_ctx *ctx, struct mmpath_domain *dom, u64 accesses)
{
	atomic64_set(&ctx->d.accesses, accesses);
	ctx->d.unseen = true;
	mutex_lock(&ctx->lock);
	mmpath_take_accesses(ctx);
	mmpath_domain_leave(dom, ctx);
	mutex_unlock(&ctx->lock);
}

/* The curve is made up for when the last member leaves, and stays so. */
static void kt_leave_makes_up(struct kunit *test)
{
	struct mmpath_domain *dom;
	struct mmpath_ctx *ctx = kt_ctx(test, &dom);

	kt_four_touches(ctx);
	kt_leave(ctx, dom, 40);
	KUNIT_EXPECT_EQ(test, kt_records(dom), 40);
	mmpath_domain_close_epoch(dom);
	KUNIT_EXPECT_EQ(test, kt_records(dom), 40);
	mmpath_domain_join(dom, ctx);
	/* nothing is left for the next one */
	kt_four_touches(ctx);
	mmpath_domain_close_epoch(dom);
	KUNIT_EXPECT_EQ(test, kt_records(dom), 44);
	kt_ctx_end(test, ctx, dom);
}

/* A program has left that nothing was counted of: who comes does not stand for it. */
static void kt_leave_uncounted(struct kunit *test)
{
	struct mmpath_domain *dom;
	struct mmpath_ctx *ctx = kt_ctx(test, &dom);

	kt_leave(ctx, dom, 40);
	mmpath_domain_join(dom, ctx);
	kt_four_touches(ctx);
	mmpath_domain_close_epoch(dom);
	KUNIT_EXPECT_EQ(test, kt_records(dom), 4);
	kt_ctx_end(test, ctx, dom);
}

/* Accesses from before a reset, or of who comes or goes in between, are not in the curve. */
static void kt_others_seen(struct kunit *test)
{
	struct mmpath_domain *dom;
	struct mmpath_ctx *ctx = kt_ctx(test, &dom);

	mmpath_domain_reset(dom, 0);
	kt_four_touches(ctx);
	kt_saw(ctx, dom, 40);
	mmpath_domain_close_epoch(dom);
	KUNIT_EXPECT_EQ(test, kt_records(dom), 4);
	ctx->seen = (struct mmpath_seen){ };
	kt_four_touches(ctx);
	kt_saw(ctx, dom, 40);
	mmpath_domain_saw_others(dom);
	mmpath_domain_close_epoch(dom);
	KUNIT_EXPECT_EQ(test, kt_records(dom), 8);
	/* only then */
	ctx->seen = (struct mmpath_seen){ };
	kt_four_touches(ctx);
	kt_saw(ctx, dom, 40);
	mmpath_domain_close_epoch(dom);
	KUNIT_EXPECT_EQ(test, kt_records(dom), 48);
	kt_ctx_end(test, ctx, dom);
}

/*
 * When a page that is new to the stack was touched last is not known after a burst has ended;
 * but after a reset it is new, until then.
 */
static void kt_resumed(struct kunit *test)
{
	struct mmpath_domain *dom;
	struct mmpath_ctx *ctx = kt_ctx(test, &dom);
	int i;

	for (i = 0; i < 2; i++) {
		kt_four_touches(ctx);
		KUNIT_EXPECT_EQ(test, mmpath_mrc_cold(&dom->mrc, MMPATH_MRC_TOTAL), 2);
		mmpath_end_burst(&ctx->d);
		kt_four_touches(ctx);
		KUNIT_EXPECT_EQ(test, mmpath_mrc_cold(&dom->mrc, MMPATH_MRC_TOTAL), 2);
		mmpath_domain_reset(dom, 0);
	}
	kt_ctx_end(test, ctx, dom);
}

static void kt_detach(struct mmpath_drv_ctx *ctx, struct mm_struct *mm)
{
}

static int kt_attach(struct mmpath_drv_ctx *ctx)
{
	return -ENODEV;
}

/* What two drivers know of an epoch is not the same. */
static void kt_switch_driver(struct kunit *test)
{
	static struct mmpath_driver drv = {
		.name = "kunit", .attach = kt_attach, .detach = kt_detach,
	};
	struct mmpath_driver *old;
	struct mmpath_domain *dom;
	struct mmpath_ctx *ctx = kt_ctx(test, &dom);
	LIST_HEAD(list);

	atomic_add(2, &ctx->d.mm->mm_users);
	rcu_assign_pointer(ctx->d.mm->mmpath, ctx);
	ctx->drv = &drv;
	mutex_lock(&mmpath_track_mutex);
	mutex_lock(&mmpath_mutex);
	old = mmpath_drv;
	mmpath_drv = &drv;
	mmpath_unplug(ctx, &list);
	mutex_unlock(&mmpath_mutex);
	KUNIT_EXPECT_NULL(test, ctx->drv);
	KUNIT_EXPECT_FALSE(test, list_empty(&list));
	mmpath_restart_list(&list);
	mutex_lock(&mmpath_mutex);
	mmpath_drv = old;
	mutex_unlock(&mmpath_mutex);
	mutex_unlock(&mmpath_track_mutex);
	KUNIT_EXPECT_NULL(test, ctx->drv);
	KUNIT_EXPECT_EQ(test, ctx->seen.as, MMPATH_SEEN_OTHERS);
	KUNIT_EXPECT_TRUE(test, list_empty(&list));
	RCU_INIT_POINTER(ctx->d.mm->mmpath, NULL);
	atomic_sub(2, &ctx->d.mm->mm_users);
	kt_ctx_end(test, ctx, dom);
}

static struct mm_struct *kt_ending_mm;

static void kt_exit_fn(struct work_struct *work)
{
	__mmpath_exit(kt_ending_mm);
}

/* The end of a program waits for who works in it, and is not left to a worker. */
static void kt_exit_waits(struct kunit *test)
{
	static const struct mmpath_driver drv = { .name = "kunit", .detach = kt_detach };
	struct mmpath_domain *dom;
	struct mmpath_ctx *ctx = kt_ctx(test, &dom);
	struct work_struct work;

	KUNIT_ASSERT_EQ(test, xa_alloc(&mmpath_ctxs, &ctx->id, ctx, XA_LIMIT(1, MMPATH_MAX_CTX),
				       GFP_KERNEL), 0);
	kref_get(&ctx->ref);
	kt_ending_mm = ctx->d.mm;
	rcu_assign_pointer(ctx->d.mm->mmpath, ctx);
	ctx->drv = &drv;
	mmpath_log(&ctx->d, kt_page(0));
	KUNIT_EXPECT_NULL(test, mmpath_get_driver(ctx));	/* no users */
	atomic_inc(&ctx->d.mm->mm_users);
	KUNIT_ASSERT_PTR_EQ(test, mmpath_get_driver(ctx), &drv);
	atomic_dec(&ctx->d.mm->mm_users);
	mutex_unlock(&mmpath_mutex);
	INIT_WORK_ONSTACK(&work, kt_exit_fn);
	queue_work(system_unbound_wq, &work);
	msleep(20);
	KUNIT_EXPECT_FALSE(test, mmpath_ctx_gone(ctx));
	mutex_unlock(&ctx->alive);
	flush_work(&work);
	destroy_work_on_stack(&work);
	KUNIT_EXPECT_TRUE(test, mmpath_ctx_gone(ctx));
	KUNIT_EXPECT_NULL(test, mmpath_get_driver(ctx));
	KUNIT_EXPECT_EQ(test, dom->nr_members, 0);
	KUNIT_EXPECT_EQ(test, mmpath_mrc_records(&dom->mrc, MMPATH_MRC_TOTAL), 1);
	mmpath_domain_destroy(dom);
	mmpath_ctx_put(ctx);
}

static atomic_t kt_scans = ATOMIC_INIT(0);

static void kt_scan(struct mmpath_drv_ctx *ctx, struct mm_struct *mm)
{
	if (!mmpath_mmap_trylock(mm))
		return;
	atomic_inc(&kt_scans);
	mmap_read_unlock(mm);
}

/* Somebody waits for the lock of @mm, within some seconds. */
static bool kt_waited_for(struct mm_struct *mm)
{
	int i;

	for (i = 0; i < 500 && !rwsem_is_contended(&mm->mmap_lock); i++)
		msleep(20);
	return i < 500;
}

/* Nobody has mmpath_mutex for long. */
static bool kt_others_go_on(void)
{
	int i;

	msleep(20);
	for (i = 0; i < 250; i++) {
		if (mutex_trylock(&mmpath_mutex)) {
			mutex_unlock(&mmpath_mutex);
			return true;
		}
		msleep(20);
	}
	return false;
}

struct kt_reader {
	struct completion done;
	struct mmpath_domain *dom;
	char text[256];
	int ret;
};

static int kt_read_regions(void *arg)
{
	struct kt_reader *reader = arg;
	struct file file = { .f_cred = current_cred() };
	struct seq_file m = { .buf = reader->text, .size = sizeof(reader->text), .file = &file };

	allow_signal(SIGKILL);
	reader->ret = mmpath_show_regions(&m, reader->dom);
	complete(&reader->done);
	return 0;
}

/* And who reads its regions may be killed meanwhile. */
static void kt_busy_reader(struct kunit *test)
{
	struct mmpath_domain *dom;
	struct mmpath_ctx *ctx = kt_ctx(test, &dom);
	struct kt_reader reader = { .dom = dom };
	struct task_struct *task;
	unsigned long left;
	u32 id;

	init_completion(&reader.done);
	KUNIT_ASSERT_EQ(test, xa_alloc(&mmpath_ctxs, &id, ctx, XA_LIMIT(1, MMPATH_MAX_CTX),
				       GFP_KERNEL), 0);
	atomic_inc(&ctx->d.mm->mm_users);
	mmap_write_lock(ctx->d.mm);
	task = kthread_run(kt_read_regions, &reader, "kt_reader");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	KUNIT_EXPECT_TRUE(test, kt_waited_for(ctx->d.mm));
	KUNIT_EXPECT_TRUE(test, kt_others_go_on());
	send_sig(SIGKILL, task, 1);
	left = wait_for_completion_timeout(&reader.done, 30 * HZ);
	mmap_write_unlock(ctx->d.mm);
	if (!left)
		wait_for_completion(&reader.done);
	KUNIT_EXPECT_EQ(test, reader.ret, -EINTR);
	xa_erase(&mmpath_ctxs, id);
	atomic_dec(&ctx->d.mm->mm_users);
	kt_ctx_end(test, ctx, dom);
}

static int kt_attach_ok(struct mmpath_drv_ctx *ctx)
{
	return 0;
}

static unsigned int kt_log_entries(void)
{
	return KT_LOG;
}

static struct mmpath_driver kt_drv = {
	.name = "kunit", .attach = kt_attach_ok, .detach = kt_detach, .scan = kt_scan,
	.log_entries = kt_log_entries,
};

static struct mmpath_driver *kt_old_drv;

/* Tracking is on with kt_drv, as far as those know that a test calls; no epoch ends. */
static void kt_tracking(bool on)
{
	mutex_lock(&mmpath_mutex);
	if (on) {
		kt_old_drv = mmpath_drv;
		mmpath_drv = &kt_drv;
		static_branch_inc(&mmpath_key);
		atomic_set(&kt_scans, 0);
	} else {
		mmpath_drv = kt_old_drv;
		static_branch_dec(&mmpath_key);
	}
	mutex_unlock(&mmpath_mutex);
}

/* As another thread does: that we hold it as well is not a lock order of ours. */
static void kt_lock_mm(struct mm_struct *mm)
{
	lockdep_off();
	mmap_write_lock(mm);
	lockdep_on();
}

static void kt_unlock_mm(struct mm_struct *mm)
{
	lockdep_off();
	mmap_write_unlock(mm);
	lockdep_on();
}

/* A program that holds its mmap_lock holds up nobody: it is scanned and tracked later. */
static void kt_busy_mm(struct kunit *test)
{
	struct mm_struct *mm = mm_alloc(), *other = mm_alloc();
	struct mmpath_domain *dom = mmpath_domain_create(NULL);
	struct mmpath_ctx *ctx;

	KUNIT_ASSERT_NOT_NULL(test, mm);
	KUNIT_ASSERT_NOT_NULL(test, other);
	KUNIT_ASSERT_NOT_NULL(test, dom);
	kt_tracking(true);
	KUNIT_ASSERT_EQ(test, mmpath_track(mm, dom), 0);
	mmpath_finish_scans();
	ctx = mmpath_ctx_get(mm);
	KUNIT_ASSERT_NOT_NULL(test, ctx);
	kt_lock_mm(mm);
	kt_lock_mm(other);
	mmpath_begin_epoch(ctx);
	mmpath_control(ctx, true);
	KUNIT_EXPECT_EQ(test, atomic_read(&kt_scans), 1);
	KUNIT_EXPECT_EQ(test, mmpath_track(other, dom), -EBUSY);
	kt_unlock_mm(other);
	kt_unlock_mm(mm);
	mmpath_begin_epoch(ctx);
	mmpath_control(ctx, true);
	KUNIT_EXPECT_EQ(test, atomic_read(&kt_scans), 3);
	KUNIT_EXPECT_EQ(test, mmpath_track(other, dom), 0);
	mmpath_ctx_put(ctx);
	mmpath_untrack_all(dom);
	mmpath_domain_destroy(dom);
	kt_tracking(false);
	mmput(other);
	mmput(mm);
}

/* A program that runs is scanned when it is tracked, a child when the epoch ends. */
static void kt_first_scan(struct kunit *test)
{
	struct mm_struct *mm = mm_alloc(), *child = mm_alloc();
	struct mmpath_domain *dom = mmpath_domain_create(NULL);
	struct mmpath_ctx *ctx;

	KUNIT_ASSERT_NOT_NULL(test, mm);
	KUNIT_ASSERT_NOT_NULL(test, child);
	KUNIT_ASSERT_NOT_NULL(test, dom);
	kt_tracking(true);
	KUNIT_EXPECT_EQ(test, mmpath_track(mm, dom), 0);
	mmpath_finish_scans();
	KUNIT_EXPECT_EQ(test, atomic_read(&kt_scans), 1);
	__mmpath_inherit(child, mm);
	mmpath_finish_scans();
	KUNIT_EXPECT_EQ(test, atomic_read(&kt_scans), 1);
	ctx = mmpath_ctx_get(child);
	KUNIT_ASSERT_NOT_NULL(test, ctx);
	KUNIT_EXPECT_TRUE(test, mmpath_ctx_in(ctx, dom));
	mmpath_begin_epoch(ctx);
	KUNIT_EXPECT_EQ(test, atomic_read(&kt_scans), 2);
	mmpath_ctx_put(ctx);
	mmput(child);
	mmpath_untrack_all(dom);
	mmpath_domain_destroy(dom);
	kt_tracking(false);
	mmput(mm);
}

/* Of @nr blocks of 2^@shift pages the one that is in the sample */
static void kt_touch_sampled(struct mmpath_ctx *ctx, unsigned int nr, unsigned int shift)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		mmpath_log(&ctx->d, mmpath_record(mmpath_sample_of_block(i, shift) << PAGE_SHIFT,
						  0, false));
		mmpath_drain(ctx);
	}
}

/* The points that are printed, and the size of the last one */
static unsigned int kt_print_curve(struct kunit *test, struct mmpath_domain *dom, u64 *last)
{
	struct file file = { .f_cred = current_cred() };
	struct seq_file m = { .size = 1 << 18, .file = &file };
	unsigned int nr = 0;
	char *line;

	m.buf = kvzalloc(m.size, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, m.buf);
	KUNIT_EXPECT_EQ(test, mmpath_show_mrc(&m, dom), 0);
	KUNIT_EXPECT_FALSE(test, seq_has_overflowed(&m));
	line = strstr(m.buf, "pages total recent epoch\n");
	KUNIT_ASSERT_NOT_NULL(test, line);
	while ((line = strchr(line, '\n')) && sscanf(++line, "%llu", last) == 1)
		nr++;
	kvfree(m.buf);
	return nr;
}

/* Two members with 1 TiB, touched once: the curve gets coarser, and is printed in few lines. */
static void kt_large_footprint(struct kunit *test)
{
	struct mmpath_domain *dom, *other;
	struct mmpath_ctx *a = kt_ctx(test, &dom), *b = kt_ctx(test, &other);
	const unsigned int shift = 20, nr = 1U << 7;
	u64 last = 0;

	b->id = 2;
	KUNIT_ASSERT_EQ(test, mmpath_add_domain(b, dom), 0);
	kt_set_shift(a, shift);
	kt_set_shift(b, shift);
	kt_touch_sampled(a, nr, shift);
	kt_touch_sampled(b, nr, shift);
	KUNIT_EXPECT_EQ(test, dom->footprint, 1ULL << 28);
	KUNIT_EXPECT_EQ(test, dom->mrc.group_pages, (1U << 28) / MMPATH_MRC_BINS);
	KUNIT_EXPECT_LE(test, kt_print_curve(test, dom, &last), MMPATH_MRC_POINTS);
	KUNIT_EXPECT_EQ(test, last, 1ULL << 28);
	mmpath_del_domain(b, dom);
	kt_ctx_end(test, b, other);
	kt_ctx_end(test, a, dom);
}

/* While a domain ends, children do not join it, but the other ones of their parents. */
static void kt_dead_domain(struct kunit *test)
{
	struct mm_struct *mm = mm_alloc(), *child = mm_alloc(), *lonely = mm_alloc();
	struct mmpath_domain *dom = mmpath_domain_create(NULL), *other = mmpath_domain_create(NULL);

	KUNIT_ASSERT_TRUE(test, mm && child && lonely && dom && other);
	kt_tracking(true);
	KUNIT_ASSERT_EQ(test, mmpath_track(mm, dom), 0);
	KUNIT_ASSERT_EQ(test, mmpath_track(mm, other), 0);
	mutex_lock(&mmpath_mutex);
	dom->dead = true;
	mutex_unlock(&mmpath_mutex);
	__mmpath_inherit(child, mm);
	KUNIT_EXPECT_TRUE(test, mmpath_mm_in(child, other));
	KUNIT_EXPECT_FALSE(test, mmpath_mm_in(child, dom));
	mmpath_untrack_all(other);
	KUNIT_EXPECT_NULL(test, rcu_access_pointer(child->mmpath));
	__mmpath_inherit(lonely, mm);
	KUNIT_EXPECT_NULL(test, rcu_access_pointer(lonely->mmpath));
	mmpath_untrack_all(dom);
	KUNIT_EXPECT_NULL(test, rcu_access_pointer(mm->mmpath));
	KUNIT_EXPECT_EQ(test, dom->nr_members, 0);
	KUNIT_EXPECT_EQ(test, other->nr_members, 0);
	kt_tracking(false);
	mmpath_domain_destroy(dom);
	mmpath_domain_destroy(other);
	mmput(lonely);
	mmput(child);
	mmput(mm);
}

/* What cannot join its first domain, as without memory for that, is not tracked at all. */
static void kt_cannot_join(struct kunit *test)
{
	struct mm_struct *mm = mm_alloc(), *child = mm_alloc(), *other = mm_alloc();
	struct mmpath_domain *dom = mmpath_domain_create(NULL), *more[MMPATH_MAX_DOMAINS];
	u32 id;

	KUNIT_ASSERT_TRUE(test, mm && child && other && dom);
	kt_tracking(true);
	KUNIT_ASSERT_EQ(test, mmpath_track(mm, dom), 0);
	/* the place of the next one is taken */
	KUNIT_ASSERT_EQ(test, xa_alloc(&mmpath_ctxs, &id, NULL, XA_LIMIT(1, MMPATH_MAX_CTX),
				       GFP_KERNEL), 0);
	xa_erase(&mmpath_ctxs, id);
	KUNIT_ASSERT_EQ(test, xa_insert(&dom->members, id,
					rcu_access_pointer(mm->mmpath), GFP_KERNEL), 0);
	__mmpath_inherit(child, mm);
	KUNIT_EXPECT_NULL(test, rcu_access_pointer(child->mmpath));
	KUNIT_EXPECT_EQ(test, mmpath_track(other, dom), -EBUSY);
	KUNIT_EXPECT_NULL(test, rcu_access_pointer(other->mmpath));
	KUNIT_EXPECT_EQ(test, dom->nr_members, 1);
	KUNIT_EXPECT_EQ(test, dom->stat[MMPATH_ATTACH_FAILED], 1);
	KUNIT_EXPECT_NULL(test, xa_load(&mmpath_ctxs, id));
	xa_erase(&dom->members, id);
	__mmpath_inherit(child, mm);
	KUNIT_EXPECT_EQ(test, mmpath_track(other, dom), 0);
	KUNIT_EXPECT_EQ(test, dom->nr_members, 3);
	/* one that refuses a program has still seen all that its own ones do */
	for (id = 0; id < MMPATH_MAX_DOMAINS; id++) {
		more[id] = mmpath_domain_create(NULL);
		KUNIT_ASSERT_NOT_NULL(test, more[id]);
		KUNIT_EXPECT_EQ(test, mmpath_track(mm, more[id]),
				id + 1 < MMPATH_MAX_DOMAINS ? 0 : -ENOSPC);
		KUNIT_EXPECT_EQ(test, more[id]->seen.as == MMPATH_SEEN_OTHERS,
				id + 1 < MMPATH_MAX_DOMAINS);
	}
	mmpath_untrack_all(dom);
	KUNIT_EXPECT_EQ(test, dom->nr_members, 0);
	while (id--) {
		mmpath_untrack_all(more[id]);
		mmpath_domain_destroy(more[id]);
	}
	kt_tracking(false);
	mmpath_domain_destroy(dom);
	mmput(other);
	mmput(child);
	mmput(mm);
}

struct kt_untrack {
	struct work_struct work;
	struct mmpath_domain *dom;
};

static void kt_untrack_fn(struct work_struct *work)
{
	mmpath_untrack_all(container_of(work, struct kt_untrack, work)->dom);
}

/* Somebody works on a context: its end waits for that, and nobody's fork for its end. */
static void kt_untrack_waits(struct kunit *test)
{
	struct mm_struct *mm = mm_alloc(), *other = mm_alloc(), *child = mm_alloc();
	struct mmpath_domain *second = mmpath_domain_create(NULL);
	struct mmpath_domain *dom = mmpath_domain_create(NULL);
	struct kt_untrack untrack = { .dom = dom };
	struct mmpath_ctx *ctx;

	KUNIT_ASSERT_TRUE(test, mm && other && child && dom && second);
	kt_tracking(true);
	KUNIT_ASSERT_EQ(test, mmpath_track(mm, dom), 0);
	KUNIT_ASSERT_EQ(test, mmpath_track(other, second), 0);
	ctx = mmpath_ctx_get(mm);
	KUNIT_ASSERT_NOT_NULL(test, ctx);
	mutex_lock(&ctx->alive);
	INIT_WORK_ONSTACK(&untrack.work, kt_untrack_fn);
	queue_work(system_unbound_wq, &untrack.work);
	while (rcu_access_pointer(mm->mmpath))
		cond_resched();
	__mmpath_inherit(child, other);
	KUNIT_EXPECT_TRUE(test, mmpath_mm_in(child, second));
	KUNIT_EXPECT_PTR_EQ(test, ctx->drv, &kt_drv);
	mutex_unlock(&ctx->alive);
	flush_work(&untrack.work);
	destroy_work_on_stack(&untrack.work);
	KUNIT_EXPECT_NULL(test, ctx->drv);
	mmpath_ctx_put(ctx);
	mmpath_untrack_all(second);
	kt_tracking(false);
	mmpath_domain_destroy(dom);
	mmpath_domain_destroy(second);
	mmput(child);
	mmput(other);
	mmput(mm);
}

/* An epoch may take longer than it should. */
static void kt_late_epoch(struct kunit *test)
{
	struct mmpath_domain *dom;
	struct mmpath_ctx *ctx = kt_ctx(test, &dom);

	atomic_long_set(&ctx->d.stat[MMPATH_RECORDS], 4000);
	ctx->epoch_began -= 10ULL * NSEC_PER_SEC;
	mmpath_measure_rate(ctx);
	KUNIT_EXPECT_GT(test, ctx->records_per_sec, 0);
	KUNIT_EXPECT_LE(test, ctx->records_per_sec, 400);
	ctx->epoch_began -= 10ULL * NSEC_PER_SEC;
	mmpath_measure_rate(ctx);
	KUNIT_EXPECT_EQ(test, ctx->records_per_sec, 0);
	kt_ctx_end(test, ctx, dom);
}

/* A program that gets MMU notifiers while it is tracked is let go, and counted. */
static void kt_refuse(struct kunit *test)
{
	struct mmpath_domain *dom = mmpath_domain_create(NULL);
	struct mm_struct *mm = mm_alloc();
	struct mmpath_ctx *ctx;

	KUNIT_ASSERT_TRUE(test, mm && dom);
	kt_tracking(true);
	KUNIT_ASSERT_EQ(test, mmpath_track(mm, dom), 0);
	ctx = mmpath_ctx_get(mm);
	KUNIT_ASSERT_NOT_NULL(test, ctx);
	mmpath_refuse_ctx(ctx);
	KUNIT_EXPECT_NULL(test, rcu_access_pointer(mm->mmpath));
	mmpath_refuse_ctx(ctx);
	KUNIT_EXPECT_EQ(test, dom->nr_members, 0);
	KUNIT_EXPECT_EQ(test, dom->stat[MMPATH_ATTACH_FAILED], 1);
	mmpath_ctx_put(ctx);
	mmpath_untrack_all(dom);
	mmpath_domain_destroy(dom);
	kt_tracking(false);
	mmput(mm);
}

static struct mmpath_ctx *kt_logged_late;

/* While it is drained four more accesses are counted, and logged. */
static void kt_drain_late(void)
{
	int i;

	atomic64_add(4, &kt_logged_late->d.accesses);
	for (i = 0; i < 4; i++)
		mmpath_log(&kt_logged_late->d, kt_page(i & 1));
}

/* What the end of an epoch counts, it has the records of. */
static void kt_epoch_is_whole(struct kunit *test)
{
	static const struct mmpath_driver drv = { .name = "kunit", .drain = kt_drain_late };
	struct mmpath_domain *dom;
	struct mmpath_ctx *ctx = kt_ctx(test, &dom);

	kt_logged_late = ctx;
	rcu_assign_pointer(ctx->d.mm->mmpath, ctx);
	kt_four_touches(ctx);
	atomic64_set(&ctx->d.accesses, 40);
	ctx->d.unseen = true;
	ctx->drv = &drv;
	mmpath_close_epoch(ctx);
	ctx->drv = NULL;
	mmpath_domain_close_epoch(dom);
	KUNIT_EXPECT_EQ(test, kt_records(dom), 40);
	KUNIT_EXPECT_EQ(test, atomic64_read(&ctx->d.accesses), 4);
	RCU_INIT_POINTER(ctx->d.mm->mmpath, NULL);
	kt_ctx_end(test, ctx, dom);
}

static const struct task_struct *kt_task;
static const struct mmpath_drv_ctx *kt_used;

static void kt_use_context(const struct mmpath_drv_ctx *ctx)
{
	if (current == kt_task)
		kt_used = ctx;
}

/* A kernel thread that borrows an mm runs in its context. */
static void kt_borrowed_mm(struct kunit *test)
{
	static struct mmpath_driver drv = { .name = "kunit", .use_context = kt_use_context };
	struct mmpath_driver *old;
	const struct mmpath_drv_ctx *used;
	struct mmpath_domain *dom;
	struct mmpath_ctx *ctx;

	if (!IS_ENABLED(CONFIG_MMPATH_DRV_VPATH))
		kunit_skip(test, "no driver of hardware");
	ctx = kt_ctx(test, &dom);
	atomic_inc(&ctx->d.mm->mm_users);
	rcu_assign_pointer(ctx->d.mm->mmpath, ctx);
	mutex_lock(&mmpath_mutex);
	old = mmpath_drv;
	mmpath_drv = &drv;
	mmpath_set_hw_key(true);
	kt_task = current;
	/* or the scheduler would tell as well */
	preempt_disable();
	kthread_use_mm(ctx->d.mm);
	used = kt_used;
	kthread_unuse_mm(ctx->d.mm);
	preempt_enable();
	KUNIT_EXPECT_PTR_EQ(test, used, &ctx->d);
	KUNIT_EXPECT_NULL(test, kt_used);
	kt_task = NULL;
	mmpath_drv = old;
	mmpath_set_hw_key(mmpath_on());
	mutex_unlock(&mmpath_mutex);
	rcu_assign_pointer(ctx->d.mm->mmpath, NULL);
	atomic_dec(&ctx->d.mm->mm_users);
	kt_ctx_end(test, ctx, dom);
}

static bool kt_hint_fault(struct mmpath_drv_ctx *ctx, struct vm_fault *vmf)
{
	return false;
}

/* NUMA balancing keeps off programs whose driver uses its encoding, and off no others. */
static void kt_skips_numa(struct kunit *test)
{
	static const struct mmpath_driver hints = { .name = "hints", .hint_fault = kt_hint_fault };
	static const struct mmpath_driver other = { .name = "other" };
	struct mmpath_domain *dom;
	struct mmpath_ctx *ctx = kt_ctx(test, &dom);

	KUNIT_EXPECT_FALSE(test, __mmpath_skips_numa(ctx->d.mm));
	rcu_assign_pointer(ctx->d.mm->mmpath, ctx);
	KUNIT_EXPECT_FALSE(test, __mmpath_skips_numa(ctx->d.mm));
	ctx->drv = &other;
	KUNIT_EXPECT_FALSE(test, __mmpath_skips_numa(ctx->d.mm));
	ctx->drv = &hints;
	KUNIT_EXPECT_TRUE(test, __mmpath_skips_numa(ctx->d.mm));
	ctx->drv = NULL;
	RCU_INIT_POINTER(ctx->d.mm->mmpath, NULL);
	kt_ctx_end(test, ctx, dom);
}

static unsigned int kt_epochs;

static void kt_epoch(struct mmpath_drv_ctx *ctx, struct mm_struct *mm, bool early)
{
	kt_epochs++;
}

static int kt_never_run(void *arg)
{
	return 0;
}

/* How many of many epochs the driver is told of */
static unsigned int kt_told(struct mmpath_ctx *ctx)
{
	unsigned int i;

	kt_epochs = 0;
	for (i = 0; i < 2 * MMPATH_WINDOW_EPOCHS; i++)
		mmpath_close_epoch(ctx);
	return kt_epochs;
}

/* A program that sleeps costs nothing at the end of an epoch; one that has run does again. */
static void kt_sleeps(struct kunit *test)
{
	static const struct mmpath_driver drv = { .name = "kunit", .epoch = kt_epoch };
	struct task_struct *sleeper = kthread_create(kt_never_run, NULL, "kt_sleeper");
	struct mmpath_domain *dom;
	struct mmpath_ctx *ctx = kt_ctx(test, &dom);

	KUNIT_ASSERT_FALSE(test, IS_ERR(sleeper));
	atomic_inc(&ctx->d.mm->mm_users);
	rcu_assign_pointer(ctx->d.mm->owner, current);
	rcu_assign_pointer(ctx->d.mm->mmpath, ctx);
	ctx->drv = &drv;
	KUNIT_EXPECT_EQ(test, kt_told(ctx), 2 * MMPATH_WINDOW_EPOCHS);
	rcu_assign_pointer(ctx->d.mm->owner, sleeper);
	KUNIT_EXPECT_EQ(test, kt_told(ctx), MMPATH_WINDOW_EPOCHS);
	KUNIT_EXPECT_EQ(test, kt_told(ctx), 0);
	mmpath_log(&ctx->d, kt_page(0));
	KUNIT_EXPECT_EQ(test, kt_told(ctx), MMPATH_WINDOW_EPOCHS);
	KUNIT_EXPECT_EQ(test, kt_records(dom), 1);
	mmpath_kick(&ctx->d);
	KUNIT_EXPECT_EQ(test, kt_told(ctx), MMPATH_WINDOW_EPOCHS);
	/* who has borrowed its mm may touch pages */
	atomic_inc(&ctx->d.mm->mm_users);
	KUNIT_EXPECT_EQ(test, kt_told(ctx), 2 * MMPATH_WINDOW_EPOCHS);
	atomic_dec(&ctx->d.mm->mm_users);
	ctx->drv = NULL;
	RCU_INIT_POINTER(ctx->d.mm->mmpath, NULL);
	RCU_INIT_POINTER(ctx->d.mm->owner, NULL);
	atomic_dec(&ctx->d.mm->mm_users);
	kt_ctx_end(test, ctx, dom);
	kthread_stop(sleeper);
}

/* A context that has its id from the table */
static void kt_enlist(struct kunit *test, struct mmpath_ctx *ctx)
{
	KUNIT_ASSERT_EQ(test, xa_alloc(&mmpath_ctxs, &ctx->id, ctx, XA_LIMIT(1, MMPATH_MAX_CTX),
				       GFP_KERNEL), 0);
	KUNIT_ASSERT_EQ(test, mmpath_name_create(ctx), 0);
}

/* The worker looks at the contexts that have asked for it, not at all there are. */
static void kt_asked(struct kunit *test)
{
	struct mmpath_domain *dom, *other_dom;
	struct mmpath_ctx *ctx = kt_ctx(test, &dom), *other = kt_ctx(test, &other_dom);

	kt_enlist(test, other);
	kt_enlist(test, ctx);
	/* noted, but not asked for */
	other->behind = true;
	mmpath_log(&other->d, kt_page(0));
	mmpath_log(&ctx->d, kt_page(0));
	mmpath_drain_soon(ctx);
	mmpath_finish_scans();
	KUNIT_EXPECT_FALSE(test, ctx->behind);
	KUNIT_EXPECT_EQ(test, kt_records(dom), 1);
	KUNIT_EXPECT_TRUE(test, other->behind);
	KUNIT_EXPECT_EQ(test, kt_records(other_dom), 0);
	/* it may ask again, and for something else */
	mmpath_log(&ctx->d, kt_page(1));
	mmpath_drain_soon(ctx);
	mmpath_kick(&ctx->d);
	mmpath_finish_scans();
	KUNIT_EXPECT_EQ(test, kt_records(dom), 2);
	KUNIT_EXPECT_FALSE(test, ctx->kicked);
	KUNIT_EXPECT_FALSE(test, xa_get_mark(&mmpath_ctxs, ctx->id, MMPATH_ASKED));
	xa_store(&mmpath_ctxs, other->id, NULL, GFP_KERNEL);
	xa_store(&mmpath_ctxs, ctx->id, NULL, GFP_KERNEL);
	kt_ctx_end(test, other, other_dom);
	kt_ctx_end(test, ctx, dom);
}

/* What a program has done before it joined a domain, and since it left, is not the domain's. */
static void kt_joins_late(struct kunit *test)
{
	struct mmpath_domain *dom, *other = mmpath_domain_create(NULL);
	struct mmpath_ctx *ctx = kt_ctx(test, &dom);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, other);
	for (i = 1; i <= 3; i++) {
		atomic_long_add(1000, &ctx->d.stat[MMPATH_RECORDS]);
		ctx->d.cost_ns += 1000;
		atomic64_add(1000, &ctx->d.worker_ns);
		KUNIT_ASSERT_EQ(test, mmpath_add_domain(ctx, other), 0);
		atomic_long_add(1, &ctx->d.stat[MMPATH_RECORDS]);
		ctx->d.cost_ns += 2;
		atomic64_add(3, &ctx->d.worker_ns);
		mmpath_del_domain(ctx, other);
		KUNIT_EXPECT_EQ(test, other->stat[MMPATH_RECORDS], i);
		KUNIT_EXPECT_EQ(test, other->cost_ns, 2 * i);
		KUNIT_EXPECT_EQ(test, other->worker_ns, 3 * i);
	}
	kt_ctx_end(test, ctx, dom);
	mmpath_domain_destroy(other);
}

static struct mmpath_ctx *kt_parent(struct kunit *test, struct mmpath_domain **dom)
{
	struct mmpath_ctx *ctx = kt_ctx(test, dom);

	kt_enlist(test, ctx);
	return ctx;
}

static struct mmpath_ctx *kt_child(struct kunit *test, struct mmpath_ctx *parent)
{
	struct mm_struct *mm = mm_alloc();
	struct mmpath_ctx *ctx;

	KUNIT_ASSERT_NOT_NULL(test, mm);
	ctx = mmpath_ctx_alloc(mm, KT_LOG);
	mmput(mm);
	KUNIT_ASSERT_NOT_NULL(test, ctx);
	kt_enlist(test, ctx);
	mutex_lock(&parent->lock);
	mmpath_name_inherit(ctx, parent);
	mutex_unlock(&parent->lock);
	ctx->gfp = MMPATH_GFP_NOWAIT;
	KUNIT_ASSERT_EQ(test, mmpath_add_domain(ctx, parent->domains[0]), 0);
	return ctx;
}

/* As mmpath_detach(), in two halves */
static void kt_begin_exit(struct mmpath_ctx *ctx)
{
	mutex_lock(&ctx->lock);
	WRITE_ONCE(ctx->leaving, true);
	mmpath_domain_leave(ctx->domains[0], ctx);
	mutex_unlock(&ctx->lock);
}

static void kt_end_exit(struct mmpath_ctx *ctx)
{
	xa_store(&mmpath_ctxs, ctx->id, NULL, GFP_KERNEL);
	mmpath_ctx_put(ctx);
}

static void kt_exit(struct mmpath_ctx *ctx)
{
	kt_begin_exit(ctx);
	kt_end_exit(ctx);
}

/* Pages 0 to @nr - 1, in order. Returns how many are on the merged stack then. */
static u64 kt_touch_all(struct mmpath_ctx *ctx, unsigned long nr)
{
	unsigned long i;

	for (i = 0; i < nr; i++)
		mmpath_log(&ctx->d, kt_page(i));
	mmpath_drain(ctx);
	return mmpath_stack_footprint(&ctx->domains[0]->lru);
}

/* What was there before a fork is on the merged stack once; what was written after it is not. */
static void kt_shared_once(struct kunit *test)
{
	struct mmpath_domain *dom;
	struct mmpath_ctx *parent = kt_parent(test, &dom), *child, *grandchild;
	u64 cold;

	KUNIT_EXPECT_EQ(test, kt_touch_all(parent, 10), 10);
	child = kt_child(test, parent);
	KUNIT_EXPECT_EQ(test, kt_touch_all(child, 10), 10);
	cold = mmpath_mrc_cold(&dom->mrc, MMPATH_MRC_TOTAL);
	KUNIT_EXPECT_EQ(test, cold, 10);
	KUNIT_EXPECT_EQ(test, mmpath_mrc_misses(&dom->mrc, MMPATH_MRC_TOTAL, 0), 10);
	mmpath_name_own(child, 1003, 1);
	KUNIT_EXPECT_EQ(test, kt_touch_all(child, 10), 11);
	KUNIT_EXPECT_EQ(test, kt_touch_all(parent, 10), 11);
	grandchild = kt_child(test, child);
	KUNIT_EXPECT_EQ(test, kt_touch_all(grandchild, 10), 11);
	KUNIT_EXPECT_EQ(test, mmpath_name_of(grandchild, 1002), parent->id);
	KUNIT_EXPECT_EQ(test, mmpath_name_of(grandchild, 1003), child->id);
	KUNIT_EXPECT_EQ(test, mmpath_name_of(grandchild, 1004), parent->id);
	/* what it maps is another thing than what the others have there */
	mmpath_name_own(grandchild, 1000, 10);
	KUNIT_EXPECT_EQ(test, kt_touch_all(grandchild, 10), 21);
	kt_exit(grandchild);
	KUNIT_EXPECT_EQ(test, mmpath_stack_footprint(&dom->lru), 11);
	kt_exit(child);
	KUNIT_EXPECT_EQ(test, mmpath_stack_footprint(&dom->lru), 10);
	KUNIT_EXPECT_TRUE(test, xa_empty(&dom->names));
	kt_exit(parent);
	mmpath_domain_destroy(dom);
}

/* The pages of a parent that has gone are its children's, and its id is nobody else's. */
static void kt_parent_goes(struct kunit *test)
{
	struct mmpath_domain *dom;
	struct mmpath_ctx *parent = kt_parent(test, &dom), *child[2];
	u32 id = parent->id;

	child[0] = kt_child(test, parent);
	child[1] = kt_child(test, parent);
	kt_touch_all(parent, 10);
	kt_exit(parent);
	KUNIT_EXPECT_EQ(test, mmpath_stack_footprint(&dom->lru), 0);
	KUNIT_EXPECT_NULL(test, mmpath_ctx_by_id(id));
	KUNIT_EXPECT_EQ(test, xa_insert(&mmpath_ctxs, id, &id, GFP_KERNEL), -EBUSY);
	KUNIT_EXPECT_EQ(test, kt_touch_all(child[0], 10), 10);
	KUNIT_EXPECT_EQ(test, kt_touch_all(child[1], 10), 10);
	kt_exit(child[0]);
	KUNIT_EXPECT_EQ(test, mmpath_stack_footprint(&dom->lru), 10);
	kt_exit(child[1]);
	KUNIT_EXPECT_EQ(test, mmpath_stack_footprint(&dom->lru), 0);
	KUNIT_EXPECT_TRUE(test, xa_empty(&dom->names));
	/* nobody has the name any more */
	KUNIT_EXPECT_EQ(test, xa_insert(&mmpath_ctxs, id, &id, GFP_KERNEL), 0);
	xa_erase(&mmpath_ctxs, id);
	mmpath_domain_destroy(dom);
}

/* A child touches a page and ends while its parent does. */
static void kt_both_go(struct kunit *test)
{
	struct mmpath_domain *dom;
	struct mmpath_ctx *parent = kt_parent(test, &dom), *child = kt_child(test, parent);

	kt_touch_all(parent, 10);
	kt_begin_exit(parent);
	KUNIT_EXPECT_EQ(test, kt_touch_all(child, 10), 10);
	kt_exit(child);
	KUNIT_EXPECT_EQ(test, mmpath_stack_footprint(&dom->lru), 0);
	kt_end_exit(parent);
	mmpath_domain_destroy(dom);
}

/* What only its children have touched stays with a parent, until it unmaps that or goes. */
static void kt_children_go(struct kunit *test)
{
	struct mmpath_domain *dom;
	struct mmpath_ctx *parent = kt_parent(test, &dom), *child = kt_child(test, parent);

	KUNIT_EXPECT_EQ(test, kt_touch_all(child, 10), 10);
	kt_exit(child);
	KUNIT_EXPECT_EQ(test, mmpath_stack_footprint(&dom->lru), 10);
	mutex_lock(&parent->lock);
	mmpath_domain_forget(dom, parent, 1000, 5);
	mutex_unlock(&parent->lock);
	KUNIT_EXPECT_EQ(test, mmpath_stack_footprint(&dom->lru), 5);
	kt_exit(parent);
	KUNIT_EXPECT_EQ(test, mmpath_stack_footprint(&dom->lru), 0);
	mmpath_domain_destroy(dom);
}

static unsigned int kt_ranges(struct mmpath_ctx *ctx)
{
	unsigned long at = 0;
	unsigned int nr = 0;
	void *entry;

	mt_for_each(&ctx->named, entry, at, ULONG_MAX)
		nr++;
	return nr;
}

/* What a child has for itself is remembered up to a bound, and how many generations are. */
static void kt_many_own(struct kunit *test)
{
	struct mmpath_domain *dom;
	struct mmpath_ctx *ctx[MMPATH_GENERATIONS + 2] = { kt_parent(test, &dom) };
	unsigned long i, k;

	for (i = 1; i < ARRAY_SIZE(ctx); i++)
		ctx[i] = kt_child(test, ctx[i - 1]);
	KUNIT_EXPECT_EQ(test, mmpath_name_of(ctx[MMPATH_GENERATIONS], 0), ctx[0]->id);
	i = MMPATH_GENERATIONS + 1;
	KUNIT_EXPECT_EQ(test, mmpath_name_of(ctx[i], 0), ctx[i]->id);
	/* neighbours are one range */
	for (i = 0; i < 2 * MMPATH_MAX_ISLANDS; i++)
		mmpath_name_own(ctx[1], i, 1);
	KUNIT_EXPECT_EQ(test, ctx[1]->islands, 1);
	KUNIT_EXPECT_EQ(test, kt_ranges(ctx[1]), 1);
	/* and so is what is mapped at one place again and again */
	for (k = 0; k < 2 * MMPATH_MAX_ISLANDS; k++)
		mmpath_name_own(ctx[2], 1000 - k % 3, 10);
	KUNIT_EXPECT_EQ(test, ctx[2]->islands, 1);
	KUNIT_EXPECT_EQ(test, kt_ranges(ctx[2]), 1);
	KUNIT_EXPECT_EQ(test, mmpath_name_of(ctx[2], 997), ctx[0]->id);
	KUNIT_EXPECT_EQ(test, mmpath_name_of(ctx[2], 1009), ctx[2]->id);
	for (; i < 4 * MMPATH_MAX_ISLANDS - 2; i += 2)
		mmpath_name_own(ctx[1], i + 1, 1);
	KUNIT_EXPECT_EQ(test, ctx[1]->islands, MMPATH_MAX_ISLANDS);
	/* one that fills the gap between two needs no room */
	mmpath_name_own(ctx[1], i - 2, 1);
	KUNIT_EXPECT_EQ(test, kt_ranges(ctx[1]), MMPATH_MAX_ISLANDS - 1);
	KUNIT_EXPECT_EQ(test, mmpath_name_of(ctx[1], i), ctx[0]->id);
	KUNIT_EXPECT_EQ(test, mmpath_name_of(ctx[1], i - 1), ctx[1]->id);
	mmpath_name_own(ctx[1], i + 1, 1);
	KUNIT_EXPECT_EQ(test, mmpath_name_of(ctx[1], i), ctx[1]->id);
	KUNIT_EXPECT_TRUE(test, mtree_empty(&ctx[1]->named));
	for (i = ARRAY_SIZE(ctx); i--; )
		kt_exit(ctx[i]);
	mmpath_domain_destroy(dom);
}

/* A child whose fork is not over has no signal_struct that may be read. */
static void kt_owner_new(struct kunit *test)
{
	struct task_struct *task = kunit_kzalloc(test, sizeof(*task), GFP_KERNEL);
	struct mm_struct *mm = mm_alloc();

	KUNIT_ASSERT_NOT_NULL(test, task);
	KUNIT_ASSERT_NOT_NULL(test, mm);
	task->__state = TASK_NEW;
	rcu_assign_pointer(mm->owner, task);
	KUNIT_EXPECT_EQ(test, mmpath_cpu_ns(mm), 0);
	KUNIT_EXPECT_EQ(test, mmpath_major_faults(mm), 0);
	rcu_assign_pointer(mm->owner, current);
	rcu_read_lock();
	KUNIT_EXPECT_PTR_EQ(test, mmpath_owner(mm), current);
	rcu_read_unlock();
	rcu_assign_pointer(mm->owner, NULL);
	mmput(mm);
}

static struct kunit_case kt_core_cases[] = {
	KUNIT_CASE(kt_record_packing),
	KUNIT_CASE(kt_log_full),
	KUNIT_CASE(kt_join_sampled),
	KUNIT_CASE(kt_reset_shift),
	KUNIT_CASE(kt_policies),
	KUNIT_CASE(kt_curve_shift),
	KUNIT_CASE(kt_policy_again),
	KUNIT_CASE(kt_short_of_memory),
	KUNIT_CASE(kt_drain_order),
	KUNIT_CASE(kt_half_full),
	KUNIT_CASE(kt_drain_bites),
	KUNIT_CASE(kt_put_off),
	KUNIT_CASE(kt_feed_huge),
	KUNIT_CASE(kt_domains),
	KUNIT_CASE(kt_leave_makes_up),
	KUNIT_CASE(kt_leave_uncounted),
	KUNIT_CASE(kt_others_seen),
	KUNIT_CASE(kt_resumed),
	KUNIT_CASE(kt_switch_driver),
	KUNIT_CASE(kt_exit_waits),
	KUNIT_CASE(kt_busy_mm),
	KUNIT_CASE(kt_busy_reader),
	KUNIT_CASE(kt_first_scan),
	KUNIT_CASE(kt_late_epoch),
	KUNIT_CASE(kt_refuse),
	KUNIT_CASE(kt_large_footprint),
	KUNIT_CASE(kt_dead_domain),
	KUNIT_CASE(kt_cannot_join),
	KUNIT_CASE(kt_untrack_waits),
	KUNIT_CASE(kt_epoch_is_whole),
	KUNIT_CASE(kt_borrowed_mm),
	KUNIT_CASE(kt_skips_numa),
	KUNIT_CASE(kt_sleeps),
	KUNIT_CASE(kt_asked),
	KUNIT_CASE(kt_joins_late),
	KUNIT_CASE(kt_shared_once),
	KUNIT_CASE(kt_charged),
	KUNIT_CASE(kt_parent_goes),
	KUNIT_CASE(kt_both_go),
	KUNIT_CASE(kt_children_go),
	KUNIT_CASE(kt_many_own),
	KUNIT_CASE(kt_owner_new),
	{}
};

static struct kunit_suite kt_core_suite = {
	.name = "mmpath-core",
	.test_cases = kt_core_cases,
};

kunit_test_suite(kt_core_suite);
