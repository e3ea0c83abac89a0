// SPDX-License-Identifier: GPL-2.0
/*
 * See path_util.h. Knobs are restored in a signal handler, too. So that uses only system
 * calls and memory that is allocated before.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/mmpath.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "path_util.h"

#define MAX_KNOBS	64
#define MAX_CGROUPS	256
#define NAME		256

static struct {
	char file[NAME];
	char value[64];
} knobs[MAX_KNOBS];

static char cgroups[MAX_CGROUPS][NAME];
static __volatile__ int nr_knobs, nr_cgroups;
static pid_t main_pid;

/* Files */

int path_write_bytes(const char *file, const void *buf, size_t len)
{
	int fd = open(file, O_WRONLY | O_CLOEXEC), ret = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, buf, len) < 0)
		ret = -errno;
	close(fd);
	return ret;
}

int path_write(const char *file, const char *text)
{
	return path_write_bytes(file, text, strlen(text));
}

int path_read(const char *file, char *buf, size_t size)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	ssize_t len;

	if (fd < 0)
		return -errno;
	len = read(fd, buf, size - 1);
	if (len < 0)
		len = -errno;
	close(fd);
	buf[len > 0 ? len : 0] = '\0';
	return len;
}

char *path_slurp_fd(int fd)
{
	size_t len = 0, size = 1 << 16;
	char *buf = malloc(size), *more;
	ssize_t got = -1;

	while (buf && (got = read(fd, buf + len, size - len - 1)) > 0) {
		len += got;
		if (size - len < 4096) {
			size *= 2;
			more = realloc(buf, size);
			if (!more)
				break;
			buf = more;
		}
	}
	if (!buf || got) {
		free(buf);
		return NULL;
	}
	buf[len] = '\0';
	return buf;
}

char *path_slurp(const char *file)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC), saved;
	char *buf;

	if (fd < 0)
		return NULL;
	buf = path_slurp_fd(fd);
	saved = errno;
	close(fd);
	errno = saved;
	return buf;
}

/* "always [madvise] never" is "madvise". */
static void unbracket(char *value)
{
	char *from = strchr(value, '['), *to = from ? strchr(from, ']') : NULL;

	if (to) {
		*to = '\0';
		memmove(value, from + 1, to - from);
	}
	value[strcspn(value, "\n")] = '\0';
}

long long path_number(const char *file)
{
	char buf[256];
	int ret = path_read(file, buf, sizeof(buf));

	return ret < 0 ? ret : strtoll(buf, NULL, 10);
}

/* Knobs */

void path_save(const char *file)
{
	char value[256];
	int i;

	for (i = 0; i < nr_knobs; i++)
		if (!strcmp(knobs[i].file, file))
			return;
	if (path_read(file, value, sizeof(value)) < 0 || nr_knobs == MAX_KNOBS)
		return;
	unbracket(value);
	snprintf(knobs[nr_knobs].file, NAME, "%s", file);
	snprintf(knobs[nr_knobs].value, sizeof(knobs[0].value), "%.63s", value);
	nr_knobs++;
}

static const char * const our_knobs[] = {
	"enabled", "driver", "epoch_ms", "region_min_kb", "group_pages", "sample_pages",
	PATH_EMUL "pab_entries", PATH_EMUL "pab_ways", PATH_EMUL "filter_entries",
	PATH_EMUL "log_entries", PATH_EMUL "sample_shift", PATH_EMUL "overhead_target",
	"drivers/replay/log_entries",
	PATH_VPATH "pab_entries", PATH_VPATH "tlb_entries", PATH_VPATH "pab_ways",
	PATH_VPATH "tlb_ways", PATH_VPATH "tlb_tagged", PATH_VPATH "filter_entries",
	PATH_VPATH "relog", PATH_VPATH "sample_shift", PATH_VPATH "duty_percent",
	PATH_VPATH "duty_period", PATH_VPATH "interrupt", PATH_VPATH "threshold",
	PATH_VPATH "overhead_target",
};

static void save_ours(void)
{
	char file[NAME];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(our_knobs); i++) {
		snprintf(file, sizeof(file), PATH_SYSFS "%s", our_knobs[i]);
		path_save(file);
	}
}

