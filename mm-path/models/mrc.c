// SPDX-License-Identifier: GPL-2.0
/*
 * The miss rate curve (thesis 4.2.2): lambda(M), the number of misses in some
 * time with M pages of memory, for all M at once.
 *
 * A touch at distance d hits with M pages if d < M, so
 *
 *	lambda(M) = touches with d >= M
 *
 * So a histogram of distances is enough. Algorithm 2 of the thesis adds each
 * touch to all smaller sizes at once. Here the sum is made when it is asked for.
 * A bin is a group of group_pages distances, a power of two. lambda is exact at
 * multiples of it, and linear in between. First touches miss with any memory,
 * and are counted apart.
 *
 * Time is divided into epochs. A bin counts touches of the epoch that runs. It
 * keeps the count of the epoch closed last, the sum of all, and the decayed sum,
 * in which each close halves the weight of what is older.
 *
 * Bursts
 * ------
 *
 * A driver may track for some time, a burst, and then pause. Each touch in a
 * burst starts an interval that ends with the next touch of the page. When the
 * burst ends, the interval of every page on the stack is still open. All that is
 * known of it is that its distance would have been at least the depth of the
 * page. To count only intervals that ended would favour short distances. The
 * estimate of Kaplan and Meier (1958) avoids that: of the n(b) intervals that
 * reached group b, a part e(b) / n(b) ended there, so
 *
 *	lambda(b + 1) = lambda(b) * (1 - e(b) / n(b)),  lambda(0) = all,
 *	n(b + 1) = n(b) - e(b) - open(b)
 *
 * Without open intervals that is the sum above. To make up for a pause, the
 * counts of an epoch are scaled to all of its time. First touches are not scaled,
 * because there are no more of them than pages. Nor are open intervals that began in
 * an earlier epoch, or with a first touch: they are in the sums before the touches that
 * end them. When as many touches have come in a pause, the sums take them back. An epoch
 * without a burst is taken to be like the one before it. See mmpath_mrc_make_up().
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/string.h>

#include "model.h"

#define MRC_FIRST_BINS	16
#define MRC_RECENT_SHIFT	8	/* fraction bits of the decayed sum */

static size_t mrc_bins_bytes(u32 nr)
{
	return nr * sizeof(struct mmpath_mrc_bin);
}

/**
 * mmpath_mrc_init() - make an empty curve
 * @m: the curve
 * @mem: allocator
 * @group_pages: resolution, a power of two
 *
 * Return: 0, -EINVAL, or -ENOMEM.
 */
int mmpath_mrc_init(struct mmpath_mrc *m, struct mmpath_mem *mem, u32 group_pages)
{
	memset(m, 0, sizeof(*m));
	if (!is_power_of_2(group_pages))
		return -EINVAL;
	m->mem = mem;
	m->group_pages = group_pages;
	m->init_group_pages = group_pages;
	m->bins = mmpath_mem_alloc(mem, mrc_bins_bytes(MRC_FIRST_BINS));
	if (!m->bins)
		return -ENOMEM;
	m->nr_bins = MRC_FIRST_BINS;
	return 0;
}

/**
 * mmpath_mrc_destroy() - free all memory of a curve
 * @m: the curve
 */
void mmpath_mrc_destroy(struct mmpath_mrc *m)
{
	mmpath_mem_free(m->mem, m->bins, mrc_bins_bytes(m->nr_bins));
	mmpath_mem_free(m->mem, m->open, mrc_bins_bytes(m->nr_bins));
	m->bins = NULL;
	m->open = NULL;
	m->nr_bins = 0;
}

/**
 * mmpath_mrc_reset() - forget all counts, and restore the first resolution
 * @m: the curve
 */
void mmpath_mrc_reset(struct mmpath_mrc *m)
{
	if (m->bins)
		memset(m->bins, 0, mrc_bins_bytes(m->nr_bins));
	if (m->open)
		memset(m->open, 0, mrc_bins_bytes(m->nr_bins));
	memset(&m->cold, 0, sizeof(m->cold));
	memset(&m->records, 0, sizeof(m->records));
	m->begun = 0;
	m->uncounted = 0;
	m->early = 0;
	m->came = 0;
	m->group_pages = m->init_group_pages;
}

