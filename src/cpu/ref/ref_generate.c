/* Reference kernels of ConstantOfShape, Range, EyeLike, OneHot and the window functions. */
#include "ops/generate.h"

#include <math.h>

#include "cpu/ref/ref.h"
#include "cpu/ref/ref_move.h"

ingot_status ingot_ref_constant_of_shape(const ingot_kernel_call *call)
{
    const ingot_constant_of_shape_params *params = call->params;
    ingot_value *y = call->outputs[0];
    if (params->value)
        return ingot_ref_fill(call, y, 0, ingot_ref_count(y), params->value, 0);
    ingot_ref_clear(y);
    return INGOT_OK;
}

ingot_status ingot_ref_range(const ingot_kernel_call *call)
{
    const ingot_value *start = call->inputs[0], *delta = call->inputs[2];
    ingot_value *y = call->outputs[0];
    size_t count = ingot_ref_count(y);
    if (ingot_element_is_float(y->element)) {
        double first = ingot_load_double(start->element, start->data, 0);
        double step = ingot_load_double(delta->element, delta->data, 0);
        for (size_t i = 0; i < count; i++)
            ingot_store_double(y->element, y->data, i, first + (double)i * step);
        return INGOT_OK;
    }
    uint64_t value = (uint64_t)ingot_ref_integer(start, 0), step = (uint64_t)ingot_ref_integer(delta, 0);
    for (size_t i = 0; i < count; i++, value += step)
        ingot_store_i64(y->element, y->data, i, (int64_t)value);
    return INGOT_OK;
}

ingot_status ingot_ref_eye_like(const ingot_kernel_call *call)
{
    const ingot_eye_like_params *params = call->params;
    ingot_value *y = call->outputs[0];
    int64_t rows = y->dims[0], columns = y->dims[1];
    ingot_ref_clear(y);
    for (int64_t i = 0; i < rows; i++)
        if (params->k >= -i && params->k < columns - i)
            ingot_store_double(y->element, y->data, (size_t)(i * columns + i + params->k), 1);
    return INGOT_OK;
}

/* Element i of the indices as a place along the new axis; -1 where it is outside. */
static int64_t hot_place(const ingot_value *indices, size_t i, int64_t depth, bool from_end)
{
    int64_t index;
    if (ingot_element_is_float(indices->element)) {
        double number = ingot_load_double(indices->element, indices->data, i);
        if (!(fabs(number) < 0x1p62))
            return -1;
        index = (int64_t)number;
    } else {
        index = ingot_ref_integer(indices, i);
    }
    index += index < 0 && from_end ? depth : 0;
    return index < depth ? index : -1;
}

ingot_status ingot_ref_one_hot(const ingot_kernel_call *call)
{
    const ingot_hot_params *params = call->params;
    const ingot_value *indices = call->inputs[0], *values = call->inputs[2];
    ingot_value *y = call->outputs[0];
    ingot_split split = ingot_split_at(y->rank, y->dims, ingot_axis(params->axis, y->rank));
    INGOT_TRY(ingot_ref_fill(call, y, 0, ingot_ref_count(y), values, 0));
    for (size_t outer = 0; outer < split.outer; outer++) {
        for (size_t inner = 0; inner < split.inner; inner++) {
            int64_t place = hot_place(indices, outer * split.inner + inner, (int64_t)split.size, params->from_end);
            if (place >= 0)
                INGOT_TRY(ingot_ref_copy_run(call, y, (outer * split.size + (size_t)place) * split.inner + inner,
                                             values, 1, 1));
        }
    }
    return INGOT_OK;
}

/* Weights of the cosines of 0, 1 and 2 turns. */
static const double window_weights[][3] = {
    [INGOT_WINDOW_BLACKMAN] = {0.42, -0.5, 0.08},
    [INGOT_WINDOW_HAMMING] = {25.0 / 46, -21.0 / 46, 0},
    [INGOT_WINDOW_HANN] = {0.5, -0.5, 0},
};

ingot_status ingot_ref_window_function(const ingot_kernel_call *call)
{
    const ingot_window_function_params *params = call->params;
    const double *weights = window_weights[params->function];
    const double turn = 6.283185307179586;
    ingot_value *y = call->outputs[0];
    size_t size = ingot_ref_count(y);
    double length = params->periodic ? (double)size : (double)size - 1;
    for (size_t i = 0; i < size; i++) {
        double angle = length > 0 ? turn * (double)i / length : turn / 2;
        ingot_store_double(y->element, y->data, i, weights[0] + weights[1] * cos(angle) + weights[2] * cos(2 * angle));
    }
    return INGOT_OK;
}
