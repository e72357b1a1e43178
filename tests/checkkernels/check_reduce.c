#include "check.h"
#include "cpu/reduce/reduce_table.h"

static const char *const kind_names[] = {
#define REDUCE_NAME(name) #name,
    INGOT_REDUCE_LIST(REDUCE_NAME)
#undef REDUCE_NAME
};

static const size_t counts[] = {0, 1, 2, 7, 15, 16, 17, 33, 63, 64, 65, 127, 200, 1000, 4099};
#define COUNT_COUNT (sizeof counts / sizeof counts[0])

static double truth_of(ingot_reduce_kind kind, const float *x, size_t count, size_t inner)
{
    double result = kind == INGOT_REDUCE_MAX ? -INFINITY : kind == INGOT_REDUCE_MIN ? INFINITY : 0;
    for (size_t i = 0; i < count; i++) {
        double value = x[i * inner];
        if (kind == INGOT_REDUCE_MAX)
            result = isnan(result) || result > value ? result : value;
        else if (kind == INGOT_REDUCE_MIN)
            result = isnan(result) || result < value ? result : value;
        else
            result += kind == INGOT_REDUCE_SUM_SQUARE ? value * value
                      : kind == INGOT_REDUCE_SUM_ABS  ? fabs(value)
                                                      : value;
    }
    return kind == INGOT_REDUCE_MEAN ? result / (double)count : result;
}

static bool is_near(float value, double truth, double tolerance)
{
    return isnan(truth) ? isnan(value) != 0 : isinf(truth) ? (double)value == truth : fabs(value - truth) <= tolerance;
}

static void check_level(int level, ingot_reduce_kind kind)
{
    const ingot_reduce_table *table = ingot_reduce_table_at(level);
    for (size_t i = 0; i < COUNT_COUNT; i++) {
        size_t count = counts[i], inner = 1 + i % 5 * 13;
        float *x = random_floats(count * inner, i % 2 == 0), *y = guard_floats(inner, i % 2 == 0);
        if (count > 3 && i % 3 == 0)
            x[random_below(count * inner)] = i % 2 ? NAN : -INFINITY;
        ingot_reduce_kind base = kind == INGOT_REDUCE_MEAN ? INGOT_REDUCE_SUM : kind;
        double tolerance = 5e-7 * (double)count + 1e-7;
        bool good = is_near(table->row(kind, x, count), truth_of(base, x, count, 1), tolerance);
        table->columns(kind, x, count, inner, inner, y);
        for (size_t j = 0; j < inner; j++)
            good = good && is_near(y[j], truth_of(base, x + j, count, inner), tolerance);
        check_case(good, "%s reduce %s of %zu", ingot_level_name(level), kind_names[kind], count);
        guard_release();
    }
}

static void check_reductions(void)
{
    static const size_t shapes[][3] = {{3, 50, 1}, {1, 100, 77}, {4, 9, 130}, {200, 300, 1}, {1, 2000, 200}, {2, 0, 3}};
    for (size_t s = 0; s < 6; s++) {
        for (int kind = 0; kind < INGOT_REDUCE_COUNT; kind++) {
            size_t outer = shapes[s][0], count = shapes[s][1], inner = shapes[s][2];
            float *x = random_floats(outer * count * inner, true), *y = guard_floats(outer * inner, true);
            float *first = guard_floats(outer * inner, true);
            bool good = true;
            for (size_t t = 0; t < 4; t++) {
                ingot_reduce_f32((ingot_reduce_kind)kind, outer, count, inner, x, t == 0 ? first : y, check_threads[t]);
                good = good && (t == 0 || same_bits(y, first, outer * inner));
            }
            for (size_t i = 0; i < outer * inner; i++) {
                const float *from = x + i / inner * count * inner + i % inner;
                good = good && is_near(first[i], truth_of((ingot_reduce_kind)kind, from, count, inner),
                                       1e-6 * (double)(count + 1));
            }
            check_case(good, "reduce %s of %zux%zux%zu", kind_names[kind], outer, count, inner);
            guard_release();
        }
    }
}

