/* What an operator is to Ingot: how its attributes become params, what its outputs look like. One descriptor an operator form.
 *
 * ops.def names all forms; schema.h knows what the standard says of every version (arity, types, attributes), and checks
 * that before anything here is asked. A "form" is a span of versions that one descriptor serves. */
#ifndef INGOT_OPS_OP_H
#define INGOT_OPS_OP_H

#include "graph/graph.h"
#include "ops/schema.h"

/* ---- Attributes to params: the kinds of fields are those of ingot/custom_op.h ---- */
typedef struct ingot_param_field {
    const char *attribute;
    ingot_param_kind kind;
    size_t offset;            /* of the field in the params struct */
    const char *const *words; /* INGOT_PARAM_WORD: NULL-ended */
    size_t given_offset;      /* of a bool that tells whether the attribute was there; 0: none wanted */
} ingot_param_field;

/* ---- Shape rules ---- */

/* Greatest number of elements of a small integer tensor whose content is followed through shape arithmetic. */
#define INGOT_MAX_KNOWN 64

/* What is known of one input or output. */
typedef struct ingot_infer_value {
    ingot_type type;             /* kind NONE: an optional input or output left out */
    const ingot_value *constant; /* the whole content, where it is known: a constant, or at run time the value itself */
    size_t known_count;          /* elements of known; SIZE_MAX: not known (then look at constant) */
    ingot_dim known[INGOT_MAX_KNOWN];
} ingot_infer_value;

typedef struct ingot_infer {
    const ingot_node *node;
    const void *params;
    ingot_dims *dims; /* NULL: all sizes are numbers, as at run time */
    const ingot_infer_value *inputs;
    size_t input_count;
    ingot_infer_value
        *outputs; /* come with type.kind NONE (left out) or TENSOR, element undefined, rank -1, known SIZE_MAX */
    size_t output_count;
    ingot_error *error;
} ingot_infer;

/* Helpers of infer functions (infer.c). A failure names the node and the input. */
static inline bool ingot_infer_has(const ingot_infer *c, size_t input)
{
    return input < c->input_count && c->inputs[input].type.kind != INGOT_KIND_NONE;
}
static inline bool ingot_infer_wants(const ingot_infer *c, size_t output)
{
    return output < c->output_count && c->outputs[output].type.kind != INGOT_KIND_NONE;
}
/* Output becomes a tensor; does nothing where it is left out. */
void ingot_infer_set(ingot_infer *c, size_t output, ingot_element element, int rank, const ingot_dim *dims);
void ingot_infer_set_unranked(ingot_infer *c, size_t output, ingot_element element);
/* Output gets input's type, and its known content where keep_content. */
void ingot_infer_copy(ingot_infer *c, size_t output, size_t input, bool keep_content);
/* Numpy broadcasting of the shapes of inputs first ... first + count - 1; rank -1 where one is not known. */
ingot_status ingot_infer_broadcast(ingot_infer *c, size_t first, size_t count, int *rank, ingot_dim *dims);
/* The same of two shapes. */
ingot_status ingot_infer_broadcast_dims(ingot_infer *c, int a_rank, const ingot_dim *a, int b_rank, const ingot_dim *b,
                                        int *rank, ingot_dim *dims);
/* Integer content of an input of any integer type, as far as known: true with *count elements (single ones may be
 * unknown or symbolic); false where not even their number is known. max is the size of values. */
bool ingot_infer_integers(const ingot_infer *c, size_t input, ingot_dim *values, size_t max, size_t *count);
/* The same where all elements must be plain numbers: false unless they are. */
bool ingot_infer_numbers(const ingot_infer *c, size_t input, int64_t *values, size_t max, size_t *count);
/* Content of a float input (any float type); false where it is not known. */
bool ingot_infer_floats(const ingot_infer *c, size_t input, double *values, size_t max, size_t *count);
/* axis in -rank ... rank - 1 (or rank - 1 + extra) made non-negative; refused otherwise, naming the attribute. */
ingot_status ingot_infer_axis(ingot_infer *c, const char *what, int64_t axis, int rank, int extra, int *result);
/* Refuses an input whose rank is known and not in min ... max. */
ingot_status ingot_infer_rank(ingot_infer *c, size_t input, int min, int max);
/* Two sizes that must be equal: refused where both are known and differ; *result (may be NULL) gets the known one. */
ingot_status ingot_infer_same_dim(ingot_infer *c, const char *what, ingot_dim a, ingot_dim b, ingot_dim *result);
/* ingot_node_fail with INGOT_INVALID_MODEL (symbolic) or INGOT_INVALID_INPUT (at run time). */
ingot_status ingot_infer_fail(ingot_infer *c, const char *format, ...) INGOT_PRINTF(2, 3);

