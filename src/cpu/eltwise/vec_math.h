/* exp, log, erf, tanh and their relatives on vectors, for templates. Each is within 2 ulp of the true value, right at
 * infinities, zeros and NaN, and down to denormal arguments and results, but for the sigmoid, which ends above them. The
 * polynomials are minimax fits, made for these ranges. */
#ifndef INGOT_CPU_VEC_MATH_H
#define INGOT_CPU_VEC_MATH_H

#include "cpu/simd/simd.h"

#define LOG2_E 0x1.715476p+0f
/* ln 2 in two parts; the first has trailing zeros, so that its small multiples are exact. */
#define LN_2_HIGH 0x1.62e4p-1f
#define LN_2_LOW  0x1.7f7d1cp-20f

/* exp(r) = 1 + r + r * r * (this), for |r| <= ln(2) / 2. */
static inline vec v_exp_tail(vec r)
{
    vec p = v_fma(v_set(0x1.a19a1ep-13f), r, v_set(0x1.6d74bap-10f));
    p = v_fma(p, r, v_set(0x1.111094p-7f));
    p = v_fma(p, r, v_set(0x1.5554aep-5f));
    p = v_fma(p, r, v_set(0x1.555556p-3f));
    return v_fma(p, r, v_set(0.5f));
}

/* x = n * ln 2 + r; NaN in both where x is. */
static inline vec v_exp_reduce(vec x, vec *n)
{
    x = v_min(v_set(105.0f), v_max(v_set(-150.0f), x));
    *n = v_round(v_mul(x, v_set(LOG2_E)));
    vec r = v_fma(*n, v_set(-LN_2_HIGH), x);
    return v_fma(*n, v_set(-LN_2_LOW), r);
}

static inline vec v_exp(vec x)
{
    vec n, r = v_exp_reduce(x, &n);
    vec p = v_fma(v_mul(r, r), v_exp_tail(r), r);
    return v_scale(v_add(p, v_set(1.0f)), n);
}

/* exp(x) - 1 without loss near 0. */
static inline vec v_expm1(vec x)
{
    vec n, r = v_exp_reduce(x, &n);
    vec p = v_fma(v_mul(r, r), v_exp_tail(r), r);
    vec unit = v_scale(v_set(1.0f), n);
    vec y = v_add(v_scale(p, n), v_sub(unit, v_set(1.0f)));
    /* 2^128 is no float. */
    return v_select(v_less(v_set(88.0f), x), v_exp(x), v_select(v_equal(x, v_zero()), x, y));
}

static inline vec v_log(vec x)
{
    /* log(1 + f) = f - f * f / 2 + f^3 * p(f), for f in [-.25, .5). */
    vec e, f = v_sub(v_split(x, &e), v_set(1.0f));
    vec p = v_set(0x1.349bf2p-5f);
    p = v_fma(p, f, v_set(-0x1.75652cp-4f));
    p = v_fma(p, f, v_set(0x1.df422cp-4f));
    p = v_fma(p, f, v_set(-0x1.04aa48p-3f));
    p = v_fma(p, f, v_set(0x1.2460a0p-3f));
    p = v_fma(p, f, v_set(-0x1.5519b8p-3f));
    p = v_fma(p, f, v_set(0x1.999788p-3f));
    p = v_fma(p, f, v_set(-0x1.00006ep-2f));
    p = v_fma(p, f, v_set(0x1.55555ap-2f));
    vec square = v_mul(f, f);
    vec low = v_fma(v_mul(square, f), p, v_mul(e, v_set(LN_2_LOW)));
    low = v_fma(square, v_set(-0.5f), low);
    vec y = v_fma(e, v_set(LN_2_HIGH), v_add(f, low));
    y = v_select(v_equal(x, v_set(INFINITY)), x, y);
    y = v_select(v_equal(x, v_zero()), v_set(-INFINITY), y);
    y = v_select(v_less(x, v_zero()), v_set(NAN), y);
    return v_select(v_is_nan(x), x, y);
}

/* log(1 + x) for x >= 0: the rounding of 1 + x is made good. */
static inline vec v_log1p(vec x)
{
    vec sum = v_add(x, v_set(1.0f)), rounded = v_sub(sum, v_set(1.0f));
    vec y = v_mul(v_log(sum), v_div(x, rounded));
    y = v_select(v_equal(rounded, v_zero()), x, y);
    return v_select(v_equal(x, v_set(INFINITY)), x, y);
}

/* Several sigmoids are worked on in turn, step by step: each is a chain of steps that wait for the one before, too long for a
 * processor to look from one chain into the next. */
