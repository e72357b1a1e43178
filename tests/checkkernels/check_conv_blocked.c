/* Convolutions on channels in blocks of 16. */
#include "check_conv.h"
#include "cpu/conv/blocked_transpose.h"

/* As check_conv_make takes them. */
static const size_t shapes[][14] = {
    {1, 3, 16, 17, 19, 3, 3, 2, 1, 1, 1, 1, 1, 2},       {1, 5, 33, 9, 14, 1, 1, 1, 1, 0, 0, 0, 0, 1},
    {1, 40, 5, 7, 7, 1, 1, 1, 1, 0, 0, 0, 0, 3},         {1, 70, 64, 7, 7, 1, 1, 1, 1, 0, 0, 0, 0, 1},
    {1, 24, 29, 14, 14, 3, 3, 1, 1, 1, 1, 1, 1, 1},      {1, 6, 10, 13, 11, 3, 5, 1, 2, 2, 4, 2, 4, 1},
    {1, 4, 7, 12, 10, 4, 4, 4, 1, 0, 0, 0, 0, 2},        {1, 50, 20, 6, 5, 3, 3, 1, 1, 0, 0, 0, 0, 1},
    {2, 32, 64, 13, 11, 3, 5, 1, 1, 0, 2, 1, 0, 2},      {3, 48, 96, 7, 5, 2, 2, 3, 1, 1, 0, 2, 1, 1},
    {4, 64, 64, 8, 8, 3, 3, 2, 1, 1, 1, 0, 0, 1},        {1, 5, 33, 1, 100, 1, 11, 2, 1, 0, 5, 0, 5, 1},
    {1, 3, 2, 1, 1, 3, 3, 1, 1, 1, 1, 1, 1, 1},          {1, 2, 3, 40, 3, 5, 3, 2, 1, 2, 1, 2, 1, 1},
    {1, 130, 20, 30, 31, 3, 3, 1, 3, 3, 3, 3, 3, 1},     {1, 18, 8, 5, 70, 1, 1, 2, 1, 0, 0, 0, 0, 1},
    {1, 1, 1, 20, 20, 7, 7, 2, 1, 3, 3, 3, 3, 1},        {1, 2, 4, 3, 3, 3, 3, 1, 5, 5, 5, 5, 5, 1},
    {1, 3, 80, 30, 61, 7, 7, 2, 1, 3, 3, 3, 3, 2},       {1, 17, 100, 9, 9, 3, 3, 2, 1, 0, 0, 1, 1, 1},
    {1, 33, 48, 3, 2, 3, 3, 1, 1, 1, 1, 1, 1, 2},        {1, 300, 33, 14, 10, 1, 1, 2, 1, 0, 0, 0, 0, 2},
    {1, 1000, 65, 5, 5, 1, 1, 1, 1, 0, 0, 0, 0, 1},      {1, 700, 40, 8, 7, 3, 3, 1, 1, 1, 1, 1, 1, 1},
    {1, 64, 64, 23, 15, 3, 3, 1, 12, 12, 12, 12, 12, 1}, {1, 16, 24, 9, 31, 1, 3, 3, 2, 0, 4, 0, 4, 1},
    {1, 20, 36, 8, 44, 3, 3, 4, 3, 3, 3, 3, 3, 1},       {1, 32, 47, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 3},
    {2, 32, 64, 19, 33, 3, 3, 1, 1, 1, 1, 1, 1, 2},      {1, 140, 30, 30, 31, 3, 3, 1, 2, 2, 2, 2, 2, 1},
    {1, 20, 36, 40, 44, 3, 3, 1, 4, 4, 4, 4, 4, 2},      {1, 16, 17, 21, 70, 3, 3, 1, 1, 0, 2, 0, 0, 1},
    {1, 33, 40, 14, 14, 3, 3, 1, 1, 1, 1, 1, 1, 5},      {1, 70, 76, 1, 57, 1, 5, 1, 1, 0, 2, 0, 2, 2},
    {1, 300, 64, 2, 63, 1, 5, 1, 1, 0, 0, 0, 0, 1},      {1, 64, 100, 3, 300, 1, 5, 1, 1, 0, 1, 0, 4, 1},
};

static size_t blocks_of(size_t channels)
{
    return (channels + INGOT_BLOCK - 1) / INGOT_BLOCK;
}

