/* ingot._core.Value: a value of the library, and numpy's view of its memory. */
#include <string.h>

#include "core.h"

PyObject *core_wrap(ingot_value *value, PyObject *owner, bool borrowed)
{
    value_object *self = PyObject_New(value_object, core.value_type);
    if (!self) {
        if (!borrowed)
            ingot_value_release(value);
        return NULL;
    }
    Py_XINCREF(owner);
    self->value = value;
    self->owner = owner;
    self->borrowed = borrowed;
    return (PyObject *)self;
}

static void value_dealloc(PyObject *object)
{
    value_object *self = (value_object *)object;
    PyTypeObject *type = Py_TYPE(object);
    if (!self->borrowed)
        ingot_value_release(self->value);
    Py_XDECREF(self->owner);
    PyObject_Free(object);
    Py_DECREF(type);
}

/* ---- Making ---- */

/* Value(object, element=0): what object holds; a tensor whose elements are read as element where that is given. */
static PyObject *value_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"object", "element", NULL};
    PyObject *object;
    int element = INGOT_UNDEFINED;
    given_value given;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|i", names, &object, &element))
        return NULL;
    const ingot_type_info tensor = {.kind = INGOT_KIND_TENSOR, .element = (ingot_element)element};
    const ingot_type_info sequence = {.kind = INGOT_KIND_SEQUENCE, .item = &tensor};
    const bool items = (PyList_Check(object) || PyTuple_Check(object)) && element == INGOT_UNDEFINED;
    if (!core_give(object, items ? &sequence : element ? &tensor : NULL, &given))
        return NULL;
    PyObject *self = core_wrap(given.value, given.owner, given.borrowed);
    Py_XDECREF(given.owner);
    return self;
}

/* Reads a shape; too many sizes give a rank that the library refuses. */
static bool read_shape(PyObject *shape, int *rank, int64_t *dims)
{
    const Py_ssize_t count = PyTuple_Size(shape);
    *rank = count > INGOT_MAX_RANK ? INGOT_MAX_RANK + 1 : (int)count;
    for (Py_ssize_t i = 0; i < count && i < INGOT_MAX_RANK; i++)
        dims[i] = PyLong_AsLongLong(PyTuple_GetItem(shape, i));
    return PyErr_Occurred() == NULL;
}

static PyObject *make_tensor(int element, PyObject *shape, void *data)
{
    int rank;
    int64_t dims[INGOT_MAX_RANK];
    ingot_value *value;
    ingot_error error = {0};
    if (!read_shape(shape, &rank, dims))
        return NULL;
    ingot_status status = ingot_value_create_tensor((ingot_element)element, rank, dims, data, SIZE_MAX, &value, &error);
    if (status == INGOT_OK && data) { /* once more, now that its bytes are known */
        const size_t bytes = ingot_value_bytes(value);
        ingot_value_release(value);
        status = ingot_value_create_tensor((ingot_element)element, rank, dims, data, bytes, &value, &error);
    }
    return status == INGOT_OK ? core_wrap(value, NULL, false) : core_raise(&error);
}

static PyObject *value_zeros(PyObject *type, PyObject *args)
{
    int element;
    PyObject *shape;
    return PyArg_ParseTuple(args, "iO!", &element, &PyTuple_Type, &shape) ? make_tensor(element, shape, NULL) : NULL;
}

/* Value.at(element, shape, address): memory that the caller vouches for. */
static PyObject *value_at(PyObject *type, PyObject *args)
{
    int element;
    PyObject *shape, *address;
    if (!PyArg_ParseTuple(args, "iO!O", &element, &PyTuple_Type, &shape, &address))
        return NULL;
    void *data = PyLong_AsVoidPtr(address);
    if (!data && !PyErr_Occurred())
        PyErr_SetString(PyExc_ValueError, "the address of a tensor must not be 0");
    return data ? make_tensor(element, shape, data) : NULL;
}

/* Value.sparse(shape, values, indices) */
static PyObject *value_sparse(PyObject *type, PyObject *args)
{
    static const ingot_type_info sparse = {.kind = INGOT_KIND_SPARSE};
    given_value given;
    if (!core_give(args, &sparse, &given))
        return NULL;
    PyObject *self = core_wrap(given.value, given.owner, false);
    Py_XDECREF(given.owner);
    return self;
}

/* ---- Memory ---- */

static void release_interface(PyObject *capsule)
{
    Py_XDECREF((PyObject *)PyCapsule_GetContext(capsule));
}

/* Kind and size of the elements as numpy is shown them: those that it lacks as unsigned integers, packed ones as bytes. */
static void describe_elements(ingot_element element, array_interface *interface)
{
    static const char kinds[INGOT_ELEMENT_COUNT] = {
        [INGOT_FLOAT] = 'f', [INGOT_FLOAT16] = 'f',    [INGOT_DOUBLE] = 'f', [INGOT_INT8] = 'i',
        [INGOT_INT16] = 'i', [INGOT_INT32] = 'i',      [INGOT_INT64] = 'i',  [INGOT_COMPLEX64] = 'c',
        [INGOT_BOOL] = 'b',  [INGOT_COMPLEX128] = 'c',
    };
    const size_t bits = ingot_element_bits(element);
    interface->kind = kinds[element] ? kinds[element] : 'u';
    interface->item_size = bits < 8 ? 1 : (int)(bits / 8);
}

static void describe_shape(value_object *self)
{
    const ingot_element element = ingot_value_element(self->value);
    const int64_t *dims = ingot_value_dims(self->value);
    int rank = ingot_value_rank(self->value);
    if (ingot_element_bits(element) < 8) {
        rank = 1;
        self->shape[0] = (Py_ssize_t)ingot_value_bytes(self->value);
    } else {
        for (int i = 0; i < rank; i++)
            self->shape[i] = (Py_ssize_t)dims[i];
    }
    self->interface.rank = rank;
    Py_ssize_t stride = self->interface.item_size;
    for (int i = rank - 1; i >= 0; i--) {
        self->strides[i] = stride;
        stride *= self->shape[i] ? self->shape[i] : 1;
    }
}

