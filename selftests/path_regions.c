// SPDX-License-Identifier: GPL-2.0
/*
 * Regions: a mapping made by one mmap() is one, also when the kernel merges it with its
 * neighbour. A region grows, is cut, moves and is inherited like the mapping.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "path_util.h"

#ifndef PR_SET_VMA
#define PR_SET_VMA		0x53564d41
#define PR_SET_VMA_ANON_NAME	0
#endif

static char *cg;

static char *map_at(char *at, size_t bytes)
{
	return mmap(at, bytes, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED : 0), -1, 0);
}

static void touch(char *p, size_t bytes)
{
	size_t i;

	for (i = 0; i < bytes; i += PAGE)
		++*(__volatile__ char *)(p + i);
}

static bool region_of(const void *addr, struct path_region *r)
{
	if (path_region_at(cg, getpid(), addr, r))
		return true;
	ksft_print_msg("%p is in no region\n", addr);
	return false;
}

static bool is(const struct path_region *r, const char *start, size_t bytes)
{
	if (r->start == (unsigned long)start && r->end == (unsigned long)start + bytes &&
	    r->kb == bytes >> 10)
		return true;
	ksft_print_msg("region %u: %lx-%lx %lu KiB, not %p and %zu KiB\n", r->id, r->start,
		       r->end, r->kb, start, bytes >> 10);
	return false;
}

static size_t vmas(const char *from, const char *to)
{
	char *text = path_slurp("/proc/self/maps"), *line = text;
	unsigned long start, end;
	size_t n = 0;

	while (line && sscanf(line, "%lx-%lx", &start, &end) == 2) {
		n += start < (unsigned long)to && end > (unsigned long)from;
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	free(text);
	return n;
}

static int result(bool good)
{
	return good ? KSFT_PASS : KSFT_FAIL;
}

static int t_merged(void)
{
	char *p = path_map(8 * MIB, false), *q = p + 2 * MIB;
	struct path_region a, b;

	munmap(p, 8 * MIB);
	if (map_at(p, 2 * MIB) != p || map_at(q, 2 * MIB) != q)
		return KSFT_FAIL;
	touch(p, 4 * MIB);
	if (vmas(p, p + 4 * MIB) != 1)
		return KSFT_SKIP;
	return result(region_of(p, &a) && region_of(q, &b) && path_ne(a.id, b.id) &&
		      is(&a, p, 2 * MIB) && is(&b, q, 2 * MIB) && path_eq(a.footprint, 512) &&
		      path_eq(b.footprint, 512) && path_same(a.kind, "mmap"));
}

static unsigned long rest_records(void)
{
	char *text = path_cg_slurp(cg, "memory.path.regions"), *line = text;
	struct path_region r = { };

	while (line && !(path_parse_region(line, &r) && !strcmp(r.kind, "rest"))) {
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	free(text);
	return r.records;
}

static int t_small(void)
{
	unsigned long before = rest_records();
	char *p = map_at(NULL, MIB - PAGE);
	struct path_region r;

	touch(p, MIB - PAGE);
	if (path_region_at(cg, getpid(), p, &r)) {
		ksft_print_msg("a region of %lu KiB\n", r.kb);
		return KSFT_FAIL;
	}
	return result(path_ge(rest_records() - before, 255));
}

static unsigned long nr_regions(void)
{
	char *text = path_cg_slurp(cg, "memory.path.regions"), *line;
	unsigned long n = 0;

	for (line = text; line && (line = strchr(line, '\n')); line++)
		n++;
	free(text);
	return n ? n - 1 : 0;
}

#define MOST_REGIONS	16384UL
#define MAPPINGS	17000UL

/*
 * A program makes mappings without end, which the kernel merges. The number of regions is bounded,
 * and they are charged to this cgroup, also those of a child.
 */
