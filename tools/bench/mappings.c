// SPDX-License-Identifier: GPL-2.0
/*
 * mappings - what calls that change an address space take with COUNT mappings of 1 MiB
 *
 * Prints microseconds of a mmap(), of a fork(), of that until the child has ended, and of
 * a munmap(). With "touch" one page of each is written before the forks.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BYTES	(1UL << 20)
#define FORKS	5

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

/* Neighbours differ, or the kernel would make them one. */
static char *map(int i)
{
	int prot = PROT_READ | PROT_WRITE | (i & 1 ? PROT_EXEC : 0);
	char *p = mmap(NULL, BYTES, prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		fail("mmap");
	return p;
}

static void time_forks(void)
{
	double began, fork_us = 0, all_us = 0;
	pid_t pid;
	int i;

	for (i = 0; i < FORKS; i++) {
		began = now_us();
		pid = fork();
		if (!pid)
			_exit(0);
		if (pid < 0)
			fail("fork");
		fork_us += now_us() - began;
		if (waitpid(pid, NULL, 0) != pid)
			fail("waitpid");
		all_us += now_us() - began;
	}
	printf("fork %.1f\nfork-exit %.1f\n", fork_us / FORKS, all_us / FORKS);
}

int main(int argc, char **argv)
{
	int i, count = argc > 1 ? atoi(argv[1]) : 0;
	char **mapping;
	double began;

	if (count <= 0 || (argc > 2 && strcmp(argv[2], "touch"))) {
		fprintf(stderr, "usage: mappings COUNT [touch]\n");
		return 2;
	}
	mapping = calloc(count, sizeof(*mapping));
	if (!mapping)
		fail("calloc");
	began = now_us();
	for (i = 0; i < count; i++)
		mapping[i] = map(i);
	printf("mmap %.2f\n", (now_us() - began) / count);
	for (i = 0; argc > 2 && i < count; i++)
		mapping[i][0] = 1;
	time_forks();
	began = now_us();
	for (i = 0; i < count; i++)
		if (munmap(mapping[i], BYTES))
			fail("munmap");
	printf("munmap %.2f\n", (now_us() - began) / count);
	return 0;
}
