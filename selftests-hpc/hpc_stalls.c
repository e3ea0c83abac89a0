// SPDX-License-Identifier: GPL-2.0
/*
 * /sys/kernel/hpc and cpu.stalls, on the virtual PMU. What cpu.stalls estimates is compared with
 * what the PMU counts of the same work when nothing is shared out. Both count user mode only, as
 * the kernel does not do the same twice.
 *
 * usage: hpc_stalls [lies | figures | many]
 *
 * lies: the device writes nonsense (--vpmu=fuzz=N). The cycles add up nevertheless.
 * figures: what was estimated beside what was counted, and the cost, for the reader; no test.
 * many: all events that the PMU has.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "../kselftest.h"

#define PMU	"/sys/bus/event_source/devices/vpmu/"
#define HPC	"/sys/kernel/hpc/"
#define ROOT	"/sys/fs/cgroup/"
#define CG	ROOT "hpc-test"
#define CPU1	"/sys/devices/system/cpu/cpu1/online"
#define TRACING	"/sys/kernel/tracing/"
#define PARANOID	"/proc/sys/kernel/perf_event_paranoid"
#define PAGE	4096

/* Files */

static int put(const char *file, const char *text)
{
	int fd = open(file, O_WRONLY), ret = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		ret = -errno;
	close(fd);
	return ret;
}

static int get(const char *file, char *text, size_t size)
{
	int fd = open(file, O_RDONLY), n;

	text[0] = 0;
	if (fd < 0)
		return -errno;
	n = read(fd, text, size - 1);
	n = n < 0 ? -errno : n;
	text[n < 0 ? 0 : n] = 0;
	close(fd);
	return n;
}

static long long number(const char *file)
{
	char text[64], *at;

	if (get(file, text, sizeof(text)) < 0)
		return -1;
	at = strchr(text, '=');
	return strtoll(at ? at + 1 : text, NULL, 0);
}

static bool is(const char *what, long long value, long long want)
{
	if (value != want)
		ksft_print_msg("%s: %lld, expected %lld\n", what, value, want);
	return value == want;
}

/* The events of the breakdown */

static const char * const causes[] = { "d", "i", "br", "tlb", "lsu", "fpu", "iu", "other" };
#define CAUSES	ARRAY_SIZE(causes)

static const struct { const char *name; int latency; } sources[] = {
	{ "l2", 14 }, { "l3", 91 }, { "rl2", 120 }, { "rl3", 205 }, { "mem", 280 }, { "rmem", 307 },
};

#define SOURCES	ARRAY_SIZE(sources)

static long long event_nr(const char *before, const char *name)
{
	char file[256];

	snprintf(file, sizeof(file), PMU "events/%s%s", before, name);
	return number(file);
}

static void all_events(char *text)
{
	int type = number(PMU "type");
	size_t i;

	text += sprintf(text, "cycles=%d:%lld insns=%d:%lld", type, event_nr("", "cycles"), type,
			event_nr("", "insns"));
	for (i = 0; i < CAUSES; i++)
		text += sprintf(text, " stall.%s=%d:%lld", causes[i], type,
				event_nr("stall_", causes[i]));
	for (i = 0; i < SOURCES; i++)
		text += sprintf(text, " source.d.%s=%d:%lld@%d", sources[i].name, type,
				event_nr("d_src_", sources[i].name), sources[i].latency);
}

static bool modelled_time(void)
{
	char text[32];

	get(PMU "clock", text, sizeof(text));
	return !strcmp(text, "parallel\n");
}

/* A debug kernel */
static bool slow(void)
{
	return !access("/sys/kernel/debug/kmemleak", F_OK);
}

/* Count all of it, in slices as long as those of a fast CPU, or of a slow one in host time. */
static bool begin(const char *mode)
{
	char events[PAGE];

	all_events(events);
	put(HPC "enabled", "0");
	return is("events", put(HPC "events", events), 0) && is("mode", put(HPC "mode", mode), 0) &&
	       is("slice_us", put(HPC "slice_us", modelled_time() ? "200" : "1000"), 0) &&
	       is("enabled", put(HPC "enabled", "1"), 0);
}

static void end(void)
{
	put(HPC "enabled", "0");
	put(HPC "mode", "all");
	put(HPC "slice_us", "100");
	put(HPC "events", " ");
}

/* Cgroups */

/* What follows @want, which begins a line; or NULL */
static const char *behind(const char *text, const char *want)
{
	const char *line;

	for (line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, want, strlen(want)))
			return line + strlen(want);
	}
	return NULL;
}

/* The number behind "@name " or "@name @key=" in such a file's text, or -1 */
static long long cell(const char *text, const char *name, const char *key)
{
	char want[64];
	const char *at;

	snprintf(want, sizeof(want), key ? "%s %s=" : "%s ", name, key);
	at = behind(text, want);
	return at ? strtoll(at, NULL, 10) : -1;
}

/* The error in the line of @name, or -1 */
static long long bound_of(const char *text, const char *name)
{
	char want[64];
	const char *at;

	snprintf(want, sizeof(want), "%s ", name);
	at = behind(text, want);
	at = at ? strstr(at, "error=") : NULL;
	return at ? strtoll(at + 6, NULL, 10) : -1;
}

static void read_cgroup(const char *cg, const char *file, char *text)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", cg, file);
	get(path, text, PAGE);
}

static long long plain(const char *cg, const char *name)
{
	char text[PAGE];

	read_cgroup(cg, "cpu.stalls", text);
	return cell(text, name, NULL);
}

static bool adds_up(const char *cg)
{
	char text[PAGE];
	long long sum;
	size_t i;

	read_cgroup(cg, "cpu.stalls", text);
	sum = cell(text, "unknown", NULL) + cell(text, "completion", "cycles");
	for (i = 0; i < CAUSES; i++)
		if (cell(text, causes[i], "cycles") > 0)
			sum += cell(text, causes[i], "cycles");
	return is("sum of the causes", sum, cell(text, "cycles", NULL));
}

static bool make_cgroup(const char *cg)
{
	return !mkdir(cg, 0755) || errno == EEXIST;
}

static void join(const char *cg)
{
	char file[256];

	snprintf(file, sizeof(file), "%s/cgroup.procs", cg);
	if (put(file, "0"))
		_exit(1);
}

static void run_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		ksft_print_msg("CPU %d: %s\n", cpu, strerror(errno));
}