#define SIGMOIDS       4
#define FOR_EACH(step) _Pragma("GCC unroll 4") for (int i = 0; i < count; i++) step
/* Below it a sigmoid is 0: the true value is no normal number, or nearly none, and would depend on whether such are flushed. */
#define SIGMOID_LEAST -87.3f

#if defined(SIMD_LOOKUP)
/* 2^(i / 32), rounded, and by how much that is too large. */
static const float power_table[2][32] = {
    {0x1.000000p+0f, 0x1.059b0ep+0f, 0x1.0b5586p+0f, 0x1.11301ep+0f, 0x1.172b84p+0f, 0x1.1d4874p+0f, 0x1.2387a6p+0f,
     0x1.29e9e0p+0f, 0x1.306fe0p+0f, 0x1.371a74p+0f, 0x1.3dea64p+0f, 0x1.44e086p+0f, 0x1.4bfdaep+0f, 0x1.5342b6p+0f,
     0x1.5ab07ep+0f, 0x1.6247ecp+0f, 0x1.6a09e6p+0f, 0x1.71f75ep+0f, 0x1.7a1148p+0f, 0x1.82589ap+0f, 0x1.8ace54p+0f,
     0x1.93737cp+0f, 0x1.9c4918p+0f, 0x1.a5503cp+0f, 0x1.ae89fap+0f, 0x1.b7f770p+0f, 0x1.c199bep+0f, 0x1.cb720ep+0f,
     0x1.d5818ep+0f, 0x1.dfc974p+0f, 0x1.ea4afap+0f, 0x1.f50766p+0f},
    {0x0.0p+0f,        0x1.9d4f52p-25f, -0x1.9f3122p-25f, 0x1.fdb496p-25f, 0x1.c15742p-27f,  0x1.d2e8cap-25f,
     -0x1.ceac48p-25f, 0x1.5c0424p-25f, -0x1.4636e2p-25f, 0x1.18aac6p-25f, -0x1.824684p-25f, -0x1.8624b4p-30f,
     0x1.593abcp-25f,  0x1.2c5610p-25f, 0x1.5bd5ecp-27f,  0x1.f8b550p-25f, -0x1.9fcef4p-26f, -0x1.1d8beep-25f,
     0x1.829fd0p-25f,  0x1.accc7cp-26f, -0x1.15506ep-27f, 0x1.e64744p-25f, -0x1.51f848p-27f, 0x1.b83b54p-25f,
     0x1.a94b14p-26f,  0x1.a09438p-25f, 0x1.3d56b2p-27f,  0x1.8837ccp-27f, 0x1.822dbcp-27f,  0x1.908c94p-25f,
     -0x1.52486cp-27f, 0x1.246eb0p-26f},
};
/* From here on exp(-x) does not count any more. */
#define SIGMOID_MOST 104.0f
/* A sum with it is a multiple of 1 / 32, whose last bits count them. */
#define ROUND_TO_32ND 0x1.8p+18f

/* Replaces each x by 1 / (1 + exp(-x)); count is a constant of at most SIGMOIDS. exp(-x) = 2^n * exp(-s), and n's fraction is looked up. */
static inline __attribute__((always_inline)) void v_sigmoids(vec *x, const int count)
{
    vec n[SIGMOIDS], s[SIGMOIDS], sum[SIGMOIDS], power[SIGMOIDS], p[SIGMOIDS], y[SIGMOIDS];
    FOR_EACH(s[i] = v_min(v_set(SIGMOID_MOST), x[i]));
    FOR_EACH(sum[i] = v_fma(s[i], v_set(-LOG2_E), v_set(ROUND_TO_32ND)));
    FOR_EACH(n[i] = v_sub(sum[i], v_set(ROUND_TO_32ND)));
    FOR_EACH(s[i] = v_fma(n[i], v_set(LN_2_HIGH), s[i]));
    FOR_EACH(s[i] = v_fma(n[i], v_set(LN_2_LOW), s[i]));
    FOR_EACH(power[i] = v_lookup_32(power_table[0], sum[i]));
    FOR_EACH(y[i] = v_lookup_32(power_table[1], sum[i]));
    FOR_EACH(p[i] = v_fma(v_set(-1.0f / 6), s[i], v_set(0.5f)));
    FOR_EACH(p[i] = v_fma(p[i], s[i], v_set(-1.0f)));
    FOR_EACH(y[i] = v_fma(power[i], s[i], y[i]));
    FOR_EACH(p[i] = v_fma(p[i], y[i], power[i]));
    FOR_EACH(p[i] = v_add(v_scale(p[i], n[i]), v_set(1.0f)));
    FOR_EACH(y[i] = v_reciprocal_about(p[i]));
    FOR_EACH(p[i] = v_fma_negative(p[i], y[i], v_set(1.0f)));
    FOR_EACH(x[i] = v_select(v_not_less(x[i], v_set(SIGMOID_LEAST)), v_fma(p[i], y[i], y[i]), v_zero()));
}
#else
static inline __attribute__((always_inline)) void v_sigmoids(vec *x, const int count)
{
    vec y[SIGMOIDS];
    FOR_EACH(y[i] = v_div(v_set(1.0f), v_add(v_exp(v_neg(x[i])), v_set(1.0f))));
    FOR_EACH(x[i] = v_select(v_less(x[i], v_set(SIGMOID_LEAST)), v_zero(), y[i]));
}
#endif

