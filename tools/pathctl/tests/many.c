// SPDX-License-Identifier: GPL-2.0
/*
 * many COMMAND [option...] -- ARGUMENT... - pathctl COMMAND [option...] ARGUMENT, for each
 *
 * Each in a child, which takes less time than to start a program with ASan. All have to
 * end well, or with one line that says that the input is bad.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../pathctl.h"

static const struct command *const commands[] = { &cmd_mrc, &cmd_replay, &cmd_clusters };

static void __noreturn run(int argc, char **argv, int err)
{
	size_t i;

	if (!freopen("/dev/null", "w", stdout) || dup2(err, STDERR_FILENO) < 0)
		_exit(EX_OSERR);
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(commands[i]->name, argv[0]))
			exit(commands[i]->run(commands[i], argc, argv));
	_exit(EX_USAGE);
}

/* It went well, or says in a line why not. */
static bool is_good(int status, const char *text)
{
	const char *end = strchr(text, '\n');

	if (!WIFEXITED(status))
		return false;
	return !WEXITSTATUS(status) || (WEXITSTATUS(status) == EX_DATAERR && end && !end[1]);
}

static bool try(int argc, char **argv)
{
	int status, err = memfd_create("stderr", 0);
	pid_t pid = fork();
	char text[4096];
	ssize_t got;

	if (err < 0 || pid < 0)
		die(EX_OSERR, "no memory");
	if (!pid) {
		alarm(60);
		run(argc, argv, err);
	}
	if (waitpid(pid, &status, 0) != pid)
		die(EX_OSERR, "no child");
	got = pread(err, text, sizeof(text) - 1, 0);
	close(err);
	text[got > 0 ? got : 0] = '\0';
	if (is_good(status, text))
		return true;
	fprintf(stderr, "%s: wait status %#x: %s\n", argv[argc - 1], status, text);
	return false;
}

int main(int argc, char **argv)
{
	int i, last, bad = 0;

	for (last = 1; last < argc && strcmp(argv[last], "--"); last++)
		;
	if (argc < 2 || last >= argc - 1)
		die(EX_USAGE, "which command, and with what?");
	for (i = last + 1; i < argc; i++) {
		argv[last] = argv[i];
		bad += !try(last, argv + 1);
	}
	return bad > 0;
}
