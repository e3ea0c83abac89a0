/* SPDX-License-Identifier: GPL-2.0 */
/*
 * pathctl - the user's command of page access tracking.
 *
 * Everything it knows comes from text files: /sys/kernel/mm/path, the
 * memory.path.* files, cpu.stalls, cpu.counters and cpu.cluster* of cgroups, and the views of
 * /dev/mmpath, which look the same. The layers, each using only those above:
 *
 *   util.c		errors, files, numbers, the terminal
 *   table.c		"key value" lines, and tables with a header line
 *   span.c command.c	until when, and what runs meanwhile
 *   sysfs.c session.c cgroup.c
 *			where the files are, and why one cannot be read
 *   curve.c regions.c lines.c
 *			what is in them
 *   size.c		what a curve says about a size
 *   code.c		what is at an address of a process
 *   live.c		the terminal as a screen
 *   watch.c		looking at programs while they run
 *   packed.c log.c	recordings as files (log.h), perhaps compressed
 *   plot.c svg.c	pictures
 *   cmd-*.c		one per subcommand
 *
 * Whatever goes wrong ends in die(): one line that says what to do, and an
 * exit status of sysexits.h.
 */
#ifndef PATHCTL_H
#define PATHCTL_H

#include <getopt.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include <sysexits.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define MIB (1024.0 * 1024.0)
#define NO_LIMIT UINT64_MAX
#define __printf(format_at, arguments_from) \
	__attribute__((__format__(__printf__, format_at, arguments_from)))
#define __noreturn __attribute__((__noreturn__))

struct command {
	const char *name;
	const char *summary;
	const char *help;
	int (*run)(const struct command *cmd, int argc, char **argv);
};

extern const struct command cmd_status, cmd_on, cmd_off, cmd_driver, cmd_track,
	cmd_mrc, cmd_size, cmd_regions, cmd_top, cmd_prefetch, cmd_record, cmd_replay,
	cmd_metrics, cmd_stalls, cmd_counters, cmd_clusters;

/* util.c */
void __noreturn __printf(2, 3) die(int status, const char *fmt, ...);
extern void (*before_dying)(void);
void __printf(1, 2) note(const char *fmt, ...);
int exit_status_of(int err);
void *xalloc(size_t size);
void *xgrow(void *old, size_t count, size_t size);
char *xdup(const char *text);
char *__printf(1, 2) xasprintf(const char *fmt, ...);
char *read_fd(int fd);
char *read_file(const char *path);
int write_file(const char *path, const char *text);
bool parse_u64(const char *text, uint64_t *value);
pid_t parse_pid(const char *text);
bool parse_bytes(const char *text, uint64_t *bytes);
bool parse_percent(const char *text, double *percent);
const char *human_bytes(uint64_t bytes, char *buf, size_t size);
const char *human_count(double count, char *buf, size_t size);
char *printable(const char *text);
char *shell_word(const char *text);
char *as_utf8(const char *text);
double seconds_now(void);
void terminal_size(int *columns, int *lines);
bool terminal_is_utf8(void);
int next_option(const struct command *cmd, int argc, char **argv,
		const char *shorts, const struct option *longs);
const char *short_options(char **argv, const char *shorts);
bool is_command(char **argv);
unsigned int option_number(const char *name, const char *text,
			   unsigned int min, unsigned int max);
FILE *open_output(const char *path);
void check_output(const char *path);
void close_output(FILE *out, const char *path);
void close_stdout(void);

/* JSON that cannot fail: see as_utf8(); large numbers are clamped. */
json_t *json_text(const char *text);
json_t *json_u64(uint64_t value);
json_t *json_number_or_text(const char *text);
void print_json(FILE *out, json_t *value);

/* packed.c */
FILE *open_packed(FILE *file, const char *path);

/* table.c */
struct keyed {
	char *text;
	size_t count;
	const char **keys;
	const char **values;
};

/* Columns by name; the last one may contain blanks when asked for. */
struct table {
	char *text;
	size_t columns, rows;
	char **names;
	char **cells;
};

bool keyed_add_line(struct keyed *keyed, char *line);
void keyed_parse(struct keyed *keyed, char *text);
const char *keyed_get(const struct keyed *keyed, const char *key);
uint64_t keyed_u64(const struct keyed *keyed, const char *key, uint64_t missing);
json_t *keyed_json(const struct keyed *keyed);
uint64_t nested_u64(const char *line, const char *key);
void keyed_free(struct keyed *keyed);
void table_parse(struct table *table, char *text, const char *what,
		 size_t line_number, bool blanks_in_last);
size_t table_column(const struct table *table, const char *what, const char *name);
uint64_t table_u64(const struct table *table, const char *what, size_t row,
		   size_t column);

static inline const char *table_cell(const struct table *table, size_t row,
				     size_t column)
{
	return table->cells[row * table->columns + column];
}
void table_free(struct table *table);

