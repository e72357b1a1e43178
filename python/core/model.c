/* ingot._core.Model and ingot._core.Cancel. */
#include "core.h"

/* ---- Model ---- */

static void model_dealloc(PyObject *object)
{
    model_object *self = (model_object *)object;
    PyTypeObject *type = Py_TYPE(object);
    ingot_model_release(self->model);
    Py_XDECREF(self->memory);
    PyObject_Free(object);
    Py_DECREF(type);
}

/* Model(path=None, data=None, data_folder=None, mmap=True, memory_limit=0): path as file system bytes, or data as bytes. */
static PyObject *model_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"path", "data", "data_folder", "mmap", "memory_limit", NULL};
    const char *path = NULL, *folder = NULL;
    PyObject *data = Py_None;
    int mmap = 1;
    Py_ssize_t limit = 0;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|yOypn", names, &path, &data, &folder, &mmap, &limit))
        return NULL;
    char *memory = NULL;
    Py_ssize_t size = 0;
    if (!path && PyBytes_AsStringAndSize(data, &memory, &size) < 0)
        return NULL;
    ingot_model_options options;
    ingot_model_options_init(&options);
    options.data_folder = folder;
    options.no_mmap = !mmap;
    options.memory_limit = limit > 0 ? (size_t)limit : 0;
    ingot_model *model = NULL;
    ingot_error error = {0};
    ingot_status status;
    Py_BEGIN_ALLOW_THREADS status = path ? ingot_model_open(path, &options, &model, &error)
                                         : ingot_model_open_memory(memory, (size_t)size, &options, &model, &error);
    Py_END_ALLOW_THREADS if (status != INGOT_OK) return core_raise(&error);
    model_object *self = PyObject_New(model_object, type);
    if (!self) {
        ingot_model_release(model);
        return NULL;
    }
    self->model = model;
    self->memory = path ? NULL : data;
    Py_XINCREF(self->memory);
    return (PyObject *)self;
}

/* Puts a value, whose reference it takes, into a dict; false where an exception is set. */
static bool put(PyObject *dict, const char *key, PyObject *value)
{
    bool good = dict && value && PyDict_SetItemString(dict, key, value) == 0;
    Py_XDECREF(value);
    return good;
}

static PyObject *opsets(const ingot_model *model)
{
    PyObject *dict = PyDict_New();
    const char *domain;
    int64_t version;
    for (size_t i = 0; (domain = ingot_model_opset(model, i, &version)); i++)
        if (!put(dict, domain, PyLong_FromLongLong(version)))
            break;
    return dict;
}

static PyObject *metadata(const ingot_model *model)
{
    PyObject *dict = PyDict_New();
    const char *key, *value;
    for (size_t i = 0; (key = ingot_model_metadata(model, i, &value)); i++)
        if (!put(dict, key, PyUnicode_FromString(value)))
            break;
    return dict;
}

static PyObject *operators(const ingot_model *model)
{
    PyObject *dict = PyDict_New();
    const char *name;
    size_t nodes;
    for (size_t i = 0; (name = ingot_model_operator(model, i, &nodes)); i++)
        if (!put(dict, name, PyLong_FromSize_t(nodes)))
            break;
    return dict;
}

/* What the file says of itself, as a dict. */
static PyObject *model_describe(PyObject *self, PyObject *unused)
{
    const ingot_model *model = ((model_object *)self)->model;
    PyObject *dict = PyDict_New();
    put(dict, "ir_version", PyLong_FromLongLong(ingot_model_ir_version(model)));
    put(dict, "producer", PyUnicode_FromString(ingot_model_producer(model)));
    put(dict, "producer_name", PyUnicode_FromString(ingot_model_producer_name(model)));
    put(dict, "domain", PyUnicode_FromString(ingot_model_domain(model)));
    put(dict, "version", PyLong_FromLongLong(ingot_model_version(model)));
    put(dict, "graph_name", PyUnicode_FromString(ingot_model_graph_name(model)));
    put(dict, "graph_description", PyUnicode_FromString(ingot_model_graph_description(model)));
    put(dict, "description", PyUnicode_FromString(ingot_model_description(model)));
    put(dict, "initializers", PyLong_FromSize_t(ingot_model_initializer_count(model)));
    put(dict, "initializer_bytes", PyLong_FromSize_t(ingot_model_initializer_bytes(model)));
    put(dict, "opsets", opsets(model));
    put(dict, "metadata", metadata(model));
    put(dict, "operators", operators(model));
    if (PyErr_Occurred())
        Py_CLEAR(dict);
    return dict;
}

