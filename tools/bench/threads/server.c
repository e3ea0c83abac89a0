// SPDX-License-Identifier: GPL-2.0
/* Thread 0 answers what the others ask. */
#include "threads.h"

static struct calls {
	struct message asked[MOST], answered[MOST];
} *calls;

static void set_up(void *memory)
{
	calls = memory;
}

/* Wait for message @nr. */
static void wait_for(const struct message *m, uint64_t nr)
{
	unsigned int tries = 0;

	while (__atomic_load_n(&m->nr, __ATOMIC_ACQUIRE) != nr)
		wait_a_little(&tries);
}

static void ask(unsigned int id, uint64_t times)
{
	uint64_t i;

	for (i = 1; i <= times; i++) {
		send_message(&calls->asked[id], i, i);
		read_chunk(8);
		wait_for(&calls->answered[id], i);
		check_message(&calls->answered[id], i * 5);
	}
}

static void answer(uint64_t times)
{
	uint64_t answered[MOST] = { }, nr, left = times * (run.threads - 1);
	unsigned int id, tries = 0;

	while (left) {
		for (id = 1; id < run.threads; id++) {
			nr = __atomic_load_n(&calls->asked[id].nr, __ATOMIC_ACQUIRE);
			if (nr == answered[id])
				continue;
			check_message(&calls->asked[id], nr);
			read_chunk(2);
			send_message(&calls->answered[id], nr, nr * 5);
			answered[id] = nr;
			tries = 0;
			left--;
		}
		wait_a_little(&tries);
	}
}

static void serve(unsigned int id, uint64_t times)
{
	if (id)
		ask(id, times);
	else
		answer(times);
}

static bool right(void)
{
	unsigned int id;

	for (id = 1; id < run.threads; id++)
		if (calls->answered[id].nr != run.rounds)
			return false;
	return true;
}

const struct workload server_workloads[] = {
	{ "server", 4, false, 500000, sizeof(struct calls), set_up, serve, right, all, NULL },
	{ }
};
