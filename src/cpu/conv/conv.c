#include "cpu/conv/conv.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "cpu/conv/conv_table.h"
#include "cpu/eltwise/vec.h"
#include "cpu/gemm/gemm_block.h"
#include "cpu/layout/plane_grid.h"

/* Multiply-adds of a depthwise chunk. */
#define DEPTHWISE_CHUNK (64u << 10)
/* Bytes of weights of a chunk, where they are read for a single column. */
#define WEIGHT_CHUNK (64u << 10)
/* Outputs of depthwise planes that go together: with their inputs they fit the L1 cache. */
#define DEPTHWISE_OUTPUTS 4096
/* Pixels of a row from which on few outputs go along it, and multiply-adds of a chunk of such rows. */
#define NARROW_PIXELS 16
#define NARROW_CHUNK  (1u << 20)
/* As in gemm.c: with so few row tiles the input is read where it lies. */
#define DIRECT_TILES 2

typedef enum conv_tactic { DEPTHWISE, POINTWISE, NARROW, WINOGRAD, IMPLICIT_GEMM } conv_tactic;

/* So few outputs leave a matrix product's tile nearly empty; rows must fill some vectors instead. */
static bool is_narrow(const ingot_conv *c)
{
    return c->groups == 1 && c->outputs <= INGOT_NARROW_OUTPUTS && c->kernel_width <= INGOT_NARROW_WIDTH &&
           c->stride_height == 1 && c->stride_width == 1 && c->out_width >= NARROW_PIXELS;
}

static conv_tactic choose_tactic(const ingot_conv *c)
{
    if (c->groups > 1 && c->groups == c->channels)
        return DEPTHWISE;
    bool one_tap = c->kernel_height == 1 && c->kernel_width == 1;
    bool same_size = c->in_height == c->out_height && c->in_width == c->out_width;
    bool plain = c->stride_height == 1 && c->stride_width == 1 && c->pad_top == 0 && c->pad_left == 0;
    if (one_tap && plain && same_size)
        return POINTWISE;
    if (is_narrow(c))
        return NARROW;
    return ingot_winograd_suits(c) ? WINOGRAD : IMPLICIT_GEMM;
}

const char *ingot_conv_f32_tactic(const ingot_conv *conv)
{
    static const char *const names[] = {"depthwise", "pointwise", "narrow", "winograd", "implicit gemm"};
    return names[choose_tactic(conv)];
}

/* What follows from the shape. */
typedef struct conv_sizes {
    const ingot_gemm_kernel *kernel;
    size_t m, n, k; /* of a group's product */
    size_t channels, taps, in_plane;
} conv_sizes;

static conv_sizes find_sizes(const ingot_conv *c)
{
    conv_sizes sizes = {.kernel = c->kernel ? c->kernel : ingot_gemm_kernel_best()};
    sizes.channels = c->channels / c->groups;
    sizes.taps = c->kernel_height * c->kernel_width;
    sizes.m = c->outputs / c->groups;
    sizes.n = c->out_height * c->out_width;
    sizes.k = sizes.channels * sizes.taps;
    sizes.in_plane = c->in_height * c->in_width;
    return sizes;
}

size_t ingot_conv_f32_packed_size(const ingot_conv *c)
{
    conv_sizes sizes = find_sizes(c);
    return c->outputs * sizes.k * sizeof(float);
}

/* Steps that are transposed at a time, in a buffer, where a window has more than one tap. */
#define PACK_STEPS 256
#define MAX_ROWS   16

/* Packs some channels of a tile: weights have [row][channel][tap], packed ones [tap][channel][row]. to is tap 0's first
 * channel. */
static void pack_channels(const conv_sizes *sizes, const float *from, size_t channels, size_t rows, float *to)
{
    float buffer[PACK_STEPS * MAX_ROWS];
    size_t taps = sizes->taps, tap_size = sizes->channels * rows;
    ingot_gemm_pack pack = {.steps = channels * taps, .lanes = rows, .width = rows, .from = from, .step_stride = 1};
    pack.lane_stride = (ptrdiff_t)sizes->k;
    pack.to = buffer;
    sizes->kernel->pack(&pack);
    for (size_t channel = 0; channel < channels; channel++) {
        for (size_t tap = 0; tap < taps; tap++)
            memcpy(to + tap * tap_size + channel * rows, buffer + (channel * taps + tap) * rows, rows * sizeof *to);
    }
}

