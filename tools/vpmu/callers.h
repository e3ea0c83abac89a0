/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Who called the function that a CPU is in? A copy of the return addresses that lie on each
 * stack, kept by calls and returns, as a processor's call stack buffer does.
 */
#ifndef _TOOLS_VPMU_CALLERS_H
#define _TOOLS_VPMU_CALLERS_H

#include <stdbool.h>
#include <stdint.h>

#define VPMU_STACK_SHIFT	14	/* of the kernel's stacks: THREAD_SIZE and IRQ_STACK_SIZE */

struct vpmu_callers;

struct vpmu_callers *vpmu_callers_new(void);
void vpmu_callers_free(struct vpmu_callers *k);
void vpmu_callers_reset(struct vpmu_callers *k);

void vpmu_callers_context(struct vpmu_callers *k, unsigned int cpu, uint32_t context);
void vpmu_called(struct vpmu_callers *k, unsigned int cpu, uint64_t sp, uint64_t back);
void vpmu_returned(struct vpmu_callers *k, unsigned int cpu, uint64_t sp);
void vpmu_resumed(struct vpmu_callers *k, unsigned int cpu, uint64_t address);
unsigned int vpmu_callers(const struct vpmu_callers *k, unsigned int cpu, bool kernel,
			  uint64_t *to, unsigned int most);

#endif
