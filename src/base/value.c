/* Values at run time. Memory is kept from one use to the next: a list's items move to its reserve, a tensor's bytes and
 * a heap stay where they are. */
#include "base/value.h"

#include <string.h>

void ingot_value_init(ingot_value *v)
{
    *v = (ingot_value){.kind = INGOT_KIND_NONE};
}

static ingot_status take(const ingot_value *v, size_t bytes, ingot_error *error)
{
    return v->budget ? ingot_budget_take(v->budget, bytes, "a value of a run", error) : INGOT_OK;
}

static void give(const ingot_value *v, size_t bytes)
{
    if (v->budget)
        ingot_budget_give(v->budget, bytes);
}

/* Frees the elements where they are v's own. */
static void drop_data(ingot_value *v)
{
    if (v->owns_data) {
        give(v, v->capacity);
        ingot_free(v->data);
    }
    v->data = NULL;
    v->capacity = 0;
    v->owns_data = false;
}

void ingot_value_clear(ingot_value *v)
{
    ingot_budget *const budget = v->budget;
    const size_t items = v->item_count + v->item_reserve;
    for (size_t i = 0; i < items; i++) {
        ingot_value_clear(v->items[i]);
        ingot_free(v->items[i]);
    }
    give(v, items * sizeof *v + v->heap.capacity);
    ingot_free(v->items);
    ingot_free(v->heap.data);
    drop_data(v);
    ingot_value_init(v);
    v->budget = budget;
}

size_t ingot_element_alignment(ingot_element element)
{
    size_t size = ingot_element_size(element); /* kernels move elements as integers of up to 64 bits */
    return size == 0 ? 1 : size < sizeof(uint64_t) ? size : sizeof(uint64_t);
}

bool ingot_value_is_aligned(const ingot_value *v)
{
    return v->kind != INGOT_KIND_TENSOR || (uintptr_t)v->data % ingot_element_alignment(v->element) == 0;
}

/* Makes v an empty value of kind NONE that keeps its memory. */
static void recycle(ingot_value *v)
{
    v->kind = INGOT_KIND_NONE;
    v->element = INGOT_UNDEFINED;
    v->rank = 0;
    v->item_reserve += v->item_count;
    v->item_count = 0;
    v->heap.size = 0;
    v->strings = v->heap.data;
}

/* Memory of bytes at v->data. What is there is used where it is large enough, owned or not: a view that must not be
 * written has capacity 0. */
static ingot_status reserve_data(ingot_value *v, size_t bytes, ingot_error *error)
{
    if (bytes <= v->capacity || bytes == 0)
        return INGOT_OK;
    if (v->fixed)
        return ingot_fail(error, INGOT_INTERNAL, "a tensor needs %zu bytes where its fixed memory has %zu", bytes,
                          v->capacity);
    drop_data(v); /* first: there is never old memory beside new */
    INGOT_TRY(take(v, bytes, error));
    v->data = ingot_malloc_aligned(bytes);
    if (!v->data) {
        give(v, bytes);
        return ingot_fail_memory(error, bytes, "a tensor");
    }
    v->capacity = bytes;
    v->owns_data = true;
    return INGOT_OK;
}

static void set_shape(ingot_value *v, ingot_element element, int rank, const int64_t *dims)
{
    v->kind = INGOT_KIND_TENSOR;
    v->element = element;
    v->rank = rank;
    if (rank > 0)
        memmove(v->dims, dims, (size_t)rank * sizeof *dims); /* dims may be v's own */
}

ingot_status ingot_value_set_tensor(ingot_value *v, ingot_element element, int rank, const int64_t *dims,
                                    ingot_error *error)
{
    size_t bytes;
    if (rank < 0 || rank > INGOT_MAX_RANK)
        return ingot_fail(error, INGOT_INVALID_ARGUMENT, "a tensor of rank %d; the rank must be 0 to %d", rank,
                          INGOT_MAX_RANK);
    if (!ingot_tensor_bytes(element, rank, dims, &bytes)) {
        char text[256];
        return ingot_fail(error, INGOT_INVALID_ARGUMENT, "a tensor %s%s has a negative size or is too large",
                          ingot_element_name(element), ingot_dims_describe(rank, dims, text, sizeof text));
    }
    INGOT_TRY(reserve_data(v, bytes, error));
    recycle(v);
    set_shape(v, element, rank, dims);
    if (element == INGOT_STRING && bytes)
        memset(v->data, 0, bytes);
    return INGOT_OK;
}

void ingot_value_set_view(ingot_value *v, ingot_element element, int rank, const int64_t *dims, void *data,
                          size_t capacity)
{
    drop_data(v);
    recycle(v);
    set_shape(v, element, rank, dims);
    v->data = data;
    v->capacity = capacity;
    v->owns_data = false;
    v->fixed = false;
}

ingot_status ingot_value_set_list(ingot_value *v, ingot_kind kind, ingot_element element, ingot_error *error)
{
    if (kind < INGOT_KIND_SEQUENCE || kind > INGOT_KIND_SPARSE)
        return ingot_fail(error, INGOT_INTERNAL, "a value of kind %d is no list", (int)kind);
    recycle(v);
    v->kind = kind;
    v->element = element;
    return INGOT_OK;
}

