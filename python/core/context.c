/* ingot._core.Context: inputs and outputs that stay bound from run to run. */
#include "core.h"

#include "ingot/tools.h"

static PyObject *context_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    PyObject *session;
    ingot_error error = {0};
    if (!PyArg_ParseTuple(args, "O!", core.session_type, &session))
        return NULL;
    context_object *self = PyObject_New(context_object, type);
    if (!self)
        return NULL;
    Py_INCREF(session);
    self->context = NULL;
    self->noted = NULL;
    self->session = (session_object *)session;
    self->inputs = PyDict_New();
    self->outputs = PyDict_New();
    if (ingot_context_create(self->session->session, &self->context, &error) != INGOT_OK)
        core_raise(&error);
    if (self->context && self->inputs && self->outputs)
        return (PyObject *)self;
    Py_DECREF(self);
    return NULL;
}

static void context_dealloc(PyObject *object)
{
    context_object *self = (context_object *)object;
    PyTypeObject *type = Py_TYPE(object);
    ingot_profile_release(self->noted);
    ingot_context_release(self->context);
    Py_XDECREF(self->inputs);
    Py_XDECREF(self->outputs);
    Py_DECREF(self->session);
    PyObject_Free(object);
    Py_DECREF(type);
}

/* Wraps what was given, so that a dict can keep it. */
static PyObject *wrap_given(given_value *given)
{
    PyObject *value = core_wrap(given->value, given->owner, given->borrowed);
    given->borrowed = true;
    core_give_clear(given);
    return value;
}

/* bind_input(name, object) */
static PyObject *context_bind_input(PyObject *object, PyObject *args)
{
    context_object *self = (context_object *)object;
    const port_list *ports = &self->session->inputs;
    PyObject *name, *given_object, *value;
    given_value given;
    ingot_error error = {0};
    Py_ssize_t index;
    if (!PyArg_ParseTuple(args, "UO", &name, &given_object) || (index = core_find_port(ports, "input", name)) < 0 ||
        !core_give(given_object, ports->types[index], &given) || !(value = wrap_given(&given)))
        return NULL;
    /* The value bound before is let go only when the new one has its place. */
    if (ingot_context_bind_input(self->context, ports->names[index], ((value_object *)value)->value, &error) !=
        INGOT_OK)
        core_raise(&error);
    else
        PyDict_SetItem(self->inputs, name, value);
    Py_DECREF(value);
    if (PyErr_Occurred())
        return NULL;
    Py_RETURN_NONE;
}

/* bind_output(name, object or None) */
static PyObject *context_bind_output(PyObject *object, PyObject *args)
{
    context_object *self = (context_object *)object;
    const port_list *ports = &self->session->outputs;
    PyObject *name, *target, *value;
    given_value given = {0};
    ingot_error error = {0};
    Py_ssize_t index;
    if (!PyArg_ParseTuple(args, "UO", &name, &target) || (index = core_find_port(ports, "output", name)) < 0)
        return NULL;
    if (target == Py_None) {
        value = Py_None;
        Py_INCREF(value);
    } else if (!core_give_target(target, ports->types[index], &given) || !(value = wrap_given(&given))) {
        return NULL;
    }
    ingot_value *bound = value == Py_None ? NULL : ((value_object *)value)->value;
    if (ingot_context_bind_output(self->context, ports->names[index], bound, &error) != INGOT_OK)
        core_raise(&error);
    else
        PyDict_SetItem(self->outputs, name, value);
    Py_DECREF(value);
    if (PyErr_Occurred())
        return NULL;
    Py_RETURN_NONE;
}

/* run(cancel=None) */
static PyObject *context_run(PyObject *object, PyObject *args)
{
    context_object *self = (context_object *)object;
    PyObject *cancel = Py_None;
    ingot_run_options options;
    ingot_error error = {0};
    ingot_run_options_init(&options);
    if (!PyArg_ParseTuple(args, "|O", &cancel) || !core_read_cancel(cancel, &options.cancel))
        return NULL;
    ingot_status status;
    Py_BEGIN_ALLOW_THREADS status = ingot_context_run(self->context, &options, &error);
    Py_END_ALLOW_THREADS if (status != INGOT_OK) return core_raise(&error);
    Py_RETURN_NONE;
}

/* output(name): borrowed until the next run. */
static PyObject *context_output(PyObject *object, PyObject *args)
{
    context_object *self = (context_object *)object;
    PyObject *name;
    Py_ssize_t index;
    if (!PyArg_ParseTuple(args, "U", &name) || (index = core_find_port(&self->session->outputs, "output", name)) < 0)
        return NULL;
    const ingot_value *value = ingot_context_output(self->context, (size_t)index);
    if (value)
        return core_wrap((ingot_value *)value, object, true);
    PyErr_SetString(PyTuple_GetItem(core.errors, INGOT_INVALID_ARGUMENT), "the bindings have not run yet");
    return NULL;
}

PyObject *core_make_context_type(void)
{
    static PyMethodDef methods[] = {
        {"bind_input", context_bind_input, METH_VARARGS, "bind_input(name, object): feed object from now on"},
        {"bind_output", context_bind_output, METH_VARARGS,
         "bind_output(name, object): write to the memory of object from now on; None: to memory of the context"},
        {"run", context_run, METH_VARARGS, "run(cancel=None): run with what is bound"},
        {"profile", core_profile, METH_VARARGS,
         "profile(runs): run so often, and tell of each region what it took in all runs, a dict each"},
        {"note_events", core_note_events, METH_VARARGS, "note_events(limit): note the steps of the runs that follow"},
        {"events", core_events, METH_NOARGS,
         "events(): (name, operators, backend, begin_ns, end_ns) of each step of the last run"},
        {"output", context_output, METH_VARARGS, "output(name): a Value that the next run overwrites"},
        {NULL, NULL, 0, NULL},
    };
    PyType_Slot slots[] = {
        {Py_tp_new, SLOT(context_new)},
        {Py_tp_dealloc, SLOT(context_dealloc)},
        {Py_tp_methods, methods},
        {Py_tp_doc, "Context(session): one running stream of a session, with bindings that stay"},
        {0, NULL},
    };
    PyType_Spec spec = {.name = "ingot._core.Context",
                        .basicsize = sizeof(context_object),
                        .flags = Py_TPFLAGS_DEFAULT,
                        .slots = slots};
    return PyType_FromSpec(&spec);
}
