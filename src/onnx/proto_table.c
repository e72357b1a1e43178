/* The messages of onnx.proto and onnx-data.proto: one line a field. Numbers and types are the standard's. */
#include "onnx/proto_table.h"

#include <stddef.h>

#define FIELD(number, kind, type, member)                                 \
    {                                                                     \
        number, INGOT_PROTO_##kind, offsetof(type, member), #member, NULL \
    }
#define CHILD(number, kind, type, member, child)                            \
    {                                                                       \
        number, INGOT_PROTO_##kind, offsetof(type, member), #member, &child \
    }
#define MESSAGE(text, type, min_bytes, table)                                    \
    {                                                                            \
        text, sizeof(type), min_bytes, table, sizeof(table) / sizeof((table)[0]) \
    }

static const ingot_proto_message entry_message, opset_message, dimension_message, shape_message, tensor_type_message,
    sequence_type_message, map_type_message, opaque_message, type_message, value_info_message, attribute_message,
    node_message, function_message;

/* clang-format off */
static const ingot_proto_field entry_fields[] = {
    FIELD(1, TEXT, ingot_entry_proto, key),
    FIELD(2, TEXT, ingot_entry_proto, value),
};
static const ingot_proto_message entry_message =
    MESSAGE("StringStringEntryProto", ingot_entry_proto, 2, entry_fields);

static const ingot_proto_field opset_fields[] = {
    FIELD(1, TEXT, ingot_opset_proto, domain),
    FIELD(2, INTEGER, ingot_opset_proto, version),
};
static const ingot_proto_message opset_message = MESSAGE("OperatorSetIdProto", ingot_opset_proto, 2, opset_fields);

static const ingot_proto_field tensor_fields[] = {
    FIELD(1, INTEGERS, ingot_tensor_proto, dims),
    FIELD(2, INTEGER, ingot_tensor_proto, data_type),
    FIELD(3, TEXT, ingot_tensor_proto, segment),
    FIELD(4, FLOATS, ingot_tensor_proto, float_data),
    FIELD(5, INTEGERS, ingot_tensor_proto, int32_data),
    FIELD(6, TEXTS, ingot_tensor_proto, string_data),
    FIELD(7, INTEGERS, ingot_tensor_proto, int64_data),
    FIELD(8, TEXT, ingot_tensor_proto, name),
    FIELD(9, TEXT, ingot_tensor_proto, raw_data),
    FIELD(10, DOUBLES, ingot_tensor_proto, double_data),
    FIELD(11, INTEGERS, ingot_tensor_proto, uint64_data),
    CHILD(13, MESSAGES, ingot_tensor_proto, external_data, entry_message),
    FIELD(14, INTEGER, ingot_tensor_proto, data_location),
};
const ingot_proto_message ingot_proto_tensor = MESSAGE("TensorProto", ingot_tensor_proto, 2, tensor_fields);

static const ingot_proto_field sparse_fields[] = {
    CHILD(1, MESSAGE, ingot_sparse_proto, values, ingot_proto_tensor),
    CHILD(2, MESSAGE, ingot_sparse_proto, indices, ingot_proto_tensor),
    FIELD(3, INTEGERS, ingot_sparse_proto, dims),
};
const ingot_proto_message ingot_proto_sparse = MESSAGE("SparseTensorProto", ingot_sparse_proto, 4, sparse_fields);

/* INGOT_DIMENSION_HAS_VALUE is the place of dim_value in this table. */
static const ingot_proto_field dimension_fields[] = {
    FIELD(1, INTEGER, ingot_dimension_proto, dim_value),
    FIELD(2, TEXT, ingot_dimension_proto, dim_param),
};
static const ingot_proto_message dimension_message =
    MESSAGE("TensorShapeProto.Dimension", ingot_dimension_proto, 0, dimension_fields);

static const ingot_proto_field shape_fields[] = {
    CHILD(1, MESSAGES, ingot_shape_proto, dims, dimension_message),
};
static const ingot_proto_message shape_message = MESSAGE("TensorShapeProto", ingot_shape_proto, 0, shape_fields);

static const ingot_proto_field tensor_type_fields[] = {
    FIELD(1, INTEGER, ingot_tensor_type_proto, elem_type),
    CHILD(2, MESSAGE, ingot_tensor_type_proto, shape, shape_message),
};
static const ingot_proto_message tensor_type_message =
    MESSAGE("TypeProto.Tensor", ingot_tensor_type_proto, 0, tensor_type_fields);

