/* SPDX-License-Identifier: GPL-2.0 */
/* What the models use of this kernel header, for user space. */
#ifndef _SHIM_LINUX_MINMAX_H
#define _SHIM_LINUX_MINMAX_H

#define __shim_cmp(a, b, op) ({			\
	__typeof__(a) __a = (a);		\
	__typeof__(b) __b = (b);		\
	/* the kernel refuses mixed types */	\
	(void)(&__a == &__b);			\
	__a op __b ? __a : __b;			\
})

#define min(a, b)		__shim_cmp(a, b, <)
#define max(a, b)		__shim_cmp(a, b, >)
#define min_t(type, a, b)	min((type)(a), (type)(b))
#define max_t(type, a, b)	max((type)(a), (type)(b))
#define clamp(v, low, high) ({			\
	__typeof__(v) __v = max(v, low);	\
	min(__v, high);				\
})

#define swap(a, b) do {				\
	__typeof__(a) __swap = (a);		\
	(a) = (b);				\
	(b) = __swap;				\
} while (0)

#define clamp_t(type, v, low, high)	clamp((type)(v), (type)(low), (type)(high))

#endif
