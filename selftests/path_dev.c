// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/mmpath: single processes are tracked for as long as the session is open. A
 * recording has the touches in their order. A replay gives exactly the curve that
 * Mattson's algorithm gives.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/mmpath.h>
#include "path_util.h"

#define NR_PAGES	512UL
#define NOBODY		65534
#define BASE		0x100000000000UL	/* where nothing is mapped */

static int view(int dev, __u32 which)
{
	int fd = ioctl(dev, MMPATH_IOC_VIEW, &which);

	return fd < 0 ? -errno : fd;
}

/* Read an open view from its start. The caller frees the result. */
static char *look(int fd)
{
	if (fd < 0 || lseek(fd, 0, SEEK_SET))
		return NULL;
	return path_slurp_fd(fd);
}

static long long stat_of(int dev, const char *key)
{
	int fd = view(dev, MMPATH_VIEW_STAT);
	char *text = look(fd);
	long long value = text ? path_text_key(text, key) : -1;

	free(text);
	close(fd);
	return value;
}

static bool wait_contexts(long long want)
{
	unsigned long end = path_hangs_at(5);

	while (path_get("stats/contexts") != want && path_now_ms() < end)
		path_sleep_ms(10);
	if (path_get("stats/contexts") != want)
		ksft_print_msg("%lld contexts\n", path_get("stats/contexts"));
	return path_get("stats/contexts") == want;
}

/* A program that touches pages in a known order when it is told to */

struct program {
	pid_t pid;
	int to, from;
	char *mem;
};

static size_t order(size_t i)
{
	return i * 181 % NR_PAGES;
}

static int serve(char *mem, int in, int out)
{
	__volatile__ char sum = 0;
	size_t i;
	char c;

	while (read(in, &c, 1) == 1) {
		if (c == 'f' && !fork())
			c = 'w';
		for (i = 0; i < NR_PAGES; i++) {
			if (c == 'w')
				mem[order(i) * PAGE] = i;
			else
				sum += *(__volatile__ char *)(mem + order(i) * PAGE);
		}
		if (write(out, &c, 1) != 1)
			return KSFT_FAIL;
	}
	return KSFT_PASS;
}

static void run(struct program *prog)
{
	int to[2], from[2];

	if (pipe2(to, O_CLOEXEC) || pipe2(from, O_CLOEXEC))
		ksft_exit_fail_msg("pipe: %s\n", strerror(errno));
	prog->mem = path_map(NR_PAGES * PAGE, false);
	prog->pid = fork();
	if (!prog->pid) {
		close(to[1]);
		close(from[0]);
		memset(prog->mem, 1, NR_PAGES * PAGE);
		_exit(serve(prog->mem, to[0], from[1]));
	}
	close(to[0]);
	close(from[1]);
	prog->to = to[1];
	prog->from = from[0];
}

static bool tell(struct program *prog, char c)
{
	return write(prog->to, &c, 1) == 1 && read(prog->from, &c, 1) == 1;
}

static void end(struct program *prog)
{
	int status;

	close(prog->to);
	close(prog->from);
	kill(prog->pid, SIGKILL);
	waitpid(prog->pid, &status, 0);
	munmap(prog->mem, NR_PAGES * PAGE);
}

static bool curve_of(int dev, struct path_curve *c)
{
	int fd = view(dev, MMPATH_VIEW_MRC);
	char *text = look(fd);
	bool good = path_true(text) && path_parse_curve(text, c);

	free(text);
	close(fd);
	return good;
}

static void test_track(void)
{
	struct path_curve c = { };
	struct program prog;
	int dev, old;
	char *text;
	bool good;

	/* before the device is open: the program must not hold it */
	run(&prog);
	dev = path_dev_open();
	good = path_eq(path_dev_track(dev, prog.pid), 0) &&
	       path_eq(path_dev_track(dev, prog.pid), 0) &&
	       path_true(wait_contexts(1)) && path_true(tell(&prog, 'r')) &&
	       path_true(tell(&prog, 'w'));
	good = good && path_true(curve_of(dev, &c)) && path_ge(c.records, 2 * NR_PAGES) &&
	       path_ge(c.cold, NR_PAGES) && path_eq(stat_of(dev, "contexts"), 1);
	free(c.misses);
	ksft_test_result(good, "a process by its pidfd\n");
	good = path_true(tell(&prog, 'f')) && path_true(wait_contexts(2)) &&
	       path_eq(stat_of(dev, "contexts"), 2);
	ksft_test_result(good, "and its children\n");
	old = view(dev, MMPATH_VIEW_REGIONS);
	close(dev);
	text = look(old);
	good = path_true(text) && path_true(strstr(text, " mmap ")) &&
	       path_eq(path_get("stats/contexts"), 2);
	free(text);
	ksft_test_result(good, "a view holds the session\n");
	close(old);
	ksft_test_result(path_true(wait_contexts(0)) && path_true(tell(&prog, 'w')),
			 "the last file ends the tracking\n");
	end(&prog);
}

