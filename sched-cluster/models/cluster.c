// SPDX-License-Identifier: GPL-2.0
/*
 * Clusters of threads that share lines, found by merging.
 *
 * Algorithm 1 (Azimi 2007, 3.3.3) compares each thread with one of a cluster. That is enough if
 * all of them share the same lines equally. It is not if each has few samples, or shares more
 * with its partner than with the others, or with its neighbours only. Here three things differ.
 *
 * Which lines tell something? As in the thesis, none that more than half of all threads take, but
 * two threads are not everybody. Of the others take two samples. By chance they are of the same
 * thread as often as two samples of all lines are, for a line that everybody takes has no
 * favourites. Where it happens more often, by three standard errors and a bit, threads have the
 * line for themselves. This is the index of coincidence (Friedman 1922). It needs no count to be
 * large: many threads that take a line once or twice each tell as much as a few that take it
 * often. By chance that is so for a line in some fifty. So where all lines together do not tell
 * something by six standard errors, a single one has to.
 *
 *	samples of a line	AAABBB..   8 threads, 2 take it: each 2nd pair is of one thread
 *				ABCDEFGH   all take it: each 8th pair is
 *
 * Which threads belong together? Threads whose hottest line is the same begin as a node, if they
 * are similar. Then the two nodes that are most alike become one, and so on, until none are: the
 * cosine of their sums is below 1/16, or there are too few samples. A node is like all of its
 * threads, not like one that stands for them. Groups of any size weigh the same.
 *
 * Who was forgotten? At the end each thread goes to the cluster that it resembles most. That
 * mends what went wrong in the beginning.
 *
 * There is at most a node for each entry of the filter, so a thousand threads take hardly more
 * time to merge than 256.
 */
#include <linux/limits.h>
#include <linux/math.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "cluster.h"

#define MERGE_ERRORS	3U	/* standard errors that are no chance */
#define MERGE_SURE	6U	/* those that are none in many lines, either */
#define MERGE_EXCESS	1U	/* and pairs of samples: there are few of a cold line */
#define MERGE_PAIRS	64U	/* of a line, in a sum of lines */
#define MERGE_OFTEN	16U	/* samples of two threads that are no chance */
#define MERGE_UNIT	16U	/* pairs are counted in parts of one */
#define MERGE_ONE	65536U	/* score of nodes that are the same */
#define MERGE_SCORE	256U	/* of nodes that are alike: their cosine is 1/16 */
#define MERGE_JOIN	8U	/* a part of a thread's samples, on lines of its cluster */
#define MERGE_NONE	U16_MAX

/* All that the functions below need */
struct merge {
	struct taskcluster_thread **t;
	struct taskcluster_node *node;
	u64 *tie;		/* of each two nodes, and of each with itself */
	u32 nr, nodes, threshold;
};

/* Lines */

static u32 merge_samples(const struct taskcluster_thread *t)
{
	u32 i, sum = 0;

	for (i = 0; i < TASKCLUSTER_LINES; i++)
		sum += t->map.count[i];
	return sum;
}

/*
 * How likely are two samples of the same thread by chance? In parts of 2^32. Silent threads could
 * have taken as many samples as the others.
 */
static u64 merge_chance(struct taskcluster_thread **t, u32 nr, u32 total)
{
	u64 all = 0, squares = 0, samples;
	u32 i;

	for (i = 0; i < nr; i++) {
		samples = merge_samples(t[i]);
		all += samples;
		squares += samples * samples;
	}
	if (!all)
		return 0;
	/* no thread has more than 2^16 samples, so this is less than 2^48 times nr */
	return div64_u64(mul_u64_u64_div_u64(squares, (u64)nr << 32, all), all * total);
}

/**
 * struct merge_pairs - pairs of samples
 * @all: of one line, or of several
 * @same: those of the same thread
 */
struct merge_pairs {
	u64 all, same;
};

