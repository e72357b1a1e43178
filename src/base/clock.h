/* Time that only goes forward. */
#ifndef INGOT_BASE_CLOCK_H
#define INGOT_BASE_CLOCK_H

#include <stdint.h>

uint64_t ingot_clock_ns(void);

static inline double ingot_clock_ms_since(uint64_t start_ns)
{
    return (double)(ingot_clock_ns() - start_ns) * 1e-6;
}

#endif
