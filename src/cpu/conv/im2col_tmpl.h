/* Template: packing of a convolution's input. The pixels of a vector lie in one or more output rows; a row's part of them, a
 * run, is one load from the input under a mask that leaves out the padding and the other runs. */
#include "cpu/conv/conv_table.h"
#include "cpu/simd/simd.h"

#define KNOWN_COLUMNS 16

/* Lanes first ... end - 1 of a vector are output pixels (y, x), (y, x + 1), ... */
typedef struct run {
    size_t first, end, y, x;
} run;

/* What a run loads under one tap: from[lane * stride] in the mask's lanes. With stride 2, low and high are the masks of the two
 * vectors that hold the elements. */
typedef struct source {
    ptrdiff_t offset; /* of lane 0 from the plane's begin */
    mask low, high;
    size_t first, end;
} source;

static size_t find_runs(const ingot_conv *c, size_t pixel, size_t lanes, run *runs)
{
    size_t count = 0, y = pixel / c->out_width, x = pixel % c->out_width;
    for (size_t lane = 0; lane < lanes; y++, x = 0) {
        size_t length = c->out_width - x < lanes - lane ? c->out_width - x : lanes - lane;
        runs[count++] = (run){lane, lane + length, y, x};
        lane += length;
    }
    return count;
}

static size_t clamp_lane(size_t lane)
{
    return lane < LANES ? lane : LANES;
}

/* What a run sees under the taps of column kx; the offset is without the row. Where first is not below end: padding only. */
static source find_column(const ingot_conv *c, const run *r, size_t kx)
{
    size_t stride = c->stride_width, first = r->first, end = r->end;
    ptrdiff_t width = (ptrdiff_t)c->in_width;
    ptrdiff_t x = (ptrdiff_t)(r->x * stride + kx * c->dilation_width) - (ptrdiff_t)c->pad_left; /* of lane first */
    if (x < 0)
        first += ((size_t)-x + stride - 1) / stride;
    if (x + (ptrdiff_t)((end - r->first - 1) * stride) >= width)
        end = x >= width ? first : r->first + (size_t)(width - 1 - x) / stride + 1;
    source s = {.offset = x - (ptrdiff_t)(r->first * stride), .first = first, .end = end};
    if (first < end && stride == 1) {
        s.low = m_range(first, end);
    } else if (first < end && stride == 2) {
        size_t begin = 2 * first, stop = 2 * end - 1;
        s.low = m_range(clamp_lane(begin), clamp_lane(stop));
        s.high = m_range(begin > LANES ? begin - LANES : 0, stop > LANES ? stop - LANES : 0);
    }
    return s;
}

/* The sources of a vector under a tap of row ky, from its runs' columns; runs that see padding only are left out. */
static inline size_t find_sources(const ingot_conv *c, const run *runs, size_t run_count, size_t ky,
                                  const source *columns, source *sources)
{
    size_t count = 0;
    ptrdiff_t dy = (ptrdiff_t)(ky * c->dilation_height) - (ptrdiff_t)c->pad_top;
    for (size_t r = 0; r < run_count; r++) {
        ptrdiff_t y = (ptrdiff_t)(runs[r].y * c->stride_height) + dy;
        if (y < 0 || y >= (ptrdiff_t)c->in_height || columns[r].first >= columns[r].end)
            continue;
        sources[count] = columns[r];
        sources[count++].offset += y * (ptrdiff_t)c->in_width;
    }
    return count;
}

static inline __attribute__((always_inline)) void copy_stride_1(const float *from, size_t plane, size_t channels,
                                                                const source *sources, size_t count, float *to,
                                                                size_t width)
{
    for (size_t channel = 0; channel < channels; channel++, from += plane, to += width) {
        vec x = v_zero();
        for (size_t i = 0; i < count; i++)
            x = v_load_mask(x, sources[i].low, from + sources[i].offset);
        v_store(to, x);
    }
}

