// SPDX-License-Identifier: GPL-2.0
/*
 * Threads that share data go to one chip, on the chips of the virtual PMU. Programs whose threads
 * know with whom they share run in a cgroup. What the kernel finds is compared with that, and
 * lines that come from another chip are counted before and after.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "../kselftest.h"

#define SYS	"/sys/kernel/taskcluster/"
#define PMU	"/sys/bus/event_source/devices/vpmu/"
#define CPU1	"/sys/devices/system/cpu/cpu1/online"
#define TRACING	"/sys/kernel/tracing/"
#define ROOT	"/tmp/taskcluster-cgroup"
#define CGROUP	ROOT "/taskcluster"
#define OTHER	ROOT "/other"
#define THREADS	4
#define BOARDS	2
#define ENTRIES	64
#define WORD_LINES	16	/* as many as a board has */
#define POLLS	300	/* of 20 ms, until something must have happened */
#define PART	50	/* of these, until threads that share are parted again */
#define TRIES	5	/* beginnings of a program whose places must last */

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

static const char *get(const char *file)
{
	static char text[4096];
	int fd = open(file, O_RDONLY), len;

	text[0] = 0;
	if (fd < 0)
		return text;
	len = read(fd, text, sizeof(text) - 1);
	text[len > 0 ? len : 0] = 0;
	if (len > 0 && text[len - 1] == '\n')
		text[len - 1] = 0;
	close(fd);
	return text;
}

static bool is(const char *file, const char *want)
{
	const char *got = get(file);
	bool same = !strcmp(got, want);

	if (!same)
		ksft_print_msg("%s: \"%s\", not \"%s\"\n", file, got, want);
	return same;
}

static bool gives(int want, const char *file, const char *text)
{
	int ret = put(file, text);

	if (ret != want)
		ksft_print_msg("\"%s\" to %s: %d, not %d\n", text, file, ret, want);
	return ret == want;
}

/* A number of cpu.cluster.stat, or -1 */
static long long stat_of(const char *name)
{
	const char *text = get(CGROUP "/cpu.cluster.stat");
	size_t len = strlen(name);

	for (; text; text = strchr(text, '\n') ? strchr(text, '\n') + 1 : NULL)
		if (!strncmp(text, name, len) && text[len] == ' ')
			return strtoll(text + len, NULL, 10);
	return -1;
}

static long long samples(void)
{
	return strtoll(get(SYS "stats/samples"), NULL, 10);
}

/*
 * Programs: threads, or processes, that add to boards. They begin with the threads of each board
 * on different chips, and stay there until part().
 */

struct board {
	uint64_t sum[ENTRIES][2];
} __attribute__((aligned(4096)));

struct shared {
	struct board board[BOARDS];
	pid_t tid[THREADS];
	volatile bool stop, wrong;
	int step;			/* of the threads that run; 0: all do */
	volatile unsigned int reads;	/* of its own that a thread does for each one that is shared; 0: 4 */
	volatile unsigned int run_us;	/* in DOZE_US, of threads that doze */
	/* for threads that do something else once they have homes */
	volatile bool settled;
	volatile int away;		/* a CPU of the chip that is not thread 0's */
	volatile unsigned int naps;	/* of thread 0 so far */
	volatile int woken_on;		/* CPU that the last one ended on */
};

static struct shared *shared;

static void stay_on(pid_t tid, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(tid, sizeof(set), &set);
}

static void go_anywhere(pid_t tid)
{
	cpu_set_t set;
	int cpu;

	CPU_ZERO(&set);
	for (cpu = 0; cpu < CPU_SETSIZE; cpu++)
		CPU_SET(cpu, &set);
	sched_setaffinity(tid, sizeof(set), &set);
}

/* Where thread id begins: 0 and 1 on one chip, 2 and 3 on the other one */
static int first_cpu(int id)
{
	return id * sysconf(_SC_NPROCESSORS_CONF) / THREADS;
}

static void play_until(int id, const volatile bool *end)
{
	static __thread char chunk[32768];
	struct board *b = &shared->board[id % BOARDS];
	uint32_t x = id * 77 + 12345, k;
	volatile char sum = 0;

	stay_on(0, first_cpu(id));
	shared->tid[id] = syscall(SYS_gettid);
	while (!*end) {
		x = x * 1664525 + 1013904223;
		__atomic_fetch_add(&b->sum[(x >> 8) % ENTRIES][0], 1, __ATOMIC_RELAXED);
		for (k = shared->reads ?: 4; k; k--) {
			x = x * 1664525 + 1013904223;
			sum += chunk[(x >> 8) % sizeof(chunk)];
		}
	}
}

static void play(int id)
{
	play_until(id, &shared->stop);
}

static void *play_thread(void *arg)
{
	play((long)arg);
	return NULL;
}

/* Two write what two others read, and read nothing of it: all that they ask for is permission. */
static void *write_or_read(void *arg)
{
	long id = (long)arg;
	struct board *b = &shared->board[id % BOARDS];
	uint32_t x = id * 77 + 12345;
	volatile uint64_t *slot;

	stay_on(0, first_cpu(id));
	shared->tid[id] = syscall(SYS_gettid);
	while (!shared->stop) {
		x = x * 1664525 + 1013904223;
		slot = &b->sum[(x >> 8) % ENTRIES][0];
		if (id < BOARDS)
			*slot = x;
		else
			(void)*slot;
	}
	return NULL;
}

/* Each adds to words of its own, which lie in the same lines. */
static void *add_to_words(void *arg)
{
	long id = (long)arg;
	uint32_t x = id * 77 + 12345;

	stay_on(0, first_cpu(id));
	shared->tid[id] = syscall(SYS_gettid);
	while (!shared->stop) {
		x = x * 1664525 + 1013904223;
		(*((volatile uint64_t *)shared->board + (x >> 8) % WORD_LINES * 8 + id))++;
	}
	return NULL;
}

