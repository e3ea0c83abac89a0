// SPDX-License-Identifier: GPL-2.0
/*
 * Random groups of threads against models so simple that they are right: clusters by the letter
 * of the algorithm, with long arithmetic, and what must hold of each placement.
 */
#include <math.h>
#include <string.h>

#include <cluster.h>

#include "fuzz.h"

#define MOST	24U

static const char *const fuzz_name = "fuzz_cluster";
static const char *const fuzz_claim = "clusters and places";

struct state {
	struct taskcluster_filter filter;
	struct taskcluster_thread thread[MOST], *t[MOST];
	struct taskcluster_node nodes[MOST];
	u64 ties[MOST * MOST];
	struct taskcluster_link links[MOST];
	u32 names[MOST], nr, total, last;
	u32 count[MOST][1000];	/* by line; those that have an entry of the filter */
	u32 words[MOST][1000][TASKCLUSTER_WORDS];
	s32 locked[1000];
};

/* A line of few, so that there is sharing. With groups, three in four are of the thread's own. */
static u32 draw_line(struct source *src, u32 groups, u32 who)
{
	if (!groups)
		return draw(src, draw(src, 2) ? 1000 : 40);
	return 12 * (draw(src, 4) ? who % groups : draw(src, groups)) + draw(src, 12);
}

/* A line is in the filter if it was noted once. */
static void sample(struct source *src, struct state *s)
{
	u32 i, nr = draw(src, 3000), groups = draw(src, 9), line, who;
	struct taskcluster_access a;

	for (i = 0; i < nr; i++) {
		who = draw(src, s->nr);
		line = draw_line(src, groups, who);
		a = (struct taskcluster_access){
			.line = line, .word = (who + draw(src, 2)) % TASKCLUSTER_WORDS,
			.locked = draw(src, 3) == line % 3,
		};
		if (!taskcluster_shmap_note(&s->filter, &s->thread[who], &a))
			continue;
		s->count[who][line]++;
		s->words[who][line][a.word]++;
		s->locked[line] += a.locked ? 1 : -1;
		s->locked[line] = s->locked[line] > 127 ? 127 : s->locked[line];
		s->locked[line] = s->locked[line] < -128 ? -128 : s->locked[line];
	}
}

static enum taskcluster_kind naive_kind(const struct state *s, u32 line)
{
	u32 i, k, word, takers = 0, used, unsure = 0, shared = 0, all = 0, samples = 0, count;
	long tosses = 0;

	for (i = 0; i < s->nr; i++) {
		if (s->count[i][line] < 3)
			continue;
		takers++;
		for (word = used = 0; word < TASKCLUSTER_WORDS; word++) {
			used += s->words[i][line][word] > 0;
			for (k = 0; k < i; k++)
				shared += s->count[k][line] > 2 && s->words[k][line][word] &&
					  s->words[i][line][word];
		}
		all += used;	/* of use if none is shared */
		count = s->count[i][line] > 255 ? 255 : s->count[i][line];
		unsure += count < 4 * used;
		samples += count;
		tosses -= count * lround(16 * log2(used));
	}
	if (takers < 2)
		return TASKCLUSTER_SINGLE;
	if (shared)
		return s->locked[line] > 0 ? TASKCLUSTER_ATOMIC : TASKCLUSTER_DATA;
	tosses += samples * lround(16 * log2(all));
	return unsure || tosses < 16 * 24 ? TASKCLUSTER_UNKNOWN : TASKCLUSTER_FALSE;
}

static void check_lines(const struct state *s)
{
	struct taskcluster_sharing sharing;
	u32 entry, i;

	for (entry = 0; entry < TASKCLUSTER_LINES; entry++) {
		if (!s->filter.line[entry])
			continue;
		memset(&sharing, 0, sizeof(sharing));
		for (i = 0; i < s->nr; i++)
			taskcluster_share(&sharing, &s->thread[i].map, entry);
		CHECK(taskcluster_kind(&sharing, s->filter.locked[entry] > 0) ==
		      naive_kind(s, s->filter.line[entry] - 1));
	}
}

/* Clusters by the letter of cluster.c, without anything that is kept up to date on the way */

#define LINES	TASKCLUSTER_LINES

typedef unsigned __int128 u128;

struct naive {
	u32 v[MOST][LINES];	/* counts of threads, those that tell something */
	u32 sum[MOST][LINES];	/* of nodes */
	u32 node[MOST];		/* of each thread, or ~0 */
	u32 nodes;
	bool tied;		/* two pairs are as alike, so another order would be right, too */
};

static u32 naive_root(u64 x)
{
	u32 root = 0, bit;

	for (bit = 1U << 31; bit; bit >>= 1)
		if ((u64)(root | bit) * (root | bit) <= x)
			root |= bit;
	return root;
}

static u64 naive_chance(const struct naive *n, u32 nr, u32 total)
{
	u64 all = 0, squares = 0, one;
	u32 i, k;

	for (i = 0; i < nr; i++) {
		for (k = 0, one = 0; k < LINES; k++)
			one += n->v[i][k];
		all += one;
		squares += one * one;
	}
	return all ? (u64)((u128)squares * ((u64)nr << 32) / all / (all * total)) : 0;
}

