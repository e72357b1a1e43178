/* Calling a Python function as an operator. Each call takes the interpreter's lock. */
#include <stdio.h>
#include <string.h>

#include "custom_op.h"

/* ---- From C to Python ---- */

static PyObject *take_list(size_t count, const void *data, PyObject *(*take)(const void *data, size_t index))
{
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; i < count && list; i++) {
        PyObject *item = take(data, i);
        if (!item)
            Py_CLEAR(list);
        else
            PyList_SetItem(list, (Py_ssize_t)i, item);
    }
    return list;
}

static PyObject *take_int(const void *data, size_t index)
{
    return PyLong_FromLongLong(((const int64_t *)data)[index]);
}

static PyObject *take_float(const void *data, size_t index)
{
    return PyFloat_FromDouble((double)((const float *)data)[index]);
}

static PyObject *take_text(const void *data, size_t index)
{
    const ingot_text *text = &((const ingot_text *)data)[index];
    return PyUnicode_DecodeUTF8(text->data, (Py_ssize_t)text->size, "surrogateescape");
}

/* A parameter that the model gives; NULL without an exception: one that it leaves to the function's default. */
static PyObject *take_attribute(const ingot_custom_attribute *attribute, const void *params)
{
    const attribute_field *field = (const attribute_field *)((const char *)params + attribute->offset);
    switch (attribute->kind) {
    case INGOT_PARAM_INT:
        return take_int(&field->whole, 0);
    case INGOT_PARAM_FLOAT:
        return take_float(&field->number, 0);
    case INGOT_PARAM_TEXT:
        return field->text.data != core_not_given ? take_text(&field->text, 0) : NULL;
    case INGOT_PARAM_INTS:
        return field->ints.given ? take_list(field->ints.count, field->ints.data, take_int) : NULL;
    case INGOT_PARAM_FLOATS:
        return field->floats.given ? take_list(field->floats.count, field->floats.data, take_float) : NULL;
    case INGOT_PARAM_TEXTS:
        return field->texts.given ? take_list(field->texts.count, field->texts.data, take_text) : NULL;
    default:
        return NULL;
    }
}

static PyObject *take_attributes(const python_op *self, const void *params)
{
    PyObject *dict = PyDict_New();
    for (size_t i = 0; i < self->op.attribute_count && dict; i++) {
        PyObject *value = take_attribute(&self->attributes[i], params);
        if (PyErr_Occurred() || (value && PyDict_SetItemString(dict, self->names[i], value) < 0))
            Py_CLEAR(dict);
        Py_XDECREF(value);
    }
    return dict;
}

static PyObject *unwrap(PyObject *wrapped)
{
    PyObject *object = wrapped ? core_take(wrapped) : NULL;
    Py_XDECREF(wrapped);
    return object;
}

/* A copy of its own: the function may keep it. */
static PyObject *take_input(const ingot_custom_tensor *tensor)
{
    ingot_value *copy = NULL;
    ingot_error error = {0};
    if (!tensor->present)
        Py_RETURN_NONE;
    if (tensor->element == INGOT_STRING) /* becomes objects of Python's own */
        return unwrap(core_wrap((ingot_value *)(uintptr_t)tensor->value, Py_None, true));
    if (ingot_value_create_tensor(tensor->element, tensor->rank, tensor->dims, NULL, 0, &copy, &error) != INGOT_OK)
        return core_raise(&error);
    if (ingot_value_bytes(copy) > 0)
        memcpy(ingot_value_data(copy), tensor->data, ingot_value_bytes(copy));
    return unwrap(core_wrap(copy, NULL, false));
}

/* ---- From Python to C ---- */

/* The exception that is set, as the failure of the node. */
static void read_exception(char *text, size_t size)
{
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    PyObject *words = value ? PyObject_Repr(value) : NULL, *bytes = words ? PyUnicode_AsUTF8String(words) : NULL;
    snprintf(text, size, "%s", bytes ? PyBytes_AsString(bytes) : "an exception that has no text");
    PyErr_Clear();
    Py_XDECREF(bytes);
    Py_XDECREF(words);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
}

static ingot_status fail_run(const ingot_custom_run *run)
{
    char text[600];
    read_exception(text, sizeof text);
    return run->fail(run, "its Python function raised %s", text);
}

/* Of all outputs. */
static ingot_element element_of_run(const python_op *self, const ingot_custom_run *run)
{
    return self->element == INGOT_UNDEFINED && run->input_count > 0 ? run->inputs[0].element : self->element;
}

static ingot_status copy_output(const python_op *self, ingot_custom_run *run, size_t output, const ingot_value *value)
{
    const ingot_custom_tensor *to = &run->outputs[output];
    const ingot_element element = ingot_value_element(value);
    if (ingot_value_kind(value) != INGOT_KIND_TENSOR || element != element_of_run(self, run))
        return run->fail(run, "its Python function gives output %zu as %s, but %s was declared", output,
                         ingot_element_name(element), ingot_element_name(element_of_run(self, run)));
    if (self->op.flags & INGOT_CUSTOM_OP_SIZES_OUTPUT) {
        ingot_status status = run->set_output(run, output, element, ingot_value_rank(value), ingot_value_dims(value));
        if (status != INGOT_OK)
            return status;
    } else if (ingot_value_rank(value) != to->rank ||
               (to->rank > 0 && memcmp(ingot_value_dims(value), to->dims, (size_t)to->rank * sizeof *to->dims) != 0)) {
        return run->fail(run, "its Python function gives output %zu another shape than its shape function told",
                         output);
    }
    for (size_t i = 0; element == INGOT_STRING && i < ingot_value_count(value); i++) {
        size_t length;
        const char *text = ingot_value_string(value, i, &length);
        ingot_status status = run->set_string(run, output, i, text, length);
        if (status != INGOT_OK)
            return status;
    }
    if (element != INGOT_STRING && ingot_value_bytes(value) > 0)
        memcpy(run->outputs[output].data, ingot_value_data(value), ingot_value_bytes(value));
    return INGOT_OK;
}

