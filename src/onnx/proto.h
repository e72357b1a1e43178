/* The messages of an ONNX file as plain structs that point into the file's bytes: text, weights and number lists are not
 * copied, so the bytes must outlive the structs, which live in an arena.
 *
 * What a file leaves out is zero, NULL or empty. Of a field that may be given once the last one counts, as protobuf says;
 * but an embedded message given twice is refused, though protobuf would merge it: no writer does that, and a merge could
 * hide a second graph. Fields that inference does not need (doc strings of parts, training, devices) are checked and
 * skipped, as unknown fields are. Nothing here recurses; nesting is bounded by INGOT_PROTO_MAX_GRAPHS and _DEPTH. */
#ifndef INGOT_ONNX_PROTO_H
#define INGOT_ONNX_PROTO_H

#include "base/memory.h"
#include "onnx/wire.h"

#define INGOT_PROTO_MAX_GRAPHS 64  /* graphs inside graphs, the outermost included */
#define INGOT_PROTO_MAX_DEPTH  256 /* messages inside messages */

/* A repeated message or text: count structs of the type that the comment beside the field names. */
typedef struct ingot_proto_list {
    void *items;
    size_t count;
} ingot_proto_list;

/* Repeated numbers where they lie in the file, packed or one by one; read by the functions below. */
typedef struct ingot_proto_numbers {
    ingot_span region; /* from the first number's tag to the end of the last one, other fields perhaps between */
    uint32_t field;
    size_t count;
} ingot_proto_numbers;

typedef struct ingot_tensor_proto ingot_tensor_proto;
typedef struct ingot_sparse_proto ingot_sparse_proto;
typedef struct ingot_type_proto ingot_type_proto;
typedef struct ingot_graph_proto ingot_graph_proto;
typedef struct ingot_sequence_proto ingot_sequence_proto;
typedef struct ingot_map_proto ingot_map_proto;
typedef struct ingot_optional_proto ingot_optional_proto;

/* The first member of each struct tells which fields the file gave: bit i for entry i of the message's table. */
typedef struct ingot_entry_proto { /* StringStringEntryProto */
    uint32_t seen;
    ingot_span key, value;
} ingot_entry_proto;

typedef struct ingot_opset_proto { /* OperatorSetIdProto */
    uint32_t seen;
    ingot_span domain;
    int64_t version;
} ingot_opset_proto;

struct ingot_tensor_proto {
    uint32_t seen;
    int64_t data_type, data_location; /* data_location: 1 for external data */
    ingot_span name, raw_data;
    ingot_proto_numbers dims, float_data, int32_data, int64_data, double_data, uint64_data;
    ingot_proto_list string_data;   /* ingot_span */
    ingot_proto_list external_data; /* ingot_entry_proto */
    ingot_span segment;
};

struct ingot_sparse_proto { /* SparseTensorProto */
    uint32_t seen;
    const ingot_tensor_proto *values, *indices;
    ingot_proto_numbers dims;
};

typedef struct ingot_dimension_proto { /* TensorShapeProto.Dimension */
    uint32_t seen;
    int64_t dim_value;
    ingot_span dim_param;
} ingot_dimension_proto;
#define INGOT_DIMENSION_HAS_VALUE (1u << 0) /* bit of seen: a size is given, 0 included */

typedef struct ingot_shape_proto { /* TensorShapeProto */
    uint32_t seen;
    ingot_proto_list dims; /* ingot_dimension_proto */
} ingot_shape_proto;

typedef struct ingot_tensor_type_proto { /* TypeProto.Tensor, TypeProto.SparseTensor */
    uint32_t seen;
    int64_t elem_type;
    const ingot_shape_proto *shape; /* NULL: the rank is not known */
} ingot_tensor_type_proto;

typedef struct ingot_item_type_proto { /* TypeProto.Sequence, TypeProto.Optional, TypeProto.Map */
    uint32_t seen;
    int64_t key_type; /* of a map */
    const ingot_type_proto *item;
} ingot_item_type_proto;

typedef struct ingot_opaque_proto { /* TypeProto.Opaque */
    uint32_t seen;
    ingot_span domain, name;
} ingot_opaque_proto;

struct ingot_type_proto {
    uint32_t seen;
    const ingot_tensor_type_proto *tensor, *sparse_tensor;
    const ingot_item_type_proto *sequence, *map, *optional;
    const ingot_opaque_proto *opaque;
};

typedef struct ingot_value_info_proto {
    uint32_t seen;
    ingot_span name;
    const ingot_type_proto *type;
} ingot_value_info_proto;

typedef struct ingot_attribute_proto {
    uint32_t seen;
    float f;
    int64_t type, i; /* type: an ingot_attribute_type of graph/graph.h */
    ingot_span name, ref_attr_name, s;
    const ingot_tensor_proto *t;
    const ingot_graph_proto *g;
    const ingot_sparse_proto *sparse_tensor;
    const ingot_type_proto *tp;
    ingot_proto_numbers floats, ints;
    ingot_proto_list strings;        /* ingot_span */
    ingot_proto_list tensors;        /* ingot_tensor_proto */
    ingot_proto_list graphs;         /* ingot_graph_proto */
    ingot_proto_list sparse_tensors; /* ingot_sparse_proto */
    ingot_proto_list type_protos;    /* ingot_type_proto */
} ingot_attribute_proto;

