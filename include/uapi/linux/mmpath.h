/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * /dev/mmpath: track single processes, read their curves, record and replay
 * page accesses. See Documentation/admin-guide/mm/path/device.rst.
 */
#ifndef _UAPI_LINUX_MMPATH_H
#define _UAPI_LINUX_MMPATH_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* .type of an event */
#define MMPATH_EVENT_ACCESS	0	/* a page was touched */
#define MMPATH_EVENT_LOST	1	/* the reader was slow: .addr records are missing */

/* .flags of an event */
#define MMPATH_ACCESS_WRITE	1
#define MMPATH_ACCESS_AGAIN	2	/* by hardware: the page is still hot; not counted */

/**
 * struct mmpath_event - an event that read() returns and write() replays
 * @addr: address of the page that was touched; for a huge page the address of its first byte
 * @pid: process, in the PID namespace of the task that started the recording; 0 if it is not
 *	visible there
 * @type: MMPATH_EVENT_*
 * @order: the access is to 2^order pages
 * @flags: MMPATH_ACCESS_*
 */
struct mmpath_event {
	__u64 addr;
	__u32 pid;
	__u8 type;
	__u8 order;
	__u16 flags;
};

/* Views of a session: texts like those of the cgroup files memory.path.* */
#define MMPATH_VIEW_MRC		0
#define MMPATH_VIEW_REGIONS	1
#define MMPATH_VIEW_REGION_MRC	2
#define MMPATH_VIEW_STAT	3

#define MMPATH_IOC		0xb8
/* Track the process of a pidfd, and its children, until the session ends. */
#define MMPATH_IOC_TRACK	_IOW(MMPATH_IOC, 0, __s32)
/* Return a file descriptor from which a view (MMPATH_VIEW_*) can be read. */
#define MMPATH_IOC_VIEW		_IOW(MMPATH_IOC, 1, __u32)
/* Start recording: read() returns events from now on. */
#define MMPATH_IOC_RECORD	_IO(MMPATH_IOC, 2)

#endif /* _UAPI_LINUX_MMPATH_H */
