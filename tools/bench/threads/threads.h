/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the workloads share: their description, the run, memory of a thread's own, messages, and
 * groups and chips that several of them have.
 *
 * What a thread does all the time is in here, so that it is compiled into it.
 */
#ifndef THREADS_H
#define THREADS_H

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define MOST	64	/* threads */
#define MOST_CHIPS	8
#define CHUNK	(64 << 10)
#define LARGE	(768 << 10)
#define LINE	64

/**
 * struct workload - what threads do
 * @name: of it
 * @threads: number of them; of each group, if there are as many as chips
 * @processes: each is a process
 * @rounds: on two chips, unless something else is said
 * @bytes: memory that all of them share, threads or processes
 * @set_up: is given that memory, which is 0, before they begin
 * @work: what thread id does
 * @right: is nothing missing at the end?
 * @group: number of those with whom it shares, from 1; 0: nobody
 * @chip: that the best placement gives it, NULL: none is better than another one
 */
struct workload {
	const char *name;
	unsigned int threads;
	bool processes;
	uint64_t rounds;
	size_t bytes;
	void (*set_up)(void *memory);
	void (*work)(unsigned int id, uint64_t rounds);
	bool (*right)(void);
	unsigned int (*group)(unsigned int id, uint64_t round);
	unsigned int (*chip)(unsigned int id, uint64_t round);
};

/* Each ends with one that has no name. */
extern const struct workload board_workloads[], words_workloads[], server_workloads[],
	ring_workloads[], warehouse_workloads[], chat_workloads[], hack_workloads[];

/* Memory of all of them that is no workload's */
struct shared {
	pthread_barrier_t begin, end;
	pid_t tid[MOST];
	uint64_t began[MOST], us[MOST];
	bool wrong;
};

/**
 * struct run - what was asked for
 * @workload: what is run
 * @rounds: how long
 * @chips: number of them
 * @threads: number of them
 * @by_hand: pin threads to the chips that the workload names
 * @one_chip: pin each process to a chip
 * @apart: pin each thread to where it begins
 * @marks: make marks of the virtual PMU
 * @found_in: a cgroup whose clusters are compared, or NULL
 * @then: a command to run before the threads end, or NULL
 * @shared: memory of all threads
 */
struct run {
	const struct workload *workload;
	uint64_t rounds;
	unsigned int chips, threads;
	bool by_hand, one_chip, apart, named, marks;
	const char *found_in, *then;
	struct shared *shared;
};

extern struct run run;

void make_barrier(pthread_barrier_t *barrier, unsigned int nr);

/* place.c */
void pin(unsigned int first, unsigned int nr);
void settle(unsigned int id, uint64_t round);
unsigned int as_chips(unsigned int id, uint64_t round);
unsigned int on_own_chip(unsigned int id, uint64_t round);
unsigned int all(unsigned int id, uint64_t round);
unsigned int nobody(unsigned int id, uint64_t round);

/* found.c */
void compare(void);

/* Something else, in memory of its own */

extern __thread uint8_t *chunk;
extern __thread uint32_t seed;

static inline uint32_t next_random(void)
{
	seed = seed * 1664525 + 1013904223;
	return seed >> 8;
}

static inline void read_chunk(unsigned int times)
{
	static __thread volatile uint8_t sum;

	while (times--)
		sum += chunk[next_random() % CHUNK];
}

/* Messages */

/* What one tells another one: the n'th message */
struct message {
	uint64_t nr, word[LINE / 8 - 1];
} __attribute__((aligned(LINE)));

static inline void wait_a_little(unsigned int *tries)
{
	if (++*tries % 64 == 0)
		sched_yield();
	else
		__builtin_ia32_pause();
}

static inline void send_message(struct message *m, uint64_t nr, uint64_t word)
{
	unsigned int i;

	for (i = 0; i < sizeof(m->word) / sizeof(*m->word); i++)
		m->word[i] = word + i;
	__atomic_store_n(&m->nr, nr, __ATOMIC_RELEASE);
}

/* Is it what was sent? */
static inline void check_message(const struct message *m, uint64_t word)
{
	unsigned int i;

	for (i = 0; i < sizeof(m->word) / sizeof(*m->word); i++)
		if (m->word[i] != word + i)
			run.shared->wrong = true;
}

#endif
