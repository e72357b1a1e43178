/* ingot._core.Session: a session, and the one hot path of the package, run. */
#include <string.h>

#include "core.h"

/* ---- Inputs and outputs ---- */

/* Zeroed memory; NULL with an exception where there is none. Its size comes from counts of things that exist. */
static void *allocate(size_t size)
{
    void *memory = PyMem_Malloc(size ? size : 1);
    return memory ? memset(memory, 0, size) : PyErr_NoMemory();
}

static void clear_ports(port_list *ports)
{
    PyMem_Free(ports->names);
    PyMem_Free(ports->types);
    Py_CLEAR(ports->index);
}

typedef const ingot_value_info *(*port_getter)(const ingot_session *session, size_t index);

static bool read_ports(const ingot_session *session, size_t count, port_getter get, port_list *ports)
{
    ports->count = count;
    ports->names = allocate((count + 1) * sizeof *ports->names);
    ports->types = allocate((count + 1) * sizeof *ports->types);
    ports->index = PyDict_New();
    if (!ports->names || !ports->types || !ports->index)
        return false;
    for (size_t i = 0; i < count; i++) {
        const ingot_value_info *info = get(session, i);
        ports->names[i] = info->name;
        ports->types[i] = info->type;
        PyObject *name = PyUnicode_InternFromString(info->name), *number = PyLong_FromSize_t(i);
        bool good =
            name && number && (PyDict_GetItem(ports->index, name) || !PyDict_SetItem(ports->index, name, number));
        Py_XDECREF(name);
        Py_XDECREF(number);
        if (!good)
            return false;
    }
    return true;
}

Py_ssize_t core_find_port(const port_list *ports, const char *what, PyObject *name)
{
    PyObject *number = PyDict_GetItemWithError(ports->index, name);
    if (number)
        return PyLong_AsSsize_t(number);
    PyObject *names = PyErr_Occurred() ? NULL : PyDict_Keys(ports->index);
    if (names)
        PyErr_Format(PyTuple_GetItem(core.errors, INGOT_NOT_FOUND), "the model has no %s %R; it has: %R", what, name,
                     names);
    Py_XDECREF(names);
    return -1;
}

/* ---- Making ---- */

static void session_dealloc(PyObject *object)
{
    session_object *self = (session_object *)object;
    PyTypeObject *type = Py_TYPE(object);
    ingot_session_release(self->session);
    clear_ports(&self->inputs);
    clear_ports(&self->outputs);
    Py_XDECREF(self->model);
    PyObject_Free(object);
    Py_DECREF(type);
}

/* Reads [(name, (size, ...)), ...]; *shapes and the sizes behind them are freed by PyMem_Free as one. */
static bool read_warmup(PyObject *list, ingot_session_options *options, ingot_warmup_shape **shapes)
{
    *shapes = NULL;
    if (list == Py_None)
        return true;
    const Py_ssize_t count = PyList_Size(list);
    if (count < 0)
        return false;
    const size_t head = (size_t)count * sizeof **shapes;
    *shapes = allocate(head + (size_t)count * INGOT_MAX_RANK * sizeof(int64_t));
    if (!*shapes)
        return false;
    int64_t *dims = (int64_t *)(void *)((char *)*shapes + head);
    for (Py_ssize_t i = 0; i < count; i++, dims += INGOT_MAX_RANK) {
        PyObject *sizes;
        if (!PyArg_ParseTuple(PyList_GetItem(list, i), "sO!", &(*shapes)[i].input, &PyTuple_Type, &sizes))
            return false;
        const Py_ssize_t rank = PyTuple_Size(sizes);
        for (Py_ssize_t d = 0; d < rank && d < INGOT_MAX_RANK; d++)
            dims[d] = PyLong_AsLongLong(PyTuple_GetItem(sizes, d));
        (*shapes)[i].rank = rank > INGOT_MAX_RANK ? INGOT_MAX_RANK + 1 : (int)rank;
        (*shapes)[i].dims = dims;
    }
    options->warmup_shapes = *shapes;
    options->warmup_shape_count = (size_t)count;
    return PyErr_Occurred() == NULL;
}

