// SPDX-License-Identifier: GPL-2.0
/*
 * Feed a recording to the kernel and show the curve it gives.
 *
 * The kernel takes what a process writes as accesses of that process. So each
 * process of the recording gets a placeholder: a child of ours, tracked by one
 * session, that does nothing but write its accesses. They take turns in the
 * order of the recording, and what was written is taken in before the next
 * turn: the curve is exactly that of the recording.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "log.h"
#include "pathctl.h"

#define MOST_EVENTS 4096	/* of one turn */
#define MOST_PLACEHOLDERS 1000

struct replay_options {
	struct report report;
	struct size_question question;
	bool check;
};

struct placeholder {
	uint32_t of;		/* process of the recording */
	pid_t pid;
	int talk;
};

struct stage {
	const char *path;
	struct session *session;
	struct mmpath_event *events;	/* shared with all placeholders */
	size_t used;
	uint64_t done;
	struct placeholder *list, *turn;
	size_t count, room;	/* in the list */
};

struct answer {
	size_t done;		/* events */
	int err;
};

/* ---- a placeholder ------------------------------------------------------- */

static struct answer write_events(int fd, const struct mmpath_event *events, size_t count)
{
	struct answer answer = { 0 };

	while (answer.done < count) {
		ssize_t wrote = write(fd, events + answer.done,
				      (count - answer.done) * sizeof(*events));

		if (wrote <= 0) {
			answer.err = wrote ? errno : EIO;
			break;
		}
		answer.done += wrote / sizeof(*events);
	}
	return answer;
}

/* Maps and unmaps nothing: the kernel would forget what was replayed there. */
static void __noreturn placeholder_main(const struct stage *stage, int talk)
{
	struct answer answer;
	size_t count;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (read(talk, &count, sizeof(count)) == sizeof(count)) {
		answer = write_events(session_fd(stage->session), stage->events, count);
		if (write(talk, &answer, sizeof(answer)) != sizeof(answer))
			break;
	}
	_exit(0);
}

static void placeholder_start(struct stage *stage, struct placeholder *new)
{
	int err, ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		die(EX_OSERR, "socketpair: %s", strerror(errno));
	new->pid = fork();
	if (new->pid < 0)
		die(EX_OSERR, "fork: %s", strerror(errno));
	if (!new->pid) {
		close(ends[0]);
		placeholder_main(stage, ends[1]);
	}
	close(ends[1]);
	new->talk = ends[0];
	err = session_track(stage->session, new->pid);
	if (err)
		session_die(new->pid, err);
}

/* ---- turns --------------------------------------------------------------- */

static void __noreturn die_replaying(const struct stage *stage, const struct answer *answer)
{
	const struct mmpath_event *event = &stage->events[answer->done];

	switch (answer->err) {
	case EINVAL:
		die(EX_DATAERR, "%s: this kernel refuses access %llu: address %#llx, order %u",
		    stage->path, (unsigned long long)(stage->done + answer->done),
		    (unsigned long long)event->addr, event->order);
	case EOPNOTSUPP:
	case ESRCH:
		die(EX_UNAVAILABLE, "the driver was changed or tracking switched off meanwhile");
	default:
		die(exit_status_of(answer->err), "cannot replay: %s", strerror(answer->err));
	}
}

static void flush(struct stage *stage)
{
	struct answer answer = { .err = EPIPE };

	if (!stage->used)
		return;
	if (send(stage->turn->talk, &stage->used, sizeof(stage->used), MSG_NOSIGNAL) < 0 ||
	    read(stage->turn->talk, &answer, sizeof(answer)) != sizeof(answer) || answer.err)
		die_replaying(stage, &answer);
	stage->done += stage->used;
	stage->used = 0;
}

/* The kernel takes in what was written when somebody looks at the session. */
static void take_in(struct stage *stage)
{
	free(session_read(stage->session, "memory.path.stat"));
}

static struct placeholder *find(struct stage *stage, uint32_t of)
{
	size_t i;

	for (i = 0; i < stage->count; i++)
		if (stage->list[i].of == of)
			return &stage->list[i];
	if (i == stage->room)
		die(EX_DATAERR, "%s: was changed while it was read", stage->path);
	stage->list[i].of = of;
	placeholder_start(stage, &stage->list[i]);
	stage->count++;
	return &stage->list[i];
}

static void give_turn(struct stage *stage, uint32_t of)
{
	if (stage->turn && stage->turn->of == of)
		return;
	flush(stage);
	if (stage->turn)
		take_in(stage);
	stage->turn = find(stage, of);
}

static void feed(struct stage *stage, struct log_reader *log)
{
	struct mmpath_event event;

	while (log_next(log, &event)) {
		if (event.type != MMPATH_EVENT_ACCESS)
			continue;
		give_turn(stage, event.pid);
		stage->events[stage->used++] = event;
		if (stage->used == MOST_EVENTS)
			flush(stage);
	}
	flush(stage);
}

/* ---- the stage ----------------------------------------------------------- */

