/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What cpu.stalls of a cgroup tells at one time, and its picture over time.
 */
#ifndef STALLS_H
#define STALLS_H

#include <hpc.h>

#include "pathctl.h"

/* Whose cycles they are: a cgroup's, or a thread's */
struct stalls_of {
	char *name;
	const struct cgroup *cgroup;
	pid_t tid;
	struct hpc *thread;
};

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
void stalls_read(struct stalls *s, const struct stalls_of *of);
bool stalls_same_list(const struct stalls *a, const struct stalls *b);
void stalls_free(struct stalls *s);

/* cmd-stalls-tasks.c */
#define STALLS_MS	100	/* how often logs of threads are emptied: that is how much they hold, at least */
void stalls_watch(struct stalls_of *of, pid_t tid);
void stalls_unwatch(struct stalls_of *of);
void stalls_wait(const struct stalls_of *of, unsigned int seconds);
void stalls_tasks(const struct cgroup *cgroup, unsigned int delay, bool once);

/* cmd-stalls-svg.c */
void stalls_write_svg(const char *path, const struct cgroup *cgroup, unsigned int delay,
		      unsigned int seconds);

#endif