static void run_all(void *(*run)(void *))
{
	pthread_t thread[THREADS];
	long i;

	for (i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, run, (void *)i);
	for (i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
}

static void run_threads(void)
{
	run_all(play_thread);
}

static void run_writers(void)
{
	run_all(write_or_read);
}

static void run_words(void)
{
	run_all(add_to_words);
}

static void run_processes(void)
{
	long i;

	for (i = 0; i < THREADS; i++)
		if (!fork()) {
			play(i);
			_exit(0);
		}
	while (wait(NULL) > 0)
		;
}

static void *end_soon(void *arg)
{
	struct board *b = &shared->board[(long)arg % BOARDS];
	int i;

	for (i = 0; i < 2000; i++)
		__atomic_fetch_add(&b->sum[i % ENTRIES][0], 1, __ATOMIC_RELAXED);
	return NULL;
}

/* Threads that live for a fraction of a round */
static void run_short(void)
{
	pthread_t thread[2 * THREADS];
	long i;

	while (!shared->stop) {
		for (i = 0; i < 2 * THREADS; i++)
			pthread_create(&thread[i], NULL, end_soon, (void *)i);
		for (i = 0; i < 2 * THREADS; i++)
			pthread_join(thread[i], NULL);
	}
}

static pid_t begin(void (*run)(void))
{
	pid_t pid;

	memset(shared, 0, sizeof(*shared));
	pid = fork();
	if (!pid) {
		put(CGROUP "/cgroup.procs", "0");
		run();
		_exit(0);
	}
	return pid;
}

static bool ended(pid_t pid)
{
	int status = -1;

	shared->stop = true;
	waitpid(pid, &status, 0);
	return !status;
}

/* What the kernel has found */

struct place {
	int cluster, chip;
};

static struct place place_of(pid_t tid)
{
	const char *text = get(CGROUP "/cpu.cluster.tasks");
	struct place p = { 0, -1 };
	int got, cluster, chip;

	for (; text && *text; text = strchr(text, '\n') ? strchr(text, '\n') + 1 : NULL)
		if (sscanf(text, "%d %d %d", &got, &cluster, &chip) == 3 && got == tid)
			p = (struct place){ cluster, chip };
	return p;
}

/* Are the threads of each board a cluster, on a chip of its own? */
static bool found(void)
{
	struct place p[THREADS];
	int i, k;

	for (i = 0; i < THREADS; i++) {
		p[i] = place_of(shared->tid[i]);
		if (!p[i].cluster || p[i].chip < 0)
			return false;
		for (k = 0; k < i; k++)
			if ((i % BOARDS == k % BOARDS) != (p[i].cluster == p[k].cluster) ||
			    (i % BOARDS == k % BOARDS) != (p[i].chip == p[k].chip))
				return false;
	}
	return true;
}

/* The same of threads 0 and 2, where no others run */
static bool pair_found(void)
{
	struct place a = place_of(shared->tid[0]), b = place_of(shared->tid[2]);

	return a.cluster && a.cluster == b.cluster && a.chip >= 0 && a.chip == b.chip;
}

/* A user who opens the file is shown no thread of root's, though root reads it. */
static bool is_private(const char *file)
{
	char text[64];
	int fd, len;

	if (seteuid(65534))
		return false;
	fd = open(file, O_RDONLY);
	if (seteuid(0) || fd < 0)
		return false;
	len = read(fd, text, sizeof(text));
	close(fd);
	return !len;
}

/* Nothing is known of any thread, and nothing was counted. */
static void begin_anew(void)
{
	char mode[16];

	snprintf(mode, sizeof(mode), "%s", get(CGROUP "/cpu.cluster"));
	put(CGROUP "/cpu.cluster", "none");
	put(CGROUP "/cpu.cluster", mode);
}

/*
 * Begin with the threads of each board on different chips, and nothing known of them. Then all may
 * go anywhere. The scheduler may bring those of a board together by chance before they have a place.
 * Then no line comes from another chip, and nothing is to be found: it takes another beginning.
 */
static void part(void)
{
	int i, k, step = shared->step ?: 1;

	for (i = 0; i < THREADS; i += step) {
		for (k = 0; k < POLLS && !shared->tid[i]; k++)
			usleep(20000);
		stay_on(shared->tid[i], first_cpu(i));
	}
	begin_anew();
	for (i = 0; i < THREADS; i += step)
		go_anywhere(shared->tid[i]);
}

static bool pair_is_home(void);
static bool pair_was_moved(void);
static bool undone_in_place(void);

/* Each line of a file, so that none is lost among what is no output of tests */
static void tell(const char *what, const char *file)
{
	char *line, *rest = (char *)get(file);

	while ((line = strsep(&rest, "\n")))
		ksft_print_msg("%s %s\n", what, line);
}

#define happens(what) comes_true(what, #what)

static bool comes_true(bool (*what)(void), const char *name)
{
	bool parts = what == found || what == pair_found || what == pair_is_home ||
		     what == pair_was_moved;
	int i;

	for (i = 0; i < POLLS; i++) {
		if (parts && i % PART == 0)
			part();
		if (what == undone_in_place && i % PART == PART - 1)
			begin_anew();
		if (what())
			return true;
		usleep(20000);
	}
	ksft_print_msg("never: %s\n", name);
	tell("state", SYS "state");
	tell("task", CGROUP "/cpu.cluster.tasks");
	tell("stat", CGROUP "/cpu.cluster.stat");
	tell("kept", SYS "stats/kept");
	tell("released", SYS "stats/released");
	return false;
}

/* Lines that come from another chip in a fifth of a second, while all goes on as it does */
static long long remote_lines(void)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .type = strtol(get(PMU "type"), NULL, 10), .config = 0x12,
		.exclude_kernel = 1,
	};
	long cpus = sysconf(_SC_NPROCESSORS_ONLN), i;
	long long sum = 0, value;
	int fd[64];

	for (i = 0; i < cpus; i++)
		fd[i] = syscall(SYS_perf_event_open, &attr, -1, i, -1, 0);
	usleep(200000);
	for (i = 0; i < cpus; i++) {
		if (fd[i] >= 0 && read(fd[i], &value, sizeof(value)) == sizeof(value))
			sum += value;
		close(fd[i]);
	}
	return sum;
}

/* The PMU counts what it was asked for. Sampling may end before somebody looks at the state. */
static bool is_watching(void)
{
	const char *state = get(SYS "state");

	return !strcmp(state, "armed") || !strcmp(state, "sampling");
}

static long long samples_before;

static bool has_sampled(void)
{
	return samples() > samples_before;
}

static bool is_sampling(void)
{
	return !strcmp(get(SYS "state"), "sampling");
}

static bool is_idle(void)
{
	return !strcmp(get(SYS "state"), "idle");
}

/* Tests */

/* What the kernel takes where there is this PMU: 120 cycles, and N CPUs have 1/N GHz each. */
static const char *event_of_lab(void)
{
	static char text[64];

	snprintf(text, sizeof(text), "vpmu:0x12,0x8:500@%ld", 120 * sysconf(_SC_NPROCESSORS_CONF));
	return text;
}

static bool test_defaults(void)
{
	return is(SYS "enabled", "0") && is(SYS "state", "off") && is(SYS "event", "none") &&
	       is(SYS "round_ms", "250") && is(SYS "sample_period", "500") &&
	       is(SYS "arm_percent", "5") && is(SYS "imbalance_pct", "25") &&
	       is(CGROUP "/cpu.cluster", "none");
}

static bool test_bad_input(void)
{
	bool good = true;

	good &= gives(-ERANGE, SYS "enabled", "2") && gives(-EINVAL, SYS "enabled", "on");
	good &= gives(-ERANGE, SYS "round_ms", "9") && gives(-ERANGE, SYS "round_ms", "60001");
	good &= gives(-ERANGE, SYS "sample_period", "15");
	good &= gives(-ERANGE, SYS "imbalance_pct", "101");
	good &= gives(-ERANGE, SYS "arm_percent", "101");
	good &= gives(-ENODEV, SYS "event", "no_such_pmu:1:500");
	good &= gives(-EINVAL, SYS "event", "vpmu:zz:500") && gives(-EINVAL, SYS "event", "vpmu:1");
	good &= gives(-EINVAL, SYS "event", ":1:500") && gives(-EINVAL, SYS "event", "a:1:500:2");
	good &= gives(-ERANGE, SYS "event", "vpmu:0x12:1");
	good &= gives(-EINVAL, SYS "event", "vpmu:1,2,3:500");
	good &= gives(-EINVAL, SYS "event", "vpmu:1,:500");
	good &= gives(-EINVAL, SYS "event", "vpmu:,1:500");
	good &= gives(-EINVAL, SYS "event", "vpmu:1:500@");
	good &= gives(-ERANGE, SYS "event", "vpmu:1:500@0");
	good &= gives(-ERANGE, SYS "event", "vpmu:1:500@100001");
	good &= gives(-EINVAL, SYS "event", "vpmu:1:500@1@1");
	good &= is(SYS "event", "none");
	good &= gives(-EINVAL, CGROUP "/cpu.cluster", "yes");
	return good && test_defaults();
}

/* What is said to be shared */

#define LINES	CGROUP "/cpu.cluster.lines"

struct lines {
	unsigned int nr_false, nr_atomic, nr_data;	/* by kind */
	unsigned int wrong;	/* not in memory that is shared, or with code that is none */
	const char *odd;	/* another kind than this is printed; NULL: none is */
};

/* @line is "GROUP ENTRY ADDRESS KIND CODE BY THREADS TID:SAMPLES:WORDS ...". */
static void add_line(struct lines *l, const char *line)
{
	extern const char __executable_start, etext;
	uint64_t addr, code;
	unsigned int threads;
	char kind[16];
	pid_t pid, by;

	if (sscanf(line, "%d %*u %lx %15s %lx %d %u", &pid, &addr, kind, &code, &by,
		   &threads) != 6) {
		l->wrong++;
		return;
	}
	/* other lines that they take are libc's and the kernel's doing */
	if (addr - (uint64_t)shared >= sizeof(*shared) || !strcmp(kind, "single"))
		return;
	if (l->odd && strcmp(kind, l->odd) && strcmp(kind, "unknown"))
		ksft_print_msg("%s", line);
	l->nr_false += !strcmp(kind, "false");
	l->nr_atomic += !strcmp(kind, "atomic");
	l->nr_data += !strcmp(kind, "data");
	l->wrong += code < (uint64_t)&__executable_start || code >= (uint64_t)&etext ||
		    addr % 64 || threads < 2 || threads > THREADS || kill(by, 0);
}

static struct lines lines_now(const char *kind)
{
	struct lines l = { .odd = kind };
	FILE *file = fopen(LINES, "r");
	char *line = NULL;
	size_t size = 0;

	while (file && getline(&line, &size, file) > 0)
		add_line(&l, line);
	if (file)
		fclose(file);
	free(line);
	return l;
}

static bool are(const char *what, unsigned int nr, unsigned int others)
{
	if (nr >= 8 && !others)
		return true;
	ksft_print_msg("%u lines are %s, %u are something else\n", nr, what, others);
	return false;
}

static bool has_lines(void)
{
	struct lines l = lines_now(NULL);

	return l.nr_false + l.nr_atomic + l.nr_data >= 8;
}

