/* SPDX-License-Identifier: GPL-2.0 */
/* What epochs.bpf.c tells epochs.c, which have no other header in common. */
#ifndef EPOCHS_H
#define EPOCHS_H

#define SLOTS	20	/* of the histogram: 2^n records and more */

struct epoch {
	int pid;
	unsigned int shift;
	unsigned int overhead_permille;
	unsigned int reserved;
	unsigned long long records_per_sec;
};

#endif
