/* A session from inside: an optimized copy of the model, its plan, and the contexts that run it. */
#ifndef INGOT_RUNTIME_SESSION_H
#define INGOT_RUNTIME_SESSION_H

#include "onnx/import.h"
#include "runtime/frame.h"

/* A free size of the inputs: all places of one symbol must get one size in a run. */
typedef struct ingot_input_symbol {
    size_t input;
    int axis;
    size_t symbol; /* dense number */
} ingot_input_symbol;

/* An optimized copy of the model and its plan. */
typedef struct ingot_variant {
    ingot_module *module;
    ingot_plan *plan;
} ingot_variant;

struct ingot_session {
    atomic_size_t references; /* the caller's, and one for each context of the caller */
    ingot_model *model;
    ingot_budget budget;
    const ingot_graph *declared; /* the model's main graph: its inputs are the session's, with their defaults */
    ingot_module *module;        /* inputs that have a default are constants here */
    const ingot_backend *backend;
    ingot_device *device;
    ingot_plan *plan;
    size_t *fed, fed_count; /* the session's inputs that plan has: those without a default; in the module's arena */
    ingot_variant open;     /* where defaults are inputs; made when a run replaces one, under open_lock */
    pthread_mutex_t open_lock;
    int opt_level;
    const char *disabled_passes; /* in the module's arena, or NULL */
    size_t layout_limit;
    int threads;
    const ingot_thread_pool *thread_pool; /* the program's; NULL: the process-wide one */
    ingot_cancel *cancel;
    ingot_value_info *inputs, *outputs; /* strings live in the module's arena */
    size_t input_count, output_count;
    ingot_map input_index, output_index; /* name to index + 1 */
    ingot_input_symbol *symbols;         /* in the module's arena */
    size_t symbol_place_count, symbol_count;
    ingot_statistics statistics; /* what creation measured */
    atomic_uint_fast64_t runs, failed_runs;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a context became idle, or a run ended */
    ingot_context *idle;    /* linked by next */
    ingot_context *all;     /* all contexts there are, linked by next_of_all */
    size_t pooled_count, max_contexts, running;
};

struct ingot_context {
    ingot_session *session;
    ingot_frame *frame;
    ingot_frame *open_frame;    /* of session->open; NULL until a run needs it */
    ingot_frame *last;          /* that of the last run */
    const ingot_value **inputs; /* bound, or the default, or NULL */
    const ingot_value **fed;    /* what a plan is given of them */
    ingot_target *targets;
    int64_t *symbol_sizes;
    ingot_profile *profile; /* notes the steps of runs; NULL: none */
    bool has_run;
    atomic_bool busy;
    ingot_context *next, *next_of_all;
};

/* Makes a context for the pool or for the caller; the caller's holds a reference to the session (taken by the public call). */
ingot_status ingot_context_make(ingot_session *session, ingot_context **context, ingot_error *error);
void ingot_context_free(ingot_context *context);
/* Sets all bindings to what they are before any. */
void ingot_context_reset(ingot_context *context);
/* What work for a session sets in the calling thread, and what was there before: results depend neither on how the program
 * rounds nor on whose threads there are. */
typedef struct ingot_thread_state {
    unsigned float_mode;
    const ingot_thread_pool *pool;
} ingot_thread_state;
ingot_thread_state ingot_session_enter(const ingot_session *session);
void ingot_session_leave(ingot_thread_state before);
/* What is bound replaces a default: the next run takes the plan in which defaults are inputs. */
bool ingot_context_replaces_default(const ingot_context *context);
/* The inputs that the session's plan has. */
const ingot_value *const *ingot_context_feed(ingot_context *context);
/* Makes session->open if it is not there. */
ingot_status ingot_session_open(ingot_session *session, ingot_error *error);
/* Checks what is bound and runs. */
ingot_status ingot_context_execute(ingot_context *context, const ingot_cancel *cancel, ingot_error *error);
/* Index of a name; INGOT_NOT_FOUND naming it and what there is. */
ingot_status ingot_session_find_input(const ingot_session *session, const char *name, size_t *index,
                                      ingot_error *error);
ingot_status ingot_session_find_output(const ingot_session *session, const char *name, size_t *index,
                                       ingot_error *error);
/* Type, rank, sizes and symbols of the values bound, against what the model declares. */
ingot_status ingot_context_check_inputs(ingot_context *context, ingot_error *error);
/* Refuses outputs bound to memory that an input, or another output, has too. */
ingot_status ingot_context_check_outputs(const ingot_context *context, ingot_error *error);
/* Lays memory out for the shapes of the options and runs on zeros where that is short against what creation took since start. */
ingot_status ingot_session_warm_up(ingot_session *session, const ingot_session_options *options, uint64_t start,
                                   ingot_error *error);
/* Tells each step of the plan and of the bodies in it what its operators are. */
ingot_status ingot_session_name_regions(const ingot_session *session, ingot_plan *plan, ingot_error *error);
/* Step number index of plan, the session's own or that of a body; flops is left 0. */
void ingot_session_describe_step(const ingot_session *session, const ingot_plan *plan, size_t index,
                                 ingot_region_info *region);
void ingot_session_unref(ingot_session *session);

#endif
