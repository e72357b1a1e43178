/* Reference kernels of operators on strings. */
#include <string.h>

#include "cpu/ref/ref.h"
#include "cpu/ref/ref_move.h"

/* Sets string to of y to two strings joined. */
static ingot_status put_joined(const ingot_kernel_call *call, ingot_value *y, int64_t to, int64_t a, int64_t b)
{
    size_t a_length, b_length;
    const char *a_text = ingot_ref_text(call->inputs[0], (size_t)a, &a_length);
    const char *b_text = ingot_ref_text(call->inputs[1], (size_t)b, &b_length);
    void *joined;
    INGOT_TRY(ingot_kernel_scratch(call, a_length + b_length, &joined));
    if (a_length > 0)
        memcpy(joined, a_text, a_length);
    if (b_length > 0)
        memcpy((char *)joined + a_length, b_text, b_length);
    return ingot_value_set_string(y, (size_t)to, joined, a_length + b_length, call->error);
}

ingot_status ingot_ref_string_concat(const ingot_kernel_call *call)
{
    const ingot_value *a = call->inputs[0], *b = call->inputs[1];
    ingot_value *y = call->outputs[0];
    ingot_walk walk;
    ingot_walk_init(&walk, y->rank, y->dims);
    ingot_walk_add_broadcast(&walk, a->rank, a->dims);
    ingot_walk_add_broadcast(&walk, b->rank, b->dims);
    for (bool more = ingot_walk_begin(&walk); more; more = ingot_walk_next(&walk))
        for (int64_t i = 0; i < (int64_t)walk.run; i++)
            INGOT_TRY(put_joined(call, y, walk.offset[0] + i * walk.step[0], walk.offset[1] + i * walk.step[1],
                                 walk.offset[2] + i * walk.step[2]));
    return INGOT_OK;
}
