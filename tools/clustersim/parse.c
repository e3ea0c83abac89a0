// SPDX-License-Identifier: GPL-2.0
/*
 * Samples and groups as text.
 *
 * A line is perf script's if a word of it is a time with a colon behind it, "12.345678:". The
 * word in front of that is the thread, "TID" or "PID/TID"; a CPU, "[003]", may be in between.
 * Behind it the name of an event may follow, which ends in a colon, too. Then there are one to
 * three hexadecimal words: the address, the instruction and the physical address. That is the
 * order of perf script, whatever the order in its -F. Any other line is TIME TID ADDRESS [PHYS
 * [IP [L]]].
 *
 * A line that is neither ends it all. A guess at what it means would be taken for a result.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../pathctl/pathctl.h"
#include "samples.h"

#define BLANKS		" \t\r\n"
#define DIGITS		"0123456789"
#define MOST_WORDS	64
#define LONGEST_LINE	4096
#define NSEC_PER_SEC	1000000000ULL

struct words {
	char *word[MOST_WORDS];
	int nr;
};

static bool split(struct words *w, char *line)
{
	char *word;

	for (w->nr = 0; (word = strtok_r(NULL, BLANKS, &line)); w->nr++) {
		if (w->nr == MOST_WORDS)
			return false;
		w->word[w->nr] = word;
	}
	return true;
}

static bool is_comment(const char *line)
{
	line += strspn(line, BLANKS);
	return !*line || *line == '#';
}

/* Numbers */

static bool number(const char *text, u64 most, u32 *value)
{
	uint64_t n;

	if (!parse_u64(text, &n) || n > most)
		return false;
	*value = n;
	return true;
}

/* Up to 16 digits, with or without 0x */
static bool hexadecimal(const char *text, u64 *value)
{
	size_t digits;

	if (text[0] == '0' && text[1] == 'x')
		text += 2;
	digits = strspn(text, DIGITS "abcdefABCDEF");
	if (!digits || digits > 16 || text[digits])
		return false;
	*value = strtoull(text, NULL, 16);
	return true;
}

static bool hexadecimal_or_none(const char *text, u64 *value)
{
	*value = 0;
	return !strcmp(text, "-") || hexadecimal(text, value);
}

/* Seconds, and up to 9 digits of a fraction; @end: what must follow */
static bool seconds(const char *text, const char *end, u64 *ns)
{
	size_t whole = strspn(text, DIGITS), digits = 0, i;
	u64 sum = 0;

	if (!whole || whole > 10)
		return false;
	if (text[whole] == '.')
		digits = strspn(text + whole + 1, DIGITS);
	if ((text[whole] == '.' && !digits) || digits > 9 ||
	    strcmp(text + whole + (digits ? 1 + digits : 0), end))
		return false;
	for (i = 0; i < whole; i++)
		sum = sum * 10 + (text[i] - '0');
	for (i = 0; i < 9; i++)
		sum = sum * 10 + (i < digits ? text[whole + 1 + i] - '0' : 0);
	*ns = sum;
	return true;
}

/* TID or PID/TID */
static bool thread(char *text, struct sample *s)
{
	char *slash = strchr(text, '/');

	s->pid = 0;
	if (!slash)
		return number(text, INT32_MAX, &s->tid);
	*slash = '\0';
	return number(text, INT32_MAX, &s->pid) && number(slash + 1, INT32_MAX, &s->tid);
}

/* Lines */

static bool is_perf_time(const char *word)
{
	u64 ns;

	return strchr(word, '.') && seconds(word, ":", &ns);
}

/* The last word that is a time: the name of a program may look like one. */
static int find_perf_time(const struct words *w)
{
	int i;

	for (i = w->nr - 1; i >= 0; i--)
		if (is_perf_time(w->word[i]))
			return i;
	return -1;
}

static bool is_cpu(const char *word)
{
	size_t digits = *word == '[' ? strspn(word + 1, DIGITS) : 0;

	return digits && !strcmp(word + 1 + digits, "]");
}

static int after_event(const struct words *w, int first)
{
	int i;

	for (i = w->nr - 1; i >= first; i--)
		if (w->word[i][strlen(w->word[i]) - 1] == ':')
			return i + 1;
	return first;
}