/* Swap */

#define NULLB		"/sys/kernel/config/nullb/" PATH_DISK
#define NULLB_FILES	"/sys/kernel/config/nullb/" PATH_FILE_DISK
#define ZRAM		"/sys/class/zram-control/"
#define MAX_SWAPS	8

static char swaps_taken[MAX_SWAPS][NAME], our_swap[NAME];
static __volatile__ int nr_swaps_taken, our_zram = -1;

bool path_have_swap(void)
{
	char buf[256];
	int len = path_read("/proc/swaps", buf, sizeof(buf));

	return len > 0 && strchr(buf, '\n') && strchr(buf, '\n')[1];
}

bool path_swap_off(void)
{
	char *text = path_slurp("/proc/swaps"), *line;

	for (line = text ? strchr(text, '\n') : NULL; line && line[1] == '/';
	     line = strchr(line + 1, '\n')) {
		if (nr_swaps_taken == MAX_SWAPS ||
		    sscanf(line + 1, "%255s", swaps_taken[nr_swaps_taken]) != 1)
			break;
		if (!swapoff(swaps_taken[nr_swaps_taken]))
			nr_swaps_taken++;
	}
	free(text);
	return !path_have_swap();
}

/* Write the header of a swap area, like mkswap. */
static bool make_swap(const char *dev, unsigned int mib)
{
	char page[PAGE] = "";
	uint32_t *info = (uint32_t *)(page + 1024);
	int fd = open(dev, O_WRONLY | O_CLOEXEC);
	bool good;

	info[0] = 1;
	info[1] = mib * (MIB / PAGE) - 1;
	memcpy(page + PAGE - 10, "SWAPSPACE2", 10);
	good = fd >= 0 && write(fd, page, PAGE) == (ssize_t)PAGE && !fsync(fd);
	close(fd);
	return good && !swapon(dev, SWAP_FLAG_PREFER | 100);
}

/* A disk of null_blk that keeps what is written. */
static bool make_disk(const char *dir, unsigned int mib, unsigned int us, unsigned int depth)
{
	/* with a short queue, each page is a request of its own */
	const char *sectors = depth < PATH_DEPTH ? "8" : "0";
	char file[NAME], value[16], ns[16], queue[16];
	const char * const set[][2] = {
		{ "blocksize", "4096" }, { "memory_backed", "1" }, { "irqmode", "2" },
		{ "completion_nsec", ns }, { "max_sectors", sectors }, { "hw_queue_depth", queue },
		{ "power", "1" },
	};
	size_t i;

	if (mkdir(dir, 0755))
		return false;
	snprintf(value, sizeof(value), "%u", mib);
	snprintf(ns, sizeof(ns), "%u000", us);
	snprintf(queue, sizeof(queue), "%u", depth);
	snprintf(file, sizeof(file), "%s/size", dir);
	path_write(file, value);
	for (i = 0; i < ARRAY_SIZE(set); i++) {
		snprintf(file, sizeof(file), "%s/%s", dir, set[i][0]);
		path_write(file, set[i][1]);
	}
	return true;
}

bool path_swap_queue(unsigned int mib, unsigned int us, unsigned int depth)
{
	if (!make_disk(NULLB, mib, us, depth))
		return false;
	snprintf(our_swap, sizeof(our_swap), "/dev/" PATH_DISK);
	return make_swap(our_swap, mib);
}

bool path_swap_null(unsigned int mib, unsigned int us)
{
	return path_swap_queue(mib, us, PATH_DEPTH);
}

bool path_file_disk(unsigned int mib, unsigned int us, unsigned int depth)
{
	return make_disk(NULLB_FILES, mib, us, depth);
}

bool path_swap_bad(const char *sectors)
{
	return !path_write(NULLB "/badblocks", sectors);
}