static size_t place_in_blocks(size_t channels, size_t plane, size_t i)
{
    size_t image = i / plane / channels, channel = i / plane % channels;
    return ((image * blocks_of(channels) + channel / INGOT_BLOCK) * plane + i % plane) * INGOT_BLOCK +
           channel % INGOT_BLOCK;
}

/* In blocks; lanes beyond the channels are NaN. */
static float *to_blocks(const float *x, size_t images, size_t channels, size_t plane, bool at_end)
{
    size_t count = images * blocks_of(channels) * INGOT_BLOCK * plane;
    float *blocked = guard_floats(count, at_end);
    for (size_t i = 0; i < count; i++)
        blocked[i] = NAN;
    for (size_t i = 0; i < images * channels * plane; i++)
        blocked[place_in_blocks(channels, plane, i)] = x[i];
    return blocked;
}

/* The real lanes are the same. */
static bool same_channels(const float *a, const float *b, const ingot_conv *c)
{
    size_t plane = c->out_height * c->out_width;
    for (size_t i = 0; i < c->batch * c->outputs * plane; i++) {
        size_t at = place_in_blocks(c->outputs, plane, i);
        if (!same_bits(&a[at], &b[at], 1))
            return false;
    }
    return true;
}

/* A convolution, or a transposed one, on blocked channels. */
typedef struct blocked_case {
    ingot_blocked_conv b; /* of the shape's convolution */
    bool transposed;
    const char *tactic;
    float *packed;
    void *workspace;
} blocked_case;

static void prepare(blocked_case *k, const float *w)
{
    const ingot_conv *c = k->b.conv;
    k->tactic = k->transposed ? "transposed" : ingot_blocked_tactic(&k->b);
    k->packed =
        guard_memory(k->transposed ? ingot_blocked_transpose_packed_size(c) : ingot_blocked_packed_size(&k->b), true);
    if (k->transposed)
        ingot_blocked_transpose_pack(c, w, k->packed);
    else
        ingot_blocked_pack(&k->b, w, k->packed);
    k->workspace = guard_memory(k->transposed ? ingot_blocked_transpose_workspace(c, MAX_THREADS)
                                              : ingot_blocked_workspace(&k->b, MAX_THREADS),
                                true);
}

static void convolve(const blocked_case *k, const float *in, const ingot_epilogue *e, float *out, int threads)
{
    if (k->transposed)
        ingot_blocked_transpose_f32(k->b.conv, in, k->packed, e, out, k->workspace, threads);
    else
        ingot_blocked_f32(&k->b, in, k->packed, e, out, k->workspace, threads);
}

static void check_variant(const check_conv_shape *shape, blocked_case *k, size_t s, size_t variant)
{
    const ingot_conv c = shape->c;
    bool at_end = (s + variant) % 2 == 0;
    size_t in_plane = c.in_height * c.in_width, plane = c.out_height * c.out_width;
    size_t count = shape->count, all = c.batch * blocks_of(c.outputs) * INGOT_BLOCK * plane;
    const float *x = shape->x[at_end], *w = shape->w[at_end], *add = random_floats(count, at_end);
    const float *in = k->b.plain_input ? x : to_blocks(x, c.batch, c.channels, in_plane, at_end);
    float *first = guard_floats(all, at_end), *again = guard_floats(all, at_end);
    ingot_epilogue e = {.add_last = variant == 5 || variant == 7, .activation = check_conv_activations[variant % 4]};
    e.row_bias = variant > 0 ? random_floats(c.outputs, true) : NULL;
    e.add = variant >= 4 ? to_blocks(add, c.batch, c.outputs, plane, at_end) : NULL;
    prepare(k, w);
    convolve(k, in, &e, first, 1);
    bool good = true;
    double tolerance = 1e-5 + 3e-8 * (double)(c.channels / c.groups * c.kernel_height * c.kernel_width);
    if (strstr(k->tactic, "winograd"))
        tolerance *= 3; /* as where check_conv.c checks it */
    for (size_t i = 0; i < count && good; i++) {
        size_t output = i / plane % c.outputs;
        double truth = check_conv_finish(variant, &e, output, add[i], shape->sums[i]);
        good = fabs(first[place_in_blocks(c.outputs, plane, i)] - truth) <= tolerance * (1 + fabs(truth));
    }
    const char *name = ingot_gemm_kernel_name(c.kernel);
    check_case(good, "%s conv shape %zu in blocks (%s), epilogue %zu", name, s, k->tactic, variant);
    convolve(k, in, &e, again, check_threads[variant % 4]);
    check_case(same_channels(again, first, &c),
               "%s conv shape %zu in blocks (%s), epilogue %zu: bits change with %d threads", name, s, k->tactic,
               variant, check_threads[variant % 4]);
}

