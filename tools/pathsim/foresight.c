// SPDX-License-Identifier: GPL-2.0
/* Prefetchers that are models of the kernel, from its own files. */
#include <linux/kernel.h>
#include <stdlib.h>

#include "foresee.h"
#include "prefetch.h"

/* As in the kernel: what is foreseen is each program's own, the pool is that of them all. */
struct foresight {
	struct machine *m;
	const struct layout *l;
	struct mmpath_mem mem;
	struct mmpath_foresee *program;
	size_t unsettled;
};

/* An event, and where it is */
struct here {
	const struct foresight *f;
	const struct mapping *mapping;
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

static void *foresight_create(struct machine *m, enum mmpath_foresee_mode mode)
{
	struct foresight *f = sim_alloc(1, sizeof(*f));
	uint64_t nodes;
	uint32_t i;

	f->m = m;
	f->l = machine_layout(m);
	f->mem.alloc = mem_alloc;
	f->mem.free = mem_free;
	f->program = sim_alloc(f->l->programs, sizeof(*f->program));
	nodes = 2 * (uint64_t)f->l->t->pages;
	for (i = 0; i < f->l->programs; i++)
		mmpath_foresee_init(&f->program[i], &f->mem, mode,
				    nodes < MMPATH_PPG_NODES ? nodes : MMPATH_PPG_NODES);
	return f;
}

static void *space_create(struct machine *m)
{
	return foresight_create(m, MMPATH_PREFETCH_SPACE);
}

static void *ppg_create(struct machine *m)
{
	return foresight_create(m, MMPATH_PREFETCH_PPG);
}

static void *auto_create(struct machine *m)
{
	return foresight_create(m, MMPATH_PREFETCH_AUTO);
}

static void foresight_destroy(void *p)
{
	struct foresight *f = p;
	uint32_t i;

	for (i = 0; i < f->l->programs; i++)
		mmpath_foresee_destroy(&f->program[i]);
	free(f->program);
	free(f);
}

static bool here_swapped(void *arg, u64 address)
{
	const struct here *here = arg;
	uint32_t page = layout_page(here->f->l, here->mapping, address);

	return page != NO_PAGE && machine_in_swap(here->f->m, page);
}

static void foresight_event(void *p, uint32_t page, bool miss)
{
	struct foresight *f = p;
	const struct mapping *mapping = &f->l->mapping[f->l->map[page]];
	struct mmpath_foresee *model = &f->program[mapping->program];
	struct here here = { f, mapping };
	struct mmpath_foresee_event e = {
		.page = layout_address(f->l, page), .first = mapping->first, .nr = mapping->nr,
		.miss = miss, .in_swap = machine_nr_in_swap(f->m, mapping->program),
		.swapped = here_swapped, .arg = &here,
	};
	size_t pool = (uint64_t)machine_used(f->m) * model->pool_percent / 100;
	u64 fetch[MMPATH_FORESEE_MOST];
	unsigned int i, nr;

	e.room = pool > f->unsettled ? pool - f->unsettled : 0;
	f->unsettled -= model->nr_unsettled;
	nr = mmpath_foresee(model, &e, fetch);
	f->unsettled += model->nr_unsettled;
	for (i = 0; i < nr; i++)
		machine_fetch(f->m, layout_page(f->l, mapping, fetch[i]));
}

/*
 * The stack of all touches, which thesis 4.5 has in place of the stack of misses: pages that are
 * touched in memory go to its top, too, if they were missed before. The graph still learns at misses
 * and first uses only. The kernel does without, see design.rst.
 */
static void foresight_raise(struct mmpath_foresee *model, u32 stack, u32 place)
{
	struct mmpath_ppg_link *end, *link;

	link = mmpath_ppg_link(&model->graph, place);
	if (link->newer) {
		mmpath_ppg_link(&model->graph, link->newer)->older = link->older;
		mmpath_ppg_link(&model->graph, link->older)->newer = link->newer;
	}
	end = mmpath_ppg_link(&model->graph, stack);
	*link = (struct mmpath_ppg_link){ .newer = stack, .older = end->older };
	mmpath_ppg_link(&model->graph, end->older)->newer = place;
	end->older = place;
}

static void foresight_record(struct foresight *f, uint32_t page)
{
	const struct mapping *mapping = &f->l->mapping[f->l->map[page]];
	struct mmpath_foresee *model = &f->program[mapping->program];
	struct mmpath_foresee_region *r = NULL;
	u32 i, place;

	for (i = 0; i < model->nr_regions; i++) {
		r = mmpath_foresee_region(model, i);
		if (r->first == mapping->first)
			break;
	}
	if (i == model->nr_regions || !r->stack || r->asleep)
		return;
	place = mmpath_ppg_find(&model->graph, layout_address(f->l, page));
	if (place)
		foresight_raise(model, r->stack, place);
}

static void foresight_touch(void *p, size_t i)
{
	struct foresight *f = p;
	uint32_t page = f->l->t->page[i];

	if (prefetch_options.records && machine_logs(f->m, page))
		foresight_record(f, page);
}

const struct prefetcher space_prefetcher = {
	.name = "space", .about = "the kernel's: direction or stride in each mapping",
	.unused_first = true,
	.create = space_create, .event = foresight_event, .destroy = foresight_destroy,
};

const struct prefetcher ppg_prefetcher = {
	.name = "ppg", .about = "the kernel's: what was missed soon after the page",
	.unused_first = true,
	.create = ppg_create, .event = foresight_event, .touch = foresight_touch,
	.destroy = foresight_destroy,
};

const struct prefetcher auto_prefetcher = {
	.name = "auto", .about = "the kernel's: the better of these two, or none",
	.unused_first = true,
	.create = auto_create, .event = foresight_event, .touch = foresight_touch,
	.destroy = foresight_destroy,
};
