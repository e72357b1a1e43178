/* Offsets of blocks that live for a while: the memory of an arena before it exists. Blocks are added step by step; when all are
 * known they are placed, the largest first, each as low as those allow that live at the same time. */
#ifndef INGOT_PLAN_OFFSETS_H
#define INGOT_PLAN_OFFSETS_H

#include "base/memory.h"

typedef struct ingot_span {
    size_t size;        /* rounded up to INGOT_ALIGNMENT */
    size_t first, last; /* steps that it lives in */
    size_t offset;
} ingot_span;

/* {0} is empty. */
typedef struct ingot_offsets {
    ingot_span *spans;
    size_t count, capacity;
    size_t used, most; /* bytes that live now, and the most at any time: no arena can be smaller */
    size_t end;        /* bytes that the arena needs; known when the blocks are placed */
} ingot_offsets;

/* A block of size bytes that lives from step first on; *span is its number. */
ingot_status ingot_offsets_begin(ingot_offsets *offsets, size_t size, size_t first, size_t *span, ingot_error *error);
/* It lives to the end of step last, and other blocks follow in later steps only. */
void ingot_offsets_end(ingot_offsets *offsets, size_t span, size_t last);
/* Gives every block its offset. */
ingot_status ingot_offsets_place(ingot_offsets *offsets, ingot_error *error);
void ingot_offsets_clear(ingot_offsets *offsets);

#endif
