// SPDX-License-Identifier: GPL-2.0
/* Registers of instructions. See decode.h; opcodes as in Intel's manual, volume 2, appendix A. */
#include <string.h>

#include "decode.h"

/* What an opcode does */
#define RM_R	(1U << 0)	/* reads the operand that may be in memory */
#define RM_W	(1U << 1)
#define REG_R	(1U << 2)	/* reads the other one of ModRM */
#define REG_W	(1U << 3)
#define FLAGS_R	(1U << 4)
#define FLAGS_W	(1U << 5)
#define AX_R	(1U << 6)
#define AX_W	(1U << 7)
#define DX_R	(1U << 8)
#define DX_W	(1U << 9)
#define CX_R	(1U << 10)
#define CX_W	(1U << 11)
#define LOW_R	(1U << 12)	/* the register in the opcode's low bits */
#define LOW_W	(1U << 13)
#define MODRM	(1U << 14)
#define RM_V	(1U << 15)	/* a vector, if it is a register */
#define REG_V	(1U << 16)
#define VECTOR	(1U << 17)	/* computes with vectors */
#define X87	(1U << 18)
#define MOVE	(1U << 19)
#define BRANCH	(1U << 20)
#define BX_R	(1U << 21)
#define NO_VEX	(1U << 22)	/* has no third operand */

#define RM_RW	(RM_R | RM_W)
#define AX_RW	(AX_R | AX_W)
#define SSE	(MODRM | RM_V | REG_V | VECTOR)
#define SSE_OP	(SSE | RM_R | REG_R | REG_W)
#define SSE_MOV	(SSE | RM_R | REG_W | MOVE | NO_VEX)
#define SSE_STR	(SSE | REG_R | RM_W | MOVE | NO_VEX)
#define FROM_SSE	(MODRM | RM_V | RM_R | REG_W | VECTOR | NO_VEX)

/* Prefixes, opcode and operands of an instruction */
struct parts {
	const uint8_t *at;	/* ModRM */
	uint8_t op, map;	/* 1: one byte, 2: 0f, 3: 0f 38, 4: 0f 3a */
	uint8_t rex;		/* W, R, X, B */
	uint8_t third;		/* operand of VEX */
	bool vex, rep, lock;
};

/* ALU: 00 to 3f */
static uint32_t arithmetic(uint8_t op)
{
	unsigned int which = op >> 3;
	uint32_t flags = FLAGS_W | (which == 2 || which == 3 ? FLAGS_R : 0);
	bool compares = which == 7;

	switch (op & 7) {
	case 0: case 1:
		return MODRM | RM_R | REG_R | flags | (compares ? 0 : RM_W);
	case 2: case 3:
		return MODRM | RM_R | REG_R | flags | (compares ? 0 : REG_W);
	case 4: case 5:
		return AX_R | flags | (compares ? 0 : AX_W);
	}
	return 0;
}

/* Groups of which the middle of ModRM is a part of the opcode */
static uint32_t group(uint8_t op, unsigned int which)
{
	switch (op) {
	case 0x80 ... 0x83:
		return (arithmetic(which << 3) & ~REG_R);
	case 0xc0: case 0xc1: case 0xd0: case 0xd1:
		return MODRM | RM_RW | FLAGS_W;
	case 0xd2: case 0xd3:
		return MODRM | RM_RW | FLAGS_W | CX_R;
	case 0xf6: case 0xf7:
		if (which < 2)
			return MODRM | RM_R | FLAGS_W;
		if (which < 4)
			return MODRM | RM_RW | (which == 3 ? FLAGS_W : 0);
		return MODRM | RM_R | AX_RW | DX_W | FLAGS_W | (which >= 6 ? DX_R : 0);
	case 0xfe: case 0xff:
		if (which < 2)
			return MODRM | RM_RW | FLAGS_W;
		return MODRM | RM_R | (which == 6 ? MOVE : BRANCH);
	}
	return 0;
}