typedef struct ingot_node_proto {
    uint32_t seen;
    ingot_span name, op_type, domain, overload;
    ingot_proto_list inputs, outputs; /* ingot_span; empty: left out */
    ingot_proto_list attributes;      /* ingot_attribute_proto */
} ingot_node_proto;

struct ingot_graph_proto {
    uint32_t seen;
    ingot_span name, doc_string;
    ingot_proto_list nodes;               /* ingot_node_proto */
    ingot_proto_list initializers;        /* ingot_tensor_proto */
    ingot_proto_list sparse_initializers; /* ingot_sparse_proto */
    ingot_proto_list inputs, outputs;     /* ingot_value_info_proto */
    ingot_proto_list value_infos;         /* ingot_value_info_proto */
};

typedef struct ingot_function_proto {
    uint32_t seen;
    ingot_span name, domain, overload;
    ingot_proto_list inputs, outputs;    /* ingot_span */
    ingot_proto_list attributes;         /* ingot_span: names of attributes that a call must give */
    ingot_proto_list default_attributes; /* ingot_attribute_proto: attributes that a call may leave out */
    ingot_proto_list nodes;              /* ingot_node_proto */
    ingot_proto_list opsets;             /* ingot_opset_proto */
} ingot_function_proto;

typedef struct ingot_model_proto {
    uint32_t seen;
    int64_t ir_version, model_version;
    ingot_span producer_name, producer_version, domain, doc_string;
    const ingot_graph_proto *graph;
    ingot_proto_list opsets;    /* ingot_opset_proto */
    ingot_proto_list metadata;  /* ingot_entry_proto */
    ingot_proto_list functions; /* ingot_function_proto */
} ingot_model_proto;

/* elem_type of a SequenceProto or OptionalProto. */
enum {
    INGOT_PROTO_ITEM_UNDEFINED = 0,
    INGOT_PROTO_ITEM_TENSOR = 1,
    INGOT_PROTO_ITEM_SPARSE = 2,
    INGOT_PROTO_ITEM_SEQUENCE = 3,
    INGOT_PROTO_ITEM_MAP = 4,
    INGOT_PROTO_ITEM_OPTIONAL = 5,
};

struct ingot_sequence_proto {
    uint32_t seen;
    int64_t elem_type;
    ingot_span name;
    ingot_proto_list tensors;   /* ingot_tensor_proto */
    ingot_proto_list sparses;   /* ingot_sparse_proto */
    ingot_proto_list sequences; /* ingot_sequence_proto */
    ingot_proto_list maps;      /* ingot_map_proto */
    ingot_proto_list optionals; /* ingot_optional_proto */
};

struct ingot_map_proto {
    uint32_t seen;
    int64_t key_type;
    ingot_span name;
    ingot_proto_numbers keys;
    ingot_proto_list string_keys; /* ingot_span */
    const ingot_sequence_proto *values;
};

struct ingot_optional_proto {
    uint32_t seen;
    int64_t elem_type;
    ingot_span name;
    const ingot_tensor_proto *tensor;
    const ingot_sparse_proto *sparse;
    const ingot_sequence_proto *sequence;
    const ingot_map_proto *map;
    const ingot_optional_proto *optional;
};

/* ---- Reading ---- */

/* What a message holds: see proto_table.c. */
typedef struct ingot_proto_message ingot_proto_message;
extern const ingot_proto_message ingot_proto_model, ingot_proto_tensor, ingot_proto_sparse, ingot_proto_sequence,
    ingot_proto_map, ingot_proto_optional;

/* Reads the message in data into *result, a struct of its type that holds zeros. Arrays come from arena and count against
 * budget. INGOT_INVALID_MODEL with the byte, the message and the field; INGOT_OUT_OF_MEMORY. */
ingot_status ingot_proto_read(const ingot_proto_message *message, ingot_span data, ingot_arena *arena,
                              ingot_budget *budget, void *result, ingot_error *error);

/* Copies numbers->count numbers out. Which of the three is right follows from the field's type in the standard. Integers
 * become width bytes each (1, 2, 4 or 8): the low ones. */
ingot_status ingot_proto_get_integers(const ingot_proto_numbers *numbers, size_t width, void *values,
                                      ingot_error *error);
ingot_status ingot_proto_get_floats(const ingot_proto_numbers *numbers, float *values, ingot_error *error);
ingot_status ingot_proto_get_doubles(const ingot_proto_numbers *numbers, double *values, ingot_error *error);

/* Whether text is exactly name. */
bool ingot_span_is(ingot_span text, const char *name);
bool ingot_span_equal(ingot_span a, ingot_span b);

/* For printf's %.*s: at most 200 bytes of the text, so that a name cannot fill a message. */
#define INGOT_SPAN_ARG(text) (int)((text).size < 200 ? (text).size : 200), ((text).data != NULL ? (text).data : "")

#endif
