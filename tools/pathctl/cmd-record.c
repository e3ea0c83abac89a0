// SPDX-License-Identifier: GPL-2.0
/*
 * Write the page accesses of programs to a file.
 */
#include <errno.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "log.h"
#include "pathctl.h"

#define PAUSE_MS 5		/* in which 65536 accesses do not happen */
#define LOOKS_PER_SECOND 10
#define MOST_EVENTS 65536	/* what the kernel keeps for us */

struct record_options {
	const char *output;
	unsigned int seconds;
	bool json;
};

struct recording {
	const struct record_options *options;
	struct session *session;
	struct cgroup views;	/* of the session */
	struct cgroup cgroup;	/* whose processes are recorded, if it has a name */
	struct log_writer log;
	struct mmpath_event *events;
	uint64_t dropped;	/* by the driver: they never came to the recording */
	struct log_end end;
	bool started;
	size_t missing;
	double next_look, seconds;
};

/* ---- what the kernel has ------------------------------------------------- */

/* True when there may be more at once. */
static bool collect(struct recording *rec)
{
	ssize_t got = read(session_fd(rec->session), rec->events,
			   MOST_EVENTS * sizeof(*rec->events));

	if (got < 0 && errno != EAGAIN && errno != EINTR)
		die(EX_IOERR, "cannot read what was recorded: %s", strerror(errno));
	if (got <= 0)
		return false;
	log_write(&rec->log, rec->events, got / sizeof(*rec->events));
	return got == MOST_EVENTS * sizeof(*rec->events);
}

/* False when nothing is tracked any more. */
static bool look_at_stat(struct recording *rec)
{
	struct keyed stat;
	unsigned int shift;
	uint64_t dropped;
	bool alive;

	if (!cgroup_keyed(&rec->views, "memory.path.stat", &stat))
		die(exit_status_of(errno), "cannot read the statistics: %s", strerror(errno));
	dropped = keyed_u64(&stat, "dropped_log_full", 0);
	shift = keyed_u64(&stat, "sample_shift", 0);
	alive = keyed_u64(&stat, "contexts", 0);
	if (dropped > rec->dropped)
		log_write_lost(&rec->log, dropped - rec->dropped);
	rec->dropped = dropped;
	if (shift > rec->end.sample_shift)
		rec->end.sample_shift = shift;
	keyed_free(&stat);
	return alive;
}

/* The driver may only report a page again when others were touched since. */
static void look_at_reach(struct recording *rec)
{
	struct curve curve;

	if (!curve_try_read(&curve, &rec->views))
		return;
	rec->end.resolved_from = curve.resolved_from;
	curve_free(&curve);
}

/* ---- the processes of a cgroup ------------------------------------------- */

static void track_member(struct recording *rec, pid_t pid)
{
	int err = session_track(rec->session, pid);

	if (!err || err == ESRCH)
		return;
	if (!rec->started)
		session_die(pid, err);
	/* what was recorded until now is worth more than this newcomer */
	if (!rec->missing++)
		note("process %d is not recorded: %s", pid, strerror(err));
}

/* Of these only that they are there is known: pathctl may run in a container. */
static void miss_outsider(struct recording *rec)
{
	if (!rec->started)
		die(EX_NOPERM, "cgroup %s has a process of another PID namespace: record from there",
		    rec->cgroup.name);
	if (!rec->missing++)
		note("a process of another PID namespace is not recorded");
}

static void track_members(struct recording *rec, const char *dir)
{
	char *path = xasprintf("%s/cgroup.procs", dir);
	char *text = read_file(path), *rest = text, *line;

	while (rest && (line = strsep(&rest, "\n")))
		if (!strcmp(line, "0"))
			miss_outsider(rec);
		else if (*line)
			track_member(rec, parse_pid(line));
	free(text);
	free(path);
}

