// SPDX-License-Identifier: GPL-2.0
/*
 * Which users may see which programs, with which task's rights, and at what cost for others.
 * And what happens to a session when its program executes one that its owner must not see.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/mmpath.h>
#include "path_util.h"

#define NR_PAGES	256UL	/* less than half a log */
#define NOBODY		65534

static const char * const views[] = { "memory.path.regions", "memory.path.region_mrc" };

/* This program: one copy that may be read, and one that may not */
static char readable[32], unreadable[32];

/* Programs that touch their pages and execute others when they are told to */

struct program {
	pid_t pid;
	int to, from;
};

static void execute(const char *file, int in, int out)
{
	char from[12], to[12];

	snprintf(from, sizeof(from), "%d", in);
	snprintf(to, sizeof(to), "%d", out);
	execl(file, "path_look", "--serve", from, to, readable, unreadable, NULL);
}

static int serve(int in, int out)
{
	char *mem = path_map(NR_PAGES * PAGE, false), c;
	size_t i;

	while (read(in, &c, 1) == 1) {
		if (c == 'r')
			execute(readable, in, out);
		if (c == 'x')
			execute(unreadable, in, out);
		for (i = 0; i < NR_PAGES; i++)
			(*(__volatile__ char *)(mem + i * PAGE))++;
		if (write(out, &c, 1) != 1)
			return KSFT_FAIL;
	}
	return KSFT_PASS;
}

/* Become a user whose programs may be dumped, although this one began as root. */
static bool become_nobody(void)
{
	return !setgid(NOBODY) && !setuid(NOBODY) && !prctl(PR_SET_DUMPABLE, 1);
}

static bool tell(struct program *prog, char c)
{
	return write(prog->to, &c, 1) == 1 && read(prog->from, &c, 1) == 1;
}

static void run(struct program *prog, bool nobody)
{
	int to[2], from[2];

	if (pipe(to) || pipe(from))
		ksft_exit_fail_msg("pipe: %s\n", strerror(errno));
	fflush(stdout);
	prog->pid = fork();
	if (!prog->pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(to[1]);
		close(from[0]);
		_exit(!nobody || become_nobody() ? serve(to[0], from[1]) : KSFT_FAIL);
	}
	close(to[0]);
	close(from[1]);
	prog->to = to[1];
	prog->from = from[0];
	/* it runs with the rights that it is to have */
	if (!tell(prog, 't'))
		ksft_exit_fail_msg("a program does not start\n");
}

/* Tell a program what to do. A program that it executes answers, or it answers that it failed. */
static bool tell_to_execute(struct program *prog, char c)
{
	char file[32], name[256] = "";

	if (write(prog->to, &c, 1) != 1 || !tell(prog, 't'))
		return false;
	snprintf(file, sizeof(file), "/proc/%d/exe", (int)prog->pid);
	if (readlink(file, name, sizeof(name) - 1) < 0)
		return false;
	return path_same(name, c == 'x' ? unreadable : readable);
}

static void end(struct program *prog)
{
	close(prog->to);
	close(prog->from);
	kill(prog->pid, SIGKILL);
	waitpid(prog->pid, NULL, 0);
}

static int in_child(int (*fn)(void *arg), void *arg)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		pid = fn(arg);
		fflush(stdout);
		_exit(pid);
	}
	return path_wait(pid, 20);
}

/* The files of a cgroup */

struct look {
	const char *cg;
	pid_t own, other;
	long long records;
	int flags, programs;
};

static int open_view(const char *cg, const char *name)
{
	char file[512];

	snprintf(file, sizeof(file), "%s/%s", cg, name);
	return open(file, O_RDONLY | O_CLOEXEC);
}

/* Count the lines of a process; -1 if there is no file. Closes it. */
static int rows_of(int fd, pid_t pid)
{
	char *text = fd < 0 ? NULL : path_slurp_fd(fd), *line = text;
	int rows = 0;

	close(fd);
	if (!text)
		return -1;
	while ((line = strchr(line, '\n')) && *++line)
		rows += strtol(line, NULL, 10) == pid;
	free(text);
	return rows;
}

/* Count programs: each has a region 0, with a curve from 0 on. Closes the file. */
static int programs_in(int fd)
{
	char *text = fd < 0 ? NULL : path_slurp_fd(fd), *line = text, third[8];
	unsigned int region;
	int nr = 0;

	close(fd);
	while (line && (line = strchr(line, '\n')) && *++line)
		nr += sscanf(line, "%*d %u %7s", &region, third) == 2 && !region &&
		      (!strcmp(third, "rest") || !strcmp(third, "0"));
	free(text);
	return nr;
}

