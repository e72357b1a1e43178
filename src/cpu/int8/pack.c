/* Packed matrices of bytes and what goes with their columns. */
#include <string.h>

#include "base/memory.h"
#include "cpu/int8/product.h"

#define PANEL INGOT_INT8_PANEL

static size_t panels_of(size_t columns)
{
    return (columns + PANEL - 1) / PANEL;
}

static size_t quads_of(size_t run_bytes)
{
    return (run_bytes + 3) / 4;
}

static size_t matrix_bytes(size_t columns, size_t runs, size_t run_bytes)
{
    return panels_of(columns) * PANEL * runs * quads_of(run_bytes) * 4;
}

size_t ingot_int8_packed_size(size_t columns, size_t runs, size_t run_bytes)
{
    size_t bytes = matrix_bytes(columns, runs, run_bytes) + panels_of(columns) * PANEL * sizeof(int32_t);
    return (bytes + INGOT_ALIGNMENT - 1) / INGOT_ALIGNMENT * INGOT_ALIGNMENT;
}

void ingot_int8_turn_signs(const void *x, void *y, size_t count)
{
    const uint8_t *from = x;
    uint8_t *to = y;
    for (size_t i = 0; i < count; i++)
        to[i] = from[i] ^ 0x80;
}

/* Four bytes of every column of a panel, the columns side by side in memory: from[j] is the first column's byte j. */
static void pack_quad_of_rows(const uint8_t *const from[4], size_t columns, uint8_t turn, uint8_t *to)
{
    for (size_t column = 0; column < columns; column++)
        for (size_t j = 0; j < 4; j++)
            to[column * 4 + j] = (uint8_t)(from[j][column] ^ turn);
}

/* A stretch of a panel whose columns lie side by side. */
static void pack_rows(const ingot_int8_b *b, const uint8_t *from, size_t columns, uint8_t *to)
{
    uint8_t turn = b->is_signed ? 0 : 0x80, nothing[PANEL];
    size_t count = b->outer * b->inner;
    memset(nothing, turn, sizeof nothing);
    for (size_t i = 0; i < count; i += 4, to += PANEL * 4) {
        const uint8_t *rows[4];
        for (size_t j = 0; j < 4; j++) {
            ptrdiff_t at = (ptrdiff_t)((i + j) / b->inner) * b->outer_stride;
            at += (ptrdiff_t)((i + j) % b->inner) * b->inner_stride;
            rows[j] = i + j < count ? from + at : nothing;
        }
        pack_quad_of_rows(rows, columns, turn, to);
    }
}

/* A stretch of one column. */
static void pack_column(const ingot_int8_b *b, const uint8_t *from, uint8_t *to)
{
    uint8_t turn = b->is_signed ? 0 : 0x80;
    size_t i = 0;
    for (size_t outer = 0; outer < b->outer; outer++) {
        const uint8_t *element = from + (ptrdiff_t)outer * b->outer_stride;
        for (size_t inner = 0; inner < b->inner; inner++, i++, element += b->inner_stride)
            to[i / 4 * PANEL * 4 + i % 4] = *element ^ turn;
    }
}

static void add_sums(const int8_t *panel, size_t quads, int32_t *sums)
{
    memset(sums, 0, PANEL * sizeof *sums);
    for (size_t quad = 0; quad < quads; quad++, panel += PANEL * 4)
        for (size_t column = 0; column < PANEL; column++)
            sums[column] += panel[column * 4] + panel[column * 4 + 1] + panel[column * 4 + 2] + panel[column * 4 + 3];
}

void ingot_int8_pack_b(const ingot_int8_b *b, int8_t *packed)
{
    size_t quads = quads_of(b->outer * b->inner), panel_bytes = b->runs * quads * PANEL * 4;
    int32_t *sums = (int32_t *)(void *)(packed + matrix_bytes(b->columns, b->runs, b->outer * b->inner));
    for (size_t first = 0; first < b->columns; first += PANEL, packed += panel_bytes) {
        size_t columns = b->columns - first < PANEL ? b->columns - first : PANEL;
        const uint8_t *data = (const uint8_t *)b->data + (ptrdiff_t)first * b->column_stride;
        if (columns < PANEL || b->outer * b->inner % 4 != 0)
            memset(packed, 0, panel_bytes);
        for (size_t run = 0; run < b->runs; run++) {
            uint8_t *to = (uint8_t *)packed + run * quads * PANEL * 4;
            const uint8_t *from = data + (ptrdiff_t)run * b->run_stride;
            if (b->column_stride == 1)
                pack_rows(b, from, columns, to);
            for (size_t column = 0; column < columns && b->column_stride != 1; column++)
                pack_column(b, from + (ptrdiff_t)column * b->column_stride, to + column * 4);
        }
        add_sums(packed, b->runs * quads, sums + first);
    }
}

const int32_t *ingot_int8_sums_in(const int8_t *packed, size_t columns, size_t runs, size_t run_bytes)
{
    return (const int32_t *)(const void *)(packed + matrix_bytes(columns, runs, run_bytes));
}

/* ---- Columns ---- */

size_t ingot_int8_columns_size(size_t columns)
{
    return panels_of(columns) * PANEL * 4 * sizeof(int32_t);
}

ingot_int8_columns ingot_int8_columns_in(void *memory, size_t columns)
{
    size_t room = panels_of(columns) * PANEL;
    int32_t *integers = memory;
    float *floats = (float *)(integers + 2 * room);
    return (ingot_int8_columns){integers, integers + room, floats, floats + room};
}

static int32_t b_zero_at(const ingot_int8_terms *t, size_t column)
{
    if (!t->b_zero)
        return t->b_signed ? 0 : -128;
    size_t at = t->b_zero_count == 1 ? 0 : column;
    return t->b_signed ? ((const int8_t *)t->b_zero)[at] : ((const uint8_t *)t->b_zero)[at] - 128;
}

bool ingot_int8_needs_row_sums(const ingot_int8_terms *t)
{
    size_t count = t->b_zero ? t->b_zero_count : 1;
    for (size_t i = 0; i < count; i++)
        if (b_zero_at(t, i) != 0)
            return true;
    return false;
}

void ingot_int8_fill_columns(const ingot_int8_columns *to, const ingot_int8_terms *t, size_t first, size_t columns,
                             size_t depth, const int32_t *sums)
{
    uint32_t a_zero = (uint32_t)t->a_zero + (t->a_signed ? 128 : 0);
    for (size_t i = 0; i < panels_of(columns) * PANEL; i++) {
        size_t column = first + i;
        bool inside = i < columns;
        uint32_t b_zero = inside ? (uint32_t)b_zero_at(t, column) : 0;
        uint32_t start = inside ? a_zero * ((uint32_t)depth * b_zero - (uint32_t)sums[i]) : 0;
        if (inside && t->summand)
            start += (uint32_t)t->summand[t->summand_count == 1 ? 0 : column];
        to->b_zero[i] = (int32_t)b_zero;
        to->start[i] = (int32_t)start;
        to->bias[i] = inside && t->bias ? t->bias[t->bias_count == 1 ? 0 : column] : 0;
        if (!inside)
            to->scale[i] = 0;
    }
}
