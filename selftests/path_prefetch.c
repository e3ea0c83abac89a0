// SPDX-License-Identifier: GPL-2.0
/*
 * memory.path.prefetch: which pages are read from swap ahead. Programs count in their pages and
 * check them. What they miss is counted, in orders that can be foreseen and in one that cannot.
 * With "worth", for virtual time and one CPU, so are misses of mapped files, and what they take is
 * compared.
 *
 * usage: path_prefetch [worth]
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#include "path_util.h"

#define NOBODY		65534
#define NR_CASES	48
#define NR_WORTH	15
#define FILE_NAME	"memory.path.prefetch"
#define DISK_MIB	64
#define SLOW_US		500
#define SHORT_QUEUE	2
#define TRACING		"/sys/kernel/tracing/"
#define TRACE_EVENT	TRACING "events/mmpath/mmpath_prefetch/enable"
#define PAGE_CLUSTER	"/proc/sys/vm/page-cluster"
#define ZSWAP		"/sys/module/zswap/parameters/enabled"
#define STRIDE		64	/* further than the kernel reads around */

enum order { LOOP, STRIDES, CHASE, RANDOM };
enum memory { ANONYMOUS, SHARED, SYSTEM_V, MEMFD, PRIVATE_MEMFD, FILE_ON_DISK, PRIVATE_FILE };

struct job {
	enum order order;
	unsigned int rounds;	/* 0: until told to end */
	enum memory memory;
	bool forks;		/* every second round is a child's, in memory that is shared */
	bool zeros;		/* pages are full of zeros, and are not written again */
	const char *max;	/* memory.max, if it is not memory_of_a_job() */
	bool cache;		/* all of it is page cache when the job begins */
	unsigned int work;	/* steps after each touch */
	size_t piece;		/* the first page of each so many is not mapped, nor touched */
};

static struct shared {
	unsigned long rounds, major, in, ms;
	bool stop;
} *shared;

/* What a fault takes does not depend on the host. */
static bool virtual_time;

static bool stopped(void)
{
	return __atomic_load_n(&shared->stop, __ATOMIC_RELAXED);
}

/* A major fault takes a debug kernel several milliseconds. */
static size_t pages_of_a_job(void)
{
	return path_slow() ? 1024 : 4096;
}

static const char *memory_of_a_job(void)
{
	return path_slow() ? "3M" : "10M";
}

/* Returns the numbers of all pages, in the order in which they are touched. */
static unsigned int *order_of(enum order order, size_t pages)
{
	unsigned int *of = malloc(pages * sizeof(*of)), t;
	unsigned long seed = 1;
	size_t i, j;

	for (i = 0; i < pages; i++)
		of[i] = order == STRIDES ? i * STRIDE % pages + i * STRIDE / pages : i;
	for (i = pages - 1; order == CHASE && i; i--) {
		j = path_rand(&seed) % (i + 1);
		t = of[i];
		of[i] = of[j];
		of[j] = t;
	}
	return of;
}

/* A segment that ends with the program. */
static char *segment_of(size_t bytes)
{
	int id = shmget(IPC_PRIVATE, bytes, 0600);
	char *p = shmat(id, NULL, 0);

	shmctl(id, IPC_RMID, NULL);
	return p;
}

static char *memory_of(enum memory memory, size_t bytes)
{
	int fd = -1, flags = memory == PRIVATE_MEMFD ? MAP_PRIVATE : MAP_SHARED;
	char *p;

	if (memory == ANONYMOUS)
		return path_map(bytes, false);
	if (memory == SYSTEM_V)
		return segment_of(bytes);
	if (memory == SHARED)
		flags |= MAP_ANONYMOUS;
	else
		fd = memfd_create("path_prefetch", 0);
	if (fd >= 0 && ftruncate(fd, bytes))
		return MAP_FAILED;
	p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);
	if (memory == PRIVATE_MEMFD && p != MAP_FAILED)
		/* the file has pages of its own, which are not those of the program */
		for (size_t i = 0; i < bytes / PAGE; i += 2)
			if (pwrite(fd, "", 1, i * PAGE) != 1)
				return MAP_FAILED;
	if (fd >= 0)
		close(fd);
	return p;
}

/* A child counts, and nothing but its exit status tells that something was wrong. */
static unsigned long round_of_a_child(char *p, const unsigned int *of, unsigned int *times,
				      size_t pages)
{
	unsigned long wrong = 0;
	int status;
	pid_t pid;
	size_t i;

	pid = fork();
	for (i = 0; i < pages; i++) {
		if (!pid)
			wrong += (*path_word(p, of[i]))++ != times[of[i]];
		times[of[i]]++;
	}
	if (!pid)
		_exit(!!wrong);
	return waitpid(pid, &status, 0) != pid || status;
}

static int program(void *arg)
{
	const struct job *job = arg;
	size_t pages = pages_of_a_job(), i, page;
	unsigned int *of = order_of(job->order, pages), *times = calloc(pages, sizeof(*times));
	unsigned long seed = 2, wrong = 0, round, major;
	char *p = memory_of(job->memory, pages * PAGE);

	if (p == MAP_FAILED)
		return KSFT_FAIL;
	for (i = 0; i < pages; i++) {
		times[of[i]] = !job->zeros;
		*path_word(p, of[i]) = times[of[i]];
	}
	major = path_major_faults();
	for (round = 0; job->rounds ? round < job->rounds : !stopped(); round++) {
		for (i = 0; i < pages && !(job->forks && round % 2); i++) {
			page = job->order == RANDOM ? path_rand(&seed) % pages : of[i];
			wrong += *path_word(p, page) != times[page];
			if (!job->zeros)
				*path_word(p, page) = ++times[page];
		}
		if (job->forks && round % 2)
			wrong += round_of_a_child(p, of, times, pages);
		__atomic_fetch_add(&shared->rounds, 1, __ATOMIC_RELAXED);
	}
	shared->major = path_major_faults() - major;
	if (wrong)
		ksft_print_msg("%lu pages wrong\n", wrong);
	return wrong ? KSFT_FAIL : KSFT_PASS;
}

/* Each word of the disk that is looked at has the number of its page. */
static bool fill_disk(void)
{
	int fd = open("/dev/" PATH_FILE_DISK, O_RDWR | O_CLOEXEC);
	size_t pages = pages_of_a_job(), i;
	char page[PAGE] = "";
	bool good = fd >= 0;

	for (i = 0; i < pages && good; i++) {
		*path_word(page - i * PAGE, i) = i;
		good = pwrite(fd, page, PAGE, i * PAGE) == (ssize_t)PAGE;
		*path_word(page - i * PAGE, i) = 0;
	}
	good = good && !fsync(fd);
	close(fd);
	return good;
}

