// SPDX-License-Identifier: GPL-2.0
/*
 * The cost of tracking, and whether memory.path.stat tells it.
 *
 * In the first epoch of a program nothing is tracked, because the budget is not known yet.
 * That is checked by counts, and holds on any machine. With "worth", for virtual time and one
 * CPU, the same work is done untracked and tracked. The difference in CPU time is what
 * memory.path.stat should tell.
 *
 * usage: path_cost [worth]
 */
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include "path_util.h"

#define NR_PAGES	8192UL
#define FAR		512	/* pages from one to the next, each in a page table of its own */
#define WORK		3000	/* instructions, about, for each touch */
#define TOUCHES		300000	/* more than 700 ms of virtual time */
#define TARGET		50	/* permille */
#define SECONDS		300

struct shared {
	unsigned long long cpu_ns;
	bool stop;
};

static struct shared *shared;

/* @apart: pages from one that is touched to the next */
static int touch(char *p, unsigned long touches, unsigned long apart)
{
	unsigned long seed = 1, i;
	struct timespec t;
	unsigned int n;

	/* to read first would map the huge zero page, which the first write splits */
	for (i = 0; i < NR_PAGES; i++)
		*path_word(p, i * apart) = 1;
	for (i = 0; i < touches; i++) {
		(*path_word(p, path_rand(&seed) % NR_PAGES * apart))++;
		for (n = 0; n < WORK / 3; n++)
			__asm__ volatile("" : : : "memory");
	}
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	shared->cpu_ns = t.tv_sec * 1000000000ULL + t.tv_nsec;
	return KSFT_PASS;
}

static int work(void *arg)
{
	return touch(path_map(NR_PAGES * PAGE, false), *(unsigned long *)arg, 1);
}

static int huge_work(void *arg)
{
	return touch(path_map(NR_PAGES * PAGE, true), *(unsigned long *)arg, 1);
}

static int sparse_work(void *arg)
{
	char *p = mmap(NULL, NR_PAGES * FAR * PAGE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return path_true(p != MAP_FAILED) ? touch(p, *(unsigned long *)arg, FAR) : KSFT_FAIL;
}

static int hog(void *arg)
{
	while (!__atomic_load_n(&shared->stop, __ATOMIC_RELAXED))
		;
	return KSFT_PASS;
}

static long long stat_of(const char *cg, const char *name)
{
	return path_cg_key(cg, "memory.path.stat", name);
}

static void test_first_epoch(bool worth)
{
	unsigned long touches = 50000;
	char *cg = path_cg(NULL, "first");
	bool good;

	path_set("epoch_ms", "60000");
	path_track(cg, true);
	good = path_eq(path_run(cg, work, &touches, SECONDS), KSFT_PASS);
	good &= path_eq(stat_of(cg, "faults"), 0);
	good &= path_eq(stat_of(cg, "records"), 0);
	/* what remains is the hook in faults that happen without tracking, too */
	if (worth)
		good &= path_le(stat_of(cg, "overhead_permille"), TARGET);
	ksft_test_result(good, "nothing is tracked in the first epoch\n");
	path_cg_remove(cg);
}

/*
 * Tracking costs from the second epoch on. @key, what it takes of the program or beside it, is at
 * most twice the target, the first burst included.
 */
static void test_takes(int (*work)(void *), unsigned long touches, const char *key,
		       const char *what)
{
	char *cg = path_cg(NULL, "takes");
	long long takes;
	bool good;

	path_track(cg, true);
	good = path_eq(path_run(cg, work, &touches, SECONDS), KSFT_PASS);
	takes = stat_of(cg, key);
	ksft_print_msg("%lld permille, %lld records\n", takes, stat_of(cg, "records"));
	good &= path_gt(takes, 0) && path_le(takes, 2 * TARGET);
	good &= path_gt(stat_of(cg, "records"), 0);
	ksft_test_result(good, "%s\n", what);
	path_cg_remove(cg);
}

static void test_told(int (*work)(void *), unsigned long touches, const char *what)
{
	char *plain = path_cg(NULL, "plain"), *tracked = path_cg(NULL, "tracked");
	long long without, is, told;
	bool good;

	path_set("epoch_ms", "100");
	path_set("enabled", "0");
	good = path_eq(path_run(plain, work, &touches, SECONDS), KSFT_PASS);
	without = shared->cpu_ns;
	path_set("enabled", "1");
	path_track(tracked, true);
	good &= path_eq(path_run(tracked, work, &touches, SECONDS), KSFT_PASS);
	is = (shared->cpu_ns - without) * 1000 / without;
	told = stat_of(tracked, "overhead_permille");
	ksft_print_msg("%lld ms, and %lld permille more; told %lld, trap_ns %lld\n",
		       without / 1000000, is, told, path_get("stats/trap_ns"));
	good &= path_gt(is, 0) && path_ge(told * 5, is * 4) && path_le(told * 5, is * 6);
	ksft_test_result(good, "what is told is true within a fifth: %s\n", what);
	path_cg_remove(tracked);
	path_cg_remove(plain);
}

static void test_worth(void)
{
	char *busy = path_cg(NULL, "busy");
	pid_t pid;

	/* first: what a trap costs is not known yet from others */
	test_told(huge_work, 5 * TOUCHES, "huge pages");
	/* the third has not ended */
	path_set("epoch_ms", "300");
	test_takes(work, TOUCHES, "overhead_permille", "the second no more than twice the target");
	test_told(work, TOUCHES, "quiet");
	pid = path_spawn(busy, hog, NULL);
	path_track(busy, false);
	test_told(work, TOUCHES, "busy");
	__atomic_store_n(&shared->stop, true, __ATOMIC_RELAXED);
	path_wait(pid, SECONDS);
	path_cg_remove(busy);
	/* all page tables are walked twice for a burst: longer than the worker may in an epoch */
	test_takes(sparse_work, 10 * TOUCHES, "worker_permille",
		   "the worker takes no more of a program that is sparse");
}

int main(int argc, char **argv)
{
	bool worth = argc > 1 && !strcmp(argv[1], "worth");

	path_start(worth ? 6 : 1, 600);
	shared = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	path_use_driver("emul", 2048);
	path_set(PATH_EMUL "overhead_target", "%u", TARGET / 10);
	test_first_epoch(worth);
	if (worth) {
		path_save(PATH_THP);
		path_write(PATH_THP, "madvise");
		test_worth();
	}
	ksft_finished();
}
