// SPDX-License-Identifier: GPL-2.0
/*
 * memory.path.balance: from which child reclaim takes memory. Programs count in their pages
 * and check them. The worth of a mode is measured by refaults, and compared in virtual time
 * only.
 *
 * usage: path_balance [emul|vpath [worth]]	(the driver; with "worth", virtual time)
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/mmpath.h>
#include "path_util.h"

#define NR_CASES	27
#define NR_WORTH	7
#define PAB		16
#define MOST_CHILDREN	64
#define SECONDS		180
#define EPOCH_MS	"100"
#define LONG_EPOCH_MS	"3000"
#define NEW_EPOCHS	12	/* more than it takes until the curve of a child is known */
#define UNKNOWN_EPOCHS	6	/* less */

/* Shared with all programs */
struct shared {
	unsigned long ready, wrong, rounds, modes, cgroups, kills, limits;
	bool stop;
};

static struct shared *shared;
static const char *driver = "emul";

static void count(unsigned long *what, unsigned long n)
{
	__atomic_fetch_add(what, n, __ATOMIC_RELAXED);
}

static bool stopped(void)
{
	return __atomic_load_n(&shared->stop, __ATOMIC_RELAXED);
}

/* Programs */

/* @touches 0: until it is told to stop */
struct job {
	size_t pages;
	unsigned long touches;
	unsigned long work;		/* instructions, about, for each touch */
	bool loop, locked, pinned;
	size_t told;			/* with driver replay: number of pages that it reports */
};

static int use(void *arg)
{
	const struct job *job = arg;
	char *p = path_map(job->pages * PAGE, false);
	unsigned short *times = calloc(job->pages, sizeof(*times));
	unsigned long seed = 1, i, n, wrong;
	size_t page;

	if (job->locked && mlock(p, job->pages * PAGE))
		return KSFT_SKIP;
	wrong = path_go_round(p, job->pages, 0);
	count(&shared->ready, 1);
	for (i = 0; job->touches ? i < job->touches : !stopped(); i++) {
		page = job->loop ? i % job->pages : path_rand(&seed) % job->pages;
		wrong += (*path_word(p, page))++ != 1UL + times[page]++;
		for (n = 0; n < job->work / 3; n++)
			__asm__ volatile("" : : : "memory");
	}
	for (page = 0; page < job->pages; page++)
		wrong += *path_word(p, page) != 1UL + times[page];
	if (wrong)
		ksft_print_msg("%lu pages wrong\n", wrong);
	count(&shared->wrong, wrong);
	return wrong ? KSFT_FAIL : KSFT_PASS;
}

/* Touch pages at random until told to stop, and report all or few of them to driver replay. */
static int tell(void *arg)
{
	const struct job *job = arg;
	char *p = path_map(job->pages * PAGE, false);
	struct mmpath_event ev[64] = { };
	int dev = open("/dev/mmpath", O_WRONLY | O_CLOEXEC);
	unsigned long seed = 1, i, wrong;
	size_t page;

	wrong = path_go_round(p, job->pages, 0);
	count(&shared->ready, 1);
	for (i = 0; !stopped(); i++) {
		page = path_rand(&seed) % job->pages;
		wrong += *path_word(p, page) != 1;
		ev[i % 64].addr = (unsigned long)p + (job->told ? i % job->told : page) * PAGE;
		/* the program may not be tracked yet */
		if (i % 64 == 63 && write(dev, ev, sizeof(ev)) != (ssize_t)sizeof(ev) &&
		    errno != ESRCH)
			wrong++;
	}
	close(dev);
	count(&shared->wrong, wrong);
	return wrong ? KSFT_FAIL : KSFT_PASS;
}

/* Put pages into a pipe without a reader: reclaim finds them, and cannot free them. */
static bool pin(char *p, size_t pages)
{
	struct iovec all = { p, pages * PAGE };
	int ends[2];

	return !pipe(ends) && fcntl(ends[1], F_SETPIPE_SZ, all.iov_len) >= 0 &&
	       vmsplice(ends[1], &all, 1, 0) == (ssize_t)all.iov_len;
}

/* Hold pages, and do nothing with them. */
static int hold(void *arg)
{
	const struct job *job = arg;
	char *p = path_map(job->pages * PAGE, false);
	unsigned long wrong;

	if (job->locked && mlock(p, job->pages * PAGE))
		return KSFT_SKIP;
	wrong = path_go_round(p, job->pages, 0);
	if (job->pinned && !pin(p, job->pages))
		return KSFT_SKIP;
	count(&shared->ready, 1);
	while (!stopped())
		path_sleep_ms(20);
	wrong += path_go_round(p, job->pages, 1);
	count(&shared->wrong, wrong);
	return wrong ? KSFT_FAIL : KSFT_PASS;
}

static void begin(void)
{
	memset(shared, 0, sizeof(*shared));
}

static void stop(void)
{
	__atomic_store_n(&shared->stop, true, __ATOMIC_RELAXED);
}

static bool finish(const pid_t *pid, size_t nr)
{
	bool good = true;

	stop();
	while (nr--)
		good &= path_eq(path_wait(pid[nr], SECONDS), KSFT_PASS);
	return good && path_eq(shared->wrong, 0);
}

/* Cgroups: a parent with a limit, and two children */

struct family {
	char *top, *a, *b;
};

static long long key(const char *cg, const char *file, const char *name)
{
	return path_cg_key(cg, file, name);
}

static long long stat_of(const struct family *f, const char *name)
{
	return key(f->top, "memory.path.balance_stat", name);
}

static long long bytes_of(const char *cg, const char *file)
{
	char *text = path_cg_slurp(cg, file);
	long long bytes = text ? atoll(text) : -1;

	free(text);
	return bytes;
}