static struct mmpath_mrc_bin *mrc_bins_copy(struct mmpath_mrc *m, struct mmpath_mrc_bin *from,
					    u32 nr)
{
	struct mmpath_mrc_bin *bins = mmpath_mem_alloc(m->mem, mrc_bins_bytes(nr));

	if (bins && from)
		memcpy(bins, from, mrc_bins_bytes(m->nr_bins));
	return bins;
}

static bool mrc_grow_bins(struct mmpath_mrc *m)
{
	struct mmpath_mrc_bin *bins, *open = NULL;
	u32 nr = 2 * m->nr_bins;

	if (m->nr_bins >= MMPATH_MRC_BINS)
		return false;
	bins = mrc_bins_copy(m, m->bins, nr);
	if (m->open)
		open = mrc_bins_copy(m, m->open, nr);
	if (!bins || (m->open && !open)) {
		mmpath_mem_free(m->mem, bins, mrc_bins_bytes(nr));
		mmpath_mem_free(m->mem, open, mrc_bins_bytes(nr));
		return false;
	}
	mmpath_mem_free(m->mem, m->bins, mrc_bins_bytes(m->nr_bins));
	mmpath_mem_free(m->mem, m->open, mrc_bins_bytes(m->nr_bins));
	m->bins = bins;
	m->open = open;
	m->nr_bins = nr;
	return true;
}

static void mrc_bin_add(struct mmpath_mrc_bin *to, const struct mmpath_mrc_bin *from)
{
	to->total += from->total;
	to->recent += from->recent;
	to->epoch += from->epoch;
	to->now += from->now;
}

static void mrc_merge_pairs(struct mmpath_mrc_bin *bins, u32 nr)
{
	u32 i;

	for (i = 0; i < nr / 2; i++) {
		bins[i] = bins[2 * i];
		mrc_bin_add(&bins[i], &bins[2 * i + 1]);
	}
	memset(bins + i, 0, mrc_bins_bytes(nr - i));
}

static void mrc_double_group(struct mmpath_mrc *m)
{
	mrc_merge_pairs(m->bins, m->nr_bins);
	if (m->open)
		mrc_merge_pairs(m->open, m->nr_bins);
	m->group_pages *= 2;
}

/* Make room for a distance beyond the last bin, and return its bin. */
static u64 mrc_bin_beyond(struct mmpath_mrc *m, u64 distance)
{
	u64 bin;

	while ((bin = distance >> ilog2(m->group_pages)) >= m->nr_bins) {
		if (mrc_grow_bins(m))
			continue;
		if (m->group_pages > U32_MAX / 2)
			return m->nr_bins - 1;
		mrc_double_group(m);
	}
	return bin;
}

/* Return the bin of a distance. Makes room for it. */
static u64 mrc_bin_of(struct mmpath_mrc *m, u64 distance)
{
	u64 bin = distance >> ilog2(m->group_pages);

	return bin < m->nr_bins ? bin : mrc_bin_beyond(m, distance);
}

/**
 * mmpath_mrc_add() - count a touch
 * @m: the curve
 * @distance: reuse distance of the touch in pages, or MMPATH_COLD
 * @weight: number of touches that it stands for, 2^shift in a sample
 *
 * Thesis 4.2.2, Algorithm 2, lines 8 to 10. Cannot fail: without memory for more
 * bins the groups get bigger. Does nothing for a curve that was destroyed.
 */
void mmpath_mrc_add(struct mmpath_mrc *m, s64 distance, u32 weight)
{
	u64 bin;

	if (!m->nr_bins)
		return;
	m->begun += weight;
	m->records.now += weight;
	if (distance < 0) {
		m->cold.now += weight;
		return;
	}
	bin = mrc_bin_of(m, distance);	/* the array may move */
	m->bins[bin].now += weight;
}

