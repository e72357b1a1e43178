#include "check.h"
#include "cpu/eltwise/vec_table.h"

#define MAX_COUNT 300

static const char *const unary_names[] = {
#define UNARY_NAME(name, formula) #name,
    INGOT_UNARY_LIST(UNARY_NAME)
#undef UNARY_NAME
};
static const char *const binary_names[] = {
#define BINARY_NAME(name) #name,
    INGOT_BINARY_LIST(BINARY_NAME)
#undef BINARY_NAME
};

static const float special[] = {NAN,      INFINITY, -INFINITY, 0.0f,  -0.0f,  1e-45f,  -1e-45f, 1.1e-38f, -1.1e-38f,
                                1.0f,     -1.0f,    88.7f,     88.8f, -87.4f, -103.9f, -104.f,  -87.2f,   -87.3f,
                                -87.31f,  -88.7f,   0.5f,      -0.5f, 2.5f,   -3.5f,   1e30f,   -1e30f,   3.4e38f,
                                -3.4e38f, 0.92f,    0.6f,      4.0f,  -6.0f,  20.0f,   -20.0f,  1.5f,     0.75f};
#define SPECIAL_COUNT (sizeof special / sizeof special[0])

/* How near a result must be: in units in the last place, or as an absolute distance (for what cancels near its zeros). */
typedef struct unary_case {
    ingot_unary_kind kind;
    float a, b;
    double ulps, distance;
} unary_case;

static const unary_case unary_cases[] = {
    {INGOT_UNARY_IDENTITY, 0, 0, 0, 0},
    {INGOT_UNARY_RELU, 0, 0, 0, 0},
    {INGOT_UNARY_CLIP, -0.3f, 0.7f, 0, 0},
    {INGOT_UNARY_LEAKY_RELU, 0.1f, 0, 0.51, 0},
    {INGOT_UNARY_SIGMOID, 0, 0, 3, 0},
    {INGOT_UNARY_TANH, 0, 0, 2, 0},
    {INGOT_UNARY_SILU, 1, 0, 4, 0},
    {INGOT_UNARY_SILU, 1.702f, 0, 40, 4e-7},
    {INGOT_UNARY_GELU, 0, 0, 3, 3e-7},
    {INGOT_UNARY_GELU_TANH, 0, 0, 3, 5e-7},
    {INGOT_UNARY_HARD_SIGMOID, 0.2f, 0.5f, 1, 1e-7},
    {INGOT_UNARY_HARD_SWISH, 0, 0, 2, 3e-7},
    {INGOT_UNARY_ELU, 1.5f, 0, 2.5, 0},
    {INGOT_UNARY_SELU, 1.67326f, 1.0507f, 3.5, 0},
    {INGOT_UNARY_SOFTPLUS, 0, 0, 4, 0},
    {INGOT_UNARY_SOFTSIGN, 0, 0, 2, 0},
    {INGOT_UNARY_MISH, 0, 0, 6, 1e-36},
    {INGOT_UNARY_EXP, 0, 0, 2, 0},
    {INGOT_UNARY_LOG, 0, 0, 2, 0},
    {INGOT_UNARY_ERF, 0, 0, 2, 0},
    {INGOT_UNARY_SQRT, 0, 0, 0.51, 0},
    {INGOT_UNARY_RECIPROCAL, 0, 0, 0.51, 0},
    {INGOT_UNARY_NEG, 0, 0, 0, 0},
    {INGOT_UNARY_ABS, 0, 0, 0, 0},
    {INGOT_UNARY_SQUARE, 0, 0, 0.51, 0},
    {INGOT_UNARY_CUBE, 0, 0, 1.6, 1e-44},
    {INGOT_UNARY_POW, 2.5f, 0, 1, 0},
    {INGOT_UNARY_POW, 0.5f, 0, 1, 0},
    {INGOT_UNARY_POW, -0.5f, 0, 1.5, 0},
    {INGOT_UNARY_POW, 3, 0, 1, 0},
    {INGOT_UNARY_AFFINE, 1.5f, -0.25f, 0.51, 1e-44},
    {INGOT_UNARY_FLOOR, 0, 0, 0, 0},
    {INGOT_UNARY_CEIL, 0, 0, 0, 0},
    {INGOT_UNARY_ROUND, 0, 0, 0, 0},
    {INGOT_UNARY_SIGN, 0, 0, 0, 0},
};
#define UNARY_CASES (sizeof unary_cases / sizeof unary_cases[0])

static double clamp(double x, double low, double high)
{
    return isnan(x) ? x : x < low ? low : x > high ? high : x;
}

