/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An out-of-order core: when each instruction completes, and why not earlier (ICS'05 section 4,
 * thesis 2.5). It knows no caches; it is told how long each operation takes, and what for.
 *
 *	instructions ─> bundles ─> dispatch ─> queues ─> units ─> completion
 *	                           in order    any order          in order, a bundle a cycle
 *
 * An instruction is one to OOO_OPS operations, each for one functional unit. A bundle has a few
 * instructions: as many as there are units for, and none behind a branch. It is dispatched when
 * each of its operations has an entry in the queue of its unit and, until the bundle completes, one
 * in the load or store buffer and a rename register if it needs them, and the bundle one in the
 * reorder buffer. An operation is issued as soon as what it reads is there and its unit is free,
 * the oldest first. Units are pipelined. A load takes what an earlier store to its word will write
 * as soon as that is issued, and a line that is on its way when the line is there.
 *
 * A cycle in which no bundle completes is charged to one cause (table 1). When no bundle was in
 * the core, that is what the next one waited for: a fetch of code, or a branch that was predicted
 * wrong. Otherwise it is the longest part of the latency of that instruction of the oldest bundle
 * which finished last, among those of more than a cycle that had not finished when the stall
 * began. When there is none, operations of a cycle each wait for one another in their bundle.
 * No event that could be spared makes that (ICS'05 5.1), and it is STALL_OTHER. So
 *
 *	CYCLES = cycles in which a bundle completes + STALL_D + ... + STALL_OTHER
 *
 * In the three modes of ICS'05 the core is real; or has bundles of one instruction; or dispatches
 * one only when that before has completed, which hides nothing but fetches of code.
 *
 * There is no loop over cycles. No operation waits for a younger one: units are pipelined and the
 * older one goes first. So all times of a bundle are known when it is formed, from those of the
 * older ones. test_ooo.c compares this with a loop over cycles.
 */
#ifndef _TOOLS_VPMU_OOO_H
#define _TOOLS_VPMU_OOO_H

#include <stdbool.h>
#include <stdint.h>

struct vpmu_cpu;

enum ooo_mode {
	OOO_OFF,		/* the CPU has no such core */
	OOO_REAL,
	OOO_SINGLE,
	OOO_INORDER,
};

/* Functional units. There are OOO_UNITS of each, and one for branches. */
enum ooo_class {
	OOO_IU,
	OOO_FPU,
	OOO_LSU,
	OOO_BU,
	OOO_CLASSES,
};

#define OOO_UNITS	2
#define OOO_OPS		3	/* of an instruction: load, compute or branch, store */
#define OOO_MOST_BUNDLE	7	/* operations that units can take in a cycle */
#define OOO_REGS	64

/**
 * struct ooo_sizes - of a core; ICS'05 5.1 and what it builds on by default
 * @bundle: operations of a bundle, OOO_OPS .. OOO_MOST_BUNDLE
 * @reorder: bundles between dispatch and completion
 * @rename: results in them; at least OOO_MOST_BUNDLE
 * @loads: loads in them; at least OOO_UNITS
 * @stores: likewise stores
 * @queue: operations that wait for one unit
 * @br_miss: cycles from the end of a branch that was predicted wrong to the next dispatch
 * @line: bytes that come together, a power of two
 */
struct ooo_sizes {
	uint32_t bundle, reorder, rename, loads, stores, queue, br_miss, line;
};

/**
 * struct ooo_op - an operation
 * @reads: registers, a bit for each
 * @writes: likewise
 * @addr: of the access, when it is one; also says which line and word
 * @cycles: from issue to result, >= 1
 * @part: the longest part of @cycles
 * @cause: what that is for, enum vpmu_event
 * @source: where a line comes from, enum vpmu_source; VPMU_NO_SOURCE: it does not miss
 * @unit: enum ooo_class
 * @store: an access of OOO_LSU is a store
 */
struct ooo_op {
	uint64_t reads, writes;
	uint64_t addr;
	uint32_t cycles, part;
	uint8_t cause, source;
	uint8_t unit;
	bool store;
};

/**
 * struct ooo_insn - an instruction
 * @op: its operations, in order
 * @nr: how many, >= 1; at most OOO_UNITS for the same units
 * @fetch: cycles that it takes to fetch it, if not the usual ones
 * @fetch_cause: what these are for
 * @branch: it ends a bundle
 * @wrong: it is a branch, and its way was predicted wrong
 */
struct ooo_insn {
	struct ooo_op op[OOO_OPS];
	uint32_t nr;
	uint32_t fetch;
	uint8_t fetch_cause;
	bool branch, wrong;
};

struct ooo;

struct ooo *ooo_new(struct vpmu_cpu *cpu, const struct ooo_sizes *sizes, enum ooo_mode mode);
void ooo_free(struct ooo *o);
void ooo_reset(struct ooo *o);
void ooo_execute(struct ooo *o, const struct ooo_insn *insn);
void ooo_drain(struct ooo *o);

#endif
