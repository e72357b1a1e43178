/* What the processor can do, as a set of bits; the variable INGOT_CPU takes features away. */
#ifndef INGOT_BASE_CPU_H
#define INGOT_BASE_CPU_H

#include <stdint.h>

/* Each name is a level that includes those before it on its line of processors. X(name, bit, text) */
#define INGOT_CPU_LIST(X)                                           \
    X(INGOT_CPU_SSE4, 0, "sse4")        /* SSE4.1 */                \
    X(INGOT_CPU_AVX2, 1, "avx2")        /* AVX2, FMA, F16C, BMI2 */ \
    X(INGOT_CPU_AVX512, 2, "avx512")    /* AVX-512 F, BW, DQ, VL */ \
    X(INGOT_CPU_VNNI, 3, "avx512_vnni") /* AVX-512 VNNI */          \
    X(INGOT_CPU_BF16, 4, "avx512_bf16") /* AVX-512 BF16 */          \
    X(INGOT_CPU_NEON, 5, "neon")

enum {
#define INGOT_CPU_ENUM(name, bit, text) name = 1 << bit,
    INGOT_CPU_LIST(INGOT_CPU_ENUM)
#undef INGOT_CPU_ENUM
};

/* Features found (and enabled by the operating system), less those that INGOT_CPU leaves out: unset or "" means all,
 * "scalar" none, "avx512" that level and those before it, without VNNI and BF16; of a list, those that any of its words
 * leaves. Read once. */
uint32_t ingot_cpu_features(void);
/* Features found, whatever INGOT_CPU says. */
uint32_t ingot_cpu_features_found(void);

typedef struct ingot_cpu_caches {
    uint32_t l1_data, l2, l3; /* bytes; typical values where the system does not tell */
} ingot_cpu_caches;
ingot_cpu_caches ingot_cpu_cache_sizes(void);

#endif
