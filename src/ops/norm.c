/* Normalizations: attributes and shapes. */
#include "ops/norm.h"

#define FIELD(params, attribute, kind, field)             \
    {                                                     \
        attribute, kind, offsetof(params, field), NULL, 0 \
    }

static const ingot_param_field layer_norm_fields[] = {
    FIELD(ingot_layer_norm_params, "axis", INGOT_PARAM_INT, axis),
    FIELD(ingot_layer_norm_params, "epsilon", INGOT_PARAM_FLOAT, epsilon),
    FIELD(ingot_layer_norm_params, "stash_type", INGOT_PARAM_INT, stash_type),
    {0},
};
static const ingot_param_field group_norm_fields[] = {
    FIELD(ingot_group_norm_params, "epsilon", INGOT_PARAM_FLOAT, epsilon),
    FIELD(ingot_group_norm_params, "num_groups", INGOT_PARAM_INT, num_groups),
    {0},
};
static const ingot_param_field batch_norm_fields[] = {
    FIELD(ingot_batch_norm_params, "epsilon", INGOT_PARAM_FLOAT, epsilon),
    FIELD(ingot_batch_norm_params, "momentum", INGOT_PARAM_FLOAT, momentum),
    FIELD(ingot_batch_norm_params, "training_mode", INGOT_PARAM_BOOL, training),
    {0},
};
static const ingot_param_field old_batch_norm_fields[] = {
    FIELD(ingot_batch_norm_params, "epsilon", INGOT_PARAM_FLOAT, epsilon),
    FIELD(ingot_batch_norm_params, "momentum", INGOT_PARAM_FLOAT, momentum),
    FIELD(ingot_batch_norm_params, "spatial", INGOT_PARAM_BOOL, spatial),
    FIELD(ingot_batch_norm_params, "is_test", INGOT_PARAM_BOOL, is_test),
    {0},
};
static const ingot_param_field lp_norm_fields[] = {
    FIELD(ingot_lp_norm_params, "axis", INGOT_PARAM_INT, axis),
    FIELD(ingot_lp_norm_params, "p", INGOT_PARAM_INT, p),
    {0},
};
static const ingot_param_field mean_variance_fields[] = {
    FIELD(ingot_mean_variance_params, "axes", INGOT_PARAM_INTS, axes),
    {0},
};
static const ingot_param_field lrn_fields[] = {
    FIELD(ingot_lrn_params, "alpha", INGOT_PARAM_FLOAT, alpha),
    FIELD(ingot_lrn_params, "beta", INGOT_PARAM_FLOAT, beta),
    FIELD(ingot_lrn_params, "bias", INGOT_PARAM_FLOAT, bias),
    FIELD(ingot_lrn_params, "size", INGOT_PARAM_INT, size),
    {0},
};

/* ---- LayerNormalization, RMSNormalization ---- */

static ingot_status check_layer_norm(const ingot_node *node, void *params, ingot_error *error)
{
    int64_t type = ((ingot_layer_norm_params *)params)->stash_type;
    if (type != INGOT_FLOAT && type != INGOT_FLOAT16 && type != INGOT_BFLOAT16 && type != INGOT_DOUBLE)
        return ingot_node_fail(node, error, INGOT_INVALID_MODEL,
                               "attribute 'stash_type' is %lld, but must be a float type: 1, 10, 11 or 16",
                               (long long)type);
    return INGOT_OK;
}

/* An input that must broadcast to the shape of input 0 without changing it. */
static ingot_status check_fits(ingot_infer *c, size_t input, const char *name)
{
    const ingot_type *x = &c->inputs[0].type;
    if (!ingot_infer_has(c, input) || c->inputs[input].type.rank < 0 || x->rank < 0)
        return INGOT_OK;
    const ingot_type *own = &c->inputs[input].type;
    if (own->rank > x->rank)
        return ingot_infer_fail(c, "input '%s' has rank %d, more than %d of the input", name, own->rank, x->rank);
    for (int i = 0; i < own->rank; i++) {
        ingot_dim size = own->dims[i], wanted = x->dims[i + x->rank - own->rank];
        if (ingot_dim_is_number(size) && size != 1 && ingot_dim_is_number(wanted) && size != wanted)
            return ingot_infer_fail(c,
                                    "input '%s' has size %lld on its axis %d, which must be 1 or %lld to fit the input",
                                    name, (long long)size, i, (long long)wanted);
    }
    return INGOT_OK;
}

static ingot_status infer_layer_norm(ingot_infer *c)
{
    const ingot_layer_norm_params *p = c->params;
    const ingot_type *x = &c->inputs[0].type;
    ingot_element stash = (ingot_element)p->stash_type;
    int axis = 0;
    ingot_infer_copy(c, 0, 0, false);
    if (x->rank < 0) {
        ingot_infer_set_unranked(c, 1, stash);
        ingot_infer_set_unranked(c, 2, stash);
        return INGOT_OK;
    }
    INGOT_TRY(ingot_infer_axis(c, "axis", p->axis, x->rank, 0, &axis));
    INGOT_TRY(check_fits(c, 1, "scale"));
    INGOT_TRY(check_fits(c, 2, "B"));
    ingot_dim dims[INGOT_MAX_RANK];
    for (int i = 0; i < x->rank; i++)
        dims[i] = i < axis ? x->dims[i] : 1;
    ingot_infer_set(c, 1, stash, x->rank, dims);
    ingot_infer_set(c, 2, stash, x->rank, dims);
    return INGOT_OK;
}