static int hold(void *arg)
{
	int dev = path_dev_open();

	if (path_dev_track(dev, *(pid_t *)arg))
		return KSFT_FAIL;
	pause();
	return KSFT_FAIL;
}

static void test_killed_owner(void)
{
	struct program prog;
	pid_t owner;
	bool good;
	int status;

	run(&prog);
	owner = fork();
	if (!owner)
		_exit(hold(&prog.pid));
	good = path_true(wait_contexts(1)) && path_true(tell(&prog, 'w'));
	kill(owner, SIGKILL);
	waitpid(owner, &status, 0);
	good &= path_true(wait_contexts(0)) && path_true(tell(&prog, 'w'));
	ksft_test_result(good, "a killed owner ends the tracking\n");
	end(&prog);
}

/* A process that was passed the open device, but has no rights on the program */
static int as_nobody(void *arg)
{
	int dev = path_dev_open(), ret;
	struct program prog;

	if (setgid(NOBODY) || setuid(NOBODY))
		return KSFT_SKIP;
	prctl(PR_SET_DUMPABLE, 1);
	if (open(PATH_DEV, O_RDWR) >= 0)
		return KSFT_FAIL;
	ret = path_dev_track(dev, *(pid_t *)arg);
	if (ret != -EPERM && ret != -EACCES) {
		ksft_print_msg("tracks a program of root: %d\n", ret);
		return KSFT_FAIL;
	}
	run(&prog);
	ret = path_dev_track(dev, prog.pid);
	if (ret)
		ksft_print_msg("does not track its own: %d\n", ret);
	end(&prog);
	return ret ? KSFT_FAIL : KSFT_PASS;
}

static void test_rights(void)
{
	struct program prog;
	pid_t pid;

	run(&prog);
	pid = fork();
	if (!pid)
		_exit(as_nobody(&prog.pid));
	ksft_test_result_report(path_wait(pid, 10), "only with the rights of a debugger\n");
	end(&prog);
}

static bool is(const char *what, int got, int want)
{
	if (got != want)
		ksft_print_msg("%s: %d, not %d\n", what, got, want);
	return got == want;
}

static void test_bad_track(void)
{
	int dev = path_dev_open(), fd = -1, status;
	struct program prog;
	bool good;

	good = is("no pidfd", ioctl(dev, MMPATH_IOC_TRACK, &fd) ? -errno : 0, -EBADF);
	fd = 1;
	good &= is("stdout", ioctl(dev, MMPATH_IOC_TRACK, &fd) ? -errno : 0, -EBADF);
	good &= is("a kernel thread", path_dev_track(dev, 2), -ESRCH);
	run(&prog);
	fd = syscall(SYS_pidfd_open, prog.pid, 0);
	path_set("enabled", "0");
	good &= is("not enabled", ioctl(dev, MMPATH_IOC_TRACK, &fd) ? -errno : 0, -ENODEV);
	path_set("enabled", "1");
	kill(prog.pid, SIGKILL);
	waitpid(prog.pid, &status, 0);
	good &= is("dead", ioctl(dev, MMPATH_IOC_TRACK, &fd) ? -errno : 0, -ESRCH);
	end(&prog);
	close(fd);
	close(dev);
	ksft_test_result(good, "MMPATH_IOC_TRACK: bad arguments\n");
}