static void check_shape(size_t s, bool plain, const ingot_gemm_kernel *kernel)
{
    ingot_conv c = check_conv_make(shapes[s], kernel);
    blocked_case k = {.b = {.conv = &c, .plain_input = plain}};
    if (!ingot_blocked_suits(&k.b))
        return;
    check_conv_shape shape = check_conv_begin(&c, check_conv_sum);
    for (size_t variant = 0; variant < 8; variant++)
        check_variant(&shape, &k, s, variant);
    guard_release();
}

/* groups, channels, outputs, in_height, in_width, kernel height and width, strides, dilation, pads top and left, less output at the
 * bottom and at the right (padding there, less output padding), batch. */
static const int transposed[][15] = {
    {1, 64, 32, 9, 10, 3, 3, 2, 2, 1, 0, 0, 0, 0, 1},  {1, 20, 33, 5, 7, 4, 4, 2, 2, 1, 1, 1, 1, 1, 2},
    {1, 5, 16, 4, 30, 2, 2, 2, 2, 1, 0, 0, 0, 0, 1},   {1, 17, 21, 6, 5, 3, 3, 2, 2, 1, 1, 1, 0, 0, 1},
    {1, 33, 7, 6, 5, 3, 5, 1, 3, 1, 0, 1, 2, -1, 2},   {2, 32, 96, 3, 8, 5, 4, 3, 2, 1, 2, 0, 1, 0, 1},
    {1, 40, 48, 8, 9, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1},   {1, 18, 20, 8, 9, 3, 2, 1, 1, 3, 2, 1, 4, 0, 1},
    {1, 16, 1, 1, 40, 1, 16, 1, 8, 1, 0, 4, 0, 4, 1},  {1, 3, 35, 1, 1, 7, 7, 2, 2, 1, 0, 0, 0, 0, 3},
    {1, 70, 16, 13, 3, 9, 3, 4, 3, 1, 2, 0, 3, 0, 1},  {1, 16, 16, 3, 3, 5, 5, 4, 4, 1, 1, 1, -3, -2, 1},
    {1, 100, 50, 20, 21, 4, 4, 2, 2, 1, 1, 1, 1, 1, 2}};

static void check_transposed(size_t index, const ingot_gemm_kernel *kernel)
{
    const int *s = transposed[index];
    size_t n[15];
    for (size_t i = 0; i < 15; i++)
        n[i] = (size_t)s[i]; /* wraps where less than nothing is cut off */
    ingot_conv c = {.groups = n[0],
                    .channels = n[1],
                    .outputs = n[2],
                    .in_height = n[3],
                    .in_width = n[4],
                    .kernel_height = n[5],
                    .kernel_width = n[6],
                    .stride_height = n[7],
                    .stride_width = n[8],
                    .dilation_height = n[9],
                    .dilation_width = n[9],
                    .pad_top = n[10],
                    .pad_left = n[11],
                    .batch = n[14],
                    .kernel = kernel};
    c.out_height = (n[3] - 1) * n[7] + (n[5] - 1) * n[9] + 1 - n[10] - n[12];
    c.out_width = (n[4] - 1) * n[8] + (n[6] - 1) * n[9] + 1 - n[11] - n[13];
    check_case(ingot_blocked_transpose_suits(&c), "transposed conv shape %zu runs on blocks", index);
    blocked_case k = {.b = {.conv = &c}, .transposed = true};
    check_conv_shape shape = check_conv_begin(&c, check_conv_transpose_sum);
    for (size_t variant = 0; variant < 8; variant++)
        check_variant(&shape, &k, index, variant);
    guard_release();
}

static void check_refused(void)
{
    ingot_conv c = {.batch = 1, .groups = 1, .channels = 16, .outputs = 16, .in_height = 5, .in_width = 5};
    c.kernel_height = c.kernel_width = c.stride_height = c.stride_width = 2;
    c.dilation_height = c.dilation_width = 1;
    c.out_height = c.out_width = 9;
    c.pad_top = 1; /* more than the window's rest: the first input is not seen at all */
    check_case(!ingot_blocked_transpose_suits(&c), "a transposed conv that cuts inputs off is left to others");
    c.pad_top = 0;
    c.dilation_width = 2;
    check_case(!ingot_blocked_transpose_suits(&c), "a strided and dilated transposed conv is left to others");
}

