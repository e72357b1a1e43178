/* Constant: its content becomes a constant of the graph at import, so that it never runs. */
#ifndef INGOT_OPS_CONSTANT_H
#define INGOT_OPS_CONSTANT_H

#include "ops/op.h"

/* The content of a Constant node, from whichever of its attributes is given; the caller releases it. The node's attributes
 * must have been checked against the schema. */
ingot_status ingot_op_constant_content(const ingot_node *node, ingot_value **content, ingot_error *error);

#endif
