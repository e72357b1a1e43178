/* CumSum, CumProd: floats in double, integers modulo 2^64. */
#include "cpu/ref/ref.h"
#include "cpu/ref/ref_iterate.h"
#include "ops/softmax.h"

/* One line along the axis: count elements, step apart, from start on (from the end on where step is negative). */
typedef struct line {
    int64_t start, step;
    size_t count;
    bool exclusive, product;
} line;

static void run_reals(const line *l, const ingot_value *a, ingot_value *z)
{
    double joined = l->product;
    int64_t at = l->start;
    for (size_t i = 0; i < l->count; i++, at += l->step) {
        double x, before = joined;
        ingot_read_doubles(a->element, a->data, at, 1, 1, &x);
        joined = l->product ? joined * x : joined + x;
        ingot_write_doubles(z->element, z->data, at, 1, 1, l->exclusive ? &before : &joined);
    }
}

static void run_wholes(const line *l, const ingot_value *a, ingot_value *z)
{
    uint64_t joined = l->product;
    int64_t at = l->start;
    for (size_t i = 0; i < l->count; i++, at += l->step) {
        uint64_t x = (uint64_t)ingot_load_i64(a->element, a->data, (size_t)at), before = joined;
        joined = l->product ? joined * x : joined + x;
        ingot_store_i64(z->element, z->data, (size_t)at, (int64_t)(l->exclusive ? before : joined));
    }
}

static ingot_status run_lines(const ingot_kernel_call *call, bool product)
{
    const ingot_cumulative_params *p = call->params;
    const ingot_value *a = call->inputs[0], *where = call->inputs[1];
    if (ingot_dims_product(where->dims, 0, where->rank) != 1)
        return ingot_kernel_fail(call, "input 'axis' must be a single number");
    int64_t axis = ingot_load_i64(where->element, where->data, 0);
    if (axis < -a->rank || axis >= a->rank)
        return ingot_kernel_fail(call, "'axis' is %lld, but the input has rank %d", (long long)axis, a->rank);
    ingot_split split = ingot_split_at(a->rank, a->dims, ingot_axis(axis, a->rank));
    line l = {.count = split.size, .exclusive = p->exclusive, .product = product};
    l.step = p->reverse ? -(int64_t)split.inner : (int64_t)split.inner;
    for (size_t o = 0; o < split.outer; o++)
        for (size_t i = 0; i < split.inner; i++) {
            l.start = (int64_t)(o * split.size * split.inner + i);
            if (p->reverse && split.size > 0)
                l.start += (int64_t)((split.size - 1) * split.inner);
            if (ingot_element_is_float(a->element))
                run_reals(&l, a, call->outputs[0]);
            else
                run_wholes(&l, a, call->outputs[0]);
        }
    return INGOT_OK;
}

ingot_status ingot_ref_cum_sum(const ingot_kernel_call *call)
{
    return run_lines(call, false);
}

ingot_status ingot_ref_cum_prod(const ingot_kernel_call *call)
{
    return run_lines(call, true);
}
