/* The convolution kernels: the templates for plain C. */
#define INGOT_SIMD_SCALAR 1
#include "cpu/conv/blocked_tmpl.h"
#include "cpu/conv/depthwise_tmpl.h"
#include "cpu/conv/im2col_tmpl.h"
#include "cpu/conv/narrow_tmpl.h"
#include "cpu/conv/winograd_tmpl.h"

#include "cpu/conv/blocked_line_tmpl.h"
#include "cpu/conv/blocked_winograd_tmpl.h"

const ingot_conv_table LEVEL_NAME(ingot_conv_table) = {
    im2col,
    depthwise,
    narrow_row,
    winograd_weights,
    winograd_input,
    winograd_output,
    winograd_store,
    {MAX_BLOCKS, {0, ONE_BLOCK, TWO_BLOCKS, THREE_BLOCKS}, blocked_tile, plain_tile, copy_phase},
    {blocked_weights, blocked_points, blocked_sums, blocked_store},
    {line_weights, line_points, line_sums},
};
