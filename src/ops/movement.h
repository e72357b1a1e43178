/* Shape arithmetic that the operators which move data share. A failure names the node. */
#ifndef INGOT_OPS_MOVEMENT_H
#define INGOT_OPS_MOVEMENT_H

#include "ops/op.h"

/* a + b and a * b of sizes: refused where both are numbers and the result does not fit; what is the size's name in the
 * message. */
ingot_status ingot_movement_add(ingot_infer *c, const char *what, ingot_dim a, ingot_dim b, ingot_dim *result);
ingot_status ingot_movement_mul(ingot_infer *c, const char *what, ingot_dim a, ingot_dim b, ingot_dim *result);

/* Refuses an output with a negative size, or whose sizes are all numbers and whose bytes do not fit. */
ingot_status ingot_movement_check_output(ingot_infer *c, size_t output);
/* ingot_infer_set and the check of it. */
ingot_status ingot_movement_set(ingot_infer *c, size_t output, ingot_element element, int rank, const ingot_dim *dims);

/* The output has the content of an input, perhaps under another shape. */
void ingot_movement_keep_content(ingot_infer *c, size_t output, size_t input);

/* Length of a rank-1 integer input such as a shape, which is a rank: -1 where it is not known. Refused where it is no vector
 * or above INGOT_MAX_RANK. */
ingot_status ingot_movement_vector_length(ingot_infer *c, size_t input, int *length);

/* Axes from an attribute, or from an input where that is not given: made non-negative for rank, and refused where one is out of
 * range or occurs twice. *count is SIZE_MAX where neither is there, *known false where the input's content is not known. */
ingot_status ingot_movement_axes(ingot_infer *c, const ingot_ints *attribute, size_t input, int rank, bool *known,
                                 int *axes, size_t *count);

/* Refuses an input, where it is there, that does not hold one element: a scalar, or a vector of length 1. */
ingot_status ingot_movement_one(ingot_infer *c, size_t input);

/* A number from an attribute as a dim: one so low that it would read as a reference becomes the lowest number. */
static inline ingot_dim ingot_movement_number(int64_t value)
{
    return ingot_dim_is_number(value) ? value : INGOT_DIM_REFERENCE_END;
}

/* A boolean or integer scalar input; false where it is not known. */
bool ingot_movement_scalar(const ingot_infer *c, size_t input, int64_t *value);

/* The element type that an attribute such as dtype names by its number. */
ingot_status ingot_movement_element(const ingot_node *node, const char *attribute, int64_t number,
                                    ingot_element *element, ingot_error *error);

#endif