/* Placeholders take a file each. */
static void allow_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static void stage_set(struct stage *stage, const char *path, size_t processes)
{
	if (processes > MOST_PLACEHOLDERS)
		die(EX_UNAVAILABLE, "%s: %zu processes, but only %d can be replayed", path,
		    processes, MOST_PLACEHOLDERS);
	memset(stage, 0, sizeof(*stage));
	stage->path = path;
	stage->session = session_open();
	stage->events = mmap(NULL, MOST_EVENTS * sizeof(*stage->events), PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (stage->events == MAP_FAILED)
		die(EX_OSERR, "out of memory");
	stage->room = processes;
	stage->list = xalloc(processes * sizeof(*stage->list));
	allow_files();
}

static void stage_clear(struct stage *stage)
{
	size_t i;

	for (i = 0; i < stage->count; i++)
		close(stage->list[i].talk);
	for (i = 0; i < stage->count; i++)
		waitpid(stage->list[i].pid, NULL, 0);
	munmap(stage->events, MOST_EVENTS * sizeof(*stage->events));
	free(stage->list);
	session_close(stage->session);
}

/* ---- the command --------------------------------------------------------- */

static void need_replay_driver(void)
{
	size_t count, in_use;
	char **names = driver_list(&count, &in_use);

	if (in_use >= count || strcmp(names[in_use], "replay"))
		die(EX_UNAVAILABLE,
		    "the driver is %s: sudo pathctl driver replay (nothing else is tracked then)",
		    in_use < count ? names[in_use] : "not chosen");
	free_list(names, count);
}

static void need_page_size(const char *path, const struct log_sum *sum)
{
	if (sum->header.page_bytes != sysconf(_SC_PAGESIZE))
		die(EX_DATAERR, "%s: pages of %u bytes, but here they have %ld", path,
		    sum->header.page_bytes, sysconf(_SC_PAGESIZE));
}

/* When recording started, to be freed. */
static char *when_text(const struct log_sum *sum)
{
	time_t seconds = sum->header.started_ns / 1000000000;
	struct tm tm;
	char when[32];

	if (!sum->header.started_ns)
		return xdup("when is not known");
	strftime(when, sizeof(when), "%F %T", localtime_r(&seconds, &tm));
	return xdup(when);
}

static void tell_of_file(const struct replay_options *options, const char *path,
			 const struct log_sum *sum)
{
	char *text = log_sum_text(sum), *driver = printable(sum->header.driver);
	char *when = when_text(sum), *name = printable(path);

	if (options->report.json) {
		print_json(stdout, log_sum_json(path, sum));
	} else {
		printf("%s: %s; %s, driver %s, pages of %u bytes\n", name, text, when, driver,
		       sum->header.page_bytes);
		log_sum_note(sum);
	}
	free(name);
	free(when);
	free(driver);
	free(text);
}

static void tell_of_curve(const struct replay_options *options, struct watch *watch,
			  const char *path, const struct log_sum *sum)
{
	struct report report = options->report;
	char *text = log_sum_text(sum), *name = printable(path);
	char *first = xasprintf("%s: %s", name, text);

	report.name = path;
	report.first = first;
	report.about = log_sum_json(path, sum);
	report.question = &options->question;
	report.resolved_from = sum->end.resolved_from;
	watch_tell(watch, &report, stdout);
	if (!report.json)
		log_sum_note(sum);
	free(first);
	free(name);
	free(text);
}

static void replay(const struct replay_options *options, const char *path,
		   struct log_reader *log, const struct log_sum *sum)
{
	struct watch watch = { 0 };
	struct stage stage;

	sysfs_require();
	need_page_size(path, sum);
	need_replay_driver();
	report_check(&options->report);
	stage_set(&stage, path, sum->processes);
	tracking_switch_on();
	watch_start(&watch);
	feed(&stage, log);
	watch_end(&watch);
	watch.cgroup.name = xdup(path);
	watch.cgroup.session = stage.session;
	tell_of_curve(options, &watch, path, sum);
	watch_free(&watch);
	stage_clear(&stage);
}

static const struct option long_options[] = {
	{ "check", no_argument, NULL, 'k' },
	{ "misses", required_argument, NULL, 'm' },
	{ "output", required_argument, NULL, 'o' },
	{ "csv", required_argument, NULL, 'c' },
	{ "svg", required_argument, NULL, 's' },
	{ "json", no_argument, NULL, 'j' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

static void take_option(struct replay_options *options, int option)
{
	if (option == 'k')
		options->check = true;
	else
		report_option(&options->report, &options->question, option);
}

static int run(const struct command *cmd, int argc, char **argv)
{
	struct replay_options options = { .question = { .delta = SIZE_DELTA } };
	struct log_reader log;
	struct log_sum sum;
	int option;

	size_parse_misses(&options.question, DEFAULT_MISSES);
	while ((option = next_option(cmd, argc, argv, "ho:", long_options)) != -1)
		take_option(&options, option);
	if (argc - optind != 1)
		die(EX_USAGE, "which recording? pathctl replay FILE");
	log_open(&log, argv[optind]);
	log_check(&log, &sum);
	if (options.check)
		tell_of_file(&options, argv[optind], &sum);
	else
		replay(&options, argv[optind], &log, &sum);
	log_sum_free(&sum);
	log_close(&log);
	return EX_OK;
}

const struct command cmd_replay = {
	.name = "replay",
	.summary = "the curve of a recording",
	.help = "usage: pathctl replay [option...] FILE\n\n"
		"Feeds a recording to the kernel and shows the curve, exactly that of the\n"
		"recording.\n"
		"The file is read to its end before anything happens. Needs the driver \"replay\":\n"
		"\"pathctl driver replay\" before, and \"pathctl driver emul\" afterwards.\n\n"
		"  --check          only read the file and tell what is in it; needs no PATH kernel\n"
		"  --misses P%      how much memory for at most P % of the misses (5%)\n"
		"  -o, --output F   write the summary there\n"
		"  --json           for programs\n"
		"  --csv F, --svg F write the curve as well\n",
	.run = run,
};