/* The same, tap by tap: for a single tap, and windows too large for the buffer. */
static void pack_taps(const conv_sizes *sizes, const float *from, size_t rows, float *to)
{
    for (size_t tap = 0; tap < sizes->taps; tap++) {
        ingot_gemm_pack pack = {.steps = sizes->channels, .lanes = rows, .width = rows, .from = from + tap};
        pack.step_stride = (ptrdiff_t)sizes->taps;
        pack.lane_stride = (ptrdiff_t)sizes->k;
        pack.to = to + tap * sizes->channels * rows;
        sizes->kernel->pack(&pack);
    }
}

void ingot_conv_f32_pack(const ingot_conv *c, const float *weights, float *packed)
{
    conv_sizes sizes = find_sizes(c);
    if (choose_tactic(c) == DEPTHWISE) {
        memcpy(packed, weights, ingot_conv_f32_packed_size(c));
        return;
    }
    size_t tiles = ingot_gemm_row_tiles(sizes.kernel, sizes.m), at_once = PACK_STEPS / sizes.taps;
    for (size_t i = 0; i < c->groups * tiles; i++) {
        size_t group = i / tiles, start = ingot_part_begin(sizes.m, tiles, i % tiles);
        size_t rows = ingot_part_begin(sizes.m, tiles, i % tiles + 1) - start;
        const float *from = weights + (group * sizes.m + start) * sizes.k;
        if (sizes.taps == 1 || at_once == 0 || rows > MAX_ROWS) {
            pack_taps(&sizes, from, rows, packed);
        } else {
            for (size_t channel = 0; channel < sizes.channels; channel += at_once) {
                size_t channels = sizes.channels - channel < at_once ? sizes.channels - channel : at_once;
                pack_channels(&sizes, from + channel * sizes.taps, channels, rows, packed + channel * rows);
            }
        }
        packed += rows * sizes.k;
    }
}

static size_t round_up(size_t floats)
{
    size_t line = INGOT_ALIGNMENT / sizeof(float);
    return ingot_ceil_div(floats, line) * line;
}

/* Whether a pointwise convolution's input is used where it lies: for few row tiles, and a column lies in one piece anyway. */
static bool is_direct(const ingot_conv *c, const conv_sizes *sizes)
{
    return choose_tactic(c) == POINTWISE &&
           (sizes->n == 1 || ingot_gemm_row_tiles(sizes->kernel, sizes->m) <= DIRECT_TILES);
}

/* How a product is split. Of a single column the weights are all that counts: their rows are split, some tiles at a time. */
static ingot_gemm_grid find_grid(const conv_sizes *sizes, bool fill)
{
    ingot_gemm_grid grid = ingot_gemm_f32_grid(sizes->kernel, sizes->m, sizes->n, sizes->k, fill);
    size_t chunks = sizes->m * sizes->k * sizeof(float) / WEIGHT_CHUNK;
    if (sizes->n == 1 && chunks > grid.row_blocks)
        grid.row_blocks = chunks < grid.tiles ? chunks : grid.tiles;
    return grid;
}

/* Floats for one participant. */
static size_t scratch_size(const ingot_conv *c)
{
    conv_sizes sizes = find_sizes(c);
    if (sizes.n == 0 || choose_tactic(c) == NARROW)
        return 0;
    if (choose_tactic(c) == DEPTHWISE)
        return round_up(ingot_depthwise_scratch(c));
    return is_direct(c, &sizes) ? 0 : round_up(ingot_gemm_f32_fill_scratch(sizes.kernel, sizes.n, sizes.k));
}

/* Where a large product has few columns, its rows are split between chunks, and the input is packed once, before, for all of
 * them: floats of shared workspace, or 0 where each chunk packs its own columns. */