static int look_as_nobody(void *arg)
{
	struct look *look = arg;
	bool good = true;
	size_t i;

	if (!become_nobody())
		return KSFT_SKIP;
	for (i = 0; i < ARRAY_SIZE(views); i++) {
		good &= path_gt(rows_of(open_view(look->cg, views[i]), look->own), 0);
		good &= path_eq(rows_of(open_view(look->cg, views[i]), look->other), 0);
	}
	return good ? KSFT_PASS : KSFT_FAIL;
}

/* A task opens the file, and another one reads it. Root is tracked as well, and sees itself. */
static int look_handed_on(void *arg)
{
	struct look *look = arg;
	bool good = true;
	int as_nobody, as_root;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(views); i++) {
		as_root = open_view(look->cg, views[i]);
		good &= path_eq(seteuid(NOBODY), 0);
		as_nobody = open_view(look->cg, views[i]);
		good &= path_gt(rows_of(as_root, look->other), 0);
		good &= path_eq(seteuid(0), 0);
		as_root = dup(as_nobody);
		good &= path_eq(rows_of(as_nobody, look->other), 0);
		good &= path_eq(lseek(as_root, 0, SEEK_SET), 0);
		good &= path_eq(rows_of(as_root, getpid()), 0);
		good &= path_gt(rows_of(open_view(look->cg, views[i]), getpid()), 0);
	}
	return good ? KSFT_PASS : KSFT_FAIL;
}

/* In a PID namespace of its own the program is 1, and others have no number. */
static int look_inside(void *arg)
{
	struct look *look = arg;
	bool good = true;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(views); i++) {
		good &= path_gt(rows_of(open_view(look->cg, views[i]), getpid()), 0);
		good &= path_eq(rows_of(open_view(look->cg, views[i]), look->other), 0);
		good &= path_eq(programs_in(open_view(look->cg, views[i])), look->programs);
	}
	return path_eq(getpid(), 1) && good ? KSFT_PASS : KSFT_FAIL;
}

static int look_from_namespace(void *arg)
{
	struct look *look = arg;

	if ((look->flags & CLONE_NEWUSER && !become_nobody()) || unshare(look->flags)) {
		ksft_print_msg("unshare: %s\n", strerror(errno));
		return KSFT_SKIP;
	}
	return in_child(look_inside, look);
}

static int read_as_nobody(void *arg)
{
	struct look *look = arg;

	if (!become_nobody())
		return KSFT_SKIP;
	return path_eq(path_cg_key(look->cg, "memory.path.stat", "records"), look->records) &&
	       path_ge(path_cg_key(look->cg, "memory.path.mrc", "records"), 0) ? KSFT_PASS :
		KSFT_FAIL;
}

/* A reader without rights causes no drain, so it sees nothing of the present moment. */
static void test_drain(struct look *look, struct program *prog)
{
	bool good = false;
	int i;

	path_set("epoch_ms", "60000");
	/* an epoch that was ending when that was set drains once more */
	for (i = 0; i < 2 && !good; i++) {
		look->records = path_cg_key(look->cg, "memory.path.stat", "records");
		good = path_true(tell(prog, 't')) &&
		       path_eq(in_child(read_as_nobody, look), KSFT_PASS);
	}
	good = good && path_ge(path_cg_key(look->cg, "memory.path.stat", "records"),
			       look->records + (long long)NR_PAGES);
	path_set("epoch_ms", "100");
	ksft_test_result(good, "a reader without rights waits for the end of the epoch\n");
}

static void test_cgroup(void)
{
	struct look look = { .cg = path_cg(NULL, "look") };
	struct program own, other;
	bool good;

	run(&own, true);
	run(&other, false);
	look.own = own.pid;
	look.other = other.pid;
	path_cg_move(look.cg, own.pid);
	path_cg_move(look.cg, other.pid);
	path_track(look.cg, true);
	good = path_true(path_wait_tracks(look.cg, own.pid, true)) &&
	       path_true(path_wait_tracks(look.cg, other.pid, true)) &&
	       path_true(tell(&own, 't')) && path_true(tell(&other, 't'));
	ksft_test_result_report(good ? in_child(look_as_nobody, &look) : KSFT_FAIL,
				"regions are for those who may trace their program\n");
	ksft_test_result_report(path_run(look.cg, look_handed_on, &look, 20),
				"rights are those of the task that opened the file\n");
	/* these two, the one that makes the namespace, and the one inside it */
	look.flags = CLONE_NEWPID;
	look.programs = 4;
	ksft_test_result_report(path_run(look.cg, look_from_namespace, &look, 20),
				"numbers are those of the reader's namespace\n");
	look.flags |= CLONE_NEWUSER;
	look.programs = 2;
	ksft_test_result_report(path_run(look.cg, look_from_namespace, &look, 20),
				"a root of its own user namespace sees its own\n");
	test_drain(&look, &other);
	end(&own);
	end(&other);
	path_cg_remove((char *)look.cg);
}

