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

/* The compiler makes these of as many registers as the level needs. */
typedef float row_floats __attribute__((vector_size(ROWS * sizeof(float))));
typedef double row_doubles __attribute__((vector_size(ROWS * sizeof(double))));
typedef int64_t row_masks __attribute__((vector_size(ROWS * sizeof(double))));
typedef int32_t row_codes __attribute__((vector_size(ROWS * sizeof(int32_t))));

/* Above this the highest code is reached; below it adding and taking off 1.5 * 2^52 rounds to an integer. */
#define SOFTMAX_LIMIT 1e6
#define TO_INTEGER    6755399441055744.0

INLINE uint8_t largest_of(const uint8_t *x, size_t length, size_t apart, uint8_t turn)
{
    uint8_t largest = 0;
    for (size_t i = 0; i < length; i++) {
        uint8_t code = x[i * apart] ^ turn;
        largest = code > largest ? code : largest;
    }
    return largest;
}

/* powers_of[i][row]; a row that is not there repeats the first. */
static void find_powers(const ingot_int8_softmax *s, const uint8_t *x, size_t rows, float (*powers_of)[ROWS])
{
    const uint8_t turn = s->is_signed ? 0x80 : 0;
    for (size_t row = 0; row < ROWS; row++) {
        const uint8_t *from = x + (row < rows ? row : 0) * s->row_step;
        uint8_t largest =
            s->apart == 1 ? largest_of(from, s->length, 1, turn) : largest_of(from, s->length, s->apart, turn);
        const float *powers = s->powers + UINT8_MAX - largest;
        for (size_t i = 0; i < s->length; i++)
            powers_of[i][row] = powers[from[i * s->apart] ^ turn];
    }
}

static void softmax(const ingot_int8_softmax *s, const uint8_t *x, uint8_t *y, size_t rows)
{
    float powers_of[INGOT_INT8_SOFTMAX_LENGTH][ROWS];
    const int32_t zero = (int32_t)s->zero, high = s->is_signed ? INT8_MAX : UINT8_MAX;
    row_floats sums = {0}, powers;
    find_powers(s, x, rows, powers_of);
    for (size_t i = 0; i < s->length; i++) {
        memcpy(&powers, powers_of[i], sizeof powers);
        sums += powers;
    }
    const row_doubles divisors = __builtin_convertvector(sums, row_doubles);
    for (size_t i = 0; i < s->length; i++) {
        memcpy(&powers, powers_of[i], sizeof powers);
        row_doubles value = __builtin_convertvector(powers, row_doubles) * s->inverse_scale / divisors;
        row_masks below = value < SOFTMAX_LIMIT;
        row_masks limited = ((row_masks)value & below) | ((row_masks)((row_doubles){0} + SOFTMAX_LIMIT) & ~below);
        value = (row_doubles)limited + TO_INTEGER - TO_INTEGER;
        row_codes codes = __builtin_convertvector(value, row_codes) + zero;
        for (size_t row = 0; row < rows; row++)
            y[row * s->row_step + i * s->apart] = (uint8_t)(codes[row] < high ? codes[row] : high);
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
