// SPDX-License-Identifier: GPL-2.0
/* Pairs of processes, each with a ring that one of them fills, and the other one empties. */
#include "threads.h"

#define SLOTS	256

static struct ring {
	uint64_t head __attribute__((aligned(LINE)));
	uint64_t tail __attribute__((aligned(LINE)));
	struct message slot[SLOTS];
} *rings;

static void set_up(void *memory)
{
	rings = memory;
}

static void send_all(struct ring *r, uint64_t times)
{
	unsigned int tries = 0;
	uint64_t i;

	for (i = 0; i < times; i++) {
		while (i - __atomic_load_n(&r->tail, __ATOMIC_ACQUIRE) == SLOTS)
			wait_a_little(&tries);
		send_message(&r->slot[i % SLOTS], i, i * 3);
		__atomic_store_n(&r->head, i + 1, __ATOMIC_RELEASE);
		read_chunk(4);
	}
}

static void receive_all(struct ring *r, uint64_t times)
{
	unsigned int tries = 0;
	uint64_t i;

	for (i = 0; i < times; i++) {
		while (__atomic_load_n(&r->head, __ATOMIC_ACQUIRE) == i)
			wait_a_little(&tries);
		check_message(&r->slot[i % SLOTS], i * 3);
		__atomic_store_n(&r->tail, i + 1, __ATOMIC_RELEASE);
		read_chunk(4);
	}
}

static void use_ring(unsigned int id, uint64_t times)
{
	struct ring *r = &rings[id % run.chips];

	if (id < run.chips)
		send_all(r, times);
	else
		receive_all(r, times);
}

static bool right(void)
{
	unsigned int i;

	for (i = 0; i < run.chips; i++)
		if (rings[i].tail != run.rounds)
			return false;
	return true;
}

const struct workload ring_workloads[] = {
	{ "ring", 2, true, 1500000, MOST_CHIPS * sizeof(struct ring), set_up, use_ring, right,
	  as_chips, on_own_chip },
	{ }
};
