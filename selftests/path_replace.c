// SPDX-License-Identifier: GPL-2.0
/*
 * memory.path.replace: which pages leave memory. Programs count in their pages and check
 * them, so that a page that is lost, or freed too early, is noticed. The worth of a policy
 * is measured by major faults, with readahead off. Their number depends on how soon a worker
 * gets to run, so they are compared in virtual time only. How much of a full machine is the
 * policies' choice must not depend on that.
 *
 * usage: path_replace [emul|vpath [worth|machine]]
 *
 * The first word is the driver. "worth" runs the cases for virtual time, "machine" only those in
 * which the whole machine is full.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "path_util.h"

#define NR_CASES	51
#define NR_WORTH	11
#define NR_MACHINE	4
#define FILE_NAME	"memory.path.replace"
#define PAB		16
#define KSM		"/sys/kernel/mm/ksm/"
#define GUP_TEST	"/sys/kernel/debug/gup_test"

/* As in mm/gup_test.h */
#define PIN_START	_IOW('g', 7, struct pin)
struct pin {
	uint64_t addr, size;
	uint32_t flags;		/* 1: write */
};

#define MAX_PARTS	16

/* Shared with all programs */
struct shared {
	unsigned long major, wrong, ready, rounds;
	unsigned long policies, kills, forks, cgroups, swaps, unmaps, reads, breaks, reborn;
	unsigned long seen[MAX_PARTS];	/* when a part of the storm did something, ms */
	unsigned long longest;
	unsigned long in_memory[2], looks[2];	/* of the programs that hold clean pages */
	const char *idler;
	bool stop, enough, told_apart;
};

static struct shared *shared;
static const char *driver = "emul";

static void count(unsigned long *what, unsigned long n)
{
	__atomic_fetch_add(what, n, __ATOMIC_RELAXED);
}

static unsigned long counted(const unsigned long *what)
{
	return __atomic_load_n(what, __ATOMIC_RELAXED);
}

static bool stopped(void)
{
	return __atomic_load_n(&shared->stop, __ATOMIC_RELAXED);
}

/* A debug kernel has time for a small program only. */
static size_t loop_pages(void)
{
	return path_slow() ? 1024 : 2048;
}

static const char *loop_max(void)
{
	return path_slow() ? "3M" : "5M";
}

/* In the second round all pages that have left are read. A debug kernel has no time for more. */
static unsigned int loop_rounds(void)
{
	return path_slow() ? 2 : 3;
}

static int result_of(unsigned long wrong)
{
	count(&shared->wrong, wrong);
	if (wrong)
		ksft_print_msg("%lu pages wrong\n", wrong);
	return wrong ? KSFT_FAIL : KSFT_PASS;
}

/* Programs */

struct job {
	size_t pages;
	unsigned int rounds;	/* 0: until told to end */
	const char *cg;
	bool pushed;		/* more rounds, until the policy of @cg has pushed out pages */
};

static long long pushed_out(const char *cg);

/* Is @round, counted from 0, one too many? A worker may come later than some rounds take. */
static bool is_over(const struct job *job, unsigned long round)
{
	if (!job->rounds)
		return stopped();
	return round >= job->rounds && (!job->pushed || round >= 64UL * job->rounds ||
					pushed_out(job->cg) > 0);
}

/* Pause, so that a worker gets to run even on a busy machine. */
static int loop(void *arg)
{
	struct job *job = arg;
	char *p = path_map(job->pages * PAGE, false);
	unsigned long round, wrong = 0;
	size_t i;

	for (round = 0; !is_over(job, round); round++) {
		for (i = 0; i < job->pages; i++) {
			wrong += (*path_word(p, i))++ != round;
			if (i % 32 == 0)
				path_sleep_ms(1);
		}
		count(&shared->rounds, 1);
	}
	shared->major = path_major_faults();
	return result_of(wrong);
}

/* A few pages are touched often, most seldom. */
static int zipf(void *arg)
{
	struct job *job = arg;
	char *p = path_map(job->pages * PAGE, false);
	unsigned int *times = calloc(job->pages, sizeof(*times));
	unsigned long seed = 1, i, r, page, wrong;

	wrong = path_go_round(p, job->pages, 0);
	for (i = 0; i % job->pages ? job->rounds || !stopped() : !is_over(job, i / job->pages);
	     i++) {
		r = path_rand(&seed) % 1024;
		/* a cube, and the page is not where its neighbours in rank are */
		page = (r * r * r >> 10) * job->pages >> 20;
		page = page * 769 % job->pages;
		wrong += (*path_word(p, page))++ != 1UL + times[page]++;
	}
	shared->major = path_major_faults();
	return result_of(wrong);
}

/*
 * Four of five touches go to a quarter of the pages, which fits, the others to any page. With
 * the pauses of loop(), or the kernel kills at times: see path_keep_counting().
 */
static int hot_and_cold(void *arg)
{
	struct job *job = arg;
	char *p = path_map(job->pages * PAGE, false);
	unsigned int *times = calloc(job->pages, sizeof(*times));
	unsigned long seed = 1, i, r, page, wrong = path_go_round(p, job->pages, 0);

	for (i = 0; i < job->pages * job->rounds; i++) {
		r = path_rand(&seed);
		page = r / 8 % (r % 5 ? job->pages / 4 : job->pages);
		page = page * 769 % job->pages;
		wrong += (*path_word(p, page))++ != 1UL + times[page]++;
		if (i % 32 == 0)
			path_sleep_ms(1);
	}
	shared->major = path_major_faults();
	return result_of(wrong);
}

/*
 * Two regions. One is a loop. After each second touch of it, a random page of the other region
 * is touched, so that a page there is worth more than one of the loop.
 */
static int two_regions(void *arg)
{
	struct job *job = arg;
	size_t others = job->pages / 4, pages = job->pages - others, i, other;
	char *p = path_map(pages * PAGE, false), *q = path_map(others * PAGE, false);
	unsigned short *times = calloc(others, sizeof(*times));
	unsigned long round, wrong = 0, seed = 1;
	struct path_region a, b;

	for (round = 0; round < job->rounds; round++)
		for (i = 0; i < pages; i++) {
			wrong += (*path_word(p, i))++ != round;
			if (i % 32 == 0)
				path_sleep_ms(1);
			if (i % 2)
				continue;
			other = path_rand(&seed) % others;
			wrong += (*path_word(q, other))++ != times[other]++;
		}
	shared->major = path_major_faults();
	if (path_region_at(job->cg, getpid(), p, &a) &&
	    path_region_at(job->cg, getpid(), q, &b)) {
		ksft_print_msg("loop %s %lu of %ld, other %s %lu of %ld\n", a.policy, a.in_memory,
			       a.target, b.policy, b.in_memory, b.target);
		/* of pages touched at random, either policy keeps as many */
		shared->told_apart = !strcmp(a.policy, "mru") &&
				     b.target >= (long)others * 3 / 4;
	}
	return result_of(wrong);
}

/* Hold pages, and read them again when told to end. */
static int hold(void *arg)
{
	struct job *job = arg;
	char *p = path_map(job->pages * PAGE, false);
	unsigned long wrong;

	/* what is touched before that is not known */
	if (job->cg && !path_wait_tracks(job->cg, getpid(), true))
		return KSFT_FAIL;
	wrong = path_go_round(p, job->pages, 0);
	count(&shared->ready, 1);
	while (!stopped())
		path_sleep_ms(20);
	return result_of(wrong + path_go_round(p, job->pages, 1));
}

static bool wait_count(const unsigned long *what, unsigned long n)
{
	unsigned long end = path_hangs_at(60);

	while (counted(what) < n) {
		if (path_now_ms() > end)
			return false;
		path_sleep_ms(20);
	}
	return true;
}

static bool wait_ready(unsigned long n)
{
	return wait_count(&shared->ready, n);
}

/* Programs that begin from now on hold their pages, or loop over them, until end_hold(). */
static void begin_hold(void)
{
	shared->ready = 0;
	shared->rounds = 0;
	shared->stop = false;
}

static bool end_hold(pid_t pid)
{
	__atomic_store_n(&shared->stop, true, __ATOMIC_RELAXED);
	return path_eq(path_wait(pid, 120), KSFT_PASS);
}

/* Cgroups */

static int set_policy(const char *cg, const char *policy)
{
	return path_cg_write(cg, FILE_NAME, policy);
}

static long long stat_of(const char *cg, const char *key)
{
	return path_cg_key(cg, "memory.path.stat", key);
}

static char *tracked(const char *parent, const char *name, const char *policy)
{
	char *cg = path_cg(parent, name);
	int ret;

	path_track(cg, true);
	ret = set_policy(cg, policy);
	if (ret)
		ksft_print_msg("%s: %s\n", policy, strerror(-ret));
	return cg;
}

/*
 * Pages that the policy has pushed out. Those that the disk has written before the kernel looks
 * again are freed at once. How many these are depends on how slow the kernel is.
 */
static long long pushed_out(const char *cg)
{
	return stat_of(cg, "replace_written") + stat_of(cg, "replace_freed");
}

/* memory.stat counts pages that the policy has freed like those freed by the kernel. */
static bool stat_has_it(const char *cg)
{
	long long gone = stat_of(cg, "replace_supplied") + stat_of(cg, "replace_freed");

	if (path_cg_key(cg, "memory.stat", "pgsteal") >= gone &&
	    path_cg_key(cg, "memory.stat", "pgscan") >= gone)
		return true;
	ksft_print_msg("memory.stat counts less\n");
	return false;
}

