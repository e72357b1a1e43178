/* Elementwise kernels on bytes (src/cpu/int8/bytes.h) against plain loops. */
#include "check.h"
#include "cpu/int8/bytes_table.h"

static const size_t counts[] = {1, 7, 16, 31, 64, 257};
#define COUNTS (sizeof counts / sizeof *counts)

static uint8_t *random_codes(size_t count)
{
    uint8_t *codes = guard_memory(count, true);
    for (size_t i = 0; i < count; i++)
        codes[i] = (uint8_t)random_bits();
    return codes;
}

static int code_at(const uint8_t *x, size_t i, bool is_signed)
{
    return is_signed ? (int8_t)x[i] : x[i];
}

/* value to the nearest integer and into the range; NaN is the lowest. */
static uint8_t to_code(float value, bool is_signed)
{
    float low = is_signed ? -128 : 0, high = is_signed ? 127 : 255;
    value = rintf(value);
    value = value >= low ? (value <= high ? value : high) : low;
    return (uint8_t)(int)value;
}

static void check_quantize(int level, size_t count, bool is_signed)
{
    const ingot_int8_bytes_table *table = ingot_int8_bytes_table_at(level);
    const ingot_int8_scale s = {0.0078f, is_signed ? -7 : 120, is_signed};
    float *x = random_floats(count, true), *back = guard_floats(count, true), low, high;
    uint8_t *y = random_codes(count);
    bool good = true;
    x[count / 2] = NAN;
    x[count / 3] = 1e30f;
    table->quantize(x, &s, y, count);
    for (size_t i = 0; i < count; i++)
        good = good && y[i] == to_code(rintf(x[i] / s.scale) + (float)s.zero, is_signed);
    table->dequantize(y, &s, back, count);
    for (size_t i = 0; i < count; i++)
        good = good && back[i] == (float)(code_at(y, i, is_signed) - s.zero) * s.scale;
    table->range(x, count, &low, &high);
    float least = 0, most = 0;
    for (size_t i = 0; i < count; i++) {
        least = x[i] < least ? x[i] : least;
        most = x[i] > most ? x[i] : most;
    }
    check_case(good && low == least && high == most, "%s quantize, %zu elements, signed %d", ingot_level_name(level),
               count, is_signed);
    guard_release();
}

static void check_binary(int level, size_t count, bool is_signed)
{
    const ingot_int8_bytes_table *table = ingot_int8_bytes_table_at(level);
    const ingot_int8_sum sum = {0.83f, 0.41f, -31.25f, is_signed};
    const ingot_int8_times times = {is_signed ? 3 : 131, is_signed ? -9 : 100, 0.0117f, is_signed ? 2 : 128, is_signed};
    uint8_t *a = random_codes(count), *b = random_codes(count), *y = random_codes(count), *old = random_codes(count);
    bool good = true;
    table->add(&sum, a, b, y, count);
    for (size_t i = 0; i < count; i++) {
        float value = fmaf((float)code_at(b, i, is_signed), sum.b_ratio, sum.fixed);
        good = good && y[i] == to_code(fmaf((float)code_at(a, i, is_signed), sum.a_ratio, value), is_signed);
    }
    table->multiply(&times, a, b, y, count);
    for (size_t i = 0; i < count; i++) {
        float x = (float)(code_at(a, i, is_signed) - times.a_zero),
              z = (float)(code_at(b, i, is_signed) - times.b_zero);
        float product = x * z * times.ratio;
        good = good && y[i] == to_code(product + times.fixed, is_signed);
    }
    memcpy(old, b, count);
    table->maximum(a, b, count, is_signed);
    for (size_t i = 0; i < count; i++) {
        int x = code_at(a, i, is_signed), z = code_at(old, i, is_signed);
        good = good && code_at(b, i, is_signed) == (x > z ? x : z);
    }
    check_case(good, "%s binary, %zu elements, signed %d", ingot_level_name(level), count, is_signed);
    guard_release();
}

static void check_transpose(int level, size_t rows, size_t columns)
{
    uint8_t *x = random_codes(rows * columns), *y = random_codes(rows * columns);
    bool good = true;
    ingot_int8_bytes_table_at(level)->transpose(x, columns, rows, columns, 0x80, y, rows);
    for (size_t i = 0; i < rows * columns; i++)
        good = good && y[i % columns * rows + i / columns] == (x[i] ^ 0x80);
    check_case(good, "%s transpose, %zux%zu bytes", ingot_level_name(level), rows, columns);
    guard_release();
}

static void check(void)
{
    for (int level = 0; level < INGOT_LEVEL_COUNT; level++) {
        for (size_t i = 0; i < COUNTS && wants_level(level); i++) {
            for (int is_signed = 0; is_signed < 2; is_signed++) {
                check_quantize(level, counts[i], is_signed);
                check_binary(level, counts[i], is_signed);
            }
            for (size_t k = 0; k < COUNTS; k++)
                check_transpose(level, counts[i], counts[k]);
        }
    }
}

static void list(void)
{
    for (int level = 0; level < INGOT_LEVEL_COUNT; level++)
        printf("bytes %s\n", ingot_level_name(level));
}

const check_part check_bytes = {"bytes", check, NULL, list};
