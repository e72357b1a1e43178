#include "check.h"
#include "cpu/layout/layout_table.h"

static void fill_bytes(void *memory, size_t count)
{
    unsigned char *bytes = memory;
    for (size_t i = 0; i < count; i++)
        bytes[i] = (unsigned char)random_bits();
}

/* Every element of the transposed tensor, found by its index. */
static bool is_transposed(int rank, const size_t *dims, const int *permutation, size_t size, const char *x,
                          const char *y)
{
    size_t count = 1, out[6];
    for (int d = 0; d < rank; d++) {
        out[d] = dims[permutation[d]];
        count *= dims[d];
    }
    for (size_t i = 0; i < count; i++) {
        size_t rest = i, index[6], at = 0;
        for (int d = rank - 1; d >= 0; d--) {
            index[permutation[d]] = rest % out[d];
            rest /= out[d];
        }
        for (int d = 0; d < rank; d++)
            at = at * dims[d] + index[d];
        if (memcmp(y + i * size, x + at * size, size) != 0)
            return false;
    }
    return true;
}

static void check_transposes(void)
{
    static const struct {
        int rank;
        size_t dims[6];
        int permutation[6];
    } cases[] = {
        {2, {17, 33}, {1, 0}},
        {2, {1, 50}, {1, 0}},
        {2, {300, 257}, {1, 0}},
        {3, {5, 7, 9}, {2, 1, 0}},
        {3, {5, 7, 9}, {1, 0, 2}},
        {4, {2, 31, 4, 16}, {0, 2, 1, 3}},
        {4, {1, 96, 7, 7}, {0, 2, 3, 1}},
        {4, {1, 7, 7, 96}, {0, 3, 1, 2}},
        {4, {2, 3, 4, 5}, {3, 2, 1, 0}},
        {6, {1, 2, 7, 3, 7, 5}, {0, 1, 3, 2, 4, 5}},
        {3, {2, 0, 4}, {2, 0, 1}},
        {1, {9}, {0}},
        {0, {0}, {0}},
        {4, {3, 12, 50, 64}, {0, 1, 3, 2}},
        {2, {20000, 3}, {1, 0}},
    };
    static const size_t element_sizes[] = {1, 2, 4, 8, 16};
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        for (size_t s = 0; s < 5; s++) {
            size_t count = element_sizes[s];
            for (int d = 0; d < cases[c].rank; d++)
                count *= cases[c].dims[d];
            char *x = guard_memory(count, c % 2 == 0), *y = guard_memory(count, c % 2 == 0);
            fill_bytes(x, count);
            ingot_transpose(cases[c].rank, cases[c].dims, cases[c].permutation, element_sizes[s], x, y,
                            check_threads[s % 4]);
            check_case(is_transposed(cases[c].rank, cases[c].dims, cases[c].permutation, element_sizes[s], x, y),
                       "transpose %zu of %zu bytes", c, element_sizes[s]);
            guard_release();
        }
    }
}

static void check_strided(void)
{
    /* A slice backwards with steps, into a part of a larger tensor, and an expansion. */
    static const size_t dims[] = {3, 4, 5};
    static const ptrdiff_t x_strides[][3] = {{60, -10, 2}, {0, 1, 0}, {1, 0, 3}, {40, 5, -1}};
    static const ptrdiff_t x_begin[] = {30, 0, 0, 4};
    static const ptrdiff_t y_strides[] = {50, 6, 1};
    for (size_t c = 0; c < 4; c++) {
        float *x = random_floats(160, true), *y = random_floats(150, true), *before = guard_floats(150, true);
        memcpy(before, y, 150 * sizeof(float));
        ingot_copy copy = {3, dims, sizeof(float), x + x_begin[c], x_strides[c], y, y_strides};
        ingot_copy_strided(&copy, 2);
        for (size_t i = 0; i < 60; i++) {
            ptrdiff_t index[3] = {(ptrdiff_t)(i / 20), (ptrdiff_t)(i / 5 % 4), (ptrdiff_t)(i % 5)}, from = x_begin[c],
                      to = 0;
            for (int d = 0; d < 3; d++) {
                from += index[d] * x_strides[c][d];
                to += index[d] * y_strides[d];
            }
            before[to] = x[from];
        }
        check_case(same_bits(y, before, 150), "strided copy %zu", c);
        guard_release();
    }
}

