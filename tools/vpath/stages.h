/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The stages of one unit of the virtual page access tracking hardware: TLB, page
 * access buffer, associative filter (thesis 4.2.1, figure 4.3). Plain C, knows
 * neither QEMU nor the registers; a unit belongs to one CPU and needs no lock.
 */
#ifndef _TOOLS_VPATH_STAGES_H
#define _TOOLS_VPATH_STAGES_H

#include <stdbool.h>
#include <stdint.h>

#define VPATH_NO_PAGE	UINT64_MAX

struct vpath_entry {
	uint64_t page;
	uint32_t context;
	uint32_t logged_at;	/* insertions into the set when it was logged last */
};

/**
 * struct vpath_sets - a set associative table with LRU in each set
 * @entries: @sets times @ways; a set's most recent entry comes first
 * @inserted: insertions into each set, modulo 2^32
 * @sets: a power of two
 * @ways: of each
 */
struct vpath_sets {
	struct vpath_entry *entries;
	uint32_t *inserted;
	uint32_t sets, ways;
};

int vpath_sets_init(struct vpath_sets *s, uint32_t entries, uint32_t ways);
void vpath_sets_destroy(struct vpath_sets *s);
void vpath_sets_flush(struct vpath_sets *s);
bool vpath_sets_holds(const struct vpath_sets *s, uint32_t context, uint64_t page);
struct vpath_entry *vpath_sets_touch(struct vpath_sets *s, uint32_t context, uint64_t page,
				     bool *hit);

/**
 * struct vpath_geometry - sizes, as in the registers
 * @tlb_entries: see struct vpath_unit
 * @tlb_ways: likewise, and so on
 */
struct vpath_geometry {
	uint32_t tlb_entries, tlb_ways;
	uint32_t pab_entries, pab_ways;
	uint32_t filter_entries;
	uint32_t relog;
};

bool vpath_geometry_good(const struct vpath_geometry *g, uint32_t max_tlb, uint32_t max_pab,
			 uint32_t max_filter);

/* Where an access ended */
enum vpath_stage {
	VPATH_IN_TLB, VPATH_IN_PAB, VPATH_IN_FILTER, VPATH_PASSED, VPATH_AGAIN,
};

struct vpath_stages {
	struct vpath_geometry g;
	struct vpath_sets tlb, pab, filter;
};

int vpath_stages_init(struct vpath_stages *st, const struct vpath_geometry *g);
void vpath_stages_destroy(struct vpath_stages *st);
void vpath_stages_flush(struct vpath_stages *st);
enum vpath_stage vpath_stages_touch(struct vpath_stages *st, uint32_t context, uint64_t page);

#endif
