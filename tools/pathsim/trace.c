// SPDX-License-Identifier: GPL-2.0
/*
 * Reading and writing of reference strings. Pages of several programs are told apart by
 * the program in the high bits of their names.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "../pathctl/log.h"
#include "../pathctl/pathctl.h"
#include "../vpath/truth.h"
#include "../bench/timed.h"
#include "trace.h"

#define NAME_BITS	44	/* of the number of a page */

/* Numbers by name: open addressing, as many slots as a power of two. */
struct names {
	struct name {
		uint64_t name;
		uint32_t page;		/* from 1 */
	} *slot;
	size_t slots;
};

static struct names names;
static size_t touch_room, page_room;

/* The pages touched last, the last one first: their touches are left out */
static uint32_t *recent;
static unsigned int nr_recent, max_recent;

static struct name *find(const struct names *n, uint64_t name)
{
	size_t i = (name * 0x9e3779b97f4a7c15ULL >> 20) & (n->slots - 1);

	while (n->slot[i].page && n->slot[i].name != name)
		i = (i + 1) & (n->slots - 1);
	return &n->slot[i];
}

static void grow_names(void)
{
	struct names larger = { .slots = names.slots ? 2 * names.slots : 1024 };
	size_t i;

	larger.slot = sim_alloc(larger.slots, sizeof(*larger.slot));
	for (i = 0; i < names.slots; i++)
		if (names.slot[i].page)
			*find(&larger, names.slot[i].name) = names.slot[i];
	free(names.slot);
	names = larger;
}

static void *grown(void *p, size_t *room, size_t bytes)
{
	*room = *room ? 2 * *room : 1024;
	p = realloc(p, *room * bytes);
	if (!p)
		die(EX_OSERR, "no memory for the trace");
	return p;
}

/**
 * trace_filter() - leave out what hits in a small LRU memory
 * @pages: of it; 0: leave nothing out
 */
void trace_filter(unsigned int pages)
{
	free(recent);
	recent = sim_alloc(pages, sizeof(*recent));
	nr_recent = 0;
	max_recent = pages;
}

/* Is the page one of those touched last? It is the last one afterwards. */
static bool filtered(uint32_t page)
{
	unsigned int i;
	bool hit;

	for (i = 0; i < nr_recent && recent[i] != page; i++)
		;
	hit = i < nr_recent;
	if (!hit && nr_recent < max_recent)
		nr_recent++;
	else if (!hit)
		i = max_recent - 1;
	if (nr_recent) {
		memmove(recent + 1, recent, i * sizeof(*recent));
		recent[0] = page;
	}
	return hit;
}

/**
 * trace_add() - one touch more
 * @t: of this trace; the one that is being read
 * @name: the page
 * @write: it was written
 */
void trace_add(struct trace *t, uint64_t name, bool write)
{
	struct name *slot;
	size_t room;

	if (2 * ((size_t)t->pages + 1) > names.slots)
		grow_names();
	slot = find(&names, name);
	if (!slot->page) {
		if (t->pages == page_room)
			t->name = grown(t->name, &page_room, sizeof(*t->name));
		t->name[t->pages] = name;
		*slot = (struct name){ name, ++t->pages };
	}
	if (filtered(slot->page))
		return;
	if (t->n == touch_room) {
		room = touch_room;
		t->page = grown(t->page, &room, sizeof(*t->page));
		t->write = grown(t->write, &touch_room, sizeof(*t->write));
	}
	t->page[t->n] = slot->page - 1;
	t->write[t->n++] = write;
}

/**
 * trace_known() - how many pages were touched before the part that counts
 * @t: the trace
 */
uint32_t trace_known(const struct trace *t)
{
	uint32_t pages = 0;
	size_t i;

	for (i = 0; i < t->begin; i++)
		if (t->page[i] >= pages)
			pages = t->page[i] + 1;
	return pages;
}

/**
 * trace_keep_timed() - leave out what comes after the part that a program has marked
 * @t: the trace, read as a whole; with marks
 *
 * What comes before is what memory is like when that begins, and its misses do not count.
 */
void trace_keep_timed(struct trace *t)
{
	size_t begin = t->begin;

	t->n = t->end;
	t->begin = t->n;
	t->pages = trace_known(t);
	t->begin = begin;
}