/* Pairs in @pairs by all and by the same thread, in standard errors beyond chance */
static u32 naive_errors(const u64 *pairs, u64 chance)
{
	u64 expected = (u64)((u128)(pairs[0] * 16) * chance >> 32), root = naive_root(expected * 16);

	if (pairs[1] * 16 <= expected + 16)
		return 0;
	return (pairs[1] * 16 - expected - 16) / (root ? root : 1);
}

static u32 naive_line(const struct naive *n, u32 nr, u32 total, u32 line, u64 chance, u64 *sum)
{
	u32 i, some = 0, often = 0, all = 0;
	u64 pairs[2] = { };

	for (i = 0; i < nr; i++) {
		some += n->v[i][line] > 0;
		often += n->v[i][line] > 2;
		all += n->v[i][line];
		pairs[1] += n->v[i][line] ? n->v[i][line] * (n->v[i][line] - 1) / 2 : 0;
	}
	pairs[0] = all ? (u64)all * (all - 1) / 2 : 0;
	if (pairs[0] > 64) {
		sum[0] += 64;
		sum[1] += 64 * pairs[1] / pairs[0];
	} else {
		sum[0] += pairs[0];
		sum[1] += pairs[1];
	}
	if (some < 2 || (often > 2 && 2 * often > total))
		return 0;
	if (some == 2 && often == 2)
		return all < 16 ? 3 : 6;
	if (pairs[1] * 3 < (u64)((u128)(pairs[0] * 4) * chance >> 32))
		return 0;
	return naive_errors(pairs, chance);
}

static void naive_clean(struct naive *n, u32 nr, u32 total)
{
	u64 chance = naive_chance(n, nr, total), sum[2] = { };
	u32 line, i, errors[LINES];

	for (line = 0; line < LINES; line++)
		errors[line] = naive_line(n, nr, total, line, chance, sum);
	for (line = 0; line < LINES; line++)
		for (i = 0; i < nr; i++)
			if (errors[line] < (naive_errors(sum, chance) < 6 ? 6 : 3))
				n->v[i][line] = 0;
}

static u64 naive_product(const u32 *a, const u32 *b)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < LINES; i++)
		sum += (u64)a[i] * b[i];
	return sum;
}

/* The square of the cosine in parts of 2^16 */
static u32 naive_score(const u32 *a, const u32 *b)
{
	u64 tie = naive_product(a, b), score;

	if (tie <= TASKCLUSTER_THRESHOLD)
		return 0;
	score = (u128)(u64)((u128)tie * tie * 256 / naive_product(a, a)) * 256 / naive_product(b, b);
	return score < 256 ? 0 : score;
}

static void naive_add(struct naive *n, u32 node, const u32 *v)
{
	u32 i;

	for (i = 0; i < LINES; i++)
		n->sum[node][i] += v[i];
}

static void naive_begin(struct naive *n, u32 nr)
{
	u32 of[LINES], i, k, hot;

	memset(of, 0xff, sizeof(of));
	for (i = 0; i < nr; i++) {
		n->node[i] = ~0U;
		for (k = 0, hot = 0; k < LINES; k++)
			hot = n->v[i][k] > n->v[i][hot] ? k : hot;
		if (!n->v[i][hot])
			continue;
		if (of[hot] == ~0U)
			of[hot] = n->nodes++;
		else if (!naive_score(n->v[i], n->sum[of[hot]]))
			continue;
		n->node[i] = of[hot];
		naive_add(n, of[hot], n->v[i]);
	}
}

/* Return whether two nodes were alike, and are one now. */
static bool naive_merge(struct naive *n, u32 nr)
{
	u32 a, b, i, score, most = 0, best_a = 0, best_b = 0;

	for (a = 0; a < n->nodes; a++)
		for (b = 0; b < n->nodes; b++) {
			score = a == b ? 0 : naive_score(n->sum[a], n->sum[b]);
			n->tied |= score && score == most && (a != best_b || b != best_a);
			if (score <= most)
				continue;
			most = score;
			best_a = a;
			best_b = b;
		}
	if (!most)
		return false;
	naive_add(n, best_a, n->sum[best_b]);
	memset(n->sum[best_b], 0, sizeof(n->sum[best_b]));
	for (i = 0; i < nr; i++)
		n->node[i] = n->node[i] == best_b ? best_a : n->node[i];
	return true;
}

static u64 naive_join_score(const struct naive *n, u32 thread, u32 node)
{
	u32 others[LINES], i, own = 0, common = 0;
	u64 tie;

	for (i = 0; i < LINES; i++) {
		others[i] = n->sum[node][i] - (n->node[thread] == node ? n->v[thread][i] : 0);
		own += n->v[thread][i];
		common += others[i] > 2 ? n->v[thread][i] : 0;
	}
	tie = naive_product(n->v[thread], others);
	if (tie <= TASKCLUSTER_THRESHOLD || common * 8 < own)
		return 0;
	return (u128)tie * tie * 256 / naive_product(n->sum[node], n->sum[node]);
}

