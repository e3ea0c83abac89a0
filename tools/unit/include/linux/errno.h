/* SPDX-License-Identifier: GPL-2.0 */
/* What the models use of this kernel header, for user space. */
#ifndef _SHIM_LINUX_ERRNO_H
#define _SHIM_LINUX_ERRNO_H

#include <asm/errno.h>

#endif