/* Fill memory with pages of the disk that no job uses. */
static void fill_cache(int fd)
{
	char page[PAGE];

	for (off_t at = DISK_MIB / 2 << 20; at < DISK_MIB << 20; at += PAGE)
		if (pread(fd, page, PAGE, at) != (ssize_t)PAGE)
			ksft_exit_fail_perror("pread");
}

/* Reads a mapped file, and writes a few pages if that does not change the file. */
static int reader(void *arg)
{
	const struct job *job = arg;
	size_t pages = pages_of_a_job(), i, page;
	unsigned int *of = order_of(job->order, pages), *times = calloc(pages, sizeof(*times));
	int fd = open("/dev/" PATH_FILE_DISK, O_RDONLY | O_CLOEXEC);
	bool private = job->memory == PRIVATE_FILE;
	unsigned long seed = 2, wrong = 0, round, began;
	struct rusage before, after;
	char *p;

	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	if (job->cache)
		fill_cache(fd);
	p = mmap(NULL, pages * PAGE, private ? PROT_READ | PROT_WRITE : PROT_READ,
		 private ? MAP_PRIVATE : MAP_SHARED, fd, 0);
	if (fd < 0 || p == MAP_FAILED)
		return KSFT_FAIL;
	for (i = 0; job->piece && i < pages; i += job->piece)
		munmap(p + i * PAGE, PAGE);
	getrusage(RUSAGE_SELF, &before);
	began = path_now_ms();
	for (round = 0; round < job->rounds; round++) {
		for (i = 0; i < pages; i++) {
			page = job->order == RANDOM ? path_rand(&seed) % pages : of[i];
			page |= job->piece && page % job->piece == 0;
			wrong += *path_word(p, page) != page + times[page];
			for (volatile unsigned int step = 0; step < job->work; step++)
				;
			if (private && page % 64 == 0)
				*path_word(p, page) = page + ++times[page];
		}
	}
	shared->ms = path_now_ms() - began;
	getrusage(RUSAGE_SELF, &after);
	shared->major = after.ru_majflt - before.ru_majflt;
	shared->in = (after.ru_inblock - before.ru_inblock) / (PAGE / 512);
	if (wrong)
		ksft_print_msg("%lu pages wrong\n", wrong);
	return wrong ? KSFT_FAIL : KSFT_PASS;
}

static long long counter(const char *cg, const char *name)
{
	return path_cg_key(cg, "memory.path.stat", name);
}

/* What a program did in a cgroup with some mode */
struct outcome {
	unsigned long major, in, ms;
	long long ondemand, prefetched, hit;
	long long space, ppg;	/* of @prefetched */
	long long pollution;
	bool right;
};

/* Have the predictors, together, done what was done? Of a few hits it is not known which. */
static bool adds_up(const char *cg, const struct outcome *o)
{
	long long hit = counter(cg, "prefetch_space_hit") + counter(cg, "prefetch_ppg_hit");

	return path_eq(o->space + o->ppg, o->prefetched) && path_le(hit, o->hit) &&
	       path_ge(hit * 4 + 400, o->hit * 3);
}

static struct outcome outcome_of_job(const char *mode, struct job job)
{
	int (*run)(void *arg) = job.memory >= FILE_ON_DISK ? reader : program;
	char *cg = path_cg(NULL, "prefetch");
	struct outcome o;

	path_cg_write(cg, "memory.max", job.max ?: memory_of_a_job());
	path_cg_write(cg, FILE_NAME, mode);
	o.right = path_eq(path_run(cg, run, &job, 120), KSFT_PASS);
	o.major = shared->major;
	o.in = shared->in;
	o.ms = shared->ms;
	o.ondemand = counter(cg, "prefetch_ondemand");
	o.prefetched = counter(cg, "prefetch_prefetched");
	o.hit = counter(cg, "prefetch_hit");
	o.space = counter(cg, "prefetch_space_prefetched");
	o.ppg = counter(cg, "prefetch_ppg_prefetched");
	o.pollution = counter(cg, "prefetch_pollution");
	if (o.hit > 0)
		o.right &= adds_up(cg, &o);
	ksft_print_msg("%s: %lu major, waited %lld, space %lld, ppg %lld, hit %lld, caused %lld\n",
		       mode, o.major, o.ondemand, o.space, o.ppg, o.hit, o.pollution);
	path_cg_remove(cg);
	return o;
}

static struct outcome outcome_of(const char *mode, enum order order, unsigned int rounds)
{
	return outcome_of_job(mode, (struct job){ .order = order, .rounds = rounds });
}

static bool shows(const char *cg, const char *want)
{
	char *text = path_cg_slurp(cg, FILE_NAME);
	bool same = path_same(text, want);

	free(text);
	return same;
}

static void test_file(void)
{
	static const char * const bad[] = {
		"\n", "all", "Space", "space ppg", "1", "none\n\nnone",
	};
	char *cg = path_cg(NULL, "prefetch"), *child = path_cg(cg, "child");
	bool good = shows(cg, "[none] space ppg auto\n");
	unsigned int i;

	ksft_test_result(good, "none is the default\n");
	good = path_eq(counter(cg, "prefetch_hit"), -1) &&
	       path_eq(path_cg_write(cg, FILE_NAME, "space"), 0) &&
	       shows(cg, "none [space] ppg auto\n") &&
	       path_eq(path_cg_write(cg, FILE_NAME, " ppg\n"), 0) &&
	       shows(cg, "none space [ppg] auto\n") &&
	       path_eq(path_cg_write(cg, FILE_NAME, "auto\n"), 0) &&
	       shows(cg, "none space ppg [auto]\n") &&
	       path_eq(counter(cg, "prefetch_hit"), 0);
	ksft_test_result(good, "modes\n");
	for (i = 0, good = true; i < ARRAY_SIZE(bad); i++)
		good &= path_eq(path_cg_write(cg, FILE_NAME, bad[i]), -EINVAL);
	ksft_test_result(good && shows(cg, "none space ppg [auto]\n"),
			 "other words change nothing\n");
	ksft_test_result(shows(child, "[none] space ppg auto\n") &&
			 path_eq(counter(child, "prefetch_hit"), -1),
			 "a child shows its own mode\n");
	good = path_eq(path_cg_write(cg, FILE_NAME, "none"), 0) &&
	       shows(cg, "[none] space ppg auto\n") && path_eq(counter(cg, "prefetch_hit"), -1);
	ksft_test_result(good, "none again\n");
	path_cg_remove(child);
	path_cg_remove(cg);
}