bool path_swap_zram(unsigned int mib)
{
	char file[NAME], value[16];
	long long number = path_number(ZRAM "hot_add");

	if (number < 0)
		return false;
	our_zram = number;
	snprintf(our_swap, sizeof(our_swap), "/dev/zram%d", our_zram);
	snprintf(file, sizeof(file), "/sys/block/zram%d/disksize", our_zram);
	snprintf(value, sizeof(value), "%uM", mib);
	return !path_write(file, value) && make_swap(our_swap, mib);
}

bool path_swap_again(void)
{
	return !swapoff(our_swap) && !swapon(our_swap, SWAP_FLAG_PREFER | 100);
}

static void remove_zram(void)
{
	char file[NAME] = "/sys/block/zram", *at = file + strlen(file), value[2] = "0";

	/* one digit will do: no snprintf() in a signal handler */
	value[0] += our_zram;
	strcat(strcat(at, value), "/reset");
	path_write(file, "1");
	path_write(ZRAM "hot_remove", value);
	our_zram = -1;
}

void path_swap_restore(void)
{
	while (nr_swaps_taken)
		swapon(swaps_taken[--nr_swaps_taken], 0);
	if (our_swap[0])
		swapoff(our_swap);
	our_swap[0] = '\0';
	if (our_zram >= 0)
		remove_zram();
	path_write(NULLB "/power", "0");
	rmdir(NULLB);
	path_write(NULLB_FILES "/power", "0");
	rmdir(NULLB_FILES);
}

static void remove_cgroup(const char *dir)
{
	struct timespec wait = { .tv_nsec = 20 * 1000 * 1000 };
	unsigned long end = path_hangs_at(2);
	char file[NAME + 16] = "";

	strcat(strcat(file, dir), "/cgroup.kill");
	path_write(file, "1");
	/* while programs are being killed */
	while (rmdir(dir) && errno == EBUSY && path_now_ms() < end)
		nanosleep(&wait, NULL);
}

void path_restore(void)
{
	int i, pass;

	if (getpid() != main_pid)
		return;
	for (i = nr_cgroups; i--; )
		if (cgroups[i][0])
			remove_cgroup(cgroups[i]);
	nr_cgroups = 0;
	path_swap_restore();
	/* twice: some values are only valid together */
	for (pass = 0; pass < 2; pass++)
		for (i = 0; i < nr_knobs; i++)
			path_write(knobs[i].file, knobs[i].value);
}

static void on_signal(int sig)
{
	static const char late[] = "Bail out! not finished in time\n";

	if (getpid() != main_pid)
		_exit(128 + sig);
	path_restore();
	if (sig == SIGALRM) {
		if (write(1, late, sizeof(late) - 1) < 0)
			_exit(KSFT_FAIL);
		_exit(KSFT_FAIL);
	}
	signal(sig, SIG_DFL);
	raise(sig);
}

bool path_slow(void)
{
	return !access("/sys/kernel/debug/kmemleak", F_OK);
}

/* On a busy host, time passes in which the guest does not run. */
static unsigned int patience(unsigned int seconds)
{
	return seconds * (path_slow() ? 32 : 4);
}

unsigned long path_hangs_at(unsigned int seconds)
{
	return path_now_ms() + patience(seconds) * 1000UL;
}

void path_open(unsigned int seconds)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGALRM, SIGSEGV, SIGBUS,
				       SIGABRT, SIGQUIT };
	size_t i;

	if (geteuid())
		ksft_exit_skip("needs root\n");
	if (access(PATH_SYSFS "enabled", F_OK))
		ksft_exit_skip("no " PATH_SYSFS " in this kernel\n");
	if (access(PATH_CGROUP "/cgroup.controllers", F_OK))
		ksft_exit_skip("no cgroup v2 at " PATH_CGROUP "\n");
	main_pid = getpid();
	save_ours();
	atexit(path_restore);
	for (i = 0; i < ARRAY_SIZE(signals); i++)
		signal(signals[i], on_signal);
	signal(SIGPIPE, SIG_IGN);
	alarm(patience(seconds));
	path_write(PATH_CGROUP "/cgroup.subtree_control", "+memory");
}

