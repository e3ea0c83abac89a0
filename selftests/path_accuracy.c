// SPDX-License-Identifier: GPL-2.0
/*
 * Is the curve right? A program touches pages in a known order. The true curve of
 * that order is computed here with Mattson's algorithm. The error is the mean over
 * all sizes M, from the size of the page access buffer to the footprint, of
 *
 *	|predicted(M) - true(M)| / true(size of the PAB)
 *
 * with a footprint of at least 32 times the PAB. (The PAB of huge pages has eight
 * entries whatever its size, and the footprint is four times that.) The error must be
 * 0.02 or less, with small and with huge pages. A huge page counts for all its small
 * pages, so the string is then one of huge pages. Pages of 64 KiB (mTHP) are mapped
 * page by page, and count as small ones.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "path_util.h"

#define MAX_ERROR	0.02
#define HUGE		512
#define PATH_MTHP	"/sys/kernel/mm/transparent_hugepage/hugepages-64kB/"

/* Entries of the PAB, and of the filter in the default proportion. */
#define PAB		64
#define FILTER		2
#define HUGE_PAB	8

struct string {
	const char *name;
	size_t (*next)(size_t i, size_t pages, size_t touches, unsigned long *state);
	size_t pages, touches;		/* with small pages */
	size_t huge_touches;		/* with huge ones, on pages / 64 of them */
};

static size_t next_loop(size_t i, size_t pages, size_t touches, unsigned long *state)
{
	return i % pages;
}

static size_t next_uniform(size_t i, size_t pages, size_t touches, unsigned long *state)
{
	return path_rand(state) % pages;
}

/* Each power of two of ranks as likely as the next: Zipf with s = 1, in steps. */
static size_t next_zipf(size_t i, size_t pages, size_t touches, unsigned long *state)
{
	size_t rank = 1UL << path_rand(state) % __builtin_ctzl(pages);

	rank += path_rand(state) & (rank - 1);
	return rank * 2654435761UL % pages;	/* hot pages are not neighbours */
}

/* First random on one half, then a loop over most of the other. */
static size_t next_phases(size_t i, size_t pages, size_t touches, unsigned long *state)
{
	if (i < touches / 2)
		return path_rand(state) % (pages / 2);
	return pages / 2 + i % (pages / 3);
}

/* Two touches of a loop over a quarter, then one of a loop over the rest. */
static size_t next_two_loops(size_t i, size_t pages, size_t touches, unsigned long *state)
{
	size_t small = pages / 4;

	return i % 3 == 2 ? small + i / 3 % (pages - small) : (i / 3 * 2 + i % 3) % small;
}

static const struct string strings[] = {
	{ "loop", next_loop, 2048, 16384, 512 },
	{ "uniform", next_uniform, 2048, 40000, 1500 },
	{ "zipf", next_zipf, 4096, 40000, 1500 },
	{ "phase change", next_phases, 4096, 40000, 1500 },
	{ "two loops", next_two_loops, 2048, 30000, 1500 },
};

enum kind { SMALL, MEDIUM, LARGE };

static const char * const kind_names[] = { "THP never", "mTHP 64 KiB", "THP always" };

/* A run of one string. */
struct run {
	const struct string *string;
	enum kind kind;
	size_t pages, touches, step;	/* pages of @step small ones */
};

static size_t huge_bytes(const char *p)
{
	char *text = path_slurp("/proc/self/smaps"), *line;
	size_t kb = 0;
	char start[32];

	snprintf(start, sizeof(start), "%lx-", (unsigned long)p);
	line = text ? strstr(text, start) : NULL;
	line = line ? strstr(line, "AnonHugePages:") : NULL;
	if (line)
		sscanf(line, "AnonHugePages: %zu", &kb);
	free(text);
	return kb << 10;
}

/* In the child */
static int touch_string(void *arg)
{
	const struct run *r = arg;
	char *p = path_map(r->pages * r->step * PAGE, r->kind != SMALL);
	unsigned long state = 1;
	size_t i, page, touched = 0;
	bool seen[8192] = { };

	for (i = 0; i < r->touches; i++) {
		page = r->string->next(i, r->pages, r->touches, &state);
		/* a read would bring the huge zero page, and the write split it */
		*(__volatile__ unsigned int *)(p + page * r->step * PAGE + i % 64 * 64) = i;
		touched += !seen[page];
		seen[page] = true;
	}
	if (r->kind == LARGE && huge_bytes(p) < touched * r->step * PAGE)
		return KSFT_SKIP;
	return KSFT_PASS;
}

