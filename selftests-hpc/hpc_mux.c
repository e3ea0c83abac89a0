// SPDX-License-Identifier: GPL-2.0
/*
 * Turns of perf's events (perf_event_mux_interval_us of a PMU): as short as they are said to be,
 * equal, and in random order; or as many as perf_event_mux_weights says.
 *
 * Times are those of perf: how long an event was enabled, and how long of that it had a counter.
 */
#define _GNU_SOURCE
#include <linux/perf_event.h>
#include <math.h>
#include <sys/mman.h>
#include <time.h>
#include "hpc.h"

#define US	PMU "perf_event_mux_interval_us"
#define MS	PMU "perf_event_mux_interval_ms"
#define WEIGHTS	PMU "perf_event_mux_weights"
#define MOST	12	/* counters are 6 at most, so they take turns */
#define TURN	200ULL	/* us */

static bool put(const char *file, const char *text)
{
	int fd = open(file, O_WRONLY);
	bool good = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	close(fd);
	return good;
}

static bool put_us(unsigned int us)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", us);
	return put(US, text) && number(US, "") == us;
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static uint64_t words[2];

static __attribute__((noinline, noclone)) void load(uint64_t rounds)
{
	uint64_t word;

	__asm__ __volatile__("1: mov (%2), %1\n dec %0\n jnz 1b\n"
			     : "+r" (rounds), "=&r" (word) : "r" (words) : "memory", "cc");
}

static __attribute__((noinline, noclone)) void rest(uint64_t rounds)
{
	__asm__ __volatile__("1: dec %0\n jnz 1b\n" : "+r" (rounds) : : "cc");
}

/* Events of this task or of its CPU; if nothing else is said all count loads. */
struct set {
	const char *name[MOST];
	int fd[MOST];
	struct count was[MOST], is[MOST];
};

static bool open_set(struct set *s, bool of_cpu)
{
	struct event e = { .no_kernel = true, .cpu = of_cpu ? 0 : -1,
			   .pid = of_cpu ? -1 : 0, .group = -1 };
	int i;

	for (i = 0; i < MOST; i++) {
		e.name = s->name[i] ?: "loads";
		s->fd[i] = open_event(&e);
		if (s->fd[i] < 0) {
			ksft_print_msg("event %d: %s\n", i, strerror(-s->fd[i]));
			return false;
		}
	}
	for (i = 0; i < MOST; i++)
		start(s->fd[i]);
	return true;
}

static void read_set(struct set *s)
{
	struct count c;
	int i;

	for (i = 0; i < MOST; i++) {
		c = count_of(s->fd[i]);
		s->is[i] = (struct count){ c.value - s->was[i].value,
					   c.enabled - s->was[i].enabled,
					   c.running - s->was[i].running };
		s->was[i] = c;
	}
}

static void close_set(struct set *s)
{
	int i;

	for (i = 0; i < MOST; i++)
		close(s->fd[i]);
}

static double share(const struct count *c)
{
	return (double)c->running / c->enabled;
}

/* Of all but the first one */
static double mean_share(const struct set *s)
{
	double sum = 0;
	int i;

	for (i = 1; i < MOST; i++)
		sum += share(&s->is[i]);
	return sum / (MOST - 1);
}

/* Until the events were enabled for @ns more. Return: loads */
static uint64_t work(int fd, uint64_t ns)
{
	uint64_t end = count_of(fd).enabled + ns, loads = 0;

	do {
		load(10000);
		loads += 10000;
	} while (count_of(fd).enabled < end);
	return loads;
}

static bool is_off(void)
{
	return !number(US, "");
}

static bool weights_are(const char *want)
{
	char text[256] = "";
	int fd = open(WEIGHTS, O_RDONLY);
	bool good = fd >= 0 && read(fd, text, sizeof(text) - 1) >= 0 && !strcmp(text, want);

	close(fd);
	if (!good)
		ksft_print_msg("weights are %s", text);
	return good;
}

