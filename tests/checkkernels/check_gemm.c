#include "check.h"
#include "cpu/gemm/gemm.h"

#define MAX_THREADS 7

/* How a case lays its matrices out. */
typedef struct layout {
    bool packed_b, transposed_a, transposed_b;
    size_t c_padding;
} layout;

static const layout layouts[] = {
    {true, false, false, 0}, {false, false, false, 0}, {false, true, false, 3},
    {false, false, true, 1}, {true, true, true, 5},    {false, true, true, 0},
};
#define LAYOUT_COUNT (sizeof layouts / sizeof layouts[0])

static const size_t sizes[][3] = {
    {0, 5, 3},     {5, 0, 3},     {1, 1, 0},      {3, 33, 0},     {1, 1, 1},       {1, 7, 5},
    {1, 200, 385}, {2, 65, 31},   {3, 31, 17},    {4, 16, 770},   {5, 17, 64},     {6, 15, 9},
    {7, 47, 33},   {13, 129, 11}, {14, 32, 384},  {15, 33, 385},  {28, 1, 50},     {29, 97, 3},
    {43, 64, 21},  {61, 83, 129}, {100, 300, 70}, {197, 49, 401}, {300, 40, 1153}, {1, 1030, 300},
};
#define SIZE_COUNT (sizeof sizes / sizeof sizes[0])

/* A product with its memory; the buffers belong to guard_memory. */
typedef struct product {
    ingot_gemm g;
    float *c;
    size_t c_size;
    void *workspace;
} product;

static product make_product(const ingot_gemm_kernel *kernel, const size_t size[3], const layout *l, bool at_end)
{
    product p = {.g = {.m = size[0], .n = size[1], .k = size[2], .kernel = kernel}};
    ingot_gemm *g = &p.g;
    g->a = random_floats(g->m * g->k, at_end);
    g->a_row = (ptrdiff_t)(l->transposed_a ? 1 : g->k);
    g->a_column = (ptrdiff_t)(l->transposed_a ? g->m : 1);
    g->b = random_floats(g->n * g->k, at_end);
    g->b_row = (ptrdiff_t)(l->transposed_b ? 1 : g->n);
    g->b_column = (ptrdiff_t)(l->transposed_b ? g->k : 1);
    g->c_row = g->n + l->c_padding;
    p.c_size = g->m == 0 ? 0 : (g->m - 1) * g->c_row + g->n;
    g->c = p.c = random_floats(p.c_size, at_end);
    if (l->packed_b) {
        float *packed = guard_memory(ingot_gemm_f32_packed_b_size(kernel, g->k, g->n), true);
        ingot_gemm_f32_pack_b(kernel, g->k, g->n, g->b, g->b_row, g->b_column, packed);
        g->packed_b = packed;
    }
    p.workspace = guard_memory(ingot_gemm_f32_workspace(g, MAX_THREADS), true);
    return p;
}

/* A sum and the sum of the terms' magnitudes, which bounds the rounding. */
static double dot(const ingot_gemm *g, size_t i, size_t j, double *size)
{
    double sum = 0;
    *size = 0;
    for (size_t k = 0; k < g->k; k++) {
        double term = (double)g->a[(ptrdiff_t)i * g->a_row + (ptrdiff_t)k * g->a_column] *
                      g->b[(ptrdiff_t)k * g->b_row + (ptrdiff_t)j * g->b_column];
        sum += term;
        *size += fabs(term);
    }
    return sum;
}

static double apply_epilogue(const ingot_gemm *g, const float *add, size_t i, size_t j, double value)
{
    const ingot_epilogue *e = &g->epilogue;
    if (e->scaled)
        value *= e->scale;
    if (e->row_bias)
        value += e->row_bias[i];
    if (e->column_bias)
        value += e->column_bias[j];
    size_t add_row = e->add_row > 0 ? e->add_row : g->c_row;
    if (add && !e->add_last)
        value += add[i * add_row + j];
    if (e->activation.kind == INGOT_UNARY_RELU)
        value = fmax(value, 0);
    else if (e->activation.kind == INGOT_UNARY_CLIP)
        value = fmin(fmax(value, e->activation.a), e->activation.b);
    else if (e->activation.kind == INGOT_UNARY_SIGMOID)
        value = 1 / (1 + exp(-value));
    if (add && e->add_last)
        value += add[i * add_row + j];
    return value;
}

