/* Known content of small integer tensors, followed through elementwise operators: the arithmetic on shapes that models do. */
#ifndef INGOT_OPS_CONTENT_H
#define INGOT_OPS_CONTENT_H

#include "ops/op.h"

/* One element of the result from one of each operand; INGOT_DIM_UNKNOWN where nothing can be told. */
typedef ingot_dim (*ingot_content_unary)(ingot_dims *dims, ingot_dim a);
typedef ingot_dim (*ingot_content_binary)(ingot_dims *dims, ingot_dim a, ingot_dim b);

/* Content of an input of an integer or bool type: true with *count elements, of which some may be unknown or symbolic. values
 * holds INGOT_MAX_KNOWN. */
bool ingot_content_of(const ingot_infer *c, size_t input, ingot_dim *values, size_t *count);

/* Makes count values the known content of an output whose type is set, if that is of an integer or bool type and of known
 * shape with as many elements; numbers that do not fit the type become unknown. Else does nothing. */
void ingot_content_set(ingot_infer *c, size_t output, const ingot_dim *values, size_t count);

/* Output 0 from input 0, and from inputs 0 and 1 under broadcasting, element by element where they are known. */
void ingot_content_map(ingot_infer *c, ingot_content_unary map);
void ingot_content_combine(ingot_infer *c, ingot_content_binary combine);

/* Whether the element type is one whose content is followed. */
bool ingot_content_followed(ingot_element element);
/* Whether no value of the symbols can make dim negative, as far as can be told at little cost. */
bool ingot_content_not_negative(const ingot_dims *dims, ingot_dim dim);

#endif
