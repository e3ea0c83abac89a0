/* SPDX-License-Identifier: GPL-2.0 */
/* What machine.c asks of the caches behind L1, and of the memory controllers. */
#ifndef _TOOLS_VPMU_COHERENCE_H
#define _TOOLS_VPMU_COHERENCE_H

#include "machine.h"
#include "stream.h"

unsigned int vpmu_upgrade(struct vpmu_machine *m, struct vpmu_cpu *c, uint64_t number,
			  struct vpmu_line *line);
unsigned int vpmu_data_miss(struct vpmu_machine *m, struct vpmu_cpu *c, uint64_t number,
			    bool store, struct vpmu_miss *miss);
void vpmu_code_miss(struct vpmu_machine *m, struct vpmu_cpu *c, uint64_t number);

int vpmu_controllers_init(struct vpmu_machine *m);
void vpmu_controllers_reset(struct vpmu_machine *m);
unsigned int vpmu_memory_node(const struct vpmu_machine *m, uint64_t number);
bool vpmu_memory_request(struct vpmu_machine *m, struct vpmu_cpu *c, unsigned int node,
			 uint64_t number);

/* A CPU waits, or would if it had nothing else to do. */
static inline unsigned int vpmu_wait(struct vpmu_cpu *c, unsigned int cause, unsigned int cycles)
{
	if (c->stream) {
		vpmu_stream_wait(c->stream, cause, VPMU_NO_SOURCE, cycles);
		return cycles;
	}
	vpmu_count(c, cause, cycles);
	vpmu_count(c, VPMU_CYCLES, cycles);
	return cycles;
}

/* The same, for data */
static inline void vpmu_wait_data(struct vpmu_cpu *c, unsigned int source, unsigned int cycles)
{
	if (c->stream) {
		vpmu_stream_wait(c->stream, VPMU_STALL_D, source, cycles);
		return;
	}
	vpmu_count(c, VPMU_STALL_D_SRC + source, cycles);
	vpmu_wait(c, VPMU_STALL_D, cycles);
}

#endif