static double softplus(double x)
{
    return x > 40 ? x : log1p(exp(x));
}

/* 0 where it is no normal number, or nearly none. */
static double sigmoid(double x)
{
    return x < (double)-87.3f ? 0 : 1 / (1 + exp(-x));
}

static double unary_truth(const unary_case *c, double x)
{
    double a = c->a, b = c->b;
    switch (c->kind) {
    case INGOT_UNARY_RELU:
        return clamp(x, 0, INFINITY);
    case INGOT_UNARY_CLIP:
        return clamp(x, a, b);
    case INGOT_UNARY_LEAKY_RELU:
        return x < 0 ? a * x : x;
    case INGOT_UNARY_SIGMOID:
        return sigmoid(x);
    case INGOT_UNARY_TANH:
        return tanh(x);
    case INGOT_UNARY_SILU:
        return x * sigmoid(a * x);
    case INGOT_UNARY_GELU:
        return x / 2 * (1 + erf(x * sqrt(0.5)));
    case INGOT_UNARY_GELU_TANH:
        return x / 2 * (1 + tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x)));
    case INGOT_UNARY_HARD_SIGMOID:
        return clamp(a * x + b, 0, 1);
    case INGOT_UNARY_HARD_SWISH:
        return x * clamp(x / 6 + 0.5, 0, 1);
    case INGOT_UNARY_ELU:
        return x < 0 ? a * expm1(x) : x;
    case INGOT_UNARY_SELU:
        return b * (x < 0 ? a * expm1(x) : x);
    case INGOT_UNARY_SOFTPLUS:
        return softplus(x);
    case INGOT_UNARY_SOFTSIGN:
        return x / (1 + fabs(x));
    case INGOT_UNARY_MISH:
        return x * tanh(softplus(x));
    case INGOT_UNARY_EXP:
        return exp(x);
    case INGOT_UNARY_LOG:
        return log(x);
    case INGOT_UNARY_ERF:
        return erf(x);
    case INGOT_UNARY_SQRT:
        return sqrt(x);
    case INGOT_UNARY_RECIPROCAL:
        return 1 / x;
    case INGOT_UNARY_NEG:
        return -x;
    case INGOT_UNARY_ABS:
        return fabs(x);
    case INGOT_UNARY_SQUARE:
        return x * x;
    case INGOT_UNARY_CUBE:
        return x * x * x;
    case INGOT_UNARY_POW:
        return pow(x, a);
    case INGOT_UNARY_AFFINE:
        return a * x + b;
    case INGOT_UNARY_FLOOR:
        return floor(x);
    case INGOT_UNARY_CEIL:
        return ceil(x);
    case INGOT_UNARY_ROUND:
        return rint(x);
    case INGOT_UNARY_SIGN:
        return isnan(x) ? x : (x > 0) - (x < 0);
    default:
        return x;
    }
}

/* Where the formula, taken literally, is 0 * infinity or the like, any of the limits will do. */
static bool is_indefinite(const unary_case *c, float x)
{
    bool product = c->kind == INGOT_UNARY_SILU || c->kind == INGOT_UNARY_GELU || c->kind == INGOT_UNARY_GELU_TANH ||
                   c->kind == INGOT_UNARY_HARD_SWISH || c->kind == INGOT_UNARY_MISH || c->kind == INGOT_UNARY_SOFTSIGN;
    return product && (fabsf(x) > 1e12f);
}

static float random_argument(size_t i)
{
    uint32_t bits = random_bits();
    float x;
    if (i % 3 == 0)
        return special[random_below(SPECIAL_COUNT)];
    if (i % 3 == 1)
        return random_float() * (i % 2 == 0 ? 1.0f : 20.0f);
    memcpy(&x, &bits, sizeof x);
    return x;
}

static void check_unary(int level, const unary_case *c)
{
    ingot_vec_unary_function function = ingot_vec_table_at(level)->unary[c->kind];
    bool good = true;
    for (size_t round = 0; round < 400 && good; round++) {
        size_t count = round % MAX_COUNT;
        float *x = guard_floats(count, round % 2 == 0), *y = guard_floats(count, round % 2 == 0);
        for (size_t i = 0; i < count; i++)
            x[i] = random_argument(i + round);
        function(x, y, count, c->a, c->b);
        for (size_t i = 0; i < count && good; i++) {
            double truth = unary_truth(c, x[i]);
            if (is_indefinite(c, x[i]))
                continue;
            good = ulps_between(y[i], truth) <= c->ulps || fabs(y[i] - truth) <= c->distance;
            if (!good)
                check_case(false, "%s %s(%a) is %a, not %a", ingot_level_name(level), unary_names[c->kind],
                           (double)x[i], (double)y[i], truth);
        }
        float *alone = guard_floats(1, true);
        for (size_t i = 0; i < count && i < 20; i++) {
            function(x + i, alone, 1, c->a, c->b);
            if (!same_bits(alone, y + i, 1) && !isnan(y[i]))
                good = false;
        }
        function(x, x, count, c->a, c->b);
        for (size_t i = 0; i < count; i++)
            good = good && (same_bits(x + i, y + i, 1) || isnan(y[i]));
        guard_release();
    }
    check_case(good, "%s %s", ingot_level_name(level), unary_names[c->kind]);
}

