/* SPDX-License-Identifier: GPL-2.0 */
/* What the models use of this kernel header, for user space. */
#ifndef _SHIM_LINUX_KERNEL_H
#define _SHIM_LINUX_KERNEL_H

#include <linux/types.h>
#include <linux/minmax.h>

#define BUILD_BUG_ON(cond)	_Static_assert(!(cond), #cond)

#define container_of(ptr, type, member) \
	((type *)((char *)(ptr) - offsetof(type, member)))

#endif
