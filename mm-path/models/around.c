// SPDX-License-Identifier: GPL-2.0
/*
 * Read-around: are the pages of a mapped file best read with their neighbours?
 *
 *	around:	the kernel reads 32 pages around each miss, and is measured
 *	   |  ^		a trial after 64 misses, then after 256, 1024, 4096, 16384
 *	   v  |		it has taken longer, by 16 misses of the kernel's; or less, and
 *	   |  |		neighbours are used soon; or the program reads upwards
 *	alone:	the page is read, and what foresee.c names
 *
 * The kernel's way costs least where neighbours are used: one fault for 16 pages, and where a
 * program reads upwards, readahead goes on by itself. But it hides which pages are used, so
 * nothing can be learnt from its misses: a program that reads downwards misses each 17th page,
 * and seems to have this stride. So a mapping is in the hands of either.
 *
 * Both ways are measured: by what faults take for the work that is done, which is the program's
 * own CPU time between them. While pages are read alone, that is compared with what the kernel has
 * taken for as much work. The sum of the differences stays above a bound, so that a change is seen
 * soon. Misses come by chance: n of them are known to one in the root of n. So a gain that is less
 * than that is none, and ends as a loss. Then the kernel is measured for longer, and what is
 * known of it is more exact.
 *
 * First, and after a trial, memory is full of other pages: the kernel is not measured before it
 * could have read all of it anew. Programs change. So while reading alone gains, the kernel is
 * measured again: first soon, then ever more rarely, most of all if it takes what it took before.
 * Then memory is full of the kernel's pages, and reading alone has to read its own again before it
 * gains: until then it may lose half of what it has gained before.
 *
 * Some ends are seen sooner. While pages are read alone, all events are seen, misses and first uses
 * of pages that were fetched. A test waits for eight events after one: is there a neighbour among
 * them, a page that would have been read around it? Where they are, foresight hides less than half,
 * and nothing is gained, a trial ends after 64 events, and after 32 if it is clear that foresight
 * knows nothing. Upwards the kernel reads on, even if foresight hides all: it takes fewer faults.
 *
 * A mapping begins with the kernel. Most are small, and all of them is used. Misses that cost no
 * other page its place are not told here, see prefetch-file.c.
 */
#include <linux/kernel.h>
#include <linux/minmax.h>

#include "around.h"

#define AROUND_PAUSE_SHIFT	6U
#define AROUND_PAUSE	(1U << AROUND_PAUSE_SHIFT)	/* misses; the first pause */
#define AROUND_PAUSES	4U	/* the longest pause is 4^4 times as long */
#define AROUND_WAIT	8U	/* events, for a neighbour */
#define AROUND_WINDOW	64U	/* events to decide by */
#define AROUND_UPWARDS	56U	/* of these, in a program that reads upwards */
#define AROUND_FEW	4U	/* hits after half of these, if foresight knows nothing */
#define AROUND_BOUND	16U	/* misses of the kernel's */
#define AROUND_WORK	8U	/* times as much as in the mean; more tells of something else */
#define AROUND_TAKES	8U	/* misses; what takes longer than these is chance */
#define AROUND_AGAIN	4U	/* times as many misses later the kernel is measured again */
#define AROUND_SURE	3U	/* at most 4^3 times as many */
#define AROUND_SKIP	4096ULL	/* misses */
#define AROUND_SCALE	(1U << 16)	/* of prices */

/* The kernel reads, and is measured as soon as it could have read all of memory anew. */
static void around_skip(struct mmpath_around_region *r, const struct mmpath_around_event *e)
{
	r->alone = false;
	r->skipped = min(1 + e->size / MMPATH_AROUND_PAGES, AROUND_SKIP);
	r->skip = r->skipped;
}

static struct mmpath_around_region *around_region(struct mmpath_around *a, u64 first)
{
	return &a->region[mmpath_rank(first) >> (MMPATH_VPN_BITS - MMPATH_AROUND_ORDER)];
}

static void around_window(struct mmpath_around_region *r)
{
	r->events = 0;
	r->hits = 0;
	r->upwards = 0;
	r->tried = 0;
	r->right = 0;
	r->left = 0;
}

static void around_test(struct mmpath_around_region *r, u64 page)
{
	if (r->left && page != r->tested) {
		r->left--;
		if (page - (r->tested - MMPATH_AROUND_PAGES / 2) < MMPATH_AROUND_PAGES) {
			r->right++;
			r->left = 0;
		}
	}
	if (r->left)
		return;
	r->tested = page;
	r->left = AROUND_WAIT;
	r->tried++;
}

/* Is the trial in vain, as far as neighbours tell? Half of the window is enough to tell of some. */
static bool around_decide(struct mmpath_around_region *r)
{
	bool near = 2 * r->right >= r->tried, hidden = 2 * r->hits >= r->events;
	bool whole = r->events == AROUND_WINDOW, vain;

	if (!whole && r->hits >= AROUND_FEW)
		return false;
	vain = r->upwards >= AROUND_UPWARDS || (near && !hidden && r->regret > r->stake);
	if (whole || vain)
		around_window(r);
	return vain;
}

/* Note an event by its page. Returns whether neighbours are missed. */
static bool around_near(struct mmpath_around_region *r, const struct mmpath_around_event *e)
{
	around_test(r, e->page);
	r->events++;
	r->hits += !e->miss;
	r->upwards += r->last && e->page - r->last - 1 < 2;
	r->last = e->page;
	return (r->events == AROUND_WINDOW / 2 || r->events == AROUND_WINDOW) && around_decide(r);
}