/* Any number of rows, in place, have the bits that each has alone. */
static void check_softmax_rows(int level, bool logarithm)
{
    const ingot_reduce_table *table = ingot_reduce_table_at(level);
    for (size_t rows = 1; rows < 11; rows++) {
        size_t count = 1 + rows * rows * 3;
        float *x = random_floats(count * rows, true), *alone = guard_floats(count * rows, true);
        for (size_t row = 0; row < rows; row++)
            table->softmax_rows(logarithm, x + row * count, 1, count, alone + row * count);
        table->softmax_rows(logarithm, x, rows, count, x);
        check_case(same_bits(x, alone, count * rows), "%s softmax of %zu rows of %zu: bits change",
                   ingot_level_name(level), rows, count);
        guard_release();
    }
}

static void check_softmax(int level, bool logarithm)
{
    const ingot_reduce_table *table = ingot_reduce_table_at(level);
    for (size_t i = 1; i < COUNT_COUNT; i++) {
        size_t count = counts[i], inner = 1 + i % 4 * 11;
        float *x = random_floats(count * inner, i % 2 == 0), *y = guard_floats(count * inner, i % 2 == 0);
        for (size_t j = 0; j < count * inner; j++)
            x[j] = x[j] * 30 + (i % 3 == 0 ? 1e4f : 0);
        if (count > 2)
            x[inner] = -INFINITY;
        if (inner == 1)
            table->softmax_rows(logarithm, x, 1, count, y);
        else
            table->softmax_columns(logarithm, x, count, inner, inner, y);
        bool good = true;
        for (size_t c = 0; c < inner; c++) {
            double most = truth_of(INGOT_REDUCE_MAX, x + c, count, inner), sum = 0;
            for (size_t j = 0; j < count; j++)
                sum += exp(x[j * inner + c] - (float)most);
            for (size_t j = 0; j < count; j++) {
                double exponent = x[j * inner + c] - (float)most,
                       truth = logarithm ? exponent - log(sum) : exp(exponent) / sum;
                good = good && is_near(y[j * inner + c], truth, 2e-6 * (logarithm ? 1 + fabs(truth) : truth + 1e-30));
            }
        }
        check_case(good, "%s softmax %d of %zux%zu", ingot_level_name(level), logarithm, count, inner);
        guard_release();
    }
}

/* Any number of rows have the bits that each has alone. */
static void check_rows_of_moments(int level)
{
    const ingot_reduce_table *table = ingot_reduce_table_at(level);
    for (size_t rows = 1; rows < 11; rows++) {
        size_t count = 1 + rows * rows * 5 % 83;
        float *x = random_floats(count * rows, true), *mean = guard_floats(rows, true);
        float *square = guard_floats(rows, true);
        table->moments(x, rows, count, rows % 3 == 0, mean, square);
        bool good = true;
        for (size_t row = 0; row < rows; row++) {
            float alone[2];
            table->moments(x + row * count, 1, count, rows % 3 == 0, &alone[0], &alone[1]);
            good = good && same_bits(&alone[0], mean + row, 1) && same_bits(&alone[1], square + row, 1);
        }
        check_case(good, "%s moments of %zu rows of %zu: bits change", ingot_level_name(level), rows, count);
        guard_release();
    }
}

static void check_norms(int level)
{
    const ingot_reduce_table *table = ingot_reduce_table_at(level);
    for (size_t i = 1; i < COUNT_COUNT; i++) {
        size_t count = counts[i];
        float *x = random_floats(count, true), *scale = random_floats(count, true), *bias = random_floats(count, true);
        float *y = guard_floats(count, true), mean, square;
        for (size_t j = 0; j < count; j++)
            x[j] += 3;
        bool good = true;
        for (int variant = 0; variant < 8; variant++) {
            bool plain = variant & 4;
            const float *s = variant & 1 ? scale : NULL, *b = variant & 2 ? bias : NULL;
            double center = plain ? 0 : truth_of(INGOT_REDUCE_MEAN, x, count, 1), spread = 0;
            for (size_t j = 0; j < count; j++)
                spread += (x[j] - center) * (x[j] - center) / (double)count;
            table->moments(x, 1, count, plain, &mean, &square);
            float inverse = 1 / sqrtf(square + 1e-5f);
            table->normalize(x, count, mean, inverse, s, b, y);
            for (size_t j = 0; j < count; j++) {
                double truth = (x[j] - center) / sqrt(spread + 1e-5) * (s ? s[j] : 1) + (b ? b[j] : 0);
                good = good && fabs(y[j] - truth) < (count == 1 ? 1e-3 : 2e-5);
            }
        }
        check_case(good, "%s normalization of %zu", ingot_level_name(level), count);
        guard_release();
    }
}

