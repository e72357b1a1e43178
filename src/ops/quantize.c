#include "ops/quantize.h"

#include <stddef.h>
#include <string.h>

#define FIELD(attribute, kind, field)                                    \
    {                                                                    \
        attribute, kind, offsetof(ingot_quantize_params, field), NULL, 0 \
    }

static const ingot_param_field quantize_fields[] = {
    FIELD("axis", INGOT_PARAM_INT, axis),
    FIELD("block_size", INGOT_PARAM_INT, block_size),
    FIELD("output_dtype", INGOT_PARAM_INT, output_type),
    FIELD("precision", INGOT_PARAM_INT, precision),
    FIELD("saturate", INGOT_PARAM_BOOL, saturate),
    {NULL, 0, 0, NULL, 0},
};

/* ---- Checks ---- */

#define FLOAT_OUTPUTS \
    (INGOT_ELEMENT_BIT(INGOT_FLOAT) | INGOT_ELEMENT_BIT(INGOT_FLOAT16) | INGOT_ELEMENT_BIT(INGOT_BFLOAT16))

#define NARROW_OUTPUTS                                                                                      \
    (INGOT_ELEMENT_BIT(INGOT_INT8) | INGOT_ELEMENT_BIT(INGOT_UINT8) | INGOT_ELEMENT_BIT(INGOT_INT16) |      \
     INGOT_ELEMENT_BIT(INGOT_UINT16) | INGOT_ELEMENT_BIT(INGOT_INT4) | INGOT_ELEMENT_BIT(INGOT_UINT4) |     \
     INGOT_ELEMENT_BIT(INGOT_INT2) | INGOT_ELEMENT_BIT(INGOT_UINT2) | INGOT_ELEMENT_BIT(INGOT_FLOAT4E2M1) | \
     INGOT_ELEMENT_BIT(INGOT_FLOAT8E4M3FN) | INGOT_ELEMENT_BIT(INGOT_FLOAT8E4M3FNUZ) |                      \
     INGOT_ELEMENT_BIT(INGOT_FLOAT8E5M2) | INGOT_ELEMENT_BIT(INGOT_FLOAT8E5M2FNUZ))

static ingot_status check_type(const ingot_node *node, const char *name, int64_t type, ingot_element_set allowed,
                               ingot_error *error)
{
    if (type == 0 || (type > 0 && type < INGOT_ELEMENT_COUNT && (allowed & INGOT_ELEMENT_BIT(type))))
        return INGOT_OK;
    return ingot_node_fail(node, error, INGOT_INVALID_MODEL, "%s is %lld, which is no type that %s can give", name,
                           (long long)type, node->op_type);
}

static ingot_status check_common(const ingot_node *node, ingot_quantize_params *p, ingot_error *error)
{
    p->per_tensor = strcmp(node->domain, "ai.onnx") == 0 && node->opset < 13;
    if (p->block_size >= 0)
        return INGOT_OK;
    return ingot_node_fail(node, error, INGOT_INVALID_MODEL, "block_size is %lld, expected 0 or more",
                           (long long)p->block_size);
}

static ingot_status check_quantize(const ingot_node *node, void *params, ingot_error *error)
{
    ingot_quantize_params *p = params;
    INGOT_TRY(check_common(node, p, error));
    INGOT_TRY(check_type(node, "output_dtype", p->output_type, NARROW_OUTPUTS, error));
    return check_type(node, "precision", p->precision, FLOAT_OUTPUTS, error);
}

static ingot_status check_dequantize(const ingot_node *node, void *params, ingot_error *error)
{
    ingot_quantize_params *p = params;
    INGOT_TRY(check_common(node, p, error));
    return check_type(node, "output_dtype", p->output_type, FLOAT_OUTPUTS, error);
}

/* ---- Shapes ---- */

static ingot_status fail(const ingot_node *node, ingot_dims *dims, ingot_error *error, const char *what,
                         ingot_dim found, ingot_dim expected, int axis, int64_t block_size)
{
    return ingot_node_fail(node, error, dims ? INGOT_INVALID_MODEL : INGOT_INVALID_INPUT,
                           "the scale has %s %lld, expected %lld (axis %d of the input, block_size = %lld)", what,
                           (long long)found, (long long)expected, axis, (long long)block_size);
}

static bool differ(ingot_dim a, ingot_dim b)
{
    return ingot_dim_is_number(a) && ingot_dim_is_number(b) && a != b;
}

static ingot_status check_blocks(const ingot_node *node, const ingot_quantize_params *p, ingot_dims *dims, int rank,
                                 const ingot_dim *x, int scale_rank, const ingot_dim *scale, int axis,
                                 ingot_error *error)
{
    if (scale_rank != rank)
        return fail(node, dims, error, "rank", scale_rank, rank, axis, p->block_size);
    for (int i = 0; i < rank; i++) {
        ingot_dim expected = i == axis ? ingot_dim_make(dims, INGOT_DIM_CEIL_DIV, x[i], p->block_size) : x[i];
        if (differ(scale[i], expected))
            return fail(node, dims, error, "a size of", scale[i], expected, i, p->block_size);
    }
    return INGOT_OK;
}

