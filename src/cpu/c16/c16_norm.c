/* InstanceNormalization of blocked tensors. Memory is read once for the statistics and once to normalize; some planes go through both
 * before the next ones, so that they are still in the cache. */
#include <math.h>

#include "base/threads.h"
#include "cpu/c16/c16_table.h"
#include "cpu/eltwise/vec_table.h"
#include "cpu/sizes.h"

/* Pixels of a part, whose mean and deviations are found for themselves: 32 KiB stay in the L1 cache. */
#define PART 512
/* Bytes of the planes that go through together: half an L2 cache. */
#define TOGETHER ((size_t)1 << 20)

/* What a lane of a plane is normalized with: (x - mean) * factor + summand. */
typedef struct plane_numbers {
    float mean[INGOT_BLOCK], factor[INGOT_BLOCK], summand[INGOT_BLOCK];
} plane_numbers;

/* Of a part: means, and sums of the squares of what deviates from them. */
typedef struct part_moments {
    float mean[INGOT_BLOCK], squares[INGOT_BLOCK];
} part_moments;

typedef struct norm_task {
    const ingot_c16_norm *norm;
    const ingot_c16_table *table;
    ingot_vec_unary_function then;      /* NULL: nothing */
    ingot_vec_binary_function addition; /* NULL: nothing */
    size_t blocks, parts, planes;       /* of channels; of a plane; in all */
    size_t first, together;             /* the plane that this goes begins with, and most planes of it */
    plane_numbers *numbers;
    part_moments *moments;
} norm_task;

static norm_task make_task(const ingot_c16_norm *n)
{
    norm_task t = {.norm = n, .blocks = ingot_block_count(n->channels), .parts = ingot_ceil_div(n->image, PART)};
    t.planes = n->batch * t.blocks;
    t.together = TOGETHER / (n->image * INGOT_BLOCK * sizeof(float));
    t.together = ingot_least(ingot_most(t.together, 1), t.planes);
    return t;
}

size_t ingot_c16_instance_norm_workspace(const ingot_c16_norm *norm)
{
    if (norm->image == 0)
        return 0;
    const norm_task t = make_task(norm);
    return t.together * (sizeof(plane_numbers) + t.parts * sizeof(part_moments));
}

/* Pixels of a plane. */
typedef struct part_range {
    size_t first, count;
} part_range;

static part_range find_part(const norm_task *t, size_t part)
{
    const size_t first = ingot_part_begin(t->norm->image, t->parts, part);
    return (part_range){first, ingot_part_begin(t->norm->image, t->parts, part + 1) - first};
}

static void find_moments(void *argument, size_t chunk, int participant)
{
    const norm_task *t = argument;
    const ingot_c16_norm *n = t->norm;
    const size_t plane = chunk / t->parts, part = chunk % t->parts;
    const part_range p = find_part(t, part);
    part_moments *m = &t->moments[chunk];
    t->table->moments(n->x + ((t->first + plane) * n->image + p.first) * INGOT_BLOCK, p.count, m->mean, m->squares);
}

/* Joins the parts of a plane, in order. */
static void join_moments(const norm_task *t, size_t plane)
{
    const ingot_c16_norm *n = t->norm;
    const part_moments *m = &t->moments[plane * t->parts];
    const size_t channel = (t->first + plane) % t->blocks * INGOT_BLOCK;
    plane_numbers *numbers = &t->numbers[plane];
    double mean[INGOT_BLOCK] = {0}, squares[INGOT_BLOCK] = {0};
    for (size_t part = 0; part < t->parts; part++) {
        const double count = (double)find_part(t, part).count;
        for (size_t lane = 0; lane < INGOT_BLOCK; lane++)
            mean[lane] += count * (double)m[part].mean[lane];
    }
    for (size_t lane = 0; lane < INGOT_BLOCK; lane++)
        mean[lane] /= (double)n->image;
    for (size_t part = 0; part < t->parts; part++) {
        const double count = (double)find_part(t, part).count;
        for (size_t lane = 0; lane < INGOT_BLOCK; lane++) {
            const double off = (double)m[part].mean[lane] - mean[lane];
            squares[lane] += (double)m[part].squares[lane] + count * off * off;
        }
    }
    for (size_t lane = 0; lane < INGOT_BLOCK; lane++) {
        const bool real = channel + lane < n->channels;
        const double inverse = 1 / sqrt(squares[lane] / (double)n->image + (double)n->epsilon);
        numbers->mean[lane] = (float)mean[lane];
        numbers->factor[lane] = real ? (float)(inverse * (double)n->scale[channel + lane]) : 0.0f;
        numbers->summand[lane] = real ? n->bias[channel + lane] : 0.0f;
    }
}

static void normalize(void *argument, size_t chunk, int participant)
{
    const norm_task *t = argument;
    const ingot_c16_norm *n = t->norm;
    const size_t plane = chunk / t->parts, part = chunk % t->parts;
    const part_range p = find_part(t, part);
    const size_t at = ((t->first + plane) * n->image + p.first) * INGOT_BLOCK, count = p.count * INGOT_BLOCK;
    const plane_numbers *numbers = &t->numbers[plane];
    float *y = n->y + at;
    t->table->normalize(n->x + at, numbers->mean, numbers->factor, numbers->summand, y, p.count);
    if (t->addition && !n->add_last)
        t->addition(y, n->add + at, y, count);
    if (t->then)
        t->then(y, y, count, n->then.a, n->then.b);
    if (t->addition && n->add_last)
        t->addition(y, n->add + at, y, count);
}

void ingot_c16_instance_norm_f32(const ingot_c16_norm *norm, void *workspace, int threads)
{
    if (norm->image == 0)
        return;
    norm_task t = make_task(norm);
    t.table = ingot_c16_table_best();
    t.numbers = workspace;
    t.moments = (part_moments *)(void *)(t.numbers + t.together);
    if (norm->then.kind != INGOT_UNARY_IDENTITY)
        t.then = ingot_vec_table_best()->unary[norm->then.kind];
    if (norm->add)
        t.addition = ingot_vec_table_best()->binary[INGOT_BINARY_ADD][INGOT_VEC_BOTH];
    for (; t.first < t.planes; t.first += t.together) {
        const size_t planes = ingot_least(t.together, t.planes - t.first);
        ingot_parallel(threads, planes * t.parts, find_moments, &t);
        for (size_t plane = 0; plane < planes; plane++)
            join_moments(&t, plane);
        ingot_parallel(threads, planes * t.parts, normalize, &t);
    }
}
