/* Python objects to values of a run, and back. What is hot, plain arrays, is done here; what numpy lacks, in ingot._arrays. */
#include <string.h>

#include "core.h"

void core_give_clear(given_value *given)
{
    if (!given->borrowed)
        ingot_value_release(given->value);
    Py_CLEAR(given->owner);
    given->value = NULL;
}

static bool check(ingot_status status, const ingot_error *error)
{
    if (status != INGOT_OK)
        core_raise(error);
    return status == INGOT_OK;
}

/* ---- Tensors ---- */

static bool give_view(tensor_view *view, given_value *given)
{
    ingot_error error = {0};
    given->owner = view->owner;
    return check(ingot_value_create_tensor(view->element, view->rank, view->dims, view->data, view->bytes,
                                           &given->value, &error),
                 &error);
}

/* Fills text with the bytes of the items, str or bytes, of a list; *kept: objects that hold those bytes. */
static bool read_strings(PyObject *items, const char **text, size_t *lengths, PyObject *kept)
{
    const Py_ssize_t count = PyList_Size(items);
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *item = PyList_GetItem(items, i), *bytes;
        if (PyUnicode_Check(item)) {
            bytes = PyUnicode_AsEncodedString(item, "utf-8", "surrogateescape");
        } else if (PyBytes_Check(item)) {
            bytes = item;
            Py_INCREF(bytes);
        } else {
            PyErr_Format(PyExc_TypeError, "a tensor of strings holds str or bytes, but one of its items is %R", item);
            return false;
        }
        char *data;
        Py_ssize_t length;
        if (!bytes || PyBytes_AsStringAndSize(bytes, &data, &length) < 0 || PyList_Append(kept, bytes) < 0) {
            Py_XDECREF(bytes);
            return false;
        }
        Py_DECREF(bytes); /* the list keeps it */
        text[i] = data;
        lengths[i] = (size_t)length;
    }
    return true;
}

static bool give_strings(PyObject *items, int rank, const int64_t *dims, given_value *given)
{
    const size_t count = (size_t)PyList_Size(items);
    const char **text = PyMem_Malloc((count + 1) * sizeof *text);
    size_t *lengths = PyMem_Malloc((count + 1) * sizeof *lengths);
    PyObject *kept = PyList_New(0);
    ingot_error error = {0};
    bool good = false;
    if (!text || !lengths || !kept)
        PyErr_NoMemory();
    else if (read_strings(items, text, lengths, kept))
        good = check(ingot_value_create_strings(rank, dims, text, lengths, &given->value, &error), &error);
    Py_XDECREF(kept);
    PyMem_Free(text);
    PyMem_Free(lengths);
    return good;
}

/* Reads the sizes of a tuple. */
static bool read_dims(PyObject *tuple, int *rank, int64_t *dims)
{
    const Py_ssize_t count = PyTuple_Size(tuple);
    if (count > INGOT_MAX_RANK) {
        PyErr_Format(PyExc_ValueError, "an array has %zd dimensions, but at most %d are supported", count,
                     INGOT_MAX_RANK);
        return false;
    }
    *rank = (int)count;
    for (Py_ssize_t i = 0; i < count; i++)
        dims[i] = PyLong_AsLongLong(PyTuple_GetItem(tuple, i));
    return PyErr_Occurred() == NULL;
}

/* The result of ingot._arrays.tensor: a list of strings, or an array whose memory is the tensor's; element type; sizes. */
static bool give_prepared(PyObject *prepared, given_value *given)
{
    PyObject *data, *sizes;
    int element, rank;
    int64_t dims[INGOT_MAX_RANK];
    tensor_view view = {0};
    if (!PyArg_ParseTuple(prepared, "OiO!", &data, &element, &PyTuple_Type, &sizes) || !read_dims(sizes, &rank, dims))
        return false;
    if (element == INGOT_STRING)
        return give_strings(data, rank, dims, given);
    int found = core_view_array(data, INGOT_UNDEFINED, &view);
    if (found == 0)
        PyErr_SetString(PyExc_TypeError, "an array cannot be used as it is");
    if (found != 1)
        return false;
    view.element = (ingot_element)element;
    view.rank = rank;
    memcpy(view.dims, dims, sizeof dims);
    return give_view(&view, given);
}

static bool give_tensor(PyObject *object, ingot_element wanted, given_value *given)
{
    tensor_view view = {0};
    int found = core_view_array(object, wanted, &view);
    if (found != 0)
        return found == 1 && give_view(&view, given);
    PyObject *prepared = PyObject_CallMethod(core.arrays, "tensor", "Oi", object, (int)wanted);
    bool good = prepared && give_prepared(prepared, given);
    Py_XDECREF(prepared);
    return good;
}

