// SPDX-License-Identifier: GPL-2.0
/*
 * Where the cycles of a cgroup went over time, as a picture: figure 2.8 of Azimi's thesis (2007).
 * Completion is at the bottom, the causes of stalls are above it. A cause has a colour, its
 * sources are shades of that.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stalls.h"

#define MOST_STEPS	1024	/* even; a picture has fewer columns */
#define MOST_PARTS	64
#define LONGEST_NAME	64	/* bytes of a title that are the cgroup's */

/* What was counted up to a time, since the step before */
struct step {
	unsigned int end;		/* seconds since the begin */
	uint64_t all, unknown, part[MOST_PARTS];
};

struct recording {
	const struct cgroup *cgroup;
	double begin;
	struct stalls last;		/* of the last look */
	char *names[MOST_PARTS];	/* of causes and sources, as they came */
	size_t parts, count;
	struct step *steps;
	unsigned int looks, looks_per_step;	/* in the last step; in each */
};

/* ---- recording --------------------------------------------------------------- */

/* A place for each name; MOST_PARTS if there is none left */
static size_t part_of(struct recording *rec, const char *name)
{
	size_t i;

	for (i = 0; i < rec->parts; i++)
		if (!strcmp(rec->names[i], name))
			return i;
	if (rec->parts < MOST_PARTS)
		rec->names[rec->parts++] = xdup(name);
	return i;
}

static void step_add(struct step *step, const struct step *next)
{
	size_t i;

	step->end = next->end;
	step->all += next->all;
	step->unknown += next->unknown;
	for (i = 0; i < MOST_PARTS; i++)
		step->part[i] += next->part[i];
}

/* However long it takes, a recording takes no more memory. */
static void halve(struct recording *rec)
{
	size_t i;

	for (i = 0; i < rec->count / 2; i++) {
		rec->steps[i] = rec->steps[2 * i];
		step_add(&rec->steps[i], &rec->steps[2 * i + 1]);
	}
	rec->count = i;
	rec->looks_per_step *= 2;
}

static void add(struct recording *rec, const struct step *step)
{
	if (rec->looks == rec->looks_per_step || !rec->count) {
		if (rec->count == MOST_STEPS)
			halve(rec);
		rec->steps[rec->count++] = (struct step){ 0 };
		rec->looks = 0;
	}
	step_add(&rec->steps[rec->count - 1], step);
	rec->looks++;
}

static bool went_back(const struct stalls *now, const struct stalls *before)
{
	size_t i;

	if (!stalls_same_list(now, before) || now->cycles < before->cycles ||
	    now->unknown < before->unknown)
		return true;
	for (i = 0; i < now->count; i++)
		if (now->list[i].cycles < before->list[i].cycles)
			return true;
	return false;
}

/* Where counting began anew, all that has been counted since is new. */
static void step_of(struct recording *rec, const struct stalls *now, struct step *step)
{
	const struct stalls *before = &rec->last;
	bool anew = went_back(now, before);
	size_t i, part;

	step->all = now->cycles - (anew ? 0 : before->cycles);
	step->unknown = now->unknown - (anew ? 0 : before->unknown);
	for (i = 0; i < now->count; i++) {
		part = part_of(rec, now->list[i].name);
		if (part < MOST_PARTS)
			step->part[part] = now->list[i].cycles -
					   (anew ? 0 : before->list[i].cycles);
	}
}

static unsigned int seconds_of(const struct recording *rec)
{
	return lround(seconds_now() - rec->begin);
}

/* False: there is nothing to be looked at any more. What was recorded is not lost by that. */
static bool look(struct recording *rec)
{
	struct step step = { .end = seconds_of(rec) };
	struct stalls now;
	char *text;

	if (step.end == (rec->count ? rec->steps[rec->count - 1].end : 0))
		return true;	/* nothing can be drawn in no time */
	text = cgroup_read(rec->cgroup, "cpu.stalls");
	if (!text) {
		if (is_directory(rec->cgroup->dir))
			note("cpu.stalls of cgroup %s: %s, so the picture ends here",
			     rec->cgroup->name, strerror(errno));
		return false;
	}
	stalls_parse(&now, text);
	step_of(rec, &now, &step);
	add(rec, &step);
	stalls_free(&rec->last);
	rec->last = now;
	return true;
}