static long long vm_event(const char *name)
{
	return path_cg_key("/proc", "vmstat", name);
}

/* Reclaim in bites, with time for the worker in between. */
static void bite(const char *cg, const char *bytes, unsigned int times)
{
	while (times--) {
		path_cg_write(cg, "memory.reclaim", bytes);
		path_sleep_ms(path_slow() ? 150 : 30);
	}
}

/*
 * Wait until @count of @arg is at least @n. Reclaim in @from has the worker run. Few pages leave,
 * however long the worker waits for a CPU.
 */
static bool wait_worker(long long (*count)(const void *arg), const void *arg, long long n,
			const char *from, unsigned int bites)
{
	unsigned long end;

	while (bites--) {
		path_cg_write(from, "memory.reclaim", "4K");
		end = path_hangs_at(1);
		while (count(arg) < n && path_now_ms() < end)
			path_sleep_ms(20);
		if (count(arg) >= n)
			return true;
	}
	return path_ge(count(arg), n);
}

static long long known(const void *cg)
{
	return stat_of(cg, "replace_known");
}

/* Wait until the worker has counted what the policy knows. */
static bool wait_known(const char *cg, const char *from, size_t pages, unsigned int bites)
{
	return wait_worker(known, cg, pages, from, bites);
}

/* Of all policies, this one is in brackets. */
static bool shows(const char *cg, const char *policy)
{
	char *text = path_cg_slurp(cg, FILE_NAME), *at = text ? strchr(text, '[') : NULL;
	size_t len = strlen(policy);
	bool good = path_true(at) && path_true(!strncmp(at + 1, policy, len)) &&
		    path_eq(at[len + 1], ']') && path_true(!strchr(at + 1, '['));

	if (!good)
		ksft_print_msg("%s, not %s\n", text ? text : "nothing", policy);
	free(text);
	return good;
}

/* The file */

static void test_file(void)
{
	static const char * const bad[] = {
		"", "\n", "LIRS", "lir", "lirs mru", "lirs,", "[lirs]", "0", "none\nlirs",
	};
	char *cg = path_cg(NULL, "file"), name[600], big[3000];
	bool good = true;
	size_t i;
	int fd;

	ksft_test_result(path_eq(set_policy(cg, "lirs"), -ENODATA) &&
			 path_eq(set_policy(cg, "none"), 0) && shows(cg, "none"),
			 "a cgroup that is not tracked has no policy\n");
	path_track(cg, true);
	good = shows(cg, "none") && path_eq(set_policy(cg, "lru"), 0) && shows(cg, "lru") &&
	       path_eq(set_policy(cg, "auto"), 0) && shows(cg, "auto") &&
	       path_eq(set_policy(cg, "region"), 0) && shows(cg, "region") &&
	       path_eq(set_policy(cg, "  lirs\n"), 0) && shows(cg, "lirs") &&
	       path_eq(set_policy(cg, "mru\n"), 0) && shows(cg, "mru");
	ksft_test_result(good, "each policy is taken and shown\n");
	memset(big, 'l', sizeof(big));
	big[sizeof(big) - 1] = '\0';
	good = path_eq(set_policy(cg, big), -EINVAL);
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		if (*bad[i] && set_policy(cg, bad[i]) != -EINVAL) {
			ksft_print_msg("\"%s\" was taken\n", bad[i]);
			good = false;
		}
	ksft_test_result(good && shows(cg, "mru"), "other words are refused\n");
	path_track(cg, false);
	good = shows(cg, "none");
	path_track(cg, true);
	ksft_test_result(good && shows(cg, "none") && path_eq(set_policy(cg, "lirs"), 0),
			 "track 0 takes the policy back\n");
	snprintf(name, sizeof(name), "%s/" FILE_NAME, cg);
	fd = open(name, O_WRONLY);
	good = path_ge(fd, 0) && path_eq(rmdir(cg), 0) && path_lt(write(fd, "lru", 3), 0) &&
	       path_eq(errno, ENODEV);
	close(fd);
	ksft_test_result(good && path_true(access(PATH_CGROUP "/" FILE_NAME, F_OK)),
			 "a removed cgroup takes none, and the root has none\n");
	path_cg_remove(cg);
}

/* The worth of a policy */

/* Major faults of a program with @limit of memory, or -1 on an error */
static long faults(const char *policy, int (*fn)(void *arg), struct job *job,
		   const char *limit, const char *max)
{
	char *cg = tracked(NULL, "faults", policy);
	long long supplied, missed, written, freed, left;
	unsigned long start = path_now_ms();
	int ret;

	path_cg_write(cg, limit, max);
	shared->major = 0;
	job->cg = cg;
	job->pushed = strcmp(policy, "none");
	ret = path_run(cg, fn, job, 60);
	supplied = stat_of(cg, "replace_supplied");
	written = stat_of(cg, "replace_written");
	freed = stat_of(cg, "replace_freed");
	missed = stat_of(cg, "replace_missed");
	left = stat_of(cg, "replace_left");
	ksft_print_msg("%-4s %lu faults, %lu ms\n", policy, shared->major,
		       path_now_ms() - start);
	ksft_print_msg("written %lld freed %lld supplied %lld missed %lld left %lld\n",
		       written, freed, supplied, missed, left);
	if (!stat_has_it(cg))
		ret = KSFT_FAIL;
	if (strcmp(policy, "none") && written + freed <= 0) {
		ksft_print_msg("it did nothing\n");
		ret = KSFT_FAIL;
	}
	path_cg_remove(cg);
	return ret ? -1 : (long)shared->major;
}

/* With any policy, pages come back from swap as they were. */
static void test_data(void)
{
	static const char * const names[] = { "lru", "mru", "region", "lirs", "auto" };
	struct job job = { loop_pages(), loop_rounds() };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		ksft_test_result(faults(names[i], loop, &job, "memory.max", loop_max()) >= 0,
				 "a loop with %s\n", names[i]);
	ksft_test_result(faults("lirs", zipf, &job, "memory.max", loop_max()) >= 0,
			 "and no loop\n");
}

/* Beside a feature of the kernel that moves pages. @event, if given, tells that it has worked. */
static void test_beside(const char *file, const char *event, const char *name)
{
	struct job job = { loop_pages(), loop_rounds() };
	long long before = event ? vm_event(event) : 0;
	char was[64], now[64];
	bool good;

	if (path_read(file, was, sizeof(was)) <= 0) {
		ksft_test_result_skip("no %s\n", name);
		return;
	}
	path_save(file);
	good = path_eq(path_write(file, "y"), 0) && path_gt(path_read(file, now, sizeof(now)), 0) &&
	       path_ne(*now, 'N') && path_true(strcmp(now, "0x0000\n")) &&
	       faults("lirs", loop, &job, "memory.max", loop_max()) >= 0 &&
	       faults("auto", loop, &job, "memory.max", loop_max()) >= 0;
	good &= path_eq(path_write(file, was), 0);
	ksft_test_result(good && path_true(!event || vm_event(event) > before), "loops with %s\n",
			 name);
}

static bool fewer(long than, long these, unsigned int percent)
{
	return than > 0 && these >= 0 && these * 100 < than * (long)percent;
}

/*
 * With a policy the kernel's own reclaim seldom runs. When it does, old statistics must not make
 * it find nothing. Here no process keeps them fresh.
 */
static void test_old_counts(void)
{
	struct job job = { loop_pages(), 10 };
	bool good = faults("lirs", zipf, &job, "memory.max", "2M") >= 0;

	good &= faults("lirs", zipf, &job, "memory.max", "2500K") >= 0;
	ksft_test_result(good, "a program with little memory is not killed\n");
}

/* After the first round it only reads, at random, with rests: what leaves is mostly clean. */
static int read_only(void *arg)
{
	struct job *job = arg;
	char *p = path_map(job->pages * PAGE, false);
	unsigned long seed = 1, i, wrong = path_go_round(p, job->pages, 0);

	for (i = 0; i < job->pages * job->rounds; i++) {
		wrong += *path_word(p, path_rand(&seed) % job->pages) != 1;
		if (i % 16 == 0)
			path_sleep_ms(2);
	}
	return result_of(wrong);
}

/*
 * After 256 clean victims, auto leaves the choice to the kernel, for half a second at first. It
 * tries again then, because the phase of a program may have changed. This takes some seconds.
 */
static void test_clean(void)
{
	char *cg = tracked(NULL, "clean", "auto");
	struct job job = { 1024, 24, .cg = cg };
	long long left, freed;
	unsigned int i;
	bool good;
	pid_t pid;

	path_cg_write(cg, "memory.max", "3M");
	pid = path_spawn(cg, read_only, &job);
	for (i = 0; i < 600 && stat_of(cg, "replace_left") < 1024; i++)
		path_sleep_ms(20);
	freed = stat_of(cg, "replace_freed");
	good = path_eq(path_wait(pid, 60), KSFT_PASS);
	left = stat_of(cg, "replace_left");
	freed = stat_of(cg, "replace_freed") - freed;
	ksft_print_msg("left %lld, freed %lld since the first thousand of them\n", left, freed);
	ksft_test_result(good && path_gt(left, 4 * freed), "clean pages are left to the kernel\n");
	ksft_test_result(path_ge(freed, 256), "and looked at again\n");
	path_cg_remove(cg);
}

