/* SPDX-License-Identifier: GPL-2.0 */
/* What stalls.bpf.c tells stalls.c, which have no other header in common. */
#ifndef STALLS_H
#define STALLS_H

#define CAUSE		32	/* of a name, with its end */
#define CAUSES		(1 << 14)	/* of all cgroups; then those that rest longest go */

/* Numbers of what is no event that stalls: event 0 counts cycles, and the last one is 63 */
#define COMPLETION	0
#define UNKNOWN		64

/**
 * struct where - where cycles went
 * @cgroup: its id
 * @event: number of the event, COMPLETION or UNKNOWN
 */
struct where {
	unsigned long long cgroup;
	unsigned int event;
	unsigned int reserved;
};

/**
 * struct lost - and how many
 * @cycles: of all windows since the program began
 * @squares: sum of the squares of their errors
 * @name: of the cause; with a dot, it is a part of another one
 */
struct lost {
	unsigned long long cycles, squares;
	char name[CAUSE];
};

#endif
