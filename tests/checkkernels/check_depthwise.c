#include "check.h"
#include "cpu/conv/blocked_depthwise.h"
#include "cpu/layout/layout.h"

#define MAX_THREADS 7

/* batch, channels, in_height, in_width, kernel height and width, stride height and width, dilation height and width, pads top,
 * left, bottom, right */
static const size_t shapes[][14] = {
    {1, 16, 14, 14, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1},  {2, 17, 7, 7, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1},
    {1, 33, 15, 33, 3, 3, 2, 2, 1, 1, 1, 1, 1, 1},  {1, 5, 14, 34, 3, 3, 2, 2, 1, 1, 0, 0, 1, 1},
    {1, 40, 14, 14, 5, 5, 1, 1, 1, 1, 2, 2, 2, 2},  {1, 16, 28, 29, 5, 5, 2, 2, 1, 1, 2, 2, 2, 2},
    {3, 20, 56, 50, 7, 7, 1, 1, 1, 1, 3, 3, 3, 3},  {1, 16, 20, 21, 7, 7, 2, 2, 1, 1, 3, 3, 3, 3},
    {1, 4, 9, 9, 4, 2, 3, 3, 2, 2, 2, 1, 2, 1},     {1, 16, 1, 100, 1, 9, 1, 1, 1, 1, 0, 4, 0, 4},
    {1, 3, 2, 2, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1},     {1, 18, 11, 13, 3, 3, 1, 1, 6, 6, 6, 6, 6, 6},
    {1, 3, 3, 4, 5, 5, 1, 1, 1, 1, 4, 4, 4, 4},     {1, 3, 20, 20, 1, 1, 2, 2, 1, 1, 0, 0, 0, 0},
    {1, 31, 1, 1, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1},    {2, 16, 10, 12, 3, 5, 2, 1, 1, 1, 0, 3, 2, 1},
    {1, 16, 12, 10, 5, 3, 1, 2, 2, 1, 4, 0, 4, 1},  {1, 16, 6, 9, 9, 9, 1, 1, 1, 1, 4, 4, 4, 4},
    {1, 48, 112, 17, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1}, {4, 64, 30, 30, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1},
    {1, 2, 3, 3, 3, 3, 1, 1, 5, 5, 5, 5, 5, 5},     {1, 7, 5, 8, 3, 3, 4, 3, 1, 1, 1, 1, 1, 1},
    {1, 16, 9, 31, 5, 5, 2, 2, 1, 1, 2, 2, 2, 2},   {1, 20, 6, 14, 3, 3, 1, 1, 1, 1, 2, 2, 2, 2},
};

static const ingot_unary activations[] = {{INGOT_UNARY_IDENTITY, 0, 0}, {INGOT_UNARY_RELU, 0, 0},
                                          {INGOT_UNARY_CLIP, -0.5f, 1}, {INGOT_UNARY_SILU, 1, 0},
                                          {INGOT_UNARY_SIGMOID, 0, 0},  {INGOT_UNARY_HARD_SWISH, 0, 0}};
#define ACTIVATION_COUNT (sizeof activations / sizeof *activations)

static double activate(const ingot_unary *op, double x)
{
    switch (op->kind) {
    case INGOT_UNARY_RELU:
        return x > 0 ? x : 0;
    case INGOT_UNARY_CLIP:
        return x < op->a ? op->a : x > op->b ? op->b : x;
    case INGOT_UNARY_SILU:
        return x / (1 + exp(-x));
    case INGOT_UNARY_SIGMOID:
        return 1 / (1 + exp(-x));
    case INGOT_UNARY_HARD_SWISH:
        return x * (x / 6 + 0.5 < 0 ? 0 : x / 6 + 0.5 > 1 ? 1 : x / 6 + 0.5);
    default:
        return x;
    }
}

