/* Conv, FusedConv, ConvTranspose on float types. */
#include <math.h>
#include <string.h>

#include "cpu/ref/ref.h"
#include "cpu/ref/ref_conv_core.h"
#include "cpu/ref/ref_iterate.h"
#include "cpu/ref/ref_scratch.h"

/* ---- Inputs as floats or doubles ---- */

typedef struct float_inputs {
    ingot_ref_conv_type type;
    const void *x, *w;
    void *sums;
} float_inputs;

/* Float and double lie ready; the 16-bit types become floats in scratch, which also holds sum_count doubles. */
static ingot_status prepare(const ingot_kernel_call *call, size_t sum_count, float_inputs *inputs)
{
    const ingot_value *x = call->inputs[0], *w = call->inputs[1];
    bool widen = x->element != INGOT_FLOAT && x->element != INGOT_DOUBLE;
    size_t elements[] = {sum_count, widen ? ingot_ref_count(x) : 0, widen ? ingot_ref_count(w) : 0};
    size_t sizes[] = {sizeof(double), sizeof(float), sizeof(float)};
    void *parts[3];
    INGOT_TRY(ingot_ref_scratch(call, 3, elements, sizes, parts));
    *inputs = (float_inputs){INGOT_REF_CONV_F32, x->data, w->data, parts[0]};
    if (x->element == INGOT_DOUBLE)
        inputs->type = INGOT_REF_CONV_F64;
    if (widen) {
        ingot_read_floats(x->element, x->data, 0, 1, elements[1], parts[1]);
        ingot_read_floats(w->element, w->data, 0, 1, elements[2], parts[2]);
        inputs->x = parts[1];
        inputs->w = parts[2];
    }
    return INGOT_OK;
}

/* ---- Conv and FusedConv ---- */

static double activate(const ingot_conv_params *p, double v)
{
    switch ((ingot_conv_activation)p->activation) {
    case INGOT_CONV_IDENTITY:
        break;
    case INGOT_CONV_RELU:
        return v < 0 ? 0 : v;
    case INGOT_CONV_TANH:
        return tanh(v);
    case INGOT_CONV_SIGMOID:
        return 1 / (1 + exp(-v));
    case INGOT_CONV_LEAKY_RELU:
        return v < 0 ? (double)p->a * v : v;
    case INGOT_CONV_CLIP:
        v = v < (double)p->a ? (double)p->a : v;
        return v > (double)p->b ? (double)p->b : v;
    case INGOT_CONV_HARD_SIGMOID:
        v = (double)p->a * v + (double)p->b;
        return v < 0 ? 0 : v > 1 ? 1 : v;
    }
    return v;
}

static void finish_conv(void *context, const ingot_ref_conv_row *row)
{
    const ingot_kernel_call *call = context;
    const ingot_conv_params *p = call->params;
    const ingot_value *z = ingot_kernel_has(call, 3) ? call->inputs[3] : NULL;
    double *sums = row->sums;
    if (ingot_kernel_has(call, 2)) {
        double bias = ingot_load_double(call->inputs[2]->element, call->inputs[2]->data, row->channel);
        for (size_t i = 0; i < row->count; i++)
            sums[i] += bias;
    }
    for (size_t i = 0; z && i < row->count; i++)
        sums[i] += ingot_load_double(z->element, z->data, row->offset + i);
    for (size_t i = 0; p->activation != INGOT_CONV_IDENTITY && i < row->count; i++)
        sums[i] = activate(p, sums[i]);
    ingot_write_doubles(call->outputs[0]->element, call->outputs[0]->data, (int64_t)row->offset, 1, row->count, sums);
}

ingot_status ingot_ref_conv(const ingot_kernel_call *call)
{
    const ingot_conv_params *p = call->params;
    const ingot_value *x = call->inputs[0], *w = call->inputs[1];
    ingot_ref_conv_job job = {.x_dims = x->dims, .w_dims = w->dims, .group = p->group, .finish = finish_conv};
    INGOT_TRY(ingot_conv_geometry(call->node, p, NULL, x->rank, x->dims, w->dims, &job.window, call->error));
    float_inputs inputs;
    INGOT_TRY(prepare(call, (size_t)job.window.out[job.window.spatial - 1], &inputs));
    job.type = inputs.type;
    job.x = inputs.x;
    job.w = inputs.w;
    job.sums = inputs.sums;
    job.context = (void *)(uintptr_t)call;
    ingot_ref_convolve(&job);
    return INGOT_OK;
}

/* ---- ConvTranspose ---- */

typedef struct transpose_job {
    ingot_window window;
    const int64_t *x_dims;
    size_t group_inputs, group_outputs; /* channels of one group */
    size_t x_plane, out_plane, taps;
    float_inputs inputs;
} transpose_job;

