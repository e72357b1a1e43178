/* Contexts, their bindings, and runs. */
#include <string.h>
#include <time.h>

#include "base/float_mode.h"
#include "base/threads.h"
#include "runtime/session.h"

ingot_status ingot_context_make(ingot_session *s, ingot_context **context, ingot_error *error)
{
    *context = NULL;
    ingot_context *c = ingot_calloc(1, sizeof *c);
    if (!c)
        return ingot_fail_memory(error, sizeof *c, "a context");
    c->session = s;
    c->inputs = ingot_calloc(s->input_count + 1, sizeof *c->inputs);
    c->fed = ingot_calloc(s->input_count + 1, sizeof *c->fed);
    c->targets = ingot_calloc(s->output_count + 1, sizeof *c->targets);
    c->symbol_sizes = ingot_calloc(s->symbol_count + 1, sizeof *c->symbol_sizes);
    ingot_status status = c->inputs && c->fed && c->targets && c->symbol_sizes
                              ? ingot_frame_create(s->plan, &s->budget, &c->frame, error)
                              : ingot_fail_memory(error, s->input_count * sizeof *c->inputs, "a context");
    if (status != INGOT_OK) {
        ingot_context_free(c);
        return status;
    }
    ingot_context_reset(c);
    pthread_mutex_lock(&s->lock);
    c->next_of_all = s->all;
    s->all = c;
    pthread_mutex_unlock(&s->lock);
    *context = c;
    return INGOT_OK;
}

void ingot_context_free(ingot_context *c)
{
    ingot_frame_release(c->frame);
    ingot_frame_release(c->open_frame);
    ingot_free(c->inputs);
    ingot_free(c->fed);
    ingot_free(c->targets);
    ingot_free(c->symbol_sizes);
    ingot_free(c);
}

void ingot_context_reset(ingot_context *c)
{
    const ingot_session *s = c->session;
    for (size_t i = 0; i < s->input_count; i++)
        c->inputs[i] = s->declared->inputs[i]->constant;
    for (size_t i = 0; i < s->output_count; i++)
        c->targets[i] = (ingot_target){0};
}

ingot_thread_state ingot_session_enter(const ingot_session *s)
{
    const ingot_thread_state before = {ingot_float_mode(), ingot_threads_use(s->thread_pool)};
    ingot_float_mode_set(INGOT_FLOAT_IEEE);
    return before;
}

void ingot_session_leave(ingot_thread_state before)
{
    ingot_threads_use(before.pool);
    ingot_float_mode_set(before.float_mode);
}

const ingot_value *const *ingot_context_feed(ingot_context *c)
{
    for (size_t i = 0; i < c->session->fed_count; i++)
        c->fed[i] = c->inputs[c->session->fed[i]];
    return c->fed;
}

bool ingot_context_replaces_default(const ingot_context *c)
{
    const ingot_session *s = c->session;
    for (size_t i = 0; i < s->input_count && s->fed_count < s->input_count; i++)
        if (s->declared->inputs[i]->constant && c->inputs[i] != s->declared->inputs[i]->constant)
            return true;
    return false;
}

static ingot_status make_open_frame(ingot_context *c, ingot_error *error)
{
    ingot_session *s = c->session;
    ingot_frame *frame;
    INGOT_TRY(ingot_frame_create(s->open.plan, &s->budget, &frame, error));
    pthread_mutex_lock(&s->lock); /* statistics look at all frames */
    c->open_frame = frame;
    pthread_mutex_unlock(&s->lock);
    return INGOT_OK;
}

static ingot_status run_frame(ingot_context *c, ingot_frame *frame, const ingot_value *const *inputs,
                              const ingot_run *run)
{
    c->last = frame;
    if (run->profile)
        INGOT_TRY(ingot_profile_begin(run->profile, frame, run->error));
    const ingot_status status = ingot_frame_run(frame, inputs, c->targets, run);
    if (run->profile)
        ingot_profile_end(run->profile);
    return status;
}

