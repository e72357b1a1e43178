#include "plan/offsets.h"

#include <stdlib.h>
#include <string.h>

ingot_status ingot_offsets_begin(ingot_offsets *offsets, size_t size, size_t first, size_t *span, ingot_error *error)
{
    size_t rounded, used;
    if (!ingot_add_size(size, INGOT_ALIGNMENT - 1, &rounded) ||
        !ingot_add_size(offsets->used, rounded -= rounded % INGOT_ALIGNMENT, &used))
        return ingot_fail_memory(error, size, "a value");
    INGOT_TRY(ingot_grow(&offsets->spans, &offsets->capacity, offsets->count + 1, sizeof *offsets->spans, error));
    *span = offsets->count++;
    offsets->spans[*span] = (ingot_span){.size = rounded, .first = first, .last = SIZE_MAX};
    offsets->used = used;
    offsets->most = used > offsets->most ? used : offsets->most;
    return INGOT_OK;
}

void ingot_offsets_end(ingot_offsets *offsets, size_t span, size_t last)
{
    offsets->spans[span].last = last;
    offsets->used -= offsets->spans[span].size;
}

/* Orders in which blocks may be placed; the first that leaves no gaps does, else the one that leaves fewest. What ties is
 * placed as it was added: alike on every machine. */
static int compare_sizes(const void *a, const void *b)
{
    const ingot_span *x = *(ingot_span *const *)a, *y = *(ingot_span *const *)b;
    if (x->size != y->size)
        return x->size > y->size ? -1 : 1;
    return x < y ? -1 : x > y;
}

static int compare_lives(const void *a, const void *b)
{
    const ingot_span *x = *(ingot_span *const *)a, *y = *(ingot_span *const *)b;
    const size_t lives[] = {x->last - x->first, y->last - y->first};
    if (lives[0] != lives[1])
        return lives[0] > lives[1] ? -1 : 1;
    return compare_sizes(a, b);
}

static int compare_starts(const void *a, const void *b)
{
    const ingot_span *x = *(ingot_span *const *)a, *y = *(ingot_span *const *)b;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return compare_sizes(a, b);
}

typedef int (*span_order)(const void *a, const void *b);
static const span_order orders[] = {compare_sizes, compare_lives, compare_starts};
enum {
    ORDER_COUNT = sizeof orders / sizeof *orders,
    MOST_TRIES = 24,      /* with each */
    MOST_STEPS = 4000000, /* of looking at blocks, with each order: a plan of many hundred blocks gets fewer tries */
};

/* Puts span into placed, which is sorted by offset, at the lowest offset that is free as long as it lives. */
static bool place(ingot_span **placed, size_t count, ingot_span *span)
{
    size_t offset = 0, end, at = 0;
    for (; at < count; at++) {
        const ingot_span *other = placed[at];
        if (other->last < span->first || span->last < other->first)
            continue;
        if (offset < other->offset && other->offset - offset >= span->size)
            break;
        if (other->offset + other->size > offset)
            offset = other->offset + other->size;
    }
    if (!ingot_add_size(offset, span->size, &end))
        return false;
    span->offset = offset;
    for (at = count; at > 0 && placed[at - 1]->offset > offset; at--)
        placed[at] = placed[at - 1];
    placed[at] = span;
    return true;
}

/* Places all blocks in the order of sorted; false where they pass any memory. */
static bool place_sorted(ingot_offsets *offsets, ingot_span *const *sorted, ingot_span **placed)
{
    offsets->end = 0;
    for (size_t i = 0, count = 0; i < offsets->count; i++) {
        if (sorted[i]->size == 0)
            continue;
        if (!place(placed, count++, sorted[i]))
            return false;
        if (sorted[i]->offset + sorted[i]->size > offsets->end)
            offsets->end = sorted[i]->offset + sorted[i]->size;
    }
    return true;
}

/* The block that reaches furthest comes first in the next try. */
static void advance_furthest(const ingot_offsets *offsets, ingot_span **sorted)
{
    size_t at = 0;
    while (at + 1 < offsets->count && sorted[at]->offset + sorted[at]->size != offsets->end)
        at++;
    ingot_span *furthest = sorted[at];
    memmove(sorted + 1, sorted, at * sizeof *sorted);
    sorted[0] = furthest;
}

/* Tries orders until one leaves no gaps; the best one is in best at the end. */
static bool try_orders(ingot_offsets *offsets, ingot_span **sorted, ingot_span **placed, ingot_span **best)
{
    const size_t count = offsets->count, bytes = count * sizeof *sorted;
    const size_t affordable = MOST_STEPS / (count * count + 1),
                 tries = affordable < MOST_TRIES ? affordable : MOST_TRIES;
    size_t least = SIZE_MAX;
    for (size_t i = 0; i < ORDER_COUNT && least > offsets->most; i++) {
        for (size_t k = 0; k < count; k++)
            sorted[k] = &offsets->spans[k];
        qsort(sorted, count, sizeof *sorted, orders[i]);
        for (size_t k = 0; k <= tries && least > offsets->most; k++) {
            if (!place_sorted(offsets, sorted, placed))
                break;
            if (offsets->end < least) {
                least = offsets->end;
                memcpy(best, sorted, bytes);
            }
            advance_furthest(offsets, sorted);
        }
    }
    return least != SIZE_MAX;
}

ingot_status ingot_offsets_place(ingot_offsets *offsets, ingot_error *error)
{
    const size_t count = offsets->count, bytes = (3 * count + 1) * sizeof(ingot_span *);
    ingot_span **lists = count ? ingot_malloc(bytes) : NULL;
    if (count == 0)
        return INGOT_OK;
    if (!lists)
        return ingot_fail_memory(error, bytes, "the layout of a shape");
    const bool fits = try_orders(offsets, lists, lists + count, lists + 2 * count) &&
                      place_sorted(offsets, lists + 2 * count, lists + count);
    ingot_free(lists);
    return fits ? INGOT_OK : ingot_fail_memory(error, SIZE_MAX, "the values of a run");
}

void ingot_offsets_clear(ingot_offsets *offsets)
{
    ingot_free(offsets->spans);
    *offsets = (ingot_offsets){0};
}
