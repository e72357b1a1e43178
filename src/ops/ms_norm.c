/* com.microsoft: normalizations with the sums and look-ups before them, rewritten into the standard's operators. */
#include "ops/expand.h"

/* The two of ONNX Runtime whose epsilon has this default. */
#define TINY_EPSILON 1e-12f

/* LayerNormalization of x over the last axis into mean (may be NULL) and deviation; returns the output. */
static ingot_graph_value *layer_norm(ingot_expansion *e, ingot_graph_value *x, ingot_graph_value *scale,
                                     ingot_graph_value *bias, ingot_graph_value **moments)
{
    ingot_attribute attributes[] = {ingot_int_of("axis", -1),
                                    ingot_float_of("epsilon", ingot_expand_float(e, "epsilon", TINY_EPSILON))};
    ingot_graph_value *inputs[] = {x, scale, bias}, *outputs[3];
    ingot_expand_node(e, &(ingot_expand_spec){NULL, "LayerNormalization", 17, attributes, 2, inputs, 3},
                      moments ? 3 : 1, outputs);
    for (size_t i = 0; moments && i < 2; i++)
        moments[i] = outputs[i + 1];
    return outputs[0];
}

ingot_status ingot_upgrade_skip_layer_norm(ingot_node *node, ingot_error *error)
{
    ingot_expansion e = ingot_expand_begin(node, error);
    bool wants_moments = ingot_expand_wants(&e, 1) || ingot_expand_wants(&e, 2);
    ingot_graph_value *moments[2] = {NULL, NULL};
    ingot_graph_value *sum = ingot_expand_plus(&e, ingot_expand_input(&e, 0), ingot_expand_input(&e, 1));
    sum = ingot_expand_plus(&e, sum, ingot_expand_input(&e, 4));
    ingot_expand_result(
        &e, 0,
        layer_norm(&e, sum, ingot_expand_input(&e, 2), ingot_expand_input(&e, 3), wants_moments ? moments : NULL));
    ingot_expand_result(&e, 1, moments[0]);
    ingot_expand_result(&e, 2, moments[1]);
    ingot_expand_result(&e, 3, sum);
    return ingot_expand_end(&e);
}

ingot_status ingot_upgrade_skip_simplified_layer_norm(ingot_node *node, ingot_error *error)
{
    ingot_expansion e = ingot_expand_begin(node, error);
    ingot_attribute attributes[] = {ingot_int_of("axis", -1),
                                    ingot_float_of("epsilon", ingot_expand_float(&e, "epsilon", TINY_EPSILON))};
    ingot_graph_value *sum = ingot_expand_plus(&e, ingot_expand_input(&e, 0), ingot_expand_input(&e, 1));
    sum = ingot_expand_plus(&e, sum, ingot_expand_input(&e, 3));
    ingot_expand_result(&e, 0, INGOT_EXPAND(&e, "RMSNormalization", 23, attributes, 2, sum, ingot_expand_input(&e, 2)));
    ingot_expand_result(&e, 3, sum);
    return ingot_expand_end(&e);
}

ingot_status ingot_upgrade_simplified_layer_norm(ingot_node *node, ingot_error *error)
{
    static const char *const names[] = {"axis", "epsilon", "stash_type", NULL};
    ingot_expansion e = ingot_expand_begin(node, error);
    ingot_attribute attributes[3];
    size_t count = ingot_expand_pass_on(&e, names, attributes);
    ingot_expand_result(&e, 0,
                        INGOT_EXPAND(&e, "RMSNormalization", 23, attributes, count, ingot_expand_input(&e, 0),
                                     ingot_expand_input(&e, 1)));
    return ingot_expand_end(&e);
}

/* ---- Embeddings ---- */

/* The eight or so inputs of an embedding, as floats. */
typedef struct embedding {
    ingot_graph_value *ids, *segments, *words, *positions, *segment_table, *scale, *bias, *mask, *position_ids;
} embedding;

/* Rows 0 ... length - 1 of the table of positions, or those that position_ids tells. */
static ingot_graph_value *position_rows(ingot_expansion *e, const embedding *in)
{
    const int64_t zero = 0;
    if (in->position_ids)
        return INGOT_EXPAND(e, "Gather", 13, NULL, 0, in->positions, in->position_ids);
    ingot_attribute second[] = {ingot_int_of("start", 1), ingot_int_of("end", 2)};
    ingot_graph_value *length = INGOT_EXPAND(e, "Shape", 15, second, 2, in->ids);
    ingot_graph_value *first = ingot_expand_vector(e, &zero, 1);
    return INGOT_EXPAND(e, "Slice", 13, NULL, 0, in->positions, first, length, first);
}

/* The number of words of each sample; 0 without a mask. */
static ingot_graph_value *mask_index(ingot_expansion *e, const embedding *in)
{
    const int64_t words = 1;
    if (in->mask) {
        ingot_attribute drop = ingot_int_of("keepdims", 0);
        return INGOT_EXPAND(e, "ReduceSum", 13, &drop, 1, in->mask, ingot_expand_vector(e, &words, 1));
    }
    ingot_attribute first[] = {ingot_int_of("start", 0), ingot_int_of("end", 1)};
    ingot_graph_value *batch = INGOT_EXPAND(e, "Shape", 15, first, 2, in->ids);
    return INGOT_EXPAND(e, "Expand", 13, NULL, 0, ingot_expand_number(e, INGOT_INT32, 0), batch);
}

