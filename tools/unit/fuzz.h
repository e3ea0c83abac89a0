/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the fuzzers of the models share. Each is one file that defines fuzz_name and one_round().
 *
 *	fuzz_NAME [rounds [seed]]	each round has a seed of its own, printed
 *					when it fails
 *	-DLIBFUZZER			bytes from libFuzzer instead
 */
#ifndef _TOOLS_UNIT_FUZZ_H
#define _TOOLS_UNIT_FUZZ_H

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib.h"

#define CHECK(cond)							\
	do {								\
		if (!(cond)) {						\
			fprintf(stderr, "%s:%d: %s\n", __FILE__,	\
				__LINE__, #cond);			\
			abort();					\
		}							\
	} while (0)

/* Where decisions come from: random numbers, or the bytes of a fuzzer. */
struct source {
	struct rng rng;
	const unsigned char *byte;
	size_t left;
};

static const char *const fuzz_name, *const fuzz_claim;
static void one_round(struct source *src);

static u64 draw(struct source *src, u64 limit)
{
	u64 value = 0;
	int i;

	if (!src->byte)
		return rng_below(&src->rng, limit);
	for (i = 0; i < 3 && src->left; i++, src->left--)
		value = value << 8 | *src->byte++;
	return value % limit;
}

static bool source_ends(const struct source *src)
{
	return src->byte && !src->left;
}

#ifdef LIBFUZZER
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	struct source src = { .byte = data, .left = size };

	if (size)
		one_round(&src);
	return 0;
}
#else
static u64 current;

static void say_seed(int sig)
{
	fprintf(stderr, "not ok 1 - to see it again: %s 1 %llu\n", fuzz_name, current);
	signal(sig, SIG_DFL);
}

int main(int argc, char **argv)
{
	u64 rounds = argc > 1 ? strtoull(argv[1], NULL, 0) : 500;
	u64 seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	u64 i;

	signal(SIGABRT, say_seed);
	for (i = 0; i < rounds; i++) {
		struct source src = { .rng = { (seed + i) * 0x9e3779b97f4a7c15ULL | 1 } };

		current = seed + i;
		one_round(&src);
	}
	printf("1..1\nok 1 - %s in %llu rounds from seed %llu\n", fuzz_claim, rounds, seed);
	return 0;
}
#endif

#endif /* _TOOLS_UNIT_FUZZ_H */
