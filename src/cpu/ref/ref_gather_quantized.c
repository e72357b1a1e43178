/* GatherBlockQuantized: element by element, with the scale of its block. */
#include "cpu/ref/ref.h"
#include "cpu/ref/ref_iterate.h"
#include "cpu/ref/ref_scratch.h"
#include "ops/ms_gather_quantized.h"

typedef struct gather_job {
    const ingot_kernel_call *call;
    const ingot_gather_quantized_params *params;
    const ingot_value *data, *scales, *zeros; /* zeros NULL: the default of the type */
    int rank, gather_axis, quantize_axis;
    int64_t dims[INGOT_MAX_RANK];          /* of the numbers, unpacked */
    int64_t scale_strides[INGOT_MAX_RANK]; /* 0 on an axis that one scale serves */
    size_t block;
} gather_job;

static double packed_number(const ingot_value *value, size_t index, unsigned bits)
{
    size_t bit = index * bits;
    return (double)((unsigned)((const uint8_t *)value->data)[bit / 8] >> bit % 8 & ((1u << bits) - 1));
}

static double number(const gather_job *job, const ingot_value *value, size_t index)
{
    if (value->element == INGOT_UINT8)
        return packed_number(value, index, (unsigned)job->params->bits);
    return ingot_load_double(value->element, value->data, index);
}

/* Zero point of the block whose scale has that index. Packed ones begin a byte with each row of the last axis. */
static double zero_point(const gather_job *job, size_t scale)
{
    bool packed = job->data->element == INGOT_UINT8;
    if (!job->zeros)
        return packed ? (double)(1u << (job->params->bits - 1)) : 0;
    if (!packed)
        return ingot_load_double(job->zeros->element, job->zeros->data, scale);
    size_t columns = (size_t)job->scales->dims[job->rank - 1];
    size_t bytes = (size_t)job->zeros->dims[job->rank - 1], per_byte = 8 / (size_t)job->params->bits;
    return number(job, job->zeros, scale / columns * bytes * per_byte + scale % columns);
}

/* The number at an index into the unpacked data. */
static double dequantize(const gather_job *job, size_t index)
{
    size_t rest = index, scale = 0;
    for (int i = job->rank - 1; i >= 0; i--) {
        size_t at = rest % (size_t)job->dims[i];
        rest /= (size_t)job->dims[i];
        scale += (i == job->quantize_axis ? at / job->block : at) * (size_t)job->scale_strides[i];
    }
    double factor = ingot_load_double(job->scales->element, job->scales->data, scale);
    return (number(job, job->data, index) - zero_point(job, scale)) * factor;
}

static ingot_status prepare(const ingot_kernel_call *call, gather_job *job)
{
    const ingot_gather_quantized_params *p = call->params;
    const ingot_value *data = call->inputs[0], *scales = call->inputs[2];
    *job = (gather_job){.call = call,
                        .params = p,
                        .data = data,
                        .scales = scales,
                        .zeros = ingot_kernel_has(call, 3) ? call->inputs[3] : NULL,
                        .rank = data->rank,
                        .gather_axis = ingot_axis(p->gather_axis, data->rank),
                        .quantize_axis = ingot_axis(p->quantize_axis, data->rank)};
    for (int i = 0; i < job->rank; i++)
        job->dims[i] = data->dims[i];
    job->dims[job->rank - 1] *= ingot_gather_quantized_packed(p, data->element);
    job->block = (size_t)(p->block_size ? p->block_size : job->dims[job->quantize_axis]);
    ingot_plain_strides(scales->rank, scales->dims, job->scale_strides);
    for (int i = 0; i < job->rank; i++)
        if (scales->dims[i] == 1)
            job->scale_strides[i] = 0;
    if (!job->zeros)
        return INGOT_OK;
    size_t found = ingot_ref_count(job->zeros), scale_count = ingot_ref_count(scales);
    size_t per_byte = data->element == INGOT_UINT8 ? 8 / (size_t)p->bits : 1;
    if (job->zeros->rank != job->rank || found * per_byte < scale_count)
        return ingot_kernel_fail(call, "zero_points has %zu elements for %zu scales", found, scale_count);
    return INGOT_OK;
}

ingot_status ingot_ref_gather_block_quantized(const ingot_kernel_call *call)
{
    gather_job job;
    INGOT_TRY(prepare(call, &job));
    const ingot_value *indices = call->inputs[1];
    ingot_value *y = call->outputs[0];
    ingot_split s = ingot_split_at(job.rank, job.dims, job.gather_axis);
    size_t count = ingot_ref_count(indices), to = 0;
    for (size_t outer = 0; outer < s.outer; outer++)
        for (size_t i = 0; i < count; i++) {
            int64_t at = ingot_load_i64(indices->element, indices->data, i);
            bool inside = at >= -(int64_t)s.size && at < (int64_t)s.size; /* other indices give zeros */
            size_t row = outer * s.size + (size_t)(at < 0 ? at + (int64_t)s.size : at);
            for (size_t k = 0; k < s.inner; k++, to++)
                ingot_store_double(y->element, y->data, to, inside ? dequantize(&job, row * s.inner + k) : 0);
        }
    return INGOT_OK;
}
