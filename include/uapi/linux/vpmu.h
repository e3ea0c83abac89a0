/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Registers, records and commands of the virtual performance monitoring unit, shared by
 * the device (tools/vpmu) and the driver (drivers/perf/vpmu.c). What they mean is in
 * Documentation/mm/path/vpmu-device.rst.
 */
#ifndef _UAPI_LINUX_VPMU_H
#define _UAPI_LINUX_VPMU_H

#include <linux/types.h>

#define VPMU_MAGIC		0x554d5056	/* "VPMU" */
#define VPMU_VERSION		1

#define VPMU_MAX_UNITS		64
#define VPMU_COUNTERS		6		/* of a CPU */
#define VPMU_SOURCES		6
#define VPMU_EVENTS		64
#define VPMU_CALLERS		16		/* that the device tells of a sample */
#define VPMU_UNIT_OFFSET	4096
#define VPMU_UNIT_STRIDE	4096

/* Where a cache line came from (thesis, table 2.4) */
enum vpmu_source {
	VPMU_LOCAL_L2,
	VPMU_LOCAL_L3,
	VPMU_REMOTE_L2,
	VPMU_REMOTE_L3,
	VPMU_LOCAL_MEMORY,
	VPMU_REMOTE_MEMORY,
	VPMU_NO_SOURCE = 255,
};

/* What a counter counts. A number is never given to another event. */
enum vpmu_event {
	VPMU_NONE		= 0,
	VPMU_CYCLES		= 1,
	VPMU_INSNS		= 2,
	VPMU_LOADS		= 3,
	VPMU_STORES		= 4,
	VPMU_L1D_MISS		= 5,
	VPMU_L1I_MISS		= 6,
	VPMU_UPGRADE_LOCAL	= 7,
	VPMU_UPGRADE_REMOTE	= 8,
	VPMU_INVALIDATED	= 9,
	VPMU_BRANCH		= 10,
	VPMU_BR_MISS		= 11,
	VPMU_DTLB_MISS		= 12,
	VPMU_WRITEBACK		= 13,
	VPMU_PREFETCHED		= 14,
	VPMU_PREFETCH_USED	= 15,
	VPMU_D_SRC		= 16,		/* + enum vpmu_source */
	VPMU_I_SRC		= 24,		/* + enum vpmu_source */
	VPMU_STALL_D		= 32,
	VPMU_STALL_I		= 33,
	VPMU_STALL_BR		= 34,
	VPMU_STALL_TLB		= 35,
	VPMU_STALL_LSU		= 36,
	VPMU_STALL_FPU		= 37,
	VPMU_STALL_IU		= 38,
	VPMU_STALL_OTHER	= 39,
	VPMU_STALL_D_SRC	= 40,		/* + enum vpmu_source */
};

/* .clock */
#define VPMU_NO_CLOCK		0	/* the guest's time knows nothing of modelled cycles */
#define VPMU_PARALLEL_CLOCK	1	/* N CPUs at 1/N GHz, all running at the same time */

/* .sampling: what a record tells (thesis 3.1) */
#define VPMU_TAGGED		0	/* of the instruction that made the counter overflow */
#define VPMU_DAR		1	/* of the last miss, when the interrupt came */

/**
 * struct vpmu_device - the first page of the BAR, written by the device at reset
 * @magic: VPMU_MAGIC, the last word to be written
 * @version: VPMU_VERSION; a driver must not use a device with an unknown version
 * @units: number of units, one for each CPU
 * @chips: number of chips; unit n is on chip n / (@units / @chips)
 * @counters: counters of each unit, at most VPMU_COUNTERS; the others count nothing
 * @ring_entries: size of the ring of each unit in records, a power of two
 * @ring_offset: offset of the ring of unit 0 in the BAR, bytes
 * @ring_stride: distance between the rings of two units, bytes
 * @line_bytes: size of a cache line
 * @l1d_kb: size of the data cache of a CPU, KiB
 * @l1i_kb: size of the instruction cache of a CPU, KiB
 * @l2_kb: size of the second cache of a chip, KiB
 * @l3_kb: size of the third cache of a chip, KiB
 * @latency: stall of a load by enum vpmu_source, cycles
 * @cpu_khz: cycles of a CPU in a millisecond of the guest's time; 0 without a clock
 * @clock: VPMU_NO_CLOCK or VPMU_PARALLEL_CLOCK
 * @unit: answer to VPMU_IDENTIFY: the number of the unit that was asked
 * @callers: return addresses that each record has, in an array behind all rings, in the order
 *	of units and records; 0: none, or VPMU_CALLERS
 * @sampling: VPMU_TAGGED or VPMU_DAR
 * @placement: counters that can count the event, a bit for each; 0: the event is not modelled
 */
struct vpmu_device {
	__u32 magic;
	__u32 version;
	__u32 units;
	__u32 chips;
	__u32 counters;
	__u32 ring_entries;
	__u64 ring_offset;
	__u64 ring_stride;
	__u32 line_bytes;
	__u32 l1d_kb;
	__u32 l1i_kb;
	__u32 l2_kb;
	__u32 l3_kb;
	__u32 latency[VPMU_SOURCES];
	__u32 cpu_khz;
	__u32 clock;
	__u32 unit;
	__u32 callers;
	__u32 sampling;
	__u32 placement[VPMU_EVENTS];
};

