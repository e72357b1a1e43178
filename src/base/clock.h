/* Time that only goes forward. */
#ifndef INGOT_BASE_CLOCK_H
#define INGOT_BASE_CLOCK_H

#include <stdint.h>

uint64_t ingot_clock_ns(void);

/* The processor's own counter, which takes half the time to read; it goes at a steady rate, which is not known. Nanoseconds where
 * there is none. */
static inline uint64_t ingot_clock_ticks(void)
{
#if defined(__x86_64__) || defined(__i386__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    return ingot_clock_ns();
#endif
}

static inline double ingot_clock_ms_since(uint64_t start_ns)
{
    return (double)(ingot_clock_ns() - start_ns) * 1e-6;
}

#endif
