/* The conversions, one element at a time. */
#include "base/number.h"
#include "cpu/half/half_table.h"

#define CONVERT(name, from, to, function)                  \
    static void name(const void *x, void *y, size_t count) \
    {                                                      \
        for (size_t i = 0; i < count; i++)                 \
            ((to *)y)[i] = function(((const from *)x)[i]); \
    }
CONVERT(half_to_float, uint16_t, float, ingot_half_to_float)
CONVERT(half_from_float, float, uint16_t, ingot_half_from_float)
CONVERT(bfloat16_to_float, uint16_t, float, ingot_bfloat16_to_float)
CONVERT(bfloat16_from_float, float, uint16_t, ingot_bfloat16_from_float)

const ingot_half_table ingot_half_table_scalar = {
    {half_to_float, half_from_float, bfloat16_to_float, bfloat16_from_float}};
