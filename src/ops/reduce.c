/* The Reduce operators, ArgMax and ArgMin: attributes, shapes, content. */
#include "ops/reduce.h"

#include "ops/content.h"

#define KEEPDIMS                                                                       \
    {                                                                                  \
        "keepdims", INGOT_PARAM_BOOL, offsetof(ingot_reduce_params, keepdims), NULL, 0 \
    }
#define AXES                                                                   \
    {                                                                          \
        "axes", INGOT_PARAM_INTS, offsetof(ingot_reduce_params, axes), NULL, 0 \
    }
#define NOOP                                                                                                   \
    {                                                                                                          \
        "noop_with_empty_axes", INGOT_PARAM_BOOL, offsetof(ingot_reduce_params, noop_with_empty_axes), NULL, 0 \
    }

static const ingot_param_field attribute_fields[] = {KEEPDIMS, AXES, {0}};
static const ingot_param_field input_fields[] = {KEEPDIMS, NOOP, {0}};
static const ingot_param_field arg_fields[] = {
    {"axis", INGOT_PARAM_INT, offsetof(ingot_arg_params, axis), NULL, 0},
    {"keepdims", INGOT_PARAM_BOOL, offsetof(ingot_arg_params, keepdims), NULL, 0},
    {"select_last_index", INGOT_PARAM_BOOL, offsetof(ingot_arg_params, select_last_index), NULL, 0},
    {0},
};

bool ingot_reduce_mask(int rank, const int64_t *axes, size_t count, bool noop, uint32_t *mask, size_t *bad)
{
    *mask = count == 0 && !noop ? (UINT32_C(1) << rank) - 1 : 0;
    for (size_t i = 0; i < count; i++) {
        if (axes[i] < -rank || axes[i] >= rank) {
            *bad = i;
            return false;
        }
        *mask |= UINT32_C(1) << (axes[i] < 0 ? axes[i] + rank : axes[i]);
    }
    return true;
}

/* ---- Shapes ---- */

static void set_reduced(ingot_infer *c, ingot_element element, uint32_t mask, bool keepdims)
{
    const ingot_type *x = &c->inputs[0].type;
    ingot_dim dims[INGOT_MAX_RANK];
    int rank = 0;
    for (int i = 0; i < x->rank; i++) {
        bool reduced = mask >> i & 1;
        if (!reduced || keepdims)
            dims[rank++] = reduced ? 1 : x->dims[i];
    }
    ingot_infer_set(c, 0, element, rank, dims);
}

/* Axes come as an input whose content is not known yet. */
static void set_without_axes(ingot_infer *c)
{
    const ingot_reduce_params *p = c->params;
    const ingot_type *x = &c->inputs[0].type;
    ingot_dim dims[INGOT_MAX_RANK];
    for (int i = 0; i < x->rank; i++)
        dims[i] = x->dims[i] == 1 ? 1 : INGOT_DIM_UNKNOWN;
    ingot_infer_set(c, 0, x->element, p->keepdims ? x->rank : -1, dims);
}

/* The axes, where they are known: false where they are not. max is the size of axes. */
static bool find_axes(const ingot_infer *c, int64_t *axes, size_t max, size_t *count)
{
    const ingot_reduce_params *p = c->params;
    if (ingot_infer_has(c, 1))
        return ingot_infer_numbers(c, 1, axes, max, count);
    *count = p->axes.count < max ? p->axes.count : max;
    for (size_t i = 0; i < *count; i++)
        axes[i] = p->axes.data[i];
    return true;
}

static ingot_status infer_shape(ingot_infer *c, uint32_t *mask)
{
    const ingot_reduce_params *p = c->params;
    const ingot_type *x = &c->inputs[0].type;
    int64_t axes[INGOT_MAX_KNOWN];
    size_t count, bad;
    *mask = 0;
    INGOT_TRY(ingot_infer_rank(c, 1, 0, 1));
    if (x->rank < 0) {
        ingot_infer_set_unranked(c, 0, x->element);
        return INGOT_OK;
    }
    if (!find_axes(c, axes, INGOT_MAX_KNOWN, &count)) {
        set_without_axes(c);
        return INGOT_OK;
    }
    if (!ingot_reduce_mask(x->rank, axes, count, p->noop_with_empty_axes, mask, &bad))
        return ingot_infer_fail(c, "'axes' holds %lld, but the input has rank %d: an axis must be in %d ... %d",
                                (long long)axes[bad], x->rank, -x->rank, x->rank - 1);
    set_reduced(c, x->element, *mask, p->keepdims);
    return INGOT_OK;
}

