/* SPDX-License-Identifier: GPL-2.0 */
/*
 * timed - what the part of a program takes that is measured, which the virtual hardware
 * notes in its ground truth
 */
#ifndef BENCH_TIMED_H
#define BENCH_TIMED_H

#include <stdint.h>
#include <sys/resource.h>
#include <time.h>

#include <linux/mmpath_vpath.h>

#define VPATH_MARK_BEGIN	0
#define VPATH_MARK_END		1

/**
 * struct timed - of that part; until its end: what the program had taken before
 * @ns: time
 * @major: faults that waited for swap, or for a file
 */
struct timed {
	uint64_t ns, major;
};

/* A no-operation that the virtual hardware knows. */
static inline __attribute__((always_inline)) void vpath_mark(const int n)
{
#ifdef __x86_64__
	asm volatile("nopl %c0(%%rax)" : : "i"(VPATH_COMMAND(VPATH_MARK + n)) : "memory");
#else
	(void)n;
#endif
}

static inline uint64_t timed_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static inline uint64_t timed_major(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_majflt;
}

static inline void timed_begin(struct timed *t)
{
	t->major = timed_major();
	t->ns = timed_now_ns();
	vpath_mark(VPATH_MARK_BEGIN);
}

static inline void timed_end(struct timed *t)
{
	vpath_mark(VPATH_MARK_END);
	t->ns = timed_now_ns() - t->ns;
	t->major = timed_major() - t->major;
}

#endif
