// SPDX-License-Identifier: GPL-2.0
/*
 * A curve on a terminal.
 *
 * The canvas has 2 x 4 dots per character cell, as braille characters do. A
 * terminal without UTF-8 gets one of ' . : per cell instead.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pathctl.h"

#define LABEL_WIDTH 8

struct canvas {
	int width, height;		/* in cells */
	unsigned char *cells;		/* the dots of one cell, as in U+2800 */
	bool utf8;
};

/* ---- dots ------------------------------------------------------------ */

static void set_dot(struct canvas *canvas, int x, int y)
{
	static const unsigned char bits[4][2] = {
		{ 0x01, 0x08 }, { 0x02, 0x10 }, { 0x04, 0x20 }, { 0x40, 0x80 },
	};

	if (x < 0 || y < 0 || x >= 2 * canvas->width || y >= 4 * canvas->height)
		return;
	canvas->cells[y / 4 * canvas->width + x / 2] |= bits[y % 4][x % 2];
}

static void print_cell(FILE *out, const struct canvas *canvas, unsigned char dots)
{
	bool high = dots & 0x1b, low = dots & 0xe4;

	if (!dots)
		fputc(' ', out);
	else if (canvas->utf8)
		fprintf(out, "%c%c%c", 0xe2, 0xa0 | dots >> 6, 0x80 | (dots & 0x3f));
	else
		fputc(high && low ? ':' : high ? '\'' : '.', out);
}

/* ---- series ---------------------------------------------------------- */

/* On the line through the points; flat beyond both ends. */
double interpolate(const double *x, const double *y, size_t points, double at)
{
	size_t low = 0, high = points;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (x[middle] < at)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == points)
		return points ? y[points - 1] : 0;
	if (!low)
		return y[0];
	return y[low - 1] + (y[low] - y[low - 1]) * (at - x[low - 1]) / (x[low] - x[low - 1]);
}

static int row_of(const struct canvas *canvas, const struct plot *plot, double y)
{
	int last = 4 * canvas->height - 1;
	double share = plot->y_max > 0 ? y / plot->y_max : 0;

	return (int)lround((1 - fmin(fmax(share, 0), 1)) * last);
}

static void draw_step(struct canvas *canvas, int x, int from, int to)
{
	int y;

	for (y = from < to ? from : to; y <= (from < to ? to : from); y++)
		set_dot(canvas, x, y);
}

static bool drawn_here(const struct series *series, int x, double value)
{
	if (value < series->dotted_below)
		return x % 4 == 0;
	return !series->dashed || x % 6 < 3;
}

static void draw_series(struct canvas *canvas, const struct plot *plot,
			const struct series *series)
{
	int x, row, last = -1, columns = 2 * canvas->width;

	for (x = 0; x < columns; x++) {
		double value = (x + 0.5) * plot->x_max / columns;

		row = row_of(canvas, plot,
			     interpolate(series->x, series->y, series->points, value));
		if (drawn_here(series, x, value))
			draw_step(canvas, x, last < 0 || value < series->dotted_below ? row : last,
				  row);
		last = row;
	}
}

/* ---- axes ------------------------------------------------------------ */

/* 1, 2 or 5 times a power of ten, giving at most so many steps. */
static double nice_step(double range, int most)
{
	double step;

	if (range <= 0 || most < 1)
		return 1;
	step = pow(10, floor(log10(range / most)));
	while (range / step > most) {
		if (range / (2 * step) <= most)
			return 2 * step;
		if (range / (5 * step) <= most)
			return 5 * step;
		step *= 10;
	}
	return step;
}

/* The tick's value for this row of cells, or a negative number. */
static double tick_of_row(const struct canvas *canvas, const struct plot *plot, int row,
			  double step)
{
	double value;

	for (value = 0; value <= plot->y_max * 1.0001; value += step)
		if (row_of(canvas, plot, value) / 4 == row)
			return value;
	return -1;
}

static void print_row(FILE *out, const struct canvas *canvas, const struct plot *plot,
		      int row, double step)
{
	double value = tick_of_row(canvas, plot, row, step);
	char label[32] = "";
	int x;

	if (value >= 0)
		human_count(value, label, sizeof(label));
	fprintf(out, "%*s ", LABEL_WIDTH, label);
	if (canvas->utf8)
		fputs(value >= 0 ? "┤" : "│", out);
	else
		fputc(value >= 0 ? '+' : '|', out);
	for (x = 0; x < canvas->width; x++)
		print_cell(out, canvas, canvas->cells[row * canvas->width + x]);
	fputc('\n', out);
}