static const char *parse_perf(const struct words *w, int time, struct sample *s)
{
	u64 *const value[] = { &s->addr, &s->ip, &s->phys };
	int tid = time - 1, first = after_event(w, time + 1), i;

	if (tid >= 0 && is_cpu(w->word[tid]))
		tid--;
	if (tid < 0 || !thread(w->word[tid], s))
		return "no thread before the time";
	if (first == w->nr)
		return "no address behind the time";
	if (w->nr - first > 3)
		return "more than an address, an instruction and a physical address";
	for (i = first; i < w->nr; i++)
		if (!hexadecimal(w->word[i], value[i - first]))
			return "not a hexadecimal address";
	seconds(w->word[time], ":", &s->time_ns);
	return NULL;
}

static const char *parse_plain(const struct words *w, struct sample *s)
{
	if (w->nr < 3 || w->nr > 6)
		return "not TIME TID ADDRESS [PHYS [IP [L]]], and not of perf script";
	if (!seconds(w->word[0], "", &s->time_ns))
		return "not a time";
	if (!thread(w->word[1], s))
		return "not a thread";
	if (!hexadecimal(w->word[2], &s->addr) ||
	    (w->nr > 3 && !hexadecimal_or_none(w->word[3], &s->phys)) ||
	    (w->nr > 4 && !hexadecimal_or_none(w->word[4], &s->ip)))
		return "not a hexadecimal address";
	if (w->nr > 5 && strcmp(w->word[5], "L"))
		return "the last word must be L, if it is there";
	s->locked = w->nr > 5;
	return NULL;
}

/**
 * sample_parse() - understand a line, which is no comment
 * @line: it; is changed
 * @s: where the sample goes
 *
 * Return: NULL, or what is wrong
 */
const char *sample_parse(char *line, struct sample *s)
{
	struct words w;
	int time;

	*s = (struct sample){ };
	if (!split(&w, line))
		return "too many words";
	time = find_perf_time(&w);
	return time >= 0 ? parse_perf(&w, time, s) : parse_plain(&w, s);
}

/**
 * truth_parse() - understand a line "TID GROUP"; group 0 or -: none
 * @line: it; is changed
 * @t: where the thread goes
 *
 * Return: NULL, or what is wrong
 */
const char *truth_parse(char *line, struct truth *t)
{
	struct words w;

	*t = (struct truth){ };
	if (!split(&w, line) || w.nr != 2)
		return "not TID GROUP";
	if (!number(w.word[0], INT32_MAX, &t->tid) || !t->tid)
		return "not a thread";
	if (strcmp(w.word[1], "-") && !number(w.word[1], INT32_MAX, &t->group))
		return "not the number of a group";
	return NULL;
}

/* Files */

/* Call @parse for each line that is no comment. */
static void read_lines(const char *path, const char *(*parse)(char *line, void *to), void *to)
{
	FILE *file = strcmp(path, "-") ? fopen(path, "re") : stdin;
	size_t room = 0, number = 0;
	const char *wrong = NULL;
	char *line = NULL;
	ssize_t length;

	if (!file)
		die(EX_NOINPUT, "%s: %s", path, strerror(errno));
	while (errno = 0, (length = getline(&line, &room, file)) >= 0) {
		number++;
		if (strlen(line) != (size_t)length)
			wrong = "a zero byte";
		else if (length > LONGEST_LINE)
			wrong = "too long";
		else if (!is_comment(line))
			wrong = parse(line, to);
		if (wrong)
			die(EX_DATAERR, "%s:%zu: %s", path, number, wrong);
	}
	if (ferror(file) || errno)
		die(EX_NOINPUT, "%s: %s", path, strerror(errno ? errno : EIO));
	free(line);
	if (file != stdin)
		fclose(file);
}

/* Thread 0 is each CPU when it idles. */
static const char *add_sample(char *line, void *to)
{
	struct sample s;
	const char *wrong = sample_parse(line, &s);

	if (!wrong && s.tid)
		samples_add(to, &s);
	return wrong;
}

static const char *add_truth(char *line, void *to)
{
	struct truth t;
	const char *wrong = truth_parse(line, &t);

	if (!wrong)
		truths_add(to, t.tid, t.group);
	return wrong;
}

/**
 * samples_read() - read a recording
 * @s: where the samples go
 * @path: file, or - for standard input. Ends the program if a line is wrong.
 */
void samples_read(struct samples *s, const char *path)
{
	read_lines(path, add_sample, s);
	if (!s->nr)
		die(EX_DATAERR, "%s: no samples", path);
}

/**
 * truths_read() - read which thread is of which group
 * @t: where the threads go, sorted
 * @path: file, or - for standard input. Ends the program if a line is wrong.
 */
void truths_read(struct truths *t, const char *path)
{
	read_lines(path, add_truth, t);
	truths_sort(t, path);
}
