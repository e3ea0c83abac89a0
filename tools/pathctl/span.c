// SPDX-License-Identifier: GPL-2.0
/*
 * For how long: until processes have ended, the time is over, or ^C.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "pathctl.h"

static void our_signals(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGQUIT);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGHUP);
}

/* Seconds 0: no end. From here on signals wait for span_wait(). */
void span_start(struct span *span, unsigned int seconds)
{
	sigset_t set;

	memset(span, 0, sizeof(*span));
	our_signals(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
	span->fds = xalloc(sizeof(*span->fds));
	span->fds[0] = (struct pollfd){ .fd = signalfd(-1, &set, SFD_CLOEXEC), .events = POLLIN };
	if (span->fds[0].fd < 0)
		die(EX_OSERR, "signalfd: %s", strerror(errno));
	span->deadline = seconds ? seconds_now() + seconds : 0;
}

/* It is over when all that were added have ended. */
void span_add(struct span *span, pid_t pid)
{
	int fd = pidfd_open(pid, 0);

	span->bounded = true;
	if (fd < 0)
		return;		/* has ended already */
	span->fds = xgrow(span->fds, span->count + 2, sizeof(*span->fds));
	span->fds[++span->count] = (struct pollfd){ .fd = fd, .events = POLLIN };
	span->alive++;
}

static void take_signal(struct span *span)
{
	struct signalfd_siginfo info;

	if (read(span->fds[0].fd, &info, sizeof(info)) != sizeof(info))
		return;
	if (!span->command) {
		span->stopped = true;
		return;
	}
	/* ^C has reached the command without us */
	if (info.ssi_signo == SIGTERM || info.ssi_signo == SIGHUP)
		kill(span->command, info.ssi_signo);
}

static void take_ends(struct span *span)
{
	size_t i;

	for (i = 1; i <= span->count; i++) {
		if (!span->fds[i].revents)
			continue;
		close(span->fds[i].fd);
		span->fds[i].fd = -1;
		span->fds[i].revents = 0;
		span->alive--;
	}
}

static bool span_over(const struct span *span)
{
	return span->stopped || (span->bounded && !span->alive) ||
	       (span->deadline && seconds_now() >= span->deadline);
}

/* Sleeps for some time, or less if something happens. False: it is over. */
bool span_wait(struct span *span, int ms)
{
	double left = span->deadline ? (span->deadline - seconds_now()) * 1000 : ms;

	if (span_over(span))
		return false;
	if (left < ms)
		ms = (int)left + 1;
	if (poll(span->fds, span->count + 1, ms) > 0) {
		if (span->fds[0].revents)
			take_signal(span);
		take_ends(span);
	}
	return !span_over(span);
}

/* In a child, before it becomes another program. */
void span_give_signals_back(void)
{
	sigset_t set;

	our_signals(&set);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

void span_end(struct span *span)
{
	size_t i;

	for (i = 0; i <= span->count; i++)
		if (span->fds[i].fd >= 0)
			close(span->fds[i].fd);
	free(span->fds);
}
