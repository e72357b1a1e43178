/* Values at run time: what the public header calls ingot_value, laid open for kernels and the runtime. */
#ifndef INGOT_BASE_VALUE_H
#define INGOT_BASE_VALUE_H

#include "base/memory.h"

/* One string of a tensor: a place in its value's heap. */
typedef struct ingot_string {
    size_t offset, length;
} ingot_string;

/* Growing bytes: keeps its memory when it is emptied, so a warm run finds it large enough. */
typedef struct ingot_buffer {
    char *data;
    size_t size, capacity;
} ingot_buffer;

struct ingot_value {
    ingot_kind kind;
    ingot_element element; /* tensor: its elements; sequence, optional: of the tensors inside; map: its keys */
    int rank;              /* tensor and sparse */
    int64_t dims[INGOT_MAX_RANK];
    void *data;          /* tensor elements, row-major, without gaps; strings: ingot_string[count] */
    size_t capacity;     /* bytes that may be used at data */
    bool owns_data;      /* data is freed with the value or when it must grow */
    bool fixed;          /* data must not be replaced: bound memory, a slice of an arena */
    ingot_buffer heap;   /* bytes of strings */
    const char *strings; /* where offsets of strings count from: heap.data, or another value's heap */
    ingot_value **items; /* sequence: its items; map: keys, values; optional: one item or none;
                                      sparse: values [nnz], indices [nnz] or [nnz, rank] */
    size_t item_count, item_capacity;
    size_t item_reserve; /* items past item_count that are kept for reuse */
    ingot_budget
        *budget; /* counts what v and its items own, and stays when v is cleared; NULL: nobody does. Borrowed */
};

/* Sets v to an empty value of kind NONE; no memory. */
void ingot_value_init(ingot_value *v);
/* Frees what v holds, not v; only its budget stays. */
void ingot_value_clear(ingot_value *v);

/* Makes v a tensor of this type and shape with memory for it: what it has where that is enough, else new memory (not
 * zeroed) unless v is fixed, which is INGOT_INTERNAL then. Strings: all become empty. Checks every size. */
ingot_status ingot_value_set_tensor(ingot_value *v, ingot_element element, int rank, const int64_t *dims,
                                    ingot_error *error);
/* A new tensor of this one's type and shape, its elements not set; to be freed by ingot_value_release. */
ingot_status ingot_value_create_like(const ingot_value *tensor, ingot_value **value, ingot_error *error);
/* Makes v a tensor that shares data; borrowed. */
void ingot_value_set_view(ingot_value *v, ingot_element element, int rank, const int64_t *dims, void *data,
                          size_t capacity);
/* Makes v an empty sequence, map or optional whose items can be added; keeps memory for reuse. */
ingot_status ingot_value_set_list(ingot_value *v, ingot_kind kind, ingot_element element, ingot_error *error);
/* Adds an empty item to a sequence, map or optional; owned by v. */
ingot_status ingot_value_add_item(ingot_value *v, ingot_value **item, ingot_error *error);
/* Makes to a deep copy of from; reuses to's memory where it can. */
ingot_status ingot_value_copy(ingot_value *to, const ingot_value *from, ingot_error *error);
/* Sets string index of a string tensor: copies the bytes into v's heap. */
ingot_status ingot_value_set_string(ingot_value *v, size_t index, const char *text, size_t length, ingot_error *error);

/* Bytes that C wants an element's address to be a multiple of. */
size_t ingot_element_alignment(ingot_element element);

/* Constants of a model file are used where they lie, which is anywhere. What is read element by element must be aligned. */
bool ingot_value_is_aligned(const ingot_value *v);

/* The shapes of the parts of a sparse tensor against each other; indices inside its shape and ascending. fault: the status of a
 * refusal. */
ingot_status ingot_sparse_check(const ingot_value *values, const ingot_value *indices, int rank, const int64_t *dims,
                                ingot_status fault, ingot_error *error);
/* The row-major place of index number i; false where it lies outside. */
bool ingot_sparse_place(const ingot_value *indices, size_t i, int rank, const int64_t *dims, size_t *place);

static inline size_t ingot_element_size(ingot_element element) /* bytes; 0 for types under a byte */
{
    return ingot_element_bits(element) / 8;
}

/* "float[2,3]" or "sequence of 3": for messages. Writes at most size bytes, returns text. */
const char *ingot_value_describe(const ingot_value *v, char *text, size_t size);
const char *ingot_dims_describe(int rank, const int64_t *dims, char *text, size_t size);

#endif
