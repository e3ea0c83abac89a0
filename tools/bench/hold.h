/* SPDX-License-Identifier: GPL-2.0 */
/* hold - who measures says when to go on */
#ifndef BENCH_HOLD_H
#define BENCH_HOLD_H

#include <signal.h>
#include <time.h>

/*
 * Until who waits for it lets us go on; and then until the next twentieth of a second,
 * for that has some instructions left, and ticks must always find us at the same place.
 */
static inline void hold(void)
{
	const long slot = 50000000;
	struct timespec until;

	raise(SIGSTOP);
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += slot - until.tv_nsec % slot;
	if (until.tv_nsec == 1000000000) {
		until.tv_nsec = 0;
		until.tv_sec++;
	}
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

#endif