void check_conv_blocked(const ingot_gemm_kernel *kernel)
{
    check_refused();
    for (size_t s = 0; s < sizeof transposed / sizeof transposed[0]; s++)
        check_transposed(s, kernel);
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
        check_shape(s, false, kernel);
        if (shapes[s][1] <= INGOT_BLOCK)
            check_shape(s, true, kernel);
    }
}

typedef struct blocked_bench {
    ingot_conv c;
    ingot_blocked_conv b;
    float *x, *packed, *y;
    ingot_epilogue e;
    void *workspace;
} blocked_bench;

static void work(void *argument)
{
    blocked_bench *b = argument;
    ingot_blocked_f32(&b->b, b->x, b->packed, &b->e, b->y, b->workspace, 1);
}

void bench_conv_blocked(const ingot_gemm_kernel *kernel)
{
    static const size_t measured[][14] = {
        {1, 3, 64, 224, 224, 7, 7, 2, 1, 3, 3, 3, 3, 1},   {1, 3, 32, 224, 224, 3, 3, 2, 1, 1, 1, 1, 1, 1},
        {1, 64, 64, 56, 56, 3, 3, 1, 1, 1, 1, 1, 1, 1},    {1, 128, 128, 28, 28, 3, 3, 1, 1, 1, 1, 1, 1, 1},
        {1, 256, 256, 14, 14, 3, 3, 1, 1, 1, 1, 1, 1, 1},  {1, 512, 512, 7, 7, 3, 3, 1, 1, 1, 1, 1, 1, 1},
        {1, 128, 128, 56, 56, 3, 3, 2, 1, 1, 1, 1, 1, 1},  {1, 256, 64, 56, 56, 1, 1, 1, 1, 0, 0, 0, 0, 1},
        {1, 64, 256, 56, 56, 1, 1, 1, 1, 0, 0, 0, 0, 1},   {1, 512, 128, 28, 28, 1, 1, 1, 1, 0, 0, 0, 0, 1},
        {1, 1024, 256, 14, 14, 1, 1, 1, 1, 0, 0, 0, 0, 1}, {1, 512, 2048, 7, 7, 1, 1, 1, 1, 0, 0, 0, 0, 1},
        {1, 256, 512, 56, 56, 1, 1, 2, 1, 0, 0, 0, 0, 1},  {1, 16, 96, 112, 112, 1, 1, 1, 1, 0, 0, 0, 0, 1},
        {1, 144, 24, 56, 56, 1, 1, 1, 1, 0, 0, 0, 0, 1},   {1, 64, 384, 14, 14, 1, 1, 1, 1, 0, 0, 0, 0, 1},
        {1, 256, 256, 64, 64, 3, 3, 1, 2, 2, 2, 2, 2, 1},  {1, 32, 64, 160, 160, 3, 3, 2, 1, 1, 1, 1, 1, 1}};
    for (size_t s = 0; s < sizeof measured / sizeof measured[0]; s++) {
        blocked_bench b = {.c = check_conv_make(measured[s], kernel), .e = {.activation = {INGOT_UNARY_RELU, 0, 0}}};
        const ingot_conv *c = &b.c;
        b.b = (ingot_blocked_conv){.conv = c, .plain_input = c->channels < INGOT_BLOCK};
        size_t taps = c->channels / c->groups * c->kernel_height * c->kernel_width;
        size_t plane = c->out_height * c->out_width;
        b.x = random_floats(blocks_of(c->channels) * INGOT_BLOCK * c->in_height * c->in_width, false);
        b.packed = guard_memory(ingot_blocked_packed_size(&b.b), false);
        ingot_blocked_pack(&b.b, random_floats(c->outputs * taps, false), b.packed);
        b.y = guard_floats(blocks_of(c->outputs) * INGOT_BLOCK * plane, false);
        b.workspace = guard_memory(ingot_blocked_workspace(&b.b, 1), false);
        double time = best_time(work, &b);
        printf("%-24s %-17s %4zux%3zux%3zu to %4zu, %zux%zu stride %zu %10.1f us %8.1f GFLOP/s\n",
               ingot_gemm_kernel_name(kernel), ingot_blocked_tactic(&b.b), c->channels, c->in_height, c->in_width,
               c->outputs, c->kernel_height, c->kernel_width, c->stride_height, time / 1e3,
               2.0 * (double)(c->outputs * plane) * (double)taps / time);
        guard_release();
    }
}
