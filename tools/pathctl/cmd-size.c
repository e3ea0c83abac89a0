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

struct size_options {
	double percent;
	bool has_percent, json;
	uint64_t delta;
	enum window window;
};

struct answer {
	bool found;
	double most, worst, pages;
};

static struct answer ask(const struct curve *curve, const struct size_options *options)
{
	struct answer answer = { 0 };

	answer.worst = curve_at(curve, options->window, curve_first(curve));
	answer.most = answer.worst * options->percent / 100;
	answer.found = curve_pages_for(curve, options->window, answer.most, &answer.pages);
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

static void print_step(const struct curve *curve, const struct size_options *options,
		       uint64_t bytes, int direction)
{
	uint64_t there = shifted(bytes, options->delta, direction);
	double here = curve_at_bytes(curve, options->window, bytes);
	double misses = curve_at_bytes(curve, options->window, there);
	char size[32], change[32];

	human_bytes(there, size, sizeof(size));
	if (direction)
		human_bytes(options->delta, change, sizeof(change));
	else
		snprintf(change, sizeof(change), "as it is");
	printf("  %10s %-5s %10s: %10.0f misses", change, direction ? word_for(direction) : "",
	       size, misses);
	if (direction && here > 0)
		printf(" (%+.1f %%)", (misses - here) / here * 100);
	puts(resolved(curve, there) ? "" : ", at least: not resolved");
}

static void print_around(const struct curve *curve, const struct cgroup *cgroup,
			 const struct size_options *options, const char *file)
{
	uint64_t bytes;

	if (!cgroup_u64(cgroup, file, &bytes))
		return;
	if (bytes == NO_LIMIT) {
		printf("%s: no limit\n", file);
		return;
	}
	printf("%s:\n", file);
	print_step(curve, options, bytes, -1);
	print_step(curve, options, bytes, 0);
	print_step(curve, options, bytes, 1);
}

static void print_answer(const struct curve *curve, const struct size_options *options)
{
	struct answer answer = ask(curve, options);
	char size[32];

	printf("at most %g %% of the misses (%.0f of %.0f %s): ", options->percent, answer.most,
	       answer.worst, window_texts[options->window]);
	if (answer.found)
		puts(human_bytes(answer.pages * curve->page_bytes, size, sizeof(size)));
	else
		puts("no size that was seen is enough");
}

static void print_size(const struct curve *curve, const struct cgroup *cgroup,
		       const struct size_options *options)
{
	char size[32];

	if (options->has_percent)
		print_answer(curve, options);
	print_around(curve, cgroup, options, "memory.current");
	print_around(curve, cgroup, options, "memory.max");
	printf("footprint %s; ", human_bytes(curve->footprint * curve->page_bytes, size,
					     sizeof(size)));
	printf("sizes from %s are resolved\n",
	       human_bytes(curve->resolved_from * curve->page_bytes, size, sizeof(size)));
	coverage_note(stdout, cgroup);
}

/* ---- for programs -------------------------------------------------------- */

static json_t *step_json(const struct curve *curve, const struct size_options *options,
			 uint64_t bytes, int direction)
{
	uint64_t there = shifted(bytes, options->delta, direction);

	return json_pack("{s:o, s:f, s:b}", "bytes", json_u64(there),
			 "misses", curve_at_bytes(curve, options->window, there),
			 "resolved", resolved(curve, there));
}

static json_t *around_json(const struct curve *curve, const struct cgroup *cgroup,
			   const struct size_options *options, const char *file)
{
	json_t *object = json_object();
	uint64_t bytes;
	int direction;

	if (!cgroup_u64(cgroup, file, &bytes) || bytes == NO_LIMIT) {
		json_decref(object);
		return json_null();
	}
	for (direction = -1; direction <= 1; direction++)
		json_object_set_new(object, word_for(direction),
				    step_json(curve, options, bytes, direction));
	return object;
}

static json_t *answer_json(const struct curve *curve, const struct size_options *options)
{
	struct answer answer = ask(curve, options);
	json_t *bytes = answer.found ? json_u64(answer.pages * curve->page_bytes) : json_null();

	return json_pack("{s:f, s:f, s:f, s:o}", "percent", options->percent,
			 "misses", answer.most, "of", answer.worst, "bytes", bytes);
}

static json_t *size_json(const struct curve *curve, const struct cgroup *cgroup,
			 const struct size_options *options)
{
	json_t *object = json_pack("{s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o}",
		"cgroup", json_text(cgroup->name), "window", window_names[options->window],
		"delta_bytes", json_u64(options->delta),
		"footprint_bytes", json_u64(curve->footprint * curve->page_bytes),
		"resolved_from_bytes", json_u64(curve->resolved_from * curve->page_bytes),
		"memory_current", around_json(curve, cgroup, options, "memory.current"),
		"memory_max", around_json(curve, cgroup, options, "memory.max"),
		"coverage", coverage_json(cgroup));

	if (options->has_percent)
		json_object_set_new(object, "enough", answer_json(curve, options));
	return object;
}

/* ---- options ------------------------------------------------------------- */

static const struct option long_options[] = {
	{ "misses", required_argument, NULL, 'm' },
	{ "delta", required_argument, NULL, 'd' },
	{ "window", required_argument, NULL, 'w' },
	{ "json", no_argument, NULL, 'j' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

static void take_option(struct size_options *options, int option)
{
	switch (option) {
	case 'm':
		if (!parse_percent(optarg, &options->percent))
			die(EX_USAGE, "--misses %s: must be a percentage from 0%% to 100%%", optarg);
		options->has_percent = true;
		break;
	case 'd':
		if (!parse_bytes(optarg, &options->delta))
			die(EX_USAGE, "--delta %s: must be bytes, or a size like 64M", optarg);
		break;
	case 'w':
		options->window = parse_window(optarg);
		break;
	case 'j':
		options->json = true;
		break;
	}
}

static int run(const struct command *cmd, int argc, char **argv)
{
	struct size_options options = { .delta = 256 << 20 };
	struct cgroup cgroup;
	struct curve curve;
	int option;

	while ((option = next_option(cmd, argc, argv, "h", long_options)) != -1)
		take_option(&options, option);
	if (argc - optind != 1)
		die(EX_USAGE, "of which cgroup? pathctl size CGROUP --misses 5%%");
	cgroup_find(&cgroup, argv[optind]);
	curve_read(&curve, &cgroup);
	if (options.json)
		print_json(stdout, size_json(&curve, &cgroup, &options));
	else
		print_size(&curve, &cgroup, &options);
	curve_free(&curve);
	cgroup_free(&cgroup);
	return EX_OK;
}

const struct command cmd_size = {
	.name = "size",
	.summary = "how much memory is enough, and what more or less would do",
	.help = "usage: pathctl size [option...] CGROUP\n\n"
		"  --misses P%   how much memory for at most P % of the misses it has with the\n"
		"                smallest memory that its curve resolves\n"
		"  --delta SIZE  what so much more or less than memory.current and memory.max\n"
		"                would do (256M)\n"
		"  --window W    total, recent or epoch, as in pathctl mrc\n"
		"  --json\n\n"
		"First touches are no misses here: no memory avoids them.\n",
	.run = run,
};
