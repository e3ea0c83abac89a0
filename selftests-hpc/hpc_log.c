// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/hpc: what is logged of a thread is what cpu.stalls has of it, and nobody gets what is not
 * his.
 *
 * Cgroup and log count the same pieces, so they are compared for equality.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <linux/hpc.h>
#include "hpc.h"

#define HPC		"/sys/kernel/hpc/"
#define DEV		"/dev/hpc"
#define CG		"/sys/fs/cgroup/hpc-log"
#define PARANOID	"/proc/sys/kernel/perf_event_paranoid"
#define CPU1		"/sys/devices/system/cpu/cpu1/online"
#define NOBODY		65534
#define PIECES		4096

static bool is(const char *what, long long value, long long want)
{
	if (value != want)
		ksft_print_msg("%s: %lld, expected %lld\n", what, value, want);
	return value == want;
}

static bool put(const char *file, const char *text)
{
	int fd = open(file, O_WRONLY);
	bool good = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (!good)
		ksft_print_msg("%s: %s\n", file, strerror(errno));
	close(fd);
	return good;
}

static long long event_nr(const char *name)
{
	char file[256];

	snprintf(file, sizeof(file), PMU "events/%s", name);
	return number(file, "event=");
}

/* More events than a CPU has counters */
static bool begin_as(const char *mode)
{
	static const char *const name[] = {
		"cycles", "insns", "loads", "stores", "stall_d", "stall_i", "stall_br", "stall_tlb",
		"stall_lsu", "stall_fpu", "stall_iu", "stall_other",
	};
	char events[1024] = "";
	size_t i;

	for (i = 0; i < ARRAY_SIZE(name); i++)
		sprintf(events + strlen(events), "%s=%lld:%lld ", name[i], number(PMU "type", ""),
			event_nr(name[i]));
	return put(HPC "enabled", "0") && put(HPC "events", events) && put(HPC "mode", mode) &&
	       put(HPC "slice_us", "200") && put(HPC "enabled", "1");
}

static bool begin(void)
{
	return begin_as("all");
}

static void end(void)
{
	put(HPC "enabled", "0");
	put(HPC "mode", "all");
	put(HPC "events", " ");
}

/* A log, mapped */
struct log {
	int fd;
	size_t size;
	struct hpc_log_head *head;
	struct hpc_log_piece *piece;
};

static int watch(int fd, pid_t tid, unsigned int pieces)
{
	struct hpc_log_watch w = { .tid = tid, .pieces = pieces };

	return ioctl(fd, HPC_IOC_WATCH, &w) ? -errno : 0;
}

/* Return: 0 or an error */
static int open_log(struct log *log, pid_t tid, unsigned int pieces)
{
	size_t page = getpagesize();
	int ret;

	log->fd = open(DEV, O_RDWR | O_CLOEXEC);
	if (log->fd < 0)
		return -errno;
	log->size = page + (pieces * sizeof(*log->piece) + page - 1) / page * page;
	ret = watch(log->fd, tid, pieces);
	log->head = ret ? MAP_FAILED : mmap(NULL, log->size, PROT_READ | PROT_WRITE, MAP_SHARED,
					    log->fd, 0);
	if (log->head == MAP_FAILED) {
		close(log->fd);
		return ret ?: -errno;
	}
	log->piece = (void *)((char *)log->head + log->head->offset);
	return 0;
}

static bool opens(struct log *log, pid_t tid, unsigned int pieces)
{
	return is("open", open_log(log, tid, pieces), 0);
}

static void close_log(struct log *log)
{
	munmap(log->head, log->size);
	close(log->fd);
}

static uint64_t head_of(const struct log *log)
{
	return __atomic_load_n(&log->head->head, __ATOMIC_ACQUIRE);
}

static const struct hpc_log_piece *piece_at(const struct log *log, uint64_t nr)
{
	return &log->piece[nr % log->head->pieces];
}

static uint64_t cycles_of(const struct log *log)
{
	uint64_t sum = 0, i;

	for (i = log->head->tail; i < head_of(log); i++)
		sum += piece_at(log, i)->count[0];
	return sum;
}

/* Threads to look at */

