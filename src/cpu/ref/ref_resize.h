/* What the reference kernels of Resize share. */
#ifndef INGOT_CPU_REF_REF_RESIZE_H
#define INGOT_CPU_REF_REF_RESIZE_H

#include "ops/kernel.h"
#include "ops/resize_axis.h"

/* nearest for all types. */
ingot_status ingot_ref_resize_nearest(const ingot_kernel_call *call, const ingot_resize_map *axes);

#endif
