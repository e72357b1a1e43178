/* Reference kernel of Resize and Upsample to the nearest element: it moves elements, so it takes every type. */
#include <math.h>

#include "cpu/ref/ref_move.h"
#include "cpu/ref/ref_resize_axis.h"

#define OUTSIDE (-1) /* in a table of sources: the extrapolation value */

static double rounded(int rounding, double x)
{
    switch (rounding) {
    case INGOT_RESIZE_FLOOR:
        return floor(x);
    case INGOT_RESIZE_CEIL:
        return ceil(x);
    case INGOT_RESIZE_ROUND_PREFER_CEIL:
        return floor(x + 0.5);
    default:
        return ceil(x - 0.5);
    }
}

/* The input's element along an axis for each of the output's. */
static void fill_sources(const ingot_resize_params *params, const ingot_resize_axis *axis, int64_t *sources)
{
    for (int64_t i = 0; i < axis->out; i++) {
        bool outside = false;
        double x =
            axis->same ? (double)i : rounded(params->rounding, ingot_resize_coordinate(params, axis, i, &outside));
        double last = (double)(axis->in - 1);
        sources[i] = outside ? OUTSIDE : !(x > 0) ? 0 : x > last ? axis->in - 1 : (int64_t)x;
    }
}

#define GATHER(type)                   \
    for (size_t i = 0; i < count; i++) \
        if (sources[i] != OUTSIDE)     \
            ((type *)y->data)[to + i] = ((const type *)x->data)[from + (size_t)sources[i]];

/* One row along the last axis that is not the same in both, of runs of inner elements. */
static ingot_status copy_row(const ingot_kernel_call *call, size_t to, size_t from, const int64_t *sources,
                             size_t count, size_t inner)
{
    const ingot_value *x = call->inputs[0];
    ingot_value *y = call->outputs[0];
    size_t bits = ingot_element_bits(x->element);
    if (inner == 1 && bits == 32) {
        GATHER(uint32_t)
    } else if (inner == 1 && bits == 8) {
        GATHER(uint8_t)
    } else if (inner == 1 && bits == 16) {
        GATHER(uint16_t)
    } else {
        for (size_t i = 0; i < count; i++)
            if (sources[i] != OUTSIDE)
                INGOT_TRY(ingot_ref_copy_run(call, y, to + i * inner, x, from + (size_t)sources[i] * inner, inner));
    }
    return INGOT_OK;
}

/* Fills all with the extrapolation value; where something is inside, it is overwritten. */
static void fill_outside(const ingot_kernel_call *call)
{
    const ingot_resize_params *params = call->params;
    ingot_value *y = call->outputs[0];
    bool number = y->element != INGOT_STRING && y->element != INGOT_COMPLEX64 && y->element != INGOT_COMPLEX128;
    size_t count = ingot_ref_count(y);
    ingot_ref_clear(y);
    for (size_t i = 0; number && params->extrapolation_value != 0 && i < count; i++)
        ingot_store_double(y->element, y->data, i, params->extrapolation_value);
}

ingot_status ingot_ref_resize_nearest(const ingot_kernel_call *call, const ingot_resize_axis *axes)
{
    const ingot_resize_params *params = call->params;
    const ingot_value *x = call->inputs[0];
    int64_t strides[INGOT_MAX_RANK], index[INGOT_MAX_RANK] = {0}, *tables[INGOT_MAX_RANK], *memory;
    int last = x->rank - 1;
    size_t total = 1;
    while (last > 0 && axes[last].same)
        last--;
    for (int i = 0; i <= last; i++)
        total += (size_t)axes[i].out;
    INGOT_TRY(ingot_kernel_scratch(call, total * sizeof *memory, (void **)&memory));
    for (int i = 0; i <= last; memory += axes[i++].out)
        fill_sources(params, &axes[i], tables[i] = memory);
    if (params->coordinates == INGOT_RESIZE_TF_CROP_AND_RESIZE)
        fill_outside(call);
    if (x->rank == 0)
        return ingot_ref_copy_run(call, call->outputs[0], 0, x, 0, 1);
    ingot_plain_strides(x->rank, x->dims, strides);
    size_t inner = (size_t)strides[last], count = (size_t)axes[last].out;
    for (size_t to = 0;; to += count * inner) {
        bool outside = false;
        int64_t from = 0;
        for (int i = 0; i < last; i++) {
            outside |= tables[i][index[i]] == OUTSIDE;
            from += tables[i][index[i]] * strides[i];
        }
        if (!outside)
            INGOT_TRY(copy_row(call, to, (size_t)from, tables[last], count, inner));
        int axis = last - 1;
        while (axis >= 0 && ++index[axis] == axes[axis].out)
            index[axis--] = 0;
        if (axis < 0)
            return INGOT_OK;
    }
}