static void check_group_norm(void)
{
    ingot_group_norm norm = {.batch = 2, .channels = 6, .groups = 3, .inner = 35, .epsilon = 1e-5f};
    size_t count = 2 * 6 * 35, group = 2 * 35;
    norm.x = random_floats(count, true);
    norm.scale = random_floats(6, true);
    norm.bias = random_floats(6, true);
    norm.y = guard_floats(count, true);
    ingot_group_norm_f32(&norm, 3);
    bool good = true;
    for (size_t i = 0; i < count; i++) {
        const float *from = norm.x + i / group * group;
        double mean = truth_of(INGOT_REDUCE_MEAN, from, group, 1);
        double square = truth_of(INGOT_REDUCE_SUM_SQUARE, from, group, 1) / (double)group - mean * mean;
        size_t channel = i / 35 % 6;
        double truth = (norm.x[i] - mean) / sqrt(square + 1e-5) * norm.scale[channel] + norm.bias[channel];
        good = good && fabs(norm.y[i] - truth) < 1e-5;
    }
    check_case(good, "group normalization");
    guard_release();
}

/* One number that is none makes its row so and no other; denormal numbers do not vanish. */
static void check_odd_values(int level)
{
    enum { COUNT = 197 };
    const ingot_reduce_table *table = ingot_reduce_table_at(level);
    float *x = random_floats(COUNT, true), *y = guard_floats(COUNT, true), mean, square;
    bool good = true;
    x[101] = NAN;
    table->softmax_rows(false, x, 1, COUNT, y);
    for (size_t i = 0; i < COUNT; i++)
        good = good && isnan(y[i]);
    table->moments(x, 1, COUNT, false, &mean, &square);
    good = good && isnan(mean) && isnan(square);
    x[101] = INFINITY;
    good = good && table->row(INGOT_REDUCE_SUM, x, COUNT) == INFINITY &&
           table->row(INGOT_REDUCE_MAX, x, COUNT) == INFINITY;
    for (size_t i = 0; i < COUNT; i++)
        x[i] = 0x1p-149f;
    good = good && table->row(INGOT_REDUCE_SUM, x, COUNT) == COUNT * 0x1p-149f;
    table->normalize(x, COUNT, 0, 1, NULL, NULL, y);
    good = good && same_bits(x, y, COUNT);
    check_case(good, "%s NaN, infinity, denormal numbers", ingot_level_name(level));
    guard_release();
}

/* height, width, kernel height and width, stride, dilation, pads top, left, bottom, right */
static const size_t pools[][10] = {
    {112, 112, 3, 3, 2, 1, 1, 1, 1, 1}, {20, 20, 5, 5, 1, 1, 2, 2, 2, 2}, {7, 7, 7, 7, 1, 1, 0, 0, 0, 0},
    {9, 13, 2, 3, 2, 1, 0, 1, 1, 0},    {15, 17, 3, 3, 3, 2, 2, 2, 2, 2}, {1, 40, 1, 4, 4, 1, 0, 0, 0, 0},
    {5, 5, 3, 3, 2, 1, 1, 1, 2, 2},     {4, 600, 2, 2, 2, 1, 0, 0, 0, 0}, {3, 3000, 3, 1500, 1, 1, 1, 0, 1, 0},
    {3, 900, 1, 3, 200, 1, 0, 0, 0, 0}, {1, 1, 1, 1, 1, 1, 0, 0, 0, 0},   {6, 5, 3, 2, 1, 1, 0, 0, 0, 0},
};

static double pool_truth(const ingot_pool *p, const float *plane, size_t y, size_t x)
{
    double sum = 0, most = -INFINITY;
    size_t inside = 0, counted = 0;
    for (size_t i = 0; i < p->kernel_height * p->kernel_width; i++) {
        size_t py = y * p->stride_height + i / p->kernel_width * p->dilation_height;
        size_t px = x * p->stride_width + i % p->kernel_width * p->dilation_width;
        if (py < p->pad_top + p->in_height + p->pad_bottom && px < p->pad_left + p->in_width + p->pad_right)
            counted++;
        size_t row = py - p->pad_top, column = px - p->pad_left; /* below 0: far too large */
        if (row >= p->in_height || column >= p->in_width)
            continue;
        double value = plane[row * p->in_width + column];
        inside++;
        sum += value;
        most = isnan(most) || most > value ? most : value;
    }
    return p->average ? sum / (double)(p->count_padding ? counted : inside) : most;
}

