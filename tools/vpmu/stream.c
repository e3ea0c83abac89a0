// SPDX-License-Identifier: GPL-2.0
/* Blocks and accesses become operations of a core. See stream.h. */
#include <stdlib.h>
#include <string.h>

#include "decode.h"
#include "stream.h"

/* From issue to result when nothing is in the way. */
#define LOAD_CYCLES	3
#define STORE_CYCLES	1

/* What something takes longer than that, and what for */
struct delay {
	uint32_t cycles, part;
	uint8_t cause, source;
};

/* All loads of an instruction, or all its stores */
struct access {
	struct delay delay;
	uint64_t vaddr;
	uint32_t insn;
	bool store;
};

#define ACCESSES	2048	/* QEMU's blocks have up to 512 instructions */

/**
 * struct vpmu_stream - what a core is told, and when
 * @core: the core
 * @block: the last one that was executed; it has not gone to the core yet
 * @fetch: what the fetch of each of its lines waited for
 * @access: what it accessed
 * @nr: number of accesses
 * @waits: what the CPU waited for since the last access or fetch was told
 * @wrong: the branch at the end of the block was predicted wrong
 */
struct vpmu_stream {
	struct ooo *core;
	const struct vpmu_block *block;
	struct delay fetch[VPMU_BLOCK_LINES];
	struct access access[ACCESSES];
	uint32_t nr;
	struct delay waits;
	bool wrong;
};

static const struct delay none = { .source = VPMU_NO_SOURCE };

/**
 * vpmu_stream_new() - a core, and what it is told
 * @g: geometry with a @model
 * @cpu: whose
 *
 * Return: the stream, for vpmu_stream_free(), or NULL without memory.
 */
struct vpmu_stream *vpmu_stream_new(const struct vpmu_geometry *g, struct vpmu_cpu *cpu)
{
	struct vpmu_stream *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->core = ooo_new(cpu, &g->core, g->model);
	if (!s->core) {
		free(s);
		return NULL;
	}
	vpmu_stream_reset(s);
	return s;
}

void vpmu_stream_free(struct vpmu_stream *s)
{
	if (s)
		ooo_free(s->core);
	free(s);
}

/**
 * vpmu_stream_reset() - nothing was executed
 * @s: stream
 */
void vpmu_stream_reset(struct vpmu_stream *s)
{
	unsigned int i;

	ooo_reset(s->core);
	s->block = NULL;
	s->nr = 0;
	s->waits = none;
	for (i = 0; i < VPMU_BLOCK_LINES; i++)
		s->fetch[i] = none;
	s->wrong = false;
}

static void add(struct delay *d, const struct delay *more)
{
	d->cycles += more->cycles;
	if (more->part > d->part) {
		d->part = more->part;
		d->cause = more->cause;
	}
	if (d->source == VPMU_NO_SOURCE || (more->cause == VPMU_STALL_D && more->part == d->part))
		d->source = more->source;
}

static struct delay take_waits(struct vpmu_stream *s)
{
	struct delay waits = s->waits;

	s->waits = none;
	return waits;
}

/**
 * vpmu_stream_wait() - the CPU would wait
 * @s: stream
 * @cause: enum vpmu_event, STALL_...
 * @source: of the data, enum vpmu_source, or VPMU_NO_SOURCE
 * @cycles: how long
 */
void vpmu_stream_wait(struct vpmu_stream *s, unsigned int cause, unsigned int source,
		      unsigned int cycles)
{
	if (cause == VPMU_STALL_BR)
		s->wrong = true;
	else
		add(&s->waits, &(struct delay){ cycles, cycles, cause, source });
}

/**
 * vpmu_stream_access() - a data access, after the machine was told
 * @s: stream
 * @insn: by which instruction of the block that began last
 * @vaddr: virtual address
 * @store: or a load
 */
void vpmu_stream_access(struct vpmu_stream *s, const struct vpmu_insn *insn, uint64_t vaddr,
			bool store)
{
	struct delay waits;
	struct access *a;
	unsigned int i;

	if (!s->block || insn < s->block->insn || insn >= s->block->insn + s->block->insns)
		return;
	waits = take_waits(s);
	for (i = s->nr; i && s->access[i - 1].insn == insn - s->block->insn; i--)
		if (s->access[i - 1].store == store) {
			add(&s->access[i - 1].delay, &waits);
			return;
		}
	if (s->nr == ACCESSES)
		return;
	a = &s->access[s->nr++];
	*a = (struct access){ .delay = waits, .vaddr = vaddr, .store = store,
			      .insn = insn - s->block->insn };
}

