/* Reference kernels of GridSample and AffineGrid. */
#include <math.h>

#include "cpu/ref/ref.h"
#include "cpu/ref/ref_move.h"
#include "ops/sample.h"

#define MAX_TAPS 4
#define FAR      0x1p30 /* no coordinate is farther out than this */

/* The elements along one dimension that count into a sample, and their weights; an index of -1 is a zero outside. */
typedef struct sample_axis {
    int count;
    int64_t index[MAX_TAPS];
    double weight[MAX_TAPS];
} sample_axis;

/* Mirrors x at low and high until it is between them. */
static double reflect(double x, double low, double high)
{
    double range = high - low;
    if (range <= 0)
        return low;
    double distance = fmod(fabs(x - low), 2 * range);
    return low + (distance > range ? 2 * range - distance : distance);
}

/* What an index stands for under the padding mode. */
static int64_t pad_index(const ingot_grid_sample_params *params, int64_t i, int64_t size)
{
    if (i >= 0 && i < size)
        return i;
    if (params->padding == INGOT_SAMPLE_ZEROS)
        return -1;
    if (params->padding == INGOT_SAMPLE_REFLECTION)
        i = (int64_t)reflect((double)i, params->align_corners ? 0 : -0.5,
                             (double)size - (params->align_corners ? 1 : 0.5));
    return i < 0 ? 0 : i >= size ? size - 1 : i;
}

static double pad_coordinate(const ingot_grid_sample_params *params, double x, int64_t size)
{
    double low = params->align_corners ? 0 : -0.5, high = (double)size - (params->align_corners ? 1 : 0.5);
    if (x >= low && x <= high)
        return x;
    if (params->padding == INGOT_SAMPLE_BORDER)
        return x < 0 ? 0 : x > (double)(size - 1) ? (double)(size - 1) : x;
    return params->padding == INGOT_SAMPLE_REFLECTION ? reflect(x, low, high) : x;
}

/* From -1 ... 1 to a coordinate: in float where the grid is not of doubles, as its ties were made. */
static double denormalize(const ingot_grid_sample_params *params, ingot_element element, double place, int64_t size)
{
    double x;
    if (element == INGOT_DOUBLE) {
        x = params->align_corners ? (place + 1) / 2 * (double)(size - 1) : ((place + 1) * (double)size - 1) / 2;
    } else {
        float p = (float)place;
        x = params->align_corners ? (p + 1) / 2 * (float)(size - 1) : ((p + 1) * (float)size - 1) / 2;
    }
    return fabs(x) < FAR ? x : x > 0 ? FAR : -FAR;
}

static double cubic_weight(double distance)
{
    const double a = -0.75;
    if (distance <= 1)
        return ((a + 2) * distance - (a + 3)) * distance * distance + 1;
    return ((a * distance - 5 * a) * distance + 8 * a) * distance - 4 * a;
}

static void fill_axis(const ingot_grid_sample_params *params, ingot_element element, double place, int64_t size,
                      sample_axis *axis)
{
    double x = denormalize(params, element, place, size);
    if (params->mode == INGOT_SAMPLE_NEAREST)
        x = nearbyint(x);
    x = pad_coordinate(params, x, size);
    int64_t base = params->mode == INGOT_SAMPLE_NEAREST ? (int64_t)x : (int64_t)floor(x);
    axis->count = params->mode == INGOT_SAMPLE_NEAREST ? 1 : params->mode == INGOT_SAMPLE_LINEAR ? 2 : 4;
    for (int t = 0; t < axis->count; t++) {
        int64_t at = base + t - (params->mode == INGOT_SAMPLE_CUBIC);
        double distance = fabs(x - (double)at);
        axis->index[t] = pad_index(params, at, size);
        axis->weight[t] = params->mode == INGOT_SAMPLE_NEAREST  ? 1
                          : params->mode == INGOT_SAMPLE_LINEAR ? 1 - distance
                                                                : cubic_weight(distance);
    }
}

static double load(const ingot_value *x, size_t i)
{
    return x->element == INGOT_FLOAT ? ((const float *)x->data)[i] : ingot_load_double(x->element, x->data, i);
}