static void check_pool(int level, const size_t s[10], int variant)
{
    ingot_pool p = {.average = variant > 0,
                    .count_padding = variant == 2,
                    .planes = 1,
                    .in_height = s[0],
                    .in_width = s[1],
                    .kernel_height = s[2],
                    .kernel_width = s[3],
                    .stride_height = s[4],
                    .stride_width = s[4],
                    .dilation_height = s[5],
                    .dilation_width = s[5],
                    .pad_top = s[6],
                    .pad_left = s[7],
                    .pad_bottom = s[8],
                    .pad_right = s[9]};
    p.out_height = (s[0] + s[6] + s[8] - (s[2] - 1) * s[5] - 1) / s[4] + 1;
    p.out_width = (s[1] + s[7] + s[9] - (s[3] - 1) * s[5] - 1) / s[4] + 1;
    float *plane = random_floats(s[0] * s[1], variant != 1), *out = guard_floats(p.out_width, true);
    if (variant == 0)
        plane[random_below(s[0] * s[1])] = NAN;
    bool good = true;
    for (size_t y = 0; y < p.out_height && good; y++) {
        ingot_reduce_table_at(level)->pool_row(&p, plane, y, out);
        for (size_t x = 0; x < p.out_width && good; x++)
            good = is_near(out[x], pool_truth(&p, plane, y, x), 1e-5);
    }
    check_case(good, "%s pool %zux%zu over %zux%zu stride %zu variant %d", ingot_level_name(level), s[2], s[3], s[0],
               s[1], s[4], variant);
    guard_release();
}

static void check_threads_of_rows(void)
{
    size_t rows = 301, count = 300;
    float *x = random_floats(rows * count, true), *y = guard_floats(rows * count, true),
          *first = guard_floats(rows * count, true);
    ingot_layer_norm norm = {.rows = rows, .count = count, .epsilon = 1e-5f, .x = x, .y = y};
    bool good = true;
    for (size_t t = 0; t < 4; t++) {
        ingot_softmax_f32(false, rows, count, 1, x, y, check_threads[t]);
        if (t == 0)
            memcpy(first, y, rows * count * sizeof(float));
        good = good && same_bits(y, first, rows * count);
    }
    check_case(good, "softmax keeps its bits with threads");
    for (size_t t = 0; t < 4; t++) {
        ingot_layer_norm_f32(&norm, check_threads[t]);
        if (t == 0)
            memcpy(first, y, rows * count * sizeof(float));
        good = good && same_bits(y, first, rows * count);
    }
    check_case(good, "layer normalization keeps its bits with threads");
    guard_release();
}

static void check(void)
{
    for (int level = 0; level < INGOT_LEVEL_COUNT; level++) {
        if (!wants_level(level))
            continue;
        for (int kind = 0; kind < INGOT_REDUCE_COUNT; kind++)
            check_level(level, (ingot_reduce_kind)kind);
        check_softmax_rows(level, false);
        check_softmax_rows(level, true);
        check_softmax(level, false);
        check_softmax(level, true);
        check_norms(level);
        check_rows_of_moments(level);
        check_odd_values(level);
        for (size_t s = 0; s < sizeof pools / sizeof pools[0]; s++) {
            for (int variant = 0; variant < 3; variant++)
                check_pool(level, pools[s], variant);
        }
    }
    check_reductions();
    check_group_norm();
    check_threads_of_rows();
}

typedef enum row_work { ROW_SUM, ROW_SOFTMAX, ROW_LAYER_NORM } row_work;

typedef struct row_bench {
    const ingot_reduce_table *table;
    const ingot_pool *pool; /* NULL: rows */
    row_work what;
    size_t rows, count;
    float *x, *y;
} row_bench;

