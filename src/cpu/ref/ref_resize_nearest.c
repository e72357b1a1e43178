/* Reference kernel of Resize and Upsample to the nearest element: it moves elements, so it takes every type. */
#include "cpu/ref/ref_move.h"
#include "cpu/ref/ref_resize.h"

#define GATHER(type)                            \
    for (size_t i = 0; i < count; i++)          \
        if (sources[i] != INGOT_RESIZE_OUTSIDE) \
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
            if (sources[i] != INGOT_RESIZE_OUTSIDE)
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

ingot_status ingot_ref_resize_nearest(const ingot_kernel_call *call, const ingot_resize_map *axes)
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
    for (int i = 0; i <= last; memory += axes[i++].out) {
        tables[i] = memory;
        for (int64_t k = 0; k < axes[i].out; k++)
            tables[i][k] = ingot_resize_nearest(params, &axes[i], k);
    }
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
            outside |= tables[i][index[i]] == INGOT_RESIZE_OUTSIDE;
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
