// SPDX-License-Identifier: GPL-2.0
/*
 * marked - runs a program between marks 0 and 1 of the virtual PMU.
 *
 * usage: marked CPU COMMAND [ARGUMENT]...
 *
 * COMMAND runs on CPU, and mark 0 is its last instruction before it becomes COMMAND, so that
 * slices of the ground truth (--vpmu=slice=) begin there. Mark 1 comes from another CPU, after it.
 */
#define _GNU_SOURCE
#include <err.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

#include "marked.h"

int main(int argc, char **argv)
{
	int status, cpu = argc > 2 ? atoi(argv[1]) : -1;

	if (cpu < 0)
		errx(EX_USAGE, "usage: marked CPU COMMAND [ARGUMENT]...");
	run_on(!cpu);
	if (!fork()) {
		run_on(cpu);
		mark(0);
		execvp(argv[2], argv + 2);
		err(EX_NOINPUT, "%s", argv[2]);
	}
	if (wait(&status) < 0)
		err(EX_OSERR, "wait");
	mark(1);
	return WIFEXITED(status) ? WEXITSTATUS(status) : EX_SOFTWARE;
}
