#include "cpu/int8/int8_conv.h"

#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "cpu/extent.h"
#include "cpu/int8/bytes_table.h"
#include "cpu/layout/layout.h"

#define CHANNELS INGOT_INT8_CHANNELS
/* Bytes that kernels may read behind the image. */
#define SLACK 64
/* Bytes of a chunk of a transpose. */
#define TRANSPOSE_BYTES ((size_t)64 << 10)
/* Outputs of a chunk of a depthwise convolution. */
#define DEPTHWISE_CHUNK ((size_t)32 << 10)

/* How the window lies in the staged image. */
typedef struct window {
    size_t height, width; /* of the part that is read */
    bool copies;
    size_t runs, run_bytes, across; /* across: runs side by side */
} window;

static bool has_whole_rows(const ingot_conv *c) /* a row of the window is one stretch of bytes */
{
    return c->groups == 1 && (c->dilation_width == 1 || c->kernel_width == 1);
}

static window find_window(const ingot_int8_conv *conv)
{
    const ingot_conv *c = conv->shape;
    size_t channels = c->channels / c->groups;
    window w = {.height = (c->out_height - 1) * c->stride_height + (c->kernel_height - 1) * c->dilation_height + 1,
                .width = (c->out_width - 1) * c->stride_width + (c->kernel_width - 1) * c->dilation_width + 1,
                .across = has_whole_rows(c) ? 1 : c->kernel_width};
    w.runs = c->kernel_height * w.across;
    w.run_bytes = has_whole_rows(c) ? c->kernel_width * channels : channels;
    bool lies_right = conv->x_last || c->channels == 1 || c->in_height * c->in_width == 1;
    bool aligned = conv->depthwise ? c->channels % CHANNELS == 0 : w.run_bytes % 4 == 0;
    w.copies = !lies_right || conv->terms.a_signed || !aligned || c->pad_top > 0 || c->pad_left > 0 ||
               w.height > c->in_height || w.width > c->in_width;
    return w;
}

/* ---- Weights ---- */

bool ingot_int8_conv_is_depthwise(const ingot_conv *c)
{
    return c->groups > 1 && c->groups == c->channels && c->groups == c->outputs;
}

static size_t blocks_of(const ingot_conv *c)
{
    return (c->channels + CHANNELS - 1) / CHANNELS;
}

/* Of a block of channels. */
static size_t depthwise_bytes(const ingot_conv *c)
{
    return c->kernel_width * ((c->kernel_height + 3) / 4) * CHANNELS * 4;
}

static size_t group_bytes(const ingot_conv *c)
{
    size_t channels = c->channels / c->groups, across = has_whole_rows(c) ? 1 : c->kernel_width;
    return ingot_int8_packed_size(c->outputs / c->groups, c->kernel_height * across,
                                  has_whole_rows(c) ? c->kernel_width * channels : channels);
}

size_t ingot_int8_conv_packed_size(const ingot_conv *c, bool depthwise)
{
    if (!depthwise)
        return c->groups * group_bytes(c);
    return blocks_of(c) * (depthwise_bytes(c) + CHANNELS * sizeof(int32_t));
}

static void pack_depthwise(const ingot_conv *c, const uint8_t *weights, uint8_t turn, int8_t *packed)
{
    size_t quads = (c->kernel_height + 3) / 4, image = c->kernel_height * c->kernel_width;
    int32_t *sums = (int32_t *)(void *)(packed + blocks_of(c) * depthwise_bytes(c));
    memset(packed, 0, ingot_int8_conv_packed_size(c, true));
    for (size_t channel = 0; channel < c->channels; channel++) {
        int8_t *to = packed + channel / CHANNELS * depthwise_bytes(c) + channel % CHANNELS * 4;
        for (size_t i = 0; i < image; i++) {
            size_t ky = i / c->kernel_width, kx = i % c->kernel_width;
            int8_t weight = (int8_t)(weights[channel * image + i] ^ turn);
            to[(kx * quads + ky / 4) * CHANNELS * 4 + ky % 4] = weight;
            sums[channel] += weight;
        }
    }
}

void ingot_int8_conv_pack(const ingot_conv *c, bool depthwise, const void *weights, bool is_signed, int8_t *packed)
{
    if (depthwise) {
        pack_depthwise(c, weights, is_signed ? 0 : 0x80, packed);
        return;
    }
    size_t channels = c->channels / c->groups, image = c->kernel_height * c->kernel_width;
    size_t outputs = c->outputs / c->groups, across = has_whole_rows(c) ? 1 : c->kernel_width;
    ingot_int8_b b = {.columns = outputs,
                      .runs = c->kernel_height * across,
                      .outer = has_whole_rows(c) ? c->kernel_width : 1,
                      .inner = channels,
                      .column_stride = (ptrdiff_t)(channels * image),
                      .outer_stride = 1,
                      .inner_stride = (ptrdiff_t)image,
                      .run_stride = has_whole_rows(c) ? (ptrdiff_t)c->kernel_width : 1,
                      .is_signed = is_signed};
    for (size_t group = 0; group < c->groups; group++) {
        b.data = (const char *)weights + group * outputs * channels * image;
        ingot_int8_pack_b(&b, packed + group * group_bytes(c));
    }
}

