#include "cpu/conv/strips.h"

#include <math.h>
#include <string.h>

#include "base/float_mode.h"
#include "base/memory.h"
#include "base/threads.h"
#include "cpu/c16/c16_table.h"
#include "cpu/conv/blocked_depthwise.h"
#include "cpu/conv/blocked_way.h"
#include "cpu/conv/conv_table.h"
#include "cpu/eltwise/vec.h"

/* Bytes between the links that a strip takes, about: with the weights they stay in the L2 cache. */
#define STRIP_BYTES (384u << 10)
/* Chunks of an image, at most: each one that begins anew does some rows again. */
#define MOST_CHUNKS 16
/* Rows of a strip, at least, that is made narrower so that there is one for each thread. */
#define LEAST_ROWS 3

/* What a participant keeps between strips. */
typedef struct strips_state {
    size_t next;                                              /* chunk that goes on where it stopped */
    ptrdiff_t first[INGOT_MOST_LINKS], end[INGOT_MOST_LINKS]; /* rows that lie in the link's buffer */
} strips_state;

typedef struct strips_task {
    const ingot_link *links;
    size_t count;
    size_t rows, strips, chunks;    /* output rows of a strip; strips and chunks of an image */
    size_t kept[INGOT_MOST_LINKS];  /* rows that a link's buffer holds */
    size_t place[INGOT_MOST_LINKS]; /* of it, in floats */
    size_t scratch;                 /* floats of a participant */
    const float *input;
    float *output, *workspace;
    const ingot_blocked_kernel *kernel;
} strips_task;

/* ---- Sizes ---- */

/* The input's rows that output rows first ... end - 1 see. */
static void find_seen(const ingot_link *link, ptrdiff_t first, ptrdiff_t end, ptrdiff_t *seen_first,
                      ptrdiff_t *seen_end)
{
    const ingot_conv *c = &link->conv;
    *seen_first = first;
    *seen_end = end;
    if (link->kind != INGOT_LINK_DEPTHWISE)
        return;
    const ptrdiff_t stride = (ptrdiff_t)c->stride_height, pad = (ptrdiff_t)c->pad_top, height = (ptrdiff_t)c->in_height;
    const ptrdiff_t low = first * stride - pad;
    const ptrdiff_t high = (end - 1) * stride - pad + (ptrdiff_t)((c->kernel_height - 1) * c->dilation_height) + 1;
    *seen_first = low < 0 ? 0 : low < height ? low : height;
    *seen_end = high < *seen_first ? *seen_first : high < height ? high : height;
}

static size_t row_size(const ingot_link *link)
{
    return link->conv.out_width * INGOT_BLOCK;
}

/* Floats of the buffers for strips of so many rows. */
static size_t place_buffers(strips_task *t, size_t rows)
{
    size_t all = 0;
    for (size_t i = t->count - 1; i > 0; i--) {
        const ingot_conv *c = &t->links[i].conv;
        if (t->links[i].kind == INGOT_LINK_DEPTHWISE)
            rows = (rows - 1) * c->stride_height + (c->kernel_height - 1) * c->dilation_height + 1;
        rows = ingot_least(rows, c->in_height);
        t->kept[i - 1] = rows;
        t->place[i - 1] = all;
        all += ingot_block_count(c->channels) * rows * row_size(&t->links[i - 1]);
    }
    return all;
}

static size_t state_size(void)
{
    return (sizeof(strips_state) + INGOT_ALIGNMENT - 1) / INGOT_ALIGNMENT * INGOT_ALIGNMENT / sizeof(float);
}

/* Strips of an image of so many rows for several threads: an even number, as from both ends they meet in the middle. */
static size_t share_strips(size_t strips, size_t height, size_t threads)
{
    strips = ingot_most(strips, ingot_least(threads, height / LEAST_ROWS));
    return ingot_least(strips + strips % 2, height);
}

