/* What the machine can do at most, measured: the public functions of tools.h on the kernels of this folder. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/cpu.h"
#include "base/memory.h"
#include "base/threads.h"
#include "cpu/peak/peak_kernel.h"
#include "cpu/simd/level.h"
#include "ingot/tools.h"

/* Long enough that reading the clock does not count, short enough to fit between two interruptions. */
#define BURST_NS        50000u
#define CHUNKS_A_THREAD 8
#define MEMORY_PIECE    ((size_t)1 << 19)
#define CLOCKS          255
#define STRETCH_PIECES  8
#define MEMORY_LEAST    ((size_t)64 << 20)
#define MEMORY_MOST     ((size_t)256 << 20)

/* ---- Arithmetic ---- */

typedef struct arithmetic {
    const char *name;
    uint32_t features;
    double operations; /* of a round */
    void (*run)(size_t rounds);
} arithmetic;

static const arithmetic kernels[] = {
#define INGOT_PEAK_KERNEL(name, text, features, operations) {text, features, operations, ingot_peak_##name},
#include "cpu/peak/peak_kernels.def"
#undef INGOT_PEAK_KERNEL
};

static uint64_t time_rounds(void (*run)(size_t rounds), size_t rounds)
{
    uint64_t begin = ingot_clock_ns();
    run(rounds);
    return ingot_clock_ns() - begin;
}

/* Rounds that take a burst. */
static size_t find_rounds(void (*run)(size_t rounds))
{
    size_t rounds = 64;
    while (time_rounds(run, rounds) < BURST_NS)
        rounds *= 2;
    return rounds;
}

typedef struct burst {
    void (*run)(size_t rounds);
    size_t rounds;
} burst;

static void run_burst(void *argument, size_t chunk, int participant)
{
    const burst *b = argument;
    b->run(b->rounds);
}

static void keep_least(uint64_t *least, uint64_t ns)
{
    if (ns < *least)
        *least = ns;
}

static int compare_times(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The time that a quarter lies below: interruptions lengthen some, a clock that has risen again shortens few. */
static uint64_t low_quarter(uint64_t *times, size_t count)
{
    qsort(times, count, sizeof *times, compare_times);
    return times[count / 4];
}

static void measure_arithmetic(const arithmetic *kernel, int threads, uint64_t end, ingot_peak *peak)
{
    burst b = {kernel->run, find_rounds(kernel->run)};
    size_t chain = find_rounds(ingot_peak_chain), chunks = threads > 1 ? CHUNKS_A_THREAD * (size_t)threads : 1;
    uint64_t least = UINT64_MAX, clocks[CLOCKS];
    size_t count = 0;
    do {
        uint64_t begin = ingot_clock_ns();
        ingot_parallel(threads, chunks, run_burst, &b);
        keep_least(&least, ingot_clock_ns() - begin);
        /* At once, while the clock is still the one that this arithmetic runs at. */
        clocks[count++ % CLOCKS] = time_rounds(ingot_peak_chain, chain);
    } while (ingot_clock_ns() < end);
    peak->rate = kernel->operations * (double)b.rounds * (double)chunks / (double)least * 1e9;
    peak->clock =
        (double)INGOT_PEAK_CHAIN * (double)chain / (double)low_quarter(clocks, count < CLOCKS ? count : CLOCKS) * 1e9;
}

/* ---- Memory ---- */

typedef struct transfer {
    char *from, *to; /* to NULL: reading alone */
    size_t first;    /* piece of the stretch at work */
} transfer;

static ingot_peak_reader *best_reader(void)
{
    static ingot_peak_reader *const readers[] = {
#define INGOT_LEVEL(suffix, features) ingot_peak_read_##suffix,
#include "cpu/simd/levels.def"
#undef INGOT_LEVEL
    };
    return readers[ingot_level_best()];
}

static void move_piece(void *argument, size_t chunk, int participant)
{
    const transfer *t = argument;
    size_t offset = (t->first + chunk) * MEMORY_PIECE;
    if (t->to)
        memcpy(t->to + offset, t->from + offset, MEMORY_PIECE);
    else
        best_reader()(t->from + offset, MEMORY_PIECE);
}

/* As much as no cache holds, where that is not too much to ask for. */
static size_t memory_size(void)
{
    size_t size = 2 * (size_t)ingot_cpu_cache_sizes().l3;
    size = size < MEMORY_LEAST ? MEMORY_LEAST : size > MEMORY_MOST ? MEMORY_MOST : size;
    return size / (2 * MEMORY_PIECE) * (2 * MEMORY_PIECE);
}

static ingot_status measure_memory(bool copy, int threads, uint64_t end, ingot_peak *peak, ingot_error *error)
{
    size_t size = memory_size();
    char *memory = ingot_malloc_aligned(size);
    if (!memory)
        return ingot_fail_memory(error, size, "measuring the memory");
    memset(memory, 1, size);
    transfer t = {memory, copy ? memory + size / 2 : NULL, 0};
    size_t all = (copy ? size / 2 : size) / MEMORY_PIECE, some = STRETCH_PIECES * (size_t)threads;
    some = some < all ? some : all;
    uint64_t least = UINT64_MAX;
    do {
        uint64_t begin = ingot_clock_ns();
        ingot_parallel(threads, some, move_piece, &t);
        keep_least(&least, ingot_clock_ns() - begin);
        t.first = t.first + 2 * some <= all ? t.first + some : 0;
    } while (ingot_clock_ns() < end || t.first != 0); /* all of it: no cache has what comes next */
    peak->rate = (double)(some * MEMORY_PIECE * (copy ? 2 : 1)) / (double)least * 1e9;
    ingot_free(memory);
    return INGOT_OK;
}

/* ---- The list ---- */

#define KERNEL_COUNT (sizeof kernels / sizeof kernels[0])

/* The kernel of what runs here at index; NULL past them, and *index is then less their number. */
static const arithmetic *kernel_at(size_t *index)
{
    for (size_t i = 0; i < KERNEL_COUNT; i++) {
        if ((kernels[i].features & ~ingot_cpu_features()) != 0)
            continue;
        if (*index == 0)
            return &kernels[i];
        (*index)--;
    }
    return NULL;
}

ingot_status ingot_peak_measure(size_t index, int threads, double seconds, ingot_peak *peak, ingot_error *error)
{
    if (!peak || threads < 0 || threads > INGOT_MAX_THREADS || !(seconds >= 0 && seconds < 1e6))
        return ingot_fail(error, INGOT_INVALID_ARGUMENT,
                          "ingot_peak_measure needs a place for the result, 0 to %d threads, and seconds from 0 up",
                          INGOT_MAX_THREADS);
    static const char *const memory_names[] = {"memory_read", "memory_copy"};
    const arithmetic *kernel = kernel_at(&index);
    if (!kernel && index >= sizeof memory_names / sizeof memory_names[0])
        return ingot_fail(error, INGOT_NOT_FOUND, "there is no peak of that number: ask ingot_peak_count");
    threads = threads ? threads : ingot_threads_available();
    INGOT_TRY(ingot_threads_prepare(threads, error));
    uint64_t end = ingot_clock_ns() + (uint64_t)(seconds * 1e9);
    *peak = (ingot_peak){.name = kernel ? kernel->name : memory_names[index], .threads = threads};
    if (!kernel)
        return measure_memory(index == 1, threads, end, peak, error);
    measure_arithmetic(kernel, threads, end, peak);
    return INGOT_OK;
}

size_t ingot_peak_count(void)
{
    size_t past = SIZE_MAX;
    kernel_at(&past);
    return SIZE_MAX - past + 2;
}
