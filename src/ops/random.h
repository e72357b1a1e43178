/* RandomNormal, RandomUniform and their Like forms, Bernoulli, Multinomial, Dropout.
 *
 * With a seed every run draws the same numbers, whatever the machine and the number of threads: element i of the output is
 * drawn at place i of base/random.h's generator, whose key is made of the seed's bits. Without one every run draws others. */
#ifndef INGOT_OPS_RANDOM_H
#define INGOT_OPS_RANDOM_H

#include "ops/op.h"

typedef struct ingot_random_seed {
    float value; /* NaN counts as not given */
    bool given;
} ingot_random_seed;

typedef struct ingot_random_params {
    ingot_random_seed seed;
    ingot_ints shape; /* of the forms without an input */
    bool has_dtype;
    int64_t dtype;       /* ingot_element; not given: that of the input */
    bool normal;         /* else uniform */
    float a, b;          /* normal: mean and standard deviation; uniform: the bounds */
    int64_t sample_size; /* of Multinomial */
} ingot_random_params;

typedef struct ingot_dropout_params {
    bool mask_is_bool; /* else of the data's type, as before opset 10 */
    bool has_seed;
    int64_t seed;
} ingot_dropout_params;

/* The key to draw with: the seed's, or a new one. */
uint64_t ingot_random_key(const ingot_random_seed *seed);

#endif