static int t_endless(void)
{
	long long kernel = path_cg_key(cg, "memory.stat", "kernel"), bytes;
	unsigned long i, n;
	int status;
	char *p, *q;
	pid_t pid;

	path_cg_write(cg, "memory.max", "32M");
	q = mmap(NULL, MAPPINGS * MIB, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		 -1, 0);
	if (q == MAP_FAILED)
		return KSFT_SKIP;
	/* free space: a mapping over another one would split that first */
	munmap(q, MAPPINGS * MIB);
	for (p = q, i = 0; i < MAPPINGS; i++, p += MIB)
		if (mmap(p, MIB, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
			 MAP_FIXED_NOREPLACE, -1, 0) != p)
			return KSFT_FAIL;
	bytes = path_cg_key(cg, "memory.path.stat", "model_bytes");
	kernel = path_cg_key(cg, "memory.stat", "kernel") - kernel;
	n = nr_regions();
	if (!path_ge(n, MOST_REGIONS - 100) || !path_le(n, MOST_REGIONS + 1) ||
	    !path_ge(path_cg_key(cg, "memory.path.stat", "regions_full"),
		     MAPPINGS - MOST_REGIONS) ||
	    !path_ge(bytes, MOST_REGIONS * 64) || !path_le(bytes, MOST_REGIONS * 256) ||
	    /* per-CPU counters may lack less than half of it */
	    !path_ge(kernel, bytes / 2))
		return KSFT_FAIL;
	pid = fork();
	if (!pid) {
		i = path_cg_key(cg, "memory.stat", "kernel");
		_exit(!path_eq(path_cg_key(cg, "memory.path.stat", "contexts"), 2) ||
		      !path_ge(i, bytes + bytes / 2));
	}
	if (pid < 0 || !path_eq(waitpid(pid, &status, 0), pid) || !path_eq(status, 0))
		return KSFT_FAIL;
	munmap(q, MAPPINGS * MIB);
	return result(path_le(nr_regions(), 100) &&
		      path_le(path_cg_key(cg, "memory.path.stat", "model_bytes"), bytes / 2));
}

static int t_min(void)
{
	char *p = map_at(NULL, MIB);
	struct path_region r;

	return result(region_of(p, &r) && is(&r, p, MIB));
}

static int t_heap(void)
{
	struct path_region a, b;
	char *p = sbrk(2 * MIB), *q;

	touch(p, 2 * MIB);
	if (!region_of(p + PAGE, &a) || strcmp(a.kind, "brk") || strcmp(a.name, "[heap]"))
		return KSFT_FAIL;
	q = sbrk(2 * MIB);
	touch(q, 2 * MIB);
	if (!region_of(q + PAGE, &b) || a.id != b.id || b.kb != a.kb + 2048 || b.start != a.start)
		return KSFT_FAIL;
	sbrk(-(intptr_t)(2 * MIB));
	return result(region_of(p + PAGE, &b) && path_le(b.kb, a.kb) && path_ge(b.footprint, 512) &&
		      path_le(b.footprint, 700));
}

static int t_cut(void)
{
	char *p = path_map(4 * MIB, false);
	struct path_region a, b, c;

	touch(p, 4 * MIB);
	if (!region_of(p, &a))
		return KSFT_FAIL;
	munmap(p + MIB, MIB);
	if (path_region_at(cg, getpid(), p + MIB, &c) && c.id != a.id)
		return KSFT_FAIL;
	if (!region_of(p, &b) || !region_of(p + 3 * MIB, &c) || a.id != b.id || b.id != c.id ||
	    c.kb != 3072 || c.footprint != 768)
		return KSFT_FAIL;
	munmap(p, MIB);
	if (!region_of(p + 2 * MIB, &b) || b.id != a.id || !is(&b, p + 2 * MIB, 2 * MIB))
		return KSFT_FAIL;
	munmap(p + 2 * MIB, 2 * MIB);
	return path_region_at(cg, getpid(), p + 2 * MIB, &b);
}

/* A hole that is filled again is another region. */
static int t_filled(void)
{
	char *p = path_map(6 * MIB, false);
	struct path_region a, b;

	if (map_at(p + 2 * MIB, 2 * MIB) != p + 2 * MIB)
		return KSFT_FAIL;
	return result(region_of(p, &a) && region_of(p + 2 * MIB, &b) && path_ne(a.id, b.id) &&
		      is(&b, p + 2 * MIB, 2 * MIB) && path_eq(a.kb, 4096));
}