static bool refuses_weights(void)
{
	const char *bad[] = { "1", "1:", ":2", "x:2", "1:x", "1:0", "1:65", "1:-1", "1:2:3", "1:2 1:3",
			      "18446744073709551616:2", "1:1 2:1 3:1 4:1 5:1 6:1 7:1 8:1 9:1" };
	bool good = put(WEIGHTS, " 0x10:64\n  2:1 ") && weights_are("0x10:64 0x2:1\n");
	char cut[4096 + 2];
	unsigned int i;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		if (put(WEIGHTS, bad[i])) {
			ksft_print_msg("%s was taken\n", bad[i]);
			good = false;
		}
		good &= weights_are("0x10:64 0x2:1\n");
	}
	/* of which the kernel gets all but the last digit */
	memset(cut, ' ', sizeof(cut));
	strcpy(cut + sizeof(cut) - 5, "1:12");
	if (put(WEIGHTS, cut)) {
		ksft_print_msg("what is cut was taken\n");
		good = false;
	}
	good &= weights_are("0x10:64 0x2:1\n");
	return put(WEIGHTS, " ") && weights_are("\n") && good;
}

static bool refuses(void)
{
	const char *bad[] = { "19", "1000001", "-1", "a", "20a", "4294967296" };
	bool good = put_us(20);
	unsigned int i;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		if (put(US, bad[i]) || number(US, "") != 20) {
			ksft_print_msg("%s was taken\n", bad[i]);
			good = false;
		}
	}
	return put_us(0) && good && refuses_weights();
}

/* Who asks for perf's own rotation gets it, also with the interval that it had. */
static bool ends(void)
{
	char text[16];

	snprintf(text, sizeof(text), "%lld", number(MS, ""));
	return put_us(1000000) && put(MS, text) && is_off();
}

static bool have_equal_turns(bool of_cpu)
{
	struct set s = { };
	uint64_t loads;
	double mean;
	bool good;
	int i;

	if (!put_us(1000000) || !open_set(&s, of_cpu))
		return false;
	work(s.fd[0], 20000000);
	/* at once, and not when the turn of a second ends */
	good = put_us(TURN);
	work(s.fd[0], 20000000);
	read_set(&s);
	loads = work(s.fd[0], 1000 * TURN * 1000);
	read_set(&s);
	mean = mean_share(&s);
	for (i = 0; i < MOST; i++) {
		good &= near("percent of the time", 100 * share(&s.is[i]), 100 * mean, 15);
		good &= near("scaled", s.is[i].value / share(&s.is[i]), loads, 15);
	}
	close_set(&s);
	return put_us(0) && good && mean < 0.9;
}

static bool task_has_equal_turns(void)
{
	return have_equal_turns(false);
}

static bool cpu_has_equal_turns(void)
{
	return have_equal_turns(true);
}

/*
 * Take the four counters that can count stalls, so that a round has more turns than one event
 * wants. Loads can have the others.
 */
static bool take_counters(int *fd, int nr)
{
	struct event e = { .name = "stall_d", .no_kernel = true, .pinned = true, .cpu = -1,
			   .group = -1 };
	bool good = true;
	int i;

	for (i = 0; i < nr; i++) {
		fd[i] = open_event(&e);
		good &= fd[i] >= 0;
		start(fd[i]);
	}
	return good;
}

/* Two events have so many turns in a round, the others one, on what is left of six counters. */
static bool has_shares(int first, int second, int taken)
{
	struct set s = { .name = { "cycles", "insns" } };
	double one;
	char weights[64];
	int fd[6], i;
	bool good;

	snprintf(weights, sizeof(weights), "%lld:%d %lld:%d", number(PMU "events/cycles", "event="),
		 first, number(PMU "events/insns", "event="), second);
	good = put(WEIGHTS, weights) && take_counters(fd, taken) && put_us(TURN) &&
	       open_set(&s, false);
	work(s.fd[0], 100 * TURN * 1000);
	read_set(&s);
	work(s.fd[0], 4000 * TURN * 1000);
	read_set(&s);
	for (i = 2, one = 0; i < MOST; i++)
		one += 100 * share(&s.is[i]) / (MOST - 2);
	good &= near("percent of the time", 100 * share(&s.is[0]), fmin(first * one, 100), 5);
	good &= near("percent of the time", 100 * share(&s.is[1]), fmin(second * one, 100), 5);
	for (i = 2; i < MOST; i++)
		good &= near("percent of the time", 100 * share(&s.is[i]), one, 15);
	close_set(&s);
	for (i = 0; i < taken; i++)
		close(fd[i]);
	return put_us(0) && put(WEIGHTS, " ") && good;
}

/* Thesis 2.4: shares of time */
static bool have_weights(void)
{
	return has_shares(4, 2, 4);
}

