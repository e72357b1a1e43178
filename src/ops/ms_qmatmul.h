/* Products of 8-bit matrices that end in floats: shared by those of com.microsoft. */
#ifndef INGOT_OPS_MS_QMATMUL_H
#define INGOT_OPS_MS_QMATMUL_H

#include "ops/expand.h"

/* A matrix with its scale and its zero point (NULL: 0). */
typedef struct ingot_scaled_matrix {
    ingot_graph_value *matrix, *scale, *zero_point;
} ingot_scaled_matrix;

/* The product in 32 bits as the element type of the scales, times both scales and factor. added: int32 summand before the scales,
 * bias: float one after them; NULL: none. */
ingot_graph_value *ingot_expand_scaled_product(ingot_expansion *e, const ingot_scaled_matrix *a,
                                               const ingot_scaled_matrix *b, ingot_graph_value *added, double factor,
                                               ingot_graph_value *bias);

#endif
