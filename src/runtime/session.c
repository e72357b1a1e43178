/* Making a session: copy, optimize, plan, pack, warm up. */
#include "runtime/session.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/threads.h"
#include "runtime/evaluate.h"

#define DEFAULT_CONTEXTS 16
#define DEFAULT_SHAPES   32

void ingot_session_options_init(ingot_session_options *options)
{
    if (options)
        *options = (ingot_session_options){.size = sizeof *options, .opt_level = INGOT_OPT_ALL};
}

/* The caller's struct may be older and shorter; a newer one has fields that this library does not know, and is refused. */
static ingot_status read_options(const ingot_session_options *given, ingot_session_options *options, ingot_error *error)
{
    ingot_session_options_init(options);
    if (!given)
        return INGOT_OK;
    if (given->size < offsetof(ingot_session_options, device) || given->size > sizeof *options)
        return ingot_fail(error, INGOT_INVALID_ARGUMENT,
                          "the session options have size %zu, but this library knows %zu: fill them with "
                          "ingot_session_options_init",
                          given->size, sizeof *options);
    memcpy(options, given, given->size);
    if (options->threads < 0 || options->threads > INGOT_MAX_THREADS)
        return ingot_fail(error, INGOT_INVALID_ARGUMENT, "threads is %d, but must be 0 to %d", options->threads,
                          INGOT_MAX_THREADS);
    if (options->opt_level < INGOT_OPT_NONE || options->opt_level > INGOT_OPT_ALL)
        return ingot_fail(error, INGOT_INVALID_ARGUMENT, "opt_level is %d, but must be 0, 1 or 2", options->opt_level);
    if (options->thread_pool && !options->thread_pool->run)
        return ingot_fail(error, INGOT_INVALID_ARGUMENT, "thread_pool has no function 'run': set one");
    if (options->device && strcmp(options->device, "cpu") != 0)
        return ingot_fail(error, INGOT_UNSUPPORTED, "device '%s' is not supported: this build runs on 'cpu'",
                          options->device);
    if (options->precision && strcmp(options->precision, "fp32") != 0)
        return ingot_fail(error, INGOT_UNSUPPORTED, "precision '%s' is not supported: this build runs 'fp32'",
                          options->precision);
    return INGOT_OK;
}

/* ---- Names, infos, symbols ---- */

static ingot_status fill_infos(ingot_session *s, ingot_error *error)
{
    const ingot_graph *g = s->declared;
    s->inputs = ingot_arena_alloc_array(s->module->arena, g->input_count + 1, sizeof *s->inputs);
    s->outputs = ingot_arena_alloc_array(s->module->arena, g->output_count + 1, sizeof *s->outputs);
    if (!s->inputs || !s->outputs)
        return ingot_fail_memory(error, g->input_count * sizeof *s->inputs, "the session");
    for (size_t i = 0; i < g->input_count; i++) {
        const ingot_graph_value *v = g->inputs[i];
        INGOT_TRY(ingot_value_info_fill(s->module, v->name, &v->type, v->constant != NULL, &s->inputs[i], error));
        INGOT_TRY(
            ingot_map_put(&s->input_index, s->inputs[i].name, strlen(s->inputs[i].name), (void *)(i + 1), NULL, error));
    }
    for (size_t i = 0; i < g->output_count; i++) {
        const char *name = g->output_names[i];
        INGOT_TRY(ingot_value_info_fill(s->module, name, &g->outputs[i]->type, false, &s->outputs[i], error));
        if (!ingot_map_get(&s->output_index, name, strlen(name)))
            INGOT_TRY(ingot_map_put(&s->output_index, s->outputs[i].name, strlen(name), (void *)(i + 1), NULL, error));
    }
    s->input_count = g->input_count;
    s->output_count = g->output_count;
    return INGOT_OK;
}

static ingot_status find_index(const ingot_map *map, const char *what, const char *name, const ingot_value_info *infos,
                               size_t count, size_t *index, ingot_error *error)
{
    uintptr_t found = name ? (uintptr_t)ingot_map_get(map, name, strlen(name)) : 0;
    if (found) {
        *index = found - 1;
        return INGOT_OK;
    }
    char list[400] = "";
    for (size_t i = 0, used = 0; i < count && used + 1 < sizeof list; i++) {
        int n = snprintf(list + used, sizeof list - used, "%s'%s'", i ? ", " : "", infos[i].name);
        used += n > 0 ? (size_t)n : 0;
    }
    return ingot_fail(error, INGOT_NOT_FOUND, "the model has no %s '%s'; it has: %s", what, name ? name : "(null)",
                      list);
}

