/* Operators that make a tensor of little more than a shape: ConstantOfShape, Range, EyeLike, OneHot, the window functions. */
#ifndef INGOT_OPS_GENERATE_H
#define INGOT_OPS_GENERATE_H

#include "ops/shape.h"

typedef struct ingot_constant_of_shape_params {
    const ingot_value *value; /* one element; NULL: a float 0 */
} ingot_constant_of_shape_params;

typedef struct ingot_hot_params { /* OneHot */
    int64_t axis;
    bool from_end; /* negative indices count from the end; else they are outside */
} ingot_hot_params;

typedef struct ingot_eye_like_params {
    int64_t dtype;
    int64_t k; /* the diagonal: [i, i + k] is 1 */
    bool has_dtype;
    ingot_element element; /* of dtype, where it is given */
} ingot_eye_like_params;

enum { INGOT_WINDOW_BLACKMAN, INGOT_WINDOW_HAMMING, INGOT_WINDOW_HANN };

typedef struct ingot_window_function_params {
    int64_t output_datatype;
    ingot_element element; /* of output_datatype */
    int function;          /* INGOT_WINDOW_BLACKMAN ... */
    bool periodic;         /* the first size points of a window of size + 1 */
} ingot_window_function_params;

#endif
