// SPDX-License-Identifier: GPL-2.0
/*
 * Makes a plain file pass for /dev/mmpath (LD_PRELOAD): its ioctls work. What is
 * read from the file was recorded, what is written to it is replayed.
 *
 *   FAKE_VIEWS	directory with files 0, 1, 2, 3: the views
 *   FAKE_TRACK, FAKE_RECORD	errno of these, if set
 *   FAKE_ENODATA	name of a file that has no data
 *   FAKE_CGROUP	directory whose files each has that is made, and which do not keep it
 *   FAKE_CHANGED	file that is copied over one that is rewound for the second time
 *   FAKE_WAITS	file that gets a byte each time that poll() begins
 *
 * And makes time pass ten times as fast, for those who ask the clock or poll().
 *
 *   FAKE_STEPS	directory. Time passes only while poll() waits, and in no time. Each time the
 *		next of the files 0, 1 ... there takes the place of "now" in it; if there is
 *		none, ^C at once.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
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

ssize_t read(int fd, void *buf, size_t size)
{
	const char *name = getenv("FAKE_ENODATA");
	char path[64], file[4096];
	ssize_t length;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	length = name ? readlink(path, file, sizeof(file) - 1) : 0;
	file[length > 0 ? length : 0] = '\0';
	if (length > 0 && strstr(file, name)) {
		errno = ENODATA;
		return -1;
	}
	return syscall(SYS_read, fd, buf, size);
}

static void copy(const char *name, const char *path)
{
	int from = open(name, O_RDONLY | O_CLOEXEC);
	int to = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	char buf[4096];
	ssize_t got;

	while ((got = read(from, buf, sizeof(buf))) > 0)
		if (write(to, buf, got) != got)
			abort();
	close(from);
	close(to);
}

void rewind(FILE *file)
{
	static int times;
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fileno(file));
	if (getenv("FAKE_CHANGED") && ++times == 2)
		copy(getenv("FAKE_CHANGED"), path);
	fseek(file, 0, SEEK_SET);
	clearerr(file);
}

/* ---- cgroups ------------------------------------------------------------- */

/* Does something with each file that a cgroup has by itself. */
static void for_each_file(const char *cgroup, void (*what)(const char *from, const char *path))
{
	const char *dir = getenv("FAKE_CGROUP");
	char from[4096], path[4096];
	struct dirent *entry;
	DIR *files;

	if (!dir)
		return;
	files = opendir(dir);
	while ((entry = readdir(files))) {
		if (entry->d_type != DT_REG)
			continue;
		snprintf(from, sizeof(from), "%s/%s", dir, entry->d_name);
		snprintf(path, sizeof(path), "%s/%s", cgroup, entry->d_name);
		what(from, path);
	}
	closedir(files);
}

static void drop(const char *from, const char *path)
{
	(void)from;
	unlink(path);
}

int mkdir(const char *path, mode_t mode)
{
	int ret = syscall(SYS_mkdir, path, mode);

	if (!ret)
		for_each_file(path, copy);
	return ret;
}

int rmdir(const char *path)
{
	for_each_file(path, drop);
	return syscall(SYS_rmdir, path);
}

/* ---- the clock ----------------------------------------------------------- */

#define FASTER 10

static long long stepped_ms;

int clock_gettime(clockid_t clock, struct timespec *time)
{
	int ret = syscall(SYS_clock_gettime, clock, time);

	if (clock == CLOCK_MONOTONIC && getenv("FAKE_STEPS")) {
		*time = (struct timespec){ .tv_sec = stepped_ms / 1000,
					   .tv_nsec = stepped_ms % 1000 * 1000000 };
		return 0;
	}
	if (!ret && clock == CLOCK_MONOTONIC) {
		time->tv_sec = time->tv_sec * FASTER + time->tv_nsec * FASTER / 1000000000;
		time->tv_nsec = time->tv_nsec * FASTER % 1000000000;
	}
	return ret;
}

static void make_step(const char *dir, int ms)
{
	static unsigned int number;
	char from[4096], now[4096];

	snprintf(from, sizeof(from), "%s/%u", dir, number++);
	snprintf(now, sizeof(now), "%s/now", dir);
	if (rename(from, now))
		kill(getpid(), SIGINT);
	else
		stepped_ms += ms;
}

static void note_wait(const char *file)
{
	int fd = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);

	if (write(fd, ".", 1) != 1)
		abort();
	close(fd);
}

int poll(struct pollfd *fds, nfds_t count, int ms)
{
	const struct timespec time = {
		.tv_sec = ms / FASTER / 1000, .tv_nsec = ms * (1000000L / FASTER) % 1000000000,
	};

	if (getenv("FAKE_WAITS"))
		note_wait(getenv("FAKE_WAITS"));
	if (getenv("FAKE_STEPS")) {
		make_step(getenv("FAKE_STEPS"), ms);
		return ppoll(fds, count, &(struct timespec){ 0 }, NULL);
	}
	return ppoll(fds, count, ms < 0 ? NULL : &time, NULL);
}
