/* MatMulNBits: each row of weights is made floats once, then multiplied with all rows of A. */
#include "cpu/ref/ref_matmul_nbits.h"

#include "cpu/ref/ref.h"
#include "cpu/ref/ref_iterate.h"
#include "cpu/ref/ref_scratch.h"

/* ---- Weights ---- */

unsigned ingot_nbits_unpack(const uint8_t *packed, size_t index, unsigned bits)
{
    size_t bit = index * bits;
    return ((unsigned)packed[bit / 8] >> bit % 8) & ((1u << bits) - 1);
}

float ingot_nbits_zero(const ingot_nbits_weights *w, size_t n, size_t block)
{
    unsigned bits = (unsigned)w->params->bits;
    if (!w->zeros)
        return (float)(1u << (bits - 1));
    if (w->zeros->element != INGOT_UINT8)
        return (float)ingot_load_double(w->zeros->element, w->zeros->data,
                                        n * (size_t)ingot_nbits_blocks(w->params) + block);
    const uint8_t *packed = w->zeros->data;
    return (float)ingot_nbits_unpack(packed + n * (size_t)ingot_nbits_zero_bytes(w->params), block, bits);
}

float ingot_nbits_scale(const ingot_nbits_weights *w, size_t n, size_t block)
{
    size_t index = n * (size_t)ingot_nbits_blocks(w->params) + block;
    return (float)ingot_load_double(w->scales->element, w->scales->data, index);
}

static void read_nibbles(const uint8_t *packed, size_t count, float zero, float factor, float *to)
{
    size_t i = 0;
    for (; i + 2 <= count; i += 2) {
        to[i] = ((float)(packed[i / 2] & 15) - zero) * factor;
        to[i + 1] = ((float)(packed[i / 2] >> 4) - zero) * factor;
    }
    if (i < count)
        to[i] = ((float)(packed[i / 2] & 15) - zero) * factor;
}

void ingot_nbits_read_row(const ingot_nbits_weights *w, size_t n, float *to)
{
    const ingot_matmul_nbits_params *p = w->params;
    size_t k = (size_t)p->k, size = (size_t)p->block_size, blocks = (size_t)ingot_nbits_blocks(p);
    size_t block_bytes = size * (size_t)p->bits / 8;
    const uint8_t *packed = (const uint8_t *)w->b->data + n * blocks * block_bytes;
    for (size_t block = 0; block < blocks; block++, packed += block_bytes, to += size) {
        float zero = ingot_nbits_zero(w, n, block), factor = ingot_nbits_scale(w, n, block);
        size_t count = k - block * size < size ? k - block * size : size;
        if (p->bits == 4)
            read_nibbles(packed, count, zero, factor, to);
        for (size_t i = 0; p->bits != 4 && i < count; i++)
            to[i] = ((float)ingot_nbits_unpack(packed, i, (unsigned)p->bits) - zero) * factor;
    }
}

/* ---- The product ---- */

typedef struct nbits_job {
    const ingot_kernel_call *call;
    const ingot_matmul_nbits_params *params;
    ingot_nbits_weights weights;
    size_t rows;
    const float *a; /* [rows, k] */
    float *row;     /* [k]: a row of weights */
} nbits_job;

static const ingot_value *input(const ingot_kernel_call *call, size_t index)
{
    return ingot_kernel_has(call, index) ? call->inputs[index] : NULL;
}

/* Row n of the weights where a table tells the block of each column. */
static ingot_status read_groups(const nbits_job *job, size_t n, const int32_t *groups)
{
    const ingot_matmul_nbits_params *p = job->params;
    size_t blocks = (size_t)ingot_nbits_blocks(p), row_bytes = blocks * (size_t)(p->block_size * p->bits / 8);
    const uint8_t *packed = (const uint8_t *)job->weights.b->data + n * row_bytes;
    for (size_t i = 0; i < (size_t)p->k; i++) {
        if (groups[i] < 0 || (size_t)groups[i] >= blocks)
            return ingot_kernel_fail(job->call, "g_idx holds %d, but there are %zu blocks", (int)groups[i], blocks);
        size_t block = (size_t)groups[i];
        float q = (float)ingot_nbits_unpack(packed, i, (unsigned)p->bits);
        job->row[i] = (q - ingot_nbits_zero(&job->weights, n, block)) * ingot_nbits_scale(&job->weights, n, block);
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
    const ingot_value *bias = input(job->call, INGOT_NBITS_BIAS);
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
    *job = (nbits_job){.call = call, .params = p, .rows = count / (size_t)p->k};
    job->weights = (ingot_nbits_weights){p, call->inputs[INGOT_NBITS_B], call->inputs[INGOT_NBITS_SCALES],
                                         input(call, INGOT_NBITS_ZEROS)};
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
    const ingot_value *groups = input(call, INGOT_NBITS_GROUPS);
    nbits_job job;
    INGOT_TRY(prepare(call, &job));
    bool weights = ingot_ref_count(job.weights.b) > 0;
    if (weights && groups && ingot_ref_count(groups) < (size_t)p->k)
        return ingot_kernel_fail(call, "g_idx has %zu elements, but must have K = %lld", ingot_ref_count(groups),
                                 (long long)p->k);
    for (size_t n = 0; n < (size_t)p->n; n++) {
        if (weights && groups)
            INGOT_TRY(read_groups(&job, n, groups->data));
        else if (weights)
            ingot_nbits_read_row(&job.weights, n, job.row);
        multiply(&job, n, weights);
    }
    return INGOT_OK;
}
