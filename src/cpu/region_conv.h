/* What the families of convolutions share. */
#ifndef INGOT_CPU_REGION_CONV_H
#define INGOT_CPU_REGION_CONV_H

#include "cpu/conv/conv.h"
#include "cpu/family.h"

/* The kernel's view of a Conv, FusedConv or (transposed) ConvTranspose on an image and weights of these sizes, both of rank 3 or 4.
 * Sizes of the image are left 1 where x is NULL. */
ingot_status ingot_cpu_conv_sizes(const ingot_node *node, bool transposed, int rank, const int64_t *x, const int64_t *w,
                                  ingot_conv *conv, ingot_error *error);
/* Makes a column of pixels a row: it lies in memory as one, and rows are what tiles go along. */
void ingot_cpu_conv_lay_column_down(ingot_conv *conv);
/* All tensors are float, of rank 3 or 4; negative padding is the reference's. */
bool ingot_cpu_conv_suits(const ingot_node *node);
/* The image's shape where all of it but the batch is known now; false where it is not. */
bool ingot_cpu_conv_known_image(const ingot_type *type, int rank, int64_t *dims);
/* Nanoseconds that it takes, a guess for costs: on blocks of channels, or plain. */
double ingot_cpu_conv_cost(const ingot_conv *conv, bool blocked);
/* What a step does to its sums, on its operands: input 2 of the first node is a bias of the output's channels. */
ingot_epilogue ingot_cpu_conv_epilogue(const ingot_step *step, const ingot_cpu_epilogue *from);

#endif