static int column_of(const struct canvas *canvas, const struct plot *plot, double x)
{
	return (int)(x / plot->x_max * canvas->width);
}

static void print_axis(FILE *out, const struct canvas *canvas, const struct plot *plot,
		       double step)
{
	bool *ticks = xalloc(canvas->width + 1);
	double value;
	int x;

	for (value = 0; column_of(canvas, plot, value) < canvas->width; value += step)
		ticks[column_of(canvas, plot, value)] = true;
	fprintf(out, "%*s %s", LABEL_WIDTH, "", canvas->utf8 ? "└" : "+");
	for (x = 0; x < canvas->width; x++)
		if (canvas->utf8)
			fputs(ticks[x] ? "┬" : "─", out);
		else
			fputc(ticks[x] ? '+' : '-', out);
	fputc('\n', out);
	free(ticks);
}

static void print_x_labels(FILE *out, const struct canvas *canvas, const struct plot *plot,
			   double step)
{
	int at = 0, column, length;
	char label[32];
	double value;

	fprintf(out, "%*s ", LABEL_WIDTH + 1, "");
	for (value = 0; value <= plot->x_max; value += step) {
		column = column_of(canvas, plot, value);
		length = snprintf(label, sizeof(label), "%.10g", value);
		column -= column < length / 2 ? column : length / 2;
		if (column + length + 4 > canvas->width || (at && column <= at))
			continue;
		at += fprintf(out, "%*s%s", column - at, "", label);
	}
	fprintf(out, "%*s %s\n", canvas->width - at - (int)strlen(plot->x_unit) - 1, "",
		plot->x_unit);
}

static void print_mark(FILE *out, const struct canvas *canvas, const struct plot *plot)
{
	int column, length;
	char *text;

	if (plot->mark < 0 || plot->mark > plot->x_max)
		return;
	column = column_of(canvas, plot, plot->mark);
	text = xasprintf("%s %.1f %s", plot->mark_text, plot->mark, plot->x_unit);
	length = strlen(text);
	fprintf(out, "%*s ", LABEL_WIDTH + 1, "");
	if (column + length + 2 <= canvas->width)
		fprintf(out, "%*s%s %s\n", column, "", canvas->utf8 ? "▲" : "^", text);
	else if (column > length)
		fprintf(out, "%*s%s %s\n", column - length - 1, "", text,
			canvas->utf8 ? "▲" : "^");
	else
		fprintf(out, "%s\n", text);
	free(text);
}

static void print_series_names(FILE *out, const struct plot *plot)
{
	size_t i;

	if (plot->count < 2)
		return;
	fprintf(out, "%*s ", LABEL_WIDTH + 1, "");
	for (i = 0; i < plot->count; i++)
		fprintf(out, "%s%s: %s", i ? ", " : "", plot->series[i].dashed ? "dashed" : "line",
			plot->series[i].label);
	fputc('\n', out);
}

static int clamp(int value, int min, int max)
{
	return value < min ? min : value > max ? max : value;
}

/* Fits into so many columns and lines, with room for a few lines of text. */
void plot_draw(FILE *out, const struct plot *plot, int columns, int lines, bool utf8)
{
	struct canvas canvas = {
		.width = clamp(columns - LABEL_WIDTH - 3, 20, 400),
		.height = clamp(lines - 9, 6, 200), .utf8 = utf8,
	};
	double x_step = nice_step(plot->x_max, clamp(canvas.width / 9, 2, 20));
	double y_step = nice_step(plot->y_max, clamp(canvas.height / 3, 2, 10));
	char *title = printable(plot->title);
	size_t i;
	int row;

	canvas.cells = xalloc((size_t)canvas.width * canvas.height);
	for (i = 0; i < plot->count; i++)
		draw_series(&canvas, plot, &plot->series[i]);
	fprintf(out, "%s\n", title);
	for (row = 0; row < canvas.height; row++)
		print_row(out, &canvas, plot, row, y_step);
	print_axis(out, &canvas, plot, x_step);
	print_x_labels(out, &canvas, plot, x_step);
	print_mark(out, &canvas, plot);
	print_series_names(out, plot);
	free(canvas.cells);
	free(title);
}