static u32 naive_join(const struct naive *n, u32 thread)
{
	u32 node, best = n->node[thread];
	u64 most = 0, score;

	for (node = 0; node < n->nodes; node++) {
		score = naive_join_score(n, thread, node);
		if (score > most) {
			most = score;
			best = node;
		}
	}
	return best;
}

/* A thread may go to a node from which all others have gone. */
static void check_found(const struct state *s, const u32 *found, u32 clusters)
{
	static struct naive n;
	u32 i, k, node[MOST], members;

	memset(&n, 0, sizeof(n));
	for (i = 0; i < s->nr; i++)
		for (k = 0; k < LINES; k++)
			if (s->filter.line[k]) {
				n.v[i][k] = s->count[i][s->filter.line[k] - 1];
				n.v[i][k] = n.v[i][k] > 255 ? 255 : n.v[i][k];
			}
	naive_clean(&n, s->nr, s->total);
	naive_begin(&n, s->nr);
	CHECK(clusters == n.nodes);
	while (naive_merge(&n, s->nr))
		;
	for (i = 0; i < s->nr; i++)
		node[i] = naive_join(&n, i);
	for (i = 0; i < s->nr; i++) {
		for (k = 0, members = 0; k < s->nr; k++)
			members += node[k] == node[i];
		CHECK(n.tied || found[i] == (node[i] != ~0U && members > 1 ? node[i] + 1 : 0));
		for (k = 0, members = 0; k < s->nr; k++)
			members += found[k] == found[i];
		CHECK(!found[i] || members > 1);
	}
}

/* Threads have the same name if and only if they were found together; silent ones keep theirs. */
static void check_named(const struct state *s, const u32 *found, const u32 *before, u32 last)
{
	u32 i, k;

	for (i = 0; i < s->nr; i++) {
		CHECK(s->thread[i].name <= s->last);
		if (!found[i])
			CHECK(s->thread[i].name == before[i]);
		for (k = 0; k < i; k++)
			if (found[i] && found[k])
				CHECK((found[i] == found[k]) ==
				      (s->thread[i].name == s->thread[k].name));
	}
	CHECK(s->last >= last);
}

static void one_cluster_round(struct source *src, struct state *s)
{
	u32 found[MOST], before[MOST], i, clusters, last = s->last;

	taskcluster_filter_reset(&s->filter);
	memset(s->count, 0, sizeof(s->count));
	memset(s->words, 0, sizeof(s->words));
	memset(s->locked, 0, sizeof(s->locked));
	for (i = 0; i < s->nr; i++) {
		taskcluster_shmap_reset(&s->thread[i]);
		s->t[i] = &s->thread[i];
		before[i] = s->thread[i].name;
	}
	sample(src, s);
	check_lines(s);
	clusters = taskcluster_find(s->t, s->nr, s->total, TASKCLUSTER_THRESHOLD, s->nodes,
				    s->ties);
	for (i = 0; i < s->nr; i++)
		found[i] = s->thread[i].found;
	check_found(s, found, clusters);
	s->last = taskcluster_name(s->t, s->nr, clusters, last, s->links, s->names);
	check_named(s, found, before, last);
}

static void one_placement(struct source *src)
{
	struct taskcluster_chip chip[8] = { };
	struct taskcluster_member m[MOST];
	struct taskcluster_part part[MOST];
	u32 chips = 1 + draw(src, 8), nr = draw(src, MOST + 1), pct = draw(src, 101), i, seen = 0;
	u64 load[8] = { }, largest = 0, all = 0, capacity = 0;

	for (i = 0; i < chips; i++)
		capacity += chip[i].capacity = 1024 * (1 + draw(src, 4));
	for (i = 0; i < nr; i++) {
		m[i] = (struct taskcluster_member){ i, draw(src, 5), draw(src, 1025),
						    (s32)draw(src, chips + 1) - 1 };
		all += m[i].load;
		largest = largest < m[i].load ? m[i].load : largest;
	}
	taskcluster_place(chip, chips, m, nr, pct, part);
	for (i = 0; i < nr; i++) {
		CHECK(m[i].id < nr && !(seen & 1U << m[i].id));
		seen |= 1U << m[i].id;
		CHECK(m[i].chip < (s32)chips && (m[i].chip >= 0) == (m[i].cluster != 0));
		if (m[i].chip >= 0)
			load[m[i].chip] += m[i].load;
	}
	/* no chip is fuller than it may be by more than the thread that came last */
	for (i = 0; i < chips; i++) {
		CHECK(load[i] == chip[i].load);
		if (load[i] > chip[i].capacity)
			CHECK((load[i] - largest) * capacity * 100 <=
			      all * chip[i].capacity * (100 + pct));
	}
}

static void one_round(struct source *src)
{
	static struct state s;
	u32 i, rounds = 1 + draw(src, 3);

	memset(&s, 0, sizeof(s));
	s.nr = 1 + draw(src, MOST);
	s.total = s.nr + draw(src, 2) * draw(src, 20);
	for (i = 0; i < rounds && !source_ends(src); i++)
		one_cluster_round(src, &s);
	for (i = 0; i < 8; i++)
		one_placement(src);
}
