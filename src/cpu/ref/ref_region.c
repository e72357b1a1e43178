/* Reference kernels of RoiAlign, MaxRoiPool and Col2Im. */
#include <math.h>

#include "cpu/ref/ref.h"
#include "cpu/ref/ref_move.h"
#include "ops/sample.h"

#define MAX_POINTS 65536 /* that a side of a bin is sampled at */

/* ---- RoiAlign ---- */

typedef struct align_axis { /* one axis of one region */
    double start, bin;
    int64_t points, size;
} align_axis;

/* A sample along an axis: two neighbours and their weights; false where it is outside. */
typedef struct neighbours {
    int64_t low, high;
    double low_weight, high_weight;
} neighbours;

static bool find_neighbours(const align_axis *axis, int64_t bin, int64_t point, neighbours *n)
{
    double x = axis->start + (double)bin * axis->bin + ((double)point + 0.5) * axis->bin / (double)axis->points;
    if (!(x >= -1 && x <= (double)axis->size) || axis->size == 0)
        return false;
    x = x < 0 ? 0 : x;
    n->low = (int64_t)x;
    n->high = n->low + 1;
    if (n->low >= axis->size - 1) {
        n->low = n->high = axis->size - 1;
        x = (double)n->low;
    }
    n->high_weight = x - (double)n->low;
    n->low_weight = 1 - n->high_weight;
    return true;
}

static ingot_status read_axis(const ingot_kernel_call *call, size_t region, double from, double to, int64_t bins,
                              int64_t size, align_axis *axis)
{
    const ingot_roi_align_params *params = call->params;
    double offset = params->half_pixel ? 0.5 : 0;
    double start = from * params->spatial_scale - offset, length = to * params->spatial_scale - offset - start;
    if (!params->half_pixel && !(length >= 1))
        length = 1;
    double points = params->sampling_ratio > 0 ? (double)params->sampling_ratio : ceil(length / (double)bins);
    if (!(points <= MAX_POINTS))
        return ingot_kernel_fail(call, "region %zu goes from %g to %g: it is too long to be sampled pixel by pixel",
                                 region, from, to);
    *axis = (align_axis){start, length / (double)bins, points > 0 ? (int64_t)points : 0, size};
    return INGOT_OK;
}

/* One bin: the mean of its samples; or the greatest of the weighted neighbours of all samples, as the standard's own
 * implementation has it. */
static double align_bin(const ingot_kernel_call *call, const align_axis *y, const align_axis *x, int64_t row,
                        int64_t column, size_t plane)
{
    const ingot_roi_align_params *params = call->params;
    const ingot_value *image = call->inputs[0];
    double sum = 0, greatest = 0;
    bool first = true;
    for (int64_t i = 0; i < y->points; i++) {
        for (int64_t k = 0; k < x->points; k++) {
            neighbours v, h;
            double parts[4] = {0};
            if (find_neighbours(y, row, i, &v) && find_neighbours(x, column, k, &h)) {
                const int64_t at[4] = {v.low * x->size + h.low, v.low * x->size + h.high, v.high * x->size + h.low,
                                       v.high * x->size + h.high};
                const double weights[4] = {v.low_weight * h.low_weight, v.low_weight * h.high_weight,
                                           v.high_weight * h.low_weight, v.high_weight * h.high_weight};
                for (int p = 0; p < 4; p++)
                    parts[p] = weights[p] * ingot_load_double(image->element, image->data, plane + (size_t)at[p]);
            }
            sum += parts[0] + parts[1] + parts[2] + parts[3];
            for (int p = 0; p < 4; p++)
                greatest = (first && p == 0) || parts[p] > greatest ? parts[p] : greatest;
            first = false;
        }
    }
    int64_t points = y->points * x->points;
    return params->mode == INGOT_ROI_MAX ? greatest : sum / (double)(points > 0 ? points : 1);
}

