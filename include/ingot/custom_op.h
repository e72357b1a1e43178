/* Operators of your own, for models that hold what the ONNX standard does not.
 *
 * An operator is one constant ingot_custom_op: its name, its inputs, outputs and attributes, a shape rule and a kernel. Either the
 * program registers it (ingot_register_op), or it lies in a shared library that exports ingot_custom_ops and that is
 * registered by path (ingot_register_library, `--custom-ops LIBRARY` on the command line). examples/custom_op has a whole
 * one. Such a library needs this header alone: it links to nothing of Ingot, so it works whatever way Ingot was linked.
 *
 * What is registered holds for the whole process, for models opened afterwards, and stays until its end. Registering is
 * thread-safe. Operators that Ingot runs itself (`ingot ops`) cannot be replaced. Functions that a model defines come first.
 *
 * A shape rule and a kernel may be called from several threads at once, for several nodes and runs. They return INGOT_OK, or what
 * their fail gives. */
#ifndef INGOT_CUSTOM_OP_H
#define INGOT_CUSTOM_OP_H

#include "ingot/ingot.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Attributes: parsed once into a struct of the operator's own, its params ---- */

typedef struct ingot_text { /* UTF-8 bytes, not NUL-terminated; for all of these: valid as long as the model */
    const char *data;
    size_t size;
} ingot_text;
typedef struct ingot_ints {
    const int64_t *data;
    size_t count;
    bool given; /* the attribute was there */
} ingot_ints;
typedef struct ingot_floats {
    const float *data;
    size_t count;
    bool given;
} ingot_floats;
typedef struct ingot_texts {
    const ingot_text *data;
    size_t count;
    bool given;
} ingot_texts;

/* What a field of params is, and which attribute fills it. */
typedef enum ingot_param_kind {
    INGOT_PARAM_INT,    /* int64_t */
    INGOT_PARAM_BOOL,   /* bool, from an int that must be 0 or 1 */
    INGOT_PARAM_FLOAT,  /* float */
    INGOT_PARAM_WORD,   /* int: index into words; an unlisted word is refused */
    INGOT_PARAM_TEXT,   /* ingot_text */
    INGOT_PARAM_INTS,   /* ingot_ints */
    INGOT_PARAM_FLOATS, /* ingot_floats */
    INGOT_PARAM_TEXTS,  /* ingot_texts */
    INGOT_PARAM_TENSOR, /* const ingot_value *, NULL where absent */
} ingot_param_kind;

typedef struct ingot_custom_attribute {
    const char *name;
    ingot_param_kind kind;
    size_t offset; /* offsetof(the params struct, the field) */
    bool required; /* a model without it is refused; else the default below stands for it, lists being empty */
    const char *const *words; /* INGOT_PARAM_WORD: what it may say, ended by NULL */
    int64_t default_int;      /* INT and BOOL; WORD: an index into words */
    float default_float;
    const char *default_text; /* NULL: "" */
} ingot_custom_attribute;

/* ---- Inputs and outputs ---- */

/* A set of element types; 0 stands for all of them. */
#define INGOT_ELEMENT_BIT(element) (UINT32_C(1) << (element))

/* An input or output. All are tensors. */
typedef struct ingot_custom_operand {
    const char *name;
    uint32_t
        elements;  /* of an input: the types it may have; of an output: the one it has, where there is no shape rule */
    bool optional; /* may be left out */
    bool variadic; /* the last one of a list only: one or more */
} ingot_custom_operand;

/* Most inputs and outputs of a node, together. */
#define INGOT_CUSTOM_MAX_OPERANDS 64

/* ---- Shape rules ---- */

/* A size of which a shape rule knows nothing. */
#define INGOT_SIZE_FREE (-1)

/* Sizes are 0 or more where they are known. Where they are not, a negative number stands for this very size: it may be handed on
 * to an output, but not calculated with. */
typedef struct ingot_custom_type {
    bool present; /* false: left out */
    ingot_element element;
    int rank; /* -1: not known */
    int64_t dims[INGOT_MAX_RANK];
} ingot_custom_type;

/* One call of a shape rule: when the model is opened, and again for each new set of input shapes, with all sizes known. It fills
 * element, rank and dims of the outputs that are present; they come without: INGOT_UNDEFINED, rank -1. */
typedef struct ingot_custom_shape ingot_custom_shape;
struct ingot_custom_shape {
    size_t size; /* of this struct: fields are only ever added at its end */
    const void *params;
    void *user; /* the descriptor's */
    const ingot_custom_type *inputs;
    size_t input_count;
    ingot_custom_type *outputs;
    size_t output_count;
    /* Content of a small integer input that gives sizes, where it is known: false where it is not, or holds more than max. */
    bool (*integers)(const ingot_custom_shape *shape, size_t input, int64_t *values, size_t max, size_t *count);
    /* Numpy broadcasting of the shapes of two inputs into an output, whose element type it leaves. */
    ingot_status (*broadcast)(ingot_custom_shape *shape, size_t output, size_t a, size_t b);
    /* Fails with a message, which the name of the node is put before. */
    ingot_status (*fail)(const ingot_custom_shape *shape, const char *format, ...);
    void *internal;
};

