/* See ref_move.h. */
#include "cpu/ref/ref_move.h"

#include <string.h>

static ingot_status copy_strings(const ingot_kernel_call *call, ingot_value *to, int64_t to_index, int64_t to_step,
                                 const ingot_value *from, int64_t from_index, int64_t from_step, size_t count)
{
    for (size_t i = 0; i < count; i++, to_index += to_step, from_index += from_step) {
        size_t length;
        const char *text = ingot_ref_text(from, (size_t)from_index, &length);
        INGOT_TRY(ingot_value_set_string(to, (size_t)to_index, text, length, call->error));
    }
    return INGOT_OK;
}

ingot_status ingot_ref_copy_run(const ingot_kernel_call *call, ingot_value *to, size_t to_index,
                                const ingot_value *from, size_t from_index, size_t count)
{
    if (count == 0)
        return INGOT_OK;
    if (to->element == INGOT_STRING)
        return copy_strings(call, to, (int64_t)to_index, 1, from, (int64_t)from_index, 1, count);
    size_t size = ingot_element_size(to->element);
    if (size > 0)
        memcpy((char *)to->data + to_index * size, (const char *)from->data + from_index * size, count * size);
    else
        ingot_copy_elements(ingot_element_bits(to->element), to->data, to_index, from->data, from_index, count);
    return INGOT_OK;
}

ingot_status ingot_ref_copy_all(const ingot_kernel_call *call, ingot_value *to, const ingot_value *from)
{
    if (to->data == from->data)
        return INGOT_OK;
    return ingot_ref_copy_run(call, to, 0, from, 0, ingot_ref_count(from));
}

void ingot_ref_clear(ingot_value *to)
{
    size_t bytes;
    if (ingot_tensor_bytes(to->element, to->rank, to->dims, &bytes) && bytes > 0)
        memset(to->data, 0, bytes);
}

/* The elements of a run, one by one, where they do not lie side by side in both. */
#define COPY_STEPS(type)                                                 \
    {                                                                    \
        type *t = (type *)to->data + to_index;                           \
        const type *f = (const type *)from->data + from_index;           \
        for (size_t i = 0; i < count; i++, t += to_step, f += from_step) \
            *t = *f;                                                     \
    }

typedef struct wide {
    uint64_t low, high;
} wide;

static void copy_steps(ingot_value *to, int64_t to_index, int64_t to_step, const ingot_value *from, int64_t from_index,
                       int64_t from_step, size_t count)
{
    size_t bits = ingot_element_bits(to->element);
    if (bits == 32)
        COPY_STEPS(uint32_t)
    else if (bits == 64)
        COPY_STEPS(uint64_t)
    else if (bits == 8)
        COPY_STEPS(uint8_t)
    else if (bits == 16)
        COPY_STEPS(uint16_t)
    else if (bits == 128)
        COPY_STEPS(wide)
    else
        for (size_t i = 0; i < count; i++, to_index += to_step, from_index += from_step)
            ingot_copy_elements(bits, to->data, (size_t)to_index, from->data, (size_t)from_index, 1);
}

ingot_status ingot_ref_fill(const ingot_kernel_call *call, ingot_value *to, size_t to_index, size_t count,
                            const ingot_value *from, size_t from_index)
{
    if (to->element == INGOT_STRING)
        return copy_strings(call, to, (int64_t)to_index, 1, from, (int64_t)from_index, 0, count);
    copy_steps(to, (int64_t)to_index, 1, from, (int64_t)from_index, 0, count);
    return INGOT_OK;
}

ingot_status ingot_ref_copy_walk(const ingot_kernel_call *call, ingot_value *to, const ingot_value *from,
                                 ingot_walk *walk)
{
    for (bool more = ingot_walk_begin(walk); more; more = ingot_walk_next(walk)) {
        int64_t t = walk->offset[0], f = walk->offset[1];
        if (to->element == INGOT_STRING)
            INGOT_TRY(copy_strings(call, to, t, walk->step[0], from, f, walk->step[1], walk->run));
        else if (walk->step[0] == 1 && walk->step[1] == 1)
            INGOT_TRY(ingot_ref_copy_run(call, to, (size_t)t, from, (size_t)f, walk->run));
        else
            copy_steps(to, t, walk->step[0], from, f, walk->step[1], walk->run);
    }
    return INGOT_OK;
}
