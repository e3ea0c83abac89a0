/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of cgroups and those of sessions share.
 */
#ifndef _MM_PATH_UI_H
#define _MM_PATH_UI_H

#include "../core.h"
#include "../policy/balance.h"
#include "../policy/prefetch.h"
#include "../policy/replace.h"

/* show.c */
struct seq_file;
bool mmpath_may_look(const struct seq_file *m, struct mm_struct *mm);
void mmpath_show_name(struct seq_file *m, struct vm_area_struct *vma);
int mmpath_show_mrc(struct seq_file *m, struct mmpath_domain *dom);
int mmpath_show_regions(struct seq_file *m, struct mmpath_domain *dom);
int mmpath_show_region_mrc(struct seq_file *m, struct mmpath_domain *dom);
int mmpath_show_stat(struct seq_file *m, struct mmpath_domain *dom);
void mmpath_show_words(struct seq_file *m, const char * const *words, unsigned int nr,
		       unsigned int used);

/* memcg.c */
struct mm_struct *mmpath_get_mm(struct task_struct *leader);

/* foresight.c */
void *mmpath_prefetch_regions_start(struct seq_file *m, loff_t *pos);
void *mmpath_prefetch_regions_next(struct seq_file *m, void *v, loff_t *pos);
void mmpath_prefetch_regions_stop(struct seq_file *m, void *v);
int mmpath_prefetch_regions_show(struct seq_file *m, void *v);

#endif /* _MM_PATH_UI_H */
