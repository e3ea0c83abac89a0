// SPDX-License-Identifier: GPL-2.0
/*
 * A microbenchmark for each event of the virtual PMU: a program that is known to cause the
 * event so many times, and the count beside that (Azimi et al., ICS'05, section 6.1).
 *
 * usage: hpc_events [prefetch]
 *
 * prefetch: the machine's memory controllers fetch ahead (--vpmu=...,prefetch=plain). That
 * makes memory nearer than its latency says, so then those two events are all that is looked at.
 *
 * An out-of-order core (--vpmu=...,model=ooo) waits for code and for branches as others do. It may
 * hide what data, TLB and units take behind something else. So those stalls are at most what is
 * expected. All other events are as many.
 *
 * Costs that are not in sysfs are those of all machines that have a name. Events of user mode
 * are counted where not said otherwise. What comes on top is the way into the kernel and out.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <linux/mempolicy.h>
#include <pthread.h>
#include <sys/mman.h>
#include "hpc.h"

#define KIB		1024UL
#define PAGE		4096UL
#define ROUNDS		200000UL
#define MOST_EVENTS	64

#define DIVIDE		18	/* cycles that it waits for its unit, besides its own */
#define MULTIPLY	3
#define BRANCH_MISS	12
#define TLB_MISS	20
#define TLB_ENTRIES	1024
#define SPLIT		4	/* an access to two lines */
#define FLUSH		20	/* of the TLB */

static size_t line, l1, l2, all;	/* bytes; all: more than any chip's caches hold */
static int here, near_cpu, far_cpu;	/* CPUs, two of one chip and one of another; -1: none */
static char *data, *code;

/* What is counted: up to four events at a time, the first one leads the group */
static const char *names[4];
static int fds[4];
static unsigned int nr;

/* Events that had their benchmark */
static const char *measured[MOST_EVENTS];
static unsigned int nr_measured;

static void open_one(const char *name, struct event e)
{
	e.name = name;
	e.group = nr ? fds[0] : -1;
	names[nr] = name;
	fds[nr] = open_event(&e);
	if (fds[nr] < 0)
		ksft_print_msg("%s: %s\n", name, strerror(-fds[nr]));
	nr++;
}

/* Of this task in user mode, on whatever CPU */
static void open_user(const char *a, const char *b, const char *c, const char *d)
{
	const struct event e = { .no_kernel = true, .cpu = -1 };
	const char *all_of[4] = { a, b, c, d };
	unsigned int i;

	for (i = 0; i < 4 && all_of[i]; i++)
		open_one(all_of[i], e);
}

static void count(void)
{
	start(fds[0]);
}

static void rest(void)
{
	stop(fds[0]);
}

/* Each event of the group has its count; the last one is asked for last. */
static bool saw(const char *name, double want, double percent)
{
	unsigned int i;

	for (i = 0; i < nr && strcmp(names[i], name); i++)
		;
	if (i == nr)
		return false;
	if (nr_measured < MOST_EVENTS)
		measured[nr_measured++] = name;
	return near(name, count_of(fds[i]).value, want, percent);
}

static bool reorders;	/* it has done more instructions than it took cycles */

/* The same of a stall that reordering may hide */
static bool saw_stall(const char *name, double want, double percent)
{
	unsigned int i;

	if (!reorders)
		return saw(name, want, percent);
	for (i = 0; i < nr - 1 && strcmp(names[i], name); i++)
		;
	return saw(name, want, 100) && count_of(fds[i]).value <= want * (1 + percent / 100);
}

static void close_all(void)
{
	while (nr)
		close(fds[--nr]);
}

/* Memory */

enum access { LOAD, STORE, CODE };