static bool lines_of(void (*run)(void), const char *kind, struct lines *l)
{
	bool good = gives(0, CGROUP "/cpu.cluster", "none") &&
		    gives(0, CGROUP "/cpu.cluster", "process");
	pid_t pid = begin(run);

	good &= happens(has_lines) && is_private(LINES);
	*l = lines_now(kind);
	if (l->wrong)
		ksft_print_msg("%u lines are wrong\n", l->wrong);
	return ended(pid) && good && !l->wrong;
}

/* Counters, words that are read and written, and words that nobody else uses */
static bool test_lines(void)
{
	struct lines l;
	bool good;

	good = lines_of(run_threads, "atomic", &l) && are("atomic", l.nr_atomic, l.nr_false + l.nr_data);
	good &= lines_of(run_writers, "data", &l) && are("data", l.nr_data, l.nr_false + l.nr_atomic);
	good &= lines_of(run_words, "false", &l) && are("false", l.nr_false, l.nr_atomic + l.nr_data);
	good &= gives(0, CGROUP "/cpu.cluster", "none");
	/* and with none there are none */
	return good && !*get(LINES);
}

/* Enabled, and no cgroup asks. */
static bool test_none(void)
{
	long long before;
	bool good;
	pid_t pid;

	good = gives(0, SYS "enabled", "1") && gives(0, SYS "round_ms", "50") && happens(is_idle);
	good &= is(SYS "event", event_of_lab());
	/* what few samples there are in a test are wanted */
	good &= gives(0, SYS "arm_percent", "0");
	before = samples();
	pid = begin(run_threads);
	usleep(300000);
	good &= samples() == before && is(SYS "state", "idle");
	return ended(pid) && good;
}

static bool test_threads(void)
{
	long long before, after;
	bool good;
	pid_t pid;

	pid = begin(run_threads);
	usleep(100000);
	before = remote_lines();
	good = gives(0, CGROUP "/cpu.cluster", "process") && happens(found) &&
	       is_private(CGROUP "/cpu.cluster.tasks");
	usleep(100000);
	after = remote_lines();
	ksft_print_msg("lines from another chip: %lld before, %lld after\n", before, after);
	ksft_print_msg("moves %lld, undone %lld\n", stat_of("moves"), stat_of("undone"));
	good &= after * 5 < before;
	/* and they stay */
	usleep(500000);
	good &= found() && stat_of("undone") == 0 && stat_of("moves") <= 3 * THREADS;
	return ended(pid) && good;
}

static bool no_threads(void)
{
	return stat_of("threads") == 0;
}

static bool test_forgotten(void)
{
	return happens(no_threads);
}

static bool test_off(void)
{
	pid_t pid = begin(run_threads);
	long long before;
	bool good = happens(found);

	good &= gives(0, SYS "enabled", "0") && is(SYS "state", "off");
	good &= !*get(CGROUP "/cpu.cluster.tasks");
	before = samples();
	usleep(300000);
	good &= samples() == before && is(CGROUP "/cpu.cluster", "process");
	return ended(pid) && good;
}

static bool test_processes(void)
{
	bool good = gives(0, CGROUP "/cpu.cluster", "cgroup") && gives(0, SYS "enabled", "1");
	pid_t pid = begin(run_processes);

	good &= happens(found);
	return ended(pid) && good;
}

#define ACROSS	100

static bool many_across(void)
{
	return stat_of("across") >= ACROSS;
}

/* With mode process nothing is found of processes that share, and it is said why. */
static bool test_across(void)
{
	long long before;
	bool good = gives(0, CGROUP "/cpu.cluster", "process");
	pid_t pid = begin(run_processes);

	good &= happens(many_across) && !stat_of("clustered");
	good &= ended(pid) && gives(0, CGROUP "/cpu.cluster", "none");
	/* threads of one process do not */
	good &= gives(0, CGROUP "/cpu.cluster", "process");
	before = samples();
	pid = begin(run_threads);
	good &= happens(found);
	ksft_print_msg("%lld across in %lld samples\n", stat_of("across"), samples() - before);
	good &= samples() - before >= ACROSS && stat_of("across") < ACROSS / 10;
	return ended(pid) && good;
}

static bool test_writers(void)
{
	bool good = gives(0, CGROUP "/cpu.cluster", "process");
	pid_t pid = begin(run_writers);

	good &= happens(found);
	return ended(pid) && good;
}

static bool test_short_threads(void)
{
	bool good = gives(0, CGROUP "/cpu.cluster", "process");
	pid_t pid = begin(run_short);

	usleep(500000);
	samples_before = samples();
	good &= happens(has_sampled);
	return ended(pid) && good;
}

static bool test_hotplug(void)
{
	pid_t pid = begin(run_threads);
	bool good = happens(found);
	int i;

	for (i = 0; i < 3; i++) {
		good &= gives(0, CPU1, "0");
		usleep(150000);
		good &= gives(0, CPU1, "1");
		usleep(150000);
	}
	good &= happens(is_watching);
	return ended(pid) && good;
}

static bool is_refused(void)
{
	return !strcmp(get(SYS "state"), "no samples");
}

static bool test_refused(void)
{
	bool good = gives(0, SYS "event", "vpmu:0x3f:500") && happens(is_refused);

	good &= gives(0, SYS "event", "vpmu:0x12,0x3f:500") && happens(is_refused);
	/* an access takes 100 ns where nobody says */
	good &= gives(0, SYS "event", "vpmu:0x12:500") && happens(is_watching) &&
		is(SYS "event", "vpmu:0x12:500@100");
	return gives(0, SYS "event", event_of_lab()) && happens(is_watching) &&
	       is(SYS "event", event_of_lab()) && good;
}

/* A cgroup that is removed asks no more. */
static bool test_removed(void)
{
	bool good = happens(is_watching) && !rmdir(CGROUP) && happens(is_idle);

	return gives(0, SYS "enabled", "0") && good;
}

/* Threads that sleep, and threads that have something else to run beside them */

#define NAPS	20
#define STAYS	25	/* looks of 20 ms at something that must not happen */

static int wake_pipe[2], end_pipe[2];

/* Sleep until the program ends. */
static void sleep_on(int fd)
{
	char c;

	while (read(fd, &c, 1) > 0)
		;
}

/*
 * Go to sleep on the chip that is not the home. The waker is there, too. So the scheduler has no
 * reason to choose a CPU of the home.
 */
static void nap(void)
{
	char c;

	for (;;) {
		stay_on(0, shared->away);
		go_anywhere(0);
		if (read(wake_pipe[0], &c, 1) <= 0)
			return;
		shared->woken_on = sched_getcpu();
		shared->naps++;
	}
}

static void *nap_thread(void *arg)
{
	long id = (long)arg;

	play_until(id, &shared->settled);
	if (!id)
		nap();
	sleep_on(end_pipe[0]);
	return NULL;
}

static void run_naps(void)
{
	close(wake_pipe[1]);
	close(end_pipe[1]);
	run_all(nap_thread);
}

static pid_t begin_piped(void (*run)(void))
{
	if (pipe(wake_pipe) || pipe(end_pipe))
		return -1;
	return begin(run);
}

static bool ended_piped(pid_t pid)
{
	close(wake_pipe[1]);
	close(end_pipe[1]);
	close(wake_pipe[0]);
	close(end_pipe[0]);
	return ended(pid);
}

/* What was counted before is forgotten. */
static bool switched_on(void)
{
	if (mkdir(CGROUP, 0755) && errno != EEXIST)
		return false;
	return gives(0, CGROUP "/cpu.cluster", "none") &&
	       gives(0, CGROUP "/cpu.cluster", "process") && gives(0, SYS "enabled", "1");
}

static long long count_of(const char *name)
{
	char file[64];

	snprintf(file, sizeof(file), SYS "stats/%s", name);
	return strtoll(get(file), NULL, 10);
}

/* State and CPU of thread @id of the program, as /proc tells */
static char state_of(int id, int *cpu)
{
	char file[64], state = 0;
	const char *text;

	snprintf(file, sizeof(file), "/proc/%d/stat", shared->tid[id]);
	text = strrchr(get(file), ')');
	*cpu = -1;
	if (text)
		sscanf(text + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d"
		       " %*d %*d %*d %*d %*u %*u %*d %*u %*u %*u %*u %*u %*u %*u %*u %*u"
		       " %*u %*u %*u %*u %*d %d", &state, cpu);
	return state;
}

/* The number of the socket: in the lab, what a chip is. */
static int socket_of(int cpu)
{
	char file[80];

	snprintf(file, sizeof(file), "/sys/devices/system/cpu/cpu%d/topology/physical_package_id",
		 cpu);
	return cpu < 0 ? -1 : strtol(get(file), NULL, 10);
}

static bool is_home(int id)
{
	int cpu;

	state_of(id, &cpu);
	return socket_of(cpu) == socket_of(place_of(shared->tid[id]).chip);
}

