// SPDX-License-Identifier: GPL-2.0
/*
 * Is page access tracking there, on, and what is it doing;
 * the switch for the whole machine.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "pathctl.h"

/* ---- collecting -------------------------------------------------------- */

static json_t *values_json(const char *dir)
{
	json_t *object = json_object();
	size_t i, count;
	char **files = sysfs_list(dir, &count);

	for (i = 0; i < count; i++) {
		char *name = xasprintf("%s/%s", dir, files[i]);

		if (sysfs_is_value(name)) {
			char *text = sysfs_read(name);

			json_object_set_new(object, files[i], json_number_or_text(text));
			free(text);
		}
		free(name);
	}
	free_list(files, count);
	return object;
}

static json_t *settings_json(void)
{
	json_t *settings = values_json(".");

	json_object_del(settings, "enabled");
	json_object_del(settings, "driver");
	return settings;
}

static json_t *drivers_json(void)
{
	json_t *array = json_array();
	size_t i, count, in_use;
	char **names = driver_list(&count, &in_use);

	for (i = 0; i < count; i++)
		json_array_append_new(array, driver_json(names[i], i == in_use));
	free_list(names, count);
	return array;
}

/* The tracked cgroups of which @of_interest is true */
static json_t *cgroups_json(bool (*of_interest)(const struct cgroup *cgroup))
{
	json_t *array = json_array();
	struct cgroup *cgroups;
	size_t i, count;

	if (!cgroup_root_present())
		return array;
	cgroups = cgroups_tracked(&count);
	for (i = 0; i < count; i++)
		if (of_interest(&cgroups[i]))
			json_array_append_new(array, json_text(cgroups[i].name));
	cgroups_free(cgroups, count);
	return array;
}

static json_t *status_json(void)
{
	struct utsname name;

	uname(&name);
	return json_pack("{s:o, s:b, s:o, s:o, s:o, s:o, s:o}", "kernel", json_text(name.release),
			 "enabled", sysfs_u64("enabled") != 0, "drivers", drivers_json(),
			 "settings", settings_json(), "stats", values_json("stats"),
			 "tracked_cgroups", cgroups_json(cgroup_is_tracked),
			 "settling_cgroups", cgroups_json(cgroup_settling));
}

/* ---- printing ---------------------------------------------------------- */

static void print_values(const char *title, json_t *object)
{
	const char *key;
	json_t *value;

	printf("%s\n", title);
	json_object_foreach(object, key, value) {
		if (json_is_integer(value))
			printf("  %-20s %lld\n", key, (long long)json_integer_value(value));
		else
			printf("  %-20s %s\n", key, json_string_value(value));
	}
}

static void print_drivers(json_t *drivers)
{
	json_t *driver;
	size_t i;

	fputs("driver:  ", stdout);
	json_array_foreach(drivers, i, driver)
		printf(json_is_true(json_object_get(driver, "in_use")) ? " [%s]" : " %s",
		       json_string_value(json_object_get(driver, "name")));
	putchar('\n');
}

static bool has_text(json_t *array, const char *text)
{
	json_t *one;
	size_t i;

	json_array_foreach(array, i, one)
		if (!strcmp(json_string_value(one), text))
			return true;
	return false;
}

static void print_cgroups(json_t *cgroups, json_t *settling)
{
	json_t *name;
	size_t i;

	if (!json_array_size(cgroups))
		puts("no cgroup is tracked: pathctl track CGROUP on, or pathctl track -- COMMAND");
	else
		puts("tracked cgroups");
	json_array_foreach(cgroups, i, name) {
		char *text = printable(json_string_value(name));
		bool settles = has_text(settling, json_string_value(name));

		printf("  %s%s\n", text, settles ? " (still settling)" : "");
		free(text);
	}
}

static void print_status(json_t *status)
{
	bool on = json_is_true(json_object_get(status, "enabled"));

	printf("kernel:   %s\n", json_string_value(json_object_get(status, "kernel")));
	printf("tracking: %s\n", on ? "on" : "off (sudo pathctl on)");
	print_drivers(json_object_get(status, "drivers"));
	print_values("settings", json_object_get(status, "settings"));
	print_values("since boot", json_object_get(status, "stats"));
	print_cgroups(json_object_get(status, "tracked_cgroups"),
		      json_object_get(status, "settling_cgroups"));
}

/* ---- the commands ------------------------------------------------------ */

static bool only_option_json(const struct command *cmd, int argc, char **argv)
{
	static const struct option options[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	bool json = false;

	while (next_option(cmd, argc, argv, "jh", options) == 'j')
		json = true;
	if (optind < argc)
		die(EX_USAGE, "%s takes no argument \"%s\"", cmd->name, argv[optind]);
	return json;
}

static int run_status(const struct command *cmd, int argc, char **argv)
{
	bool json = only_option_json(cmd, argc, argv);
	json_t *status;

	sysfs_require();
	status = status_json();
	if (json) {
		print_json(stdout, status);
		return EX_OK;
	}
	print_status(status);
	json_decref(status);
	return EX_OK;
}

static int switch_tracking(const char *to)
{
	int err;

	sysfs_require();
	err = sysfs_write("enabled", to);
	if (err == EACCES || err == EPERM)
		die(EX_NOPERM, "only root may switch tracking on and off: use sudo");
	if (err)
		die(exit_status_of(err), "%s/enabled: %s", sysfs_root(), strerror(err));
	return EX_OK;
}

static int run_on(const struct command *cmd, int argc, char **argv)
{
	only_option_json(cmd, argc, argv);
	return switch_tracking("1");
}

static int run_off(const struct command *cmd, int argc, char **argv)
{
	only_option_json(cmd, argc, argv);
	return switch_tracking("0");
}

const struct command cmd_status = {
	.name = "status",
	.summary = "whether tracking is on, its settings and counters",
	.help = "usage: pathctl status [--json]\n\n"
		"Shows whether tracking is on, the drivers, the settings of /sys/kernel/mm/path,\n"
		"the counters since boot, and the tracked cgroups. A cgroup is still settling\n"
		"while a program in it has run for less than two epochs: the cost of tracking and\n"
		"the curve say little yet.\n",
	.run = run_status,
};

const struct command cmd_on = {
	.name = "on",
	.summary = "switch tracking on for the machine (root)",
	.help = "usage: pathctl on\n\n"
		"Tracks the processes of every cgroup that asks for it (pathctl track CGROUP on).\n",
	.run = run_on,
};

const struct command cmd_off = {
	.name = "off",
	.summary = "switch tracking off for the machine (root)",
	.help = "usage: pathctl off\n\n"
		"Ends tracking everywhere and gives all pages back. Cgroups keep their setting.\n",
	.run = run_off,
};
