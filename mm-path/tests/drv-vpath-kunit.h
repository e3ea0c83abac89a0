/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tests of how logs are drained, from memory that looks like the device's.
 * Included at the end of drv-vpath.c.
 */
#ifndef _MM_PATH_DRV_VPATH_KUNIT_H
#define _MM_PATH_DRV_VPATH_KUNIT_H

#include <kunit/test.h>

#define KT_VPATH_UNITS	3U
#define KT_VPATH_LOG	64U
#define KT_VPATH_BYTES	(VPATH_UNIT_OFFSET + KT_VPATH_UNITS * (VPATH_UNIT_STRIDE + \
			 KT_VPATH_LOG * sizeof(struct vpath_record)))

/* The driver's state of a machine with a device is put aside meanwhile. */
struct kt_vpath {
	struct vpath_device *device;
	struct mmpath_ctx ctx;
	struct vpath_ctx v;
	struct vpath_drain drain;
	char *bar;
	unsigned int nr_logs;
	struct vpath_log logs[VPATH_MAX_UNITS];
	struct vpath_device header;
	u32 most;
	bool broken;
	u64 late, skipped;
};

static void kt_vpath_swap(struct kt_vpath *kt)
{
	int i;

	mutex_lock(&vpath.drain_lock);
	swap(vpath.bar, kt->bar);
	swap(vpath.nr_logs, kt->nr_logs);
	swap(vpath.header, kt->header);
	swap(vpath.most, kt->most);
	swap(vpath.broken, kt->broken);
	swap(vpath.late, kt->late);
	swap(vpath.skipped, kt->skipped);
	for (i = 0; i < VPATH_MAX_UNITS; i++)
		swap(vpath.logs[i], kt->logs[i]);
	mutex_unlock(&vpath.drain_lock);
}

/* Context 7 of 9 that were given out; tails and stamps are about to wrap. */
static struct kt_vpath *kt_vpath_init(struct kunit *test)
{
	struct kt_vpath *kt = kunit_kzalloc(test, sizeof(*kt), GFP_KERNEL);
	char *bar = kunit_kzalloc(test, KT_VPATH_BYTES, GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, kt);
	KUNIT_ASSERT_NOT_NULL(test, bar);
	kt->device = (struct vpath_device *)bar;
	kt->device->magic = VPATH_MAGIC;
	kt->device->version = VPATH_VERSION;
	kt->device->units = KT_VPATH_UNITS;
	kt->device->log_entries = KT_VPATH_LOG;
	kt->device->log_offset = VPATH_UNIT_OFFSET + KT_VPATH_UNITS * VPATH_UNIT_STRIDE;
	kt->device->log_stride = KT_VPATH_LOG * sizeof(struct vpath_record);
	kt->ctx.drv_data = &kt->v;
	kt->ctx.mm = &init_mm;
	kt->drain.ctx = &kt->ctx;
	kt->drain.number = 7;
	for (i = 0; i < KT_VPATH_UNITS; i++)
		vpath_unit(bar, i)->head = -3U;
	kt_vpath_swap(kt);
	KUNIT_ASSERT_EQ(test, vpath_adopt(bar, kt->device), 0);
	vpath.most = 9;
	return kt;
}

static void kt_vpath_end(struct kt_vpath *kt)
{
	kt_vpath_swap(kt);
}

static void kt_vpath_log(unsigned int unit, u64 addr, u32 context, u32 stamp)
{
	struct vpath_log *log = &vpath.logs[unit];
	u32 head = log->reg->head;

	((struct vpath_record *)log->records)[head & (KT_VPATH_LOG - 1)] =
		(struct vpath_record){ addr, context, stamp };
	log->reg->head = head + 1;
}

/* As __vpath_drain(), but for the one context that no table knows, and not fed */
static void kt_vpath_drain(struct kt_vpath *kt)
{
	struct vpath_log *log;
	u32 limit;

	mutex_lock(&vpath.drain_lock);
	vpath_look();
	while (!vpath.broken && (log = vpath_first(&limit)))
		vpath_drain_one(&kt->drain, log, limit);
	mutex_unlock(&vpath.drain_lock);
}

