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
#define VPATH_PAGE_SHIFT	12		/* of the device, whatever the guest's is */
#define VPATH_UNIT_OFFSET	4096
#define VPATH_UNIT_STRIDE	4096

/**
 * struct vpath_device - the first page of the BAR, written by the device at reset
 * @magic: VPATH_MAGIC, the last word to be written
 * @version: VPATH_VERSION; a driver that does not know it must not go on
 * @units: how many units there are, one for each CPU
 * @log_entries: records in the log of each unit, a power of two
 * @log_offset: of the log of unit 0, bytes from the start of the BAR
 * @log_stride: from one unit's log to the next's, bytes
 * @max_tlb_entries: largest value of that register
 * @max_pab_entries: likewise
 * @max_filter_entries: likewise
 * @unit: the answer to VPATH_IDENTIFY: the number of the unit that was asked
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
#define VPATH_INTERRUPT		(1U << 1)	/* it rings when .threshold is reached */
#define VPATH_TAGGED_TLB	(1U << 2)	/* a new context does not flush the TLB */

/* .status: what became of the last VPATH_SYNC */
#define VPATH_OK		0
#define VPATH_BAD_GEOMETRY	1	/* the unit stays as it was */
#define VPATH_BAD_CONTROL	2	/* likewise */

/**
 * struct vpath_counters - since reset, written by the device
 * @accesses: to another page than the access before, by an enabled context
 * @tlb_misses: of them, those that missed the TLB
 * @pab_misses: of them, those that missed the page access buffer
 * @filter_misses: of them, those that missed the associative filter
 * @relogged: entries of the PAB that have come up for being logged again
 * @unsampled: records held back by .sample_shift
 * @paused: records held back by the duty cycle
 * @logged: records in the log
 * @overflowed: records lost since the log was full
 * @interrupts: rung
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
 * @control: VPATH_ENABLE and so on; this and what follows is taken over by the
 *	command VPATH_SYNC, given on that CPU
 * @tlb_entries: 1 to max_tlb_entries, a power of two
 * @tlb_ways: a power of two, at most @tlb_entries
 * @pab_entries: 128 to max_pab_entries, a power of two
 * @pab_ways: a power of two, at most @pab_entries
 * @filter_entries: 0 to max_filter_entries
 * @relog: an entry is logged again after so many insertions into its set; 0: never
 * @sample_shift: log one page of 2^@sample_shift
 * @duty_on: log for so many accesses ...
 * @duty_period: ... of so many; 0: always
 * @only_context: look at this context alone; 0: at all
 * @threshold: records in the log at which the unit rings
 * @context: number of the context that runs on this CPU, 0: none; taken over by
 *	VPATH_SYNC and by VPATH_CONTEXT
 * @lookup_page: number of the page that VPATH_LOOKUP asks for
 * @lookup_context: its context
 * @tail: of the log, written by the driver: records it has read, modulo 2^32
 * @reserved: 0
 * @status: of the last VPATH_SYNC
 * @lookup_result: of the last VPATH_LOOKUP: 1 if the page is in the PAB
 * @head: of the log, written by the device: records it has written, modulo 2^32
 * @reserved2: 0
 * @counters: see there
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

/* In the low bits of a record's address */
#define VPATH_RECORD_WRITE	(1U << 0)
#define VPATH_RECORD_ORDER	1		/* shift; 5 bits */
#define VPATH_RECORD_KERNEL	(1U << 6)	/* the access was the kernel's */
#define VPATH_RECORD_RESUMED	(1U << 7)	/* no access: the duty cycle had paused */
#define VPATH_RECORD_AGAIN	(1U << 8)	/* .relog: it has been in the PAB since */
#define VPATH_RECORD_FLAGS	0xfffU

/**
 * struct vpath_record - an entry of the log
 * @addr: of the page, and VPATH_RECORD_* below it
 * @context: whose page
 * @stamp: counts the records of all units, modulo 2^32: their order
 */
struct vpath_record {
	__u64 addr;
	__u32 context;
	__u32 stamp;
};

/*
 * Commands: no-operations to a CPU without the device, obeyed by the unit of the
 * CPU that executes them before the next instruction. Those below VPATH_MARK are
 * for the kernel alone. An instruction is nopl VPATH_COMMAND(n)(%rax).
 */
#define VPATH_COMMAND(n)	(0x50415400 + (n))
#define VPATH_SYNC		0	/* take over the registers */
#define VPATH_CONTEXT		1	/* take over .context */
#define VPATH_LOOKUP		2	/* answer .lookup_page */
#define VPATH_IDENTIFY		3	/* write the unit's number into vpath_device.unit */
#define VPATH_RESET		4	/* empty TLB, PAB and filter; clear the counters */
#define VPATH_MARK		64	/* .. 127: a mark in the ground truth; any mode */
#define VPATH_COMMANDS		128

#endif /* _UAPI_LINUX_MMPATH_VPATH_H */
