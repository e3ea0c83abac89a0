// SPDX-License-Identifier: GPL-2.0
/*
 * A page that processes share since a fork is in memory once, and counts once in the curve of
 * their cgroup, however many of them touch it.
 *
 * A program maps and fills its pages, and forks children. These read the pages one after another,
 * as often as they are told to. A KUnit test (kt_parent_goes) covers a program that ends before
 * its children.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "path_util.h"

#define FAULT_AROUND	"/sys/kernel/debug/fault_around_bytes"
#define CHILDREN	4
#define ROUNDS		3
#define BYTES		(pages * PAGE)

/* Other pages of the processes: their stacks, and data of libraries that they write */
#define MAX_OTHER	(64UL * (CHILDREN + 2))

static size_t pages = 2048;
static char *cg;

/* @own: how many quarters of the pages each child has for itself in the end */
struct family {
	const char *name;
	int flags;
	bool (*begin)(char *p);		/* called in each child */
	unsigned int own;
};

/* Two pipes, of each of which the child has one end */
struct turns {
	int go[2], gone[2];
};

static bool just_read(char *p)
{
	return true;
}

static bool write_half(char *p)
{
	size_t i;

	for (i = 0; i < pages; i += 2)
		p[i * PAGE + 1] = 1;
	return true;
}

/* The end of it is new, the rest is what it was. */
static bool grow(char *p)
{
	return mremap(p, BYTES, BYTES - PAGE, 0) == p && mremap(p, BYTES - PAGE, BYTES, 0) == p;
}

static const struct family families[] = {
	{ "private memory", MAP_PRIVATE, just_read, 0 },
	{ "shared memory", MAP_SHARED, just_read, 0 },
	{ "private memory, half of it written", MAP_PRIVATE, write_half, 2 },
	{ "shared memory that grows where it is", MAP_SHARED, grow, 0 },
};

static void read_all(__volatile__ char *p)
{
	size_t i;

	for (i = 0; i < pages; i++)
		(void)p[i * PAGE];
}

static int serve(const struct family *f, char *p, struct turns *turns)
{
	char c;

	if (!f->begin(p))
		return KSFT_FAIL;
	while (read(turns->go[0], &c, 1) == 1) {
		read_all(p);
		if (write(turns->gone[1], &c, 1) != 1)
			return KSFT_FAIL;
	}
	return KSFT_PASS;
}

/* Wait for all children. Returns false if one of them has failed. */
static bool reap(void)
{
	bool good = true;
	int status;

	while (wait(&status) > 0)
		good &= WIFEXITED(status) && !WEXITSTATUS(status);
	return good;
}

static int program(const struct family *f, struct turns *turns)
{
	char *p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, f->flags | MAP_ANONYMOUS, -1, 0);
	size_t i;
	pid_t pid;

	if (p == MAP_FAILED)
		return KSFT_FAIL;
	for (i = 0; i < pages; i++)
		p[i * PAGE] = 1;
	for (i = 0; i < CHILDREN; i++) {
		pid = fork();
		if (pid < 0)
			return KSFT_FAIL;
		if (!pid)
			_exit(serve(f, p, &turns[i]));
	}
	return reap() ? KSFT_PASS : KSFT_FAIL;
}

static bool take_turns(struct turns *turns)
{
	char c = 'g';
	int i;

	for (i = 0; i < ROUNDS * CHILDREN; i++)
		if (write(turns[i % CHILDREN].go[1], &c, 1) != 1 ||
		    read(turns[i % CHILDREN].gone[0], &c, 1) != 1)
			return false;
	return true;
}

/* Close the ends of the pipes that the other process uses. */
static void close_ends(struct turns *turns, bool ours)
{
	int i;

	for (i = 0; i < CHILDREN; i++) {
		close(turns[i].go[ours]);
		close(turns[i].gone[!ours]);
	}
}

static int run_family(void *arg)
{
	const struct family *f = arg;
	struct turns turns[CHILDREN];
	bool good;
	pid_t pid;
	int i;

	signal(SIGPIPE, SIG_IGN);
	for (i = 0; i < CHILDREN; i++)
		if (pipe(turns[i].go) || pipe(turns[i].gone))
			return KSFT_FAIL;
	pid = fork();
	if (!pid) {
		close_ends(turns, true);
		_exit(program(f, turns));
	}
	close_ends(turns, false);
	good = pid > 0 && take_turns(turns);
	/* drain their logs before the first child ends and its pages are forgotten */
	free(path_cg_slurp(cg, "memory.path.mrc"));
	close_ends(turns, true);
	return reap() && good ? KSFT_PASS : KSFT_FAIL;
}

static bool about(const char *what, unsigned long is, unsigned long least, unsigned long most)
{
	bool good = is >= least && is <= most;

	if (!good)
		ksft_print_msg("%s: %lu, not %lu to %lu\n", what, is, least, most);
	return good;
}

static bool counted_once(const struct family *f, const struct path_curve *c)
{
	unsigned long all = pages + CHILDREN * pages * f->own / 4;
	unsigned long read = (ROUNDS * CHILDREN - 1) * pages, half, end;
	bool good = about("footprint", c->footprint, all, all + MAX_OTHER);

	half = path_curve_misses(c, pages / 2);
	end = path_curve_misses(c, all + MAX_OTHER);
	/*
	 * All that is read, also by the first child if its parent exists. Some pages were
	 * accessible when it was forked.
	 */
	if (!f->own)
		good &= about("misses in half of it", half, read - read / 10, read + 2 * pages);
	return good & about("misses in all of it", end, 0, pages / 50);
}

static void test_family(const struct family *f)
{
	struct path_curve c;
	char *text = NULL;
	int ret;

	cg = path_cg(NULL, "shared");
	ret = path_run(cg, run_family, (void *)f, 60);
	if (path_eq(ret, KSFT_PASS)) {
		text = path_cg_slurp(cg, "memory.path.mrc");
		ret = text && path_parse_curve(text, &c) ? KSFT_PASS : KSFT_FAIL;
	}
	if (!ret) {
		ret = counted_once(f, &c) ? KSFT_PASS : KSFT_FAIL;
		free(c.misses);
	}
	if (ret)
		ksft_print_msg("%lld not attached, %lld dropped, %lld without memory\n",
			       path_cg_key(cg, "memory.path.stat", "attach_failed"),
			       path_cg_key(cg, "memory.path.stat", "dropped_log_full"),
			       path_cg_key(cg, "memory.path.stat", "dropped_nomem"));
	ksft_test_result_report(ret, "%s\n", f->name);
	free(text);
	path_cg_remove(cg);
}

int main(void)
{
	size_t i;

	path_start(ARRAY_SIZE(families), 120);
	if (path_slow())
		pages = 1024;
	path_save(PATH_THP);
	path_write(PATH_THP, "never");
	/* pages that a fault maps around are tracked only after the next scan: too late */
	path_save(FAULT_AROUND);
	path_write(FAULT_AROUND, "4096");
	path_exact_filtered(16);
	for (i = 0; i < ARRAY_SIZE(families); i++)
		test_family(&families[i]);
	ksft_finished();
}