static uint32_t one_byte(uint8_t op, uint8_t modrm)
{
	switch (op) {
	case 0x00 ... 0x3f:
		return arithmetic(op);
	case 0x50 ... 0x57:
		return LOW_R | MOVE;
	case 0x58 ... 0x5f:
		return LOW_W | MOVE;
	case 0x63: case 0x8a: case 0x8b:
		return MODRM | RM_R | REG_W | MOVE;
	case 0x68: case 0x6a:
		return MOVE;
	case 0x69: case 0x6b:
		return MODRM | RM_R | REG_W | FLAGS_W;
	case 0x70 ... 0x7f:
		return FLAGS_R | BRANCH;
	case 0x84: case 0x85:
		return MODRM | RM_R | REG_R | FLAGS_W;
	case 0x86: case 0x87:
		return MODRM | RM_RW | REG_R | REG_W;
	case 0x88: case 0x89:
		return MODRM | REG_R | RM_W | MOVE;
	case 0x8d:
		return MODRM | REG_W;
	case 0x8f: case 0xc6: case 0xc7:
		return MODRM | RM_W | MOVE;
	case 0x91 ... 0x97:
		return LOW_R | LOW_W | AX_RW;
	case 0x98:
		return AX_RW;
	case 0x99:
		return AX_R | DX_W;
	case 0x9c: case 0x9d:
		return (op == 0x9c ? FLAGS_R : FLAGS_W) | MOVE;
	case 0xa0: case 0xa1: case 0xac: case 0xad:
		return AX_W | MOVE;
	case 0xa2: case 0xa3: case 0xaa: case 0xab:
		return AX_R | MOVE;
	case 0xa4: case 0xa5:
		return MOVE;
	case 0xa6: case 0xa7:
		return FLAGS_W;
	case 0xa8: case 0xa9: case 0xae: case 0xaf:
		return AX_R | FLAGS_W;
	case 0xb0 ... 0xbf:
		return LOW_W;
	case 0xc2: case 0xc3: case 0xe8: case 0xe9: case 0xeb:
		return BRANCH;
	case 0xd8 ... 0xdf:
		return MODRM | X87 | VECTOR;
	case 0xe0 ... 0xe3:
		return CX_R | CX_W | BRANCH | (op < 0xe2 ? FLAGS_R : 0);
	}
	return group(op, modrm >> 3 & 7);
}

static uint32_t two_bytes(const struct parts *p, uint8_t modrm)
{
	uint8_t op = p->op;

	switch (op) {
	case 0x05:
		return BRANCH;
	case 0x10: case 0x28: case 0x6f:
		return SSE_MOV;
	case 0x12: case 0x16:
		return SSE_OP;
	case 0x11: case 0x13: case 0x17: case 0x29: case 0x2b: case 0x7f: case 0xd6: case 0xe7:
		return SSE_STR;
	case 0x18 ... 0x1f:
		return MODRM;
	case 0x2a: case 0x6e:
		return (SSE & ~RM_V) | RM_R | REG_W | (op == 0x6e ? NO_VEX : 0);
	case 0x2c: case 0x2d: case 0x50: case 0xc5: case 0xd7:
		return FROM_SSE;
	case 0x2e: case 0x2f:
		return SSE | RM_R | REG_R | FLAGS_W | NO_VEX;
	case 0x31:
		return AX_W | DX_W;
	case 0x40 ... 0x4f:
		return MODRM | RM_R | REG_R | REG_W | FLAGS_R;
	case 0x51 ... 0x53: case 0x5a: case 0x5b: case 0x70: case 0xe6:
		return SSE | RM_R | REG_W | NO_VEX;
	case 0x71 ... 0x73:
		return MODRM | RM_V | RM_RW | VECTOR;
	case 0x7e:
		return p->rep ? SSE_MOV : (SSE_STR & ~RM_V);
	case 0x80 ... 0x8f:
		return FLAGS_R | BRANCH;
	case 0x90 ... 0x9f:
		return MODRM | RM_W | FLAGS_R;
	case 0xa2:
		return AX_RW | CX_R | CX_W | DX_W;
	case 0xa3:
		return MODRM | RM_R | REG_R | FLAGS_W;
	case 0xa4: case 0xa5: case 0xab: case 0xac: case 0xad: case 0xb3: case 0xbb:
		return MODRM | RM_RW | REG_R | FLAGS_W | ((op & 0xf7) == 0xa5 ? CX_R : 0);
	case 0xaf:
		return MODRM | RM_R | REG_R | REG_W | FLAGS_W;
	case 0xb0: case 0xb1:
		return MODRM | RM_RW | REG_R | AX_RW | FLAGS_W;
	case 0xb6: case 0xb7: case 0xbe: case 0xbf:
		return MODRM | RM_R | REG_W | MOVE;
	case 0xb8: case 0xbc: case 0xbd:
		return MODRM | RM_R | REG_W | FLAGS_W;
	case 0xba:
		return MODRM | RM_R | FLAGS_W | ((modrm >> 3 & 3) ? RM_W : 0);
	case 0xc0: case 0xc1:
		return MODRM | RM_RW | REG_R | REG_W | FLAGS_W;
	case 0xc3:
		return MODRM | REG_R | RM_W | MOVE;
	case 0xc4:
		return (SSE & ~RM_V) | RM_R | REG_R | REG_W;
	case 0xc7:
		return MODRM | AX_RW | DX_R | DX_W | BX_R | CX_R | FLAGS_W;
	case 0xc8 ... 0xcf:
		return LOW_R | LOW_W;
	case 0xf0:
		return SSE_MOV;
	case 0x14: case 0x15: case 0x54 ... 0x59: case 0x5c ... 0x6d: case 0x74 ... 0x76:
	case 0x7c: case 0x7d: case 0xc2: case 0xc6: case 0xd0 ... 0xd5: case 0xd8 ... 0xe5:
	case 0xe8 ... 0xef: case 0xf1 ... 0xfe:
		return SSE_OP;
	}
	return 0;
}

