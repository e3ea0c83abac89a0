// SPDX-License-Identifier: GPL-2.0
/* Threads that share: their shMaps, clusters, names, and the chips they go to */
#include <cluster.h>
#include "rand.h"
#include "test.h"

#define THREADS		16U

struct fixture {
	struct taskcluster_filter filter;
	struct taskcluster_thread thread[THREADS], *t[THREADS];
	struct taskcluster_node nodes[THREADS];
	u64 ties[THREADS * THREADS];
	struct taskcluster_link links[THREADS];
	u32 names[THREADS], nr, last;
};

static void start(struct fixture *f, u32 nr)
{
	u32 i;

	memset(f, 0, sizeof(*f));
	f->nr = nr;
	for (i = 0; i < nr; i++)
		f->t[i] = &f->thread[i];
}

static void take(struct fixture *f, u32 thread, u64 line, u32 times)
{
	const struct taskcluster_access a = { .line = line };

	while (times--)
		taskcluster_shmap_note(&f->filter, &f->thread[thread], &a);
}

/* How many clusters have threads? */
static u32 clusters_of(const struct fixture *f, u32 most)
{
	u32 i, seen = 0;

	assert_true(most <= THREADS);
	for (i = 0; i < f->nr; i++) {
		assert_true(f->thread[i].found <= most);
		if (f->thread[i].found)
			seen |= 1U << f->thread[i].found;
	}
	return __builtin_popcount(seen);
}

/* Find and name, as a round does. @total: threads of the group. Return the number of clusters. */
static u32 round_of(struct fixture *f, u32 total)
{
	u32 i, clusters = taskcluster_find(f->t, f->nr, total, TASKCLUSTER_THRESHOLD, f->nodes,
					   f->ties);

	f->last = taskcluster_name(f->t, f->nr, clusters, f->last, f->links, f->names);
	for (i = 0; i < f->nr; i++)
		f->t[i] = &f->thread[i];
	return clusters_of(f, clusters);
}

static void next_round(struct fixture *f)
{
	u32 i;

	taskcluster_filter_reset(&f->filter);
	for (i = 0; i < f->nr; i++)
		taskcluster_shmap_reset(&f->thread[i]);
}

static void test_filter(void **state)
{
	struct taskcluster_access a = { };
	static struct fixture f;
	u32 nr = 0, i;

	start(&f, 1);
	for (a.line = 0; a.line < 5000; a.line++)
		nr += taskcluster_shmap_note(&f.filter, &f.thread[0], &a);
	/* each entry is for the first line that came, and for no other one */
	assert_same(nr, TASKCLUSTER_LINES);
	for (a.line = 0; a.line < 5000; a.line++)
		nr += taskcluster_shmap_note(&f.filter, &f.thread[0], &a);
	assert_same(nr, 2 * TASKCLUSTER_LINES);
	for (i = 0; i < TASKCLUSTER_LINES; i++)
		assert_same(f.thread[0].map.count[i], 2);
	assert_same(f.thread[0].noted, nr);
	next_round(&f);
	a.line = 4999;
	assert_true(taskcluster_shmap_note(&f.filter, &f.thread[0], &a));
	assert_same(f.thread[0].noted, 1);
	(void)state;
}

static void test_saturates(void **state)
{
	static struct fixture f;
	u32 i, most = 0;

	start(&f, 1);
	take(&f, 0, 7, 1000);
	for (i = 0; i < TASKCLUSTER_LINES; i++)
		most = f.thread[0].map.count[i] > most ? f.thread[0].map.count[i] : most;
	assert_same(most, 255);
	assert_same(f.thread[0].noted, 1000);
	(void)state;
}

/* Boards of 4 lines, thread i on board i % boards, and lines of its own */
static void play(struct fixture *f, u32 boards, u32 times)
{
	u32 i, k;

	for (i = 0; i < f->nr; i++)
		for (k = 0; k < 4; k++) {
			take(f, i, (i % boards) * 10 + k, times);
			take(f, i, 1000 + i * 10 + k, 1);
		}
}

static double alike(const struct fixture *f, u32 boards)
{
	u32 want[THREADS], got[THREADS], i;

	for (i = 0; i < f->nr; i++) {
		want[i] = i % boards;
		got[i] = f->thread[i].name ? f->thread[i].name : 1000 + i;
	}
	return adjusted_rand(got, want, f->nr);
}

static void test_boards(void **state)
{
	static struct fixture f;
	u32 boards;

	for (boards = 2; boards <= 8; boards *= 2) {
		start(&f, THREADS);
		play(&f, boards, 10);
		assert_same(round_of(&f, THREADS), boards);
		assert_true(alike(&f, boards) == 1);
	}
	(void)state;
}

