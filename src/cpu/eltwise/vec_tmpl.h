/* Template of the elementwise kernels, compiled once a level. */
#include "cpu/eltwise/vec_math.h"
#include "cpu/eltwise/vec_table.h"

static inline vec op_identity(vec x, vec a, vec b)
{
    return x;
}
static inline vec op_relu(vec x, vec a, vec b)
{
    return v_max(v_zero(), x);
}
static inline vec op_clip(vec x, vec a, vec b)
{
    return v_min(b, v_max(a, x));
}
static inline vec op_leaky_relu(vec x, vec a, vec b)
{
    return v_select(v_less(x, v_zero()), v_mul(a, x), x);
}
static inline vec op_gelu(vec x, vec a, vec b)
{
    vec half = v_mul(x, v_set(0.5f));
    return v_fma(half, v_erf_of_product(x, 0x1.6a09e6p-1f), half);
}
static inline vec op_gelu_tanh(vec x, vec a, vec b)
{
    vec half = v_mul(x, v_set(0.5f)), cube = v_mul(v_mul(x, x), x);
    vec inner = v_mul(v_set(0x1.988454p-1f), v_fma(cube, v_set(0.044715f), x));
    return v_fma(half, v_tanh(inner), half);
}
static inline vec op_hard_sigmoid(vec x, vec a, vec b)
{
    return v_min(v_set(1.0f), v_max(v_zero(), v_fma(a, x, b)));
}
static inline vec op_hard_swish(vec x, vec a, vec b)
{
    return v_mul(x, op_hard_sigmoid(x, v_set(1.0f / 6.0f), v_set(0.5f)));
}
static inline vec op_elu(vec x, vec a, vec b)
{
    return v_select(v_less(x, v_zero()), v_mul(a, v_expm1(x)), x);
}
static inline vec op_selu(vec x, vec a, vec b)
{
    return v_mul(b, op_elu(x, a, b));
}
static inline vec op_softplus(vec x, vec a, vec b)
{
    return v_add(v_max(v_zero(), x), v_log1p(v_exp(v_neg(v_abs(x)))));
}
static inline vec op_softsign(vec x, vec a, vec b)
{
    return v_div(x, v_add(v_abs(x), v_set(1.0f)));
}
/* tanh(log(1 + e)) with e = exp(x) is n / (n + 2) with n = e * (e + 2). */
static inline vec op_mish(vec x, vec a, vec b)
{
    vec e = v_exp(v_min(v_set(40.0f), x)), n = v_mul(e, v_add(e, v_set(2.0f)));
    return v_select(v_less(v_set(40.0f), x), x, v_mul(x, v_div(n, v_add(n, v_set(2.0f)))));
}
static inline vec op_exp(vec x, vec a, vec b)
{
    return v_exp(x);
}
static inline vec op_log(vec x, vec a, vec b)
{
    return v_log(x);
}
static inline vec op_erf(vec x, vec a, vec b)
{
    return v_erf(x);
}
static inline vec op_sqrt(vec x, vec a, vec b)
{
    return v_sqrt(x);
}
static inline vec op_reciprocal(vec x, vec a, vec b)
{
    return v_div(v_set(1.0f), x);
}
static inline vec op_neg(vec x, vec a, vec b)
{
    return v_neg(x);
}
static inline vec op_abs(vec x, vec a, vec b)
{
    return v_abs(x);
}
static inline vec op_square(vec x, vec a, vec b)
{
    return v_mul(x, x);
}
static inline vec op_cube(vec x, vec a, vec b)
{
    return v_mul(v_mul(x, x), x);
}
static inline vec op_affine(vec x, vec a, vec b)
{
    return v_fma(a, x, b);
}
static inline vec op_floor(vec x, vec a, vec b)
{
    return v_floor(x);
}
static inline vec op_ceil(vec x, vec a, vec b)
{
    return v_ceil(x);
}
static inline vec op_round(vec x, vec a, vec b)
{
    return v_round(x);
}
static inline vec op_sign(vec x, vec a, vec b)
{
    vec one = v_or(v_set(1.0f), v_and(x, v_set(-0.0f)));
    return v_select(v_is_nan(x), x, v_select(v_equal(x, v_zero()), v_zero(), one));
}

