/* The copy of an image's rows that a blocked convolution sees. */
#include <string.h>

#include "cpu/conv/blocked_way.h"

/* A row of one block or plane, from the image into the copy. */
static void copy_row(const ingot_blocked_way *way, const ingot_conv *c, const float *from, float *to)
{
    size_t pixel = way->pixel_size, stride = c->stride_width;
    for (size_t phase = 0; phase < way->phases; phase++, to += way->phase_size * pixel) {
        /* The first pixel of this phase in the image, and how many there are. */
        size_t skipped = c->pad_left > phase ? ingot_ceil_div(c->pad_left - phase, stride) : 0;
        size_t column = phase + skipped * stride - c->pad_left;
        size_t count = column < c->in_width ? ingot_ceil_div(c->in_width - column, stride) : 0;
        skipped = ingot_least(skipped, way->phase_size);
        count = ingot_least(count, way->phase_size - skipped);
        if (count == 0) {
            memset(to, 0, way->phase_size * pixel * sizeof *to);
            continue;
        }
        memset(to, 0, skipped * pixel * sizeof *to);
        float *inside = to + skipped * pixel;
        if (stride == 1)
            memcpy(inside, from + column * pixel, count * pixel * sizeof *to);
        else if (pixel == 1)
            way->kernel->phase(from + column, stride, count, inside);
        else
            for (size_t i = 0; i < count; i++)
                memcpy(inside + i * INGOT_BLOCK, from + (column + i * stride) * INGOT_BLOCK, INGOT_BLOCK * sizeof *to);
        memset(inside + count * pixel, 0, (way->phase_size - skipped - count) * pixel * sizeof *to);
    }
}

void ingot_blocked_copy(const ingot_blocked_way *way, const ingot_conv *c, const float *image, size_t blocks,
                        size_t first, size_t end, float *copy)
{
    const size_t rows = ingot_blocked_rows_seen(way, c, end - first), row_size = way->row_size * way->pixel_size;
    const size_t band = ingot_blocked_band_rows(way, end - first);
    for (size_t block = 0; block < blocks; block++, copy += way->in_block) {
        const float *from = image + block * c->in_height * c->in_width * way->pixel_size;
        float *to = copy;
        for (size_t i = 0; i < rows; i++, to += row_size) {
            size_t y = first * c->stride_height + i * way->row_step - c->pad_top; /* wraps above the image */
            if (way->bands)
                y = first * c->stride_height + i / band * c->dilation_height + i % band - c->pad_top;
            if (y < c->in_height)
                copy_row(way, c, from + y * c->in_width * way->pixel_size, to);
            else
                memset(to, 0, row_size * sizeof *to);
        }
    }
}
