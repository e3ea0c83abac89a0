// SPDX-License-Identifier: GPL-2.0
/*
 * A program whose addresses are known: prints its process id, where board[1] is, an address in
 * take(), and where a variable of the C library is. Then waits until it is killed.
 */
#include <stdio.h>
#include <unistd.h>

struct board {
	unsigned int words[16];
} __attribute__((aligned(64)));

struct board board[2];		/* begins as zeros, so it is in no file */

__attribute__((noinline)) void take(unsigned int word)
{
	board[1].words[word]++;
}

int main(int argc, char **argv)
{
	(void)argv;
	take(argc);
	printf("%d %p %p %p\n", getpid(), (void *)&board[1], (void *)((char *)take + 8),
	       (void *)stdout);
	fflush(stdout);
	pause();
	return 0;
}