ingot_status ingot_quantize_granularity(const ingot_node *node, const ingot_quantize_params *params, ingot_dims *dims,
                                        int rank, const ingot_dim *x, int scale_rank, const ingot_dim *scale,
                                        ingot_granularity *granularity, int *axis, ingot_error *error)
{
    *granularity = INGOT_PER_TENSOR;
    *axis = 0;
    bool single = scale_rank == 0 || (scale_rank == 1 && scale[0] == 1);
    if (params->block_size == 0 && single)
        return INGOT_OK;
    if (params->per_tensor) {
        if (scale_rank > 1 || ingot_dim_is_number(scale[0]))
            return ingot_node_fail(node, error, dims ? INGOT_INVALID_MODEL : INGOT_INVALID_INPUT,
                                   "the scale has more than one element: before opset 13 it must be a scalar");
        return INGOT_OK;
    }
    if (params->axis < -rank || params->axis >= rank) {
        if (rank != 1)
            return ingot_node_fail(node, error, dims ? INGOT_INVALID_MODEL : INGOT_INVALID_INPUT,
                                   "axis is %lld, expected %d to %d for an input of rank %d", (long long)params->axis,
                                   -rank, rank - 1, rank);
    } else {
        *axis = (int)(params->axis < 0 ? params->axis + rank : params->axis);
    }
    if (params->block_size > 0) {
        *granularity = INGOT_PER_BLOCK;
        return check_blocks(node, params, dims, rank, x, scale_rank, scale, *axis, error);
    }
    *granularity = INGOT_PER_AXIS;
    if (scale_rank != 1)
        return fail(node, dims, error, "rank", scale_rank, 1, *axis, params->block_size);
    if (differ(scale[0], x[*axis]))
        return fail(node, dims, error, "a size of", scale[0], x[*axis], *axis, params->block_size);
    return INGOT_OK;
}

static bool is_single(const ingot_type *type)
{
    return type->rank == 0 || (type->rank == 1 && type->dims[0] == 1);
}

static ingot_status check_zero_point(ingot_infer *c)
{
    const ingot_type *scale = &c->inputs[1].type, *zero = &c->inputs[2].type;
    if (!ingot_infer_has(c, 2) || zero->rank < 0 || scale->rank < 0 || (is_single(scale) && is_single(zero)))
        return INGOT_OK;
    INGOT_TRY(ingot_infer_rank(c, 2, scale->rank, scale->rank));
    for (int i = 0; i < zero->rank; i++)
        INGOT_TRY(ingot_infer_same_dim(c, "the sizes of the scale and of the zero point", scale->dims[i], zero->dims[i],
                                       NULL));
    return INGOT_OK;
}

static ingot_status infer_shapes(ingot_infer *c, ingot_element element)
{
    const ingot_type *x = &c->inputs[0].type, *scale = &c->inputs[1].type;
    ingot_granularity granularity;
    int axis;
    INGOT_TRY(check_zero_point(c));
    if (x->rank < 0) {
        ingot_infer_set_unranked(c, 0, element);
        return INGOT_OK;
    }
    if (scale->rank >= 0)
        INGOT_TRY(ingot_quantize_granularity(c->node, c->params, c->dims, x->rank, x->dims, scale->rank, scale->dims,
                                             &granularity, &axis, c->error));
    ingot_infer_set(c, 0, element, x->rank, x->dims);
    return INGOT_OK;
}

static ingot_status infer_quantize(ingot_infer *c)
{
    const ingot_quantize_params *p = c->params;
    ingot_element element = p->output_type ? (ingot_element)p->output_type : INGOT_UINT8;
    if (ingot_infer_has(c, 2)) {
        ingot_element zero = c->inputs[2].type.element;
        if (p->output_type && zero != element)
            return ingot_infer_fail(c, "output_dtype is %s, but the zero point is of type %s",
                                    ingot_element_name(element), ingot_element_name(zero));
        element = zero;
    }
    return infer_shapes(c, element);
}

static ingot_status infer_dequantize(ingot_infer *c)
{
    const ingot_quantize_params *p = c->params;
    ingot_element scale = c->inputs[1].type.element;
    if (!p->output_type && scale == INGOT_FLOAT8E8M0)
        return ingot_infer_fail(c, "output_dtype is needed with a scale of type %s", ingot_element_name(scale));
    return infer_shapes(c, p->output_type ? (ingot_element)p->output_type : scale);
}

static ingot_status infer_dynamic_quantize(ingot_infer *c)
{
    const ingot_type *x = &c->inputs[0].type;
    if (x->rank < 0)
        ingot_infer_set_unranked(c, 0, INGOT_UINT8);
    else
        ingot_infer_set(c, 0, INGOT_UINT8, x->rank, x->dims);
    ingot_infer_set(c, 1, INGOT_FLOAT, 0, NULL);
    ingot_infer_set(c, 2, INGOT_UINT8, 0, NULL);
    return INGOT_OK;
}

/* ---- Descriptors ---- */

const ingot_op ingot_op_quantize_linear = {
    .summary = "Floats over scales, rounded half to even, plus zero points, saturated to a narrow type.",
    .params_size = sizeof(ingot_quantize_params),
    .fields = quantize_fields,
    .check = check_quantize,
    .infer = infer_quantize,
};

const ingot_op ingot_op_dequantize_linear = {
    .summary = "Narrow elements less zero points, times scales.",
    .params_size = sizeof(ingot_quantize_params),
    .fields = quantize_fields,
    .check = check_dequantize,
    .infer = infer_dequantize,
};

const ingot_op ingot_op_dynamic_quantize_linear = {
    .summary = "Floats quantized to uint8 over the range that they have.",
    .infer = infer_dynamic_quantize,
};
