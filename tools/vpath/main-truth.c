// SPDX-License-Identifier: GPL-2.0
/*
 * vpath-truth - print a file of ground truth
 *
 *   vpath-truth FILE             a line for each event: context, page, r or w;
 *                                context, mark, number
 *   vpath-truth --summary FILE   accesses, writes, pages and marks of each context
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

static void print_sums(void)
{
	int i;

	printf("%10s %14s %14s %6s\n", "context", "accesses", "writes", "marks");
	for (i = 0; i < nr_sums; i++)
		printf("%10u %14llu %14llu %6llu\n", sums[i].context, sums[i].accesses,
		       sums[i].writes, sums[i].marks);
}

int main(int argc, char **argv)
{
	int (*handle)(const struct truth_event *ev) = print;
	struct truth_event ev;
	struct truth_reader *r;
	int ret, more;

	if (argc > 1 && !strcmp(argv[1], "--summary")) {
		handle = add;
		argv++;
		argc--;
	}
	if (argc != 2 || argv[1][0] == '-') {
		fprintf(stderr, "usage: vpath-truth [--summary] FILE\n");
		return EX_USAGE;
	}
	r = truth_open(argv[1]);
	if (!r) {
		fprintf(stderr, "vpath-truth: %s: %s\n", argv[1],
			errno == EINVAL ? "not a file of ground truth" : strerror(errno));
		return errno == EINVAL ? EX_DATAERR : EX_NOINPUT;
	}
	while ((more = truth_next(r, &ev)) > 0) {
		ret = handle(&ev);
		if (ret)
			return ret;
	}
	truth_close(r);
	if (handle == add)
		print_sums();
	if (more < 0)
		fprintf(stderr, "vpath-truth: %s: damaged, or cut off\n", argv[1]);
	return more < 0 ? EX_DATAERR : 0;
}