/* Access all lines of a buffer in their order. Code is a jump in each line to the next one. */
static void touch(char *buffer, size_t bytes, enum access access)
{
	size_t i;

	if (access == CODE) {
		((void (*)(void))buffer)();
		return;
	}
	/* behind the code of the line, so that it stays as it is */
	for (i = 8; i < bytes; i += line) {
		if (access == LOAD)
			(void)*(volatile uint64_t *)(buffer + i);
		else
			*(volatile uint64_t *)(buffer + i) = i;
	}
}

static void write_code(size_t bytes)
{
	int32_t rel32 = line - 5;
	size_t i;

	for (i = 0; i < bytes; i += line) {
		code[i] = 0xe9;
		memcpy(code + i + 1, &rel32, sizeof(rel32));
	}
	code[bytes - line] = 0xc3;
}

/* On the node of CPU 0, and there now */
static char *memory(size_t bytes, int protection)
{
	char *p = mmap(NULL, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned long node = 1;

	if (p == MAP_FAILED)
		ksft_exit_fail_msg("%zu bytes of memory: %s\n", bytes, strerror(errno));
	/* without nodes there is but one */
	syscall(SYS_mbind, p, bytes, MPOL_BIND, &node, 8, 0);
	memset(p, 0, bytes);
	return p;
}

/**
 * struct origin - where lines come from
 * @source: its name
 * @bytes: read in a round
 * @rounds: number of rounds
 * @reader: CPU
 * @writer: CPU that writes all lines before each round, -1: what the reader has is left
 * @older: the writer then reads as much again, so that they leave its L2
 */
struct origin {
	const char *source;
	size_t bytes;
	unsigned int rounds;
	int reader, writer;
	bool older;
};

static void round_of(const struct origin *o, char *buffer, enum access access)
{
	if (o->writer >= 0) {
		run_on(o->writer);
		touch(buffer, o->bytes, STORE);
		if (o->older)
			touch(data + all - o->bytes, o->bytes, LOAD);
		run_on(o->reader);
	}
	count();
	touch(buffer, o->bytes, access);
	rest();
}

/*
 * The reader has the lines, and no other CPU. Caches only change while there are events, so
 * those exist, and do not count.
 */
static void settle(const struct origin *o, char *buffer, enum access access)
{
	run_on(o->reader);
	touch(buffer, o->bytes, STORE);
	touch(buffer, o->bytes, access);
}

static bool reads_data(const struct origin *o)
{
	double lines = (double)o->bytes / line * o->rounds, latency;
	char source[32], stall[32], file[128];
	unsigned int i;
	bool good;

	snprintf(source, sizeof(source), "d_src_%s", o->source);
	snprintf(stall, sizeof(stall), "stall_d_src_%s", o->source);
	snprintf(file, sizeof(file), PMU "latency/%s", o->source);
	latency = number(file, "");
	open_user("l1d_miss", strdup(source), "stall_d", strdup(stall));
	settle(o, data, LOAD);
	for (i = 0; i < o->rounds; i++)
		round_of(o, data, LOAD);
	good = saw("l1d_miss", lines, 3) & saw(names[1], lines, 3);
	good &= saw_stall("stall_d", lines * latency, 4);
	good &= saw_stall(names[3], lines * latency, 3);
	close_all();
	return good;
}

static bool reads_code(const struct origin *o)
{
	double lines = (double)o->bytes / line * o->rounds;
	char source[32], file[128];
	unsigned int i;
	bool good;

	snprintf(source, sizeof(source), "i_src_%s", o->source);
	snprintf(file, sizeof(file), PMU "latency/%s", o->source);
	write_code(o->bytes);
	open_user("l1i_miss", strdup(source), "stall_i", NULL);
	settle(o, code, CODE);
	for (i = 0; i < o->rounds; i++)
		round_of(o, code, CODE);
	good = saw("l1i_miss", lines, 4) & saw(names[1], lines, 4);
	good &= saw("stall_i", lines * number(file, ""), 5);
	close_all();
	return good;
}

static bool of_source(const char *source, bool (*reads)(const struct origin *))
{
	const struct origin origins[] = {
		{ "l2", l2 / 4, 20, here, -1 },
		{ "l3", 2 * l2, 4, here, -1 },
		{ "mem", all, 2, here, -1 },
		{ "rl2", l2 / 4, 20, far_cpu, here },
		{ "rl3", 2 * l2, 4, far_cpu, here, true },
		{ "rmem", all, 2, far_cpu, -1 },
	};
	bool good = false;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(origins); i++)
		if (!strcmp(origins[i].source, source))
			good = reads(&origins[i]);
	run_on(here);
	return good;
}

