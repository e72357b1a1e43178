/* Operators that a program or a library registered (ingot/custom_op.h): found after those of ops.def, and from there on
 * nodes like any other. */
#ifndef INGOT_OPS_CUSTOM_H
#define INGOT_OPS_CUSTOM_H

#include "ops/kernel.h"

/* Registers all of them, or none. */
ingot_status ingot_custom_register(const ingot_custom_op *const *ops, size_t count, ingot_error *error);
/* What is registered for an operator at an opset version: the greatest since_version that fits. NULL: nothing. */
const ingot_custom_op *ingot_custom_find(const char *domain, const char *name, int64_t opset_version);

/* What nodes of a registered operator point to as their op. */
const ingot_op *ingot_custom_registered(const ingot_custom_op *custom);
/* The only type of a set of element types; false where there are more, or none. */
bool ingot_custom_single_element(uint32_t elements, ingot_element *element);

/* The shape rule of all of them. */
ingot_status ingot_custom_infer(ingot_infer *c);
/* As ingot_op_resolve, of a node whose operator is this one. */
ingot_status ingot_custom_resolve(ingot_node *node, const ingot_custom_op *custom, ingot_error *error);

/* The kernel of all of them: INGOT_OP_CUSTOM in the flags of an operator. */
ingot_status ingot_custom_kernel(const ingot_kernel_call *call);

/* The descriptor of a resolved node. */
const ingot_custom_op *ingot_custom_of(const ingot_node *node);

#endif
