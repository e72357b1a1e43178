/* Nodes that only give another shape, and Transposes, as the rewrites see them. */
#ifndef INGOT_PASSES_VIEWS_H
#define INGOT_PASSES_VIEWS_H

#include "passes/rewrite.h"

/* The Reshape, Squeeze, Unsqueeze or Flatten that makes the value; NULL: another node, or none. */
ingot_node *ingot_made_by_view(const ingot_graph_value *value);

/* A shape for Reshape that any input of as many elements can be given: at most one size is left open. */
bool ingot_shape_of_type(const ingot_type *type, int64_t *shape);
/* A shape for Reshape that gives from the sizes of to, of as many elements in every run: free ones are all kept where they stand,
 * or the only one is left open. */
bool ingot_shape_between(const ingot_dims *dims, const ingot_type *from, const ingot_type *to, int64_t *shape);
/* Whether a view from one shape to the other leaves every axis whole or splits it: ends[i] is where in to the axes end that axis i
 * of from becomes. Axes of size 1 come and go. */
bool ingot_splits_axes(const ingot_dims *dims, const ingot_type *from, const ingot_type *to, int *ends);

/* Where each dimension of a Transpose's output comes from; false: the rank is not known. */
bool ingot_read_perm(const ingot_node *transpose, int64_t *perm, int *rank);

/* A Reshape, and a Transpose, of from: before node, giving *made, or, where made is NULL, in place of node's output 0. */
ingot_status ingot_make_reshape(ingot_node *node, ingot_graph_value *from, const int64_t *shape, int rank,
                                ingot_graph_value **made, ingot_error *error);
ingot_status ingot_make_transpose(ingot_node *node, ingot_graph_value *from, const int64_t *perm, int rank,
                                  ingot_graph_value **made, ingot_error *error);

#endif