static void embed(ingot_expansion *e, const embedding *in)
{
    ingot_graph_value *sum = INGOT_EXPAND(e, "Gather", 13, NULL, 0, in->words, in->ids);
    sum = ingot_expand_plus(e, sum, position_rows(e, in));
    if (in->segments && in->segment_table)
        sum = ingot_expand_plus(e, sum, INGOT_EXPAND(e, "Gather", 13, NULL, 0, in->segment_table, in->segments));
    if (ingot_expand_wants(e, 1))
        ingot_expand_result(e, 1, mask_index(e, in));
    ingot_expand_result(e, 0, layer_norm(e, sum, in->scale, in->bias, NULL));
    ingot_expand_result(e, 2, sum);
}

ingot_status ingot_upgrade_embed_layer_norm(ingot_node *node, ingot_error *error)
{
    ingot_expansion e = ingot_expand_begin(node, error);
    embed(&e, &(embedding){.ids = ingot_expand_input(&e, 0),
                           .segments = ingot_expand_input(&e, 1),
                           .words = ingot_expand_input(&e, 2),
                           .positions = ingot_expand_input(&e, 3),
                           .segment_table = ingot_expand_input(&e, 4),
                           .scale = ingot_expand_input(&e, 5),
                           .bias = ingot_expand_input(&e, 6),
                           .mask = ingot_expand_input(&e, 7),
                           .position_ids = ingot_expand_input(&e, 8)});
    return ingot_expand_end(&e);
}

/* Tables, scale and bias are 8-bit: inputs 2 ... 6, their scales from 8 on, their zero points from 13 on. */
ingot_status ingot_upgrade_quantized_embed_layer_norm(ingot_node *node, ingot_error *error)
{
    enum { FIRST = 2, TABLES = 5, SCALES = 8, ZERO_POINTS = 13 };
    ingot_expansion e = ingot_expand_begin(node, error);
    ingot_graph_value *floats[TABLES];
    for (size_t i = 0; i < TABLES; i++) {
        ingot_graph_value *x = ingot_expand_input(&e, FIRST + i);
        floats[i] = x ? INGOT_EXPAND(&e, "DequantizeLinear", 13, NULL, 0, x, ingot_expand_input(&e, SCALES + i),
                                     ingot_expand_input(&e, ZERO_POINTS + i))
                      : NULL;
    }
    embed(&e, &(embedding){.ids = ingot_expand_input(&e, 0),
                           .segments = ingot_expand_input(&e, 1),
                           .words = floats[0],
                           .positions = floats[1],
                           .segment_table = floats[2],
                           .scale = floats[3],
                           .bias = floats[4],
                           .mask = ingot_expand_input(&e, 7)});
    return ingot_expand_end(&e);
}

/* ---- Groups of channels ---- */

/* GroupNormalization of x with channels last or first, then x * sigmoid(x) where activation is 1. */
static ingot_graph_value *group_norm(ingot_expansion *e, ingot_graph_value *x)
{
    bool last = ingot_expand_int(e, "channels_last", 1) != 0;
    ingot_element element = e->builder.status == INGOT_OK ? x->type.element : INGOT_FLOAT;
    ingot_attribute attributes[] = {ingot_int_of("num_groups", ingot_expand_int(e, "groups", 1)),
                                    ingot_float_of("epsilon", ingot_expand_float(e, "epsilon", 1e-5f))};
    ingot_graph_value *y =
        INGOT_EXPAND(e, "GroupNormalization", 21, attributes, 2, last ? ingot_expand_channels_first(e, x) : x,
                     ingot_expand_cast(e, ingot_expand_input(e, 1), element),
                     ingot_expand_cast(e, ingot_expand_input(e, 2), element));
    if (ingot_expand_int(e, "activation", 0) == 1)
        y = INGOT_EXPAND(e, "Swish", 24, NULL, 0, y);
    return last ? ingot_expand_channels_last(e, y) : y;
}

ingot_status ingot_upgrade_group_norm(ingot_node *node, ingot_error *error)
{
    ingot_expansion e = ingot_expand_begin(node, error);
    ingot_expand_result(&e, 0, group_norm(&e, ingot_expand_input(&e, 0)));
    return ingot_expand_end(&e);
}

/* What is added to x: of x's shape, or one number for each sample and channel, [N, C], or [C]. */
static ingot_graph_value *spread_channels(ingot_expansion *e, ingot_graph_value *value, int rank, const char *name)
{
    bool last = ingot_expand_int(e, "channels_last", 1) != 0;
    int own = value ? ingot_expand_rank(e, value, name) : 0;
    int64_t dims[INGOT_MAX_RANK], count = 0;
    if (!value || own == rank || (own == 1 && last))
        return value;
    dims[count++] = own == 1 ? 1 : 0;
    for (int i = 1; i < rank; i++)
        dims[count++] = i == (last ? rank - 1 : 1) ? -1 : 1;
    return ingot_expand_reshape(e, value, dims, (size_t)count);
}

ingot_status ingot_upgrade_skip_group_norm(ingot_node *node, ingot_error *error)
{
    ingot_expansion e = ingot_expand_begin(node, error);
    ingot_graph_value *x = ingot_expand_input(&e, 0);
    int rank = ingot_expand_rank(&e, x, "X");
    ingot_graph_value *sum = ingot_expand_plus(&e, x, spread_channels(&e, ingot_expand_input(&e, 3), rank, "skip"));
    sum = ingot_expand_plus(&e, sum, spread_channels(&e, ingot_expand_input(&e, 4), rank, "bias"));
    ingot_expand_result(&e, 0, group_norm(&e, sum));
    ingot_expand_result(&e, 1, sum);
    return ingot_expand_end(&e);
}