/* A run that replaces a default: in a plan that takes all inputs. */
static ingot_status run_open(ingot_context *c, const ingot_run *run)
{
    ingot_session *s = c->session;
    INGOT_TRY(ingot_session_open(s, run->error));
    if (!c->open_frame)
        INGOT_TRY(make_open_frame(c, run->error));
    for (size_t i = 0; i < s->input_count; i++) {
        const ingot_value *given = s->declared->inputs[i]->constant;
        c->fed[i] = given && c->inputs[i] == given ? s->open.module->main->inputs[i]->constant : c->inputs[i];
    }
    return run_frame(c, c->open_frame, c->fed, run);
}

ingot_status ingot_context_execute(ingot_context *c, const ingot_cancel *cancel, ingot_error *error)
{
    ingot_run run = {.threads = c->session->threads,
                     .session_cancel = c->session->cancel,
                     .run_cancel = cancel,
                     .profile = c->profile,
                     .error = error};
    INGOT_TRY(ingot_context_check_inputs(c, error));
    INGOT_TRY(ingot_context_check_outputs(c, error));
    const ingot_thread_state before = ingot_session_enter(c->session);
    const ingot_status status =
        ingot_context_replaces_default(c) ? run_open(c, &run) : run_frame(c, c->frame, ingot_context_feed(c), &run);
    ingot_session_leave(before);
    return status;
}

/* ---- Runs of a session ---- */

static void run_begins(ingot_session *s)
{
    pthread_mutex_lock(&s->lock);
    s->running++;
    pthread_mutex_unlock(&s->lock);
}

static void run_ends(ingot_session *s, ingot_context *idle, ingot_status status)
{
    atomic_fetch_add(status == INGOT_OK ? &s->runs : &s->failed_runs, 1);
    pthread_mutex_lock(&s->lock);
    if (idle) {
        idle->next = s->idle;
        s->idle = idle;
    }
    s->running--;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

#define WAIT_NS 5000000 /* for a context, before the tokens are looked at again */

/* Waits until there is an idle context or may be a new one; false where a token was raised first. The lock is held. */
static bool wait_for_context(ingot_session *s, const ingot_cancel *cancel)
{
    while (!s->idle && s->pooled_count >= s->max_contexts) {
        struct timespec until;
        if (ingot_cancelled(s->cancel) || ingot_cancelled(cancel))
            return false;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += WAIT_NS;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&s->changed, &s->lock, &until);
    }
    return true;
}

/* An idle context, a new one while there may be more, else the next that becomes idle. */
static ingot_status take_context(ingot_session *s, const ingot_cancel *cancel, ingot_context **context,
                                 ingot_error *error)
{
    pthread_mutex_lock(&s->lock);
    bool there = wait_for_context(s, cancel);
    *context = there ? s->idle : NULL;
    if (there && s->idle)
        s->idle = s->idle->next;
    else if (there)
        s->pooled_count++;
    pthread_mutex_unlock(&s->lock);
    if (!there)
        return ingot_fail(error, INGOT_CANCELLED, "the run was cancelled while it waited for a context");
    if (*context)
        return INGOT_OK;
    ingot_status status = ingot_context_make(s, context, error);
    if (status == INGOT_OK)
        return INGOT_OK;
    pthread_mutex_lock(&s->lock);
    s->pooled_count--;
    pthread_mutex_unlock(&s->lock);
    return status;
}

void ingot_run_options_init(ingot_run_options *options)
{
    if (options)
        *options = (ingot_run_options){.size = sizeof *options};
}

/* The token of the caller's options. */
static ingot_status read_run_options(const ingot_run_options *options, const ingot_cancel **cancel, ingot_error *error)
{
    *cancel = NULL;
    if (!options)
        return INGOT_OK;
    if (options->size != sizeof *options)
        return ingot_fail(error, INGOT_INVALID_ARGUMENT,
                          "the run options have size %zu, but this library knows %zu: fill them with "
                          "ingot_run_options_init",
                          options->size, sizeof *options);
    *cancel = options->cancel;
    return INGOT_OK;
}

