#include "check.h"
#include "cpu/c16/c16.h"

/* Tensors of these: batch, channels, height, width. */
static const size_t shapes[][4] = {{1, 16, 5, 7},   {2, 17, 9, 9},   {3, 5, 1, 33},
                                   {1, 48, 20, 21}, {2, 31, 40, 41}, {1, 1, 1, 1}};
#define SHAPE_COUNT (sizeof shapes / sizeof *shapes)

typedef struct tensor {
    size_t batch, channels, height, width, image, count; /* count: floats of whole blocks */
} tensor;

static tensor make(size_t batch, size_t channels, size_t height, size_t width)
{
    tensor t = {batch, channels, height, width, height * width, 0};
    t.count = batch * ingot_block_count(channels) * INGOT_BLOCK * t.image;
    return t;
}

static size_t place(const tensor *t, size_t n, size_t channel, size_t pixel)
{
    return ((n * ingot_block_count(t->channels) + channel / INGOT_BLOCK) * t->image + pixel) * INGOT_BLOCK +
           channel % INGOT_BLOCK;
}

/* Filled, NaN in the lanes past the channels. */
static float *fill(const tensor *t, bool at_end)
{
    float *x = random_floats(t->count, at_end);
    for (size_t n = 0; n < t->batch; n++)
        for (size_t c = t->channels; c % INGOT_BLOCK != 0; c++)
            for (size_t i = 0; i < t->image; i++)
                x[place(t, n, c, i)] = NAN;
    return x;
}

static bool same(double value, double truth, double tolerance)
{
    return (isnan(value) && isnan(truth)) || value == truth || fabs(value - truth) <= tolerance * (1 + fabs(truth));
}

static double apply(ingot_channel_kind kind, double x, double b, double c)
{
    switch (kind) {
    case INGOT_CHANNEL_ADD:
        return x + b;
    case INGOT_CHANNEL_SUB:
        return x - b;
    case INGOT_CHANNEL_SUB_FROM:
        return b - x;
    case INGOT_CHANNEL_MUL:
        return x * b;
    case INGOT_CHANNEL_DIV:
        return x / b;
    case INGOT_CHANNEL_DIV_OF:
        return b / x;
    case INGOT_CHANNEL_MIN:
        return isnan(x) || isnan(b) ? NAN : fmin(x, b);
    case INGOT_CHANNEL_MAX:
        return isnan(x) || isnan(b) ? NAN : fmax(x, b);
    case INGOT_CHANNEL_AFFINE:
        return x * b + c;
    default:
        return x < 0 ? b * x : x;
    }
}

static void check_channels(const tensor *t, ingot_channel_kind kind, bool own, bool then)
{
    size_t numbers = t->channels * (own ? t->batch : 1);
    ingot_channel_op op = {.kind = kind, .batch = t->batch, .channels = t->channels, .image = t->image};
    float *x = fill(t, kind % 2), *b = random_floats(numbers, true), *c = random_floats(t->channels, true),
          *y = guard_floats(t->count, kind % 2);
    x[0] = NAN;
    b[0] = t->channels > 1 ? NAN : b[0];
    op.x = x;
    op.b = b;
    op.c = kind == INGOT_CHANNEL_AFFINE ? c : NULL;
    op.b_batch = own ? t->channels : 0;
    op.y = y;
    if (then)
        op.then.kind = INGOT_UNARY_RELU;
    bool good = true;
    for (size_t round = 0; round < 4; round++) {
        memset(y, 0x55, t->count * sizeof *y);
        ingot_c16_channels_f32(&op, check_threads[round]);
        for (size_t i = 0; i < t->batch * t->channels * t->image; i++) {
            size_t n = i / t->image / t->channels, channel = i / t->image % t->channels;
            size_t at = place(t, n, channel, i % t->image);
            double truth = apply(kind, x[at], b[channel + n * op.b_batch], c[channel]);
            good = good && same(y[at], then && truth < 0 ? 0 : truth, 1e-6);
        }
    }
    check_case(good, "channel operation %d on %zu channels of %zu pixels", kind, t->channels, t->image);
    guard_release();
}