static size_t shared_size(const ingot_conv *c)
{
    conv_sizes sizes = find_sizes(c);
    conv_tactic tactic = choose_tactic(c);
    if (sizes.n == 0 || tactic == DEPTHWISE || tactic == NARROW || is_direct(c, &sizes))
        return 0;
    ingot_gemm_grid grid = find_grid(&sizes, true);
    return grid.row_blocks > 1 ? grid.panels * sizes.kernel->columns * sizes.k : 0;
}

size_t ingot_conv_f32_workspace(const ingot_conv *c, int threads)
{
    if (choose_tactic(c) == WINOGRAD)
        return ingot_winograd_workspace(c, threads) * sizeof(float);
    size_t shared = shared_size(c);
    size_t scratch = shared > 0 ? 0 : scratch_size(c) * (size_t)(threads > 1 ? threads : 1);
    return (shared + scratch) * sizeof(float);
}

typedef struct conv_task {
    const ingot_conv *conv;
    conv_sizes sizes;
    const ingot_conv_table *table;
    const float *input, *packed;
    const ingot_epilogue *epilogue;
    float *output, *scratch;
    size_t scratch_size;
    ingot_gemm_grid grid; /* of a product: a group of an image */
    float *shared;        /* all panels of product first_product, or NULL */
    size_t first_product;
    size_t planes_per_chunk; /* depthwise */
    ingot_plane_grid rows;   /* with few outputs */
} conv_task;

/* ---- Depthwise ---- */

/* A depthwise kernel's part of the epilogue is the bias and, where nothing comes between, a limit. */
static bool limits_in_kernel(const ingot_epilogue *epilogue)
{
    bool limit = epilogue->activation.kind == INGOT_UNARY_RELU || epilogue->activation.kind == INGOT_UNARY_CLIP;
    return limit && !epilogue->scaled && (!epilogue->add || epilogue->add_last);
}

/* The rest, on some outputs of one channel; limited: the kernel did the activation. */
static void finish_outputs(const ingot_epilogue *epilogue, bool limited, float bias, const float *add, float *out,
                           size_t count)
{
    if (epilogue->scaled) {
        ingot_unary affine = {INGOT_UNARY_AFFINE, epilogue->scale, bias};
        ingot_vec_unary(&affine, out, out, count);
    }
    if (add && !epilogue->add_last)
        ingot_vec_binary(INGOT_BINARY_ADD, out, add, out, count);
    if (!limited && epilogue->activation.kind != INGOT_UNARY_IDENTITY)
        ingot_vec_unary(&epilogue->activation, out, out, count);
    if (add && epilogue->add_last)
        ingot_vec_binary(INGOT_BINARY_ADD, out, add, out, count);
}

static void run_depthwise(void *argument, size_t chunk, int participant)
{
    const conv_task *task = argument;
    const ingot_conv *c = task->conv;
    const ingot_epilogue *epilogue = task->epilogue;
    size_t count = task->sizes.n, multiplier = task->sizes.m, all = c->batch * c->outputs;
    size_t first = chunk * task->planes_per_chunk, end = first + task->planes_per_chunk;
    float *scratch = task->scratch + (size_t)participant * task->scratch_size;
    memset(scratch, 0, ingot_depthwise_scratch(c) * sizeof *scratch);
    ingot_depthwise depthwise = {.conv = c, .low = -INFINITY, .high = INFINITY};
    if (limits_in_kernel(epilogue)) {
        bool clip = epilogue->activation.kind == INGOT_UNARY_CLIP;
        depthwise.low = clip ? epilogue->activation.a : 0.0f;
        depthwise.high = clip ? epilogue->activation.b : INFINITY;
    }
    size_t at_once = multiplier == 1 && count < DEPTHWISE_OUTPUTS ? DEPTHWISE_OUTPUTS / count : 1;
    end = end < all ? end : all;
    for (size_t plane = first; plane < end; plane += depthwise.planes) {
        size_t output = plane % c->outputs, input = plane / c->outputs * c->channels + output / multiplier;
        depthwise.planes = end - plane < at_once ? end - plane : at_once;
        if (depthwise.planes > c->outputs - output)
            depthwise.planes = c->outputs - output;
        const float *bias = epilogue->row_bias ? epilogue->row_bias + output : NULL;
        task->table->depthwise(&depthwise, task->input + input * task->sizes.in_plane,
                               task->packed + output * task->sizes.taps, epilogue->scaled ? NULL : bias,
                               task->output + plane * count, scratch);
        for (size_t i = 0; i < depthwise.planes; i++)
            finish_outputs(epilogue, limits_in_kernel(epilogue), bias ? bias[i] : 0.0f,
                           epilogue->add ? epilogue->add + (plane + i) * count : NULL,
                           task->output + (plane + i) * count, count);
    }
}

