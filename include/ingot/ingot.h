/* Ingot: run ONNX models. The public C API (C11, usable from C++).
 *
 * A whole program (examples/c/hello.c is this page, built and run by the tests):
 *
 *     ingot_error error = {0};
 *     ingot_model *model = NULL;
 *     ingot_session *session = NULL;
 *     if (ingot_model_open("model.onnx", NULL, &model, &error) ||
 *         ingot_session_create(model, NULL, &session, &error)) {
 *         fprintf(stderr, "%s\n", error.message);
 *         return 1;
 *     }
 *     int64_t dims[] = {1, 3, 224, 224};
 *     ingot_value *input = NULL, *output = NULL;
 *     ingot_value_create_tensor(INGOT_FLOAT, 4, dims, pixels, sizeof pixels, &input, &error);
 *     const char *input_name = ingot_session_input(session, 0)->name;
 *     const char *output_name = ingot_session_output(session, 0)->name;
 *     if (ingot_session_run(session, NULL, &input_name, &input, 1, &output_name, &output, 1, &error)) ...
 *     const float *scores = ingot_value_data(output);
 *     ingot_value_release(output);
 *     ingot_value_release(input);
 *     ingot_session_release(session);
 *     ingot_model_release(model);
 *
 * Rules that hold everywhere
 *   Errors     A function that can fail returns ingot_status; INGOT_OK is 0. It fills the caller's ingot_error when that
 *              is not NULL. An error that is already set is kept: the first error wins. Nothing is printed, ever; the
 *              library does not abort and does not exit.
 *   Ownership  "create" and "open" give the caller an object to release. "takes" means that the callee releases it;
 *              everything else is borrowed for the time of the call unless the comment says for how long.
 *              Every release function accepts NULL.
 *   Threads    Models and sessions may be used from several threads at once. A context, a value and an options struct
 *              belong to one thread at a time.
 *   Forks      A child of fork may use the sessions of its parent where none of them was running at that moment; else it makes
 *              sessions of its own.
 *   Strings    UTF-8, NUL-terminated where the type is const char *. Names are the model's own, byte for byte.
 *   Options    A struct of options starts with its size: fill it with its _init function, then change fields. NULL
 *              stands for the defaults.
 */
#ifndef INGOT_INGOT_H
#define INGOT_INGOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define INGOT_API __attribute__((visibility("default")))
#else
#define INGOT_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Version ---------------------------------------------------------------------------------------------------- */

#define INGOT_VERSION_MAJOR 0
#define INGOT_VERSION_MINOR 1
#define INGOT_VERSION_PATCH 0

/* The version of the library in use, as "0.1.0". A constant string. */
INGOT_API const char *ingot_version(void);

/* ---- Errors ----------------------------------------------------------------------------------------------------- */

/* X(name, value, text): the one list of status codes. */
#define INGOT_STATUS_LIST(X)                                                               \
    X(INGOT_OK, 0, "ok")                                                                   \
    X(INGOT_INVALID_ARGUMENT, 1, "an argument of the call is not valid")                   \
    X(INGOT_INVALID_MODEL, 2, "the model breaks the ONNX standard")                        \
    X(INGOT_UNSUPPORTED, 3, "the model or option is valid but not supported")              \
    X(INGOT_NOT_FOUND, 4, "a file, a name or an index does not exist")                     \
    X(INGOT_IO_ERROR, 5, "a file could not be read or written")                            \
    X(INGOT_OUT_OF_MEMORY, 6, "memory could not be had or the limit would be passed")      \
    X(INGOT_INVALID_INPUT, 7, "a value given to a run has a wrong type, shape or content") \
    X(INGOT_CANCELLED, 8, "the work was cancelled")                                        \
    X(INGOT_BUSY, 9, "the object is in use by another run")                                \
    X(INGOT_INTERNAL, 10, "a fault of Ingot itself: please report it")

typedef enum ingot_status {
#define INGOT_STATUS_ENUM(name, value, text) name = value,
    INGOT_STATUS_LIST(INGOT_STATUS_ENUM)
#undef INGOT_STATUS_ENUM
} ingot_status;

/* What happened, where, and what to do. Owned by the caller; set it to {0} before the first call. */
typedef struct ingot_error {
    ingot_status status;
    char message[1020]; /* valid UTF-8, NUL-terminated, cut at a character where it is too long */
} ingot_error;