/* Element of a place of the output that tap k of the input cell at place falls on; false: outside. */
static bool output_cell(const ingot_window *w, const int64_t *place, const int64_t *tap, size_t *cell)
{
    *cell = 0;
    for (int i = 0; i < w->spatial; i++) {
        int64_t at = place[i] * w->stride[i] + tap[i] * w->dilation[i] - w->begin[i];
        if (at < 0 || at >= w->out[i])
            return false;
        *cell = *cell * (size_t)w->out[i] + (size_t)at;
    }
    return true;
}

/* to[cell of the last axis, every stride] += from[cell] * weight for cells low ... high - 1. */
static void scatter_row(ingot_ref_conv_type type, double *to, int64_t step, const void *from, size_t first,
                        size_t count, const void *weights, size_t weight_index)
{
    if (type == INGOT_REF_CONV_F64) {
        const double *x = (const double *)from + first;
        double weight = ((const double *)weights)[weight_index];
        for (size_t i = 0; i < count; i++)
            to[(int64_t)i * step] += x[i] * weight;
    } else {
        const float *x = (const float *)from + first;
        double weight = (double)((const float *)weights)[weight_index];
        for (size_t i = 0; i < count; i++)
            to[(int64_t)i * step] += (double)x[i] * weight;
    }
}

/* Adds one input plane, through its kernel, to one output plane of sums. */
static void scatter_plane(const transpose_job *job, size_t x_plane, size_t kernel, double *sums)
{
    const ingot_window *w = &job->window;
    int last = w->spatial - 1;
    int64_t in = job->x_dims[2 + last];
    if (in == 0)
        return;
    int64_t place[INGOT_MAX_SPATIAL], tap[INGOT_MAX_SPATIAL];
    for (size_t row = 0; row < job->x_plane / (size_t)in; row++) {
        ingot_ref_unravel(row, last, job->x_dims + 2, place);
        for (size_t t = 0; t < job->taps; t++) {
            ingot_ref_unravel(t, w->spatial, w->kernel, tap);
            /* Input cells of the row whose tap lies in the output. */
            int64_t offset = tap[last] * w->dilation[last] - w->begin[last];
            int64_t low = offset >= 0 ? 0 : (-offset + w->stride[last] - 1) / w->stride[last];
            int64_t high = offset >= w->out[last] ? 0 : (w->out[last] - 1 - offset) / w->stride[last] + 1;
            if (high > in)
                high = in;
            size_t cell;
            place[last] = low;
            if (low < high && output_cell(w, place, tap, &cell))
                scatter_row(job->inputs.type, sums + cell, w->stride[last], job->inputs.x,
                            x_plane * job->x_plane + row * (size_t)in + (size_t)low, (size_t)(high - low),
                            job->inputs.w, kernel * job->taps + t);
        }
    }
}

ingot_status ingot_ref_conv_transpose(const ingot_kernel_call *call)
{
    const ingot_conv_transpose_params *p = call->params;
    const ingot_value *x = call->inputs[0], *w = call->inputs[1];
    const ingot_value *bias = ingot_kernel_has(call, 2) ? call->inputs[2] : NULL;
    ingot_value *y = call->outputs[0];
    transpose_job job = {.x_dims = x->dims};
    INGOT_TRY(ingot_conv_transpose_geometry(call->node, p, NULL, x->rank, x->dims, w->dims, &job.window, call->error));
    job.group_inputs = (size_t)(x->dims[1] / p->group);
    job.group_outputs = (size_t)w->dims[1];
    job.x_plane = ingot_dims_product(x->dims, 2, x->rank);
    job.out_plane = ingot_dims_product(job.window.out, 0, job.window.spatial);
    job.taps = ingot_dims_product(job.window.kernel, 0, job.window.spatial);
    INGOT_TRY(prepare(call, job.out_plane, &job.inputs));
    size_t outputs = job.group_outputs * (size_t)p->group;
    double *sums = job.inputs.sums;
    for (size_t plane = 0; plane < (size_t)x->dims[0] * outputs; plane++) {
        size_t image = plane / outputs, output = plane % outputs;
        size_t group = output / job.group_outputs;
        double start = bias ? ingot_load_double(bias->element, bias->data, output) : 0;
        for (size_t i = 0; i < job.out_plane; i++)
            sums[i] = start;
        for (size_t c = group * job.group_inputs; c < (group + 1) * job.group_inputs; c++)
            scatter_plane(&job, image * (size_t)x->dims[1] + c, c * job.group_outputs + output % job.group_outputs,
                          sums);
        ingot_write_doubles(y->element, y->data, (int64_t)(plane * job.out_plane), 1, job.out_plane, sums);
    }
    return INGOT_OK;
}