static bool sleeps(void)
{
	int cpu;

	return state_of(0, &cpu) == 'S';
}

static bool all_sleep(void)
{
	int i, cpu, nr = 0;

	for (i = 0; i < THREADS; i++)
		nr += state_of(i, &cpu) == 'S';
	return nr == THREADS;
}

/* How many naps of thread 0 end on the socket @want? The waker is where it sleeps. */
static int naps_ended_on(int want)
{
	unsigned int n;
	int i, k, nr = 0;

	stay_on(0, shared->away);
	for (i = 0; i < NAPS && happens(sleeps); i++) {
		n = shared->naps;
		if (write(wake_pipe[1], "w", 1) != 1)
			break;
		for (k = 0; k < 20 * POLLS && shared->naps == n; k++)
			usleep(1000);
		if (shared->naps == n)
			break;
		nr += socket_of(shared->woken_on) == want;
	}
	go_anywhere(0);
	return nr;
}

/*
 * Places are judged by what the time after them is like. If a thread is taken away or goes to sleep
 * in that time, they may be found to be of no use.
 */
static bool stays_true(bool (*what)(void), const char *name)
{
	int i;

	for (i = 0; i < TRIES && comes_true(what, name); i++) {
		usleep(500000);
		if (what())
			return true;
	}
	return false;
}

#define is_found_useful(what) stays_true(what, #what)

static bool test_wakeups(void)
{
	bool good = switched_on();
	pid_t pid = begin_piped(run_naps);
	long long before;
	int home, nr;

	good &= is_found_useful(found);
	home = socket_of(place_of(shared->tid[0]).chip);
	shared->away = place_of(shared->tid[1]).chip;
	shared->settled = true;
	good &= happens(all_sleep);
	before = count_of("woken");
	nr = naps_ended_on(home);
	ksft_print_msg("%d of %d wakeups at home, %lld undone\n", nr, NAPS, stat_of("undone"));
	good &= nr >= NAPS * 9 / 10 && count_of("woken") - before >= nr;
	/* without a mode there is no home */
	good &= gives(0, CGROUP "/cpu.cluster", "none") && happens(all_sleep);
	before = count_of("woken");
	nr = naps_ended_on(home);
	ksft_print_msg("%d of %d wakeups there without a home\n", nr, NAPS);
	good &= nr <= NAPS / 10 && count_of("woken") == before;
	return ended_piped(pid) && good;
}

/* Something that always runs on @cpu */
static pid_t begin_hog(int cpu)
{
	pid_t pid = fork();

	if (!pid) {
		stay_on(0, cpu);
		while (!shared->stop)
			;
		_exit(0);
	}
	return pid;
}

static bool board_is_split(void)
{
	return !is_home(0) || !is_home(2);
}

static bool all_are_home(void)
{
	int i, nr = 0;

	for (i = 0; i < THREADS; i++)
		nr += is_home(i);
	return nr == THREADS;
}

static bool stays_together(void)
{
	int i;

	for (i = 0; i < STAYS; i++) {
		if (board_is_split())
			return false;
		usleep(20000);
	}
	return true;
}

static long long kept, released;

static bool kept_more(void)
{
	return count_of("kept") >= kept + 3;
}

static bool released_more(void)
{
	return count_of("released") > released && !all_are_home();
}

/*
 * Four run on the chip of a board, two on the other one. That may be at 100 percent. At 25 some
 * must go.
 */
static bool test_full(void)
{
	bool good = switched_on();
	pid_t pid = begin(run_threads), hog[2];
	int chip, i;

	good &= is_found_useful(found) && gives(0, SYS "imbalance_pct", "100");
	chip = place_of(shared->tid[0]).chip;
	kept = count_of("kept");
	for (i = 0; i < 2; i++)
		hog[i] = begin_hog(chip + i);
	/* one of either board may have been taken away while the two began */
	good &= happens(kept_more) && happens(all_are_home) && stays_together();
	released = count_of("released");
	good &= gives(0, SYS "imbalance_pct", "25") && happens(released_more);
	good &= ended(pid);
	for (i = 0; i < 2; i++)
		waitpid(hog[i], NULL, 0);
	return good;
}

static bool is_pinned(void)
{
	return stat_of("pinned") > 0;
}

/* All stay on the CPUs that they begin on: one of each board has no home, being elsewhere. */
static bool test_pinned(void)
{
	bool good = switched_on();
	pid_t pid = begin(run_threads);
	int i, cpu, homeless = 0;

	good &= happens(is_pinned);
	for (i = 0; i < THREADS; i++) {
		state_of(i, &cpu);
		good &= cpu == i && place_of(shared->tid[i]).cluster;
		homeless += place_of(shared->tid[i]).chip < 0;
	}
	return ended(pid) && good && homeless == THREADS / 2 && !stat_of("moves");
}

/*
 * Threads that share with who is on the other chip, wherever they are: places cannot help. CPUs 0
 * and 2 are on two chips, and so are 1 and 3.
 */
static void *contrary_thread(void *arg)
{
	uint32_t x = (long)arg;
	struct board *b;

	stay_on(0, (long)arg);
	go_anywhere(0);
	shared->tid[(long)arg] = syscall(SYS_gettid);
	while (!shared->stop) {
		x = x * 1664525 + 1013904223;
		b = &shared->board[sched_getcpu() % BOARDS];
		__atomic_fetch_add(&b->sum[(x >> 8) % ENTRIES][0], 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static void run_contrary(void)
{
	run_all(contrary_thread);
}

static bool undone_twice(void)
{
	return stat_of("undone") >= 2;
}

/* Each time that it did not help the kernel waits longer: 4 rounds, then 8. */
static bool test_in_vain(void)
{
	bool good = switched_on();
	pid_t pid = begin(run_contrary);
	long long moves, rounds;

	good &= happens(undone_twice);
	moves = stat_of("moves");
	rounds = stat_of("rounds");
	usleep(5 * 50000);
	good &= stat_of("moves") == moves && stat_of("rounds") == rounds;
	ksft_print_msg("moves %lld in %lld rounds\n", moves, rounds);
	return ended(pid) && good;
}

static void add_to_board(int cpu)
{
	uint32_t x = cpu;

	stay_on(0, cpu);
	while (!shared->stop) {
		x = x * 1664525 + 1013904223;
		__atomic_fetch_add(&shared->board[0].sum[(x >> 8) % ENTRIES][0], 1, __ATOMIC_RELAXED);
	}
}

static void *near_thread(void *arg)
{
	shared->tid[(long)arg] = syscall(SYS_gettid);
	add_to_board((long)arg);
	return NULL;
}

/* CPUs 0 and 1 are one chip. */
static void run_near(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, near_thread, (void *)1L);
	near_thread((void *)0L);
	pthread_join(thread, NULL);
}

/* To the CPUs of the chip, and to one that has something else to run: they may leave, and do not. */
static void go_to_three(pid_t tid)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	CPU_SET(1, &set);
	CPU_SET(first_cpu(2), &set);
	sched_setaffinity(tid, sizeof(set), &set);
}

/*
 * One look compares two spans of time, in which the others may have had more of a CPU or less, and a
 * thread may have been on the other chip for a moment. Then it takes another beginning.
 */
static bool undone_in_place(void)
{
	return stat_of("undone") > 0 && place_of(shared->tid[0]).chip < 0 && !stat_of("moves");
}

/*
 * Two threads share, and run on one chip. Who else takes their lines is on the other chip, and in no
 * cgroup that asks. So a home where they are does no good, though nobody had to move.
 */
static bool test_confirmed(void)
{
	bool good = switched_on();
	pid_t pid = begin(run_near), other = fork();
	int i;

	if (!other) {
		add_to_board(first_cpu(2));
		_exit(0);
	}
	for (i = 0; i < 2; i++) {
		while (!shared->tid[i])
			usleep(1000);
		go_to_three(shared->tid[i]);
	}
	good &= happens(undone_in_place);
	good &= ended(pid);
	waitpid(other, NULL, 0);
	return good;
}

/* Lines of the trace with @what */
static long long traced(const char *what)
{
	FILE *f = fopen(TRACING "trace", "r");
	char line[512];
	long long nr = 0;

	while (f && fgets(line, sizeof(line), f))
		nr += !!strstr(line, what);
	if (f)
		fclose(f);
	return nr;
}

/* The trace has all that is counted. Both begin anew with the mode. */
static bool test_traced(void)
{
	bool good = gives(0, TRACING "events/taskcluster/enable", "1") && switched_on();
	int fd = open(TRACING "trace", O_WRONLY | O_TRUNC);
	pid_t pid = begin(run_contrary);

	close(fd);
	good &= fd >= 0 && happens(undone_twice);
	good &= ended(pid) && happens(no_threads);
	good &= gives(0, TRACING "events/taskcluster/enable", "0");
	good &= traced("taskcluster_round:") == stat_of("rounds");
	good &= traced("taskcluster_move:") == stat_of("moves");
	good &= traced("undone=1") == stat_of("undone");
	/* each of two places that were given up had a thread with a new home, which it left */
	good &= traced("taskcluster_home:") >= 4;
	ksft_print_msg("traced %lld rounds, %lld moves, %lld undone, %lld homes\n",
		       traced("taskcluster_round:"), traced("taskcluster_move:"),
		       traced("undone=1"), traced("taskcluster_home:"));
	return good;
}

static bool is_armed(void)
{
	return !strcmp(get(SYS "state"), "armed");
}

static bool armed_and_silent(void)
{
	long long before = samples();
	int i;

	for (i = 0; i < STAYS; i++) {
		if (!is_armed() || samples() != before)
			return false;
		usleep(20000);
	}
	return true;
}

/* Calls of functions that all CPUs were sent, as /proc/interrupts has them */
static long long calls(void)
{
	FILE *f = fopen("/proc/interrupts", "r");
	long long sum = 0, n;
	char line[4096], *at, *end;

	while (f && fgets(line, sizeof(line), f)) {
		at = strstr(line, "CAL:");
		if (!at)
			continue;
		for (at += 4; n = strtoll(at, &end, 10), end != at; at = end)
			sum += n;
	}
	if (f)
		fclose(f);
	return sum;
}

/* Counts are looked at 32 times in a second. Nobody is woken up for that. */
static bool test_asleep(void)
{
	bool good = switched_on() && happens(is_armed);
	long long before, seen;

	sleep(1);
	before = calls();
	sleep(2);
	seen = calls() - before;
	ksft_print_msg("%lld calls in 2 s, of %ld CPUs\n", seen, sysconf(_SC_NPROCESSORS_ONLN));
	return good && is_armed() && seen < 64;
}

/* The balancer may have parted threads for a moment: then it takes samples until they are back. */
static bool stays_found(void)
{
	return armed_and_silent() && found();
}

/* Few lines from other chips are not worth samples, before and after. */
static bool test_armed(void)
{
	bool good = gives(0, SYS "arm_percent", "100") && switched_on() && happens(is_armed);
	pid_t pid = begin(run_threads);

	good &= happens(armed_and_silent) && gives(0, SYS "arm_percent", "5") && happens(found);
	good &= happens(stays_found);
	return ended(pid) && good;
}

static bool all_in_clusters(void)
{
	int i, nr = 0;

	for (i = 0; i < THREADS; i++)
		nr += place_of(shared->tid[i]).cluster > 0;
	return nr == THREADS;
}

static bool sampled_once(void)
{
	return !is_sampling();
}

/*
 * The first samples of a thread tell with whom it shares. It stays on its CPU, so that its place
 * changes nothing.
 */
static bool test_first(void)
{
	bool good = gives(0, SYS "arm_percent", "1") && gives(0, SYS "round_ms", "1000") &&
		    switched_on();
	pid_t pid = begin(run_threads);

	good &= happens(is_sampling) && happens(sampled_once) && all_in_clusters();
	return ended(pid) && gives(0, SYS "round_ms", "50") && good;
}

/* Threads 0 and 2, which share a board and begin on different chips, and no other one */
static void run_pair(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, play_thread, (void *)0L);
	play(2);
	pthread_join(thread, NULL);
}

