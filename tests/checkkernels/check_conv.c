#include "check_conv.h"

/* groups, channels, outputs, in_height, in_width, kernel height and width, stride, dilation, pads top, left, bottom, right, batch */
static const size_t shapes[][14] = {
    {1, 3, 16, 17, 19, 3, 3, 2, 1, 1, 1, 1, 1, 2},   {1, 5, 33, 9, 14, 1, 1, 1, 1, 0, 0, 0, 0, 1},
    {1, 40, 5, 7, 7, 1, 1, 1, 1, 0, 0, 0, 0, 3},     {1, 70, 64, 7, 7, 1, 1, 1, 1, 0, 0, 0, 0, 1},
    {1, 24, 29, 14, 14, 3, 3, 1, 1, 1, 1, 1, 1, 1},  {1, 6, 10, 13, 11, 3, 5, 1, 2, 2, 4, 2, 4, 1},
    {1, 4, 7, 12, 10, 4, 4, 4, 1, 0, 0, 0, 0, 2},    {1, 50, 20, 6, 5, 3, 3, 1, 1, 0, 0, 0, 0, 1},
    {2, 6, 10, 13, 11, 3, 5, 1, 1, 0, 2, 1, 0, 2},   {3, 9, 6, 7, 5, 2, 2, 3, 1, 1, 0, 2, 1, 1},
    {4, 8, 20, 8, 8, 3, 3, 2, 1, 1, 1, 0, 0, 1},     {1, 5, 33, 1, 100, 1, 11, 2, 1, 0, 5, 0, 5, 1},
    {1, 3, 2, 1, 1, 3, 3, 1, 1, 1, 1, 1, 1, 1},      {1, 2, 3, 40, 3, 5, 3, 2, 1, 2, 1, 2, 1, 1},
    {1, 130, 20, 30, 31, 3, 3, 1, 3, 3, 3, 3, 3, 1}, {1, 8, 8, 5, 70, 1, 1, 2, 1, 0, 0, 0, 0, 1},
    {1, 1, 1, 20, 20, 7, 7, 2, 1, 3, 3, 3, 3, 1},    {1, 2, 4, 3, 3, 3, 3, 1, 5, 5, 5, 5, 5, 1},
    {8, 8, 8, 16, 16, 3, 3, 1, 1, 1, 1, 1, 1, 2},    {7, 7, 7, 7, 7, 3, 3, 1, 1, 1, 1, 1, 1, 1},
    {5, 5, 5, 15, 33, 3, 3, 2, 1, 1, 1, 1, 1, 1},    {5, 5, 5, 14, 34, 3, 3, 2, 1, 0, 0, 1, 1, 1},
    {6, 6, 6, 14, 14, 5, 5, 1, 1, 2, 2, 2, 2, 1},    {6, 6, 6, 28, 29, 5, 5, 2, 1, 2, 2, 2, 2, 1},
    {3, 3, 3, 56, 50, 7, 7, 1, 1, 3, 3, 3, 3, 1},    {4, 4, 4, 9, 9, 4, 2, 3, 2, 2, 1, 2, 1, 1},
    {4, 4, 8, 9, 9, 3, 3, 1, 1, 1, 1, 1, 1, 2},      {4, 4, 4, 1, 100, 1, 9, 1, 1, 0, 4, 0, 4, 1},
    {3, 3, 3, 2, 2, 3, 3, 1, 1, 1, 1, 1, 1, 1},      {3, 3, 3, 11, 13, 3, 3, 1, 6, 6, 6, 6, 6, 1},
    {3, 3, 3, 3, 4, 5, 5, 1, 1, 4, 4, 4, 4, 1},      {3, 3, 3, 20, 20, 1, 1, 2, 1, 0, 0, 0, 0, 1},
    {2, 32, 60, 19, 33, 3, 3, 1, 1, 1, 1, 1, 1, 2},  {1, 140, 30, 30, 31, 3, 3, 1, 2, 2, 2, 2, 2, 1},
    {1, 20, 36, 40, 44, 3, 3, 1, 4, 4, 4, 4, 4, 2},  {1, 16, 17, 21, 70, 3, 3, 1, 1, 0, 2, 0, 0, 1},
    {1, 17, 15, 29, 30, 3, 3, 1, 3, 2, 3, 4, 3, 1},  {1, 40, 40, 14, 14, 3, 3, 1, 1, 1, 1, 1, 1, 5},
    {1, 5, 3, 11, 131, 9, 9, 1, 1, 4, 4, 4, 4, 2},   {1, 3, 4, 9, 97, 3, 3, 1, 5, 5, 5, 5, 5, 1},
    {1, 7, 2, 6, 20, 2, 16, 1, 1, 0, 19, 1, 3, 1},   {1, 4, 1, 5, 16, 3, 5, 1, 9, 9, 40, 9, 40, 2},
    {1, 6, 4, 4, 250, 3, 3, 1, 1, 0, 0, 0, 0, 1},
};
#define SHAPE_COUNT (sizeof shapes / sizeof shapes[0])

