/* What the attention operators of com.microsoft share. */
#include "ops/ms_attention.h"

#include <math.h>

#define DEFAULT_FILTER (-10000.0f) /* added where a mask says 0 */

int64_t ingot_ms_attention_heads(ingot_expansion *e)
{
    int64_t heads = ingot_expand_int(e, "num_heads", 0);
    if (heads < 1 || heads > INT32_MAX)
        ingot_expand_fail(e, INGOT_INVALID_MODEL, "attribute 'num_heads' is %lld, but must be positive",
                          (long long)heads);
    return heads;
}

/* ---- Masks ---- */

/* Past and new keys, int64 [1]. */
static ingot_graph_value *total_length(ingot_expansion *e, const ingot_ms_attention *a)
{
    int64_t axis = ingot_expand_rank(e, a->k, "key") == 4 ? 2 : 1;
    ingot_graph_value *own = ingot_expand_length(e, a->k, axis);
    return a->past_key ? INGOT_EXPAND(e, "Add", 14, NULL, 0, own, ingot_expand_length(e, a->past_key, 2)) : own;
}

/* Elements of a mask of one axis for each sample: 1 (ends), 2 (ends, starts) or 3 (and 2 in all: lengths and sums of them). */
static int numbers_a_sample(const ingot_expansion *e, const ingot_ms_attention *a)
{
    ingot_dims *dims = e->node->graph->module->dims;
    ingot_dim found = a->mask->type.dims[0], batch = a->q->type.dims[0];
    if (found == batch)
        return 1;
    if (found == ingot_dim_mul(dims, batch, 2))
        return 2;
    return found == ingot_dim_add(dims, ingot_dim_mul(dims, batch, 3), 2) ? 3 : 1;
}

/* Numbers of the mask for each sample, [batch, 1, 1, 1]: those after the first `skipped` times batch. */
static ingot_graph_value *numbers(ingot_expansion *e, const ingot_ms_attention *a, bool second)
{
    static const int64_t zero[] = {0}, dims[] = {-1, 1, 1, 1};
    ingot_graph_value *batch = ingot_expand_length(e, a->q, 0), *axis = ingot_expand_vector(e, zero, 1);
    ingot_graph_value *start = second ? batch : axis;
    ingot_graph_value *end = second ? INGOT_EXPAND(e, "Add", 14, NULL, 0, batch, batch) : batch;
    ingot_graph_value *part = INGOT_EXPAND(e, "Slice", 13, NULL, 0, a->mask, start, end, axis);
    return ingot_expand_reshape(e, ingot_expand_cast(e, part, INGOT_INT64), dims, 4);
}

/* Which keys a mask of one axis lets through, bool [batch, 1, 1, total]. */
static ingot_graph_value *keys_inside(ingot_expansion *e, const ingot_ms_attention *a)
{
    ingot_graph_value *keys = ingot_expand_positions(e, total_length(e, a));
    int parts = e->builder.status == INGOT_OK ? numbers_a_sample(e, a) : 1;
    ingot_graph_value *inside = INGOT_EXPAND(e, "Less", 13, NULL, 0, keys, numbers(e, a, false));
    if (parts != 2 || !a->by_end_and_start)
        return inside;
    ingot_graph_value *begun = INGOT_EXPAND(e, "GreaterOrEqual", 16, NULL, 0, keys, numbers(e, a, true));
    return INGOT_EXPAND(e, "And", 7, NULL, 0, inside, begun);
}

/* Which keys any mask lets through, bool, of rank 4. */
static ingot_graph_value *keys_seen(ingot_expansion *e, const ingot_ms_attention *a)
{
    static const int64_t for_keys[] = {1, 2}, for_queries[] = {1};
    int rank = ingot_expand_rank(e, a->mask, "mask");
    switch (rank) {
    case 1:
        return keys_inside(e, a);
    case 2:
    case 3: {
        ingot_graph_value *seen = ingot_expand_cast(e, a->mask, INGOT_BOOL);
        ingot_graph_value *axes = ingot_expand_vector(e, rank == 2 ? for_keys : for_queries, rank == 2 ? 2 : 1);
        return INGOT_EXPAND(e, "Unsqueeze", 13, NULL, 0, seen, axes);
    }
    default:
        ingot_expand_fail(e, INGOT_UNSUPPORTED, "its mask has rank %d; Ingot supports 1 to 3", rank);
        return NULL;
    }
}

