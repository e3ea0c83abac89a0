// SPDX-License-Identifier: GPL-2.0
/*
 * Running the user's command.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pathctl.h"

struct failure {
	int err;
	bool entering;	/* else executing */
};

static void __noreturn become(char **argv, int (*enter)(void *where), void *where, int report)
{
	struct failure failure = { .entering = true };
	ssize_t ignored;

	failure.err = enter(where);
	if (!failure.err) {
		span_give_signals_back();
		execvp(argv[0], argv);
		failure = (struct failure){ .err = errno };
	}
	ignored = write(report, &failure, sizeof(failure));
	(void)ignored;
	_exit(127);
}

/**
 * command_start - run a command, with signals blocked by span_start()
 * @argv: its words
 * @enter: called in the new process before it executes, to have it tracked from
 *	its first page on; 0 or an errno
 * @where: argument of @enter
 * @err: what @enter returned
 *
 * Does not return when there is no such command.
 * Return: its process number, unless @err is set.
 */
pid_t command_start(char **argv, int (*enter)(void *where), void *where, int *err)
{
	struct failure failure;
	int ends[2];
	ssize_t got;
	pid_t pid;

	*err = 0;
	if (pipe2(ends, O_CLOEXEC))
		die(EX_OSERR, "pipe: %s", strerror(errno));
	pid = fork();
	if (pid < 0)
		die(EX_OSERR, "fork: %s", strerror(errno));
	if (!pid)
		become(argv, enter, where, ends[1]);
	close(ends[1]);
	got = read(ends[0], &failure, sizeof(failure));
	close(ends[0]);
	if (got != sizeof(failure))
		return pid;
	waitpid(pid, NULL, 0);
	if (!failure.entering)
		die(failure.err == ENOENT ? 127 : 126, "%s: %s", argv[0], strerror(failure.err));
	*err = failure.err;
	return -1;
}

/* Its exit status, or 128 and the signal that ended it. */
int command_wait(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

json_t *command_json(char **argv)
{
	json_t *array = json_array();

	for (; *argv; argv++)
		json_array_append_new(array, json_text(*argv));
	return array;
}
