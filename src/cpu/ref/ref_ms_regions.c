/* CropAndResize, MaxpoolWithMask, WordConvEmbedding of com.microsoft. */
#include "ops/ms_regions.h"

#include <float.h>
#include <math.h>

#include "cpu/ref/ref.h"
#include "cpu/ref/ref_conv_core.h"
#include "cpu/ref/ref_iterate.h"
#include "cpu/ref/ref_scratch.h"

/* ---- CropAndResize ---- */

static double rounded(ingot_element element, double value)
{
    return element == INGOT_DOUBLE ? value : (double)(float)value;
}

/* Place in the image of cell i of count, for a box from low to high of an axis of that size; steps are rounded as floats are, on
 * which ties between two cells hang. */
static double place(ingot_element type, double low, double high, int64_t size, int64_t i, int64_t count)
{
    double last = (double)(size - 1);
    if (count == 1)
        return rounded(type, rounded(type, 0.5 * (low + high)) * last);
    double step = rounded(type, rounded(type, rounded(type, high - low) * last) / (double)(count - 1));
    return rounded(type, rounded(type, low * last) + rounded(type, (double)i * step));
}

static double sample(const ingot_value *x, const ingot_crop_params *p, size_t plane, double row, double column)
{
    int64_t height = x->dims[2], width = x->dims[3];
    size_t first = plane * (size_t)height * (size_t)width;
    if (!(row >= 0 && row <= (double)(height - 1) && column >= 0 && column <= (double)(width - 1)))
        return (double)p->fallback;
    if (p->nearest)
        return ingot_load_double(x->element, x->data,
                                 first + (size_t)round(row) * (size_t)width + (size_t)round(column));
    size_t top = (size_t)floor(row), left = (size_t)floor(column), w = (size_t)width;
    size_t bottom = (size_t)ceil(row), right = (size_t)ceil(column);
    double a = ingot_load_double(x->element, x->data, first + top * w + left);
    double b = ingot_load_double(x->element, x->data, first + top * w + right);
    double c = ingot_load_double(x->element, x->data, first + bottom * w + left);
    double d = ingot_load_double(x->element, x->data, first + bottom * w + right);
    double across = column - (double)left, upper = a + (b - a) * across, lower = c + (d - c) * across;
    return upper + (lower - upper) * (row - (double)top);
}

ingot_status ingot_ref_crop_and_resize(const ingot_kernel_call *call)
{
    const ingot_value *x = call->inputs[0], *boxes = call->inputs[1];
    const int32_t *images = call->inputs[2]->data;
    ingot_value *y = call->outputs[0];
    size_t channels = (size_t)x->dims[1], to = 0;
    int64_t height = y->dims[2], width = y->dims[3];
    for (int64_t box = 0; box < y->dims[0]; box++) {
        double corners[4]; /* y1, x1, y2, x2 */
        if (images[box] < 0 || images[box] >= x->dims[0])
            return ingot_kernel_fail(call, "batch_indices holds %d, but there are %lld images", (int)images[box],
                                     (long long)x->dims[0]);
        ingot_ref_to_doubles(boxes, (size_t)box * 4, 4, corners);
        for (size_t c = 0; c < channels; c++)
            for (int64_t i = 0; i < height; i++)
                for (int64_t j = 0; j < width; j++, to++) {
                    double row = place(x->element, corners[0], corners[2], x->dims[2], i, height);
                    double column = place(x->element, corners[1], corners[3], x->dims[3], j, width);
                    ingot_store_double(y->element, y->data, to,
                                       sample(x, call->params, (size_t)images[box] * channels + c, row, column));
                }
    }
    return INGOT_OK;
}

/* ---- MaxpoolWithMask ---- */

typedef struct masked_plane {
    const float *x;
    const int32_t *mask;
    const int64_t *sizes; /* of the spatial axes */
} masked_plane;

/* Greatest of one row of the window, from where it enters the plane to where the mask is 0; element 0 is never masked. */
static float row_top(const masked_plane *m, const ingot_window *w, int64_t row, int64_t start, float top)
{
    int last = w->spatial - 1;
    for (int64_t k = 0; k < w->kernel[last]; k++) {
        int64_t column = start + k * w->dilation[last], at = row * m->sizes[last] + column;
        if (column < 0 || column >= m->sizes[last])
            continue;
        if (at > 0 && m->mask[at] == 0)
            break;
        top = m->x[at] > top ? m->x[at] : top;
    }
    return top;
}

