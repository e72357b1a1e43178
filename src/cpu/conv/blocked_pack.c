#include <string.h>

#include "cpu/conv/blocked_way.h"

/* Channels under taps that are transposed at a time, in a buffer, where a window has more than one tap. */
#define PACK_STEPS 256

/* Some channels of a block for a group of outputs: weights have [output][channel][tap], packed ones [tap][channel][output]. */
static void pack_block(const ingot_gemm_kernel *kernel, const ingot_blocked_weights *w, const float *from,
                       size_t channels, size_t outputs, size_t width, float *to)
{
    float buffer[PACK_STEPS * 3 * INGOT_BLOCK];
    ingot_gemm_pack pack = {.lanes = outputs, .width = width, .lane_stride = (ptrdiff_t)(w->channels * w->taps)};
    pack.step_stride = 1;
    if (w->taps == 1) {
        pack.steps = channels;
        pack.from = from;
        pack.to = to;
        kernel->pack(&pack);
        return;
    }
    pack.to = buffer;
    for (size_t first = 0; first < channels * w->taps; first += pack.steps) {
        pack.steps = channels * w->taps - first < PACK_STEPS ? channels * w->taps - first : PACK_STEPS;
        pack.from = from + first;
        kernel->pack(&pack);
        for (size_t i = 0; i < pack.steps; i++) {
            size_t channel = (first + i) / w->taps, tap = (first + i) % w->taps;
            memcpy(to + (tap * channels + channel) * width, buffer + i * width, width * sizeof *to);
        }
    }
}

void ingot_blocked_pack(const ingot_blocked_conv *b, const float *weights, float *packed)
{
    const ingot_conv *c = b->conv;
    const ingot_gemm_kernel *kernel = c->kernel ? c->kernel : ingot_gemm_kernel_best();
    ingot_blocked_weights w = ingot_blocked_find_weights(b);
    for (size_t part = 0; part < c->groups; part++) {
        for (size_t group = 0; group < w.groups.count; group++) {
            size_t first = ingot_blocked_group(&w.groups, group) * INGOT_BLOCK;
            size_t width = ingot_blocked_group(&w.groups, group + 1) * INGOT_BLOCK - first;
            size_t outputs = w.outputs - first < width ? w.outputs - first : width;
            const float *from = weights + (part * w.outputs + first) * w.channels * w.taps;
            for (size_t block = 0; block < w.in_blocks; block++) {
                size_t channels = block + 1 < w.in_blocks ? w.block_channels : w.last_channels;
                pack_block(kernel, &w, from, channels, outputs, width, packed);
                packed += channels * w.taps * width;
                from += channels * w.taps;
            }
        }
    }
}
