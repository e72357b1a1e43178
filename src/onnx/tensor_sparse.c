#include <string.h>

#include "base/number.h"
#include "onnx/tensor.h"

ingot_status ingot_tensor_read_sparse_parts(const ingot_sparse_proto *proto, const ingot_tensor_source *source,
                                            ingot_value *values, ingot_value *indices, int *rank, int64_t *dims,
                                            ingot_error *error)
{
    if (proto->values == NULL || proto->indices == NULL)
        return ingot_fail(error, INGOT_INVALID_MODEL, "a sparse tensor has no %s",
                          proto->values == NULL ? "values" : "indices");
    INGOT_TRY(ingot_tensor_read(proto->values, source, values, error));
    INGOT_TRY(ingot_tensor_read(proto->indices, source, indices, error));
    INGOT_TRY(ingot_dims_read(&proto->dims, rank, dims, error));
    return ingot_sparse_check(values, indices, *rank, dims, INGOT_INVALID_MODEL, error);
}

/* Puts values at their places of a tensor of zeros or empty strings. */
static ingot_status scatter(const ingot_value *values, const ingot_value *indices, ingot_value *dense,
                            ingot_error *error)
{
    for (size_t i = 0; i < (size_t)values->dims[0]; i++) {
        size_t place = 0;
        ingot_sparse_place(indices, i, dense->rank, dense->dims, &place);
        if (values->element != INGOT_STRING) {
            ingot_copy_elements(ingot_element_bits(values->element), dense->data, place, values->data, i, 1);
            continue;
        }
        const ingot_string *string = (const ingot_string *)values->data + i;
        INGOT_TRY(ingot_value_set_string(dense, place, values->strings + string->offset, string->length, error));
    }
    return INGOT_OK;
}

static ingot_status make_dense(const ingot_value *values, const ingot_value *indices, int rank, const int64_t *dims,
                               const ingot_tensor_source *source, ingot_value *dense, ingot_error *error)
{
    char text[256];
    size_t bytes;
    if (!ingot_tensor_bytes(values->element, rank, dims, &bytes))
        return ingot_fail(error, INGOT_INVALID_MODEL, "the shape %s is too large",
                          ingot_dims_describe(rank, dims, text, sizeof text));
    INGOT_TRY(ingot_budget_take(source->budget, bytes, "a sparse tensor made dense", error));
    INGOT_TRY(ingot_value_set_tensor(dense, values->element, rank, dims, error));
    if (values->element != INGOT_STRING && bytes > 0)
        memset(dense->data, 0, bytes);
    return scatter(values, indices, dense, error);
}

ingot_status ingot_tensor_read_sparse(const ingot_sparse_proto *proto, const ingot_tensor_source *source,
                                      ingot_value *value, ingot_error *error)
{
    ingot_error unread = {0};
    if (error == NULL)
        error = &unread;
    ingot_value values, indices;
    ingot_value_init(&values);
    ingot_value_init(&indices);
    int rank = 0;
    int64_t dims[INGOT_MAX_RANK];
    ingot_status status = ingot_tensor_read_sparse_parts(proto, source, &values, &indices, &rank, dims, error);
    if (status == INGOT_OK)
        status = make_dense(&values, &indices, rank, dims, source, value, error);
    ingot_value_clear(&values);
    ingot_value_clear(&indices);
    if (status != INGOT_OK && proto->values != NULL)
        return ingot_fail_at(error, "sparse tensor '%.*s'", INGOT_SPAN_ARG(proto->values->name));
    return status;
}