static void work(void *argument)
{
    const row_bench *b = argument;
    enum { MOST_ROWS = 4096 };
    static float means[MOST_ROWS], squares[MOST_ROWS];
    if (b->what == ROW_LAYER_NORM)
        b->table->moments(b->x, b->rows, b->count, false, means, squares);
    for (size_t row = 0; row < b->rows; row++) {
        const float *x = b->x + row * b->count;
        if (b->pool) {
            b->table->pool_row(b->pool, b->x, row, b->y);
        } else if (b->what == ROW_SUM) {
            b->y[row] = b->table->row(INGOT_REDUCE_SUM, x, b->count);
        } else if (b->what == ROW_SOFTMAX) {
            b->table->softmax_rows(false, b->x, b->rows, b->count, b->y);
            return;
        } else {
            b->table->normalize(x, b->count, means[row], squares[row], b->x, b->x, b->y + row * b->count);
        }
    }
}

static void bench_rows(int level, row_bench b, const char *name)
{
    b.table = ingot_reduce_table_at(level);
    b.x = random_floats(b.rows * b.count, false);
    b.y = guard_floats(b.rows * b.count, false);
    double time = best_time(work, &b);
    printf("%-7s %-12s %5zux%-5zu %9.1f us %7.3f ns an element\n", ingot_level_name(level), name, b.rows, b.count,
           time / 1e3, time / (double)(b.rows * b.count));
    guard_release();
}

static void bench_pool(int level, const ingot_pool *pool, const char *name)
{
    row_bench b = {.table = ingot_reduce_table_at(level), .pool = pool, .rows = pool->out_height};
    b.x = random_floats(pool->in_height * pool->in_width, false);
    b.y = guard_floats(pool->out_width, false);
    double time = best_time(work, &b), elements = (double)(pool->out_height * pool->out_width);
    printf("%-7s %-12s %5zux%-5zu %9.1f us %7.3f ns an element\n", ingot_level_name(level), name, pool->in_height,
           pool->in_width, time / 1e3, time / elements);
    guard_release();
}

#define BENCH_POOL(size, out, kernel, stride, pad)                                                        \
    {                                                                                                     \
        .planes = 1, .in_height = size, .in_width = size, .out_height = out, .out_width = out,            \
        .kernel_height = kernel, .kernel_width = kernel, .stride_height = stride, .stride_width = stride, \
        .dilation_height = 1, .dilation_width = 1, .pad_top = pad, .pad_left = pad                        \
    }

/* Attention of 12 heads and 128 or 197 tokens, layers of 384, 768 and 1024, the end and the beginning of image networks, and a
 * detector's pyramid. */
static void bench(void)
{
    static const struct {
        const char *name;
        row_bench b;
    } rows[] = {
        {"softmax", {.what = ROW_SOFTMAX, .rows = 12 * 128, .count = 128}},
        {"softmax", {.what = ROW_SOFTMAX, .rows = 12 * 197, .count = 197}},
        {"softmax", {.what = ROW_SOFTMAX, .rows = 1, .count = 1000}},
        {"layer norm", {.what = ROW_LAYER_NORM, .rows = 128, .count = 384}},
        {"layer norm", {.what = ROW_LAYER_NORM, .rows = 128, .count = 768}},
        {"layer norm", {.what = ROW_LAYER_NORM, .rows = 197, .count = 768}},
        {"sum", {.what = ROW_SUM, .rows = 2048, .count = 49}},
        {"sum", {.what = ROW_SUM, .rows = 64, .count = 3136}},
    };
    static const ingot_pool first = BENCH_POOL(112, 56, 3, 2, 1), pyramid = BENCH_POOL(20, 20, 5, 1, 2);
    for (int level = 0; level < INGOT_LEVEL_COUNT; level++) {
        if (!wants_level(level))
            continue;
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
            bench_rows(level, rows[i].b, rows[i].name);
        bench_pool(level, &first, "max 3x3/2");
        bench_pool(level, &pyramid, "max 5x5");
    }
}

static void list(void)
{
    for (int level = 0; level < INGOT_LEVEL_COUNT; level++) {
        for (int kind = 0; kind < INGOT_REDUCE_COUNT; kind++)
            printf("reduce %s %s\n", kind_names[kind], ingot_level_name(level));
        printf("softmax, log softmax, normalization, pooling %s\n", ingot_level_name(level));
    }
}

const check_part check_reduce = {"reduce", check, bench, list};
