/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A set associative table with LRU in each set: the caches of each level, and the
 * TLB. Inline, for a lookup of it is in the way of each access.
 */
#ifndef _TOOLS_VPMU_CACHE_H
#define _TOOLS_VPMU_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What an L1 may do with a line. The lowest one can only be read. */
enum vpmu_state {
	VPMU_SHARED,
	VPMU_EXCLUSIVE,		/* no other cache but the L2 has it: may be written */
	VPMU_MODIFIED,
};

/**
 * struct vpmu_line - an entry
 * @key: what was put in plus 1; 0: empty
 * @used: when it was used last, by the clock of its table; 0: empty
 * @frame: page frame that the page is mapped to; TLB
 * @data: CPUs of which the L1D has the line, a bit for each; L2
 * @code: CPUs of which the L1I has the line; L2
 * @state: L1D
 * @owned: the one L1D that has it may write it without asking; L2
 * @dirty: memory is out of date; L2 and L3. What an L1D has modified is not known here.
 */
struct vpmu_line {
	uint64_t key;
	uint64_t used;
	union {
		uint64_t frame;
		struct {
			uint32_t data;
			uint32_t code;
		};
	};
	uint8_t state;
	bool owned;
	bool dirty;
};

/**
 * struct vpmu_cache - the table
 * @lines: @sets times @ways
 * @now: its clock, which ticks at each use
 * @sets: any number; a power of two where vpmu_cache_peek() is used
 * @ways: of each set
 */
struct vpmu_cache {
	struct vpmu_line *lines;
	uint64_t now;
	uint32_t sets, ways;
};

/* Lookup in a set, without a use. Return: the entry or NULL */
static inline struct vpmu_line *vpmu_set_find(struct vpmu_line *set, uint32_t ways, uint64_t number)
{
	uint32_t i;

	for (i = 0; i < ways; i++)
		if (set[i].key == number + 1)
			return &set[i];
	return NULL;
}

static inline struct vpmu_line *vpmu_cache_set(const struct vpmu_cache *cache, uint64_t number)
{
	return cache->lines + number % cache->sets * cache->ways;
}

static inline struct vpmu_line *vpmu_cache_find(const struct vpmu_cache *cache, uint64_t number)
{
	return vpmu_set_find(vpmu_cache_set(cache, number), cache->ways, number);
}

/* The same where the number of sets is a power of two: no division */
static inline struct vpmu_line *vpmu_cache_peek(const struct vpmu_cache *cache, uint64_t number)
{
	return vpmu_set_find(cache->lines + (number & (cache->sets - 1)) * cache->ways,
			     cache->ways, number);
}

static inline void vpmu_cache_use(struct vpmu_cache *cache, struct vpmu_line *line)
{
	line->used = ++cache->now;
}

/* Return: the entry that makes room for @number: an empty one or the least recently used */
static inline struct vpmu_line *vpmu_cache_victim(const struct vpmu_cache *cache, uint64_t number)
{
	struct vpmu_line *set = vpmu_cache_set(cache, number), *victim = set;
	uint32_t i;

	for (i = 1; i < cache->ways; i++)
		if (set[i].used < victim->used)
			victim = &set[i];
	return victim;
}

#endif
