/* Casts that involve text; the rest is in ref_cast.c. */
#ifndef INGOT_CPU_REF_REF_CAST_H
#define INGOT_CPU_REF_REF_CAST_H

#include "cpu/ref/ref.h"

/* Output 0, a string tensor, from the numbers of input 0: as numpy writes them. */
ingot_status ingot_cast_to_text(const ingot_kernel_call *call);

/* Number index of input 0, a string tensor: through double, and through int64 for integers, which thus are exact. Text that is
 * no number is refused. */
ingot_status ingot_cast_text_to_double(const ingot_kernel_call *call, size_t index, double *value);
ingot_status ingot_cast_text_to_i64(const ingot_kernel_call *call, size_t index, int64_t *value);

#endif
