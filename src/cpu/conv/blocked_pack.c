#include <string.h>

#include "cpu/conv/blocked_way.h"

/* Channels under taps that are transposed at a time, in a buffer, where a window has more than one tap. */
#define PACK_STEPS 256

/* Packs some channels of a block for a group of outputs, as [tap][channel][output]; from: the first output's first channel. */
typedef void (*pack_function)(const ingot_gemm_kernel *kernel, const ingot_conv *c,
                              const ingot_blocked_weight_view *view, const float *from, size_t channels, size_t outputs,
                              size_t width, float *to);

/* Of weights whose channels' taps lie side by side: in the order in which they lie. */
static void pack_in_order(const ingot_gemm_kernel *kernel, const ingot_conv *c, const ingot_blocked_weight_view *view,
                          const float *from, size_t channels, size_t outputs, size_t width, float *to)
{
    const size_t taps = c->kernel_height * c->kernel_width;
    float buffer[PACK_STEPS * 3 * INGOT_BLOCK];
    ingot_gemm_pack pack = {.lanes = outputs, .width = width, .lane_stride = view->output};
    pack.step_stride = 1;
    if (taps == 1) {
        pack.steps = channels;
        pack.from = from;
        pack.to = to;
        kernel->pack(&pack);
        return;
    }
    pack.to = buffer;
    for (size_t first = 0; first < channels * taps; first += pack.steps) {
        pack.steps = channels * taps - first < PACK_STEPS ? channels * taps - first : PACK_STEPS;
        pack.from = from + first;
        kernel->pack(&pack);
        for (size_t i = 0; i < pack.steps; i++) {
            size_t channel = (first + i) / taps, tap = (first + i) % taps;
            memcpy(to + (tap * channels + channel) * width, buffer + i * width, width * sizeof *to);
        }
    }
}

/* Of any: tap by tap. */
static void pack_taps(const ingot_gemm_kernel *kernel, const ingot_conv *c, const ingot_blocked_weight_view *view,
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

static void pack_all(const ingot_blocked_conv *b, const ingot_blocked_weight_view *view, pack_function pack,
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
            const float *from = view->first + (ptrdiff_t)part * view->group + (ptrdiff_t)first * view->output;
            for (size_t block = 0; block < w.in_blocks; block++) {
                size_t channels = block + 1 < w.in_blocks ? w.block_channels : w.last_channels;
                pack(kernel, c, view, from, channels, outputs, width, packed);
                packed += channels * w.taps * width;
                from += (ptrdiff_t)channels * view->channel;
            }
        }
    }
}

void ingot_blocked_pack(const ingot_blocked_conv *b, const float *weights, float *packed)
{
    const ingot_conv *c = b->conv;
    const ptrdiff_t width = (ptrdiff_t)c->kernel_width, taps = (ptrdiff_t)c->kernel_height * width;
    const ptrdiff_t output = (ptrdiff_t)(c->channels / c->groups) * taps;
    const ingot_blocked_weight_view view = {.first = weights,
                                            .group = (ptrdiff_t)(c->outputs / c->groups) * output,
                                            .output = output,
                                            .channel = taps,
                                            .row = width,
                                            .column = 1};
    pack_all(b, &view, pack_in_order, packed);
}

void ingot_blocked_pack_view(const ingot_blocked_conv *b, const ingot_blocked_weight_view *view, float *packed)
{
    pack_all(b, view, pack_taps, packed);
}
