/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What policies and the core know of each other. A policy is told of the pages that the members
 * of a domain touch, and of what becomes of them; the core knows none by name.
 */
#ifndef _MM_PATH_POLICY_H
#define _MM_PATH_POLICY_H

#include <linux/list.h>
#include <linux/mm_types.h>
#include <linux/types.h>

struct mmpath_ctx;
struct mmpath_domain;
struct mmpath_models;
struct mmpath_policy;

#define MMPATH_REGION_UNKNOWN	0ULL	/* of a page that was touched before the policy began */

/**
 * struct mmpath_policy_ops - what a policy does with the pages of a domain
 * @touch: handle the touch of a page that is in the policy's sample. @region is the key of its
 *	region, see mmpath_domain_key(), or MMPATH_REGION_UNKNOWN. Returns MMPATH_NOMEM if the
 *	policy could not note it.
 * @forget: forget @nr pages from @first on: they were unmapped or discarded
 * @move: give @nr pages from @from on the numbers from @to on. Returns MMPATH_NOMEM if some
 *	of them were forgotten.
 * @set_shift: sample at most one page in 2^@shift from now on
 * @refine: the coarsest member tracks one page in 2^@shift: sample as many, if there is memory
 * @close_region: look at the curves @models of a region, whose epoch is over. May be absent.
 * @close_epoch: the epoch is over for all members. May be absent.
 * @acts: tell whether the policy chooses now which pages leave memory. Absent: it never does.
 *
 * A page number has the id of the context in its high bits, as in the index of the core. All
 * are called under the domain's lock, and keep &mmpath_policy.shift up to date. They may not
 * sleep for memory.
 */
struct mmpath_policy_ops {
	int (*touch)(struct mmpath_policy *p, u64 page, u64 region);
	void (*forget)(struct mmpath_policy *p, u64 first, u64 nr);
	int (*move)(struct mmpath_policy *p, u64 from, u64 to, u64 nr);
	void (*set_shift)(struct mmpath_policy *p, unsigned int shift);
	void (*refine)(struct mmpath_policy *p, unsigned int shift);
	void (*close_region)(struct mmpath_policy *p, u64 region,
			     const struct mmpath_models *models);
	void (*close_epoch)(struct mmpath_policy *p);
	bool (*acts)(const struct mmpath_policy *p);
};

/**
 * struct mmpath_policy - a policy in a domain
 * @ops: what it does
 * @dom: the domain, NULL if it is in none
 * @node: in the domain's list
 * @shift: one page in 2^shift is in the policy's sample; MMPATH_MAX_SHIFT: none
 *
 * All are protected by the domain's lock; a reader that needs only a hint may do without.
 */
struct mmpath_policy {
	const struct mmpath_policy_ops *ops;
	struct mmpath_domain *dom;
	struct list_head node;
	unsigned int shift;
};

/* domain.c */
u64 mmpath_domain_key(const struct mmpath_ctx *ctx, u32 region);
void mmpath_domain_add_policy(struct mmpath_domain *dom, struct mmpath_policy *p);
void mmpath_domain_del_policy(struct mmpath_policy *p);
void mmpath_domain_tell_policy(struct mmpath_domain *dom, struct mmpath_policy *p);
struct mmpath_policy *mmpath_domain_find_policy(struct mmpath_domain *dom,
						const struct mmpath_policy_ops *ops);

/* sample.c */
void mmpath_policy_began(struct mmpath_domain *dom);

/* hooks.c */
void mmpath_find_hot(struct mmpath_ctx *ctx, const u64 *page, unsigned int nr, bool *hot);

/* walk.c */
pte_t mmpath_pte_lockless(struct vm_area_struct *vma, unsigned long address);
bool mmpath_is_shmem(const struct vm_area_struct *vma);
bool mmpath_swap_entry(struct vm_area_struct *vma, unsigned long address, swp_entry_t *entry);

/* drain.c */
int mmpath_drain_domain(struct mmpath_domain *dom);

#endif /* _MM_PATH_POLICY_H */
