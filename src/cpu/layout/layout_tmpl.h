/* Template: transposes in registers, and rows of a linear resize. */
#include "cpu/layout/layout_table.h"
#include "cpu/simd/simd.h"

/* At most LANES rows and columns. */
static inline void transpose_square(const float *x, ptrdiff_t x_stride, float *y, ptrdiff_t y_stride, size_t rows,
                                    size_t columns)
{
    const size_t height = rows < LANES ? rows : LANES, width = columns < LANES ? columns : LANES;
    vec square[LANES];
    for (size_t i = 0; i < LANES; i++)
        square[i] = i < width ? v_load_part(x + (ptrdiff_t)i * x_stride, height) : v_zero();
    v_transpose(square);
    for (size_t i = 0; i < height; i++)
        v_store_part(y + (ptrdiff_t)i * y_stride, square[i], width);
}

/* Rows of y are written one after the other: lines of memory that are left half written cost more than such that are read twice. */
static void transpose_4(const float *x, ptrdiff_t x_stride, float *y, ptrdiff_t y_stride, size_t rows, size_t columns)
{
    const bool by_rows = columns > LANES;
    const size_t outer = by_rows ? rows : columns, inner = by_rows ? columns : rows;
    for (size_t i = 0; i < outer; i += LANES) {
        for (size_t j = 0; j < inner; j += LANES) {
            const size_t row = by_rows ? i : j, column = by_rows ? j : i;
            transpose_square(x + (ptrdiff_t)column * x_stride + (ptrdiff_t)row, x_stride,
                             y + (ptrdiff_t)row * y_stride + (ptrdiff_t)column, y_stride, rows - row, columns - column);
        }
    }
}

/* Elements of a row of the input up to which rows are put together before their elements are gathered. */
#define MOST_JOINED 2048

static void resize_row(const float *top, const float *bottom, float down, const ingot_resize_axis *width, float *y)
{
    const vec one = v_set(1.0f), vertical = v_set(down), up = v_sub(one, vertical);
    const size_t count = width->out;
    const bool joins = width->in <= MOST_JOINED && width->in <= 2 * count;
    float joined[MOST_JOINED];
    for (size_t i = 0; joins && i < width->in; i += LANES) {
        const size_t part = width->in - i < LANES ? width->in - i : LANES;
        const vec upper = v_mul(up, v_load_part(top + i, part));
        v_store_part(joined + i, v_fma(vertical, v_load_part(bottom + i, part), upper), part);
    }
    for (size_t i = 0; i < count; i += LANES) {
        const size_t part = count - i < LANES ? count - i : LANES;
        const uint32_t *low = width->low + i, *high = width->high + i;
        const vec weight = v_load_part(width->weight + i, part);
        vec a = v_gather(joins ? joined : top, low, part), b = v_gather(joins ? joined : top, high, part);
        if (!joins) {
            a = v_fma(vertical, v_gather(bottom, low, part), v_mul(up, a));
            b = v_fma(vertical, v_gather(bottom, high, part), v_mul(up, b));
        }
        v_store_part(y + i, v_fma(weight, b, v_mul(v_sub(one, weight), a)), part);
    }
}

/* LANES pixels of LANES channels at a time. */
static void block(const float *x, size_t stride, size_t channels, float *y, size_t count)
{
    for (size_t i = 0; i < count; i += LANES) {
        size_t pixels = count - i < LANES ? count - i : LANES;
        for (size_t c = 0; c < INGOT_BLOCK; c += LANES) {
            vec square[LANES];
            for (size_t l = 0; l < LANES; l++)
                square[l] = c + l >= channels ? v_zero()
                            : pixels == LANES ? v_load(x + (c + l) * stride + i)
                                              : v_load_part(x + (c + l) * stride + i, pixels);
            v_transpose(square);
            for (size_t l = 0; l < pixels; l++)
                v_store(y + (i + l) * INGOT_BLOCK + c, square[l]);
        }
    }
}

static void unblock(const float *x, float *y, size_t stride, size_t channels, size_t count)
{
    for (size_t i = 0; i < count; i += LANES) {
        size_t pixels = count - i < LANES ? count - i : LANES;
        for (size_t c = 0; c < channels; c += LANES) {
            vec square[LANES];
            for (size_t l = 0; l < LANES; l++)
                square[l] = l < pixels ? v_load(x + (i + l) * INGOT_BLOCK + c) : v_zero();
            v_transpose(square);
            for (size_t l = 0; l < LANES && c + l < channels; l++) {
                if (pixels == LANES)
                    v_store(y + (c + l) * stride + i, square[l]);
                else
                    v_store_part(y + (c + l) * stride + i, square[l], pixels);
            }
        }
    }
}

/* Lanes of a vector, from lane on, that are channels. */
static inline size_t lanes_of(size_t channels, size_t lane)
{
    size_t rest = channels > lane ? channels - lane : 0;
    return rest < LANES ? rest : LANES;
}

static void block_last(const float *x, size_t stride, size_t channels, float *y, size_t count)
{
    for (size_t lane = 0; lane < INGOT_BLOCK; lane += LANES) {
        const size_t lanes = lanes_of(channels, lane);
        for (size_t i = 0; i < count; i++) {
            const float *from = x + i * stride + lane;
            v_store(y + i * INGOT_BLOCK + lane, lanes == LANES ? v_load(from)
                                                : lanes > 0    ? v_load_part(from, lanes)
                                                               : v_zero());
        }
    }
}

static void unblock_last(const float *x, float *y, size_t stride, size_t channels, size_t count)
{
    for (size_t lane = 0; lane < channels; lane += LANES) {
        const size_t lanes = lanes_of(channels, lane);
        for (size_t i = 0; i < count; i++) {
            vec value = v_load(x + i * INGOT_BLOCK + lane);
            if (lanes == LANES)
                v_store(y + i * stride + lane, value);
            else
                v_store_part(y + i * stride + lane, value, lanes);
        }
    }
}

const ingot_layout_table LEVEL_NAME(ingot_layout_table) = {
    .transpose_4 = transpose_4,
    .resize_row = resize_row,
    .block = block,
    .unblock = unblock,
    .block_last = block_last,
    .unblock_last = unblock_last,
};
