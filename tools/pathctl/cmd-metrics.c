// SPDX-License-Identifier: GPL-2.0
/*
 * Everything that is counted, as text for Prometheus, or as OpenMetrics. They differ in what
 * the name of a counter's family is, in a type that only one knows, and in how it ends.
 *
 * Families must not be mixed, so all cgroups are read first and each family is
 * printed over all of them. A cgroup's curve becomes a few gauges with stable
 * labels: the misses at the memory it has, at its limit, and at quarters of
 * its footprint.
 */
#include <stdlib.h>
#include <string.h>

#include "pathctl.h"

struct sample {
	const char *name;
	bool tracked;		/* else it has no curve */
	struct curve curve;
	struct keyed path, memory;
	uint64_t current, max;
};

struct samples {
	struct cgroup *cgroups;
	struct sample *list;
	size_t cgroup_count, count;
};

/* ---- collecting ------------------------------------------------------------ */

static bool collect_one(struct sample *sample, const struct cgroup *cgroup)
{
	memset(sample, 0, sizeof(*sample));
	sample->tracked = curve_try_read(&sample->curve, cgroup);
	if (!sample->tracked && !cgroup_prefetches(cgroup))
		return false;
	sample->name = cgroup->name;
	sample->max = NO_LIMIT;
	cgroup_keyed(cgroup, "memory.path.stat", &sample->path);
	cgroup_keyed(cgroup, "memory.stat", &sample->memory);
	cgroup_u64(cgroup, "memory.current", &sample->current);
	cgroup_u64(cgroup, "memory.max", &sample->max);
	return true;
}

static bool is_of_interest(const struct cgroup *cgroup)
{
	return cgroup_is_tracked(cgroup) || cgroup_prefetches(cgroup);
}

static void collect(struct samples *samples)
{
	size_t i;

	memset(samples, 0, sizeof(*samples));
	if (!cgroup_root_present())
		return;
	samples->cgroups = cgroups_below(cgroup_root(), is_of_interest, &samples->cgroup_count);
	samples->list = xalloc(samples->cgroup_count * sizeof(*samples->list));
	for (i = 0; i < samples->cgroup_count; i++)
		if (collect_one(&samples->list[samples->count], &samples->cgroups[i]))
			samples->count++;
}

static void clear(struct samples *samples)
{
	size_t i;

	for (i = 0; i < samples->count; i++) {
		curve_free(&samples->list[i].curve);
		keyed_free(&samples->list[i].path);
		keyed_free(&samples->list[i].memory);
	}
	free(samples->list);
	cgroups_free(samples->cgroups, samples->cgroup_count);
}

/* ---- the format ------------------------------------------------------------ */

static bool openmetrics;

enum type { GAUGE, COUNTER, STATESET };

static bool ends_in(const char *name, const char *end)
{
	size_t length = strlen(name);

	return length > strlen(end) && !strcmp(name + length - strlen(end), end);
}

static void print_unit(const char *name)
{
	static const char *const units[] = { "bytes", "ratio", "seconds" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(units); i++)
		if (ends_in(name, units[i]))
			printf("# UNIT %s %s\n", name, units[i]);
}

/* Samples of a counter have "_total" behind the name. */
static void family(const char *name, enum type type, const char *help)
{
	static const char *const types[] = { "gauge", "counter", "stateset" };
	const char *total = type == COUNTER && !openmetrics ? "_total" : "";

	if (type == STATESET && !openmetrics)
		type = GAUGE;
	printf("# HELP %s%s %s\n", name, total, help);
	printf("# TYPE %s%s %s\n", name, total, types[type]);
	if (openmetrics)
		print_unit(name);
}

/*
 * Where programs that read metrics do not want the unit that a file has: theirs. To be freed,
 * and what to multiply a value with.
 */
static char *metric_name(const char *prefix, const char *key, double *scale)
{
	static const struct {
		const char *end, *unit;
		double scale;
	} units[] = {
		{ "_ns", "_seconds", 1e-9 }, { "_us", "_seconds", 1e-6 },
		{ "_ms", "_seconds", 1e-3 }, { "_kb", "_bytes", 1024 },
	};
	size_t i, length = strlen(key);

	for (i = 0; i < ARRAY_SIZE(units); i++) {
		if (!ends_in(key, units[i].end))
			continue;
		*scale = units[i].scale;
		length -= strlen(units[i].end);
		return xasprintf("%s%.*s%s", prefix, (int)length, key, units[i].unit);
	}
	*scale = 1;
	return xasprintf("%s%s", prefix, key);
}

static void print_label(const char *name, const char *value)
{
	char *text = as_utf8(value), *c;

	printf("%s=\"", name);
	for (c = text; *c; c++) {
		if (*c == '"' || *c == '\\' || *c == '\n')
			putchar('\\');
		putchar(*c == '\n' ? 'n' : *c);
	}
	putchar('"');
	free(text);
}

