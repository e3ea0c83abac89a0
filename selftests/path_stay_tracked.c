// SPDX-License-Identifier: GPL-2.0
/*
 * Whatever is done to a tracked program, it stays tracked and its data is right.
 *
 * A program goes round its pages, far more than the page access buffer holds,
 * so that every touch of a page is a record. Each case is a way in which the
 * kernel changes page table entries behind the driver's back. Afterwards the rate
 * of records must be the same: at once, or after the scan at the end of an epoch
 * where only the scan finds the pages again. "The same" means to a hundredth: the
 * buffer holds a thirtieth of the pages, and those might be the ones that escape.
 *
 * usage: path_stay_tracked [words of the names of the tests to run]
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#include "path_util.h"

#define NR_PAGES	512UL
#define PAB		16
#define BYTES		(NR_PAGES * PAGE)

/*
 * Time until the next scan. A scan takes at most 1/128 of the time, and it takes long
 * when the host is busy.
 */
#define SCAN_SECONDS	15

#ifndef MADV_COLD
#define MADV_COLD	20
#define MADV_PAGEOUT	21
#endif
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ	22
#endif

#define NUMA_SCAN	"/sys/kernel/debug/sched/numa_balancing/scan_"

static char *cg;

/* In the child: the pages, and how often each was incremented */
static char *mem;
static size_t nr;
static unsigned long rounds;

static long long stat_of(const char *key)
{
	return path_cg_key(cg, "memory.path.stat", key);
}

static __volatile__ unsigned long *word(size_t page)
{
	return (unsigned long *)(mem + page * PAGE) + page % WORDS;
}

/* Touch all pages in order, check and count up. */
static bool go_round(void)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		if (*word(i) != i + rounds) {
			ksft_print_msg("page %zu has %lu, not %lu\n", i, *word(i), i + rounds);
			return false;
		}
		*word(i) += 1;
	}
	rounds++;
	return true;
}

static void start(size_t pages)
{
	size_t i;

	mem = path_map(pages * PAGE, false);
	nr = pages;
	rounds = 0;
	for (i = 0; i < nr; i++)
		*word(i) = i;
	go_round();
}

/* Only read all pages. */
static bool look_round(void)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (*word(i) != i + rounds)
			return path_eq(*word(i), i + rounds);
	return true;
}

/* Number of records, including those for which the log had no room. */
static long long seen(void)
{
	return stat_of("records") + stat_of("dropped_log_full");
}

/* Records of two rounds, -1 when data is wrong */
static long long two_rounds(bool (*round)(void))
{
	long long before = seen();

	return round() && round() ? seen() - before : -1;
}

static bool all_seen(long long made)
{
	return made >= (long long)(2 * nr * 99 / 100);
}

/* Does a round make about @nr records? */
static bool tracked(void)
{
	long long made = two_rounds(go_round);

	if (all_seen(made) && made <= (long long)(2 * nr * 3 / 2 + 64))
		return true;
	ksft_print_msg("%lld records in two rounds of %zu pages\n", made, nr);
	return false;
}

/* Does a round make about @nr records after some epochs? */
static bool soon(bool (*round)(void))
{
	unsigned long end = path_hangs_at(SCAN_SECONDS);
	long long made;

	do {
		path_sleep_ms(300);
		made = two_rounds(round);
	} while (made >= 0 && !all_seen(made) && path_now_ms() < end);
	if (!all_seen(made))
		ksft_print_msg("%lld records in two rounds of %zu pages\n", made, nr);
	return all_seen(made);
}

static bool tracked_soon(void)
{
	return soon(go_round);
}

static int result(bool good)
{
	return good ? KSFT_PASS : KSFT_FAIL;
}

/* Each touch is a hint fault of the driver's. */
static int t_plain(void)
{
	/* of all tracked programs, which is this one; the cgroup's is up to the last epoch */
	long long before = path_get("stats/faults");
	bool good = tracked();

	if (path_get("stats/faults") - before < (long long)(2 * nr * 99 / 100)) {
		ksft_print_msg("%lld faults\n", path_get("stats/faults") - before);
		good = false;
	}
	return result(good);
}

/* Threads */

static void *thread(void *arg)
{
	size_t i, first = (size_t)arg * nr / 4, round;

	for (round = 0; round < 4; round++)
		for (i = first; i < first + nr / 4; i++)
			__atomic_fetch_add(word(i), 1, __ATOMIC_RELAXED);
	return NULL;
}

