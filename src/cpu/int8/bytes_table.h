/* What bytes.h does, by one level, in the caller. */
#ifndef INGOT_CPU_INT8_BYTES_TABLE_H
#define INGOT_CPU_INT8_BYTES_TABLE_H

#include "cpu/int8/bytes.h"
#include "cpu/simd/level.h"

#define INGOT_INT8_ROWS 8

typedef struct ingot_int8_bytes_table {
    void (*quantize)(const float *x, const ingot_int8_scale *scale, uint8_t *y, size_t count);
    void (*dequantize)(const uint8_t *x, const ingot_int8_scale *scale, float *y, size_t count);
    void (*range)(const float *x, size_t count, float *low, float *high);
    void (*add)(const ingot_int8_sum *sum, const uint8_t *a, const uint8_t *b, uint8_t *y, size_t count);
    void (*multiply)(const ingot_int8_times *times, const uint8_t *a, const uint8_t *b, uint8_t *y, size_t count);
    /* At most INGOT_INT8_ROWS rows. */
    void (*softmax)(const ingot_int8_softmax *s, const uint8_t *x, uint8_t *y, size_t rows);
    /* y[i] = the larger of x[i] and y[i]. */
    void (*maximum)(const uint8_t *x, uint8_t *y, size_t count, bool is_signed);
    /* y[column * y_stride + row] = x[row * x_stride + column] ^ turn. */
    void (*transpose)(const uint8_t *x, size_t x_stride, size_t rows, size_t columns, uint8_t turn, uint8_t *y,
                      size_t y_stride);
} ingot_int8_bytes_table;

#define INGOT_LEVEL(suffix, features) extern const ingot_int8_bytes_table ingot_int8_bytes_table_##suffix;
#include "cpu/simd/levels.def"
#undef INGOT_LEVEL

const ingot_int8_bytes_table *ingot_int8_bytes_table_at(int level);

#endif
