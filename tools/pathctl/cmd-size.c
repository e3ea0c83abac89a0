// SPDX-License-Identifier: GPL-2.0
/*
 * How much memory is enough for a cgroup.
 */
#include "pathctl.h"

struct size_options {
	struct size_question question;
	bool json;
};

/* What programs have mapped on their own is on the stack once for each, see mm-path/name.c. */
static void print_sharing(const struct cgroup *cgroup)
{
	uint64_t programs = cgroup_programs(cgroup);

	if (programs > 1)
		printf("%llu programs: a page that several of them share counts once if they have it\n"
		       "from a fork; else, as of a file, once for each, and the sizes are too large\n",
		       (unsigned long long)programs);
}

static void print_size(const struct curve *curve, const struct cgroup *cgroup,
		       const struct size_question *question)
{
	char size[32];

	size_print(stdout, curve, cgroup, question);
	printf("footprint %s; ", human_bytes(curve->footprint * curve->page_bytes, size,
					     sizeof(size)));
	printf("sizes from %s are resolved\n",
	       human_bytes(curve->resolved_from * curve->page_bytes, size, sizeof(size)));
	coverage_note(stdout, cgroup);
	print_sharing(cgroup);
}

static json_t *all_json(const struct curve *curve, const struct cgroup *cgroup,
			const struct size_question *question)
{
	json_t *object = size_json(curve, cgroup, question);

	json_object_set_new(object, "cgroup", json_text(cgroup->name));
	json_object_set_new(object, "coverage", coverage_json(cgroup));
	json_object_set_new(object, "programs", json_u64(cgroup_programs(cgroup)));
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
		size_parse_misses(&options->question, optarg);
		break;
	case 'd':
		if (!parse_bytes(optarg, &options->question.delta))
			die(EX_USAGE, "--delta %s: must be bytes, or a size like 64M", optarg);
		break;
	case 'w':
		options->question.window = parse_window(optarg);
		break;
	case 'j':
		options->json = true;
		break;
	}
}

static int run(const struct command *cmd, int argc, char **argv)
{
	struct size_options options = { .question = { .delta = SIZE_DELTA } };
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
		print_json(stdout, all_json(&curve, &cgroup, &options.question));
	else
		print_size(&curve, &cgroup, &options.question);
	curve_free(&curve);
	cgroup_free(&cgroup);
	return EX_OK;
}

const struct command cmd_size = {
	.name = "size",
	.summary = "how much memory is enough, and what more or less would do",
	.help = "usage: pathctl size [option...] CGROUP\n\n"
		"  --misses P%   how much memory for at most P % of the misses that there are with\n"
		"                the smallest memory that the curve resolves\n"
		"  --delta SIZE  misses with SIZE more or less than memory.current and memory.max\n"
		"                (256M)\n"
		"  --window W    total, recent or epoch, as in pathctl mrc\n"
		"  --json\n\n"
		"First touches are no misses here: no amount of memory avoids them. A page that\n"
		"programs of the cgroup share since a fork counts once. A page that several of\n"
		"them have mapped on their own, as a part of a file, counts once for each.\n",
	.run = run,
};
