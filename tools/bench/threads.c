// SPDX-License-Identifier: GPL-2.0
/*
 * threads - threads, or processes, that know with whom they share (Azimi 2007, 3.4).
 *
 * usage: threads WORKLOAD [--rounds N] [--chips N] [--by-hand | --one-chip | --apart]
 *		[--found CGROUP] [--marks] [--then COMMAND]
 *
 * board	4 threads; two each add to a scoreboard, and read a chunk of their own that is too
 *		large for a first cache, as in all that follow
 * many		the same with 8 threads
 * changing	the same with 4, and each CHANGE rounds they share with somebody else
 * large	the same with 4, three of which share
 * all, none	all add to one scoreboard; each adds to one of its own
 * false	each adds to words of its own, which lie in the same lines
 * server	thread 0 answers what the others ask
 * ring		4 processes; two each have a ring in memory that they share
 * mixed	4 processes; two share a scoreboard, the others use most of a second cache each
 *
 * At the end nothing that was added, asked or sent must be missing. Thread i begins on CPU i,
 * modulo what there is, and is free to go anywhere. So those that share begin on different chips.
 * --by-hand pins them to chips as the best placement does. --one-chip pins each process to a chip.
 * --apart pins them where they begin, so that nobody can help them.
 * --found reads cpu.cluster.tasks before they end, and compares. --marks makes marks 0 and 1 of the
 * virtual PMU when all begin and when all are done. --then runs a command before they end.
 *
 * Prints "began_us", the time when the first one began, "us", how long it took until the last one
 * was done, "mean_us", that of each, and with --found
 * "rand", the adjusted Rand index of clusters found and own ones: 1 if they are the same, and 0 if
 * they could as well be chance.
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
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "marked.h"

#define MOST	8
#define ENTRIES	64	/* of a board, 16 bytes each: 16 lines */
#define SLOTS	256	/* of a ring */
#define CHANGE	500000
#define CHUNK	(64 << 10)
#define LARGE	(768 << 10)
#define LINE	64

struct entry {
	uint64_t sum, pad;
};

/* What one tells another one: the n'th message */
struct message {
	uint64_t nr, word[LINE / 8 - 1];
} __attribute__((aligned(LINE)));

struct ring {
	uint64_t head __attribute__((aligned(LINE)));
	uint64_t tail __attribute__((aligned(LINE)));
	struct message slot[SLOTS];
};

/* Memory of all of them, threads or processes */
struct shared {
	struct entry board[MOST][ENTRIES];
	uint64_t word[ENTRIES][MOST];
	struct ring ring[MOST];
	struct message asked[MOST], answered[MOST];
	pthread_barrier_t begin, change, end;
	pid_t tid[MOST];
	uint64_t began[MOST], us[MOST];
	bool wrong;
};

/**
 * struct workload - what threads do
 * @name: of it
 * @threads: number of them
 * @processes: each is a process
 * @rounds: unless something else is said
 * @work: what thread id does
 * @group: number of those with whom it shares, from 1; 0: nobody
 * @chip: that the best placement gives it, NULL: none is better than another one
 */
struct workload {
	const char *name;
	unsigned int threads;
	bool processes;
	uint64_t rounds;
	void (*work)(unsigned int id, uint64_t rounds);
	unsigned int (*group)(unsigned int id, uint64_t round);
	unsigned int (*chip)(unsigned int id, uint64_t round);
};

static struct shared *shared;
static const struct workload *workload;
static uint64_t rounds;
static unsigned int chips = 2;
static bool by_hand, one_chip, apart, marks;
static const char *found_in, *then;
static __thread uint8_t *chunk;
static __thread uint32_t seed;

static uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000ULL + t.tv_nsec / 1000;
}

static uint32_t next_random(void)
{
	seed = seed * 1664525 + 1013904223;
	return seed >> 8;
}

static unsigned int nr_cpus(void)
{
	return sysconf(_SC_NPROCESSORS_ONLN);
}

