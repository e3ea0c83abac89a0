/* SPDX-License-Identifier: GPL-2.0 */
/* What epochs.bpf.c tells epochs.c, which have no other header in common. */
#ifndef EPOCHS_H
#define EPOCHS_H

#define SLOTS	20	/* of the histogram: 2^n records and more */

#define PREDICTORS	2	/* of what is missed next, see print_prefetches() */

/* What was prefetched by a predictor */
struct batches {
	unsigned long long misses, hits;	/* batches that each has begun */
	unsigned long long chosen, read;	/* pages */
};

struct epoch {
	int pid;
	unsigned int shift;
	unsigned int overhead_permille;
	unsigned int reserved;
	unsigned long long records_per_sec;
};

#endif