/* "INGOT_INVALID_MODEL" and "the model breaks the ONNX standard": constant strings, for any value of status. */
INGOT_API const char *ingot_status_name(ingot_status status);
INGOT_API const char *ingot_status_text(ingot_status status);

/* ---- Types ------------------------------------------------------------------------------------------------------ */

/* Element types; the numbers are those of onnx.TensorProto.DataType. X(name, value, text, bits) */
#define INGOT_ELEMENT_LIST(X)                        \
    X(INGOT_UNDEFINED, 0, "undefined", 0)            \
    X(INGOT_FLOAT, 1, "float", 32)                   \
    X(INGOT_UINT8, 2, "uint8", 8)                    \
    X(INGOT_INT8, 3, "int8", 8)                      \
    X(INGOT_UINT16, 4, "uint16", 16)                 \
    X(INGOT_INT16, 5, "int16", 16)                   \
    X(INGOT_INT32, 6, "int32", 32)                   \
    X(INGOT_INT64, 7, "int64", 64)                   \
    X(INGOT_STRING, 8, "string", 128)                \
    X(INGOT_BOOL, 9, "bool", 8)                      \
    X(INGOT_FLOAT16, 10, "float16", 16)              \
    X(INGOT_DOUBLE, 11, "double", 64)                \
    X(INGOT_UINT32, 12, "uint32", 32)                \
    X(INGOT_UINT64, 13, "uint64", 64)                \
    X(INGOT_COMPLEX64, 14, "complex64", 64)          \
    X(INGOT_COMPLEX128, 15, "complex128", 128)       \
    X(INGOT_BFLOAT16, 16, "bfloat16", 16)            \
    X(INGOT_FLOAT8E4M3FN, 17, "float8e4m3fn", 8)     \
    X(INGOT_FLOAT8E4M3FNUZ, 18, "float8e4m3fnuz", 8) \
    X(INGOT_FLOAT8E5M2, 19, "float8e5m2", 8)         \
    X(INGOT_FLOAT8E5M2FNUZ, 20, "float8e5m2fnuz", 8) \
    X(INGOT_UINT4, 21, "uint4", 4)                   \
    X(INGOT_INT4, 22, "int4", 4)                     \
    X(INGOT_FLOAT4E2M1, 23, "float4e2m1", 4)         \
    X(INGOT_FLOAT8E8M0, 24, "float8e8m0", 8)         \
    X(INGOT_UINT2, 25, "uint2", 2)                   \
    X(INGOT_INT2, 26, "int2", 2)

typedef enum ingot_element {
#define INGOT_ELEMENT_ENUM(name, value, text, bits) name = value,
    INGOT_ELEMENT_LIST(INGOT_ELEMENT_ENUM)
#undef INGOT_ELEMENT_ENUM
} ingot_element;

/* Number of element types, INGOT_UNDEFINED included. */
#define INGOT_ELEMENT_COUNT 27

/* "float16", as ONNX spells it in tensor(float16). A constant string. */
INGOT_API const char *ingot_element_name(ingot_element element);

/* Bits of one element; types under 8 bits are packed, the first element in the low bits. Strings have no fixed size. */
INGOT_API size_t ingot_element_bits(ingot_element element);

/* Greatest rank of a tensor. The standard sets none; a model with more dimensions is refused. */
#define INGOT_MAX_RANK 16

typedef enum ingot_kind {
    INGOT_KIND_NONE = 0, /* an optional value without type information */
    INGOT_KIND_TENSOR = 1,
    INGOT_KIND_SEQUENCE = 2,
    INGOT_KIND_MAP = 3,
    INGOT_KIND_OPTIONAL = 4,
    INGOT_KIND_SPARSE = 5,
} ingot_kind;

/* A type as a model declares or infers it. Owned by the object that returned it. */
typedef struct ingot_type_info ingot_type_info;
struct ingot_type_info {
    ingot_kind kind;
    ingot_element element;       /* of a tensor or sparse tensor; the key type of a map */
    const ingot_type_info *item; /* of a sequence or optional: its items; of a map: its values; else NULL */
    int rank;                    /* of a tensor; -1 where it is not known */
    const int64_t *dims;         /* rank sizes; -1 where a size is free */
    const char *const *symbols;  /* rank names of free sizes as the model gives them; NULL where it gives none */
};

