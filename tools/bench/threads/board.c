// SPDX-License-Identifier: GPL-2.0
/*
 * Scoreboards: each group has one, to which its threads add (Azimi 2007, 3.4.2). In "mixed" every
 * other process only uses its cache.
 */
#include "threads.h"

#define ENTRIES	64	/* of a board, 16 bytes each: 16 lines */
#define CHANGE	500000

struct entry {
	uint64_t sum, pad;
};

static struct boards {
	struct entry board[MOST][ENTRIES];
	pthread_barrier_t change;
} *boards;

static void set_up(void *memory)
{
	boards = memory;
	make_barrier(&boards->change, run.threads);
}

/* Do some of the threads share with others than before? Then all wait for each other. */
static bool groups_change(uint64_t round)
{
	unsigned int id;

	for (id = 0; round && id < run.threads; id++)
		if (run.workload->group(id, round) != run.workload->group(id, round - 1))
			return true;
	return false;
}

static void add_to_board(unsigned int id, uint64_t times)
{
	unsigned int board = 0;
	uint64_t i;

	for (i = 0; i < times; i++) {
		if (i % CHANGE == 0) {
			board = run.workload->group(id, i) ?: 1 + id;
			if (groups_change(i)) {
				pthread_barrier_wait(&boards->change);
				settle(id, i);
			}
		}
		__atomic_fetch_add(&boards->board[board - 1][next_random() % ENTRIES].sum, 1,
				   __ATOMIC_RELAXED);
		read_chunk(4);
	}
}

static void use_cache(uint64_t times)
{
	while (times--)
		chunk[next_random() % LARGE]++;
}

static void mix(unsigned int id, uint64_t times)
{
	if (id % 2)
		use_cache(4 * times);
	else
		add_to_board(id, times);
}

/* Has each board what its threads have added? */
static bool right(void)
{
	uint64_t sum = 0, want = 0;
	unsigned int i, k;

	for (i = 0; i < MOST; i++)
		for (k = 0; k < ENTRIES; k++)
			sum += boards->board[i][k].sum;
	for (i = 0; i < run.threads; i++)
		want += run.workload->work == mix && i % 2 ? 0 : run.rounds;
	return sum == want;
}

static unsigned int in_changing_pairs(unsigned int id, uint64_t round)
{
	return 1 + (round / CHANGE % 2 ? id % 2 ^ id / 2 : id % 2);
}

static unsigned int three(unsigned int id, uint64_t round)
{
	(void)round;
	return id < 3;
}

static unsigned int even(unsigned int id, uint64_t round)
{
	(void)round;
	return id % 2 == 0;
}

static unsigned int parity(unsigned int id, uint64_t round)
{
	(void)round;
	return id % 2;
}

const struct workload board_workloads[] = {
	{ "board", 2, false, 1500000, sizeof(struct boards), set_up, add_to_board, right,
	  as_chips, on_own_chip },
	{ "many", 4, false, 750000, sizeof(struct boards), set_up, add_to_board, right,
	  as_chips, on_own_chip },
	{ "changing", 4, false, 3000000, sizeof(struct boards), set_up, add_to_board, right,
	  in_changing_pairs, on_own_chip },
	{ "large", 4, false, 1500000, sizeof(struct boards), set_up, add_to_board, right,
	  three, NULL },
	{ "all", 4, false, 1500000, sizeof(struct boards), set_up, add_to_board, right, all, NULL },
	{ "none", 4, false, 1500000, sizeof(struct boards), set_up, add_to_board, right,
	  nobody, NULL },
	{ "mixed", 4, true, 1500000, sizeof(struct boards), set_up, mix, right, even, parity },
	{ }
};
