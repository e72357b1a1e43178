/* DeformConv: every place of the output samples its taps once, for all output channels. */
#include <math.h>

#include "cpu/ref/ref.h"
#include "cpu/ref/ref_conv_core.h"
#include "cpu/ref/ref_iterate.h"
#include "cpu/ref/ref_scratch.h"
#include "ops/deform_conv.h"

typedef struct deform_job {
    const ingot_value *x, *w, *offset, *mask;
    ingot_window window;
    int64_t group, offset_group;
    size_t channels, x_plane, out_plane, taps;
    double *samples; /* [channels, taps] of one place of the output */
} deform_job;

static double load(const ingot_value *value, size_t index)
{
    return ingot_load_double(value->element, value->data, index);
}

/* Linear interpolation between the cells around a point of a plane; cells outside count as zero. */
static double sample(const deform_job *job, size_t plane, const double *point)
{
    const ingot_window *w = &job->window;
    double sum = 0;
    for (unsigned corner = 0; corner < 1u << w->spatial; corner++) {
        double weight = 1;
        size_t cell = 0;
        bool inside = true;
        for (int i = 0; i < w->spatial && inside; i++) {
            double low = floor(point[i]), at = low + (corner >> i & 1);
            weight *= at > low ? point[i] - low : 1 - (point[i] - low);
            inside = at >= 0 && at < (double)job->x->dims[2 + i];
            if (inside)
                cell = cell * (size_t)job->x->dims[2 + i] + (size_t)at;
        }
        if (inside && weight != 0)
            sum += weight * load(job->x, plane * job->x_plane + cell);
    }
    return sum;
}

/* Where a tap of an offset group falls, and what its sample is multiplied by. */
static double find_point(const deform_job *job, size_t image, size_t offset_group, size_t tap, size_t out_cell,
                         double *point)
{
    const ingot_window *w = &job->window;
    size_t axes = (size_t)w->spatial;
    int64_t place[INGOT_MAX_SPATIAL], k[INGOT_MAX_SPATIAL];
    ingot_ref_unravel(out_cell, w->spatial, w->out, place);
    ingot_ref_unravel(tap, w->spatial, w->kernel, k);
    size_t tap_row = (image * (size_t)job->offset_group + offset_group) * job->taps + tap;
    for (size_t i = 0; i < axes; i++) {
        double moved = load(job->offset, (tap_row * axes + i) * job->out_plane + out_cell);
        point[i] = (double)(place[i] * w->stride[i] - w->begin[i] + k[i] * w->dilation[i]) + moved;
    }
    return job->mask ? load(job->mask, tap_row * job->out_plane + out_cell) : 1;
}

static void take_samples(const deform_job *job, size_t image, size_t out_cell)
{
    size_t sharing = job->channels / (size_t)job->offset_group;
    double point[INGOT_MAX_SPATIAL];
    for (size_t g = 0; g < (size_t)job->offset_group; g++)
        for (size_t tap = 0; tap < job->taps; tap++) {
            double factor = find_point(job, image, g, tap, out_cell, point);
            for (size_t c = g * sharing; c < (g + 1) * sharing; c++)
                job->samples[c * job->taps + tap] = factor * sample(job, image * job->channels + c, point);
        }
}

ingot_status ingot_ref_deform_conv(const ingot_kernel_call *call)
{
    const ingot_deform_conv_params *p = call->params;
    const ingot_value *x = call->inputs[0], *bias = ingot_kernel_has(call, 3) ? call->inputs[3] : NULL;
    ingot_value *y = call->outputs[0];
    deform_job job = {.x = x, .w = call->inputs[1], .offset = call->inputs[2], .group = p->group};
    job.mask = ingot_kernel_has(call, 4) ? call->inputs[4] : NULL;
    job.offset_group = p->offset_group;
    INGOT_TRY(ingot_deform_conv_geometry(call->node, p, NULL, x->rank, x->dims, job.w->dims, job.offset->dims,
                                         job.mask ? job.mask->dims : NULL, &job.window, call->error));
    job.channels = (size_t)x->dims[1];
    job.x_plane = ingot_dims_product(x->dims, 2, x->rank);
    job.out_plane = ingot_dims_product(job.window.out, 0, job.window.spatial);
    job.taps = ingot_dims_product(job.window.kernel, 0, job.window.spatial);
    size_t columns = (size_t)job.w->dims[1] * job.taps, outputs = (size_t)job.w->dims[0];
    void *parts[2];
    INGOT_TRY(ingot_ref_scratch(call, 2, (size_t[]){ingot_ref_count(job.w), columns * (size_t)p->group},
                                (size_t[]){sizeof(double), sizeof(double)}, parts));
    double *weights = parts[0];
    job.samples = parts[1];
    ingot_ref_to_doubles(job.w, 0, ingot_ref_count(job.w), weights);
    for (size_t place = 0; place < (size_t)x->dims[0] * job.out_plane; place++) {
        size_t image = place / job.out_plane, cell = place % job.out_plane;
        take_samples(&job, image, cell);
        for (size_t m = 0; m < outputs; m++) {
            const double *from = job.samples + m / (outputs / (size_t)p->group) * columns;
            double sum = bias ? load(bias, m) : 0;
            for (size_t i = 0; i < columns; i++)
                sum += from[i] * weights[m * columns + i];
            ingot_write_doubles(y->element, y->data, (int64_t)((image * outputs + m) * job.out_plane + cell), 1, 1,
                                &sum);
        }
    }
    return INGOT_OK;
}
