/* What the reference kernels of ai.onnx.ml share. */
#ifndef INGOT_CPU_REF_REF_ML_H
#define INGOT_CPU_REF_REF_ML_H

#include "ops/kernel.h"
#include "ops/ml_common.h"

/* Changes the scores of one row. */
void ingot_ref_post_transform(ingot_post_transform kind, double *scores, size_t count);

/* Index of the first greatest score; count is at least 1. NaN is never greater. */
size_t ingot_ref_top(const double *scores, size_t count);

/* Makes the strings of a string output empty, so that they can be set; does nothing for other types. */
ingot_status ingot_ref_reset_strings(const ingot_kernel_call *call, size_t output);

/* Element index of an output of the labels' type becomes that label. */
ingot_status ingot_ref_set_label(const ingot_kernel_call *call, size_t output, size_t index,
                                 const ingot_class_labels *labels, size_t label);

#endif
