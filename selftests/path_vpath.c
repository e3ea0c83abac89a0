// SPDX-License-Identifier: GPL-2.0
/*
 * The virtual hardware and its driver. Without the device (lab run --vpath) the only
 * test is that the driver cannot be chosen.
 *
 * usage: path_vpath [virtual|lies|loop|thin|full]
 *
 * virtual: all tests in virtual time (--icount), where the part of a program that a burst sees
 * does not depend on the speed of the host.
 *
 * loop: a loop over 2048 pages from 0x200000000000 on, 8 times, between marks 1 and 2,
 * to be compared with the ground truth.
 *
 * thin: a log that is too long, in virtual time (--icount --cpus 1).
 *
 * full: a log that overflows, in virtual time (--icount --cpus 1).
 *
 * lies: the device writes nonsense into its registers and logs (--vpath=fuzz=N).
 * Whatever it says, programs keep their data, and the emulated driver works after.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "path_util.h"

#define DRIVER	"/sys/bus/pci/drivers/mmpath-vpath/"
#define PAB	128UL
#define PAGES	2048UL		/* 16 times the PAB */
#define ROUNDS	8UL
#define HOT	64UL		/* pages; half of the PAB */
#define THRESHOLD	256LL
#define SECONDS	600		/* for a program on a slow machine */
#define SLACK	400UL		/* other pages of a program: stack, libraries, heap */

/* Marks 1 and 2 in the ground truth; no-operations. */
static void mark_begin(void)
{
#ifdef __x86_64__
	__asm__ __volatile__("nopl 0x50415441(%%rax)" : : : "memory");
#endif
}

static void mark_end(void)
{
#ifdef __x86_64__
	__asm__ __volatile__("nopl 0x50415442(%%rax)" : : : "memory");
#endif
}

/* A program: goes round its pages */
struct loop {
	size_t pages, rounds;
	bool by_kernel;		/* touched by read() into them */
	int cpu;		/* to run on, -1: any */
	bool moves;		/* to the other one of two, each round */
	bool stays;		/* and waits to be killed */
	bool until_told;	/* more rounds, until end_rounds() */
	unsigned long at;	/* address of its pages, 0: any */
};

static int touch_by_kernel(char *p, const struct loop *l)
{
	int fd = open("/dev/zero", O_RDONLY);
	size_t i;

	for (i = 0; i < l->pages * l->rounds; i++)
		if (read(fd, p + i % l->pages * PAGE + 8, 8) != 8)
			return KSFT_FAIL;
	close(fd);
	return KSFT_PASS;
}

static int run_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set);
}

static int wrong_word(size_t page, unsigned long has, unsigned long want)
{
	ksft_print_msg("page %zu has %lu, not %lu\n", page, has, want);
	return KSFT_FAIL;
}

/* Shared with a program that goes round its pages until it is told to end */
static struct {
	unsigned long rounds;
	bool end;
} *told;

/* Only between rounds, each of which is counted. */
static bool is_told(const struct loop *l, size_t i)
{
	if (i % l->pages)
		return false;
	__atomic_store_n(&told->rounds, i / l->pages, __ATOMIC_RELAXED);
	return __atomic_load_n(&told->end, __ATOMIC_RELAXED);
}

static int touch(void *arg)
{
	const struct loop *l = arg;
	char *p = path_map(l->pages * PAGE, false);
	volatile unsigned long *word;
	size_t i;

	if (l->cpu >= 0 && run_on(l->cpu))
		return KSFT_FAIL;
	if (l->at)
		p = mremap(p, l->pages * PAGE, l->pages * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED,
			   (void *)l->at);
	if (p == MAP_FAILED)
		return KSFT_FAIL;
	if (l->by_kernel)
		return touch_by_kernel(p, l);
	mark_begin();
	for (i = 0; i < l->pages * l->rounds || (l->until_told && !is_told(l, i)); i++) {
		if (l->moves && i % l->pages == 0 && run_on(i / l->pages % 2))
			return KSFT_FAIL;
		word = (unsigned long *)(p + i % l->pages * PAGE + i % l->pages % 500 * 8);
		if ((*word)++ != i / l->pages)
			return wrong_word(i % l->pages, *word - 1, i / l->pages);
	}
	mark_end();
	while (l->stays)
		pause();
	return KSFT_PASS;
}