/* ---- The image ---- */

typedef struct conv_task {
    const ingot_int8_conv *conv;
    const ingot_conv *c;
    window w;
    const ingot_int8_bytes_table *table;
    uint8_t *staged;
    const uint8_t *x; /* what is read, channels last, line_bytes from line to line */
    size_t line_bytes;
    int8_t *terms;
    void *y; /* channels last */
    uint8_t *columns;
    size_t columns_bytes, lines_at_once, line_chunks;
    float low, high;
} conv_task;

/* One line with its padding. */
static void stage_line(void *argument, size_t chunk, int participant)
{
    const conv_task *t = argument;
    const ingot_conv *c = t->c;
    size_t n = chunk / t->w.height, line = chunk % t->w.height, channels = c->channels;
    uint8_t *to = t->staged + chunk * t->line_bytes;
    uint8_t turn = t->conv->terms.a_signed ? 0x80 : 0, zero = (uint8_t)(t->conv->terms.a_zero ^ turn);
    if (line < c->pad_top || line - c->pad_top >= c->in_height || c->pad_left >= t->w.width) {
        memset(to, zero, t->line_bytes);
        return;
    }
    size_t left = c->pad_left, rest = t->w.width - left, middle = rest < c->in_width ? rest : c->in_width;
    size_t pixel = (line - c->pad_top) * c->in_width, image = c->in_height * c->in_width;
    const uint8_t *x = (const uint8_t *)t->conv->x + n * image * channels;
    memset(to, zero, left * channels);
    memset(to + (left + middle) * channels, zero, (rest - middle) * channels);
    to += left * channels;
    if (!t->conv->x_last)
        t->table->transpose(x + pixel, image, channels, middle, turn, to, channels);
    else if (turn)
        ingot_int8_turn_signs(x + pixel * channels, to, middle * channels);
    else
        memcpy(to, x + pixel * channels, middle * channels);
}

static void stage(conv_task *t, int threads)
{
    const ingot_conv *c = t->c;
    t->x = t->conv->x;
    t->line_bytes = c->in_width * c->channels;
    if (!t->w.copies)
        return;
    t->x = t->staged;
    t->line_bytes = t->w.width * c->channels;
    size_t lines = c->batch * t->w.height;
    ingot_parallel(lines * t->line_bytes < TRANSPOSE_BYTES ? 1 : threads, lines, stage_line, t);
}

/* ---- Products ---- */

static ingot_int8_columns fill_columns(const conv_task *t, size_t group, size_t columns, size_t depth,
                                       const int32_t *sums)
{
    const ingot_int8_conv *conv = t->conv;
    size_t first = group * columns;
    ingot_int8_columns to = ingot_int8_columns_in(t->terms + group * ingot_int8_columns_size(columns), columns);
    for (size_t i = 0; i < columns && conv->output == INGOT_INT8_BYTES; i++)
        to.scale[i] = conv->x_scale * conv->w_scale[conv->w_scale_count == 1 ? 0 : first + i] / conv->y_scale;
    ingot_int8_fill_columns(&to, &conv->terms, first, columns, depth, sums);
    return to;
}

static void multiply(const conv_task *t, ptrdiff_t *runs, int32_t *row_sums, int threads)
{
    const ingot_conv *c = t->c;
    const window *w = &t->w;
    size_t outputs = c->outputs / c->groups, channels = c->channels, pixels = c->out_height * c->out_width;
    ptrdiff_t line = (ptrdiff_t)t->line_bytes;
    for (size_t r = 0; r < w->runs; r++)
        runs[r] = (ptrdiff_t)(r / w->across * c->dilation_height) * line +
                  (ptrdiff_t)(r % w->across * c->dilation_width * channels);
    for (size_t group = 0; group < c->groups; group++)
        fill_columns(t, group, outputs, w->runs * w->run_bytes,
                     ingot_int8_sums_in(t->conv->packed + group * group_bytes(c), outputs, w->runs, w->run_bytes));
    ingot_int8_product p = {.images = c->batch,
                            .groups = c->groups,
                            .height = c->out_height,
                            .width = c->out_width,
                            .columns = outputs,
                            .group_matrices = 1,
                            .runs = w->runs,
                            .run_bytes = w->run_bytes,
                            .a_runs = runs,
                            .a = t->x,
                            .a_image = line * (ptrdiff_t)(w->copies ? w->height : c->in_height),
                            .a_group = (ptrdiff_t)(channels / c->groups),
                            .a_line = line * (ptrdiff_t)c->stride_height,
                            .a_place = (ptrdiff_t)(c->stride_width * channels),
                            .b = t->conv->packed,
                            .b_matrix = group_bytes(c),
                            .terms = t->terms,
                            .row_sums = row_sums,
                            .output = t->conv->output,
                            .element = t->conv->element,
                            .zero = t->conv->zero,
                            .c = t->y,
                            .c_image = pixels * c->outputs,
                            .c_group = outputs,
                            .c_line = c->out_width * c->outputs,
                            .c_place = c->outputs};
    if (p.a_line == p.a_place * (ptrdiff_t)p.width) { /* lines follow each other without a gap */
        p.width *= p.height;
        p.height = 1;
    }
    ingot_int8_multiply(&p, threads);
}

