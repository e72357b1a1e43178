/* LinearClassifier, LinearRegressor, Normalizer, Scaler, ZipMap. */
#include <math.h>

#include "cpu/ref/ref.h"
#include "cpu/ref/ref_iterate.h"
#include "cpu/ref/ref_ml.h"
#include "cpu/ref/ref_scratch.h"
#include "ops/linear.h"

/* ---- Linear models ---- */

typedef struct linear_job {
    size_t rows;
    double *features, *scores;
} linear_job;

/* Room for at least two scores: a single one may be spread over two classes. */
static ingot_status prepare(const ingot_kernel_call *call, linear_job *job)
{
    const ingot_linear_params *p = call->params;
    const ingot_value *x = call->inputs[0];
    job->rows = x->rank == 2 ? (size_t)x->dims[0] : 1;
    size_t elements[] = {p->columns, p->outputs + 1}, sizes[] = {sizeof(double), sizeof(double)};
    void *parts[2];
    INGOT_TRY(ingot_ref_scratch(call, 2, elements, sizes, parts));
    job->features = parts[0];
    job->scores = parts[1];
    return INGOT_OK;
}

static void score_row(const ingot_kernel_call *call, const linear_job *job, size_t row)
{
    const ingot_linear_params *p = call->params;
    ingot_ref_to_doubles(call->inputs[0], row * p->columns, p->columns, job->features);
    for (size_t i = 0; i < p->outputs; i++) {
        double sum = p->intercepts.count ? (double)p->intercepts.data[i] : 0;
        for (size_t j = 0; j < p->columns; j++)
            sum += job->features[j] * (double)p->coefficients.data[i * p->columns + j];
        job->scores[i] = sum;
    }
}

ingot_status ingot_ref_linear_classifier(const ingot_kernel_call *call)
{
    const ingot_linear_params *p = call->params;
    size_t classes = p->labels.count;
    linear_job job;
    INGOT_TRY(prepare(call, &job));
    INGOT_TRY(ingot_ref_reset_strings(call, 0));
    for (size_t row = 0; row < job.rows; row++) {
        score_row(call, &job, row);
        if (p->outputs < classes) {
            job.scores[1] = job.scores[0];
            job.scores[0] = -job.scores[1];
        }
        if (ingot_kernel_wants(call, 0))
            INGOT_TRY(ingot_ref_set_label(call, 0, row, &p->labels, ingot_ref_top(job.scores, classes)));
        if (!ingot_kernel_wants(call, 1))
            continue;
        ingot_ref_post_transform((ingot_post_transform)p->post_transform, job.scores, classes);
        ingot_write_doubles(INGOT_FLOAT, call->outputs[1]->data, (int64_t)(row * classes), 1, classes, job.scores);
    }
    return INGOT_OK;
}

ingot_status ingot_ref_linear_regressor(const ingot_kernel_call *call)
{
    const ingot_linear_params *p = call->params;
    linear_job job;
    INGOT_TRY(prepare(call, &job));
    for (size_t row = 0; row < job.rows; row++) {
        score_row(call, &job, row);
        ingot_ref_post_transform((ingot_post_transform)p->post_transform, job.scores, p->outputs);
        ingot_write_doubles(INGOT_FLOAT, call->outputs[0]->data, (int64_t)(row * p->outputs), 1, p->outputs,
                            job.scores);
    }
    return INGOT_OK;
}

/* ---- Normalizer and Scaler ---- */

static double norm_of(ingot_norm norm, const double *row, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        double x = fabs(row[i]);
        if (norm == INGOT_NORM_MAX)
            sum = x > sum || isnan(x) ? x : sum;
        else
            sum += norm == INGOT_NORM_L1 ? x : x * x;
    }
    return norm == INGOT_NORM_L2 ? sqrt(sum) : sum;
}

ingot_status ingot_ref_normalizer(const ingot_kernel_call *call)
{
    const ingot_normalizer_params *p = call->params;
    const ingot_value *x = call->inputs[0];
    size_t columns = (size_t)x->dims[x->rank - 1], rows = x->rank == 2 ? (size_t)x->dims[0] : 1;
    void *row;
    INGOT_TRY(ingot_ref_scratch(call, 1, &columns, &(size_t){sizeof(double)}, &row));
    double *values = row;
    for (size_t r = 0; r < rows; r++) {
        ingot_ref_to_doubles(x, r * columns, columns, values);
        double norm = norm_of((ingot_norm)p->norm, values, columns);
        for (size_t i = 0; norm != 0 && i < columns; i++)
            values[i] /= norm;
        ingot_write_doubles(INGOT_FLOAT, call->outputs[0]->data, (int64_t)(r * columns), 1, columns, values);
    }
    return INGOT_OK;
}

static double column_value(const ingot_floats *list, size_t column, double fallback)
{
    return list->count == 0 ? fallback : (double)list->data[list->count == 1 ? 0 : column];
}

ingot_status ingot_ref_scaler(const ingot_kernel_call *call)
{
    const ingot_scaler_params *p = call->params;
    const ingot_value *x = call->inputs[0];
    float *y = call->outputs[0]->data;
    size_t columns = (size_t)x->dims[x->rank - 1], count = ingot_ref_count(x);
    for (size_t i = 0; i < count; i++) {
        double value = ingot_load_double(x->element, x->data, i);
        size_t column = i % columns;
        y[i] = (float)((value - column_value(&p->offset, column, 0)) * column_value(&p->scale, column, 1));
    }
    return INGOT_OK;
}

/* ---- ZipMap ---- */

static ingot_status fill_keys(const ingot_kernel_call *call, const ingot_class_labels *labels, ingot_value *keys)
{
    int64_t count = (int64_t)labels->count;
    INGOT_TRY(ingot_value_set_tensor(keys, labels->element, 1, &count, call->error));
    for (size_t i = 0; i < labels->count; i++) {
        if (labels->element == INGOT_STRING)
            INGOT_TRY(
                ingot_value_set_string(keys, i, labels->texts.data[i].data, labels->texts.data[i].size, call->error));
        else
            ((int64_t *)keys->data)[i] = labels->ints.data[i];
    }
    return INGOT_OK;
}

ingot_status ingot_ref_zip_map(const ingot_kernel_call *call)
{
    const ingot_zip_map_params *p = call->params;
    const ingot_value *x = call->inputs[0];
    size_t rows = x->rank == 2 ? (size_t)x->dims[0] : 1, columns = p->labels.count;
    INGOT_TRY(ingot_value_set_list(call->outputs[0], INGOT_KIND_SEQUENCE, INGOT_FLOAT, call->error));
    for (size_t row = 0; row < rows; row++) {
        ingot_value *map, *keys, *values;
        INGOT_TRY(ingot_value_add_item(call->outputs[0], &map, call->error));
        INGOT_TRY(ingot_value_set_list(map, INGOT_KIND_MAP, p->labels.element, call->error));
        INGOT_TRY(ingot_value_add_item(map, &keys, call->error));
        INGOT_TRY(fill_keys(call, &p->labels, keys));
        INGOT_TRY(ingot_value_add_item(map, &values, call->error));
        INGOT_TRY(ingot_value_set_tensor(values, INGOT_FLOAT, 1, &(int64_t){(int64_t)columns}, call->error));
        ingot_copy_elements(32, values->data, 0, x->data, row * columns, columns);
    }
    return INGOT_OK;
}
