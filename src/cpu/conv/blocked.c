#include <math.h>

#include "base/threads.h"
#include "cpu/conv/blocked_line.h"
#include "cpu/conv/blocked_way.h"
#include "cpu/conv/blocked_winograd.h"
#include "cpu/eltwise/vec_table.h"

/* Bytes that the weights of a chunk's first tile are fetched ahead: they come from memory. */
#define WEIGHTS_AHEAD 4096

typedef struct blocked_task {
    const ingot_blocked_conv *b;
    const ingot_blocked_way *way;
    const float *input, *packed;
    const ingot_epilogue *epilogue;
    float *output, *workspace;
    size_t first_product;                /* images and parts of them: of the first chunk */
    ingot_vec_unary_function activation; /* what the kernel does not do; NULL: nothing */
    ingot_vec_binary_function addition;  /* that follows it */
    float low, high;
} blocked_task;

/* What a chunk works on. */
typedef struct blocked_chunk {
    const blocked_task *task;
    const float *in;             /* the part's first block */
    const float *weights;        /* the part's */
    size_t first_output;         /* the part's, among all */
    float *out;                  /* the part's first block */
    const float *add;            /* likewise, or NULL */
    size_t first_row, end_row;   /* of outputs, or of the one row: */
    size_t first_tile, end_tile; /* tiles across */
    const float *seen; /* the image or its copy, of the first block: from the first row's window on, or the one row */
    ingot_blocked_tap *taps, *inside; /* all, and those of a tile that see the image */
    size_t tiles;                     /* about */
    size_t first_group, end_group;    /* of outputs */
    size_t next_group;                /* the one whose weights will be wanted after these */
    size_t first_block, blocks;       /* of the input: the part of K */
    const float *next_input; /* what the next strip copies and this one did not, of the first block; NULL: not known */
    size_t next_pixels;
} blocked_chunk;

/* Where the window's places lie in the copy. */
static void place_taps(const blocked_chunk *chunk)
{
    const ingot_blocked_way *way = chunk->task->way;
    const ingot_conv *c = chunk->task->b->conv;
    size_t band = ingot_blocked_band_rows(way, chunk->end_row - chunk->first_row);
    for (size_t i = 0; i < way->weights.taps; i++) {
        size_t y = i / c->kernel_width * (way->bands ? band : c->dilation_height),
               x = i % c->kernel_width * c->dilation_width;
        size_t pixel = 0;
        if (way->copies)
            pixel = y * way->row_size + x % c->stride_width * way->phase_size + x / c->stride_width;
        chunk->taps[i].in = (ptrdiff_t)(pixel * way->pixel_size);
    }
}

/* Whether places shift from pad on, for outputs first ... end - 1, are all outside of size pixels. */
static bool is_outside(size_t first, size_t end, size_t stride, size_t shift, size_t pad, size_t size)
{
    return (end - 1) * stride + shift < pad || first * stride + shift >= pad + size;
}

/* The taps that see the image from some outputs. */
static size_t find_inside(const blocked_chunk *chunk, size_t y, size_t rows, size_t x, size_t columns)
{
    const ingot_conv *c = chunk->task->b->conv;
    size_t count = 0;
    for (size_t ky = 0; ky < c->kernel_height; ky++) {
        if (is_outside(y, y + rows, c->stride_height, ky * c->dilation_height, c->pad_top, c->in_height))
            continue;
        for (size_t kx = 0; kx < c->kernel_width; kx++) {
            if (!is_outside(x, x + columns, c->stride_width, kx * c->dilation_width, c->pad_left, c->in_width))
                chunk->inside[count++] = chunk->taps[ky * c->kernel_width + kx];
        }
    }
    return count;
}

/* Whether all of some outputs' windows lie in the image. */
static bool sees_image_only(const ingot_conv *c, size_t y, size_t rows, size_t x, size_t columns)
{
    size_t bottom = (y + rows - 1) * c->stride_height + (c->kernel_height - 1) * c->dilation_height;
    size_t right = (x + columns - 1) * c->stride_width + (c->kernel_width - 1) * c->dilation_width;
    return y * c->stride_height >= c->pad_top && x * c->stride_width >= c->pad_left &&
           bottom < c->pad_top + c->in_height && right < c->pad_left + c->in_width;
}