static strips_task find_task(const ingot_link *links, size_t count, int threads)
{
    strips_task t = {.links = links, .count = count, .rows = 1};
    const size_t height = links[count - 1].conv.out_height;
    while (t.rows < height && place_buffers(&t, t.rows + 1) * sizeof(float) <= STRIP_BYTES)
        t.rows++;
    t.strips = ingot_ceil_div(height, t.rows);
    if (threads > 1)
        t.strips = share_strips(t.strips, height, (size_t)threads);
    t.rows = ingot_ceil_div(height, t.strips);
    t.chunks = threads > 1 ? ingot_least(t.strips, MOST_CHUNKS) : 1;
    t.scratch = state_size() + place_buffers(&t, t.rows);
    t.kernel = &ingot_conv_table_at(ingot_level_best())->blocked;
    return t;
}

size_t ingot_strips_workspace(const ingot_link *links, size_t count, int threads)
{
    if (links[count - 1].conv.out_height * links[count - 1].conv.out_width == 0)
        return 0;
    const size_t one = find_task(links, count, 1).scratch, more = find_task(links, count, threads).scratch;
    return ingot_most(one, more * (size_t)(threads > 1 ? threads : 1)) * sizeof(float);
}

/* ---- Links ---- */

/* Rows first ... end - 1 of a link's output. from and to are where row 0 of block 0 lies, or would lie: a buffer holds some rows. */
typedef struct link_rows {
    const ingot_link *link;
    size_t image, first, end;
    const float *from;
    float *to;
    size_t from_block, to_block; /* floats from one to the next */
    const float *add;            /* laid out as to, or NULL */
    bool is_last;                /* its output leaves the cache */
} link_rows;

/* What an activation without a kernel, and what follows it, does to a tile. */
static void finish_tile(const ingot_epilogue *e, const ingot_blocked_tile *t, const float *add)
{
    const size_t count = t->columns * INGOT_BLOCK;
    for (size_t block = 0; block < t->blocks; block++) {
        float *out = t->out[0] + block * t->out_block;
        ingot_vec_unary(&e->activation, out, out, count);
        if (add && e->add_last)
            ingot_vec_binary(INGOT_BINARY_ADD, out, add + block * t->out_block, out, count);
    }
}

/* Where a tile's output, and what is added to it, is in no cache, the next one's place is fetched on the way; else the next
 * group's weights are. */
static void look_ahead(const link_rows *r, ingot_blocked_tile *t)
{
    const size_t line = INGOT_BLOCK * sizeof(float), next = t->columns * INGOT_BLOCK;
    t->ahead_step = line;
    t->weights_ahead = (const char *)(t->weights + t->in_blocks * t->weight_block);
    t->weights_ahead_block = t->weight_block * sizeof(float);
    t->in_ahead = t->weights_ahead;
    t->in_ahead_block = t->weights_ahead_block;
    if (!r->is_last)
        return;
    t->in_ahead = (const char *)(t->out[0] + next);
    t->in_ahead_block = t->out_block * sizeof(float);
    if (t->add[0])
        t->weights_ahead = (const char *)(t->add[0] + next);
    t->weights_ahead_block = t->in_ahead_block;
}

static void run_group(const link_rows *r, const ingot_blocked_kernel *kernel, ingot_blocked_tile *t, bool limits)
{
    const ingot_epilogue *e = &r->link->epilogue;
    const size_t pixels = (r->end - r->first) * r->link->conv.out_width, start = r->first * row_size(r->link);
    const size_t tiles = ingot_ceil_div(pixels, kernel->most_columns[t->blocks]);
    const float *in = t->in[0], *add = t->add[0];
    float *out = t->out[0];
    for (size_t i = 0; i < tiles; i++) {
        const size_t pixel = ingot_part_begin(pixels, tiles, i), at = start + pixel * INGOT_BLOCK;
        t->columns = ingot_part_begin(pixels, tiles, i + 1) - pixel;
        const size_t half = (t->columns + 1) / 2 * INGOT_BLOCK;
        t->in[0] = in + at;
        t->out[0] = out + at;
        t->add[0] = add ? add + at : NULL;
        look_ahead(r, t);
        if (!limits && e->add_last)
            t->add[0] = NULL;
        t->in[1] = t->in[0] + half;
        t->out[1] = t->out[0] + half;
        t->add[1] = t->add[0] ? t->add[0] + half : NULL;
        kernel->tile(t);
        if (!limits)
            finish_tile(e, t, add ? add + at : NULL);
    }
}

