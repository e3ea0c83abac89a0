/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What cpu.stalls of a cgroup tells at one time, and its picture over time.
 */
#ifndef STALLS_H
#define STALLS_H

#include "pathctl.h"

/* A line of cpu.stalls: a cause, or a source of one, which has a dot in its name */
struct stall {
	const char *name;
	uint64_t cycles, error, counted;
	bool known;
};

struct stalls {
	char *text;
	uint64_t cycles, pending, unknown;
	struct stall *list;
	size_t count;
};

/* cmd-stalls.c */
void stalls_parse(struct stalls *s, char *text);
void stalls_read(struct stalls *s, const struct cgroup *cgroup);
bool stalls_same_list(const struct stalls *a, const struct stalls *b);
void stalls_free(struct stalls *s);

/* cmd-stalls-svg.c */
void stalls_write_svg(const char *path, const struct cgroup *cgroup, unsigned int delay,
		      unsigned int seconds);

#endif
