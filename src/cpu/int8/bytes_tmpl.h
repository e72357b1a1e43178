/* Elementwise work on bytes, for a file that has chosen its instruction set: LANES elements at a time; a rest goes through buffers. No
 * header of its own. */
#include "cpu/int8/bytes_table.h"
#include "cpu/int8/ints.h"

#define INLINE static inline __attribute__((always_inline))

/* Limits and zero point of a quantized result, the limits less the zero point. */
typedef struct target {
    vec low, high;
    ints zero;
} target;

INLINE target target_of(bool is_signed, int32_t zero)
{
    int32_t low = is_signed ? INT8_MIN : 0, high = is_signed ? INT8_MAX : UINT8_MAX;
    return (target){v_set((float)(low - zero)), v_set((float)(high - zero)), i_set(zero)};
}

/* NaN becomes the lowest value. */
INLINE ints to_byte(const target *t, vec x)
{
    return i_add(i_from_float(v_min(v_max(x, t->low), t->high)), t->zero);
}

INLINE vec load_floats(const uint8_t *x, bool is_signed)
{
    return i_to_float(is_signed ? i_load_signed_bytes((const int8_t *)x) : i_load_bytes(x));
}

/* (byte - zero) * scale. */
INLINE vec load_scaled(const uint8_t *x, bool is_signed, ints zero, vec scale)
{
    ints byte = is_signed ? i_load_signed_bytes((const int8_t *)x) : i_load_bytes(x);
    return v_mul(i_to_float(i_sub(byte, zero)), scale);
}

static void quantize(const float *x, const ingot_int8_scale *s, uint8_t *y, size_t count)
{
    const target t = target_of(s->is_signed, s->zero);
    const vec scale = v_set(s->scale);
    size_t i = 0;
    for (; i + LANES <= count; i += LANES)
        i_store_bytes(y + i, to_byte(&t, v_div(v_load(x + i), scale)), LANES);
    if (i < count)
        i_store_bytes(y + i, to_byte(&t, v_div(v_load_part(x + i, count - i), scale)), count - i);
}

INLINE void dequantize_as(const uint8_t *x, const ingot_int8_scale *s, float *y, size_t count, bool is_signed)
{
    const ints zero = i_set(s->zero);
    const vec scale = v_set(s->scale);
    size_t i = 0;
    for (; i + LANES <= count; i += LANES)
        v_store(y + i, load_scaled(x + i, is_signed, zero, scale));
    if (i < count) {
        uint8_t rest[LANES] = {0};
        memcpy(rest, x + i, count - i);
        v_store_part(y + i, load_scaled(rest, is_signed, zero, scale), count - i);
    }
}

static void dequantize(const uint8_t *x, const ingot_int8_scale *s, float *y, size_t count)
{
    if (s->is_signed)
        dequantize_as(x, s, y, count, true);
    else
        dequantize_as(x, s, y, count, false);
}

static void range(const float *x, size_t count, float *low, float *high)
{
    vec lows[4], highs[4];
    for (size_t k = 0; k < 4; k++)
        lows[k] = highs[k] = v_zero();
    size_t i = 0;
    for (; i + 4 * LANES <= count; i += 4 * LANES) {
#pragma GCC unroll 4
        for (size_t k = 0; k < 4; k++) {
            vec value = v_load(x + i + k * LANES);
            lows[k] = v_min(value, lows[k]); /* the second one where the first is NaN */
            highs[k] = v_max(value, highs[k]);
        }
    }
    for (; i < count; i += LANES) {
        vec value = v_load_part(x + i, count - i < LANES ? count - i : LANES);
        lows[0] = v_min(value, lows[0]);
        highs[0] = v_max(value, highs[0]);
    }
    *low = v_smallest(v_min(v_min(lows[0], lows[1]), v_min(lows[2], lows[3])));
    *high = v_largest(v_max(v_max(highs[0], highs[1]), v_max(highs[2], highs[3])));
}

/* y = STEP(i) for all elements; where there is a rest, a, b and y stand for buffers once more. */
#define FOR_EACH(STEP)                                                             \
    for (size_t i = 0; i + LANES <= count; i += LANES)                             \
        i_store_bytes(y + i, to_byte(&t, STEP(a + i, b + i)), LANES);              \
    if (count % LANES > 0) {                                                       \
        size_t done = count - count % LANES;                                       \
        uint8_t a_rest[LANES] = {0}, b_rest[LANES] = {0};                          \
        memcpy(a_rest, a + done, count % LANES);                                   \
        memcpy(b_rest, b + done, count % LANES);                                   \
        i_store_bytes(y + done, to_byte(&t, STEP(a_rest, b_rest)), count % LANES); \
    }