/* sysfs.c */
const char *sysfs_root(void);
bool sysfs_present(void);
void sysfs_require(void);
char *sysfs_path(const char *name);
char *sysfs_read(const char *name);
uint64_t sysfs_u64(const char *name);
int sysfs_write(const char *name, const char *text);
bool sysfs_is_value(const char *name);
char **sysfs_list(const char *name, size_t *count);
void free_list(char **list, size_t count);
void tracking_switch_on(void);
json_t *driver_json(const char *name, bool in_use);
char **driver_list(size_t *count, size_t *in_use);

/* session.c */
struct session;
struct cgroup;

struct session *session_open(void);
void session_close(struct session *session);
int session_fd(const struct session *session);
int session_track(const struct session *session, pid_t pid);
void session_add(struct session *session, pid_t pid);
void __noreturn session_die(pid_t pid, int err);
void session_record(const struct session *session);
uint64_t session_resident(struct session *session);
char *session_read(struct session *session, const char *file);
void session_as_cgroup(struct session *session, struct cgroup *cgroup);

/* span.c */
struct span {
	struct pollfd *fds;	/* signals, then count processes */
	size_t count, alive;
	double deadline;
	pid_t command;		/* signals are for it */
	bool bounded, stopped;
};

void span_start(struct span *span, unsigned int seconds);
void span_add(struct span *span, pid_t pid);
bool span_wait(struct span *span, int ms);
void span_give_signals_back(void);
void span_end(struct span *span);

/* command.c */
pid_t command_start(char **argv, int (*enter)(void *where), void *where, int *err);
int command_wait(pid_t pid);
json_t *command_json(char **argv);

/* cgroup.c */
struct cgroup {
	char *name;		/* below the root, without a leading slash; the root is "/" */
	char *dir;
	struct session *session;	/* not a cgroup, but reads like one */
};

const char *cgroup_root(void);
bool cgroup_root_present(void);
void cgroup_require_root(void);
bool is_directory(const char *path);
bool is_number(const char *text);
bool names_only_a_pid(const char *argument);
bool cgroup_is_root(const struct cgroup *cgroup);
void cgroup_set(struct cgroup *cgroup, const char *name);
void cgroup_find(struct cgroup *cgroup, const char *argument);
void cgroup_of_pid(struct cgroup *cgroup, const char *pid);
void cgroup_free(struct cgroup *cgroup);
char *cgroup_read(const struct cgroup *cgroup, const char *file);
char *cgroup_read_or_die(const struct cgroup *cgroup, const char *file);
char *cgroup_read_cpu(const struct cgroup *cgroup, const char *file, const char *config);
int cgroup_write(const struct cgroup *cgroup, const char *file, const char *text);
void __noreturn cgroup_die(const struct cgroup *cgroup, const char *file, int err);
bool cgroup_u64(const struct cgroup *cgroup, const char *file, uint64_t *value);
bool cgroup_memory_now(const struct cgroup *cgroup, const char **what, uint64_t *bytes);
bool cgroup_keyed(const struct cgroup *cgroup, const char *file, struct keyed *keyed);
bool cgroup_is_tracked(const struct cgroup *cgroup);
uint64_t cgroup_programs(const struct cgroup *cgroup);
bool cgroup_settling(const struct cgroup *cgroup);
char *cgroup_choice(const struct cgroup *cgroup, const char *file);
bool cgroup_prefetches(const struct cgroup *cgroup);
struct cgroup *cgroups_below(const char *dir, bool (*wanted)(const struct cgroup *cgroup),
			     size_t *count);
struct cgroup *cgroups_tracked(size_t *count);
void cgroups_free(struct cgroup *cgroups, size_t count);

/* curve.c */
enum window { WINDOW_TOTAL, WINDOW_RECENT, WINDOW_EPOCH, WINDOWS };
extern const char *const window_names[WINDOWS];
extern const char *const window_texts[WINDOWS];

struct curve {
	uint64_t page_bytes, group_pages, sample_shift, records, cold, footprint;
	uint64_t resolved_from;
	size_t points;
	uint64_t *pages;
	uint64_t *misses[WINDOWS];
};

enum window parse_window(const char *text);
void curve_parse(struct curve *curve, char *text);
void curve_read(struct curve *curve, const struct cgroup *cgroup);
bool curve_try_read(struct curve *curve, const struct cgroup *cgroup);
void curve_free(struct curve *curve);
uint64_t curve_first(const struct curve *curve);
double curve_at(const struct curve *curve, enum window window, double pages);
double curve_at_bytes(const struct curve *curve, enum window window, uint64_t bytes);
bool curve_pages_for(const struct curve *curve, enum window window, double misses,
		     double *pages);
double curve_mib(const struct curve *curve, double pages);
void curve_write_csv(FILE *out, const struct curve *curve);
void curve_write_csv_file(const char *path, const struct curve *curve);
void curve_draw(FILE *out, const struct curve *curve, const struct cgroup *cgroup,
		enum window window, int columns, int lines);
