// SPDX-License-Identifier: GPL-2.0
/*
 * The miss rate curve of a cgroup, or of one region.
 */
#include <stdlib.h>
#include <string.h>

#include "pathctl.h"

struct mrc_options {
	const char *csv, *svg, *region, *window_text;
	enum window window;
	bool json;
	int columns, lines;
};

/* ---- the curve of a region --------------------------------------------- */

struct region_curve {
	size_t points;
	double *mib, *lru, *mru;
};

static const char region_file[] = "memory.path.region_mrc";

static void parse_region(const char *text, uint64_t *pid, uint64_t *id)
{
	char *copy = xdup(text), *colon = strchr(copy, ':');

	if (colon)
		*colon = '\0';
	if (!colon || !parse_u64(copy, pid) || !parse_u64(colon + 1, id))
		die(EX_USAGE, "--region %s: must be PID:ID, as in \"pathctl regions\"", text);
	free(copy);
}

static void add_point(struct region_curve *curve, double mib, double lru, double mru)
{
	size_t count = curve->points + 1;

	curve->mib = xgrow(curve->mib, count, sizeof(double));
	curve->lru = xgrow(curve->lru, count, sizeof(double));
	curve->mru = xgrow(curve->mru, count, sizeof(double));
	curve->mib[curve->points] = mib;
	curve->lru[curve->points] = lru;
	curve->mru[curve->points++] = mru;
}

static void take_region(struct region_curve *curve, const struct table *table,
			uint64_t pid, uint64_t id, double page_mib)
{
	size_t pid_column = table_column(table, region_file, "pid");
	size_t id_column = table_column(table, region_file, "region");
	size_t pages = table_column(table, region_file, "pages");
	size_t lru = table_column(table, region_file, "lru");
	size_t mru = table_column(table, region_file, "mru");
	size_t row;

	for (row = 0; row < table->rows; row++) {
		if (table_u64(table, region_file, row, pid_column) != pid ||
		    table_u64(table, region_file, row, id_column) != id)
			continue;
		add_point(curve, table_u64(table, region_file, row, pages) * page_mib,
			  table_u64(table, region_file, row, lru),
			  table_u64(table, region_file, row, mru));
	}
}

static void read_region(struct region_curve *curve, const struct cgroup *cgroup,
			const char *region)
{
	char *text = cgroup_read_or_die(cgroup, region_file);
	struct curve whole;
	struct table table;
	uint64_t pid, id;

	memset(curve, 0, sizeof(*curve));
	parse_region(region, &pid, &id);
	curve_read(&whole, cgroup);
	table_parse(&table, text, region_file, 1, false);
	take_region(curve, &table, pid, id, whole.page_bytes / MIB);
	if (!curve->points)
		die(EX_NOINPUT, "cgroup %s shows no region %s with a curve: see pathctl regions %s",
		    cgroup->name, region, shell_word(cgroup->name));
	table_free(&table);
	curve_free(&whole);
	free(text);
}

static void region_csv(const char *path, const struct region_curve *curve)
{
	FILE *out = open_output(path);
	size_t i;

	fputs("mib,lru,mru\n", out);
	for (i = 0; i < curve->points; i++)
		fprintf(out, "%.6g,%.10g,%.10g\n", curve->mib[i], curve->lru[i], curve->mru[i]);
	close_output(out, path);
}

static json_t *region_json(const struct region_curve *curve)
{
	json_t *array = json_array();
	size_t i;

	for (i = 0; i < curve->points; i++)
		json_array_append_new(array, json_pack("{s:f, s:I, s:I}", "mib", curve->mib[i],
						       "lru", (json_int_t)curve->lru[i],
						       "mru", (json_int_t)curve->mru[i]));
	return array;
}

static void region_show(const struct mrc_options *options, const struct cgroup *cgroup,
			const struct region_curve *curve)
{
	size_t n = curve->points;
	const struct series series[] = {
		{ .label = "LRU", .points = n, .x = curve->mib, .y = curve->lru },
		{ .label = "MRU", .points = n, .x = curve->mib, .y = curve->mru, .dashed = true },
	};
	char *name = printable(cgroup->name);
	char *title = xasprintf("%s, region %s: misses since the start", name, options->region);
	struct plot plot = {
		.title = title, .x_unit = "MiB", .series = series, .count = 2, .mark = -1,
		.x_max = curve->mib[n - 1], .y_max = curve->lru[0],
	};

	if (options->svg)
		svg_write(options->svg, &plot, "misses");
	else if (n < 2 || !plot.y_max)
		printf("%s: no misses, so nothing to draw\n", title);
	else
		plot_draw(stdout, &plot, options->columns, options->lines, terminal_is_utf8());
	free(title);
	free(name);
}