/*
 * Work before an event of the kernel's that counts, ns. A time without misses is nothing that ways
 * to read can be compared by: a program may do something else.
 */
static u64 around_work(struct mmpath_around_region *r, u64 work)
{
	if (r->between)
		work = min(work, r->between * AROUND_WORK);
	r->between = r->between ? r->between - r->between / 8 + work / 8 : work;
	return work;
}

/* What the fault of an event may take, ns. What takes longer is chance. */
static u64 around_takes(const struct mmpath_around_region *r)
{
	u64 miss = r->bound / AROUND_BOUND;

	if (!r->alone && !r->skip && r->misses > 1)
		miss = (r->cost - r->took) / (r->misses - 1);
	else if (!r->alone && (!r->skip || !r->pause))
		return U64_MAX;
	return miss < U64_MAX / AROUND_TAKES ? miss * AROUND_TAKES : U64_MAX;
}

/* What faults take for some work when the kernel reads, ns; for long work see around_work() */
static u64 around_price(const struct mmpath_around_region *r, u64 work)
{
	u64 price = mmpath_mul_div(work, r->cost, max(r->work, 1ULL));

	return min(price, (u64)r->bound / AROUND_BOUND * AROUND_WORK);
}

/* Misses that come by chance are so many more or fewer: one in the root of all that have told. */
static u64 around_doubt(const struct mmpath_around_region *r, u64 price)
{
	return price >> (AROUND_PAUSE_SHIFT / 2 + r->pauses);
}

static void around_measure(struct mmpath_around_region *r)
{
	if (r->pause && !(r->gained && r->lost < -r->bound))
		r->pauses = min(r->pauses + 1U, AROUND_PAUSES);
	else if (r->pauses)
		r->pauses--;
	r->pause = AROUND_PAUSE << 2 * r->pauses;
	r->misses = 0;
	r->work = 0;
	r->cost = 0;
}

/* Does the kernel take what it took before? Each is known to one in the root of its misses. */
static bool around_same(struct mmpath_around_region *r)
{
	u64 was = r->price, doubt = AROUND_PAUSE_SHIFT / 2 - 1;

	r->price = mmpath_mul_div(AROUND_SCALE, r->cost, max(r->work, 1ULL));
	return was - r->price + (was >> doubt) <= was >> doubt << 1;
}

static void around_trial(struct mmpath_around_region *r)
{
	if (around_same(r) && r->sure)
		r->sure = min(r->sure + 1U, AROUND_SURE);
	r->alone = true;
	/* without the last one */
	r->bound = r->cost / (r->pause - 1) * AROUND_BOUND;
	r->stake = r->sure && r->gained && r->lost < 0 ? -r->lost / 2 : 0;
	r->regret = 0;
	r->lost = 0;
	r->misses = 0;
	r->last = 0;
	around_window(r);
}

static void around_kernel(struct mmpath_around_region *r, const struct mmpath_around_event *e,
			  u64 work)
{
	work = around_work(r, work);
	if (r->skip) {
		r->lost -= around_price(r, work);
		r->skip -= e->miss;
		if (!r->skip)
			around_measure(r);
		return;
	}
	/* from the first miss on */
	r->work += r->misses ? work : 0;
	r->misses += e->miss;
	if (r->misses == r->pause)
		around_trial(r);
}

static void around_alone(struct mmpath_around_region *r, const struct mmpath_around_event *e,
			 u64 work)
{
	u64 again = (u64)(r->pause + r->skipped) * (AROUND_AGAIN << 2 * r->sure);
	u64 price = around_price(r, work);
	bool vain = around_near(r, e);

	price -= around_doubt(r, price);
	r->lost -= price;
	r->regret -= min(price, (u64)(r->regret + r->bound));
	if (r->regret == -r->bound)
		r->stake = 0;
	r->misses += e->miss;
	if (r->misses >= again)
		r->sure = min(r->sure + 1U, AROUND_SURE);
	else if (!vain && r->regret <= r->bound + r->stake)
		return;
	else if (r->regret > 0)
		r->sure = 0;
	r->gained = r->lost < -r->bound;
	around_skip(r, e);
}

/**
 * mmpath_around() - note a miss, or the first use of a page that was read ahead
 * @a: what is known of the program's mappings of files
 * @e: the event
 *
 * Return: whether the mapping is the kernel's, which reads around a miss.
 */
bool mmpath_around(struct mmpath_around *a, const struct mmpath_around_event *e)
{
	struct mmpath_around_region *r = around_region(a, e->first);
	u64 work;

	if (r->first != e->first) {
		*r = (struct mmpath_around_region){ .first = e->first, .worked = e->worked };
		around_skip(r, e);
	}
	r->took = 0;
	work = e->worked - r->worked;
	r->worked = e->worked;
	if (r->alone)
		around_alone(r, e, work);
	else
		around_kernel(r, e, work);
	return !r->alone;
}

/**
 * mmpath_around_took() - note what the fault of an event took
 * @a: as above
 * @first: first page of the mapping
 * @ns: the time, of which others than the task may have had some, ns; may be told in parts
 */
void mmpath_around_took(struct mmpath_around *a, u64 first, u64 ns)
{
	struct mmpath_around_region *r = around_region(a, first);
	u64 most;

	if (r->first != first)
		return;
	most = around_takes(r);
	ns = min(ns, most > r->took ? most - r->took : 0);
	r->took += ns;
	if (r->alone)
		r->regret += ns;
	if (r->alone || r->skip)
		r->lost += ns;
	else if (r->misses)
		r->cost += ns;
}
