// SPDX-License-Identifier: GPL-2.0
/*
 * Which driver delivers the page accesses, and its parameters.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pathctl.h"

struct setting {
	char *name, *file;
	const char *value;
	char *before;
};

/* ---- showing ----------------------------------------------------------- */

static void print_caps(json_t *caps)
{
	json_t *word;
	size_t i;

	json_array_foreach(caps, i, word)
		printf("%s%s", i ? " " : "  (", json_string_value(word));
	puts(json_array_size(caps) ? ")" : "");
}

static void print_driver(json_t *driver)
{
	const char *key;
	json_t *value;

	printf("%s %s", json_is_true(json_object_get(driver, "in_use")) ? "*" : " ",
	       json_string_value(json_object_get(driver, "name")));
	print_caps(json_object_get(driver, "caps"));
	json_object_foreach(json_object_get(driver, "parameters"), key, value) {
		if (json_is_integer(value))
			printf("    %-18s %lld\n", key, (long long)json_integer_value(value));
		else
			printf("    %-18s %s\n", key, json_string_value(value));
	}
}

static void show(bool json)
{
	json_t *array = json_array(), *driver;
	size_t i, count, in_use;
	char **names = driver_list(&count, &in_use);

	for (i = 0; i < count; i++)
		json_array_append_new(array, driver_json(names[i], i == in_use));
	free_list(names, count);
	if (json) {
		print_json(stdout, array);
		return;
	}
	json_array_foreach(array, i, driver)
		print_driver(driver);
	json_decref(array);
}

/* ---- changing ---------------------------------------------------------- */

static char *join(char **words, size_t count, const char *except)
{
	char *text = xdup("");
	size_t i;

	for (i = 0; i < count; i++) {
		char *longer;

		if (!strcmp(words[i], except))
			continue;
		longer = xasprintf("%s%s%s", text, *text ? " " : "", words[i]);
		free(text);
		text = longer;
	}
	return text;
}

static bool contains(char **words, size_t count, const char *word)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (!strcmp(words[i], word))
			return true;
	return false;
}

static void need_driver(const char *name)
{
	size_t count, in_use;
	char **names = driver_list(&count, &in_use);

	if (!contains(names, count, name))
		die(EX_NOINPUT, "no driver %s: this kernel has %s", name, join(names, count, ""));
	free_list(names, count);
}

static void need_parameter(const char *driver, const char *name)
{
	char *dir = xasprintf("drivers/%s", driver);
	size_t count;
	char **names = sysfs_list(dir, &count);

	if (!contains(names, count, name) || !strcmp(name, "caps"))
		die(EX_USAGE, "driver %s has no parameter %s: it has %s", driver, name,
		    count > 1 ? join(names, count, "caps") : "none");
	free_list(names, count);
	free(dir);
}

static void parse_setting(struct setting *setting, const char *driver, const char *text)
{
	const char *equals = strchr(text, '=');

	if (!equals || equals == text || !equals[1])
		die(EX_USAGE, "%s: must be PARAMETER=VALUE", text);
	setting->name = xdup(text);
	setting->name[equals - text] = '\0';
	setting->value = equals + 1;
	need_parameter(driver, setting->name);
	setting->file = xasprintf("drivers/%s/%s", driver, setting->name);
	setting->before = sysfs_read(setting->file);
}

/* All or nothing: what was set before the one that failed is put back. */
static void apply(struct setting *settings, size_t count)
{
	size_t i, done;
	int err = 0;

	for (done = 0; done < count && !err; done++)
		err = sysfs_write(settings[done].file, settings[done].value);
	if (!err)
		return;
	for (i = 0; i + 1 < done; i++)
		sysfs_write(settings[i].file, settings[i].before);
	if (err == EACCES || err == EPERM)
		die(EX_NOPERM, "only root may set %s: use sudo", settings[done - 1].name);
	die(exit_status_of(err), "the kernel refuses %s=%s (%s); nothing was changed",
	    settings[done - 1].name, settings[done - 1].value, strerror(err));
}

static void use(const char *driver)
{
	int err = sysfs_write("driver", driver);

	if (err == EACCES || err == EPERM)
		die(EX_NOPERM, "only root may choose the driver: use sudo");
	if (err)
		die(exit_status_of(err), "the kernel refuses driver %s (%s)", driver,
		    strerror(err));
}

static void change(const char *driver, char **words, size_t count)
{
	struct setting *settings = xalloc(count * sizeof(*settings));
	size_t i;

	need_driver(driver);
	for (i = 0; i < count; i++)
		parse_setting(&settings[i], driver, words[i]);
	apply(settings, count);
	use(driver);
	for (i = 0; i < count; i++) {
		free(settings[i].name);
		free(settings[i].file);
		free(settings[i].before);
	}
	free(settings);
}

static int run(const struct command *cmd, int argc, char **argv)
{
	static const struct option options[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	bool json = false;

	while (next_option(cmd, argc, argv, "jh", options) == 'j')
		json = true;
	sysfs_require();
	if (optind < argc)
		change(argv[optind], argv + optind + 1, argc - optind - 1);
	if (optind == argc || json)
		show(json);
	return EX_OK;
}

const struct command cmd_driver = {
	.name = "driver",
	.summary = "show, choose and set up the driver that delivers page accesses",
	.help = "usage: pathctl driver [--json] [NAME [PARAMETER=VALUE...]]\n\n"
		"Without NAME: list the drivers, what they deliver and their parameters. * marks\n"
		"the one in use. With NAME (root): set the parameters, all or none, and use the\n"
		"driver from now on, for running programs as well.\n\n"
		"  pathctl driver emul pab_entries=4096 overhead_target=10\n\n"
		"Documentation/ABI/testing/sysfs-kernel-mm-path has the ranges.\n",
	.run = run,
};