static void check_image_reduction(const tensor *t, ingot_reduce_kind kind)
{
    float *x = fill(t, true), *y = guard_floats(t->batch * t->channels, true);
    bool good = true;
    ingot_c16_reduce_f32(kind, t->batch, t->channels, t->image, x, y, 3);
    for (size_t i = 0; i < t->batch * t->channels; i++) {
        double truth = kind == INGOT_REDUCE_MAX ? -INFINITY : kind == INGOT_REDUCE_MIN ? INFINITY : 0;
        double size = 0; /* of the terms: what a sum that cancels is rounded by */
        for (size_t pixel = 0; pixel < t->image; pixel++) {
            double value = x[place(t, i / t->channels, i % t->channels, pixel)];
            truth = kind == INGOT_REDUCE_MAX   ? fmax(truth, value)
                    : kind == INGOT_REDUCE_MIN ? fmin(truth, value)
                                               : truth + value;
            size += fabs(value);
        }
        double count = kind == INGOT_REDUCE_MEAN ? (double)t->image : 1;
        good = good && (same(y[i], truth / count, 1e-5) || fabs(y[i] - truth / count) <= 1e-6 * size / count);
    }
    check_case(good, "reduction %d of %zu channels of %zu pixels", kind, t->channels, t->image);
    guard_release();
}

/* A tensor in blocks of channels, made plain. */
static float *to_plain(const tensor *t, const float *x)
{
    float *plain = guard_floats(t->batch * t->channels * t->image, true);
    ingot_unblock_f32(t->batch, t->channels, t->image, x, plain, 1);
    return plain;
}

/* The same bits as the plain kernel. */
static void check_pool(const tensor *t, const size_t s[8], bool average, bool count_padding)
{
    ingot_pool p = {.average = average,
                    .count_padding = count_padding,
                    .planes = t->batch * ingot_block_count(t->channels),
                    .in_height = t->height,
                    .in_width = t->width,
                    .kernel_height = s[0],
                    .kernel_width = s[1],
                    .stride_height = s[2],
                    .stride_width = s[3],
                    .dilation_height = s[4],
                    .dilation_width = s[4],
                    .pad_top = s[5],
                    .pad_left = s[6],
                    .pad_bottom = s[7],
                    .pad_right = s[7]};
    size_t high = (s[0] - 1) * s[4] + 1, wide = (s[1] - 1) * s[4] + 1;
    if (t->height + s[5] + s[7] < high || t->width + s[6] + s[7] < wide)
        return;
    p.out_height = (t->height + s[5] + s[7] - high) / s[2] + 1;
    p.out_width = (t->width + s[6] + s[7] - wide) / s[3] + 1;
    tensor out = make(t->batch, t->channels, p.out_height, p.out_width);
    float *x = fill(t, true), *y = guard_floats(out.count, true);
    x[0] = t->channels % 2 ? NAN : x[0];
    ingot_c16_pool_f32(&p, x, y, 3);
    float *plain_x = to_plain(t, x), *plain_y = to_plain(&out, y);
    float *truth = guard_floats(t->batch * t->channels * out.image, true);
    p.planes = t->batch * t->channels;
    ingot_pool_f32(&p, plain_x, truth, 1);
    bool good = true;
    for (size_t i = 0; i < p.planes * out.image; i++)
        good = good && (same_bits(&plain_y[i], &truth[i], 1) || (isnan(plain_y[i]) && isnan(truth[i])));
    check_case(good, "pool %zux%zu, average %d, %zu channels of %zu pixels", s[0], s[1], average, t->channels,
               t->image);
    guard_release();
}

