#include "cpu/conv/blocked_transpose.h"

#include "cpu/sizes.h"

/* The outputs of a place modulo the stride, along one axis. Output o sees input (o + pad - k * dilation) / stride under tap k; those with
 * (o + pad) % stride == place see taps place, place + stride, ..., the last one leftmost in the input. */
typedef struct phase_axis {
    size_t taps;         /* that are seen */
    size_t first, count; /* of the outputs */
    size_t pad;          /* of the convolution */
    bool fits;           /* the pad is not negative */
} phase_axis;

static phase_axis find_axis(size_t place, size_t taps, size_t stride, size_t dilation, size_t pad, size_t out)
{
    phase_axis a = {.taps = place < taps ? (taps - place - 1) / stride + 1 : 0};
    const size_t first_input = pad > place ? ingot_ceil_div(pad - place, stride) : 0; /* under the first tap */
    const size_t reach = a.taps > 0 ? (a.taps - 1) * dilation : 0;
    a.first = place + first_input * stride - pad;
    a.count = a.first < out ? (out - 1 - a.first) / stride + 1 : 0;
    a.fits = first_input <= reach;
    a.pad = a.fits ? reach - first_input : 0;
    return a;
}

typedef struct phase {
    phase_axis row, column;
    ingot_conv conv;
    ingot_blocked_target target;
} phase;

static size_t count_phases(const ingot_conv *c)
{
    return c->stride_height * c->stride_width;
}

/* The ordinary convolution of a phase, as long as p stays. */
static ingot_blocked_conv find_phase(const ingot_conv *c, size_t index, phase *p)
{
    p->row = find_axis(index / c->stride_width, c->kernel_height, c->stride_height, c->dilation_height, c->pad_top,
                       c->out_height);
    p->column = find_axis(index % c->stride_width, c->kernel_width, c->stride_width, c->dilation_width, c->pad_left,
                          c->out_width);
    p->conv = *c;
    p->conv.stride_height = p->conv.stride_width = 1;
    p->conv.kernel_height = p->row.taps;
    p->conv.kernel_width = p->column.taps;
    p->conv.pad_top = p->row.pad;
    p->conv.pad_left = p->column.pad;
    p->conv.out_height = p->row.count;
    p->conv.out_width = p->column.count;
    p->target = (ingot_blocked_target){.first = p->row.first * c->out_width + p->column.first,
                                       .row = c->stride_height * c->out_width,
                                       .column = c->stride_width,
                                       .image = c->out_height * c->out_width};
    return (ingot_blocked_conv){.conv = &p->conv, .target = &p->target};
}

bool ingot_blocked_transpose_suits(const ingot_conv *c)
{
    const ingot_blocked_conv ordinary = {.conv = c};
    const bool dilated = c->dilation_height > 1 || c->dilation_width > 1;
    if (!ingot_blocked_suits(&ordinary) || c->kernel_height < c->stride_height || c->kernel_width < c->stride_width ||
        (dilated && count_phases(c) > 1))
        return false;
    for (size_t i = 0; i < count_phases(c); i++) {
        phase p;
        find_phase(c, i, &p);
        if (!p.row.fits || !p.column.fits)
            return false;
    }
    return true;
}

size_t ingot_blocked_transpose_copies(const ingot_conv *c)
{
    size_t copies = 0;
    for (size_t i = 0; i < count_phases(c); i++) {
        phase p;
        const ingot_blocked_conv b = find_phase(c, i, &p);
        copies += ingot_blocked_copies(&b);
    }
    return copies;
}

size_t ingot_blocked_transpose_packed_size(const ingot_conv *c)
{
    size_t bytes = 0;
    for (size_t i = 0; i < count_phases(c); i++) {
        phase p;
        const ingot_blocked_conv b = find_phase(c, i, &p);
        bytes += ingot_blocked_packed_size(&b);
    }
    return bytes;
}

void ingot_blocked_transpose_pack(const ingot_conv *c, const float *weights, float *packed)
{
    const ptrdiff_t width = (ptrdiff_t)c->kernel_width, taps = (ptrdiff_t)c->kernel_height * width;
    const ptrdiff_t outputs = (ptrdiff_t)(c->outputs / c->groups), channels = (ptrdiff_t)(c->channels / c->groups);
    for (size_t i = 0; i < count_phases(c); i++) {
        phase p;
        const ingot_blocked_conv b = find_phase(c, i, &p);
        const size_t last_row = i / c->stride_width + (p.row.taps - 1) * c->stride_height;
        const size_t last_column = i % c->stride_width + (p.column.taps - 1) * c->stride_width;
        const ingot_blocked_weight_view view = {.first = weights + last_row * c->kernel_width + last_column,
                                                .group = channels * outputs * taps,
                                                .output = taps,
                                                .channel = outputs * taps,
                                                .row = -(ptrdiff_t)c->stride_height * width,
                                                .column = -(ptrdiff_t)c->stride_width};
        ingot_blocked_pack_view(&b, &view, packed);
        packed += ingot_blocked_packed_size(&b) / sizeof *packed;
    }
}

size_t ingot_blocked_transpose_workspace(const ingot_conv *c, int threads)
{
    size_t bytes = 0;
    for (size_t i = 0; i < count_phases(c); i++) {
        phase p;
        const ingot_blocked_conv b = find_phase(c, i, &p);
        bytes = ingot_most(bytes, ingot_blocked_workspace(&b, threads));
    }
    return bytes;
}

void ingot_blocked_transpose_f32(const ingot_conv *c, const float *input, const float *packed,
                                 const ingot_epilogue *epilogue, float *output, void *workspace, int threads)
{
    for (size_t i = 0; i < count_phases(c); i++) {
        phase p;
        const ingot_blocked_conv b = find_phase(c, i, &p);
        ingot_blocked_f32(&b, input, packed, epilogue, output, workspace, threads);
        packed += ingot_blocked_packed_size(&b) / sizeof *packed;
    }
}
