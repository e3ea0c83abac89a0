/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Modelled cycles become virtual time. QEMU runs one CPU after the other, and with
 * -icount each instruction takes a nanosecond. Here N CPUs run at the same time, at 1/N
 * GHz each: a CPU's turn of c cycles takes c * N nanoseconds, less what the other CPUs
 * ran since its last turn. So a stall takes time, and so does a CPU that idles while
 * others work.
 *
 * QEMU has no interface for this. Debian's exports its symbols; where they are not as
 * in QEMU 7.2, which is checked before use, there is no clock.
 */
#ifndef _TOOLS_VPMU_CLOCK_H
#define _TOOLS_VPMU_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct vpmu_turns - who ran how long
 * @cpus: number of CPUs
 * @ran: cycles of all CPUs, and those in which a CPU idled beside others that ran
 * @since: @ran at the end of each CPU's last turn
 */
struct vpmu_turns {
	unsigned int cpus;
	uint64_t ran;
	uint64_t since[64];
};

uint64_t vpmu_turn_ns(struct vpmu_turns *t, unsigned int cpu, uint64_t cycles, uint64_t insns);

bool vpmu_clock_init(void);
bool vpmu_clock_found(unsigned int cpu);
void vpmu_clock_advance(uint64_t ns);
void vpmu_clock_end_turn(unsigned int cpu);

#endif
