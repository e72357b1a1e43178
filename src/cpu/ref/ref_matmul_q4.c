/* MatMulBnb4 and MatMulFpQ4: each column of weights is made floats once, then multiplied with all rows of A. */
#include <string.h>

#include "cpu/ref/ref.h"
#include "cpu/ref/ref_iterate.h"
#include "cpu/ref/ref_scratch.h"
#include "ops/ms_matmul_q4.h"

/* Writes the k weights that output n is made of. */
typedef void (*read_column)(const ingot_kernel_call *call, size_t n, size_t k, float *to);

static ingot_status multiply(const ingot_kernel_call *call, size_t k, read_column read)
{
    const ingot_value *a = call->inputs[0];
    ingot_value *y = call->outputs[0];
    size_t columns = (size_t)y->dims[y->rank - 1], rows = k > 0 ? ingot_ref_count(a) / k : 0;
    size_t elements[] = {k, ingot_ref_count(a)}, sizes[] = {sizeof(float), sizeof(float)};
    void *parts[2];
    INGOT_TRY(ingot_ref_scratch(call, 2, elements, sizes, parts));
    float *weights = parts[0], *x = parts[1];
    ingot_read_floats(a->element, a->data, 0, 1, elements[1], x);
    for (size_t n = 0; n < columns; n++) {
        read(call, n, k, weights);
        for (size_t m = 0; m < rows; m++) {
            double sum = 0;
            for (size_t i = 0; i < k; i++)
                sum += (double)x[m * k + i] * (double)weights[i];
            ingot_store_double(y->element, y->data, m * columns + n, sum);
        }
    }
    return INGOT_OK;
}

/* ---- MatMulBnb4 ---- */

static const float codes[2][16] = {
    {0.0f, 0.0052083333f, 0.66666667f, 1.0f, 0.33333333f, 0.5f, 0.16666667f, 0.25f, 0.0f, -0.0052083333f, -0.66666667f,
     -1.0f, -0.33333333f, -0.5f, -0.16666667f, -0.25f},
    {-1.0f, -0.69619280f, -0.52507305f, -0.39491749f, -0.28444138f, -0.18477343f, -0.091050036f, 0.0f, 0.079580300f,
     0.16093020f, 0.24611230f, 0.33791524f, 0.44070983f, 0.56261700f, 0.72295684f, 1.0f},
};

/* Number index of all: the first of two lies in the high bits. */
static float bnb4_number(const ingot_kernel_call *call, size_t index)
{
    const ingot_matmul_bnb4_params *p = call->params;
    const ingot_value *scales = call->inputs[2];
    uint8_t pair = ((const uint8_t *)call->inputs[1]->data)[index / 2];
    float scale = (float)ingot_load_double(scales->element, scales->data, index / (size_t)p->block_size);
    return codes[p->codes][index % 2 ? pair & 15 : pair >> 4] * scale;
}

static void read_bnb4(const ingot_kernel_call *call, size_t n, size_t k, float *to)
{
    const ingot_matmul_bnb4_params *p = call->params;
    for (size_t i = 0; i < k; i++)
        to[i] = bnb4_number(call, p->transposed ? n * k + i : i * (size_t)p->k + n);
}

ingot_status ingot_ref_matmul_bnb4(const ingot_kernel_call *call)
{
    const ingot_matmul_bnb4_params *p = call->params;
    return multiply(call, (size_t)(p->transposed ? p->k : p->n), read_bnb4);
}

/* ---- MatMulFpQ4 ---- */

#define HALF            \
    (INGOT_FPQ4_BLOCK / \
     2) /* the first half of a block lies in the low bits of its bytes, the second in the high ones */

static void read_fpq4(const ingot_kernel_call *call, size_t n, size_t k, float *to)
{
    const ingot_matmul_fpq4_params *p = call->params;
    size_t bytes = (size_t)ingot_fpq4_block_bytes(p), blocks = (k + INGOT_FPQ4_BLOCK - 1) / INGOT_FPQ4_BLOCK;
    const uint8_t *column = (const uint8_t *)call->inputs[1]->data + n * blocks * bytes;
    for (size_t i = 0; i < k; i++) {
        const uint8_t *block = column + i / INGOT_FPQ4_BLOCK * bytes;
        size_t at = i % INGOT_FPQ4_BLOCK;
        uint8_t pair = block[sizeof(float) + (size_t)p->kind + at % HALF];
        float scale, zero = p->kind ? (float)block[sizeof(float)] : 8;
        memcpy(&scale, block, sizeof scale);
        to[i] = ((float)(at < HALF ? pair & 15 : pair >> 4) - zero) * scale;
    }
}

ingot_status ingot_ref_matmul_fpq4(const ingot_kernel_call *call)
{
    const ingot_value *a = call->inputs[0];
    return multiply(call, (size_t)a->dims[a->rank - 1], read_fpq4);
}