static void kt_vpath_order(struct kunit *test)
{
	struct kt_vpath *kt = kt_vpath_init(test);
	static const u8 unit_of[] = { 0, 1, 1, 2, 0, 0, 2, 1, 2, 2, 0, 1 };
	u32 i, first = -5U;	/* stamps wrap on the way */

	for (i = 0; i < ARRAY_SIZE(unit_of); i++)
		kt_vpath_log(unit_of[i], (100 + i) << VPATH_PAGE_SHIFT | (i & 1), 7, first + i);
	kt_vpath_drain(kt);
	KUNIT_EXPECT_FALSE(test, vpath.broken);
	KUNIT_ASSERT_EQ(test, kt->drain.nr, ARRAY_SIZE(unit_of));
	for (i = 0; i < ARRAY_SIZE(unit_of); i++)
		KUNIT_EXPECT_EQ(test, kt->drain.batch[i],
				mmpath_record((100 + i) << PAGE_SHIFT, 0, i & 1));
	/* the device is told that all has been read */
	for (i = 0; i < KT_VPATH_UNITS; i++)
		KUNIT_EXPECT_EQ(test, vpath.logs[i].reg->tail, vpath.logs[i].reg->head);
	kt_vpath_end(kt);
}

static void kt_vpath_order_of_record(struct kunit *test)
{
	struct kt_vpath *kt = kt_vpath_init(test);
	u64 addr = 5ULL << PMD_SHIFT;

	kt_vpath_log(0, addr | PMD_ORDER << VPATH_RECORD_ORDER | VPATH_RECORD_WRITE |
		     VPATH_RECORD_KERNEL | VPATH_RECORD_AGAIN, 7, 0);
	kt_vpath_drain(kt);
	KUNIT_ASSERT_EQ(test, kt->drain.nr, 1);
	KUNIT_EXPECT_EQ(test, kt->drain.batch[0],
			mmpath_record(addr, PMD_ORDER, true) | MMPATH_RECORD_AGAIN);
	kt_vpath_end(kt);
}

/* A context that has gone: 8 was given out, and nobody has it. */
static void kt_vpath_late(struct kunit *test)
{
	struct kt_vpath *kt = kt_vpath_init(test);

	kt_vpath_log(1, 1 << VPATH_PAGE_SHIFT, 8, 0);
	kt_vpath_drain(kt);
	KUNIT_EXPECT_NULL(test, kt->drain.ctx);
	KUNIT_EXPECT_EQ(test, vpath.late, 1);
	KUNIT_EXPECT_EQ(test, kt->drain.nr, 0);
	KUNIT_EXPECT_FALSE(test, vpath.broken);
	kt_vpath_end(kt);
}

static bool kt_vpath_lies(struct kunit *test, u64 addr, u32 context, u32 extra)
{
	struct kt_vpath *kt = kt_vpath_init(test);
	bool broken;

	kt_vpath_log(2, addr, context, 0);
	vpath.logs[2].reg->head += extra;
	kt_vpath_drain(kt);
	broken = vpath.broken;
	KUNIT_EXPECT_EQ(test, kt->drain.nr, broken ? 0 : 1 + extra);
	kt_vpath_end(kt);
	return broken;
}

/* A lie in the first record of a drain, when nobody's have come yet */
static void kt_vpath_first_lie(struct kunit *test)
{
	struct kt_vpath *kt = kt_vpath_init(test);

	kt->drain.ctx = NULL;
	kt->drain.number = VPATH_NOBODY;
	kt_vpath_log(0, 1 << VPATH_PAGE_SHIFT, 0, 0);
	kt_vpath_drain(kt);
	KUNIT_EXPECT_TRUE(test, vpath.broken);
	KUNIT_EXPECT_EQ(test, kt->drain.nr, 0);
	kt_vpath_end(kt);
	flush_work(&vpath_lost_work);
}

static void kt_vpath_lie(struct kunit *test)
{
	u64 good = 1 << VPATH_PAGE_SHIFT;

	KUNIT_EXPECT_FALSE(test, kt_vpath_lies(test, good, 7, 0));
	KUNIT_EXPECT_TRUE(test, kt_vpath_lies(test, good, 0, 0));
	KUNIT_EXPECT_TRUE(test, kt_vpath_lies(test, good, 10, 0));
	KUNIT_EXPECT_TRUE(test, kt_vpath_lies(test, good, U32_MAX, 0));
	KUNIT_EXPECT_TRUE(test, kt_vpath_lies(test, 1ULL << 63, 7, 0));
	KUNIT_EXPECT_TRUE(test, kt_vpath_lies(test, good | 31 << VPATH_RECORD_ORDER, 7, 0));
	KUNIT_EXPECT_TRUE(test, kt_vpath_lies(test, good, 7, KT_VPATH_LOG));
	KUNIT_EXPECT_TRUE(test, kt_vpath_lies(test, good, 7, -2U));
	flush_work(&vpath_lost_work);
}

