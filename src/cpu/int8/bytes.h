/* Elementwise work on 8-bit tensors with a scale and a zero point. Nothing beyond the ends is read or written; pointers need no
 * alignment. Results are those of the reference, bit for bit: the float steps are the same, in the same order. */
#ifndef INGOT_CPU_INT8_BYTES_H
#define INGOT_CPU_INT8_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What bytes stand for: (byte - zero) * scale. */
typedef struct ingot_int8_scale {
    float scale;
    int32_t zero;
    bool is_signed;
} ingot_int8_scale;

/* y = x / scale to the nearest integer, plus zero, limited to 8 bits; NaN becomes the lowest value. */
void ingot_int8_quantize(const float *x, const ingot_int8_scale *scale, void *y, size_t count, int threads);
void ingot_int8_dequantize(const void *x, const ingot_int8_scale *scale, float *y, size_t count, int threads);

/* Smallest and largest of the numbers and 0; NaN does not count. */

void ingot_int8_range(const float *x, size_t count, float *low, float *high, int threads);

/* y = fixed + a_ratio * a + b_ratio * b to the nearest integer, limited to 8 bits; b's product is added first, each product and
 * its sum rounded once. b NULL: no such term. All tensors have signs or none has. */
typedef struct ingot_int8_sum {
    float a_ratio, b_ratio, fixed;
    bool is_signed;
} ingot_int8_sum;
void ingot_int8_add(const ingot_int8_sum *sum, const void *a, const void *b, void *y, size_t count, int threads);

/* y = (a - a_zero) * (b - b_zero) * ratio + fixed to the nearest integer, limited to 8 bits; the first product is exact. */
typedef struct ingot_int8_times {
    int32_t a_zero, b_zero;
    float ratio, fixed;
    bool is_signed;
} ingot_int8_times;
void ingot_int8_multiply_bytes(const ingot_int8_times *times, const void *a, const void *b, void *y, size_t count,
                               int threads);

/* Softmax of rows * length bytes, where elements of a row lie apart, and rows next to each other by row_step. powers: of e, to the
 * code - 255. Each row's powers are summed in their order in float; y = power * inverse_scale / sum in double, to the nearest
 * integer, plus zero. length is at most INGOT_INT8_SOFTMAX_LENGTH; powers and inverse_scale are finite. */
#define INGOT_INT8_SOFTMAX_LENGTH 1024
typedef struct ingot_int8_softmax {
    size_t length, apart, row_step;
    const float *powers; /* 256 */
    double inverse_scale;
    float zero;
    bool is_signed;
} ingot_int8_softmax;
/* [outer][rows], outer_step elements from one group of rows to the next. */
void ingot_int8_softmax_rows(const ingot_int8_softmax *s, const void *x, void *y, size_t outer, size_t outer_step,
                             size_t rows, int threads);

/* y[i] = table[x[i]], both as unsigned bytes. y may be x. */
void ingot_int8_look_up(const uint8_t table[256], const void *x, void *y, size_t count, int threads);

#endif
