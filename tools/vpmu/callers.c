// SPDX-License-Identifier: GPL-2.0
/*
 * See callers.h.
 *
 * Stacks are aligned to their size, so an address tells which one it is on. They grow
 * downward: when a return address is written or read at sp, what was at sp and below is of calls
 * that are over, however they ended. So no task and no interrupt need be told to us, and who
 * begins with an empty stack finds nothing of the stack's last owner.
 *
 * User space has one stack for each context, wherever that lies, because other programs have theirs
 * at the same addresses.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "callers.h"
#include "machine.h"

#define STACKS_SHIFT	10
#define DEPTH		64
#define USER_STACK	(1ULL << 63)	/* no stack of the kernel has such a number */

struct frame {
	uint64_t sp;		/* where the return address lies */
	uint64_t back;		/* the return address */
};

/**
 * struct stack - return addresses on a stack
 * @key: its number plus 1, or the context with USER_STACK; 0: none
 * @depth: number of frames
 * @frame: the oldest one first; more than DEPTH of them: the oldest are forgotten
 */
struct stack {
	uint64_t key;
	unsigned int depth;
	struct frame frame[DEPTH];
};

/**
 * struct vpmu_callers - all stacks
 * @stack: by a hash of their numbers; of two with the same hash one is forgotten
 * @current: where each CPU has called or returned last, in user mode [0] and in the kernel [1]
 * @context: whose code each CPU executes
 * @moved: its last return was by an address that no call had put there
 */
struct vpmu_callers {
	struct stack stack[1 << STACKS_SHIFT];
	struct stack *current[VPMU_MAX_CPUS][2];
	uint32_t context[VPMU_MAX_CPUS];
	bool moved[VPMU_MAX_CPUS];
};

/* Return: nothing known yet, for vpmu_callers_free(), or NULL without memory */
struct vpmu_callers *vpmu_callers_new(void)
{
	return calloc(1, sizeof(struct vpmu_callers));
}

void vpmu_callers_free(struct vpmu_callers *k)
{
	free(k);
}

/* Nothing is known. The CPUs' contexts stay. */
void vpmu_callers_reset(struct vpmu_callers *k)
{
	memset(k->stack, 0, sizeof(k->stack));
	memset(k->moved, 0, sizeof(k->moved));
}

static bool in_kernel(uint64_t sp)
{
	return sp >> 63;
}

/* Where a stack is, unless another one is there */
static struct stack *place_of(struct vpmu_callers *k, uint64_t key)
{
	return &k->stack[key * 0x9e3779b97f4a7c15ULL >> (64 - STACKS_SHIFT)];
}

/* The stack that @sp is on, where @cpu is now */
static struct stack *stack_at(struct vpmu_callers *k, unsigned int cpu, uint64_t sp)
{
	uint64_t key = in_kernel(sp) ? (sp >> VPMU_STACK_SHIFT) + 1 : USER_STACK | k->context[cpu];
	struct stack *s = place_of(k, key);

	if (s->key != key) {
		s->key = key;
		s->depth = 0;
	}
	k->current[cpu][in_kernel(sp)] = s;
	return s;
}

/* Calls that are over. Return: was one of them at @sp? */
static bool forget(struct stack *s, uint64_t sp)
{
	uint64_t last = 0;

	while (s->depth && s->frame[s->depth - 1].sp <= sp)
		last = s->frame[--s->depth].sp;
	return last == sp;
}

/**
 * vpmu_callers_context() - a CPU executes somebody else's code
 * @k: all stacks
 * @cpu: which
 * @context: whose
 */
void vpmu_callers_context(struct vpmu_callers *k, unsigned int cpu, uint32_t context)
{
	k->context[cpu] = context;
	k->current[cpu][0] = place_of(k, USER_STACK | context);
}

/**
 * vpmu_called() - a call
 * @k: all stacks
 * @cpu: by whom
 * @sp: where it put the return address
 * @back: that
 */
void vpmu_called(struct vpmu_callers *k, unsigned int cpu, uint64_t sp, uint64_t back)
{
	struct stack *s = stack_at(k, cpu, sp);

	forget(s, sp);
	k->moved[cpu] = false;
	if (s->depth == DEPTH) {
		s->depth--;
		memmove(&s->frame[0], &s->frame[1], s->depth * sizeof(s->frame[0]));
	}
	s->frame[s->depth++] = (struct frame){ sp, back };
}

/**
 * vpmu_returned() - a return
 * @k: all stacks
 * @cpu: by whom
 * @sp: where the return address was
 */
void vpmu_returned(struct vpmu_callers *k, unsigned int cpu, uint64_t sp)
{
	bool known = forget(stack_at(k, cpu, sp), sp);

	k->moved[cpu] = in_kernel(sp) && !known;
}

/**
 * vpmu_resumed() - a block begins
 * @k: all stacks
 * @cpu: by whom
 * @address: of the block
 *
 * Code that enters the kernel moves its return address down, over the registers that it saves.
 */
void vpmu_resumed(struct vpmu_callers *k, unsigned int cpu, uint64_t address)
{
	struct stack *s = k->current[cpu][1];

	if (!k->moved[cpu])
		return;
	k->moved[cpu] = false;
	if (s->depth && s->frame[s->depth - 1].back == address)
		s->depth--;
}

/**
 * vpmu_callers() - where the function that a CPU is in returns to, and so on
 * @k: all stacks
 * @cpu: the CPU
 * @kernel: in the kernel, or in user mode
 * @to: result: the innermost one first
 * @most: room in @to
 *
 * Return: their number
 */
unsigned int vpmu_callers(const struct vpmu_callers *k, unsigned int cpu, bool kernel,
			  uint64_t *to, unsigned int most)
{
	const struct stack *s = k->current[cpu][kernel];
	unsigned int i;

	/* another context's stack has had its place since */
	if (!s || (!kernel && s->key != (USER_STACK | k->context[cpu])))
		return 0;
	for (i = 0; i < most && i < s->depth; i++)
		to[i] = s->frame[s->depth - 1 - i].back;
	return i;
}
