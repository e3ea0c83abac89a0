// SPDX-License-Identifier: GPL-2.0
/*
 * example - a program that tells what its regions wait for
 *
 * usage: example [exact] [ROUNDS]
 *
 * It follows a chain through 8 MiB, divides, and adds, in turn, and prints each region as cpu.stalls
 * would show it. With exact its rounds are short, and the kernel is called at each change.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hpc.h"

enum { CHASE = 1, DIVIDE, ADD };

static const char *const names[] = { "rest", "chase", "divide", "add" };
static uint32_t chain[8 << 18];

static uint64_t chase(unsigned int steps, uint64_t x)
{
	while (steps--) {
		x = x * 6364136223846793005ULL + 1442695040888963407ULL;
		x += chain[(x >> 43) % (sizeof(chain) / sizeof(*chain))];
	}
	return x;
}

static uint64_t divide(unsigned int steps, uint64_t x)
{
	while (steps--)
		x = x / (x >> 50 | 3) + 0x123456789abcdefULL;
	return x;
}

static uint64_t add(unsigned int steps, uint64_t x)
{
	while (steps--) {
		x += steps ^ x << 1;
		__asm__ __volatile__("" : "+r"(x));
	}
	return x;
}

static uint64_t work(struct hpc *h, unsigned int scale, unsigned int rounds)
{
	uint64_t x = 1;

	while (rounds--) {
		hpc_begin(h, CHASE);
		x = chase(scale, x);
		hpc_end(h);
		hpc_begin(h, DIVIDE);
		x = divide(scale, x);
		hpc_end(h);
		hpc_begin(h, ADD);
		x = add(4 * scale, x);
		hpc_end(h);
	}
	return x;
}

int main(int argc, char **argv)
{
	int exact = argc > 1 && !strcmp(argv[1], "exact");
	unsigned int rounds = argc > 1 + exact ? strtoul(argv[1 + exact], NULL, 10) : 0, i;
	struct hpc *h = hpc_open(0, exact ? HPC_EXACT : 0);
	struct hpc_cycles c;
	uint64_t x;

	if (!h)
		fprintf(stderr, "example: /dev/hpc: %s; it runs without\n", strerror(errno));
	memset(chain, 1, sizeof(chain));
	x = work(h, exact ? 200 : 20000, rounds ? rounds : exact ? 10000 : 300);
	printf("result %llx\n", (unsigned long long)x);
	if (!h)
		return 0;
	hpc_update(h);
	for (i = 0; i < 4; i++) {
		printf("\n%s\n", names[i]);
		hpc_print(h, i, stdout);
	}
	printf("\nthread\n");
	hpc_print(h, HPC_THREAD, stdout);
	hpc_cycles(h, HPC_THREAD, &c);
	printf("mixed %llu\nlost %llu\n", (unsigned long long)c.mixed, (unsigned long long)c.lost);
	hpc_close(h);
	return 0;
}