/* A line that both take is one that all take, and still tells that they share. */
static bool test_pair(void)
{
	bool good = gives(0, SYS "arm_percent", "5") && switched_on();
	pid_t pid = begin(run_pair);

	shared->step = 2;
	good &= happens(pair_found);
	return ended(pid) && good;
}

/* The samples of the pair so far are those before. */
static bool pair_is_silent(void)
{
	bool silent = happens(armed_and_silent);

	samples_before = samples();
	return silent;
}

/*
 * Of a CPU's time a fortieth or so goes to lines of the other chip. That is not worth samples, unless
 * an access takes longer than was thought, or less is thought to be worth them.
 */
static bool test_seldom(void)
{
	char slow[80];
	bool good = gives(0, SYS "arm_percent", "5") && switched_on();
	pid_t pid = begin(run_pair);

	shared->reads = 600;
	good &= pair_is_silent() && gives(0, SYS "arm_percent", "1") && happens(has_sampled);
	good &= gives(0, SYS "arm_percent", "5") && pair_is_silent();
	snprintf(slow, sizeof(slow), "%s0", event_of_lab());
	good &= gives(0, SYS "event", slow) && happens(has_sampled);
	return ended(pid) && gives(0, SYS "event", event_of_lab()) && good;
}

/* so long that what a debug kernel takes to wake somebody up is little */
#define DOZE_US	30000

/* Threads 0 and 2 sleep at the same time, for all but run_us of DOZE_US. */
static void *doze_thread(void *arg)
{
	long id = (long)arg, us;
	struct timespec now;
	unsigned int i;

	stay_on(0, first_cpu(id));
	while (!shared->stop) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		us = now.tv_nsec / 1000 % DOZE_US;
		if (us >= (long)shared->run_us)
			usleep(DOZE_US - us);
		/* so often that the clock, which may be a call, takes little of it */
		for (i = 0; i < 8 * ENTRIES; i++)
			__atomic_fetch_add(&shared->board[0].sum[i % ENTRIES][0], 1,
					   __ATOMIC_RELAXED);
	}
	return NULL;
}

static void run_dozing(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, doze_thread, (void *)0L);
	doze_thread((void *)2L);
	pthread_join(thread, NULL);
}

/* Time in which a CPU is idle does not count, unless it hardly runs: then there is little to gain. */
static bool test_dozing(void)
{
	bool good = gives(0, SYS "round_ms", "200") && gives(0, SYS "arm_percent", "40") &&
		    switched_on();
	pid_t pid = begin(run_dozing);

	shared->run_us = DOZE_US / 30;
	good &= pair_is_silent();
	shared->run_us = DOZE_US / 3;
	good &= happens(has_sampled);
	return ended(pid) && gives(0, SYS "round_ms", "50") && gives(0, SYS "arm_percent", "5") && good;
}

/* Threads 1 and 3 share with nobody. */
static void *alone_thread(void *arg)
{
	static __thread volatile uint64_t own[512];
	long id = (long)arg;
	unsigned int i = 0;

	if (id % 2 == 0)
		return play_thread(arg);
	stay_on(0, first_cpu(id));
	shared->tid[id] = syscall(SYS_gettid);
	while (!shared->stop)
		own[i++ % 512]++;
	return NULL;
}

static void run_alone(void)
{
	run_all(alone_thread);
}

static bool pair_is_home(void)
{
	return pair_found() && is_home(0) && is_home(2);
}

/*
 * Each CPU has a thread, so one of two that share must change places with one that does not. If it
 * were moved alone, its chip would have three and the other one one.
 */
static bool test_room(void)
{
	bool good = switched_on();
	pid_t pid = begin(run_alone);
	int chip, i, cpu, elsewhere = 0;

	good &= happens(pair_is_home);
	usleep(500000);
	good &= pair_is_home() && stat_of("undone") == 0;
	chip = socket_of(place_of(shared->tid[0]).chip);
	for (i = 1; i < THREADS; i += 2) {
		state_of(i, &cpu);
		elsewhere += socket_of(cpu) != chip;
	}
	ksft_print_msg("moves %lld\n", stat_of("moves"));
	good &= elsewhere == THREADS / 2 && stat_of("moves") <= THREADS;
	return ended(pid) && good;
}

/* A thread that is taken from its chip again and again is moved back more and more rarely. */
static bool test_taken(void)
{
	bool good = switched_on();
	pid_t pid = begin(run_pair);
	long long moves;
	int i, away;

	shared->step = 2;
	good &= is_found_useful(pair_found);
	moves = stat_of("moves");
	/* CPUs 0 and 2 are on two chips */
	away = socket_of(place_of(shared->tid[0]).chip) == socket_of(0) ? 2 : 0;
	/* not on the CPU that the thread is taken to: load balancing would bring it back */
	stay_on(0, away + 1);
	for (i = 0; i < 2 * STAYS; i++) {
		stay_on(shared->tid[0], away);
		go_anywhere(shared->tid[0]);
		usleep(20000);
	}
	go_anywhere(0);
	ksft_print_msg("moved back %lld times\n", stat_of("moves") - moves);
	good &= stat_of("moves") > moves && stat_of("moves") - moves <= STAYS / 2;
	return ended(pid) && good;
}

/* Groups that programs name */