static void test_loop(void)
{
	struct outcome none = outcome_of("none", LOOP, 3), o = outcome_of("space", LOOP, 3);

	ksft_test_result(none.right && path_eq(none.ondemand, -1), "none: nothing is counted\n");
	/* the kernel's readahead hides misses of a loop, too */
	ksft_test_result(o.right && path_lt(o.major * 4, o.major + o.hit) &&
			 path_ge(o.ondemand, o.major) &&
			 path_gt(o.hit, o.prefetched * 3 / 4) && path_le(o.hit, o.prefetched) &&
			 path_eq(o.ppg, 0),
			 "space hides the misses of a loop\n");
	o = outcome_of("auto", LOOP, 3);
	ksft_test_result(o.right && path_lt(o.major * 4, o.major + o.hit) &&
			 path_lt(o.pollution * 16, o.hit), "so does auto, at no cost to others\n");
}

static void test_chase(void)
{
	struct outcome none = outcome_of("none", CHASE, 5), o = outcome_of("ppg", CHASE, 5);

	/* in the first round some of the pages are learnt, and in the second the others */
	ksft_test_result(o.right && path_lt(o.major, none.major * 6 / 10) &&
			 path_gt(o.hit, o.prefetched * 3 / 4) && path_eq(o.space, 0),
			 "ppg hides misses in an order that it has seen\n");
	o = outcome_of("auto", CHASE, 5);
	ksft_test_result(o.right && path_lt(o.major, none.major * 6 / 10), "so does auto\n");
	o = outcome_of("space", CHASE, 5);
	ksft_test_result(o.right && path_lt(o.prefetched, none.major / 8),
			 "space finds that it cannot\n");
}

static void test_random(void)
{
	struct outcome o = outcome_of("auto", RANDOM, 3);

	ksft_test_result(o.right && path_lt(o.prefetched, o.major / 8),
			 "without order next to nothing is read ahead\n");
}

/* Memory that is shared is in swap by the entries of a file, not of a page table. */
static void test_shared(void)
{
	struct job job = { .order = STRIDES, .rounds = 3, .memory = MEMFD };
	struct outcome o;

	o = outcome_of_job("auto", job);
	ksft_test_result(o.right && path_lt(o.major * 4, o.major + o.hit) &&
			 path_ge(o.ondemand, o.major) &&
			 path_gt(o.hit, o.prefetched * 3 / 4) && path_le(o.hit, o.prefetched),
			 "a memfd at a stride\n");
	/* two rounds are learnt from; the kernel's readahead follows the order of slots here */
	job.order = CHASE;
	job.rounds = 5;
	o = outcome_of_job("auto", job);
	ksft_test_result(o.right && path_lt(o.major * 2, o.major + o.hit) &&
			 path_gt(o.hit, o.prefetched * 3 / 4),
			 "a memfd in an order that it has seen\n");
	job.order = RANDOM;
	job.rounds = 3;
	o = outcome_of_job("auto", job);
	ksft_test_result(o.right && path_lt(o.prefetched, o.major / 8),
			 "a memfd without order\n");
	job = (struct job){ .order = LOOP, .rounds = 4, .memory = SHARED, .forks = true };
	o = outcome_of_job("auto", job);
	ksft_test_result(o.right && path_lt(o.ondemand * 4, o.ondemand + o.hit) &&
			 path_gt(o.hit, o.prefetched * 3 / 4),
			 "anonymous memory that is shared with children\n");
	job = (struct job){ .order = LOOP, .rounds = 3, .memory = PRIVATE_MEMFD };
	o = outcome_of_job("auto", job);
	ksft_test_result(o.right && path_lt(o.major * 4, o.major + o.hit) &&
			 path_gt(o.hit, o.prefetched * 3 / 4),
			 "a private mapping of a memfd\n");
	job.memory = SYSTEM_V;
	o = outcome_of_job("auto", job);
	ksft_test_result(o.right && path_lt(o.major * 4, o.major + o.hit) &&
			 path_gt(o.hit, o.prefetched * 3 / 4),
			 "a segment of System V\n");
}

/* Is at most one touch in @part missed, and little read for nothing? */
static bool hides(const struct outcome *o, unsigned int part)
{
	return path_lt(o->major * part, o->major + o->hit) &&
	       path_gt(o->hit, o->prefetched * 3 / 4);
}

/* Without order, and all that is read will be used: prefetching must leave it to the kernel. */
static void file_that_fits(const char *max, bool cache, const char *name)
{
	struct job job = { .order = RANDOM, .rounds = 2, .memory = FILE_ON_DISK, .max = max,
			   .cache = cache };
	struct outcome none = outcome_of_job("none", job), o = outcome_of_job("auto", job);

	ksft_test_result(none.right && o.right && path_gt(none.major, 0) &&
			 path_eq(o.prefetched, 0) &&
			 (!virtual_time || path_le(o.major, none.major + none.major / 8)), name);
}

static void file_without_order(size_t piece, const char *name)
{
	struct job job = { .order = RANDOM, .rounds = virtual_time ? 6 : 2,
			   .memory = FILE_ON_DISK, .piece = piece };
	struct outcome none, o = outcome_of_job("auto", job);
	bool good = o.right;

	if (virtual_time) {
		none = outcome_of_job("none", job);
		/* the kernel reads around some of the misses, to be measured */
		good &= none.right && path_lt(o.prefetched, o.major / 8) &&
			path_gt(none.in, none.major * 8) && path_lt(o.in, none.in / 8);
	}
	ksft_test_result(good, name);
}

/*
 * Mapped files, of which the kernel reads 32 pages around each miss. What is best is measured, and
 * on a busy host that is anything. So without virtual time only data are checked.
 */
