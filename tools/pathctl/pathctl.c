// SPDX-License-Identifier: GPL-2.0
/*
 * Choose the subcommand.
 */
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "pathctl.h"

static const struct command *const commands[] = {
	&cmd_status, &cmd_on, &cmd_off, &cmd_driver, &cmd_track, &cmd_mrc,
	&cmd_size, &cmd_regions, &cmd_top, &cmd_prefetch, &cmd_record, &cmd_replay, &cmd_metrics,
	&cmd_stalls, &cmd_counters, &cmd_clusters,
};

static void print_help(void)
{
	size_t i;

	puts("usage: pathctl COMMAND [argument...]\n\n"
	     "How much memory does a program need? The kernel tracks in which order its\n"
	     "pages are touched. pathctl switches that on and shows the results.\n");
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		printf("  %-9s %s\n", commands[i]->name, commands[i]->summary);
	puts("\n\"pathctl COMMAND --help\" tells more. Start with:\n\n"
	     "  sudo pathctl track -- COMMAND [argument...]");
}

static const struct command *find(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	die(EX_USAGE, "no command %s: see pathctl --help", name);
}

int main(int argc, char **argv)
{
	const struct command *cmd;
	int status;

	setlocale(LC_CTYPE, "");
	if (argc < 2)
		die(EX_USAGE, "which command? See pathctl --help");
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
		print_help();
		close_stdout();
		return EX_OK;
	}
	cmd = find(argv[1]);
	argv[1] = xasprintf("pathctl %s", cmd->name);	/* for getopt_long()'s messages */
	status = cmd->run(cmd, argc - 1, argv + 1);
	close_stdout();
	free(argv[1]);
	return status;
}