/* Also where the kernel's headers are older */
#ifndef PR_SCHED_CLUSTER
#define PR_SCHED_CLUSTER		0x70617468
#define PR_SCHED_CLUSTER_GET		0
#define PR_SCHED_CLUSTER_CREATE		1
#define PR_SCHED_CLUSTER_SHARE_TO	2
#define PR_SCHED_CLUSTER_SHARE_FROM	3
#endif

enum scope { THREAD, PROCESS, PROCESS_GROUP };

static int name_group(unsigned int cmd, pid_t pid, enum scope scope, void *value)
{
	return prctl(PR_SCHED_CLUSTER, cmd, pid, scope, value) ? -errno : 0;
}

/* The number of its group, or 0 */
static uint64_t group_of(pid_t pid)
{
	uint64_t group = 0;

	name_group(PR_SCHED_CLUSTER_GET, pid, THREAD, &group);
	return group;
}

static bool answers(int want, unsigned int cmd, pid_t pid, enum scope scope, void *value)
{
	int ret = name_group(cmd, pid, scope, value);

	if (ret != want)
		ksft_print_msg("command %u, pid %d, scope %d: %d, not %d\n", cmd, pid, scope, ret,
			       want);
	return ret == want;
}

static bool as_nobody(void)
{
	int status = -1;
	pid_t pid = fork();

	if (!pid)
		_exit(setuid(65534) ||
		      !answers(-EPERM, PR_SCHED_CLUSTER_CREATE, getppid(), THREAD, NULL) ||
		      !answers(-EPERM, PR_SCHED_CLUSTER_CREATE, getppid(), PROCESS, NULL) ||
		      !answers(-EPERM, PR_SCHED_CLUSTER_SHARE_FROM, getppid(), THREAD, NULL));
	waitpid(pid, &status, 0);
	return !status;
}

static bool test_bad_calls(void)
{
	uint64_t value[2] = { };
	bool good = true;

	good &= answers(-EINVAL, 4, 0, THREAD, NULL);
	good &= answers(-EINVAL, PR_SCHED_CLUSTER_CREATE, -1, THREAD, NULL);
	good &= answers(-EINVAL, PR_SCHED_CLUSTER_CREATE, 0, PROCESS_GROUP + 1, NULL);
	good &= answers(-EINVAL, PR_SCHED_CLUSTER_CREATE, 0, THREAD, value);
	good &= answers(-EINVAL, PR_SCHED_CLUSTER_GET, 0, PROCESS, value);
	good &= answers(-EINVAL, PR_SCHED_CLUSTER_GET, 0, THREAD, (char *)value + 1);
	good &= answers(-EFAULT, PR_SCHED_CLUSTER_GET, 0, THREAD, NULL);
	good &= answers(-EINVAL, PR_SCHED_CLUSTER_SHARE_FROM, 0, PROCESS, NULL);
	good &= answers(-ESRCH, PR_SCHED_CLUSTER_CREATE, 0x3fffffff, THREAD, NULL);
	good &= as_nobody();
	return good && !group_of(0) && !value[0] && !value[1];
}

static void *ask_group(void *value)
{
	*(uint64_t *)value = group_of(0);
	return NULL;
}

/* In a process of its own: a group lasts as long as a thread of it */
static bool shares_groups(void)
{
	uint64_t own, inherited = 0;
	pthread_t thread;
	bool good = answers(0, PR_SCHED_CLUSTER_CREATE, 0, PROCESS, NULL);
	int status = -1;
	pid_t pid;

	own = group_of(0);
	pthread_create(&thread, NULL, ask_group, &inherited);
	pthread_join(thread, NULL);
	good &= own && inherited == own;
	pid = fork();
	if (!pid) {
		good &= group_of(0) == own;
		good &= answers(0, PR_SCHED_CLUSTER_CREATE, 0, THREAD, NULL);
		good &= group_of(0) && group_of(0) != own;
		good &= answers(0, PR_SCHED_CLUSTER_SHARE_TO, getppid(), PROCESS, NULL);
		_exit(!good);
	}
	waitpid(pid, &status, 0);
	good &= !status && group_of(0) && group_of(0) != own;
	/* the parent is in none */
	good &= answers(0, PR_SCHED_CLUSTER_SHARE_FROM, getppid(), THREAD, NULL);
	return good && !group_of(0);
}

static bool test_groups(void)
{
	int status = -1;
	pid_t pid = fork();

	if (!pid)
		_exit(!shares_groups());
	waitpid(pid, &status, 0);
	return !status && !group_of(0);
}

/* The threads of each board are a group. The first one of a board begins it. */
static void *named_thread(void *arg)
{
	long id = (long)arg;

	if (id < BOARDS) {
		name_group(PR_SCHED_CLUSTER_CREATE, 0, THREAD, NULL);
	} else {
		while (!shared->tid[id % BOARDS])
			usleep(1000);
		name_group(PR_SCHED_CLUSTER_SHARE_FROM, shared->tid[id % BOARDS], THREAD, NULL);
	}
	return play_thread(arg);
}

static void run_named(void)
{
	run_all(named_thread);
}

static bool named_are_home(void)
{
	int i, nr = 0;

	for (i = 0; i < THREADS; i++)
		nr += is_home(i);
	return nr == THREADS && found();
}

static bool all_have_left(void)
{
	struct place p;
	int i, left = 0;

	for (i = 0; i < THREADS; i++) {
		p = place_of(shared->tid[i]);
		left += !p.cluster && p.chip < 0;
	}
	return left == THREADS;
}

/* What a program says needs no sample, holds when the mode comes later, and is taken back. */
static bool test_named(void)
{
	bool good = switched_on() && gives(0, SYS "arm_percent", "100");
	long long before = samples();
	pid_t pid = begin(run_named);
	int i;

	good &= happens(found) && happens(named_are_home) && samples() == before;
	good &= stat_of("clusters") == BOARDS && stat_of("clustered") == THREADS;
	good &= stat_of("rounds") == 0 && stat_of("undone") == 0;
	for (i = 0; i < THREADS; i++)
		good &= answers(0, PR_SCHED_CLUSTER_SHARE_TO, shared->tid[i], THREAD, NULL);
	good &= happens(all_have_left);
	return ended(pid) && gives(0, SYS "arm_percent", "5") && good;
}

/* Threads 0 and 1 are named a group, and each of them shares with another one. */
static void *wrongly_named_thread(void *arg)
{
	long id = (long)arg;

	while (id == 1 && !shared->tid[0])
		usleep(1000);
	if (id == 0)
		name_group(PR_SCHED_CLUSTER_CREATE, 0, THREAD, NULL);
	if (id == 1)
		name_group(PR_SCHED_CLUSTER_SHARE_FROM, shared->tid[0], THREAD, NULL);
	return play_thread(arg);
}

static void run_wrongly_named(void)
{
	run_all(wrongly_named_thread);
}

static bool looked_twice(void)
{
	return stat_of("rounds") >= 2;
}

/* What a program says is believed, and what samples say of its threads is not. */
static bool test_believed(void)
{
	bool good = switched_on();
	pid_t pid = begin(run_wrongly_named);
	struct place a, b;

	good &= happens(looked_twice);
	a = place_of(shared->tid[0]);
	b = place_of(shared->tid[1]);
	good &= a.cluster == (int)group_of(shared->tid[0]) && a.cluster && a.chip >= 0;
	good &= a.cluster == b.cluster && a.chip == b.chip;
	good &= !place_of(shared->tid[2]).cluster && !place_of(shared->tid[3]).cluster;
	good &= stat_of("undone") == 0;
	return ended(pid) && good;
}

/* Threads 0 and 2 are a group. */
static void run_named_pair(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, named_thread, (void *)0L);
	named_thread((void *)2L);
	pthread_join(thread, NULL);
}

static bool pair_has_begun(void)
{
	return shared->tid[0] && shared->tid[2];
}

static void let_pair_go(void)
{
	/* 0 is who asks, and may go anywhere already */
	go_anywhere(shared->tid[0]);
	go_anywhere(shared->tid[2]);
}

static bool pair_has_home(void)
{
	struct place a = place_of(shared->tid[0]), b = place_of(shared->tid[2]);

	return a.chip >= 0 && a.chip == b.chip;
}

/* The number at @nr in /proc/PID/schedstat */
static long long schedstat_of(pid_t pid, int nr)
{
	long long value[3] = { };
	char file[64];

	snprintf(file, sizeof(file), "/proc/%d/schedstat", pid);
	sscanf(get(file), "%lld %lld %lld", &value[0], &value[1], &value[2]);
	return value[nr];
}

