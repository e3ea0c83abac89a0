// SPDX-License-Identifier: GPL-2.0
/*
 * epochs - counts all events of the virtual PMU while a program runs, epoch by epoch.
 *
 * usage: epochs hpc|perf MS CPU COMMAND [ARGUMENT]...
 *
 * hpc: by logical counters (/sys/kernel/hpc, as its slice_us says). perf: by events of perf, which
 * takes turns with them (as perf_event_mux_interval_ms or _us of the PMU says), scaled as perf stat -I
 * does. COMMAND runs on CPU, behind mark 0 of the PMU, and is counted in user mode. What it prints
 * is dropped. Each MS milliseconds a line for each event:
 *
 *	CYCLES EVENT COUNT
 *
 * COUNT is what is said of this epoch, -1 if nothing is. CYCLES are those of the program until the
 * end of the epoch. They are exact, so that the ground truth of the same run can be cut there.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <err.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

#include "marked.h"

#define PMU	"/sys/bus/event_source/devices/vpmu/"
#define HPC	"/sys/kernel/hpc/"
#define GROUP	"/sys/fs/cgroup/epochs"

struct event {
	unsigned int nr;		/* enum vpmu_event */
	int fd;				/* of perf */
	uint64_t last[3];		/* count, time enabled, time with a counter */
	double count;			/* of this epoch, -1: unknown */
};

static struct event events[VPMU_EVENTS];
static unsigned int nr_events;

static void put(const char *file, const char *text)
{
	int fd = open(file, O_WRONLY);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		err(EX_OSERR, "%s", file);
	close(fd);
}

static long number(const char *file)
{
	char text[64] = "", *at;
	int fd = open(file, O_RDONLY);

	if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0)
		err(EX_OSERR, "%s", file);
	close(fd);
	at = strchr(text, '=');
	return strtol(at ? at + 1 : text, NULL, 0);
}

static int by_number(const void *a, const void *b)
{
	return ((const struct event *)a)->nr - ((const struct event *)b)->nr;
}

/* Cycles come first: they have the smallest number. */
static void find_events(void)
{
	DIR *dir = opendir(PMU "events");
	struct dirent *entry;
	char file[512];

	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.' || nr_events == VPMU_EVENTS)
			continue;
		snprintf(file, sizeof(file), PMU "events/%s", entry->d_name);
		events[nr_events++].nr = number(file);
	}
	if (!dir || !nr_events)
		errx(EX_UNAVAILABLE, "no virtual PMU with events");
	closedir(dir);
	qsort(events, nr_events, sizeof(*events), by_number);
}

/* Logical counters */

static void hpc_begin(void)
{
	char text[4096], *at = text;
	int type = number(PMU "type");
	unsigned int i;

	for (i = 0; i < nr_events; i++)
		at += i ? sprintf(at, " e%u=%d:%u", events[i].nr, type, events[i].nr) :
			  sprintf(at, "cycles=%d:%u", type, events[i].nr);
	put("/sys/fs/cgroup/cgroup.subtree_control", "+cpu");
	if (mkdir(GROUP, 0755))
		err(EX_OSERR, GROUP);
	put(HPC "enabled", "0");
	put(HPC "events", text);
	put(HPC "mode", "user");
	put(HPC "enabled", "1");
}

static struct event *find(unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr_events && events[i].nr != nr; i++)
		;
	return &events[i < nr_events ? i : 0];
}

/* Return: cycles until now, those of a window that has not enough data left out */
static uint64_t hpc_epoch(void)
{
	FILE *file = fopen(GROUP "/cpu.counters", "r");
	uint64_t count, cycles = 0;
	struct event *e;
	char line[256];
	unsigned int nr;

	if (!file)
		err(EX_OSERR, GROUP "/cpu.counters");
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "cycles count=%lu", &cycles) == 1 ||
		    sscanf(line, "e%u count=%lu", &nr, &count) != 2)
			continue;
		e = find(nr);
		e->count = count - e->last[0];
		e->last[0] = count;
	}
	fclose(file);
	return cycles;
}

