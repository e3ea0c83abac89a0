// SPDX-License-Identifier: GPL-2.0
/*
 * workload - page touches in a known order.
 *
 * Touches pages of one mapping in the order of a pattern, checks what it finds
 * there, and prints how long it took from the --warm'th touch on; with --hold it stops
 * before it begins, with --stop before the first and there, until it gets SIGCONT. With
 * --threads the touches from there on are divided among so many, each with a string of its
 * own. With --file the pages are those of a file, or of a disk, which it overwrites at first, and
 * touches read them. With --faults it maps the pages anew after each round. With --truth it touches
 * nothing and prints the miss rate curve of the same reference string, again from the
 * --warm'th touch on, computed with Mattson's algorithm over a Fenwick tree of times; an
 * implementation that shares nothing with the kernel's. With --string it prints the
 * reference string itself, page numbers of 64 bits, for build/bench/models.
 */
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "hold.h"
#include "timed.h"

#define PAGE		4096UL
#define HUGE_SHIFT	9
#define MAX_THREADS	16

struct job {
	const char *pattern, *file;
	uint64_t pages, touches, warm, i, seed;
	unsigned int work, threads;
	uint32_t group;
	bool huge, stop;
};

static uint64_t next_random(struct job *j)
{
	j->seed ^= j->seed << 13;
	j->seed ^= j->seed >> 7;
	j->seed ^= j->seed << 17;
	return j->seed;
}

static uint64_t ref_loop(struct job *j)
{
	return j->i % j->pages;
}

static uint64_t ref_uniform(struct job *j)
{
	return (next_random(j) >> 32) * j->pages >> 32;
}

/*
 * Zipf with exponent 3/4: rank = pages * u^4 inverts its distribution. An odd
 * multiplier scatters the ranks over the mapping (pages is a power of two).
 */
static uint64_t ref_zipf(struct job *j)
{
	uint64_t u = next_random(j) >> 32, rank;

	u = u * u >> 32;
	u = u * u >> 32;
	rank = u * j->pages >> 32;
	return rank * 0x9e3779b1 & (j->pages - 1);
}

/* A loop over the first quarter, then random touches of the rest, in turns. */
static uint64_t ref_phase(struct job *j)
{
	uint64_t quarter = j->pages / 4;

	if (j->i / (4 * quarter) % 2 == 0)
		return j->i % quarter;
	return quarter + ((next_random(j) >> 32) * (j->pages - quarter) >> 32);
}

/* Two loops of different length, one touch each in turn. */
static uint64_t ref_interleave(struct job *j)
{
	uint64_t quarter = j->pages / 4, n = j->i / 2;

	return j->i % 2 ? quarter + n % (j->pages - quarter) : n % quarter;
}

/* As often as a loop, in an order that looks random and is the same in each round. */
static uint64_t ref_chase(struct job *j)
{
	unsigned int half = __builtin_ctzll(j->pages) / 2 + 1;
	uint64_t page = j->i % j->pages;

	/* each step can be undone, so all pages are in a round (pages is a power of two) */
	for (int n = 0; n < 3; n++) {
		page = (page * 0x9e3779b1 + 1) & (j->pages - 1);
		page ^= page >> half;
	}
	return page;
}

static const struct {
	const char *name;
	uint64_t (*next)(struct job *j);
} patterns[] = {
	{ "loop", ref_loop },
	{ "uniform", ref_uniform },
	{ "zipf", ref_zipf },
	{ "phase", ref_phase },
	{ "interleave", ref_interleave },
	{ "chase", ref_chase },
};

static uint64_t (*find_pattern(const char *name))(struct job *j)
{
	for (size_t i = 0; i < sizeof(patterns) / sizeof(*patterns); i++)
		if (!strcmp(name, patterns[i].name))
			return patterns[i].next;
	return NULL;
}

