/* ConvTranspose as one small product for each output channel, [taps, channels] * [channels, input pixels], whose rows are then
 * added to the channel's plane, tap by tap, in order. */

#include "base/memory.h"
#include "base/threads.h"
#include "cpu/conv/conv.h"
#include "cpu/eltwise/vec.h"
#include "cpu/gemm/gemm_block.h"

/* What follows from the shape. */
typedef struct transpose_sizes {
    const ingot_gemm_kernel *kernel;
    size_t channels, outputs; /* of a group */
    size_t taps, in_plane, out_plane;
} transpose_sizes;

static transpose_sizes find_sizes(const ingot_conv *c)
{
    transpose_sizes sizes = {.kernel = c->kernel ? c->kernel : ingot_gemm_kernel_best()};
    sizes.channels = c->channels / c->groups;
    sizes.outputs = c->outputs / c->groups;
    sizes.taps = c->kernel_height * c->kernel_width;
    sizes.in_plane = c->in_height * c->in_width;
    sizes.out_plane = c->out_height * c->out_width;
    return sizes;
}

size_t ingot_conv_transpose_f32_packed_size(const ingot_conv *c)
{
    transpose_sizes sizes = find_sizes(c);
    return c->outputs * sizes.channels * sizes.taps * sizeof(float);
}

void ingot_conv_transpose_f32_pack(const ingot_conv *c, const float *weights, float *packed)
{
    transpose_sizes sizes = find_sizes(c);
    size_t tiles = ingot_gemm_row_tiles(sizes.kernel, sizes.taps), row = sizes.outputs * sizes.taps;
    for (size_t output = 0; output < c->outputs; output++, packed += sizes.taps * sizes.channels) {
        size_t group = output / sizes.outputs;
        const float *from = weights + group * sizes.channels * row + output % sizes.outputs * sizes.taps;
        ingot_gemm_f32_pack_a(sizes.kernel, sizes.taps, sizes.channels, from, 1, (ptrdiff_t)row, 0, tiles, packed);
    }
}

static size_t scratch_size(const transpose_sizes *sizes)
{
    size_t line = INGOT_ALIGNMENT / sizeof(float);
    return ingot_ceil_div(sizes->taps * sizes->in_plane, line) * line;
}

size_t ingot_conv_transpose_f32_workspace(const ingot_conv *c, int threads)
{
    transpose_sizes sizes = find_sizes(c);
    return scratch_size(&sizes) * (size_t)(threads > 1 ? threads : 1) * sizeof(float);
}

typedef struct transpose_task {
    const ingot_conv *conv;
    transpose_sizes sizes;
    const float *input, *packed;
    const ingot_epilogue *epilogue;
    float *output, *scratch;
} transpose_task;

/* Where coordinate * stride + shift lies in [0, size): indices *first ... *end - 1 of count. */
static void find_inside(size_t count, size_t stride, ptrdiff_t shift, size_t size, size_t *first, size_t *end)
{
    *first = shift >= 0 ? 0 : ((size_t)-shift + stride - 1) / stride;
    *end = shift >= (ptrdiff_t)size ? 0 : (size_t)((ptrdiff_t)size - 1 - shift) / stride + 1;
    *end = *end < count ? *end : count;
}

/* Adds one tap's row of the product to the plane. */
static void add_tap(const ingot_conv *c, size_t tap, const float *row, float *plane)
{
    ptrdiff_t dy = (ptrdiff_t)(tap / c->kernel_width * c->dilation_height) - (ptrdiff_t)c->pad_top;
    ptrdiff_t dx = (ptrdiff_t)(tap % c->kernel_width * c->dilation_width) - (ptrdiff_t)c->pad_left;
    size_t first_y, end_y, first_x, end_x;
    find_inside(c->in_height, c->stride_height, dy, c->out_height, &first_y, &end_y);
    find_inside(c->in_width, c->stride_width, dx, c->out_width, &first_x, &end_x);
    for (size_t y = first_y; y < end_y; y++) {
        const float *from = row + y * c->in_width;
        float *to = plane + (size_t)((ptrdiff_t)(y * c->stride_height) + dy) * c->out_width;
        for (size_t x = first_x; x < end_x; x++)
            to[(ptrdiff_t)(x * c->stride_width) + dx] += from[x];
    }
}

static void run_plane(void *argument, size_t chunk, int participant)
{
    const transpose_task *task = argument;
    const ingot_conv *c = task->conv;
    const transpose_sizes *sizes = &task->sizes;
    size_t output = chunk % c->outputs, image = chunk / c->outputs, group = output / sizes->outputs;
    float *product = task->scratch + (size_t)participant * scratch_size(sizes);
    ingot_gemm_plan plan = {.kernel = sizes->kernel, .m = sizes->taps, .n = sizes->in_plane, .k = sizes->channels};
    plan.packed_a = task->packed + output * sizes->taps * sizes->channels;
    plan.direct_b = task->input + (image * c->channels + group * sizes->channels) * sizes->in_plane;
    plan.direct_b_row = sizes->in_plane;
    plan.c = product;
    plan.c_row = sizes->in_plane;
    ingot_gemm_range range = {0, ingot_gemm_row_tiles(sizes->kernel, sizes->taps), 0,
                              ingot_ceil_div(sizes->in_plane, sizes->kernel->columns)};
    ingot_gemm_f32_block(&plan, &range, NULL);
    float *plane = task->output + chunk * sizes->out_plane;
    float bias = task->epilogue->row_bias ? task->epilogue->row_bias[output] : 0.0f;
    for (size_t i = 0; i < sizes->out_plane; i++)
        plane[i] = bias;
    for (size_t tap = 0; tap < sizes->taps; tap++)
        add_tap(c, tap, product + tap * sizes->in_plane, plane);
    if (task->epilogue->activation.kind != INGOT_UNARY_IDENTITY)
        ingot_vec_unary(&task->epilogue->activation, plane, plane, sizes->out_plane);
}

void ingot_conv_transpose_f32(const ingot_conv *c, const float *input, const float *packed,
                              const ingot_epilogue *epilogue, float *output, void *workspace, int threads)
{
    transpose_task task = {c, find_sizes(c), input, packed, epilogue, output, workspace};
    if (task.sizes.out_plane > 0)
        ingot_parallel(threads, c->batch * c->outputs, run_plane, &task);
}
