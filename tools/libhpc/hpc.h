/* SPDX-License-Identifier: GPL-2.0 */
/*
 * libhpc - what a thread, and each region of its code, waits for.
 *
 * The kernel shares the counters of each CPU out over more events than there are counters, and logs
 * what it counts of a thread (/dev/hpc). A program says which region of its code it is in, by a
 * store. The library makes the same estimates of each region as cpu.stalls has of a cgroup.
 *
 *	struct hpc *h = hpc_open(0, 0);
 *
 *	hpc_begin(h, PARSE);
 *	parse();
 *	hpc_end(h);
 *	hpc_print(h, PARSE, stdout);
 *
 * Where there is no /dev/hpc, or it may not be used, hpc_open() returns NULL, and all functions
 * take NULL and do nothing: the program runs as without the library.
 *
 * A handle belongs to one thread, and only that thread may use it. After fork() handles of the
 * parent do nothing in the child. (A child of clone() that runs no handlers of pthread_atfork() must not
 * use them.)
 */
#ifndef LIBHPC_HPC_H
#define LIBHPC_HPC_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#define HPC_REGIONS	64		/* regions are 0 to 63; 0 is outside of all others */
#define HPC_THREAD	HPC_REGIONS	/* in place of a region: all that the thread did */

/* Flags of hpc_open() */
#define HPC_EXACT	1	/* a call to the kernel at each change of the region */

struct hpc;

/**
 * struct hpc_value - an estimate
 * @name: of a cause ("d"), a source of one ("d.l2"), or an event
 * @value: cycles or events
 * @error: two standard errors of @value
 * @counted: percent of the cycles in which it had a counter
 * @known: there was enough data. If not all numbers are 0
 */
struct hpc_value {
	const char *name;
	uint64_t value, error;
	unsigned int counted;
	bool known;
};

/**
 * struct hpc_cycles - cycles of a region
 * @cycles: that were divided: the sum of @unknown, completion, and the causes without a dot
 * @unknown: in which counters of causes belonged to others
 * @pending: that are not divided yet, as there is too little data
 * @mixed: of pieces in which the region changed. They are in no region
 * @lost: pieces for which the log had no room
 */
struct hpc_cycles {
	uint64_t cycles, unknown, pending, mixed, lost;
};

struct hpc *hpc_open(pid_t tid, unsigned int flags);
void hpc_close(struct hpc *h);
void hpc_begin(struct hpc *h, unsigned int region);
void hpc_end(struct hpc *h);
int hpc_update(struct hpc *h);
int hpc_cycles(struct hpc *h, unsigned int region, struct hpc_cycles *c);
int hpc_cause(struct hpc *h, unsigned int region, unsigned int n, struct hpc_value *v);
int hpc_event(struct hpc *h, unsigned int region, unsigned int n, struct hpc_value *v);
bool hpc_ended(const struct hpc *h);
int hpc_print(struct hpc *h, unsigned int region, FILE *out);

#endif