static int t_threads(void)
{
	long long before = stat_of("records"), made;
	pthread_t t[4];
	size_t i;

	for (i = 0; i < 4; i++)
		if (pthread_create(&t[i], NULL, thread, (void *)i))
			return KSFT_SKIP;
	for (i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	rounds += 4;
	made = stat_of("records") - before;
	if (made < (long long)(4 * nr * 9 / 10))
		ksft_print_msg("%lld records of %lu touches\n", made, 4 * nr);
	return result(path_ge(made, (long long)(4 * nr * 9 / 10)) && tracked());
}

/* Processes */

static int wait_for(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid)
		return KSFT_FAIL;
	if (WIFSIGNALED(status))
		ksft_print_msg("ended by signal %d\n", WTERMSIG(status));
	return WIFEXITED(status) ? WEXITSTATUS(status) : KSFT_FAIL;
}

static int t_fork(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(result(path_eq(stat_of("contexts"), 2) && tracked()));
	return result(path_eq(wait_for(pid), 0) && tracked());
}

static int t_50_forks(void)
{
	long long before = stat_of("records");
	pid_t pid[50];
	int i, bad = 0;

	for (i = 0; i < 50; i++) {
		pid[i] = fork();
		if (!pid[i]) {
			nr = 64;
			_exit(result(go_round()));
		}
	}
	for (i = 0; i < 50; i++)
		bad += wait_for(pid[i]);
	if (stat_of("records") - before < 50 * 60)
		bad++;
	return result(path_eq(bad, 0) && path_true(path_wait_contexts(cg, 1)) &&
		      tracked());
}

/* The image that is executed calls this. */
static int executed(void)
{
	start(NR_PAGES);
	return result(path_ge(stat_of("contexts"), 1) && tracked());
}

static int t_exec(void)
{
	pid_t pid = fork();

	if (!pid) {
		execl("/proc/self/exe", "path_stay_tracked", "--executed", cg, NULL);
		_exit(KSFT_FAIL);
	}
	return result(path_eq(wait_for(pid), 0) && tracked());
}

/* Mappings */

static int t_munmap(void)
{
	if (munmap(mem + BYTES / 2, BYTES / 4))
		return KSFT_FAIL;
	nr = NR_PAGES / 2;
	return result(tracked());
}

static int t_mremap_move(void)
{
	char *to = mmap(NULL, BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	to = mremap(mem, BYTES, BYTES, MREMAP_MAYMOVE | MREMAP_FIXED, to);
	if (to == MAP_FAILED)
		return KSFT_FAIL;
	mem = to;
	return result(tracked_soon());
}

static int t_mremap_grow(void)
{
	char *to = mremap(mem, BYTES, 2 * BYTES, MREMAP_MAYMOVE);
	size_t i;

	if (to == MAP_FAILED)
		return KSFT_FAIL;
	mem = to;
	for (i = nr; i < 2 * nr; i++)
		*word(i) = i + rounds;
	nr *= 2;
	return result(tracked_soon());
}

/* Protection: mprotect() has a hook, so pages are tracked at once. */

static int t_read_only(void)
{
	if (mprotect(mem, BYTES, PROT_READ) || mprotect(mem, BYTES, PROT_READ | PROT_WRITE))
		return KSFT_FAIL;
	return result(tracked());
}

static int t_prot_none(void)
{
	if (mprotect(mem, BYTES, PROT_NONE) || mprotect(mem, BYTES, PROT_READ | PROT_WRITE))
		return KSFT_FAIL;
	return result(tracked());
}

static void read_no_access(void)
{
	mprotect(mem, BYTES, PROT_NONE);
	_exit(*word(NR_PAGES / 2) != 0);
}

static void write_read_only(void)
{
	mprotect(mem, BYTES, PROT_READ);
	*word(NR_PAGES / 2) = 0;
}

/* The read makes the page accessible for reading only. */
static void read_and_write_read_only(void)
{
	__volatile__ unsigned long sum;

	mprotect(mem, BYTES, PROT_READ);
	sum = *word(NR_PAGES / 2);
	*word(NR_PAGES / 2) = sum;
}

static bool is_killed(void (*fn)(void))
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		signal(SIGSEGV, SIG_DFL);
		fn();
		_exit(0);
	}
	waitpid(pid, &status, 0);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV;
}

