// SPDX-License-Identifier: GPL-2.0
/*
 * Which chip does each cluster go to? (Azimi 2007, 3.4; Tam, Azimi and Stumm, EuroSys'07)
 *
 * Clusters go to chips, the largest first, each to the chip with the least load for its
 * capacity. A chip has room for load up to its capacity. It may also be fuller than its share of
 * all load by a bound. A cluster that is larger than any chip has room for is split evenly. One
 * that finds no room is handed out thread by thread.
 *
 * What is settled stays: a cluster keeps the chip that most of it is on while there is room, or
 * else goes to another one that a part of it is on, so that fewer threads move.
 */
#include <linux/minmax.h>
#include <linux/sort.h>
#include <linux/types.h>

#include "cluster.h"

/* All that the functions below need */
struct place {
	struct taskcluster_chip *chips;
	u32 nr_chips;
	u64 capacity, load, percent;
};

static bool place_has_room(const struct place *p, const struct taskcluster_chip *c, u64 load)
{
	load += c->load;
	return load <= c->capacity ||
	       load * p->capacity * 100 <= p->load * c->capacity * p->percent;
}

/* The chip that is least full with @load more */
static u32 place_emptiest(const struct place *p, u64 load)
{
	const struct taskcluster_chip *best = p->chips, *c;

	for (c = p->chips; c < p->chips + p->nr_chips; c++)
		if ((c->load + load) * best->capacity < (best->load + load) * c->capacity)
			best = c;
	return best - p->chips;
}

/* By cluster; the members of one by chip, so that each part has neighbours */
static int member_order(const void *a, const void *b)
{
	const struct taskcluster_member *x = a, *y = b;

	if (x->cluster != y->cluster)
		return x->cluster < y->cluster ? -1 : 1;
	if (x->chip != y->chip)
		return x->chip < y->chip ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

static int part_order(const void *a, const void *b)
{
	const struct taskcluster_part *x = a, *y = b;

	if (x->load != y->load)
		return x->load < y->load ? 1 : -1;
	return x->first < y->first ? -1 : x->first > y->first;
}

/*
 * The chip that most load of a part is on; of those with room for it, if @p is not NULL. Its
 * members are in the order of their chips.
 */
static s32 part_chip(const struct place *p, const struct taskcluster_member *m, u32 nr, u64 all)
{
	u64 load = 0, most = 0;
	s32 chip = -1;
	u32 i;

	for (i = 0; i < nr; i++) {
		load = i && m[i].chip == m[i - 1].chip ? load + m[i].load : m[i].load;
		if (m[i].chip >= 0 && load > most &&
		    (!p || place_has_room(p, &p->chips[m[i].chip], all))) {
			most = load;
			chip = m[i].chip;
		}
	}
	return chip;
}

static u64 members_load(const struct taskcluster_member *m, u32 nr)
{
	u64 load = 0;

	while (nr--)
		load += m[nr].load;
	return load;
}

/* The number of parts that a cluster must have for each to find room on an empty chip */
static u32 place_split(const struct place *p, u64 load, u32 nr)
{
	u32 i, parts;

	for (parts = 1; parts < min(nr, p->nr_chips); parts++)
		for (i = 0; i < p->nr_chips; i++)
			if (place_has_room(p, &p->chips[i], (load + parts - 1) / parts))
				return parts;
	return parts;
}

/* Make parts of the cluster of @nr members from @first on. Return how many. */
static u32 place_parts(const struct place *p, const struct taskcluster_member *m, u32 first,
		       u32 nr, struct taskcluster_part *parts)
{
	u32 i, n = place_split(p, members_load(m + first, nr), nr), end;

	for (i = 0; i < n; i++) {
		end = (u64)nr * (i + 1) / n;
		parts[i].first = first + (u64)nr * i / n;
		parts[i].nr = first + end - parts[i].first;
		parts[i].load = members_load(m + parts[i].first, parts[i].nr);
		parts[i].chip = part_chip(NULL, m + parts[i].first, parts[i].nr,
					  parts[i].load);
	}
	return n;
}

static u32 place_all_parts(const struct place *p, struct taskcluster_member *m, u32 nr,
			   struct taskcluster_part *parts)
{
	u32 first, end, n = 0;

	for (first = 0; first < nr; first = end) {
		for (end = first + 1; end < nr && m[end].cluster == m[first].cluster; end++)
			;
		if (m[first].cluster)
			n += place_parts(p, m, first, end - first, parts + n);
	}
	sort(parts, n, sizeof(*parts), part_order, NULL);
	return n;
}

static void place_put(struct place *p, struct taskcluster_member *m, u32 nr, u32 chip)
{
	p->chips[chip].load += members_load(m, nr);
	while (nr--)
		m[nr].chip = chip;
}

/* Put a part on the emptiest chip, or where there is no room, one by one. */
static void place_part(struct place *p, struct taskcluster_member *m,
		       const struct taskcluster_part *part)
{
	u32 i, chip = place_emptiest(p, part->load);

	if (place_has_room(p, &p->chips[chip], part->load))
		place_put(p, m + part->first, part->nr, chip);
	else
		for (i = part->first; i < part->first + part->nr; i++)
			place_put(p, m + i, 1, place_emptiest(p, m[i].load));
}

/**
 * taskcluster_place() - find a chip for each member of a cluster
 * @chips: chips, none of which has no capacity; ->load is written
 * @nr_chips: number of them, at least 1
 * @m: members; their order changes. ->chip is written
 * @nr: number of them
 * @imbalance_pct: how much fuller than its share a chip may be, percent
 * @parts: room for @nr
 */
void taskcluster_place(struct taskcluster_chip *chips, u32 nr_chips,
		       struct taskcluster_member *m, u32 nr, u32 imbalance_pct,
		       struct taskcluster_part *parts)
{
	struct place p = { chips, nr_chips, 0, members_load(m, nr), 100 + imbalance_pct };
	struct taskcluster_part *part;
	u32 i, n;

	for (i = 0; i < nr_chips; i++) {
		chips[i].load = 0;
		p.capacity += chips[i].capacity;
	}
	sort(m, nr, sizeof(*m), member_order, NULL);
	n = place_all_parts(&p, m, nr, parts);
	for (i = 0; i < nr && !m[i].cluster; i++)
		m[i].chip = -1;
	for (part = parts; part < parts + n; part++) {
		if (part->chip >= 0 && place_has_room(&p, &chips[part->chip], part->load))
			place_put(&p, m + part->first, part->nr, part->chip);
		else
			part->chip = -1;
	}
	for (part = parts; part < parts + n; part++) {
		if (part->chip >= 0)
			continue;
		part->chip = part_chip(&p, m + part->first, part->nr, part->load);
		if (part->chip >= 0)
			place_put(&p, m + part->first, part->nr, part->chip);
	}
	for (part = parts; part < parts + n; part++)
		if (part->chip < 0)
			place_part(&p, m, part);
}