/* ---- Per channel ---- */

static ingot_dim channels_of(const ingot_type *x)
{
    return x->rank < 0 ? INGOT_DIM_UNKNOWN : x->rank > 1 ? x->dims[1] : 1;
}

/* Inputs first ... first + count - 1 are vectors of one number a channel; *channels becomes known where one of them is. */
static ingot_status check_channels(ingot_infer *c, size_t first, size_t count, ingot_dim *channels)
{
    for (size_t i = first; i < first + count; i++) {
        INGOT_TRY(ingot_infer_rank(c, i, 1, 1));
        if (ingot_infer_has(c, i) && c->inputs[i].type.rank == 1)
            INGOT_TRY(ingot_infer_same_dim(c, "the numbers of channels of the input and of its statistics", *channels,
                                           c->inputs[i].type.dims[0], channels));
    }
    return INGOT_OK;
}

static ingot_status infer_instance_norm(ingot_infer *c)
{
    ingot_dim channels = channels_of(&c->inputs[0].type);
    INGOT_TRY(ingot_infer_rank(c, 0, 2, INGOT_MAX_RANK));
    INGOT_TRY(check_channels(c, 1, 2, &channels));
    ingot_infer_copy(c, 0, 0, false);
    return INGOT_OK;
}

static ingot_status check_group_norm(const ingot_node *node, void *params, ingot_error *error)
{
    int64_t groups = ((ingot_group_norm_params *)params)->num_groups;
    if (groups < 1)
        return ingot_node_fail(node, error, INGOT_INVALID_MODEL, "attribute 'num_groups' is %lld, but must be positive",
                               (long long)groups);
    return INGOT_OK;
}

static ingot_status infer_group_norm(ingot_infer *c)
{
    const ingot_group_norm_params *p = c->params;
    ingot_dim channels = channels_of(&c->inputs[0].type);
    INGOT_TRY(infer_instance_norm(c));
    if (ingot_dim_is_number(channels) && channels % p->num_groups != 0)
        return ingot_infer_fail(c, "%lld channels do not fall into %lld groups (attribute 'num_groups') of one size",
                                (long long)channels, (long long)p->num_groups);
    return INGOT_OK;
}

/* ---- BatchNormalization ---- */

static ingot_status check_batch_norm_1(const ingot_node *node, void *params, ingot_error *error)
{
    ingot_batch_norm_params *p = params;
    p->training = !p->is_test;
    p->per_place = !p->spatial;
    return INGOT_OK;
}

/* Before version 14 a model that wants the statistics is in training. */
static ingot_status check_batch_norm_7(const ingot_node *node, void *params, ingot_error *error)
{
    ingot_batch_norm_params *p = params;
    for (size_t i = 1; i < node->output_count; i++)
        p->training = p->training || node->outputs[i];
    p->per_place = node->opset < 9 && !p->spatial;
    return INGOT_OK;
}

static ingot_status check_batch_norm(const ingot_node *node, void *params, ingot_error *error)
{
    const ingot_batch_norm_params *p = params;
    for (size_t i = 1; i < node->output_count; i++)
        if (node->outputs[i] && !p->training)
            return ingot_node_fail(node, error, INGOT_INVALID_MODEL,
                                   "has output %zu, which is for attribute 'training_mode' 1 only", i);
    return INGOT_OK;
}

/* One statistic for each place within a sample: they have the sample's shape. */
static ingot_status check_places(ingot_infer *c)
{
    const ingot_type *x = &c->inputs[0].type;
    for (size_t i = 1; i < 5; i++) {
        const ingot_type *own = &c->inputs[i].type;
        if (x->rank < 1 || own->rank < 0)
            continue;
        if (own->rank != x->rank - 1)
            return ingot_infer_fail(c, "input %zu has rank %d, but a sample, whose shape it must have, has %d", i,
                                    own->rank, x->rank - 1);
        for (int k = 0; k < own->rank; k++)
            INGOT_TRY(
                ingot_infer_same_dim(c, "sizes of a sample and of its statistics", x->dims[k + 1], own->dims[k], NULL));
    }
    return INGOT_OK;
}

