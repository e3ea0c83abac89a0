// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/mmpath: tracking of single processes, for as long as we hold it open.
 *
 * A session reads like a cgroup, see cgroup_read(): its views have the texts of
 * the files memory.path.*.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/pidfd.h>
#include <unistd.h>

#include <linux/mmpath.h>

#include "pathctl.h"

static const char *const view_files[] = {
	[MMPATH_VIEW_MRC] = "memory.path.mrc",
	[MMPATH_VIEW_REGIONS] = "memory.path.regions",
	[MMPATH_VIEW_REGION_MRC] = "memory.path.region_mrc",
	[MMPATH_VIEW_STAT] = "memory.path.stat",
};

struct session {
	int fd;
	int views[ARRAY_SIZE(view_files)];	/* opened when needed */
	pid_t *pids;
	size_t count;
	uint64_t resident;
};

static const char *device(void)
{
	const char *path = getenv("PATHCTL_DEV");

	return path && *path ? path : "/dev/mmpath";
}

static void __noreturn die_opening(int err)
{
	switch (err) {
	case ENOENT:
	case ENXIO:
	case ENODEV:
		die(EX_UNAVAILABLE,
		    "no %s: this kernel tracks cgroups only; boot one with CONFIG_MMPATH_DEV",
		    device());
	case EACCES:
	case EPERM:
		die(EX_NOPERM, "%s: permission denied; it belongs to root: run pathctl as root",
		    device());
	default:
		die(exit_status_of(err), "%s: %s", device(), strerror(err));
	}
}

static void __noreturn die_no_device(void)
{
	die(EX_UNAVAILABLE, "%s is not the device of page access tracking", device());
}

struct session *session_open(void)
{
	struct session *session;
	int fd;
	size_t i;

	sysfs_require();
	fd = open(device(), O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		die_opening(errno);
	session = xalloc(sizeof(*session));
	session->fd = fd;
	for (i = 0; i < ARRAY_SIZE(session->views); i++)
		session->views[i] = -1;
	return session;
}

void session_close(struct session *session)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(session->views); i++)
		if (session->views[i] >= 0)
			close(session->views[i]);
	close(session->fd);
	free(session->pids);
	free(session);
}

/* To read() events from, without waiting, and to write() them to. */
int session_fd(const struct session *session)
{
	return session->fd;
}

/* ---- processes ----------------------------------------------------------- */

/* 0 or an errno; ESRCH when it is gone, or has no memory. */
int session_track(const struct session *session, pid_t pid)
{
	int err = 0, fd = pidfd_open(pid, 0);

	if (fd < 0)
		return errno;
	if (ioctl(session->fd, MMPATH_IOC_TRACK, &fd))
		err = errno;
	close(fd);
	return err;
}

/* Why a process is not tracked. */
void session_die(pid_t pid, int err)
{
	switch (err) {
	case ESRCH:
		die(EX_NOINPUT, kill(pid, 0) && errno == ESRCH ? "no process %d" :
		    "process %d has no memory of its own: it has ended, or is of the kernel", pid);
	case EINVAL:
		die(EX_NOINPUT, "no process %d: that is one of its threads", pid);
	case EPERM:
	case EACCES:
		die(EX_NOPERM, "process %d: no permission to look into it; run pathctl as root",
		    pid);
	case ENODEV:
		die(EX_UNAVAILABLE, "tracking is off: sudo pathctl on");
	case EOPNOTSUPP:
		die(EX_UNAVAILABLE, "process %d has MMU notifiers (KVM?) and cannot be tracked",
		    pid);
	case ENOSPC:
		die(EX_UNAVAILABLE, "process %d is tracked for too many others already", pid);
	case ENOTTY:
		die_no_device();
	default:
		die(exit_status_of(err), "cannot track process %d: %s", pid, strerror(err));
	}
}

/* One of those that the session is about, see session_as_cgroup(). */
void session_add(struct session *session, pid_t pid)
{
	int err = session_track(session, pid);

	if (err)
		session_die(pid, err);
	session->pids = xgrow(session->pids, session->count + 1, sizeof(*session->pids));
	session->pids[session->count++] = pid;
}

void session_record(const struct session *session)
{
	if (!ioctl(session->fd, MMPATH_IOC_RECORD))
		return;
	if (errno == ENOTTY)
		die_no_device();
	die(exit_status_of(errno), "%s: cannot record: %s", device(), strerror(errno));
}

static uint64_t resident_of(pid_t pid)
{
	char *path = xasprintf("/proc/%d/statm", pid), *text = read_file(path);
	unsigned long long pages = 0;

	if (!text || sscanf(text, "%*u %llu", &pages) != 1)
		pages = 0;
	free(text);
	free(path);
	return pages * sysconf(_SC_PAGESIZE);
}

/* Bytes; what was seen last when they have ended. */
uint64_t session_resident(struct session *session)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < session->count; i++)
		sum += resident_of(session->pids[i]);
	if (sum)
		session->resident = sum;
	return session->resident;
}

/* ---- views --------------------------------------------------------------- */

static int view_open(struct session *session, uint32_t which)
{
	if (session->views[which] < 0)
		session->views[which] = ioctl(session->fd, MMPATH_IOC_VIEW, &which);
	return session->views[which];
}

/* As cgroup_read(): NULL and errno. */
char *session_read(struct session *session, const char *file)
{
	uint32_t which;
	int fd;

	for (which = 0; which < ARRAY_SIZE(view_files); which++)
		if (!strcmp(file, view_files[which]))
			break;
	errno = ENOENT;
	if (which == ARRAY_SIZE(view_files))
		return NULL;
	fd = view_open(session, which);
	if (fd < 0 || lseek(fd, 0, SEEK_SET))
		return NULL;
	return read_fd(fd);
}

/* What the curves and regions are of: "process 42", "processes 42, 43". */
void session_as_cgroup(struct session *session, struct cgroup *cgroup)
{
	char *name = xasprintf("process%s", session->count > 1 ? "es" : ""), *longer;
	size_t i;

	for (i = 0; i < session->count; i++) {
		longer = xasprintf("%s%s %d", name, i ? "," : "", session->pids[i]);
		free(name);
		name = longer;
	}
	memset(cgroup, 0, sizeof(*cgroup));
	cgroup->name = name;
	cgroup->session = session;
}
