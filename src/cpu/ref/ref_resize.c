/* Reference kernel of Resize and Upsample by linear and cubic interpolation: one axis after the other, the last first. */
#include "ops/resize.h"

#include <math.h>

#include "cpu/ref/ref.h"
#include "cpu/ref/ref_move.h"
#include "cpu/ref/ref_resize.h"

/* ---- Weights ---- */

/* Elements that count into one of the output: with antialias, the filter is as wide as an output element. */
static size_t tap_count(const ingot_resize_params *params, const ingot_resize_map *axis)
{
    double radius = params->mode == INGOT_RESIZE_CUBIC ? 2 : 1;
    if (params->antialias && axis->scale < 1)
        radius = ceil(radius / axis->scale);
    return radius < 0x1p40 ? 2 * (size_t)radius : SIZE_MAX;
}

static double linear_weight(double distance)
{
    return distance < 1 ? 1 - distance : 0;
}

static double cubic_weight(double distance, double a)
{
    if (distance <= 1)
        return ((a + 2) * distance - (a + 3)) * distance * distance + 1;
    return distance < 2 ? ((a * distance - 5 * a) * distance + 8 * a) * distance - 4 * a : 0;
}

/* The elements that count into element i of the output, and their weights; false where it is outside. */
static bool fill_taps(const ingot_resize_params *params, const ingot_resize_map *axis, int64_t i, size_t taps,
                      size_t *sources, double *weights)
{
    bool outside;
    double x = ingot_resize_coordinate(params, axis, i, &outside), sum = 0;
    double shrink = params->antialias && axis->scale < 1 ? axis->scale : 1;
    if (!(fabs(x) < 0x1p40))
        x = 0;
    int64_t first = (int64_t)floor(x) + 1 - (int64_t)(taps / 2);
    for (size_t t = 0; t < taps; t++) {
        int64_t at = first + (int64_t)t;
        double distance = fabs((double)at - x) * shrink;
        bool excluded = params->exclude_outside && (at < 0 || at >= axis->in);
        weights[t] = excluded                              ? 0
                     : params->mode == INGOT_RESIZE_LINEAR ? linear_weight(distance)
                                                           : cubic_weight(distance, params->cubic_coeff_a);
        sources[t] = at < 0 ? 0 : at >= axis->in ? (size_t)axis->in - 1 : (size_t)at;
        sum += weights[t];
    }
    for (size_t t = 0; t < taps && sum != 0 && (params->exclude_outside || params->antialias); t++)
        weights[t] /= sum;
    return !outside;
}

/* ---- One axis ---- */

typedef struct axis_pass {
    size_t outer, in, out, inner, taps;
    const size_t *sources; /* [out, taps]; SIZE_MAX as the first of an element that is outside */
    const double *weights; /* [out, taps] */
    float extrapolation_value;
} axis_pass;

/* to [outer, out, inner] from from [outer, in, inner]. */
#define DEFINE_PASS(type)                                                                      \
    static void pass_##type(const axis_pass *p, const type *from, type *to)                    \
    {                                                                                          \
        for (size_t row = 0; row < p->outer * p->out; row++, to += p->inner) {                 \
            const size_t *sources = p->sources + row % p->out * p->taps;                       \
            const double *weights = p->weights + row % p->out * p->taps;                       \
            const type *plane = from + row / p->out * p->in * p->inner;                        \
            bool outside = sources[0] == SIZE_MAX;                                             \
            for (size_t i = 0; i < p->inner; i++)                                              \
                to[i] = outside ? (type)p->extrapolation_value : 0;                            \
            for (size_t t = 0; t < p->taps && !outside; t++) {                                 \
                if (weights[t] == 0) /* keeps infinities that do not count out of the sum */   \
                    continue;                                                                  \
                const type *source = plane + sources[t] * p->inner, weight = (type)weights[t]; \
                for (size_t i = 0; i < p->inner; i++)                                          \
                    to[i] += weight * source[i];                                               \
            }                                                                                  \
        }                                                                                      \
    }
DEFINE_PASS(float)
DEFINE_PASS(double)

/* ---- All axes ---- */

/* Scratch memory: tables for the axis that needs most, and two buffers that passes go between. */
typedef struct memory {
    size_t *sources;
    double *weights;
    void *buffers[2];
} memory;

static ingot_status reserve(const ingot_kernel_call *call, const ingot_resize_map *axes, size_t size, memory *m)
{
    const ingot_resize_params *params = call->params;
    const ingot_value *x = call->inputs[0];
    size_t table = 0, elements = ingot_ref_count(x), buffer = elements, bytes;
    bool fits = true;
    for (int i = x->rank - 1; i >= 0; i--) {
        size_t needed = 0;
        fits = fits && ingot_mul_size((size_t)axes[i].out, axes[i].same ? 0 : tap_count(params, &axes[i]), &needed);
        table = needed > table ? needed : table;
        fits = fits && ingot_mul_size(elements / (size_t)axes[i].in, (size_t)axes[i].out, &elements);
        buffer = elements > buffer ? elements : buffer;
    }
    fits = fits && ingot_mul_size(table, sizeof *m->sources + sizeof *m->weights, &table) &&
           ingot_mul_size(buffer, size, &buffer) && ingot_add_size(buffer, INGOT_ALIGNMENT, &buffer) &&
           ingot_mul_size(buffer, 2, &bytes) && ingot_add_size(bytes, table, &bytes);
    if (!fits)
        return ingot_kernel_fail(call, "needs more scratch memory than there can be");
    char *scratch;
    INGOT_TRY(ingot_kernel_scratch(call, bytes, (void **)&scratch));
    buffer -= buffer % INGOT_ALIGNMENT;
    m->buffers[0] = scratch;
    m->buffers[1] = scratch + buffer;
    m->weights = (double *)(scratch + 2 * buffer);
    m->sources = (size_t *)(scratch + 2 * buffer + table / 2);
    return INGOT_OK;
}