/**
 * trace_keep_written() - leave out pages that are never written
 * @t: the trace, read as a whole
 *
 * A page of a file that a program only reads is not the program's own, and one that is
 * nobody's file takes no memory until it is written.
 */
void trace_keep_written(struct trace *t)
{
	uint32_t *number = sim_alloc(t->pages, sizeof(*number)), page, pages = 0;
	size_t i, n = 0, begin = t->begin;

	for (i = 0; i < t->n; i++)
		number[t->page[i]] |= t->write[i];
	for (page = 0; page < t->pages; page++) {
		if (!number[page])
			continue;
		t->name[pages] = t->name[page];
		number[page] = ++pages;
	}
	for (i = 0; i < t->n; i++) {
		if (!number[t->page[i]]) {
			t->begin -= i < begin;
			continue;
		}
		t->page[n] = number[t->page[i]] - 1;
		t->write[n++] = t->write[i];
	}
	t->pages = pages;
	t->n = n;
	free(number);
}

void trace_free(struct trace *t)
{
	free(t->page);
	free(t->write);
	free(t->name);
	free(t->next);
	free(names.slot);
	trace_filter(0);
	memset(t, 0, sizeof(*t));
	memset(&names, 0, sizeof(names));
	touch_room = page_room = 0;
}

static FILE *opened(const char *file, const char *how)
{
	FILE *f = strcmp(file, "-") ? fopen(file, how) : *how == 'r' ? stdin : stdout;

	if (!f)
		die(*how == 'r' ? EX_NOINPUT : EX_CANTCREAT, "%s: %s", file, strerror(errno));
	return f;
}

static void closed(FILE *f, const char *file)
{
	if (ferror(f) || fclose(f))
		die(EX_IOERR, "%s: %s", file, strerror(errno));
}

/* Formats */

/* The first part that is marked as a whole */
static void add_mark(struct trace *t, uint64_t mark)
{
	if (t->end)
		return;
	if (mark == VPATH_MARK_BEGIN) {
		t->begin = t->n;
		t->marked = true;
	} else if (mark == VPATH_MARK_END && t->marked) {
		t->end = t->n;
	}
}

static void read_csv(struct trace *t, const char *file)
{
	FILE *f = opened(file, "r");
	unsigned long line = 0;
	char text[64], *end;
	uint64_t name;

	while (fgets(text, sizeof(text), f)) {
		line++;
		if (!strcmp(text, "#begin\n"))
			add_mark(t, VPATH_MARK_BEGIN);
		else if (!strcmp(text, "#end\n"))
			add_mark(t, VPATH_MARK_END);
		if (*text == '#' || *text == '\n')
			continue;
		errno = 0;
		name = strtoull(text, &end, 0);
		if (end == text || errno || (strcmp(end, "\n") && strcmp(end, ",w\n")))
			die(EX_DATAERR, "%s:%lu: not a page, and perhaps \",w\"", file, line);
		trace_add(t, name, *end == ',');
	}
	closed(f, file);
}

static void write_csv(const struct trace *t, const char *file)
{
	FILE *f = opened(file, "w");
	size_t i;

	for (i = 0; i < t->n; i++)
		fprintf(f, "%" PRIu64 "%s\n", t->name[t->page[i]], t->write[i] ? ",w" : "");
	closed(f, file);
}

struct oracle {
	uint32_t time;
	uint64_t object;
	uint32_t size;
	int64_t next;
} __attribute__((packed));

static void read_oracle(struct trace *t, const char *file)
{
	FILE *f = opened(file, "r");
	struct oracle o;
	size_t got;

	while ((got = fread(&o, 1, sizeof(o), f)) == sizeof(o))
		trace_add(t, le64toh(o.object), false);
	if (got)
		die(EX_DATAERR, "%s: ends within a record of 24 bytes", file);
	closed(f, file);
}

static void write_oracle(const struct trace *t, const char *file)
{
	FILE *f = opened(file, "w");
	struct oracle o = { .size = htole32(TRACE_PAGE_BYTES) };
	size_t i;

	for (i = 0; i < t->n; i++) {
		o.time = htole32(i);
		o.object = htole64(t->name[t->page[i]]);
		o.next = htole64(t->next[i] == NEVER ? UINT64_MAX : t->next[i]);
		fwrite(&o, sizeof(o), 1, f);
	}
	closed(f, file);
}

