// SPDX-License-Identifier: GPL-2.0
/*
 * The user interface: every file exists, with its mode and default. Bad input gives
 * the documented error and changes nothing. Every file that can be read can be
 * parsed. See Documentation/ABI/testing/.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "path_util.h"

/* @min to @max are valid; @pow2: only powers of two, others are -EINVAL */
struct number {
	const char *knob;
	long long value, min, max;
	bool pow2;
};

static const struct number numbers[] = {
	{ "enabled", 0, 0, 1 },
	{ "epoch_ms", 1000, 100, 60000 },
	{ "region_min_kb", 1024, 4, 1 << 30 },
	{ "group_pages", 16, 1, 65536, true },
	{ "sample_pages", 65536, 1024, 1 << 28 },
	{ PATH_EMUL "pab_entries", 2048, 16, 1 << 20, true },
	{ PATH_EMUL "pab_ways", 16, 8, 64, true },
	{ PATH_EMUL "filter_entries", 64, 0, 256 },
	{ PATH_EMUL "log_entries", 1024, 64, 65536, true },
	{ PATH_EMUL "sample_shift", 0, 0, 24 },
	{ PATH_EMUL "overhead_target", 5, 0, 100 },
	{ "drivers/replay/log_entries", 1024, 64, 65536, true },
};

static const char * const told[] = {
	PATH_EMUL "caps", "drivers/replay/caps", "stats/contexts", "stats/trap_ns", "stats/records",
	"stats/faults", "stats/dropped_log_full", "stats/dropped_nomem", "stats/regions_full",
	"stats/attach_failed", "stats/driver_switches", "stats/scanned", "stats/escaped",
};

static const struct {
	const char *name;
	mode_t mode;
	bool always;		/* can be read without tracking */
} cgroup_files[] = {
	{ "memory.path.track", 0644, true }, { "memory.path.mrc", 0644 },
	{ "memory.path.regions", 0444 }, { "memory.path.region_mrc", 0444 },
	{ "memory.path.stat", 0444 }, { "memory.path.replace", 0644, true },
	{ "memory.path.balance", 0644, true }, { "memory.path.balance_stat", 0444 },
	{ "memory.path.weight", 0644 }, { "memory.path.sla", 0644 },
	{ "memory.path.target", 0444 }, { "memory.path.prefetch", 0644, true },
	{ "memory.path.prefetch_regions", 0444 },
};

/* Not a number, in the eyes of kstrtoul() */
static const char * const garbage[] = {
	"", " ", "\n", "x", "-1", "1x", "x1", "1 2", "0x10", "1.5", "+-1", "--1", "1,", "one",
	"\t1",
};

static char *cg;

static bool has_mode(const char *dir, const char *name, mode_t mode)
{
	char file[512];
	struct stat st;

	snprintf(file, sizeof(file), "%s/%s", dir, name);
	if (stat(file, &st)) {
		ksft_print_msg("%s: %s\n", file, strerror(errno));
		return false;
	}
	if ((st.st_mode & 07777) != mode)
		ksft_print_msg("%s: mode %o, not %o\n", file, st.st_mode & 07777, mode);
	return (st.st_mode & 07777) == mode;
}

static void test_files(void)
{
	bool good = has_mode(PATH_SYSFS, "driver", 0644);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(numbers); i++)
		good &= has_mode(PATH_SYSFS, numbers[i].knob, 0644);
	for (i = 0; i < ARRAY_SIZE(told); i++)
		good &= has_mode(PATH_SYSFS, told[i], 0444);
	ksft_test_result(good, "sysfs files and their modes\n");
	good = true;
	for (i = 0; i < ARRAY_SIZE(cgroup_files); i++)
		good &= has_mode(cg, cgroup_files[i].name, cgroup_files[i].mode);
	good &= path_ne(access(PATH_CGROUP "/memory.path.track", F_OK), 0);
	ksft_test_result(good, "cgroup files and their modes\n");
}

static void test_defaults(void)
{
	bool good = true;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(numbers); i++) {
		if (path_get(numbers[i].knob) == numbers[i].value)
			continue;
		ksft_print_msg("%s is %lld, not %lld\n", numbers[i].knob,
			       path_get(numbers[i].knob), numbers[i].value);
		good = false;
	}
	ksft_test_result(good, "defaults\n");
}

