/* Processor features and cache sizes. */
#include "base/cpu.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#include "ingot/tools.h"

typedef struct cpu_level {
    const char *name;
    uint32_t features; /* the level itself and those before it */
} cpu_level;

enum {
    LEVEL_SSE4 = INGOT_CPU_SSE4,
    LEVEL_AVX2 = LEVEL_SSE4 | INGOT_CPU_AVX2,
    LEVEL_AVX512 = LEVEL_AVX2 | INGOT_CPU_AVX512,
    LEVEL_VNNI = LEVEL_AVX512 | INGOT_CPU_VNNI,
    LEVEL_BF16 = LEVEL_VNNI | INGOT_CPU_BF16,
    LEVEL_NEON = INGOT_CPU_NEON,
};

static const cpu_level levels[] = {
    {"sse4", LEVEL_SSE4},        {"avx2", LEVEL_AVX2},        {"avx512", LEVEL_AVX512},
    {"avx512_vnni", LEVEL_VNNI}, {"avx512_bf16", LEVEL_BF16}, {"neon", LEVEL_NEON},
};
enum { LEVEL_COUNT = sizeof levels / sizeof levels[0] };

/* Everything this file knows, found once. */
static struct {
    uint32_t found, used;
    ingot_cpu_caches caches;
    char description[64];
} cpu;

#if defined(__x86_64__) || defined(__i386__)
static bool has_f16c(void)
{
    unsigned eax, ebx, ecx, edx;
    return __get_cpuid(1, &eax, &ebx, &ecx, &edx) && (ecx & bit_F16C);
}

/* The builtins answer no for registers that the operating system does not save. */
static uint32_t detect(void)
{
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("sse4.1"))
        return 0;
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !__builtin_cpu_supports("bmi2") ||
        !has_f16c())
        return LEVEL_SSE4;
    uint32_t found = LEVEL_AVX2;
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
        !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512vl"))
        return found;
    found |= LEVEL_AVX512;
    if (!__builtin_cpu_supports("avx512vnni"))
        return found;
    found |= LEVEL_VNNI;
    return __builtin_cpu_supports("avx512bf16") ? found | LEVEL_BF16 : found;
}
#elif defined(__aarch64__)
static uint32_t detect(void)
{
    return LEVEL_NEON; /* part of the base architecture */
}
#else
static uint32_t detect(void)
{
    return 0;
}
#endif

/* The features that a value of INGOT_CPU leaves: the levels it names together. Words that name none add nothing. */
static uint32_t parse_mask(const char *text)
{
    if (!text || *text == '\0')
        return UINT32_MAX;
    uint32_t mask = 0;
    while (*text) {
        const size_t length = strcspn(text, ", ");
        for (size_t i = 0; i < LEVEL_COUNT; i++)
            if (strlen(levels[i].name) == length && strncmp(levels[i].name, text, length) == 0)
                mask |= levels[i].features;
        text += length;
        text += strspn(text, ", ");
    }
    return mask;
}

static void describe(void)
{
    static const char *const names[] = {
#define CPU_NAME(name, bit, text) [bit] = text,
        INGOT_CPU_LIST(CPU_NAME)
#undef CPU_NAME
    };
    size_t used = 0;
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
        if (cpu.used >> i & 1)
            used += (size_t)snprintf(cpu.description + used, sizeof cpu.description - used, "%s%s", used ? " " : "",
                                     names[i]);
    if (used == 0)
        snprintf(cpu.description, sizeof cpu.description, "scalar");
}

static uint32_t cache_size(int name, uint32_t typical)
{
    const long size = sysconf(name);
    return size > 0 && (unsigned long)size <= UINT32_MAX ? (uint32_t)size : typical;
}

static void find_out(void)
{
    cpu.found = detect();
    cpu.used = cpu.found & parse_mask(getenv("INGOT_CPU"));
    cpu.caches = (ingot_cpu_caches){.l1_data = 32u << 10, .l2 = 1u << 20, .l3 = 16u << 20};
#ifdef _SC_LEVEL1_DCACHE_SIZE
    cpu.caches.l1_data = cache_size(_SC_LEVEL1_DCACHE_SIZE, cpu.caches.l1_data);
    cpu.caches.l2 = cache_size(_SC_LEVEL2_CACHE_SIZE, cpu.caches.l2);
    cpu.caches.l3 = cache_size(_SC_LEVEL3_CACHE_SIZE, cpu.caches.l3);
#endif
    describe();
}

static void find_out_once(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_out);
}

uint32_t ingot_cpu_features(void)
{
    find_out_once();
    return cpu.used;
}

uint32_t ingot_cpu_features_found(void)
{
    find_out_once();
    return cpu.found;
}

ingot_cpu_caches ingot_cpu_cache_sizes(void)
{
    find_out_once();
    return cpu.caches;
}

const char *ingot_cpu_description(void)
{
    find_out_once();
    return cpu.description;
}
