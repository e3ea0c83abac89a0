// SPDX-License-Identifier: GPL-2.0
/*
 * Errors, files, numbers, the terminal.
 */
#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

#include "pathctl.h"

/* ---- errors ---------------------------------------------------------- */

/* Gives the terminal back. */
void (*before_dying)(void);

static void drop_unfinished(void);
static void make_printable(char *text);

/* Names are in it, of cgroups and files, which others may have chosen. */
static void say(const char *fmt, va_list args)
{
	char *text;

	if (vasprintf(&text, fmt, args) < 0)
		text = NULL;
	else
		make_printable(text);
	fprintf(stderr, "%s: %s\n", program_invocation_short_name, text ? text : "out of memory");
	free(text);
}

void die(int status, const char *fmt, ...)
{
	va_list args;

	if (before_dying)
		before_dying();
	drop_unfinished();
	fflush(stdout);
	va_start(args, fmt);
	say(fmt, args);
	va_end(args);
	exit(status);
}

void note(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	say(fmt, args);
	va_end(args);
}

int exit_status_of(int err)
{
	switch (err) {
	case ENOENT:
	case ENOTDIR:
	case ENODATA:
	case ENODEV:
		return EX_NOINPUT;
	case EACCES:
	case EPERM:
	case EROFS:
		return EX_NOPERM;
	case EINVAL:
	case ERANGE:
		return EX_DATAERR;
	default:
		return EX_IOERR;
	}
}

/* ---- memory ---------------------------------------------------------- */

void *xalloc(size_t size)
{
	void *new = calloc(1, size ? size : 1);

	if (!new)
		die(EX_OSERR, "out of memory");
	return new;
}

void *xgrow(void *old, size_t count, size_t size)
{
	void *new = reallocarray(old, count ? count : 1, size);

	if (!new)
		die(EX_OSERR, "out of memory");
	return new;
}

char *xdup(const char *text)
{
	char *new = strdup(text);

	if (!new)
		die(EX_OSERR, "out of memory");
	return new;
}

char *xasprintf(const char *fmt, ...)
{
	va_list args;
	char *text;
	int length;

	va_start(args, fmt);
	length = vasprintf(&text, fmt, args);
	va_end(args);
	if (length < 0)
		die(EX_OSERR, "out of memory");
	return text;
}

/* ---- files ----------------------------------------------------------- */

/* The rest of it, to be freed; NULL and errno. */
char *read_fd(int fd)
{
	size_t used = 0, size = 4096;
	char *text = xalloc(size);
	ssize_t got;

	while ((got = read(fd, text + used, size - used - 1)) != 0) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			free(text);
			return NULL;
		}
		used += got;
		if (used == size - 1) {
			size *= 2;
			text = xgrow(text, size, 1);
		}
	}
	text[used] = '\0';
	return text;
}

/* The whole file, to be freed; NULL and errno. */
char *read_file(const char *path)
{
	int err, fd = open(path, O_RDONLY | O_CLOEXEC);
	char *text;

	if (fd < 0)
		return NULL;
	text = read_fd(fd);
	err = errno;
	close(fd);
	errno = err;
	return text;
}

/* In one write(), as kernel files want it; 0 or an errno. */
int write_file(const char *path, const char *text)
{
	int err = 0, fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);

	if (fd < 0)
		return errno;
	if (write(fd, text, strlen(text)) < 0)
		err = errno;
	if (close(fd) < 0 && !err)
		err = errno;
	return err;
}

/*
 * What is written has another name until it is whole, if it is a plain file. Whatever else
 * has the name, a device, a pipe or a link, stays what it is and is written to.
 */
static char *unfinished;	/* that name: one at a time */

static void drop_unfinished(void)
{
	if (unfinished)
		unlink(unfinished);
	free(unfinished);
	unfinished = NULL;
}

static void __noreturn die_creating(const char *path)
{
	die(EX_CANTCREAT, "%s: %s", path, strerror(errno));
}

/* For whom the old file was, the new one is: a recording tells what a program does. */
static mode_t take_over(int fd, const struct stat *old)
{
	if (fchown(fd, old->st_uid, old->st_gid))
		return old->st_mode & 0700;
	return old->st_mode & 0777;
}

static mode_t mode_of_new(void)
{
	mode_t mask = umask(0);

	umask(mask);
	return 0666 & ~mask;
}

static FILE *open_unfinished(const char *path, const struct stat *old)
{
	char *name = xasprintf("%s.XXXXXX.tmp", path);
	int fd = mkostemps(name, strlen(".tmp"), O_CLOEXEC);
	FILE *out;

	if (fd < 0)
		die_creating(path);
	unfinished = name;
	out = fdopen(fd, "w");
	if (!out)
		die_creating(path);
	/* where there is no such thing as a mode, there is nothing to be said either */
	fchmod(fd, old ? take_over(fd, old) : mode_of_new());
	return out;
}

/* "-" is stdout. */
FILE *open_output(const char *path)
{
	struct stat old;
	FILE *out;

	if (!strcmp(path, "-"))
		return stdout;
	if (lstat(path, &old))
		return open_unfinished(path, NULL);
	if (S_ISREG(old.st_mode) && !access(path, W_OK))
		return open_unfinished(path, &old);
	out = fopen(path, "we");
	if (!out)
		die_creating(path);
	return out;
}

