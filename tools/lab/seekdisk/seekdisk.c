// SPDX-License-Identifier: GPL-2.0
/*
 * seekdisk - a disk with one arm, kept in memory, for the lab
 *
 * Requests are served in turn, as they come. One takes what the arm needs from the end of the
 * last one to its own begin, and page_us for each page. The arm needs nothing where it is,
 * seek_us_min to the next page, seek_us_full across the whole disk, and in between it goes with
 * the square root of the distance. In virtual time that is exact.
 *
 * Data are copied when a request is issued, which is before it is served. /dev/seekdisk0 is all
 * there before it is used: nothing is allocated for a request.
 */
#include <linux/blk-mq.h>
#include <linux/hrtimer.h>
#include <linux/module.h>
#include <linux/vmalloc.h>

static unsigned long size_mb = 256;
module_param(size_mb, ulong, 0444);
MODULE_PARM_DESC(size_mb, "Size (256)");

static unsigned long seek_us_min = 2000;
module_param(seek_us_min, ulong, 0444);
MODULE_PARM_DESC(seek_us_min, "Time to the next page (2000)");

static unsigned long seek_us_full = 16000;
module_param(seek_us_full, ulong, 0444);
MODULE_PARM_DESC(seek_us_full, "Time from one end to the other (16000)");

static unsigned long page_us = 40;
module_param(page_us, ulong, 0444);
MODULE_PARM_DESC(page_us, "Time that a page takes under the head (40)");

static unsigned int depth = 32;
module_param(depth, uint, 0444);
MODULE_PARM_DESC(depth, "Requests that wait for the arm at most (32)");

#define SEEKDISK_FULL_SHIFT	20	/* the square root of a whole is 1 << 10 */

/**
 * struct seekdisk - the disk
 * @lock: of all that follows; taken with interrupts off
 * @waiting: requests that wait for the arm, the first one is next
 * @served: the one that is served, or NULL
 * @timer: ends when it has been
 * @arm: sector where the last one ended
 * @set: of tags
 * @disk: as the block layer has it
 * @data: all of it
 */
struct seekdisk {
	spinlock_t lock;	/* of all that follows, with interrupts off */
	struct list_head waiting;
	struct request *served;
	struct hrtimer timer;
	sector_t arm;
	struct blk_mq_tag_set set;
	struct gendisk *disk;
	void *data;
};

static struct seekdisk seekdisk;

static sector_t seekdisk_sectors(void)
{
	return (sector_t)size_mb << (20 - SECTOR_SHIFT);
}

static u64 seekdisk_seek_us(sector_t from, sector_t to)
{
	u64 distance = from < to ? to - from : from - to;
	u64 part = div64_u64(distance << SEEKDISK_FULL_SHIFT, seekdisk_sectors());

	if (!distance)
		return 0;
	return seek_us_min + ((seek_us_full - seek_us_min) * int_sqrt64(part) >>
			      (SEEKDISK_FULL_SHIFT / 2));
}

/* The lock is held. */
static void seekdisk_serve_next(struct seekdisk *d)
{
	struct request *rq = list_first_entry_or_null(&d->waiting, struct request, queuelist);
	u64 us;

	lockdep_assert_held(&d->lock);
	d->served = rq;
	if (!rq)
		return;
	list_del_init(&rq->queuelist);
	us = seekdisk_seek_us(d->arm, blk_rq_pos(rq));
	us += page_us * DIV_ROUND_UP(blk_rq_bytes(rq), PAGE_SIZE);
	d->arm = blk_rq_pos(rq) + blk_rq_sectors(rq);
	hrtimer_start(&d->timer, ns_to_ktime(us * NSEC_PER_USEC), HRTIMER_MODE_REL);
}

static enum hrtimer_restart seekdisk_served(struct hrtimer *timer)
{
	struct seekdisk *d = container_of(timer, struct seekdisk, timer);
	struct request *rq;
	unsigned long flags;

	spin_lock_irqsave(&d->lock, flags);
	rq = d->served;
	seekdisk_serve_next(d);
	spin_unlock_irqrestore(&d->lock, flags);
	blk_mq_complete_request(rq);
	return HRTIMER_NORESTART;
}

