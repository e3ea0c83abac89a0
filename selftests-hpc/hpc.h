/* SPDX-License-Identifier: GPL-2.0 */
/* Counters of the virtual PMU, for the tests of it */
#ifndef HPC_H
#define HPC_H

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "../kselftest.h"

#define PMU	"/sys/bus/event_source/devices/vpmu/"

/* The number in a file, behind @before; -1: there is none */
static inline long long number(const char *file, const char *before)
{
	char text[256] = "";
	int fd = open(file, O_RDONLY);

	if (fd < 0)
		return -1;
	if (read(fd, text, sizeof(text) - 1) < 0 || strncmp(text, before, strlen(before)))
		text[0] = 0;
	close(fd);
	return *text ? strtoll(text + strlen(before), NULL, 0) : -1;
}

struct event {
	const char *name;
	bool no_user, no_kernel, inherit, pinned;
	uint64_t period;
	pid_t pid;
	int cpu, group;
};

/* Open an event, or say why not. It does not count yet. */
static inline int open_event(const struct event *e)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .type = number(PMU "type", ""), .disabled = e->group < 0,
		.exclude_user = e->no_user, .exclude_kernel = e->no_kernel,
		.inherit = e->inherit, .pinned = e->pinned, .sample_period = e->period,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
	};
	char file[256];
	int fd;

	snprintf(file, sizeof(file), PMU "events/%s", e->name);
	attr.config = number(file, "event=");
	if (e->period)
		attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_ADDR;
	fd = syscall(SYS_perf_event_open, &attr, e->pid, e->cpu, e->group, 0);
	return fd < 0 ? -errno : fd;
}

struct count {
	uint64_t value, enabled, running;
};

static inline struct count count_of(int fd)
{
	struct count c = { };

	if (read(fd, &c, sizeof(c)) != sizeof(c))
		ksft_print_msg("read: %s\n", strerror(errno));
	return c;
}

static inline void start(int fd)
{
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
}

static inline void stop(int fd)
{
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
}

/* Is it within @percent of what it should be? */
static inline bool near(const char *what, double is, double want, double percent)
{
	bool good = is >= want * (1 - percent / 100) && is <= want * (1 + percent / 100);

	ksft_print_msg("%s: %.0f, expected %.0f (%+.2f %%)%s\n", what, is, want,
		       want ? (is / want - 1) * 100 : 0, good ? "" : " WRONG");
	return good;
}

static inline void run_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		ksft_print_msg("CPU %d: %s\n", cpu, strerror(errno));
}

static inline void run(const char *name, bool (*test)(void))
{
	ksft_test_result(test(), "%s\n", name);
}

#endif