static double binary_truth(ingot_binary_kind kind, double a, double b)
{
    switch (kind) {
    case INGOT_BINARY_ADD:
        return a + b;
    case INGOT_BINARY_SUB:
        return a - b;
    case INGOT_BINARY_MUL:
        return a * b;
    case INGOT_BINARY_DIV:
        return a / b;
    case INGOT_BINARY_MIN:
        return isnan(a) || isnan(b) ? (double)NAN : a < b ? a : b;
    default:
        return isnan(a) || isnan(b) ? (double)NAN : a > b ? a : b;
    }
}

static void check_binary_vectors(int level, ingot_binary_kind kind, int form)
{
    bool good = true;
    for (size_t count = 0; count < 70; count++) {
        size_t a_count = form == INGOT_VEC_ONE_A ? 1 : count, b_count = form == INGOT_VEC_ONE_B ? 1 : count;
        float *a = guard_floats(a_count, count % 2 == 0), *b = guard_floats(b_count, count % 2 == 0);
        float *y = guard_floats(count, count % 2 == 0);
        for (size_t i = 0; i < a_count; i++)
            a[i] = random_argument(i + count);
        for (size_t i = 0; i < b_count; i++)
            b[i] = random_argument(i + 2 * count);
        ingot_vec_table_at(level)->binary[kind][form](a, b, y, count);
        for (size_t i = 0; i < count; i++) {
            double truth = binary_truth(kind, a[a_count == 1 ? 0 : i], b[b_count == 1 ? 0 : i]);
            good = good && ulps_between(y[i], truth) <= 0.51;
        }
        guard_release();
    }
    check_case(good, "%s %s form %d", ingot_level_name(level), binary_names[kind], form);
}

/* Shapes of y, a and b, right-aligned in 4 dimensions. */
static const size_t broadcasts[][3][4] = {
    {{2, 3, 5, 7}, {2, 3, 5, 7}, {2, 3, 5, 7}},         {{2, 3, 5, 7}, {2, 3, 5, 7}, {1, 1, 1, 1}},
    {{2, 3, 5, 7}, {1, 1, 1, 7}, {2, 3, 5, 7}},         {{2, 3, 5, 7}, {2, 3, 5, 7}, {1, 3, 1, 1}},
    {{2, 3, 5, 7}, {2, 1, 5, 1}, {1, 3, 1, 7}},         {{2, 3, 5, 7}, {1, 1, 5, 1}, {2, 1, 1, 1}},
    {{1, 1, 300, 300}, {1, 1, 300, 1}, {1, 1, 1, 300}}, {{9, 1, 50, 200}, {1, 1, 50, 200}, {9, 1, 50, 200}},
    {{1, 1, 0, 3}, {1, 1, 0, 3}, {1, 1, 1, 3}},         {{1, 1, 1, 1}, {1, 1, 1, 1}, {1, 1, 1, 1}},
};

static void check_broadcast(size_t s, ingot_binary_kind kind)
{
    const size_t *dims = broadcasts[s][0];
    ptrdiff_t strides[2][4];
    size_t counts[2], count = dims[0] * dims[1] * dims[2] * dims[3];
    bool fits = true;
    for (int i = 0; i < 2; i++) {
        const size_t *from = broadcasts[s][1 + i];
        counts[i] = from[0] * from[1] * from[2] * from[3];
        fits = fits && ingot_broadcast_strides(4, from, 4, dims, strides[i]);
    }
    float *a = random_floats(counts[0], true), *b = random_floats(counts[1], true), *y = guard_floats(count, true);
    ingot_binary op = {.kind = kind, .rank = 4, .dims = dims, .a = a, .b = b, .y = y, .then = {INGOT_UNARY_RELU, 0, 0}};
    op.a_strides = strides[0];
    op.b_strides = strides[1];
    bool good = fits;
    for (size_t t = 0; t < 4 && good; t++) {
        ingot_binary_f32(&op, check_threads[t]);
        for (size_t i = 0; i < count; i++) {
            size_t rest = i;
            ptrdiff_t at[2] = {0, 0};
            for (int d = 3; d >= 0; d--, rest /= dims[d + 1]) {
                at[0] += (ptrdiff_t)(rest % dims[d]) * strides[0][d];
                at[1] += (ptrdiff_t)(rest % dims[d]) * strides[1][d];
            }
            good = good && ulps_between(y[i], fmax(0, binary_truth(kind, a[at[0]], b[at[1]]))) <= 0.51;
        }
    }
    check_case(good, "%s broadcast %zu", binary_names[kind], s);
    guard_release();
}