static void seekdisk_copy(struct seekdisk *d, struct request *rq)
{
	void *data = d->data + (blk_rq_pos(rq) << SECTOR_SHIFT);
	struct req_iterator iter;
	struct bio_vec bvec;

	rq_for_each_segment(bvec, rq, iter) {
		if (rq_data_dir(rq) == WRITE)
			memcpy_from_bvec(data, &bvec);
		else
			memcpy_to_bvec(&bvec, data);
		data += bvec.bv_len;
	}
}

static blk_status_t seekdisk_queue_rq(struct blk_mq_hw_ctx *hctx,
				      const struct blk_mq_queue_data *bd)
{
	struct seekdisk *d = hctx->queue->queuedata;
	unsigned long flags;

	if (req_op(bd->rq) != REQ_OP_READ && req_op(bd->rq) != REQ_OP_WRITE)
		return BLK_STS_NOTSUPP;
	blk_mq_start_request(bd->rq);
	seekdisk_copy(d, bd->rq);
	spin_lock_irqsave(&d->lock, flags);
	list_add_tail(&bd->rq->queuelist, &d->waiting);
	if (!d->served)
		seekdisk_serve_next(d);
	spin_unlock_irqrestore(&d->lock, flags);
	return BLK_STS_OK;
}

static void seekdisk_complete(struct request *rq)
{
	blk_mq_end_request(rq, BLK_STS_OK);
}

static const struct blk_mq_ops seekdisk_mq_ops = {
	.queue_rq	= seekdisk_queue_rq,
	.complete	= seekdisk_complete,
};

static const struct block_device_operations seekdisk_ops = {
	.owner = THIS_MODULE,
};

static int seekdisk_add(struct seekdisk *d)
{
	struct queue_limits limits = {
		.features		= BLK_FEAT_ROTATIONAL,
		.logical_block_size	= PAGE_SIZE,
		.max_hw_sectors		= 256 * PAGE_SECTORS,
	};
	int err;

	d->set = (struct blk_mq_tag_set){
		.ops		= &seekdisk_mq_ops,
		.nr_hw_queues	= 1,
		.queue_depth	= depth,
		.numa_node	= NUMA_NO_NODE,
		.flags		= BLK_MQ_F_SHOULD_MERGE,
	};
	err = blk_mq_alloc_tag_set(&d->set);
	if (err)
		return err;
	d->disk = blk_mq_alloc_disk(&d->set, &limits, d);
	if (IS_ERR(d->disk)) {
		err = PTR_ERR(d->disk);
		goto free_set;
	}
	strscpy(d->disk->disk_name, "seekdisk0", DISK_NAME_LEN);
	d->disk->flags |= GENHD_FL_NO_PART;
	d->disk->fops = &seekdisk_ops;
	set_capacity(d->disk, seekdisk_sectors());
	err = add_disk(d->disk);
	if (!err)
		return 0;
	put_disk(d->disk);
free_set:
	blk_mq_free_tag_set(&d->set);
	return err;
}

static int __init seekdisk_init(void)
{
	struct seekdisk *d = &seekdisk;
	int err;

	if (!size_mb || !depth || seek_us_min > seek_us_full)
		return -EINVAL;
	d->data = vzalloc(size_mb << 20);
	if (!d->data)
		return -ENOMEM;
	spin_lock_init(&d->lock);
	INIT_LIST_HEAD(&d->waiting);
	hrtimer_init(&d->timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
	d->timer.function = seekdisk_served;
	err = seekdisk_add(d);
	if (err)
		vfree(d->data);
	return err;
}
module_init(seekdisk_init);

/* Nobody has it open, so no request is on its way. */
static void __exit seekdisk_exit(void)
{
	struct seekdisk *d = &seekdisk;

	del_gendisk(d->disk);
	put_disk(d->disk);
	blk_mq_free_tag_set(&d->set);
	hrtimer_cancel(&d->timer);
	vfree(d->data);
}
module_exit(seekdisk_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A disk with one arm, for the lab");
