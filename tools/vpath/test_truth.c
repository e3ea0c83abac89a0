// SPDX-License-Identifier: GPL-2.0
/* Ground truth: what is written is read, and a damaged file is told. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "truth.h"

#include <cmocka.h>

#define EVENTS	300000

static char file[] = "/tmp/test-truth-XXXXXX";

static struct truth_event event(size_t i, unsigned int *seed)
{
	struct truth_event ev = { TRUTH_READ, 1 + i / 1000 % 5, 0 };
	uint64_t r = rand_r(seed);

	if (r % 50 == 0) {
		ev.type = TRUTH_MARK;
		ev.value = r / 50 % 64;
		return ev;
	}
	ev.type = r & 1 ? TRUTH_WRITE : TRUTH_READ;
	/* walks, jumps and the far end of what a page number can be */
	ev.value = r % 7 ? 0x400 + i : r % 3 ? r << 12 : (1ULL << 52) - 1 - r % 9;
	return ev;
}

static void write_all(size_t nr)
{
	struct truth_writer *w = truth_create(file);
	unsigned int seed = 3;
	size_t i;

	assert_non_null(w);
	for (i = 0; i < nr; i++) {
		struct truth_event ev = event(i, &seed);

		if (ev.type == TRUTH_MARK)
			truth_mark(w, ev.context, ev.value);
		else
			truth_page(w, ev.context, ev.value, ev.type == TRUTH_WRITE);
	}
	assert_int_equal(truth_finish(w), 0);
}

/* How many events are right up to the end, which is *end */
static size_t read_all(int *end)
{
	struct truth_reader *r = truth_open(file);
	struct truth_event ev, want;
	unsigned int seed = 3;
	size_t i;

	assert_non_null(r);
	for (i = 0; (*end = truth_next(r, &ev)) > 0; i++) {
		want = event(i, &seed);
		if (ev.type != want.type || ev.context != want.context || ev.value != want.value)
			break;
	}
	truth_close(r);
	return i;
}

static void test_round_trip(void **state)
{
	int end;

	(void)state;
	write_all(EVENTS);
	assert_int_equal(read_all(&end), EVENTS);
	assert_int_equal(end, 0);
}

static void test_empty(void **state)
{
	int end;

	(void)state;
	write_all(0);
	assert_int_equal(read_all(&end), 0);
	assert_int_equal(end, 0);
}

static void test_cut_off(void **state)
{
	struct stat st;
	size_t nr;
	int end;

	(void)state;
	write_all(EVENTS);
	assert_int_equal(stat(file, &st), 0);
	assert_int_equal(truncate(file, st.st_size / 2), 0);
	nr = read_all(&end);
	assert_true(nr > 0 && nr < EVENTS);
	assert_int_equal(end, -EINVAL);
}

static void test_damaged(void **state)
{
	struct stat st;
	int fd, end;

	(void)state;
	write_all(EVENTS);
	assert_int_equal(stat(file, &st), 0);
	fd = open(file, O_WRONLY);
	/* the head of a block: the data of one is not protected by a checksum */
	assert_int_equal(pwrite(fd, "\xff\xff\xff\xff\xff\xff\xff\xff", 8, 8), 8);
	close(fd);
	read_all(&end);
	assert_int_equal(end, -EINVAL);
}

/* A page that no address has, as a writer would write it that knows no better. */
static void test_beyond(void **state)
{
	struct truth_writer *w = truth_create(file);
	struct truth_reader *r;
	struct truth_event ev;

	(void)state;
	assert_non_null(w);
	truth_page(w, UINT32_MAX, (1ULL << 52) - 1, false);
	truth_page(w, 1, 1ULL << 52, false);
	assert_int_equal(truth_finish(w), 0);
	r = truth_open(file);
	assert_non_null(r);
	assert_int_equal(truth_next(r, &ev), 1);
	assert_int_equal(ev.context, UINT32_MAX);
	assert_int_equal(truth_next(r, &ev), -EINVAL);
	truth_close(r);
}

static void test_full(void **state)
{
	struct truth_writer *w = truth_create("/dev/full");

	(void)state;
	assert_non_null(w);
	truth_page(w, 1, 1, false);
	assert_int_equal(truth_finish(w), -ENOSPC);
}

static void test_other_files(void **state)
{
	(void)state;
	assert_null(truth_open("/nonexistent"));
	assert_int_equal(errno, ENOENT);
	assert_null(truth_open("/dev/null"));
	assert_int_equal(errno, EINVAL);
	assert_null(truth_open("/etc/passwd"));
	assert_int_equal(errno, EINVAL);
	assert_null(truth_create("/nonexistent/file"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_cut_off),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_beyond),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_other_files),
	};
	int ret;

	close(mkstemp(file));
	ret = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(file);
	return ret;
}
