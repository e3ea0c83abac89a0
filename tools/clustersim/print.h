/* SPDX-License-Identifier: GPL-2.0 */
/* What came out, for people and for programs */
#ifndef _CLUSTERSIM_PRINT_H
#define _CLUSTERSIM_PRINT_H

#include <jansson.h>

#include "sim.h"

void print_round(struct sim *sim, void *arg);
void print_clusters(const struct sim *sim);
void print_shmap(const struct sim *sim);
void json_round(struct sim *sim, void *list);
json_t *json_result(const struct sim *sim, json_t *rounds);

#endif /* _CLUSTERSIM_PRINT_H */
