// SPDX-License-Identifier: GPL-2.0
/*
 * Track a cgroup or processes, or run a command in a tracked cgroup of its own.
 *
 * A cgroup keeps its curve until it is removed, a session until it is closed:
 * so the curve is read when the programs have ended.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "pathctl.h"

struct track_options {
	const char *name;
	bool has_limit, keep;
	uint64_t limit;
	unsigned int seconds;
	struct size_question question;
	struct report report;
};

struct run {
	const struct track_options *options;
	char **argv;
	struct watch watch;
	bool made;
	bool ran;		/* then there is a curve */
	int status;		/* of its exit, or 128 and the signal */
};

static struct run *running;	/* for what must be undone when we die */

/* ---- the cgroup --------------------------------------------------------- */

/* Children of this cgroup have memory.* files, perhaps from now on. */
static bool hands_on_memory(const struct cgroup *cgroup)
{
	char *text = cgroup_read(cgroup, "cgroup.subtree_control");
	bool has = text && strstr(text, "memory");

	free(text);
	return has || !cgroup_write(cgroup, "cgroup.subtree_control", "+memory");
}

static void to_parent(struct cgroup *cgroup)
{
	char *slash = strrchr(cgroup->name, '/'), *name = cgroup->name;

	if (slash)
		*slash = '\0';
	else
		*name = '\0';
	free(cgroup->dir);
	cgroup_set(cgroup, name);
	free(name);
}

/* The nearest cgroup, from ours upwards, in which ours can be made. */
static void find_parent(struct cgroup *parent)
{
	cgroup_require_root();
	cgroup_of_pid(parent, "self");
	for (;;) {
		if (!access(parent->dir, W_OK) && hands_on_memory(parent))
			return;
		if (cgroup_is_root(parent))
			break;
		to_parent(parent);
	}
	die(EX_NOPERM,
	    "no cgroup above this process may be used: run as root, or in systemd-run --user --scope -p Delegate=yes");
}

static void make_cgroup(struct run *run)
{
	struct cgroup parent;
	char *name;

	find_parent(&parent);
	name = run->options->name ?
	       xasprintf("%s/%s", parent.name, run->options->name) :
	       xasprintf("%s/pathctl-%d", parent.name, getpid());
	cgroup_set(&run->watch.cgroup, name);
	if (!mkdir(run->watch.cgroup.dir, 0755))
		run->made = true;
	else if (errno != EEXIST || !run->options->name)
		die(EX_CANTCREAT, "cannot make cgroup %s: %s", run->watch.cgroup.dir, strerror(errno));
	free(name);
	cgroup_free(&parent);
}

/* A cgroup of dead processes may be busy for a moment. */
static bool remove_cgroup(const struct run *run)
{
	const struct timespec moment = { .tv_nsec = 20 * 1000 * 1000 };
	int tries;

	for (tries = 0; tries < 50; tries++) {
		if (!rmdir(run->watch.cgroup.dir))
			return true;
		if (errno != EBUSY)
			return false;
		nanosleep(&moment, NULL);
	}
	return false;
}

static void undo(void)
{
	before_dying = NULL;
	if (running && running->made && !(running->ran && running->options->keep))
		remove_cgroup(running);
}

static void set_or_die(const struct cgroup *cgroup, const char *file, const char *value)
{
	int err = cgroup_write(cgroup, file, value);

	if (err)
		cgroup_die(cgroup, file, err);
}

static void set_up_cgroup(struct run *run)
{
	char limit[32];

	make_cgroup(run);
	running = run;
	before_dying = undo;
	if (run->options->has_limit) {
		snprintf(limit, sizeof(limit), "%llu", (unsigned long long)run->options->limit);
		set_or_die(&run->watch.cgroup, "memory.max", limit);
	}
	set_or_die(&run->watch.cgroup, "memory.path.track", "1");
	tracking_switch_on();
}

/* ---- the command -------------------------------------------------------- */

static bool has_context(const struct cgroup *cgroup)
{
	struct keyed stat;
	bool has = !cgroup_keyed(cgroup, "memory.path.stat", &stat) ||
		   keyed_u64(&stat, "contexts", 1);

	keyed_free(&stat);
	return has;
}

/*
 * The kernel follows who moves a moment later. Who executes a program meanwhile
 * may be lost until the next epoch, so wait for it.
 */