static void kt_vpath_header(struct kunit *test)
{
	struct kt_vpath *kt = kt_vpath_init(test);
	struct vpath_device *d = kt->device, good = *d;

	KUNIT_EXPECT_TRUE(test, vpath_header_good(d, KT_VPATH_BYTES));
	KUNIT_EXPECT_FALSE(test, vpath_header_good(d, KT_VPATH_BYTES - 1));
#define KT_BAD(_lie)								\
	do {									\
		(_lie);									\
		KUNIT_EXPECT_FALSE(test, vpath_header_good(d, KT_VPATH_BYTES));	\
		*d = good;							\
	} while (0)
	KT_BAD(d->magic = 0);
	KT_BAD(d->version = 2);
	KT_BAD(d->units = 0);
	KT_BAD(d->units = 4);
	KT_BAD(d->units = VPATH_MAX_UNITS + 1);
	KT_BAD(d->units = U32_MAX);
	KT_BAD(d->log_entries = 0);
	KT_BAD(d->log_entries = 63);
	KT_BAD(d->log_entries = 128);
	KT_BAD(d->log_entries = 1U << 31);
	KT_BAD(d->log_offset = 0);
	KT_BAD(d->log_offset = U64_MAX);
	KT_BAD(d->log_stride = 0);
	KT_BAD(d->log_stride = U64_MAX / 2);
#undef KT_BAD
	kt_vpath_end(kt);
}

/* No unit serves two CPUs, nor one that is not there any. */
static void kt_vpath_claim(struct kunit *test)
{
	struct kt_vpath *kt = kt_vpath_init(test);
	struct vpath_unit *reg = vpath_unit(vpath.bar, 1), *taken, *other;
	unsigned long flags;

	KUNIT_EXPECT_PTR_EQ(test, vpath_claim(1), reg);
	KUNIT_EXPECT_NULL(test, vpath_claim(KT_VPATH_UNITS));
	KUNIT_EXPECT_NULL(test, vpath_claim(U32_MAX));
	/* nobody looks at this CPU's meanwhile */
	local_irq_save(flags);
	swap(this_cpu_ptr(&vpath_cpus)->reg, reg);
	taken = vpath_claim(1);
	other = vpath_claim(2);
	swap(this_cpu_ptr(&vpath_cpus)->reg, reg);
	local_irq_restore(flags);
	KUNIT_EXPECT_NULL(test, taken);
	KUNIT_EXPECT_NOT_NULL(test, other);
	kt_vpath_end(kt);
}

/* Waits for swap are the program's time, but no more than it waited at all. */
static void kt_vpath_own_time(struct kunit *test)
{
	struct vpath_time now = { .cpu_ns = 7000, .wall_ns = 7000 };
	struct kt_vpath *kt = kt_vpath_init(test);

	kt->ctx.drv_data = &kt->v;
	kt->v.seen.cpu_ns = 5000;
	kt->v.inside_ns = 100;
	KUNIT_EXPECT_EQ(test, vpath_own_ns(&kt->v, &now), 1900);
	now.major = 3;
	KUNIT_EXPECT_EQ(test, vpath_own_ns(&kt->v, &now), 1900 + 5000);
	now.wall_ns = NSEC_PER_SEC;
	KUNIT_EXPECT_EQ(test, vpath_own_ns(&kt->v, &now), 1900 + 3 * VPATH_MAJOR_NS);
	now.major = 0;
	vpath_account(&kt->ctx, &now);
	KUNIT_EXPECT_EQ(test, kt->ctx.own_ns, 1900);
	/* the program has gone, and its time with it */
	now = (struct vpath_time){ .wall_ns = 2 * NSEC_PER_SEC };
	vpath_account(&kt->ctx, &now);
	KUNIT_EXPECT_EQ(test, kt->ctx.own_ns, 1901);
	KUNIT_EXPECT_EQ(test, kt->v.seen.cpu_ns, 7000);
	kt_vpath_end(kt);
}

static void kt_vpath_next_epoch(struct kt_vpath *kt, u64 cpu_ns)
{
	struct vpath_time now = { .cpu_ns = cpu_ns, .wall_ns = cpu_ns };

	vpath_account(&kt->ctx, &now);
	vpath_end_epoch(&kt->ctx);
}

