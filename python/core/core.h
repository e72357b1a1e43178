/* ingot._core: the public C API as Python sees it. Written for the limited API, so that one build serves every Python from
 * 3.9 on; numpy is met through its array interface alone, so that any numpy serves. */
#ifndef INGOT_PYTHON_CORE_H
#define INGOT_PYTHON_CORE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "ingot/ingot.h"

/* Functions in the tables of Python, which hold data pointers. */
#define SLOT(function)   ((void *)(uintptr_t)(function))
#define METHOD(function) ((PyCFunction)(void (*)(void))(function))

/* ---- What numpy's array interface exports (its documentation: "The array interface protocol") ---- */

#define ARRAY_C_CONTIGUOUS 0x001
#define ARRAY_ALIGNED      0x100
#define ARRAY_NATIVE       0x200
#define ARRAY_WRITEABLE    0x400

typedef struct array_interface {
    int two; /* 2: a check */
    int rank;
    char kind; /* 'f', 'i', 'u', 'b', 'c' */
    int item_size;
    int flags;
    Py_ssize_t *shape, *strides;
    void *data;
    PyObject *description;
} array_interface;

/* ---- Objects that the files share ---- */

/* Interned names and Python functions that C calls; filled when the module is made. */
typedef struct core_names {
    PyObject *array_struct, *dlpack; /* names of attributes */
    PyObject *asarray;               /* numpy.asarray */
    PyObject *errors;                /* a tuple: exception classes by status */
    PyObject *arrays;                /* module ingot._arrays: what numpy lacks, and everything that is not hot */
    PyTypeObject *model_type, *session_type, *value_type, *cancel_type, *context_type;
} core_names;

extern core_names core;

/* A value: owned, or borrowed from another object that owner keeps alive. */
typedef struct value_object {
    PyObject ob_base;
    ingot_value *value;
    PyObject *owner; /* keeps memory alive that value uses; may be NULL */
    bool borrowed;   /* value belongs to owner */
    array_interface interface;
    Py_ssize_t shape[INGOT_MAX_RANK], strides[INGOT_MAX_RANK];
} value_object;

typedef struct cancel_object {
    PyObject ob_base;
    ingot_cancel *cancel;
} cancel_object;

typedef struct model_object {
    PyObject ob_base;
    ingot_model *model;
    PyObject *memory; /* the bytes that the model lies in, or NULL */
} model_object;

/* What is known of the inputs or outputs of a session. */
typedef struct port_list {
    size_t count;
    const char **names;
    const ingot_type_info **types;
    PyObject *index; /* dict: name to number */
} port_list;

typedef struct session_object {
    PyObject ob_base;
    ingot_session *session;
    PyObject *model;
    port_list inputs, outputs;
} session_object;

typedef struct context_object {
    PyObject ob_base;
    ingot_context *context;
    session_object *session;
    PyObject *inputs, *outputs;  /* dicts: name to the value object bound, which keeps its memory alive */
    struct ingot_profile *noted; /* what note_events began; NULL: nothing */
} context_object;

/* ---- module.c ---- */

/* Raises the exception class of the status with the message; always NULL. */
PyObject *core_raise(const ingot_error *error);
/* What a type is, in Python: (kind, element, dims or None, item or None). */
PyObject *core_type(const ingot_type_info *type);
/* An input or output, in Python: (name, type, has_default). */
PyObject *core_port(const ingot_value_info *info);
/* The token of a Cancel object, NULL for None; false: an exception is set. */
bool core_read_cancel(PyObject *object, ingot_cancel **cancel);

/* ---- array.c: Python objects to tensors ---- */

/* Where a tensor lies: in memory that owner keeps alive. */
typedef struct tensor_view {
    ingot_element element;
    int rank;
    int64_t dims[INGOT_MAX_RANK];
    void *data;
    size_t bytes;
    bool writeable;
    PyObject *owner;
} tensor_view;

/* Finds the memory of a row-major array in native byte order, without a copy; wanted says how to read bits of types that numpy
 * lacks. 1: found; 0: the object is none, or its memory cannot be used as it is; -1: an exception is set. */
int core_view_array(PyObject *object, ingot_element wanted, tensor_view *view);

/* ---- convert.c ---- */

/* A value made for one call: what a Python object holds. */
typedef struct given_value {
    ingot_value *value;
    bool borrowed;   /* value belongs to a value object, which owner keeps alive */
    PyObject *owner; /* keeps the memory alive; may be NULL */
} given_value;

/* Makes a value of an object, as type declares it (NULL: as the object is). False: an exception is set. */
bool core_give(PyObject *object, const ingot_type_info *type, given_value *given);
/* The same for memory that a run is to write: a value object or an array whose memory can be used as it is. */
bool core_give_target(PyObject *object, const ingot_type_info *type, given_value *given);
void core_give_clear(given_value *given);
/* The Python object for a value object's value: an array that shares its memory, a list, a dict, None. */
PyObject *core_take(PyObject *value);

/* ---- value.c ---- */

/* A value object that takes value, or borrows it from owner, which is then needed. A value that could not be taken is released. */
PyObject *core_wrap(ingot_value *value, PyObject *owner, bool borrowed);

/* ---- session.c ---- */

/* The number of a name; -1 with an exception that tells the names there are. */
Py_ssize_t core_find_port(const port_list *ports, const char *what, PyObject *name);

/* ---- profile.c ---- */

/* The methods of Context that have to do with profiles. */
PyObject *core_profile(PyObject *context, PyObject *args);
PyObject *core_note_events(PyObject *context, PyObject *args);
PyObject *core_events(PyObject *context, PyObject *unused);

/* ---- doctor.c ---- */

/* diagnose of the module: (findings, stub). */
PyObject *core_diagnose(PyObject *module, PyObject *args);

/* ---- custom_op.c ---- */

/* register_op of the module: see _core.pyi. */
PyObject *core_register_op(PyObject *module, PyObject *args);

/* ---- Types: a new type each, or NULL ---- */

PyObject *core_make_value_type(void);
PyObject *core_make_model_type(void);
PyObject *core_make_session_type(void);
PyObject *core_make_context_type(void);
PyObject *core_make_cancel_type(void);

#endif