/* ---- Kernels ---- */

typedef struct ingot_custom_tensor {
    bool present;
    ingot_element element;
    int rank;
    const int64_t *dims;
    size_t count;             /* elements */
    void *data;               /* row-major, without gaps; of inputs: read only; NULL for strings */
    const ingot_value *value; /* the same as a value of ingot.h */
} ingot_custom_tensor;

/* One call of a kernel. */
typedef struct ingot_custom_run ingot_custom_run;
struct ingot_custom_run {
    size_t size; /* of this struct: fields are only ever added at its end */
    const void *params;
    void *user; /* the descriptor's */
    const ingot_custom_tensor *inputs;
    size_t input_count;
    const ingot_custom_tensor
        *outputs; /* with memory, content undefined; INGOT_CUSTOM_OP_SIZES_OUTPUT: see set_output */
    size_t output_count;
    int threads; /* that may work on it, this one included */
    /* Gives an output its shape and memory: with INGOT_CUSTOM_OP_SIZES_OUTPUT only, and there for each output that is present. */
    ingot_status (*set_output)(ingot_custom_run *run, size_t output, ingot_element element, int rank,
                               const int64_t *dims);
    /* Memory of one call, aligned to 64 bytes, kept from run to run; a second call takes the first one's back. NULL: none left. */
    void *(*scratch)(ingot_custom_run *run, size_t bytes);
    /* Calls body for chunks 0 ... chunks - 1 on the threads of the session's pool. Choose chunks by the shape, not by threads, and
     * results will not depend on threads. */
    void (*parallel)(ingot_custom_run *run, size_t chunks, void (*body)(void *argument, size_t chunk), void *argument);
    /* String number index of a tensor of strings, and its counterpart for an output. */
    const char *(*string)(const ingot_custom_tensor *tensor, size_t index, size_t *length);
    ingot_status (*set_string)(ingot_custom_run *run, size_t output, size_t index, const char *text, size_t length);
    /* Fails with a message, which the name of the node is put before. */
    ingot_status (*fail)(const ingot_custom_run *run, const char *format, ...);
    void *internal;
};

/* ---- The descriptor ---- */

enum {
    /* Output 0 may take input 0's memory where shapes and types agree: each element is read before it is written. */
    INGOT_CUSTOM_OP_IN_PLACE = 1 << 0,
    /* The sizes of outputs depend on the content of inputs: the kernel tells them by set_output. */
    INGOT_CUSTOM_OP_SIZES_OUTPUT = 1 << 1,
    /* Two runs on the same inputs may differ, or something else happens in a run: it is not folded away or done once for two. */
    INGOT_CUSTOM_OP_RANDOM = 1 << 2,
};

/* All of it, what it points to included, must live and stay as it is until the process ends. */
typedef struct ingot_custom_op {
    size_t size;        /* sizeof(ingot_custom_op) */
    const char *domain; /* "com.example"; "ai.onnx" and its kin are the standard's, but for what Ingot does not run */
    const char *name;
    int since_version; /* the first version of the domain that this form is for; the greatest that fits a model is taken */
    const char *summary; /* one line for people; NULL: none */
    const ingot_custom_operand *inputs;
    size_t input_count;
    const ingot_custom_operand *outputs;
    size_t output_count;
    size_t params_size;
    const ingot_custom_attribute *attributes;
    size_t attribute_count;
    uint32_t flags; /* INGOT_CUSTOM_OP_IN_PLACE ... */
    /* NULL: where there are inputs, outputs have the shape of input 0, and its type unless their elements name a single one. */
    ingot_status (*shape)(ingot_custom_shape *shape);
    ingot_status (*kernel)(ingot_custom_run *run);
    void *user;
} ingot_custom_op;

/* Registers an operator. The same descriptor again is no error; another of the same domain, name and since_version is. */
INGOT_API ingot_status ingot_register_op(const ingot_custom_op *op, ingot_error *error);

#define INGOT_CUSTOM_OP_API 1

/* What a library of operators exports under the name "ingot_custom_ops": its descriptors, ended by NULL. api is
 * INGOT_CUSTOM_OP_API of the Ingot that asks; a library that needs a newer one returns NULL. */
typedef const ingot_custom_op *const *(*ingot_custom_ops_function)(int api);

/* Loads the shared library at path, which stays loaded, and registers all of its operators, or none where one is refused. */
INGOT_API ingot_status ingot_register_library(const char *path, ingot_error *error);

#ifdef __cplusplus
}
#endif

#endif