/* Its share is 1.5 percent, so with 2850 ns more than that it rests for 190000 of its own. */
static void kt_vpath_rest(struct kunit *test)
{
	struct kt_vpath *kt = kt_vpath_init(test);
	struct mmpath_ctx *ctx = &kt->ctx;

	atomic64_set(&ctx->hook_ns, 3000);
	ctx->resting = true;
	kt_vpath_next_epoch(kt, 10000);
	KUNIT_EXPECT_EQ(test, kt->v.debt_ns, 2700);
	KUNIT_EXPECT_EQ(test, kt->v.excess_ns, 2850);
	vpath_begin(ctx, ctx->mm);
	KUNIT_EXPECT_TRUE(test, ctx->resting);
	kt_vpath_next_epoch(kt, 199900);
	vpath_begin(ctx, ctx->mm);
	KUNIT_EXPECT_TRUE(test, ctx->resting);
	kt_vpath_next_epoch(kt, 200100);
	/* not before the epoch is over for all */
	KUNIT_EXPECT_TRUE(test, ctx->resting);
	vpath_begin(ctx, ctx->mm);
	KUNIT_EXPECT_FALSE(test, ctx->resting);
	/* what it has not cost is not saved for later */
	kt_vpath_next_epoch(kt, 900000);
	KUNIT_EXPECT_EQ(test, kt->v.debt_ns, 0);
	KUNIT_EXPECT_EQ(test, kt->v.excess_ns, 0);
	kt_vpath_end(kt);
}

/* What a set-up has cost is paid for at the target, and no longer than that takes. */
static void kt_vpath_setup(struct kunit *test)
{
	struct kt_vpath *kt = kt_vpath_init(test);
	u64 allowed_ns = vpath_allowed_ns();

	atomic64_set(&kt->ctx.hook_ns, 10 * allowed_ns);
	kt->ctx.resting = true;
	kt_vpath_next_epoch(kt, 100);
	KUNIT_EXPECT_EQ(test, kt->v.debt_ns, 10 * allowed_ns - 3);
	KUNIT_EXPECT_EQ(test, kt->v.excess_ns, 2 * allowed_ns);
	kt_vpath_next_epoch(kt, 300 * allowed_ns);
	KUNIT_EXPECT_FALSE(test, kt->v.awake);
	KUNIT_EXPECT_EQ(test, kt->v.excess_ns, 0);
	kt_vpath_next_epoch(kt, 334 * allowed_ns);
	KUNIT_EXPECT_TRUE(test, kt->v.awake);
	kt_vpath_end(kt);
}

/*
 * What it takes, in hundredths of the target, for three epochs, and how much of that is not
 * of records
 */
static unsigned int kt_vpath_epochs(struct kt_vpath *kt, unsigned int shift,
				    unsigned long pages, unsigned int percent,
				    unsigned int fixed)
{
	int i;

	vpath_look_anew(&kt->ctx);
	atomic_long_add((percent - fixed) * 900 / 25, &kt->ctx.stat[MMPATH_RECORDS]);
	for (i = 0; i < VPATH_LOOK_EPOCHS; i++) {
		if (i && vpath_better_shift(&kt->ctx, pages, shift) != shift)
			return UINT_MAX;
		kt->ctx.own_ns += 1000 * NSEC_PER_USEC;
		/* not the same in each */
		kt->ctx.cost_ns += (u64)percent * (i * 300);
	}
	return vpath_better_shift(&kt->ctx, pages, shift);
}

static unsigned int kt_vpath_three_epochs(struct kt_vpath *kt, unsigned int shift,
					  unsigned long pages, unsigned int percent)
{
	return kt_vpath_epochs(kt, shift, pages, percent, 0);
}