/* ---- Few outputs ---- */

static void run_narrow(void *argument, size_t chunk, int participant)
{
    const conv_task *task = argument;
    const ingot_conv *c = task->conv;
    const ingot_plane_range range = ingot_plane_range_of(&task->rows, chunk);
    const ingot_epilogue *e = task->epilogue;
    for (size_t image = range.first_plane; image < range.end_plane; image++) {
        ingot_narrow_row row = {.conv = c, .weights = task->packed, .bias = e->scaled ? NULL : e->row_bias};
        row.input = task->input + image * c->channels * task->sizes.in_plane;
        for (row.y = range.first_row; row.y < range.end_row; row.y++) {
            size_t place = image * c->outputs * task->sizes.n + row.y * c->out_width;
            row.output = task->output + place;
            task->table->narrow(&row);
            for (size_t o = 0; o < c->outputs; o++, place += task->sizes.n)
                finish_outputs(e, false, e->row_bias ? e->row_bias[o] : 0.0f, e->add ? e->add + place : NULL,
                               task->output + place, c->out_width);
        }
    }
}

/* ---- Products ---- */

static void fill_pointwise(const void *context, size_t k, size_t steps, size_t column, size_t columns, float *to)
{
    const ingot_im2col *source = context;
    const ingot_conv *c = source->conv;
    const ingot_gemm_kernel *kernel = c->kernel ? c->kernel : ingot_gemm_kernel_best();
    size_t plane = c->in_height * c->in_width;
    ingot_gemm_f32_pack_panels(kernel, source->input + k * plane + column, (ptrdiff_t)plane, 1, steps, columns, to);
}

static ingot_im2col find_input(const conv_task *task, size_t product)
{
    const conv_sizes *sizes = &task->sizes;
    ingot_im2col source = {task->conv, sizes->channels, task->input + product * sizes->channels * sizes->in_plane,
                           sizes->kernel->columns};
    return source;
}

/* Whether taps of K's rows see padding only. */
static bool sees_padding(const void *context, size_t k, size_t steps, size_t column, size_t columns)
{
    const ingot_im2col *source = context;
    const ingot_conv *c = source->conv;
    size_t last = column + columns - 1, y0 = column / c->out_width, y1 = last / c->out_width;
    size_t x0 = y0 == y1 ? column % c->out_width : 0, x1 = y0 == y1 ? last % c->out_width : c->out_width - 1;
    for (size_t tap = k / source->channels; tap <= (k + steps - 1) / source->channels; tap++) {
        size_t dy = tap / c->kernel_width * c->dilation_height, dx = tap % c->kernel_width * c->dilation_width;
        bool above = y1 * c->stride_height + dy < c->pad_top, left = x1 * c->stride_width + dx < c->pad_left;
        bool below = y0 * c->stride_height + dy >= c->pad_top + c->in_height;
        bool right = x0 * c->stride_width + dx >= c->pad_left + c->in_width;
        if (!above && !below && !left && !right)
            return false;
    }
    return true;
}

static ingot_gemm_fill find_fill(const conv_task *task)
{
    return choose_tactic(task->conv) == POINTWISE ? fill_pointwise : task->table->im2col;
}

