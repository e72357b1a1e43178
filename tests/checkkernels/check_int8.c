#include "base/memory.h"
#include "check.h"
#include "cpu/int8/product.h"

#define MAX_THREADS 7
#define ANY_ZERO    (-1000) /* of B: one for each column, any */

/* A product of images * groups grids of height * width places with runs * run_bytes bytes each. */
typedef struct shape {
    size_t images, groups, height, width, columns, runs, run_bytes;
} shape;

static const shape shapes[] = {
    {1, 1, 1, 1, 1, 1, 1},     {1, 1, 1, 14, 32, 1, 64},   {1, 1, 1, 13, 31, 1, 63},   {1, 1, 1, 29, 97, 1, 130},
    {1, 1, 1, 128, 70, 1, 96}, {2, 1, 1, 5, 33, 1, 7},     {3, 1, 7, 7, 16, 3, 12},    {1, 4, 5, 9, 8, 9, 3},
    {2, 3, 3, 17, 40, 5, 21},  {1, 1, 1, 300, 65, 1, 770}, {1, 1, 1, 3, 1000, 1, 258}, {1, 1, 1, 2, 5, 1, 0},
};
#define SHAPE_COUNT (sizeof shapes / sizeof *shapes)

typedef struct way {
    bool a_signed, b_signed, rows; /* rows: B's columns lie side by side */
    int a_zero, b_zero;
    ingot_int8_output output;
    bool summand, bias, matrix_an_image;
    ingot_element element;
    int zero;
} way;

static const way ways[] = {
    {false, true, true, 0, 0, INGOT_INT8_SUMS, false, false, false, INGOT_INT32, 0},
    {false, true, false, 130, 0, INGOT_INT8_BYTES, true, false, false, INGOT_UINT8, 128},
    {true, true, true, -3, 0, INGOT_INT8_BYTES, false, false, true, INGOT_INT8, -20},
    {false, false, true, 7, 128, INGOT_INT8_FLOATS, false, true, false, INGOT_FLOAT, 0},
    {true, false, false, 5, ANY_ZERO, INGOT_INT8_FLOATS, true, false, true, INGOT_FLOAT, 0},
    {false, true, true, 255, ANY_ZERO, INGOT_INT8_SUMS, true, false, false, INGOT_INT32, 0},
};
#define WAY_COUNT (sizeof ways / sizeof *ways)

typedef struct product_case {
    shape s;
    way w;
    size_t matrices;
    ingot_int8_b b;
    ptrdiff_t *runs;
    uint8_t *a; /* as it is multiplied: unsigned */
    const uint8_t *b_data, *b_zeros;
    int32_t *summand;
    float *scale, *bias;
    ingot_int8_terms terms;
    ingot_int8_product p;
    size_t count; /* of C */
} product_case;

static uint8_t *random_bytes(size_t count, bool at_end)
{
    uint8_t *bytes = guard_memory(count, at_end);
    for (size_t i = 0; i < count; i++)
        bytes[i] = (uint8_t)random_bits();
    return bytes;
}

static size_t b_element(const product_case *c, size_t matrix, size_t run, size_t i, size_t column)
{
    size_t row = run * c->s.run_bytes + i, depth = c->s.runs * c->s.run_bytes;
    return matrix * c->s.columns * depth + (c->w.rows ? row * c->s.columns + column : column * depth + row);
}

static void pack_all(product_case *c)
{
    const shape *s = &c->s;
    size_t depth = s->runs * s->run_bytes, packed_size = ingot_int8_packed_size(s->columns, s->runs, s->run_bytes);
    size_t columns_size = ingot_int8_columns_size(s->columns);
    char *packed = guard_memory(c->matrices * packed_size, true),
         *terms = guard_memory(c->matrices * columns_size, true);
    c->b = (ingot_int8_b){.columns = s->columns, .runs = s->runs, .outer = 1, .inner = s->run_bytes};
    c->b.run_stride = (ptrdiff_t)(s->run_bytes * (c->w.rows ? s->columns : 1));
    c->b.column_stride = (ptrdiff_t)(c->w.rows ? 1 : depth);
    c->b.inner_stride = (ptrdiff_t)(c->w.rows ? s->columns : 1);
    c->b.is_signed = c->w.b_signed;
    for (size_t m = 0; m < c->matrices; m++) {
        c->b.data = c->b_data + m * s->columns * depth;
        int8_t *to = (int8_t *)packed + m * packed_size;
        ingot_int8_pack_b(&c->b, to);
        ingot_int8_columns columns = ingot_int8_columns_in(terms + m * columns_size, s->columns);
        memcpy(columns.scale, c->scale, s->columns * sizeof(float));
        ingot_int8_fill_columns(&columns, &c->terms, 0, s->columns, depth,
                                ingot_int8_sums_in(to, s->columns, s->runs, s->run_bytes));
    }
    c->p.b = (int8_t *)packed;
    c->p.b_matrix = packed_size;
    c->p.terms = terms;
}