/* What a sample costs says which it is, whatever it was before. */
static void kt_vpath_better(struct kunit *test)
{
	struct kt_vpath *kt = kt_vpath_init(test);

	KUNIT_EXPECT_EQ(test, kt_vpath_three_epochs(kt, 5, 65536, 28), 6);
	KUNIT_EXPECT_EQ(test, kt_vpath_three_epochs(kt, 6, 65536, 14), 6);
	KUNIT_EXPECT_EQ(test, kt_vpath_three_epochs(kt, 5, 65536, 24), 5);
	KUNIT_EXPECT_EQ(test, kt_vpath_three_epochs(kt, 6, 65536, 10), 5);
	KUNIT_EXPECT_EQ(test, kt_vpath_three_epochs(kt, 7, 65536, 5), 5);
	KUNIT_EXPECT_EQ(test, kt_vpath_three_epochs(kt, 3, 65536, 0), 0);
	/* of a sample of less than 128 pages half is aimed at; of less than 64 there is none */
	KUNIT_EXPECT_EQ(test, kt_vpath_three_epochs(kt, 5, 8191, 45), 5);
	KUNIT_EXPECT_EQ(test, kt_vpath_three_epochs(kt, 5, 8191, 55), 6);
	KUNIT_EXPECT_EQ(test, kt_vpath_three_epochs(kt, 6, 8191, 99), 6);
	KUNIT_EXPECT_EQ(test, kt_vpath_three_epochs(kt, 6, 8191, 21), 5);
	/* what an epoch takes without records does not double */
	KUNIT_EXPECT_EQ(test, kt_vpath_epochs(kt, 6, 65536, 20, 18), 5);
	KUNIT_EXPECT_EQ(test, kt_vpath_epochs(kt, 6, 65536, 20, 13), 6);
	/* what a record takes is known from many, and from few if nothing else is known */
	KUNIT_EXPECT_EQ(test, kt->v.record_ns, 25);
	KUNIT_EXPECT_EQ(test, vpath_finer(&kt->v, 51200, 2 * VPATH_MANY_RECORDS, 0, 9), 0);
	KUNIT_EXPECT_EQ(test, kt->v.record_ns, 51200 / (2 * VPATH_MANY_RECORDS));
	KUNIT_EXPECT_EQ(test, vpath_finer(&kt->v, 1000, 10, 1000 + 250 * 3, 9), 2);
	kt->v.record_ns = 0;
	KUNIT_EXPECT_EQ(test, vpath_finer(&kt->v, 1000, 10, 1000 + 250 * 3, 9), 0);
	KUNIT_EXPECT_EQ(test, kt->v.record_ns, 100);
	kt_vpath_end(kt);
}

/* The device has seen 13 accesses of a context, and 7 that nobody asked for before. */
static void kt_vpath_accesses(struct kunit *test)
{
	struct kt_vpath *kt = kt_vpath_init(test);
	struct vpath_cpu c = { .reg = vpath_unit(vpath.bar, 0), .context = U32_MAX, .passed = 7 };
	struct mmpath_ctx *ctx = &kt->ctx;

	KUNIT_ASSERT_EQ(test, xa_insert(&vpath.ctxs, U32_MAX, ctx, GFP_KERNEL), 0);
	c.reg->counters.filter_misses = 20;
	c.reg->counters.logged = 20;
	/* which do not get that far */
	c.reg->counters.accesses = 100;
	c.reg->counters.pab_misses = 50;
	vpath_count_passed(&c);
	vpath_count_passed(&c);
	xa_erase(&vpath.ctxs, U32_MAX);
	/* whose they are nobody knows */
	c.reg->counters.filter_misses = 30;
	vpath_count_passed(&c);
	KUNIT_EXPECT_EQ(test, atomic64_read(&ctx->accesses), 13);
	KUNIT_EXPECT_FALSE(test, ctx->unseen);
	kt_vpath_end(kt);
}

/* Of which one was not logged, for one reason or another; or was, and is skipped. */
static void kt_vpath_unseen(struct kunit *test)
{
	struct kt_vpath *kt = kt_vpath_init(test);
	struct vpath_cpu c = { .reg = vpath_unit(vpath.bar, 0), .context = U32_MAX };
	struct vpath_counters *counters = &c.reg->counters;
	u64 *reasons[] = { &counters->unsampled, &counters->paused, &counters->overflowed };
	struct mmpath_ctx *ctx = &kt->ctx;
	int i;

	KUNIT_ASSERT_EQ(test, xa_insert(&vpath.ctxs, U32_MAX, ctx, GFP_KERNEL), 0);
	for (i = 0; i < ARRAY_SIZE(reasons); i++) {
		counters->filter_misses++;
		++*reasons[i];
		vpath_count_passed(&c);
		KUNIT_EXPECT_EQ(test, atomic64_read(&ctx->accesses), i + 1);
		KUNIT_EXPECT_TRUE(test, ctx->unseen);
		ctx->unseen = false;
		vpath_count_passed(&c);
		KUNIT_EXPECT_FALSE(test, ctx->unseen);
	}
	/* whoever comes next has no part in what was not even told from others */
	counters->unsampled++;
	vpath_count_passed(&c);
	KUNIT_EXPECT_TRUE(test, ctx->unseen);
	ctx->unseen = false;
	xa_erase(&vpath.ctxs, U32_MAX);
	kt->v.choked = true;
	kt->drain.nr = 3;
	vpath_feed(&kt->drain);
	KUNIT_EXPECT_EQ(test, kt->drain.nr, 0);
	KUNIT_EXPECT_EQ(test, vpath.skipped, 3);
	KUNIT_EXPECT_TRUE(test, ctx->unseen);
	kt_vpath_end(kt);
}

