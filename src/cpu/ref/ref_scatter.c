/* Reference kernels of ScatterElements and ScatterND. Updates are taken in order, so that results do not vary. */
#include "ops/scatter.h"

#include "cpu/ref/ref.h"
#include "cpu/ref/ref_index.h"

/* NaN wins over all else. */
#define MAXIMUM(a, b) ((b) > (a) || (b) != (b) ? (b) : (a))
#define MINIMUM(a, b) ((b) < (a) || (b) != (b) ? (b) : (a))

/* y[i] = y[i] op u[i] for count elements; integers wrap. */
#define DEFINE_REDUCE(element, type, wide)                                                         \
    static void reduce_##type(int reduction, type *y, const type *u, size_t count)                 \
    {                                                                                              \
        for (size_t i = 0; i < count; i++)                                                         \
            if (reduction == INGOT_SCATTER_ADD)                                                    \
                y[i] = (type)((wide)y[i] + (wide)u[i]);                                            \
            else if (reduction == INGOT_SCATTER_MUL)                                               \
                y[i] = (type)((wide)y[i] * (wide)u[i]);                                            \
            else                                                                                   \
                y[i] = reduction == INGOT_SCATTER_MAX ? MAXIMUM(y[i], u[i]) : MINIMUM(y[i], u[i]); \
    }
INGOT_NATIVE_NUMBERS(DEFINE_REDUCE)

/* The types that C lacks: computed in float, rounded after each step. For bool, add is or, and mul is and. */
static void reduce_narrow(int reduction, ingot_element element, void *y, size_t y_index, const void *u, size_t u_index,
                          size_t count)
{
    for (size_t i = 0; i < count; i++) {
        double a = ingot_load_double(element, y, y_index + i), b = ingot_load_double(element, u, u_index + i);
        double result = reduction == INGOT_SCATTER_ADD   ? a + b
                        : reduction == INGOT_SCATTER_MUL ? a * b
                        : reduction == INGOT_SCATTER_MAX ? MAXIMUM(a, b)
                                                         : MINIMUM(a, b);
        if (element == INGOT_BOOL)
            result = result != 0;
        ingot_store_double(element, y, y_index + i, result);
    }
}

/* Writes or reduces count elements that lie side by side. */
static ingot_status put(const ingot_kernel_call *call, size_t to, size_t from, size_t count)
{
    const ingot_scatter_params *params = call->params;
    ingot_value *y = call->outputs[0];
    const ingot_value *updates = call->inputs[2];
    if (params->reduction == INGOT_SCATTER_NONE)
        return ingot_ref_copy_run(call, y, to, updates, from, count);
    switch (y->element) {
#define REDUCE(element, type, wide)                                                                        \
    case element:                                                                                          \
        reduce_##type(params->reduction, (type *)y->data + to, (const type *)updates->data + from, count); \
        break;
        INGOT_NATIVE_NUMBERS(REDUCE)
    default:
        reduce_narrow(params->reduction, y->element, y->data, to, updates->data, from, count);
    }
    return INGOT_OK;
}

ingot_status ingot_ref_scatter_elements(const ingot_kernel_call *call)
{
    const ingot_scatter_params *params = call->params;
    const ingot_value *x = call->inputs[0];
    int axis = ingot_axis(params->axis, x->rank);
    int64_t stride;
    ingot_walk walk;
    INGOT_TRY(ingot_ref_copy_all(call, call->outputs[0], x));
    ingot_ref_index_walk(call, axis, &walk, &stride);
    for (bool more = ingot_walk_begin(&walk); more; more = ingot_walk_next(&walk)) {
        for (size_t i = 0; i < walk.run; i++) {
            size_t at = (size_t)(walk.offset[0] + (int64_t)i * walk.step[0]), index;
            INGOT_TRY(ingot_ref_index(call, at, axis, x->dims[axis], &index));
            int64_t to = walk.offset[1] + (int64_t)i * walk.step[1] + (int64_t)index * stride;
            INGOT_TRY(put(call, (size_t)to, at, 1));
        }
    }
    return INGOT_OK;
}

ingot_status ingot_ref_scatter_nd(const ingot_kernel_call *call)
{
    const ingot_value *x = call->inputs[0], *indices = call->inputs[1];
    int depth = (int)indices->dims[indices->rank - 1];
    size_t tuples = ingot_dims_product(indices->dims, 0, indices->rank - 1);
    size_t inner = ingot_dims_product(x->dims, depth, x->rank);
    INGOT_TRY(ingot_ref_copy_all(call, call->outputs[0], x));
    for (size_t i = 0; i < tuples; i++) {
        size_t slice;
        INGOT_TRY(ingot_ref_index_tuple(call, i, 0, depth, &slice));
        INGOT_TRY(put(call, slice * inner, i * inner, inner));
    }
    return INGOT_OK;
}