/* Of a cgroup, ever */
static long long peak(const char *cg)
{
	return bytes_of(cg, "memory.peak");
}

static long long target(const char *cg)
{
	char *text = path_cg_slurp(cg, "memory.path.target");
	bool max = text && !strcmp(text, "target max\n");
	long long bytes = max ? -2 : text ? path_text_key(text, "target") : -1;

	free(text);
	return bytes;
}

static void family_make(struct family *f, const char *name, const char *max)
{
	f->top = path_cg(NULL, name);
	f->a = path_cg(f->top, "a");
	f->b = path_cg(f->top, "b");
	path_track(f->a, true);
	path_track(f->b, true);
	path_cg_write(f->top, "memory.max", max);
}

static void family_remove(struct family *f)
{
	path_cg_remove(f->b);
	path_cg_remove(f->a);
	path_cg_remove(f->top);
}

static bool balance(const struct family *f, const char *mode)
{
	return !path_cg_write(f->top, "memory.path.balance", mode);
}

/* Wait for @more epochs, one at a time, so that each has its time on a slow machine. */
static bool wait_epochs(const struct family *f, long long more)
{
	long long now = stat_of(f, "epochs"), until = now + more, last = now;
	int i;

	for (i = 0; i < 600; i++) {
		now = stat_of(f, "epochs");
		if (now >= until)
			return true;
		if (now != last)
			i = 0;
		last = now;
		path_sleep_ms(50);
	}
	ksft_print_msg("no epochs\n");
	return false;
}

/*
 * Wait for @more epochs, and until a child has a target. An epoch that comes more than a second too
 * late has all measured anew, and meanwhile there is none.
 */
static bool wait_target(const struct family *f, const char *cg, long long more)
{
	unsigned int i;

	for (i = 0; i < 8; i++) {
		if (!wait_epochs(f, more))
			return false;
		if (target(cg) >= 0)
			return true;
		more = NEW_EPOCHS;
	}
	return path_ge(target(cg), 0);
}

static bool wait_ready(unsigned long n)
{
	unsigned long end = path_hangs_at(60);

	while (__atomic_load_n(&shared->ready, __ATOMIC_RELAXED) < n) {
		if (path_now_ms() > end)
			return false;
		path_sleep_ms(20);
	}
	return true;
}

/* The files */

static bool shows(const char *cg, const char *file, const char *want)
{
	char *text = path_cg_slurp(cg, file);
	bool good = path_true(text) && path_same(text, want);

	if (!good)
		ksft_print_msg("%s: %s", file, text ? text : "nothing\n");
	free(text);
	return good;
}

static bool refuses(const char *cg, const char *file, const char *const *words, int error)
{
	bool good = true;
	int ret;

	for (; *words; words++) {
		ret = path_cg_write(cg, file, *words);
		if (ret != error) {
			ksft_print_msg("%s: \"%s\": %d\n", file, *words, ret);
			good = false;
		}
	}
	return good;
}

static void test_files(void)
{
	static const char * const modes[] = { "Fair", "fair sla", "[fair]", "0", "none,", NULL };
	static const char * const numbers[] = { "x", "-1", "1.5", "1 2", "max max", "0x10", NULL };
	static const char * const weights[] = { "0", "10001", NULL };
	char *cg = path_cg(NULL, "files"), name[600];
	bool good;
	int fd;

	good = shows(cg, "memory.path.balance", "[none] throughput fair sla\n") &&
	       path_eq(path_cg_write(cg, "memory.path.balance", "throughput"), 0) &&
	       shows(cg, "memory.path.balance", "none [throughput] fair sla\n") &&
	       path_eq(path_cg_write(cg, "memory.path.balance", " sla\n"), 0) &&
	       shows(cg, "memory.path.balance", "none throughput fair [sla]\n") &&
	       path_eq(path_cg_write(cg, "memory.path.balance", "fair\n"), 0);
	ksft_test_result(good && refuses(cg, "memory.path.balance", modes, -EINVAL) &&
			 shows(cg, "memory.path.balance", "none throughput [fair] sla\n"),
			 "memory.path.balance\n");
	good = path_eq(path_cg_write(cg, "memory.path.weight", "50"), -ENODATA) &&
	       path_eq(path_cg_write(cg, "memory.path.sla", "50"), -ENODATA) &&
	       path_true(!path_cg_slurp(cg, "memory.path.target"));
	path_track(cg, true);
	ksft_test_result(good && shows(cg, "memory.path.target", "target max\n"),
			 "a cgroup that is not tracked has neither weight nor target\n");
	good = shows(cg, "memory.path.weight", "100\n") &&
	       path_eq(path_cg_write(cg, "memory.path.weight", "50"), 0) &&
	       refuses(cg, "memory.path.weight", numbers, -EINVAL) &&
	       refuses(cg, "memory.path.weight", weights, -ERANGE);
	ksft_test_result(good && shows(cg, "memory.path.weight", "50\n"), "memory.path.weight\n");
	good = shows(cg, "memory.path.sla", "max\n") &&
	       path_eq(path_cg_write(cg, "memory.path.sla", "50\n"), 0) &&
	       refuses(cg, "memory.path.sla", numbers, -EINVAL) &&
	       shows(cg, "memory.path.sla", "50\n") &&
	       path_eq(path_cg_write(cg, "memory.path.sla", "max"), 0);
	ksft_test_result(good && shows(cg, "memory.path.sla", "max\n"), "memory.path.sla\n");
	snprintf(name, sizeof(name), "%s/memory.path.balance", cg);
	fd = open(name, O_WRONLY);
	good = path_ge(fd, 0) && path_eq(rmdir(cg), 0) && path_lt(write(fd, "fair", 4), 0) &&
	       path_eq(errno, ENODEV);
	close(fd);
	ksft_test_result(good && path_true(access(PATH_CGROUP "/memory.path.balance", F_OK)),
			 "a removed cgroup takes no mode, and the root has none\n");
	path_cg_remove(cg);
}

