// SPDX-License-Identifier: GPL-2.0
/* Tests of callers.c: by hand, and random programs against stacks that are really there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "callers.h"
#include "machine.h"

#define STACK	(1ULL << VPMU_STACK_SHIFT)
#define KERNEL	(1ULL << 63)

static struct vpmu_callers *k;

static int setup(void **state)
{
	(void)state;
	k = vpmu_callers_new();
	return !k;
}

static int teardown(void **state)
{
	(void)state;
	vpmu_callers_free(k);
	return 0;
}

static void assert_callers(unsigned int cpu, unsigned int n, const uint64_t *want)
{
	uint64_t to[16];
	unsigned int i;

	assert_int_equal(vpmu_callers(k, cpu, true, to, 16), n);
	for (i = 0; i < n; i++)
		assert_int_equal(to[i], want[i]);
}

static void test_calls_and_returns(void **state)
{
	const uint64_t top = KERNEL + 8 * STACK;

	(void)state;
	assert_callers(0, 0, NULL);
	vpmu_called(k, 0, top - 8, 1);
	vpmu_called(k, 0, top - 80, 2);
	vpmu_called(k, 0, top - 800, 3);
	assert_callers(0, 3, (uint64_t[]){ 3, 2, 1 });
	vpmu_returned(k, 0, top - 800);
	assert_callers(0, 2, (uint64_t[]){ 2, 1 });
	vpmu_called(k, 0, top - 88, 4);
	assert_callers(0, 3, (uint64_t[]){ 4, 2, 1 });
	assert_callers(1, 0, NULL);
}

/* A function that ends without a return, and another task on the same stack */
static void test_what_is_over(void **state)
{
	const uint64_t top = KERNEL + 8 * STACK;

	(void)state;
	vpmu_called(k, 0, top - 8, 1);
	vpmu_called(k, 0, top - 80, 2);
	vpmu_called(k, 0, top - 160, 3);
	vpmu_called(k, 0, top - 80, 4);
	assert_callers(0, 2, (uint64_t[]){ 4, 1 });
	vpmu_called(k, 1, top - 8, 5);
	assert_callers(1, 1, (uint64_t[]){ 5 });
}

/* The return address has been copied to a lower place. */
static void test_moved(void **state)
{
	const uint64_t top = KERNEL + 8 * STACK;

	(void)state;
	vpmu_called(k, 0, top - 8, 1);
	vpmu_called(k, 0, top - 80, 2);
	vpmu_returned(k, 0, top - 160);
	vpmu_resumed(k, 0, 2);
	assert_callers(0, 1, (uint64_t[]){ 1 });
	vpmu_resumed(k, 0, 1);
	assert_callers(0, 1, (uint64_t[]){ 1 });
	/* elsewhere */
	vpmu_returned(k, 0, top - 160);
	vpmu_resumed(k, 0, 3);
	vpmu_resumed(k, 0, 1);
	assert_callers(0, 1, (uint64_t[]){ 1 });
	/* a call returns as it should, into a function that calls itself */
	vpmu_called(k, 0, top - 80, 1);
	vpmu_returned(k, 0, top - 80);
	vpmu_resumed(k, 0, 1);
	assert_callers(0, 1, (uint64_t[]){ 1 });
}

static void test_too_deep(void **state)
{
	uint64_t to[100];
	unsigned int i;

	(void)state;
	for (i = 0; i < 100; i++)
		vpmu_called(k, 0, KERNEL + 9 * STACK - 8 - 8 * i, i);
	assert_int_equal(vpmu_callers(k, 0, true, to, 100), 64);
	assert_int_equal(to[0], 99);
	assert_int_equal(to[63], 36);
	assert_int_equal(vpmu_callers(k, 0, true, to, 3), 3);
	vpmu_callers_reset(k);
	assert_int_equal(vpmu_callers(k, 0, true, to, 100), 0);
}

static void assert_user_callers(unsigned int cpu, unsigned int n, const uint64_t *want)
{
	uint64_t to[16];
	unsigned int i;

	assert_int_equal(vpmu_callers(k, cpu, false, to, 16), n);
	for (i = 0; i < n; i++)
		assert_int_equal(to[i], want[i]);
}