static void check_resize(size_t in_height, size_t in_width, size_t out_height, size_t out_width, bool linear)
{
    uint32_t *low[2], *high[2];
    float *weight[2];
    size_t in[2] = {in_height, in_width}, out[2] = {out_height, out_width}, planes = 3;
    ingot_resize_axis axes[2];
    for (int a = 0; a < 2; a++) {
        low[a] = guard_memory(out[a] * sizeof(uint32_t), true);
        high[a] = guard_memory(out[a] * sizeof(uint32_t), true);
        weight[a] = random_floats(out[a], true);
        for (size_t i = 0; i < out[a]; i++) {
            low[a][i] = (uint32_t)(i * in[a] / out[a]);
            high[a][i] = low[a][i] + 1 < in[a] ? low[a][i] + 1 : low[a][i];
            weight[a][i] = fabsf(weight[a][i]);
        }
        axes[a] = (ingot_resize_axis){in[a], out[a], low[a], linear ? high[a] : NULL, linear ? weight[a] : NULL};
    }
    float *x = random_floats(planes * in_height * in_width, true),
          *y = guard_floats(planes * out_height * out_width, true);
    ingot_resize_f32(planes, &axes[0], &axes[1], x, y, 3);
    bool good = true;
    for (size_t i = 0; i < planes * out_height * out_width; i++) {
        size_t column = i % out_width, row = i / out_width % out_height;
        const float *plane = x + i / out_width / out_height * in_height * in_width;
        const float *top = plane + low[0][row] * in_width, *bottom = plane + high[0][row] * in_width;
        double truth = top[low[1][column]];
        if (linear) {
            double across = weight[1][column], down = weight[0][row];
            truth = (top[low[1][column]] * (1 - across) + top[high[1][column]] * across) * (1 - down) +
                    (bottom[low[1][column]] * (1 - across) + bottom[high[1][column]] * across) * down;
        }
        good = good && fabs(y[i] - truth) <= (linear ? 1e-6 : 0);
    }
    check_case(good, "resize %zux%zu to %zux%zu, linear %d", in_height, in_width, out_height, out_width, linear);
    guard_release();
}

static void check_levels(void)
{
    for (int level = 0; level < INGOT_LEVEL_COUNT; level++) {
        for (size_t i = 0; i < 60 && wants_level(level); i++) {
            size_t rows = 1 + random_below(40), columns = 1 + random_below(40), x_stride = rows + i % 3,
                   y_stride = columns + i % 4;
            float *x = random_floats((columns - 1) * x_stride + rows, i % 2),
                  *y = random_floats((rows - 1) * y_stride + columns, i % 2);
            ingot_layout_table_at(level)->transpose_4(x, (ptrdiff_t)x_stride, y, (ptrdiff_t)y_stride, rows, columns);
            bool good = true;
            for (size_t r = 0; r < rows; r++) {
                for (size_t c = 0; c < columns; c++)
                    good = good && same_bits(y + r * y_stride + c, x + c * x_stride + r, 1);
            }
            check_case(good, "%s transpose %zux%zu", ingot_level_name(level), rows, columns);
            guard_release();
        }
    }
}

/* Blocks of channels and back; lanes past the channels are 0. */
static void check_blocks(size_t batch, size_t channels, size_t image)
{
    size_t blocks = ingot_block_count(channels), count = batch * channels * image, lanes = INGOT_BLOCK;
    float *x = random_floats(count, true), *y = guard_floats(batch * blocks * lanes * image, true);
    float *back = guard_floats(count, channels % 2);
    ingot_block_f32(batch, channels, image, x, y, 2);
    bool good = true;
    for (size_t i = 0; i < batch * blocks * lanes * image; i++) {
        size_t channel = i / lanes / image % blocks * lanes + i % lanes, pixel = i / lanes % image;
        size_t n = i / lanes / image / blocks;
        good = good && y[i] == (channel < channels ? x[(n * channels + channel) * image + pixel] : 0);
    }
    check_case(good, "blocks of %zu channels, %zu pixels", channels, image);
    ingot_unblock_f32(batch, channels, image, y, back, 3);
    check_case(same_bits(x, back, count), "from blocks of %zu channels, %zu pixels", channels, image);
    ingot_block_last_f32(batch, channels, image, x, y, 3);
    good = true;
    for (size_t i = 0; i < batch * blocks * lanes * image; i++) {
        size_t channel = i / lanes / image % blocks * lanes + i % lanes, pixel = i / lanes % image;
        size_t n = i / lanes / image / blocks;
        good = good && y[i] == (channel < channels ? x[(n * image + pixel) * channels + channel] : 0);
    }
    check_case(good, "blocks of %zu channels that are last, %zu pixels", channels, image);
    memset(back, 0, count * sizeof *back);
    ingot_unblock_last_f32(batch, channels, image, y, back, 2);
    check_case(same_bits(x, back, count), "from blocks of %zu channels to last, %zu pixels", channels, image);
    guard_release();
}