/* A tile's pixels: from output (y, x) on, in rows rows; it is number index of its group, which may be the chunk's first. */
typedef struct blocked_piece {
    size_t y, rows, x, columns, index;
    bool first;
    float *out;         /* the group's first block */
    const float *add;   /* likewise, or NULL */
    const float *after; /* the weights that will be wanted after the group's */
} blocked_piece;

/* What an activation without a kernel, and what follows it, does to some floats. */
static void activate(const blocked_task *task, float *out, const float *add, size_t count)
{
    const ingot_epilogue *e = task->epilogue;
    task->activation(out, out, count, e->activation.a, e->activation.b);
    if (add)
        task->addition(out, add, out, count);
}

/* And to a tile: pixels that lie side by side go together. */
static void activate_tile(const blocked_task *task, const ingot_blocked_tile *t, const float *add, size_t half)
{
    size_t second = (size_t)(t->out[1] - t->out[0]);
    for (size_t i = 0; i < t->blocks * 2; i++) {
        size_t at = i / 2 * t->out_block + i % 2 * second, pixels = i % 2 == 0 ? half : t->columns - half;
        size_t together = t->out_pixel == INGOT_BLOCK ? pixels : 1;
        for (size_t pixel = 0; pixel < pixels; pixel += together, at += t->out_pixel)
            activate(task, t->out[0] + at, add ? add + at : NULL, together * INGOT_BLOCK);
    }
}

/* What a tile fetches: the first one of all its own weights, some way ahead; later ones the next group's, a part a tile, then what
 * will be added, and the output's place: stores wait for it. Those of the first group are the first ones to read the input, and
 * fetch that of the next tile, where it is not copied. */
static void look_ahead(const blocked_chunk *chunk, const blocked_piece *piece, ingot_blocked_tile *t)
{
    const ingot_blocked_way *way = chunk->task->way;
    size_t line = INGOT_BLOCK * sizeof(float), block = t->weight_block * sizeof(float);
    size_t part = piece->first ? piece->index - 1 : piece->index, next = piece->columns * way->out_pixel;
    size_t slow = chunk->tiles < 2 * t->blocks ? 1 : chunk->tiles < 5 * t->blocks ? 2 : 4;
    bool one_tap = way->weights.taps == 1, stored = false;
    t->weights_ahead = t->in_ahead = (const char *)t->weights;
    t->weights_ahead_block = t->in_ahead_block = 0;
    t->ahead_step = line;
    if (piece->first && piece->index == 0) {
        t->weights_ahead += WEIGHTS_AHEAD;
        t->ahead_step = t->blocks * line;
        t->weights_ahead_block = block;
    } else if (part < t->blocks * slow) {
        t->weights_ahead = (const char *)piece->after + part * (block / t->blocks / slow);
        t->weights_ahead_block = block;
        t->ahead_step = line / slow;
    } else if (one_tap) {
        stored = !t->add[0];
        t->weights_ahead = (const char *)((stored ? t->out[0] : t->add[0]) + next);
        t->weights_ahead_block = t->out_block * sizeof(float);
    }
    size_t reached = piece->index * way->weights.taps * INGOT_BLOCK; /* a pixel is a line here */
    if (piece->first && chunk->next_input && reached < chunk->next_pixels) {
        t->in_ahead = (const char *)(chunk->next_input + reached * INGOT_BLOCK);
        t->in_ahead_block = chunk->task->b->conv->in_height * chunk->task->b->conv->in_width * line;
    } else if (piece->first && !way->copies) {
        t->in_ahead = (const char *)(t->in[0] + piece->columns * way->pixel_size);
        t->in_ahead_block = t->in_block * sizeof(float);
    } else if (one_tap && !stored) {
        t->in_ahead = (const char *)(t->out[0] + next);
        t->in_ahead_block = t->out_block * sizeof(float);
    }
}

