// SPDX-License-Identifier: GPL-2.0
/*
 * Random groups of threads against models so simple that they are right: clusters by the letter
 * of the algorithm, with long arithmetic, and what must hold of each placement.
 */
#include <string.h>

#include <cluster.h>

#include "fuzz.h"

#define MOST	24U

static const char *const fuzz_name = "fuzz_cluster";
static const char *const fuzz_claim = "clusters and places";

struct state {
	struct taskcluster_filter filter;
	struct taskcluster_thread thread[MOST], *t[MOST], *rep[MOST];
	struct taskcluster_link links[MOST];
	u32 names[MOST], nr, total, last;
	u32 count[MOST][1000];	/* by line; those that have an entry of the filter */
	u32 words[MOST][1000][TASKCLUSTER_WORDS];
	s32 locked[1000];
};

/* Samples of few lines, so that there is sharing. A line is in the filter if it was noted once. */
static void sample(struct source *src, struct state *s)
{
	u32 i, nr = draw(src, 3000), line, who;
	struct taskcluster_access a;

	for (i = 0; i < nr; i++) {
		line = draw(src, draw(src, 2) ? 1000 : 40);
		who = draw(src, s->nr);
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
	u32 i, k, word, takers = 0, used, unsure = 0, shared = 0;

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
		unsure += (s->count[i][line] > 255 ? 255 : s->count[i][line]) < 4 * used;
	}
	if (takers < 2)
		return TASKCLUSTER_SINGLE;
	if (shared)
		return s->locked[line] > 0 ? TASKCLUSTER_ATOMIC : TASKCLUSTER_DATA;
	return unsure ? TASKCLUSTER_UNKNOWN : TASKCLUSTER_FALSE;
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

static u64 naive_similarity(const struct state *s, u32 a, u32 b)
{
	u64 sum = 0, x, y;
	u32 line, i, takers;

	for (line = 0; line < 1000; line++) {
		x = s->count[a][line];
		y = s->count[b][line];
		for (i = 0, takers = 0; i < s->nr; i++)
			takers += s->count[i][line] > 2;
		if (x > 2 && y > 2 && (takers <= 2 || 2 * takers <= s->total))
			sum += (x > 255 ? 255 : x) * (y > 255 ? 255 : y);
	}
	return sum;
}

/* Threads in the order of their samples, each compared with the representatives. */
static void check_found(const struct state *s, const u32 *found, u32 clusters)
{
	u32 order[MOST], rep[MOST], i, k, c, n = 0, members, best;
	u64 most;

	for (i = 0; i < s->nr; i++) {
		for (k = i; k && s->thread[order[k - 1]].noted < s->thread[i].noted; k--)
			order[k] = order[k - 1];
		order[k] = i;
	}
	for (i = 0; i < s->nr; i++) {
		for (c = 0; c < n; c++)
			if (naive_similarity(s, order[i], rep[c]) > TASKCLUSTER_THRESHOLD)
				break;
		if (c == n && naive_similarity(s, order[i], order[i]) > TASKCLUSTER_THRESHOLD)
			rep[n++] = order[i];
	}
	CHECK(n == clusters);
	for (i = 0; i < s->nr; i++) {
		most = TASKCLUSTER_THRESHOLD;
		best = 0;
		for (c = 0; c < n; c++)
			if (rep[c] == i || naive_similarity(s, i, rep[c]) > most) {
				most = rep[c] == i ? ~0ULL : naive_similarity(s, i, rep[c]);
				best = c + 1;
			}
		for (k = 0, members = 0; k < s->nr; k++)
			members += found[k] == found[i];
		CHECK(found[i] == best || (!found[i] && rep[best - 1] == i));
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
	clusters = taskcluster_find(s->t, s->nr, s->total, TASKCLUSTER_THRESHOLD, s->rep);
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
