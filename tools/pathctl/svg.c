// SPDX-License-Identifier: GPL-2.0
/*
 * Curves, what is more or less dark, and parts of a whole, as pictures, drawn by gnuplot.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pathctl.h"

/* ---- what gnuplot is told --------------------------------------------- */

static void replace(char *text, const char *what, const char *with)
{
	while ((text = strstr(text, what)))
		text = mempcpy(text, with, strlen(with));
}

/* gnuplot escapes < and & but hands on what else XML may not hold: U+FFFE, U+FFFF, and ]]> */
static void make_fit_for_xml(char *text)
{
	replace(text, "\xef\xbf\xbe", "???");
	replace(text, "\xef\xbf\xbf", "???");
	replace(text, "]]>", "]]?");
}

static void write_quoted(FILE *script, const char *text)
{
	char *clean = printable(text), *c;

	make_fit_for_xml(clean);
	fputc('\'', script);
	for (c = clean; *c; c++) {
		if (*c == '\'')
			fputc('\'', script);
		fputc(*c, script);
	}
	fputc('\'', script);
	free(clean);
}

static void write_points(FILE *script, const struct series *series, size_t number, bool low)
{
	double edge = series->dotted_below;
	size_t i;

	fprintf(script, "$%s%zu << END\n", low ? "low" : "high", number);
	if (!low && edge > 0)
		fprintf(script, "%.10g %.10g\n", edge,
			interpolate(series->x, series->y, series->points, edge));
	for (i = 0; i < series->points; i++)
		if (low == (series->x[i] < edge))
			fprintf(script, "%.10g %.10g\n", series->x[i], series->y[i]);
	if (low)
		fprintf(script, "%.10g %.10g\n", edge,
			interpolate(series->x, series->y, series->points, edge));
	fputs("END\n", script);
}

static void write_plot_line(FILE *script, const struct plot *plot)
{
	size_t i;

	fputs("plot ", script);
	for (i = 0; i < plot->count; i++) {
		const struct series *series = &plot->series[i];

		fprintf(script, "%s$low%zu with lines lc %zu lw 2 dt 3 notitle, ", i ? ", " : "", i,
			i + 1);
		fprintf(script, "$high%zu with lines lc %zu lw 2 dt %d title ", i, i + 1,
			series->dashed ? 2 : 1);
		write_quoted(script, series->label);
	}
	fputc('\n', script);
}

static void write_terminal(FILE *script, int height)
{
	fprintf(script, "set terminal svg size 900,%d dynamic noenhanced ", height);
	fputs("background rgb 'white' font 'sans,14'\n", script);
}

static void write_label(FILE *script, const char *what, const char *text)
{
	fprintf(script, "set %s ", what);
	write_quoted(script, text);
	fputc('\n', script);
}

static void write_script(FILE *script, const struct plot *plot, const char *y_label)
{
	size_t i;

	write_terminal(script, 560);
	fputs("set grid\nset key top right\nset yrange [0:*]\n", script);
	fprintf(script, "set xrange [0:%.10g]\n", plot->x_max > 0 ? plot->x_max : 1);
	write_label(script, "title", plot->title);
	write_label(script, "xlabel", plot->x_unit);
	write_label(script, "ylabel", y_label);
	for (i = 0; i < plot->count; i++) {
		write_points(script, &plot->series[i], i, true);
		write_points(script, &plot->series[i], i, false);
	}
	write_plot_line(script, plot);
}

/* ---- what it is told of darker and lighter squares ------------------------ */

#define MOST_NAMES	48	/* beside an axis */
#define ROW_HEIGHT	14

/* Not each has its name there if they are many. */
static void write_names(FILE *script, const char *axis, char **names, size_t count)
{
	size_t i, step = (count + MOST_NAMES - 1) / MOST_NAMES;

	fprintf(script, "set %stics out nomirror (", axis);
	for (i = 0; i < count; i += step) {
		fputs(i ? ", " : "", script);
		write_quoted(script, names[i]);
		fprintf(script, " %zu", i);
	}
	fputs(")\n", script);
}