/* Cases. A loop of N rounds begins at "1:", and ends with two instructions. */

#define LOOP(rounds, body, ...)						\
	__asm__ __volatile__("1:\n" body "dec %0\njnz 1b\n"		\
			     : "+r" (rounds) : __VA_ARGS__ : "rax", "xmm0", "memory", "cc")

static bool instructions(void)
{
	uint64_t n = ROUNDS;
	bool good;

	open_user("cycles", "insns", "branch", NULL);
	count();
	LOOP(n, "");
	rest();
	reorders = count_of(fds[0]).value < count_of(fds[1]).value;
	good = saw("cycles", (reorders ? 1 : 2) * ROUNDS, 3) & saw("insns", 2 * ROUNDS, 0.5) &
	       saw("branch", ROUNDS, 0.5);
	close_all();
	return good;
}

static bool loads_and_stores(void)
{
	uint64_t n = ROUNDS;
	bool good;

	open_user("loads", "stores", NULL, NULL);
	count();
	LOOP(n, "mov (%1), %%rax\nmov %%rax, (%1)\nmov (%1), %%rax\n", "r" (data));
	rest();
	good = saw("loads", 2 * ROUNDS, 0.5) & saw("stores", ROUNDS, 0.5);
	close_all();
	return good;
}

/* Twice taken, twice not: a counter of two bits is wrong three times out of four. */
static bool branches(void)
{
	uint64_t n = ROUNDS;
	bool good;

	open_user("br_miss", "stall_br", "branch", NULL);
	count();
	LOOP(n, "test $2, %b0\njz 2f\nnop\n2:\n", "r" (data));
	rest();
	good = saw("br_miss", 0.75 * ROUNDS, 1);
	good &= saw("stall_br", 0.75 * ROUNDS * BRANCH_MISS, 1) & saw("branch", 2 * ROUNDS, 0.5);
	close_all();
	return good;
}

static bool units(void)
{
	uint64_t n = ROUNDS;
	bool good;

	open_user("stall_iu", "stall_fpu", "stall_lsu", NULL);
	count();
	LOOP(n, "imul %%rax, %%rax\ndivsd %%xmm0, %%xmm0\nmov -4(%1), %%rax\n",
	     "r" (data + line));
	rest();
	/* divisions wait for one another, and hide the others */
	good = saw_stall("stall_iu", ROUNDS * MULTIPLY, 1) & saw("stall_fpu", ROUNDS * DIVIDE, 1) &
	       saw_stall("stall_lsu", ROUNDS * SPLIT, 1);
	close_all();
	return good;
}

/* Twice as many pages in turn as the TLB has room for */
static bool pages(void)
{
	const double misses = 20 * 2 * TLB_ENTRIES;
	unsigned int round, i;
	bool good;

	open_user("dtlb_miss", "stall_tlb", NULL, NULL);
	count();
	for (round = 0; round < 20; round++)
		for (i = 0; i < 2 * TLB_ENTRIES; i++)
			(void)*(volatile char *)(data + i * PAGE);
	rest();
	good = saw("dtlb_miss", misses, 2) & saw_stall("stall_tlb", misses * TLB_MISS, 2);
	close_all();
	return good;
}

