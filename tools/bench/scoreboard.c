// SPDX-License-Identifier: GPL-2.0
/*
 * scoreboard - threads that share, and know with whom (Azimi 2007, 3.4.2).
 *
 * usage: scoreboard [--threads N] [--boards N] [--rounds N] [--private KiB]
 *		   [--spread | --by-hand CPUS] [--tids]
 *
 * Thread i adds to entries of board i modulo boards, and reads a chunk of its own that is too
 * large for a first cache. At the end each board must have what its threads have added.
 * With --spread thread i begins on CPU i modulo what there is, and is free to go anywhere.
 * --by-hand pins the threads: those of board b to the b'th CPUS CPUs, modulo what there is, as
 * the best placement does. Prints the time, and with --tids which thread is on which board.
 */
#define _GNU_SOURCE
#include <getopt.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MOST	256
#define ENTRIES	64	/* of a board, 16 bytes each: 16 lines */

struct entry {
	uint64_t sum, pad;
};

static struct entry boards[MOST][ENTRIES] __attribute__((aligned(4096)));
static unsigned long threads = 4, nr_boards = 2, rounds = 500000, chunk_kb = 64, by_hand;
static pthread_barrier_t barrier;
static bool tids, spread;

static uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000ULL + t.tv_nsec / 1000;
}

static uint32_t next_random(uint32_t *x)
{
	*x = *x * 1664525 + 1013904223;
	return *x >> 8;
}

static void pin(unsigned long first, unsigned long nr)
{
	unsigned long i, cpus = sysconf(_SC_NPROCESSORS_ONLN);
	cpu_set_t set;

	CPU_ZERO(&set);
	for (i = 0; i < nr; i++)
		CPU_SET((first + i) % cpus, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		perror("sched_setaffinity");
}

static void *work(void *arg)
{
	unsigned long id = (unsigned long)arg, board = id % nr_boards, i, words = chunk_kb * 128;
	uint64_t *chunk = malloc(chunk_kb * 1024), sum = 0;
	uint32_t x = id * 77 + 12345;
	int k;

	if (!chunk)
		exit(2);
	memset(chunk, 1, chunk_kb * 1024);
	if (by_hand)
		pin(board * by_hand, by_hand);
	if (spread)
		pin(id, 1);
	pthread_barrier_wait(&barrier);
	if (spread)
		pin(0, sysconf(_SC_NPROCESSORS_ONLN));
	for (i = 0; i < rounds; i++) {
		__atomic_fetch_add(&boards[board][next_random(&x) % ENTRIES].sum, 1,
				   __ATOMIC_RELAXED);
		for (k = 0; k < 4; k++)
			sum += chunk[next_random(&x) % words];
	}
	if (tids)
		printf("tid %d board %lu\n", gettid(), board);
	free(chunk);
	return sum ? NULL : arg;
}

/* Has each board what its threads have added? */
static bool right(void)
{
	unsigned long b, i;
	uint64_t sum;

	for (b = 0; b < nr_boards; b++) {
		for (i = 0, sum = 0; i < ENTRIES; i++)
			sum += boards[b][i].sum;
		if (sum != rounds * (threads / nr_boards + (b < threads % nr_boards)))
			return false;
	}
	return true;
}

static unsigned long number(const char *text, unsigned long most)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (*end || !n || n > most) {
		fprintf(stderr, "scoreboard: %s is not a number from 1 to %lu\n", text, most);
		exit(2);
	}
	return n;
}

static void options(int argc, char **argv)
{
	static const struct option names[] = {
		{ "threads", 1, NULL, 't' }, { "boards", 1, NULL, 'b' },
		{ "rounds", 1, NULL, 'r' }, { "private", 1, NULL, 'p' },
		{ "by-hand", 1, NULL, 'h' }, { "tids", 0, NULL, 'i' },
		{ "spread", 0, NULL, 's' }, { }
	};
	int c;

	while ((c = getopt_long(argc, argv, "", names, NULL)) != -1) {
		switch (c) {
		case 't': threads = number(optarg, MOST); break;
		case 'b': nr_boards = number(optarg, MOST); break;
		case 'r': rounds = number(optarg, 1UL << 40); break;
		case 'p': chunk_kb = number(optarg, 1UL << 20); break;
		case 'h': by_hand = number(optarg, 1024); break;
		case 's': spread = true; break;
		case 'i': tids = true; break;
		default: exit(2);
		}
	}
}

int main(int argc, char **argv)
{
	pthread_t thread[MOST];
	unsigned long i;
	uint64_t begin;

	options(argc, argv);
	pthread_barrier_init(&barrier, NULL, threads);
	begin = now_us();
	for (i = 0; i < threads; i++)
		if (pthread_create(&thread[i], NULL, work, (void *)i))
			exit(2);
	for (i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	printf("us %" PRIu64 "\n%s\n", now_us() - begin, right() ? "right" : "WRONG");
	return !right();
}
