// SPDX-License-Identifier: GPL-2.0
/* The parser, the plays, and what the algorithms make of them */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <linux/limits.h>

#include "../pathctl/pathctl.h"
#include "../unit/rand.h"
#include "play.h"
#include "sim.h"

/* %d in the message of a failed assertion does not tell which of many it was. */
#define assert_same(got, want)							\
	do {									\
		s64 __got = (got), __want = (want);				\
										\
		if (__got != __want)						\
			fail_msg("%s is %lld, not %lld", #got, __got, __want);	\
	} while (0)

/* Parser */

static void check_sample(const char *text, const struct sample *want)
{
	char *line = strdup(text);
	const char *wrong;
	struct sample s;

	wrong = sample_parse(line, &s);
	if (wrong)
		fail_msg("\"%s\": %s", text, wrong);
	if (s.time_ns != want->time_ns || s.tid != want->tid || s.pid != want->pid ||
	    s.addr != want->addr || s.phys != want->phys || s.ip != want->ip ||
	    s.locked != want->locked)
		fail_msg("\"%s\": %llu %u/%u %llx %llx %llx %d", text, s.time_ns, s.pid, s.tid,
			 s.addr, s.phys, s.ip, s.locked);
	free(line);
}

static void test_perf_lines(void **state)
{
	static const struct {
		const char *line;
		struct sample want;
	} lines[] = {
		{ "31015 79109.079442:     55e1464855c0 ffffffff817554ea               0\n",
		  { 79109079442000, 0x55e1464855c0, 0, 0xffffffff817554ea, 31015, 0, false } },
		{ "31015/31016 79109.079442:     55e1464855c0",
		  { 79109079442000, 0x55e1464855c0, 0, 0, 31016, 31015, false } },
		{ "  12 1.5:  10  20  30\r\n", { 1500000000, 0x10, 0x30, 0x20, 12, 0, false } },
		{ "Web Content 12/13 [003] 1.000000001:   7 cpu/mem-loads,ldlat=30/P:   abc",
		  { 1000000001, 0xabc, 0, 0, 13, 12, false } },
		/* a program may be called anything */
		{ "9 8.7: 12 1.5: 10", { 1500000000, 0x10, 0, 0, 12, 0, false } },
		{ "1.5: 10", { } },
	};
	size_t i;

	for (i = 0; lines[i].want.tid; i++)
		check_sample(lines[i].line, &lines[i].want);
	(void)state;
}

static void test_plain_lines(void **state)
{
	check_sample("1 2 3", &(struct sample){ 1000000000, 3, 0, 0, 2, 0, false });
	check_sample("0.25 2 0xfF", &(struct sample){ 250000000, 255, 0, 0, 2, 0, false });
	check_sample("1 4/2 3 - 5", &(struct sample){ 1000000000, 3, 0, 5, 2, 4, false });
	check_sample("1\t2 3 4 - L\n", &(struct sample){ 1000000000, 3, 4, 0, 2, 0, true });
	check_sample("9999999999.999999999 2147483647 0xffffffffffffffff",
		     &(struct sample){ 9999999999999999999ULL, U64_MAX, 0, 0, 2147483647, 0,
				       false });
	(void)state;
}

static void test_garbage(void **state)
{
	static const char *const lines[] = {
		"1.5: 10", "[003] 1.5: 10", "x 1.5: 10", "1/ 1.5: 10", "/1 1.5: 10", "1/2/3 1.5: 10",
		"-1 1.5: 10", "12 1.5:", "12 1.5: event:", "12 1.5: 10 20 30 40", "12 1.5: xyz",
		"12 1.5: 10 main+0x5 30", "12 1.5: 1e05080021 |OP N/A|LVL", "12 1.5: 0x",
		"12 1.5: 11112222333344445", "2147483648 1.5: 10", "12 1.1234567890: 10",
		"12 12345678901.5: 10", "12 1.: 10",
		"1", "1 2", "1 2 3 4 5 L 7", "1 2 3 4 5 l", "1 2 3 4 5 6", "1 2 g", "1 2 0x", "1 2 -",
		"1 2 3 4 x", "1 2 3 x", "-1 2 3", "+1 2 3", "1. 2 3", ".5 2 3", "1e3 2 3", "1: 2 3",
		"1 -2 3", "1 2.0 3", "1 4294967298 3", "1 18446744073709551618 3",
		"1 2 10000000000000000", "1.0000000000 2 3", "99999999999 2 3", "1,2,3", "\xff\xfe",
	};
	struct sample s;
	char *line;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lines); i++) {
		line = strdup(lines[i]);
		if (!sample_parse(line, &s))
			fail_msg("\"%s\" is no sample", lines[i]);
		free(line);
	}
	(void)state;
}