static PyObject *make_session(PyTypeObject *type, PyObject *model, const ingot_session_options *options)
{
    ingot_error error = {0};
    ingot_session *session = NULL;
    ingot_status status;
    Py_BEGIN_ALLOW_THREADS status = ingot_session_create(((model_object *)model)->model, options, &session, &error);
    Py_END_ALLOW_THREADS if (status != INGOT_OK) return core_raise(&error);
    session_object *self = PyObject_New(session_object, type);
    if (!self) {
        ingot_session_release(session);
        return NULL;
    }
    Py_INCREF(model);
    self->session = session;
    self->model = model;
    self->inputs = self->outputs = (port_list){0};
    if (read_ports(session, ingot_session_input_count(session), ingot_session_input, &self->inputs) &&
        read_ports(session, ingot_session_output_count(session), ingot_session_output, &self->outputs))
        return (PyObject *)self;
    Py_DECREF(self);
    return NULL;
}

static PyObject *session_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"model",        "threads",          "device",          "precision",
                            "memory_limit", "opt_level",        "disabled_passes", "warmup",
                            "max_contexts", "shape_cache_size", "cancel",          NULL};
    PyObject *model, *warmup = Py_None, *cancel = Py_None;
    Py_ssize_t limit = 0, contexts = 0, shapes = 0;
    int level = INGOT_OPT_ALL;
    ingot_session_options options;
    ingot_session_options_init(&options);
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O!|izznizOnnO", names, core.model_type, &model, &options.threads,
                                     &options.device, &options.precision, &limit, &level, &options.disabled_passes,
                                     &warmup, &contexts, &shapes, &cancel))
        return NULL;
    options.memory_limit = limit > 0 ? (size_t)limit : 0;
    options.opt_level = (ingot_opt_level)level;
    options.max_contexts = contexts > 0 ? (size_t)contexts : 0;
    options.shape_cache_size = shapes > 0 ? (size_t)shapes : 0;
    if (!core_read_cancel(cancel, &options.cancel))
        return NULL;
    ingot_warmup_shape *memory;
    PyObject *self = read_warmup(warmup, &options, &memory) ? make_session(type, model, &options) : NULL;
    PyMem_Free(memory);
    return self;
}

/* ---- Running ---- */

#define FEW 16 /* inputs and outputs of a run that need no memory of their own */

typedef struct run_port {
    const char *name;
    given_value given; /* of an output: where it is to be written, or what was made */
} run_port;

/* All that one run is given and gives. */
typedef struct run_call {
    session_object *session;
    size_t input_count, output_count;
    run_port *inputs, *outputs;
    run_port few[2 * FEW];
} run_call;

static void clear_call(run_call *call)
{
    for (size_t i = 0; i < call->input_count; i++)
        core_give_clear(&call->inputs[i].given);
    for (size_t i = 0; i < call->output_count; i++)
        core_give_clear(&call->outputs[i].given);
    if (call->inputs != call->few)
        PyMem_Free(call->inputs);
}

static bool reserve(run_call *call, size_t inputs, size_t outputs)
{
    call->input_count = call->output_count = 0;
    call->inputs = call->few;
    if (inputs + outputs > 2 * FEW)
        call->inputs = PyMem_Malloc((inputs + outputs) * sizeof *call->inputs);
    if (!call->inputs)
        PyErr_NoMemory();
    call->outputs = call->inputs ? call->inputs + inputs : NULL;
    return call->inputs != NULL;
}

/* Names the input in the exception that is set. */
static void name_input(PyObject *name)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    /* Errors of encodings are made of more than a message. */
    PyObject *plain = PyErr_GivenExceptionMatches(type, PyExc_UnicodeError) ? PyExc_ValueError : type;
    PyErr_Format(plain, "input %R: %S", name, value ? value : Py_None);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
}

static bool add_inputs(run_call *call, PyObject *feeds)
{
    const port_list *ports = &call->session->inputs;
    PyObject *name, *object;
    Py_ssize_t place = 0;
    while (PyDict_Next(feeds, &place, &name, &object)) {
        Py_ssize_t index = core_find_port(ports, "input", name);
        if (index < 0)
            return false;
        if (object == Py_None && ports->types[index]->kind != INGOT_KIND_OPTIONAL)
            continue; /* an input that is left out */
        run_port *port = &call->inputs[call->input_count];
        port->name = ports->names[index];
        if (!core_give(object, ports->types[index], &port->given)) {
            name_input(name);
            return false;
        }
        call->input_count++;
    }
    return true;
}

