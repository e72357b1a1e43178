/* Which tactic each region gets: the choice of layouts over a whole graph. */
#ifndef INGOT_PLAN_ASSIGN_H
#define INGOT_PLAN_ASSIGN_H

#include "plan/backend.h"

/* Picks tactics[i] for region i so that the costs of kernels and of reorders between them are low together: a local minimum,
 * found from the graph alone, the same every time. Where costs are equal, fewer tensors are in layouts of the backend's own. */
ingot_status ingot_assign_tactics(const ingot_graph *graph, const ingot_backend *backend, ingot_device *device,
                                  const ingot_region *regions, size_t count, ingot_tactic *tactics, ingot_error *error);

/* The region's tactics, one at least. */
ingot_status ingot_ask_tactics(const ingot_backend *backend, ingot_device *device, const ingot_region *region,
                               ingot_tactic list[INGOT_MAX_TACTICS], size_t *count, ingot_error *error);

/* Some output of the graph is read inside it as well. */
bool ingot_is_exposed(const ingot_graph *graph);
/* The same for such a graph: no region gets another layout than its nodes would have without those outputs. */
ingot_status ingot_assign_exposed(const ingot_graph *graph, const ingot_backend *backend, ingot_device *device,
                                  const ingot_region *regions, size_t count, ingot_tactic *tactics, ingot_error *error);

#endif
