// SPDX-License-Identifier: GPL-2.0
/*
 * Reading and writing of reference strings.
 *
 * Pages of several programs are told apart by the high bits of their names: the first
 * program has 0 there, the next 1. Its own number, of a process or a context, and the
 * number of a page would not fit into 64 bits together.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>

#include "../pathctl/log.h"
#include "../pathctl/pathctl.h"
#include "../vpath/truth.h"
#include "../bench/timed.h"
#include "trace.h"

#define NAME_BITS	45	/* of the number of a page: addresses are below 2^57 */
#define MOST_PROGRAMS	(1U << (64 - NAME_BITS))

/* Numbers by name: open addressing, as many slots as a power of two. */
struct names {
	struct name {
		uint64_t name;
		uint32_t number;	/* from 1 */
	} *slot;
	size_t slots, used;
};

static struct names names, programs;
static uint32_t *program;	/* what a program is called, by its number */
static size_t touch_room, page_room, program_room;

/* The pages touched last, the last one first: their touches are left out */
static uint32_t *recent;
static unsigned int nr_recent, max_recent;
static size_t recent_room;

static struct name *find(const struct names *n, uint64_t name)
{
	size_t i = (name * 0x9e3779b97f4a7c15ULL >> 20) & (n->slots - 1);

	while (n->slot[i].number && n->slot[i].name != name)
		i = (i + 1) & (n->slots - 1);
	return &n->slot[i];
}

static void grow_names(struct names *n)
{
	struct names larger = { .slots = n->slots ? 2 * n->slots : 1024, .used = n->used };
	size_t i;

	larger.slot = sim_alloc(larger.slots, sizeof(*larger.slot));
	for (i = 0; i < n->slots; i++)
		if (n->slot[i].number)
			*find(&larger, n->slot[i].name) = n->slot[i];
	free(n->slot);
	*n = larger;
}

/* From 0, in the order in which they came first. */
static uint32_t number_of(struct names *n, uint64_t name)
{
	struct name *slot;

	if (2 * (n->used + 1) > n->slots)
		grow_names(n);
	slot = find(n, name);
	if (!slot->number)
		*slot = (struct name){ name, ++n->used };
	return slot->number - 1;
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
	recent = NULL;
	recent_room = 0;
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
	if (!hit && nr_recent < max_recent) {
		if (nr_recent == recent_room)
			recent = grown(recent, &recent_room, sizeof(*recent));
		nr_recent++;
	} else if (!hit) {
		i = max_recent - 1;
	}
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
	uint32_t page = number_of(&names, name);
	size_t room;

	if (page == t->pages) {
		if (t->pages == page_room)
			t->name = grown(t->name, &page_room, sizeof(*t->name));
		t->name[t->pages++] = name;
	}
	if (filtered(page))
		return;
	if (t->n == touch_room) {
		room = touch_room;
		t->page = grown(t->page, &room, sizeof(*t->page));
		t->write = grown(t->write, &touch_room, sizeof(*t->write));
	}
	t->page[t->n] = page;
	t->write[t->n++] = write;
}

/* The name of a page of one of several programs. */
static uint64_t name_of(const char *file, uint32_t whose, uint64_t page)
{
	static uint32_t last, last_number;
	uint32_t number = last_number;

	if (!programs.used || whose != last)
		number = number_of(&programs, whose);
	if (number >= MOST_PROGRAMS)
		die(EX_DATAERR, "%s: of more than %u programs", file, MOST_PROGRAMS);
	if (page >> NAME_BITS)
		die(EX_DATAERR, "%s: page %#" PRIx64 " is beyond 2^%d", file, page, NAME_BITS);
	if (number == program_room)
		program = grown(program, &program_room, sizeof(*program));
	program[number] = whose;
	last = whose;
	last_number = number;
	return (uint64_t)number << NAME_BITS | page;
}

/* What that program is called in the file; its number if the file has named none. */
static uint32_t program_of(uint64_t name)
{
	uint32_t number = name >> NAME_BITS;

	return number < programs.used ? program[number] : number;
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
	free(programs.slot);
	free(program);
	program = NULL;
	trace_filter(0);
	memset(t, 0, sizeof(*t));
	memset(&names, 0, sizeof(names));
	memset(&programs, 0, sizeof(programs));
	touch_room = page_room = program_room = 0;
}

/* What is in the file, before zstd has compressed it if it has. */
static FILE *opened(const char *file, bool *plain)
{
	FILE *f = strcmp(file, "-") ? fopen(file, "re") : stdin;
	struct stat st;

	if (!f || fstat(fileno(f), &st))
		die(EX_NOINPUT, "%s: %s", file, strerror(errno));
	if (S_ISDIR(st.st_mode))
		die(EX_NOINPUT, "%s: %s", file, strerror(EISDIR));
	*plain = f != stdin && S_ISREG(st.st_mode);
	return *plain ? open_packed(f, file) : f;
}