static ingot_status bind_all(ingot_context *c, const char *const *input_names, const ingot_value *const *inputs,
                             size_t input_count, const char *const *output_names, ingot_value **outputs,
                             size_t output_count, ingot_error *error)
{
    const ingot_session *s = c->session;
    size_t index;
    for (size_t i = 0; i < input_count; i++) {
        INGOT_TRY(ingot_session_find_input(s, input_names[i], &index, error));
        if (!inputs[i])
            return ingot_fail(error, INGOT_INVALID_ARGUMENT, "the value for input '%s' is NULL", input_names[i]);
        c->inputs[index] = inputs[i];
    }
    for (size_t i = 0; i < output_count; i++) {
        INGOT_TRY(ingot_session_find_output(s, output_names[i], &index, error));
        if (outputs[i])
            c->targets[index] = (ingot_target){outputs[i], true};
    }
    return INGOT_OK;
}

/* New values for outputs that the caller gave none for: made before the run, so that its last steps write them. */
static ingot_status make_outputs(ingot_context *c, const char *const *names, ingot_value **outputs, bool *made,
                                 size_t count, ingot_error *error)
{
    for (size_t i = 0; i < count; i++) {
        size_t index;
        INGOT_TRY(ingot_session_find_output(c->session, names[i], &index, error));
        if (outputs[i])
            continue;
        outputs[i] = ingot_malloc(sizeof **outputs);
        if (!outputs[i])
            return ingot_fail_memory(error, sizeof **outputs, "an output");
        ingot_value_init(outputs[i]);
        made[i] = true;
        if (!c->targets[index].value)
            c->targets[index] = (ingot_target){outputs[i], false};
    }
    return INGOT_OK;
}

/* One output may be asked for more than once: all values but one are copies. */
static ingot_status copy_twins(ingot_context *c, const char *const *names, ingot_value **outputs, const bool *made,
                               size_t count, ingot_error *error)
{
    for (size_t i = 0; i < count; i++) {
        size_t index;
        INGOT_TRY(ingot_session_find_output(c->session, names[i], &index, error));
        const ingot_value *from = c->targets[index].value;
        if (from == outputs[i])
            continue;
        if (!made[i])
            INGOT_TRY(
                ingot_frame_check_bound(c->last, index, outputs[i], from->element, from->rank, from->dims, error));
        INGOT_TRY(ingot_value_copy(outputs[i], from, error));
    }
    return INGOT_OK;
}

static ingot_status run_in(ingot_context *c, const ingot_cancel *cancel, const char *const *input_names,
                           const ingot_value *const *inputs, size_t input_count, const char *const *output_names,
                           ingot_value **outputs, size_t output_count, bool *made, ingot_error *error)
{
    INGOT_TRY(bind_all(c, input_names, inputs, input_count, output_names, outputs, output_count, error));
    INGOT_TRY(make_outputs(c, output_names, outputs, made, output_count, error));
    INGOT_TRY(ingot_context_execute(c, cancel, error));
    return copy_twins(c, output_names, outputs, made, output_count, error);
}

ingot_status ingot_session_run(ingot_session *s, const ingot_run_options *options, const char *const *input_names,
                               const ingot_value *const *inputs, size_t input_count, const char *const *output_names,
                               ingot_value **outputs, size_t output_count, ingot_error *error)
{
    if (!s || (input_count && (!input_names || !inputs)) || (output_count && (!output_names || !outputs)))
        return ingot_fail(error, INGOT_INVALID_ARGUMENT, "ingot_session_run needs a session, names and values");
    const ingot_cancel *cancel;
    INGOT_TRY(read_run_options(options, &cancel, error));
    bool *made = ingot_calloc(output_count + 1, sizeof *made);
    if (!made)
        return ingot_fail_memory(error, output_count, "a run");
    run_begins(s);
    ingot_context *c = NULL;
    ingot_status status = take_context(s, options ? options->cancel : NULL, &c, error);
    if (status == INGOT_OK)
        status = run_in(c, cancel, input_names, inputs, input_count, output_names, outputs, output_count, made, error);
    for (size_t i = 0; i < output_count && status != INGOT_OK; i++) {
        if (!made[i])
            continue;
        ingot_value_release(outputs[i]);
        outputs[i] = NULL;
    }
    if (c)
        ingot_context_reset(c);
    ingot_free(made);
    run_ends(s, c, status);
    return status;
}

