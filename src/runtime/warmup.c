/* Warm-up: memory is laid out and touched, and the first run done, before the first request. */
#include <math.h>
#include <string.h>

#include "runtime/estimate.h"
#include "runtime/session.h"

/* Of touching memory, and of a run that creation does for warming up: nanoseconds that they may take at least, and the part of the
 * time that creation took until then; how often a short run is repeated; bytes of zeros, which must be cleared. */
#define LEAST_TOUCH 4000000
#define LEAST_TIME  1000000
#define TIME_PART   2
#define MOST_RUNS   8
#define GAIN        0.95 /* the next run is at most such a part of this one, or it was the last */
#define MOST_ZEROS  ((size_t)8 << 20)

/* The shape that the options give an input, or its declared one; false where a size stays free. */
static bool warmup_dims(const ingot_session *s, size_t input, const ingot_session_options *options, int *rank,
                        int64_t *dims)
{
    const ingot_type *t = &s->declared->inputs[input]->type;
    for (size_t i = 0; i < options->warmup_shape_count; i++) {
        const ingot_warmup_shape *w = &options->warmup_shapes[i];
        if (strcmp(w->input, s->inputs[input].name) != 0)
            continue;
        *rank = w->rank;
        if (w->rank)
            memcpy(dims, w->dims, (size_t)w->rank * sizeof *dims);
        return true;
    }
    if (t->kind != INGOT_KIND_TENSOR || t->rank < 0)
        return false;
    *rank = t->rank;
    for (int i = 0; i < t->rank; i++) {
        dims[i] = t->dims[i];
        if (!ingot_dim_is_number(dims[i]))
            return false;
    }
    return true;
}

static ingot_status check_shapes(const ingot_session *s, const ingot_session_options *options, ingot_error *error)
{
    if (options->warmup_shape_count && !options->warmup_shapes)
        return ingot_fail(error, INGOT_INVALID_ARGUMENT, "warmup_shape_count is %zu, but warmup_shapes is NULL",
                          options->warmup_shape_count);
    for (size_t i = 0; i < options->warmup_shape_count; i++) {
        const ingot_warmup_shape *w = &options->warmup_shapes[i];
        size_t index, count;
        INGOT_TRY(ingot_session_find_input(s, w->input, &index, error));
        if (w->rank < 0 || w->rank > INGOT_MAX_RANK || (w->rank && !w->dims) ||
            !ingot_count_elements(w->rank, w->dims, &count))
            return ingot_fail(error, INGOT_INVALID_ARGUMENT, "the warm-up shape of input '%s' is no shape", w->input);
    }
    return INGOT_OK;
}

/* The context's inputs become tensors without data in these shapes; false where one is not known. */
static bool shape_inputs(ingot_context *c, const ingot_session_options *options, ingot_value *values)
{
    const ingot_session *s = c->session;
    for (size_t i = 0; i < s->input_count; i++) {
        int rank;
        int64_t dims[INGOT_MAX_RANK];
        ingot_element element = s->declared->inputs[i]->type.element;
        if (c->inputs[i]) /* a default */
            continue;
        if (element == INGOT_UNDEFINED || !warmup_dims(s, i, options, &rank, dims))
            return false;
        ingot_value_set_view(&values[i], element, rank, dims, NULL, 0);
        c->inputs[i] = &values[i];
    }
    return true;
}

/* Nothing that a run does lasts: no program's code, no random numbers. */
static bool is_harmless(const ingot_plan *plan)
{
    for (size_t i = 0; i < plan->step_count; i++) {
        const ingot_plan_step *step = &plan->steps[i];
        for (size_t k = 0; step->bodies && k < step->node->body_count; k++)
            if (!is_harmless(step->bodies[k]))
                return false;
        if (step->kind == INGOT_STEP_CONTROL && step->node->op->flags & INGOT_OP_RANDOM)
            return false;
        for (size_t n = 0; step->kind == INGOT_STEP_REGION && n < step->region.node_count; n++)
            if (step->region.nodes[n]->op->flags & (INGOT_OP_RANDOM | INGOT_OP_CUSTOM))
                return false;
    }
    return true;
}

