// SPDX-License-Identifier: GPL-2.0
/* The parallel clock, and turns. See clock.h. */
#include <dlfcn.h>
#include <stddef.h>

#include "clock.h"

/* Fields of QEMU 7.2's timers_state, bytes */
#define SEQUENCE	16	/* odd while it changes */
#define LOCK		20
#define BIAS		40	/* what is added to executed instructions, ns */
#define EXECUTED	64	/* instructions */

/* A bias this large is no other field by accident, ns */
#define TELLING		1000000
#define MOST_MISSES	8

static char *timers;
static int64_t (*icount_get)(void), (*icount_get_raw)(void);
static void *(*qemu_get_cpu)(int nr);
static void (*cpu_exit)(void *cpu);
static void (*async_run_on_cpu)(void *cpu, void (*fn)(void *cpu, uint64_t data), uint64_t data);

static enum { UNKNOWN, ASKED, FOUND, NONE } state;
static unsigned int misses;

/**
 * vpmu_turn_ns() - what the end of a turn adds to the clock
 * @t: who ran how long
 * @cpu: whose turn it was
 * @cycles: of it
 * @insns: instructions in it, for which QEMU's clock has advanced already
 *
 * Return: nanoseconds
 */
uint64_t vpmu_turn_ns(struct vpmu_turns *t, unsigned int cpu, uint64_t cycles, uint64_t insns)
{
	uint64_t ns = cycles - insns, others, idle = 0;

	t->ran += cycles;
	others = t->ran - t->since[cpu];
	if (others < cycles * t->cpus)
		idle = cycles * t->cpus - others;
	t->ran += idle;
	t->since[cpu] = t->ran;
	return ns + idle;
}

/**
 * vpmu_clock_init() - look for QEMU's symbols
 *
 * Return: true: turns can be ended
 */
bool vpmu_clock_init(void)
{
	void *qemu = dlopen(NULL, RTLD_LAZY);

	timers = dlsym(qemu, "timers_state");
	icount_get = (int64_t (*)(void))dlsym(qemu, "icount_get");
	icount_get_raw = (int64_t (*)(void))dlsym(qemu, "icount_get_raw");
	async_run_on_cpu = (void (*)(void *, void (*)(void *, uint64_t), uint64_t))
			   dlsym(qemu, "async_run_on_cpu");
	qemu_get_cpu = (void *(*)(int))dlsym(qemu, "qemu_get_cpu");
	cpu_exit = (void (*)(void *))dlsym(qemu, "cpu_exit");
	if (!timers || !icount_get || !icount_get_raw || !async_run_on_cpu || !qemu_get_cpu)
		state = NONE;
	return qemu_get_cpu && cpu_exit;
}

static int64_t field(size_t offset)
{
	return __atomic_load_n((int64_t *)(timers + offset), __ATOMIC_RELAXED);
}

/*
 * Between two blocks, where QEMU may be asked for the time. Without -icount there is no bias. QEMU's
 * other threads may change it at any time, so one miss does not tell.
 */
static void check(void *cpu, uint64_t unused)
{
	int64_t executed = icount_get_raw(), bias = icount_get() - executed;

	(void)cpu;
	(void)unused;
	state = UNKNOWN;
	if (bias < TELLING)
		return;
	if (field(BIAS) == bias && field(EXECUTED) == executed)
		state = FOUND;
	else if (++misses == MOST_MISSES)
		state = NONE;
}

/**
 * vpmu_clock_found() - is there a clock that can be advanced?
 * @cpu: that runs
 *
 * The answer comes some time after the first question.
 */
bool vpmu_clock_found(unsigned int cpu)
{
	if (state == UNKNOWN) {
		state = ASKED;
		async_run_on_cpu(qemu_get_cpu(cpu), check, 0);
	}
	return state == FOUND;
}

/**
 * vpmu_clock_advance() - let time pass
 * @ns: nanoseconds
 *
 * Only when the clock was found. Under QEMU's own lock: other threads read the clock.
 */
void vpmu_clock_advance(uint64_t ns)
{
	int *lock = (int *)(timers + LOCK);
	unsigned int *sequence = (unsigned int *)(timers + SEQUENCE);

	while (__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE))
		;
	__atomic_add_fetch(sequence, 1, __ATOMIC_SEQ_CST);
	__atomic_add_fetch((int64_t *)(timers + BIAS), ns, __ATOMIC_SEQ_CST);
	__atomic_add_fetch(sequence, 1, __ATOMIC_SEQ_CST);
	__atomic_store_n(lock, 0, __ATOMIC_RELEASE);
}

/**
 * vpmu_clock_end_turn() - let QEMU look at its timers, and the next CPU run
 * @cpu: that runs
 */
void vpmu_clock_end_turn(unsigned int cpu)
{
	cpu_exit(qemu_get_cpu(cpu));
}