static ingot_conv make(const size_t s[14])
{
    ingot_conv c = {.batch = s[0],
                    .groups = s[1],
                    .channels = s[1],
                    .outputs = s[1],
                    .in_height = s[2],
                    .in_width = s[3],
                    .kernel_height = s[4],
                    .kernel_width = s[5],
                    .stride_height = s[6],
                    .stride_width = s[7],
                    .dilation_height = s[8],
                    .dilation_width = s[9],
                    .pad_top = s[10],
                    .pad_left = s[11]};
    c.out_height = (c.in_height + s[10] + s[12] - (s[4] - 1) * s[8] - 1) / s[6] + 1;
    c.out_width = (c.in_width + s[11] + s[13] - (s[5] - 1) * s[9] - 1) / s[7] + 1;
    return c;
}

/* Floats of a tensor in blocks of 16 channels. */
static size_t blocked_count(const ingot_conv *c, size_t image)
{
    return c->batch * ingot_block_count(c->channels) * INGOT_BLOCK * image;
}

/* Where element (n, channel, pixel) lies. */
static size_t place(const ingot_conv *c, size_t image, size_t n, size_t channel, size_t pixel)
{
    return ((n * ingot_block_count(c->channels) + channel / INGOT_BLOCK) * image + pixel) * INGOT_BLOCK +
           channel % INGOT_BLOCK;
}

static double window_sum(const ingot_conv *c, const float *x, const float *w, size_t n, size_t channel, size_t y,
                         size_t column)
{
    double sum = 0;
    for (size_t ky = 0; ky < c->kernel_height; ky++) {
        for (size_t kx = 0; kx < c->kernel_width; kx++) {
            size_t row = y * c->stride_height + ky * c->dilation_height - c->pad_top;
            size_t at = column * c->stride_width + kx * c->dilation_width - c->pad_left;
            if (row < c->in_height && at < c->in_width) /* not below 0 either */
                sum += (double)x[place(c, c->in_height * c->in_width, n, channel, row * c->in_width + at)] *
                       (double)w[(channel * c->kernel_height + ky) * c->kernel_width + kx];
        }
    }
    return sum;
}

static bool is_right(const ingot_conv *c, const ingot_epilogue *e, const float *x, const float *w, const float *y)
{
    size_t image = c->out_height * c->out_width;
    for (size_t i = 0; i < c->batch * c->channels * image; i++) {
        size_t pixel = i % image, channel = i / image % c->channels, n = i / image / c->channels;
        size_t at = place(c, image, n, channel, pixel);
        double truth = window_sum(c, x, w, n, channel, pixel / c->out_width, pixel % c->out_width);
        truth += e->row_bias ? (double)e->row_bias[channel] : 0;
        truth += e->add && !e->add_last ? (double)e->add[at] : 0;
        truth = activate(&e->activation, truth);
        truth += e->add && e->add_last ? (double)e->add[at] : 0;
        if (!(fabs(y[at] - truth) <= 1e-5 * (1 + fabs(truth))))
            return false;
    }
    return true;
}

static void check_shape(size_t s, size_t variant)
{
    ingot_conv c = make(shapes[s]);
    bool at_end = (s + variant) % 2 == 0;
    size_t in = blocked_count(&c, c.in_height * c.in_width), out = blocked_count(&c, c.out_height * c.out_width);
    float *x = random_floats(in, at_end), *add = random_floats(out, at_end), *first = guard_floats(out, true);
    float *w = random_floats(c.channels * c.kernel_height * c.kernel_width, true), *y = guard_floats(out, at_end);
    float *packed = guard_memory(ingot_blocked_depthwise_packed_size(&c), true);
    ingot_epilogue e = {.activation = activations[variant % ACTIVATION_COUNT], .add_last = variant % 4 == 3};
    e.row_bias = variant % 3 ? random_floats(c.channels, true) : NULL;
    e.add = variant % 4 >= 2 ? add : NULL;
    for (size_t i = 0; c.channels % INGOT_BLOCK && i < c.batch * c.in_height * c.in_width; i++)
        x[place(&c, c.in_height * c.in_width, i / (c.in_height * c.in_width), c.channels,
                i % (c.in_height * c.in_width))] = NAN; /* a lane past the channels */
    ingot_blocked_depthwise_pack(&c, w, packed);
    for (size_t t = 0; t < 4; t++) {
        ingot_blocked_depthwise_f32(&c, x, packed, &e, y, check_threads[t]);
        if (t == 0)
            memcpy(first, y, out * sizeof *y);
        else
            check_case(same_bits(first, y, out), "depthwise shape %zu, epilogue %zu, %d threads", s, variant,
                       check_threads[t]);
    }
    check_case(is_right(&c, &e, x, w, first), "depthwise shape %zu, epilogue %zu", s, variant);
    guard_release();
}

