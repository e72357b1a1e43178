#include "ops/generate.h"

#include <math.h>

#include "base/number.h"
#include "ops/content.h"
#include "ops/movement.h"

/* ---- ConstantOfShape ---- */

static const ingot_param_field constant_of_shape_fields[] = {
    {"value", INGOT_PARAM_TENSOR, offsetof(ingot_constant_of_shape_params, value), NULL, 0},
    {.attribute = NULL},
};

static ingot_status check_constant_of_shape(const ingot_node *node, void *data, ingot_error *error)
{
    const ingot_constant_of_shape_params *params = data;
    char text[256];
    if (params->value && ingot_value_count(params->value) != 1)
        return ingot_node_fail(node, error, INGOT_INVALID_MODEL, "attribute 'value' is %s, but must hold one element",
                               ingot_value_describe(params->value, text, sizeof text));
    return INGOT_OK;
}

static ingot_status infer_constant_of_shape(ingot_infer *c)
{
    const ingot_constant_of_shape_params *params = c->params;
    ingot_element element = params->value ? params->value->element : INGOT_FLOAT;
    ingot_dim dims[INGOT_MAX_RANK], known[INGOT_MAX_KNOWN];
    size_t count;
    int rank;
    INGOT_TRY(ingot_movement_vector_length(c, 0, &rank));
    if (!ingot_infer_integers(c, 0, dims, INGOT_MAX_RANK, &count))
        for (int i = 0; i < rank; i++)
            dims[i] = INGOT_DIM_UNKNOWN;
    else
        rank = (int)count;
    INGOT_TRY(ingot_movement_set(c, 0, element, rank, dims));
    if (params->value && ingot_content_followed(element) && rank >= 0 && rank <= 1 &&
        (rank == 0 || (ingot_dim_is_number(dims[0]) && dims[0] <= INGOT_MAX_KNOWN))) {
        size_t size = rank == 0 ? 1 : (size_t)dims[0];
        for (size_t i = 0; i < size; i++)
            known[i] = ingot_load_i64(element, params->value->data, 0);
        ingot_content_set(c, 0, known, size);
    }
    return INGOT_OK;
}

const ingot_op ingot_op_constant_of_shape = {
    .summary = "a tensor of one value, by its shape",
    .params_size = sizeof(ingot_constant_of_shape_params),
    .fields = constant_of_shape_fields,
    .check = check_constant_of_shape,
    .infer = infer_constant_of_shape,
};

/* ---- Range ---- */

/* Number of elements of start, start + delta, ... before limit. */
static int64_t integer_count(int64_t start, int64_t limit, int64_t delta)
{
    if (delta > 0 ? limit <= start : limit >= start)
        return 0;
    uint64_t span = delta > 0 ? (uint64_t)limit - (uint64_t)start : (uint64_t)start - (uint64_t)limit;
    uint64_t step = delta > 0 ? (uint64_t)delta : 0 - (uint64_t)delta;
    uint64_t count = (span - 1) / step + 1;
    return count > INT64_MAX ? INT64_MAX : (int64_t)count;
}

/* The elements themselves, where they are few. */
static void range_content(ingot_infer *c, ingot_dim count, ingot_dim start, ingot_dim delta)
{
    ingot_dim known[INGOT_MAX_KNOWN];
    if (!ingot_dim_is_number(count) || count > INGOT_MAX_KNOWN)
        return;
    for (int64_t i = 0; i < count; i++)
        known[i] = ingot_dim_add(c->dims, start, ingot_dim_mul(c->dims, delta, i));
    ingot_content_set(c, 0, known, (size_t)count);
}

/* A dim cannot hold the lowest of all integers; the content can. */
static int64_t exact(const ingot_infer *c, size_t input, ingot_dim value)
{
    const ingot_value *constant = c->inputs[input].constant;
    return constant ? ingot_load_i64(constant->element, constant->data, 0) : value;
}

