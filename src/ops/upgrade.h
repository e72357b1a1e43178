/* Building nodes while an operator is rewritten into others.
 *
 * A builder adds nodes to one graph, before one node; they carry its name, so that messages do. The first failure stays in
 * status and makes all later calls do nothing, so it is looked at once, at the end. */
#ifndef INGOT_OPS_UPGRADE_H
#define INGOT_OPS_UPGRADE_H

#include "ops/op.h"

#define INGOT_BUILD_OPSET 21 /* of the standard domain, for every node that is built */

typedef struct ingot_builder {
    ingot_graph *graph;
    ingot_node *before; /* NULL: at the end */
    const char *name;
    ingot_error *error;
    ingot_status status;
} ingot_builder;

/* A node of the standard domain with one output, which is returned; NULL on failure. A NULL input is left out. What attributes
 * point to must live in the arena or be constant. */
ingot_graph_value *ingot_build_with(ingot_builder *b, const char *op_type, ingot_graph_value *const *inputs,
                                    size_t count, const ingot_attribute *attributes, size_t attribute_count);
/* The same without attributes: INGOT_BUILD(b, "Add", x, y). */
#define INGOT_BUILD(b, op_type, ...)                                        \
    ingot_build_with(b, op_type, (ingot_graph_value *const[]){__VA_ARGS__}, \
                     sizeof((ingot_graph_value *const[]){__VA_ARGS__}) / sizeof(ingot_graph_value *), NULL, 0)
/* A node of any kind; its outputs are values that the caller made. */
void ingot_build_node(ingot_builder *b, const ingot_node_spec *spec);
/* A new value of the builder's graph. */
ingot_graph_value *ingot_build_value(ingot_builder *b, const char *name);
/* Constants: int64 [count]; one number of another type. */
ingot_graph_value *ingot_build_ints(ingot_builder *b, const int64_t *values, size_t count);
ingot_graph_value *ingot_build_number(ingot_builder *b, ingot_element element, double value);
/* Sizes first ... end - 1 of a value, int64 [end - first]. */
ingot_graph_value *ingot_build_sizes(ingot_builder *b, ingot_graph_value *value, int64_t first, int64_t end);

/* Makes node another one: domain, op_type, opset, inputs, attributes and bodies are spec's; name and outputs stay. */
ingot_status ingot_node_become(ingot_node *node, const ingot_node_spec *spec, ingot_error *error);

/* ---- The upgrades that ops.def names ---- */
#define OP(domain, name, since, op, kernel)
#define OP_VIEW(domain, name, since, op)
#define OP_CONTROL(domain, name, since, op)
#define OP_UPGRADE(domain, name, since, fn) ingot_status ingot_upgrade_##fn(ingot_node *node, ingot_error *error);
#include "ops/ops.def"
#undef OP
#undef OP_VIEW
#undef OP_CONTROL
#undef OP_UPGRADE

/* The upgrades themselves: see ingot_upgrade. */
#define OP(domain, name, since, op, kernel)
#define OP_VIEW(domain, name, since, op)
#define OP_CONTROL(domain, name, since, op)
#define OP_UPGRADE(domain, name, since, fn) ingot_status ingot_upgrade_##fn(ingot_node *node, ingot_error *error);
#include "ops/ops.def"
#undef OP
#undef OP_VIEW
#undef OP_CONTROL
#undef OP_UPGRADE

#endif
