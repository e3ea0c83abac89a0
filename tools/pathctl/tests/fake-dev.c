// SPDX-License-Identifier: GPL-2.0
/*
 * Makes a plain file pass for /dev/mmpath (LD_PRELOAD): its ioctls work. What is
 * read from the file was recorded, what is written to it is replayed.
 *
 *   FAKE_VIEWS	directory with files 0, 1, 2, 3: the views
 *   FAKE_TRACK, FAKE_RECORD	errno of these, if set
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/mmpath.h>

static int outcome(const char *name)
{
	const char *text = getenv(name);

	errno = text ? atoi(text) : 0;
	return errno ? -1 : 0;
}

static int view(uint32_t which)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%u", getenv("FAKE_VIEWS"), which);
	return open(path, O_RDONLY | O_CLOEXEC);
}

int ioctl(int fd, unsigned long request, ...)
{
	va_list args;
	void *arg;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	switch (request) {
	case MMPATH_IOC_TRACK:
		return outcome("FAKE_TRACK");
	case MMPATH_IOC_RECORD:
		return outcome("FAKE_RECORD");
	case MMPATH_IOC_VIEW:
		return view(*(uint32_t *)arg);
	}
	return syscall(SYS_ioctl, fd, request, arg);
}