/* 0f 38 */
static uint32_t three_bytes(const struct parts *p)
{
	switch (p->op) {
	case 0x17:
		return SSE | RM_R | REG_R | FLAGS_W | NO_VEX;
	case 0x18: case 0x19: case 0x1a: case 0x58: case 0x59: case 0x5a: case 0x78: case 0x79:
	case 0x2a:
		return SSE_MOV;
	case 0x1c ... 0x1e: case 0x20 ... 0x25: case 0x30 ... 0x35:
		return SSE | RM_R | REG_W | NO_VEX;
	case 0x96 ... 0x9f: case 0xa6 ... 0xaf: case 0xb6 ... 0xbf:	/* fused: three sources */
		return SSE_OP;
	case 0xf0: case 0xf1:
		if (p->rep)
			return MODRM | RM_R | REG_R | REG_W;		/* crc32 */
		return MODRM | (p->op == 0xf0 ? RM_R | REG_W : RM_W | REG_R) | MOVE;
	case 0xf2 ... 0xf7:
		return MODRM | RM_R | REG_W | FLAGS_W;
	}
	return SSE_OP;
}

/* 0f 3a */
static uint32_t with_immediate(const struct parts *p)
{
	switch (p->op) {
	case 0x08 ... 0x09: case 0x00: case 0x01: case 0x04: case 0x05: case 0xdf:
		return SSE | RM_R | REG_W | NO_VEX;
	case 0x14 ... 0x17:
		return (SSE & ~RM_V) | RM_W | REG_R | NO_VEX;
	case 0x19: case 0x39:
		return SSE | RM_W | REG_R | NO_VEX;
	case 0x20: case 0x22:
		return (SSE & ~RM_V) | RM_R | REG_R | REG_W;
	case 0x60 ... 0x63:
		return SSE | RM_R | REG_R | FLAGS_W | CX_W | NO_VEX;
	case 0xf0:
		return MODRM | RM_R | REG_W;
	}
	return SSE_OP;
}

/* The opcode after VEX prefix, or after REX */
static void opcode(struct parts *p, const uint8_t *b)
{
	p->map = 1;
	if (*b == 0xc5 || *b == 0xc4) {
		uint8_t last = *b == 0xc5 ? b[1] : b[2];

		p->vex = true;
		p->rex = (~b[1] >> 7 & 1) << 2;
		if (*b == 0xc4)
			p->rex = ~b[1] >> 5 & 7;
		p->map = *b == 0xc5 ? 2 : 1 + (b[1] & 3);
		p->third = ~last >> 3 & 15;
		p->rep = (last & 3) >= 2;
		b += *b == 0xc5 ? 2 : 3;
	} else if (*b == 0x0f) {
		p->map = b[1] == 0x38 ? 3 : b[1] == 0x3a ? 4 : 2;
		b += p->map == 2 ? 1 : 2;
	}
	p->op = *b;
	p->at = b + 1;
}

static void split(struct parts *p, const uint8_t *b)
{
	const uint8_t *end = b + 9;	/* so that all that follows lies in the 16 bytes */

	memset(p, 0, sizeof(*p));
	for (; b < end; b++) {
		if (*b == 0xf2 || *b == 0xf3)
			p->rep = true;
		else if (*b == 0xf0)
			p->lock = true;
		else if (*b != 0x66 && *b != 0x64 && *b != 0x65 && *b != 0x2e &&
			 *b != 0x3e && *b != 0x26 && *b != 0x36)
			break;
	}
	if ((*b & 0xf0) == 0x40)
		p->rex = *b++;
	opcode(p, b);
}

static uint64_t operand(unsigned int nr, bool vector)
{
	return REG(vector ? REG_VECTOR + nr : nr);
}