static long long now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* Has neither thread of the pair waited for the other one, for half a second? */
static bool pair_runs(void)
{
	long long began = now_ns(), a, b, took;

	a = schedstat_of(shared->tid[0], 0);
	b = schedstat_of(shared->tid[2], 0);
	usleep(500000);
	took = now_ns() - began;
	a = schedstat_of(shared->tid[0], 0) - a;
	b = schedstat_of(shared->tid[2], 0) - b;
	return a > took / 10 * 8 && b > took / 10 * 8;
}

/* Where a thread may not run is no room for it: there is one CPU for two, and another is idle. */
static bool test_confined(void)
{
	bool good = switched_on() && gives(0, SYS "arm_percent", "100");
	pid_t pid = begin(run_named_pair);
	cpu_set_t set;
	int i;

	CPU_ZERO(&set);
	CPU_SET(first_cpu(0), &set);
	CPU_SET(first_cpu(2), &set);
	good &= happens(pair_has_begun);
	for (i = 0; i < THREADS && good; i += 2)
		sched_setaffinity(shared->tid[i], sizeof(set), &set);
	good &= happens(pair_has_home);
	/* several rounds of moves, then several of rest */
	usleep(500000);
	for (i = 0; i < 4; i++)
		good &= pair_runs();
	return ended(pid) && gives(0, SYS "arm_percent", "5") && good;
}

static bool pair_stays_home(void)
{
	return pair_has_home() && is_home(0) && is_home(2);
}

/* How often tasks that move others have run: one for each CPU */
static long long stops(void)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	long long sum = 0;
	char file[300];

	while (proc && (entry = readdir(proc))) {
		snprintf(file, sizeof(file), "/proc/%s/comm", entry->d_name);
		if (!strncmp(get(file), "migration/", 10))
			sum += schedstat_of(atoi(entry->d_name), 2);
	}
	if (proc)
		closedir(proc);
	return sum;
}

/*
 * Load balancing that does not get threads stops trying: to be moved, one that runs is stopped. It
 * gets one where somebody else wants to run for a moment, and then another second is looked at.
 */
static bool test_not_stopped(void)
{
	bool good = switched_on() && gives(0, SYS "arm_percent", "100");
	pid_t pid = begin(run_named_pair);
	long long before, after = 0;
	int i;

	good &= happens(pair_has_begun);
	let_pair_go();
	for (i = 0; i < TRIES; i++) {
		good &= happens(pair_stays_home);
		before = stops();
		usleep(1000000);
		after = stops() - before;
		if (pair_stays_home())
			break;
	}
	ksft_print_msg("%lld stops\n", after);
	good &= i < TRIES && after < 10;
	return ended(pid) && gives(0, SYS "arm_percent", "5") && good;
}

/* Programs that name groups need no PMU. */
static bool test_named_without_samples(void)
{
	bool good = gives(0, SYS "event", "vpmu:0x3f:500") && switched_on();
	pid_t pid = begin(run_named);

	good &= happens(is_refused) && happens(found) && happens(named_are_home);
	usleep(500000);
	good &= is_refused() && found() && stat_of("moves") <= 2 * THREADS;
	good &= ended(pid);
	return gives(0, SYS "event", event_of_lab()) && happens(is_watching) && good;
}

/* A process of each board executes another program when it is told to. */
static void run_execs(void)
{
	long i;

	for (i = 0; i < THREADS; i++)
		if (!fork()) {
			play_until(i, i < BOARDS ? &shared->settled : &shared->stop);
			if (i < BOARDS)
				execlp("sleep", "sleep", "1000", NULL);
			_exit(0);
		}
	while (wait(NULL) > 0)
		;
}

static bool execs_are_forgotten(void)
{
	struct place a = place_of(shared->tid[0]), b = place_of(shared->tid[1]);

	return !a.cluster && !b.cluster && a.chip < 0 && b.chip < 0;
}

/* What was found of a program says nothing of the next one. */
static bool test_exec(void)
{
	bool good = switched_on() && gives(0, CGROUP "/cpu.cluster", "cgroup");
	pid_t pid = begin(run_execs);
	int i;

	good &= happens(found);
	shared->settled = true;
	good &= happens(execs_are_forgotten);
	for (i = 0; i < BOARDS; i++)
		if (shared->tid[i])
			kill(shared->tid[i], SIGKILL);
	return ended(pid) && good;
}

/* Rounds are for all. Who owns a cgroup may write as often as he likes, and begins none. */
static bool test_writer(void)
{
	bool good = gives(0, SYS "enabled", "0") && gives(0, SYS "round_ms", "60000");
	int i;

	good &= gives(0, CGROUP "/cpu.cluster", "none") && gives(0, SYS "enabled", "1");
	/* the round that this begins */
	usleep(100000);
	for (i = 0; i < 100; i++) {
		good &= gives(0, CGROUP "/cpu.cluster", "none");
		good &= gives(0, CGROUP "/cpu.cluster", "process");
		usleep(10000);
	}
	good &= is_idle() && gives(0, SYS "round_ms", "50");
	return gives(0, SYS "enabled", "0") && gives(0, SYS "enabled", "1") &&
	       happens(is_watching) && good;
}

/* A cgroup that loses its files asks no more, and begins anew when it has them again. */
static bool test_lost_controller(void)
{
	bool good = switched_on() && happens(is_watching);

	good &= gives(0, ROOT "/cgroup.subtree_control", "-cpu") && happens(is_idle);
	good &= gives(0, ROOT "/cgroup.subtree_control", "+cpu");
	return is(CGROUP "/cpu.cluster", "none") && good;
}

/* Function calls that CPU @cpu was asked for by others */
static long long calls_of(int cpu)
{
	FILE *f = fopen("/proc/interrupts", "r");
	long long value = -1;
	char line[1024], *at;
	int i, len;

	while (f && fgets(line, sizeof(line), f)) {
		at = strstr(line, "CAL:");
		if (!at)
			continue;
		for (at += 4, i = 0; i <= cpu && sscanf(at, "%lld%n", &value, &len) == 1; i++)
			at += len;
	}
	if (f)
		fclose(f);
	return value;
}

static long long calls_in_a_second(int cpu)
{
	long long before = calls_of(cpu);

	usleep(1000000);
	return calls_of(cpu) - before;
}

/* A CPU that is isolated is not interrupted for threads of other CPUs. */
static bool test_isolated(void)
{
	int cpu = sysconf(_SC_NPROCESSORS_CONF) - 1;
	bool good = switched_on();
	long long watched, other;
	pid_t pid, hog;
	char text[16];

	snprintf(text, sizeof(text), "%d", cpu);
	good &= gives(0, ROOT "/cgroup.subtree_control", "+cpuset") && !mkdir(OTHER, 0755);
	good &= gives(0, OTHER "/cpuset.cpus", text);
	good &= gives(0, OTHER "/cpuset.cpus.partition", "isolated");
	memset(shared, 0, sizeof(*shared));
	hog = begin_hog(cpu);
	snprintf(text, sizeof(text), "%d", hog);
	good &= gives(0, OTHER "/cgroup.procs", text);
	pid = fork();
	if (!pid) {
		put(CGROUP "/cgroup.procs", "0");
		run_pair();
		_exit(0);
	}
	good &= happens(is_watching);
	usleep(200000);
	good &= gives(0, SYS "round_ms", "10");
	watched = calls_in_a_second(cpu);
	good &= gives(0, SYS "round_ms", "50") && gives(0, SYS "enabled", "0");
	other = calls_in_a_second(cpu);
	ksft_print_msg("%lld calls, %lld when switched off\n", watched, other);
	good &= gives(0, SYS "enabled", "1") && other >= 0 && watched < other + 50;
	good &= ended(pid);
	waitpid(hog, NULL, 0);
	good &= !rmdir(OTHER);
	return gives(0, ROOT "/cgroup.subtree_control", "-cpuset") && good;
}

#define FULL	(16 << 20)	/* bytes, of a cgroup that has no room */
#define SLEEPERS	80	/* threads in it */

static void *sleep_thread(void *arg)
{
	sleep_on(end_pipe[0]);
	return NULL;
}

/* Touches pages until none is left that could be charged. Page tables are there already. */
static char *fill_memory(char *p)
{
	int fd = open(OTHER "/memory.current", O_RDONLY);
	char text[32] = "";

	for (; pread(fd, text, sizeof(text) - 1, 0) > 0 && atoi(text) < FULL; p += 4096)
		*p = 1;
	close(fd);
	return p;
}