static void test_bad(void)
{
	struct mmpath_event ev = { .addr = BASE };
	int dev = path_dev_open();
	bool good;

	good = is("unknown ioctl", ioctl(dev, _IO(MMPATH_IOC, 99)) ? -errno : 0, -ENOTTY);
	good &= is("TRACK of another size",
		   ioctl(dev, _IOW(MMPATH_IOC, 0, __u64), &ev) ? -errno : 0, -ENOTTY);
	good &= is("TRACK NULL", ioctl(dev, MMPATH_IOC_TRACK, NULL) ? -errno : 0, -EFAULT);
	good &= is("VIEW NULL", ioctl(dev, MMPATH_IOC_VIEW, NULL) ? -errno : 0, -EFAULT);
	good &= is("VIEW 4", view(dev, 4), -EINVAL);
	good &= is("VIEW -1", view(dev, -1), -EINVAL);
	good &= is("read", read(dev, &ev, sizeof(ev)) < 0 ? -errno : 0, -EINVAL);
	good &= is("RECORD", ioctl(dev, MMPATH_IOC_RECORD) ? -errno : 0, 0);
	good &= is("RECORD again", ioctl(dev, MMPATH_IOC_RECORD) ? -errno : 0, -EBUSY);
	good &= is("short read", read(dev, &ev, sizeof(ev) - 1) < 0 ? -errno : 0, -EINVAL);
	fcntl(dev, F_SETFL, O_NONBLOCK);
	good &= is("nothing to read", read(dev, &ev, sizeof(ev)) < 0 ? -errno : 0, -EAGAIN);
	good &= is("short write", write(dev, &ev, sizeof(ev) - 1) < 0 ? -errno : 0, -EINVAL);
	good &= is("bad write", write(dev, (void *)PAGE, sizeof(ev)) < 0 ? -errno : 0, -EFAULT);
	good &= is("replay, untracked", write(dev, &ev, sizeof(ev)) < 0 ? -errno : 0, -ESRCH);
	close(dev);
	ksft_test_result(good, "bad ioctl, read and write\n");
}

/* Recording */

static size_t read_all(int dev, struct mmpath_event *ev, size_t max)
{
	size_t n = 0;
	ssize_t got;

	while (n < max && (got = read(dev, ev + n, (max - n) * sizeof(*ev))) > 0)
		n += got / sizeof(*ev);
	return n;
}

/* Has the recording one round of the program's pages? */
static bool is_round(const struct program *prog, const struct mmpath_event *ev, size_t n,
		     unsigned int flags)
{
	size_t i, at = 0;

	for (i = 0; i < n; i++) {
		size_t page = (ev[i].addr - (unsigned long)prog->mem) / PAGE;

		if (page >= NR_PAGES)
			continue;
		if (at == NR_PAGES || page != order(at) || ev[i].flags != flags || ev[i].order ||
		    ev[i].pid != (__u32)prog->pid || ev[i].type != MMPATH_EVENT_ACCESS) {
			ksft_print_msg("event %zu: page %zu flags %u pid %u, not %zu flags %u\n",
				       i, page, ev[i].flags, ev[i].pid, order(at), flags);
			return false;
		}
		at++;
	}
	if (at != NR_PAGES)
		ksft_print_msg("%zu of %lu pages\n", at, NR_PAGES);
	return at == NR_PAGES;
}

static void test_record(void)
{
	struct mmpath_event *ev = calloc(16384, sizeof(*ev));
	struct pollfd poller = { .events = POLLIN };
	struct program prog;
	int dev = path_dev_open();
	size_t n;
	bool good;

	poller.fd = dev;
	good = path_eq(poll(&poller, 1, 0), 1) && path_true(poller.revents & POLLERR);
	ioctl(dev, MMPATH_IOC_RECORD);
	fcntl(dev, F_SETFL, O_NONBLOCK);
	run(&prog);
	good &= path_true(tell(&prog, 'w')) && path_eq(path_dev_track(dev, prog.pid), 0);
	read_all(dev, ev, 16384);
	good &= path_eq(poll(&poller, 1, 0), 0);
	tell(&prog, 'w');
	/* the end of an epoch wakes it */
	good &= path_eq(poll(&poller, 1, path_hangs_at(5) - path_now_ms()), 1) &&
		path_true(poller.revents & POLLIN);
	ksft_test_result(good, "poll\n");
	n = read_all(dev, ev, 16384);
	ksft_test_result(path_true(is_round(&prog, ev, n, MMPATH_ACCESS_WRITE)),
			 "writes in their order\n");
	tell(&prog, 'r');
	n = read_all(dev, ev, 16384);
	ksft_test_result(path_true(is_round(&prog, ev, n, 0)), "reads in their order\n");
	end(&prog);
	close(dev);
	free(ev);
}

/* Read all events until no more can come. Another reader takes some of them. */
static int read_to_end(void *arg)
{
	struct mmpath_event *ev = calloc(65536, sizeof(*ev));
	ssize_t got;

	do
		got = read(*(int *)arg, ev, 65536 * sizeof(*ev));
	while (got > 0);
	return path_eq(got < 0 ? -errno : 0, 0) ? KSFT_PASS : KSFT_FAIL;
}