/* Work: phases that wait for memory, for divisions of two kinds, for branches and for nothing */

/* 5 MiB: more than L2 and the TLB hold, and not so much that L3 depends on what others do */
static uint32_t chain[5 << 18];

static void make_chain(void)
{
	uint32_t i;

	for (i = 0; i < ARRAY_SIZE(chain); i++)
		chain[i] = i * 2654435761u;
}

static uint64_t phase(unsigned int kind, unsigned int rounds, uint64_t x)
{
	double y = x | 1;
	unsigned int i;

	for (i = 0; i < rounds; i++) {
		x = x * 6364136223846793005ULL + 1442695040888963407ULL;
		if (kind == 0)
			x += chain[(x >> 40) * ARRAY_SIZE(chain) >> 24];
		else if (kind == 1)
			x /= (x >> 50) | 3;
		else if (kind == 2)
			y = 3 / y + 1;
		else if (kind == 3 && x >> 63)
			__asm__ __volatile__("nop" : : : "memory");
	}
	return x + (uint64_t)y;
}

static void work(unsigned int rounds)
{
	volatile uint64_t x = 1;
	unsigned int i;

	for (i = 0; i < rounds; i++)
		x = phase(i % 5, 5000 + i % 7 * 1000, x);
}

/* The same with a call of the kernel now and then */
static void work_and_call(unsigned int rounds)
{
	volatile uint64_t x = 1;
	unsigned int i, k;

	for (i = 0; i < rounds; i++)
		for (k = 0; k < 25 + i % 7 * 5; k++) {
			x = phase(i % 5, 200, x);
			syscall(SYS_getppid);
		}
}

static void (*program)(unsigned int rounds) = work;

/* A task that waits, then does @work in this cgroup on that CPU */
static pid_t task_that(void (*work)(unsigned int rounds), const char *cg, int cpu,
		       unsigned int rounds, int *tell)
{
	int ends[2];
	pid_t pid;
	char c;

	if (pipe(ends))
		return -1;
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(ends[1]);
		if (cg)
			join(cg);
		run_on(cpu);
		if (read(ends[0], &c, 1) < 0)
			_exit(1);
		work(rounds);
		_exit(0);
	}
	close(ends[0]);
	*tell = ends[1];
	return pid;
}

static pid_t task(const char *cg, int cpu, unsigned int rounds, int *tell)
{
	return task_that(program, cg, cpu, rounds, tell);
}

static bool does(void (*work)(unsigned int rounds), const char *cg, int cpu, unsigned int rounds)
{
	int tell, status = -1;
	pid_t pid = task_that(work, cg, cpu, rounds, &tell);

	close(tell);
	waitpid(pid, &status, 0);
	return is("exit status", status, 0);
}

static bool works(const char *cg, int cpu, unsigned int rounds)
{
	return does(program, cg, cpu, rounds);
}

/*
 * Work that waits for lines from each source in turn. A second task, on the other chip, takes what
 * is to come from its caches: it writes a part of @far, which then is in its L2, and one of
 * @farther, of which only the last two parts fit there.
 */
#define LINE	64
#define PART	(512 << 10)
#define PARTS	8
#define LARGE	(16 << 20)
#define STEP	1024
#define STEPS	(PART / STEP)

static char *near, *large, *remote, *far, *farther;

static char *map_memory(size_t bytes)
{
	char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		_exit(1);
	return at;
}

static void read_lines(const volatile char *at, size_t bytes)
{
	size_t i;

	for (i = 0; i < bytes; i += LINE)
		(void)at[i];
}

static void write_lines(volatile char *at, size_t bytes)
{
	size_t i;

	for (i = 0; i < bytes; i += LINE)
		at[i]++;
}

/* Who touches a page first has it on its node. */
static void touch_pages(volatile char *at, size_t bytes)
{
	size_t i;

	for (i = 0; i < bytes; i += PAGE)
		at[i] = 1;
}

static void take_lines(int asked, int answer)
{
	unsigned int part = 0;
	char c;

	join(ROOT);
	run_on(2);
	touch_pages(remote, LARGE);
	write_lines(farther, PARTS * PART);
	do {
		write_lines(far, PART);
		write_lines(farther + part++ % PARTS * PART, PART);
		c = write(answer, "", 1);
	} while (read(asked, &c, 1) == 1);
	_exit(0);
}

/* So little of each at a time that a slice has some of all: what is asked is not how to sample. */
static void read_some_of_all(unsigned int round, unsigned int step)
{
	const char *old = farther + (round + 1) % PARTS * PART;

	read_lines(far + step * STEP, STEP);
	/* what was written seven rounds ago */
	read_lines(old + step * STEP, STEP);
	read_lines(near + step * 8 * STEP % PART, 8 * STEP);
	read_lines(large + (round * STEPS + step) * STEP / 2 % LARGE, STEP / 2);
	read_lines(remote + (round * STEPS + step) * STEP / 2 % LARGE, STEP / 2);
	/* more than L2 holds, and L3 still has it from the last round */
	read_lines((char *)chain + step * 3 * STEP, 3 * STEP);
}

static void read_sources(unsigned int rounds, int ask, int answered)
{
	unsigned int round, step;
	char c;

	for (round = 0; round < rounds && read(answered, &c, 1) == 1; round++) {
		for (step = 0; step < STEPS; step++)
			read_some_of_all(round, step);
		if (write(ask, &c, 1) != 1)
			_exit(1);
	}
}

static void work_on_sources(unsigned int rounds)
{
	int ask[2], answer[2];

	near = map_memory(PART);
	large = map_memory(LARGE);
	remote = map_memory(LARGE);
	far = map_memory(PART);
	farther = map_memory(PARTS * PART);
	if (pipe(ask) || pipe(answer))
		_exit(1);
	touch_pages(near, PART);
	touch_pages(large, LARGE);
	if (!fork()) {
		close(ask[1]);
		take_lines(ask[0], answer[1]);
	}
	read_sources(rounds, ask[1], answer[0]);
	close(ask[1]);
	wait(NULL);
}

/* What the PMU counts of a task in user mode, when nothing is shared out */

enum { USER = 1, PINNED = 2 };

static int open_event(long long nr, pid_t pid, int cpu, unsigned int how)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .type = number(PMU "type"), .config = nr,
		.exclude_kernel = !!(how & USER), .pinned = !!(how & PINNED),
	};

	return syscall(SYS_perf_event_open, &attr, pid, cpu, -1, 0);
}

