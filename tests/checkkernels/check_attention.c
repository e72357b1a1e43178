#include "base/float_mode.h"
#include "check.h"
#include "cpu/attention/attention.h"
#include "cpu/reduce/reduce.h"

#define MAX_THREADS 7

/* count, rows, keys, depth, width */
static const size_t sizes[][5] = {
    {1, 1, 1, 1, 1},     {3, 1, 700, 64, 64}, {2, 5, 3, 2, 9},       {4, 14, 33, 16, 32}, {3, 16, 16, 5, 1},
    {2, 17, 49, 32, 32}, {2, 31, 40, 7, 15},  {5, 37, 50, 33, 70},   {2, 64, 64, 64, 64}, {9, 65, 1, 4, 30},
    {1, 197, 197, 8, 8}, {2, 70, 800, 20, 3}, {1, 300, 129, 65, 17}, {2, 33, 35, 0, 5},   {40, 49, 49, 4, 4},
};
#define SIZE_COUNT (sizeof sizes / sizeof sizes[0])

/* How masks and numbers change the scores of a case. */
enum { PLAIN, SCALED, DIVIDED, MASK_OF_KEYS, MASK_OF_ROWS, MASK, MANY, VARIANTS };

typedef struct attention_case {
    ingot_attention a;
    size_t y_size;
    void *workspace;
} attention_case;

/* Matrices of rows x columns: next to one another, or with all first rows, then all second ones, ...; transposed: the same with the
 * columns for the rows. */
static ingot_matrices make_matrices(size_t count, size_t rows, size_t columns, bool interleaved, bool transposed,
                                    bool at_end)
{
    size_t outer = transposed ? columns : rows, inner = transposed ? rows : columns;
    ptrdiff_t apart = (ptrdiff_t)(interleaved ? count * inner : inner);
    ingot_matrices m = {.row = transposed ? 1 : apart, .column = transposed ? apart : 1, .rank = 1};
    m.data = random_floats(count * rows * columns, at_end);
    m.dims[0] = count;
    m.strides[0] = (ptrdiff_t)(interleaved ? inner : outer * inner);
    return m;
}

static ingot_matrices make_mask(size_t count, size_t rows, size_t keys, bool at_end)
{
    ingot_matrices m = make_matrices(count, rows, keys, false, false, at_end);
    float *data = (float *)m.data;
    for (size_t i = 0; i < count * rows * keys; i++)
        data[i] = keys > 1 && i % 11 == 3 ? -1e9f : data[i];
    m.row = rows == 1 ? 0 : m.row;
    m.column = keys == 1 ? 0 : 1;
    return m;
}

static void add_change(ingot_attention *a, ingot_binary_kind kind, float number)
{
    a->changes[a->change_count++] = (ingot_score_change){.kind = kind, .is_number = true, .number = number};
}

static void add_mask(ingot_attention *a, size_t rows, size_t keys, bool at_end)
{
    a->changes[a->change_count++] =
        (ingot_score_change){.kind = INGOT_BINARY_ADD, .matrices = make_mask(a->count, rows, keys, at_end)};
}

static void add_changes(ingot_attention *a, int variant, bool at_end)
{
    if (variant == DIVIDED)
        add_change(a, INGOT_BINARY_DIV, a->rows % 2 ? 8.0f : 3.0f);
    else if (variant >= SCALED)
        add_change(a, INGOT_BINARY_MUL, .7f);
    if (variant == MASK_OF_KEYS || variant == MANY)
        add_mask(a, 1, a->keys, at_end);
    if (variant == MASK || variant == MANY)
        add_mask(a, a->rows, a->keys, at_end);
    if (variant == MASK_OF_ROWS || variant == MANY)
        add_mask(a, a->rows, 1, at_end);
}

static attention_case make_case(const size_t s[5], int variant, bool interleaved, bool at_end)
{
    attention_case c = {.a = {.count = s[0], .rows = s[1], .keys = s[2], .depth = s[3], .width = s[4]}};
    ingot_attention *a = &c.a;
    a->q = make_matrices(a->count, a->rows, a->depth, interleaved, false, at_end);
    a->k = make_matrices(a->count, a->depth, a->keys, interleaved, variant != SCALED, at_end);
    a->v = make_matrices(a->count, a->keys, a->width, interleaved, variant == DIVIDED, at_end);
    a->q.scaled = variant == MASK;
    a->k.scaled = variant == MASK_OF_KEYS;
    a->v.scaled = variant == MASK_OF_ROWS;
    a->q.scale = a->k.scale = a->v.scale = 1.3f;
    a->y = make_matrices(a->count, a->rows, a->width, interleaved, false, at_end);
    a->y_data = (float *)a->y.data;
    c.y_size = a->count * a->rows * a->width;
    add_changes(a, variant, at_end);
    c.workspace = guard_memory(ingot_attention_f32_workspace(a, MAX_THREADS), true);
    return c;
}