void path_set(const char *knob, const char *fmt, ...)
{
	char file[NAME], value[64];
	va_list args;
	int ret;

	va_start(args, fmt);
	vsnprintf(value, sizeof(value), fmt, args);
	va_end(args);
	snprintf(file, sizeof(file), PATH_SYSFS "%s", knob);
	ret = path_write(file, value);
	if (ret)
		ksft_exit_fail_msg("%s to %s: %s\n", value, file, strerror(-ret));
}

long long path_get(const char *knob)
{
	char file[NAME];

	snprintf(file, sizeof(file), PATH_SYSFS "%s", knob);
	return path_number(file);
}

void path_vpath_exact(unsigned int pab_entries)
{
	path_set(PATH_VPATH "pab_entries", "%u", pab_entries);
	path_set(PATH_VPATH "pab_ways", "16");
	path_set(PATH_VPATH "tlb_ways", "4");
	path_set(PATH_VPATH "tlb_entries", "16");
	path_set(PATH_VPATH "filter_entries", "4");
	path_set(PATH_VPATH "relog", "0");
	path_set(PATH_VPATH "sample_shift", "0");
	path_set(PATH_VPATH "duty_percent", "100");
	path_set(PATH_VPATH "interrupt", "0");
	path_set(PATH_VPATH "threshold", "128");
	path_set(PATH_VPATH "overhead_target", "0");
}

void path_use_driver(const char *driver, unsigned int pab_entries)
{
	path_exact(pab_entries);
	if (!strcmp(driver, "emul"))
		return;
	path_set("enabled", "0");
	path_vpath_exact(128);
	path_set("driver", driver);
	path_set("enabled", "1");
}

void path_exact(unsigned int pab_entries)
{
	path_set("enabled", "0");
	path_set("driver", "emul");
	path_set(PATH_EMUL "pab_ways", "8");
	path_set(PATH_EMUL "pab_entries", "%u", pab_entries);
	path_set(PATH_EMUL "pab_ways", "16");
	path_set(PATH_EMUL "filter_entries", "0");
	/* a fault drains the log only with the models' lock, which a worker may hold for long */
	path_set(PATH_EMUL "log_entries", "16384");
	path_set(PATH_EMUL "sample_shift", "0");
	path_set(PATH_EMUL "overhead_target", "0");
	path_set("epoch_ms", "200");
	path_set("region_min_kb", "1024");
	path_set("group_pages", "16");
	path_set("sample_pages", "0");
	path_set("enabled", "1");
}

void path_exact_filtered(unsigned int pab_entries)
{
	path_exact(pab_entries);
	path_set(PATH_EMUL "filter_entries", "64");
	path_set("enabled", "0");
	path_set("enabled", "1");
}

/* /dev/mmpath */

int path_dev_open(void)
{
	int fd = open(PATH_DEV, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		ksft_exit_fail_msg(PATH_DEV ": %s\n", strerror(errno));
	return fd;
}

int path_dev_track(int dev, pid_t pid)
{
	int pidfd = syscall(SYS_pidfd_open, pid, 0), ret;

	if (pidfd < 0)
		return -errno;
	ret = ioctl(dev, MMPATH_IOC_TRACK, &pidfd) ? -errno : 0;
	close(pidfd);
	return ret;
}

/* cgroups */

char *path_cg(const char *parent, const char *name)
{
	char *dir = calloc(1, NAME);

	if (!dir || nr_cgroups == MAX_CGROUPS)
		ksft_exit_fail_msg("too many cgroups\n");
	if (parent)
		snprintf(dir, NAME, "%s/%s", parent, name);
	else
		snprintf(dir, NAME, PATH_CGROUP "/path-%s-%d", name, (int)getpid());
	if (parent)
		path_cg_write(parent, "cgroup.subtree_control", "+memory");
	if (mkdir(dir, 0755))
		ksft_exit_fail_msg("mkdir %s: %s\n", dir, strerror(errno));
	snprintf(cgroups[nr_cgroups], NAME, "%s", dir);
	nr_cgroups++;
	return dir;
}

void path_cg_remove(char *cg)
{
	int i;

	remove_cgroup(cg);
	for (i = nr_cgroups; i--; )
		if (!strcmp(cgroups[i], cg))
			cgroups[i][0] = '\0';
	while (nr_cgroups && !cgroups[nr_cgroups - 1][0])
		nr_cgroups--;
	free(cg);
}

int path_cg_write(const char *cg, const char *file, const char *text)
{
	char name[2 * NAME];

	snprintf(name, sizeof(name), "%s/%s", cg, file);
	return path_write(name, text);
}

char *path_cg_slurp(const char *cg, const char *file)
{
	char name[2 * NAME];

	snprintf(name, sizeof(name), "%s/%s", cg, file);
	return path_slurp(name);
}

int path_cg_move(const char *cg, pid_t pid)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", (int)pid);
	return path_cg_write(cg, "cgroup.procs", text);
}

