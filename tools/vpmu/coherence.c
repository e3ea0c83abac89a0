// SPDX-License-Identifier: GPL-2.0
/*
 * Caches behind L1, and who may have which line. See machine.h.
 *
 * Always true between two accesses (and tested):
 *   - The directory says exactly which L2s and L3s have a line.
 *   - A line in an L1 is in the L2 below it, and that knows.
 *   - An L1D has a line EXCLUSIVE or MODIFIED only when its L2 says it is owned, and then
 *     no other L1, L2 or L3 has it.
 *   - A line is dirty in at most one L2 or L3, and then no other one has it.
 *   - With one L2 on a chip, a line is in L2 or in L3, never in both.
 */
#include "coherence.h"

#define L3_BITS	32

static uint64_t l2_bit(const struct vpmu_cpu *c)
{
	return 1ULL << c->l2;
}

static uint64_t l3_bit(unsigned int chip)
{
	return 1ULL << (L3_BITS + chip);
}

static uint64_t chip_bits(const struct vpmu_machine *m, unsigned int chip)
{
	unsigned int each = m->nr_l2 / m->g.chips;

	return l3_bit(chip) | ((1ULL << each) - 1) << chip * each;
}

static void drop(struct vpmu_line *line)
{
	*line = (struct vpmu_line){ 0 };
}

/* Has an L1D modified @l2's line? */
static bool modified_above(struct vpmu_machine *m, const struct vpmu_line *l2, uint64_t number)
{
	return l2->owned && vpmu_cache_peek(&m->cpu[__builtin_ctz(l2->data)].l1d, number)->state ==
			    VPMU_MODIFIED;
}

/* The L1D that owns @l2's line may only read it from now on. */
static void disown(struct vpmu_machine *m, struct vpmu_line *l2, uint64_t number)
{
	struct vpmu_line *line;

	if (!l2->owned)
		return;
	line = vpmu_cache_peek(&m->cpu[__builtin_ctz(l2->data)].l1d, number);
	l2->dirty |= line->state == VPMU_MODIFIED;
	l2->owned = false;
	line->state = VPMU_SHARED;
}

/*
 * @l2's line leaves the L1Ds in @data and the L1Is in @code. @written: because somebody
 * writes it, not for want of room.
 */
static void drop_above(struct vpmu_machine *m, struct vpmu_line *l2, uint64_t number,
		       uint32_t data, uint32_t code, bool written)
{
	uint32_t left;

	data &= l2->data;
	code &= l2->code;
	if (data)
		disown(m, l2, number);
	l2->data &= ~data;
	l2->code &= ~code;
	for (left = data | code; left; left &= left - 1) {
		struct vpmu_cpu *c = &m->cpu[__builtin_ctz(left)];
		uint32_t bit = 1U << c->id;

		if (data & bit)
			drop(vpmu_cache_peek(&c->l1d, number));
		if (code & bit) {
			drop(vpmu_cache_peek(&c->l1i, number));
			c->fetched = 0;
		}
		if (written)
			vpmu_count(c, VPMU_INVALIDATED, !!(data & bit) + !!(code & bit));
	}
}

/*
 * A line leaves an L2 for the L3 of the chip; it may be there when other L2s of the chip have
 * it or had it, but then it is not dirty. Write-backs are counted for @c.
 */
static void put_l3(struct vpmu_machine *m, struct vpmu_cpu *c, uint64_t number, bool dirty)
{
	struct vpmu_cache *l3 = &m->l3[c->chip];
	struct vpmu_line *line = vpmu_cache_find(l3, number);

	if (!line) {
		line = vpmu_cache_victim(l3, number);
		if (line->key)
			m->directory[line->key - 1] &= ~l3_bit(c->chip);
		if (line->dirty)
			vpmu_count(c, VPMU_WRITEBACK, 1);
		*line = (struct vpmu_line){ .key = number + 1, .dirty = dirty };
		m->directory[number] |= l3_bit(c->chip);
	}
	vpmu_cache_use(l3, line);
}

