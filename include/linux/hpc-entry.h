/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A hook on the way to user mode, where slices of logical counters may end without an interrupt of
 * their own, see Documentation/mm/path/hpc.rst. It is a patched-out jump until it is switched on.
 */
#ifndef _LINUX_HPC_ENTRY_H
#define _LINUX_HPC_ENTRY_H

#include <linux/jump_label.h>

#ifdef CONFIG_HPC
DECLARE_STATIC_KEY_FALSE(hpc_polling);
void __hpc_to_user(void);

/* Called with interrupts off. */
static __always_inline void hpc_to_user(void)
{
	if (static_branch_unlikely(&hpc_polling))
		__hpc_to_user();
}
#else
static __always_inline void hpc_to_user(void) { }
#endif

#endif
