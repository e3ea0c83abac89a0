// SPDX-License-Identifier: GPL-2.0
/*
 * The number people ask for: how much memory is enough, and what
 * would some more or less of it do.
 *
 * 100 % of the misses is what the curve has at the smallest size it resolves.
 */
#include <stdlib.h>
#include <string.h>

#include "pathctl.h"

struct answer {
	bool found;
	double most, worst, pages;
};

/* The argument of --misses. */
void size_parse_misses(struct size_question *question, const char *text)
{
	if (!parse_percent(text, &question->percent))
		die(EX_USAGE, "--misses %s: must be a percentage from 0%% to 100%%", text);
	question->has_percent = true;
}

static struct answer ask(const struct curve *curve, const struct size_question *question)
{
	struct answer answer = { 0 };

	answer.worst = curve_at(curve, question->window, curve_first(curve));
	answer.most = answer.worst * question->percent / 100;
	answer.found = curve_pages_for(curve, question->window, answer.most, &answer.pages);
	return answer;
}

static uint64_t shifted(uint64_t bytes, uint64_t delta, int direction)
{
	if (direction < 0)
		return bytes > delta ? bytes - delta : 0;
	return direction > 0 ? bytes + delta : bytes;
}

static const char *word_for(int direction)
{
	return direction < 0 ? "less" : direction > 0 ? "more" : "now";
}

/* ---- for people --------------------------------------------------------- */

static bool resolved(const struct curve *curve, uint64_t bytes)
{
	return bytes / curve->page_bytes >= curve->resolved_from;
}

static void print_step(FILE *out, const struct curve *curve,
		       const struct size_question *question, uint64_t bytes, int direction)
{
	uint64_t there = shifted(bytes, question->delta, direction);
	double here = curve_at_bytes(curve, question->window, bytes);
	double misses = curve_at_bytes(curve, question->window, there);
	char size[32], change[32];

	human_bytes(there, size, sizeof(size));
	if (direction)
		human_bytes(question->delta, change, sizeof(change));
	else
		snprintf(change, sizeof(change), "as it is");
	fprintf(out, "  %10s %-5s %10s: %10.0f misses", change,
		direction ? word_for(direction) : "", size, misses);
	if (direction && here > 0)
		fprintf(out, " (%+.1f %%)", (misses - here) / here * 100);
	fputs(resolved(curve, there) ? "\n" : ", at least: not resolved\n", out);
}

static void print_around(FILE *out, const struct curve *curve,
			 const struct size_question *question, const char *what, uint64_t bytes)
{
	if (bytes == NO_LIMIT) {
		fprintf(out, "%s: no limit\n", what);
		return;
	}
	fprintf(out, "%s:\n", what);
	print_step(out, curve, question, bytes, -1);
	print_step(out, curve, question, bytes, 0);
	print_step(out, curve, question, bytes, 1);
}

static void print_answer(FILE *out, const struct curve *curve,
			 const struct size_question *question)
{
	struct answer answer = ask(curve, question);
	char size[32];

	fprintf(out, "at most %g %% of the misses (%.0f of %.0f %s): %s\n", question->percent,
		answer.most, answer.worst, window_texts[question->window], answer.found ?
		human_bytes(answer.pages * curve->page_bytes, size, sizeof(size)) :
		"no size that was seen is enough");
}

void size_print(FILE *out, const struct curve *curve, const struct cgroup *cgroup,
		const struct size_question *question)
{
	const char *what;
	uint64_t bytes;

	if (question->has_percent)
		print_answer(out, curve, question);
	if (cgroup_memory_now(cgroup, &what, &bytes))
		print_around(out, curve, question, what, bytes);
	if (cgroup_u64(cgroup, "memory.max", &bytes))
		print_around(out, curve, question, "memory.max", bytes);
}

/* ---- for programs -------------------------------------------------------- */

static json_t *step_json(const struct curve *curve, const struct size_question *question,
			 uint64_t bytes, int direction)
{
	uint64_t there = shifted(bytes, question->delta, direction);

	return json_pack("{s:o, s:f, s:b}", "bytes", json_u64(there),
			 "misses", curve_at_bytes(curve, question->window, there),
			 "resolved", resolved(curve, there));
}

static json_t *around_json(const struct curve *curve, const struct size_question *question,
			   uint64_t bytes)
{
	json_t *object = json_object();
	int direction;

	for (direction = -1; direction <= 1; direction++)
		json_object_set_new(object, word_for(direction),
				    step_json(curve, question, bytes, direction));
	return object;
}

static json_t *answer_json(const struct curve *curve, const struct size_question *question)
{
	struct answer answer = ask(curve, question);
	json_t *bytes = answer.found ? json_u64(answer.pages * curve->page_bytes) : json_null();

	return json_pack("{s:f, s:f, s:f, s:o}", "percent", question->percent,
			 "misses", answer.most, "of", answer.worst, "bytes", bytes);
}

json_t *size_json(const struct curve *curve, const struct cgroup *cgroup,
		  const struct size_question *question)
{
	uint64_t now, max;
	const char *what;
	bool has_now = cgroup_memory_now(cgroup, &what, &now);
	bool has_max = cgroup_u64(cgroup, "memory.max", &max) && max != NO_LIMIT;
	json_t *object = json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}",
		"window", window_names[question->window],
		"delta_bytes", json_u64(question->delta),
		"footprint_bytes", json_u64(curve->footprint * curve->page_bytes),
		"resolved_from_bytes", json_u64(curve->resolved_from * curve->page_bytes),
		"memory_current", has_now ? around_json(curve, question, now) : json_null(),
		"memory_max", has_max ? around_json(curve, question, max) : json_null());

	if (question->has_percent)
		json_object_set_new(object, "enough", answer_json(curve, question));
	return object;
}
