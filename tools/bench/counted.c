// SPDX-License-Identifier: GPL-2.0
/*
 * counted - threads for counters to count, pinned to CPUs.
 *
 * usage: counted CASE ROUNDS CPU...
 *
 * share: each thread adds to a word of its own, all in one cache line. apart: in lines of their
 * own. miss: each walks through 256 KiB of its own, a word of each line, and so misses L1.
 * phases: as miss and as apart in turn, each for ROUNDS microseconds, for four seconds.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOST	64
#define WALK	(256 << 10)
#define LINE	64
#define PHASES	4000000		/* us */

static volatile long words[MOST * 32] __attribute__((aligned(4096)));
static char walked[MOST][WALK] __attribute__((aligned(4096)));
static unsigned long rounds;
static unsigned int apart, nr;
static int miss, phases;

struct thread {
	pthread_t id;
	unsigned int nr;
	int cpu;
};

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		perror("counted: CPU");
}

static void walk(volatile char *memory, unsigned long from, unsigned long to)
{
	unsigned long i;

	/* some work for each line: a miss in about 12 instructions */
	for (i = from; i < to; i++) {
		(void)memory[i * LINE % WALK];
		__asm__ __volatile__("nop\nnop\nnop\nnop\nnop");
	}
}

static void add(volatile long *word, unsigned long n)
{
	while (n--)
		++*word;
}

static unsigned long now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void take_turns(const struct thread *t)
{
	unsigned long begin = now_us(), at = 0, us;

	while ((us = now_us() - begin) < PHASES) {
		if (us / rounds % 2) {
			add(&words[t->nr * apart], 1000);
		} else {
			walk(walked[t->nr], at, at + 100);
			at += 100;
		}
	}
}

static void *run(void *data)
{
	struct thread *t = data;

	pin(t->cpu);
	if (phases)
		take_turns(t);
	else if (miss)
		walk(walked[t->nr], 0, rounds);
	else
		add(&words[t->nr * apart], rounds);
	return NULL;
}

int main(int argc, char **argv)
{
	struct thread threads[MOST];
	unsigned int i;

	if (argc < 4 || argc > MOST + 3) {
		fputs("usage: counted share|apart|miss|phases ROUNDS CPU...\n", stderr);
		return 2;
	}
	miss = !strcmp(argv[1], "miss");
	phases = !strcmp(argv[1], "phases");
	apart = strcmp(argv[1], "share") ? 32 : 1;
	rounds = strtoul(argv[2], NULL, 10);
	nr = argc - 3;
	for (i = 0; i < nr; i++) {
		threads[i].nr = i;
		threads[i].cpu = atoi(argv[i + 3]);
		if (pthread_create(&threads[i].id, NULL, run, &threads[i]))
			return 1;
	}
	for (i = 0; i < nr; i++)
		pthread_join(threads[i].id, NULL);
	return 0;
}