/* Whatever words there are: no crash, and what is a sample has a thread that can be. */
static void test_any_words(void **state)
{
	static const char *const words[] = {
		"12", "1.5:", "[003]", "3/4", "abc", "xyz", "L", "-", "9.9", "ev:", ":", "/", "0x",
		"4294967296", "ffffffffffffffffff", "\xff", ".", "0x7f", "2.", "[", "1e9",
	};
	struct sample s;
	char line[400];
	int round, i, nr, good = 0;

	srandom(1);
	for (round = 0; round < 200000; round++) {
		line[0] = '\0';
		for (i = 0, nr = random() % 12; i < nr; i++) {
			strcat(line, words[random() % ARRAY_SIZE(words)]);
			strcat(line, random() % 8 ? " " : "");
		}
		if (sample_parse(line, &s))
			continue;
		good++;
		assert_true(s.tid <= INT32_MAX && s.pid <= INT32_MAX);
	}
	assert_true(good > 100);
	(void)state;
}

static void test_many_words(void **state)
{
	char line[400] = "1 2 3";
	struct sample s;
	int i;

	for (i = 0; i < 100; i++)
		strcat(line, " 4");
	assert_string_equal(sample_parse(line, &s), "too many words");
	(void)state;
}

static void test_truth_lines(void **state)
{
	static const char *const bad[] = {
		"1", "1 2 3", "0 1", "x 1", "1 x", "1 -1", "2147483648 1", "1 2147483648",
	};
	struct truth t;
	char line[40];
	size_t i;

	strcpy(line, " 7\t3\n");
	assert_null(truth_parse(line, &t));
	assert_same(t.tid, 7);
	assert_same(t.group, 3);
	strcpy(line, "7 -");
	assert_null(truth_parse(line, &t));
	assert_same(t.group, 0);
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		strcpy(line, bad[i]);
		if (!truth_parse(line, &t))
			fail_msg("\"%s\" is no truth", bad[i]);
	}
	(void)state;
}

/* Plays */

static const struct play *play_named(const char *text, struct play_options *o)
{
	char copy[80];

	snprintf(copy, sizeof(copy), "%s", text);
	return play_parse(copy, o);
}

struct played {
	const struct play *play;
	struct play_options o;
	struct samples s;
	struct truths t;
};

static void play(struct played *p, const char *text, u32 samples)
{
	memset(p, 0, sizeof(*p));
	p->play = play_named(text, &p->o);
	p->o.samples = samples;
	play_samples(p->play, &p->o, &p->s, &p->t);
}

static void played_free(struct played *p)
{
	samples_free(&p->s);
	truths_free(&p->t);
}

/* The groups of the first eight or so threads, as digits */
static void test_truth_of_plays(void **state)
{
	static const char *const plays_and_groups[][2] = {
		{ "board:threads=8", "12121212" }, { "board:threads=8,groups=4", "12341234" },
		{ "warehouse:threads=12", "123123123123" }, { "chat:threads=8", "12121212" },
		{ "mysql:threads=6", "121212" }, { "pairs:threads=8", "12341234" },
		{ "chain:threads=8", "12121212" }, { "bridge:threads=8", "12121212" },
		{ "uneven:threads=8", "11112200" }, { "server:threads=5", "11111" },
		{ "all:threads=4", "0000" }, { "all:threads=2", "11" }, { "none:threads=3", "000" },
	};
	struct played p;
	char got[20];
	size_t i, k;

	for (i = 0; i < ARRAY_SIZE(plays_and_groups); i++) {
		play(&p, plays_and_groups[i][0], 1);
		for (k = 0; k < p.t.nr; k++)
			got[k] = '0' + p.t.list[k].group;
		got[k] = '\0';
		if (strcmp(got, plays_and_groups[i][1]))
			fail_msg("%s: %s", plays_and_groups[i][0], got);
		played_free(&p);
	}
	for (i = 0; plays[i].name; i++)
		;
	assert_same(i, 11);
	(void)state;
}

/* Lines that two threads both take, of all samples; @group: of the same group or not */
static double common_lines(const struct played *p, bool group)
{
	size_t i, k, tries = 0, same = 0;
	u32 a, b;

	for (i = 0; i < p->s.nr; i++)
		for (k = 0; k < i; k += 7) {
			const struct sample *x = &p->s.list[i], *y = &p->s.list[k];

			assert_true(truths_find(&p->t, x->tid, &a) && truths_find(&p->t, y->tid, &b));
			/* a lock is everybody's */
			if (x->tid == y->tid || (a && a == b) != group || x->locked)
				continue;
			tries++;
			same += p->play->processes ? x->phys / 64 == y->phys / 64 :
				x->addr / 64 == y->addr / 64;
		}
	return tries ? (double)same / tries : 0;
}