/* Count these events, at most four of a kind, while a task works. */
static void exact(const char *before, const char *const *name, size_t nr, unsigned int rounds,
		  uint64_t *count)
{
	int fd[8], tell = -1;
	size_t i;
	pid_t pid = task(NULL, 0, rounds, &tell);

	for (i = 0; i < nr; i++)
		fd[i] = open_event(event_nr(before, name[i]), pid, -1, USER);
	close(tell);
	waitpid(pid, NULL, 0);
	for (i = 0; i < nr; i++) {
		count[i] = 0;
		if (read(fd[i], &count[i], sizeof(*count)) != sizeof(*count))
			ksft_print_msg("%s%s: %s\n", before, name[i], strerror(errno));
		close(fd[i]);
	}
}

/*
 * What the stalls of two sources are in the same run, in percent of all cycles. Their counters are
 * not ours meanwhile. Nobody else runs on that CPU in user mode.
 */
static bool measure_sources(size_t first, unsigned int rounds, double *estimate, double *naive,
			    double *truth)
{
	char name[32], stalls[PAGE], counters[PAGE];
	uint64_t count = 0;
	double cycles, all;
	int fd[2], i;
	bool good;

	for (i = 0; i < 2; i++)
		fd[i] = open_event(event_nr("stall_d_src_", sources[first + i].name), -1, 0,
				   USER | PINNED);
	good = begin("user") && make_cgroup(CG) && does(work_on_sources, CG, 0, rounds) &&
	       adds_up(CG);
	read_cgroup(CG, "cpu.stalls", stalls);
	read_cgroup(CG, "cpu.counters", counters);
	cycles = cell(stalls, "cycles", NULL);
	all = cycles + cell(stalls, "pending", NULL);
	for (i = 0; i < 2; i++) {
		good &= read(fd[i], &count, sizeof(count)) == sizeof(count);
		close(fd[i]);
		truth[i] = 100 * count / all;
		snprintf(name, sizeof(name), "d.%s", sources[first + i].name);
		estimate[i] = 100 * cell(stalls, name, "cycles") / cycles;
		snprintf(name, sizeof(name), "source.d.%s", sources[first + i].name);
		naive[i] = 100 * cell(counters, name, "count") / cycles *
			   sources[first + i].latency;
	}
	end();
	rmdir(CG);
	return good;
}

/* In percent of all cycles */
struct parts {
	double cause[CAUSES], source[SOURCES], completion, ipc;
};

static void exact_parts(struct parts *p, unsigned int rounds)
{
	static const char * const base[] = { "cycles", "insns" };
	const char *source[SOURCES];
	uint64_t cycles[2], count[8];
	size_t i;

	exact("", base, 2, rounds, cycles);
	exact("stall_", causes, 4, rounds, count);
	exact("stall_", causes + 4, 4, rounds, count + 4);
	for (i = 0; i < CAUSES; i++)
		p->cause[i] = 100.0 * count[i] / cycles[0];
	for (i = 0; i < SOURCES; i++)
		source[i] = sources[i].name;
	exact("stall_d_src_", source, 3, rounds, count);
	exact("stall_d_src_", source + 3, 3, rounds, count + 3);
	for (i = 0; i < SOURCES; i++)
		p->source[i] = 100.0 * count[i] / cycles[0];
	p->completion = 100.0 * cycles[1] / cycles[0];
}

static void estimated_parts(struct parts *p, const char *cg)
{
	char text[PAGE], name[32];
	double cycles;
	size_t i;

	read_cgroup(cg, "cpu.stalls", text);
	cycles = cell(text, "cycles", NULL);
	for (i = 0; i < CAUSES; i++)
		p->cause[i] = 100.0 * cell(text, causes[i], "cycles") / cycles;
	for (i = 0; i < SOURCES; i++) {
		snprintf(name, sizeof(name), "d.%s", sources[i].name);
		p->source[i] = 100.0 * cell(text, name, "cycles") / cycles;
	}
	p->completion = 100.0 * cell(text, "completion", "cycles") / cycles;
}

static double worst;

static void compare(const char *what, const char *name, double estimate, double truth)
{
	ksft_print_msg("%s%s: %.2f %%, counted %.2f %%\n", what, name, estimate, truth);
	worst = fmax(worst, fabs(estimate - truth));
}

static void compare_parts(const struct parts *estimate, const struct parts *truth)
{
	size_t i;

	worst = 0;
	compare("", "completion", estimate->completion, truth->completion);
	for (i = 0; i < CAUSES; i++)
		compare("", causes[i], estimate->cause[i], truth->cause[i]);
	for (i = 0; i < SOURCES; i++)
		compare("d.", sources[i].name, estimate->source[i], truth->source[i]);
	ksft_print_msg("worst: %.2f points\n", worst);
}

#define SOURCE_ROUNDS	8

/* Return: how far the worst source is off, in percent of itself. NAN: one had no stalls */
static double compare_sources(void)
{
	double estimate[2], naive[2], truth[2], error, far = 0;
	size_t i, k;

	for (i = 0; i < SOURCES; i += 2) {
		if (!measure_sources(i, SOURCE_ROUNDS, estimate, naive, truth))
			return NAN;
		for (k = 0; k < 2; k++) {
			if (!truth[k])
				return NAN;
			error = 100 * (estimate[k] / truth[k] - 1);
			ksft_print_msg("%s: %.2f %%, naive %.2f %%, counted %.2f %%: %+.1f %%\n",
				       sources[i + k].name, estimate[k], naive[k], truth[k], error);
			far = fmax(far, fabs(error));
		}
	}
	return far;
}

/* Cases */

static bool refused(const char *file, const char *text, int want)
{
	char path[256], before[PAGE], after[PAGE];
	int ret;

	snprintf(path, sizeof(path), HPC "%s", file);
	get(path, before, sizeof(before));
	ret = put(path, text);
	get(path, after, sizeof(after));
	if (ret == want && !strcmp(before, after))
		return true;
	ksft_print_msg("%s: \"%.40s\" gives %d, expected %d\n", file, text, ret, want);
	return false;
}

/* The kernel gets a page at most of what is written at a time. Here a word goes on behind it. */
static bool refuses_what_is_cut(void)
{
	static const char * const files[] = { "events", "weights", "slice_event" };
	static const char * const texts[] = { "cycles=1:12", "12", "insns 50000" };
	char text[PAGE + 2];
	bool good = true;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(files); i++) {
		memset(text, ' ', sizeof(text));
		text[sizeof(text) - 1] = 0;
		memcpy(text + PAGE + 1 - strlen(texts[i]), texts[i], strlen(texts[i]));
		good &= refused(files[i], text, -E2BIG);
	}
	return good;
}