static char *device;		/* its name on the bus, NULL without one */
static char *cg;
static bool virtual_time;

static char *find_device(void)
{
	DIR *dir = opendir(DRIVER);
	struct dirent *entry;
	char *name = NULL;

	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] == '0')
			name = strdup(entry->d_name);
	if (dir)
		closedir(dir);
	return name;
}

/* Parameters take effect when the driver is chosen. */
static void choose(void)
{
	path_set("driver", "vpath");
}

static void defaults(void)
{
	path_vpath_exact(PAB);
	path_set("group_pages", "1");
	path_set("sample_pages", "0");
	path_set("epoch_ms", "200");
	choose();
}

static long resumed;		/* how often, at most, the program that run() ran */

/* At most once for each switch, and once for each tick of 1 ms or more, because of its drain. */
static long children_resumed(void)
{
	struct rusage ru;

	getrusage(RUSAGE_CHILDREN, &ru);
	return ru.ru_nvcsw + ru.ru_nivcsw + (ru.ru_utime.tv_sec + ru.ru_stime.tv_sec) * 1000 +
	       (ru.ru_utime.tv_usec + ru.ru_stime.tv_usec) / 1000;
}

/*
 * Touches of a program beside its loop: other pages of its own, and the page that the
 * kernel writes when it resumes the program (rseq).
 */
static unsigned long slack(void)
{
	return SLACK + resumed;
}

/* Also after a run that did not begin, which leaves nothing to free. */
static void forget(struct path_curve *c)
{
	free(c->misses);
	memset(c, 0, sizeof(*c));
}

/* Runs @fn in a cgroup of its own; its curve is in @c then. */
static bool run_fn(int (*fn)(void *arg), const struct loop *l, struct path_curve *c)
{
	long before = children_resumed();
	char *text;
	bool good;

	path_cg_remove(cg);
	cg = path_cg(NULL, "vpath");
	path_track(cg, true);
	good = path_eq(path_run(cg, fn, (void *)l, SECONDS), KSFT_PASS);
	resumed = children_resumed() - before;
	text = path_cg_slurp(cg, "memory.path.mrc");
	good = path_true(text) && path_parse_curve(text, c) && good;
	free(text);
	return good;
}

static bool run(const struct loop *l, struct path_curve *c)
{
	return run_fn(touch, l, c);
}

/*
 * A loop always misses until all of it fits, and then never. Other touches of the program
 * shift that by a few pages. The program stays on one CPU, or moves after each round. In
 * the middle of a round it could find pages in the PAB of the other CPU.
 */
static bool is_loop(const struct path_curve *c, size_t pages, size_t rounds)
{
	unsigned long below = path_curve_misses(c, pages - pages / 16);
	unsigned long above = path_curve_misses(c, pages + SLACK);
	unsigned long want = pages * (rounds - 1);	/* beside the cold ones */

	ksft_print_msg("%lu records, %lu cold, misses %lu | %lu, loop %lu, resumed %ld\n",
		       c->records, c->cold, below, above, want, resumed);
	return path_ge(below + SLACK, want) && path_le(below, want + slack()) &&
	       path_lt(above, SLACK) && path_ge(c->cold, pages) && path_le(c->cold, pages + SLACK);
}

static const struct loop loop = { .pages = PAGES, .rounds = ROUNDS };
static const struct loop known = {
	.pages = PAGES, .rounds = ROUNDS, .at = 0x200000000000,
};

static void test_curve(const struct loop *l)
{
	struct path_curve c = { };

	ksft_test_result(run(l, &c) && is_loop(&c, l->pages, l->rounds), "poll mode: a loop\n");
	forget(&c);
}