typedef struct ingot_value_info {
    const char *name;
    const ingot_type_info *type;
    /* An input that is also an initializer: it may be left out of a run. The first run of a session that gives one plans the model
     * once more, with weights packed for such runs. */
    bool has_default;
} ingot_value_info;

/* ---- Values ----------------------------------------------------------------------------------------------------- */

/* A tensor, sequence, map, optional or sparse tensor. */
typedef struct ingot_value ingot_value;

/* A tensor of rank dims. With data, its memory is used as it is, without a copy: it stays the caller's, must hold at
 * least the tensor's bytes, and must live and stay in place until the value is released. With data NULL the value owns
 * zeroed memory and bytes is ignored. Strings: see the next function. Memory aligned to 64 bytes is fastest, any works. */
INGOT_API ingot_status ingot_value_create_tensor(ingot_element element, int rank, const int64_t *dims, void *data,
                                                 size_t bytes, ingot_value **value, ingot_error *error);

/* A string tensor: a copy of count strings, count being the product of dims. lengths may be NULL for NUL-terminated
 * strings; with lengths a string may hold NUL bytes. */
INGOT_API ingot_status ingot_value_create_strings(int rank, const int64_t *dims, const char *const *strings,
                                                  const size_t *lengths, ingot_value **value, ingot_error *error);

/* A sequence of count items, all of one type (an empty one takes item_element as the type of its tensors). Takes the items
 * when it succeeds, and leaves them to the caller when it fails. */
INGOT_API ingot_status ingot_value_create_sequence(ingot_value *const *items, size_t count, ingot_element item_element,
                                                   ingot_value **value, ingot_error *error);

/* A map: keys a tensor [n] of strings or integers, values a tensor [n]. Takes both when it succeeds. */
INGOT_API ingot_status ingot_value_create_map(ingot_value *keys, ingot_value *values, ingot_value **map,
                                              ingot_error *error);

/* An optional that holds item (taken when it succeeds), or nothing where item is NULL. */
INGOT_API ingot_status ingot_value_create_optional(ingot_value *item, ingot_value **value, ingot_error *error);

/* A sparse tensor of rank dims: values a tensor [n], indices an int64 tensor of row-major places [n] or of coordinates
 * [n, rank], ascending. Takes both when it succeeds. */
INGOT_API ingot_status ingot_value_create_sparse(int rank, const int64_t *dims, ingot_value *values,
                                                 ingot_value *indices, ingot_value **value, ingot_error *error);

INGOT_API void ingot_value_release(ingot_value *value);

INGOT_API ingot_kind ingot_value_kind(const ingot_value *value);
/* Of a tensor: its element type, rank, sizes (rank of them, valid as long as the value), number of elements, bytes. The
 * first three also of a sparse tensor: those of the dense one that it stands for. */
INGOT_API ingot_element ingot_value_element(const ingot_value *value);
INGOT_API int ingot_value_rank(const ingot_value *value);
INGOT_API const int64_t *ingot_value_dims(const ingot_value *value);
INGOT_API size_t ingot_value_count(const ingot_value *value);
INGOT_API size_t ingot_value_bytes(const ingot_value *value);
/* The elements in row-major order; NULL for strings, other kinds and empty tensors without memory. */
INGOT_API void *ingot_value_data(const ingot_value *value);
/* String number index of a string tensor, not NUL-terminated, valid as long as the value; NULL past the end. */
INGOT_API const char *ingot_value_string(const ingot_value *value, size_t index, size_t *length);
/* Items of a sequence; a sequence of maps is what ZipMap gives. Borrowed from the value. */
INGOT_API size_t ingot_value_item_count(const ingot_value *value);
INGOT_API const ingot_value *ingot_value_item(const ingot_value *value, size_t index);
/* Keys and values of a map, tensors [n]. Borrowed from the map. */
INGOT_API const ingot_value *ingot_value_map_keys(const ingot_value *map);
INGOT_API const ingot_value *ingot_value_map_values(const ingot_value *map);
/* What an optional holds, NULL where it is empty. Borrowed. */
INGOT_API const ingot_value *ingot_value_optional_item(const ingot_value *optional);
/* The values [n] of a sparse tensor and where they stand: row-major places [n] or coordinates [n, rank]. Borrowed. */
INGOT_API const ingot_value *ingot_value_sparse_values(const ingot_value *sparse);
INGOT_API const ingot_value *ingot_value_sparse_indices(const ingot_value *sparse);

