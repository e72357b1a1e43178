/* Softmax, LogSoftmax, Hardmax: a row of doubles at a time. */
#include <math.h>

#include "cpu/ref/ref.h"
#include "cpu/ref/ref_iterate.h"
#include "ops/softmax.h"

/* Changes count numbers, at least one, in place; they come from a tensor of that type. */
typedef void (*row_function)(double *x, size_t count, ingot_element element);

static double greatest(const double *x, size_t count)
{
    double best = x[0];
    for (size_t i = 1; i < count; i++)
        best = x[i] > best || x[i] != x[i] ? x[i] : best;
    return best;
}

/* A number as a half type holds it; as it is for wider types, whose one rounding comes at the end. */
static double half_rounded(ingot_element element, double value)
{
    if (element == INGOT_FLOAT16)
        return (double)ingot_half_to_float(ingot_half_from_double(value));
    if (element == INGOT_BFLOAT16)
        return (double)ingot_bfloat16_to_float(ingot_bfloat16_from_double(value));
    return value;
}

/* Of half types every step of the standard's function is rounded, as it has them; but a sum past the type's range is kept. */
static void softmax_row(double *x, size_t count, ingot_element element)
{
    double largest = greatest(x, count), sum = 0;
    for (size_t i = 0; i < count; i++) {
        x[i] = half_rounded(element, exp(half_rounded(element, x[i] - largest)));
        sum += x[i];
    }
    double narrow = half_rounded(element, sum);
    sum = isinf(narrow) ? sum : narrow;
    for (size_t i = 0; i < count; i++)
        x[i] /= sum;
}

static void log_softmax_row(double *x, size_t count, ingot_element element)
{
    double largest = greatest(x, count), sum = 0;
    for (size_t i = 0; i < count; i++) {
        x[i] -= largest;
        sum += exp(x[i]);
    }
    double log_sum = log(sum);
    for (size_t i = 0; i < count; i++)
        x[i] -= log_sum;
}

static void hardmax_row(double *x, size_t count, ingot_element element)
{
    size_t best = 0;
    for (size_t i = 1; i < count; i++)
        if (x[i] > x[best] || (x[i] != x[i] && x[best] == x[best]))
            best = i;
    for (size_t i = 0; i < count; i++)
        x[i] = i == best;
}

static ingot_status run_rows(const ingot_kernel_call *call, row_function function)
{
    const ingot_softmax_params *p = call->params;
    const ingot_value *a = call->inputs[0];
    ingot_value *z = call->outputs[0];
    ingot_split split = ingot_split_at(a->rank, a->dims, ingot_axis(p->axis, a->rank));
    if (p->flattens) {
        split.size *= split.inner;
        split.inner = 1;
    }
    size_t bytes;
    void *row;
    if (split.outer == 0 || split.size == 0 || split.inner == 0)
        return INGOT_OK;
    if (!ingot_mul_size(split.size, sizeof(double), &bytes))
        return ingot_kernel_fail(call, "its axis is too long");
    INGOT_TRY(ingot_kernel_scratch(call, bytes, &row));
    for (size_t o = 0; o < split.outer; o++)
        for (size_t i = 0; i < split.inner; i++) {
            int64_t start = (int64_t)(o * split.size * split.inner + i), step = (int64_t)split.inner;
            ingot_read_doubles(a->element, a->data, start, step, split.size, row);
            function(row, split.size, a->element);
            ingot_write_doubles(z->element, z->data, start, step, split.size, row);
        }
    return INGOT_OK;
}

ingot_status ingot_ref_softmax(const ingot_kernel_call *call)
{
    return run_rows(call, softmax_row);
}

ingot_status ingot_ref_log_softmax(const ingot_kernel_call *call)
{
    return run_rows(call, log_softmax_row);
}

ingot_status ingot_ref_hardmax(const ingot_kernel_call *call)
{
    return run_rows(call, hardmax_row);
}
