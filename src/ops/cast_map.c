#include "ops/cast_map.h"

#include <stddef.h>

static const char *const form_words[] = {"DENSE", "SPARSE", NULL};
static const char *const cast_words[] = {"TO_FLOAT", "TO_STRING", "TO_INT64", NULL};

static const ingot_param_field cast_map_fields[] = {
    {"map_form", INGOT_PARAM_WORD, offsetof(ingot_cast_map_params, form), form_words, 0},
    {"max_map", INGOT_PARAM_INT, offsetof(ingot_cast_map_params, sparse_length), NULL, 0},
    {"cast_to", INGOT_PARAM_WORD, offsetof(ingot_cast_map_params, cast_to), cast_words, 0},
    {NULL, 0, 0, NULL, 0},
};

static ingot_status check_cast_map(const ingot_node *node, void *params, ingot_error *error)
{
    static const ingot_element elements[] = {INGOT_FLOAT, INGOT_STRING, INGOT_INT64};
    ingot_cast_map_params *p = params;
    p->element = elements[p->cast_to];
    if (p->form == INGOT_MAP_DENSE || p->sparse_length >= 0)
        return INGOT_OK;
    return ingot_node_fail(node, error, INGOT_INVALID_MODEL, "max_map is %lld, expected 0 or more",
                           (long long)p->sparse_length);
}

static ingot_status infer_cast_map(ingot_infer *c)
{
    const ingot_cast_map_params *p = c->params;
    const ingot_type *x = &c->inputs[0].type;
    if (x->kind != INGOT_KIND_MAP || x->element != INGOT_INT64)
        return ingot_infer_fail(c, "the input must be a map with keys of type int64");
    ingot_infer_set(c, 0, p->element, 2,
                    (ingot_dim[]){1, p->form == INGOT_MAP_SPARSE ? p->sparse_length : INGOT_DIM_UNKNOWN});
    return INGOT_OK;
}

const ingot_op ingot_op_cast_map = {
    .summary = "The values of a map as a tensor, ordered or placed by their keys.",
    .params_size = sizeof(ingot_cast_map_params),
    .fields = cast_map_fields,
    .check = check_cast_map,
    .infer = infer_cast_map,
    .flags = INGOT_OP_SIZES_OUTPUT,
};
