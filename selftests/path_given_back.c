// SPDX-License-Identifier: GPL-2.0
/*
 * A program that frees memory and uses the same addresses again touches new pages, in
 * whatever way it has freed the memory. Shared memory is tracked like private memory.
 *
 * Each program fills its pages, reads them, and frees all of them, several times. With a
 * small page access buffer only the reads miss with half the memory. With a buffer for all
 * pages there are only first touches.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/userfaultfd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "path_util.h"

#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP	4
#endif

#ifndef MADV_DONTNEED_LOCKED
#define MADV_DONTNEED_LOCKED	24
#endif

#ifndef UFFDIO_MOVE
struct uffdio_move {
	__u64 dst, src, len, mode;
	__s64 move;
};

#define UFFDIO_MOVE		_IOWR(UFFDIO, 0x05, struct uffdio_move)
#define UFFD_FEATURE_MOVE	65536
#endif

#define BYTES	(pages * PAGE)

/* Touches of other pages of a program: its stack, its libraries */
#define MAX_OTHER	64UL
/* How much that differs between programs */
#define MAX_NOISE	40L

static size_t pages = 1024, rounds = 3;

struct run;

struct kind {
	const char *name;
	/* both return false with errno */
	bool (*map)(struct run *r);
	bool (*give_back)(struct run *r);
};

struct run {
	const struct kind *kind;
	char *p, *other;
	int fd, uffd;
};

static bool map_anon(struct run *r)
{
	r->p = path_map(BYTES, false);
	return true;
}

static bool map_fd(struct run *r, int fd, int flags)
{
	r->fd = fd;
	if (fd < 0 || ftruncate(fd, BYTES))
		return false;
	r->p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, flags, fd, 0);
	return r->p != MAP_FAILED;
}

static bool map_memfd(struct run *r)
{
	return map_fd(r, memfd_create("given back", 0), MAP_SHARED);
}

static bool map_private_file(struct run *r)
{
	return map_fd(r, memfd_create("given back", 0), MAP_PRIVATE);
}

static bool map_tmpfs(struct run *r)
{
	char name[] = "/dev/shm/path given back XXXXXX";
	int fd = mkstemp(name);

	unlink(name);
	return map_fd(r, fd, MAP_SHARED);
}

static bool map_file(struct run *r)
{
	char name[] = "/tmp/path given back XXXXXX";
	int fd = mkstemp(name);

	unlink(name);
	return map_fd(r, fd, MAP_SHARED);
}

static bool map_shared(struct run *r)
{
	r->p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return r->p != MAP_FAILED;
}

static bool map_uffd(struct run *r)
{
	struct uffdio_api api = { .api = UFFD_API, .features = UFFD_FEATURE_MOVE };
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };

	map_anon(r);
	r->uffd = syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
	if (r->uffd < 0 || ioctl(r->uffd, UFFDIO_API, &api))
		return false;
	r->other = path_map(BYTES, false);
	reg.range.start = (unsigned long)r->other;
	reg.range.len = BYTES;
	return !ioctl(r->uffd, UFFDIO_REGISTER, &reg);
}

static bool by_munmap(struct run *r)
{
	return !munmap(r->p, BYTES) &&
	       mmap(r->p, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
		    -1, 0) == r->p;
}