static void run_pointwise(const link_rows *r, const ingot_blocked_kernel *kernel)
{
    static const ingot_blocked_tap tap = {0, 0};
    const ingot_conv *c = &r->link->conv;
    const ingot_epilogue *e = &r->link->epilogue;
    const ingot_unary_kind kind = e->activation.kind;
    const bool relu = kind == INGOT_UNARY_RELU, clip = kind == INGOT_UNARY_CLIP;
    const ingot_blocked_groups groups = ingot_blocked_find_groups(c->outputs, kernel->most_blocks);
    for (size_t group = 0; group < groups.count; group++) {
        const size_t first = ingot_blocked_group(&groups, group), end = ingot_blocked_group(&groups, group + 1);
        ingot_blocked_tile t = {.blocks = end - first, .taps = &tap, .tap_count = 1, .last = true};
        t.in[0] = r->from;
        t.in_block = r->from_block;
        t.in_blocks = ingot_block_count(c->channels);
        t.last_channels = c->channels - (t.in_blocks - 1) * INGOT_BLOCK;
        t.weights = r->link->weights + first * INGOT_BLOCK * c->channels;
        t.weight_block = t.blocks * INGOT_BLOCK * INGOT_BLOCK;
        t.out[0] = r->to + first * r->to_block;
        t.out_pixel = INGOT_BLOCK;
        t.out_block = r->to_block;
        t.outputs = c->outputs - first * INGOT_BLOCK;
        t.bias = e->row_bias ? e->row_bias + first * INGOT_BLOCK : NULL;
        t.add[0] = r->add ? r->add + first * r->to_block : NULL;
        t.add_last = e->add_last;
        t.low = relu ? 0.0f : clip ? e->activation.a : -INFINITY;
        t.high = clip ? e->activation.b : INFINITY;
        run_group(r, kernel, &t, kind == INGOT_UNARY_IDENTITY || relu || clip);
    }
}

static void run_depthwise(const link_rows *r)
{
    ingot_depthwise_rows rows = {.conv = &r->link->conv, .epilogue = &r->link->epilogue, .packed = r->link->weights};
    rows.first = r->first;
    rows.end = r->end;
    for (; rows.block < ingot_block_count(r->link->conv.channels); rows.block++) {
        const size_t place = rows.block * r->to_block + r->first * row_size(r->link);
        rows.input = r->from + rows.block * r->from_block;
        rows.output = r->to + place;
        rows.add = r->add ? r->add + place : NULL;
        ingot_blocked_depthwise_rows_f32(&rows);
    }
}

static void run_scale(const link_rows *r)
{
    const ingot_conv *c = &r->link->conv;
    const ingot_channel_function multiply = ingot_c16_table_best()->channel[INGOT_CHANNEL_MUL];
    const float *numbers = r->link->weights + r->image * r->link->weights_batch;
    const unsigned mode = ingot_float_mode();
    ingot_float_mode_set(INGOT_FLOAT_IEEE);
    for (size_t block = 0; block < ingot_block_count(c->channels); block++) {
        const size_t first = block * INGOT_BLOCK, place = r->first * row_size(r->link);
        multiply(r->from + block * r->from_block + place, numbers + first, NULL,
                 ingot_least(c->channels - first, INGOT_BLOCK), r->to + block * r->to_block + place,
                 (r->end - r->first) * c->out_width);
    }
    ingot_float_mode_set(mode);
}

/* ---- Strips ---- */

/* Rows from first on move to the begin of the buffer, those before are done with. */
static void move_rows(const strips_task *t, size_t link, strips_state *s, float *buffers, ptrdiff_t first)
{
    const size_t row = row_size(&t->links[link]), block_size = t->kept[link] * row;
    if (s->end[link] <= first) {
        s->first[link] = s->end[link] = first;
        return;
    }
    const size_t skipped = (size_t)(first - s->first[link]), count = (size_t)(s->end[link] - first);
    float *to = buffers + t->place[link];
    for (size_t b = 0; skipped > 0 && b < ingot_block_count(t->links[link].conv.outputs); b++, to += block_size)
        memmove(to, to + skipped * row, count * row * sizeof *to);
    s->first[link] = first;
}

