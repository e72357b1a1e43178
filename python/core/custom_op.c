/* Registering a Python function as an operator: for trying an idea. */
#include <stdio.h>
#include <stdlib.h>

#include "custom_op.h"

const char core_not_given[] = "";

static bool read_name(PyObject *object, char *name)
{
    PyObject *bytes = PyUnicode_AsUTF8String(object);
    const bool fits = bytes && PyBytes_Size(bytes) < NAME_SIZE;
    if (fits)
        snprintf(name, NAME_SIZE, "%s", PyBytes_AsString(bytes));
    else if (bytes)
        PyErr_Format(PyExc_ValueError, "the name %R is longer than %d bytes", object, NAME_SIZE - 1);
    Py_XDECREF(bytes);
    return fits;
}

/* attributes: (name, kind, default of a number) each. */
static bool read_attributes(python_op *self, PyObject *list)
{
    const Py_ssize_t count = PyList_Size(list);
    if (count > MAX_ATTRIBUTES) {
        PyErr_Format(PyExc_ValueError, "the function has %zd keyword parameters; attributes can be %d", count,
                     MAX_ATTRIBUTES);
        return false;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *name;
        int kind;
        double number;
        if (!PyArg_ParseTuple(PyList_GetItem(list, i), "Oid", &name, &kind, &number) ||
            !read_name(name, self->names[i]))
            return false;
        self->attributes[i] = (ingot_custom_attribute){.name = self->names[i],
                                                       .kind = (ingot_param_kind)kind,
                                                       .offset = (size_t)i * sizeof(attribute_field),
                                                       .default_int = (int64_t)number,
                                                       .default_float = (float)number,
                                                       .default_text = core_not_given};
    }
    self->op.attributes = self->attributes;
    self->op.attribute_count = (size_t)count;
    self->op.params_size = (size_t)count * sizeof(attribute_field);
    return true;
}

/* Operands have no names of their own in Python: they come by position. */
static bool set_operands(python_op *self, int inputs, int optional, bool variadic, int outputs)
{
    if (inputs < 0 || outputs < 1 || inputs + outputs > INGOT_CUSTOM_MAX_OPERANDS) {
        PyErr_Format(PyExc_ValueError, "an operator has at most %d inputs and outputs", INGOT_CUSTOM_MAX_OPERANDS);
        return false;
    }
    for (int i = 0; i < inputs + outputs; i++)
        self->operands[i] = (ingot_custom_operand){
            .name = i < inputs ? "input" : "output",
            .optional = i < inputs && i >= inputs - optional,
            .variadic = i == inputs - 1 && variadic,
        };
    self->op.inputs = self->operands;
    self->op.input_count = (size_t)inputs;
    self->op.outputs = self->operands + inputs;
    self->op.output_count = (size_t)outputs;
    return true;
}

static bool fill(python_op *self, PyObject *args)
{
    PyObject *domain, *name, *attributes;
    int since, inputs, optional, variadic, outputs, element, random;
    if (!PyArg_ParseTuple(args, "UUiiipiiO!pOO", &domain, &name, &since, &inputs, &optional, &variadic, &outputs,
                          &element, &PyList_Type, &attributes, &random, &self->kernel, &self->shape) ||
        !read_name(domain, self->domain) || !read_name(name, self->name) || !read_attributes(self, attributes) ||
        !set_operands(self, inputs, optional, variadic, outputs))
        return false;
    self->element = (ingot_element)element;
    self->op.size = sizeof self->op;
    self->op.domain = self->domain;
    self->op.name = self->name;
    self->op.since_version = since;
    self->op.summary = "a Python function";
    self->op.flags =
        (self->shape == Py_None ? INGOT_CUSTOM_OP_SIZES_OUTPUT : 0) | (random ? INGOT_CUSTOM_OP_RANDOM : 0);
    self->op.shape = core_run_shape;
    self->op.kernel = core_run_kernel;
    self->op.user = self;
    return true;
}

PyObject *core_register_op(PyObject *module, PyObject *args)
{
    ingot_error error = {0};
    python_op *self = calloc(1, sizeof *self);
    if (!self)
        return PyErr_NoMemory();
    if (!fill(self, args)) {
        free(self);
        return NULL;
    }
    if (ingot_register_op(&self->op, &error) != INGOT_OK) {
        free(self);
        return core_raise(&error);
    }
    Py_INCREF(self->kernel);
    Py_INCREF(self->shape);
    Py_RETURN_NONE;
}
