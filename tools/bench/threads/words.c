// SPDX-License-Identifier: GPL-2.0
/* False sharing: each thread adds to words of its own, which lie in the same lines. */
#include "threads.h"

#define LINES	64
#define WORDS	(LINE / 8)

static uint64_t (*word)[WORDS];

static void set_up(void *memory)
{
	word = memory;
}

static void add_to_words(unsigned int id, uint64_t times)
{
	while (times--) {
		(*(volatile uint64_t *)&word[next_random() % LINES][id])++;
		read_chunk(4);
	}
}

static bool right(void)
{
	unsigned int id, k;
	uint64_t sum;

	for (id = 0; id < run.workload->threads; id++) {
		for (sum = 0, k = 0; k < LINES; k++)
			sum += word[k][id];
		if (sum != run.rounds)
			return false;
	}
	return true;
}

const struct workload words_workloads[] = {
	{ "false", 4, false, 1500000, LINES * sizeof(*word), set_up, add_to_words, right, all, NULL },
	{ }
};