/* PROT_NONE must deny access, also when the page was inaccessible already. */
static int t_no_access(void)
{
	return result(path_true(is_killed(read_no_access)) &&
		      path_true(is_killed(write_read_only)) &&
		      path_true(is_killed(read_and_write_read_only)) && tracked());
}

/* madvise() */

static int advise(int advice)
{
	if (madvise(mem, BYTES, advice))
		return errno == EINVAL ? KSFT_SKIP : KSFT_FAIL;
	return result(tracked_soon());
}

static int t_dontneed(void)
{
	size_t i;

	if (madvise(mem, BYTES, MADV_DONTNEED))
		return KSFT_FAIL;
	for (i = 0; i < nr; i++) {
		if (*word(i))
			return KSFT_FAIL;
		*word(i) = i + rounds;
	}
	return result(tracked());
}

/*
 * A page is written, falls out of the buffer, and then is only read. Its dirty bit must
 * have been kept, or reclaim drops the page.
 */
static bool looked_at(void)
{
	return go_round() && look_round() && look_round();
}

/* The data is the old data or zeros, and a write keeps the page. */
static int t_free(void)
{
	size_t i;

	if (madvise(mem, BYTES, MADV_FREE))
		return KSFT_FAIL;
	for (i = 0; i < nr; i++) {
		if (*word(i) && *word(i) != i + rounds)
			return KSFT_FAIL;
		*word(i) = i + rounds;
	}
	if (!looked_at())
		return KSFT_FAIL;
	path_cg_write(cg, "memory.reclaim", "2M");
	return result(tracked_soon());
}

static int t_cold(void)
{
	return advise(MADV_COLD);
}

static int t_pageout(void)
{
	return path_have_swap() ? advise(MADV_PAGEOUT) : KSFT_SKIP;
}

static size_t resident(void)
{
	static unsigned char in[4 * NR_PAGES];
	size_t i, n = 0;

	if (mincore(mem, nr * PAGE, in))
		return 0;
	for (i = 0; i < nr; i++)
		n += in[i] & 1;
	return n;
}

static bool swap_out(void)
{
	unsigned long end = path_hangs_at(5);

	/* what has been written leaves with the next reclaim */
	while (resident() > nr / 2 && path_now_ms() < end) {
		path_cg_write(cg, "memory.reclaim", "4M");
		path_sleep_ms(20);
	}
	if (resident() > nr / 2)
		ksft_print_msg("%zu of %zu pages are still there\n", resident(), nr);
	return resident() <= nr / 2;
}

/* The second time the pages have an old copy on the swap device. */
static int t_swap(void)
{
	if (!path_have_swap())
		return KSFT_SKIP;
	return result(path_true(swap_out()) && tracked() && path_true(looked_at()) &&
		      path_true(swap_out()) && tracked());
}

/* KSM: all pages the same, then each written again */

static bool look_merged(void)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (*word(i) != 0x5a5a5a5a5a5a5a5aUL)
			return false;
	return true;
}

static int t_ksm(void)
{
	int i;

	if (access("/sys/kernel/mm/ksm/run", W_OK))
		return KSFT_SKIP;
	if (madvise(mem, BYTES, MADV_MERGEABLE))
		return KSFT_SKIP;
	for (i = 0; i < (int)nr; i++)
		memset(mem + i * PAGE, 0x5a, PAGE);
	path_write("/sys/kernel/mm/ksm/pages_to_scan", "5000");
	path_write("/sys/kernel/mm/ksm/sleep_millisecs", "5");
	path_write("/sys/kernel/mm/ksm/run", "1");
	for (i = 0; i < 300 && path_number("/sys/kernel/mm/ksm/pages_sharing") < 300; i++)
		path_sleep_ms(20);
	path_write("/sys/kernel/mm/ksm/run", "0");
	if (path_number("/sys/kernel/mm/ksm/pages_sharing") < 300)
		return KSFT_SKIP;
	/* a reader keeps the shared page, which KSM has made accessible */
	if (!soon(look_merged))
		return KSFT_FAIL;
	for (i = 0; i < (int)nr; i++)
		*word(i) = i + rounds;
	return result(tracked());
}

/* Migration, to the other node, or by compaction */