static ingot_status integer_range(ingot_infer *c)
{
    ingot_dim bounds[3] = {INGOT_DIM_UNKNOWN, INGOT_DIM_UNKNOWN, INGOT_DIM_UNKNOWN}, length = INGOT_DIM_UNKNOWN;
    size_t count;
    for (size_t i = 0; i < 3; i++)
        ingot_infer_integers(c, i, &bounds[i], 1, &count);
    ingot_dim start = bounds[0], limit = bounds[1], delta = bounds[2];
    if (delta == 0)
        return ingot_infer_fail(c, "delta is 0: the range would never end");
    if (ingot_dim_is_number(start) && ingot_dim_is_number(limit) && ingot_dim_is_number(delta)) {
        length = integer_count(exact(c, 0, start), exact(c, 1, limit), exact(c, 2, delta));
    } else if (ingot_dim_is_number(delta)) {
        ingot_dim span = delta > 0 ? ingot_dim_sub(c->dims, limit, start) : ingot_dim_sub(c->dims, start, limit);
        if (!ingot_content_not_negative(c->dims, span))
            span = ingot_dim_make(c->dims, INGOT_DIM_MAX, span, 0);
        length = ingot_dim_make(c->dims, INGOT_DIM_CEIL_DIV, span, delta > 0 ? delta : -delta);
    }
    INGOT_TRY(ingot_movement_set(c, 0, c->inputs[0].type.element, 1, &length));
    range_content(c, length, start, delta);
    return INGOT_OK;
}

static ingot_status float_range(ingot_infer *c)
{
    double bounds[3];
    ingot_dim length = INGOT_DIM_UNKNOWN;
    ingot_element element = c->inputs[0].type.element;
    size_t count;
    for (size_t i = 0; i < 3; i++)
        if (!ingot_infer_floats(c, i, &bounds[i], 1, &count) || count != 1)
            return ingot_movement_set(c, 0, element, 1, &length);
    /* In the precision of the data, as the standard defines it; float for the narrow types. */
    double steps = element == INGOT_DOUBLE ? ceil((bounds[1] - bounds[0]) / bounds[2])
                                           : ceilf(((float)bounds[1] - (float)bounds[0]) / (float)bounds[2]);
    if (bounds[2] == 0)
        return ingot_infer_fail(c, "delta is 0: the range would never end");
    if (!(fabs(steps) < 0x1p62))
        return ingot_infer_fail(c, "a range from %g to %g by %g has no end that can be reached", bounds[0], bounds[1],
                                bounds[2]);
    length = steps > 0 ? (int64_t)steps : 0;
    return ingot_movement_set(c, 0, element, 1, &length);
}

static ingot_status infer_range(ingot_infer *c)
{
    for (size_t i = 0; i < 3; i++)
        INGOT_TRY(ingot_movement_one(c, i));
    ingot_element element = c->inputs[0].type.element;
    return ingot_element_is_float(element) ? float_range(c) : integer_range(c);
}

const ingot_op ingot_op_range = {
    .summary = "numbers from start to limit by delta",
    .infer = infer_range,
};

/* ---- EyeLike ---- */

static const ingot_param_field eye_like_fields[] = {
    {"dtype", INGOT_PARAM_INT, offsetof(ingot_eye_like_params, dtype), NULL,
     offsetof(ingot_eye_like_params, has_dtype)},
    {"k", INGOT_PARAM_INT, offsetof(ingot_eye_like_params, k), NULL, 0},
    {.attribute = NULL},
};

static ingot_status check_eye_like(const ingot_node *node, void *data, ingot_error *error)
{
    ingot_eye_like_params *params = data;
    return params->has_dtype ? ingot_movement_element(node, "dtype", params->dtype, &params->element, error) : INGOT_OK;
}

static ingot_status infer_eye_like(ingot_infer *c)
{
    const ingot_eye_like_params *params = c->params;
    const ingot_type *input = &c->inputs[0].type;
    ingot_element element = params->has_dtype ? params->element : input->element;
    INGOT_TRY(ingot_infer_rank(c, 0, 2, 2));
    if (element == INGOT_STRING || element == INGOT_COMPLEX64 || element == INGOT_COMPLEX128)
        return ingot_infer_fail(c, "the output cannot have elements of type %s", ingot_element_name(element));
    return ingot_movement_set(c, 0, element, input->rank, input->dims);
}

const ingot_op ingot_op_eye_like = {
    .summary = "ones on a diagonal, zeros elsewhere",
    .params_size = sizeof(ingot_eye_like_params),
    .fields = eye_like_fields,
    .check = check_eye_like,
    .infer = infer_eye_like,
    .flags = INGOT_OP_READS_SHAPE,
};

/* ---- OneHot ---- */

static const ingot_param_field one_hot_fields[] = {
    {"axis", INGOT_PARAM_INT, offsetof(ingot_hot_params, axis), NULL, 0},
    {.attribute = NULL},
};

static ingot_status check_one_hot(const ingot_node *node, void *data, ingot_error *error)
{
    (void)error;
    ((ingot_hot_params *)data)->from_end = node->opset >= 11;
    return INGOT_OK;
}

