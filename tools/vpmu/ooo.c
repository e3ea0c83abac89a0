// SPDX-License-Identifier: GPL-2.0
/* Times of instructions in an out-of-order core. See ooo.h. */
#include <stdlib.h>
#include <string.h>

#include "machine.h"
#include "ooo.h"

#define WORD(addr)	((addr) >> 3)

/* Entries that are taken in order, and freed in order: by completion */
struct ring {
	uint64_t *until;
	uint32_t size, next;
};

/* An entry is freed when its operation is issued, in any order. */
struct unit {
	uint64_t *issued;
};

/* What later accesses may have to wait for: stores to a word, or lines under way */
struct flight {
	struct {
		uint64_t key, until;
		uint8_t source;
	} *entry;
	uint32_t size, first, nr;
};

/* What is dispatched together, and what has to be free for it */
struct needs {
	uint32_t ops, results, loads, stores;
	uint32_t units[OOO_CLASSES];
};

struct bundle {
	struct ooo_insn insn[OOO_MOST_BUNDLE];
	uint32_t nr;
	struct needs needs;
};

/**
 * struct ooo - a core
 * @cpu: counts for it
 * @sizes: its sizes
 * @mode: as given
 * @ready: when the value of a register is there
 * @reorder: reorder buffer
 * @rename: rename registers
 * @loads: load buffer
 * @stores: store buffer
 * @unit: functional units
 * @turn: which one of a class is next
 * @written: stores that have not been issued long since
 * @lines: lines on their way
 * @open: the bundle that is being formed
 * @fetched: the next bundle cannot be dispatched before; the first cycle is 1
 * @completed: when the last bundle completed
 */
struct ooo {
	struct vpmu_cpu *cpu;
	struct ooo_sizes sizes;
	enum ooo_mode mode;
	uint64_t ready[OOO_REGS];
	struct ring reorder, rename, loads, stores;
	struct unit unit[OOO_CLASSES][OOO_UNITS];
	uint32_t turn[OOO_CLASSES];
	struct flight written, lines;
	struct bundle open;
	uint64_t fetched, completed;
};

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint32_t units_of(uint32_t class)
{
	return class == OOO_BU ? 1 : OOO_UNITS;
}

/* ---- entries ------------------------------------------------------------------ */

static bool ring_init(struct ring *r, uint32_t size)
{
	r->size = size;
	r->until = calloc(size, sizeof(*r->until));
	return r->until;
}

static void ring_reset(struct ring *r)
{
	memset(r->until, 0, r->size * sizeof(*r->until));
	r->next = 0;
}

/* When are @nr more entries free? */
static uint64_t ring_free(const struct ring *r, uint32_t nr)
{
	uint32_t last = r->next + nr - 1;

	return nr ? r->until[last < r->size ? last : last - r->size] : 0;
}

static void ring_take(struct ring *r, uint32_t nr, uint64_t until)
{
	while (nr--) {
		r->until[r->next] = until;
		r->next = r->next + 1 < r->size ? r->next + 1 : 0;
	}
}

static bool flight_init(struct flight *f, uint32_t size)
{
	f->size = size;
	f->entry = calloc(size, sizeof(*f->entry));
	return f->entry;
}

/* Forget those in front that nobody who is dispatched from @now on has to wait for. */
static void flight_pass(struct flight *f, uint64_t now)
{
	while (f->nr && f->entry[f->first].until <= now) {
		f->first = f->first + 1 < f->size ? f->first + 1 : 0;
		f->nr--;
	}
}

/* At most as many are under way as there are load and store buffers, and so there is room. */
static void flight_add(struct flight *f, uint64_t key, uint64_t until, uint8_t source)
{
	uint32_t at = (f->first + f->nr++) % f->size;

	f->entry[at].key = key;
	f->entry[at].until = until;
	f->entry[at].source = source;
}

/* The youngest with @key. Return: until when it is under way */
static uint64_t flight_of(const struct flight *f, uint64_t key, uint8_t *source)
{
	uint32_t i, at;

	for (i = f->nr; i--; ) {
		at = f->first + i < f->size ? f->first + i : f->first + i - f->size;
		if (f->entry[at].key == key) {
			*source = f->entry[at].source;
			return f->entry[at].until;
		}
	}
	return 0;
}

/* The entry of the queue that is free first */
static uint64_t *queue_entry(struct ooo *o, struct unit *u)
{
	uint64_t *first = u->issued;
	uint32_t i;

	for (i = 1; i < o->sizes.queue; i++)
		if (u->issued[i] < *first)
			first = &u->issued[i];
	return first;
}

/* The first cycle from @at on in which none of the operations in its queue is issued */
static uint64_t unit_free(const struct ooo *o, const struct unit *u, uint64_t at)
{
	uint32_t i;

	for (i = 0; i < o->sizes.queue; i++)
		if (u->issued[i] == at) {
			at++;
			i = -1;
		}
	return at;
}

/* ---- a bundle ----------------------------------------------------------------- */

