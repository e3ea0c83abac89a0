// SPDX-License-Identifier: GPL-2.0
/*
 * seekdisk-test - does /dev/seekdisk0 cost what it says, and keep what is written?
 *
 * In virtual time, on one CPU; prints TAP.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PAGE	4096L
#define CPU_US	60	/* what a request takes beside, at most */

static int disk, number, failed;
static char *buffer;
static long pages, min_us, full_us, page_us;

static long parameter(const char *name)
{
	char path[128];
	long value = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/sys/module/seekdisk/parameters/%s", name);
	file = fopen(path, "r");
	if (!file || fscanf(file, "%ld", &value) != 1) {
		printf("Bail out! no %s\n", path);
		exit(1);
	}
	fclose(file);
	return value;
}

static long now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000L + t.tv_nsec / 1000;
}

/* How long it takes to read @nr pages. */
static long read_us(long page, long nr)
{
	long begin = now_us();

	if (pread(disk, buffer, nr * PAGE, page * PAGE) != nr * PAGE) {
		perror("seekdisk-test: read");
		exit(1);
	}
	return now_us() - begin;
}

/* The disk takes square roots to a thousandth of its size. */
static long seek_us(double part)
{
	return part ? min_us + (full_us - min_us) * sqrt(part) : 0;
}

/* That it took what it takes to get to another place, and to read @nr pages there. */
static void expect(const char *what, long us, double part, long nr)
{
	long asked = seek_us(part) + nr * page_us, less = part ? full_us / 1000 : 0;
	bool ok = us >= asked - less && us <= asked + CPU_US;

	printf("%s %d - %s\n", ok ? "ok" : "not ok", ++number, what);
	if (!ok)
		printf("# took %ld us, asked for %ld to %ld\n", us, asked - less, asked + CPU_US);
	failed += !ok;
}

static void keeps_data(void)
{
	uint64_t *words = (uint64_t *)buffer;
	long page, bad = 0;

	for (page = 0; page < pages; page += 97) {
		words[0] = words[511] = page + 1;
		if (pwrite(disk, buffer, PAGE, page * PAGE) != PAGE)
			bad++;
	}
	for (page = 0; page < pages; page += 97) {
		memset(buffer, 0, PAGE);
		read_us(page, 1);
		bad += words[0] != (uint64_t)page + 1 || words[511] != (uint64_t)page + 1;
	}
	printf("%s %d - data are kept\n", bad ? "not ok" : "ok", ++number);
	if (bad)
		printf("# %ld pages of %ld were not what was written\n", bad, pages);
	failed += bad != 0;
}

int main(void)
{
	pages = parameter("size_mb") << 8;
	min_us = parameter("seek_us_min");
	full_us = parameter("seek_us_full");
	page_us = parameter("page_us");
	buffer = aligned_alloc(PAGE, 64 * PAGE);
	disk = open("/dev/seekdisk0", O_RDWR | O_DIRECT);
	if (disk < 0 || !buffer) {
		perror("seekdisk-test: /dev/seekdisk0");
		return 1;
	}
	memset(buffer, 0, 64 * PAGE);
	read_us(0, 1);
	expect("the next page", read_us(1, 1), 0, 1);
	expect("32 pages at once", read_us(2, 32), 0, 32);
	expect("one page further", read_us(35, 1), 1.0 / pages, 1);
	read_us(0, 1);
	expect("a quarter of the disk", read_us(1 + pages / 4, 1), 0.25, 1);
	expect("and back", read_us(2, 1), 0.25, 1);
	expect("all of it", read_us(pages - 1, 1), 1, 1);
	keeps_data();
	printf("1..%d\n", number);
	return failed != 0;
}
