/* CastMap. */
#include "cpu/ref/ref_cast.h"
#include "cpu/ref/ref_iterate.h"
#include "cpu/ref/ref_scratch.h"
#include "ops/cast_map.h"

typedef struct entry {
    int64_t key;
    size_t index; /* among the map's values */
} entry;

/* By key; equal keys keep their order. */
static bool before(const entry *a, const entry *b)
{
    return a->key < b->key || (a->key == b->key && a->index < b->index);
}

static void sift_down(entry *heap, size_t at, size_t count)
{
    for (size_t child = 2 * at + 1; child < count; at = child, child = 2 * at + 1) {
        if (child + 1 < count && before(&heap[child], &heap[child + 1]))
            child++;
        if (!before(&heap[at], &heap[child]))
            return;
        entry moved = heap[at];
        heap[at] = heap[child];
        heap[child] = moved;
    }
}

static void sort(entry *entries, size_t count)
{
    for (size_t i = count / 2; i-- > 0;)
        sift_down(entries, i, count);
    for (size_t last = count; last-- > 1;) {
        entry top = entries[0];
        entries[0] = entries[last];
        entries[last] = top;
        sift_down(entries, 0, last);
    }
}

/* A number as text, by way of a tensor of one string. */
static ingot_status place_text(const ingot_kernel_call *call, const ingot_value *values, size_t from, size_t to,
                               ingot_value *text)
{
    ingot_value number;
    const ingot_value *input = &number;
    ingot_value_init(&number);
    ingot_value_set_view(&number, values->element, 0, NULL, ingot_element_at(values, from),
                         ingot_element_size(values->element));
    INGOT_TRY(ingot_value_set_tensor(text, INGOT_STRING, 0, NULL, call->error));
    ingot_kernel_call cast = *call;
    cast.inputs = &input;
    cast.outputs = &text;
    INGOT_TRY(ingot_cast_to_text(&cast));
    const ingot_string *string = text->data;
    return ingot_value_set_string(call->outputs[0], to, text->strings + string->offset, string->length, call->error);
}

static ingot_status place(const ingot_kernel_call *call, const ingot_value *values, size_t from, size_t to,
                          ingot_value *text)
{
    ingot_value *y = call->outputs[0];
    ingot_kernel_call cast = *call;
    double number = 0;
    cast.inputs = &values;
    if (values->element == INGOT_STRING && y->element == INGOT_STRING) {
        const ingot_string *string = (const ingot_string *)values->data + from;
        return ingot_value_set_string(y, to, string->length ? values->strings + string->offset : "", string->length,
                                      call->error);
    }
    if (y->element == INGOT_STRING)
        return place_text(call, values, from, to, text);
    if (values->element == INGOT_STRING && y->element == INGOT_INT64)
        return ingot_cast_text_to_i64(&cast, from, (int64_t *)y->data + to);
    if (values->element == INGOT_STRING)
        INGOT_TRY(ingot_cast_text_to_double(&cast, from, &number));
    else
        number = ingot_load_double(values->element, values->data, from);
    ingot_store_double(y->element, y->data, to, number);
    return INGOT_OK;
}

static ingot_status place_all(const ingot_kernel_call *call, const ingot_value *values, const entry *entries,
                              size_t count, ingot_value *text)
{
    const ingot_cast_map_params *p = call->params;
    for (size_t i = 0; i < count; i++) {
        size_t to = i;
        if (p->form == INGOT_MAP_SPARSE) {
            if (entries[i].key < 0 || entries[i].key >= p->sparse_length)
                return ingot_kernel_fail(call, "the map has the key %lld, expected 0 to %lld (max_map less one)",
                                         (long long)entries[i].key, (long long)p->sparse_length - 1);
            to = (size_t)entries[i].key;
        }
        INGOT_TRY(place(call, values, entries[i].index, to, text));
    }
    return INGOT_OK;
}

ingot_status ingot_ref_cast_map(const ingot_kernel_call *call)
{
    const ingot_cast_map_params *p = call->params;
    if (call->inputs[0]->item_count != 2)
        return ingot_kernel_fail(call, "the input is no map with keys and values");
    const ingot_value *keys = call->inputs[0]->items[0], *values = call->inputs[0]->items[1];
    size_t count = ingot_ref_count(keys);
    if (keys->element != INGOT_INT64 || ingot_ref_count(values) != count)
        return ingot_kernel_fail(call, "the map must have as many values as keys, which must be of type int64");
    void *memory;
    INGOT_TRY(ingot_ref_scratch(call, 1, &count, &(size_t){sizeof(entry)}, &memory));
    entry *entries = memory;
    for (size_t i = 0; i < count; i++)
        entries[i] = (entry){((const int64_t *)keys->data)[i], i};
    sort(entries, count);
    const int64_t dims[] = {1, p->form == INGOT_MAP_SPARSE ? p->sparse_length : (int64_t)count};
    INGOT_TRY(ingot_kernel_set_output(call, 0, p->element, 2, dims));
    if (p->element != INGOT_STRING)
        ingot_ref_zero(call->outputs[0]);
    ingot_value text;
    ingot_value_init(&text);
    ingot_status status = place_all(call, values, entries, count, &text);
    ingot_value_clear(&text);
    return status;
}