static const ingot_proto_field sequence_type_fields[] = {
    CHILD(1, MESSAGE, ingot_item_type_proto, item, type_message),
};
static const ingot_proto_message sequence_type_message =
    MESSAGE("TypeProto.Sequence or Optional", ingot_item_type_proto, 0, sequence_type_fields);

static const ingot_proto_field map_type_fields[] = {
    FIELD(1, INTEGER, ingot_item_type_proto, key_type),
    CHILD(2, MESSAGE, ingot_item_type_proto, item, type_message),
};
static const ingot_proto_message map_type_message =
    MESSAGE("TypeProto.Map", ingot_item_type_proto, 0, map_type_fields);

static const ingot_proto_field opaque_fields[] = {
    FIELD(1, TEXT, ingot_opaque_proto, domain),
    FIELD(2, TEXT, ingot_opaque_proto, name),
};
static const ingot_proto_message opaque_message = MESSAGE("TypeProto.Opaque", ingot_opaque_proto, 0, opaque_fields);

static const ingot_proto_field type_fields[] = {
    CHILD(1, MESSAGE, ingot_type_proto, tensor, tensor_type_message),
    CHILD(4, MESSAGE, ingot_type_proto, sequence, sequence_type_message),
    CHILD(5, MESSAGE, ingot_type_proto, map, map_type_message),
    CHILD(7, MESSAGE, ingot_type_proto, opaque, opaque_message),
    CHILD(8, MESSAGE, ingot_type_proto, sparse_tensor, tensor_type_message),
    CHILD(9, MESSAGE, ingot_type_proto, optional, sequence_type_message),
};
static const ingot_proto_message type_message = MESSAGE("TypeProto", ingot_type_proto, 0, type_fields);

static const ingot_proto_field value_info_fields[] = {
    FIELD(1, TEXT, ingot_value_info_proto, name),
    CHILD(2, MESSAGE, ingot_value_info_proto, type, type_message),
};
static const ingot_proto_message value_info_message =
    MESSAGE("ValueInfoProto", ingot_value_info_proto, 2, value_info_fields);

static const ingot_proto_field attribute_fields[] = {
    FIELD(1, TEXT, ingot_attribute_proto, name),
    FIELD(2, FLOAT, ingot_attribute_proto, f),
    FIELD(3, INTEGER, ingot_attribute_proto, i),
    FIELD(4, TEXT, ingot_attribute_proto, s),
    CHILD(5, MESSAGE, ingot_attribute_proto, t, ingot_proto_tensor),
    CHILD(6, MESSAGE, ingot_attribute_proto, g, ingot_proto_graph),
    FIELD(7, FLOATS, ingot_attribute_proto, floats),
    FIELD(8, INTEGERS, ingot_attribute_proto, ints),
    FIELD(9, TEXTS, ingot_attribute_proto, strings),
    CHILD(10, MESSAGES, ingot_attribute_proto, tensors, ingot_proto_tensor),
    CHILD(11, MESSAGES, ingot_attribute_proto, graphs, ingot_proto_graph),
    CHILD(14, MESSAGE, ingot_attribute_proto, tp, type_message),
    CHILD(15, MESSAGES, ingot_attribute_proto, type_protos, type_message),
    FIELD(20, INTEGER, ingot_attribute_proto, type),
    FIELD(21, TEXT, ingot_attribute_proto, ref_attr_name),
    CHILD(22, MESSAGE, ingot_attribute_proto, sparse_tensor, ingot_proto_sparse),
    CHILD(23, MESSAGES, ingot_attribute_proto, sparse_tensors, ingot_proto_sparse),
};
static const ingot_proto_message attribute_message =
    MESSAGE("AttributeProto", ingot_attribute_proto, 3, attribute_fields);

static const ingot_proto_field node_fields[] = {
    FIELD(1, TEXTS, ingot_node_proto, inputs),
    FIELD(2, TEXTS, ingot_node_proto, outputs),
    FIELD(3, TEXT, ingot_node_proto, name),
    FIELD(4, TEXT, ingot_node_proto, op_type),
    CHILD(5, MESSAGES, ingot_node_proto, attributes, attribute_message),
    FIELD(7, TEXT, ingot_node_proto, domain),
    FIELD(8, TEXT, ingot_node_proto, overload),
};
static const ingot_proto_message node_message = MESSAGE("NodeProto", ingot_node_proto, 3, node_fields);

