#include "cpu/recurrent/recurrent_weights.h"

#include "cpu/extent.h"
#include "cpu/gemm/gemm_kernel.h"

/* Bytes of a direction's R from which a step is worth sharing. Two directions can run side by side instead, each in its thread,
 * as long as their weights stay in the threads' L2 caches. */
#define SHARED_R_BYTES         (192u << 10)
#define SHARED_R_BYTES_OF_MANY (1u << 20)

ingot_recurrent_weights ingot_recurrent_place_weights(size_t features, size_t hidden, size_t gates, size_t directions,
                                                      bool apart)
{
    ingot_recurrent_weights at = {.features = features, .hidden = hidden, .gates = gates};
    at.by_units = gates * hidden * hidden * sizeof(float) > (directions > 1 ? SHARED_R_BYTES_OF_MANY : SHARED_R_BYTES);
    at.matrices = at.by_units ? gates : apart ? 2 : 1;
    for (size_t i = 0; i < at.matrices; i++)
        at.first_gate[i] = at.by_units ? i : i * (gates - 1);
    at.first_gate[at.matrices] = gates;
    at.w = ingot_take_part(&at.size, ingot_gemm_f32_packed_b_size(NULL, features, gates * hidden));
    for (size_t i = 0; i < at.matrices; i++) {
        size_t columns = (at.first_gate[i + 1] - at.first_gate[i]) * hidden;
        at.r[i] = ingot_take_part(&at.size, ingot_gemm_f32_packed_b_size(NULL, hidden, columns));
    }
    return at;
}

void ingot_recurrent_pack(const ingot_recurrent_weights *weights, const float *w, const float *r, char *packed)
{
    size_t k = weights->features, n = weights->hidden; /* both come transposed into the product */
    ingot_gemm_f32_pack_b(NULL, k, weights->gates * n, w, 1, (ptrdiff_t)k, (float *)(packed + weights->w));
    for (size_t i = 0; i < weights->matrices; i++) {
        size_t first = weights->first_gate[i] * n, columns = weights->first_gate[i + 1] * n - first;
        ingot_gemm_f32_pack_b(NULL, n, columns, r + first * n, 1, (ptrdiff_t)n, (float *)(packed + weights->r[i]));
    }
}

size_t ingot_recurrent_units_at_once(void)
{
    return ingot_gemm_kernel_best()->columns;
}