static void check(void)
{
    static const size_t channels[] = {1, 3, 8, 15, 16, 17, 40}, images[] = {1, 7, 16, 49, 100, 2100};
    for (size_t i = 0; i < 42; i++)
        check_blocks(1 + i % 3, channels[i % 7], images[i / 7]);
    check_levels();
    check_transposes();
    check_strided();
    for (int linear = 0; linear < 2; linear++) {
        check_resize(5, 7, 10, 14, linear);
        check_resize(20, 20, 40, 40, linear);
        check_resize(9, 33, 4, 17, linear);
        check_resize(9, 40, 4, 17, linear);
        check_resize(2, 2100, 3, 4211, linear);
        check_resize(1, 1, 3, 100, linear);
        check_resize(60, 60, 200, 300, linear);
    }
}

typedef struct layout_bench {
    const size_t *dims;
    const int *permutation;
    size_t size;
    void *x, *y;
} layout_bench;

static void work(void *argument)
{
    layout_bench *b = argument;
    ingot_transpose(4, b->dims, b->permutation, b->size, b->x, b->y, 1);
}

static void block_work(void *argument)
{
    layout_bench *b = argument;
    ingot_block_f32(1, b->dims[1], b->dims[2] * b->dims[3], b->x, b->y, 1);
}

static void unblock_work(void *argument)
{
    layout_bench *b = argument;
    ingot_unblock_f32(1, b->dims[1], b->dims[2] * b->dims[3], b->x, b->y, 1);
}

static void block_last_work(void *argument)
{
    layout_bench *b = argument;
    ingot_block_last_f32(1, b->dims[1], b->dims[2] * b->dims[3], b->x, b->y, 1);
}

static void unblock_last_work(void *argument)
{
    layout_bench *b = argument;
    ingot_unblock_last_f32(1, b->dims[1], b->dims[2] * b->dims[3], b->x, b->y, 1);
}

static void bench_blocks(void)
{
    static const struct {
        const char *name;
        void (*work)(void *argument);
    } kinds[] = {{"to blocks of 16 channels", block_work},
                 {"from blocks of 16 channels", unblock_work},
                 {"to blocks of 16 channels, from last", block_last_work},
                 {"from blocks of 16 channels, to last", unblock_last_work}};
    static const size_t dims[][4] = {{1, 96, 56, 56}, {1, 256, 14, 14}, {1, 64, 112, 112}, {1, 4, 40, 40}};
    for (size_t i = 0; i < 16; i++) {
        layout_bench b = {.dims = dims[i / 4]};
        size_t bytes = sizeof(float) * b.dims[1] * b.dims[2] * b.dims[3];
        size_t whole = bytes / b.dims[1] * ingot_block_count(b.dims[1]) * INGOT_BLOCK;
        b.x = guard_memory(whole, false);
        b.y = guard_memory(whole, false);
        printf("%s, %zux%zux%zu: %6.1f GB/s\n", kinds[i % 4].name, b.dims[1], b.dims[2], b.dims[3],
               2.0 * (double)bytes / best_time(kinds[i % 4].work, &b));
        guard_release();
    }
}

static void bench(void)
{
    bench_blocks();
    static const size_t dims[][4] = {{1, 96, 56, 56},  {1, 56, 56, 96},  {1, 128, 12, 64},
                                     {1, 12, 128, 64}, {1, 257, 257, 3}, {1, 3549, 1, 85}};
    static const int permutations[][4] = {{0, 2, 3, 1}, {0, 3, 1, 2}, {0, 2, 1, 3},
                                          {0, 1, 3, 2}, {0, 3, 1, 2}, {0, 3, 2, 1}};
    for (size_t i = 0; i < 12; i++) {
        layout_bench b = {dims[i % 6], permutations[i % 6], i < 6 ? 4 : 2, NULL, NULL};
        size_t bytes = b.size * b.dims[0] * b.dims[1] * b.dims[2] * b.dims[3];
        b.x = guard_memory(bytes, false);
        b.y = guard_memory(bytes, false);
        printf("transpose %zux%zux%zux%zu of %zu bytes: %6.1f GB/s\n", b.dims[0], b.dims[1], b.dims[2], b.dims[3],
               b.size, 2.0 * (double)bytes / best_time(work, &b));
        guard_release();
    }
}

static void list(void)
{
    puts("strided copy, transpose: elements of 1, 2, 4, 8, 16 bytes");
    for (int level = 0; level < INGOT_LEVEL_COUNT; level++)
        printf("transpose of 4 bytes, resize rows, blocks of channels %s\n", ingot_level_name(level));
}

const check_part check_layout = {"layout", check, bench, list};
