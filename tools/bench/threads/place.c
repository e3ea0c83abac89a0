// SPDX-License-Identifier: GPL-2.0
/* Where threads run, and the groups and chips that several workloads have. */
#define _GNU_SOURCE
#include <stdio.h>
#include <unistd.h>

#include "threads.h"

static unsigned int nr_cpus(void)
{
	return sysconf(_SC_NPROCESSORS_ONLN);
}

/* To some CPUs that follow each other */
void pin(unsigned int first, unsigned int nr)
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
	unsigned int cpus = nr_cpus() / run.chips;

	pin(chip % run.chips * cpus, cpus);
}

/* Where it belongs in this round */
void settle(unsigned int id, uint64_t round)
{
	const struct workload *w = run.workload;

	if (run.by_hand && w->chip)
		pin_to_chip(w->chip(id, round));
	else if (run.one_chip)
		pin_to_chip(w->processes ? id * run.chips / run.threads : 0);
	else if (run.apart)
		pin(id, 1);
	else
		pin(0, nr_cpus());
}

/* As many groups as chips. Who begin on one chip are of different groups. */
unsigned int as_chips(unsigned int id, uint64_t round)
{
	(void)round;
	return 1 + id % run.chips;
}

unsigned int on_own_chip(unsigned int id, uint64_t round)
{
	return run.workload->group(id, round) - 1;
}

unsigned int all(unsigned int id, uint64_t round)
{
	(void)id;
	(void)round;
	return 1;
}

unsigned int nobody(unsigned int id, uint64_t round)
{
	(void)id;
	(void)round;
	return 0;
}