static void hpc_end(void)
{
	put(HPC "enabled", "0");
	put(HPC "mode", "all");
	put(HPC "events", " ");
	rmdir(GROUP);
}

/* Perf */

static void perf_begin(pid_t pid)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .type = number(PMU "type"), .disabled = 1,
		.enable_on_exec = 1, .exclude_kernel = 1, .pinned = 1, .inherit = 1,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
	};
	unsigned int i;

	/* cycles always have a counter, as they do in ours */
	for (i = 0; i < nr_events; i++, attr.pinned = 0) {
		attr.config = events[i].nr;
		events[i].fd = syscall(SYS_perf_event_open, &attr, pid, -1, -1, 0);
		if (events[i].fd < 0)
			err(EX_OSERR, "event %u", events[i].nr);
	}
}

static void perf_read(struct event *e)
{
	uint64_t now[3];
	double ran;

	if (read(e->fd, now, sizeof(now)) != sizeof(now))
		err(EX_OSERR, "event %u", e->nr);
	ran = now[2] - e->last[2];
	e->count = ran ? (now[0] - e->last[0]) * ((now[1] - e->last[1]) / ran) : -1;
	memcpy(e->last, now, sizeof(now));
}

static uint64_t perf_epoch(void)
{
	unsigned int i;

	for (i = 0; i < nr_events; i++)
		perf_read(&events[i]);
	return events[0].last[0];
}

/* Both */

/* The program waits until it may begin: until it is closed, nothing is in the pipe. */
static pid_t prepare(bool hpc, int cpu, char **command, int *go)
{
	int ends[2];
	pid_t pid;
	char c;

	if (pipe2(ends, O_CLOEXEC))
		err(EX_OSERR, "pipe");
	pid = fork();
	if (pid < 0)
		err(EX_OSERR, "fork");
	if (!pid) {
		close(ends[1]);
		if (hpc)
			put(GROUP "/cgroup.procs", "0");
		run_on(cpu);
		if (read(ends[0], &c, 1) < 0)
			err(EX_OSERR, "pipe");
		dup2(open("/dev/null", O_WRONLY), 1);
		mark(0);
		execvp(command[0], command);
		err(EX_NOINPUT, "%s", command[0]);
	}
	close(ends[0]);
	*go = ends[1];
	return pid;
}

static void sleep_until(struct timespec *t, unsigned int ms)
{
	t->tv_nsec += ms % 1000 * 1000000L;
	t->tv_sec += ms / 1000 + t->tv_nsec / 1000000000;
	t->tv_nsec %= 1000000000;
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, t, NULL);
}

static void print_epoch(uint64_t cycles)
{
	unsigned int i;

	for (i = 1; i < nr_events; i++)
		printf("%lu %u %.0f\n", cycles, events[i].nr, events[i].count);
}

int main(int argc, char **argv)
{
	bool hpc = argc > 4 && !strcmp(argv[1], "hpc");
	int ms, cpu, go, status = 0;
	uint64_t cycles, last = 0;
	struct timespec t;
	pid_t pid;

	if (argc < 5 || (!hpc && strcmp(argv[1], "perf")))
		errx(EX_USAGE, "usage: epochs hpc|perf MS CPU COMMAND [ARGUMENT]...");
	ms = atoi(argv[2]);
	cpu = atoi(argv[3]);
	run_on(!cpu);
	find_events();
	if (hpc)
		hpc_begin();
	pid = prepare(hpc, cpu, argv + 4, &go);
	if (!hpc)
		perf_begin(pid);
	clock_gettime(CLOCK_MONOTONIC, &t);
	close(go);
	for (;;) {
		sleep_until(&t, ms);
		if (waitpid(pid, &status, WNOHANG))
			break;
		cycles = hpc ? hpc_epoch() : perf_epoch();
		if (cycles == last)
			continue;
		print_epoch(cycles);
		last = cycles;
	}
	mark(1);
	if (hpc)
		hpc_end();
	return WIFEXITED(status) ? WEXITSTATUS(status) : EX_SOFTWARE;
}