static bool try_knob(const char *knob, const char *text, int want)
{
	char file[256], before[64], after[64];
	int ret;

	snprintf(file, sizeof(file), PATH_SYSFS "%s", knob);
	path_read(file, before, sizeof(before));
	ret = path_write_bytes(file, text, strlen(text) ? strlen(text) : 1);
	path_read(file, after, sizeof(after));
	if (ret != want)
		ksft_print_msg("\"%s\" to %s: %d, not %d\n", text, knob, ret, want);
	else if (ret && strcmp(before, after))
		ksft_print_msg("\"%s\" to %s: %s became %s\n", text, knob, before, after);
	return ret == want && (!ret || !strcmp(before, after));
}

static bool try_number(const char *knob, long long value, int want)
{
	char text[32];

	snprintf(text, sizeof(text), "%lld", value);
	return try_knob(knob, text, want) && (want || path_get(knob) == value);
}

static void test_number(const struct number *n)
{
	bool good = true;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(garbage); i++)
		good &= try_knob(n->knob, garbage[i], -EINVAL);
	good &= try_knob(n->knob, "99999999999999999999999", -ERANGE);
	good &= try_number(n->knob, n->max + 1, -ERANGE);
	if (n->min > 1)
		good &= try_number(n->knob, n->min - 1, -ERANGE);
	if (n->pow2)
		good &= try_number(n->knob, n->max - 1, n->max > 2 ? -EINVAL : 0);
	good &= try_number(n->knob, n->value, 0);
	ksft_test_result(good, "%s: bad input\n", n->knob);
}

static void test_limits(void)
{
	bool good = true;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(numbers); i++) {
		const struct number *n = numbers + i;

		/* with pab_entries this small, or pab_ways this large, the other is bad */
		if (strstr(n->knob, "pab_"))
			continue;
		good &= try_number(n->knob, n->min, 0);
		good &= try_number(n->knob, n->max, 0);
		good &= try_number(n->knob, n->value, 0);
	}
	good &= try_number("sample_pages", 0, 0) && try_number("sample_pages", 65536, 0);
	ksft_test_result(good, "the limits themselves are good\n");
}

static void test_pab(void)
{
	bool good = try_number(PATH_EMUL "pab_ways", 64, 0);

	good &= try_number(PATH_EMUL "pab_entries", 32, -ERANGE);
	good &= try_number(PATH_EMUL "pab_entries", 64, 0);
	good &= try_number(PATH_EMUL "pab_ways", 16, 0);
	good &= try_number(PATH_EMUL "pab_entries", 16, 0);
	good &= try_number(PATH_EMUL "pab_ways", 32, -ERANGE);
	good &= try_number(PATH_EMUL "pab_entries", 1 << 20, 0);
	good &= try_number(PATH_EMUL "pab_entries", 2048, 0);
	ksft_test_result(good, "more ways than entries are out of range\n");
}

static bool driver_is(const char *want)
{
	char now[128];

	path_read(PATH_SYSFS "driver", now, sizeof(now));
	if (!strcmp(now, want))
		return true;
	ksft_print_msg("driver is %s", now);
	return false;
}

static void test_driver(void)
{
	long long before = path_get("stats/driver_switches");
	bool good = driver_is("[emul] replay vpath\n");

	good &= try_knob("driver", "nonesuch", -ENODEV) && try_knob("driver", "", -ENODEV);
	good &= try_knob("driver", "emulx", -ENODEV) && try_knob("driver", "emu", -ENODEV);
	good &= try_knob("driver", "replay\n", 0) && driver_is("emul [replay] vpath\n");
	good &= try_knob("driver", "emul", 0) && driver_is("[emul] replay vpath\n");
	ksft_test_result(good && path_eq(path_get("stats/driver_switches"), before + 2),
			 "driver: list, switch, unknown\n");
}

/* Does the file have only documented words, including @must? */
static bool caps_have(const char *driver, const char *must)
{
	static const char known[] = " complete sampled burst hardware software ";
	char file[256], caps[256], word[64];
	bool good = true, found = false;
	char *at;

	snprintf(file, sizeof(file), PATH_SYSFS "drivers/%s/caps", driver);
	path_read(file, caps, sizeof(caps));
	for (at = strtok(caps, "\n "); at; at = strtok(NULL, "\n ")) {
		snprintf(word, sizeof(word), " %s ", at);
		good &= path_true(strstr(known, word));
		found |= !strcmp(at, must);
	}
	if (!good || !found)
		ksft_print_msg("%s cannot %s, or more than is documented\n", driver, must);
	return good && found;
}

static bool try_cg(const char *file, const char *text, int want)
{
	int ret = path_cg_write(cg, file, text);

	if (ret != want)
		ksft_print_msg("\"%s\" to %s: %d, not %d\n", text, file, ret, want);
	return ret == want;
}

