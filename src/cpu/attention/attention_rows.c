/* Attention with a query's scores in a row. */
#include "cpu/attention/attention_work.h"
#include "cpu/reduce/reduce.h"

/* For fewer row tiles V is read where it lies. */
#define DIRECT_TILES 2

void ingot_attention_pack_rows(ingot_attention_work *w)
{
    const ingot_attention *a = w->task->a;
    const ingot_attention_way *way = &w->task->way;
    const float *k = a->k.data + ingot_attention_offset(&a->k, w->index);
    const float *v = a->v.data + ingot_attention_offset(&a->v, w->index);
    ingot_gemm_f32_pack_panels(way->kernel, k, a->k.row, a->k.column, a->depth, a->keys, w->k);
    ingot_attention_scale(w, &a->k, w->k, way->k);
    w->direct_v = NULL;
    if (a->v.column == 1 && a->v.row >= 0 && !a->v.scaled &&
        ingot_gemm_row_tiles(way->kernel, a->rows) <= DIRECT_TILES) {
        w->direct_v = v;
        return;
    }
    ingot_gemm_f32_pack_panels(way->kernel, v, a->v.row, a->v.column, a->keys, a->width, w->v);
    ingot_attention_scale(w, &a->v, w->v, way->v);
}

/* Changes from number first on, of count rows from row on. */
static void change_scores(const ingot_attention_work *w, size_t first, size_t row, size_t rows)
{
    const ingot_attention *a = w->task->a;
    for (size_t i = first; i < a->change_count; i++) {
        const ingot_score_change *change = &a->changes[i];
        const ingot_vec_binary_function *functions = w->task->table->binary[change->kind];
        if (change->is_number) {
            functions[INGOT_VEC_ONE_B](w->scores, &change->number, w->scores, rows * a->keys);
            continue;
        }
        const ingot_matrices *m = &change->matrices;
        const float *data = m->data + ingot_attention_offset(m, w->index) + (ptrdiff_t)row * m->row;
        for (size_t r = 0; r < rows; r++, data += m->row)
            functions[m->column ? INGOT_VEC_BOTH : INGOT_VEC_ONE_B](w->scores + r * a->keys, data,
                                                                    w->scores + r * a->keys, a->keys);
    }
}

static void make_scores(const ingot_attention_work *w, size_t row, size_t rows)
{
    const ingot_attention *a = w->task->a;
    const ingot_attention_way *way = &w->task->way;
    ingot_gemm_plan plan = {.kernel = way->kernel, .m = rows, .n = a->keys, .k = a->depth, .packed_a = w->q};
    ingot_gemm_range range = {0, ingot_gemm_row_tiles(way->kernel, rows), 0,
                              ingot_ceil_div(a->keys, way->kernel->columns)};
    ingot_gemm_f32_pack_a(way->kernel, rows, a->depth,
                          a->q.data + ingot_attention_offset(&a->q, w->index) + (ptrdiff_t)row * a->q.row, a->q.row,
                          a->q.column, 0, range.end_tile, w->q);
    ingot_attention_scale(w, &a->q, w->q, rows * a->depth);
    plan.packed_b = w->k;
    plan.c = w->scores;
    plan.c_row = a->keys;
    plan.epilogue.scaled = ingot_attention_first_is_factor(a, &plan.epilogue.scale);
    ingot_gemm_f32_block(&plan, &range, NULL);
    change_scores(w, plan.epilogue.scaled, row, rows);
}

void ingot_attend_rows(const ingot_attention_work *w, size_t row, size_t rows)
{
    const ingot_attention *a = w->task->a;
    const ingot_attention_way *way = &w->task->way;
    make_scores(w, row, rows);
    ingot_softmax_f32(false, rows, a->keys, 1, w->scores, w->scores, 1);
    ingot_gemm_plan plan = {.kernel = way->kernel, .m = rows, .n = a->width, .k = a->keys};
    ingot_gemm_range range = {0, ingot_gemm_row_tiles(way->kernel, rows), 0,
                              ingot_ceil_div(a->width, way->kernel->columns)};
    ingot_gemm_f32_pack_a(way->kernel, rows, a->keys, w->scores, (ptrdiff_t)a->keys, 1, 0, range.end_tile,
                          w->packed_scores);
    plan.packed_a = w->packed_scores;
    plan.packed_b = w->direct_v ? NULL : w->v;
    plan.direct_b = w->direct_v;
    plan.direct_b_row = (size_t)a->v.row;
    plan.c = a->y_data + ingot_attention_offset(&a->y, w->index) + (ptrdiff_t)row * a->y.row;
    plan.c_row = (size_t)a->y.row;
    ingot_gemm_f32_block(&plan, &range, NULL);
}