ingot_status ingot_ref_roi_align(const ingot_kernel_call *call)
{
    const ingot_roi_align_params *params = call->params;
    const ingot_value *image = call->inputs[0], *rois = call->inputs[1];
    ingot_value *out = call->outputs[0];
    int64_t batches = image->dims[0], channels = image->dims[1], height = image->dims[2], width = image->dims[3];
    size_t to = 0;
    for (size_t region = 0; region < (size_t)out->dims[0]; region++) {
        int64_t batch = ingot_ref_integer(call->inputs[2], region);
        double corner[4];
        align_axis x, y;
        if (batch < 0 || batch >= batches)
            return ingot_kernel_fail(call, "element %zu of batch_indices is %lld, but the batch has %lld images",
                                     region, (long long)batch, (long long)batches);
        for (size_t i = 0; i < 4; i++)
            corner[i] = ingot_load_double(rois->element, rois->data, 4 * region + i);
        INGOT_TRY(read_axis(call, region, corner[0], corner[2], params->output_width, width, &x));
        INGOT_TRY(read_axis(call, region, corner[1], corner[3], params->output_height, height, &y));
        for (int64_t channel = 0; channel < channels; channel++) {
            size_t plane = (size_t)((batch * channels + channel) * height * width);
            for (int64_t bin = 0; bin < params->output_height * params->output_width; bin++)
                ingot_store_double(
                    out->element, out->data, to++,
                    align_bin(call, &y, &x, bin / params->output_width, bin % params->output_width, plane));
        }
    }
    return INGOT_OK;
}

/* ---- MaxRoiPool ---- */

/* The elements first ... end - 1 that bin number bin of bins covers of a region along an axis of this size. */
static void pool_bin(double from, double to, int64_t bin, int64_t bins, int64_t size, int64_t *first, int64_t *end)
{
    double start = round(from), length = round(to) - start + 1, last = (double)size;
    length = length >= 1 ? length : 1;
    double a = start + floor((double)bin * length / (double)bins);
    double b = start + ceil((double)(bin + 1) * length / (double)bins);
    *first = a > 0 ? (int64_t)(a < last ? a : last) : 0;
    *end = b > 0 ? (int64_t)(b < last ? b : last) : 0;
}

static double pool_cells(const ingot_value *image, size_t plane, int64_t top, int64_t bottom, int64_t left,
                         int64_t right)
{
    double greatest = top < bottom && left < right ? -INFINITY : 0;
    for (int64_t i = top; i < bottom; i++) {
        for (int64_t k = left; k < right; k++) {
            size_t at = plane + (size_t)(i * image->dims[3] + k);
            double value = ingot_load_double(image->element, image->data, at);
            greatest = value > greatest || value != value ? value : greatest;
        }
    }
    return greatest;
}

ingot_status ingot_ref_max_roi_pool(const ingot_kernel_call *call)
{
    const ingot_max_roi_pool_params *params = call->params;
    const ingot_value *image = call->inputs[0], *rois = call->inputs[1];
    ingot_value *out = call->outputs[0];
    int64_t channels = image->dims[1], height = image->dims[2], width = image->dims[3];
    int64_t rows = params->pooled_shape.data[0], columns = params->pooled_shape.data[1];
    size_t to = 0;
    for (size_t region = 0; region < (size_t)out->dims[0]; region++) {
        double roi[5];
        for (size_t i = 0; i < 5; i++)
            roi[i] = ingot_load_double(rois->element, rois->data, 5 * region + i) * (i > 0 ? params->spatial_scale : 1);
        if (!(roi[0] >= 0 && roi[0] < (double)image->dims[0]))
            return ingot_kernel_fail(call, "region %zu is of image %g, but the batch has %lld images", region, roi[0],
                                     (long long)image->dims[0]);
        for (int64_t channel = 0; channel < channels; channel++) {
            size_t plane = (size_t)(((int64_t)roi[0] * channels + channel) * height * width);
            for (int64_t bin = 0; bin < rows * columns; bin++) {
                int64_t top, bottom, left, right;
                pool_bin(roi[2], roi[4], bin / columns, rows, height, &top, &bottom);
                pool_bin(roi[1], roi[3], bin % columns, columns, width, &left, &right);
                ingot_store_double(out->element, out->data, to++, pool_cells(image, plane, top, bottom, left, right));
            }
        }
    }
    return INGOT_OK;
}

