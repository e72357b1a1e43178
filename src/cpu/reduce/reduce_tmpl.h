/* Template: sums, means, extremes, softmax and normalization. A row is summed in UNROLL vectors, joined pairwise at its end. */
#include "cpu/eltwise/vec_math.h"
#include "cpu/reduce/reduce_table.h"

#define UNROLL 4

/* NaN in either stays. */
static inline vec join_max(vec a, vec b)
{
    return v_select(v_is_nan(a), a, v_max(a, b));
}
static inline vec join_min(vec a, vec b)
{
    return v_select(v_is_nan(a), a, v_min(a, b));
}

static inline __attribute__((always_inline)) vec take(const ingot_reduce_kind kind, vec sum, vec x)
{
    switch (kind) {
    case INGOT_REDUCE_MAX:
        return join_max(sum, x);
    case INGOT_REDUCE_MIN:
        return join_min(sum, x);
    case INGOT_REDUCE_SUM_SQUARE:
        return v_fma(x, x, sum);
    case INGOT_REDUCE_SUM_ABS:
        return v_add(sum, v_abs(x));
    default:
        return v_add(sum, x);
    }
}

static inline __attribute__((always_inline)) vec join(const ingot_reduce_kind kind, vec a, vec b)
{
    if (kind == INGOT_REDUCE_MAX)
        return join_max(a, b);
    return kind == INGOT_REDUCE_MIN ? join_min(a, b) : v_add(a, b);
}

static inline float neutral(ingot_reduce_kind kind)
{
    return kind == INGOT_REDUCE_MAX ? -INFINITY : kind == INGOT_REDUCE_MIN ? INFINITY : 0.0f;
}

static inline __attribute__((always_inline)) float join_lanes(const ingot_reduce_kind kind, vec x)
{
    if (kind != INGOT_REDUCE_MAX && kind != INGOT_REDUCE_MIN)
        return v_sum(x);
    float lanes[LANES], nan = 0.0f;
    v_store(lanes, x);
    for (size_t i = 0; i < LANES; i++) {
        if (isnan(lanes[i]))
            nan = lanes[i];
    }
    if (isnan(nan))
        return nan;
    return kind == INGOT_REDUCE_MAX ? v_largest(x) : v_smallest(x);
}

static inline __attribute__((always_inline)) float reduce_row(const ingot_reduce_kind kind, const float *x,
                                                              size_t count)
{
    vec sum[UNROLL];
    size_t i = 0;
    for (int u = 0; u < UNROLL; u++)
        sum[u] = v_set(neutral(kind));
    for (; i + UNROLL * LANES <= count; i += UNROLL * LANES) {
        for (int u = 0; u < UNROLL; u++)
            sum[u] = take(kind, sum[u], v_load(x + i + (size_t)u * LANES));
    }
    for (; i + LANES <= count; i += LANES)
        sum[0] = take(kind, sum[0], v_load(x + i));
    if (i < count) {
        vec rest = v_load_mask(v_set(neutral(kind)), m_range(0, count - i), x + i);
        sum[1] = take(kind, sum[1], rest);
    }
    return join_lanes(kind, join(kind, join(kind, sum[0], sum[1]), join(kind, sum[2], sum[3])));
}

static inline __attribute__((always_inline)) void reduce_columns(const ingot_reduce_kind kind, const float *x,
                                                                 size_t count, size_t inner, size_t columns, float *y)
{
    for (size_t i = 0; i < columns; i += LANES) {
        mask lanes = m_range(0, columns - i < LANES ? columns - i : LANES);
        vec sum[UNROLL], start = v_set(neutral(kind));
        for (int u = 0; u < UNROLL; u++)
            sum[u] = start;
        size_t j = 0;
        for (; j + UNROLL <= count; j += UNROLL) {
            for (size_t u = 0; u < UNROLL; u++)
                sum[u] = take(kind, sum[u], v_load_mask(start, lanes, x + (j + u) * inner + i));
        }
        for (size_t u = 0; j < count; j++, u++)
            sum[u] = take(kind, sum[u], v_load_mask(start, lanes, x + j * inner + i));
        vec all = join(kind, join(kind, sum[0], sum[1]), join(kind, sum[2], sum[3]));
        v_store_part(y + i, all, columns - i < LANES ? columns - i : LANES);
    }
}