static void join(const char *cg)
{
	char file[256];

	snprintf(file, sizeof(file), "%s/cgroup.procs", cg);
	if (!put(file, "0"))
		_exit(1);
}

static void work(unsigned int rounds)
{
	volatile uint64_t x = 1, words[512] = { };
	unsigned int i;

	for (i = 0; i < rounds * 1000; i++)
		x = words[x % 512] + x * 6364136223846793005ULL + (i % 100 ? 0 : x / 3);
}

/*
 * A process that waits in @cg until the other end of the pipe is closed, then works, and ends; or
 * stops, if it has a cgroup.
 */
static pid_t worker(const char *cg, unsigned int rounds, int *tell)
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
		if (number(CPU1, ""))
			run_on(1);
		if (read(ends[0], &c, 1) < 0)
			_exit(1);
		work(rounds);
		if (cg)
			raise(SIGSTOP);
		_exit(0);
	}
	close(ends[0]);
	*tell = ends[1];
	return pid;
}

static bool ends_well(pid_t pid)
{
	int status = -1;

	waitpid(pid, &status, 0);
	return is("exit status", status, 0);
}

/* It sleeps, or has failed before. */
static bool is_blocked(pid_t pid)
{
	char file[64], text[512], *at;
	int fd, n;

	snprintf(file, sizeof(file), "/proc/%d/stat", pid);
	fd = open(file, O_RDONLY);
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n < 0 ? 0 : n] = 0;
	at = strrchr(text, ')');
	return !at || at[2] == 'S' || at[2] == 'Z';
}

static void wait_blocked(pid_t pid)
{
	while (!is_blocked(pid))
		usleep(1000);
}

/* A task that sleeps, or has stopped, may be still on its way off the CPU, and have another piece. */
static void settle(void)
{
	usleep(100000);
}

static uint64_t cgroup_cycles(void)
{
	char text[4096], *at;
	int fd = open(CG "/cpu.stalls", O_RDONLY), n = read(fd, text, sizeof(text) - 1);
	uint64_t sum;

	close(fd);
	text[n < 0 ? 0 : n] = 0;
	sum = strncmp(text, "cycles ", 7) ? 0 : strtoull(text + 7, NULL, 10);
	at = strstr(text, "\npending ");
	return sum + (at ? strtoull(at + 9, NULL, 10) : 0);
}

/* Cases */

static bool refuses(const char *what, int fd, pid_t tid, unsigned int pieces, int want)
{
	return is(what, watch(fd, tid, pieces), want);
}

