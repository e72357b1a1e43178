/* See ref_resize_axis.h. */
#include "cpu/ref/ref_resize_axis.h"

#include <math.h>

#include "cpu/ref/ref_move.h"

/* Scales from their attribute or input; false where sizes are given instead. */
static bool read_scales(const ingot_kernel_call *call, int count, double *scales)
{
    const ingot_resize_params *params = call->params;
    size_t input = params->legacy ? 1 : 2;
    if (params->by_attributes) {
        scales[0] = params->height_scale;
        scales[1] = params->width_scale;
        return true;
    }
    if (!params->scales.given && (!ingot_kernel_has(call, input) || ingot_ref_count(call->inputs[input]) == 0))
        return false;
    for (int i = 0; i < count; i++)
        scales[i] = params->scales.given ? params->scales.data[i] : ((const float *)call->inputs[input]->data)[i];
    return true;
}

/* A policy other than stretch makes one scale of all sizes. */
static void scale_by_sizes(const ingot_kernel_call *call, int count, const int *listed, ingot_resize_axis *axes)
{
    const ingot_resize_params *params = call->params;
    int64_t in[INGOT_MAX_RANK], sizes[INGOT_MAX_RANK];
    for (int i = 0; i < count; i++) {
        in[i] = axes[listed[i]].in;
        sizes[i] = ingot_ref_integer(call->inputs[3], (size_t)i);
    }
    double common = ingot_resize_common_scale(params->policy, count, in, sizes);
    for (int i = 0; i < count && params->policy != INGOT_RESIZE_STRETCH; i++) {
        axes[listed[i]].scale = common;
        axes[listed[i]].exact = false;
    }
}

void ingot_resize_read_axes(const ingot_kernel_call *call, ingot_resize_axis *axes)
{
    const ingot_resize_params *params = call->params;
    const ingot_value *x = call->inputs[0], *y = call->outputs[0];
    bool crop = params->coordinates == INGOT_RESIZE_TF_CROP_AND_RESIZE;
    double scales[INGOT_MAX_RANK];
    int listed[INGOT_MAX_RANK], count = ingot_resize_axes(params, x->rank, listed);
    for (int i = 0; i < x->rank; i++)
        axes[i] = (ingot_resize_axis){.in = x->dims[i],
                                      .out = y->dims[i],
                                      .scale = x->dims[i] > 0 ? (double)y->dims[i] / (double)x->dims[i] : 1,
                                      .exact = true,
                                      .end = 1};
    if (read_scales(call, count, scales)) {
        for (int i = 0; i < count; i++) {
            axes[listed[i]].scale = scales[i];
            axes[listed[i]].exact = false;
        }
    } else {
        scale_by_sizes(call, count, listed, axes);
    }
    for (int i = 0; crop && i < count; i++) {
        const ingot_value *roi = call->inputs[1];
        axes[listed[i]].start = ingot_load_double(roi->element, roi->data, (size_t)i);
        axes[listed[i]].end = ingot_load_double(roi->element, roi->data, (size_t)(count + i));
    }
    for (int i = 0; i < x->rank; i++)
        axes[i].same = axes[i].in == axes[i].out && axes[i].scale == 1 && axes[i].start == 0 && axes[i].end == 1 &&
                       params->coordinates != INGOT_RESIZE_TF_HALF_PIXEL_FOR_NN;
}

/* x * in / out; where the scale is given, x / scale. */
static double unscaled(const ingot_resize_axis *axis, double x)
{
    return axis->exact ? x * (double)axis->in / (double)axis->out : x / axis->scale;
}

static double crop_coordinate(const ingot_resize_axis *axis, double x, bool *outside)
{
    double last = (double)axis->in - 1;
    double coordinate = axis->out > 1
                            ? axis->start * last + x * (axis->end - axis->start) * last / (double)(axis->out - 1)
                            : 0.5 * (axis->start + axis->end) * last;
    *outside = !(coordinate >= 0 && coordinate <= last);
    return *outside ? 0 : coordinate;
}

double ingot_resize_coordinate(const ingot_resize_params *params, const ingot_resize_axis *axis, int64_t i,
                               bool *outside)
{
    double x = (double)i, width = axis->exact ? (double)axis->out : axis->scale * (double)axis->in;
    *outside = false;
    switch (params->coordinates) {
    case INGOT_RESIZE_HALF_PIXEL_SYMMETRIC:
        return (double)axis->in / 2 * (1 - (double)axis->out / width) + unscaled(axis, x + 0.5) - 0.5;
    case INGOT_RESIZE_PYTORCH_HALF_PIXEL:
        return axis->out > 1 ? unscaled(axis, x + 0.5) - 0.5 : 0;
    case INGOT_RESIZE_ALIGN_CORNERS:
        return axis->out > 1 && width > 1 ? x * (double)(axis->in - 1) / (width - 1) : 0;
    case INGOT_RESIZE_ASYMMETRIC:
        return unscaled(axis, x);
    case INGOT_RESIZE_TF_HALF_PIXEL_FOR_NN:
        return unscaled(axis, x + 0.5);
    case INGOT_RESIZE_TF_CROP_AND_RESIZE:
        return crop_coordinate(axis, x, outside);
    default:
        return unscaled(axis, x + 0.5) - 0.5;
    }
}
