/* Peaks in plain C, and the clock. */
#include "cpu/peak/peak_kernel.h"

#include <stdint.h>

void ingot_peak_chain(size_t rounds)
{
    size_t sum = 1, step = 3;
    INGOT_PEAK_KEEP("+r", step); /* a register: a constant might be added while an instruction is renamed, in no time */
    while (rounds--) {
#pragma GCC unroll 16
        for (int i = 0; i < INGOT_PEAK_CHAIN; i++) {
            sum += step;
            INGOT_PEAK_KEEP("+r", sum);
        }
    }
}

#if defined(__x86_64__)
#define FLOAT_REGISTER "+x"
#elif defined(__aarch64__)
#define FLOAT_REGISTER "+w"
#else
#define FLOAT_REGISTER "+m"
#endif

void ingot_peak_f32_8x1_scalar(size_t rounds)
{
    float a[8] = {0}, half = 0.5f;
    INGOT_PEAK_KEEP(FLOAT_REGISTER, half);
    while (rounds--) {
#pragma GCC unroll 8
        for (int i = 0; i < 8; i++)
            a[i] = a[i] * half + half;
    }
    for (int i = 0; i < 8; i++)
        INGOT_PEAK_KEEP(FLOAT_REGISTER, a[i]);
}

void ingot_peak_read_scalar(const void *memory, size_t bytes)
{
    const uint64_t *words = memory;
    uint64_t sum[8] = {0};
    for (size_t i = 0; i < bytes / sizeof *words; i += 8) {
#pragma GCC unroll 8
        for (int k = 0; k < 8; k++)
            sum[k] |= words[i + (size_t)k];
    }
    for (int k = 0; k < 8; k++)
        INGOT_PEAK_KEEP("+r", sum[k]);
}