static struct ooo_op *new_op(struct ooo_insn *to, unsigned int unit, unsigned int cycles,
			     unsigned int cause)
{
	struct ooo_op *op = &to->op[to->nr++];

	*op = (struct ooo_op){ .unit = unit, .cycles = cycles, .part = cycles, .cause = cause,
			       .source = VPMU_NO_SOURCE };
	return op;
}

static struct ooo_op *access_op(struct ooo_insn *to, const struct access *a, uint64_t reads)
{
	struct ooo_op *op = new_op(to, OOO_LSU, a->store ? STORE_CYCLES : LOAD_CYCLES,
				   VPMU_STALL_LSU);

	op->reads = reads;
	op->addr = a->vaddr;
	op->store = a->store;
	op->cycles += a->delay.cycles;
	op->source = a->delay.source;
	if (a->delay.part > op->part) {
		op->part = a->delay.part;
		op->cause = a->delay.cause;
	}
	return op;
}

static unsigned int cause_of(unsigned int unit)
{
	static const uint8_t cause[OOO_CLASSES] = {
		[OOO_IU] = VPMU_STALL_IU, [OOO_FPU] = VPMU_STALL_FPU, [OOO_BU] = VPMU_STALL_OTHER,
	};

	return cause[unit];
}

/* Load, compute, store: what each hands on is in REG_LOADED and REG_RESULT. */
static void operations(struct ooo_insn *to, const struct vpmu_insn *insn,
		       const struct access *load, const struct access *store)
{
	uint64_t value = insn->reads;
	bool computes = !insn->move || (!load && !store);
	struct ooo_op *op;

	if (load) {
		op = access_op(to, load, insn->addr);
		op->writes = computes || store ? REG(REG_LOADED) : insn->writes;
		value |= REG(REG_LOADED);
	}
	if (computes) {
		op = new_op(to, insn->unit, insn->cycles, cause_of(insn->unit));
		op->reads = value;
		op->writes = insn->writes | (store ? REG(REG_RESULT) : 0);
		value = REG(REG_RESULT);
	}
	if (store)
		access_op(to, store, insn->addr | value);
}

static void set_fetch(struct ooo_insn *to, const struct vpmu_block *block, unsigned int i,
		      const struct delay *fetch)
{
	unsigned int line;

	for (line = 0; line < VPMU_BLOCK_LINES; line++)
		if (fetch[line].cycles && block->first[line] == i) {
			to->fetch += fetch[line].cycles;
			to->fetch_cause = fetch[line].cause == VPMU_STALL_I ? VPMU_STALL_I :
					  VPMU_STALL_OTHER;
		}
}

/* One instruction of the block, and its accesses, which begin at *a */
static void execute(struct vpmu_stream *s, unsigned int i, unsigned int *a)
{
	const struct vpmu_insn *insn = &s->block->insn[i];
	const struct access *access[2] = { NULL, NULL };
	struct ooo_insn to = { .nr = 0 };

	for (; *a < s->nr && s->access[*a].insn <= i; ++*a)
		access[s->access[*a].store] = &s->access[*a];
	operations(&to, insn, access[0], access[1]);
	set_fetch(&to, s->block, i, s->fetch);
	to.branch = insn->unit == OOO_BU;
	to.wrong = s->wrong && i + 1 == s->block->insns;
	ooo_execute(s->core, &to);
}

/**
 * vpmu_stream_end() - the block that began last is over
 * @s: stream
 */
void vpmu_stream_end(struct vpmu_stream *s)
{
	unsigned int i, a = 0;

	for (i = 0; s->block && i < s->block->insns; i++)
		execute(s, i, &a);
	for (i = 0; i < VPMU_BLOCK_LINES; i++)
		s->fetch[i] = none;
	s->block = NULL;
	s->nr = 0;
	s->wrong = false;
}

/**
 * vpmu_stream_fetch() - a line of code for the block that begins
 * @s: stream
 * @line: its number in the block
 */
void vpmu_stream_fetch(struct vpmu_stream *s, unsigned int line)
{
	s->fetch[line] = take_waits(s);
}

/**
 * vpmu_stream_begin() - a block is executed
 * @s: stream; vpmu_stream_end() was called, and vpmu_stream_fetch() for each line
 * @block: the block, with @insn. It must stay until the next one begins.
 */
void vpmu_stream_begin(struct vpmu_stream *s, const struct vpmu_block *block)
{
	s->block = block;
}

/**
 * vpmu_stream_drain() - all that was executed completes
 * @s: stream
 */
void vpmu_stream_drain(struct vpmu_stream *s)
{
	vpmu_stream_end(s);
	ooo_drain(s->core);
}