/* ---- Col2Im ---- */

typedef struct column_geometry {
    int rank;
    int64_t image[INGOT_MAX_RANK], block[INGOT_MAX_RANK], blocks[INGOT_MAX_RANK];
} column_geometry;

/* Element of the image where a cell of a block lies; false where that is in the padding. */
static bool place_cell(const ingot_col2im_params *params, const column_geometry *g, size_t cell, size_t block,
                       size_t *at)
{
    size_t stride = 1;
    *at = 0;
    for (int i = g->rank - 1; i >= 0; i--) {
        int64_t k = (int64_t)(cell % (size_t)g->block[i]), b = (int64_t)(block % (size_t)g->blocks[i]);
        cell /= (size_t)g->block[i];
        block /= (size_t)g->blocks[i];
        int64_t place = b * ingot_col2im_value(&params->strides, (size_t)i, 1) +
                        k * ingot_col2im_value(&params->dilations, (size_t)i, 1) -
                        ingot_col2im_value(&params->pads, (size_t)i, 0);
        if (place < 0 || place >= g->image[i])
            return false;
        *at += (size_t)place * stride;
        stride *= (size_t)g->image[i];
    }
    return true;
}

static void add_number(ingot_element element, void *y, size_t to, const void *x, size_t from)
{
    if (ingot_element_is_float(element)) {
        ingot_store_double(element, y, to, ingot_load_double(element, y, to) + ingot_load_double(element, x, from));
    } else {
        uint64_t sum = (uint64_t)ingot_load_i64(element, y, to) + (uint64_t)ingot_load_i64(element, x, from);
        ingot_store_i64(element, y, to, (int64_t)sum);
    }
}

static void add_element(ingot_value *y, size_t to, const ingot_value *x, size_t from)
{
    bool pairs = y->element == INGOT_COMPLEX64 || y->element == INGOT_COMPLEX128;
    ingot_element part = y->element == INGOT_COMPLEX64 ? INGOT_FLOAT : pairs ? INGOT_DOUBLE : y->element;
    for (size_t i = 0; i < (pairs ? 2 : 1); i++)
        add_number(part, y->data, pairs ? 2 * to + i : to, x->data, pairs ? 2 * from + i : from);
}

static void read_geometry(const ingot_kernel_call *call, column_geometry *g)
{
    const ingot_col2im_params *params = call->params;
    g->rank = call->outputs[0]->rank - 2;
    for (int i = 0; i < g->rank; i++) {
        g->image[i] = call->outputs[0]->dims[i + 2];
        g->block[i] = ingot_ref_integer(call->inputs[2], (size_t)i);
        int64_t extent = (g->block[i] - 1) * ingot_col2im_value(&params->dilations, (size_t)i, 1) + 1;
        int64_t padded = g->image[i] + ingot_col2im_value(&params->pads, (size_t)i, 0) +
                         ingot_col2im_value(&params->pads, (size_t)(g->rank + i), 0);
        g->blocks[i] = (padded - extent) / ingot_col2im_value(&params->strides, (size_t)i, 1) + 1;
    }
}

ingot_status ingot_ref_col2im(const ingot_kernel_call *call)
{
    const ingot_value *x = call->inputs[0];
    ingot_value *y = call->outputs[0];
    column_geometry g;
    ingot_ref_clear(y);
    if (ingot_ref_count(x) == 0)
        return INGOT_OK;
    read_geometry(call, &g);
    size_t columns = (size_t)x->dims[2], cells = ingot_dims_product(g.block, 0, g.rank);
    size_t plane = ingot_dims_product(g.image, 0, g.rank), rows = (size_t)(x->dims[0] * x->dims[1]), at;
    for (size_t row = 0; row < rows; row++)
        for (size_t column = 0; column < columns; column++)
            if (place_cell(call->params, &g, row % cells, column, &at))
                add_element(y, row / cells * plane + at, x, row * columns + column);
    return INGOT_OK;
}
