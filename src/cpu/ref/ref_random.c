/* RandomNormal, RandomUniform and their Like forms, Bernoulli, Multinomial, Dropout. */
#include <math.h>

#include "base/random.h"
#include "cpu/ref/ref.h"
#include "cpu/ref/ref_move.h"
#include "ops/random.h"

#define BLOCK 256

/* Binary digits of a number in [0, 1) that the type holds without rounding up to 1. */
static int digits_of(ingot_element element)
{
    return element == INGOT_DOUBLE ? 53 : element == INGOT_FLOAT ? 24 : element == INGOT_FLOAT16 ? 11 : 8;
}

ingot_status ingot_ref_random(const ingot_kernel_call *call)
{
    const ingot_random_params *p = call->params;
    ingot_value *y = call->outputs[0];
    uint64_t key = ingot_random_key(&p->seed);
    size_t count = ingot_ref_count(y);
    int digits = digits_of(y->element);
    double numbers[BLOCK], a = (double)p->a, b = (double)p->b;
    for (size_t first = 0; first < count; first += BLOCK) {
        size_t block = count - first < BLOCK ? count - first : BLOCK;
        for (size_t i = 0; i < block; i++)
            numbers[i] = p->normal ? a + b * ingot_random_normal(key, first + i)
                                   : a + (b - a) * ingot_random_uniform(key, first + i, digits);
        ingot_write_doubles(y->element, y->data, (int64_t)first, 1, block, numbers);
    }
    return INGOT_OK;
}

ingot_status ingot_ref_bernoulli(const ingot_kernel_call *call)
{
    const ingot_random_params *p = call->params;
    const ingot_value *x = call->inputs[0];
    ingot_value *y = call->outputs[0];
    uint64_t key = ingot_random_key(&p->seed);
    size_t count = ingot_ref_count(y);
    for (size_t i = 0; i < count; i++) {
        double probability = ingot_load_double(x->element, x->data, i);
        ingot_store_double(y->element, y->data, i, ingot_random_uniform(key, i, 53) < probability ? 1 : 0);
    }
    return INGOT_OK;
}

/* ---- Multinomial ---- */

/* Logarithms of weights become sums of weights up to each class; returns the sum of all. */
static double add_up(double *x, size_t count)
{
    double largest = -INFINITY, sum = 0;
    for (size_t i = 0; i < count; i++)
        largest = x[i] > largest ? x[i] : largest;
    for (size_t i = 0; i < count; i++) {
        sum += exp(x[i] - largest);
        x[i] = sum;
    }
    return sum;
}

/* The first class whose sum is above a number less than the last sum. */
static size_t class_at(const double *sums, size_t count, double number)
{
    size_t low = 0, high = count - 1;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (sums[middle] > number)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

ingot_status ingot_ref_multinomial(const ingot_kernel_call *call)
{
    const ingot_random_params *p = call->params;
    const ingot_value *x = call->inputs[0];
    ingot_value *y = call->outputs[0];
    size_t rows = (size_t)x->dims[0], classes = (size_t)x->dims[1], samples = (size_t)p->sample_size, bytes;
    uint64_t key = ingot_random_key(&p->seed);
    void *sums;
    if (classes == 0 && rows > 0 && samples > 0)
        return ingot_kernel_fail(call, "the input has no classes to draw from");
    if (!ingot_mul_size(classes, sizeof(double), &bytes))
        return ingot_kernel_fail(call, "the input has too many classes");
    INGOT_TRY(ingot_kernel_scratch(call, bytes, &sums));
    for (size_t row = 0; row < rows; row++) {
        ingot_read_doubles(x->element, x->data, (int64_t)(row * classes), 1, classes, sums);
        double sum = add_up(sums, classes);
        if (!(sum > 0) || isinf(sum))
            return ingot_kernel_fail(call, "row %zu of the input gives no class a probability", row);
        for (size_t i = 0; i < samples; i++) {
            double number = sum * ingot_random_uniform(key, row * samples + i, 53);
            ingot_store_i64(y->element, y->data, row * samples + i, (int64_t)class_at(sums, classes, number));
        }
    }
    return INGOT_OK;
}

/* ---- Dropout ---- */

static ingot_status read_ratio(const ingot_kernel_call *call, double *ratio)
{
    *ratio = 0;
    if (!ingot_kernel_has(call, 2) || !ingot_ref_integer(call->inputs[2], 0))
        return INGOT_OK;
    *ratio = ingot_kernel_has(call, 1) ? ingot_load_double(call->inputs[1]->element, call->inputs[1]->data, 0) : .5;
    if (*ratio >= 0 && *ratio < 1)
        return INGOT_OK;
    return ingot_kernel_fail(call, "input 1 'ratio' is %g, but must be at least 0 and less than 1", *ratio);
}

static void drop(const ingot_kernel_call *call, uint64_t key, double ratio)
{
    const ingot_value *x = call->inputs[0];
    ingot_value *y = ingot_kernel_wants(call, 0) ? call->outputs[0] : NULL;
    ingot_value *mask = ingot_kernel_wants(call, 1) ? call->outputs[1] : NULL;
    size_t count = ingot_ref_count(x);
    for (size_t i = 0; i < count; i++) {
        bool kept = ingot_random_uniform(key, i, 53) >= ratio;
        if (mask)
            ingot_store_double(mask->element, mask->data, i, kept);
        if (y)
            ingot_store_double(y->element, y->data, i,
                               ingot_load_double(x->element, x->data, i) * (kept ? 1 / (1 - ratio) : 0));
    }
}

ingot_status ingot_ref_dropout(const ingot_kernel_call *call)
{
    const ingot_dropout_params *p = call->params;
    double ratio;
    INGOT_TRY(read_ratio(call, &ratio));
    if (ratio > 0) {
        drop(call, p->has_seed ? (uint64_t)p->seed : ingot_random_new_key(), ratio);
        return INGOT_OK;
    }
    if (ingot_kernel_wants(call, 1)) {
        ingot_value *mask = call->outputs[1];
        size_t count = ingot_ref_count(mask);
        for (size_t i = 0; i < count; i++)
            ingot_store_double(mask->element, mask->data, i, 1);
    }
    return ingot_kernel_wants(call, 0) ? ingot_ref_copy_all(call, call->outputs[0], call->inputs[0]) : INGOT_OK;
}
