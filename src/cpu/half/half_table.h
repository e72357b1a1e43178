/* The conversions of one level; each runs in the caller. */
#ifndef INGOT_CPU_HALF_TABLE_H
#define INGOT_CPU_HALF_TABLE_H

#include "cpu/half/half.h"
#include "cpu/simd/level.h"

typedef void (*ingot_half_function)(const void *x, void *y, size_t count);

typedef struct ingot_half_table {
    ingot_half_function convert[INGOT_HALF_KIND_COUNT];
} ingot_half_table;

#define INGOT_LEVEL(suffix, features) extern const ingot_half_table ingot_half_table_##suffix;
#include "cpu/simd/levels.def"
#undef INGOT_LEVEL

const ingot_half_table *ingot_half_table_at(int level);

#endif
