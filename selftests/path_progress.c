// SPDX-License-Identifier: GPL-2.0
/*
 * An instruction completes, however small the page access buffer is. All pages that
 * it needs must be accessible at once, and each of its faults may push a page out.
 *
 * A tracked program copies eight bytes with one instruction. Source and destination
 * each cross a page boundary, for all pairs of boundaries. So they are four pages,
 * which are of one set in some of the copies. The settings are the smallest that the
 * files accept. A bound on the faults of a copy finds an instruction that never
 * completes, and does not depend on time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "path_util.h"

#define MOST_FAULTS	100	/* per copy: 4 of the data, and code and stack */

struct copies {
	const char *name;
	size_t page, pages;
	unsigned int shift;
};

static const struct copies cases[] = {
	{ "small pages", PAGE, 64, 0 },
	{ "small pages, one in 16", PAGE, 64, 4 },
	{ "huge pages", 2 * MIB, 8, 0 },
	{ "huge pages, a sample coarser than one", 2 * MIB, 24, 11 },
};

static void copy(char *to, const char *from)
{
#if defined(__x86_64__)
	__asm__ volatile("movsq" : "+D"(to), "+S"(from) : : "memory");
#else
	memcpy(to, from, 8);
#endif
}

static size_t nr_copies(const struct copies *c)
{
	return (c->pages - 1) * (c->pages - 2) / 2;
}

static bool is_huge(const struct copies *c)
{
	char *text = path_slurp("/proc/self/smaps_rollup"), *at;
	unsigned long kb = 0;

	at = text ? strstr(text, "AnonHugePages:") : NULL;
	if (at)
		kb = strtoul(at + strlen("AnonHugePages:"), NULL, 10);
	free(text);
	return kb * 1024 >= c->page * c->pages;
}

static int copy_all(void *arg)
{
	const struct copies *c = arg;
	char *mem = path_map(c->page * c->pages, c->page != PAGE), *from, *to;
	size_t i, j, wrong = 0;

	for (i = 0; i < c->pages; i++)
		mem[i * c->page] = 1;
	if (c->page != PAGE && !is_huge(c))
		return KSFT_SKIP;
	for (i = 1; i < c->pages; i++) {
		for (j = i + 1; j < c->pages; j++) {
			from = mem + i * c->page - 4;
			to = mem + j * c->page - 4;
			from[i % 8] = i + j;
			copy(to, from);
			wrong += memcmp(to, from, 8) != 0;
		}
	}
	if (wrong)
		ksft_print_msg("%s: %zu copies are wrong\n", c->name, wrong);
	return wrong ? KSFT_FAIL : KSFT_PASS;
}

/* Set the least value that a file accepts, with the other settings as they are. */
static unsigned int set_least(const char *knob)
{
	char file[128], text[16];
	unsigned int value;

	snprintf(file, sizeof(file), PATH_SYSFS "%s", knob);
	for (value = 1; value <= 1 << 20; value *= 2) {
		snprintf(text, sizeof(text), "%u", value);
		if (!path_write(file, text))
			return value;
	}
	ksft_exit_fail_msg("%s accepts nothing\n", knob);
}

static void set_smallest(void)
{
	unsigned int ways = set_least(PATH_EMUL "pab_ways");
	unsigned int entries = set_least(PATH_EMUL "pab_entries");

	ksft_print_msg("smallest: %u entries, %u ways\n", entries, ways);
}

/* Wait until the program ends, or has more faults than it needs. */
static int watch(pid_t pid, long long most)
{
	/* of all tracked programs, which is this one; the cgroup's is up to the last epoch */
	long long before = path_get("stats/faults"), faults;
	int status, ret;

	do {
		path_sleep_ms(5);
		ret = waitpid(pid, &status, WNOHANG);
		faults = path_get("stats/faults") - before;
	} while (!ret && faults <= most);
	if (!ret) {
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
	}
	ksft_print_msg("%lld faults, of at most %lld%s\n", faults, most,
		       ret ? "" : ": killed");
	if (!ret || faults > most)
		return KSFT_FAIL;
	if (!WIFEXITED(status))
		ksft_print_msg("ended by signal %d\n", WTERMSIG(status));
	return WIFEXITED(status) ? WEXITSTATUS(status) : KSFT_FAIL;
}

static void test(const struct copies *c)
{
	long long most = nr_copies(c) * MOST_FAULTS + 1000;
	char *cg = path_cg(NULL, "progress");
	int ret;

	path_set("enabled", "0");
	path_set(PATH_EMUL "sample_shift", "%u", c->shift);
	path_set("enabled", "1");
	ret = watch(path_spawn(cg, copy_all, (void *)c), most);
	if (ret == KSFT_SKIP)
		ksft_test_result_skip("%s: there are none\n", c->name);
	else
		ksft_test_result(!ret, "copies complete: %s\n", c->name);
	path_cg_remove(cg);
}

int main(void)
{
	size_t i;

	path_start(ARRAY_SIZE(cases), 120);
	path_exact(16);
	set_smallest();
	for (i = 0; i < ARRAY_SIZE(cases); i++)
		test(cases + i);
	ksft_finished();
}
