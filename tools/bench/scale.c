// SPDX-License-Identifier: GPL-2.0
/*
 * scale - what tracking costs that grows with what is tracked
 *
 * PROCESSES touch MEGABYTES each and sleep, in CGROUPS that are tracked one by one. Prints
 * what the kernel's workers take of a CPU in a second, untracked and tracked, as "percent"
 * (the mean of EPOCHS, when all have slept for QUIET); how long it takes to track all, to
 * change the driver, and to disable tracking; and the longest fork of a tracked program
 * meanwhile. Epochs are of a second. To be run in the lab: it makes cgroups, and changes settings.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGE	4096UL
#define TOP	"/sys/fs/cgroup/scale"
#define SYSFS	"/sys/kernel/mm/path/"
#define QUIET	90
#define EPOCHS	10

static volatile bool forking;
static double longest_fork_us;

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

static void put(const char *value, const char *format, ...)
{
	char path[256];
	va_list args;
	int fd;

	va_start(args, format);
	vsnprintf(path, sizeof(path), format, args);
	va_end(args);
	fd = open(path, O_WRONLY);
	if (fd < 0 || write(fd, value, strlen(value)) < 0)
		fail(path);
	close(fd);
}

/* CPU time of all that the kernel has running by itself */
static double workers_us(void)
{
	DIR *proc = opendir("/proc");
	struct dirent *d;
	double us = 0;
	char path[300], text[64];
	struct timespec t;
	clockid_t clock;
	FILE *f;

	if (!proc)
		fail("/proc");
	while ((d = readdir(proc))) {
		if (!atoi(d->d_name))
			continue;
		snprintf(path, sizeof(path), "/proc/%s/comm", d->d_name);
		f = fopen(path, "r");
		if (f && fgets(text, sizeof(text), f) && !strncmp(text, "kworker", 7) &&
		    !clock_getcpuclockid(atoi(d->d_name), &clock) && !clock_gettime(clock, &t))
			us += t.tv_sec * 1e6 + t.tv_nsec / 1e3;
		if (f)
			fclose(f);
	}
	closedir(proc);
	return us;
}

static void start(int cgroup, size_t bytes)
{
	char pid[16], path[64];
	size_t i;
	char *p;

	snprintf(pid, sizeof(pid), "%d", getpid());
	snprintf(path, sizeof(path), TOP "/%d/cgroup.procs", cgroup);
	put(pid, "%s", path);
	p = malloc(bytes);
	if (!p)
		_exit(1);
	for (i = 0; i < bytes; i += PAGE)
		p[i] = 1;
	pause();
	_exit(0);
}

static double measure(void)
{
	double before;

	sleep(QUIET);
	before = workers_us();
	sleep(EPOCHS);
	return (workers_us() - before) / EPOCHS;
}

static void *forks(void *arg)
{
	double began, took;
	pid_t pid;

	while (forking) {
		began = now_us();
		pid = fork();
		if (!pid)
			_exit(0);
		took = now_us() - began;
		if (took > longest_fork_us)
			longest_fork_us = took;
		waitpid(pid, NULL, 0);
		usleep(1000);
	}
	return arg;
}

static void make_cgroups(int nr)
{
	char path[64];
	int i;

	mkdir(TOP, 0755);
	put("+memory", "/sys/fs/cgroup/cgroup.subtree_control");
	put("+memory", TOP "/cgroup.subtree_control");
	for (i = 0; i < nr; i++) {
		snprintf(path, sizeof(path), TOP "/%d", i);
		if (mkdir(path, 0755) && errno != EEXIST)
			fail(path);
	}
}

static void timed(const char *what, const char *value, const char *file)
{
	double began = now_us();

	put(value, SYSFS "%s", file);
	printf("%s_ms %.1f\n", what, (now_us() - began) / 1e3);
}

/* From a tracked program that forks all the time */
static void change(void)
{
	pthread_t thread;
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", getpid());
	put(pid, TOP "/0/cgroup.procs");
	forking = true;
	if (pthread_create(&thread, NULL, forks, NULL))
		fail("pthread_create");
	sleep(1);
	longest_fork_us = 0;
	timed("driver", "replay", "driver");
	put("emul", SYSFS "driver");
	sleep(2);
	timed("disable", "0", "enabled");
	forking = false;
	pthread_join(thread, NULL);
	printf("longest_fork_ms %.1f\n", longest_fork_us / 1e3);
}

static void idle(int processes, int cgroups, size_t bytes)
{
	pid_t *pids = calloc(processes, sizeof(*pids));
	double began, untracked;
	int i;

	make_cgroups(cgroups);
	for (i = 0; i < processes; i++) {
		pids[i] = fork();
		if (!pids[i])
			start(i % cgroups, bytes);
		if (pids[i] < 0)
			fail("fork");
	}
	untracked = measure();
	put("1", SYSFS "enabled");
	began = now_us();
	for (i = 0; i < cgroups; i++)
		put("1", TOP "/%d/memory.path.track", i);
	printf("track_ms %.1f\n", (now_us() - began) / 1e3);
	printf("untracked_percent %.4f\n", untracked / 1e4);
	printf("tracked_percent %.4f\n", measure() / 1e4);
	change();
	for (i = 0; i < processes; i++)
		kill(pids[i], SIGKILL);
	free(pids);
}

int main(int argc, char **argv)
{
	int processes = argc > 2 ? atoi(argv[1]) : 0, cgroups = argc > 2 ? atoi(argv[2]) : 0;

	if (processes <= 0 || cgroups <= 0) {
		fprintf(stderr, "usage: scale PROCESSES CGROUPS [MEGABYTES]\n");
		return 2;
	}
	idle(processes, cgroups, (size_t)(argc > 3 ? atoi(argv[3]) : 0) << 20);
	return 0;
}
