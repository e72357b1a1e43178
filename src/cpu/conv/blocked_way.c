#include "cpu/conv/blocked_way.h"

#include "base/memory.h"
#include "cpu/conv/conv_table.h"

/* Bytes of packed weights that are gone through before the next part of the input's channels, and bytes of input that go with
 * them: both stay in the L2 cache. */
#define WEIGHT_BYTES (384u << 10)
#define INPUT_BYTES  (512u << 10)
/* Outputs of a channel, at least, for which weights are gone through. */
#define STRIP_PIXELS 512
/* Dilation from which on bands are copied. */
#define BAND_DILATION 4
/* Multiply-adds of a chunk, at least, where it is for several threads or for one, and chunks of an image, about, where there is as
 * much work. */
#define SHARED_WORK (256u << 10)
#define OWN_WORK    (2u << 20)
#define MOST_CHUNKS 16

bool ingot_blocked_is_winograd(const ingot_blocked_conv *b)
{
    return !b->plain_input && !b->target && ingot_blocked_winograd_suits(b->conv);
}

bool ingot_blocked_is_line(const ingot_blocked_conv *b)
{
    return !b->plain_input && !b->target && ingot_blocked_line_suits(b->conv);
}

static const ingot_blocked_kernel *find_kernel(const ingot_conv *c)
{
    const ingot_gemm_kernel *kernel = c->kernel ? c->kernel : ingot_gemm_kernel_best();
    return &ingot_conv_table_at(ingot_level_for(kernel->features))->blocked;
}

bool ingot_blocked_suits(const ingot_blocked_conv *b)
{
    const ingot_conv *c = b->conv;
    if (c->groups == 1)
        return true;
    return !b->plain_input && c->channels / c->groups % INGOT_BLOCK == 0 && c->outputs / c->groups % INGOT_BLOCK == 0;
}

ingot_blocked_weights ingot_blocked_find_weights(const ingot_blocked_conv *b)
{
    const ingot_conv *c = b->conv;
    ingot_blocked_weights w = {.channels = c->channels / c->groups, .outputs = c->outputs / c->groups};
    w.taps = c->kernel_height * c->kernel_width;
    w.block_channels = b->plain_input ? 1 : INGOT_BLOCK;
    w.in_blocks = ingot_ceil_div(w.channels, w.block_channels);
    w.last_channels = w.channels - (w.in_blocks > 0 ? w.in_blocks - 1 : 0) * w.block_channels;
    w.block_size = w.taps * w.block_channels;
    w.groups = ingot_blocked_find_groups(w.outputs, find_kernel(c)->most_blocks);
    return w;
}

size_t ingot_blocked_packed_size(const ingot_blocked_conv *b)
{
    ingot_blocked_weights w = ingot_blocked_find_weights(b);
    return b->conv->groups * ingot_blocked_part_size(&w) * sizeof(float);
}

static size_t round_up(size_t floats)
{
    size_t line = INGOT_ALIGNMENT / sizeof(float);
    return ingot_ceil_div(floats, line) * line;
}

static void cut_work(ingot_blocked_way *way, const ingot_conv *c, size_t in_pixels, int threads)
{
    const ingot_blocked_weights *w = &way->weights;
    size_t weight_bytes = ingot_blocked_part_size(w) * sizeof(float);
    size_t in_bytes = in_pixels * w->channels * sizeof(float);
    double work =
        (double)w->channels * (double)(w->taps * w->groups.blocks * INGOT_BLOCK) * (double)(way->rows * way->columns);
    double each = threads > 1 ? SHARED_WORK : OWN_WORK;
    size_t chunks = work > each * MOST_CHUNKS ? MOST_CHUNKS : (size_t)(work / each) + 1;
    if (chunks > 1)
        chunks += chunks % 2; /* of an odd number the last one is worked on alone */
    size_t of_input = ingot_ceil_div(in_bytes / way->k_parts, INPUT_BYTES);
    /* Threads that split the weights read each other's input and output, those that split the image all weights. */
    size_t out_bytes = way->rows * way->columns * w->outputs * sizeof(float);
    way->weights_first = weight_bytes > in_bytes + (threads > 1 ? out_bytes : 0);
    way->strips = way->weights_first ? of_input : ingot_most(of_input, chunks);
    way->strips = ingot_least(ingot_most(way->strips, 1), way->units);
    way->group_chunks = ingot_least(ingot_ceil_div(chunks, way->strips), w->groups.count);
    if (way->strips * way->group_chunks < chunks)
        way->strips = ingot_least(ingot_ceil_div(chunks, way->group_chunks), way->units);
}

/* Where the outputs lie. */
static void place_outputs(ingot_blocked_way *way, const ingot_blocked_target *target)
{
    const ingot_blocked_target whole = {0, way->columns, 1, way->rows * way->columns};
    target = target ? target : &whole;
    way->out_first = target->first * INGOT_BLOCK;
    way->out_row = target->row * INGOT_BLOCK;
    way->out_pixel = target->column * INGOT_BLOCK;
    way->out_block = target->image * INGOT_BLOCK;
}