static void closed(FILE *f, const char *file)
{
	if (ferror(f))
		die(EX_IOERR, "%s: %s", file, strerror(errno));
	fclose(f);
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

/* "12", "0xc", "12,w": no sign, and no octal. */
static bool parse_touch(char *text, uint64_t *page, bool *write)
{
	char *end = text + strlen(text);

	*write = end - text > 2 && !strcmp(end - 2, ",w");
	if (*write)
		end[-2] = '\0';
	if (strncmp(text, "0x", 2) && strncmp(text, "0X", 2))
		return parse_u64(text, page);
	errno = 0;
	*page = strtoull(text + 2, &end, 16);
	return !errno && isxdigit(text[2]) && text[3] != 'x' && text[3] != 'X' && !*end;
}

static void take_line(struct trace *t, const char *file, unsigned long number, char *text)
{
	uint64_t page;
	bool write;

	text += strspn(text, " \t");
	if (!strcmp(text, "#begin"))
		add_mark(t, VPATH_MARK_BEGIN);
	else if (!strcmp(text, "#end"))
		add_mark(t, VPATH_MARK_END);
	if (*text == '#' || !*text)
		return;
	if (!parse_touch(text, &page, &write))
		die(EX_DATAERR, "%s:%lu: not a page, and perhaps \",w\"", file, number);
	trace_add(t, page, write);
}

/* The end of a line is LF or CR LF, that of the last one may be missing. */
static void read_csv(struct trace *t, const char *file)
{
	static const char bom[] = "\xef\xbb\xbf";
	unsigned long number = 0;
	char *line = NULL, *text;
	size_t room = 0;
	ssize_t length;
	bool plain;
	FILE *f = opened(file, &plain);

	while ((length = getline(&line, &room, f)) > 0) {
		text = line;
		if (!number++ && !strncmp(text, bom, 3))
			text += 3;
		if (line[length - 1] == '\n')
			line[--length] = '\0';
		while (length && strchr(" \t\r", line[length - 1]))
			line[--length] = '\0';
		if (memchr(line, '\0', length))
			die(EX_DATAERR, "%s:%lu: a zero byte", file, number);
		take_line(t, file, number, text);
	}
	free(line);
	closed(f, file);
}

static void write_csv(const struct trace *t, const char *file)
{
	FILE *f = open_output(file);
	size_t i;

	for (i = 0; i < t->n; i++)
		fprintf(f, "%" PRIu64 "%s\n", t->name[t->page[i]], t->write[i] ? ",w" : "");
	close_output(f, file);
}

struct oracle {
	uint32_t time;
	uint64_t object;
	uint32_t size;
	int64_t next;
} __attribute__((packed));

static void read_oracle(struct trace *t, const char *file)
{
	bool plain;
	FILE *f = opened(file, &plain);
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
	FILE *f = open_output(file);
	struct oracle o = { .size = htole32(TRACE_PAGE_BYTES) };
	size_t i;

	for (i = 0; i < t->n; i++) {
		o.time = htole32(i);
		o.object = htole64(t->name[t->page[i]]);
		o.next = htole64(t->next[i] == NEVER ? UINT64_MAX : t->next[i]);
		fwrite(&o, sizeof(o), 1, f);
	}
	close_output(f, file);
}

static void read_truth(struct trace *t, const char *file)
{
	struct truth_reader *r = truth_open(file);
	struct truth_event ev;
	uint32_t whose = 0;
	int ret;

	if (!r && errno == EINVAL)
		die(EX_DATAERR, "%s: no ground truth; if zstd has compressed that: zstd -d", file);
	if (!r)
		die(EX_NOINPUT, "%s: %s", file, strerror(errno));
	while ((ret = truth_next(r, &ev)) > 0) {
		if (ev.type == TRUTH_READ || ev.type == TRUTH_WRITE)
			trace_add(t, name_of(file, ev.context, ev.value), ev.type == TRUTH_WRITE);
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
			trace_add(t, name_of(file, ev.pid, page + i),
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
		if (program_of(name) >= LOG_MOST_PIDS)
			die(EX_DATAERR, "%s: a recording has no program %u", file,
			    program_of(name));
		ev = (struct mmpath_event){
			.addr = (name & ((1ULL << NAME_BITS) - 1)) * TRACE_PAGE_BYTES,
			.pid = program_of(name),
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

static bool ends_in(const char *file, size_t length, const char *end)
{
	return length > strlen(end) && !strncmp(file + length - strlen(end), end, strlen(end));
}

/* libCacheSim's: x.oracleGeneral, x.oracleGeneral.bin, either of them with .zst behind it. */
static bool is_called_oracle(const char *file)
{
	size_t length = strlen(file);

	if (ends_in(file, length, ".zst"))
		length -= strlen(".zst");
	if (ends_in(file, length, ".bin"))
		length -= strlen(".bin");
	return ends_in(file, length, ".oracleGeneral");
}

/*
 * By the first bytes of a plain file, else by its name; what is not known is CSV. The first
 * bytes of a pipe would be missing when it is read.
 */
enum trace_format trace_guess(const char *file)
{
	enum trace_format format = is_called_oracle(file) ? TRACE_ORACLE : TRACE_CSV;
	char magic[8] = "";
	struct stat st;
	bool plain;
	FILE *f;

	if (!strcmp(file, "-") || (!stat(file, &st) && !S_ISREG(st.st_mode)))
		return format;
	f = opened(file, &plain);
	if (fread(magic, 1, sizeof(magic), f) != sizeof(magic))
		memset(magic, 0, sizeof(magic));
	fclose(f);
	if (!memcmp(magic, "PATHTRU", 7))
		return TRACE_TRUTH;
	return memcmp(magic, "MMPATH", 6) ? format : TRACE_LOG;
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
