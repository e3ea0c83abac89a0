/* SPDX-License-Identifier: GPL-2.0 */
/* What the models use of this kernel header, for user space. */
#ifndef _SHIM_LINUX_BITOPS_H
#define _SHIM_LINUX_BITOPS_H

#include <linux/types.h>

#define BIT_ULL(nr)	(1ULL << (nr))

static inline unsigned long hweight64(u64 x)
{
	return __builtin_popcountll(x);
}

static inline unsigned long __ffs64(u64 x)
{
	return __builtin_ctzll(x);
}

#endif
