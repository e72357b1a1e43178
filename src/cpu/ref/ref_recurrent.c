/* LSTM, GRU, RNN: in doubles throughout, one sequence of the batch after the other. */
#include <math.h>
#include <string.h>

#include "cpu/ref/ref.h"
#include "cpu/ref/ref_iterate.h"
#include "cpu/ref/ref_recurrent.h"
#include "cpu/ref/ref_scratch.h"
#include "ops/quantize.h"
#include "ops/recurrent.h"

typedef struct cell_job cell_job;

/* One step of one sequence: reads job->x, h (and c), replaces h (and c). */
typedef void (*cell_step)(const cell_job *job, const ingot_cell_activation *functions);

struct cell_job {
    const ingot_kernel_call *call;
    const ingot_recurrent_params *params;
    size_t steps, batch, features, hidden, rows; /* rows: gates * hidden */
    size_t columns;                              /* of W: features, and what is fed back */
    cell_step step;
    ingot_ref_feedback *feedback; /* NULL: none */
    const int32_t *lengths;
    /* Of one direction: */
    double *w, *r;                  /* [rows, columns], [rows, hidden] */
    double *w_bias, *r_bias;        /* [rows] */
    double *peepholes;              /* LSTM: [3, hidden]; zeros where there are none */
    double *x, *h, *c;              /* of one sequence */
    double *gates, *products, *old; /* [rows], [rows], [hidden] */
};

/* ---- Vector parts ---- */

