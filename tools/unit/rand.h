/* SPDX-License-Identifier: GPL-2.0 */
/* How alike are two ways to group the same things? */
#ifndef _TOOLS_UNIT_RAND_H
#define _TOOLS_UNIT_RAND_H

#include <stddef.h>

/*
 * The adjusted Rand index (Hubert and Arabie 1985) of the groups a[i] and b[i] of nr things:
 * 1 for the same groups, whatever they are called, and about 0 for groups made by chance.
 */
static inline double adjusted_rand(const unsigned int *a, const unsigned int *b, size_t nr)
{
	double both = 0, in_a = 0, in_b = 0, all = nr * (nr - 1) / 2.0, chance, most;
	size_t i, j;

	for (i = 0; i < nr; i++)
		for (j = 0; j < i; j++) {
			in_a += a[i] == a[j];
			in_b += b[i] == b[j];
			both += a[i] == a[j] && b[i] == b[j];
		}
	chance = nr > 1 ? in_a * in_b / all : 0;
	most = (in_a + in_b) / 2;
	return most > chance ? (both - chance) / (most - chance) : 1;
}

#endif /* _TOOLS_UNIT_RAND_H */