static int ms_until_next(const struct recording *rec, unsigned int delay)
{
	return 1000 * (delay - fmod(seconds_now() - rec->begin, delay)) + 1;
}

static void record(struct recording *rec, unsigned int delay, unsigned int seconds)
{
	struct span span;
	bool more = true;

	span_start(&span, seconds);
	while (more) {
		more = span_wait(&span, ms_until_next(rec, delay));
		more &= look(rec);	/* also at what has come until ^C */
	}
	span_end(&span);
}

/* ---- bands --------------------------------------------------------------------- */

/* Which parts are drawn, from below */
struct bands {
	const struct recording *rec;
	struct band list[MOST_PARTS + 1];
	size_t part[MOST_PARTS + 1];	/* MOST_PARTS: unknown */
	size_t count, causes;
};

/* Completion, then causes. Who is colour-blind can tell those beside each other as well. */
static const unsigned int colours[] = {
	0xc9d3dc, 0xd1495b, 0x2e6f9e, 0xedae49, 0x7b5aa6, 0x3aa6a0, 0xe07b39, 0x8a5a44, 0x6b7f2a,
	0xd98cb3, 0x54c0e8,
};

#define UNKNOWN_COLOUR	0x404040

static bool is_source_of(const char *name, const char *cause)
{
	size_t length = strlen(cause);

	return !strncmp(name, cause, length) && name[length] == '.';
}

/* A source belongs to a cause, if that is there. */
static bool is_source(const struct recording *rec, const char *name)
{
	size_t i;

	for (i = 0; i < rec->parts; i++)
		if (is_source_of(name, rec->names[i]))
			return true;
	return false;
}

/* Of a cause what no source is known of. Numbers are rounded, so it may be less than nothing. */
static uint64_t cycles_of(const struct recording *rec, const struct step *step, size_t part)
{
	uint64_t sources = 0;
	size_t i;

	if (part == MOST_PARTS)
		return step->unknown;
	for (i = 0; i < rec->parts; i++)
		if (is_source_of(rec->names[i], rec->names[part]))
			sources += step->part[i];
	return step->part[part] > sources ? step->part[part] - sources : 0;
}

static bool has_cycles(const struct recording *rec, size_t part)
{
	size_t i;

	for (i = 0; i < rec->count; i++)
		if (cycles_of(rec, &rec->steps[i], part))
			return true;
	return false;
}

/* Between a colour and white (1) or black (-1) */
static unsigned int shade(unsigned int colour, double light)
{
	unsigned int shift, result = 0;

	for (shift = 0; shift < 24; shift += 8) {
		double part = colour >> shift & 0xff;

		part += light > 0 ? light * (255 - part) : light * part;
		result |= (unsigned int)lround(part) << shift;
	}
	return result;
}

static unsigned int colour_of_cause(size_t cause)
{
	size_t causes = ARRAY_SIZE(colours) - 1;

	if (cause <= causes)
		return colours[cause];
	return shade(colours[1 + (cause - 1) % causes], (cause - 1) / causes % 2 ? -0.4 : 0.5);
}

/* What there is nothing of has no name in the legend either. */
static void add_band(struct bands *bands, size_t part, char *name, unsigned int colour)
{
	if (!has_cycles(bands->rec, part)) {
		free(name);
		return;
	}
	bands->part[bands->count] = part;
	bands->list[bands->count++] = (struct band){ name, colour };
}

static size_t count_sources(const struct recording *rec, const char *cause)
{
	size_t i, count = 0;

	for (i = 0; i < rec->parts; i++)
		count += is_source_of(rec->names[i], cause);
	return count;
}

/* The sources are below what has none, the last one lowest: the nearest to the CPU is on top. */
static void add_cause(struct bands *bands, size_t part)
{
	const struct recording *rec = bands->rec;
	size_t i, nth, count = count_sources(rec, rec->names[part]);
	unsigned int colour = colour_of_cause(bands->causes++);

	for (i = rec->parts, nth = count; i--;) {
		if (!is_source_of(rec->names[i], rec->names[part]))
			continue;
		nth--;
		add_band(bands, i, xdup(rec->names[i]),
			 shade(colour, 0.5 - (double)nth / (count > 1 ? count - 1 : 1)));
	}
	add_band(bands, part, xasprintf("%s%s", rec->names[part], count ? " (rest)" : ""),
		 count ? shade(colour, 0.75) : colour);
}

