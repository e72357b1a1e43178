/* 8-bit products with zero points: C = finish(sum of (A - a_zero) * (B - b_zero)), sums in 32 bits that wrap. Matrix products and
 * convolutions over channels that lie side by side (int8_conv.h) are both run by it: every place of a grid of outputs has
 * its row of A, which is some stretches of bytes.
 *
 * Kernels multiply unsigned bytes of A by signed ones of B: where A is signed, or B is not, all of it and its zero point are moved
 * by 128. All sums are exact, so levels, threads and the order change no bit. */
#ifndef INGOT_CPU_INT8_PRODUCT_H
#define INGOT_CPU_INT8_PRODUCT_H

#include "base/value.h"
#include "cpu/int8/int8_kernel.h"

/* B before it is packed. Element i of stretch r of a column lies (in bytes) at
 * column * column_stride + r * run_stride + i / inner * outer_stride + i % inner * inner_stride. */
typedef struct ingot_int8_b {
    size_t columns, runs, outer, inner;
    ptrdiff_t column_stride, run_stride, outer_stride, inner_stride;
    const void *data;
    bool is_signed;
} ingot_int8_b;

/* A packed B is [panels][run][quads][INGOT_INT8_PANEL][4], 0 where there is nothing, then the sum of each column. */
size_t ingot_int8_packed_size(size_t columns, size_t runs, size_t run_bytes);
void ingot_int8_pack_b(const ingot_int8_b *b, int8_t *packed);
const int32_t *ingot_int8_sums_in(const int8_t *packed, size_t columns, size_t runs, size_t run_bytes);

/* What a column's sums begin with and are finished by, for a kernel: arrays with room for whole panels. */
typedef struct ingot_int8_columns {
    int32_t *start, *b_zero;
    float *scale, *bias;
} ingot_int8_columns;

/* Zero points, scales and biases as operators have them: each has one number for all columns or one a column. */
typedef struct ingot_int8_terms {
    int32_t a_zero;
    bool a_signed, b_signed;
    const void *b_zero; /* bytes; NULL: 0 */
    size_t b_zero_count;
    const int32_t *summand; /* NULL: 0 */
    size_t summand_count;
    const float *bias; /* NULL: none */
    size_t bias_count;
} ingot_int8_terms;

/* Bytes of ingot_int8_columns for so many columns. */
size_t ingot_int8_columns_size(size_t columns);
/* Lays the arrays out in memory (aligned to INGOT_ALIGNMENT). scale is the caller's to fill: columns numbers. first: number of the
 * first column among those of terms; depth: elements of a row of A; sums: of the packed columns. */
ingot_int8_columns ingot_int8_columns_in(void *memory, size_t columns);
void ingot_int8_fill_columns(const ingot_int8_columns *to, const ingot_int8_terms *terms, size_t first, size_t columns,
                             size_t depth, const int32_t *sums);
/* Whether a zero point of B other than 0 makes sums of A's rows necessary. */
bool ingot_int8_needs_row_sums(const ingot_int8_terms *terms);

/* Grid of outputs: images * groups of them, each height * width places by columns. Image n, group g has the matrix
 * n * image_matrices + g * group_matrices of B. Strides of A are in bytes, those of C in elements. */
typedef struct ingot_int8_product {
    size_t images, groups, height, width, columns;
    size_t image_matrices, group_matrices;
    size_t runs, run_bytes;
    const ptrdiff_t *a_runs;
    const uint8_t *a; /* readable up to the next multiple of 4 bytes of each stretch */
    ptrdiff_t a_image, a_group, a_line, a_place;
    const int8_t *b;   /* packed, matrix after matrix */
    size_t b_matrix;   /* bytes from one to the next */
    const void *terms; /* ingot_int8_columns_in's memory, matrix after matrix */
    bool biased;       /* FLOATS: bias is added */
    int32_t *row_sums; /* [images][groups][height][width] room, or NULL where no zero point of B asks for them */
    ingot_int8_output output;
    ingot_element element; /* BYTES: INGOT_UINT8 or INGOT_INT8 */
    int32_t zero;          /* BYTES */
    void *c;
    size_t c_image, c_group, c_line, c_place;
    const ingot_int8_kernel *kernel; /* NULL: the best one */
} ingot_int8_product;

void ingot_int8_multiply(const ingot_int8_product *product, int threads);

/* y[count] = x[count] with the top bit turned: from signed to unsigned bytes, moved by 128, and back. x may be y. */
void ingot_int8_turn_signs(const void *x, void *y, size_t count);
/* Rows of so many bytes that follow each other, to rows that lie stride apart; turned where they are signed. What lies behind a row
 * is left as it is. */
void ingot_int8_stage_rows(const void *x, bool is_signed, size_t rows, size_t bytes, uint8_t *y, size_t stride,
                           int threads);

#endif
