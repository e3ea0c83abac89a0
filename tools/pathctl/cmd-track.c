// SPDX-License-Identifier: GPL-2.0
/*
 * Track a cgroup, or run a command in a tracked cgroup of its own.
 *
 * A cgroup keeps its curve until it is removed, so the curve is read when the
 * command has ended.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pathctl.h"

struct track_options {
	const char *name;
	bool has_limit, keep;
	uint64_t limit;
	struct report report;
};

struct run {
	const struct track_options *options;
	char **argv;
	struct watch watch;
	bool made;
	pid_t child;
	int status;		/* as waitpid() gives it */
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
		if (!*parent->name)
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
	if (running && running->made)
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

struct failure {
	int err;
	bool moving;	/* into the cgroup, else executing */
};

static void forward(int number)
{
	if (running && running->child > 0)
		kill(running->child, number);
}

/* ^C is for the command; we live on to tell what happened. */
static void arrange_signals(bool child)
{
	struct sigaction ignore = { .sa_handler = child ? SIG_DFL : SIG_IGN };
	struct sigaction pass_on = { .sa_handler = child ? SIG_DFL : forward,
				     .sa_flags = SA_RESTART };

	sigaction(SIGINT, &ignore, NULL);
	sigaction(SIGQUIT, &ignore, NULL);
	sigaction(SIGTERM, &pass_on, NULL);
	sigaction(SIGHUP, &pass_on, NULL);
}

static void become_command(const struct run *run, int report)
{
	struct failure failure = { .moving = true };
	ssize_t ignored;

	failure.err = cgroup_write(&run->watch.cgroup, "cgroup.procs", "0");
	if (!failure.err) {
		arrange_signals(true);
		execvp(run->argv[0], run->argv);
		failure = (struct failure){ .err = errno };
	}
	ignored = write(report, &failure, sizeof(failure));
	(void)ignored;
	_exit(127);
}

static void start_command(struct run *run)
{
	struct failure failure;
	ssize_t got;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		die(EX_OSERR, "pipe: %s", strerror(errno));
	run->child = fork();
	if (run->child < 0)
		die(EX_OSERR, "fork: %s", strerror(errno));
	if (!run->child)
		become_command(run, ends[1]);
	arrange_signals(false);
	close(ends[1]);
	got = read(ends[0], &failure, sizeof(failure));
	close(ends[0]);
	if (got != sizeof(failure))
		return;
	waitpid(run->child, NULL, 0);
	if (failure.moving)
		cgroup_die(&run->watch.cgroup, "cgroup.procs", failure.err);
	die(failure.err == ENOENT ? 127 : 126, "%s: %s", run->argv[0], strerror(failure.err));
}

/* ---- looking while it runs ---------------------------------------------- */

static void watch_command(struct run *run)
{
	struct pollfd ended = { .fd = pidfd_open(run->child, 0), .events = POLLIN };

	watch_start(&run->watch);
	while (ended.fd >= 0 && poll(&ended, 1, watch_pause(&run->watch)) <= 0)
		watch_look(&run->watch);
	while (waitpid(run->child, &run->status, 0) < 0 && errno == EINTR)
		;
	watch_end(&run->watch);
	run->child = 0;
	if (ended.fd >= 0)
		close(ended.fd);
}

/* ---- telling ------------------------------------------------------------- */

static int exit_status(const struct run *run)
{
	if (WIFSIGNALED(run->status))
		return 128 + WTERMSIG(run->status);
	return WEXITSTATUS(run->status);
}

static json_t *command_json(const struct run *run)
{
	json_t *array = json_array();
	size_t i;

	for (i = 0; run->argv[i]; i++)
		json_array_append_new(array, json_text(run->argv[i]));
	return array;
}

static void tell(struct run *run)
{
	struct report report = run->options->report;
	char *first = xasprintf("\n%s: exit status %d after %.1f s", run->argv[0],
				exit_status(run), run->watch.seconds);

	report.name = run->argv[0];
	report.first = first;
	report.about = json_pack("{s:o, s:i, s:o}", "command", command_json(run),
				 "exit_status", exit_status(run),
				 "cgroup", json_text(run->watch.cgroup.name));
	watch_tell(&run->watch, &report, stderr);
	free(first);
}

