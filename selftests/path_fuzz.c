// SPDX-License-Identifier: GPL-2.0
/*
 * Random bytes are written into every file of PATH. A value that is accepted must be
 * as good as any other. Afterwards the knobs are restored, and tracking still works.
 *
 * usage: path_fuzz [writes into each file (10000; a slow kernel 400) [seed]]
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/mmpath.h>
#include "path_util.h"

#define MAX_FILES	128
#define MAX_BYTES	64

static char files[MAX_FILES][512];
static int nr_files;
static unsigned long state = 1;

/* Files with more than one value in their list of good words */
static const char * const words[] = {
	"emul", "replay", "reset", "0", "1", "16", "1024", "65536", "-1", "4294967296",
	"18446744073709551615", "0x10", " ", "\n", "none", "lirs", "region", "auto",
	"throughput", "fair", "sla", "max",
};

static void add(const char *dir, const char *name)
{
	struct stat st;

	snprintf(files[nr_files], sizeof(files[0]), "%s/%s", dir, name);
	if (nr_files < MAX_FILES - 1 && !stat(files[nr_files], &st) && S_ISREG(st.st_mode))
		nr_files++;
}

static void find(const char *dir)
{
	struct dirent *entry;
	char sub[512];
	DIR *d = opendir(dir);

	while (d && (entry = readdir(d))) {
		if (entry->d_name[0] == '.')
			continue;
		if (entry->d_type == DT_DIR) {
			snprintf(sub, sizeof(sub), "%.250s/%.250s", dir, entry->d_name);
			find(sub);
		} else {
			add(dir, entry->d_name);
		}
	}
	if (d)
		closedir(d);
}

static size_t any(size_t n)
{
	return path_rand(&state) % n;
}

static size_t random_bytes(char *buf)
{
	size_t i, len = 1 + any(MAX_BYTES);

	for (i = 0; i < len; i++)
		buf[i] = path_rand(&state);
	return len;
}

/* Bytes, digits, good words, and good words with one byte changed */
static size_t something(char *buf)
{
	size_t i, len;

	switch (any(8)) {
	case 0:
		len = 1 + any(20);
		for (i = 0; i < len; i++)
			buf[i] = '0' + any(10);
		return len;
	case 1:
		return snprintf(buf, MAX_BYTES, "%s", words[any(ARRAY_SIZE(words))]);
	case 2:
		len = snprintf(buf, MAX_BYTES, "%s%s", words[any(ARRAY_SIZE(words))],
			       words[any(ARRAY_SIZE(words))]);
		buf[any(len)] = path_rand(&state);
		return len;
	default:
		return random_bytes(buf);
	}
}

/* Enabling and attaching take long, so most of the values must be invalid. */
static bool dear(const char *file, const char *buf, size_t len)
{
	return any(64) && len < 3 && (strstr(file, "enabled") || strstr(file, "track")) &&
	       (buf[0] == '0' || buf[0] == '1');
}

static bool fuzz(const char *file, unsigned long writes)
{
	unsigned long taken = 0, done = 0;
	char buf[MAX_BYTES + 1];
	int fd = open(file, O_WRONLY);
	bool good = true;
	ssize_t ret;
	size_t len;

	if (fd < 0)
		return errno == EACCES || errno == EPERM;
	while (done < writes) {
		len = something(buf);
		if (dear(file, buf, len))
			continue;
		ret = pwrite(fd, buf, len, 0);
		done++;
		taken += ret >= 0;
		if (ret < 0 && errno != EINVAL && errno != ERANGE && errno != ENODEV &&
		    errno != ENODATA && errno != EIO && errno != EACCES && errno != EPERM) {
			ksft_print_msg("%s: %s\n", file, strerror(errno));
			good = false;
			break;
		}
	}
	close(fd);
	if (strstr(file, "stats/") && taken)
		good = false;
	ksft_print_msg("%s: %lu of %lu were taken\n", file, taken, done);
	return good;
}

/*
 * One file at a time, with all others as they were, so that none leaves tracking off for
 * those after it. An epoch passes with the last value.
 */