static void test_mapped_file(void)
{
	struct job job = { .order = LOOP, .rounds = 3, .memory = FILE_ON_DISK };
	unsigned int first = ksft_test_num();
	struct outcome none, o;
	bool good;

	if (!path_file_disk(DISK_MIB, 20, PATH_DEPTH) || !fill_disk()) {
		while (ksft_test_num() < first + 8)
			ksft_test_result_skip("no disk for files\n");
		return;
	}
	o = outcome_of_job("auto", job);
	/* major faults tell less: one that waits for the kernel's readahead is major, too */
	ksft_test_result(o.right && (!virtual_time || (path_eq(o.prefetched, 0) &&
						       path_gt(o.ondemand, 0))),
			 "a file upwards is the kernel's\n");
	job.order = STRIDES;
	o = outcome_of_job("auto", job);
	good = o.right;
	if (virtual_time) {
		none = outcome_of_job("none", job);
		good &= none.right && path_eq(none.ondemand, -1) && hides(&o, 4) &&
			path_lt(o.in, none.in);
	}
	ksft_test_result(good, "a file at a stride\n");
	job.order = CHASE;
	/* two rounds are learnt from; what reclaim kept in the second is learnt in the third */
	job.rounds = virtual_time ? 6 : 2;
	o = outcome_of_job("auto", job);
	ksft_test_result(o.right && (!virtual_time || hides(&o, 2)),
			 "a file in an order that it has seen\n");
	file_without_order(0, "a file without order is not read around\n");
	file_without_order(64, "and one that is mapped in small pieces\n");
	job = (struct job){ .order = STRIDES, .rounds = 3, .memory = PRIVATE_FILE };
	o = outcome_of_job("auto", job);
	ksft_test_result(o.right && (!virtual_time || hides(&o, 4)),
			 "a private mapping of a file\n");
	file_that_fits("64M", false, "a file is the kernel's while there is room\n");
	file_that_fits("24M", true, "and where it would find room\n");
}

/*
 * Where reading 32 pages takes hardly longer than reading one. If a program goes through a file
 * that nearly fits, pages that were read around a miss are used late, but most of them are. Which
 * of them the kernel still has is chance, and so is a quarter of the time.
 */
static bool neighbours_used_late(void)
{
	struct job job = { .order = CHASE, .rounds = 6, .memory = FILE_ON_DISK, .max = "15M",
			   .work = 5000 };
	struct outcome none = outcome_of_job("none", job), o = outcome_of_job("auto", job);

	ksft_print_msg("%lu ms, %lu pages in; without prefetching %lu, %lu\n", o.ms, o.in, none.ms,
		       none.in);
	return none.right && o.right && path_gt(o.in, o.major * 8) &&
	       path_lt(o.ms * 2, none.ms * 3);
}

static bool neighbours_not_used(void)
{
	struct job job = { .order = RANDOM, .rounds = 4, .memory = FILE_ON_DISK };
	struct outcome none = outcome_of_job("none", job), o = outcome_of_job("auto", job);

	ksft_print_msg("%lu ms, without prefetching %lu\n", o.ms, none.ms);
	return none.right && o.right && path_lt(o.ms * 100, none.ms * 95);
}

static void test_worth(void)
{
	if (!path_file_disk(DISK_MIB, 1000, PATH_DEPTH) || !fill_disk()) {
		ksft_test_result_skip("no disk for files\n");
		ksft_test_result_skip("no disk for files\n");
		return;
	}
	ksft_test_result(neighbours_used_late(), "neighbours that are used late are read\n");
	ksft_test_result(neighbours_not_used(), "those that are not used are not\n");
	path_swap_restore();
}

static void wait_for_round(unsigned long round)
{
	unsigned long until = path_hangs_at(60);

	while (__atomic_load_n(&shared->rounds, __ATOMIC_RELAXED) < round &&
	       path_lt(path_now_ms(), until))
		path_sleep_ms(10);
}

/* With less memory, or more that leaves, reclaim gets to the pages that were read ahead. */
#define SCAN_PAGES	4096U
#define SCAN_MEMORY	"10M"
#define SCAN_LEAVES	32U

/*
 * Goes upwards to the middle of its pages, has the first ones written, and waits. Then it uses
 * those again, and last of all the pages that were read ahead.
 */
static int scanner(void *arg)
{
	const size_t pages = SCAN_PAGES, leave = SCAN_LEAVES;
	char *p = path_map(pages * PAGE, false);
	size_t i;

	(void)arg;
	for (i = 0; i < pages; i++)
		*path_word(p, i) = i;
	for (i = 0; i < pages / 2; i++)
		if (*path_word(p, i) != i)
			return KSFT_FAIL;
	madvise(p, leave * PAGE, MADV_PAGEOUT);
	__atomic_fetch_add(&shared->rounds, 1, __ATOMIC_RELAXED);
	while (!stopped())
		path_sleep_ms(10);
	for (i = 0; i < leave; i++)
		if (*path_word(p, i) != i)
			return KSFT_FAIL;
	for (i = pages; i-- > 0; )
		if (*path_word(p, i) != i)
			return KSFT_FAIL;
	return KSFT_PASS;
}

/* Reclaim takes pages that were just written first. */
static void reclaim_written(const char *cg, size_t pages)
{
	long long until = path_now_ms() + 60000;
	char bytes[32];

	while (path_cg_key(cg, "memory.stat", "file_writeback") && path_lt(path_now_ms(), until))
		path_sleep_ms(10);
	snprintf(bytes, sizeof(bytes), "%zu", pages * PAGE);
	path_cg_write(cg, "memory.reclaim", bytes);
}

/*
 * While pages wait that were read ahead of a scan, others are reclaimed, and are missed after it.
 * Nothing is read ahead then, for the graph has seen no page twice.
 */
static bool has_pollution(void)
{
	char *cg = path_cg(NULL, "prefetch");
	long long ahead, ondemand, pollution, memory;
	bool good;
	pid_t pid;

	shared->stop = false;
	shared->rounds = 0;
	path_cg_write(cg, "memory.max", SCAN_MEMORY);
	path_cg_write(cg, FILE_NAME, "space");
	pid = path_spawn(cg, scanner, NULL);
	wait_for_round(1);
	ahead = counter(cg, "prefetch_prefetched") - counter(cg, "prefetch_hit");
	ondemand = counter(cg, "prefetch_ondemand");
	path_cg_write(cg, FILE_NAME, "ppg");
	reclaim_written(cg, SCAN_LEAVES);
	path_cg_write(cg, "memory.max", "max");
	shared->stop = true;
	good = path_eq(path_wait(pid, 120), KSFT_PASS);
	pollution = counter(cg, "prefetch_pollution");
	ondemand = counter(cg, "prefetch_ondemand") - ondemand;
	ksft_print_msg("%lld pages wait, %lld are missed, of these for them %lld\n", ahead,
		       ondemand, pollution);
	/* no more pages can have left for them, and for what is remembered, than both take */
	memory = (16384 + 36 * counter(cg, "prefetch_ondemand")) / 4096;
	good &= path_ge(pollution, 8) && path_le(pollution, ahead + memory) &&
		path_lt(ahead + memory, ondemand);
	path_cg_remove(cg);
	return good;
}