static void cgroup_value(const char *name, const struct sample *sample, double value)
{
	printf("%s{", name);
	print_label("cgroup", sample->name);
	printf("} %.15g\n", value);
}

/* ---- the machine ------------------------------------------------------------ */

static void print_drivers(void)
{
	size_t i, count, in_use;
	char **names = driver_list(&count, &in_use);

	family("path_driver", STATESET, "The driver in use.");
	for (i = 0; i < count; i++) {
		fputs("path_driver{", stdout);
		print_label("path_driver", names[i]);
		printf("} %d\n", i == in_use);
	}
	free_list(names, count);
}

/* What is known to be a level; the rest only grow. */
static bool is_level(const char *counter)
{
	return !strcmp(counter, "contexts") || !strcmp(counter, "trap_ns");
}

static void print_counter(const char *counter)
{
	bool level = is_level(counter);
	char *file = xasprintf("stats/%s", counter);
	char *text = sysfs_read(file), *name;
	uint64_t value;
	double scale;

	name = metric_name("path_", counter, &scale);
	if (parse_u64(text, &value)) {
		family(name, level ? GAUGE : COUNTER,
		       level ? "Now, see /sys/kernel/mm/path/stats." :
			       "Since boot, see /sys/kernel/mm/path/stats.");
		printf("%s%s %.15g\n", name, level ? "" : "_total", value * scale);
	}
	free(text);
	free(name);
	free(file);
}

static void print_machine(void)
{
	size_t i, count;
	char **counters = sysfs_list("stats", &count);

	family("path_enabled", GAUGE, "1 while page access tracking is on.");
	printf("path_enabled %d\n", sysfs_u64("enabled") != 0);
	print_drivers();
	for (i = 0; i < count; i++)
		print_counter(counters[i]);
	free_list(counters, count);
}

/* ---- cgroups ----------------------------------------------------------------- */

struct stat_metric {
	const char *key, *name, *help;
	double scale;
};

static const struct stat_metric stat_metrics[] = {
	{ "contexts", "path_cgroup_contexts", "Tracked address spaces.", 1 },
	{ "settling", "path_cgroup_settling",
	  "Of these, those in their first two epochs: their figures say little yet.", 1 },
	{ "records_per_sec", "path_cgroup_records_per_second",
	  "Records per second in the last epoch.", 1 },
	{ "overhead_now_permille", "path_cgroup_overhead_ratio",
	  "What tracking cost in the last epoch, of CPU time.", 0.001 },
	{ "coverage_permille", "path_cgroup_coverage_ratio",
	  "Share of the pages that is tracked.", 0.001 },
	{ "model_bytes", "path_cgroup_model_bytes", "Memory of the models.", 1 },
};

static void print_stat(const struct samples *samples, const struct stat_metric *metric)
{
	size_t i;

	family(metric->name, GAUGE, metric->help);
	for (i = 0; i < samples->count; i++)
		if (keyed_get(&samples->list[i].path, metric->key))
			cgroup_value(metric->name, &samples->list[i],
				     keyed_u64(&samples->list[i].path, metric->key, 0) *
				     metric->scale);
}

static void print_curve_sizes(const struct samples *samples)
{
	size_t i;

	family("path_cgroup_records", COUNTER, "Records in the curve.");
	for (i = 0; i < samples->count; i++)
		if (samples->list[i].tracked)
			cgroup_value("path_cgroup_records_total", &samples->list[i],
				     samples->list[i].curve.records);
	family("path_cgroup_first_touches", COUNTER, "Pages touched for the first time.");
	for (i = 0; i < samples->count; i++)
		if (samples->list[i].tracked)
			cgroup_value("path_cgroup_first_touches_total", &samples->list[i],
				     samples->list[i].curve.cold);
	family("path_cgroup_footprint_bytes", GAUGE, "Pages ever touched.");
	for (i = 0; i < samples->count; i++)
		if (samples->list[i].tracked)
			cgroup_value("path_cgroup_footprint_bytes", &samples->list[i],
				     (double)samples->list[i].curve.footprint *
				     samples->list[i].curve.page_bytes);
}

static void miss_value(const struct sample *sample, const char *memory, double misses)
{
	fputs("path_cgroup_misses{", stdout);
	print_label("cgroup", sample->name);
	printf(",memory=\"%s\"} %.15g\n", memory, misses);
}

