/* Normalizations along axes that do not lie in one piece: LpNormalization, MeanVarianceNormalization, LRN. In double. */
#include <math.h>

#include "cpu/ref/ref.h"
#include "cpu/ref/ref_iterate.h"
#include "ops/norm.h"
#include "ops/reduce.h"

#define CHUNK 256 /* elements converted at a time */

/* ---- LpNormalization ---- */

ingot_status ingot_ref_lp_norm(const ingot_kernel_call *call)
{
    const ingot_lp_norm_params *p = call->params;
    const ingot_value *a = call->inputs[0];
    ingot_value *z = call->outputs[0];
    ingot_split split = ingot_split_at(a->rank, a->dims, ingot_axis(p->axis, a->rank));
    int64_t step = (int64_t)split.inner;
    for (size_t line = 0; line < split.outer * split.inner; line++) {
        int64_t start = (int64_t)(line / split.inner * split.size * split.inner + line % split.inner);
        double sum = 0;
        for (size_t i = 0; i < split.size; i++) {
            double x = ingot_load_double(a->element, a->data, (size_t)(start + (int64_t)i * step));
            sum += p->p == 1 ? fabs(x) : x * x;
        }
        double norm = p->p == 1 ? sum : sqrt(sum);
        for (size_t i = 0; i < split.size; i++) {
            size_t at = (size_t)(start + (int64_t)i * step);
            double x = ingot_load_double(a->element, a->data, at);
            ingot_store_double(z->element, z->data, at, norm == 0 ? 0 : x / norm);
        }
    }
    return INGOT_OK;
}

/* ---- MeanVarianceNormalization ---- */

#define DEVIATION_EPSILON 1e-9 /* the standard's: added to the standard deviation */

/* The sum over the places that walk visits from base on, of x - center or its square. */
static double sum_places(const ingot_value *a, ingot_walk walk, int64_t base, double center, bool squares)
{
    double sum = 0, x[CHUNK];
    do
        for (size_t done = 0; done < walk.run; done += CHUNK) {
            size_t count = walk.run - done < CHUNK ? walk.run - done : CHUNK;
            int64_t from = base + walk.offset[0] + (int64_t)done * walk.step[0];
            ingot_read_doubles(a->element, a->data, from, walk.step[0], count, x);
            for (size_t i = 0; i < count; i++)
                sum += squares ? (x[i] - center) * (x[i] - center) : x[i] - center;
        }
    while (ingot_walk_next(&walk));
    return sum;
}

static void scale_places(const ingot_value *a, ingot_value *z, ingot_walk walk, int64_t base, double mean,
                         double deviation)
{
    double x[CHUNK];
    do
        for (size_t done = 0; done < walk.run; done += CHUNK) {
            size_t count = walk.run - done < CHUNK ? walk.run - done : CHUNK;
            int64_t at = base + walk.offset[0] + (int64_t)done * walk.step[0];
            ingot_read_doubles(a->element, a->data, at, walk.step[0], count, x);
            for (size_t i = 0; i < count; i++)
                x[i] = (x[i] - mean) / deviation;
            ingot_write_doubles(z->element, z->data, at, walk.step[0], count, x);
        }
    while (ingot_walk_next(&walk));
}

ingot_status ingot_ref_mean_variance_norm(const ingot_kernel_call *call)
{
    const ingot_mean_variance_params *p = call->params;
    const ingot_value *a = call->inputs[0];
    int64_t strides[INGOT_MAX_RANK], kept[INGOT_MAX_RANK], joined[INGOT_MAX_RANK];
    uint32_t mask;
    size_t bad, count = 1;
    if (!ingot_reduce_mask(a->rank, p->axes.data, p->axes.count, false, &mask, &bad))
        return ingot_kernel_fail(call, "'axes' holds %lld, but the input has rank %d", (long long)p->axes.data[bad],
                                 a->rank);
    ingot_plain_strides(a->rank, a->dims, strides);
    for (int i = 0; i < a->rank; i++) {
        bool reduced = mask >> i & 1;
        kept[i] = reduced ? 1 : a->dims[i];
        joined[i] = reduced ? a->dims[i] : 1;
        count *= (size_t)joined[i];
    }
    ingot_walk places, inner;
    ingot_walk_init_bare(&places, a->rank, kept);
    ingot_walk_add_strided(&places, strides, 0);
    ingot_walk_init_bare(&inner, a->rank, joined);
    ingot_walk_add_strided(&inner, strides, 0);
    if (!ingot_walk_begin(&inner))
        return INGOT_OK;
    for (bool more = ingot_walk_begin(&places); more; more = ingot_walk_next(&places))
        for (int64_t i = 0; i < (int64_t)places.run; i++) {
            int64_t base = places.offset[0] + i * places.step[0];
            double mean = sum_places(a, inner, base, 0, false) / (double)count;
            double variance = sum_places(a, inner, base, mean, true) / (double)count;
            scale_places(a, call->outputs[0], inner, base, mean, sqrt(variance) + DEVIATION_EPSILON);
        }
    return INGOT_OK;
}

/* ---- LRN ---- */

ingot_status ingot_ref_lrn(const ingot_kernel_call *call)
{
    const ingot_lrn_params *p = call->params;
    const ingot_value *a = call->inputs[0];
    ingot_value *z = call->outputs[0];
    ingot_split x = ingot_split_at(a->rank, a->dims, 1); /* [batch, channels, inner] */
    uint64_t reach = (uint64_t)p->size - 1;
    size_t before = (size_t)(reach / 2), after = (size_t)(reach - reach / 2);
    for (size_t o = 0; o < x.outer; o++)
        for (size_t c = 0; c < x.size; c++)
            for (size_t i = 0; i < x.inner; i++) {
                size_t first = c > before ? c - before : 0, last = x.size - 1 - c > after ? c + after : x.size - 1;
                double squares = 0;
                for (size_t k = first; k <= last; k++) {
                    double y = ingot_load_double(a->element, a->data, (o * x.size + k) * x.inner + i);
                    squares += y * y;
                }
                size_t at = (o * x.size + c) * x.inner + i;
                double base = p->bias + p->alpha / (double)p->size * squares;
                ingot_store_double(z->element, z->data, at,
                                   ingot_load_double(a->element, a->data, at) / pow(base, p->beta));
            }
    return INGOT_OK;
}