/* .control */
#define VPMU_ENABLE		(1U << 0)	/* the unit looks at what its CPU does */

/* .flags of a counter */
#define VPMU_USER		(1U << 0)	/* count in user mode */
#define VPMU_KERNEL		(1U << 1)	/* count in the kernel */
#define VPMU_SAMPLE		(1U << 2)	/* write a record at each overflow */

/* .status: result of the last VPMU_PROGRAM */
#define VPMU_OK			0
#define VPMU_BAD_EVENT		1	/* a counter cannot count its event */
#define VPMU_BAD_CONTROL	2

/**
 * struct vpmu_unit - the registers of one CPU's unit
 * @control: VPMU_ENABLE. This and the following registers take effect with the command
 *	VPMU_PROGRAM, given on that CPU.
 * @context: what the unit writes into records, for the driver to know whose they are.
 *	Takes effect with VPMU_PROGRAM and with VPMU_CONTEXT.
 * @event: what a counter counts, VPMU_NONE: nothing
 * @flags: when a counter counts, VPMU_USER and so on
 * @sources: where lines must have come from for VPMU_L1D_MISS, VPMU_L1I_MISS and VPMU_STALL_D
 *	to count, a bit for each enum vpmu_source; 0: from anywhere
 * @tail: records of the ring that the driver has read, modulo 2^32. Needs no command.
 * @reserved: 0
 * @period: number of counts after which a counter overflows again; 0: never
 * @random_mask: a random number with these bits is added to each period
 * @start: number of counts until the first overflow, if @period is not 0
 * @reserved2: 0
 * @status: result of the last VPMU_PROGRAM
 * @head: records that the device has written to the ring, modulo 2^32; written by the device
 * @lost: records lost because the ring was full, since reset
 * @ignored: commands that were unknown or came from user mode, since reset
 * @value: counts since the last VPMU_PROGRAM; written by VPMU_READ and VPMU_STOP
 * @left: number of counts until the next overflow; written by VPMU_READ and VPMU_STOP
 */
struct vpmu_unit {
	/* written by the driver */
	__u32 control;
	__u32 context;
	__u32 event[VPMU_COUNTERS];
	__u32 flags[VPMU_COUNTERS];
	__u32 sources[VPMU_COUNTERS];
	__u32 tail;
	__u32 reserved;
	__u64 period[VPMU_COUNTERS];
	__u64 random_mask[VPMU_COUNTERS];
	__u64 start[VPMU_COUNTERS];
	__u32 reserved2[6];
	/* written by the device */
	__u32 status;
	__u32 head;
	__u64 lost;
	__u64 ignored;
	__u64 value[VPMU_COUNTERS];
	__u64 left[VPMU_COUNTERS];
};

/* .flags of a record */
#define VPMU_RECORD_STORE	(1U << 0)
#define VPMU_RECORD_KERNEL	(1U << 1)	/* of a counter that overflowed in the kernel */
#define VPMU_RECORD_PHYS	(1U << 2)	/* .phys is known */
#define VPMU_RECORD_MODIFIED	(1U << 3)	/* the line was modified where it came from */
#define VPMU_RECORD_LOCKED	(1U << 4)	/* the instruction locks the line */
/* ground truth with VPMU_DAR, which no real unit has: .addr is that of the overflow */
#define VPMU_RECORD_RIGHT	(1U << 5)

/**
 * struct vpmu_record - an entry of the ring, written at an overflow
 * @addr: address of the access, 0 if the event is no access
 * @ip: address of the instruction, or the first one of its block
 * @phys: physical address of the access
 * @cycles: modelled cycles of the CPU since reset
 * @context: .context of the unit
 * @stamp: number of the record among those of all units, modulo 2^32; gives their order
 * @latency: stall of the access, cycles
 * @source: enum vpmu_source
 * @counter: the counter that overflowed
 * @flags: VPMU_RECORD_STORE and so on
 * @callers: how many are known in the kernel, of a sample in the kernel
 * @user_callers: how many in user mode follow them
 * @reserved: 0
 */
struct vpmu_record {
	__u64 addr;
	__u64 ip;
	__u64 phys;
	__u64 cycles;
	__u32 context;
	__u32 stamp;
	__u16 latency;
	__u8 source;
	__u8 counter;
	__u32 flags;
	__u32 callers;
	__u32 user_callers;
	__u32 reserved[2];
};

/*
 * Commands are instructions, nopl VPMU_COMMAND(n)(%rax), which do nothing on a CPU
 * without the device. The unit of the CPU that executes one carries it out before the
 * next instruction. Commands below VPMU_MARK are for the kernel only.
 */
#define VPMU_COMMAND(n)		(0x504d5500 + (n))
#define VPMU_PROGRAM		0	/* let all registers take effect, and count */
#define VPMU_STOP		1	/* write .value and .left, and stop counting */
#define VPMU_READ		2	/* write .value and .left */
#define VPMU_CONTEXT		3	/* let .context take effect */
#define VPMU_IDENTIFY		4	/* write the unit's number into vpmu_device.unit */
#define VPMU_RESET		5	/* all units: off, empty, all counts 0 */
#define VPMU_MARK		64	/* .. 127: a mark in the ground truth; any mode */
#define VPMU_COMMANDS		128

#endif /* _UAPI_LINUX_VPMU_H */