/* A sample of 64 pages is the least, and from 128 on a quarter of the target is aimed at. */
static void kt_vpath_coarser(struct kunit *test)
{
	struct kt_vpath *kt = kt_vpath_init(test);

	KUNIT_EXPECT_EQ(test, vpath_coarser(&kt->ctx, 8192, 0, 1), 3);
	KUNIT_EXPECT_EQ(test, vpath_coarser(&kt->ctx, 8192, 2, 4), 6);
	KUNIT_EXPECT_EQ(test, vpath_coarser(&kt->ctx, 8191, 5, 1), 6);
	KUNIT_EXPECT_EQ(test, vpath_coarser(&kt->ctx, 8192, 0, 1000), 7);
	KUNIT_EXPECT_EQ(test, vpath_coarser(&kt->ctx, 8192, 7, 1), 7);
	/* it has shrunk since */
	KUNIT_EXPECT_EQ(test, vpath_coarser(&kt->ctx, 32, 3, 1), 3);
	KUNIT_EXPECT_EQ(test, vpath_coarser(&kt->ctx, 0, 0, 1), 0);
	KUNIT_EXPECT_EQ(test, vpath_coarser(&kt->ctx, ULONG_MAX, 0, UINT_MAX), MMPATH_MAX_SHIFT);
	kt_vpath_end(kt);
}

static void kt_vpath_judge(struct kt_vpath *kt)
{
	mutex_lock(&vpath.drain_lock);
	vpath_judge(&kt->ctx);
	mutex_unlock(&vpath.drain_lock);
}

/* Records are skipped when they have cost what an epoch may. */
static void kt_vpath_choked(struct kunit *test)
{
	struct kt_vpath *kt = kt_vpath_init(test);
	u64 allowed_ns = vpath_allowed_ns();

	kt->ctx.kicked = true;	/* nobody shall come */
	kt->v.seen = vpath_now(kt->ctx.mm);
	atomic64_set(&kt->ctx.hook_ns, allowed_ns / 2);
	kt_vpath_judge(kt);
	KUNIT_EXPECT_FALSE(test, kt->v.choked);
	atomic64_set(&kt->ctx.hook_ns, 2 * allowed_ns);
	kt_vpath_judge(kt);
	KUNIT_EXPECT_TRUE(test, kt->v.choked);
	/* but a drain that has made the sample coarser gets twice as much again */
	kt->v.choked = false;
	kt->v.thinned = 2 * allowed_ns;
	atomic64_set(&kt->ctx.hook_ns, 4 * allowed_ns - 1);
	kt_vpath_judge(kt);
	KUNIT_EXPECT_FALSE(test, kt->v.choked);
	atomic64_set(&kt->ctx.hook_ns, 4 * allowed_ns);
	kt_vpath_judge(kt);
	KUNIT_EXPECT_TRUE(test, kt->v.choked);
	kt_vpath_end(kt);
}

static struct kunit_case kt_vpath_cases[] = {
	KUNIT_CASE(kt_vpath_order),
	KUNIT_CASE(kt_vpath_order_of_record),
	KUNIT_CASE(kt_vpath_late),
	KUNIT_CASE(kt_vpath_first_lie),
	KUNIT_CASE(kt_vpath_lie),
	KUNIT_CASE(kt_vpath_header),
	KUNIT_CASE(kt_vpath_claim),
	KUNIT_CASE(kt_vpath_own_time),
	KUNIT_CASE(kt_vpath_rest),
	KUNIT_CASE(kt_vpath_setup),
	KUNIT_CASE(kt_vpath_better),
	KUNIT_CASE(kt_vpath_accesses),
	KUNIT_CASE(kt_vpath_unseen),
	KUNIT_CASE(kt_vpath_choked),
	KUNIT_CASE(kt_vpath_coarser),
	{}
};

static struct kunit_suite kt_vpath_suite = {
	.name = "mmpath-vpath",
	.test_cases = kt_vpath_cases,
};

kunit_test_suite(kt_vpath_suite);

#endif /* _MM_PATH_DRV_VPATH_KUNIT_H */