static void test_rand_index(void **state)
{
	u32 a[6] = { 1, 1, 1, 2, 2, 2 }, b[6] = { 5, 5, 5, 3, 3, 3 }, c[6] = { 1, 1, 2, 2, 3, 3 };

	assert_true(adjusted_rand(a, b, 6) == 1);
	/* 2 pairs in both, 6 and 3 in one, of 15 */
	assert_same(adjusted_rand(a, c, 6) * 1000, (2 - 18 / 15.0) / (4.5 - 18 / 15.0) * 1000);
	(void)state;
}

static void test_noise(void **state)
{
	static struct fixture f;
	u64 line;

	start(&f, 4);
	for (line = 0; line < 100; line++) {
		take(&f, 0, line, 2);
		take(&f, 1, line, 2);
	}
	assert_same(round_of(&f, 4), 0);
	assert_same(f.thread[0].name, 0);
	(void)state;
}

/* Two threads that take the same lines share them, though they are all that there are. */
static void test_pair(void **state)
{
	static struct fixture f;

	start(&f, 2);
	play(&f, 1, 10);
	assert_same(round_of(&f, 2), 1);
	assert_true(f.thread[0].name && f.thread[0].name == f.thread[1].name);
	start(&f, 3);
	play(&f, 1, 10);
	/* three of three are everybody */
	assert_same(round_of(&f, 3), 0);
	(void)state;
}

/* A line that more than half of the threads take does not tie them together. */
static void test_global(void **state)
{
	static struct fixture f;
	u32 i;

	start(&f, 8);
	for (i = 0; i < 8; i++)
		take(&f, i, 999, 200);
	play(&f, 4, 10);
	assert_same(round_of(&f, 8), 4);
	assert_true(alike(&f, 4) == 1);

	/* half of them is not more than half, and those that are silent count */
	start(&f, 4);
	for (i = 0; i < 4; i++)
		take(&f, i, 999, 200);
	assert_same(round_of(&f, 7), 0);
	for (i = 0; i < 4; i++)
		take(&f, i, 999, 200);
	assert_same(round_of(&f, 8), 1);
	(void)state;
}

static void test_threshold(void **state)
{
	static struct fixture f;
	u32 line;

	/* others share so much that few samples are believed, too */
	start(&f, 4);
	for (line = 2; line < 6; line++) {
		take(&f, 2, line, 20);
		take(&f, 3, line, 20);
	}
	take(&f, 0, 1, 5);
	take(&f, 1, 1, 6);	/* 30, not more than the threshold */
	assert_same(round_of(&f, 8), 1);
	assert_same(f.thread[0].found, 0);
	take(&f, 0, 1, 1);
	take(&f, 1, 1, 1);
	assert_same(round_of(&f, 8), 2);
	assert_true(f.thread[0].name && f.thread[0].name == f.thread[1].name);
	(void)state;
}

static void test_alone(void **state)
{
	static struct fixture f;

	start(&f, 4);
	take(&f, 0, 1, 100);
	take(&f, 1, 2, 100);
	round_of(&f, 4);
	assert_same(f.thread[0].name, 0);
	assert_same(f.thread[0].found, 0);
	(void)state;
}

/* The first match would be the wrong one: the strongest tie counts. */
static void test_strongest(void **state)
{
	static struct fixture f;

	start(&f, 8);
	take(&f, 0, 1, 250);
	take(&f, 1, 2, 200);
	take(&f, 2, 1, 3);
	take(&f, 2, 2, 100);
	take(&f, 3, 1, 50);
	take(&f, 3, 2, 5);
	assert_same(round_of(&f, 8), 2);
	assert_true(f.thread[2].name == f.thread[1].name);
	assert_true(f.thread[3].name == f.thread[0].name);
	assert_true(f.thread[0].name != f.thread[1].name);
	(void)state;
}

/* Whoever comes first in the table does not matter. */
static void test_weak_first(void **state)
{
	static struct fixture f;
	u32 i;

	start(&f, 6);
	take(&f, 0, 3, 50);
	for (i = 1; i < 4; i++) {
		take(&f, i, 1, 40);
		take(&f, i, 2, 40);
	}
	take(&f, 1, 3, 40);
	assert_same(round_of(&f, 12), 1);
	for (i = 1; i < 4; i++)
		assert_same(f.thread[i].name, f.thread[0].name);
	(void)state;
}

