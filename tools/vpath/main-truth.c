// SPDX-License-Identifier: GPL-2.0
/*
 * vpath-truth - print a file of ground truth
 *
 *   vpath-truth FILE             a line for each event: context, page, r or w;
 *                                context, mark, number
 *   vpath-truth --summary FILE   accesses, writes and marks of each context
 *   vpath-truth --string FILE    the reference string of the context with the most
 *                                accesses, as tools/bench/models reads it: pages in
 *                                64 bits, numbered as they were touched first; their
 *                                number on standard error
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>

#include "truth.h"

#define MAX_CONTEXTS	4096

struct sum {
	uint32_t context;
	unsigned long long accesses, writes, marks;
};

static struct sum sums[MAX_CONTEXTS];
static int nr_sums;

static struct sum *sum_of(uint32_t context)
{
	int i;

	for (i = nr_sums; i--; )
		if (sums[i].context == context)
			return &sums[i];
	if (nr_sums == MAX_CONTEXTS)
		return NULL;
	sums[nr_sums].context = context;
	return &sums[nr_sums++];
}

static int add(const struct truth_event *ev)
{
	struct sum *sum = sum_of(ev->context);

	if (!sum)
		return EX_SOFTWARE;
	sum->accesses += ev->type != TRUTH_MARK;
	sum->writes += ev->type == TRUTH_WRITE;
	sum->marks += ev->type == TRUTH_MARK;
	return 0;
}

static int print(const struct truth_event *ev)
{
	if (ev->type == TRUTH_MARK)
		printf("%u mark %llu\n", ev->context, (unsigned long long)ev->value);
	else
		printf("%u %llx %c\n", ev->context, (unsigned long long)ev->value,
		       ev->type == TRUTH_WRITE ? 'w' : 'r');
	return ferror(stdout) ? EX_IOERR : 0;
}

/* @ret, or that what was printed did not get out. */
static int printed(int ret)
{
	if (!fflush(stdout) && !ferror(stdout))
		return ret;
	fputs("vpath-truth: cannot write the output\n", stderr);
	return EX_IOERR;
}

/* Numbers for pages: a table of open addressing, at most half full */
static struct { uint64_t *page; uint64_t *number; size_t room, used; } names;

static size_t slot_of(uint64_t page)
{
	size_t i = page * 0x9e3779b97f4a7c15ULL & (names.room - 1);

	while (names.page[i] && names.page[i] != page + 1)
		i = (i + 1) & (names.room - 1);
	return i;
}

static bool grow(void)
{
	uint64_t *page = names.page, *number = names.number;
	size_t i, at, room = names.room;

	names.room = room ? 2 * room : 1 << 16;
	names.page = calloc(names.room, sizeof(*page));
	names.number = calloc(names.room, sizeof(*number));
	if (!names.page || !names.number)
		return false;
	for (i = 0; i < room; i++)
		if (page[i]) {
			at = slot_of(page[i] - 1);
			names.page[at] = page[i];
			names.number[at] = number[i];
		}
	free(page);
	free(number);
	return true;
}

static uint32_t busiest;

static int put(const struct truth_event *ev)
{
	size_t at;

	if (ev->type == TRUTH_MARK || ev->context != busiest)
		return 0;
	if (2 * names.used >= names.room && !grow())
		return EX_OSERR;
	at = slot_of(ev->value);
	if (!names.page[at]) {
		names.page[at] = ev->value + 1;
		names.number[at] = names.used++;
	}
	return fwrite(&names.number[at], 8, 1, stdout) == 1 ? 0 : EX_IOERR;
}

static void find_busiest(void)
{
	unsigned long long most = 0;
	int i;

	for (i = 0; i < nr_sums; i++)
		if (sums[i].accesses > most) {
			most = sums[i].accesses;
			busiest = sums[i].context;
		}
}

static void print_sums(void)
{
	int i;

	printf("%10s %14s %14s %6s\n", "context", "accesses", "writes", "marks");
	for (i = 0; i < nr_sums; i++)
		printf("%10u %14llu %14llu %6llu\n", sums[i].context, sums[i].accesses,
		       sums[i].writes, sums[i].marks);
}

/* @handle gets every event. Returns 0, or a status to exit with. */
static int read_file(const char *file, int (*handle)(const struct truth_event *ev))
{
	struct truth_reader *r = truth_open(file);
	struct truth_event ev;
	int ret = 0, more;

	if (!r) {
		fprintf(stderr, "vpath-truth: %s: %s\n", file,
			errno == EINVAL ? "not a file of ground truth" : strerror(errno));
		return errno == EINVAL ? EX_DATAERR : EX_NOINPUT;
	}
	while (!ret && (more = truth_next(r, &ev)) > 0)
		ret = handle(&ev);
	truth_close(r);
	if (!ret && more < 0) {
		fprintf(stderr, "vpath-truth: %s: damaged, or cut off\n", file);
		ret = EX_DATAERR;
	}
	return ret;
}

static int summary(const char *file)
{
	int ret = read_file(file, add);

	print_sums();
	return printed(ret);
}

static int string(const char *file)
{
	struct stat st;
	int ret;

	if (!stat(file, &st) && !S_ISREG(st.st_mode)) {
		fprintf(stderr, "vpath-truth: %s: is no plain file, and would be read twice\n",
			file);
		return EX_NOINPUT;
	}
	ret = read_file(file, add);
	if (ret)
		return ret;
	find_busiest();
	ret = printed(read_file(file, put));
	fprintf(stderr, "%zu\n", names.used);
	return ret;
}

int main(int argc, char **argv)
{
	const char *file = argc > 1 ? argv[argc - 1] : "-";

	if (argc == 3 && !strcmp(argv[1], "--summary"))
		return summary(file);
	if (argc == 3 && !strcmp(argv[1], "--string"))
		return string(file);
	if (argc == 2 && file[0] != '-')
		return printed(read_file(file, print));
	fprintf(stderr, "usage: vpath-truth [--summary|--string] FILE\n");
	return EX_USAGE;
}
