// SPDX-License-Identifier: GPL-2.0
/*
 * hold.so - a real program holds when it and its libraries have been loaded, and what it
 * takes is told from there to its exit
 *
 *   HOLD_TIME=FILE LD_PRELOAD=hold.so PROGRAM...
 *
 * HOLD_LOCKED: what has been loaded stays in memory. What a guest reads from the host takes the
 * host's time. HOLD_LATE: the program loads more, and says with hold_here() when it has all.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hold.h"
#include "timed.h"

static struct timed timed;
static char *file;
static pid_t self;

void hold_here(void);

void hold_here(void)
{
	if (getenv("HOLD_LOCKED") && mlockall(MCL_CURRENT)) {
		perror("hold: mlockall");
		_exit(1);
	}
	self = getpid();
	hold();
	timed_begin(&timed);
}

/* What it starts runs as it is. Its environment may be overwritten by its title. */
static void __attribute__((constructor)) loaded(void)
{
	const char *name = getenv("HOLD_TIME");

	file = name ? strdup(name) : NULL;
	unsetenv("LD_PRELOAD");
	if (!getenv("HOLD_LATE"))
		hold_here();
}

static void __attribute__((destructor)) done(void)
{
	FILE *f;

	/* a child that it has forked */
	if (getpid() != self)
		return;
	timed_end(&timed);
	f = file ? fopen(file, "w") : NULL;
	if (f) {
		fprintf(f, "ns %" PRIu64 "\nmajor %" PRIu64 "\n", timed.ns, timed.major);
		fclose(f);
	}
	free(file);
}
