/* Reference kernel of Unique. */
#include <string.h>

#include "cpu/ref/ref.h"
#include "cpu/ref/ref_order.h"
#include "ops/select.h"

/* The things to compare: slices of x along an axis, or its single elements. */
typedef struct items {
    const ingot_value *x;
    ingot_split split; /* size of them */
} items;

static int compare_strings(const ingot_value *x, size_t a, size_t b)
{
    size_t a_length, b_length;
    const char *a_text = ingot_ref_text(x, a, &a_length), *b_text = ingot_ref_text(x, b, &b_length);
    size_t shorter = a_length < b_length ? a_length : b_length;
    int order = shorter > 0 ? memcmp(a_text, b_text, shorter) : 0;
    return order ? order : (a_length > b_length) - (a_length < b_length);
}

static int compare_keys(ingot_element element, const void *data, size_t a, size_t b)
{
    uint64_t a_key = ingot_ref_order_key(element, data, a), b_key = ingot_ref_order_key(element, data, b);
    return (a_key > b_key) - (a_key < b_key);
}

static int compare_elements(const ingot_value *x, size_t a, size_t b)
{
    if (x->element == INGOT_STRING)
        return compare_strings(x, a, b);
    if (x->element == INGOT_COMPLEX64 || x->element == INGOT_COMPLEX128) {
        ingot_element part = x->element == INGOT_COMPLEX64 ? INGOT_FLOAT : INGOT_DOUBLE;
        int order = compare_keys(part, x->data, 2 * a, 2 * b);
        return order ? order : compare_keys(part, x->data, 2 * a + 1, 2 * b + 1);
    }
    return compare_keys(x->element, x->data, a, b);
}

static int compare(const items *all, size_t a, size_t b)
{
    for (size_t outer = 0; outer < all->split.outer; outer++) {
        size_t row = outer * all->split.size;
        for (size_t i = 0; i < all->split.inner; i++) {
            int order = compare_elements(all->x, (row + a) * all->split.inner + i, (row + b) * all->split.inner + i);
            if (order)
                return order;
        }
    }
    return 0;
}

/* Stable merge sort of the items' numbers; the result is in order, spare is used. */
static void sort(const items *all, size_t *order, size_t *spare)
{
    size_t count = all->split.size;
    for (size_t width = 1; width < count; width *= 2) {
        for (size_t first = 0; first < count; first += 2 * width) {
            size_t middle = first + width < count ? first + width : count;
            size_t end = first + 2 * width < count ? first + 2 * width : count, a = first, b = middle;
            for (size_t i = first; i < end; i++)
                spare[i] = a < middle && (b >= end || compare(all, order[a], order[b]) <= 0) ? order[a++] : order[b++];
        }
        memcpy(order, spare, count * sizeof *order);
    }
}

/* Per group of equal items: its first item and size; per item its group. Arrays of as many elements as there are items. */
typedef struct groups {
    size_t count;
    size_t *first, *size, *group;
} groups;

static void find_groups(const items *all, const size_t *order, groups *g)
{
    g->count = 0;
    for (size_t i = 0; i < all->split.size; i++) {
        if (i == 0 || compare(all, order[i - 1], order[i]) != 0) {
            g->first[g->count] = order[i];
            g->size[g->count++] = 0;
        }
        g->group[order[i]] = g->count - 1;
        g->size[g->count - 1]++;
    }
}

/* Numbers the groups by their first occurrence: renamed and sizes are spare arrays. */
static void order_by_occurrence(const items *all, groups *g, size_t *renamed, size_t *sizes)
{
    size_t next = 0;
    for (size_t i = 0; i < all->split.size; i++) {
        size_t old = g->group[i];
        if (g->first[old] == i) {
            renamed[old] = next;
            sizes[next++] = g->size[old];
        }
        g->group[i] = renamed[old];
    }
    for (size_t i = all->split.size; i-- > 0;)
        g->first[g->group[i]] = i;
    memcpy(g->size, sizes, g->count * sizeof *sizes);
}

static ingot_status write_numbers(const ingot_kernel_call *call, size_t output, const size_t *numbers, size_t count)
{
    int64_t dims[1] = {(int64_t)count};
    if (!ingot_kernel_wants(call, output))
        return INGOT_OK;
    INGOT_TRY(ingot_kernel_set_output(call, output, INGOT_INT64, 1, dims));
    for (size_t i = 0; i < count; i++)
        ((int64_t *)call->outputs[output]->data)[i] = (int64_t)numbers[i];
    return INGOT_OK;
}

static ingot_status write_items(const ingot_kernel_call *call, const items *all, const groups *g, int rank, int axis,
                                const int64_t *dims)
{
    int64_t sizes[INGOT_MAX_RANK];
    for (int i = 0; i < rank; i++)
        sizes[i] = i == axis ? (int64_t)g->count : dims[i];
    INGOT_TRY(ingot_kernel_set_output(call, 0, all->x->element, rank, sizes));
    for (size_t outer = 0; outer < all->split.outer; outer++)
        for (size_t i = 0; i < g->count; i++)
            INGOT_TRY(ingot_ref_copy_run(call, call->outputs[0], (outer * g->count + i) * all->split.inner, all->x,
                                         (outer * all->split.size + g->first[i]) * all->split.inner, all->split.inner));
    return INGOT_OK;
}

ingot_status ingot_ref_unique(const ingot_kernel_call *call)
{
    const ingot_unique_params *params = call->params;
    const ingot_value *x = call->inputs[0];
    int64_t flat[1] = {(int64_t)ingot_ref_count(x)};
    int rank = params->has_axis ? x->rank : 1, axis = params->has_axis ? ingot_axis(params->axis, x->rank) : 0;
    const int64_t *dims = params->has_axis ? x->dims : flat;
    items all = {.x = x, .split = ingot_split_at(rank, dims, axis)};
    size_t count = all.split.size, bytes, *memory;
    if (!ingot_mul_size(count, 5 * sizeof *memory, &bytes))
        return ingot_kernel_fail(call, "the input has too many elements: %zu", count);
    INGOT_TRY(ingot_kernel_scratch(call, bytes, (void **)&memory));
    size_t *order = memory, *spare = memory + count;
    groups g = {.first = memory + 2 * count, .size = memory + 3 * count, .group = memory + 4 * count};
    for (size_t i = 0; i < count; i++)
        order[i] = i;
    sort(&all, order, spare);
    find_groups(&all, order, &g);
    if (!params->sorted)
        order_by_occurrence(&all, &g, order, spare);
    if (ingot_kernel_wants(call, 0))
        INGOT_TRY(write_items(call, &all, &g, rank, axis, dims));
    INGOT_TRY(write_numbers(call, 1, g.first, g.count));
    INGOT_TRY(write_numbers(call, 2, g.group, count));
    return write_numbers(call, 3, g.size, g.count);
}