bool ingot_blocked_copies(const ingot_blocked_conv *b)
{
    const ingot_conv *c = b->conv;
    return c->kernel_height * c->kernel_width != 1 || c->pad_top != 0 || c->pad_left != 0 || c->stride_height != 1 ||
           c->stride_width != 1 || c->in_height != c->out_height || c->in_width != c->out_width;
}

ingot_blocked_way ingot_blocked_find_way(const ingot_blocked_conv *b, int threads)
{
    const ingot_conv *c = b->conv;
    ingot_blocked_way way = {.kernel = find_kernel(c), .weights = ingot_blocked_find_weights(b), .row_step = 1};
    const ingot_blocked_weights *w = &way.weights;
    size_t group_blocks = w->groups.most == 3 ? 2 : w->groups.most, columns = way.kernel->most_columns[group_blocks];
    way.pixel_size = b->plain_input ? 1 : INGOT_BLOCK;
    way.copies = ingot_blocked_copies(b);
    way.by_rows = b->target || way.copies;
    way.rows = way.by_rows ? c->out_height : 1;
    way.columns = way.by_rows ? c->out_width : c->out_height * c->out_width;
    place_outputs(&way, b->target);
    way.rows_at_once = way.by_rows && way.rows > 1 && way.columns <= columns / 2 ? 2 : 1;
    way.tiles = ingot_ceil_div(way.columns, columns);
    way.units = way.by_rows ? ingot_ceil_div(way.rows, way.rows_at_once) : way.tiles;
    if (way.by_rows) {
        size_t reach = (c->kernel_width - 1) * c->dilation_width + 1;
        way.row_step = c->kernel_height == 1 ? c->stride_height : 1;
        way.stride = c->stride_height / way.row_step;
        way.bands = c->kernel_height > 1 && c->dilation_height >= BAND_DILATION;
        way.phases = ingot_least(c->stride_width, reach);
        way.phase_size = ingot_ceil_div((c->out_width - 1) * c->stride_width + reach, c->stride_width);
        way.row_size = way.phases * way.phase_size;
    }
    size_t pixels = way.by_rows ? way.row_size * ingot_blocked_rows_seen(&way, c, way.rows) : way.columns;
    size_t block_bytes = w->block_size * group_blocks * INGOT_BLOCK * sizeof(float);
    size_t seen = ingot_ceil_div(pixels, ingot_most(way.rows * way.columns, 1)); /* by an output */
    size_t pixel_bytes = w->channels * sizeof(float) * ingot_least(pixels, STRIP_PIXELS * seen);
    way.k_parts = ingot_most(ingot_ceil_div(w->in_blocks, ingot_most(WEIGHT_BYTES / block_bytes, 1)),
                             ingot_ceil_div(pixel_bytes, INPUT_BYTES));
    way.k_parts = ingot_most(ingot_least(way.k_parts, w->in_blocks), 1);
    cut_work(&way, c, pixels, threads);
    way.in_block = pixels * way.pixel_size;
    if (way.copies) {
        size_t rows = ingot_least(ingot_ceil_div(way.units, way.strips) * way.rows_at_once, way.rows);
        size_t blocks = ingot_ceil_div(w->in_blocks, way.k_parts);
        /* An odd number of cache lines from block to block. */
        way.in_block =
            (ingot_blocked_rows_seen(&way, c, rows) * way.row_size * way.pixel_size / INGOT_BLOCK | 1) * INGOT_BLOCK;
        way.in_block += way.pixel_size < INGOT_BLOCK ? INGOT_BLOCK : 0;
        if (way.strips == 1 && way.group_chunks > 1)
            way.shared = round_up(way.in_block * w->in_blocks);
        else
            way.scratch = round_up(way.in_block * blocks);
    }
    way.tap_size = round_up(w->taps * sizeof(ingot_blocked_tap) / sizeof(float));
    way.scratch += 2 * way.tap_size;
    return way;
}

size_t ingot_blocked_workspace(const ingot_blocked_conv *b, int threads)
{
    if (b->conv->out_height * b->conv->out_width == 0)
        return 0;
    if (ingot_blocked_is_winograd(b))
        return ingot_blocked_winograd_workspace(b->conv, threads);
    if (ingot_blocked_is_line(b))
        return ingot_blocked_line_workspace(b->conv, threads);
    ingot_blocked_way one = ingot_blocked_find_way(b, 1), more = ingot_blocked_find_way(b, threads);
    size_t many = threads > 1 ? (size_t)threads : 1;
    return ingot_most(one.shared + one.scratch, more.shared + more.scratch * many) * sizeof(float);
}

const char *ingot_blocked_tactic(const ingot_blocked_conv *b)
{
    if (b->plain_input)
        return "first c16";
    if (ingot_blocked_is_winograd(b))
        return "winograd c16";
    if (ingot_blocked_is_line(b))
        return "winograd line c16";
    return b->conv->kernel_height * b->conv->kernel_width == 1 ? "pointwise c16" : "direct c16";
}
