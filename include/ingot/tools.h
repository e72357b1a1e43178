/* Ingot's tools: what the command line is built on, beyond running models. */
#ifndef INGOT_TOOLS_H
#define INGOT_TOOLS_H

#include "ingot/ingot.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reads a value from serialized ONNX: a TensorProto, SparseTensorProto, SequenceProto, MapProto or OptionalProto, as
 * type->kind says (type NULL: a TensorProto). The value owns its memory. Data in other files is refused. */
INGOT_API ingot_status ingot_value_from_proto(const void *data, size_t size, const ingot_type_info *type,
                                              ingot_value **value, ingot_error *error);

/* Serializes a value as ONNX does, name (may be NULL) in the message's name field. *data is freed by ingot_memory_free. */
INGOT_API ingot_status ingot_value_to_proto(const ingot_value *value, const char *name, void **data, size_t *size,
                                            ingot_error *error);

/* Frees memory that a function of this header or ingot.h gave to the caller. NULL is fine. */
INGOT_API void ingot_memory_free(void *memory);

/* The processor features in use, such as "avx2 avx512 vnni bf16", after INGOT_CPU. A constant string. */
INGOT_API const char *ingot_cpu_description(void);

#ifdef __cplusplus
}
#endif

#endif
