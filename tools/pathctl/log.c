// SPDX-License-Identifier: GPL-2.0
/*
 * Recordings of page accesses: a header, events, and an event that says that
 * this was all. Little-endian; compressed as a whole when the name says so.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "log.h"
#include "pathctl.h"

#define LOG_VERSION 1
#define LOG_END 255			/* a type that only files have */
#define MOST_HEADER 4096
#define MOST_ORDER 13			/* a huge page of 512 MiB in pages of 64 KiB */
#define MOST_ADDRESS (1ULL << 57)
#define BUF_BYTES (1 << 16)

static const char magic[8] = "MMPATH\r\n";

struct disk_header {
	char magic[8];
	uint32_t version, header_bytes, event_bytes, page_bytes;
	uint64_t started_ns;
	char driver[32];
};

/* In place of an event. */
struct disk_end {
	uint64_t events;
	uint32_t resolved_from;
	uint8_t type, sample_shift;
	uint16_t zero;
};

_Static_assert(sizeof(struct disk_end) == 16, "as documented");
_Static_assert(sizeof(struct disk_header) == 64, "as documented");
_Static_assert(sizeof(struct mmpath_event) == 16, "as documented");

static void event_swap(struct mmpath_event *event)
{
	event->addr = htole64(event->addr);
	event->pid = htole32(event->pid);
	event->flags = htole16(event->flags);
}

/* ---- adding up ----------------------------------------------------------- */

static void count_pid(struct log_sum *sum, uint32_t pid)
{
	uint8_t bit = 1 << (pid & 7);

	if (pid >= LOG_MOST_PIDS || sum->pids[pid / 8] & bit)
		return;
	sum->pids[pid / 8] |= bit;
	sum->processes++;
}

static void count_event(struct log_sum *sum, const struct mmpath_event *event)
{
	if (event->type == MMPATH_EVENT_LOST) {
		sum->lost += event->addr;
		return;
	}
	sum->accesses++;
	sum->writes += event->flags & MMPATH_ACCESS_WRITE;
	count_pid(sum, event->pid);
}

static void sum_start(struct log_sum *sum, const struct log_header *header)
{
	memset(sum, 0, sizeof(*sum));
	sum->header = *header;
	sum->pids = xalloc(LOG_MOST_PIDS / 8);
}

/* "93210 accesses (400 writes) of 2 processes, 0 lost", to be freed. */
char *log_sum_text(const struct log_sum *sum)
{
	return xasprintf("%llu accesses (%llu writes) of %zu process%s, %llu lost",
			 (unsigned long long)sum->accesses, (unsigned long long)sum->writes,
			 sum->processes, sum->processes == 1 ? "" : "es",
			 (unsigned long long)sum->lost);
}

json_t *log_sum_json(const char *path, const struct log_sum *sum)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
			 "file", json_text(path),
			 "accesses", json_u64(sum->accesses),
			 "writes", json_u64(sum->writes),
			 "lost", json_u64(sum->lost),
			 "processes", json_u64(sum->processes),
			 "sample_shift", json_u64(sum->end.sample_shift),
			 "resolved_from_pages", json_u64(sum->end.resolved_from),
			 "page_bytes", json_u64(sum->header.page_bytes),
			 "driver", json_text(sum->header.driver),
			 "started_ns", json_u64(sum->header.started_ns));
}

void log_sum_note(const struct log_sum *sum)
{
	if (sum->end.sample_shift)
		note("one page in %llu was tracked: sizes and misses are so much too small",
		     1ULL << sum->end.sample_shift);
}

void log_sum_free(struct log_sum *sum)
{
	free(sum->pids);
	memset(sum, 0, sizeof(*sum));
}

/* ---- writing ------------------------------------------------------------- */

static void put_plain(struct log_writer *writer, const void *bytes, size_t count)
{
	if (fwrite(bytes, 1, count, writer->out) != count)
		die(EX_IOERR, "%s: %s", writer->path, strerror(errno));
}

static void put_compressed(struct log_writer *writer, const void *bytes, size_t count,
			   ZSTD_EndDirective end)
{
	ZSTD_inBuffer in = { bytes, count, 0 };
	size_t left;

	do {
		ZSTD_outBuffer out = { writer->buf, BUF_BYTES, 0 };

		left = ZSTD_compressStream2(writer->zstd, &out, &in, end);
		if (ZSTD_isError(left))
			die(EX_SOFTWARE, "%s: %s", writer->path, ZSTD_getErrorName(left));
		put_plain(writer, writer->buf, out.pos);
	} while (end == ZSTD_e_end ? left : in.pos < in.size);
}