static short poll_now(int dev)
{
	struct pollfd poller = { .fd = dev, .events = POLLIN };

	return poll(&poller, 1, 0) < 0 ? -1 : poller.revents;
}

static void test_ends(void)
{
	struct program prog, next;
	int dev, i, ret = KSFT_PASS;
	struct mmpath_event ev;
	pid_t reader[2];
	bool good;

	run(&prog);
	run(&next);
	dev = path_dev_open();
	ioctl(dev, MMPATH_IOC_RECORD);
	good = path_eq(poll_now(dev), 0) && path_eq(path_dev_track(dev, prog.pid), 0);
	fflush(stdout);
	for (i = 0; i < 2; i++) {
		reader[i] = fork();
		if (!reader[i])
			_exit(read_to_end(&dev));
	}
	for (i = 0; i < 20; i++)
		good &= path_true(tell(&prog, 'w'));
	end(&prog);
	for (i = 0; i < 2; i++)
		ret |= path_wait(reader[i], 10);
	ksft_test_result(good && path_eq(ret, KSFT_PASS),
			 "two readers get all until the last program has ended\n");
	good = path_eq(poll_now(dev), POLLHUP) && path_eq(read(dev, &ev, sizeof(ev)), 0) &&
	       path_eq(path_dev_track(dev, next.pid), 0) && path_eq(poll_now(dev) & POLLHUP, 0);
	ksft_test_result(good, "POLLHUP then, but not when there is another one\n");
	end(&next);
	close(dev);
}

/* Replay of a known string, in a process that does nothing else */

struct replay {
	size_t pages, touches;
	unsigned int group, record, order;
	char *base;
};

static size_t next(const struct replay *r, size_t i, unsigned long *state)
{
	if (i % 1024 < 300)
		return i % (r->pages / 3);
	if (i % 1024 < 500)
		return path_rand(state) % 40;
	return path_rand(state) % r->pages;
}

static bool replay(int dev, const struct replay *r)
{
	struct mmpath_event ev[256] = { };
	unsigned long state = 7;
	size_t i, n = 0;

	for (i = 0; i < r->touches; i++) {
		ev[n].addr = (unsigned long)r->base + (next(r, i, &state) * PAGE << r->order);
		ev[n].flags = i & 1;
		ev[n].order = r->order;
		n++;
		if (n < 256 && i + 1 < r->touches)
			continue;
		if (write(dev, ev, n * sizeof(*ev)) != (ssize_t)(n * sizeof(*ev))) {
			ksft_print_msg("write: %s\n", strerror(errno));
			return false;
		}
		n = 0;
	}
	return true;
}

static int start_replay(int *dev, const struct replay *r)
{
	int ret;

	*dev = path_dev_open();
	if (r->record && ioctl(*dev, MMPATH_IOC_RECORD))
		return -errno;
	ret = path_dev_track(*dev, getpid());
	if (ret)
		ksft_print_msg("cannot track itself: %d\n", ret);
	return ret;
}

/* A huge page counts for 512 pages: the misses of a string of huge pages. */
static bool same_curve(const struct replay *r, const struct path_curve *c)
{
	size_t i, scale = 1UL << r->order;
	struct path_mattson m;
	unsigned long state = 7;
	bool good;

	path_mattson_init(&m, r->pages, r->touches);
	for (i = 0; i < r->touches; i++)
		path_mattson_touch(&m, next(r, i, &state));
	good = path_eq(c->records, r->touches * scale) && path_eq(c->cold, m.cold * scale) &&
	       path_eq(c->footprint, m.cold * scale);
	if (!good)
		ksft_print_msg("records %lu cold %lu footprint %lu, not %zu %lu\n", c->records,
			       c->cold, c->footprint, r->touches * scale, m.cold * scale);
	for (i = 0; i < c->n; i++) {
		unsigned long want = path_mattson_misses(&m, c->pages[i] / scale) * scale;

		/* within a huge page only its end is known */
		if (c->pages[i] % scale == 0 && c->misses[i] != want) {
			ksft_print_msg("%lu pages: %lu misses, not %lu\n", c->pages[i],
				       c->misses[i], want);
			good = false;
			break;
		}
	}
	path_mattson_free(&m);
	return good;
}

static int replay_curve(void *arg)
{
	struct replay *r = arg;
	struct path_curve c;
	int dev;

	if (start_replay(&dev, r) || !replay(dev, r) || !curve_of(dev, &c))
		return KSFT_FAIL;
	return same_curve(r, &c) && path_eq(c.group, r->group) ? KSFT_PASS : KSFT_FAIL;
}