static void test_names_last(void **state)
{
	static struct fixture f;
	u32 name[4], i;

	start(&f, 8);
	play(&f, 4, 10);
	round_of(&f, 8);
	for (i = 0; i < 4; i++)
		name[i] = f.thread[i].name;
	next_round(&f);
	/* in another order, and with thread 7 on the board of 0 and 4 */
	play(&f, 4, 10);
	taskcluster_shmap_reset(&f.thread[7]);
	for (i = 0; i < 4; i++)
		take(&f, 7, i, 50);
	round_of(&f, 8);
	for (i = 0; i < 4; i++)
		assert_same(f.thread[i].name, name[i]);
	assert_same(f.thread[7].name, name[0]);
	assert_same(f.last, 4);
	(void)state;
}

static void test_silence(void **state)
{
	static struct fixture f;
	u32 name;

	start(&f, 8);
	play(&f, 4, 10);
	round_of(&f, 8);
	name = f.thread[5].name;
	next_round(&f);
	assert_same(round_of(&f, 8), 0);
	assert_same(f.thread[5].name, name);
	assert_true(alike(&f, 4) == 1);
	(void)state;
}

/* A cluster that falls apart: the larger part keeps the name. */
static void test_names_split(void **state)
{
	static struct fixture f;
	u32 i, name;

	start(&f, 5);
	for (i = 0; i < 5; i++)
		take(&f, i, 1, 50);
	round_of(&f, 16);
	name = f.thread[0].name;
	next_round(&f);
	for (i = 0; i < 2; i++)
		take(&f, i, 1, 50);
	for (i = 2; i < 5; i++)
		take(&f, i, 2, 40);
	round_of(&f, 16);
	for (i = 2; i < 5; i++)
		assert_same(f.thread[i].name, name);
	assert_same(f.thread[0].name, 2);
	assert_same(f.thread[1].name, 2);
	(void)state;
}

/* A name that more threads had than any other one lasts, whoever comes first. */
static void test_names_most(void **state)
{
	static const u32 line[] = { 1, 2, 3, 2, 1, 3 };
	static struct fixture f;
	u32 i, name;

	start(&f, 6);
	for (i = 0; i < 6; i++)
		take(&f, i, line[i], 50);
	assert_same(round_of(&f, 16), 3);
	name = f.thread[1].name;
	assert_true(f.thread[0].name != name && f.thread[2].name != name);
	next_round(&f);
	for (i = 0; i < 4; i++)
		take(&f, i, 1, 50);
	assert_same(round_of(&f, 16), 1);
	for (i = 0; i < 4; i++)
		assert_same(f.thread[i].name, name);
	(void)state;
}

/* Chips */

#define CPU	1024U

struct places {
	struct taskcluster_chip chip[8];
	struct taskcluster_member m[THREADS];
	struct taskcluster_part part[THREADS];
	u32 nr, chips;
};

/* @text: for each thread its cluster and the chip it is on, as "1a 1b" or "2-" */
static void place(struct places *p, u32 chips, u32 cpus, const char *text)
{
	u32 i;

	memset(p, 0, sizeof(*p));
	p->chips = chips;
	for (i = 0; i < chips; i++)
		p->chip[i].capacity = cpus * CPU;
	for (; *text; text += text[2] ? 3 : 2, p->nr++)
		p->m[p->nr] = (struct taskcluster_member){ p->nr, text[0] - '0', CPU,
							   text[1] == '-' ? -1 : text[1] - 'a' };
	taskcluster_place(p->chip, p->chips, p->m, p->nr, 25, p->part);
}

static s32 chip_of(const struct places *p, u32 id)
{
	u32 i;

	for (i = 0; i < p->nr; i++)
		if (p->m[i].id == id)
			return p->m[i].chip;
	fail_msg("thread %u is gone", id);
	return -1;
}

/* The chips as a text, thread by thread */
static void assert_chips(const struct places *p, const char *want)
{
	char got[THREADS + 1] = "";
	u32 i;

	for (i = 0; i < p->nr; i++)
		got[i] = chip_of(p, i) < 0 ? '-' : 'a' + chip_of(p, i);
	assert_string_equal(got, want);
}

static void test_place_spread(void **state)
{
	struct places p;

	place(&p, 2, 2, "1a 1b 2a 2b");
	assert_chips(&p, "aabb");
	place(&p, 2, 2, "1- 2- 1- 2-");
	assert_chips(&p, "abab");
	place(&p, 2, 4, "1a 2a 3b 4b 1b 2b 3a 4a");
	assert_same(p.chip[0].load, 4 * CPU);
	assert_same(p.chip[1].load, 4 * CPU);
	(void)state;
}