static int t_moved(void)
{
	char *p = path_map(2 * MIB, false), *to = path_map(4 * MIB, false);
	struct path_region a, b;

	touch(p, 2 * MIB);
	if (!region_of(p, &a) || a.footprint != 512)
		return KSFT_FAIL;
	munmap(to, 4 * MIB);
	if (mremap(p, 2 * MIB, 2 * MIB, MREMAP_MAYMOVE | MREMAP_FIXED, to) != to)
		return KSFT_FAIL;
	if (!region_of(to, &b) || b.id != a.id || !is(&b, to, 2 * MIB) || b.footprint != 512)
		return KSFT_FAIL;
	/* the pages are still on the stack: no touch is the first one */
	touch(to, 2 * MIB);
	return result(region_of(to, &b) && path_eq(b.cold, a.cold) &&
		      path_ge(b.records, a.records + 480));
}

static int t_grown(void)
{
	char *p = path_map(4 * MIB, false), *q;
	struct path_region a, b;

	munmap(p + 2 * MIB, 2 * MIB);
	if (!region_of(p, &a) || mremap(p, 2 * MIB, 3 * MIB, 0) != p)
		return KSFT_FAIL;
	if (!region_of(p + 2 * MIB, &b) || b.id != a.id || !is(&b, p, 3 * MIB))
		return KSFT_FAIL;
	q = mremap(p, 3 * MIB, 64 * MIB, MREMAP_MAYMOVE);
	if (q == MAP_FAILED || !region_of(q + 63 * MIB, &b) || b.id != a.id || !is(&b, q, 64 * MIB))
		return KSFT_FAIL;
	if (mremap(q, 64 * MIB, MIB, 0) != q)
		return KSFT_FAIL;
	return result(region_of(q, &b) && path_eq(b.id, a.id) && is(&b, q, MIB));
}

/* Part of a mapping moves: its region is in two places. */
static int t_split(void)
{
	char *p = path_map(4 * MIB, false), *to = path_map(2 * MIB, false);
	struct path_region a, b, c;

	touch(p, 4 * MIB);
	if (!region_of(p, &a))
		return KSFT_FAIL;
	if (mremap(p + MIB, 2 * MIB, 2 * MIB, MREMAP_MAYMOVE | MREMAP_FIXED, to) != to)
		return KSFT_FAIL;
	return result(region_of(p, &b) && region_of(to, &c) && path_eq(b.id, a.id) &&
		      path_eq(c.id, a.id) && path_eq(b.kb, 4096) && path_eq(b.footprint, 1024));
}

static int t_protected_part(void)
{
	char *p = path_map(4 * MIB, false);
	struct path_region a, b;

	mprotect(p + MIB, MIB, PROT_READ);
	return result(path_ge(vmas(p, p + 4 * MIB), 3) && region_of(p, &a) &&
		      region_of(p + MIB, &b) && path_eq(a.id, b.id) && is(&a, p, 4 * MIB));
}

static int in_child(char *p, const struct path_region *parent)
{
	struct path_region r;

	touch(p, 2 * MIB);
	return result(region_of(p, &r) && path_eq(r.id, parent->id) && is(&r, p, 2 * MIB) &&
		      path_eq(r.footprint, 512) && path_ge(r.records, 512));
}

static int t_forked(void)
{
	char *p = path_map(2 * MIB, false);
	struct path_region a, b;
	int status;
	pid_t pid;

	touch(p, 2 * MIB);
	if (!region_of(p, &a))
		return KSFT_FAIL;
	pid = fork();
	if (!pid)
		_exit(in_child(p, &a));
	waitpid(pid, &status, 0);
	return result(path_eq(status, 0) && region_of(p, &b) && path_eq(b.id, a.id) &&
		      path_le(b.records, a.records + 64));
}

