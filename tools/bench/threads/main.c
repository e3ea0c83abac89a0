// SPDX-License-Identifier: GPL-2.0
/*
 * threads - threads, or processes, that know with whom they share (Azimi 2007, 3.4).
 *
 * usage: threads WORKLOAD [--rounds N] [--chips N] [--by-hand | --one-chip | --apart]
 *		[--named] [--found CGROUP] [--marks] [--then COMMAND]
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
 * warehouse	4 threads; two each do transactions on a warehouse, which has trees of orders
 * chat		16 threads; 8 each serve the connections of a room, and sleep while there is nothing
 * hack		8 processes; two each send to two others by pipes, so they share in the kernel
 *
 * That is so on two chips. With --chips N board, many, ring, warehouse, chat and hack have N groups
 * in place of two, as large as before, and as many rounds in all.
 *
 * At the end nothing that was added, asked or sent must be missing. Thread i begins on CPU i,
 * modulo what there is, and is free to go anywhere. So those that share begin on different chips.
 * --by-hand pins them to chips as the best placement does. --one-chip pins each process to a chip.
 * --apart pins them where they begin, so that nobody can help them. --named tells the kernel the
 * groups by prctl(), where there is one group for each chip.
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
#include <stdio.h>
#include <sys/prctl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../marked.h"
#include "threads.h"

struct run run = { .chips = 2 };
__thread uint8_t *chunk;
__thread uint32_t seed;

static const struct workload * const kinds[] = {
	board_workloads, words_workloads, server_workloads, ring_workloads,
	warehouse_workloads, chat_workloads, hack_workloads,
};

static uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000ULL + t.tv_nsec / 1000;
}

static bool right(void)
{
	return run.workload->right() && !run.shared->wrong;
}

static void report(void)
{
	uint64_t first = UINT64_MAX, last = 0, sum = 0;
	unsigned int i;

	for (i = 0; i < run.threads; i++) {
		if (run.shared->began[i] < first)
			first = run.shared->began[i];
		sum += run.shared->us[i];
		if (run.shared->us[i] > last)
			last = run.shared->us[i];
	}
	printf("began_us %" PRIu64 "\nus %" PRIu64 "\nmean_us %" PRIu64 "\n%s\n", first, last,
	       sum / run.threads, right() ? "right" : "WRONG");
}

/* Threads and processes */

/* Also where the kernel's headers are older */
#ifndef PR_SCHED_CLUSTER
#define PR_SCHED_CLUSTER		0x70617468
#define PR_SCHED_CLUSTER_CREATE		1
#define PR_SCHED_CLUSTER_SHARE_FROM	3
#endif

/* The first of each group makes it before all begin, and the others join it then. */
static void name_group(unsigned int id, bool begun)
{
	unsigned int first = id % run.chips;
	bool makes = id == first;
	int ret;

	if (!run.named || begun == makes)
		return;
	if (makes)
		ret = prctl(PR_SCHED_CLUSTER, PR_SCHED_CLUSTER_CREATE, 0, 0, 0);
	else
		ret = prctl(PR_SCHED_CLUSTER, PR_SCHED_CLUSTER_SHARE_FROM, run.shared->tid[first],
			    0, 0);
	if (ret) {
		perror("PR_SCHED_CLUSTER");
		exit(1);
	}
}

static void *play(void *arg)
{
	unsigned int id = (unsigned long)arg;
	struct shared *shared = run.shared;

	chunk = malloc(LARGE);
	if (!chunk)
		exit(2);
	memset(chunk, 1, LARGE);
	seed = id * 77 + 12345;
	shared->tid[id] = gettid();
	pin(id, 1);
	name_group(id, false);
	pthread_barrier_wait(&shared->begin);
	name_group(id, true);
	if (run.marks && !id)
		mark(0);
	shared->began[id] = now_us();
	settle(id, 0);
	run.workload->work(id, run.rounds);
	shared->us[id] = now_us() - shared->began[id];
	pthread_barrier_wait(&shared->end);
	pthread_barrier_wait(&shared->end);
	free(chunk);
	return NULL;
}

void make_barrier(pthread_barrier_t *barrier, unsigned int nr)
{
	pthread_barrierattr_t attr;

	pthread_barrierattr_init(&attr);
	pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(barrier, &attr, nr);
}

static void begin_one(unsigned long id, pthread_t *thread)
{
	pid_t pid;

	if (!run.workload->processes) {
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

static void run_all(void)
{
	unsigned int i, threads = run.threads;
	pthread_t thread[MOST];

	make_barrier(&run.shared->begin, threads);
	make_barrier(&run.shared->end, threads + 1);
	for (i = 0; i < threads; i++)
		begin_one(i, &thread[i]);
	pthread_barrier_wait(&run.shared->end);
	if (run.marks)
		mark(1);
	if (run.found_in)
		compare();
	if (run.then && system(run.then))
		exit(2);
	pthread_barrier_wait(&run.shared->end);
	for (i = 0; i < threads; i++)
		if (run.workload->processes)
			wait(NULL);
		else
			pthread_join(thread[i], NULL);
}

static void *map(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		exit(2);
	return memory;
}

/* Options */

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
	const struct workload *w;
	unsigned int i;

	for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		for (w = kinds[i]; w->name; w++)
			if (name && !strcmp(w->name, name))
				return w;
	fprintf(stderr, "threads: no workload %s\n", name ?: "is named");
	exit(2);
}

static void options(int argc, char **argv)
{
	static const struct option names[] = {
		{ "rounds", 1, NULL, 'r' }, { "chips", 1, NULL, 'c' }, { "by-hand", 0, NULL, 'h' },
		{ "one-chip", 0, NULL, 'o' }, { "apart", 0, NULL, 'a' }, { "named", 0, NULL, 'n' },
		{ "found", 1, NULL, 'f' }, { "marks", 0, NULL, 'm' },
		{ "then", 1, NULL, 't' }, { }
	};
	int c;

	while ((c = getopt_long(argc, argv, "", names, NULL)) != -1) {
		switch (c) {
		case 'r': run.rounds = number(optarg, 1UL << 40); break;
		case 'c': run.chips = number(optarg, MOST_CHIPS); break;
		case 'h': run.by_hand = true; break;
		case 'o': run.one_chip = true; break;
		case 'a': run.apart = true; break;
		case 'n': run.named = true; break;
		case 'f': run.found_in = optarg; break;
		case 'm': run.marks = true; break;
		case 't': run.then = optarg; break;
		default: exit(2);
		}
	}
	run.workload = find(argv[optind]);
	run.threads = run.workload->threads;
	if (run.workload->group == as_chips)
		run.threads *= run.chips;
	else if (run.named)
		exit(2);
	/* in all as many as on two chips */
	run.rounds = run.rounds ?: run.workload->rounds * 2 / run.chips;
}

int main(int argc, char **argv)
{
	options(argc, argv);
	run.shared = map(sizeof(*run.shared));
	run.workload->set_up(map(run.workload->bytes));
	run_all();
	report();
	return !right();
}
