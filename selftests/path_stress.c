// SPDX-License-Identifier: GPL-2.0
/*
 * Everything at once: tracked programs are killed, fork, and are swapped; cgroups
 * come and go; drivers are switched, tracking is switched off and on, memory limits
 * change. Programs check their data all the time, and in the end nothing is left: no
 * context, no slab object.
 *
 * usage: path_stress [seconds (20)]
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "path_util.h"

#define SWITCHES	1000
#define NR_PAGES	1024UL		/* of a program; a quarter of them on a slow machine */
#define SLOWER		5
#define PACE		10

/* Shared with all processes: how often each thing was done, and what was wrong */
struct shared {
	unsigned long kills, forks, cgroups, switches, toggles, limits, rounds, wrong;
	bool stop;
};

static struct shared *shared;
static char *top;
static unsigned long nr_pages = NR_PAGES;

static void count(unsigned long *what)
{
	__atomic_fetch_add(what, 1, __ATOMIC_RELAXED);
}

/* Count a thing that was done, but not one that failed. */
static void count_if(bool done, unsigned long *what)
{
	if (done)
		count(what);
}

static bool stopped(void)
{
	return __atomic_load_n(&shared->stop, __ATOMIC_RELAXED);
}

static __volatile__ unsigned long *word(char *p, size_t page)
{
	return (unsigned long *)(p + page * PAGE) + page % 500;
}

/* A program counts in its pages, remaps them now and then, and checks. */
static void go_rounds(unsigned long n)
{
	char *p = path_map(nr_pages * PAGE, false), *to;
	unsigned long round, i;

	for (round = 0; round < n && !stopped(); round++) {
		for (i = 0; i < nr_pages; i++)
			if ((*word(p, i))++ != round)
				count(&shared->wrong);
		if (round % 4 == 1 && !mprotect(p, nr_pages * PAGE / 2, PROT_READ))
			mprotect(p, nr_pages * PAGE / 2, PROT_READ | PROT_WRITE);
		if (round % 4 == 3) {
			to = mremap(p, nr_pages * PAGE, 2 * nr_pages * PAGE, MREMAP_MAYMOVE);
			if (to != MAP_FAILED)
				p = mremap(to, 2 * nr_pages * PAGE, nr_pages * PAGE, 0);
		}
		count(&shared->rounds);
	}
	munmap(p, nr_pages * PAGE);
}

static bool move_self(const char *cg)
{
	return !path_cg_write(cg, "cgroup.procs", "0");
}

static void make(char *dir, size_t size, const char *name, int i)
{
	snprintf(dir, size, "%s/%s%d", top, name, i);
	mkdir(dir, 0755);
}

/* Long-lived */
static void worker(int id)
{
	char dir[300];

	make(dir, sizeof(dir), "work", id);
	path_track(dir, true);
	move_self(dir);
	while (!stopped())
		go_rounds(50);
}

/* A program is killed at any time, and at times when it is certainly tracked, which counts. */
static void killer(int id)
{
	int status, wait, i = 0;
	char dir[300];
	bool tracked;
	pid_t pid;

	make(dir, sizeof(dir), "kill", id);
	path_track(dir, true);
	while (!stopped()) {
		pid = fork();
		if (!pid) {
			move_self(dir);
			go_rounds(ULONG_MAX);
			_exit(0);
		}
		path_sleep_ms(20 + pid % 50);
		wait = i++ & 1 ? 0 : 1000;
		while (wait-- && !path_tracks(dir, pid) && !stopped())
			path_sleep_ms(10);
		tracked = path_tracks(dir, pid);
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
		count_if(WIFSIGNALED(status) && tracked, &shared->kills);
	}
}

/* A bounded fork bomb: a tree of 2 + 4 + 8 + 16 */
static void bomb(int depth)
{
	int i;

	count(&shared->forks);
	for (i = 0; depth && i < 2; i++)
		if (!fork()) {
			bomb(depth - 1);
			_exit(0);
		}
	go_rounds(1);
	while (wait(NULL) > 0)
		;
}