static const ingot_proto_field graph_fields[] = {
    CHILD(1, MESSAGES, ingot_graph_proto, nodes, node_message),
    FIELD(2, TEXT, ingot_graph_proto, name),
    CHILD(5, MESSAGES, ingot_graph_proto, initializers, ingot_proto_tensor),
    FIELD(10, TEXT, ingot_graph_proto, doc_string),
    CHILD(11, MESSAGES, ingot_graph_proto, inputs, value_info_message),
    CHILD(12, MESSAGES, ingot_graph_proto, outputs, value_info_message),
    CHILD(13, MESSAGES, ingot_graph_proto, value_infos, value_info_message),
    CHILD(15, MESSAGES, ingot_graph_proto, sparse_initializers, ingot_proto_sparse),
};
const ingot_proto_message ingot_proto_graph = MESSAGE("GraphProto", ingot_graph_proto, 0, graph_fields);

static const ingot_proto_field function_fields[] = {
    FIELD(1, TEXT, ingot_function_proto, name),
    FIELD(4, TEXTS, ingot_function_proto, inputs),
    FIELD(5, TEXTS, ingot_function_proto, outputs),
    FIELD(6, TEXTS, ingot_function_proto, attributes),
    CHILD(7, MESSAGES, ingot_function_proto, nodes, node_message),
    CHILD(9, MESSAGES, ingot_function_proto, opsets, opset_message),
    FIELD(10, TEXT, ingot_function_proto, domain),
    CHILD(11, MESSAGES, ingot_function_proto, default_attributes, attribute_message),
    FIELD(13, TEXT, ingot_function_proto, overload),
};
static const ingot_proto_message function_message = MESSAGE("FunctionProto", ingot_function_proto, 3, function_fields);

static const ingot_proto_field model_fields[] = {
    FIELD(1, INTEGER, ingot_model_proto, ir_version),
    FIELD(2, TEXT, ingot_model_proto, producer_name),
    FIELD(3, TEXT, ingot_model_proto, producer_version),
    FIELD(4, TEXT, ingot_model_proto, domain),
    FIELD(5, INTEGER, ingot_model_proto, model_version),
    FIELD(6, TEXT, ingot_model_proto, doc_string),
    CHILD(7, MESSAGE, ingot_model_proto, graph, ingot_proto_graph),
    CHILD(8, MESSAGES, ingot_model_proto, opsets, opset_message),
    CHILD(14, MESSAGES, ingot_model_proto, metadata, entry_message),
    CHILD(25, MESSAGES, ingot_model_proto, functions, function_message),
};
const ingot_proto_message ingot_proto_model = MESSAGE("ModelProto", ingot_model_proto, 0, model_fields);

static const ingot_proto_field sequence_fields[] = {
    FIELD(1, TEXT, ingot_sequence_proto, name),
    FIELD(2, INTEGER, ingot_sequence_proto, elem_type),
    CHILD(3, MESSAGES, ingot_sequence_proto, tensors, ingot_proto_tensor),
    CHILD(4, MESSAGES, ingot_sequence_proto, sparses, ingot_proto_sparse),
    CHILD(5, MESSAGES, ingot_sequence_proto, sequences, ingot_proto_sequence),
    CHILD(6, MESSAGES, ingot_sequence_proto, maps, ingot_proto_map),
    CHILD(7, MESSAGES, ingot_sequence_proto, optionals, ingot_proto_optional),
};
const ingot_proto_message ingot_proto_sequence = MESSAGE("SequenceProto", ingot_sequence_proto, 0, sequence_fields);

static const ingot_proto_field map_fields[] = {
    FIELD(1, TEXT, ingot_map_proto, name),
    FIELD(2, INTEGER, ingot_map_proto, key_type),
    FIELD(3, INTEGERS, ingot_map_proto, keys),
    FIELD(4, TEXTS, ingot_map_proto, string_keys),
    CHILD(5, MESSAGE, ingot_map_proto, values, ingot_proto_sequence),
};
const ingot_proto_message ingot_proto_map = MESSAGE("MapProto", ingot_map_proto, 0, map_fields);

static const ingot_proto_field optional_fields[] = {
    FIELD(1, TEXT, ingot_optional_proto, name),
    FIELD(2, INTEGER, ingot_optional_proto, elem_type),
    CHILD(3, MESSAGE, ingot_optional_proto, tensor, ingot_proto_tensor),
    CHILD(4, MESSAGE, ingot_optional_proto, sparse, ingot_proto_sparse),
    CHILD(5, MESSAGE, ingot_optional_proto, sequence, ingot_proto_sequence),
    CHILD(6, MESSAGE, ingot_optional_proto, map, ingot_proto_map),
    CHILD(7, MESSAGE, ingot_optional_proto, optional, ingot_proto_optional),
};
const ingot_proto_message ingot_proto_optional = MESSAGE("OptionalProto", ingot_optional_proto, 0, optional_fields);
/* clang-format on */
