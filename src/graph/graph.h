/* The IR: a module holds a main graph; a graph holds nodes in an order that respects data flow, and values, each defined once.
 *
 * All of it lives in the module's arena (growing tables beside it) and goes with the module; nothing is freed before. One thread at a time may change a
 * module; an unchanging one may be read by many. Names are the model's own, kept for people: nothing is looked up by them
 * after import. */
#ifndef INGOT_GRAPH_GRAPH_H
#define INGOT_GRAPH_GRAPH_H

#include "graph/type.h"
#include "ingot/custom_op.h" /* ingot_text and the other params */

typedef struct ingot_module ingot_module;
typedef struct ingot_graph ingot_graph;
typedef struct ingot_node ingot_node;
typedef struct ingot_graph_value ingot_graph_value;
struct ingot_op; /* ops/op.h */

/* ---- Attributes as the model file has them; kernels never see these ---- */
typedef enum ingot_attribute_type { /* numbers of onnx.AttributeProto.AttributeType */
                                    INGOT_ATTRIBUTE_UNDEFINED = 0,
                                    INGOT_ATTRIBUTE_FLOAT = 1,
                                    INGOT_ATTRIBUTE_INT = 2,
                                    INGOT_ATTRIBUTE_STRING = 3,
                                    INGOT_ATTRIBUTE_TENSOR = 4,
                                    INGOT_ATTRIBUTE_GRAPH = 5,
                                    INGOT_ATTRIBUTE_FLOATS = 6,
                                    INGOT_ATTRIBUTE_INTS = 7,
                                    INGOT_ATTRIBUTE_STRINGS = 8,
                                    INGOT_ATTRIBUTE_TENSORS = 9,
                                    INGOT_ATTRIBUTE_GRAPHS = 10,
                                    INGOT_ATTRIBUTE_SPARSE_TENSOR = 11,
                                    INGOT_ATTRIBUTE_SPARSE_TENSORS = 12,
                                    INGOT_ATTRIBUTE_TYPE_PROTO = 13,
                                    INGOT_ATTRIBUTE_TYPE_PROTOS = 14,
} ingot_attribute_type;

typedef struct ingot_attribute {
    const char *name;
    ingot_attribute_type type;
    size_t count; /* of lists */
    union {
        int64_t i;
        float f;
        ingot_text s;
        const int64_t *ints;
        const float *floats;
        const ingot_text *strings;
        const ingot_value *tensor; /* dense; a sparse one is made dense at import */
        const ingot_value *const *tensors;
        const ingot_type *type_proto;
        size_t body; /* of a graph: index into the node's bodies */
    };
} ingot_attribute;

/* ---- Values ---- */
typedef struct ingot_use {
    ingot_node *node;
    size_t index; /* among the node's inputs */
} ingot_use;

struct ingot_graph_value {
    const char *name; /* never NULL; "" for values made by passes without one */
    ingot_type type;
    ingot_graph *graph;
    ingot_node *producer;        /* NULL: a graph input or a constant */
    size_t producer_index;       /* among the producer's outputs */
    const ingot_value *constant; /* content of an initializer, a Constant node or what folding found; else NULL */
    bool is_input;               /* of its graph; with constant set, an input that has a default */
    const ingot_dim
        *known; /* content of a small integer tensor, row-major, as far as shape arithmetic tells; else NULL */
    size_t known_count;
    ingot_use *uses; /* as input of nodes of the same graph, captures by bodies included (they are node inputs) */
    size_t use_count, use_capacity;
    size_t output_count; /* times that it is an output of its graph */
    size_t id;           /* dense within its graph: index in graph->values */
};

/* Its content is the same in every run: a constant that no input overrides. */
static inline bool ingot_graph_value_is_constant(const ingot_graph_value *value)
{
    return value && value->constant && !value->is_input;
}

/* ---- Nodes ---- */

/* A subgraph of a node. What it captures comes in through inputs: body->inputs are its formal inputs, then captures. */
typedef struct ingot_body {
    const char *attribute; /* "then_branch" */
    ingot_graph *graph;
    size_t formal_count;  /* body inputs that the operator itself feeds */
    size_t capture_first; /* the node's input that feeds the first capture */
    size_t capture_count; /* body input formal_count + i is fed by node input capture_first + i */
} ingot_body;

struct ingot_node {
    const char *name;   /* "" where the model gives none */
    const char *domain; /* "ai.onnx" for the default one */
    const char *op_type;
    int opset;                 /* version of its domain that the node is written in */
    const struct ingot_op *op; /* set by ingot_op_resolve */
    void *params;              /* parsed attributes: op's own struct, today's form; set by ingot_op_resolve */
    ingot_attribute *attributes;
    size_t attribute_count;
    ingot_graph_value **inputs;  /* NULL: an optional one left out */
    size_t input_count;          /* captures included */
    size_t operand_count;        /* inputs of the operator itself: the rest are captures of bodies */
    ingot_graph_value **outputs; /* NULL: one left out */
    size_t output_count;
    ingot_body *bodies;
    size_t body_count;
    ingot_graph *graph;
    ingot_node *previous, *next;
    size_t id; /* unique within the module */
};