/*
 * Dies where open_output() would, before what takes long. Nothing is changed, and no reader of
 * a pipe is waited for.
 */
void check_output(const char *path)
{
	struct stat st;

	if (!strcmp(path, "-"))
		return;
	if (lstat(path, &st) || (S_ISREG(st.st_mode) && !access(path, W_OK))) {
		fclose(open_unfinished(path, NULL));
		drop_unfinished();
		return;
	}
	if (stat(path, &st))
		return;		/* a link to what is not there yet */
	errno = S_ISDIR(st.st_mode) ? EISDIR : 0;
	if (errno || access(path, W_OK))
		die_creating(path);
}

void close_output(FILE *out, const char *path)
{
	char *name = unfinished;
	bool bad;

	if (out == stdout) {
		close_stdout();
		return;
	}
	errno = 0;
	/* fclose() forgets what went wrong before it */
	bad = ferror(out);
	if (fclose(out) || bad)
		die(EX_IOERR, "%s: %s", path, strerror(errno ? errno : EIO));
	unfinished = NULL;
	if (name && rename(name, path))
		die(EX_CANTCREAT, "%s: %s; it is whole, but called %s", path, strerror(errno),
		    name);
	free(name);
}

/* To be called before the end: what was printed is out, or that is an error. */
void close_stdout(void)
{
	errno = 0;
	if (fflush(stdout) || ferror(stdout))
		die(EX_IOERR, "cannot write the output: %s", strerror(errno ? errno : EIO));
}

/* ---- numbers --------------------------------------------------------- */

/* Digits and nothing else. */
bool parse_u64(const char *text, uint64_t *value)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*value = strtoull(text, &end, 10);
	return !errno && !*end;
}

pid_t parse_pid(const char *text)
{
	uint64_t pid;

	if (!parse_u64(text, &pid) || !pid)
		die(EX_USAGE, "%s: must be the number of a process", text);
	if (pid > INT32_MAX)
		die(EX_NOINPUT, "no process %s", text);
	return pid;
}

static bool parse_suffix(const char *text, double *scale)
{
	static const char units[] = "KMGT";
	const char *unit;

	*scale = 1;
	if (!*text)
		return true;
	unit = strchr(units, *text & ~0x20);
	if (!unit || !*unit)	/* a blank would be the end of units */
		return false;
	*scale = ldexp(1, 10 * (unit - units + 1));
	return !text[1] || !strcmp(text + 1, "iB");
}

/* A plain number, and only one: no sign, no hexadecimal, no "nan". */
static bool parse_decimal(const char *text, double *value, const char **rest)
{
	size_t length = strspn(text, "0123456789.");
	char *end;

	if (!length || *text == '.')
		return false;
	*value = strtod(text, &end);
	*rest = text + length;
	return end == *rest;
}

/* Bytes, or with a suffix: 64M, 1.5G, 256MiB. */
bool parse_bytes(const char *text, uint64_t *bytes)
{
	double number, scale;
	const char *rest;

	if (!parse_decimal(text, &number, &rest) || !parse_suffix(rest, &scale))
		return false;
	if (number * scale >= ldexp(1, 62))
		return false;
	*bytes = (uint64_t)(number * scale);
	return true;
}

bool parse_percent(const char *text, double *percent)
{
	const char *rest;

	if (!parse_decimal(text, percent, &rest))
		return false;
	return (!*rest || !strcmp(rest, "%")) && *percent <= 100;
}

const char *human_bytes(uint64_t bytes, char *buf, size_t size)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB" };
	double value = bytes;
	size_t unit = 0;

	while (value >= 1024 && unit + 1 < ARRAY_SIZE(units)) {
		value /= 1024;
		unit++;
	}
	snprintf(buf, size, "%.*f %s", unit && value < 99.95 ? 1 : 0, value, units[unit]);
	return buf;
}

const char *human_count(double count, char *buf, size_t size)
{
	static const char units[] = " kMGTPE";
	size_t unit = 0;

	while (count >= 9999.5 && unit + 1 < sizeof(units) - 1) {
		count /= 1000;
		unit++;
	}
	if (unit)
		snprintf(buf, size, "%.*f %c", count < 99.95 ? 1 : 0, count, units[unit]);
	else
		snprintf(buf, size, "%.0f", count);
	return buf;
}

/* ---- time ------------------------------------------------------------ */

double seconds_now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

/* ---- text ------------------------------------------------------------ */

/* Length of the UTF-8 sequence at the start of text, 0 when it is none. */
static size_t utf8_length(const unsigned char *text)
{
	size_t i, length = *text < 0x80 ? 1 : *text >= 0xf0 ? 4 : *text >= 0xe0 ? 3 : 2;
	uint32_t code = length == 1 ? *text : *text & (0xff >> (length + 1));
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };

	if ((*text >= 0x80 && *text < 0xc2) || *text > 0xf4)
		return 0;
	for (i = 1; i < length; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (text[i] & 0x3f);
	}
	if (code < least[length] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
		return 0;
	return length;
}