static void test_place_settled(void **state)
{
	struct places p;

	place(&p, 2, 2, "1b 1b 2a 2a");
	assert_chips(&p, "bbaa");
	/* one thread that strayed comes back */
	place(&p, 2, 4, "1b 1b 1a 2a 2a");
	assert_chips(&p, "bbbaa");
	/* a half is no reason to send others away */
	place(&p, 3, 2, "1a 1b 2a 2b 3b 3b");
	assert_chips(&p, "aaccbb");
	(void)state;
}

/* Where one half cannot stay, the other one does. */
static void test_place_second(void **state)
{
	struct places p;

	place(&p, 4, 2, "1a 2a 3b 4b 1c 2d 3d 4c");
	assert_chips(&p, "adbcadbc");
	(void)state;
}

static void test_place_largest_first(void **state)
{
	struct places p;

	place(&p, 2, 4, "1- 1- 2- 2- 2- 3-");
	assert_chips(&p, "bbaaab");
	(void)state;
}

static void test_place_uses_capacity(void **state)
{
	struct places p;

	/* alone on the machine, a pair fits on a chip: the other one may idle */
	place(&p, 2, 2, "1a 1b");
	assert_same(chip_of(&p, 0), chip_of(&p, 1));
	(void)state;
}

static void test_place_no_cluster(void **state)
{
	struct places p;

	place(&p, 2, 2, "0a 1a 1b 0-");
	assert_same(chip_of(&p, 0), -1);
	assert_same(chip_of(&p, 3), -1);
	(void)state;
}

static void test_place_split(void **state)
{
	struct places p;

	/* larger than a chip's share: halves */
	place(&p, 2, 2, "1a 1b 1a 1b 1a 1b");
	assert_chips(&p, "ababab");
	place(&p, 2, 2, "1a 1a 1a 1a 1a 1a");
	assert_same(p.chip[0].load, 3 * CPU);
	assert_same(p.chip[1].load, 3 * CPU);
	(void)state;
}

/* A chip may be fuller than its share, by a quarter. */
static void test_place_bound(void **state)
{
	struct places p;

	place(&p, 2, 2, "1a 1a 1b 1a 1b 2b 2b 2b 2b");
	assert_chips(&p, "aaaaabbbb");
	place(&p, 2, 2, "1a 1a 1b 1b 2b 2b");
	assert_same(p.chip[0].load, 3 * CPU);
	(void)state;
}

/* Three equal clusters, two chips: one is handed out. */
static void test_place_no_room(void **state)
{
	struct places p;

	place(&p, 2, 2, "1a 1a 2b 2b 3a 3b");
	assert_same(p.chip[0].load, 3 * CPU);
	assert_same(p.chip[1].load, 3 * CPU);
	assert_true(chip_of(&p, 0) == chip_of(&p, 1));
	assert_true(chip_of(&p, 2) == chip_of(&p, 3));
	(void)state;
}

static void test_place_small_chip(void **state)
{
	struct places p = { .chip = { { 1 * CPU, 0 }, { 3 * CPU, 0 } }, .nr = 2, .chips = 2 };

	p.m[0] = (struct taskcluster_member){ 0, 1, CPU, 0 };
	p.m[1] = (struct taskcluster_member){ 1, 1, CPU, 0 };
	taskcluster_place(p.chip, 2, p.m, 2, 25, p.part);
	assert_chips(&p, "bb");
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_filter),
		cmocka_unit_test(test_saturates),
		cmocka_unit_test(test_rand_index),
		cmocka_unit_test(test_boards),
		cmocka_unit_test(test_noise),
		cmocka_unit_test(test_pair),
		cmocka_unit_test(test_global),
		cmocka_unit_test(test_threshold),
		cmocka_unit_test(test_alone),
		cmocka_unit_test(test_strongest),
		cmocka_unit_test(test_weak_first),
		cmocka_unit_test(test_names_last),
		cmocka_unit_test(test_silence),
		cmocka_unit_test(test_names_split),
		cmocka_unit_test(test_names_most),
		cmocka_unit_test(test_place_spread),
		cmocka_unit_test(test_place_settled),
		cmocka_unit_test(test_place_second),
		cmocka_unit_test(test_place_largest_first),
		cmocka_unit_test(test_place_uses_capacity),
		cmocka_unit_test(test_place_no_cluster),
		cmocka_unit_test(test_place_split),
		cmocka_unit_test(test_place_bound),
		cmocka_unit_test(test_place_no_room),
		cmocka_unit_test(test_place_small_chip),
	};

	cmocka_set_test_filter(getenv("UNIT_FILTER"));
	return cmocka_run_group_tests_name("cluster", tests, NULL, NULL);
}
