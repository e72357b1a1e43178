/* Which level of levels.def this process uses. */
#ifndef INGOT_CPU_LEVEL_H
#define INGOT_CPU_LEVEL_H

#include <stdbool.h>
#include <stdint.h>

enum {
#define INGOT_LEVEL(suffix, features) INGOT_LEVEL_##suffix,
#include "cpu/simd/levels.def"
#undef INGOT_LEVEL
    INGOT_LEVEL_COUNT
};

/* The best that ingot_cpu_features() allows. */
int ingot_level_best(void);
/* The best that needs no more than these features. */
int ingot_level_for(uint32_t features);
const char *ingot_level_name(int level);
bool ingot_level_runs(int level);

#endif
