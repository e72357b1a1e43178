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

int ingot_level_for(uint32_t features)
{
    int best = INGOT_LEVEL_COUNT - 1;
    while (best > 0 && (levels[best].features & ~features) != 0)
        best--;
    return best;
}

int ingot_level_best(void)
{
    return ingot_level_for(ingot_cpu_features());
}

const char *ingot_level_name(int level)
{
    return levels[level].name;
}