/* Targets */

/* Wait until the targets share all that others do not have. It takes longer after a late epoch. */
static bool wait_shared_out(struct family *f, long long bytes)
{
	int i;

	for (i = 0; i < 4; i++)
		if (!wait_epochs(f, 20) || target(f->a) + target(f->b) > bytes)
			break;
	ksft_print_msg("targets %lld and %lld\n", target(f->a), target(f->b));
	return target(f->a) + target(f->b) > bytes;
}

static void test_targets(void)
{
	struct job job = { 512 };
	struct family f;
	pid_t pid[2];
	bool good;

	begin();
	family_make(&f, "targets", "max");
	pid[0] = path_spawn(f.a, hold, &job);
	pid[1] = path_spawn(f.b, hold, &job);
	good = path_true(wait_ready(2)) && path_true(balance(&f, "fair"));
	path_sleep_ms(500);
	ksft_test_result(good && path_eq(target(f.a), -2) && path_eq(stat_of(&f, "step"), 0),
			 "without a limit there is nothing to divide\n");
	path_cg_write(f.top, "memory.max", "16M");
	good = path_true(wait_shared_out(&f, 12 * (long long)MIB));
	ksft_test_result(good && path_gt(target(f.a), 0) && path_gt(target(f.b), 0) &&
			 path_le(target(f.a) + target(f.b), 16LL * (long long)MIB) &&
			 path_eq(stat_of(&f, "children"), 2),
			 "with one there are targets\n");
	/* a limit beyond the end of any curve, with very large steps */
	path_cg_write(f.top, "memory.max", "4E");
	good = path_true(wait_epochs(&f, 2));
	path_cg_write(f.top, "memory.max", "16M");
	path_track(f.b, false);
	ksft_test_result(good && path_eq(target(f.b), -1) && path_true(wait_epochs(&f, 2)) &&
			 path_gt(target(f.a), 0) && path_eq(stat_of(&f, "children"), 1),
			 "a child that is not tracked any more is left out\n");
	ksft_test_result(path_true(balance(&f, "none")) && path_eq(target(f.a), -2) &&
			 path_true(!path_cg_slurp(f.top, "memory.path.balance_stat")),
			 "and none restores all at once\n");
	ksft_test_result(finish(pid, 2), "the programs have not noticed\n");
	family_remove(&f);
}

/* The child is idle, and would have to give all its memory. */
static void test_protected(const char *file)
{
	struct job idle = { 1024 }, busy = { 2304 };
	struct family f;
	pid_t pid[2];
	bool good;

	begin();
	family_make(&f, "protected", "8M");
	path_cg_write(f.a, file, "3M");
	balance(&f, "throughput");
	pid[0] = path_spawn(f.a, hold, &idle);
	good = path_true(wait_ready(1));
	pid[1] = path_spawn(f.b, use, &busy);
	good &= path_true(wait_ready(2)) && path_true(wait_target(&f, f.a, 20));
	ksft_print_msg("target %lld, usage %lld\n", target(f.a),
		       key(f.a, "memory.path.target", "usage"));
	good &= path_ge(target(f.a), 3LL * (long long)MIB) &&
		path_ge(key(f.a, "memory.path.target", "usage"), 2LL * (long long)MIB) &&
		path_eq(stat_of(&f, "relaxed_stuck"), 0);
	ksft_test_result(finish(pid, 2) && good, "%s\n", file);
	family_remove(&f);
}

/* Clean pages of the swap disk: reclaim neither writes them nor waits for them. */
struct clean {
	size_t pages, from;
};

static int open_disk(void)
{
	char disk[256], *text = path_slurp("/proc/swaps");
	int fd = -1;

	if (text && sscanf(text, "%*[^\n] %255s", disk) == 1)
		fd = open(disk, O_RDONLY | O_CLOEXEC);
	free(text);
	return fd;
}

/* Read them, and hold on until told to stop. */
static int hold_clean(void *arg)
{
	const struct clean *clean = arg;
	off_t at = clean->from * PAGE, end = at + clean->pages * PAGE;
	int fd = open_disk();
	char buf[PAGE];
	bool good;

	good = path_eq(posix_fadvise(fd, at, end - at, POSIX_FADV_DONTNEED), 0);
	for (; good && at < end; at += PAGE)
		good = path_eq(pread(fd, buf, PAGE, at), PAGE);
	count(&shared->ready, 1);
	while (!stopped())
		path_sleep_ms(20);
	return good ? KSFT_PASS : KSFT_FAIL;
}

/* How many of them are in memory, exactly: memory.stat may lag behind */
static long in_memory(const struct clean *clean)
{
	unsigned char *in = calloc(1, clean->pages);
	int fd = open_disk();
	void *p = mmap(NULL, clean->pages * PAGE, PROT_READ, MAP_SHARED, fd, clean->from * PAGE);
	long nr = 0;
	size_t i;

	if (!path_true(p != MAP_FAILED && !mincore(p, clean->pages * PAGE, in)))
		nr = -1;
	for (i = 0; nr >= 0 && i < clean->pages; i++)
		nr += in[i] & 1;
	munmap(p, clean->pages * PAGE);
	close(fd);
	free(in);
	return nr;
}

static long long excess(const char *cg)
{
	long long to = target(cg);

	return to < 0 ? 0 : key(cg, "memory.path.target", "usage") - to;
}

