/* SPDX-License-Identifier: GPL-2.0 */
/* What clusters.bpf.c tells clusters.c, which have no other header in common. */
#ifndef CLUSTERS_H
#define CLUSTERS_H

/* What happens to threads that share, in the order in which it does */
enum what {
	FOUND,		/* clusters were looked for */
	HOME,		/* a thread got a chip, or left it */
	MOVED,		/* a running thread went there */
	KEPT,		/* that has helped */
	UNDONE,		/* it has not */
	WHATS,
};

/**
 * struct step - one of these
 * @what: enum what
 * @pid: of the thread; FOUND, KEPT, UNDONE: of the process, 0: all of the cgroup
 * @cgroup: its id
 * @threads, @clustered: FOUND: that were seen, and those of them that share
 * @cluster: HOME: its number
 * @from, @to: HOME, MOVED: CPUs, of which a home is any one of its chip; -1: none
 * @before, @now: lines from other chips in a second of CPU time; FOUND: @now only
 */
struct step {
	unsigned int what;
	int pid;
	unsigned long long cgroup;
	unsigned int threads, clustered, cluster;
	int from, to;
	unsigned int reserved;
	unsigned long long before, now;
};

#endif