static void test_interrupt(void)
{
	long long before = path_get(PATH_VPATH "interrupts");
	struct path_curve c = { };

	path_set(PATH_VPATH "interrupt", "1");
	choose();
	ksft_test_result(run(&loop, &c) && is_loop(&c, PAGES, ROUNDS), "interrupt mode: a loop\n");
	ksft_test_result(path_gt(path_get(PATH_VPATH "interrupts"), before), "it has rung\n");
	forget(&c);
	defaults();
}

static void test_kernel_copies(void)
{
	const struct loop l = { .pages = PAGES, .rounds = ROUNDS, .by_kernel = true };
	struct path_curve c = { };

	ksft_test_result(run(&l, &c) && is_loop(&c, PAGES, ROUNDS), "the kernel's copies\n");
	forget(&c);
}

static void test_hot(void)
{
	const struct loop l = { .pages = PAB / 2, .rounds = 200 };
	struct path_curve c = { };

	ksft_test_result(run(&l, &c) && path_lt(c.records, PAB / 2 * 20),
			 "hot pages are not logged\n");
	ksft_print_msg("%lu records of %lu touches\n", c.records, l.pages * l.rounds);
	forget(&c);
}

static void test_sample(void)
{
	unsigned long below, want = PAGES * (ROUNDS - 1);
	long long logged = path_get(PATH_VPATH "logged");
	struct path_curve c = { };
	bool good;

	path_set(PATH_VPATH "sample_shift", "4");
	choose();
	good = run(&loop, &c);
	below = path_curve_misses(&c, PAGES / 2);
	logged = path_get(PATH_VPATH "logged") - logged;
	ksft_test_result(good && path_lt(logged, (long long)want / 8) &&
			 path_ge(below + SLACK * 2, want) && path_le(below, want + slack()),
			 "one page in 16\n");
	ksft_print_msg("%lld records, %lu misses, loop %lu, resumed %ld\n", logged, below, want,
		       resumed);
	ksft_test_result(path_gt(path_get(PATH_VPATH "unsampled"), 0), "the others are counted\n");
	forget(&c);
	defaults();
}

/*
 * Hot pages are touched between those of a loop, so that they stay in the PAB. Then a
 * quarter of the loop goes without them, so that they leave it.
 */
static int touch_hot(void *arg)
{
	const struct loop *l = arg;
	char *p = path_map((l->pages + HOT) * PAGE, false), *hot = p + l->pages * PAGE;
	size_t round, i;

	if (run_on(l->cpu))
		return KSFT_FAIL;
	for (round = 0; round < l->rounds; round++) {
		for (i = 0; i < l->pages; i++) {
			p[i * PAGE]++;
			hot[i % HOT * PAGE]++;
		}
		for (i = 0; i < l->pages / 4; i++)
			p[i * PAGE]++;
	}
	return KSFT_PASS;
}

/*
 * With half of its pages, the loop misses on all except those that it touches again at
 * once. A hot page is touched again after a quarter of the loop. That is a hit, if the
 * page is known to have been hot.
 */
static long hot_misses(unsigned int relog)
{
	const struct loop l = { .pages = PAGES, .rounds = 40 };
	long want = (l.rounds - 1) * PAGES * 3 / 4 + l.rounds * PAGES / 4;
	struct path_curve c = { };
	long more = -1;

	path_set(PATH_VPATH "relog", "%u", relog);
	choose();
	if (run_fn(touch_hot, &l, &c))
		more = path_curve_misses(&c, PAGES / 2) - want;
	forget(&c);
	ksft_print_msg("relog %u: %ld misses more, at most %ld\n", relog, more,
		       (long)(HOT * (l.rounds - 1)));
	return more;
}

static void test_relog(void)
{
	const long all = HOT * 39;
	long long relogged = path_get(PATH_VPATH "relogged");
	bool good = path_gt(hot_misses(0), all * 3 / 4);

	good &= path_eq(path_get(PATH_VPATH "relogged"), relogged);
	good &= path_lt(hot_misses(16), all / 4);
	ksft_test_result(good && path_gt(path_get(PATH_VPATH "relogged"), relogged),
			 "hot pages are kept on top\n");
	defaults();
}