/* Sets what differs between a group's tiles in place: a copy of a tile costs as much as a small one's work. */
static void run_tile(const blocked_chunk *chunk, ingot_blocked_tile *t, const blocked_piece *piece)
{
    const blocked_task *task = chunk->task;
    const ingot_blocked_way *way = task->way;
    const ingot_conv *c = task->b->conv;
    size_t y = piece->y, rows = piece->rows, x = piece->x, columns = piece->columns;
    size_t half = rows == 2 ? columns : (columns + 1) / 2;
    size_t place = y * way->out_row + x * way->out_pixel;
    size_t second = rows == 2 ? way->out_row : half * way->out_pixel;
    bool adds_later = task->activation && t->add_last;
    t->columns = rows * columns;
    t->in[0] = chunk->seen + ((y - chunk->first_row) * way->stride * way->row_size + x) * way->pixel_size;
    t->in[1] = t->in[0] + (rows == 2 ? way->stride * way->row_size : half) * way->pixel_size;
    bool whole = !way->copies || sees_image_only(c, y, rows, x, columns);
    t->taps = whole ? chunk->taps : chunk->inside;
    t->tap_count = whole ? way->weights.taps : find_inside(chunk, y, rows, x, columns);
    t->out[0] = piece->out + place;
    t->out[1] = t->out[0] + second;
    t->add[0] = piece->add && !adds_later ? piece->add + place : NULL;
    t->add[1] = t->add[0] ? t->add[0] + second : NULL;
    look_ahead(chunk, piece, t);
    if (task->b->plain_input)
        way->kernel->plain_tile(t);
    else
        way->kernel->tile(t);
    if (task->activation && t->last)
        activate_tile(task, t, piece->add && adds_later ? piece->add + place : NULL, half);
}

/* All of the chunk's pixels for one group of outputs. */
static void run_group(const blocked_chunk *chunk, size_t group)
{
    const blocked_task *task = chunk->task;
    const ingot_blocked_way *way = task->way;
    const ingot_blocked_weights *w = &way->weights;
    const ingot_epilogue *e = task->epilogue;
    size_t first = ingot_blocked_group(&w->groups, group), end = ingot_blocked_group(&w->groups, group + 1);
    size_t width = (end - first) * INGOT_BLOCK, output = first * INGOT_BLOCK;
    bool ends = chunk->first_block + chunk->blocks == w->in_blocks;
    ingot_blocked_tile tile = {.blocks = end - first, .in_blocks = chunk->blocks, .low = task->low, .high = task->high};
    tile.in_block = way->in_block;
    tile.last_channels = ends ? w->last_channels : w->block_channels;
    tile.weights = chunk->weights + first * INGOT_BLOCK * w->channels * w->taps;
    tile.weights += chunk->first_block * w->block_size * width;
    tile.weight_block = w->block_size * width;
    tile.out_pixel = way->out_pixel;
    tile.out_block = way->out_block;
    tile.accumulate = chunk->first_block > 0;
    tile.last = ends;
    tile.outputs = w->outputs - output;
    tile.bias = e->row_bias ? e->row_bias + chunk->first_output + output : NULL;
    tile.add_last = e->add_last;
    for (size_t i = 0; i < w->taps; i++)
        chunk->taps[i].weights = i * width;
    size_t columns = way->kernel->most_columns[tile.blocks], count = 0;
    bool turns = ends && group + 1 == chunk->end_group;
    size_t next = ingot_blocked_group(&w->groups, chunk->next_group) * INGOT_BLOCK * w->channels * w->taps;
    for (size_t y = chunk->first_row; y < chunk->end_row; y += way->rows_at_once) {
        size_t rows = ingot_least(way->rows_at_once, chunk->end_row - y);
        size_t x0 = way->by_rows ? 0 : ingot_part_begin(way->columns, way->tiles, chunk->first_tile);
        size_t pixels =
            (way->by_rows ? way->columns : ingot_part_begin(way->columns, way->tiles, chunk->end_tile)) - x0;
        size_t tiles = ingot_ceil_div(pixels, columns / rows);
        size_t each = pixels / tiles, rest = pixels % tiles;
        blocked_piece piece = {.y = y, .rows = rows, .x = x0, .first = group == chunk->first_group};
        piece.after = turns ? chunk->weights + next : tile.weights + tile.in_blocks * tile.weight_block;
        piece.out = chunk->out + first * tile.out_block;
        piece.add = chunk->add ? chunk->add + first * tile.out_block : NULL;
        for (size_t i = 0; i < tiles; i++, piece.x += piece.columns) {
            piece.columns = i < rest ? each + 1 : each;
            piece.index = count++;
            run_tile(chunk, &tile, &piece);
        }
    }
}