static bool refuses_nonsense(void)
{
	char long_name[64], many[PAGE] = "";
	bool good = true;
	size_t i;

	static const char * const events[] = {
		"cycles", "cycles=", "cycles=1", "cycles=x:1", "cycles=1:x", "cycles=1:1:1:1:1",
		"insns=1:1", "=1:1", "cycles=1:1@", "cycles=1:1@5", "cycles=1:1 a/b=1:1",
		"cycles=1:1 stall.=1:1", "cycles=1:1 stall.a.b=1:1", "cycles=1:1 source.a.b=1:1@1",
		"cycles=1:1 stall.a=1:1 source.a=1:1@1", "cycles=1:1 stall.a=1:1 source.a.b=1:1",
		"cycles=1:1 stall.a=1:1 source.a.=1:1@1", "cycles=1:1 stall.a=1:1@3",
		"cycles=99999999999:1",
	};

	put(HPC "events", "cycles=1:1 insns=1:2");
	good &= refuses_what_is_cut();
	for (i = 0; i < ARRAY_SIZE(events); i++)
		good &= refused("events", events[i], strstr(events[i], "9999") ? -ERANGE : -EINVAL);
	good &= refused("events", "cycles=1:1 a=1:1 a=1:2", -EEXIST);
	snprintf(long_name, sizeof(long_name), "cycles=1:1 %032d=1:1", 1);
	good &= refused("events", long_name, -EINVAL);
	for (i = 0; i < 65; i++)
		sprintf(many + strlen(many), i ? "e%zu=1:1 " : "cycles=1:1 ", i);
	good &= refused("events", many, -E2BIG);
	good &= refused("slice_us", "19", -ERANGE) & refused("slice_us", "100001", -ERANGE) &
		refused("slice_us", "x", -EINVAL);
	good &= refused("mode", "none", -EINVAL) & refused("enabled", "x", -EINVAL) &
		refused("polling", "x", -EINVAL);
	good &= refused("weights", "0", -ERANGE) & refused("weights", "65", -ERANGE) &
		refused("weights", "a", -EINVAL);
	good &= refused("slice_event", "none 5000", -ENOENT) &
		refused("slice_event", "insns", -EINVAL) &
		refused("slice_event", "insns x", -EINVAL) &
		refused("slice_event", "insns 5000 5000", -EINVAL) &
		refused("slice_event", "insns 999", -ERANGE) &
		refused("slice_event", "insns 1000000000001", -ERANGE);
	/* perf knows no such type; then no events at all */
	put(HPC "events", "cycles=4242:1");
	good &= refused("enabled", "1", -ENOENT);
	/* a clock is of another PMU */
	sprintf(many, "cycles=%lld:1 clock=1:0", number(PMU "type"));
	put(HPC "events", many);
	good &= refused("enabled", "1", -EXDEV);
	/* events of software, and a tracepoint */
	put(HPC "events", "cycles=1:2 switches=1:3");
	good &= refused("enabled", "1", -EOPNOTSUPP);
	sprintf(many, "cycles=2:%lld", number(TRACING "events/sched/sched_switch/id"));
	put(HPC "events", many);
	good &= refused("enabled", "1", -EOPNOTSUPP);
	put(HPC "events", " ");
	good &= refused("enabled", "1", -ENODATA);
	return good;
}

static bool refuses_changes(void)
{
	bool good = begin("all");

	good &= refused("events", "cycles=1:1", -EBUSY) & refused("weights", "2", -EBUSY) &
		refused("mode", "user", -EBUSY) & refused("polling", "1", -EBUSY) &
		refused("slice_event", "insns 5000", -EBUSY);
	good &= is("again", put(HPC "enabled", "1"), 0);
	end();
	return good;
}

static bool packs(void)
{
	char groups[PAGE], *group, *word, *in_group, *in_word;
	int nr = 0, events = 0;
	bool good = begin("all");

	get(HPC "groups", groups, sizeof(groups));
	for (group = strtok_r(groups, "\n", &in_group); group;
	     group = strtok_r(NULL, "\n", &in_group), nr++)
		for (word = strtok_r(group, " ", &in_word); word;
		     word = strtok_r(NULL, " ", &in_word))
			events += !!strcmp(word, "cycles");
	/* 15 events besides cycles, 5 counters besides theirs */
	good &= is("groups", nr, 3) & is("events", events, 1 + CAUSES + SOURCES);
	get(HPC "uncounted", groups, sizeof(groups));
	good &= !strcmp(groups, "\n");
	end();
	return good;
}

/* Counting that cannot begin leaves the groups of what was counted before. */
static bool keeps_groups(void)
{
	char groups[PAGE], uncounted[PAGE], text[PAGE];
	bool good = begin("all");

	get(HPC "groups", groups, sizeof(groups));
	get(HPC "uncounted", uncounted, sizeof(uncounted));
	put(HPC "enabled", "0");
	good &= is("weights", put(HPC "weights", "64 64 64"), 0) &&
		refused("enabled", "1", -EINVAL);
	get(HPC "groups", text, sizeof(text));
	good &= *groups && !strcmp(text, groups);
	get(HPC "uncounted", text, sizeof(text));
	good &= !strcmp(text, uncounted);
	put(HPC "weights", " ");
	end();
	return good;
}

#define ROUNDS	2000

static bool breaks_down(void)
{
	unsigned int rounds = modelled_time() ? ROUNDS : ROUNDS / 4;
	struct parts truth, estimate;
	bool good;

	exact_parts(&truth, rounds);
	good = begin("user") && make_cgroup(CG) && works(CG, 0, rounds) && adds_up(CG);
	estimated_parts(&estimate, CG);
	compare_parts(&estimate, &truth);
	end();
	rmdir(CG);
	/* in host time a slice sees as much as the host has time for */
	return good && worst <= (modelled_time() ? 3 : 10);
}

static long long slices_of_work(void)
{
	long long before;

	begin("all");
	before = number(HPC "stats/slices");
	works(NULL, 0, ROUNDS / 4);
	end();
	return number(HPC "stats/slices") - before;
}

/*
 * The way back to user mode ends slices where there are calls of the kernel, and the timer does
 * where there are none.
 */