static int enter_cgroup(void *cgroup)
{
	const struct timespec moment = { .tv_nsec = 2 * 1000 * 1000 };
	int tries, err = cgroup_write(cgroup, "cgroup.procs", "0");

	for (tries = 0; !err && tries < 250 && !has_context(cgroup); tries++)
		nanosleep(&moment, NULL);
	return err;
}

static void run_command(struct run *run)
{
	struct span span;
	int err;

	span_start(&span, 0);
	span.command = command_start(run->argv, enter_cgroup, &run->watch.cgroup, &err);
	if (err)
		cgroup_die(&run->watch.cgroup, "cgroup.procs", err);
	run->ran = true;
	span_add(&span, span.command);
	watch_start(&run->watch);
	while (span_wait(&span, watch_pause(&run->watch)))
		watch_look(&run->watch);
	run->status = command_wait(span.command);
	watch_end(&run->watch);
	span_end(&span);
}

/* ---- telling ------------------------------------------------------------- */

static void tell(struct run *run)
{
	struct report report = run->options->report;
	char *first = xasprintf("\n%s: exit status %d after %.1f s", run->argv[0],
				run->status, run->watch.seconds);

	report.name = run->argv[0];
	report.first = first;
	report.about = json_pack("{s:o, s:i, s:o}", "command", command_json(run->argv),
				 "exit_status", run->status,
				 "cgroup", json_text(run->watch.cgroup.name));
	watch_tell(&run->watch, &report, stderr);
	free(first);
}

static void put_away(struct run *run)
{
	char *name = shell_word(run->watch.cgroup.name), *dir = shell_word(run->watch.cgroup.dir);

	before_dying = NULL;
	running = NULL;
	if (run->made && !run->options->keep && !remove_cgroup(run))
		note("cgroup %s is kept, something still runs in it: pathctl mrc %s, later rmdir %s",
		     run->watch.cgroup.name, name, dir);
	free(dir);
	free(name);
	watch_free(&run->watch);
}

static int track_command(const struct track_options *options, char **argv)
{
	struct run run = { .options = options, .argv = argv };

	sysfs_require();
	report_check(&options->report);
	set_up_cgroup(&run);
	run_command(&run);
	tell(&run);
	put_away(&run);
	return run.status;
}

/* ---- processes -------------------------------------------------------------- */

static void tell_of_pids(struct watch *watch, const struct track_options *options,
			 const struct span *span)
{
	struct report report = options->report;
	char *first = xasprintf("%s: watched for %.1f s, %s", watch->cgroup.name, watch->seconds,
				span->alive ? "still there" : "ended");

	report.name = watch->cgroup.name;
	report.first = first;
	report.about = json_pack("{s:o, s:b}", "name", json_text(watch->cgroup.name),
				 "ended", !span->alive);
	watch_tell(watch, &report, stdout);
	free(first);
}

/* The session ends with us, and with it the tracking. */
static int track_pids(const struct track_options *options, char **argv, int count)
{
	struct session *session = session_open();
	struct watch watch = { 0 };
	struct span span;
	int i;

	report_check(&options->report);
	tracking_switch_on();
	for (i = 0; i < count; i++)
		session_add(session, parse_pid(argv[i]));
	span_start(&span, options->seconds);
	for (i = 0; i < count; i++)
		span_add(&span, parse_pid(argv[i]));
	session_as_cgroup(session, &watch.cgroup);
	watch_start(&watch);
	while (span_wait(&span, watch_pause(&watch)))
		watch_look(&watch);
	watch_look(&watch);
	watch_end(&watch);
	tell_of_pids(&watch, options, &span);
	span_end(&span);
	watch_free(&watch);
	session_close(session);
	return EX_OK;
}

/* ---- a cgroup that is there ----------------------------------------------- */

static int track_cgroup(char **argv, int count)
{
	struct cgroup cgroup;
	bool on = count > 1 && !strcmp(argv[1], "on");

	if (count > 2 || (count == 2 && !on && strcmp(argv[1], "off")))
		die(EX_USAGE, "pathctl track CGROUP [on|off], or pathctl track -- COMMAND");
	cgroup_find(&cgroup, argv[0]);
	if (count == 1) {
		free(cgroup_read_or_die(&cgroup, "memory.path.track"));
		puts(cgroup_is_tracked(&cgroup) ? "on" : "off");
		if (cgroup_settling(&cgroup))
			note("%s is still settling", cgroup.name);
	} else {
		sysfs_require();
		set_or_die(&cgroup, "memory.path.track", on ? "1" : "0");
		if (on)
			tracking_switch_on();
	}
	cgroup_free(&cgroup);
	return EX_OK;
}