/* ---- Models ----------------------------------------------------------------------------------------------------- */

/* A model: read, checked and typed, not yet optimized. Immutable and reference-counted; a session keeps its own
 * reference, so a model may be released as soon as its sessions exist. */
typedef struct ingot_model ingot_model;

typedef struct ingot_model_options {
    size_t size;
    const char
        *data_folder;    /* where external data lies; default: the folder of the file; for a model from memory none */
    bool no_mmap;        /* read the files instead of mapping them: slower and larger, safe where files may shrink */
    size_t memory_limit; /* bytes that reading may take beside the file's own; 0: .8 of the machine or the cgroup */
} ingot_model_options;

INGOT_API void ingot_model_options_init(ingot_model_options *options);

/* Opens an .onnx file. The file is mapped and its weights are used where they lie: it must not be changed in place while
 * the model or a session of it lives (replacing it by rename is fine). */
INGOT_API ingot_status ingot_model_open(const char *path, const ingot_model_options *options, ingot_model **model,
                                        ingot_error *error);

/* The same from memory, which stays the caller's and must live, unchanged, as long as the model and its sessions. */
INGOT_API ingot_status ingot_model_open_memory(const void *data, size_t size, const ingot_model_options *options,
                                               ingot_model **model, ingot_error *error);

INGOT_API void ingot_model_release(ingot_model *model);

/* Inputs that a run may be given, in the model's order: initializers that are also inputs come with has_default.
 * Valid as long as the model; NULL past the end. */
INGOT_API size_t ingot_model_input_count(const ingot_model *model);
INGOT_API const ingot_value_info *ingot_model_input(const ingot_model *model, size_t index);
INGOT_API size_t ingot_model_output_count(const ingot_model *model);
INGOT_API const ingot_value_info *ingot_model_output(const ingot_model *model, size_t index);

/* What the file says of itself. Strings are "" where it says nothing. Valid as long as the model. */
INGOT_API int64_t ingot_model_ir_version(const ingot_model *model);
INGOT_API const char *ingot_model_producer(const ingot_model *model); /* "name version" */
INGOT_API const char *ingot_model_producer_name(const ingot_model *model);
INGOT_API const char *ingot_model_domain(const ingot_model *model); /* whose model it is, "org.example" */
INGOT_API int64_t ingot_model_version(const ingot_model *model);
INGOT_API const char *ingot_model_graph_name(const ingot_model *model);
INGOT_API const char *ingot_model_graph_description(const ingot_model *model);
INGOT_API const char *ingot_model_description(const ingot_model *model); /* of the model, else of the graph */
INGOT_API size_t ingot_model_opset_count(const ingot_model *model);
/* Domain ("ai.onnx" for the default one) and version of opset import number index; returns NULL past the end. */
INGOT_API const char *ingot_model_opset(const ingot_model *model, size_t index, int64_t *version);
/* Key and value of metadata entry number index; both NULL past the end. */
INGOT_API size_t ingot_model_metadata_count(const ingot_model *model);
INGOT_API const char *ingot_model_metadata(const ingot_model *model, size_t index, const char **value);
/* Operators as the file uses them, subgraphs included: "Conv" or "com.microsoft::FusedConv", sorted, each with the number
 * of its nodes; returns NULL past the end. */
INGOT_API size_t ingot_model_operator_count(const ingot_model *model);
INGOT_API const char *ingot_model_operator(const ingot_model *model, size_t index, size_t *nodes);
/* Number and bytes of the initializers, subgraphs included. */
INGOT_API size_t ingot_model_initializer_count(const ingot_model *model);
INGOT_API size_t ingot_model_initializer_bytes(const ingot_model *model);

/* ---- Cancelling ------------------------------------------------------------------------------------------------- */

/* A flag that any thread may raise; work that was given the token ends soon after with INGOT_CANCELLED, between two
 * steps of a plan. Reference-counted by the sessions and runs that use it. */
typedef struct ingot_cancel ingot_cancel;
INGOT_API ingot_status ingot_cancel_create(ingot_cancel **cancel, ingot_error *error);
INGOT_API void ingot_cancel_raise(ingot_cancel *cancel);
INGOT_API void ingot_cancel_reset(ingot_cancel *cancel);
INGOT_API void ingot_cancel_release(ingot_cancel *cancel);

