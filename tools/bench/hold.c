// SPDX-License-Identifier: GPL-2.0
/*
 * hold.so - a real program holds when it and its libraries have been loaded, and its
 * time is taken from there to its exit
 *
 *   HOLD_TIME=FILE LD_PRELOAD=hold.so PROGRAM...
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hold.h"

static uint64_t begin;
static char *file;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

/* What it starts runs as it is. Its environment may be overwritten by its title. */
static void __attribute__((constructor)) loaded(void)
{
	const char *name = getenv("HOLD_TIME");

	file = name ? strdup(name) : NULL;
	unsetenv("LD_PRELOAD");
	hold();
	begin = now_ns();
}

static void __attribute__((destructor)) done(void)
{
	uint64_t ns = now_ns() - begin;
	FILE *f = file ? fopen(file, "w") : NULL;

	if (f) {
		fprintf(f, "ns %llu\n", (unsigned long long)ns);
		fclose(f);
	}
	free(file);
}
