/* How the calling thread rounds: the processor's mode word. Results must not depend on what the caller of the library has
 * set, nor on which thread of a pool takes a part: the mode is set for a piece of work, and goes with it to the workers. */
#ifndef INGOT_BASE_FLOAT_MODE_H
#define INGOT_BASE_FLOAT_MODE_H

#include <stdint.h>

#if defined(__x86_64__)
#include <xmmintrin.h>

/* To nearest, all exceptions masked. */
#define INGOT_FLOAT_IEEE 0x1F80u
/* The same, but results too small for a normal number become 0: where a processor rounds into denormal numbers, each takes
 * as long as a hundred others. Denormal operands count as what they are. */
#define INGOT_FLOAT_FLUSH (INGOT_FLOAT_IEEE | _MM_FLUSH_ZERO_ON)

static inline unsigned ingot_float_mode(void)
{
    return _mm_getcsr();
}
static inline void ingot_float_mode_set(unsigned mode)
{
    _mm_setcsr(mode);
}
#elif defined(__aarch64__)
/* To nearest, no exception traps. Here flushing would take operands for 0, too: it is not done. */
#define INGOT_FLOAT_IEEE  0u
#define INGOT_FLOAT_FLUSH INGOT_FLOAT_IEEE

static inline unsigned ingot_float_mode(void)
{
    uint64_t mode;
    __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
    return (unsigned)mode;
}
static inline void ingot_float_mode_set(unsigned mode)
{
    __asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)mode));
}
#else
#define INGOT_FLOAT_IEEE  0u
#define INGOT_FLOAT_FLUSH 0u

static inline unsigned ingot_float_mode(void)
{
    return INGOT_FLOAT_IEEE;
}
static inline void ingot_float_mode_set(unsigned mode)
{
}
#endif

#endif