void path_track(const char *cg, bool on)
{
	int ret = path_cg_write(cg, "memory.path.track", on ? "1" : "0");

	if (ret)
		ksft_exit_fail_msg("%s/memory.path.track: %s\n", cg, strerror(-ret));
}

long long path_text_key(const char *text, const char *key)
{
	size_t len = strlen(key);
	const char *line;

	for (line = text; line && *line; line = strchr(line, '\n')) {
		if (*line == '\n')
			line++;
		if (!strncmp(line, key, len) && line[len] == ' ')
			return strtoll(line + len, NULL, 10);
	}
	return -1;
}

long long path_cg_key(const char *cg, const char *file, const char *key)
{
	char *text = path_cg_slurp(cg, file);
	long long value = text ? path_text_key(text, key) : -1;

	free(text);
	return value;
}

/* Conditions of a case */

static void print_place(const char *file, int line, const char *what)
{
	const char *name = strrchr(file, '/');

	ksft_print_msg("%s:%d: %s", name ? name + 1 : file, line, what);
}

bool path_holds(bool holds, const char *file, int line, const char *what)
{
	if (holds)
		return true;
	print_place(file, line, what);
	printf(": no\n");
	return false;
}

static bool compare(enum path_relation relation, long double a, long double b)
{
	switch (relation) {
	case PATH_EQ:
		return a == b;
	case PATH_NE:
		return a != b;
	case PATH_LT:
		return a < b;
	case PATH_LE:
		return a <= b;
	case PATH_GT:
		return a > b;
	default:
		return a >= b;
	}
}

bool path_is(enum path_relation relation, const char *file, int line, const char *what,
	     long double a, long double b)
{
	if (compare(relation, a, b))
		return true;
	print_place(file, line, what);
	printf(": %.20Lg, %.20Lg\n", a, b);
	return false;
}

bool path_is_text(const char *file, int line, const char *what, const char *a, const char *b)
{
	if (a && b && !strcmp(a, b))
		return true;
	print_place(file, line, what);
	printf(": \"%s\", \"%s\"\n", a ? a : "(none)", b ? b : "(none)");
	return false;
}

/* Regions */

static unsigned long parse_hex(const char *word)
{
	return *word == '-' ? 0 : strtoull(word, NULL, 16);
}

bool path_parse_region(const char *line, struct path_region *r)
{
	char start[24], end[24], target[24];
	int at = 0;

	memset(r, 0, sizeof(*r));
	if (sscanf(line, "%d %u %7s %23s %23s %lu %lu %lu %lu %u %7s %7s %lu %23s %n",
		   &r->pid, &r->id, r->kind, start, end, &r->kb, &r->footprint, &r->records,
		   &r->cold,
		   &r->shift, r->state, r->policy, &r->in_memory, target, &at) != 14)
		return false;
	r->target = strcmp(target, "-") ? strtol(target, NULL, 10) : -1;
	r->start = parse_hex(start);
	r->end = parse_hex(end);
	snprintf(r->name, sizeof(r->name), "%.*s", (int)strcspn(line + at, "\n"), line + at);
	return true;
}

static const char *next_line(const char *line)
{
	line = strchr(line, '\n');
	return line ? line + 1 : NULL;
}

