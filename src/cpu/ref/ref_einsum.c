/* Einsum: for each element of the result, the sum over the labels that it lacks of the product of all operands. */
#include "cpu/ref/ref.h"
#include "cpu/ref/ref_iterate.h"
#include "ops/einsum.h"

/* Loops over labels, outermost first: those of the result, then those that are summed. */
typedef struct loops {
    size_t operands;
    int result_count, count;
    int64_t sizes[INGOT_EINSUM_LABELS], index[INGOT_EINSUM_LABELS];
    int64_t *strides; /* [operand][loop], in elements; in scratch memory like all that follows */
    int64_t *offsets; /* [operand]: of the current place */
    void **data;      /* [operand]: all elements as double, or int64 for integers */
} loops;

static int64_t *stride(const loops *l, size_t operand, int loop)
{
    return &l->strides[operand * INGOT_EINSUM_LABELS + (size_t)loop];
}

/* To the next place of loops first ... end - 1: false past the last, and then back at the first. */
static bool advance(loops *l, int first, int end)
{
    for (int i = end - 1; i >= first; i--) {
        bool more = ++l->index[i] < l->sizes[i];
        for (size_t k = 0; k < l->operands; k++)
            l->offsets[k] += more ? *stride(l, k, i) : -*stride(l, k, i) * (l->sizes[i] - 1);
        if (more)
            return true;
        l->index[i] = 0;
    }
    return false;
}

/* The sum over the innermost loop, which is a summed one. */
#define DEFINE_SUM_RUN(name, type)                                                              \
    static type name(const loops *l)                                                            \
    {                                                                                           \
        int last = l->count - 1;                                                                \
        type sum = 0;                                                                           \
        for (int64_t i = 0; i < l->sizes[last]; i++) {                                          \
            type product = 1;                                                                   \
            for (size_t k = 0; k < l->operands; k++)                                            \
                product *= ((const type *)l->data[k])[l->offsets[k] + i * *stride(l, k, last)]; \
            sum += product;                                                                     \
        }                                                                                       \
        return sum;                                                                             \
    }
DEFINE_SUM_RUN(sum_reals, double)
DEFINE_SUM_RUN(sum_wholes, uint64_t)

static void run(loops *l, ingot_value *z)
{
    size_t count = ingot_dims_product(z->dims, 0, z->rank);
    bool whole = !ingot_element_is_float(z->element), empty = false;
    for (int i = l->result_count; i < l->count; i++)
        empty = empty || l->sizes[i] == 0;
    for (size_t to = 0; to < count; to++) {
        double real = 0;
        uint64_t sum = 0;
        bool more = !empty;
        while (more) {
            if (whole)
                sum += sum_wholes(l);
            else
                real += sum_reals(l);
            more = advance(l, l->result_count, l->count - 1);
        }
        if (whole)
            ingot_store_i64(z->element, z->data, to, (int64_t)sum);
        else
            ingot_store_double(z->element, z->data, to, real);
        advance(l, 0, l->result_count);
    }
}

/* ---- Setting the loops up ---- */

static ingot_status take_memory(const ingot_kernel_call *call, loops *l)
{
    size_t cells = l->operands * (INGOT_EINSUM_LABELS + 1), bytes;
    for (size_t i = 0; i < l->operands; i++)
        if (!ingot_add_size(cells, ingot_dims_product(call->inputs[i]->dims, 0, call->inputs[i]->rank), &cells))
            return ingot_kernel_fail(call, "its operands have too many elements");
    void *memory;
    if (!ingot_mul_size(cells, sizeof(int64_t), &bytes) || !ingot_add_size(bytes, l->operands * sizeof(void *), &bytes))
        return ingot_kernel_fail(call, "its operands have too many elements");
    INGOT_TRY(ingot_kernel_scratch(call, bytes, &memory));
    l->data = memory;
    l->offsets = (int64_t *)(void *)(l->data + l->operands);
    l->strides = l->offsets + l->operands;
    double *next = (double *)(void *)(l->strides + l->operands * INGOT_EINSUM_LABELS);
    for (size_t i = 0; i < l->operands; i++) {
        const ingot_value *a = call->inputs[i];
        size_t count = ingot_dims_product(a->dims, 0, a->rank);
        l->data[i] = next;
        l->offsets[i] = 0;
        if (ingot_element_is_float(a->element))
            ingot_read_doubles(a->element, a->data, 0, 1, count, next);
        for (size_t k = 0; !ingot_element_is_float(a->element) && k < count; k++)
            ((int64_t *)l->data[i])[k] = ingot_load_i64(a->element, a->data, k);
        next += count;
    }
    return INGOT_OK;
}

/* order[label]: its loop. */
static void place_loops(const ingot_einsum_axes *result, const bool *used, loops *l, int *order)
{
    for (int label = 0; label < INGOT_EINSUM_LABELS; label++)
        order[label] = -1;
    for (int i = 0; i < result->rank; i++)
        order[result->labels[i]] = l->count++;
    l->result_count = l->count;
    for (int label = 0; label < INGOT_EINSUM_LABELS; label++)
        if (used[label] && order[label] < 0)
            order[label] = l->count++;
}

static int widest_ellipsis(const ingot_kernel_call *call, ingot_text equation)
{
    int widest = 0;
    for (size_t i = 0; i < call->input_count; i++) {
        int own = ingot_einsum_ellipsis(equation, i, call->inputs[i]->rank);
        widest = own > widest ? own : widest;
    }
    return widest;
}

ingot_status ingot_ref_einsum(const ingot_kernel_call *call)
{
    ingot_text equation = ((const ingot_einsum_params *)call->params)->equation;
    int ellipsis = widest_ellipsis(call, equation), order[INGOT_EINSUM_LABELS];
    bool used[INGOT_EINSUM_LABELS] = {false};
    ingot_einsum_axes axes, result;
    loops l = {.operands = call->input_count};
    INGOT_TRY(take_memory(call, &l));
    if (!ingot_einsum_result(equation, ellipsis, &result))
        return ingot_kernel_fail(call, "the result of attribute 'equation' has more than %d axes", INGOT_MAX_RANK);
    for (size_t i = 0; i < l.operands; i++) {
        ingot_einsum_operand(equation, i, call->inputs[i]->rank, ellipsis, &axes);
        for (int k = 0; k < axes.rank; k++)
            used[axes.labels[k]] = true;
    }
    place_loops(&result, used, &l, order);
    for (int i = 0; i < INGOT_EINSUM_LABELS; i++)
        l.sizes[i] = 1;
    if (l.count == l.result_count)
        l.count++; /* nothing is summed: a loop of one, with strides of 0 */
    for (size_t i = 0; i < l.operands; i++) {
        const ingot_value *a = call->inputs[i];
        int64_t strides[INGOT_MAX_RANK];
        ingot_plain_strides(a->rank, a->dims, strides);
        for (int k = 0; k < INGOT_EINSUM_LABELS; k++)
            *stride(&l, i, k) = 0;
        ingot_einsum_operand(equation, i, a->rank, ellipsis, &axes);
        for (int k = 0; k < axes.rank; k++) {
            if (a->dims[k] == 1)
                continue;
            l.sizes[order[axes.labels[k]]] = a->dims[k];
            *stride(&l, i, order[axes.labels[k]]) += strides[k];
        }
    }
    run(&l, call->outputs[0]);
    return INGOT_OK;
}
