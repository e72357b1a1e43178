/* The Reduce operators. Floats are joined in double, integers modulo 2^64: a result has one rounding, whatever its type. */
#include <math.h>

#include "cpu/ref/ref.h"
#include "cpu/ref/ref_iterate.h"
#include "ops/reduce.h"

#define CHUNK 256 /* elements converted at a time */

/* The numbers joined so far. */
typedef struct reduction {
    double real, largest; /* largest: of log_sum_exp, whose real is the sum of e^(x - largest) */
    int64_t whole;
    size_t count; /* elements that go into one result */
    bool is_unsigned;
} reduction;

typedef struct reducer {
    double first_real;
    int64_t first_whole; /* of max and min: that of the element type instead */
    void (*join_reals)(reduction *r, const double *x, size_t count);
    void (*join_wholes)(reduction *r, const int64_t *x, size_t count); /* NULL: through double */
    double (*finish_real)(const reduction *r);
    int64_t (*finish_whole)(const reduction *r); /* NULL: by finish_real, rounded toward zero */
} reducer;

/* ---- Joining ---- */

/* Four sums side by side: they do not wait for each other. */
#define DEFINE_SUM(name, term)                                    \
    static void name(reduction *r, const double *x, size_t count) \
    {                                                             \
        double sums[4] = {0, 0, 0, 0};                            \
        size_t i = 0;                                             \
        for (; i + 4 <= count; i += 4)                            \
            for (size_t k = 0; k < 4; k++)                        \
                sums[k] += term(x[i + k]);                        \
        for (; i < count; i++)                                    \
            sums[0] += term(x[i]);                                \
        r->real += (sums[0] + sums[1]) + (sums[2] + sums[3]);     \
    }
#define PLAIN(x)  (x)
#define SQUARE(x) ((x) * (x))
DEFINE_SUM(sum_reals, PLAIN)
DEFINE_SUM(sum_magnitudes, fabs)
DEFINE_SUM(sum_squares, SQUARE)

#define DEFINE_JOIN_REALS(name, expression)                       \
    static void name(reduction *r, const double *x, size_t count) \
    {                                                             \
        double real = r->real;                                    \
        for (size_t i = 0; i < count; i++)                        \
            real = expression;                                    \
        r->real = real;                                           \
    }
DEFINE_JOIN_REALS(multiply_reals, real *x[i])
DEFINE_JOIN_REALS(max_reals, x[i] > real || x[i] != x[i] ? x[i] : real)
DEFINE_JOIN_REALS(min_reals, x[i] < real || x[i] != x[i] ? x[i] : real)

static void sum_powers(reduction *r, const double *x, size_t count)
{
    double largest = r->largest;
    for (size_t i = 0; i < count; i++)
        largest = x[i] > largest || x[i] != x[i] ? x[i] : largest;
    if (isinf(largest)) { /* the difference of infinities is none, and e^0 is 1 */
        r->real = largest > 0 ? 1 : 0;
        r->largest = largest;
        return;
    }
    double sum = r->real > 0 ? r->real * exp(r->largest - largest) : 0;
    for (size_t i = 0; i < count; i++)
        sum += exp(x[i] - largest);
    r->real = sum;
    r->largest = largest;
}

#define DEFINE_JOIN_WHOLES(name, expression)                       \
    static void name(reduction *r, const int64_t *x, size_t count) \
    {                                                              \
        uint64_t whole = (uint64_t)r->whole;                       \
        for (size_t i = 0; i < count; i++)                         \
            whole = expression;                                    \
        r->whole = (int64_t)whole;                                 \
    }
DEFINE_JOIN_WHOLES(sum_wholes, whole + (uint64_t)x[i])
DEFINE_JOIN_WHOLES(sum_whole_magnitudes, whole + (x[i] < 0 && !r->is_unsigned ? 0 - (uint64_t)x[i] : (uint64_t)x[i]))
DEFINE_JOIN_WHOLES(sum_whole_squares, whole + (uint64_t)x[i] * (uint64_t)x[i])
DEFINE_JOIN_WHOLES(multiply_wholes, whole *(uint64_t)x[i])