static float window_top(const masked_plane *m, const ingot_window *w, const int64_t *at)
{
    int outer = w->spatial - 1;
    size_t rows = ingot_dims_product(w->kernel, 0, outer);
    int64_t tap[INGOT_MAX_SPATIAL];
    float top = -FLT_MAX;
    for (size_t r = 0; r < rows; r++) {
        int64_t row = 0;
        bool inside = true;
        ingot_ref_unravel(r, outer, w->kernel, tap);
        for (int i = 0; i < outer; i++) {
            int64_t place_here = at[i] * w->stride[i] - w->begin[i] + tap[i] * w->dilation[i];
            inside = inside && place_here >= 0 && place_here < m->sizes[i];
            row = row * m->sizes[i] + place_here;
        }
        if (inside)
            top = row_top(m, w, row, at[outer] * w->stride[outer] - w->begin[outer], top);
    }
    return top;
}

ingot_status ingot_ref_maxpool_with_mask(const ingot_kernel_call *call)
{
    const ingot_value *x = call->inputs[0], *mask = call->inputs[1];
    float *y = call->outputs[0]->data;
    ingot_window w;
    INGOT_TRY(ingot_pool_geometry(call->node, call->params, NULL, x->rank, x->dims, &w, call->error));
    size_t planes = (size_t)(x->dims[0] * x->dims[1]), plane_size = ingot_dims_product(x->dims, 2, x->rank);
    size_t cells = ingot_dims_product(w.out, 0, w.spatial), channels = (size_t)x->dims[1];
    for (size_t plane = 0; plane < planes; plane++) {
        size_t mask_plane = mask->dims[1] == 1 ? plane / channels : plane;
        masked_plane m = {(const float *)x->data + plane * plane_size,
                          (const int32_t *)mask->data + mask_plane * plane_size, x->dims + 2};
        for (size_t cell = 0; cell < cells; cell++) {
            int64_t at[INGOT_MAX_SPATIAL];
            ingot_ref_unravel(cell, w.spatial, w.out, at);
            y[plane * cells + cell] = window_top(&m, &w, at);
        }
    }
    return INGOT_OK;
}

/* ---- WordConvEmbedding ---- */

typedef struct word_job {
    const ingot_value *w, *bias, *table;
    size_t filters, window, size; /* size: of a character's vector */
} word_job;

/* Answer of a filter to the characters from there on, before tanh. */
static double answer(const word_job *job, const int32_t *characters, size_t filter)
{
    double sum = (double)((const float *)job->bias->data)[filter];
    for (size_t i = 0; i < job->window; i++) {
        const float *row = (const float *)job->w->data + (filter * job->window + i) * job->size;
        const float *vector = (const float *)job->table->data + (size_t)characters[i] * job->size;
        for (size_t k = 0; k < job->size; k++)
            sum += (double)row[k] * (double)vector[k];
    }
    return sum;
}

/* A word ends at its first 0; an empty one is zeros, a short one has one window. */
static void embed_word(const word_job *job, const int32_t *characters, size_t length, float *y)
{
    size_t used = 0;
    while (used < length && characters[used] != 0)
        used++;
    size_t windows = used > job->window ? used - job->window + 1 : 1;
    for (size_t f = 0; f < job->filters; f++) {
        double top = -INFINITY;
        for (size_t i = 0; i < windows; i++)
            top = fmax(top, answer(job, characters + i, f));
        y[f] = used > 0 ? (float)tanh(top) : 0;
    }
}

ingot_status ingot_ref_word_conv_embedding(const ingot_kernel_call *call)
{
    const ingot_value *words = call->inputs[0], *w = call->inputs[1], *table = call->inputs[3];
    const int32_t *characters = words->data;
    size_t count = ingot_ref_count(words), length = (size_t)words->dims[1];
    word_job job = {w, call->inputs[2], table, (size_t)w->dims[0], (size_t)w->dims[2], (size_t)w->dims[3]};
    for (size_t i = 0; i < count; i++)
        if (characters[i] < 0 || characters[i] >= table->dims[0])
            return ingot_kernel_fail(call, "Sequence holds %d, but C has %lld rows", (int)characters[i],
                                     (long long)table->dims[0]);
    for (size_t word = 0; word < (size_t)words->dims[0]; word++)
        embed_word(&job, characters + word * length, length, (float *)call->outputs[0]->data + word * job.filters);
    return INGOT_OK;
}