static void reference(const struct run *r, struct path_mattson *m)
{
	unsigned long state = 1;
	size_t i;

	path_mattson_init(m, r->pages, r->touches);
	for (i = 0; i < r->touches; i++)
		path_mattson_touch(m, r->string->next(i, r->pages, r->touches, &state));
}

/* What the kernel's curve has and the true one has not: the program's other pages. */
static double curve_error(const struct run *r, const struct path_curve *c,
			  const struct path_mattson *m, size_t from)
{
	double sum = 0, base = (double)path_mattson_misses(m, from / r->step) * r->step;
	size_t pages, n = 0;

	for (pages = from; pages < r->pages * r->step; pages += c->group, n++) {
		double want = (double)path_mattson_misses(m, pages / r->step) * r->step;
		double is = path_curve_misses(c, pages);

		sum += is > want ? is - want : want - is;
	}
	return sum / n / base;
}

static int check(const struct run *r, const char *text)
{
	size_t from = r->step > 1 ? HUGE_PAB * HUGE : PAB;
	struct path_mattson m;
	struct path_curve c;
	double error;
	bool good;

	if (!text || !path_parse_curve(text, &c)) {
		ksft_print_msg("no curve: %s\n", text ? text : strerror(errno));
		return KSFT_FAIL;
	}
	reference(r, &m);
	error = curve_error(r, &c, &m, from);
	ksft_print_msg("%s: error %.4f from %lu, %lu records of %zu touches, %lu of %lu pages\n",
		       r->string->name, error, c.from, c.records, r->touches, c.footprint,
		       m.cold * r->step);
	good = path_le(error, MAX_ERROR) && path_ge(c.footprint, m.cold * r->step) &&
	       path_eq(c.from, from);
	path_mattson_free(&m);
	free(c.misses);
	return good ? KSFT_PASS : KSFT_FAIL;
}

static long long medium_pages(void)
{
	return path_number(PATH_MTHP "stats/anon_fault_alloc");
}

static int run(const struct run *r)
{
	char *cg = path_cg(NULL, "accuracy"), *text;
	long long dropped, medium = medium_pages();
	int ret = path_run(cg, touch_string, (void *)r, 30);

	if (!ret && r->kind == MEDIUM && medium_pages() - medium < (long long)r->pages / 32)
		ret = KSFT_SKIP;
	if (!ret) {
		dropped = path_cg_key(cg, "memory.path.stat", "dropped_log_full");
		if (dropped)
			ksft_print_msg("%lld records were dropped\n", dropped);
		text = path_cg_slurp(cg, "memory.path.mrc");
		ret = check(r, text);
		free(text);
	}
	path_cg_remove(cg);
	return ret;
}

static void test(const struct string *s, enum kind kind)
{
	struct run r = { s, kind, s->pages, s->touches, 1 };
	int ret;

	if (kind == LARGE) {
		r.pages = 32 * s->pages / 2048;
		r.touches = s->huge_touches;
		r.step = HUGE;
	}
	if (path_slow())
		r.touches /= 4;
	ret = run(&r);
	if (ret == KSFT_SKIP)
		ksft_test_result_skip("%s, %s: there were none\n", s->name, kind_names[kind]);
	else
		ksft_test_result(path_eq(ret, 0), "%s, %s\n", s->name, kind_names[kind]);
}

static void test_all(enum kind kind)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(strings); i++)
		test(strings + i, kind);
}

int main(void)
{
	path_start(3 * ARRAY_SIZE(strings), 90);
	path_save(PATH_THP);
	path_save(PATH_MTHP "enabled");
	path_exact(PAB);
	path_set(PATH_EMUL "filter_entries", "%u", FILTER);
	/* records of huge pages take long to drain: leave room for those behind them */
	path_set(PATH_EMUL "log_entries", "16384");
	path_write(PATH_THP, "never");
	test_all(SMALL);
	path_write(PATH_MTHP "enabled", "always");
	test_all(MEDIUM);
	path_write(PATH_MTHP "enabled", "never");
	/* huge pages bypass the filter, so its size changes nothing */
	path_set(PATH_EMUL "filter_entries", "64");
	path_write(PATH_THP, "always");
	test_all(LARGE);
	ksft_finished();
}