/* Channel c lies around 100 c with a deviation of about 1: sums of squares that were not of deviations would cancel. */
static void check_instance_norm(const tensor *t, bool own, size_t variant)
{
    float *x = fill(t, true), *scale = random_floats(t->channels, true), *bias = random_floats(t->channels, true),
          *add = fill(t, false), *y = guard_floats(t->count, false);
    ingot_c16_norm norm = {t->batch, t->channels, t->image, 1e-5f, x, scale, bias, NULL, variant == 2, {0}, y};
    norm.add = variant > 0 ? add : NULL;
    norm.then.kind = variant != 1 ? INGOT_UNARY_RELU : INGOT_UNARY_IDENTITY;
    for (size_t i = 0; i < t->batch * t->channels * t->image; i++)
        x[place(t, i / t->image / t->channels, i / t->image % t->channels, i % t->image)] +=
            100.0f * (float)(i / t->image % t->channels);
    void *workspace = guard_memory(ingot_c16_instance_norm_workspace(&norm), true);
    float *before = guard_floats(t->count, true), *first = guard_floats(t->count, true);
    memcpy(before, x, t->count * sizeof *x);
    ingot_c16_instance_norm_f32(&norm, workspace, 1);
    memcpy(first, y, t->count * sizeof *y);
    norm.y = own ? x : y;
    ingot_c16_instance_norm_f32(&norm, workspace, 3);
    bool good = true, same = true;
    for (size_t n = 0; n < t->batch; n++) {
        for (size_t channel = 0; channel < t->channels; channel++) {
            double mean = 0, squares = 0;
            for (size_t i = 0; i < t->image; i++)
                mean += (double)before[place(t, n, channel, i)] / (double)t->image;
            for (size_t i = 0; i < t->image; i++)
                squares += pow((double)before[place(t, n, channel, i)] - mean, 2);
            const double inverse = 1 / sqrt(squares / (double)t->image + 1e-5);
            for (size_t i = 0; i < t->image; i++) {
                const size_t at = place(t, n, channel, i);
                double truth = ((double)before[at] - mean) * inverse * (double)scale[channel] + (double)bias[channel];
                truth += variant == 1 ? (double)add[at] : 0;
                truth = variant != 1 && truth < 0 ? 0 : truth;
                truth += variant == 2 ? (double)add[at] : 0;
                /* A mean is rounded to a number of so many thousands. */
                good = good && fabs((double)first[at] - truth) <= 1e-5 + 2e-7 * (1 + fabs(mean)) * inverse * 3;
                same = same && same_bits(&norm.y[at], &first[at], 1);
            }
        }
    }
    check_case(good && same, "normalization of %zu channels of %zu pixels, variant %zu", t->channels, t->image,
               variant);
    guard_release();
}

static void check_resize(const tensor *t, size_t height, size_t width, bool linear)
{
    size_t in[2] = {t->height, t->width}, size[2] = {height, width};
    ingot_resize_axis axes[2];
    tensor out = make(t->batch, t->channels, height, width);
    for (size_t a = 0; a < 2; a++) {
        uint32_t *low = guard_memory(size[a] * sizeof *low, true), *high = guard_memory(size[a] * sizeof *high, true);
        float *weight = random_floats(size[a], true);
        for (size_t i = 0; i < size[a]; i++) {
            low[i] = (uint32_t)(i * in[a] / size[a]);
            high[i] = low[i] + 1 < in[a] ? low[i] + 1 : low[i];
        }
        axes[a] = (ingot_resize_axis){in[a], size[a], low, linear ? high : NULL, linear ? weight : NULL};
    }
    float *x = fill(t, true), *y = guard_floats(out.count, true);
    ingot_c16_resize_f32(t->batch * ingot_block_count(t->channels), &axes[0], &axes[1], x, y, 2);
    float *plain_x = to_plain(t, x), *plain_y = to_plain(&out, y);
    float *truth = guard_floats(t->batch * t->channels * out.image, true);
    ingot_resize_f32(t->batch * t->channels, &axes[0], &axes[1], plain_x, truth, 1);
    check_case(same_bits(plain_y, truth, t->batch * t->channels * out.image),
               "resize to %zux%zu, linear %d, of %zu channels of %zu pixels", height, width, linear, t->channels,
               t->image);
    float *last = guard_floats(t->batch * t->channels * out.image, true);
    bool good = true;
    ingot_c16_resize_last_f32(t->batch, t->channels, &axes[0], &axes[1], x, last, 3);
    for (size_t i = 0; i < t->batch * t->channels * out.image; i++) {
        size_t n = i / out.image / t->channels, channel = i / out.image % t->channels, pixel = i % out.image;
        good = good && same_bits(&last[(n * out.image + pixel) * t->channels + channel], &truth[i], 1);
    }
    check_case(good, "resize to %zux%zu, linear %d, %zu channels last", height, width, linear, t->channels);
    guard_release();
}