/* The unit for the next operation of a class, when @n more are before it */
static struct unit *unit_of(struct ooo *o, uint32_t class, uint32_t n)
{
	return &o->unit[class][(o->turn[class] + n) % units_of(class)];
}

/* When are all entries free that the open bundle needs? */
static uint64_t room(struct ooo *o)
{
	const struct needs *n = &o->open.needs;
	uint32_t class, i;
	uint64_t at;

	if (o->mode == OOO_INORDER)
		return o->completed;
	at = later(ring_free(&o->reorder, 1), ring_free(&o->rename, n->results));
	at = later(at, ring_free(&o->loads, n->loads));
	at = later(at, ring_free(&o->stores, n->stores));
	for (class = 0; class < OOO_CLASSES; class++)
		for (i = 0; i < n->units[class]; i++)
			at = later(at, *queue_entry(o, unit_of(o, class, i)) + 1);
	return at;
}

/* When may an operation be issued that was dispatched @at? */
static uint64_t operands(const struct ooo *o, const struct ooo_op *op, uint64_t at)
{
	uint64_t reads;
	uint8_t none;

	for (reads = op->reads; reads; reads &= reads - 1)
		at = later(at, o->ready[__builtin_ctzll(reads)]);
	if (op->unit == OOO_LSU && !op->store)
		at = later(at, flight_of(&o->written, WORD(op->addr), &none));
	return at;
}

/* An access brings a line, or may need one that an earlier access brings. */
static uint64_t line_there(struct ooo *o, struct ooo_op *op, uint64_t end)
{
	uint64_t line = op->addr / o->sizes.line, there;
	uint8_t source;

	if (op->source != VPMU_NO_SOURCE) {
		flight_add(&o->lines, line, end, op->source);
		return end;
	}
	there = o->lines.nr ? flight_of(&o->lines, line, &source) : 0;
	if (there <= end)
		return end;
	if (there - end > op->part) {
		op->part = there - end;
		op->cause = VPMU_STALL_D;
		op->source = source;
	}
	return there;
}

/* Return: when an operation ends that was dispatched @at */
static uint64_t issue(struct ooo *o, struct ooo_op *op, uint64_t at)
{
	struct unit *u = unit_of(o, op->unit, 0);
	uint64_t writes, end;

	at = unit_free(o, u, operands(o, op, at));
	*queue_entry(o, u) = at;
	o->turn[op->unit]++;
	end = at + op->cycles;
	if (op->unit == OOO_LSU)
		end = line_there(o, op, end);
	if (op->unit == OOO_LSU && op->store)
		flight_add(&o->written, WORD(op->addr), at + 1, VPMU_NO_SOURCE);
	for (writes = op->writes; writes; writes &= writes - 1)
		o->ready[__builtin_ctzll(writes)] = end;
	return end;
}

static void charge(struct ooo *o, unsigned int cause, unsigned int source, uint64_t cycles)
{
	if (!cycles)
		return;
	vpmu_count(o->cpu, cause, cycles);
	vpmu_count(o->cpu, VPMU_CYCLES, cycles);
	if (cause == VPMU_STALL_D)
		vpmu_count(o->cpu, VPMU_STALL_D_SRC + source, cycles);
}

/* No bundle was there until @at: the last cycles of that went into a fetch, if there was one. */
static void charge_empty(struct ooo *o, const struct ooo_insn *first, uint64_t at)
{
	uint64_t empty = at > o->completed ? at - o->completed : 0;
	uint64_t fetch = first->fetch < empty ? first->fetch : empty;

	charge(o, first->fetch_cause, 0, fetch);
	charge(o, VPMU_STALL_BR, 0, empty - fetch);
	o->completed += empty;
}

/* Return: when an instruction ends; @longest: its operation with the longest part */
static uint64_t issue_all(struct ooo *o, struct ooo_insn *insn, uint64_t at,
			  const struct ooo_op **longest)
{
	uint64_t end = 0;
	uint32_t i;

	*longest = insn->op;
	for (i = 0; i < insn->nr; i++) {
		end = later(end, issue(o, &insn->op[i], at));
		if (insn->op[i].part > (*longest)->part)
			*longest = &insn->op[i];
	}
	return end;
}

/* The open bundle completes when it ends. @cause: what it waited for */
static void complete(struct ooo *o, const struct ooo_op *cause, uint64_t end)
{
	const struct needs *n = &o->open.needs;
	uint64_t stall = end > o->completed ? end - o->completed - 1 : 0;

	if (cause)
		charge(o, cause->cause, cause->source, stall);
	else
		charge(o, VPMU_STALL_OTHER, 0, stall);
	vpmu_count(o->cpu, VPMU_CYCLES, 1);
	o->completed += stall + 1;
	ring_take(&o->reorder, 1, o->completed);
	ring_take(&o->rename, n->results, o->completed);
	ring_take(&o->loads, n->loads, o->completed);
	ring_take(&o->stores, n->stores, o->completed);
}