ingot_conv check_conv_make(const size_t s[14], const ingot_gemm_kernel *kernel)
{
    ingot_conv c = {.groups = s[0],
                    .channels = s[1],
                    .outputs = s[2],
                    .in_height = s[3],
                    .in_width = s[4],
                    .kernel_height = s[5],
                    .kernel_width = s[6],
                    .stride_height = s[7],
                    .stride_width = s[7],
                    .dilation_height = s[8],
                    .dilation_width = s[8],
                    .pad_top = s[9],
                    .pad_left = s[10],
                    .batch = s[13],
                    .kernel = kernel};
    c.out_height = (c.in_height + s[9] + s[11] - (s[5] - 1) * s[8] - 1) / s[7] + 1;
    c.out_width = (c.in_width + s[10] + s[12] - (s[6] - 1) * s[8] - 1) / s[7] + 1;
    return c;
}

double check_conv_sum(const ingot_conv *c, const float *x, const float *w, size_t image, size_t output, size_t y,
                      size_t column)
{
    size_t channels = c->channels / c->groups, group = output / (c->outputs / c->groups);
    double sum = 0;
    for (size_t channel = 0; channel < channels; channel++) {
        for (size_t ky = 0; ky < c->kernel_height; ky++) {
            for (size_t kx = 0; kx < c->kernel_width; kx++) {
                size_t iy = y * c->stride_height + ky * c->dilation_height - c->pad_top;
                size_t ix = column * c->stride_width + kx * c->dilation_width - c->pad_left;
                if (iy >= c->in_height || ix >= c->in_width) /* also where it went below 0 */
                    continue;
                size_t plane = image * c->channels + group * channels + channel;
                size_t at = ((output * channels + channel) * c->kernel_height + ky) * c->kernel_width + kx;
                sum += (double)w[at] * x[(plane * c->in_height + iy) * c->in_width + ix];
            }
        }
    }
    return sum;
}

/* The same random numbers at both places. */
static void random_pair(float *pair[2], size_t count)
{
    pair[0] = random_floats(count, false);
    pair[1] = guard_floats(count, true);
    memcpy(pair[1], pair[0], count * sizeof(float));
}

check_conv_shape check_conv_begin(const ingot_conv *c, check_conv_window *sum)
{
    check_conv_shape shape = {.c = *c};
    shape.count = c->batch * c->outputs * c->out_height * c->out_width;
    random_pair(shape.x, c->batch * c->channels * c->in_height * c->in_width);
    random_pair(shape.w, c->outputs * (c->channels / c->groups) * c->kernel_height * c->kernel_width);
    shape.sums = guard_memory(shape.count * sizeof(double), true);
    for (size_t i = 0; i < shape.count; i++) {
        size_t column = i % c->out_width, row = i / c->out_width % c->out_height;
        size_t output = i / c->out_width / c->out_height % c->outputs;
        size_t image = i / c->out_width / c->out_height / c->outputs;
        shape.sums[i] = sum(c, shape.x[0], shape.w[0], image, output, row, column);
    }
    return shape;
}