static bool move_to(int node)
{
	void *pages[NR_PAGES];
	int nodes[NR_PAGES], status[NR_PAGES];
	size_t i, there = 0;

	for (i = 0; i < nr; i++) {
		pages[i] = mem + i * PAGE;
		nodes[i] = node;
	}
	if (syscall(SYS_move_pages, 0, nr, pages, nodes, status, 2) < 0)
		return false;
	for (i = 0; i < nr; i++)
		there += status[i] == node;
	if (there < nr)
		ksft_print_msg("%zu of %zu pages are on node %d\n", there, nr, node);
	return there == nr;
}

static int t_migration(void)
{
	if (access("/sys/devices/system/node/node1", F_OK))
		return KSFT_SKIP;
	/* the second time the pages have not been written since */
	return result(path_true(move_to(1)) && tracked_soon() && path_true(move_to(0)) &&
		      soon(look_round));
}

static int t_compaction(void)
{
	if (path_write("/proc/sys/vm/compact_memory", "1"))
		return KSFT_SKIP;
	return result(tracked_soon());
}

/* How often NUMA balancing has scanned this program; -1: not known */
static long long numa_scans(void)
{
	char *text = path_slurp("/proc/self/sched"), *at;
	long long scans = -1;

	at = text ? strstr(text, "mm->numa_scan_seq") : NULL;
	if (at)
		sscanf(at, "%*s : %lld", &scans);
	free(text);
	return scans;
}

/* NUMA balancing skips tracked programs, because two kinds of hints would be mixed up. */
static int t_numa_balancing(void)
{
	unsigned long end = path_now_ms() + 2000;
	long long before = numa_scans();

	if (access("/proc/sys/kernel/numa_balancing", W_OK) || before < 0)
		return KSFT_SKIP;
	path_write("/proc/sys/kernel/numa_balancing", "1");
	while (path_now_ms() < end)
		if (!go_round())
			return KSFT_FAIL;
	if (numa_scans() != before) {
		ksft_print_msg("scanned %lld times\n", numa_scans() - before);
		return KSFT_FAIL;
	}
	return result(tracked() && tracked());
}

/* Others that access the pages: the kernel, for itself or for a debugger */

static bool pipe_through(void)
{
	char buf[PAGE];
	struct iovec iov = { .iov_len = PAGE };
	int p[2];
	size_t i;

	if (pipe(p))
		return false;
	for (i = 0; i < nr; i++) {
		iov.iov_base = mem + i * PAGE;
		if (vmsplice(p[1], &iov, 1, 0) != (ssize_t)PAGE ||
		    read(p[0], buf, PAGE) != (ssize_t)PAGE || memcmp(buf, iov.iov_base, PAGE))
			return false;
	}
	close(p[0]);
	close(p[1]);
	return true;
}

/* Another process reads all pages, and adds one to each. */
static int peek_and_poke(pid_t pid)
{
	unsigned long *buf = malloc(BYTES);
	struct iovec here = { buf, BYTES }, there = { mem, BYTES };
	size_t i;

	if (process_vm_readv(pid, &here, 1, &there, 1, 0) != (ssize_t)BYTES)
		return KSFT_FAIL;
	for (i = 0; i < nr; i++) {
		if (buf[i * WORDS + i % WORDS] != i + rounds)
			return KSFT_FAIL;
		buf[i * WORDS + i % WORDS]++;
	}
	if (process_vm_writev(pid, &here, 1, &there, 1, 0) != (ssize_t)BYTES)
		return KSFT_FAIL;
	return KSFT_PASS;
}

static int t_gup(void)
{
	pid_t pid, me = getpid();

	if (!pipe_through())
		return KSFT_FAIL;
	pid = fork();
	if (!pid)
		_exit(peek_and_poke(me));
	if (wait_for(pid))
		return KSFT_FAIL;
	rounds++;
	return result(tracked());
}

/* The swap device, to read from: its first page ends with a mark. */
#define MARK		"SWAPSPACE2"
#define MARK_AT		(PAGE - 10)

static int open_swap(void)
{
	char text[256], name[64];
	char *line;

	if (path_read("/proc/swaps", text, sizeof(text)) < 0)
		return -1;
	line = strchr(text, '\n');
	if (!line || sscanf(line + 1, "%63s", name) != 1 || strncmp(name, "/dev/", 5))
		return -1;
	return open(name, O_RDONLY | O_DIRECT);
}

