/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Replacement of pages in a cgroup: the interface for the user interface.
 */
#ifndef _MM_PATH_REPLACE_H
#define _MM_PATH_REPLACE_H

#include "../core.h"

struct seq_file;

enum mmpath_mode {
	MMPATH_MODE_NONE,
	MMPATH_MODE_LRU,
	MMPATH_MODE_MRU,
	MMPATH_MODE_REGION,
	MMPATH_MODE_LIRS,
	MMPATH_MODE_AUTO,
	NR_MMPATH_MODES,
};

#ifdef CONFIG_MMPATH_REPLACE
extern const char * const mmpath_mode_names[NR_MMPATH_MODES];
enum mmpath_mode mmpath_replace_mode(struct mmpath_domain *dom);
int mmpath_set_replace(struct mmpath_domain *dom, struct mem_cgroup *memcg,
		       enum mmpath_mode mode);
const struct mmpath_pool *mmpath_replace_pool(struct mmpath_domain *dom,
					      const struct mmpath_ctx *ctx, u32 region);
void mmpath_show_replace(struct seq_file *m, struct mmpath_domain *dom);
bool mmpath_replaces_well(struct mmpath_domain *dom);
#else
static inline int mmpath_set_replace(struct mmpath_domain *dom, struct mem_cgroup *memcg,
				     enum mmpath_mode mode)
{
	return 0;
}

static inline const struct mmpath_pool *
mmpath_replace_pool(struct mmpath_domain *dom, const struct mmpath_ctx *ctx, u32 region)
{
	return NULL;
}

static inline void mmpath_show_replace(struct seq_file *m, struct mmpath_domain *dom) { }

static inline bool mmpath_replaces_well(struct mmpath_domain *dom)
{
	return false;
}
#endif

#endif /* _MM_PATH_REPLACE_H */
