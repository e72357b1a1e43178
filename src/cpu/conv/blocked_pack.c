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

/* The same, tap by tap, of weights that lie as the view says; from: the first output's first channel. */
static void pack_view(const ingot_gemm_kernel *kernel, const ingot_conv *c, const ingot_blocked_weight_view *view,
                      const float *from, size_t channels, size_t outputs, size_t width, float *to)
{
    ingot_gemm_pack pack = {.steps = channels, .lanes = outputs, .width = width};
    pack.step_stride = view->channel;
    pack.lane_stride = view->output;
    for (size_t tap = 0; tap < c->kernel_height * c->kernel_width; tap++) {
        pack.from =
            from + (ptrdiff_t)(tap / c->kernel_width) * view->row + (ptrdiff_t)(tap % c->kernel_width) * view->column;
        pack.to = to + tap * channels * width;
        kernel->pack(&pack);
    }
}

/* view NULL: as ONNX has them. */
static void pack_all(const ingot_blocked_conv *b, const float *weights, const ingot_blocked_weight_view *view,
                     float *packed)
{
    const ingot_conv *c = b->conv;
    const ingot_gemm_kernel *kernel = c->kernel ? c->kernel : ingot_gemm_kernel_best();
    ingot_blocked_weights w = ingot_blocked_find_weights(b);
    for (size_t part = 0; part < c->groups; part++) {
        for (size_t group = 0; group < w.groups.count; group++) {
            size_t first = ingot_blocked_group(&w.groups, group) * INGOT_BLOCK;
            size_t width = ingot_blocked_group(&w.groups, group + 1) * INGOT_BLOCK - first;
            size_t outputs = w.outputs - first < width ? w.outputs - first : width;
            const float *from;
            if (view)
                from = view->first + (ptrdiff_t)part * view->group + (ptrdiff_t)first * view->output;
            else
                from = weights + (part * w.outputs + first) * w.channels * w.taps;
            for (size_t block = 0; block < w.in_blocks; block++) {
                size_t channels = block + 1 < w.in_blocks ? w.block_channels : w.last_channels;
                if (view)
                    pack_view(kernel, c, view, from, channels, outputs, width, packed);
                else
                    pack_block(kernel, &w, from, channels, outputs, width, packed);
                packed += channels * w.taps * width;
                from += (ptrdiff_t)channels * (view ? view->channel : (ptrdiff_t)w.taps);
            }
        }
    }
}

void ingot_blocked_pack(const ingot_blocked_conv *b, const float *weights, float *packed)
{
    pack_all(b, weights, NULL, packed);
}

void ingot_blocked_pack_view(const ingot_blocked_conv *b, const ingot_blocked_weight_view *view, float *packed)
{
    pack_all(b, NULL, view, packed);
}
