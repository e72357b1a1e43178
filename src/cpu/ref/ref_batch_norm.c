/* BatchNormalization: [batch, channels, inner] in double, a channel at a time. */
#include <math.h>

#include "cpu/ref/ref.h"
#include "cpu/ref/ref_iterate.h"
#include "ops/norm.h"

#define CHUNK 256 /* elements converted at a time */

typedef struct channel {
    double mean, variance;
} channel;

/* x: [outer = batch, size = channels, inner]. */
static double sum_channel(const ingot_value *a, ingot_split x, size_t number, double center, bool squares)
{
    double values[CHUNK], sum = 0;
    for (size_t o = 0; o < x.outer; o++)
        for (size_t done = 0; done < x.inner; done += CHUNK) {
            size_t count = x.inner - done < CHUNK ? x.inner - done : CHUNK;
            size_t from = (o * x.size + number) * x.inner + done;
            ingot_read_doubles(a->element, a->data, (int64_t)from, 1, count, values);
            for (size_t i = 0; i < count; i++) {
                double difference = values[i] - center;
                sum += squares ? difference * difference : difference;
            }
        }
    return sum;
}

static channel statistics(const ingot_value *a, ingot_split x, size_t number)
{
    double count = (double)x.outer * (double)x.inner;
    double mean = sum_channel(a, x, number, 0, false) / count;
    return (channel){mean, sum_channel(a, x, number, mean, true) / count};
}

static void normalize(const ingot_kernel_call *call, ingot_split x, size_t number, channel c)
{
    const ingot_batch_norm_params *p = call->params;
    const ingot_value *a = call->inputs[0], *scale = call->inputs[1], *bias = call->inputs[2];
    ingot_value *z = call->outputs[0];
    double factor = ingot_load_double(scale->element, scale->data, number) / sqrt(c.variance + p->epsilon);
    double summand = ingot_load_double(bias->element, bias->data, number), values[CHUNK];
    for (size_t o = 0; o < x.outer; o++)
        for (size_t done = 0; done < x.inner; done += CHUNK) {
            size_t count = x.inner - done < CHUNK ? x.inner - done : CHUNK;
            int64_t at = (int64_t)((o * x.size + number) * x.inner + done);
            ingot_read_doubles(a->element, a->data, at, 1, count, values);
            for (size_t i = 0; i < count; i++)
                values[i] = (values[i] - c.mean) * factor + summand;
            ingot_write_doubles(z->element, z->data, at, 1, count, values);
        }
}

/* Outputs of training: running mean and variance, and (before version 14) those of this batch. */
static void store_statistics(const ingot_kernel_call *call, size_t number, channel running, channel batch)
{
    const double values[] = {0, running.mean, running.variance, batch.mean, batch.variance};
    for (size_t i = 1; i < 5; i++)
        if (ingot_kernel_wants(call, i))
            ingot_store_double(call->outputs[i]->element, call->outputs[i]->data, number, values[i]);
}

ingot_status ingot_ref_batch_norm(const ingot_kernel_call *call)
{
    const ingot_batch_norm_params *p = call->params;
    const ingot_value *a = call->inputs[0], *mean = call->inputs[3], *variance = call->inputs[4];
    ingot_split x = {.outer = (size_t)a->dims[0], .size = 1, .inner = 1};
    if (a->rank > 1)
        x = ingot_split_at(a->rank, a->dims, 1);
    if (p->per_place) {
        x.size *= x.inner;
        x.inner = 1;
    }
    for (size_t i = 0; i < x.size; i++) {
        channel given = {ingot_load_double(mean->element, mean->data, i),
                         ingot_load_double(variance->element, variance->data, i)};
        if (!p->training) {
            normalize(call, x, i, given);
            continue;
        }
        channel batch = statistics(a, x, i);
        double momentum = p->momentum;
        channel running = {given.mean * momentum + batch.mean * (1 - momentum),
                           given.variance * momentum + batch.variance * (1 - momentum)};
        normalize(call, x, i, batch);
        store_statistics(call, i, running, batch);
    }
    return INGOT_OK;
}
