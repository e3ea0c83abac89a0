// SPDX-License-Identifier: GPL-2.0
/*
 * A curve as a picture, drawn by gnuplot.
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

static void write_quoted(FILE *script, const char *text)
{
	char *clean = printable(text), *c;

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

static void write_script(FILE *script, const struct plot *plot, const char *y_label)
{
	size_t i;

	fputs("set terminal svg size 900,560 dynamic noenhanced ", script);
	fputs("background rgb 'white' font 'sans,14'\n", script);
	fputs("set grid\nset key top right\nset yrange [0:*]\n", script);
	fprintf(script, "set xrange [0:%.10g]\n", plot->x_max > 0 ? plot->x_max : 1);
	fputs("set title ", script);
	write_quoted(script, plot->title);
	fputs("\nset xlabel ", script);
	write_quoted(script, plot->x_unit);
	fputs("\nset ylabel ", script);
	write_quoted(script, y_label);
	fputc('\n', script);
	for (i = 0; i < plot->count; i++) {
		write_points(script, &plot->series[i], i, true);
		write_points(script, &plot->series[i], i, false);
	}
	write_plot_line(script, plot);
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

/* The picture, from its start, in memory: gnuplot does not say when it cannot write. */
static int draw(const struct plot *plot, const char *y_label)
{
	int in, picture = memfd_create("picture", MFD_CLOEXEC);
	FILE *script;
	pid_t pid;

	if (picture < 0)
		die(EX_OSERR, "no memory for a picture: %s", strerror(errno));
	signal(SIGPIPE, SIG_IGN);
	pid = spawn_gnuplot(picture, &in);
	script = fdopen(in, "w");
	if (!script)
		die(EX_OSERR, "out of memory");
	write_script(script, plot, y_label);
	fclose(script);
	wait_for_gnuplot(pid);
	if (lseek(picture, 0, SEEK_END) <= 0 || lseek(picture, 0, SEEK_SET))
		die(EX_SOFTWARE, "gnuplot has drawn nothing");
	return picture;
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

/* The title and x unit are the plot's; a plot without x_max fits its points. */
void svg_write(const char *path, const struct plot *plot, const char *y_label)
{
	struct plot sized = *plot;
	FILE *out = open_output(path);
	int picture;
	size_t i;

	for (i = 0; i < plot->count; i++)
		if (plot->series[i].x[plot->series[i].points - 1] > sized.x_max)
			sized.x_max = plot->series[i].x[plot->series[i].points - 1];
	picture = draw(&sized, y_label);
	copy(picture, out);
	close(picture);
	close_output(out, path);
}