static inline __attribute__((always_inline)) vec v_sigmoid(vec x)
{
    v_sigmoids(&x, 1);
    return x;
}

/* Replaces each x by tanh(x), which is 1 - 2 * sigmoid(-2 * x) where that does not cancel; count as above. */
static inline __attribute__((always_inline)) void v_tanhs(vec *x, const int count)
{
    vec z[SIGMOIDS], p[SIGMOIDS], large[SIGMOIDS];
    FOR_EACH(large[i] = v_mul(v_abs(x[i]), v_set(-2.0f)));
    v_sigmoids(large, count);
    FOR_EACH(large[i] = v_fma(large[i], v_set(-2.0f), v_set(1.0f)));
    FOR_EACH(large[i] = v_or(large[i], v_and(x[i], v_set(-0.0f))));
    FOR_EACH(z[i] = v_mul(x[i], x[i]));
    FOR_EACH(p[i] = v_fma(v_set(0x1.246de4p-9f), z[i], v_set(-0x1.0ee554p-7f)));
    FOR_EACH(p[i] = v_fma(p[i], z[i], v_set(0x1.6418d6p-6f)));
    FOR_EACH(p[i] = v_fma(p[i], z[i], v_set(-0x1.b9fa8ap-5f)));
    FOR_EACH(p[i] = v_fma(p[i], z[i], v_set(0x1.11109ep-3f)));
    FOR_EACH(p[i] = v_fma(p[i], z[i], v_set(-0x1.555554p-2f)));
    FOR_EACH(p[i] = v_fma(v_mul(p[i], z[i]), x[i], x[i]));
    FOR_EACH(x[i] = v_select(v_less(v_abs(x[i]), v_set(0.6f)), p[i], large[i]));
}

static inline __attribute__((always_inline)) vec v_tanh(vec x)
{
    v_tanhs(&x, 1);
    return x;
}

#if defined(SIMD_LOOKUP)
/* The argument is measured in steps, so many to 1, and clipped where erf rounds to 1; the nearest step picks the polynomial of what
 * is left. As many to 1 as let the first numbers of the table be nearly exact. */
