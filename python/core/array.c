/* Memory of arrays: the array interface (numpy and all that looks like it) and DLPack (torch, jax, cupy). */
#include <string.h>

#include "core.h"

/* ---- The array interface ---- */

typedef struct scalar_kind {
    char kind;
    int size;
    ingot_element element;
} scalar_kind;

static const scalar_kind scalar_kinds[] = {
    {'f', 4, INGOT_FLOAT},     {'i', 8, INGOT_INT64},       {'f', 8, INGOT_DOUBLE},  {'u', 1, INGOT_UINT8},
    {'i', 4, INGOT_INT32},     {'b', 1, INGOT_BOOL},        {'f', 2, INGOT_FLOAT16}, {'i', 1, INGOT_INT8},
    {'u', 2, INGOT_UINT16},    {'i', 2, INGOT_INT16},       {'u', 4, INGOT_UINT32},  {'u', 8, INGOT_UINT64},
    {'c', 8, INGOT_COMPLEX64}, {'c', 16, INGOT_COMPLEX128},
};

static ingot_element element_of(char kind, int size)
{
    for (size_t i = 0; i < sizeof scalar_kinds / sizeof scalar_kinds[0]; i++)
        if (scalar_kinds[i].kind == kind && scalar_kinds[i].size == size)
            return scalar_kinds[i].element;
    return INGOT_UNDEFINED;
}

/* Elements under a byte must be packed first. */
static bool is_packed(ingot_element element)
{
    return element != INGOT_UNDEFINED && ingot_element_bits(element) < 8;
}

/* Unsigned integers carry the bits of a type that numpy lacks. */
static ingot_element reinterpret(ingot_element element, ingot_element wanted)
{
    if (element == INGOT_UINT16 && wanted == INGOT_BFLOAT16)
        return wanted;
    if (element == INGOT_UINT8 &&
        ((wanted >= INGOT_FLOAT8E4M3FN && wanted <= INGOT_FLOAT8E5M2FNUZ) || wanted == INGOT_FLOAT8E8M0))
        return wanted;
    return element;
}

static int view_interface(PyObject *capsule, ingot_element wanted, tensor_view *view)
{
    const array_interface *array = PyCapsule_GetPointer(capsule, NULL);
    if (!array)
        return -1;
    const int needed = ARRAY_C_CONTIGUOUS | ARRAY_NATIVE;
    ingot_element element = array->two == 2 ? element_of(array->kind, array->item_size) : INGOT_UNDEFINED;
    if (element == INGOT_UNDEFINED || (array->flags & needed) != needed || array->rank > INGOT_MAX_RANK ||
        is_packed(wanted))
        return 0;
    size_t bytes = (size_t)array->item_size;
    for (int i = 0; i < array->rank; i++) {
        view->dims[i] = array->shape[i];
        bytes *= (size_t)array->shape[i]; /* an array in memory: cannot overflow */
    }
    view->element = reinterpret(element, wanted);
    view->rank = array->rank;
    view->data = array->data;
    view->bytes = bytes;
    view->writeable = (array->flags & ARRAY_WRITEABLE) != 0;
    return 1;
}

/* ---- DLPack (its documentation: "C API (dlpack.h)") ---- */

enum { DL_CPU = 1, DL_CUDA_HOST = 3 };
enum dl_code {
    DL_INT = 0,
    DL_UINT = 1,
    DL_FLOAT = 2,
    DL_BFLOAT = 4,
    DL_COMPLEX = 5,
    DL_BOOL = 6,
    DL_E4M3FN = 10,
    DL_E4M3FNUZ = 11,
    DL_E5M2 = 12,
    DL_E5M2FNUZ = 13,
    DL_E8M0FNU = 14,
};

typedef struct dl_tensor {
    void *data;
    struct {
        int32_t type, id;
    } device;
    int32_t rank;
    struct {
        uint8_t code, bits;
        uint16_t lanes;
    } type;
    int64_t *shape, *strides;
    uint64_t byte_offset;
} dl_tensor;

typedef struct dl_kind {
    uint8_t code, bits;
    ingot_element element;
} dl_kind;

