/* Attention with a query's scores in a column: scores[keys, queries] = K' * Q', and y' = V' * scores, for one panel of queries at a
 * time. A panel that is not full is filled up with queries of zeros to whole vectors: few columns cost more. */
#include "cpu/attention/attention_work.h"
#include "cpu/layout/layout_table.h"
#include "cpu/reduce/reduce_table.h"

void ingot_attention_pack_columns(ingot_attention_work *w)
{
    const ingot_attention *a = w->task->a;
    const ingot_gemm_kernel *kernel = w->task->way.kernel;
    const float *k = a->k.data + ingot_attention_offset(&a->k, w->index);
    const float *v = a->v.data + ingot_attention_offset(&a->v, w->index);
    ingot_gemm_f32_pack_a(kernel, a->keys, a->depth, k, a->k.column, a->k.row, 0, ingot_gemm_row_tiles(kernel, a->keys),
                          w->k);
    ingot_attention_scale(w, &a->k, w->k, a->keys * a->depth);
    ingot_gemm_f32_pack_a(kernel, a->width, a->keys, v, a->v.column, a->v.row, 0,
                          ingot_gemm_row_tiles(kernel, a->width), w->v);
    ingot_attention_scale(w, &a->v, w->v, a->keys * a->width);
}

/* Columns of a mask for some rows of queries, as the scores lie. */
static void pack_mask(const ingot_attention_work *w, const ingot_matrices *m, size_t row, size_t rows)
{
    const ingot_gemm_kernel *kernel = w->task->way.kernel;
    const float *data = m->data + ingot_attention_offset(m, w->index) + (ptrdiff_t)row * m->row;
    ingot_gemm_pack pack = {.steps = w->task->a->keys, .lanes = rows, .width = kernel->columns, .from = data};
    pack.step_stride = m->column;
    pack.lane_stride = m->row;
    pack.to = w->mask;
    kernel->pack(&pack);
}

static size_t whole_vectors(const ingot_attention_work *w, size_t rows)
{
    size_t lanes = w->task->way.kernel->strip_lanes;
    return ingot_ceil_div(rows, lanes) * lanes;
}

/* As many changes as the product's epilogue makes, in their order. */
static size_t fill_epilogue(const ingot_attention_work *w, size_t row, size_t rows, ingot_epilogue *epilogue)
{
    const ingot_attention *a = w->task->a;
    size_t done = epilogue->scaled = ingot_attention_first_is_factor(a, &epilogue->scale);
    const ingot_score_change *next = &a->changes[done];
    if (done < a->change_count && next->kind == INGOT_BINARY_ADD && !next->is_number && next->matrices.row == 0 &&
        next->matrices.column == 1) {
        epilogue->row_bias = next->matrices.data + ingot_attention_offset(&next->matrices, w->index);
        next = &a->changes[++done];
    }
    if (done < a->change_count && next->kind == INGOT_BINARY_ADD && !next->is_number) {
        pack_mask(w, &next->matrices, row, rows);
        epilogue->add = w->mask;
        epilogue->add_row = w->task->way.kernel->columns;
        done++;
    }
    return done;
}

/* Changes from number first on. */
static void change_scores(const ingot_attention_work *w, size_t first, size_t row, size_t rows)
{
    const ingot_attention *a = w->task->a;
    size_t width = w->task->way.kernel->columns;
    for (size_t i = first; i < a->change_count; i++) {
        const ingot_score_change *change = &a->changes[i];
        const ingot_vec_binary_function *functions = w->task->table->binary[change->kind];
        if (!change->is_number)
            pack_mask(w, &change->matrices, row, rows);
        for (size_t key = 0; key < a->keys; key++) {
            float *scores = w->scores + key * width;
            if (change->is_number)
                functions[INGOT_VEC_ONE_B](scores, &change->number, scores, rows);
            else
                functions[INGOT_VEC_BOTH](scores, w->mask + key * width, scores, rows);
        }
    }
}

static void make_scores(const ingot_attention_work *w, size_t row, size_t rows)
{
    const ingot_attention *a = w->task->a;
    const ingot_gemm_kernel *kernel = w->task->way.kernel;
    ingot_gemm_plan plan = {.kernel = kernel, .m = a->keys, .k = a->depth, .packed_a = w->k};
    plan.n = whole_vectors(w, rows);
    ingot_gemm_range range = {0, ingot_gemm_row_tiles(kernel, a->keys), 0, 1};
    ingot_gemm_f32_pack_panels(kernel, a->q.data + ingot_attention_offset(&a->q, w->index) + (ptrdiff_t)row * a->q.row,
                               a->q.column, a->q.row, a->depth, rows, w->q);
    ingot_attention_scale(w, &a->q, w->q, a->depth * kernel->columns);
    plan.packed_b = w->q;
    plan.c = w->scores;
    plan.c_row = kernel->columns;
    size_t done = fill_epilogue(w, row, rows, &plan.epilogue);
    ingot_gemm_f32_block(&plan, &range, NULL);
    change_scores(w, done, row, rows);
}

void ingot_attend_columns(const ingot_attention_work *w, size_t row, size_t rows)
{
    const ingot_attention *a = w->task->a;
    const ingot_gemm_kernel *kernel = w->task->way.kernel;
    size_t panel = kernel->columns, columns = whole_vectors(w, rows);
    int level = ingot_level_best();
    make_scores(w, row, rows);
    ingot_reduce_table_at(level)->softmax_columns(false, w->scores, a->keys, panel, columns, w->scores);
    ingot_gemm_plan plan = {.kernel = kernel, .m = a->width, .k = a->keys, .packed_a = w->v};
    plan.n = columns;
    ingot_gemm_range range = {0, ingot_gemm_row_tiles(kernel, a->width), 0, 1};
    plan.packed_b = w->scores;
    plan.c = w->result;
    plan.c_row = panel;
    ingot_gemm_f32_block(&plan, &range, NULL);
    float *y = a->y_data + ingot_attention_offset(&a->y, w->index) + (ptrdiff_t)row * a->y.row;
    ingot_layout_table_at(level)->transpose_4(w->result, (ptrdiff_t)panel, y, a->y.row, rows, a->width);
}