/* names: a list or tuple, or None for all outputs; targets: None, or a dict from names to where outputs are to be written. */
static bool add_outputs(run_call *call, PyObject *names, PyObject *targets)
{
    const port_list *ports = &call->session->outputs;
    const size_t count = names ? (size_t)PySequence_Size(names) : ports->count;
    for (size_t i = 0; i < count; i++) {
        size_t index = i;
        if (names) {
            PyObject *name = PySequence_GetItem(names, (Py_ssize_t)i);
            Py_ssize_t found = name ? core_find_port(ports, "output", name) : -1;
            Py_XDECREF(name);
            if (found < 0)
                return false;
            index = (size_t)found;
        }
        call->outputs[i] = (run_port){.name = ports->names[index]};
        call->output_count++;
        PyObject *target = targets == Py_None ? NULL : PyDict_GetItemString(targets, ports->names[index]);
        if (target && !core_give_target(target, ports->types[index], &call->outputs[i].given))
            return false;
    }
    return true;
}

static ingot_status execute(run_call *call, ingot_cancel *cancel, const char **names, ingot_value **values,
                            ingot_error *error)
{
    const size_t inputs = call->input_count, outputs = call->output_count;
    ingot_run_options options;
    ingot_run_options_init(&options);
    options.cancel = cancel;
    for (size_t i = 0; i < inputs; i++) {
        names[i] = call->inputs[i].name;
        values[i] = call->inputs[i].given.value;
    }
    for (size_t i = 0; i < outputs; i++) {
        names[inputs + i] = call->outputs[i].name;
        values[inputs + i] = call->outputs[i].given.value;
    }
    ingot_status status;
    Py_BEGIN_ALLOW_THREADS status =
        ingot_session_run(call->session->session, &options, names, (const ingot_value *const *)values, inputs,
                          names + inputs, values + inputs, outputs, error);
    Py_END_ALLOW_THREADS for (size_t i = 0; i < outputs && status == INGOT_OK; i++) call->outputs[i].given.value =
        values[inputs + i];
    return status;
}

static bool run_call_now(run_call *call, ingot_cancel *cancel)
{
    const char *few_names[2 * FEW], **names = few_names;
    ingot_value *few_values[2 * FEW], **values = few_values;
    const size_t count = call->input_count + call->output_count;
    ingot_error error = {0};
    if (count > 2 * FEW) {
        names = PyMem_Malloc(count * sizeof *names);
        values = PyMem_Malloc(count * sizeof *values);
    }
    bool there = names && values;
    ingot_status status = there ? execute(call, cancel, names, values, &error) : INGOT_OUT_OF_MEMORY;
    if (names != few_names) {
        PyMem_Free(names);
        PyMem_Free(values);
    }
    if (!there)
        PyErr_NoMemory();
    else if (status != INGOT_OK)
        core_raise(&error);
    return status == INGOT_OK;
}

/* The outputs of a call as value objects, which take them, or as what those hold. */
static PyObject *take_outputs(run_call *call, bool plain)
{
    PyObject *list = PyList_New((Py_ssize_t)call->output_count);
    for (size_t i = 0; i < call->output_count && list; i++) {
        given_value *given = &call->outputs[i].given;
        PyObject *object = core_wrap(given->value, given->owner, given->borrowed);
        given->borrowed = true; /* the object has it */
        if (object && plain) {
            PyObject *value = object;
            object = core_take(value);
            Py_DECREF(value);
        }
        if (!object)
            Py_CLEAR(list);
        else
            PyList_SetItem(list, (Py_ssize_t)i, object);
    }
    return list;
}

/* run(names, feeds, cancel=None, targets=None, plain=True) */
static PyObject *session_run(PyObject *object, PyObject *args)
{
    PyObject *names, *feeds, *cancel = Py_None, *targets = Py_None, *result = NULL;
    int plain = 1;
    run_call call;
    ingot_cancel *token;
    if (!PyArg_ParseTuple(args, "OO!|OOp", &names, &PyDict_Type, &feeds, &cancel, &targets, &plain) ||
        !core_read_cancel(cancel, &token))
        return NULL;
    call.session = (session_object *)object;
    const bool all = names == Py_None;
    const Py_ssize_t count = all ? (Py_ssize_t)call.session->outputs.count : PySequence_Size(names);
    if (count < 0 || !reserve(&call, (size_t)PyDict_Size(feeds), (size_t)count))
        return NULL;
    if (add_inputs(&call, feeds) && add_outputs(&call, all ? NULL : names, targets) && run_call_now(&call, token))
        result = take_outputs(&call, plain);
    clear_call(&call);
    return result;
}