static void make_printable(char *text)
{
	char *out = text;
	size_t length;

	while (*text) {
		length = utf8_length((const unsigned char *)text);
		if (length > 1 && !((unsigned char)*text == 0xc2 &&
				    (unsigned char)text[1] < 0xa0)) {
			memmove(out, text, length);
			out += length;
		} else {
			*out++ = length == 1 && *text >= ' ' && *text < 0x7f ? *text : '?';
		}
		text += length ? length : 1;
	}
	*out = '\0';
}

/*
 * Names come from programs that are watched, perhaps hostile ones: nothing in
 * them may move our terminal's cursor. A new string, to be freed.
 */
char *printable(const char *text)
{
	char *new = xdup(text);

	make_printable(new);
	return new;
}

/*
 * As a shell takes it, for commands that we name: to be freed. What a terminal must not get is
 * in $'', which not all shells know.
 */
char *shell_word(const char *text)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "_./:@%+=,-";
	char *clean = printable(text), *new, *out;
	bool dollar = strcmp(clean, text);

	free(clean);
	if (*text && !text[strspn(text, plain)])
		return xdup(text);
	new = xalloc(4 * strlen(text) + sizeof("$''"));
	out = stpcpy(new, dollar ? "$'" : "'");
	for (; *text; text++) {
		unsigned char c = *text;

		if (dollar && (c < ' ' || c >= 0x7f))
			out += sprintf(out, "\\%03o", c);
		else if (dollar && strchr("'\\", c))
			out += sprintf(out, "\\%c", c);
		else if (c == '\'')
			out = stpcpy(out, "'\\''");
		else
			*out++ = c;
	}
	strcpy(out, "'");
	return new;
}

/*
 * The text in UTF-8, to be freed. A byte that is none becomes //xff: as no name of a file or
 * cgroup has an empty part, names that differ still do.
 */
char *as_utf8(const char *text)
{
	char *new = xalloc(5 * strlen(text) + 1), *out = new;
	size_t length;

	while (*text) {
		length = utf8_length((const unsigned char *)text);
		if (length)
			out = mempcpy(out, text, length);
		else
			out += sprintf(out, "//x%02x", (unsigned char)*text);
		text += length ? length : 1;
	}
	return new;
}

/* ---- the terminal ---------------------------------------------------- */

static int environment_number(const char *name, int fallback)
{
	const char *text = getenv(name);
	uint64_t value;

	if (!text || !parse_u64(text, &value) || value < 1 || value > 10000)
		return fallback;
	return value;
}

void terminal_size(int *columns, int *lines)
{
	struct winsize size = { 0 };

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && ioctl(STDERR_FILENO, TIOCGWINSZ, &size))
		size.ws_col = 0;
	*columns = size.ws_col ? size.ws_col : environment_number("COLUMNS", 80);
	*lines = size.ws_row ? size.ws_row : environment_number("LINES", 24);
}

bool terminal_is_utf8(void)
{
	return !strcmp(nl_langinfo(CODESET), "UTF-8");
}

/* ---- options --------------------------------------------------------- */

/* getopt_long(), with --help and mistakes dealt with. */
int next_option(const struct command *cmd, int argc, char **argv,
		const char *shorts, const struct option *longs)
{
	int option = getopt_long(argc, argv, shorts, longs, NULL);

	if (option == 'h') {
		fputs(cmd->help, stdout);
		close_stdout();
		exit(EX_OK);
	}
	if (option == '?' || option == ':')
		exit(EX_USAGE);	/* getopt_long() has said what is wrong */
	return option;
}

/*
 * Only what stands behind "--" is a command. Where there is one, options end at
 * the first word that is none; else they may come last as well.
 */
const char *short_options(char **argv, const char *shorts)
{
	while (*argv && strcmp(*argv, "--"))
		argv++;
	return *argv ? shorts : shorts + 1;
}

bool is_command(char **argv)
{
	return argv[optind] && !strcmp(argv[optind - 1], "--");
}

unsigned int option_number(const char *name, const char *text,
			   unsigned int min, unsigned int max)
{
	uint64_t value;

	if (!parse_u64(text, &value) || value < min || value > max)
		die(EX_USAGE, "%s %s: must be a number from %u to %u", name, text, min, max);
	return value;
}

/* ---- JSON ------------------------------------------------------------ */

json_t *json_text(const char *text)
{
	char *clean;
	json_t *value = json_string(text);

	if (value)
		return value;
	clean = as_utf8(text);
	value = json_string(clean);
	free(clean);
	return value;
}

json_t *json_u64(uint64_t value)
{
	return json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value);
}

json_t *json_number_or_text(const char *text)
{
	uint64_t value;

	return parse_u64(text, &value) ? json_u64(value) : json_text(text);
}

void print_json(FILE *out, json_t *value)
{
	int failed = json_dumpf(value, out, JSON_INDENT(2) | JSON_REAL_PRECISION(10));
	int err = errno;

	json_decref(value);
	if (failed)
		die(EX_IOERR, "cannot write the output: %s", strerror(err));
	fputc('\n', out);
}
