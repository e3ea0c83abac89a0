/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A model of a machine of several chips: caches, coherence, TLBs and branch
 * predictors, and where the cycles go (thesis 2.5). Plain C, knows neither QEMU nor
 * registers. Nothing here locks: the caller runs one CPU at a time.
 *
 *	CPU n:   L1I  L1D  TLB  predictor      a CPU executes one instruction a cycle, in order,
 *	                                       or has an out-of-order core (ooo.h), by option
 *	chip:    L2, inclusive of its L1s      or one L2 for each core, by option
 *	         L3, a victim cache of the L2s
 *	node:    memory, one for each chip
 *
 * A cache line is in one state everywhere (MESI): one L1D may write it, and then no
 * other cache but the L2 below it has it; or any number may read it. A directory knows
 * which L2s and L3s have a line. Each miss is satisfied by exactly one source: the
 * nearest that has the line.
 *
 * Each cycle is either the one in which an instruction completes, or is charged to one
 * cause (table 2.3), so for each CPU and mode
 *
 *	CYCLES = INSNS + STALL_D + STALL_I + STALL_BR + STALL_TLB + STALL_LSU + STALL_FPU +
 *		 STALL_IU + STALL_OTHER
 *	STALL_D = sum of STALL_D_SRC, L1D_MISS = sum of D_SRC, L1I_MISS = sum of I_SRC
 *
 * With an out-of-order core several complete in a cycle, and there are cycles with completion
 * in the place of INSNS.
 *
 * STALL_LSU is what loads and stores wait for besides data: basic latency, the second
 * half of an access to two lines, and permission to write a line that is there.
 *
 * Where a name leaves a doubt, this is counted:
 *
 *	LOADS, STORES	accesses; one to two lines or pages is one, an atomic one is both
 *	L1D_MISS	lines: an access to two may miss twice. A store to a line that L1D has,
 *			but may only read, is no miss but an upgrade
 *	UPGRADE_REMOTE	stores that had to ask another chip for a line that their own has
 *	UPGRADE_LOCAL	other stores that had to ask for a line that their L1D has
 *	INVALIDATED	copies that this CPU's L1s lost to a store, of another CPU or, from
 *			L1I, of its own; not what went for want of room in L1 or L2
 *	WRITEBACK	lines written to memory on account of an access of this CPU, whoever
 *			modified them: out of its L3, or because it reads what others modified
 *	DTLB_MISS	of data only; fetches of code never miss a TLB
 *	PREFETCHED	lines fetched by a memory controller after a request of this CPU
 *	PREFETCH_USED	requests of this CPU for such lines; they count as misses all the same
 */
#ifndef _TOOLS_VPMU_MACHINE_H
#define _TOOLS_VPMU_MACHINE_H

#include <linux/vpmu.h>		/* enum vpmu_source, enum vpmu_event */

#include "cache.h"
#include "ooo.h"

#define VPMU_MAX_CPUS	32
#define VPMU_MAX_CHIPS	8
#define VPMU_PAGE_SHIFT	12

/* Prefetcher of the memory controllers (HMTT 6.2) */
enum vpmu_prefetch {
	VPMU_PREFETCH_OFF,
	VPMU_PREFETCH_PLAIN,		/* sees one sequence of requests */
	VPMU_PREFETCH_CONTEXT,		/* sees that of each context */
};

/**
 * struct vpmu_level - a cache
 * @bytes: its size. The number of sets, @bytes / @ways / line, is rounded down; that of an
 *	L1 is a power of two.
 * @ways: of a set
 */
struct vpmu_level {
	uint64_t bytes;
	uint32_t ways;
};

/**
 * struct vpmu_geometry - sizes and costs; table 3.1 and table 2.4 by default
 * @cpus: 1 .. VPMU_MAX_CPUS
 * @chips: 1 .. VPMU_MAX_CHIPS, divides @cpus; CPU n is on chip n / (@cpus / @chips)
 * @line: size of a line in all caches, bytes; a power of two, 32 .. 4096
 * @l1i: instruction cache of a CPU
 * @l1d: data cache of a CPU
 * @l2: of a chip, or of each CPU
 * @l2_of_core: 0: one L2 on a chip, 1: one for each CPU. What another core's L2 of the
 *	same chip delivers counts as from the local L3.
 * @l3: of a chip
 * @memory: end of physical memory, bytes. What lies above it is never cached, as I/O.
 * @node_end: node n is memory from @node_end[n - 1] up to here; all 0: equal parts
 * @latency: stall of a miss by enum vpmu_source, cycles
 * @upgrade_local: stall of a store to a line that its L1D may only read, when no other chip
 *	has the line, cycles
 * @upgrade_remote: the same when another chip has it; also of a store that misses L1D, and
 *	finds the line on its own chip, in addition to the latency of that source
 * @tlb_entries: of the data TLB
 * @tlb_ways: of a set; the number of sets is a power of two
 * @tlb_miss: cycles
 * @predictor: counters of two bits, a power of two
 * @br_miss: cycles
 * @split: an access to two lines is rejected and issued again, cycles
 * @flush: the pipeline is empty after a flush of the TLB, cycles (STALL_OTHER)
 * @prefetch: enum vpmu_prefetch
 * @prefetch_hit: latency of a line that the node's controller has prefetched, cycles; the
 *	difference between remote and local memory comes on top where it is remote
 * @counters: of a CPU, 4 .. VPMU_COUNTERS
 * @model: enum ooo_mode: how instructions complete, and stalls come about
 * @sampling: VPMU_TAGGED or VPMU_DAR: what a sample tells
 * @skid: instructions after which an overflow is noticed, with VPMU_DAR
 * @core: sizes of an out-of-order core; @br_miss and @line are above
 */