/* Who is of one group shares more than who is not. */
static void test_plays_share(void **state)
{
	struct played p;
	size_t i;

	for (i = 0; plays[i].name; i++) {
		play(&p, plays[i].name, 100);
		if (strcmp(plays[i].name, "all") && strcmp(plays[i].name, "none") &&
		    common_lines(&p, true) <= 2 * common_lines(&p, false))
			fail_msg("%s: %g %g", plays[i].name, common_lines(&p, true),
				 common_lines(&p, false));
		if (!strcmp(plays[i].name, "none"))
			assert_true(common_lines(&p, false) == 0);
		if (!strcmp(plays[i].name, "all"))
			assert_true(common_lines(&p, false) > 0.04);
		played_free(&p);
	}
	(void)state;
}

/* Processes have a ring at the same address, and other memory there. */
static void test_processes(void **state)
{
	struct played p;
	size_t i, k, same = 0, phys = 0;

	play(&p, "pairs:threads=4", 100);
	for (i = 0; i < p.s.nr; i++) {
		assert_same(p.s.list[i].pid, p.s.list[i].tid);
		for (k = 0; k < i; k++)
			if (p.s.list[i].tid == 1001 && p.s.list[k].tid == 1002) {
				same += p.s.list[i].addr / 64 == p.s.list[k].addr / 64;
				phys += p.s.list[i].phys / 64 == p.s.list[k].phys / 64;
			}
	}
	assert_true(same > 0);
	assert_same(phys, 0);
	played_free(&p);
	(void)state;
}

static void test_seeds(void **state)
{
	struct played a, b;
	size_t i;

	for (i = 0; plays[i].name; i++) {
		play(&a, plays[i].name, 20);
		play(&b, plays[i].name, 20);
		assert_same(a.s.nr, 320);
		assert_same(b.s.nr, 320);
		assert_memory_equal(a.s.list, b.s.list, a.s.nr * sizeof(*a.s.list));
		played_free(&b);
		b.play = play_named(plays[i].name, &b.o);
		b.o.samples = 20;
		b.o.seed = 2;
		play_samples(b.play, &b.o, &b.s, &b.t);
		assert_true(memcmp(a.s.list, b.s.list, a.s.nr * sizeof(*a.s.list)));
		played_free(&a);
		played_free(&b);
	}
	(void)state;
}

/* Noise is on 128 lines that follow each other. */
static void test_play_noise(void **state)
{
	struct played p;
	u64 least = U64_MAX, most = 0;
	size_t i;

	play(&p, "none:noise=100", 1000);
	for (i = 0; i < p.s.nr; i++) {
		least = p.s.list[i].addr < least ? p.s.list[i].addr : least;
		most = p.s.list[i].addr > most ? p.s.list[i].addr : most;
	}
	assert_same((most - least) / 64, 127);
	played_free(&p);
	(void)state;
}

/* Rounds */

struct outcome {
	u32 rounds, clusters, missed, threads;
	double rand;
};

static void keep(struct sim *sim, void *arg)
{
	struct outcome *o = arg;

	o->rounds++;
	o->clusters = sim->round.clusters;
	o->missed = sim->round.missed;
	o->threads = sim->round.threads;
	o->rand = sim->round.rand;
}

static struct outcome outcome_of(const struct samples *s, const struct truths *t,
				 const struct sim_options *o)
{
	struct sim sim = { .o = o, .truths = t };
	struct outcome out = { };

	sim_run(&sim, s, keep, &out);
	sim_free(&sim);
	return out;
}

static struct outcome outcome_of_play(const char *text, const char *algorithm, u32 samples)
{
	const struct algorithm *a = algorithm_by_name(algorithm);
	struct sim_options so = { .algorithm = a, .threshold = a->threshold, .samples = samples,
				  .block = 64 };
	struct outcome out;
	struct played p;

	play(&p, text, samples);
	so.physical = p.play->processes;
	out = outcome_of(&p.s, &p.t, &so);
	played_free(&p);
	return out;
}

/* What no algorithm may get wrong */
static void test_board(void **state)
{
	char text[60];
	struct outcome out;
	u32 seed, threads, i;

	for (i = 0; algorithms[i].name; i++)
		for (seed = 1; seed <= 5; seed++)
			for (threads = 8; threads <= 64; threads *= 2) {
				snprintf(text, sizeof(text), "board:seed=%u,threads=%u", seed,
					 threads);
				out = outcome_of_play(text, algorithms[i].name, 300);
				assert_same(out.rounds, 1);
				assert_same(out.threads, threads);
				assert_same(out.clusters, threads / 4);
				assert_true(out.rand == 1);
			}
	(void)state;
}

