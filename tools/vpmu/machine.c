// SPDX-License-Identifier: GPL-2.0
/* CPUs, and what they do. See machine.h. */
#include <stdlib.h>
#include <string.h>

#include "coherence.h"

static bool cache_init(struct vpmu_cache *cache, uint64_t entries, uint32_t ways)
{
	cache->sets = entries / ways;
	cache->ways = ways;
	if (!(cache->sets & (cache->sets - 1)))
		cache->mask = cache->sets - 1;
	cache->lines = calloc((size_t)cache->sets * ways, sizeof(*cache->lines));
	return cache->lines;
}

static void cache_reset(struct vpmu_cache *cache)
{
	memset(cache->lines, 0, (size_t)cache->sets * cache->ways * sizeof(*cache->lines));
	cache->now = 0;
}

static bool level_init(struct vpmu_machine *m, struct vpmu_cache *cache, const struct vpmu_level *l)
{
	return cache_init(cache, l->bytes >> m->line_shift, l->ways);
}

static bool cpu_init(struct vpmu_machine *m, struct vpmu_cpu *c, unsigned int id)
{
	const struct vpmu_geometry *g = &m->g;

	c->id = id;
	c->chip = id / (g->cpus / g->chips);
	c->l2 = g->l2_of_core ? id : c->chip;
	memset(c->limit, 0xff, sizeof(c->limit));
	c->predictor = calloc(g->predictor, 1);
	if (g->model != OOO_OFF) {
		c->stream = vpmu_stream_new(g, c);
		if (!c->stream)
			return false;
	}
	return c->predictor && level_init(m, &c->l1d, &g->l1d) && level_init(m, &c->l1i, &g->l1i) &&
	       cache_init(&c->tlb, g->tlb_entries, g->tlb_ways);
}

static uint64_t memory_lines(const struct vpmu_machine *m)
{
	return (m->g.memory + m->g.line - 1) >> m->line_shift;
}

static bool machine_init(struct vpmu_machine *m)
{
	struct vpmu_geometry *g = &m->g;
	unsigned int i;

	m->line_shift = __builtin_ctz(g->line);
	m->nr_l2 = g->l2_of_core ? g->cpus : g->chips;
	for (i = 0; !g->node_end[g->chips - 1] && i < g->chips - 1; i++)
		g->node_end[i] = g->memory / g->chips / g->line * g->line * (i + 1);
	g->node_end[g->chips - 1] = g->memory;

	m->cpu = aligned_alloc(64, (g->cpus * sizeof(*m->cpu) + 63) / 64 * 64);
	if (!m->cpu)
		return false;
	memset(m->cpu, 0, g->cpus * sizeof(*m->cpu));
	for (i = 0; i < g->cpus; i++)
		if (!cpu_init(m, &m->cpu[i], i))
			return false;
	for (i = 0; i < m->nr_l2; i++)
		if (!level_init(m, &m->l2[i], &g->l2))
			return false;
	for (i = 0; i < g->chips; i++)
		if (!level_init(m, &m->l3[i], &g->l3))
			return false;
	m->directory = calloc(memory_lines(m), sizeof(*m->directory));
	return m->directory && !vpmu_controllers_init(m);
}

/**
 * vpmu_machine_new() - a machine with empty caches
 * @g: as vpmu_geometry_parse() made it
 *
 * The directory takes 8 bytes for each line of memory; the host gives pages of it when
 * they are used.
 *
 * Return: the machine, for vpmu_machine_free(), or NULL without memory.
 */
struct vpmu_machine *vpmu_machine_new(const struct vpmu_geometry *g)
{
	struct vpmu_machine *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->g = *g;
	if (!machine_init(m)) {
		vpmu_machine_free(m);
		return NULL;
	}
	return m;
}

void vpmu_machine_free(struct vpmu_machine *m)
{
	unsigned int i;

	if (!m)
		return;
	for (i = 0; m->cpu && i < m->g.cpus; i++) {
		free(m->cpu[i].l1d.lines);
		free(m->cpu[i].l1i.lines);
		free(m->cpu[i].tlb.lines);
		free(m->cpu[i].predictor);
		vpmu_stream_free(m->cpu[i].stream);
	}
	free(m->cpu);
	for (i = 0; i < VPMU_MAX_CPUS; i++)
		free(m->l2[i].lines);
	for (i = 0; i < VPMU_MAX_CHIPS; i++)
		free(m->l3[i].lines);
	free(m->directory);
	free(m->controller);
	free(m);
}

static void cpu_reset(struct vpmu_machine *m, struct vpmu_cpu *c)
{
	memset(c->count, 0, sizeof(c->count));
	memset(c->limit, 0xff, sizeof(c->limit));
	memset(c->predictor, 0, m->g.predictor);
	cache_reset(&c->l1d);
	cache_reset(&c->l1i);
	cache_reset(&c->tlb);
	c->pending = c->fetched = c->branch_end = 0;
	if (c->stream)
		vpmu_stream_reset(c->stream);
}

