/* SPDX-License-Identifier: GPL-2.0 */
/* An LRU memory with a swap device, and who guesses which pages to read ahead. */
#ifndef _PATHSIM_PREFETCH_H
#define _PATHSIM_PREFETCH_H

#include "policy.h"

/**
 * struct prefetch_options - of the machine, in nanoseconds
 * @latency: of the device, for a page
 * @depth: pages that it reads or writes at the same time
 * @touch: a touch takes so long
 * @fault: CPU of a miss
 * @hit: CPU of the first touch of a page that was read ahead
 * @page: CPU of reading a page ahead
 * @record: CPU of a record
 * @records: models learn from records, too
 */
struct prefetch_options {
	uint64_t latency, touch, fault, hit, page, record;
	uint32_t depth;
	bool records;
};

extern struct prefetch_options prefetch_options;

#define PREFETCH_DEPTHS	1024U	/* most pages at the same time */

/**
 * struct prefetch_result - of a run, in the part of the trace that counts
 * @misses: pages that the program waited for; first touches of all are not among them
 * @fetched: pages that were read ahead
 * @hits: of these, pages that were touched
 * @soon: of these, within PREFETCH_SOON misses and hits
 * @late: of these, pages that were still on their way
 * @unused: pages that were read ahead and left memory untouched
 * @pollution: misses that would not have been without prefetching
 * @records: touches that models were told of beside misses and hits
 * @ns: time that it took
 */
struct prefetch_result {
	size_t misses, fetched, hits, soon, late, unused, pollution, records;
	uint64_t ns;
};

#define PREFETCH_SOON	256

/**
 * struct mapping - pages that lie together in the address space of a program
 * @first: address of the first page, in pages
 * @nr: pages, untouched ones among them
 * @rank: of the first page among all pages by address
 * @touched: pages that are ever touched
 * @program: whose it is, from 0
 */
struct mapping {
	uint64_t first, nr;
	uint32_t rank, touched, program;
};

/**
 * struct layout - where the pages of a trace lie
 * @t: the trace
 * @address: by rank, in pages; not 0. Those of mappings of one page or more do not overlap
 * @page: by rank
 * @rank: by page
 * @map: number of its mapping, by page
 * @mapping: all mappings
 * @mappings: how many there are
 * @programs: how many there are
 */
struct layout {
	const struct trace *t;
	uint64_t *address;
	uint32_t *page, *rank, *map;
	struct mapping *mapping;
	uint32_t mappings, programs;
};

#define NO_PAGE	UINT32_MAX

struct layout *layout_create(const struct trace *t);
void layout_destroy(struct layout *l);
uint64_t layout_address(const struct layout *l, uint32_t page);
uint32_t layout_page(const struct layout *l, const struct mapping *m, uint64_t address);

struct machine;

/**
 * struct prefetcher - a guess what comes next
 * @name: for people
 * @about: a line
 * @free: takes no CPU
 * @unused_first: pages that are not used soon leave memory before all others
 * @create: at the begin of a run
 * @event: a page is missed; or one that was read ahead is touched for the first time
 * @touch: touch number @i is over; or NULL
 * @destroy: at the end
 */
struct prefetcher {
	const char *name, *about;
	bool free, unused_first;
	void *(*create)(struct machine *m);
	void (*event)(void *p, uint32_t page, bool miss);
	void (*touch)(void *p, size_t i);
	void (*destroy)(void *p);
};

extern const struct prefetcher space_prefetcher, ppg_prefetcher, auto_prefetcher;
extern const struct prefetcher *const prefetchers[];	/* ends with NULL, begins with none */

const struct prefetcher *prefetcher_by_name(const char *name);
void prefetch_run(const struct prefetcher *p, uint32_t size, const struct layout *l,
		  bool *missed, struct prefetch_result *r);

/* What a prefetcher may know of the machine, and do */
const struct layout *machine_layout(const struct machine *m);
bool machine_in_swap(const struct machine *m, uint32_t page);
uint32_t machine_nr_in_swap(const struct machine *m, uint32_t program);
uint32_t machine_used(const struct machine *m);
bool machine_fetch(struct machine *m, uint32_t page);
bool machine_logs(struct machine *m, uint32_t page);

#endif