/* A program that has others read half of its pages */
struct halves {
	int fd;			/* of its memory; -1: it is anonymous */
	int ask[2], answer[2];	/* pipes: where to read, and that this was done */
};

#define HALF	32U	/* pages; those in which others read are ahead of those that it touches */

/* A program's pages, and where in these to read; NULL: it has gone through them, and waits. */
struct half {
	char *p;
	size_t page;
};

static bool ask(const struct halves *h, char *p, size_t page)
{
	struct half half = { p, page };
	char c;

	return path_eq(write(h->ask[1], &half, sizeof(half)), sizeof(half)) &&
	       path_eq(read(h->answer[0], &c, 1), 1);
}

/* Goes upwards a few times. In the end it touches its pages without order. */
static int toucher(void *arg)
{
	const struct halves *h = arg;
	size_t pages = pages_of_a_job(), i, page;
	unsigned long seed = 4, wrong = 0;
	char *p = h->fd < 0 ? path_map(pages * PAGE, false) :
		  mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, h->fd, 0);

	if (p == MAP_FAILED)
		return KSFT_FAIL;
	for (i = 0; i < pages; i++)
		*path_word(p, i) = i;
	for (i = 0; i < 4 * pages; i++) {
		page = i % pages;
		if (page / HALF % 2 == 0)
			wrong += *path_word(p, page) != page;
		else if (page % HALF == 0 && !ask(h, p, page))
			return KSFT_FAIL;
	}
	if (!ask(h, NULL, 0))
		return KSFT_FAIL;
	for (i = 0; i < 2 * pages; i++) {
		page = path_rand(&seed) % pages;
		wrong += *path_word(p, page) != page;
	}
	return wrong ? KSFT_FAIL : KSFT_PASS;
}

/* Reads what the program asks for, until it waits. */
static bool read_halves(const struct halves *h, pid_t pid)
{
	struct iovec from = { .iov_len = PAGE }, to = { .iov_len = PAGE };
	struct half half;
	char data[PAGE];
	bool good = true;
	size_t i;

	to.iov_base = data;
	while (good) {
		good = path_eq(read(h->ask[0], &half, sizeof(half)), sizeof(half));
		if (!good || !half.p)
			break;
		for (i = half.page; i < half.page + HALF && good; i++) {
			from.iov_base = half.p + i * PAGE;
			good = path_eq(h->fd < 0 ? process_vm_readv(pid, &to, 1, &from, 1, 0) :
				       pread(h->fd, data, PAGE, i * PAGE), PAGE);
		}
		good &= path_eq(write(h->answer[1], "", 1), 1);
	}
	return good;
}

/*
 * Pages that others use do not wait any more. If they counted on, nearly each miss would be of a
 * page that has left for them.
 */
static bool settles(int fd)
{
	struct halves h = { .fd = fd };
	char *cg = path_cg(NULL, "prefetch");
	long long ahead, ondemand, pollution;
	bool good;
	pid_t pid;

	if (pipe(h.ask) || pipe(h.answer) || (fd >= 0 && ftruncate(fd, pages_of_a_job() * PAGE)))
		ksft_exit_fail_perror("pipe");
	path_cg_write(cg, "memory.max", memory_of_a_job());
	path_cg_write(cg, FILE_NAME, "space");
	pid = path_spawn(cg, toucher, &h);
	close(h.ask[1]);
	good = read_halves(&h, pid);
	ahead = counter(cg, "prefetch_prefetched") - counter(cg, "prefetch_hit");
	ondemand = counter(cg, "prefetch_ondemand");
	pollution = counter(cg, "prefetch_pollution");
	good &= path_eq(write(h.answer[1], "", 1), 1) &&
		path_eq(path_wait(pid, 120), KSFT_PASS);
	ondemand = counter(cg, "prefetch_ondemand") - ondemand;
	pollution = counter(cg, "prefetch_pollution") - pollution;
	ksft_print_msg("others read %lld pages; then %lld are missed, of these for them %lld\n",
		       ahead, ondemand, pollution);
	close(h.ask[0]);
	close(h.answer[0]);
	close(h.answer[1]);
	path_cg_remove(cg);
	return good && path_gt(ahead, pages_of_a_job() / 4) &&
	       path_gt(ondemand, pages_of_a_job() / 4) && path_lt(pollution * 4, ondemand);
}

static void test_pollution(void)
{
	int fd = memfd_create("path_prefetch", 0);

	ksft_test_result(has_pollution(),
			 "what left in place of pages that are read ahead is counted\n");
	ksft_test_result(settles(fd), "not when they were used by read()\n");
	ksft_test_result(settles(-1), "nor when another program has used them\n");
	close(fd);
}

/* Goes upwards once, and reads each eighth page by read(). */
static int reader_of_eighths(void *arg)
{
	int fd = memfd_create("path_prefetch", 0);
	size_t pages = pages_of_a_job(), i;
	unsigned long wrong = 0, word;
	volatile unsigned long *at;
	char *p;

	(void)arg;
	if (fd < 0 || ftruncate(fd, pages * PAGE))
		return KSFT_FAIL;
	p = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return KSFT_FAIL;
	for (i = 0; i < pages; i++)
		*path_word(p, i) = i;
	for (i = 0; i < pages; i++) {
		at = path_word(p, i);
		if (i % 8)
			word = *at;
		else if (pread(fd, &word, sizeof(word), (char *)at - p) != sizeof(word))
			return KSFT_FAIL;
		wrong += word != i;
	}
	return wrong ? KSFT_FAIL : KSFT_PASS;
}

