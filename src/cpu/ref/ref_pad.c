/* Reference kernel of Pad. */
#include "ops/pad.h"

#include <math.h>

#include "cpu/ref/ref.h"
#include "cpu/ref/ref_move.h"

/* Per dimension: element i of the output is element i - begin of the input, as far as that is in first ... end - 1, the
 * elements that negative pads leave; the others are made by the mode. */
typedef struct padding {
    int64_t begin[INGOT_MAX_RANK], first[INGOT_MAX_RANK], end[INGOT_MAX_RANK];
} padding;

static void read_padding(const ingot_kernel_call *call, padding *p)
{
    const ingot_pad_params *params = call->params;
    const ingot_value *x = call->inputs[0];
    size_t count = ingot_kernel_has(call, 3) ? ingot_ref_count(call->inputs[3]) : (size_t)x->rank;
    for (int i = 0; i < x->rank; i++) {
        p->begin[i] = p->first[i] = 0;
        p->end[i] = x->dims[i];
    }
    for (size_t i = 0; i < count; i++) {
        int axis = ingot_kernel_has(call, 3) ? ingot_axis(ingot_ref_integer(call->inputs[3], i), x->rank) : (int)i;
        int64_t begin = params->pads.given ? params->pads.data[i] : ingot_ref_integer(call->inputs[1], i);
        int64_t end = params->pads.given ? params->pads.data[count + i] : ingot_ref_integer(call->inputs[1], count + i);
        p->begin[axis] = begin;
        p->first[axis] = begin < 0 ? -begin : 0;
        p->end[axis] += end < 0 ? end : 0;
    }
}

static ingot_status fill_constant(const ingot_kernel_call *call, ingot_value *y)
{
    const ingot_pad_params *params = call->params;
    uint64_t bits[2] = {0};
    ingot_value value;
    if (ingot_kernel_has(call, 2) && ingot_ref_count(call->inputs[2]) > 0)
        return ingot_ref_fill(call, y, 0, ingot_ref_count(y), call->inputs[2], 0);
    if (params->value == 0 && !signbit(params->value)) {
        ingot_ref_clear(y);
        return INGOT_OK;
    }
    ingot_value_init(&value);
    ingot_value_set_view(&value, y->element, 0, NULL, bits, sizeof bits);
    ingot_store_double(y->element, bits, 0, params->value);
    return ingot_ref_fill(call, y, 0, ingot_ref_count(y), &value, 0);
}

static ingot_status pad_constant(const ingot_kernel_call *call, const padding *p)
{
    const ingot_value *x = call->inputs[0];
    ingot_value *y = call->outputs[0];
    int64_t sizes[INGOT_MAX_RANK], from[INGOT_MAX_RANK], to[INGOT_MAX_RANK], from_first = 0, to_first = 0;
    INGOT_TRY(fill_constant(call, y));
    ingot_plain_strides(x->rank, x->dims, from);
    ingot_plain_strides(y->rank, y->dims, to);
    for (int i = 0; i < x->rank; i++) {
        sizes[i] = p->end[i] - p->first[i];
        if (sizes[i] <= 0)
            return INGOT_OK;
        from_first += p->first[i] * from[i];
        to_first += (p->first[i] + p->begin[i]) * to[i];
    }
    ingot_walk walk;
    ingot_walk_init_bare(&walk, x->rank, sizes);
    ingot_walk_add_strided(&walk, to, to_first);
    ingot_walk_add_strided(&walk, from, from_first);
    return ingot_ref_copy_walk(call, y, x, &walk);
}

/* The input's element for element i of the output along an axis. */
static int64_t source(int mode, const padding *p, int axis, int64_t i)
{
    int64_t first = p->first[axis], size = p->end[axis] - first, at = i - p->begin[axis] - first;
    if (at >= 0 && at < size)
        return first + at;
    if (mode == INGOT_PAD_EDGE)
        return at < 0 ? first : first + size - 1;
    if (size == 1)
        return first;
    int64_t period = mode == INGOT_PAD_WRAP ? size : 2 * (size - 1);
    at %= period;
    at += at < 0 ? period : 0;
    return first + (at < size ? at : period - at);
}

/* One row along the last axis: its middle lies side by side in the input too. */
static ingot_status pad_row(const ingot_kernel_call *call, const padding *p, size_t to, size_t from)
{
    const ingot_pad_params *params = call->params;
    const ingot_value *x = call->inputs[0];
    ingot_value *y = call->outputs[0];
    int axis = y->rank - 1;
    int64_t first = p->first[axis] + p->begin[axis], end = p->end[axis] + p->begin[axis];
    for (int64_t i = 0; i < y->dims[axis]; i++) {
        size_t at = from + (size_t)source(params->mode, p, axis, i), run = i == first ? (size_t)(end - first) : 1;
        INGOT_TRY(ingot_ref_copy_run(call, y, to + (size_t)i, x, at, run));
        i += (int64_t)run - 1;
    }
    return INGOT_OK;
}

ingot_status ingot_ref_pad(const ingot_kernel_call *call)
{
    const ingot_pad_params *params = call->params;
    const ingot_value *x = call->inputs[0];
    ingot_value *y = call->outputs[0];
    int64_t index[INGOT_MAX_RANK] = {0}, strides[INGOT_MAX_RANK];
    padding p;
    if (ingot_ref_count(y) == 0)
        return INGOT_OK;
    read_padding(call, &p);
    if (params->mode == INGOT_PAD_CONSTANT || y->rank == 0)
        return pad_constant(call, &p);
    ingot_plain_strides(x->rank, x->dims, strides);
    size_t row = (size_t)y->dims[y->rank - 1];
    for (size_t to = 0;; to += row) {
        int64_t from = 0;
        for (int i = 0; i < y->rank - 1; i++)
            from += source(params->mode, &p, i, index[i]) * strides[i];
        INGOT_TRY(pad_row(call, &p, to, (size_t)from));
        int axis = y->rank - 2;
        while (axis >= 0 && ++index[axis] == y->dims[axis])
            index[axis--] = 0;
        if (axis < 0)
            return INGOT_OK;
    }
}
