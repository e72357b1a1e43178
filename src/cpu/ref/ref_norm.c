/* Normalizations of rows that lie in one piece: LayerNormalization, RMSNormalization, InstanceNormalization,
 * GroupNormalization. All in double; the variance is of differences to the mean, so that a large mean costs nothing. */
#include <math.h>

#include "cpu/ref/ref.h"
#include "cpu/ref/ref_iterate.h"
#include "ops/norm.h"

typedef struct moments {
    double mean, inverse; /* 1 / sqrt(variance + epsilon) */
} moments;

static moments moments_of(const double *x, size_t count, double epsilon, bool centered)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; centered && i < count; i++)
        sum += x[i];
    double mean = centered ? sum / (double)count : 0;
    for (size_t i = 0; i < count; i++)
        squares += (x[i] - mean) * (x[i] - mean);
    return (moments){mean, 1 / sqrt(squares / (double)count + epsilon)};
}

static ingot_status take_row(const ingot_kernel_call *call, size_t count, double **row)
{
    size_t bytes;
    void *memory;
    if (!ingot_mul_size(count, sizeof **row, &bytes))
        return ingot_kernel_fail(call, "its rows are too long");
    INGOT_TRY(ingot_kernel_scratch(call, bytes, &memory));
    *row = memory;
    return INGOT_OK;
}

/* ---- LayerNormalization, RMSNormalization ---- */

/* A factor or summand that broadcasts to the input: where its elements for the current row begin. */
typedef struct operand {
    const ingot_value *value; /* NULL: left out */
    int64_t strides[INGOT_MAX_RANK], start;
} operand;

static operand as_operand(const ingot_kernel_call *call, size_t input)
{
    operand o = {.value = ingot_kernel_has(call, input) ? call->inputs[input] : NULL};
    if (o.value)
        ingot_walk_strides(o.value->rank, o.value->dims, call->inputs[0]->rank, o.strides);
    return o;
}

/* Multiplies the row by an operand, or adds it. dims are those of the row. */
static void apply(double *row, const operand *o, int rank, const int64_t *dims, int first_axis, bool multiply)
{
    ingot_walk walk;
    if (!o->value)
        return;
    ingot_walk_init(&walk, rank, dims);
    ingot_walk_add_strided(&walk, o->strides + first_axis, o->start);
    for (bool more = ingot_walk_begin(&walk); more; more = ingot_walk_next(&walk)) {
        double *x = row + walk.offset[0];
        for (int64_t i = 0; i < (int64_t)walk.run; i++) {
            double y;
            ingot_read_doubles(o->value->element, o->value->data, walk.offset[1] + i * walk.step[1], 1, 1, &y);
            x[i] = multiply ? x[i] * y : x[i] + y;
        }
    }
}

static void store_moments(const ingot_kernel_call *call, size_t index, moments m)
{
    if (ingot_kernel_wants(call, 1))
        ingot_store_double(call->outputs[1]->element, call->outputs[1]->data, index, m.mean);
    if (ingot_kernel_wants(call, 2))
        ingot_store_double(call->outputs[2]->element, call->outputs[2]->data, index, m.inverse);
}

static ingot_status normalize_rows(const ingot_kernel_call *call, bool centered)
{
    const ingot_layer_norm_params *p = call->params;
    const ingot_value *a = call->inputs[0];
    ingot_value *z = call->outputs[0];
    int axis = ingot_axis(p->axis, a->rank), tail = a->rank - axis;
    size_t count = ingot_dims_product(a->dims, axis, a->rank), index = 0;
    operand scale = as_operand(call, 1), bias = as_operand(call, 2);
    double *row;
    INGOT_TRY(take_row(call, count, &row));
    ingot_walk walk;
    ingot_walk_init(&walk, axis, a->dims);
    ingot_walk_add_strided(&walk, scale.strides, 0);
    ingot_walk_add_strided(&walk, bias.strides, 0);
    for (bool more = ingot_walk_begin(&walk); more; more = ingot_walk_next(&walk))
        for (int64_t i = 0; i < (int64_t)walk.run; i++, index++) {
            int64_t from = (int64_t)(index * count);
            scale.start = walk.offset[1] + i * walk.step[1];
            bias.start = walk.offset[2] + i * walk.step[2];
            ingot_read_doubles(a->element, a->data, from, 1, count, row);
            moments m = moments_of(row, count, p->epsilon, centered);
            for (size_t k = 0; k < count; k++)
                row[k] = (row[k] - m.mean) * m.inverse;
            apply(row, &scale, tail, a->dims + axis, axis, true);
            apply(row, &bias, tail, a->dims + axis, axis, false);
            ingot_write_doubles(z->element, z->data, from, 1, count, row);
            store_moments(call, index, m);
        }
    return INGOT_OK;
}

ingot_status ingot_ref_layer_norm(const ingot_kernel_call *call)
{
    return normalize_rows(call, true);
}

ingot_status ingot_ref_rms_norm(const ingot_kernel_call *call)
{
    return normalize_rows(call, false);
}

/* ---- InstanceNormalization, GroupNormalization ---- */

ingot_status ingot_ref_group_norm(const ingot_kernel_call *call)
{
    const ingot_group_norm_params *p = call->params;
    const ingot_value *a = call->inputs[0], *scale = call->inputs[1], *bias = call->inputs[2];
    ingot_value *z = call->outputs[0];
    size_t channels = (size_t)a->dims[1], inner = ingot_dims_product(a->dims, 2, a->rank);
    size_t groups = p->num_groups > 0 ? (size_t)p->num_groups : channels;
    if (channels == 0 || channels % groups != 0)
        return channels == 0
                   ? INGOT_OK
                   : ingot_kernel_fail(call, "%zu channels do not fall into %zu groups of one size", channels, groups);
    size_t group_channels = channels / groups, count = group_channels * inner;
    size_t rows = (size_t)a->dims[0] * groups;
    double *row;
    INGOT_TRY(take_row(call, count, &row));
    for (size_t r = 0; count > 0 && r < rows; r++) {
        ingot_read_doubles(a->element, a->data, (int64_t)(r * count), 1, count, row);
        moments m = moments_of(row, count, p->epsilon, true);
        for (size_t k = 0; k < group_channels; k++) {
            size_t channel = r % groups * group_channels + k;
            double factor = m.inverse * ingot_load_double(scale->element, scale->data, channel);
            double summand = ingot_load_double(bias->element, bias->data, channel);
            for (size_t i = k * inner; i < (k + 1) * inner; i++)
                row[i] = (row[i] - m.mean) * factor + summand;
        }
        ingot_write_doubles(z->element, z->data, (int64_t)(r * count), 1, count, row);
    }
    return INGOT_OK;
}