static bool fuzz_tracked(const char *file, unsigned long writes, const char *target)
{
	bool good;

	path_exact(64);
	path_track(target, true);
	if (!path_wait_contexts(target, 1)) {
		ksft_print_msg("%s: nothing is tracked\n", file);
		return false;
	}
	good = fuzz(file, writes);
	path_sleep_ms(250);
	return good;
}

/* The device: ioctls and events of random content, from a process of its own. */
static int fuzz_dev(void *arg)
{
	struct mmpath_event ev[8];
	long i, n = *(long *)arg;
	unsigned long val;
	int dev = -1, fd;

	for (i = 0; i < n; i++) {
		if (dev < 0 || !any(64)) {
			close(dev);
			dev = open("/dev/mmpath", O_RDWR | O_NONBLOCK);
		}
		random_bytes((char *)ev);
		random_bytes((char *)&ev[4]);
		val = any(8) - 1;
		switch (any(5)) {
		case 0:
			ioctl(dev, path_rand(&state), &ev);
			break;
		case 1:
			fd = ioctl(dev, any(2) ? MMPATH_IOC_TRACK : MMPATH_IOC_VIEW, &val);
			if (fd > 2) {
				if (read(fd, ev, any(sizeof(ev))) < 0)
					errno = 0;
				close(fd);
			}
			break;
		case 2:
			ioctl(dev, MMPATH_IOC_RECORD);
			break;
		case 3:
			if (write(dev, ev, any(sizeof(ev))) < 0)
				errno = 0;
			break;
		case 4:
			if (read(dev, ev, any(sizeof(ev))) < 0)
				errno = 0;
			break;
		}
	}
	return KSFT_PASS;
}

static int works(void *arg)
{
	__volatile__ unsigned long *p = (void *)path_map(2 * MIB, false);
	unsigned long round;
	size_t i;

	for (round = 0; round < 4; round++)
		for (i = 0; i < 512; i++)
			if (p[i * WORDS]++ != round)
				return KSFT_FAIL;
	munmap((void *)p, 2 * MIB);
	return KSFT_PASS;
}

/* A program that runs all the time, and leaves most of the CPU to the writers */
static int busy(void *arg)
{
	while (works(NULL) == KSFT_PASS)
		path_sleep_ms(20);
	return KSFT_FAIL;
}

int main(int argc, char **argv)
{
	long writes = argc > 1 ? atol(argv[1]) : path_slow() ? 400 : 10000;
	char *cg, *target;
	bool good = true;
	int i, status;
	pid_t pid;

	if (argc > 2)
		state = atol(argv[2]);
	path_start(4, 120);
	cg = path_cg(NULL, "fuzz");
	target = path_cg(NULL, "target");
	path_exact(64);
	find("/sys/kernel/mm/path");
	i = nr_files;
	ksft_test_result(path_gt(i, 20), "%d files in /sys/kernel/mm/path\n", i);
	pid = path_spawn(target, busy, NULL);
	for (i = 0; i < nr_files; i++)
		good &= fuzz_tracked(files[i], writes, target);
	add(target, "memory.path.mrc");
	add(target, "memory.path.regions");
	add(target, "memory.path.region_mrc");
	add(target, "memory.path.stat");
	add(target, "memory.path.replace");
	add(target, "memory.path.balance");
	add(target, "memory.path.balance_stat");
	add(target, "memory.path.weight");
	add(target, "memory.path.sla");
	add(target, "memory.path.target");
	add(target, "memory.path.track");
	for (; i < nr_files; i++)
		good &= fuzz_tracked(files[i], writes, target);
	good &= path_eq(waitpid(pid, &status, WNOHANG), 0);
	ksft_test_result(good, "%ld writes into each of %d files\n", writes, nr_files);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	pid = fork();
	if (!pid)
		_exit(fuzz_dev(&writes));
	ksft_test_result_report(access("/dev/mmpath", F_OK) ? KSFT_SKIP : path_wait(pid, 60),
				"/dev/mmpath\n");
	path_exact(64);
	path_track(cg, true);
	ksft_test_result(path_eq(path_run(cg, works, NULL, 10), 0) &&
			 path_ge(path_cg_key(cg, "memory.path.stat", "records"), 4 * 480),
			 "tracking still works\n");
	ksft_finished();
}