static const float *matrix_at(const ingot_matrices *m, size_t index)
{
    return m->data + (ptrdiff_t)index * m->strides[0];
}

static float element(const ingot_matrices *m, size_t index, size_t row, size_t column)
{
    return matrix_at(m, index)[(ptrdiff_t)row * m->row + (ptrdiff_t)column * m->column];
}

/* ---- The truth ---- */

static double score(const ingot_attention *a, size_t index, size_t row, size_t key)
{
    double sum = 0;
    for (size_t d = 0; d < a->depth; d++)
        sum += (double)element(&a->q, index, row, d) * element(&a->k, index, d, key);
    sum *= (a->q.scaled ? a->q.scale : 1.0) * (a->k.scaled ? a->k.scale : 1.0);
    for (size_t i = 0; i < a->change_count; i++) {
        const ingot_score_change *change = &a->changes[i];
        double by = change->is_number ? change->number : element(&change->matrices, index, row, key);
        sum = change->kind == INGOT_BINARY_MUL ? sum * by : change->kind == INGOT_BINARY_DIV ? sum / by : sum + by;
    }
    return sum;
}

static bool row_is_right(const ingot_attention *a, size_t index, size_t row, double *p)
{
    double most = -INFINITY, sum = 0;
    for (size_t key = 0; key < a->keys; key++) {
        p[key] = score(a, index, row, key);
        most = p[key] > most ? p[key] : most;
    }
    for (size_t key = 0; key < a->keys; key++)
        sum += p[key] = exp(p[key] - most);
    for (size_t w = 0; w < a->width; w++) {
        double truth = 0;
        for (size_t key = 0; key < a->keys; key++)
            truth += p[key] / sum * element(&a->v, index, key, w) * (a->v.scaled ? a->v.scale : 1.0);
        if (!(fabs(element(&a->y, index, row, w) - truth) < 2e-6 * sqrt((double)a->depth + 4)))
            return false;
    }
    return true;
}

static bool is_right(const ingot_attention *a)
{
    double *p = malloc((a->keys + 1) * sizeof *p);
    bool good = p != NULL;
    for (size_t i = 0; good && i < a->count * a->rows; i++)
        good = row_is_right(a, i / a->rows, i % a->rows, p);
    free(p);
    return good;
}

/* ---- The same one by one ---- */

static void multiply(ingot_gemm *g)
{
    ingot_gemm_f32(g, guard_memory(ingot_gemm_f32_workspace(g, 1), true), 1);
}

static const float *scaled_copy(const ingot_matrices *m, size_t index, size_t rows, size_t columns)
{
    float *copy = guard_floats(rows * columns, true);
    for (size_t i = 0; i < rows * columns; i++)
        copy[i] = element(m, index, i / columns, i % columns) * (m->scaled ? m->scale : 1.0f);
    return copy;
}

static void change_score(const ingot_attention *a, size_t index, size_t row, size_t key, float *value)
{
    for (size_t i = 0; i < a->change_count; i++) {
        const ingot_score_change *change = &a->changes[i];
        float by = change->is_number ? change->number : element(&change->matrices, index, row, key);
        *value = change->kind == INGOT_BINARY_MUL   ? *value * by
                 : change->kind == INGOT_BINARY_DIV ? *value / by
                                                    : *value + by;
    }
}

/* Whether matrix index has the bits of products, changes and a softmax one after the other. */
static bool has_bits_of_parts(const ingot_attention *a, size_t index)
{
    float *scores = guard_floats(a->rows * a->keys, true), *y = guard_floats(a->rows * a->width, true);
    ingot_gemm g = {.m = a->rows, .n = a->keys, .k = a->depth, .a_column = 1, .b_column = 1};
    g.a = scaled_copy(&a->q, index, a->rows, a->depth);
    g.b = scaled_copy(&a->k, index, a->depth, a->keys);
    g.a_row = (ptrdiff_t)a->depth;
    g.b_row = (ptrdiff_t)a->keys;
    g.c = scores;
    g.c_row = a->keys;
    multiply(&g);
    for (size_t i = 0; i < a->rows * a->keys; i++)
        change_score(a, index, i / a->keys, i % a->keys, &scores[i]);
    ingot_softmax_f32(false, a->rows, a->keys, 1, scores, scores, 1);
    g.n = a->width;
    g.k = a->keys;
    g.a = scores;
    g.a_row = (ptrdiff_t)a->keys;
    g.b = scaled_copy(&a->v, index, a->keys, a->width);
    g.b_row = (ptrdiff_t)a->width;
    g.c = y;
    g.c_row = a->width;
    multiply(&g);
    bool same = true;
    for (size_t row = 0; row < a->rows; row++)
        same = same && same_bits(y + row * a->width, matrix_at(&a->y, index) + (ptrdiff_t)row * a->y.row, a->width);
    return same;
}