/* An L2 or L3 is emptied, and the directory knows. That is too large to be cleared as a whole. */
static void shared_reset(struct vpmu_machine *m, struct vpmu_cache *cache)
{
	uint32_t i;

	for (i = 0; i < cache->sets * cache->ways; i++)
		if (cache->lines[i].key)
			m->directory[cache->lines[i].key - 1] = 0;
	cache_reset(cache);
}

/**
 * vpmu_machine_reset() - empty all caches, TLBs and predictors, counts become 0
 * @m: machine
 *
 * Modes and contexts of the CPUs stay. So that counters know of it, see
 * vpmu_counters_reset().
 */
void vpmu_machine_reset(struct vpmu_machine *m)
{
	unsigned int i;

	for (i = 0; i < m->g.cpus; i++)
		cpu_reset(m, &m->cpu[i]);
	for (i = 0; i < m->nr_l2; i++)
		shared_reset(m, &m->l2[i]);
	for (i = 0; i < m->g.chips; i++)
		shared_reset(m, &m->l3[i]);
	vpmu_controllers_reset(m);
}

static void fetch_code(struct vpmu_machine *m, struct vpmu_cpu *c, uint64_t paddr)
{
	uint64_t number = paddr >> m->line_shift;
	struct vpmu_line *line;

	if (c->fetched == number + 1 || paddr >= m->g.memory)
		return;
	line = vpmu_cache_peek(&c->l1i, number);
	if (line)
		vpmu_cache_use(&c->l1i, line);
	else
		vpmu_code_miss(m, c, number);
	c->fetched = number + 1;
}

/* The core is told of the block before, and what this one waits for is kept for it. */
static void stream_block(struct vpmu_machine *m, struct vpmu_cpu *c, const struct vpmu_block *block)
{
	unsigned int i;

	vpmu_stream_end(c->stream);
	for (i = 0; i < block->lines; i++) {
		fetch_code(m, c, block->code[i]);
		vpmu_stream_fetch(c->stream, i);
	}
	vpmu_stream_begin(c->stream, block);
}

/**
 * vpmu_execute() - a CPU executes a translation block
 * @m: machine
 * @cpu: which
 * @block: the block; its data accesses are calls of their own, before or after
 *
 * Where it begins says which way the conditional branch went that ended the block before;
 * so the caller need not call vpmu_branch().
 */
void vpmu_execute(struct vpmu_machine *m, unsigned int cpu, const struct vpmu_block *block)
{
	struct vpmu_cpu *c = &m->cpu[cpu];
	unsigned int i;

	if (c->branch_end)
		vpmu_branch(m, cpu, c->branch_end, c->branch_end != block->vaddr);
	c->branch_end = block->conditional ? block->end : 0;
	vpmu_count(c, VPMU_INSNS, block->insns);
	if (c->stream) {
		stream_block(m, c, block);
		return;
	}
	for (i = 0; i < block->lines; i++)
		fetch_code(m, c, block->code[i]);
	vpmu_count(c, VPMU_CYCLES, block->insns);
	if (block->iu)
		vpmu_wait(c, VPMU_STALL_IU, block->iu);
	if (block->fpu)
		vpmu_wait(c, VPMU_STALL_FPU, block->fpu);
	if (block->lsu)
		vpmu_wait(c, VPMU_STALL_LSU, block->lsu);
}

/**
 * vpmu_branch() - a conditional branch
 * @m: machine
 * @cpu: of whom
 * @pc: where; any address will do that is always the same
 * @taken: or not
 *
 * The predictor has a counter of two bits for each branch, and no history. A branch is
 * taken to fall through at first.
 */
void vpmu_branch(struct vpmu_machine *m, unsigned int cpu, uint64_t pc, bool taken)
{
	struct vpmu_cpu *c = &m->cpu[cpu];
	uint8_t *counter = &c->predictor[pc & (m->g.predictor - 1)];

	vpmu_count(c, VPMU_BRANCH, 1);
	if ((*counter >= 2) != taken) {
		vpmu_count(c, VPMU_BR_MISS, 1);
		vpmu_wait(c, VPMU_STALL_BR, m->g.br_miss);
	}
	if (taken && *counter < 3)
		++*counter;
	else if (!taken && *counter)
		--*counter;
}

/**
 * vpmu_stall() - a CPU waits for something that is not modelled
 * @m: machine
 * @cpu: which
 * @cause: VPMU_STALL_LSU .. VPMU_STALL_OTHER. The others are the sums of what is modelled.
 * @cycles: how long
 */
void vpmu_stall(struct vpmu_machine *m, unsigned int cpu, enum vpmu_event cause,
		unsigned int cycles)
{
	vpmu_wait(&m->cpu[cpu], cause, cycles);
}