/* ---- Threads ---------------------------------------------------------------------------------------------------- */

/* A thread pool of the program, for sessions to use in place of Ingot's own, which all other sessions of the process share.
 * The struct and what user points to must live as long as the sessions that have it; it may be called from several threads
 * at once. */
typedef struct ingot_thread_pool {
    /* Calls work(argument, i) once for each i of 0 ... count - 1, from any threads, this one among them, and returns when all
     * those calls have. They share their work out among themselves: it is fastest where they run at the same time, but right
     * in any order, even one after the other. count is at most the session's threads; work blocks on nothing. */
    void (*run)(void *user, int count, void (*work)(void *argument, int index), void *argument);
    void *user;
} ingot_thread_pool;

/* ---- Sessions --------------------------------------------------------------------------------------------------- */

/* A model made ready for a device: optimized, planned, weights packed, warmed up. Thread-safe: several runs at once draw
 * from a bounded set of contexts. */
typedef struct ingot_session ingot_session;

/* The shape of one input that creation lays memory out for, so that the first run with it finds everything ready. */
typedef struct ingot_warmup_shape {
    const char *input;
    int rank;
    const int64_t *dims;
} ingot_warmup_shape;

typedef enum ingot_opt_level {
    INGOT_OPT_NONE = 0,  /* the graph as it is */
    INGOT_OPT_EXACT = 1, /* passes that keep every bit */
    INGOT_OPT_ALL = 2,   /* all passes; the default */
} ingot_opt_level;

typedef struct ingot_session_options {
    size_t size;
    int threads;        /* participants of one run, the caller included; 0: as many as the cgroup and affinity allow */
    const char *device; /* "cpu" (NULL means it) or "cuda", "cuda:1" */
    const char *precision; /* "fp32" (NULL means it), "tf32", "fp16", "bf16", "int8" */
    size_t memory_limit;   /* bytes for weights, arenas and values; 0: .8 of the machine or the cgroup */
    ingot_opt_level opt_level;
    const char *disabled_passes; /* names of passes to leave out, separated by commas; NULL: none */
    const ingot_warmup_shape
        *warmup_shapes; /* inputs left out take their declared sizes; free sizes are not warmed up */
    size_t warmup_shape_count;
    size_t max_contexts;     /* runs at once; one more waits for a context; 0: 16 */
    size_t shape_cache_size; /* input shapes whose layout is kept, the least recently used leaves; 0: 32 */
    ingot_cancel *cancel;    /* ends creation and every run of the session; NULL: none; the session keeps a reference */
    const ingot_thread_pool *thread_pool; /* runs the parts of a run; NULL: Ingot's own threads */
} ingot_session_options;

INGOT_API void ingot_session_options_init(ingot_session_options *options);

INGOT_API ingot_status ingot_session_create(ingot_model *model, const ingot_session_options *options,
                                            ingot_session **session, ingot_error *error);

/* Waits for runs in progress, then frees all of the session. */
INGOT_API void ingot_session_release(ingot_session *session);

/* Inputs and outputs as inferred; valid as long as the session; NULL past the end. */
INGOT_API size_t ingot_session_input_count(const ingot_session *session);
INGOT_API const ingot_value_info *ingot_session_input(const ingot_session *session, size_t index);
INGOT_API size_t ingot_session_output_count(const ingot_session *session);
INGOT_API const ingot_value_info *ingot_session_output(const ingot_session *session, size_t index);

/* Where the time of creation went, what the session holds and has done. */
typedef struct ingot_statistics {
    size_t size;
    double optimize_ms, plan_ms, pack_ms, warmup_ms; /* parts of session creation */
    size_t packed_bytes;                             /* weights in the layout of their kernels */
    size_t arena_bytes;                              /* activations, all contexts together */
    size_t context_count;                            /* contexts that exist */
    size_t cached_shapes;                            /* input shapes whose layout is kept */
    size_t node_count;                               /* nodes after the passes, subgraphs included */
    size_t region_count;                             /* steps of the plan, subgraphs included */
    uint64_t runs, failed_runs;
    size_t peak_arena_bytes;  /* the largest arena of a context, in the shapes of its last run */
    size_t bound_arena_bytes; /* most bytes of it that are in use at once: no arena for those shapes is smaller */
} ingot_statistics;

