/* See ref_binary.h; and the arithmetic that needs no more than one expression. */
#include "cpu/ref/ref_binary.h"

#include <math.h>

#include "ops/binary.h"

/* Elements of a narrow float type that are converted at a time. */
#define CHUNK 256

static void run_chunks(ingot_binary_run run, const ingot_walk *walk, ingot_value *z, const ingot_value *a,
                       const ingot_value *b)
{
    float x[CHUNK], y[CHUNK], result[CHUNK];
    bool narrow_result = z->element == a->element;
    for (size_t done = 0; done < walk->run; done += CHUNK) {
        size_t count = walk->run - done < CHUNK ? walk->run - done : CHUNK;
        int64_t at = (int64_t)done, to = walk->offset[0] + at;
        ingot_read_floats(a->element, a->data, walk->offset[1] + at * walk->step[1], walk->step[1], count, x);
        ingot_read_floats(b->element, b->data, walk->offset[2] + at * walk->step[2], walk->step[2], count, y);
        run(narrow_result ? (void *)result : ingot_element_at(z, (size_t)to), x, 1, y, 1, count);
        if (narrow_result)
            ingot_write_floats(z->element, z->data, to, 1, count, result);
    }
}

ingot_status ingot_run_binary_values(const ingot_kernel_call *call, const ingot_binary_run *runs, ingot_value *z,
                                     const ingot_value *a, int b_rank, const int64_t *b_dims, const ingot_value *b)
{
    bool narrow = a->element == INGOT_FLOAT16 || a->element == INGOT_BFLOAT16;
    ingot_binary_run run = runs[narrow ? INGOT_FLOAT : a->element];
    if (!run)
        return ingot_kernel_fail(call, "is not defined for elements of type %s", ingot_element_name(a->element));
    ingot_walk walk;
    ingot_walk_init(&walk, z->rank, z->dims);
    ingot_walk_add_broadcast(&walk, a->rank, a->dims);
    ingot_walk_add_broadcast(&walk, b_rank, b_dims);
    for (bool more = ingot_walk_begin(&walk); more; more = ingot_walk_next(&walk)) {
        if (narrow)
            run_chunks(run, &walk, z, a, b);
        else
            run(ingot_element_at(z, (size_t)walk.offset[0]), ingot_element_at(a, (size_t)walk.offset[1]), walk.step[1],
                ingot_element_at(b, (size_t)walk.offset[2]), walk.step[2], walk.run);
    }
    return INGOT_OK;
}

ingot_status ingot_run_binary(const ingot_kernel_call *call, const ingot_binary_run *runs)
{
    static const ingot_binary_params none;
    const ingot_binary_params *params = call->params ? call->params : &none;
    const ingot_value *a = call->inputs[0], *b = call->inputs[1];
    int64_t dims[INGOT_MAX_RANK];
    int rank = ingot_binary_place(params, a->rank, b->rank, b->dims, dims);
    return ingot_run_binary_values(call, runs, call->outputs[0], a, rank, dims, b);
}

#define DEFINE_KERNEL(op, ...)                                                   \
    ingot_status ingot_ref_##op(const ingot_kernel_call *call)                   \
    {                                                                            \
        static const ingot_binary_run runs[INGOT_ELEMENT_COUNT] = {__VA_ARGS__}; \
        return ingot_run_binary(call, runs);                                     \
    }

/* ---- Arithmetic ---- */

INGOT_RUN_FLOATS(add, INGOT_RESULT_SAME, p + q)
INGOT_RUN_WRAPPING(add, p + q)
DEFINE_KERNEL(add, INGOT_FLOAT_SLOTS(add), INGOT_INTEGER_SLOTS(add))

INGOT_RUN_FLOATS(sub, INGOT_RESULT_SAME, p - q)
INGOT_RUN_WRAPPING(sub, p - q)
DEFINE_KERNEL(sub, INGOT_FLOAT_SLOTS(sub), INGOT_INTEGER_SLOTS(sub))

INGOT_RUN_FLOATS(mul, INGOT_RESULT_SAME, p *q)
INGOT_RUN_WRAPPING(mul, p *q)
DEFINE_KERNEL(mul, INGOT_FLOAT_SLOTS(mul), INGOT_INTEGER_SLOTS(mul))