/* Every element is near the truth, and C's padding is as it was. */
static bool is_right(const ingot_gemm *g, const float *c, const float *before, const float *add)
{
    for (size_t i = 0; i < g->m; i++) {
        for (size_t j = 0; j < g->n; j++) {
            double size, sum = dot(g, i, j, &size);
            double truth = apply_epilogue(g, add, i, j, sum);
            if (!(fabs(c[i * g->c_row + j] - truth) <= 1e-6 * size + 1e-6))
                return false;
        }
        size_t padding = i + 1 < g->m ? g->c_row - g->n : 0;
        if (!same_bits(c + i * g->c_row + g->n, before + i * g->c_row + g->n, padding))
            return false;
    }
    return true;
}

/* The product with any number of threads, and a row of it alone, have the same bits. */
static bool keeps_bits(product *p, const float *result)
{
    ingot_gemm *g = &p->g;
    for (size_t t = 1; t < 4; t++) {
        ingot_gemm_f32(g, p->workspace, check_threads[t]);
        if (!same_bits(p->c, result, p->c_size))
            return false;
    }
    if (g->m == 0)
        return true;
    ingot_gemm alone = *g;
    size_t row = random_below(g->m), columns = g->n > 1 ? 1 + random_below(g->n - 1) : g->n;
    alone.m = 1;
    alone.n = g->packed_b ? g->n : columns;
    alone.a += (ptrdiff_t)row * g->a_row;
    alone.c = guard_floats(g->n, true);
    void *workspace = guard_memory(ingot_gemm_f32_workspace(&alone, 1), true);
    ingot_gemm_f32(&alone, workspace, 1);
    return same_bits(alone.c, result + row * g->c_row, alone.n);
}

static void check_products(const ingot_gemm_kernel *kernel)
{
    for (size_t s = 0; s < SIZE_COUNT; s++) {
        for (size_t l = 0; l < LAYOUT_COUNT; l++) {
            product p = make_product(kernel, sizes[s], &layouts[l], (s + l) % 2 == 0);
            float *before = guard_floats(p.c_size, true), *result = guard_floats(p.c_size, true);
            memcpy(before, p.c, p.c_size * sizeof(float));
            ingot_gemm_f32(&p.g, p.workspace, 1);
            memcpy(result, p.c, p.c_size * sizeof(float));
            check_case(is_right(&p.g, p.c, before, NULL), "%s %zux%zux%zu layout %zu", ingot_gemm_kernel_name(kernel),
                       p.g.m, p.g.n, p.g.k, l);
            check_case(keeps_bits(&p, result), "%s %zux%zux%zu layout %zu: bits change", ingot_gemm_kernel_name(kernel),
                       p.g.m, p.g.n, p.g.k, l);
            guard_release();
        }
    }
}

static void check_epilogues(const ingot_gemm_kernel *kernel)
{
    static const ingot_unary activations[] = {{INGOT_UNARY_IDENTITY, 0, 0},
                                              {INGOT_UNARY_RELU, 0, 0},
                                              {INGOT_UNARY_CLIP, -0.5f, 0.25f},
                                              {INGOT_UNARY_SIGMOID, 0, 0}};
    static const size_t some_blocks_of_k[3] = {20, 45, 1600};
    for (size_t variant = 0; variant < 128; variant++) {
        bool blocks = variant & 64;
        product p = make_product(kernel, blocks ? some_blocks_of_k : sizes[8 + variant % 12],
                                 &layouts[blocks ? 0 : variant % LAYOUT_COUNT], true);
        ingot_gemm *g = &p.g;
        ingot_epilogue *e = &g->epilogue;
        e->scaled = variant & 1;
        e->scale = 0.125f;
        e->row_bias = variant & 2 ? random_floats(g->m, true) : NULL;
        e->column_bias = variant & 4 ? random_floats(g->n, true) : NULL;
        e->add_last = variant & 16;
        float *before = guard_floats(p.c_size, true);
        memcpy(before, p.c, p.c_size * sizeof(float));
        if (variant & 8) {
            e->add_row = variant & 32 ? g->n + 2 : 0;
            size_t row = e->add_row > 0 ? e->add_row : g->c_row;
            e->add = random_floats((g->m - 1) * row + g->n, true);
        }
        e->activation = activations[variant >> 4 & 3];
        ingot_gemm_f32(g, p.workspace, 3);
        check_case(is_right(g, p.c, before, e->add), "%s epilogue %zu of %zux%zux%zu", ingot_gemm_kernel_name(kernel),
                   variant, g->m, g->n, g->k);
        guard_release();
    }
}

