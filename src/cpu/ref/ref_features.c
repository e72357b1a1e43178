/* Imputer, Binarizer, ArrayFeatureExtractor, FeatureVectorizer, DictVectorizer. */
#include <math.h>

#include "cpu/ref/ref.h"
#include "cpu/ref/ref_iterate.h"
#include "cpu/ref/ref_ml.h"
#include "cpu/ref/ref_scratch.h"
#include "ops/features.h"

/* ---- Imputer and Binarizer ---- */

ingot_status ingot_ref_imputer(const ingot_kernel_call *call)
{
    const ingot_imputer_params *p = call->params;
    const ingot_value *x = call->inputs[0];
    ingot_value *y = call->outputs[0];
    size_t count = ingot_ref_count(x), columns = (size_t)x->dims[x->rank - 1];
    bool replace_nan = isnan(p->replaced_float);
    for (size_t i = 0; i < count; i++) {
        if (!ingot_element_is_float(x->element)) {
            int64_t value = ingot_load_i64(x->element, x->data, i);
            if (value == p->replaced_int)
                value = p->ints.data[p->ints.count == 1 ? 0 : i % columns];
            ingot_store_i64(y->element, y->data, i, value);
            continue;
        }
        double value = ingot_load_double(x->element, x->data, i);
        if (replace_nan ? isnan(value) : value == (double)p->replaced_float)
            value = (double)p->floats.data[p->floats.count == 1 ? 0 : i % columns];
        ingot_store_double(y->element, y->data, i, value);
    }
    return INGOT_OK;
}

ingot_status ingot_ref_binarizer(const ingot_kernel_call *call)
{
    const ingot_binarizer_params *p = call->params;
    const ingot_value *x = call->inputs[0];
    ingot_value *y = call->outputs[0];
    size_t count = ingot_ref_count(x);
    for (size_t i = 0; i < count; i++) {
        bool above = ingot_load_double(x->element, x->data, i) > (double)p->threshold;
        ingot_store_double(y->element, y->data, i, above ? 1 : 0);
    }
    return INGOT_OK;
}

/* ---- ArrayFeatureExtractor ---- */

static ingot_status copy_element(const ingot_kernel_call *call, size_t to, size_t from)
{
    const ingot_value *x = call->inputs[0];
    ingot_value *y = call->outputs[0];
    if (x->element == INGOT_STRING) {
        const ingot_string *string = (const ingot_string *)x->data + from;
        return ingot_value_set_string(y, to, string->length ? x->strings + string->offset : "", string->length,
                                      call->error);
    }
    ingot_copy_elements(ingot_element_bits(x->element), y->data, to, x->data, from, 1);
    return INGOT_OK;
}

ingot_status ingot_ref_array_feature_extractor(const ingot_kernel_call *call)
{
    const ingot_value *x = call->inputs[0];
    const int64_t *indices = call->inputs[1]->data;
    size_t columns = (size_t)x->dims[x->rank - 1], rows = ingot_dims_product(x->dims, 0, x->rank - 1);
    size_t count = ingot_ref_count(call->inputs[1]);
    for (size_t i = 0; i < count; i++)
        if (indices[i] < 0 || (uint64_t)indices[i] >= columns)
            return ingot_kernel_fail(call,
                                     "index %lld at element %zu of input 'Y' is not among the %zu columns of the "
                                     "input",
                                     (long long)indices[i], i, columns);
    INGOT_TRY(ingot_ref_reset_strings(call, 0));
    for (size_t row = 0; row < rows; row++)
        for (size_t i = 0; i < count; i++)
            INGOT_TRY(copy_element(call, row * count + i, row * columns + (size_t)indices[i]));
    return INGOT_OK;
}

/* ---- FeatureVectorizer ---- */

ingot_status ingot_ref_feature_vectorizer(const ingot_kernel_call *call)
{
    const ingot_feature_vectorizer_params *p = call->params;
    float *y = call->outputs[0]->data;
    size_t rows = (size_t)call->outputs[0]->dims[0], width = (size_t)call->outputs[0]->dims[1], first = 0;
    for (size_t k = 0; k < call->input_count; k++) {
        const ingot_value *x = call->inputs[k];
        size_t columns = (size_t)x->dims[x->rank - 1];
        size_t wanted = p->dimensions.count ? (size_t)p->dimensions.data[k] : columns;
        for (size_t row = 0; row < rows; row++)
            for (size_t i = 0; i < wanted; i++)
                y[row * width + first + i] =
                    i < columns ? (float)ingot_load_double(x->element, x->data, row * columns + i) : 0;
        first += wanted;
    }
    return INGOT_OK;
}

/* ---- DictVectorizer ---- */

/* Keys that the vocabulary lacks are left out, as the tools that make such models do. */
ingot_status ingot_ref_dict_vectorizer(const ingot_kernel_call *call)
{
    const ingot_dict_vectorizer_params *p = call->params;
    ingot_value *y = call->outputs[0];
    if (call->inputs[0]->item_count != 2)
        return ingot_kernel_fail(call, "the input is no map with keys and values");
    const ingot_value *keys = call->inputs[0]->items[0], *values = call->inputs[0]->items[1];
    size_t count = ingot_ref_count(keys);
    if (keys->element != p->vocabulary.element || values->element != y->element || ingot_ref_count(values) != count)
        return ingot_kernel_fail(call, "the input's keys or values are not of the expected type or number");
    INGOT_TRY(ingot_ref_reset_strings(call, 0));
    if (y->element != INGOT_STRING)
        ingot_ref_zero(y);
    for (size_t i = 0; i < count; i++) {
        int64_t found = ingot_key_table_find(&p->table, keys, i);
        if (found < 0)
            continue;
        if (y->element == INGOT_STRING) {
            const ingot_string *string = (const ingot_string *)values->data + i;
            INGOT_TRY(ingot_value_set_string(y, (size_t)found, string->length ? values->strings + string->offset : "",
                                             string->length, call->error));
        } else {
            ingot_copy_elements(ingot_element_bits(y->element), y->data, (size_t)found, values->data, i, 1);
        }
    }
    return INGOT_OK;
}