static void test_duty(void)
{
	long long logged = path_get(PATH_VPATH "logged");
	long long paused = path_get(PATH_VPATH "paused");
	const struct loop l = { .pages = PAGES, .rounds = 4 * ROUNDS };
	struct path_curve c = { };
	bool good;

	path_set(PATH_VPATH "duty_percent", "50");
	path_set(PATH_VPATH "duty_period", "%lu", 2 * PAGES * 4);
	choose();
	good = run(&l, &c);
	logged = path_get(PATH_VPATH "logged") - logged;
	paused = path_get(PATH_VPATH "paused") - paused;
	ksft_test_result(good && path_lt(logged, (long long)(l.pages * l.rounds * 3 / 4)) &&
			 path_gt(logged, (long long)(l.pages * l.rounds / 4)),
			 "half of the time\n");
	ksft_test_result(path_gt(paused, (long long)(l.pages * l.rounds / 4)),
			 "the rest is counted\n");
	ksft_print_msg("%lld records, %lld held back\n", logged, paused);
	forget(&c);
	path_set(PATH_VPATH "duty_period", "%d", 1 << 24);
	defaults();
}

/*
 * Nearly all touches are records, and a coarser sample of so few pages would say nothing.
 * So the program is logged in bursts. Their curve is that of a loop all the same, with
 * about as many touches.
 */
static void test_rest(void)
{
	const struct loop l = { .pages = PAGES, .rounds = 20000 };
	unsigned long below, above, want = l.pages * (l.rounds - 1);
	long long paused = path_get(PATH_VPATH "paused"), skipped = path_get(PATH_VPATH "skipped");
	struct path_curve c = { };
	bool good;

	path_set(PATH_VPATH "overhead_target", "2");
	path_set("epoch_ms", "100");
	choose();
	good = run(&l, &c);
	paused = path_get(PATH_VPATH "paused") - paused;
	skipped = path_get(PATH_VPATH "skipped") - skipped;
	below = path_curve_misses(&c, PAGES / 2);
	above = path_curve_misses(&c, 2 * PAGES);
	ksft_print_msg("%lld records held back, %lld skipped, misses %lu | %lu, loop %lu\n", paused,
		       skipped, below, above, want);
	ksft_test_result(path_gt(paused, 0) && path_gt(skipped, 0),
			 "what is too expensive is logged in bursts\n");
	/* records that are not logged are counted; with a slow host a burst sees no whole round */
	good = good && path_le(below, want + want / 20) && path_le(above, below);
	if (virtual_time)
		good = good && path_le(above, below / 8) && path_ge(below, want - want / 20);
	ksft_test_result(good, "which stand for all\n");
	forget(&c);
	path_set(PATH_VPATH "overhead_target", "0");
	defaults();
}

/* With a target the program ends before anything is logged. Its touches are counted. */
static void test_short(void)
{
	long long paused = path_get(PATH_VPATH "paused");
	struct path_curve c = { };
	bool good;

	path_set(PATH_VPATH "overhead_target", "5");
	path_set("epoch_ms", "60000");
	choose();
	good = run(&loop, &c);
	paused = path_get(PATH_VPATH "paused") - paused;
	ksft_test_result(good && path_eq(c.records, 0) &&
			 path_ge(paused, (long long)(loop.pages * loop.rounds)),
			 "what ends in its first epoch is not logged\n");
	forget(&c);
	path_set(PATH_VPATH "overhead_target", "0");
	defaults();
}

/* A program goes twice over mapped pages. It takes less time than to drain its log. */
static int touch_twice(void *arg)
{
	const struct loop *l = arg;
	char *p = path_map(l->pages * PAGE, false);
	size_t i;

	if (madvise(p, l->pages * PAGE, MADV_POPULATE_WRITE))
		return KSFT_FAIL;
	/* nothing is logged of its first epoch */
	path_sleep_ms(400);
	for (i = 0; i < 2 * l->pages; i++)
		(*(volatile char *)(p + i % l->pages * PAGE + i % 64 * 64))++;
	return KSFT_PASS;
}