static void check_affine(size_t outer, size_t channels, size_t inner)
{
    size_t count = outer * channels * inner;
    float *x = random_floats(count, true), *scale = random_floats(channels, true),
          *shift = random_floats(channels, true);
    float *y = guard_floats(count, true);
    ingot_unary then = {INGOT_UNARY_RELU, 0, 0};
    for (int variant = 0; variant < 4; variant++) {
        const float *s = variant & 1 ? scale : NULL, *t = variant & 2 ? shift : NULL;
        ingot_channel_affine_f32(outer, channels, inner, x, s, t, &then, y, check_threads[variant]);
        bool good = true;
        for (size_t i = 0; i < count; i++) {
            size_t c = i / inner % channels;
            double truth = fmax(0, (double)x[i] * (s ? s[c] : 1) + (t ? t[c] : 0));
            good = good && fabs(y[i] - truth) < 2e-7;
        }
        check_case(good, "channel affine %zux%zux%zu variant %d", outer, channels, inner, variant);
    }
    guard_release();
}

static void check(void)
{
    for (int level = 0; level < INGOT_LEVEL_COUNT; level++) {
        if (!wants_level(level))
            continue;
        for (size_t i = 0; i < UNARY_CASES; i++)
            check_unary(level, &unary_cases[i]);
        for (int kind = 0; kind < INGOT_BINARY_COUNT; kind++) {
            for (int form = 0; form < INGOT_VEC_FORMS; form++)
                check_binary_vectors(level, (ingot_binary_kind)kind, form);
        }
    }
    for (size_t s = 0; s < sizeof broadcasts / sizeof broadcasts[0]; s++) {
        for (int kind = 0; kind < INGOT_BINARY_COUNT; kind++)
            check_broadcast(s, (ingot_binary_kind)kind);
    }
    check_affine(2, 5, 49);
    check_affine(1, 3, 40000);
    check_affine(7, 33, 1);
}

typedef struct vec_bench {
    ingot_vec_unary_function unary;
    ingot_vec_binary_function binary;
    float *x, *y;
    size_t count;
} vec_bench;

static void work(void *argument)
{
    vec_bench *b = argument;
    if (b->unary)
        b->unary(b->x, b->y, b->count, 1, 1);
    else
        b->binary(b->x, b->x, b->y, b->count);
}

static void bench(void)
{
    vec_bench b = {.count = 4096};
    b.x = random_floats(b.count, false);
    b.y = guard_floats(b.count, false);
    for (int level = 0; level < INGOT_LEVEL_COUNT; level++) {
        for (int kind = 0; kind < INGOT_UNARY_COUNT && wants_level(level); kind++) {
            b.unary = ingot_vec_table_at(level)->unary[kind];
            printf("%-7s %-13s %7.3f ns an element\n", ingot_level_name(level), unary_names[kind],
                   best_time(work, &b) / (double)b.count);
        }
        b.unary = NULL;
        for (int kind = 0; kind < INGOT_BINARY_COUNT && wants_level(level); kind++) {
            b.binary = ingot_vec_table_at(level)->binary[kind][INGOT_VEC_BOTH];
            printf("%-7s %-13s %7.3f ns an element\n", ingot_level_name(level), binary_names[kind],
                   best_time(work, &b) / (double)b.count);
        }
    }
    guard_release();
}

static void list(void)
{
    for (int level = 0; level < INGOT_LEVEL_COUNT; level++) {
        for (int kind = 0; kind < INGOT_UNARY_COUNT; kind++)
            printf("unary %s %s\n", unary_names[kind], ingot_level_name(level));
        for (int kind = 0; kind < INGOT_BINARY_COUNT; kind++)
            printf("binary %s %s\n", binary_names[kind], ingot_level_name(level));
    }
}

const check_part check_eltwise = {"eltwise", check, bench, list};
