/* A chain of FP32 convolutions on channels in blocks of 16 (blocked.h), strip by strip: what lies between two links, some rows at a
 * time, stays in the cache. Each element goes through the same sums as if the links ran one after the other: the same bits.
 * Threads: as in gemm.h. */
#ifndef INGOT_CPU_STRIPS_H
#define INGOT_CPU_STRIPS_H

#include "cpu/conv/conv.h"

#define INGOT_MOST_LINKS 4

typedef enum ingot_link_kind {
    INGOT_LINK_POINTWISE, /* one tap, stride 1, no padding, one group */
    INGOT_LINK_DEPTHWISE, /* as blocked_depthwise.h has it */
    INGOT_LINK_SCALE, /* a number a channel and image, times the element: rounds, and keeps denormals, as a Mul does */
} ingot_link_kind;

typedef struct ingot_link {
    ingot_link_kind kind;
    ingot_conv conv;      /* of a scale its sizes, those of the image alike */
    const float *weights; /* packed, by blocked.h or blocked_depthwise.h; of a scale the numbers, plain */
    size_t weights_batch; /* of a scale: floats from the numbers of an image to those of the next */
    /* row_bias as in conv.h; add, of the last link alone, blocked; scaled and column_bias unset; a scale has none. */
    ingot_epilogue epilogue;
} ingot_link;

/* Each link's input is the output of the one before; count from 1 to INGOT_MOST_LINKS. Workspace is in bytes. */
size_t ingot_strips_workspace(const ingot_link *links, size_t count, int threads);
void ingot_strips_f32(const ingot_link *links, size_t count, const float *input, float *output, void *workspace,
                      int threads);

#endif