/*
 * From the record on at which a log becomes too expensive, a sample of the rest is delivered. So
 * the order of all pages is known.
 */
static void test_thin(void)
{
	const struct loop l = { .pages = 16384 };
	unsigned long below, above;
	struct path_curve c = { };
	bool good;

	path_set(PATH_VPATH "overhead_target", "2");
	path_set("epoch_ms", "100");
	choose();
	good = run_fn(touch_twice, &l, &c);
	below = path_curve_misses(&c, l.pages / 2);
	above = path_curve_misses(&c, 2 * l.pages);
	ksft_print_msg("%lu cold, misses %lu | %lu, loop %zu\n", c.cold, below, above, l.pages);
	good = good && path_le(above, below / 8) && path_ge(below, l.pages - l.pages / 16) &&
	       path_le(below, l.pages + l.pages / 16);
	ksft_test_result(good, "a sample of the log that is too long\n");
	forget(&c);
	path_set(PATH_VPATH "overhead_target", "0");
	defaults();
}

/* Wait until all records except @left are drained. */
static bool drained(long long logged, long long records, long long left)
{
	unsigned long until = path_hangs_at(20);

	do {
		if (path_get(PATH_VPATH "logged") - logged -
		    (path_get("stats/records") - records) <= left)
			return true;
		path_sleep_ms(20);
	} while (path_now_ms() < until);
	return false;
}

/*
 * Without a reader, and without the end of an epoch, the log of a running program is drained
 * all the same: by the tick, except what it logs between two ticks, or by interrupts, except
 * the threshold of each CPU.
 */
static void test_by_itself(bool interrupt)
{
	const struct loop l = { .pages = PAGES, .rounds = 500, .cpu = 0, .stays = true };
	long long total = l.pages * l.rounds, left = interrupt ? 2 * THRESHOLD : total / 2;
	long long logged, records;
	bool good = false;
	pid_t pid;

	path_set(PATH_VPATH "interrupt", "%d", interrupt);
	path_set(PATH_VPATH "threshold", "%lld", THRESHOLD);
	path_set("epoch_ms", "60000");
	choose();
	logged = path_get(PATH_VPATH "logged");
	records = path_get("stats/records");
	path_cg_remove(cg);
	cg = path_cg(NULL, "vpath");
	path_track(cg, true);
	pid = path_spawn(cg, touch, (void *)&l);
	while (!kill(pid, 0) && path_get(PATH_VPATH "logged") - logged < total)
		path_sleep_ms(20);
	good = path_true(drained(logged, records, left));
	ksft_print_msg("%lld logged, %lld records\n", path_get(PATH_VPATH "logged") - logged,
		       path_get("stats/records") - records);
	kill(pid, SIGKILL);
	path_wait(pid, SECONDS);
	ksft_test_result(good, "drained by %s\n", interrupt ? "interrupts" : "the tick");
	defaults();
}

/*
 * The program logs several times what a log holds, and epochs drain beside the ticks. The
 * program must wait for drains.
 */
static void test_lossless(void)
{
	const struct loop l = { .pages = PAGES, .rounds = 1500, .cpu = 0 };
	long long lost = path_get(PATH_VPATH "overflowed");
	struct path_curve c = { };

	ksft_test_result(run(&l, &c) && is_loop(&c, PAGES, l.rounds) &&
			 path_eq(path_get(PATH_VPATH "overflowed"), lost),
			 "nothing is lost\n");
	forget(&c);
}

/* Accesses that got past all stages, without those known not to have been logged */
static long long to_be_logged(void)
{
	return path_get(PATH_VPATH "filter_misses") + path_get(PATH_VPATH "relogged") -
	       path_get(PATH_VPATH "unsampled") - path_get(PATH_VPATH "paused") -
	       path_get(PATH_VPATH "overflowed");
}