static void put(struct log_writer *writer, const void *bytes, size_t count)
{
	if (writer->zstd)
		put_compressed(writer, bytes, count, ZSTD_e_continue);
	else
		put_plain(writer, bytes, count);
}

static bool to_be_compressed(const char *path)
{
	const char *dot = strrchr(path, '.');

	return dot && !strcmp(dot, ".zst");
}

static void put_header(struct log_writer *writer, const struct log_header *header)
{
	struct disk_header disk = {
		.version = htole32(LOG_VERSION),
		.header_bytes = htole32(sizeof(disk)),
		.event_bytes = htole32(sizeof(struct mmpath_event)),
		.page_bytes = htole32(header->page_bytes),
		.started_ns = htole64(header->started_ns),
	};

	memcpy(disk.magic, magic, sizeof(magic));
	memcpy(disk.driver, header->driver, sizeof(disk.driver));
	put(writer, &disk, sizeof(disk));
}

/* Until log_finish() the file has another name. */
void log_create(struct log_writer *writer, const char *path, const struct log_header *header)
{
	memset(writer, 0, sizeof(*writer));
	writer->path = path;
	writer->out = open_output(path);
	if (to_be_compressed(path)) {
		writer->zstd = ZSTD_createCCtx();
		writer->buf = xalloc(BUF_BYTES);
		if (!writer->zstd)
			die(EX_OSERR, "out of memory");
		ZSTD_CCtx_setParameter(writer->zstd, ZSTD_c_checksumFlag, 1);
	}
	sum_start(&writer->sum, header);
	put_header(writer, header);
}

/* Events are changed. */
void log_write(struct log_writer *writer, struct mmpath_event *events, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		count_event(&writer->sum, &events[i]);
		event_swap(&events[i]);
	}
	put(writer, events, count * sizeof(*events));
	writer->events += count;
}

void log_write_lost(struct log_writer *writer, uint64_t count)
{
	struct mmpath_event event = { .addr = count, .type = MMPATH_EVENT_LOST };

	if (count)
		log_write(writer, &event, 1);
}

static void put_end(struct log_writer *writer, const struct log_end *end)
{
	struct disk_end disk = {
		.events = htole64(writer->events),
		.resolved_from = htole32(end->resolved_from),
		.type = LOG_END,
		.sample_shift = end->sample_shift,
	};

	put(writer, &disk, sizeof(disk));
	if (writer->zstd)
		put_compressed(writer, NULL, 0, ZSTD_e_end);
}

void log_finish(struct log_writer *writer, const struct log_end *end)
{
	writer->sum.end = *end;
	put_end(writer, end);
	close_output(writer->out, writer->path);
	ZSTD_freeCCtx(writer->zstd);
	free(writer->buf);
}

/* ---- reading ------------------------------------------------------------- */

static void __noreturn __printf(2, 3) bad(const struct log_reader *reader, const char *fmt, ...)
{
	va_list args;
	char *text;

	va_start(args, fmt);
	if (vasprintf(&text, fmt, args) < 0)
		text = "damaged";
	va_end(args);
	die(EX_DATAERR, "%s: %s", reader->path, text);
}

/* Less than asked for at the end of the file. */
static size_t get(struct log_reader *reader, void *to, size_t count)
{
	size_t got = fread(to, 1, count, reader->in);

	if (got < count && ferror(reader->in))
		die(EX_IOERR, "%s: %s", reader->path, strerror(errno));
	return got;
}

static void get_or_die(struct log_reader *reader, void *to, size_t count)
{
	if (get(reader, to, count) != count)
		bad(reader, "cut off after %llu events", (unsigned long long)reader->events);
}

static void check_header(struct log_reader *reader, const struct disk_header *disk)
{
	uint32_t page = le32toh(disk->page_bytes), size = le32toh(disk->header_bytes);

	if (memcmp(disk->magic, magic, sizeof(magic)))
		bad(reader, "no recording of page accesses");
	if (le32toh(disk->version) != LOG_VERSION)
		bad(reader, "version %u, but this pathctl knows version %u", le32toh(disk->version),
		    LOG_VERSION);
	if (size < sizeof(*disk) || size > MOST_HEADER)
		bad(reader, "a header of %u bytes", size);
	if (le32toh(disk->event_bytes) != sizeof(struct mmpath_event))
		bad(reader, "events of %u bytes", le32toh(disk->event_bytes));
	if (page < 4096 || page > 1 << 20 || page & (page - 1))
		bad(reader, "pages of %u bytes", page);
	if (!memchr(disk->driver, '\0', sizeof(disk->driver)))
		bad(reader, "the name of the driver has no end");
}