/* One panel of the shared ones, all of K. */
static void fill_shared(void *argument, size_t panel, int participant)
{
    const conv_task *task = argument;
    const conv_sizes *sizes = &task->sizes;
    size_t width = sizes->kernel->columns, column = panel * width;
    ingot_im2col source = find_input(task, task->first_product);
    find_fill(task)(&source, 0, sizes->k, column, sizes->n - column < width ? sizes->n - column : width,
                    task->shared + column * sizes->k);
}

static void run_product(void *argument, size_t chunk, int participant)
{
    const conv_task *task = argument;
    const ingot_conv *c = task->conv;
    const conv_sizes *sizes = &task->sizes;
    size_t blocks = task->grid.row_blocks * task->grid.column_blocks, product = task->first_product + chunk / blocks;
    size_t group = product % c->groups;
    ingot_im2col source = find_input(task, product);
    ingot_gemm_plan plan = {.kernel = sizes->kernel, .m = sizes->m, .n = sizes->n, .k = sizes->k, .c_row = sizes->n};
    plan.packed_a = task->packed + group * sizes->m * sizes->k;
    plan.far_a = true;
    if (sizes->taps > 1 && sizes->channels >= INGOT_GEMM_K_BLOCK)
        plan.k_unit = sizes->channels;
    plan.c = task->output + product * sizes->m * sizes->n;
    plan.epilogue = *task->epilogue;
    plan.epilogue.add_row = sizes->n;
    if (plan.epilogue.add)
        plan.epilogue.add += product * sizes->m * sizes->n;
    if (plan.epilogue.row_bias)
        plan.epilogue.row_bias += group * sizes->m;
    if (task->shared) {
        plan.packed_b = task->shared;
    } else if (is_direct(c, sizes)) {
        plan.direct_b = source.input;
        plan.direct_b_row = sizes->n;
    } else {
        plan.fill = find_fill(task);
        plan.fill_context = &source;
        if (plan.k_unit > 0)
            plan.empty = sees_padding;
    }
    ingot_gemm_range range = ingot_gemm_grid_range(&task->grid, chunk % blocks);
    ingot_gemm_f32_block(&plan, &range, task->scratch + (size_t)participant * task->scratch_size);
}

void ingot_conv_f32(const ingot_conv *c, const float *input, const float *packed, const ingot_epilogue *epilogue,
                    float *output, void *workspace, int threads)
{
    conv_task task = {.conv = c, .sizes = find_sizes(c), .input = input, .packed = packed, .epilogue = epilogue};
    const conv_sizes *sizes = &task.sizes;
    size_t products = c->batch * c->groups;
    if (products * sizes->m * sizes->n == 0)
        return;
    conv_tactic tactic = choose_tactic(c);
    if (tactic == WINOGRAD) {
        ingot_winograd_f32(c, input, packed, epilogue, output, workspace, threads);
        return;
    }
    task.table = ingot_conv_table_at(ingot_level_for(sizes->kernel->features));
    task.output = output;
    task.scratch = workspace;
    task.scratch_size = scratch_size(c);
    if (tactic == DEPTHWISE) {
        size_t planes = c->batch * c->outputs, work = sizes->n * sizes->taps;
        task.planes_per_chunk = work < DEPTHWISE_CHUNK ? DEPTHWISE_CHUNK / work : 1;
        ingot_parallel(threads, ingot_ceil_div(planes, task.planes_per_chunk), run_depthwise, &task);
        return;
    }
    if (tactic == NARROW) {
        task.rows = ingot_plane_grid_of(c->batch, c->out_height, c->out_width * c->outputs * sizes->k, NARROW_CHUNK);
        ingot_plane_run(&task.rows, threads, run_narrow, &task);
        return;
    }
    bool shared = shared_size(c) > 0;
    task.shared = shared ? workspace : NULL;
    task.grid = find_grid(sizes, !shared);
    size_t blocks = task.grid.row_blocks * task.grid.column_blocks;
    if (!shared)
        ingot_parallel(threads, products * blocks, run_product, &task);
    for (; shared && task.first_product < products; task.first_product++) {
        ingot_parallel(threads, task.grid.panels, fill_shared, &task);
        ingot_parallel(threads, blocks, run_product, &task);
    }
}
