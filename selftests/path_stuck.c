// SPDX-License-Identifier: GPL-2.0
/*
 * A program that keeps its mmap_lock does not block others. Here a file system does not
 * answer. One thread reads a page of a mapped file through /proc/self/mem, and waits for it
 * with mmap_lock held for reading. Another thread wants to map something, and because it
 * waits, no other task gets the lock.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/types.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "path_util.h"

#define NR_CASES	5
#define NR_PAGES	1024UL
#define FILE_BYTES	MIB
/*
 * Two rounds are at least an epoch with touches and one without. There must be enough rounds for a
 * scan of the stuck program to be due: scans take 1/128 of the time, so a long one puts off the
 * next.
 */
#define ROUNDS		32

struct shared {
	bool asked, enough;
	unsigned int round;
	pid_t mapper;
};

static struct shared *shared;
static char dir[32];
static int server;

/* A 9P2000.L file system on a socket, with one file that never reads to its end */

enum {
	RLERROR = 7, TLOPEN = 12, TGETATTR = 24, TVERSION = 100, TATTACH = 104, TFLUSH = 108,
	TWALK = 110, TREAD = 116, TCLUNK = 120,
};

#pragma pack(push, 1)
struct qid {
	__u8 type;
	__u32 version;
	__u64 path;
};

struct message {
	__u32 size;
	__u8 type;
	__u16 tag;
	__u8 body[8192];
};

struct attr {
	__u64 valid;
	struct qid qid;
	__u32 mode, uid, gid;
	__u64 nlink, rdev, size, blksize, blocks, others[10];
};

#pragma pack(pop)

#define NR_FIDS		64

/* The root is a directory. All else is the file. */
static struct qid qid_of[NR_FIDS];

static struct qid *qid_at(const __u8 *p)
{
	__u32 fid;

	memcpy(&fid, p, sizeof(fid));
	return &qid_of[fid % NR_FIDS];
}

static size_t get_attr(const struct qid *qid, __u8 *body)
{
	struct attr attr = {
		.valid = 0x7ff, .qid = *qid, .nlink = 1, .size = FILE_BYTES, .blksize = PAGE,
		.mode = qid->type ? S_IFDIR | 0755 : S_IFREG | 0644,
	};

	memcpy(body, &attr, sizeof(attr));
	return sizeof(attr);
}

static size_t walk(__u8 *body)
{
	struct qid *from = qid_at(body), *to = qid_at(body + 4);
	bool down = body[8];

	*to = down ? (struct qid){ .path = 2 } : *from;
	body[0] = down;
	body[1] = 0;
	memcpy(body + 2, to, sizeof(*to));
	return 2 + down * sizeof(*to);
}

/* Write the answer over the question. Returns the size of the answer, or -1. */
static ssize_t reply(struct message *m)
{
	struct qid *qid = qid_at(m->body), copy;

	switch (m->type) {
	case TVERSION:
		return m->size - offsetof(struct message, body);
	case TATTACH:
		*qid = copy = (struct qid){ .type = 0x80, .path = 1 };
		memcpy(m->body, &copy, sizeof(copy));
		return sizeof(copy);
	case TGETATTR:
		return get_attr(qid, m->body);
	case TWALK:
		return walk(m->body);
	case TLOPEN:
		copy = *qid;
		memcpy(m->body, &copy, sizeof(copy));
		memset(m->body + sizeof(copy), 0, 4);
		return sizeof(copy) + 4;
	case TCLUNK:
	case TFLUSH:
		return 0;
	}
	return -1;
}

static void serve_one(struct message *m)
{
	__u32 error = EOPNOTSUPP;
	ssize_t size;

	if (m->type == TREAD) {
		__atomic_store_n(&shared->asked, true, __ATOMIC_RELAXED);
		return;
	}
	size = reply(m);
	m->type++;
	if (size < 0) {
		m->type = RLERROR;
		memcpy(m->body, &error, sizeof(error));
		size = sizeof(error);
	}
	m->size = offsetof(struct message, body) + size;
	if (send(server, m, m->size, MSG_NOSIGNAL) != (ssize_t)m->size)
		ksft_print_msg("9P: %s\n", strerror(errno));
}

