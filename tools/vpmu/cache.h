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

#define VPMU_GUESSES	256

/**
 * struct vpmu_cache - the table
 * @lines: @sets times @ways
 * @now: its clock, which ticks at each use
 * @sets: any number
 * @mask: @sets - 1 if that is a power of two: saves a division
 * @ways: of each set
 * @guess: where vpmu_cache_peek() found what it was asked for last, index into @lines, by number
 *	modulo VPMU_GUESSES; changes nothing but the time of a lookup
 */
struct vpmu_cache {
	struct vpmu_line *lines;
	uint64_t now;
	uint32_t sets, mask, ways;
	uint32_t guess[VPMU_GUESSES];
};

static inline struct vpmu_line *vpmu_cache_set(const struct vpmu_cache *cache, uint64_t number)
{
	uint64_t set = cache->mask ? number & cache->mask : number % cache->sets;

	return cache->lines + set * cache->ways;
}

/* Lookup, without a use. Return: the entry or NULL */
static inline struct vpmu_line *vpmu_cache_find(const struct vpmu_cache *cache, uint64_t number)
{
	struct vpmu_line *set = vpmu_cache_set(cache, number);
	uint32_t i;

	for (i = 0; i < cache->ways; i++)
		if (set[i].key == number + 1)
			return &set[i];
	return NULL;
}

/* The same for a table in which most lookups find what they seek */
static inline struct vpmu_line *vpmu_cache_peek(struct vpmu_cache *cache, uint64_t number)
{
	uint32_t *guess = &cache->guess[number % VPMU_GUESSES];
	struct vpmu_line *line = &cache->lines[*guess];

	if (line->key == number + 1)
		return line;
	line = vpmu_cache_find(cache, number);
	if (line)
		*guess = line - cache->lines;
	return line;
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