INLINE void add_as(const ingot_int8_sum *s, const uint8_t *a, const uint8_t *b, uint8_t *y, size_t count,
                   bool is_signed, bool has_b)
{
    const target t = target_of(is_signed, 0);
    const vec a_ratio = v_set(s->a_ratio), b_ratio = v_set(s->b_ratio), fixed = v_set(s->fixed);
#define STEP(a, b) \
    v_fma(load_floats(a, is_signed), a_ratio, has_b ? v_fma(load_floats(b, is_signed), b_ratio, fixed) : fixed)
    FOR_EACH(STEP)
#undef STEP
}

static void add(const ingot_int8_sum *s, const uint8_t *a, const uint8_t *b, uint8_t *y, size_t count)
{
    if (s->is_signed && b)
        add_as(s, a, b, y, count, true, true);
    else if (b)
        add_as(s, a, b, y, count, false, true);
    else if (s->is_signed)
        add_as(s, a, a, y, count, true, false);
    else
        add_as(s, a, a, y, count, false, false);
}

INLINE void multiply_as(const ingot_int8_times *m, const uint8_t *a, const uint8_t *b, uint8_t *y, size_t count,
                        bool is_signed)
{
    const target t = target_of(is_signed, 0);
    const ints a_zero = i_set(m->a_zero), b_zero = i_set(m->b_zero);
    const vec ratio = v_set(m->ratio), fixed = v_set(m->fixed), one = v_set(1);
#define STEP(a, b) \
    v_add(v_mul(v_mul(load_scaled(a, is_signed, a_zero, one), load_scaled(b, is_signed, b_zero, one)), ratio), fixed)
    FOR_EACH(STEP)
#undef STEP
}

static void multiply(const ingot_int8_times *m, const uint8_t *a, const uint8_t *b, uint8_t *y, size_t count)
{
    if (m->is_signed)
        multiply_as(m, a, b, y, count, true);
    else
        multiply_as(m, a, b, y, count, false);
}

/* ---- Softmax: rows side by side, so that sums do not wait for each other ---- */

#define ROWS INGOT_INT8_ROWS

INLINE int32_t code_at(const uint8_t *x, bool is_signed)
{
    return is_signed ? (int8_t)*x : *x;
}

/* powers_of[i][row], those of a row that is not there 1. */
static void find_powers(const ingot_int8_softmax *s, const uint8_t *x, size_t rows, float (*powers_of)[ROWS])
{
    for (size_t row = 0; row < ROWS; row++) {
        const uint8_t *from = x + (row < rows ? row : 0) * s->row_step;
        int32_t largest = INT8_MIN;
        for (size_t i = 0; i < s->length; i++) {
            int32_t code = code_at(from + i * s->apart, s->is_signed);
            largest = code > largest ? code : largest;
        }
        const float *powers = s->powers + UINT8_MAX - largest;
        for (size_t i = 0; i < s->length; i++)
            powers_of[i][row] = powers[code_at(from + i * s->apart, s->is_signed)];
    }
}

static void softmax(const ingot_int8_softmax *s, const uint8_t *x, uint8_t *y, size_t rows)
{
    float powers_of[INGOT_INT8_SOFTMAX_LENGTH][ROWS], sums[ROWS] = {0};
    const float low = s->is_signed ? INT8_MIN : 0, high = s->is_signed ? INT8_MAX : UINT8_MAX, zero = s->zero;
    const double inverse_scale = s->inverse_scale;
    double divisors[ROWS];
    find_powers(s, x, rows, powers_of);
    for (size_t i = 0; i < s->length; i++)
        for (size_t row = 0; row < ROWS; row++)
            sums[row] += powers_of[i][row];
    for (size_t row = 0; row < ROWS; row++)
        divisors[row] = (double)sums[row];
    for (size_t i = 0; i < s->length; i++) {
        int32_t codes[ROWS];
        for (size_t row = 0; row < ROWS; row++) {
            float value = (float)rint((double)powers_of[i][row] * inverse_scale / divisors[row]) + zero;
            value = rintf(value);
            value = value >= low ? value : low;
            codes[row] = (int32_t)(value <= high ? value : high);
        }
        for (size_t row = 0; row < rows; row++)
            y[row * s->row_step + i * s->apart] = (uint8_t)codes[row];
    }
}

static void maximum(const uint8_t *x, uint8_t *y, size_t count, bool is_signed)
{
    const uint8_t turn = is_signed ? 0x80 : 0;
    for (size_t i = 0; i < count; i++)
        y[i] = (x[i] ^ turn) > (y[i] ^ turn) ? x[i] : y[i];
}

#include "cpu/int8/bytes_transpose_tmpl.h"

const ingot_int8_bytes_table LEVEL_NAME(ingot_int8_bytes_table) = {
    .quantize = quantize,
    .dequantize = dequantize,
    .range = range,
    .add = add,
    .multiply = multiply,
    .softmax = softmax,
    .maximum = maximum,
    .transpose = transpose,
};
