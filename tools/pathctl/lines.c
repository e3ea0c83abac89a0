// SPDX-License-Identifier: GPL-2.0
/*
 * cpu.cluster.lines: cache lines that threads took from other chips.
 *
 *   GROUP ENTRY ADDRESS KIND CODE BY THREADS TID:SAMPLES:WORDS [TID:SAMPLES:WORDS ...]
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "clusters.h"

const char *const line_kinds[LINE_KINDS] = {
	[LINE_FALSE] = "false", [LINE_ATOMIC] = "atomic", [LINE_DATA] = "data",
	[LINE_SINGLE] = "single", [LINE_UNKNOWN] = "unknown",
};

/* ---- from text --------------------------------------------------------------- */

static char *next_word(char **text)
{
	char *word;

	do {
		word = strsep(text, " ");
	} while (word && !*word);
	return word;
}

/* 0x and digits, and nothing else. */
static bool parse_hex(const char *text, uint64_t *value)
{
	char *end;

	if (!text || strncmp(text, "0x", 2) || !isxdigit((unsigned char)text[2]))
		return false;
	errno = 0;
	*value = strtoull(text + 2, &end, 16);
	return !errno && !*end;
}

static bool take_number(char **text, uint64_t *value)
{
	char *word = next_word(text);

	return word && parse_u64(word, value);
}

static bool take_hex(char **text, uint64_t *value)
{
	return parse_hex(next_word(text), value);
}

static bool take_kind(char **text, enum line_kind *kind)
{
	char *word = next_word(text);
	size_t i;

	for (i = 0; word && i < LINE_KINDS; i++) {
		*kind = i;
		if (!strcmp(word, line_kinds[i]))
			return true;
	}
	return false;
}

static bool parse_taker(char *word, struct taker *taker)
{
	char *tid = strsep(&word, ":"), *number = strsep(&word, ":");
	uint64_t samples, words;

	if (!number || !parse_u64(tid, &taker->tid) || !parse_u64(number, &samples) ||
	    !parse_hex(word, &words))
		return false;
	taker->samples = samples;
	taker->words = words;
	return samples <= MOST_SAMPLES && words < 1 << LINE_WORDS;
}

static bool take_takers(char *text, struct shared_line *line)
{
	struct taker taker;
	char *word;

	while ((word = next_word(&text))) {
		if (!parse_taker(word, &taker))
			return false;
		line->takers = xgrow(line->takers, line->count + 1, sizeof(taker));
		line->takers[line->count++] = taker;
		line->samples += taker.samples;
		line->saturated |= taker.samples == MOST_SAMPLES;
	}
	return line->count;
}

static bool parse_line(char *text, struct shared_line *line)
{
	memset(line, 0, sizeof(*line));
	return take_number(&text, &line->group) && take_number(&text, &line->entry) &&
	       line->entry < SHMAP_ENTRIES && take_hex(&text, &line->address) &&
	       take_kind(&text, &line->kind) && take_hex(&text, &line->code) &&
	       take_number(&text, &line->by) && take_number(&text, &line->threads) &&
	       take_takers(text, line);
}

/* What is none of these lines is passed over. The text may be freed afterwards. */
void lines_parse(struct lines *lines, char *text)
{
	struct shared_line line;
	char *row;

	memset(lines, 0, sizeof(*lines));
	while ((row = strsep(&text, "\n"))) {
		if (!parse_line(row, &line)) {
			free(line.takers);
			continue;
		}
		lines->list = xgrow(lines->list, lines->count + 1, sizeof(line));
		lines->list[lines->count++] = line;
	}
}

void lines_free(struct lines *lines)
{
	size_t i;

	for (i = 0; i < lines->count; i++)
		free(lines->list[i].takers);
	free(lines->list);
	memset(lines, 0, sizeof(*lines));
}

/* The first word that was used: what begins the line may be another variable. */
uint64_t line_used(const struct shared_line *line)
{
	unsigned int words = 0;
	size_t i;

	for (i = 0; i < line->count; i++)
		words |= line->takers[i].words;
	return line->address + (words ? __builtin_ctz(words) * LINE_BYTES / LINE_WORDS : 0);
}

/* ---- their order --------------------------------------------------------------- */

static int by_entry(const void *a, const void *b)
{
	const struct shared_line *x = a, *y = b;

	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	return x->entry < y->entry ? -1 : x->entry > y->entry;
}

/* Hottest first, and lines that are as hot do not change places from frame to frame. */
static int by_heat(const void *a, const void *b)
{
	const struct shared_line *x = a, *y = b;

	if (x->samples != y->samples)
		return x->samples > y->samples ? -1 : 1;
	return by_entry(a, b);
}

void lines_sort_by_heat(struct lines *lines)
{
	if (lines->count)
		qsort(lines->list, lines->count, sizeof(*lines->list), by_heat);
}

void lines_sort_by_entry(struct lines *lines)
{
	if (lines->count)
		qsort(lines->list, lines->count, sizeof(*lines->list), by_entry);
}

/* ---- JSON ---------------------------------------------------------------------- */

static json_t *hex_json(uint64_t value)
{
	return json_sprintf("0x%llx", (unsigned long long)value);
}

static json_t *takers_json(const struct shared_line *line)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < line->count; i++)
		json_array_append_new(list, json_pack("{s:o, s:o, s:o}",
						      "tid", json_u64(line->takers[i].tid),
						      "samples", json_u64(line->takers[i].samples),
						      "words", json_u64(line->takers[i].words)));
	return list;
}

static void add_text(json_t *object, const char *key, const char *text)
{
	if (text)
		json_object_set_new(object, key, json_text(text));
}

static void add_places(json_t *object, const struct shared_line *line, struct code *code)
{
	char *variable = code_variable(code, line->by, line_used(line));
	struct place place;

	code_find(code, line->by, line->code, &place);
	add_text(object, "variable", variable);
	add_text(object, "symbol", place.symbol);
	add_text(object, "object", place.object);
	add_text(object, "source", place.source);
	place_free(&place);
	free(variable);
}

static json_t *line_json(const struct shared_line *line, struct code *code)
{
	json_t *object = json_object();

	json_object_set_new(object, "group", json_u64(line->group));
	json_object_set_new(object, "entry", json_u64(line->entry));
	json_object_set_new(object, "address", hex_json(line->address));
	json_object_set_new(object, "kind", json_text(line_kinds[line->kind]));
	json_object_set_new(object, "code", hex_json(line->code));
	json_object_set_new(object, "by", json_u64(line->by));
	json_object_set_new(object, "threads", json_u64(line->threads));
	json_object_set_new(object, "takers", takers_json(line));
	add_places(object, line, code);
	return object;
}

json_t *lines_json(const struct lines *lines, struct code *code)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < lines->count; i++)
		json_array_append_new(list, line_json(&lines->list[i], code));
	return list;
}
