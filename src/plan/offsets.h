/* Offsets of blocks that live for a while: the memory of an arena before it exists. */
#ifndef INGOT_PLAN_OFFSETS_H
#define INGOT_PLAN_OFFSETS_H

#include "base/memory.h"

typedef struct ingot_gap {
    size_t offset, size;
} ingot_gap;

/* {0} is empty. Sizes are rounded up to INGOT_ALIGNMENT. */
typedef struct ingot_offsets {
    ingot_gap *gaps; /* below end, sorted, never touching each other */
    size_t count, capacity;
    size_t end; /* bytes that the arena needs */
} ingot_offsets;

/* The smallest gap that is large enough, else new bytes at the end. */
ingot_status ingot_offsets_take(ingot_offsets *offsets, size_t size, size_t *offset, ingot_error *error);
ingot_status ingot_offsets_give(ingot_offsets *offsets, size_t offset, size_t size, ingot_error *error);
void ingot_offsets_clear(ingot_offsets *offsets);

#endif