/* The epilogue of variant v, in double. */
double check_conv_finish(size_t v, const ingot_epilogue *e, size_t output, double add, double value)
{
    if (e->scaled)
        value *= e->scale;
    if (e->row_bias)
        value += e->row_bias[output];
    if (e->add && !e->add_last)
        value += add;
    if (v % 4 == 1)
        value = fmax(value, 0);
    else if (v % 4 == 2)
        value = fmin(fmax(value, -0.5), 1.5);
    else if (v % 4 == 3)
        value = value / (1 + exp(-value));
    return e->add && e->add_last ? value + add : value;
}

const ingot_unary check_conv_activations[4] = {
    {INGOT_UNARY_IDENTITY, 0, 0}, {INGOT_UNARY_RELU, 0, 0}, {INGOT_UNARY_CLIP, -0.5f, 1.5f}, {INGOT_UNARY_SILU, 1, 0}};

static void check_variant(const check_conv_shape *shape, size_t s, size_t variant, const ingot_gemm_kernel *kernel)
{
    const ingot_conv c = shape->c;
    bool at_end = (s + variant) % 2 == 0;
    size_t count = shape->count;
    const float *x = shape->x[at_end], *w = shape->w[at_end];
    float *packed = guard_memory(ingot_conv_f32_packed_size(&c), true);
    float *y = random_floats(count, at_end), *add = guard_floats(count, at_end), *first = guard_floats(count, true);
    random_fill(add, count);
    ingot_epilogue e = {.scaled = variant == 7,
                        .scale = 0.5f,
                        .add_last = variant == 5,
                        .activation = check_conv_activations[variant % 4]};
    e.row_bias = variant > 0 ? random_floats(c.outputs, true) : NULL;
    e.add = variant >= 4 ? add : NULL;
    ingot_conv_f32_pack(&c, w, packed);
    void *workspace = guard_memory(ingot_conv_f32_workspace(&c, MAX_THREADS), true);
    ingot_conv_f32(&c, x, packed, &e, first, workspace, 1);
    bool good = true;
    double tolerance = 1e-5 + 3e-8 * (double)(c.channels / c.groups * c.kernel_height * c.kernel_width);
    if (strcmp(ingot_conv_f32_tactic(&c), "winograd") == 0)
        tolerance *= 3; /* its transforms add and subtract numbers of other sizes than the result's */
    for (size_t i = 0; i < count && good; i++) {
        size_t output = i / c.out_width / c.out_height % c.outputs;
        double truth = check_conv_finish(variant, &e, output, add[i], shape->sums[i]);
        good = fabs(first[i] - truth) <= tolerance * (1 + fabs(truth));
    }
    check_case(good, "%s conv shape %zu (%s), epilogue %zu", ingot_gemm_kernel_name(kernel), s,
               ingot_conv_f32_tactic(&c), variant);
    ingot_conv_f32(&c, x, packed, &e, y, workspace, check_threads[variant % 4]);
    check_case(same_bits(y, first, count), "%s conv shape %zu, epilogue %zu: bits change with %d threads",
               ingot_gemm_kernel_name(kernel), s, variant, check_threads[variant % 4]);
}

