// SPDX-License-Identifier: GPL-2.0
/*
 * scale - what tracking costs that grows with what is tracked
 *
 *	scale idle PROCESSES CGROUPS [MEGABYTES]
 *
 * PROCESSES touch MEGABYTES each and sleep, in CGROUPS that are tracked one by one. Prints
 * what the kernel's workers take of a CPU in a second, untracked and tracked, as "percent"
 * (the mean of EPOCHS, when all have slept for QUIET); how long it takes to track all, to
 * change the driver, and to disable tracking; and the longest fork of a tracked program
 * meanwhile. Epochs are of a second.
 *
 *	scale exit MEGABYTES	CPU time of the life of a process of 200 pages, alone in its
 *				cgroup and beside one that has touched so much; every page is
 *				logged, for LIRS
 *	scale reclaim CGROUPS	CPU time of a program that is twice as large as its cgroup,
 *				which is replaced by LIRS, alone and beside so many like it
 *	scale threads COUNT	CPU time to make so many threads, and how long forks with them take
 *	scale mappings COUNT	CPU time to map so many MiB one by one, which the kernel merges,
 *				and how long forks take then
 *	scale areas COUNT	CPU time to make so many VMAs of a page, to touch all, and to unmap
 *				them
 *	scale sparse TERABYTES	CPU time to touch a page in each 512 MiB of so much
 *	scale fault MEGABYTES	CPU time of the longest touch, of all pages of so much; every
 *				page is logged, for LIRS
 *
 *	scale storm THREADS	faults on so many CPUs at once: each thread touches STORM pages of
 *				its own, ROUNDS times; every touch is logged. Prints
 *				microseconds for each touch, and the CPU time of the longest
 *
 * These print microseconds untracked and tracked ("exit" and "reclaim": tracked alone, and
 * beside others), and the ratio of the two. To be run in the lab: it makes cgroups, and
 * changes settings.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGE	4096UL
#define TOP	"/sys/fs/cgroup/scale"
#define SYSFS	"/sys/kernel/mm/path/"
#define QUIET	90
#define EPOCHS	10
#define LIVES	200
#define FORKS	3
#define STACK	(64UL << 10)
#define STORM	512
#define ROUNDS	2

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

static double cpu_us(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

/*
 * By all threads of the program. The clock would also tell what others do on a machine of one CPU:
 * RCU that frees what the last program had, and the worker, as it falls.
 */