static bool polls(void)
{
	long long without = slices_of_work(), with, slices = number(HPC "stats/slices");
	long long polled = number(HPC "stats/polled");
	bool good = is("polled", polled, 0);

	good &= is("polling", put(HPC "polling", "1"), 0);
	program = work_and_call;
	good &= breaks_down();
	program = work;
	polled = number(HPC "stats/polled");
	slices = number(HPC "stats/slices") - slices;
	with = slices_of_work();
	good &= is("polling", put(HPC "polling", "0"), 0);
	ksft_print_msg("%lld of %lld slices ended without an interrupt; %lld and %lld without calls\n",
		       polled, slices, with, without);
	/* slices of kernel threads, of which a debug kernel has many, are the timer's */
	return good && polled * 2 >= slices && with * 10 >= without * 9;
}

/* Count in user mode, in slices of so many instructions. */
static bool begin_slices_of(const char *period)
{
	char events[PAGE], slice[32];
	bool good;

	all_events(events);
	good = is("events", put(HPC "events", events), 0) && is("mode", put(HPC "mode", "user"), 0);
	snprintf(slice, sizeof(slice), "insns %s", period);
	good = good && is("slice_event", put(HPC "slice_event", slice), 0);
	put(HPC "polling", "1");
	good = good && is("polling too", put(HPC "enabled", "1"), -EINVAL);
	put(HPC "polling", "0");
	return good && is("enabled", put(HPC "enabled", "1"), 0);
}

/*
 * A slice ends when that many instructions have been executed, which takes some 40 ms here. The PMU
 * tells of it when its ring is drained, at most 8 ms later. Without that slices are of 100 ms, so
 * there are fewer than half as many.
 */
#define SLICE_INSNS	3000000

static bool slices_by_event(void)
{
	static const char * const insns[] = { "insns" };
	uint64_t all;
	long long slices, want, stretched;
	char text[64];
	bool good;

	exact("", insns, 1, ROUNDS, &all);
	snprintf(text, sizeof(text), "%d", SLICE_INSNS);
	good = begin_slices_of(text) && make_cgroup(CG);
	slices = number(HPC "stats/slices");
	good = good && works(CG, 0, ROUNDS);
	slices = number(HPC "stats/slices") - slices;
	good &= adds_up(CG);
	end();
	want = all / SLICE_INSNS;
	ksft_print_msg("%llu instructions, %lld slices\n", (unsigned long long)all, slices);
	/* so many that the CPU would do nothing else: it still gets its work done */
	stretched = number(HPC "stats/stretched");
	good = good && begin_slices_of("1000") && works(CG, 0, ROUNDS / 8);
	stretched = number(HPC "stats/stretched") - stretched;
	end();
	rmdir(CG);
	get(HPC "slice_event", text, sizeof(text));
	ksft_print_msg("%lld slices wanted, %lld were stretched\n", want, stretched);
	return good && !strcmp(text, "\n") && want > 50 && slices >= want * 9 / 10 &&
	       slices <= want * 3 / 2;
}

/* Thesis, table 2.7. There from -13 to 132 percent in all */
static bool refines_by_source(void)
{
	return compare_sources() <= 10;
}

static long long all_cycles(const char *cg)
{
	return plain(cg, "cycles") + plain(cg, "pending");
}

/* Cgroups below have what theirs have, those above have it all, a new one has none. */
static bool nests(void)
{
	bool good = begin("all") && make_cgroup(CG);
	long long a, b;

	put(CG "/cgroup.subtree_control", "+cpu");
	good &= make_cgroup(CG "/a") && make_cgroup(CG "/b");
	good &= works(CG "/a", 0, 200) && works(CG "/b", 1, 400);
	a = all_cycles(CG "/a");
	b = all_cycles(CG "/b");
	good &= a > 0 && b > a && is("parent", all_cycles(CG), a + b) && all_cycles(ROOT) > a + b;
	good &= adds_up(CG) && adds_up(ROOT);
	good &= is("rmdir", rmdir(CG "/a"), 0) && make_cgroup(CG "/a") &&
		is("new", all_cycles(CG "/a"), 0);
	rmdir(CG "/a");
	rmdir(CG "/b");
	rmdir(CG);
	end();
	return good;
}

/* Answers each letter after a moment. */
static void answer(int from, int to, unsigned int letters)
{
	volatile uint64_t x = 1;
	char c;

	for (; letters && read(from, &c, 1) == 1; letters--) {
		x = phase(2, 20, x);
		if (write(to, &c, 1) != 1)
			_exit(1);
	}
	_exit(letters ? 1 : 0);
}

static pid_t player(const char *cg, int from, int to, int unused, unsigned int letters)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	close(unused);
	join(cg);
	run_on(0);
	answer(from, to, letters);
	return 0;
}

static bool all_is_known(const char *cg)
{
	char text[PAGE];

	read_cgroup(cg, "cpu.stalls", text);
	ksft_print_msg("%s: %lld cycles\n", cg, cell(text, "cycles", NULL));
	return is("unknown", cell(text, "unknown", NULL), 0) && cell(text, "cycles", NULL) > 0 &&
	       adds_up(cg);
}

/* Two tasks of two cgroups that take turns some hundred times in a slice, or more often */
static bool take_turns(const char *slice_us)
{
	int there[2], back[2], status = -1, i;
	bool good = begin("all") && make_cgroup(CG) && make_cgroup(CG "-2");
	long long lost = number(HPC "stats/lost");
	pid_t pid[2];

	if (pipe(there) || pipe(back))
		return false;
	good &= is("slice_us", put(HPC "slice_us", slice_us), 0);
	pid[0] = player(CG, there[0], back[1], there[1], 20000);
	pid[1] = player(CG "-2", back[0], there[1], back[1], 20000);
	good &= write(there[1], "x", 1) == 1;
	close(there[1]);
	close(back[1]);
	for (i = 0; i < 2; i++) {
		waitpid(pid[i], &status, 0);
		good &= is("exit status", status, 0);
	}
	good &= is("lost", number(HPC "stats/lost"), lost);
	close(there[0]);
	close(back[0]);
	return good;
}

static bool end_turns(void)
{
	end();
	return !rmdir(CG) & !rmdir(CG "-2");
}

/* A window in which pieces counted as slices do would be over before each group had its turn. */
static bool takes_turns(void)
{
	bool good = take_turns("20000");

	good &= all_is_known(CG) & all_is_known(CG "-2");
	return end_turns() && good;
}