/* ---- The descriptor ---- */
enum {
    INGOT_OP_VIEW = 1 << 0, /* output 0 has the bytes of input 0 under another shape (or type kind): no kernel work */
    INGOT_OP_IN_PLACE =
        1 << 1, /* output 0 may take input 0's memory where shapes and types agree: each element of it is
                                      read before, or when, it is written, and no later one is read after that */
    INGOT_OP_SIZES_OUTPUT =
        1 << 2,                    /* sizes of an output depend on data in ways that infer cannot tell: the kernel calls
                                      ingot_value_set_tensor or _set_list on its outputs */
    INGOT_OP_RANDOM = 1 << 3,      /* two runs may differ: not folded, not merged with its twin */
    INGOT_OP_CONTROL = 1 << 4,     /* runs bodies: the runtime's, no kernel */
    INGOT_OP_READS_SHAPE = 1 << 5, /* uses only the shape of input 0 (Shape, Size): keeps no content alive */
    INGOT_OP_CUSTOM = 1 << 6,      /* registered by the program (custom.h): the op is part of its registration */
};

typedef struct ingot_op ingot_op;
struct ingot_op {
    const char *summary; /* one line for docs/ops.md */
    size_t params_size;
    const ingot_param_field *fields; /* ended by one whose attribute is NULL; NULL: no attributes are read */
    /* After the fields are filled: checks across fields and what the standard limits. May be NULL. */
    ingot_status (*check)(const ingot_node *node, void *params, ingot_error *error);
    ingot_status (*infer)(ingot_infer *c);
    uint32_t flags;
};

/* Rewrites a node of an older form in its graph into today's: adds nodes and constants before it, changes its inputs,
 * attributes, op_type and opset; must leave it (and what it adds) resolvable. */
typedef ingot_status (*ingot_upgrade)(ingot_node *node, ingot_error *error);

typedef struct ingot_op_entry {
    const char *domain, *name;
    int since;          /* first opset version of this form; it holds until the next entry of the same name */
    const ingot_op *op; /* NULL where upgrade is set */
    ingot_upgrade upgrade;
} ingot_op_entry;

/* The table in ops.def's order. */
const ingot_op_entry *ingot_op_entries(size_t *count);
/* The entry in force for a schema version; NULL: Ingot has none. */
const ingot_op_entry *ingot_op_find(const char *domain, const char *name, int since_version);

/* As ingot_schema_require, of operators that are registered too: INGOT_OK where a node of this name can be resolved. */
ingot_status ingot_op_require(const char *domain, const char *name, int64_t opset_version, ingot_error *error);
/* What the standard says of a resolved node; NULL: nothing, as of one that is registered. */
const ingot_schema *ingot_op_schema(const ingot_node *node);
/* Whether Ingot runs the operator, by itself or by what is registered. */
bool ingot_op_runs(const char *domain, const char *name, int64_t opset_version);
/* Fills a field of params from the attribute that the node has for it. */
ingot_status ingot_op_fill_param(const ingot_node *node, const ingot_param_field *field,
                                 const ingot_attribute *attribute, void *to, ingot_error *error);

/* Sets op and params of a node, upgrading it and resolving what that adds: finds the schema (an unknown operator, or one that
 * came later, is refused by name), checks arity and attributes against it, fills params with defaults, runs check. */
ingot_status ingot_op_resolve(ingot_node *node, ingot_error *error);
/* Types, shapes and known content of the node's outputs from its inputs, written into the graph; unknown sizes become fresh
 * symbols. Checks input types against the schema. Control flow infers its bodies. */
ingot_status ingot_op_infer(ingot_node *node, ingot_error *error);
/* The same for all nodes of a graph in order; those that are not resolved yet are, once what comes before them is inferred. */
ingot_status ingot_graph_infer(ingot_graph *graph, ingot_error *error);

#endif