INGOT_API void ingot_statistics_init(ingot_statistics *statistics);
INGOT_API ingot_status ingot_session_statistics(const ingot_session *session, ingot_statistics *statistics,
                                                ingot_error *error);

/* A step of the plan: what runs where, and how. Strings valid as long as the session. */
typedef struct ingot_region_info {
    const char *name;      /* the name of its last node */
    const char *operators; /* "Conv+Relu" */
    const char *backend;   /* "cpu" */
    const char *tactic;    /* the kernel chosen, such as "gemm_f32_14x32_avx512" */
    double flops;          /* multiplications and additions at the warm-up shapes, 0 where not known */
    size_t packed_bytes;
} ingot_region_info;

/* Region number index of the main graph; false past the end. */
INGOT_API bool ingot_session_region(const ingot_session *session, size_t index, ingot_region_info *region);

/* ---- Runs ------------------------------------------------------------------------------------------------------- */

typedef struct ingot_run_options {
    size_t size;
    ingot_cancel *cancel; /* ends this run; NULL: none */
} ingot_run_options;

INGOT_API void ingot_run_options_init(ingot_run_options *options);

/* One run. inputs[i] is bound to the input named input_names[i]; inputs with a default may be left out. outputs[i] gets
 * the output named output_names[i]: where outputs[i] is NULL a new value that the caller releases; where it is a tensor of
 * the right type and shape, its memory is written, without a copy. Only what the outputs asked for need is promised. */
INGOT_API ingot_status ingot_session_run(ingot_session *session, const ingot_run_options *options,
                                         const char *const *input_names, const ingot_value *const *inputs,
                                         size_t input_count, const char *const *output_names, ingot_value **outputs,
                                         size_t output_count, ingot_error *error);

/* Gives back to the system what the session keeps for the next runs: the memory of contexts that ingot_session_run made and
 * none uses at the moment, and the layouts of input shapes. For use after large inputs; the next run makes again what it
 * needs. Contexts of the caller keep theirs: see ingot_context_trim. NULL is fine. */
INGOT_API void ingot_session_trim(ingot_session *session);

/* A context: one running stream of a session, with memory for its activations and bindings that stay from run to run.
 * For the lowest latency keep one per thread, bind once, run many times. */
typedef struct ingot_context ingot_context;

INGOT_API ingot_status ingot_context_create(ingot_session *session, ingot_context **context, ingot_error *error);
INGOT_API void ingot_context_release(ingot_context *context);

/* Ties value to an input or output by name, until another is bound or NULL unbinds it. The value is borrowed: it must
 * live until then. An output bound to a tensor is written in place; its memory must be apart from that of inputs and other
 * outputs, which a run checks. */
INGOT_API ingot_status ingot_context_bind_input(ingot_context *context, const char *name, const ingot_value *value,
                                                ingot_error *error);
INGOT_API ingot_status ingot_context_bind_output(ingot_context *context, const char *name, ingot_value *value,
                                                 ingot_error *error);

/* Runs with what is bound. INGOT_BUSY where another thread runs it already. After an error the context is usable. */
INGOT_API ingot_status ingot_context_run(ingot_context *context, const ingot_run_options *options, ingot_error *error);

/* Gives the context's memory back to the system: activations, and outputs that are not bound, which are NULL until the next
 * run. That run makes what it needs again. INGOT_BUSY where another thread runs the context. */
INGOT_API ingot_status ingot_context_trim(ingot_context *context, ingot_error *error);

/* Output number index of the last run, bound or not: borrowed, and valid until the context's next run, binding or
 * release. NULL before a run has succeeded and past the end. */
INGOT_API const ingot_value *ingot_context_output(const ingot_context *context, size_t index);

/* ---- The operator table ----------------------------------------------------------------------------------------- */

/* One operator version that Ingot runs, as `ingot ops` lists it. */
typedef struct ingot_operator_info {
    const char *domain; /* "ai.onnx" */
    const char *name;
    int since_version;
    const char *summary;  /* one line: what it does */
    char types[256];      /* element types its first type constraint allows: "float16 float double" */
    const char *backends; /* "cpu" */
} ingot_operator_info;

/* Operator number index, sorted by domain, name and version; false past the end. */
INGOT_API bool ingot_operator(size_t index, ingot_operator_info *info);

#ifdef __cplusplus
}
#endif

#endif