/* Wait until a cgroup is this far above its target. */
static bool wait_excess(const struct family *f, const char *cg, long long bytes)
{
	int i;

	for (i = 0; i < 100 && excess(cg) < bytes && wait_epochs(f, 1); i++)
		;
	return path_ge(excess(cg), bytes);
}

/* Reclaim as much from all of them together. Only clean pages can be reclaimed. */
static bool reclaim_clean(const struct family *f, const char *bytes)
{
	char word[64];

	snprintf(word, sizeof(word), "%s swappiness=0", bytes);
	return path_eq(path_cg_write(f->top, "memory.reclaim", word), 0);
}

/*
 * The child above its target has nothing reclaimable, memory.low protects all of another, and a
 * third is skipped.
 */
static void test_spared_before_low(void)
{
	struct job rich = { 1024 }, low = { 512 };
	struct clean clean = { 1024 };
	struct family f;
	pid_t pid[3];
	bool good;
	char *c;

	begin();
	family_make(&f, "low", "12M");
	c = path_cg(f.top, "c");
	path_cg_write(f.b, "memory.low", "8M");
	pid[0] = path_spawn(c, hold_clean, &clean);
	path_track(c, false);
	pid[1] = path_spawn(f.a, hold, &rich);
	pid[2] = path_spawn(f.b, hold, &low);
	good = path_true(wait_ready(3)) && path_true(balance(&f, "fair")) &&
	       path_true(wait_excess(&f, f.a, 2 * (long long)MIB));
	good &= path_eq(in_memory(&clean), 1024) && path_eq(key(f.b, "memory.events", "low"), 0);
	good &= reclaim_clean(&f, "1M");
	good &= path_eq(key(f.b, "memory.events", "low"), 0);
	good &= path_le(in_memory(&clean), 1024 - 256);
	ksft_test_result(finish(pid, 3) && good,
			 "a skipped cgroup is reclaimed before memory.low of another\n");
	path_cg_remove(c);
	family_remove(&f);
}

/*
 * memory.low protects more than there is. One child keeps what it has above its target. Then
 * reclaim takes from the next child above its target, and not from one that it skips.
 */
static void test_protected_excess(void)
{
	struct job first = { 4096 }, second = { 512 };
	struct clean gives = { 512 }, skipped = { 512, .from = 512 };
	struct family f;
	pid_t pid[4];
	char *c, *d;
	bool good;

	begin();
	family_make(&f, "excess", "24M");
	c = path_cg(f.top, "c");
	d = path_cg(f.top, "d");
	path_cg_write(f.a, "memory.low", "20M");
	path_cg_write(f.b, "memory.low", "16M");
	pid[0] = path_spawn(f.a, hold, &first);
	pid[1] = path_spawn(f.b, hold, &second);
	pid[2] = path_spawn(c, hold_clean, &gives);
	pid[3] = path_spawn(d, hold_clean, &skipped);
	path_track(d, false);
	good = path_true(wait_ready(4)) && path_true(balance(&f, "fair")) &&
	       path_true(wait_excess(&f, f.a, 3 * (long long)MIB)) &&
	       path_true(wait_excess(&f, c, (long long)MIB));
	ksft_print_msg("%lld and %lld more than their targets\n", excess(f.a), excess(c));
	good &= path_lt(2 * excess(c), excess(f.a)) && path_eq(in_memory(&gives), 512) &&
		path_eq(in_memory(&skipped), 512);
	good &= reclaim_clean(&f, "256K");
	good &= path_le(in_memory(&gives), 512 - 64);
	good &= path_eq(in_memory(&skipped), 512);
	ksft_test_result(finish(pid, 4) && good,
			 "excess that memory.low keeps does not hide that of others\n");
	path_cg_remove(d);
	path_cg_remove(c);
	family_remove(&f);
}

/*
 * A child would get all memory. @hard: it never has more. Where it may have for a moment, reclaim
 * brings it back to what it may have, and one charge, which is made for 64 pages.
 */
static void test_own_limit(const char *file, bool hard)
{
	struct job idle = { 512 }, busy = { 2304 };
	long long now, least, most, used, limit = 2LL * (long long)MIB;
	struct family f;
	pid_t pid[2];
	bool good;
	int i;

	begin();
	family_make(&f, "own", "8M");
	path_cg_write(f.b, file, "2M");
	pid[0] = path_spawn(f.a, hold, &idle);
	pid[1] = path_spawn(f.b, use, &busy);
	good = path_true(wait_ready(2)) && path_true(balance(&f, "throughput")) &&
	       path_true(wait_target(&f, f.b, 10));
	least = target(f.b);
	most = least;
	used = bytes_of(f.b, "memory.current");
	for (i = 0; i < 10; i++) {
		good &= path_true(wait_target(&f, f.b, 1));
		now = target(f.b);
		least = now < least ? now : least;
		most = now > most ? now : most;
		now = bytes_of(f.b, "memory.current");
		used = now < used ? now : used;
	}
	ksft_print_msg("target %lld to %lld, usage %lld to %lld\n", least, most, used, peak(f.b));
	good &= path_gt(least, limit / 2) && path_le(most, limit) && path_gt(used, limit / 2) &&
		path_le(hard ? peak(f.b) : used - 64 * (long long)PAGE, limit);
	ksft_test_result(finish(pid, 2) && good, "a child's own %s\n", file);
	family_remove(&f);
}

/* Wait until @f->a keeps what it has, because nothing could be reclaimed from it. */
static bool wait_stuck(const struct family *f)
{
	int i;

	for (i = 0; i < 20 && wait_epochs(f, 1); i++)
		if (stat_of(f, "relaxed_stuck") > 0 &&
		    target(f->a) >= key(f->a, "memory.path.target", "usage"))
			return true;
	return false;
}