static void check(void)
{
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (size_t variant = 0; variant < 12; variant++)
            check_shape(s, variant);
}

typedef struct depthwise_bench {
    ingot_conv c;
    ingot_epilogue e;
    float *x, *packed, *y;
} depthwise_bench;

static void work(void *argument)
{
    depthwise_bench *b = argument;
    ingot_blocked_depthwise_f32(&b->c, b->x, b->packed, &b->e, b->y, 1);
}

static void bench(void)
{
    static const size_t measured[][14] = {
        {1, 32, 112, 112, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1}, {1, 96, 112, 112, 3, 3, 2, 2, 1, 1, 1, 1, 1, 1},
        {1, 144, 56, 56, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1},  {1, 192, 28, 28, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1},
        {1, 384, 14, 14, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1},  {1, 960, 7, 7, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1},
        {1, 240, 28, 28, 5, 5, 1, 1, 1, 1, 2, 2, 2, 2},  {1, 672, 14, 14, 5, 5, 2, 2, 1, 1, 2, 2, 2, 2},
        {1, 1152, 7, 7, 5, 5, 1, 1, 1, 1, 2, 2, 2, 2},   {1, 96, 56, 56, 7, 7, 1, 1, 1, 1, 3, 3, 3, 3},
        {1, 768, 7, 7, 7, 7, 1, 1, 1, 1, 3, 3, 3, 3},    {1, 256, 28, 28, 3, 3, 1, 1, 2, 2, 2, 2, 2, 2},
    };
    static const ingot_unary_kind kinds[] = {INGOT_UNARY_RELU, INGOT_UNARY_SILU};
    for (size_t i = 0; i < 2 * sizeof measured / sizeof *measured; i++) {
        depthwise_bench b = {.c = make(measured[i / 2]), .e = {.activation = {kinds[i % 2], 1, 0}}};
        const ingot_conv *c = &b.c;
        size_t taps = c->kernel_height * c->kernel_width, count = c->channels * c->out_height * c->out_width;
        b.x = random_floats(blocked_count(c, c->in_height * c->in_width), false);
        b.y = guard_floats(blocked_count(c, c->out_height * c->out_width), false);
        float *w = random_floats(c->channels * taps, false);
        b.packed = guard_memory(ingot_blocked_depthwise_packed_size(c), false);
        b.e.row_bias = random_floats(c->channels, false);
        ingot_blocked_depthwise_pack(c, w, b.packed);
        double time = best_time(work, &b);
        printf("depthwise %4zu channels, %3zux%zu, %zux%zu stride %zu dilation %zu%s: %8.1f us, %6.1f GFLOP/s\n",
               c->channels, c->in_height, c->in_width, c->kernel_height, c->kernel_width, c->stride_height,
               c->dilation_height, i % 2 ? ", SiLU" : "", time / 1000, 2.0 * (double)count * (double)taps / time);
        guard_release();
    }
}

static void list(void)
{
    for (int level = 0; level < INGOT_LEVEL_COUNT; level++)
        printf("depthwise on blocks of 16 channels %s\n", ingot_level_name(level));
}

const check_part check_depthwise = {"depthwise", check, bench, list};