static bool flushes(void)
{
	const unsigned int rounds = 2000;
	unsigned int i;
	bool good;

	open_one("stall_other", (struct event){ .no_user = true, .cpu = -1 });
	count();
	for (i = 0; i < rounds; i++) {
		*(volatile char *)data = 1;
		madvise(data, PAGE, MADV_DONTNEED);
	}
	rest();
	/* an out-of-order core has other causes, too */
	good = saw("stall_other", rounds * FLUSH, reorders ? 1e9 : 5);
	good &= count_of(fds[0]).value >= rounds * FLUSH * 0.95;
	close_all();
	return good;
}

static bool writes_back(void)
{
	bool good;

	/* of lines that the kernel needed meanwhile, too: each made room for one less of ours */
	open_one("writeback", (struct event){ .cpu = -1 });
	touch(data, all, STORE);
	touch(data, all, STORE);
	count();
	touch(data, all, STORE);
	rest();
	good = saw("writeback", all / line, 3);
	close_all();
	return good;
}

/*
 * A thread on another CPU that reads the first lines of data when it is asked to, and keeps
 * them in its L1: it does nothing else.
 */
#define SHARED_ROUNDS	160

static size_t shared;		/* bytes */
static int reader_cpu;
static volatile int asked, done __attribute__((aligned(256)));

static void *reader(void *unused)
{
	run_on(reader_cpu);
	for (;;) {
		while (asked == done)
			;
		if (asked < 0)
			return NULL;
		touch(data, shared, LOAD);
		done = asked;
	}
}

static void ask(int what)
{
	asked = what;
	while (what >= 0 && done != what)
		;
}

/* Let another CPU read, then read here, and store or not, and so on */
static void share(bool store)
{
	unsigned int i;

	for (i = 0; i < SHARED_ROUNDS; i++) {
		ask(!done);
		count();
		touch(data, shared, LOAD);
		if (store)
			touch(data, shared, STORE);
		rest();
	}
}

static pthread_t start_reader(int cpu)
{
	pthread_t thread;

	shared = l1 / 8;
	asked = done = 0;
	reader_cpu = cpu;
	if (pthread_create(&thread, NULL, reader, NULL))
		ksft_exit_fail_msg("no thread: %s\n", strerror(errno));
	ask(1);
	return thread;
}

static void stop_reader(pthread_t thread)
{
	ask(-1);
	pthread_join(thread, NULL);
}

static bool upgrades(const char *event, int other)
{
	pthread_t thread;
	bool good;

	open_user(event, NULL, NULL, NULL);
	thread = start_reader(other);
	share(true);
	stop_reader(thread);
	good = saw(event, (double)SHARED_ROUNDS * shared / line, 5);
	close_all();
	return good;
}

/* It counts on the CPU that loses the line, in whatever mode that is. */
static bool invalidates(void)
{
	pthread_t thread;
	double idle, busy;

	open_one("invalidated", (struct event){ .pid = -1, .cpu = near_cpu });
	thread = start_reader(near_cpu);
	share(false);
	idle = count_of(fds[0]).value;
	share(true);
	busy = count_of(fds[0]).value - idle;
	stop_reader(thread);
	ksft_print_msg("invalidated: %.0f without a store\n", idle);
	close_all();
	measured[nr_measured++] = "invalidated";
	return near("invalidated", busy - idle, (double)SHARED_ROUNDS * shared / line, 5);
}

/* All lines but the first three of each run of pages: of no page, or of each */
static bool prefetches(void)
{
	const double in_page = PAGE / line, percent = 150 / in_page + 1;
	const double lines = all / PAGE * (in_page - 1.5);
	bool good;

	open_user("prefetch_used", "prefetched", NULL, NULL);
	touch(data, all, LOAD);
	count();
	touch(data, all, LOAD);
	rest();
	good = saw("prefetch_used", lines, percent) & saw("prefetched", lines, percent);
	close_all();
	return good;
}