static void print_misses(const struct samples *samples)
{
	static const char *const quarters[] = { "25%", "50%", "75%" };
	size_t i, quarter;

	family("path_cgroup_misses", GAUGE,
	       "Misses since the start, had memory been the current usage, the limit, or a part of the footprint.");
	for (i = 0; i < samples->count; i++) {
		const struct sample *sample = &samples->list[i];

		if (!sample->tracked)
			continue;
		miss_value(sample, "current",
			   curve_at_bytes(&sample->curve, WINDOW_TOTAL, sample->current));
		miss_value(sample, "max",
			   curve_at_bytes(&sample->curve, WINDOW_TOTAL, sample->max));
		for (quarter = 0; quarter < ARRAY_SIZE(quarters); quarter++)
			miss_value(sample, quarters[quarter],
				   curve_at(&sample->curve, WINDOW_TOTAL,
					    sample->curve.footprint * (quarter + 1) / 4.0));
	}
}

static void print_refaults(const struct samples *samples, const char *key, const char *name,
			   const char *help)
{
	char *total = xasprintf("%s_total", name);
	size_t i;

	family(name, COUNTER, help);
	for (i = 0; i < samples->count; i++)
		if (keyed_get(&samples->list[i].memory, key))
			cgroup_value(total, &samples->list[i],
				     keyed_u64(&samples->list[i].memory, key, 0));
	free(total);
}

/* Of what policies count, these are levels; the rest only grows. */
static bool is_policy_level(const char *key)
{
	return !strcmp(key, "replace_known") || !strcmp(key, "replace_shift") ||
	       !strcmp(key, "replace_reserve");
}

static void print_policy(const struct samples *samples, const char *key)
{
	bool level = is_policy_level(key);
	double scale;
	char *name = metric_name("path_cgroup_", key, &scale);
	char *value = xasprintf("%s%s", name, level ? "" : "_total");
	uint64_t count;
	size_t i;

	family(name, level ? GAUGE : COUNTER,
	       level ? "Now, see memory.path.stat." : "So far, see memory.path.stat.");
	for (i = 0; i < samples->count; i++) {
		const char *text = keyed_get(&samples->list[i].path, key);

		if (text && parse_u64(text, &count))
			cgroup_value(value, &samples->list[i], count * scale);
	}
	free(value);
	free(name);
}

/* The first cgroup that has keys of a policy, or NULL. */
static const struct keyed *with_policy(const struct samples *samples, const char *prefix)
{
	const struct keyed *path;
	size_t i, k;

	for (i = 0; i < samples->count; i++) {
		path = &samples->list[i].path;
		for (k = 0; k < path->count; k++)
			if (!strncmp(path->keys[k], prefix, strlen(prefix)))
				return path;
	}
	return NULL;
}

/* The kernel has the same keys for all cgroups that have some of a policy. */
static void print_policies(const struct samples *samples, const char *prefix)
{
	const struct keyed *path = with_policy(samples, prefix);
	uint64_t count;
	size_t i;

	for (i = 0; path && i < path->count; i++)
		if (!strncmp(path->keys[i], prefix, strlen(prefix)) &&
		    parse_u64(path->values[i], &count))
			print_policy(samples, path->keys[i]);
}

static bool any_tracked(const struct samples *samples)
{
	size_t i;

	for (i = 0; i < samples->count; i++)
		if (samples->list[i].tracked)
			return true;
	return false;
}

static void print_curves(const struct samples *samples)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(stat_metrics); i++)
		print_stat(samples, &stat_metrics[i]);
	print_curve_sizes(samples);
	print_misses(samples);
}

static void print_cgroups(const struct samples *samples)
{
	if (any_tracked(samples))
		print_curves(samples);
	print_policies(samples, "replace_");
	print_policies(samples, "balance_");
	print_policies(samples, "prefetch_");
	print_refaults(samples, "workingset_refault_anon", "path_cgroup_refault_anon_pages",
		       "Anonymous and shared pages that came back from swap.");
	print_refaults(samples, "workingset_refault_file", "path_cgroup_refault_file_pages",
		       "File pages that were read again; those of read() and write() are not in the curve.");
}

static int run(const struct command *cmd, int argc, char **argv)
{
	static const struct option options[] = {
		{ "openmetrics", no_argument, NULL, 'o' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	struct samples samples;

	while (next_option(cmd, argc, argv, "h", options) != -1)
		openmetrics = true;
	if (optind < argc)
		die(EX_USAGE, "metrics takes no argument \"%s\"", argv[optind]);
	sysfs_require();
	collect(&samples);
	print_machine();
	if (samples.count)
		print_cgroups(&samples);
	if (openmetrics)
		puts("# EOF");
	clear(&samples);
	return EX_OK;
}

const struct command cmd_metrics = {
	.name = "metrics",
	.summary = "all counters, as text for Prometheus",
	.help = "usage: pathctl metrics [--openmetrics]\n\n"
		"Counters of the machine, and of every cgroup that is tracked or has pages\n"
		"prefetched, in the text format of Prometheus, which the textfile collector of\n"
		"node_exporter reads.\n\n"
		"  --openmetrics   in the OpenMetrics text format\n\n"
		"A byte of a cgroup's name that is no UTF-8 is written as //xff.\n",
	.run = run,
};
