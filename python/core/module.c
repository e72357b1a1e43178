/* The module ingot._core: names, errors, types, and the operator table. */
#include <string.h>

#include "core.h"

#include "ingot/custom_op.h"
#include "ingot/tools.h"

core_names core;

PyObject *core_raise(const ingot_error *error)
{
    PyObject *message = PyUnicode_DecodeUTF8(error->message, (Py_ssize_t)strlen(error->message), "replace");
    PyObject *type = PyTuple_GetItem(core.errors, error->status);
    if (message && type)
        PyErr_SetObject(type, message);
    Py_XDECREF(message);
    return NULL;
}

bool core_read_cancel(PyObject *object, ingot_cancel **cancel)
{
    *cancel = NULL;
    if (object == Py_None)
        return true;
    if (!PyObject_TypeCheck(object, core.cancel_type)) {
        PyErr_Format(PyExc_TypeError, "cancel must be an ingot.Cancel or None, not %R", object);
        return false;
    }
    *cancel = ((cancel_object *)object)->cancel;
    return true;
}

/* Sizes of a shape: numbers, names, or None where nothing is known; None for a rank that is not known. */
static PyObject *dims_of(const ingot_type_info *type)
{
    if (type->rank < 0)
        Py_RETURN_NONE;
    PyObject *dims = PyTuple_New(type->rank);
    for (int i = 0; i < type->rank && dims; i++) {
        const char *symbol = type->symbols ? type->symbols[i] : NULL;
        PyObject *size;
        if (type->dims[i] >= 0) {
            size = PyLong_FromLongLong(type->dims[i]);
        } else if (symbol) {
            size = PyUnicode_FromString(symbol);
        } else {
            size = Py_None;
            Py_INCREF(size);
        }
        if (!size)
            Py_CLEAR(dims);
        else
            PyTuple_SetItem(dims, i, size);
    }
    return dims;
}

PyObject *core_type(const ingot_type_info *type)
{
    if (!type)
        Py_RETURN_NONE;
    const bool tensor = type->kind == INGOT_KIND_TENSOR || type->kind == INGOT_KIND_SPARSE;
    PyObject *dims = NULL, *item = core_type(type->item);
    if (tensor) {
        dims = dims_of(type);
    } else {
        dims = Py_None;
        Py_INCREF(dims);
    }
    if (item && dims)
        return Py_BuildValue("(iiNN)", (int)type->kind, (int)type->element, dims, item);
    Py_XDECREF(item);
    Py_XDECREF(dims);
    return NULL;
}

PyObject *core_port(const ingot_value_info *info)
{
    PyObject *type = core_type(info->type);
    return type ? Py_BuildValue("(sNO)", info->name, type, info->has_default ? Py_True : Py_False) : NULL;
}

/* ---- Functions ---- */

static PyObject *list_operators(PyObject *self, PyObject *unused)
{
    PyObject *list = PyList_New(0);
    ingot_operator_info o;
    for (size_t i = 0; list && ingot_operator(i, &o); i++) {
        PyObject *line = Py_BuildValue("{s:s,s:s,s:i,s:s,s:s,s:s}", "domain", o.domain, "name", o.name, "since_version",
                                       o.since_version, "summary", o.summary, "types", o.types, "backends", o.backends);
        if (!line || PyList_Append(list, line) < 0)
            Py_CLEAR(list);
        Py_XDECREF(line);
    }
    return list;
}

/* register_library(path): path as file system bytes. */
static PyObject *register_library(PyObject *self, PyObject *args)
{
    const char *path;
    ingot_error error = {0};
    if (!PyArg_ParseTuple(args, "y", &path))
        return NULL;
    if (ingot_register_library(path, &error) != INGOT_OK)
        return core_raise(&error);
    Py_RETURN_NONE;
}

/* ort_options(): {name: (whether it has an effect, what it does or why it has none)} */
static PyObject *ort_options(PyObject *self, PyObject *unused)
{
    PyObject *dict = PyDict_New();
    ingot_ort_option_info option;
    for (size_t i = 0; dict && ingot_ort_option(i, &option); i++) {
        PyObject *line = Py_BuildValue("(Os)", option.has_effect ? Py_True : Py_False, option.effect);
        if (!line || PyDict_SetItemString(dict, option.name, line) < 0)
            Py_CLEAR(dict);
        Py_XDECREF(line);
    }
    return dict;
}

