/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which registers an instruction of x86-64 reads and writes, for a core that has to know what
 * waits for what.
 *
 * It is right for what compilers make of programs: integer instructions, SSE and AVX. What it
 * takes for simpler than it is:
 *
 * - a write of a part of a register is one of all of it, and waits for nothing;
 * - ah, ch, dh and bh are taken for registers 4 to 7;
 * - all flags are one register, and so is the stack of the x87;
 * - what push, pop, call, ret and string instructions do to their pointers costs nothing, as with a
 *   stack engine;
 * - an instruction of AVX with two operands reads register 0 as well, which is what its unused
 *   field says;
 * - of others (system, x87 beyond its stack, MMX, AVX-512) it knows no registers.
 */
#ifndef _TOOLS_VPMU_DECODE_H
#define _TOOLS_VPMU_DECODE_H

#include <stdbool.h>
#include <stdint.h>

/* Bits of a set of registers */
#define REG_VECTOR	16	/* general registers are 0 to 15, by their numbers */
#define REG_FLAGS	32
#define REG_X87		33
#define REG_LOADED	34	/* no register: what an operation hands to the next one */
#define REG_RESULT	35

#define REG(n)		(1ULL << (n))

/**
 * struct decoded - what an instruction does with registers
 * @reads: those it reads, but for addresses
 * @writes: those it writes
 * @addr: those that make the address of its operand in memory
 * @vector: it computes with vectors or floating point
 * @move: it only moves: an access to memory is all that it does, if it has one
 * @branch: it may lead elsewhere
 */
struct decoded {
	uint64_t reads, writes, addr;
	bool vector, move, branch;
};

void decode(const uint8_t *bytes, struct decoded *d);
bool locks_line(const uint8_t *bytes);

#endif
