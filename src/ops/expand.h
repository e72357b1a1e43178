/* Rewriting a node into others: what upgrades (ops.def, OP_UPGRADE) are written with.
 *
 *     ingot_expansion e = ingot_expand_begin(node, error);
 *     ingot_graph_value *sum = INGOT_EXPAND(&e, "Add", 14, NULL, 0, ingot_expand_input(&e, 0), ingot_expand_input(&e, 1));
 *     ingot_expand_result(&e, 0, INGOT_EXPAND(&e, "Relu", 14, NULL, 0, sum));
 *     return ingot_expand_end(&e);
 *
 * Nodes are added before the node, under its name, resolved and inferred at once, so that what the next step needs to know of
 * types is there. The first failure stays in builder.status: every call after it does nothing and returns NULL or 0. */
#ifndef INGOT_OPS_EXPAND_H
#define INGOT_OPS_EXPAND_H

#include "ops/upgrade.h"

#define INGOT_EXPAND_RESULTS 4

typedef struct ingot_expansion {
    ingot_node *node; /* stays as it was until ingot_expand_end */
    ingot_node *last; /* the node added last; NULL: none yet */
    ingot_graph_value *results[INGOT_EXPAND_RESULTS];
    ingot_builder builder; /* its status is the first failure */
} ingot_expansion;

ingot_expansion ingot_expand_begin(ingot_node *node, ingot_error *error);
/* What takes the place of output number index, where the node has that output. */
void ingot_expand_result(ingot_expansion *e, size_t index, ingot_graph_value *value);
/* Puts the results in place: the node becomes the one that was added last. Every output that is there must have its result. */
ingot_status ingot_expand_end(ingot_expansion *e);
/* Sets status, with a message that names the node. */
void ingot_expand_fail(ingot_expansion *e, ingot_status status, const char *format, ...) INGOT_PRINTF(3, 4);

/* ---- The node ---- */
ingot_graph_value *ingot_expand_input(const ingot_expansion *e, size_t index); /* NULL: left out */
bool ingot_expand_wants(const ingot_expansion *e, size_t output);
int64_t ingot_expand_int(const ingot_expansion *e, const char *attribute, int64_t otherwise);
float ingot_expand_float(const ingot_expansion *e, const char *attribute, float otherwise);
/* Whether the attribute is that word; an attribute left out is "". */
bool ingot_expand_is(const ingot_expansion *e, const char *attribute, const char *word);
/* Refuses the node where the input of that index is given, or the attribute is another number than expected. */
void ingot_expand_refuse_input(ingot_expansion *e, size_t index, const char *name);
void ingot_expand_require_int(ingot_expansion *e, const char *attribute, int64_t expected);

/* ---- Types ---- */
/* Rank of a tensor; fails where it is not known. */
int ingot_expand_rank(ingot_expansion *e, const ingot_graph_value *value, const char *name);
/* One size, where it is a number; fails where it is not. axis may count from the end. */
int64_t ingot_expand_size(ingot_expansion *e, const ingot_graph_value *value, int axis, const char *name);

/* ---- Building ---- */
typedef ingot_graph_value *ingot_expand_value;

/* A node with output_count outputs (at most INGOT_EXPAND_RESULTS); outputs gets them. domain NULL: "ai.onnx". */
typedef struct ingot_expand_spec {
    const char *domain, *op_type;
    int opset;
    const ingot_attribute *attributes;
    size_t attribute_count;
    ingot_graph_value *const *inputs; /* NULL among them: left out; those at the end are dropped */
    size_t input_count;
} ingot_expand_spec;

void ingot_expand_node(ingot_expansion *e, const ingot_expand_spec *spec, size_t output_count,
                       ingot_graph_value **outputs);
/* The same with one output, which it returns. */
ingot_graph_value *ingot_expand_add(ingot_expansion *e, const ingot_expand_spec *spec);

/* A node of the default domain: (expansion, type, opset, attributes, number of them, inputs ...) */
#define INGOT_EXPAND(e, type, version, list, list_count, ...)                                                          \
    ingot_expand_add(e,                                                                                                \
                     &(ingot_expand_spec){NULL, type, version, list, list_count, (ingot_graph_value *[]){__VA_ARGS__}, \
                                          sizeof((ingot_graph_value *[]){__VA_ARGS__}) / sizeof(ingot_graph_value *)})

static inline ingot_attribute ingot_int_of(const char *name, int64_t value)
{
    return (ingot_attribute){.name = name, .type = INGOT_ATTRIBUTE_INT, .i = value};
}
static inline ingot_attribute ingot_float_of(const char *name, float value)
{
    return (ingot_attribute){.name = name, .type = INGOT_ATTRIBUTE_FLOAT, .f = value};
}
/* text must be a constant string. */
ingot_attribute ingot_text_of(const char *name, const char *text);
/* values are copied. */
ingot_attribute ingot_expand_ints(ingot_expansion *e, const char *name, const int64_t *values, size_t count);
/* Copies those attributes of the node that have one of these names; returns how many there were. names is NULL-ended. */
size_t ingot_expand_pass_on(const ingot_expansion *e, const char *const *names, ingot_attribute *attributes);

/* Constants: a vector of integers, and one number of any type. */
ingot_graph_value *ingot_expand_vector(ingot_expansion *e, const int64_t *values, size_t count);
ingot_graph_value *ingot_expand_number(ingot_expansion *e, ingot_element element, double value);

/* ---- Steps that many share ---- */
/* Each returns value itself where it has nothing to do. */
ingot_graph_value *ingot_expand_transpose(ingot_expansion *e, ingot_graph_value *value, const int64_t *order,
                                          size_t count);
ingot_graph_value *ingot_expand_reshape(ingot_expansion *e, ingot_graph_value *value, const int64_t *dims,
                                        size_t count); /* 0: as it was, -1: what is left */
ingot_graph_value *ingot_expand_cast(ingot_expansion *e, ingot_graph_value *value, ingot_element element);
/* value + other, where other is there. */
ingot_graph_value *ingot_expand_plus(ingot_expansion *e, ingot_graph_value *value, ingot_graph_value *other);
/* value * factor, where factor is not 1. */
ingot_graph_value *ingot_expand_times(ingot_expansion *e, ingot_graph_value *value, double factor);
/* Part [from, to) of an axis. */
ingot_graph_value *ingot_expand_slice(ingot_expansion *e, ingot_graph_value *value, int64_t axis, int64_t from,
                                      int64_t to);
/* Size of an axis at run time, int64 [1], and the integers 0 ... length - 1 for such a size. */
ingot_graph_value *ingot_expand_length(ingot_expansion *e, ingot_graph_value *value, int64_t axis);
ingot_graph_value *ingot_expand_positions(ingot_expansion *e, ingot_graph_value *length);
/* Channels last to channels first, and back. rank is that of value. */
ingot_graph_value *ingot_expand_channels_first(ingot_expansion *e, ingot_graph_value *value);
ingot_graph_value *ingot_expand_channels_last(ingot_expansion *e, ingot_graph_value *value);
/* The activation that the node's attributes activation, and prefix + alpha and beta, name; value where there is none. */
ingot_graph_value *ingot_expand_activation(ingot_expansion *e, ingot_graph_value *value);

#endif
