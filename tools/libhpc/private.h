/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a handle holds, for the library and its tests.
 */
#ifndef LIBHPC_PRIVATE_H
#define LIBHPC_PRIVATE_H

#define HPC_NAME	32	/* of an event, with its end: as the kernel has it */
#define DEPTH		32	/* regions in regions that are told apart */

struct events {
	struct hpc_set set;
	char name[HPC_EVENTS][HPC_NAME];
};

struct account {
	struct hpc_window window;
	struct hpc_totals totals;
};

/**
 * struct hpc - a thread that is logged
 * @next: of all handles
 * @fd: /dev/hpc
 * @log: what is mapped
 * @size: bytes of it
 * @piece: the first place of the log
 * @pieces: number of places, 0 in a child of the process that opened it
 * @tail: pieces that were taken
 * @changes: of the region
 * @region: in which the thread is
 * @depth: how many regions it is in
 * @outer: these, but for the innermost
 * @exact: a call at each change
 * @has_epoch: the next ones are known
 * @epoch: of the log, in which @events and @set are counted
 * @events: what is counted
 * @set: events of each group
 * @mixed: cycles of pieces in which the region changed
 * @account: of each region, then of the thread; NULL where nothing was counted
 */
struct hpc {
	struct hpc *next;
	int fd;
	struct hpc_log_head *log;
	size_t size;
	const struct hpc_log_piece *piece;
	uint32_t pieces;
	uint64_t tail, changes;
	unsigned int region, depth;
	unsigned int outer[DEPTH];
	bool exact, has_epoch;
	uint32_t epoch;
	struct events events;
	uint64_t set[HPC_LOG_GROUPS];
	uint64_t mixed;
	struct account *account[HPC_REGIONS + 1];
};

bool events_parse(struct events *e, char *text);

#endif