ingot_status ingot_session_find_input(const ingot_session *s, const char *name, size_t *index, ingot_error *error)
{
    return find_index(&s->input_index, "input", name, s->inputs, s->input_count, index, error);
}

ingot_status ingot_session_find_output(const ingot_session *s, const char *name, size_t *index, ingot_error *error)
{
    return find_index(&s->output_index, "output", name, s->outputs, s->output_count, index, error);
}

/* The inputs that the plan is given. */
static ingot_status find_fed(ingot_session *s, ingot_error *error)
{
    s->fed = ingot_arena_alloc_array(s->module->arena, s->input_count + 1, sizeof *s->fed);
    if (!s->fed)
        return ingot_fail_memory(error, s->input_count * sizeof *s->fed, "the session");
    for (size_t i = 0; i < s->input_count; i++)
        if (!s->declared->inputs[i]->constant)
            s->fed[s->fed_count++] = i;
    return INGOT_OK;
}

/* Numbers the symbols that occur in input shapes. */
static ingot_status find_symbols(ingot_session *s, ingot_error *error)
{
    const ingot_graph *g = s->declared;
    size_t limit = ingot_dims_count(s->module->dims), places = 0;
    size_t *number = ingot_calloc(limit + 1, sizeof *number); /* 1 + dense number of each expression */
    for (size_t i = 0; i < g->input_count; i++)
        places += g->inputs[i]->type.rank > 0 ? (size_t)g->inputs[i]->type.rank : 0;
    s->symbols = ingot_arena_alloc_array(s->module->arena, places + 1, sizeof *s->symbols);
    if (!number || !s->symbols) {
        ingot_free(number);
        return ingot_fail_memory(error, places * sizeof *s->symbols, "the session");
    }
    for (size_t i = 0; i < g->input_count; i++) {
        const ingot_type *t = &g->inputs[i]->type;
        for (int d = 0; d < t->rank; d++) {
            const ingot_dim_expression *e = ingot_dims_expression(s->module->dims, t->dims[d]);
            if (!e || e->kind != INGOT_DIM_SYMBOL)
                continue;
            size_t *n = &number[t->dims[d] - INT64_MIN];
            *n = *n ? *n : ++s->symbol_count;
            s->symbols[s->symbol_place_count++] = (ingot_input_symbol){i, d, *n - 1};
        }
    }
    ingot_free(number);
    return INGOT_OK;
}

/* ---- Stages ---- */

/* Weights that were packed are not read where they lie any more. */
static void forget_packed(void *model, const void *data, size_t bytes)
{
    ingot_model_forget(model, data, bytes);
}

static ingot_status optimize(ingot_session *s, bool assumes_defaults, ingot_module **module, ingot_error *error)
{
    INGOT_TRY(ingot_module_copy(s->model->module, &s->budget, module, error));
    if (assumes_defaults)
        ingot_graph_assume_defaults((*module)->main);
    ingot_reference_evaluator evaluator;
    ingot_reference_evaluator_init(&evaluator, &s->budget);
    ingot_pass_context context = {.evaluator = &evaluator.base, .cancel = s->cancel, .error = error};
    ingot_status status = ingot_passes_run(*module, s->opt_level, s->disabled_passes, &context);
    ingot_reference_evaluator_clear(&evaluator);
    return status;
}

static ingot_status plan(ingot_session *s, const ingot_module *module, ingot_plan **plan, ingot_error *error)
{
    ingot_plan_options options = {.backend = s->backend,
                                  .device = s->device,
                                  .budget = &s->budget,
                                  .layout_limit = s->layout_limit,
                                  .cancel = s->cancel,
                                  .packed = forget_packed,
                                  .argument = s->model};
    return ingot_plan_create(module->main, &options, plan, error);
}

ingot_status ingot_session_open(ingot_session *s, ingot_error *error)
{
    ingot_variant made = {0};
    pthread_mutex_lock(&s->open_lock);
    ingot_status status = INGOT_OK;
    if (!s->open.plan) {
        status = optimize(s, false, &made.module, error);
        if (status == INGOT_OK)
            status = plan(s, made.module, &made.plan, error);
        if (status == INGOT_OK)
            status = ingot_session_name_regions(s, made.plan, error);
        if (status == INGOT_OK) {
            s->open = made;
        } else {
            ingot_plan_release(made.plan);
            ingot_module_release(made.module);
        }
    }
    pthread_mutex_unlock(&s->open_lock);
    return status;
}