static bool by_mmap(struct run *r)
{
	return mmap(r->p, BYTES, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == r->p;
}

static bool by_dontneed(struct run *r)
{
	return !madvise(r->p, BYTES, MADV_DONTNEED);
}

static bool by_dontneed_locked(struct run *r)
{
	return !madvise(r->p, BYTES, MADV_DONTNEED_LOCKED);
}

static bool by_free(struct run *r)
{
	return !madvise(r->p, BYTES, MADV_FREE);
}

static bool by_remove(struct run *r)
{
	return !madvise(r->p, BYTES, MADV_REMOVE);
}

static bool by_punch(struct run *r)
{
	return !fallocate(r->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, BYTES);
}

static bool by_truncate(struct run *r)
{
	return !ftruncate(r->fd, 0) && !ftruncate(r->fd, BYTES);
}

/* Move the pages elsewhere, and unmap them there. */
static bool by_dontunmap(struct run *r)
{
	char *to = mremap(r->p, BYTES, BYTES, MREMAP_MAYMOVE | MREMAP_DONTUNMAP,
			  NULL);

	return to != MAP_FAILED && !munmap(to, BYTES);
}

static bool by_uffd_move(struct run *r)
{
	struct uffdio_move move = {
		.dst = (unsigned long)r->other, .src = (unsigned long)r->p, .len = BYTES,
	};

	return !ioctl(r->uffd, UFFDIO_MOVE, &move) && !madvise(r->other, BYTES, MADV_DONTNEED);
}

/* The pages of the file stay in memory, but are not mapped any more. */
static bool by_nothing(struct run *r)
{
	return true;
}

/* The others are compared to the first one. */
static const struct kind ways[] = {
	{ "munmap", map_anon, by_munmap },
	{ "MAP_FIXED", map_anon, by_mmap },
	{ "MADV_DONTNEED", map_anon, by_dontneed },
	{ "MADV_DONTNEED_LOCKED", map_anon, by_dontneed_locked },
	{ "MADV_DONTNEED, private file", map_private_file, by_dontneed },
	{ "MADV_FREE", map_anon, by_free },
	{ "MADV_REMOVE", map_memfd, by_remove },
	{ "a punched hole", map_memfd, by_punch },
	{ "truncation", map_memfd, by_truncate },
	{ "truncation, private file", map_private_file, by_truncate },
	{ "MREMAP_DONTUNMAP", map_anon, by_dontunmap },
	{ "UFFDIO_MOVE", map_uffd, by_uffd_move },
};

static const struct kind memories[] = {
	{ "private memory", map_anon, by_nothing },
	{ "memfd", map_memfd, by_nothing },
	{ "tmpfs", map_tmpfs, by_nothing },
	{ "shared anonymous memory", map_shared, by_nothing },
	{ "file", map_file, by_nothing },
	{ "shared memory that is unmapped only", map_memfd, by_dontneed },
};

static bool fill_and_read(__volatile__ char *p)
{
	size_t i;

	for (i = 0; i < BYTES; i += PAGE)
		p[i] = i / PAGE % 100;
	for (i = 0; i < BYTES; i += PAGE)
		if (p[i] != (char)(i / PAGE % 100))
			return false;
	return true;
}

/* In the child */
static int use(void *arg)
{
	struct run r = { .kind = arg };
	size_t round;

	if (!r.kind->map(&r)) {
		ksft_print_msg("%s: no such memory: %s\n", r.kind->name, strerror(errno));
		return KSFT_SKIP;
	}
	for (round = 0; round < rounds; round++) {
		if (!fill_and_read(r.p)) {
			ksft_print_msg("%s: not what was written\n", r.kind->name);
			return KSFT_FAIL;
		}
		if (!r.kind->give_back(&r)) {
			ksft_print_msg("%s: %s\n", r.kind->name, strerror(errno));
			return errno == EINVAL ? KSFT_SKIP : KSFT_FAIL;
		}
	}
	return KSFT_PASS;
}

/* Counts of a run */
struct counts {
	unsigned long cold, misses, records;
};

static int run(const struct kind *kind, struct counts *n)
{
	char *cg = path_cg(NULL, "given_back"), *text = NULL;
	int ret = path_run(cg, use, (void *)kind, 60);
	size_t half = pages / 2;
	struct path_curve c;

	if (!ret) {
		text = path_cg_slurp(cg, "memory.path.mrc");
		ret = text && path_parse_curve(text, &c) ? KSFT_PASS : KSFT_FAIL;
		if (ret)
			ksft_print_msg("%s: no curve: %s\n", kind->name, text ? text : "no file");
	}
	if (!ret) {
		n->cold = c.cold;
		n->records = c.records;
		/* without these nothing can be compared */
		ret = path_eq(path_cg_key(cg, "memory.path.stat", "dropped_log_full"), 0) &&
		      path_eq(path_cg_key(cg, "memory.path.stat", "dropped_nomem"), 0) ?
		      KSFT_PASS : KSFT_FAIL;
		n->misses = half / c.group < c.n ? c.misses[half / c.group] : 0;
		free(c.misses);
	}
	free(text);
	path_cg_remove(cg);
	return ret;
}

static bool near(const char *what, unsigned long is, unsigned long want)
{
	long off = labs((long)(is - want));
	bool good = off * 50 <= (long)want || off <= MAX_NOISE;

	if (!good)
		ksft_print_msg("%s: %lu is not within 2 %% of %lu\n", what, is, want);
	return good;
}

/* The right counts for munmap() are known. The others are compared to them. */
static bool expected(const struct counts *n, unsigned long cold, unsigned long misses)
{
	if (n->cold >= cold && n->cold <= cold + MAX_OTHER && n->misses >= misses &&
	    n->misses <= misses + MAX_OTHER)
		return true;
	ksft_print_msg("%lu cold, %lu misses; not %lu and %lu, or %lu more\n", n->cold, n->misses,
		       cold, misses, MAX_OTHER);
	return false;
}

static void report(int ret, const struct kind *kind, const char *how)
{
	ksft_test_result_report(ret, "%s, %s\n", kind->name, how);
}

static void test_ways(const char *how, unsigned long misses)
{
	struct counts first = { }, n;
	size_t i;
	int ret;

	for (i = 0; i < ARRAY_SIZE(ways); i++) {
		ret = run(&ways[i], &n);
		if (!ret && !i) {
			first = n;
			ret = !expected(&n, rounds * pages, misses);
		} else if (!ret) {
			ret = !near("cold", n.cold, first.cold) ||
			      (misses && !near("misses", n.misses, first.misses));
		}
		report(ret, &ways[i], how);
	}
}

static void test_memories(void)
{
	struct counts first = { }, n;
	size_t i;
	int ret;

	for (i = 0; i < ARRAY_SIZE(memories); i++) {
		ret = run(&memories[i], &n);
		if (!ret && !i) {
			first = n;
			ret = !expected(&n, pages, (2 * rounds - 1) * pages);
		} else if (!ret) {
			ret = !near("records", n.records, first.records) ||
			      !near("misses", n.misses, first.misses);
		}
		report(ret, &memories[i], "seen");
	}
}

int main(void)
{
	path_start(2 * ARRAY_SIZE(ways) + ARRAY_SIZE(memories), 300);
	if (path_slow()) {
		pages = 512;
		rounds = 2;
	}
	path_save(PATH_THP);
	path_write(PATH_THP, "never");
	path_exact_filtered(16);
	test_memories();
	test_ways("misses", rounds * pages);
	/* all pages are in the buffer when they are freed */
	path_exact_filtered(2 * pages);
	test_ways("buffered", 0);
	ksft_finished();
}