/* Also of those below it; those that are tracked already stay so. */
static void track_all_members(struct recording *rec)
{
	char *dirs[] = { rec->cgroup.dir, NULL };
	FTS *fts = fts_open(dirs, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);
	FTSENT *entry;

	if (!fts)
		die(EX_IOERR, "%s: %s", rec->cgroup.dir, strerror(errno));
	while ((entry = fts_read(fts)))
		if (entry->fts_info == FTS_D)
			track_members(rec, entry->fts_path);
	fts_close(fts);
}

/* ---- from start to end --------------------------------------------------- */

static struct log_header header_now(void)
{
	struct log_header header = { .page_bytes = sysconf(_SC_PAGESIZE) };
	size_t count, in_use;
	char **names = driver_list(&count, &in_use);
	struct timespec time;

	if (in_use < count)
		snprintf(header.driver, sizeof(header.driver), "%s", names[in_use]);
	free_list(names, count);
	clock_gettime(CLOCK_REALTIME, &time);
	header.started_ns = time.tv_sec * 1000000000ULL + time.tv_nsec;
	return header;
}

static void record_open(struct recording *rec, const struct record_options *options)
{
	memset(rec, 0, sizeof(*rec));
	rec->options = options;
	rec->session = session_open();
	session_record(rec->session);
	tracking_switch_on();
	rec->events = xalloc(MOST_EVENTS * sizeof(*rec->events));
}

/* Before signals are blocked: who opens a pipe waits for its reader. */
static void record_start(struct recording *rec)
{
	struct log_header header = header_now();
	struct keyed stat;

	session_as_cgroup(rec->session, &rec->views);
	/* somebody else may track them, and have lost some, already */
	cgroup_keyed(&rec->views, "memory.path.stat", &stat);
	rec->dropped = keyed_u64(&stat, "dropped_log_full", 0);
	keyed_free(&stat);
	log_create(&rec->log, rec->options->output, &header);
}

static bool look(struct recording *rec)
{
	if (rec->cgroup.name)
		track_all_members(rec);
	rec->next_look = seconds_now() + 1.0 / LOOKS_PER_SECOND;
	/* a cgroup that is empty gets no more */
	return look_at_stat(rec) || !rec->cgroup.name;
}

static void record_until(struct recording *rec, struct span *span)
{
	double start = seconds_now();
	bool more = true;

	rec->started = true;
	while (more && span_wait(span, PAUSE_MS)) {
		while (collect(rec))
			;
		if (seconds_now() >= rec->next_look)
			more = look(rec);
	}
	while (collect(rec))
		;
	look_at_stat(rec);
	look_at_reach(rec);
	rec->seconds = seconds_now() - start;
}

static void tell(const struct recording *rec, FILE *out, const struct log_sum *sum)
{
	char *text = log_sum_text(sum);
	json_t *object;

	if (rec->options->json) {
		object = log_sum_json(rec->options->output, sum);
		json_object_set_new(object, "seconds", json_real(rec->seconds));
		print_json(out, object);
	} else {
		fprintf(out, "%s: %s, in %.1f s\n", rec->options->output, text, rec->seconds);
		log_sum_note(sum);
	}
	free(text);
}

static void record_end(struct recording *rec, FILE *out)
{
	session_close(rec->session);
	log_finish(&rec->log, &rec->end);
	tell(rec, strcmp(rec->options->output, "-") ? out : stderr, &rec->log.sum);
	log_sum_free(&rec->log.sum);
	cgroup_free(&rec->views);
	cgroup_free(&rec->cgroup);
	free(rec->events);
}

/* ---- of what ------------------------------------------------------------- */

static int record_pids(const struct record_options *options, char **argv, int count)
{
	struct recording rec;
	struct span span;
	int i;

	record_open(&rec, options);
	for (i = 0; i < count; i++)
		session_add(rec.session, parse_pid(argv[i]));
	record_start(&rec);
	span_start(&span, options->seconds);
	for (i = 0; i < count; i++)
		span_add(&span, parse_pid(argv[i]));
	record_until(&rec, &span);
	record_end(&rec, stdout);
	span_end(&span);
	return EX_OK;
}