/* A slice in which pieces are more than the ring has room for */
static bool takes_many_turns(void)
{
	bool good = take_turns("100000");

	return end_turns() && good;
}

/* Runs for a fifth of a slice, and sleeps for ten, again and again. */
static void nap(unsigned int rounds)
{
	volatile uint64_t x = 1;

	for (; rounds; rounds--) {
		x = phase(2, 1000, x);
		usleep(2000);
	}
}

/* On a CPU that goes idle before a slice is over slices end, and what they had is not left open. */
static bool sleeps_often(void)
{
	bool good = begin("all") && make_cgroup(CG);
	long long slices = number(HPC "stats/slices"), lost = number(HPC "stats/lost");
	unsigned int naps = 2000;

	good &= does(nap, CG, 1, naps);
	slices = number(HPC "stats/slices") - slices;
	ksft_print_msg("%lld slices, %lld cycles, and %lld pending\n", slices, plain(CG, "cycles"),
		       plain(CG, "pending"));
	good &= slices >= naps && is("lost", number(HPC "stats/lost"), lost) &&
		plain(CG, "cycles") > plain(CG, "pending");
	rmdir(CG);
	end();
	return good;
}

static void work_and_tell(unsigned int rounds)
{
	work(rounds);
	kill(getppid(), SIGUSR1);
	work(1000 * rounds);
}

/* What a task had in a slice that is not over when counting ends, is not lost. */
static bool ends_slices(void)
{
	bool good = begin("user") && make_cgroup(CG);
	sigset_t set;
	int tell, sig;
	pid_t pid;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	good &= is("slice_us", put(HPC "slice_us", "100000"), 0);
	pid = task_that(work_and_tell, CG, 1, 5, &tell);
	close(tell);
	sigwait(&set, &sig);
	put(HPC "enabled", "0");
	ksft_print_msg("%lld cycles\n", all_cycles(CG));
	good &= all_cycles(CG) > 5 * 4 * 5000;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	rmdir(CG);
	end();
	return good;
}

/* Many tasks that hardly live, and a cgroup that goes with pieces in the ring */
static bool outlives_tasks(void)
{
	bool good = begin("all") && make_cgroup(CG);
	long long pieces = number(HPC "stats/pieces");
	/* on a debug kernel, or where no time is modelled, a fork takes up to a second */
	int i, k, tell[50], rounds = modelled_time() && !slow() ? 20 : 2;

	for (i = 0; i < rounds; i++) {
		for (k = 0; k < 50; k++)
			task(CG, k % 2, 1, &tell[k]);
		for (k = 0; k < 50; k++)
			close(tell[k]);
		while (wait(NULL) > 0)
			;
	}
	good &= number(HPC "stats/pieces") >= pieces + 50 * rounds;
	good &= adds_up(CG) && is("lost", number(HPC "stats/lost"), 0);
	works(CG, 0, 10);
	good &= is("rmdir", rmdir(CG), 0);
	end();
	return good;
}

static bool survives_hotplug(void)
{
	bool good = begin("all") && make_cgroup(CG);
	int tell, i;
	pid_t pid;

	for (i = 0; i < 3; i++) {
		pid = task(CG, 1, 300, &tell);
		close(tell);
		good &= is("offline", put(CPU1, "0"), 0) && is("online", put(CPU1, "1"), 0);
		waitpid(pid, NULL, 0);
	}
	rmdir(CG);
	good &= make_cgroup(CG) && works(CG, 1, 300) && plain(CG, "cycles") > 300 * 4 * 5000;
	good &= is("CPUs that do not count", number(HPC "stats/offline"), 0);
	rmdir(CG);
	end();
	return good;
}

/* A user of perf who has all counters of a CPU keeps them, and we say that we missed them. */
static bool yields_to_others(void)
{
	bool good = begin("all") && make_cgroup(CG);
	long long missed = number(HPC "stats/missed");
	uint64_t count[6] = { };
	int fd[6], i;

	for (i = 0; i < 6; i++)
		fd[i] = open_event(event_nr("", "cycles"), -1, 0, PINNED);
	works(CG, 0, 200);
	for (i = 0; i < 6; i++) {
		good &= read(fd[i], &count[i], 8) == 8 && count[i] > 200 * 5000;
		close(fd[i]);
	}
	good &= number(HPC "stats/missed") > missed;
	missed = all_cycles(CG);
	good &= works(CG, 0, 200) && all_cycles(CG) > missed + 200 * 5000 && adds_up(CG);
	put(HPC "enabled", "0");
	for (i = 0; i < 6; i++)
		fd[i] = open_event(event_nr("", "cycles"), -1, 0, PINNED);
	good &= refused("enabled", "1", -EBUSY);
	for (i = 0; i < 6; i++)
		close(fd[i]);
	rmdir(CG);
	end();
	return good;
}

/* A slice is longer than slice_us where its end takes long. The longest ones never have to be. */
static bool leaves_time(void)
{
	bool good = begin("all");
	long long stretched = number(HPC "stats/stretched");

	put(HPC "slice_us", "20");
	good &= works(NULL, 0, 20) && number(HPC "stats/stretched") > stretched;
	/* once those that have begun are over */
	good &= is("slice_us", put(HPC "slice_us", "100000"), 0) && works(NULL, 0, 200);
	stretched = number(HPC "stats/stretched");
	good &= works(NULL, 0, 20) && is("stretched", number(HPC "stats/stretched"), stretched);
	end();
	return good;
}

/* Sum of a field in the trace of a cgroup's windows, or of a cause in these; or of its squares */
static double traced(const char *cg, const char *cause, const char *field, bool squares)
{
	FILE *f = fopen(TRACING "trace", "r");
	char line[512], of_cause[64], *at;
	unsigned long long id;
	struct stat st = { };
	double sum = 0, value;

	stat(cg, &st);
	snprintf(of_cause, sizeof(of_cause), " cause=%s ", cause ?: "");
	while (f && fgets(line, sizeof(line), f)) {
		at = strstr(line, cause ? " hpc_stall: cgroup=" : " hpc_window: cgroup=");
		if (!at || (cause && !strstr(at, of_cause)))
			continue;
		at = strchr(at, '=');
		id = strtoull(at + 1, &at, 10);
		at = strstr(at, field);
		if (id != st.st_ino || !at)
			continue;
		value = strtoll(strchr(at, '=') + 1, NULL, 10);
		sum += squares ? value * value : value;
	}
	if (f)
		fclose(f);
	return sum;
}