bool path_region_at(const char *cg, pid_t pid, const void *addr, struct path_region *r)
{
	char *text = path_cg_slurp(cg, "memory.path.regions");
	unsigned long a = (unsigned long)addr;
	struct path_region now;
	const char *line;
	bool found = false;

	/* a region with a hole covers regions in the hole: take the smallest */
	for (line = text; line; line = next_line(line)) {
		if (!path_parse_region(line, &now) || now.pid != pid || a < now.start ||
		    a >= now.end || (found && now.end - now.start >= r->end - r->start))
			continue;
		*r = now;
		found = true;
	}
	free(text);
	return found;
}

bool path_tracks(const char *cg, pid_t pid)
{
	char *text = path_cg_slurp(cg, "memory.path.regions");
	struct path_region r;
	const char *line;
	bool found = false;

	for (line = text; !found && line; line = next_line(line))
		found = path_parse_region(line, &r) && r.pid == pid;
	free(text);
	return found;
}

bool path_wait_tracks(const char *cg, pid_t pid, bool want)
{
	unsigned long end = path_hangs_at(60);

	while (path_tracks(cg, pid) != want) {
		if (path_now_ms() > end)
			return false;
		path_sleep_ms(20);
	}
	/* returns when the first scan has ended */
	if (want)
		path_set("enabled", "1");
	return true;
}

bool path_wait_contexts(const char *cg, long long want)
{
	unsigned long end = path_hangs_at(60);

	while (path_cg_key(cg, "memory.path.stat", "contexts") != want) {
		if (path_now_ms() > end)
			return false;
		path_sleep_ms(20);
	}
	return true;
}

/* Programs */

pid_t path_spawn(const char *cg, int (*fn)(void *arg), void *arg)
{
	char track[2 * NAME], c;
	int go[2];
	pid_t pid;

	if (pipe(go))
		ksft_exit_fail_msg("pipe: %s\n", strerror(errno));
	fflush(stdout);
	pid = fork();
	if (pid < 0)
		ksft_exit_fail_msg("fork: %s\n", strerror(errno));
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(go[1]);
		if (read(go[0], &c, 1) != 1)
			_exit(KSFT_FAIL);
		close(go[0]);
		_exit(fn(arg));
	}
	close(go[0]);
	if (path_cg_move(cg, pid))
		ksft_print_msg("cannot move %d to %s\n", (int)pid, cg);
	snprintf(track, sizeof(track), "%s/memory.path.track", cg);
	if (!path_number(track))
		path_track(cg, true);
	if (path_get("enabled") == 1 && !path_wait_tracks(cg, pid, true))
		ksft_print_msg("%d is not tracked by %s\n", (int)pid, cg);
	if (write(go[1], "g", 1) != 1)
		ksft_print_msg("the child is gone\n");
	close(go[1]);
	return pid;
}

int path_wait(pid_t pid, unsigned int seconds)
{
	unsigned long end = path_hangs_at(seconds);
	int status;

	while (waitpid(pid, &status, WNOHANG) == 0) {
		if (path_now_ms() > end) {
			ksft_print_msg("%d takes too long\n", (int)pid);
			kill(pid, SIGKILL);
			waitpid(pid, &status, 0);
			return KSFT_FAIL;
		}
		path_sleep_ms(5);
	}
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	ksft_print_msg("%d ended by signal %d\n", (int)pid, WTERMSIG(status));
	return KSFT_FAIL;
}

int path_run(const char *cg, int (*fn)(void *arg), void *arg, unsigned int seconds)
{
	return path_wait(path_spawn(cg, fn, arg), seconds);
}

/* Curves */

bool path_parse_curve(const char *text, struct path_curve *c)
{
	const char *line = strstr(text, "pages total recent epoch\n");
	unsigned long long pages, total, recent, epoch;

	memset(c, 0, sizeof(*c));
	if (!path_true(line) || !path_eq(path_text_key(text, "version"), 1))
		return false;
	c->records = path_text_key(text, "records");
	c->cold = path_text_key(text, "cold");
	c->footprint = path_text_key(text, "footprint");
	c->from = path_text_key(text, "resolved_from");
	c->group = path_text_key(text, "group_pages");
	c->misses = calloc(2 * PATH_POINTS, sizeof(*c->misses));
	c->pages = c->misses + PATH_POINTS;
	while ((line = next_line(line)) &&
	       sscanf(line, "%llu %llu %llu %llu", &pages, &total, &recent, &epoch) == 4) {
		if (!path_lt(c->n, PATH_POINTS) || !path_eq(pages % c->group, 0) ||
		    !(c->n ? path_gt(pages, c->pages[c->n - 1]) : path_eq(pages, 0)))
			return false;
		c->pages[c->n] = pages;
		c->misses[c->n++] = total;
	}
	return path_gt(c->n, 0) && path_eq(c->misses[c->n - 1], 0);
}

