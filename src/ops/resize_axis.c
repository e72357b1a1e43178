/* See resize_axis.h. */
#include "ops/resize_axis.h"

#include <math.h>

#include "base/number.h"

/* A run as the functions here see it. */
typedef struct resize_run {
    const ingot_resize_params *params;
    const ingot_value *const *inputs;
    size_t input_count;
} resize_run;

/* Scales from their attribute or input; false where sizes are given instead. */
static bool read_scales(const resize_run *run, int count, double *scales)
{
    const ingot_resize_params *params = run->params;
    size_t input = params->legacy ? 1 : 2;
    if (params->by_attributes) {
        scales[0] = params->height_scale;
        scales[1] = params->width_scale;
        return true;
    }
    if (!params->scales.given &&
        (input >= run->input_count || !run->inputs[input] || ingot_value_count(run->inputs[input]) == 0))
        return false;
    for (int i = 0; i < count; i++)
        scales[i] = params->scales.given ? params->scales.data[i] : ((const float *)run->inputs[input]->data)[i];
    return true;
}

/* A policy other than stretch makes one scale of all sizes. */
static void scale_by_sizes(const resize_run *run, int count, const int *listed, ingot_resize_map *maps)
{
    const ingot_resize_params *params = run->params;
    int64_t in[INGOT_MAX_RANK], sizes[INGOT_MAX_RANK];
    for (int i = 0; i < count; i++) {
        in[i] = maps[listed[i]].in;
        sizes[i] = ingot_load_i64(run->inputs[3]->element, run->inputs[3]->data, (size_t)i);
    }
    double common = ingot_resize_common_scale(params->policy, count, in, sizes);
    for (int i = 0; i < count && params->policy != INGOT_RESIZE_STRETCH; i++) {
        maps[listed[i]].scale = common;
        maps[listed[i]].exact = false;
    }
}

void ingot_resize_read_maps(const ingot_resize_params *params, const ingot_value *const *inputs, size_t input_count,
                            const ingot_value *output, ingot_resize_map *maps)
{
    const resize_run run = {params, inputs, input_count};
    const ingot_value *x = inputs[0], *y = output;
    bool crop = params->coordinates == INGOT_RESIZE_TF_CROP_AND_RESIZE;
    double scales[INGOT_MAX_RANK];
    int listed[INGOT_MAX_RANK], count = ingot_resize_axes(params, x->rank, listed);
    for (int i = 0; i < x->rank; i++)
        maps[i] = (ingot_resize_map){.in = x->dims[i],
                                     .out = y->dims[i],
                                     .scale = x->dims[i] > 0 ? (double)y->dims[i] / (double)x->dims[i] : 1,
                                     .exact = true,
                                     .end = 1};
    if (read_scales(&run, count, scales)) {
        for (int i = 0; i < count; i++) {
            maps[listed[i]].scale = scales[i];
            maps[listed[i]].exact = false;
        }
    } else {
        scale_by_sizes(&run, count, listed, maps);
    }
    for (int i = 0; crop && i < count; i++) {
        const ingot_value *roi = inputs[1];
        maps[listed[i]].start = ingot_load_double(roi->element, roi->data, (size_t)i);
        maps[listed[i]].end = ingot_load_double(roi->element, roi->data, (size_t)(count + i));
    }
    for (int i = 0; i < x->rank; i++)
        maps[i].same = maps[i].in == maps[i].out && maps[i].scale == 1 && maps[i].start == 0 && maps[i].end == 1 &&
                       params->coordinates != INGOT_RESIZE_TF_HALF_PIXEL_FOR_NN;
}

/* x * in / out; where the scale is given, x / scale. */
static double unscaled(const ingot_resize_map *map, double x)
{
    return map->exact ? x * (double)map->in / (double)map->out : x / map->scale;
}

static double crop_coordinate(const ingot_resize_map *map, double x, bool *outside)
{
    double last = (double)map->in - 1;
    double coordinate = map->out > 1 ? map->start * last + x * (map->end - map->start) * last / (double)(map->out - 1)
                                     : 0.5 * (map->start + map->end) * last;
    *outside = !(coordinate >= 0 && coordinate <= last);
    return *outside ? 0 : coordinate;
}

double ingot_resize_coordinate(const ingot_resize_params *params, const ingot_resize_map *map, int64_t i, bool *outside)
{
    double x = (double)i, width = map->exact ? (double)map->out : map->scale * (double)map->in;
    *outside = false;
    switch (params->coordinates) {
    case INGOT_RESIZE_HALF_PIXEL_SYMMETRIC:
        return (double)map->in / 2 * (1 - (double)map->out / width) + unscaled(map, x + 0.5) - 0.5;
    case INGOT_RESIZE_PYTORCH_HALF_PIXEL:
        return map->out > 1 ? unscaled(map, x + 0.5) - 0.5 : 0;
    case INGOT_RESIZE_ALIGN_CORNERS:
        return map->out > 1 && width > 1 ? x * (double)(map->in - 1) / (width - 1) : 0;
    case INGOT_RESIZE_ASYMMETRIC:
        return unscaled(map, x);
    case INGOT_RESIZE_TF_HALF_PIXEL_FOR_NN:
        return unscaled(map, x + 0.5);
    case INGOT_RESIZE_TF_CROP_AND_RESIZE:
        return crop_coordinate(map, x, outside);
    default:
        return unscaled(map, x + 0.5) - 0.5;
    }
}

static double rounded(int rounding, double x)
{
    switch (rounding) {
    case INGOT_RESIZE_FLOOR:
        return floor(x);
    case INGOT_RESIZE_CEIL:
        return ceil(x);
    case INGOT_RESIZE_ROUND_PREFER_CEIL:
        return floor(x + 0.5);
    default:
        return ceil(x - 0.5);
    }
}

int64_t ingot_resize_nearest(const ingot_resize_params *params, const ingot_resize_map *map, int64_t i)
{
    bool outside = false;
    double x = map->same ? (double)i : rounded(params->rounding, ingot_resize_coordinate(params, map, i, &outside));
    double last = (double)(map->in - 1);
    return outside ? INGOT_RESIZE_OUTSIDE : !(x > 0) ? 0 : x > last ? map->in - 1 : (int64_t)x;
}