struct vpmu_geometry {
	uint32_t cpus, chips;
	uint32_t line;
	struct vpmu_level l1i, l1d, l2, l3;
	uint32_t l2_of_core;
	uint64_t memory;
	uint64_t node_end[VPMU_MAX_CHIPS];
	uint32_t latency[VPMU_SOURCES];
	uint32_t upgrade_local, upgrade_remote;
	uint32_t tlb_entries, tlb_ways, tlb_miss;
	uint32_t predictor, br_miss;
	uint32_t split, flush;
	uint32_t prefetch, prefetch_hit;
	uint32_t counters;
	uint32_t model;
	uint32_t sampling, skid;
	struct ooo_sizes core;
};

int vpmu_geometry_parse(const char *text, struct vpmu_geometry *g, char **error);

struct vpmu_controller;
struct vpmu_insn;
struct vpmu_stream;

/**
 * struct vpmu_cpu - a CPU
 * @count: events so far, in user mode [0] and in the kernel [1], by enum vpmu_event
 * @limit: a count that reaches this sets @pending; UINT64_MAX: never
 * @pending: events that reached their limit, a bit for each; cleared by who looks at it
 * @l1d: data cache
 * @tlb: of data
 * @l1i: instruction cache
 * @kernel: mode, index to @count
 * @context: whose code runs
 * @id: its number
 * @chip: its chip
 * @l2: number of its L2
 * @fetched: number of the line it has fetched last, plus 1
 * @branch_end: address behind a conditional branch of which the way is not known yet; 0: none
 * @predictor: counters of two bits
 * @stream: what its out-of-order core is told; NULL: it executes in order
 */
struct vpmu_cpu {
	uint64_t count[2][VPMU_EVENTS];
	uint64_t limit[2][VPMU_EVENTS];
	uint64_t pending;
	struct vpmu_cache l1d, tlb, l1i;
	uint32_t kernel;
	uint32_t context;
	uint32_t id, chip, l2;
	uint64_t fetched;
	uint64_t branch_end;
	uint8_t *predictor;
	struct vpmu_stream *stream;
};

/**
 * struct vpmu_machine - the machine
 * @g: its geometry
 * @cpu: CPUs
 * @line_shift: of a line's number
 * @nr_l2: number of L2s
 * @l2: L2s
 * @l3: L3s, one for each chip
 * @directory: caches that have a line, by its number: bit n for L2 n, bit 32 + n for L3 n
 * @controller: memory controllers, one for each node
 */
struct vpmu_machine {
	struct vpmu_geometry g;
	struct vpmu_cpu *cpu;
	uint32_t line_shift;
	uint32_t nr_l2;
	struct vpmu_cache l2[VPMU_MAX_CPUS];
	struct vpmu_cache l3[VPMU_MAX_CHIPS];
	uint64_t *directory;
	struct vpmu_controller *controller;
};

struct vpmu_machine *vpmu_machine_new(const struct vpmu_geometry *g);
void vpmu_machine_free(struct vpmu_machine *m);
void vpmu_machine_reset(struct vpmu_machine *m);

#define VPMU_BLOCK_LINES	3

/**
 * struct vpmu_block - a translation block, known when it is translated
 * @vaddr: address of its first instruction
 * @end: address behind its last one, where a branch that is not taken leads
 * @code: a physical address in each of its code lines, in order
 * @first: the instruction with which each of them begins, from 0 on
 * @lines: number of them, <= VPMU_BLOCK_LINES
 * @conditional: it ends in a conditional branch
 * @insns: number of instructions
 * @iu: cycles its instructions wait for integer units, besides the one they complete in
 * @fpu: likewise for floating point units
 * @lsu: likewise for the basic latency of loads and stores
 * @insn: the instructions, for an out-of-order core, which takes these latencies from there
 */