/* By how many standard errors do pairs of one thread exceed what is chance? */
static u32 merge_errors(const struct merge_pairs *p, u64 chance)
{
	u64 expected = mul_u64_u64_shr(p->all * MERGE_UNIT, chance, 32);
	u64 same = p->same * MERGE_UNIT;

	if (same <= expected + MERGE_EXCESS * MERGE_UNIT)
		return 0;
	same -= expected + MERGE_EXCESS * MERGE_UNIT;
	return min_t(u64, div64_u64(same, int_sqrt64(expected * MERGE_UNIT) ?: 1), U8_MAX);
}

/* No line counts for more than MERGE_PAIRS: one that all take may have most of the samples. */
static void merge_add_pairs(struct merge_pairs *sum, const struct merge_pairs *p)
{
	u64 all = min_t(u64, p->all, MERGE_PAIRS);

	sum->all += all;
	sum->same += p->all ? div64_u64(p->same * all, p->all) : 0;
}

/* What does a line tell, in standard errors? Adds its pairs to @sum. */
static u32 merge_line(struct taskcluster_thread **t, u32 nr, u32 total, u32 line, u64 chance,
		      struct merge_pairs *sum)
{
	u32 i, takers = 0, often = 0;
	struct merge_pairs p = { };
	u64 samples = 0, count;

	for (i = 0; i < nr; i++) {
		count = t[i]->map.count[line];
		takers += count > 0;
		often += taskcluster_takes(&t[i]->map, line);
		samples += count;
		p.same += count * (count - 1) / 2;
	}
	p.all = samples * (samples - 1) / 2;
	merge_add_pairs(sum, &p);
	if (takers < 2 || often > max(total / 2, 2U))
		return 0;
	/* two threads are not everybody */
	if (takers == 2 && often == 2)
		return samples < MERGE_OFTEN ? MERGE_ERRORS : MERGE_SURE;
	/* three quarters of the threads, or more? */
	if (p.same * 3 < mul_u64_u64_shr(p.all * 4, chance, 32))
		return 0;
	return merge_errors(&p, chance);
}

/*
 * Drop counts of lines that tell nothing. Of many lines some seem to, by chance. So where all of
 * them together do not, a line has to tell more.
 */
static void merge_clean(struct taskcluster_thread **t, u32 nr, u32 total)
{
	u64 chance = merge_chance(t, nr, total);
	u32 line, i, least = MERGE_ERRORS;
	struct merge_pairs sum = { };
	u8 errors[TASKCLUSTER_LINES];

	for (line = 0; line < TASKCLUSTER_LINES; line++)
		errors[line] = merge_line(t, nr, total, line, chance, &sum);
	if (merge_errors(&sum, chance) < MERGE_SURE)
		least = MERGE_SURE;
	for (line = 0; line < TASKCLUSTER_LINES; line++)
		for (i = 0; i < nr && errors[line] < least; i++)
			t[i]->map.count[line] = 0;
}

/* Nodes */

static u64 *merge_tie(const struct merge *m, u32 a, u32 b)
{
	return &m->tie[a * m->nodes + b];
}

/* The square of the cosine of two sums, or 0 if that is too little to count. */
static u32 merge_score(const struct merge *m, u64 tie, u64 a, u64 b)
{
	u32 score;

	if (tie <= m->threshold)
		return 0;
	score = mul_u64_u64_div_u64(mul_u64_u64_div_u64(tie << 8, tie, a), MERGE_ONE >> 8, b);
	return score >= MERGE_SCORE ? score : 0;
}

static u64 merge_node_product(const struct taskcluster_node *a, const struct taskcluster_node *b)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < TASKCLUSTER_LINES; i++)
		if (a->count[i])
			sum += (u64)a->count[i] * b->count[i];
	return sum;
}

static u32 merge_hottest(const struct taskcluster_thread *t)
{
	u32 i, hot = 0;

	for (i = 1; i < TASKCLUSTER_LINES; i++)
		if (t->map.count[i] > t->map.count[hot])
			hot = i;
	return t->map.count[hot] ? hot : MERGE_NONE;
}

