// SPDX-License-Identifier: GPL-2.0
/*
 * The two shapes in which the kernel's files come.
 *
 * Both are parsed by name, so that keys and columns may be added. The text is
 * cut up in place and owned by the result.
 */
#include <stdlib.h>
#include <string.h>

#include "pathctl.h"

static const char blanks[] = " \t";

/* ---- "key value" lines ------------------------------------------------- */

/* Takes over a line that belongs to somebody else; false when it has no value. */
bool keyed_add_line(struct keyed *keyed, char *line)
{
	char *value = line + strcspn(line, blanks);

	if (value == line || !*value)
		return false;
	*value++ = '\0';
	value += strspn(value, blanks);
	if (!(keyed->count & (keyed->count + 1))) {
		size_t room = 2 * keyed->count + 2;

		keyed->keys = xgrow(keyed->keys, room, sizeof(*keyed->keys));
		keyed->values = xgrow(keyed->values, room, sizeof(*keyed->values));
	}
	keyed->keys[keyed->count] = line;
	keyed->values[keyed->count++] = value;
	return true;
}

/* Lines that are no "key value" are somebody's future and passed over. */
void keyed_parse(struct keyed *keyed, char *text)
{
	char *line;

	memset(keyed, 0, sizeof(*keyed));
	keyed->text = text;
	while ((line = strsep(&text, "\n")))
		keyed_add_line(keyed, line);
}

const char *keyed_get(const struct keyed *keyed, const char *key)
{
	size_t i;

	for (i = 0; i < keyed->count; i++)
		if (!strcmp(keyed->keys[i], key))
			return keyed->values[i];
	return NULL;
}

uint64_t keyed_u64(const struct keyed *keyed, const char *key, uint64_t missing)
{
	const char *text = keyed_get(keyed, key);
	uint64_t value;

	return text && parse_u64(text, &value) ? value : missing;
}

/* The number behind @key, "name=", in a line of a nested keyed file; 0 if there is none */
uint64_t nested_u64(const char *line, const char *key)
{
	const char *at = strstr(line, key);

	return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

json_t *keyed_json(const struct keyed *keyed)
{
	json_t *object = json_object();
	size_t i;

	for (i = 0; i < keyed->count; i++)
		json_object_set_new(object, keyed->keys[i],
				    json_number_or_text(keyed->values[i]));
	return object;
}

void keyed_free(struct keyed *keyed)
{
	free(keyed->text);
	free(keyed->keys);
	free(keyed->values);
	memset(keyed, 0, sizeof(*keyed));
}

/* ---- tables ------------------------------------------------------------ */

static char *next_word(char **line)
{
	char *word = *line + strspn(*line, blanks);

	if (!*word)
		return NULL;
	*line = word + strcspn(word, blanks);
	if (**line)
		*(*line)++ = '\0';
	return word;
}

static void parse_header(struct table *table, char *line, const char *what)
{
	char *word;

	while ((word = next_word(&line))) {
		table->names = xgrow(table->names, table->columns + 1, sizeof(char *));
		table->names[table->columns++] = word;
	}
	if (!table->columns)
		die(EX_DATAERR, "%s: no table in it", what);
}

static void parse_row(struct table *table, char *line, const char *what,
		      size_t number, bool blanks_in_last)
{
	char **cells = table->cells + table->rows * table->columns;
	size_t i;

	for (i = 0; i < table->columns; i++) {
		if (blanks_in_last && i == table->columns - 1) {
			cells[i] = line + strspn(line, blanks);
			line += strlen(line);
			break;
		}
		cells[i] = next_word(&line);
		if (!cells[i])
			die(EX_DATAERR, "%s: line %zu is cut off", what, number);
	}
	if (next_word(&line))
		die(EX_DATAERR, "%s: line %zu has too many columns", what, number);
	table->rows++;
}

static size_t count_lines(const char *text)
{
	size_t count = 1;

	while ((text = strchr(text, '\n'))) {
		text++;
		count++;
	}
	return count;
}

/**
 * table_parse - parse a header line and the rows below it
 * @table: the result; the caller sets table->text when it is to be freed
 * @text: is cut up
 * @what: the file's name, for messages
 * @line_number: of the header line in that file
 * @blanks_in_last: the last column is the rest of the line
 */
void table_parse(struct table *table, char *text, const char *what,
		 size_t line_number, bool blanks_in_last)
{
	size_t lines = count_lines(text);
	char *line = strsep(&text, "\n");

	memset(table, 0, sizeof(*table));
	parse_header(table, line, what);
	table->cells = xgrow(NULL, lines, table->columns * sizeof(char *));
	while ((line = strsep(&text, "\n"))) {
		line_number++;
		if (*line)
			parse_row(table, line, what, line_number, blanks_in_last);
	}
}

size_t table_column(const struct table *table, const char *what, const char *name)
{
	size_t i;

	for (i = 0; i < table->columns; i++)
		if (!strcmp(table->names[i], name))
			return i;
	die(EX_DATAERR, "%s: no column \"%s\": this kernel is not of an age with pathctl",
	    what, name);
}

uint64_t table_u64(const struct table *table, const char *what, size_t row, size_t column)
{
	uint64_t value;

	if (!parse_u64(table_cell(table, row, column), &value))
		die(EX_DATAERR, "%s: %s \"%s\" in row %zu is no number", what,
		    table->names[column], table_cell(table, row, column), row + 1);
	return value;
}

void table_free(struct table *table)
{
	free(table->text);
	free(table->names);
	free(table->cells);
	memset(table, 0, sizeof(*table));
}