struct vpmu_block {
	uint64_t vaddr, end;
	uint64_t code[VPMU_BLOCK_LINES];
	uint16_t first[VPMU_BLOCK_LINES];
	uint8_t lines;
	bool conditional;
	uint16_t insns;
	uint16_t iu, fpu, lsu;
	const struct vpmu_insn *insn;
};

/**
 * struct vpmu_miss - what became of an access
 * @paddr: as given
 * @latency: its stall, cycles
 * @source: enum vpmu_source, VPMU_NO_SOURCE when it did not miss L1D. Of the two halves
 *	of an access to two lines the slower one counts.
 * @modified: the line was modified where it was: in an L1D of another CPU, in an L2 that is
 *	not this CPU's, or in the L3 of another chip
 */
struct vpmu_miss {
	uint64_t paddr;
	uint32_t latency;
	uint8_t source;
	bool modified;
};

/* Flags of vpmu_access() */
#define VPMU_LOAD	0
#define VPMU_STORE	1
#define VPMU_REST	2	/* the part on the second page; that on the first was a call */

void vpmu_execute(struct vpmu_machine *m, unsigned int cpu, const struct vpmu_block *block);
void vpmu_branch(struct vpmu_machine *m, unsigned int cpu, uint64_t pc, bool taken);
void vpmu_stall(struct vpmu_machine *m, unsigned int cpu, enum vpmu_event cause,
		unsigned int cycles);
unsigned int vpmu_access(struct vpmu_machine *m, unsigned int cpu, uint64_t vaddr, uint64_t paddr,
			 unsigned int size, unsigned int flags, struct vpmu_miss *miss);

#define VPMU_ALL_PAGES	UINT64_MAX

void vpmu_flush_virtual(struct vpmu_machine *m, unsigned int cpu, uint64_t vaddr);
void vpmu_mode(struct vpmu_machine *m, unsigned int cpu, bool kernel);
void vpmu_context(struct vpmu_machine *m, unsigned int cpu, uint32_t context);

/* Modelled cycles of a CPU since reset, in both modes */
static inline uint64_t vpmu_cycles(const struct vpmu_machine *m, unsigned int cpu)
{
	return m->cpu[cpu].count[0][VPMU_CYCLES] + m->cpu[cpu].count[1][VPMU_CYCLES];
}

/* Events of a CPU since reset, in both modes */
static inline uint64_t vpmu_total(const struct vpmu_machine *m, unsigned int cpu,
				  unsigned int event)
{
	return m->cpu[cpu].count[0][event] + m->cpu[cpu].count[1][event];
}

/* Has an event of the CPU reached its limit? Then counters.h has a look. */
static inline bool vpmu_pending(const struct vpmu_machine *m, unsigned int cpu)
{
	return m->cpu[cpu].pending;
}

static inline void vpmu_count(struct vpmu_cpu *c, unsigned int event, uint64_t n)
{
	c->count[c->kernel][event] += n;
	if (c->count[c->kernel][event] >= c->limit[c->kernel][event])
		c->pending |= 1ULL << event;
}

/**
 * vpmu_hit_l1() - a data access, when it costs nothing
 * @m: machine
 * @cpu: who
 * @vaddr: virtual address
 * @size: bytes, >= 1
 * @store: or a load
 *
 * The TLB knows where the page lies, so a caller only translates after this returned
 * false. It must flush the TLB when the CPU does, see vpmu_flush_virtual().
 *
 * Return: true: the access hit the TLB and L1D, and is counted. False: nothing happened
 * yet, call vpmu_access().
 */
static inline bool vpmu_hit_l1(struct vpmu_machine *m, unsigned int cpu, uint64_t vaddr,
			       unsigned int size, bool store)
{
	struct vpmu_cpu *c = &m->cpu[cpu];
	struct vpmu_line *page, *line;
	uint64_t paddr;

	page = vpmu_cache_peek(&c->tlb, vaddr >> VPMU_PAGE_SHIFT);
	if (!page || (vaddr & (m->g.line - 1)) + size > m->g.line)
		return false;
	paddr = page->frame << VPMU_PAGE_SHIFT | (vaddr & ((1 << VPMU_PAGE_SHIFT) - 1));
	line = vpmu_cache_peek(&c->l1d, paddr >> m->line_shift);
	if (!line || (store && line->state == VPMU_SHARED))
		return false;
	vpmu_cache_use(&c->tlb, page);
	vpmu_cache_use(&c->l1d, line);
	if (store)
		line->state = VPMU_MODIFIED;
	vpmu_count(c, store ? VPMU_STORES : VPMU_LOADS, 1);
	return true;
}

#endif
