/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * /dev/mmpath: track single processes, read their curves, record and replay
 * page accesses. See Documentation/admin-guide/mm/path/device.rst.
 */
#ifndef _UAPI_LINUX_MMPATH_H
#define _UAPI_LINUX_MMPATH_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* What an event tells */
#define MMPATH_EVENT_ACCESS	0	/* a page was touched */
#define MMPATH_EVENT_LOST	1	/* the reader was slow: .addr records are missing */

/* in .flags */
#define MMPATH_ACCESS_WRITE	1
#define MMPATH_ACCESS_AGAIN	2	/* hardware: of a page that is still hot; not counted */

/**
 * struct mmpath_event - what read() on a recording session returns, and what
 *			 write() replays
 * @addr: address of the page touched; for a huge page that of its first byte
 * @pid: process, in the PID namespace of who started the recording; 0 if not known there
 * @type: MMPATH_EVENT_*
 * @order: the access stands for 2^order pages
 * @flags: MMPATH_ACCESS_*
 */
struct mmpath_event {
	__u64 addr;
	__u32 pid;
	__u8 type;
	__u8 order;
	__u16 flags;
};

/* Texts of a session, as in the cgroup files memory.path.* */
#define MMPATH_VIEW_MRC		0
#define MMPATH_VIEW_REGIONS	1
#define MMPATH_VIEW_REGION_MRC	2
#define MMPATH_VIEW_STAT	3

#define MMPATH_IOC		0xb8
/* Track the process of a pidfd, and its children, until the session ends. */
#define MMPATH_IOC_TRACK	_IOW(MMPATH_IOC, 0, __s32)
/* Returns a file descriptor to read one MMPATH_VIEW_* from. */
#define MMPATH_IOC_VIEW		_IOW(MMPATH_IOC, 1, __u32)
/* From now on read() returns events. */
#define MMPATH_IOC_RECORD	_IO(MMPATH_IOC, 2)

#endif /* _UAPI_LINUX_MMPATH_H */