/* Most items of a value of each kind. */
static const size_t greatest_count[] = {
    [INGOT_KIND_NONE] = 0, [INGOT_KIND_TENSOR] = 0,   [INGOT_KIND_SEQUENCE] = SIZE_MAX,
    [INGOT_KIND_MAP] = 2,  [INGOT_KIND_OPTIONAL] = 1, [INGOT_KIND_SPARSE] = 2,
};

ingot_status ingot_value_add_item(ingot_value *v, ingot_value **item, ingot_error *error)
{
    *item = NULL;
    if (v->item_count >= greatest_count[v->kind])
        return ingot_fail(error, INGOT_INTERNAL, "a value of kind %d cannot hold more than %zu items", (int)v->kind,
                          v->item_count);
    if (v->item_reserve == 0) {
        INGOT_TRY(ingot_grow(&v->items, &v->item_capacity, v->item_count + 1, sizeof *v->items, error));
        INGOT_TRY(take(v, sizeof *v, error));
        ingot_value *added = ingot_malloc(sizeof *added);
        if (!added) {
            give(v, sizeof *v);
            return ingot_fail_memory(error, sizeof *added, "an item of a value");
        }
        ingot_value_init(added);
        added->budget = v->budget;
        v->items[v->item_count] = added;
        v->item_reserve = 1;
    }
    *item = v->items[v->item_count++];
    v->item_reserve--;
    recycle(*item);
    if (!(*item)->owns_data) {
        (*item)->data = NULL;
        (*item)->capacity = 0;
        (*item)->fixed = false;
    }
    return INGOT_OK;
}

enum { LEAST_HEAP = 64 };

/* Room for bytes more in v's heap, which doubles. */
static ingot_status reserve_heap(ingot_value *v, size_t bytes, ingot_error *error)
{
    size_t size;
    if (!ingot_add_size(v->heap.size, bytes, &size))
        return ingot_fail_memory(error, SIZE_MAX, "the strings of a tensor");
    const size_t before = v->heap.capacity;
    if (size <= before)
        return INGOT_OK;
    size_t wanted = before <= SIZE_MAX / 2 ? before * 2 : SIZE_MAX;
    wanted = wanted < LEAST_HEAP ? LEAST_HEAP : wanted;
    wanted = wanted < size ? size : wanted;
    INGOT_TRY(take(v, wanted - before, error));
    const ingot_status status = ingot_grow(&v->heap.data, &v->heap.capacity, wanted, 1, error);
    if (status != INGOT_OK)
        give(v, wanted - before);
    v->strings = v->heap.data;
    return status;
}

ingot_status ingot_value_set_string(ingot_value *v, size_t index, const char *text, size_t length, ingot_error *error)
{
    if (v->kind != INGOT_KIND_TENSOR || v->element != INGOT_STRING || index >= ingot_value_count(v))
        return ingot_fail(error, INGOT_INTERNAL, "string %zu of a value that has no such string", index);
    if (v->strings != v->heap.data)
        return ingot_fail(error, INGOT_INTERNAL, "the strings of another value cannot be changed through a view");
    if (length) {
        /* text may be a string of v itself, which growing moves. */
        const uintptr_t from = (uintptr_t)text, heap = (uintptr_t)v->heap.data;
        const bool own = v->heap.data && from >= heap && from - heap < v->heap.size;
        INGOT_TRY(reserve_heap(v, length, error));
        memcpy(v->heap.data + v->heap.size, own ? v->heap.data + (from - heap) : text, length);
    }
    ((ingot_string *)v->data)[index] = (ingot_string){.offset = v->heap.size, .length = length};
    v->heap.size += length;
    return INGOT_OK;
}

static ingot_status copy_strings(ingot_value *to, const ingot_value *from, ingot_error *error)
{
    const ingot_string *strings = from->data;
    const size_t count = ingot_value_count(from);
    for (size_t i = 0; i < count; i++) {
        const char *text = strings[i].length ? from->strings + strings[i].offset : "";
        INGOT_TRY(ingot_value_set_string(to, i, text, strings[i].length, error));
    }
    return INGOT_OK;
}

static ingot_status copy_tensor(ingot_value *to, const ingot_value *from, ingot_error *error)
{
    INGOT_TRY(ingot_value_set_tensor(to, from->element, from->rank, from->dims, error));
    if (from->element == INGOT_STRING)
        return copy_strings(to, from, error);
    const size_t bytes = ingot_value_bytes(from);
    if (bytes)
        memcpy(to->data, from->data, bytes);
    return INGOT_OK;
}

ingot_status ingot_value_copy(ingot_value *to, const ingot_value *from, ingot_error *error)
{
    if (to == from)
        return INGOT_OK;
    if (from->kind == INGOT_KIND_TENSOR)
        return copy_tensor(to, from, error);
    if (from->kind == INGOT_KIND_NONE) {
        recycle(to);
        return INGOT_OK;
    }
    INGOT_TRY(ingot_value_set_list(to, from->kind, from->element, error));
    to->rank = from->rank;
    memcpy(to->dims, from->dims, sizeof to->dims);
    for (size_t i = 0; i < from->item_count; i++) {
        ingot_value *item;
        INGOT_TRY(ingot_value_add_item(to, &item, error));
        INGOT_TRY(ingot_value_copy(item, from->items[i], error));
    }
    return INGOT_OK;
}
