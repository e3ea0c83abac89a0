// SPDX-License-Identifier: GPL-2.0
/*
 * starts - what it takes to start COUNT programs that do nothing, from one of MEGABYTES
 *
 * Prints microseconds of each until it has ended, by way: fork() and exec, vfork() and exec,
 * posix_spawn(), and clone() with the parent's memory, which executes nothing. The program
 * is this one.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGE	4096UL
#define STACK	65536UL

static char *const nothing[] = { "starts", "nothing", NULL };
static char stack[STACK];

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void execute(void)
{
	execv("/proc/self/exe", nothing);
	_exit(127);
}

static pid_t by_fork(void)
{
	pid_t pid = fork();

	if (!pid)
		execute();
	return pid;
}

static pid_t by_vfork(void)
{
	pid_t pid = vfork();

	if (!pid)
		execute();
	return pid;
}

static pid_t by_spawn(void)
{
	pid_t pid;

	return posix_spawn(&pid, "/proc/self/exe", NULL, NULL, nothing, NULL) ? -1 : pid;
}

static int end(void *arg)
{
	(void)arg;
	_exit(0);
}

static pid_t by_clone(void)
{
	return clone(end, stack + STACK, CLONE_VM | SIGCHLD, NULL);
}

static void time_starts(const char *name, pid_t (*start)(void), int count)
{
	double began = now_us();
	int i, status;
	pid_t pid;

	for (i = 0; i < count; i++) {
		pid = start();
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
			fail(name);
	}
	printf("%-6s %.1f\n", name, (now_us() - began) / count);
}

int main(int argc, char **argv)
{
	int megabytes = argc > 1 ? atoi(argv[1]) : 0, count = argc > 2 ? atoi(argv[2]) : 0;
	size_t bytes = (size_t)megabytes << 20, i;
	char *p;

	if (argc == 2 && !strcmp(argv[1], nothing[1]))
		return 0;
	if (megabytes <= 0 || count <= 0) {
		fprintf(stderr, "usage: starts MEGABYTES COUNT\n");
		return 2;
	}
	p = malloc(bytes);
	if (!p)
		fail("malloc");
	for (i = 0; i < bytes; i += PAGE)
		p[i] = 1;
	time_starts("fork", by_fork, count);
	time_starts("vfork", by_vfork, count);
	time_starts("spawn", by_spawn, count);
	time_starts("clone", by_clone, count);
	free(p);
	return 0;
}