/* Pages are pinned and written to while they fall out of the buffer. */
static bool read_direct(int fd)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		if (pread(fd, mem + i * PAGE, PAGE, 0) != (ssize_t)PAGE) {
			ksft_print_msg("read: %s\n", strerror(errno));
			return false;
		}
		if (memcmp(mem + i * PAGE + MARK_AT, MARK, 10)) {
			ksft_print_msg("page %zu was not read\n", i);
			return false;
		}
		/* for the next time; the write is lost if it went to another page */
		mem[i * PAGE + MARK_AT] = 0;
	}
	return true;
}

static void *keep_touching(void *arg)
{
	__volatile__ char *p = mem;
	unsigned long state = 1;

	while (!__atomic_load_n((bool *)arg, __ATOMIC_RELAXED))
		p[path_rand(&state) % nr * PAGE];
	return NULL;
}

static int t_direct(void)
{
	int i, fd = open_swap(), times = path_slow() ? 1 : 8;
	bool stop = false, good = true;
	pthread_t thread;

	if (fd < 0)
		return KSFT_SKIP;
	if (pthread_create(&thread, NULL, keep_touching, &stop))
		return KSFT_FAIL;
	for (i = 0; good && i < times; i++)
		good = path_true(read_direct(fd));
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	close(fd);
	for (i = 0; i < (int)nr; i++)
		*word(i) = i + rounds;
	return result(good && tracked());
}

static int traced(void)
{
	ptrace(PTRACE_TRACEME, 0, 0, 0);
	raise(SIGSTOP);
	rounds++;
	return result(tracked());
}

static int t_ptrace(void)
{
	pid_t pid = fork();
	int status;
	size_t i;

	if (!pid)
		_exit(traced());
	waitpid(pid, &status, 0);
	for (i = 0; i < nr; i++) {
		errno = 0;
		if (ptrace(PTRACE_PEEKDATA, pid, word(i), 0) != (long)(i + rounds) || errno ||
		    ptrace(PTRACE_POKEDATA, pid, word(i), i + rounds + 1))
			break;
	}
	if (i < nr)
		ksft_print_msg("page %zu: %s\n", i, strerror(errno));
	ptrace(PTRACE_DETACH, pid, 0, 0);
	return result(path_eq(wait_for(pid), 0) && path_eq(i, nr) && tracked());
}

/* read() and write() into pages that are inaccessible */
static int t_read_write(void)
{
	int fd = memfd_create("path", 0);
	size_t i;

	if (fd < 0)
		return KSFT_SKIP;
	for (i = 0; i < nr; i++)
		if (pwrite(fd, mem + i * PAGE, PAGE, i * PAGE) != (ssize_t)PAGE)
			return KSFT_FAIL;
	memset(mem, 0, BYTES);
	for (i = 0; i < nr; i++)
		if (pread(fd, mem + i * PAGE, PAGE, i * PAGE) != (ssize_t)PAGE)
			return KSFT_FAIL;
	close(fd);
	return result(tracked());
}

#define FAULT_AROUND "/sys/kernel/debug/fault_around_bytes"
#define AROUND	256	/* pages of 4 KiB in 1 MiB */

/*
 * A fault on a file maps the pages around it, too. If these are more than the driver
 * looks at, the rest escapes. The scan finds and counts them, and then touches of
 * each page are recorded again.
 */
static int t_escaped(void)
{
	unsigned long long end;
	long long escaped;
	int fd = memfd_create("path", 0);
	size_t i;

	if (fd < 0 || access(FAULT_AROUND, W_OK))
		return KSFT_SKIP;
	path_save(FAULT_AROUND);
	if (path_write(FAULT_AROUND, "1048576"))
		return KSFT_FAIL;
	for (i = 0; i < nr; i++) {
		unsigned long value = i;

		pwrite(fd, &value, sizeof(value), i * PAGE + i % WORDS * sizeof(value));
	}
	munmap(mem, BYTES);
	mem = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (mem == MAP_FAILED)
		return KSFT_FAIL;
	rounds = 0;
	escaped = stat_of("escaped");
	for (i = 0; i < nr; i += AROUND)
		if (*word(i) != i)
			return KSFT_FAIL;
	/* the windows of faults need not begin where the mapping does */
	if (*word(nr - 1) != nr - 1)
		return KSFT_FAIL;
	end = path_hangs_at(SCAN_SECONDS);
	while (stat_of("escaped") - escaped < (long long)nr / 2) {
		if (path_now_ms() > end) {
			ksft_print_msg("%lld pages escaped\n", stat_of("escaped") - escaped);
			return KSFT_FAIL;
		}
		path_sleep_ms(50);
	}
	return result(tracked() && tracked());
}