/*
 * The child is idle, and nothing can be reclaimed from it. The other child must not be killed
 * because of that. Of locked pages that is known before reclaim tries. Of other pages it is
 * known when reclaim has tried often enough in one epoch, which must be long for that.
 */
static void test_cannot_give(struct job idle, const char *what)
{
	struct job busy = { 2304 };
	struct family f;
	pid_t pid[2];
	bool good;

	begin();
	family_make(&f, what, "8M");
	pid[0] = path_spawn(f.a, hold, &idle);
	good = path_true(wait_ready(1));
	pid[1] = path_spawn(f.b, use, &busy);
	good &= path_true(wait_ready(2)) && path_true(balance(&f, "throughput")) &&
		path_true(wait_epochs(&f, UNKNOWN_EPOCHS));
	/* what was measured in short epochs counts in long ones */
	path_set("epoch_ms", idle.pinned && path_slow() ? "8000" : "2000");
	if (idle.pinned)
		good &= path_true(wait_stuck(&f));
	else
		good &= path_true(wait_target(&f, f.a, 3)) &&
			path_eq(stat_of(&f, "relaxed_stuck"), 0);
	ksft_print_msg("target %lld, usage %lld, stuck %lld times\n", target(f.a),
		       key(f.a, "memory.path.target", "usage"), stat_of(&f, "relaxed_stuck"));
	ksft_test_result(finish(pid, 2) && good &&
			 path_eq(key(f.top, "memory.events", "oom_kill"), 0),
			 "one that cannot give: %s pages\n", what);
	path_set("epoch_ms", EPOCH_MS);
	family_remove(&f);
}

/*
 * An empty child needs no swap. A program that is soon above its target, which grows by some
 * steps of 16 pages an epoch, is slowed down. So epochs must not be short compared to that.
 */
static void test_no_swap(void)
{
	/* two that together have more than half of it, and each less than the one to be killed */
	struct job idle = { 560 }, greedy = { 4096, 1 };
	bool off = path_swap_off(), good;
	struct family f;
	pid_t pid[2];

	begin();
	path_set("epoch_ms", path_slow() ? "2000" : EPOCH_MS);
	family_make(&f, "noswap", "8M");
	good = path_true(balance(&f, "throughput")) && path_true(wait_epochs(&f, 2)) &&
	       path_eq(stat_of(&f, "relaxed_noswap"), 0);
	pid[0] = path_spawn(f.a, hold, &idle);
	pid[1] = path_spawn(f.a, hold, &idle);
	good &= path_true(wait_ready(2)) && path_true(wait_epochs(&f, 3)) &&
		path_gt(stat_of(&f, "relaxed_noswap"), 0);
	ksft_print_msg("held up %lld times\n", stat_of(&f, "relaxed_noswap"));
	good &= path_ne(path_run(f.b, use, &greedy, SECONDS), KSFT_PASS);
	good &= finish(pid, 2);
	ksft_test_result(good && path_true(off) &&
			 path_eq(key(f.b, "memory.events", "oom_kill"), 1) &&
			 path_eq(key(f.a, "memory.events", "oom_kill"), 0),
			 "without swap, a program that needs too much is killed, once\n");
	path_set("epoch_ms", EPOCH_MS);
	path_swap_restore();
	family_remove(&f);
}

/* Not balanced: children of a child, and a child without a curve */
static void test_others(void)
{
	struct job job = { 400, .work = 5000, .loop = true };
	struct family f;
	char *leaf, *c;
	pid_t pid[3];
	bool good;

	begin();
	family_make(&f, "others", "7M");
	leaf = path_cg(f.a, "leaf");
	c = path_cg(f.top, "c");
	balance(&f, "throughput");
	pid[0] = path_spawn(leaf, use, &job);
	pid[1] = path_spawn(f.b, use, &job);
	pid[2] = path_spawn(c, use, &job);
	path_track(leaf, false);
	path_track(c, false);
	good = path_true(wait_ready(3)) && path_true(wait_target(&f, f.a, NEW_EPOCHS));
	ksft_print_msg("targets %lld, %lld, %lld\n", target(f.a), target(c), target(leaf));
	good &= path_ge(target(f.a), 0) && path_eq(target(c), -1) && path_eq(target(leaf), -1);
	ksft_test_result(finish(pid, 3) && good,
			 "cgroups below a child, and one without a curve\n");
	path_cg_remove(c);
	path_cg_remove(leaf);
	family_remove(&f);
}

/*
 * What @idle has left of 4 MiB when @busy wants more than there is. @c is not tracked. While @busy
 * has no target, reclaim treats all as without balance. An epoch that comes late takes its target
 * away (see wait_target()), so epochs are long from when it has one: twice their length and a
 * second is longer than a busy host stops a guest.
 */
static long long left_to(const struct family *f, const char *idle, const char *busy, const char *c)
{
	struct job little = { 1024 }, few = { 256, .work = 20000 }, much = { 2304, .work = 5000 };
	bool known = busy != c, good;
	long long left;
	pid_t pid[3];

	begin();
	balance(f, "none");
	pid[0] = path_spawn(idle, hold, &little);
	pid[1] = path_spawn(busy, use, &few);
	path_track(c, false);
	good = path_true(wait_ready(2)) && path_true(balance(f, "throughput"));
	if (known) {
		good &= path_true(wait_target(f, busy, NEW_EPOCHS));
		path_set("epoch_ms", LONG_EPOCH_MS);
		/* the last of the short ones may have been late */
		good &= path_true(wait_target(f, busy, 1));
	} else {
		good &= path_true(wait_epochs(f, NEW_EPOCHS));
	}
	pid[2] = path_spawn(busy, use, &much);
	path_track(c, false);
	good &= path_true(wait_ready(3)) && path_true(wait_epochs(f, known ? 3 : 20));
	left = key(idle, "memory.stat", "anon");
	ksft_print_msg("%lld left, target %lld\n", left, target(f->b));
	path_set("epoch_ms", EPOCH_MS);
	return finish(pid, 3) && good ? left : -1;
}