static void write_edges(FILE *script, const struct heat *heat)
{
	static const char line[] = "nohead front lc rgb '#4080c0'";
	size_t i;

	for (i = 1; i < heat->rows; i++)
		if (heat->row_edges[i])
			fprintf(script, "set arrow from -0.5,%zu.5 to %zu.5,%zu.5 %s\n", i - 1,
				heat->columns - 1, i - 1, line);
	for (i = 1; i < heat->columns; i++)
		if (heat->column_edges[i])
			fprintf(script, "set arrow from %zu.5,-0.5 to %zu.5,%zu.5 %s\n", i - 1,
				i - 1, heat->rows - 1, line);
}

static int heat_height(const struct heat *heat)
{
	size_t rows = heat->rows < 6 ? 6 : heat->rows > 200 ? 200 : heat->rows;

	return 160 + ROW_HEIGHT * rows;
}

static void write_heat(FILE *script, const struct heat *heat)
{
	size_t i;

	write_terminal(script, heat_height(heat));
	fprintf(script, "set xrange [-0.5:%zu.5]\nset yrange [%zu.5:-0.5]\n", heat->columns - 1,
		heat->rows - 1);
	fputs("set palette defined (0 '#e4e4e4', 1 'black')\n", script); /* little is not nothing */
	fprintf(script, "set cbrange [0:%.10g]\n", heat->max);
	write_label(script, "title", heat->title);
	write_label(script, "xlabel", heat->x_label);
	write_label(script, "ylabel", heat->y_label);
	write_label(script, "cblabel", heat->unit);
	write_names(script, "x", heat->column_names, heat->columns);
	write_names(script, "y", heat->row_names, heat->rows);
	fputs("set xtics rotate font ',9'\nset ytics font ',9'\n", script);
	write_edges(script, heat);
	fputs("$cells << END\n", script);
	for (i = 0; i < heat->count; i++)
		fprintf(script, "%zu %zu %.10g\n", heat->cells[i].column, heat->cells[i].row,
			heat->cells[i].value);
	fputs("END\nset style fill solid noborder\n", script);
	fputs("plot $cells using 1:2:(0.5):(0.5):3 with boxxyerror lc palette notitle\n", script);
}

/* ---- what it is told of parts of a whole ---------------------------------- */

static bool is_gap(const struct stack *stack, size_t step)
{
	size_t i;

	for (i = 0; i < stack->count; i++)
		if (stack->shares[step * stack->count + i] > 0)
			return false;
	return true;
}

/* The upper edges of all bands at a time */
static void write_edge(FILE *script, const struct stack *stack, size_t step, double x)
{
	double top = 0;
	size_t i;

	fprintf(script, "%.10g", x);
	for (i = 0; i < stack->count; i++) {
		top += stack->shares[step * stack->count + i];
		fprintf(script, " %.6g", top);
	}
	fputc('\n', script);
}

/* A blank line is where a polygon ends. */
static void write_steps(FILE *script, const struct stack *stack)
{
	size_t i;

	fputs("$steps << END\n", script);
	for (i = 0; i < stack->steps; i++) {
		if (is_gap(stack, i)) {
			fputc('\n', script);
			continue;
		}
		write_edge(script, stack, i, i ? stack->ends[i - 1] : 0);
		write_edge(script, stack, i, stack->ends[i]);
	}
	fputs("END\n", script);
}

/*
 * The highest band comes first, and each goes down to the axis: those below are drawn over it.
 * Bands that only touched would have light seams between them.
 */
static void write_bands(FILE *script, const struct stack *stack)
{
	size_t i;

	fputs("plot", script);
	for (i = stack->count; i--;) {
		fprintf(script, "%s $steps using 1:%zu with filledcurves y1=0 fs solid noborder ",
			i + 1 < stack->count ? "," : "", i + 2);
		fprintf(script, "lc rgb '#%06x' title ", stack->bands[i].colour);
		write_quoted(script, stack->bands[i].name);
	}
	fputc('\n', script);
}

#define KEY_HEIGHT	24	/* for a name in the legend; gnuplot wants some more than it uses */

/* Each band has its name beside them. */
static int stack_height(const struct stack *stack)
{
	int names = KEY_HEIGHT * stack->count;

	return names < 384 ? 480 : 96 + names;
}