/* Registers of an address */
static uint64_t address(const struct parts *p)
{
	uint8_t modrm = p->at[0], sib = p->at[1];
	unsigned int base = modrm & 7, index;
	uint64_t regs = 0;

	if (base == 4) {
		base = sib & 7;
		index = (sib >> 3 & 7) | (p->rex & 2) << 2;
		if (index != 4)
			regs = REG(index);
	}
	if (base == 5 && modrm < 0x40)	/* no base: an address, or relative to the instruction */
		return regs;
	return regs | REG(base | (p->rex & 1) << 3);
}

static void with_modrm(struct decoded *d, const struct parts *p, uint32_t does)
{
	uint8_t modrm = *p->at;
	uint64_t reg = operand((modrm >> 3 & 7) | (p->rex & 4) << 1, does & REG_V);
	uint64_t rm = operand((modrm & 7) | (p->rex & 1) << 3, does & RM_V);
	bool third = p->vex && !(does & NO_VEX);

	if (modrm < 0xc0) {
		rm = 0;
		d->addr = address(p);
	}
	if (does & RM_R)
		d->reads |= rm;
	if (does & RM_W)
		d->writes |= rm;
	/* with a third operand the first one is only written, but for fused arithmetic */
	if (does & REG_R && (!third || (p->map == 3 && p->op >= 0x96)))
		d->reads |= reg;
	if (does & REG_W)
		d->writes |= reg;
	if (third)
		d->reads |= operand(p->third, does & VECTOR);
}

/* xor, sub of a register and itself: a zero, that waits for nothing */
static bool zeroes(const struct parts *p)
{
	bool integer = p->map == 1 && ((p->op & 0xf8) == 0x30 || (p->op & 0xf8) == 0x28) &&
		       (p->op & 7) < 4;
	bool vector = p->map == 2 && (p->op == 0xef || p->op == 0x57);
	uint8_t modrm = *p->at;

	if (!integer && !vector)
		return false;
	return modrm >= 0xc0 && (modrm >> 3 & 7) == (modrm & 7) &&
	       !(p->rex & 4) == !(p->rex & 1) && (!p->vex || p->third ==
	       ((modrm & 7) | (p->rex & 1) << 3));
}

static void fixed_registers(struct decoded *d, const struct parts *p, uint32_t does)
{
	static const struct {
		uint32_t reads, writes;
		unsigned int nr;
	} fixed[] = {
		{ AX_R, AX_W, 0 }, { CX_R, CX_W, 1 }, { DX_R, DX_W, 2 }, { BX_R, 0, 3 },
		{ FLAGS_R, FLAGS_W, REG_FLAGS }, { X87, X87, REG_X87 },
	};
	unsigned int i, low = (p->op & 7) | (p->rex & 1) << 3;

	for (i = 0; i < sizeof(fixed) / sizeof(*fixed); i++) {
		if (does & fixed[i].reads)
			d->reads |= REG(fixed[i].nr);
		if (does & fixed[i].writes)
			d->writes |= REG(fixed[i].nr);
	}
	if (does & LOW_R)
		d->reads |= REG(low);
	if (does & LOW_W)
		d->writes |= REG(low);
}

/**
 * decode() - which registers an instruction reads and writes
 * @bytes: the instruction, with zeroes behind it up to 16 bytes
 * @d: result
 */
void decode(const uint8_t *bytes, struct decoded *d)
{
	struct parts p;
	uint32_t does;

	memset(d, 0, sizeof(*d));
	split(&p, bytes);
	switch (p.map) {
	case 1:
		does = p.vex ? 0 : one_byte(p.op, *p.at);
		break;
	case 2:
		does = two_bytes(&p, *p.at);
		break;
	case 3:
		does = three_bytes(&p);
		break;
	default:
		does = with_immediate(&p);
	}
	if (does & MODRM)
		with_modrm(d, &p, does);
	fixed_registers(d, &p, does);
	if (p.op == 0x8d && p.map == 1) {	/* lea: its address is all that it reads */
		d->reads = d->addr;
		d->addr = 0;
	}
	if (p.op == 0xc9 && p.map == 1) {	/* leave */
		d->addr = REG(5);
		d->writes = REG(5);
		does |= MOVE;
	}
	if (zeroes(&p))
		d->reads = 0;
	d->vector = does & VECTOR;
	d->move = does & MOVE;
	d->branch = does & BRANCH;
}

/**
 * locks_line() - does an instruction keep others from a line between its read and its write?
 * @bytes: the instruction, with zeroes behind it up to 16 bytes
 *
 * Return: true for one with the prefix lock, and for xchg with memory
 */
bool locks_line(const uint8_t *bytes)
{
	struct parts p;

	split(&p, bytes);
	return p.lock || (p.map == 1 && (p.op & 0xfe) == 0x86 && *p.at < 0xc0);
}