/* Packed in parts, of [K,N] or [N,K], a matrix is as packed at once; its columns come out of it. */
static void check_packing(const ingot_gemm_kernel *kernel)
{
    static const size_t shapes[][2] = {{1, 1}, {5, 200}, {64, 33}, {130, 97}, {300, 64}};
    for (size_t variant = 0; variant < 2 * sizeof shapes / sizeof shapes[0]; variant++) {
        size_t k = shapes[variant / 2][0], n = shapes[variant / 2][1];
        bool transposed = variant & 1, columns_right = true;
        size_t rows = transposed ? n : k, width = transposed ? k : n;
        size_t floats = ingot_gemm_f32_packed_b_size(kernel, k, n) / sizeof(float);
        float *whole = guard_floats(floats, true), *parts = guard_floats(floats, true), *column = guard_floats(k, true);
        const float *b = random_floats(k * n, true);
        ingot_gemm_f32_pack_b(kernel, k, n, b, transposed ? 1 : (ptrdiff_t)n, transposed ? (ptrdiff_t)k : 1, whole);
        for (size_t first = 0, count; first < rows; first += count) {
            count = (first == 0 ? 2 : 1) * INGOT_GEMM_PACK_ROWS;
            count = rows - first < count ? rows - first : count;
            float *part = guard_floats(count * width, true);
            memcpy(part, b + first * width, count * width * sizeof(float));
            ingot_gemm_f32_pack_b_rows(kernel, k, n, transposed, first, count, part, parts);
        }
        check_case(same_bits(whole, parts, floats), "%s packs %zux%zu in parts", ingot_gemm_kernel_name(kernel), k, n);
        for (size_t j = 0; j < n; j++) {
            ingot_gemm_f32_unpack_column(kernel, k, whole, j, column);
            for (size_t i = 0; i < k; i++)
                columns_right = columns_right && column[i] == (transposed ? b[j * k + i] : b[i * n + j]);
        }
        check_case(columns_right, "%s unpacks columns of %zux%zu", ingot_gemm_kernel_name(kernel), k, n);
        guard_release();
    }
}

static void check_batches(const ingot_gemm_kernel *kernel)
{
    static const size_t shapes[][5] = {
        {2, 3, 49, 49, 32}, {1, 12, 128, 64, 20}, {5, 1, 1, 9, 4}, {2, 2, 200, 150, 160}};
    for (size_t s = 0; s < 4; s++) {
        size_t outer = shapes[s][0], heads = shapes[s][1], m = shapes[s][2], n = shapes[s][3], k = shapes[s][4];
        ingot_gemm g = {.m = m, .n = n, .k = k, .kernel = kernel, .batch_rank = 2, .batch_dims = {outer, heads}};
        /* A and C with the heads inside, as attention has them; B shared by the outer dimension and transposed. */
        g.a = random_floats(outer * m * heads * k, true);
        g.a_row = (ptrdiff_t)(heads * k);
        g.a_column = 1;
        g.a_batch[0] = (ptrdiff_t)(m * heads * k);
        g.a_batch[1] = (ptrdiff_t)k;
        g.b = random_floats(heads * n * k, true);
        g.b_row = 1;
        g.b_column = (ptrdiff_t)k;
        g.b_batch[1] = (ptrdiff_t)(n * k);
        g.c = guard_floats(outer * m * heads * n, true);
        g.c_row = heads * n;
        g.c_batch[0] = (ptrdiff_t)(m * heads * n);
        g.c_batch[1] = (ptrdiff_t)n;
        void *workspace = guard_memory(ingot_gemm_f32_workspace(&g, 3), true);
        ingot_gemm_f32(&g, workspace, 3);
        bool good = true;
        for (size_t i = 0; i < outer * heads && good; i++) {
            ingot_gemm one = g;
            one.a += (ptrdiff_t)(i / heads) * g.a_batch[0] + (ptrdiff_t)(i % heads) * g.a_batch[1];
            one.b += (ptrdiff_t)(i % heads) * g.b_batch[1];
            float *c = g.c + (ptrdiff_t)(i / heads) * g.c_batch[0] + (ptrdiff_t)(i % heads) * g.c_batch[1];
            good = is_right(&one, c, c, NULL);
        }
        check_case(good, "%s batch of %zu times %zux%zux%zu", ingot_gemm_kernel_name(kernel), outer * heads, m, n, k);
        guard_release();
    }
}