static void check_size(const size_t s[5], int variant)
{
    bool interleaved = (s[1] + (size_t)variant) % 2, at_end = s[2] % 2;
    attention_case c = make_case(s, variant, interleaved, at_end);
    float *first = guard_floats(c.y_size, true);
    bool good = true;
    for (size_t t = 0; t < 4; t++) {
        memset(c.workspace, 0xFF, ingot_attention_f32_workspace(&c.a, check_threads[t]));
        ingot_attention_f32(&c.a, c.workspace, check_threads[t]);
        if (t == 0)
            memcpy(first, c.a.y_data, c.y_size * sizeof *first);
        good = good && same_bits(first, c.a.y_data, c.y_size);
    }
    check_case(good, "attention %zux%zux%zux%zux%zu variant %d: threads change bits", s[0], s[1], s[2], s[3], s[4],
               variant);
    check_case(is_right(&c.a), "attention %zux%zux%zux%zux%zu variant %d", s[0], s[1], s[2], s[3], s[4], variant);
    check_case(has_bits_of_parts(&c.a, s[0] - 1), "attention %zux%zux%zux%zux%zu variant %d: not the bits of its parts",
               s[0], s[1], s[2], s[3], s[4], variant);
    guard_release();
}

/* A row of scores without a number makes its result so and no other; one with nothing but -infinity too. */
static void check_odd_values(void)
{
    static const size_t size[5] = {2, 40, 37, 8, 6};
    attention_case c = make_case(size, MASK, false, true);
    float *mask = (float *)c.a.changes[1].matrices.data;
    mask[37 * 3 + 5] = NAN;
    for (size_t key = 0; key < 37; key++)
        mask[37 * 7 + key] = -INFINITY;
    ingot_attention_f32(&c.a, c.workspace, 3);
    bool good = true;
    for (size_t row = 0; row < 80; row++)
        for (size_t w = 0; w < 6; w++)
            good = good && !isnan(c.a.y_data[row * 6 + w]) == (row != 3 && row != 7);
    check_case(good, "attention with NaN and -infinity");
    guard_release();
}

/* Regions of attention run like this. */
static unsigned begin_flushing(void)
{
    unsigned before = ingot_float_mode();
    ingot_float_mode_set(INGOT_FLOAT_FLUSH);
    return before;
}

static void check(void)
{
    unsigned before = begin_flushing();
    for (size_t s = 0; s < SIZE_COUNT; s++)
        for (int variant = 0; variant < VARIANTS; variant++)
            check_size(sizes[s], variant);
    check_odd_values();
    ingot_float_mode_set(before);
}

/* ---- Speed ---- */

static void run_case(void *argument)
{
    const attention_case *c = argument;
    ingot_attention_f32(&c->a, c->workspace, 1);
}

static void bench(void)
{
    static const struct {
        const char *name;
        size_t size[5];
        int variant;
    } shapes[] = {
        {"image, 197 patches", {12, 197, 197, 64, 64}, PLAIN},
        {"text, 128 tokens", {12, 128, 128, 64, 64}, MASK_OF_KEYS},
        {"text, depth 32", {12, 128, 128, 32, 32}, MASK_OF_KEYS},
        {"text, causal", {12, 128, 128, 64, 64}, MASK},
        {"windows of 49", {192, 49, 49, 32, 32}, MASK},
        {"one query", {12, 1, 1024, 64, 64}, PLAIN},
        {"8 queries", {12, 8, 256, 64, 64}, PLAIN},
        {"16 queries", {12, 16, 256, 64, 64}, PLAIN},
        {"long, 2048", {2, 2048, 2048, 64, 64}, PLAIN},
    };
    unsigned before = begin_flushing();
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        attention_case c = make_case(shapes[i].size, shapes[i].variant, true, true);
        const ingot_attention *a = &c.a;
        double work = 2.0 * (double)(a->count * a->rows * a->keys * (a->depth + a->width)),
               time = best_time(run_case, &c);
        printf("attention %-20s %8.1f us %7.1f GFLOP/s\n", shapes[i].name, time / 1e3, work / time);
        guard_release();
    }
    ingot_float_mode_set(before);
}

static void list(void)
{
    puts("attention_f32");
}

const check_part check_attention = {"attention", check, bench, list};