static bool refuses_nonsense(void)
{
	int fd = open(DEV, O_RDWR), other = open(DEV, O_RDWR);
	size_t page = getpagesize(), size = page + PIECES * sizeof(struct hpc_log_piece);
	uint64_t word = 1;
	bool good;
	pid_t pid;

	good = refuses("no power of two", fd, 0, 48, -EINVAL) &
	       refuses("few pieces", fd, 0, HPC_LOG_LEAST / 2, -EINVAL) &
	       refuses("many pieces", fd, 0, HPC_LOG_MOST * 2, -EINVAL) &
	       refuses("none", fd, 0, 0, -EINVAL) & refuses("tid", fd, -1, PIECES, -EINVAL) &
	       refuses("no thread", fd, 4194304, PIECES, -ESRCH);
	good &= is("pointer", ioctl(fd, HPC_IOC_WATCH, NULL) ? errno : 0, EFAULT);
	good &= is("command", ioctl(fd, HPC_IOC, NULL) ? errno : 0, ENOTTY);
	good &= is("region of none", ioctl(fd, HPC_IOC_REGION, &word) ? errno : 0, EINVAL);
	good &= mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED;
	good &= refuses("watch", fd, 0, PIECES, 0) & refuses("again", fd, 0, PIECES, -EBUSY);
	good &= mmap(NULL, page, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED;
	good &= mmap(NULL, size + page, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED;
	good &= mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED;
	good &= mmap(NULL, size, PROT_READ, MAP_SHARED, fd, page) == MAP_FAILED;
	good &= is("region pointer", ioctl(fd, HPC_IOC_REGION, NULL) ? errno : 0, EFAULT);
	pid = fork();
	if (!pid)
		_exit(!ioctl(fd, HPC_IOC_REGION, &word) || errno != EINVAL);
	good &= ends_well(pid);
	close(fd);
	close(other);
	return good;
}

/* Two logs of a thread that nobody else logs, one of a size that a page does not divide */
static bool has_it_all(void)
{
	bool good = begin() && (!mkdir(CG, 0755) || errno == EEXIST);
	struct log log, second;
	uint64_t before;
	int tell;
	pid_t pid = worker(CG, 2000, &tell);

	wait_blocked(pid);
	settle();
	before = cgroup_cycles();
	good &= opens(&log, pid, PIECES) && opens(&second, pid, PIECES * 2);
	close(tell);
	waitpid(pid, NULL, WUNTRACED);
	settle();
	good &= is("lost", log.head->lost, 0) && head_of(&log) > 50;
	good &= is("cycles", cycles_of(&log), cgroup_cycles() - before);
	good &= is("again", cycles_of(&second), cycles_of(&log));
	kill(pid, SIGCONT);
	good &= ends_well(pid);
	good &= is("state", log.head->state, HPC_LOG_EXITED);
	close_log(&log);
	close_log(&second);
	end();
	rmdir(CG);
	return good;
}

/* Counts that the group does not have: they could be others' */
static uint64_t rest_of(const struct hpc_log_piece *p, uint64_t set)
{
	uint64_t sum = 0;
	int n;

	for (n = __builtin_popcountll(set); n < HPC_LOG_COUNTS; n++)
		sum += p->count[n];
	return sum;
}

static bool sound(const struct log *log, uint64_t nr)
{
	const struct hpc_log_piece *p = piece_at(log, nr), *before = nr ? piece_at(log, nr - 1) : p;
	uint64_t set = log->head->set[p->group];
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return p->time >= before->time &&
	       p->time <= t.tv_sec * 1000000000ULL + t.tv_nsec && p->from == before->to &&
	       p->group < HPC_LOG_GROUPS && set & 1 && p->seen & 1 && p->count[0] &&
	       !(p->seen >> __builtin_popcountll(set)) && p->cpu == 1 &&
	       p->epoch == (uint16_t)log->head->epoch && !p->reserved && !rest_of(p, set) &&
	       (p->slice != before->slice || p->group == before->group);
}

/* Every piece is one of a group, in order, and begins where the one before it ended. */
static bool is_sound(void)
{
	bool good = begin();
	unsigned int groups = 0;
	struct log log;
	uint64_t i, all = 0;

	run_on(1);
	good &= opens(&log, 0, PIECES);
	for (i = 1; i <= 300; i++) {
		__atomic_store_n(&log.head->region, i, __ATOMIC_RELAXED);
		work(3);
		if (i % 50 == 0)
			usleep(1000);
	}
	for (i = 1; i < head_of(&log); i++) {
		if (!sound(&log, i)) {
			ksft_print_msg("piece %llu: group %u seen %x region %llu to %llu\n",
				       (unsigned long long)i, piece_at(&log, i)->group,
				       piece_at(&log, i)->seen,
				       (unsigned long long)piece_at(&log, i)->from,
				       (unsigned long long)piece_at(&log, i)->to);
			good = false;
		}
		groups |= 1 << piece_at(&log, i)->group;
	}
	for (i = 0; i < log.head->round; i++)
		all |= log.head->set[i];
	good &= head_of(&log) > 20 && is("groups", groups, (1 << log.head->round) - 1) &&
		is("events", all, (1 << 12) - 1);
	close_log(&log);
	end();
	return good;
}

/* With a call at each change there is no piece of two regions, and each has what it did. */
static bool knows_regions(void)
{
	uint64_t sum[3] = { }, word, i;
	/* interrupts may have a lot to do in any of them */
	bool good = begin_as("user");
	struct log log;

	run_on(1);
	good &= opens(&log, 0, PIECES);
	for (i = 0; i < 100; i++) {
		word = 1 + i % 2;
		good &= !ioctl(log.fd, HPC_IOC_REGION, &word);
		work(word == 1 ? 10 : 30);
	}
	word = 0;
	good &= !ioctl(log.fd, HPC_IOC_REGION, &word);
	for (i = 0; i < head_of(&log); i++) {
		good &= piece_at(&log, i)->from < 3 &&
			is("region", piece_at(&log, i)->to, piece_at(&log, i)->from);
		sum[piece_at(&log, i)->from % 3] += piece_at(&log, i)->count[0];
	}
	good &= is("lost", log.head->lost, 0) && near("thrice", sum[2], 3.0 * sum[1], 2);
	close_log(&log);
	end();
	return good;
}

/* What does not fit is counted, and whatever the program writes there, it goes on. */
static bool gets_full(void)
{
	bool good = begin();
	struct log log;
	uint64_t head;

	run_on(1);
	good &= opens(&log, 0, HPC_LOG_LEAST);
	work(1000);
	good &= is("full", head_of(&log), HPC_LOG_LEAST) && log.head->lost > 0;
	__atomic_store_n(&log.head->tail, 10, __ATOMIC_RELEASE);
	work(1000);
	good &= is("ten more", head_of(&log), HPC_LOG_LEAST + 10);
	memset(log.head, 0xff, getpagesize());
	work(1000);
	__atomic_store_n(&log.head->tail, HPC_LOG_LEAST + 10, __ATOMIC_RELEASE);
	work(1000);
	head = head_of(&log);
	good &= is("and all again", head, 2 * HPC_LOG_LEAST + 10);
	close_log(&log);
	end();
	return good;
}

/* Return: what poll() tells of a log, within so many ms; with none at hand, -1 */
static int waits(const struct log *log, int ms)
{
	struct pollfd p = { .fd = log->fd, .events = POLLIN };
	int ret = poll(&p, 1, ms);

	return ret < 0 ? -1 : p.revents;
}

/* The guard is for a log that wakes nobody. */
#define GUARD_MS	300000

static bool can_be_waited_for(void)
{
	struct log log, none = { .fd = open(DEV, O_RDWR | O_CLOEXEC) };
	unsigned int woken = 0, full = 0;
	int tell = -1, told;
	bool good = begin();
	pid_t pid = worker(NULL, 4000, &tell);

	run_on(0);
	good &= is("without a log", waits(&none, 0), POLLERR);
	close(none.fd);
	good &= opens(&log, pid, HPC_LOG_LEAST);
	good &= is("before anything", waits(&log, 0), 0);
	close(tell);
	do {
		told = waits(&log, GUARD_MS);
		woken++;
		full += told & POLLIN && head_of(&log) - log.head->tail >= HPC_LOG_LEAST / 2;
		__atomic_store_n(&log.head->tail, head_of(&log), __ATOMIC_RELEASE);
	} while (told == POLLIN);
	ksft_print_msg("woken %u times, %u half full, %llu pieces\n", woken, full,
		       (unsigned long long)head_of(&log));
	good &= is("at the end", told & ~POLLIN, POLLHUP) && woken > 3 && full >= woken - 1 &&
		head_of(&log) >= (woken - 1) * HPC_LOG_LEAST / 2;
	good &= ends_well(pid);
	close_log(&log);
	end();
	return good;
}

/* Counting begins anew, with events that were written anew: the log tells, and goes on. */
static bool begins_anew(void)
{
	bool good = begin();
	uint32_t epoch;
	struct log log;
	uint64_t head;

	run_on(1);
	good &= opens(&log, 0, PIECES);
	work(300);
	put(HPC "enabled", "0");
	epoch = log.head->epoch;
	head = head_of(&log);
	work(300);
	good &= head > 5 && is("while it is off", head_of(&log), head);
	good &= begin_as("user");
	work(300);
	good &= head_of(&log) > head + 5 && is("epoch", log.head->epoch, epoch + 4) &&
		is("of the last piece", piece_at(&log, head_of(&log) - 1)->epoch,
		   (uint16_t)(epoch + 4)) &&
		is("of an older one", piece_at(&log, head - 1)->epoch, (uint16_t)epoch);
	close_log(&log);
	end();
	return good;
}

/* A child is not logged, nor is what it does with what it inherited. */
static bool leaves_children(void)
{
	bool good = begin();
	struct log log;
	uint64_t head;
	pid_t pid;

	good &= opens(&log, 0, PIECES);
	pid = fork();
	if (!pid) {
		run_on(1);
		head = head_of(&log);
		work(1000);
		/* the parent waits, and has a piece or two */
		_exit(head_of(&log) > head + 5);
	}
	good &= ends_well(pid);
	close_log(&log);
	end();
	return good;
}

/* Who may */

static int as_nobody(int (*what)(void))
{
	int status = -1;
	pid_t pid = fork();

	if (!pid) {
		if (setgid(NOBODY) || setuid(NOBODY))
			_exit(100);
		prctl(PR_SET_DUMPABLE, 1);
		_exit(what());
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

/* Files stay open until the process ends. */
static int in_child(int (*what)(void))
{
	int status = -1;
	pid_t pid = fork();

	if (!pid)
		_exit(what());
	waitpid(pid, &status, 0);
	return WEXITSTATUS(status);
}

static int watch_self(void)
{
	return -watch(open(DEV, O_RDWR), 0, PIECES);
}

static int watch_root(void)
{
	return -watch(open(DEV, O_RDWR), 1, PIECES);
}

static int open_device(void)
{
	return open(DEV, O_RDWR) < 0 ? errno : 0;
}

static bool is_private(void)
{
	bool good = begin();

	put(PARANOID, "2");
	good &= is("device", as_nobody(open_device), EACCES);
	chmod(DEV, 0666);
	good &= is("kernel mode", as_nobody(watch_self), EACCES);
	put(PARANOID, "1");
	good &= is("if allowed", as_nobody(watch_self), 0);
	put(PARANOID, "2");
	good &= begin_as("user") && is("user mode", as_nobody(watch_self), 0) &
		is("another's thread", as_nobody(watch_root), EACCES);
	/* Debian knows this value */
	put(PARANOID, "3");
	good &= is("not at all", as_nobody(watch_self), EACCES) & is("but root", in_child(watch_self), 0);
	put(PARANOID, "2");
	chmod(DEV, 0600);
	end();
	return good;
}

/* A program that cannot be read, and so cannot be dumped: this one, which then works */
#define UNREADABLE	"/tmp/hpc_log_unreadable"

static struct log *logged;

/* Return: the state of a child that has executed @UNREADABLE */
static int state_of_exec(void)
{
	static struct log log;
	int tell, ret;
	pid_t pid;
	int ends[2];
	char c;

	if (pipe(ends))
		return 101;
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(ends[1]);
		if (read(ends[0], &c, 1) < 0)
			_exit(1);
		execl(UNREADABLE, UNREADABLE, "work", NULL);
		_exit(errno);
	}
	close(ends[0]);
	tell = ends[1];
	ret = open_log(&log, pid, PIECES);
	close(tell);
	if (ret)
		return -ret;
	logged = &log;
	if (!ends_well(pid))
		return 102;
	return log.head->state == HPC_LOG_DENIED && head_of(&log) > 20 ? 103 : log.head->state;
}

static int state_of_exec_as_user(void)
{
	int state = state_of_exec();

	/* its last word is that it may not look any more */
	return state == HPC_LOG_EXITED && head_of(logged) > 20 ? 104 : state;
}

static bool ends_at_exec(void)
{
	bool good = begin_as("user");
	char copy[512];

	snprintf(copy, sizeof(copy), "cp /proc/%d/exe %s && chmod 0111 %s", getpid(), UNREADABLE,
		 UNREADABLE);
	good &= is("copy", system(copy), 0);
	chmod(DEV, 0666);
	good &= is("a user", as_nobody(state_of_exec_as_user), HPC_LOG_DENIED);
	good &= is("root", state_of_exec(), HPC_LOG_EXITED) && head_of(logged) > 20;
	close_log(logged);
	chmod(DEV, 0600);
	unlink(UNREADABLE);
	end();
	return good;
}

/* Logs of some threads, until there are no more for this reason. Return: how many there were */
static int logs_of(const pid_t *pid, int threads, int each, int why)
{
	int nr = 0, fd, ret = 0, i, k;

	for (i = 0; i < threads && !ret; i++) {
		for (k = 0; k < each && !ret; k++) {
			fd = open(DEV, O_RDWR);
			ret = fd < 0 ? -errno : watch(fd, pid[i], HPC_LOG_LEAST);
			nr += !ret;
		}
	}
	is("error", ret, -why);
	return nr;
}

static pid_t sleeper[520];

static int logs_of_sleepers(void)
{
	int i, status;

	for (i = 0; i < 520; i++) {
		sleeper[i] = fork();
		if (!sleeper[i]) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			pause();
			_exit(1);
		}
	}
	status = logs_of(sleeper, 520, 8, EUSERS);
	work(10);
	for (i = 0; i < 520; i++)
		kill(sleeper[i], SIGKILL);
	return status / 64;
}

static int logs_of_self(void)
{
	pid_t self = 0;

	return logs_of(&self, 1, 20, EUSERS);
}

static int logs_that_may_be_locked(void)
{
	pid_t self = 0;

	return logs_of(&self, 1, 20, EPERM);
}

static bool may_lock(rlim_t pages)
{
	struct rlimit limit = { pages * getpagesize(), RLIM_INFINITY };

	return !setrlimit(RLIMIT_MEMLOCK, &limit);
}

static bool is_bounded(void)
{
	struct rlimit limit = { 8192, 8192 };
	bool good = begin_as("user") && !setrlimit(RLIMIT_NOFILE, &limit);

	chmod(DEV, 0666);
	good &= is("of a thread", in_child(logs_of_self), 8);
	/* they go behind a grace period */
	usleep(200000);
	good &= is("of root", in_child(logs_of_sleepers), 4096 / 64);
	usleep(500000);
	good &= may_lock(1 << 20) && is("of a user", as_nobody(logs_of_sleepers), 2048 / 64);
	usleep(500000);
	/* the smallest log has three pages */
	good &= may_lock(17) && is("of a user's memory", as_nobody(logs_that_may_be_locked), 5) &
		is("of root's", in_child(logs_of_self), 8);
	usleep(500000);
	good &= is("once more", as_nobody(logs_that_may_be_locked), 5);
	chmod(DEV, 0600);
	good &= is("afterwards", in_child(watch_self), 0);
	end();
	return good;
}

/* Logs that come and go, of threads that come and go, on CPUs that come and go */
static bool survives(void)
{
	bool good = begin();
	struct log log;
	int i, ret, tell, failed = 0;
	pid_t pid;

	for (i = 0; i < 60; i++) {
		if (i % 20 == 5)
			good &= put(CPU1, "0");
		if (i % 20 == 10)
			good &= put(CPU1, "1");
		if (i % 20 == 15)
			good &= put(HPC "enabled", "0") && put(HPC "enabled", "1");
		pid = worker(NULL, i % 5, &tell);
		if (i % 3 == 0)
			close(tell);
		ret = open_log(&log, pid, PIECES);
		failed += ret && ret != -ESRCH;
		if (i % 3)
			close(tell);
		if (i % 2 && !ret)
			close_log(&log);
		good &= ends_well(pid);
		if (i % 2 == 0 && !ret)
			close_log(&log);
	}
	end();
	return good && is("failed", failed, 0);
}

int main(int argc, char **argv)
{
	if (argc > 1) {
		work(2000);
		return 0;
	}
	ksft_print_header();
	if (access(PMU "type", R_OK))
		ksft_exit_skip("no virtual PMU (lab run --vpmu)\n");
	if (access(DEV, R_OK | W_OK))
		ksft_exit_skip("no " DEV " (CONFIG_HPC), or not root\n");
	put("/sys/fs/cgroup/cgroup.subtree_control", "+cpu");
	ksft_set_plan(12);
	run("nonsense is refused", refuses_nonsense);
	run("it has what cpu.stalls has", has_it_all);
	run("pieces are sound", is_sound);
	run("regions", knows_regions);
	run("a log that is full, and one full of nonsense", gets_full);
	run("a log that is waited for", can_be_waited_for);
	run("counting begins anew", begins_anew);
	run("children are not logged", leaves_children);
	run("who may", is_private);
	run("a program that its user may not look at", ends_at_exec);
	run("not more than so many", is_bounded);
	run("threads, logs and CPUs that come and go", survives);
	ksft_finished();
}