static struct vpmu_line *put_l2(struct vpmu_machine *m, struct vpmu_cpu *c, uint64_t number,
				bool dirty)
{
	struct vpmu_line *line = vpmu_cache_victim(&m->l2[c->l2], number);
	uint64_t old = line->key - 1;

	if (line->key) {
		drop_above(m, line, old, UINT32_MAX, UINT32_MAX, false);
		m->directory[old] &= ~l2_bit(c);
		put_l3(m, c, old, line->dirty);
	}
	*line = (struct vpmu_line){ .key = number + 1, .dirty = dirty };
	m->directory[number] |= l2_bit(c);
	return line;
}

/*
 * The L2s and L3s in @others keep the line for reading, or lose it to a store. Return: had one of
 * them modified it?
 */
static bool settle(struct vpmu_machine *m, struct vpmu_cpu *c, uint64_t number, uint64_t others,
		   bool store)
{
	bool modified = false;

	for (; others; others &= others - 1) {
		unsigned int i = __builtin_ctzll(others);
		bool is_l2 = i < L3_BITS;
		struct vpmu_line *line = vpmu_cache_find(is_l2 ? &m->l2[i] : &m->l3[i - L3_BITS],
							 number);

		if (store) {
			if (is_l2)
				drop_above(m, line, number, UINT32_MAX, UINT32_MAX, true);
			modified |= line->dirty;
			m->directory[number] &= ~(1ULL << i);
			drop(line);
			continue;
		}
		if (is_l2)
			disown(m, line, number);
		modified |= line->dirty;
		if (line->dirty)
			vpmu_count(c, VPMU_WRITEBACK, 1);
		line->dirty = false;
	}
	return modified;
}

static enum vpmu_source source_of(const struct vpmu_machine *m, const struct vpmu_cpu *c,
				  uint64_t number)
{
	uint64_t holders = m->directory[number];

	if (holders & l2_bit(c))
		return VPMU_LOCAL_L2;
	if (holders & chip_bits(m, c->chip))
		return VPMU_LOCAL_L3;
	if (holders & UINT32_MAX)
		return VPMU_REMOTE_L2;
	if (holders)
		return VPMU_REMOTE_L3;
	return vpmu_memory_node(m, number) == c->chip ? VPMU_LOCAL_MEMORY : VPMU_REMOTE_MEMORY;
}

static unsigned int latency_of(struct vpmu_machine *m, struct vpmu_cpu *c, uint64_t number,
			       enum vpmu_source source)
{
	const uint32_t *latency = m->g.latency;
	unsigned int node;

	if (source != VPMU_LOCAL_MEMORY && source != VPMU_REMOTE_MEMORY)
		return latency[source];
	node = vpmu_memory_node(m, number);
	if (!vpmu_memory_request(m, c, node, number))
		return latency[source];
	return m->g.prefetch_hit + latency[source] - latency[VPMU_LOCAL_MEMORY];
}

/* Bring a line into the L2 of @c. @modified: elsewhere. Return: its entry there */
static struct vpmu_line *fetch(struct vpmu_machine *m, struct vpmu_cpu *c, uint64_t number,
			       bool store, bool *modified)
{
	struct vpmu_cache *l2 = &m->l2[c->l2], *l3 = &m->l3[c->chip];
	struct vpmu_line *line = vpmu_cache_find(l2, number), *victim;
	bool dirty = false;

	if (!line && (m->directory[number] & l3_bit(c->chip))) {
		victim = vpmu_cache_find(l3, number);
		dirty = victim->dirty;
		drop(victim);
		m->directory[number] &= ~l3_bit(c->chip);
	}
	*modified = settle(m, c, number, m->directory[number] & ~l2_bit(c), store);
	if (!line)
		line = put_l2(m, c, number, dirty);
	vpmu_cache_use(l2, line);
	return line;
}

/* No L1 but the L1D of @c keeps the line, which that may write. */
static void own(struct vpmu_machine *m, struct vpmu_cpu *c, struct vpmu_line *l2, uint64_t number)
{
	drop_above(m, l2, number, ~(1U << c->id), UINT32_MAX, true);
	l2->owned = true;
}

/* Permission to write has to come from @away, caches of other chips. */
static unsigned int permission(struct vpmu_machine *m, struct vpmu_cpu *c, uint64_t away)
{
	vpmu_count(c, away ? VPMU_UPGRADE_REMOTE : VPMU_UPGRADE_LOCAL, 1);
	return vpmu_wait(c, VPMU_STALL_LSU, away ? m->g.upgrade_remote : m->g.upgrade_local);
}

