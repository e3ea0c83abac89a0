// SPDX-License-Identifier: GPL-2.0
/*
 * sysfs.c - /sys/kernel/mm/path.
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "pathctl.h"

const char *sysfs_root(void)
{
	const char *root = getenv("PATHCTL_SYSFS");

	return root && *root ? root : "/sys/kernel/mm/path";
}

bool sysfs_present(void)
{
	return !access(sysfs_root(), F_OK);
}

void sysfs_require(void)
{
	struct utsname name;

	if (sysfs_present())
		return;
	uname(&name);
	die(EX_UNAVAILABLE,
	    "no %s: Linux %s does not track pages; boot a kernel with CONFIG_MMPATH",
	    sysfs_root(), name.release);
}

char *sysfs_path(const char *name)
{
	return xasprintf("%s/%s", sysfs_root(), name);
}

static void die_reading(const char *path, int err)
{
	if (err == EACCES || err == EPERM)
		die(EX_NOPERM, "%s: permission denied; ask root, or run pathctl as root", path);
	die(exit_status_of(err), "%s: %s; is the kernel older than pathctl?", path, strerror(err));
}

/* Without the newline, to be freed. */
char *sysfs_read(const char *name)
{
	char *path = sysfs_path(name);
	char *text = read_file(path);

	if (!text)
		die_reading(path, errno);
	text[strcspn(text, "\n")] = '\0';
	free(path);
	return text;
}

uint64_t sysfs_u64(const char *name)
{
	char *text = sysfs_read(name);
	uint64_t value;

	if (!parse_u64(text, &value))
		die(EX_DATAERR, "%s/%s: \"%s\" is no number", sysfs_root(), name, text);
	free(text);
	return value;
}

int sysfs_write(const char *name, const char *text)
{
	char *path = sysfs_path(name);
	int err = write_file(path, text);

	free(path);
	return err;
}

/* A file, not a directory. */
bool sysfs_is_value(const char *name)
{
	char *path = sysfs_path(name);
	struct stat st;
	bool value = !stat(path, &st) && S_ISREG(st.st_mode);

	free(path);
	return value;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* What is in a directory, sorted; nothing when it cannot be read. */
char **sysfs_list(const char *name, size_t *count)
{
	char **list = NULL, *path = sysfs_path(name);
	DIR *dir = opendir(path);
	struct dirent *entry;

	*count = 0;
	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		list = xgrow(list, *count + 1, sizeof(*list));
		list[(*count)++] = xdup(entry->d_name);
	}
	if (dir)
		closedir(dir);
	free(path);
	if (*count)
		qsort(list, *count, sizeof(*list), by_name);
	return list;
}

void free_list(char **list, size_t count)
{
	while (count--)
		free(list[count]);
	free(list);
}

/* Nothing is tracked anywhere while enabled is 0. */
void tracking_switch_on(void)
{
	int err;

	if (sysfs_u64("enabled"))
		return;
	err = sysfs_write("enabled", "1");
	if (err == EACCES || err == EPERM)
		die(EX_NOPERM, "tracking is off and only root may switch it on: sudo pathctl on");
	if (err)
		die(exit_status_of(err), "%s/enabled: %s", sysfs_root(), strerror(err));
	note("tracking was off and is on now; \"pathctl off\" ends it everywhere");
}

/* ---- drivers --------------------------------------------------------- */

/* "[emul] replay": the names, and which one is in use (count: none is). */
char **driver_list(size_t *count, size_t *in_use)
{
	char *text = sysfs_read("driver"), *rest = text, *word, **list = NULL;

	*count = 0;
	*in_use = SIZE_MAX;
	while ((word = strsep(&rest, " "))) {
		size_t length = strlen(word);

		if (!length)
			continue;
		if (word[0] == '[' && word[length - 1] == ']') {
			word[length - 1] = '\0';
			word++;
			*in_use = *count;
		}
		list = xgrow(list, *count + 1, sizeof(*list));
		list[(*count)++] = xdup(word);
	}
	free(text);
	return list;
}

static json_t *words_json(const char *text)
{
	json_t *array = json_array();
	char *copy = xdup(text), *rest = copy, *word;

	while ((word = strsep(&rest, " \n")))
		if (*word)
			json_array_append_new(array, json_text(word));
	free(copy);
	return array;
}

json_t *driver_json(const char *name, bool in_use)
{
	json_t *driver = json_object(), *parameters = json_object();
	char *dir = xasprintf("drivers/%s", name), **files;
	size_t i, count;

	json_object_set_new(driver, "name", json_text(name));
	json_object_set_new(driver, "in_use", json_boolean(in_use));
	files = sysfs_list(dir, &count);
	for (i = 0; i < count; i++) {
		char *file = xasprintf("%s/%s", dir, files[i]);
		char *text = sysfs_read(file);

		if (!strcmp(files[i], "caps"))
			json_object_set_new(driver, "caps", words_json(text));
		else
			json_object_set_new(parameters, files[i], json_number_or_text(text));
		free(text);
		free(file);
	}
	json_object_set_new(driver, "parameters", parameters);
	free_list(files, count);
	free(dir);
	return driver;
}
