/* How Resize maps one axis: what the reference kernels of its modes share. */
#ifndef INGOT_CPU_REF_REF_RESIZE_AXIS_H
#define INGOT_CPU_REF_REF_RESIZE_AXIS_H

#include "ops/kernel.h"
#include "ops/resize.h"

typedef struct ingot_resize_axis {
    int64_t in, out;
    double scale;      /* out of in; the width that it asks for, scale * in, need not be whole */
    bool exact;        /* scale is out / in */
    double start, end; /* region, of tf_crop_and_resize */
    bool same;         /* each element stays where it is */
} ingot_resize_axis;

/* All axes of a call, as many as the input has. */
void ingot_resize_read_axes(const ingot_kernel_call *call, ingot_resize_axis *axes);
/* The coordinate in the input of element i; *outside where it takes the extrapolation value. */
double ingot_resize_coordinate(const ingot_resize_params *params, const ingot_resize_axis *axis, int64_t i,
                               bool *outside);

/* nearest for all types: see ref_resize_nearest.c. */
ingot_status ingot_ref_resize_nearest(const ingot_kernel_call *call, const ingot_resize_axis *axes);

#endif
