// SPDX-License-Identifier: GPL-2.0
/*
 * Allocations fail while a program is tracked. The program goes on with right
 * results, and a counter tells what was dropped.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "path_util.h"

#define DEBUGFS		"/sys/kernel/debug/"
#define NR_CASES	13
#define NR_PAGES	2048UL

static const char * const knobs[] = {
	"probability", "interval", "times", "space", "verbose", "task-filter",
	"ignore-gfp-wait", "cache-filter", "min-order", "ignore-gfp-highmem",
	"reject-start", "reject-end",
};

static void set(const char *which, const char *knob, const char *value)
{
	char file[256];

	snprintf(file, sizeof(file), DEBUGFS "%s/%s", which, knob);
	if (!access(file, W_OK))
		path_write(file, value);
}

/* Find the addresses of a function of the kernel. Returns false if they are not known. */
static bool range_of(const char *function, char *start, char *end, size_t size)
{
	unsigned long first = 0, next = ULONG_MAX, addr;
	FILE *f = fopen("/proc/kallsyms", "r");
	char name[256];

	while (f && fscanf(f, "%lx %*c %255s%*[^\n]", &addr, name) == 2)
		if (!strcmp(name, function))
			first = addr;
	if (f)
		rewind(f);
	while (f && fscanf(f, "%lx %*c %255s%*[^\n]", &addr, name) == 2)
		if (addr > first && addr < next)
			next = addr;
	if (f)
		fclose(f);
	snprintf(start, size, "%#lx", first);
	snprintf(end, size, "%#lx", next);
	return first;
}

/*
 * When an allocation fails while the kernel makes an area for the stack of a new task, the
 * kernel warns. That has nothing to do with tracking, so these allocations must not fail.
 */
static void spare_vmap_areas(const char *which)
{
	char start[32], end[32];

	if (!range_of("alloc_vmap_area", start, end, sizeof(start)))
		return;
	set(which, "reject-end", end);
	set(which, "reject-start", start);
}

/*
 * Let @percent of the allocations fail in tasks that ask for it: all kinds, or only
 * those that must not wait.
 */
static void fail(const char *which, unsigned int percent, bool all)
{
	char value[16];

	snprintf(value, sizeof(value), "%u", percent);
	set(which, "probability", "0");
	set(which, "interval", "1");
	set(which, "times", "-1");
	set(which, "space", "0");
	set(which, "verbose", "0");
	set(which, "task-filter", "Y");
	set(which, "ignore-gfp-wait", all ? "N" : "Y");
	set(which, "ignore-gfp-highmem", "N");
	set(which, "min-order", "0");
	set(which, "cache-filter", "N");
	set(which, "probability", value);
}

/* Allocations fail in this task from now on, so opening the file may fail, too. */
static void make_it_fail(bool on)
{
	int tries = 100;

	while (path_write("/proc/self/make-it-fail", on ? "1" : "0") && tries--)
		;
}

/* Pages all over a big mapping: each needs memory in the models. */
static int touch(void *arg)
{
	unsigned long rounds, i, bad = 0;
	char *p;

	p = path_map(NR_PAGES * 64 * PAGE, false);
	make_it_fail(true);
	for (rounds = 0; rounds < 6; rounds++)
		for (i = 0; i < NR_PAGES; i++)
			bad += (*(__volatile__ unsigned long *)(p + i * 64 * PAGE))++ != rounds;
	make_it_fail(false);
	if (bad)
		ksft_print_msg("%lu pages wrong\n", bad);
	return bad ? KSFT_FAIL : KSFT_PASS;
}

static long long dropped(void)
{
	return path_get("stats/dropped_nomem");
}

/*
 * The models must not wait for memory. Without memory they drop records. When there is memory
 * again, they go on by themselves.
 */
static void test_models(const char *which)
{
	char *cg = path_cg(NULL, "fail"), *text;
	long long before = dropped(), footprint;
	int ret;

	path_track(cg, true);
	fail(which, 100, false);
	ret = path_run(cg, touch, NULL, 30);
	fail(which, 0, true);
	ksft_test_result(path_eq(ret, KSFT_PASS), "%s: the program's data is right\n", which);
	ksft_print_msg("%lld records dropped\n", dropped() - before);
	ksft_test_result(path_gt(dropped(), before), "%s: what was dropped is counted\n",
			 which);
	before = dropped();
	fail(which, 10, false);
	ret = path_run(cg, touch, NULL, 30);
	fail(which, 0, true);
	ret |= path_run(cg, touch, NULL, 30);
	text = path_cg_slurp(cg, "memory.path.mrc");
	footprint = text ? path_text_key(text, "footprint") : -1;
	free(text);
	ksft_test_result(path_eq(ret, KSFT_PASS) && path_ge(footprint, NR_PAGES),
			 "%s: the curve goes on when there is memory\n", which);
	path_cg_remove(cg);
}

