/* Sparse tensors: values and where they stand in a tensor of zeros. */
#include <string.h>

#include "base/number.h"

/* The shape of the dense tensor, and its element count; the sizes of values and indices against it. */
static ingot_status check_shapes(const ingot_value *values, const ingot_value *indices, int rank, const int64_t *dims,
                                 ingot_status fault, ingot_error *error)
{
    char text[256];
    size_t count;
    if (!ingot_count_elements(rank, dims, &count))
        return ingot_fail(error, fault, "the shape %s is too large",
                          ingot_dims_describe(rank, dims, text, sizeof text));
    if (values->rank != 1)
        return ingot_fail(error, fault, "values have %d dimensions; 1 is needed", values->rank);
    if (indices->element != INGOT_INT64)
        return ingot_fail(error, fault, "indices are of type %s; int64 is needed",
                          ingot_element_name(indices->element));
    bool linear = indices->rank == 1;
    bool tuples = indices->rank == 2 && indices->dims[1] == rank;
    if ((!linear && !tuples) || indices->dims[0] != values->dims[0])
        return ingot_fail(error, fault, "indices have shape %s; [%lld] or [%lld,%d] is needed for as many values",
                          ingot_dims_describe(indices->rank, indices->dims, text, sizeof text),
                          (long long)values->dims[0], (long long)values->dims[0], rank);
    return INGOT_OK;
}

bool ingot_sparse_place(const ingot_value *indices, size_t i, int rank, const int64_t *dims, size_t *result)
{
    const int64_t *data = indices->data;
    size_t count = 0;
    if (indices->rank == 1) {
        *result = (size_t)data[i];
        return data[i] >= 0 && ingot_count_elements(rank, dims, &count) && (uint64_t)data[i] < count;
    }
    size_t place = 0;
    for (int axis = 0; axis < rank; axis++) {
        int64_t index = data[i * (size_t)rank + (size_t)axis];
        if (index < 0 || index >= dims[axis])
            return false;
        place = place * (size_t)dims[axis] + (size_t)index; /* stays below the element count, which was checked */
    }
    *result = place;
    return true;
}

static ingot_status check_indices(const ingot_value *indices, int rank, const int64_t *dims, ingot_status fault,
                                  ingot_error *error)
{
    char text[256];
    size_t previous = 0;
    for (size_t i = 0; i < (size_t)indices->dims[0]; i++) {
        size_t place;
        if (!ingot_sparse_place(indices, i, rank, dims, &place))
            return ingot_fail(error, fault, "index number %zu lies outside the shape %s", i,
                              ingot_dims_describe(rank, dims, text, sizeof text));
        if (i > 0 && place <= previous)
            return ingot_fail(error, fault,
                              "index number %zu does not lie behind the one before it; indices must ascend", i);
        previous = place;
    }
    return INGOT_OK;
}

ingot_status ingot_sparse_check(const ingot_value *values, const ingot_value *indices, int rank, const int64_t *dims,
                                ingot_status fault, ingot_error *error)
{
    INGOT_TRY(check_shapes(values, indices, rank, dims, fault, error));
    return check_indices(indices, rank, dims, fault, error);
}

/* ---- Public functions ---- */

static ingot_status check_parts(const ingot_value *values, const ingot_value *indices, int rank, const int64_t *dims,
                                ingot_error *error)
{
    if (!values || !indices || values->kind != INGOT_KIND_TENSOR || indices->kind != INGOT_KIND_TENSOR)
        return ingot_fail(error, INGOT_INVALID_ARGUMENT, "a sparse tensor needs two tensors: values and indices");
    if (values == indices)
        return ingot_fail(error, INGOT_INVALID_ARGUMENT, "one value was given as two items of the same value");
    if (rank < 1 || rank > INGOT_MAX_RANK || !dims)
        return ingot_fail(error, INGOT_INVALID_ARGUMENT, "a sparse tensor of rank %d; the rank must be 1 to %d", rank,
                          INGOT_MAX_RANK);
    for (int i = 0; i < rank; i++)
        if (dims[i] < 0)
            return ingot_fail(error, INGOT_INVALID_ARGUMENT, "size %d of a sparse tensor is negative", i);
    return ingot_sparse_check(values, indices, rank, dims, INGOT_INVALID_ARGUMENT, error);
}

static ingot_status fill_sparse(ingot_value *v, int rank, const int64_t *dims, ingot_value *values,
                                ingot_value *indices, ingot_error *error)
{
    INGOT_TRY(check_parts(values, indices, rank, dims, error));
    INGOT_TRY(ingot_value_set_list(v, INGOT_KIND_SPARSE, values->element, error));
    INGOT_TRY(ingot_grow(&v->items, &v->item_capacity, 2, sizeof *v->items, error));
    v->items[0] = values;
    v->items[1] = indices;
    v->item_count = 2;
    v->rank = rank;
    memcpy(v->dims, dims, (size_t)rank * sizeof *dims);
    return INGOT_OK;
}

ingot_status ingot_value_create_sparse(int rank, const int64_t *dims, ingot_value *values, ingot_value *indices,
                                       ingot_value **value, ingot_error *error)
{
    if (!value)
        return ingot_fail(error, INGOT_INVALID_ARGUMENT,
                          "ingot_value_create_sparse: no place for the value was given (NULL)");
    *value = NULL;
    ingot_value *created = ingot_malloc(sizeof *created);
    if (!created)
        return ingot_fail_memory(error, sizeof *created, "a value");
    ingot_value_init(created);
    ingot_status status = fill_sparse(created, rank, dims, values, indices, error);
    if (status == INGOT_OK)
        *value = created;
    else
        ingot_value_release(created);
    return status;
}

static const ingot_value *part(const ingot_value *sparse, size_t index)
{
    return sparse && sparse->kind == INGOT_KIND_SPARSE && sparse->item_count == 2 ? sparse->items[index] : NULL;
}

const ingot_value *ingot_value_sparse_values(const ingot_value *sparse)
{
    return part(sparse, 0);
}

const ingot_value *ingot_value_sparse_indices(const ingot_value *sparse)
{
    return part(sparse, 1);
}
