/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the programs share: the description of a program and of one run of it, where
 * memory comes from, and random numbers.
 *
 * A program sets up its arrays, calls main_begin(), does run->rounds rounds, calls
 * main_end() and looks at its own result: once for each check it has, verify().
 * Checks are numbered from 1. Asked to break check n it spoils what that check looks
 * at, and the check has to fail: one that cannot fail checks nothing.
 */
#ifndef PROGRAMS_H
#define PROGRAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "timed.h"

struct run;

/**
 * struct program - a program
 * @name: as on the command line
 * @what: one line
 * @rounds: how many when none are asked for; 0: @main sets run->rounds
 * @checks: how many checks there are
 * @main: the program
 */
struct program {
	const char *name;
	const char *what;
	uint64_t rounds;
	unsigned int checks;
	void (*main)(struct run *run);
};

/**
 * struct run - one run of a program
 * @program: which
 * @bytes: footprint asked for
 * @rounds: how many
 * @seed: of all that is random
 * @broken: number of the check that has to fail; 0: none
 * @pages: mapped so far
 * @timed: what the main part took
 * @bad: checks that have failed
 */
struct run {
	const struct program *program;
	uint64_t bytes, rounds, seed;
	unsigned int broken;
	uint64_t pages;
	struct timed timed;
	unsigned int bad;
};

extern const struct program bfs_program, btree_program, cg_program, cube_program, fft_program,
	fmm_program, hashjoin_program, heap_program, kvcache_program, list_ordered_program,
	list_program, lu_columns_program, lu_contiguous_program, lu_noncontiguous_program,
	mg_program, nbody_program, ocean_parts_program, ocean_program, radix_program, sp_program,
	warehouse_program;

/* Memory for one array, a mapping of its own; does not return when there is none. */
void *map_array(struct run *run, const char *name, size_t bytes);

void main_begin(struct run *run);
void main_end(struct run *run);
void verify(struct run *run, unsigned int check, bool ok);
void die(const char *why) __attribute__((noreturn));

/* To be asked before each check. */
static inline bool breaks(const struct run *run, unsigned int check)
{
	return run->broken == check;
}

static inline void spoil(double *value)
{
	*value = *value * 2 + 1000;
}

/* A bijection that leaves no two neighbours near each other. */
static inline uint64_t mix64(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

struct rng {
	uint64_t state;
};

static inline uint64_t rng_next(struct rng *rng)
{
	rng->state += 0x9e3779b97f4a7c15;
	return mix64(rng->state);
}

/* @n is less than 2^32 */
static inline uint64_t rng_below(struct rng *rng, uint64_t n)
{
	return (rng_next(rng) >> 32) * n >> 32;
}

/* In (0, 1). */
static inline double unit(uint64_t bits)
{
	return ((bits >> 12) + 0.5) * 0x1p-52;
}

static inline double rng_unit(struct rng *rng)
{
	return unit(rng_next(rng));
}

#endif /* PROGRAMS_H */