static ingot_status give_output(const python_op *self, ingot_custom_run *run, size_t output, PyObject *object)
{
    given_value given = {0};
    const ingot_type_info type = {.kind = INGOT_KIND_TENSOR, .element = element_of_run(self, run), .rank = -1};
    if (!run->outputs[output].present)
        return INGOT_OK;
    if (object == Py_None)
        return run->fail(run, "its Python function gives None for output %zu", output);
    if (!core_give(object, &type, &given))
        return fail_run(run);
    ingot_status status = copy_output(self, run, output, given.value);
    core_give_clear(&given);
    return status;
}

/* One output is the result itself; several are a tuple or list. */
static ingot_status give_outputs(const python_op *self, ingot_custom_run *run, PyObject *result)
{
    if (self->op.output_count == 1)
        return give_output(self, run, 0, result);
    if (!PySequence_Check(result) || (size_t)PySequence_Size(result) < run->output_count)
        return run->fail(run, "its Python function must return %zu outputs as a tuple", self->op.output_count);
    for (size_t i = 0; i < run->output_count; i++) {
        PyObject *item = PySequence_GetItem(result, (Py_ssize_t)i);
        ingot_status status = item ? give_output(self, run, i, item) : fail_run(run);
        Py_XDECREF(item);
        if (status != INGOT_OK)
            return status;
    }
    return INGOT_OK;
}

static ingot_status call_kernel(const python_op *self, ingot_custom_run *run)
{
    PyObject *arguments = PyTuple_New((Py_ssize_t)run->input_count), *result = NULL;
    for (size_t i = 0; i < run->input_count && arguments; i++) {
        PyObject *input = take_input(&run->inputs[i]);
        if (!input)
            Py_CLEAR(arguments);
        else
            PyTuple_SetItem(arguments, (Py_ssize_t)i, input);
    }
    PyObject *attributes = arguments ? take_attributes(self, run->params) : NULL;
    if (attributes)
        result = PyObject_Call(self->kernel, arguments, attributes);
    ingot_status status = result ? give_outputs(self, run, result) : fail_run(run);
    Py_XDECREF(result);
    Py_XDECREF(attributes);
    Py_XDECREF(arguments);
    return status;
}

ingot_status core_run_kernel(ingot_custom_run *run)
{
    PyGILState_STATE lock = PyGILState_Ensure();
    ingot_status status = call_kernel(run->user, run);
    PyGILState_Release(lock);
    return status;
}

/* ---- Shapes ---- */

static ingot_element element_of(const python_op *self, const ingot_custom_shape *shape)
{
    return self->element == INGOT_UNDEFINED && shape->input_count > 0 ? shape->inputs[0].element : self->element;
}

/* A list of sizes, None where one is free; None where not even the rank is known. */
static PyObject *take_shape(const ingot_custom_type *type)
{
    if (!type->present || type->rank < 0)
        Py_RETURN_NONE;
    PyObject *list = take_list((size_t)type->rank, type->dims, take_int);
    for (int i = 0; i < type->rank && list; i++)
        if (type->dims[i] < 0) {
            Py_INCREF(Py_None);
            PyList_SetItem(list, i, Py_None);
        }
    return list;
}

static bool give_shape(PyObject *object, ingot_custom_type *type)
{
    const Py_ssize_t rank = object == Py_None ? -1 : PySequence_Size(object);
    if (rank < 0)
        return object == Py_None;
    type->rank = rank > INGOT_MAX_RANK ? INGOT_MAX_RANK + 1 : (int)rank; /* one more is refused with a message */
    for (int i = 0; i < type->rank && i < INGOT_MAX_RANK; i++) {
        PyObject *size = PySequence_GetItem(object, i);
        type->dims[i] = !size || size == Py_None ? INGOT_SIZE_FREE : PyLong_AsLongLong(size);
        Py_XDECREF(size);
    }
    return !PyErr_Occurred();
}

static bool call_shape(const python_op *self, ingot_custom_shape *shape)
{
    PyObject *arguments = PyTuple_New((Py_ssize_t)shape->input_count);
    for (size_t i = 0; i < shape->input_count && arguments; i++) {
        PyObject *input = take_shape(&shape->inputs[i]);
        if (!input)
            Py_CLEAR(arguments);
        else
            PyTuple_SetItem(arguments, (Py_ssize_t)i, input);
    }
    PyObject *result = arguments ? PyObject_CallObject(self->shape, arguments) : NULL;
    bool good = result != NULL;
    for (size_t i = 0; i < shape->output_count && good; i++) {
        PyObject *item = self->op.output_count == 1 ? result : PySequence_GetItem(result, (Py_ssize_t)i);
        good = item && give_shape(item, &shape->outputs[i]);
        if (self->op.output_count > 1)
            Py_XDECREF(item);
    }
    Py_XDECREF(result);
    Py_XDECREF(arguments);
    return good;
}

ingot_status core_run_shape(ingot_custom_shape *shape)
{
    const python_op *self = shape->user;
    char text[600];
    for (size_t i = 0; i < shape->output_count; i++)
        shape->outputs[i].element = element_of(self, shape);
    if (self->shape == Py_None)
        return INGOT_OK;
    PyGILState_STATE lock = PyGILState_Ensure();
    bool good = call_shape(self, shape);
    if (!good)
        read_exception(text, sizeof text);
    PyGILState_Release(lock);
    return good ? INGOT_OK : shape->fail(shape, "its Python shape function raised %s", text);
}