/* To some CPUs that follow each other */
static void pin(unsigned int first, unsigned int nr)
{
	cpu_set_t set;
	unsigned int i;

	CPU_ZERO(&set);
	for (i = 0; i < nr; i++)
		CPU_SET((first + i) % nr_cpus(), &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		perror("sched_setaffinity");
}

static void pin_to_chip(unsigned int chip)
{
	unsigned int cpus = nr_cpus() / chips;

	pin(chip % chips * cpus, cpus);
}

/* Where it belongs in this round */
static void settle(unsigned int id, uint64_t round)
{
	if (by_hand && workload->chip)
		pin_to_chip(workload->chip(id, round));
	else if (one_chip)
		pin_to_chip(workload->processes ? id * chips / workload->threads : 0);
	else if (apart)
		pin(id, 1);
	else
		pin(0, nr_cpus());
}

/* Something else, in memory of its own */
static void read_chunk(unsigned int times)
{
	static __thread volatile uint8_t sum;

	while (times--)
		sum += chunk[next_random() % CHUNK];
}

static void wait_a_little(unsigned int *tries)
{
	if (++*tries % 64 == 0)
		sched_yield();
	else
		__builtin_ia32_pause();
}

/* Wait for message @nr. */
static void wait_for(const struct message *m, uint64_t nr)
{
	unsigned int tries = 0;

	while (__atomic_load_n(&m->nr, __ATOMIC_ACQUIRE) != nr)
		wait_a_little(&tries);
}

static void send(struct message *m, uint64_t nr, uint64_t word)
{
	unsigned int i;

	for (i = 0; i < sizeof(m->word) / sizeof(*m->word); i++)
		m->word[i] = word + i;
	__atomic_store_n(&m->nr, nr, __ATOMIC_RELEASE);
}

/* Is it what was sent? */
static void check(const struct message *m, uint64_t word)
{
	unsigned int i;

	for (i = 0; i < sizeof(m->word) / sizeof(*m->word); i++)
		if (m->word[i] != word + i)
			shared->wrong = true;
}

/* Work */

/* Do some of the threads share with others than before? Then all wait for each other. */
static bool groups_change(uint64_t round)
{
	unsigned int id;

	for (id = 0; round && id < workload->threads; id++)
		if (workload->group(id, round) != workload->group(id, round - 1))
			return true;
	return false;
}

static void add_to_board(unsigned int id, uint64_t times)
{
	unsigned int board = 0;
	uint64_t i;

	for (i = 0; i < times; i++) {
		if (i % CHANGE == 0) {
			board = workload->group(id, i) ?: 1 + id;
			if (groups_change(i)) {
				pthread_barrier_wait(&shared->change);
				settle(id, i);
			}
		}
		__atomic_fetch_add(&shared->board[board - 1][next_random() % ENTRIES].sum, 1,
				   __ATOMIC_RELAXED);
		read_chunk(4);
	}
}

static void add_to_words(unsigned int id, uint64_t times)
{
	while (times--) {
		(*(volatile uint64_t *)&shared->word[next_random() % ENTRIES][id])++;
		read_chunk(4);
	}
}

static void use_cache(unsigned int id, uint64_t times)
{
	(void)id;
	while (times--)
		chunk[next_random() % LARGE]++;
}

static void mix(unsigned int id, uint64_t times)
{
	if (id % 2)
		use_cache(id, 4 * times);
	else
		add_to_board(id, times);
}

static void send_all(struct ring *r, uint64_t times)
{
	unsigned int tries = 0;
	uint64_t i;

	for (i = 0; i < times; i++) {
		while (i - __atomic_load_n(&r->tail, __ATOMIC_ACQUIRE) == SLOTS)
			wait_a_little(&tries);
		send(&r->slot[i % SLOTS], i, i * 3);
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
		check(&r->slot[i % SLOTS], i * 3);
		__atomic_store_n(&r->tail, i + 1, __ATOMIC_RELEASE);
		read_chunk(4);
	}
}

static void use_ring(unsigned int id, uint64_t times)
{
	struct ring *r = &shared->ring[id % 2];

	if (id < 2)
		send_all(r, times);
	else
		receive_all(r, times);
}

static void ask(unsigned int id, uint64_t times)
{
	uint64_t i;

	for (i = 1; i <= times; i++) {
		send(&shared->asked[id], i, i);
		read_chunk(8);
		wait_for(&shared->answered[id], i);
		check(&shared->answered[id], i * 5);
	}
}

static void answer(uint64_t times)
{
	uint64_t answered[MOST] = { }, nr, left = times * (workload->threads - 1);
	unsigned int id, tries = 0;

	while (left) {
		for (id = 1; id < workload->threads; id++) {
			nr = __atomic_load_n(&shared->asked[id].nr, __ATOMIC_ACQUIRE);
			if (nr == answered[id])
				continue;
			check(&shared->asked[id], nr);
			read_chunk(2);
			send(&shared->answered[id], nr, nr * 5);
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

/* Groups, and where they belong */

static unsigned int in_pairs(unsigned int id, uint64_t round)
{
	(void)round;
	return 1 + id % 2;
}

static unsigned int on_two_chips(unsigned int id, uint64_t round)
{
	return workload->group(id, round) - 1;
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

static unsigned int all(unsigned int id, uint64_t round)
{
	(void)id;
	(void)round;
	return 1;
}

static unsigned int nobody(unsigned int id, uint64_t round)
{
	(void)id;
	(void)round;
	return 0;
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

static const struct workload workloads[] = {
	{ "board",    4, false, 1500000, add_to_board, in_pairs, on_two_chips },
	{ "many",     8, false,  750000, add_to_board, in_pairs, on_two_chips },
	{ "changing", 4, false, 3000000, add_to_board, in_changing_pairs, on_two_chips },
	{ "large",    4, false, 1500000, add_to_board, three, NULL },
	{ "all",      4, false, 1500000, add_to_board, all, NULL },
	{ "none",     4, false, 1500000, add_to_board, nobody, NULL },
	{ "false",    4, false, 1500000, add_to_words, all, NULL },
	{ "server",   4, false,  500000, serve, all, NULL },
	{ "ring",     4, true,  1500000, use_ring, in_pairs, on_two_chips },
	{ "mixed",    4, true,  1500000, mix, even, parity },
};

/* Results */

/* Has each board what its threads have added? */
static bool boards_right(void)
{
	uint64_t sum = 0, want = 0;
	unsigned int i, k;

	for (i = 0; i < MOST; i++)
		for (k = 0; k < ENTRIES; k++)
			sum += shared->board[i][k].sum;
	for (i = 0; i < workload->threads; i++)
		want += workload->work == add_to_board ||
			(workload->work == mix && i % 2 == 0) ? rounds : 0;
	return sum == want;
}

static bool words_right(void)
{
	unsigned int id, k;
	uint64_t sum;

	for (id = 0; id < workload->threads; id++) {
		for (sum = 0, k = 0; k < ENTRIES; k++)
			sum += shared->word[k][id];
		if (sum != (workload->work == add_to_words ? rounds : 0))
			return false;
	}
	return true;
}

static bool right(void)
{
	return boards_right() && words_right() && !shared->wrong;
}

/* Clusters by cpu.cluster.tasks; one of its own for who is in none, or not there. */
static bool read_found(unsigned int *found)
{
	unsigned int i, tid, cluster;
	char name[4096];
	FILE *file;

	for (i = 0; i < workload->threads; i++)
		found[i] = UINT32_MAX - i;
	snprintf(name, sizeof(name), "%s/cpu.cluster.tasks", found_in);
	file = fopen(name, "r");
	if (!file)
		return false;
	while (fscanf(file, "%u %u %*[^\n]", &tid, &cluster) == 2)
		for (i = 0; i < workload->threads; i++)
			if (shared->tid[i] == (pid_t)tid && cluster)
				found[i] = cluster;
	fclose(file);
	return true;
}

/* Adjusted Rand index, by pairs of threads that are together in one, the other, or both */
static double rand_index(const unsigned int *a, const unsigned int *b, unsigned int nr)
{
	double in_a = 0, in_b = 0, in_both = 0, all_pairs = nr * (nr - 1) / 2., chance;
	unsigned int i, k;

	for (i = 0; i < nr; i++)
		for (k = 0; k < i; k++) {
			in_a += a[i] == a[k];
			in_b += b[i] == b[k];
			in_both += a[i] == a[k] && b[i] == b[k];
		}
	chance = in_a * in_b / all_pairs;
	if ((in_a + in_b) / 2 == chance)	/* both the same, and trivial */
		return 1;
	return (in_both - chance) / ((in_a + in_b) / 2 - chance);
}

static void compare(void)
{
	unsigned int i, found[MOST], own[MOST];

	if (!read_found(found)) {
		perror(found_in);
		exit(2);
	}
	for (i = 0; i < workload->threads; i++)
		own[i] = workload->group(i, rounds - 1) ?: MOST + i;
	printf("rand %.3f\n", rand_index(own, found, workload->threads));
}

static void report(void)
{
	uint64_t first = UINT64_MAX, last = 0, sum = 0;
	unsigned int i;

	for (i = 0; i < workload->threads; i++) {
		if (shared->began[i] < first)
			first = shared->began[i];
		sum += shared->us[i];
		if (shared->us[i] > last)
			last = shared->us[i];
	}
	printf("began_us %" PRIu64 "\nus %" PRIu64 "\nmean_us %" PRIu64 "\n%s\n", first, last,
	       sum / workload->threads, right() ? "right" : "WRONG");
}

/* Threads and processes */

static void *play(void *arg)
{
	unsigned int id = (unsigned long)arg;

	chunk = malloc(LARGE);
	if (!chunk)
		exit(2);
	memset(chunk, 1, LARGE);
	seed = id * 77 + 12345;
	shared->tid[id] = gettid();
	pin(id, 1);
	pthread_barrier_wait(&shared->begin);
	if (marks && !id)
		mark(0);
	shared->began[id] = now_us();
	settle(id, 0);
	workload->work(id, rounds);
	shared->us[id] = now_us() - shared->began[id];
	pthread_barrier_wait(&shared->end);
	pthread_barrier_wait(&shared->end);
	free(chunk);
	return NULL;
}

static void make_barrier(pthread_barrier_t *barrier, unsigned int nr)
{
	pthread_barrierattr_t attr;

	pthread_barrierattr_init(&attr);
	pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(barrier, &attr, nr);
}

static void begin_one(unsigned long id, pthread_t *thread)
{
	pid_t pid;

	if (!workload->processes) {
		if (pthread_create(thread, NULL, play, (void *)id))
			exit(2);
		return;
	}
	pid = fork();
	if (pid < 0)
		exit(2);
	if (!pid) {
		play((void *)id);
		_exit(0);
	}
}

static void run(void)
{
	pthread_t thread[MOST];
	unsigned int i;

	make_barrier(&shared->begin, workload->threads);
	make_barrier(&shared->change, workload->threads);
	make_barrier(&shared->end, workload->threads + 1);
	for (i = 0; i < workload->threads; i++)
		begin_one(i, &thread[i]);
	pthread_barrier_wait(&shared->end);
	if (marks)
		mark(1);
	if (found_in)
		compare();
	if (then && system(then))
		exit(2);
	pthread_barrier_wait(&shared->end);
	for (i = 0; i < workload->threads; i++)
		if (workload->processes)
			wait(NULL);
		else
			pthread_join(thread[i], NULL);
}

static uint64_t number(const char *text, uint64_t most)
{
	char *end;
	uint64_t n = strtoull(text, &end, 10);

	if (*end || !n || n > most) {
		fprintf(stderr, "threads: %s is not a number from 1 to %" PRIu64 "\n", text, most);
		exit(2);
	}
	return n;
}

static const struct workload *find(const char *name)
{
	unsigned int i;

	for (i = 0; i < sizeof(workloads) / sizeof(*workloads); i++)
		if (name && !strcmp(workloads[i].name, name))
			return &workloads[i];
	fprintf(stderr, "threads: no workload %s\n", name ?: "is named");
	exit(2);
}

static void options(int argc, char **argv)
{
	static const struct option names[] = {
		{ "rounds", 1, NULL, 'r' }, { "chips", 1, NULL, 'c' }, { "by-hand", 0, NULL, 'h' },
		{ "one-chip", 0, NULL, 'o' }, { "apart", 0, NULL, 'a' },
		{ "found", 1, NULL, 'f' }, { "marks", 0, NULL, 'm' },
		{ "then", 1, NULL, 't' }, { }
	};
	int c;

	while ((c = getopt_long(argc, argv, "", names, NULL)) != -1) {
		switch (c) {
		case 'r': rounds = number(optarg, 1UL << 40); break;
		case 'c': chips = number(optarg, 64); break;
		case 'h': by_hand = true; break;
		case 'o': one_chip = true; break;
		case 'a': apart = true; break;
		case 'f': found_in = optarg; break;
		case 'm': marks = true; break;
		case 't': then = optarg; break;
		default: exit(2);
		}
	}
	workload = find(argv[optind]);
	rounds = rounds ?: workload->rounds;
}

int main(int argc, char **argv)
{
	options(argc, argv);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	if (shared == MAP_FAILED)
		exit(2);
	run();
	report();
	return !right();
}