static unsigned int translate(struct vpmu_machine *m, struct vpmu_cpu *c, uint64_t vaddr,
			      uint64_t paddr)
{
	uint64_t number = vaddr >> VPMU_PAGE_SHIFT;
	struct vpmu_line *page = vpmu_cache_peek(&c->tlb, number);
	unsigned int cycles = 0;

	if (!page) {
		page = vpmu_cache_victim(&c->tlb, number);
		*page = (struct vpmu_line){ .key = number + 1 };
		vpmu_count(c, VPMU_DTLB_MISS, 1);
		cycles = vpmu_wait(c, VPMU_STALL_TLB, m->g.tlb_miss);
	}
	page->frame = paddr >> VPMU_PAGE_SHIFT;
	vpmu_cache_use(&c->tlb, page);
	return cycles;
}

/* An access to one line. Return: its stall, and in @miss the source if that is more than *worst */
static unsigned int access_line(struct vpmu_machine *m, struct vpmu_cpu *c, uint64_t paddr,
				bool store, unsigned int *worst, struct vpmu_miss *miss)
{
	uint64_t number = paddr >> m->line_shift;
	struct vpmu_line *line;
	struct vpmu_miss from;
	unsigned int cycles;

	if (paddr >= m->g.memory)
		return 0;
	line = vpmu_cache_peek(&c->l1d, number);
	if (line && store && line->state == VPMU_SHARED)
		return vpmu_upgrade(m, c, number, line);
	if (line) {
		vpmu_cache_use(&c->l1d, line);
		line->state = store ? VPMU_MODIFIED : line->state;
		return 0;
	}
	cycles = vpmu_data_miss(m, c, number, store, &from);
	if (cycles > *worst) {
		*worst = cycles;
		miss->source = from.source;
		miss->modified = from.modified;
	}
	return cycles;
}

/**
 * vpmu_access() - a data access
 * @m: machine
 * @cpu: who
 * @vaddr: virtual address
 * @paddr: physical address
 * @size: bytes, >= 1, all on one page
 * @flags: VPMU_LOAD or VPMU_STORE. An access to two pages takes two calls, each with the
 *	bytes on its page, the second one with VPMU_REST.
 * @miss: what became of it
 *
 * An access to two lines is one load or store, but may miss twice.
 *
 * Return: the stall, cycles.
 */
unsigned int vpmu_access(struct vpmu_machine *m, unsigned int cpu, uint64_t vaddr, uint64_t paddr,
			 unsigned int size, unsigned int flags, struct vpmu_miss *miss)
{
	struct vpmu_cpu *c = &m->cpu[cpu];
	uint64_t end = paddr + size - 1;
	bool two = (paddr ^ end) >> m->line_shift;
	bool store = flags & VPMU_STORE;
	unsigned int worst = 0;

	*miss = (struct vpmu_miss){ .paddr = paddr, .source = VPMU_NO_SOURCE };
	if (!(flags & VPMU_REST))
		vpmu_count(c, store ? VPMU_STORES : VPMU_LOADS, 1);
	miss->latency = translate(m, c, vaddr, paddr);
	miss->latency += access_line(m, c, paddr, store, &worst, miss);
	if (two)
		miss->latency += access_line(m, c, end, store, &worst, miss);
	if (two || (flags & VPMU_REST))
		miss->latency += vpmu_wait(c, VPMU_STALL_LSU, m->g.split);
	return miss->latency;
}

/**
 * vpmu_flush_virtual() - a CPU flushes its TLB
 * @m: machine
 * @cpu: which; as in hardware a CPU does so for itself
 * @vaddr: an address of the page to flush, VPMU_ALL_PAGES: all
 *
 * To be called where the CPU executes mov to cr3 or cr4, invlpg or invpcid.
 */
void vpmu_flush_virtual(struct vpmu_machine *m, unsigned int cpu, uint64_t vaddr)
{
	struct vpmu_cpu *c = &m->cpu[cpu];
	struct vpmu_line *page;

	page = vpmu_cache_peek(&c->tlb, vaddr >> VPMU_PAGE_SHIFT);
	if (vaddr == VPMU_ALL_PAGES)
		cache_reset(&c->tlb);
	else if (page)
		*page = (struct vpmu_line){ 0 };
	vpmu_wait(c, VPMU_STALL_OTHER, m->g.flush);
}

/**
 * vpmu_mode() - a CPU enters or leaves the kernel
 * @m: machine
 * @cpu: which
 * @kernel: enters it
 *
 * What it does from now on counts for the new mode. Where the last branch before led is not
 * known, so that is not counted.
 */
void vpmu_mode(struct vpmu_machine *m, unsigned int cpu, bool kernel)
{
	struct vpmu_cpu *c = &m->cpu[cpu];

	if (c->kernel == kernel)
		return;
	if (c->stream)
		vpmu_stream_drain(c->stream);
	c->kernel = kernel;
	c->branch_end = 0;
}

/**
 * vpmu_context() - a CPU runs somebody else's code
 * @m: machine
 * @cpu: which
 * @context: of whom, for prefetcher and samples
 */
void vpmu_context(struct vpmu_machine *m, unsigned int cpu, uint32_t context)
{
	m->cpu[cpu].context = context;
}