double check_conv_transpose_sum(const ingot_conv *c, const float *x, const float *w, size_t image, size_t output,
                                size_t y, size_t column)
{
    size_t channels = c->channels / c->groups, outputs = c->outputs / c->groups, group = output / outputs;
    double sum = 0;
    for (size_t tap = 0; tap < c->kernel_height * c->kernel_width; tap++) {
        size_t dy = tap / c->kernel_width * c->dilation_height, dx = tap % c->kernel_width * c->dilation_width;
        size_t iy = (y + c->pad_top - dy) / c->stride_height, ix = (column + c->pad_left - dx) / c->stride_width;
        if (y + c->pad_top != iy * c->stride_height + dy || column + c->pad_left != ix * c->stride_width + dx ||
            iy >= c->in_height || ix >= c->in_width)
            continue;
        for (size_t channel = group * channels; channel < (group + 1) * channels; channel++) {
            size_t at = (channel * outputs + output % outputs) * c->kernel_height * c->kernel_width + tap;
            sum += (double)w[at] * x[((image * c->channels + channel) * c->in_height + iy) * c->in_width + ix];
        }
    }
    return sum;
}

static void check_transpose(const size_t s[10], const ingot_gemm_kernel *kernel)
{
    ingot_conv c = {.groups = s[0],
                    .channels = s[1],
                    .outputs = s[2],
                    .in_height = s[3],
                    .in_width = s[4],
                    .kernel_height = s[5],
                    .kernel_width = s[6],
                    .stride_height = s[7],
                    .stride_width = s[7],
                    .dilation_height = s[8],
                    .dilation_width = s[8],
                    .pad_top = s[9],
                    .pad_left = s[9],
                    .batch = 2,
                    .kernel = kernel};
    c.out_height = (c.in_height - 1) * s[7] + (s[5] - 1) * s[8] + 1 - 2 * s[9];
    c.out_width = (c.in_width - 1) * s[7] + (s[6] - 1) * s[8] + 1 - 2 * s[9] + 1; /* and output padding */
    size_t count = c.batch * c.outputs * c.out_height * c.out_width;
    float *x = random_floats(c.batch * c.channels * c.in_height * c.in_width, true);
    float *w = random_floats(c.channels * (c.outputs / c.groups) * c.kernel_height * c.kernel_width, true);
    float *packed = guard_memory(ingot_conv_transpose_f32_packed_size(&c), true), *y = guard_floats(count, true);
    ingot_epilogue e = {.row_bias = random_floats(c.outputs, true), .activation = {INGOT_UNARY_RELU, 0, 0}};
    ingot_conv_transpose_f32_pack(&c, w, packed);
    void *workspace = guard_memory(ingot_conv_transpose_f32_workspace(&c, 3), true);
    ingot_conv_transpose_f32(&c, x, packed, &e, y, workspace, 3);
    bool good = true;
    for (size_t i = 0; i < count && good; i++) {
        size_t column = i % c.out_width, row = i / c.out_width % c.out_height;
        size_t output = i / c.out_width / c.out_height % c.outputs, image = i / c.out_width / c.out_height / c.outputs;
        double truth = fmax(0, check_conv_transpose_sum(&c, x, w, image, output, row, column) + e.row_bias[output]);
        good = fabs(y[i] - truth) <= 1e-5 * (1 + fabs(truth));
    }
    check_case(good, "%s transposed conv %zux%zu stride %zu", ingot_gemm_kernel_name(kernel), s[5], s[6], s[7]);
    guard_release();
}

static void check(void)
{
    static const size_t transposed[][10] = {{1, 5, 3, 4, 5, 2, 2, 2, 1, 0}, {1, 3, 4, 5, 4, 4, 4, 2, 1, 1},
                                            {2, 4, 6, 3, 3, 3, 3, 1, 1, 1}, {1, 2, 2, 4, 4, 3, 2, 3, 2, 0},
                                            {4, 4, 4, 5, 5, 3, 3, 2, 1, 1}, {1, 7, 1, 1, 9, 1, 5, 2, 1, 0}};
    for (size_t i = 0; i < ingot_gemm_kernel_count(); i++) {
        const ingot_gemm_kernel *kernel = ingot_gemm_kernel_at(i);
        if (!wants_gemm_kernel(kernel))
            continue;
        for (size_t s = 0; s < SHAPE_COUNT; s++) {
            ingot_conv c = check_conv_make(shapes[s], kernel);
            check_conv_shape shape = check_conv_begin(&c, check_conv_sum);
            for (size_t variant = 0; variant < 8; variant++)
                check_variant(&shape, s, variant, kernel);
            guard_release();
        }
        for (size_t s = 0; s < sizeof transposed / sizeof transposed[0]; s++)
            check_transpose(transposed[s], kernel);
        check_conv_blocked(kernel);
    }
}