/* Others begin their next round while it still has turns in the one before. */
static bool has_many_turns(void)
{
	return has_shares(8, 1, 4);
}

/* A round has fewer turns than that. */
static bool has_all_turns(void)
{
	return has_shares(7, 1, 3);
}

/* One that was disabled for a thousand turns must not have them all at once. */
static bool catches_up_with_nothing(void)
{
	struct set s = { };
	bool good;

	if (!put_us(TURN) || !open_set(&s, false))
		return false;
	work(s.fd[1], 10000000);
	stop(s.fd[0]);
	work(s.fd[1], 1000 * TURN * 1000);
	start(s.fd[0]);
	read_set(&s);
	work(s.fd[1], 200 * TURN * 1000);
	read_set(&s);
	good = near("percent of the time", 100 * share(&s.is[0]), 100 * mean_share(&s), 30);
	close_set(&s);
	return put_us(0) && good;
}

/* Pages of events that a program maps, to read them without a call */
static bool map_set(const struct set *s, struct perf_event_mmap_page **page)
{
	int i;

	for (i = 0; i < MOST; i++) {
		page[i] = mmap(NULL, getpagesize(), PROT_READ, MAP_SHARED, s->fd[i], 0);
		if (page[i] == MAP_FAILED) {
			ksft_print_msg("mmap: %s\n", strerror(errno));
			return false;
		}
	}
	return true;
}

/*
 * Each time that a task runs, all of its events begin to count time anew, also those that wait for
 * a counter. In turns of a second they wait while the task runs and sleeps.
 */
static bool tells_who_waits(void)
{
	struct perf_event_mmap_page *page[MOST];
	struct set s = { };
	bool good;
	int i;

	if (!put_us(1000000) || !open_set(&s, false) || !map_set(&s, page))
		return false;
	for (i = 0; i < 50; i++) {
		work(s.fd[0], 1000000);
		usleep(2000);
	}
	for (i = 0, good = true; i < MOST; i++)
		good &= near("time of the page, us", page[i]->time_enabled / 1000,
			     count_of(s.fd[i]).enabled / 1000, 10);
	for (i = 0; i < MOST; i++)
		munmap(page[i], getpagesize());
	close_set(&s);
	return put_us(0) && good;
}

/*
 * A program that loads in one turn of a round, for 200 rounds. In a fixed order some events see all
 * loads, and others see none.
 */
static double worst_of_phases(struct set *s, uint64_t turn, unsigned int turns)
{
	uint64_t begin = now(), loads = 0, t;
	double worst = 0;
	int i;

	while ((t = (now() - begin) / turn) < 200 * turns) {
		if (t % turns) {
			rest(5000);
		} else {
			load(5000);
			loads += 5000;
		}
	}
	read_set(s);
	for (i = 0; i < MOST; i++)
		worst = fmax(worst, fabs(s->is[i].value / share(&s->is[i]) / loads - 1));
	return worst;
}

static bool has_no_order(void)
{
	struct set s = { };
	unsigned int turns;
	double worst;

	if (!put_us(4000) || !open_set(&s, false))
		return false;
	work(s.fd[0], 400000000);
	read_set(&s);
	turns = round(1 / mean_share(&s));
	worst = worst_of_phases(&s, 4000000, turns);
	ksft_print_msg("%u turns are a round, at most %.0f percent off\n", turns, 100 * worst);
	close_set(&s);
	return put_us(0) && worst < 0.5;
}

int main(int argc, char **argv)
{
	ksft_print_header();
	if (access(PMU "type", R_OK))
		ksft_exit_skip("no virtual PMU (lab run --vpmu)\n");
	if (access(US, W_OK))
		ksft_exit_skip("no CONFIG_PERF_MUX, or not root\n");
	run_on(0);
	ksft_set_plan(11);
	run("off", is_off);
	run("bad input is refused and changes nothing", refuses);
	run("an interval of milliseconds ends it", ends);
	run("events of a task have equal turns", task_has_equal_turns);
	run("events of a CPU have equal turns", cpu_has_equal_turns);
	run("weights are shares of time", have_weights);
	run("an event with many turns has them all", has_many_turns);
	run("one with more than there are has a counter all the time", has_all_turns);
	run("an event that was disabled has no more than the others", catches_up_with_nothing);
	run("the page of an event that waits tells its time", tells_who_waits);
	run("the order is not fixed", has_no_order);
	ksft_finished();
}