/* NaN and infinity stay in their row, and a large A is packed in parts. */
static void check_odd_values(const ingot_gemm_kernel *kernel)
{
    product p = make_product(kernel, (const size_t[3]){20, 70, 40}, &layouts[0], true);
    float *a = (float *)(void *)(uintptr_t)p.g.a;
    a[3 * 40 + 7] = NAN;
    a[9 * 40 + 1] = INFINITY;
    a[11 * 40 + 5] = 1e-42f;
    p.g.epilogue.activation = (ingot_unary){INGOT_UNARY_CLIP, -1000, 1000};
    ingot_gemm_f32(&p.g, p.workspace, 1);
    bool good = true;
    for (size_t i = 0; i < 20; i++) {
        for (size_t j = 0; j < 70; j++) {
            float c = p.c[i * p.g.c_row + j];
            good = good && (i == 3 ? isnan(c) != 0 : i == 9 ? fabsf(c) == 1000 : isfinite(c) != 0);
        }
    }
    check_case(good, "%s NaN and infinity", ingot_gemm_kernel_name(kernel));
    guard_release();
}

/* Products and sums that are denormal numbers are exact. */
static void check_denormals(const ingot_gemm_kernel *kernel)
{
    product p = make_product(kernel, (const size_t[3]){9, 37, 24}, &layouts[1], true);
    float *a = (float *)(void *)(uintptr_t)p.g.a, *b = (float *)(void *)(uintptr_t)p.g.b;
    for (size_t i = 0; i < 9 * 24; i++)
        a[i] = (float)(1 + i % 5) * 0x1p-149f;
    for (size_t i = 0; i < 24 * 37; i++)
        b[i] = (float)(1 + i % 3);
    ingot_gemm_f32(&p.g, p.workspace, 1);
    bool good = true;
    for (size_t i = 0; i < 9; i++) {
        for (size_t j = 0; j < 37; j++) {
            double size;
            good = good && (double)p.c[i * p.g.c_row + j] == dot(&p.g, i, j, &size);
        }
    }
    check_case(good, "%s denormal numbers", ingot_gemm_kernel_name(kernel));
    guard_release();
}

static void check(void)
{
    for (size_t i = 0; i < ingot_gemm_kernel_count(); i++) {
        const ingot_gemm_kernel *kernel = ingot_gemm_kernel_at(i);
        if (!wants_gemm_kernel(kernel))
            continue;
        check_packing(kernel);
        check_products(kernel);
        check_epilogues(kernel);
        check_batches(kernel);
        check_odd_values(kernel);
        check_denormals(kernel);
    }
}

static void work(void *argument)
{
    product *p = argument;
    ingot_gemm_f32(&p->g, p->workspace, 1);
}

static void bench(void)
{
    static const size_t shapes[][3] = {{1, 1024, 256},   {1, 4096, 4096}, {14, 512, 256}, {128, 768, 768},
                                       {128, 3072, 768}, {128, 128, 64},  {512, 49, 512}, {1024, 1024, 1024}};
    for (size_t i = 0; i < ingot_gemm_kernel_count(); i++) {
        const ingot_gemm_kernel *kernel = ingot_gemm_kernel_at(i);
        for (size_t s = 0; s < sizeof shapes / sizeof shapes[0] && wants_gemm_kernel(kernel); s++) {
            for (size_t l = 0; l < 2; l++) {
                product p = make_product(kernel, shapes[s], &layouts[l], false);
                double time = best_time(work, &p), area = (double)p.g.n * (double)p.g.k;
                printf("%-24s %5zux%5zux%5zu %-8s %10.1f us %8.1f GFLOP/s %6.1f GB/s of B\n",
                       ingot_gemm_kernel_name(kernel), p.g.m, p.g.n, p.g.k, l == 0 ? "packed B" : "plain B", time / 1e3,
                       2.0 * (double)p.g.m * area / time, 4.0 * area / time);
                guard_release();
            }
        }
    }
}

static void list(void)
{
    for (size_t i = 0; i < ingot_gemm_kernel_count(); i++)
        printf("%s%s\n", ingot_gemm_kernel_name(ingot_gemm_kernel_at(i)),
               ingot_gemm_kernel_runs(ingot_gemm_kernel_at(i)) ? "" : " (not on this processor)");
}

const check_part check_gemm = {"gemm", check, bench, list};
