/* Softmax, LogSoftmax, Hardmax: a row of doubles at a time. */
#include <math.h>

#include "cpu/ref/ref.h"
#include "cpu/ref/ref_iterate.h"
#include "ops/softmax.h"

/* Changes count numbers, at least one, in place. */
typedef void (*row_function)(double *x, size_t count);

static double greatest(const double *x, size_t count)
{
    double best = x[0];
    for (size_t i = 1; i < count; i++)
        best = x[i] > best || x[i] != x[i] ? x[i] : best;
    return best;
}

static void softmax_row(double *x, size_t count)
{
    double largest = greatest(x, count), sum = 0;
    for (size_t i = 0; i < count; i++) {
        x[i] = exp(x[i] - largest);
        sum += x[i];
    }
    for (size_t i = 0; i < count; i++)
        x[i] /= sum;
}

static void log_softmax_row(double *x, size_t count)
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

static void hardmax_row(double *x, size_t count)
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
            function(row, split.size);
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