static bool merge_resembles(const struct merge *m, const struct taskcluster_thread *t,
			    const struct taskcluster_node *n)
{
	u64 tie = 0, own = 0, nodes = 0;
	u32 i;

	for (i = 0; i < TASKCLUSTER_LINES; i++) {
		tie += (u64)t->map.count[i] * n->count[i];
		own += (u64)t->map.count[i] * t->map.count[i];
		nodes += (u64)n->count[i] * n->count[i];
	}
	return merge_score(m, tie, own, nodes);
}

static void merge_add(struct taskcluster_node *n, struct taskcluster_thread *t, u32 number)
{
	u32 i;

	for (i = 0; i < TASKCLUSTER_LINES; i++)
		n->count[i] += t->map.count[i];
	n->threads++;
	t->found = number + 1;
}

/* @of: the node that began with each line, or MERGE_NONE */
static void merge_begin_thread(struct merge *m, struct taskcluster_thread *t, u16 *of)
{
	u32 hot = merge_hottest(t);

	t->found = 0;
	if (hot == MERGE_NONE)
		return;
	if (of[hot] == MERGE_NONE) {
		of[hot] = m->nodes++;
		memset(&m->node[of[hot]], 0, sizeof(*m->node));
		m->node[of[hot]].into = of[hot];
	} else if (!merge_resembles(m, t, &m->node[of[hot]])) {
		return;
	}
	merge_add(&m->node[of[hot]], t, of[hot]);
}

static void merge_begin(struct merge *m)
{
	u16 of[TASKCLUSTER_LINES];
	u32 i;

	memset(of, 0xff, sizeof(of));
	for (i = 0; i < m->nr; i++)
		merge_begin_thread(m, m->t[i], of);
}

/* Merging */

static void merge_consider(struct merge *m, u32 a, u32 b)
{
	u32 score = merge_score(m, *merge_tie(m, a, b), *merge_tie(m, a, a), *merge_tie(m, b, b));

	if (score > m->node[a].score) {
		m->node[a].score = score;
		m->node[a].best = b;
	}
}

/* Which node is @a most like? */
static void merge_look(struct merge *m, u32 a)
{
	u32 b;

	m->node[a].score = 0;
	for (b = 0; b < m->nodes; b++)
		if (b != a && m->node[b].threads)
			merge_consider(m, a, b);
}

static void merge_compare(struct merge *m)
{
	u32 a, b;

	for (a = 0; a < m->nodes; a++)
		for (b = 0; b <= a; b++) {
			*merge_tie(m, a, b) = merge_node_product(&m->node[a], &m->node[b]);
			*merge_tie(m, b, a) = *merge_tie(m, a, b);
		}
	for (a = 0; a < m->nodes; a++)
		merge_look(m, a);
}

/* Node @b becomes part of @a. */
static void merge_two(struct merge *m, u32 a, u32 b)
{
	struct taskcluster_node *n = &m->node[a], *gone = &m->node[b];
	u32 i;

	for (i = 0; i < TASKCLUSTER_LINES; i++)
		n->count[i] += gone->count[i];
	n->threads += gone->threads;
	gone->threads = 0;
	gone->into = a;
	*merge_tie(m, a, a) += 2 * *merge_tie(m, a, b) + *merge_tie(m, b, b);
	for (i = 0; i < m->nodes; i++)
		if (i != a) {
			*merge_tie(m, a, i) += *merge_tie(m, b, i);
			*merge_tie(m, i, a) = *merge_tie(m, a, i);
		}
}

/* The others look again if the one that they liked has changed. */
static void merge_look_again(struct merge *m, u32 a, u32 b)
{
	u32 i;

	merge_look(m, a);
	for (i = 0; i < m->nodes; i++) {
		if (i == a || !m->node[i].threads || !*merge_tie(m, i, a))
			continue;
		if (m->node[i].score && (m->node[i].best == a || m->node[i].best == b))
			merge_look(m, i);
		else
			merge_consider(m, i, a);
	}
}

