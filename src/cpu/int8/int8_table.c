#include "base/cpu.h"
#include "cpu/int8/int8_kernel.h"

static const ingot_int8_kernel kernels[] = {
#define INGOT_INT8_KERNEL(name, features, rows, columns) \
    {#name, features, rows, ingot_##name##_tile, ingot_##name##_depthwise},
#include "cpu/int8/int8_kernels.def"
#undef INGOT_INT8_KERNEL
};

#define KERNEL_COUNT (sizeof kernels / sizeof kernels[0])

size_t ingot_int8_kernel_count(void)
{
    return KERNEL_COUNT;
}

const ingot_int8_kernel *ingot_int8_kernel_at(size_t index)
{
    return &kernels[index];
}

bool ingot_int8_kernel_runs(const ingot_int8_kernel *kernel)
{
    return (kernel->features & ~ingot_cpu_features()) == 0;
}

const ingot_int8_kernel *ingot_int8_kernel_best(void)
{
    size_t best = KERNEL_COUNT - 1;
    while (best > 0 && !ingot_int8_kernel_runs(&kernels[best]))
        best--;
    return &kernels[best];
}