static int record_cgroup(const struct record_options *options, const char *name)
{
	struct recording rec;
	struct cgroup cgroup;
	struct span span;

	cgroup_find(&cgroup, name);
	record_open(&rec, options);
	rec.cgroup = cgroup;
	track_all_members(&rec);
	record_start(&rec);
	span_start(&span, options->seconds);
	record_until(&rec, &span);
	record_end(&rec, stdout);
	span_end(&span);
	return EX_OK;
}

/* In the child. A recording on stdout has that for itself. */
static int enter_session(void *recording)
{
	const struct recording *rec = recording;

	if (!strcmp(rec->options->output, "-") && dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		return errno;
	return session_track(rec->session, getpid());
}

/* The command runs on when recording it is over. */
static int record_command(const struct record_options *options, char **argv)
{
	struct recording rec;
	struct span span;
	int err, status;

	record_open(&rec, options);
	record_start(&rec);
	span_start(&span, options->seconds);
	span.command = command_start(argv, enter_session, &rec, &err);
	if (err)
		session_die(getpid(), err);
	span_add(&span, span.command);
	record_until(&rec, &span);
	record_end(&rec, stderr);
	status = command_wait(span.command);
	span_end(&span);
	return status;
}

/* ---- options ------------------------------------------------------------- */

static const struct option long_options[] = {
	{ "output", required_argument, NULL, 'o' },
	{ "duration", required_argument, NULL, 'd' },
	{ "json", no_argument, NULL, 'j' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

static void take_option(struct record_options *options, int option)
{
	switch (option) {
	case 'o':
		options->output = optarg;
		break;
	case 'd':
		options->seconds = option_number("--duration", optarg, 1, 1000000);
		break;
	case 'j':
		options->json = true;
		break;
	}
}

static int run(const struct command *cmd, int argc, char **argv)
{
	struct record_options options = { .output = "path.log.zst" };
	int option;

	while ((option = next_option(cmd, argc, argv, short_options(argv, "+ho:d:"),
				     long_options)) != -1)
		take_option(&options, option);
	if (optind == argc)
		die(EX_USAGE, "record what? pathctl record PID, CGROUP, or -- COMMAND");
	if (!strcmp(options.output, "-") && isatty(STDOUT_FILENO))
		die(EX_USAGE, "a recording is nothing for a terminal: -o FILE");
	if (is_command(argv))
		return record_command(&options, argv + optind);
	if (names_only_a_pid(argv[optind]))
		return record_pids(&options, argv + optind, argc - optind);
	if (argc - optind != 1)
		die(EX_USAGE, "one cgroup at a time: pathctl record CGROUP");
	return record_cgroup(&options, argv[optind]);
}

const struct command cmd_record = {
	.name = "record",
	.summary = "write page accesses to a file",
	.help = "usage: pathctl record [option...] PID...\n"
		"       pathctl record [option...] CGROUP\n"
		"       pathctl record [option...] -- COMMAND [argument...]\n\n"
		"Records, in order, every page access that the driver reports of processes and of\n"
		"children they fork meanwhile, until they end, or ^C. Says how many accesses were\n"
		"lost. An exact recording needs \"pathctl driver emul overhead_target=0\" before,\n"
		"else pages are sampled. If accesses are lost, set log_entries=65536 as well.\n"
		"Needs the rights of a debugger, because a recording tells what a program does.\n\n"
		"  -o, --output F   the file (path.log.zst; - is stdout, and that of a command is\n"
		"                   stderr then); compressed if its name ends in .zst\n"
		"  -d, --duration S seconds; a command runs on afterwards\n"
		"  --json           what was recorded, for programs\n\n"
		"Documentation/admin-guide/mm/path/log-format.rst describes the file.\n",
	.run = run,
};