static void *serve(void *arg)
{
	static struct message m;

	while (recv(server, &m, 4, MSG_WAITALL) == 4 && m.size > 4 && m.size <= sizeof(m) &&
	       recv(server, &m.type, m.size - 4, MSG_WAITALL) == m.size - 4)
		serve_one(&m);
	return NULL;
}

static bool mount_file(void)
{
	char options[128];
	pthread_t thread;
	int fd[2];

	snprintf(dir, sizeof(dir), "/tmp/path_stuckXXXXXX");
	if (!mkdtemp(dir) || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd))
		return false;
	server = fd[1];
	snprintf(options, sizeof(options),
		 "trans=fd,rfdno=%d,wfdno=%d,version=9p2000.L,msize=8192,cache=mmap", fd[0], fd[0]);
	if (pthread_create(&thread, NULL, serve, NULL) ||
	    mount("path_stuck", dir, "9p", 0, options)) {
		ksft_print_msg("9p: %s\n", strerror(errno));
		return false;
	}
	close(fd[0]);
	return true;
}

/* Let all requests fail that were not answered. */
static void unmount_file(void)
{
	shutdown(server, SHUT_RDWR);
	umount2(dir, MNT_DETACH);
	rmdir(dir);
}

/* The program that keeps its mmap_lock */

static void *map_more(void *arg)
{
	__atomic_store_n(&shared->mapper, syscall(SYS_gettid), __ATOMIC_RELAXED);
	while (!__atomic_load_n(&shared->asked, __ATOMIC_RELAXED))
		path_sleep_ms(1);
	while (!__atomic_load_n(&shared->enough, __ATOMIC_RELAXED))
		munmap(mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), PAGE);
	return NULL;
}

static int get_stuck(void *arg)
{
	char *p = path_map(NR_PAGES * PAGE, false), *q, c, name[64];
	int fd, mem = open("/proc/self/mem", O_RDONLY);
	pthread_t thread;

	snprintf(name, sizeof(name), "%s/file", dir);
	fd = open(name, O_RDONLY);
	q = mmap(NULL, FILE_BYTES, PROT_READ, MAP_PRIVATE, fd, 0);
	if (q == MAP_FAILED || mem < 0)
		return KSFT_FAIL;
	path_go_round(p, NR_PAGES, 0);
	pthread_create(&thread, NULL, map_more, NULL);
	if (pread(mem, &c, 1, (unsigned long)q) == 1)
		return KSFT_FAIL;
	pthread_join(thread, NULL);
	return KSFT_PASS;
}

/* Wait until the thread that wants to map something sleeps for the lock. */
static bool is_stuck(pid_t pid)
{
	char name[64], *text, *end;
	bool stuck;

	snprintf(name, sizeof(name), "/proc/%d/task/%d/stat", pid,
		 __atomic_load_n(&shared->mapper, __ATOMIC_RELAXED));
	text = path_slurp(name);
	end = text ? strrchr(text, ')') : NULL;
	stuck = __atomic_load_n(&shared->asked, __ATOMIC_RELAXED) && end && end[2] == 'D';
	free(text);
	return stuck;
}

static bool wait_stuck(pid_t pid)
{
	int i;

	for (i = 0; i < 2000; i++) {
		/* twice: the first time it may have waited for this process */
		if (is_stuck(pid) && (path_sleep_ms(20), is_stuck(pid)))
			return true;
		path_sleep_ms(10);
	}
	return false;
}

/* Others */

static int touch(void *arg)
{
	return path_go_round(path_map(NR_PAGES * PAGE, false), NR_PAGES, 0) ? KSFT_FAIL : KSFT_PASS;
}