/* What read() misses, the kernel reads with neighbours. The graph has seen no page twice. */
static void test_kernels(void)
{
	char *cg = path_cg(NULL, "prefetch");
	bool good;

	/* no limit that kills, see main() */
	path_cg_write(cg, "memory.high", memory_of_a_job());
	path_cg_write(cg, FILE_NAME, "ppg");
	path_write(PAGE_CLUSTER, "3");
	good = path_eq(path_run(cg, reader_of_eighths, NULL, 120), KSFT_PASS) &&
	       path_eq(counter(cg, "prefetch_prefetched"), 0) &&
	       path_eq(counter(cg, "prefetch_hit"), 0) && path_eq(counter(cg, "prefetch_late"), 0);
	path_write(PAGE_CLUSTER, "0");
	ksft_test_result(good, "pages that the kernel has read ahead are no hits\n");
	path_cg_remove(cg);
}

static void test_child(void)
{
	char *cg = path_cg(NULL, "prefetch"), *child = path_cg(cg, "child");
	struct job job = { .order = LOOP, .rounds = 2 };
	bool good;

	path_cg_write(child, "memory.max", memory_of_a_job());
	path_cg_write(cg, FILE_NAME, "space");
	good = path_eq(path_run(child, program, &job, 120), KSFT_PASS) &&
	       path_gt(counter(cg, "prefetch_hit"), shared->major) &&
	       path_eq(counter(child, "prefetch_hit"), -1);
	ksft_test_result(good, "a child does as its parent\n");
	path_cg_remove(child);
	path_cg_remove(cg);
}

/* The pages that events of the tracepoint have, for a cgroup; and how many events there are */
static long long traced(const char *cg, long long *events)
{
	char *text = path_slurp(TRACING "trace"), *at = text, key[64];
	unsigned long long read;
	long long sum = 0;
	struct stat st;

	*events = 0;
	if (!text || stat(cg, &st))
		return -1;
	snprintf(key, sizeof(key), "cgroup=%llu ", (unsigned long long)st.st_ino);
	while ((at = strstr(at, key))) {
		if (sscanf(at, "%*s pid=%*d by=space depth=%*u chosen=%*u read=%llu", &read) != 1)
			ksft_print_msg("%.100s\n", at);
		else
			sum += read;
		at += strlen(key);
		++*events;
	}
	free(text);
	return sum;
}

static void test_trace(void)
{
	struct job job = { .order = LOOP, .rounds = 2 };
	char *cg = path_cg(NULL, "prefetch");
	long long events;
	bool good;

	path_cg_write(cg, "memory.max", memory_of_a_job());
	path_cg_write(cg, FILE_NAME, "space");
	path_save(TRACE_EVENT);
	good = path_eq(path_write(TRACE_EVENT, "1"), 0);
	good &= path_eq(path_run(cg, program, &job, 120), KSFT_PASS);
	good &= path_eq(path_write(TRACE_EVENT, "0"), 0) &&
	       path_gt(counter(cg, "prefetch_prefetched"), 0) &&
	       path_eq(traced(cg, &events), counter(cg, "prefetch_prefetched"));
	ksft_test_result(good, "the tracepoint has all that was read ahead\n");
	path_cg_remove(cg);
}

/* What programs have waited, and for what */
struct waits {
	long long stalls, ns, missed, late, batches, read;
	bool right;
};

static struct waits waits_of(enum order order, enum memory memory)
{
	struct job job = { .order = order, .rounds = 2, .memory = memory };
	int (*run)(void *arg) = memory >= FILE_ON_DISK ? reader : program;
	char *cg = path_cg(NULL, "prefetch");
	struct waits w;

	path_cg_write(cg, "memory.max", memory_of_a_job());
	path_cg_write(cg, FILE_NAME, "space");
	path_save(TRACE_EVENT);
	w.right = path_eq(path_write(TRACE_EVENT, "1"), 0);
	w.right &= path_eq(path_run(cg, run, &job, 120), KSFT_PASS);
	w.right &= path_eq(path_write(TRACE_EVENT, "0"), 0);
	w.stalls = counter(cg, "prefetch_stalls");
	w.ns = counter(cg, "prefetch_stall_ns");
	w.missed = counter(cg, "prefetch_ondemand");
	w.late = counter(cg, "prefetch_late");
	w.read = traced(cg, &w.batches);
	ksft_print_msg("%lld stalls, %lld ns each, ondemand %lld, late %lld; %lld read in %lld\n",
		       w.stalls, w.stalls > 0 ? w.ns / w.stalls : 0, w.missed, w.late, w.read,
		       w.batches);
	path_cg_remove(cg);
	return w;
}

/*
 * On a slow disk. A miss waits for it, unless the machine was so busy that the page had arrived
 * before the fault came to wait. Without virtual time a file may be the kernel's, as above.
 */
static bool counts_misses(enum memory memory)
{
	struct waits w = waits_of(CHASE, memory);

	if (!virtual_time && memory == FILE_ON_DISK)
		return w.right;
	return w.right && path_gt(w.stalls, w.missed / 8) && path_le(w.stalls, w.missed + w.late) &&
	       path_gt(w.ns / 1000, w.stalls * SLOW_US / 2);
}

/* On a disk that has always more to do than it can */
static bool cuts_batches(enum memory memory)
{
	struct waits w = waits_of(STRIDES, memory);

	if (!virtual_time && memory == FILE_ON_DISK)
		return w.right;
	return w.right && path_gt(w.batches, 0) && path_lt(w.read, w.batches * 16);
}

static void wait_result(bool disk, bool (*test)(enum memory memory), enum memory memory,
			const char *name)
{
	if (disk)
		ksft_test_result(test(memory), "%s\n", name);
	else
		ksft_test_result_skip("%s: no disk, or a kernel too slow for it\n", name);
}

static void test_waits(void)
{
	bool disk;

	path_swap_restore();
	path_swap_null(DISK_MIB, SLOW_US);
	disk = path_file_disk(DISK_MIB, SLOW_US, PATH_DEPTH) && fill_disk();
	wait_result(true, counts_misses, ANONYMOUS, "what misses wait is counted");
	wait_result(true, counts_misses, SHARED, "what those of shared memory wait");
	wait_result(disk, counts_misses, FILE_ON_DISK, "what those of a file wait");
	path_swap_restore();
	path_swap_queue(DISK_MIB, SLOW_US, SHORT_QUEUE);
	disk = path_file_disk(DISK_MIB, SLOW_US, SHORT_QUEUE) && fill_disk();
	wait_result(!path_slow(), cuts_batches, ANONYMOUS, "a busy disk has less to read ahead");
	wait_result(disk && !path_slow(), cuts_batches, FILE_ON_DISK, "and less of a file");
	path_swap_restore();
	path_swap_null(DISK_MIB, 20);
}

