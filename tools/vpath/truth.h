/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Ground truth: every page touched, in order, in a compressed file. Its format
 * is in Documentation/mm/path/vpath-device.rst.
 */
#ifndef _TOOLS_VPATH_TRUTH_H
#define _TOOLS_VPATH_TRUTH_H

#include <stdbool.h>
#include <stdint.h>

struct truth_writer;
struct truth_reader;

enum truth_type { TRUTH_READ, TRUTH_WRITE, TRUTH_CONTEXT, TRUTH_MARK };

/**
 * struct truth_event - what the file holds
 * @type: a page that was read, one that was written (too), or a mark
 * @context: whose page; of a mark, who made it
 * @value: number of the page, or of the mark
 */
struct truth_event {
	enum truth_type type;
	uint32_t context;
	uint64_t value;
};

struct truth_writer *truth_create(const char *file);
void truth_page(struct truth_writer *w, uint32_t context, uint64_t page, bool written);
void truth_mark(struct truth_writer *w, uint32_t context, unsigned int mark);
int truth_finish(struct truth_writer *w);

struct truth_reader *truth_open(const char *file);
int truth_next(struct truth_reader *r, struct truth_event *ev);
void truth_close(struct truth_reader *r);

#endif