/* Without any change, nothing escapes. */
static int t_nothing_escapes(void)
{
	long long before = 0;
	int i;

	/* until the scan has found the library's pages, which a fault maps 16 at a time */
	for (i = 0; i < 8; i++) {
		if (i == 4)
			before = stat_of("escaped");
		if (!tracked())
			return KSFT_FAIL;
		path_sleep_ms(500);
	}
	if (stat_of("escaped") - before > 16)
		ksft_print_msg("%lld pages escaped\n", stat_of("escaped") - before);
	return result(path_le(stat_of("escaped") - before, 16));
}

static int t_populate(void)
{
	if (madvise(mem, BYTES, MADV_DONTNEED))
		return KSFT_FAIL;
	if (madvise(mem, BYTES, MADV_POPULATE_READ + 1))
		return KSFT_SKIP;
	for (size_t i = 0; i < nr; i++)
		*word(i) = i + rounds;
	return result(tracked());
}

static const struct {
	const char *name;
	int (*fn)(void);
} tests[] = {
	{ "left alone", t_plain },
	{ "left alone, nothing escapes", t_nothing_escapes },
	{ "4 threads", t_threads },
	{ "fork", t_fork },
	{ "50 forks", t_50_forks },
	{ "exec", t_exec },
	{ "munmap of a part", t_munmap },
	{ "mremap, moved", t_mremap_move },
	{ "mremap, grown", t_mremap_grow },
	{ "mprotect to read-only and back", t_read_only },
	{ "mprotect to none and back", t_prot_none },
	{ "mprotect means it", t_no_access },
	{ "MADV_DONTNEED", t_dontneed },
	{ "MADV_FREE", t_free },
	{ "MADV_COLD", t_cold },
	{ "MADV_PAGEOUT", t_pageout },
	{ "MADV_POPULATE_WRITE", t_populate },
	{ "swapped out and in", t_swap },
	{ "KSM", t_ksm },
	{ "migration to the other node", t_migration },
	{ "compaction", t_compaction },
	{ "NUMA balancing", t_numa_balancing },
	{ "GUP: vmsplice, process_vm_readv and writev", t_gup },
	{ "O_DIRECT", t_direct },
	{ "ptrace", t_ptrace },
	{ "read and write", t_read_write },
	{ "escaped pages are found again", t_escaped },
};

static int run_one(void *arg)
{
	int (*fn)(void) = *(int (**)(void))arg, ret;

	start(NR_PAGES);
	/* a round over what fn() left, to check that the data is right */
	ret = fn();
	return ret ?: result(go_round());
}

static bool is_asked_for(const char *name, int argc, char **argv)
{
	return argc != 2 || strstr(name, argv[1]);
}

int main(int argc, char **argv)
{
	static const char * const saved[] = {
		"/sys/kernel/mm/ksm/run", "/sys/kernel/mm/ksm/pages_to_scan",
		"/sys/kernel/mm/ksm/sleep_millisecs", "/proc/sys/kernel/numa_balancing",
		NUMA_SCAN "delay_ms", NUMA_SCAN "period_min_ms",
	};
	size_t i, plan = 0;
	int ret;

	if (argc == 3) {
		cg = argv[2];
		return executed();
	}
	for (i = 0; i < ARRAY_SIZE(tests); i++)
		plan += is_asked_for(tests[i].name, argc, argv);
	path_start(plan, 120);
	for (i = 0; i < ARRAY_SIZE(saved); i++)
		path_save(saved[i]);
	/* these take effect when a program begins */
	path_write(NUMA_SCAN "delay_ms", "100");
	path_write(NUMA_SCAN "period_min_ms", "100");
	path_exact(PAB);
	for (i = 0; i < ARRAY_SIZE(tests); i++) {
		if (!is_asked_for(tests[i].name, argc, argv))
			continue;
		cg = path_cg(NULL, "stay");
		ret = path_run(cg, run_one, (void *)&tests[i].fn, 30);
		ksft_test_result_report(ret, "%s\n", tests[i].name);
		path_write("/proc/sys/kernel/numa_balancing", "0");
		path_cg_remove(cg);
	}
	ksft_finished();
}