static ingot_status infer_plain(ingot_infer *c)
{
    uint32_t mask;
    return infer_shape(c, &mask);
}

/* All of a small tensor joined into one number. */
static ingot_status infer_joined(ingot_infer *c, ingot_dim_kind kind)
{
    ingot_dim values[INGOT_MAX_KNOWN];
    size_t count;
    uint32_t mask;
    INGOT_TRY(infer_shape(c, &mask));
    int rank = c->inputs[0].type.rank;
    if (rank < 0 || mask != (UINT32_C(1) << rank) - 1 || !ingot_content_of(c, 0, values, &count) || count == 0)
        return INGOT_OK;
    for (size_t i = 1; i < count; i++)
        values[0] = ingot_dim_make(c->dims, kind, values[0], values[i]);
    ingot_content_set(c, 0, values, 1);
    return INGOT_OK;
}

static ingot_status infer_sum(ingot_infer *c)
{
    return infer_joined(c, INGOT_DIM_ADD);
}

static ingot_status infer_prod(ingot_infer *c)
{
    return infer_joined(c, INGOT_DIM_MUL);
}

static ingot_status infer_max(ingot_infer *c)
{
    return infer_joined(c, INGOT_DIM_MAX);
}

static ingot_status infer_min(ingot_infer *c)
{
    return infer_joined(c, INGOT_DIM_MIN);
}

static ingot_status infer_arg(ingot_infer *c)
{
    const ingot_arg_params *p = c->params;
    const ingot_type *x = &c->inputs[0].type;
    int axis;
    if (x->rank < 0) {
        ingot_infer_set_unranked(c, 0, INGOT_INT64);
        return INGOT_OK;
    }
    if (x->rank == 0 && (p->axis == 0 || p->axis == -1)) { /* numpy takes a scalar for one element */
        ingot_infer_set(c, 0, INGOT_INT64, 0, NULL);
        return INGOT_OK;
    }
    INGOT_TRY(ingot_infer_axis(c, "axis", p->axis, x->rank, 0, &axis));
    if (x->dims[axis] == 0)
        return ingot_infer_fail(c, "axis %d of the input has size 0: of no elements none is the greatest or least",
                                axis);
    set_reduced(c, INGOT_INT64, UINT32_C(1) << axis, p->keepdims);
    return INGOT_OK;
}

/* ---- Descriptors ---- */

#define REDUCE_INPUT(op, text, infer_function) \
    const ingot_op ingot_op_reduce_##op = {    \
        .summary = text, .params_size = sizeof(ingot_reduce_params), .fields = input_fields, .infer = infer_function};
#define REDUCE_ATTRIBUTE(op, text, infer_function)                                         \
    const ingot_op ingot_op_reduce_##op##_1 = {.summary = text " (axes as attribute)",     \
                                               .params_size = sizeof(ingot_reduce_params), \
                                               .fields = attribute_fields,                 \
                                               .infer = infer_function};
#define REDUCE(op, text, infer_function)       \
    REDUCE_ATTRIBUTE(op, text, infer_function) \
    REDUCE_INPUT(op, text, infer_function)

REDUCE(sum, "Sums along axes", infer_sum)
REDUCE(mean, "Means along axes", infer_plain)
REDUCE(max, "The greatest elements along axes; NaN where there is one", infer_max)
REDUCE(min, "The least elements along axes; NaN where there is one", infer_min)
REDUCE(prod, "Products along axes", infer_prod)
REDUCE(l1, "Sums of absolute values along axes", infer_plain)
REDUCE(l2, "Square roots of sums of squares along axes", infer_plain)
REDUCE(log_sum, "Logarithms of sums along axes", infer_plain)
REDUCE(log_sum_exp, "Logarithms of sums of e^x along axes", infer_plain)
REDUCE(sum_square, "Sums of squares along axes", infer_plain)

const ingot_op ingot_op_arg_max = {.summary = "The index of the greatest element along an axis",
                                   .params_size = sizeof(ingot_arg_params),
                                   .fields = arg_fields,
                                   .infer = infer_arg};
const ingot_op ingot_op_arg_min = {.summary = "The index of the least element along an axis",
                                   .params_size = sizeof(ingot_arg_params),
                                   .fields = arg_fields,
                                   .infer = infer_arg};