/**
 * mmpath_mrc_make_room() - make room for all distances that are possible
 * @m: the curve
 * @pages: number of pages that were touched so far
 *
 * The groups get bigger if there are not enough bins. So all of the footprint is within the bins,
 * also when most pages were touched only once.
 */
void mmpath_mrc_make_room(struct mmpath_mrc *m, u64 pages)
{
	if (pages && m->nr_bins)
		mrc_bin_of(m, pages - 1);
}

/**
 * mmpath_mrc_censor() - count the intervals that are open when a burst ends
 * @m: the curve
 * @pages: number of pages on the stack, all touched in the burst
 *
 * One interval is open at each depth. It counts for the touch that would have ended it, and
 * belongs to the epoch in which it began. Those that began in this epoch are the topmost, and
 * make_up() scales them. Those below began in an earlier epoch of the burst, which had no pause,
 * and are not scaled. Nor are intervals that began with a first touch, because the set-up of a
 * program is not like what it does in a pause. Their touches are counted early, in the sums but in
 * no epoch.
 * (The stack of MRU has another order below its top, so there this is an estimate.)
 * Without memory nothing is censored.
 */
void mmpath_mrc_censor(struct mmpath_mrc *m, u64 pages)
{
	struct mmpath_mrc_bin *bin;
	u64 begun = m->begun > m->cold.now ? m->begun - m->cold.now : 0;
	u64 page, nr, now;

	if (!pages || !m->nr_bins)
		return;
	mmpath_mrc_make_room(m, pages);
	if (!m->open)
		m->open = mrc_bins_copy(m, NULL, m->nr_bins);
	if (!m->open)
		return;
	m->quiet = 0;
	for (page = 0; page < pages; page += nr) {
		bin = &m->open[page >> ilog2(m->group_pages)];
		nr = min_t(u64, m->group_pages, pages - page);
		now = begun > page ? min(nr, begun - page) : 0;
		m->records.now += now;
		bin->now += now;
		bin->total += nr - now;
		bin->recent += (nr - now) << MRC_RECENT_SHIFT;
		m->early += nr - now;
	}
}

static void mrc_bin_scale(struct mmpath_mrc_bin *bin, u64 num, u64 den)
{
	if (bin->now)
		bin->now = mmpath_mul_div(bin->now, num, den);
}

/* Scale the counts of this epoch by @num / @den, except first touches. */
static void mrc_scale(struct mmpath_mrc *m, u64 num, u64 den)
{
	u32 i;

	m->records.now -= m->cold.now;
	mrc_bin_scale(&m->records, num, den);
	m->records.now += m->cold.now;
	for (i = 0; i < m->nr_bins; i++) {
		mrc_bin_scale(&m->bins[i], num, den);
		if (m->open)
			mrc_bin_scale(&m->open[i], num, den);
	}
}

static void mrc_bin_repeat(struct mmpath_mrc_bin *bin, u64 num, u64 den)
{
	if (bin->epoch)
		bin->now += mmpath_mul_div(bin->epoch, num, den);
}

/* Count @num / @den of the epoch before for this one, without its first touches. */
static void mrc_repeat(struct mmpath_mrc *m, u64 num, u64 den)
{
	u32 i;

	m->records.now += mmpath_mul_div(m->records.epoch - m->cold.epoch, num, den);
	for (i = 0; i < m->nr_bins; i++) {
		mrc_bin_repeat(&m->bins[i], num, den);
		if (m->open)
			mrc_bin_repeat(&m->open[i], num, den);
	}
}

static void mrc_bin_share(struct mmpath_mrc_bin *bin, u64 epoch, u64 now,
			  const struct mmpath_counted *c)
{
	bin->total -= min(bin->total, mmpath_mul_div(epoch, c->moved, c->epoch));
	bin->total += mmpath_mul_div(now, c->moved, c->now - c->cold);
}

