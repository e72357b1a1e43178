/* Matrix products of all types, a row at a time: floats joined in double, integers modulo 2^64. */
#ifndef INGOT_CPU_REF_REF_PRODUCT_H
#define INGOT_CPU_REF_REF_PRODUCT_H

#include "cpu/ref/ref.h"
#include "cpu/ref/ref_iterate.h"

/* Two tensors ready to be multiplied: float and double as they are, all other types as float (narrow floats) or int64
 * (integers) in scratch memory, laid out as the tensors are. */
typedef struct ingot_factors {
    ingot_element element; /* INGOT_FLOAT, INGOT_DOUBLE or INGOT_INT64 */
    const void *a, *b;
    void *a_copy, *b_copy; /* the same where they are in scratch memory, else NULL */
    void *row;             /* as many doubles (int64 for integers) as asked for */
} ingot_factors;

/* Takes the call's scratch memory. */
ingot_status ingot_factors_prepare(const ingot_kernel_call *call, const ingot_value *a, const ingot_value *b,
                                   size_t row_count, ingot_factors *factors);

/* One matrix product: where the matrices begin and how far their rows and columns lie apart, in elements. */
typedef struct ingot_product {
    size_t n, k;
    int64_t a_start, a_row, a_column;
    int64_t b_start, b_row, b_column;
} ingot_product;

/* factors->row[j] = sum over k of a[row, k] * b[k, j], in the order of k. */
void ingot_product_row(const ingot_factors *factors, const ingot_product *product, size_t row);

/* Elements index ... index + count - 1 of z from the row. */
void ingot_product_store(const ingot_factors *factors, ingot_value *z, size_t index, size_t count);

#endif