/* ---- options --------------------------------------------------------------- */

static const struct option long_options[] = {
	{ "name", required_argument, NULL, 'n' },
	{ "limit", required_argument, NULL, 'l' },
	{ "keep", no_argument, NULL, 'k' },
	{ "duration", required_argument, NULL, 'd' },
	{ "misses", required_argument, NULL, 'm' },
	{ "csv", required_argument, NULL, 'c' },
	{ "svg", required_argument, NULL, 's' },
	{ "output", required_argument, NULL, 'o' },
	{ "json", no_argument, NULL, 'j' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

static bool good_name(const char *name)
{
	return *name && !strchr(name, '/') && strcmp(name, ".") && strcmp(name, "..");
}

static void take_option(struct track_options *options, int option)
{
	switch (option) {
	case 'n':
		if (!good_name(optarg))
			die(EX_USAGE, "--name %s: must be one name, without a slash", optarg);
		options->name = optarg;
		break;
	case 'l':
		if (!parse_bytes(optarg, &options->limit))
			die(EX_USAGE, "--limit %s: must be bytes, or a size like 64M", optarg);
		options->has_limit = true;
		break;
	case 'k':
		options->keep = true;
		break;
	case 'd':
		options->seconds = option_number("--duration", optarg, 1, 1000000);
		break;
	default:
		report_option(&options->report, &options->question, option);
	}
}

static void options_for_pids(struct track_options *options)
{
	if (options->name || options->has_limit || options->keep)
		die(EX_USAGE,
		    "--name, --limit and --keep are for a command: pathctl track -- COMMAND");
	if (!options->question.has_percent)
		size_parse_misses(&options->question, DEFAULT_MISSES);
	options->report.question = &options->question;
}

static void options_for_command(struct track_options *options)
{
	if (options->seconds)
		die(EX_USAGE, "--duration is for processes: a command is tracked until it ends");
	if (options->question.has_percent)
		options->report.question = &options->question;
}

static int run(const struct command *cmd, int argc, char **argv)
{
	struct track_options options = { .question = { .delta = SIZE_DELTA } };
	int option;

	while ((option = next_option(cmd, argc, argv, short_options(argv, "+hn:o:d:"),
				     long_options)) != -1)
		take_option(&options, option);
	if (is_command(argv)) {
		options_for_command(&options);
		return track_command(&options, argv + optind);
	}
	if (optind == argc)
		die(EX_USAGE, "track what? pathctl track PID, CGROUP on, or -- COMMAND");
	if (names_only_a_pid(argv[optind])) {
		options_for_pids(&options);
		return track_pids(&options, argv + optind, argc - optind);
	}
	if (optind > 1)
		die(EX_USAGE,
		    "options are for processes and commands: pathctl track [option...] -- COMMAND");
	return track_cgroup(argv + optind, argc - optind);
}

const struct command cmd_track = {
	.name = "track",
	.summary = "track a process or a cgroup, or run a command tracked",
	.help = "usage: pathctl track CGROUP [on|off]\n"
		"       pathctl track [option...] PID...\n"
		"       pathctl track [option...] -- COMMAND [argument...]\n\n"
		"CGROUP: switch tracking of a cgroup on or off, or tell which it is. Off discards\n"
		"the curve.\n"
		"PID: track processes, and children they fork meanwhile, until they end, ^C, or\n"
		"for some seconds. Then show their regions, their curve, and how much memory is\n"
		"enough. Their cgroups do not matter.\n"
		"COMMAND: run it tracked in a cgroup of its own. Then show its regions and its\n"
		"curve, on stderr. pathctl exits with its status. As root, tracking is switched\n"
		"on for the machine if it was off (pathctl off undoes that).\n\n"
		"A program is still settling in its first two epochs: the cost of tracking and\n"
		"the curve say little yet.\n\n"
		"  -o, --output F   write the summary there (- is stdout)\n"
		"  --json           the summary as JSON\n"
		"  --csv F, --svg F write the curve as well\n"
		"  --misses P%      how much memory for at most P % of the misses (processes: 5%)\n\n"
		"For processes:\n"
		"  -d, --duration S seconds\n\n"
		"For a command:\n"
		"  -n, --name N     name of the cgroup; one that exists is used, and kept\n"
		"  --limit SIZE     set memory.max (bytes, or 64M)\n"
		"  --keep           keep the cgroup and its curve; remove it with rmdir\n",
	.run = run,
};