static ingot_status infer_batch_norm(ingot_infer *c)
{
    const ingot_batch_norm_params *p = c->params;
    ingot_dim channels = channels_of(&c->inputs[0].type);
    INGOT_TRY(ingot_infer_rank(c, 0, 1, INGOT_MAX_RANK));
    if (p->per_place)
        INGOT_TRY(check_places(c));
    else
        INGOT_TRY(check_channels(c, 1, 4, &channels));
    ingot_infer_copy(c, 0, 0, false);
    for (size_t i = 1; i < c->output_count; i++) {
        size_t like = i % 2 == 1 ? 3 : 4; /* mean, variance, saved mean, saved variance */
        if (p->per_place)
            ingot_infer_copy(c, i, like, false);
        else
            ingot_infer_set(c, i, c->inputs[like].type.element, 1, &channels);
    }
    return INGOT_OK;
}

/* ---- The others ---- */

static ingot_status check_lp_norm(const ingot_node *node, void *params, ingot_error *error)
{
    int64_t p = ((ingot_lp_norm_params *)params)->p;
    if (p != 1 && p != 2)
        return ingot_node_fail(node, error, INGOT_INVALID_MODEL, "attribute 'p' is %lld, but must be 1 or 2",
                               (long long)p);
    return INGOT_OK;
}

static ingot_status infer_lp_norm(ingot_infer *c)
{
    const ingot_lp_norm_params *p = c->params;
    int rank = c->inputs[0].type.rank, axis;
    if (rank >= 0)
        INGOT_TRY(ingot_infer_axis(c, "axis", p->axis, rank, 0, &axis));
    ingot_infer_copy(c, 0, 0, false);
    return INGOT_OK;
}

static ingot_status infer_mean_variance(ingot_infer *c)
{
    const ingot_mean_variance_params *p = c->params;
    int rank = c->inputs[0].type.rank, axis;
    for (size_t i = 0; rank >= 0 && i < p->axes.count; i++)
        INGOT_TRY(ingot_infer_axis(c, "axes", p->axes.data[i], rank, 0, &axis));
    ingot_infer_copy(c, 0, 0, false);
    return INGOT_OK;
}

static ingot_status check_lrn(const ingot_node *node, void *params, ingot_error *error)
{
    int64_t size = ((ingot_lrn_params *)params)->size;
    if (size < 1)
        return ingot_node_fail(node, error, INGOT_INVALID_MODEL, "attribute 'size' is %lld, but must be positive",
                               (long long)size);
    return INGOT_OK;
}

static ingot_status infer_lrn(ingot_infer *c)
{
    INGOT_TRY(ingot_infer_rank(c, 0, 2, INGOT_MAX_RANK));
    ingot_infer_copy(c, 0, 0, false);
    return INGOT_OK;
}

/* ---- Descriptors ---- */

#define NORM(op, text, params, field_table, check_function, infer_function, op_flags) \
    const ingot_op ingot_op_##op = {.summary = text,                                  \
                                    .params_size = sizeof(params),                    \
                                    .fields = field_table,                            \
                                    .check = check_function,                          \
                                    .infer = infer_function,                          \
                                    .flags = op_flags};

NORM(layer_norm, "Mean 0 and variance 1 over the last axes, then scale and bias", ingot_layer_norm_params,
     layer_norm_fields, check_layer_norm, infer_layer_norm, INGOT_OP_IN_PLACE)
NORM(rms_norm, "Root mean square 1 over the last axes, then scale", ingot_layer_norm_params, layer_norm_fields,
     check_layer_norm, infer_layer_norm, INGOT_OP_IN_PLACE)
NORM(instance_norm, "Mean 0 and variance 1 for each sample and channel, then scale and bias", ingot_group_norm_params,
     group_norm_fields, NULL, infer_instance_norm, INGOT_OP_IN_PLACE)
NORM(group_norm, "Mean 0 and variance 1 for each sample and group of channels, then scale and bias",
     ingot_group_norm_params, group_norm_fields, check_group_norm, infer_group_norm, INGOT_OP_IN_PLACE)
NORM(batch_norm_1, "Normalizes channels by given statistics, or those of the batch (before version 7)",
     ingot_batch_norm_params, old_batch_norm_fields, check_batch_norm_1, infer_batch_norm, INGOT_OP_IN_PLACE)
NORM(batch_norm_7, "Normalizes channels by given statistics, or those of the batch (before version 14)",
     ingot_batch_norm_params, old_batch_norm_fields, check_batch_norm_7, infer_batch_norm, INGOT_OP_IN_PLACE)
NORM(batch_norm, "Normalizes channels by given statistics, or those of the batch", ingot_batch_norm_params,
     batch_norm_fields, check_batch_norm, infer_batch_norm, INGOT_OP_IN_PLACE)
NORM(lp_norm, "x divided by its norm along an axis", ingot_lp_norm_params, lp_norm_fields, check_lp_norm, infer_lp_norm,
     INGOT_OP_IN_PLACE)
NORM(mean_variance_norm, "Mean 0 and variance 1 over axes", ingot_mean_variance_params, mean_variance_fields, NULL,
     infer_mean_variance, INGOT_OP_IN_PLACE)
NORM(lrn, "x divided by a power of the squares of the channels around it", ingot_lrn_params, lrn_fields, check_lrn,
     infer_lrn, 0)