static void get_header(struct log_reader *reader)
{
	char rest[MOST_HEADER];
	struct disk_header disk;

	if (get(reader, &disk, sizeof(disk)) != sizeof(disk))
		bad(reader, "no recording of page accesses: too short");
	check_header(reader, &disk);
	get_or_die(reader, rest, le32toh(disk.header_bytes) - sizeof(disk));
	reader->header.page_bytes = le32toh(disk.page_bytes);
	reader->header.started_ns = le64toh(disk.started_ns);
	memcpy(reader->header.driver, disk.driver, sizeof(disk.driver));
}

/* A plain file, and no FIFO on which we would wait. */
static FILE *open_plain(const char *path)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct stat st;
	FILE *in;

	if (fd < 0 || fstat(fd, &st))
		die(exit_status_of(errno), "%s: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		die(EX_NOINPUT, "%s: is no plain file, and would be read twice", path);
	in = fdopen(fd, "r");
	if (!in)
		die(EX_OSERR, "out of memory");
	return in;
}

void log_open(struct log_reader *reader, const char *path)
{
	memset(reader, 0, sizeof(*reader));
	reader->path = path;
	reader->in = open_packed(open_plain(path), path);
	get_header(reader);
}

void log_rewind(struct log_reader *reader)
{
	rewind(reader->in);
	reader->events = 0;
	reader->lost = 0;
	get_header(reader);
}

void log_close(struct log_reader *reader)
{
	fclose(reader->in);
}

static bool is_good_access(const struct log_reader *reader, const struct mmpath_event *event)
{
	uint64_t bytes;

	if (event->order > MOST_ORDER)
		return false;
	bytes = (uint64_t)reader->header.page_bytes << event->order;
	return event->pid < LOG_MOST_PIDS &&
	       !(event->flags & ~(MMPATH_ACCESS_WRITE | MMPATH_ACCESS_AGAIN)) &&
	       !(event->addr & (reader->header.page_bytes - 1)) &&
	       event->addr <= MOST_ADDRESS - bytes;
}

static bool is_good(const struct log_reader *reader, const struct mmpath_event *event)
{
	switch (event->type) {
	case MMPATH_EVENT_ACCESS:
		return is_good_access(reader, event);
	case MMPATH_EVENT_LOST:
		return event->addr && !event->order && !event->flags;
	}
	return false;
}

static void take_end(struct log_reader *reader, const void *bytes)
{
	struct disk_end disk;
	char more;

	memcpy(&disk, bytes, sizeof(disk));
	if (le64toh(disk.events) != reader->events)
		bad(reader, "%llu events, but it should have %llu",
		    (unsigned long long)reader->events,
		    (unsigned long long)le64toh(disk.events));
	if (disk.sample_shift > 63 || disk.zero)
		bad(reader, "the end is absurd");
	if (get(reader, &more, 1))
		bad(reader, "something follows the end");
	reader->end.sample_shift = disk.sample_shift;
	reader->end.resolved_from = le32toh(disk.resolved_from);
}

/* False at the end. Dies when the file is not as it should be. */
bool log_next(struct log_reader *reader, struct mmpath_event *event)
{
	get_or_die(reader, event, sizeof(*event));
	if (event->type == LOG_END) {
		take_end(reader, event);
		return false;
	}
	event_swap(event);
	if (!is_good(reader, event))
		bad(reader,
		    "event %llu is absurd: type %u, pid %u, address %#llx, order %u, flags %#x",
		    (unsigned long long)reader->events, event->type, event->pid,
		    (unsigned long long)event->addr, event->order, event->flags);
	if (event->type == MMPATH_EVENT_LOST &&
	    __builtin_add_overflow(reader->lost, event->addr, &reader->lost))
		bad(reader, "event %llu is absurd: with it more than 2^64 - 1 accesses are lost",
		    (unsigned long long)reader->events);
	reader->events++;
	return true;
}

/* Reads all of it and goes back to its start. */
void log_check(struct log_reader *reader, struct log_sum *sum)
{
	struct mmpath_event event;

	sum_start(sum, &reader->header);
	while (log_next(reader, &event))
		count_event(sum, &event);
	sum->end = reader->end;
	log_rewind(reader);
}
