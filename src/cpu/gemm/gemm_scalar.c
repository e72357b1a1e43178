/* GEMM kernel in plain C: tiles of 4 rows of 8 columns. */
#include "cpu/gemm/gemm_kernel.h"

#define PANEL    8
#define MAX_ROWS 4

static float finish(const ingot_gemm_tile *t, size_t row, size_t column, float value)
{
    value *= t->scale;
    if (t->row_bias)
        value += t->row_bias[row];
    if (t->column_bias)
        value += t->column_bias[column];
    if (t->add)
        value += t->add[row * t->add_row + column];
    value = value < t->low ? t->low : value;
    return value > t->high ? t->high : value;
}

/* Columns first ... first + columns - 1 of the tile; they lie in one panel. */
static void tile_panel(const ingot_gemm_tile *t, size_t first, size_t columns)
{
    float sum[MAX_ROWS][PANEL] = {{0}};
    const float *b = t->b + first / PANEL * t->b_panel;
    for (size_t k = 0; k < t->k; k++, b += t->b_step) {
        const float *a = t->a + k * t->rows;
        for (size_t i = 0; i < t->rows; i++) {
            for (size_t j = 0; j < columns; j++)
                sum[i][j] += a[i] * b[j];
        }
    }
    for (size_t i = 0; i < t->rows; i++) {
        float *c = t->c + i * t->c_row + first;
        for (size_t j = 0; j < columns; j++) {
            float value = t->accumulate ? c[j] + sum[i][j] : sum[i][j];
            c[j] = t->last ? finish(t, i, first + j, value) : value;
        }
    }
}

void ingot_gemm_f32_4x8_scalar_tile(const ingot_gemm_tile *t)
{
    for (size_t first = 0; first < t->columns; first += PANEL)
        tile_panel(t, first, t->columns - first < PANEL ? t->columns - first : PANEL);
}

void ingot_gemm_f32_4x8_scalar_strip(ingot_gemm_strip *s)
{
    for (size_t tile = 0; tile < INGOT_GEMM_STRIP_TILES; tile++) {
        for (size_t j = 0; j < s->columns; j++) {
            for (size_t i = 0; i < s->rows[tile]; i++) {
                float sum = 0.0f;
                for (size_t k = 0; k < s->k; k++)
                    sum += s->a[tile][k * s->rows[tile] + i] * s->b[k * s->b_step + j];
                s->sums[tile][j][i] = sum;
            }
        }
    }
}

void ingot_gemm_f32_4x8_scalar_pack(const ingot_gemm_pack *p)
{
    float *to = p->to;
    for (size_t step = 0; step < p->steps; step++) {
        const float *from = p->from + (ptrdiff_t)step * p->step_stride;
        for (size_t lane = 0; lane < p->width; lane++)
            *to++ = lane < p->lanes ? from[(ptrdiff_t)lane * p->lane_stride] : 0.0f;
    }
}