typedef struct conv_bench {
    ingot_conv c;
    float *x, *packed, *y;
    ingot_epilogue e;
    void *workspace;
} conv_bench;

static void work(void *argument)
{
    conv_bench *b = argument;
    ingot_conv_f32(&b->c, b->x, b->packed, &b->e, b->y, b->workspace, 1);
}

static void bench(void)
{
    static const size_t measured[][14] = {
        {1, 3, 64, 224, 224, 7, 7, 2, 1, 3, 3, 3, 3, 1},    {1, 64, 64, 56, 56, 3, 3, 1, 1, 1, 1, 1, 1, 1},
        {1, 256, 64, 56, 56, 1, 1, 1, 1, 0, 0, 0, 0, 1},    {1, 256, 256, 14, 14, 3, 3, 1, 1, 1, 1, 1, 1, 1},
        {1, 512, 512, 7, 7, 3, 3, 1, 1, 1, 1, 1, 1, 1},     {1, 256, 256, 64, 64, 3, 3, 1, 2, 2, 2, 2, 2, 1},
        {1, 128, 128, 56, 56, 3, 3, 2, 1, 1, 1, 1, 1, 1},   {96, 96, 96, 112, 112, 3, 3, 2, 1, 1, 1, 1, 1, 1},
        {144, 144, 144, 56, 56, 3, 3, 1, 1, 1, 1, 1, 1, 1}, {672, 672, 672, 14, 14, 5, 5, 1, 1, 2, 2, 2, 2, 1},
        {192, 192, 192, 28, 28, 7, 7, 1, 1, 3, 3, 3, 3, 1}};
    for (size_t i = 0; i < ingot_gemm_kernel_count(); i++) {
        const ingot_gemm_kernel *kernel = ingot_gemm_kernel_at(i);
        for (size_t s = 0; s < sizeof measured / sizeof measured[0] && wants_gemm_kernel(kernel); s++) {
            conv_bench b = {.c = check_conv_make(measured[s], kernel), .e = {.activation = {INGOT_UNARY_RELU, 0, 0}}};
            const ingot_conv *c = &b.c;
            size_t taps = c->channels / c->groups * c->kernel_height * c->kernel_width;
            size_t count = c->outputs * c->out_height * c->out_width;
            b.x = random_floats(c->channels * c->in_height * c->in_width, false);
            b.packed = guard_memory(ingot_conv_f32_packed_size(c), false);
            ingot_conv_f32_pack(c, random_floats(c->outputs * taps, false), b.packed);
            b.y = guard_floats(count, false);
            b.workspace = guard_memory(ingot_conv_f32_workspace(c, 1), false);
            double time = best_time(work, &b);
            printf("%-24s %-13s %4zux%3zux%3zu to %4zu, %zux%zu stride %zu %10.1f us %8.1f GFLOP/s\n",
                   ingot_gemm_kernel_name(kernel), ingot_conv_f32_tactic(c), c->channels, c->in_height, c->in_width,
                   c->outputs, c->kernel_height, c->kernel_width, c->stride_height, time / 1e3,
                   2.0 * (double)count * (double)taps / time);
            guard_release();
        }
        if (wants_gemm_kernel(kernel))
            bench_conv_blocked(kernel);
    }
}

static void list(void)
{
    for (size_t i = 0; i < ingot_gemm_kernel_count(); i++)
        printf("conv: implicit gemm, pointwise, depthwise, winograd, transposed, blocked with %s\n",
               ingot_gemm_kernel_name(ingot_gemm_kernel_at(i)));
}

const check_part check_conv = {"conv", check, bench, list};