/*
 * Touch pages in each odd round, over and over, and none in each even one. The epochs are others'
 * business: some may end before the test looks, and some may come late.
 */
static int touch_and_wait(void *arg)
{
	char *p = path_map(NR_PAGES * PAGE, false);
	unsigned long times = 0, wrong = 0;

	while (!__atomic_load_n(&shared->enough, __ATOMIC_RELAXED)) {
		if (__atomic_load_n(&shared->round, __ATOMIC_RELAXED) % 2)
			wrong += path_go_round(p, NR_PAGES, times++);
		path_sleep_ms(10);
	}
	return wrong ? KSFT_FAIL : KSFT_PASS;
}

static bool wait_rate(const char *cg, bool some)
{
	unsigned long end = path_hangs_at(20);
	long long rate;

	do {
		path_sleep_ms(10);
		rate = path_cg_key(cg, "memory.path.stat", "records_per_sec");
		if (some ? rate > 0 : !rate)
			return true;
	} while (path_now_ms() < end);
	ksft_print_msg("records_per_sec is %lld\n", rate);
	return false;
}

/* Write a knob in a child, because the write might not return. */
static bool knob(const char *name, const char *value)
{
	pid_t pid = fork(), ended = 0;
	char path[128];
	int i, status = -1;

	snprintf(path, sizeof(path), PATH_SYSFS "%s", name);
	if (!pid)
		_exit(!!path_write(path, value));
	for (i = 0; i < 3000 && !ended; i++) {
		path_sleep_ms(10);
		ended = waitpid(pid, &status, WNOHANG);
	}
	return path_eq(ended, pid) && path_eq(status, 0);
}

static void test_all(const char *cg, const char *other)
{
	pid_t pid, idle;
	bool good;
	int i;

	path_track(cg, true);
	path_track(other, true);
	pid = path_spawn(cg, get_stuck, NULL);
	ksft_test_result(path_true(wait_stuck(pid)), "a program keeps its mmap_lock\n");
	/* until an epoch in which the other was touched has ended, and one in which it was not */
	idle = path_spawn(other, touch_and_wait, NULL);
	for (i = 0, good = true; i < ROUNDS && good; i++)
		good = path_true(wait_rate(other, __atomic_add_fetch(&shared->round, 1,
								     __ATOMIC_RELAXED) % 2));
	ksft_test_result(good, "the epochs of others go on\n");
	good = path_eq(path_run(other, touch, NULL, 30), KSFT_PASS);
	good &= knob("driver", "replay") && knob("driver", "emul");
	good &= path_eq(path_run(other, touch, NULL, 30), KSFT_PASS);
	ksft_test_result(good, "another driver is chosen, and programs begin\n");
	good = knob("enabled", "0");
	good &= path_eq(path_run(other, touch, NULL, 30), KSFT_PASS);
	good &= knob("enabled", "1");
	good &= path_eq(path_run(other, touch, NULL, 30), KSFT_PASS);
	good &= path_true(is_stuck(pid));
	ksft_test_result(good, "tracking is switched off and on, and programs begin\n");
	__atomic_store_n(&shared->enough, true, __ATOMIC_RELAXED);
	unmount_file();
	good = path_eq(path_wait(pid, 30), KSFT_PASS);
	good &= path_eq(path_wait(idle, 30), KSFT_PASS);
	ksft_test_result(good, "and the program goes on\n");
}

int main(void)
{
	char *cg, *other;
	int i;

	path_start(NR_CASES, 240);
	shared = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (!mount_file()) {
		unmount_file();
		for (i = 0; i < NR_CASES; i++)
			ksft_test_result_skip("no CONFIG_NET_9P_FD\n");
		ksft_finished();
	}
	path_save(PATH_SYSFS "driver");
	path_exact(64);
	path_set("epoch_ms", "100");
	cg = path_cg(NULL, "stuck");
	other = path_cg(NULL, "other");
	test_all(cg, other);
	path_cg_remove(other);
	path_cg_remove(cg);
	ksft_finished();
}
