// SPDX-License-Identifier: GPL-2.0
/* Are the clusters that the kernel has found the workload's own groups? */
#include <stdio.h>
#include <stdlib.h>

#include "threads.h"

/* Clusters by cpu.cluster.tasks; one of its own for who is in none, or not there. */
static bool read_found(unsigned int *found)
{
	unsigned int i, tid, cluster;
	char name[4096];
	FILE *file;

	for (i = 0; i < run.threads; i++)
		found[i] = UINT32_MAX - i;
	snprintf(name, sizeof(name), "%s/cpu.cluster.tasks", run.found_in);
	file = fopen(name, "r");
	if (!file)
		return false;
	while (fscanf(file, "%u %u %*[^\n]", &tid, &cluster) == 2)
		for (i = 0; i < run.threads; i++)
			if (run.shared->tid[i] == (pid_t)tid && cluster)
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

void compare(void)
{
	unsigned int i, found[MOST], own[MOST];

	if (!read_found(found)) {
		perror(run.found_in);
		exit(2);
	}
	for (i = 0; i < run.threads; i++)
		own[i] = run.workload->group(i, run.rounds - 1) ?: MOST + i;
	printf("rand %.3f\n", rand_index(own, found, run.threads));
}