static void bands_build(struct bands *bands, const struct recording *rec)
{
	size_t i;

	*bands = (struct bands){ .rec = rec };
	for (i = 0; i < rec->parts; i++)
		if (!is_source(rec, rec->names[i]))
			add_cause(bands, i);
	add_band(bands, MOST_PARTS, xdup("unknown"), UNKNOWN_COLOUR);
}

/* ---- drawing --------------------------------------------------------------------- */

/* In percent of all cycles. What is too little to tell stays white. */
static void step_shares(const struct bands *bands, const struct step *step, double *shares)
{
	double all = step->all, sum = 0;
	size_t i;

	for (i = 0; i < bands->count; i++) {
		shares[i] = cycles_of(bands->rec, step, bands->part[i]);
		sum += shares[i];
	}
	if (all < sum)
		all = sum;	/* rounded, or malformed */
	for (i = 0; i < bands->count && all > 0; i++)
		shares[i] = 100 * shares[i] / all;
}

/* The end of a long name tells most. */
static char *short_name(const char *name)
{
	size_t length = strlen(name);
	const char *from = name;

	if (length <= LONGEST_NAME)
		return xdup(name);
	from += length - LONGEST_NAME;
	while ((*from & 0xc0) == 0x80)	/* inside of a character */
		from++;
	return xasprintf("...%s", from);
}

static void choose_unit(struct stack *stack, unsigned int seconds, double *per_unit)
{
	*per_unit = seconds <= 600 ? 1 : seconds <= 36000 ? 60 : 3600;
	stack->x_label = seconds <= 600 ? "seconds" : seconds <= 36000 ? "minutes" : "hours";
}

static void draw(FILE *out, const char *path, const struct bands *bands)
{
	const struct recording *rec = bands->rec;
	double *ends = xalloc(rec->count * sizeof(*ends)), per_unit;
	double *shares = xalloc(rec->count * bands->count * sizeof(*shares));
	char *name = short_name(rec->cgroup->name);
	char *title = xasprintf("%s: where the cycles went", name);
	struct stack stack = {
		.title = title, .y_label = "share of cycles", .bands = bands->list,
		.count = bands->count, .steps = rec->count, .ends = ends, .shares = shares,
	};
	size_t i;

	choose_unit(&stack, rec->steps[rec->count - 1].end, &per_unit);
	for (i = 0; i < rec->count; i++) {
		ends[i] = rec->steps[i].end / per_unit;
		step_shares(bands, &rec->steps[i], shares + i * bands->count);
	}
	svg_write_stack(out, path, &stack);
	free(title);
	free(name);
	free(shares);
	free(ends);
}

static void tell(const struct recording *rec, const char *path)
{
	char *name = printable(rec->cgroup->name);

	if (strcmp(path, "-"))
		printf("%s: %u s of %s, in %zu step%s\n", path, rec->steps[rec->count - 1].end,
		       name, rec->count, rec->count == 1 ? "" : "s");
	free(name);
}

static void recording_free(struct recording *rec)
{
	while (rec->parts)
		free(rec->names[--rec->parts]);
	stalls_free(&rec->last);
	free(rec->steps);
}

/* Whatever could be in the way of the picture is found before the recording. */
void stalls_write_svg(const char *path, const struct cgroup *cgroup, unsigned int delay,
		      unsigned int seconds)
{
	struct recording rec = { .cgroup = cgroup, .looks_per_step = 1 };
	struct bands bands;
	FILE *out;

	svg_require();
	stalls_read(&rec.last, &(struct stalls_of){ .cgroup = cgroup });
	rec.begin = seconds_now();
	rec.steps = xalloc(MOST_STEPS * sizeof(*rec.steps));
	out = open_output(path);	/* of a pipe, this waits for its reader */
	record(&rec, delay, seconds);
	bands_build(&bands, &rec);
	if (!bands.count)
		die(EX_NOINPUT, "nothing was counted in cgroup %s meanwhile: pathctl stalls --on",
		    cgroup->name);
	draw(out, path, &bands);
	tell(&rec, path);
	while (bands.count)
		free(bands.list[--bands.count].name);
	recording_free(&rec);
}
