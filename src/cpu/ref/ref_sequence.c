/* Reference kernels of sequences and optional values. */
#include "ops/sequence.h"

#include "cpu/ref/ref.h"
#include "cpu/ref/ref_move.h"

/* A tensor as output, or a copy of any other value. */
static ingot_status copy_to_output(const ingot_kernel_call *call, const ingot_value *from)
{
    ingot_value *to = call->outputs[0];
    if (from->kind != INGOT_KIND_TENSOR)
        return ingot_value_copy(to, from, call->error);
    INGOT_TRY(ingot_kernel_set_output(call, 0, from->element, from->rank, from->dims));
    return ingot_ref_copy_all(call, to, from);
}

static ingot_status add_copy(const ingot_kernel_call *call, ingot_value *sequence, const ingot_value *tensor)
{
    ingot_value *item;
    INGOT_TRY(ingot_value_add_item(sequence, &item, call->error));
    return ingot_value_copy(item, tensor, call->error);
}

/* Input position as an index below count, or at most count where inserting. */
static ingot_status read_position(const ingot_kernel_call *call, size_t input, size_t count, bool inserting,
                                  size_t *position)
{
    int64_t size = (int64_t)count, value = ingot_ref_integer(call->inputs[input], 0);
    if (value < -size || value > size || (value == size && !inserting))
        return ingot_kernel_fail(call, "position %lld is out of range for a sequence of %zu tensors", (long long)value,
                                 count);
    *position = (size_t)(value < 0 ? value + size : value);
    return INGOT_OK;
}

/* ---- Making and changing sequences ---- */

ingot_status ingot_ref_sequence_empty(const ingot_kernel_call *call)
{
    const ingot_sequence_empty_params *params = call->params;
    return ingot_value_set_list(call->outputs[0], INGOT_KIND_SEQUENCE, params->element, call->error);
}

ingot_status ingot_ref_sequence_construct(const ingot_kernel_call *call)
{
    ingot_value *y = call->outputs[0];
    INGOT_TRY(ingot_value_set_list(y, INGOT_KIND_SEQUENCE, call->inputs[0]->element, call->error));
    for (size_t i = 0; i < call->input_count; i++)
        INGOT_TRY(add_copy(call, y, call->inputs[i]));
    return INGOT_OK;
}

ingot_status ingot_ref_sequence_insert(const ingot_kernel_call *call)
{
    const ingot_value *x = call->inputs[0], *tensor = call->inputs[1];
    ingot_value *y = call->outputs[0];
    size_t position = x->item_count;
    if (x->item_count > 0 && x->items[0]->element != tensor->element)
        return ingot_kernel_fail(call, "a tensor of type %s cannot go into a sequence of tensors of type %s",
                                 ingot_element_name(tensor->element), ingot_element_name(x->items[0]->element));
    if (ingot_kernel_has(call, 2))
        INGOT_TRY(read_position(call, 2, x->item_count, true, &position));
    INGOT_TRY(ingot_value_set_list(y, INGOT_KIND_SEQUENCE, tensor->element, call->error));
    for (size_t i = 0; i <= x->item_count; i++)
        INGOT_TRY(add_copy(call, y, i == position ? tensor : x->items[i - (i > position)]));
    return INGOT_OK;
}

ingot_status ingot_ref_sequence_erase(const ingot_kernel_call *call)
{
    const ingot_value *x = call->inputs[0];
    ingot_value *y = call->outputs[0];
    if (x->item_count == 0)
        return ingot_kernel_fail(call, "the sequence is empty: there is no tensor to take away");
    size_t position = x->item_count - 1;
    if (ingot_kernel_has(call, 1))
        INGOT_TRY(read_position(call, 1, x->item_count, false, &position));
    INGOT_TRY(ingot_value_set_list(y, INGOT_KIND_SEQUENCE, x->element, call->error));
    for (size_t i = 0; i < x->item_count; i++)
        if (i != position)
            INGOT_TRY(add_copy(call, y, x->items[i]));
    return INGOT_OK;
}