static bool no_data(const char *file)
{
	char *text = path_cg_slurp(cg, file);

	if (text)
		ksft_print_msg("%s says %s\n", file, text);
	else if (errno != ENODATA)
		ksft_print_msg("%s: %s\n", file, strerror(errno));
	free(text);
	return !text && errno == ENODATA;
}

static void test_untracked(void)
{
	bool good = true;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cgroup_files); i++)
		good &= cgroup_files[i].always || no_data(cgroup_files[i].name);
	good &= try_cg("memory.path.mrc", "reset", -ENODATA);
	ksft_test_result(good, "nothing to read while track is 0\n");
}

static long long is_on(void)
{
	char *text = path_cg_slurp(cg, "memory.path.track");
	long long on = text ? atoll(text) : -1;

	free(text);
	return on;
}

static void test_track(void)
{
	static const char * const bad[] = { "2", "-1", "x", "1 1", "yes", "18446744073709551616" };
	bool good = path_eq(is_on(), 0);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		int ret = path_cg_write(cg, "memory.path.track", bad[i]);

		if (ret != -EINVAL && ret != -ERANGE)
			ksft_print_msg("\"%s\": %d\n", bad[i], ret);
		good &= path_true(ret == -EINVAL || ret == -ERANGE) && path_eq(is_on(), 0);
	}
	good &= try_cg("memory.path.track", "2", -EINVAL);
	good &= try_cg("memory.path.track", "1", 0) && path_eq(is_on(), 1);
	good &= try_cg("memory.path.track", "1\n", 0) && path_eq(is_on(), 1);
	good &= try_cg("memory.path.track", "0", 0) && path_eq(is_on(), 0);
	ksft_test_result(good, "memory.path.track\n");
}

/* In the end it tells that it has ended, and stays. */
static int touch_some(void *arg)
{
	__volatile__ char *p = path_map(4 * MIB, false);
	unsigned long i, round;

	for (round = 0; round < 3; round++)
		for (i = 0; i < 4 * MIB; i += PAGE)
			p[i]++;
	__atomic_store_n((bool *)arg, true, __ATOMIC_RELAXED);
	pause();
	return 0;
}

static void test_mrc(void)
{
	char *text = path_cg_slurp(cg, "memory.path.mrc");
	struct path_curve c = { };
	bool good = path_true(text) && path_parse_curve(text, &c);
	size_t i;

	good &= path_eq(path_text_key(text, "page_bytes"), (long long)PAGE) &&
		path_eq(path_text_key(text, "sample_shift"), 0) && path_eq(c.group, 16) &&
		path_ge(c.from, 64) && path_ge(c.records, 3 * 1024) && path_ge(c.cold, 1024) &&
		path_ge(c.footprint, 1024);
	for (i = 1; good && i < c.n; i++)
		good = path_le(c.misses[i], c.misses[i - 1]);
	good &= path_gt(c.n, 1) && path_ge(c.pages[c.n - 1], c.footprint) &&
		path_eq(c.misses[0], c.records - c.cold);
	if (!good)
		ksft_print_msg("%.400s\n", text ? text : strerror(errno));
	free(text);
	free(c.misses);
	ksft_test_result(good, "memory.path.mrc parses and falls\n");
	good = try_cg("memory.path.mrc", "rese", -EINVAL) &&
	       try_cg("memory.path.mrc", "reset 1", -EINVAL) &&
	       path_gt(path_cg_key(cg, "memory.path.mrc", "cold"), 0) &&
	       try_cg("memory.path.mrc", "reset\n", 0) &&
	       path_eq(path_cg_key(cg, "memory.path.mrc", "cold"), 0) &&
	       path_eq(path_cg_key(cg, "memory.path.mrc", "footprint"), 0);
	ksft_test_result(good, "memory.path.mrc: reset\n");
}