/* ---- Contexts of the caller ---- */

ingot_status ingot_context_create(ingot_session *s, ingot_context **context, ingot_error *error)
{
    if (!s || !context)
        return ingot_fail(error, INGOT_INVALID_ARGUMENT,
                          "ingot_context_create needs a session and a place for the context");
    *context = NULL;
    /* A context of the pool that nobody uses is laid out already. */
    pthread_mutex_lock(&s->lock);
    *context = s->idle;
    if (s->idle) {
        s->idle = s->idle->next;
        s->pooled_count--;
    }
    pthread_mutex_unlock(&s->lock);
    if (!*context)
        INGOT_TRY(ingot_context_make(s, context, error));
    (*context)->has_run = false;
    atomic_fetch_add(&s->references, 1);
    return INGOT_OK;
}

void ingot_context_release(ingot_context *c)
{
    if (!c)
        return;
    ingot_session *s = c->session;
    pthread_mutex_lock(&s->lock);
    for (ingot_context **p = &s->all; *p; p = &(*p)->next_of_all) {
        if (*p != c)
            continue;
        *p = c->next_of_all;
        break;
    }
    pthread_mutex_unlock(&s->lock);
    ingot_context_free(c);
    ingot_session_unref(s);
}

ingot_status ingot_context_bind_input(ingot_context *c, const char *name, const ingot_value *value, ingot_error *error)
{
    size_t index;
    if (!c)
        return ingot_fail(error, INGOT_INVALID_ARGUMENT, "ingot_context_bind_input needs a context");
    INGOT_TRY(ingot_session_find_input(c->session, name, &index, error));
    c->inputs[index] = value ? value : c->session->declared->inputs[index]->constant;
    return INGOT_OK;
}

ingot_status ingot_context_bind_output(ingot_context *c, const char *name, ingot_value *value, ingot_error *error)
{
    size_t index;
    if (!c)
        return ingot_fail(error, INGOT_INVALID_ARGUMENT, "ingot_context_bind_output needs a context");
    INGOT_TRY(ingot_session_find_output(c->session, name, &index, error));
    if (value && value->kind != INGOT_KIND_TENSOR)
        return ingot_fail(error, INGOT_INVALID_ARGUMENT, "the value bound to output '%s' must be a tensor", name);
    c->targets[index] = (ingot_target){value, value != NULL};
    return INGOT_OK;
}

ingot_status ingot_context_run(ingot_context *c, const ingot_run_options *options, ingot_error *error)
{
    if (!c)
        return ingot_fail(error, INGOT_INVALID_ARGUMENT, "ingot_context_run needs a context");
    const ingot_cancel *cancel;
    INGOT_TRY(read_run_options(options, &cancel, error));
    if (atomic_exchange(&c->busy, true))
        return ingot_fail(error, INGOT_BUSY, "the context is running in another thread: use one context a thread");
    run_begins(c->session);
    ingot_status status = ingot_context_execute(c, cancel, error);
    c->has_run = status == INGOT_OK;
    run_ends(c->session, NULL, status);
    atomic_store(&c->busy, false);
    return status;
}

const ingot_value *ingot_context_output(const ingot_context *c, size_t index)
{
    if (!c || !c->has_run || index >= c->session->output_count)
        return NULL;
    return c->targets[index].value ? c->targets[index].value : ingot_frame_output(c->last, index);
}