/**
 * vpmu_upgrade() - a store to a line that the L1D may only read
 * @m: machine
 * @c: who
 * @number: of the line
 * @line: its entry in the L1D
 *
 * Return: the stall, cycles.
 */
unsigned int vpmu_upgrade(struct vpmu_machine *m, struct vpmu_cpu *c, uint64_t number,
			  struct vpmu_line *line)
{
	uint64_t away = m->directory[number] & ~chip_bits(m, c->chip);
	bool modified;

	own(m, c, fetch(m, c, number, true, &modified), number);
	line->state = VPMU_MODIFIED;
	vpmu_cache_use(&c->l1d, line);
	return permission(m, c, away);
}

/* Return: an entry of an L1 for a new line; the L2 knows that the old one has gone. */
static struct vpmu_line *make_room(struct vpmu_machine *m, struct vpmu_cpu *c,
				   struct vpmu_cache *l1, uint64_t number)
{
	struct vpmu_line *victim = vpmu_cache_victim(l1, number), *l2;

	if (!victim->key)
		return victim;
	l2 = vpmu_cache_find(&m->l2[c->l2], victim->key - 1);
	if (l1 == &c->l1i) {
		l2->code &= ~(1U << c->id);
	} else {
		disown(m, l2, victim->key - 1);
		l2->data &= ~(1U << c->id);
	}
	return victim;
}

/**
 * vpmu_data_miss() - a load or store that misses L1D
 * @m: machine
 * @c: who
 * @number: of the line
 * @store: or a load
 * @miss: result: where it was, and whether it was modified there
 *
 * Return: the stall, cycles.
 */
unsigned int vpmu_data_miss(struct vpmu_machine *m, struct vpmu_cpu *c, uint64_t number,
			    bool store, struct vpmu_miss *miss)
{
	uint64_t away = m->directory[number] & ~chip_bits(m, c->chip);
	unsigned int cycles;
	struct vpmu_line *l2, *line;

	miss->source = source_of(m, c, number);
	cycles = latency_of(m, c, number, miss->source);
	l2 = fetch(m, c, number, store, &miss->modified);
	miss->modified |= modified_above(m, l2, number);
	line = make_room(m, c, &c->l1d, number);
	*line = (struct vpmu_line){ .key = number + 1 };
	if (store) {
		own(m, c, l2, number);
		line->state = VPMU_MODIFIED;
	} else {
		disown(m, l2, number);
		l2->owned = m->directory[number] == l2_bit(c) && !l2->data && !l2->code;
		line->state = l2->owned ? VPMU_EXCLUSIVE : VPMU_SHARED;
	}
	l2->data |= 1U << c->id;
	vpmu_cache_use(&c->l1d, line);

	vpmu_count(c, VPMU_L1D_MISS, 1);
	vpmu_count(c, VPMU_D_SRC + miss->source, 1);
	vpmu_wait_data(c, miss->source, cycles);
	/* data from another chip bring permission with them */
	if (store && away && miss->source <= VPMU_LOCAL_L3)
		cycles += permission(m, c, away);
	return cycles;
}

/**
 * vpmu_code_miss() - a fetch that misses L1I
 * @m: machine
 * @c: who
 * @number: of the line
 */
void vpmu_code_miss(struct vpmu_machine *m, struct vpmu_cpu *c, uint64_t number)
{
	enum vpmu_source source = source_of(m, c, number);
	unsigned int cycles = latency_of(m, c, number, source);
	struct vpmu_line *l2, *line;
	bool modified;

	l2 = fetch(m, c, number, false, &modified);
	disown(m, l2, number);
	line = make_room(m, c, &c->l1i, number);
	*line = (struct vpmu_line){ .key = number + 1 };
	l2->code |= 1U << c->id;
	vpmu_cache_use(&c->l1i, line);

	vpmu_count(c, VPMU_L1I_MISS, 1);
	vpmu_count(c, VPMU_I_SRC + source, 1);
	vpmu_wait(c, VPMU_STALL_I, cycles);
}
