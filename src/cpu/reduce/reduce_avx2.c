/* The reduction kernels: the templates for AVX2. */
#define INGOT_SIMD_AVX2 1
#include "cpu/reduce/pool_tmpl.h"
#include "cpu/reduce/reduce_tmpl.h"

const ingot_reduce_table LEVEL_NAME(ingot_reduce_table) = {
    row, columns_of, softmax_rows, softmax_columns, moments, normalize, pool_row,
};