/* At a multiple of the huge page size; NULL and a message if there is none. */
static char *map_pages(const struct job *j)
{
	uint64_t bytes = j->pages * PAGE, slack = PAGE << HUGE_SHIFT, before;
	char *map = mmap(NULL, bytes + slack, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (map == MAP_FAILED) {
		perror("workload: mmap");
		return NULL;
	}
	before = -(uintptr_t)map & (slack - 1);
	if (before)
		munmap(map, before);
	map += before;
	munmap(map + bytes, slack - before);
	madvise(map, bytes, j->huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
	return map;
}

/* Those of the file, in which each page has its number; NULL and a message if there are none. */
static char *map_file(const struct job *j)
{
	uint64_t page, words[PAGE / sizeof(uint64_t)] = { 0 };
	int fd = open(j->file, O_RDWR | O_CLOEXEC);
	char *map = MAP_FAILED;
	bool good = fd >= 0;

	for (page = 0; page < j->pages && good; page++) {
		words[0] = page + 1;
		good = pwrite(fd, words, PAGE, page * PAGE) == (ssize_t)PAGE;
		/* pages that wait to be written must not fill the memory there is */
		if (page % 256 == 255)
			good = good && !fsync(fd);
	}
	good = good && !fsync(fd) && !posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	if (good)
		map = mmap(NULL, j->pages * PAGE, PROT_READ, MAP_SHARED, fd, 0);
	if (fd >= 0)
		close(fd);
	if (map != MAP_FAILED)
		return map;
	fprintf(stderr, "workload: %s cannot be written and mapped\n", j->file);
	return NULL;
}

/* Every page holds its number; a touch reads it and @work more words. */
static uint64_t touch(const struct job *j, char *map, uint64_t page)
{
	volatile uint64_t *mem = (volatile uint64_t *)(map + page * PAGE);
	uint64_t bad = mem[0] != page + 1, sum = 0;

	for (unsigned int w = 0; w < j->work; w++)
		sum += mem[w % 512];
	if (!j->file)
		mem[8] = sum;
	return bad;
}

/* How many pages were not what they should be. */
static uint64_t touch_until(struct job *j, char *map, uint64_t (*next)(struct job *j), uint64_t end)
{
	uint64_t bad = 0;

	for (; j->i < end; j->i++)
		bad += touch(j, map, next(j));
	return bad;
}

struct share {
	struct job job;
	char *map;
	uint64_t (*next)(struct job *j);
	uint64_t bad;
	pthread_t thread;
};

static void *touch_share(void *arg)
{
	struct share *s = arg;

	s->bad = touch_until(&s->job, s->map, s->next, s->job.touches);
	return NULL;
}

static uint64_t touch_in_threads(const struct job *j, char *map, uint64_t (*next)(struct job *j))
{
	struct share share[MAX_THREADS];
	uint64_t bad = 0;
	unsigned int t;

	for (t = 0; t < j->threads; t++) {
		share[t] = (struct share){ .job = *j, .map = map, .next = next };
		share[t].job.touches = j->i + (j->touches - j->i) / j->threads;
		share[t].job.seed += t * 0x9e3779b97f4a7c15ULL;
		if (pthread_create(&share[t].thread, NULL, touch_share, &share[t])) {
			fprintf(stderr, "workload: no thread\n");
			exit(1);
		}
	}
	for (t = 0; t < j->threads; t++) {
		pthread_join(share[t].thread, NULL);
		bad += share[t].bad;
	}
	return bad;
}

static void stop(const struct job *j)
{
	if (j->stop)
		hold();
}

static int run(struct job *j, uint64_t (*next)(struct job *j))
{
	uint64_t bad = 0, begin = timed_now_ns(), page;
	struct timed timed;
	char *map = j->file ? map_file(j) : map_pages(j);

	if (!map)
		return 1;
	for (page = 0; page < j->pages && !j->file; page++)
		*(volatile uint64_t *)(map + page * PAGE) = page + 1;
	stop(j);
	bad += touch_until(j, map, next, j->warm);
	stop(j);
	timed_begin(&timed);
	bad += j->threads > 1 ? touch_in_threads(j, map, next) :
				touch_until(j, map, next, j->touches);
	timed_end(&timed);
	printf("ns %" PRIu64 "\nmajor %" PRIu64 "\nwhole_ns %" PRIu64 "\ntouches %" PRIu64
	       "\nbad %" PRIu64 "\n", timed.ns, timed.major, timed_now_ns() - begin, j->touches,
	       bad);
	return bad != 0;
}

/* A new mapping for each round of @pages touches. */
static int run_faults(struct job *j, uint64_t (*next)(struct job *j))
{
	uint64_t start = timed_now_ns(), n;
	char *map;

	for (j->i = 0; j->i < j->touches;) {
		map = map_pages(j);
		if (!map)
			return 1;
		for (n = 0; n < j->pages && j->i < j->touches; n++, j->i++)
			*(volatile uint64_t *)(map + next(j) * PAGE) = 1;
		munmap(map, j->pages * PAGE);
	}
	printf("ns %" PRIu64 "\ntouches %" PRIu64 "\n", timed_now_ns() - start, j->touches);
	return 0;
}

/* Mattson */

#define COLD	UINT64_MAX

struct mattson {
	uint32_t *tree, *last;
	uint64_t *bins, time, size, cold;
};

static void tree_add(struct mattson *m, uint64_t i, int32_t delta)
{
	for (i++; i <= m->size; i += i & -i)
		m->tree[i] += delta;
}

static uint64_t tree_sum(const struct mattson *m, uint64_t i)
{
	uint64_t sum = 0;

	for (; i; i &= i - 1)
		sum += m->tree[i];
	return sum;
}

/* Distinct units touched since the last touch of @unit; COLD if there is none. */
static uint64_t mattson_touch(struct mattson *m, uint64_t unit)
{
	uint64_t distance = COLD;

	if (m->last[unit]) {
		distance = tree_sum(m, m->time) - tree_sum(m, m->last[unit]);
		tree_add(m, m->last[unit] - 1, -1);
	}
	tree_add(m, m->time, 1);
	m->last[unit] = ++m->time;
	return distance;
}

/* A huge page is one unit of 512 pages. */
static int truth(struct job *j, uint64_t (*next)(struct job *j))
{
	unsigned int shift = j->huge ? HUGE_SHIFT : 0;
	uint64_t units = j->pages >> shift, bins = j->pages / j->group, distance, page, m;
	struct mattson t = { .size = units + j->touches };
	uint64_t last = UINT64_MAX;

	t.tree = calloc(t.size + 1, sizeof(*t.tree));
	t.last = calloc(units, sizeof(*t.last));
	t.bins = calloc(bins + 1, sizeof(*t.bins));
	if (!t.tree || !t.last || !t.bins) {
		fprintf(stderr, "workload: out of memory\n");
		return 1;
	}
	for (page = 0; page < units && !j->warm; page++)
		mattson_touch(&t, page);
	for (j->i = 0; j->i < j->touches; j->i++) {
		page = next(j) >> shift;
		if (j->i < j->warm)
			continue;
		distance = page == last ? 0 : mattson_touch(&t, page);
		last = page;
		if (distance != COLD)
			t.bins[(distance << shift) / j->group]++;
	}
	for (m = bins; m-- > 0;)
		t.bins[m] += t.bins[m + 1];
	for (m = 0; m <= bins; m++)
		printf("%" PRIu64 " %" PRIu64 "\n", m * j->group, t.bins[m] << shift);
	return 0;
}

static int print_string(struct job *j, uint64_t (*next)(struct job *j))
{
	uint64_t page;

	for (page = 0; page < j->pages; page++)
		fwrite(&page, sizeof(page), 1, stdout);
	for (j->i = 0; j->i < j->touches; j->i++) {
		page = next(j);
		fwrite(&page, sizeof(page), 1, stdout);
	}
	return fflush(stdout) || ferror(stdout);
}

static int usage(void)
{
	fprintf(stderr,
		"usage: workload [--truth|--string|--faults] [--huge] [--work WORDS] [--hold]\n"
		"                [--file FILE] [--warm TOUCHES] [--stop] [--threads N]\n"
		"                [--group PAGES] [--seed N]\n"
		"                loop|uniform|zipf|phase|interleave|chase PAGES TOUCHES\n");
	return 64;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "truth", no_argument, NULL, 't' },
		{ "string", no_argument, NULL, 'p' },
		{ "faults", no_argument, NULL, 'f' },
		{ "hold", no_argument, NULL, 'd' },
		{ "file", required_argument, NULL, 'i' },
		{ "stop", no_argument, NULL, 'o' },
		{ "warm", required_argument, NULL, 'a' },
		{ "huge", no_argument, NULL, 'h' },
		{ "work", required_argument, NULL, 'w' },
		{ "group", required_argument, NULL, 'g' },
		{ "seed", required_argument, NULL, 's' },
		{ "threads", required_argument, NULL, 'n' },
		{ }
	};
	struct job j = { .seed = 88172645463325252ULL, .group = 16, .threads = 1 };
	bool held = false;
	int (*act)(struct job *j, uint64_t (*next)(struct job *j)) = run;
	uint64_t (*next)(struct job *j);
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 't': act = truth; break;
		case 'p': act = print_string; break;
		case 'f': act = run_faults; break;
		case 'd': held = true; break;
		case 'i': j.file = optarg; break;
		case 'o': j.stop = true; break;
		case 'a': j.warm = strtoull(optarg, NULL, 10); break;
		case 'h': j.huge = true; break;
		case 'w': j.work = strtoul(optarg, NULL, 10); break;
		case 'g': j.group = strtoul(optarg, NULL, 10); break;
		case 's': j.seed = strtoull(optarg, NULL, 10); break;
		case 'n': j.threads = strtoul(optarg, NULL, 10); break;
		default: return usage();
		}
	}
	if (argc - optind != 3)
		return usage();
	next = find_pattern(argv[optind]);
	j.pages = strtoull(argv[optind + 1], NULL, 10);
	j.touches = strtoull(argv[optind + 2], NULL, 10);
	if (!next || j.touches <= j.warm || j.pages < 1024 || (j.pages & (j.pages - 1)) ||
	    !j.group || j.pages % j.group || !j.seed || !j.threads || j.threads > MAX_THREADS ||
	    ((j.threads > 1 || j.file) && act != run) || (j.file && j.huge))
		return usage();
	if (held)
		hold();
	return act(&j, next);
}