static void put_away(struct run *run)
{
	before_dying = NULL;
	running = NULL;
	if (run->made && !run->options->keep && !remove_cgroup(run))
		note("cgroup %s is kept, something still runs in it: pathctl mrc %s, later rmdir %s",
		     run->watch.cgroup.name, run->watch.cgroup.name, run->watch.cgroup.dir);
	watch_free(&run->watch);
}

static int track_command(const struct track_options *options, char **argv)
{
	struct run run = { .options = options, .argv = argv };

	sysfs_require();
	set_up_cgroup(&run);
	start_command(&run);
	watch_command(&run);
	tell(&run);
	put_away(&run);
	return exit_status(&run);
}

/* ---- a cgroup that is there ----------------------------------------------- */

static bool names_only_a_pid(const char *argument)
{
	char *dir = xasprintf("%s/%s", cgroup_root(), argument);
	bool is_pid = is_number(argument) && !is_directory(dir);

	free(dir);
	return is_pid;
}

/* A process is tracked through its cgroup: say which one that is. */
static void refuse_pid(const char *pid)
{
	struct cgroup cgroup;

	cgroup_require_root();
	cgroup_of_pid(&cgroup, pid);
	if (*cgroup.name)
		die(EX_UNAVAILABLE, "process %s is tracked through its cgroup: pathctl track %s on",
		    pid, cgroup.name);
	die(EX_UNAVAILABLE,
	    "process %s is in the root cgroup, which cannot be tracked: mkdir %s/NAME, echo %s >%s/NAME/cgroup.procs, pathctl track NAME on",
	    pid, cgroup_root(), pid, cgroup_root());
}

static int track_cgroup(char **argv, int count)
{
	struct cgroup cgroup;
	bool on = count > 1 && !strcmp(argv[1], "on");

	if (count > 2 || (count == 2 && !on && strcmp(argv[1], "off")))
		die(EX_USAGE, "pathctl track CGROUP [on|off], or pathctl track -- COMMAND");
	if (names_only_a_pid(argv[0]))
		refuse_pid(argv[0]);
	cgroup_find(&cgroup, argv[0]);
	if (count == 1) {
		free(cgroup_read_or_die(&cgroup, "memory.path.track"));
		puts(cgroup_is_tracked(&cgroup) ? "on" : "off");
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
	case 'c':
		options->report.csv = optarg;
		break;
	case 's':
		options->report.svg = optarg;
		break;
	case 'o':
		options->report.output = optarg;
		break;
	case 'j':
		options->report.json = true;
		break;
	}
}

/* Only what stands behind "--" is a command; a lone word is a cgroup. */
static bool is_command(int argc, char **argv)
{
	return optind < argc && !strcmp(argv[optind - 1], "--");
}

static int run(const struct command *cmd, int argc, char **argv)
{
	struct track_options options = { 0 };
	int option;

	while ((option = next_option(cmd, argc, argv, "+hn:o:", long_options)) != -1)
		take_option(&options, option);
	if (is_command(argc, argv))
		return track_command(&options, argv + optind);
	if (optind == argc)
		die(EX_USAGE, "track what? pathctl track CGROUP on, or pathctl track -- COMMAND");
	if (optind > 1)
		die(EX_USAGE, "options are for a command: pathctl track [option...] -- COMMAND");
	return track_cgroup(argv + optind, argc - optind);
}

const struct command cmd_track = {
	.name = "track",
	.summary = "track a cgroup, or run a command tracked",
	.help = "usage: pathctl track CGROUP [on|off]\n"
		"       pathctl track [option...] -- COMMAND [argument...]\n\n"
		"Of a cgroup: switch tracking on or off, or tell. Off discards its curve.\n"
		"Of a command: run it in a cgroup of its own, tracked, and show its regions and its\n"
		"curve afterwards, on stderr. Its exit status is handed on. As root, tracking is\n"
		"switched on for the machine if it was not (pathctl off undoes that).\n\n"
		"  -n, --name N     name of the cgroup; one that is there is used, and kept\n"
		"  --limit SIZE     set memory.max (bytes, or 64M)\n"
		"  --keep           keep the cgroup and its curve; remove it with rmdir\n"
		"  -o, --output F   write the summary there (- is stdout)\n"
		"  --json           the summary as JSON\n"
		"  --csv F, --svg F write the curve as well\n",
	.run = run,
};