static void bomber(int id)
{
	char dir[300];
	pid_t pid;

	make(dir, sizeof(dir), "bomb", id);
	path_track(dir, true);
	while (!stopped()) {
		pid = fork();
		if (!pid) {
			move_self(dir);
			bomb(4);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
}

/* Cgroups that are made, tracked, left and removed */
static void gardener(int id)
{
	char dir[300];
	bool tracked;
	pid_t pid;
	int i = 0;

	while (!stopped()) {
		make(dir, sizeof(dir), "garden", i++ % 8);
		tracked = !path_cg_write(dir, "memory.path.track", "1");
		pid = fork();
		if (!pid) {
			move_self(dir);
			go_rounds(2);
			move_self(top);
			_exit(0);
		}
		if (i & 1)
			path_cg_write(dir, "memory.path.track", "0");
		waitpid(pid, NULL, 0);
		count_if(!rmdir(dir) && tracked, &shared->cgroups);
	}
}

/* Give the programs time to make progress, also on a slow machine. */
static void leave_ms(unsigned int ms)
{
	path_sleep_ms(path_slow() ? ms * PACE : ms);
}

static void switcher(int id)
{
	int most = path_slow() ? SWITCHES / 10 : SWITCHES, tries = 0, ret;

	while (!stopped()) {
		if (tries < most) {
			ret = path_write(PATH_SYSFS "driver", tries++ & 1 ? "emul" : "replay");
			count_if(!ret, &shared->switches);
			if (path_slow())
				leave_ms(20);
		} else {
			path_write(PATH_SYSFS "driver", "emul");
			leave_ms(50);
		}
	}
}

static void toggler(int id)
{
	bool off;

	while (!stopped()) {
		leave_ms(300);
		path_write(PATH_SYSFS "enabled", "0");
		leave_ms(10);
		off = !path_get("enabled");
		path_write(PATH_SYSFS "enabled", "1");
		count_if(off && path_get("enabled") == 1, &shared->toggles);
	}
}

static void squeezer(int id)
{
	int ret;

	while (!stopped()) {
		ret = path_cg_write(top, "memory.max", path_have_swap() ? "24M" : "200M");
		leave_ms(200);
		ret |= path_cg_write(top, "memory.max", "max");
		path_cg_write(top, "memory.reclaim", "8M");
		leave_ms(100);
		count_if(!ret, &shared->limits);
	}
}

/* A process that reads all files all the time */
static void reader(int id)
{
	static const char * const files[] = {
		"memory.path.mrc", "memory.path.regions", "memory.path.region_mrc",
		"memory.path.stat",
	};
	unsigned int i = 0;

	while (!stopped()) {
		free(path_cg_slurp(top, files[i++ % ARRAY_SIZE(files)]));
		path_sleep_ms(20);
	}
}

static void (* const parts[])(int id) = {
	worker, worker, killer, bomber, gardener, switcher, toggler, squeezer, reader,
};

/* kB of memory that only the kernel's own objects take */
static long long slab_kb(void)
{
	char *text = path_slurp("/proc/meminfo"), *at = text ? strstr(text, "SUnreclaim:") : NULL;
	long long kb = at ? atoll(at + 11) : 0;

	free(text);
	return kb;
}

static bool wait_no_contexts(void)
{
	unsigned long end = path_hangs_at(10);

	while (path_get("stats/contexts") && path_now_ms() < end)
		path_sleep_ms(20);
	return !path_get("stats/contexts");
}

static bool all_done(void)
{
	return shared->kills && shared->forks && shared->cgroups && shared->switches &&
	       shared->toggles && shared->limits;
}

/* Run for @seconds; on a slow machine until all was done, at most SLOWER times as long. */
static void stress(unsigned int seconds)
{
	pid_t pid[ARRAY_SIZE(parts)];
	unsigned int tenths;
	size_t i;

	shared->stop = false;
	fflush(stdout);
	for (i = 0; i < ARRAY_SIZE(parts); i++) {
		pid[i] = fork();
		if (!pid[i]) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			parts[i](i);
			_exit(0);
		}
	}
	for (tenths = 0; tenths < seconds * 10 ||
	     (!all_done() && tenths < SLOWER * seconds * 10); tenths++)
		path_sleep_ms(100);
	__atomic_store_n(&shared->stop, true, __ATOMIC_RELAXED);
	for (i = 0; i < ARRAY_SIZE(parts); i++)
		path_wait(pid[i], 30);
}

static void clean_up(void)
{
	char dir[300];
	size_t i;

	path_cg_write(top, "memory.max", "max");
	for (i = 0; i < 16; i++) {
		static const char * const names[] = { "work", "kill", "bomb", "garden" };
		size_t k;

		for (k = 0; k < ARRAY_SIZE(names); k++) {
			snprintf(dir, sizeof(dir), "%s/%s%zu", top, names[k], i);
			rmdir(dir);
		}
	}
}

int main(int argc, char **argv)
{
	unsigned int seconds = argc > 1 ? atoi(argv[1]) : 20;
	long long before, after, records;
	unsigned long end;
	bool none;

	path_start(4, (SLOWER + 1) * seconds + 120);
	shared = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (path_slow())
		nr_pages = NR_PAGES / 4;
	top = path_cg(NULL, "stress");
	path_cg_write(top, "cgroup.subtree_control", "+memory");
	path_exact(64);
	/* small logs, because there are many programs; the records are not counted */
	path_set(PATH_EMUL "log_entries", "1024");
	path_track(top, true);
	/* run once before, for what is allocated once */
	stress(2);
	clean_up();
	wait_no_contexts();
	before = slab_kb();
	records = path_get("stats/records");
	stress(seconds);
	ksft_test_result(path_eq(shared->wrong, 0), "all data is right\n");
	records = path_get("stats/records") - records;
	ksft_test_result(path_true(all_done()) && path_gt(records, 0), "all was done\n");
	ksft_print_msg("%lu rounds, %lu kills, %lu forks, %lu cgroups\n", shared->rounds,
		       shared->kills, shared->forks, shared->cgroups);
	ksft_print_msg("%lu switches, %lu toggles, %lu limits, %lld records\n", shared->switches,
		       shared->toggles, shared->limits, records);
	none = wait_no_contexts();
	ksft_print_msg("%lld contexts, %lld records\n", path_get("stats/contexts"),
		       path_get("stats/records"));
	ksft_test_result(path_true(none), "no context is left\n");
	clean_up();
	path_track(top, false);
	path_set("enabled", "0");
	/* what is freed after a grace period comes when it likes */
	end = path_hangs_at(15);
	do {
		path_sleep_ms(1000);
		after = slab_kb();
	} while (after - before >= 1024 && path_now_ms() < end);
	ksft_print_msg("slab: %lld kB before, %lld kB after\n", before, after);
	/* KASAN keeps freed objects for a while; kmemleak finds leaks then */
	if (access("/sys/kernel/debug/kmemleak", F_OK))
		ksft_test_result(path_lt(after - before, 1024), "no slab objects are left\n");
	else
		ksft_test_result_skip("kmemleak looks for what is left\n");
	ksft_finished();
}
