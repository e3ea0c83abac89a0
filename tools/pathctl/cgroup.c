// SPDX-License-Identifier: GPL-2.0
/*
 * Finding cgroups, and saying why a file of theirs cannot be read.
 */
#include <errno.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pathctl.h"

const char *cgroup_root(void)
{
	const char *root = getenv("PATHCTL_CGROUP");

	return root && *root ? root : "/sys/fs/cgroup";
}

bool cgroup_root_present(void)
{
	char *path = xasprintf("%s/cgroup.controllers", cgroup_root());
	bool present = !access(path, F_OK);

	free(path);
	return present;
}

void cgroup_require_root(void)
{
	if (!cgroup_root_present())
		die(EX_UNAVAILABLE, "no cgroup v2 at %s: mount -t cgroup2 none %s", cgroup_root(),
		    cgroup_root());
}

/* ---- which one ------------------------------------------------------- */

/* That of the machine, or of the cgroup namespace, which may be tracked. */
bool cgroup_is_root(const struct cgroup *cgroup)
{
	return !strcmp(cgroup->name, "/");
}

/* A name below the root, which may start with a slash as in /proc/PID/cgroup. */
void cgroup_set(struct cgroup *cgroup, const char *name)
{
	size_t length;

	name += strspn(name, "/");
	length = strlen(name);
	while (length && name[length - 1] == '/')
		length--;
	cgroup->name = length ? xasprintf("%.*s", (int)length, name) : xdup("/");
	cgroup->dir = length ? xasprintf("%s/%s", cgroup_root(), cgroup->name) :
			       xdup(cgroup_root());
	cgroup->session = NULL;
}

