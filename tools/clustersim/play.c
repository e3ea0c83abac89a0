// SPDX-License-Identifier: GPL-2.0
/*
 * Samples that are made up. Threads take lines of areas that are their own, their pair's, their
 * group's or everybody's, in shares that are a guess at what the named program does.
 *
 * The four of the thesis (Azimi 2007, 3.4.2) are board, warehouse, chat and mysql. The others are
 * those of tools/bench/threads, and two that are hard: a chain, in which nobody shares with
 * more than two others, and groups of very different sizes.
 *
 * A line that threads share by chance is one of NOISE_LINES, and some of these are much hotter
 * than others. So some are taken by nearly all threads, most by nearly none, and those in
 * between look like sharing.
 */
#include <stdlib.h>
#include <string.h>

#include "../pathctl/pathctl.h"
#include "play.h"

#define LINE		64U
#define PAGE		4096U
#define NOISE_LINES	128U
#define OWN_LINES	1024U
#define FIRST_TID	1001U
#define SERVER_SHARE	8U	/* as many samples as that many clients */

enum area { AREA_NOISE, AREA_OWN, AREA_PAIR, AREA_GROUP, AREA_GLOBAL };

/**
 * struct play_run - a play while it runs
 * @play: what is played
 * @o: how much of it
 * @groups: number of groups
 * @state: of the random numbers
 */
struct play_run {
	const struct play *play;
	const struct play_options *o;
	u32 groups;
	u64 state;
};

/* Random numbers: splitmix64 (Steele, Lea and Flood 2014) */