/* A new child has no known curve. In mode throughput, reclaim treats it as without balance. */
static void test_new(void)
{
	struct job job = { 512, .work = 5000 };
	long long first[2], then;
	struct family f;
	pid_t pid;
	bool good;
	int i;

	begin();
	/* long epochs, so that three have not become eight by the time they are seen */
	path_set("epoch_ms", "500");
	family_make(&f, "new", "8M");
	pid = path_spawn(f.a, use, &job);
	good = path_true(wait_ready(1));
	for (i = 0; i < 2; i++) {
		good &= path_true(balance(&f, "none")) &&
			path_true(balance(&f, i ? "sla" : "throughput")) &&
			path_true(wait_epochs(&f, 3));
		first[i] = target(f.a);
	}
	good &= path_true(balance(&f, "throughput")) &&
		path_true(wait_target(&f, f.a, NEW_EPOCHS));
	then = target(f.a);
	ksft_print_msg("targets %lld, %lld, %lld\n", first[0], first[1], then);
	good &= path_eq(first[0], -2) && path_gt(first[1], 0) && path_gt(then, 0);
	ksft_test_result(finish(&pid, 1) && good,
			 "a new child has a target in sla, and not in throughput\n");
	path_set("epoch_ms", EPOCH_MS);
	family_remove(&f);
}

/* One child more than can take part: it does when another one has gone. */
static void test_many(void)
{
	char *top = path_cg(NULL, "many"), *child[MOST_CHILDREN + 1], name[16];
	struct family f = { .top = top };
	long long full, then;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(child); i++) {
		snprintf(name, sizeof(name), "%zu", i);
		child[i] = path_cg(top, name);
		path_track(child[i], true);
	}
	path_cg_write(top, "memory.max", "64M");
	balance(&f, "fair");
	full = stat_of(&f, "children");
	path_track(child[0], false);
	wait_epochs(&f, 2);
	then = stat_of(&f, "children");
	ksft_print_msg("%lld children, and %lld with one less\n", full, then);
	ksft_test_result(path_eq(full, MOST_CHILDREN) && path_eq(then, MOST_CHILDREN),
			 "of more than can take part the next takes a place that is free\n");
	while (i--)
		path_cg_remove(child[i]);
	path_cg_remove(top);
}

/* A child without a curve is skipped when others need memory, but not when it needs more. */
static void test_untracked(void)
{
	struct family f;
	long long left;
	char *c;

	family_make(&f, "untracked", "8M");
	c = path_cg(f.top, "c");
	left = left_to(&f, c, f.b, c);
	ksft_test_result(path_ge(left, 3LL * (long long)MIB),
			 "one that is not tracked keeps what it has\n");
	left = left_to(&f, f.b, c, c);
	ksft_test_result(path_ge(left, 0) && path_lt(left, 2LL * (long long)MIB),
			 "and competes for more\n");
	path_cg_remove(c);
	family_remove(&f);
}

/* The curve of a child says that it needs nearly no memory, but it has refaults all the time. */
static void test_wrong_curve(void)
{
	struct job liar = { 1200, .told = 16 }, honest = { 2400 };
	long long had, left;
	struct family f;
	pid_t pid[2];
	bool good;

	path_set("enabled", "0");
	path_set("driver", "replay");
	path_set("enabled", "1");
	/* a curve is not found wrong by a few refaults, and a slow kernel has few in an epoch */
	if (path_slow())
		path_set("epoch_ms", "1000");
	begin();
	family_make(&f, "wrong", "8M");
	pid[0] = path_spawn(f.a, tell, &liar);
	pid[1] = path_spawn(f.b, tell, &honest);
	good = path_true(wait_ready(2)) && path_true(balance(&f, "throughput"));
	had = key(f.a, "memory.stat", "anon");
	good &= path_true(wait_epochs(&f, path_slow() ? 30 : 60));
	left = key(f.a, "memory.stat", "anon");
	ksft_print_msg("had %lld, left %lld, targets %lld, %lld\n", had, left, target(f.a),
		       target(f.b));
	ksft_test_result(finish(pid, 2) && good && path_gt(left, had / 2),
			 "a curve that is wrong takes nothing\n");
	family_remove(&f);
	path_use_driver(driver, PAB);
	path_set("epoch_ms", EPOCH_MS);
}

/* The worth of a mode */

struct outcome {
	long long back[2];		/* refaults of each */
	long long cpu_us[2];
	long long predicted, measured;
	bool good;
};

static void look(const struct family *f, struct outcome *o, int sign)
{
	char *cg[2] = { f->a, f->b };
	int i;

	for (i = 0; i < 2; i++) {
		o->back[i] += sign * key(cg[i], "memory.stat", "workingset_refault_anon");
		o->cpu_us[i] += sign * key(cg[i], "cpu.stat", "usage_usec");
		o->predicted += sign * key(cg[i], "memory.path.stat", "balance_predicted");
		o->measured += sign * key(cg[i], "memory.path.stat", "balance_measured");
	}
}

