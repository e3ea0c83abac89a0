/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Recordings of page accesses, as files.
 * See Documentation/admin-guide/mm/path/log-format.rst.
 */
#ifndef PATHCTL_LOG_H
#define PATHCTL_LOG_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <zstd.h>

#include <linux/mmpath.h>

#define LOG_MOST_PIDS (1 << 22)		/* PID_MAX_LIMIT */

struct log_header {
	uint32_t page_bytes;
	uint64_t started_ns;		/* of CLOCK_REALTIME */
	char driver[32];
};

/* What is known at the end only. */
struct log_end {
	unsigned int sample_shift;	/* one page in 2^n was tracked, at the least */
	uint32_t resolved_from;		/* pages; reuse at less was filtered out */
};

/* What is in a recording. */
struct log_sum {
	struct log_header header;
	struct log_end end;
	uint64_t accesses, writes, lost;
	size_t processes;
	uint8_t *pids;			/* a bit for each */
};

struct log_writer {
	const char *path;
	FILE *out;
	ZSTD_CCtx *zstd;
	char *buf;
	uint64_t events;
	struct log_sum sum;
};

struct log_reader {
	const char *path;
	FILE *in;
	uint64_t events, lost;
	struct log_header header;
	struct log_end end;
};

void log_create(struct log_writer *writer, const char *path, const struct log_header *header);
void log_write(struct log_writer *writer, struct mmpath_event *events, size_t count);
void log_write_lost(struct log_writer *writer, uint64_t count);
void log_finish(struct log_writer *writer, const struct log_end *end);

void log_open(struct log_reader *reader, const char *path);
bool log_next(struct log_reader *reader, struct mmpath_event *event);
void log_rewind(struct log_reader *reader);
void log_close(struct log_reader *reader);
void log_check(struct log_reader *reader, struct log_sum *sum);
char *log_sum_text(const struct log_sum *sum);
json_t *log_sum_json(const char *path, const struct log_sum *sum);
void log_sum_note(const struct log_sum *sum);
void log_sum_free(struct log_sum *sum);

#endif