typedef const ingot_value_info *(*port_getter)(const ingot_model *model, size_t index);

static PyObject *model_ports(const ingot_model *model, port_getter get)
{
    PyObject *list = PyList_New(0);
    const ingot_value_info *info;
    for (size_t i = 0; list && (info = get(model, i)); i++) {
        PyObject *port = core_port(info);
        if (!port || PyList_Append(list, port) < 0)
            Py_CLEAR(list);
        Py_XDECREF(port);
    }
    return list;
}

static PyObject *model_inputs(PyObject *self, PyObject *unused)
{
    return model_ports(((model_object *)self)->model, ingot_model_input);
}

static PyObject *model_outputs(PyObject *self, PyObject *unused)
{
    return model_ports(((model_object *)self)->model, ingot_model_output);
}

PyObject *core_make_model_type(void)
{
    static PyMethodDef methods[] = {
        {"describe", model_describe, METH_NOARGS, "describe(): what the file says of itself, as a dict"},
        {"inputs", model_inputs, METH_NOARGS, "inputs(): (name, type, has_default) of each input"},
        {"outputs", model_outputs, METH_NOARGS, "outputs(): (name, type, has_default) of each output"},
        {NULL, NULL, 0, NULL},
    };
    PyType_Slot slots[] = {
        {Py_tp_new, SLOT(model_new)},
        {Py_tp_dealloc, SLOT(model_dealloc)},
        {Py_tp_methods, methods},
        {Py_tp_doc,
         "Model(path=None, data=None, data_folder=None, mmap=True, memory_limit=0): a model, read and checked"},
        {0, NULL},
    };
    PyType_Spec spec = {
        .name = "ingot._core.Model", .basicsize = sizeof(model_object), .flags = Py_TPFLAGS_DEFAULT, .slots = slots};
    return PyType_FromSpec(&spec);
}

/* ---- Cancel ---- */

static PyObject *cancel_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    ingot_error error = {0};
    cancel_object *self = PyObject_New(cancel_object, type);
    if (!self)
        return NULL;
    self->cancel = NULL;
    if (ingot_cancel_create(&self->cancel, &error) == INGOT_OK)
        return (PyObject *)self;
    Py_DECREF(self);
    return core_raise(&error);
}

static void cancel_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    ingot_cancel_release(((cancel_object *)object)->cancel);
    PyObject_Free(object);
    Py_DECREF(type);
}

static PyObject *cancel_raise(PyObject *self, PyObject *unused)
{
    ingot_cancel_raise(((cancel_object *)self)->cancel);
    Py_RETURN_NONE;
}

static PyObject *cancel_reset(PyObject *self, PyObject *unused)
{
    ingot_cancel_reset(((cancel_object *)self)->cancel);
    Py_RETURN_NONE;
}

PyObject *core_make_cancel_type(void)
{
    static PyMethodDef methods[] = {
        {"cancel", cancel_raise, METH_NOARGS, "cancel(): end the work that was given this token, soon"},
        {"reset", cancel_reset, METH_NOARGS, "reset(): let work with this token go on again"},
        {NULL, NULL, 0, NULL},
    };
    PyType_Slot slots[] = {
        {Py_tp_new, SLOT(cancel_new)},
        {Py_tp_dealloc, SLOT(cancel_dealloc)},
        {Py_tp_methods, methods},
        {Py_tp_doc, "Cancel(): a token that any thread may raise to end a run or a load"},
        {0, NULL},
    };
    PyType_Spec spec = {
        .name = "ingot._core.Cancel", .basicsize = sizeof(cancel_object), .flags = Py_TPFLAGS_DEFAULT, .slots = slots};
    return PyType_FromSpec(&spec);
}