/* What a process has in memory.path.prefetch_regions */
struct sight {
	int rows;			/* -1: the file does not parse */
	unsigned long long missed, fetched, used;	/* sums */
	bool foreseen;		/* a mapping has space, and pages read ahead at some depth */
};

static bool parse_row(const char *line, pid_t pid, struct sight *sight)
{
	unsigned long long start, end, missed, fetched, used;
	char by[8], share[4][8], name[16];
	unsigned int depth;
	int who, i;

	if (sscanf(line, "%d %llx %llx %7s %u %7s %7s %7s %7s %llu %llu %llu %15s", &who, &start,
		   &end, by, &depth, share[0], share[1], share[2], share[3], &missed, &fetched,
		   &used, name) != 13)
		return path_same(line, "a row");
	for (i = 0; i < 4; i++)
		if (strcmp(share[i], "-") && !path_le(atoi(share[i]), 100))
			return false;
	if (who != pid)
		return true;
	sight->rows++;
	sight->missed += missed;
	sight->fetched += fetched;
	sight->used += used;
	sight->foreseen |= !strcmp(by, "space") && depth > 3 && fetched && atoi(share[0]) > 40;
	return path_lt(start, end) && path_le(depth, 64) && path_eq(!depth, !strcmp(by, "none"));
}

/* Closes the file. */
static struct sight sight_of(int fd, pid_t pid)
{
	/* and the rest, by which rows are parsed */
	static const char head[] = "pid start end predictor depth space_near space_far ppg_near ";
	char *text = fd < 0 ? NULL : path_slurp_fd(fd), *line;
	struct sight sight = { };

	close(fd);
	if (!path_true(text && !strncmp(text, head, strlen(head)))) {
		sight.rows = -1;
		free(text);
		return sight;
	}
	for (line = text; sight.rows >= 0 && (line = strchr(line, '\n')) && *++line;)
		if (!parse_row(line, pid, &sight))
			sight.rows = -1;
	free(text);
	return sight;
}

static int open_regions(const char *cg)
{
	char file[512];

	snprintf(file, sizeof(file), "%s/memory.path.prefetch_regions", cg);
	return open(file, O_RDONLY | O_CLOEXEC);
}

struct reader {
	const char *cg;
	pid_t own, other;	/* a program of the same user, and one of root's */
};

static bool become_nobody(void)
{
	return !setgid(NOBODY) && !setuid(NOBODY) && !prctl(PR_SET_DUMPABLE, 1);
}

static int program_of_nobody(void *arg)
{
	return become_nobody() ? program(arg) : KSFT_FAIL;
}

static int read_as_nobody(void *arg)
{
	struct reader *r = arg;
	bool good = become_nobody() && path_gt(sight_of(open_regions(r->cg), r->own).rows, 0) &&
		    path_eq(sight_of(open_regions(r->cg), r->other).rows, 0);

	return good ? KSFT_PASS : KSFT_FAIL;
}

/* What nobody has opened shows root no more than nobody may see. */
static int read_handed_on(void *arg)
{
	struct reader *r = arg;
	int fd;

	if (seteuid(NOBODY))
		return KSFT_FAIL;
	fd = open_regions(r->cg);
	if (seteuid(0))
		return KSFT_FAIL;
	return path_eq(sight_of(fd, r->other).rows, 0) ? KSFT_PASS : KSFT_FAIL;
}

/* A PID namespace has none of the processes outside. */
static int read_inside(void *arg)
{
	struct reader *r = arg;
	int fd = open_regions(r->cg);
	char *text = path_slurp_fd(fd);
	bool good = path_true(text && !strcmp(strchr(text, '\n'), "\n"));

	free(text);
	close(fd);
	return good ? KSFT_PASS : KSFT_FAIL;
}

static int in_child(int (*fn)(void *arg), void *arg)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		pid = fn(arg);
		fflush(stdout);
		_exit(pid);
	}
	return path_wait(pid, 20);
}

static int read_in_namespace(void *arg)
{
	return unshare(CLONE_NEWPID) ? KSFT_FAIL : in_child(read_inside, arg);
}

/* What there is in place of what was waited for */
static void print_regions(const char *cg)
{
	char *text = path_slurp_fd(open_regions(cg)), *rest = text, *line;

	while (rest && (line = strsep(&rest, "\n")))
		ksft_print_msg("%s\n", line);
	free(text);
	text = path_cg_slurp(cg, "memory.path.stat");
	rest = text;
	while (rest && (line = strsep(&rest, "\n")))
		if (!strncmp(line, "prefetch", 8))
			ksft_print_msg("%s\n", line);
	free(text);
}

/* Pages are fetched as soon as a predictor is trusted, and are used a little later. */
static bool becomes_foreseen(const char *cg, pid_t pid, struct sight *sight)
{
	unsigned long until = path_hangs_at(60);

	do {
		path_sleep_ms(20);
		*sight = sight_of(open_regions(cg), pid);
	} while (sight->rows >= 0 && !(sight->foreseen && sight->used) && path_now_ms() < until);
	if (!(sight->foreseen && sight->used))
		print_regions(cg);
	return path_true(sight->foreseen) && path_gt(sight->used, 0);
}

static void test_regions(void)
{
	char *cg = path_cg(NULL, "prefetch");
	char *one = path_cg(cg, "one"), *two = path_cg(cg, "two"), c;
	struct job job = { .order = LOOP };
	struct reader r = { .cg = cg };
	struct sight sight;
	bool good;
	int fd;

	/* less than one of them needs: else one may have all it needs, and miss nothing for ever */
	path_cg_write(cg, "memory.high", path_slow() ? "3584K" : "14M");
	fd = open_regions(cg);
	good = path_true(fd >= 0) && path_eq(read(fd, &c, 1), -1) && path_eq(errno, ENODATA);
	close(fd);
	ksft_test_result(good, "no regions without a mode\n");
	path_cg_write(cg, FILE_NAME, "auto");
	shared->stop = false;
	r.other = path_spawn(one, program, &job);
	r.own = path_spawn(two, program_of_nobody, &job);
	good = becomes_foreseen(cg, r.other, &sight) && path_gt(sight.missed, 0) &&
	       becomes_foreseen(cg, r.own, &sight);
	ksft_test_result(good, "regions tell what is foreseen\n");
	good = path_eq(in_child(read_as_nobody, &r), KSFT_PASS) &&
	       path_eq(in_child(read_handed_on, &r), KSFT_PASS) &&
	       path_eq(in_child(read_in_namespace, &r), KSFT_PASS);
	ksft_test_result(good, "regions are shown to those that may ptrace\n");
	/* from here on the mode of its cgroup is the program's */
	path_cg_write(one, FILE_NAME, "space");
	good = becomes_foreseen(one, r.other, &sight) &&
	       path_eq(sight_of(open_regions(cg), r.other).rows, 0);
	shared->stop = true;
	good &= path_eq(path_wait(r.own, 120), KSFT_PASS) &&
		path_eq(path_wait(r.other, 120), KSFT_PASS);
	ksft_test_result(good, "regions are in the file of the cgroup that has the mode\n");
	path_cg_remove(two);
	path_cg_remove(one);
	path_cg_remove(cg);
}