/* The caller's names of passes are read again if the model is opened. */
static ingot_status keep_passes(ingot_session *s, ingot_error *error)
{
    if (!s->disabled_passes)
        return INGOT_OK;
    const size_t length = strlen(s->disabled_passes);
    s->disabled_passes = ingot_arena_strndup(s->module->arena, s->disabled_passes, length);
    return s->disabled_passes ? INGOT_OK : ingot_fail_memory(error, length, "the session");
}

static ingot_status build(ingot_session *s, const ingot_session_options *options, ingot_error *error)
{
    const uint64_t created = ingot_clock_ns();
    uint64_t begin = created;
    INGOT_TRY(optimize(s, true, &s->module, error));
    s->statistics.optimize_ms = ingot_clock_ms_since(begin);
    INGOT_TRY(keep_passes(s, error));
    INGOT_TRY(fill_infos(s, error));
    INGOT_TRY(find_fed(s, error));
    INGOT_TRY(find_symbols(s, error));
    INGOT_TRY(s->backend->open(0, &s->device, error));
    begin = ingot_clock_ns();
    INGOT_TRY(plan(s, s->module, &s->plan, error));
    s->statistics.plan_ms = ingot_clock_ms_since(begin);
    INGOT_TRY(ingot_session_name_regions(s, s->plan, error));
    if (!s->thread_pool)
        INGOT_TRY(ingot_threads_prepare(s->threads, error));
    begin = ingot_clock_ns();
    INGOT_TRY(ingot_session_warm_up(s, options, created, error));
    s->statistics.warmup_ms = ingot_clock_ms_since(begin);
    return INGOT_OK;
}

static void free_session(ingot_session *s)
{
    while (s->all) {
        ingot_context *next = s->all->next_of_all;
        ingot_context_free(s->all);
        s->all = next;
    }
    ingot_plan_release(s->plan);
    ingot_plan_release(s->open.plan);
    if (s->device)
        s->backend->close(s->device);
    ingot_map_clear(&s->input_index);
    ingot_map_clear(&s->output_index);
    ingot_module_release(s->module);
    ingot_module_release(s->open.module);
    ingot_model_release(s->model);
    ingot_cancel_release(s->cancel);
    pthread_mutex_destroy(&s->lock);
    pthread_mutex_destroy(&s->open_lock);
    pthread_cond_destroy(&s->changed);
    ingot_free(s);
}

ingot_status ingot_session_create(ingot_model *model, const ingot_session_options *given, ingot_session **session,
                                  ingot_error *error)
{
    ingot_session_options options;
    if (!model || !session)
        return ingot_fail(error, INGOT_INVALID_ARGUMENT,
                          "ingot_session_create needs a model and a place for the session");
    *session = NULL;
    INGOT_TRY(read_options(given, &options, error));
    ingot_session *s = ingot_calloc(1, sizeof *s);
    if (!s)
        return ingot_fail_memory(error, sizeof *s, "the session");
    atomic_init(&s->references, 1);
    pthread_mutex_init(&s->lock, NULL);
    pthread_mutex_init(&s->open_lock, NULL);
    pthread_cond_init(&s->changed, NULL);
    ingot_budget_init(&s->budget, options.memory_limit);
    ingot_model_retain(model);
    s->model = model;
    s->declared = model->module->main;
    s->opt_level = options.opt_level;
    s->disabled_passes = options.disabled_passes;
    s->layout_limit = options.shape_cache_size ? options.shape_cache_size : DEFAULT_SHAPES;
    s->cancel = ingot_cancel_retain(options.cancel);
    s->backend = &ingot_cpu_backend;
    s->threads = options.threads ? options.threads : ingot_threads_available();
    s->max_contexts = options.max_contexts ? options.max_contexts : DEFAULT_CONTEXTS;
    s->thread_pool = options.thread_pool;
    ingot_error local = {0};
    const ingot_thread_state before = ingot_session_enter(s);
    ingot_status status = build(s, &options, &local);
    ingot_session_leave(before);
    if (status != INGOT_OK) {
        ingot_fail(error, status, "%s: %s", model->path, local.message);
        free_session(s);
        return status;
    }
    *session = s;
    return INGOT_OK;
}

void ingot_session_unref(ingot_session *s)
{
    if (atomic_fetch_sub(&s->references, 1) == 1)
        free_session(s);
}

void ingot_session_release(ingot_session *s)
{
    if (!s)
        return;
    pthread_mutex_lock(&s->lock);
    while (s->running > 0)
        pthread_cond_wait(&s->changed, &s->lock);
    pthread_mutex_unlock(&s->lock);
    ingot_session_unref(s);
}
