/* exp, log, erf, tanh and their relatives on vectors, for templates. Each is within 2 ulp of the true value, right at
 * infinities, zeros and NaN, and down to denormal arguments and results. The polynomials are minimax fits, made for these
 * ranges. */
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

static inline vec v_tanh(vec x)
{
    vec size = v_abs(x), z = v_mul(x, x);
    vec p = v_fma(v_set(0x1.246de4p-9f), z, v_set(-0x1.0ee554p-7f));
    p = v_fma(p, z, v_set(0x1.6418d6p-6f));
    p = v_fma(p, z, v_set(-0x1.b9fa8ap-5f));
    p = v_fma(p, z, v_set(0x1.11109ep-3f));
    p = v_fma(p, z, v_set(-0x1.555554p-2f));
    vec small = v_fma(v_mul(p, z), x, x);
    vec e = v_exp(v_add(size, size));
    vec large = v_sub(v_set(1.0f), v_div(v_set(2.0f), v_add(e, v_set(1.0f))));
    large = v_or(large, v_and(x, v_set(-0.0f)));
    return v_select(v_less(size, v_set(0.6f)), small, large);
}

static inline vec v_sigmoid(vec x)
{
    return v_div(v_set(1.0f), v_add(v_exp(v_neg(x)), v_set(1.0f)));
}

static inline vec v_erf(vec x)
{
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