/* Sessions */

static long long contexts(int dev)
{
	__u32 which = MMPATH_VIEW_STAT;
	int fd = ioctl(dev, MMPATH_IOC_VIEW, &which);
	char *text = fd < 0 ? NULL : path_slurp_fd(fd);
	long long nr = text ? path_text_key(text, "contexts") : -1;

	free(text);
	close(fd);
	return nr;
}

struct session {
	int dev;
	struct program prog;
};

static int track_as_nobody(void *arg)
{
	struct session *s = arg;

	if (!become_nobody())
		return KSFT_SKIP;
	return path_eq(path_dev_track(s->dev, s->prog.pid), 0) ? KSFT_PASS : KSFT_FAIL;
}

/* A program executes another, then one that cannot be dumped, then another: is it still tracked? */
static void test_session(bool nobody)
{
	struct session s = { .dev = path_dev_open() };
	long long left = nobody ? 0 : 1;
	bool good;

	run(&s.prog, true);
	good = nobody ? path_eq(in_child(track_as_nobody, &s), KSFT_PASS) :
	       path_eq(path_dev_track(s.dev, s.prog.pid), 0);
	good = good && path_eq(contexts(s.dev), 1) && path_true(tell_to_execute(&s.prog, 'r')) &&
	       path_eq(contexts(s.dev), 1);
	ksft_test_result(good, "a session %sgoes with an executed program\n",
			 nobody ? "without rights " : "");
	good = path_true(tell_to_execute(&s.prog, 'x')) && path_eq(contexts(s.dev), left) &&
	       path_true(tell_to_execute(&s.prog, 'r')) && path_eq(contexts(s.dev), left);
	ksft_test_result(good, "and %s one that cannot be dumped\n",
			 nobody ? "ends, for good, with" : "also with");
	end(&s.prog);
	close(s.dev);
}

/* Events of a program have its number in the reader's PID namespace. */
static int record_inside(void *arg)
{
	struct mmpath_event ev[64];
	struct program prog;
	int dev = path_dev_open();
	ssize_t got;
	bool good;

	run(&prog, false);
	good = path_eq(ioctl(dev, MMPATH_IOC_RECORD), 0) &&
	       path_eq(path_dev_track(dev, prog.pid), 0) &&
	       path_true(tell(&prog, 't'));
	got = good ? read(dev, ev, sizeof(ev)) : -1;
	good = path_ge(got, sizeof(*ev)) && path_eq(ev[0].pid, prog.pid) && path_lt(prog.pid, 10);
	end(&prog);
	return good ? KSFT_PASS : KSFT_FAIL;
}

static int record_in_namespace(void *arg)
{
	if (unshare(CLONE_NEWPID))
		return KSFT_SKIP;
	return in_child(record_inside, arg);
}

static void copy_self(char *name, mode_t mode)
{
	int from = open("/proc/self/exe", O_RDONLY), to;
	struct stat st;

	snprintf(name, sizeof(readable), "/tmp/path_look_XXXXXX");
	to = mkstemp(name);
	if (from < 0 || to < 0 || fstat(from, &st) ||
	    sendfile(to, from, NULL, st.st_size) != st.st_size || fchmod(to, mode))
		ksft_exit_fail_msg("%s: %s\n", name, strerror(errno));
	close(from);
	close(to);
}

int main(int argc, char **argv)
{
	if (argc == 6 && !strcmp(argv[1], "--serve")) {
		snprintf(readable, sizeof(readable), "%s", argv[4]);
		snprintf(unreadable, sizeof(unreadable), "%s", argv[5]);
		return serve(atoi(argv[2]), atoi(argv[3]));
	}
	path_start(10, 60);
	if (access(PATH_DEV, F_OK))
		ksft_exit_skip("no " PATH_DEV "\n");
	path_exact(16);
	path_set("epoch_ms", "100");
	copy_self(readable, 0555);
	copy_self(unreadable, 0111);
	test_cgroup();
	test_session(false);
	test_session(true);
	ksft_test_result_report(in_child(record_in_namespace, NULL),
				"events have the number of the reader's namespace\n");
	unlink(readable);
	unlink(unreadable);
	ksft_finished();
}