/* Run two programs in 6 MiB, with a setting for the first in @file. Measure some epochs later. */
static struct outcome run_pair(const char *mode, struct job *a, struct job *b,
			       const char *file, const char *text)
{
	struct outcome o = { };
	struct family f;
	pid_t pid[2];

	begin();
	family_make(&f, "pair", "6M");
	if (file)
		path_cg_write(f.a, file, text);
	balance(&f, mode);
	pid[0] = path_spawn(f.a, use, a);
	pid[1] = path_spawn(f.b, use, b);
	o.good = path_true(wait_ready(2));
	path_sleep_ms(3000);
	look(&f, &o, -1);
	path_sleep_ms(2000);
	look(&f, &o, 1);
	ksft_print_msg("%-10s %lld and %lld came back, %lld and %lld ms, targets %lld and %lld\n",
		       mode, o.back[0], o.back[1], o.cpu_us[0] / 1000, o.cpu_us[1] / 1000,
		       target(f.a), target(f.b));
	ksft_print_msg("predicted %lld, measured %lld\n", o.predicted, o.measured);
	o.good &= finish(pid, 2) && path_eq(key(f.top, "memory.events", "oom_kill"), 0);
	family_remove(&f);
	return o;
}

static long long rate(const struct outcome *o, int i)
{
	return o->cpu_us[i] > 0 ? o->back[i] * 1000000 / o->cpu_us[i] : 0;
}

static bool alike(long long a, long long b, unsigned int percent)
{
	return llabs(a - b) * 100 <= percent * (a > b ? a : b);
}

static void test_worth(void)
{
	/* one that is slow and would fit, beside one that is fast and never fits */
	struct job slow = { 1000, .work = 200000 }, fast = { 4000, .loop = true, .work = 1000 };
	struct job large = { 2000, .work = 10000 }, medium = { 1400, .work = 10000 };
	struct job small = { 1000, .work = 10000 }, tiny = { 600, .work = 10000 };
	/* neither gets near its least memory, and faults take only a small part of the time */
	struct job heavy = { 1500, .work = 50000 }, light = { 1050, .work = 50000 };
	struct outcome none, o;

	none = run_pair("none", &slow, &fast, NULL, NULL);
	o = run_pair("throughput", &slow, &fast, NULL, NULL);
	ksft_test_result(path_true(none.good) && path_true(o.good) && path_gt(none.back[0], 1000) &&
			 path_lt(o.back[0] * 4, none.back[0]) &&
			 path_lt(o.back[1] * 9, none.back[1] * 10),
			 "throughput: the child that can use memory has it\n");
	ksft_test_result(path_gt(o.measured, 1000) && path_true(alike(o.predicted, o.measured, 25)),
			 "and what was predicted comes true\n");
	none = run_pair("none", &large, &small, NULL, NULL);
	ksft_print_msg("rates %lld and %lld\n", rate(&none, 0), rate(&none, 1));
	o = run_pair("fair", &large, &small, NULL, NULL);
	ksft_print_msg("rates %lld and %lld\n", rate(&o, 0), rate(&o, 1));
	ksft_test_result(path_true(none.good) && path_true(o.good) &&
			 path_true(!alike(rate(&none, 0), rate(&none, 1), 30)) &&
			 path_true(alike(rate(&o, 0), rate(&o, 1), 20)),
			 "fair: the same miss rate for both\n");
	o = run_pair("fair", &heavy, &light, "memory.path.weight", "300");
	ksft_print_msg("rates %lld and %lld\n", rate(&o, 0), rate(&o, 1));
	ksft_test_result(path_true(o.good) && path_gt(rate(&o, 0), 100) &&
			 path_true(alike(3 * rate(&o, 0), rate(&o, 1), 20)),
			 "fair: a third of the rate for three times the weight\n");
	o = run_pair("sla", &medium, &small, "memory.path.sla", "4000");
	ksft_print_msg("rates %lld and %lld\n", rate(&o, 0), rate(&o, 1));
	ksft_test_result(path_true(o.good) && path_lt(rate(&o, 0), 4400),
			 "sla: no more misses than agreed\n");
	o = run_pair("sla", &small, &large, "memory.path.sla", "0");
	ksft_test_result(path_true(o.good) && path_lt(rate(&o, 0), 100), "sla: none at all\n");
	o = run_pair("fair", &tiny, &tiny, NULL, NULL);
	ksft_test_result(path_true(o.good) && path_lt(o.back[0] + o.back[1], 100),
			 "children that fit have all they need\n");
}

/* All at once */

static struct family storm;

static void move_self(const char *cg)
{
	if (path_cg_write(cg, "cgroup.procs", "0"))
		_exit(KSFT_FAIL);
}

static void thrash(const char *cg)
{
	char *p = path_map(1024 * PAGE, false);
	unsigned long round, wrong = 0;

	move_self(cg);
	for (round = 0; !stopped(); round++) {
		wrong += path_go_round(p, 1024, round);
		count(&shared->rounds, 1);
	}
	count(&shared->wrong, wrong);
}

static void thrash_a(void)
{
	thrash(storm.a);
}

static void thrash_b(void)
{
	thrash(storm.b);
}

static void switcher(void)
{
	static const char * const modes[] = { "none", "throughput", "fair", "sla" };
	static const char * const policies[] = { "none", "lirs", "auto" };
	unsigned long seed = 3;
	char word[16];

	while (!stopped()) {
		count(&shared->modes, balance(&storm, modes[path_rand(&seed) % 4]));
		path_cg_write(storm.a, "memory.path.replace", policies[path_rand(&seed) % 3]);
		snprintf(word, sizeof(word), "%lu", 1 + path_rand(&seed) % 200);
		path_cg_write(storm.b, "memory.path.weight", word);
		path_cg_write(storm.a, "memory.path.sla", word);
		path_sleep_ms(path_rand(&seed) % 100);
		if (path_rand(&seed) % 16)
			continue;
		path_cg_write(storm.b, "memory.path.track", "0");
		path_cg_write(storm.b, "memory.path.track", "1");
	}
}