/* ---- Containers ---- */

/* Gives an item of a container, which will own it: a value object is read through its Python form. */
static bool give_item(PyObject *object, const ingot_type_info *type, given_value *given)
{
    if (!PyObject_TypeCheck(object, core.value_type))
        return core_give(object, type, given);
    PyObject *plain = core_take(object);
    bool good = plain && core_give(plain, type, given);
    Py_XDECREF(plain);
    return good;
}

static bool give_items(PyObject *list, const ingot_type_info *type, ingot_value **items, size_t *made, PyObject *owners)
{
    const Py_ssize_t count = PyList_Size(list);
    for (Py_ssize_t i = 0; i < count; i++) {
        given_value item = {0};
        if (!give_item(PyList_GetItem(list, i), type, &item) || (item.owner && PyList_Append(owners, item.owner) < 0)) {
            core_give_clear(&item);
            return false;
        }
        items[(*made)++] = item.value;
        Py_XDECREF(item.owner);
    }
    return true;
}

typedef ingot_status (*container_maker)(ingot_value **items, size_t count, const ingot_type_info *item_type,
                                        ingot_value **value, ingot_error *error);

/* Makes a container of the items of a list, which it takes. */
static bool give_container(PyObject *list, const ingot_type_info *item_type, container_maker make, given_value *given)
{
    size_t made = 0;
    ingot_error error = {0};
    ingot_value **items = PyMem_Malloc(((size_t)PyList_Size(list) + 1) * sizeof(ingot_value *));
    given->owner = PyList_New(0);
    bool good = items && given->owner;
    if (!good)
        PyErr_NoMemory();
    good = good && give_items(list, item_type, items, &made, given->owner) &&
           check(make(items, made, item_type, &given->value, &error), &error);
    for (size_t i = 0; i < made && !good; i++)
        ingot_value_release(items[i]);
    PyMem_Free(items);
    return good;
}

static ingot_status make_sequence(ingot_value **items, size_t count, const ingot_type_info *item_type,
                                  ingot_value **value, ingot_error *error)
{
    ingot_element element = item_type ? item_type->element : INGOT_UNDEFINED;
    return ingot_value_create_sequence(items, count, element ? element : INGOT_FLOAT, value, error);
}

static ingot_status make_map(ingot_value **items, size_t count, const ingot_type_info *item_type, ingot_value **value,
                             ingot_error *error)
{
    return ingot_value_create_map(items[0], items[1], value, error);
}

static ingot_status make_optional(ingot_value **items, size_t count, const ingot_type_info *item_type,
                                  ingot_value **value, ingot_error *error)
{
    return ingot_value_create_optional(count ? items[0] : NULL, value, error);
}

static ingot_status make_sparse(ingot_value **items, size_t count, const ingot_type_info *item_type,
                                ingot_value **value, ingot_error *error)
{
    ingot_status status = ingot_value_create_sparse((int)ingot_value_count(items[2]), ingot_value_data(items[2]),
                                                    items[0], items[1], value, error);
    if (status == INGOT_OK)
        ingot_value_release(items[2]); /* the shape, which was read */
    return status;
}

/* Calls a function of ingot._arrays that gives the parts of an object as a list, and makes a container of them. */
static bool give_parts(const char *function, PyObject *object, const ingot_type_info *type, container_maker make,
                       given_value *given)
{
    PyObject *parts = PyObject_CallMethod(core.arrays, function, "Oi", object, (int)(type ? type->element : 0));
    bool good = parts && give_container(parts, NULL, make, given);
    Py_XDECREF(parts);
    return good;
}

static bool give_sequence(PyObject *object, const ingot_type_info *item_type, given_value *given)
{
    PyObject *list = PySequence_List(object);
    bool good = list && give_container(list, item_type, make_sequence, given);
    Py_XDECREF(list);
    return good;
}

static bool give_optional(PyObject *object, const ingot_type_info *item_type, given_value *given)
{
    PyObject *list = object == Py_None ? PyList_New(0) : Py_BuildValue("[O]", object);
    bool good = list && give_container(list, item_type, make_optional, given);
    Py_XDECREF(list);
    return good;
}

bool core_give(PyObject *object, const ingot_type_info *type, given_value *given)
{
    *given = (given_value){0};
    if (PyObject_TypeCheck(object, core.value_type)) {
        Py_INCREF(object);
        *given = (given_value){((value_object *)object)->value, true, object};
        return true;
    }
    bool good;
    switch (type ? type->kind : PyDict_Check(object) ? INGOT_KIND_MAP : INGOT_KIND_TENSOR) {
    case INGOT_KIND_SEQUENCE:
        good = give_sequence(object, type->item, given);
        break;
    case INGOT_KIND_MAP:
        good = give_parts("map_parts", object, type, make_map, given);
        break;
    case INGOT_KIND_OPTIONAL:
        good = give_optional(object, type->item, given);
        break;
    case INGOT_KIND_SPARSE:
        good = give_parts("sparse_parts", object, type, make_sparse, given);
        break;
    default:
        good = give_tensor(object, type ? type->element : INGOT_UNDEFINED, given);
        break;
    }
    if (!good)
        core_give_clear(given);
    return good;
}

