/* SPDX-License-Identifier: GPL-2.0 */
/* What programs that print as it happens have in common: usage NAME [SECONDS], and ^C */
#ifndef LIVE_H
#define LIVE_H

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sysexits.h>
#include <time.h>

#include <bpf/libbpf.h>

static volatile sig_atomic_t live_stopped;

static void live_stop(int number)
{
	(void)number;
	live_stopped = 1;
}

/* Why a program does not load is many lines; we say one. */
static int live_say_nothing(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level;
	(void)format;
	(void)args;
	return 0;
}

static void live_usage(const char *name)
{
	fprintf(stderr, "usage: %s [SECONDS]\n", name);
}

/* Sets when to end, 0 for never. Or false, and the usage was told. */
static bool live_begin(int argc, char **argv, const char *name, time_t *end)
{
	unsigned long seconds = 0;
	char *rest = "";

	if (argc > 1)
		seconds = strtoul(argv[1], &rest, 10);
	if (argc > 2 || *rest || (argc > 1 && (*argv[1] < '0' || *argv[1] > '9'))) {
		live_usage(name);
		return false;
	}
	*end = seconds ? time(NULL) + (time_t)seconds : 0;
	libbpf_set_print(live_say_nothing);
	signal(SIGINT, live_stop);
	signal(SIGTERM, live_stop);
	return true;
}

static int live_unavailable(const char *name)
{
	fprintf(stderr, "%s: needs root, and a PATH kernel with BTF (configs/bpf.config)\n", name);
	return EX_UNAVAILABLE;
}

/* Wait for @seconds, or until the end. Return false if that is it. */
static inline bool live_wait(time_t seconds, time_t end)
{
	const struct timespec step = { .tv_nsec = 100000000 };
	time_t until = time(NULL) + seconds;

	if (end && until > end)
		until = end;
	while (!live_stopped && time(NULL) < until)
		nanosleep(&step, NULL);
	return !live_stopped && (!end || time(NULL) < end);
}

/* Hand what comes through @map to @print until the end. Return EX_OK or EX_OSERR. */
static inline int live_poll(int map, ring_buffer_sample_fn print, time_t end)
{
	struct ring_buffer *ring = ring_buffer__new(map, print, NULL, NULL);
	int got = 0;

	if (!ring)
		return EX_OSERR;
	while (!live_stopped && (got >= 0 || got == -EINTR) && (!end || time(NULL) < end))
		got = ring_buffer__poll(ring, 100);
	ring_buffer__free(ring);
	return got < 0 && got != -EINTR ? EX_OSERR : EX_OK;
}

#endif
