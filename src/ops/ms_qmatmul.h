/* Products of 8-bit matrices that end in floats: shared by those of com.microsoft. */
#ifndef INGOT_OPS_MS_QMATMUL_H
#define INGOT_OPS_MS_QMATMUL_H

#include "ops/expand.h"

/* A matrix with its scale and its zero point (NULL: 0). */
typedef struct ingot_scaled_matrix {
    ingot_graph_value *matrix, *scale, *zero_point;
} ingot_scaled_matrix;

typedef struct ingot_scaled_product {
    ingot_scaled_matrix a, b;
    ingot_graph_value *added;   /* int32 summand before the scales; NULL: none */
    double factor;              /* of the scales */
    ingot_graph_value *divisor; /* of the scales; NULL: none */
    ingot_graph_value *bias;    /* float summand after them; NULL: none */
} ingot_scaled_product;

/* The product in 32 bits as the element type of the scales, times a's scale times b's, over the divisor. */
ingot_graph_value *ingot_expand_scaled_product(ingot_expansion *e, const ingot_scaled_product *p);

#endif