/* What is added to the products: filter where the mask hides a key, and the bias. NULL: nothing. */
static ingot_graph_value *summand(ingot_expansion *e, const ingot_ms_attention *a)
{
    if (!a->mask)
        return a->bias ? ingot_expand_cast(e, a->bias, INGOT_FLOAT) : NULL;
    double filter = (double)ingot_expand_float(e, "mask_filter_value", DEFAULT_FILTER);
    ingot_graph_value *hidden =
        INGOT_EXPAND(e, "Where", 16, NULL, 0, keys_seen(e, a), ingot_expand_number(e, INGOT_FLOAT, 0),
                     ingot_expand_number(e, INGOT_FLOAT, filter));
    if (!a->bias)
        return hidden;
    return ingot_expand_plus(e, hidden, ingot_expand_cast(e, a->bias, INGOT_FLOAT));
}

/* Minus infinity where a key comes after the query, float [length, total]. */
static ingot_graph_value *causal_mask(ingot_expansion *e, const ingot_ms_attention *a)
{
    static const int64_t last[] = {1};
    ingot_graph_value *total = total_length(e, a), *length = ingot_expand_length(e, a->q, 1);
    ingot_graph_value *before = INGOT_EXPAND(e, "Sub", 14, NULL, 0, total, length);
    ingot_graph_value *own = INGOT_EXPAND(e, "Add", 14, NULL, 0, ingot_expand_positions(e, length), before);
    own = INGOT_EXPAND(e, "Unsqueeze", 13, NULL, 0, own, ingot_expand_vector(e, last, 1));
    ingot_graph_value *later = INGOT_EXPAND(e, "Greater", 13, NULL, 0, ingot_expand_positions(e, total), own);
    return INGOT_EXPAND(e, "Where", 16, NULL, 0, later, ingot_expand_number(e, INGOT_FLOAT, (double)-INFINITY),
                        ingot_expand_number(e, INGOT_FLOAT, 0));
}

/* ---- Products and softmax ---- */

/* [batch, length, heads * size] as [batch, heads, length, size]; of rank 4 it is that already. */
static ingot_graph_value *split_heads(ingot_expansion *e, ingot_graph_value *x, int64_t heads, const char *name)
{
    static const int64_t order[] = {0, 2, 1, 3};
    const int64_t dims[] = {0, 0, heads, -1};
    if (ingot_expand_rank(e, x, name) == 4)
        return x;
    return ingot_expand_transpose(e, ingot_expand_reshape(e, x, dims, 4), order, 4);
}

/* Rows of the past, then the new ones. */
static ingot_graph_value *join(ingot_expansion *e, ingot_graph_value *past, ingot_graph_value *rows)
{
    ingot_attribute axis = ingot_int_of("axis", 2);
    return past ? INGOT_EXPAND(e, "Concat", 13, &axis, 1, past, rows) : rows;
}

/* Products times the attribute scale, or over the root of the size of a head. */
static ingot_graph_value *scaled(ingot_expansion *e, ingot_graph_value *products, ingot_graph_value *q, int64_t heads)
{
    float scale = ingot_expand_float(e, "scale", 0);
    if (scale != 0)
        return ingot_expand_times(e, products, (double)scale);
    int64_t width = ingot_expand_size(e, q, 2, "query");
    if (e->builder.status != INGOT_OK)
        return NULL;
    if (width < heads || width % heads) {
        ingot_expand_fail(e, INGOT_INVALID_MODEL, "the query has %lld columns, which do not fall into %lld heads",
                          (long long)width, (long long)heads);
        return NULL;
    }
    return ingot_expand_times(e, products, 1 / sqrt((double)(width / heads)));
}