bool is_directory(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

bool is_number(const char *text)
{
	return *text && !text[strspn(text, "0123456789")];
}

/* The line "0::/name" of /proc/PID/cgroup. */
void cgroup_of_pid(struct cgroup *cgroup, const char *pid)
{
	char *path = xasprintf("/proc/%s/cgroup", pid);
	char *text = read_file(path), *rest = text, *line;

	if (!text)
		die(EX_NOINPUT, "no process and no cgroup %s", pid);
	while ((line = strsep(&rest, "\n")))
		if (!strncmp(line, "0::", 3))
			break;
	if (!line)
		die(EX_UNAVAILABLE, "process %s is in no cgroup v2", pid);
	cgroup_set(cgroup, line + 3);
	free(text);
	free(path);
}

/* A number that no cgroup has as its name. */
bool names_only_a_pid(const char *argument)
{
	char *dir = xasprintf("%s/%s", cgroup_root(), argument);
	bool is_pid = is_number(argument) && !is_directory(dir);

	free(dir);
	return is_pid;
}

/* A name below the root, a path into it, or a process of it. */
void cgroup_find(struct cgroup *cgroup, const char *argument)
{
	size_t length = strlen(cgroup_root());
	bool below = !strncmp(argument, cgroup_root(), length) &&
		     (argument[length] == '/' || !argument[length]);

	cgroup_require_root();
	cgroup_set(cgroup, below ? argument + length : argument);
	if (is_directory(cgroup->dir))
		return;
	if (is_number(argument)) {
		cgroup_free(cgroup);
		cgroup_of_pid(cgroup, argument);
		if (is_directory(cgroup->dir))
			return;
	}
	die(EX_NOINPUT, "no cgroup %s below %s; \"pathctl status\" lists the tracked ones",
	    argument, cgroup_root());
}

void cgroup_free(struct cgroup *cgroup)
{
	free(cgroup->name);
	free(cgroup->dir);
	memset(cgroup, 0, sizeof(*cgroup));
}

/* ---- its files ------------------------------------------------------- */

/* NULL and errno. */
char *cgroup_read(const struct cgroup *cgroup, const char *file)
{
	char *path, *text;
	int err;

	if (cgroup->session)
		return session_read(cgroup->session, file);
	path = xasprintf("%s/%s", cgroup->dir, file);
	text = read_file(path);
	err = errno;
	free(path);
	errno = err;
	return text;
}

int cgroup_write(const struct cgroup *cgroup, const char *file, const char *text)
{
	char *path = xasprintf("%s/%s", cgroup->dir, file);
	int err = write_file(path, text);

	free(path);
	return err;
}

static void die_missing(const struct cgroup *cgroup, const char *file)
{
	sysfs_require();
	if (cgroup_is_root(cgroup))
		die(EX_USAGE, "the root cgroup has no %s: name one below it", file);
	if (!is_directory(cgroup->dir))
		die(EX_NOINPUT, "cgroup %s is gone", cgroup->name);
	die(EX_UNAVAILABLE,
	    "no %s in %s: switch the memory controller on (+memory in cgroup.subtree_control above it) in a kernel with CONFIG_MMPATH",
	    file, cgroup->name);
}

/* Why a file of a cgroup cannot be used. */
void cgroup_die(const struct cgroup *cgroup, const char *file, int err)
{
	if (cgroup->session)
		die(exit_status_of(err), "%s of %s: %s", file, cgroup->name, strerror(err));
	if (err == ENOENT)
		die_missing(cgroup, file);
	if (err == ENODATA)
		die(EX_NOINPUT, "cgroup %s is not tracked: pathctl track %s on", cgroup->name,
		    shell_word(cgroup->name));
	if (err == EACCES || err == EPERM)
		die(EX_NOPERM, "%s of cgroup %s: permission denied; run pathctl as root", file,
		    cgroup->name);
	die(exit_status_of(err), "%s of cgroup %s: %s", file, cgroup->name, strerror(err));
}

char *cgroup_read_or_die(const struct cgroup *cgroup, const char *file)
{
	char *text = cgroup_read(cgroup, file);

	if (!text)
		cgroup_die(cgroup, file, errno);
	return text;
}

/* A file of logical counters, which the cpu controller has. */
char *cgroup_read_cpu(const struct cgroup *cgroup, const char *file, const char *config)
{
	char *text = cgroup_read(cgroup, file);
	int err = errno;

	if (text)
		return text;
	if (err == EACCES || err == EPERM)
		die(EX_NOPERM, "%s of cgroup %s: permission denied; run pathctl as root, or see kernel.perf_event_paranoid",
		    file, cgroup->name);
	if (err == ENOENT && !is_directory(cgroup->dir))
		die(EX_NOINPUT, "cgroup %s is gone", cgroup->name);
	if (err == ENOENT)
		die(EX_UNAVAILABLE, "no %s in %s: switch the cpu controller on (+cpu in cgroup.subtree_control above it) in a kernel with %s",
		    file, cgroup->name, config);
	die(exit_status_of(err), "%s of cgroup %s: %s", file, cgroup->name, strerror(err));
}

/* A file with one number; "max" is NO_LIMIT. */
bool cgroup_u64(const struct cgroup *cgroup, const char *file, uint64_t *value)
{
	char *text = cgroup_read(cgroup, file);
	bool good = false;

	if (!text)
		return false;
	text[strcspn(text, "\n")] = '\0';
	if (!strcmp(text, "max")) {
		*value = NO_LIMIT;
		good = true;
	} else {
		good = parse_u64(text, value);
	}
	free(text);
	return good;
}

/* What it has in memory, and what that is called. */
bool cgroup_memory_now(const struct cgroup *cgroup, const char **what, uint64_t *bytes)
{
	if (cgroup->session) {
		*what = "resident";
		*bytes = session_resident(cgroup->session);
		return *bytes;
	}
	*what = "memory.current";
	return cgroup_u64(cgroup, *what, bytes);
}

bool cgroup_keyed(const struct cgroup *cgroup, const char *file, struct keyed *keyed)
{
	char *text = cgroup_read(cgroup, file);

	memset(keyed, 0, sizeof(*keyed));
	if (text)
		keyed_parse(keyed, text);
	return text;
}

bool cgroup_is_tracked(const struct cgroup *cgroup)
{
	uint64_t track;

	return cgroup_u64(cgroup, "memory.path.track", &track) && track;
}

/* The word in brackets, in a copy that is to be freed; NULL and errno. */
char *cgroup_choice(const struct cgroup *cgroup, const char *file)
{
	char *text = cgroup_read(cgroup, file), *word, *choice = NULL;

	if (!text)
		return NULL;
	word = strchr(text, '[');
	if (word && strchr(word, ']')) {
		*strchr(word, ']') = '\0';
		choice = xdup(word + 1);
	}
	free(text);
	errno = choice ? 0 : EINVAL;
	return choice;
}

/* Are pages prefetched because of this cgroup? */
bool cgroup_prefetches(const struct cgroup *cgroup)
{
	char *mode = cgroup_choice(cgroup, "memory.path.prefetch");
	bool does = mode && strcmp(mode, "none");

	free(mode);
	return does;
}

/* How many programs it tracks now. */
uint64_t cgroup_programs(const struct cgroup *cgroup)
{
	struct keyed stat;
	uint64_t programs;

	cgroup_keyed(cgroup, "memory.path.stat", &stat);
	programs = keyed_u64(&stat, "contexts", 0);
	keyed_free(&stat);
	return programs;
}

/* Some program has not run long enough for what tracking costs, and the curve, to say much. */
bool cgroup_settling(const struct cgroup *cgroup)
{
	struct keyed stat;
	bool settling;

	if (!cgroup_keyed(cgroup, "memory.path.stat", &stat))
		return false;
	settling = keyed_u64(&stat, "settling", 0);
	keyed_free(&stat);
	return settling;
}

/* ---- all of them ----------------------------------------------------- */

static void add_wanted(struct cgroup **list, size_t *count, const char *dir,
		       bool (*wanted)(const struct cgroup *cgroup))
{
	struct cgroup cgroup;

	cgroup_set(&cgroup, dir + strlen(cgroup_root()));
	if (!wanted(&cgroup)) {
		cgroup_free(&cgroup);
		return;
	}
	*list = xgrow(*list, *count + 1, sizeof(**list));
	(*list)[(*count)++] = cgroup;
}

static int by_path(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

/* Every cgroup that is wanted, from the one in a directory on, in order of their names. */
struct cgroup *cgroups_below(const char *dir, bool (*wanted)(const struct cgroup *cgroup),
			     size_t *count)
{
	char *paths[] = { (char *)dir, NULL };
	struct cgroup *list = NULL;
	FTSENT *entry;
	FTS *fts;

	cgroup_require_root();
	*count = 0;
	fts = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, by_path);
	if (!fts)
		die(EX_IOERR, "%s: %s", dir, strerror(errno));
	while ((entry = fts_read(fts)))
		if (entry->fts_info == FTS_D)
			add_wanted(&list, count, entry->fts_path, wanted);
	fts_close(fts);
	return list;
}

/* Every cgroup that has a curve of its own. */
struct cgroup *cgroups_tracked(size_t *count)
{
	return cgroups_below(cgroup_root(), cgroup_is_tracked, count);
}

void cgroups_free(struct cgroup *cgroups, size_t count)
{
	while (count--)
		cgroup_free(&cgroups[count]);
	free(cgroups);
}