#define ERF_STEPS     0x1.f8edd4p+1
#define ERF_LAST_STEP 0x1.efae14p+3f
static const float erf_table[6][16] = {
    {0x0.0p+0f, 0x1.1ec14ap-2f, 0x1.0da2a4p-1f, 0x1.6f8ab6p-1f, 0x1.b265ccp-1f, 0x1.da9948p-1f, 0x1.efe2a2p-1f,
     0x1.f9cf74p-1f, 0x1.fde2a2p-1f, 0x1.ff5bc6p-1f, 0x1.ffd3d4p-1f, 0x1.fff57ap-1f, 0x1.fffdc8p-1f, 0x1.ffff96p-1f,
     0x1.ffffeep-1f, 0x1.fffffep-1f},
    {0x1.24e90ap-2f, 0x1.12addep-2f, 0x1.c5082cp-3f, 0x1.48896ep-3f, 0x1.a30938p-4f, 0x1.d600ccp-5f, 0x1.cf968ap-6f,
     0x1.921c60p-7f, 0x1.32b832p-8f, 0x1.9b7afep-10f, 0x1.e571a0p-12f, 0x1.f7a114p-14f, 0x1.cb7a6ap-16f,
     0x1.70a386p-18f, 0x1.04165ap-20f, 0x1.42bcccp-23f},
    {0x1.79d6f4p-26f, -0x1.1a6bd2p-6f, -0x1.d1cc6cp-6f, -0x1.fab55ep-6f, -0x1.aedacep-6f, -0x1.2e0822p-6f,
     -0x1.658146p-7f, -0x1.69c88ep-8f, -0x1.3b4966p-9f, -0x1.dc31e6p-11f, -0x1.386b34p-12f, -0x1.638f6ap-14f,
     -0x1.5f69d6p-16f, -0x1.288f48p-18f, -0x1.75510ap-22f, -0x1.51684ep-21f},
    {-0x1.9194e4p-8f, -0x1.48304cp-8f, -0x1.2dbd4ep-9f, 0x1.1a41dep-11f, 0x1.2f6f54p-9f, 0x1.648258p-9f, 0x1.2022a4p-9f,
     0x1.6d1036p-10f, 0x1.7bcc44p-11f, 0x1.4bca0ep-12f, 0x1.ecfeeep-14f, 0x1.39f5e0p-15f, 0x1.589cd6p-17f,
     0x1.4734d8p-19f, 0x1.0d7f94p-21f, 0x1.81e766p-24f},
    {0x1.6db436p-20f, 0x1.13f68cp-11f, 0x1.89cc96p-11f, 0x1.3fbfe0p-11f, 0x1.1725f2p-12f, -0x1.5f54ecp-15f,
     -0x1.8a2fa6p-13f, -0x1.9623e4p-13f, -0x1.1fb92ap-13f, -0x1.27fea4p-14f, -0x1.f49b7ap-16f, -0x1.907776p-17f,
     -0x1.1c5f9ap-18f, -0x1.af6cccp-20f, -0x1.32b21ep-19f, 0x1.f6b52cp-20f},
    {0x1.e66b92p-14f, 0x1.5ef7f4p-14f, 0x1.20ce46p-18f, -0x1.d91842p-15f, -0x1.2c41c2p-14f, -0x1.8ae196p-15f,
     -0x1.b7ea4ap-17f, 0x1.0fc784p-17f, 0x1.c96460p-17f, 0x1.626fc4p-17f, 0x1.8694b4p-18f, 0x1.523d60p-19f,
     0x1.df4528p-21f, 0x1.1b8e48p-22f, 0x1.1bad84p-24f, 0x1.e3e822p-27f},
};

/* erf(x * factor) */
static inline vec v_erf_of_product(vec x, float factor)
{
    vec steps = v_min(v_set(ERF_LAST_STEP), v_mul(v_abs(x), v_set((float)(ERF_STEPS * (double)factor))));
    /* The sum's last bits are the rounded number of steps. */
    vec sum = v_add(steps, v_set(0x1.8p+23f)), t = v_sub(steps, v_sub(sum, v_set(0x1.8p+23f)));
    vec p = v_fma(v_lookup(erf_table[5], sum), t, v_lookup(erf_table[4], sum));
    for (int i = 3; i >= 0; i--)
        p = v_fma(p, t, v_lookup(erf_table[i], sum));
    return v_or(p, v_and(x, v_set(-0.0f)));
}
#else
/* erf(x * factor) */
static inline vec v_erf_of_product(vec x, float factor)
{
    x = v_mul(x, v_set(factor));
    vec size = v_abs(x), z = v_mul(x, x);
    vec p = v_fma(v_set(0x1.60bcc4p-14f), z, v_set(-0x1.ab6eb2p-11f));
    p = v_fma(p, z, v_set(0x1.54ea68p-8f));
    p = v_fma(p, z, v_set(-0x1.b8122ap-6f));
    p = v_fma(p, z, v_set(0x1.ce2e34p-4f));
    p = v_fma(p, z, v_set(-0x1.812744p-2f));
    p = v_fma(p, z, v_set(0x1.06eba8p-3f));
    vec small = v_fma(p, x, x);
    /* 1 - exp(q) with q = log(1 - erf(size)), a polynomial on [.92, 4]. */
    vec s = v_min(v_set(4.0f), size);
    vec q = v_fma(v_set(-0x1.61eaf2p-16f), s, v_set(0x1.c79170p-12f));
    q = v_fma(q, s, v_set(-0x1.115ae8p-8f));
    q = v_fma(q, s, v_set(0x1.9b8e90p-6f));
    q = v_fma(q, s, v_set(-0x1.bb83ecp-4f));
    q = v_fma(q, s, v_set(-0x1.44460cp-1f));
    q = v_fma(q, s, v_set(-0x1.2127e4p+0f));
    q = v_fma(q, s, v_set(0x1.6e57b2p-13f));
    vec large = v_sub(v_set(1.0f), v_exp(q));
    large = v_or(large, v_and(x, v_set(-0.0f)));
    return v_select(v_less(size, v_set(0.92f)), small, large);
}
#endif

static inline vec v_erf(vec x)
{
    return v_erf_of_product(x, 1.0f);
}

#endif