/* ---- Reading sequences ---- */

ingot_status ingot_ref_sequence_at(const ingot_kernel_call *call)
{
    size_t position;
    INGOT_TRY(read_position(call, 1, call->inputs[0]->item_count, false, &position));
    return copy_to_output(call, call->inputs[0]->items[position]);
}

ingot_status ingot_ref_sequence_length(const ingot_kernel_call *call)
{
    *(int64_t *)call->outputs[0]->data = (int64_t)call->inputs[0]->item_count;
    return INGOT_OK;
}

/* ---- SplitToSequence ---- */

/* Element index of split, or the one number that it is, as the size of a part where left elements are left. */
static ingot_status part_size(const ingot_kernel_call *call, size_t index, int64_t left, int64_t *size)
{
    const ingot_value *split = ingot_kernel_has(call, 1) ? call->inputs[1] : NULL;
    *size = !split ? 1 : ingot_ref_integer(split, split->rank == 0 ? 0 : index);
    if (*size < 0 || (*size == 0 && split->rank == 0))
        return ingot_kernel_fail(call, "split holds the size %lld", (long long)*size);
    if (*size > left && split && split->rank > 0)
        return ingot_kernel_fail(call, "the sizes of split add up to more than the dimension has");
    if (*size > left)
        *size = left;
    return INGOT_OK;
}

/* Adds size slices from first on along the axis, without that dimension where drop. */
static ingot_status add_part(const ingot_kernel_call *call, int axis, int64_t first, int64_t size, bool drop)
{
    const ingot_value *x = call->inputs[0];
    ingot_split split = ingot_split_at(x->rank, x->dims, axis);
    int64_t dims[INGOT_MAX_RANK];
    ingot_value *item;
    int rank = 0;
    for (int i = 0; i < x->rank; i++)
        if (i != axis || !drop)
            dims[rank++] = i == axis ? size : x->dims[i];
    INGOT_TRY(ingot_value_add_item(call->outputs[0], &item, call->error));
    INGOT_TRY(ingot_value_set_tensor(item, x->element, rank, dims, call->error));
    size_t run = (size_t)size * split.inner;
    for (size_t outer = 0; outer < split.outer; outer++)
        INGOT_TRY(
            ingot_ref_copy_run(call, item, outer * run, x, (outer * split.size + (size_t)first) * split.inner, run));
    return INGOT_OK;
}

ingot_status ingot_ref_split_to_sequence(const ingot_kernel_call *call)
{
    const ingot_split_to_sequence_params *params = call->params;
    const ingot_value *x = call->inputs[0], *split = ingot_kernel_has(call, 1) ? call->inputs[1] : NULL;
    int axis = ingot_axis(params->axis, x->rank);
    int64_t total = x->dims[axis], first = 0, size;
    bool listed = split && split->rank > 0;
    size_t listed_count = listed ? ingot_ref_count(split) : 0;
    INGOT_TRY(ingot_value_set_list(call->outputs[0], INGOT_KIND_SEQUENCE, x->element, call->error));
    for (size_t i = 0; listed ? i < listed_count : first < total; i++, first += size) {
        INGOT_TRY(part_size(call, i, total - first, &size));
        INGOT_TRY(add_part(call, axis, first, size, !split && !params->keepdims));
    }
    if (first != total)
        return ingot_kernel_fail(call, "the sizes of split add up to %lld, but dimension %d has size %lld",
                                 (long long)first, axis, (long long)total);
    return INGOT_OK;
}

/* ---- ConcatFromSequence ---- */

