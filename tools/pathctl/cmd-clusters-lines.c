// SPDX-License-Identifier: GPL-2.0
/*
 * Cache lines that threads took from other chips, hottest first: which, why, and in which code.
 */
#include <stdlib.h>
#include <string.h>

#include "clusters.h"

enum column { ADDRESS, VARIABLE, KIND, SAMPLES, THREADS, CODE, BYTES, COLUMNS };

static const char *const heads[COLUMNS] = {
	"ADDRESS", "VARIABLE", "KIND", "SAMPLES", "THREADS", "CODE", "BYTES OF THREADS",
};

/* A longer cell moves those behind it, in its row only. */
#define WIDEST 44

struct row {
	char *cells[COLUMNS];
};

/* ---- what is in a row ---------------------------------------------------------- */

/* Bytes that words are at, as 0-7,16-19 */
static void print_bytes(FILE *out, unsigned int words)
{
	unsigned int first, end, size = LINE_BYTES / LINE_WORDS;
	const char *comma = "";

	if (!words)
		fputc('-', out);
	for (first = 0; first < LINE_WORDS; first = end) {
		end = first + 1;
		if (!(words >> first & 1))
			continue;
		while (end < LINE_WORDS && words >> end & 1)
			end++;
		fprintf(out, "%s%u-%u", comma, first * size, end * size - 1);
		comma = ",";
	}
}

static char *takers_cell(const struct shared_line *line)
{
	char *text = NULL;
	size_t i, size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		die(EX_OSERR, "out of memory");
	for (i = 0; i < line->count; i++) {
		fprintf(out, "%s%llu:", i ? " " : "", (unsigned long long)line->takers[i].tid);
		print_bytes(out, line->takers[i].words);
	}
	if (line->threads > line->count)
		fputs(" ...", out);
	if (fclose(out))
		die(EX_OSERR, "out of memory");
	return text;
}

/* What is behind the last slash */
static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The best name that there is of an address */
static char *code_cell(const struct clusters_frame *frame, const struct shared_line *line)
{
	struct place place;
	char *text, *clean;

	if (!line->code)
		return xdup("-");
	code_find(frame->code, line->by, line->code, &place);
	if (place.symbol && place.source)
		text = xasprintf("%s %s", place.symbol, base_name(place.source));
	else if (place.symbol)
		text = xdup(place.symbol);
	else if (place.object)
		text = xdup(base_name(place.object));
	else
		text = xasprintf("0x%llx", (unsigned long long)line->code);
	clean = printable(text);
	free(text);
	place_free(&place);
	return clean;
}

static char *variable_cell(const struct clusters_frame *frame, const struct shared_line *line)
{
	char *name = code_variable(frame->code, line->by, line_used(line));
	char *clean = printable(name ? name : "");

	free(name);
	return clean;
}

static void fill_row(struct row *row, const struct clusters_frame *frame,
		     const struct shared_line *line)
{
	/* the kernel tells no address of a thread that has gone */
	row->cells[ADDRESS] = line->address ?
		xasprintf("0x%llx", (unsigned long long)line->address) : xdup("-");
	row->cells[VARIABLE] = variable_cell(frame, line);
	row->cells[KIND] = xdup(line_kinds[line->kind]);
	row->cells[SAMPLES] = xasprintf("%llu%s", (unsigned long long)line->samples,
					line->saturated ? "+" : "");
	row->cells[THREADS] = xasprintf("%llu", (unsigned long long)line->threads);
	row->cells[CODE] = code_cell(frame, line);
	row->cells[BYTES] = takers_cell(line);
}

/* ---- the table ------------------------------------------------------------------- */

/* How wide a column is, 0 if nothing is in it */
static int column_width(const struct row *rows, size_t count, enum column column)
{
	size_t i, length, width = 0;

	for (i = 0; i < count; i++) {
		length = strlen(rows[i].cells[column]);
		if (length > width)
			width = length > WIDEST ? WIDEST : length;
	}
	return width && width < strlen(heads[column]) ? strlen(heads[column]) : width;
}

static void print_cell(FILE *out, enum column column, int width, const char *text)
{
	const char *gap = column ? "  " : "";

	if (!width)
		return;
	if (column == SAMPLES || column == THREADS)
		fprintf(out, "%s%*s", gap, width, text);
	else if (column == BYTES)
		fprintf(out, "%s%s", gap, text);
	else
		fprintf(out, "%s%-*s", gap, width, text);
}

static void print_rows(FILE *out, const char *head, const struct row *rows, size_t count)
{
	int widths[COLUMNS];
	enum column c;
	size_t i;

	fputs(head, out);
	for (c = 0; c < COLUMNS; c++) {
		widths[c] = column_width(rows, count, c);
		print_cell(out, c, widths[c], heads[c]);
	}
	fputc('\n', out);
	for (i = 0; i < count; i++) {
		for (c = 0; c < COLUMNS; c++)
			print_cell(out, c, widths[c], rows[i].cells[c]);
		fputc('\n', out);
	}
}

static void print_table(FILE *out, const char *head, const struct clusters_frame *frame)
{
	size_t i, count = frame->lines.count;
	struct row *rows;
	enum column c;

	if (count > frame->most)
		count = frame->most;
	rows = xalloc(count * sizeof(*rows));
	for (i = 0; i < count; i++)
		fill_row(&rows[i], frame, &frame->lines.list[i]);
	print_rows(out, head, rows, count);
	if (count < frame->lines.count)
		fprintf(out, "... and %zu more with fewer samples\n", frame->lines.count - count);
	for (i = 0; i < count; i++)
		for (c = 0; c < COLUMNS; c++)
			free(rows[i].cells[c]);
	free(rows);
}

/* ---- what it means ------------------------------------------------------------- */

static void print_sum(FILE *out, const uint64_t *samples, uint64_t all, size_t lines)
{
	static const char *const words[LINE_KINDS] = {
		[LINE_FALSE] = "false sharing", [LINE_ATOMIC] = "atomic", [LINE_DATA] = "data",
		[LINE_SINGLE] = "one thread only", [LINE_UNKNOWN] = "unknown",
	};
	enum line_kind kind;

	fprintf(out, "%llu samples of %zu line%s", (unsigned long long)all, lines,
		lines == 1 ? "" : "s");
	for (kind = 0; kind < LINE_KINDS; kind++)
		if (samples[kind] || kind < LINE_SINGLE)
			fprintf(out, "%s %.0f %% %s", kind ? "," : ":",
				100.0 * samples[kind] / all, words[kind]);
	fputc('\n', out);
}

static const char advice[] =
	"False sharing: threads use different words of one line. Keep the words of different\n"
	"threads in lines of their own, for example with __attribute__((aligned(64))).\n";

static void print_meaning(FILE *out, const struct lines *lines)
{
	uint64_t samples[LINE_KINDS] = { 0 }, all = 0;
	size_t i;

	for (i = 0; i < lines->count; i++) {
		samples[lines->list[i].kind] += lines->list[i].samples;
		all += lines->list[i].samples;
	}
	if (all)
		print_sum(out, samples, all, lines->count);
	if (samples[LINE_FALSE])
		fputs(advice, out);
}

void lines_print(FILE *out, const char *head, const void *what)
{
	const struct clusters_frame *frame = what;

	if (!clusters_print_head(out, frame))
		return;
	print_meaning(out, &frame->lines);
	print_table(out, head, frame);
}