/* Correct epochs that were taken to be like the last one seen, but were more like this one. */
static void mrc_share(struct mmpath_mrc *m, const struct mmpath_counted *c)
{
	u32 i;

	mrc_bin_share(&m->records, m->records.epoch - m->cold.epoch,
		      m->records.now - m->cold.now, c);
	for (i = 0; i < m->nr_bins; i++) {
		mrc_bin_share(&m->bins[i], m->bins[i].epoch, m->bins[i].now, c);
		if (m->open)
			mrc_bin_share(&m->open[i], m->open[i].epoch, m->open[i].now, c);
	}
}

/* Intervals that began in this epoch, except those that began with a first touch. */
static u64 mrc_begun(const struct mmpath_counted *c)
{
	return c->begun > c->cold ? c->begun - c->cold : 0;
}

/*
 * How many touches has this epoch had, without first touches? Those are no part of what is
 * scaled: there are as many as new pages, whether or not a burst has seen them.
 */
static u64 mrc_touches(const struct mmpath_seen *seen, const struct mmpath_counted *c)
{
	u64 count = mrc_begun(c), told = mmpath_seen_new(seen);

	if (seen->as == MMPATH_SEEN_ACCESSES)
		count = told - min(told, c->cold);
	else if (seen->as == MMPATH_SEEN_TIME && seen->part)
		count = mmpath_mul_div(count, seen->all, seen->part);
	return min(count, MMPATH_MRC_MOST);
}

/* How many of them are in the sums already? None of which a burst has seen the distance. */
static u64 mrc_came(const struct mmpath_seen *seen, const struct mmpath_counted *c)
{
	u64 touches = mrc_touches(seen, c), begun = mrc_begun(c);
	u64 counted = begun - min(begun, c->uncounted);

	touches -= min(touches, counted);
	return min(touches, c->early);
}

/* Is the factor between @x and @b smaller than that between @x and @a? */
static bool mrc_nearer(u64 x, u64 a, u64 b)
{
	u64 to_a = div64_u64(x << 10, max(a, 1ULL)), to_b = div64_u64(b << 10, max(x, 1ULL));

	return b > a ? to_a > to_b : to_a < to_b;
}

/**
 * mmpath_unseen_close() - note an epoch without counts, or reassign those before it
 * @u: epochs in which only first touches were counted
 * @seen: how much of this epoch was seen
 * @c: counts of this epoch; sets .moved
 *
 * An epoch in which nothing was counted is taken to be like the one before it. Once a burst has
 * counted a later epoch, it is taken to be like that one, if its number of accesses is nearer to
 * that one's. The number is known for each epoch, and differs between phases of a program.
 * Call before mmpath_mrc_make_up().
 */
void mmpath_unseen_close(struct mmpath_unseen *u, const struct mmpath_seen *seen,
			 struct mmpath_counted *c)
{
	u64 all = mrc_touches(seen, c);
	unsigned int i;

	c->moved = 0;
	if (c->now == c->cold && all && c->epoch) {
		if (u->nr == MMPATH_UNSEEN_EPOCHS)
			memmove(u->all, u->all + 1, --u->nr * sizeof(u->all[0]));
		u->all[u->nr++] = all;
	}
	if (c->now == c->cold)
		return;
	for (i = 0; i < u->nr; i++)
		if (mrc_nearer(u->all[i], u->before, all))
			c->moved += u->all[i];
	u->nr = 0;
	u->before = all;
}

/**
 * mmpath_mrc_make_up() - scale the counts of an epoch to all of its accesses
 * @m: the curve
 * @seen: how much of the epoch was seen
 * @c: counts of all curves of the same accesses, including @m
 *
 * An access is not counted if the driver paused, if its page is not in the sample, or if the last
 * touch of the page was before the burst. Such accesses are taken to be like those that were
 * counted; or if none were, like those of the epoch before, see mmpath_unseen_close(). First
 * touches are not scaled: a page has only one, and one in a pause is not made up for. Touches that
 * were counted early, see mmpath_mrc_censor(), are among those of a pause. Scaling also
 * corrects a sample of pages that have more or fewer accesses than the others (as in Waldspurger
 * et al., FAST'15, 3.3, but there the difference goes to the smallest distance). A second call
 * with the same @seen changes nothing.
 * Call before mmpath_mrc_close_epoch(). Scales by at most MMPATH_MRC_MOST_SCALE.
 */