static bool whole_less(const reduction *r, int64_t a, int64_t b)
{
    return r->is_unsigned ? (uint64_t)a < (uint64_t)b : a < b;
}

static void max_wholes(reduction *r, const int64_t *x, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (whole_less(r, r->whole, x[i]))
            r->whole = x[i];
}

static void min_wholes(reduction *r, const int64_t *x, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (whole_less(r, x[i], r->whole))
            r->whole = x[i];
}

/* ---- Finishing ---- */

static double finish_plain(const reduction *r)
{
    return r->real;
}

static double finish_mean(const reduction *r)
{
    return r->real / (double)r->count;
}

static double finish_root(const reduction *r)
{
    return sqrt(r->real);
}

static double finish_log(const reduction *r)
{
    return log(r->real);
}

static double finish_log_powers(const reduction *r)
{
    return r->count == 0 ? -INFINITY : r->largest + log(r->real);
}

static int64_t whole_plain(const reduction *r)
{
    return r->whole;
}

static int64_t whole_mean(const reduction *r)
{
    return r->is_unsigned ? (int64_t)((uint64_t)r->whole / r->count) : r->whole / (int64_t)r->count;
}

/* ---- Over a tensor ---- */

static void read_wholes(const ingot_value *a, int64_t index, int64_t step, size_t count, int64_t *to)
{
    for (size_t i = 0; i < count; i++, index += step)
        to[i] = ingot_load_i64(a->element, a->data, (size_t)index);
}

static void join_run(const reducer *rule, reduction *r, const ingot_value *a, bool whole, int64_t index, int64_t step,
                     size_t run)
{
    double reals[CHUNK];
    int64_t wholes[CHUNK];
    for (size_t done = 0; done < run; done += CHUNK) {
        size_t count = run - done < CHUNK ? run - done : CHUNK;
        int64_t from = index + (int64_t)done * step;
        if (whole) {
            read_wholes(a, from, step, count, wholes);
            rule->join_wholes(r, wholes, count);
        } else {
            ingot_read_doubles(a->element, a->data, from, step, count, reals);
            rule->join_reals(r, reals, count);
        }
    }
}

static void finish(const reducer *rule, reduction *r, ingot_value *z, bool whole, size_t index)
{
    if (whole && rule->finish_whole) {
        ingot_store_i64(z->element, z->data, index, rule->finish_whole(r));
        return;
    }
    if (whole)
        r->real = r->is_unsigned ? (double)(uint64_t)r->whole : (double)r->whole;
    ingot_store_double(z->element, z->data, index, rule->finish_real(r));
}

/* Bit i of mask: axis i is reduced. Walks over the kept axes, and for each of their places over the reduced ones. */
static void reduce(const ingot_kernel_call *call, const reducer *rule, uint32_t mask, bool whole, int64_t first_whole)
{
    const ingot_value *a = call->inputs[0];
    int64_t strides[INGOT_MAX_RANK], kept[INGOT_MAX_RANK], kept_strides[INGOT_MAX_RANK];
    int64_t gone[INGOT_MAX_RANK], gone_strides[INGOT_MAX_RANK];
    int kept_rank = 0, gone_rank = 0;
    ingot_plain_strides(a->rank, a->dims, strides);
    for (int i = 0; i < a->rank; i++) {
        bool reduced = mask >> i & 1;
        (reduced ? gone : kept)[reduced ? gone_rank : kept_rank] = a->dims[i];
        (reduced ? gone_strides : kept_strides)[reduced ? gone_rank++ : kept_rank++] = strides[i];
    }
    ingot_walk places, start;
    ingot_walk_init(&places, kept_rank, kept);
    ingot_walk_add_strided(&places, kept_strides, 0);
    ingot_walk_init_bare(&start, gone_rank, gone);
    ingot_walk_add_strided(&start, gone_strides, 0);
    bool any = ingot_walk_begin(&start);
    reduction begin = {.real = rule->first_real,
                       .largest = -INFINITY,
                       .whole = first_whole,
                       .count = ingot_dims_product(gone, 0, gone_rank),
                       .is_unsigned = a->element == INGOT_UINT64};
    for (bool more = ingot_walk_begin(&places); more; more = ingot_walk_next(&places))
        for (size_t i = 0; i < places.run; i++) {
            reduction r = begin;
            int64_t base = places.offset[1] + (int64_t)i * places.step[1];
            if (any && start.rank == 0) {
                join_run(rule, &r, a, whole, base, start.step[0], start.run);
            } else if (any) {
                ingot_walk inner = start;
                do
                    join_run(rule, &r, a, whole, base + inner.offset[0], inner.step[0], inner.run);
                while (ingot_walk_next(&inner));
            }
            finish(rule, &r, call->outputs[0], whole, (size_t)places.offset[0] + i);
        }
}