static void mrc_of_region(const struct mrc_options *options, const struct cgroup *cgroup)
{
	struct region_curve curve;

	read_region(&curve, cgroup, options->region);
	if (options->json)
		print_json(stdout, json_pack("{s:o, s:o, s:o}", "cgroup", json_text(cgroup->name),
					     "region", json_text(options->region),
					     "points", region_json(&curve)));
	if (options->csv)
		region_csv(options->csv, &curve);
	if (options->svg || (!options->json && !options->csv))
		region_show(options, cgroup, &curve);
	free(curve.mib);
	free(curve.lru);
	free(curve.mru);
}

/* ---- the curve of a cgroup --------------------------------------------- */

static json_t *mrc_json(const struct cgroup *cgroup, const struct curve *curve)
{
	return json_pack("{s:o, s:o, s:o}", "cgroup", json_text(cgroup->name),
			 "curve", curve_json(curve), "coverage", coverage_json(cgroup));
}

static void mrc_of_cgroup(const struct mrc_options *options, const struct cgroup *cgroup)
{
	struct curve curve;

	curve_read(&curve, cgroup);
	if (options->json)
		print_json(stdout, mrc_json(cgroup, &curve));
	if (options->csv)
		curve_write_csv_file(options->csv, &curve);
	if (options->svg)
		curve_write_svg(options->svg, &curve, cgroup->name, options->window);
	if (!options->json && !options->csv && !options->svg)
		curve_draw(stdout, &curve, cgroup, options->window, options->columns,
			   options->lines);
	curve_free(&curve);
}

/* ---- options ------------------------------------------------------------ */

static const struct option long_options[] = {
	{ "csv", optional_argument, NULL, 'c' },
	{ "svg", required_argument, NULL, 's' },
	{ "json", no_argument, NULL, 'j' },
	{ "region", required_argument, NULL, 'r' },
	{ "window", required_argument, NULL, 'w' },
	{ "width", required_argument, NULL, 'W' },
	{ "height", required_argument, NULL, 'H' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

static void take_option(struct mrc_options *options, int option)
{
	switch (option) {
	case 'c':
		options->csv = optarg ? optarg : "-";
		break;
	case 's':
		options->svg = optarg;
		break;
	case 'j':
		options->json = true;
		break;
	case 'r':
		options->region = optarg;
		break;
	case 'w':
		options->window_text = optarg;
		options->window = parse_window(optarg);
		break;
	case 'W':
		options->columns = option_number("--width", optarg, 32, 400);
		break;
	case 'H':
		options->lines = option_number("--height", optarg, 12, 200);
		break;
	}
}

static int run(const struct command *cmd, int argc, char **argv)
{
	struct mrc_options options = { 0 };
	struct cgroup cgroup;
	int option;

	terminal_size(&options.columns, &options.lines);
	while ((option = next_option(cmd, argc, argv, "h", long_options)) != -1)
		take_option(&options, option);
	if (argc - optind != 1)
		die(EX_USAGE, "of which cgroup? pathctl mrc CGROUP");
	if (options.region && options.window_text)
		die(EX_USAGE, "--window: the curve of a region is since the start");
	cgroup_find(&cgroup, argv[optind]);
	if (options.region)
		mrc_of_region(&options, &cgroup);
	else
		mrc_of_cgroup(&options, &cgroup);
	cgroup_free(&cgroup);
	return EX_OK;
}

const struct command cmd_mrc = {
	.name = "mrc",
	.summary = "the miss rate curve: misses against memory",
	.help = "usage: pathctl mrc [option...] CGROUP\n\n"
		"Shows how often the programs of CGROUP would have missed a page with any amount\n"
		"of memory. CGROUP is a name below /sys/fs/cgroup, or a process in it. The curve\n"
		"is drawn on the terminal, unless:\n\n"
		"  --csv[=FILE]      comma separated values\n"
		"  --svg FILE        a picture, drawn by gnuplot\n"
		"  --json            all that the kernel tells of the curve\n"
		"  --region PID:ID   of one region (see pathctl regions), with LRU and MRU\n"
		"  --window W        total, recent (older epochs count less) or epoch (the last)\n"
		"  --width N, --height N\n"
		"                    characters, in place of the terminal's size\n\n"
		"A curve covers anonymous, shared and mapped-file pages. Page tables do not see\n"
		"read() and write(); workingset_refault_file is shown beside the curve.\n",
	.run = run,
};