static ingot_dim one_hot_depth(ingot_infer *c)
{
    ingot_dim depth;
    double number;
    size_t count;
    if (ingot_infer_integers(c, 1, &depth, 1, &count) && count == 1)
        return depth;
    if (ingot_infer_floats(c, 1, &number, 1, &count) && count == 1)
        return fabs(number) < 0x1p62 ? (int64_t)number : -1;
    return INGOT_DIM_UNKNOWN;
}

static ingot_status infer_one_hot(ingot_infer *c)
{
    const ingot_hot_params *params = c->params;
    const ingot_type *indices = &c->inputs[0].type, *values = &c->inputs[2].type;
    ingot_dim dims[INGOT_MAX_RANK + 1], depth = one_hot_depth(c);
    int axis, rank = indices->rank + 1;
    INGOT_TRY(ingot_movement_one(c, 1));
    INGOT_TRY(ingot_infer_rank(c, 2, 1, 1));
    if (values->rank == 1)
        INGOT_TRY(ingot_infer_same_dim(c, "the number of values and 2 (off, on)", values->dims[0], 2, NULL));
    if (ingot_dim_is_number(depth) && depth < 0)
        return ingot_infer_fail(c, "depth must be a number of at least 0");
    if (indices->rank < 0) {
        ingot_infer_set_unranked(c, 0, values->element);
        return INGOT_OK;
    }
    INGOT_TRY(ingot_infer_axis(c, "axis", params->axis, rank, 0, &axis));
    for (int i = 0, from = 0; i < rank; i++)
        dims[i] = i == axis ? depth : indices->dims[from++];
    return ingot_movement_set(c, 0, values->element, rank, dims);
}

const ingot_op ingot_op_one_hot = {
    .summary = "a vector for each index, with one element on",
    .params_size = sizeof(ingot_hot_params),
    .fields = one_hot_fields,
    .check = check_one_hot,
    .infer = infer_one_hot,
};

/* ---- Windows ---- */

static const ingot_param_field window_function_fields[] = {
    {"output_datatype", INGOT_PARAM_INT, offsetof(ingot_window_function_params, output_datatype), NULL, 0},
    {"periodic", INGOT_PARAM_BOOL, offsetof(ingot_window_function_params, periodic), NULL, 0},
    {.attribute = NULL},
};

static ingot_status check_window(const ingot_node *node, void *data, ingot_error *error, int function)
{
    ingot_window_function_params *params = data;
    params->function = function;
    INGOT_TRY(ingot_movement_element(node, "output_datatype", params->output_datatype, &params->element, error));
    if (!ingot_element_is_float(params->element) && !ingot_element_is_integer(params->element))
        return ingot_node_fail(node, error, INGOT_INVALID_MODEL, "output_datatype is %s, which is no type of number",
                               ingot_element_name(params->element));
    return INGOT_OK;
}

static ingot_status check_blackman(const ingot_node *node, void *data, ingot_error *error)
{
    return check_window(node, data, error, INGOT_WINDOW_BLACKMAN);
}

static ingot_status check_hamming(const ingot_node *node, void *data, ingot_error *error)
{
    return check_window(node, data, error, INGOT_WINDOW_HAMMING);
}

static ingot_status check_hann(const ingot_node *node, void *data, ingot_error *error)
{
    return check_window(node, data, error, INGOT_WINDOW_HANN);
}

static ingot_status infer_window(ingot_infer *c)
{
    const ingot_window_function_params *params = c->params;
    ingot_dim size = INGOT_DIM_UNKNOWN;
    size_t count;
    INGOT_TRY(ingot_movement_one(c, 0));
    if (!ingot_infer_integers(c, 0, &size, 1, &count) || count != 1)
        size = INGOT_DIM_UNKNOWN;
    return ingot_movement_set(c, 0, params->element, 1, &size);
}

const ingot_op ingot_op_blackman_window = {
    .summary = "the Blackman window",
    .params_size = sizeof(ingot_window_function_params),
    .fields = window_function_fields,
    .check = check_blackman,
    .infer = infer_window,
};

const ingot_op ingot_op_hamming_window = {
    .summary = "the Hamming window",
    .params_size = sizeof(ingot_window_function_params),
    .fields = window_function_fields,
    .check = check_hamming,
    .infer = infer_window,
};

const ingot_op ingot_op_hann_window = {
    .summary = "the Hann window",
    .params_size = sizeof(ingot_window_function_params),
    .fields = window_function_fields,
    .check = check_hann,
    .infer = infer_window,
};
