#include "plan/offsets.h"

#include <string.h>

static bool round_up(size_t size, size_t *rounded)
{
    if (!ingot_add_size(size, INGOT_ALIGNMENT - 1, rounded))
        return false;
    *rounded -= *rounded % INGOT_ALIGNMENT;
    return true;
}

ingot_status ingot_offsets_take(ingot_offsets *offsets, size_t size, size_t *offset, ingot_error *error)
{
    size_t wanted, best = SIZE_MAX;
    if (!round_up(size, &wanted))
        return ingot_fail_memory(error, size, "a value");
    for (size_t i = 0; i < offsets->count; i++)
        if (offsets->gaps[i].size >= wanted && (best == SIZE_MAX || offsets->gaps[i].size < offsets->gaps[best].size))
            best = i;
    if (best == SIZE_MAX) {
        *offset = offsets->end;
        if (!ingot_add_size(offsets->end, wanted, &offsets->end))
            return ingot_fail_memory(error, size, "a value");
        return INGOT_OK;
    }
    ingot_gap *gap = &offsets->gaps[best];
    *offset = gap->offset;
    gap->offset += wanted;
    gap->size -= wanted;
    if (gap->size == 0) {
        offsets->count--;
        memmove(gap, gap + 1, (offsets->count - best) * sizeof *gap);
    }
    return INGOT_OK;
}

ingot_status ingot_offsets_give(ingot_offsets *offsets, size_t offset, size_t size, ingot_error *error)
{
    size_t at = 0;
    if (!round_up(size, &size) || size == 0)
        return INGOT_OK;
    INGOT_TRY(ingot_grow(&offsets->gaps, &offsets->capacity, offsets->count + 1, sizeof *offsets->gaps, error));
    while (at < offsets->count && offsets->gaps[at].offset < offset)
        at++;
    ingot_gap *gap = &offsets->gaps[at];
    bool before = at > 0 && gap[-1].offset + gap[-1].size == offset;
    bool after = at < offsets->count && offset + size == gap->offset;
    if (before && after) {
        gap[-1].size += size + gap->size;
        offsets->count--;
        memmove(gap, gap + 1, (offsets->count - at) * sizeof *gap);
    } else if (before) {
        gap[-1].size += size;
    } else if (after) {
        gap->offset = offset;
        gap->size += size;
    } else {
        memmove(gap + 1, gap, (offsets->count - at) * sizeof *gap);
        *gap = (ingot_gap){offset, size};
        offsets->count++;
    }
    return INGOT_OK;
}

void ingot_offsets_clear(ingot_offsets *offsets)
{
    ingot_free(offsets->gaps);
    *offsets = (ingot_offsets){0};
}
