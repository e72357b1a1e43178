/* What the parts of the kernel checker share. Each part runs the kernels of one room against plain loops in double. */
#ifndef INGOT_CHECK_H
#define INGOT_CHECK_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "cpu/gemm/gemm.h"

/* A part: check runs all its cases, bench (may be NULL) prints a line a measurement, list the names of its kernels. */
typedef struct check_part {
    const char *name;
    void (*check)(void);
    void (*bench)(void);
    void (*list)(void);
} check_part;
extern const check_part check_gemm, check_conv, check_eltwise, check_reduce, check_layout, check_recurrent, check_peak,
    check_depthwise, check_c16, check_half, check_int8, check_bytes, check_attention;

/* Whether a kernel is to be checked: one that this processor (and INGOT_CPU) allows, and where only_best is set, one that
 * a program would use here. */
extern bool only_best;
bool wants_level(int level);
bool wants_gemm_kernel(const ingot_gemm_kernel *kernel);

/* Counts one case, and prints a failed one's description. */
void check_case(bool good, const char *format, ...) INGOT_PRINTF(2, 3);

/* Memory whose neighbouring pages cannot be touched; bytes end at the guard page where at_end, else they begin after one. All of
 * it is given back by guard_release. Ends the process where there is none. */
void *guard_memory(size_t bytes, bool at_end);
float *guard_floats(size_t count, bool at_end);
void guard_release(void);

/* The same numbers in every run. */
uint32_t random_bits(void);
float random_float(void); /* in [-1, 1) */
size_t random_below(size_t limit);
void random_fill(float *x, size_t count);
/* Guarded and filled. */
float *random_floats(size_t count, bool at_end);

/* Thread counts that must not change a bit. */
extern const int check_threads[4];

/* Units in the last place of a float between value and truth; 0 where both are NaN or the same infinity. */
double ulps_between(float value, double truth);
bool same_bits(const float *a, const float *b, size_t count);

/* Best time of some runs of work(argument), in nanoseconds. */
double best_time(void (*work)(void *argument), void *argument);

#endif