/* The weighted sum over all combinations of the axes' elements, of the plane of x that begins at first. */
static double weigh(const ingot_value *x, size_t first, const sample_axis *axes, const int64_t *strides, int spatial)
{
    int turn[INGOT_MAX_RANK] = {0};
    double sum = 0;
    for (;;) {
        double weight = 1;
        int64_t at = 0;
        bool outside = false;
        for (int i = 0; i < spatial; i++) {
            weight *= axes[i].weight[turn[i]];
            outside |= axes[i].index[turn[i]] < 0;
            at += axes[i].index[turn[i]] * strides[i];
        }
        if (!outside && weight != 0)
            sum += weight * load(x, first + (size_t)at);
        int i = spatial - 1;
        while (i >= 0 && ++turn[i] == axes[i].count)
            turn[i--] = 0;
        if (i < 0)
            return sum;
    }
}

/* Nearest moves the element itself, whatever its type. */
static ingot_status move_nearest(const ingot_kernel_call *call, size_t to, size_t first, const sample_axis *axes,
                                 const int64_t *strides, int spatial)
{
    size_t at = first;
    for (int i = 0; i < spatial; i++) {
        if (axes[i].index[0] < 0)
            return INGOT_OK;
        at += (size_t)(axes[i].index[0] * strides[i]);
    }
    return ingot_ref_copy_run(call, call->outputs[0], to, call->inputs[0], at, 1);
}

ingot_status ingot_ref_grid_sample(const ingot_kernel_call *call)
{
    const ingot_grid_sample_params *params = call->params;
    const ingot_value *x = call->inputs[0], *grid = call->inputs[1];
    ingot_value *y = call->outputs[0];
    int spatial = x->rank - 2;
    const int64_t *sizes = x->dims + 2;
    size_t channels = (size_t)x->dims[1], plane = ingot_dims_product(x->dims, 2, x->rank);
    size_t points = ingot_dims_product(y->dims, 2, y->rank);
    int64_t strides[INGOT_MAX_RANK];
    sample_axis axes[INGOT_MAX_RANK];
    ingot_plain_strides(spatial, sizes, strides);
    ingot_ref_clear(y);
    if (plane == 0 || ingot_ref_count(y) == 0)
        return INGOT_OK;
    for (size_t point = 0; point < (size_t)x->dims[0] * points; point++) {
        size_t batch = point / points, to = batch * channels * points + point % points;
        for (int i = 0; i < spatial; i++)
            fill_axis(params, grid->element, load(grid, (point + 1) * (size_t)spatial - 1 - (size_t)i), sizes[i],
                      &axes[i]);
        for (size_t channel = 0; channel < channels; channel++, to += points) {
            size_t first = (batch * channels + channel) * plane;
            if (params->mode == INGOT_SAMPLE_NEAREST)
                INGOT_TRY(move_nearest(call, to, first, axes, strides, spatial));
            else
                ingot_store_double(y->element, y->data, to, weigh(x, first, axes, strides, spatial));
        }
    }
    return INGOT_OK;
}

/* Point i of size that are spread over -1 ... 1; one alone lies at -1 where the corners are aligned, as in the function that
 * the standard gives for AffineGrid. */
static double spread(bool align_corners, int64_t i, int64_t size)
{
    if (align_corners)
        return size > 1 ? -1 + 2 * (double)i / (double)(size - 1) : -1;
    return (2 * (double)i + 1) / (double)size - 1;
}

ingot_status ingot_ref_affine_grid(const ingot_kernel_call *call)
{
    const ingot_affine_grid_params *params = call->params;
    const ingot_value *theta = call->inputs[0];
    ingot_value *y = call->outputs[0];
    int spatial = y->rank - 2;
    size_t count = ingot_dims_product(y->dims, 0, y->rank - 1), points = ingot_dims_product(y->dims, 1, y->rank - 1);
    for (size_t point = 0; point < count; point++) {
        double place[3];
        size_t rest = point % points, batch = point / points;
        for (int i = 0; i < spatial; i++) { /* x, then y, then z: from the last dimension to the first */
            size_t size = (size_t)y->dims[y->rank - 2 - i];
            place[i] = spread(params->align_corners, (int64_t)(rest % size), (int64_t)size);
            rest /= size;
        }
        for (int row = 0; row < spatial; row++) {
            size_t at = (batch * (size_t)spatial + (size_t)row) * (size_t)(spatial + 1);
            double sum = load(theta, at + (size_t)spatial);
            for (int i = 0; i < spatial; i++)
                sum += load(theta, at + (size_t)i) * place[i];
            ingot_store_double(y->element, y->data, point * (size_t)spatial + (size_t)row, sum);
        }
    }
    return INGOT_OK;
}