/* A stack of user space is its context's, wherever it lies, and on whatever CPU. */
static void test_user_stacks(void **state)
{
	const uint64_t top = 8 * STACK;

	(void)state;
	assert_user_callers(0, 0, NULL);
	vpmu_callers_context(k, 0, 7);
	assert_user_callers(0, 0, NULL);
	vpmu_called(k, 0, top + 5 * STACK, 1);
	vpmu_called(k, 0, top - 5 * STACK, 2);
	vpmu_called(k, 0, KERNEL + top - 8, 3);
	assert_user_callers(0, 2, (uint64_t[]){ 2, 1 });
	assert_callers(0, 1, (uint64_t[]){ 3 });
	/* another program with a stack at the same place */
	vpmu_callers_context(k, 0, 8);
	assert_user_callers(0, 0, NULL);
	vpmu_called(k, 0, top + 6 * STACK, 4);
	assert_user_callers(0, 1, (uint64_t[]){ 4 });
	/* elsewhere again, and known before it calls or returns */
	vpmu_callers_context(k, 1, 7);
	assert_user_callers(1, 2, (uint64_t[]){ 2, 1 });
	vpmu_returned(k, 1, top - 5 * STACK);
	assert_user_callers(1, 1, (uint64_t[]){ 1 });
	/* the kernel's ways are its own: no return of a program moves an address */
	vpmu_returned(k, 0, top);
	vpmu_resumed(k, 0, 3);
	assert_callers(0, 1, (uint64_t[]){ 3 });
	vpmu_callers_reset(k);
	assert_user_callers(0, 0, NULL);
	vpmu_called(k, 0, top, 5);
	vpmu_callers_context(k, 2, 8);
	assert_user_callers(2, 1, (uint64_t[]){ 5 });
}

/* Tasks that wander from CPU to CPU, with the stack as memory has it */
#define TASKS	7
#define CPUS	3

static struct {
	uint64_t memory[STACK / 8];	/* return addresses; 0: something else */
	uint64_t sp;			/* bytes from the bottom */
} task[TASKS];

static uint64_t bottom(unsigned int t)
{
	return KERNEL + (100 + 3 * t) * STACK;
}

/* Return: did it call or return? */
static bool random_step(unsigned int cpu, unsigned int t, unsigned int *seed)
{
	uint64_t sp = task[t].sp, room = rand_r(seed) % 4 * 8;

	if (rand_r(seed) % 2 && sp > 64 && sp > STACK - 60 * 8) {
		sp -= 8 + room;
		task[t].memory[sp / 8] = 1 + rand_r(seed);
		vpmu_called(k, cpu, bottom(t) + sp, task[t].memory[sp / 8]);
		task[t].sp = sp;
		return true;
	}
	while (sp < STACK && !task[t].memory[sp / 8])
		sp += 8;
	if (sp == STACK)
		return false;
	task[t].memory[sp / 8] = 0;
	vpmu_returned(k, cpu, bottom(t) + sp);
	task[t].sp = sp + 8;
	return true;
}

static void test_against_memory(void **state)
{
	unsigned int seed = 1, step, n, most = 0;
	uint64_t want[16], at;

	(void)state;
	for (n = 0; n < TASKS; n++)
		task[n].sp = STACK;
	for (step = 0; step < 200000; step++) {
		unsigned int cpu = rand_r(&seed) % CPUS, t = rand_r(&seed) % TASKS;

		/* it calls or returns before anybody looks, as after a switch */
		if (!random_step(cpu, t, &seed))
			continue;
		for (n = 0, at = task[t].sp; at < STACK && n < 16; at += 8)
			if (task[t].memory[at / 8])
				want[n++] = task[t].memory[at / 8];
		assert_callers(cpu, n, want);
		most = n > most ? n : most;
	}
	assert_true(most == 16);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_calls_and_returns, setup, teardown),
		cmocka_unit_test_setup_teardown(test_what_is_over, setup, teardown),
		cmocka_unit_test_setup_teardown(test_moved, setup, teardown),
		cmocka_unit_test_setup_teardown(test_too_deep, setup, teardown),
		cmocka_unit_test_setup_teardown(test_user_stacks, setup, teardown),
		cmocka_unit_test_setup_teardown(test_against_memory, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