static double own_us(void)
{
	return cpu_us(CLOCK_PROCESS_CPUTIME_ID);
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

static struct rusage used;	/* by the last program that has ended in run() */

/* More waits may be for a lock. */
static void print_used(const char *what)
{
	double us = (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e6 +
		    used.ru_utime.tv_usec + used.ru_stime.tv_usec;

	printf("# %s: %.1f us of CPU, %ld waits, %ld preemptions, %ld major faults\n", what, us,
	       used.ru_nvcsw, used.ru_nivcsw, used.ru_majflt);
}

/* A process in cgroup @cgroup that runs @work and tells up to two results, or sleeps then */
static pid_t run(int cgroup, void (*work)(size_t nr, double *us), size_t nr, double *us)
{
	double result[2] = { 0, 0 };
	char pid[16];
	int fd[2];
	pid_t child;

	if (pipe(fd))
		fail("pipe");
	child = fork();
	if (child < 0)
		fail("fork");
	if (!child) {
		snprintf(pid, sizeof(pid), "%d", getpid());
		put(pid, TOP "/%d/cgroup.procs", cgroup);
		work(nr, result);
		if (write(fd[1], result, sizeof(result)) != sizeof(result))
			_exit(1);
		if (us)
			_exit(0);
		pause();
		_exit(0);
	}
	close(fd[1]);
	if (read(fd[0], result, sizeof(result)) != sizeof(result))
		fail("the program that is measured");
	close(fd[0]);
	if (!us)
		return child;
	memcpy(us, result, sizeof(result));
	wait4(child, NULL, 0, &used);
	return 0;
}

static void print_pair(const char *what, const char *before, const char *after, double us,
		       double us_after)
{
	printf("%s_%s_us %.1f\n%s_%s_us %.1f\n%s_ratio %.3f\n", what, before, us, what, after,
	       us_after, what, us_after / us);
}

static void touch(char *p, size_t bytes)
{
	size_t i;

	for (i = 0; i < bytes; i += PAGE)
		((volatile char *)p)[i] = 1;
}

static char *map(size_t bytes, int prot)
{
	char *p = mmap(NULL, bytes, prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		fail("mmap");
	return p;
}

static void touch_megabytes(size_t megabytes, double *us)
{
	(void)us;
	touch(map(megabytes << 20, PROT_READ | PROT_WRITE), megabytes << 20);
}

/* The least of some: the tick may let another thread run in one of them. */
static double time_fork(void)
{
	double began, took, least = 0;
	pid_t pid;
	int i;

	for (i = 0; i < FORKS; i++) {
		began = now_us();
		pid = fork();
		if (!pid)
			_exit(0);
		took = now_us() - began;
		if (pid < 0)
			fail("fork");
		waitpid(pid, NULL, 0);
		if (!i || took < least)
			least = took;
	}
	return least;
}

/* Each touches 200 pages of its own. */
static void live(size_t lives, double *us)
{
	double began = cpu_us(CLOCK_PROCESS_CPUTIME_ID);
	struct rusage children;
	size_t i;
	pid_t pid;

	for (i = 0; i < lives; i++) {
		pid = fork();
		if (!pid) {
			touch(map(200 * PAGE, PROT_READ | PROT_WRITE), 200 * PAGE);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
	getrusage(RUSAGE_CHILDREN, &children);
	us[0] = cpu_us(CLOCK_PROCESS_CPUTIME_ID) - began;
	us[0] += children.ru_utime.tv_sec * 1e6 + children.ru_utime.tv_usec;
	us[0] += children.ru_stime.tv_sec * 1e6 + children.ru_stime.tv_usec;
	us[0] /= lives;
}

static void start_tracking(void)
{
	put("1", SYSFS "enabled");
	put("1", TOP "/0/memory.path.track");
}

static void exits(size_t megabytes)
{
	double alone[2], beside[2];
	pid_t large;

	make_cgroups(1);
	put("1048576", SYSFS "sample_pages");
	put("0", SYSFS "drivers/emul/overhead_target");
	start_tracking();
	put("lirs", TOP "/0/memory.path.replace");
	run(0, live, LIVES, alone);
	run(0, live, LIVES, alone);
	large = run(0, touch_megabytes, megabytes, NULL);
	run(0, live, LIVES, beside);
	print_pair("exit", "alone", "beside", alone[0], beside[0]);
	kill(large, SIGKILL);
}

/* Round and round in twice as much as the cgroup may have */
static void exceed(size_t megabytes, double *us)
{
	char *p = map(megabytes << 20, PROT_READ | PROT_WRITE);
	int i;

	for (i = 0; i < 4; i++)
		touch(p, megabytes << 20);
	us[0] = cpu_us(CLOCK_PROCESS_CPUTIME_ID);
}

static void reclaim(size_t cgroups)
{
	double alone[2], beside[2];
	size_t i;

	make_cgroups(cgroups);
	start_tracking();
	put("16M", TOP "/0/memory.max");
	put("lirs", TOP "/0/memory.path.replace");
	run(0, exceed, 32, alone);
	run(0, exceed, 32, alone);
	for (i = 1; i < cgroups; i++) {
		put("1", TOP "/%zu/memory.path.track", i);
		put("lirs", TOP "/%zu/memory.path.replace", i);
	}
	run(0, exceed, 32, beside);
	print_pair("reclaim", "alone", "beside", alone[0], beside[0]);
}

static void *wait_for_end(void *arg)
{
	pthread_mutex_lock(arg);
	pthread_mutex_unlock(arg);
	return NULL;
}

static void make_threads(size_t nr, double *us)
{
	pthread_mutex_t end = PTHREAD_MUTEX_INITIALIZER;
	pthread_t *thread = calloc(nr, sizeof(*thread));
	pthread_attr_t attr;
	double began;
	size_t i;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK);
	pthread_mutex_lock(&end);
	began = own_us();
	for (i = 0; i < nr; i++)
		if (pthread_create(&thread[i], &attr, wait_for_end, &end))
			fail("pthread_create");
	us[0] = own_us() - began;
	us[1] = time_fork();
	pthread_mutex_unlock(&end);
	for (i = 0; i < nr; i++)
		pthread_join(thread[i], NULL);
	free(thread);
}

static void make_mappings(size_t nr, double *us)
{
	double began = own_us();
	size_t i;

	for (i = 0; i < nr; i++)
		map(1 << 20, PROT_NONE);
	us[0] = own_us() - began;
	us[1] = time_fork();
}

static double time_munmap(char *p, size_t bytes)
{
	double began = own_us();

	if (munmap(p, bytes))
		fail("munmap");
	return own_us() - began;
}

static void make_areas(size_t nr, double *us)
{
	double began = own_us();
	char *p = map(nr * PAGE, PROT_READ | PROT_WRITE);
	size_t i;

	for (i = 0; i < nr; i += 2)
		if (mprotect(p + i * PAGE, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC))
			fail("mprotect");
	touch(p, nr * PAGE);
	us[0] = own_us() - began;
	us[1] = time_fork();
	us[0] += time_munmap(p, nr * PAGE);
}

static void touch_sparse(size_t terabytes, double *us)
{
	double began = own_us();
	char *p = map(terabytes << 40, PROT_READ | PROT_WRITE);
	size_t i;

	for (i = 0; i < terabytes << 40; i += 512UL << 20)
		p[i] = 1;
	us[0] = own_us() - began;
	us[1] = time_fork();
	us[0] += time_munmap(p, terabytes << 40);
}

static void find_longest(size_t megabytes, double *us)
{
	volatile char *p = map(megabytes << 20, PROT_READ | PROT_WRITE);
	double took, began = cpu_us(CLOCK_THREAD_CPUTIME_ID);
	size_t i;

	for (i = 0; i < megabytes << 20; i += PAGE) {
		p[i] = 1;
		took = cpu_us(CLOCK_THREAD_CPUTIME_ID);
		if (took - began > us[0])
			us[0] = took - began;
		began = took;
	}
	us[1] = time_fork();
}

static void faults(size_t megabytes)
{
	double untracked[2], tracked[2];

	make_cgroups(1);
	run(0, find_longest, megabytes, untracked);
	put("0", SYSFS "drivers/emul/overhead_target");
	start_tracking();
	put("lirs", TOP "/0/memory.path.replace");
	run(0, find_longest, megabytes, tracked);
	print_pair("fault", "untracked", "tracked", untracked[0], tracked[0]);
	printf("fault_more_ms %.2f\n", (tracked[0] - untracked[0]) / 1e3);
}

/* A thread of the storm: it begins with all others. */
struct toucher {
	pthread_barrier_t *begin;
	pthread_t thread;
	size_t cpu;
	double longest;
};

static void *touch_own(void *arg)
{
	struct toucher *t = arg;
	volatile char *p = map(STORM * PAGE, PROT_READ | PROT_WRITE);
	double began, took;
	cpu_set_t cpus;
	size_t i;

	CPU_ZERO(&cpus);
	CPU_SET(t->cpu, &cpus);
	if (pthread_setaffinity_np(pthread_self(), sizeof(cpus), &cpus))
		fail("pthread_setaffinity_np");
	madvise((void *)p, STORM * PAGE, MADV_NOHUGEPAGE);
	pthread_barrier_wait(t->begin);
	began = cpu_us(CLOCK_THREAD_CPUTIME_ID);
	for (i = 0; i < ROUNDS * STORM; i++) {
		p[i % STORM * PAGE] = 1;
		took = cpu_us(CLOCK_THREAD_CPUTIME_ID);
		if (took - began > t->longest)
			t->longest = took - began;
		began = took;
	}
	return NULL;
}

static void touch_at_once(size_t nr, double *us)
{
	struct toucher *t = calloc(nr, sizeof(*t));
	pthread_barrier_t begin;
	double began;
	size_t i;

	pthread_barrier_init(&begin, NULL, nr + 1);
	for (i = 0; i < nr; i++) {
		t[i].begin = &begin;
		t[i].cpu = i;
		if (pthread_create(&t[i].thread, NULL, touch_own, &t[i]))
			fail("pthread_create");
	}
	pthread_barrier_wait(&begin);
	began = now_us();
	for (i = 0; i < nr; i++) {
		pthread_join(t[i].thread, NULL);
		if (t[i].longest > us[1])
			us[1] = t[i].longest;
	}
	us[0] = (now_us() - began) / (ROUNDS * STORM);
	free(t);
}

static void storm(size_t threads)
{
	double untracked[2], tracked[2];

	make_cgroups(1);
	run(0, touch_at_once, threads, untracked);
	run(0, touch_at_once, threads, untracked);
	put("0", SYSFS "drivers/emul/overhead_target");
	put("128", SYSFS "drivers/emul/pab_entries");
	start_tracking();
	run(0, touch_at_once, threads, tracked);
	print_pair("storm", "untracked", "tracked", untracked[0], tracked[0]);
	print_pair("longest", "untracked", "tracked", untracked[1], tracked[1]);
	printf("longest_more_ms %.2f\n", (tracked[1] - untracked[1]) / 1e3);
}

static void compare(const char *what, void (*work)(size_t nr, double *us), size_t nr)
{
	double untracked[2], tracked[2];

	make_cgroups(1);
	/* it may be tracked since the last time */
	put("0", TOP "/0/memory.path.track");
	run(0, work, nr, untracked);
	run(0, work, nr, untracked);
	print_used("untracked");
	start_tracking();
	run(0, work, nr, tracked);
	print_used("tracked");
	print_pair(what, "untracked", "tracked", untracked[0], tracked[0]);
	print_pair("fork", "untracked", "tracked", untracked[1], tracked[1]);
	printf("fork_more_ms %.2f\n", (tracked[1] - untracked[1]) / 1e3);
}

static void threads(size_t nr)
{
	compare("threads", make_threads, nr);
}

static void mappings(size_t nr)
{
	compare("mappings", make_mappings, nr);
}

static void areas(size_t nr)
{
	compare("areas", make_areas, nr);
}

static void sparse(size_t terabytes)
{
	compare("sparse", touch_sparse, terabytes);
}

static const struct {
	const char *name;
	void (*run)(size_t nr);
} modes[] = {
	{ "exit", exits },
	{ "reclaim", reclaim },
	{ "threads", threads },
	{ "mappings", mappings },
	{ "areas", areas },
	{ "sparse", sparse },
	{ "fault", faults },
	{ "storm", storm },
};

int main(int argc, char **argv)
{
	size_t i, nr = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	int cgroups = argc > 3 ? atoi(argv[3]) : 0;

	if (nr && cgroups > 0 && !strcmp(argv[1], "idle")) {
		idle(nr, cgroups, (size_t)(argc > 4 ? atoi(argv[4]) : 0) << 20);
		return 0;
	}
	for (i = 0; nr && i < sizeof(modes) / sizeof(*modes); i++) {
		if (!strcmp(argv[1], modes[i].name)) {
			modes[i].run(nr);
			return 0;
		}
	}
	fprintf(stderr, "usage: scale idle PROCESSES CGROUPS [MEGABYTES]\n"
			"       scale exit|reclaim|threads|mappings|areas|sparse|fault|storm NUMBER\n");
	return 2;
}
