#include "cpu/ref/ref_conv_core.h"

#include <string.h>

#include "cpu/ref/ref_iterate.h"

/* sums[i] += x[first + i * step] * w[w_index] */
typedef void (*accumulate)(void *sums, const void *x, int64_t first, int64_t step, size_t count, const void *w,
                           size_t w_index);

#define DEFINE_ACCUMULATE(name, type, sum_type)                                                           \
    static void name(void *sums, const void *x, int64_t first, int64_t step, size_t count, const void *w, \
                     size_t w_index)                                                                      \
    {                                                                                                     \
        sum_type *to = sums;                                                                              \
        const type *from = (const type *)x + first;                                                       \
        sum_type weight = (sum_type)((const type *)w)[w_index];                                           \
        if (step == 1) {                                                                                  \
            for (size_t i = 0; i < count; i++)                                                            \
                to[i] += (sum_type)from[i] * weight;                                                      \
        } else {                                                                                          \
            for (size_t i = 0; i < count; i++)                                                            \
                to[i] += (sum_type)from[(int64_t)i * step] * weight;                                      \
        }                                                                                                 \
    }
DEFINE_ACCUMULATE(accumulate_f32, float, double)
DEFINE_ACCUMULATE(accumulate_f64, double, double)
DEFINE_ACCUMULATE(accumulate_i32, int32_t, uint32_t)

void ingot_ref_unravel(size_t position, int count, const int64_t *sizes, int64_t *index)
{
    for (int i = count - 1; i >= 0; i--) {
        index[i] = (int64_t)(position % (size_t)sizes[i]);
        position /= (size_t)sizes[i];
    }
}

/* Along the last axis: the output cells low ... high - 1 whose tap at that offset lies in the input. */
static void inside(int64_t offset, int64_t stride, int64_t in, int64_t out, int64_t *low, int64_t *high)
{
    *low = offset >= 0 ? 0 : (-offset + stride - 1) / stride;
    *high = offset >= in ? 0 : (in - 1 - offset) / stride + 1;
    if (*high > out)
        *high = out;
}

/* The input's row that the outer axes of a tap fall on, counted in rows of the last axis; false: into the padding. */
static bool find_row(const ingot_ref_conv_job *job, const int64_t *place, const int64_t *tap, int64_t *row)
{
    const ingot_window *w = &job->window;
    *row = 0;
    for (int i = 0; i < w->spatial - 1; i++) {
        int64_t at = place[i] * w->stride[i] - w->begin[i] + tap[i] * w->dilation[i];
        if (at < 0 || at >= job->x_dims[2 + i])
            return false;
        *row = *row * job->x_dims[2 + i] + at;
    }
    return true;
}

/* Adds all taps whose outer axes are those: every channel of the group, every tap along the last axis. */
static void add_taps(const ingot_ref_conv_job *job, accumulate add, size_t image, size_t output, int64_t x_row,
                     size_t outer_tap, size_t outer_taps)
{
    const ingot_window *w = &job->window;
    int last = w->spatial - 1;
    int64_t in = job->x_dims[2 + last];
    size_t plane_rows = ingot_dims_product(job->x_dims, 2, 2 + last);
    size_t channels = (size_t)job->w_dims[1];
    size_t first_channel = output / ((size_t)job->w_dims[0] / (size_t)job->group) * channels;
    for (size_t c = 0; c < channels; c++) {
        size_t plane = image * (size_t)job->x_dims[1] + first_channel + c;
        int64_t row_start = (int64_t)(plane * plane_rows + (size_t)x_row) * in;
        size_t w_start = ((output * channels + c) * outer_taps + outer_tap) * (size_t)w->kernel[last];
        for (int64_t k = 0; k < w->kernel[last]; k++) {
            int64_t offset = k * w->dilation[last] - w->begin[last];
            int64_t low, high;
            inside(offset, w->stride[last], in, w->out[last], &low, &high);
            if (low < high)
                add((char *)job->sums + (size_t)low * (job->type == INGOT_REF_CONV_I32 ? 4 : 8), job->x,
                    row_start + offset + low * w->stride[last], w->stride[last], (size_t)(high - low), job->w,
                    w_start + (size_t)k);
        }
    }
}

void ingot_ref_convolve(const ingot_ref_conv_job *job)
{
    static const accumulate adders[] = {
        [INGOT_REF_CONV_F32] = accumulate_f32,
        [INGOT_REF_CONV_F64] = accumulate_f64,
        [INGOT_REF_CONV_I32] = accumulate_i32,
    };
    const ingot_window *w = &job->window;
    int outer = w->spatial - 1;
    size_t count = (size_t)w->out[outer];
    size_t rows = ingot_dims_product(w->out, 0, outer);
    size_t outer_taps = ingot_dims_product(w->kernel, 0, outer);
    size_t planes = (size_t)job->x_dims[0] * (size_t)job->w_dims[0];
    int64_t place[INGOT_MAX_SPATIAL], tap[INGOT_MAX_SPATIAL], x_row;
    if (count == 0)
        return;
    for (size_t plane = 0; plane < planes; plane++) {
        size_t image = plane / (size_t)job->w_dims[0];
        size_t output = plane % (size_t)job->w_dims[0];
        for (size_t row = 0; row < rows; row++) {
            ingot_ref_unravel(row, outer, w->out, place);
            memset(job->sums, 0, count * 8);
            for (size_t t = 0; t < outer_taps; t++) {
                ingot_ref_unravel(t, outer, w->kernel, tap);
                if (find_row(job, place, tap, &x_row))
                    add_taps(job, adders[job->type], image, output, x_row, t, outer_taps);
            }
            ingot_ref_conv_row result = {output, (plane * rows + row) * count, count, job->sums};
            job->finish(job->context, &result);
        }
    }
}