/* ---- Looking inside ---- */

static PyObject *ports_to_list(const ingot_session *session, port_getter get)
{
    PyObject *list = PyList_New(0);
    const ingot_value_info *info;
    for (size_t i = 0; list && (info = get(session, i)); i++) {
        PyObject *port = core_port(info);
        if (!port || PyList_Append(list, port) < 0)
            Py_CLEAR(list);
        Py_XDECREF(port);
    }
    return list;
}

static PyObject *session_inputs(PyObject *self, PyObject *unused)
{
    return ports_to_list(((session_object *)self)->session, ingot_session_input);
}

static PyObject *session_outputs(PyObject *self, PyObject *unused)
{
    return ports_to_list(((session_object *)self)->session, ingot_session_output);
}

static PyObject *session_statistics(PyObject *self, PyObject *unused)
{
    ingot_statistics s;
    ingot_error error = {0};
    ingot_statistics_init(&s);
    if (ingot_session_statistics(((session_object *)self)->session, &s, &error) != INGOT_OK)
        return core_raise(&error);
    return Py_BuildValue("{s:d,s:d,s:d,s:d,s:n,s:n,s:n,s:n,s:n,s:n,s:K,s:K}", "optimize_ms", s.optimize_ms, "plan_ms",
                         s.plan_ms, "pack_ms", s.pack_ms, "warmup_ms", s.warmup_ms, "packed_bytes",
                         (Py_ssize_t)s.packed_bytes, "arena_bytes", (Py_ssize_t)s.arena_bytes, "context_count",
                         (Py_ssize_t)s.context_count, "cached_shapes", (Py_ssize_t)s.cached_shapes, "node_count",
                         (Py_ssize_t)s.node_count, "region_count", (Py_ssize_t)s.region_count, "runs",
                         (unsigned long long)s.runs, "failed_runs", (unsigned long long)s.failed_runs);
}

static PyObject *session_regions(PyObject *self, PyObject *unused)
{
    PyObject *list = PyList_New(0);
    ingot_region_info r;
    for (size_t i = 0; list && ingot_session_region(((session_object *)self)->session, i, &r); i++) {
        PyObject *region =
            Py_BuildValue("{s:s,s:s,s:s,s:s,s:d,s:n}", "name", r.name, "operators", r.operators, "backend", r.backend,
                          "tactic", r.tactic, "flops", r.flops, "packed_bytes", (Py_ssize_t)r.packed_bytes);
        if (!region || PyList_Append(list, region) < 0)
            Py_CLEAR(list);
        Py_XDECREF(region);
    }
    return list;
}

PyObject *core_make_session_type(void)
{
    static PyMethodDef methods[] = {
        {"run", session_run, METH_VARARGS,
         "run(names, feeds, cancel=None, targets=None, plain=True): the outputs named, or all where names is None"},
        {"inputs", session_inputs, METH_NOARGS, "inputs(): (name, type, has_default) of each input"},
        {"outputs", session_outputs, METH_NOARGS, "outputs(): (name, type, has_default) of each output"},
        {"statistics", session_statistics, METH_NOARGS, "statistics(): what creation took and the session holds"},
        {"regions", session_regions, METH_NOARGS, "regions(): the steps of the plan, a dict each"},
        {NULL, NULL, 0, NULL},
    };
    PyType_Slot slots[] = {
        {Py_tp_new, SLOT(session_new)},
        {Py_tp_dealloc, SLOT(session_dealloc)},
        {Py_tp_methods, methods},
        {Py_tp_doc, "Session(model, ...): a model made ready to run"},
        {0, NULL},
    };
    PyType_Spec spec = {.name = "ingot._core.Session",
                        .basicsize = sizeof(session_object),
                        .flags = Py_TPFLAGS_DEFAULT,
                        .slots = slots};
    return PyType_FromSpec(&spec);
}