void mmpath_mrc_make_up(struct mmpath_mrc *m, const struct mmpath_seen *seen,
			const struct mmpath_counted *c)
{
	u64 now = c->now - c->cold, num = mrc_touches(seen, c), den = now ?: c->epoch;

	if (c->moved && c->epoch && now)
		mrc_share(m, c);
	m->came = 0;
	if (!num || !den)
		return;
	if (c->early)
		m->came = mmpath_mul_div(m->early, mrc_came(seen, c), c->early);
	if (num == now)
		return;
	/* a burst may have taken no time: the counts must not overflow */
	if (div64_u64(num, den) >= MMPATH_MRC_MOST_SCALE) {
		num = MMPATH_MRC_MOST_SCALE;
		den = 1;
	}
	if (now)
		mrc_scale(m, num, den);
	else
		mrc_repeat(m, num, den);
}

/* What the sums do not have yet of the counts of this epoch */
static u64 mrc_bin_new(const struct mmpath_mrc *m, const struct mmpath_mrc_bin *bin)
{
	u64 all = m->records.now - m->cold.now;

	if (!m->came || !all)
		return bin->now;
	return bin->now - mmpath_mul_div(bin->now, min(m->came, all), all);
}

static void mrc_bin_close(struct mmpath_mrc_bin *bin, u64 new)
{
	bin->total += new;
	bin->recent = bin->recent / 2 + (new << MRC_RECENT_SHIFT);
	bin->epoch = bin->now;
	bin->now = 0;
}

/**
 * mmpath_mrc_close_epoch() - close an epoch of a curve
 * @m: the curve
 */
void mmpath_mrc_close_epoch(struct mmpath_mrc *m)
{
	u32 i;

	m->begun = 0;
	m->uncounted = 0;
	m->early -= min(m->came, m->records.now - m->cold.now);
	if (m->records.now)
		m->quiet = 0;
	/* most programs sleep, and all their counts are 0 */
	if (m->quiet > MMPATH_WINDOW_EPOCHS)
		return;
	m->quiet++;
	for (i = 0; i < m->nr_bins; i++) {
		mrc_bin_close(&m->bins[i], mrc_bin_new(m, &m->bins[i]));
		if (m->open)
			mrc_bin_close(&m->open[i], mrc_bin_new(m, &m->open[i]));
	}
	mrc_bin_close(&m->cold, m->cold.now);
	mrc_bin_close(&m->records, m->records.now);
}

static u64 mrc_read(const struct mmpath_mrc_bin *bin, enum mmpath_mrc_window w, u64 new)
{
	switch (w) {
	case MMPATH_MRC_TOTAL:
		return bin->total + new;
	case MMPATH_MRC_RECENT:
		return bin->recent >> MRC_RECENT_SHIFT;
	default:
		return bin->epoch;
	}
}

static u64 mrc_bin_read(const struct mmpath_mrc *m, const struct mmpath_mrc_bin *bin,
			enum mmpath_mrc_window w)
{
	return mrc_read(bin, w, mrc_bin_new(m, bin));
}

/* The estimate of Kaplan and Meier, see above. */
static u64 mrc_misses_censored(const struct mmpath_mrc *m, enum mmpath_mrc_window w, u64 pages)
{
	u64 first = pages >> ilog2(m->group_pages), left = 0, misses, ended;
	u32 i;

	for (i = 0; i < m->nr_bins; i++)
		left += mrc_bin_read(m, &m->bins[i], w) + mrc_bin_read(m, &m->open[i], w);
	misses = left;
	for (i = 0; i <= first && i < m->nr_bins && left; i++) {
		ended = mrc_bin_read(m, &m->bins[i], w);
		if (i == first)
			ended = mul_u64_u32_div(ended, pages & (m->group_pages - 1),
						m->group_pages);
		misses = mmpath_mul_div(misses, left - ended, left);
		left -= ended + mrc_bin_read(m, &m->open[i], w);
	}
	return left ? misses : 0;
}