static void test_regions(pid_t pid)
{
	static const char * const columns[] = {
		"pid", "region", "kind", "start", "end", "mapped_kb", "footprint", "records",
		"cold", "shift", "state", "policy", "in_memory", "target", "name",
	};
	char *text = path_cg_slurp(cg, "memory.path.regions"), *line = text;
	bool good = text, rest = false, big = false;
	size_t i, n;
	struct path_region r;

	for (i = 0; good && i < ARRAY_SIZE(columns); i++, line += n + 1) {
		n = strlen(columns[i]);
		good = path_true(!strncmp(line, columns[i], n)) &&
		       path_eq(line[n], i + 1 < ARRAY_SIZE(columns) ? ' ' : '\n');
	}
	for (; good && *line; line = strchr(line, '\n') + 1) {
		good = path_true(path_parse_region(line, &r)) && path_eq(r.pid, pid) &&
		       path_same(r.state, "ok") && path_same(r.policy, "-") &&
		       path_eq(r.in_memory, 0) && path_eq(r.target, -1);
		rest |= !strcmp(r.kind, "rest") && r.id == 0 && !r.start;
		big |= !strcmp(r.kind, "mmap") && r.kb == 4096 && r.footprint == 1024 &&
		       r.records >= 3 * 1024 && r.cold == 1024 && r.end == r.start + 4 * MIB;
	}
	good = good && path_true(rest) && path_true(big);
	if (!good)
		ksft_print_msg("%.800s\n", text ? text : strerror(errno));
	free(text);
	ksft_test_result(good, "memory.path.regions parses\n");
}

static void test_region_mrc(pid_t pid)
{
	static const char header[] = "pid region pages lru mru\n";
	char *text = path_cg_slurp(cg, "memory.path.region_mrc");
	bool good = path_true(text) && path_true(!strncmp(text, header, strlen(header)));
	char *line = good ? text + strlen(header) : NULL;
	unsigned long long region, pages, lru, mru, points = 0, last = 0;
	int who, words;

	for (; good && *line; line = strchr(line, '\n') + 1) {
		words = sscanf(line, "%d %llu %llu %llu %llu", &who, &region, &pages, &lru, &mru);
		good = path_eq(words, 5) && path_eq(who, pid);
		points = region == last ? points + 1 : 1;
		good &= path_le(points, 66);
		last = region;
	}
	if (!good)
		ksft_print_msg("%.400s\n", text ? text : strerror(errno));
	free(text);
	ksft_test_result(good && path_true(points), "memory.path.region_mrc parses\n");
}

static void test_stat(void)
{
	static const char * const keys[] = {
		"contexts", "settling", "records", "faults", "dropped_log_full",
		"dropped_nomem", "regions_full", "scanned",
		"escaped", "overhead_permille", "overhead_now_permille", "worker_permille",
		"records_per_sec",
		"coverage_permille",
		"model_bytes",
	};
	char *text = path_cg_slurp(cg, "memory.path.stat");
	bool good = path_true(text) && path_true(strstr(text, "\ndriver emul\n"));
	size_t i;

	for (i = 0; good && i < ARRAY_SIZE(keys); i++)
		good = path_ge(path_text_key(text, keys[i]), 0);
	good = good && path_eq(path_text_key(text, "contexts"), 1) &&
	       path_ge(path_text_key(text, "records"), 3 * 1024) &&
	       path_eq(path_text_key(text, "coverage_permille"), 1000) &&
	       path_eq(path_text_key(text, "dropped_log_full"), 0);
	if (!good)
		ksft_print_msg("%s\n", text ? text : strerror(errno));
	free(text);
	ksft_test_result(good, "memory.path.stat parses\n");
}

static void test_tracked(void)
{
	unsigned long end = path_hangs_at(20);
	bool *ended = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid;

	path_exact(64);
	pid = path_spawn(cg, touch_some, ended);
	while (!__atomic_load_n(ended, __ATOMIC_RELAXED) && path_now_ms() < end)
		path_sleep_ms(50);
	test_stat();
	test_regions(pid);
	test_region_mrc(pid);
	test_mrc();
	ksft_test_result(path_eq(path_get("stats/contexts"), 1) &&
			 path_gt(path_get("stats/records"), 3 * 1024),
			 "stats count\n");
	path_set("enabled", "0");
	ksft_test_result(path_eq(path_get("stats/contexts"), 0), "enabled 0: no context is left\n");
	kill(pid, SIGKILL);
	path_wait(pid, 1);
	path_track(cg, false);
}

int main(void)
{
	size_t i;

	path_start(17 + ARRAY_SIZE(numbers), 60);
	cg = path_cg(NULL, "abi");
	test_files();
	test_defaults();
	for (i = 0; i < ARRAY_SIZE(numbers); i++)
		test_number(numbers + i);
	path_set("enabled", "0");
	test_limits();
	test_pab();
	test_driver();
	ksft_test_result(path_true(caps_have("emul", "sampled")) &&
			 path_true(caps_have("replay", "complete")),
			 "caps\n");
	test_untracked();
	test_track();
	test_tracked();
	test_untracked();
	ksft_finished();
}