/* Nothing of its memory can be reclaimed, for there is no swap, until it is told that all can. */
static void run_full(void)
{
	char *p = mmap(NULL, FULL, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_t thread;
	char *rest;
	int i;

	memset(p, 1, FULL);
	madvise(p, FULL, MADV_DONTNEED);
	close(end_pipe[1]);
	put(OTHER "/cgroup.procs", "0");
	for (i = 0; i < SLEEPERS; i++)
		pthread_create(&thread, NULL, sleep_thread, NULL);
	/* each CPU keeps some that was charged and is not used; less than it wants is not kept */
	stay_on(0, 0);
	rest = fill_memory(p);
	put(OTHER "/memory.high", "1");
	put(OTHER "/memory.high", "max");
	fill_memory(rest);
	shared->away = 1;
	while (!shared->settled)
		usleep(1000);
	madvise(p, FULL, MADV_FREE);
	sleep_on(end_pipe[0]);
}

static bool is_full(void)
{
	return shared->away;
}

static bool sleepers_are_met(void)
{
	long threads = -1;

	sscanf(get(OTHER "/cpu.cluster.stat"), "threads %ld", &threads);
	return threads >= SLEEPERS;
}

/* Threads of a cgroup that has no memory left are met when it has. Others do not wait for that. */
static bool test_no_memory(void)
{
	bool good = gives(0, ROOT "/cgroup.subtree_control", "+memory") && !mkdir(OTHER, 0755);
	long long before = count_of("nomem");
	pid_t pid, full;
	char text[16];

	snprintf(text, sizeof(text), "%d", FULL);
	good &= gives(0, OTHER "/memory.max", text) && gives(0, OTHER "/cpu.cluster", "process");
	good &= switched_on() && gives(0, SYS "arm_percent", "100");
	full = begin_piped(run_full);
	good &= happens(is_full) && answers(0, PR_SCHED_CLUSTER_CREATE, full, PROCESS, NULL);
	pid = fork();
	if (!pid) {
		put(CGROUP "/cgroup.procs", "0");
		run_named_pair();
		_exit(0);
	}
	good &= happens(pair_has_begun);
	let_pair_go();
	good &= happens(pair_has_home);
	good &= !sleepers_are_met() && count_of("nomem") > before;
	shared->settled = true;
	good &= happens(sleepers_are_met);
	good &= ended(pid) && ended_piped(full);
	good &= !rmdir(OTHER);
	good &= gives(0, ROOT "/cgroup.subtree_control", "-memory");
	return gives(0, SYS "arm_percent", "5") && good;
}

/* The number of a core in its socket */
static int core_of(int cpu)
{
	char file[80];

	snprintf(file, sizeof(file), "/sys/devices/system/cpu/cpu%d/topology/core_id", cpu);
	return strtol(get(file), NULL, 10);
}

/* Sets the pid of the last move in the trace, and returns the CPU it went to, or -1. */
static int last_move(pid_t *pid)
{
	FILE *f = fopen(TRACING "trace", "r");
	char line[512], *move;
	int to = -1;

	while (f && fgets(line, sizeof(line), f)) {
		move = strstr(line, "taskcluster_move:");
		if (move)
			sscanf(move, "taskcluster_move: cgroup=%*u pid=%d from=%*d to=%d", pid, &to);
	}
	if (f)
		fclose(f);
	return to;
}

/* A pair that the scheduler has brought together by chance is at home, too. */
static bool pair_was_moved(void)
{
	pid_t moved;

	return pair_is_home() && last_move(&moved) >= 0;
}

/* A thread goes to an idle core of the chip, not beside the one that it shares with. */
static bool test_siblings(void)
{
	bool good = gives(0, TRACING "events/taskcluster/enable", "1") && switched_on();
	pid_t pid = begin(run_pair), moved = 0;
	int to, other;

	/* who looks on takes a core as well, so not on the chip that is chosen if both are as full */
	stay_on(0, sysconf(_SC_NPROCESSORS_ONLN) - 1);
	shared->step = 2;
	good &= happens(pair_was_moved);
	go_anywhere(0);
	to = last_move(&moved);
	state_of(moved == shared->tid[0] ? 2 : 0, &other);
	ksft_print_msg("moved to CPU %d, the other one is on %d\n", to, other);
	good &= to >= 0 && socket_of(to) == socket_of(other) && core_of(to) != core_of(other);
	good &= gives(0, TRACING "events/taskcluster/enable", "0");
	return ended(pid) && good;
}

/* Is more than one CPU of a chip left, if one is isolated? */
static bool have_many(void)
{
	return sysconf(_SC_NPROCESSORS_CONF) >= 8;
}

/* Has a core more than one CPU? */
static bool have_siblings(void)
{
	return strpbrk(get("/sys/devices/system/cpu/cpu0/topology/thread_siblings_list"), ",-");
}

static const struct {
	const char *name;
	bool (*run)(void);
	bool (*can_run)(void);	/* NULL: anywhere */
} tests[] = {
	{ "off, and no cgroup asks", test_defaults },
	{ "bad input is refused and changes nothing", test_bad_input },
	{ "nothing happens with none", test_none },
	{ "threads of a board are a cluster on one chip, and lines stay there", test_threads },
	{ "threads that have ended are forgotten", test_forgotten },
	{ "switched off, nothing is left", test_off },
	{ "processes that share memory", test_processes },
	{ "processes that share, and are looked at alone", test_across },
	{ "some write what others read", test_writers },
	{ "lines that are shared, and for what", test_lines },
	{ "threads that end within a round", test_short_threads },
	{ "CPUs that go and come", test_hotplug },
	{ "an event that the PMU refuses, and another one", test_refused },
	{ "a cgroup that is removed", test_removed },
	{ "threads that sleep wake up at home", test_wakeups },
	{ "a chip gives threads away when it is full, not before", test_full },
	{ "threads that are pinned stay", test_pinned },
	{ "places that do not help are given up", test_in_vain },
	{ "so are those where threads are already", test_confirmed },
	{ "tracepoints tell of rounds, homes, moves, and what was given up", test_traced },
	{ "what is rare is counted, not sampled", test_armed },
	{ "accesses that take little time are not sampled", test_seldom },
	{ "time in which a CPU is idle does not count", test_dozing },
	{ "CPUs that are idle are not asked", test_asleep },
	{ "the first samples are used", test_first },
	{ "two threads that share, and no other one", test_pair },
	{ "threads that do not share make room for those that do", test_room },
	{ "a thread that is taken away again and again", test_taken },
	{ "calls that are refused name no group", test_bad_calls },
	{ "groups are inherited, shared, and left", test_groups },
	{ "threads that a program names go to one chip without a sample", test_named },
	{ "what a program names is believed", test_believed },
	{ "and holds without samples", test_named_without_samples },
	{ "threads that may use few CPUs do not wait for each other", test_confined },
	{ "threads at home are not stopped to be moved away", test_not_stopped },
	{ "a cgroup without memory keeps no other one waiting", test_no_memory },
	{ "one that asks again and again begins no round", test_writer },
	{ "a program that executes another one", test_exec },
	{ "a cgroup that loses its files", test_lost_controller },
	{ "cores that are isolated are not asked", test_isolated, have_many },
	{ "on a chip they go to cores of their own", test_siblings, have_siblings },
};

static bool set_up(void)
{
	mkdir(ROOT, 0755);
	if (mount("cgroup2", ROOT, "cgroup2", 0, NULL))
		return false;
	put(ROOT "/cgroup.subtree_control", "+cpu");
	if (mkdir(CGROUP, 0755) && errno != EEXIST)
		return false;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	return shared != MAP_FAILED;
}

static void tear_down(void)
{
	put(SYS "enabled", "0");
	rmdir(CGROUP);
	umount2(ROOT, MNT_DETACH);
	rmdir(ROOT);
}

/* What the first cases leave to the others */
static void set_as_cases_do(void)
{
	put(SYS "round_ms", "50");
	put(SYS "arm_percent", "0");
	put(SYS "enabled", "1");
}

/* usage: hpc_taskcluster [PART OF A NAME] */
int main(int argc, char **argv)
{
	const char *part = argc > 1 ? argv[1] : "";
	unsigned int i, nr = 0;

	ksft_print_header();
	if (access(SYS, F_OK))
		ksft_exit_skip("no " SYS "\n");
	if (access(PMU, F_OK))
		ksft_exit_skip("no virtual PMU\n");
	for (i = 0; i < ARRAY_SIZE(tests); i++)
		nr += !!strstr(tests[i].name, part);
	ksft_set_plan(nr);
	if (!set_up())
		ksft_exit_fail_msg("no cgroup: %s\n", strerror(errno));
	if (*part)
		set_as_cases_do();
	for (i = 0; i < ARRAY_SIZE(tests); i++) {
		if (!strstr(tests[i].name, part))
			continue;
		if (tests[i].can_run && !tests[i].can_run())
			ksft_test_result_skip("%s\n", tests[i].name);
		else
			ksft_test_result(tests[i].run(), "%s\n", tests[i].name);
	}
	tear_down();
	ksft_finished();
}