/* The log is too small for the records between two ticks. Lost records are counted. */
static void test_full(unsigned int duty_percent)
{
	const struct loop l = { .pages = PAGES, .rounds = 20 * ROUNDS };
	long long lost, wanted, records;
	struct path_curve c = { };
	bool good;

	path_set(PATH_VPATH "duty_percent", "%u", duty_percent);
	path_set(PATH_VPATH "duty_period", "%lu", PAGES);
	choose();
	lost = path_get(PATH_VPATH "overflowed");
	wanted = to_be_logged();
	records = path_get("stats/records");
	good = run(&l, &c);
	lost = path_get(PATH_VPATH "overflowed") - lost;
	wanted = to_be_logged() - wanted;
	records = path_get("stats/records") - records;
	ksft_print_msg("%lld lost, %lld logged, %lld records\n", lost, wanted, records);
	ksft_test_result(good && path_gt(lost, 0) && path_gt(records, 0) &&
			 path_eq(records, wanted),
			 "what a full log loses is counted, duty %u %%\n", duty_percent);
	forget(&c);
}

/* Programs come and go fast. None gets the records of another. */
static void test_contexts(void)
{
	static const struct loop large = { .pages = PAGES, .rounds = 1, .cpu = -1 };
	static const struct loop small = { .pages = 16, .rounds = 1, .cpu = -1 };
	int i, times = path_slow() ? 8 : 20;
	struct path_curve c = { };
	bool good = true;

	/* so that epochs end while programs do */
	path_set("epoch_ms", "100");
	for (i = 0; i < times; i++) {
		good &= run(&large, &c) && path_ge(c.footprint, PAGES);
		forget(&c);
		good &= run(&small, &c) && path_lt(c.footprint, PAGES / 2);
		forget(&c);
	}
	ksft_test_result(good, "no record reaches another program\n");
	defaults();
}

static void test_hotplug(void)
{
	const struct loop l = { .pages = PAGES, .rounds = ROUNDS, .cpu = 1 };
	const char *online = "/sys/devices/system/cpu/cpu1/online";
	struct path_curve c = { };
	bool good;

	if (access(online, W_OK)) {
		ksft_test_result_skip("a CPU that went and came: no CPU 1\n");
		return;
	}
	good = path_eq(path_write(online, "0"), 0) && run(&loop, &c) && is_loop(&c, PAGES, ROUNDS);
	forget(&c);
	good &= path_eq(path_write(online, "1"), 0) && run(&l, &c) && is_loop(&c, PAGES, ROUNDS);
	forget(&c);
	ksft_test_result(good, "a CPU that went and came\n");
}

static void test_moves(void)
{
	const struct loop l = { .pages = PAGES, .rounds = 4 * ROUNDS, .moves = true };
	struct path_curve c = { };

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2) {
		ksft_test_result_skip("a program that moves: one CPU\n");
		return;
	}
	ksft_test_result(run(&l, &c) && is_loop(&c, PAGES, l.rounds), "a program that moves\n");
	forget(&c);
}

static void test_parameters(void)
{
	bool good;

	good = path_eq(path_write(PATH_SYSFS PATH_VPATH "pab_ways", "256"), -ERANGE) &&
	       path_eq(path_write(PATH_SYSFS PATH_VPATH "tlb_ways", "32"), -ERANGE) &&
	       path_eq(path_write(PATH_SYSFS PATH_VPATH "pab_entries", "192"), -EINVAL) &&
	       path_eq(path_write(PATH_SYSFS PATH_VPATH "filter_entries", "1025"), -ERANGE) &&
	       path_eq(path_write(PATH_SYSFS PATH_VPATH "duty_percent", "0"), -ERANGE);
	ksft_test_result(good && path_eq(path_get(PATH_VPATH "pab_entries"), PAB),
			 "bad parameters\n");
}

static bool wait_rounds(unsigned long more)
{
	unsigned long end = path_hangs_at(60);
	unsigned long until = __atomic_load_n(&told->rounds, __ATOMIC_RELAXED) + more;

	while (__atomic_load_n(&told->rounds, __ATOMIC_RELAXED) < until) {
		if (path_now_ms() > end)
			return false;
		path_sleep_ms(5);
	}
	return true;
}

