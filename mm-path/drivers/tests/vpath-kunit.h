/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tests of how logs are drained. Ordinary memory stands in for the device's.
 * Included at the end of vpath.c.
 */
#ifndef _MM_PATH_DRV_VPATH_KUNIT_H
#define _MM_PATH_DRV_VPATH_KUNIT_H

#include <kunit/test.h>

#define KT_VPATH_UNITS	3U
#define KT_VPATH_LOG	64U
#define KT_VPATH_BYTES	(VPATH_UNIT_OFFSET + KT_VPATH_UNITS * (VPATH_UNIT_STRIDE + \
			 KT_VPATH_LOG * sizeof(struct vpath_record)))

/* On a machine with a device, the driver's state is put aside during a test. */
struct kt_vpath {
	struct vpath_device *device;
	struct mmpath_drv_ctx ctx;
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

	mutex_lock(&mmpath_vpath_drain_lock);
	swap(vpath.bar, kt->bar);
	swap(vpath.nr_logs, kt->nr_logs);
	swap(vpath.header, kt->header);
	swap(vpath.most, kt->most);
	swap(vpath.broken, kt->broken);
	swap(vpath.late, kt->late);
	swap(vpath.skipped, kt->skipped);
	for (i = 0; i < VPATH_MAX_UNITS; i++)
		swap(vpath.logs[i], kt->logs[i]);
	mutex_unlock(&mmpath_vpath_drain_lock);
}

/* The context has number 7, and 9 were given out. Heads and tails are about to wrap. */
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

/* Like __vpath_drain(), but for a context that is in no table, and without feeding it. */
static void kt_vpath_drain(struct kt_vpath *kt)
{
	struct vpath_log *log;
	u32 limit;

	mutex_lock(&mmpath_vpath_drain_lock);
	vpath_look();
	while (!vpath.broken && (log = vpath_first(&limit)))
		vpath_drain_one(&kt->drain, log, limit);
	mutex_unlock(&mmpath_vpath_drain_lock);
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
	/* the device was told that all records have been read */
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

/* A record of a context that has gone: 8 was given out, and is not in the table. */
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

/* An impossible value in the first record of a drain, which has no context yet. */
static void kt_vpath_first_lie(struct kunit *test)
{
	struct kt_vpath *kt = kt_vpath_init(test);

	kt->drain.ctx = NULL;
	kt->drain.number = VPATH_NO_CONTEXT;
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

/* No two CPUs have the same unit, and none has a unit that does not exist. */
static void kt_vpath_claim(struct kunit *test)
{
	struct kt_vpath *kt = kt_vpath_init(test);
	struct vpath_unit *reg = vpath_unit(vpath.bar, 1), *taken, *other;
	unsigned long flags;

	KUNIT_EXPECT_PTR_EQ(test, vpath_claim(1), reg);
	KUNIT_EXPECT_NULL(test, vpath_claim(KT_VPATH_UNITS));
	KUNIT_EXPECT_NULL(test, vpath_claim(U32_MAX));
	/* keep others from seeing the changed unit of this CPU */
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

/* The device has seen 7 accesses before, and then 13 of the context. */
static void kt_vpath_accesses(struct kunit *test)
{
	struct kt_vpath *kt = kt_vpath_init(test);
	struct vpath_cpu c = { .reg = vpath_unit(vpath.bar, 0), .context = U32_MAX, .passed = 7 };
	struct mmpath_drv_ctx *ctx = &kt->ctx;

	KUNIT_ASSERT_EQ(test, xa_insert(&vpath.ctxs, U32_MAX, ctx, GFP_KERNEL), 0);
	c.reg->counters.filter_misses = 20;
	c.reg->counters.logged = 20;
	/* accesses that did not get past all stages do not count */
	c.reg->counters.accesses = 100;
	c.reg->counters.pab_misses = 50;
	vpath_count_passed(&c);
	vpath_count_passed(&c);
	xa_erase(&vpath.ctxs, U32_MAX);
	/* accesses of a context that has gone count for none */
	c.reg->counters.filter_misses = 30;
	vpath_count_passed(&c);
	KUNIT_EXPECT_EQ(test, atomic64_read(&ctx->accesses), 13);
	KUNIT_EXPECT_FALSE(test, ctx->unseen);
	kt_vpath_end(kt);
}

/* An access that is not logged, for any reason, or a record that is skipped, marks the context. */
static void kt_vpath_unseen(struct kunit *test)
{
	struct kt_vpath *kt = kt_vpath_init(test);
	struct vpath_cpu c = { .reg = vpath_unit(vpath.bar, 0), .context = U32_MAX };
	struct vpath_counters *counters = &c.reg->counters;
	u64 *reasons[] = { &counters->unsampled, &counters->paused, &counters->overflowed };
	struct mmpath_drv_ctx *ctx = &kt->ctx;
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
	/* also when no other counter has changed */
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

static struct kunit_case kt_vpath_cases[] = {
	KUNIT_CASE(kt_vpath_order),
	KUNIT_CASE(kt_vpath_order_of_record),
	KUNIT_CASE(kt_vpath_late),
	KUNIT_CASE(kt_vpath_first_lie),
	KUNIT_CASE(kt_vpath_lie),
	KUNIT_CASE(kt_vpath_header),
	KUNIT_CASE(kt_vpath_claim),
	KUNIT_CASE(kt_vpath_accesses),
	KUNIT_CASE(kt_vpath_unseen),
	{}
};

static struct kunit_suite kt_vpath_suite = {
	.name = "mmpath-vpath",
	.test_cases = kt_vpath_cases,
};

kunit_test_suite(kt_vpath_suite);

#endif /* _MM_PATH_DRV_VPATH_KUNIT_H */
