/* SPDX-License-Identifier: GPL-2.0 */
/* Reference strings, from files and to files. Whatever goes wrong ends in die(). */
#ifndef _PATHSIM_TRACE_H
#define _PATHSIM_TRACE_H

#include "policy.h"

/**
 * enum trace_format - of a file
 * @TRACE_CSV: a line for each touch: number of the page, and ",w" if it was written
 * @TRACE_ORACLE: libCacheSim's oracleGeneral: 24 bytes each, little endian: time (4),
 *	object (8), its size (4), number of its next access or -1 (8)
 * @TRACE_TRUTH: ground truth of the virtual hardware (vpath-device.rst)
 * @TRACE_LOG: a recording (log-format.rst)
 */
enum trace_format { TRACE_CSV, TRACE_ORACLE, TRACE_TRUTH, TRACE_LOG };

#define TRACE_PAGE_BYTES	4096

int trace_format(const char *name);
enum trace_format trace_guess(const char *file);
void trace_read(struct trace *t, const char *file, enum trace_format format);
void trace_write(const struct trace *t, const char *file, enum trace_format format);
void trace_filter(unsigned int pages);
void trace_add(struct trace *t, uint64_t name, bool write);
void trace_keep_timed(struct trace *t);
void trace_keep_written(struct trace *t);
uint32_t trace_known(const struct trace *t);
void trace_free(struct trace *t);

#endif