/* Children, executed programs and mappings that cannot have a context */
static int live(void *arg)
{
	int i, status;
	char *p;
	pid_t pid;

	for (i = 0; i < 100; i++) {
		p = mmap(NULL, 4 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (p == MAP_FAILED)
			continue;
		*(__volatile__ char *)p = i;
		make_it_fail(true);
		pid = fork();
		if (!pid) {
			if (*(__volatile__ char *)p != (char)i)
				_exit(KSFT_FAIL);
			munmap(p + MIB, MIB);
			_exit(KSFT_PASS);
		}
		mremap(p, 4 * MIB, 8 * MIB, MREMAP_MAYMOVE);
		make_it_fail(false);
		if (pid > 0 && (waitpid(pid, &status, 0) != pid || status)) {
			ksft_print_msg("child: status %x\n", status);
			return KSFT_FAIL;
		}
	}
	return KSFT_PASS;
}

static void test_life(void)
{
	char *cg = path_cg(NULL, "life");
	int ret;

	path_track(cg, true);
	fail("failslab", 3, true);
	ret = path_run(cg, live, NULL, 30);
	fail("failslab", 0, true);
	ksft_test_result(path_eq(ret, 0), "fork, mmap, munmap, mremap\n");
	path_cg_remove(cg);
}

#define EXEC_CACHE	"/sys/kernel/slab/vm_area_struct/failslab"

/* An exec fails, because there is no memory for the new program's first mapping. */
static int exec_fails(void *arg)
{
	char * const argv[] = { "true", NULL };
	int i, failed = 0;
	pid_t pid;

	for (i = 0; i < 8; i++) {
		pid = fork();
		if (!pid) {
			make_it_fail(true);
			execv("/bin/true", argv);
			_exit(errno == ENOMEM ? 42 : KSFT_FAIL);
		}
		failed += pid > 0 && path_wait(pid, 30) == 42;
	}
	return path_eq(failed, 8) ? KSFT_PASS : KSFT_FAIL;
}

/* The mm of an exec that failed must not be looked at after its task has gone. */
static void test_exec(void)
{
	char *cg = path_cg(NULL, "exec");
	bool good;

	if (access(EXEC_CACHE, W_OK)) {
		ksft_test_result_skip("no " EXEC_CACHE "\n");
		return;
	}
	path_track(cg, true);
	path_write(EXEC_CACHE, "1");
	fail("failslab", 100, true);
	set("failslab", "cache-filter", "Y");
	good = path_eq(path_run(cg, exec_fails, NULL, 60), KSFT_PASS);
	fail("failslab", 0, true);
	path_write(EXEC_CACHE, "0");
	good &= path_true(path_wait_contexts(cg, 0));
	/* several epochs */
	path_sleep_ms(1000);
	good &= path_eq(path_cg_key(cg, "memory.path.stat", "contexts"), 0);
	ksft_test_result(good, "a program that cannot be executed leaves nothing\n");
	path_cg_remove(cg);
}

/* Enable, disable and change the driver in a task with failing allocations. */
static void test_control(void)
{
	char *cg = path_cg(NULL, "control");
	long long before = path_get("stats/attach_failed");
	int i, failed = 0;
	pid_t pid;

	path_track(cg, true);
	pid = path_spawn(cg, live, NULL);
	fail("failslab", 10, true);
	make_it_fail(true);
	for (i = 0; i < 300; i++) {
		failed += !!path_cg_write(cg, "memory.path.track", i & 1 ? "1" : "0");
		path_write(PATH_SYSFS "driver", i & 2 ? "emul" : "replay");
	}
	make_it_fail(false);
	fail("failslab", 0, true);
	path_set("driver", "emul");
	ksft_print_msg("%d writes and %lld attachments failed\n", failed,
		       path_get("stats/attach_failed") - before);
	ksft_test_result(path_eq(path_wait(pid, 30), KSFT_PASS) &&
			 path_gt(failed + path_get("stats/attach_failed") - before, 0),
			 "switching while allocations fail\n");
	path_cg_remove(cg);
}

#define SWAP_PAGES	1024UL

/* Shared with the programs that use memory: when to stop, and the rounds of each */
struct shared {
	unsigned long rounds[2];
	bool enough;
};

static struct shared *shared;

static int swap_round(void *arg)
{
	char *p = path_map(SWAP_PAGES * PAGE, false);
	unsigned long *rounds = arg, round, i, bad = 0;

	make_it_fail(true);
	for (round = 0; !__atomic_load_n(&shared->enough, __ATOMIC_RELAXED); round++) {
		for (i = 0; i < SWAP_PAGES; i++)
			bad += (*(__volatile__ unsigned long *)(p + i * PAGE + i % 500 * 8))++ !=
				round;
		__atomic_store_n(rounds, round + 1, __ATOMIC_RELAXED);
	}
	make_it_fail(false);
	if (bad)
		ksft_print_msg("%lu pages wrong\n", bad);
	return bad ? KSFT_FAIL : KSFT_PASS;
}

static bool had_rounds(size_t programs)
{
	while (programs--)
		if (__atomic_load_n(&shared->rounds[programs], __ATOMIC_RELAXED) < 4)
			return false;
	return true;
}

static bool end_rounds(const pid_t *pid, size_t nr)
{
	bool good = true;

	__atomic_store_n(&shared->enough, true, __ATOMIC_RELAXED);
	while (nr--)
		good &= path_eq(path_wait(pid[nr], 30), KSFT_PASS);
	memset(shared, 0, sizeof(*shared));
	return good;
}

struct writes {
	int taken, failed, others;
};

static void write_failing(struct writes *w, const char *cg, const char *file, const char *text)
{
	int ret;

	make_it_fail(true);
	ret = path_cg_write(cg, file, text);
	make_it_fail(false);
	w->taken += !ret;
	w->failed += ret == -ENOMEM;
	w->others += ret && ret != -ENOMEM;
}

static void print_writes(const struct writes *w)
{
	ksft_print_msg("%d taken, %d failed, %d with another error; %lu and %lu rounds\n",
		       w->taken, w->failed, w->others, shared->rounds[0], shared->rounds[1]);
}

/* The policy changes while allocations fail, in the task that changes it and in the program. */
static void test_replace(void)
{
	static const char * const policies[] = {
		"lirs", "lru", "region", "mru", "none", "auto", "region", "none",
	};
	char *cg = path_cg(NULL, "replace");
	struct writes w = { };
	bool good;
	pid_t pid;
	int i;

	path_track(cg, true);
	if (path_cg_write(cg, "memory.path.replace", "lirs") || !path_have_swap()) {
		ksft_test_result_skip("needs memory.path.replace and swap\n");
		path_cg_remove(cg);
		return;
	}
	path_cg_write(cg, "memory.max", "3M");
	pid = path_spawn(cg, swap_round, &shared->rounds[0]);
	fail("failslab", 3, true);
	for (i = 0; i < 16 || ((!had_rounds(1) || !w.failed) && i < 1000); i++) {
		write_failing(&w, cg, "memory.path.replace", policies[i % ARRAY_SIZE(policies)]);
		path_sleep_ms(50);
	}
	fail("failslab", 0, true);
	print_writes(&w);
	good = path_true(had_rounds(1)) && path_true(w.taken) && path_true(w.failed) &&
	       path_eq(w.others, 0);
	ksft_test_result(path_true(end_rounds(&pid, 1)) && good,
			 "the policy changes while allocations fail\n");
	path_cg_remove(cg);
}

/* What cannot be kept is not foreseen. The program does not notice. */
static void test_prefetch(void)
{
	static const char * const modes[] = { "auto", "ppg", "none", "space" };
	char *cg = path_cg(NULL, "prefetch");
	long long most = 0, now;
	struct writes w = { };
	bool good;
	pid_t pid;
	int i;

	if (path_cg_write(cg, "memory.path.prefetch", "space") || !path_have_swap()) {
		ksft_test_result_skip("needs memory.path.prefetch and swap\n");
		path_cg_remove(cg);
		return;
	}
	path_cg_write(cg, "memory.max", "3M");
	pid = path_spawn(cg, swap_round, &shared->rounds[0]);
	fail("failslab", 3, true);
	for (i = 0; i < 16 || ((!had_rounds(1) || !most) && i < 1000); i++) {
		write_failing(&w, cg, "memory.path.prefetch", modes[i % ARRAY_SIZE(modes)]);
		path_sleep_ms(50);
		now = path_cg_key(cg, "memory.path.stat", "prefetch_prefetched");
		most = now > most ? now : most;
	}
	fail("failslab", 0, true);
	print_writes(&w);
	good = path_true(had_rounds(1)) && path_true(w.taken) && path_gt(most, 0) &&
	       path_eq(w.others, 0) && path_eq(path_cg_key(cg, "memory.events", "oom_kill"), 0);
	ksft_test_result(path_true(end_rounds(&pid, 1)) && good,
			 "pages are read ahead while allocations fail\n");
	path_cg_remove(cg);
}

/* Whatever allocation fails, the mode is the old one or the new one. */
static void test_modes(const char *top)
{
	static const char * const modes[] = { "none", "fair", "throughput" };
	struct writes w = { };
	int i;

	fail("failslab", 30, true);
	for (i = 0; i < 300; i++)
		write_failing(&w, top, "memory.path.balance", modes[i % ARRAY_SIZE(modes)]);
	fail("failslab", 0, true);
	print_writes(&w);
	ksft_test_result(path_true(w.taken) && path_true(w.failed) && path_eq(w.others, 0) &&
			 path_eq(path_cg_write(top, "memory.path.balance", "none"), 0),
			 "modes change while allocations fail\n");
}

/* Use each mode long enough to set targets, and for reclaim to act on them. */
static void test_balance(const char *top, const char *a, const char *b)
{
	static const char * const modes[] = { "fair", "throughput", "sla", "none" };
	int i, targets = 0, most = path_slow() ? 400 : 100;
	struct writes w = { };
	pid_t pid[2];
	bool good;

	pid[0] = path_spawn(a, swap_round, &shared->rounds[0]);
	pid[1] = path_spawn(b, swap_round, &shared->rounds[1]);
	fail("failslab", 3, true);
	for (i = 0; i < most && (!had_rounds(2) || targets < 8 || !w.failed); i++) {
		write_failing(&w, top, "memory.path.balance", modes[i % ARRAY_SIZE(modes)]);
		path_sleep_ms(500);
		targets += path_cg_key(a, "memory.path.target", "target") > 0 &&
			   path_cg_key(b, "memory.path.target", "target") > 0;
	}
	fail("failslab", 0, true);
	print_writes(&w);
	good = path_true(had_rounds(2)) && path_ge(targets, 8) && path_true(w.failed) &&
	       path_eq(w.others, 0) && path_eq(path_cg_key(top, "memory.events", "oom_kill"), 0);
	ksft_test_result(path_true(end_rounds(pid, 2)) && good,
			 "memory is balanced while allocations fail\n");
}

static void test_balances(void)
{
	char *top = path_cg(NULL, "balance"), *a = path_cg(top, "a"), *b = path_cg(top, "b");

	path_track(a, true);
	path_track(b, true);
	path_cg_write(top, "memory.max", "6M");
	test_modes(top);
	test_balance(top, a, b);
	path_cg_remove(b);
	path_cg_remove(a);
	path_cg_remove(top);
}

int main(void)
{
	static const char * const which[] = { "failslab", "fail_page_alloc" };
	char file[256];
	size_t i, k;

	path_start(NR_CASES, 120);
	if (access(DEBUGFS "failslab/probability", W_OK) ||
	    access("/proc/self/make-it-fail", W_OK)) {
		for (i = 0; i < NR_CASES; i++)
			ksft_test_result_skip("no CONFIG_FAILSLAB\n");
		ksft_finished();
	}
	for (i = 0; i < ARRAY_SIZE(which); i++)
		for (k = 0; k < ARRAY_SIZE(knobs); k++) {
			snprintf(file, sizeof(file), DEBUGFS "%s/%s", which[i], knobs[k]);
			path_save(file);
		}
	for (i = 0; i < ARRAY_SIZE(which); i++)
		spare_vmap_areas(which[i]);
	shared = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	path_exact(64);
	/* small logs, because there are many programs; the records are not counted */
	path_set(PATH_EMUL "log_entries", "1024");
	/* on a slow machine the end of an epoch would drain the log, and nothing would fail */
	path_set("epoch_ms", "60000");
	test_models("failslab");
	test_models("fail_page_alloc");
	path_set("epoch_ms", "200");
	path_keep_counting();
	test_life();
	test_exec();
	test_control();
	test_replace();
	test_prefetch();
	test_balances();
	ksft_finished();
}