/* A program that goes round its pages until end_rounds(), however late that comes. */
static pid_t begin_rounds(void)
{
	static const struct loop l = { .pages = PAGES, .cpu = -1, .until_told = true };
	pid_t pid;

	told->rounds = 0;
	told->end = false;
	path_track(cg, true);
	pid = path_spawn(cg, touch, (void *)&l);
	path_true(wait_rounds(2));
	return pid;
}

/* Has it gone on? The second round from here on was begun later than this was called. */
static bool end_rounds(pid_t pid)
{
	bool good = path_true(wait_rounds(2));

	__atomic_store_n(&told->end, true, __ATOMIC_RELAXED);
	return path_eq(path_wait(pid, SECONDS), KSFT_PASS) && good;
}

static void test_switches(void)
{
	bool good = true;
	pid_t pid;
	int i;

	pid = begin_rounds();
	for (i = 0; i < 20; i++) {
		good &= path_eq(path_write(PATH_SYSFS "driver", i & 1 ? "vpath" : "emul"), 0);
		good &= path_true(wait_rounds(1));
	}
	ksft_test_result(end_rounds(pid) && good, "drivers are switched under a program\n");
	defaults();
}

/* The device is removed while it is in use, and added again. */
static void test_removal(void)
{
	long long lost = path_get("stats/driver_lost");
	struct path_curve c = { };
	bool good;
	pid_t pid;

	pid = begin_rounds();
	good = path_eq(path_write(DRIVER "unbind", device), 0);
	ksft_test_result(good && path_gt(path_get("stats/driver_lost"), lost),
			 "the device is taken away\n");
	ksft_test_result(path_eq(path_write(PATH_SYSFS "driver", "vpath"), -ENODEV),
			 "and cannot be chosen\n");
	ksft_test_result(end_rounds(pid), "the program goes on\n");
	path_set("driver", "emul");
	good = path_eq(path_write(DRIVER "bind", device), 0) &&
	       path_eq(path_write(PATH_SYSFS "driver", "vpath"), 0) && run(&loop, &c) &&
	       is_loop(&c, PAGES, ROUNDS);
	ksft_test_result(good, "and given back\n");
	forget(&c);
	/* the same while it is the driver in use: it need not be chosen again */
	good = path_eq(path_write(DRIVER "unbind", device), 0) &&
	       path_eq(path_write(DRIVER "bind", device), 0) && run(&loop, &c) &&
	       is_loop(&c, PAGES, ROUNDS);
	ksft_test_result(good, "new programs have it at once\n");
	forget(&c);
}

/* Remove the device itself, and not only unbind its driver. */
static void test_pulled_out(void)
{
	char file[PATH_MAX];
	struct path_curve c = { };
	bool good;
	pid_t pid;

	snprintf(file, sizeof(file), "/sys/bus/pci/devices/%s/remove", device);
	pid = begin_rounds();
	good = path_eq(path_write(file, "1"), 0) && path_true(access(file, F_OK)) &&
	       path_eq(path_write(PATH_SYSFS "driver", "vpath"), -ENODEV);
	good &= end_rounds(pid);
	ksft_test_result(good, "the device is pulled out, the program goes on\n");
	path_set("driver", "emul");
	good = path_eq(path_write("/sys/bus/pci/rescan", "1"), 0) &&
	       path_true(!access(file, F_OK)) &&
	       path_eq(path_write(PATH_SYSFS "driver", "vpath"), 0) && run(&loop, &c) &&
	       is_loop(&c, PAGES, ROUNDS);
	ksft_test_result(good, "and put back\n");
	forget(&c);
}

