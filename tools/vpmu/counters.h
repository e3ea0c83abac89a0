/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The performance counters of the modelled machine: a few for each CPU, on top of the
 * machine's own counts of everything (thesis 2.1). A counter that overflows writes a
 * sample into the ring of its CPU.
 *
 * After each access and each block the caller asks vpmu_pending(), and if so calls
 * vpmu_counters_overflow() with where the CPU is.
 *
 * With VPMU_DAR a CPU has one data address register, with the address of its last miss of L1D
 * (continuous sampling, thesis 3.1.2), and an overflow is an interrupt that comes some
 * instructions later. What the register has then is all that a sample tells. The caller
 * tells each miss by vpmu_counters_missed(), and calls vpmu_counters_look() where the CPU could
 * take an interrupt.
 */
#ifndef _TOOLS_VPMU_COUNTERS_H
#define _TOOLS_VPMU_COUNTERS_H

#include "machine.h"

#define VPMU_ALL_SOURCES	((1U << VPMU_SOURCES) - 1)

/**
 * struct vpmu_selection - what a counter is to do
 * @event: what it counts; VPMU_NONE: nothing
 * @flags: VPMU_USER, VPMU_KERNEL, VPMU_SAMPLE
 * @sources: of L1D_MISS, L1I_MISS and STALL_D it counts what came from these, a bit for each
 *	enum vpmu_source (thesis 3.2.1); 0: from all
 * @period: counts between two overflows; 0: never
 * @random_mask: a random number with these bits is added to each period
 * @start: counts until the first overflow, when @period is not 0; >= 1
 */
struct vpmu_selection {
	uint32_t event;
	uint32_t flags;
	uint32_t sources;
	uint64_t period;
	uint64_t random_mask;
	uint64_t start;
};

/**
 * struct vpmu_where - what the CPU is doing when the caller looks
 * @ip: of the access, or of the block
 * @addr: virtual address of the access, 0: it is none
 * @miss: of the access
 * @store: or a load
 * @locked: by an instruction that locks the line
 */
struct vpmu_where {
	uint64_t ip, addr;
	struct vpmu_miss miss;
	bool store, locked;
};

/**
 * struct vpmu_sample - a record of the ring
 * @where: what vpmu_counters_overflow() was told
 * @cycles: of the CPU since reset
 * @context: whose code ran
 * @stamp: number of the sample among those of all CPUs, modulo 2^32; lost ones have one too
 * @cpu: the CPU
 * @counter: the counter that overflowed
 * @kernel: mode of the CPU
 * @right: with VPMU_DAR: @where is the access that made the counter overflow
 */
struct vpmu_sample {
	struct vpmu_where where;
	uint64_t cycles;
	uint32_t context;
	uint32_t stamp;
	uint8_t cpu, counter;
	bool kernel, right;
};

struct vpmu_counters;

struct vpmu_counters *vpmu_counters_new(struct vpmu_machine *m, uint32_t ring_entries,
					uint64_t seed);
void vpmu_counters_free(struct vpmu_counters *k);
void vpmu_counters_reset(struct vpmu_counters *k);

uint32_t vpmu_event_placement(const struct vpmu_counters *k, unsigned int event);
int vpmu_counters_program(struct vpmu_counters *k, unsigned int cpu,
			  const struct vpmu_selection *selection);
void vpmu_counters_stop(struct vpmu_counters *k, unsigned int cpu);
uint64_t vpmu_counter_value(const struct vpmu_counters *k, unsigned int cpu, unsigned int nr);
uint64_t vpmu_counter_left(const struct vpmu_counters *k, unsigned int cpu, unsigned int nr);
void vpmu_counters_overflow(struct vpmu_counters *k, unsigned int cpu,
			    const struct vpmu_where *where);
void vpmu_counters_missed(struct vpmu_counters *k, unsigned int cpu,
			  const struct vpmu_where *where, unsigned int left);
void vpmu_counters_look(struct vpmu_counters *k, unsigned int cpu, uint64_t ip, bool at_once);
bool vpmu_sample_take(struct vpmu_counters *k, unsigned int cpu, struct vpmu_sample *sample);
uint64_t vpmu_samples_lost(const struct vpmu_counters *k, unsigned int cpu);

#endif
