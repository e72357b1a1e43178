/* Adam, Adagrad and Momentum: one step of an optimizer, in double. */
#include <math.h>

#include "base/number.h"
#include "cpu/ref/ref.h"
#include "cpu/ref/ref_scratch.h"
#include "ops/optimizer.h"

/* One element: x and what is remembered of it, memory[], are brought up to date. */
typedef struct step {
    double rate;  /* with what the update count does to it */
    double count; /* T */
} step;

typedef void (*update)(const ingot_optimizer_params *p, step s, double *x, double gradient, double *memory);

static void adam(const ingot_optimizer_params *p, step s, double *x, double gradient, double *memory)
{
    double alpha = (double)p->alpha, beta = (double)p->beta, g = (double)p->norm * *x + gradient;
    memory[0] = alpha * memory[0] + (1 - alpha) * g;
    memory[1] = beta * memory[1] + (1 - beta) * g * g;
    *x -= s.rate * memory[0] / (sqrt(memory[1]) + (double)p->epsilon);
    *x *= 1 - (double)p->norm_post;
}

static void adagrad(const ingot_optimizer_params *p, step s, double *x, double gradient, double *memory)
{
    double g = (double)p->norm * *x + gradient;
    memory[0] += g * g;
    *x -= s.rate * g / (sqrt(memory[0]) + (double)p->epsilon);
}

static void momentum(const ingot_optimizer_params *p, step s, double *x, double gradient, double *memory)
{
    double g = (double)p->norm * *x + gradient;
    memory[0] = (double)p->alpha * memory[0] + (s.count > 0 ? (double)p->beta : 1) * g;
    *x -= s.rate * (p->nesterov ? g + (double)p->alpha * memory[0] : memory[0]);
}

static void update_tensor(const ingot_kernel_call *call, size_t index, step s, update function)
{
    const ingot_optimizer_params *p = call->params;
    size_t n = p->tensors, memories = p->groups - 2;
    const ingot_value *x = call->inputs[2 + index], *g = call->inputs[2 + n + index];
    size_t count = ingot_ref_count(x);
    for (size_t i = 0; i < count; i++) {
        double value = ingot_load_double(x->element, x->data, i), memory[2] = {0, 0};
        for (size_t m = 0; m < memories; m++)
            memory[m] = ingot_load_double(x->element, call->inputs[2 + (2 + m) * n + index]->data, i);
        function(p, s, &value, ingot_load_double(g->element, g->data, i), memory);
        if (ingot_kernel_wants(call, index))
            ingot_store_double(x->element, call->outputs[index]->data, i, value);
        for (size_t m = 0; m < memories; m++)
            if (ingot_kernel_wants(call, (1 + m) * n + index))
                ingot_store_double(x->element, call->outputs[(1 + m) * n + index]->data, i, memory[m]);
    }
}

static ingot_status read_step(const ingot_kernel_call *call, step *s)
{
    INGOT_TRY(ingot_ref_single(call, 0, "R"));
    INGOT_TRY(ingot_ref_single(call, 1, "T"));
    s->rate = ingot_load_double(call->inputs[0]->element, call->inputs[0]->data, 0);
    s->count = (double)ingot_load_i64(call->inputs[1]->element, call->inputs[1]->data, 0);
    return INGOT_OK;
}

static void update_all(const ingot_kernel_call *call, step s, update function)
{
    const ingot_optimizer_params *p = call->params;
    for (size_t i = 0; i < p->tensors; i++)
        update_tensor(call, i, s, function);
}

ingot_status ingot_ref_adam(const ingot_kernel_call *call)
{
    const ingot_optimizer_params *p = call->params;
    step s;
    INGOT_TRY(read_step(call, &s));
    if (s.count > 0)
        s.rate *= sqrt(1 - pow((double)p->beta, s.count)) / (1 - pow((double)p->alpha, s.count));
    update_all(call, s, adam);
    return INGOT_OK;
}

ingot_status ingot_ref_adagrad(const ingot_kernel_call *call)
{
    const ingot_optimizer_params *p = call->params;
    step s;
    INGOT_TRY(read_step(call, &s));
    s.rate /= 1 + s.count * (double)p->decay_factor;
    update_all(call, s, adagrad);
    return INGOT_OK;
}

ingot_status ingot_ref_momentum(const ingot_kernel_call *call)
{
    step s;
    INGOT_TRY(read_step(call, &s));
    update_all(call, s, momentum);
    return INGOT_OK;
}