unsigned long path_curve_misses(const struct path_curve *c, size_t pages)
{
	size_t i = 0;

	while (i + 1 < c->n && c->pages[i + 1] <= pages)
		i++;
	return c->n ? c->misses[i] : 0;
}

void path_mattson_init(struct path_mattson *m, size_t pages, size_t times)
{
	memset(m, 0, sizeof(*m));
	m->pages = pages;
	m->times = times;
	m->last = calloc(pages, sizeof(*m->last));
	m->tree = calloc(times + 1, sizeof(*m->tree));
	m->at = calloc(pages + 1, sizeof(*m->at));
	if (!m->last || !m->tree || !m->at)
		ksft_exit_fail_msg("out of memory\n");
}

void path_mattson_free(struct path_mattson *m)
{
	free(m->last);
	free(m->tree);
	free(m->at);
}

static void tree_add(struct path_mattson *m, size_t i, int delta)
{
	for (; i <= m->times; i += i & -i)
		m->tree[i] += delta;
}

static unsigned int tree_sum(const struct path_mattson *m, size_t i)
{
	unsigned int sum = 0;

	for (; i; i &= i - 1)
		sum += m->tree[i];
	return sum;
}

void path_mattson_touch(struct path_mattson *m, size_t page)
{
	unsigned int last = m->last[page];

	if (last) {
		m->at[m->live - tree_sum(m, last)]++;
		tree_add(m, last, -1);
	} else {
		m->cold++;
		m->live++;
	}
	m->last[page] = ++m->now;
	tree_add(m, m->now, 1);
}

unsigned long path_mattson_misses(const struct path_mattson *m, size_t pages)
{
	unsigned long sum = 0;
	size_t d;

	for (d = pages; d <= m->pages; d++)
		sum += m->at[d];
	return sum;
}

/* The rest */

char *path_map(size_t bytes, bool huge)
{
	size_t align = 2 * MIB;
	char *p = mmap(NULL, bytes + align, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		       -1, 0);
	char *at;

	if (p == MAP_FAILED)
		ksft_exit_fail_msg("mmap: %s\n", strerror(errno));
	at = (char *)(((uintptr_t)p + align - 1) & ~(align - 1));
	munmap(p, at - p);
	munmap(at + bytes, p + align - at);
	at = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
		  -1, 0);
	if (at == MAP_FAILED)
		ksft_exit_fail_msg("mmap: %s\n", strerror(errno));
	madvise(at, bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
	return at;
}

void path_keep_counting(void)
{
	fflush(stdout);
	if (fork())
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		free(path_slurp(PATH_CGROUP "/memory.stat"));
		path_sleep_ms(100);
	}
}

__volatile__ unsigned long *path_word(char *p, size_t page)
{
	return (unsigned long *)(p + page * PAGE) + page % 500;
}

unsigned long path_go_round(char *p, size_t pages, unsigned long round)
{
	unsigned long wrong = 0;
	size_t i;

	for (i = 0; i < pages; i++)
		wrong += (*path_word(p, i))++ != round;
	return wrong;
}

unsigned long path_major_faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_majflt;
}

unsigned long path_faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_majflt + usage.ru_minflt;
}

unsigned long path_rand(unsigned long *state)
{
	unsigned long x = (*state += 0x9e3779b97f4a7c15ULL);

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

void path_sleep_ms(unsigned int ms)
{
	struct timespec wait = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L };

	nanosleep(&wait, NULL);
}

unsigned long path_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000ULL + now.tv_nsec / 1000000;
}
