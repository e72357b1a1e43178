/* Activations. */
#include <math.h>

#include "cpu/ref/ref_unary.h"
#include "ops/unary.h"

#define CHUNK         256                    /* elements converted at a time */
#define SQRT_HALF     0.70710678118654752440 /* sqrt(1 / 2) */
#define SQRT_2_PER_PI 0.79788456080286535588 /* sqrt(2 / pi) */

#define DEFINE_ACTIVATION(op, expression)                              \
    INGOT_UNARY_FLOATS(op, ingot_activation_params, expression)        \
    ingot_status ingot_ref_##op(const ingot_kernel_call *call)         \
    {                                                                  \
        static const ingot_unary_run runs[INGOT_ELEMENT_COUNT] = {     \
            [INGOT_FLOAT] = op##_float, [INGOT_DOUBLE] = op##_double}; \
        return ingot_run_unary(call, runs);                            \
    }

/* NaN stays NaN. */
static inline double unit_clamp(double x)
{
    return x < 0 ? 0 : x > 1 ? 1 : x;
}

static inline double softplus(double x)
{
    return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
}

static inline double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

static inline double gelu(double x, int form)
{
    if (form == INGOT_GELU_TANH)
        return .5 * x * (1 + tanh(SQRT_2_PER_PI * (x + .044715 * x * x * x)));
    return .5 * x * erfc(-SQRT_HALF * x);
}

static inline double shrink(double x, const ingot_activation_params *p)
{
    return x < -p->lambd ? x + p->bias : x > p->lambd ? x - p->bias : 0;
}

DEFINE_ACTIVATION(leaky_relu, x < 0 ? p->alpha * x : x)
DEFINE_ACTIVATION(thresholded_relu, x > p->alpha ? x : 0)
DEFINE_ACTIVATION(elu, x < 0 ? p->alpha * expm1(x) : x)
DEFINE_ACTIVATION(celu, x < 0 ? p->alpha * expm1(x / p->alpha) : x)
DEFINE_ACTIVATION(selu, p->gamma *(x > 0 ? x : p->alpha * expm1(x)))
DEFINE_ACTIVATION(affine, p->alpha *x + p->beta)
DEFINE_ACTIVATION(hard_sigmoid, unit_clamp(p->alpha *x + p->beta))
DEFINE_ACTIVATION(hard_swish, x *unit_clamp(x / 6 + .5))
DEFINE_ACTIVATION(softplus, softplus(x))
DEFINE_ACTIVATION(softsign, x / (1 + fabs(x)))
DEFINE_ACTIVATION(mish, x *tanh(softplus(x)))
DEFINE_ACTIVATION(swish, x *sigmoid(p->alpha *x))
DEFINE_ACTIVATION(gelu, gelu(x, p->approximate))

/* ---- Shrink: integers too, rounded toward zero; in double (its attributes are floats) as long as double holds them ---- */

INGOT_UNARY_FLOATS(shrink, ingot_activation_params, shrink(x, p))

/* Of an integer with the bits of exact and about x, far greater than bias. */
static int64_t shrink_large(double x, int64_t exact, const ingot_activation_params *p)
{
    uint64_t step = (uint64_t)(int64_t)ceil(p->bias);
    return x < -p->lambd ? (int64_t)((uint64_t)exact + step) : x > p->lambd ? (int64_t)((uint64_t)exact - step) : 0;
}

static void shrink_integers(const ingot_kernel_call *call)
{
    const ingot_value *a = call->inputs[0];
    ingot_value *z = call->outputs[0];
    const ingot_activation_params *p = call->params;
    size_t count = ingot_dims_product(z->dims, 0, z->rank);
    for (size_t i = 0; i < count; i++) {
        double x = ingot_load_double(a->element, a->data, i);
        if (fabs(x) <= 0x1p28 || fabs(p->bias) >= fabs(x) / 2) /* sums with a float's fraction are exact so far */
            ingot_store_double(z->element, z->data, i, shrink(x, p));
        else
            ingot_store_i64(z->element, z->data, i, shrink_large(x, ingot_load_i64(a->element, a->data, i), p));
    }
}

ingot_status ingot_ref_shrink(const ingot_kernel_call *call)
{
    static const ingot_unary_run runs[INGOT_ELEMENT_COUNT] = {
        [INGOT_FLOAT] = shrink_float, [INGOT_DOUBLE] = shrink_double};
    if (ingot_element_is_float(call->inputs[0]->element))
        return ingot_run_unary(call, runs);
    shrink_integers(call);
    return INGOT_OK;
}

/* ---- Questions about numbers ---- */

/* Whether each element is NaN, or an infinity of a wanted sign. */
static void classify(const ingot_kernel_call *call, bool nan, bool negative, bool positive)
{
    const ingot_value *a = call->inputs[0];
    uint8_t *z = call->outputs[0]->data;
    size_t elements = ingot_dims_product(a->dims, 0, a->rank);
    double x[CHUNK];
    for (size_t done = 0; done < elements; done += CHUNK) {
        size_t count = elements - done < CHUNK ? elements - done : CHUNK;
        ingot_read_doubles(a->element, a->data, (int64_t)done, 1, count, x);
        for (size_t i = 0; i < count; i++)
            z[done + i] = nan ? x[i] != x[i] : (negative && x[i] == -INFINITY) || (positive && x[i] == INFINITY);
    }
}

ingot_status ingot_ref_is_nan(const ingot_kernel_call *call)
{
    classify(call, true, false, false);
    return INGOT_OK;
}

ingot_status ingot_ref_is_inf(const ingot_kernel_call *call)
{
    const ingot_isinf_params *p = call->params;
    classify(call, false, p->detect_negative, p->detect_positive);
    return INGOT_OK;
}