static void read_truth(struct trace *t, const char *file)
{
	struct truth_reader *r = truth_open(file);
	struct truth_event ev;
	uint32_t whose = 0;
	int ret;

	if (!r)
		die(EX_NOINPUT, "%s: %s", file, strerror(errno));
	while ((ret = truth_next(r, &ev)) > 0) {
		if (ev.type == TRUTH_READ || ev.type == TRUTH_WRITE)
			trace_add(t, (uint64_t)ev.context << NAME_BITS | ev.value,
				  ev.type == TRUTH_WRITE);
		if (ev.type != TRUTH_MARK || !ev.context)
			continue;
		if (ev.value == VPATH_MARK_BEGIN)
			whose = ev.context;
		/* not of a child of it, or of somebody else */
		if (ev.context == whose)
			add_mark(t, ev.value);
	}
	truth_close(r);
	if (ret < 0)
		die(EX_DATAERR, "%s: damaged", file);
}

static void read_log(struct trace *t, const char *file)
{
	struct mmpath_event ev;
	struct log_reader r;
	uint64_t page;
	unsigned int i;

	log_open(&r, file);
	while (log_next(&r, &ev)) {
		if (ev.type != MMPATH_EVENT_ACCESS || ev.flags & MMPATH_ACCESS_AGAIN)
			continue;
		page = ev.addr / r.header.page_bytes;
		for (i = 0; i < 1U << ev.order; i++)
			trace_add(t, (uint64_t)ev.pid << NAME_BITS | (page + i),
				  ev.flags & MMPATH_ACCESS_WRITE);
	}
	log_close(&r);
}

static void write_log(const struct trace *t, const char *file)
{
	const struct log_header header = { .page_bytes = TRACE_PAGE_BYTES, .driver = "pathsim" };
	const struct log_end end = { .resolved_from = 1 };
	struct log_writer w;
	struct mmpath_event ev;
	uint64_t name;
	size_t i;

	log_create(&w, file, &header);
	for (i = 0; i < t->n; i++) {
		name = t->name[t->page[i]];
		ev = (struct mmpath_event){
			.addr = (name & ((1ULL << NAME_BITS) - 1)) * TRACE_PAGE_BYTES,
			.pid = name >> NAME_BITS,
			.flags = t->write[i] ? MMPATH_ACCESS_WRITE : 0,
		};
		log_write(&w, &ev, 1);
	}
	log_finish(&w, &end);
	log_sum_free(&w.sum);
}

static const char *const format_names[] = {
	[TRACE_CSV] = "csv", [TRACE_ORACLE] = "oracle", [TRACE_TRUTH] = "truth", [TRACE_LOG] = "log",
};

/* A format, -1 if there is none of that name. */
int trace_format(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(format_names) / sizeof(*format_names); i++)
		if (!strcmp(name, format_names[i]))
			return i;
	return -1;
}

/* By the first bytes; what is not known is CSV. */
enum trace_format trace_guess(const char *file)
{
	size_t len = strlen(file);
	char magic[8] = "";
	FILE *f;

	if (!strcmp(file, "-"))
		return TRACE_CSV;
	f = opened(file, "r");
	if (fread(magic, 1, sizeof(magic), f) != sizeof(magic))
		memset(magic, 0, sizeof(magic));
	fclose(f);
	if (!memcmp(magic, "PATHTRU", 7))
		return TRACE_TRUTH;
	if (!memcmp(magic, "MMPATH", 6) || !memcmp(magic, "\x28\xb5\x2f\xfd", 4))
		return TRACE_LOG;
	return len > 14 && !strcmp(file + len - 14, ".oracleGeneral") ? TRACE_ORACLE : TRACE_CSV;
}

void trace_read(struct trace *t, const char *file, enum trace_format format)
{
	static void (*const readers[])(struct trace *t, const char *file) = {
		[TRACE_CSV] = read_csv, [TRACE_ORACLE] = read_oracle, [TRACE_TRUTH] = read_truth,
		[TRACE_LOG] = read_log,
	};

	readers[format](t, file);
}

/* TRACE_TRUTH is written by the hardware only; TRACE_ORACLE wants .next. */
void trace_write(const struct trace *t, const char *file, enum trace_format format)
{
	if (format == TRACE_CSV)
		write_csv(t, file);
	else if (format == TRACE_ORACLE)
		write_oracle(t, file);
	else if (format == TRACE_LOG)
		write_log(t, file);
	else
		die(EX_USAGE, "ground truth cannot be written");
}