/* ---- Depthwise ---- */

static void run_lines(void *argument, size_t chunk, int participant)
{
    const conv_task *t = argument;
    const ingot_conv *c = t->c;
    size_t n = chunk / t->line_chunks, first = chunk % t->line_chunks * t->lines_at_once,
           end = first + t->lines_at_once;
    const ingot_int8_kernel *kernel = ingot_int8_kernel_best();
    ingot_int8_columns terms = ingot_int8_columns_in(t->terms, c->channels);
    const uint8_t *x = t->x + n * t->line_bytes * (t->w.copies ? t->w.height : c->in_height);
    size_t size = t->conv->output == INGOT_INT8_BYTES ? 1 : 4;
    ingot_int8_depthwise d = {.a_row = (ptrdiff_t)(c->dilation_height * t->line_bytes),
                              .a_place = (ptrdiff_t)c->channels,
                              .in_width = t->w.width,
                              .out_width = c->out_width,
                              .kernel_height = c->kernel_height,
                              .kernel_width = c->kernel_width,
                              .stride = c->stride_width,
                              .dilation = c->dilation_width,
                              .columns = t->columns + (size_t)participant * t->columns_bytes};
    for (size_t line = first; line < (end < c->out_height ? end : c->out_height); line++)
        for (size_t block = 0; block < blocks_of(c); block++) {
            size_t channel = block * CHANNELS, rest = c->channels - channel;
            d.a = x + line * c->stride_height * t->line_bytes + channel;
            d.b = t->conv->packed + block * depthwise_bytes(c);
            d.out = (ingot_int8_tile){.columns = rest < CHANNELS ? rest : CHANNELS,
                                      .start = terms.start + channel,
                                      .output = t->conv->output,
                                      .scale = terms.scale + channel,
                                      .low = t->low,
                                      .high = t->high,
                                      .zero = t->conv->zero,
                                      .c_row = c->channels};
            d.out.c = (char *)t->y + ((n * c->out_height + line) * c->out_width * c->channels + channel) * size;
            kernel->depthwise(&d);
        }
}

static void run_depthwise(conv_task *t, int threads)
{
    const ingot_conv *c = t->c;
    const ingot_int8_conv *conv = t->conv;
    fill_columns(t, 0, c->channels, c->kernel_height * c->kernel_width,
                 (const int32_t *)(const void *)(conv->packed + blocks_of(c) * depthwise_bytes(c)));
    t->low = (float)((conv->element == INGOT_INT8 ? INT8_MIN : 0) - conv->zero);
    t->high = (float)((conv->element == INGOT_INT8 ? INT8_MAX : UINT8_MAX) - conv->zero);
    size_t line_outputs = c->out_width * c->channels;
    t->lines_at_once = DEPTHWISE_CHUNK / (line_outputs > 0 ? line_outputs : 1);
    t->lines_at_once = t->lines_at_once > 0 ? t->lines_at_once : 1;
    t->line_chunks = (c->out_height + t->lines_at_once - 1) / t->lines_at_once;
    ingot_parallel(threads, c->batch * t->line_chunks, run_lines, t);
}

/* ---- The whole ---- */

typedef struct parts {
    size_t terms, staged, runs, row_sums, y, columns, columns_bytes, end;
} parts;

static bool makes_planes(const ingot_int8_conv *conv)
{
    const ingot_conv *c = conv->shape;
    return !conv->y_last && c->outputs > 1 && c->out_height * c->out_width > 1;
}

