/* How Resize maps one axis: what all kernels of it share, so that they agree on every coordinate. */
#ifndef INGOT_OPS_RESIZE_AXIS_H
#define INGOT_OPS_RESIZE_AXIS_H

#include "ops/resize.h"

typedef struct ingot_resize_map {
    int64_t in, out;
    double scale;      /* out of in; the width that it asks for, scale * in, need not be whole */
    bool exact;        /* scale is out / in */
    double start, end; /* region, of tf_crop_and_resize */
    bool same;         /* each element stays where it is */
} ingot_resize_map;

/* All axes of a run: maps holds as many as input 0 has dimensions. output has its shape. */
void ingot_resize_read_maps(const ingot_resize_params *params, const ingot_value *const *inputs, size_t input_count,
                            const ingot_value *output, ingot_resize_map *maps);
/* The coordinate in the input of element i; *outside where it takes the extrapolation value. */
double ingot_resize_coordinate(const ingot_resize_params *params, const ingot_resize_map *map, int64_t i,
                               bool *outside);

/* Of nearest: the element of the input that element i is, INGOT_RESIZE_OUTSIDE where it takes the extrapolation value. */
#define INGOT_RESIZE_OUTSIDE (-1)
int64_t ingot_resize_nearest(const ingot_resize_params *params, const ingot_resize_map *map, int64_t i);

#endif