static double dot(const double *a, const double *b, size_t count)
{
    double sums[8] = {0};
    size_t i = 0;
    for (; i + 8 <= count; i += 8)
        for (size_t j = 0; j < 8; j++)
            sums[j] += a[i + j] * b[i + j];
    for (; i < count; i++)
        sums[i % 8] += a[i] * b[i];
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

void ingot_ref_multiply(const double *matrix, const double *x, const double *bias, size_t rows, size_t columns,
                        double *y)
{
    for (size_t row = 0; row < rows; row++)
        y[row] = dot(matrix + row * columns, x, columns) + (bias ? bias[row] : 0);
}

/* The state that R is multiplied by. */
static const double *state_for_product(const cell_job *job)
{
    float low = 0, high = 0;
    if (!job->params->byte_state)
        return job->h;
    for (size_t i = 0; i < job->hidden; i++) {
        low = fminf(low, (float)job->h[i]);
        high = fmaxf(high, (float)job->h[i]);
    }
    ingot_dynamic_scale s = ingot_dynamic_scale_of(low, high);
    for (size_t i = 0; i < job->hidden; i++)
        job->old[i] = (double)((ingot_dynamic_code(&s, (float)job->h[i]) - s.zero) * s.scale);
    return job->old;
}

static double activation(const ingot_cell_activation *f, double x)
{
    double alpha = (double)f->alpha, beta = (double)f->beta;
    switch (f->kind) {
    case INGOT_CELL_RELU:
        return x < 0 ? 0 : x;
    case INGOT_CELL_TANH:
        return tanh(x);
    case INGOT_CELL_SIGMOID:
        return 1 / (1 + exp(-x));
    case INGOT_CELL_AFFINE:
        return alpha * x + beta;
    case INGOT_CELL_LEAKY_RELU:
        return x < 0 ? alpha * x : x;
    case INGOT_CELL_THRESHOLDED_RELU:
        return x >= alpha || isnan(x) ? x : 0;
    case INGOT_CELL_SCALED_TANH:
        return alpha * tanh(beta * x);
    case INGOT_CELL_HARD_SIGMOID:
        x = alpha * x + beta;
        return x < 0 ? 0 : x > 1 ? 1 : x;
    case INGOT_CELL_ELU:
        return x < 0 ? alpha * expm1(x) : x;
    case INGOT_CELL_SOFTSIGN:
        return x / (1 + fabs(x));
    case INGOT_CELL_SOFTPLUS:
        return (x > 0 ? x : 0) + log1p(exp(-fabs(x)));
    case INGOT_CELL_ACTIVATION_COUNT:
        break;
    }
    return x;
}

/* f(x) with x clipped. */
static double apply(const cell_job *job, const ingot_cell_activation *f, double x)
{
    if (job->params->has_clip) {
        double clip = (double)job->params->clip;
        x = x < -clip ? -clip : x > clip ? clip : x;
    }
    return activation(f, x);
}

/* ---- Cells ---- */

static void step_lstm(const cell_job *job, const ingot_cell_activation *f)
{
    size_t n = job->hidden;
    const double *p = job->peepholes;
    double *gates = job->gates;
    ingot_ref_multiply(job->w, job->x, job->w_bias, job->rows, job->columns, gates);
    ingot_ref_multiply(job->r, state_for_product(job), job->r_bias, job->rows, n, job->products);
    for (size_t i = 0; i < job->rows; i++)
        gates[i] += job->products[i];
    for (size_t j = 0; j < n; j++) { /* gates in the order i, o, f, c */
        double input = apply(job, &f[0], gates[j] + p[j] * job->c[j]);
        double forget =
            job->params->input_forget ? 1 - input : apply(job, &f[0], gates[2 * n + j] + p[2 * n + j] * job->c[j]);
        double candidate = apply(job, &f[1], gates[3 * n + j]);
        job->c[j] = forget * job->c[j] + input * candidate;
        double output = apply(job, &f[0], gates[n + j] + p[n + j] * job->c[j]);
        job->h[j] = output * activation(&f[2], job->c[j]);
    }
}

static void step_gru(const cell_job *job, const ingot_cell_activation *f)
{
    size_t n = job->hidden;
    double *gates = job->gates, *products = job->products;
    ingot_ref_multiply(job->w, job->x, job->w_bias, job->rows, job->columns, gates);
    ingot_ref_multiply(job->r, job->h, job->r_bias, 2 * n, n, products);
    for (size_t j = 0; j < 2 * n; j++) /* gates in the order z, r, h */
        gates[j] = apply(job, &f[0], gates[j] + products[j]);
    const double *reset = gates + n;
    if (job->params->linear_before_reset) {
        ingot_ref_multiply(job->r + 2 * n * n, job->h, job->r_bias + 2 * n, n, n, products);
        for (size_t j = 0; j < n; j++)
            products[j] *= reset[j];
    } else {
        for (size_t j = 0; j < n; j++)
            job->old[j] = reset[j] * job->h[j];
        ingot_ref_multiply(job->r + 2 * n * n, job->old, job->r_bias + 2 * n, n, n, products);
    }
    for (size_t j = 0; j < n; j++) {
        double candidate = apply(job, &f[1], gates[2 * n + j] + products[j]);
        job->h[j] = (1 - gates[j]) * candidate + gates[j] * job->h[j];
    }
}

static void step_rnn(const cell_job *job, const ingot_cell_activation *f)
{
    ingot_ref_multiply(job->w, job->x, job->w_bias, job->rows, job->columns, job->gates);
    ingot_ref_multiply(job->r, job->h, job->r_bias, job->rows, job->hidden, job->products);
    for (size_t j = 0; j < job->hidden; j++)
        job->h[j] = apply(job, &f[0], job->gates[j] + job->products[j]);
}

/* ---- Sequences ---- */

/* Element of the start of a state [directions, batch, hidden] or [batch, directions, hidden]. */
static size_t state_at(const cell_job *job, size_t direction, size_t sequence)
{
    size_t directions = (size_t)job->params->directions;
    return (job->params->batch_first ? sequence * directions + direction : direction * job->batch + sequence) *
           job->hidden;
}

static void load_or_zero(const ingot_kernel_call *call, size_t input, size_t first, size_t count, double *to)
{
    if (ingot_kernel_has(call, input))
        ingot_ref_to_doubles(call->inputs[input], first, count, to);
    else
        memset(to, 0, count * sizeof *to);
}

static void store(const ingot_kernel_call *call, size_t output, size_t first, size_t count, const double *from)
{
    if (ingot_kernel_wants(call, output))
        ingot_write_doubles(call->outputs[output]->element, call->outputs[output]->data, (int64_t)first, 1, count,
                            from);
}

static void run_sequence(const cell_job *job, size_t direction, size_t sequence)
{
    const ingot_kernel_call *call = job->call;
    bool batch_first = job->params->batch_first;
    size_t directions = (size_t)job->params->directions;
    size_t length = job->lengths ? (size_t)job->lengths[sequence] : job->steps;
    load_or_zero(call, 5, state_at(job, direction, sequence), job->hidden, job->h);
    if (job->params->gates == 4)
        load_or_zero(call, 6, state_at(job, direction, sequence), job->hidden, job->c);
    if (job->feedback) {
        memset(job->x + job->features, 0, job->feedback->size * sizeof *job->x);
        job->feedback->begin(job->feedback, direction, sequence);
    }
    for (size_t i = 0; i < length; i++) {
        size_t step = job->params->reverse[direction] ? length - 1 - i : i;
        size_t x_row = batch_first ? sequence * job->steps + step : step * job->batch + sequence;
        size_t y_row =
            batch_first ? x_row * directions + direction : (step * directions + direction) * job->batch + sequence;
        ingot_ref_to_doubles(call->inputs[0], x_row * job->features, job->features, job->x);
        job->step(job, job->params->functions[direction]);
        store(call, 0, y_row * job->hidden, job->hidden, job->h);
        if (job->feedback)
            job->feedback->step(job->feedback, sequence, job->h, job->x + job->features);
    }
    store(call, 1, state_at(job, direction, sequence), job->hidden, job->h);
    if (job->params->gates == 4)
        store(call, 2, state_at(job, direction, sequence), job->hidden, job->c);
}

static ingot_status check_lengths(const ingot_kernel_call *call, cell_job *job)
{
    job->lengths = ingot_kernel_has(call, 4) ? call->inputs[4]->data : NULL;
    for (size_t i = 0; job->lengths && i < job->batch; i++) {
        if (job->lengths[i] < 0 || (size_t)job->lengths[i] > job->steps)
            return ingot_kernel_fail(call, "sequence_lens[%zu] is %d, expected 0 to %zu, the steps of X", i,
                                     (int)job->lengths[i], job->steps);
    }
    return INGOT_OK;
}

static ingot_status allocate(const ingot_kernel_call *call, cell_job *job)
{
    size_t n = job->hidden, rows = job->rows, w_count, r_count;
    size_t more = job->feedback ? job->feedback->scratch : 0;
    double *unused, **memory = job->feedback ? &job->feedback->memory : &unused;
    if (!ingot_mul_size(rows, job->columns, &w_count) || !ingot_mul_size(rows, n, &r_count))
        return ingot_kernel_fail(call, "the weights have too many elements");
    size_t elements[] = {w_count, r_count, rows, rows, 3 * n, job->columns, n, n, rows, rows, n, more};
    enum { PARTS = sizeof elements / sizeof *elements };
    size_t sizes[PARTS];
    void *parts[PARTS];
    for (size_t i = 0; i < PARTS; i++)
        sizes[i] = sizeof(double);
    INGOT_TRY(ingot_ref_scratch(call, PARTS, elements, sizes, parts));
    double **places[PARTS] = {&job->w, &job->r, &job->w_bias, &job->r_bias,   &job->peepholes, &job->x,
                              &job->h, &job->c, &job->gates,  &job->products, &job->old,       memory};
    for (size_t i = 0; i < PARTS; i++)
        *places[i] = parts[i];
    return INGOT_OK;
}

static ingot_status run(const ingot_kernel_call *call, cell_step step, ingot_ref_feedback *feedback)
{
    const ingot_recurrent_params *p = call->params;
    const ingot_value *x = call->inputs[0];
    cell_job job = {.call = call, .params = p, .step = step, .feedback = feedback};
    job.steps = (size_t)x->dims[p->batch_first ? 1 : 0];
    job.batch = (size_t)x->dims[p->batch_first ? 0 : 1];
    job.features = (size_t)x->dims[2];
    job.columns = job.features + (feedback ? feedback->size : 0);
    job.hidden = (size_t)call->inputs[2]->dims[2];
    job.rows = (size_t)p->gates * job.hidden;
    INGOT_TRY(check_lengths(call, &job));
    INGOT_TRY(allocate(call, &job));
    if (ingot_kernel_wants(call, 0)) /* steps past a sequence's end stay zero */
        ingot_ref_zero(call->outputs[0]);
    for (size_t d = 0; d < (size_t)p->directions; d++) {
        ingot_ref_to_doubles(call->inputs[1], d * job.rows * job.columns, job.rows * job.columns, job.w);
        ingot_ref_to_doubles(call->inputs[2], d * job.rows * job.hidden, job.rows * job.hidden, job.r);
        load_or_zero(call, 3, 2 * d * job.rows, job.rows, job.w_bias);
        load_or_zero(call, 3, (2 * d + 1) * job.rows, job.rows, job.r_bias);
        load_or_zero(call, p->gates == 4 ? 7 : SIZE_MAX, 3 * d * job.hidden, 3 * job.hidden, job.peepholes);
        for (size_t sequence = 0; sequence < job.batch; sequence++)
            run_sequence(&job, d, sequence);
    }
    return INGOT_OK;
}

ingot_status ingot_ref_lstm(const ingot_kernel_call *call)
{
    return run(call, step_lstm, NULL);
}

ingot_status ingot_ref_gru(const ingot_kernel_call *call)
{
    return run(call, step_gru, NULL);
}

ingot_status ingot_ref_rnn(const ingot_kernel_call *call)
{
    return run(call, step_rnn, NULL);
}

ingot_status ingot_ref_lstm_with(const ingot_kernel_call *call, ingot_ref_feedback *feedback)
{
    return run(call, step_lstm, feedback);
}
