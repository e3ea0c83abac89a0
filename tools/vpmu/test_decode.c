// SPDX-License-Identifier: GPL-2.0
/* Instructions as an assembler writes them, and the registers that they read and write. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include "decode.h"

#include <cmocka.h>

enum { AX, CX, DX, BX, SP, BP, SI, DI, R8, R9, R10, R11, R12, R13, R14, R15 };

#define R(n)	REG(n)
#define V(n)	REG(REG_VECTOR + (n))
#define F	REG(REG_FLAGS)

#define BYTES(b)	b, sizeof(b) - 1

#define MOVES	1
#define LEADS	2
#define VECTORS	4

static const struct {
	const char *text, *bytes;
	size_t size;
	uint64_t reads, writes, addr;
	unsigned int is;
} cases[] = {
	{ "add %rax,%rbx", BYTES("\x48\x01\xc3"), R(AX) | R(BX), R(BX) | F, 0, 0 },
	{ "add (%rdi,%r9,8),%r10", BYTES("\x4e\x03\x14\xcf"),
	  R(R10), R(R10) | F, R(DI) | R(R9), 0 },
	{ "adc $1,%ecx", BYTES("\x83\xd1\x01"), R(CX) | F, R(CX) | F, 0, 0 },
	{ "cmp $0,8(%rsp)", BYTES("\x83\x7c\x24\x08\x00"), 0, F, R(SP), 0 },
	{ "cmp %al,%r8b", BYTES("\x41\x38\xc0"), R(AX) | R(R8), F, 0, 0 },
	{ "xor %eax,%eax", BYTES("\x31\xc0"), 0, R(AX) | F, 0, 0 },
	{ "xor %r8d,%eax", BYTES("\x44\x31\xc0"), R(AX) | R(R8), R(AX) | F, 0, 0 },
	{ "mov %rax,(%rdx)", BYTES("\x48\x89\x02"), R(AX), 0, R(DX), MOVES },
	{ "mov 0(%r13),%r14", BYTES("\x4d\x8b\x75\x00"), 0, R(R14), R(R13), MOVES },
	{ "mov 16(%rip),%rax", BYTES("\x48\x8b\x05\x10\x00\x00\x00"), 0, R(AX), 0, MOVES },
	{ "mov (%r12),%rax", BYTES("\x49\x8b\x04\x24"), 0, R(AX), R(R12), MOVES },
	{ "mov 0x1000(,%rbx,8),%rax", BYTES("\x48\x8b\x04\xdd\x00\x10\x00\x00"), 0, R(AX), R(BX),
	  MOVES },
	{ "mov $5,%r9d", BYTES("\x41\xb9\x05\x00\x00\x00"), 0, R(R9), 0, 0 },
	{ "movl $5,(%rbx)", BYTES("\xc7\x03\x05\x00\x00\x00"), 0, 0, R(BX), MOVES },
	{ "movzbl (%rsi),%eax", BYTES("\x0f\xb6\x06"), 0, R(AX), R(SI), MOVES },
	{ "lea 8(%rax,%rbx,4),%rcx", BYTES("\x48\x8d\x4c\x98\x08"), R(AX) | R(BX), R(CX), 0, 0 },
	{ "push %r12", BYTES("\x41\x54"), R(R12), 0, 0, MOVES },
	{ "pop %rbp", BYTES("\x5d"), 0, R(BP), 0, MOVES },
	{ "call", BYTES("\xe8\x00\x00\x00\x00"), 0, 0, 0, LEADS },
	{ "call *%rax", BYTES("\xff\xd0"), R(AX), 0, 0, LEADS },
	{ "jmp *8(%rbx)", BYTES("\xff\x63\x08"), 0, 0, R(BX), LEADS },
	{ "ret", BYTES("\xc3"), 0, 0, 0, LEADS },
	{ "je", BYTES("\x74\x05"), F, 0, 0, LEADS },
	{ "ja", BYTES("\x0f\x87\x00\x00\x00\x00"), F, 0, 0, LEADS },
	{ "leave", BYTES("\xc9"), 0, R(BP), R(BP), MOVES },
	{ "imul %rsi,%rdi", BYTES("\x48\x0f\xaf\xfe"), R(SI) | R(DI), R(DI) | F, 0, 0 },
	{ "div %rcx", BYTES("\x48\xf7\xf1"), R(CX) | R(AX) | R(DX), R(AX) | R(DX) | F, 0, 0 },
	{ "shl %cl,%rdx", BYTES("\x48\xd3\xe2"), R(DX) | R(CX), R(DX) | F, 0, 0 },
	{ "neg %eax", BYTES("\xf7\xd8"), R(AX), R(AX) | F, 0, 0 },
	{ "inc 8(%rax)", BYTES("\xff\x40\x08"), 0, F, R(AX), 0 },
	{ "cmovne %rbx,%rax", BYTES("\x48\x0f\x45\xc3"), R(AX) | R(BX) | F, R(AX), 0, 0 },
	{ "sete %al", BYTES("\x0f\x94\xc0"), F, R(AX), 0, 0 },
	{ "bsf %rax,%rcx", BYTES("\x48\x0f\xbc\xc8"), R(AX), R(CX) | F, 0, 0 },
	{ "cmpxchg %rdx,(%rdi)", BYTES("\xf0\x48\x0f\xb1\x17"),
	  R(AX) | R(DX), R(AX) | F, R(DI), 0 },
	{ "xadd %eax,(%rdi)", BYTES("\x0f\xc1\x07"), R(AX), R(AX) | F, R(DI), 0 },
	{ "cltq", BYTES("\x48\x98"), R(AX), R(AX), 0, 0 },
	{ "cqto", BYTES("\x48\x99"), R(AX), R(DX), 0, 0 },
	{ "bswap %r8", BYTES("\x49\x0f\xc8"), R(R8), R(R8), 0, 0 },
	{ "nopw 0(%rax)", BYTES("\x66\x0f\x1f\x40\x00"), 0, 0, R(AX), 0 },
	{ "mulsd %xmm1,%xmm9", BYTES("\xf2\x44\x0f\x59\xc9"), V(1) | V(9), V(9), 0, VECTORS },
	{ "movsd (%rax),%xmm2", BYTES("\xf2\x0f\x10\x10"), 0, V(2), R(AX), MOVES | VECTORS },
	{ "movups %xmm3,(%rdi)", BYTES("\x0f\x11\x1f"), V(3), 0, R(DI), MOVES | VECTORS },
	{ "pxor %xmm0,%xmm0", BYTES("\x66\x0f\xef\xc0"), 0, V(0), 0, VECTORS },
	{ "cvtsi2sd %rax,%xmm1", BYTES("\xf2\x48\x0f\x2a\xc8"), R(AX), V(1), 0, VECTORS },
	{ "movq %xmm1,%rax", BYTES("\x66\x48\x0f\x7e\xc8"), V(1), R(AX), 0, MOVES | VECTORS },
	{ "pmovmskb %xmm2,%eax", BYTES("\x66\x0f\xd7\xc2"), V(2), R(AX), 0, VECTORS },
	{ "ucomisd %xmm1,%xmm0", BYTES("\x66\x0f\x2e\xc1"), V(0) | V(1), F, 0, VECTORS },
	{ "vpxor %xmm8,%xmm8,%xmm8", BYTES("\xc4\x41\x39\xef\xc0"), 0, V(8), 0, VECTORS },
	{ "vaddpd %ymm2,%ymm1,%ymm0", BYTES("\xc5\xf5\x58\xc2"), V(1) | V(2), V(0), 0, VECTORS },
	{ "vmovdqu (%r8),%ymm12", BYTES("\xc4\x41\x7e\x6f\x20"), 0, V(12), R(R8), MOVES | VECTORS },
	{ "vpcmpeqb (%rdi),%ymm1,%ymm2", BYTES("\xc5\xf5\x74\x17"), V(1), V(2), R(DI), VECTORS },
	{ "vfmadd231sd %xmm2,%xmm1,%xmm0", BYTES("\xc4\xe2\xf1\xb9\xc2"),
	  V(0) | V(1) | V(2), V(0), 0,
	  VECTORS },
	{ "andn %rax,%rbx,%rcx", BYTES("\xc4\xe2\xe0\xf2\xc8"), R(AX) | R(BX), R(CX) | F, 0, 0 },
	{ "pshufb (%rax),%xmm1", BYTES("\x66\x0f\x38\x00\x08"), V(1), V(1), R(AX), VECTORS },
	{ "pextrd $1,%xmm1,%ecx", BYTES("\x66\x0f\x3a\x16\xc9\x01"), V(1), R(CX), 0, VECTORS },
	{ "rep movsb", BYTES("\xf3\xa4"), 0, 0, 0, MOVES },
	{ "rep stosq", BYTES("\xf3\x48\xab"), R(AX), 0, 0, MOVES },
};

static void test_registers(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint8_t bytes[16] = { 0 };
		struct decoded d;

		memcpy(bytes, cases[i].bytes, cases[i].size);
		decode(bytes, &d);
		if (d.reads != cases[i].reads || d.writes != cases[i].writes ||
		    d.addr != cases[i].addr || d.move != !!(cases[i].is & MOVES) ||
		    d.branch != !!(cases[i].is & LEADS) || d.vector != !!(cases[i].is & VECTORS))
			fail_msg("%s: reads %llx writes %llx addr %llx, %d %d %d", cases[i].text,
				 (unsigned long long)d.reads, (unsigned long long)d.writes,
				 (unsigned long long)d.addr, d.move, d.branch, d.vector);
	}
}

static void test_locks(void **state)
{
	static const struct {
		const char *text, *bytes;
		size_t size;
		bool locks;
	} each[] = {
		{ "lock xadd %eax,(%rdi)", BYTES("\xf0\x0f\xc1\x07"), true },
		{ "lock incq 8(%rax)", BYTES("\xf0\x48\xff\x40\x08"), true },
		{ "lock xadd %ax,(%rdi)", BYTES("\x66\xf0\x0f\xc1\x07"), true },
		{ "xadd %eax,(%rdi)", BYTES("\x0f\xc1\x07"), false },
		{ "xchg %rax,(%rdi)", BYTES("\x48\x87\x07"), true },
		{ "xchg %al,(%rdi)", BYTES("\x86\x07"), true },
		{ "xchg %rbx,%rcx", BYTES("\x48\x87\xd9"), false },
		{ "jbe, 0f 86", BYTES("\x0f\x86\x07"), false },
		{ "mov $0xf0,(%rdi)", BYTES("\xc6\x07\xf0"), false },
	};
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(each) / sizeof(*each); i++) {
		uint8_t bytes[16] = { 0 };

		memcpy(bytes, each[i].bytes, each[i].size);
		if (locks_line(bytes) != each[i].locks)
			fail_msg("%s", each[i].text);
	}
}

/* Whatever the bytes are, nothing but the 16 bytes is read; ASan sees to it. */
static void test_any_bytes(void **state)
{
	uint64_t seed = 1;
	unsigned int i, k;

	(void)state;
	for (i = 0; i < 2000000; i++) {
		uint8_t bytes[16];
		struct decoded d;

		for (k = 0; k < 16; k++) {
			seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
			bytes[k] = seed >> 56;
		}
		if (i % 4 == 0)
			memset(bytes, i % 8 ? 0x66 : 0xf3, i % 17);
		decode(bytes, &d);
		assert_true(!(d.addr & ~0xffffULL));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_registers),
		cmocka_unit_test(test_locks),
		cmocka_unit_test(test_any_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