static ingot_status reduce_axes(const ingot_kernel_call *call, const reducer *rule, int64_t first_whole)
{
    const ingot_reduce_params *p = call->params;
    const ingot_value *a = call->inputs[0];
    const int64_t *axes = p->axes.data;
    size_t count = p->axes.count, bad;
    uint32_t mask;
    if (ingot_kernel_has(call, 1)) {
        axes = call->inputs[1]->data;
        count = ingot_dims_product(call->inputs[1]->dims, 0, call->inputs[1]->rank);
    }
    if (!ingot_reduce_mask(a->rank, axes, count, p->noop_with_empty_axes, &mask, &bad))
        return ingot_kernel_fail(call, "'axes' holds %lld, but the input has rank %d", (long long)axes[bad], a->rank);
    bool whole = !ingot_element_is_float(a->element);
    if (whole && rule->finish_whole == whole_mean)
        for (int i = 0; i < a->rank; i++)
            if (a->dims[i] == 0 && (mask >> i & 1))
                return ingot_kernel_fail(call, "axis %d has size 0: %s has no mean of no elements", i,
                                         ingot_element_name(a->element));
    reduce(call, rule, mask, whole && rule->join_wholes, first_whole);
    return INGOT_OK;
}

/* ---- Kernels ---- */

#define DEFINE_KERNEL(op, ...)                                             \
    ingot_status ingot_ref_reduce_##op(const ingot_kernel_call *call)      \
    {                                                                      \
        static const reducer op##_reducer = {__VA_ARGS__};                 \
        return reduce_axes(call, &op##_reducer, op##_reducer.first_whole); \
    }

DEFINE_KERNEL(sum, 0, 0, sum_reals, sum_wholes, finish_plain, whole_plain)
DEFINE_KERNEL(mean, 0, 0, sum_reals, sum_wholes, finish_mean, whole_mean)
DEFINE_KERNEL(prod, 1, 1, multiply_reals, multiply_wholes, finish_plain, whole_plain)
DEFINE_KERNEL(l1, 0, 0, sum_magnitudes, sum_whole_magnitudes, finish_plain, whole_plain)
DEFINE_KERNEL(sum_square, 0, 0, sum_squares, sum_whole_squares, finish_plain, whole_plain)
DEFINE_KERNEL(l2, 0, 0, sum_squares, sum_whole_squares, finish_root, NULL)
DEFINE_KERNEL(log_sum, 0, 0, sum_reals, sum_wholes, finish_log, NULL)
DEFINE_KERNEL(log_sum_exp, 0, 0, sum_powers, NULL, finish_log_powers, NULL)

/* The greatest integer of a type, and the lowest; bool is one bit wide. */
static int64_t highest(ingot_element element)
{
    size_t bits = element == INGOT_BOOL ? 1 : ingot_element_bits(element);
    return (int64_t)(UINT64_MAX >> (64 - bits + ingot_element_is_signed(element)));
}

static int64_t lowest(ingot_element element)
{
    return ingot_element_is_signed(element) ? -highest(element) - 1 : 0;
}

ingot_status ingot_ref_reduce_max(const ingot_kernel_call *call)
{
    static const reducer max = {-INFINITY, 0, max_reals, max_wholes, finish_plain, whole_plain};
    return reduce_axes(call, &max, lowest(call->inputs[0]->element));
}

ingot_status ingot_ref_reduce_min(const ingot_kernel_call *call)
{
    static const reducer min = {INFINITY, 0, min_reals, min_wholes, finish_plain, whole_plain};
    return reduce_axes(call, &min, highest(call->inputs[0]->element));
}