static PyObject *describe_cpu(PyObject *self, PyObject *unused)
{
    return PyUnicode_FromString(ingot_cpu_description());
}

static PyObject *version(PyObject *self, PyObject *unused)
{
    return PyUnicode_FromString(ingot_version());
}

/* ---- The module ---- */

static PyObject *import_name(const char *module, const char *name)
{
    PyObject *imported = PyImport_ImportModule(module);
    PyObject *object = imported ? PyObject_GetAttrString(imported, name) : NULL;
    Py_XDECREF(imported);
    return object;
}

static bool fill_names(void)
{
    core.array_struct = PyUnicode_InternFromString("__array_struct__");
    core.dlpack = PyUnicode_InternFromString("__dlpack__");
    core.asarray = import_name("numpy", "asarray");
    core.errors = core.asarray ? import_name("ingot._errors", "BY_STATUS") : NULL;
    core.arrays = core.errors ? PyImport_ImportModule("ingot._arrays") : NULL;
    return core.arrays != NULL;
}

/* Makes a type and adds it to the module. */
static PyTypeObject *add_type(PyObject *module, const char *name, PyObject *(*make)(void))
{
    PyObject *type = PyErr_Occurred() ? NULL : make();
    if (!type)
        return NULL;
    Py_INCREF(type);
    if (PyModule_AddObject(module, name, type) < 0) {
        Py_DECREF(type);
        Py_CLEAR(type);
    }
    return (PyTypeObject *)type;
}

static bool add_element_names(PyObject *module)
{
    PyObject *names = PyTuple_New(INGOT_ELEMENT_COUNT);
    for (int i = 0; i < INGOT_ELEMENT_COUNT && names; i++) {
        PyObject *name = PyUnicode_FromString(ingot_element_name((ingot_element)i));
        if (!name)
            Py_CLEAR(names);
        else
            PyTuple_SetItem(names, i, name);
    }
    if (names && PyModule_AddObject(module, "ELEMENT_NAMES", names) == 0)
        return true;
    Py_XDECREF(names);
    return false;
}

/* Which kind of param an attribute is, for those that a Python function can have. */
static bool add_param_kinds(PyObject *module)
{
    PyObject *kinds = Py_BuildValue("{s:i, s:i, s:i, s:i, s:i, s:i}", "int", INGOT_PARAM_INT, "float",
                                    INGOT_PARAM_FLOAT, "str", INGOT_PARAM_TEXT, "ints", INGOT_PARAM_INTS, "floats",
                                    INGOT_PARAM_FLOATS, "strs", INGOT_PARAM_TEXTS);
    if (kinds && PyModule_AddObject(module, "PARAM_KINDS", kinds) == 0)
        return true;
    Py_XDECREF(kinds);
    return false;
}

PyMODINIT_FUNC PyInit__core(void); /* what Python looks for */

PyMODINIT_FUNC PyInit__core(void)
{
    static PyMethodDef functions[] = {
        {"operators", list_operators, METH_NOARGS, "operators(): operator versions that this build runs, a dict each"},
        {"describe_cpu", describe_cpu, METH_NOARGS, "describe_cpu(): the processor features in use"},
        {"register_library", register_library, METH_VARARGS,
         "register_library(path): load a shared library of custom operators"},
        {"diagnose", core_diagnose, METH_VARARGS, "diagnose(path): what is wrong with a model; see ingot.doctor"},
        {"register_op", core_register_op, METH_VARARGS,
         "register_op(...): make a Python function an operator; see ingot.op"},
        {"ort_options", ort_options, METH_NOARGS, "ort_options(): what session options of ONNX Runtime do here"},
        {"version", version, METH_NOARGS, "version(): the version of the library in use"},
        {NULL, NULL, 0, NULL},
    };
    static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "ingot._core", .m_size = -1,
                                            .m_doc = "The library, as the rest of the package uses it.",
                                            .m_methods = functions};
    PyObject *module = fill_names() ? PyModule_Create(&definition) : NULL;
    if (!module)
        return NULL;
    core.value_type = add_type(module, "Value", core_make_value_type);
    core.cancel_type = add_type(module, "Cancel", core_make_cancel_type);
    core.model_type = add_type(module, "Model", core_make_model_type);
    core.session_type = add_type(module, "Session", core_make_session_type);
    core.context_type = add_type(module, "Context", core_make_context_type);
    if (!PyErr_Occurred() && add_element_names(module) && add_param_kinds(module))
        return module;
    Py_DECREF(module);
    return NULL;
}