/* The shape of the result; the sizes of all items but that along the axis must agree. */
static ingot_status joined_shape(const ingot_kernel_call *call, int axis, int rank, int64_t *dims)
{
    const ingot_concat_from_sequence_params *params = call->params;
    const ingot_value *x = call->inputs[0], *first = x->items[0];
    for (int i = 0, from = 0; i < rank; i++)
        dims[i] = i == axis && params->new_axis ? 0 : first->dims[from++];
    dims[axis] = 0;
    for (size_t k = 0; k < x->item_count; k++) {
        const ingot_value *item = x->items[k];
        bool same = item->element == first->element && item->rank == first->rank;
        for (int i = 0; same && i < item->rank; i++)
            same = (i == axis && !params->new_axis) || item->dims[i] == first->dims[i];
        char a[256], b[256];
        if (!same)
            return ingot_kernel_fail(call, "tensor %zu of the sequence is %s, which does not go with tensor 0, %s", k,
                                     ingot_value_describe(item, a, sizeof a), ingot_value_describe(first, b, sizeof b));
        if (!ingot_add_i64(dims[axis], params->new_axis ? 1 : item->dims[axis], &dims[axis]))
            return ingot_kernel_fail(call, "the sum of the sizes along axis %d is too large", axis);
    }
    return INGOT_OK;
}

ingot_status ingot_ref_concat_from_sequence(const ingot_kernel_call *call)
{
    const ingot_concat_from_sequence_params *params = call->params;
    const ingot_value *x = call->inputs[0];
    if (x->item_count == 0)
        return ingot_kernel_fail(call, "the sequence is empty: there is no tensor to join");
    int rank = x->items[0]->rank + params->new_axis;
    int64_t dims[INGOT_MAX_RANK + 1];
    if (rank > INGOT_MAX_RANK || params->axis < -rank || params->axis >= rank)
        return ingot_kernel_fail(call, "axis is %lld, but must be from %d to %d, and the rank at most %d",
                                 (long long)params->axis, -rank, rank - 1, INGOT_MAX_RANK);
    int axis = ingot_axis(params->axis, rank);
    INGOT_TRY(joined_shape(call, axis, rank, dims));
    INGOT_TRY(ingot_kernel_set_output(call, 0, x->items[0]->element, rank, dims));
    ingot_split to = ingot_split_at(rank, dims, axis);
    for (size_t k = 0, at = 0; k < x->item_count; k++) {
        size_t run = (params->new_axis ? 1 : (size_t)x->items[k]->dims[axis]) * to.inner;
        for (size_t outer = 0; outer < to.outer; outer++)
            INGOT_TRY(ingot_ref_copy_run(call, call->outputs[0], outer * to.size * to.inner + at, x->items[k],
                                         outer * run, run));
        at += run;
    }
    return INGOT_OK;
}

/* ---- Optional values ---- */

ingot_status ingot_ref_optional(const ingot_kernel_call *call)
{
    const ingot_value *x = ingot_kernel_has(call, 0) ? call->inputs[0] : NULL;
    ingot_value *y = call->outputs[0];
    INGOT_TRY(ingot_value_set_list(y, INGOT_KIND_OPTIONAL, x ? x->element : INGOT_UNDEFINED, call->error));
    return x ? add_copy(call, y, x) : INGOT_OK;
}

static bool is_empty(const ingot_value *x)
{
    return x->kind == INGOT_KIND_NONE || (x->kind == INGOT_KIND_OPTIONAL && x->item_count == 0);
}

ingot_status ingot_ref_optional_get_element(const ingot_kernel_call *call)
{
    const ingot_value *x = call->inputs[0];
    if (is_empty(x))
        return ingot_kernel_fail(call, "the optional value is empty: there is no element to get");
    return copy_to_output(call, x->kind == INGOT_KIND_OPTIONAL ? x->items[0] : x);
}

ingot_status ingot_ref_optional_has_element(const ingot_kernel_call *call)
{
    *(uint8_t *)call->outputs[0]->data = ingot_kernel_has(call, 0) && !is_empty(call->inputs[0]);
    return INGOT_OK;
}
