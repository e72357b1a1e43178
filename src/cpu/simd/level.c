#include "cpu/simd/level.h"

#include "base/cpu.h"

static const struct {
    const char *name;
    uint32_t features;
} levels[] = {
#define INGOT_LEVEL(suffix, features) {#suffix, features},
#include "cpu/simd/levels.def"
#undef INGOT_LEVEL
};

bool ingot_level_runs(int level)
{
    return (levels[level].features & ~ingot_cpu_features()) == 0;
}

int ingot_level_best(void)
{
    int best = INGOT_LEVEL_COUNT - 1;
    while (best > 0 && !ingot_level_runs(best))
        best--;
    return best;
}

const char *ingot_level_name(int level)
{
    return levels[level].name;
}