/* In user mode, a command for the kernel does nothing: counters are not reset. */
static void test_user_commands(void)
{
#ifdef __x86_64__
	long long before[2], after[2];
	unsigned int i;

	/* on each CPU, because each has a unit: VPATH_RESET, VPATH_MARK */
	before[0] = path_get(PATH_VPATH "accesses");
	before[1] = path_get(PATH_VPATH "logged");
	for (i = 0; i < sysconf(_SC_NPROCESSORS_ONLN); i++) {
		run_on(i);
		__asm__ __volatile__("nopl 0x50415404(%rax)\n\tnopl 0x50415440(%rax)");
	}
	after[0] = path_get(PATH_VPATH "accesses");
	after[1] = path_get(PATH_VPATH "logged");
	ksft_test_result(path_gt(before[0], 0) && path_ge(after[0], before[0]) &&
			 path_ge(after[1], before[1]),
			 "commands of a program\n");
#else
	ksft_test_result_skip("commands of a program: not on this machine\n");
#endif
}

static int without_device(void)
{
	path_start(1, 60);
	ksft_test_result(path_eq(path_write(PATH_SYSFS "driver", "vpath"), -ENODEV),
			 "no device: it cannot be chosen\n");
	ksft_finished();
}

static int with_lies(void)
{
	/* one record in 16384 is wrong: some in each run, also on a debug kernel */
	size_t rounds = path_slow() ? 3 * ROUNDS : 10 * ROUNDS;
	/* either CPU, interrupts or none, the other driver, a device that comes back */
	int runs = path_slow() ? 10 : 20, i;
	struct path_curve c = { };
	bool good = true;

	path_start(3, 400);
	cg = path_cg(NULL, "vpath");
	path_track(cg, true);
	defaults();
	path_set("enabled", "1");
	for (i = 0; i < runs; i++) {
		const struct loop l = { .pages = PAGES, .rounds = rounds, .cpu = i % 2 };

		path_set(PATH_VPATH "interrupt", "%d", i % 8 == 1);
		/* a broken device cannot be chosen, and the emulated driver works */
		path_set("driver", "emul");
		if (i % 4)
			path_write(PATH_SYSFS "driver", "vpath");
		good &= path_eq(path_run(cg, touch, (void *)&l, 200), KSFT_PASS);
		if (i % 5 == 4 && device) {
			path_write(DRIVER "unbind", device);
			path_write(DRIVER "bind", device);
		}
	}
	ksft_test_result(good, "programs keep their data\n");
	ksft_test_result(path_gt(path_get(PATH_VPATH "broken"), 0), "lies are found out\n");
	path_set("driver", "emul");
	path_exact(64);
	good = run(&loop, &c) && is_loop(&c, PAGES, ROUNDS);
	ksft_test_result(good, "the other driver works\n");
	ksft_finished();
}

int main(int argc, char **argv)
{
	bool only_loop, only_thin, only_full;

	device = find_device();
	if (!device)
		return without_device();
	if (argc > 1 && !strcmp(argv[1], "lies"))
		return with_lies();
	virtual_time = argc > 1 && !strcmp(argv[1], "virtual");
	only_loop = argc > 1 && !strcmp(argv[1], "loop");
	only_thin = argc > 1 && !strcmp(argv[1], "thin");
	only_full = argc > 1 && !strcmp(argv[1], "full");
	path_start(only_full ? 2 : only_loop || only_thin ? 1 : 29, 900);
	told = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	cg = path_cg(NULL, "vpath");
	defaults();
	path_set("enabled", "1");
	if (only_loop) {
		test_curve(&known);
		ksft_finished();
	}
	if (only_thin) {
		test_thin();
		ksft_finished();
	}
	if (only_full) {
		test_full(100);
		test_full(50);
		ksft_finished();
	}
	test_parameters();
	test_curve(&loop);
	test_interrupt();
	test_kernel_copies();
	test_hot();
	test_sample();
	test_relog();
	test_duty();
	test_rest();
	test_short();
	test_by_itself(false);
	test_by_itself(true);
	test_lossless();
	test_contexts();
	test_hotplug();
	test_moves();
	test_switches();
	test_removal();
	test_pulled_out();
	test_user_commands();
	ksft_finished();
}