static PyObject *value_array_struct(PyObject *object, void *closure)
{
    value_object *self = (value_object *)object;
    const ingot_element element = ingot_value_element(self->value);
    if (ingot_value_kind(self->value) != INGOT_KIND_TENSOR || element == INGOT_STRING) {
        PyErr_SetString(PyExc_AttributeError, "only tensors of numbers have memory that numpy can share");
        return NULL;
    }
    self->interface = (array_interface){.two = 2,
                                        .flags = ARRAY_C_CONTIGUOUS | ARRAY_ALIGNED | ARRAY_NATIVE | ARRAY_WRITEABLE,
                                        .shape = self->shape,
                                        .strides = self->strides,
                                        .data = ingot_value_data(self->value)};
    describe_elements(element, &self->interface);
    describe_shape(self);
    PyObject *capsule = PyCapsule_New(&self->interface, NULL, release_interface);
    if (capsule && PyCapsule_SetContext(capsule, object) == 0)
        Py_INCREF(object);
    return capsule;
}

/* ---- Looking inside ---- */

static PyObject *value_kind(PyObject *self, void *closure)
{
    return PyLong_FromLong(ingot_value_kind(((value_object *)self)->value));
}

static PyObject *value_element(PyObject *self, void *closure)
{
    return PyLong_FromLong(ingot_value_element(((value_object *)self)->value));
}

static PyObject *value_shape(PyObject *self, void *closure)
{
    const ingot_value *value = ((value_object *)self)->value;
    const int rank = ingot_value_rank(value);
    PyObject *shape = PyTuple_New(rank);
    for (int i = 0; i < rank && shape; i++)
        PyTuple_SetItem(shape, i, PyLong_FromLongLong(ingot_value_dims(value)[i]));
    return shape;
}

static PyObject *value_bytes(PyObject *self, void *closure)
{
    return PyLong_FromSize_t(ingot_value_bytes(((value_object *)self)->value));
}

static PyObject *value_address(PyObject *self, void *closure)
{
    return PyLong_FromVoidPtr(ingot_value_data(((value_object *)self)->value));
}

static PyObject *value_count(PyObject *self, void *closure)
{
    return PyLong_FromSize_t(ingot_value_item_count(((value_object *)self)->value));
}

static PyObject *value_item(PyObject *self, PyObject *args)
{
    Py_ssize_t index;
    if (!PyArg_ParseTuple(args, "n", &index))
        return NULL;
    const ingot_value *item = index < 0 ? NULL : ingot_value_item(((value_object *)self)->value, (size_t)index);
    if (!item) {
        PyErr_SetString(PyExc_IndexError, "the sequence has no such item");
        return NULL;
    }
    return core_wrap((ingot_value *)item, self, true);
}

/* Whether an optional holds something; true for all else. */
static PyObject *value_has_value(PyObject *self, void *closure)
{
    const ingot_value *value = ((value_object *)self)->value;
    const ingot_kind kind = ingot_value_kind(value);
    return PyBool_FromLong(kind == INGOT_KIND_OPTIONAL ? ingot_value_optional_item(value) != NULL
                                                       : kind != INGOT_KIND_NONE);
}

static PyObject *value_to_object(PyObject *self, PyObject *unused)
{
    return core_take(self);
}

static PyMethodDef methods[] = {
    {"zeros", value_zeros, METH_VARARGS | METH_STATIC, "zeros(element, shape): a tensor that owns zeroed memory"},
    {"at", value_at, METH_VARARGS | METH_STATIC,
     "at(element, shape, address): a tensor in memory that must live and stay as long as this value"},
    {"sparse", value_sparse, METH_VARARGS | METH_STATIC,
     "sparse(shape, values, indices): a sparse tensor; indices are row-major places [n] or coordinates [n, rank]"},
    {"item", value_item, METH_VARARGS, "item(index): an item of a sequence; shares its memory"},
    {"to_object", value_to_object, METH_NOARGS,
     "to_object(): an array that shares this value's memory, a list, a dict, None"},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef attributes[] = {
    {"__array_struct__", value_array_struct, NULL, "numpy's array interface; types that it lacks as unsigned integers",
     NULL},
    {"kind", value_kind, NULL, "1 tensor, 2 sequence, 3 map, 4 optional, 5 sparse tensor", NULL},
    {"element", value_element, NULL, "element type, a number of onnx.TensorProto.DataType", NULL},
    {"shape", value_shape, NULL, "sizes of a tensor, as a tuple", NULL},
    {"nbytes", value_bytes, NULL, "bytes of a tensor", NULL},
    {"address", value_address, NULL, "where the elements of a tensor lie; 0 for strings and other kinds", NULL},
    {"item_count", value_count, NULL, "items of a sequence", NULL},
    {"has_value", value_has_value, NULL, "whether an optional holds something; True for other kinds", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyObject *core_make_value_type(void)
{
    PyType_Slot slots[] = {
        {Py_tp_new, SLOT(value_new)},
        {Py_tp_dealloc, SLOT(value_dealloc)},
        {Py_tp_methods, methods},
        {Py_tp_getset, attributes},
        {Py_tp_doc, "Value(object, element=0): a value of the library"},
        {0, NULL},
    };
    PyType_Spec spec = {
        .name = "ingot._core.Value", .basicsize = sizeof(value_object), .flags = Py_TPFLAGS_DEFAULT, .slots = slots};
    return PyType_FromSpec(&spec);
}
