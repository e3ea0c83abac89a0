// SPDX-License-Identifier: GPL-2.0
/*
 * The terminal as a screen that is drawn anew every few seconds.
 */
#include <ncurses.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#include "pathctl.h"

void live_leave(void)
{
	before_dying = NULL;
	endwin();
}

/* For which ncurses gives the terminal back, as for ^C, but for no other signal. */
static void end_as_by_sigterm(int number)
{
	(void)number;
	raise(SIGTERM);
}

/* Not where it is ignored, as nohup does. */
static void catch(int number)
{
	const struct sigaction ours = { .sa_handler = end_as_by_sigterm };
	struct sigaction old;

	if (!sigaction(number, NULL, &old) && old.sa_handler == SIG_DFL)
		sigaction(number, &ours, NULL);
}

/* @once: what to run without a terminal. A key is waited for that many milliseconds. */
void live_enter(const char *once, unsigned int ms)
{
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		die(EX_UNAVAILABLE, "this needs a terminal: %s prints one frame", once);
	if (!newterm(NULL, stdout, stdin))
		die(EX_UNAVAILABLE, "TERM=%s is no terminal that is known here: %s",
		    getenv("TERM") ? getenv("TERM") : "", once);
	before_dying = live_leave;
	catch(SIGQUIT);
	catch(SIGHUP);
	cbreak();
	noecho();
	curs_set(0);
	keypad(stdscr, TRUE);
	timeout(ms);
}

/* How many bytes of a line fit: a character may be several, and several columns wide. */
static int bytes_that_fit(const char *line, int columns)
{
	const char *at = line;
	mbstate_t state = { 0 };
	size_t length;
	wchar_t c;
	int width;

	while (*at) {
		length = mbrtowc(&c, at, MB_CUR_MAX, &state);
		if (length > MB_CUR_MAX) {	/* no character: ncurses shows something */
			memset(&state, 0, sizeof(state));
			length = 1;
			c = L'?';
		}
		width = wcwidth(c);
		columns -= width > 0 ? width : 0;
		if (columns < 0)
			break;
		at += length;
	}
	return at - line;
}

/* Lines that begin with a tab are heads of tables. */
static void show_text(char *text)
{
	char *line;
	int y = 0;

	erase();
	while ((line = strsep(&text, "\n")) && y < LINES - 1) {
		if (*line == '\t') {
			line++;
			attron(A_REVERSE);
		}
		mvaddnstr(y++, 0, line, bytes_that_fit(line, COLS));
		attroff(A_REVERSE);
	}
}

/**
 * live_frame - draw a frame, and wait for a key
 * @print: prints the frame; a tab marks the head of a table
 * @frame: its argument
 * @keys: the keys that do something, for the last line
 *
 * Return: the key, or a negative number if there was none.
 */
int live_frame(void (*print)(FILE *out, const char *head, const void *frame), const void *frame,
	       const char *keys)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		die(EX_OSERR, "out of memory");
	print(out, "\t", frame);
	fclose(out);
	show_text(text);
	mvprintw(LINES - 1, 0, "%s", keys);
	refresh();
	free(text);
	return getch();
}