/* The kind becomes a constant of the loops. */
#define BY_KIND(kind, call)            \
    switch (kind) {                    \
    case INGOT_REDUCE_MAX:             \
        call(INGOT_REDUCE_MAX);        \
        break;                         \
    case INGOT_REDUCE_MIN:             \
        call(INGOT_REDUCE_MIN);        \
        break;                         \
    case INGOT_REDUCE_SUM_SQUARE:      \
        call(INGOT_REDUCE_SUM_SQUARE); \
        break;                         \
    case INGOT_REDUCE_SUM_ABS:         \
        call(INGOT_REDUCE_SUM_ABS);    \
        break;                         \
    default:                           \
        call(INGOT_REDUCE_SUM);        \
        break;                         \
    }

static float row(ingot_reduce_kind kind, const float *x, size_t count)
{
    float result = 0;
#define CALL(constant) result = reduce_row(constant, x, count)
    BY_KIND(kind, CALL)
#undef CALL
    return result;
}

static void columns_of(ingot_reduce_kind kind, const float *x, size_t count, size_t inner, size_t columns, float *y)
{
#define CALL(constant) reduce_columns(constant, x, count, inner, columns, y)
    BY_KIND(kind, CALL)
#undef CALL
}

/* ---- Softmax ---- */

/* The largest element, whatever NaN there is: their exponentials make the whole row NaN. */
static float largest(const float *x, size_t count)
{
    vec even = v_set(-INFINITY), odd = even;
    size_t i = 0;
    for (; i + 2 * LANES <= count; i += 2 * LANES) {
        even = v_max(even, v_load(x + i));
        odd = v_max(odd, v_load(x + i + LANES));
    }
    if (i + LANES <= count) {
        even = v_max(even, v_load(x + i));
        i += LANES;
    }
    if (i < count)
        odd = v_max(odd, v_load_mask(v_set(-INFINITY), m_range(0, count - i), x + i));
    return v_largest(v_max(even, odd));
}

static inline vec store_exp(const float *x, vec top, float *y)
{
    vec e = v_exp(v_sub(v_load(x), top));
    if (y)
        v_store(y, e);
    return e;
}

/* The sum of exp(x - most), stored in y where it is not NULL. */
static float sum_exp(const float *x, size_t count, float most, float *y)
{
    vec top = v_set(most), even = v_zero(), odd = v_zero();
    size_t i = 0;
    for (; i + 2 * LANES <= count; i += 2 * LANES) {
        even = v_add(even, store_exp(x + i, top, y ? y + i : NULL));
        odd = v_add(odd, store_exp(x + i + LANES, top, y ? y + i + LANES : NULL));
    }
    if (i + LANES <= count) {
        even = v_add(even, store_exp(x + i, top, y ? y + i : NULL));
        i += LANES;
    }
    if (i < count) {
        vec e = v_exp(v_sub(v_load_mask(v_set(-INFINITY), m_range(0, count - i), x + i), top));
        even = v_add(even, v_select(m_range(0, count - i), e, v_zero()));
        if (y)
            v_store_part(y + i, e, count - i);
    }
    return v_sum(v_add(even, odd));
}

/* y = x * scale + shift */
static void affine(const float *x, size_t count, float scale, float shift, float *y)
{
    vec a = v_set(scale), b = v_set(shift);
    size_t i = 0;
    for (; i + LANES <= count; i += LANES)
        v_store(y + i, v_fma(v_load(x + i), a, b));
    if (i < count)
        v_store_part(y + i, v_fma(v_load_part(x + i, count - i), a, b), count - i);
}

static void finish_softmax(bool logarithm, const float *x, size_t count, float most, float sum, float *y)
{
    if (!logarithm) {
        affine(y, count, 1.0f / sum, 0.0f, y);
        return;
    }
    /* most is taken away first: it may be far larger than the logarithm. */
    float log_sum = logf(sum);
    vec top = v_set(most), rest = v_set(log_sum);
    for (size_t i = 0; i < count; i += LANES) {
        size_t part = count - i < LANES ? count - i : LANES;
        v_store_part(y + i, v_sub(v_sub(v_load_part(x + i, part), top), rest), part);
    }
}