/**
 * mmpath_mrc_misses() - return lambda of an amount of memory
 * @m: the curve
 * @w: window of time
 * @pages: amount of memory
 *
 * Return: misses, without first touches.
 */
u64 mmpath_mrc_misses(const struct mmpath_mrc *m, enum mmpath_mrc_window w, u64 pages)
{
	u64 first = pages >> ilog2(m->group_pages), sum = 0;
	u32 inside = pages & (m->group_pages - 1), i;

	if (first >= m->nr_bins)
		return 0;
	if (m->open)
		return mrc_misses_censored(m, w, pages);
	for (i = first + 1; i < m->nr_bins; i++)
		sum += mrc_bin_read(m, &m->bins[i], w);
	return sum + mul_u64_u32_div(mrc_bin_read(m, &m->bins[first], w),
				     m->group_pages - inside, m->group_pages);
}

/**
 * mmpath_mrc_walk() - begin a walk along a curve, at no memory
 * @walk: the walk
 * @m: the curve
 * @w: window of time
 */
void mmpath_mrc_walk(struct mmpath_mrc_walk *walk, const struct mmpath_mrc *m,
		     enum mmpath_mrc_window w)
{
	u32 i;

	walk->m = m;
	walk->w = w;
	walk->i = 0;
	walk->left = 0;
	for (i = 0; i < m->nr_bins; i++) {
		walk->left += mrc_bin_read(m, &m->bins[i], w);
		if (m->open)
			walk->left += mrc_bin_read(m, &m->open[i], w);
	}
	walk->misses = walk->left;
}

/**
 * mmpath_mrc_step() - return a point of the curve, and advance by group_pages
 * @walk: the walk; the curve must not have changed since it began
 *
 * Takes constant time, where mmpath_mrc_misses() adds up all bins.
 * Return: misses, without first touches.
 */
u64 mmpath_mrc_step(struct mmpath_mrc_walk *walk)
{
	u64 ended, open, misses = walk->misses;

	if (walk->i >= walk->m->nr_bins)
		return 0;
	ended = mrc_bin_read(walk->m, &walk->m->bins[walk->i], walk->w);
	if (!walk->m->open) {
		walk->misses -= ended;
	} else if (walk->left) {
		open = mrc_bin_read(walk->m, &walk->m->open[walk->i], walk->w);
		if (walk->left == open)
			misses = 0;
		walk->misses = mmpath_mul_div(walk->misses, walk->left - ended, walk->left);
		walk->left -= ended + open;
	} else {
		misses = 0;
	}
	walk->i++;
	return misses;
}

/* lambda @inside pages behind the beginning of the bin that the walk has come to */
static u64 mrc_walk_inside(const struct mmpath_mrc_walk *walk, u32 inside)
{
	const struct mmpath_mrc *m = walk->m;
	u64 all = mrc_bin_read(m, &m->bins[walk->i], walk->w), ended;

	if (!m->open)
		return walk->misses - all +
		       mul_u64_u32_div(all, m->group_pages - inside, m->group_pages);
	ended = mul_u64_u32_div(all, inside, m->group_pages);
	if (walk->left == ended + mrc_bin_read(m, &m->open[walk->i], walk->w))
		return 0;
	return mmpath_mul_div(walk->misses, walk->left - ended, walk->left);
}

/**
 * mmpath_mrc_walk_to() - return lambda of an amount of memory
 * @walk: the walk; as for mmpath_mrc_step()
 * @pages: amount of memory, not less than that of the call before
 *
 * A whole walk takes as long as one call of mmpath_mrc_misses(), which gives the same.
 * Return: misses, without first touches.
 */
u64 mmpath_mrc_walk_to(struct mmpath_mrc_walk *walk, u64 pages)
{
	const struct mmpath_mrc *m = walk->m;
	u64 first = pages >> ilog2(m->group_pages);

	if (first >= m->nr_bins)
		return 0;
	while (walk->i < first)
		mmpath_mrc_step(walk);
	return mrc_walk_inside(walk, pages & (m->group_pages - 1));
}

