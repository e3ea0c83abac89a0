/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What cpu.cluster* of a cgroup tell at one time, and its views.
 */
#ifndef CLUSTERS_H
#define CLUSTERS_H

#include "pathctl.h"

/* A line of cpu.cluster.tasks */
struct thread {
	uint64_t tid, cluster, samples;
	long long chip;		/* -1: not placed */
};

enum line_kind { LINE_FALSE, LINE_ATOMIC, LINE_DATA, LINE_SINGLE, LINE_UNKNOWN, LINE_KINDS };
extern const char *const line_kinds[LINE_KINDS];

#define LINE_BYTES	64
#define LINE_WORDS	16	/* bits of taker.words */
#define MOST_SAMPLES	255	/* the kernel counts no further */
#define SHMAP_ENTRIES	256

/* A thread that took a line */
struct taker {
	uint64_t tid;
	unsigned int samples, words;
};

/* A line of cpu.cluster.lines */
struct shared_line {
	uint64_t group, entry, address, code, by, threads;
	uint64_t samples;	/* of all takers that are listed */
	enum line_kind kind;
	bool saturated;		/* there may have been more */
	struct taker *takers;
	size_t count;
};

struct lines {
	struct shared_line *list;
	size_t count;
};

struct clusters_frame {
	const struct cgroup *cgroup;
	char *mode, *state;
	struct keyed stat;
	struct thread *threads;
	size_t count;
	bool has_stat;

	/* Only if they are asked for */
	struct lines lines;
	int lines_err;		/* errno, if cpu.cluster.lines cannot be read */
	struct code *code;
	int columns;		/* of the terminal */
	size_t most;		/* rows of a table that fit; SIZE_MAX: all */
};

/* cmd-clusters.c */
bool clusters_print_head(FILE *out, const struct clusters_frame *frame);

/* lines.c */
void lines_parse(struct lines *lines, char *text);
uint64_t line_used(const struct shared_line *line);
void lines_sort_by_heat(struct lines *lines);
void lines_sort_by_entry(struct lines *lines);
json_t *lines_json(const struct lines *lines, struct code *code);
void lines_free(struct lines *lines);

/* cmd-clusters-lines.c, cmd-clusters-shmap.c: views, for live_frame() */
void lines_print(FILE *out, const char *head, const void *frame);
void shmap_print(FILE *out, const char *head, const void *frame);
void shmap_write_svg(const char *path, const struct clusters_frame *frame);

#endif
