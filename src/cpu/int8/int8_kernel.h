/* What an 8-bit product kernel of one instruction set offers to the driver (product.c). */
#ifndef INGOT_CPU_INT8_KERNEL_H
#define INGOT_CPU_INT8_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Columns of B come in panels of so many, whatever the kernel. */
#define INGOT_INT8_PANEL 32

/* What becomes of a sum s, where column's numbers are scale[column] and so on:
 *   SUMS    s
 *   FLOATS  s * scale + bias, both rounded to float
 *   BYTES   s * scale, rounded to float, then to the nearest integer, plus zero, limited to 8 bits; NaN becomes the lowest value */
typedef enum ingot_int8_output { INGOT_INT8_SUMS, INGOT_INT8_FLOATS, INGOT_INT8_BYTES } ingot_int8_output;

/* One block of C: rows (at most the kernel's) times columns (at most a panel). Row i of A is runs stretches of quads * 4 unsigned
 * bytes, stretch r from a + i * a_row + a_runs[r] on. B is packed, [run][quad][INGOT_INT8_PANEL][4] signed bytes. A sum begins with
 * start[column], wraps in 32 bits, and row_sums[row] * b_zero[column] is taken off it where row_sums is given. start, b_zero,
 * scale and bias have INGOT_INT8_PANEL elements. */
typedef struct ingot_int8_tile {
    size_t rows, columns, runs, quads;
    const uint8_t *a;
    ptrdiff_t a_row;
    const ptrdiff_t *a_runs;
    const int8_t *b;
    const char *prefetch; /* for each quad, what lies here is fetched, prefetch_step bytes further each time */
    size_t prefetch_step;
    const int32_t *start;
    const int32_t *row_sums, *b_zero;
    ingot_int8_output output;
    const float *scale, *bias; /* bias may be NULL */
    float low, high;           /* of BYTES: limits of what zero is added to */
    int32_t zero;
    void *c; /* int32_t, float or bytes */
    size_t c_row;
} ingot_int8_tile;

/* A line of a depthwise convolution, for a block of channels that lie side by side: place x of the output sums, over ky and kx, the
 * bytes at a + ky * a_row + (x * stride + kx * dilation) * a_place, times b. B is packed, [kx][quad][INGOT_INT8_CHANNELS][4], where a
 * quad is four ky; 0 past the last one. INGOT_INT8_CHANNELS bytes are read at every place. */
#define INGOT_INT8_CHANNELS 16
typedef struct ingot_int8_depthwise {
    const uint8_t *a;
    ptrdiff_t a_row, a_place;
    size_t in_width, out_width; /* places of a line that is read, and of the one that is written */
    size_t kernel_height, kernel_width, stride, dilation;
    const int8_t *b;
    uint8_t *columns;    /* scratch: in_width * quads * INGOT_INT8_CHANNELS * 4 bytes */
    ingot_int8_tile out; /* what becomes of the sums: columns, start, output, scale, low, high, zero, c, c_row */
} ingot_int8_depthwise;

typedef void (*ingot_int8_tile_function)(const ingot_int8_tile *tile);
typedef void (*ingot_int8_depthwise_function)(const ingot_int8_depthwise *d);

typedef struct ingot_int8_kernel {
    const char *name;
    uint32_t features; /* INGOT_CPU_*: all are needed */
    size_t rows;
    ingot_int8_tile_function tile;
    ingot_int8_depthwise_function depthwise;
} ingot_int8_kernel;

#define INGOT_INT8_KERNEL(name, features, rows, columns) \
    void ingot_##name##_tile(const ingot_int8_tile *t);  \
    void ingot_##name##_depthwise(const ingot_int8_depthwise *d);
#include "cpu/int8/int8_kernels.def"
#undef INGOT_INT8_KERNEL

/* The kernels of this build, best last, and those that this processor (and INGOT_CPU) allows. */
size_t ingot_int8_kernel_count(void);
const ingot_int8_kernel *ingot_int8_kernel_at(size_t index);
const ingot_int8_kernel *ingot_int8_kernel_best(void);
bool ingot_int8_kernel_runs(const ingot_int8_kernel *kernel);

#endif
