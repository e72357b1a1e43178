/* LabelEncoder, CategoryMapper, OneHotEncoder. */

#include "cpu/ref/ref.h"
#include "cpu/ref/ref_iterate.h"
#include "cpu/ref/ref_ml.h"
#include "cpu/ref/ref_scratch.h"
#include "ops/encode.h"

/* ---- LabelEncoder ---- */

static ingot_status set_text(const ingot_kernel_call *call, size_t index, ingot_text text)
{
    return ingot_value_set_string(call->outputs[0], index, text.data, text.size, call->error);
}

static ingot_status set_default(const ingot_kernel_call *call, size_t index)
{
    const ingot_label_encoder_params *p = call->params;
    const ingot_value *given = p->default_tensor;
    ingot_value *y = call->outputs[0];
    if (y->element == INGOT_STRING) {
        const ingot_string *string = given ? given->data : NULL;
        return set_text(call, index,
                        string ? (ingot_text){string->length ? given->strings + string->offset : "", string->length}
                               : p->default_text);
    }
    if (given)
        ingot_copy_elements(ingot_element_bits(y->element), y->data, index, given->data, 0, 1);
    else if (ingot_element_is_float(y->element))
        ingot_store_double(y->element, y->data, index, (double)p->default_float);
    else
        ingot_store_i64(y->element, y->data, index, p->default_int);
    return INGOT_OK;
}

ingot_status ingot_ref_label_encoder(const ingot_kernel_call *call)
{
    const ingot_label_encoder_params *p = call->params;
    const ingot_value *x = call->inputs[0];
    ingot_value *y = call->outputs[0];
    size_t count = ingot_ref_count(x);
    INGOT_TRY(ingot_ref_reset_strings(call, 0));
    for (size_t i = 0; i < count; i++) {
        int64_t found = ingot_key_table_find(&p->table, x, i);
        if (found < 0)
            INGOT_TRY(set_default(call, i));
        else if (y->element == INGOT_STRING)
            INGOT_TRY(set_text(call, i, p->values.texts[found]));
        else
            ingot_copy_elements(ingot_element_bits(y->element), y->data, i, p->values.data, (size_t)found, 1);
    }
    return INGOT_OK;
}

/* ---- CategoryMapper and LabelEncoder-1 ---- */

ingot_status ingot_ref_category_mapper(const ingot_kernel_call *call)
{
    const ingot_category_params *p = call->params;
    const ingot_value *x = call->inputs[0];
    ingot_value *y = call->outputs[0];
    size_t count = ingot_ref_count(x);
    INGOT_TRY(ingot_ref_reset_strings(call, 0));
    for (size_t i = 0; i < count; i++) {
        if (x->element == INGOT_STRING) {
            int64_t found = ingot_key_table_find(&p->by_text, x, i);
            ((int64_t *)y->data)[i] = found < 0 ? p->default_int : p->ints.data[found];
        } else {
            int64_t found = ingot_key_table_find(&p->by_int, x, i);
            INGOT_TRY(set_text(call, i, found < 0 ? p->default_text : p->texts.data[found]));
        }
    }
    return INGOT_OK;
}

/* ---- OneHotEncoder ---- */

/* Numbers are cast to integers first; what no integer is near to is no category. */
static int64_t find_category(const ingot_one_hot_params *p, const ingot_value *x, size_t index)
{
    if (!ingot_element_is_float(x->element))
        return ingot_key_table_find(&p->table, x, index);
    double value = ingot_load_double(x->element, x->data, index);
    return value > -9.2e18 && value < 9.2e18 ? ingot_key_table_find_i64(&p->table, (int64_t)value) : -1;
}

ingot_status ingot_ref_one_hot_encoder(const ingot_kernel_call *call)
{
    const ingot_one_hot_params *p = call->params;
    const ingot_value *x = call->inputs[0];
    float *y = call->outputs[0]->data;
    size_t count = ingot_ref_count(x), categories = p->categories.count;
    ingot_ref_zero(call->outputs[0]);
    for (size_t i = 0; i < count; i++) {
        int64_t found = find_category(p, x, i);
        if (found >= 0)
            y[i * categories + (size_t)found] = 1;
        else if (!p->zeros)
            return ingot_kernel_fail(call, "element %zu of the input is none of the categories, and zeros is 0", i);
    }
    return INGOT_OK;
}
