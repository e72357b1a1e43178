/* Reference kernels of DFT, STFT and MelWeightMatrix. */
#include "ops/signal.h"

#include <math.h>

#include "cpu/ref/ref.h"
#include "cpu/ref/ref_move.h"

#define TURN 6.283185307179586

typedef struct complex_number {
    double re, im;
} complex_number;

static complex_number times(complex_number a, complex_number b)
{
    return (complex_number){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

/* Scratch memory of a transform of a length: the roots of one, and two buffers. */
typedef struct transform {
    size_t length;
    complex_number *roots; /* exp(-2 pi i k / length) */
    complex_number *signal, *spare;
} transform;

static ingot_status prepare(const ingot_kernel_call *call, int64_t length, transform *t)
{
    size_t bytes;
    t->length = (size_t)length;
    if (!ingot_mul_size(t->length, 3 * sizeof *t->roots, &bytes))
        return ingot_kernel_fail(call, "a transform of length %zu is more than memory can hold", t->length);
    INGOT_TRY(ingot_kernel_scratch(call, bytes, (void **)&t->roots));
    t->signal = t->roots + t->length;
    t->spare = t->signal + t->length;
    for (size_t k = 0; k < t->length; k++)
        t->roots[k] = (complex_number){cos(TURN * (double)k / (double)length), -sin(TURN * (double)k / (double)length)};
    return INGOT_OK;
}

static size_t smallest_factor(size_t n)
{
    for (size_t p = 2; p <= n / p; p++)
        if (n % p == 0)
            return p;
    return n;
}

/* One step of the transform of parts of length n, of which stride lie interleaved, into parts of length n / p. */
static void split_step(const transform *t, size_t n, size_t stride, size_t p)
{
    size_t m = n / p, scale = t->length / n;
    for (size_t j = 0; j < m; j++) {
        for (size_t r = 0; r < p; r++) {
            complex_number twiddle = t->roots[j * r * scale];
            for (size_t q = 0; q < stride; q++) {
                complex_number sum = {0};
                for (size_t k = 0; k < p; k++) {
                    complex_number part =
                        times(t->signal[q + stride * (j + m * k)], t->roots[r * k % p * (t->length / p)]);
                    sum.re += part.re;
                    sum.im += part.im;
                }
                t->spare[q + stride * (p * j + r)] = times(sum, twiddle);
            }
        }
    }
}

/* signal becomes its transform: factor by factor of its length, the results sorted on the way. The inverse is not divided. */
static void run_transform(transform *t, bool inverse)
{
    for (size_t i = 0; inverse && i < t->length; i++)
        t->signal[i].im = -t->signal[i].im;
    for (size_t n = t->length, stride = 1; n > 1;) {
        size_t p = smallest_factor(n);
        split_step(t, n, stride, p);
        complex_number *swap = t->signal;
        t->signal = t->spare;
        t->spare = swap;
        n /= p;
        stride *= p;
    }
    for (size_t i = 0; inverse && i < t->length; i++)
        t->signal[i].im = -t->signal[i].im;
}

/* Number index of a tensor whose last dimension holds one or two parts. */
/* parts: 1 where the numbers are real, 2 where they are complex. */
static complex_number load_number(const ingot_value *x, size_t parts, size_t index)
{
    return (complex_number){ingot_load_double(x->element, x->data, index * parts),
                            parts > 1 ? ingot_load_double(x->element, x->data, index * parts + 1) : 0};
}

static void store_number(ingot_value *y, size_t index, complex_number number, double scale)
{
    size_t parts = (size_t)y->dims[y->rank - 1];
    ingot_store_double(y->element, y->data, index * parts, number.re * scale);
    if (parts > 1)
        ingot_store_double(y->element, y->data, index * parts + 1, number.im * scale);
}

/* ---- DFT ---- */

/* One signal: its numbers lie stride apart from first on. What is missing is 0; of a one-sided spectrum, the mirror image. */
static void read_signal(const ingot_value *x, size_t first, size_t stride, size_t size, bool mirror, transform *t)
{
    size_t given = mirror ? t->length / 2 + 1 : t->length;
    for (size_t i = 0; i < t->length; i++) {
        size_t from = i < given ? i : t->length - i;
        complex_number number = {0};
        if (from < size)
            number = load_number(x, (size_t)x->dims[x->rank - 1], first + from * stride);
        if (i >= given)
            number.im = -number.im;
        t->signal[i] = number;
    }
    if (mirror) /* the bins that are their own mirror image are real */
        t->signal[0].im = 0;
    if (mirror && t->length % 2 == 0)
        t->signal[t->length / 2].im = 0;
}

ingot_status ingot_ref_dft(const ingot_kernel_call *call)
{
    const ingot_dft_params *params = call->params;
    const ingot_value *x = call->inputs[0];
    ingot_value *y = call->outputs[0];
    int64_t place = params->axis_given          ? params->axis
                    : ingot_kernel_has(call, 2) ? ingot_ref_integer(call->inputs[2], 0)
                                                : -2;
    int axis = ingot_axis(place, x->rank);
    int64_t length = ingot_kernel_has(call, 1) ? ingot_ref_integer(call->inputs[1], 0)
                                               : ingot_dft_default_length(params, x->dims[axis]);
    ingot_split from = ingot_split_at(x->rank - 1, x->dims, axis), to = ingot_split_at(y->rank - 1, y->dims, axis);
    transform t;
    if (ingot_ref_count(y) == 0)
        return INGOT_OK;
    INGOT_TRY(prepare(call, length, &t));
    for (size_t row = 0; row < from.outer * from.inner; row++) {
        size_t outer = row / from.inner, inner = row % from.inner;
        read_signal(x, outer * from.size * from.inner + inner, from.inner, from.size,
                    params->inverse && params->onesided, &t);
        run_transform(&t, params->inverse);
        for (size_t i = 0; i < to.size; i++)
            store_number(y, (outer * to.size + i) * to.inner + inner, t.signal[i],
                         params->inverse ? 1 / (double)length : 1);
    }
    return INGOT_OK;
}

/* ---- STFT ---- */

ingot_status ingot_ref_stft(const ingot_kernel_call *call)
{
    const ingot_value *x = call->inputs[0], *window = ingot_kernel_has(call, 2) ? call->inputs[2] : NULL;
    ingot_value *y = call->outputs[0];
    int64_t length = ingot_kernel_has(call, 3) ? ingot_ref_integer(call->inputs[3], 0)
                     : window                  ? window->dims[0]
                                               : x->dims[1];
    size_t step = (size_t)ingot_ref_integer(call->inputs[1], 0), frames = (size_t)y->dims[1], bins = (size_t)y->dims[2];
    size_t parts = x->rank == 3 ? (size_t)x->dims[2] : 1;
    transform t;
    if (ingot_ref_count(y) == 0)
        return INGOT_OK;
    INGOT_TRY(prepare(call, length, &t));
    for (size_t row = 0; row < (size_t)y->dims[0] * frames; row++) {
        size_t first = row / frames * (size_t)x->dims[1] + row % frames * step;
        for (size_t i = 0; i < t.length; i++) {
            double weight = window ? ingot_load_double(window->element, window->data, i) : 1;
            complex_number number = load_number(x, parts, first + i);
            t.signal[i] = (complex_number){number.re * weight, number.im * weight};
        }
        run_transform(&t, false);
        for (size_t i = 0; i < bins; i++)
            store_number(y, row * bins + i, t.signal[i], 1);
    }
    return INGOT_OK;
}

/* ---- MelWeightMatrix ---- */

static double to_mel(double hertz)
{
    return 2595 * log10(1 + hertz / 700);
}

typedef struct mel_scale {
    double low, step; /* in mel */
    double bins_per_hertz;
} mel_scale;

/* The bin of the spectrum at which triangle i begins. */
static double mel_edge(const mel_scale *s, size_t i)
{
    double hertz = 700 * (pow(10, ((double)i * s->step + s->low) / 2595) - 1);
    return floor(hertz * s->bins_per_hertz);
}

ingot_status ingot_ref_mel_weight_matrix(const ingot_kernel_call *call)
{
    ingot_value *y = call->outputs[0];
    double length = (double)ingot_ref_integer(call->inputs[1], 0), rate = (double)ingot_ref_integer(call->inputs[2], 0);
    double low = to_mel(ingot_load_double(call->inputs[3]->element, call->inputs[3]->data, 0));
    double high = to_mel(ingot_load_double(call->inputs[4]->element, call->inputs[4]->data, 0));
    size_t bins = (size_t)y->dims[0], mels = (size_t)y->dims[1];
    mel_scale scale = {low, (high - low) / (double)(mels + 2), (length + 1) / rate};
    for (size_t bin = 0; bin < bins; bin++) {
        for (size_t i = 0; i < mels; i++) {
            double left = mel_edge(&scale, i), center = mel_edge(&scale, i + 1), right = mel_edge(&scale, i + 2);
            double at = (double)bin, weight = 0;
            if (at == center && left == center)
                weight = 1;
            else if (at >= left && at <= center)
                weight = (at - left) / (center - left);
            if (at >= center && at < right)
                weight = (right - at) / (right - center);
            ingot_store_double(y->element, y->data, bin * mels + i, weight);
        }
    }
    return INGOT_OK;
}
