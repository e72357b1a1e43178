#include "base/cpu.h"
#include "cpu/gemm/gemm_kernel.h"

static const ingot_gemm_kernel kernels[] = {
#define INGOT_GEMM_KERNEL(name, features, rows, columns) \
    {"gemm_" #name,                                      \
     features,                                           \
     rows,                                               \
     columns,                                            \
     ingot_gemm_##name##_tile,                           \
     ingot_gemm_##name##_pack,                           \
     ingot_gemm_##name##_strip,                          \
     (columns) / 2},
#include "cpu/gemm/gemm_kernels.def"
#undef INGOT_GEMM_KERNEL
};

#define KERNEL_COUNT (sizeof kernels / sizeof kernels[0])

size_t ingot_gemm_kernel_count(void)
{
    return KERNEL_COUNT;
}

const ingot_gemm_kernel *ingot_gemm_kernel_at(size_t index)
{
    return &kernels[index];
}

const char *ingot_gemm_kernel_name(const ingot_gemm_kernel *kernel)
{
    return kernel->name;
}

bool ingot_gemm_kernel_runs(const ingot_gemm_kernel *kernel)
{
    return (kernel->features & ~ingot_cpu_features()) == 0;
}

const ingot_gemm_kernel *ingot_gemm_kernel_best(void)
{
    size_t best = KERNEL_COUNT - 1;
    while (best > 0 && !ingot_gemm_kernel_runs(&kernels[best]))
        best--;
    return &kernels[best];
}