static void check_copy(size_t batch, size_t image, size_t x_channels, size_t x_first, size_t y_channels, size_t y_first,
                       size_t count)
{
    tensor from = make(batch, x_channels, 1, image), to = make(batch, y_channels, 1, image);
    float *x = fill(&from, true), *y = fill(&to, true), *before = guard_floats(to.count, true);
    memcpy(before, y, to.count * sizeof *y);
    ingot_channel_copy copy = {batch, image, count, x, x_channels, x_first, y, y_channels, y_first};
    ingot_c16_copy_f32(&copy, 3);
    bool good = true;
    for (size_t i = 0; i < batch * y_channels * image; i++) {
        size_t n = i / image / y_channels, channel = i / image % y_channels, pixel = i % image;
        bool copied = channel >= y_first && channel < y_first + count;
        float truth =
            copied ? x[place(&from, n, channel - y_first + x_first, pixel)] : before[place(&to, n, channel, pixel)];
        good = good && y[place(&to, n, channel, pixel)] == truth;
    }
    check_case(good, "%zu channels of %zu from %zu on to %zu from %zu on", count, x_channels, x_first, y_channels,
               y_first);
    guard_release();
}

static void check_pad(const tensor *t, size_t top, size_t left, size_t bottom, size_t right)
{
    tensor out = make(t->batch, t->channels, t->height + top + bottom, t->width + left + right);
    ingot_c16_padding p = {
        t->batch * ingot_block_count(t->channels), t->height, t->width, out.height, out.width, top, left, 2.5f};
    float *x = fill(t, true), *y = guard_floats(out.count, true);
    ingot_c16_pad_f32(&p, x, y, 2);
    bool good = true;
    for (size_t i = 0; i < t->batch * t->channels * out.image; i++) {
        size_t n = i / out.image / t->channels, channel = i / out.image % t->channels, pixel = i % out.image;
        size_t row = pixel / out.width - top, column = pixel % out.width - left;
        bool inside = row < t->height && column < t->width; /* not below 0 either */
        good = good &&
               y[place(&out, n, channel, pixel)] == (inside ? x[place(t, n, channel, row * t->width + column)] : 2.5f);
    }
    check_case(good, "padding of %zu channels of %zu pixels", t->channels, t->image);
    guard_release();
}

/* Cropping undoes padding. */
static void check_crop(const tensor *t, size_t top, size_t left, size_t bottom, size_t right)
{
    tensor out = make(t->batch, t->channels, t->height + top + bottom, t->width + left + right);
    const size_t planes = t->batch * ingot_block_count(t->channels);
    ingot_c16_padding pad = {planes, t->height, t->width, out.height, out.width, top, left, 2.5f};
    ingot_c16_padding border = {planes, out.height, out.width, t->height, t->width, top, left, 0};
    float *x = fill(t, true), *larger = guard_floats(out.count, true), *y = guard_floats(t->count, true);
    ingot_c16_pad_f32(&pad, x, larger, 1);
    ingot_c16_crop_f32(&border, larger, y, 3);
    check_case(same_bits(to_plain(t, x), to_plain(t, y), t->batch * t->channels * t->image),
               "crop to %zu channels of %zu pixels", t->channels, t->image);
    guard_release();
}