static void test_worth(void)
{
	struct job job = { loop_pages(), 5 };
	long none = faults("none", loop, &job, "memory.max", loop_max());

	ksft_test_result(fewer(none, faults("lirs", loop, &job, "memory.max", loop_max()), 90),
			 "lirs takes fewer faults in a loop\n");
	ksft_test_result(fewer(none, faults("mru", loop, &job, "memory.max", loop_max()), 90),
			 "so does mru\n");
	ksft_test_result(fewer(none, faults("lru", loop, &job, "memory.max", loop_max()), 110),
			 "lru takes no more than the kernel\n");
	job.rounds = 40;
	none = faults("none", two_regions, &job, "memory.max", loop_max());
	ksft_test_result(fewer(none, faults("region", two_regions, &job, "memory.max", loop_max()),
			       85), "region takes fewer where a loop has a neighbour\n");
	ksft_test_result(path_true(shared->told_apart),
			 "MRU keeps a part of it, and all of the neighbour\n");
	job.rounds = 10;
	none = faults("none", hot_and_cold, &job, "memory.max", loop_max());
	ksft_test_result(fewer(none, faults("lirs", hot_and_cold, &job, "memory.max", loop_max()),
			       110), "nor lirs where there is no loop\n");
}

/* Kinds of pages */

#define HUGE_PAGES	512UL
#define KIND_MAX	"6M"

static char *kind_cg;
static size_t kind_pages;	/* pages of a kind; the limit is three times as many */

struct kind {
	const char *name, *counter;	/* NULL: those that were pushed out */
	char *(*make)(void);
	bool other;		/* the content is not the program's */
	unsigned int alone;	/* of so many pages one is counted before others come */
};

static char *make_locked(void)
{
	char *p = path_map(kind_pages * PAGE, false);

	return mlock(p, kind_pages * PAGE) ? NULL : p;
}