/* A row waits for its largest number, then for its sum: some rows at a time fill the waits of one another. */
static void softmax_rows(bool logarithm, const float *x, size_t rows, size_t count, float *y)
{
    enum { AT_ONCE = 4 };
    float most[AT_ONCE], sum[AT_ONCE];
    for (size_t first = 0; first < rows; first += AT_ONCE, x += AT_ONCE * count, y += AT_ONCE * count) {
        size_t some = rows - first < AT_ONCE ? rows - first : AT_ONCE;
        for (size_t i = 0; i < some; i++)
            most[i] = largest(x + i * count, count);
        for (size_t i = 0; i < some; i++)
            sum[i] = sum_exp(x + i * count, count, most[i], logarithm ? NULL : y + i * count);
        for (size_t i = 0; i < some; i++)
            finish_softmax(logarithm, x + i * count, count, most[i], sum[i], y + i * count);
    }
}

/* Columns that lie side by side; part is a constant of the loops. */
static inline __attribute__((always_inline)) vec load_columns(const float *x, const size_t part)
{
    return part == LANES ? v_load(x) : v_load_part(x, part);
}

static inline __attribute__((always_inline)) void store_columns(float *y, vec x, const size_t part)
{
    if (part == LANES)
        v_store(y, x);
    else
        v_store_part(y, x, part);
}

/* The largest number of each column, whatever NaN there is. */
static inline __attribute__((always_inline)) vec largest_of_columns(const float *x, size_t count, size_t inner,
                                                                    const size_t part)
{
    vec top[UNROLL];
    size_t j = 0;
    for (int u = 0; u < UNROLL; u++)
        top[u] = v_set(-INFINITY);
    for (; j + UNROLL <= count; j += UNROLL)
        for (size_t u = 0; u < UNROLL; u++)
            top[u] = v_max(top[u], load_columns(x + (j + u) * inner, part));
    for (; j < count; j++)
        top[0] = v_max(top[0], load_columns(x + j * inner, part));
    return v_max(v_max(top[0], top[1]), v_max(top[2], top[3]));
}

/* In each lane the sum of exp(x - top), in the order of sum_exp: number j of a row is added in its lane j % LANES. */
static inline __attribute__((always_inline)) vec sum_exp_of_columns(const float *x, size_t count, size_t inner,
                                                                    const size_t part, vec top, float *y)
{
    vec sums[2 * LANES];
    for (size_t u = 0; u < 2 * LANES; u++)
        sums[u] = v_zero();
    for (size_t first = 0; first < count; first += 2 * LANES) {
        size_t some = count - first < 2 * LANES ? count - first : 2 * LANES;
        for (size_t u = 0; u < some; u++) {
            size_t at = u < LANES || some == 2 * LANES ? u : u - LANES;
            vec e = v_exp(v_sub(load_columns(x + (first + u) * inner, part), top));
            sums[at] = v_add(sums[at], e);
            if (y)
                store_columns(y + (first + u) * inner, e, part);
        }
    }
    for (size_t half = LANES; half > 0; half /= 2)
        for (size_t u = 0; u < half; u++)
            sums[u] = v_add(sums[u], sums[u + half]);
    return sums[0];
}

static inline __attribute__((always_inline)) void softmax_column_part(bool logarithm, const float *x, size_t count,
                                                                      size_t inner, const size_t part, float *y)
{
    vec top = largest_of_columns(x, count, inner, part);
    vec sum = sum_exp_of_columns(x, count, inner, part, top, logarithm ? NULL : y);
    if (logarithm) {
        vec rest = v_log(sum);
        for (size_t j = 0; j < count; j++)
            store_columns(y + j * inner, v_sub(v_sub(load_columns(x + j * inner, part), top), rest), part);
        return;
    }
    vec scale = v_div(v_set(1.0f), sum);
    for (size_t j = 0; j < count; j++)
        store_columns(y + j * inner, v_mul(load_columns(y + j * inner, part), scale), part);
}

static void softmax_columns(bool logarithm, const float *x, size_t count, size_t inner, size_t columns, float *y)
{
    size_t i = 0;
    for (; i + LANES <= columns; i += LANES)
        softmax_column_part(logarithm, x + i, count, inner, LANES, y + i);
    if (i < columns)
        softmax_column_part(logarithm, x + i, count, inner, columns - i, y + i);
}

/* ---- Normalization ---- */

/* Means are summed in double, squares in so many parts, element i in part i % PARTS, joined by halves: as in ONNX Runtime, so that
 * quantized models, which make a whole step of a rounding that falls the other way, have its values. */
#define PARTS      8
#define MEAN_PARTS 32
/* Rows whose squares are summed at once. */
#define MOMENT_ROWS 4

