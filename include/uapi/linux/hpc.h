/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * /dev/hpc: what logical counters count of one thread, piece by piece, in a log that a program
 * maps. See Documentation/admin-guide/mm/path/stalls.rst; tools/libhpc reads it.
 */
#ifndef _UAPI_LINUX_HPC_H
#define _UAPI_LINUX_HPC_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define HPC_LOG_VERSION		1
#define HPC_LOG_GROUPS		32	/* most groups */
#define HPC_LOG_COUNTS		12	/* most events of a group */
#define HPC_LOG_LEAST		32	/* fewest pieces of a log, and most */
#define HPC_LOG_MOST		8192

/* .state */
#define HPC_LOG_ON		0	/* pieces come while /sys/kernel/hpc/enabled is 1 */
#define HPC_LOG_EXITED		1	/* the thread is about to end: a last piece may follow */
#define HPC_LOG_DENIED		2	/* it executed a program that the opener may not look at */

/**
 * struct hpc_log_head - the first page of a log
 * @version: HPC_LOG_VERSION
 * @piece_size: bytes from one piece to the next
 * @pieces: how many the log holds, a power of two. Piece n is at place n % @pieces
 * @offset: of the first place, in bytes from here
 * @head: pieces that were written. Read it with acquire semantics
 * @lost: pieces for which there was no room
 * @state: HPC_LOG_*
 * @round: slices of a round, in which each group has the counters at least once
 * @epoch: grows when counting begins, and when events change. Odd while @set and @round are written
 * @reserved: 0
 * @set: events of each group, a bit for each by its number in /sys/kernel/hpc/events
 * @tail: pieces that the program has read. Write it with release semantics
 * @region: what the thread is doing, any number. The program writes it, and the kernel copies it
 */
struct hpc_log_head {
	__u32 version;
	__u32 piece_size;
	__u32 pieces;
	__u32 offset;
	__u64 head;
	__u64 lost;
	__u32 state;
	__u32 round;
	__u32 epoch;
	__u32 reserved[3];
	__u64 set[HPC_LOG_GROUPS];
	__u64 tail;
	__u64 region;
};

/**
 * struct hpc_log_piece - what was counted while the thread had a CPU and a group the counters
 * @time: when it ended, ns of CLOCK_MONOTONIC, as the initial time namespace has it
 * @from: @region of the head when it began
 * @to: @region when it ended
 * @group: which group
 * @seen: which of @count are valid, a bit for each: others had no counter for some of the time
 * @cpu: where
 * @epoch: the lower bits of @epoch of the head
 * @slice: a number that no other slice has for a long time; pieces of one slice have one group
 * @reserved: 0
 * @count: events of the group, in the order of their numbers. The first ones are cycles
 */
struct hpc_log_piece {
	__u64 time;
	__u64 from;
	__u64 to;
	__u16 group;
	__u16 seen;
	__u16 cpu;
	__u16 epoch;
	__u32 slice;
	__u32 reserved;
	__u64 count[HPC_LOG_COUNTS];
};

/**
 * struct hpc_log_watch - for HPC_IOC_WATCH
 * @tid: the thread, in the caller's PID namespace; 0 for the caller
 * @pieces: size of the log, a power of two
 */
struct hpc_log_watch {
	__s32 tid;
	__u32 pieces;
};

#define HPC_IOC			0xb9
/* Begin to log a thread, once for an open file. Then map @offset + @pieces * @piece_size bytes. */
#define HPC_IOC_WATCH		_IOW(HPC_IOC, 0, struct hpc_log_watch)
/* End the piece of the calling thread, write @region of its log, and begin the next piece. */
#define HPC_IOC_REGION		_IOW(HPC_IOC, 1, __u64)

#endif /* _UAPI_LINUX_HPC_H */