/* Misses with @memory pages under MRU replacement, first touches not counted */
static unsigned long mru_misses(const struct replay *r, size_t memory)
{
	bool *in = calloc(r->pages, 1), *seen = calloc(r->pages, 1);
	size_t i, page, used = 0, last = 0;
	unsigned long state = 7, misses = 0;

	for (i = 0; i < r->touches; i++) {
		page = next(r, i, &state);
		if (!in[page]) {
			misses += seen[page];
			if (memory && used == memory)
				in[last] = false;
			else
				used++;
			in[page] = memory > 0;
		}
		seen[page] = true;
		last = page;
	}
	free(in);
	free(seen);
	return misses;
}

static bool same_region_curves(const struct replay *r, const char *text)
{
	unsigned long long pages, lru, mru;
	struct path_mattson m;
	unsigned long state = 7;
	size_t i, n = 0;
	unsigned int id;
	int pid;
	bool good = true;

	path_mattson_init(&m, r->pages, r->touches);
	for (i = 0; i < r->touches; i++)
		path_mattson_touch(&m, next(r, i, &state));
	for (; good && (text = strchr(text, '\n')) && *++text; ) {
		if (sscanf(text, "%d %u %llu %llu %llu", &pid, &id, &pages, &lru, &mru) != 5)
			return false;
		if (!id || !lru)
			continue;
		good = path_eq(lru, path_mattson_misses(&m, pages)) &&
		       path_eq(mru, mru_misses(r, pages));
		if (!good)
			ksft_print_msg("%llu pages: lru %llu mru %llu, not %lu %lu\n", pages, lru,
				       mru, path_mattson_misses(&m, pages), mru_misses(r, pages));
		n++;
	}
	path_mattson_free(&m);
	return good && path_gt(n, 10);
}

static int replay_regions(void *arg)
{
	struct replay *r = arg;
	char *text;
	int dev;

	r->base = path_map(r->pages * PAGE, false);
	if (start_replay(&dev, r) || !replay(dev, r))
		return KSFT_FAIL;
	text = look(view(dev, MMPATH_VIEW_REGION_MRC));
	return path_true(text) && same_region_curves(r, text) ? KSFT_PASS : KSFT_FAIL;
}

/* Replayed accesses are recorded. Those that do not fit are counted. */
static int replay_lost(void *arg)
{
	struct mmpath_event *ev = calloc(1 << 17, sizeof(*ev));
	struct replay *r = arg;
	unsigned long lost = 0, state = 7;
	size_t i, n, got = 0;
	int dev;

	if (start_replay(&dev, r) || !replay(dev, r))
		return KSFT_FAIL;
	fcntl(dev, F_SETFL, O_NONBLOCK);
	n = read_all(dev, ev, 1 << 17);
	r->touches = 10;
	replay(dev, r);
	n += read_all(dev, ev + n, (1 << 17) - n);
	for (i = 0; i < n; i++) {
		if (ev[i].type == MMPATH_EVENT_LOST) {
			lost += ev[i].addr;
			continue;
		}
		if (!lost && ev[i].addr != (unsigned long)r->base + next(r, i, &state) * PAGE)
			return KSFT_FAIL;
		got++;
	}
	if (got + lost != 70010 || !lost)
		ksft_print_msg("%zu events and %lu lost\n", got, lost);
	return path_eq(got + lost, 70010) && path_gt(lost, 0) ? KSFT_PASS : KSFT_FAIL;
}

static int replay_bad(void *arg)
{
	static const struct mmpath_event bad[] = {
		{ .addr = BASE, .type = 2 }, { .addr = BASE, .order = 10 },
		{ .addr = 1UL << 63 }, { .addr = BASE, .type = 255, .order = 255 },
		{ .addr = BASE, .flags = MMPATH_ACCESS_AGAIN << 1 },
	};
	struct mmpath_event two[2] = { { .addr = BASE }, { .addr = BASE, .type = 2 } };
	struct mmpath_event lost = { .addr = 5, .type = MMPATH_EVENT_LOST };
	struct mmpath_event again = { .addr = BASE, .flags = MMPATH_ACCESS_AGAIN };
	struct replay r = { };
	struct path_curve c;
	bool good = true;
	size_t i;
	int dev;

	if (start_replay(&dev, &r))
		return KSFT_FAIL;
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		good &= is("bad event", write(dev, bad + i, sizeof(*bad)) < 0 ? -errno : 0,
			   -EINVAL);
	good &= is("a good one and a bad one", write(dev, two, sizeof(two)), sizeof(*two));
	good &= is("LOST", write(dev, &lost, sizeof(lost)), sizeof(lost));
	good &= is("AGAIN", write(dev, &again, sizeof(again)), sizeof(again));
	good &= path_true(curve_of(dev, &c)) && path_eq(c.records, 1);
	path_set("driver", "emul");
	good &= is("emul", write(dev, two, sizeof(*two)) < 0 ? -errno : 0, -EOPNOTSUPP);
	path_set("driver", "replay");
	good &= is("replay", write(dev, two, sizeof(*two)), sizeof(*two));
	return good ? KSFT_PASS : KSFT_FAIL;
}

