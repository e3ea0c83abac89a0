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
int mmpath_show_mrc(struct seq_file *m, struct mmpath_domain *dom);
int mmpath_show_regions(struct seq_file *m, struct mmpath_domain *dom);
int mmpath_show_region_mrc(struct seq_file *m, struct mmpath_domain *dom);
int mmpath_show_stat(struct seq_file *m, struct mmpath_domain *dom);
void mmpath_show_words(struct seq_file *m, const char * const *words, unsigned int nr,
		       unsigned int used);

#endif /* _MM_PATH_UI_H */
