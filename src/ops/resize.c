#include "ops/resize.h"

#include <math.h>

#include "ops/movement.h"

static const char *const resize_modes[] = {"nearest", "linear", "cubic", NULL};
static const char *const upsample_modes[] = {"nearest", "linear", "bilinear", NULL};
static const char *const coordinate_modes[] = {
    "half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
    "asymmetric", "tf_half_pixel_for_nn", "tf_crop_and_resize", NULL};
static const char *const nearest_modes[] = {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil", NULL};
static const char *const policies[] = {"stretch", "not_larger", "not_smaller", NULL};

#define OFFSET(field) offsetof(ingot_resize_params, field)

static const ingot_param_field resize_fields[] = {
    {"antialias", INGOT_PARAM_BOOL, OFFSET(antialias), NULL, 0},
    {"axes", INGOT_PARAM_INTS, OFFSET(axes), NULL, 0},
    {"coordinate_transformation_mode", INGOT_PARAM_WORD, OFFSET(coordinates), coordinate_modes, 0},
    {"cubic_coeff_a", INGOT_PARAM_FLOAT, OFFSET(cubic_coeff_a), NULL, 0},
    {"exclude_outside", INGOT_PARAM_BOOL, OFFSET(exclude_outside), NULL, 0},
    {"extrapolation_value", INGOT_PARAM_FLOAT, OFFSET(extrapolation_value), NULL, 0},
    {"keep_aspect_ratio_policy", INGOT_PARAM_WORD, OFFSET(policy), policies, 0},
    {"mode", INGOT_PARAM_WORD, OFFSET(mode), resize_modes, 0},
    {"nearest_mode", INGOT_PARAM_WORD, OFFSET(rounding), nearest_modes, 0},
    {.attribute = NULL},
};

static const ingot_param_field upsample_fields[] = {
    {"height_scale", INGOT_PARAM_FLOAT, OFFSET(height_scale), NULL, OFFSET(by_attributes)},
    {"mode", INGOT_PARAM_WORD, OFFSET(mode), upsample_modes, 0},
    {"scales", INGOT_PARAM_FLOATS, OFFSET(scales), NULL, 0},
    {"width_scale", INGOT_PARAM_FLOAT, OFFSET(width_scale), NULL, 0},
    {.attribute = NULL},
};

/* Before opset 11 output element i is input element i / scale, rounded down. */
static ingot_status check_legacy(const ingot_node *node, void *data, ingot_error *error)
{
    ingot_resize_params *params = data;
    (void)error;
    (void)node;
    params->legacy = true;
    params->coordinates = INGOT_RESIZE_ASYMMETRIC;
    params->rounding = INGOT_RESIZE_FLOOR;
    if (params->mode != INGOT_RESIZE_NEAREST)
        params->mode = INGOT_RESIZE_LINEAR; /* opset 1 says bilinear */
    return INGOT_OK;
}

static ingot_status check_resize(const ingot_node *node, void *data, ingot_error *error)
{
    const ingot_resize_params *params = data;
    if (params->antialias && params->mode == INGOT_RESIZE_NEAREST)
        return ingot_node_fail(node, error, INGOT_INVALID_MODEL,
                               "antialias is 1, but mode 'nearest' has no filter for it");
    return INGOT_OK;
}

/* ---- Scales and sizes ---- */

int ingot_resize_axes(const ingot_resize_params *params, int rank, int *axes)
{
    if (params->by_attributes) {
        axes[0] = 2;
        axes[1] = 3;
        return 2;
    }
    int count = params->axes.given ? (int)params->axes.count : rank;
    for (int i = 0; i < count; i++) {
        int64_t axis = params->axes.given ? params->axes.data[i] : i;
        axes[i] = (int)(axis < 0 ? axis + rank : axis);
    }
    return count;
}

double ingot_resize_common_scale(int policy, int count, const int64_t *in, const int64_t *sizes)
{
    double common = count > 0 && in[0] > 0 ? (double)sizes[0] / (double)in[0] : 0;
    for (int i = 1; i < count; i++) {
        double scale = in[i] > 0 ? (double)sizes[i] / (double)in[i] : 0;
        if (policy == INGOT_RESIZE_NOT_LARGER ? scale < common : scale > common)
            common = scale;
    }
    return common;
}

/* floor(size * scale), in the float arithmetic that exporters and the standard's own shape rules use. */
static ingot_status scaled_size(ingot_infer *c, ingot_dim size, double scale, ingot_dim *result)
{
    int exponent;
    if (ingot_dim_is_number(size)) {
        double product = floorf((float)((double)size * scale));
        if (!(product < 0x1p62))
            return ingot_infer_fail(c, "a dimension of size %lld scaled by %g is larger than any tensor can be",
                                    (long long)size, scale);
        *result = (int64_t)product;
        return INGOT_OK;
    }
    /* A scale that is a short binary fraction keeps its exactness for symbols. */
    double fraction = frexp(scale, &exponent) * 0x1p12;
    int64_t over = (int64_t)fraction, under = 1 << 12;
    for (; exponent > 0 && over < INT32_MAX; exponent--)
        over *= 2;
    for (; exponent < 0 && under < INT32_MAX; exponent++)
        under *= 2;
    while (over % 2 == 0 && under > 1 && over > 0) {
        over /= 2;
        under /= 2;
    }
    *result = (double)(int64_t)fraction == fraction && exponent == 0
                  ? ingot_dim_make(c->dims, INGOT_DIM_FLOOR_DIV, ingot_dim_mul(c->dims, size, over), under)
                  : INGOT_DIM_UNKNOWN;
    return INGOT_OK;
}

/* The number of an input's elements: 0 where it is left out, or there but empty, as old files have it; -1: not known. */
static int64_t element_count(const ingot_infer *c, size_t input)
{
    if (!ingot_infer_has(c, input))
        return 0;
    const ingot_type *type = &c->inputs[input].type;
    return type->rank == 1 && ingot_dim_is_number(type->dims[0]) ? type->dims[0] : -1;
}

static ingot_status check_count(ingot_infer *c, const char *what, int64_t have, int64_t want)
{
    if (have >= 0 && have != want)
        return ingot_infer_fail(c, "%s has %lld elements, but %lld are needed", what, (long long)have, (long long)want);
    return INGOT_OK;
}

/* Content of scales, whether attribute or input; *known false where it is not known. */
static ingot_status read_scales(ingot_infer *c, int count, double *scales, bool *known)
{
    const ingot_resize_params *params = c->params;
    size_t read = 0;
    *known = true;
    if (params->by_attributes) {
        scales[0] = params->height_scale;
        scales[1] = params->width_scale;
    } else if (params->scales.given) {
        INGOT_TRY(check_count(c, "scales", (int64_t)params->scales.count, count));
        for (int i = 0; i < count; i++)
            scales[i] = params->scales.data[i];
    } else {
        size_t input = params->legacy ? 1 : 2;
        INGOT_TRY(check_count(c, "scales", element_count(c, input), count));
        *known = ingot_infer_floats(c, input, scales, INGOT_MAX_RANK, &read) && read == (size_t)count;
    }
    for (int i = 0; *known && i < count; i++)
        if (!(scales[i] > 0) || isinf(scales[i]))
            return ingot_infer_fail(c, "element %d of scales is %g; a scale must be a number above 0", i, scales[i]);
    return INGOT_OK;
}

/* Length of the region of each axis, as a part of the whole: 1 but for tf_crop_and_resize. */
static ingot_status read_region(ingot_infer *c, int count, double *lengths, bool *known)
{
    const ingot_resize_params *params = c->params;
    double roi[2 * INGOT_MAX_RANK];
    size_t read;
    for (int i = 0; i < count; i++)
        lengths[i] = 1;
    if (params->coordinates != INGOT_RESIZE_TF_CROP_AND_RESIZE)
        return INGOT_OK;
    if (!ingot_infer_has(c, 1))
        return ingot_infer_fail(c, "coordinate_transformation_mode 'tf_crop_and_resize' needs the input roi");
    INGOT_TRY(check_count(c, "roi", element_count(c, 1), 2 * (int64_t)count));
    if (!ingot_infer_floats(c, 1, roi, 2 * INGOT_MAX_RANK, &read) || read != 2 * (size_t)count) {
        *known = false;
        return INGOT_OK;
    }
    for (int i = 0; i < count; i++)
        lengths[i] = roi[count + i] - roi[i] > 0 ? roi[count + i] - roi[i] : 0;
    return INGOT_OK;
}

static ingot_status sizes_by_scales(ingot_infer *c, int count, const int *axes, ingot_dim *dims)
{
    double scales[INGOT_MAX_RANK], lengths[INGOT_MAX_RANK];
    bool known;
    INGOT_TRY(read_scales(c, count, scales, &known));
    INGOT_TRY(read_region(c, count, lengths, &known));
    for (int i = 0; i < count; i++) {
        if (known)
            INGOT_TRY(scaled_size(c, dims[axes[i]], scales[i] * lengths[i], &dims[axes[i]]));
        else
            dims[axes[i]] = INGOT_DIM_UNKNOWN;
    }
    return INGOT_OK;
}

static ingot_status sizes_as_given(ingot_infer *c, int count, const int *axes, ingot_dim *dims)
{
    const ingot_resize_params *params = c->params;
    ingot_dim sizes[INGOT_MAX_RANK], in[INGOT_MAX_RANK];
    double lengths[INGOT_MAX_RANK];
    size_t read;
    bool numbers = true, known = true;
    INGOT_TRY(check_count(c, "sizes", element_count(c, 3), count));
    INGOT_TRY(read_region(c, count, lengths, &known));
    known = ingot_infer_integers(c, 3, sizes, INGOT_MAX_RANK, &read) && read == (size_t)count;
    for (int i = 0; i < count; i++) {
        in[i] = dims[axes[i]];
        if (known && ingot_dim_is_number(sizes[i]) && sizes[i] < 0)
            return ingot_infer_fail(c, "element %d of sizes is %lld; a size is at least 0", i, (long long)sizes[i]);
        numbers &= known && ingot_dim_is_number(sizes[i]) && ingot_dim_is_number(in[i]);
        dims[axes[i]] = known && params->policy == INGOT_RESIZE_STRETCH ? sizes[i] : INGOT_DIM_UNKNOWN;
    }
    if (params->policy == INGOT_RESIZE_STRETCH || !numbers)
        return INGOT_OK;
    double scale = ingot_resize_common_scale(params->policy, count, in, sizes);
    for (int i = 0; i < count; i++) {
        double size = floor(scale * (double)in[i] + 0.5);
        if (!(size < 0x1p62))
            return ingot_infer_fail(c, "sizes ask for a dimension that is larger than any tensor can be");
        dims[axes[i]] = (int64_t)size;
    }
    return INGOT_OK;
}

static ingot_status infer_sizes(ingot_infer *c, ingot_dim *dims)
{
    const ingot_resize_params *params = c->params;
    int rank = c->inputs[0].type.rank, axes[INGOT_MAX_RANK];
    size_t given;
    bool known;
    INGOT_TRY(ingot_movement_axes(c, &params->axes, SIZE_MAX, rank, &known, axes, &given));
    int count = ingot_resize_axes(params, rank, axes);
    if (params->legacy)
        return sizes_by_scales(c, count, axes, dims);
    int64_t scales = element_count(c, 2), sizes = element_count(c, 3);
    if (scales > 0 && sizes > 0)
        return ingot_infer_fail(c, "both scales and sizes are given; only one can be");
    if (scales == 0 && sizes == 0)
        return ingot_infer_fail(c, "neither scales nor sizes is given; one must be");
    if (scales < 0 && sizes != 0) {
        for (int i = 0; i < count; i++)
            dims[axes[i]] = INGOT_DIM_UNKNOWN;
        return INGOT_OK;
    }
    return sizes == 0 ? sizes_by_scales(c, count, axes, dims) : sizes_as_given(c, count, axes, dims);
}

static ingot_status infer_resize(ingot_infer *c)
{
    const ingot_resize_params *params = c->params;
    const ingot_type *input = &c->inputs[0].type;
    ingot_element element = input->element;
    ingot_dim dims[INGOT_MAX_RANK];
    if (params->mode != INGOT_RESIZE_NEAREST &&
        (element == INGOT_STRING || element == INGOT_COMPLEX64 || element == INGOT_COMPLEX128))
        return ingot_infer_fail(c, "mode '%s' cannot be used on elements of type %s", resize_modes[params->mode],
                                ingot_element_name(element));
    if (params->by_attributes)
        INGOT_TRY(ingot_infer_rank(c, 0, 4, 4));
    for (size_t i = 1; i < 4; i++)
        INGOT_TRY(ingot_infer_rank(c, i, 1, 1));
    if (input->rank < 0) {
        ingot_infer_set_unranked(c, 0, element);
        return INGOT_OK;
    }
    for (int i = 0; i < input->rank; i++)
        dims[i] = input->dims[i];
    INGOT_TRY(infer_sizes(c, dims));
    for (int i = 0; i < input->rank; i++)
        if (input->dims[i] == 0 && ingot_dim_is_number(dims[i]) && dims[i] > 0)
            return ingot_infer_fail(c, "dimension %d of the input has size 0; it cannot be resized to %lld", i,
                                    (long long)dims[i]);
    return ingot_movement_set(c, 0, element, input->rank, dims);
}

const ingot_op ingot_op_resize_10 = {
    .summary = "a tensor on a finer or coarser grid",
    .params_size = sizeof(ingot_resize_params),
    .fields = upsample_fields,
    .check = check_legacy,
    .infer = infer_resize,
};

const ingot_op ingot_op_resize = {
    .summary = "a tensor on a finer or coarser grid",
    .params_size = sizeof(ingot_resize_params),
    .fields = resize_fields,
    .check = check_resize,
    .infer = infer_resize,
};