bool core_give_target(PyObject *object, const ingot_type_info *type, given_value *given)
{
    *given = (given_value){0};
    if (PyObject_TypeCheck(object, core.value_type))
        return core_give(object, type, given);
    tensor_view view = {0};
    int found = core_view_array(object, type->element, &view);
    if (found == 1 && view.writeable) {
        bool good = give_view(&view, given);
        if (!good)
            core_give_clear(given);
        return good;
    }
    Py_XDECREF(view.owner);
    if (found >= 0)
        PyErr_SetString(PyExc_TypeError,
                        "an output can only be written to a row-major, writeable array of its element type");
    return false;
}

/* ---- Values to Python ---- */

static PyObject *take_strings(const ingot_value *value, PyObject *dims)
{
    const size_t count = ingot_value_count(value);
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; i < count && list; i++) {
        size_t length;
        const char *text = ingot_value_string(value, i, &length);
        PyObject *item = PyUnicode_DecodeUTF8(text, (Py_ssize_t)length, "surrogateescape");
        if (!item)
            Py_CLEAR(list);
        else
            PyList_SetItem(list, (Py_ssize_t)i, item);
    }
    PyObject *array = list ? PyObject_CallMethod(core.arrays, "strings", "OO", list, dims) : NULL;
    Py_XDECREF(list);
    return array;
}

static bool numpy_has(ingot_element element)
{
    return element >= INGOT_FLOAT && element <= INGOT_COMPLEX128 && element != INGOT_STRING;
}

static PyObject *take_tensor(value_object *self)
{
    ingot_element element = ingot_value_element(self->value);
    if (numpy_has(element))
        return PyObject_CallFunctionObjArgs(core.asarray, (PyObject *)self, NULL);
    PyObject *array, *dims = PyObject_GetAttrString((PyObject *)self, "shape");
    if (!dims)
        return NULL;
    if (element == INGOT_STRING)
        array = take_strings(self->value, dims);
    else
        array = PyObject_CallMethod(core.arrays, "beyond_numpy", "OiO", self, (int)element, dims);
    Py_DECREF(dims);
    return array;
}

/* The Python object for a part of self's value. */
static PyObject *take_part(value_object *self, const ingot_value *part)
{
    if (!part)
        Py_RETURN_NONE;
    PyObject *object = NULL, *wrapped = core_wrap((ingot_value *)part, (PyObject *)self, true);
    if (wrapped)
        object = core_take(wrapped);
    Py_XDECREF(wrapped);
    return object;
}

static PyObject *take_sequence(value_object *self)
{
    const size_t count = ingot_value_item_count(self->value);
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; i < count && list; i++) {
        PyObject *item = take_part(self, ingot_value_item(self->value, i));
        if (!item)
            Py_CLEAR(list);
        else
            PyList_SetItem(list, (Py_ssize_t)i, item);
    }
    return list;
}

/* Joins two parts of self's value by a function of ingot._arrays. */
static PyObject *take_pair(value_object *self, const ingot_value *a, const ingot_value *b, const char *function)
{
    PyObject *result = NULL, *first = take_part(self, a), *second = first ? take_part(self, b) : NULL;
    PyObject *dims = second ? PyObject_GetAttrString((PyObject *)self, "shape") : NULL;
    if (dims)
        result = PyObject_CallMethod(core.arrays, function, "OOO", first, second, dims);
    Py_XDECREF(first);
    Py_XDECREF(second);
    Py_XDECREF(dims);
    return result;
}

PyObject *core_take(PyObject *object)
{
    value_object *self = (value_object *)object;
    const ingot_value *value = self->value;
    switch (ingot_value_kind(value)) {
    case INGOT_KIND_TENSOR:
        return take_tensor(self);
    case INGOT_KIND_SEQUENCE:
        return take_sequence(self);
    case INGOT_KIND_MAP:
        return take_pair(self, ingot_value_map_keys(value), ingot_value_map_values(value), "mapping");
    case INGOT_KIND_OPTIONAL:
        return take_part(self, ingot_value_optional_item(value));
    case INGOT_KIND_SPARSE:
        return take_pair(self, ingot_value_sparse_values(value), ingot_value_sparse_indices(value), "sparse");
    default:
        Py_RETURN_NONE;
    }
}