static product_case make_case(const shape *s, const way *w, bool at_end)
{
    product_case c = {.s = *s, .w = *w, .matrices = w->matrix_an_image ? s->images : 1};
    size_t depth = s->runs * s->run_bytes, places = s->images * s->groups * s->height * s->width;
    size_t stretch = (s->run_bytes + 3) / 4 * 4;
    c.matrices = w->matrix_an_image ? s->images : s->groups;
    c.matrices = w->matrix_an_image && s->groups > 1 ? s->images * s->groups : c.matrices;
    c.b_data = random_bytes(c.matrices * s->columns * depth, at_end);
    c.b_zeros = random_bytes(s->columns, at_end);
    c.summand = (int32_t *)(void *)random_bytes(s->columns * 4, at_end);
    c.scale = random_floats(s->columns, at_end);
    c.bias = random_floats(s->columns, at_end);
    for (size_t i = 0; i < s->columns; i++)
        c.scale[i] *= w->output == INGOT_INT8_BYTES && !w->summand ? 1e-3f : 1e-7f;
    static const uint8_t middle = 128;
    c.terms = (ingot_int8_terms){.a_zero = w->a_zero,
                                 .a_signed = w->a_signed,
                                 .b_signed = w->b_signed,
                                 .b_zero = w->b_zero == 0     ? NULL
                                           : w->b_zero == 128 ? &middle
                                                              : c.b_zeros,
                                 .b_zero_count = w->b_zero == ANY_ZERO ? s->columns : 1,
                                 .summand = w->summand ? c.summand : NULL,
                                 .summand_count = s->columns,
                                 .bias = w->bias ? c.bias : NULL,
                                 .bias_count = s->columns};
    c.runs = guard_memory(s->runs * sizeof *c.runs, true);
    for (size_t r = 0; r < s->runs; r++)
        c.runs[r] = (ptrdiff_t)(r * stretch);
    c.count = places * s->columns;
    ptrdiff_t place = (ptrdiff_t)(s->runs * stretch);
    c.p = (ingot_int8_product){.images = s->images,
                               .groups = s->groups,
                               .height = s->height,
                               .width = s->width,
                               .columns = s->columns,
                               .image_matrices = w->matrix_an_image ? s->groups : 0,
                               .group_matrices = 1,
                               .runs = s->runs,
                               .run_bytes = s->run_bytes,
                               .a_runs = c.runs,
                               .a = random_bytes(places * (size_t)place, at_end),
                               .a_place = place,
                               .a_line = place * (ptrdiff_t)s->width,
                               .biased = w->bias,
                               .output = w->output,
                               .element = w->element,
                               .zero = w->zero,
                               .c_place = s->columns,
                               .c_line = s->columns * s->width};
    c.p.a_group = c.p.a_line * (ptrdiff_t)s->height;
    c.p.a_image = c.p.a_group * (ptrdiff_t)s->groups;
    c.p.c_group = c.p.c_line * s->height;
    c.p.c_image = c.p.c_group * s->groups;
    if (ingot_int8_needs_row_sums(&c.terms))
        c.p.row_sums = guard_memory(places * sizeof(int32_t), true);
    pack_all(&c);
    return c;
}

/* The exact sum. */
static int64_t sum_of(const product_case *c, size_t place, size_t column)
{
    const shape *s = &c->s;
    size_t image = place / (s->groups * s->height * s->width), group = place / (s->height * s->width) % s->groups;
    size_t matrix = image * c->p.image_matrices + group;
    const uint8_t *a = c->p.a + place * (size_t)c->p.a_place;
    int64_t sum = c->w.summand ? c->summand[column] : 0, b_zero = 0;
    if (c->terms.b_zero) {
        uint8_t zero = ((const uint8_t *)c->terms.b_zero)[c->terms.b_zero_count == 1 ? 0 : column];
        b_zero = c->w.b_signed ? (int8_t)zero : zero;
    }
    for (size_t run = 0; run < s->runs; run++)
        for (size_t i = 0; i < s->run_bytes; i++) {
            int64_t x = (int64_t)a[c->runs[run] + (ptrdiff_t)i] - (c->w.a_signed ? 128 : 0);
            uint8_t b = c->b_data[b_element(c, matrix, run, i, column)];
            sum += (x - c->w.a_zero) * ((c->w.b_signed ? (int8_t)b : b) - b_zero);
        }
    return sum;
}