static bool traced_error(const char *cg, const char *text, const char *cause)
{
	double sum = sqrt(traced(cg, cause, " error=", true));
	long long error = bound_of(text, cause ?: "completion");

	ksft_print_msg("%s: error %lld, traced %.0f\n", cause ?: "completion", error, sum);
	/* each window's is rounded down */
	return error > 0 && sum <= error + 1 && sum >= 0.98 * error;
}

static bool traced_errors(const char *cg)
{
	char text[PAGE];

	read_cgroup(cg, "cpu.stalls", text);
	return traced_error(cg, text, NULL) & traced_error(cg, text, "d") &
	       traced_error(cg, text, "d.l3");
}

static bool traced_stall(const char *cg, const char *text, const char *cause)
{
	long long cycles = cell(text, cause, "cycles");

	return is(cause, traced(cg, cause, " cycles=", false), cycles < 0 ? 0 : cycles);
}

static bool traced_all(const char *cg)
{
	char text[PAGE], name[32];
	bool good = true;
	size_t i;

	read_cgroup(cg, "cpu.stalls", text);
	good &= is("cycles", traced(cg, NULL, " cycles=", false), cell(text, "cycles", NULL));
	good &= is("unknown", traced(cg, NULL, " unknown=", false), cell(text, "unknown", NULL));
	good &= is("completion", traced(cg, NULL, " completion=", false),
		   cell(text, "completion", "cycles"));
	for (i = 0; i < CAUSES; i++)
		good &= traced_stall(cg, text, causes[i]);
	for (i = 0; i < SOURCES; i++) {
		snprintf(name, sizeof(name), "d.%s", sources[i].name);
		good &= traced_stall(cg, text, name);
	}
	ksft_print_msg("%s: %lld cycles, %lld unknown\n", cg, cell(text, "cycles", NULL),
		       cell(text, "unknown", NULL));
	return good && cell(text, "cycles", NULL) > 0;
}

/* All accounts and the trace begin anew, in this order. */
static bool begin_traced(bool sources)
{
	char events[PAGE];
	int fd;
	bool good = begin("all");

	put(HPC "enabled", "0");
	all_events(events);
	if (!sources)
		*strstr(events, " source") = 0;
	good &= is("events", put(HPC "events", events), 0) &&
		is("trace", put(TRACING "events/hpc/enable", "1"), 0);
	fd = open(TRACING "trace", O_WRONLY | O_TRUNC);
	close(fd);
	return good && fd >= 0 && is("enabled", put(HPC "enabled", "1"), 0);
}

/* Windows of a cgroup and of the root have what their cpu.stalls have. */
static bool traces(bool unknown)
{
	bool good = begin_traced(!unknown) && make_cgroup(CG);
	/* takes a counter. There are no sources then, so it is a cause that lacks one */
	int fd = unknown ? open_event(event_nr("", "cycles"), -1, 0, PINNED) : -1;

	good &= works(CG, 0, 400);
	close(fd);
	/* no window is closed any more */
	put(HPC "enabled", "0");
	put(TRACING "events/hpc/enable", "0");
	good &= traced_all(CG) & traced_all(ROOT);
	if (unknown)
		good &= plain(CG, "unknown") > 0;
	else
		good &= traced_errors(CG) & traced_errors(ROOT);
	rmdir(CG);
	end();
	return good;
}

static bool traces_known(void)
{
	return traces(false);
}

static bool traces_unknown(void)
{
	return traces(true);
}

/* What reading a file gives that a user has opened, and root reads */
static int read_of_user(const char *path)
{
	char text[PAGE];
	int fd, ret;

	if (seteuid(65534))
		return 0;
	fd = open(path, O_RDONLY);
	if (fd < 0 || seteuid(0))
		return 0;
	ret = read(fd, text, sizeof(text)) < 0 ? -errno : 0;
	close(fd);
	return ret;
}

/* As perf_event_paranoid has it */
static bool is_private(void)
{
	bool good = make_cgroup(CG);
	char text[PAGE], before[16];
	int status = -1;
	pid_t pid;

	get(PARANOID, before, sizeof(before));
	put(PARANOID, "2");
	pid = fork();
	if (!pid) {
		if (read_of_user(CG "/cpu.stalls") != -EACCES || setuid(65534))
			_exit(1);
		_exit(get(CG "/cpu.stalls", text, sizeof(text)) != -EACCES ||
		      get(CG "/cpu.counters", text, sizeof(text)) != -EACCES);
	}
	waitpid(pid, &status, 0);
	rmdir(CG);
	put(PARANOID, before);
	return good && is("a user who reads it", status, 0);
}

static bool survives_lies(void)
{
	bool good = true;
	int i;

	for (i = 0; i < 10; i++) {
		good &= begin(i % 2 ? "user" : "all") && make_cgroup(CG) && works(CG, i % 2, 300) &&
			adds_up(CG) && adds_up(ROOT);
		put(HPC "enabled", "0");
		rmdir(CG);
	}
	survives_hotplug();
	end();
	return good;
}

/* Figures */

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static double takes(void)
{
	double from = now();

	works(NULL, 0, ROUNDS);
	return now() - from;
}

/* What the same work takes longer while it is looked at than it does without */
static void cost_of(const char *slice, double off)
{
	long long slices;
	double on;

	begin("all");
	put(HPC "slice_us", slice);
	slices = number(HPC "stats/slices");
	on = takes();
	slices = number(HPC "stats/slices") - slices;
	end();
	ksft_print_msg("slice_us %s: %.4f s, %.4f s without: %+.2f %%\n", slice, on, off,
		       (on / off - 1) * 100);
	ksft_print_msg("%lld slices, %.0f ns for each\n", slices, (on - off) / slices * 1e9);
}

static void error_of(const char *slice, const struct parts *truth)
{
	struct parts estimate;

	begin("user");
	make_cgroup(CG);
	put(HPC "slice_us", slice);
	ksft_print_msg("slice_us %s\n", slice);
	works(CG, 0, ROUNDS);
	estimated_parts(&estimate, CG);
	compare_parts(&estimate, truth);
	end();
	rmdir(CG);
}