/* Return the point after @group. The distance is one group at first, then @group / 2^@fine. */
static u64 mrc_next_point(u64 group, unsigned int fine)
{
	return group + max(group >> fine, 1ULL);
}

/* Return the greatest fineness for which MMPATH_MRC_POINTS are enough for 0 to @groups. */
static unsigned int mrc_fineness(u64 groups)
{
	unsigned int fine = ilog2(MMPATH_MRC_POINTS), nr;
	u64 group;

	for (;; fine--) {
		nr = 1;
		for (group = 0; group < groups && nr <= MMPATH_MRC_POINTS; nr++)
			group = mrc_next_point(group, fine);
		if (nr <= MMPATH_MRC_POINTS)
			return fine;
	}
}

static u64 mrc_walk_to(struct mmpath_mrc_walk *walk, u64 group)
{
	while (walk->i < min_t(u64, group, walk->m->nr_bins))
		mmpath_mrc_step(walk);
	return mmpath_mrc_step(walk);
}

static void mrc_take_point(struct mmpath_mrc_walk *walk, u64 group,
			   struct mmpath_mrc_point *point)
{
	unsigned int w;

	point->pages = group * walk->m->group_pages;
	for (w = 0; w < NR_MMPATH_MRC_WINDOWS; w++)
		point->misses[w] = mrc_walk_to(&walk[w], group);
}

/**
 * mmpath_mrc_points() - fill in a bounded number of points of a curve
 * @m: the curve
 * @end: memory of the last point, a multiple of group_pages
 * @points: room for MMPATH_MRC_POINTS points
 *
 * All are at multiples of group_pages, where the curve is exact. The first is at 0. They are
 * one group apart at first. When there are too many groups, the distance grows with the size
 * from some size on.
 * Return: number of points.
 */
u32 mmpath_mrc_points(const struct mmpath_mrc *m, u64 end, struct mmpath_mrc_point *points)
{
	u64 group, groups = end >> ilog2(m->group_pages);
	struct mmpath_mrc_walk walk[NR_MMPATH_MRC_WINDOWS];
	unsigned int w, fine = mrc_fineness(groups);
	u32 nr = 0;

	for (w = 0; w < NR_MMPATH_MRC_WINDOWS; w++)
		mmpath_mrc_walk(&walk[w], m, w);
	for (group = 0; group < groups; group = mrc_next_point(group, fine))
		mrc_take_point(walk, group, &points[nr++]);
	mrc_take_point(walk, groups, &points[nr++]);
	return nr;
}

static bool mrc_bin_counts(const struct mmpath_mrc *m, u32 i)
{
	return mrc_bin_read(m, &m->bins[i], MMPATH_MRC_TOTAL) ||
	       (m->open && mrc_bin_read(m, &m->open[i], MMPATH_MRC_TOTAL));
}

/**
 * mmpath_mrc_end() - return the memory at which a curve reaches 0
 * @m: the curve
 *
 * Return: memory in pages with which only first touches have missed so far; a
 * multiple of group_pages.
 */
u64 mmpath_mrc_end(const struct mmpath_mrc *m)
{
	u32 i = m->nr_bins;

	/* an open interval may yet end in a miss */
	while (i && !mrc_bin_counts(m, i - 1))
		i--;
	return (u64)i * m->group_pages;
}

/**
 * mmpath_mrc_cold() - return the number of first touches
 * @m: the curve
 * @w: window of time
 */
u64 mmpath_mrc_cold(const struct mmpath_mrc *m, enum mmpath_mrc_window w)
{
	return mrc_read(&m->cold, w, m->cold.now);
}

/**
 * mmpath_mrc_records() - return the number of all touches, including first ones
 * @m: the curve
 * @w: window of time
 */
u64 mmpath_mrc_records(const struct mmpath_mrc *m, enum mmpath_mrc_window w)
{
	return mrc_read(&m->records, w, m->records.now);
}
