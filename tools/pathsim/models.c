// SPDX-License-Identifier: GPL-2.0
/*
 * Policies that are models of the kernel, from its own files.
 *
 * With a page access buffer (sim_options.pab) they see no touch that hits in it, and
 * the pages in it leave memory for no policy's sake. The kernel, which auto leaves alone
 * where nothing is better, sees all touches.
 */
#include <assert.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <stdlib.h>
#include <string.h>

#include "policy.h"
#include "tests/touch.h"

struct sim_options sim_options = {
	.kernel = &twolist_policy, .sample = 3072, .epoch = 1000,
};

#define TOUCH_US	1
#define MISS_US		1000

/* The page access buffer, the policy, and for auto the kernel, and who tells which */
struct models {
	struct mmpath_mem mem;
	struct mmpath_lirs pab, lirs;
	struct mmpath_contest contest;
	void *kernel;
	size_t us;			/* since the epoch began */
};

static void *mem_alloc(struct mmpath_mem *mem, size_t bytes)
{
	(void)mem;
	return sim_alloc(1, bytes);
}

static void mem_free(struct mmpath_mem *mem, void *p, size_t bytes)
{
	(void)mem;
	(void)bytes;
	free(p);
}

/* Entries of the buffer: one that holds all pages is as good as any larger one. */
static uint32_t pab_of(const struct trace *t)
{
	return sim_options.pab < t->pages ? sim_options.pab : t->pages;
}

static uint32_t hirs_of(uint32_t size, uint32_t pab)
{
	uint32_t hirs = size / 100 ? size / 100 : 1;

	return hirs > pab ? hirs : pab;
}

static struct models *models_create(uint32_t size, bool fixed, const struct trace *t)
{
	struct models *m = sim_alloc(1, sizeof(*m));
	uint32_t pab = pab_of(t);

	m->mem.alloc = mem_alloc;
	m->mem.free = mem_free;
	mmpath_lirs_init(&m->pab, &m->mem, UINT32_MAX, 0);
	mmpath_lirs_init(&m->lirs, &m->mem, UINT32_MAX, 0);
	mmpath_contest_init(&m->contest, &m->mem, sim_options.sample, 0);
	mmpath_lirs_set_size(&m->pab, pab, pab, false);
	mmpath_lirs_set_size(&m->lirs, size, hirs_of(size, pab), fixed);
	mmpath_contest_set_size(&m->contest, size, pab);
	return m;
}

static void *lirs_create(uint32_t size, const struct trace *t)
{
	return models_create(size, false, t);
}

static void *fixed_create(uint32_t size, const struct trace *t)
{
	return models_create(size, true, t);
}

static void *auto_create(uint32_t size, const struct trace *t)
{
	struct models *m = models_create(size, false, t);

	m->kernel = sim_options.kernel->create(size, t);
	return m;
}

static void models_destroy(void *sim)
{
	struct models *m = sim;

	mmpath_lirs_destroy(&m->pab);
	if (m->kernel)
		sim_options.kernel->destroy(m->kernel);
	mmpath_lirs_destroy(&m->lirs);
	mmpath_contest_destroy(&m->contest);
	free(m);
}

/* Does the touch hit in the page access buffer? The page is in it afterwards. */
static bool pab_touch(struct models *m, uint32_t page)
{
	u64 victim;

	if (!m->pab.size)
		return false;
	if (!mmpath_lirs_resident(&m->pab, page) && m->pab.nr_hirs == m->pab.size)
		mmpath_lirs_victim(&m->pab, &victim);
	return mmpath_lirs_touch(&m->pab, page) == MMPATH_LIRS_HIT;
}

/* Victims are taken until one is not in the buffer; the others stay. */
static u64 lirs_victim(struct models *m)
{
	u64 *kept = sim_alloc(m->pab.size + 1, sizeof(*kept)), victim = 0;
	size_t i, nr = 0;

	while (mmpath_lirs_victim(&m->lirs, &victim) && nr < m->pab.size &&
	       mmpath_lirs_resident(&m->pab, victim))
		kept[nr++] = victim;
	for (i = 0; i < nr; i++)
		if (kept[i] != victim)
			mmpath_lirs_keep(&m->lirs, kept[i]);
	free(kept);
	return victim;
}

/* What the kernel takes away leaves the buffer too: its next touch is seen. */
static void models_evict(struct models *m)
{
	u64 victim;

	if (m->kernel && mmpath_contest_winner(&m->contest) == MMPATH_POLICY_KERNEL) {
		victim = sim_options.kernel->reclaim(m->kernel);
		mmpath_lirs_evicted(&m->lirs, victim);
		mmpath_lirs_evicted(&m->pab, victim);
		return;
	}
	victim = lirs_victim(m);
	if (m->kernel)
		sim_options.kernel->evict(m->kernel, victim);
}

static void contest_epoch(struct models *m)
{
	mmpath_contest_close_epoch(&m->contest);
	m->us = 0;
}

static bool models_access(void *sim, uint32_t page, size_t i)
{
	struct mmpath_lirs *l = &((struct models *)sim)->lirs;
	struct models *m = sim;
	bool seen = !pab_touch(m, page), hit;

	if (m->kernel && seen)
		mmpath_contest_touch(&m->contest, page);
	hit = mmpath_lirs_resident(l, page);
	if (!hit && l->nr_lirs + l->nr_hirs == l->size)
		models_evict(m);
	if (m->kernel)
		sim_options.kernel->access(m->kernel, page, i);
	if (seen)
		mmpath_lirs_touch(l, page);
	m->us += hit ? TOUCH_US : MISS_US;
	if (m->kernel && m->us >= 1000 * sim_options.epoch)
		contest_epoch(m);
	return hit;
}