static bool is_right(const product_case *c, size_t index, const void *y)
{
    size_t column = index % c->s.columns;
    int32_t sum = (int32_t)(uint32_t)sum_of(c, index / c->s.columns, column);
    float scaled = (float)sum * c->scale[column];
    if (c->w.output == INGOT_INT8_SUMS)
        return ((const int32_t *)y)[index] == sum;
    if (c->w.output == INGOT_INT8_FLOATS)
        return ((const float *)y)[index] == (c->w.bias ? scaled + c->bias[column] : scaled);
    bool is_signed = c->w.element == INGOT_INT8;
    float rounded = rintf(scaled) + (float)c->w.zero, low = is_signed ? -128 : 0, high = is_signed ? 127 : 255;
    rounded = rounded < low ? low : rounded > high ? high : rounded;
    return (is_signed ? ((const int8_t *)y)[index] : ((const uint8_t *)y)[index]) == (int)rounded;
}

static void check_one(const ingot_int8_kernel *kernel, const shape *s, const way *w, bool at_end)
{
    product_case c = make_case(s, w, at_end);
    bool good = true;
    for (size_t i = 0; i < sizeof check_threads / sizeof *check_threads; i++) {
        c.p.c = guard_memory(c.count * (w->output == INGOT_INT8_BYTES ? 1 : 4), at_end);
        c.p.kernel = kernel;
        ingot_int8_multiply(&c.p, check_threads[i]);
        for (size_t k = 0; k < c.count && good; k++)
            good = is_right(&c, k, c.p.c);
    }
    check_case(good, "%s, %zu images, %zu groups, %zux%zu places, %zu columns, %zu runs of %zu, way %zu", kernel->name,
               s->images, s->groups, s->height, s->width, s->columns, s->runs, s->run_bytes, (size_t)(w - ways));
    guard_release();
}

static bool is_wanted(const ingot_int8_kernel *kernel)
{
    return only_best ? kernel == ingot_int8_kernel_best() : ingot_int8_kernel_runs(kernel);
}

static void check(void)
{
    for (size_t k = 0; k < ingot_int8_kernel_count(); k++)
        for (size_t i = 0; i < SHAPE_COUNT && is_wanted(ingot_int8_kernel_at(k)); i++)
            for (size_t w = 0; w < WAY_COUNT; w++)
                check_one(ingot_int8_kernel_at(k), &shapes[i], &ways[w], (i + w) % 2 == 0);
}

static void multiply(void *argument)
{
    ingot_int8_multiply(argument, 1);
}

static void bench(void)
{
    static const shape benched[] = {{1, 1, 1, 128, 768, 1, 768},
                                    {1, 1, 1, 128, 3072, 1, 768},
                                    {1, 1, 1, 128, 768, 1, 3072},
                                    {1, 1, 1, 3136, 64, 1, 64},
                                    {1, 1, 7, 7, 512, 3, 1536}};
    for (size_t k = 0; k < ingot_int8_kernel_count(); k++)
        for (size_t i = 0; i < sizeof benched / sizeof *benched && is_wanted(ingot_int8_kernel_at(k)); i++) {
            const shape *s = &benched[i];
            product_case c = make_case(s, &ways[1], true);
            c.p.kernel = ingot_int8_kernel_at(k);
            c.p.c = guard_memory(c.count, true);
            double work = 2.0 * (double)(s->height * s->width * s->columns) * (double)(s->runs * s->run_bytes);
            printf("%-24s %5zu places %5zu columns %5zu deep %8.1f GOP/s\n", c.p.kernel->name, s->height * s->width,
                   s->columns, s->runs * s->run_bytes, work / best_time(multiply, &c.p));
            guard_release();
        }
}

static void list(void)
{
    for (size_t k = 0; k < ingot_int8_kernel_count(); k++)
        puts(ingot_int8_kernel_at(k)->name);
}

const check_part check_int8 = {"int8", check, bench, list};
