// SPDX-License-Identifier: GPL-2.0
/*
 * Looking at tracked programs while they run, and telling about it afterwards.
 *
 * The curve and what was counted stay when they have ended; regions and how
 * finely was sampled belong to processes and go with them. So these are looked
 * at now and then, and what was seen is shown: of counts the last, of sizes the
 * largest.
 */
#include <stdlib.h>
#include <string.h>

#include "pathctl.h"

#define SHORTEST_PAUSE_MS 50
#define LONGEST_PAUSE_MS 1000
#define REGIONS_SHOWN 12

/* ---- looking ------------------------------------------------------------- */

void watch_start(struct watch *watch)
{
	watch->start = seconds_now();
	watch->coverage_permille = 1000;
	watch->settling = true;
}

/* How long to wait before the next look: the last tenth of a run may be missed. */
int watch_pause(const struct watch *watch)
{
	double pause = (seconds_now() - watch->start) * 1000 / 10;

	if (pause < SHORTEST_PAUSE_MS)
		return SHORTEST_PAUSE_MS;
	return pause < LONGEST_PAUSE_MS ? pause : LONGEST_PAUSE_MS;
}

/* Counters and cost are sums, of programs that have ended too; the rest is not. */
static void look_at_stat(struct watch *watch)
{
	struct keyed stat;

	if (!cgroup_keyed(&watch->cgroup, "memory.path.stat", &stat))
		return;
	keyed_free(&watch->stat);
	watch->stat = stat;
	if (keyed_u64(&stat, "contexts", 0)) {
		watch->sample_shift = keyed_u64(&stat, "sample_shift", 0);
		watch->coverage_permille = keyed_u64(&stat, "coverage_permille", 1000);
		watch->settling = keyed_u64(&stat, "settling", 0);
	}
}

void watch_look(struct watch *watch)
{
	struct regions regions;

	look_at_stat(watch);
	if (watch->cgroup.session)
		session_resident(watch->cgroup.session);	/* remembers it */
	if (!regions_try_read(&regions, &watch->cgroup))
		return;
	regions_take_over(&regions, &watch->regions);
	watch->regions = regions;
}

void watch_end(struct watch *watch)
{
	watch->seconds = seconds_now() - watch->start;
	look_at_stat(watch);
}

void watch_free(struct watch *watch)
{
	regions_free(&watch->regions);
	keyed_free(&watch->stat);
	cgroup_free(&watch->cgroup);
	memset(watch, 0, sizeof(*watch));
}

/* ---- telling ------------------------------------------------------------- */

/* --misses, --csv, --svg, --output and --json of whoever tells. */
void report_option(struct report *report, struct size_question *question, int option)
{
	switch (option) {
	case 'm':
		size_parse_misses(question, optarg);
		break;
	case 'c':
		report->csv = optarg;
		break;
	case 's':
		report->svg = optarg;
		break;
	case 'o':
		report->output = optarg;
		break;
	case 'j':
		report->json = true;
		break;
	}
}

/* Can it be written? To be asked before there is something to tell. */
void report_check(const struct report *report)
{
	if (report->output)
		check_output(report->output);
	if (report->csv)
		check_output(report->csv);
	if (report->svg) {
		check_output(report->svg);
		svg_require();
	}
}

/* An older kernel does not tell. */
static bool is_settling(const struct watch *watch)
{
	return watch->settling && keyed_get(&watch->stat, "settling");
}

static void print_figures(FILE *out, const struct watch *watch, const char *first,
			  const struct curve *curve)
{
	char count[32], rate[32];
	uint64_t peak;

	fprintf(out, "%s; %s records", first, human_count(curve->records, count, sizeof(count)));
	if (watch->seconds > 0)
		fprintf(out, ", %s/s", human_count(curve->records / watch->seconds, rate,
						   sizeof(rate)));
	if (watch->stat.count)
		fprintf(out, ", tracking cost %.1f %% of its CPU time%s, %.4g %% of pages tracked",
			keyed_u64(&watch->stat, "overhead_permille", 0) / 10.0,
			is_settling(watch) ? " (still settling)" : "",
			watch->coverage_permille / 10.0);
	if (cgroup_u64(&watch->cgroup, "memory.peak", &peak) && peak != NO_LIMIT)
		fprintf(out, ", memory.peak %s", human_bytes(peak, count, sizeof(count)));
	fputc('\n', out);
}

static void print_summary(FILE *out, struct watch *watch, const struct report *report,
			  const struct curve *curve)
{
	int columns, lines;

	print_figures(out, watch, report->first, curve);
	fputc('\n', out);
	if (watch->regions.count) {
		regions_print(out, &watch->regions, REGIONS_SHOWN);
		fputc('\n', out);
	}
	terminal_size(&columns, &lines);
	curve_draw(out, curve, &watch->cgroup, WINDOW_TOTAL, columns, lines);
	if (report->question) {
		fputc('\n', out);
		size_print(out, curve, &watch->cgroup, report->question);
	}
}

static json_t *stat_json(const struct watch *watch)
{
	json_t *object = keyed_json(&watch->stat);

	json_object_set_new(object, "sample_shift", json_integer(watch->sample_shift));
	json_object_set_new(object, "coverage_permille", json_integer(watch->coverage_permille));
	json_object_set_new(object, "still_settling", json_boolean(is_settling(watch)));
	return object;
}

static json_t *summary_json(struct watch *watch, const struct report *report,
			    const struct curve *curve)
{
	json_t *object = json_incref(report->about);

	json_object_set_new(object, "seconds", json_real(watch->seconds));
	json_object_set_new(object, "stat", stat_json(watch));
	json_object_set_new(object, "regions", regions_json(&watch->regions));
	json_object_set_new(object, "curve", curve_json(curve));
	json_object_set_new(object, "coverage", coverage_json(&watch->cgroup));
	if (report->question)
		json_object_set_new(object, "size",
				    size_json(curve, &watch->cgroup, report->question));
	return object;
}

/* Uses up report->about. Without report->output, tells there. */
void watch_tell(struct watch *watch, const struct report *report, FILE *there)
{
	FILE *out = report->output ? open_output(report->output) : there;
	struct curve curve;

	curve_read(&curve, &watch->cgroup);
	if (curve.resolved_from < report->resolved_from)
		curve.resolved_from = report->resolved_from;
	regions_sort(&watch->regions);
	if (report->json)
		print_json(out, summary_json(watch, report, &curve));
	else
		print_summary(out, watch, report, &curve);
	if (report->output)
		close_output(out, report->output);
	if (report->csv)
		curve_write_csv_file(report->csv, &curve);
	if (report->svg)
		curve_write_svg(report->svg, &curve, report->name, WINDOW_TOTAL);
	json_decref(report->about);
	curve_free(&curve);
}