void ingot_expand_attention(ingot_expansion *e, const ingot_ms_attention *a, ingot_graph_value *outputs[4])
{
    static const int64_t last_two[] = {0, 1, 3, 2}, back[] = {0, 2, 1, 3}, joined[] = {0, 0, -1};
    ingot_element element = e->builder.status == INGOT_OK ? a->q->type.element : INGOT_FLOAT;
    ingot_attribute last = ingot_int_of("axis", -1);
    outputs[1] = join(e, a->past_key, split_heads(e, a->k, a->heads, "key"));
    outputs[2] = join(e, a->past_value, split_heads(e, a->v, a->heads, "value"));
    ingot_graph_value *q = ingot_expand_cast(e, split_heads(e, a->q, a->heads, "query"), INGOT_FLOAT);
    ingot_graph_value *keys = ingot_expand_transpose(e, ingot_expand_cast(e, outputs[1], INGOT_FLOAT), last_two, 4);
    ingot_graph_value *x = scaled(e, INGOT_EXPAND(e, "MatMul", 13, NULL, 0, q, keys), a->q, a->heads);
    if (ingot_expand_int(e, "unidirectional", 0))
        x = ingot_expand_plus(e, x, causal_mask(e, a));
    x = ingot_expand_plus(e, x, summand(e, a));
    outputs[3] = x;
    x = INGOT_EXPAND(e, "Softmax", 13, &last, 1, x);
    x = INGOT_EXPAND(e, "MatMul", 13, NULL, 0, x, ingot_expand_cast(e, outputs[2], INGOT_FLOAT));
    x = ingot_expand_reshape(e, ingot_expand_transpose(e, x, back, 4), joined, 3);
    outputs[0] = ingot_expand_cast(e, x, element);
    if (ingot_expand_wants(e, 3))
        outputs[3] = ingot_expand_cast(e, outputs[3], element);
}

/* ---- A cache that is longer than what it holds ---- */

ingot_graph_value *ingot_expand_held(ingot_expansion *e, ingot_graph_value *cache, ingot_graph_value *used)
{
    static const int64_t zero[] = {0}, axis[] = {2};
    if (!cache || !used)
        return cache;
    return INGOT_EXPAND(e, "Slice", 13, NULL, 0, cache, ingot_expand_vector(e, zero, 1), used,
                        ingot_expand_vector(e, axis, 1));
}

ingot_graph_value *ingot_expand_refilled(ingot_expansion *e, ingot_graph_value *present, ingot_graph_value *cache,
                                         ingot_graph_value *used)
{
    static const int64_t one[] = {1}, end[] = {INT64_MAX}, axis[] = {2};
    ingot_attribute along = ingot_int_of("axis", 2);
    if (!cache || !used)
        return present;
    ingot_graph_value *from = INGOT_EXPAND(e, "Add", 14, NULL, 0, used, ingot_expand_vector(e, one, 1));
    ingot_graph_value *rest = INGOT_EXPAND(e, "Slice", 13, NULL, 0, cache, from, ingot_expand_vector(e, end, 1),
                                           ingot_expand_vector(e, axis, 1));
    return INGOT_EXPAND(e, "Concat", 13, &along, 1, present, rest);
}

ingot_graph_value *ingot_expand_used_rows(ingot_expansion *e, ingot_graph_value *length)
{
    static const int64_t vector[] = {1};
    if (ingot_expand_int(e, "past_present_share_buffer", 0) == 0)
        return NULL;
    if (!length) {
        ingot_expand_fail(e, INGOT_INVALID_MODEL,
                          "attribute 'past_present_share_buffer' is 1, but 'past_sequence_length' is left out");
        return NULL;
    }
    return ingot_expand_reshape(e, ingot_expand_cast(e, length, INGOT_INT64), vector, 1);
}