struct ingot_graph {
    const char *name;
    ingot_module *module;
    ingot_node *owner;        /* of a body: the node that holds it; else NULL */
    ingot_node *first, *last; /* in data-flow order */
    size_t node_count;
    ingot_graph_value **inputs;
    size_t input_count, input_capacity;
    ingot_graph_value **outputs; /* one value may be several outputs, and may be an input or a constant */
    size_t output_count, output_capacity;
    const char **output_names; /* as declared: kept where a pass puts another value in place */
    size_t output_name_capacity;
    ingot_graph_value **values; /* all that were ever made; those without producer, constant and uses are dead */
    size_t value_count, value_capacity;
};

struct ingot_module {
    ingot_arena *arena;
    ingot_dims *dims;
    ingot_graph *main;
    ingot_budget *budget;       /* borrowed: the memory limit of the model or session */
    ingot_value **owned_values; /* constants that the module made; released with it */
    size_t owned_count, owned_capacity;
    ingot_graph **graphs; /* all that were ever made */
    size_t graph_count, graph_capacity;
    size_t next_id;
};

/* Greatest nesting of bodies. */
#define INGOT_MAX_DEPTH 64

ingot_status ingot_module_create(ingot_budget *budget, ingot_module **module, ingot_error *error);
void ingot_module_release(ingot_module *module);
/* A copy that passes may change; constants are shared with the original, which must live as long. */
ingot_status ingot_module_copy(const ingot_module *from, ingot_budget *budget, ingot_module **copy, ingot_error *error);

ingot_status ingot_graph_create(ingot_module *module, const char *name, ingot_graph **graph, ingot_error *error);

/* ---- Building ---- */
/* A new value of the graph, without producer; name is copied into the arena (NULL: ""). */
ingot_status ingot_graph_add_value(ingot_graph *graph, const char *name, size_t length, ingot_graph_value **value,
                                   ingot_error *error);
ingot_status ingot_graph_add_input(ingot_graph *graph, ingot_graph_value *value, ingot_error *error);
/* Inputs that have a default become constants, and are inputs no more. */
void ingot_graph_assume_defaults(ingot_graph *graph);
ingot_status ingot_graph_add_output(ingot_graph *graph, ingot_graph_value *value, const char *name, ingot_error *error);
/* A constant value; borrows content, which must live as long as the module (see ingot_module_own). */
ingot_status ingot_graph_add_constant(ingot_graph *graph, const char *name, const ingot_value *content,
                                      ingot_graph_value **value, ingot_error *error);
/* The module releases content when it goes; takes it even when it fails. */
ingot_status ingot_module_own(ingot_module *module, ingot_value *content, ingot_error *error);
/* Makes *content aligned for its element type: an aligned copy, which the module owns, where it is not. */
ingot_status ingot_module_align(ingot_module *module, const ingot_value **content, ingot_error *error);
/* A constant int64 tensor [count] (rank 1), or a scalar where count is -1 (values[0]); copies values. */
ingot_status ingot_graph_add_constant_i64(ingot_graph *graph, const char *name, const int64_t *values, int count,
                                          ingot_graph_value **value, ingot_error *error);

typedef struct ingot_node_spec {
    const char *domain, *op_type, *name; /* copied; domain NULL: "ai.onnx"; name NULL: "" */
    int opset;
    ingot_graph_value *const *inputs; /* captures come last */
    size_t input_count, operand_count;
    ingot_graph_value *const *outputs; /* values without a producer */
    size_t output_count;
    const ingot_attribute *attributes; /* copied one level deep: what they point to must live in the arena */
    size_t attribute_count;
    const ingot_body *bodies; /* copied */
    size_t body_count;
} ingot_node_spec;

/* Adds a node before another of the graph, or at the end where before is NULL. op and params are not set. */
ingot_status ingot_graph_add_node(ingot_graph *graph, const ingot_node_spec *spec, ingot_node *before,
                                  ingot_node **node, ingot_error *error);

/* ---- Changing ---- */
ingot_status ingot_node_set_input(ingot_node *node, size_t index, ingot_graph_value *value, ingot_error *error);
ingot_status ingot_node_add_input(ingot_node *node, ingot_graph_value *value,
                                  ingot_error *error); /* an operand, before captures */
/* Makes every use of from, graph outputs included, a use of to. */
ingot_status ingot_graph_replace_value(ingot_graph_value *from, ingot_graph_value *to, ingot_error *error);
/* Takes the node out of its graph; its outputs lose their producer. */
void ingot_graph_remove_node(ingot_node *node);
const ingot_attribute *ingot_node_attribute(const ingot_node *node, const char *name); /* NULL: not there */

/* ---- Checking and showing ---- */
/* Every rule above that can be checked: order, uses, counts, captures. INGOT_INTERNAL naming what is broken. */
ingot_status ingot_graph_verify(const ingot_graph *graph, ingot_error *error);
/* The node for people: "node 'Conv_0' (Conv)", or by its first output where it has no name: "node Conv -> 'y'". */
const char *ingot_node_describe(const ingot_node *node, char *text, size_t size);
/* Prefixes the message of a set error with the node, unless it names it already; returns the status. */
ingot_status ingot_node_fail_at(const ingot_node *node, ingot_error *error);
/* ingot_fail whose message begins with the node. */
ingot_status ingot_node_fail(const ingot_node *node, ingot_error *error, ingot_status status, const char *format, ...)
    INGOT_PRINTF(4, 5);

#endif
