/* SPDX-License-Identifier: GPL-2.0 */
/*
 * From the machine to an out-of-order core: blocks that were executed become operations, with what
 * their accesses had to wait for.
 *
 * The machine says what a CPU waits for while that happens, vpmu_wait(). Here it is kept, and
 * becomes the latency of the access that is told next; what comes with none delays the fetch of the
 * next instruction. A block goes to the core when the next one begins, for then all of its accesses
 * are known, and where its branch led. Caches see accesses in the program's order, whatever the
 * core.
 */
#ifndef _TOOLS_VPMU_STREAM_H
#define _TOOLS_VPMU_STREAM_H

#include "machine.h"
#include "ooo.h"

/**
 * struct vpmu_insn - an instruction, known when it is translated
 * @tag: what the caller knows it by
 * @reads: registers it reads, see decode.h
 * @writes: those it writes
 * @addr: those that make the address of its access
 * @cycles: of its computation
 * @unit: enum ooo_class, which computes
 * @move: if it accesses memory, it computes nothing
 */
struct vpmu_insn {
	uint64_t tag;
	uint64_t reads, writes, addr;
	uint8_t cycles;
	uint8_t unit;
	bool move;
};

struct vpmu_stream;

struct vpmu_stream *vpmu_stream_new(const struct vpmu_geometry *g, struct vpmu_cpu *cpu);
void vpmu_stream_free(struct vpmu_stream *s);
void vpmu_stream_reset(struct vpmu_stream *s);

void vpmu_stream_wait(struct vpmu_stream *s, unsigned int cause, unsigned int source,
		      unsigned int cycles);
void vpmu_stream_end(struct vpmu_stream *s);
void vpmu_stream_fetch(struct vpmu_stream *s, unsigned int line);
void vpmu_stream_begin(struct vpmu_stream *s, const struct vpmu_block *block);
void vpmu_stream_access(struct vpmu_stream *s, const struct vpmu_insn *insn, uint64_t vaddr,
			bool store);
void vpmu_stream_drain(struct vpmu_stream *s);

#endif