/*
 * Regions: what lies together in the address space, as far as the trace says. Their
 * stacks and curves go by address, pools by the trace's numbers.
 */
struct by_region {
	struct models *m;		/* for its memory and its buffer */
	const struct trace *t;
	struct mmpath_regions rs;
	struct mmpath_pools pools;
	bool *in_memory;
	uint32_t nr, size;		/* of pages in memory */
	size_t us;
};

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void regions_find_all(struct mmpath_regions *rs, const struct trace *t)
{
	uint64_t *name = sim_alloc(t->pages, sizeof(*name));
	uint32_t i, first = 0;

	memcpy(name, t->name, t->pages * sizeof(*name));
	qsort(name, t->pages, sizeof(*name), by_value);
	for (i = 1; i <= t->pages; i++) {
		if (i < t->pages && name[i] - name[i - 1] < SIM_REGION_GAP)
			continue;
		mmpath_regions_map(rs, name[first], name[i - 1] + 1 - name[first],
				   MMPATH_REGION_MMAP);
		first = i;
	}
	free(name);
}

static void *region_create(uint32_t size, const struct trace *t)
{
	const struct mmpath_region_params params = {
		.min_pages = SIM_REGION_GAP, .group_pages = 1, .mru_pages = UINT32_MAX,
	};
	struct by_region *r = sim_alloc(1, sizeof(*r));

	r->m = models_create(size, false, t);
	r->t = t;
	r->size = size;
	r->in_memory = sim_alloc(t->pages, sizeof(*r->in_memory));
	mmpath_regions_init(&r->rs, &r->m->mem, &params);
	mmpath_pools_init(&r->pools, &r->m->mem, UINT32_MAX, 0);
	mmpath_pools_set_size(&r->pools, size, hirs_of(size, pab_of(t)));
	regions_find_all(&r->rs, t);
	return r;
}

static void region_destroy(void *sim)
{
	struct by_region *r = sim;

	mmpath_pools_destroy(&r->pools);
	mmpath_regions_destroy(&r->rs);
	models_destroy(r->m);
	free(r->in_memory);
	free(r);
}

/* Victims that are in the buffer stay, as in lirs_victim(), unless all pages are in it. */
static void region_evict(struct by_region *r)
{
	u64 victim = 0, key = 0, most = r->m->pab.size < r->size ? r->m->pab.size : r->size - 1;
	struct { u64 page, key; } *kept = sim_alloc(most + 1, sizeof(*kept));
	size_t nr = 0;

	for (;;) {
		bool found = mmpath_pools_victim(&r->pools, &victim, &key);

		assert(found);
		if (nr == most || !mmpath_lirs_resident(&r->m->pab, victim))
			break;
		kept[nr].page = victim;
		kept[nr++].key = key;
	}
	while (nr--)
		mmpath_pools_keep(&r->pools, kept[nr].key, kept[nr].page);
	free(kept);
	r->in_memory[victim] = false;
	r->nr--;
	assert(mmpath_pools_known(&r->pools) == r->nr);
}

static void region_epoch(struct by_region *r)
{
	struct mmpath_region *region;
	struct mmpath_models *m;
	uint32_t i;

	mmpath_regions_close_epoch(&r->rs);
	mmpath_for_each_region(&r->rs, i, region) {
		m = region->models;
		if (m)
			mmpath_pools_close_region(&r->pools, 1 + region->id, &m->lru_mrc,
						  &m->mru_mrc);
	}
	mmpath_pools_close_epoch(&r->pools);
	r->us = 0;
}

static bool region_access(void *sim, uint32_t page, size_t i)
{
	struct by_region *r = sim;
	bool hit = r->in_memory[page], hot = pab_touch(r->m, page);

	(void)i;
	if (!hit && r->nr == r->size)
		region_evict(r);
	r->nr += !hit;
	r->in_memory[page] = true;
	/* memory may be smaller than the buffer here */
	if (!hot || !hit)
		mmpath_pools_touch(&r->pools,
				   1 + mmpath_regions_touch(&r->rs, r->t->name[page])->id, page);
	r->us += hit ? TOUCH_US : MISS_US;
	if (r->us >= 1000 * sim_options.epoch)
		region_epoch(r);
	return hit;
}

const struct policy region_policy = {
	.name = "region", .about = "LRU or MRU in each region, by its curves",
	.create = region_create, .access = region_access, .destroy = region_destroy,
};

const struct policy lirs_policy = {
	.name = "lirs", .about = "low inter-reference recency set, 1 % HIR",
	.create = lirs_create, .access = models_access, .destroy = models_destroy,
};

const struct policy fixed_policy = {
	.name = "fixed", .about = "what came first stays, but for 1 %",
	.create = fixed_create, .access = models_access, .destroy = models_destroy,
};

const struct policy auto_policy = {
	.name = "auto", .about = "the kernel or lirs: what small simulations promise",
	.create = auto_create, .access = models_access, .destroy = models_destroy,
};