static parts lay_out(const ingot_int8_conv *conv, const window *w, int threads)
{
    const ingot_conv *c = conv->shape;
    size_t pixels = c->batch * c->out_height * c->out_width, size = conv->output == INGOT_INT8_BYTES ? 1 : 4;
    size_t matrices = conv->depthwise ? 1 : c->groups;
    parts p = {0};
    p.terms = ingot_take_part(&p.end, matrices * ingot_int8_columns_size(c->outputs / matrices));
    p.staged = ingot_take_part(&p.end, w->copies ? c->batch * w->height * w->width * c->channels + SLACK : 0);
    p.runs = ingot_take_part(&p.end, w->runs * sizeof(ptrdiff_t));
    p.row_sums = ingot_take_part(&p.end, conv->depthwise ? 0 : pixels * c->groups * sizeof(int32_t));
    p.y = ingot_take_part(&p.end, makes_planes(conv) ? pixels * c->outputs * size : 0);
    p.columns_bytes = conv->depthwise ? w->width * ((c->kernel_height + 3) / 4) * CHANNELS * 4 : 0;
    p.columns = ingot_take_part(&p.end, (size_t)threads * p.columns_bytes);
    return p;
}

bool ingot_int8_conv_fits(const ingot_int8_conv *conv)
{
    const double most = 1ull << 44; /* bytes */
    const window w = find_window(conv);
    const ingot_conv *c = conv->shape;
    return (double)w.height * (double)w.width * (double)c->batch * (double)c->channels < most &&
           (double)w.width * (double)c->kernel_height * CHANNELS < most;
}

size_t ingot_int8_conv_workspace(const ingot_int8_conv *conv, int threads)
{
    window w = find_window(conv);
    return lay_out(conv, &w, threads).end;
}

static void make_planes(const conv_task *t, int threads)
{
    const ingot_conv *c = t->c;
    size_t pixels = c->out_height * c->out_width;
    if (t->conv->output == INGOT_INT8_BYTES) {
        ingot_int8_transpose(t->y, c->batch, pixels, c->outputs, t->conv->y, threads);
        return;
    }
    const size_t dims[] = {c->batch, pixels, c->outputs};
    const int permutation[] = {0, 2, 1};
    ingot_transpose(3, dims, permutation, sizeof(int32_t), t->y, t->conv->y, threads);
}

void ingot_int8_convolve(const ingot_int8_conv *conv, void *workspace, int threads)
{
    conv_task t = {.conv = conv, .c = conv->shape, .w = find_window(conv)};
    parts p = lay_out(conv, &t.w, threads);
    char *memory = workspace;
    t.table = ingot_int8_bytes_table_at(ingot_level_best());
    t.terms = (int8_t *)memory + p.terms;
    t.staged = (uint8_t *)memory + p.staged;
    t.columns = (uint8_t *)memory + p.columns;
    t.columns_bytes = p.columns_bytes;
    t.y = makes_planes(conv) ? memory + p.y : conv->y;
    stage(&t, threads);
    if (conv->depthwise) {
        run_depthwise(&t, threads);
    } else {
        bool sums = ingot_int8_needs_row_sums(&conv->terms);
        multiply(&t, (ptrdiff_t *)(void *)(memory + p.runs), sums ? (int32_t *)(void *)(memory + p.row_sums) : NULL,
                 threads);
    }
    if (makes_planes(conv))
        make_planes(&t, threads);
}

/* ---- Transposes ---- */

typedef struct transpose_task {
    const ingot_int8_bytes_table *table;
    const uint8_t *x;
    uint8_t *y;
    size_t rows, columns, rows_at_once, parts;
} transpose_task;

static void transpose_rows(void *argument, size_t chunk, int participant)
{
    const transpose_task *t = argument;
    size_t n = chunk / t->parts, row = chunk % t->parts * t->rows_at_once, rest = t->rows - row;
    size_t matrix = n * t->rows * t->columns;
    t->table->transpose(t->x + matrix + row * t->columns, t->columns, rest < t->rows_at_once ? rest : t->rows_at_once,
                        t->columns, 0, t->y + matrix + row, t->rows);
}

void ingot_int8_transpose(const void *x, size_t n, size_t rows, size_t columns, void *y, int threads)
{
    transpose_task t = {
        .table = ingot_int8_bytes_table_at(ingot_level_best()), .x = x, .y = y, .rows = rows, .columns = columns};
    if (n * rows * columns == 0)
        return;
    t.rows_at_once = (TRANSPOSE_BYTES / columns + 63) / 64 * 64; /* whole cache lines of the output */
    t.rows_at_once = t.rows_at_once > 64 ? t.rows_at_once : 64;
    t.parts = (rows + t.rows_at_once - 1) / t.rows_at_once;
    ingot_parallel(n * rows * columns < 2 * TRANSPOSE_BYTES ? 1 : threads, n * t.parts, transpose_rows, &t);
}