static char *make_shmem(void)
{
	char *p = mmap(NULL, kind_pages * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

static char *make_file(void)
{
	int fd = open("/proc/self/exe", O_RDONLY);
	struct stat st;
	char *p;

	/* the largest that is certain to be there */
	if (fd >= 0 && !fstat(fd, &st) && (size_t)st.st_size < kind_pages * PAGE) {
		close(fd);
		fd = open("/bin/bash", O_RDONLY);
	}
	if (fd < 0 || fstat(fd, &st) || (size_t)st.st_size < kind_pages * PAGE / 2)
		return NULL;
	p = mmap(NULL, kind_pages * PAGE / 2, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	return p == MAP_FAILED ? NULL : p;
}

/* Two huge pages, because the kernel splits the first one that it meets. */
static char *make_huge(void)
{
	char *p = path_map(2 * HUGE_PAGES * PAGE, true);
	size_t i;

	for (i = 0; i < 2 * HUGE_PAGES; i++)
		*path_word(p, i) = i + 1;
	return p;
}

static char *make_plain(void)
{
	return path_map(kind_pages * PAGE, false);
}

static void fill(char *p)
{
	size_t i;

	for (i = 0; i < kind_pages; i++)
		memset(p + i * PAGE, 0x5a, PAGE);
}

static char *make_ksm(void)
{
	char *p = path_map(kind_pages * PAGE, false);
	int i;

	fill(p);
	if (madvise(p, kind_pages * PAGE, MADV_MERGEABLE) || path_write(KSM "run", "1"))
		return NULL;
	path_write(KSM "pages_to_scan", "2000");
	path_write(KSM "sleep_millisecs", "10");
	for (i = 0; i < 500 && path_number(KSM "pages_sharing") < (long long)kind_pages / 2; i++)
		path_sleep_ms(20);
	path_write(KSM "run", "0");
	return i < 500 ? p : NULL;
}

static char *make_pinned(void)
{
	char *p = path_map(kind_pages * PAGE, false);
	struct pin pin = { (uintptr_t)p, kind_pages * PAGE / 2, 1 };
	int fd = open(GUP_TEST, O_RDWR);

	/* until the program ends */
	return fd < 0 || ioctl(fd, PIN_START, &pin) ? NULL : p;
}

/* Written to swap, and mapped again for reading: clean, and in the swap cache */
static char *make_cached(void)
{
	char *p = path_map(kind_pages * PAGE, false);
	unsigned long wrong = path_go_round(p, kind_pages, 0);
	size_t i;

	if (madvise(p, kind_pages * PAGE, MADV_PAGEOUT))
		return NULL;
	for (i = 0; i < kind_pages; i++)
		wrong += *path_word(p, i) != 1;
	return wrong ? NULL : p;
}

static unsigned long sum(const char *p, size_t bytes)
{
	unsigned long s = 0;

	for (; bytes; bytes--, p++)
		s = s * 31 + *(__volatile__ const char *)p;
	return s;
}

static pid_t share(char *p, unsigned long s)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	while (!stopped())
		path_sleep_ms(20);
	_exit(sum(p, kind_pages * PAGE) == s ? KSFT_PASS : KSFT_FAIL);
}

static long long kind_count(const void *arg)
{
	const struct kind *kind = arg;

	return kind->counter ? stat_of(kind_cg, kind->counter) : pushed_out(kind_cg);
}

/* Touch the pages of the kind first, so that they are the first victims. Then loop over others. */
static int use_kind(void *arg)
{
	struct kind *kind = arg;
	bool shared_too = kind->make == make_plain;
	size_t bytes = (kind->make == make_file ? kind_pages / 2 : kind_pages) * PAGE, i;
	struct job job = { 3 * kind_pages, 2, kind_cg, true };
	long long least = kind->alone ? kind_pages / kind->alone : 1;
	unsigned long s;
	char *p = kind->make();
	int ret, status = 0;
	pid_t pid = 0;

	if (!p)
		return KSFT_SKIP;
	for (i = 0; i < kind_pages && !kind->other; i++)
		*path_word(p, i) = i * 11 + 1;
	s = sum(p, bytes);
	if (shared_too)
		pid = share(p, s);
	/* the worker must look at them before the kernel does: few leave until then */
	ret = wait_worker(kind_count, kind, least, kind_cg, 8) ? loop(&job) : KSFT_FAIL;
	__atomic_store_n(&shared->stop, true, __ATOMIC_RELAXED);
	if (pid && (waitpid(pid, &status, 0) != pid || status))
		return KSFT_FAIL;
	if (sum(p, bytes) != s) {
		ksft_print_msg("its data is wrong\n");
		return KSFT_FAIL;
	}
	return ret;
}

static struct kind kinds[] = {
	{ "locked", "replace_refused_locked", make_locked },
	{ "shared after a fork", "replace_refused_shared", make_plain },
	{ "shared memory", "replace_refused_file", make_shmem },
	{ "a file", "replace_refused_file", make_file, true },
	{ "huge", "replace_refused_huge", make_huge },
	{ "pinned", "replace_refused_pinned", make_pinned },
	{ "merged", "replace_refused_shared", make_ksm, true },
	{ "in the swap cache", "replace_freed", make_cached, true, 8 },
	/* what swap has of them is old */
	{ "in the swap cache and dirty", NULL, make_cached, false, 8 },
};

/* Run a kind in a cgroup of its own, kind_cg. A debug kernel has time for half of the pages. */
static int run_kind(struct kind *kind, const char *policy)
{
	char max[32];

	kind_pages = path_slow() && kind->make != make_huge ? HUGE_PAGES / 2 : HUGE_PAGES;
	snprintf(max, sizeof(max), "%lu", 3 * kind_pages * PAGE);
	shared->stop = false;
	kind_cg = tracked(NULL, "kind", policy);
	path_cg_write(kind_cg, "memory.max", max);
	return path_run(kind_cg, use_kind, kind, 60);
}

static void test_kind(struct kind *kind)
{
	int ret = run_kind(kind, "lru");
	long long n = kind_count(kind);

	if (ret != KSFT_PASS)
		ksft_print_msg("written %lld, freed %lld\n", stat_of(kind_cg, "replace_written"),
			       stat_of(kind_cg, "replace_freed"));
	if (ret == KSFT_PASS && n <= 0) {
		ksft_print_msg("%s is %lld\n", kind->counter ?: "what was pushed out", n);
		ret = KSFT_FAIL;
	}
	ksft_test_result_report(ret, "pages that are %s\n", kind->name);
	path_cg_remove(kind_cg);
}

static void test_kinds(void)
{
	size_t i;

	path_write(PATH_THP, "madvise");
	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		test_kind(&kinds[i]);
}

/*
 * A page that is used all the time stays in the page access buffer. It is logged once, and is
 * then the page that was logged longest ago. It falls out of emul's buffers at times, which are
 * FIFO. Returns in shared->major how often the hot page was reclaimed.
 */
static int use_hot(void *arg)
{
	struct job *job = arg;
	char *p = path_map(job->pages * PAGE, false), *hot = path_map(PAGE, false);
	unsigned long round, wrong = 0, before, lost = 0;
	size_t i;

	for (round = 0; round < job->rounds; round++)
		for (i = 0; i < job->pages; i++) {
			wrong += (*path_word(p, i))++ != round;
			before = path_faults();
			++*path_word(hot, 0);
			lost += path_faults() - before;
			if (i % 32 == 0)
				path_sleep_ms(1);
		}
	shared->major = lost;
	return result_of(wrong);
}

static void test_hot(void)
{
	struct job job = { 1536, 6 };
	char *cg = tracked(NULL, "hot", "lru");
	long long refused;
	int ret;

	path_cg_write(cg, "memory.max", KIND_MAX);
	ret = path_run(cg, use_hot, &job, 60);
	refused = stat_of(cg, "replace_refused_hot");
	ksft_print_msg("refused %lld times, taken %lu times\n", refused, shared->major);
	if (ret || strcmp(driver, "emul"))
		ksft_test_result(path_eq(ret, 0) && path_lt((long long)shared->major, refused / 4),
				 "what is hot does not leave\n");
	else
		ksft_test_result_skip("emul takes pages away itself, to see them\n");
	path_cg_remove(cg);
}

/* More of them than lirs has places for pages that may leave next */
static void test_stuck(void)
{
	int ret = run_kind(&kinds[0], "lirs");
	char *cg = kind_cg;
	long long refused, gone;

	refused = stat_of(cg, "replace_refused_locked");
	gone = pushed_out(cg);
	ksft_print_msg("%lld refused, %lld left\n", refused, gone);
	ksft_test_result(path_eq(ret, 0) && path_gt(gone, 0) &&
			 path_le(refused, 2 * (long long)kind_pages),
			 "pages that cannot leave are not tried for ever\n");
	path_cg_remove(cg);
}

static void test_programs(void)
{
	char *cg = tracked(NULL, "several", "lirs");
	struct job job = { path_slow() ? loop_pages() / 2 : loop_pages(), loop_rounds(), cg, true };
	pid_t pid[3];
	bool good = true;
	size_t i;

	path_cg_write(cg, "memory.max", loop_max());
	for (i = 0; i < ARRAY_SIZE(pid); i++)
		pid[i] = path_spawn(cg, loop, &job);
	for (i = 0; i < ARRAY_SIZE(pid); i++)
		good &= path_eq(path_wait(pid[i], 60), KSFT_PASS);
	ksft_print_msg("written %lld, freed %lld\n", stat_of(cg, "replace_written"),
		       stat_of(cg, "replace_freed"));
	ksft_test_result(good && path_gt(pushed_out(cg), 0), "several programs in one cgroup\n");
	path_cg_remove(cg);
}

/* Disks */

#define WRITING	256UL

/* Each time it is told to, use pages again that are being written to a slow disk. */
static int write_slowly(void *arg)
{
	char *p = path_map(WRITING * PAGE, false);
	unsigned long wrong = 0, round;
	size_t i;

	for (round = 0; !stopped(); round++) {
		wrong += path_go_round(p, WRITING, round);
		madvise(p, WRITING * PAGE, MADV_PAGEOUT);
		/* read all that has been written by now at once: one by one takes too long */
		madvise(p, WRITING * PAGE, MADV_WILLNEED);
		for (i = 0; i < WRITING; i++)
			wrong += *path_word(p, i) != round + 1;
		count(&shared->ready, 1);
		while (!stopped() && counted(&shared->rounds) <= round)
			path_sleep_ms(5);
	}
	madvise(p, WRITING * PAGE, MADV_WILLNEED);
	return result_of(wrong + path_go_round(p, WRITING, round));
}

static long long writing(void)
{
	return path_write("/proc/sys/vm/stat_refresh", "1") ? -1 : vm_event("nr_writeback");
}

static void wait_written(void)
{
	int i;

	for (i = 0; i < 500 && writing(); i++)
		path_sleep_ms(20);
}

/* While most pages are being written: does the worker look at them, and leave them? */
static bool refused_writing(const char *cg)
{
	long long busy = stat_of(cg, "replace_refused_busy") + WRITING / 4;
	long long freed = stat_of(cg, "replace_freed");
	int i;

	for (i = 0; i < 10; i++) {
		bite(cg, "64K", 1);
		if (writing() < (long long)WRITING / 2)
			return false;
		if (stat_of(cg, "replace_refused_busy") >= busy)
			return stat_of(cg, "replace_freed") == freed;
	}
	return false;
}

static void test_writeback(void)
{
	char *cg = tracked(NULL, "writeback", "lru");
	long long before = 0, freed = 0;
	bool good = false;
	unsigned int i;
	pid_t pid;

	/* each CPU keeps some room of the disks that are there */
	path_swap_off();
	/* a debug kernel takes longer to send them to the disk than the disk does with one */
	if (path_slow() || !path_swap_null(16, 500000)) {
		ksft_test_result_skip("no null_blk disk, or a slow kernel\n");
		goto out;
	}
	begin_hold();
	pid = path_spawn(cg, write_slowly, NULL);
	for (i = 1; i < 20 && !good && wait_ready(i); i++) {
		good = refused_writing(cg);
		before = stat_of(cg, "replace_freed");
		/*
		 * The kernel's own reclaim, asked as fast as the disk writes, would have each of
		 * them; and those that are touched while they are written have to be once more.
		 */
		wait_written();
		count(&shared->rounds, !good);
	}
	for (i = 0; i < 100 && good && freed < (long long)WRITING / 8; i++) {
		path_sleep_ms(200);
		bite(cg, "64K", 1);
		freed = stat_of(cg, "replace_freed") - before;
	}
	ksft_print_msg("%s, %lld refused, then %lld freed\n", good ? "seen" : "not seen",
		       stat_of(cg, "replace_refused_busy"), freed);
	ksft_test_result(end_hold(pid) && good && path_ge(freed, (long long)WRITING / 8),
			 "pages that are being written leave later\n");
out:
	path_cg_remove(cg);
	path_swap_restore();
}

static void test_no_swap(void)
{
	char *cg = tracked(NULL, "noswap", "lirs");
	struct job small = { 512, 1 }, large = { 4096, 1 };
	bool off = path_swap_off(), good;
	pid_t pid;

	begin_hold();
	path_cg_write(cg, "memory.max", KIND_MAX);
	pid = path_spawn(cg, hold, &small);
	good = path_true(wait_ready(1));
	bite(cg, "1M", 10);
	good &= end_hold(pid);
	if (stat_of(cg, "replace_refused_busy") > 0)
		ksft_print_msg("%lld pages pushed out that cannot leave\n",
			       stat_of(cg, "replace_refused_busy"));
	ksft_test_result(good && path_true(off) &&
			 path_eq(stat_of(cg, "replace_refused_busy"), 0) &&
			 path_eq(path_cg_key(cg, "memory.events", "oom_kill"), 0),
			 "without swap nothing is tried\n");
	ksft_test_result(path_ne(path_run(cg, loop, &large, 30), KSFT_PASS) && path_true(off) &&
			 path_eq(path_cg_key(cg, "memory.events", "oom_kill"), 1),
			 "and a program that needs more than there is gets killed, once\n");
	path_swap_restore();
	path_cg_remove(cg);
}

static void test_zram(void)
{
	struct job job = { loop_pages(), loop_rounds() };

	path_swap_off();
	if (path_swap_zram(32))
		ksft_test_result(faults("lirs", loop, &job, "memory.max", loop_max()) >= 0,
				 "zram\n");
	else
		ksft_test_result_skip("no zram\n");
	path_swap_restore();
}

/*
 * zram writes synchronously. All victims are freed at once, the reserve is always empty, and the
 * kernel chooses many pages itself. So not much is gained.
 */
static void test_zram_worth(void)
{
	struct job job = { loop_pages(), 5 };
	long none, lirs;

	path_swap_off();
	if (!path_swap_zram(32)) {
		ksft_test_result_skip("no zram\n");
	} else {
		none = faults("none", loop, &job, "memory.max", loop_max());
		lirs = faults("lirs", loop, &job, "memory.max", loop_max());
		ksft_test_result(fewer(none, lirs, 110), "zram: no more faults than without\n");
	}
	path_swap_restore();
}

/* Every other 64 KiB of the disk cannot be written. The data stays right. */
static void test_errors(void)
{
	struct job job = { loop_pages(), loop_rounds() };
	unsigned int sector;
	char stripe[32];
	bool bad;
	char *cg;
	int ret;

	bad = path_swap_null(16, 20);
	for (sector = 128; bad && sector < 32768; sector += 256) {
		snprintf(stripe, sizeof(stripe), "+%u-%u", sector, sector + 127);
		bad = path_swap_bad(stripe);
	}
	if (!bad) {
		ksft_test_result_skip("no null_blk disk\n");
		path_swap_restore();
		return;
	}
	cg = tracked(NULL, "errors", "lirs");
	path_cg_write(cg, "memory.max", loop_max());
	job.cg = cg;
	job.pushed = true;
	ret = path_run(cg, loop, &job, 60);
	ksft_print_msg("written %lld, reused %lld, supplied %lld\n", stat_of(cg, "replace_written"),
		       stat_of(cg, "replace_reused"), stat_of(cg, "replace_supplied"));
	ksft_test_result(path_eq(ret, 0) && path_gt(pushed_out(cg), 0),
			 "a disk that fails to write\n");
	path_cg_remove(cg);
	path_swap_restore();
}

/* Ways into reclaim */

static void test_reclaim(void)
{
	char *cg = tracked(NULL, "reclaim", "lru");
	struct job job = { 1536, 1 };
	long long supplied = 0, now;
	bool good;
	pid_t pid;
	int i;

	begin_hold();
	pid = path_spawn(cg, hold, &job);
	good = path_true(wait_ready(1)) && wait_known(cg, cg, 1, 8);
	/* from here on reclaim pushes out victims itself */
	for (i = 0; i < 30 && supplied <= 0; i++) {
		bite(cg, "128K", 1);
		supplied = stat_of(cg, "replace_supplied");
	}
	ksft_print_msg("supplied %lld\n", supplied);
	ksft_test_result(good && path_gt(supplied, 0), "memory.reclaim is supplied\n");
	bite(cg, "128K swappiness=0", 8);
	now = stat_of(cg, "replace_supplied");
	if (now != supplied)
		ksft_print_msg("supplied %lld\n", now);
	ksft_test_result(end_hold(pid) && path_eq(now, supplied), "but not with swappiness 0\n");
	path_cg_remove(cg);
}

static void test_high(void)
{
	struct job job = { loop_pages(), 2 };

	ksft_test_result(faults("lirs", loop, &job, "memory.high", loop_max()) >= 0,
			 "memory.high\n");
}

static long long swap_of(const char *cg)
{
	char name[600];

	snprintf(name, sizeof(name), "%s/memory.swap.current", cg);
	return path_number(name);
}

/* Reclaim for a limit in a descendant takes only pages of the descendant. */
static void test_below(void)
{
	char *top = tracked(NULL, "below", "lru"), *quiet = path_cg(top, "quiet");
	char *other = path_cg(top, "other");
	struct job idle = { 512, 1 }, job = { loop_pages(), loop_rounds() };
	long long swapped;
	pid_t pid;
	bool good;

	path_cg_write(other, "memory.max", loop_max());
	begin_hold();
	pid = path_spawn(quiet, hold, &idle);
	good = path_true(wait_ready(1));
	good &= path_eq(path_run(other, loop, &job, 60), KSFT_PASS);
	swapped = swap_of(quiet);
	ksft_print_msg("%lld kB of the quiet one were swapped\n", swapped >> 10);
	ksft_test_result(end_hold(pid) && good && path_eq(swapped, 0),
			 "the limit of a descendant takes from no other cgroup\n");
	path_cg_remove(other);
	path_cg_remove(quiet);
	path_cg_remove(top);
}

/*
 * Clean pages, because they are in swap, too; where to store how many are in memory; and whether a
 * policy has to know them
 */
struct clean {
	size_t pages;
	unsigned int nr;
	const char *cg;
	bool known;
};

static unsigned long in_memory(char *p, size_t pages)
{
	unsigned char *in = calloc(1, pages);
	unsigned long nr = 0;
	size_t i;

	if (!path_eq(mincore(p, pages * PAGE, in), 0))
		nr = pages;
	for (i = 0; i < pages; i++)
		nr += in[i] & 1;
	free(in);
	return nr;
}

/* Push pages out of memory: those that were written leave with the next reclaim. */
static bool push_out(const char *cg, char *p, size_t pages)
{
	unsigned long end = path_hangs_at(30);

	while (in_memory(p, pages) && path_now_ms() < end) {
		madvise(p, pages * PAGE, MADV_PAGEOUT);
		path_cg_write(cg, "memory.reclaim", "8M");
		path_sleep_ms(5);
	}
	return path_eq(in_memory(p, pages), 0);
}

static unsigned long read_all(char *p, size_t pages)
{
	unsigned long wrong = 0;
	size_t i;

	for (i = 0; i < pages; i++)
		wrong += *path_word(p, i) != 1;
	return wrong;
}

static int hold_clean(void *arg)
{
	struct clean *job = arg;
	char *p = path_map(job->pages * PAGE, false);
	unsigned long wrong;

	if (job->known && !path_wait_tracks(job->cg, getpid(), true))
		return KSFT_FAIL;
	wrong = path_go_round(p, job->pages, 0);
	if (!push_out(job->cg, p, job->pages))
		return KSFT_FAIL;
	madvise(p, job->pages * PAGE, MADV_WILLNEED);
	wrong += read_all(p, job->pages);
	for (count(&shared->ready, 1); !stopped(); path_sleep_ms(20)) {
		__atomic_store_n(&shared->in_memory[job->nr], in_memory(p, job->pages),
				 __ATOMIC_RELAXED);
		count(&shared->looks[job->nr], 1);
	}
	return result_of(wrong + read_all(p, job->pages));
}

/* How many are in memory now: a look that has begun already may be too old. */
static long held(unsigned int nr)
{
	if (!path_true(wait_count(&shared->looks[nr], counted(&shared->looks[nr]) + 2)))
		return -1;
	return counted(&shared->in_memory[nr]);
}

/* Pages that the policy of @cg has chosen, and that were freed */
static long long given(const char *cg)
{
	return stat_of(cg, "replace_supplied") + stat_of(cg, "replace_freed");
}

static pid_t hold_few(const char *cg)
{
	struct job small = { 160, 1 };
	pid_t pid;

	begin_hold();
	pid = path_spawn(cg, hold, &small);
	wait_ready(1);
	return pid;
}

/* A small program of which the policy knows something */
static pid_t have_known(const char *cg)
{
	pid_t pid = hold_few(cg);

	wait_known(cg, cg, 1, 8);
	return pid;
}

/* A small program with so many entries in the reserve that reclaim does not have it filled */
static pid_t fill_reserve(const char *cg)
{
	pid_t pid = 0;
	int i, k;

	for (i = 0; i < 10; i++) {
		pid = hold_few(cg);
		for (k = 0; k < 4; k++) {
			bite(cg, "16K", 1);
			if (stat_of(cg, "replace_reserve") >= 48)
				return pid;
		}
		end_hold(pid);
	}
	return -1;
}

/*
 * A full reserve, which has few turns, does not keep the policy from being counted again. Above it,
 * where there are many other pages, it has no turns at all.
 */
static void test_grown(bool above)
{
	char *top = path_cg(NULL, "grown"), *cg = tracked(top, "grows", "lru");
	char *other = path_cg(top, "other");
	struct job large = { loop_pages(), 1 }, others = { above ? 16384 : 1, 1 };
	pid_t pid[3] = { above ? have_known(cg) : fill_reserve(cg) };
	bool good;

	if (pid[0] < 0) {
		ksft_test_result_skip("the worker has no time to fill the reserve\n");
		goto out;
	}
	pid[1] = path_spawn(other, hold, &others);
	good = path_true(wait_ready(2));
	/* the policy may have a first turn at once */
	bite(top, "4K", above ? 2 : 0);
	ksft_print_msg("%lld pages known, %lld in the reserve\n", stat_of(cg, "replace_known"),
		       stat_of(cg, "replace_reserve"));
	pid[2] = path_spawn(cg, hold, &large);
	good = good && path_true(wait_ready(3));
	/* when it may be counted again, one reclaim is enough, unless the worker pauses then */
	path_sleep_ms(above ? 2100 : 300);
	good = good && wait_known(cg, above ? top : cg, loop_pages() * 3 / 4, 3);
	ksft_print_msg("then %lld pages known\n", stat_of(cg, "replace_known"));
	good &= end_hold(pid[2]) & end_hold(pid[1]) & end_hold(pid[0]);
	ksft_test_result(good, "what a policy knows is counted %s\n",
			 above ? "where it has no turns" : "while its reserve is full");
out:
	path_cg_remove(cg);
	path_cg_remove(other);
	path_cg_remove(top);
}

/*
 * The protected pages are the oldest, and would leave first. There are many other clean pages, so
 * that reclaim always finds enough. If it did not, the kernel's own reclaim would take protected
 * pages.
 */
static void test_low(void)
{
	char *top = tracked(NULL, "low", "lru"), *low = path_cg(top, "protected");
	char *other = path_cg(top, "other");
	struct job quiet = { 512, 1 };
	struct clean more = { 4096, 0, other };
	long long swapped, refused;
	pid_t pid, pid_more;
	bool good;
	int i;

	quiet.cg = top;
	path_cg_write(low, "memory.low", "8M");
	begin_hold();
	pid = path_spawn(low, hold, &quiet);
	good = path_true(wait_ready(1));
	pid_more = path_spawn(other, hold_clean, &more);
	good &= path_true(wait_ready(2));
	/* the policy is not asked before the worker has counted what it knows */
	for (i = 0; i < 200 && !stat_of(top, "replace_refused_low"); i++)
		bite(top, "64K", 1);
	swapped = swap_of(low);
	refused = stat_of(top, "replace_refused_low");
	good &= end_hold(pid_more);
	ksft_print_msg("%lld kB of the protected were swapped, %lld victims refused\n",
		       swapped >> 10, refused);
	ksft_test_result(good && end_hold(pid) && path_eq(swapped, 0) && path_gt(refused, 0),
			 "memory.low of a cgroup below\n");
	path_cg_remove(other);
	path_cg_remove(low);
	path_cg_remove(top);
}

/* The pages that may not be swapped are the oldest. No reclaim tries to swap them. */
static void test_swap_max(void)
{
	char *top = tracked(NULL, "swap_max", "lru"), *none = path_cg(top, "none");
	char *other = path_cg(top, "other");
	struct job quiet = { 512, 1 };
	struct clean more = { 4096, 0, other };
	pid_t pid, pid_more;
	bool good;
	int i;

	quiet.cg = top;
	path_cg_write(none, "memory.swap.max", "0");
	begin_hold();
	pid = path_spawn(none, hold, &quiet);
	good = path_true(wait_ready(1));
	pid_more = path_spawn(other, hold_clean, &more);
	good &= path_true(wait_ready(2));
	/* the policy is not asked before the worker has counted what it knows */
	for (i = 0; i < 200 && stat_of(top, "replace_refused_swap") <= 0; i++)
		bite(top, "64K", 1);
	good &= path_eq(path_cg_key(none, "memory.swap.events", "max"), 0) &&
		path_eq(path_cg_key(none, "memory.swap.events", "fail"), 0) &&
		path_gt(stat_of(top, "replace_refused_swap"), 0);
	good &= end_hold(pid_more);
	ksft_test_result(good & end_hold(pid), "memory.swap.max of a cgroup below\n");
	path_cg_remove(other);
	path_cg_remove(none);
	path_cg_remove(top);
}

#define LAPTOP_MODE	"/proc/sys/vm/laptop_mode"
#define CACHE_MIB	160

static int fill_cache(void *arg)
{
	size_t left = CACHE_MIB << 20;
	int *fd = arg;
	char page[PAGE];

	while (left && read(*fd, page, PAGE) == (ssize_t)PAGE)
		left -= PAGE;
	return left ? KSFT_FAIL : KSFT_PASS;
}

/* How many pages has reclaim asked the policy for, or left to the kernel in its turns? */
static long long asked(const char *cg)
{
	return stat_of(cg, "replace_supplied") + stat_of(cg, "replace_missed") +
	       stat_of(cg, "replace_left");
}

/*
 * Reclaim that must not write takes no victims, which are written mostly. It may write once it has
 * found too little. Here are so many clean pages of a file that it does not.
 */
static void test_laptop(void)
{
	char *cg = tracked(NULL, "laptop", "lru");
	pid_t pid = have_known(cg);
	long long before, quiet;
	int fd = -1;
	bool good;

	/* a disk that nobody has open has no pages in memory */
	if (path_file_disk(CACHE_MIB, 0, PATH_DEPTH))
		fd = open("/dev/" PATH_FILE_DISK, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		end_hold(pid);
		path_swap_restore();
		ksft_test_result_skip("no disk for files\n");
		path_cg_remove(cg);
		return;
	}
	good = path_eq(path_run(cg, fill_cache, &fd, 60), KSFT_PASS);
	path_save(LAPTOP_MODE);
	path_write(LAPTOP_MODE, "1");
	before = asked(cg);
	bite(cg, "64K", 4);
	quiet = asked(cg);
	path_write(LAPTOP_MODE, "0");
	bite(cg, "64K", 4);
	good &= path_eq(quiet, before) && path_gt(asked(cg), quiet);
	ksft_test_result(good & end_hold(pid), "laptop_mode: reclaim that must not write\n");
	close(fd);
	path_swap_restore();
	path_cg_remove(cg);
}

/*
 * A cgroup with a policy does not pay for one without. If policies know half of the pages, they are
 * asked for one in four, and the worker may free as many. In its own turns the kernel takes pages
 * of either. All pages are clean, so that the disk does not decide which ones can be freed.
 */
static void test_share(void)
{
	char *top = path_cg(NULL, "share"), *with = tracked(top, "with", "lru");
	char *without = path_cg(top, "without");
	struct clean job[2] = { { loop_pages(), 0, with, true }, { loop_pages(), 1, without } };
	long calls = loop_pages() / 96, all, i;
	long long part;
	pid_t pid[2];
	bool good;

	begin_hold();
	pid[0] = path_spawn(with, hold_clean, &job[0]);
	pid[1] = path_spawn(without, hold_clean, &job[1]);
	good = path_true(wait_ready(2)) && wait_known(with, with, loop_pages() * 3 / 4, 8);
	/* has the pages counted */
	free(path_cg_slurp(top, "memory.stat"));
	part = given(with);
	all = held(0) + held(1);
	for (i = 0; i < calls; i++) {
		/* until the worker gives its lock back, however long it waits for a CPU with it */
		given(with);
		good &= path_eq(path_cg_write(top, "memory.reclaim", "128K"), 0);
	}
	part = given(with) - part;
	all -= held(0) + held(1);
	ksft_print_msg("%lld of %ld pages by the policy\n", part, all);
	good &= path_ge(all, 32 * calls);
	good &= path_ge(part * 100, all * 5) && path_le(part * 100, all * 60);
	good &= end_hold(pid[0]) & end_hold(pid[1]);
	ksft_test_result(good, "reclaim above takes from the policy its part\n");
	path_cg_remove(without);
	path_cg_remove(with);
	path_cg_remove(top);
}

/* The whole machine */

#define ALL_NODES	-1

/* What /proc/zoneinfo says of the zones of a node, or of all, in all lines that begin with @what */
static long in_zones(int node, const char *what)
{
	char *text = path_slurp("/proc/zoneinfo"), *line, *rest = text;
	int of = ALL_NODES;
	long pages = 0;

	while (rest && (line = strsep(&rest, "\n"))) {
		if (!strncmp(line, "Node ", strlen("Node ")))
			of = atoi(line + strlen("Node "));
		line += strspn(line, " ");
		if ((node == ALL_NODES || node == of) && !strncmp(line, what, strlen(what)))
			pages += atol(line + strlen(what));
	}
	free(text);
	return pages;
}

/* Free pages in the lists of CPUs, which may have an eighth of memory: MemFree leaves them out */
static long free_of_cpus(int node)
{
	return in_zones(node, "count:");
}

static long free_on(int node)
{
	return in_zones(node, "pages free ") + free_of_cpus(node);
}

/* Pages that the machine's own reclaim has freed */
static long long stolen(void)
{
	return vm_event("pgsteal_kswapd") + vm_event("pgsteal_direct") +
	       vm_event("pgsteal_khugepaged");
}

/* Lock all free memory, and then more until the machine reclaims. */
static void hog(size_t mib, size_t more)
{
	char *p = path_map(mib * MIB, true), *q = path_map(more * MIB, false);
	long long before = 0, now;
	size_t i = 0;
	bool good;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	path_write("/proc/self/oom_score_adj", "1000");
	good = path_eq(mlock(p, mib * MIB), 0);
	while (good && !stopped()) {
		now = stolen();
		if (now == before && i < more &&
		    !__atomic_load_n(&shared->enough, __ATOMIC_RELAXED))
			good = path_eq(mlock(q + i++ * MIB, MIB), 0);
		before = now;
		path_sleep_ms(100);
	}
	ksft_print_msg("%zu of %zu and %zu of %zu MiB locked\n", good ? mib : 0, mib, i, more);
	_exit(good ? KSFT_PASS : KSFT_FAIL);
}

static pid_t start_hog(size_t mib, size_t more)
{
	pid_t pid;

	shared->enough = false;
	fflush(stdout);
	pid = fork();
	if (!pid)
		hog(mib, more);
	return pid;
}

/* Those of cgroups at their limits */
static long long stolen_elsewhere(void)
{
	return vm_event("pgsteal_anon") + vm_event("pgsteal_file") - stolen();
}

static bool supplies(const char *cg)
{
	return stat_of(cg, "replace_supplied") >= 256 && stat_of(cg, "replace_left") > 0;
}

/* Anonymous pages that left memory, and those that a policy chose */
struct left {
	long long all, chosen;
};

static struct left left_of(char *cg[2])
{
	struct left left = { vm_event("pgsteal_anon") };
	int i;

	for (i = 0; i < 2; i++)
		left.chosen += stat_of(cg[i], "replace_supplied") +
			       stat_of(cg[i], "replace_freed");
	return left;
}

/*
 * By programs without a limit, so that victims are needed only by reclaim of the machine. What
 * leaves before auto knows which policy to follow is the kernel's choice, and not in @left.
 */
static bool fill_machine(size_t free_mib, size_t mib, char *cg[2], pid_t pid[2],
			 struct left *left)
{
	pid_t pid_hog = start_hog(free_mib, mib);
	bool good;
	int i;

	for (i = 0; i < 9000 && !(supplies(cg[0]) && supplies(cg[1])); i++)
		path_sleep_ms(20);
	*left = left_of(cg);
	for (; i < 9000 && vm_event("pgsteal_anon") < left->all + 2048; i++)
		path_sleep_ms(20);
	__atomic_store_n(&shared->enough, true, __ATOMIC_RELAXED);
	good = path_true(wait_count(&shared->rounds, counted(&shared->rounds) + 2));
	left->chosen = left_of(cg).chosen - left->chosen;
	left->all = vm_event("pgsteal_anon") - left->all;
	good &= end_hold(pid_hog);
	return good & end_hold(pid[0]) & end_hold(pid[1]);
}

/* Nodes */

#define NODE_HUGE	"/sys/devices/system/node/node1/hugepages/hugepages-2048kB/nr_hugepages"
#define NODE_PAGES	4096L		/* of the programs on each node */
#define NODE_LEFT	(5 * NODE_PAGES)	/* pages of node 1 that are free */
#define NODE_MOST	(1L << 20)		/* on a larger one somebody needs them */

struct job_on {
	struct job job;
	int node;
};

static int hold_on(void *arg)
{
	struct job_on *on = arg;
	unsigned long mask = 1UL << on->node;

	if (syscall(SYS_set_mempolicy, 2 /* MPOL_BIND */, &mask, sizeof(mask) * 8))
		return KSFT_FAIL;
	return hold(&on->job);
}

/* Anonymous pages of a cgroup on a node */
static long anon_on(const char *cg, int node)
{
	char *text = path_cg_slurp(cg, "memory.numa_stat"), *at, key[16];
	long bytes;

	snprintf(key, sizeof(key), " N%d=", node);
	at = text && !strncmp(text, "anon ", 5) ? strstr(text, key) : NULL;
	bytes = at ? atol(at + strlen(key)) : -1;
	free(text);
	return bytes / PAGE;
}

/*
 * The oldest pages that a policy knows are on a node with much free memory, and the other node is
 * full. zram takes what is pushed out at once, so no reserve becomes full and ends that.
 */
static void test_nodes(void)
{
	struct job_on old = { { NODE_PAGES, 1 }, 0 }, young = { { NODE_PAGES, 1 }, 1 };
	struct job_on more = { { 0, 1 }, 1 };
	char *cg = tracked(NULL, "nodes", "lru"), *other = path_cg(NULL, "fills");
	long before, after, full, unused;
	char nr[32];
	pid_t pid[3];
	bool good;

	path_swap_off();
	/* most of a small node is taken by huge pages that nobody uses */
	unused = free_on(1) - NODE_LEFT;
	snprintf(nr, sizeof(nr), "%ld", unused / (long)HUGE_PAGES);
	if (unused > 0 && unused < NODE_MOST)
		path_write(NODE_HUGE, nr);
	unused = path_swap_zram(256) ? free_on(1) : 0;
	if (unused < NODE_LEFT / 2 || unused > 2 * NODE_LEFT) {
		ksft_test_result_skip("%ld pages free on node 1, or no zram\n", unused);
		goto out;
	}
	begin_hold();
	pid[0] = path_spawn(cg, hold_on, &old);
	good = path_true(wait_ready(1));
	pid[1] = path_spawn(cg, hold_on, &young);
	good &= path_true(wait_ready(2));
	bite(cg, "64K", 4);
	before = anon_on(cg, 0);
	more.job.pages = free_on(1) + NODE_PAGES;
	pid[2] = path_spawn(other, hold_on, &more);
	good &= path_true(wait_ready(3));
	after = anon_on(cg, 0);
	full = anon_on(cg, 1);
	ksft_print_msg("%ld of %ld left, and %ld of the full node\n", before - after, before,
		       NODE_PAGES - full);
	good &= end_hold(pid[0]) & end_hold(pid[1]) & end_hold(pid[2]);
	ksft_test_result(good && path_ge(after, before * 3 / 4) && path_lt(full, NODE_PAGES),
			 "pages of other nodes than the full one stay\n");
out:
	path_write(NODE_HUGE, "0");
	path_cg_remove(cg);
	path_cg_remove(other);
	path_swap_restore();
}

/* Two programs, in a machine that has just enough memory for them, and then too little. */
static void test_machine(void)
{
	size_t free_mib = (path_cg_key("/proc", "meminfo", "MemAvailable:") >> 10) +
			  free_of_cpus(ALL_NODES) * PAGE / MIB;
	size_t swap_mib = path_cg_key("/proc", "meminfo", "SwapFree:") >> 10;
	struct job job = { 6144 };
	size_t mib = 2 * job.pages * PAGE / MIB, i;
	long long killed = vm_event("oom_kill"), uncounted = stolen_elsewhere();
	long long supplied = 0, freed = 0;
	struct left left;
	/* a debug kernel reclaims too slowly for the hog to see it in time */
	bool good, slow = path_slow();
	bool fits = free_mib > 4 * mib && free_mib < 4096 && swap_mib > 2 * mib && !slow;
	char *cg[2];
	pid_t pid[2];

	for (i = 0; i < NR_MACHINE && !fits; i++)
		ksft_test_result_skip("%zu MiB cannot be filled, %zu of swap%s\n", free_mib,
				      swap_mib, slow ? ", a slow kernel" : "");
	if (!fits)
		return;
	begin_hold();
	for (i = 0; i < 2; i++) {
		cg[i] = tracked(NULL, i ? "auto" : "lirs", i ? "auto" : "lirs");
		pid[i] = path_spawn(cg[i], loop, &job);
	}
	good = path_true(wait_count(&shared->rounds, 2));
	good &= path_true(fill_machine(free_mib - mib, mib + mib * 3 / 4, cg, pid, &left));
	for (i = 0; i < 2; i++) {
		supplied += stat_of(cg[i], "replace_supplied");
		ksft_print_msg("supplied %lld missed %lld left %lld\n",
			       stat_of(cg[i], "replace_supplied"),
			       stat_of(cg[i], "replace_missed"), stat_of(cg[i], "replace_left"));
		freed += stat_of(cg[i], "replace_freed");
		ksft_test_result(good && supplies(cg[i]) && stat_has_it(cg[i]),
				 "a full machine is supplied by %s\n", i ? "auto" : "lirs");
		path_cg_remove(cg[i]);
	}
	/* some turns are the kernel's, and a node may have no page that a policy knows */
	ksft_print_msg("%lld of %lld anonymous pages left by a policy\n", left.chosen, left.all);
	ksft_test_result(path_gt(2 * left.chosen, left.all), "by more than half\n");
	uncounted = stolen_elsewhere() - uncounted - freed;
	ksft_print_msg("%lld of %lld not counted\n", uncounted, supplied);
	ksft_test_result(path_lt(uncounted, supplied / 2) && path_eq(vm_event("oom_kill"), killed),
			 "which counts it, and kills no program\n");
}

/* Time that tasks in @cg waited for memory, us: "some" is the first line */
static long long stalled(const char *cg)
{
	char *text = path_cg_slurp(cg, "memory.pressure"), *at = text ? strstr(text, "total=") : 0;
	long long us = at ? atoll(at + strlen("total=")) : -1;

	free(text);
	return us;
}

static long long came_back(const char *cg, const char *what)
{
	char key[64];

	snprintf(key, sizeof(key), "workingset_%s_anon", what);
	return path_cg_key(cg, "memory.stat", key);
}

/*
 * Reclaim is requested from outside, so tasks in the cgroup wait only for pages that were
 * reclaimed and are touched again. Each is a major fault. Others are few, for pages of files.
 * memory.stat may lack the last hundred.
 */
static void test_pressure(void)
{
	struct job job = { 2048 };
	char *cg = tracked(NULL, "pressure", "lirs");
	/* there are so many that the last hundred are less than one in twenty */
	long long enough = path_slow() ? 2560 : 4096;
	long long back, restored, us = stalled(cg);
	bool psi = us >= 0;
	unsigned int i;
	bool good;
	pid_t pid;

	begin_hold();
	pid = path_spawn(cg, zipf, &job);
	for (i = 0; i < 1000 && (came_back(cg, "refault") < enough || !stalled(cg)); i++)
		bite(cg, "256K", 1);
	good = end_hold(pid);
	back = came_back(cg, "refault");
	ksft_print_msg("%lld came back, %lu major faults\n", back, shared->major);
	ksft_test_result(good && path_ge(back, enough) &&
			 path_lt(llabs(back - (long)shared->major), back / 20),
			 "what comes back is counted\n");
	us = stalled(cg);
	restored = came_back(cg, "restore");
	ksft_print_msg("%lld restored, %lld us\n", restored, us);
	if (psi)
		ksft_test_result(path_gt(us, 0) && path_gt(restored, 0), "and is pressure\n");
	else
		ksft_test_result_skip("no memory.pressure\n");
	path_cg_remove(cg);
}

/* All at once */

struct part {
	const char *name;
	void (*run)(void);
	bool waits;			/* for a call that reads all of swap back */
};

static size_t self;		/* index of the part that this program is */

static void alive(void)
{
	__atomic_store_n(&shared->seen[self], path_now_ms(), __ATOMIC_RELAXED);
}

static void did(unsigned long *what, unsigned long n)
{
	count(what, n);
	alive();
}

/* Like path_go_round(), but each page counts as progress. */
static unsigned long go_round(char *p, size_t pages, unsigned long round)
{
	unsigned long wrong = 0;
	size_t i;

	for (i = 0; i < pages; i++) {
		wrong += (*path_word(p, i))++ != round;
		alive();
	}
	return wrong;
}

static char *top, *leaf;	/* a cgroup with children has no processes */

static const char * const policies[] = { "none", "lru", "mru", "region", "lirs", "auto" };

static void move_self(const char *cg)
{
	int ret = path_cg_write(cg, "cgroup.procs", "0");

	if (ret) {
		ksft_print_msg("cannot move to %s: %s\n", cg, strerror(-ret));
		_exit(KSFT_FAIL);
	}
}

static void thrasher(void)
{
	char *p = path_map(768 * PAGE, false);
	unsigned long round, wrong = 0;

	move_self(leaf);
	for (round = 0; !stopped(); round++) {
		wrong += go_round(p, 768, round);
		did(&shared->rounds, 1);
	}
	result_of(wrong);
}

/* Free page tables while the worker looks at the pages that it pushed out. */
static void unmapper(void)
{
	unsigned long wrong = 0, bytes = 256 * PAGE;
	char *p;

	move_self(leaf);
	while (!stopped()) {
		p = path_map(bytes, false);
		wrong += go_round(p, 256, 0);
		wrong += go_round(p, 256, 1);
		munmap(p, bytes);
		did(&shared->unmaps, 1);
	}
	result_of(wrong);
}

static void switcher(void)
{
	unsigned long seed = 7;
	size_t i;

	while (!stopped()) {
		i = path_rand(&seed) % ARRAY_SIZE(policies);
		did(&shared->policies, !set_policy(top, policies[i]));
		path_sleep_ms(path_rand(&seed) % 40);
		if (path_rand(&seed) % 16 == 0) {
			path_cg_write(top, "memory.path.track", "0");
			path_cg_write(top, "memory.path.track", "1");
		}
	}
}

static void forker(void)
{
	char *p = path_map(64 * PAGE, false);
	unsigned long round, wrong = 0;
	int status, i;

	move_self(leaf);
	for (round = 0; !stopped(); round++) {
		wrong += go_round(p, 64, round);
		fflush(stdout);
		for (i = 0; i < 4; i++)
			if (!fork())
				_exit(!!go_round(p, 64, round + 1));
		while (wait(&status) > 0) {
			wrong += !WIFEXITED(status) || WEXITSTATUS(status);
			did(&shared->forks, 1);
		}
	}
	result_of(wrong);
}

/* A program that is killed because it needs more than its cgroup has */
static void killer(void)
{
	char dir[600];
	int status;
	pid_t pid;

	snprintf(dir, sizeof(dir), "%s/kill", top);
	mkdir(dir, 0755);
	path_cg_write(dir, "memory.max", "1M");
	path_cg_write(dir, "memory.swap.max", "0");
	while (!stopped()) {
		fflush(stdout);
		pid = fork();
		if (!pid) {
			char *p = path_map(4 * MIB, false);

			move_self(dir);
			_exit(!!go_round(p, 1024, 0));
		}
		waitpid(pid, &status, 0);
		did(&shared->kills, WIFSIGNALED(status));
		path_sleep_ms(100);
	}
	rmdir(dir);
}

/* A tracked cgroup with a policy is removed while the policy works. */
static void gardener(void)
{
	char dir[600];
	int i = 0;
	pid_t pid;

	while (!stopped()) {
		snprintf(dir, sizeof(dir), "%s/garden%d", top, i++ % 4);
		mkdir(dir, 0755);
		path_cg_write(dir, "memory.max", "1M");
		path_cg_write(dir, "memory.path.track", "1");
		set_policy(dir, policies[1 + i % 4]);
		fflush(stdout);
		pid = fork();
		if (!pid) {
			char *p = path_map(384 * PAGE, false);

			move_self(dir);
			_exit(!!(go_round(p, 384, 0) + go_round(p, 384, 1)));
		}
		waitpid(pid, NULL, 0);
		did(&shared->cgroups, !rmdir(dir));
	}
}

static void swapper(void)
{
	while (!stopped()) {
		path_sleep_ms(path_slow() ? 3000 : 1000);
		did(&shared->swaps, path_swap_again());
	}
}

static void reader(void)
{
	static const char * const files[] = { "memory.path.stat", FILE_NAME, "memory.stat" };

	while (!stopped()) {
		free(path_cg_slurp(top, files[shared->reads % ARRAY_SIZE(files)]));
		path_cg_write(top, "memory.reclaim", "256K");
		did(&shared->reads, 1);
		path_sleep_ms(10);
	}
}

/* A program is killed when a page cannot be read, as by the unpatched kernel, and begins again. */
static void phoenix(void)
{
	int status;
	pid_t pid;

	while (!stopped()) {
		fflush(stdout);
		pid = fork();
		if (!pid) {
			signal(SIGBUS, SIG_DFL);
			thrasher();
			_exit(KSFT_PASS);
		}
		waitpid(pid, &status, 0);
		if (WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS)
			did(&shared->reborn, 1);
		else if (status)
			result_of(1);
	}
}

/* Of a disk of 32 MiB one half fails, then all is well, then the other half fails. */
static void breaker(void)
{
	static const char * const sectors[] = { "8-32767", "32768-65535" };
	unsigned int round;
	char text[32];

	for (round = 0; !stopped(); round++) {
		snprintf(text, sizeof(text), "+%s", sectors[round % 2]);
		did(&shared->breaks, path_swap_bad(text));
		path_sleep_ms(50);
		*text = '-';
		path_swap_bad(text);
		path_sleep_ms(50);
	}
}

/* The longest that a part did nothing */
static size_t idle_parts(const struct part *parts, size_t nr)
{
	unsigned long seen, now;
	size_t i, running = 0;

	for (i = 0; i < nr; i++) {
		seen = counted(&shared->seen[i]);
		now = path_now_ms();
		if (!seen)
			continue;
		running++;
		if (!parts[i].waits && now > seen + shared->longest) {
			shared->longest = now - seen;
			shared->idler = parts[i].name;
		}
	}
	return running;
}

/* Run at least @seconds, and until all was @done. Then wait until all have ended. */
static void watch(const struct part *parts, size_t nr, unsigned int seconds, bool (*done)(void))
{
	unsigned int tenths, most = 40 * seconds;

	for (tenths = 0; idle_parts(parts, nr) && tenths < 10 * most; tenths++) {
		path_sleep_ms(100);
		if (tenths >= most || (tenths >= 10 * seconds && done()))
			__atomic_store_n(&shared->stop, true, __ATOMIC_RELAXED);
	}
	ksft_print_msg("%lu rounds, %lu policies, nothing done for %lu ms by the %s\n",
		       shared->rounds, shared->policies, shared->longest, shared->idler);
}

/* Returns whether all data was right. */
static bool all_at_once(const struct part *parts, size_t nr, unsigned int seconds,
			bool (*done)(void))
{
	pid_t pid[MAX_PARTS];
	bool good = true;

	memset(shared, 0, sizeof(*shared));
	top = tracked(NULL, "storm", "lirs");
	leaf = path_cg(top, "leaf");
	path_cg_write(top, "memory.max", "7M");
	fflush(stdout);
	for (self = 0; self < nr; self++) {
		alive();
		pid[self] = fork();
		if (!pid[self]) {
			parts[self].run();
			shared->seen[self] = 0;
			_exit(0);
		}
	}
	watch(parts, nr, seconds, done);
	while (nr--)
		good &= path_eq(path_wait(pid[nr], 30), 0);
	path_cg_remove(leaf);
	path_cg_remove(top);
	return good && path_eq(shared->wrong, 0);
}

static bool storm_disk;

static bool storm_done(void)
{
	return shared->rounds > 2 && shared->policies > 20 && shared->kills && shared->forks &&
	       shared->cgroups && shared->unmaps && (shared->swaps || !storm_disk);
}

static void test_storm(unsigned int seconds)
{
	static const struct part parts[] = {
		{ "thrasher", thrasher }, { "other thrasher", thrasher }, { "unmapper", unmapper },
		{ "switcher", switcher }, { "forker", forker }, { "killer", killer },
		{ "gardener", gardener }, { "reader", reader }, { "swapper", swapper, true },
	};
	bool good;

	storm_disk = path_have_swap() && path_swap_null(32, 20);
	good = all_at_once(parts, ARRAY_SIZE(parts) - !storm_disk, seconds, storm_done);
	ksft_test_result(path_true(good), "all at once: all data is right\n");
	ksft_print_msg("%lu killed, %lu forks, %lu cgroups, %lu swapoffs, %lu unmapped\n",
		       shared->kills, shared->forks, shared->cgroups, shared->swaps,
		       shared->unmaps);
	ksft_test_result(path_true(storm_done()), "all was done\n");
	/* like all times, eight times as long on a debug kernel */
	ksft_test_result(path_lt(shared->longest, path_slow() ? 80000 : 10000),
			 "and nothing hung\n");
	path_swap_restore();
}

static bool broken_enough(void)
{
	return shared->rounds > 2 && shared->policies > 20 && shared->breaks > 4 &&
	       shared->reborn > 2;
}

/* With any policy, pages that cannot be written stay, and a program that cannot read is killed. */
static void test_broken(unsigned int seconds)
{
	static const struct part parts[] = {
		{ "phoenix", phoenix }, { "other phoenix", phoenix }, { "switcher", switcher },
		{ "reader", reader }, { "breaker", breaker },
	};
	struct job job = { loop_pages(), loop_rounds() };
	bool good;

	if (!path_swap_null(32, 20)) {
		ksft_test_result_skip("no null_blk disk\n");
		ksft_test_result_skip("no null_blk disk\n");
		path_swap_restore();
		return;
	}
	good = path_true(all_at_once(parts, ARRAY_SIZE(parts), seconds, broken_enough));
	ksft_print_msg("%lu times broken, %lu killed\n", shared->breaks, shared->reborn);
	ksft_test_result(good && path_true(broken_enough()), "a disk that fails now and then\n");
	ksft_test_result(faults("lirs", loop, &job, "memory.max", loop_max()) >= 0,
			 "and a loop when it does no more\n");
	path_swap_restore();
}

static void test_all(void)
{
	test_file();
	test_data();
	test_beside("/sys/kernel/mm/lru_gen/enabled", NULL, "MGLRU");
	test_beside("/sys/module/zswap/parameters/enabled", "zswpout", "zswap");
	test_kinds();
	test_stuck();
	test_programs();
	test_writeback();
	test_no_swap();
	test_zram();
	test_errors();
	test_reclaim();
	test_high();
	test_low();
	test_swap_max();
	test_laptop();
	test_below();
	test_grown(false);
	test_grown(true);
	test_share();
	test_pressure();
	test_machine();
	test_nodes();
	test_broken(path_slow() ? 10 : 4);
	test_storm(path_slow() ? 15 : 6);
}

int main(int argc, char **argv)
{
	static const char * const files[] = {
		"/proc/sys/vm/page-cluster", PATH_THP, KSM "run", KSM "pages_to_scan",
		KSM "sleep_millisecs", NODE_HUGE,
	};
	bool worth = argc > 2 && !strcmp(argv[2], "worth");
	bool machine = argc > 2 && !strcmp(argv[2], "machine");
	unsigned int i, nr = worth ? NR_WORTH : machine ? NR_MACHINE : NR_CASES;

	if (argc > 1)
		driver = argv[1];
	path_start(nr, 900);
	if (path_write(PATH_SYSFS "driver", driver) || !path_have_swap()) {
		for (i = 0; i < nr; i++)
			ksft_test_result_skip("needs swap, and the driver %s\n", driver);
		ksft_finished();
	}
	for (i = 0; i < ARRAY_SIZE(files); i++)
		path_save(files[i]);
	path_write("/proc/sys/vm/page-cluster", "0");
	shared = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	path_use_driver(driver, PAB);
	if (worth)
		test_old_counts();
	path_keep_counting();
	if (worth) {
		test_worth();
		test_clean();
		test_hot();
		test_zram_worth();
	} else if (machine) {
		test_machine();
	} else {
		test_all();
	}
	ksft_finished();
}