/* Nobody shares, or all do: there are no clusters. */
static void test_no_clusters(void **state)
{
	u32 i;

	for (i = 0; algorithms[i].name; i++) {
		assert_true(outcome_of_play("none", algorithms[i].name, 300).rand == 1);
		assert_true(outcome_of_play("all", algorithms[i].name, 300).rand == 1);
		assert_true(outcome_of_play("all:threads=2", algorithms[i].name, 300).rand == 1);
	}
	(void)state;
}

/* What merging is for */
static void test_merge_is_better(void **state)
{
	assert_true(outcome_of_play("mysql:threads=64", "two-pass", 100).rand < 0.5);
	assert_true(outcome_of_play("mysql:threads=64", "merge", 100).rand == 1);
	assert_true(outcome_of_play("chain", "two-pass", 300).rand < 0.6);
	assert_true(outcome_of_play("chain", "merge", 300).rand == 1);
	assert_true(outcome_of_play("chat:threads=64", "two-pass", 100).rand < 0.3);
	assert_true(outcome_of_play("chat:threads=64", "merge", 100).rand > 0.9);
	(void)state;
}

static void test_by_physical(void **state)
{
	const struct algorithm *a = algorithm_by_name("two-pass");
	struct sim_options so = { .algorithm = a, .threshold = 100, .samples = 300, .block = 64,
				  .physical = true };
	struct outcome out;
	struct played p;

	play(&p, "pairs:threads=8", 300);
	out = outcome_of(&p.s, &p.t, &so);
	assert_true(out.rand == 1);
	so.physical = false;
	out = outcome_of(&p.s, &p.t, &so);
	assert_true(out.rand < 0.5);
	played_free(&p);
	(void)state;
}

static void add(struct samples *s, u32 tid, u64 addr, u32 times)
{
	const struct sample sample = { .tid = tid, .addr = addr };

	while (times--)
		samples_add(s, &sample);
}

/* 10 samples of each thread that has three; and as many after the last thread came as before */
static void test_rounds(void **state)
{
	const struct sim_options so = { .algorithm = algorithms, .threshold = 10, .samples = 10,
					.block = 64 };
	const struct truths none = { };
	struct samples s = { };

	add(&s, 1, 64, 9);
	assert_same(outcome_of(&s, &none, &so).rounds, 0);
	add(&s, 1, 64, 1);
	assert_same(outcome_of(&s, &none, &so).rounds, 1);
	assert_same(outcome_of(&s, &none, &so).threads, 1);
	s.nr = 0;
	add(&s, 1, 64, 9);
	add(&s, 2, 64, 9);
	assert_same(outcome_of(&s, &none, &so).rounds, 0);
	add(&s, 2, 64, 2);
	assert_same(outcome_of(&s, &none, &so).rounds, 1);
	assert_same(outcome_of(&s, &none, &so).threads, 2);
	/* a thread that is hardly there needs no samples, and no address is no line */
	s.nr = 0;
	add(&s, 3, 0, 2);
	add(&s, 1, 64, 9);
	assert_same(outcome_of(&s, &none, &so).rounds, 1);
	assert_same(outcome_of(&s, &none, &so).missed, 2);
	samples_free(&s);
	(void)state;
}

/* A line is as long as it is said to be. */
static void test_block(void **state)
{
	struct sim_options so = { .algorithm = algorithms, .threshold = 10, .samples = 10,
				  .block = 64 };
	const struct truths none = { };
	struct samples s = { };

	add(&s, 1, 0x1000, 5);
	add(&s, 2, 0x1040, 15);
	assert_same(outcome_of(&s, &none, &so).clusters, 0);
	so.block = 128;
	assert_same(outcome_of(&s, &none, &so).clusters, 1);
	samples_free(&s);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_perf_lines),
		cmocka_unit_test(test_plain_lines),
		cmocka_unit_test(test_garbage),
		cmocka_unit_test(test_any_words),
		cmocka_unit_test(test_many_words),
		cmocka_unit_test(test_truth_lines),
		cmocka_unit_test(test_truth_of_plays),
		cmocka_unit_test(test_plays_share),
		cmocka_unit_test(test_processes),
		cmocka_unit_test(test_seeds),
		cmocka_unit_test(test_play_noise),
		cmocka_unit_test(test_board),
		cmocka_unit_test(test_no_clusters),
		cmocka_unit_test(test_merge_is_better),
		cmocka_unit_test(test_by_physical),
		cmocka_unit_test(test_rounds),
		cmocka_unit_test(test_block),
	};

	cmocka_set_test_filter(getenv("UNIT_FILTER"));
	return cmocka_run_group_tests_name("clustersim", tests, NULL, NULL);
}