/* A strip of a part of an image. */
static blocked_chunk find_chunk(const blocked_task *task, size_t product, size_t strip)
{
    const ingot_blocked_way *way = task->way;
    const ingot_blocked_weights *w = &way->weights;
    const ingot_conv *c = task->b->conv;
    size_t part = product % c->groups, image = product / c->groups;
    size_t in_block = c->in_height * c->in_width * way->pixel_size;
    size_t in_blocks = task->b->plain_input ? c->channels : ingot_ceil_div(c->channels, INGOT_BLOCK);
    size_t place = (image * ingot_ceil_div(c->outputs, INGOT_BLOCK) + part * w->groups.blocks) * way->out_block;
    place += way->out_first;
    blocked_chunk chunk = {.task = task, .first_output = part * w->outputs, .end_row = way->rows};
    chunk.in = task->input + (image * in_blocks + part * w->in_blocks) * in_block;
    chunk.weights = task->packed + part * ingot_blocked_part_size(w);
    chunk.out = task->output + place;
    chunk.add = task->epilogue->add ? task->epilogue->add + place : NULL;
    chunk.end_tile = way->tiles;
    size_t first = ingot_part_begin(way->units, way->strips, strip),
           end = ingot_part_begin(way->units, way->strips, strip + 1);
    if (way->by_rows) {
        chunk.first_row = first * way->rows_at_once;
        chunk.end_row = ingot_least(end * way->rows_at_once, way->rows);
    } else {
        chunk.first_tile = first;
        chunk.end_tile = end;
    }
    chunk.tiles = (chunk.end_row - chunk.first_row) / way->rows_at_once * (chunk.end_tile - chunk.first_tile);
    return chunk;
}

/* Finds what the strip after this one will copy. */
static void find_next_input(blocked_chunk *chunk, size_t strip)
{
    const ingot_blocked_way *way = chunk->task->way;
    const ingot_conv *c = chunk->task->b->conv;
    if (!way->copies || way->bands || way->k_parts > 1 || way->group_chunks > 1 || strip + 1 >= way->strips)
        return;
    size_t first = (chunk->end_row - 1) * c->stride_height + (c->kernel_height - 1) * c->dilation_height + 1;
    size_t row = first > c->pad_top ? first - c->pad_top : 0;
    size_t rows = (chunk->end_row - chunk->first_row) * c->stride_height;
    if (row >= c->in_height)
        return;
    chunk->next_input = chunk->in + row * c->in_width * INGOT_BLOCK;
    chunk->next_pixels = ingot_least(rows, c->in_height - row) * c->in_width;
}

/* One block of the copy that all chunks share. */
static void copy_block(void *argument, size_t block, int participant)
{
    const blocked_task *task = argument;
    const ingot_conv *c = task->b->conv;
    const blocked_chunk chunk = find_chunk(task, task->first_product, 0);
    ingot_blocked_copy(task->way, c, chunk.in + block * c->in_height * c->in_width * task->way->pixel_size, 1,
                       chunk.first_row, chunk.end_row, task->workspace + block * task->way->in_block);
}

/* What the chunk sees of its blocks: the image, the shared copy, or one that is made in copy. */
static const float *find_seen(const blocked_chunk *chunk, float *copy)
{
    const ingot_blocked_way *way = chunk->task->way;
    const ingot_conv *c = chunk->task->b->conv;
    const size_t image = c->in_height * c->in_width * way->pixel_size;
    if (!way->copies)
        return chunk->in + chunk->first_block * way->in_block + chunk->first_row * way->row_size * way->pixel_size;
    if (way->shared > 0)
        return chunk->task->workspace + chunk->first_block * way->in_block;
    ingot_blocked_copy(way, c, chunk->in + chunk->first_block * image, chunk->blocks, chunk->first_row, chunk->end_row,
                       copy);
    return copy;
}

