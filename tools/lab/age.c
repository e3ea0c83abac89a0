// SPDX-License-Identifier: GPL-2.0
/*
 * age - makes a swap area look as after a long time of use, and leaves it so.
 *
 *   age SEED
 *
 * Nearly all of the area is filled. Then pieces of one to eight pages are given back at random,
 * until half of it is free again, and written anew elsewhere: three times. What stays is
 * scattered over the area, and so is the room that is left. It belongs to a process that sleeps.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#define PAGE		4096UL
#define STORMS		3
#define MAX_PIECE	8

#ifndef MADV_PAGEOUT
#define MADV_PAGEOUT	21
#endif

struct area {
	char *map, *used;	/* used: of each page, is it there? */
	size_t pages, there;
	uint64_t seed;
};

static uint64_t next_random(struct area *a)
{
	a->seed ^= a->seed << 13;
	a->seed ^= a->seed >> 7;
	a->seed ^= a->seed << 17;
	return a->seed >> 11;
}

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

/* What is written leaves memory at once. */
static void write_out(struct area *a, size_t page, size_t nr)
{
	for (size_t i = page; i < page + nr; i++) {
		*(volatile size_t *)(a->map + i * PAGE) = i + 1;
		a->there += !a->used[i];
		a->used[i] = 1;
	}
	if (madvise(a->map + page * PAGE, nr * PAGE, MADV_PAGEOUT))
		fail("age: MADV_PAGEOUT");
}

static void fill(struct area *a)
{
	for (size_t page = 0; page < a->pages; page++) {
		size_t end = page;

		while (end < a->pages && end < page + 256 && !a->used[end])
			end++;
		if (end > page) {
			write_out(a, page, end - page);
			page = end - 1;
		}
	}
}

static void give_back(struct area *a)
{
	while (a->there > a->pages / 2) {
		size_t page = next_random(a) % a->pages, nr = 1 + next_random(a) % MAX_PIECE;

		for (; nr-- && page < a->pages; page++) {
			if (madvise(a->map + page * PAGE, PAGE, MADV_DONTNEED))
				fail("age: MADV_DONTNEED");
			a->there -= a->used[page];
			a->used[page] = 0;
		}
	}
}

/* A process of its own keeps it. */
static void leave(void)
{
	pid_t pid = fork();

	if (pid < 0)
		fail("age: fork");
	if (pid)
		return;
	setsid();
	for (int fd = 0; fd < 3; fd++)
		close(fd);
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	struct area a = { .seed = argc == 2 ? strtoull(argv[1], NULL, 10) : 0 };
	struct sysinfo info;

	if (!a.seed) {
		fprintf(stderr, "usage: age SEED\n");
		return 64;
	}
	a.seed *= 0x9e3779b97f4a7c15;
	sysinfo(&info);
	a.pages = info.freeswap * info.mem_unit / PAGE / 20 * 19;
	a.used = calloc(a.pages, 1);
	a.map = mmap(NULL, a.pages * PAGE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (!a.used || a.map == MAP_FAILED)
		fail("age: no memory");
	madvise(a.map, a.pages * PAGE, MADV_NOHUGEPAGE);
	for (int storm = 0; storm < STORMS; storm++) {
		fill(&a);
		give_back(&a);
	}
	leave();
	return 0;
}