static float mean_of(const float *x, size_t count)
{
    double sum[MEAN_PARTS] = {0};
    size_t i = 0;
    for (; i + MEAN_PARTS <= count; i += MEAN_PARTS)
        for (size_t j = 0; j < MEAN_PARTS; j++)
            sum[j] += (double)x[i + j];
    for (size_t j = 0; i + j < count; j++)
        sum[j] += (double)x[i + j];
    for (size_t half = MEAN_PARTS / 2; half > 0; half /= 2)
        for (size_t j = 0; j < half; j++)
            sum[j] += sum[j + half];
    return (float)(sum[0] / (double)count);
}

/* The parts of some rows' sums, as far as vectors of all parts go; returns how many numbers of each row. */
#if LANES >= PARTS
static inline __attribute__((always_inline)) size_t add_squares(const size_t rows, const float *x, size_t count,
                                                                const float *mean, float sum[][PARTS])
{
    vec parts[MOMENT_ROWS], center[MOMENT_ROWS];
    size_t i = 0;
#pragma GCC unroll 4
    for (size_t row = 0; row < rows; row++) {
        parts[row] = v_zero();
        center[row] = v_set(mean[row]);
    }
    for (; i + PARTS <= count; i += PARTS) {
#pragma GCC unroll 4
        for (size_t row = 0; row < rows; row++) {
            vec away = v_sub(v_load_part(x + row * count + i, PARTS), center[row]);
            parts[row] = v_fma(away, away, parts[row]);
        }
    }
#pragma GCC unroll 4
    for (size_t row = 0; row < rows; row++)
        v_store_part(sum[row], parts[row], PARTS);
    return i;
}
#else
static inline size_t add_squares(size_t rows, const float *x, size_t count, const float *mean, float sum[][PARTS])
{
    const size_t end = count / PARTS * PARTS;
    for (size_t row = 0; row < rows; row++) {
        const float *from = x + row * count;
        float parts[PARTS] = {0};
        for (size_t i = 0; i < end; i += PARTS)
            for (size_t j = 0; j < PARTS; j++)
                parts[j] = fmaf(from[i + j] - mean[row], from[i + j] - mean[row], parts[j]);
        for (size_t j = 0; j < PARTS; j++)
            sum[row][j] = parts[j];
    }
    return end;
}
#endif

/* Each part of a sum waits for the one before it: some rows fill the waits of one another. */
static inline __attribute__((always_inline)) void sum_squares_around(const size_t rows, const float *x, size_t count,
                                                                     const float *mean, float *square)
{
    float sum[MOMENT_ROWS][PARTS];
    const size_t done = add_squares(rows, x, count, mean, sum);
    for (size_t row = 0; row < rows; row++) {
        const float *from = x + row * count;
        for (size_t i = done; i < count; i++)
            sum[row][i % PARTS] = fmaf(from[i] - mean[row], from[i] - mean[row], sum[row][i % PARTS]);
        for (size_t half = PARTS / 2; half > 0; half /= 2)
            for (size_t j = 0; j < half; j++)
                sum[row][j] += sum[row][j + half];
        square[row] = sum[row][0] / (float)count;
    }
}

static void moments(const float *x, size_t rows, size_t count, bool root_mean_square, float *mean, float *square)
{
    for (size_t row = 0; row < rows; row++)
        mean[row] = root_mean_square ? 0.0f : mean_of(x + row * count, count);
    size_t row = 0;
    for (; row + MOMENT_ROWS <= rows; row += MOMENT_ROWS)
        sum_squares_around(MOMENT_ROWS, x + row * count, count, mean + row, square + row);
    for (; row < rows; row++)
        sum_squares_around(1, x + row * count, count, mean + row, square + row);
}

static void normalize(const float *x, size_t count, float mean, float inverse, const float *scale, const float *bias,
                      float *y)
{
    vec center = v_set(mean), factor = v_set(inverse);
    for (size_t i = 0; i < count; i += LANES) {
        size_t part = count - i < LANES ? count - i : LANES;
        vec value = v_mul(v_sub(v_load_part(x + i, part), center), factor);
        vec shift = bias ? v_load_part(bias + i, part) : v_zero();
        if (scale)
            value = v_fma(value, v_load_part(scale + i, part), shift);
        else if (bias)
            value = v_add(value, shift);
        v_store_part(y + i, value, part);
    }
}