static void fill_tables(const ingot_resize_params *params, const ingot_resize_map *axis, size_t taps, memory *m)
{
    for (int64_t i = 0; i < axis->out; i++) {
        size_t *sources = m->sources + (size_t)i * taps;
        if (!fill_taps(params, axis, i, taps, sources, m->weights + (size_t)i * taps))
            sources[0] = SIZE_MAX;
    }
}

/* Whole numbers round to the nearest, ties to even, and end at the ends of their type; NaN becomes 0. */
static void write_integers(ingot_value *y, const double *from)
{
    int bits = (int)ingot_element_bits(y->element), is_signed = ingot_element_is_signed(y->element);
    size_t count = ingot_ref_count(y);
    double low = is_signed ? -ldexp(1, bits - 1) : 0, end = ldexp(1, bits - is_signed);
    uint64_t greatest = UINT64_MAX >> (64 - bits + is_signed);
    for (size_t i = 0; i < count; i++) {
        double value = nearbyint(from[i]);
        int64_t whole = 0;
        if (value >= end)
            whole = (int64_t)greatest;
        else if (value >= 0)
            whole = (int64_t)(uint64_t)value;
        else if (value < 0)
            whole = value < low ? (int64_t)low : (int64_t)value;
        ingot_store_i64(y->element, y->data, i, whole);
    }
}

static void read_values(const ingot_value *x, bool wide, void *to)
{
    size_t count = ingot_ref_count(x);
    if (wide)
        ingot_read_doubles(x->element, x->data, 0, 1, count, to);
    else
        ingot_read_floats(x->element, x->data, 0, 1, count, to);
}

static void write_values(ingot_value *y, bool wide, const void *from)
{
    if (!wide)
        ingot_write_floats(y->element, y->data, 0, 1, ingot_ref_count(y), from);
    else if (ingot_element_is_integer(y->element))
        write_integers(y, from);
    else
        ingot_write_doubles(y->element, y->data, 0, 1, ingot_ref_count(y), from);
}

/* Floats, and what is narrower, are computed in float, all else in double. Data that have that type already are read, and
 * results written, where they are. */
static ingot_status interpolate(const ingot_kernel_call *call, const ingot_resize_map *axes)
{
    const ingot_resize_params *params = call->params;
    const ingot_value *x = call->inputs[0];
    ingot_value *y = call->outputs[0];
    bool wide = y->element == INGOT_DOUBLE || !ingot_element_is_float(y->element);
    bool direct = y->element == INGOT_FLOAT || y->element == INGOT_DOUBLE;
    int left = 0;
    int64_t dims[INGOT_MAX_RANK];
    memory m = {0};
    INGOT_TRY(reserve(call, axes, wide ? sizeof(double) : sizeof(float), &m));
    for (int i = 0; i < x->rank; i++) {
        dims[i] = x->dims[i];
        left += !axes[i].same;
    }
    if (left == 0)
        return ingot_ref_copy_all(call, y, x);
    const void *from = direct ? x->data : m.buffers[1];
    if (!direct)
        read_values(x, wide, m.buffers[1]);
    for (int i = x->rank - 1, turn = 0; i >= 0; i--) {
        if (axes[i].same)
            continue;
        axis_pass pass = {.outer = ingot_dims_product(dims, 0, i),
                          .in = (size_t)axes[i].in,
                          .out = (size_t)axes[i].out,
                          .inner = ingot_dims_product(dims, i + 1, x->rank),
                          .taps = tap_count(params, &axes[i]),
                          .sources = m.sources,
                          .weights = m.weights,
                          .extrapolation_value = params->extrapolation_value};
        void *to = --left == 0 && direct ? y->data : m.buffers[turn];
        fill_tables(params, &axes[i], pass.taps, &m);
        if (wide)
            pass_double(&pass, from, to);
        else
            pass_float(&pass, from, to);
        dims[i] = axes[i].out;
        from = to;
        turn = !turn;
    }
    if (!direct)
        write_values(y, wide, from);
    return INGOT_OK;
}

ingot_status ingot_ref_resize(const ingot_kernel_call *call)
{
    const ingot_resize_params *params = call->params;
    ingot_resize_map axes[INGOT_MAX_RANK];
    if (ingot_ref_count(call->outputs[0]) == 0)
        return INGOT_OK;
    ingot_resize_read_maps(params, call->inputs, call->input_count, call->outputs[0], axes);
    return params->mode == INGOT_RESIZE_NEAREST ? ingot_ref_resize_nearest(call, axes) : interpolate(call, axes);
}