/* A run takes so many nanoseconds at most, as far as one can tell without it. */
static bool is_short(const ingot_plan *plan, const ingot_layout *layout, double most)
{
    double flops = 0;
    for (size_t i = 0; layout && i < plan->step_count; i++)
        if (plan->steps[i].kind == INGOT_STEP_REGION)
            flops += ingot_step_flops(layout, NULL, &plan->steps[i]);
    return layout && flops / INGOT_FLOPS_A_NS <= most;
}

/* Runs until that makes it no faster: caches and branch predictors learn, and workers wake. Only a short run is worth it. */
static void repeat(ingot_context *c, ingot_run *run)
{
    double before = INFINITY;
    for (int i = 0; i < MOST_RUNS; i++) {
        const uint64_t begin = ingot_clock_ns();
        if (ingot_frame_run(c->frame, ingot_context_feed(c), c->targets, run) != INGOT_OK)
            return;
        const uint64_t now = ingot_clock_ns();
        const double took = (double)(now - begin);
        if (took > GAIN * before)
            return;
        before = took;
        if (i == 0 && now + LEAST_TIME < run->deadline)
            run->deadline = now + LEAST_TIME;
    }
}

/* The first runs on zeros, so that code, weights and outputs are in memory: as much of it as there is time for. A model that has no
 * answer for zeros is no fault. */
static void run_on_zeros(ingot_context *c, ingot_value *values, ingot_run run)
{
    ingot_error ignored = {0};
    size_t bytes = 1;
    for (size_t i = 0; i < c->session->input_count; i++) {
        if (c->inputs[i] != &values[i])
            continue;
        if (values[i].element == INGOT_STRING) /* zeros are no strings */
            return;
        if (ingot_value_bytes(&values[i]) > bytes)
            bytes = ingot_value_bytes(&values[i]);
    }
    void *zeros = bytes <= MOST_ZEROS ? ingot_malloc_aligned(bytes) : NULL;
    if (!zeros)
        return;
    memset(zeros, 0, bytes);
    for (size_t i = 0; i < c->session->input_count; i++)
        values[i].data = zeros;
    run.error = &ignored;
    const size_t before = atomic_load(&c->frame->budget.used);
    repeat(c, &run);
    if (atomic_load(&c->frame->budget.used) > before + INGOT_WARM_UP_BYTES)
        ingot_frame_forget_found(c->frame);
    ingot_free(zeros);
}

/* When what may take a part of creation's time must be over; start: of creation. */
static uint64_t end_of_part(uint64_t start, uint64_t least)
{
    const uint64_t now = ingot_clock_ns(), part = (now - start) / TIME_PART;
    return now + (part > least ? part : least);
}

static ingot_status warm_up(ingot_context *c, const ingot_session_options *options, uint64_t start, ingot_value *values,
                            ingot_error *error)
{
    ingot_session *s = c->session;
    ingot_run run = {.threads = s->threads, .session_cancel = s->cancel, .warms_up = true, .error = error};
    if (!shape_inputs(c, options, values))
        return INGOT_OK;
    INGOT_TRY(ingot_context_check_inputs(c, error));
    run.touch_until = end_of_part(start, LEAST_TOUCH);
    INGOT_TRY(ingot_frame_prepare(c->frame, ingot_context_feed(c), &run));
    ingot_frame_touch_outputs(c->frame, &run);
    run.deadline = end_of_part(start, LEAST_TIME);
    if (is_short(s->plan, c->frame->layout, (double)(run.deadline - ingot_clock_ns())) && is_harmless(s->plan))
        run_on_zeros(c, values, run);
    return INGOT_OK;
}

ingot_status ingot_session_warm_up(ingot_session *s, const ingot_session_options *options, uint64_t start,
                                   ingot_error *error)
{
    INGOT_TRY(check_shapes(s, options, error));
    ingot_context *c;
    INGOT_TRY(ingot_context_make(s, &c, error));
    ingot_value *values = ingot_calloc(s->input_count + 1, sizeof *values);
    ingot_error own = {0};
    ingot_status status =
        values ? warm_up(c, options, start, values, &own) : ingot_fail_memory(&own, sizeof *values, "warm-up");
    ingot_free(values);
    ingot_context_reset(c);
    s->pooled_count = 1;
    s->idle = c;
    /* Declared sizes may not fit each other: then only the run's own sizes tell. What the caller asked for must fit. */
    if (status == INGOT_OK || (options->warmup_shape_count == 0 && status != INGOT_OUT_OF_MEMORY))
        return INGOT_OK;
    return ingot_fail(error, status, "%s", own.message);
}