/* Name all events there are, and count them. Return: their number */
static unsigned int begin_all(const char **name)
{
	char events[PAGE], *at = events;
	struct dirent *entry;
	DIR *dir = opendir(PMU "events");
	unsigned int nr = 0;

	at += sprintf(at, "cycles=%lld:1", number(PMU "type"));
	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.' && strcmp(entry->d_name, "cycles") && nr < 63) {
			name[nr] = strdup(entry->d_name);
			at += sprintf(at, " %s=%lld:%lld", name[nr], number(PMU "type"),
				      event_nr("", name[nr]));
			nr++;
		}
	closedir(dir);
	put(HPC "events", events);
	put(HPC "mode", "user");
	put(HPC "slice_us", "200");
	is("enabled", put(HPC "enabled", "1"), 0);
	return nr;
}

/* In percent */
static double error_of_one(const char *text, const char *name, uint64_t count)
{
	double error = count ? 100 * fabs((double)cell(text, name, "count") / count - 1) : 0;

	ksft_print_msg("%s: %lld +- %lld, counted %llu: %.1f %%\n", name,
		       cell(text, name, "count"), bound_of(text, name),
		       (unsigned long long)count, error);
	return error;
}

static unsigned int groups_now(void)
{
	char text[PAGE], *c;
	unsigned int groups = 0;

	get(HPC "groups", text, sizeof(text));
	for (c = text; *c; c++)
		groups += *c == '\n';
	return groups;
}

/* Several times as many events as there are counters */
static bool many(void)
{
	const char *name[64];
	unsigned int nr = begin_all(name), n = 0, i, k, groups = groups_now();
	char text[PAGE];
	uint64_t count[2];
	double sum = 0, error;

	make_cgroup(CG);
	works(CG, 0, ROUNDS);
	read_cgroup(CG, "cpu.counters", text);
	put(HPC "enabled", "0");
	for (i = 0; i < nr; i += 2) {
		exact("", name + i, nr - i < 2 ? 1 : 2, ROUNDS, count);
		for (k = i; k < nr && k < i + 2; k++) {
			error = error_of_one(text, name[k], count[k - i]);
			if (count[k - i] < 100000)
				continue;
			sum += error;
			n++;
		}
	}
	ksft_print_msg("%u groups; mean error of %u events with 100,000 counts: %.2f %%\n",
		       groups, n, n ? sum / n : 0);
	end();
	rmdir(CG);
	return n;
}

/* Cost and error of @program */
static void figures_of(const char *what)
{
	static const char * const slices[] = { "800", "360", "200" };
	/* an event elsewhere keeps the clock */
	int fd = open_event(event_nr("", "cycles"), -1, 3, PINNED);
	struct parts truth;
	double off;
	size_t i;

	ksft_print_msg("%s\n", what);
	/* the first time takes longer */
	takes();
	off = takes();
	for (i = 0; i < ARRAY_SIZE(slices); i++)
		cost_of(slices[i], off);
	close(fd);
	exact_parts(&truth, ROUNDS);
	for (i = 0; i < ARRAY_SIZE(slices); i++)
		error_of(slices[i], &truth);
}

static bool figures(void)
{
	figures_of("the timer ends slices");
	ksft_print_msg("by source: worst %.1f %%\n", compare_sources());
	program = work_and_call;
	figures_of("the timer ends slices, calls of the kernel");
	put(HPC "polling", "1");
	figures_of("polling, calls of the kernel");
	program = work;
	figures_of("polling");
	put(HPC "polling", "0");
	return true;
}

static void run(const char *name, bool (*test)(void))
{
	ksft_test_result(test(), "%s\n", name);
}

static void run_all(void)
{
	ksft_set_plan(20);
	run("nonsense is refused", refuses_nonsense);
	run("nothing changes while it counts", refuses_changes);
	run("as few groups as can be", packs);
	run("groups stay when counting cannot begin", keeps_groups);
	run("the breakdown is the PMU's", breaks_down);
	/* in host time slices are as many as the host has time for */
	if (modelled_time())
		run("the way back to user mode ends slices", polls);
	else
		ksft_test_result_skip("the way back to user mode ends slices (virtual time only)\n");
	if (modelled_time())
		run("slices of so many instructions", slices_by_event);
	else
		ksft_test_result_skip("slices of so many instructions (virtual time only)\n");
	if (modelled_time())
		run("stalls by source", refines_by_source);
	else
		ksft_test_result_skip("stalls by source (virtual time only)\n");
	run("nested cgroups", nests);
	/* in host time a slice sees as few turns as the host has time for */
	if (modelled_time())
		run("tasks that take turns all the time", takes_turns);
	else
		ksft_test_result_skip("tasks that take turns all the time (virtual time only)\n");
	if (modelled_time())
		run("turns that fill the ring in a slice", takes_many_turns);
	else
		ksft_test_result_skip("turns that fill the ring in a slice (virtual time only)\n");
	/* in host time the end of a slice may take longer than the task sleeps */
	if (modelled_time())
		run("a CPU that sleeps often", sleeps_often);
	else
		ksft_test_result_skip("a CPU that sleeps often (virtual time only)\n");
	run("a slice that is not over", ends_slices);
	run("tasks that exit", outlives_tasks);
	run("a CPU that goes offline", survives_hotplug);
	run("others have all counters", yields_to_others);
	run("a slice leaves time to the program", leaves_time);
	run("tracepoints tell what cpu.stalls does", traces_known);
	/* in host time perf's turns may leave none to cycles either, and then there is no window */
	if (modelled_time())
		run("tracepoints tell of unknown cycles", traces_unknown);
	else
		ksft_test_result_skip("tracepoints tell of unknown cycles (virtual time only)\n");
	run("a user who may not read it", is_private);
}

int main(int argc, char **argv)
{
	ksft_print_header();
	if (access(PMU "type", R_OK))
		ksft_exit_skip("no virtual PMU (lab run --vpmu)\n");
	if (access(HPC "enabled", W_OK))
		ksft_exit_skip("no logical counters (CONFIG_HPC), or not root\n");
	put(ROOT "cgroup.subtree_control", "+cpu");
	make_chain();
	run_on(2);
	if (argc > 1 && !strcmp(argv[1], "lies")) {
		ksft_set_plan(1);
		run("a device that lies", survives_lies);
	} else if (argc > 1 && !strcmp(argv[1], "figures")) {
		ksft_set_plan(1);
		run("figures", figures);
	} else if (argc > 1 && !strcmp(argv[1], "many")) {
		ksft_set_plan(1);
		run("many", many);
	} else {
		run_all();
	}
	ksft_finished();
}
