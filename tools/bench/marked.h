/* SPDX-License-Identifier: GPL-2.0 */
/* Programs between marks of the virtual PMU */
#ifndef MARKED_H
#define MARKED_H

#include <err.h>
#include <sched.h>
#include <sysexits.h>

#include <linux/vpmu.h>

#define mark(n) asm volatile("nopl %c0(%%rax)" : : "i" (VPMU_COMMAND(VPMU_MARK + (n))) : "memory")

static inline void run_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		err(EX_USAGE, "CPU %d", cpu);
}

#endif
