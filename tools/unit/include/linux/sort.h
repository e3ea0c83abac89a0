/* SPDX-License-Identifier: GPL-2.0 */
/* What the models use of this kernel header, for user space. */
#ifndef _SHIM_LINUX_SORT_H
#define _SHIM_LINUX_SORT_H

#include <stdlib.h>

#define sort(base, nr, size, cmp, swap)	((void)(swap), qsort(base, nr, size, cmp))

#endif
