/* Min, Max, Sum, Mean over any number of operands. */
#include "cpu/ref/ref_binary.h"

#define CHUNK 256 /* elements converted at a time */

/* NaN in either operand gives NaN. */
INGOT_RUN_FLOATS(max, INGOT_RESULT_SAME, p >= q || p != p ? p : q)
INGOT_RUN_SIGNED(max, INGOT_RESULT_SAME, p >= q ? p : q)
INGOT_RUN_UNSIGNED(max, INGOT_RESULT_SAME, p >= q ? p : q)
INGOT_RUN_FLOATS(min, INGOT_RESULT_SAME, p <= q || p != p ? p : q)
INGOT_RUN_SIGNED(min, INGOT_RESULT_SAME, p <= q ? p : q)
INGOT_RUN_UNSIGNED(min, INGOT_RESULT_SAME, p <= q ? p : q)

/* Input 0 broadcast to the result. */
static void spread(ingot_value *z, const ingot_value *a)
{
    size_t bits = ingot_element_bits(a->element);
    ingot_walk walk;
    ingot_walk_init(&walk, z->rank, z->dims);
    ingot_walk_add_broadcast(&walk, a->rank, a->dims);
    for (bool more = ingot_walk_begin(&walk); more; more = ingot_walk_next(&walk)) {
        size_t to = (size_t)walk.offset[0], from = (size_t)walk.offset[1];
        if (walk.step[1] == 1) {
            ingot_copy_elements(bits, z->data, to, a->data, from, walk.run);
            continue;
        }
        for (size_t i = 0; i < walk.run; i++)
            ingot_copy_elements(bits, z->data, to + i, a->data, from, 1);
    }
}

/* The first operand, then one after the other joined to it. */
static ingot_status fold(const ingot_kernel_call *call, const ingot_binary_run *runs)
{
    ingot_value *z = call->outputs[0];
    spread(z, call->inputs[0]);
    for (size_t i = 1; i < call->input_count; i++) {
        const ingot_value *b = call->inputs[i];
        INGOT_TRY(ingot_run_binary_values(call, runs, z, z, b->rank, b->dims, b));
    }
    return INGOT_OK;
}

ingot_status ingot_ref_max(const ingot_kernel_call *call)
{
    static const ingot_binary_run runs[INGOT_ELEMENT_COUNT] = {INGOT_FLOAT_SLOTS(max), INGOT_INTEGER_SLOTS(max)};
    return fold(call, runs);
}

ingot_status ingot_ref_min(const ingot_kernel_call *call)
{
    static const ingot_binary_run runs[INGOT_ELEMENT_COUNT] = {INGOT_FLOAT_SLOTS(min), INGOT_INTEGER_SLOTS(min)};
    return fold(call, runs);
}

/* Adds an operand to the totals. */
static void accumulate(const ingot_value *z, const ingot_value *a, bool first, double *total)
{
    double x[CHUNK];
    ingot_walk walk;
    ingot_walk_init(&walk, z->rank, z->dims);
    ingot_walk_add_broadcast(&walk, a->rank, a->dims);
    for (bool more = ingot_walk_begin(&walk); more; more = ingot_walk_next(&walk)) {
        double *to = total + walk.offset[0];
        for (size_t done = 0; done < walk.run; done += CHUNK, to += CHUNK) {
            size_t count = walk.run - done < CHUNK ? walk.run - done : CHUNK;
            int64_t from = walk.offset[1] + (int64_t)done * walk.step[1];
            ingot_read_doubles(a->element, a->data, from, walk.step[1], count, x);
            for (size_t i = 0; i < count; i++)
                to[i] = first ? x[i] : to[i] + x[i]; /* so that -0 alone stays -0 */
        }
    }
}

/* Totals are kept in double beside the output: one rounding at the end. */
static ingot_status sum(const ingot_kernel_call *call, double divisor)
{
    ingot_value *z = call->outputs[0];
    size_t count = ingot_dims_product(z->dims, 0, z->rank), bytes;
    void *memory;
    if (!ingot_mul_size(count, sizeof(double), &bytes))
        return ingot_kernel_fail(call, "its result has too many elements");
    INGOT_TRY(ingot_kernel_scratch(call, bytes, &memory));
    double *total = memory;
    for (size_t k = 0; k < call->input_count; k++)
        accumulate(z, call->inputs[k], k == 0, total);
    for (size_t i = 0; i < count; i++)
        total[i] /= divisor;
    ingot_write_doubles(z->element, z->data, 0, 1, count, total);
    return INGOT_OK;
}

ingot_status ingot_ref_sum(const ingot_kernel_call *call)
{
    return sum(call, 1);
}

ingot_status ingot_ref_mean(const ingot_kernel_call *call)
{
    return sum(call, (double)call->input_count);
}
