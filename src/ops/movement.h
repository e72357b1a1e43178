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

/* Content of an integer output; not kept where it is longer than INGOT_MAX_KNOWN. */
void ingot_movement_set_known(ingot_infer *c, size_t output, const ingot_dim *values, size_t count);
/* The output has the content of an input under another shape. */
void ingot_movement_keep_known(ingot_infer *c, size_t output, size_t input);

/* Content of an integer input, ends of ranges included: numbers past +-2^62 are cut to that. Single elements may be symbolic
 * or unknown; false where not even their number is known, or it is over max. */
bool ingot_movement_bounds(const ingot_infer *c, size_t input, ingot_dim *values, size_t max, size_t *count);
#define INGOT_MOVEMENT_LIMIT ((int64_t)1 << 62)

/* Whether a size is never negative, as far as its expression tells. */
bool ingot_movement_is_size(const ingot_dims *dims, ingot_dim dim);

/* Length of a rank-1 integer input such as a shape, which is a rank: -1 where it is not known. Refused where it is no vector
 * or above INGOT_MAX_RANK. */
ingot_status ingot_movement_vector_length(ingot_infer *c, size_t input, int *length);

/* Axes from an attribute, or from an input where that is not given: made non-negative for rank, and refused where one is out of
 * range or occurs twice. *count is SIZE_MAX where neither is there, *known false where the input's content is not known. */
ingot_status ingot_movement_axes(ingot_infer *c, const ingot_ints *attribute, size_t input, int rank, bool *known,
                                 int *axes, size_t *count);

/* A boolean or integer scalar input; false where it is not known. */
bool ingot_movement_scalar(const ingot_infer *c, size_t input, int64_t *value);

#endif