static void check(void)
{
    /* kernel height and width, strides, dilation, pads top, left, and at the other sides */
    static const size_t pools[][8] = {{3, 3, 2, 2, 1, 1, 1, 1}, {2, 2, 2, 2, 1, 0, 0, 0}, {5, 5, 1, 1, 1, 2, 2, 2},
                                      {9, 8, 2, 1, 1, 4, 3, 4}, {4, 5, 1, 1, 2, 4, 0, 5}, {3, 2, 1, 3, 1, 0, 1, 1},
                                      {3, 3, 1, 1, 2, 2, 2, 2}};
    const tensor many = make(3, 700, 9, 8); /* planes that are reduced in several goes, half by half */
    for (ingot_reduce_kind kind = INGOT_REDUCE_SUM; kind <= INGOT_REDUCE_MIN; kind++)
        check_image_reduction(&many, kind);
    const tensor large = make(1, 20, 90, 101), few = make(2, 17, 1, 1000); /* planes of several parts */
    for (size_t v = 0; v < 3; v++) {
        check_instance_norm(&large, v % 2, v);
        check_instance_norm(&few, v % 2, v);
    }
    for (size_t s = 0; s < SHAPE_COUNT; s++) {
        tensor t = make(shapes[s][0], shapes[s][1], shapes[s][2], shapes[s][3]);
        for (ingot_channel_kind kind = 0; kind < INGOT_CHANNEL_COUNT; kind++)
            for (size_t v = 0; v < 4; v++)
                check_channels(&t, kind, v % 2, v / 2);
        for (ingot_reduce_kind kind = INGOT_REDUCE_SUM; kind <= INGOT_REDUCE_MIN; kind++)
            check_image_reduction(&t, kind);
        for (size_t p = 0; p < sizeof pools / sizeof *pools; p++)
            for (size_t v = 0; v < 3; v++)
                check_pool(&t, pools[p], v > 0, v > 1);
        for (size_t v = 0; v < 2; v++) {
            check_resize(&t, 2 * t.height, 2 * t.width, v);
            check_resize(&t, (t.height + 1) / 2, t.width + 3, v);
            check_resize(&t, t.height + 2, 4 * t.width, v);
        }
        for (size_t v = 0; v < 3; v++)
            check_instance_norm(&t, v % 2, v);
        check_pad(&t, 1, 2, 0, 3);
        check_pad(&t, 0, 0, 1, 0);
        check_crop(&t, 1, 2, 0, 3);
        check_crop(&t, 0, 0, 2, 0);
    }
    static const size_t copies[][5] = {{16, 0, 64, 32, 16}, {20, 0, 36, 16, 20}, {20, 0, 41, 7, 20},
                                       {50, 13, 20, 0, 20}, {64, 16, 48, 0, 48}, {3, 0, 6, 3, 3},
                                       {33, 1, 40, 8, 32},  {16, 0, 32, 16, 16}};
    for (size_t i = 0; i < 2 * sizeof copies / sizeof *copies; i++) {
        const size_t *c = copies[i / 2];
        check_copy(1 + i % 2, i % 2 ? 49 : 3000, c[0], c[1], c[2], c[3], c[4]);
    }
}

typedef struct c16_bench {
    ingot_channel_op op;
    ingot_pool pool;
    const float *x;
    float *y;
    int what;
} c16_bench;

static void work(void *argument)
{
    c16_bench *b = argument;
    const ingot_channel_op *op = &b->op;
    if (b->what == 0)
        ingot_c16_channels_f32(op, 1);
    else if (b->what == 1)
        ingot_c16_reduce_f32(INGOT_REDUCE_MEAN, 1, op->channels, op->image, b->x, b->y, 1);
    else
        ingot_c16_pool_f32(&b->pool, b->x, b->y, 1);
}

static void bench(void)
{
    static const char *const names[] = {"product with a number a channel", "mean of images", "pool 3x3 stride 2"};
    static const size_t sizes[][2] = {{64, 112}, {96, 56}, {240, 28}, {672, 14}};
    for (size_t i = 0; i < 12; i++) {
        tensor t = make(1, sizes[i / 3][0], sizes[i / 3][1], sizes[i / 3][1]);
        c16_bench b = {.op = {.kind = INGOT_CHANNEL_MUL, .batch = 1, .channels = t.channels, .image = t.image},
                       .what = (int)(i % 3)};
        b.pool = (ingot_pool){
            false, false, t.channels / 16, t.height, t.width, t.height / 2, t.width / 2, 3, 3, 2, 2, 1, 1, 1, 1, 1, 1};
        b.op.x = b.x = random_floats(t.count, false);
        b.op.y = b.y = guard_floats(t.count, false);
        b.op.b = random_floats(t.channels, false);
        double time = best_time(work, &b);
        printf("%s, %zu channels, %zux%zu: %8.1f us, %5.1f GB/s read\n", names[i % 3], t.channels, t.height, t.width,
               time / 1000, (double)(t.count * sizeof(float)) / time);
        guard_release();
    }
}

static void list(void)
{
    static const char *const names[] = {
#define NAME(name, formula) formula,
        INGOT_CHANNEL_LIST(NAME)};
    for (size_t i = 0; i < INGOT_CHANNEL_COUNT; i++)
        printf("on blocks of 16 channels: %s\n", names[i]);
    puts("on blocks of 16 channels: pools, reductions, normalization, resizing, copies of channels, padding, cropping");
}

const check_part check_c16 = {"c16", check, bench, list};
