/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Replacement policies, each a simulation of a memory of so many pages.
 */
#ifndef _PATHSIM_POLICY_H
#define _PATHSIM_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct trace - a reference string
 * @page: touched, numbered from 0 in the order of their first touches
 * @write: was it written?
 * @n: touches
 * @name: of a page, what it is called in the file
 * @pages: how many there are
 * @begin: first touch of the part whose misses count
 * @marked: the file tells where that is
 * @end: and what follows its last touch; 0: it does not
 * @next: by touch, when its page is touched again, in the part that counts
 *	(policy_next_uses()); or NULL
 */
struct trace {
	uint32_t *page;
	bool *write;
	size_t n;
	uint64_t *name;
	uint32_t pages;
	size_t begin, end;
	bool marked;
	size_t *next;
};

/**
 * struct policy - who leaves when memory is full
 * @name: for people
 * @about: a line
 * @wants_next: needs trace.next
 * @create: a memory of @size pages, at least 1, empty
 * @access: touch number @i of the trace, of @page; true when it hits
 * @destroy: the end of it
 * @evict: another policy has it that a page that is in memory leaves; or NULL
 * @reclaim: a page of its own choice leaves, and is returned; or NULL
 */
struct policy {
	const char *name, *about;
	bool wants_next;
	void *(*create)(uint32_t size, const struct trace *t);
	bool (*access)(void *sim, uint32_t page, size_t i);
	void (*destroy)(void *sim);
	void (*evict)(void *sim, uint32_t page);
	uint32_t (*reclaim)(void *sim);
};

/**
 * struct sim_options - of the models
 * @kernel: what auto leaves alone where nothing is better; has evict and reclaim
 * @pab: entries of the page access buffer, 0: none
 * @sample: pages that auto may simulate with
 * @epoch: after which auto compares, in ms, if a touch takes 1 us and a miss 1 ms
 */
struct sim_options {
	const struct policy *kernel;
	uint32_t pab, sample;
	size_t epoch;
};

extern struct sim_options sim_options;

#define NEVER	SIZE_MAX	/* in trace.next */

/* Pages that nobody touches part regions, if there are so many; a region has as many at least. */
#define SIM_REGION_GAP	256

extern const struct policy lru_policy, mru_policy, clock_policy, twolist_policy, lirs_policy,
	fixed_policy, region_policy, auto_policy, opt_policy;
extern const struct policy *const policies[];	/* ends with NULL */

const struct policy *policy_by_name(const char *name);
void policy_next_uses(struct trace *t);
size_t policy_misses(const struct policy *p, uint32_t size, const struct trace *t);
void *sim_alloc(size_t nr, size_t bytes);

#endif