/* X(kind, function): all but POW, which has no vector form, and those that take several vectors at once. */
#define UNARY_KERNELS(X)          \
    X(IDENTITY, identity)         \
    X(RELU, relu)                 \
    X(CLIP, clip)                 \
    X(LEAKY_RELU, leaky_relu)     \
    X(GELU, gelu)                 \
    X(GELU_TANH, gelu_tanh)       \
    X(HARD_SIGMOID, hard_sigmoid) \
    X(HARD_SWISH, hard_swish)     \
    X(ELU, elu)                   \
    X(SELU, selu)                 \
    X(SOFTPLUS, softplus)         \
    X(SOFTSIGN, softsign)         \
    X(MISH, mish)                 \
    X(EXP, exp)                   \
    X(LOG, log)                   \
    X(ERF, erf)                   \
    X(SQRT, sqrt)                 \
    X(RECIPROCAL, reciprocal)     \
    X(NEG, neg)                   \
    X(ABS, abs)                   \
    X(SQUARE, square)             \
    X(CUBE, cube)                 \
    X(AFFINE, affine)             \
    X(FLOOR, floor)               \
    X(CEIL, ceil)                 \
    X(ROUND, round)               \
    X(SIGN, sign)

#define UNARY_FUNCTION(kind, name)                                                             \
    static void unary_##name(const float *x, float *y, size_t count, float a_one, float b_one) \
    {                                                                                          \
        vec a = v_set(a_one), b = v_set(b_one);                                                \
        size_t i = 0;                                                                          \
        for (; i + LANES <= count; i += LANES)                                                 \
            v_store(y + i, op_##name(v_load(x + i), a, b));                                    \
        if (i < count)                                                                         \
            v_store_part(y + i, op_##name(v_load_part(x + i, count - i), a, b), count - i);    \
    }
UNARY_KERNELS(UNARY_FUNCTION)

static inline __attribute__((always_inline)) void several_sigmoid(vec *x, vec a, const int count)
{
    v_sigmoids(x, count);
}
static inline __attribute__((always_inline)) void several_tanh(vec *x, vec a, const int count)
{
    v_tanhs(x, count);
}
/* Rounded as a Sigmoid and a Mul are, so that a region of both keeps their bits. */
static inline __attribute__((always_inline)) void several_silu(vec *x, vec a, const int count)
{
    vec s[SIGMOIDS];
    FOR_EACH(s[i] = v_mul(a, x[i]));
    v_sigmoids(s, count);
    FOR_EACH(x[i] = v_mul(x[i], s[i]));
}

#define SEVERAL_KERNELS(X) \
    X(SIGMOID, sigmoid)    \
    X(TANH, tanh)          \
    X(SILU, silu)

#define SEVERAL_FUNCTION(kind, name)                                                           \
    static void unary_##name(const float *x, float *y, size_t count, float a_one, float b_one) \
    {                                                                                          \
        vec a = v_set(a_one), v[SIGMOIDS];                                                     \
        size_t i = 0;                                                                          \
        for (; i + SIGMOIDS * LANES <= count; i += SIGMOIDS * LANES) {                         \
            for (size_t k = 0; k < SIGMOIDS; k++)                                              \
                v[k] = v_load(x + i + k * LANES);                                              \
            several_##name(v, a, SIGMOIDS);                                                    \
            for (size_t k = 0; k < SIGMOIDS; k++)                                              \
                v_store(y + i + k * LANES, v[k]);                                              \
        }                                                                                      \
        for (; i < count; i += LANES) {                                                        \
            const size_t part = count - i < LANES ? count - i : LANES;                         \
            v[0] = v_load_part(x + i, part);                                                   \
            several_##name(v, a, 1);                                                           \
            v_store_part(y + i, v[0], part);                                                   \
        }                                                                                      \
    }
SEVERAL_KERNELS(SEVERAL_FUNCTION)

static void unary_pow(const float *x, float *y, size_t count, float a, float b)
{
    if (a == 0.5f || a == -0.5f) { /* pow(-0, .5) is 0, pow(-infinity, .5) infinity */
        for (size_t i = 0; i < count; i++) {
            float root = x[i] == -INFINITY ? INFINITY : sqrtf(x[i] + 0.0f);
            y[i] = a > 0 ? root : 1.0f / root;
        }
        return;
    }
    for (size_t i = 0; i < count; i++)
        y[i] = powf(x[i], a);
}

static inline vec op_add(vec x, vec y)
{
    return v_add(x, y);
}
static inline vec op_sub(vec x, vec y)
{
    return v_sub(x, y);
}
static inline vec op_mul(vec x, vec y)
{
    return v_mul(x, y);
}
static inline vec op_div(vec x, vec y)
{
    return v_div(x, y);
}
/* v_min gives y where one is NaN: that leaves NaN in x to be put through. */
static inline vec op_min(vec x, vec y)
{
    return v_select(v_is_nan(x), x, v_min(x, y));
}
static inline vec op_max(vec x, vec y)
{
    return v_select(v_is_nan(x), x, v_max(x, y));
}

#define BINARY_KERNELS(X) X(ADD, add) X(SUB, sub) X(MUL, mul) X(DIV, div) X(MIN, min) X(MAX, max)

#define BINARY_FUNCTIONS(kind, name)                                                                  \
    static void both_##name(const float *a, const float *b, float *y, size_t count)                   \
    {                                                                                                 \
        size_t i = 0;                                                                                 \
        for (; i + LANES <= count; i += LANES)                                                        \
            v_store(y + i, op_##name(v_load(a + i), v_load(b + i)));                                  \
        if (i < count) {                                                                              \
            size_t rest = count - i;                                                                  \
            v_store_part(y + i, op_##name(v_load_part(a + i, rest), v_load_part(b + i, rest)), rest); \
        }                                                                                             \
    }                                                                                                 \
    static void one_a_##name(const float *a, const float *b, float *y, size_t count)                  \
    {                                                                                                 \
        vec all = v_set(*a);                                                                          \
        size_t i = 0;                                                                                 \
        for (; i + LANES <= count; i += LANES)                                                        \
            v_store(y + i, op_##name(all, v_load(b + i)));                                            \
        if (i < count)                                                                                \
            v_store_part(y + i, op_##name(all, v_load_part(b + i, count - i)), count - i);            \
    }                                                                                                 \
    static void one_b_##name(const float *a, const float *b, float *y, size_t count)                  \
    {                                                                                                 \
        vec all = v_set(*b);                                                                          \
        size_t i = 0;                                                                                 \
        for (; i + LANES <= count; i += LANES)                                                        \
            v_store(y + i, op_##name(v_load(a + i), all));                                            \
        if (i < count)                                                                                \
            v_store_part(y + i, op_##name(v_load_part(a + i, count - i), all), count - i);            \
    }
BINARY_KERNELS(BINARY_FUNCTIONS)

const ingot_vec_table LEVEL_NAME(ingot_vec_table) = {
    .unary =
        {
#define UNARY_ENTRY(kind, name) [INGOT_UNARY_##kind] = unary_##name,
            UNARY_KERNELS(UNARY_ENTRY) SEVERAL_KERNELS(UNARY_ENTRY)[INGOT_UNARY_POW] = unary_pow,
        },
    .binary =
        {
#define BINARY_ENTRY(kind, name) [INGOT_BINARY_##kind] = {both_##name, one_a_##name, one_b_##name},
            BINARY_KERNELS(BINARY_ENTRY)},
};
