/* SPDX-License-Identifier: GPL-2.0 */
/* Samples of lines that threads took from other chips, and who shares as far as that is known */
#ifndef _CLUSTERSIM_SAMPLES_H
#define _CLUSTERSIM_SAMPLES_H

#include <linux/types.h>

/**
 * struct sample - a thread has taken a line from another chip
 * @time_ns: when
 * @addr: address that it used; 0: unknown
 * @phys: physical address; 0: unknown
 * @ip: address of the instruction; 0: unknown
 * @tid: the thread
 * @pid: its process; 0: unknown
 * @locked: the instruction locks the line
 */
struct sample {
	u64 time_ns, addr, phys, ip;
	u32 tid, pid;
	bool locked;
};

struct samples {
	struct sample *list;
	size_t nr, room;
};

/**
 * struct truth - the group that a thread belongs to
 * @tid: the thread
 * @group: its group; 0: none
 */
struct truth {
	u32 tid, group;
};

struct truths {
	struct truth *list;
	size_t nr, room;
};

/* parse.c */
const char *sample_parse(char *line, struct sample *s);
const char *truth_parse(char *line, struct truth *t);
void samples_read(struct samples *s, const char *path);
void truths_read(struct truths *t, const char *path);

/* samples.c */
void samples_add(struct samples *s, const struct sample *sample);
void samples_free(struct samples *s);
void truths_add(struct truths *t, u32 tid, u32 group);
void truths_sort(struct truths *t, const char *from);
bool truths_find(const struct truths *t, u32 tid, u32 *group);
void truths_free(struct truths *t);

#endif /* _CLUSTERSIM_SAMPLES_H */