/* Is there a benchmark for each event that perf offers? */
static bool all_measured(void)
{
	DIR *events = opendir(PMU "events");
	bool good = events, found;
	struct dirent *event;
	unsigned int i;

	while (events && (event = readdir(events))) {
		found = event->d_name[0] == '.' || !strncmp(event->d_name, "prefetch", 8);
		for (i = 0; i < nr_measured && !found; i++)
			found = !strcmp(measured[i], event->d_name);
		if (!found)
			ksft_print_msg("%s: no benchmark\n", event->d_name);
		good &= found;
	}
	if (events)
		closedir(events);
	return good;
}

/* The machine */

static long long chip_of(int cpu)
{
	char file[128];

	snprintf(file, sizeof(file), "/sys/devices/system/cpu/cpu%d/topology/physical_package_id",
		 cpu);
	return number(file, "");
}

static void find_cpus(void)
{
	int cpu, last = sysconf(_SC_NPROCESSORS_ONLN) - 1;

	near_cpu = far_cpu = -1;
	for (cpu = last; cpu > here; cpu--) {
		if (chip_of(cpu) == chip_of(here))
			near_cpu = cpu;
		else
			far_cpu = cpu;
	}
}

static void find_memory(void)
{
	line = number(PMU "caches/line_bytes", "");
	l1 = number(PMU "caches/l1d_kb", "") * KIB;
	l2 = number(PMU "caches/l2_kb", "") * KIB;
	all = 2 * (l2 + number(PMU "caches/l3_kb", "") * KIB);
	if (all < 2 * TLB_ENTRIES * PAGE)
		all = 2 * TLB_ENTRIES * PAGE;
	data = memory(all, PROT_READ | PROT_WRITE);
	code = memory(all, PROT_READ | PROT_WRITE | PROT_EXEC);
}

/* @possible: the machine has the CPUs for it */
static void sources(const char *name, bool possible)
{
	if (!possible) {
		ksft_test_result_skip("data from %s: one chip\n", name);
		ksft_test_result_skip("code from %s: one chip\n", name);
		return;
	}
	ksft_test_result(of_source(name, reads_data), "data from %s\n", name);
	ksft_test_result(of_source(name, reads_code), "code from %s\n", name);
}

static void shared_lines(void)
{
	if (near_cpu < 0)
		ksft_test_result_skip("upgrade_local: one CPU a chip\n");
	else
		ksft_test_result(upgrades("upgrade_local", near_cpu), "upgrade_local\n");
	if (far_cpu < 0)
		ksft_test_result_skip("upgrade_remote: one chip\n");
	else
		ksft_test_result(upgrades("upgrade_remote", far_cpu), "upgrade_remote\n");
	if (near_cpu < 0)
		ksft_test_result_skip("invalidated: one CPU a chip\n");
	else
		run("invalidated", invalidates);
}

int main(int argc, char **argv)
{
	ksft_print_header();
	if (access(PMU "type", R_OK))
		ksft_exit_skip("no virtual PMU (lab run --vpmu)\n");
	run_on(here);
	find_cpus();
	find_memory();
	if (argc > 1 && !strcmp(argv[1], "prefetch")) {
		ksft_set_plan(1);
		run("prefetched, prefetch_used", prefetches);
		ksft_finished();
	}
	ksft_set_plan(23);
	run("cycles, insns, branch", instructions);
	run("loads, stores", loads_and_stores);
	run("br_miss, stall_br", branches);
	run("stall_iu, stall_fpu, stall_lsu", units);
	run("dtlb_miss, stall_tlb", pages);
	run("stall_other", flushes);
	run("writeback", writes_back);
	shared_lines();
	sources("l2", true);
	sources("l3", true);
	sources("mem", true);
	sources("rl2", far_cpu >= 0);
	sources("rl3", far_cpu >= 0);
	sources("rmem", far_cpu >= 0);
	if (near_cpu < 0 || far_cpu < 0)
		ksft_test_result_skip("each event has a benchmark: too few CPUs\n");
	else
		run("each event has a benchmark", all_measured);
	ksft_finished();
}
