/* Ingot's tools: what the command line is built on, beyond running models. */
#ifndef INGOT_TOOLS_H
#define INGOT_TOOLS_H

#include "ingot/ingot.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reads a value from serialized ONNX: a TensorProto, SparseTensorProto, SequenceProto, MapProto or OptionalProto, as
 * type->kind says (type NULL: a TensorProto). The value owns its memory. Data in other files is refused. */
INGOT_API ingot_status ingot_value_from_proto(const void *data, size_t size, const ingot_type_info *type,
                                              ingot_value **value, ingot_error *error);

/* Serializes a value as ONNX does, name (may be NULL) in the message's name field. *data is freed by ingot_memory_free. */
INGOT_API ingot_status ingot_value_to_proto(const ingot_value *value, const char *name, void **data, size_t *size,
                                            ingot_error *error);

/* Frees memory that a function of this header or ingot.h gave to the caller. NULL is fine. */
INGOT_API void ingot_memory_free(void *memory);

/* The processor features in use, such as "sse4 avx2 avx512", after INGOT_CPU. A constant string. */
INGOT_API const char *ingot_cpu_description(void);

/* ---- Diagnosis: what is wrong or slow with a model, and what to do (`ingot doctor`) ---- */

typedef enum ingot_severity {
    INGOT_NOTE = 0,    /* good to know */
    INGOT_WARNING = 1, /* slow, large, or likely not what was meant */
    INGOT_FAULT = 2,   /* the model cannot run */
} ingot_severity;

/* Strings are valid as long as the diagnosis, never NULL. */
typedef struct ingot_finding {
    ingot_severity severity;
    const char *rule;   /* "unsupported-operator" */
    const char *what;   /* what was found */
    const char *where;  /* the first place: a node, an input, an initializer; "" where it is the model as a whole */
    const char *advice; /* what to do */
    size_t count;       /* places */
} ingot_finding;

typedef struct ingot_diagnosis ingot_diagnosis;

/* Reads the model at path, as far as that goes, opens it and makes a session of it with these options (either may be NULL), and collects
 * what it finds on the way. A model that cannot run is a finding, not a failure: that is only a file that cannot be read at
 * all, or lack of memory. The caller releases *diagnosis. */
INGOT_API ingot_status ingot_diagnose(const char *path, const ingot_model_options *model_options,
                                      const ingot_session_options *session_options, ingot_diagnosis **diagnosis,
                                      ingot_error *error);
INGOT_API void ingot_diagnosis_release(ingot_diagnosis *diagnosis);

/* Finding number index, faults first; false past the end. */
INGOT_API bool ingot_diagnosis_finding(const ingot_diagnosis *diagnosis, size_t index, ingot_finding *finding);

/* C source with a custom operator to fill in (ingot/custom_op.h) for each one that is not supported; "" where all are. Valid as
 * long as the diagnosis. */
INGOT_API const char *ingot_diagnosis_stub(const ingot_diagnosis *diagnosis);

/* What a session option of ONNX Runtime, by its field name or configuration key, does in Ingot. */
typedef struct ingot_ort_option_info {
    const char *name; /* "intra_op_num_threads", "session.intra_op.allow_spinning" */
    bool has_effect;
    const char *effect; /* what it does, or why it has no meaning here */
} ingot_ort_option_info;

/* Option number index, sorted by name; false past the end. */
INGOT_API bool ingot_ort_option(size_t index, ingot_ort_option_info *info);

/* ---- The machine's limits ---- */

/* The most of something that the processor or the memory gives, measured: the best of many short stretches. */
typedef struct ingot_peak {
    const char *name; /* "f32_avx512", "bf16_avx512", "int8_avx512": multiplications and additions; "memory_read",
                       * "memory_copy": bytes, read and written. A constant string */
    int threads;
    double rate;  /* of them a second, in all threads together */
    double clock; /* cycles a second of one thread, beside that arithmetic; 0 for memory */
} ingot_peak;

/* Peaks that can be measured here: the arithmetic of each instruction set in use, slowest first for each type, then memory. */
INGOT_API size_t ingot_peak_count(void);
/* Measures number index for about that many seconds. threads 0: as many as a session takes. INGOT_NOT_FOUND past the end. */
INGOT_API ingot_status ingot_peak_measure(size_t index, int threads, double seconds, ingot_peak *peak,
                                          ingot_error *error);

/* ---- Profiles ---- */

/* Where the time of a context's runs goes, step by step, those of bodies included. Belongs to the context's thread. A run that is
 * noted reads the clock once a step; without a profile, runs take no time for it. */
typedef struct ingot_profile ingot_profile;

/* Makes a profile and activates it. Release it before the context. event_limit: how many steps of a run are noted one by one,
 * the first ones; times are summed beyond it, too. */
INGOT_API ingot_status ingot_profile_create(ingot_context *context, size_t event_limit, ingot_profile **profile,
                                            ingot_error *error);
INGOT_API void ingot_profile_release(ingot_profile *profile);

/* Whether the next runs of the context are noted here, and in no other profile. What the last one gave stays. */
INGOT_API void ingot_profile_set_active(ingot_profile *profile, bool active);

/* One step of stride, a power of two, is noted in each run, others in the next one: stride runs note every step. For runs so short
 * that noting each step would slow them. A new profile has stride 1. */
INGOT_API void ingot_profile_set_stride(ingot_profile *profile, size_t stride);

/* What a region, or another step of a plan, did in the run noted last. Strings valid as long as the session. */
typedef struct ingot_profile_region {
    ingot_region_info region; /* flops: of all calls, each taken to be of the last one's shapes */
    int depth;                /* how many bodies it lies in */
    size_t parent;            /* the region of control flow whose body it is in; SIZE_MAX: none */
    const char *body;         /* the attribute of that one that holds the body: "then_branch"; NULL: none */
    uint64_t calls;           /* 0: it did not run or was not noted; views never are */
    uint64_t ns;              /* in all calls, what ran in its bodies included */
    double bytes;             /* of its operands and weights, in all calls, each operand read or written once */
} ingot_profile_region;

/* Regions are numbered through the main graph, as ingot_session_region does, then through bodies. They are those of the run noted
 * last, before the first one of a run with the inputs bound: runs that replace an input's default have a plan of their own. */
INGOT_API size_t ingot_profile_region_count(const ingot_profile *profile);
/* Region number index; false past the end. */
INGOT_API bool ingot_profile_get(const ingot_profile *profile, size_t index, ingot_profile_region *region);

/* One call of a region. */
typedef struct ingot_profile_event {
    size_t region;
    uint64_t begin_ns, end_ns; /* since the run began */
} ingot_profile_event;

/* Event number index of the run noted last, in the order in which they ended; false past the end. */
INGOT_API bool ingot_profile_event_at(const ingot_profile *profile, size_t index, ingot_profile_event *event);
/* How many there were, those beyond the limit included. */
INGOT_API uint64_t ingot_profile_event_total(const ingot_profile *profile);

#ifdef __cplusplus
}
#endif

#endif
