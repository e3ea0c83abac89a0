/* SPDX-License-Identifier: GPL-2.0 */
/* What the models use of this kernel header, for user space. */
#ifndef _SHIM_LINUX_PREFETCH_H
#define _SHIM_LINUX_PREFETCH_H

#define prefetchw(p)	__builtin_prefetch((p), 1)

#endif
