/* MatMulNBits: each row of weights is made floats once, then multiplied with all rows of A. */
#include <string.h>

#include "cpu/ref/ref.h"
#include "cpu/ref/ref_iterate.h"
#include "cpu/ref/ref_scratch.h"
#include "ops/ms_matmul_nbits.h"

typedef struct nbits_job {
    const ingot_kernel_call *call;
    const ingot_matmul_nbits_params *params;
    size_t rows, blocks;
    const float *a; /* [rows, k] */
    float *row;     /* [k]: a row of weights */
} nbits_job;

static const ingot_value *input(const nbits_job *job, size_t index)
{
    return ingot_kernel_has(job->call, index) ? job->call->inputs[index] : NULL;
}

/* Number index of those packed from the low bits on. */
static unsigned unpack(const uint8_t *packed, size_t index, unsigned bits)
{
    size_t bit = index * bits;
    return ((unsigned)packed[bit / 8] >> bit % 8) & ((1u << bits) - 1);
}

static float zero_point(const nbits_job *job, size_t n, size_t block)
{
    const ingot_value *zeros = input(job, INGOT_NBITS_ZEROS);
    unsigned bits = (unsigned)job->params->bits;
    if (!zeros)
        return (float)(1u << (bits - 1));
    if (zeros->element != INGOT_UINT8)
        return (float)ingot_load_double(zeros->element, zeros->data, n * job->blocks + block);
    const uint8_t *packed = zeros->data;
    return (float)unpack(packed + n * (size_t)ingot_nbits_zero_bytes(job->params), block, bits);
}

static float scale(const nbits_job *job, size_t n, size_t block)
{
    const ingot_value *scales = job->call->inputs[INGOT_NBITS_SCALES];
    return (float)ingot_load_double(scales->element, scales->data, n * job->blocks + block);
}

/* Row n of the weights where a block is block_size neighbours. */
static void dequantize_blocks(const nbits_job *job, size_t n, const uint8_t *packed)
{
    size_t k = (size_t)job->params->k, size = (size_t)job->params->block_size;
    for (size_t block = 0; block < job->blocks; block++) {
        float zero = zero_point(job, n, block), factor = scale(job, n, block);
        size_t end = (block + 1) * size < k ? (block + 1) * size : k;
        for (size_t i = block * size; i < end; i++)
            job->row[i] = ((float)unpack(packed, i, (unsigned)job->params->bits) - zero) * factor;
    }
}

/* The same where a table tells the block of each column. */
static ingot_status dequantize_groups(const nbits_job *job, size_t n, const uint8_t *packed, const int32_t *groups)
{
    for (size_t i = 0; i < (size_t)job->params->k; i++) {
        if (groups[i] < 0 || (size_t)groups[i] >= job->blocks)
            return ingot_kernel_fail(job->call, "g_idx holds %d, but there are %zu blocks", (int)groups[i],
                                     job->blocks);
        size_t block = (size_t)groups[i];
        float q = (float)unpack(packed, i, (unsigned)job->params->bits);
        job->row[i] = (q - zero_point(job, n, block)) * scale(job, n, block);
    }
    return INGOT_OK;
}

static double dot(const float *a, const float *b, size_t count)
{
    double sums[4] = {0, 0, 0, 0};
    size_t i = 0;
    for (; i + 4 <= count; i += 4)
        for (size_t j = 0; j < 4; j++)
            sums[j] += (double)a[i + j] * (double)b[i + j];
    for (; i < count; i++)
        sums[0] += (double)a[i] * (double)b[i];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/* Column n of the output. */
static void multiply(const nbits_job *job, size_t n, bool weights)
{
    const ingot_value *bias = input(job, INGOT_NBITS_BIAS);
    ingot_value *y = job->call->outputs[0];
    size_t k = (size_t)job->params->k, columns = (size_t)job->params->n;
    double start = bias ? ingot_load_double(bias->element, bias->data, n) : 0;
    for (size_t m = 0; m < job->rows; m++) {
        double sum = start + (weights ? dot(job->a + m * k, job->row, k) : 0);
        ingot_store_double(y->element, y->data, m * columns + n, sum);
    }
}

static ingot_status prepare(const ingot_kernel_call *call, nbits_job *job)
{
    const ingot_matmul_nbits_params *p = call->params;
    const ingot_value *a = call->inputs[INGOT_NBITS_A];
    size_t count = ingot_ref_count(a);
    *job =
        (nbits_job){.call = call, .params = p, .blocks = (size_t)ingot_nbits_blocks(p), .rows = count / (size_t)p->k};
    bool copies = a->element != INGOT_FLOAT;
    size_t elements[] = {(size_t)p->k, copies ? count : 0}, sizes[] = {sizeof(float), sizeof(float)};
    void *parts[2];
    INGOT_TRY(ingot_ref_scratch(call, 2, elements, sizes, parts));
    job->row = parts[0];
    job->a = copies ? parts[1] : a->data;
    if (copies)
        ingot_read_floats(a->element, a->data, 0, 1, count, parts[1]);
    return INGOT_OK;
}

ingot_status ingot_ref_matmul_nbits(const ingot_kernel_call *call)
{
    const ingot_matmul_nbits_params *p = call->params;
    nbits_job job;
    INGOT_TRY(prepare(call, &job));
    const ingot_value *b = call->inputs[INGOT_NBITS_B], *groups = input(&job, INGOT_NBITS_GROUPS);
    bool weights = ingot_ref_count(b) > 0;
    if (weights && groups && ingot_ref_count(groups) < (size_t)p->k)
        return ingot_kernel_fail(call, "g_idx has %zu elements, but must have K = %lld", ingot_ref_count(groups),
                                 (long long)p->k);
    size_t row_bytes = job.blocks * (size_t)(p->block_size * p->bits / 8);
    for (size_t n = 0; n < (size_t)p->n; n++) {
        const uint8_t *packed = weights ? (const uint8_t *)b->data + n * row_bytes : NULL;
        if (weights && groups)
            INGOT_TRY(dequantize_groups(&job, n, packed, groups->data));
        else if (weights)
            dequantize_blocks(&job, n, packed);
        multiply(&job, n, weights);
    }
    return INGOT_OK;
}
