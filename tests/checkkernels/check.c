#include "check.h"

#include <stdarg.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "cpu/simd/level.h"

#define MAX_AREAS 128

extern size_t passed_cases, failed_cases;
size_t passed_cases, failed_cases;

static struct {
    void *base;
    size_t bytes;
} areas[MAX_AREAS];
static size_t area_count;
static uint32_t random_state = 1;

const int check_threads[4] = {1, 2, 3, 7};
bool only_best;

bool wants_level(int level)
{
    return only_best ? level == ingot_level_best() : ingot_level_runs(level);
}

bool wants_gemm_kernel(const ingot_gemm_kernel *kernel)
{
    return only_best ? kernel == ingot_gemm_kernel_best() : ingot_gemm_kernel_runs(kernel);
}

void check_case(bool good, const char *format, ...)
{
    if (good) {
        passed_cases++;
        return;
    }
    failed_cases++;
    va_list arguments;
    va_start(arguments, format);
    fputs("FAILED: ", stdout);
    vprintf(format, arguments);
    putchar('\n');
    va_end(arguments);
}

void *guard_memory(size_t bytes, bool at_end)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), inner = (bytes + page - 1) / page * page, total = inner + 2 * page;
    char *base = mmap(NULL, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED || area_count == MAX_AREAS || mprotect(base, page, PROT_NONE) != 0 ||
        mprotect(base + page + inner, page, PROT_NONE) != 0) {
        fprintf(stderr, "checkkernels: cannot map %zu bytes with guard pages\n", bytes);
        exit(1);
    }
    areas[area_count].base = base;
    areas[area_count++].bytes = total;
    return base + page + (at_end ? inner - bytes : 0);
}

float *guard_floats(size_t count, bool at_end)
{
    return guard_memory(count * sizeof(float), at_end);
}

void guard_release(void)
{
    while (area_count > 0) {
        area_count--;
        munmap(areas[area_count].base, areas[area_count].bytes);
    }
}

uint32_t random_bits(void)
{
    random_state = random_state * 1664525u + 1013904223u;
    return random_state ^ random_state >> 15;
}

float random_float(void)
{
    return (float)(int32_t)random_bits() * 0x1p-31f;
}

size_t random_below(size_t limit)
{
    return limit == 0 ? 0 : random_bits() % limit;
}

void random_fill(float *x, size_t count)
{
    for (size_t i = 0; i < count; i++)
        x[i] = random_float();
}

float *random_floats(size_t count, bool at_end)
{
    float *x = guard_floats(count, at_end);
    random_fill(x, count);
    return x;
}

double ulps_between(float value, double truth)
{
    float rounded = (float)truth;
    if (isnan(rounded) || isnan(value))
        return isnan(rounded) && isnan(value) ? 0 : INFINITY;
    if (isinf(rounded) || isinf(value))
        return value == rounded                      ? 0
               : isinf(rounded) && isinf(value)      ? INFINITY
               : fabs((double)value / truth) < 0.999 ? INFINITY
                                                     : 1;
    int exponent;
    frexp(truth, &exponent);
    double unit = fabs(truth) < 0x1p-126 ? 0x1p-149 : ldexp(1.0, exponent - 24);
    return fabs((double)value - truth) / unit;
}

bool same_bits(const float *a, const float *b, size_t count)
{
    return count == 0 || memcmp(a, b, count * sizeof *a) == 0;
}

double best_time(void (*work)(void *argument), void *argument)
{
    double best = INFINITY;
    uint64_t start = ingot_clock_ns();
    for (int run = 0; run < 1000 && (run < 3 || ingot_clock_ns() - start < 50000000u); run++) {
        uint64_t before = ingot_clock_ns();
        work(argument);
        double time = (double)(ingot_clock_ns() - before);
        best = time < best ? time : best;
    }
    return best;
}
