/* SPDX-License-Identifier: GPL-2.0 */
/* What the models use of this kernel header, for user space. */
#ifndef _SHIM_LINUX_LOG2_H
#define _SHIM_LINUX_LOG2_H

#include <linux/types.h>

static inline bool is_power_of_2(unsigned long n)
{
	return n && !(n & (n - 1));
}

static inline unsigned int ilog2(u64 n)
{
	return 63 - __builtin_clzll(n);
}

#endif
