/* What the kernels that search by regular expressions share. */
#ifndef INGOT_CPU_REF_REF_REGEX_H
#define INGOT_CPU_REF_REF_REGEX_H

#include "base/regex.h"
#include "ops/kernel.h"

/* Does the whole work with ints of search memory; sets *again, and may stop at once, where they were too few. */
typedef ingot_status (*ingot_ref_regex_work)(const ingot_kernel_call *call, size_t ints, bool *again);

/* Does the work with as many ints as it needs. */
ingot_status ingot_ref_regex_run(const ingot_kernel_call *call, ingot_ref_regex_work work);

/* Fails, naming the string of the input, on a search that failed; sets *again where it wants more memory. */
ingot_status ingot_ref_regex_check(const ingot_kernel_call *call, size_t string, ingot_regex_result result,
                                   bool *again);

#endif