static bool swap_is(const char *want)
{
	char *cg = path_cg(NULL, "prefetch"), *text, *at;
	bool is;

	path_cg_write(cg, FILE_NAME, "auto");
	text = path_cg_slurp(cg, "memory.path.stat");
	at = text ? strstr(text, "prefetch_swap ") : NULL;
	is = path_true(at) && path_same(strtok(at + strlen("prefetch_swap "), "\n"), want);
	free(text);
	path_cg_remove(cg);
	return is;
}

static void test_zram(void)
{
	struct outcome o;

	path_swap_restore();
	path_swap_off();
	ksft_test_result(swap_is("none"), "no swap\n");
	if (path_swap_zram(DISK_MIB)) {
		o = outcome_of("auto", LOOP, 2);
		ksft_test_result(o.right && path_eq(o.ondemand, 0) && path_eq(o.prefetched, 0) &&
				 swap_is("nowait"),
				 "zram: there is nothing to hide\n");
	} else {
		ksft_test_result_skip("zram: there is nothing to hide\n");
	}
	path_swap_restore();
	path_swap_null(DISK_MIB, 20);
	ksft_test_result(swap_is("wait"), "a disk\n");
}

/* Has a program missed pages, of which next to none were read from the disk or ahead? */
static bool needs_no_disk(const struct outcome *o)
{
	return o->right && path_gt(o->major, 0) && path_lt(o->ondemand, o->major / 8) &&
	       path_lt(o->prefetched, o->major / 8);
}

/* Pages that are not on the disk, though their swap entries are of it */
static void test_no_disk(void)
{
	struct job job = { .order = LOOP, .rounds = 3, .zeros = true };
	struct outcome o;

	o = outcome_of_job("auto", job);
	ksft_test_result(needs_no_disk(&o), "pages full of zeros are not read ahead\n");
	if (access(ZSWAP, F_OK)) {
		ksft_test_result_skip("no zswap\n");
		return;
	}
	path_save(ZSWAP);
	path_write(ZSWAP, "y");
	o = outcome_of("auto", LOOP, 3);
	path_write(ZSWAP, "n");
	ksft_test_result(needs_no_disk(&o), "zswap: there is nothing to hide\n");
}

/* Changes while programs run: modes, swap off and on, a program killed, a cgroup removed */
static void test_storm(void)
{
	static const char * const modes[] = { "space", "none", "auto", "ppg" };
	char *cg = path_cg(NULL, "prefetch");
	char *one = path_cg(cg, "one"), *two = path_cg(cg, "two");
	struct job job = { .order = CHASE }, other = { .order = LOOP };
	unsigned long seed = 3, until;
	pid_t pid[2], victim;
	const char *limit = path_slow() ? "8M" : "26M";
	bool good = true;
	int i;

	/* no limit that kills: pages that come back from a swap area must find room */
	path_cg_write(cg, "memory.high", limit);
	shared->stop = false;
	shared->rounds = 0;
	pid[0] = path_spawn(one, program, &job);
	pid[1] = path_spawn(two, program, &other);
	until = path_hangs_at(60);
	for (i = 0; i < 24 || shared->rounds < 6; i++) {
		if (!path_lt(path_now_ms(), until)) {
			good = false;
			break;
		}
		path_cg_write(i % 3 ? cg : two, FILE_NAME, modes[path_rand(&seed) % 4]);
		victim = path_spawn(i % 2 ? one : two, program, &other);
		path_sleep_ms(path_rand(&seed) % 50);
		kill(victim, SIGKILL);
		waitpid(victim, NULL, 0);
		if (i % 8 < 7)
			continue;
		path_cg_write(cg, "memory.high", "max");
		good &= path_true(path_swap_again());
		path_cg_write(cg, "memory.high", limit);
	}
	shared->stop = true;
	for (i = 0; i < 2; i++)
		good &= path_eq(path_wait(pid[i], 120), KSFT_PASS);
	ksft_test_result(good, "all at once: all data is right\n");
	path_cg_write(cg, FILE_NAME, "auto");
	path_cg_write(two, FILE_NAME, "auto");
	path_cg_remove(two);
	path_cg_remove(one);
	path_cg_remove(cg);
	cg = path_cg(NULL, "prefetch");
	ksft_test_result(shows(cg, "[none] space ppg auto\n"),
			 "a new cgroup of that name begins without\n");
	path_cg_remove(cg);
}

int main(int argc, char **argv)
{
	unsigned int nr;

	virtual_time = argc > 1 && !strcmp(argv[1], "worth");
	nr = virtual_time ? NR_WORTH : NR_CASES;
	path_start(nr, 400);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	path_keep_counting();
	/*
	 * The unpatched kernel's readahead reclaims under its plug. What reclaim writes waits
	 * there, and with a slow CPU all of a small cgroup does. Then it can only kill.
	 */
	path_save(PAGE_CLUSTER);
	path_write(PAGE_CLUSTER, "0");
	if (virtual_time)
		test_worth();
	else
		test_file();
	if (!path_swap_null(DISK_MIB, 20)) {
		while (ksft_test_num() < nr)
			ksft_test_result_skip("no disk for swap\n");
		ksft_finished();
	}
	if (virtual_time) {
		test_mapped_file();
		test_waits();
		ksft_finished();
	}
	test_loop();
	test_chase();
	test_random();
	test_shared();
	test_mapped_file();
	test_pollution();
	test_kernels();
	test_child();
	test_trace();
	test_waits();
	test_regions();
	test_storm();
	test_zram();
	test_no_disk();
	ksft_finished();
}