void curve_write_svg(const char *path, const struct curve *curve,
		     const char *name, enum window window);
json_t *curve_json(const struct curve *curve);
void coverage_note(FILE *out, const struct cgroup *cgroup);
json_t *coverage_json(const struct cgroup *cgroup);

/* size.c */
#define SIZE_DELTA (256 << 20)
#define DEFAULT_MISSES "5%"

struct size_question {
	double percent;
	bool has_percent;
	uint64_t delta;
	enum window window;
};

void size_parse_misses(struct size_question *question, const char *text);
void size_print(FILE *out, const struct curve *curve, const struct cgroup *cgroup,
		const struct size_question *question);
json_t *size_json(const struct curve *curve, const struct cgroup *cgroup,
		  const struct size_question *question);

/* regions.c */
struct region {
	uint64_t pid, id, mapped_kb, footprint, records, cold, shift, in_memory;
	char *kind, *start, *end, *state, *policy, *target, *name;
};

struct regions {
	size_t count;
	struct region *list;
};

void regions_parse(struct regions *regions, char *text);
void regions_read(struct regions *regions, const struct cgroup *cgroup);
bool regions_try_read(struct regions *regions, const struct cgroup *cgroup);
void regions_take_over(struct regions *now, struct regions *before);
size_t regions_programs(struct regions *regions);
void regions_sort(struct regions *regions);
void regions_print(FILE *out, const struct regions *regions, size_t most);
json_t *regions_json(const struct regions *regions);
void regions_free(struct regions *regions);

/* code.c */
struct code;		/* processes whose addresses are asked about */

struct place {
	char *symbol;	/* with an offset, NAME+0xN */
	char *object;	/* FILE+0xN, the address in it */
	char *source;	/* FILE:LINE */
};

struct code *code_open(void);
void code_frame(struct code *code);
void code_find(struct code *code, uint64_t tid, uint64_t address, struct place *place);
char *code_variable(struct code *code, uint64_t tid, uint64_t address);
void place_free(struct place *place);
void code_close(struct code *code);

/* live.c */
void live_enter(const char *once, unsigned int ms);
int live_frame(void (*print)(FILE *out, const char *head, const void *frame), const void *frame,
	       const char *keys);
void live_leave(void);

/* watch.c */
struct watch {
	struct cgroup cgroup;
	double start, seconds;
	struct regions regions;
	struct keyed stat;
	uint64_t sample_shift, coverage_permille;	/* while there was a program */
	bool settling;		/* likewise, and if there was none that was seen */
};

/* What to tell about a watch, and where. */
struct report {
	const char *csv, *svg, *output;
	bool json;
	const char *name;	/* of a picture */
	const char *first;	/* how the summary begins */
	json_t *about;		/* and its JSON */
	const struct size_question *question;
	uint64_t resolved_from;	/* pages, if the curve does not know better */
};

void report_check(const struct report *report);
void watch_start(struct watch *watch);
int watch_pause(const struct watch *watch);
void watch_look(struct watch *watch);
void watch_end(struct watch *watch);
void report_option(struct report *report, struct size_question *question, int option);
void watch_tell(struct watch *watch, const struct report *report, FILE *there);
void watch_free(struct watch *watch);

/* plot.c */
struct series {
	const char *label;
	size_t points;
	const double *x, *y;
	double dotted_below;	/* drawn thinly there */
	bool dashed;
};

struct plot {
	const char *title;
	const char *x_unit;
	double x_max, y_max;
	const struct series *series;
	size_t count;
	double mark;		/* shown below the axis; negative: none */
	const char *mark_text;
};

double interpolate(const double *x, const double *y, size_t points, double at);
void plot_draw(FILE *out, const struct plot *plot, int columns, int lines, bool utf8);

/* svg.c */
struct heat_cell {
	size_t column, row;
	double value;
};

/* A picture with a square for each pair of a column and a row, darker if there is more */
struct heat {
	const char *title, *x_label, *y_label, *unit;
	size_t columns, rows, count;
	char **column_names, **row_names;
	const bool *column_edges, *row_edges;	/* a line is drawn before these */
	const struct heat_cell *cells;
	double max;
};

struct band {
	char *name;
	unsigned int colour;	/* 0xrrggbb */
};

/* A picture of the parts of a whole over time: bands, one above the other */
struct stack {
	const char *title, *x_label, *y_label;
	const struct band *bands;	/* the lowest first */
	size_t count, steps;
	const double *ends;	/* of the steps; the first begins at 0 */
	const double *shares;	/* percent: the bands of a step, then the next; all 0: a gap */
};

void svg_require(void);
void svg_write(const char *path, const struct plot *plot, const char *y_label);
void svg_write_heat(const char *path, const struct heat *heat);
void svg_write_stack(FILE *out, const char *path, const struct stack *stack);

#endif