static void limiter(void)
{
	static const char * const limits[] = { "5M", "6M", "8M", "max" };
	unsigned long seed = 5;

	while (!stopped()) {
		/*
		 * memory.max kills a program when 16 looks at the lists, a few milliseconds, have
		 * found nothing to reclaim. With old statistics they do, see path_keep_counting().
		 */
		free(path_cg_slurp(PATH_CGROUP, "memory.stat"));
		path_cg_write(storm.top, "memory.max", limits[path_rand(&seed) % 4]);
		path_cg_write(storm.a, "memory.low", limits[path_rand(&seed) % 2]);
		path_cg_write(storm.a, "memory.low", "0");
		free(path_cg_slurp(storm.top, "memory.path.balance_stat"));
		free(path_cg_slurp(storm.a, "memory.path.target"));
		count(&shared->limits, 1);
		path_sleep_ms(50);
	}
}

/* Children with curves come and go, and some need more memory than they may have. */
static void gardener(void)
{
	char dir[600];
	int i = 0, status;
	pid_t pid;

	while (!stopped()) {
		snprintf(dir, sizeof(dir), "%s/garden%d", storm.top, i % 4);
		mkdir(dir, 0755);
		path_cg_write(dir, "memory.path.track", "1");
		if (i++ % 4 == 3) {
			path_cg_write(dir, "memory.max", "1M");
			path_cg_write(dir, "memory.swap.max", "0");
		}
		fflush(stdout);
		pid = fork();
		if (!pid) {
			char *p = path_map(512 * PAGE, false);

			move_self(dir);
			_exit(!!(path_go_round(p, 512, 0) + path_go_round(p, 512, 1)));
		}
		waitpid(pid, &status, 0);
		count(&shared->kills, WIFSIGNALED(status));
		count(&shared->wrong, WIFEXITED(status) && WEXITSTATUS(status) == 1);
		count(&shared->cgroups, !rmdir(dir));
	}
}

/*
 * Limits and policies change faster here than path_keep_counting() counts, and the kernel kills
 * when it finds no inactive page where its statistics have some.
 */
static void counter(void)
{
	while (!stopped()) {
		free(path_cg_slurp(storm.top, "memory.stat"));
		path_sleep_ms(5);
	}
}

static void (* const parts[])(void) = {
	thrash_a, thrash_b, switcher, limiter, gardener, counter
};

static bool all_done(void)
{
	return shared->rounds > 2 && shared->modes > 20 && shared->cgroups > 4 &&
	       shared->limits > 10 && shared->kills;
}

static void test_storm(unsigned int seconds)
{
	pid_t pid[ARRAY_SIZE(parts)];
	unsigned int tenths;
	bool good = true;
	size_t i;

	begin();
	family_make(&storm, "storm", "6M");
	fflush(stdout);
	for (i = 0; i < ARRAY_SIZE(parts); i++) {
		pid[i] = fork();
		if (!pid[i]) {
			parts[i]();
			_exit(0);
		}
	}
	for (tenths = 0; tenths < 10 * seconds || (!all_done() && tenths < 60 * seconds); tenths++)
		path_sleep_ms(100);
	stop();
	for (i = 0; i < ARRAY_SIZE(parts); i++) {
		if (path_eq(path_wait(pid[i], SECONDS), 0))
			continue;
		/* the limit of which cgroup did it exceed? */
		ksft_print_msg("part %zu; oom %lld, of the children %lld and %lld\n", i,
			       key(storm.top, "memory.events.local", "oom"),
			       key(storm.a, "memory.events.local", "oom"),
			       key(storm.b, "memory.events.local", "oom"));
		good = false;
	}
	ksft_print_msg("%lu rounds, %lu modes, %lu cgroups, %lu limits, %lu killed\n",
		       shared->rounds, shared->modes, shared->cgroups, shared->limits,
		       shared->kills);
	ksft_test_result(good && path_eq(shared->wrong, 0), "all at once: all data is right\n");
	ksft_test_result(path_true(all_done()), "all was done\n");
	family_remove(&storm);
}

static void test_all(void)
{
	test_files();
	test_targets();
	test_protected("memory.low");
	test_protected("memory.min");
	test_spared_before_low();
	test_protected_excess();
	test_own_limit("memory.max", true);
	test_own_limit("memory.high", false);
	test_cannot_give((struct job){ 1024, .locked = true }, "locked");
	test_cannot_give((struct job){ 1024, .pinned = true }, "pinned");
	test_no_swap();
	test_others();
	test_new();
	test_many();
	test_untracked();
	test_wrong_curve();
	test_storm(path_slow() ? 15 : 6);
}

int main(int argc, char **argv)
{
	bool worth = argc > 2 && !strcmp(argv[2], "worth");
	unsigned int i, nr = worth ? NR_WORTH : NR_CASES;

	if (argc > 1)
		driver = argv[1];
	path_start(nr, 900);
	if (path_write(PATH_SYSFS "driver", driver) || !path_have_swap()) {
		for (i = 0; i < nr; i++)
			ksft_test_result_skip("needs swap, and the driver %s\n", driver);
		ksft_finished();
	}
	path_save("/proc/sys/vm/page-cluster");
	path_write("/proc/sys/vm/page-cluster", "0");
	shared = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	path_keep_counting();
	path_use_driver(driver, PAB);
	path_set("epoch_ms", EPOCH_MS);
	if (worth)
		test_worth();
	else
		test_all();
	ksft_finished();
}