static void run_link(const strips_task *t, const link_rows *rows)
{
    if (rows->first >= rows->end)
        return;
    if (rows->link->kind == INGOT_LINK_POINTWISE)
        run_pointwise(rows, t->kernel);
    else if (rows->link->kind == INGOT_LINK_DEPTHWISE)
        run_depthwise(rows);
    else
        run_scale(rows);
}

/* Rows first ... end - 1 of the last link's output. */
static void run_strip(const strips_task *t, strips_state *s, float *buffers, size_t image, size_t first, size_t end)
{
    const size_t last = t->count - 1;
    const ingot_conv *in = &t->links[0].conv, *out = &t->links[last].conv;
    ptrdiff_t needed_first[INGOT_MOST_LINKS], needed_end[INGOT_MOST_LINKS];
    needed_first[last] = (ptrdiff_t)first;
    needed_end[last] = (ptrdiff_t)end;
    for (size_t i = last; i > 0; i--)
        find_seen(&t->links[i], needed_first[i], needed_end[i], &needed_first[i - 1], &needed_end[i - 1]);
    link_rows rows = {.image = image, .from_block = in->in_height * in->in_width * INGOT_BLOCK};
    rows.from = t->input + image * ingot_block_count(in->channels) * rows.from_block;
    for (size_t i = 0; i < last; i++) {
        move_rows(t, i, s, buffers, needed_first[i]);
        rows.link = &t->links[i];
        rows.first = (size_t)s->end[i];
        rows.end = (size_t)needed_end[i];
        rows.to = buffers + t->place[i] - s->first[i] * (ptrdiff_t)row_size(rows.link);
        rows.to_block = t->kept[i] * row_size(rows.link);
        run_link(t, &rows);
        s->end[i] = needed_end[i];
        rows.from = rows.to;
        rows.from_block = rows.to_block;
    }
    rows.link = &t->links[last];
    rows.first = first;
    rows.end = end;
    rows.to_block = out->out_height * row_size(rows.link);
    const size_t place = image * ingot_block_count(out->outputs) * rows.to_block;
    rows.to = t->output + place;
    rows.add = rows.link->epilogue.add ? rows.link->epilogue.add + place : NULL;
    rows.is_last = true;
    run_link(t, &rows);
}

static strips_state *state_of(const strips_task *t, int participant)
{
    return (strips_state *)(void *)(t->workspace + (size_t)participant * t->scratch);
}

/* Who has just done the chunk before has the rows that both see. */
static void run_chunk(void *argument, size_t chunk, int participant)
{
    const strips_task *t = argument;
    strips_state *s = state_of(t, participant);
    float *buffers = (float *)(void *)s + state_size();
    const size_t height = t->links[t->count - 1].conv.out_height, half = t->chunks - t->chunks / 2;
    const size_t image = chunk / t->chunks, index = chunk % t->chunks;
    /* Threads come from both ends: from the end on, the second half goes on from the middle, too. */
    const size_t part = index < half ? index : half + t->chunks - 1 - index;
    if (part == 0 || s->next != image * t->chunks + part)
        memset(s, 0, sizeof *s);
    for (size_t i = ingot_part_begin(t->strips, t->chunks, part); i < ingot_part_begin(t->strips, t->chunks, part + 1);
         i++)
        run_strip(t, s, buffers, image, ingot_part_begin(height, t->strips, i),
                  ingot_part_begin(height, t->strips, i + 1));
    s->next = image * t->chunks + part + 1;
}

void ingot_strips_f32(const ingot_link *links, size_t count, const float *input, float *output, void *workspace,
                      int threads)
{
    const ingot_conv *last = &links[count - 1].conv;
    if (last->batch * last->outputs * last->out_height * last->out_width == 0)
        return;
    strips_task t = find_task(links, count, threads);
    t.input = input;
    t.output = output;
    t.workspace = workspace;
    for (int i = 0; i < (threads > 1 ? threads : 1); i++)
        state_of(&t, i)->next = 0;
    ingot_parallel(threads, last->batch * t.chunks, run_chunk, &t);
}