static void merge_all(struct merge *m)
{
	u32 i, most, a, b;

	for (;;) {
		for (i = 0, most = 0, a = 0; i < m->nodes; i++)
			if (m->node[i].threads && m->node[i].score > most) {
				most = m->node[i].score;
				a = i;
			}
		if (!most)
			return;
		b = m->node[a].best;
		merge_two(m, a, b);
		merge_look_again(m, a, b);
	}
}

static u32 merge_top(const struct merge *m, u32 node)
{
	while (m->node[node].into != node)
		node = m->node[node].into;
	return node;
}

/* Threads */

/*
 * How much does a thread resemble the other ones of a cluster? 0 also if it takes few of their
 * lines: one sample of theirs on a line that it often takes is chance. @lines: the @nr it takes
 */
static u64 merge_join_score(const struct merge *m, const struct taskcluster_thread *t, u32 c,
			    const u8 *lines, u32 nr)
{
	bool member = t->found == c + 1;
	u64 tie = 0, square = *merge_tie(m, c, c);
	u32 i, count, theirs, samples = 0, common = 0;

	for (i = 0; i < nr; i++) {
		count = t->map.count[lines[i]];
		theirs = m->node[c].count[lines[i]] - (member ? count : 0);
		tie += (u64)count * theirs;
		samples += count;
		common += theirs >= TASKCLUSTER_NOISE ? count : 0;
	}
	if (tie <= m->threshold || common * MERGE_JOIN < samples)
		return 0;
	return mul_u64_u64_div_u64(tie << 8, tie, square);
}

/* The cluster that a thread resembles most, from 1, or where it is */
static u32 merge_join(const struct merge *m, const struct taskcluster_thread *t)
{
	u32 c, best = t->found, i, nr = 0;
	u8 lines[TASKCLUSTER_LINES];
	u64 most = 0, score;

	for (i = 0; i < TASKCLUSTER_LINES; i++)
		if (t->map.count[i])
			lines[nr++] = i;
	for (c = 0; nr && c < m->nodes; c++) {
		score = m->node[c].threads ? merge_join_score(m, t, c, lines, nr) : 0;
		if (score > most) {
			most = score;
			best = c + 1;
		}
	}
	return best;
}

static void merge_finish(struct merge *m)
{
	u32 i;

	for (i = 0; i < m->nr; i++)
		if (m->t[i]->found)
			m->t[i]->found = merge_top(m, m->t[i]->found - 1) + 1;
	for (i = 0; i < m->nr; i++)
		m->t[i]->found = merge_join(m, m->t[i]);
	/* count again, for a thread alone is no cluster */
	for (i = 0; i < m->nodes; i++)
		m->node[i].threads = 0;
	for (i = 0; i < m->nr; i++)
		if (m->t[i]->found)
			m->node[m->t[i]->found - 1].threads++;
	for (i = 0; i < m->nr; i++)
		if (m->t[i]->found && m->node[m->t[i]->found - 1].threads < 2)
			m->t[i]->found = 0;
}

/**
 * taskcluster_find() - find the clusters of a group
 * @t: threads; counts that tell nothing become 0
 * @nr: number of them, at most 8192
 * @total: threads of the group, also those of which nothing was seen
 * @threshold: similarity above which nodes can be merged
 * @nodes: room for taskcluster_most_nodes(@nr)
 * @ties: room for the square of that
 *
 * Writes the number of each thread's cluster to ->found. Takes time in proportion to threads by
 * clusters and to the square of nodes, of which there are at most 256.
 *
 * Return: the largest number of a cluster; some numbers below may have no threads
 */
u32 taskcluster_find(struct taskcluster_thread **t, u32 nr, u32 total, u32 threshold,
		     struct taskcluster_node *nodes, u64 *ties)
{
	struct merge m = { .t = t, .node = nodes, .tie = ties, .nr = nr, .threshold = threshold };

	merge_clean(t, nr, total);
	merge_begin(&m);
	merge_compare(&m);
	merge_all(&m);
	merge_finish(&m);
	return m.nodes;
}