static inline __attribute__((always_inline)) void copy_stride_2(const float *from, size_t plane, size_t channels,
                                                                const source *sources, size_t count, float *to,
                                                                size_t width)
{
    for (size_t channel = 0; channel < channels; channel++, from += plane, to += width) {
        vec low = v_zero(), high = v_zero();
        for (size_t i = 0; i < count; i++) {
            low = v_load_mask(low, sources[i].low, from + sources[i].offset);
            high = v_load_mask(high, sources[i].high, from + sources[i].offset + LANES);
        }
        v_store(to, v_even(low, high));
    }
}

static void copy_any_stride(const float *from, size_t plane, size_t channels, const source *sources, size_t count,
                            size_t stride, float *to, size_t width)
{
    for (size_t channel = 0; channel < channels; channel++, from += plane, to += width) {
        v_store(to, v_zero());
        for (const source *s = sources; s < sources + count; s++) {
            for (size_t lane = s->first; lane < s->end; lane++)
                to[lane] = from[s->offset + (ptrdiff_t)(lane * stride)];
        }
    }
}

/* One vector of pixels under one tap, for channels planes from from on. The usual numbers of sources are constants of their
 * loops. */
static inline void copy_tap(const ingot_conv *c, const float *from, size_t channels, const source *sources,
                            size_t count, float *to, size_t width)
{
    size_t plane = c->in_height * c->in_width;
    if (c->stride_width == 1) {
        if (count == 1)
            copy_stride_1(from, plane, channels, sources, 1, to, width);
        else if (LANES > 1 && count == 2)
            copy_stride_1(from, plane, channels, sources, 2, to, width);
        else if (LANES > 2 && count == 3)
            copy_stride_1(from, plane, channels, sources, 3, to, width);
        else
            copy_stride_1(from, plane, channels, sources, count, to, width);
    } else if (c->stride_width == 2) {
        if (count == 1)
            copy_stride_2(from, plane, channels, sources, 1, to, width);
        else if (LANES > 1 && count == 2)
            copy_stride_2(from, plane, channels, sources, 2, to, width);
        else
            copy_stride_2(from, plane, channels, sources, count, to, width);
    } else {
        copy_any_stride(from, plane, channels, sources, count, c->stride_width, to, width);
    }
}

/* One vector of pixels. The runs' columns are found once where they are few: with few channels that is much of the work. */
static void fill_vector(const ingot_im2col *task, size_t k, size_t steps, size_t pixel, size_t lanes, float *to)
{
    const ingot_conv *c = task->conv;
    run runs[LANES];
    source known[KNOWN_COLUMNS], found[LANES], sources[LANES];
    size_t run_count = find_runs(c, pixel, lanes, runs), tap = k / task->channels, channel = k % task->channels;
    size_t plane = c->in_height * c->in_width, ky = tap / c->kernel_width, kx = tap % c->kernel_width;
    bool few = run_count * c->kernel_width <= KNOWN_COLUMNS && steps > task->channels;
    for (size_t i = 0; few && i < run_count * c->kernel_width; i++)
        known[i] = find_column(c, &runs[i % run_count], i / run_count);
    while (steps > 0) {
        size_t channels = task->channels - channel < steps ? task->channels - channel : steps;
        for (size_t r = 0; !few && r < run_count; r++)
            found[r] = find_column(c, &runs[r], kx);
        size_t count = find_sources(c, runs, run_count, ky, few ? known + kx * run_count : found, sources);
        copy_tap(c, task->input + channel * plane, channels, sources, count, to, task->width);
        to += channels * task->width;
        steps -= channels;
        channel = 0;
        if (++kx == c->kernel_width) {
            kx = 0;
            ky++;
        }
    }
}

/* One panel. */
static void fill_panel(const ingot_im2col *task, size_t k, size_t steps, size_t column, size_t columns, float *to)
{
    for (size_t lane = 0; lane < task->width; lane += LANES) {
        size_t lanes = columns > lane ? columns - lane : 0;
        fill_vector(task, k, steps, column + lane, lanes < LANES ? lanes : LANES, to + lane);
    }
}

static void im2col(const void *context, size_t k, size_t steps, size_t column, size_t columns, float *to)
{
    const ingot_im2col *task = context;
    for (size_t first = 0; first < columns; first += task->width) {
        size_t count = columns - first < task->width ? columns - first : task->width;
        fill_panel(task, k, steps, column + first, count, to + first * steps);
    }
}
