/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Registers, log and commands of the virtual page access tracking hardware,
 * shared by the device (tools/vpath) and the driver (mm/path/drivers/vpath.c). What
 * they mean is in Documentation/mm/path/vpath-device.rst.
 */
#ifndef _UAPI_LINUX_MMPATH_VPATH_H
#define _UAPI_LINUX_MMPATH_VPATH_H

#include <linux/types.h>

#define VPATH_MAGIC		0x48544150	/* "PATH" */
#define VPATH_VERSION		1

#define VPATH_MAX_UNITS		64
#define VPATH_PAGE_SHIFT	12		/* of the device, and not that of the guest */
#define VPATH_UNIT_OFFSET	4096
#define VPATH_UNIT_STRIDE	4096

/**
 * struct vpath_device - the first page of the BAR, written by the device at reset
 * @magic: VPATH_MAGIC, the last word to be written
 * @version: VPATH_VERSION; a driver must not use a device with an unknown version
 * @units: number of units, one for each CPU
 * @log_entries: size of the log of each unit in records, a power of two
 * @log_offset: offset of the log of unit 0 in the BAR, bytes
 * @log_stride: distance between the logs of two units, bytes
 * @max_tlb_entries: largest value of the register tlb_entries
 * @max_pab_entries: largest value of the register pab_entries
 * @max_filter_entries: largest value of the register filter_entries
 * @unit: answer to VPATH_IDENTIFY: the number of the unit that was asked
 */
struct vpath_device {
	__u32 magic;
	__u32 version;
	__u32 units;
	__u32 log_entries;
	__u64 log_offset;
	__u64 log_stride;
	__u32 max_tlb_entries;
	__u32 max_pab_entries;
	__u32 max_filter_entries;
	__u32 unit;
};

/* .control */
#define VPATH_ENABLE		(1U << 0)	/* the unit looks at accesses */
#define VPATH_INTERRUPT		(1U << 1)	/* interrupt when .threshold is reached */
#define VPATH_TAGGED_TLB	(1U << 2)	/* a new context does not flush the TLB */

/* .status: result of the last VPATH_SYNC */
#define VPATH_OK		0
#define VPATH_BAD_GEOMETRY	1	/* the unit stays as it was */
#define VPATH_BAD_CONTROL	2	/* the unit stays as it was */

/**
 * struct vpath_counters - counts since reset, written by the device
 * @accesses: accesses to another page than the one before, by an enabled context
 * @tlb_misses: number of @accesses that missed the TLB
 * @pab_misses: number of @tlb_misses that missed the page access buffer
 * @filter_misses: number of @pab_misses that missed the associative filter
 * @relogged: entries of the PAB that were due to be logged again
 * @unsampled: records not logged because of .sample_shift
 * @paused: records not logged because of the duty cycle
 * @logged: records written to the log
 * @overflowed: records lost because the log was full
 * @interrupts: interrupts sent
 * @ignored: commands that were unknown or came from user mode
 */
struct vpath_counters {
	__u64 accesses;
	__u64 tlb_misses;
	__u64 pab_misses;
	__u64 filter_misses;
	__u64 relogged;
	__u64 unsampled;
	__u64 paused;
	__u64 logged;
	__u64 overflowed;
	__u64 interrupts;
	__u64 ignored;
};

/**
 * struct vpath_unit - the registers of one CPU's unit
 * @control: VPATH_ENABLE and so on. This and the following registers take effect with the
 *	command VPATH_SYNC, given on that CPU.
 * @tlb_entries: 1 to max_tlb_entries, a power of two
 * @tlb_ways: a power of two, at most @tlb_entries
 * @pab_entries: 128 to max_pab_entries, a power of two
 * @pab_ways: a power of two, at most @pab_entries
 * @filter_entries: 0 to max_filter_entries
 * @relog: number of insertions into its set after which an entry is logged again; 0: never
 * @sample_shift: log one page in 2^@sample_shift
 * @duty_on: log the first @duty_on accesses of each @duty_period
 * @duty_period: length of the duty cycle in accesses; 0: log always
 * @only_context: number of the only context to track; 0: track all
 * @threshold: number of records in the log at which the unit sends an interrupt
 * @context: number of the context that runs on this CPU, 0: none. Takes effect with
 *	VPATH_SYNC and with VPATH_CONTEXT.
 * @lookup_page: number of the page that VPATH_LOOKUP asks for
 * @lookup_context: number of the context that VPATH_LOOKUP asks for
 * @tail: records of the log that the driver has read, modulo 2^32; written by the driver
 * @reserved: 0
 * @status: result of the last VPATH_SYNC
 * @lookup_result: result of the last VPATH_LOOKUP: 1 if the page is in the PAB
 * @head: records that the device has written to the log, modulo 2^32; written by the device
 * @reserved2: 0
 * @counters: counts since reset
 */
struct vpath_unit {
	/* written by the driver */
	__u32 control;
	__u32 tlb_entries;
	__u32 tlb_ways;
	__u32 pab_entries;
	__u32 pab_ways;
	__u32 filter_entries;
	__u32 relog;
	__u32 sample_shift;
	__u32 duty_on;
	__u32 duty_period;
	__u32 only_context;
	__u32 threshold;
	__u32 context;
	__u32 lookup_context;
	__u64 lookup_page;
	__u32 tail;
	__u32 reserved[15];
	/* written by the device */
	__u32 status;
	__u32 lookup_result;
	__u32 head;
	__u32 reserved2;
	struct vpath_counters counters;
};

/* Low bits of a record's address */
#define VPATH_RECORD_WRITE	(1U << 0)
#define VPATH_RECORD_ORDER	1		/* shift; 5 bits */
#define VPATH_RECORD_KERNEL	(1U << 6)	/* the kernel made the access */
#define VPATH_RECORD_RESUMED	(1U << 7)	/* no access: the duty cycle had paused */
#define VPATH_RECORD_AGAIN	(1U << 8)	/* .relog: the page was in the PAB since */
#define VPATH_RECORD_FLAGS	0xfffU

/**
 * struct vpath_record - an entry of the log
 * @addr: address of the page, and VPATH_RECORD_* in the bits below
 * @context: number of the context that accessed the page
 * @stamp: number of the record among those of all units, modulo 2^32; gives their order
 */
struct vpath_record {
	__u64 addr;
	__u32 context;
	__u32 stamp;
};

/*
 * Commands are instructions, nopl VPATH_COMMAND(n)(%rax), which do nothing on a CPU
 * without the device. The unit of the CPU that executes one carries it out before the
 * next instruction. Commands below VPATH_MARK are for the kernel only.
 */
#define VPATH_COMMAND(n)	(0x50415400 + (n))
#define VPATH_SYNC		0	/* let all registers take effect */
#define VPATH_CONTEXT		1	/* let .context take effect */
#define VPATH_LOOKUP		2	/* look up .lookup_page in the PAB */
#define VPATH_IDENTIFY		3	/* write the unit's number into vpath_device.unit */
#define VPATH_RESET		4	/* empty TLB, PAB and filter; clear the counters */
#define VPATH_MARK		64	/* .. 127: a mark in the ground truth; any mode */
#define VPATH_COMMANDS		128

#endif /* _UAPI_LINUX_MMPATH_VPATH_H */