static const dl_kind dl_kinds[] = {
    {DL_FLOAT, 32, INGOT_FLOAT},
    {DL_INT, 64, INGOT_INT64},
    {DL_FLOAT, 64, INGOT_DOUBLE},
    {DL_UINT, 8, INGOT_UINT8},
    {DL_INT, 32, INGOT_INT32},
    {DL_BOOL, 8, INGOT_BOOL},
    {DL_FLOAT, 16, INGOT_FLOAT16},
    {DL_INT, 8, INGOT_INT8},
    {DL_UINT, 16, INGOT_UINT16},
    {DL_INT, 16, INGOT_INT16},
    {DL_UINT, 32, INGOT_UINT32},
    {DL_UINT, 64, INGOT_UINT64},
    {DL_COMPLEX, 64, INGOT_COMPLEX64},
    {DL_COMPLEX, 128, INGOT_COMPLEX128},
    {DL_BFLOAT, 16, INGOT_BFLOAT16},
    {DL_E4M3FN, 8, INGOT_FLOAT8E4M3FN},
    {DL_E4M3FNUZ, 8, INGOT_FLOAT8E4M3FNUZ},
    {DL_E5M2, 8, INGOT_FLOAT8E5M2},
    {DL_E5M2FNUZ, 8, INGOT_FLOAT8E5M2FNUZ},
    {DL_E8M0FNU, 8, INGOT_FLOAT8E8M0},
};

static ingot_element dl_element(const dl_tensor *tensor)
{
    if (tensor->type.lanes != 1)
        return INGOT_UNDEFINED;
    for (size_t i = 0; i < sizeof dl_kinds / sizeof dl_kinds[0]; i++)
        if (dl_kinds[i].code == tensor->type.code && dl_kinds[i].bits == tensor->type.bits)
            return dl_kinds[i].element;
    return INGOT_UNDEFINED;
}

static bool dl_row_major(const dl_tensor *tensor)
{
    int64_t expected = 1;
    for (int i = tensor->rank - 1; i >= 0 && tensor->strides; i--) {
        if (tensor->shape[i] != 1 && tensor->strides[i] != expected)
            return false;
        expected *= tensor->shape[i];
    }
    return true;
}

/* The capsule is not consumed: it frees the tensor when it goes, which is when the view's owner goes. */
static int view_dlpack(PyObject *capsule, ingot_element wanted, tensor_view *view)
{
    const dl_tensor *tensor = PyCapsule_GetPointer(capsule, "dltensor"); /* the first field of DLManagedTensor */
    if (!tensor)
        return -1;
    ingot_element element = dl_element(tensor);
    if ((tensor->device.type != DL_CPU && tensor->device.type != DL_CUDA_HOST) || element == INGOT_UNDEFINED ||
        tensor->rank > INGOT_MAX_RANK || !dl_row_major(tensor) || is_packed(wanted))
        return 0;
    size_t bytes = tensor->type.bits / 8;
    for (int i = 0; i < tensor->rank; i++) {
        view->dims[i] = tensor->shape[i];
        bytes *= (size_t)tensor->shape[i];
    }
    view->element = reinterpret(element, wanted);
    view->rank = tensor->rank;
    view->data = tensor->data ? (char *)tensor->data + tensor->byte_offset : NULL;
    view->bytes = bytes;
    view->writeable = true;
    return 1;
}

/* ---- Both ---- */

typedef int (*view_function)(PyObject *capsule, ingot_element wanted, tensor_view *view);

static int view_capsule(PyObject *capsule, view_function function, ingot_element wanted, tensor_view *view)
{
    int found = function(capsule, wanted, view);
    if (found == 1)
        view->owner = capsule;
    else
        Py_DECREF(capsule);
    return found;
}

int core_view_array(PyObject *object, ingot_element wanted, tensor_view *view)
{
    PyObject *capsule = PyObject_GetAttr(object, core.array_struct);
    if (capsule)
        return view_capsule(capsule, view_interface, wanted, view);
    PyErr_Clear();
    PyObject *method = PyObject_GetAttr(object, core.dlpack);
    if (!method) {
        PyErr_Clear();
        return 0;
    }
    capsule = PyObject_CallObject(method, NULL);
    Py_DECREF(method);
    return capsule ? view_capsule(capsule, view_dlpack, wanted, view) : -1;
}