static u64 scramble(u64 x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

static u32 draw(struct play_run *run, u32 below)
{
	run->state += 0x9e3779b97f4a7c15ULL;
	return (scramble(run->state) >> 32) * below >> 32;
}

/* A low number is more likely than a high one. */
static u32 draw_low(struct play_run *run, u32 below)
{
	u64 u = draw(run, 65536);

	return u * u * below >> 32;
}

/* Where an area begins, its own place for each seed. Areas are 64 KiB. */
static u64 area_place(const struct play_run *run, enum area area, u32 index)
{
	u64 place = scramble(scramble(run->o->seed + 1) + area * 0x100000000ULL + index);

	return 0x7f0000000000ULL + ((place & 0xffffff) << 16);
}

/*
 * The physical address: pages lie anywhere. Processes have different pages at the same address,
 * which is what @space is for.
 */
static u64 physical(const struct play_run *run, u64 addr, u32 space)
{
	u64 page = scramble(scramble(addr / PAGE + run->o->seed) + space) & 0xffffffff;

	return page * PAGE + addr % PAGE;
}

/* The sample is on a word of line @line of an area. */
static void take(struct play_run *run, struct sample *s, enum area area, u32 index, u32 line)
{
	bool everybodys = area == AREA_NOISE || area == AREA_GLOBAL;
	u32 at = run->play->processes ? 0 : index;

	s->addr = area_place(run, area, at) + line * LINE + draw(run, LINE / 8) * 8;
	s->phys = physical(run, s->addr, run->play->processes && !everybodys ? 1 + index : 0);
	s->ip = 0x400000 + area * 0x1000 + line % 4 * 8;
	s->locked = area == AREA_GLOBAL;
}

static void take_own(struct play_run *run, struct sample *s, u32 thread)
{
	take(run, s, AREA_OWN, thread, draw(run, OWN_LINES));
}

/* Groups */

static u32 max_u32(u32 a, u32 b)
{
	return a > b ? a : b;
}

static u32 groups_of_four(u32 threads)
{
	return max_u32(2, threads / 4);
}

static u32 groups_of_sixteen(u32 threads)
{
	return max_u32(2, threads / 16);
}

static u32 two_groups(u32 threads)
{
	(void)threads;
	return 2;
}

static u32 pairs(u32 threads)
{
	return max_u32(1, threads / 2);
}

static u32 in_turn(const struct play_run *run, u32 thread)
{
	return 1 + thread % run->groups;
}

/* What all share ties nobody to somebody, except two that are all. */
static u32 in_none_of_many(const struct play_run *run, u32 thread)
{
	(void)thread;
	return run->o->threads <= 2;
}

static u32 in_one(const struct play_run *run, u32 thread)
{
	(void)run;
	(void)thread;
	return 1;
}

static u32 in_none(const struct play_run *run, u32 thread)
{
	(void)run;
	(void)thread;
	return 0;
}

/* A half of the threads, a quarter, an eighth, and so on. One that is left is alone. */
static u32 in_halves(const struct play_run *run, u32 thread)
{
	u32 group = 1, left = run->o->threads, size;

	for (; left > 1; group++, left -= size, thread -= size) {
		size = (left + 1) / 2;
		if (thread < size)
			return size > 1 ? group : 0;
	}
	return 0;
}

/* Which of its group is it? */
static u32 rank(const struct play_run *run, u32 thread)
{
	return thread / run->groups;
}

/* Workloads */

static void touch_board(struct play_run *run, u32 thread, struct sample *s)
{
	u32 group = run->play->group(run, thread);

	if (!group || draw(run, 100) < 5)
		take_own(run, s, thread);
	else
		take(run, s, AREA_GROUP, group, draw(run, 16));
}

/* The first of each group also looks at the board of the next group. */
static void touch_bridge(struct play_run *run, u32 thread, struct sample *s)
{
	if (!rank(run, thread) && draw(run, 100) < 10)
		take(run, s, AREA_GROUP, 1 + in_turn(run, thread) % run->groups, draw(run, 16));
	else
		touch_board(run, thread, s);
}

/* The root of a tree, its nodes, its leaves, and what counts for all warehouses */
static void touch_warehouse(struct play_run *run, u32 thread, struct sample *s)
{
	u32 which = draw(run, 100), group = in_turn(run, thread);

	if (which < 20)
		take(run, s, AREA_GROUP, group, 0);
	else if (which < 50)
		take(run, s, AREA_GROUP, group, 1 + draw(run, 8));
	else if (which < 85)
		take(run, s, AREA_GROUP, group, 9 + draw_low(run, 64));
	else if (which < 95)
		take(run, s, AREA_GLOBAL, 0, 0);
	else
		take_own(run, s, thread);
}

/* The two threads of a connection: strongly; a room: its lists; and a lock of the server */
static void touch_chat(struct play_run *run, u32 thread, struct sample *s)
{
	u32 which = draw(run, 100), room = in_turn(run, thread);
	u32 connection = room * PLAY_THREADS + rank(run, thread) / 2;

	if (which < 45)
		take(run, s, AREA_PAIR, connection, draw(run, 4));
	else if (which < 75)
		take(run, s, AREA_GROUP, room, draw(run, 12));
	else if (which < 90)
		take(run, s, AREA_GLOBAL, 0, 0);
	else
		take_own(run, s, thread);
}

/* Pages of a database, locks of its tables, and latches of the server */
static void touch_mysql(struct play_run *run, u32 thread, struct sample *s)
{
	u32 which = draw(run, 100), group = in_turn(run, thread);

	if (which < 45)
		take(run, s, AREA_GROUP, group, 8 + draw_low(run, 48));
	else if (which < 65)
		take(run, s, AREA_GROUP, group, draw(run, 8));
	else if (which < 95)
		take(run, s, AREA_GLOBAL, 0, draw(run, 6));
	else
		take_own(run, s, thread);
}

/* Head and tail of a ring, and its slots */
static void touch_ring(struct play_run *run, u32 thread, struct sample *s)
{
	u32 which = draw(run, 100), pair = in_turn(run, thread);

	if (which < 60)
		take(run, s, AREA_PAIR, pair, which % 2);
	else if (which < 95)
		take(run, s, AREA_PAIR, pair, 2 + draw(run, 16));
	else
		take_own(run, s, thread);
}

/* Each stage has a queue of 4 lines to the next one. */
static void touch_chain(struct play_run *run, u32 thread, struct sample *s)
{
	u32 stage = rank(run, thread), next = thread + run->groups, side = draw(run, 2);

	if (draw(run, 100) < 5)
		take_own(run, s, thread);
	else if ((side && stage) || next >= run->o->threads)
		take(run, s, AREA_PAIR, thread - run->groups, draw(run, 4));
	else
		take(run, s, AREA_PAIR, thread, draw(run, 4));
}

static void touch_all(struct play_run *run, u32 thread, struct sample *s)
{
	if (draw(run, 100) < 5)
		take_own(run, s, thread);
	else
		take(run, s, AREA_GROUP, 0, draw(run, 16));
}

static void touch_none(struct play_run *run, u32 thread, struct sample *s)
{
	take(run, s, AREA_OWN, thread, draw(run, 16));
}

/* A client has a line for what it asks, and one for the answer. */
static void touch_server(struct play_run *run, u32 thread, struct sample *s)
{
	if (draw(run, 100) < 5)
		take_own(run, s, thread);
	else
		take(run, s, AREA_PAIR, thread ? thread : 1 + draw(run, run->o->threads - 1),
		     draw(run, 2));
}

const struct play plays[] = {
	{ "board", "threads add to the scoreboard of their group (thesis 3.4.2)", false,
	  groups_of_four, in_turn, touch_board },
	{ "warehouse", "a tree for each group, and a line of all (SPECjbb)", false,
	  groups_of_four, in_turn, touch_warehouse },
	{ "chat", "two threads a connection, rooms, and a lock (VolanoMark)", false,
	  groups_of_sixteen, in_turn, touch_chat },
	{ "mysql", "two databases in a server, and latches of all (RUBiS)", false,
	  two_groups, in_turn, touch_mysql },
	{ "pairs", "two processes each have a ring in memory that they share", true,
	  pairs, in_turn, touch_ring },
	{ "chain", "threads hand on to the next one of their group", false,
	  groups_of_four, in_turn, touch_chain },
	{ "bridge", "scoreboards, and one of each group looks at the next one", false,
	  groups_of_four, in_turn, touch_bridge },
	{ "uneven", "groups of a half of the threads, a quarter, and so on", false,
	  two_groups, in_halves, touch_board },
	{ "server", "thread 0 talks to each of the others: one group", false,
	  two_groups, in_one, touch_server },
	{ "all", "one scoreboard: nobody is closer to some than to others", false,
	  two_groups, in_none_of_many, touch_all },
	{ "none", "each thread has lines of its own", false, two_groups, in_none, touch_none },
	{ }
};

static void next_sample(struct play_run *run, u32 thread, struct sample *s)
{
	s->tid = FIRST_TID + thread;
	s->pid = run->play->processes ? s->tid : FIRST_TID;
	if (draw(run, 100) < run->o->noise)
		take(run, s, AREA_NOISE, 0, draw_low(run, NOISE_LINES));
	else
		run->play->touch(run, thread, s);
}

/* A server is busier than its clients. */
static u32 next_thread(struct play_run *run)
{
	u32 threads = run->o->threads, i;

	if (run->play->touch != touch_server)
		return draw(run, threads);
	i = draw(run, threads - 1 + SERVER_SHARE);
	return i < threads ? i : 0;
}

/**
 * play_samples() - make up samples
 * @play: what is played
 * @o: how much of it
 * @s: where the samples go
 * @t: where the groups of the threads go; all: none is the truth, see the man page
 */
void play_samples(const struct play *play, const struct play_options *o, struct samples *s,
		  struct truths *t)
{
	struct play_run run = { play, o, o->groups, scramble(o->seed) };
	u64 nr = (u64)o->rounds * o->threads * o->samples, i;
	struct sample sample = { };

	if (!run.groups)
		run.groups = play->groups(o->threads);
	for (i = 0; i < o->threads; i++)
		truths_add(t, FIRST_TID + i, play->group(&run, i));
	for (i = 0; i < nr; i++) {
		sample.time_ns = i * 10000;
		next_sample(&run, next_thread(&run), &sample);
		samples_add(s, &sample);
	}
}

/* Options */

static const struct play *play_by_name(const char *name)
{
	const struct play *p;

	for (p = plays; p->name; p++)
		if (!strcmp(p->name, name))
			return p;
	die(EX_USAGE, "no play is called %s", name);
}

static void parse_play_option(struct play_options *o, char *text)
{
	char *value = strchr(text, '=');

	if (!value)
		die(EX_USAGE, "--play: %s: must be seed=, threads=, groups=, rounds= or noise=",
		    text);
	*value++ = '\0';
	if (!strcmp(text, "seed"))
		o->seed = option_number("--play: seed", value, 0, INT32_MAX);
	else if (!strcmp(text, "threads"))
		o->threads = option_number("--play: threads", value, 2, PLAY_THREADS);
	else if (!strcmp(text, "groups"))
		o->groups = option_number("--play: groups", value, 1, PLAY_THREADS);
	else if (!strcmp(text, "rounds"))
		o->rounds = option_number("--play: rounds", value, 1, 1000);
	else if (!strcmp(text, "noise"))
		o->noise = option_number("--play: noise", value, 0, 100);
	else
		die(EX_USAGE, "--play: there is no %s=", text);
}

/**
 * play_parse() - which play, and how much of it
 * @text: NAME[:OPTION=N,...]; is changed. Ends the program if it is wrong.
 * @o: where the options go
 *
 * Return: the play
 */
const struct play *play_parse(char *text, struct play_options *o)
{
	const struct play *play;
	char *options = text;

	*o = (struct play_options){ .seed = 1, .threads = 16, .rounds = 1 };
	play = play_by_name(strsep(&options, ":"));
	while (options)
		parse_play_option(o, strsep(&options, ","));
	if (o->groups > o->threads)
		die(EX_USAGE, "--play: more groups than threads");
	return play;
}
