/* Tensors of a model file as values. */
#ifndef INGOT_ONNX_TENSOR_H
#define INGOT_ONNX_TENSOR_H

#include "base/value.h"
#include "onnx/external.h"
#include "onnx/proto.h"

/* Where tensors may take their bytes from. */
typedef struct ingot_tensor_source {
    ingot_model_files *files; /* for external data; NULL: such tensors are refused */
    ingot_budget *budget;     /* counts the memory that values own; nothing is given back here */
} ingot_tensor_source;

/* Tensors this large are borrowed even where they are not aligned for their type: see ingot_value_is_aligned. */
#define INGOT_UNALIGNED_BYTES 4096

/* Makes value, an empty one, the tensor that proto describes. raw_data and external data are borrowed where they lie, so the
 * file must outlive the value, unless they are small and not aligned for their type; typed fields are converted into memory that the
 * value owns. Sizes are checked against the data that is there before anything is allocated. A failure names the tensor. */
ingot_status ingot_tensor_read(const ingot_tensor_proto *proto, const ingot_tensor_source *source, ingot_value *value,
                               ingot_error *error);

/* The dense tensor of a sparse one, in memory that value owns. Indices must ascend. */
ingot_status ingot_tensor_read_sparse(const ingot_sparse_proto *proto, const ingot_tensor_source *source,
                                      ingot_value *value, ingot_error *error);

/* Reads the two tensors of a sparse one and its shape, everything checked: values [count], indices [count] or
 * [count, rank], ascending and within dims. Both values are empty before, and the caller's to clear, after failure too. */
ingot_status ingot_tensor_read_sparse_parts(const ingot_sparse_proto *proto, const ingot_tensor_source *source,
                                            ingot_value *values, ingot_value *indices, int *rank, int64_t *dims,
                                            ingot_error *error);

/* The element type of that number; refused where it is 0, or none of the standard that Ingot knows. */
ingot_status ingot_element_from_number(int64_t number, ingot_element *element, ingot_error *error);

/* Reads dims (of a tensor or sparse tensor): not negative, at most INGOT_MAX_RANK of them. */
ingot_status ingot_dims_read(const ingot_proto_numbers *numbers, int *rank, int64_t *dims, ingot_error *error);

#endif