/* The open bundle goes its way. */
static void dispatch(struct ooo *o)
{
	struct bundle *b = &o->open;
	const struct ooo_op *cause = NULL, *longest;
	uint64_t at, end, last = 0, cause_end = o->completed + 1;	/* no stall until then */
	uint32_t i;

	if (!b->nr)
		return;
	at = later(o->fetched + b->insn[0].fetch, room(o));
	flight_pass(&o->written, at);
	flight_pass(&o->lines, at);
	o->fetched = at + 1;
	for (i = 0; i < b->nr; i++) {
		end = issue_all(o, &b->insn[i], at, &longest);
		last = later(last, end);
		if (longest->part > 1 && end > cause_end) {
			cause = longest;
			cause_end = end;
		}
		if (b->insn[i].wrong)
			o->fetched = end + o->sizes.br_miss;
	}
	charge_empty(o, &b->insn[0], at);
	complete(o, cause, last);
	b->nr = 0;
	b->needs = (struct needs){ 0 };
}

static bool fits(const struct ooo *o, const struct ooo_insn *insn)
{
	const struct needs *n = &o->open.needs;
	uint32_t units[OOO_CLASSES], i;

	if (insn->fetch || n->ops + insn->nr > o->sizes.bundle)
		return false;
	memcpy(units, n->units, sizeof(units));
	for (i = 0; i < insn->nr; i++)
		if (++units[insn->op[i].unit] > units_of(insn->op[i].unit))
			return false;
	return true;
}

static void add(struct bundle *b, const struct ooo_insn *insn)
{
	struct needs *n = &b->needs;
	const struct ooo_op *op;

	b->insn[b->nr++] = *insn;
	n->ops += insn->nr;
	for (op = insn->op; op < insn->op + insn->nr; op++) {
		n->units[op->unit]++;
		n->results += !!op->writes;
		n->loads += op->unit == OOO_LSU && !op->store;
		n->stores += op->unit == OOO_LSU && op->store;
	}
}

/**
 * ooo_execute() - the next instruction
 * @o: core
 * @insn: the instruction
 *
 * What it costs is counted for the CPU when its bundle is full.
 */
void ooo_execute(struct ooo *o, const struct ooo_insn *insn)
{
	if (!fits(o, insn))
		dispatch(o);
	add(&o->open, insn);
	if (insn->branch || o->mode != OOO_REAL)
		dispatch(o);
}

/**
 * ooo_drain() - all instructions complete before the next one is dispatched
 * @o: core
 *
 * As for an exception, or a way into the kernel or out. All cycles until then are counted.
 */
void ooo_drain(struct ooo *o)
{
	dispatch(o);
	o->fetched = later(o->fetched, o->completed);
}

/* ---- a core ------------------------------------------------------------------- */

static bool init(struct ooo *o)
{
	const struct ooo_sizes *s = &o->sizes;
	uint32_t class, i;

	for (class = 0; class < OOO_CLASSES; class++)
		for (i = 0; i < units_of(class); i++) {
			o->unit[class][i].issued = calloc(s->queue, sizeof(uint64_t));
			if (!o->unit[class][i].issued)
				return false;
		}
	return ring_init(&o->reorder, s->reorder) && ring_init(&o->rename, s->rename) &&
	       ring_init(&o->loads, s->loads) && ring_init(&o->stores, s->stores) &&
	       flight_init(&o->written, s->stores + OOO_UNITS) &&
	       flight_init(&o->lines, s->loads + s->stores + OOO_UNITS);
}

/**
 * ooo_new() - a core
 * @cpu: for which it counts CYCLES and the stalls
 * @sizes: its sizes
 * @mode: not OOO_OFF
 *
 * Return: the core, for ooo_free(), or NULL without memory.
 */
struct ooo *ooo_new(struct vpmu_cpu *cpu, const struct ooo_sizes *sizes, enum ooo_mode mode)
{
	struct ooo *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->cpu = cpu;
	o->sizes = *sizes;
	o->mode = mode;
	if (!init(o)) {
		ooo_free(o);
		return NULL;
	}
	ooo_reset(o);
	return o;
}

void ooo_free(struct ooo *o)
{
	uint32_t class, i;

	if (!o)
		return;
	for (class = 0; class < OOO_CLASSES; class++)
		for (i = 0; i < units_of(class); i++)
			free(o->unit[class][i].issued);
	free(o->reorder.until);
	free(o->rename.until);
	free(o->loads.until);
	free(o->stores.until);
	free(o->written.entry);
	free(o->lines.entry);
	free(o);
}

/**
 * ooo_reset() - an empty core
 * @o: core
 */
void ooo_reset(struct ooo *o)
{
	uint32_t class, i;

	for (class = 0; class < OOO_CLASSES; class++)
		for (i = 0; i < units_of(class); i++)
			memset(o->unit[class][i].issued, 0, o->sizes.queue * sizeof(uint64_t));
	ring_reset(&o->reorder);
	ring_reset(&o->rename);
	ring_reset(&o->loads);
	ring_reset(&o->stores);
	o->written.nr = 0;
	o->lines.nr = 0;
	memset(o->ready, 0, sizeof(o->ready));
	memset(o->turn, 0, sizeof(o->turn));
	memset(&o->open, 0, sizeof(o->open));
	o->fetched = 1;
	o->completed = 1;
}