/* -1 apart: the lowest value divided by it overflows, and many processors trap on that. */
INGOT_RUN_FLOATS(div, INGOT_RESULT_SAME, p / q)
INGOT_RUN_SIGNED(div, INGOT_RESULT_SAME, q == -1 ? (int64_t)(0 - (uint64_t)p) : (int64_t)(p / q))
INGOT_RUN_UNSIGNED(div, INGOT_RESULT_SAME, p / q)

INGOT_RUN_SIGNED(floor_mod, INGOT_RESULT_SAME, q == -1 ? 0 : p % q != 0 && (p % q < 0) != (q < 0) ? p % q + q : p % q)
INGOT_RUN_UNSIGNED(floor_mod, INGOT_RESULT_SAME, p % q)

/* A remainder of 0 has the divisor's sign too. */
static inline double floor_mod_real(double p, double q)
{
    double r = fmod(p, q);
    if (r == 0)
        return copysign(0, q);
    return (r < 0) != (q < 0) ? r + q : r;
}
INGOT_RUN_FLOATS(floor_mod, INGOT_RESULT_SAME, floor_mod_real(p, q))

INGOT_BINARY_RUN(fmod_float, float, float, float, fmodf(p, q))
INGOT_BINARY_RUN(fmod_double, double, double, double, fmod(p, q))
INGOT_RUN_SIGNED(fmod, INGOT_RESULT_SAME, q == -1 ? 0 : p % q)
INGOT_RUN_UNSIGNED(fmod, INGOT_RESULT_SAME, p % q)

/* Integers divided by zero have no result. */
static ingot_status refuse_zero(const ingot_kernel_call *call)
{
    const ingot_value *b = call->inputs[1], *z = call->outputs[0];
    if (!ingot_element_is_integer(b->element) || ingot_dims_product(z->dims, 0, z->rank) == 0)
        return INGOT_OK;
    size_t count = ingot_dims_product(b->dims, 0, b->rank);
    for (size_t i = 0; i < count; i++)
        if (ingot_load_i64(b->element, b->data, i) == 0)
            return ingot_kernel_fail(call,
                                     "divides by zero: element %zu of input 'B' is 0, and %s has no result for that", i,
                                     ingot_element_name(b->element));
    return INGOT_OK;
}

ingot_status ingot_ref_div(const ingot_kernel_call *call)
{
    static const ingot_binary_run runs[INGOT_ELEMENT_COUNT] = {INGOT_FLOAT_SLOTS(div), INGOT_INTEGER_SLOTS(div)};
    INGOT_TRY(refuse_zero(call));
    return ingot_run_binary(call, runs);
}

ingot_status ingot_ref_mod(const ingot_kernel_call *call)
{
    static const ingot_binary_run floor_runs[INGOT_ELEMENT_COUNT] = {INGOT_FLOAT_SLOTS(floor_mod),
                                                                     INGOT_INTEGER_SLOTS(floor_mod)};
    static const ingot_binary_run c_runs[INGOT_ELEMENT_COUNT] = {INGOT_FLOAT_SLOTS(fmod), INGOT_INTEGER_SLOTS(fmod)};
    const ingot_binary_params *params = call->params;
    INGOT_TRY(refuse_zero(call));
    return ingot_run_binary(call, params->fmod ? c_runs : floor_runs);
}

INGOT_RUN_FLOATS(prelu, INGOT_RESULT_SAME, p < 0 ? p * q : p)
INGOT_BINARY_RUN(prelu_int32, int32_t, int32_t, int32_t, p < 0 ? (int32_t)((uint32_t)p * (uint32_t)q) : p)
INGOT_BINARY_RUN(prelu_int64, int64_t, int64_t, int64_t, p < 0 ? (int64_t)((uint64_t)p * (uint64_t)q) : p)
/* Nothing to scale: no unsigned number is negative. */
INGOT_BINARY_RUN(prelu_uint32, uint32_t, uint32_t, uint32_t, ((void)q, p))
INGOT_BINARY_RUN(prelu_uint64, uint64_t, uint64_t, uint64_t, ((void)q, p))
DEFINE_KERNEL(prelu, INGOT_FLOAT_SLOTS(prelu), [INGOT_INT32] = prelu_int32, [INGOT_INT64] = prelu_int64,
              [INGOT_UINT32] = prelu_uint32, [INGOT_UINT64] = prelu_uint64)
