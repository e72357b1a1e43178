#include "ops/slice.h"

#include "ops/content.h"
#include "ops/movement.h"

/* ---- Slice ---- */

static const ingot_param_field slice_fields[] = {
    {"starts", INGOT_PARAM_INTS, offsetof(ingot_slice_params, starts), NULL, 0},
    {"ends", INGOT_PARAM_INTS, offsetof(ingot_slice_params, ends), NULL, 0},
    {"axes", INGOT_PARAM_INTS, offsetof(ingot_slice_params, axes), NULL, 0},
    {.attribute = NULL},
};

static ingot_status check_slice(const ingot_node *node, void *data, ingot_error *error)
{
    const ingot_slice_params *params = data;
    if (params->starts.count != params->ends.count ||
        (params->axes.given && params->axes.count != params->starts.count))
        return ingot_node_fail(node, error, INGOT_INVALID_MODEL,
                               "starts has %zu elements, ends %zu and axes %zu; they must be as many",
                               params->starts.count, params->ends.count, params->axes.count);
    return INGOT_OK;
}

static int64_t clamp(int64_t value, int64_t low, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

void ingot_slice_range(int64_t size, int64_t start, int64_t end, int64_t step, int64_t *first, int64_t *count)
{
    start = start < 0 ? start + size : start;
    end = end < 0 ? end + size : end;
    start = clamp(start, 0, step > 0 ? size : size - 1);
    end = step > 0 ? clamp(end, 0, size) : clamp(end, -1, size - 1);
    uint64_t stride = step > 0 ? (uint64_t)step : 0 - (uint64_t)step;
    int64_t span = size == 0 ? 0 : step > 0 ? end - start : start - end;
    *first = start;
    *count = span > 0 ? (int64_t)((uint64_t)(span - 1) / stride) + 1 : 0;
}

/* An end of a slice of symbolic size in steps forward, as the element that it stands for. */
static ingot_dim place(ingot_dims *dims, ingot_dim size, ingot_dim end)
{
    /* Files say "to the end" with the greatest number of 32 or of 64 bits. */
    if (ingot_dim_is_number(end) && end >= INT32_MAX)
        return size;
    if (end == 0 || end == size)
        return end;
    if (ingot_dim_is_number(end) && end < 0)
        return ingot_dim_make(dims, INGOT_DIM_MAX, ingot_dim_add(dims, size, end), 0);
    return ingot_content_not_negative(dims, end) ? ingot_dim_make(dims, INGOT_DIM_MIN, size, end) : INGOT_DIM_UNKNOWN;
}

static ingot_dim symbolic_count(ingot_dims *dims, ingot_dim size, ingot_dim start, ingot_dim end, ingot_dim step)
{
    if (!ingot_dim_is_number(step))
        return INGOT_DIM_UNKNOWN;
    if (step < 0) {
        bool all = (start == -1 || (ingot_dim_is_number(start) && start >= INT32_MAX)) && ingot_dim_is_number(end) &&
                   end <= -INT32_MAX;
        return all ? ingot_dim_make(dims, INGOT_DIM_CEIL_DIV, size, -step) : INGOT_DIM_UNKNOWN;
    }
    ingot_dim first = place(dims, size, start), last = place(dims, size, end);
    ingot_dim span = ingot_dim_sub(dims, last, first);
    if (last != size && !ingot_content_not_negative(dims, span)) /* no start lies behind the end */
        span = ingot_dim_make(dims, INGOT_DIM_MAX, span, 0);
    return ingot_dim_make(dims, INGOT_DIM_CEIL_DIV, span, step);
}

/* One list of the slice: from its attribute, or its input; where its content is not known, length elements that are not. */
static ingot_status read_list(ingot_infer *c, const ingot_ints *attribute, size_t input, ingot_dim *values,
                              size_t *count)
{
    int length;
    if (attribute && attribute->given) {
        *count = attribute->count;
        for (size_t i = 0; i < *count && i < INGOT_MAX_RANK; i++)
            values[i] = ingot_movement_number(attribute->data[i]);
        return INGOT_OK;
    }
    INGOT_TRY(ingot_movement_vector_length(c, input, &length));
    if (ingot_infer_integers(c, input, values, INGOT_MAX_RANK, count))
        return INGOT_OK;
    *count = length < 0 ? SIZE_MAX : (size_t)length;
    for (int i = 0; i < INGOT_MAX_RANK; i++)
        values[i] = INGOT_DIM_UNKNOWN;
    return INGOT_OK;
}

/* Makes *count the length of a list, where that is known; false where another length is known. */
static bool agree(size_t *count, size_t length)
{
    if (length == SIZE_MAX || length == *count)
        return true;
    bool open = *count == SIZE_MAX;
    *count = open ? length : *count;
    return open;
}

typedef struct slice_lists {
    ingot_dim starts[INGOT_MAX_RANK], ends[INGOT_MAX_RANK], steps[INGOT_MAX_RANK];
    int axes[INGOT_MAX_RANK];
    size_t count; /* SIZE_MAX: not known */
    bool axes_known;
} slice_lists;

static ingot_status read_lists(ingot_infer *c, int rank, slice_lists *lists)
{
    const ingot_slice_params *params = c->params;
    size_t ends, axes, steps = SIZE_MAX;
    INGOT_TRY(read_list(c, &params->starts, 1, lists->starts, &lists->count));
    INGOT_TRY(read_list(c, &params->ends, 2, lists->ends, &ends));
    INGOT_TRY(ingot_movement_axes(c, &params->axes, 3, rank, &lists->axes_known, lists->axes, &axes));
    for (int i = 0; i < INGOT_MAX_RANK; i++)
        lists->steps[i] = 1;
    if (ingot_infer_has(c, 4))
        INGOT_TRY(read_list(c, NULL, 4, lists->steps, &steps));
    size_t starts = lists->count;
    bool fits = agree(&lists->count, ends) && agree(&lists->count, steps) &&
                agree(&lists->count, lists->axes_known ? axes : SIZE_MAX);
    if (!fits)
        return ingot_infer_fail(c, "starts, ends, axes and steps must have as many elements, but starts has %zu",
                                starts);
    if (!lists->axes_known || axes != SIZE_MAX)
        return INGOT_OK;
    for (int i = 0; i < INGOT_MAX_RANK; i++)
        lists->axes[i] = i;
    if (lists->count != SIZE_MAX && lists->count > (size_t)rank)
        return ingot_infer_fail(c, "starts has %zu elements, but the data has %d dimensions", lists->count, rank);
    return INGOT_OK;
}

/* Content of a vector that is sliced. */
static void slice_content(ingot_infer *c, const slice_lists *lists, int64_t size)
{
    ingot_dim values[INGOT_MAX_KNOWN], result[INGOT_MAX_KNOWN];
    size_t known;
    int64_t first = 0, count = size, step = 1;
    if (lists->count == SIZE_MAX || !ingot_content_of(c, 0, values, &known) || (int64_t)known != size)
        return;
    if (lists->count == 1) {
        step = lists->steps[0];
        if (!ingot_dim_is_number(lists->starts[0]) || !ingot_dim_is_number(lists->ends[0]) ||
            !ingot_dim_is_number(step))
            return;
        ingot_slice_range(size, lists->starts[0], lists->ends[0], step, &first, &count);
    }
    for (int64_t i = 0; i < count; i++)
        result[i] = values[first + i * step];
    ingot_content_set(c, 0, result, (size_t)count);
}

static ingot_status infer_slice(ingot_infer *c)
{
    const ingot_type *input = &c->inputs[0].type;
    ingot_dim dims[INGOT_MAX_RANK];
    slice_lists lists;
    if (input->rank < 0) {
        ingot_infer_set_unranked(c, 0, input->element);
        return INGOT_OK;
    }
    INGOT_TRY(read_lists(c, input->rank, &lists));
    bool known = lists.axes_known && lists.count != SIZE_MAX;
    for (int i = 0; i < input->rank; i++)
        dims[i] = known ? input->dims[i] : INGOT_DIM_UNKNOWN;
    for (size_t i = 0; known && i < lists.count; i++) {
        ingot_dim size = input->dims[lists.axes[i]], start = lists.starts[i], end = lists.ends[i],
                  step = lists.steps[i];
        int64_t first;
        if (step == 0)
            return ingot_infer_fail(c, "element %zu of steps is 0; a step must go forward or backward", i);
        if (ingot_dim_is_number(size) && ingot_dim_is_number(start) && ingot_dim_is_number(end) &&
            ingot_dim_is_number(step))
            ingot_slice_range(size, start, end, step, &first, &dims[lists.axes[i]]);
        else
            dims[lists.axes[i]] = symbolic_count(c->dims, size, start, end, step);
    }
    INGOT_TRY(ingot_movement_set(c, 0, input->element, input->rank, dims));
    if (known && input->rank == 1 && ingot_dim_is_number(input->dims[0]))
        slice_content(c, &lists, input->dims[0]);
    return INGOT_OK;
}

const ingot_op ingot_op_slice = {
    .summary = "part of a tensor, by starts, ends and steps",
    .params_size = sizeof(ingot_slice_params),
    .fields = slice_fields,
    .check = check_slice,
    .infer = infer_slice,
};

/* ---- Crop ---- */

static const ingot_param_field crop_fields[] = {
    {"border", INGOT_PARAM_INTS, offsetof(ingot_crop_params, border), NULL, 0},
    {"scale", INGOT_PARAM_INTS, offsetof(ingot_crop_params, scale), NULL, 0},
    {.attribute = NULL},
};

static ingot_status check_crop(const ingot_node *node, void *data, ingot_error *error)
{
    const ingot_crop_params *params = data;
    if (params->border.count != 4)
        return ingot_node_fail(node, error, INGOT_INVALID_MODEL,
                               "border has %zu elements, but needs 4: left, top, right, bottom", params->border.count);
    if (params->scale.given && params->scale.count != 2)
        return ingot_node_fail(node, error, INGOT_INVALID_MODEL, "scale has %zu elements, but needs 2: height, width",
                               params->scale.count);
    for (size_t i = 0; i < 4; i++)
        if (params->border.data[i] < 0)
            return ingot_node_fail(node, error, INGOT_INVALID_MODEL, "border holds %lld; it must be at least 0",
                                   (long long)params->border.data[i]);
    return INGOT_OK;
}

/* Height (axis 0) or width (axis 1) of what is left. */
static ingot_status cropped(ingot_infer *c, const ingot_crop_params *params, int axis, ingot_dim size, ingot_dim *left)
{
    int64_t before = params->border.data[1 - axis], after = params->border.data[3 - axis];
    *left = params->scale.given ? ingot_movement_number(params->scale.data[axis])
                                : ingot_dim_sub(c->dims, ingot_dim_sub(c->dims, size, before), after);
    if (ingot_dim_is_number(size) && (!ingot_dim_is_number(*left) || *left < 0 || *left > size - before))
        return ingot_infer_fail(c, "border and scale ask for more than dimension %d of the input, of size %lld, has",
                                axis + 2, (long long)size);
    return INGOT_OK;
}

static ingot_status infer_crop(ingot_infer *c)
{
    const ingot_type *input = &c->inputs[0].type;
    ingot_dim dims[4] = {INGOT_DIM_UNKNOWN, INGOT_DIM_UNKNOWN, INGOT_DIM_UNKNOWN, INGOT_DIM_UNKNOWN};
    INGOT_TRY(ingot_infer_rank(c, 0, 4, 4));
    for (int i = 0; i < 2 && input->rank == 4; i++) {
        dims[i] = input->dims[i];
        INGOT_TRY(cropped(c, c->params, i, input->dims[i + 2], &dims[i + 2]));
    }
    return ingot_movement_set(c, 0, input->element, 4, dims);
}

const ingot_op ingot_op_crop = {
    .summary = "an image without its border",
    .params_size = sizeof(ingot_crop_params),
    .fields = crop_fields,
    .check = check_crop,
    .infer = infer_crop,
};

/* ---- CenterCropPad ---- */

static const ingot_param_field center_crop_pad_fields[] = {
    {"axes", INGOT_PARAM_INTS, offsetof(ingot_center_crop_pad_params, axes), NULL, 0},
    {.attribute = NULL},
};

static ingot_status infer_center_crop_pad(ingot_infer *c)
{
    const ingot_center_crop_pad_params *params = c->params;
    const ingot_type *input = &c->inputs[0].type;
    ingot_dim dims[INGOT_MAX_RANK], shape[INGOT_MAX_RANK];
    int axes[INGOT_MAX_RANK], length;
    size_t count, sizes;
    bool known;
    INGOT_TRY(ingot_movement_vector_length(c, 1, &length));
    if (input->rank < 0) {
        ingot_infer_set_unranked(c, 0, input->element);
        return INGOT_OK;
    }
    INGOT_TRY(ingot_movement_axes(c, &params->axes, SIZE_MAX, input->rank, &known, axes, &count));
    if (count == SIZE_MAX)
        count = (size_t)input->rank;
    if (length >= 0 && (size_t)length != count)
        return ingot_infer_fail(c, "shape has %d elements, but sizes of %zu axes are needed", length, count);
    known = ingot_infer_integers(c, 1, shape, INGOT_MAX_RANK, &sizes) && sizes == count;
    for (int i = 0; i < input->rank; i++)
        dims[i] = input->dims[i];
    for (size_t i = 0; i < count; i++)
        dims[params->axes.given ? axes[i] : (int)i] = known ? shape[i] : INGOT_DIM_UNKNOWN;
    return ingot_movement_set(c, 0, input->element, input->rank, dims);
}

const ingot_op ingot_op_center_crop_pad = {
    .summary = "cuts or pads a tensor around its middle",
    .params_size = sizeof(ingot_center_crop_pad_params),
    .fields = center_crop_pad_fields,
    .infer = infer_center_crop_pad,
};