static void write_stack(FILE *script, const struct stack *stack)
{
	write_terminal(script, stack_height(stack));
	fprintf(script, "set xrange [0:%.10g]\nset yrange [0:100]\n",
		stack->ends[stack->steps - 1]);
	fputs("set border 3 front\nset tics out nomirror\nset ytics 20\n", script);
	fputs("set format y '%g %%'\n", script);
	fputs("set key outside right center reverse Left samplen 2\n", script);
	write_label(script, "title", stack->title);
	write_label(script, "xlabel", stack->x_label);
	write_label(script, "ylabel", stack->y_label);
	write_steps(script, stack);
	write_bands(script, stack);
}

/* ---- running it -------------------------------------------------------- */

static pid_t spawn_gnuplot(int out, int *in)
{
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		die(EX_OSERR, "pipe: %s", strerror(errno));
	pid = fork();
	if (pid < 0)
		die(EX_OSERR, "fork: %s", strerror(errno));
	if (!pid) {
		dup2(ends[0], STDIN_FILENO);
		dup2(out, STDOUT_FILENO);
		execlp("gnuplot", "gnuplot", (char *)NULL);
		_exit(errno == ENOENT ? 127 : 126);
	}
	close(ends[0]);
	*in = ends[1];
	return pid;
}

static void wait_for_gnuplot(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		die(EX_UNAVAILABLE, "no gnuplot to draw the picture: install gnuplot-nox");
	die(EX_SOFTWARE, "gnuplot failed");
}

/* A picture that is being drawn: in memory, as gnuplot does not say when it cannot write. */
struct picture {
	const char *path;
	FILE *out, *script;
	int memory;
	pid_t pid;
};

static void picture_begin(struct picture *picture, FILE *out, const char *path)
{
	int in;

	picture->path = path;
	picture->out = out;
	picture->memory = memfd_create("picture", MFD_CLOEXEC);
	if (picture->memory < 0)
		die(EX_OSERR, "no memory for a picture: %s", strerror(errno));
	signal(SIGPIPE, SIG_IGN);
	picture->pid = spawn_gnuplot(picture->memory, &in);
	picture->script = fdopen(in, "w");
	if (!picture->script)
		die(EX_OSERR, "out of memory");
}

static void copy(int from, FILE *to)
{
	char buf[4096];
	ssize_t got;

	while ((got = read(from, buf, sizeof(buf))) > 0)
		fwrite(buf, 1, got, to);
	if (got < 0)
		die(EX_IOERR, "no picture: %s", strerror(errno));
}

static void picture_end(struct picture *picture)
{
	fclose(picture->script);
	wait_for_gnuplot(picture->pid);
	if (lseek(picture->memory, 0, SEEK_END) <= 0 || lseek(picture->memory, 0, SEEK_SET))
		die(EX_SOFTWARE, "gnuplot has drawn nothing");
	copy(picture->memory, picture->out);
	close(picture->memory);
	close_output(picture->out, picture->path);
}

/* Is there a gnuplot? To be asked before a recording that would be for nothing. */
void svg_require(void)
{
	int in;
	pid_t pid = spawn_gnuplot(STDERR_FILENO, &in);

	close(in);
	wait_for_gnuplot(pid);
}

/* The title and x unit are the plot's; a plot without x_max fits its points. */
void svg_write(const char *path, const struct plot *plot, const char *y_label)
{
	struct plot sized = *plot;
	struct picture picture;
	size_t i;

	for (i = 0; i < plot->count; i++)
		if (plot->series[i].x[plot->series[i].points - 1] > sized.x_max)
			sized.x_max = plot->series[i].x[plot->series[i].points - 1];
	picture_begin(&picture, open_output(path), path);
	write_script(picture.script, &sized, y_label);
	picture_end(&picture);
}

/* There must be something to be drawn. */
void svg_write_heat(const char *path, const struct heat *heat)
{
	struct picture picture;

	picture_begin(&picture, open_output(path), path);
	write_heat(picture.script, heat);
	picture_end(&picture);
}

/* To what open_output() has opened. There must be a step. */
void svg_write_stack(FILE *out, const char *path, const struct stack *stack)
{
	struct picture picture;

	picture_begin(&picture, out, path);
	write_stack(picture.script, stack);
	picture_end(&picture);
}
