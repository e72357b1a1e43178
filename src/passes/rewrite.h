/* What the rewrites share: recognising nodes and constants, and putting new ones in place. */
#ifndef INGOT_PASSES_REWRITE_H
#define INGOT_PASSES_REWRITE_H

#include "passes/passes.h"

/* ---- Recognising ---- */

/* Whether the node is a resolved one of that type of the standard domain; NULL is none. */
bool ingot_node_is(const ingot_node *node, const char *op_type);
/* The node whose output 0 the value is, if it is of that type; NULL: another, or none. */
ingot_node *ingot_made_by(const ingot_graph_value *value, const char *op_type);
/* Whether a node or the graph's outputs read the value; NULL is read by nobody. */
bool ingot_value_is_read(const ingot_graph_value *value);
/* Operand number index; NULL: left out. */
ingot_graph_value *ingot_operand(const ingot_node *node, size_t index);

/* Attributes as the node has them; the default where it has none of that name and type. */
int64_t ingot_int_attribute(const ingot_node *node, const char *name, int64_t otherwise);
float ingot_float_attribute(const ingot_node *node, const char *name, float otherwise);
/* Integers from an attribute, or from a constant operand where the attribute is not given: at most max of them, all numbers.
 * false: neither is there, or they are not known. */
bool ingot_int_list(const ingot_node *node, const char *name, size_t operand, int64_t *values, size_t max,
                    size_t *count);

/* Whether the value is a tensor of known shape whose sizes are all numbers. */
bool ingot_has_static_shape(const ingot_type *type);
/* Whether two tensors have one shape in every run: equal sizes that are all numbers. */
bool ingot_same_static_shape(const ingot_type *a, const ingot_type *b);
/* The number that a constant of one element holds, of a float or integer type; false: it is no such constant. */
bool ingot_constant_number(const ingot_graph_value *value, double *number);
/* The same where the constant does not raise the rank of x under broadcasting: x keeps its shape. */
bool ingot_constant_beside(const ingot_graph_value *value, const ingot_graph_value *x, double *number);

/* Whether the value is a constant of one element, that number as its type rounds it, and does not raise x's rank. */
bool ingot_is_number_beside(const ingot_graph_value *value, const ingot_graph_value *x, double wanted);
/* For nodes of two operands that commute: the one beside a constant of that number; NULL: there is none. */
ingot_graph_value *ingot_other_than_number(const ingot_node *node, double wanted);

/* Whether Ingot runs an operator of the standard domain, so that a rewrite may make it. */
bool ingot_can_make(const char *op_type, int opset);

/* ---- Putting in place ---- */

/* ingot_graph_add_node, resolved and inferred. An operator that is rewritten into others has outputs of its own then: those of
 * *node (may be NULL), which is the last of the others. */
ingot_status ingot_insert_node(ingot_graph *graph, const ingot_node_spec *spec, ingot_node *before, ingot_node **node,
                               ingot_error *error);

/* A node of one output that takes the place of another's output 0. */
typedef struct ingot_replacement {
    const char *domain; /* NULL: the standard's */
    const char *op_type;
    int opset;
    ingot_graph_value *const *inputs;
    size_t input_count;
    const ingot_attribute *attributes; /* what they point to must live in the arena */
    size_t attribute_count;
} ingot_replacement;

/* Adds the node before old, resolved and inferred, under old's name; all that read old's output 0 now read the new one's. The
 * old node stays, for others that read what comes before it; unread, it goes with the dead ones. made may be NULL. */
ingot_status ingot_replace_node(ingot_node *old, const ingot_replacement *by, ingot_graph_value **made,
                                ingot_error *error);

/* A value without content that the caller fills and hands to ingot_module_own or releases. */
ingot_status ingot_new_content(ingot_value **content, ingot_error *error);
/* A tensor in the module, counted in its budget, content zero; *value is the graph's constant of it, data its memory. */
ingot_status ingot_new_tensor(ingot_graph *graph, const char *name, ingot_element element, int rank,
                              const int64_t *dims, ingot_graph_value **value, void **data, ingot_error *error);
/* A copy of a list in the arena, as an attribute. */
ingot_status ingot_ints_attribute(ingot_graph *graph, const char *name, const int64_t *values, size_t count,
                                  ingot_attribute *attribute, ingot_error *error);

/* Takes captures away: drop[i] says so of node input i, for all inputs. What a dropped capture was in its body must not be read
 * any more. */
ingot_status ingot_drop_captures(ingot_node *node, const bool *drop, ingot_error *error);

/* ---- The rewrites, each in a file of its name ---- */
ingot_status ingot_pass_constants_into_bodies(ingot_graph *graph, const ingot_pass_context *context, bool *changed);
ingot_status ingot_pass_fold_if(ingot_graph *graph, const ingot_pass_context *context, bool *changed);
ingot_status ingot_pass_fold_constants(ingot_graph *graph, const ingot_pass_context *context, bool *changed);
ingot_status ingot_pass_fold_shapes(ingot_graph *graph, const ingot_pass_context *context, bool *changed);
ingot_status ingot_pass_remove_identity(ingot_graph *graph, const ingot_pass_context *context, bool *changed);
ingot_status ingot_pass_merge_views(ingot_graph *graph, const ingot_pass_context *context, bool *changed);
ingot_status ingot_pass_merge_duplicates(ingot_graph *graph, const ingot_pass_context *context, bool *changed);
ingot_status ingot_pass_shrink_constants(ingot_graph *graph, const ingot_pass_context *context, bool *changed);
ingot_status ingot_pass_move_quantizers(ingot_graph *graph, const ingot_pass_context *context, bool *changed);
ingot_status ingot_pass_move_transposes(ingot_graph *graph, const ingot_pass_context *context, bool *changed);
ingot_status ingot_pass_integer_products(ingot_graph *graph, const ingot_pass_context *context, bool *changed);
ingot_status ingot_pass_integer_arithmetic(ingot_graph *graph, const ingot_pass_context *context, bool *changed);
ingot_status ingot_pass_fold_dequantized(ingot_graph *graph, const ingot_pass_context *context, bool *changed);
ingot_status ingot_pass_gather_one_hot(ingot_graph *graph, const ingot_pass_context *context, bool *changed);
ingot_status ingot_pass_widen_half(ingot_graph *graph, const ingot_pass_context *context, bool *changed);
ingot_status ingot_pass_fold_batch_norm(ingot_graph *graph, const ingot_pass_context *context, bool *changed);
ingot_status ingot_pass_conv_of_phases(ingot_graph *graph, const ingot_pass_context *context, bool *changed);
ingot_status ingot_pass_fuse_layer_norm(ingot_graph *graph, const ingot_pass_context *context, bool *changed);
ingot_status ingot_pass_fuse_gelu(ingot_graph *graph, const ingot_pass_context *context, bool *changed);
ingot_status ingot_pass_fuse_hard_swish(ingot_graph *graph, const ingot_pass_context *context, bool *changed);
ingot_status ingot_pass_remove_dead(ingot_graph *graph, const ingot_pass_context *context, bool *changed);

#endif