static int t_name(void)
{
	char *p = map_at(NULL, 2 * MIB);
	struct path_region r;

	if (prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, p, 2 * MIB, "my table (hot)"))
		return errno == EINVAL ? KSFT_SKIP : KSFT_FAIL;
	if (!region_of(p, &r))
		return KSFT_FAIL;
	if (!strstr(r.name, "my table"))
		ksft_print_msg("name is %s\n", r.name);
	return result(path_true(strstr(r.name, "my table")));
}

static int t_file(void)
{
	char name[] = "/tmp/path region XXXXXX";
	int fd = mkstemp(name), bad;
	struct path_region r;
	char *p;

	if (fd < 0 || ftruncate(fd, 2 * MIB))
		return KSFT_SKIP;
	p = mmap(NULL, 2 * MIB, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	touch(p, 2 * MIB);
	bad = !region_of(p, &r) || !is(&r, p, 2 * MIB) || !strstr(r.name, name);
	if (bad)
		ksft_print_msg("name is %s\n", r.name);
	unlink(name);
	return bad;
}

static int t_nameless(void)
{
	char *p = map_at(NULL, 2 * MIB);
	struct path_region r;

	return result(region_of(p, &r) && path_same(r.name, "-"));
}

/* A program that was running before it was tracked */
static int t_late(void)
{
	char *p = path_map(2 * MIB, false);
	struct path_region r;

	path_track(cg, false);
	path_track(cg, true);
	touch(p, 2 * MIB);
	return result(region_of(p, &r) && path_ge(r.footprint, 512));
}

/*
 * Most first touches are in a pause, and nearly all other touches are, too. Those that were seen
 * are scaled up to all, except first touches, of which there are no more than pages.
 */
static int t_paused(void)
{
	const unsigned long pages = 8192;
	unsigned long end = path_hangs_at(20);
	char *p = path_map(pages * PAGE, false);
	struct path_region r;
	bool good;

	path_set(PATH_EMUL "overhead_target", "1");
	path_set("epoch_ms", "500");
	path_track(cg, false);
	path_track(cg, true);
	do {
		touch(p, pages * PAGE);
		if (!region_of(p, &r))
			return KSFT_FAIL;
	} while (r.records < 10 * pages && path_now_ms() < end);
	path_set("epoch_ms", "200");
	path_set(PATH_EMUL "overhead_target", "0");
	good = r.cold >= r.footprint && r.cold <= pages && r.records >= 10 * pages;
	ksft_print_msg("%lu pages: records %lu (at least %lu), footprint %lu <= cold %lu\n",
		       pages, r.records, 10 * pages, r.footprint, r.cold);
	return !good;
}

static const struct {
	const char *name;
	int (*fn)(void);
} tests[] = {
	{ "two neighbours that are one vma", t_merged },
	{ "small mappings are in rest", t_small },
	{ "region_min_kb itself is a region", t_min },
	{ "mappings without end", t_endless },
	{ "heap grows and shrinks", t_heap },
	{ "partial munmap", t_cut },
	{ "a hole that is filled", t_filled },
	{ "mremap moves", t_moved },
	{ "mremap grows and shrinks", t_grown },
	{ "mremap of a part", t_split },
	{ "mprotect of a part", t_protected_part },
	{ "fork", t_forked },
	{ "anonymous name", t_name },
	{ "file name, with a blank", t_file },
	{ "no name", t_nameless },
	{ "mapped before it was tracked", t_late },
	{ "first touches, with pauses", t_paused },
};

static int run_one(void *arg)
{
	return (*(int (**)(void))arg)();
}

int main(void)
{
	size_t i;
	int ret;

	path_start(ARRAY_SIZE(tests), 180);
	path_exact(16);
	for (i = 0; i < ARRAY_SIZE(tests); i++) {
		cg = path_cg(NULL, "regions");
		ret = path_run(cg, run_one, (void *)&tests[i].fn, 60);
		ksft_test_result_report(ret, "%s\n", tests[i].name);
		path_cg_remove(cg);
	}
	ksft_finished();
}