/* Each huge page once */
static bool replay_once(int dev, const struct replay *r)
{
	struct mmpath_event ev = { .order = r->order };
	size_t i;

	for (i = 0; i < r->pages; i++) {
		ev.addr = (unsigned long)r->base + (i * PAGE << r->order);
		if (write(dev, &ev, sizeof(ev)) != sizeof(ev))
			return false;
	}
	return true;
}

/*
 * Two processes touch all of a large memory once. Nothing has a distance, so the curve is
 * short. They touch different addresses, because at the same address a child has its
 * parent's page.
 */
static int replay_much(void *arg)
{
	struct replay *r = arg, other = *r;
	struct path_curve c = { };
	unsigned long group;
	int dev, done[2];
	bool good;
	pid_t pid;
	char b;

	if (start_replay(&dev, r) || pipe(done))
		return KSFT_FAIL;
	other.base += r->pages * PAGE << r->order;
	pid = fork();
	if (!pid) {
		if (replay_once(dev, &other) && write(done[1], "d", 1) == 1)
			pause();
		_exit(KSFT_FAIL);
	}
	close(done[1]);
	good = path_eq(read(done[0], &b, 1), 1) && replay_once(dev, r) && curve_of(dev, &c);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	if (!good)
		return KSFT_FAIL;
	for (group = r->group; group * PATH_POINTS < c.footprint; )
		group *= 2;
	good = path_ge(c.footprint, 2 * (r->pages << r->order)) && path_eq(c.group, group) &&
	       path_ge(c.pages[c.n - 1], c.footprint);
	free(c.misses);
	return good ? KSFT_PASS : KSFT_FAIL;
}

static int in_child(int (*fn)(void *arg), struct replay *r)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid)
		_exit(fn(r));
	return path_wait(pid, 30);
}

static void test_replay(void)
{
	struct replay plain = { 3000, 30000, 16, 0, 0, (char *)BASE };
	struct replay fine = { 700, 10000, 1, 0, 0, (char *)BASE };
	struct replay huge = { 40, 2000, 64, 0, 9, (char *)BASE };
	struct replay region = { 512, 8000, 16, 0, 0, NULL };
	struct replay lost = { 1000, 70000, 16, 1, 0, (char *)BASE };
	struct replay much = { 2048, 0, 16, 0, 9, (char *)BASE };

	path_set("driver", "replay");
	ksft_test_result_report(in_child(replay_curve, &plain), "replay: the curve is exact\n");
	path_set("group_pages", "1");
	ksft_test_result_report(in_child(replay_curve, &fine), "replay: page by page\n");
	path_set("group_pages", "64");
	ksft_test_result_report(in_child(replay_curve, &huge), "replay: huge pages\n");
	path_set("group_pages", "16");
	ksft_test_result_report(in_child(replay_regions, &region),
				"replay: LRU and MRU of a region\n");
	ksft_test_result_report(in_child(replay_lost, &lost), "a slow reader is told\n");
	ksft_test_result_report(in_child(replay_bad, NULL), "bad events\n");
	path_set("sample_pages", "1024");
	ksft_test_result_report(in_child(replay_much, &much), "a curve of much memory is short\n");
	path_set("sample_pages", "0");
}

int main(void)
{
	path_start(21, 60);
	if (access(PATH_DEV, F_OK))
		ksft_exit_skip("no " PATH_DEV "\n");
	path_exact(16);
	test_track();
	test_killed_owner();
	test_rights();
	test_bad_track();
	test_bad();
	test_record();
	test_ends();
	test_replay();
	ksft_test_result(path_true(wait_contexts(0)), "no context is left\n");
	ksft_finished();
}