static void run_chunk(void *argument, size_t index, int participant)
{
    const blocked_task *task = argument;
    const ingot_blocked_way *way = task->way;
    const ingot_blocked_weights *w = &way->weights;
    size_t groups = way->weights_first ? index / way->strips % way->group_chunks : index % way->group_chunks;
    size_t strip = way->weights_first ? index % way->strips : index / way->group_chunks % way->strips;
    size_t product = task->first_product + index / way->group_chunks / way->strips;
    float *scratch = task->workspace + way->shared + (size_t)participant * way->scratch;
    blocked_chunk chunk = find_chunk(task, product, strip);
    chunk.taps = (ingot_blocked_tap *)(void *)scratch;
    chunk.inside = (ingot_blocked_tap *)(void *)(scratch + way->tap_size);
    place_taps(&chunk);
    if (!task->b->plain_input && !ingot_takes_from_back(participant))
        find_next_input(&chunk, strip);
    chunk.first_group = ingot_part_begin(w->groups.count, way->group_chunks, groups);
    chunk.end_group = ingot_part_begin(w->groups.count, way->group_chunks, groups + 1);
    chunk.next_group = chunk.end_group;
    if (groups > 0 && ingot_takes_from_back(participant))
        chunk.next_group = ingot_part_begin(w->groups.count, way->group_chunks, groups - 1);
    for (size_t k = 0; k < way->k_parts; k++) {
        chunk.first_block = ingot_part_begin(w->in_blocks, way->k_parts, k);
        chunk.blocks = ingot_part_begin(w->in_blocks, way->k_parts, k + 1) - chunk.first_block;
        chunk.seen = find_seen(&chunk, scratch + 2 * way->tap_size);
        for (size_t group = chunk.first_group; group < chunk.end_group; group++)
            run_group(&chunk, group);
    }
}

void ingot_blocked_f32(const ingot_blocked_conv *b, const float *input, const float *packed,
                       const ingot_epilogue *epilogue, float *output, void *workspace, int threads)
{
    const ingot_conv *c = b->conv;
    if (c->batch * c->outputs * c->out_height * c->out_width == 0)
        return;
    if (ingot_blocked_is_winograd(b)) {
        ingot_blocked_winograd_f32(c, input, packed, epilogue, output, workspace, threads);
        return;
    }
    if (ingot_blocked_is_line(b)) {
        ingot_blocked_line_f32(c, input, packed, epilogue, output, workspace, threads);
        return;
    }
    ingot_blocked_way way = ingot_blocked_find_way(b, threads);
    blocked_task task = {.b = b, .way = &way, .input = input, .packed = packed, .epilogue = epilogue};
    task.output = output;
    task.workspace = workspace;
    ingot_unary_kind kind = epilogue->activation.kind;
    if (kind != INGOT_UNARY_IDENTITY && kind != INGOT_UNARY_RELU && kind != INGOT_UNARY_CLIP)
        task.activation = ingot_vec_table_best()->unary[kind];
    task.addition = ingot_vec_table_best()->binary[INGOT_BINARY_ADD][INGOT_VEC_BOTH];
    task.low = kind == INGOT_UNARY_RELU ? 0.0f : kind == INGOT_UNARY_CLIP ? epilogue->activation.a : -INFINITY;
    task.high = kind == INGOT_UNARY_CLIP ? epilogue->activation.b : INFINITY;
    size_t products = c->batch * c->groups;
    if (way.shared == 0)
        ingot_parallel(threads, products * way.strips * way.group_chunks, run_chunk, &task);
    for (; way.shared > 0 && task.first_product < products; task.first_product++) {
        ingot_parallel(threads, way.weights.in_blocks, copy_block, &task);
        ingot_parallel(threads, way.group_chunks, run_chunk, &task);
    }
}
